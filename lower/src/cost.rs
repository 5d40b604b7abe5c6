//! Static cost of rows and blocks: host instructions of one translated instruction, and of a
//! region's blocks by shape, for a fixed host, so that a change of the translation shows as a
//! difference of a golden list. Nothing here runs code.

use cranelift_codegen::CompiledCode;
use cranelift_codegen::isa::{self, OwnedTargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use frontend::desc::InstDesc;
use frontend::state::mode;
use frontend::target::Gfx;

use crate::backend::cranelift::Compiler;
use crate::backend::x64;
use crate::host::{Host, Isa};
use crate::ir::build::Build;
use crate::ir::{Func, Target, Term};
use crate::jit::{Allocation, BEYOND_SSE41, LowerError};
use crate::legalize::profile::Notes;
use crate::legalize::{self, Emitted};
use crate::lift::arms::{Lowered, Sites, lower};
use crate::lift::guest::Guest;
use crate::lift::support::{is_control, plain};
use crate::options::{Forms, Options};
use crate::profile::BlockShape;
use crate::vir;

/// Host instructions of one guest instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// In the loops over lane groups with EXEC all ones: for four lanes, including the loop
    /// overhead. 0 without such loops.
    pub full: usize,
    /// In the loops under a mask, for four lanes.
    pub masked: usize,
    /// In the whole function.
    pub all: usize,
    /// Of those, calls of the runtime's functions.
    pub calls: usize,
}

/// A compiler for the x86-64-v3 level, regardless of the CPU.
pub struct Costs {
    isa: OwnedTargetIsa,
    func: vir::Func,
    ssa: vir::Ssa,
    cranelift: Compiler,
}

/// Features up to SSE4.1 that x86-64-v3 has and baseline x86-64 lacks.
const UP_TO_SSE41: [&str; 3] = ["has_sse3", "has_ssse3", "has_sse41"];

impl Costs {
    /// The compiler.
    pub fn new() -> Result<Costs, LowerError> {
        let host = |e: &dyn std::fmt::Display| LowerError::Host(e.to_string());
        let mut flags = settings::builder();
        for (name, value) in [("opt_level", "none"), ("enable_probestack", "false")] {
            flags.set(name, value).map_err(|e| host(&e))?;
        }
        let mut builder = isa::lookup_by_name("x86_64-unknown-linux-gnu").map_err(|e| host(&e))?;
        for name in UP_TO_SSE41.iter().chain(BEYOND_SSE41) {
            builder.set(name, "true").map_err(|e| host(&e))?;
        }
        let isa = builder
            .finish(settings::Flags::new(flags))
            .map_err(|e| host(&e))?;
        Ok(Costs {
            isa,
            func: vir::Func::new(),
            ssa: vir::Ssa::default(),
            cranelift: Compiler::new(),
        })
    }

    /// The cost of a row's plain instance, with registers everywhere; `None` where no arm translates it.
    pub fn row(&mut self, desc: &'static InstDesc, gfx: Gfx) -> Result<Option<Cost>, LowerError> {
        let Some(f) = function(desc, gfx) else {
            return Ok(None);
        };
        let both = measure(&self.text(&f, false)?);
        let masked = measure(&self.text(&f, true)?);
        // Loops that need no mask are in both.
        let full = match both.loops - masked.loops {
            0 => both.loops,
            full => full,
        };
        Ok(Some(Cost {
            full,
            masked: masked.loops,
            all: both.all,
            calls: both.calls,
        }))
    }

    /// The shapes of a region's blocks, with host instructions in place of host bytes: `count`
    /// counts those of a piece of host code, which begins and ends at instruction boundaries.
    /// `start` are the facts at the region's beginning: bits of `WaveState::START`.
    pub fn blocks(
        &mut self,
        f: &Func,
        start: u64,
        count: &dyn Fn(&[u8]) -> u32,
    ) -> Result<Vec<BlockShape>, LowerError> {
        let options = Options {
            start,
            shapes: true,
            ..Options::default()
        };
        let (notes, code) = self.compile(f, &options)?;
        let bytes = code.buffer.data();
        let notes = notes.expect("notes were asked for");
        let pieces = code.buffer.get_srclocs_sorted().iter().map(|range| {
            let piece = &bytes[range.start as usize..range.end as usize];
            (range.loc.bits(), count(piece))
        });
        Ok(notes.of_pieces(pieces).blocks)
    }

    /// As [`Costs::blocks`], by the wide back end.
    pub fn wide_blocks(
        &mut self,
        f: &Func,
        start: u64,
        isa: Isa,
        count: &dyn Fn(&[u8]) -> u32,
    ) -> Result<Vec<BlockShape>, LowerError> {
        let options = Options {
            start,
            shapes: true,
            host: Host::of(Some(isa)),
            ..Options::default()
        };
        let (emitted, code) = self.wide(f, &options, isa, Allocation::Optimizing)?;
        let code = code.map_err(|refused| LowerError::Region {
            entry: f.entry,
            message: refused.to_string(),
        })?;
        let mut at = code.first;
        let mut pieces = Vec::with_capacity(code.locs.len());
        for (loc, bytes) in code.locs {
            let end = at + bytes as usize;
            pieces.push((loc, count(&code.bytes[at..end])));
            at = end;
        }
        let notes = emitted.notes.expect("notes were asked for");
        Ok(notes.of_pieces(pieces).blocks)
    }

