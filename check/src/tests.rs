//! Each rule with a sequence that breaks it, by one wait state or a wait, and the repaired one. The words are
//! those of llvm-mc for the text, but for `null` and odd pairs, which it refuses.

use frontend::Gfx;

use crate::{Code, Edit, Kernel, Report, Routine, Severity, WaitField, check, check_code};

struct Asm {
    text: &'static str,
    words: &'static [u32],
}

struct Case {
    rule: &'static str,
    gfx: Gfx,
    function: bool,
    broken: Asm,
    repaired: Asm,
}

#[rustfmt::skip]
const CASES: &[Case] = &[
    Case { rule: "wait-read", gfx: Gfx::Gfx900, function: false, broken: Asm { text: "global_load_dword v0, v[2:3], off; v_mov_b32 v1, v0; s_endpgm", words: &[0xdc508000, 0x007f0002, 0x7e020300, 0xbf810000] }, repaired: Asm { text: "global_load_dword v0, v[2:3], off; s_waitcnt vmcnt(0); v_mov_b32 v1, v0; s_endpgm", words: &[0xdc508000, 0x007f0002, 0xbf8c0f70, 0x7e020300, 0xbf810000] } },
    Case { rule: "wait-read", gfx: Gfx::Gfx900, function: false, broken: Asm { text: "global_load_dword v0, v[2:3], off; global_store_dword v[2:3], v1, off; s_waitcnt vmcnt(2); v_mov_b32 v1, v0; s_endpgm", words: &[0xdc508000, 0x007f0002, 0xdc708000, 0x007f0102, 0xbf8c0f72, 0x7e020300, 0xbf810000] }, repaired: Asm { text: "global_load_dword v0, v[2:3], off; global_store_dword v[2:3], v1, off; s_waitcnt vmcnt(1); v_mov_b32 v1, v0; s_endpgm", words: &[0xdc508000, 0x007f0002, 0xdc708000, 0x007f0102, 0xbf8c0f71, 0x7e020300, 0xbf810000] } },
    Case { rule: "wait-read", gfx: Gfx::Gfx900, function: false, broken: Asm { text: "s_load_dword s0, s[4:5], 0x0; s_load_dword s1, s[4:5], 0x4; s_waitcnt lgkmcnt(1); s_mov_b32 s2, s0; s_endpgm", words: &[0xc0020002, 0x00000000, 0xc0020042, 0x00000004, 0xbf8cc17f, 0xbe820000, 0xbf810000] }, repaired: Asm { text: "s_load_dword s0, s[4:5], 0x0; s_load_dword s1, s[4:5], 0x4; s_waitcnt lgkmcnt(0); s_mov_b32 s2, s0; s_endpgm", words: &[0xc0020002, 0x00000000, 0xc0020042, 0x00000004, 0xbf8cc07f, 0xbe820000, 0xbf810000] } },
    Case { rule: "wait-read", gfx: Gfx::Gfx900, function: false, broken: Asm { text: "ds_read_b32 v0, v2; ds_read_b32 v1, v2; s_waitcnt lgkmcnt(1); v_mov_b32 v3, v1; s_endpgm", words: &[0xd86c0000, 0x00000002, 0xd86c0000, 0x01000002, 0xbf8cc17f, 0x7e060301, 0xbf810000] }, repaired: Asm { text: "ds_read_b32 v0, v2; ds_read_b32 v1, v2; s_waitcnt lgkmcnt(1); v_mov_b32 v3, v0; s_endpgm", words: &[0xd86c0000, 0x00000002, 0xd86c0000, 0x01000002, 0xbf8cc17f, 0x7e060300, 0xbf810000] } },
    Case { rule: "wait-read", gfx: Gfx::Gfx900, function: false, broken: Asm { text: "flat_load_dword v0, v[2:3]; s_waitcnt vmcnt(0); v_mov_b32 v1, v0; s_endpgm", words: &[0xdc500000, 0x00000002, 0xbf8c0f70, 0x7e020300, 0xbf810000] }, repaired: Asm { text: "flat_load_dword v0, v[2:3]; s_waitcnt vmcnt(0) lgkmcnt(0); v_mov_b32 v1, v0; s_endpgm", words: &[0xdc500000, 0x00000002, 0xbf8c0070, 0x7e020300, 0xbf810000] } },
    Case { rule: "wait-read", gfx: Gfx::Gfx803, function: false, broken: Asm { text: "buffer_load_dword v0, off, s[0:3], 0; s_waitcnt expcnt(0); v_mov_b32 v1, v0; s_endpgm", words: &[0xe0500000, 0x80000000, 0xbf8c0f0f, 0x7e020300, 0xbf810000] }, repaired: Asm { text: "buffer_load_dword v0, off, s[0:3], 0; s_waitcnt vmcnt(0); v_mov_b32 v1, v0; s_endpgm", words: &[0xe0500000, 0x80000000, 0xbf8c0f70, 0x7e020300, 0xbf810000] } },
    Case { rule: "wait-write", gfx: Gfx::Gfx900, function: false, broken: Asm { text: "global_load_dword v0, v[2:3], off; v_mov_b32 v0, 0; s_endpgm", words: &[0xdc508000, 0x007f0002, 0x7e000280, 0xbf810000] }, repaired: Asm { text: "global_load_dword v0, v[2:3], off; s_waitcnt vmcnt(0); v_mov_b32 v0, 0; s_endpgm", words: &[0xdc508000, 0x007f0002, 0xbf8c0f70, 0x7e000280, 0xbf810000] } },
    Case { rule: "wait-write", gfx: Gfx::Gfx900, function: false, broken: Asm { text: "global_load_dword v0, v[2:3], off; ds_read_b32 v0, v2; s_endpgm", words: &[0xdc508000, 0x007f0002, 0xd86c0000, 0x00000002, 0xbf810000] }, repaired: Asm { text: "global_load_dword v0, v[2:3], off; global_load_dword v0, v[2:3], off; s_endpgm", words: &[0xdc508000, 0x007f0002, 0xdc508000, 0x007f0002, 0xbf810000] } },
    Case { rule: "wait-source", gfx: Gfx::Gfx900, function: false, broken: Asm { text: "exp mrt0 v0, v1, v2, v3; v_mov_b32 v0, 0; s_endpgm", words: &[0xc400000f, 0x03020100, 0x7e000280, 0xbf810000] }, repaired: Asm { text: "exp mrt0 v0, v1, v2, v3; s_waitcnt expcnt(0); v_mov_b32 v0, 0; s_endpgm", words: &[0xc400000f, 0x03020100, 0xbf8ccf0f, 0x7e000280, 0xbf810000] } },
    Case { rule: "wait-source", gfx: Gfx::Gfx900, function: false, broken: Asm { text: "exp mrt0 v0, v1, v2, v3; s_mov_b64 exec, 0; s_endpgm", words: &[0xc400000f, 0x03020100, 0xbefe0180, 0xbf810000] }, repaired: Asm { text: "exp mrt0 v0, v1, v2, v3; s_waitcnt expcnt(0); s_mov_b64 exec, 0; s_endpgm", words: &[0xc400000f, 0x03020100, 0xbf8ccf0f, 0xbefe0180, 0xbf810000] } },
    Case { rule: "wait-source", gfx: Gfx::Gfx600, function: false, broken: Asm { text: "buffer_store_dword v0, off, s[0:3], 0; v_mov_b32 v0, 0; s_endpgm", words: &[0xe0700000, 0x80000000, 0x7e000280, 0xbf810000] }, repaired: Asm { text: "buffer_store_dword v0, off, s[0:3], 0; s_waitcnt expcnt(0); v_mov_b32 v0, 0; s_endpgm", words: &[0xe0700000, 0x80000000, 0xbf8c0f0f, 0x7e000280, 0xbf810000] } },
    Case { rule: "wait-barrier", gfx: Gfx::Gfx900, function: false, broken: Asm { text: "ds_write_b32 v0, v1; s_barrier; s_endpgm", words: &[0xd81a0000, 0x00000100, 0xbf8a0000, 0xbf810000] }, repaired: Asm { text: "ds_write_b32 v0, v1; s_waitcnt lgkmcnt(0); s_barrier; s_endpgm", words: &[0xd81a0000, 0x00000100, 0xbf8cc07f, 0xbf8a0000, 0xbf810000] } },
    Case { rule: "wait-barrier-read", gfx: Gfx::Gfx900, function: false, broken: Asm { text: "ds_read_b32 v0, v1; s_barrier; s_endpgm", words: &[0xd86c0000, 0x00000001, 0xbf8a0000, 0xbf810000] }, repaired: Asm { text: "ds_read_b32 v0, v1; s_waitcnt lgkmcnt(0); s_barrier; s_endpgm", words: &[0xd86c0000, 0x00000001, 0xbf8cc07f, 0xbf8a0000, 0xbf810000] } },
    Case { rule: "wait-lds-load", gfx: Gfx::Gfx900, function: false, broken: Asm { text: "s_mov_b32 m0, 0; s_nop 0; buffer_load_dword off, s[0:3], 0 lds; ds_read_b32 v0, v1; s_endpgm", words: &[0xbefc0080, 0xbf800000, 0xe0510000, 0x80000000, 0xd86c0000, 0x00000001, 0xbf810000] }, repaired: Asm { text: "s_mov_b32 m0, 0; s_nop 0; buffer_load_dword off, s[0:3], 0 lds; s_waitcnt vmcnt(0); ds_read_b32 v0, v1; s_endpgm", words: &[0xbefc0080, 0xbf800000, 0xe0510000, 0x80000000, 0xbf8c0f70, 0xd86c0000, 0x00000001, 0xbf810000] } },
    Case { rule: "wait-vccz", gfx: Gfx::Gfx700, function: false, broken: Asm { text: "s_mov_b64 vcc, 0; s_load_dword s0, s[4:5], 0x0; s_cbranch_vccz 0; s_endpgm", words: &[0xbeea0480, 0xc0000500, 0xbf860000, 0xbf810000] }, repaired: Asm { text: "s_mov_b64 vcc, 0; s_load_dword s0, s[4:5], 0x0; s_waitcnt lgkmcnt(0); s_cbranch_vccz 0; s_endpgm", words: &[0xbeea0480, 0xc0000500, 0xbf8c007f, 0xbf860000, 0xbf810000] } },
    Case { rule: "wait-return", gfx: Gfx::Gfx900, function: true, broken: Asm { text: "s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0); global_load_dword v0, v[2:3], off; s_setpc_b64 s[30:31]", words: &[0xbf8c0000, 0xdc508000, 0x007f0002, 0xbe801d1e] }, repaired: Asm { text: "s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0); global_load_dword v0, v[2:3], off; s_waitcnt vmcnt(0); s_setpc_b64 s[30:31]", words: &[0xbf8c0000, 0xdc508000, 0x007f0002, 0xbf8c0f70, 0xbe801d1e] } },
    Case { rule: "wait-return", gfx: Gfx::Gfx600, function: true, broken: Asm { text: "s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0); buffer_store_dword v0, off, s[0:3], 0; s_setpc_b64 s[30:31]", words: &[0xbf8c0000, 0xe0700000, 0x80000000, 0xbe80201e] }, repaired: Asm { text: "s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0); buffer_store_dword v0, off, s[0:3], 0; s_waitcnt expcnt(0); s_setpc_b64 s[30:31]", words: &[0xbf8c0000, 0xe0700000, 0x80000000, 0xbf8c0f0f, 0xbe80201e] } },
    Case { rule: "wait-entry", gfx: Gfx::Gfx900, function: true, broken: Asm { text: "s_waitcnt vmcnt(0); v_mov_b32 v0, 0; s_setpc_b64 s[30:31]", words: &[0xbf8c0f70, 0x7e000280, 0xbe801d1e] }, repaired: Asm { text: "s_waitcnt vmcnt(0) lgkmcnt(0); v_mov_b32 v0, 0; s_setpc_b64 s[30:31]", words: &[0xbf8c0070, 0x7e000280, 0xbe801d1e] } },
    Case { rule: "nop-sgpr-smrd", gfx: Gfx::Gfx600, function: false, broken: Asm { text: "v_readlane_b32 s4, v0, 1; s_nop 2; s_load_dword s0, s[4:5], 0x0; s_endpgm", words: &[0x02090300, 0xbf800002, 0xc0000500, 0xbf810000] }, repaired: Asm { text: "v_readlane_b32 s4, v0, 1; s_nop 3; s_load_dword s0, s[4:5], 0x0; s_endpgm", words: &[0x02090300, 0xbf800003, 0xc0000500, 0xbf810000] } },
    Case { rule: "nop-descriptor-smrd", gfx: Gfx::Gfx600, function: false, broken: Asm { text: "s_mov_b32 s4, 0; s_nop 2; s_buffer_load_dword s0, s[4:7], 0x0; s_endpgm", words: &[0xbe840380, 0xbf800002, 0xc2000500, 0xbf810000] }, repaired: Asm { text: "s_mov_b32 s4, 0; s_nop 3; s_buffer_load_dword s0, s[4:7], 0x0; s_endpgm", words: &[0xbe840380, 0xbf800003, 0xc2000500, 0xbf810000] } },
    Case { rule: "nop-sgpr-vmem", gfx: Gfx::Gfx900, function: false, broken: Asm { text: "v_readfirstlane_b32 s4, v0; s_nop 3; buffer_store_dword v0, off, s[0:3], s4; s_endpgm", words: &[0x7e080500, 0xbf800003, 0xe0700000, 0x04000000, 0xbf810000] }, repaired: Asm { text: "v_readfirstlane_b32 s4, v0; s_nop 4; buffer_store_dword v0, off, s[0:3], s4; s_endpgm", words: &[0x7e080500, 0xbf800004, 0xe0700000, 0x04000000, 0xbf810000] } },
    Case { rule: "nop-lane-select", gfx: Gfx::Gfx803, function: false, broken: Asm { text: "v_readfirstlane_b32 s4, v0; s_nop 2; v_readlane_b32 s5, v0, s4; s_endpgm", words: &[0x7e080500, 0xbf800002, 0xd2890005, 0x00000900, 0xbf810000] }, repaired: Asm { text: "v_readfirstlane_b32 s4, v0; s_nop 3; v_readlane_b32 s5, v0, s4; s_endpgm", words: &[0x7e080500, 0xbf800003, 0xd2890005, 0x00000900, 0xbf810000] } },
    Case { rule: "nop-vcc-div-fmas", gfx: Gfx::Gfx700, function: false, broken: Asm { text: "v_cmp_eq_u32 vcc, v0, v1; s_nop 2; v_div_fmas_f32 v0, v0, v1, v2; s_endpgm", words: &[0x7d840300, 0xbf800002, 0xd2de0000, 0x040a0300, 0xbf810000] }, repaired: Asm { text: "v_cmp_eq_u32 vcc, v0, v1; s_nop 3; v_div_fmas_f32 v0, v0, v1, v2; s_endpgm", words: &[0x7d840300, 0xbf800003, 0xd2de0000, 0x040a0300, 0xbf810000] } },
    Case { rule: "nop-vgpr-dpp", gfx: Gfx::Gfx803, function: false, broken: Asm { text: "v_mov_b32 v0, 0; s_nop 0; v_mov_b32_dpp v1, v0 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf; s_endpgm", words: &[0x7e000280, 0xbf800000, 0x7e0202fa, 0xff00b100, 0xbf810000] }, repaired: Asm { text: "v_mov_b32 v0, 0; s_nop 1; v_mov_b32_dpp v1, v0 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf; s_endpgm", words: &[0x7e000280, 0xbf800001, 0x7e0202fa, 0xff00b100, 0xbf810000] } },
    Case { rule: "nop-vgpr-dpp", gfx: Gfx::Gfx90a, function: false, broken: Asm { text: "v_mov_b32 v1, 0; s_nop 0; v_ceil_f64_dpp v[2:3], v[0:1] row_newbcast:1 row_mask:0xf bank_mask:0xf; s_endpgm", words: &[0x7e020280, 0xbf800000, 0x7e0430fa, 0xff015100, 0xbf810000] }, repaired: Asm { text: "v_mov_b32 v1, 0; s_nop 1; v_ceil_f64_dpp v[2:3], v[0:1] row_newbcast:1 row_mask:0xf bank_mask:0xf; s_endpgm", words: &[0x7e020280, 0xbf800001, 0x7e0430fa, 0xff015100, 0xbf810000] } },
    Case { rule: "nop-exec-dpp", gfx: Gfx::Gfx900, function: false, broken: Asm { text: "v_cmpx_eq_u32 vcc, v2, v1; s_nop 3; v_mov_b32_dpp v1, v0 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf; s_endpgm", words: &[0x7db40302, 0xbf800003, 0x7e0202fa, 0xff00b100, 0xbf810000] }, repaired: Asm { text: "v_cmpx_eq_u32 vcc, v2, v1; s_nop 4; v_mov_b32_dpp v1, v0 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf; s_endpgm", words: &[0x7db40302, 0xbf800004, 0x7e0202fa, 0xff00b100, 0xbf810000] } },
    Case { rule: "nop-store-data", gfx: Gfx::Gfx900, function: false, broken: Asm { text: "global_store_dwordx4 v[0:1], v[4:7], off; v_mov_b32 v5, 0; s_endpgm", words: &[0xdc7c8000, 0x007f0400, 0x7e0a0280, 0xbf810000] }, repaired: Asm { text: "global_store_dwordx4 v[0:1], v[4:7], off; s_nop 0; v_mov_b32 v5, 0; s_endpgm", words: &[0xdc7c8000, 0x007f0400, 0xbf800000, 0x7e0a0280, 0xbf810000] } },
    Case { rule: "nop-setreg-getreg", gfx: Gfx::Gfx900, function: false, broken: Asm { text: "s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s0; s_nop 0; s_getreg_b32 s1, hwreg(HW_REG_MODE); s_endpgm", words: &[0xb9001801, 0xbf800000, 0xb881f801, 0xbf810000] }, repaired: Asm { text: "s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s0; s_nop 1; s_getreg_b32 s1, hwreg(HW_REG_MODE); s_endpgm", words: &[0xb9001801, 0xbf800001, 0xb881f801, 0xbf810000] } },
    Case { rule: "nop-setreg-setreg", gfx: Gfx::Gfx900, function: false, broken: Asm { text: "s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s0; s_nop 0; s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s1; s_endpgm", words: &[0xb9001801, 0xbf800000, 0xb9011801, 0xbf810000] }, repaired: Asm { text: "s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s0; s_nop 1; s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s1; s_endpgm", words: &[0xb9001801, 0xbf800001, 0xb9011801, 0xbf810000] } },
    Case { rule: "nop-setreg-setreg", gfx: Gfx::Gfx600, function: false, broken: Asm { text: "s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s0; s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s1; s_endpgm", words: &[0xb9801801, 0xb9811801, 0xbf810000] }, repaired: Asm { text: "s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s0; s_nop 0; s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s1; s_endpgm", words: &[0xb9801801, 0xbf800000, 0xb9811801, 0xbf810000] } },
    Case { rule: "nop-trapsts-rfe", gfx: Gfx::Gfx900, function: false, broken: Asm { text: "s_setreg_b32 hwreg(HW_REG_TRAPSTS, 0, 4), s0; s_rfe_b64 s[0:1]", words: &[0xb9001803, 0xbe801f00] }, repaired: Asm { text: "s_setreg_b32 hwreg(HW_REG_TRAPSTS, 0, 4), s0; s_nop 0; s_rfe_b64 s[0:1]", words: &[0xb9001803, 0xbf800000, 0xbe801f00] } },
    Case { rule: "nop-vskip", gfx: Gfx::Gfx900, function: false, broken: Asm { text: "s_setreg_b32 hwreg(HW_REG_MODE, 28, 1), s0; s_nop 0; v_mov_b32 v0, 0; s_endpgm", words: &[0xb9000701, 0xbf800000, 0x7e000280, 0xbf810000] }, repaired: Asm { text: "s_setreg_b32 hwreg(HW_REG_MODE, 28, 1), s0; s_nop 1; v_mov_b32 v0, 0; s_endpgm", words: &[0xb9000701, 0xbf800001, 0x7e000280, 0xbf810000] } },
    Case { rule: "nop-setvskip-getreg", gfx: Gfx::Gfx900, function: false, broken: Asm { text: "s_setvskip s0, 0; s_nop 0; s_getreg_b32 s1, hwreg(HW_REG_MODE); s_endpgm", words: &[0xbf108000, 0xbf800000, 0xb881f801, 0xbf810000] }, repaired: Asm { text: "s_setvskip s0, 0; s_nop 1; s_getreg_b32 s1, hwreg(HW_REG_MODE); s_endpgm", words: &[0xbf108000, 0xbf800001, 0xb881f801, 0xbf810000] } },
    Case { rule: "nop-vccz-data", gfx: Gfx::Gfx900, function: false, broken: Asm { text: "v_cmp_eq_u32 vcc, v0, v1; s_nop 3; v_mov_b32 v0, src_vccz; s_endpgm", words: &[0x7d940300, 0xbf800003, 0x7e0002fb, 0xbf810000] }, repaired: Asm { text: "v_cmp_eq_u32 vcc, v0, v1; s_nop 4; v_mov_b32 v0, src_vccz; s_endpgm", words: &[0x7d940300, 0xbf800004, 0x7e0002fb, 0xbf810000] } },
    Case { rule: "nop-m0-message", gfx: Gfx::Gfx803, function: false, broken: Asm { text: "s_mov_b32 m0, 0; s_sendmsg sendmsg(MSG_INTERRUPT); s_endpgm", words: &[0xbefc0080, 0xbf900001, 0xbf810000] }, repaired: Asm { text: "s_mov_b32 m0, 0; s_nop 0; s_sendmsg sendmsg(MSG_INTERRUPT); s_endpgm", words: &[0xbefc0080, 0xbf800000, 0xbf900001, 0xbf810000] } },
    Case { rule: "nop-m0-indirect", gfx: Gfx::Gfx900, function: false, broken: Asm { text: "s_mov_b32 m0, 0; s_movrels_b32 s0, s1; s_endpgm", words: &[0xbefc0080, 0xbe802a01, 0xbf810000] }, repaired: Asm { text: "s_mov_b32 m0, 0; s_nop 0; s_movrels_b32 s0, s1; s_endpgm", words: &[0xbefc0080, 0xbf800000, 0xbe802a01, 0xbf810000] } },
    Case { rule: "nop-vcc-number", gfx: Gfx::Gfx900, function: false, broken: Asm { text: "v_cmp_eq_u32 vcc, v0, v1; v_mov_b32 v2, s31; s_endpgm", words: &[0x7d940300, 0x7e04021f, 0xbf810000] }, repaired: Asm { text: "v_cmp_eq_u32 vcc, v0, v1; s_nop 0; v_mov_b32 v2, s31; s_endpgm", words: &[0x7d940300, 0xbf800000, 0x7e04021f, 0xbf810000] } },
    Case { rule: "nop-vcc-number", gfx: Gfx::Gfx906, function: false, broken: Asm { text: "s_mov_b64 vcc, 0; v_readfirstlane_b32 s30, v0; v_mov_b32 v2, vcc_lo; s_endpgm", words: &[0xbeea0180, 0x7e3c0500, 0x7e04026a, 0xbf810000] }, repaired: Asm { text: "s_mov_b64 vcc, 0; v_readfirstlane_b32 s30, v0; s_nop 0; v_mov_b32 v2, vcc_lo; s_endpgm", words: &[0xbeea0180, 0x7e3c0500, 0xbf800000, 0x7e04026a, 0xbf810000] } },
    Case { rule: "nop-vcc-number", gfx: Gfx::Gfx90a, function: false, broken: Asm { text: "s_mov_b64 vcc, 0; v_cmp_eq_u32 s[30:31], v0, v1; v_add_f64 v[2:3], vcc, v[4:5]; s_endpgm", words: &[0xbeea0180, 0xd0ca001e, 0x00020300, 0xd2800002, 0x0002086a, 0xbf810000] }, repaired: Asm { text: "s_mov_b64 vcc, 0; v_cmp_eq_u32 s[30:31], v0, v1; s_nop 0; v_add_f64 v[2:3], vcc, v[4:5]; s_endpgm", words: &[0xbeea0180, 0xd0ca001e, 0x00020300, 0xbf800000, 0xd2800002, 0x0002086a, 0xbf810000] } },
    Case { rule: "nop-vcc-number-branch", gfx: Gfx::Gfx900, function: false, broken: Asm { text: "s_mov_b64 vcc, 0; s_mov_b32 s30, 0; s_cbranch_vccz 0; s_endpgm", words: &[0xbeea0180, 0xbe9e0080, 0xbf860000, 0xbf810000] }, repaired: Asm { text: "s_mov_b64 vcc, 0; s_mov_b32 s30, 0; s_nop 0; s_cbranch_vccz 0; s_endpgm", words: &[0xbeea0180, 0xbe9e0080, 0xbf800000, 0xbf860000, 0xbf810000] } },
    Case { rule: "nop-interp-lane", gfx: Gfx::Gfx600, function: false, broken: Asm { text: "s_mov_b32 m0, 0; v_interp_p1_f32 v0, v1, attr0.x; v_readfirstlane_b32 s0, v0; s_endpgm", words: &[0xbefc0380, 0xc8000001, 0x7e000500, 0xbf810000] }, repaired: Asm { text: "s_mov_b32 m0, 0; v_interp_p1_f32 v0, v1, attr0.x; s_nop 0; v_readfirstlane_b32 s0, v0; s_endpgm", words: &[0xbefc0380, 0xc8000001, 0xbf800000, 0x7e000500, 0xbf810000] } },
    Case { rule: "nop-dot", gfx: Gfx::Gfx90a, function: false, broken: Asm { text: "v_dot2_f32_f16 v0, v1, v2, v3; s_nop 1; v_mov_b32 v4, v0; s_endpgm", words: &[0xd3a34000, 0x1c0e0501, 0xbf800001, 0x7e080300, 0xbf810000] }, repaired: Asm { text: "v_dot2_f32_f16 v0, v1, v2, v3; s_nop 2; v_mov_b32 v4, v0; s_endpgm", words: &[0xd3a34000, 0x1c0e0501, 0xbf800002, 0x7e080300, 0xbf810000] } },
    Case { rule: "nop-exec-mfma", gfx: Gfx::Gfx908, function: false, broken: Asm { text: "v_accvgpr_write_b32 a0, 1.0; v_accvgpr_write_b32 a1, 1.0; v_accvgpr_write_b32 a2, 1.0; v_accvgpr_write_b32 a3, 1.0; v_cmpx_eq_u32 vcc, v4, v1; s_nop 2; v_mfma_f32_4x4x1f32 a[0:3], v0, v1, a[0:3]; s_endpgm", words: &[0xd3d94000, 0x180000f2, 0xd3d94001, 0x180000f2, 0xd3d94002, 0x180000f2, 0xd3d94003, 0x180000f2, 0x7db40304, 0xbf800002, 0xd3c20000, 0x04020300, 0xbf810000] }, repaired: Asm { text: "v_accvgpr_write_b32 a0, 1.0; v_accvgpr_write_b32 a1, 1.0; v_accvgpr_write_b32 a2, 1.0; v_accvgpr_write_b32 a3, 1.0; v_cmpx_eq_u32 vcc, v4, v1; s_nop 3; v_mfma_f32_4x4x1f32 a[0:3], v0, v1, a[0:3]; s_endpgm", words: &[0xd3d94000, 0x180000f2, 0xd3d94001, 0x180000f2, 0xd3d94002, 0x180000f2, 0xd3d94003, 0x180000f2, 0x7db40304, 0xbf800003, 0xd3c20000, 0x04020300, 0xbf810000] } },
    Case { rule: "nop-vgpr-mfma", gfx: Gfx::Gfx908, function: false, broken: Asm { text: "v_accvgpr_write_b32 a0, 1.0; v_accvgpr_write_b32 a1, 1.0; v_accvgpr_write_b32 a2, 1.0; v_accvgpr_write_b32 a3, 1.0; v_mov_b32 v0, 0; s_nop 0; v_mfma_f32_4x4x1f32 a[0:3], v0, v1, a[0:3]; s_endpgm", words: &[0xd3d94000, 0x180000f2, 0xd3d94001, 0x180000f2, 0xd3d94002, 0x180000f2, 0xd3d94003, 0x180000f2, 0x7e000280, 0xbf800000, 0xd3c20000, 0x04020300, 0xbf810000] }, repaired: Asm { text: "v_accvgpr_write_b32 a0, 1.0; v_accvgpr_write_b32 a1, 1.0; v_accvgpr_write_b32 a2, 1.0; v_accvgpr_write_b32 a3, 1.0; v_mov_b32 v0, 0; s_nop 1; v_mfma_f32_4x4x1f32 a[0:3], v0, v1, a[0:3]; s_endpgm", words: &[0xd3d94000, 0x180000f2, 0xd3d94001, 0x180000f2, 0xd3d94002, 0x180000f2, 0xd3d94003, 0x180000f2, 0x7e000280, 0xbf800001, 0xd3c20000, 0x04020300, 0xbf810000] } },
    Case { rule: "nop-mfma-c", gfx: Gfx::Gfx908, function: true, broken: Asm { text: "s_waitcnt vmcnt(0) lgkmcnt(0); v_mfma_f32_16x16x1f32 a[0:15], v0, v1, a[0:15]; s_nop 0; v_mfma_f32_4x4x1f32 a[16:19], v0, v1, a[2:5]; s_setpc_b64 s[30:31]", words: &[0xbf8c0070, 0xd3c10000, 0x04020300, 0xbf800000, 0xd3c20010, 0x040a0300, 0xbe801d1e] }, repaired: Asm { text: "s_waitcnt vmcnt(0) lgkmcnt(0); v_mfma_f32_16x16x1f32 a[0:15], v0, v1, a[0:15]; s_nop 1; v_mfma_f32_4x4x1f32 a[16:19], v0, v1, a[2:5]; s_setpc_b64 s[30:31]", words: &[0xbf8c0070, 0xd3c10000, 0x04020300, 0xbf800001, 0xd3c20010, 0x040a0300, 0xbe801d1e] } },
    Case { rule: "nop-mfma-a-b", gfx: Gfx::Gfx908, function: true, broken: Asm { text: "s_waitcnt vmcnt(0) lgkmcnt(0); v_mfma_f32_4x4x1f32 a[0:3], v0, v1, a[0:3]; s_nop 2; v_mfma_f32_4x4x1f32 a[4:7], a0, v1, a[4:7]; s_setpc_b64 s[30:31]", words: &[0xbf8c0070, 0xd3c20000, 0x04020300, 0xbf800002, 0xd3c20004, 0x0c120300, 0xbe801d1e] }, repaired: Asm { text: "s_waitcnt vmcnt(0) lgkmcnt(0); v_mfma_f32_4x4x1f32 a[0:3], v0, v1, a[0:3]; s_nop 3; v_mfma_f32_4x4x1f32 a[4:7], a0, v1, a[4:7]; s_setpc_b64 s[30:31]", words: &[0xbf8c0070, 0xd3c20000, 0x04020300, 0xbf800003, 0xd3c20004, 0x0c120300, 0xbe801d1e] } },
    Case { rule: "nop-mfma-read", gfx: Gfx::Gfx908, function: true, broken: Asm { text: "s_waitcnt vmcnt(0) lgkmcnt(0); v_mfma_f32_4x4x1f32 a[0:3], v0, v1, a[0:3]; s_nop 2; v_accvgpr_read_b32 v2, a0; s_setpc_b64 s[30:31]", words: &[0xbf8c0070, 0xd3c20000, 0x04020300, 0xbf800002, 0xd3d84002, 0x18000100, 0xbe801d1e] }, repaired: Asm { text: "s_waitcnt vmcnt(0) lgkmcnt(0); v_mfma_f32_4x4x1f32 a[0:3], v0, v1, a[0:3]; s_nop 3; v_accvgpr_read_b32 v2, a0; s_setpc_b64 s[30:31]", words: &[0xbf8c0070, 0xd3c20000, 0x04020300, 0xbf800003, 0xd3d84002, 0x18000100, 0xbe801d1e] } },
    Case { rule: "nop-mfma-read", gfx: Gfx::Gfx908, function: true, broken: Asm { text: "s_waitcnt vmcnt(0) lgkmcnt(0); v_mfma_f32_16x16x1f32 a[0:15], v0, v1, a[0:15]; s_nop 7; s_nop 0; v_accvgpr_read_b32 v2, a15; s_setpc_b64 s[30:31]", words: &[0xbf8c0070, 0xd3c10000, 0x04020300, 0xbf800007, 0xbf800000, 0xd3d84002, 0x1800010f, 0xbe801d1e] }, repaired: Asm { text: "s_waitcnt vmcnt(0) lgkmcnt(0); v_mfma_f32_16x16x1f32 a[0:15], v0, v1, a[0:15]; s_nop 7; s_nop 1; v_accvgpr_read_b32 v2, a15; s_setpc_b64 s[30:31]", words: &[0xbf8c0070, 0xd3c10000, 0x04020300, 0xbf800007, 0xbf800001, 0xd3d84002, 0x1800010f, 0xbe801d1e] } },
    Case { rule: "nop-mfma-read", gfx: Gfx::Gfx908, function: true, broken: Asm { text: "s_waitcnt vmcnt(0) lgkmcnt(0); v_mfma_f32_32x32x1f32 a[0:31], v0, v1, a[0:31]; s_nop 7; s_nop 7; s_nop 0; v_accvgpr_read_b32 v2, a31; s_setpc_b64 s[30:31]", words: &[0xbf8c0070, 0xd3c00000, 0x04020300, 0xbf800007, 0xbf800007, 0xbf800000, 0xd3d84002, 0x1800011f, 0xbe801d1e] }, repaired: Asm { text: "s_waitcnt vmcnt(0) lgkmcnt(0); v_mfma_f32_32x32x1f32 a[0:31], v0, v1, a[0:31]; s_nop 7; s_nop 7; s_nop 1; v_accvgpr_read_b32 v2, a31; s_setpc_b64 s[30:31]", words: &[0xbf8c0070, 0xd3c00000, 0x04020300, 0xbf800007, 0xbf800007, 0xbf800001, 0xd3d84002, 0x1800011f, 0xbe801d1e] } },
    Case { rule: "nop-mfma-write", gfx: Gfx::Gfx908, function: true, broken: Asm { text: "s_waitcnt vmcnt(0) lgkmcnt(0); v_mfma_f32_4x4x1f32 a[0:3], v0, v1, a[0:3]; v_accvgpr_write_b32 a0, 1.0; s_setpc_b64 s[30:31]", words: &[0xbf8c0070, 0xd3c20000, 0x04020300, 0xd3d94000, 0x180000f2, 0xbe801d1e] }, repaired: Asm { text: "s_waitcnt vmcnt(0) lgkmcnt(0); v_mfma_f32_4x4x1f32 a[0:3], v0, v1, a[0:3]; s_nop 0; v_accvgpr_write_b32 a0, 1.0; s_setpc_b64 s[30:31]", words: &[0xbf8c0070, 0xd3c20000, 0x04020300, 0xbf800000, 0xd3d94000, 0x180000f2, 0xbe801d1e] } },
    Case { rule: "nop-mfma-write", gfx: Gfx::Gfx908, function: true, broken: Asm { text: "s_waitcnt vmcnt(0) lgkmcnt(0); v_mfma_f32_16x16x1f32 a[0:15], v0, v1, a[16:31]; s_nop 5; v_accvgpr_write_b32 a0, 1.0; s_setpc_b64 s[30:31]", words: &[0xbf8c0070, 0xd3c10000, 0x04420300, 0xbf800005, 0xd3d94000, 0x180000f2, 0xbe801d1e] }, repaired: Asm { text: "s_waitcnt vmcnt(0) lgkmcnt(0); v_mfma_f32_16x16x1f32 a[0:15], v0, v1, a[16:31]; s_nop 6; v_accvgpr_write_b32 a0, 1.0; s_setpc_b64 s[30:31]", words: &[0xbf8c0070, 0xd3c10000, 0x04420300, 0xbf800006, 0xd3d94000, 0x180000f2, 0xbe801d1e] } },
    Case { rule: "nop-mfma-write", gfx: Gfx::Gfx908, function: true, broken: Asm { text: "s_waitcnt vmcnt(0) lgkmcnt(0); v_mfma_f32_32x32x1f32 a[0:31], v0, v1, a[0:31]; s_nop 7; s_nop 5; v_accvgpr_write_b32 a0, 1.0; s_setpc_b64 s[30:31]", words: &[0xbf8c0070, 0xd3c00000, 0x04020300, 0xbf800007, 0xbf800005, 0xd3d94000, 0x180000f2, 0xbe801d1e] }, repaired: Asm { text: "s_waitcnt vmcnt(0) lgkmcnt(0); v_mfma_f32_32x32x1f32 a[0:31], v0, v1, a[0:31]; s_nop 7; s_nop 6; v_accvgpr_write_b32 a0, 1.0; s_setpc_b64 s[30:31]", words: &[0xbf8c0070, 0xd3c00000, 0x04020300, 0xbf800007, 0xbf800006, 0xd3d94000, 0x180000f2, 0xbe801d1e] } },
    Case { rule: "nop-mfma-c-write", gfx: Gfx::Gfx908, function: true, broken: Asm { text: "s_waitcnt vmcnt(0) lgkmcnt(0); v_mfma_f32_16x16x1f32 a[16:31], v0, v1, a[0:15]; s_nop 3; v_accvgpr_write_b32 a0, 1.0; s_setpc_b64 s[30:31]", words: &[0xbf8c0070, 0xd3c10010, 0x04020300, 0xbf800003, 0xd3d94000, 0x180000f2, 0xbe801d1e] }, repaired: Asm { text: "s_waitcnt vmcnt(0) lgkmcnt(0); v_mfma_f32_16x16x1f32 a[16:31], v0, v1, a[0:15]; s_nop 4; v_accvgpr_write_b32 a0, 1.0; s_setpc_b64 s[30:31]", words: &[0xbf8c0070, 0xd3c10010, 0x04020300, 0xbf800004, 0xd3d94000, 0x180000f2, 0xbe801d1e] } },
    Case { rule: "nop-mfma-c-write", gfx: Gfx::Gfx908, function: true, broken: Asm { text: "s_waitcnt vmcnt(0) lgkmcnt(0); v_mfma_f32_32x32x1f32 a[32:63], v0, v1, a[0:31]; s_nop 7; s_nop 3; v_accvgpr_write_b32 a0, 1.0; s_setpc_b64 s[30:31]", words: &[0xbf8c0070, 0xd3c00020, 0x04020300, 0xbf800007, 0xbf800003, 0xd3d94000, 0x180000f2, 0xbe801d1e] }, repaired: Asm { text: "s_waitcnt vmcnt(0) lgkmcnt(0); v_mfma_f32_32x32x1f32 a[32:63], v0, v1, a[0:31]; s_nop 7; s_nop 4; v_accvgpr_write_b32 a0, 1.0; s_setpc_b64 s[30:31]", words: &[0xbf8c0070, 0xd3c00020, 0x04020300, 0xbf800007, 0xbf800004, 0xd3d94000, 0x180000f2, 0xbe801d1e] } },
    Case { rule: "nop-accvgpr-mfma", gfx: Gfx::Gfx908, function: true, broken: Asm { text: "s_waitcnt vmcnt(0) lgkmcnt(0); v_accvgpr_write_b32 a0, 1.0; v_mfma_f32_4x4x1f32 a[0:3], v0, v1, a[0:3]; s_setpc_b64 s[30:31]", words: &[0xbf8c0070, 0xd3d94000, 0x180000f2, 0xd3c20000, 0x04020300, 0xbe801d1e] }, repaired: Asm { text: "s_waitcnt vmcnt(0) lgkmcnt(0); v_accvgpr_write_b32 a0, 1.0; s_nop 0; v_mfma_f32_4x4x1f32 a[0:3], v0, v1, a[0:3]; s_setpc_b64 s[30:31]", words: &[0xbf8c0070, 0xd3d94000, 0x180000f2, 0xbf800000, 0xd3c20000, 0x04020300, 0xbe801d1e] } },
    Case { rule: "nop-accvgpr-mfma", gfx: Gfx::Gfx908, function: true, broken: Asm { text: "s_waitcnt vmcnt(0) lgkmcnt(0); v_accvgpr_write_b32 a0, 1.0; s_nop 1; v_mfma_f32_4x4x1f32 a[4:7], v0, a0, a[4:7]; s_setpc_b64 s[30:31]", words: &[0xbf8c0070, 0xd3d94000, 0x180000f2, 0xbf800001, 0xd3c20004, 0x14120100, 0xbe801d1e] }, repaired: Asm { text: "s_waitcnt vmcnt(0) lgkmcnt(0); v_accvgpr_write_b32 a0, 1.0; s_nop 2; v_mfma_f32_4x4x1f32 a[4:7], v0, a0, a[4:7]; s_setpc_b64 s[30:31]", words: &[0xbf8c0070, 0xd3d94000, 0x180000f2, 0xbf800002, 0xd3c20004, 0x14120100, 0xbe801d1e] } },
    Case { rule: "nop-accvgpr-mfma", gfx: Gfx::Gfx908, function: true, broken: Asm { text: "s_waitcnt vmcnt(0) lgkmcnt(0); v_accvgpr_write_b32 a0, 1.0; s_nop 1; v_accvgpr_read_b32 v2, a0; s_setpc_b64 s[30:31]", words: &[0xbf8c0070, 0xd3d94000, 0x180000f2, 0xbf800001, 0xd3d84002, 0x18000100, 0xbe801d1e] }, repaired: Asm { text: "s_waitcnt vmcnt(0) lgkmcnt(0); v_accvgpr_write_b32 a0, 1.0; s_nop 2; v_accvgpr_read_b32 v2, a0; s_setpc_b64 s[30:31]", words: &[0xbf8c0070, 0xd3d94000, 0x180000f2, 0xbf800002, 0xd3d84002, 0x18000100, 0xbe801d1e] } },
    Case { rule: "nop-accvgpr-memory", gfx: Gfx::Gfx908, function: true, broken: Asm { text: "s_waitcnt vmcnt(0) lgkmcnt(0); v_accvgpr_read_b32 v2, a0; s_nop 0; global_store_dword v[0:1], v2, off; s_setpc_b64 s[30:31]", words: &[0xbf8c0070, 0xd3d84002, 0x18000100, 0xbf800000, 0xdc708000, 0x007f0200, 0xbe801d1e] }, repaired: Asm { text: "s_waitcnt vmcnt(0) lgkmcnt(0); v_accvgpr_read_b32 v2, a0; s_nop 1; global_store_dword v[0:1], v2, off; s_setpc_b64 s[30:31]", words: &[0xbf8c0070, 0xd3d84002, 0x18000100, 0xbf800001, 0xdc708000, 0x007f0200, 0xbe801d1e] } },
    Case { rule: "nop-vgpr-memory", gfx: Gfx::Gfx908, function: true, broken: Asm { text: "s_waitcnt vmcnt(0) lgkmcnt(0); v_mov_b32 v2, 0; v_accvgpr_write_b32 a0, 1.0; global_store_dword v[0:1], v2, off; s_setpc_b64 s[30:31]", words: &[0xbf8c0070, 0x7e040280, 0xd3d94000, 0x180000f2, 0xdc708000, 0x007f0200, 0xbe801d1e] }, repaired: Asm { text: "s_waitcnt vmcnt(0) lgkmcnt(0); v_mov_b32 v2, 0; v_accvgpr_write_b32 a0, 1.0; s_nop 0; global_store_dword v[0:1], v2, off; s_setpc_b64 s[30:31]", words: &[0xbf8c0070, 0x7e040280, 0xd3d94000, 0x180000f2, 0xbf800000, 0xdc708000, 0x007f0200, 0xbe801d1e] } },
    Case { rule: "nop-vgpr-mfma", gfx: Gfx::Gfx90a, function: false, broken: Asm { text: "v_accvgpr_write_b32 a0, 1.0; s_nop 0; v_mfma_f32_4x4x1f32 a[4:7], v0, a0, 1.0; s_endpgm", words: &[0xd3d94000, 0x180000f2, 0xbf800000, 0xd3c28004, 0x13ca0100, 0xbf810000] }, repaired: Asm { text: "v_accvgpr_write_b32 a0, 1.0; s_nop 1; v_mfma_f32_4x4x1f32 a[4:7], v0, a0, 1.0; s_endpgm", words: &[0xd3d94000, 0x180000f2, 0xbf800001, 0xd3c28004, 0x13ca0100, 0xbf810000] } },
    Case { rule: "nop-mfma-c", gfx: Gfx::Gfx90a, function: false, broken: Asm { text: "v_mfma_f32_4x4x1f32 v[8:11], v0, v1, 1.0; s_nop 0; v_mfma_f32_4x4x1f32 v[16:19], v0, v1, v[6:9]; s_endpgm", words: &[0xd3c20008, 0x03ca0300, 0xbf800000, 0xd3c20010, 0x041a0300, 0xbf810000] }, repaired: Asm { text: "v_mfma_f32_4x4x1f32 v[8:11], v0, v1, 1.0; s_nop 1; v_mfma_f32_4x4x1f32 v[16:19], v0, v1, v[6:9]; s_endpgm", words: &[0xd3c20008, 0x03ca0300, 0xbf800001, 0xd3c20010, 0x041a0300, 0xbf810000] } },
    Case { rule: "nop-mfma-c", gfx: Gfx::Gfx90a, function: false, broken: Asm { text: "v_mfma_f32_16x16x1f32 v[8:23], v0, v1, 1.0; s_nop 6; v_mfma_f32_4x4x1f32 v[24:27], v0, v1, v[20:23]; s_endpgm", words: &[0xd3c10008, 0x03ca0300, 0xbf800006, 0xd3c20018, 0x04520300, 0xbf810000] }, repaired: Asm { text: "v_mfma_f32_16x16x1f32 v[8:23], v0, v1, 1.0; s_nop 7; v_mfma_f32_4x4x1f32 v[24:27], v0, v1, v[20:23]; s_endpgm", words: &[0xd3c10008, 0x03ca0300, 0xbf800007, 0xd3c20018, 0x04520300, 0xbf810000] } },
    Case { rule: "nop-mfma-c", gfx: Gfx::Gfx90a, function: false, broken: Asm { text: "v_mfma_f32_32x32x1f32 a[0:31], v0, v1, 1.0; s_nop 7; s_nop 6; v_mfma_f32_4x4x1f32 a[32:35], v0, v1, a[20:23]; s_endpgm", words: &[0xd3c08000, 0x03ca0300, 0xbf800007, 0xbf800006, 0xd3c28020, 0x04520300, 0xbf810000] }, repaired: Asm { text: "v_mfma_f32_32x32x1f32 a[0:31], v0, v1, 1.0; s_nop 7; s_nop 7; v_mfma_f32_4x4x1f32 a[32:35], v0, v1, a[20:23]; s_endpgm", words: &[0xd3c08000, 0x03ca0300, 0xbf800007, 0xbf800007, 0xd3c28020, 0x04520300, 0xbf810000] } },
    Case { rule: "nop-mfma-c", gfx: Gfx::Gfx90a, function: false, broken: Asm { text: "v_mfma_f32_4x4x1f32 v[8:11], v0, v1, 1.0; s_nop 1; v_mfma_f64_4x4x4f64 v[16:17], v[0:1], v[2:3], v[8:9]; s_endpgm", words: &[0xd3c20008, 0x03ca0300, 0xbf800001, 0xd3ef0010, 0x04220500, 0xbf810000] }, repaired: Asm { text: "v_mfma_f32_4x4x1f32 v[8:11], v0, v1, 1.0; s_nop 2; v_mfma_f64_4x4x4f64 v[16:17], v[0:1], v[2:3], v[8:9]; s_endpgm", words: &[0xd3c20008, 0x03ca0300, 0xbf800002, 0xd3ef0010, 0x04220500, 0xbf810000] } },
    Case { rule: "nop-mfma-c", gfx: Gfx::Gfx90a, function: false, broken: Asm { text: "v_mfma_f64_4x4x4f64 v[8:9], v[0:1], v[2:3], 1.0; s_nop 2; v_mfma_f64_4x4x4f64 v[16:17], v[0:1], v[2:3], v[8:9]; s_endpgm", words: &[0xd3ef0008, 0x03ca0500, 0xbf800002, 0xd3ef0010, 0x04220500, 0xbf810000] }, repaired: Asm { text: "v_mfma_f64_4x4x4f64 v[8:9], v[0:1], v[2:3], 1.0; s_nop 3; v_mfma_f64_4x4x4f64 v[16:17], v[0:1], v[2:3], v[8:9]; s_endpgm", words: &[0xd3ef0008, 0x03ca0500, 0xbf800003, 0xd3ef0010, 0x04220500, 0xbf810000] } },
    Case { rule: "nop-mfma-c", gfx: Gfx::Gfx90a, function: false, broken: Asm { text: "v_mfma_f64_16x16x4f64 v[8:15], v[0:1], v[2:3], 1.0; s_nop 7; v_mfma_f64_4x4x4f64 v[16:17], v[0:1], v[2:3], v[8:9]; s_endpgm", words: &[0xd3ee0008, 0x03ca0500, 0xbf800007, 0xd3ef0010, 0x04220500, 0xbf810000] }, repaired: Asm { text: "v_mfma_f64_16x16x4f64 v[8:15], v[0:1], v[2:3], 1.0; s_nop 7; s_nop 0; v_mfma_f64_4x4x4f64 v[16:17], v[0:1], v[2:3], v[8:9]; s_endpgm", words: &[0xd3ee0008, 0x03ca0500, 0xbf800007, 0xbf800000, 0xd3ef0010, 0x04220500, 0xbf810000] } },
    Case { rule: "nop-mfma-a-b", gfx: Gfx::Gfx90a, function: false, broken: Asm { text: "v_mfma_f32_4x4x1f32 v[8:11], v0, v1, 1.0; s_nop 3; v_mfma_f32_4x4x1f32 v[12:15], v8, v1, 1.0; s_endpgm", words: &[0xd3c20008, 0x03ca0300, 0xbf800003, 0xd3c2000c, 0x03ca0308, 0xbf810000] }, repaired: Asm { text: "v_mfma_f32_4x4x1f32 v[8:11], v0, v1, 1.0; s_nop 4; v_mfma_f32_4x4x1f32 v[12:15], v8, v1, 1.0; s_endpgm", words: &[0xd3c20008, 0x03ca0300, 0xbf800004, 0xd3c2000c, 0x03ca0308, 0xbf810000] } },
    Case { rule: "nop-mfma-a-b", gfx: Gfx::Gfx90a, function: false, broken: Asm { text: "v_mfma_f32_16x16x1f32 a[0:15], v0, v1, 1.0; s_nop 7; s_nop 1; v_mfma_f32_4x4x1f32 v[12:15], v1, a1, 1.0; s_endpgm", words: &[0xd3c18000, 0x03ca0300, 0xbf800007, 0xbf800001, 0xd3c2000c, 0x13ca0301, 0xbf810000] }, repaired: Asm { text: "v_mfma_f32_16x16x1f32 a[0:15], v0, v1, 1.0; s_nop 7; s_nop 2; v_mfma_f32_4x4x1f32 v[12:15], v1, a1, 1.0; s_endpgm", words: &[0xd3c18000, 0x03ca0300, 0xbf800007, 0xbf800002, 0xd3c2000c, 0x13ca0301, 0xbf810000] } },
    Case { rule: "nop-mfma-a-b", gfx: Gfx::Gfx90a, function: false, broken: Asm { text: "v_mfma_f64_4x4x4f64 v[8:9], v[0:1], v[2:3], 1.0; s_nop 4; v_mfma_f64_4x4x4f64 v[10:11], v[8:9], v[2:3], 1.0; s_endpgm", words: &[0xd3ef0008, 0x03ca0500, 0xbf800004, 0xd3ef000a, 0x03ca0508, 0xbf810000] }, repaired: Asm { text: "v_mfma_f64_4x4x4f64 v[8:9], v[0:1], v[2:3], 1.0; s_nop 5; v_mfma_f64_4x4x4f64 v[10:11], v[8:9], v[2:3], 1.0; s_endpgm", words: &[0xd3ef0008, 0x03ca0500, 0xbf800005, 0xd3ef000a, 0x03ca0508, 0xbf810000] } },
    Case { rule: "nop-mfma-a-b", gfx: Gfx::Gfx90a, function: false, broken: Asm { text: "v_mfma_f64_16x16x4f64 v[8:15], v[0:1], v[2:3], 1.0; s_nop 7; s_nop 1; v_mfma_f64_4x4x4f64 v[16:17], v[8:9], v[2:3], 1.0; s_endpgm", words: &[0xd3ee0008, 0x03ca0500, 0xbf800007, 0xbf800001, 0xd3ef0010, 0x03ca0508, 0xbf810000] }, repaired: Asm { text: "v_mfma_f64_16x16x4f64 v[8:15], v[0:1], v[2:3], 1.0; s_nop 7; s_nop 2; v_mfma_f64_4x4x4f64 v[16:17], v[8:9], v[2:3], 1.0; s_endpgm", words: &[0xd3ee0008, 0x03ca0500, 0xbf800007, 0xbf800002, 0xd3ef0010, 0x03ca0508, 0xbf810000] } },
    Case { rule: "nop-mfma-read", gfx: Gfx::Gfx90a, function: false, broken: Asm { text: "v_mfma_f32_4x4x1f32 v[8:11], v0, v1, 1.0; s_nop 3; v_mov_b32 v0, v8; s_endpgm", words: &[0xd3c20008, 0x03ca0300, 0xbf800003, 0x7e000308, 0xbf810000] }, repaired: Asm { text: "v_mfma_f32_4x4x1f32 v[8:11], v0, v1, 1.0; s_nop 4; v_mov_b32 v0, v8; s_endpgm", words: &[0xd3c20008, 0x03ca0300, 0xbf800004, 0x7e000308, 0xbf810000] } },
    Case { rule: "nop-mfma-read", gfx: Gfx::Gfx90a, function: false, broken: Asm { text: "v_mfma_f32_32x32x1f32 v[8:39], v0, v1, 1.0; s_nop 7; s_nop 7; s_nop 1; global_store_dword v[0:1], v39, off; s_endpgm", words: &[0xd3c00008, 0x03ca0300, 0xbf800007, 0xbf800007, 0xbf800001, 0xdc708000, 0x007f2700, 0xbf810000] }, repaired: Asm { text: "v_mfma_f32_32x32x1f32 v[8:39], v0, v1, 1.0; s_nop 7; s_nop 7; s_nop 2; global_store_dword v[0:1], v39, off; s_endpgm", words: &[0xd3c00008, 0x03ca0300, 0xbf800007, 0xbf800007, 0xbf800002, 0xdc708000, 0x007f2700, 0xbf810000] } },
    Case { rule: "nop-mfma-read", gfx: Gfx::Gfx90a, function: false, broken: Asm { text: "v_mfma_f64_4x4x4f64 v[8:9], v[0:1], v[2:3], 1.0; s_nop 7; global_store_dwordx2 v[0:1], v[8:9], off; s_endpgm", words: &[0xd3ef0008, 0x03ca0500, 0xbf800007, 0xdc748000, 0x007f0800, 0xbf810000] }, repaired: Asm { text: "v_mfma_f64_4x4x4f64 v[8:9], v[0:1], v[2:3], 1.0; s_nop 7; s_nop 0; global_store_dwordx2 v[0:1], v[8:9], off; s_endpgm", words: &[0xd3ef0008, 0x03ca0500, 0xbf800007, 0xbf800000, 0xdc748000, 0x007f0800, 0xbf810000] } },
    Case { rule: "nop-mfma-read", gfx: Gfx::Gfx90a, function: false, broken: Asm { text: "v_mfma_f64_4x4x4f64 v[8:9], v[0:1], v[2:3], 1.0; s_nop 4; v_mov_b32 v0, v8; s_endpgm", words: &[0xd3ef0008, 0x03ca0500, 0xbf800004, 0x7e000308, 0xbf810000] }, repaired: Asm { text: "v_mfma_f64_4x4x4f64 v[8:9], v[0:1], v[2:3], 1.0; s_nop 5; v_mov_b32 v0, v8; s_endpgm", words: &[0xd3ef0008, 0x03ca0500, 0xbf800005, 0x7e000308, 0xbf810000] } },
    Case { rule: "nop-mfma-read", gfx: Gfx::Gfx90a, function: false, broken: Asm { text: "v_mfma_f64_16x16x4f64 v[8:15], v[0:1], v[2:3], 1.0; s_nop 7; s_nop 7; s_nop 0; ds_write_b64 v0, v[8:9]; s_endpgm", words: &[0xd3ee0008, 0x03ca0500, 0xbf800007, 0xbf800007, 0xbf800000, 0xd89a0000, 0x00000800, 0xbf810000] }, repaired: Asm { text: "v_mfma_f64_16x16x4f64 v[8:15], v[0:1], v[2:3], 1.0; s_nop 7; s_nop 7; s_nop 1; ds_write_b64 v0, v[8:9]; s_endpgm", words: &[0xd3ee0008, 0x03ca0500, 0xbf800007, 0xbf800007, 0xbf800001, 0xd89a0000, 0x00000800, 0xbf810000] } },
    Case { rule: "nop-mfma-read", gfx: Gfx::Gfx90a, function: false, broken: Asm { text: "v_mfma_f64_16x16x4f64 a[8:15], v[0:1], v[2:3], 1.0; s_nop 7; s_nop 1; v_accvgpr_read_b32 v0, a8; s_endpgm", words: &[0xd3ee8008, 0x03ca0500, 0xbf800007, 0xbf800001, 0xd3d84000, 0x18000108, 0xbf810000] }, repaired: Asm { text: "v_mfma_f64_16x16x4f64 a[8:15], v[0:1], v[2:3], 1.0; s_nop 7; s_nop 2; v_accvgpr_read_b32 v0, a8; s_endpgm", words: &[0xd3ee8008, 0x03ca0500, 0xbf800007, 0xbf800002, 0xd3d84000, 0x18000108, 0xbf810000] } },
    Case { rule: "nop-mfma-write", gfx: Gfx::Gfx90a, function: false, broken: Asm { text: "v_mfma_f32_16x16x1f32 v[8:23], v0, v1, 1.0; s_nop 7; s_nop 1; v_mov_b32 v8, 0; s_endpgm", words: &[0xd3c10008, 0x03ca0300, 0xbf800007, 0xbf800001, 0x7e100280, 0xbf810000] }, repaired: Asm { text: "v_mfma_f32_16x16x1f32 v[8:23], v0, v1, 1.0; s_nop 7; s_nop 2; v_mov_b32 v8, 0; s_endpgm", words: &[0xd3c10008, 0x03ca0300, 0xbf800007, 0xbf800002, 0x7e100280, 0xbf810000] } },
    Case { rule: "nop-mfma-write", gfx: Gfx::Gfx90a, function: false, broken: Asm { text: "v_mfma_f64_4x4x4f64 v[8:9], v[0:1], v[2:3], 1.0; s_nop 4; v_mov_b32 v8, 0; s_endpgm", words: &[0xd3ef0008, 0x03ca0500, 0xbf800004, 0x7e100280, 0xbf810000] }, repaired: Asm { text: "v_mfma_f64_4x4x4f64 v[8:9], v[0:1], v[2:3], 1.0; s_nop 5; v_mov_b32 v8, 0; s_endpgm", words: &[0xd3ef0008, 0x03ca0500, 0xbf800005, 0x7e100280, 0xbf810000] } },
    Case { rule: "nop-mfma-c-write", gfx: Gfx::Gfx90a, function: false, broken: Asm { text: "v_mfma_f32_4x4x1f32 v[8:11], v0, v1, v[4:7]; v_mov_b32 v4, 0; s_endpgm", words: &[0xd3c20008, 0x04120300, 0x7e080280, 0xbf810000] }, repaired: Asm { text: "v_mfma_f32_4x4x1f32 v[8:11], v0, v1, v[4:7]; s_nop 0; v_mov_b32 v4, 0; s_endpgm", words: &[0xd3c20008, 0x04120300, 0xbf800000, 0x7e080280, 0xbf810000] } },
    Case { rule: "nop-vgpr-memory", gfx: Gfx::Gfx90a, function: false, broken: Asm { text: "v_mov_b32 v2, 0; v_mfma_f64_4x4x4f64 v[8:9], v[4:5], v[6:7], 1.0; global_store_dword v[0:1], v2, off; s_endpgm", words: &[0x7e040280, 0xd3ef0008, 0x03ca0d04, 0xdc708000, 0x007f0200, 0xbf810000] }, repaired: Asm { text: "v_mov_b32 v2, 0; v_mfma_f64_4x4x4f64 v[8:9], v[4:5], v[6:7], 1.0; s_nop 0; global_store_dword v[0:1], v2, off; s_endpgm", words: &[0x7e040280, 0xd3ef0008, 0x03ca0d04, 0xbf800000, 0xdc708000, 0x007f0200, 0xbf810000] } },
    Case { rule: "nop-mfma-fma", gfx: Gfx::Gfx90a, function: false, broken: Asm { text: "v_mfma_f64_4x4x4f64 v[8:9], v[4:5], v[6:7], 1.0; s_nop 0; v_fma_f64 v[0:1], v[2:3], v[4:5], v[6:7]; s_endpgm", words: &[0xd3ef0008, 0x03ca0d04, 0xbf800000, 0xd1cc0000, 0x041a0902, 0xbf810000] }, repaired: Asm { text: "v_mfma_f64_4x4x4f64 v[8:9], v[4:5], v[6:7], 1.0; s_nop 1; v_fma_f64 v[0:1], v[2:3], v[4:5], v[6:7]; s_endpgm", words: &[0xd3ef0008, 0x03ca0d04, 0xbf800001, 0xd1cc0000, 0x041a0902, 0xbf810000] } },
    Case { rule: "nop-mfma-fma", gfx: Gfx::Gfx90a, function: false, broken: Asm { text: "v_mfma_f64_16x16x4f64 v[8:15], v[4:5], v[6:7], 1.0; s_nop 0; v_fmac_f64 v[0:1], v[2:3], v[4:5]; s_endpgm", words: &[0xd3ee0008, 0x03ca0d04, 0xbf800000, 0x08000902, 0xbf810000] }, repaired: Asm { text: "v_mfma_f64_16x16x4f64 v[8:15], v[4:5], v[6:7], 1.0; s_nop 1; v_fmac_f64 v[0:1], v[2:3], v[4:5]; s_endpgm", words: &[0xd3ee0008, 0x03ca0d04, 0xbf800001, 0x08000902, 0xbf810000] } },
    Case { rule: "nop-mfma-c", gfx: Gfx::Gfx942, function: false, broken: Asm { text: "v_mfma_f32_4x4x4_16b_f16 v[8:11], v[0:1], v[2:3], 1.0; s_nop 0; v_mfma_f32_4x4x4_16b_f16 v[8:11], v[0:1], v[2:3], v[8:11]; s_endpgm", words: &[0xd3ca0008, 0x03ca0500, 0xbf800000, 0xd3ca0008, 0x04220500, 0xbf810000] }, repaired: Asm { text: "v_mfma_f32_4x4x4_16b_f16 v[8:11], v[0:1], v[2:3], 1.0; s_nop 1; v_mfma_f32_4x4x4_16b_f16 v[8:11], v[0:1], v[2:3], v[8:11]; s_endpgm", words: &[0xd3ca0008, 0x03ca0500, 0xbf800001, 0xd3ca0008, 0x04220500, 0xbf810000] } },
    Case { rule: "nop-mfma-c", gfx: Gfx::Gfx942, function: false, broken: Asm { text: "v_mov_b32 v12, 0; v_mov_b32 v13, 0; v_mfma_f32_16x16x16_f16 v[8:11], v[0:1], v[2:3], 1.0; s_nop 3; v_mfma_f32_4x4x4_16b_f16 v[16:19], v[0:1], v[2:3], v[10:13]; s_endpgm", words: &[0x7e180280, 0x7e1a0280, 0xd3cd0008, 0x03ca0500, 0xbf800003, 0xd3ca0010, 0x042a0500, 0xbf810000] }, repaired: Asm { text: "v_mov_b32 v12, 0; v_mov_b32 v13, 0; v_mfma_f32_16x16x16_f16 v[8:11], v[0:1], v[2:3], 1.0; s_nop 4; v_mfma_f32_4x4x4_16b_f16 v[16:19], v[0:1], v[2:3], v[10:13]; s_endpgm", words: &[0x7e180280, 0x7e1a0280, 0xd3cd0008, 0x03ca0500, 0xbf800004, 0xd3ca0010, 0x042a0500, 0xbf810000] } },
    Case { rule: "nop-mfma-c", gfx: Gfx::Gfx942, function: false, broken: Asm { text: "v_mov_b32 v12, 0; v_mov_b32 v13, 0; v_mfma_f32_4x4x1_16b_f32 v[8:11], v0, v1, 1.0; s_nop 0; v_mfma_f32_4x4x1_16b_f32 v[16:19], v0, v1, v[10:13]; s_endpgm", words: &[0x7e180280, 0x7e1a0280, 0xd3c20008, 0x03ca0300, 0xbf800000, 0xd3c20010, 0x042a0300, 0xbf810000] }, repaired: Asm { text: "v_mov_b32 v12, 0; v_mov_b32 v13, 0; v_mfma_f32_4x4x1_16b_f32 v[8:11], v0, v1, 1.0; s_nop 1; v_mfma_f32_4x4x1_16b_f32 v[16:19], v0, v1, v[10:13]; s_endpgm", words: &[0x7e180280, 0x7e1a0280, 0xd3c20008, 0x03ca0300, 0xbf800001, 0xd3c20010, 0x042a0300, 0xbf810000] } },
    Case { rule: "nop-mfma-c", gfx: Gfx::Gfx942, function: false, broken: Asm { text: "v_mov_b32 v12, 0; v_mov_b32 v13, 0; v_mfma_f32_16x16x16_f16 v[8:11], v[0:1], v[2:3], 1.0; s_nop 3; v_smfmac_f32_16x16x32_f16 v[10:13], v[0:1], v[2:5], v6; s_endpgm", words: &[0x7e180280, 0x7e1a0280, 0xd3cd0008, 0x03ca0500, 0xbf800003, 0xd3e2000a, 0x041a0500, 0xbf810000] }, repaired: Asm { text: "v_mov_b32 v12, 0; v_mov_b32 v13, 0; v_mfma_f32_16x16x16_f16 v[8:11], v[0:1], v[2:3], 1.0; s_nop 4; v_smfmac_f32_16x16x32_f16 v[10:13], v[0:1], v[2:5], v6; s_endpgm", words: &[0x7e180280, 0x7e1a0280, 0xd3cd0008, 0x03ca0500, 0xbf800004, 0xd3e2000a, 0x041a0500, 0xbf810000] } },
    Case { rule: "nop-mfma-a-b", gfx: Gfx::Gfx942, function: false, broken: Asm { text: "v_mfma_f32_16x16x16_f16 v[8:11], v[0:1], v[2:3], 1.0; s_nop 5; v_mfma_f32_4x4x4_16b_f16 v[16:19], v[8:9], v[2:3], 1.0; s_endpgm", words: &[0xd3cd0008, 0x03ca0500, 0xbf800005, 0xd3ca0010, 0x03ca0508, 0xbf810000] }, repaired: Asm { text: "v_mfma_f32_16x16x16_f16 v[8:11], v[0:1], v[2:3], 1.0; s_nop 6; v_mfma_f32_4x4x4_16b_f16 v[16:19], v[8:9], v[2:3], 1.0; s_endpgm", words: &[0xd3cd0008, 0x03ca0500, 0xbf800006, 0xd3ca0010, 0x03ca0508, 0xbf810000] } },
    Case { rule: "nop-mfma-a-b", gfx: Gfx::Gfx942, function: false, broken: Asm { text: "v_mfma_f32_4x4x1_16b_f32 v[8:11], v0, v1, 1.0; s_nop 2; v_mfma_f32_4x4x4_16b_f16 v[16:19], v[8:9], v[2:3], 1.0; s_endpgm", words: &[0xd3c20008, 0x03ca0300, 0xbf800002, 0xd3ca0010, 0x03ca0508, 0xbf810000] }, repaired: Asm { text: "v_mfma_f32_4x4x1_16b_f32 v[8:11], v0, v1, 1.0; s_nop 3; v_mfma_f32_4x4x4_16b_f16 v[16:19], v[8:9], v[2:3], 1.0; s_endpgm", words: &[0xd3c20008, 0x03ca0300, 0xbf800003, 0xd3ca0010, 0x03ca0508, 0xbf810000] } },
    Case { rule: "nop-mfma-a-b", gfx: Gfx::Gfx942, function: false, broken: Asm { text: "v_mfma_f32_16x16x16_f16 v[8:11], v[0:1], v[2:3], 1.0; s_nop 5; v_smfmac_f32_16x16x32_f16 v[16:19], v[0:1], v[2:5], v8; s_endpgm", words: &[0xd3cd0008, 0x03ca0500, 0xbf800005, 0xd3e20010, 0x04220500, 0xbf810000] }, repaired: Asm { text: "v_mfma_f32_16x16x16_f16 v[8:11], v[0:1], v[2:3], 1.0; s_nop 6; v_smfmac_f32_16x16x32_f16 v[16:19], v[0:1], v[2:5], v8; s_endpgm", words: &[0xd3cd0008, 0x03ca0500, 0xbf800006, 0xd3e20010, 0x04220500, 0xbf810000] } },
    Case { rule: "nop-mfma-read", gfx: Gfx::Gfx942, function: false, broken: Asm { text: "v_mfma_f32_32x32x8_f16 v[8:23], v[0:1], v[2:3], 1.0; s_nop 7; s_nop 1; v_mov_b32 v4, v20; s_endpgm", words: &[0xd3cc0008, 0x03ca0500, 0xbf800007, 0xbf800001, 0x7e080314, 0xbf810000] }, repaired: Asm { text: "v_mfma_f32_32x32x8_f16 v[8:23], v[0:1], v[2:3], 1.0; s_nop 7; s_nop 2; v_mov_b32 v4, v20; s_endpgm", words: &[0xd3cc0008, 0x03ca0500, 0xbf800007, 0xbf800002, 0x7e080314, 0xbf810000] } },
    Case { rule: "nop-mfma-read", gfx: Gfx::Gfx942, function: false, broken: Asm { text: "v_mfma_f32_4x4x1_16b_f32 v[8:11], v0, v1, 1.0; s_nop 2; v_mov_b32 v4, v8; s_endpgm", words: &[0xd3c20008, 0x03ca0300, 0xbf800002, 0x7e080308, 0xbf810000] }, repaired: Asm { text: "v_mfma_f32_4x4x1_16b_f32 v[8:11], v0, v1, 1.0; s_nop 3; v_mov_b32 v4, v8; s_endpgm", words: &[0xd3c20008, 0x03ca0300, 0xbf800003, 0x7e080308, 0xbf810000] } },
    Case { rule: "nop-mfma-write", gfx: Gfx::Gfx942, function: false, broken: Asm { text: "v_mfma_f32_16x16x16_f16 v[8:11], v[0:1], v[2:3], 1.0; s_nop 5; v_mov_b32 v8, 0; s_endpgm", words: &[0xd3cd0008, 0x03ca0500, 0xbf800005, 0x7e100280, 0xbf810000] }, repaired: Asm { text: "v_mfma_f32_16x16x16_f16 v[8:11], v[0:1], v[2:3], 1.0; s_nop 6; v_mov_b32 v8, 0; s_endpgm", words: &[0xd3cd0008, 0x03ca0500, 0xbf800006, 0x7e100280, 0xbf810000] } },
    Case { rule: "nop-mfma-c-write", gfx: Gfx::Gfx942, function: true, broken: Asm { text: "s_waitcnt vmcnt(0) lgkmcnt(0); v_mfma_f32_32x32x8_f16 v[8:23], v[0:1], v[2:3], v[24:39]; s_nop 5; v_mov_b32 v24, 0; s_setpc_b64 s[30:31]", words: &[0xbf8c0070, 0xd3cc0008, 0x04620500, 0xbf800005, 0x7e300280, 0xbe801d1e] }, repaired: Asm { text: "s_waitcnt vmcnt(0) lgkmcnt(0); v_mfma_f32_32x32x8_f16 v[8:23], v[0:1], v[2:3], v[24:39]; s_nop 6; v_mov_b32 v24, 0; s_setpc_b64 s[30:31]", words: &[0xbf8c0070, 0xd3cc0008, 0x04620500, 0xbf800006, 0x7e300280, 0xbe801d1e] } },
    Case { rule: "nop-store-data", gfx: Gfx::Gfx942, function: false, broken: Asm { text: "global_store_dwordx4 v[0:1], v[4:7], off; s_nop 0; v_mov_b32 v5, 0; s_endpgm", words: &[0xdc7c8000, 0x007f0400, 0xbf800000, 0x7e0a0280, 0xbf810000] }, repaired: Asm { text: "global_store_dwordx4 v[0:1], v[4:7], off; s_nop 1; v_mov_b32 v5, 0; s_endpgm", words: &[0xdc7c8000, 0x007f0400, 0xbf800001, 0x7e0a0280, 0xbf810000] } },
    Case { rule: "nop-vgpr-lane", gfx: Gfx::Gfx942, function: false, broken: Asm { text: "v_mov_b32 v4, v5; v_readlane_b32 s0, v4, s3; s_endpgm", words: &[0x7e080305, 0xd2890000, 0x00000704, 0xbf810000] }, repaired: Asm { text: "v_mov_b32 v4, v5; s_nop 0; v_readlane_b32 s0, v4, s3; s_endpgm", words: &[0x7e080305, 0xbf800000, 0xd2890000, 0x00000704, 0xbf810000] } },
    Case { rule: "nop-vgpr-lane", gfx: Gfx::Gfx942, function: false, broken: Asm { text: "v_mov_b32 v4, v5; v_readfirstlane_b32 s0, v4; s_endpgm", words: &[0x7e080305, 0x7e000504, 0xbf810000] }, repaired: Asm { text: "v_mov_b32 v4, v5; s_nop 0; v_readfirstlane_b32 s0, v4; s_endpgm", words: &[0x7e080305, 0xbf800000, 0x7e000504, 0xbf810000] } },
    Case { rule: "nop-exec-lane", gfx: Gfx::Gfx942, function: false, broken: Asm { text: "v_cmpx_eq_u32 vcc, v0, v1; s_nop 2; v_readfirstlane_b32 s0, v4; s_endpgm", words: &[0x7db40300, 0xbf800002, 0x7e000504, 0xbf810000] }, repaired: Asm { text: "v_cmpx_eq_u32 vcc, v0, v1; s_nop 3; v_readfirstlane_b32 s0, v4; s_endpgm", words: &[0x7db40300, 0xbf800003, 0x7e000504, 0xbf810000] } },
    Case { rule: "nop-exec-constant", gfx: Gfx::Gfx942, function: false, broken: Asm { text: "v_cmpx_eq_u32 vcc, v0, v1; s_nop 0; v_mov_b32 v4, exec_lo; s_endpgm", words: &[0x7db40300, 0xbf800000, 0x7e08027e, 0xbf810000] }, repaired: Asm { text: "v_cmpx_eq_u32 vcc, v0, v1; s_nop 1; v_mov_b32 v4, exec_lo; s_endpgm", words: &[0x7db40300, 0xbf800001, 0x7e08027e, 0xbf810000] } },
    Case { rule: "nop-sgpr-constant", gfx: Gfx::Gfx942, function: false, broken: Asm { text: "v_readfirstlane_b32 s0, v4; s_nop 0; v_add_u32 v5, s0, v6; s_endpgm", words: &[0x7e000504, 0xbf800000, 0x680a0c00, 0xbf810000] }, repaired: Asm { text: "v_readfirstlane_b32 s0, v4; s_nop 1; v_add_u32 v5, s0, v6; s_endpgm", words: &[0x7e000504, 0xbf800001, 0x680a0c00, 0xbf810000] } },
    Case { rule: "nop-sgpr-constant", gfx: Gfx::Gfx942, function: false, broken: Asm { text: "v_cmp_eq_u32 vcc, v0, v1; s_nop 0; v_mov_b32 v5, vcc_hi; s_endpgm", words: &[0x7d940300, 0xbf800000, 0x7e0a026b, 0xbf810000] }, repaired: Asm { text: "v_cmp_eq_u32 vcc, v0, v1; s_nop 1; v_mov_b32 v5, vcc_hi; s_endpgm", words: &[0x7d940300, 0xbf800001, 0x7e0a026b, 0xbf810000] } },
    Case { rule: "nop-trans-result", gfx: Gfx::Gfx942, function: false, broken: Asm { text: "v_rcp_f32 v4, v5; v_mul_f32 v6, v4, v7; s_endpgm", words: &[0x7e084505, 0x0a0c0f04, 0xbf810000] }, repaired: Asm { text: "v_rcp_f32 v4, v5; s_nop 0; v_mul_f32 v6, v4, v7; s_endpgm", words: &[0x7e084505, 0xbf800000, 0x0a0c0f04, 0xbf810000] } },
    Case { rule: "nop-trans-result", gfx: Gfx::Gfx942, function: false, broken: Asm { text: "v_exp_f32 v4, v5; v_fmac_f32 v4, v6, v7; s_endpgm", words: &[0x7e084105, 0x76080f06, 0xbf810000] }, repaired: Asm { text: "v_exp_f32 v4, v5; s_nop 0; v_fmac_f32 v4, v6, v7; s_endpgm", words: &[0x7e084105, 0xbf800000, 0x76080f06, 0xbf810000] } },
    Case { rule: "nop-placed-result", gfx: Gfx::Gfx942, function: false, broken: Asm { text: "v_mov_b32_sdwa v4, v5 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:DWORD; v_add_u32 v6, v4, v7; s_endpgm", words: &[0x7e0802f9, 0x00060505, 0x680c0f04, 0xbf810000] }, repaired: Asm { text: "v_mov_b32_sdwa v4, v5 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:DWORD; s_nop 0; v_add_u32 v6, v4, v7; s_endpgm", words: &[0x7e0802f9, 0x00060505, 0xbf800000, 0x680c0f04, 0xbf810000] } },
    Case { rule: "nop-placed-result", gfx: Gfx::Gfx942, function: false, broken: Asm { text: "v_add_i16 v4, v5, v6 op_sel:[0,0,1]; v_add_u32 v6, v4, v7; s_endpgm", words: &[0xd29e4004, 0x00020d05, 0x680c0f04, 0xbf810000] }, repaired: Asm { text: "v_add_i16 v4, v5, v6 op_sel:[0,0,1]; s_nop 0; v_add_u32 v6, v4, v7; s_endpgm", words: &[0xd29e4004, 0x00020d05, 0xbf800000, 0x680c0f04, 0xbf810000] } },
    Case { rule: "nop-placed-result", gfx: Gfx::Gfx942, function: false, broken: Asm { text: "v_cvt_pk_fp8_f32 v4, v5, v6 op_sel:[0,0,1]; v_mov_b32 v6, v4; s_endpgm", words: &[0xd2a24004, 0x00020d05, 0x7e0c0304, 0xbf810000] }, repaired: Asm { text: "v_cvt_pk_fp8_f32 v4, v5, v6 op_sel:[0,0,1]; s_nop 0; v_mov_b32 v6, v4; s_endpgm", words: &[0xd2a24004, 0x00020d05, 0xbf800000, 0x7e0c0304, 0xbf810000] } },
    Case { rule: "nop-dot", gfx: Gfx::Gfx90a, function: false, broken: Asm { text: "v_dot2_f32_f16 v0, v1, v2, v3; s_nop 1; v_dot2_f32_f16 v4, v0, v2, v3; s_endpgm", words: &[0xd3a34000, 0x1c0e0501, 0xbf800001, 0xd3a34004, 0x1c0e0500, 0xbf810000] }, repaired: Asm { text: "v_dot2_f32_f16 v0, v1, v2, v3; s_nop 2; v_dot2_f32_f16 v4, v0, v2, v3; s_endpgm", words: &[0xd3a34000, 0x1c0e0501, 0xbf800002, 0xd3a34004, 0x1c0e0500, 0xbf810000] } },
    Case { rule: "nop-dot", gfx: Gfx::Gfx90a, function: false, broken: Asm { text: "v_dot2_f32_f16 v2, v1, v3, v4; s_nop 1; v_dot4_i32_i8 v5, v6, v7, v2; s_endpgm", words: &[0xd3a34002, 0x1c120701, 0xbf800001, 0xd3a84005, 0x1c0a0f06, 0xbf810000] }, repaired: Asm { text: "v_dot2_f32_f16 v2, v1, v3, v4; s_nop 2; v_dot4_i32_i8 v5, v6, v7, v2; s_endpgm", words: &[0xd3a34002, 0x1c120701, 0xbf800002, 0xd3a84005, 0x1c0a0f06, 0xbf810000] } },
    Case { rule: "misaligned-sgprs", gfx: Gfx::Gfx900, function: false, broken: Asm { text: "s_mov_b64 s[1:2], s[2:3]; s_endpgm", words: &[0xbe810102, 0xbf810000] }, repaired: Asm { text: "s_mov_b64 s[0:1], s[2:3]; s_endpgm", words: &[0xbe800102, 0xbf810000] } },
    Case { rule: "misaligned-sgprs", gfx: Gfx::Gfx600, function: false, broken: Asm { text: "s_and_b64 s[0:1], s[2:3], s[5:6]; s_endpgm", words: &[0x87800502, 0xbf810000] }, repaired: Asm { text: "s_and_b64 s[0:1], s[2:3], s[4:5]; s_endpgm", words: &[0x87800402, 0xbf810000] } },
    Case { rule: "misaligned-sgprs", gfx: Gfx::Gfx803, function: false, broken: Asm { text: "s_load_dwordx4 s[6:9], s[0:1], 0x0; s_endpgm", words: &[0xc00a0180, 0x00000000, 0xbf810000] }, repaired: Asm { text: "s_load_dwordx4 s[4:7], s[0:1], 0x0; s_endpgm", words: &[0xc00a0100, 0x00000000, 0xbf810000] } },
    Case { rule: "misaligned-sgprs", gfx: Gfx::Gfx600, function: false, broken: Asm { text: "s_load_dwordx8 s[10:17], s[0:1], 0x0; s_endpgm", words: &[0xc0c50100, 0xbf810000] }, repaired: Asm { text: "s_load_dwordx8 s[8:15], s[0:1], 0x0; s_endpgm", words: &[0xc0c40100, 0xbf810000] } },
    Case { rule: "misaligned-sgprs", gfx: Gfx::Gfx900, function: false, broken: Asm { text: "s_buffer_load_dword s4, s[2:5], 0x0; s_endpgm", words: &[0xc0220101, 0x00000000, 0xbf810000] }, repaired: Asm { text: "s_buffer_load_dword s4, s[0:3], 0x0; s_endpgm", words: &[0xc0220100, 0x00000000, 0xbf810000] } },
    Case { rule: "misaligned-sgprs", gfx: Gfx::Gfx906, function: false, broken: Asm { text: "v_add_f64 v[0:1], s[3:4], v[2:3]; s_endpgm", words: &[0xd2800000, 0x00020403, 0xbf810000] }, repaired: Asm { text: "v_add_f64 v[0:1], s[2:3], v[2:3]; s_endpgm", words: &[0xd2800000, 0x00020402, 0xbf810000] } },
    Case { rule: "vccz-half", gfx: Gfx::Gfx900, function: false, broken: Asm { text: "s_mov_b64 vcc, 0; s_mov_b32 vcc_lo, s0; s_cbranch_vccz 0; s_endpgm", words: &[0xbeea0180, 0xbeea0000, 0xbf860000, 0xbf810000] }, repaired: Asm { text: "s_mov_b64 vcc, 0; s_mov_b32 vcc_lo, s0; s_mov_b64 vcc, vcc; s_cbranch_vccz 0; s_endpgm", words: &[0xbeea0180, 0xbeea0000, 0xbeea016a, 0xbf860000, 0xbf810000] } },
    Case { rule: "scalar-writeback", gfx: Gfx::Gfx900, function: true, broken: Asm { text: "s_waitcnt vmcnt(0) lgkmcnt(0); s_store_dword s0, s[2:3], 0x0; s_setpc_b64 s[30:31]", words: &[0xbf8c0070, 0xc0420001, 0x00000000, 0xbe801d1e] }, repaired: Asm { text: "s_waitcnt vmcnt(0) lgkmcnt(0); s_store_dword s0, s[2:3], 0x0; s_dcache_wb; s_setpc_b64 s[30:31]", words: &[0xbf8c0070, 0xc0420001, 0x00000000, 0xc0840000, 0x00000000, 0xbe801d1e] } },
    Case { rule: "scalar-writeback", gfx: Gfx::Gfx803, function: false, broken: Asm { text: "s_store_dword s0, s[4:5], 0x0; s_endpgm", words: &[0xc0420002, 0x00000000, 0xbf810000] }, repaired: Asm { text: "s_store_dword s0, s[4:5], 0x0; s_dcache_wb; s_endpgm", words: &[0xc0420002, 0x00000000, 0xc0840000, 0x00000000, 0xbf810000] } },
    Case { rule: "scalar-stale", gfx: Gfx::Gfx803, function: false, broken: Asm { text: "buffer_store_dwordx2 v[0:1], off, s[0:3], 0 offset:4; s_waitcnt vmcnt(0); s_buffer_load_dword s4, s[0:3], 0x8; s_endpgm", words: &[0xe0740004, 0x80000000, 0xbf8c0f70, 0xc0220100, 0x00000008, 0xbf810000] }, repaired: Asm { text: "buffer_store_dwordx2 v[0:1], off, s[0:3], 0 offset:4; s_waitcnt vmcnt(0); s_dcache_inv; s_buffer_load_dword s4, s[0:3], 0x8; s_endpgm", words: &[0xe0740004, 0x80000000, 0xbf8c0f70, 0xc0800000, 0x00000000, 0xc0220100, 0x00000008, 0xbf810000] } },
    Case { rule: "scalar-stale-base", gfx: Gfx::Gfx900, function: false, broken: Asm { text: "global_store_dword v0, v1, s[0:1]; s_waitcnt vmcnt(0); s_load_dword s4, s[0:1], 0x0; s_endpgm", words: &[0xdc708000, 0x00000100, 0xbf8c0f70, 0xc0020100, 0x00000000, 0xbf810000] }, repaired: Asm { text: "global_store_dword v0, v1, s[0:1]; s_waitcnt vmcnt(0); s_load_dword s4, s[2:3], 0x0; s_endpgm", words: &[0xdc708000, 0x00000100, 0xbf8c0f70, 0xc0020101, 0x00000000, 0xbf810000] } },
    Case { rule: "wait-write", gfx: Gfx::Gfx900, function: false, broken: Asm { text: "image_load v0, v[2:3], s[0:7] dmask:0x1 unorm; image_sample v0, v[2:3], s[0:7], s[8:11] dmask:0x1; s_endpgm", words: &[0xf0001100, 0x00000002, 0xf0800100, 0x00400002, 0xbf810000] }, repaired: Asm { text: "image_load v0, v[2:3], s[0:7] dmask:0x1 unorm; s_waitcnt vmcnt(0); image_sample v0, v[2:3], s[0:7], s[8:11] dmask:0x1; s_endpgm", words: &[0xf0001100, 0x00000002, 0xbf8c0f70, 0xf0800100, 0x00400002, 0xbf810000] } },
    Case { rule: "wait-write", gfx: Gfx::Gfx900, function: false, broken: Asm { text: "image_sample v0, v[2:3], s[0:7], s[8:11] dmask:0x1; image_load v0, v[2:3], s[0:7] dmask:0x1 unorm; s_endpgm", words: &[0xf0800100, 0x00400002, 0xf0001100, 0x00000002, 0xbf810000] }, repaired: Asm { text: "image_sample v0, v[2:3], s[0:7], s[8:11] dmask:0x1; image_sample v0, v[2:3], s[0:7], s[8:11] dmask:0x1; s_endpgm", words: &[0xf0800100, 0x00400002, 0xf0800100, 0x00400002, 0xbf810000] } },
    Case { rule: "shift-amount", gfx: Gfx::Gfx90a, function: false, broken: Asm { text: "v_mov_b32 v63, 0; v_lshlrev_b64 v[2:3], v63, v[4:5]; s_endpgm", words: &[0x7e7e0280, 0xd28f0002, 0x0002093f, 0xbf810000] }, repaired: Asm { text: "v_mov_b32 v62, 0; v_lshlrev_b64 v[2:3], v62, v[4:5]; s_endpgm", words: &[0x7e7c0280, 0xd28f0002, 0x0002093e, 0xbf810000] } },
    Case { rule: "scalar-late", gfx: Gfx::Gfx803, function: false, broken: Asm { text: "s_buffer_load_dword s4, s[0:3], 0x8; buffer_store_dwordx2 v[0:1], off, s[0:3], 0 offset:4; s_endpgm", words: &[0xc0220100, 0x00000008, 0xe0740004, 0x80000000, 0xbf810000] }, repaired: Asm { text: "s_buffer_load_dword s4, s[0:3], 0x8; s_waitcnt lgkmcnt(0); buffer_store_dwordx2 v[0:1], off, s[0:3], 0 offset:4; s_endpgm", words: &[0xc0220100, 0x00000008, 0xbf8c007f, 0xe0740004, 0x80000000, 0xbf810000] } },
    Case { rule: "scalar-late-base", gfx: Gfx::Gfx900, function: false, broken: Asm { text: "s_load_dword s4, s[0:1], 0x0; global_store_dword v0, v1, s[0:1]; s_endpgm", words: &[0xc0020100, 0x00000000, 0xdc708000, 0x00000100, 0xbf810000] }, repaired: Asm { text: "s_load_dword s4, s[0:1], 0x0; s_waitcnt lgkmcnt(0); global_store_dword v0, v1, s[0:1]; s_endpgm", words: &[0xc0020100, 0x00000000, 0xbf8cc07f, 0xdc708000, 0x00000100, 0xbf810000] } },
    Case { rule: "nop-sgpr-vmem-old", gfx: Gfx::Gfx700, function: false, broken: Asm { text: "v_readfirstlane_b32 s4, v0; s_nop 3; buffer_store_dword v0, off, s[0:3], s4; s_endpgm", words: &[0x7e080500, 0xbf800003, 0xe0700000, 0x04000000, 0xbf810000] }, repaired: Asm { text: "v_readfirstlane_b32 s4, v0; s_nop 4; buffer_store_dword v0, off, s[0:3], s4; s_endpgm", words: &[0x7e080500, 0xbf800004, 0xe0700000, 0x04000000, 0xbf810000] } },
    Case { rule: "nop-m0-message-old", gfx: Gfx::Gfx600, function: false, broken: Asm { text: "s_mov_b32 m0, 0; s_sendmsg sendmsg(MSG_INTERRUPT); s_endpgm", words: &[0xbefc0380, 0xbf900001, 0xbf810000] }, repaired: Asm { text: "s_mov_b32 m0, 0; s_nop 0; s_sendmsg sendmsg(MSG_INTERRUPT); s_endpgm", words: &[0xbefc0380, 0xbf800000, 0xbf900001, 0xbf810000] } },
    Case { rule: "scalar-stale", gfx: Gfx::Gfx803, function: false, broken: Asm { text: "buffer_store_dwordx2 v[0:1], off, s[0:3], 0 offset:4; s_dcache_inv; s_buffer_load_dword s4, s[0:3], 0x8; s_endpgm", words: &[0xe0740004, 0x80000000, 0xc0800000, 0x00000000, 0xc0220100, 0x00000008, 0xbf810000] }, repaired: Asm { text: "buffer_store_dwordx2 v[0:1], off, s[0:3], 0 offset:4; buffer_load_dword v2, off, s[0:3], 0; s_waitcnt vmcnt(1); s_dcache_inv; s_buffer_load_dword s4, s[0:3], 0x8; s_endpgm", words: &[0xe0740004, 0x80000000, 0xe0500000, 0x80000200, 0xbf8c0f71, 0xc0800000, 0x00000000, 0xc0220100, 0x00000008, 0xbf810000] } },
    Case { rule: "wait-gws", gfx: Gfx::Gfx900, function: false, broken: Asm { text: "s_mov_b32 m0, 0; s_nop 0; ds_gws_barrier v0 gds; s_endpgm", words: &[0xbefc0080, 0xbf800000, 0xd93b0000, 0x00000000, 0xbf810000] }, repaired: Asm { text: "s_mov_b32 m0, 0; s_nop 0; ds_gws_barrier v0 gds; s_waitcnt lgkmcnt(0); s_endpgm", words: &[0xbefc0080, 0xbf800000, 0xd93b0000, 0x00000000, 0xbf8cc07f, 0xbf810000] } },
    Case { rule: "misaligned-pair", gfx: Gfx::Gfx90a, function: false, broken: Asm { text: "v_add_f64 v[1:2], v[4:5], v[6:7]; s_endpgm", words: &[0xd2800001, 0x00020d04, 0xbf810000] }, repaired: Asm { text: "v_add_f64 v[2:3], v[4:5], v[6:7]; s_endpgm", words: &[0xd2800002, 0x00020d04, 0xbf810000] } },
    Case { rule: "misaligned-pair", gfx: Gfx::Gfx942, function: false, broken: Asm { text: "v_add_f64 v[1:2], v[4:5], v[6:7]; s_endpgm", words: &[0xd2800001, 0x00020d04, 0xbf810000] }, repaired: Asm { text: "v_add_f64 v[2:3], v[4:5], v[6:7]; s_endpgm", words: &[0xd2800002, 0x00020d04, 0xbf810000] } },
    Case { rule: "limit-vgprs", gfx: Gfx::Gfx900, function: false, broken: Asm { text: "v_mov_b32 v64, 0; s_endpgm", words: &[0x7e800280, 0xbf810000] }, repaired: Asm { text: "v_mov_b32 v63, 0; s_endpgm", words: &[0x7e7e0280, 0xbf810000] } },
    Case { rule: "limit-lds", gfx: Gfx::Gfx900, function: false, broken: Asm { text: "ds_read_b64 v[0:1], v0 offset:65532; s_endpgm", words: &[0xd8ecfffc, 0x00000000, 0xbf810000] }, repaired: Asm { text: "ds_read_b64 v[0:1], v0 offset:504; s_endpgm", words: &[0xd8ec01f8, 0x00000000, 0xbf810000] } },
    Case { rule: "limit-lds-stated", gfx: Gfx::Gfx900, function: false, broken: Asm { text: "ds_read_b32 v1, v0 offset:512; s_endpgm", words: &[0xd86c0200, 0x01000000, 0xbf810000] }, repaired: Asm { text: "ds_read_b32 v1, v0 offset:508; s_endpgm", words: &[0xd86c01fc, 0x01000000, 0xbf810000] } },
    Case { rule: "limit-scratch", gfx: Gfx::Gfx900, function: false, broken: Asm { text: "scratch_store_dword off, v0, null offset:16; s_endpgm", words: &[0xdc704010, 0x007d0000, 0xbf810000] }, repaired: Asm { text: "scratch_store_dword off, v0, null offset:12; s_endpgm", words: &[0xdc70400c, 0x007d0000, 0xbf810000] } },
    Case { rule: "unwritten", gfx: Gfx::Gfx900, function: false, broken: Asm { text: "v_mov_b32 v9, v8; s_endpgm", words: &[0x7e120308, 0xbf810000] }, repaired: Asm { text: "v_mov_b32 v8, 0; v_mov_b32 v9, v8; s_endpgm", words: &[0x7e100280, 0x7e120308, 0xbf810000] } },
    Case { rule: "exec-zero", gfx: Gfx::Gfx900, function: false, broken: Asm { text: "s_mov_b64 exec, 0; v_mov_b32 v0, 0; s_endpgm", words: &[0xbefe0180, 0x7e000280, 0xbf810000] }, repaired: Asm { text: "s_mov_b64 exec, -1; v_mov_b32 v0, 0; s_endpgm", words: &[0xbefe01c1, 0x7e000280, 0xbf810000] } },
    Case { rule: "unreached", gfx: Gfx::Gfx900, function: false, broken: Asm { text: "s_branch 1; v_mov_b32 v0, 0; s_endpgm", words: &[0xbf820001, 0x7e000280, 0xbf810000] }, repaired: Asm { text: "s_branch 0; v_mov_b32 v0, 0; s_endpgm", words: &[0xbf820000, 0x7e000280, 0xbf810000] } },
];

