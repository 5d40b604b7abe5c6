#!/usr/bin/env python3
"""Remakes what benches/costs.rs runs: classes.tsv (instruction words) and kernels.gfx906.co.

    python3 make.py

Needs llvm-mc-19, clang-19, lld-19 and rocm-device-libs. The benchmark reads the products only.

A class of instructions is a loop of `body` behind `setup`; `base` is the part of it whose time is
taken off (address steps, what keeps a result live). Each line of classes.tsv has the group, the
name, the number of operations in the body, the work-items of a workgroup, the passes through the
loop, and the words of setup, base and body.

Registers that every class finds: v0 lane, v1 and v8 to v15 1 + lane/128 as f32, v16 4 * lane,
v[2:3] the buffer + 4 * lane, v17 lane + 1, v[18:19] v1 as f64; s[10:11] the buffer, s[12:15] a
descriptor of it, s[0:3] the descriptor of the scratch. The results v8 to v15 and s20 to s23 are
stored at the end.
"""

import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
TARGET = "gfx906"
BITCODE = "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode"

PROLOGUE = """
    s_add_u32 flat_scratch_lo, s6, s9
    s_addc_u32 flat_scratch_hi, s7, 0
    s_add_u32 s0, s0, s9
    s_addc_u32 s1, s1, 0
    s_load_dwordx2 s[10:11], s[4:5], 0x0
    v_cvt_f32_u32 v1, v0
    v_mul_f32 v1, 0x3c000000, v1
    v_add_f32 v1, 1.0, v1
    v_lshlrev_b32 v16, 2, v0
    v_add_u32 v17, 1, v0
    v_cvt_f64_f32 v[18:19], v1
    s_waitcnt lgkmcnt(0)
    s_mov_b32 s12, s10
    s_and_b32 s13, s11, 0xffff
    s_mov_b32 s14, 0x100000
    s_mov_b32 s15, 0x27000
    v_mov_b32 v3, s11
    v_add_co_u32 v2, vcc, s10, v16
    v_addc_co_u32 v3, vcc, 0, v3, vcc
    s_mov_b32 m0, -1
    s_mov_b32 s20, 3
    s_mov_b32 s21, 5
    s_mov_b32 s22, 7
    s_mov_b32 s23, 9
    s_mov_b64 s[24:25], 0x5555
    s_mov_b64 s[26:27], 0
""" + "".join(f"    v_mov_b32 v{n}, v1\n" for n in range(8, 16))
EPILOGUE = "".join(f"    v_xor_b32 v{n - 12}, s{n}, v{n - 12}\n" for n in range(20, 24)) + """
    global_store_dwordx4 v16, v[8:11], s[10:11]
    global_store_dwordx4 v16, v[12:15], s[10:11] offset:2048
    s_endpgm
"""
F64 = "".join(f"v_cvt_f64_f32 v[{n}:{n + 1}], v1\n" for n in (8, 10, 12, 14))
HALVES = "".join(f"v_cvt_pkrtz_f16_f32 v{n}, v1, v1\n" for n in range(8, 12))
INTEGERS = "".join(f"v_add_u32 v{n}, {n}, v0\n" for n in range(8, 16))

classes = []


def add(group, name, body, count, *, setup="", base="", workgroup=64, passes=512):
    classes.append((group, name, count, workgroup, passes, setup, base, base + "\n" + body))


def interleave(base, body):
    """The class that was added last has this base and this whole body instead."""
    classes[-1] = classes[-1][:6] + (base, body)


def rename(suffix):
    """The class that was added last, without this in its name."""
    entry = classes[-1]
    classes[-1] = (entry[0], entry[1].removesuffix(suffix)) + entry[2:]


def four(group, name, text, setup="", base=""):
    """One instruction on v8 to v11, each its own chain; {d} is the register."""
    body = "\n".join(text.format(d=f"v{n}") for n in range(8, 12))
    add(group, name, body, 4, setup=setup, base=base)


def quads(group, name, text, setup=F64):
    """One instruction on the pairs v[8:9] to v[14:15]; {d} is the pair, {l} and {h} its words."""
    body = "\n".join(text.format(d=f"v[{n}:{n + 1}]", l=f"v{n}", h=f"v{n + 1}")
                     for n in (8, 10, 12, 14))
    add(group, name, body, 4, setup=setup)


def lines(group, name, texts, setup="", base="", **more):
    add(group, name, "\n".join(texts), len(texts), setup=setup, base=base, **more)


# ---- 32-bit integers
for op in ["v_add_u32 {d}, {d}, v17", "v_sub_u32 {d}, {d}, v17", "v_and_b32 {d}, {d}, v17",
           "v_xor_b32 {d}, {d}, v17", "v_min_u32 {d}, {d}, v17", "v_add_co_u32 {d}, vcc, {d}, v17",
           "v_addc_co_u32 {d}, vcc, {d}, v17, vcc", "v_add3_u32 {d}, {d}, v17, v0",
           "v_lshl_add_u32 {d}, {d}, 3, v17", "v_and_or_b32 {d}, {d}, v17, v0",
           "v_bfi_b32 {d}, {d}, v17, v0", "v_bfrev_b32 {d}, {d}", "v_not_b32 {d}, {d}",
           "v_ffbh_u32 {d}, {d}", "v_ffbl_b32 {d}, {d}", "v_bcnt_u32_b32 {d}, {d}, v17",
           "v_mul_lo_u32 {d}, {d}, v17", "v_mul_hi_u32 {d}, {d}, v17", "v_mul_hi_i32 {d}, {d}, v17",
           "v_mul_u32_u24 {d}, {d}, v17", "v_mul_hi_u32_u24 {d}, {d}, v17",
           "v_mad_u32_u24 {d}, {d}, v17, v0", "v_mad_i32_i24 {d}, {d}, v17, v0",
           "v_lshlrev_b32 {d}, 3, {d}", "v_lshlrev_b32 {d}, v17, {d}", "v_lshrrev_b32 {d}, v17, {d}",
           "v_ashrrev_i32 {d}, v17, {d}", "v_bfe_u32 {d}, {d}, 3, 9", "v_bfe_u32 {d}, {d}, v17, v0",
           "v_bfe_i32 {d}, {d}, 3, 9", "v_bfe_i32 {d}, {d}, v17, v0", "v_bfm_b32 {d}, {d}, v17",
           "v_alignbit_b32 {d}, {d}, {d}, 7", "v_alignbit_b32 {d}, {d}, v17, v0",
           "v_alignbyte_b32 {d}, {d}, v17, v0", "v_perm_b32 {d}, {d}, v17, v16",
           "v_sad_u8 {d}, {d}, v17, v0", "v_lerp_u8 {d}, {d}, v17, v0", "v_med3_u32 {d}, {d}, v17, v0",
           "v_min3_u32 {d}, {d}, v17, v0", "v_dot4_i32_i8 {d}, {d}, v17, v0"]:
    four("integer", op.replace("{d}, ", "d, ").replace("{d}", "d"), op, setup=INTEGERS)

