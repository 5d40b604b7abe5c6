//! Constructs a function of the vector IR.

use super::Def;
use super::func::{Block, Func, Inst, InstData, Range, Value, ValueData};
use super::op::{Callee, Constant, FloatCC, IntCC, Memory, Op, Part, StackSlot, Symbol};
use super::patterns::all_or_nothing;
use super::ssa::Ssa;
use super::types::{self, Type};

/// A mutable variable of the builder, which converts it to SSA values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Variable(u32);

/// Appends instructions to blocks.
#[derive(Debug)]
pub struct Builder<'f> {
    /// The function under construction.
    pub func: &'f mut Func,
    ssa: &'f mut Ssa,
    current: Option<Block>,
    loc: u32,
}

impl<'f> Builder<'f> {
    /// Begins a function; clears its previous contents.
    pub fn new(func: &'f mut Func, ssa: &'f mut Ssa) -> Builder<'f> {
        func.clear();
        ssa.clear();
        Builder {
            func,
            ssa,
            current: None,
            loc: 0,
        }
    }

    /// Ends the function.
    pub fn finish(self) {
        self.ssa.finish(self.func);
        if let Some(entry) = self.func.entry() {
            let first = self.func.prologue.drain(..).rev();
            self.func.blocks[entry.index()].insts.splice(0..0, first);
        }
    }

    // ---- blocks

    /// A new block. Its code follows that of the blocks that already have instructions.
    pub fn create_block(&mut self) -> Block {
        let f = &mut *self.func;
        if f.blocks.len() == f.block_count {
            f.blocks.push(Default::default());
        }
        f.block_count += 1;
        Block::new(f.block_count - 1)
    }

    /// Adds a block parameter, before variables are read in the block.
    pub fn append_block_param(&mut self, block: Block, ty: Type) -> Value {
        debug_assert!(!self.ssa.has_params(block), "bug: a parameter comes late");
        self.func.new_param(block, ty)
    }

    /// The explicit parameters of a block, in order.
    pub fn block_params(&self, block: Block) -> &[Value] {
        self.func.params(block)
    }

    /// Continues in a block.
    pub fn switch_to_block(&mut self, block: Block) {
        self.current = Some(block);
    }

    /// The current block.
    pub fn current_block(&self) -> Option<Block> {
        self.current
    }

    /// Marks a block as cold.
    pub fn set_cold_block(&mut self, block: Block) {
        self.func.blocks[block.index()].cold = true;
    }

    /// Declares that all edges to a block exist.
    pub fn seal_block(&mut self, block: Block) {
        self.ssa.seal(self.func, block);
    }

    /// Sets the source location of the following instructions.
    pub fn set_loc(&mut self, loc: u32) {
        self.loc = loc;
    }

    // ---- variables

    /// A new variable.
    pub fn declare_var(&mut self, ty: Type) -> Variable {
        Variable(self.ssa.declare(ty))
    }

    /// The value of a variable here.
    pub fn use_var(&mut self, var: Variable) -> Value {
        let block = self.here();
        self.ssa.read(self.func, var.0, block)
    }

    /// Assigns a variable in the current block.
    pub fn def_var(&mut self, var: Variable, value: Value) {
        let block = self.here();
        let value = self.as_type(value, self.ssa.ty(var.0));
        self.ssa.write(var.0, block, value);
    }

    // ---- instructions

    fn here(&self) -> Block {
        self.current.expect("bug: no block is being written")
    }

    fn push(&mut self, op: Op, args: Range, result: Value) -> Inst {
        let block = self.here();
        let data = InstData {
            op,
            args,
            result,
            block,
            loc: self.loc,
        };
        let inst = self.func.new_inst(data);
        let insts = &mut self.func.blocks[block.index()].insts;
        insts.push(inst);
        // The entry may already contain its constants.
        if insts.len() == 1 && self.func.layout.first() != Some(&block) {
            self.func.layout.push(block);
        }
        inst
    }

    /// An instruction with a result. Masks become vectors where the operation takes none.
    pub fn op(&mut self, op: Op, args: &[Value], ty: Type) -> Value {
        let args = self.sources(op, args);
        let result = Value::new(self.func.values.len());
        let inst = self.push(op, args, result);
        let def = Def::Inst(inst);
        self.func.values.push(ValueData { ty, def });
        result
    }

    /// An instruction without a result. Masks become vectors where the operation takes none.
    pub fn effect(&mut self, op: Op, args: &[Value]) {
        let args = self.sources(op, args);
        self.push(op, args, Value::NONE);
    }

    fn sources(&mut self, op: Op, args: &[Value]) -> Range {
        let is_wrong = |(n, &v): (usize, &Value)| self.ty(v).is_mask() && !op.takes_mask(n);
        if !args.iter().enumerate().any(is_wrong) {
            return self.func.new_list(args);
        }
        let mut sources = Vec::with_capacity(args.len());
        for (n, &v) in args.iter().enumerate() {
            sources.push(match op.takes_mask(n) {
                true => v,
                false => self.vector_of(v),
            });
        }
        self.func.new_list(&sources)
    }

    // ---- masks

    /// A mask as a vector; other values unchanged.
    fn vector_of(&mut self, v: Value) -> Value {
        match self.ty(v) {
            ty if ty.is_mask() => self.op(Op::MaskToVector, &[v], ty.unmasked()),
            _ => v,
        }
    }

    /// A constant of all ones or zeros as a mask of this type.
    fn constant_mask(&mut self, v: Value, ty: Type) -> Option<Value> {
        let (Op::Vconst(constant), _) = self.func.made_by(v)? else {
            return None;
        };
        all_or_nothing(self.func.bytes(constant))?;
        let same = self.ty(v).bits() == ty.bits();
        same.then(|| self.vconst(ty, constant))
    }

    /// A value as this type, a mask or the corresponding vector.
    fn as_type(&mut self, v: Value, ty: Type) -> Value {
        match (self.ty(v), ty) {
            (from, to) if from == to => v,
            (from, to) if from.is_mask() && from.unmasked() == to => self.vector_of(v),
            (from, to) if to.is_mask() && to.unmasked() == from => {
                let constant = self.constant_mask(v, to);
                constant.unwrap_or_else(|| self.op(Op::VectorToMask, &[v], to))
            }
            _ => v,
        }
    }

    /// Two sources of one type: masks if both are, or if one is and the other is a constant of all
    /// ones or zeros.
    fn alike(&mut self, [a, b]: [Value; 2]) -> [Value; 2] {
        let types = [a, b].map(|v| self.ty(v));
        if types[0] == types[1] {
            return [a, b];
        }
        let (mask, other) = match types.map(Type::is_mask) {
            [true, false] => (types[0], b),
            [false, true] => (types[1], a),
            [false, false] => return [a, b],
            [true, true] => return [a, b].map(|v| self.vector_of(v)),
        };
        match self.constant_mask(other, mask) {
            Some(constant) if other == b => [a, constant],
            Some(constant) => [constant, b],
            None => [a, b].map(|v| self.vector_of(v)),
        }
    }

    fn logic(&mut self, op: Op, a: Value, b: Value) -> Value {
        let [a, b] = self.alike([a, b]);
        let ty = self.ty(a);
        self.op(op, &[a, b], ty)
    }

    /// See [`Op::Band`].
    pub fn band(&mut self, a: Value, b: Value) -> Value {
        self.logic(Op::Band, a, b)
    }

    /// See [`Op::Bor`].
    pub fn bor(&mut self, a: Value, b: Value) -> Value {
        self.logic(Op::Bor, a, b)
    }

    /// See [`Op::Bxor`].
    pub fn bxor(&mut self, a: Value, b: Value) -> Value {
        self.logic(Op::Bxor, a, b)
    }

    /// See [`Op::Bnot`].
    pub fn bnot(&mut self, a: Value) -> Value {
        let ty = self.ty(a);
        self.op(Op::Bnot, &[a], ty)
    }

    fn choice(&mut self, op: Op, a: Value, b: Value, c: Value) -> Value {
        let [b, c] = self.alike([b, c]);
        let ty = self.ty(b);
        self.op(op, &[a, b, c], ty)
    }

    /// The same bits as another type.
    pub fn bitcast(&mut self, ty: Type, v: Value) -> Value {
        if self.ty(v) == ty {
            return v;
        }
        let v = self.vector_of(v);
        match self.ty(v) == ty {
            true => v,
            false => self.op(Op::Bitcast, &[v], ty),
        }
    }

    /// Reorders the instructions of this block from number `from` on.
    pub fn reorder(&mut self, from: usize, order: &[Inst]) {
        let block = self.here();
        self.func.blocks[block.index()].insts[from..].copy_from_slice(order);
    }

    fn ty(&self, v: Value) -> Type {
        self.func.ty(v)
    }

    /// An integer constant in the entry block.
    pub fn iconst_at_entry(&mut self, ty: Type, n: i64) -> Value {
        let here = self.here();
        self.func.prepend(Op::Iconst(cut(ty, n)), ty, here)
    }

    /// An integer constant, truncated to its width.
    pub fn iconst(&mut self, ty: Type, n: i64) -> Value {
        self.op(Op::Iconst(cut(ty, n)), &[], ty)
    }

    /// An f32.
    pub fn f32const(&mut self, value: f32) -> Value {
        self.op(Op::F32const(value.to_bits()), &[], types::F32)
    }

    /// An f64.
    pub fn f64const(&mut self, value: f64) -> Value {
        self.op(Op::F64const(value.to_bits()), &[], types::F64)
    }

    /// A vector constant.
    pub fn vconst(&mut self, ty: Type, constant: Constant) -> Value {
        self.op(Op::Vconst(constant), &[], ty)
    }

    /// An address that is resolved at placement.
    pub fn symbol_value(&mut self, symbol: Symbol, distance: i64) -> Value {
        self.op(Op::SymbolValue(symbol, distance), &[], types::I64)
    }

    /// The address of a stack slot.
    pub fn stack_addr(&mut self, slot: StackSlot) -> Value {
        self.op(Op::StackAddr(slot), &[], types::I64)
    }

    /// Loads a value of a type.
    pub fn load(&mut self, ty: Type, memory: Memory, addr: Value, offset: i32) -> Value {
        self.op(Op::Load(memory, Part::Whole, offset), &[addr], ty)
    }

    /// Loads a part of a word as an `i32`.
    pub fn load_part(&mut self, part: Part, memory: Memory, addr: Value, offset: i32) -> Value {
        self.op(Op::Load(memory, part, offset), &[addr], types::I32)
    }

    /// Stores a value.
    pub fn store(&mut self, memory: Memory, value: Value, addr: Value, offset: i32) {
        self.effect(Op::Store(memory, Part::Whole, offset), &[value, addr]);
    }

    /// Stores the low part of an `i32`.
    pub fn store_part(
        &mut self,
        part: Part,
        memory: Memory,
        value: Value,
        addr: Value,
        offset: i32,
    ) {
        self.effect(Op::Store(memory, part, offset), &[value, addr]);
    }

    /// Calls a function with effects; returns its status.
    pub fn call_effect(&mut self, callee: Value, args: [Value; 4]) -> Value {
        let [a, b, c, d] = args;
        self.op(Op::Call(Callee::Effect), &[callee, a, b, c, d], types::I64)
    }

    /// Calls a function of lanes.
    pub fn call_lanes(&mut self, callee: Value, args: [Value; 3]) {
        let [a, b, c] = args;
        self.effect(Op::Call(Callee::Lanes), &[callee, a, b, c]);
    }

    /// Compares integers.
    pub fn icmp(&mut self, cond: IntCC, a: Value, b: Value) -> Value {
        let [a, b] = self.alike([a, b]);
        let ty = self.ty(a).truth();
        self.op(Op::Icmp(cond), &[a, b], ty)
    }

    /// Compares an integer with a constant.
    pub fn icmp_imm(&mut self, cond: IntCC, a: Value, n: i64) -> Value {
        let ty = self.ty(a);
        let n = self.iconst(ty, n);
        self.icmp(cond, a, n)
    }

    /// Compares floats.
    pub fn fcmp(&mut self, cond: FloatCC, a: Value, b: Value) -> Value {
        let ty = self.ty(a).truth();
        self.op(Op::Fcmp(cond), &[a, b], ty)
    }

    /// a & ~b
    pub fn band_not(&mut self, a: Value, b: Value) -> Value {
        let b = self.bnot(b);
        self.band(a, b)
    }

    /// a * b + c with one rounding.
    pub fn fma(&mut self, a: Value, b: Value, c: Value) -> Value {
        let ty = self.ty(a);
        self.op(Op::Fma, &[a, b, c], ty)
    }

    /// b where the truth value a is not 0, else c.
    pub fn select(&mut self, a: Value, b: Value, c: Value) -> Value {
        let ty = self.ty(b);
        self.op(Op::Select, &[a, b, c], ty)
    }

    /// Bits of b where those of a are ones, else of c.
    pub fn bitselect(&mut self, a: Value, b: Value, c: Value) -> Value {
        self.choice(Op::Bitselect, a, b, c)
    }

    /// Lanes of b where those of a are true, else of c.
    pub fn blendv(&mut self, a: Value, b: Value, c: Value) -> Value {
        self.choice(Op::Blendv, a, b, c)
    }

    /// `v` with another lane.
    pub fn insertlane(&mut self, v: Value, lane: Value, n: u8) -> Value {
        let ty = self.ty(v).unmasked();
        self.op(Op::Insertlane(n), &[v, lane], ty)
    }

    /// A lane.
    pub fn extractlane(&mut self, v: Value, n: u8) -> Value {
        let ty = self.ty(v).unmasked().lane_type();
        self.op(Op::Extractlane(n), &[v], ty)
    }

    /// Bytes of two vectors.
    pub fn shuffle(&mut self, ty: Type, a: Value, b: Value, pattern: Constant) -> Value {
        self.op(Op::Shuffle(pattern), &[a, b], ty)
    }

    fn widen(&mut self, op: Op, v: Value) -> Value {
        let ty = self
            .ty(v)
            .widened()
            .expect("bug: these lanes have no double");
        self.op(op, &[v], ty)
    }

    /// Two f32 as f64.
    pub fn fvpromote_low(&mut self, v: Value) -> Value {
        self.op(Op::FvpromoteLow, &[v], types::F64X2)
    }

    /// Two f64 as f32.
    pub fn fvdemote(&mut self, v: Value) -> Value {
        self.op(Op::Fvdemote, &[v], types::F32X4)
    }

    // ---- control

    fn edge(&mut self, to: Block, args: &[Value]) -> u32 {
        let from = self.here();
        let edge = self.func.new_edge(to, args);
        for (n, &arg) in args.iter().enumerate() {
            // Parameters created later take the argument's type.
            if let Some(&param) = self.func.params(to).get(n) {
                let arg = self.as_type(arg, self.ty(param));
                self.func.set_edge_arg(edge, n, arg);
            }
        }
        self.ssa.add_pred(to, from, edge);
        edge
    }

    /// Goes to a block.
    pub fn jump(&mut self, to: Block, args: &[Value]) {
        let edge = self.edge(to, args);
        self.effect(Op::Jump(edge), &[]);
    }

    /// Goes to one of two blocks.
    pub fn brif(
        &mut self,
        truth: Value,
        yes: Block,
        yes_args: &[Value],
        no: Block,
        no_args: &[Value],
    ) {
        let edge = self.edge(yes, yes_args);
        self.edge(no, no_args);
        self.effect(Op::Brif(edge), &[truth]);
    }

    /// Leaves the function.
    pub fn return_(&mut self, value: Value) {
        self.effect(Op::Return, &[value]);
    }
}

