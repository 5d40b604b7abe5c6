//! What only one wave or workgroup sees starts as zero, on any number of threads; checked mode reports
//! what was never written and what lies outside, in the same words on both engines.

use runtime::engine::{PRIVATE_BASE, SHARED_BASE};
use wavelift::{Arg, Buffer, DeviceOptions, Error, Gfx, Launch, Module};

use super::{Rig, TARGETS, THREADS, object_bytes, on_targets};

fn segment(address: u64, out: &Buffer, lane: u32) -> Vec<u8> {
    let mut segment = address.to_le_bytes().to_vec();
    segment.extend(out.address().to_le_bytes());
    segment.extend(lane.to_le_bytes());
    segment.extend([0; 4]);
    segment
}

/// Waves run one after the other on the same worker; none sees what another left behind.
#[test]
fn waves_begin_with_zeros_everywhere() {
    const GROUPS: usize = 70;
    on_targets("private", &TARGETS, |rig, module| {
        rig.each(&THREADS, |rig| {
            let out = rig.buffer(&[!0u32; 64 * GROUPS]);
            for _ in 0..2 {
                let args = [Arg::Bytes(segment(0, &out, 0))];
                let launch = Launch::new(64 * GROUPS as u32, 64);
                rig.launch(module, "stale", launch, &args);
                rig.expect(module, "stale", &out, &[0; 64 * GROUPS]);
            }
        });
    });
}

/// Registers written by a wave, in any way, are not visible to the next one, nor do its work-item
/// ids change.
#[test]
fn waves_do_not_see_registers_of_earlier_ones() {
    const GROUP: u32 = 128;
    for gfx in TARGETS {
        let rig = Rig::new();
        let module = Module::load(&rig.device, &object_bytes("restart", gfx)).unwrap();
        rig.each(&[1, 2], |rig| {
            for kernel in module.kernels() {
                for work_items in [40 * GROUP, 40 * GROUP + 100] {
                    let out = rig.buffer(&vec![!0u32; work_items as usize]);
                    let args = [Arg::Bytes(out.address().to_le_bytes().to_vec())];
                    rig.launch(&module, kernel, Launch::new(work_items, GROUP), &args);
                    rig.expect(&module, kernel, &out, &vec![0; work_items as usize]);
                }
            }
        });
    }
}

/// Checked mode, and a buffer that a kernel may be pointed at.
struct Checked {
    rig: Rig,
    gfx: Gfx,
    module: Module,
    data: Buffer,
}

/// Bytes of the buffer.
const BYTES: u64 = 1004;

impl Checked {
    fn new(gfx: Gfx) -> Checked {
        let rig = Rig::with(DeviceOptions {
            reserve: 256 << 20,
            memcheck: true,
            ..DeviceOptions::default()
        });
        let module = Module::load(&rig.device, &object_bytes("private", gfx)).unwrap();
        let data = rig.buffer(&[0u32; BYTES as usize / 4]);
        Checked {
            rig,
            gfx,
            module,
            data,
        }
    }

    /// What a kernel's run says; the same on every engine.
    fn says(&self, kernel: &str, address: u64) -> String {
        let mut first: Option<String> = None;
        self.rig.each(&[1, 2], |rig| {
            let args = [Arg::Bytes(segment(address, &self.data, 63))];
            let launch = Launch::new(64, 64);
            let said = match rig.try_launch(&self.module, kernel, launch, &args) {
                Ok(_) => "nothing".to_owned(),
                Err(Error::Fault(fault)) => fault.to_string(),
                Err(error) => panic!("{}: {error}", rig.at(&self.module, kernel)),
            };
            let first = first.get_or_insert_with(|| said.clone());
            assert_eq!(*first, said, "{}", rig.at(&self.module, kernel));
        });
        first.expect("an engine ran")
    }

