//! Compiled regions: CLIF to machine code, and the one call into it.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::{Context as CodegenContext, isa};
use cranelift_frontend::FunctionBuilderContext;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Linkage, Module};

use crate::abi::{Context, ExitCode, Site};
use crate::clif::{self, Options};
use crate::ir::{Func, verify};
use crate::profile::Shape;

/// Which host instructions may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HostLevel {
    /// All that this CPU has.
    Native,
    /// AVX2 and FMA, no AVX-512.
    Avx2,
    /// SSE4.1 and what x86-64 always has.
    Sse41,
}

/// Why a region was not compiled.
#[derive(Debug, thiserror::Error)]
pub enum LowerError {
    /// Cranelift does not run on this host.
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
}

/// A compiled region.
pub struct Compiled {
    code: *const u8,
    /// Host bytes.
    pub bytes: usize,
    /// Frame slots that [`Context::frame`] must have.
    pub frame_slots: u32,
    /// Guest instructions translated.
    pub guest_insts: u32,
    /// VGPRs from this number on are never written.
    pub vgprs: u32,
    /// Names of instructions that fall back to the interpreter.
    pub fallbacks: Vec<&'static str>,
    /// What was chosen, when the code profiles.
    pub shape: Option<Box<Shape>>,
    /// The counters that [`Shape`] names; none when the code does not profile.
    pub counters: Box<[AtomicU64]>,
    /// Referred to by the code.
    _sites: Box<[Site]>,
    /// Owns the code's memory.
    _jit: Arc<Mutex<JITModule>>,
}

#[expect(unsafe_code, reason = "compiled code is immutable and position-fixed")]
// SAFETY: `code` points into memory that `_jit` keeps mapped and that is never written again; `_sites`
// is only read.
unsafe impl Send for Compiled {}
#[expect(unsafe_code, reason = "compiled code is immutable and position-fixed")]
// SAFETY: as for Send.
unsafe impl Sync for Compiled {}

impl Compiled {
    /// Adds what one run counted.
    pub fn add_counts(&self, counts: &[u64]) {
        for (counter, &count) in self.counters.iter().zip(counts) {
            if count != 0 {
                counter.fetch_add(count, Relaxed);
            }
        }
    }