# ---- 64-bit integers
four64 = "v_add_co_u32 {l}, vcc, {l}, v17\nv_addc_co_u32 {h}, vcc, {h}, v0, vcc"
quads("integer 64", "add (2 instructions)", four64, INTEGERS)
for op in ["v_lshlrev_b64 {d}, 3, {d}", "v_lshlrev_b64 {d}, v17, {d}", "v_lshrrev_b64 {d}, v17, {d}",
           "v_ashrrev_i64 {d}, v17, {d}", "v_mad_u64_u32 {d}, vcc, {l}, v17, {d}",
           "v_mad_i64_i32 {d}, vcc, {l}, v17, {d}"]:
    quads("integer 64", re.sub(r"\{[dlh]\}", "d", op), op, INTEGERS)
quads("integer 64", "mul (4 instructions)",
      "v_mul_lo_u32 v20, {l}, v0\nv_mul_lo_u32 v21, {h}, v17\n"
      "v_mad_u64_u32 {d}, vcc, {l}, v17, 0\nv_add3_u32 {h}, {h}, v20, v21", INTEGERS)

# ---- f32
DIV32 = """
    v_div_scale_f32 v20, s[28:29], {y}, {y}, {x}
    v_div_scale_f32 v21, vcc, {x}, {y}, {x}
    v_rcp_f32 v22, v20
    v_fma_f32 v23, -v20, v22, 1.0
    v_fmac_f32 v22, v23, v22
    v_mul_f32 v23, v21, v22
    v_fma_f32 v24, -v20, v23, v21
    v_fmac_f32 v23, v24, v22
    v_fma_f32 v20, -v20, v23, v21
    v_div_fmas_f32 v20, v20, v22, v23
    v_div_fixup_f32 {d}, v20, {y}, {x}
"""
DIV32_FLUSH = """
    v_div_scale_f32 v20, s[28:29], {y}, {y}, {x}
    v_div_scale_f32 v21, vcc, {x}, {y}, {x}
    v_rcp_f32 v22, v20
    s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3
    v_fma_f32 v23, -v20, v22, 1.0
    v_fmac_f32 v22, v23, v22
    v_mul_f32 v23, v21, v22
    v_fma_f32 v24, -v20, v23, v21
    v_fmac_f32 v23, v24, v22
    v_fma_f32 v20, -v20, v23, v21
    s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0
    v_div_fmas_f32 v20, v20, v22, v23
    v_div_fixup_f32 {d}, v20, {y}, {x}
"""
SQRT32 = """
    s_mov_b32 s28, 0xf800000
    v_mul_f32 v20, 0x4f800000, {x}
    v_cmp_gt_f32 vcc, s28, {x}
    v_cndmask_b32 {x}, {x}, v20, vcc
    v_sqrt_f32 v20, {x}
    v_add_u32 v21, -1, v20
    v_fma_f32 v22, -v21, v20, {x}
    v_cmp_ge_f32 s[28:29], 0, v22
    v_add_u32 v22, 1, v20
    v_cndmask_b32 v21, v20, v21, s[28:29]
    v_fma_f32 v20, -v22, v20, {x}
    v_cmp_lt_f32 s[28:29], 0, v20
    v_cndmask_b32 v20, v21, v22, s[28:29]
    v_mul_f32 v21, 0x37800000, v20
    v_cndmask_b32 v20, v20, v21, vcc
    v_mov_b32 v21, 0x260
    v_cmp_class_f32 vcc, {x}, v21
    v_cndmask_b32 {x}, v20, {x}, vcc
"""
for op in ["v_add_f32 {d}, {d}, v1", "v_sub_f32 {d}, {d}, v1", "v_mul_f32 {d}, {d}, v1",
           "v_mac_f32 {d}, v1, v1", "v_mad_f32 {d}, {d}, v1, v1", "v_fma_f32 {d}, {d}, v1, v1",
           "v_mul_legacy_f32 {d}, {d}, v1", "v_min_f32 {d}, {d}, v1", "v_max_f32 {d}, {d}, v1",
           "v_med3_f32 {d}, {d}, 0, 1.0", "v_med3_f32 {d}, {d}, v1, v12", "v_min3_f32 {d}, {d}, v1, v12",
           "v_rcp_f32 {d}, {d}", "v_rcp_iflag_f32 {d}, {d}", "v_sqrt_f32 {d}, {d}",
           "v_rsq_f32 {d}, {d}", "v_exp_f32 {d}, {d}", "v_log_f32 {d}, {d}", "v_sin_f32 {d}, {d}",
           "v_cos_f32 {d}, {d}", "v_fract_f32 {d}, {d}", "v_floor_f32 {d}, {d}",
           "v_trunc_f32 {d}, {d}", "v_rndne_f32 {d}, {d}", "v_frexp_mant_f32 {d}, {d}",
           "v_frexp_exp_i32_f32 {d}, {d}", "v_ldexp_f32 {d}, {d}, v17",
           "v_div_scale_f32 {d}, vcc, v1, v1, {d}", "v_div_scale_f32 {d}, vcc, {d}, v1, {d}",
           "v_div_fmas_f32 {d}, {d}, v1, v1", "v_div_fixup_f32 {d}, {d}, v1, v12"]:
    four("f32", op.replace("{d}, ", "d, ").replace("{d}", "d"), op)
add("f32", "division (11 instructions)", "".join(DIV32.format(d=f"v{n}", x="v1", y=f"v{n}") for n in (8, 9)), 2)
add("f32", "division, denormals flushed",
    "".join(DIV32_FLUSH.format(d=f"v{n}", x="v1", y=f"v{n}") for n in (8, 9)), 2,
    setup="s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0")