/// An integer zero-extended from the width of a type.
fn cut(ty: Type, n: i64) -> i64 {
    match ty.bits() {
        64 => n,
        bits => n & ((1 << bits) - 1),
    }
}

macro_rules! binary {
    ($($name:ident $op:ident;)*) => {
        impl Builder<'_> {
            $(#[doc = concat!("See [`Op::", stringify!($op), "`].")]
            pub fn $name(&mut self, a: Value, b: Value) -> Value {
                let ty = self.ty(a).unmasked();
                self.op(Op::$op, &[a, b], ty)
            })*
        }
    };
}
binary! {
    iadd Iadd;
    isub Isub;
    imul Imul;
    umulhi Umulhi;
    smulhi Smulhi;
    ishl Ishl;
    ushr Ushr;
    sshr Sshr;
    umin Umin;
    umax Umax;
    smin Smin;
    smax Smax;
    uadd_sat UaddSat;
    sadd_sat SaddSat;
    usub_sat UsubSat;
    ssub_sat SsubSat;
    fadd Fadd;
    fsub Fsub;
    fmul Fmul;
    fdiv Fdiv;
}

macro_rules! unary {
    ($($name:ident $op:ident;)*) => {
        impl Builder<'_> {
            $(#[doc = concat!("See [`Op::", stringify!($op), "`].")]
            pub fn $name(&mut self, a: Value) -> Value {
                let ty = self.ty(a);
                self.op(Op::$op, &[a], ty)
            })*
        }
    };
}
unary! {
    ineg Ineg;
    popcnt Popcnt;
    clz Clz;
    ctz Ctz;
    bitrev Bitrev;
    sqrt Sqrt;
    fabs Fabs;
    ceil Ceil;
    floor Floor;
    trunc Trunc;
    nearest Nearest;
}

