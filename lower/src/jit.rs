//! Compiled regions: lane IR to machine code, and the one call into it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};

use crate::abi::{Context, ExitCode, Site};
use crate::analysis::liveness::VectorBits;
use crate::backend::cranelift::Compiler;
use crate::backend::object::Object;
use crate::backend::placement::Placed;
use crate::backend::x64::{self, Refused};
use crate::host::{self, Host, Isa};
use crate::ir::{Block, FIRST_AGPR, Func, verify};
use crate::legalize::{self, Emitted};
use crate::options::Options;
use crate::profile::Shape;
use crate::vir;

/// Version of Cranelift.
pub const CRANELIFT_VERSION: &str = cranelift_codegen::VERSION;

/// The host instructions that may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HostLevel {
    /// All that this CPU has.
    Native,
    /// AVX2 and FMA, no AVX-512.
    Avx2,
    /// SSE4.1 and what x86-64 always has.
    Sse41,
}

impl HostLevel {
    /// The level for tests: SSE4.1 where the environment has `WAVELIFT_NO_AVX2`, which simulates a
    /// CPU without AVX2, and no AVX-512 where it has `WAVELIFT_NO_AVX512`.
    pub fn pretended(self) -> HostLevel {
        match self {
            HostLevel::Native | HostLevel::Avx2 if host::is_avx2_ruled_out() => HostLevel::Sse41,
            HostLevel::Native if host::is_avx512_ruled_out() => HostLevel::Avx2,
            level => level,
        }
    }
}

/// Register allocation algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Allocation {
    /// For the baseline tier: one pass. It takes a third of the time; the code is slower.
    Baseline,
    /// Of the optimizing tier.
    Optimizing,
}

/// Why a region was not compiled.
#[derive(Debug, thiserror::Error)]
pub enum LowerError {
    /// Cranelift does not support this host.
    #[error("no code generator for this host: {0}")]
    Host(String),
    /// Cranelift refused the region.
    #[error("cannot compile the region at 0x{entry:x}: {message}")]
    Region {
        /// Guest address of the region.
        entry: u64,
        /// Cranelift's words.
        message: String,
    },
    /// No memory for code is available.
    #[error("no memory for host code: {0}")]
    Memory(std::io::Error),
}

/// Why a region was not translated.
enum Failed {
    /// The region breaks a rule of the lane IR.
    Broken(verify::Broken),
    Lower(LowerError),
}

impl From<verify::Broken> for Failed {
    fn from(broken: verify::Broken) -> Failed {
        Failed::Broken(broken)
    }
}

impl From<LowerError> for Failed {
    fn from(error: LowerError) -> Failed {
        Failed::Lower(error)
    }
}

/// A placed region.
pub struct Compiled {
    /// The placed code.
    placed: Placed,
    object: Arc<Object>,
    /// Names of instructions that fall back to the interpreter.
    pub fallbacks: Vec<&'static str>,
    /// The counters declared by its [`Shape`]; empty without one.
    pub counters: Box<[AtomicU64]>,
    /// Its execution count, maintained by the caller.
    pub heat: AtomicU32,
    /// Referred to by the code.
    _sites: Box<[Site]>,
}

impl Compiled {
    /// Places a region. Its code object is loaded at `base`; `sites` are the instructions at the
    /// object's sites, which must be sound.
    pub fn new(
        object: Arc<Object>,
        base: u64,
        sites: Vec<Site>,
        fallbacks: Vec<&'static str>,
    ) -> std::io::Result<Compiled> {
        assert!(object.is_sound(), "bug: an object that is not sound");
        assert_eq!(
            sites.len(),
            object.sites.len(),
            "bug: not the object's sites"
        );
        let sites = sites.into_boxed_slice();
        let placed = Placed::new(&object, base, sites.as_ptr() as u64)?;
        let counters = object.shape.as_ref().map_or(0, |shape| shape.counters);
        Ok(Compiled {
            placed,
            fallbacks,
            counters: std::iter::repeat_with(AtomicU64::default)
                .take(counters)
                .collect(),
            heat: AtomicU32::new(0),
            _sites: sites,
            object,
        })
    }

