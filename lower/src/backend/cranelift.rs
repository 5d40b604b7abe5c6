//! The Cranelift back end, for hosts without AVX2 and for what the wide back end lacks. Each vector
//! IR instruction becomes one or a few CLIF instructions. It supports 128-bit vectors and
//! operations of every host, and refuses the rest.

use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::immediates::{Ieee32, Ieee64};
use cranelift_codegen::ir::{
    self as clif, AbiParam, BlockArg, Endianness, ExternalName, GlobalValueData, InstBuilder,
    MemFlagsData, SigRef, Signature, SourceLoc, StackSlot, StackSlotData, StackSlotKind,
    UserExternalNameRef, Value, types,
};
use cranelift_codegen::isa::{CallConv, TargetFrontendConfig, TargetIsa};
use cranelift_codegen::packed_option::ReservedValue;
use cranelift_codegen::{CompiledCode, Context};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};

use crate::backend::object;
use crate::vir::types::Lane;
use crate::vir::{self, Callee, Constant, Edge, Func, Inst, Memory, Op, Part, Symbol, ops};

/// Reason for a refusal: a construct that this back end does not support.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Cranelift's reader does not do {0}")]
struct Refused(String);

/// Signature of a compiled region.
fn entry_signature(call_conv: CallConv) -> Signature {
    let mut sig = Signature::new(call_conv);
    sig.params.push(AbiParam::new(types::I64));
    sig.returns.push(AbiParam::new(types::I64));
    sig
}

/// Memory reused from function to function.
pub(crate) struct Compiler {
    contexts: FunctionBuilderContext,
    codegen: Context,
}

impl Compiler {
    pub(crate) fn new() -> Compiler {
        Compiler {
            contexts: FunctionBuilderContext::new(),
            codegen: Context::new(),
        }
    }

    /// Compiles a function of the vector IR for a target, with the code as text if `disasm`. The
    /// error is a message.
    pub(crate) fn compile(
        &mut self,
        from: &Func,
        isa: &dyn TargetIsa,
        disasm: bool,
    ) -> Result<(&clif::Function, &CompiledCode), String> {
        self.codegen.clear();
        let to = &mut self.codegen.func;
        translate(from, to, &mut self.contexts, isa.frontend_config())
            .map_err(|refused| refused.to_string())?;
        self.codegen.set_disasm(disasm);
        self.codegen
            .compile(isa, &mut ControlPlane::default())
            .map_err(|e| format!("{:?}", e.inner))?;
        let code = self.codegen.compiled_code().expect("it was compiled");
        Ok((&self.codegen.func, code))
    }
}

/// Translates a function of the vector IR to CLIF. `to` is empty before; after a refusal it must be
/// cleared before reuse.
fn translate(
    from: &Func,
    to: &mut clif::Function,
    contexts: &mut FunctionBuilderContext,
    config: TargetFrontendConfig,
) -> Result<(), Refused> {
    to.signature = entry_signature(config.default_call_conv);
    // Source locations are kept relative to this one, which must not be -1: that means none.
    to.params.ensure_base_srcloc(SourceLoc::new(1));
    let mut reader = Reader::new(from, FunctionBuilder::new(to, contexts), config);
    match reader.blocks() {
        Ok(()) => {
            reader.b.seal_all_blocks();
            reader.b.finalize(config);
            Ok(())
        }
        Err(refused) => {
            // Only a finished function leaves the context ready for the next one.
            *contexts = FunctionBuilderContext::new();
            Err(refused)
        }
    }
}

/// Translation of one function.
struct Reader<'f> {
    from: &'f Func,
    b: FunctionBuilder<'f>,
    /// By the numbers of values.
    values: Vec<Option<Value>>,
    /// By block number; `None` for unreachable blocks.
    blocks: Vec<Option<clif::Block>>,
    /// By the numbers of stack slots.
    slots: Vec<StackSlot>,
    guest: UserExternalNameRef,
    sites: UserExternalNameRef,
    lane_sig: SigRef,
    effect_sig: SigRef,
}