    /// Checks what a kernel's run says first, without the address; a kernel that the target lacks says
    /// nothing.
    fn expect(&self, kernel: &str, address: u64, want: &str) {
        if self.module.kernel(kernel).is_err() {
            assert!(
                self.gfx == Gfx::Gfx600 || kernel.starts_with("scratch_inst"),
                "{kernel} of {}",
                self.gfx
            );
            return;
        }
        let said = self.says(kernel, address);
        let mut lines = said.lines();
        let words = lines.next().unwrap_or_default().split(' ');
        let shown: Vec<_> = words
            .map(|word| match word.strip_prefix("0x") {
                Some(digits) if digits.len() > 8 => "ADDRESS,",
                _ => word,
            })
            .collect();
        assert_eq!(shown.join(" "), want, "{kernel} of {}", self.gfx);
        let place = lines.next().unwrap_or_default();
        assert!(place.contains(&format!("({kernel}+0x")), "{place}");
        let wave = format!("   wave 0 of workgroup (0,0,0) of kernel {kernel}, exec 0x");
        assert!(lines.next().is_some_and(|line| line.starts_with(&wave)));
    }
}

#[test]
fn checked_mode_finds_uninitialized_and_missing_lds() {
    // Lanes below 32 have written their dword of 256 bytes.
    let cases = [
        (
            "lds_read",
            "lane 32 read 4 bytes of LDS at offset 0x80 that were never written",
        ),
        (
            "lds_read_byte",
            "lane 32 read 1 byte of LDS at offset 0x83 that was never written",
        ),
        (
            "lds_read2",
            "lane 32 read 4 bytes of LDS at offset 0x80 that were never written",
        ),
        (
            "lds_atomic",
            "lane 32 read 4 bytes of LDS at offset 0x80 that were never written",
        ),
        (
            "lds_atomic_return",
            "lane 32 read 4 bytes of LDS at offset 0x80 that were never written",
        ),
        (
            "lds_write_outside",
            "lane 63 wrote 4 bytes of LDS at offset 0x100, outside its 256 bytes",
        ),
        (
            "lds_write2_outside",
            "lane 31 wrote 4 bytes of LDS at offset 0x100, outside its 256 bytes",
        ),
        (
            "lds_read_outside",
            "lane 0 read 4 bytes of LDS at offset 0x100, outside its 256 bytes",
        ),
    ];
    let through_aperture = [
        (
            "flat_read",
            0,
            "lane 32 read 4 bytes of LDS at offset 0x80 that were never written",
        ),
        (
            "flat_atomic",
            0,
            "lane 32 read 4 bytes of LDS at offset 0x80 that were never written",
        ),
        (
            "flat_write",
            100,
            "lane 39 wrote 4 bytes of LDS at offset 0x100, outside its 256 bytes",
        ),
    ];
    for gfx in TARGETS {
        let checked = Checked::new(gfx);
        // Hardware from gfx7 on allocates twice as much.
        let said = |want: &str| match gfx != Gfx::Gfx600 && want.contains("outside") {
            true => format!("{want} (a GPU allocates 512 bytes and does not notice)"),
            false => want.to_owned(),
        };
        for (kernel, want) in cases {
            checked.expect(kernel, 0, &said(want));
        }
        for (kernel, offset, want) in through_aperture {
            checked.expect(kernel, SHARED_BASE + offset, &said(want));
        }
    }
}