    /// The code before placement.
    pub fn object(&self) -> &Object {
        &self.object
    }

    /// Bytes of host code.
    pub fn bytes(&self) -> usize {
        self.object.code.len()
    }

    /// Did the wide back end compile the code?
    pub fn is_wide(&self) -> bool {
        self.object.wide
    }

    /// What the wide back end refused, if it was requested and Cranelift compiled the code.
    pub fn refused(&self) -> Option<&str> {
        self.object.refused.as_deref()
    }

    /// Frame slots that [`Context::frame`] must have.
    pub fn frame_slots(&self) -> u32 {
        self.object.frame_slots
    }

    /// Guest instructions translated.
    pub fn guest_insts(&self) -> u32 {
        self.object.guest_insts
    }

    /// Number of the first VGPR from which on none is written.
    pub fn vgprs(&self) -> u32 {
        self.object.vgprs
    }

    /// Number of the first accumulation register from which on none is written.
    pub fn agprs(&self) -> u32 {
        self.object.agprs
    }

    /// Vector registers that are read before they are written; `full`: EXEC is all ones at the
    /// entry.
    pub fn reads(&self, full: bool) -> &VectorBits {
        &self.object.reads[usize::from(full)]
    }

    /// The first vector register that the code writes to the wave, [`VECTOR_REGISTERS`](crate::ir::VECTOR_REGISTERS) when it
    /// writes none.
    pub fn writes_from(&self) -> u32 {
        self.object.writes_from
    }

    /// Does the code switch to other waves at barriers and ends? See [`Context::last`].
    pub fn switches_waves(&self) -> bool {
        self.object.switches_waves
    }

    /// Has the region no loop, so that a wave burns no fuel in it?
    pub fn straight(&self) -> bool {
        self.object.straight
    }

    /// The chosen shapes, if the options requested them.
    pub fn shape(&self) -> Option<&Shape> {
        self.object.shape.as_deref()
    }

    /// Adds the counts of one run.
    pub fn add_counts(&self, counts: &[u64]) {
        for (counter, &count) in self.counters.iter().zip(counts) {
            if count != 0 {
                counter.fetch_add(count, Relaxed);
            }
        }
    }

    /// Takes and resets the counts.
    pub fn take_counts(&self) -> Vec<u64> {
        self.counters
            .iter()
            .map(|counter| counter.swap(0, Relaxed))
            .collect()
    }

    /// Runs the region until it leaves.
    ///
    /// # Safety
    ///
    /// Every pointer of `ctx` must be valid as documented in `abi`: the wave, `frame_slots` frame
    /// slots, the counters of its shape, the LDS, the function table in the order of `functions`,
    /// and the arena range mapped.
    #[inline]
    #[expect(unsafe_code, reason = "the one call into generated code")]
    pub unsafe fn run(&self, ctx: &mut Context) -> ExitCode {
        // SAFETY: the caller guarantees the context's pointers.
        let code = unsafe { self.placed.entry()(ctx) };
        match code as u32 {
            0 => ExitCode::Continue,
            1 => ExitCode::End,
            2 => ExitCode::Barrier,
            3 => ExitCode::Yield,
            4 => ExitCode::Fault,
            5 => ExitCode::Interpret,
            other => panic!("bug: compiled code returned {other}"),
        }
    }
}

/// The compiler: reused for many regions, one thread at a time.
pub struct Jit {
    /// By [`Allocation`].
    isa: [OwnedTargetIsa; 2],
    func: vir::Func,
    ssa: vir::Ssa,
    cranelift: Compiler,
    space: x64::Space,
}

impl Jit {
    /// A compiler for this host.
    pub fn new(level: HostLevel) -> Result<Jit, LowerError> {
        Ok(Jit {
            isa: [isa(level, "single_pass")?, isa(level, "backtracking")?],
            func: vir::Func::new(),
            ssa: vir::Ssa::default(),
            cranelift: Compiler::new(),
            space: x64::Space::default(),
        })
    }

