//! The files of a kit: its data for `capture.hip`, and its kernel as a code object or as text for an
//! assembler.
//!
//! The data are little-endian dwords behind 16 bytes of magic number. First the digest as 32 hexadecimal
//! digits and the target's name in 16 bytes; then dwords: size of the image, offsets of windows and
//! buffer in it, index of the word that says that all was stored, distance of the probe from the kernel,
//! has the target aperture registers; the image without a case; the number of runs, and the runs, the
//! first of which is the probe's. A run: the size of its name in bytes, the name, filled up to a dword;
//! the number of edits, each a place, a count and so many words; the number of relocations, each a
//! place, a half, a symbol by number and a 64-bit number.

use std::fmt::Write as _;

use frontend::Gfx;
use fuzz::code_object::{Kernel, descriptor_bytes};
use harness::case::assign::Symbol;
use runtime::object::{KernelDescriptor, Processor};
use sha2::{Digest as _, Sha256};

use crate::kernel::{self, NAME};
use crate::kit::{Kit, KitRun, Relocation};
use crate::layout::word;

/// The magic number of the data.
const MAGIC: &[u8; 16] = b"wavelift kit 1\n\0";

/// Name of the kernel's parameter.
const PARAMETER: &str = "image";

impl Kit {
    /// What identifies the kit: the same cases, selection and kernel.
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        hash.update(self.body());
        hash.update(&self.code);
        let digest = hash.finalize();
        digest[..16].iter().fold(String::new(), |mut text, byte| {
            write!(text, "{byte:02x}").expect("writing to a string does not fail");
            text
        })
    }

    /// The data.
    pub fn data(&self) -> Vec<u8> {
        let mut data = MAGIC.to_vec();
        data.extend(self.digest().as_bytes());
        let mut name = self.gfx.name().as_bytes().to_vec();
        name.resize(16, 0);
        data.extend(name);
        data.extend(self.body());
        data
    }

    fn body(&self) -> Vec<u8> {
        let mut body = Vec::new();
        let mut put = |words: &[u32]| body.extend(words.iter().flat_map(|w| w.to_le_bytes()));
        put(&[
            self.layout.size as u32,
            self.layout.windows as u32,
            self.layout.buffer as u32,
            word::DONE as u32,
            self.probe.at,
            u32::from(self.gfx.has_aperture_registers()),
        ]);
        put(&self.pattern);
        put(&[self.runs.len() as u32 + 1]);
        run(&mut body, "probe", &self.probe_edits, &[]);
        for one in &self.runs {
            run(&mut body, &one.full_name(), &one.edits, &one.relocations);
        }
        body
    }

    /// The kernel as a code object.
    pub fn code_object(&self) -> Vec<u8> {
        Kernel {
            name: NAME,
            processor: Processor::by_name(self.gfx.name()).expect("targets are processors"),
            descriptor: kernel::descriptor(),
            workgroup: [64, 1, 1],
            parameters: &[PARAMETER],
            code: &self.code,
        }
        .file()
    }

    /// The kernel as text for an assembler.
    pub fn assembly(&self) -> String {
        let mut text = String::new();
        self.write_assembly(&mut text)
            .expect("writing to a string does not fail");
        text
    }

    fn write_assembly(&self, text: &mut String) -> std::fmt::Result {
        let gfx = self.gfx;
        writeln!(text, "// Made from conformance cases: do not edit.")?;
        writeln!(text, ".amdgcn_target \"amdgcn-amd-amdhsa--{gfx}\"")?;
        writeln!(text, ".text\n.globl {NAME}\n.protected {NAME}")?;
        writeln!(text, ".type {NAME},@function\n.p2align 8\n{NAME}:")?;
        for line in self.code.chunks(32) {
            let words = line.chunks_exact(4);
            let words =
                words.map(|b| format!("0x{:08x}", u32::from_le_bytes([b[0], b[1], b[2], b[3]])));
            writeln!(text, ".long {}", words.collect::<Vec<_>>().join(","))?;
        }
        // Fetched ahead, never executed.
        writeln!(text, ".fill 64,4,0xbf800000\n.size {NAME}, .-{NAME}")?;
        writeln!(
            text,
            ".rodata\n.p2align 6\n.globl {NAME}.kd\n.protected {NAME}.kd"
        )?;
        writeln!(
            text,
            ".type {NAME}.kd,@object\n.size {NAME}.kd, 64\n{NAME}.kd:"
        )?;
        let descriptor = KernelDescriptor {
            kernarg_size: 8,
            ..kernel::descriptor()
        };
        for (n, bytes) in descriptor_bytes(&descriptor).chunks(8).enumerate() {
            let value = bytes
                .iter()
                .rev()
                .fold(0u64, |sum, &b| sum << 8 | u64::from(b));
            match n {
                // The entry's distance from here.
                2 => writeln!(text, ".quad {NAME}-{NAME}.kd")?,
                _ => writeln!(text, ".quad 0x{value:x}")?,
            }
        }
        let vgprs = if gfx.has_unified_vgprs() { 512 } else { 256 };
        let agprs = if gfx.has_agprs() {
            "    .agpr_count: 256\n"
        } else {
            ""
        };
        write!(
            text,
            ".amdgpu_metadata\n---\namdhsa.version: [1, 1]\namdhsa.target: amdgcn-amd-amdhsa--{gfx}\n\
             amdhsa.kernels:\n  - .name: {NAME}\n    .symbol: {NAME}.kd\n    .kernarg_segment_size: 8\n    \
             .kernarg_segment_align: 8\n    .group_segment_fixed_size: {lds}\n    \
             .private_segment_fixed_size: 0\n    .wavefront_size: 64\n    .sgpr_count: 104\n    \
             .vgpr_count: {vgprs}\n{agprs}    .max_flat_workgroup_size: 64\n    \
             .reqd_workgroup_size: [64, 1, 1]\n    .args:\n      - .name: {PARAMETER}\n        \
             .offset: 0\n        .size: 8\n        .value_kind: global_buffer\n        \
             .address_space: global\n...\n.end_amdgpu_metadata\n",
            lds = kernel::LDS,
        )
    }
}

