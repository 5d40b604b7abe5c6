"""Integer instructions of the vector ALU."""

from case import EDGE16, EDGE32, EDGE64, hexed, mask, reg, signed, tuples
from salu import bitrev, first_differing, first_one_high, first_one_low
from vector import GFX67, GFX8, GFX9, JUNK, SOURCES, operands, source, valu

M16, M32, M64 = mask(16), mask(32), mask(64)
PAIRS = tuples([EDGE32, EDGE32], 24, 11, [(0, 0), (M32, 1), (1, M32), (0x7fffffff, 1), (0x80000000, 0x80000000), (5, 7), (7, 5)])
TRIPLES = tuples([EDGE32] * 3, 28, 12, [(0, 0, 0), (M32, M32, M32), (1, 2, 3), (0x80000000, 0x7fffffff, 0), (0x80000000, 0x80000000, 0x80000000)])
HALVES = tuples([EDGE16, EDGE16], 20, 13, [(0, 0), (M16, 1), (1, M16), (0x7fff, 1), (0x8000, 0x8000), (0x8000, 0x7fff)])
HALVES3 = tuples([EDGE16] * 3, 24, 14, [(0, 0, 0), (M16, M16, M16), (0x8000, 0x8000, 0x8000), (0x7fff, 0x7fff, 0x7fff)])
AMOUNTS = [0, 1, 4, 16, 31, 32, 33, 0xffffffff, 0x80000005, 63, 64]
WIDE = [0, 1, M64, 1 << 63, 0x123456789abcdef0, 0xfedcba9876543210, 0x80000000, M32]


def sat(value, bits, sign):
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if sign else (0, mask(bits))
    return max(low, min(high, value))


def s32(value):
    return signed(value, 32)


def s24(value):
    return signed(value, 24)


def u24(value):
    return value & mask(24)


def vop1(c):
    c.block("v_nop", ["v0=1 ->", "exec=0 ->"])
    c.block("v_clrexcp", ["v0=1 -> v0=00000001", "v0=2 -> v0=00000002"])
    valu(c, "v_mov_b32_e32", 32, [32], lambda a: a, [(v,) for v in EDGE32])
    valu(c, "v_mov_b32_e64", 32, [32], lambda a: a, [(v,) for v in EDGE32[:4]])
    for text, bits in (("64", 64), ("-16", M32 - 15), ("0.5", 0x3f000000), ("-4.0", 0xc0800000), ("0x12345678", 0x12345678)):
        c.block(f"v_mov_b32_e32 v0, {text}", [f"-> v0={bits:08x}", f"v0=0 -> v0={bits:08x}"])
    c.block("v_mov_b32_e32 v0, 0.15915494", ["-> v0=3e22f983"], GFX8)
    c.block("v_mov_b32_e32 v0, s2", ["s2=12345678 -> v0=12345678", "s2=0 -> v0=00000000"])
    for name in ("vcc_lo", "m0", "exec_lo", "scc"):
        setting = {"vcc_lo": "vcc_lo=89abcdef", "m0": "m0=89abcdef", "exec_lo": "exec=5555555589abcdef", "scc": "scc=1"}[name]
        c.block([f"v_mov_b32_e32 v0, {name}", f"v_mov_b32_e32 v0, src_{name}"], [f"{setting} -> v0={'00000001' if name == 'scc' else '89abcdef'}"])
    valu(c, "v_not_b32_e32", 32, [32], lambda a: ~a, [(v,) for v in EDGE32])
    valu(c, "v_bfrev_b32_e32", 32, [32], lambda a: bitrev(a, 32), [(v,) for v in EDGE32])
    bits = [(v,) for v in EDGE32 + [0x10, 0x00f00000, 0xfff00000, 0xfffffff0, 0xc0000000, 0x40000000]]
    valu(c, "v_ffbh_u32_e32", 32, [32], lambda a: first_one_high(a, 32), bits, note="-1 when there is none")
    valu(c, "v_ffbl_b32_e32", 32, [32], first_one_low, bits)
    valu(c, "v_ffbh_i32_e32", 32, [32], lambda a: first_differing(a, 32), bits, note="first bit that differs from the sign; 0x80000000 gives 1")
    valu(c, "v_sat_pk_u8_i16_e32", 32, [32], lambda a: sat(signed(a, 16), 8, False) | sat(signed(a >> 16, 16), 8, False) << 8,
         [(v,) for v in EDGE32 + [0x00ff0100, 0x00fe00ff, 0xff7f0080, 0x7fff8000]], targets=GFX9)
    c.block("v_swap_b32 v0, v4", [f"v0={a:08x} v4={b:08x} -> v0={b:08x} v4={a:08x}" for a, b in PAIRS[:8]], GFX9)
    c.block("v_swap_b32 v0, v0", ["v0=5 ->", "v0=80000000 ->"], GFX9)
    # Reading one lane.
    for exec_mask, lane in ((M64, 0), (0xff00, 8), (1 << 63, 63), (0, 0)):
        c.block("v_readfirstlane_b32 s0, v4", [f"exec={exec_mask:x} v4[{lane}]=12345678 -> s0=12345678"])
    c.block("v_readfirstlane_b32 s0, v4", ["-> s0=v4<first>"])
    # Relative moves and indexing.
    c.block("v_movreld_b32_e32 v0, v4", ["m0=0 v4=11 -> v0=00000011", "m0=5 v4=80000011 -> v5=80000011"])
    c.block("v_movrels_b32_e32 v0, v4", ["m0=0 v4=11 -> v0=00000011", "m0=5 v9=80000011 -> v0=80000011"])
    c.block("v_movrelsd_b32_e32 v0, v4", ["m0=0 v4=11 -> v0=00000011", "m0=5 v9=80000011 -> v5=80000011"])
    on = "mode=080003f0"
    c.block("v_mov_b32_e32 v0, v4", [f"{on} m0=1005 v9=11 -> v0=00000011", f"{on} m0=8005 v4=11 -> v5=00000011", f"{on} m0=9005 v9=11 -> v5=00000011",
                                     f"{on} m0=0005 v4=11 -> v0=00000011", f"{on} m0=6005 v4=11 -> v0=00000011"], GFX8,
            "GPR index mode: M0[7:0], enables M0[15:12] = {dst, src2, src1, src0}")
    c.block("v_mov_b32_e32 v0, s4", [f"{on} m0=1005 s4=11 -> v0=00000011", f"{on} m0=8002 s4=11 -> v2=00000011"], GFX8, "only VGPR operands are indexed")
    c.block("v_add_f32_e32 v0, v4, v8", [f"{on} m0=2002 v4=3f800000 v10=40000000 -> v0=40400000", f"{on} m0=3002 v6=3f800000 v10=40000000 -> v0=40400000",
                                         f"{on} m0=b002 v6=3f800000 v10=40000000 -> v2=40400000"], GFX8)
    c.block("v_fma_f32 v0, v4, v8, v12", [f"{on} m0=4003 v4=3f800000 v8=40000000 v15=40400000 -> v0=40a00000",
                                          f"{on} m0=f003 v7=3f800000 v11=40000000 v15=40400000 -> v3=40a00000"], GFX8)
    # A few entries of the manual's table.
    table = [(0, 1), (1, 3), (2, 7), (3, 15), (4, 5), (5, 15), (16, 15), (17, 2), (18, 6), (19, 14), (33, 15), (34, 4), (35, 12), (48, 9), (51, 8), (68, 4), (85, 8), (100, 7), (102, 1), (119, 2), (136, 2), (153, 1), (170, 8), (187, 4), (204, 8), (221, 4), (238, 2), (252, 9), (253, 13), (254, 15), (255, 1)]
    c.block("v_screen_partition_4se_b32_e32 v0, v4", [f"v4={i | 0x12345600 if i & 1 else i:08x} -> v0={bits:08x}" for i, bits in table], GFX9, "a table in the manual, by S0[7:0]")