const KERNEL: Kernel = Kernel {
    initial_sgprs: 64,
    initial_vgprs: 8,
    // VCC is s[30:31].
    sgprs: 32,
    vgprs: 64,
    lds: Some(512),
    scratch: Some(16),
    one_wave: false,
};

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn routine(gfx: Gfx, code: &[u8], kernel: Option<Kernel>) -> Routine<'_> {
    Routine {
        gfx,
        xnack: false,
        address: 0x1000,
        code,
        kernel,
    }
}

fn report(case: &Case, asm: &Asm) -> Report {
    let code = bytes(asm.words);
    let kernel = (!case.function).then_some(KERNEL);
    let routine = routine(case.gfx, &code, kernel);
    let decoded: usize = Code::new(&routine).items.len();
    assert_eq!(decoded, asm.text.split(';').count(), "{}", asm.text);
    check(&routine)
}

#[test]
fn each_rule_finds_what_breaks_it_and_nothing_else() {
    for case in CASES {
        let rules = |report: &Report| -> Vec<&str> {
            report.findings.iter().map(|found| found.rule.id).collect()
        };
        let broken = rules(&report(case, &case.broken));
        assert!(
            broken.contains(&case.rule) && broken.iter().all(|rule| *rule == case.rule),
            "{} {}: {broken:?}",
            case.rule,
            case.broken.text
        );
        let repaired = rules(&report(case, &case.repaired));
        assert_eq!(repaired, [""; 0], "{} {}", case.rule, case.repaired.text);
    }
}