impl KitRun {
    /// What the run is called: file, line and mask.
    pub fn full_name(&self) -> String {
        format!("{} {}: {}", self.name, self.mask, self.text)
    }
}

fn run(body: &mut Vec<u8>, name: &str, edits: &[(u32, u32)], relocations: &[Relocation]) {
    let put = |body: &mut Vec<u8>, word: u32| body.extend(word.to_le_bytes());
    put(body, name.len() as u32);
    body.extend(name.as_bytes());
    body.resize(body.len().next_multiple_of(4), 0);
    // Consecutive words are one edit.
    let mut edits: Vec<(u32, u32)> = edits.to_vec();
    edits.sort_unstable();
    let groups: Vec<&[(u32, u32)]> = edits.chunk_by(|a, b| a.0 + 1 == b.0).collect();
    put(body, groups.len() as u32);
    for group in groups {
        put(body, group[0].0);
        put(body, group.len() as u32);
        group.iter().for_each(|&(_, word)| put(body, word));
    }
    put(body, relocations.len() as u32);
    for relocation in relocations {
        put(body, relocation.at);
        put(body, relocation.half);
        put(body, number(relocation.symbol));
        put(body, relocation.number as u32);
        put(body, (relocation.number >> 32) as u32);
    }
}

/// The number by which the data know a symbol.
fn number(symbol: Symbol) -> u32 {
    match symbol {
        Symbol::Mem | Symbol::Mem0 => 0,
        Symbol::Mem0Image => 1,
        Symbol::Buffer => 2,
        Symbol::BufferImage => 3,
        Symbol::Code => 4,
        Symbol::Shared => 5,
        Symbol::Private => 6,
        // Not in kits.
        Symbol::Scratch | Symbol::Window | Symbol::Lane => u32::MAX,
    }
}

/// The target of a name such as `gfx90a:sramecc+:xnack-`.
pub fn target(name: &str) -> Option<Gfx> {
    let name = name.split(':').next()?;
    Gfx::ALL.into_iter().find(|gfx| gfx.name() == name)
}