def vop2(c):
    def both(name, fn, values, targets=None, bits=32, srcs=None, note=None, **more):
        srcs = srcs or [bits] * 2
        valu(c, name + "_e32", bits, srcs, fn, values, targets=targets, note=note, **more)
        valu(c, name + "_e64", bits, srcs, fn, values[:6], targets=targets, **more)

    both("v_mul_i32_i24", lambda a, b: s24(a) * s24(b), PAIRS + [(0x7fffff, 0x7fffff), (0x800000, 0x800000), (0xff800000, 3)], note="bits 23:0, sign-extended")
    both("v_mul_hi_i32_i24", lambda a, b: s24(a) * s24(b) >> 32, PAIRS + [(0x7fffff, 0x7fffff), (0x800000, 0x800000), (0xffffff, 1)])
    both("v_mul_u32_u24", lambda a, b: u24(a) * u24(b), PAIRS + [(0xffffff, 0xffffff), (0x1000001, 5)])
    both("v_mul_hi_u32_u24", lambda a, b: u24(a) * u24(b) >> 32, PAIRS + [(0xffffff, 0xffffff)])
    valu(c, "v_mul_i32_i24_e64", 32, [32, 32], lambda a, b: sat(s24(a) * s24(b), 32, True), [(0x7fffff, 0x7fffff), (0x800000, 0x7fffff), (3, 5), (0xffffff, 5)], " clamp", GFX8)
    valu(c, "v_mul_u32_u24_e64", 32, [32, 32], lambda a, b: sat(u24(a) * u24(b), 32, False), [(0xffffff, 0xffffff), (0x10000, 0x10000), (3, 5)], " clamp", GFX8)
    both("v_min_i32", lambda a, b: min(s32(a), s32(b)), PAIRS)
    both("v_max_i32", lambda a, b: max(s32(a), s32(b)), PAIRS)
    both("v_min_u32", min, PAIRS)
    both("v_max_u32", max, PAIRS)
    shifts = [(n, EDGE32[(i * 4 + 4) % len(EDGE32)]) for i, n in enumerate(AMOUNTS + AMOUNTS[:5])]
    unshifts = [(b, a) for a, b in shifts]
    both("v_lshrrev_b32", lambda n, a: a >> n % 32, shifts, note="the amount is S0[4:0]")
    both("v_ashrrev_i32", lambda n, a: s32(a) >> n % 32, shifts)
    both("v_lshlrev_b32", lambda n, a: a << n % 32, shifts)
    both("v_lshr_b32", lambda a, n: a >> n % 32, unshifts, GFX67)
    both("v_ashr_i32", lambda a, n: s32(a) >> n % 32, unshifts, GFX67)
    both("v_lshl_b32", lambda a, n: a << n % 32, unshifts, GFX67)
    for op, fn in (("and", lambda a, b: a & b), ("or", lambda a, b: a | b), ("xor", lambda a, b: a ^ b)):
        both(f"v_{op}_b32", fn, PAIRS[:12])
    both("v_xnor_b32", lambda a, b: ~(a ^ b), PAIRS[:12], ["gfx906"])
    both("v_add_u32", lambda a, b: a + b, PAIRS, GFX9, note="no carry")
    both("v_sub_u32", lambda a, b: a - b, PAIRS, GFX9)
    both("v_subrev_u32", lambda a, b: b - a, PAIRS, GFX9)
    for name, fn in (("v_add_u32", lambda a, b: a + b), ("v_sub_u32", lambda a, b: a - b), ("v_subrev_u32", lambda a, b: b - a)):
        valu(c, name + "_e64", 32, [32, 32], lambda a, b, fn=fn: sat(fn(a, b), 32, False), PAIRS[:12], " clamp", GFX9, "saturates")
    both("v_add_u16", lambda a, b: a + b, HALVES, GFX8, 16, note="the upper half is zeroed")
    both("v_sub_u16", lambda a, b: a - b, HALVES, GFX8, 16)
    both("v_subrev_u16", lambda a, b: b - a, HALVES, GFX8, 16)
    for name, fn in (("v_add_u16", lambda a, b: a + b), ("v_sub_u16", lambda a, b: a - b), ("v_subrev_u16", lambda a, b: b - a)):
        valu(c, name + "_e64", 16, [16, 16], lambda a, b, fn=fn: sat(fn(a, b), 16, False), HALVES[:12], " clamp", GFX8, "saturates")
    both("v_mul_lo_u16", lambda a, b: a * b, HALVES, GFX8, 16)
    both("v_min_u16", min, HALVES, GFX8, 16)
    both("v_max_u16", max, HALVES, GFX8, 16)
    both("v_min_i16", lambda a, b: min(signed(a, 16), signed(b, 16)), HALVES, GFX8, 16)
    both("v_max_i16", lambda a, b: max(signed(a, 16), signed(b, 16)), HALVES, GFX8, 16)
    half_shifts = [(n, v) for n, v in zip([0, 1, 15, 16, 17, 8, M16, 0x8003, 4, 31], EDGE16[4:] + EDGE16[:4])] + [(3, 0x8765), (20, 0xf0f0)]
    both("v_lshlrev_b16", lambda n, a: a << n % 16, half_shifts, GFX8, 16, note="the amount is S0[3:0]")
    both("v_lshrrev_b16", lambda n, a: a >> n % 16, half_shifts, GFX8, 16)
    both("v_ashrrev_i16", lambda n, a: signed(a, 16) >> n % 16, half_shifts, GFX8, 16)
    # gfx6/7 VOP2, VOP3 from gfx8 on.
    def moved(name, fn, values, **more):
        valu(c, [name + "_e32", name], 32, [32, 32], fn, values, **more)
        valu(c, name + "_e64", 32, [32, 32], fn, values[:6], targets=GFX67, **more)
    moved("v_bfm_b32", lambda a, b: ((1 << a % 32) - 1) << b % 32, [(0, 0), (1, 0), (5, 3), (31, 0), (31, 1), (32, 4), (34, 4), (8, 33), (M32, M32), (16, 28)])
    moved("v_bcnt_u32_b32", lambda a, b: bin(a).count("1") + b, PAIRS, note="adds S1")
    # Lane counts.
    low, high = "<0..31 32*32>", "<0*32 0..31>"
    for name, value in (("lo", low), ("hi", high)):
        c.block([f"v_mbcnt_{name}_u32_b32_e32 v0, v4, v8", f"v_mbcnt_{name}_u32_b32 v0, v4, v8"], [f"v4=ffffffff v8=0 -> v0={value}"])
    c.block(["v_mbcnt_lo_u32_b32_e32 v0, v4, v8", "v_mbcnt_lo_u32_b32 v0, v4, v8"],
            ["exec=ffffffffffffffff v4=80000000 v8=ffffffff -> v0[5]=ffffffff v0[31]=ffffffff v0[32]=00000000 v0[63]=00000000", "exec=ffffffffffffffff v4=5 v8=100 -> v0[0]=100 v0[1]=101 v0[2]=101 v0[3]=102 v0[40]=102"])
    c.block(["v_mbcnt_hi_u32_b32_e32 v0, v4, v8", "v_mbcnt_hi_u32_b32 v0, v4, v8"],
            ["exec=ffffffffffffffff v4=80000001 v8=5 -> v0[31]=5 v0[32]=5 v0[33]=6 v0[63]=6", "exec=ffffffffffffffff v4=ffffffff v8=fffffff0 -> v0[31]=fffffff0 v0[40]=fffffff8 v0[63]=0000000f"])
    # Reading and writing one lane ignores EXEC.
    lane_ops = [0, 1, 31, 32, 63, 64, 65, 0xffffffff]
    c.block("v_readlane_b32 s0, v4, s2", [f"s2={lane:x} v4[{lane % 64}]=12345678 -> s0=12345678" for lane in lane_ops])
    c.block("v_readlane_b32 s0, v4, 63", ["v4[63]=80000001 -> s0=80000001", "exec=0 v4[63]=80000001 -> s0=80000001"])
    c.block("v_readlane_b32 vcc_lo, v4, m0", ["m0=5 v4[5]=1234 -> vcc_lo=00001234"])
    c.block("v_writelane_b32 v0, -5, s2", [f"exec=0 s2={lane:x} -> v0[{lane % 64}]=fffffffb" for lane in lane_ops])
    c.block("v_writelane_b32 v0, s2, 17", ["exec=0 s2=80000001 -> v0[17]=80000001"])
    c.block("v_writelane_b32 v0, -16, 0", ["exec=0 -> v0[0]=fffffff0"])
    # Selection: the mask picks S1.
    for form, extra in (("e32", "vcc"), ("e64", "s[2:3]")):
        c.block(f"v_cndmask_b32_{form} v0, v4, v8, {extra}", [f"{extra}.lane={k} v4={a:08x} v8={b:08x} -> v0={b if k else a:08x}" for a, b in PAIRS[1:6] for k in (0, 1)])
    c.block("v_cndmask_b32_e64 v0, 0, -1, s[2:3]", ["s[2:3].lane=0 -> v0=00000000", "s[2:3].lane=1 -> v0=ffffffff"])
    c.block("v_cndmask_b32_e64 v0, v4, v8, vcc", ["vcc.lane=0 v4=1 v8=2 -> v0=00000001", "vcc.lane=1 v4=1 v8=2 -> v0=00000002"])
    c.block("v_cndmask_b32_e64 v0, -v4, |v8|, s[2:3]", ["s[2:3].lane=0 v4=3f800000 v8=0 -> v0=bf800000", "s[2:3].lane=1 v4=0 v8=ff800001 -> v0=7f800001"], GFX9, "neg and abs are bit operations here")
    # Carry.
    def name_of(op, target):
        return {"gfx600": {"add": "v_add_i32", "sub": "v_sub_i32", "subrev": "v_subrev_i32"}, "gfx803": {"add": "v_add_u32", "sub": "v_sub_u32", "subrev": "v_subrev_u32"},
                "gfx900": {"add": "v_add_co_u32", "sub": "v_sub_co_u32", "subrev": "v_subrev_co_u32"}}[target][op]

    carries = {"add": lambda a, b: (a + b, a + b > M32), "sub": lambda a, b: (a - b, b > a), "subrev": lambda a, b: (b - a, a > b)}
    for op, fn in carries.items():
        names = [(name_of(op, "gfx900"), GFX9), (name_of(op, "gfx803"), ["gfx803"]), (name_of(op, "gfx600"), GFX67)]
        for form, out in (("e32", "vcc"), ("e64", "s[2:3]")):
            lines = [f"v4={a:08x} v8={b:08x} -> v0={fn(a, b)[0] & M32:08x} {out}.lane={int(fn(a, b)[1])}" for a, b in PAIRS]
            for name, targets in names:
                c.block(f"{name}_{form} v0, {out}, v4, v8", lines if name == names[0][0] else lines[:10], targets, "carry out a lane; inactive lanes give 0")
        lines = []
        for a, b in PAIRS[:10]:
            value, out = fn(a, b)
            lines.append(f"v4={a:08x} v8={b:08x} -> v0={sat(value, 32, False):08x} s[2:3].lane={int(out)}")
        for name, targets in names[:2]:
            c.block(f"{name}_e64 v0, s[2:3], v4, v8 clamp", lines, targets, "clamp saturates, the carry stays")
    chains = {"addc": lambda a, b, k: (a + b + k, a + b + k > M32), "subb": lambda a, b, k: (a - b - k, b + k > a), "subbrev": lambda a, b, k: (b - a - k, a + k > b)}
    for op, fn in chains.items():
        for form, out, into in (("e32", "vcc", "vcc"), ("e64", "s[2:3]", "s[4:5]"), ("e64", "s[4:5]", "s[4:5]")):
            lines = []
            for a, b in PAIRS[:12]:
                for k in (0, 1):
                    value, borrow = fn(a, b, k)
                    lines.append(f"v4={a:08x} v8={b:08x} {into}.lane={k} -> v0={value & M32:08x} {out}.lane={int(borrow)}")
            c.block([f"v_{op}_co_u32_{form} v0, {out}, v4, v8, {into}", f"v_{op}_u32_{form} v0, {out}, v4, v8, {into}"], lines,
                    note="borrow = S1 + borrow > S0 in more than 32 bits" if op != "addc" else None)
        lines = []
        for a, b in PAIRS[:10]:
            for k in (0, 1):
                value, borrow = fn(a, b, k)
                lines.append(f"v4={a:08x} v8={b:08x} s[4:5].lane={k} -> v0={sat(value, 32, False):08x} s[2:3].lane={int(borrow)}")
        c.block([f"v_{op}_co_u32_e64 v0, s[2:3], v4, v8, s[4:5] clamp", f"v_{op}_u32_e64 v0, s[2:3], v4, v8, s[4:5] clamp"], lines, GFX8, "clamp saturates, the carry stays")
    c.block(["v_addc_co_u32_e64 v4, vcc, v4, v4, vcc", "v_addc_u32_e64 v4, vcc, v4, v4, vcc"], ["v4=80000000 vcc.lane=1 -> v4=00000001 vcc.lane=1", "v4=1 vcc.lane=0 -> v4=00000002 vcc.lane=0"],
            note="destinations may be sources")


