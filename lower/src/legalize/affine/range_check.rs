//! Whether runs of lanes stay within memory.

use super::super::Emitter;
use super::ends::Ends;
use crate::analysis::uniformity::Affine;
use crate::vir::{IntCC, Value, types};

/// Runs of lanes, each as long as the others, and what must hold for their bytes to be where they should.
pub(in crate::legalize) struct Checked {
    /// Addresses (in their space, I64) of the runs' first lanes.
    pub(in crate::legalize) starts: Vec<Value>,
    /// The first byte that any lane touches, relative to the space, of those there are.
    firsts: Vec<Value>,
    /// The end of the last.
    last: Value,
    /// All of this (I8).
    pub(in crate::legalize) conditions: Vec<Value>,
}

impl Emitter<'_> {
    /// Runs of lanes, of which none is longer than the others, whose bytes lie from `least` to `most` beyond their
    /// addresses; the space begins at `base` and has `len` bytes.
    pub(in crate::legalize) fn check_contiguous(
        &mut self,
        runs: &[Ends],
        affine: Affine,
        (lds, (base, len)): (bool, (Value, Value)),
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
                false => self.b.isub(start, base),
            };
            if affine.stride < 0 {
                first = self.beyond(first, span);
            }
            firsts.push(self.plus(first, least));
            starts.push(start);
        }
        // The run that begins last ends last: where the others begin and end, nothing wraps if nothing wraps there.
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
        let order = IntCC::UnsignedLessThanOrEqual;
        let mut all = Vec::new();
        // An address of 32 bits and what lies beyond it do not wrap: that the end is within is enough.
        if !(lds && affine.stride >= 0 && least >= 0) {
            all.push(self.b.icmp(order, highest, len));
        }
        all.push(self.b.icmp(order, last, len));
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

    /// The first byte that runs touch and the end of the last.
    pub(in crate::legalize) fn bytes_of(&mut self, runs: &Checked) -> (Value, Value) {
        let firsts = runs.firsts.iter().copied();
        let first = firsts.reduce(|a, b| self.b.umin(a, b));
        (first.expect("bug: an access without lanes"), runs.last)
    }
}