#[test]
fn checked_mode_finds_scratch_that_the_lane_never_wrote() {
    // Lanes below 32 have written dword 2 of 16.
    let cases = [
        (
            "scratch_load",
            0,
            "lane 32 read 4 bytes of scratch at offset 0x8 that were never written",
        ),
        (
            "scratch_offen",
            0,
            "lane 32 read 4 bytes of scratch at offset 0x8 that were never written",
        ),
        (
            "scratch_byte",
            0,
            "lane 32 read 1 byte of scratch at offset 0xb that was never written",
        ),
        (
            "scratch_wide",
            0,
            "lane 0 read 4 bytes of scratch at offset 0x4 that were never written",
        ),
        (
            "scratch_atomic",
            0,
            "lane 32 read 4 bytes of scratch at offset 0x8 that were never written",
        ),
        (
            "scratch_inst",
            0,
            "lane 32 read 4 bytes of scratch at offset 0x8 that were never written",
        ),
        (
            "scratch_inst_outside",
            0,
            "lane 0 wrote 4 bytes of scratch at offset 0x48, past the end of the lane's 64 bytes of scratch; try --stack BYTES",
        ),
        (
            "scratch_inst_outside_lane",
            0,
            "lane 13 wrote 16 bytes of scratch at offset 0x34, past the end of the lane's 64 bytes of scratch; try --stack BYTES",
        ),
        (
            "scratch_inst_read_outside",
            0,
            "lane 8 read 2 bytes of scratch at offset 0x40, past the end of the lane's 64 bytes of scratch; try --stack BYTES",
        ),
        (
            "flat_scratch_read",
            8,
            "lane 32 read 4 bytes of scratch at offset 0x8 that were never written",
        ),
        (
            "flat_scratch_atomic",
            8,
            "lane 32 read 4 bytes of scratch at offset 0x8 that were never written",
        ),
        (
            "flat_scratch_write",
            62,
            "lane 0 wrote 4 bytes of scratch at offset 0x3e, past the end of the lane's 64 bytes of scratch; try --stack BYTES",
        ),
    ];
    for gfx in TARGETS {
        let checked = Checked::new(gfx);
        for (kernel, offset, want) in cases {
            checked.expect(kernel, PRIVATE_BASE + offset, want);
        }
    }
}

#[test]
fn checked_mode_finds_what_lies_outside_the_exact_allocation() {
    for gfx in TARGETS {
        let checked = Checked::new(gfx);
        let past = "ADDRESS, 0 bytes past the end of a 1004-byte allocation";
        let over = "ADDRESS, running 4 bytes over the end of a 1004-byte allocation";
        // Lane `n` of the first ones acts at 16 * n, lane 62 is the last; of the others at 4 * n.
        let cases = [
            ("global_load", 12, format!("lane 62 read 4 bytes at {past}")),
            (
                "global_load_byte",
                12,
                format!("lane 62 read 1 byte at {past}"),
            ),
            (
                "global_load_quad",
                0,
                format!("lane 62 read 16 bytes at {over}"),
            ),
            (
                "global_store_pair",
                8,
                format!("lane 62 wrote 8 bytes at {over}"),
            ),
            (
                "global_atomic",
                12,
                format!("lane 62 atomically updated 4 bytes at {past}"),
            ),
            (
                "scalar_load",
                992,
                format!("the wave read 16 bytes at {over}"),
            ),
            ("huge_load", 908, format!("lane 24 read 4 bytes at {past}")),
            (
                "huge_store",
                908,
                format!("lane 24 wrote 4 bytes at {past}"),
            ),
            (
                "huge_format",
                908,
                format!("lane 24 read 4 bytes at {past}"),
            ),
            (
                "huge_atomic",
                908,
                format!("lane 24 atomically updated 4 bytes at {past}"),
            ),
        ];
        for (kernel, offset, want) in cases {
            checked.expect(kernel, checked.data.address() + offset, &want);
        }
    }
}

/// What is right is not reported, LDS that another wave wrote included.
#[test]
fn checked_mode_lets_pass_what_was_written() {
    for gfx in TARGETS {
        let checked = Checked::new(gfx);
        checked.rig.each(&[1, 2], |rig| {
            let out = rig.buffer(&[0u32; 128]);
            let args = [Arg::Bytes(segment(0, &out, 0))];
            rig.launch(&checked.module, "written", Launch::new(128, 128), &args);
            let want: Vec<u32> = (0..128).map(|i| i ^ 64 | i << 8).collect();
            rig.expect(&checked.module, "written", &out, &want);
        });
    }
}

#[test]
fn a_fault_tells_exec_at_its_instruction() {
    for gfx in TARGETS {
        let checked = Checked::new(gfx);
        for (kernel, first, exec) in [
            (
                "exec_of_scalar",
                "the wave read 4 bytes at 0x0, a null pointer",
                "1f",
            ),
            (
                "exec_of_vector",
                "lane 0 read 4 bytes at 0x0, a null pointer",
                "ffffffff",
            ),
        ] {
            let said = checked.says(kernel, 0);
            assert!(said.starts_with(first), "{said}");
            assert!(said.ends_with(&format!("exec 0x{exec:0>16}")), "{said}");
        }
    }
}
