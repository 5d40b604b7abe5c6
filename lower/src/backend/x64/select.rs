//! Instruction selection: a CLIF function, whose vectors may be 256 bits long, to host instructions.
//! Constants are made anew where they are used, comparisons join the branch that they decide, sums join the
//! address that they are.

use cranelift_codegen::ir::{
    self as clif, BlockArg, Function, InstructionData, Opcode, StackSlot, Type, Value, types,
};
use cranelift_codegen::packed_option::PackedOption;
use regalloc2::{Operand, RegClass, VReg};

use uses::PartBase;

use super::Refused;
use super::encode::{Len, Row};
use super::inst::{
    Addr, AddrBase, Cc, Compare, Form, HostBlock, HostFunc, Imm, Op, Pin, RAX, RCX, RDI, RDX, RSI,
    Src, general,
};
use super::rows::{legacy, vex};
use super::space::{Space, table};
use crate::backend::object;
use crate::host::Isa;
use crate::maps::HashMap;

mod convert;
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

/// A block and the arguments for it.
type Way = (usize, Vec<VReg>);

pub(super) struct Select<'a> {
    clif: &'a Function,
    h: HostFunc,
    /// By the number of a value: what it stands for, without other names and changes of a vector's type.
    same: Vec<Value>,
    /// By the number of a value: the instruction that gives what it stands for.
    defs: Vec<PackedOption<clif::Inst>>,
    /// By the number of a value: is it written down as an operand once?
    once: Vec<bool>,
    /// By the number of a value: the registers of those that are computed where they stand.
    values: Vec<VReg>,
    /// Constants in registers: the block that they are for.
    here: Vec<(u32, VReg)>,
    /// The block that is being selected for.
    block: u32,
    /// By the number of a block: its place in the host's function.
    blocks: Vec<usize>,
    slots: HashMap<StackSlot, i32>,
    /// The values that have registers of their own.
    pins: [(Value, Pin); 2],
    /// Instructions that are selected for themselves.
    needed: Vec<bool>,
    /// Loads that the only instruction that uses them does itself.
    folded: Vec<bool>,
    /// For AVX-512: instructions that do the logic of others, too.
    logic: HashMap<clif::Inst, logic::Logic>,
    /// For AVX-512.
    masks: masks::Masks,
    /// For AVX-512.
    merge: masked::Merge,
}

/// No register in no block.
const NOWHERE: (u32, VReg) = (u32::MAX, VReg::invalid());

/// Selects instructions for a function, whose values each have one place as long as they live if `quick`.
pub(super) fn select(
    clif: &Function,
    wave: Value,
    isa: Isa,
    quick: bool,
    space: &mut Space,
) -> Result<HostFunc, Refused> {
    let (same, defs) = uses::names(clif, space);
    let (values, insts) = (clif.dfg.num_values(), clif.dfg.num_insts());
    let entry = clif.layout.entry_block();
    let &[context] = entry.map_or(&[][..], |entry| clif.dfg.block_params(entry)) else {
        return Err(Refused("parameters".to_owned()));
    };
    let wave = same[wave.as_u32() as usize];
    let mut s = Select {
        clif,
        h: HostFunc::new(isa, space),
        once: uses::once(clif, &same, space),
        same,
        defs,
        values: table(&mut space.values, values, VReg::invalid()),
        here: table(&mut space.here, values, NOWHERE),
        block: 0,
        blocks: vec![usize::MAX; clif.dfg.num_blocks()],
        slots: HashMap::default(),
        pins: [(context, Pin::Context), (wave, Pin::Wave)],
        needed: table(&mut space.needed, insts, false),
        folded: table(&mut space.folded, insts, false),
        logic: HashMap::default(),
        masks: masks::Masks::default(),
        merge: masked::Merge::new(space),
    };
    for (slot, data) in &clif.sized_stack_slots {
        s.slots.insert(slot, s.h.stack as i32);
        s.h.stack += data.size.next_multiple_of(8);
    }
    let mut places = vec![0; clif.dfg.num_blocks()];
    for (n, block) in clif.layout.blocks().enumerate() {
        places[block.as_u32() as usize] = n;
    }
    let layout = reached(clif);
    for (n, &block) in layout.iter().enumerate() {
        s.blocks[block.as_u32() as usize] = n;
        let cold = clif.layout.is_cold(block);
        s.h.blocks
            .push(HostBlock::new(places[block.as_u32() as usize], cold));
    }
    if s.is_avx512() {
        s.find_masks(&layout, space);
    }
    s.find_needed(&layout, space);
    for block in layout {
        s.block(block)?;
    }
    s.h.finish(quick, space);
    Ok(s.done(space))
}