impl<'f> Reader<'f> {
    fn new(from: &'f Func, mut b: FunctionBuilder<'f>, config: TargetFrontendConfig) -> Reader<'f> {
        let mut lane = Signature::new(config.default_call_conv);
        lane.params.push(AbiParam::new(types::I64));
        lane.params.push(AbiParam::new(types::I64));
        lane.params.push(AbiParam::new(types::I32));
        let mut effect = Signature::new(config.default_call_conv);
        effect.params.extend([AbiParam::new(types::I64); 4]);
        effect.returns.push(AbiParam::new(types::I64));
        let mut slot = |&bytes: &u32| {
            let data = StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 3);
            b.create_sized_stack_slot(data)
        };
        Reader {
            slots: from.stack_slots().iter().map(&mut slot).collect(),
            guest: b.func.declare_imported_user_function(object::GUEST),
            sites: b.func.declare_imported_user_function(object::SITES),
            lane_sig: b.import_signature(lane),
            effect_sig: b.import_signature(effect),
            values: vec![None; from.num_values()],
            blocks: vec![None; from.num_blocks()],
            from,
            b,
        }
    }

    // ---- blocks

    /// Translates the reachable blocks, in layout order.
    fn blocks(&mut self) -> Result<(), Refused> {
        let order = self.from.reverse_postorder();
        let mut is_entered = vec![false; self.from.num_blocks()];
        for block in &order {
            is_entered[block.index()] = true;
        }
        for &block in self.from.layout() {
            if is_entered[block.index()] {
                self.create(block)?;
            }
        }
        for block in order {
            let to = self.block(block);
            self.b.switch_to_block(to);
            for &inst in self.from.insts(block) {
                self.inst(inst)?;
            }
        }
        Ok(())
    }

    /// A new block after the existing ones.
    fn create(&mut self, block: vir::Block) -> Result<(), Refused> {
        let to = self.b.create_block();
        self.b.func.layout.append_block(to);
        if self.from.is_cold(block) {
            self.b.set_cold_block(to);
        }
        for &param in self.from.params(block) {
            let ty = type_of(self.from.ty(param))?;
            self.values[param.index()] = Some(self.b.append_block_param(to, ty));
        }
        self.blocks[block.index()] = Some(to);
        Ok(())
    }

    fn block(&self, block: vir::Block) -> clif::Block {
        self.blocks[block.index()].expect("bug: an edge to a block without code")
    }

    /// The target of an edge, with the arguments for its parameters.
    fn edge(&self, edge: Edge) -> (clif::Block, Vec<BlockArg>) {
        let args = self.from.edge_args(edge).iter();
        let args = args.map(|&arg| BlockArg::Value(self.value(arg)));
        (self.block(edge.block), args.collect())
    }

    fn jump(&mut self, edges: &[Edge]) {
        let (to, args) = self.edge(edges[0]);
        self.b.ins().jump(to, &args);
    }

    fn branch(&mut self, truth: Value, edges: &[Edge]) {
        let (yes, yes_args) = self.edge(edges[0]);
        let (no, no_args) = self.edge(edges[1]);
        self.b.ins().brif(truth, yes, &yes_args, no, &no_args);
    }

    // ---- values

    fn value(&self, v: vir::Value) -> Value {
        let v = self.from.resolve(v);
        self.values[v.index()].expect("bug: a value is used before it is made")
    }

    /// The first three sources of an instruction.
    fn sources(&self, inst: Inst) -> [Value; 3] {
        let mut sources = [Value::reserved_value(); 3];
        for (source, &arg) in sources.iter_mut().zip(self.from.args(inst)) {
            *source = self.value(arg);
        }
        sources
    }

    /// The type of an instruction's result; invalid if it has none.
    fn result_type(&self, inst: Inst) -> Result<clif::Type, Refused> {
        match self.from.result(inst) {
            Some(result) => type_of(self.from.ty(result)),
            None => Ok(types::INVALID),
        }
    }

    fn set(&mut self, inst: Inst, value: Value) {
        let Some(result) = self.from.result(inst) else {
            return;
        };
        debug_assert_eq!(
            type_of(self.from.ty(result)).ok(),
            Some(self.b.func.dfg.value_type(value)),
            "bug: the type of {}",
            self.from.op(inst).name()
        );
        self.values[result.index()] = Some(value);
    }

    // ---- instructions

    /// Translates an instruction.
    fn inst(&mut self, inst: Inst) -> Result<(), Refused> {
        self.b.set_srcloc(match self.from.loc(inst) {
            0 => SourceLoc::default(),
            loc => SourceLoc::new(loc),
        });
        if let Some(value) = self.made(inst)? {
            self.set(inst, value);
        }
        Ok(())
    }

    /// Translates an instruction. Exhaustive over the operations, so that a new one does not
    /// compile until it is handled.
    fn made(&mut self, inst: Inst) -> Result<Option<Value>, Refused> {
        let (from, op) = (self.from, self.from.op(inst));
        let ty = self.result_type(inst)?;
        let [a, b, c] = self.sources(inst);
        let ins = self.b.ins();
        Ok(Some(match op {
            // ---- constants and addresses
            Op::Iconst(n) => ins.iconst(ty, n),
            Op::F32const(bits) => ins.f32const(Ieee32::with_bits(bits)),
            Op::F64const(bits) => ins.f64const(Ieee64::with_bits(bits)),
            Op::Vconst(constant) => self.vector_constant(ty, constant),
            Op::SymbolValue(symbol, distance) => self.symbol(symbol, distance),
            Op::StackAddr(slot) => {
                let slot = self.slots[slot.0 as usize];
                self.b.ins().stack_addr(ty, slot, 0)
            }
            // ---- memory, calls and control
            Op::Load(memory, part, offset) => self.load(ty, memory, part, a, offset),
            Op::Store(memory, part, offset) => {
                self.store(memory, part, a, b, offset);
                return Ok(None);
            }
            Op::Call(callee) => return Ok(self.call(callee, inst)),
            Op::Jump(_) => {
                self.jump(from.edges(inst));
                return Ok(None);
            }
            Op::Brif(_) => {
                self.branch(a, from.edges(inst));
                return Ok(None);
            }
            Op::Return => {
                ins.return_(&[a]);
                return Ok(None);
            }
            // ---- integers
            Op::Iadd => ins.iadd(a, b),
            Op::Isub => ins.isub(a, b),
            Op::Ineg => ins.ineg(a),
            Op::Imul => ins.imul(a, b),
            Op::Umulhi => ins.umulhi(a, b),
            Op::Smulhi => ins.smulhi(a, b),
            Op::Band => ins.band(a, b),
            Op::Bor => ins.bor(a, b),
            Op::Bxor => ins.bxor(a, b),
            Op::Bnot => ins.bnot(a),
            Op::Ishl => ins.ishl(a, b),
            Op::Ushr => ins.ushr(a, b),
            Op::Sshr => ins.sshr(a, b),
            Op::Umin => ins.umin(a, b),
            Op::Umax => ins.umax(a, b),
            Op::Smin => ins.smin(a, b),
            Op::Smax => ins.smax(a, b),
            Op::UaddSat => ins.uadd_sat(a, b),
            Op::SaddSat => ins.sadd_sat(a, b),
            Op::UsubSat => ins.usub_sat(a, b),
            Op::SsubSat => ins.ssub_sat(a, b),
            Op::Popcnt => ins.popcnt(a),
            Op::Clz => ins.clz(a),
            Op::Ctz => ins.ctz(a),
            Op::Bitrev => ins.bitrev(a),
            Op::Ireduce => ins.ireduce(ty, a),
            Op::Uextend => ins.uextend(ty, a),
            Op::Sextend => ins.sextend(ty, a),
            // ---- comparisons and choices
            Op::Icmp(cond) => ins.icmp(of_integers(cond), a, b),
            Op::Fcmp(cond) => ins.fcmp(of_floats(cond), a, b),
            Op::Select => ins.select(a, b, c),
            Op::MaskToVector | Op::VectorToMask => a,
            Op::Bitselect => ins.bitselect(a, b, c),
            Op::Blendv => ins.blendv(a, b, c),
            // ---- lanes
            Op::Insertlane(n) => ins.insertlane(a, b, n),
            Op::Extractlane(n) => ins.extractlane(a, n),
            Op::Shuffle(pattern) => self.shuffle(ty, a, b, pattern)?,
            Op::VhighBits => ins.vhigh_bits(ty, a),
            Op::Splat => ins.splat(ty, a),
            Op::ScalarToVector => ins.scalar_to_vector(ty, a),
            Op::SwidenLow => ins.swiden_low(a),
            Op::SwidenHigh => ins.swiden_high(a),
            Op::UwidenLow => ins.uwiden_low(a),
            Op::UwidenHigh => ins.uwiden_high(a),
            Op::Bitcast => ins.bitcast(ty, little(), a),
            // ---- floats
            Op::Fadd => ins.fadd(a, b),
            Op::Fsub => ins.fsub(a, b),
            Op::Fmul => ins.fmul(a, b),
            Op::Fdiv => ins.fdiv(a, b),
            Op::Fma => ins.fma(a, b, c),
            Op::Sqrt => ins.sqrt(a),
            Op::Fabs => ins.fabs(a),
            Op::Ceil => ins.ceil(a),
            Op::Floor => ins.floor(a),
            Op::Trunc => ins.trunc(a),
            Op::Nearest => ins.nearest(a),
            Op::Fpromote => ins.fpromote(ty, a),
            Op::Fdemote => ins.fdemote(ty, a),
            Op::FvpromoteLow => ins.fvpromote_low(a),
            Op::Fvdemote => ins.fvdemote(a),
            Op::FcvtFromSint => ins.fcvt_from_sint(ty, a),
            Op::FcvtFromUint => ins.fcvt_from_uint(ty, a),
            Op::FcvtToSintSat => ins.fcvt_to_sint_sat(ty, a),
            Op::FcvtToUintSat => ins.fcvt_to_uint_sat(ty, a),
            // ---- without observable effect
            Op::Prefetch | Op::PrefetchSecond => return Ok(None),
            // ---- wide back end only
            ops!(host_vectors) | Op::Gather | Op::Scatter | Op::LoadSome | Op::StoreSome => {
                return Err(Refused(op.name().to_owned()));
            }
        }))
    }

    // ---- constants and addresses

    fn vector_constant(&mut self, ty: clif::Type, constant: Constant) -> Value {
        let bytes = self.from.bytes(constant).into();
        let constant = self.b.func.dfg.constants.insert(bytes);
        self.b.ins().vconst(ty, constant)
    }

    /// The address of a symbol that is resolved at placement.
    fn symbol(&mut self, symbol: Symbol, distance: i64) -> Value {
        let name = match symbol {
            Symbol::Guest => self.guest,
            Symbol::Sites => self.sites,
        };
        let symbol = self.b.create_global_value(GlobalValueData::Symbol {
            name: ExternalName::user(name),
            offset: distance.into(),
            colocated: false,
            tls: false,
        });
        self.b.ins().symbol_value(types::I64, symbol)
    }

    // ---- memory and calls

    fn load(
        &mut self,
        ty: clif::Type,
        memory: Memory,
        part: Part,
        addr: Value,
        offset: i32,
    ) -> Value {
        let (ins, flags) = (self.b.ins(), flags(memory));
        match part {
            Part::Whole => ins.load(ty, flags, addr, offset),
            Part::Byte => ins.uload8(ty, flags, addr, offset),
            Part::SignedByte => ins.sload8(ty, flags, addr, offset),
            Part::Short => ins.uload16(ty, flags, addr, offset),
            Part::SignedShort => ins.sload16(ty, flags, addr, offset),
        }
    }

    fn store(&mut self, memory: Memory, part: Part, value: Value, addr: Value, offset: i32) {
        let (ins, flags) = (self.b.ins(), flags(memory));
        match part {
            Part::Whole => ins.store(flags, value, addr, offset),
            Part::Byte | Part::SignedByte => ins.istore8(flags, value, addr, offset),
            Part::Short | Part::SignedShort => ins.istore16(flags, value, addr, offset),
        };
    }

    /// Calls the function whose address is the first source; returns its result, if any.
    fn call(&mut self, callee: Callee, inst: Inst) -> Option<Value> {
        let signature = match callee {
            Callee::Lanes => self.lane_sig,
            Callee::Effect => self.effect_sig,
        };
        let args = self.from.args(inst).iter();
        let args: Vec<Value> = args.map(|&arg| self.value(arg)).collect();
        let call = self.b.ins().call_indirect(signature, args[0], &args[1..]);
        self.b.inst_results(call).first().copied()
    }

    // ---- shuffles

    /// A value as another type of the same size.
    fn cast(&mut self, ty: clif::Type, v: Value) -> Value {
        if self.b.func.dfg.value_type(v) == ty {
            v
        } else {
            self.b.ins().bitcast(ty, little(), v)
        }
    }

    /// Bytes of two vectors. Patterns with zeros, which the wide back end supports, are refused.
    fn shuffle(
        &mut self,
        ty: clif::Type,
        a: Value,
        b: Value,
        pattern: Constant,
    ) -> Result<Value, Refused> {
        let bytes = self.from.bytes(pattern);
        if bytes.iter().any(|&byte| byte >= 32) {
            return Err(Refused("shuffle with zeros".to_owned()));
        }
        let [a, b] = [a, b].map(|v| self.cast(types::I8X16, v));
        let pattern = self.b.func.dfg.immediates.push(bytes.into());
        let v = self.b.ins().shuffle(a, b, pattern);
        Ok(self.cast(ty, v))
    }
}

