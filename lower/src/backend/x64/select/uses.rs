//! What selection asks of a CLIF function: which values are constants, comparisons or addresses that their
//! uses take over, and which instructions are needed for themselves.

use cranelift_codegen::ir::{self as clif, InstructionData, Opcode, Type, Value, ValueDef, types};
use cranelift_codegen::packed_option::PackedOption;

use super::shuffle::caches;
use super::{Select, scalar};
use crate::backend::x64::inst::Cc;
use crate::backend::x64::space::{Space, table};
use crate::legalize::{halves_of, is_constant, operands};
use crate::vir::Intrinsic;

/// An address in CLIF's terms.
pub(super) struct Parts {
    pub(super) base: PartBase,
    /// What is added, shifted left by so many bits.
    pub(super) index: Option<(Value, u8)>,
    pub(super) disp: i32,
}

#[derive(Clone, Copy)]
pub(super) enum PartBase {
    Value(Value),
    Stack,
}

/// By the number of a value: it without its other names, without changes of a vector's type, and without an `or` that
/// gives what is there; and the instruction that gives that.
pub(super) fn names(
    clif: &clif::Function,
    space: &mut Space,
) -> (Vec<Value>, Vec<PackedOption<clif::Inst>>) {
    let dfg = &clif.dfg;
    let def = |v: Value| match dfg.value_def(v) {
        ValueDef::Result(inst, 0) => Some(inst),
        _ => None,
    };
    let name = |n: u32| {
        let mut v = dfg.resolve_aliases(Value::from_u32(n));
        loop {
            let inst = def(v);
            match inst.map(|inst| dfg.insts[inst]) {
                Some(InstructionData::LoadNoOffset {
                    opcode: Opcode::Bitcast,
                    arg,
                    ..
                }) if dfg.value_type(arg).is_vector() && dfg.value_type(v).is_vector() => {
                    v = dfg.resolve_aliases(arg);
                }
                Some(InstructionData::Binary {
                    opcode: Opcode::Bor,
                    args,
                }) => match either(dfg, args) {
                    Some(known) => v = known,
                    None => return (v, PackedOption::from(inst)),
                },
                _ => return (v, PackedOption::from(inst)),
            }
        }
    };
    let count = dfg.num_values();
    let mut same = table(&mut space.same, count, Value::from_u32(0));
    let mut defs = table(&mut space.defs, count, PackedOption::default());
    for (n, (same, def)) in same.iter_mut().zip(&mut defs).enumerate() {
        (*same, *def) = name(n as u32);
    }
    (same, defs)
}

/// The value that an `or` gives where it puts halves together again, or some bits of a value and all of them.
fn either(dfg: &clif::DataFlowGraph, args: [Value; 2]) -> Option<Value> {
    if let Some(whole) = joined(dfg, args) {
        return Some(whole);
    }
    let [a, b] = args.map(|v| {
        let v = dfg.resolve_aliases(v);
        operands(dfg, v, Opcode::Bor)
            .and_then(|args| joined(dfg, args))
            .unwrap_or(v)
    });
    let part_of = |whole: Value, v: Value| {
        let args = operands(dfg, v, Opcode::Band);
        args.is_some_and(|args| args.contains(&whole))
    };
    match (part_of(a, b), part_of(b, a)) {
        (true, _) => Some(a),
        (_, true) => Some(b),
        _ => None,
    }
}

/// The value whose high half, moved up, and whose low half these are.
fn joined(dfg: &clif::DataFlowGraph, [high, low]: [Value; 2]) -> Option<Value> {
    let [high, up] = operands(dfg, dfg.resolve_aliases(high), Opcode::Ishl)?;
    let [high, low] = [word(dfg, high)?, word(dfg, dfg.resolve_aliases(low))?];
    let whole = halves_of(dfg, low, high)?;
    is_constant(dfg, up, 32).then_some(whole)
}

