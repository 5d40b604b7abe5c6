//! Options common to several commands.

use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use runtime::dispatch::MAX_LANE_SCRATCH;
use runtime::engine::Emitter;
use wavelift::{DeviceOptions, EngineKind, EngineOptions};

use super::one_liner::OneLiner;

/// What to run, and how.
#[derive(clap::Args, Default)]
pub(super) struct RunOptions {
    #[command(flatten)]
    pub(super) kernel: OneLiner,
    /// Worker threads; 0 is one for each processor [default: 0; of diff: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(super) threads: Option<usize>,
    /// Seconds after which a dispatch, and the whole run, is stopped (of bench: a round) [default: none]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    pub(super) timeout: Option<Duration>,
    /// Bytes of stack of each work-item, in addition to the scratch that its kernel states; for
    /// recursion that is deeper than the compiler knows [default: the dispatch's `stack` in the
    /// manifest, else 16384 for kernels that declare their stack as dynamic, and 0 for others]
    #[arg(long, value_name = "BYTES", value_parser = stack, allow_negative_numbers = true)]
    pub(super) stack: Option<u32>,
    /// The entry to select if a code object's file has several, such as gfx906 or gfx906:xnack-
    #[arg(long)]
    pub(super) target: Option<String>,
    /// How the translator makes host code
    #[arg(long, value_enum, default_value_t = EmitterName::Auto)]
    emitter: EmitterName,
    /// Stop with a fault at an instruction that the translator does not translate, instead of
    /// interpreting it
    #[arg(long)]
    no_fallback: bool,
    /// Keep translated code in this folder, and reuse it from there; code with profiling is not
    /// kept
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
}

/// The engine to run on.
#[derive(clap::Args, Default)]
pub(super) struct EngineChoice {
    /// The engine; the default is jit if the build has it
    #[arg(long, value_enum)]
    engine: Option<EngineName>,
    /// Give NaN results the sign and payload that the interpreter gives them
    #[arg(long)]
    exact_nan: bool,
}

/// An engine by name.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EngineName {
    /// Translates to host code
    Jit,
    /// Interprets
    Interp,
}

/// An emitter by name.
#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum EmitterName {
    /// The wide back end if the CPU has AVX2, FMA and F16C, else Cranelift
    #[default]
    Auto,
    /// Cranelift
    Cranelift,
    /// The wide back end (AVX2 or AVX-512), Cranelift for code that it refuses
    Wide,
}

/// One of equal parts of a range of seeds or workgroups.
#[derive(Clone, Copy)]
pub(super) struct Shard {
    /// From 1 on.
    pub(super) number: u64,
    /// How many there are.
    pub(super) of: u64,
}

impl Shard {
    /// Its part of a range. Sizes differ by one at most, and all parts make up the range.
    pub(super) fn of(self, whole: &Range<u64>) -> Range<u64> {
        let at = |n: u64| {
            let part = u128::from(whole.end - whole.start) * u128::from(n) / u128::from(self.of);
            // `n` is at most `of`, so this is no more than the range's length.
            whole.start + part as u64
        };
        at(self.number - 1)..at(self.number)
    }
}

/// A shard as I/N.
pub(super) fn shard(text: &str) -> Result<Shard, String> {
    let numbers = text.split_once('/');
    let numbers = numbers.and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    match numbers {
        Some((number, of)) if (1..=of).contains(&number) => Ok(Shard { number, of }),
        Some(_) => Err("shards are numbered from 1/N to N/N".to_owned()),
        None => Err("write the number of the shard and how many there are, such as 1/8".to_owned()),
    }
}

/// A positive number of seconds.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text
        .parse()
        .map_err(|_| format!("`{text}` is no number of seconds"))?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        Err(_) if seconds > 1.0 => Err(format!(
            "{text} seconds are more than can be counted; leave the option out"
        )),
        _ => Err(format!("{text} is no positive number of seconds")),
    }
}

/// Bytes of stack.
pub(super) fn stack(text: &str) -> Result<u32, String> {
    let bytes: u64 = text
        .parse()
        .map_err(|_| format!("`{text}` is no number of bytes"))?;
    match u32::try_from(bytes) {
        Ok(bytes) if bytes <= MAX_LANE_SCRATCH => Ok(bytes),
        _ => Err(format!(
            "a work-item has at most {MAX_LANE_SCRATCH} bytes of scratch"
        )),
    }
}

impl RunOptions {
    /// Options of a device that runs on `engine`.
    pub(super) fn device(&self, choice: &EngineChoice) -> DeviceOptions {
        let engine = match choice.engine {
            Some(EngineName::Jit) => EngineKind::Jit,
            Some(EngineName::Interp) => EngineKind::Interp,
            None => EngineKind::default(),
        };
        DeviceOptions {
            engine,
            engine_options: self.engine_options(choice.exact_nan),
            threads: self.threads.unwrap_or(0),
            timeout: self.timeout,
            stack_bytes: self.stack,
            detect_deadlocks: true,
            ..DeviceOptions::default()
        }
    }

    /// Is translated code kept on disk?
    pub(super) fn keeps_code(&self) -> bool {
        self.cache.is_some()
    }

    /// Options of an engine.
    pub(super) fn engine_options(&self, exact_nan: bool) -> EngineOptions {
        let emitter = match self.emitter {
            EmitterName::Auto => Emitter::Auto,
            EmitterName::Cranelift => Emitter::Cranelift,
            EmitterName::Wide => Emitter::Wide,
        };
        EngineOptions {
            exact_nan,
            no_fallback: self.no_fallback,
            profile: None,
            emitter,
            cache: self.cache.clone(),
            cache_limit: None,
            without: Vec::new(),
        }
    }
}

/// Name of an engine for messages.
pub(super) fn engine_name(kind: EngineKind) -> &'static str {
    match kind {
        EngineKind::Jit => "jit",
        EngineKind::Interp => "interp",
    }
}
