//! Host instructions of each row, and of the benchmarks' hot loops, as committed lists: a change of the translation shows as a difference
//! to review. `BLESS=1` writes it.

use std::fmt::Write;
use std::path::Path;

use frontend::{Gfx, InstDesc, isa};
use lower::cost::Costs;

pub(crate) mod hot_loops;
mod shapes;

const HEAD: &str = "\
# Host instructions of each row's plain instance (registers everywhere) for x86-64-v3: for four lanes in the
# loop over lane groups, that loop under a mask, the whole function, calls of the runtime's functions.
# Rows of gfx900, then those that only other targets have. Written by tests/exec/cost.rs, BLESS=1.
# encoding name full masked all calls
";

fn lines(
    costs: &mut Costs,
    gfx: Gfx,
    rows: impl Iterator<Item = &'static InstDesc>,
    out: &mut String,
) {
    let _ = writeln!(out, "\n[{gfx}]");
    for desc in rows {
        let cost = costs.row(desc, gfx).expect("every row compiles");
        let Some(cost) = cost else { continue };
        let _ = writeln!(
            out,
            "{:?} {} {} {} {} {}",
            desc.encoding,
            desc.name_on(gfx),
            cost.full,
            cost.masked,
            cost.all,
            cost.calls
        );
    }
}

#[test]
fn host_instructions_of_each_row() {
    let mut costs = Costs::new().expect("an x86-64 code generator");
    let mut out = HEAD.to_owned();
    let has = |desc: &InstDesc, gfx: Gfx| desc.opcodes.get(gfx).is_some();
    let order = [
        Gfx::Gfx900,
        Gfx::Gfx906,
        Gfx::Gfx803,
        Gfx::Gfx700,
        Gfx::Gfx600,
    ];
    for (i, &gfx) in order.iter().enumerate() {
        let new = |desc: &&'static InstDesc| {
            has(desc, gfx) && order[..i].iter().all(|&other| !has(desc, other))
        };
        lines(&mut costs, gfx, isa::all().filter(new), &mut out);
    }
    check("host_instructions.txt", &out);
}

/// Compares with a golden list, or writes it.
pub(crate) fn check(name: &str, got: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let path = folder.join(name);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, got).expect("the list can be written");
        return;
    }
    let want = std::fs::read_to_string(&path).unwrap_or_default();
    let differs: Vec<String> = want
        .lines()
        .zip(got.lines())
        .filter(|(want, got)| want != got)
        .map(|(want, got)| format!("  {want}  ->  {got}"))
        .take(20)
        .collect();
    assert!(
        want == got,
        "{name}: host instructions have changed; run with BLESS=1 and review the difference:\n{}",
        differs.join("\n")
    );
}