#[test]
fn the_nops_that_repair_are_needed_to_the_last_wait_state() {
    for case in CASES.iter().filter(|case| case.rule.starts_with("nop-")) {
        let report = report(case, &case.repaired);
        assert_eq!(report.redundant, [], "{}", case.repaired.text);
        assert_eq!(report.stronger, [], "{}", case.repaired.text);
    }
}

#[test]
fn fields_of_waits_are_read_and_written() {
    for gfx in Gfx::ALL {
        for field in WaitField::ALL {
            for n in 0..field.most(gfx) {
                let imm = field.set(0xffff, n, gfx);
                assert_eq!(field.get(imm, gfx), Some(n), "{gfx} {field:?}");
                let others = WaitField::ALL.into_iter().filter(|other| *other != field);
                for other in others {
                    assert_eq!(other.get(imm, gfx), None, "{gfx} {field:?}");
                }
            }
            assert_eq!(field.get(0xffff, gfx), None);
        }
    }
}

const NOP: u32 = 0xbf80_0000;
const END: u32 = 0xbf81_0000;
const LOAD: [u32; 2] = [0xdc50_8000, 0x007f_0002];
const MOVE: u32 = 0x7e02_0300;
const WAIT_VM: u32 = 0xbf8c_0f70;

/// A loop that waits at its head only for what the iteration before has loaded.
#[test]
fn what_is_outstanding_goes_around_a_loop() {
    let branch =
        |from: usize, to: usize| 0xbf89_0000 | (to as u32).wrapping_sub(from as u32 + 1) & 0xffff;
    // 0: v_mov v1, v0   1: load v0   3: s_cbranch_execnz 0   4: s_endpgm
    let mut words = vec![MOVE, LOAD[0], LOAD[1], branch(3, 0), END];
    let code = bytes(&words);
    let found = check(&routine(Gfx::Gfx900, &code, Some(KERNEL)));
    assert_eq!(found.findings.len(), 1);
    assert_eq!(
        (found.findings[0].at, found.findings[0].other),
        (0, Some(1))
    );
    words.insert(0, WAIT_VM);
    let code = bytes(&words);
    let found = check(&routine(Gfx::Gfx900, &code, Some(KERNEL)));
    // The branch leads behind the wait.
    assert_eq!(found.findings.len(), 1);
    words[4] = branch(4, 0);
    let code = bytes(&words);
    let found = check(&routine(Gfx::Gfx900, &code, Some(KERNEL)));
    assert_eq!((found.findings, found.redundant), (vec![], vec![]));
}