add("f32", "square root (18 instructions)", "".join(SQRT32.format(x=f"v{n}") for n in (8, 9)), 2)

# ---- f64
DIV64 = """
    v_div_scale_f64 v[20:21], s[28:29], {y}, {y}, {x}
    v_rcp_f64 v[22:23], v[20:21]
    v_fma_f64 v[24:25], -v[20:21], v[22:23], 1.0
    v_fma_f64 v[22:23], v[22:23], v[24:25], v[22:23]
    v_div_scale_f64 v[24:25], vcc, {x}, {y}, {x}
    v_fma_f64 v[26:27], -v[20:21], v[22:23], 1.0
    v_fma_f64 v[22:23], v[22:23], v[26:27], v[22:23]
    v_mul_f64 v[26:27], v[24:25], v[22:23]
    v_fma_f64 v[20:21], -v[20:21], v[26:27], v[24:25]
    v_div_fmas_f64 v[20:21], v[20:21], v[22:23], v[26:27]
    v_div_fixup_f64 {d}, v[20:21], {y}, {x}
"""
SQRT64 = """
    s_mov_b32 s28, 0
    s_brev_b32 s29, 8
    v_cmp_gt_f64 vcc, s[28:29], {x}
    v_cndmask_b32 v20, 0, 1, vcc
    v_lshlrev_b32 v20, 8, v20
    v_ldexp_f64 {x}, {x}, v20
    v_rsq_f64 v[20:21], {x}
    v_mul_f64 v[22:23], {x}, v[20:21]
    v_mul_f64 v[20:21], v[20:21], 0.5
    v_fma_f64 v[24:25], -v[20:21], v[22:23], 0.5
    v_fma_f64 v[22:23], v[22:23], v[24:25], v[22:23]
    v_fma_f64 v[20:21], v[20:21], v[24:25], v[20:21]
    v_fma_f64 v[24:25], -v[22:23], v[22:23], {x}
    v_fma_f64 v[22:23], v[24:25], v[20:21], v[22:23]
    v_fma_f64 v[24:25], -v[22:23], v[22:23], {x}
    v_fma_f64 v[20:21], v[24:25], v[20:21], v[22:23]
    v_mov_b32 v22, 0xffffff80
    v_mov_b32 v23, 0x260
    v_cndmask_b32 v22, 0, v22, vcc
    v_cmp_class_f64 vcc, {x}, v23
    v_ldexp_f64 v[20:21], v[20:21], v22
    v_cndmask_b32 {l}, v20, {l}, vcc
    v_cndmask_b32 {h}, v21, {h}, vcc
"""
for op in ["v_add_f64 {d}, {d}, v[18:19]", "v_mul_f64 {d}, {d}, v[18:19]",
           "v_fma_f64 {d}, {d}, v[18:19], v[18:19]", "v_min_f64 {d}, {d}, v[18:19]",
           "v_max_f64 {d}, {d}, v[18:19]", "v_rcp_f64 {d}, {d}", "v_sqrt_f64 {d}, {d}",
           "v_rsq_f64 {d}, {d}", "v_fract_f64 {d}, {d}", "v_floor_f64 {d}, {d}",
           "v_trunc_f64 {d}, {d}", "v_rndne_f64 {d}, {d}", "v_frexp_mant_f64 {d}, {d}",
           "v_frexp_exp_i32_f64 {l}, {d}", "v_ldexp_f64 {d}, {d}, v0",
           "v_trig_preop_f64 {d}, {d}, v0", "v_div_scale_f64 {d}, vcc, v[18:19], v[18:19], {d}",
           "v_div_scale_f64 {d}, vcc, {d}, v[18:19], {d}",
           "v_div_fmas_f64 {d}, {d}, v[18:19], v[18:19]",
           "v_div_fixup_f64 {d}, {d}, v[18:19], v[18:19]"]:
    quads("f64", re.sub(r"\{[dlh]\}", "d", op), op)
PAIR = dict(x="v[8:9]", l="v8", h="v9")
OTHER = dict(x="v[10:11]", l="v10", h="v11")
add("f64", "division (11 instructions)", "".join(DIV64.format(d=d, x="v[18:19]", y=d) for d in ("v[8:9]", "v[10:11]")), 2, setup=F64)
add("f64", "square root (23 instructions)", SQRT64.format(**PAIR) + SQRT64.format(**OTHER), 2, setup=F64)

# ---- f16
for op in ["v_add_f16 {d}, {d}, v8", "v_mul_f16 {d}, {d}, v8", "v_fma_f16 {d}, {d}, v8, v8",
           "v_mad_f16 {d}, {d}, v8, v8", "v_max_f16 {d}, {d}, v8", "v_rcp_f16 {d}, {d}",
           "v_sqrt_f16 {d}, {d}", "v_rsq_f16 {d}, {d}", "v_exp_f16 {d}, {d}", "v_log_f16 {d}, {d}",
           "v_sin_f16 {d}, {d}", "v_ldexp_f16 {d}, {d}, v17", "v_div_fixup_f16 {d}, {d}, v8, v8",
           "v_add_u16 {d}, {d}, v17", "v_mul_lo_u16 {d}, {d}, v17", "v_lshlrev_b16 {d}, v17, {d}",
           "v_pk_add_f16 {d}, {d}, v8", "v_pk_mul_f16 {d}, {d}, v8", "v_pk_fma_f16 {d}, {d}, v8, v8",
           "v_pk_max_f16 {d}, {d}, v8", "v_pk_add_u16 {d}, {d}, v17", "v_pk_mul_lo_u16 {d}, {d}, v17",
           "v_pk_lshlrev_b16 {d}, v17, {d}", "v_pk_mad_u16 {d}, {d}, v17, v17",
           "v_fma_mix_f32 {d}, {d}, v8, v8", "v_dot2_f32_f16 {d}, {d}, v8, v8"]:
    four("f16", op.replace("{d}, ", "d, ").replace("{d}", "d"), op, setup=HALVES)

