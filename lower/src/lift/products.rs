//! The matrix instructions of a block. They run at its end, in order, by one call of the runtime:
//! instructions between and behind them that do not depend on them are done before. A factor whose
//! register has another value by then is staged.

use frontend::inst::Inst;
use frontend::registers::{self, Span, Uses};
use frontend::target::Gfx;

use crate::ir::matrix::{Addend, MAX_CALLS, STAGED};
use crate::ir::{MatrixCall, Op, SiteId, Val};
use crate::lift::guest::Guest;

/// A or B of an instruction.
enum Factor {
    /// Its registers, which hold it at the end of the block too.
    InPlace,
    /// The values of its registers.
    Values(Vec<Val>),
}

/// The matrix instructions of a block so far.
#[derive(Default)]
pub(super) struct Products {
    site: Option<SiteId>,
    calls: Vec<(MatrixCall, [Factor; 2])>,
    /// The registers that they write.
    results: Vec<Span>,
    /// Registers that they read at the end of the block.
    sources: Vec<Span>,
}

/// Registers of the lane IR as an instruction's.
fn span(registers: std::ops::Range<u16>) -> Span {
    Span {
        first: registers::VGPR + registers.start,
        count: registers.end - registers.start,
    }
}

impl Products {
    /// The first instruction, if there is one.
    pub(super) fn site(&self) -> Option<SiteId> {
        self.site
    }

    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Has the terminator no room for another one?
    pub(super) fn is_full(&self) -> bool {
        self.calls.len() == MAX_CALLS
    }

    /// Does the next instruction read what these compute, or write what they have not read yet?
    /// Another matrix instruction runs behind them.
    pub(super) fn depend_on(&self, inst: &Inst, gfx: Gfx) -> bool {
        if matches!(
            inst.op(),
            frontend::op::Op::Mfma(_) | frontend::op::Op::Smfmac(_)
        ) {
            return false;
        }
        let uses = Uses::of(inst, gfx);
        let overlap = |used: &[Span], all: &[Span]| {
            let mut used = used.iter();
            used.any(|a| all.iter().any(|b| a.overlaps(*b)))
        };
        overlap(&uses.reads, &self.results)
            || overlap(&uses.keeps, &self.results)
            || overlap(&uses.writes, &self.results)
            || overlap(&uses.writes, &self.sources)
    }

    /// Adds an instruction.
    pub(super) fn add(&mut self, g: &mut Guest<'_>, site: SiteId, call: MatrixCall) {
        self.site.get_or_insert(site);
        let factors = [
            (call.a, call.a_registers()),
            (call.b, MatrixCall::factor_registers(call.shape)),
        ];
        let factors = factors.map(|(first, count)| {
            let registers = first..first + count;
            let of = span(registers.clone());
            let computed = self.results.iter().any(|result| result.overlaps(of));
            if !computed {
                let values: Vec<Val> = registers.clone().map(|n| g.read_v_all(n)).collect();
                let mut old = registers.zip(&values);
                if old.any(|(n, &v)| g.b.parts(v).0 != Op::ReadV(n)) {
                    return Factor::Values(values);
                }
            }
            self.sources.push(of);
            Factor::InPlace
        });
        if let Addend::Registers(c) = call.c {
            let count = MatrixCall::sum_registers(call.shape);
            self.sources.push(span(c..c + count));
        }
        if let Some(places) = call.places {
            self.sources.push(span(places..places + 1));
        }
        self.results.push(span(call.writes()));
        self.calls.push((call, factors));
    }

    /// The instructions with the registers that have their factors at the end of the block, and what
    /// staging registers get.
    pub(super) fn finish(self, g: &mut Guest<'_>) -> (Vec<MatrixCall>, Vec<(u16, Val)>) {
        let mut staged: Vec<Val> = Vec::new();
        let mut place = |first: u16, factor: Factor| {
            let Factor::Values(values) = factor else {
                return first;
            };
            let mut now = (first..).zip(&values);
            if now.all(|(n, &v)| g.read_v_all(n) == v) {
                return first;
            }
            let there = staged.windows(values.len()).position(|at| at == values);
            let at = there.unwrap_or(staged.len());
            if there.is_none() {
                staged.extend(values);
            }
            STAGED + at as u16
        };
        let calls = self.calls.into_iter().map(|(call, [a, b])| MatrixCall {
            a: place(call.a, a),
            b: place(call.b, b),
            ..call
        });
        let calls = calls.collect();
        (calls, (STAGED..).zip(staged).collect())
    }
}
