use super::*;
use crate::ir::build::{Build, types};
use crate::ir::{Block, Op, Slot, Term};

/// A region of one instruction at 64 that writes a lane value to a scalar register, which is
/// invalid.
fn broken_region() -> Func {
    let b = Build::new();
    let lanes = b.leaf(Op::ReadV(1), types::L32);
    let (nodes, effects) = b.finish();
    let block = Block {
        pc: 64,
        nodes,
        effects,
        execs: Vec::new(),
        writes_s: vec![(Slot::Sgpr(3), lanes)],
        writes_v: Vec::new(),
        term: Term::End,
        guest_insts: 1,
        counts: Vec::new(),
        outcomes: Vec::new(),
    };
    let inst = frontend::decode(frontend::Gfx::Gfx900, &0xbf80_0000u32.to_le_bytes());
    let site = Site {
        pc: 64,
        inst: inst.expect("s_nop"),
    };
    Func::of(block, 0, vec![site])
}

/// Every back end refuses an invalid region in both tiers, and its first instruction is left to the
/// interpreter.
#[test]
fn a_region_that_breaks_a_rule_is_left_to_the_interpreter() {
    let f = broken_region();
    let mut jit = Jit::new(HostLevel::Native).expect("this host");
    let isas = [None, host::is_supported().then_some(Isa::Avx2)];
    for isa in isas {
        for allocation in [Allocation::Baseline, Allocation::Optimizing] {
            let options = Options {
                host: Host::of(isa),
                ..Options::default()
            };
            let Err(Failed::Broken(broken)) = jit.translated(&f, &options, 0, allocation) else {
                panic!("{options:?} {allocation:?}: it was translated");
            };
            // A debug build panics with the same message.
            let object = match cfg!(debug_assertions) {
                true => jit.left_out(&f, &options, 0, allocation, &broken),
                false => jit.object(&f, &options, 0, allocation),
            };
            let object = object.expect("the region without its instructions is compiled");
            let refused = object.refused.as_deref().unwrap_or_default();
            assert_eq!(refused, format!("bug: lane IR: {broken}"));
            assert!(broken.to_string().contains("gets"), "{broken}");
            assert_eq!(object.guest_insts, 0);
            // Both tiers have the sites of the region.
            assert_eq!(object.sites, [64]);
            let compiled = Compiled::new(Arc::new(object), 0, f.sites.clone(), Vec::new());
            assert_eq!(compiled.expect("there is memory").guest_insts(), 0);
        }
    }
}
