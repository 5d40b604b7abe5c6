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

use crate::engines::{Kind, engine};
use crate::reference::Reference;
use crate::sweep::{Form, Shape, Sweep};

/// `s_barrier`, and no instruction, so that every register is observable at the barrier.
const END: [u32; 2] = [0xbf8a_0000, 0xffff_ffff];
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

/// Registers of a slot.
struct Layout {
    slots: usize,
    /// Inputs of a slot.
    lanes: usize,
    sources: usize,
    /// Result registers of a slot: vector ones or scalar ones.
    results: usize,
    vector: bool,
}

impl Layout {
    fn of(form: &Form) -> Layout {
        let (slots, results, vector) = match form.shape {
            Shape::Lanes(1) => (64, 1, true),
            Shape::Lanes(n) => (32, n as usize, true),
            Shape::Compare => (32, 2, false),
            Shape::CompareExec => (16, 4, false),
            Shape::Scalar(n, scc) => (16, n as usize + usize::from(scc), false),
        };
        Layout {
            slots: if form.bits < 12 { slots.min(4) } else { slots },
            lanes: if matches!(form.shape, Shape::Scalar(..)) {
                1
            } else {
                LANES
            },
            sources: form.fields.len(),
            results,
            vector,
        }
    }

    fn inputs(&self) -> usize {
        self.slots * self.lanes
    }

    /// First source register of a slot.
    fn source(&self, slot: usize) -> usize {
        slot * self.sources
    }

    /// First result register of a slot.
    fn result(&self, slot: usize) -> usize {
        let base = match (self.vector, self.lanes) {
            (true, _) => self.slots * self.sources,
            (false, 1) => self.slots,
            (false, _) => 0,
        };
        base + slot * self.results
    }
}

