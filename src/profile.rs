//! Profiles of translated code: where kernels spend their time, and how they were translated.
//!
//! One run cannot both time and count, since counters change the code. So a profile is made of two
//! runs of the same launches, on a device each ([`Profiling`](crate::Profiling)), which are joined:
//!
//! ```
//! use wavelift::profile::Run;
//! use wavelift::{Device, DeviceOptions, EngineOptions, Launch, Module, Profiling};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let run = |profiling| -> Result<Run, Box<dyn std::error::Error>> {
//!     let profile = Some(profiling);
//!     let engine_options = EngineOptions { profile, ..EngineOptions::default() };
//!     let device = Device::with_options(DeviceOptions { engine_options, ..DeviceOptions::default() })?;
//!     let module = Module::load(&device, &std::fs::read("examples/saxpy/saxpy.gfx900.co")?)?;
//!     let (saxpy, x) = (module.kernel("saxpy")?, device.buffer(&[1.0f32; 256])?);
//!     let mut run = Run::new(&device);
//!     let args = [(&x).into(), (&x).into(), 2.0f32.into(), 256u32.into()];
//!     let stats = device.launch(&saxpy, &Launch::new(256, 256), &args)?;
//!     run.add(&saxpy, 1, stats.waves);
//!     Ok(run)
//! };
//! let profiles = run(Profiling::Times)?.with(&run(Profiling::Counts)?);
//! assert_eq!((profiles[0].kernel.as_str(), profiles[0].waves), ("saxpy", 4));
//! println!("{}", profiles[0]);
//! # Ok(())
//! # }
//! ```

use std::fmt;

use runtime::object::Accumulation;

mod bounds;
mod collect;
mod html;
mod layout;
mod machine;
mod reasons;
mod shape;

pub use collect::{KernelProfile, Run, Timed};
pub use html::{fragment, page};
pub use runtime::jit::profile::*;

impl fmt::Debug for KernelProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let KernelProfile {
            kernel, launches, ..
        } = self;
        write!(f, "KernelProfile({kernel}, {launches} launches)")
    }
}

/// A number of blocks.
struct Blocks(usize);

impl fmt::Display for Blocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            1 => f.write_str("1 block"),
            n => write!(f, "{n} blocks"),
        }
    }
}

/// Seconds for a reader.
struct Seconds(f64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            s if s < 1e-3 => write!(f, "{:.1} us", s * 1e6),
            s if s < 1.0 => write!(f, "{:.2} ms", s * 1e3),
            s => write!(f, "{s:.3} s"),
        }
    }
}

impl KernelProfile {
    /// The registers of a kernel with accumulation registers, in words.
    fn accumulation(&self) -> Option<String> {
        let accumulation = Accumulation {
            registers: self.agprs,
            offset: self.accum_offset,
        };
        (self.agprs > 0).then(|| format!("{} VGPRs, {accumulation}", self.vgprs))
    }
}

impl fmt::Display for KernelProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "profile of {}: {} launch{}, {} waves, {} instructions ({} by lane), {}",
            self.kernel,
            self.launches,
            if self.launches == 1 { "" } else { "es" },
            self.waves,
            self.instructions,
            self.lane_instructions,
            Seconds(self.seconds),
        )?;
        if let Some(text) = self.accumulation() {
            writeln!(f, "  {text}")?;
        }
        for reason in &self.reasons {
            writeln!(
                f,
                "  {:4.1} % of time in {} where {} (most: {})",
                100.0 * reason.share,
                Blocks(reason.blocks),
                reason.what,
                reason.place,
            )?;
        }
        for region in &self.regions {
            writeln!(
                f,
                "  region {}: {}, {} instructions to {} host bytes, entered {} times, {:.1} % of time",
                region.place,
                region.how(),
                region.guest_instructions,
                region.host_bytes,
                region.entered,
                100.0 * region.share,
            )?;
            if let Some(only) = region.only {
                writeln!(f, "    {}", only.text())?;
            }
            if !region.fallbacks.is_empty() {
                writeln!(f, "    falls back: {}", region.fallbacks.join(", "))?;
            }
            for block in &region.blocks {
                writeln!(
                    f,
                    "    block {}: {} instructions, {} executions, {}{:.1} % of time",
                    block.place,
                    block.guest_instructions,
                    block.executions,
                    block
                        .mean_lanes
                        .map_or(String::new(), |lanes| format!("{lanes:.1} lanes, ")),
                    100.0 * block.share,
                )?;
                for line in block.loops() {
                    writeln!(f, "      {line}")?;
                }
                for access in &block.accesses {
                    writeln!(f, "      {}  {}: {}", access.place, access.text, access.how)?;
                }
            }
        }
        Ok(())
    }
}