# ---- conversions
for op in ["v_cvt_f32_u32 {d}, {d}", "v_cvt_f32_i32 {d}, {d}", "v_cvt_u32_f32 {d}, {d}",
           "v_cvt_i32_f32 {d}, {d}", "v_cvt_f32_f16 {d}, {d}", "v_cvt_f16_f32 {d}, {d}",
           "v_cvt_pkrtz_f16_f32 {d}, {d}, {d}", "v_cvt_f32_ubyte0 {d}, {d}", "v_cvt_f32_ubyte3 {d}, {d}",
           "v_cvt_pk_u8_f32 {d}, {d}, v17, {d}", "v_cvt_rpi_i32_f32 {d}, {d}",
           "v_cvt_flr_i32_f32 {d}, {d}", "v_cvt_off_f32_i4 {d}, {d}", "v_cvt_f16_u16 {d}, {d}",
           "v_cvt_u16_f16 {d}, {d}", "v_cvt_pknorm_i16_f32 {d}, {d}, {d}"]:
    four("conversion", op.replace("{d}, ", "d, ").replace("{d}", "d"), op)
for op in ["v_cvt_f64_f32 {d}, {l}", "v_cvt_f32_f64 {l}, {d}", "v_cvt_f64_i32 {d}, {l}",
           "v_cvt_f64_u32 {d}, {l}", "v_cvt_i32_f64 {l}, {d}", "v_cvt_u32_f64 {l}, {d}"]:
    quads("conversion", re.sub(r"\{[dlh]\}", "d", op), op)

# ---- compares, selections
KEEP = "s_xor_b64 s[22:23], s[22:23], s[28:29]"


def compare(name, text):
    add("compare", name, "\n".join([text, KEEP] * 4), 4,
        setup="s_mov_b64 s[28:29], 0\n" + F64, base="")


for op in ["v_cmp_lt_u32 s[28:29], v17, v8", "v_cmp_eq_u32 s[28:29], v17, v8",
           "v_cmp_lt_f32 s[28:29], v1, v8", "v_cmp_class_f32 s[28:29], v8, v17",
           "v_cmp_lt_u64 s[28:29], v[18:19], v[8:9]", "v_cmp_lt_f64 s[28:29], v[18:19], v[8:9]",
           "v_cmp_class_f64 s[28:29], v[8:9], v17", "v_cmp_lt_f16 s[28:29], v1, v8",
           "v_cmp_class_f16 s[28:29], v8, v17"]:
    # The register that is compared changes, so that no result is used again.
    kind = op.split(",")[0].split()[0]
    step = "v_add_u32 v8, v8, v17\n"
    add("compare", kind + " to mask", "\n".join([step + op, KEEP] * 4), 4,
        setup="s_mov_b64 s[28:29], 0\n" + F64, base="\n".join([step] * 4))
    add("compare", kind + " + cndmask", "\n".join([step + op.replace("s[28:29]", "vcc"),
        "v_cndmask_b32 v12, v12, v17, vcc"] * 4).replace("v_cmp_class_f32 vcc", "v_cmp_class_f32 vcc"), 4,
        setup=F64, base="\n".join([step] * 4))
four("compare", "v_cndmask_b32 d, d, v17, s[24:25]", "v_cndmask_b32 {d}, {d}, v17, s[24:25]")
add("compare", "v_cmpx_lt_u32 (+ restore of EXEC)",
    "\n".join(["v_cmpx_lt_u32 exec, v17, v8", "v_add_u32 v8, v8, v17", "s_mov_b64 exec, -1"] * 2), 2,
    setup=INTEGERS, base="v_add_u32 v8, v8, v17\nv_add_u32 v8, v8, v17")

# ---- SDWA, DPP and what moves data among lanes
four("lanes", "SDWA v_add_u32 (byte, word)",
     "v_add_u32_sdwa {d}, {d}, v17 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_0 src1_sel:BYTE_0")
four("lanes", "SDWA v_or_b32, UNUSED_PRESERVE",
     "v_or_b32_sdwa {d}, {d}, v17 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0 src1_sel:BYTE_1")
for name, control in [("quad_perm", "quad_perm:[1,0,3,2]"), ("row_shl", "row_shl:1"), ("row_shr", "row_shr:4"),
                      ("row_ror", "row_ror:3"), ("wave_shl", "wave_shl:1"), ("wave_ror", "wave_ror:1"),
                      ("row_mirror", "row_mirror"), ("row_bcast15", "row_bcast:15"), ("row_bcast31", "row_bcast:31")]:
    four("lanes", f"DPP v_add_f32 {name}",
         f"v_add_f32_dpp {{d}}, {{d}}, {{d}} {control} row_mask:0xf bank_mask:0xf")
four("lanes", "DPP v_mov_b32 row_shr, bound_ctrl, masks",
     "v_mov_b32_dpp {d}, {d} row_shr:1 row_mask:0xa bank_mask:0x3 bound_ctrl:0")
four("lanes", "ds_swizzle_b32 (xor 16)", "ds_swizzle_b32 {d}, {d} offset:swizzle(SWAP,16)\ns_waitcnt lgkmcnt(0)")
four("lanes", "ds_swizzle_b32 (quads)", "ds_swizzle_b32 {d}, {d} offset:swizzle(QUAD_PERM,1,0,3,2)\ns_waitcnt lgkmcnt(0)")
ROTATE = "v_add_u32 v20, 4, v16\nv_xor_b32 v21, 0x80, v16\nv_mul_u32_u24 v22, 0x94, v0"
for kind, register in [("rotated", "v20"), ("butterfly", "v21"), ("any", "v22")]:
    four("lanes", f"ds_bpermute_b32 {kind}", f"ds_bpermute_b32 {{d}}, {register}, {{d}}\ns_waitcnt lgkmcnt(0)", setup=ROTATE)