/// Cranelift's name of a type.
fn type_of(ty: vir::Type) -> Result<clif::Type, Refused> {
    let lane = match ty.lane() {
        Lane::I8 => types::I8,
        Lane::I16 => types::I16,
        Lane::I32 | Lane::M32 => types::I32,
        Lane::I64 | Lane::M64 => types::I64,
        Lane::F32 => types::F32,
        Lane::F64 => types::F64,
    };
    if !ty.is_vector() {
        return Ok(lane);
    }
    let vector = lane.by(ty.lane_count()).filter(|_| ty.bits() == 128);
    vector.ok_or_else(|| Refused(format!("vectors of type {ty}")))
}

/// Flags of bit casts.
fn little() -> MemFlagsData {
    MemFlagsData::new().with_endianness(Endianness::Little)
}

/// Flags of an access.
fn flags(memory: Memory) -> MemFlagsData {
    match memory {
        Memory::Guest => little().with_notrap(),
        Memory::Trusted => MemFlagsData::trusted(),
        Memory::Fixed => MemFlagsData::trusted().with_readonly(),
    }
}

fn of_integers(cond: vir::IntCC) -> IntCC {
    match cond {
        vir::IntCC::Equal => IntCC::Equal,
        vir::IntCC::NotEqual => IntCC::NotEqual,
        vir::IntCC::SignedLessThan => IntCC::SignedLessThan,
        vir::IntCC::SignedGreaterThanOrEqual => IntCC::SignedGreaterThanOrEqual,
        vir::IntCC::SignedGreaterThan => IntCC::SignedGreaterThan,
        vir::IntCC::SignedLessThanOrEqual => IntCC::SignedLessThanOrEqual,
        vir::IntCC::UnsignedLessThan => IntCC::UnsignedLessThan,
        vir::IntCC::UnsignedGreaterThanOrEqual => IntCC::UnsignedGreaterThanOrEqual,
        vir::IntCC::UnsignedGreaterThan => IntCC::UnsignedGreaterThan,
        vir::IntCC::UnsignedLessThanOrEqual => IntCC::UnsignedLessThanOrEqual,
    }
}

