//! Digests of verdicts. That of a range of seeds is the sum of the seeds' own, so that it does not depend
//! on their order, or on how the range was divided. (A sum, unlike an exclusive or, tells a seed that
//! was run twice from one that was not run.)

use std::fmt;
use std::ops::AddAssign;

use harness::snippet::Outcome;
use runtime::engine::Exit;
use sha2::{Digest as _, Sha256};

/// A sum of SHA-256 digests as numbers, modulo 2^256. Printed as 64 hexadecimal digits, the most
/// significant first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest([u8; 32]);

impl Digest {
    pub(crate) fn of(hash: Sha256) -> Digest {
        Digest(hash.finalize().into())
    }
}

impl AddAssign for Digest {
    fn add_assign(&mut self, other: Digest) {
        let mut carry = 0;
        for (a, b) in self.0.iter_mut().zip(other.0).rev() {
            let sum = u16::from(*a) + u16::from(b) + carry;
            *a = sum as u8;
            carry = sum >> 8;
        }
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Adds what the interpreter did with code at `base`. Where the code lies is not part of it.
pub(crate) fn absorb(hash: &mut Sha256, outcome: &Outcome, base: u64) {
    match &outcome.exit {
        Exit::End => hash.update([0]),
        Exit::Barrier => hash.update([1]),
        Exit::Yield => hash.update([2]),
        Exit::Fault(fault) => {
            hash.update([3, fault.lane.map_or(64, |lane| lane as u8)]);
            hash.update(fault.pc.wrapping_sub(base).to_le_bytes());
            hash.update(fault.kind.name());
        }
    }
    hash.update(outcome.instructions.to_le_bytes());
    hash.update(outcome.lane_instructions.to_le_bytes());
    let state = &outcome.state;
    let vectors = state.vgpr.iter().chain(&state.agpr).flatten();
    for word in state.sgpr.iter().chain(vectors) {
        hash.update(word.to_le_bytes());
    }
    hash.update(state.scc.to_le_bytes());
    hash.update(state.mode.to_le_bytes());
    hash.update(&state.memory);
    hash.update(&state.lds);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_carry_and_wrap() {
        let mut sum = Digest([0xff; 32]);
        let mut one = Digest::default();
        one.0[31] = 1;
        sum += one;
        assert_eq!(sum, Digest::default());
        one.0[31] = 0xff;
        sum += one;
        sum += one;
        assert!(sum.to_string().ends_with("0001fe"), "{sum}");
    }
}
