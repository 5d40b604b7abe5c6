use super::*;

const SCRATCH: (u64, u64) = (0x7fab_1234_5000, 0x8000);

fn facts(kernarg: &[u8]) -> Facts<'_> {
    Facts {
        dispatch_ptr: 0x1111_0000_1001,
        queue_ptr: 0x2222_0000_2002,
        kernarg_ptr: 0x3333_0000_3003,
        dispatch_id: 0x4444_0000_4004,
        kernarg,
        scratch: SCRATCH,
        lane_bytes: 128,
        lds_bytes: 1000,
    }
}

const GROUP: GroupShape = GroupShape {
    id: [7, 8, 9],
    size: [50, 2, 1],
};

/// Wave 1 of [`GROUP`], whose registers were all ones before.
fn wave(gfx: Gfx, descriptor: KernelDescriptor, kernarg: &[u8]) -> Box<WaveState> {
    let mut wave = WaveState::new_boxed();
    wave.sgpr.fill(!0);
    wave.vgpr.fill([!0; LANES]);
    wave.scc = 1;
    let mut state = InitialState::new(gfx, descriptor, 0x1000, &facts(kernarg));
    let ids = [[5; LANES], [6; LANES], [7; LANES]];
    state.enter(&GROUP, false);
    state.start(&mut wave, 1, &ids);
    wave.settle();
    wave
}

fn user_count(n: u32) -> u32 {
    n << 1
}

/// The bits of the system SGPRs: id x, y, z, info, scratch offset.
const ALL_SYSTEM: u32 = 1 << 7 | 1 << 8 | 1 << 9 | 1 << 10 | 1;

#[test]
fn user_and_system_sgprs_are_dense_and_in_order() {
    let [v0, v1, v2, v3] = [0x1234_5000, 0x8000_7fab, 0x8000, 0x00ea_4fac];
    let info = 2;
    let offset = 64 * 128;
    // properties, count, system bits, expected from s0 on
    let cases: &[(u16, u32, u32, &[u32])] = &[
        (0, 0, 0, &[]),
        (0, 0, 1 << 7, &[7]),
        (1 << 3, 2, 1 << 7, &[0x3003, 0x3333, 7]),
        (1 << 3, 6, 1 << 7, &[0x3003, 0x3333, 0, 0, 0, 0, 7]),
        (
            1 << 1 | 1 << 3,
            4,
            1 << 8,
            &[0x1001, 0x1111, 0x3003, 0x3333, 8],
        ),
        (
            1 << 2 | 1 << 4,
            4,
            1 << 9,
            &[0x2002, 0x2222, 0x4004, 0x4444, 9],
        ),
        (1 << 6, 1, 1, &[128, offset]),
        (
            1 | 1 << 3,
            6,
            1 << 10,
            &[v0, v1, v2, v3, 0x3003, 0x3333, info],
        ),
        (
            0x7f,
            15,
            ALL_SYSTEM,
            &[
                v0, v1, v2, v3, 0x1001, 0x1111, 0x2002, 0x2222, 0x3003, 0x3333, 0x4004, 0x4444,
                // flat scratch init differs by target: see below
                0, 0, 128, 7, 8, 9, info, offset,
            ],
        ),
        // Fewer than the properties request: the system registers follow the count.
        (1 << 3, 1, 1 << 7, &[0x3003, 7]),
    ];
    for gfx in Gfx::ALL {
        for &(properties, count, system, expected) in cases {
            let descriptor = KernelDescriptor {
                rsrc2: user_count(count) | system,
                properties,
                ..KernelDescriptor::default()
            };
            let wave = wave(gfx, descriptor, &[]);
            let mut expected = expected.to_vec();
            if properties & 1 << 5 != 0 {
                let init = if gfx.is_gfx9() {
                    [SCRATCH.0 as u32, (SCRATCH.0 >> 32) as u32]
                } else {
                    [0, 128]
                };
                expected[12..14].copy_from_slice(&init);
            }
            if gfx.presets_flat_scratch() && system & 1 != 0 {
                // The offset is part of FLAT_SCRATCH.
                assert_eq!(expected.pop(), Some(offset));
                assert_eq!(wave.sgpr64(102), SCRATCH.0 + u64::from(offset), "{gfx}");
            }
            expected.resize(102, 0);
            assert_eq!(
                wave.sgpr[..102],
                expected,
                "{gfx}, properties {properties:#x}"
            );
        }
    }
}

#[test]
fn work_item_ids_go_where_the_target_wants_them() {
    for gfx in Gfx::ALL {
        for (field, x, y, z) in [(0, 5, 0, 0), (1, 5, 6, 0), (2, 5, 6, 7), (3, 5, 6, 7)] {
            let descriptor = KernelDescriptor {
                rsrc1: 1,
                rsrc2: field << 11,
                rsrc3: 1,
                ..KernelDescriptor::default()
            };
            let wave = wave(gfx, descriptor, &[]);
            let expected = if gfx.packs_work_item_ids() {
                [x | y << 10 | z << 20, 0, 0]
            } else {
                [x, y, z]
            };
            assert_eq!(
                [0, 1, 2].map(|v| wave.vgpr[v][17]),
                expected,
                "{gfx}, field {field}"
            );
            assert_eq!(wave.vgpr[7], [0; LANES], "allocated registers start as 0");
            assert_eq!(wave.vgpr[8], [!0; LANES], "the others are not touched");
        }
    }
}