#[test]
fn a_counter_is_finite() {
    // Behind 63 younger loads the first one is complete.
    let mut words = LOAD.to_vec();
    for _ in 0..62 {
        // To v4.
        words.extend([LOAD[0], LOAD[1] | 4 << 24]);
    }
    let mut early = words.clone();
    early.extend([MOVE, END]);
    let code = bytes(&early);
    assert_eq!(
        check(&routine(Gfx::Gfx900, &code, Some(KERNEL)))
            .findings
            .len(),
        1
    );
    words.extend([LOAD[0], LOAD[1] | 4 << 24, MOVE, END]);
    let code = bytes(&words);
    assert_eq!(
        check(&routine(Gfx::Gfx900, &code, Some(KERNEL))).findings,
        []
    );
}

/// A full counter completes a FLAT load of global memory, but not one of LDS.
#[test]
fn a_flat_load_behind_which_the_counter_is_full_is_a_note() {
    for (younger, rule) in [(62, "wait-read"), (63, "wait-flat-full")] {
        // flat_load_dword v0, v[2:3]; s_waitcnt lgkmcnt(0)
        let mut words = vec![0xdc50_0000, 0x0000_0002, 0xbf8c_c07f];
        for _ in 0..younger {
            words.extend([LOAD[0], LOAD[1] | 4 << 24]);
        }
        words.extend([MOVE, END]);
        assert_eq!(rules(&words), [rule]);
    }
}