four("lanes", "ds_permute_b32 rotated", "ds_permute_b32 {d}, v20, {d}\ns_waitcnt lgkmcnt(0)", setup=ROTATE)
four("lanes", "ds_permute_b32 any", "ds_permute_b32 {d}, v22, {d}\ns_waitcnt lgkmcnt(0)", setup=ROTATE)
lines("lanes", "v_readlane_b32 (+ v_add)", [f"v_readlane_b32 s20, v{n}, 17\nv_add_u32 v{n}, s20, v{n}" for n in range(8, 12)])
lines("lanes", "v_readfirstlane_b32 (+ v_add)", [f"v_readfirstlane_b32 s20, v{n}\nv_add_u32 v{n}, s20, v{n}" for n in range(8, 12)])
lines("lanes", "v_readlane_b32, lane in an SGPR (+ v_add)", [f"v_readlane_b32 s20, v{n}, s30\nv_add_u32 v{n}, s20, v{n}" for n in range(8, 12)])
four("lanes", "v_writelane_b32", "v_writelane_b32 {d}, s20, 9")
add("lanes", "v_mbcnt_lo + hi", "\n".join(f"v_mbcnt_lo_u32_b32 v{n}, s24, v{n}\nv_mbcnt_hi_u32_b32 v{n}, s25, v{n}"
                                        for n in range(8, 12)), 4)
four("lanes", "v_mov_b32 indexed (s_set_gpr_idx)",
     "s_set_gpr_idx_on s20, gpr_idx(SRC0)\nv_mov_b32 {d}, v4\ns_set_gpr_idx_off", setup="s_mov_b32 s20, 4")

# ---- LDS
SEE = "\n".join(f"v_xor_b32 v{n + 4}, v{n}, v{n + 4}" for n in range(8, 12))
LDS = """
    v_lshlrev_b32 v20, 3, v0
    v_lshlrev_b32 v21, 4, v0
    v_mul_u32_u24 v22, 0x84, v0
    v_mul_u32_u24 v23, 0x9e4, v0
    v_and_b32 v23, 0xffc, v23
    v_and_b32 v24, 28, v16
    v_mul_u32_u24 v25, 12, v0
"""
WAIT = "s_waitcnt lgkmcnt(0)\n"


def lds(name, text, setup=LDS, base=None, count=4):
    add("LDS", name, "\n".join([text.format(d=n, e=n + 4, o=256 * (n - 8)) for n in range(8, 8 + count)] + [WAIT]),
        count, setup=setup, base=SEE if base is None else base)


for name, a in [("contiguous", "v16"), ("stride 132", "v22"), ("any", "v23"), ("uniform", "v26")]:
    lds(f"ds_read_b32 {name}", f"ds_read_b32 v{{d}}, {a} offset:{{o}}", setup=LDS + "v_mov_b32 v26, 64\n")
    lds(f"ds_write_b32 {name}", f"ds_write_b32 {a}, v{{e}} offset:{{o}}", setup=LDS + "v_mov_b32 v26, 64\n")
for op in ["ds_read_u8", "ds_read_i8", "ds_read_u16", "ds_read_u16_d16", "ds_read_u16_d16_hi"]:
    lds(op + " contiguous", op + (" v{d}, v0 offset:{o}" if "8" in op.split("_")[2] else " v{d}, v27 offset:{o}"),
        setup=LDS + "v_lshlrev_b32 v27, 1, v0\n")
for op in ["ds_write_b8", "ds_write_b16"]:
    lds(op + " contiguous", op + (" v0, v{e} offset:{o}" if op.endswith("8") else " v27, v{e} offset:{o}"),
        setup=LDS + "v_lshlrev_b32 v27, 1, v0\n")
for op, address, width in [("b64", "v20", 2), ("b96", "v25", 3), ("b128", "v21", 4)]:
    add("LDS", f"ds_read_{op} contiguous", "\n".join(
        f"ds_read_{op} v[{28 + 4 * n}:{27 + 4 * n + width}], {address} offset:{1024 * n}" for n in range(2)) + "\n" + WAIT,
        2, setup=LDS + "v_mov_b32 v28, 0\nv_mov_b32 v32, 0\n", base="v_xor_b32 v12, v12, v28\nv_xor_b32 v13, v13, v32\n")
    add("LDS", f"ds_write_{op} contiguous", "\n".join(
        f"ds_write_{op} {address}, v[{8 + 4 * n}:{7 + 4 * n + width}] offset:{1024 * n}" for n in range(2)) + "\n" + WAIT,
        2, setup=LDS, base="v_add_u32 v8, v8, v17\nv_add_u32 v12, v12, v17\n")
add("LDS", "ds_read2_b32", "ds_read2_b32 v[28:29], v16 offset1:64\nds_read2st64_b32 v[32:33], v16 offset0:2 offset1:3\n" + WAIT,
    2, setup=LDS + "v_mov_b32 v28, 0\nv_mov_b32 v32, 0\n", base="v_xor_b32 v12, v12, v28\nv_xor_b32 v13, v13, v32\n")
add("LDS", "ds_write2_b32", "ds_write2_b32 v16, v8, v12 offset1:64\nds_write2st64_b32 v16, v8, v12 offset0:2 offset1:3\n" + WAIT,
    2, setup=LDS, base="v_add_u32 v8, v8, v17\nv_add_u32 v12, v12, v17\n")
for name, a in [("contiguous", "v16"), ("8 banks", "v24"), ("uniform", "v26"), ("any", "v23")]:
    lds(f"ds_add_u32 {name}", f"ds_add_u32 {a}, v17 offset:{{o}}", setup=LDS + "v_mov_b32 v26, 64\n", base="\n")
    lds(f"ds_add_rtn_u32 {name}", f"ds_add_rtn_u32 v{{d}}, {a}, v17 offset:{{o}}", setup=LDS + "v_mov_b32 v26, 64\n")
for op in ["ds_max_u32", "ds_and_b32", "ds_inc_u32", "ds_add_f32"]:
    lds(op + " contiguous", op + " v16, v17 offset:{o}", base="\n")
lds("ds_cmpst_rtn_b32 contiguous", "ds_cmpst_rtn_b32 v{d}, v16, v17, v1 offset:{o}")
lds("ds_wrxchg_rtn_b32 contiguous", "ds_wrxchg_rtn_b32 v{d}, v16, v17 offset:{o}")
lds("ds_add_u64 contiguous", "ds_add_u64 v20, v[18:19] offset:{o}", base="\n")
lds("ds_append", "ds_append v{d} offset:{o}")

# ---- global memory. Addresses step by 64 bytes from pass to pass.
STEP = "v_add_co_u32 v4, vcc, 64, v4\nv_addc_co_u32 v5, vcc, 0, v5, vcc\n"