/// The blocks that control can reach, each but the first behind one that leads to it.
fn reached(clif: &Function) -> Vec<clif::Block> {
    let mut seen = vec![false; clif.dfg.num_blocks()];
    let mut is_new =
        |block: clif::Block| !std::mem::replace(&mut seen[block.as_u32() as usize], true);
    let mut order = Vec::new();
    let targets = |block: clif::Block| -> &[clif::BlockCall] {
        let Some(last) = clif.layout.last_inst(block) else {
            return &[];
        };
        let (tables, exceptions) = (&clif.dfg.jump_tables, &clif.dfg.exception_tables);
        clif.dfg.insts[last].branch_destination(tables, exceptions)
    };
    let mut work: Vec<(clif::Block, &[clif::BlockCall])> = Vec::new();
    if let Some(entry) = clif.layout.entry_block() {
        is_new(entry);
        work.push((entry, targets(entry)));
    }
    while let Some((block, left)) = work.last_mut() {
        match left.split_last() {
            Some((next, rest)) => {
                *left = rest;
                let next = next.block(&clif.dfg.value_lists);
                if is_new(next) {
                    work.push((next, targets(next)));
                }
            }
            None => {
                order.push(*block);
                work.pop();
            }
        }
    }
    order.reverse();
    order
}

impl Select<'_> {
    /// The function; the tables are done with.
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

    /// The register that an instruction writes from up to two others, and from `rm` if it has that.
    fn define(&mut self, class: RegClass, op: Op, uses: &[VReg], rm: Option<Src>) -> VReg {
        let d = self.h.vreg(class);
        let mut operands = [Operand::reg_def(d); 3];
        for (operand, &reg) in operands[1..].iter_mut().zip(uses) {
            *operand = Operand::reg_use(reg);
        }
        self.h.push(op, &operands[..1 + uses.len()], rm);
        d
    }

    /// The vector that an instruction of [`Form::Fma`] writes over the first of its sources.
    fn over_first(&mut self, op: Op, [first, second]: [VReg; 2], third: Src) -> VReg {
        let d = self.vec_reg();
        let operands = [
            Operand::reg_reuse_def(d, 1),
            Operand::reg_use(first),
            Operand::reg_use(second),
        ];
        self.h.push(op, &operands, Some(third));
        d
    }

    /// The register of its own that a value has.
    fn pin(&self, v: Value) -> Option<Pin> {
        let mut pins = self.pins.iter();
        pins.find(|(value, _)| *value == v).map(|&(_, pin)| pin)
    }

    /// Two values of which an address is the sum, the one with a register of its own first.
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
            let op = Op::Legacy(legacy::LEA, true, Form::Rm, Imm::No);
            return Ok(self.define(RegClass::Int, op, &[], Some(Src::Mem(addr))));
        }
        let n = v.as_u32() as usize;
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
        if let Some(inst) = def.filter(|inst| self.folded[inst.as_u32() as usize]) {
            // It stands here, after all.
            self.folded[inst.as_u32() as usize] = false;
            self.inst(inst)?;
            return Ok(self.values[n]);
        }
        let Some(inst) = def.filter(|_| self.is_constant(v)) else {
            let what = match def {
                Some(inst) => self.clif.dfg.display_inst(inst).to_string(),
                None => "a parameter".to_owned(),
            };
            return Err(Refused(format!("{what}, which has no register")));
        };
        let reg = self.constant(inst, v)?;
        self.here[n] = (self.block, reg);
        Ok(reg)
    }

    fn constant(&mut self, inst: clif::Inst, v: Value) -> Result<VReg, Refused> {
        let reg = self.h.vreg(Self::class(self.ty(v)));
        let def = [Operand::reg_def(reg)];
        match *self.data(inst) {
            InstructionData::UnaryImm { .. } => {
                let value = self.int(v).expect("it is an integer");
                self.h.push(Op::MovImm(value as u64), &def, None);
            }
            InstructionData::UnaryIeee32 { imm, .. } => {
                let at = self.pool(&imm.bits().to_le_bytes());
                self.h.push(load(vex::VMOVSS_LOAD), &def, Some(at));
            }
            InstructionData::UnaryIeee64 { imm, .. } => {
                let at = self.pool(&imm.bits().to_le_bytes());
                self.h.push(load(vex::VMOVSD_LOAD), &def, Some(at));
            }
            InstructionData::UnaryConst { .. } => {
                let bytes = self.vector_constant(v).expect("it is one");
                if bytes.iter().all(|&b| b == 0) {
                    self.h.push(Op::Zero, &def, None);
                } else if bytes.iter().all(|&b| b == 0xff) {
                    self.h.push(Op::Ones, &def, None);
                } else {
                    let len = length(self.ty(v))?;
                    let at = self.pool(bytes);
                    let op = Op::Vex(vex::VMOVAPS, len, Form::Rm, Imm::No);
                    self.h.push(op, &def, Some(at));
                }
            }
            InstructionData::Load { arg, offset, .. } => {
                let addr = Src::Mem(self.addr(arg, offset.into())?);
                let op = Op::Legacy(legacy::LOAD, true, Form::Rm, Imm::No);
                self.h.push(op, &def, Some(addr));
            }
            InstructionData::UnaryGlobalValue { global_value, .. } => {
                let (symbol, addend) = self.symbol(global_value)?;
                self.h.push(Op::MovSymbol(symbol, addend), &def, None);
            }
            _ => return Err(Refused(format!("the constant {v}"))),
        }
        Ok(reg)
    }

    fn symbol(&self, value: clif::GlobalValue) -> Result<(object::Symbol, i64), Refused> {
        if let clif::GlobalValueData::Symbol { name, offset, .. } = &self.clif.global_values[value]
            && let clif::ExternalName::User(name) = name
        {
            let symbol = match self.clif.params.user_named_funcs()[*name] {
                object::GUEST => object::Symbol::Guest,
                object::SITES => object::Symbol::Sites,
                _ => return Err(Refused("an unknown symbol".to_owned())),
            };
            return Ok((symbol, offset.bits()));
        }
        Err(Refused("an unknown symbol".to_owned()))
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

    /// A value that an address begins with.
    fn base(&mut self, v: Value) -> Result<AddrBase, Refused> {
        Ok(match self.pin(self.resolve(v)) {
            Some(pin) => AddrBase::Pin(pin),
            None => AddrBase::Reg(self.reg(v)?),
        })
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

    /// Gives the value of an instruction a register.
    fn set(&mut self, inst: clif::Inst, reg: VReg) {
        let v = self.clif.dfg.first_result(inst);
        if let Some(pin) = self.pin(v) {
            self.h.push(Op::Pin(pin), &[Operand::reg_use(reg)], None);
            return;
        }
        self.values[v.as_u32() as usize] = reg;
        self.note_made(v, reg);
    }

    // ---- control

    fn block(&mut self, block: clif::Block) -> Result<(), Refused> {
        let index = self.blocks[block.as_u32() as usize];
        self.h.begin(index);
        self.merge_in_block();
        self.block = index as u32;
        let params = self.clif.dfg.block_params(block);
        let mut regs = Vec::with_capacity(params.len());
        for &param in params {
            if self.pin(param).is_some() {
                continue;
            }
            let reg = self.param_reg(param);
            self.values[param.as_u32() as usize] = reg;
            regs.push(reg);
        }
        self.h.set_params(index, regs);
        for inst in self.clif.layout.block_insts(block) {
            self.h.loc = self.clif.srcloc(inst).bits();
            if self.data(inst).opcode().is_terminator() {
                self.terminator(index, inst)?;
            } else if self.needed[inst.as_u32() as usize] && !self.folded[inst.as_u32() as usize] {
                self.inst(inst)?;
            }
        }
        Ok(())
    }

    /// Where a way leads, with its arguments, and what goes to registers of their own. If where it comes to is `decided`,
    /// there are no arguments.
    fn target(
        &mut self,
        call: clif::BlockCall,
        decided: Option<clif::Block>,
    ) -> Result<(Way, Vec<(VReg, Pin)>), Refused> {
        let lists = &self.clif.dfg.value_lists;
        let to = decided.unwrap_or(call.block(lists));
        let block = self.blocks[to.as_u32() as usize];
        let params = self.clif.dfg.block_params(call.block(lists)).iter();
        let mut regs = Vec::with_capacity(call.len(lists));
        let mut pinned = Vec::new();
        for (arg, &param) in call.args(lists).zip(params) {
            let BlockArg::Value(v) = arg else {
                return Err(Refused("an argument of an exception".to_owned()));
            };
            match self.pin(param) {
                Some(pin) => pinned.push((self.reg(v)?, pin)),
                None if decided.is_some() => {}
                None => regs.push(self.argument(v, param)?),
            }
        }
        Ok(((block, regs), pinned))
    }

    /// Where a jump leads to that changes what is pinned, if that is known from the constants which it gives: the blocks where
    /// it comes in only compare those with others. (They alone use them: values that are wanted beyond could not be skipped.
    /// So beside what is pinned there is one, the number of the entry.)
    fn decided(&self, call: clif::BlockCall) -> Option<clif::Block> {
        let dfg = &self.clif.dfg;
        let first = call.block(&dfg.value_lists);
        let params = dfg.block_params(first);
        if params.len() != 2 || params.iter().all(|&param| self.pin(param).is_none()) {
            return None;
        }
        let given = |v: Value| {
            let mut args = params.iter().zip(call.args(&dfg.value_lists));
            let (_, arg) = args.find(|(param, _)| **param == v)?;
            self.int(self.resolve(arg.as_value()?))
        };
        let known = |v: Value| self.int(v).or_else(|| given(self.resolve(v)));
        let mut at = first;
        while let Some((cond, blocks)) = self.compares(at)
            && let Some((Cc::B, a, b)) = self.comparison(cond)
            && let (types::I32, Some(a), Some(b)) = (self.ty(a), known(a), known(b))
        {
            let way = blocks[usize::from(a as u32 >= b as u32)];
            at = way.block(&dfg.value_lists);
        }
        (at != first && dfg.block_params(at).is_empty()).then_some(at)
    }

    /// What a block compares that does nothing else, and where that leads.
    fn compares(&self, block: clif::Block) -> Option<(Value, [clif::BlockCall; 2])> {
        let mut insts = self.clif.layout.block_insts(block);
        let is_end =
            |opcode: Opcode| matches!(opcode, Opcode::Iconst | Opcode::Icmp | Opcode::Brif);
        if !insts.all(|inst| is_end(self.data(inst).opcode())) {
            return None;
        }
        match *self.data(self.clif.layout.last_inst(block)?) {
            InstructionData::Brif { arg, blocks, .. } => Some((arg, blocks)),
            _ => None,
        }
    }

    fn terminator(&mut self, index: usize, inst: clif::Inst) -> Result<(), Refused> {
        match *self.data(inst) {
            InstructionData::Jump { destination, .. } => {
                let decided = self.decided(destination);
                let (to, pinned) = self.target(destination, decided)?;
                for (value, pin) in pinned {
                    self.h.push(Op::Pin(pin), &[Operand::reg_use(value)], None);
                }
                self.h.push(Op::Jump, &[], None);
                self.h.end(index, [to]);
            }
            InstructionData::Brif { arg, blocks, .. } => {
                let (yes, pinned) = self.target(blocks[0], None)?;
                let (no, others) = self.target(blocks[1], None)?;
                if !pinned.is_empty() || !others.is_empty() {
                    return Err(Refused("a branch that changes what is pinned".to_owned()));
                }
                let (compare, a, b) = self.compare(arg)?;
                let operands = [a, b.unwrap_or(a)].map(Operand::reg_use);
                let operands = &operands[..1 + usize::from(b.is_some())];
                self.h.push(Op::Branch(compare), operands, None);
                self.h.end(index, [yes, no]);
            }
            InstructionData::MultiAry {
                opcode: Opcode::Return,
                ..
            } => {
                let result = self.clif.dfg.inst_args(inst)[0];
                let reg = self.reg(result)?;
                let operand = Operand::reg_fixed_use(reg, general(RAX));
                self.h.push(Op::Return, &[operand], None);
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

    fn call(&mut self, inst: clif::Inst) -> Result<(), Refused> {
        let args = self.clif.dfg.inst_args(inst);
        let callee = self.reg(args[0])?;
        let mut operands = vec![Operand::reg_use(callee)];
        for (&arg, n) in args[1..].iter().zip([RDI, RSI, RDX, RCX]) {
            let reg = self.reg(arg)?;
            operands.push(Operand::reg_fixed_use(reg, general(n)));
        }
        let result = self.int_reg();
        operands.push(Operand::reg_fixed_def(result, general(RAX)));
        self.h.push(Op::Call, &operands, None);
        if !self.clif.dfg.inst_results(inst).is_empty() {
            self.set(inst, result);
        }
        Ok(())
    }

    fn refuse(&self, inst: clif::Inst) -> Refused {
        let types: Vec<String> = self
            .clif
            .dfg
            .inst_args(inst)
            .iter()
            .map(|&v| self.ty(v).to_string())
            .collect();
        Refused(format!(
            "{} of {}",
            self.data(inst).opcode(),
            types.join(", ")
        ))
    }

    /// Selects an instruction that is no terminator.
    fn inst(&mut self, inst: clif::Inst) -> Result<(), Refused> {
        self.merge_from_here();
        match *self.data(inst) {
            InstructionData::Load {
                opcode:
                    opcode @ (Opcode::Load
                    | Opcode::Uload8
                    | Opcode::Sload8
                    | Opcode::Uload16
                    | Opcode::Sload16),
                arg,
                offset,
                ..
            } => {
                let addr = Src::Mem(self.addr(arg, offset.into())?);
                let ty = self.ty(self.clif.dfg.first_result(inst));
                let reg = self.h.vreg(Self::class(ty));
                let op = match ty {
                    types::I32 if opcode != Opcode::Load => {
                        let row = match opcode {
                            Opcode::Uload8 => legacy::MOVZX_B,
                            Opcode::Sload8 => legacy::MOVSX_B,
                            Opcode::Uload16 => legacy::MOVZX_W,
                            _ => legacy::MOVSX_W,
                        };
                        Op::Legacy(row, false, Form::Rm, Imm::No)
                    }
                    types::I8 => Op::Legacy(legacy::MOVZX_B, false, Form::Rm, Imm::No),
                    types::I32 => Op::Legacy(legacy::LOAD, false, Form::Rm, Imm::No),
                    types::I64 => Op::Legacy(legacy::LOAD, true, Form::Rm, Imm::No),
                    types::F32 => load(vex::VMOVSS_LOAD),
                    types::F64 => load(vex::VMOVSD_LOAD),
                    _ => Op::Vex(vex::VMOVUPS_LOAD, length(ty)?, Form::Rm, Imm::No),
                };
                self.h.push(op, &[Operand::reg_def(reg)], Some(addr));
                self.set(inst, reg);
                Ok(())
            }
            InstructionData::Store {
                opcode: opcode @ (Opcode::Store | Opcode::Istore8 | Opcode::Istore16),
                args,
                offset,
                ..
            } => {
                let ty = self.ty(args[0]);
                let op = match ty {
                    types::I32 if opcode == Opcode::Istore8 => {
                        Op::Legacy(legacy::STORE_B, false, Form::Store, Imm::No)
                    }
                    types::I32 if opcode == Opcode::Istore16 => {
                        Op::Legacy(legacy::STORE_W, false, Form::Store, Imm::No)
                    }
                    types::I32 => Op::Legacy(legacy::STORE, false, Form::Store, Imm::No),
                    types::I64 => Op::Legacy(legacy::STORE, true, Form::Store, Imm::No),
                    types::F32 => Op::Vex(vex::VMOVSS_STORE, Len::L128, Form::Store, Imm::No),
                    types::F64 => Op::Vex(vex::VMOVSD_STORE, Len::L128, Form::Store, Imm::No),
                    _ if ty.is_vector() => {
                        Op::Vex(vex::VMOVUPS_STORE, length(ty)?, Form::Store, Imm::No)
                    }
                    _ => return Err(self.refuse(inst)),
                };
                let data = self.reg(args[0])?;
                let addr = Src::Mem(self.addr(args[1], offset.into())?);
                self.h.push(op, &[Operand::reg_use(data)], Some(addr));
                Ok(())
            }
            InstructionData::CallIndirect { .. } => self.call(inst),
            InstructionData::Call { .. } => self.intrinsic(inst),
            _ => {
                let vectors = |v: &Value| !self.ty(*v).is_int();
                let result = self.clif.dfg.first_result(inst);
                let float = vectors(&result) || self.clif.dfg.inst_args(inst).iter().any(vectors);
                if float && self.is_avx512() && self.avx512(inst)? {
                    Ok(())
                } else if float {
                    self.vector(inst)
                } else {
                    self.scalar(inst)
                }
            }
        }
    }
}

/// A load of a single float.
fn load(row: Row) -> Op {
    Op::Vex(row, Len::L128, Form::Rm, Imm::No)
}

/// Length of the operations on a type.
fn length(ty: Type) -> Result<Len, Refused> {
    match ty.bits() {
        ..=128 => Ok(Len::L128),
        256 => Ok(Len::L256),
        512 => Ok(Len::L512),
        _ => Err(Refused(format!("vectors of type {ty}"))),
    }
}