#[test]
fn edited_code_is_checked_as_edited() {
    let words = [LOAD[0], LOAD[1], WAIT_VM, MOVE, END];
    let code = bytes(&words);
    let routine = routine(Gfx::Gfx900, &code, Some(KERNEL));
    let mut edited = Code::new(&routine);
    assert_eq!(check_code(&routine, &edited).findings, []);
    edited.edit(1, Edit::Imm(0xffff));
    assert_eq!(check_code(&routine, &edited).findings.len(), 1);
    let mut removed = Code::new(&routine);
    removed.edit(1, Edit::Remove);
    assert_eq!(check_code(&routine, &removed).findings.len(), 1);
}

/// Any bytes give a report, in time that grows with their number.
#[test]
fn hostile_code_takes_bounded_work() {
    let mut seed = 1u64;
    let mut random = || {
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (seed >> 33) as u32
    };
    for gfx in Gfx::ALL {
        // Words as they come, then loads and branches to and fro.
        let noise: Vec<u32> = (0..4_000).map(|_| random()).collect();
        let mut jumps = Vec::new();
        for _ in 0..3_000 {
            match random() % 4 {
                0 => jumps.extend([LOAD[0], LOAD[1] & 0x00ff_ffff | random() << 24]),
                1 => jumps.push(0xbf84_0000 | random() & 0xffff),
                2 => jumps.push(0xbf8c_0000 | random() & 0xffff),
                _ => jumps.push(NOP | random() & 7),
            }
        }
        for words in [noise, jumps] {
            for kernel in [None, Some(KERNEL)] {
                let code = bytes(&words);
                check(&routine(gfx, &code, kernel));
            }
        }
    }
    check(&routine(Gfx::Gfx900, &[], Some(KERNEL)));
    check(&routine(Gfx::Gfx900, &[1, 2, 3], None));
}