def bytes_of(value, count=4):
    return [value >> 8 * i & 255 for i in range(count)]


def sad8(a, b):
    return sum(abs(x - y) for x, y in zip(bytes_of(a), bytes_of(b)))


def sad16(a, b):
    return abs((a & M16) - (b & M16)) + abs((a >> 16) - (b >> 16))


def msad(a, b):
    return sum(abs(x - y) for x, y in zip(bytes_of(a), bytes_of(b)) if y)


def perm(a, b, selectors):
    data = bytes_of(a << 32 | b, 8)
    out = 0
    for i, s in enumerate(bytes_of(selectors)):
        if s < 8:
            byte = data[s]
        elif s < 12:
            byte = 255 if data[(s - 8) * 2 + 1] & 128 else 0
        else:
            byte = 0 if s == 12 else 255
        out |= byte << 8 * i
    return out


def bfe(a, offset, width, sign):
    offset, width = offset % 32, width % 32
    if not width:
        return 0
    value = (s32(a) if sign else a) >> offset
    width = min(width, 32 - offset)
    return signed(value, width) if sign else value & mask(width)


def med3(a, b, c, key=lambda x: x):
    return sorted((a, b, c), key=key)[1]


def vop3(c):
    def v3(name, fn, values, targets=None, note=None, bits=32, mods="", srcs=None, **more):
        valu(c, name, bits, srcs or [bits] * 3, fn, values, mods, targets, note, **more)

    v3("v_mad_i32_i24", lambda a, b, d: s24(a) * s24(b) + d, TRIPLES + [(0x7fffff, 0x7fffff, 1), (0x800000, 0x800000, M32)])
    v3("v_mad_u32_u24", lambda a, b, d: u24(a) * u24(b) + d, TRIPLES + [(0xffffff, 0xffffff, 1)])
    v3("v_mad_i32_i24", lambda a, b, d: sat(s24(a) * s24(b) + s32(d), 32, True), TRIPLES[:12] + [(0x7fffff, 0x7fffff, 1), (0x800000, 0x7fffff, M32)], GFX8, "saturates", mods=" clamp")
    v3("v_mad_u32_u24", lambda a, b, d: sat(u24(a) * u24(b) + d, 32, False), TRIPLES[:12] + [(0xffffff, 0xffffff, 1), (1, 1, M32)], GFX8, "saturates", mods=" clamp")
    fields = [(0xf0f0a5a5, o, w) for o, w in ((0, 0), (0, 8), (4, 8), (8, 31), (31, 1), (31, 5), (16, 16), (0, 31), (0, 32), (3, 33), (36, 40), (M32, M32), (24, 8), (28, 8))]
    fields += [(0x7fffffff, 0, 31), (0x80000000, 31, 1), (0x00000080, 0, 8), (0x00000080, 7, 1), (0x12345678, 12, 12)]
    v3("v_bfe_u32", lambda a, o, w: bfe(a, o, w, False), fields, note="offset S1[4:0], width S2[4:0]; width 0 gives 0")
    v3("v_bfe_i32", lambda a, o, w: bfe(a, o, w, True), fields)
    v3("v_bfi_b32", lambda a, b, d: a & b | ~a & d, TRIPLES[:16])
    v3("v_lerp_u8", lambda a, b, d: sum((x + y + (z & 1)) >> 1 << 8 * i for i, (x, y, z) in enumerate(zip(bytes_of(a), bytes_of(b), bytes_of(d)))),
       TRIPLES[:16] + [(0x00ff01fe, 0x01ff02ff, 0x01000101)])
    v3("v_alignbit_b32", lambda a, b, n: (a << 32 | b) >> n % 32, [(0x12345678, 0x9abcdef0, n) for n in AMOUNTS] + [(1, 0x80000000, 31)], note="({S0,S1} >> S2[4:0])[31:0]")
    v3("v_alignbyte_b32", lambda a, b, n: (a << 32 | b) >> 8 * (n % 4), [(0x12345678, 0x9abcdef0, n) for n in (0, 1, 2, 3, 4, 5, 31, M32)], note="S2[1:0] only")
    v3("v_min3_i32", lambda a, b, d: min(s32(a), s32(b), s32(d)), TRIPLES)
    v3("v_max3_i32", lambda a, b, d: max(s32(a), s32(b), s32(d)), TRIPLES)
    v3("v_med3_i32", lambda a, b, d: med3(s32(a), s32(b), s32(d)), TRIPLES)
    v3("v_min3_u32", min, TRIPLES)
    v3("v_max3_u32", max, TRIPLES)
    v3("v_med3_u32", med3, TRIPLES)
    s16 = lambda x: signed(x, 16)
    for op, fn in (("min3", min), ("max3", max), ("med3", med3)):
        v3(f"v_{op}_i16", lambda a, b, d, fn=fn: fn(s16(a), s16(b), s16(d)), HALVES3, GFX9, bits=16)
        v3(f"v_{op}_u16", fn, HALVES3, GFX9, bits=16)
        for select in ("[1,0,0,0]", "[0,1,0,0]", "[0,0,1,0]", "[0,0,0,1]", "[1,1,1,1]"):
            picks = [int(x) for x in select.strip("[]").split(",")]
            lines = []
            for a, b, d in TRIPLES[5:11]:
                x, y, z = (v >> 16 * p & M16 for v, p in zip((a, b, d), picks))
                r = fn(s16(x), s16(y), s16(z)) & M16
                old = 0x11112222
                out = old & M16 | r << 16 if picks[3] else r
                lines.append(f"v0={old:08x} v4={a:08x} v8={b:08x} v12={d:08x} -> v0={out:08x}")
            c.block(f"v_{op}_i16 v0, v4, v8, v12 op_sel:{select}", lines, GFX9, "bit 3 writes the high half and keeps the low one" if picks[3] else None)
    sads = TRIPLES[:14] + [(0x00ff7f80, 0xff00807f, 0), (0x12345678, 0x87654321, 100), (0xffffffff, 0, 0xffffff00), (0x00ff00ff, 0xff000000, 5)]
    v3("v_sad_u8", lambda a, b, d: sad8(a, b) + d, sads)
    v3("v_sad_hi_u8", lambda a, b, d: (sad8(a, b) << 16) + d, sads)
    v3("v_sad_u16", lambda a, b, d: sad16(a, b) + d, sads)
    v3("v_sad_u32", lambda a, b, d: abs(a - b) + d, sads, note="unsigned distance")
    v3("v_msad_u8", lambda a, b, d: msad(a, b) + d, sads, note="bytes where S1 is 0 are left out")
    v3("v_sad_u8", lambda a, b, d: sat(sad8(a, b) + d, 32, False), sads, GFX8, "saturates", mods=" clamp")
    v3("v_sad_u32", lambda a, b, d: sat(abs(a - b) + d, 32, False), sads, GFX8, "saturates", mods=" clamp")
    v3("v_sad_hi_u8", lambda a, b, d: sat((sad8(a, b) << 16) + d, 32, False), sads, GFX8, "saturates", mods=" clamp")
    v3("v_sad_u16", lambda a, b, d: sat(sad16(a, b) + d, 32, False), sads, GFX8, "saturates", mods=" clamp")
    v3("v_msad_u8", lambda a, b, d: sat(msad(a, b) + d, 32, False), sads, GFX8, "saturates", mods=" clamp")
    for op, fn in (("min3", min), ("max3", max), ("med3", med3)):
        v3(f"v_{op}_i16", lambda a, b, d, fn=fn: fn(s16(a), s16(b), s16(d)), HALVES3[:6], GFX9, "nothing to saturate", 16, " clamp")
        v3(f"v_{op}_u16", fn, HALVES3[:6], GFX9, None, 16, " clamp")
        for select in ("[1,0,0,0]", "[0,1,1,0]", "[0,0,0,1]"):
            picks = [int(x) for x in select.strip("[]").split(",")]
            lines = []
            for a, b, d in TRIPLES[5:11]:
                r = fn(*(v >> 16 * p & M16 for v, p in zip((a, b, d), picks)))
                lines.append(f"v0=11112222 v4={a:08x} v8={b:08x} v12={d:08x} -> v0={0x2222 | r << 16 if picks[3] else r:08x}")
            c.block(f"v_{op}_u16 v0, v4, v8, v12 op_sel:{select}", lines, GFX9)
    wide = tuples([EDGE64, EDGE32, EDGE64], 14, 21, [(0x0102030405060708, 0x01020304, 0), (M64, 0, 0), (0x00ff00ff00ff00ff, 0xff00ff00, 0xfffffffffffffff0)])

    def qsad(a, b, d, fn):
        return sum(((fn(a >> 8 * i & M32, b) + (d >> 16 * i)) & M16) << 16 * i for i in range(4))
    v3("v_qsad_pk_u16_u8", lambda a, b, d: qsad(a, b, d, sad8), wide, note="each sum is truncated to 16 bits", bits=64, srcs=[64, 32, 64])
    v3("v_mqsad_pk_u16_u8", lambda a, b, d: qsad(a, b, d, msad), wide, bits=64, srcs=[64, 32, 64])
    v3("v_mqsad_u32_u8", lambda a, b, d: sum(((msad(a >> 8 * i & M32, b) + (d >> 32 * i)) & M32) << 32 * i for i in range(4)),
       [(a, b, d << 64 | d ^ 0x5555) for a, b, d in wide], bits=128, srcs=[64, 32, 128])
    saturated = lambda a, b, d, fn: sum(min(fn(a >> 8 * i & M32, b) + (d >> 16 * i & M16), M16) << 16 * i for i in range(4))
    v3("v_qsad_pk_u16_u8", lambda a, b, d: saturated(a, b, d, sad8), wide, GFX8, "each sum saturates", 64, " clamp", [64, 32, 64])
    v3("v_mqsad_pk_u16_u8", lambda a, b, d: saturated(a, b, d, msad), wide, GFX8, None, 64, " clamp", [64, 32, 64])
    v3("v_mqsad_u32_u8", lambda a, b, d: sum(min(msad(a >> 8 * i & M32, b) + (d >> 32 * i & M32), M32) << 32 * i for i in range(4)), [(a, b, d << 64 | d ^ 0x5555) for a, b, d in wide], GFX8, None, 128, " clamp", [64, 32, 128])
    v3("v_mul_lo_u32", lambda a, b: a * b, PAIRS + [(0x12345678, 0x9abcdef0)], srcs=[32, 32])
    v3("v_mul_hi_u32", lambda a, b: a * b >> 32, PAIRS + [(0x12345678, 0x9abcdef0)], srcs=[32, 32])
    v3("v_mul_lo_i32", lambda a, b: a * b, PAIRS, GFX67, srcs=[32, 32])
    v3("v_mul_hi_i32", lambda a, b: s32(a) * s32(b) >> 32, PAIRS + [(0x12345678, 0x9abcdef0)], srcs=[32, 32])
    # 64-bit shifts.
    shifts = [(n, WIDE[i % len(WIDE)]) for i, n in enumerate(AMOUNTS)] + [(n, 0xfedcba9876543210) for n in AMOUNTS]
    s64 = lambda x: signed(x, 64)
    v3("v_lshlrev_b64", lambda n, a: a << n % 64, shifts, GFX8, "the amount is S0[5:0]", 64, srcs=[32, 64])
    v3("v_lshrrev_b64", lambda n, a: a >> n % 64, shifts, GFX8, None, 64, srcs=[32, 64])
    v3("v_ashrrev_i64", lambda n, a: s64(a) >> n % 64, shifts, GFX8, None, 64, srcs=[32, 64])
    unshifts = [(a, n) for n, a in shifts]
    v3("v_lshl_b64", lambda a, n: a << n % 64, unshifts, GFX67, None, 64, srcs=[64, 32])
    v3("v_lshr_b64", lambda a, n: a >> n % 64, unshifts, GFX67, None, 64, srcs=[64, 32])
    v3("v_ashr_i64", lambda a, n: s64(a) >> n % 64, unshifts, GFX67, None, 64, srcs=[64, 32])
    # 32 * 32 + 64.
    muls = tuples([EDGE32, EDGE32, EDGE64], 20, 22, [(M32, M32, M64), (M32, M32, 0), (0, 0, M64), (1, 1, M64), (0x80000000, 0x80000000, 0)])
    lines = [f"v4={a:08x} v8={b:08x} v[12:13]={d:016x} -> v[0:1]={a * b + d & M64:016x} s[2:3].lane={a * b + d >> 64}" for a, b, d in muls]
    c.block("v_mad_u64_u32 v[0:1], s[2:3], v4, v8, v[12:13]", lines, note="the mask is the carry out of 64 bits")
    lines = []
    for a, b, d in muls:
        total = s32(a) * s32(b) + s64(d)
        lines.append(f"v4={a:08x} v8={b:08x} v[12:13]={d:016x} -> v[0:1]={total & M64:016x} s[2:3].lane={total >> 64 & 1}")
    c.block("v_mad_i64_i32 v[0:1], s[2:3], v4, v8, v[12:13]", lines, note="open point: the mask is bit 64 of the sum")
    c.block("v_mad_u64_u32 v[0:1], vcc, v4, v8, v[12:13] clamp", [f"v4={a:08x} v8={b:08x} v[12:13]={d:016x} -> v[0:1]={sat(a * b + d, 64, False):016x} vcc.lane={a * b + d >> 64}" for a, b, d in muls[:8]], GFX8)
    lines = []
    for a, b, d in muls[:8]:
        total = s32(a) * s32(b) + s64(d)
        lines.append(f"v4={a:08x} v8={b:08x} v[12:13]={d:016x} -> v[0:1]={sat(total, 64, True) & M64:016x} vcc.lane={total >> 64 & 1}")
    c.block("v_mad_i64_i32 v[0:1], vcc, v4, v8, v[12:13] clamp", lines, GFX8)
    # Bytes.
    selectors = [0x07060504, 0x03020100, 0x00010203, 0x0b0a0908, 0x0c0d0eff, 0x01020c0d, 0x04040404, 0x80100f0b]
    v3("v_perm_b32", perm, [(0x12f45678, 0x9abc8ef0, s) for s in selectors] + [(0x7f80ff00, 0x80007fff, s) for s in selectors], GFX8,
       "0-3 are bytes of S1, 4-7 of S0, 8-11 signs of bytes 1, 3, 5, 7, 12 is 0, above is 0xff")
    # 16 bits.
    for name, sign in (("u16", False), ("i16", True)):
        fn = lambda a, b, d: a * b + d
        exact = (lambda a, b, d: s16(a) * s16(b) + s16(d)) if sign else fn
        valu(c, f"v_mad_{name}", 16, [16] * 3, fn, HALVES3, targets=["gfx803"], note="gfx8 zeroes the upper half")
        for text, targets in ((f"v_mad_{name}", ["gfx803"]), (f"v_mad_legacy_{name}", GFX9)):
            valu(c, text, 16, [16] * 3, lambda a, b, d: sat(exact(a, b, d), 16, sign), HALVES3, " clamp", targets, "saturates")
        valu(c, f"v_mad_legacy_{name}", 16, [16] * 3, fn, HALVES3, targets=GFX9, note="the gfx8 opcode zeroes the upper half")
        valu(c, f"v_mad_{name}", 16, [16] * 3, fn, HALVES3, targets=GFX9, keeps=True, note="gfx9 keeps the upper half")
        valu(c, f"v_mad_{name}", 16, [16] * 3, lambda a, b, d: sat(exact(a, b, d), 16, sign), HALVES3, " clamp", targets=GFX9, keeps=True, note="saturates")
        wide_fn = lambda a, b, d: s16(a) * s16(b) + s32(d) if sign else a * b + d
        mads = [(a, b, d) for (a, b, _), d in zip(HALVES3, EDGE32 + EDGE32)]
        wide_name = "v_mad_i32_i16" if sign else "v_mad_u32_u16"
        valu(c, wide_name, 32, [16, 16, 32], wide_fn, mads, targets=GFX9)
        valu(c, wide_name, 32, [16, 16, 32], lambda a, b, d: sat(wide_fn(a, b, d), 32, sign), mads, " clamp", targets=GFX9, note="saturates")
        lines = []
        for a, b, d in TRIPLES[5:12]:
            x, y = a >> 16, b & M16
            lines.append(f"v4={a:08x} v8={b:08x} v12={d:08x} -> v0={(s16(x) * s16(y) if sign else x * y) + d & M32:08x}")
        c.block(f"{wide_name} v0, v4, v8, v12 op_sel:[1,0,0,0]", lines, GFX9)
    for select in ("[1,0,0,0]", "[0,1,0,0]", "[0,0,1,0]", "[0,0,0,1]", "[1,1,1,1]"):
        picks = [int(x) for x in select.strip("[]").split(",")]
        lines = []
        for a, b, d in TRIPLES[5:11]:
            x, y, z = (v >> 16 * p & M16 for v, p in zip((a, b, d), picks))
            r = x * y + z & M16
            out = 0x11110000 | r if not picks[3] else 0x2222 | r << 16
            lines.append(f"v0=11112222 v4={a:08x} v8={b:08x} v12={d:08x} -> v0={out:08x}")
        c.block(f"v_mad_u16 v0, v4, v8, v12 op_sel:{select}", lines, GFX9)
        c.block(f"v_mad_i16 v0, v4, v8, v12 op_sel:{select}", lines, GFX9)
    for op, fn in (("add", lambda a, b: s16(a) + s16(b)), ("sub", lambda a, b: s16(a) - s16(b))):
        valu(c, f"v_{op}_i16", 16, [16] * 2, fn, HALVES, targets=GFX9)
        valu(c, f"v_{op}_i16", 16, [16] * 2, lambda a, b, fn=fn: sat(fn(a, b), 16, True), HALVES, " clamp", targets=GFX9, note="saturates")
        for select in ("[1,0,0]", "[0,1,0]", "[0,0,1]"):
            picks = [int(x) for x in select.strip("[]").split(",")]
            lines = []
            for a, b in PAIRS[7:13]:
                x, y = (v >> 16 * p & M16 for v, p in zip((a, b), picks))
                r = fn(x, y) & M16
                lines.append(f"v0=11112222 v4={a:08x} v8={b:08x} -> v0={r << 16 | 0x2222 if picks[2] else r:08x}")
            c.block(f"v_{op}_i16 v0, v4, v8 op_sel:{select}", lines, GFX9)
        s32fn = (lambda a, b: s32(a) + s32(b)) if op == "add" else (lambda a, b: s32(a) - s32(b))
        valu(c, f"v_{op}_i32", 32, [32] * 2, s32fn, PAIRS, targets=GFX9)
        valu(c, f"v_{op}_i32", 32, [32] * 2, lambda a, b, fn=s32fn: sat(fn(a, b), 32, True), PAIRS, " clamp", targets=GFX9, note="saturates")
    # gfx9's three-operand forms.
    v3("v_xad_u32", lambda a, b, d: (a ^ b) + d, TRIPLES[:16], GFX9)
    v3("v_lshl_add_u32", lambda a, b, d: (a << b % 32) + d, TRIPLES[:10] + [(3, n, 1) for n in AMOUNTS], GFX9)
    v3("v_add_lshl_u32", lambda a, b, d: (a + b) << d % 32, TRIPLES[:10] + [(M32, 2, n) for n in AMOUNTS], GFX9)
    v3("v_add3_u32", lambda a, b, d: a + b + d, TRIPLES[:16], GFX9)
    v3("v_lshl_or_b32", lambda a, b, d: a << b % 32 | d, TRIPLES[:10] + [(3, n, 0x80000000) for n in AMOUNTS], GFX9)
    v3("v_and_or_b32", lambda a, b, d: a & b | d, TRIPLES[:16], GFX9)
    v3("v_or3_b32", lambda a, b, d: a | b | d, TRIPLES[:16], GFX9)
    # Constants and scalar registers as sources of VOP3.
    c.block("v_bfi_b32 v0, s2, v8, -1", ["s2=0000ffff v8=12345678 -> v0=ffff5678"])
    c.block("v_mad_u32_u24 v0, s2, s2, 64", ["s2=00000003 -> v0=00000049", "s2=ff000003 -> v0=00000049"])
    c.block("v_lshlrev_b64 v[0:1], 4, s[2:3]", ["s[2:3]=123456789abcdef0 -> v[0:1]=23456789abcdef00"], GFX8)
    c.block("v_and_b32_e64 v0, vcc_lo, v4", ["vcc=00000000f0f0f0f0 v4=12345678 -> v0=10305070"])
