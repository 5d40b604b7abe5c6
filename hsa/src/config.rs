//! Configuration from the environment.

use std::env;
use std::ffi::OsString;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use frontend::Gfx;
use runtime::dispatch::MAX_LANE_SCRATCH;
use runtime::engine::EngineKind;
use runtime::object::{PROCESSORS, Processor};

use crate::guard::say;
use crate::record;

/// The GPU that programs see when nothing is said.
const DEFAULT_GPU: &str = "gfx906";

/// Most bytes of a recorded launch when nothing is said.
const DEFAULT_RECORD_BYTES: u64 = 1 << 30;

/// Size of a folder of translated code in MiB when nothing is said.
const DEFAULT_CACHE_MIB: u64 = 512;

/// A GPU that this library can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gpu {
    /// LLVM's name.
    pub(crate) name: &'static str,
    /// Suffix of the name of its instruction set: settings that match the code objects of
    /// librocrand and other libraries.
    pub(crate) features: &'static str,
    /// Guest.
    pub(crate) gfx: Gfx,
    /// PCI device.
    pub(crate) chip: u32,
    /// An APU's profile: HIP finds no memory on a gfx700 otherwise.
    pub(crate) full_profile: bool,
    /// The driver's number of the family of chips.
    pub(crate) family: u32,
}

/// The GPUs.
#[rustfmt::skip]
pub(crate) static GPUS: &[Gpu] = &[
    Gpu { name: "gfx700", features: "", gfx: Gfx::Gfx700, chip: 0x1304, full_profile: true, family: 125 },
    Gpu { name: "gfx803", features: "", gfx: Gfx::Gfx803, chip: 0x67df, full_profile: false, family: 130 },
    Gpu { name: "gfx900", features: ":xnack-", gfx: Gfx::Gfx900, chip: 0x687f, full_profile: false, family: 141 },
    Gpu { name: "gfx906", features: ":sramecc-:xnack-", gfx: Gfx::Gfx906, chip: 0x66af, full_profile: false, family: 141 },
    Gpu { name: "gfx908", features: ":sramecc+:xnack-", gfx: Gfx::Gfx908, chip: 0x738c, full_profile: false, family: 141 },
    Gpu { name: "gfx90a", features: ":sramecc+:xnack-", gfx: Gfx::Gfx90a, chip: 0x7408, full_profile: false, family: 141 },
    Gpu { name: "gfx942", features: ":sramecc+:xnack-", gfx: Gfx::Gfx942, chip: 0x74a1, full_profile: false, family: 141 },
];

impl Gpu {
    /// Name of the instruction set.
    pub(crate) fn isa(&self) -> String {
        format!("amdgcn-amd-amdhsa--{}{}", self.name, self.features)
    }

    /// The generic processor whose code it runs, too.
    pub(crate) fn generic(&self) -> Option<&'static Processor> {
        let mut all = PROCESSORS.iter();
        all.find(|processor| processor.is_generic() && processor.runs_on(self.name))
    }

    /// Name of the instruction set of that processor.
    pub(crate) fn generic_isa(&self) -> Option<String> {
        let generic = self.generic()?;
        let xnack = if generic.xnack { ":xnack-" } else { "" };
        Some(format!("amdgcn-amd-amdhsa--{}{xnack}", generic.name))
    }

    fn by_name(name: &str) -> Option<&'static Gpu> {
        GPUS.iter().find(|gpu| gpu.name == name)
    }
}

/// The settings of this process.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) gpu: &'static Gpu,
    /// Worker threads of a dispatch; 0 is one for each processor.
    pub(crate) threads: usize,
    /// Print counters at the end.
    pub(crate) stats: bool,
    /// Check accesses exactly.
    pub(crate) memcheck: bool,
    pub(crate) engine: EngineKind,
    /// Size of the GPU's memory.
    pub(crate) vram: u64,
    /// Stack of a lane in addition to the scratch that its kernel states, where the user says.
    pub(crate) stack: Option<u32>,
    /// Time limit of a dispatch.
    pub(crate) timeout: Option<Duration>,
    /// Where translated code is kept.
    pub(crate) cache: Option<PathBuf>,
    /// Bytes of that.
    pub(crate) cache_limit: u64,
    /// Where the profile is written at the end.
    pub(crate) profile: Option<Destination>,
    /// The file that coverage is merged into at the end.
    pub(crate) coverage: Option<PathBuf>,
    /// The folder that findings of the sanitizer are written into.
    pub(crate) sanitize: Option<PathBuf>,
    /// Which launches are recorded.
    pub(crate) record: Option<record::Options>,
}

