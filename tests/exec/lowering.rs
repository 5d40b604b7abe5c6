//! The translator in isolation: every row lowers, every operation of the lane IR compiles.

mod accesses;
mod arguments;
mod calls;
mod checked;
mod contiguous;
mod cuts;
mod dispatched;
mod divisions;
mod elementary;
mod encoding;
mod facts;
mod following;
mod gathers;
mod halves;
mod host_stack;
mod indirect;
mod lane_serial;
mod loops;
#[cfg(unix)]
mod masked_accesses;
mod masks;
mod matrix;
mod operations;
mod permutations;
mod prologues;
mod quads;
mod quotients;
mod records;
mod regions;
mod relative;
mod roots;
mod rounds;
mod rows;
mod scaled;
mod scales;
mod selection;
mod tables;
mod tiers;
mod wave_switches;
mod words;
mod wraps;

use lower::host::{self, Isa};
use lower::ir::build::Build;
use lower::ir::{Block, Func, Slot, Target, Term, Val};
use lower::jit::HostLevel;

/// Does the CPU have a wide instruction set? If not, it is said that what its code does is not tested.
fn can_run(isa: Isa) -> bool {
    let (has, name) = match isa {
        Isa::Avx2 => (host::is_supported(), "AVX2"),
        Isa::Avx512 => (host::has_avx512(), "AVX-512"),
    };
    if !has {
        eprintln!("NOT TESTED: what code for {name} does, which this CPU lacks");
    }
    has
}

/// Hosts that code is made for, and what makes it.
fn hosts() -> Vec<(HostLevel, Option<Isa>)> {
    let mut hosts = vec![
        (HostLevel::Native, None),
        (HostLevel::Avx2, None),
        (HostLevel::Sse41, None),
    ];
    hosts.extend(can_run(Isa::Avx2).then_some((HostLevel::Avx2, Some(Isa::Avx2))));
    hosts.extend(can_run(Isa::Avx512).then_some((HostLevel::Native, Some(Isa::Avx512))));
    hosts
}

/// A region of one block with these results, behind which it waits.
fn region_of(b: Build, writes_s: Vec<(Slot, Val)>, writes_v: Vec<(u16, Val)>) -> Func {
    let (nodes, effects) = b.finish();
    let block = Block {
        pc: 0,
        nodes,
        effects,
        execs: Vec::new(),
        writes_s,
        writes_v,
        term: Term::Barrier {
            next: Target::Exit { pc: 4, back: false },
        },
        guest_insts: 1,
        counts: Vec::new(),
        outcomes: Vec::new(),
    };
    Func::of(block, 0, Vec::new())
}
