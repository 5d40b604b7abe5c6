//! Host instructions of the loops of the benchmarks' kernels.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use frontend::WaveState;
use iced_x86::{Decoder, DecoderOptions};
use lower::cost::Costs;
use lower::host::Isa;
use lower::ir::Func;
use lower::jit::Allocation;
use lower::lift::region::{self, Request};
use lower::profile::{Access, BlockShape};
use runtime::jit::JitOptions;
use runtime::object::{self, Segment};
use wavelift::manifest::Manifest;

const HEAD: &str = "\
# Host instructions of the loops of the kernels in benches/manifests/small on gfx900, for x86-64-v3. A line is a
# block in a loop, or the longest block of a kernel without loops: its guest instructions; then host
# instructions, once for the wave (wave), in each of its loops over lane groups as lanes x instructions with EXEC
# all ones (full) and under a mask (masked), and of the block as a loop inside the lane groups (inside); then all
# of a turn of 64 lanes in each of these shapes; then memory instructions inline and by call. Code that is out of
# line, for what is rare, is counted with the rest, and code before and behind a loop inside the groups with it.
# A region is named where a kernel has several. Written by tests/exec/cost/hot_loops.rs, BLESS=1.
# block guest wave full masked inside | full masked inside | inline called
";

/// Dispatches by kernel: the code object, the kernel, and what its waves begin with.
pub(crate) fn kernels() -> BTreeMap<(PathBuf, String), u64> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/manifests/small");
    let mut kernels = BTreeMap::new();
    for entry in std::fs::read_dir(&folder).expect("the folder is there") {
        let path = entry.expect("it can be read").path();
        if !path.to_string_lossy().ends_with(".gfx900.toml") {
            continue;
        }
        let manifest = Manifest::load(&path).expect("the manifest is good");
        for dispatch in &manifest.dispatches {
            let [width, height, depth] = dispatch.workgroup;
            let start = if height * depth == 1 || width % 64 == 0 {
                WaveState::V0_COUNTS | WaveState::V12_UNIFORM
            } else if width.is_power_of_two() && (4..64).contains(&width) {
                u64::from(width.ilog2()) << WaveState::ROWS.trailing_zeros()
            } else {
                0
            };
            let object = manifest.folder().join(&dispatch.code_object);
            let object = object.canonicalize().expect("the code object is there");
            kernels.insert((object, dispatch.kernel.clone()), start);
        }
    }
    kernels
}

/// Is a block in a loop of its region?
fn loops(func: &Func) -> Vec<bool> {
    let next = |block: usize| func.blocks[block].term.targets().filter_map(|t| t.block());
    let again = |block: usize| {
        let mut seen = vec![false; func.blocks.len()];
        let mut open: Vec<usize> = next(block).collect();
        while let Some(at) = open.pop() {
            if !std::mem::replace(&mut seen[at], true) {
                open.extend(next(at));
            }
        }
        seen[block]
    };
    (0..func.blocks.len()).map(again).collect()
}

