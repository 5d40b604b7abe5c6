//! Selection for AVX-512, which has all bitwise functions of three sources as one instruction:
//! absorbs logic that has no other use into its user.

use super::{Select, length};
use crate::backend::x64::Refused;
use crate::vir::{Block, Inst, Op, Value};

/// A bitwise function of up to three sources; sources that may be in memory come last if possible.
pub(super) struct Logic {
    pub(super) sources: Vec<Value>,
    /// Its truth table; the first source is the highest bit of the index.
    table: u8,
}

/// The first, second and third source as truth tables.
const SOURCES: [u8; 3] = [0xf0, 0xcc, 0xaa];

impl Select<'_> {
    fn is_logic(&self, inst: Inst) -> bool {
        let logic = [Op::Band, Op::Bor, Op::Bxor, Op::Bnot];
        let v = self.func.args(inst).first();
        logic.contains(&self.op(inst)) && v.is_some_and(|&v| self.ty(v).is_vector())
    }

    /// The single-use logic of this block that gives a value.
    fn logic_of(&self, v: Value, block: Block) -> Option<Inst> {
        let inst = self.def(v)?;
        let here = self.func.inst_block(inst) == block;
        let only = self.once[v.index()] && !self.is_mask(v);
        (here && only && self.is_logic(inst)).then_some(inst)
    }

    /// The function of an instruction and the single-use logic that it absorbs, if that saves an
    /// instruction.
    pub(super) fn find_logic(&self, inst: Inst) -> Option<Logic> {
        if !self.is_avx512() || !self.is_logic(inst) {
            return None;
        }
        if self.is_mask(self.result(inst)) {
            return None;
        }
        let block = self.func.inst_block(inst);
        let mut inner: Vec<Inst> = Vec::new();
        let mut sources: Vec<Value> = Vec::new();
        let add = |sources: &mut Vec<Value>, inst: Inst| {
            for &v in self.func.args(inst) {
                let v = self.resolve(v);
                if !sources.contains(&v) {
                    sources.push(v);
                }
            }
        };
        add(&mut sources, inst);
        let mut next = 0;
        while let Some(&v) = sources.get(next) {
            next += 1;
            let Some(def) = self.logic_of(v, block) else {
                continue;
            };
            let mut longer = sources.clone();
            longer.retain(|&other| other != v);
            add(&mut longer, def);
            if longer.len() <= 3 {
                sources = longer;
                inner.push(def);
                next = 0;
            }
        }
        let inverts = |inst: Inst| self.op(inst) == Op::Bnot;
        let alone = match inner[..] {
            [] => true,
            [one] => inverts(one) && self.and_not(inst).is_some(),
            _ => false,
        };
        if alone || sources.iter().any(|&v| self.is_mask(v)) {
            return None;
        }
        // The result overwrites the first source, preferably one that ends here.
        sources.sort_by_key(|&v| {
            let in_memory = self.vector_constant(v).is_some();
            let ends = self.once[v.index()] && self.func.block_of(v) == block;
            (in_memory, !ends)
        });
        let table = self.table(inst, &inner, &sources);
        Some(Logic { sources, table })
    }

    /// The truth table of an instruction with the parts `inner`.
    fn table(&self, inst: Inst, inner: &[Inst], sources: &[Value]) -> u8 {
        let of = |v: Value| {
            let v = self.resolve(v);
            match sources.iter().position(|&source| source == v) {
                Some(n) => SOURCES[n],
                None => {
                    let def = self.def(v).filter(|def| inner.contains(def));
                    let def = def.expect("bug: neither a source nor a part");
                    self.table(def, inner, sources)
                }
            }
        };
        let args = self.func.args(inst);
        let (a, b) = (of(args[0]), of(args[args.len() - 1]));
        match self.op(inst) {
            Op::Band => a & b,
            Op::Bor => a | b,
            Op::Bxor => a ^ b,
            _ => !a,
        }
    }

    /// Selects an absorbed function; false if the instruction has none.
    pub(super) fn do_logic(&mut self, inst: Inst) -> Result<bool, Refused> {
        let Some(logic) = self.logic.remove(&inst) else {
            return Ok(false);
        };
        let len = length(self.ty(self.result(inst)))?;
        let at = |n: usize| logic.sources[n.min(logic.sources.len() - 1)];
        let (a, b) = (self.reg(at(0))?, self.reg(at(1))?);
        let c = self.src(at(2))?;
        let d = self.ternary(len, a, b, c, logic.table);
        self.set(inst, d);
        Ok(true)
    }
}