/// Loads that may be repeated.
#[test]
fn a_run_of_loads_keeps_its_sources() {
    // global_load_dword v2, v[2:3], off; s_endpgm
    let code = bytes(&[LOAD[0], LOAD[1] | 2 << 24, END]);
    let mut routine = routine(Gfx::Gfx900, &code, Some(KERNEL));
    assert_eq!(check(&routine).findings, []);
    routine.xnack = true;
    // The only load of a run is no finding.
    let alone = &check(&routine).findings[0];
    assert_eq!(
        (alone.rule.id, alone.severity),
        ("xnack-repeat", Severity::Note)
    );
    // Behind another load it is.
    let behind = bytes(&[LOAD[0], LOAD[1] | 9 << 24, LOAD[0], LOAD[1] | 2 << 24, END]);
    routine.code = &behind;
    let found = check(&routine).findings;
    let clause = |found: &&crate::Finding| found.rule.id == "xnack-clause";
    assert_eq!(found.iter().filter(clause).count(), 1);
    // The second one writes the address of the first one; a wait between them ends the run.
    let words = [
        LOAD[0],
        LOAD[1],
        LOAD[0],
        LOAD[1] & !0xff | 4 | 3 << 24,
        END,
    ];
    let code = bytes(&words);
    routine.code = &code;
    assert_eq!(check(&routine).findings.len(), 1);
    // Six instructions behind it is a note: LLVM does not look so far back.
    let others = [LOAD[0], LOAD[1] & !0xff | 6 | 9 << 24].repeat(5);
    let code = bytes(&[&words[..2], &others, &words[2..]].concat());
    routine.code = &code;
    let long = &check(&routine).findings;
    let found: Vec<_> = long
        .iter()
        .map(|found| (found.rule.id, found.severity))
        .collect();
    assert_eq!(found, [("xnack-clause-long", Severity::Note)]);
    let code = bytes(&[&words[..2], &[NOP], &words[2..]].concat());
    routine.code = &code;
    assert_eq!(check(&routine).findings, []);
}