    /// Takes what was counted so far, beginning anew.
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
    /// Every pointer of `ctx` must be valid for what `abi` says of it: the wave, `frame_slots` frame
    /// slots, the counters of its shape, the LDS, the function table in the order of `functions`, and the arena range mapped.
    #[expect(unsafe_code, reason = "the one call into generated code")]
    pub unsafe fn run(&self, ctx: &mut Context) -> ExitCode {
        // SAFETY: the code was emitted with `clif::entry_signature`, whose only parameter is the
        // context; the caller vouches for its pointers.
        let entry: unsafe extern "C" fn(*mut Context) -> u64 =
            unsafe { std::mem::transmute(self.code) };
        // SAFETY: as above.
        let code = unsafe { entry(ctx) };
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

/// The compiler: one for many regions, used from one thread at a time.
pub struct Jit {
    module: Arc<Mutex<JITModule>>,
    contexts: FunctionBuilderContext,
    codegen: CodegenContext,
    count: usize,
}

impl Jit {
    /// A compiler for this host.
    pub fn new(level: HostLevel) -> Result<Jit, LowerError> {
        let host = |e: &dyn std::fmt::Display| LowerError::Host(e.to_string());
        let mut flags = settings::builder();
        for (name, value) in [
            ("opt_level", "none"),
            ("is_pic", "false"),
            (
                "enable_verifier",
                if cfg!(debug_assertions) {
                    "true"
                } else {
                    "false"
                },
            ),
            ("enable_probestack", "false"),
        ] {
            flags.set(name, value).map_err(|e| host(&e))?;
        }
        let mut builder = cranelift_native::builder().map_err(|e| host(&e))?;
        let off: &[&str] = match level {
            HostLevel::Native => &[],
            HostLevel::Avx2 => AVX512,
            HostLevel::Sse41 => BEYOND_SSE41,
        };
        for name in off.iter().chain(if level == HostLevel::Sse41 {
            AVX512
        } else {
            &[]
        }) {
            // A flag that this Cranelift does not know needs no switching off.
            let _ = builder.set(name, "false");
        }
        let isa: isa::OwnedTargetIsa = builder
            .finish(settings::Flags::new(flags))
            .map_err(|e| host(&e))?;
        let mut jit = JITBuilder::with_isa(isa, cranelift_module::default_libcall_names());
        // What Cranelift calls where the host has no fused multiply-add.
        jit.symbol("fmaf", fmaf as *const u8);
        jit.symbol("fma", fma as *const u8);
        let module = JITModule::new(jit);
        let codegen = module.make_context();
        Ok(Jit {
            module: Arc::new(Mutex::new(module)),
            contexts: FunctionBuilderContext::new(),
            codegen,
            count: 0,
        })
    }

    /// Compiles a region.
    pub fn compile(&mut self, f: Func, options: &Options) -> Result<Compiled, LowerError> {
        if cfg!(debug_assertions)
            && let Err(message) = verify::func(&f)
        {
            panic!(
                "bug: bad lane IR: {message}\n{}",
                crate::ir::print::func(&f)
            );
        }
        let entry = f.entry;
        let region = |message: String| LowerError::Region { entry, message };
        let sites: Box<[Site]> = f.sites.clone().into_boxed_slice();
        let mut module = self.module.lock().expect("no panic while compiling");
        let config = module.target_config();
        self.codegen.clear();
        let emitted = clif::emit(
            &f,
            options,
            sites.as_ptr(),
            &mut self.codegen.func,
            &mut self.contexts,
            config,
        );
        let signature = self.codegen.func.signature.clone();
        let name = format!("region{}", self.count);
        self.count += 1;
        let id = module
            .declare_function(&name, Linkage::Local, &signature)
            .map_err(|e| region(format!("{e:?}")))?;
        module
            .define_function(id, &mut self.codegen)
            .map_err(|e| region(format!("{e:?}")))?;
        let bytes = self
            .codegen
            .compiled_code()
            .map_or(0, |code| code.code_info().total_size as usize);
        let shape = emitted.notes.zip(self.codegen.compiled_code());
        let shape = shape.map(|(notes, code)| Box::new(notes.finish(code)));
        let counters = shape.as_ref().map_or(0, |shape| shape.counters);
        module
            .finalize_definitions()
            .map_err(|e| region(format!("{e:?}")))?;
        let code = module.get_finalized_function(id);
        let written = f.blocks.iter().flat_map(|b| &b.writes_v);
        let written = written.map(|&(n, _)| u32::from(n) + 1);
        Ok(Compiled {
            code,
            bytes,
            frame_slots: emitted.slots,
            guest_insts: f.blocks.iter().map(|b| b.guest_insts).sum(),
            vgprs: written.max().unwrap_or(0),
            fallbacks: f.fallbacks,
            shape,
            counters: std::iter::repeat_with(AtomicU64::default)
                .take(counters)
                .collect(),
            _sites: sites,
            _jit: Arc::clone(&self.module),
        })
    }
}

/// a * b + c with one rounding.
extern "C" fn fmaf(a: f32, b: f32, c: f32) -> f32 {
    a.mul_add(b, c)
}

/// a * b + c with one rounding.
extern "C" fn fma(a: f64, b: f64, c: f64) -> f64 {
    a.mul_add(b, c)
}

const AVX512: &[&str] = &[
    "has_avx512f",
    "has_avx512vl",
    "has_avx512dq",
    "has_avx512bitalg",
    "has_avx512vbmi",
];
const BEYOND_SSE41: &[&str] = &[
    "has_sse42",
    "has_avx",
    "has_avx2",
    "has_fma",
    "has_bmi1",
    "has_bmi2",
    "has_lzcnt",
    "has_popcnt",
];
