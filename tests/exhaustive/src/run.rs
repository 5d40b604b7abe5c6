//! Runs a range of a sweep's inputs on engines and compares their results word by word.

use std::fmt;
use std::time::{Duration, Instant};

use frontend::state::LANES;
use frontend::{Gfx, WaveState};
use lower::jit::LowerError;
use runtime::engine::{Engine, Exit, Group, Scratch, Stats};
use runtime::lds::Lds;
use runtime::memory::{AllocError, Options};
use runtime::{LoadedCode, Memory};

mod compare;
mod layout;

use crate::engines::{Kind, engine};
use crate::reference::Reference;
use crate::sweep::{Form, Sweep};

use compare::{SALT, difference, disagrees, expected};
use layout::{Layout, code};

/// What result registers hold before.
const BEFORE: u32 = 0xa5a5_5a5a;

/// Why a sweep cannot run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No guest memory.
    #[error("guest memory: {0}")]
    Memory(#[from] AllocError),
    /// The translator does not run here.
    #[error("the translator: {0}")]
    Translator(#[from] LowerError),
    /// The code cannot be loaded.
    #[error("the code cannot be loaded: {0}")]
    Code(String),
    /// It did not come to its end.
    #[error("{engine} ended with {exit:?}")]
    Exit {
        /// The engine.
        engine: &'static str,
        /// How.
        exit: Exit,
    },
}

/// A first difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The input's number.
    pub input: u32,
    /// The values of the source registers.
    pub sources: Vec<u32>,
    /// Results word by word: those of the first engine.
    pub first: (Kind, Vec<u32>),
    /// Those of the other.
    pub second: (Kind, Vec<u32>),
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = |words: &[u32]| {
            let words: Vec<String> = words.iter().map(|w| format!("{w:08x}")).collect();
            words.join(" ")
        };
        write!(
            f,
            "input {:#x} ({}): {} {}, {} {}",
            self.input,
            hex(&self.sources),
            self.first.0.name(),
            hex(&self.first.1),
            self.second.0.name(),
            hex(&self.second.1)
        )
    }
}

/// What a range of inputs came to.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The sum of the result words, each times an odd number that depends on its position in the sweep, modulo 2^64.
    pub digest: u64,
    /// A difference, the first of its batch.
    pub difference: Option<Difference>,
    /// The time of each engine, in the order of the request; that of the reference includes its comparison.
    pub times: Vec<Duration>,
    /// Constructs that the wide back end refused.
    pub refusals: Vec<String>,
}

/// Inputs of a sample, at edges of f32, f16 and integers.
const WORDS: [u64; 20] = [
    0,
    0x007f_ffff,
    0x3300_0000,
    0x3380_1234,
    0x387f_ffff,
    0x3eff_ffff,
    0x3f7f_ffff,
    0x3f9a_bcde,
    0x477f_efff,
    0x4afe_dcba,
    0x4eff_ffff,
    0x7f7f_ffff,
    0x7fc1_2345,
    0x8000_0000,
    0x807f_ffff,
    0xb301_2345,
    0xbf7f_ffff,
    0xc77f_efff,
    0xcf12_3456,
    0xff80_0001,
];

/// The same of halves.
const HALVES: [u64; 7] = [0, 0x0401, 0x3c01, 0x7bff, 0x7c01, 0x8001, 0xbc01];

/// An odd weight of a position.
#[inline(always)]
fn weight(position: u64) -> u64 {
    let x = position.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (x ^ x >> 32) | 1
}

fn digest(words: &[u32], first: u64) -> u64 {
    let mut sum = 0u64;
    for (n, &word) in words.iter().enumerate() {
        let word = u64::from(word) + 1;
        sum = sum.wrapping_add(word.wrapping_mul(weight(first + n as u64)));
    }
    sum
}

/// Engines, made once and used for many sweeps.
pub struct Bench {
    memory: Memory,
    engines: Vec<(Kind, Option<Box<dyn Engine>>)>,
    lds: Lds,
    wave: Box<WaveState>,
}

impl Bench {
    /// With these engines, without those that this CPU cannot run.
    pub fn new(kinds: &[Kind]) -> Result<Bench, Error> {
        let options = Options {
            reserve: 1 << 30,
            ..Options::default()
        };
        let mut engines = Vec::new();
        for &kind in kinds.iter().filter(|kind| kind.is_here()) {
            engines.push((kind, engine(kind)?));
        }
        let mut lds = Lds::new(false);
        lds.reset(1024);
        Ok(Bench {
            memory: Memory::with_options(options)?,
            engines,
            lds,
            wave: WaveState::new_boxed(),
        })
    }

    /// The engines.
    pub fn kinds(&self) -> Vec<Kind> {
        self.engines.iter().map(|(kind, _)| *kind).collect()
    }

    /// Runs the inputs from `first` on, `count` of them, on those of the engines that `requested` names; both numbers are
    /// multiples of the inputs of a batch ([`Bench::batch`]). Stops behind a batch with a difference.
    pub fn run(
        &mut self,
        sweep: &Sweep,
        first: u64,
        count: u64,
        requested: &[Kind],
    ) -> Result<Outcome, Error> {
        let form = &sweep.form;
        let layout = Layout::of(form);
        let bytes = code(form, &layout);
        let code = LoadedCode::from_bytes(&self.memory, form.gfx, &bytes);
        let code = code.map_err(|error| Error::Code(error.to_string()))?;
        let outcome = self.batches(sweep, &layout, &code, first..first + count, requested);
        self.memory
            .free(code.base())
            .map_err(|error| Error::Code(error.to_string()))?;
        outcome
    }

