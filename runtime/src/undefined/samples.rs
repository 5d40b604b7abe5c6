//! Executions of one instruction with different values in the undefined bits of its registers.

use frontend::registers::{Reg, SCC, Uses};
use frontend::{LANES, WaveState};

use super::Step;
use super::registers::vector_number;
use crate::interp;
use crate::mix::mix;

/// Executions. Two have all bits clear and all set, so that they tell all dependences on one bit; a dependence on several bits at once
/// escapes the others with a probability of 2^-10.
const COUNT: u64 = 12;

/// A register in all lanes; a scalar one is in the first.
type Value = [u32; LANES];

/// A register that an instruction writes, and the bits in which samples differ.
pub(super) struct Difference {
    pub(super) reg: Reg,
    pub(super) bits: Value,
}

fn read(wave: &WaveState, reg: Reg) -> Value {
    let mut value = [0; LANES];
    match vector_number(reg) {
        Some(n) => return *wave.vector(n),
        None if reg == SCC => value[0] = wave.scc,
        None => value[0] = wave.sgpr.get(usize::from(reg)).copied().unwrap_or(0),
    }
    value
}

fn write(wave: &mut WaveState, reg: Reg, value: &Value) {
    match vector_number(reg) {
        Some(n) => *wave.vector_mut(n) = *value,
        None if reg == SCC => wave.scc = value[0],
        None => {
            if let Some(place) = wave.sgpr.get_mut(usize::from(reg)) {
                *place = value[0];
            }
        }
    }
}

impl Step<'_, '_> {
    /// How the registers that the instruction writes differ. The wave is as before.
    pub(super) fn samples(&mut self, uses: &Uses) -> Vec<Difference> {
        let spans = uses.reads.iter().chain(&uses.keeps).chain(&uses.writes);
        let mut all: Vec<Reg> = spans.flat_map(|span| span.each()).collect();
        all.sort_unstable();
        all.dedup();
        let saved: Vec<(Reg, Value)> = all.iter().map(|&reg| (reg, read(self.wave, reg))).collect();
        let (pc, trapsts) = (self.wave.pc, self.wave.trapsts);
        let mut written: Vec<Reg> = uses.writes.iter().flat_map(|span| span.each()).collect();
        written.sort_unstable();
        written.dedup();
        let mut first: Vec<Value> = Vec::new();
        let none = |&reg: &Reg| Difference {
            reg,
            bits: [0; LANES],
        };
        let mut differences: Vec<Difference> = written.iter().map(none).collect();
        for sample in 0..COUNT {
            self.fill(&saved, sample);
            let done = interp::step(self.wave, self.group, self.inst);
            let values = written.iter().map(|&reg| read(self.wave, reg));
            if sample == 0 {
                first = values.collect();
            } else {
                for ((difference, first), value) in differences.iter_mut().zip(&first).zip(values) {
                    let pairs = first.iter().zip(&value);
                    for (bits, (first, value)) in difference.bits.iter_mut().zip(pairs) {
                        *bits |= first ^ value;
                    }
                }
            }
            (self.wave.pc, self.wave.trapsts) = (pc, trapsts);
            for (reg, value) in &saved {
                write(self.wave, *reg, value);
            }
            if done.is_err() {
                break;
            }
        }
        differences
    }

    /// Writes the undefined bits of the registers.
    fn fill(&mut self, saved: &[(Reg, Value)], sample: u64) {
        for &(reg, mut value) in saved {
            if !self.registers.any(reg, u64::MAX) {
                continue;
            }
            let lanes = if vector_number(reg).is_some() {
                LANES
            } else {
                1
            };
            for (lane, value) in value.iter_mut().enumerate().take(lanes) {
                let undefined = self.registers.get(reg, lane).bits;
                let pattern = match sample {
                    0 => 0,
                    1 => u32::MAX,
                    _ => mix(sample << 32 | u64::from(reg) << 8 | lane as u64) as u32,
                };
                *value = *value & !undefined | pattern & undefined;
            }
            write(self.wave, reg, &value);
        }
    }
}