/// A line about a block.
fn line(shape: &BlockShape) -> String {
    let list = |parts: &[(u8, u32)]| match parts {
        [] => "-".to_owned(),
        parts => {
            let parts: Vec<_> = parts
                .iter()
                .map(|(n, each)| format!("{n}x{each}"))
                .collect();
            parts.join("+")
        }
    };
    let turn = |once: u32, parts: &[(u8, u32)]| {
        let parts = parts.iter().map(|&(n, each)| 64 / u32::from(n) * each);
        once + parts.sum::<u32>()
    };
    let full = |s: &lower::profile::SegmentShape| (s.group, s.unmasked_bytes);
    let masked = |s: &lower::profile::SegmentShape| (s.masked_group, s.masked_bytes);
    let segments = shape.segments.iter();
    let unmasked: Vec<_> = segments.clone().filter(|s| s.unmasked).map(full).collect();
    let with_mask = segments.clone().filter(|s| s.masked.is_some());
    let with_mask: Vec<_> = with_mask.map(masked).collect();
    // A segment that has only one of the forms runs in it always.
    let always = segments.clone().filter(|s| !s.unmasked).map(masked);
    let all_full: Vec<_> = unmasked.iter().copied().chain(always).collect();
    let always = segments.clone().filter(|s| s.masked.is_none()).map(full);
    let all_masked: Vec<_> = with_mask.iter().copied().chain(always).collect();
    let inside: Vec<_> = shape
        .interchanged
        .iter()
        .map(|f| (f.group, f.bytes))
        .collect();
    let inline = |a: &&lower::profile::AccessShape| a.how != Access::Call;
    let affine = shape.accesses.iter().filter(inline).count();
    format!(
        "{} {} {} {} {} | {} {} {} | {affine} {}",
        shape.insts,
        shape.bytes,
        list(&unmasked),
        list(&with_mask),
        list(&inside),
        turn(shape.bytes, &all_full),
        turn(shape.bytes, &all_masked),
        match inside.as_slice() {
            [] => "-".to_owned(),
            inside => turn(0, inside).to_string(),
        },
        shape.accesses.len() - affine,
    )
}

/// Instructions of a piece of host code.
fn instructions(code: &[u8]) -> u32 {
    let mut decoder = Decoder::new(64, code, DecoderOptions::NONE);
    let all = decoder.iter().inspect(|inst| {
        assert!(!inst.is_invalid(), "no instruction: {code:02x?}");
    });
    all.count() as u32
}

/// The lane IR of a kernel's regions and what their waves begin with: with the first one the kernel begins.
pub(super) fn regions((object, name): (&Path, &str), start: u64) -> Vec<(Func, u64)> {
    let bytes = std::fs::read(object).expect("it can be read");
    let object = object::open_kernel(&bytes, None, name).expect("the code object is good");
    let kernel = object.kernel(name).expect("the kernel is there");
    let fetch = |address: u64| {
        let code = |segment: &&Segment| segment.execute && segment.contains(address, 4);
        let segment = object.segments.iter().find(code)?;
        segment.data.get((address - segment.address) as usize..)
    };
    let gfx = object.target.gfx;
    let options = JitOptions::default();
    let mut entries = vec![kernel.code.start];
    let mut regions = Vec::new();
    while let Some(&entry) = entries.get(regions.len()) {
        let request = Request {
            gfx,
            entry,
            mode: kernel.descriptor.mode(gfx),
            max_insts: options.max_insts,
            max_block: options.max_block,
            exact_nan: options.code.exact_nan,
            observe: false,
            checked: false,
            sanitize: false,
            outcomes: false,
        };
        let func = region::build(&request, &fetch);
        for pc in func.exits() {
            if !entries.contains(&pc) && fetch(pc).is_some() {
                entries.push(pc);
            }
        }
        let start = if regions.is_empty() { start } else { 0 };
        regions.push((func, start));
    }
    regions
}

/// The lines of a kernel.
fn kernel(
    costs: &mut Costs,
    wide: Option<Isa>,
    (object, name): (&Path, &str),
    start: u64,
    out: &mut String,
) {
    let funcs = regions((object, name), start);
    let regions = funcs.iter().map(|(func, start)| {
        let shapes = match wide {
            Some(isa) => costs.wide_blocks(func, *start, isa, &instructions),
            None => costs.blocks(func, *start, &instructions),
        };
        let shapes = shapes.expect("the region compiles");
        assert_eq!(shapes.len(), func.blocks.len());
        (func.entry, loops(func), shapes)
    });
    let regions: Vec<_> = regions.collect();
    let hot = |turns: &[bool]| turns.contains(&true);
    let none = !regions.iter().any(|(_, turns, _)| hot(turns));
    let most = regions
        .iter()
        .flat_map(|(_, _, shapes)| shapes)
        .map(|s| s.insts);
    let most = most.max().unwrap_or(0);
    let offset = |pc: u64| pc - funcs[0].0.entry;
    for (entry, turns, shapes) in &regions {
        let chosen: Vec<_> = shapes
            .iter()
            .zip(turns)
            .filter(|(shape, turns)| **turns || none && shape.insts == most)
            .collect();
        if regions.len() > 1 && !chosen.is_empty() {
            let _ = writeln!(out, "region {name}+0x{:x}", offset(*entry));
        }
        for (shape, _) in chosen {
            let _ = writeln!(out, "{name}+0x{:x} {}", offset(shape.pc), line(shape));
        }
    }
}

