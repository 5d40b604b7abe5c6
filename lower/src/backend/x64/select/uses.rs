//! Analyses for selection: which values are constants, comparisons or addresses that are folded
//! into their uses, and which instructions are needed on their own.

use super::shuffle::caches;
use super::{Select, scalar};
use crate::backend::x64::inst::Cc;
use crate::backend::x64::space::{Space, table};
use crate::host::Isa;
use crate::vir::patterns::{halves_of, is_constant, operands, vector_constant};
use crate::vir::{Block, Func, Inst, Memory, Op, Part, Type, Value, types};

/// An address as a sum of values.
pub(super) struct Parts {
    pub(super) base: PartBase,
    /// The index, shifted left by this number of bits.
    pub(super) index: Option<(Value, u8)>,
    pub(super) disp: i32,
}

#[derive(Clone, Copy)]
pub(super) enum PartBase {
    Value(Value),
    Stack,
}

/// By value number: the value without aliases, casts and redundant `or`s, and its defining
/// instruction, if any. A mask as a vector resolves to the mask, which its use expands; where masks
/// are vectors, a vector as a mask resolves to the vector.
pub(super) fn names(func: &Func, isa: Isa, space: &mut Space) -> (Vec<Value>, Vec<Inst>) {
    let name = |v: Value| {
        let mut v = func.resolve(v);
        loop {
            match func.made_by(v) {
                Some((Op::Bitcast, &[of])) if func.ty(of).is_vector() && func.ty(v).is_vector() => {
                    v = func.resolve(of);
                }
                Some((Op::MaskToVector, &[of])) => v = func.resolve(of),
                Some((Op::VectorToMask, &[of])) if isa == Isa::Avx2 => v = func.resolve(of),
                Some((Op::Bor, &[a, b])) => match either(func, [a, b]) {
                    Some(known) => v = known,
                    None => return v,
                },
                _ => return v,
            }
        }
    };
    let count = func.num_values();
    let mut same = table(&mut space.same, count, Value::NONE);
    let mut defs = table(&mut space.defs, count, Inst::NONE);
    for (n, (same, def)) in same.iter_mut().zip(&mut defs).enumerate() {
        *same = name(Value::new(n));
        *def = func.inst_of(*same).unwrap_or(Inst::NONE);
    }
    (same, defs)
}

/// The value that an `or` equals if it recombines two halves, or some bits of a value with all of
/// them.
fn either(func: &Func, args: [Value; 2]) -> Option<Value> {
    if let Some(whole) = joined(func, args) {
        return Some(whole);
    }
    let [a, b] = args.map(|v| {
        operands(func, v, Op::Bor)
            .and_then(|args| joined(func, args))
            .unwrap_or_else(|| func.resolve(v))
    });
    let part_of = |whole: Value, v: Value| {
        let args = operands(func, v, Op::Band);
        args.is_some_and(|args| args.contains(&whole))
    };
    match (part_of(a, b), part_of(b, a)) {
        (true, _) => Some(a),
        (_, true) => Some(b),
        _ => None,
    }
}

/// The value whose shifted high half and whose low half these are.
fn joined(func: &Func, [high, low]: [Value; 2]) -> Option<Value> {
    let [high, up] = operands(func, high, Op::Ishl)?;
    let [high, low] = [word(func, high)?, word(func, low)?];
    let whole = halves_of(func, low, high)?;
    is_constant(func, up, 32).then_some(whole)
}

/// The word that was extended to a 64-bit value.
fn word(func: &Func, v: Value) -> Option<Value> {
    let [word, _] = operands(func, v, Op::Uextend)?;
    Some(word)
}