    /// What the wide back end refuses of a region in a tier; `None` if it compiles all of it.
    pub fn refusal(
        &mut self,
        f: &Func,
        start: u64,
        isa: Isa,
        tier: Allocation,
    ) -> Result<Option<String>, LowerError> {
        let options = Options {
            start,
            host: Host::of(Some(isa)),
            ..Options::default()
        };
        let options = match tier {
            Allocation::Baseline => options.of_baseline(),
            Allocation::Optimizing => options,
        };
        let (_, code) = self.wide(f, &options, isa, tier)?;
        Ok(code.err().map(|refused| refused.to_string()))
    }

    /// Compiles a region by the wide back end.
    fn wide(
        &mut self,
        f: &Func,
        options: &Options,
        isa: Isa,
        tier: Allocation,
    ) -> Result<(Emitted, Result<x64::Code, x64::Refused>), LowerError> {
        let emitted = self.emit(f, options)?;
        let baseline = tier == Allocation::Baseline;
        let space = &mut x64::Space::default();
        let code = x64::compile(&self.func, emitted.wave, isa, baseline, space);
        Ok((emitted, code))
    }

    /// The host code as Cranelift prints it before encoding.
    fn text(&mut self, f: &Func, always_masked: bool) -> Result<String, LowerError> {
        let options = Options {
            group: Some(4),
            without: match always_masked {
                true => Forms::UNMASKED,
                false => Forms::empty(),
            },
            ..Options::default()
        };
        let text = self.compile(f, &options)?.1.vcode.clone();
        text.ok_or_else(|| LowerError::Region {
            entry: f.entry,
            message: "Cranelift printed no code".to_owned(),
        })
    }

    /// Writes the region's vector IR.
    fn emit(&mut self, f: &Func, options: &Options) -> Result<Emitted, LowerError> {
        let emitted = legalize::emit(f, options, 0, &mut self.func, &mut self.ssa);
        emitted.map_err(|broken| LowerError::Region {
            entry: f.entry,
            message: broken.to_string(),
        })
    }

    fn compile(
        &mut self,
        f: &Func,
        options: &Options,
    ) -> Result<(Option<Notes>, &CompiledCode), LowerError> {
        let notes = self.emit(f, options)?.notes;
        let compiled = self
            .cranelift
            .compile(&self.func, &*self.isa, notes.is_none());
        let (_, code) = compiled.map_err(|message| LowerError::Region {
            entry: f.entry,
            message,
        })?;
        Ok((notes, code))
    }
}

/// A region of one instruction; every register is live after it.
fn function(desc: &'static InstDesc, gfx: Gfx) -> Option<Func> {
    const MODE: u32 = mode::DENORM_F32 | mode::DENORM_F16_F64 | mode::IEEE | mode::DX10_CLAMP;
    let b = Build::new();
    let mut g = Guest::new(&b, gfx, MODE);
    let mut sites = Sites::default();
    if is_control(desc.op) {
        return None;
    }
    let inst = plain(desc, gfx);
    if lower(&mut g, &inst, 0x1000, &mut sites) != Lowered::Done {
        return None;
    }
    let exit = Target::Exit {
        pc: 0x1008,
        back: false,
    };
    let block = g.block(0x1000, 1, Term::Jump(exit));
    Some(Func::of(block, MODE, sites.0))
}

/// Number of the block that a line begins, or a label names.
fn number(text: &str, before: &str) -> Option<usize> {
    let digits = text.strip_prefix(before)?;
    let end = digits
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(digits.len());
    digits[..end].parse().ok()
}

/// Instructions of a text.
struct Counts {
    loops: usize,
    all: usize,
    calls: usize,
}

/// Counts instructions; a loop is the code between a block and a later jump back to it.
fn measure(text: &str) -> Counts {
    let mut blocks: Vec<(usize, usize)> = Vec::new();
    let mut loops: Vec<(usize, usize)> = Vec::new();
    let mut calls = 0;
    for line in text.lines() {
        let line = line.trim();
        if let Some(n) = number(line, "block").filter(|_| line.ends_with(':')) {
            blocks.push((n, 0));
            continue;
        }
        let Some(&mut (here, ref mut count)) = blocks.last_mut() else {
            continue;
        };
        // Removed by the final emission: comments, and jumps to the next block.
        let jump = line.starts_with("jmp");
        let note = ["uninit", "unwind", ";"]
            .iter()
            .any(|n| line.starts_with(n));
        *count += usize::from(!line.is_empty() && !note && !jump);
        calls += usize::from(line.starts_with("call"));
        if line.starts_with('j') {
            let labels = line
                .split([' ', ';'])
                .filter_map(|word| number(word, "label"));
            loops.extend(labels.filter(|&to| to <= here).map(|to| (to, here)));
        }
    }
    let looped = |n: usize| loops.iter().any(|&(from, to)| (from..=to).contains(&n));
    let inside = blocks.iter().filter(|b| looped(b.0));
    Counts {
        loops: inside.map(|b| b.1).sum(),
        all: blocks.iter().map(|b| b.1).sum(),
        calls,
    }
}