    /// Everything about the host that affects the generated code, as text.
    pub fn host(&self) -> String {
        let [_, isa] = &self.isa;
        let flags = isa.isa_flags();
        let flags: Vec<String> = flags.iter().map(ToString::to_string).collect();
        format!("{} {} {}", isa.triple(), isa.flags(), flags.join(" "))
    }

    /// Compiles a region whose code object is loaded at `base`, without placing it. A region that
    /// breaks a rule of the lane IR, which is a bug of the translator, is not compiled: its first
    /// instruction is left to the interpreter.
    pub fn object(
        &mut self,
        f: &Func,
        options: &Options,
        base: u64,
        allocation: Allocation,
    ) -> Result<Object, LowerError> {
        match self.translated(f, options, base, allocation) {
            Err(Failed::Lower(error)) => Err(error),
            Err(Failed::Broken(broken)) => {
                let blocks = || {
                    f.blocks
                        .iter()
                        .map(crate::ir::text::block)
                        .collect::<String>()
                };
                debug_assert!(false, "bug: bad lane IR: {broken}\n{}", blocks());
                self.left_out(f, options, base, allocation, &broken)
            }
            Ok(object) => Ok(object),
        }
    }

    /// The object of a region that breaks a rule.
    fn left_out(
        &mut self,
        f: &Func,
        options: &Options,
        base: u64,
        allocation: Allocation,
        broken: &verify::Broken,
    ) -> Result<Object, LowerError> {
        let region = |message: String| LowerError::Region {
            entry: f.entry,
            message,
        };
        // The region's translation in the other tier has the same sites.
        let none = Func::interpreted(f);
        let object = self.translated(&none, options, base, allocation);
        let object = object.map_err(|failed| match failed {
            Failed::Lower(error) => error,
            Failed::Broken(broken) => region(broken.to_string()),
        })?;
        Ok(Object {
            refused: Some(format!("bug: lane IR: {broken}")),
            ..object
        })
    }

    /// The object of a valid region.
    fn translated(
        &mut self,
        f: &Func,
        options: &Options,
        base: u64,
        allocation: Allocation,
    ) -> Result<Object, Failed> {
        let region = |message: String| LowerError::Region {
            entry: f.entry,
            message,
        };
        let options = &match allocation {
            Allocation::Baseline => options.of_baseline(),
            Allocation::Optimizing => *options,
        };
        let mut refused = None;
        if let Some(isa) = options.host.isa {
            match self.wide_object(f, options, (base, isa), allocation)? {
                Ok(object) => return Ok(object),
                Err(Refused(what)) => refused = Some(what),
            }
        }
        let options = &Options {
            host: Host {
                isa: None,
                ..options.host
            },
            ..*options
        };
        let emitted = self.emit(f, options, base)?;
        let isa = &self.isa[allocation as usize];
        let (clif, compiled) = self
            .cranelift
            .compile(&self.func, &**isa, false)
            .map_err(region)?;
        let sizes = compiled.buffer.get_srclocs_sorted().iter();
        let sizes: Vec<(u32, u32)> = sizes
            .map(|range| (range.loc.bits(), range.end - range.start))
            .collect();
        let object = Object::new(clif, compiled).map_err(region)?;
        let object = Object { refused, ..object };
        Ok(described(object, f, base, emitted, sizes))
    }

    /// Writes a region's vector IR.
    fn emit(&mut self, f: &Func, options: &Options, base: u64) -> Result<Emitted, verify::Broken> {
        legalize::emit(f, options, base, &mut self.func, &mut self.ssa)
    }

