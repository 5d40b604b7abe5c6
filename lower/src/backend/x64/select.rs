//! Instruction selection: vector IR to host instructions. Constants are rematerialized at each use,
//! comparisons are fused with their branch, sums with the address that they are.

use regalloc2::{Operand, RegClass, VReg};

use uses::PartBase;

use super::Refused;
use super::encode::{Len, Row};
use super::inst::{
    Addr, AddrBase, Cc, Compare, Form, HostBlock, HostFunc, HostOp, Imm, Pin, RAX, RCX, RDI, RDX,
    RSI, Src, general,
};
use super::rows::{legacy, vex};
use super::space::{Space, table};
use crate::backend::object;
use crate::host::Isa;
use crate::maps::HashMap;
use crate::vir::{Block, Edge, Func, Inst, Op, Part, StackSlot, Symbol, Type, Value, types};

mod convert;
mod dispatch;
mod fixes;
mod fused;
mod gather;
mod kinds;
mod logic;
mod masked;
mod masks;
mod scalar;
mod shuffle;
mod uses;
mod vector;

/// A block and its arguments.
type Target = (usize, Vec<VReg>);

pub(super) struct Select<'a> {
    func: &'a Func,
    h: HostFunc,
    /// By value number: the value without aliases and casts.
    same: Vec<Value>,
    /// By value number: the defining instruction, if any.
    defs: Vec<Inst>,
    /// By value number: is it an operand exactly once?
    once: Vec<bool>,
    /// By value number: the register of those that are computed in place.
    values: Vec<VReg>,
    /// Constants in registers, with the block in which they are valid.
    here: Vec<(u32, VReg)>,
    /// The current block.
    block: u32,
    /// By block number: its index in the host function.
    blocks: Vec<usize>,
    /// By stack slot number: its offset.
    slots: Vec<i32>,
    /// The values pinned to registers.
    pins: [(Value, Pin); 2],
    /// Instructions that are selected on their own.
    needed: Vec<bool>,
    /// Loads that are folded into their only use.
    folded: Vec<bool>,
    /// For AVX-512: instructions that absorb the logic of others.
    logic: HashMap<Inst, logic::Logic>,
    /// For AVX-512.
    masks: masks::Masks,
    /// For AVX-512.
    merge: masked::Merge,
}

/// No register in no block.
const NOWHERE: (u32, VReg) = (u32::MAX, VReg::invalid());

/// Selects instructions for a function. In the `baseline` tier each value has one location for its
/// whole lifetime.
pub(super) fn select(
    func: &Func,
    wave: Value,
    isa: Isa,
    baseline: bool,
    space: &mut Space,
) -> Result<HostFunc, Refused> {
    let (same, defs) = uses::names(func, isa, space);
    let (values, insts) = (func.num_values(), func.num_insts());
    let &[context] = func.entry().map_or(&[][..], |entry| func.params(entry)) else {
        return Err(Refused("parameters".to_owned()));
    };
    let wave = same[wave.index()];
    let mut s = Select {
        func,
        h: HostFunc::new(isa, space),
        once: uses::once(func, &same, space),
        same,
        defs,
        values: table(&mut space.values, values, VReg::invalid()),
        here: table(&mut space.here, values, NOWHERE),
        block: 0,
        blocks: vec![usize::MAX; func.num_blocks()],
        slots: Vec::new(),
        pins: [(context, Pin::Context), (wave, Pin::Wave)],
        needed: table(&mut space.needed, insts, false),
        folded: table(&mut space.folded, insts, false),
        logic: HashMap::default(),
        masks: masks::Masks::new(isa, values, space),
        merge: masked::Merge::new(space),
    };
    for bytes in func.stack_slots() {
        s.slots.push(s.h.stack as i32);
        s.h.stack += bytes.next_multiple_of(8);
    }
    let mut places = vec![0; func.num_blocks()];
    for (n, block) in func.layout().iter().enumerate() {
        places[block.index()] = n;
    }
    let layout = func.reverse_postorder();
    for (n, &block) in layout.iter().enumerate() {
        s.blocks[block.index()] = n;
        let cold = func.is_cold(block);
        s.h.blocks.push(HostBlock::new(places[block.index()], cold));
    }
    s.find_needed(&layout, space);
    for block in layout {
        s.block(block)?;
    }
    s.h.finish(baseline, space);
    Ok(s.done(space))
}

