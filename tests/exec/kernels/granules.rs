//! LDS in granules: what a kernel may use beyond what it states, and what checked mode says of it.

use wavelift::{Arg, DeviceOptions, Error, Gfx, Launch, Module};

use super::{FLAT_TARGETS, Rig, TARGETS, object_bytes};

/// What a kernel does with elements `shift` to `shift + 63` of its LDS.
enum Does {
    /// They hold what was written.
    Holds,
    /// Reads give 0.
    Zeros,
    /// It faults; the message's first line.
    Faults(String),
}

const WORK_ITEMS: u32 = 64;

/// Runs a kernel with `dynamic` bytes of LDS of the launch, if any, on both engines.
fn check(rig: &Rig, module: &Module, kernel: &str, dynamic: Option<u32>, shift: u32, does: &Does) {
    rig.each(&[1, 2], |rig| {
        let out = rig.buffer(&[7u32; WORK_ITEMS as usize]);
        let mut args: Vec<Arg> = vec![(&out).into()];
        args.extend(dynamic.map(Arg::Local));
        args.push(shift.into());
        let launch = Launch::new(WORK_ITEMS, WORK_ITEMS);
        let what = format!("{kernel} from element {shift}");
        match (rig.try_launch(module, kernel, launch, &args), does) {
            (Ok(_), Does::Holds) => {
                let want: Vec<u32> = (0..WORK_ITEMS).map(|i| (63 - i) * 3 + 1).collect();
                rig.expect(module, &what, &out, &want);
            }
            (Ok(_), Does::Zeros) => rig.expect(module, &what, &out, &[0; WORK_ITEMS as usize]),
            (Err(Error::Fault(fault)), Does::Faults(want)) => {
                let said = fault.to_string();
                assert_eq!(
                    said.lines().next(),
                    Some(&**want),
                    "{}",
                    rig.at(module, &what)
                );
            }
            (Ok(_), Does::Faults(_)) => panic!("{}: no fault", rig.at(module, &what)),
            (Err(error), _) => panic!("{}: {error}", rig.at(module, &what)),
        }
    });
}

fn granule(gfx: Gfx) -> u32 {
    if gfx == Gfx::Gfx600 { 256 } else { 512 }
}

#[test]
fn whole_granules_of_lds_are_there() {
    for gfx in TARGETS {
        let rig = Rig::new();
        let module = Module::load(&rig.device, &object_bytes("granules", gfx)).unwrap();
        let granule = granule(gfx);
        for shift in [0, 16, 64, 65, 128] {
            // Of accesses that are in part outside nothing is told here.
            let end = shift * 4 + 256;
            let of = |bytes: u32| match bytes.next_multiple_of(granule) {
                room if end <= room => Some(Does::Holds),
                room if shift * 4 >= room => Some(Does::Zeros),
                _ => None,
            };
            if let Some(does) = of(256) {
                check(&rig, &module, "stated", None, shift, &does);
            }
            for bytes in [4, 256, 260, 512, 516] {
                if let Some(does) = of(bytes) {
                    check(&rig, &module, "given", Some(bytes), shift, &does);
                }
            }
        }
    }
}

#[test]
fn whole_granules_of_lds_are_there_through_the_aperture() {
    for gfx in FLAT_TARGETS {
        let rig = Rig::new();
        let module = Module::load(&rig.device, &object_bytes("granules", gfx)).unwrap();
        let kernel = "generic_stated";
        for shift in [0, 16, 64] {
            check(&rig, &module, kernel, None, shift, &Does::Holds);
        }
        let beyond = "lane 63 wrote 4 bytes of LDS at offset 0x200, outside its 512 bytes";
        let beyond = Does::Faults(beyond.to_owned());
        check(&rig, &module, kernel, None, 65, &beyond);
    }
}

#[test]
fn checked_mode_knows_the_exact_size() {
    for gfx in TARGETS {
        let rig = Rig::with(DeviceOptions {
            reserve: 256 << 20,
            memcheck: true,
            ..DeviceOptions::default()
        });
        let module = Module::load(&rig.device, &object_bytes("granules", gfx)).unwrap();
        let granule = granule(gfx);
        let fault = |lane: u32, shift: u32, bytes: u32| {
            let offset = (lane + shift) * 4;
            let room = bytes.next_multiple_of(granule);
            let unnoticed = match offset < room {
                true => format!(" (a GPU allocates {room} bytes and does not notice)"),
                false => String::new(),
            };
            Does::Faults(format!(
                "lane {lane} wrote 4 bytes of LDS at offset 0x{offset:x}, outside its {bytes} bytes{unnoticed}"
            ))
        };
        let mut stated = vec!["stated"];
        stated.extend((gfx != Gfx::Gfx600).then_some("generic_stated"));
        for kernel in stated {
            check(&rig, &module, kernel, None, 0, &Does::Holds);
            check(&rig, &module, kernel, None, 1, &fault(63, 1, 256));
            check(&rig, &module, kernel, None, 64, &fault(0, 64, 256));
            check(&rig, &module, kernel, None, 128, &fault(0, 128, 256));
        }
        check(&rig, &module, "given", Some(260), 1, &Does::Holds);
        check(&rig, &module, "given", Some(260), 2, &fault(63, 2, 260));
        check(&rig, &module, "given", Some(4), 0, &fault(1, 0, 4));
    }
}
