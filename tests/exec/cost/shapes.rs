//! Notes of the shapes chosen leave no trace in the code.

use std::collections::BTreeSet;

use lower::host::{self, Host, Isa};
use lower::jit::{Allocation, HostLevel, Jit};
use lower::options::Options;
use lower::profile::{Order, Shape};

use super::hot_loops::{kernels, regions};

#[test]
fn code_with_and_without_notes_is_the_same() {
    let mut jit = Jit::new(HostLevel::Native).expect("a code generator");
    let isa = if host::has_avx512() {
        Isa::Avx512
    } else {
        Isa::Avx2
    };
    let mut forms = BTreeSet::new();
    for ((object, name), start) in kernels() {
        for (func, start) in regions((&object, &name), start) {
            for isa in [None, Some(isa)] {
                let mut make = |shapes, profile, allocation| {
                    let options = Options {
                        start,
                        shapes,
                        profile,
                        host: Host::of(isa),
                        ..Options::default()
                    };
                    let object = jit.object(&func, &options, func.entry, allocation);
                    object.expect("the region compiles")
                };
                for allocation in [Allocation::Baseline, Allocation::Optimizing] {
                    let plain = make(false, false, allocation);
                    let mut noted = make(true, false, allocation);
                    let shape = noted.shape.take().expect("notes were asked for");
                    // Code, addresses in it and all else but the shape.
                    assert!(plain == noted, "{name} at {:x}", func.entry);
                    assert_eq!(shape.counters, Shape::FIRST);
                    let counting = make(false, true, allocation);
                    let counting = counting.shape.expect("what is counted is known");
                    assert!(counting.counters > Shape::FIRST);
                    // What was timed and what was counted are put together block by block.
                    assert_eq!(shape.blocks.len(), counting.blocks.len());
                    for (a, b) in shape.blocks.iter().zip(&counting.blocks) {
                        let about = |block: &lower::profile::BlockShape| {
                            let pcs = block.accesses.iter().map(|access| access.pc);
                            let masked = block.segments.iter().map(|s| s.masked.is_some());
                            (
                                (block.pc, block.insts, block.lanes.len()),
                                pcs.collect::<Vec<_>>(),
                                masked.collect::<Vec<_>>(),
                            )
                        };
                        assert_eq!(about(a), about(b), "{name}");
                        let Some(form) = &a.interchanged else {
                            assert_eq!(b.interchanged, None, "{name}");
                            continue;
                        };
                        let order = match form.order {
                            Order::Groups { unmasked } => {
                                ["groups", "groups, unmasked"][usize::from(unmasked)]
                            }
                            Order::Peeled => "peeled",
                            Order::LaneSerial => "lane-serial",
                            Order::Parallel => "parallel",
                        };
                        forms.insert((order, b.interchanged.is_some()));
                    }
                }
            }
        }
    }
    let all = [
        ("lane-serial", false),
        ("peeled", false),
        ("groups", true),
        ("groups, unmasked", false),
        ("parallel", false),
    ];
    for form in all {
        assert!(forms.contains(&form), "{form:?} in {forms:?}");
    }
    assert!(!forms.contains(&("lane-serial", true)) && !forms.contains(&("peeled", true)));
}
