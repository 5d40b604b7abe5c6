//! Configuration from the environment.

use std::env;

use frontend::Gfx;
use runtime::dispatch::MAX_LANE_SCRATCH;
use runtime::engine::EngineKind;

use crate::guard::say;

/// The GPU that programs see when nothing is said.
const DEFAULT_GPU: &str = "gfx906";

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
}

/// The GPUs.
#[rustfmt::skip]
pub(crate) static GPUS: &[Gpu] = &[
    Gpu { name: "gfx700", features: "", gfx: Gfx::Gfx700, chip: 0x1304, full_profile: true },
    Gpu { name: "gfx803", features: "", gfx: Gfx::Gfx803, chip: 0x67df, full_profile: false },
    Gpu { name: "gfx900", features: ":xnack-", gfx: Gfx::Gfx900, chip: 0x687f, full_profile: false },
    Gpu { name: "gfx906", features: ":sramecc-:xnack-", gfx: Gfx::Gfx906, chip: 0x66af, full_profile: false },
    Gpu { name: "gfx908", features: ":sramecc+:xnack-", gfx: Gfx::Gfx908, chip: 0x738c, full_profile: false },
    Gpu { name: "gfx90a", features: ":sramecc+:xnack-", gfx: Gfx::Gfx90a, chip: 0x7408, full_profile: false },
];

impl Gpu {
    /// Name of the instruction set.
    pub(crate) fn isa(&self) -> String {
        format!("amdgcn-amd-amdhsa--{}{}", self.name, self.features)
    }

    fn by_name(name: &str) -> Option<&'static Gpu> {
        GPUS.iter().find(|gpu| gpu.name == name)
    }
}

/// The settings of this process.
#[derive(Clone, Copy, Debug)]
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
}

impl Config {
    /// From `WAVELIFT_GPU`, `WAVELIFT_THREADS`, `WAVELIFT_STATS`, `WAVELIFT_MEMCHECK`,
    /// `WAVELIFT_ENGINE`, `WAVELIFT_VRAM_MIB` and `WAVELIFT_STACK`. Invalid values are reported,
    /// and give `None`.
    pub(crate) fn from_env() -> Option<Config> {
        let get = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        let wrong = |name: &str, value: &str, expected: &str| {
            say(format_args!("{name}={value}: expected {expected}"));
        };
        let number = |name: &str, default: u64| match get(name) {
            None => Some(default),
            Some(value) => {
                let number = value.parse().ok();
                if number.is_none() {
                    wrong(name, &value, "a number");
                }
                number
            }
        };
        let flag = |name: &str| get(name).is_some_and(|value| value != "0");
        let name = get("WAVELIFT_GPU").unwrap_or_else(|| DEFAULT_GPU.to_owned());
        let gpu = Gpu::by_name(&name);
        if gpu.is_none() {
            let names: Vec<_> = GPUS.iter().map(|gpu| gpu.name).collect();
            wrong("WAVELIFT_GPU", &name, &names.join(", "));
        }
        let engine = match get("WAVELIFT_ENGINE").as_deref() {
            None => EngineKind::default(),
            Some("jit") => EngineKind::Jit,
            Some("interp") => EngineKind::Interp,
            Some(other) => {
                wrong("WAVELIFT_ENGINE", other, "jit or interp");
                return None;
            }
        };
        let stack = match get("WAVELIFT_STACK") {
            None => None,
            Some(value) => match value.parse() {
                Ok(bytes) if bytes <= MAX_LANE_SCRATCH => Some(bytes),
                _ => {
                    let most = format!("a number of bytes, at most {MAX_LANE_SCRATCH}");
                    wrong("WAVELIFT_STACK", &value, &most);
                    return None;
                }
            },
        };
        Some(Config {
            gpu: gpu?,
            threads: usize::try_from(number("WAVELIFT_THREADS", 0)?).ok()?,
            stats: flag("WAVELIFT_STATS"),
            memcheck: flag("WAVELIFT_MEMCHECK"),
            engine,
            vram: number("WAVELIFT_VRAM_MIB", 16 << 10)?.saturating_mul(1 << 20),
            stack,
        })
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
        assert_eq!(Gpu::by_name("gfx1030"), None);
    }
}