fn rules(words: &[u32]) -> Vec<&'static str> {
    let code = bytes(words);
    let found = check(&routine(Gfx::Gfx900, &code, Some(KERNEL))).findings;
    found.iter().map(|found| found.rule.id).collect()
}

/// Without active lanes there was no access, unless EXEC has changed since.
#[test]
fn a_branch_on_execz_says_what_had_no_effect() {
    // ds_read_b32 v0, v1; s_cbranch_execz 1; s_waitcnt lgkmcnt(0); s_barrier; s_endpgm
    assert_eq!(
        rules(&[
            0xd86c0000, 0x00000001, 0xbf880001, 0xbf8cc07f, 0xbf8a0000, 0xbf810000
        ]),
        [""; 0]
    );
    // ds_read_b32 v0, v1; s_mov_b64 exec, s[0:1]; s_cbranch_execz 1; s_waitcnt lgkmcnt(0); s_barrier; s_endpgm
    assert_eq!(
        rules(&[
            0xd86c0000, 0x00000001, 0xbefe0100, 0xbf880001, 0xbf8cc07f, 0xbf8a0000, 0xbf810000
        ]),
        ["wait-barrier-read"]
    );
}

/// A load is issued only where a register is not 1, and its result used only where it is.
#[test]
fn paths_that_comparisons_exclude_are_not_followed() {
    // s_cmp_eq_u32 s0, 1; s_cbranch_scc1 2; global_load_dword v0, v[2:3], off; s_cmpk_eq_u32 s0, 0x1; s_cbranch_scc0 1; v_mov_b32 v1, v0; s_endpgm
    assert_eq!(
        rules(&[
            0xbf068100, 0xbf850002, 0xdc508000, 0x007f0002, 0xb4000001, 0xbf840001, 0x7e020300,
            0xbf810000
        ]),
        [""; 0]
    );
    // s_cmp_eq_u32 s0, 1; s_cbranch_scc1 2; global_load_dword v0, v[2:3], off; s_mov_b32 s0, s1; s_cmpk_eq_u32 s0, 0x1; s_cbranch_scc0 1; v_mov_b32 v1, v0; s_endpgm
    assert_eq!(
        rules(&[
            0xbf068100, 0xbf850002, 0xdc508000, 0x007f0002, 0xbe800001, 0xb4000001, 0xbf840001,
            0x7e020300, 0xbf810000
        ]),
        ["wait-read"]
    );
    // s_mov_b32 s0, 1; global_load_dword v0, v[2:3], off; s_cmp_eq_u32 s0, 1; s_cbranch_scc1 3; s_cmp_eq_u32 s0, 2; s_cbranch_scc0 1; v_mov_b32 v1, v0; s_endpgm
    assert_eq!(
        rules(&[
            0xbe800081, 0xdc508000, 0x007f0002, 0xbf068100, 0xbf850003, 0xbf068200, 0xbf840001,
            0x7e020300, 0xbf810000
        ]),
        [""; 0]
    );
    // The same with 2.
    assert_eq!(
        rules(&[
            0xbe800082, 0xdc508000, 0x007f0002, 0xbf068100, 0xbf850003, 0xbf068200, 0xbf840001,
            0x7e020300, 0xbf810000
        ]),
        ["wait-read"]
    );
    // s_cmp_eq_u32 s0, 0; s_cbranch_scc1 2; global_load_dword v0, v[2:3], off; s_cmp_le_u32 s0, 0; s_cbranch_scc0 1; v_mov_b32 v1, v0; s_endpgm
    assert_eq!(
        rules(&[
            0xbf068000, 0xbf850002, 0xdc508000, 0x007f0002, 0xbf0b8000, 0xbf840001, 0x7e020300,
            0xbf810000
        ]),
        [""; 0]
    );
}