/// Where a report goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    /// Standard error.
    Stderr,
    /// The end of a file.
    File(PathBuf),
}

/// A variable had an invalid value, which was reported.
struct Invalid;

/// A variable, unless it is empty.
fn get(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

fn wrong(name: &str, value: &str, expected: &str) -> Invalid {
    say(format_args!("{name}={value}: expected {expected}"));
    Invalid
}

/// A variable, read by `read`; `None` where it is not set.
fn read<T>(
    name: &str,
    expected: &str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, Invalid> {
    let Some(value) = get(name) else {
        return Ok(None);
    };
    match value.to_str().and_then(read) {
        Some(value) => Ok(Some(value)),
        None => Err(wrong(name, &value.to_string_lossy(), expected)),
    }
}

/// A number, or its default.
fn number(name: &str, default: u64) -> Result<u64, Invalid> {
    let value = read(name, "a number", |value| value.parse().ok())?;
    Ok(value.unwrap_or(default))
}

fn flag(name: &str) -> bool {
    get(name).is_some_and(|value| value != "0")
}

/// A positive number of seconds.
fn seconds(text: &str) -> Option<Duration> {
    let seconds = Duration::try_from_secs_f64(text.parse().ok()?).ok()?;
    (!seconds.is_zero()).then_some(seconds)
}

/// A number, or a range without its end.
fn index(text: &str) -> Option<Range<u64>> {
    match text.split_once("..") {
        Some((first, end)) => Some(first.parse().ok()?..end.parse().ok()?),
        None => {
            let only: u64 = text.parse().ok()?;
            Some(only..only.checked_add(1)?)
        }
    }
}

/// The bytes of so many MiB.
const fn mib(n: u64) -> u64 {
    n.saturating_mul(1 << 20)
}

impl Config {
    /// From the environment, see the crate's documentation. Invalid values are reported, and give
    /// `None`.
    pub(crate) fn from_env() -> Option<Config> {
        Config::read().ok()
    }

    /// Which launches are recorded.
    fn record() -> Result<Option<record::Options>, Invalid> {
        let Some(folder) = get("WAVELIFT_RECORD") else {
            return Ok(None);
        };
        let index = read("WAVELIFT_RECORD_INDEX", "a number or a range N..M", index)?;
        Ok(Some(record::Options {
            folder: folder.into(),
            kernel: read("WAVELIFT_RECORD_KERNEL", "text", |name| {
                Some(name.to_owned())
            })?,
            index: index.unwrap_or(0..u64::MAX),
            limit: number("WAVELIFT_RECORD_LIMIT", DEFAULT_RECORD_BYTES)?,
        }))
    }

    /// The folder of findings. Nothing else may change how code is translated or memory is checked.
    fn sanitize() -> Result<Option<PathBuf>, Invalid> {
        let folder = get(findings::VARIABLE).map(PathBuf::from);
        let other = findings::EXCLUDED.into_iter().find(|name| flag(name));
        if let (Some(_), Some(name)) = (&folder, other) {
            let value = get(name).unwrap_or_default();
            let expected = "none, since WAVELIFT_SANITIZE is set";
            return Err(wrong(name, &value.to_string_lossy(), expected));
        }
        Ok(folder)
    }

    /// Is something reported when the program ends?
    pub(crate) fn reports_at_exit(&self) -> bool {
        let files = self.coverage.is_some() || self.sanitize.is_some();
        self.stats || self.profile.is_some() || files
    }

    /// Allocations have the requested size rather than whole pages, so that accesses behind it are found.
    pub(crate) fn exact_sizes(&self) -> bool {
        self.memcheck || self.sanitize.is_some()
    }

    fn read() -> Result<Config, Invalid> {
        let names: Vec<_> = GPUS.iter().map(|gpu| gpu.name).collect();
        let gpu = read("WAVELIFT_GPU", &names.join(", "), Gpu::by_name)?;
        let engine = read("WAVELIFT_ENGINE", "jit or interp", |value| match value {
            "jit" => Some(EngineKind::Jit),
            "interp" => Some(EngineKind::Interp),
            _ => None,
        })?;
        let engine = engine.unwrap_or_default();
        let most = format!("a number of bytes, at most {MAX_LANE_SCRATCH}");
        let stack = read("WAVELIFT_STACK", &most, |value| {
            let bytes = value.parse().ok();
            bytes.filter(|&bytes| bytes <= MAX_LANE_SCRATCH)
        })?;
        let profile = get("WAVELIFT_PROFILE").map(|value| match value.to_str() {
            Some("-") => Destination::Stderr,
            _ => Destination::File(value.into()),
        });
        if profile.is_some() && engine == EngineKind::Interp {
            return Err(wrong(
                "WAVELIFT_ENGINE",
                "interp",
                "jit, since WAVELIFT_PROFILE is set and the interpreter does not profile",
            ));
        }
        let coverage = get("WAVELIFT_COVERAGE").map(PathBuf::from);
        if let (Some(path), Some(_)) = (&coverage, &profile) {
            let expected = "none, since WAVELIFT_PROFILE is set";
            return Err(wrong(
                "WAVELIFT_COVERAGE",
                &path.to_string_lossy(),
                expected,
            ));
        }
        let gpu = match gpu {
            Some(gpu) => gpu,
            None => Gpu::by_name(DEFAULT_GPU).expect("it is in the list"),
        };
        Ok(Config {
            gpu,
            threads: usize::try_from(number("WAVELIFT_THREADS", 0)?).unwrap_or(usize::MAX),
            stats: flag("WAVELIFT_STATS"),
            memcheck: flag("WAVELIFT_MEMCHECK"),
            engine,
            vram: mib(number("WAVELIFT_VRAM_MIB", 16 << 10)?),
            stack,
            timeout: read("WAVELIFT_TIMEOUT", "a positive number of seconds", seconds)?,
            cache: get("WAVELIFT_CACHE").map(PathBuf::from),
            cache_limit: mib(number("WAVELIFT_CACHE_MIB", DEFAULT_CACHE_MIB)?),
            profile,
            coverage,
            sanitize: Config::sanitize()?,
            record: Config::record()?,
        })
    }
}

/// Tells `wavelift exec --stats` that the program uses the GPU: removes the file that it made.
pub(crate) fn note_use() {
    if let Some(marker) = get("WAVELIFT_UNUSED") {
        // Another process of the program may have removed it.
        let _ = std::fs::remove_file(marker);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use runtime::object::TargetId;

    #[test]
    fn every_gpu_is_a_processor_that_runs() {
        for gpu in GPUS {
            let id: TargetId = format!("{}{}", gpu.name, gpu.features).parse().unwrap();
            assert_eq!(id.gfx(), Some(gpu.gfx), "{}", gpu.name);
        }
        assert!(Gpu::by_name(DEFAULT_GPU).is_some());
        let generic = |name| Gpu::by_name(name).and_then(Gpu::generic_isa);
        let isa = Some("amdgcn-amd-amdhsa--gfx9-generic:xnack-".to_owned());
        assert_eq!((generic("gfx900"), generic("gfx906")), (isa.clone(), isa));
        assert_eq!((generic("gfx803"), generic("gfx90a")), (None, None));
        assert_eq!(Gpu::by_name("gfx1030"), None);
    }

    #[test]
    fn times_are_positive_and_finite() {
        assert_eq!(seconds("1.5"), Some(Duration::from_millis(1500)));
        for text in ["0", "-1", "nan", "inf", "1e30", "", "1s"] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