/// By value number: is it an operand exactly once?
pub(super) fn once(func: &Func, same: &[Value], space: &mut Space) -> Vec<bool> {
    let mut counts = vec![0u8; same.len()];
    let mut count = |v: Value| {
        let count = &mut counts[same[v.index()].index()];
        *count = count.saturating_add(1);
    };
    for &block in func.layout() {
        // A cast shares the value, so its uses count there.
        let insts = func.insts(block).iter();
        for &inst in insts.filter(|&&inst| func.op(inst) != Op::MaskToVector) {
            func.args(inst).iter().for_each(|&v| count(v));
        }
        let args = func.successors(block).iter();
        let args = args.flat_map(|&edge| func.edge_args(edge));
        args.for_each(|&v| count(v));
    }
    let mut once = table(&mut space.once, 0, false);
    once.extend(counts.iter().map(|&count| count == 1));
    once
}

impl<'a> Select<'a> {
    /// A value without aliases and casts.
    pub(super) fn resolve(&self, v: Value) -> Value {
        self.same[v.index()]
    }

    /// The instruction that gives a value.
    pub(super) fn def(&self, v: Value) -> Option<Inst> {
        let def = self.defs[v.index()];
        (def != Inst::NONE).then_some(def)
    }

    /// The operation that defines a value, with its sources.
    pub(super) fn made_by(&self, v: Value) -> Option<(Op, &'a [Value])> {
        let inst = self.def(v)?;
        Some((self.op(inst), self.func.args(inst)))
    }

    pub(super) fn op(&self, inst: Inst) -> Op {
        self.func.op(inst)
    }

    /// The result of an instruction that must have one.
    pub(super) fn result(&self, inst: Inst) -> Value {
        let result = self.func.result(inst);
        result.expect("bug: the instruction has no result")
    }

    pub(super) fn ty(&self, v: Value) -> Type {
        self.func.ty(v)
    }

    /// The integer constant that a value is.
    pub(super) fn int(&self, v: Value) -> Option<i64> {
        self.func.iconst(self.resolve(v))
    }