/// What was made wider to a value of 64 bits.
fn word(dfg: &clif::DataFlowGraph, v: Value) -> Option<Value> {
    let [word, _] = operands(dfg, v, Opcode::Uextend)?;
    Some(word)
}

/// By the number of a value: is it written down as an operand exactly once?
pub(super) fn once(clif: &clif::Function, same: &[Value], space: &mut Space) -> Vec<bool> {
    let dfg = &clif.dfg;
    let mut counts = vec![0u8; same.len()];
    let mut count = |v: Value| {
        let count = &mut counts[same[v.as_u32() as usize].as_u32() as usize];
        *count = count.saturating_add(1);
    };
    for block in clif.layout.blocks() {
        for inst in clif.layout.block_insts(block) {
            dfg.inst_args(inst).iter().for_each(|&v| count(v));
        }
        let last = clif.layout.last_inst(block).map(|last| &dfg.insts[last]);
        let ways = last.map_or(&[][..], |last| {
            last.branch_destination(&dfg.jump_tables, &dfg.exception_tables)
        });
        let args = ways.iter().flat_map(|to| to.args(&dfg.value_lists));
        args.filter_map(|arg| arg.as_value()).for_each(&mut count);
    }
    let mut once = table(&mut space.once, 0, false);
    once.extend(counts.iter().map(|&count| count == 1));
    once
}

impl<'a> Select<'a> {
    /// A value without its other names, and without changes of a vector's type.
    pub(super) fn resolve(&self, v: Value) -> Value {
        self.same[v.as_u32() as usize]
    }

    /// The instruction that gives a value.
    pub(super) fn def(&self, v: Value) -> Option<clif::Inst> {
        self.defs[v.as_u32() as usize].expand()
    }

    pub(super) fn data(&self, inst: clif::Inst) -> &InstructionData {
        &self.clif.dfg.insts[inst]
    }

    pub(super) fn ty(&self, v: Value) -> Type {
        self.clif.dfg.value_type(v)
    }

    /// The integer that a value is.
    pub(super) fn int(&self, v: Value) -> Option<i64> {
        match *self.data(self.def(v)?) {
            InstructionData::UnaryImm {
                opcode: Opcode::Iconst,
                imm,
            } => {
                let bits = imm.bits();
                Some(match self.ty(v) {
                    types::I8 => i64::from(bits as u8),
                    types::I32 => i64::from(bits as u32),
                    _ => bits,
                })
            }
            _ => None,
        }
    }

    /// The integer that a value is, as a constant of 32 bits that is sign-extended to the value's width.
    pub(super) fn small(&self, v: Value) -> Option<i32> {
        let value = self.int(v)?;
        if self.ty(v) == types::I64 {
            i32::try_from(value).ok()
        } else {
            Some(value as i32)
        }
    }

