//! Range checks of runs of lanes.

use super::super::Code;
use super::Bounds;
use super::ends::Ends;
use crate::analysis::uniformity::Affine;
use crate::vir::{IntCC, Value, types};

/// Runs of lanes of equal length, and the conditions under which their bytes are affine and in bounds.
pub(in crate::legalize) struct Checked {
    /// Addresses (in their space, I64) of the runs' first lanes.
    pub(in crate::legalize) starts: Vec<Value>,
    /// By run: offset of the first byte that it touches from the start of the space.
    firsts: Vec<Value>,
    /// The largest end of a run, as such an offset.
    last: Value,
    /// What must hold (I8).
    pub(in crate::legalize) conditions: Vec<Value>,
}

impl Code<'_> {
    /// Computes the range check of runs of equal length, whose elements have their bytes from `least` to `most`
    /// relative to their addresses.
    pub(in crate::legalize) fn check_contiguous(
        &mut self,
        runs: &[Ends],
        affine: Affine,
        (lds, bounds): (bool, Bounds),
        (least, most): (i64, i64),
    ) -> Checked {
        let span = self.span(runs[0].lanes, affine.stride);
        let (mut starts, mut firsts) = (Vec::new(), Vec::new());
        let (mut conditions, mut lengths) = (Vec::new(), Vec::new());
        for run in runs {
            let [start, end] = run.addresses.map(|address| match lds {
                true => self.b.uextend(types::I64, address),
                false => address,
            });
            if run.guarded {
                lengths.push(self.b.isub(end, start));
            }
            conditions.extend(&run.conditions);
            let mut first = match lds {
                true => start,
                false => self.b.isub(start, bounds.base),
            };
            if affine.stride < 0 {
                first = self.beyond(first, span);
            }
            firsts.push(self.plus(first, least));
            starts.push(start);
        }
        // The run with the highest start has the highest end: if that one is in bounds and does not wrap, neither
        // do the others.
        let highest = firsts.iter().copied();
        let highest = highest.reduce(|a, b| self.b.umax(a, b));
        let highest = highest.expect("bug: an access without lanes");
        let mut longest = span;
        if affine.stride < 0 {
            longest.computed = span.computed.map(|span| self.b.ineg(span));
            longest.more = -span.more;
        }
        longest.more += most - least;
        let last = self.beyond(highest, longest);
        // A zero-extended 32-bit address plus the span does not wrap, so checking the end is enough.
        let mut all = if lds && affine.stride >= 0 && least >= 0 {
            vec![
                self.b
                    .icmp(IntCC::UnsignedLessThanOrEqual, last, bounds.len),
            ]
        } else {
            let lowest = match bounds.least {
                Some(_) => self.lowest(&firsts),
                None => highest,
            };
            bounds.within(&mut self.b, lowest, last).to_vec()
        };
        all.extend(self.are_all(&lengths, span));
        for good in conditions {
            if !all.contains(&good) {
                all.push(good);
            }
        }
        Checked {
            starts,
            firsts,
            last,
            conditions: all,
        }
    }

    /// The offsets of the first byte that the runs touch and of the end of the last.
    pub(in crate::legalize) fn bytes_of(&mut self, runs: &Checked) -> (Value, Value) {
        (self.lowest(&runs.firsts), runs.last)
    }

    /// The least of offsets, of which those beyond the end of all memory are negative.
    fn lowest(&mut self, firsts: &[Value]) -> Value {
        let first = firsts.iter().copied().reduce(|a, b| self.b.smin(a, b));
        first.expect("bug: an access without lanes")
    }
}