def address(offset):
    return f"{offset}\nv_mov_b32 v5, s11\nv_add_co_u32 v4, vcc, s10, v4\nv_addc_co_u32 v5, vcc, 0, v5, vcc\n"


def stride(bytes):
    return address(f"v_mul_u32_u24 v4, {bytes:#x}, v0")


ANY = address("v_mul_u32_u24 v4, 0x9e3779, v0\nv_and_b32 v4, 0xfffc, v4")
# As an index that was loaded: nothing is known of it while translating.
LOADED = ("v_mul_u32_u24 v4, 0x9e3779, v0\nv_and_b32 v4, 0xfffc, v4\nglobal_store_dword v16, v4, s[10:11] offset:1024\n"
          "s_waitcnt vmcnt(0)\nglobal_load_dword v4, v16, s[10:11] offset:1024\ns_waitcnt vmcnt(0)\n" + address(""))
VWAIT = "s_waitcnt vmcnt(0)\n"


def memory(name, load, store, setup, width=1, step=STEP, group="global", far=1024):
    """Two loads or stores a pass; {d} is the register or registers, {o} an offset."""
    registers = lambda first: f"v{first}" if width == 1 else f"v[{first}:{first + width - 1}]"
    clear = "".join(f"v_mov_b32 v{n}, 0\n" for n in range(28, 36))
    if load:
        body = "".join(load.format(d=registers(28 + 4 * n), o=far * n) + "\n" for n in range(2))
        see = "v_xor_b32 v12, v12, v28\nv_xor_b32 v13, v13, v32\n"
        add(group, name + " load", "", 2, setup=setup + clear)
        interleave(step + see, step + body + VWAIT + see)
    if store:
        body = "".join(store.format(d=registers(8 + 4 * n), o=far * n) + "\n" for n in range(2))
        change = "v_add_u32 v8, v8, v17\nv_add_u32 v12, v12, v17\n"
        add(group, name + " store", "", 2, setup=setup + clear)
        interleave(step + change, step + change + body)


def plain(suffix, width, load="dword", store="dword"):
    return (f"global_load_{load}{suffix} {{d}}, v[4:5], off offset:{{o}}",
            f"global_store_{store}{suffix} v[4:5], {{d}}, off offset:{{o}}")


for kind, size in [("ubyte", 1), ("ushort", 2)]:
    load = f"global_load_{kind} {{d}}, v[4:5], off offset:{{o}}"
    store = f"global_store_{kind[1:]} v[4:5], {{d}}, off offset:{{o}}"
    memory(f"{kind[1:]} contiguous", load, store, stride(size))
    memory(f"{kind[1:]} stride {4 * size}", load, store, stride(4 * size))
    memory(f"{kind[1:]} any", load, store, ANY)
    memory(f"{kind[1:]} any, address loaded", load, store, LOADED)
memory("sbyte contiguous", "global_load_sbyte {d}, v[4:5], off offset:{o}", None, stride(1))
memory("short_d16_hi contiguous", "global_load_short_d16_hi {d}, v[4:5], off offset:{o}",
       "global_store_short_d16_hi v[4:5], {d}, off offset:{o}", stride(2))
for suffix, width in [("", 1), ("x2", 2), ("x3", 3), ("x4", 4)]:
    load, store = plain(suffix, width)
    memory(f"dword{suffix} contiguous", load, store, stride(4 * width), width)
    memory(f"dword{suffix} stride 64", load, store, stride(64), width)
    memory(f"dword{suffix} any", load, store, ANY, width)
    memory(f"dword{suffix} any, address loaded", load, store, LOADED, width)
memory("dword uniform", *plain("", 1), address("v_mov_b32 v4, 64"))
memory("dword contiguous, SGPR base", "global_load_dword {d}, v16, s[28:29] offset:{o}",
       "global_store_dword v16, {d}, s[28:29] offset:{o}", "s_mov_b64 s[28:29], s[10:11]\n",
       step="s_add_u32 s28, s28, 64\ns_addc_u32 s29, s29, 0\n")
memory("dword contiguous, half of the lanes", *plain("", 1), stride(4) + "s_mov_b64 exec, 0xffffffff\n")
memory("dword contiguous, every other lane", *plain("", 1),
       stride(4) + "s_mov_b32 exec_lo, 0x55555555\ns_mov_b32 exec_hi, 0x55555555\n")
memory("ubyte to f64 and back", "global_load_ubyte {d}, v[4:5], off offset:{o}\ns_waitcnt vmcnt(0)\n"
       "v_cvt_f64_u32 v[20:21], {d}\nv_mul_f64 v[20:21], v[20:21], v[18:19]\nv_cvt_u32_f64 {d}, v[20:21]", None, stride(1))

memory("flat dword contiguous", "flat_load_dword {d}, v[4:5] offset:{o}", "flat_store_dword v[4:5], {d} offset:{o}",
       stride(4), group="flat")
memory("flat dword any, address loaded", "flat_load_dword {d}, v[4:5] offset:{o}", "flat_store_dword v[4:5], {d} offset:{o}",
       LOADED, group="flat")
BUFFER = "v_add_u32 v4, 64, v4\n"
for name, setup in [("contiguous", "v_mov_b32 v4, v16\n"), ("any", "v_mul_u32_u24 v4, 0x9e3779, v0\nv_and_b32 v4, 0xfffc, v4\n")]:
    for suffix, width in [("", 1), ("x4", 4)]:
        scale = "v_lshlrev_b32 v4, 2, v4\n" if width == 4 and name == "contiguous" else ""
        memory(f"buffer dword{suffix} {name}", f"buffer_load_dword{suffix} {{d}}, v4, s[12:15], 0 offen offset:{{o}}",
               f"buffer_store_dword{suffix} {{d}}, v4, s[12:15], 0 offen offset:{{o}}", setup + scale, width,
               step=BUFFER, group="buffer")
memory("buffer ubyte contiguous", "buffer_load_ubyte {d}, v4, s[12:15], 0 offen offset:{o}",
       "buffer_store_byte {d}, v4, s[12:15], 0 offen offset:{o}", "v_mov_b32 v4, v0\n", step=BUFFER, group="buffer")