#[test]
fn everything_else_starts_defined() {
    for gfx in Gfx::ALL {
        let wave = wave(gfx, KernelDescriptor::default(), &[]);
        assert_eq!(wave.pc, 0x1000);
        assert_eq!(wave.scc, 0);
        assert_eq!(wave.vcc(), 0);
        assert_eq!(wave.m0(), 0);
        assert_eq!(
            wave.exec(),
            (1 << 36) - 1,
            "50 * 2 work-items, of which 36 in wave 1"
        );
        assert_eq!(wave.hwreg[2], 1 << 11 | 1 << 16);
        let bases = if gfx.is_gfx9() { 0x0001_0002 } else { 0 };
        assert_eq!(wave.hwreg[15], bases);
        let granules = if gfx == Gfx::Gfx600 { 4 } else { 2 };
        assert_eq!(wave.hwreg[6], granules << 12);
    }
}

#[test]
fn the_first_wave_says_so() {
    let descriptor = KernelDescriptor {
        rsrc2: 1 << 10,
        ..KernelDescriptor::default()
    };
    let mut state = InitialState::new(Gfx::Gfx900, descriptor, 0, &facts(&[]));
    let mut wave = WaveState::new_boxed();
    state.enter(&GROUP, false);
    state.start(&mut wave, 0, &[[0; LANES]; 3]);
    wave.settle();
    assert_eq!(wave.sgpr[0], 1 << 31 | 2);
    assert_eq!(wave.exec(), u64::MAX);
}

#[test]
fn mode_comes_from_the_descriptor() {
    let cases = [
        (0, 0, 0),
        (0xff << 12, 0xff, 0xff),
        (0xf0 << 12 | 1 << 21 | 1 << 23, 0x3f0, 0x3f0),
        (1 << 21, 0x100, 0x100),
        (1 << 23, 0x200, 0x200),
        (1 << 26, 0, 1 << 23),
        (0xfff, 0, 0),
    ];
    for gfx in Gfx::ALL {
        for (rsrc1, before, gfx9) in cases {
            let descriptor = KernelDescriptor {
                rsrc1,
                ..KernelDescriptor::default()
            };
            let expected = if gfx.is_gfx9() { gfx9 } else { before };
            assert_eq!(
                wave(gfx, descriptor, &[]).mode,
                expected,
                "{gfx}, rsrc1 {rsrc1:#x}"
            );
        }
    }
}

#[test]
fn register_counts_follow_the_granules() {
    let descriptor = |rsrc1, rsrc3| KernelDescriptor {
        rsrc1,
        rsrc3,
        ..KernelDescriptor::default()
    };
    for (gfx, rsrc1, rsrc3, vgprs, sgprs) in [
        (Gfx::Gfx600, 0, 0, 4, 8),
        (Gfx::Gfx600, 0x3f | 12 << 6, 0, 256, 104),
        (Gfx::Gfx803, 5 | 11 << 6, 0, 24, 96),
        (Gfx::Gfx803, 5 | 12 << 6, 0, 24, 102),
        (Gfx::Gfx900, 5 | 2 << 6, 0, 24, 32),
        (Gfx::Gfx900, 5 | 3 << 6, 0, 24, 32),
        (Gfx::Gfx90a, 5, 63, 48, 16),
        (Gfx::Gfx90a, 5, 3, 16, 16),
        (Gfx::Gfx942, 5, 3, 16, 16),
    ] {
        let descriptor = descriptor(rsrc1, rsrc3);
        assert_eq!(super::vgprs(&descriptor, gfx), vgprs, "{gfx} {rsrc1:#x}");
        assert_eq!(super::sgprs(&descriptor, gfx), sgprs, "{gfx} {rsrc1:#x}");
    }
}

#[test]
fn preloaded_arguments_stand_before_the_private_segment_size() {
    let kernarg: Vec<u8> = (0..32).collect();
    let descriptor = KernelDescriptor {
        rsrc2: user_count(6) | 1 << 7,
        properties: 1 << 3 | 1 << 6,
        preload: 3 | 1 << 7,
        ..KernelDescriptor::default()
    };
    let on = |gfx| wave(gfx, descriptor, &kernarg);
    let wave = on(Gfx::Gfx90a);
    let expected = [
        0x3003,
        0x3333,
        0x0706_0504,
        0x0b0a_0908,
        0x0f0e_0d0c,
        128,
        7,
    ];
    assert_eq!(wave.sgpr[..7], expected);
    assert_eq!(wave.pc, 0x1100);
    let wave = on(Gfx::Gfx906);
    assert_eq!(
        wave.sgpr[..7],
        [0x3003, 0x3333, 128, 0, 0, 0, 7],
        "earlier targets do not preload"
    );
    assert_eq!(wave.pc, 0x1000);
}

#[test]
fn a_kernel_without_scratch_gets_an_unbound_descriptor() {
    let descriptor = KernelDescriptor {
        rsrc2: user_count(4),
        properties: 1,
        ..KernelDescriptor::default()
    };
    let none = Facts {
        scratch: (0, 0),
        lane_bytes: 0,
        ..facts(&[])
    };
    let state = InitialState::new(Gfx::Gfx900, descriptor, 0, &none);
    assert_eq!(state.sgpr[..4], [0; 4]);
}
