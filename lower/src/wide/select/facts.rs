//! What selection asks of a CLIF function: which values are constants, comparisons or addresses that their
//! uses take over, and which instructions are needed for themselves.

use cranelift_codegen::ir::{self as clif, InstructionData, Opcode, Type, Value, ValueDef, types};

use super::{Select, scalar};
use crate::wide::inst::Cc;

/// An address in CLIF's terms.
pub(super) struct Parts {
    pub(super) base: PartBase,
    pub(super) index: Option<Value>,
    pub(super) disp: i32,
}

#[derive(Clone, Copy)]
pub(super) enum PartBase {
    Value(Value),
    Stack,
}

/// By the number of a value: it without its other names, and without changes of a vector's type.
pub(super) fn names(clif: &clif::Function) -> Vec<Value> {
    let dfg = &clif.dfg;
    let name = |v: Value| {
        let mut v = dfg.resolve_aliases(v);
        while let ValueDef::Result(inst, 0) = dfg.value_def(v)
            && let InstructionData::LoadNoOffset {
                opcode: Opcode::Bitcast,
                arg,
                ..
            } = dfg.insts[inst]
            && dfg.value_type(arg).is_vector()
            && dfg.value_type(v).is_vector()
        {
            v = dfg.resolve_aliases(arg);
        }
        v
    };
    (0..dfg.num_values() as u32)
        .map(|n| name(Value::from_u32(n)))
        .collect()
}

impl Select<'_> {
    /// A value without its other names, and without changes of a vector's type.
    pub(super) fn resolve(&self, v: Value) -> Value {
        self.same[v.as_u32() as usize]
    }

    /// The instruction that gives a value.
    pub(super) fn def(&self, v: Value) -> Option<clif::Inst> {
        match self.clif.dfg.value_def(self.resolve(v)) {
            ValueDef::Result(inst, 0) => Some(inst),
            _ => None,
        }
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
    pub(super) fn vector_constant(&self, v: Value) -> Option<&[u8]> {
        match *self.data(self.def(v)?) {
            InstructionData::UnaryConst {
                constant_handle, ..
            } => Some(self.clif.dfg.constants.get(constant_handle).as_slice()),
            _ => None,
        }
    }

    /// Is it made anew where it is used?
    pub(super) fn is_constant(&self, v: Value) -> bool {
        let Some(inst) = self.def(v) else {
            return false;
        };
        matches!(
            self.data(inst).opcode(),
            Opcode::Iconst
                | Opcode::F32const
                | Opcode::F64const
                | Opcode::Vconst
                | Opcode::SymbolValue
        )
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
                    let inner = self.parts(a, disp);
                    match (inner.base, inner.index) {
                        (PartBase::Value(_), None) => Parts {
                            index: Some(self.resolve(b)),
                            ..inner
                        },
                        _ => Parts {
                            base: PartBase::Value(self.resolve(a)),
                            index: Some(self.resolve(b)),
                            disp,
                        },
                    }
                }
            },
            _ => plain,
        }
    }

    /// The values that an instruction takes in registers.
    pub(super) fn uses(&self, inst: clif::Inst) -> Vec<Value> {
        let mut out = Vec::new();
        let address = |out: &mut Vec<Value>, v: Value, offset: i32| {
            let parts = self.parts(v, offset);
            if let PartBase::Value(base) = parts.base {
                out.push(base);
            }
            out.extend(parts.index);
        };
        let compared = |out: &mut Vec<Value>, v: Value| match self.comparison(v) {
            Some((_, a, b)) => out.extend([a, b]),
            None => out.push(v),
        };
        match *self.data(inst) {
            InstructionData::Load { arg, offset, .. } => address(&mut out, arg, offset.into()),
            InstructionData::Store { args, offset, .. } => {
                out.push(args[0]);
                address(&mut out, args[1], offset.into());
            }
            InstructionData::Brif { arg, .. } => compared(&mut out, arg),
            InstructionData::Ternary {
                opcode: Opcode::Select,
                args,
            } if self.ty(args[1]).is_int() => {
                compared(&mut out, args[0]);
                out.extend(&args[1..]);
            }
            _ => match self.and_not(inst) {
                Some((a, b)) => out.extend([a, b]),
                None => out.extend(self.clif.dfg.inst_args(inst)),
            },
        }
        for target in self
            .data(inst)
            .branch_destination(&self.clif.dfg.jump_tables, &self.clif.dfg.exception_tables)
        {
            let args = target.args(&self.clif.dfg.value_lists);
            out.extend(args.filter_map(|arg| arg.as_value()));
        }
        out
    }

    /// Finds what must be computed, from what has effects.
    pub(super) fn find_needed(&mut self, layout: &[clif::Block]) {
        let mut work = Vec::new();
        // By the number of a value: how often it is used, and by which instruction.
        let mut counts = vec![(0u32, clif::Inst::from_u32(0)); self.same.len()];
        let mut epochs = vec![(0u32, 0u32); self.needed.len()];
        for (n, &block) in layout.iter().enumerate() {
            let mut epoch = 0;
            for inst in self.clif.layout.block_insts(block) {
                let opcode = self.data(inst).opcode();
                // What is called by name is an intrinsic without effects.
                let effect =
                    opcode == Opcode::CallIndirect || opcode.can_store() && !opcode.is_call();
                if effect {
                    epoch += 1;
                }
                epochs[inst.as_u32() as usize] = (n as u32, epoch);
                if effect || opcode.is_terminator() {
                    self.needed[inst.as_u32() as usize] = true;
                    work.push(inst);
                }
            }
        }
        while let Some(inst) = work.pop() {
            for v in self.uses(inst) {
                let v = self.resolve(v);
                let count = &mut counts[v.as_u32() as usize];
                *count = (count.0 + 1, inst);
                let Some(def) = self.def(v).filter(|_| !self.is_constant(v)) else {
                    continue;
                };
                let needed = &mut self.needed[def.as_u32() as usize];
                if !std::mem::replace(needed, true) {
                    work.push(def);
                }
            }
        }
        // A vector load with one use, with no store between the two, is done by that use.
        for (n, &(count, user)) in counts.iter().enumerate() {
            let v = Value::from_u32(n as u32);
            let Some(def) = (count == 1).then(|| self.def(v)).flatten() else {
                continue;
            };
            let is_load = matches!(self.data(def).opcode(), Opcode::Load);
            let place = |inst: clif::Inst| epochs[inst.as_u32() as usize];
            if is_load && place(def) == place(user) && self.takes_memory(user, v) {
                self.folded[def.as_u32() as usize] = true;
            }
        }
    }
}