memory("tbuffer format xyzw", "tbuffer_load_format_xyzw {d}, v4, s[12:15], dfmt:14, nfmt:7, 0 offen offset:{o}",
       "tbuffer_store_format_xyzw {d}, v4, s[12:15], dfmt:14, nfmt:7, 0 offen offset:{o}",
       "v_lshlrev_b32 v4, 4, v0\n", 4, step=BUFFER, group="buffer")

# ---- atomics of global memory
for name, setup in [("contiguous", stride(4)), ("uniform", address("v_mov_b32 v4, 64")),
                    ("8 words", address("v_and_b32 v4, 28, v16")), ("any", ANY), ("any, address loaded", LOADED)]:
    memory(f"global_atomic_add {name}", None, "global_atomic_add v[4:5], v17, off offset:{o}", setup, group="atomic", step="")
    rename(" store")
    memory(f"global_atomic_add {name}, returning", "global_atomic_add {d}, v[4:5], v17, off offset:{o} glc", None,
           setup, group="atomic", step="")
    rename(" load")
for op, data in [("umax", "v17"), ("and", "v17"), ("swap", "v17"), ("cmpswap", "v[18:19]"), ("add_x2", "v[18:19]"),
                 ("inc", "v17")]:
    memory(f"global_atomic_{op} contiguous", None, f"global_atomic_{op} v[4:5], {data}, off offset:{{o}}",
           stride(8), group="atomic", step="")
    rename(" store")
memory("buffer_atomic_add contiguous", None, "buffer_atomic_add v17, v4, s[12:15], 0 offen offset:{o}",
       "v_mov_b32 v4, v16\n", group="atomic", step="")

# ---- scratch
DIVERGENT = "v_and_b32 v4, 60, v16\n"
for name, load, store, setup in [
        ("scratch, constant offset", "scratch_load_dword {d}, off, s27 offset:{o}", "scratch_store_dword off, {d}, s27 offset:{o}", ""),
        ("scratch, one VGPR offset", "scratch_load_dword {d}, v4, off offset:{o}", "scratch_store_dword v4, {d}, off offset:{o}", "v_mov_b32 v4, 16\n"),
        ("scratch, divergent offset", "scratch_load_dword {d}, v4, off offset:{o}", "scratch_store_dword v4, {d}, off offset:{o}", DIVERGENT),
        ("buffer, constant offset (spill)", "buffer_load_dword {d}, off, s[0:3], 0 offset:{o}", "buffer_store_dword {d}, off, s[0:3], 0 offset:{o}", ""),
        ("buffer offen, uniform offset", "buffer_load_dword {d}, v4, s[0:3], 0 offen offset:{o}", "buffer_store_dword {d}, v4, s[0:3], 0 offen offset:{o}", "v_mov_b32 v4, 16\n"),
        ("buffer offen, divergent offset", "buffer_load_dword {d}, v4, s[0:3], 0 offen offset:{o}", "buffer_store_dword {d}, v4, s[0:3], 0 offen offset:{o}", DIVERGENT),
        ("buffer offen, divergent, ubyte", "buffer_load_ubyte {d}, v4, s[0:3], 0 offen offset:{o}", "buffer_store_byte {d}, v4, s[0:3], 0 offen offset:{o}", DIVERGENT)]:
    memory(name, load, store, setup, step="", group="scratch", far=128)
memory("flat, private aperture", "flat_load_dword {d}, v[4:5] offset:{o}", "flat_store_dword v[4:5], {d} offset:{o}",
       "s_getreg_b32 s28, hwreg(HW_REG_SH_MEM_BASES, 0, 16)\ns_lshl_b32 s28, s28, 16\nv_mov_b32 v5, s28\nv_mov_b32 v4, 16\n",
       step="", group="scratch", far=128)

# ---- scalars
SALU = ["s_add_u32 {d}, {d}, s21", "s_mul_i32 {d}, {d}, s21", "s_mul_hi_u32 {d}, {d}, s21", "s_lshl_b32 {d}, {d}, s21",
        "s_and_b32 {d}, {d}, s21", "s_bfe_u32 {d}, {d}, 0x90003", "s_brev_b32 {d}, {d}", "s_flbit_i32_b32 {d}, {d}",
        "s_bcnt1_i32_b32 {d}, {d}", "s_cselect_b32 {d}, {d}, s21", "s_cmp_lt_u32 {d}, s21"]
for op in SALU:
    four_s = "\n".join(op.format(d=f"s{n}") for n in (20, 22, 23, 28))
    add("scalar", op.replace("{d}, ", "d, ").replace("{d}", "d"), four_s, 4, setup="s_mov_b32 s28, 5")
add("scalar", "s_and_b64", "s_and_b64 s[22:23], s[22:23], s[24:25]\ns_xor_b64 s[22:23], s[22:23], s[20:21]", 2)
add("scalar", "s_and_saveexec_b64 + restore", "s_and_saveexec_b64 s[28:29], s[24:25]\nv_add_u32 v8, v8, v17\ns_mov_b64 exec, s[28:29]", 1,
    base="v_add_u32 v8, v8, v17\n")
for n, suffix in [(1, "dword"), (2, "dwordx2"), (4, "dwordx4"), (8, "dwordx8"), (16, "dwordx16")]:
    register = "s32" if n == 1 else f"s[32:{31 + n}]"
    add("scalar", f"s_load_{suffix}", f"s_load_{suffix} {register}, s[28:29], 0x40\ns_waitcnt lgkmcnt(0)\n", 1,
        setup="s_mov_b64 s[28:29], s[10:11]\ns_mov_b32 s32, 0\n")
    step = "s_add_u32 s28, s28, 64\ns_addc_u32 s29, s29, 0\n"
    use = "s_xor_b32 s20, s20, s32\n"
    interleave(step + use, step + f"s_load_{suffix} {register}, s[28:29], 0x40\ns_waitcnt lgkmcnt(0)\n" + use)
add("scalar", "s_buffer_load_dword", "", 1, setup="s_mov_b32 s28, 0\ns_mov_b32 s32, 0\n")
interleave("s_add_u32 s28, s28, 64\ns_xor_b32 s20, s20, s32\n",
    "s_add_u32 s28, s28, 64\ns_buffer_load_dword s32, s[12:15], s28\ns_waitcnt lgkmcnt(0)\ns_xor_b32 s20, s20, s32\n")
add("scalar", "s_memtime", "s_memtime s[22:23]\ns_waitcnt lgkmcnt(0)\n", 1)

