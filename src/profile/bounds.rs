//! How much a kernel does for its time, and how much the host could: bytes that it accesses and
//! operations of its lanes, beside a short measurement of this machine.

use frontend::Inst;
use serde::Serialize;

mod probe;

pub(super) use probe::Probe;

/// What a kernel's instructions ask for, by all lanes.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Work {
    /// Bytes of memory, by flat, global, buffer and scalar instructions; atomic ones count twice.
    pub(super) memory_bytes: u64,
    /// Bytes of LDS; atomic instructions count twice.
    pub(super) lds_bytes: u64,
    /// Vector ALU instructions, each once for every active lane.
    pub(super) vector_operations: u64,
}

impl Work {
    /// Adds executions of an instruction, by `lanes` lanes in all.
    pub(super) fn add(&mut self, inst: &Inst, executions: u64, lanes: u64) {
        let name = inst.desc.name;
        if name.starts_with("v_") {
            self.vector_operations += lanes;
        } else if let Some(rest) = name.strip_prefix("s_load_") {
            self.memory_bytes += executions * width(rest);
        } else if let Some(rest) = name.strip_prefix("s_buffer_load_") {
            self.memory_bytes += executions * width(rest);
        } else if let Some(rest) = name.strip_prefix("ds_") {
            self.lds_bytes += lanes * ds_width(rest);
        } else {
            let kinds = ["global_", "flat_", "scratch_", "buffer_", "tbuffer_"];
            let rest = kinds.iter().find_map(|kind| name.strip_prefix(kind));
            self.memory_bytes += rest.map_or(0, |rest| lanes * vector_width(rest));
        }
    }
}

/// Bytes of a type's name at the end of an instruction's.
fn width(name: &str) -> u64 {
    let sizes = [
        ("dwordx16", 64),
        ("dwordx8", 32),
        ("dwordx4", 16),
        ("dwordx3", 12),
        ("dwordx2", 8),
        ("dword", 4),
        ("short", 2),
        ("byte", 1),
        ("xyzw", 16),
        ("xyz", 12),
        ("xy", 8),
        ("x", 4),
    ];
    let sizes = sizes.iter().find(|(ending, _)| {
        name.trim_end_matches("_d16_hi")
            .trim_end_matches("_d16")
            .ends_with(ending)
    });
    sizes.map_or(0, |(_, bytes)| *bytes)
}

fn vector_width(name: &str) -> u64 {
    match name.strip_prefix("atomic_") {
        Some(operation) if operation.ends_with("_x2") || operation.ends_with("f64") => 16,
        Some(_) => 8,
        None if name.starts_with("load") || name.starts_with("store") => width(name),
        None => 0,
    }
}

fn ds_width(name: &str) -> u64 {
    let each = match name.rsplit_once("_b").or(name.rsplit_once("_u")) {
        Some((_, bits)) => bits
            .split(|c: char| !c.is_ascii_digit())
            .next()
            .and_then(|bits| bits.parse::<u64>().ok())
            .map_or(4, |bits| bits / 8),
        None if name.ends_with("64") => 8,
        None => 4,
    };
    if name.starts_with("read2") || name.starts_with("write2") {
        2 * each
    } else if name.starts_with("read") || name.starts_with("write") {
        each
    } else if ["swizzle", "permute", "bpermute", "nop", "gws"]
        .iter()
        .any(|other| name.starts_with(other))
    {
        0
    } else {
        2 * each
    }
}
