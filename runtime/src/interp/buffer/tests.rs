//! Vectors of descriptors, range checks and registers of halves.

use super::*;

fn at(index: u64, offset: u64) -> At {
    At {
        lane: 0,
        index,
        offset,
        address: 0,
    }
}

/// Scratch descriptor as built by the HSA runtime.
const SCRATCH: [u32; 4] = [0x1000, 0x8000_0000, 0x10000, 0x00ec_4fac];

#[test]
fn scratch_is_interleaved_by_lane() {
    let buffer = Buffer::new(SCRATCH, Gfx::Gfx900, false);
    assert!(buffer.swizzle && buffer.add_tid && !buffer.unbound);
    assert_eq!(buffer.index_stride, 64);
    assert_eq!(buffer.element, 4);
    assert_eq!(buffer.position(3, 0), 12);
    assert_eq!(buffer.position(3, 6), 256 + 12 + 2);
    assert_eq!(buffer.position(63, 8), 512 + 252);
    assert!(buffer.inside(at(0, u64::from(u32::MAX)), u64::from(u32::MAX)));
}

#[test]
fn units_of_num_records() {
    // stride 16, 4 records
    let words = [0, 16 << 16, 4, 4 << 15];
    let check = |gfx, swizzle: bool, idxen: bool, index: u64, offset: u64| {
        let mut words = words;
        words[1] |= u32::from(swizzle) << 31;
        let mut buffer = Buffer::new(words, gfx, false);
        buffer.idxen = idxen;
        buffer.inside(at(index, offset), offset)
    };
    assert!(check(Gfx::Gfx700, false, true, 3, 100));
    assert!(!check(Gfx::Gfx700, false, true, 4, 0));
    assert!(
        !check(Gfx::Gfx700, true, true, 3, 16),
        "a swizzled record ends at its stride"
    );
    assert!(check(Gfx::Gfx803, false, true, 0, 3));
    assert!(
        !check(Gfx::Gfx803, false, true, 0, 4),
        "bytes when not swizzled"
    );
    assert!(check(Gfx::Gfx803, true, true, 3, 4));
    assert!(check(Gfx::Gfx900, false, true, 3, 100));
    assert!(
        !check(Gfx::Gfx900, false, false, 0, 4),
        "bytes without an index"
    );
    assert!(check(Gfx::Gfx900, false, false, 0, 3));
}

#[test]
fn scalar_offset_in_the_check() {
    let words = [0, 0, 64, 4 << 15];
    let mut old = Buffer::new(words, Gfx::Gfx803, false);
    old.soffset = 60;
    assert!(old.inside(at(0, 0), 3));
    assert!(!old.inside(at(0, 0), 4));
    let mut new = Buffer::new(words, Gfx::Gfx900, false);
    new.soffset = 60;
    assert!(new.inside(at(0, 0), 63));
    assert!(!new.inside(at(0, 0), 64));
}

#[test]
fn strides_of_scratch_have_18_bits() {
    let words = [0, 1 << 16, 0, 1 << 23 | 3 << 15];
    assert_eq!(Buffer::new(words, Gfx::Gfx803, false).stride, 1 | 3 << 14);
    assert_eq!(Buffer::new(words, Gfx::Gfx803, true).stride, 1);
    assert_eq!(Buffer::new(words, Gfx::Gfx700, false).stride, 1);
    assert!(Buffer::new([1, 0, 4, 0], Gfx::Gfx900, false).unbound);
}

#[test]
fn halves_in_registers() {
    let halves = [1, 2, 3, 4];
    assert_eq!(halves_of(halves, 1, 2, 4), 3 | 4 << 16);
    assert_eq!(halves_of(halves, 1, 4, 4), 2);
    assert_eq!(half_of([2 << 16 | 1, 3, 0, 0], 1, 2, 3), 2);
    assert_eq!(half_of([1, 2, 3, 0], 2, 3, 3), 3);
    assert_eq!(half_of([1, 2, 3, 9], 3, 3, 3), 0);
}