impl Select<'_> {
    /// The finished function; returns the tables to `space`.
    fn done(self, space: &mut Space) -> HostFunc {
        space.same = self.same;
        space.defs = self.defs;
        space.once = self.once;
        space.values = self.values;
        space.here = self.here;
        space.needed = self.needed;
        space.folded = self.folded;
        self.masks.done(space);
        self.merge.done(space);
        self.h
    }

    // ---- registers

    fn class(ty: Type) -> RegClass {
        if ty.is_int() {
            RegClass::Int
        } else {
            RegClass::Float
        }
    }

    fn int_reg(&mut self) -> VReg {
        self.h.vreg(RegClass::Int)
    }

    fn vec_reg(&mut self) -> VReg {
        self.h.vreg(RegClass::Float)
    }

    /// The register that an instruction defines from up to two others, and from `rm` if it has
    /// that.
    fn define(&mut self, class: RegClass, op: HostOp, uses: &[VReg], rm: Option<Src>) -> VReg {
        let d = self.h.vreg(class);
        let mut operands = [Operand::reg_def(d); 3];
        for (operand, &reg) in operands[1..].iter_mut().zip(uses) {
            *operand = Operand::reg_use(reg);
        }
        self.h.push(op, &operands[..1 + uses.len()], rm);
        d
    }

    /// The vector that an instruction of [`Form::Fma`] writes over its first source.
    fn over_first(&mut self, op: HostOp, [first, second]: [VReg; 2], third: Src) -> VReg {
        let d = self.vec_reg();
        let operands = [
            Operand::reg_reuse_def(d, 1),
            Operand::reg_use(first),
            Operand::reg_use(second),
        ];
        self.h.push(op, &operands, Some(third));
        d
    }

    /// The pinned register of a value, if any.
    fn pin(&self, v: Value) -> Option<Pin> {
        let mut pins = self.pins.iter();
        pins.find(|(value, _)| *value == v).map(|&(_, pin)| pin)
    }

    /// The two terms of an address, a pinned value first.
    fn base_first(&self, a: Value, b: Value) -> (Value, Value) {
        match self.pin(self.resolve(b)) {
            Some(_) => (b, a),
            None => (a, b),
        }
    }

    /// A value in a register.
    fn reg(&mut self, v: Value) -> Result<VReg, Refused> {
        let v = self.resolve(v);
        if let Some(pin) = self.pin(v) {
            let addr = Addr {
                base: AddrBase::Pin(pin),
                index: None,
                disp: 0,
            };
            let op = HostOp::Legacy(legacy::LEA, true, Form::Rm, Imm::No);
            return Ok(self.define(RegClass::Int, op, &[], Some(Src::Mem(addr))));
        }
        let n = v.index();
        if self.values[n] != VReg::invalid() {
            return match self.is_mask(v) {
                true => self.vector_of_mask(v),
                false => Ok(self.values[n]),
            };
        }
        if self.here[n].0 == self.block {
            return Ok(self.here[n].1);
        }
        let def = self.def(v);
        if let Some(inst) = def.filter(|inst| self.folded[inst.index()]) {
            // The load cannot be folded.
            self.folded[inst.index()] = false;
            self.inst(inst)?;
            return Ok(self.values[n]);
        }
        let Some(inst) = def.filter(|_| self.is_constant(v)) else {
            let what = match def {
                Some(inst) => self.described(inst),
                None => "a parameter".to_owned(),
            };
            return Err(Refused(format!("{what}, which has no register")));
        };
        let reg = self.constant(inst, v)?;
        self.here[n] = (self.block, reg);
        Ok(reg)
    }

    fn constant(&mut self, inst: Inst, v: Value) -> Result<VReg, Refused> {
        let reg = self.h.vreg(Self::class(self.ty(v)));
        let def = [Operand::reg_def(reg)];
        match self.op(inst) {
            Op::Iconst(n) => self.h.push(HostOp::MovImm(n as u64), &def, None),
            Op::F32const(bits) => {
                let at = self.pool(&bits.to_le_bytes());
                self.h.push(load_float(vex::VMOVSS_LOAD), &def, Some(at));
            }
            Op::F64const(bits) => {
                let at = self.pool(&bits.to_le_bytes());
                self.h.push(load_float(vex::VMOVSD_LOAD), &def, Some(at));
            }
            Op::Vconst(constant) => {
                let bytes = self.func.bytes(constant);
                if bytes.iter().all(|&b| b == 0) {
                    self.h.push(HostOp::Zero, &def, None);
                } else if bytes.iter().all(|&b| b == 0xff) {
                    self.h.push(HostOp::Ones, &def, None);
                } else {
                    let len = length(self.ty(v))?;
                    let at = self.pool(bytes);
                    let op = HostOp::Vex(vex::VMOVAPS, len, Form::Rm, Imm::No);
                    self.h.push(op, &def, Some(at));
                }
            }
            Op::Load(_, _, offset) => {
                let addr = Src::Mem(self.addr(self.func.args(inst)[0], offset)?);
                let op = HostOp::Legacy(legacy::LOAD, true, Form::Rm, Imm::No);
                self.h.push(op, &def, Some(addr));
            }
            Op::SymbolValue(symbol, distance) => {
                let symbol = match symbol {
                    Symbol::Guest => object::Symbol::Guest,
                    Symbol::Sites => object::Symbol::Sites,
                };
                self.h.push(HostOp::MovSymbol(symbol, distance), &def, None);
            }
            _ => return Err(self.refuse(inst)),
        }
        Ok(reg)
    }

    /// A constant in memory.
    fn pool(&mut self, bytes: &[u8]) -> Src {
        let n = self.h.constant(bytes);
        Src::Mem(Addr {
            base: AddrBase::Pool(n),
            index: None,
            disp: 0,
        })
    }

    /// A value as the base of an address.
    fn base(&mut self, v: Value) -> Result<AddrBase, Refused> {
        Ok(match self.pin(self.resolve(v)) {
            Some(pin) => AddrBase::Pin(pin),
            None => AddrBase::Reg(self.reg(v)?),
        })
    }

    /// Offset of a stack slot.
    fn slot(&self, slot: StackSlot) -> i32 {
        self.slots[slot.0 as usize]
    }

    fn addr(&mut self, v: Value, disp: i32) -> Result<Addr, Refused> {
        let parts = self.parts(v, disp);
        let base = match parts.base {
            PartBase::Value(v) => self.base(v)?,
            PartBase::Stack => AddrBase::Stack,
        };
        let index = match parts.index {
            Some((v, shift)) => Some((self.reg(v)?, shift)),
            None => None,
        };
        Ok(Addr {
            base,
            index,
            disp: parts.disp,
        })
    }

    /// Assigns a register to the value of an instruction.
    fn set(&mut self, inst: Inst, reg: VReg) {
        let v = self.result(inst);
        if let Some(pin) = self.pin(v) {
            self.h
                .push(HostOp::Pin(pin), &[Operand::reg_use(reg)], None);
            return;
        }
        self.values[v.index()] = reg;
        self.note_made(v, reg);
    }

    // ---- control

    fn block(&mut self, block: Block) -> Result<(), Refused> {
        let index = self.blocks[block.index()];
        self.h.begin(index);
        self.merge_in_block();
        self.block = index as u32;
        let params = self.func.params(block);
        let mut regs = Vec::with_capacity(params.len());
        for &param in params {
            if self.pin(param).is_some() {
                continue;
            }
            let reg = self.param_reg(param);
            self.values[param.index()] = reg;
            regs.push(reg);
        }
        self.h.set_params(index, regs);
        for &inst in self.func.insts(block) {
            self.h.loc = self.func.loc(inst);
            if self.op(inst).is_terminator() {
                self.terminator(index, inst)?;
            } else if self.needed[inst.index()] && !self.folded[inst.index()] {
                self.inst(inst)?;
            }
        }
        Ok(())
    }

    /// The target of an edge with its arguments, and the values for pinned registers. If the block
    /// is `decided`, there are no arguments.
    fn target(
        &mut self,
        edge: Edge,
        decided: Option<Block>,
    ) -> Result<(Target, Vec<(VReg, Pin)>), Refused> {
        let to = decided.unwrap_or(edge.block);
        let block = self.blocks[to.index()];
        let params = self.func.params(edge.block);
        let args = self.func.edge_args(edge);
        let mut regs = Vec::with_capacity(args.len());
        let mut pinned = Vec::new();
        for (&v, &param) in args.iter().zip(params) {
            match self.pin(param) {
                Some(pin) => pinned.push((self.reg(v)?, pin)),
                None if decided.is_some() => {}
                None => regs.push(self.argument(v, param)?),
            }
        }
        Ok(((block, regs), pinned))
    }

    /// The final target of a jump that changes pinned values, if its constant arguments decide it: the blocks on its path only
    /// compare them with other constants. Nothing else may use these arguments, so the only one besides pinned values is
    /// the number of the entry.
    fn decided(&self, edge: Edge) -> Option<Block> {
        let first = edge.block;
        let params = self.func.params(first);
        if params.len() != 2 || params.iter().all(|&param| self.pin(param).is_none()) {
            return None;
        }
        let given = |v: Value| {
            let mut args = params.iter().zip(self.func.edge_args(edge));
            let (_, &arg) = args.find(|(param, _)| **param == v)?;
            self.int(self.resolve(arg))
        };
        let known = |v: Value| self.int(v).or_else(|| given(self.resolve(v)));
        let mut at = first;
        while let Some((cond, edges)) = self.compares(at)
            && let Some((Cc::B, a, b)) = self.comparison(cond)
            && let (types::I32, Some(a), Some(b)) = (self.ty(a), known(a), known(b))
        {
            at = edges[usize::from(a as u32 >= b as u32)].block;
        }
        (at != first && self.func.params(at).is_empty()).then_some(at)
    }

    /// The comparison of a block that does nothing else, and its targets.
    fn compares(&self, block: Block) -> Option<(Value, &[Edge])> {
        let insts = self.func.insts(block);
        let is_end = |op: Op| matches!(op, Op::Iconst(_) | Op::Icmp(_) | Op::Brif(_));
        if !insts.iter().all(|&inst| is_end(self.op(inst))) {
            return None;
        }
        let last = self.func.last(block)?;
        match self.op(last) {
            Op::Brif(_) => Some((self.func.args(last)[0], self.func.edges(last))),
            _ => None,
        }
    }

    fn terminator(&mut self, index: usize, inst: Inst) -> Result<(), Refused> {
        let args = self.func.args(inst);
        match (self.op(inst), self.func.edges(inst)) {
            (Op::Jump(_), &[edge]) => {
                let decided = self.decided(edge);
                let (to, pinned) = self.target(edge, decided)?;
                for (value, pin) in pinned {
                    self.h
                        .push(HostOp::Pin(pin), &[Operand::reg_use(value)], None);
                }
                self.h.push(HostOp::Jump, &[], None);
                self.h.end(index, [to]);
            }
            (Op::Brif(_), &[yes, no]) => {
                let (yes, pinned) = self.target(yes, None)?;
                let (no, others) = self.target(no, None)?;
                if !pinned.is_empty() || !others.is_empty() {
                    return Err(Refused("a branch that changes what is pinned".to_owned()));
                }
                let (compare, a, b) = self.compare(args[0])?;
                let operands = [a, b.unwrap_or(a)].map(Operand::reg_use);
                let operands = &operands[..1 + usize::from(b.is_some())];
                self.h.push(HostOp::Branch(compare), operands, None);
                self.h.end(index, [yes, no]);
            }
            (Op::Return, _) => {
                let reg = self.reg(args[0])?;
                let operand = Operand::reg_fixed_use(reg, general(RAX));
                self.h.push(HostOp::Return, &[operand], None);
                self.h.end(index, []);
            }
            _ => return Err(self.refuse(inst)),
        }
        Ok(())
    }

    /// How a condition is tested, with its sources, the second of which may be a constant.
    fn compare(&mut self, v: Value) -> Result<(Compare, VReg, Option<VReg>), Refused> {
        let (cc, a, b) = match self.comparison(v) {
            Some((cc, a, b)) => (cc, a, Some(b)),
            None => (Cc::Ne, v, None),
        };
        let wide = self.ty(a) == types::I64;
        let imm = match b {
            None => Some(0),
            Some(b) => self.small(b),
        };
        let first = self.reg(a)?;
        let second = match (imm, b) {
            (None, Some(b)) => Some(self.reg(b)?),
            _ => None,
        };
        Ok((Compare { cc, wide, imm }, first, second))
    }

    fn call(&mut self, inst: Inst) -> Result<(), Refused> {
        let args = self.func.args(inst);
        let callee = self.reg(args[0])?;
        let mut operands = vec![Operand::reg_use(callee)];
        for (&arg, n) in args[1..].iter().zip([RDI, RSI, RDX, RCX]) {
            let reg = self.reg(arg)?;
            operands.push(Operand::reg_fixed_use(reg, general(n)));
        }
        let result = self.int_reg();
        operands.push(Operand::reg_fixed_def(result, general(RAX)));
        self.h.push(HostOp::Call, &operands, None);
        if self.func.result(inst).is_some() {
            self.set(inst, result);
        }
        Ok(())
    }

    /// An instruction and the types of its sources, for messages.
    fn described(&self, inst: Inst) -> String {
        let args = self.func.args(inst).iter();
        let types: Vec<String> = args.map(|&v| self.ty(v).to_string()).collect();
        format!("{} of {}", self.op(inst).name(), types.join(", "))
    }

    fn refuse(&self, inst: Inst) -> Refused {
        Refused(self.described(inst))
    }

    fn load(&mut self, inst: Inst, part: Part, offset: i32) -> Result<(), Refused> {
        let addr = Src::Mem(self.addr(self.func.args(inst)[0], offset)?);
        let ty = self.ty(self.result(inst));
        let reg = self.h.vreg(Self::class(ty));
        let general = |row: Row, wide: bool| HostOp::Legacy(row, wide, Form::Rm, Imm::No);
        let op = match (part, ty) {
            (Part::Byte, types::I32) => general(legacy::MOVZX_B, false),
            (Part::SignedByte, types::I32) => general(legacy::MOVSX_B, false),
            (Part::Short, types::I32) => general(legacy::MOVZX_W, false),
            (Part::SignedShort, types::I32) => general(legacy::MOVSX_W, false),
            (Part::Whole, types::I8) => general(legacy::MOVZX_B, false),
            (Part::Whole, types::I32) => general(legacy::LOAD, false),
            (Part::Whole, types::I64) => general(legacy::LOAD, true),
            (Part::Whole, types::F32) => load_float(vex::VMOVSS_LOAD),
            (Part::Whole, types::F64) => load_float(vex::VMOVSD_LOAD),
            (Part::Whole, _) if ty.is_vector() => {
                HostOp::Vex(vex::VMOVUPS_LOAD, length(ty)?, Form::Rm, Imm::No)
            }
            _ => return Err(self.refuse(inst)),
        };
        self.h.push(op, &[Operand::reg_def(reg)], Some(addr));
        self.set(inst, reg);
        Ok(())
    }

    fn store(&mut self, inst: Inst, part: Part, offset: i32) -> Result<(), Refused> {
        let args = self.func.args(inst);
        let ty = self.ty(args[0]);
        let general = |row: Row, wide: bool| HostOp::Legacy(row, wide, Form::Store, Imm::No);
        let vector = |row: Row, len: Len| HostOp::Vex(row, len, Form::Store, Imm::No);
        let op = match (part, ty) {
            (Part::Byte | Part::SignedByte, types::I32) => general(legacy::STORE_B, false),
            (Part::Short | Part::SignedShort, types::I32) => general(legacy::STORE_W, false),
            (Part::Whole, types::I32) => general(legacy::STORE, false),
            (Part::Whole, types::I64) => general(legacy::STORE, true),
            (Part::Whole, types::F32) => vector(vex::VMOVSS_STORE, Len::L128),
            (Part::Whole, types::F64) => vector(vex::VMOVSD_STORE, Len::L128),
            (Part::Whole, _) if ty.is_vector() => vector(vex::VMOVUPS_STORE, length(ty)?),
            _ => return Err(self.refuse(inst)),
        };
        let data = self.reg(args[0])?;
        let addr = Src::Mem(self.addr(args[1], offset)?);
        self.h.push(op, &[Operand::reg_use(data)], Some(addr));
        Ok(())
    }
}

/// A load of a single float.
fn load_float(row: Row) -> HostOp {
    HostOp::Vex(row, Len::L128, Form::Rm, Imm::No)
}

/// Vector length of a type.
fn length(ty: Type) -> Result<Len, Refused> {
    match ty.bits() {
        ..=128 => Ok(Len::L128),
        256 => Ok(Len::L256),
        512 => Ok(Len::L512),
        _ => Err(Refused(format!("vectors of type {ty}"))),
    }
}