# ---- control
add("control", "s_branch", "s_branch 0\ns_branch 0\ns_branch 0\ns_branch 0", 4)
add("control", "s_cbranch_scc1, not taken", "", 4)
interleave("s_add_u32 s20, s20, s21\n" * 4, "\n".join(["s_cmp_eq_u32 s20, 99\ns_cbranch_scc1 1\ns_add_u32 s20, s20, s21"] * 4))
add("control", "divergent if (v_cmp, s_and_saveexec, s_cbranch_execz, s_or)", "", 1, setup=INTEGERS)
interleave("v_add_u32 v8, v8, v17\n",
    "v_and_b32 v20, 1, v8\nv_cmp_eq_u32 vcc, 1, v20\ns_and_saveexec_b64 s[28:29], vcc\ns_cbranch_execz 1\n"
    "v_add_u32 v8, v8, v17\ns_or_b64 exec, exec, s[28:29]\n")
add("control", "s_barrier (4 waves)", "s_barrier\n" * 4, 4, workgroup=256)
add("control", "s_barrier, LDS store and load (4 waves)", "", 2, workgroup=256, setup="v_xor_b32 v20, 0x3c, v16\n")
interleave("v_add_u32 v8, v8, v17\n",
    "v_add_u32 v8, v8, v17\nds_write_b32 v16, v8\ns_waitcnt lgkmcnt(0)\ns_barrier\nds_read_b32 v9, v20\ns_waitcnt lgkmcnt(0)\n"
    "s_barrier\nv_xor_b32 v8, v8, v9\n")
add("control", "s_setreg MODE (denormals) and back", "", 1)
interleave(
    "v_add_f32 v8, v8, v1\n",
    "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0\nv_add_f32 v8, v8, v1\ns_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3\n")
add("control", "s_swappc_b64 and s_setpc_b64", "", 1)
interleave("v_add_u32 v8, v8, v17\n",
    "s_getpc_b64 s[28:29]\ns_add_u32 s28, s28, 24\ns_addc_u32 s29, s29, 0\ns_swappc_b64 s[32:33], s[28:29]\ns_branch 2\n"
    "v_add_u32 v8, v8, v17\ns_setpc_b64 s[32:33]\n")

# ---- images: 256 * 256 texels of four bytes at the buffer, as a plain resource of gfx9
IMAGE = """
    s_mov_b32 s36, s10
    s_and_b32 s37, s11, 0xffff
    s_lshr_b64 s[28:29], s[10:11], 8
    s_mov_b32 s36, s28
    s_and_b32 s37, s29, 0xff
    s_or_b32 s37, s37, 0x4a00000
    s_mov_b32 s38, 0x3fc0ff
    s_mov_b32 s39, 0x90000fac
    s_mov_b32 s40, 0xff
    s_mov_b32 s41, 0
    s_mov_b32 s42, 0
    s_mov_b32 s43, 0
    s_mov_b32 s44, 0x92
    s_mov_b32 s45, 0xfff000
    s_mov_b32 s46, 0x500000
    s_mov_b32 s47, 0
    v_mov_b32 v4, v0
    v_mov_b32 v5, 3
    v_mul_f32 v6, 0x41200000, v1
    v_mov_b32 v7, 0.5
    v_mov_b32 v28, 0
    v_mov_b32 v32, 0
"""


def image(name, text):
    see = "v_xor_b32 v12, v12, v28\n"
    add("image", name, "", 1, setup=IMAGE)
    interleave(see, text + "\ns_waitcnt vmcnt(0)\n" + see)


image("image_load 2D", "image_load v[28:31], v[4:5], s[36:43] dmask:0xf unorm")
image("image_store 2D", "image_store v[8:11], v[4:5], s[36:43] dmask:0xf unorm")
image("image_sample 2D", "image_sample v[28:31], v[6:7], s[36:43], s[44:47] dmask:0xf")
image("image_atomic_add 2D", "image_atomic_add v17, v[4:5], s[36:43] dmask:0x1 unorm")


def assemble(texts):
    """The words of each piece, all in one run of the assembler."""
    source = "".join(f"piece{n}:\n{text}\n.long 0xdeadbeef\n" for n, text in enumerate(texts))
    path = HERE / "pieces.o"
    run = subprocess.run(["llvm-mc-19", "-triple=amdgcn-amd-amdhsa", f"-mcpu={TARGET}", "-filetype=obj", "-o", path],
                         input=source, text=True, capture_output=True)
    if run.returncode:
        raise SystemExit(run.stderr)
    subprocess.run(["llvm-objcopy-19", "-O", "binary", "--only-section=.text", path, path], check=True)
    out = path.read_bytes()
    path.unlink()
    words = [int.from_bytes(out[i:i + 4], "little") for i in range(0, len(out), 4)]
    pieces, piece = [], []
    for word in words:
        if word == 0xdeadbeef:
            pieces.append(" ".join(f"{word:08x}" for word in piece))
            piece = []
        else:
            piece.append(word)
    return pieces


def main():
    texts = [PROLOGUE, EPILOGUE]
    for entry in classes:
        texts += entry[5:]
    pieces = assemble(texts)
    rows = ["# Made by make.py: group, class, operations, work-items, passes, words of setup, base and body.",
            "\t".join(["", "frame", "0", "0", "0", pieces[0], "", pieces[1]])]
    for n, (group, name, count, workgroup, passes, *_) in enumerate(classes):
        setup, base, body = pieces[2 + 3 * n:5 + 3 * n]
        rows.append("\t".join([group, name, str(count), str(workgroup), str(passes), setup, base, body]))
    (HERE / "classes.tsv").write_text("\n".join(rows) + "\n")
    subprocess.run(["clang-19", "-x", "cl", "-cl-std=CL2.0", "-O2", "--target=amdgcn-amd-amdhsa", f"-mcpu={TARGET}",
                    "-mcode-object-version=5", f"--rocm-device-lib-path={BITCODE}", "-cl-fp32-correctly-rounded-divide-sqrt",
                    "kernels.cl", "-o", f"kernels.{TARGET}.co"], check=True, cwd=HERE)
    (HERE / f"kernels.{TARGET}.co").chmod(0o644)
    print(f"{len(classes)} classes")


if __name__ == "__main__":
    main()