/// What a branch says holds for what was issued before it, too: the wait is enough where the second load is issued.
#[test]
fn comparisons_behind_a_load_exclude_paths() {
    // global_load_dword v0, v[4:5], off; s_cmp_eq_u32 s0, 1; s_cbranch_scc1 2; global_load_dword v1, v[4:5], off; s_waitcnt vmcnt(1); s_cmp_eq_u32 s0, 1; s_cbranch_scc1 1; v_mov_b32 v2, v0; s_endpgm
    let mut words = [
        0xdc508000, 0x007f0004, 0xbf068100, 0xbf850002, 0xdc508000, 0x017f0004, 0xbf8c0f71,
        0xbf068100, 0xbf850001, 0x7e040300, 0xbf810000,
    ];
    assert_eq!(rules(&words), [""; 0]);
    // s_cbranch_scc0 1, so that it is used on the other path.
    words[8] = 0xbf840001;
    assert_eq!(rules(&words), ["wait-read"]);
}

/// A loop that is unrolled twice loads v0 and v1 alternately; behind it, whether the number of iterations is odd tells
/// which one is complete.
#[test]
fn the_exit_of_a_loop_says_whether_its_count_is_odd() {
    // s_mov_b32 s1, s0; s_cmp_eq_u32 s0, 0; s_cbranch_scc1 19; s_cmp_le_u32 s0, 2; s_cbranch_scc1 17;
    // global_load_dword v0, v[4:5], off; s_waitcnt vmcnt(1); s_sub_u32 s0, s0, 1; s_cmp_eq_i32 s0, 2; s_cbranch_scc1 6;
    // global_load_dword v1, v[4:5], off; s_waitcnt vmcnt(1); s_sub_u32 s0, s0, 1; s_cmp_eq_i32 s0, 2; s_cbranch_scc0 -12;
    // s_and_b32 s2, s1, 1; s_cbranch_scc0 2; v_mov_b32 v2, v1; s_endpgm; v_mov_b32 v2, v0; s_endpgm
    let words = [
        0xbe810000, 0xbf068000, 0xbf850013, 0xbf0b8200, 0xbf850011, 0xdc508000, 0x007f0004,
        0xbf8c0f71, 0x80808100, 0xbf008200, 0xbf850006, 0xdc508000, 0x017f0004, 0xbf8c0f71,
        0x80808100, 0xbf008200, 0xbf84fff4, 0x86028101, 0xbf840002, 0x7e040301, 0xbf810000,
        0x7e040300, 0xbf810000,
    ];
    assert_eq!(rules(&words), [""; 0]);
    let changed = |at: usize, word: u32| {
        let mut words = words;
        words[at] = word;
        rules(&words)
    };
    // s_cbranch_scc1: the other register is complete.
    assert_eq!(changed(18, 0xbf850002), ["wait-read", "wait-read"]);
    // s_mov_b32 s1, s3: it is not the count.
    assert_eq!(changed(0, 0xbe810003), ["wait-read", "wait-read"]);
    // s_sub_u32 s0, s0, s3: nothing is known of it.
    assert_eq!(changed(14, 0x80800300), ["wait-read", "wait-read"]);
    // s_sub_u32 s0, s0, 2: an iteration counts an odd number, so that nothing is known behind several.
    assert_eq!(changed(14, 0x80808200), ["wait-read", "wait-read"]);
    // s_cmp_lg_i32 s0, 2 at the first exit: it is left with any count.
    assert_eq!(changed(9, 0xbf018200), ["wait-read"]);
}

/// A counter that cannot be so small does not leave the loop there.
#[test]
fn a_counter_stays_in_its_bounds() {
    // s_mov_b32 s1, s0; s_cmp_lt_u32 s0, 3; s_cbranch_scc1 6; global_load_dword v0, v[4:5], off; s_sub_u32 s0, s0, 1;
    // s_cmp_le_u32 s0, 1; s_cbranch_scc0 1; v_mov_b32 v2, v0; s_and_b32 s2, s1, 1; s_cbranch_scc0 0; s_endpgm
    let mut words = [
        0xbe810000, 0xbf0a8300, 0xbf850006, 0xdc508000, 0x007f0004, 0x80808100, 0xbf0b8100,
        0xbf840001, 0x7e040300, 0x86028101, 0xbf840000, 0xbf810000,
    ];
    assert_eq!(rules(&words), [""; 0]);
    // s_cmp_le_u32 s0, 2
    words[6] = 0xbf0b8200;
    assert_eq!(rules(&words), ["wait-read"]);
}

/// VCC has the number of the last SGPRs that are allocated, on gfx9 and of kernels; only constants are read too early.
#[test]
fn vcc_is_known_under_the_number_of_its_sgprs() {
    let found = |gfx: Gfx, words: &[u32], kernel: Option<Kernel>| -> bool {
        let code = bytes(words);
        let found = check(&routine(gfx, &code, kernel)).findings;
        found
            .iter()
            .any(|found| found.rule.id.starts_with("nop-vcc-number"))
    };
    // v_cmp_eq_u32 vcc, v0, v1; v_mov_b32 v2, s31; s_endpgm
    let mixed = &[0x7d940300, 0x7e04021f, 0xbf810000];
    assert!(found(Gfx::Gfx900, mixed, Some(KERNEL)));
    assert!(!found(Gfx::Gfx803, mixed, Some(KERNEL)));
    assert!(!found(Gfx::Gfx900, mixed, None));
    // Of 112 SGPRs code cannot name the last ones.
    for (sgprs, number) in [(16, Some(15)), (48, Some(47)), (96, Some(95)), (112, None)] {
        let kernel = Kernel { sgprs, ..KERNEL };
        assert!(!found(Gfx::Gfx900, mixed, Some(kernel)), "{sgprs}");
        if let Some(number) = number {
            let words = [mixed[0], mixed[1] & !0x1ff | number, END];
            assert!(found(Gfx::Gfx900, &words, Some(kernel)), "{sgprs}");
        }
    }
    let kept: &[&[u32]] = &[
        // v_cmp_eq_u32 vcc, v0, v1; v_mov_b32 v2, s29; s_endpgm
        &[0x7d940300, 0x7e04021d, 0xbf810000],
        // v_cmp_eq_u32 vcc, v0, v1; v_mov_b32 v2, vcc_hi; s_endpgm
        &[0x7d940300, 0x7e04026b, 0xbf810000],
        // v_readfirstlane_b32 s30, v0; v_mov_b32 v2, vcc_hi; s_endpgm
        &[0x7e3c0500, 0x7e04026b, 0xbf810000],
        // v_cmp_eq_u32 vcc, v0, v1; v_cndmask_b32_e64 v2, v0, v1, s[30:31]; s_endpgm
        &[0x7d940300, 0xd1000002, 0x007a0300, 0xbf810000],
        // v_cmp_eq_u32 s[30:31], v0, v1; v_cndmask_b32_e32 v2, v0, v1, vcc; s_endpgm
        &[0xd0ca001e, 0x00020300, 0x00040300, 0xbf810000],
        // v_cmp_eq_u32 s[30:31], v0, v1; v_addc_co_u32_e32 v2, vcc, v0, v1, vcc; s_endpgm
        &[0xd0ca001e, 0x00020300, 0x38040300, 0xbf810000],
        // s_mov_b64 vcc, 0; v_mov_b32 v2, s31; s_endpgm
        &[0xbeea0180, 0x7e04021f, 0xbf810000],
        // v_cmp_eq_u32 vcc, v0, v1; s_mov_b32 s0, s31; s_endpgm
        &[0x7d940300, 0xbe80001f, 0xbf810000],
        // s_mov_b64 vcc, 0; s_cbranch_vccz 0; s_endpgm
        &[0xbeea0180, 0xbf860000, 0xbf810000],
        // s_mov_b32 s29, 0; s_cbranch_vccz 0; s_endpgm
        &[0xbe9d0080, 0xbf860000, 0xbf810000],
    ];
    for words in kept {
        assert!(!found(Gfx::Gfx900, words, Some(KERNEL)), "{words:x?}");
    }
}

/// It counts to sixteen on gfx9, to eight before.
#[test]
fn an_s_nop_has_as_many_wait_states_as_the_target_counts() {
    // v_readfirstlane_b32 s4, v0; s_nop 8; v_readlane_b32 s5, v0, s4; s_endpgm
    let words = [0x7e080500, 0xbf800008, 0xd2890005, 0x00000900, 0xbf810000];
    let code = bytes(&words);
    let found = |gfx| check(&routine(gfx, &code, Some(KERNEL))).findings.len();
    assert_eq!((found(Gfx::Gfx803), found(Gfx::Gfx900)), (1, 0));
}