/// All kernels.
fn list(wide: Option<Isa>) -> String {
    let mut costs = Costs::new().expect("an x86-64 code generator");
    let mut out = match wide {
        Some(Isa::Avx2) => HEAD.replace("for x86-64-v3", "by the wide back end"),
        Some(Isa::Avx512) => HEAD.replace("for x86-64-v3", "by the wide back end for AVX-512"),
        None => HEAD.to_owned(),
    };
    let mut last = PathBuf::new();
    for ((object, name), start) in kernels() {
        if object != last {
            let stem = object
                .file_stem()
                .expect("a file")
                .to_string_lossy()
                .into_owned();
            let _ = writeln!(out, "\n[{stem}]");
        }
        kernel(&mut costs, wide, (&object, &name), start, &mut out);
        last = object;
    }
    out
}

#[test]
fn host_instructions_of_hot_loops() {
    super::check("hot_loops.txt", &list(None));
}

/// Nothing in the benchmarks is refused, and what is selected is counted as for Cranelift.
#[test]
fn host_instructions_of_hot_loops_in_wide_vectors() {
    super::check("hot_loops_wide.txt", &list(Some(Isa::Avx2)));
}

/// Code for AVX-512 is made on any host.
#[test]
fn host_instructions_of_hot_loops_with_avx512() {
    super::check("hot_loops_avx512.txt", &list(Some(Isa::Avx512)));
}

/// The code objects of the benchmarks, the open set and the examples for a target of each of two generations.
fn code_objects() -> Vec<PathBuf> {
    let list = |folder: &Path| {
        let entries = std::fs::read_dir(folder).expect("the folder is there");
        let entries = entries.map(|entry| entry.expect("it can be read").path());
        entries.collect::<Vec<PathBuf>>()
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join("benches/open"), root.join("benches/kernels")];
    folders.extend(list(&root.join("examples")));
    let files = folders.iter().filter(|folder| folder.is_dir());
    let files = files.flat_map(|folder| list(folder));
    let suits = |path: &PathBuf| {
        let name = path.to_string_lossy();
        name.ends_with(".gfx906.co") || name.ends_with(".gfx803.co")
    };
    files.filter(suits).collect()
}

/// The wide back end refuses no region of these, for any instruction set in any tier: what it refuses is compiled by
/// Cranelift in vectors of 128 bits, and no result tells.
#[test]
fn wide_vectors_refuse_no_kernel() {
    let mut costs = Costs::new().expect("an x86-64 code generator");
    let ways = [Isa::Avx2, Isa::Avx512]
        .map(|isa| [Allocation::Baseline, Allocation::Optimizing].map(|tier| (isa, tier)));
    let mut compiled = 0;
    for path in code_objects() {
        let bytes = std::fs::read(&path).expect("it can be read");
        let object = object::open(&bytes, None).expect("the code object is good");
        let names = object.kernels.iter().map(|kernel| &kernel.name);
        for (f, start) in names.flat_map(|name| regions((&path, name), 0)) {
            for &(isa, tier) in ways.iter().flatten() {
                let refused = costs.refusal(&f, start, isa, tier);
                let refused = refused.expect("the region is valid");
                let at = format!("{} {:#x}", path.display(), f.entry);
                assert_eq!(refused, None, "{at} {isa:?} {tier:?}");
                compiled += 1;
            }
        }
    }
    assert!(compiled > 600, "{compiled}");
}