    /// As [`Jit::object`], by the wide back end; Cranelift compiles what that refuses.
    fn wide_object(
        &mut self,
        f: &Func,
        options: &Options,
        (base, isa): (u64, Isa),
        allocation: Allocation,
    ) -> Result<Result<Object, Refused>, verify::Broken> {
        let emitted = self.emit(f, options, base)?;
        let baseline = allocation == Allocation::Baseline;
        let code = x64::compile(&self.func, emitted.wave, isa, baseline, &mut self.space);
        let code = match code {
            Ok(code) => code,
            Err(refused) => return Ok(Err(refused)),
        };
        let object = Object {
            code: code.bytes.into(),
            patches: code.patches,
            wide: true,
            ..Object::default()
        };
        Ok(Ok(described(object, f, base, emitted, code.locs)))
    }

    /// Compiles and places a region.
    pub fn compile(&mut self, f: Func, options: &Options) -> Result<Compiled, LowerError> {
        let object = self.object(&f, options, 0, Allocation::Optimizing)?;
        Compiled::new(Arc::new(object), 0, f.sites, f.fallbacks).map_err(LowerError::Memory)
    }
}

/// The object with the region's metadata; `sizes` are bytes of code by source location.
fn described(
    object: Object,
    f: &Func,
    base: u64,
    emitted: Emitted,
    sizes: Vec<(u32, u32)>,
) -> Object {
    let written = f.blocks.iter().flat_map(Block::written_vectors);
    let (accumulation, plain): (Vec<u16>, Vec<u16>) = written.partition(|&n| n >= FIRST_AGPR);
    let behind = |last: Option<u16>| last.map_or(0, |n| u32::from(n % FIRST_AGPR) + 1);
    let sites = f.sites.iter();
    let shape = emitted.notes.map(|notes| Box::new(notes.of_pieces(sizes)));
    Object {
        frame_slots: emitted.slots,
        reads: emitted.reads,
        writes_from: emitted.writes_from,
        switches_waves: emitted.relays,
        straight: emitted.straight,
        vgprs: behind(plain.into_iter().max()),
        agprs: behind(accumulation.into_iter().max()),
        guest_insts: f.blocks.iter().map(|b| b.guest_insts).sum(),
        sites: sites.map(|site| site.pc.wrapping_sub(base)).collect(),
        fallbacks: f.fallbacks.iter().map(|&name| name.to_owned()).collect(),
        shape,
        ..object
    }
}

/// The ISA with a register allocation algorithm.
fn isa(level: HostLevel, allocation: &str) -> Result<OwnedTargetIsa, LowerError> {
    let host = |e: &dyn std::fmt::Display| LowerError::Host(e.to_string());
    let verify = if cfg!(debug_assertions) {
        "true"
    } else {
        "false"
    };
    let mut flags = settings::builder();
    for (name, value) in [
        ("opt_level", "none"),
        ("is_pic", "false"),
        ("enable_verifier", verify),
        ("enable_probestack", "false"),
        ("regalloc_algorithm", allocation),
    ] {
        flags.set(name, value).map_err(|e| host(&e))?;
    }
    let mut builder = cranelift_native::builder().map_err(|e| host(&e))?;
    let off: &[&[&str]] = match level {
        HostLevel::Native => &[],
        HostLevel::Avx2 => &[AVX512],
        HostLevel::Sse41 => &[BEYOND_SSE41, AVX512],
    };
    for name in off.iter().copied().flatten() {
        // A flag that this Cranelift version lacks needs no disabling.
        let _ = builder.set(name, "false");
    }
    builder
        .finish(settings::Flags::new(flags))
        .map_err(|e| host(&e))
}

const AVX512: &[&str] = &[
    "has_avx512f",
    "has_avx512vl",
    "has_avx512dq",
    "has_avx512bitalg",
    "has_avx512vbmi",
];
/// Features of x86-64-v3 beyond SSE4.1.
pub(crate) const BEYOND_SSE41: &[&str] = &[
    "has_sse42",
    "has_avx",
    "has_avx2",
    "has_fma",
    "has_bmi1",
    "has_bmi2",
    "has_lzcnt",
    "has_popcnt",
];

#[cfg(test)]
mod tests;