fn of_floats(cond: vir::FloatCC) -> FloatCC {
    match cond {
        vir::FloatCC::Ordered => FloatCC::Ordered,
        vir::FloatCC::Unordered => FloatCC::Unordered,
        vir::FloatCC::Equal => FloatCC::Equal,
        vir::FloatCC::NotEqual => FloatCC::NotEqual,
        vir::FloatCC::OrderedNotEqual => FloatCC::OrderedNotEqual,
        vir::FloatCC::UnorderedOrEqual => FloatCC::UnorderedOrEqual,
        vir::FloatCC::LessThan => FloatCC::LessThan,
        vir::FloatCC::LessThanOrEqual => FloatCC::LessThanOrEqual,
        vir::FloatCC::GreaterThan => FloatCC::GreaterThan,
        vir::FloatCC::GreaterThanOrEqual => FloatCC::GreaterThanOrEqual,
        vir::FloatCC::UnorderedOrLessThan => FloatCC::UnorderedOrLessThan,
        vir::FloatCC::UnorderedOrLessThanOrEqual => FloatCC::UnorderedOrLessThanOrEqual,
        vir::FloatCC::UnorderedOrGreaterThan => FloatCC::UnorderedOrGreaterThan,
        vir::FloatCC::UnorderedOrGreaterThanOrEqual => FloatCC::UnorderedOrGreaterThanOrEqual,
    }
}