    /// The bytes of a vector constant.
    pub(super) fn vector_constant(&self, v: Value) -> Option<&'a [u8]> {
        let clif = self.clif;
        match *self.data(self.def(v)?) {
            InstructionData::UnaryConst {
                constant_handle, ..
            } => Some(clif.dfg.constants.get(constant_handle).as_slice()),
            _ => None,
        }
    }

    /// Is it made anew where it is used?
    pub(super) fn is_constant(&self, v: Value) -> bool {
        let Some(inst) = self.def(v) else {
            return false;
        };
        match *self.data(inst) {
            // Of the context.
            InstructionData::Load { flags, .. } => {
                self.clif.dfg.mem_flags[flags].readonly() && self.ty(v) == types::I64
            }
            data => matches!(
                data.opcode(),
                Opcode::Iconst
                    | Opcode::F32const
                    | Opcode::F64const
                    | Opcode::Vconst
                    | Opcode::SymbolValue
            ),
        }
    }

    /// The comparison of general registers that gives a value.
    pub(super) fn comparison(&self, v: Value) -> Option<(Cc, Value, Value)> {
        match *self.data(self.def(v)?) {
            InstructionData::IntCompare { cond, args, .. } if self.ty(args[0]).is_int() => {
                Some((scalar::condition(cond), args[0], args[1]))
            }
            _ => None,
        }
    }

    /// The sources of an `and` whose second source is inverted.
    pub(super) fn and_not(&self, inst: clif::Inst) -> Option<(Value, Value)> {
        let InstructionData::Binary {
            opcode: Opcode::Band,
            args: [a, b],
        } = *self.data(inst)
        else {
            return None;
        };
        match *self.data(self.def(b)?) {
            InstructionData::Unary {
                opcode: Opcode::Bnot,
                arg,
            } if self.ty(b) != types::I8 => Some((a, arg)),
            _ => None,
        }
    }

    /// A word of 64 bits that is shifted left by so many bits as an address can do, and not wanted shifted elsewhere:
    /// both would take a register then.
    fn scaled(&self, v: Value) -> Option<(Value, u8)> {
        if !self.once[self.resolve(v).as_u32() as usize] {
            return None;
        }
        match *self.data(self.def(v)?) {
            InstructionData::Binary {
                opcode: Opcode::Ishl,
                args: [a, by],
            } if self.ty(v) == types::I64 => match self.int(by)? {
                by @ 0..=3 => Some((self.resolve(a), by as u8)),
                _ => None,
            },
            _ => None,
        }
    }

    /// An address and what is added to it.
    pub(super) fn parts(&self, v: Value, disp: i32) -> Parts {
        let v = self.resolve(v);
        let plain = Parts {
            base: PartBase::Value(v),
            index: None,
            disp,
        };
        let Some(inst) = self.def(v) else {
            return plain;
        };
        match *self.data(inst) {
            InstructionData::StackAddr {
                stack_slot, offset, ..
            } => Parts {
                base: PartBase::Stack,
                index: None,
                disp: self.slots[&stack_slot] + i32::from(offset) + disp,
            },
            InstructionData::Binary {
                opcode: Opcode::Iadd,
                args: [a, b],
            } => match self.small(b).and_then(|n| n.checked_add(disp)) {
                Some(disp) => self.parts(a, disp),
                None if self.int(b).is_some() => plain,
                None => {
                    let (a, b) = self.base_first(a, b);
                    let (a, index) = match (self.scaled(a), self.scaled(b)) {
                        (Some(index), None) => (b, index),
                        (_, index) => (a, index.unwrap_or((self.resolve(b), 0))),
                    };
                    let inner = self.parts(a, disp);
                    match (inner.base, inner.index) {
                        (PartBase::Value(_), None) => Parts {
                            index: Some(index),
                            ..inner
                        },
                        _ => Parts {
                            base: PartBase::Value(self.resolve(a)),
                            index: Some(index),
                            disp,
                        },
                    }
                }
            },
            _ => plain,
        }
    }

    /// Goes through the values that an instruction takes in registers.
    fn each_use(&self, inst: clif::Inst, mut take: impl FnMut(Value)) {
        let mut address = |v: Value, offset: i32| {
            let parts = self.parts(v, offset);
            if let PartBase::Value(base) = parts.base {
                take(base);
            }
            if let Some((index, _)) = parts.index {
                take(index);
            }
        };
        match *self.data(inst) {
            InstructionData::Load { arg, offset, .. } => address(arg, offset.into()),
            InstructionData::Store { args, offset, .. } => {
                address(args[1], offset.into());
                take(args[0]);
            }
            InstructionData::Call { .. } if self.called(inst).and_then(caches).is_some() => {
                address(self.clif.dfg.inst_args(inst)[0], 0);
            }
            InstructionData::Call { .. }
                if matches!(
                    self.called(inst),
                    Some(Intrinsic::LoadSome | Intrinsic::StoreSome)
                ) =>
            {
                let args = self.clif.dfg.inst_args(inst);
                address(args[2], 0);
                args[..2].iter().for_each(|&v| take(v));
            }
            InstructionData::Brif { arg, .. } => self.each_compared(arg, &mut take),
            InstructionData::Ternary {
                opcode: Opcode::Select,
                args,
            } if self.ty(args[1]).is_int() => {
                self.each_compared(args[0], &mut take);
                args[1..].iter().for_each(|&v| take(v));
            }
            _ if let Some(logic) = self.logic.get(&inst) => {
                logic.sources.iter().for_each(|&v| take(v));
            }
            _ => match (self.and_not(inst), self.fused(inst)) {
                (Some((a, b)), _) => [a, b].into_iter().for_each(&mut take),
                (_, Some(fused)) => fused.sources.into_iter().for_each(&mut take),
                _ => self.clif.dfg.inst_args(inst).iter().for_each(|&v| take(v)),
            },
        }
        let dfg = &self.clif.dfg;
        let data = self.data(inst);
        for target in data.branch_destination(&dfg.jump_tables, &dfg.exception_tables) {
            let args = target.args(&dfg.value_lists);
            args.filter_map(|arg| arg.as_value()).for_each(&mut take);
        }
    }

    /// Goes through the values that a condition is made of.
    fn each_compared(&self, v: Value, take: &mut impl FnMut(Value)) {
        match self.comparison(v) {
            Some((_, a, b)) => [a, b].into_iter().for_each(take),
            None => take(v),
        }
    }

    /// Finds what must be computed, from what has effects.
    pub(super) fn find_needed(&mut self, layout: &[clif::Block], space: &mut Space) {
        let mut work = Vec::new();
        // By the number of a value: how often it is used, and by which instruction.
        let none = (0, clif::Inst::from_u32(0));
        let mut counts = table(&mut space.counts, self.same.len(), none);
        let mut epochs = table(&mut space.epochs, self.needed.len(), (0, 0));
        for (n, &block) in layout.iter().enumerate() {
            let mut epoch = 0;
            for inst in self.clif.layout.block_insts(block) {
                let opcode = self.data(inst).opcode();
                // What else is called by name is an intrinsic without effects.
                let called = self.called(inst);
                let effect = opcode == Opcode::CallIndirect
                    || opcode.can_store() && !opcode.is_call()
                    || matches!(called, Some(Intrinsic::Scatter | Intrinsic::StoreSome));
                if effect {
                    epoch += 1;
                }
                epochs[inst.as_u32() as usize] = (n as u32, epoch);
                if effect || opcode.is_terminator() || called.and_then(caches).is_some() {
                    self.needed[inst.as_u32() as usize] = true;
                    work.push(inst);
                }
            }
        }
        let mut needed = std::mem::take(&mut self.needed);
        while let Some(inst) = work.pop() {
            if let Some(logic) = self.find_logic(inst) {
                self.logic.insert(inst, logic);
            }
            self.each_use(inst, |v| {
                let v = self.resolve(v);
                let count = &mut counts[v.as_u32() as usize];
                *count = (count.0 + 1, inst);
                let def = self.def(v).filter(|_| !self.is_constant(v));
                if let Some(def) = def
                    && !std::mem::replace(&mut needed[def.as_u32() as usize], true)
                {
                    work.push(def);
                }
            });
        }
        self.needed = needed;
        if self.is_avx512() {
            let mut uses = table(&mut space.uses, 0, 0);
            uses.extend(counts.iter().map(|&(count, _)| count));
            self.merge.uses = uses;
        }
        // A load with one use that takes memory, with no store between the two, is done by that use.
        for (n, &(count, user)) in counts.iter().enumerate() {
            let v = Value::from_u32(n as u32);
            let Some(def) = (count == 1).then(|| self.def(v)).flatten() else {
                continue;
            };
            let is_load = matches!(self.data(def).opcode(), Opcode::Load) && self.pin(v).is_none();
            let place = |inst: clif::Inst| epochs[inst.as_u32() as usize];
            if is_load && place(def) == place(user) && self.takes_memory(user, v) {
                self.folded[def.as_u32() as usize] = true;
            }
        }
        (space.counts, space.epochs) = (counts, epochs);
    }
}