    /// The integer constant that a value is, if a sign-extended 32-bit immediate can encode it.
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
        vector_constant(self.func, self.resolve(v))
    }

    /// Is it rematerialized at each use?
    pub(super) fn is_constant(&self, v: Value) -> bool {
        let Some(inst) = self.def(v) else {
            return false;
        };
        match self.op(inst) {
            // Of the context.
            Op::Load(Memory::Fixed, ..) => self.ty(v) == types::I64,
            op => matches!(
                op,
                Op::Iconst(_)
                    | Op::F32const(_)
                    | Op::F64const(_)
                    | Op::Vconst(_)
                    | Op::SymbolValue(..)
            ),
        }
    }

    /// The comparison of general registers that gives a value.
    pub(super) fn comparison(&self, v: Value) -> Option<(Cc, Value, Value)> {
        match self.made_by(v)? {
            (Op::Icmp(cond), &[a, b]) if self.ty(a).is_int() => {
                Some((scalar::condition(cond), a, b))
            }
            _ => None,
        }
    }

    /// The sources of an `and` with an inverted second source.
    pub(super) fn and_not(&self, inst: Inst) -> Option<(Value, Value)> {
        let (Op::Band, &[a, b]) = (self.op(inst), self.func.args(inst)) else {
            return None;
        };
        match self.made_by(b)? {
            (Op::Bnot, &[arg]) if self.ty(b) != types::I8 => Some((a, arg)),
            _ => None,
        }
    }

    /// A 64-bit value shifted left by an amount that an address can encode, whose operand has no
    /// other scaled use: otherwise both would occupy a register.
    fn scaled(&self, v: Value) -> Option<(Value, u8)> {
        if !self.once[self.resolve(v).index()] {
            return None;
        }
        match self.made_by(v)? {
            (Op::Ishl, &[a, by]) if self.ty(v) == types::I64 => match self.int(by)? {
                by @ 0..=3 => Some((self.resolve(a), by as u8)),
                _ => None,
            },
            _ => None,
        }
    }

    /// The parts of an address with a displacement.
    pub(super) fn parts(&self, v: Value, disp: i32) -> Parts {
        let v = self.resolve(v);
        let plain = Parts {
            base: PartBase::Value(v),
            index: None,
            disp,
        };
        match self.made_by(v) {
            Some((Op::StackAddr(slot), _)) => Parts {
                base: PartBase::Stack,
                index: None,
                disp: self.slot(slot) + disp,
            },
            Some((Op::Iadd, &[a, b])) => match self.small(b).and_then(|n| n.checked_add(disp)) {
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

    /// Visits the values that an instruction takes in registers.
    fn each_use(&self, inst: Inst, mut take: impl FnMut(Value)) {
        let mut address = |v: Value, offset: i32| {
            let parts = self.parts(v, offset);
            if let PartBase::Value(base) = parts.base {
                take(base);
            }
            if let Some((index, _)) = parts.index {
                take(index);
            }
        };
        let args = self.func.args(inst);
        match self.op(inst) {
            Op::Load(_, _, offset) => address(args[0], offset),
            Op::Store(_, _, offset) => {
                address(args[1], offset);
                take(args[0]);
            }
            op if caches(op).is_some() => address(args[0], 0),
            Op::LoadSome | Op::StoreSome => {
                address(args[2], 0);
                args[..2].iter().for_each(|&v| take(v));
            }
            Op::Brif(_) => self.each_compared(args[0], &mut take),
            Op::Select if self.ty(args[1]).is_int() => {
                self.each_compared(args[0], &mut take);
                args[1..].iter().for_each(|&v| take(v));
            }
            _ if let Some(logic) = self.logic.get(&inst) => {
                logic.sources.iter().for_each(|&v| take(v));
            }
            _ => match (self.and_not(inst), self.fused(inst)) {
                (Some((a, b)), _) => [a, b].into_iter().for_each(&mut take),
                (_, Some(fused)) => fused.sources.into_iter().for_each(&mut take),
                _ => args.iter().for_each(|&v| take(v)),
            },
        }
        for &edge in self.func.edges(inst) {
            self.func.edge_args(edge).iter().for_each(|&v| take(v));
        }
    }

    /// Visits the values of a condition.
    fn each_compared(&self, v: Value, take: &mut impl FnMut(Value)) {
        match self.comparison(v) {
            Some((_, a, b)) => [a, b].into_iter().for_each(take),
            None => take(v),
        }
    }

    /// Finds the instructions that must be computed, starting from those with effects.
    pub(super) fn find_needed(&mut self, layout: &[Block], space: &mut Space) {
        let mut work = Vec::new();
        // By value number: the number of its uses, and a using instruction.
        let none = (0, Inst::NONE);
        let mut counts = table(&mut space.counts, self.same.len(), none);
        let mut epochs = table(&mut space.epochs, self.needed.len(), (0, 0));
        for (n, &block) in layout.iter().enumerate() {
            let mut epoch = 0;
            for &inst in self.func.insts(block) {
                let op = self.op(inst);
                // Other instructions with effects may write memory.
                let writes = op.has_effect() && !op.is_terminator() && caches(op).is_none();
                if writes {
                    epoch += 1;
                }
                epochs[inst.index()] = (n as u32, epoch);
                if op.has_effect() {
                    self.needed[inst.index()] = true;
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
                let count = &mut counts[v.index()];
                *count = (count.0 + 1, inst);
                let def = self.def(v).filter(|_| !self.is_constant(v));
                if let Some(def) = def
                    && !std::mem::replace(&mut needed[def.index()], true)
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
        // A single-use load with no store before its use is folded into the use, if that takes
        // memory.
        for (n, &(count, user)) in counts.iter().enumerate() {
            let v = Value::new(n);
            let Some(def) = (count == 1).then(|| self.def(v)).flatten() else {
                continue;
            };
            let is_load =
                matches!(self.op(def), Op::Load(_, Part::Whole, _)) && self.pin(v).is_none();
            let place = |inst: Inst| epochs[inst.index()];
            if is_load && place(def) == place(user) && self.takes_memory(user, v) {
                self.folded[def.index()] = true;
            }
        }
        (space.counts, space.epochs) = (counts, epochs);
    }
}