    /// What the first engine does in a sample of a form's inputs, as a digest.
    pub(crate) fn probe(&mut self, form: &Form, mode: u32) -> Result<u64, Error> {
        let kinds = self.kinds();
        let sweep = Sweep {
            form: form.clone(),
            mode,
            modes: 0,
            targets: vec![form.gfx],
        };
        let batch = Bench::batch(&sweep);
        if form.bits < 32 {
            let inputs = (1 << form.bits).max(batch);
            return Ok(self.run(&sweep, 0, inputs, &kinds[..1])?.digest);
        }
        let firsts: Vec<u64> = match form.fields.len() == 2 || form.name.starts_with("halves") {
            true => HALVES
                .iter()
                .flat_map(|high| HALVES.map(|low| high << 16 | low))
                .collect(),
            false => WORDS.to_vec(),
        };
        let mut sum = 0u64;
        for first in firsts {
            let first = first / batch * batch;
            let digest = self.run(&sweep, first, batch, &kinds[..1])?.digest;
            sum = sum.rotate_left(5) ^ digest;
        }
        Ok(sum)
    }

    /// Inputs of a batch of a sweep.
    pub fn batch(sweep: &Sweep) -> u64 {
        Layout::of(&sweep.form).inputs() as u64
    }

    fn batches(
        &mut self,
        sweep: &Sweep,
        layout: &Layout,
        code: &LoadedCode,
        inputs: std::ops::Range<u64>,
        requested: &[Kind],
    ) -> Result<Outcome, Error> {
        let form = &sweep.form;
        let reference = Reference::of(form, sweep.mode);
        let words = layout.slots * layout.results * if layout.vector { LANES } else { 1 };
        let mut want = vec![0u32; words];
        let mut outcome = Outcome {
            digest: 0,
            difference: None,
            times: vec![Duration::ZERO; requested.len()],
            refusals: Vec::new(),
        };
        let mut stats = Stats::default();
        self.wave.sgpr = [0; 128];
        let step = layout.inputs() as u64;
        let mut at = inputs.start;
        while at < inputs.end && outcome.difference.is_none() {
            let base = at as u32;
            self.fill(form, layout, base);
            let mut by = None;
            for (n, &kind) in requested.iter().enumerate() {
                let Some(position) = self.engines.iter().position(|(k, _)| *k == kind) else {
                    continue;
                };
                let begin = Instant::now();
                if let Some(engine) = &self.engines[position].1 {
                    self.wave.pc = code.base();
                    self.wave.resume = 0;
                    self.wave.mode = sweep.mode;
                    self.wave.scc = 0;
                    self.wave.set_exec(u64::MAX);
                    let first = layout.result(0);
                    let end = layout.result(layout.slots);
                    match layout.vector {
                        true => self.wave.vgpr[first..end].as_flattened_mut().fill(BEFORE),
                        false => self.wave.sgpr[first..end].fill(BEFORE),
                    }
                    let mut group = Group {
                        memory: &self.memory,
                        code,
                        gfx: form.gfx,
                        lds: &mut self.lds,
                        scratch: Scratch::default(),
                        workgroup: [0; 3],
                        wave: 0,
                        waves: 1,
                        checked: false,
                        dispatch: 0,
                        counting: false,
                        stats: &mut stats,
                    };
                    let exit = engine.run(&mut self.wave, &mut group, &mut 10_000);
                    if exit != Exit::Barrier {
                        let engine = kind.name();
                        return Err(Error::Exit { engine, exit });
                    }
                    let got = match layout.vector {
                        true => self.wave.vgpr[first..end].as_flattened(),
                        false => &self.wave.sgpr[first..end],
                    };
                    match by {
                        None => {
                            want.copy_from_slice(got);
                            by = Some(kind);
                        }
                        Some(by) if *got != *want => {
                            let place = got.iter().zip(&want).position(|(a, b)| a != b);
                            let place = place.unwrap_or_default();
                            let found =
                                difference(form, layout, base, place, (by, &want), (kind, got));
                            outcome.difference.get_or_insert(found);
                        }
                        Some(_) => {}
                    }
                } else if let (Some(reference), Some(by)) = (&reference, by)
                    && let Some(place) = disagrees(reference, form, layout, base, &want)
                {
                    let right = expected(reference, form, layout, base, &want);
                    let found = difference(form, layout, base, place, (by, &want), (kind, &right));
                    outcome.difference.get_or_insert(found);
                }
                outcome.times[n] += begin.elapsed();
            }
            let position = at / step * words as u64;
            outcome.digest = outcome.digest.wrapping_add(digest(&want, position));
            at += step;
        }
        outcome.refusals = stats.refusals.into_keys().collect();
        Ok(outcome)
    }

    /// Writes the sources of a batch.
    fn fill(&mut self, form: &Form, layout: &Layout, base: u32) {
        for slot in 0..layout.slots {
            let register = layout.source(slot);
            let input = base.wrapping_add((slot * layout.lanes) as u32);
            for (n, &field) in form.fields.iter().enumerate() {
                match layout.lanes {
                    1 => self.wave.sgpr[register + n] = field.value(input, SALT[n]),
                    _ => {
                        for (lane, word) in self.wave.vgpr[register + n].iter_mut().enumerate() {
                            *word = field.value(input.wrapping_add(lane as u32), SALT[n]);
                        }
                    }
                }
            }
        }
    }
}

/// The target's name and the instruction's text, for messages.
pub fn text(form: &Form) -> String {
    let gfx: Gfx = form.gfx;
    form.inst().map_or_else(String::new, |inst| inst.text(gfx))
}
