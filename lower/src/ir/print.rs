//! The lane IR as text (`wavelift ir`).

use std::fmt::Write;

use crate::ir::{Block, Func, Vary, Width};

/// A region as text.
pub fn func(f: &Func) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "region 0x{:x} mode 0x{:x}", f.entry, f.mode);
    for (i, b) in f.blocks.iter().enumerate() {
        let _ = writeln!(out, "block {i} (0x{:x}):", b.pc);
        out.push_str(&block(b));
    }
    out
}

/// A block as text.
pub fn block(b: &Block) -> String {
    let mut out = String::new();
    for (i, node) in b.nodes.iter().enumerate() {
        let width = match node.ty.width {
            Width::W1 => "1",
            Width::W32 => "32",
            Width::W64 => "64",
        };
        let vary = match node.ty.vary {
            Vary::Wave => "s",
            Vary::Row => "r",
            Vary::Period16 => "p",
            Vary::Lane => "v",
        };
        let _ = write!(out, "    %{i}: {vary}{width} = {:?}", node.op);
        for arg in node.args.iter() {
            let _ = write!(out, " %{}", arg.0);
        }
        out.push('\n');
    }
    for &(slot, v) in &b.writes_s {
        let _ = writeln!(out, "    {slot:?} <- %{}", v.0);
    }
    for &(n, v) in &b.writes_v {
        let _ = writeln!(out, "    v{n} <- %{}", v.0);
    }
    let _ = writeln!(out, "    {:?}", b.term);
    out
}
