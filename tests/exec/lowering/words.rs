//! The instructions that the programs of these tests are made of, as words, and the registers that they agree on.

use harness::random::Random;

/// The bytes of a program.
pub(super) fn bytes(code: &[u32]) -> Vec<u8> {
    code.iter().flat_map(|word| word.to_le_bytes()).collect()
}

pub(super) const ADD_CO: u32 = 0x19;
pub(super) const ADDC_CO: u32 = 0x1c;
pub(super) const ADD: u32 = 0x34;
pub(super) const LSHLREV: u32 = 0x12;
pub(super) const AND64: u32 = 0x0d;
pub(super) const OR64: u32 = 0x0f;
pub(super) const XOR64: u32 = 0x11;
pub(super) const ANDN2: u32 = 0x13;
pub(super) const VCC: u32 = 106;
pub(super) const EXEC: u32 = 126;
/// `s_endpgm`.
pub(super) const ENDPGM: u32 = 0xbf81_0000;
/// The buffer's address.
pub(super) const BASE: u32 = 20;
/// Remaining iterations.
pub(super) const COUNT: u32 = 30;
/// A scalar that changes in every iteration.
pub(super) const STEP: u32 = 28;
/// Lanes that have left.
pub(super) const LEFT: u32 = 40;
/// A mask that bodies change.
pub(super) const BREAK: u32 = 42;

/// VGPR operand code.
pub(super) fn v(n: u32) -> u32 {
    256 + n
}

pub(super) fn vop2(op: u32, dst: u32, src0: u32, src1: u32) -> u32 {
    op << 25 | dst << 17 | src1 << 9 | src0
}

pub(super) fn vop1(op: u32, dst: u32, src0: u32) -> u32 {
    0x7e00_0000 | dst << 17 | op << 9 | src0
}

pub(super) fn vop3(op: u32, dst: u32, sources: [u32; 3]) -> [u32; 2] {
    let [a, b, c] = sources;
    [0xd000_0000 | op << 16 | dst, a | b << 9 | c << 18]
}

/// `v_cmp_…` into VCC.
pub(super) fn vopc(op: u32, src0: u32, src1: u32) -> u32 {
    0x7c00_0000 | op << 17 | src1 << 9 | src0
}

pub(super) fn sop1(op: u32, dst: u32, src: u32) -> u32 {
    0xbe80_0000 | dst << 16 | op << 8 | src
}

pub(super) fn sop2(op: u32, dst: u32, src0: u32, src1: u32) -> u32 {
    0x8000_0000 | op << 23 | dst << 16 | src1 << 8 | src0
}

/// A branch: 2 always, 4 and 5 by SCC, 8 when EXEC is 0 and 9 when it is not; over `words` words.
pub(super) fn branch(op: u32, words: i32) -> u32 {
    0xbf80_0000 | op << 16 | words as u32 & 0xffff
}

/// A branch to word number `start` of a program.
pub(super) fn branch_to(code: &mut Vec<u32>, op: u32, start: usize) {
    let back = start as i32 - code.len() as i32 - 1;
    code.push(branch(op, back));
}

/// The end of a loop from word number `start` on, with a trip count in [`COUNT`].
pub(super) fn count_down(code: &mut Vec<u32>, start: usize) {
    // s_cmp_lg_u32 count, 0
    code.extend([sop2(0, COUNT, COUNT, 193), 0xbf07_0000 | 128 << 8 | COUNT]);
    branch_to(code, 5, start);
}

/// `global_load_dword…` of 1 to 4 dwords.
pub(super) fn load(words: u32, dst: u32, address: u32, offset: i32) -> [u32; 2] {
    let op = 19 + words;
    [
        0xdc00_8000 | op << 18 | offset as u32 & 0x1fff,
        dst << 24 | 0x7f << 16 | address,
    ]
}

/// `global_store_dword…` of 1 to 4 dwords.
pub(super) fn store(words: u32, data: u32, address: u32, offset: i32) -> [u32; 2] {
    let op = match words {
        4 => 31,
        n => 27 + n,
    };
    [
        0xdc00_8000 | op << 18 | offset as u32 & 0x1fff,
        0x7f << 16 | data << 8 | address,
    ]
}

/// `global_store_byte` or `global_store_short`.
pub(super) fn store_part(short: bool, data: u32, address: u32, offset: i32) -> [u32; 2] {
    let op = if short { 26 } else { 24 };
    [
        0xdc00_8000 | op << 18 | offset as u32 & 0x1fff,
        0x7f << 16 | data << 8 | address,
    ]
}

/// `ds_write…` or `ds_read…` of 1, 2 or 4 dwords.
pub(super) fn lds(read: bool, words: u32, register: u32, address: u32, offset: u32) -> [u32; 2] {
    let op = match (read, words) {
        (false, 1) => 13,
        (false, 2) => 77,
        (false, _) => 223,
        (true, 1) => 54,
        (true, 2) => 118,
        (true, _) => 255,
    };
    let at = if read { 24 } else { 8 };
    [0xd800_0000 | op << 17 | offset, register << at | address]
}

/// 64-bit v[n:n+1] += s[s:s+1], the high scalar through v31.
pub(super) fn advance(n: u32, s: u32, crossed: bool) -> [u32; 3] {
    let (a, b) = if crossed {
        (v(n + 1), 31)
    } else {
        (v(31), n + 1)
    };
    [
        vop1(1, 31, s + 1),
        vop2(ADD_CO, n, s, n),
        vop2(ADDC_CO, n + 1, a, b),
    ]
}

/// Arithmetic on registers that no condition of a loop's end reads.
pub(super) fn arithmetic(r: &mut Random, code: &mut Vec<u32>) {
    for _ in 0..1 + r.below(4) {
        let dst = *r.pick(&[8, 9, 10, 11, 12, 13]);
        if r.once_in(6) {
            // A uniform value, or one that counts lanes, in place of what was there.
            code.push(vop1(1, dst, *r.pick(&[133, STEP, v(0), v(1)])));
            continue;
        }
        let src0 = match r.below(4) {
            0 => 129 + r.below(16),
            1 => STEP,
            _ => v(*r.pick(&[0, 1, 7, 8, 9, 10, 11, 12, 13])),
        };
        let src1 = *r.pick(&[0, 1, 7, 8, 9, 10, 11, 12, 13]);
        let op = *r.pick(&[ADD, 0x35, 0x15, 0x13, 0x14, 0x08, 0x01, 0x05, 0x16]);
        code.push(vop2(op, dst, src0, src1));
    }
}

pub(super) fn compare_some(r: &mut Random) -> u32 {
    let op = *r.pick(&[0xc9, 0xcc, 0xcb, 0xcd, 0xce, 0x41, 0x44, 0x4e]);
    let src0 = *r.pick(&[v(7), v(8), v(9), v(20), 132, STEP]);
    vopc(op, src0, *r.pick(&[8, 9, 10, 20, 21]))
}