macro_rules! conversions {
    ($($name:ident $op:ident;)*) => {
        impl Builder<'_> {
            $(#[doc = concat!("See [`Op::", stringify!($op), "`].")]
            pub fn $name(&mut self, ty: Type, a: Value) -> Value {
                self.op(Op::$op, &[a], ty)
            })*
        }
    };
}
conversions! {
    ireduce Ireduce;
    uextend Uextend;
    sextend Sextend;
    splat Splat;
    scalar_to_vector ScalarToVector;
    fpromote Fpromote;
    fdemote Fdemote;
    fcvt_from_sint FcvtFromSint;
    fcvt_from_uint FcvtFromUint;
    fcvt_to_sint_sat FcvtToSintSat;
    fcvt_to_uint_sat FcvtToUintSat;
    vhigh_bits VhighBits;
}

macro_rules! widenings {
    ($($name:ident $op:ident;)*) => {
        impl Builder<'_> {
            $(#[doc = concat!("See [`Op::", stringify!($op), "`].")]
            pub fn $name(&mut self, a: Value) -> Value {
                self.widen(Op::$op, a)
            })*
        }
    };
}
widenings! {
    swiden_low SwidenLow;
    swiden_high SwidenHigh;
    uwiden_low UwidenLow;
    uwiden_high UwidenHigh;
}

macro_rules! with_constants {
    ($($name:ident $op:ident;)*) => {
        impl Builder<'_> {
            $(#[doc = concat!("See [`Op::", stringify!($op), "`]; the second source is a constant.")]
            pub fn $name(&mut self, a: Value, n: i64) -> Value {
                let ty = self.ty(a);
                let n = self.iconst(ty.lane_type(), n);
                self.op(Op::$op, &[a, n], ty)
            })*
        }
    };
}
with_constants! {
    iadd_imm Iadd;
    band_imm Band;
    bxor_imm Bxor;
    imul_imm Imul;
    ishl_imm Ishl;
    ushr_imm Ushr;
    sshr_imm Sshr;
}