fn code(form: &Form, layout: &Layout) -> Vec<u8> {
    let mut words = Vec::new();
    for slot in 0..layout.slots {
        let (s, d) = (layout.source(slot) as u32, layout.result(slot) as u32);
        // A vector source of comparisons, a scalar one of scalar instructions; one source is both.
        let sources = [s, s + layout.sources as u32 - 1];
        words.extend(form.words(d, sources));
        match form.shape {
            Shape::CompareExec => {
                let s_mov_b64 = if form.gfx.is_gfx6_7() { 4 } else { 1 };
                let moved = |d: u32, s: u32| 0x17d << 23 | d << 16 | s_mov_b64 << 8 | s;
                // EXEC into the second pair, and all lanes again.
                words.extend([moved(d + 2, 126), moved(126, 193)]);
            }
            Shape::Scalar(n, true) => {
                // s_cselect_b32 of 1 and 0
                words.push(0x2 << 30 | 0x0a << 23 | (d + n) << 16 | 128 << 8 | 129);
            }
            Shape::Scalar(_, false) | Shape::Lanes(_) | Shape::Compare => {}
        }
    }
    words.extend(END);
    words.into_iter().flat_map(u32::to_le_bytes).collect()
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

    /// Runs the inputs from `first` on, `count` of them, on those of the engines that `wanted` names; both numbers are
    /// multiples of the inputs of a batch ([`Bench::batch`]). Stops behind a batch with a difference.
    pub fn run(
        &mut self,
        sweep: &Sweep,
        first: u64,
        count: u64,
        wanted: &[Kind],
    ) -> Result<Outcome, Error> {
        let form = &sweep.form;
        let layout = Layout::of(form);
        let bytes = code(form, &layout);
        let code = LoadedCode::from_bytes(&self.memory, form.gfx, &bytes);
        let code = code.map_err(|error| Error::Code(error.to_string()))?;
        let outcome = self.batches(sweep, &layout, &code, first..first + count, wanted);
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
        wanted: &[Kind],
    ) -> Result<Outcome, Error> {
        let form = &sweep.form;
        let reference = Reference::of(form, sweep.mode);
        let words = layout.slots * layout.results * if layout.vector { LANES } else { 1 };
        let mut want = vec![0u32; words];
        let mut outcome = Outcome {
            digest: 0,
            difference: None,
            times: vec![Duration::ZERO; wanted.len()],
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
            for (n, &kind) in wanted.iter().enumerate() {
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

/// Noise of the sources differs.
const SALT: [u32; 2] = [0x1357_9bdf, 0x0246_8ace];

fn sources(form: &Form, input: u32) -> Vec<u32> {
    let fields = form.fields.iter().zip(SALT);
    fields
        .map(|(field, salt)| field.value(input, salt))
        .collect()
}

/// The words of an input in a batch's results, each with the bits of it that are the input's.
fn places(layout: &Layout, n: usize) -> Vec<(usize, u32, u32)> {
    let (slot, lane) = (n / layout.lanes, n % layout.lanes);
    let first = slot * layout.results;
    (0..layout.results)
        .filter_map(|r| match (layout.vector, layout.lanes) {
            (true, _) => Some(((first + r) * LANES + lane, 0, u32::MAX)),
            (false, 1) => Some((first + r, 0, u32::MAX)),
            // Pairs of masks.
            (false, _) => (r % 2 == lane / 32).then_some((first + r, lane as u32 % 32, 1)),
        })
        .collect()
}

/// The results of the reference for a batch.
fn expected(
    reference: &Reference,
    form: &Form,
    layout: &Layout,
    base: u32,
    like: &[u32],
) -> Vec<u32> {
    let mut all = like.to_vec();
    for n in 0..layout.inputs() {
        let s = sources(form, base.wrapping_add(n as u32));
        let right = reference.results(s[0], s.get(1).copied().unwrap_or_default());
        for (r, (word, shift, mask)) in places(layout, n).into_iter().enumerate() {
            // Both masks of a comparison that writes EXEC are the same.
            let value = match layout.vector || layout.lanes == 1 {
                true => right[r],
                false => right[0],
            };
            all[word] = all[word] & !(mask << shift) | (value & mask) << shift;
        }
    }
    all
}

/// The first word of a batch that is not as the reference has it.
fn disagrees(
    reference: &Reference,
    form: &Form,
    layout: &Layout,
    base: u32,
    got: &[u32],
) -> Option<usize> {
    let first = form.fields[0];
    let second = form.fields.get(1).copied();
    for slot in 0..layout.slots {
        let mut masks = [0u32; 2];
        for lane in 0..layout.lanes {
            let input = base.wrapping_add((slot * layout.lanes + lane) as u32);
            let s0 = first.value(input, SALT[0]);
            let s1 = second.map_or(0, |field| field.value(input, SALT[1]));
            let right = reference.results(s0, s1);
            if layout.vector {
                for (r, &right) in right.iter().enumerate().take(layout.results) {
                    let place = (slot * layout.results + r) * LANES + lane;
                    if got[place] != right {
                        return Some(place);
                    }
                }
            } else if layout.lanes == 1 {
                let place = slot * layout.results;
                let got = &got[place..place + layout.results];
                if let Some(r) = got.iter().zip(right).position(|(&got, right)| got != right) {
                    return Some(place + r);
                }
            } else {
                masks[lane / 32] |= (right[0] & 1) << (lane % 32);
            }
        }
        if !layout.vector && layout.lanes > 1 {
            for r in 0..layout.results {
                let place = slot * layout.results + r;
                if got[place] != masks[r % 2] {
                    return Some(place);
                }
            }
        }
    }
    None
}

/// Describes the difference at a word.
fn difference(
    form: &Form,
    layout: &Layout,
    base: u32,
    place: usize,
    (first, a): (Kind, &[u32]),
    (second, b): (Kind, &[u32]),
) -> Difference {
    let differs = |n: &usize| {
        let places = places(layout, *n);
        let part = |of: &[u32], (word, shift, mask): (usize, u32, u32)| of[word] >> shift & mask;
        places.iter().any(|p| p.0 == place) && places.iter().any(|&p| part(a, p) != part(b, p))
    };
    let n = (0..layout.inputs()).find(differs).unwrap_or_default();
    let of = |words: &[u32]| {
        let part = |(word, shift, mask): (usize, u32, u32)| words[word] >> shift & mask;
        places(layout, n).into_iter().map(part).collect()
    };
    let input = base.wrapping_add(n as u32);
    Difference {
        input,
        sources: sources(form, input),
        first: (first, of(a)),
        second: (second, of(b)),
    }
}

/// The target's name and the instruction's text, for messages.
pub fn text(form: &Form) -> String {
    let gfx: Gfx = form.gfx;
    form.inst().map_or_else(String::new, |inst| inst.text(gfx))
}
