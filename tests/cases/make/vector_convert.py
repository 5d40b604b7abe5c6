"""Conversions, transcendental functions and cube maps."""

from fractions import Fraction

import floats as fl
from case import EDGE16, EDGE32, hexed, mask, signed
from floats import DEFAULT, F16, F32, F64
from vector import GFX67, GFX8, GFX9, operands, reg, source, valu
from vector_float import DENORMS, GFX7UP, KEEP, ROUNDS, dedup, in_modes, rows
from vector_int import sat


def f32(v):
    return F32.round(Fraction(v))


def truncate(v):
    return int(v)


def floor(v):
    return v.numerator // v.denominator


def to_int(f, x, bits, sign, how=truncate, nan=0):
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if sign else (0, mask(bits))
    if f.is_nan(x):
        return nan
    if f.is_inf(x):
        return low if f.negative(x) else high
    return max(low, min(high, how(f.value(x))))


def integers(vop1):
    for f, kind, targets in ((F32, "f32", None), (F64, "f64", None), (F16, "f16", GFX8)):
        bits = 16 if f is F16 else 32
        limits = [2 ** 31, 2 ** 31 - 1, -2 ** 31, -2 ** 31 - 1, 2 ** 32, 2 ** 32 - 1, Fraction(2 ** 32 * 3, 2), Fraction(3, 2), Fraction(-3, 2), Fraction(255, 2), -1, 1, 32767, 32768, 65535, -32768, Fraction(99999, 100000), Fraction(-1, 2)]
        values = [(x,) for x in dedup(fl.edges(f) + [f.round(Fraction(v)) for v in limits])]
        for name, sign in ((f"v_cvt_i{bits}_{kind}", True), (f"v_cvt_u{bits}_{kind}", False)):
            in_modes(vop1, name + "_e32", f, 1, lambda m, x: to_int(f, x, bits, sign), values, [KEEP], targets, "toward zero, saturating, NaN gives 0", bits=bits)
            in_modes(vop1, name + "_e32", f, 1, lambda m, x: to_int(f, x, bits, sign), values[20:26], [0x3ff, 0x30a], targets, "whatever MODE says", bits=bits)
        dst_bits = f.bits
        for sign in (True, False):
            name = f"v_cvt_{kind}_{'i' if sign else 'u'}{bits}_e32"
            ints = [(v,) for v in (EDGE16 + [2049, 0x8801, 0x0801, 4098] if bits == 16 else EDGE32 + [0x01000001, 0x01000003, 0x7fffffc0, 0xffffff80, 0xffffff7f, 0x81000001])]
            conv = lambda m, v, sign=sign: f.round(Fraction(signed(v, bits) if sign else v), m.rounding(f), 0, f is F16 and m.fp16_ovfl)
            in_modes(vop1, name, f, 1, conv, ints, [KEEP], targets, "rounded by MODE", srcs=[bits], bits=dst_bits)
            if f is not F64:
                in_modes(vop1, name, f, 1, conv, ints[-10:], ROUNDS, targets, srcs=[bits], bits=dst_bits)
    values = [(x,) for x in dedup(fl.edges(F32) + [f32(Fraction(n, 2)) for n in (-7, -5, -4, -3, -2, -1, 1, 2, 3, 4, 5)] + [0x3effffff, 0xbeffffff, 0x4b000001, 0xcb000001, f32(2 ** 31), f32(-2 ** 31), 0x4effffff])]
    in_modes(vop1, "v_cvt_rpi_i32_f32_e32", F32, 1, lambda m, x: to_int(F32, x, 32, True, lambda v: floor(v + Fraction(1, 2))), values, [KEEP], None, "floor(x + 0.5), exactly; NaN gives 0 (open point)")
    in_modes(vop1, "v_cvt_flr_i32_f32_e32", F32, 1, lambda m, x: to_int(F32, x, 32, True, floor), values, [KEEP], None, "floor(x); NaN gives 0 (open point)")
    valu(vop1, "v_cvt_off_f32_i4_e32", 32, [32], lambda a: f32(Fraction(signed(a, 4), 16)), [(n,) for n in list(range(16)) + [0xfffffff0, 0x12345678]], note="signed nibble / 16")
    for n in range(4):
        valu(vop1, f"v_cvt_f32_ubyte{n}_e32", 32, [32], lambda a, n=n: f32(a >> 8 * n & 255), [(v,) for v in (0, 0xffffffff, 0x12345678, 0x80ff0001, 0x7f80fe01)])
    vop1.block("v_cvt_i32_f32_e64 v0, -|v4|", ["v4=40600000 -> v0=fffffffd", "v4=c0600000 -> v0=fffffffd"])
    vop1.block("v_cvt_f32_i32_e64 v0, v4 mul:4", ["mode=00000100 v4=3 -> v0=41400000", "v4=3 -> v0=40400000"], note="no omod with denormals or IEEE")
    vop1.block("v_cvt_f32_u32_e64 v0, v4 clamp", ["v4=3 -> v0=3f800000", "v4=0 -> v0=00000000"])
    # Normalised 16 bits.
    f16s = [(x,) for x in dedup(fl.edges(F16) + [0x3800, 0xb800, 0x3bff, 0xbbff, 0x4000, 0xc000, 0x1234])]
    norm = lambda f, x, sign: to_int(f, x, 20, True, lambda v: int_nearest(max(Fraction(-1 if sign else 0), min(Fraction(1), v)) * (32767 if sign else 65535))) if not f.is_inf(x) else ((-32767 if sign else 0) if f.negative(x) else (32767 if sign else 65535))
    for sign in (True, False):
        name = f"v_cvt_norm_{'i' if sign else 'u'}16_f16_e32"
        in_modes(vop1, name, F16, 1, lambda m, x: norm(F16, x, sign), f16s, [KEEP], GFX9, "nearest even of x * 32767 (65535); -1 gives 0x8001; NaN gives 0", bits=16)
    return norm


def int_nearest(v):
    whole = floor(v)
    rest = v - whole
    return whole + (rest > Fraction(1, 2) or rest == Fraction(1, 2) and whole & 1)


def packs(vop2, vop3, norm):
    pool = fl.edges(F32) + [0x3f000000, 0xbf000000, 0x40000000, 0xc0000000, 0x38000100, 0x3f7fff00]
    pairs = [(pool[i], pool[(i * 7 + 3) % len(pool)]) for i in range(len(pool))]

    def both(name, fn, values, note=None, srcs=None):
        valu(vop2, [name + "_e32", name], 32, srcs or [32, 32], fn, values, note=note)
    for sign in (True, False):
        both(f"v_cvt_pknorm_{'i' if sign else 'u'}16_f32", lambda a, b: norm(F32, a, sign) & 0xffff | (norm(F32, b, sign) & 0xffff) << 16, pairs, "nearest even of x * 32767 (65535), NaN gives 0")
        halves = [(a, b) for a, b in zip(fl.edges(F16), fl.edges(F16)[5:] + fl.edges(F16)[:5])] + [(0x3800, 0xb800), (0x3555, 0xb555)]
        name = f"v_cvt_pknorm_{'i' if sign else 'u'}16_f16"
        fn = lambda a, b: norm(F16, a, sign) & 0xffff | (norm(F16, b, sign) & 0xffff) << 16
        valu(vop3, name, 32, [16, 16], fn, halves, targets=GFX9)
        vop3.block(f"{name} v0, v4, v8 op_sel:[1,0,0]", [f"v4={a << 16 | 0x1111:08x} v8={b | 0x22220000:08x} -> v0={fn(a, b):08x}" for a, b in halves[-6:]], GFX9)
        vop3.block(f"{name} v0, -v4, |v8|", [f"v4={a:08x} v8={b:08x} -> v0={fn(a ^ 0x8000, b & 0x7fff):08x}" for a, b in halves[-6:]], GFX9)

    def rtz(a, b):
        def one(x):
            if F32.is_nan(x):
                return fl.convert(F32, F16, x)
            return fl.convert(F32, F16, x, DEFAULT, 3)
        return one(a) | one(b) << 16
    more = [(f32(65535), f32(65536)), (f32(-70000), 0x477fefff), (f32(Fraction(1, 2 ** 24)), f32(Fraction(1, 2 ** 25))), (f32(Fraction(4095, 4096)), f32(Fraction(-8191, 4096)))]
    both("v_cvt_pkrtz_f16_f32", rtz, [(a, b) for a, b in pairs if not (F32.is_nan(a) or F32.is_nan(b))] + more, "always toward zero: overflow gives 65504, infinity stays")
    vop2.block(["v_cvt_pkrtz_f16_f32_e64 v0, -v4, |v8|"], ["v4=3f800000 v8=bf800000 -> v0=3c00bc00", "v4=bf800000 v8=c0000000 -> v0=40003c00"])
    ints = [(0, 0xffffffff), (0x7fff, 0x8000), (0xffff, 0x10000), (0xffff8000, 0xffff7fff), (0x80000000, 0x7fffffff), (5, 0x12345678)]
    both("v_cvt_pk_u16_u32", lambda a, b: sat(a, 16, False) | sat(b, 16, False) << 16, ints, "saturates")
    both("v_cvt_pk_i16_i32", lambda a, b: sat(signed(a, 32), 16, True) & 0xffff | (sat(signed(b, 32), 16, True) & 0xffff) << 16, ints, "saturates")

    def pk_u8(x, at, old, m=DEFAULT):
        if F32.is_nan(x):
            byte = 0
        else:
            byte = to_int(F32, x, 8, False, lambda v: {0: int_nearest, 1: lambda w: -floor(-w), 2: floor, 3: int}[m.rounding(F32)](v))
        return old & ~(255 << 8 * (at & 3)) | byte << 8 * (at & 3)
    xs = [0, f32(1), f32(255), f32(256), f32(Fraction(509, 2)), f32(Fraction(511, 2)), f32(Fraction(3, 2)), f32(Fraction(5, 2)), f32(-1), 0x7f800000, 0xff800000, 0x7fc00000, f32(Fraction(1, 3)), f32(Fraction(2, 3)), f32(Fraction(-1, 4))]
    values = [(x, i, 0x11223344) for i, x in enumerate(xs)] + [(f32(77), 0xfffffffe, 0xffffffff)]
    in_modes(vop3, "v_cvt_pk_u8_f32", F32, 3, lambda m, x, at, old: pk_u8(x, at, old, m), values, [KEEP, 0x3f1, 0x3f2, 0x3f3], None, "byte S1[1:0] of S2; rounded by MODE (open point), saturating, NaN gives 0")
    for mode in (KEEP, 0x3ff):
        prefix = "" if mode == KEEP else f"mode={mode:08x} "
        lines = [f"{prefix}v4={x:08x} v8={at:08x} v0={old:08x} -> v0={pk_u8(x, at, old, fl.Mode(mode)):08x}" for x, at, old in values]
        vop2.block(["v_cvt_pkaccum_u8_f32_e32 v0, v4, v8", "v_cvt_pkaccum_u8_f32 v0, v4, v8"], lines, note="the other bytes stay as they are in D")
    # v_pack_b32_f16
    halves = [(0x3c00, 0xbc00), (0x0001, 0x8001), (0x7c00, 0x1234), (0x8000, 0)]
    vop3.block("v_pack_b32_f16 v0, v4, v8", [f"v4={a | 0x11110000:08x} v8={b | 0x22220000:08x} -> v0={b << 16 | a:08x}" for a, b in halves], GFX9)
    vop3.block("v_pack_b32_f16 v0, -v4, |v8|", [f"v4={a | 0x11110000:08x} v8={b | 0x22220000:08x} -> v0={(b & 0x7fff) << 16 | a ^ 0x8000:08x}" for a, b in halves], GFX9)
    for select in ("[1,0,0]", "[0,1,0]", "[1,1,0]"):
        p, q, _ = (int(x) for x in select.strip("[]").split(","))
        vop3.block(f"v_pack_b32_f16 v0, v4, v8 op_sel:{select}", [f"v4={x:08x} v8={y:08x} -> v0={(y >> 16 * q & 0xffff) << 16 | x >> 16 * p & 0xffff:08x}" for x, y in ((0x12343c00, 0xbc005678), (0x80010001, 0x7c003555))], GFX9)


def between(vop1):
    """Float to float."""
    doubles = [(x,) for x in dedup(fl.edges(F64) + [F64.round(Fraction(v)) for v in (Fraction(1, 2 ** 149), Fraction(1, 2 ** 150), Fraction(3, 2 ** 150), Fraction(2 ** 128), Fraction(2 ** 128) - 2 ** 103, Fraction(2 ** 128) - 2 ** 102, 1 + Fraction(1, 2 ** 24), 1 + Fraction(3, 2 ** 24), Fraction(1, 2 ** 126) - Fraction(1, 2 ** 151), -1 - Fraction(1, 2 ** 40))])]
    nice = [v for v in doubles if not F64.is_nan(v[0])]
    in_modes(vop1, "v_cvt_f32_f64_e32", F64, 1, lambda m, x: fl.convert(F64, F32, x, m), doubles, [KEEP], None, "rounded by the f32 mode", bits=32, srcs=[64])
    in_modes(vop1, "v_cvt_f32_f64_e32", F64, 1, lambda m, x: fl.convert(F64, F32, x, m), nice[-12:] + nice[:4], ROUNDS + [0x3c0], None, bits=32, srcs=[64])
    singles = [(x,) for x in fl.edges(F32)]
    in_modes(vop1, "v_cvt_f64_f32_e32", F32, 1, lambda m, x: fl.convert(F32, F64, x, m), singles, [KEEP, 0x3c0], None, bits=64, srcs=[32])
    into16 = [(x,) for x in dedup(fl.edges(F32) + [f32(v) for v in (65504, 65519, 65520, 65535, 65536, -65520, Fraction(1, 2 ** 24), Fraction(1, 2 ** 25), Fraction(3, 2 ** 26), Fraction(1, 2 ** 14), Fraction(1, 2 ** 15), Fraction(2047, 2 ** 25),
                                                              1 + Fraction(1, 2 ** 11), 1 + Fraction(3, 2 ** 11), -1 - Fraction(1, 2 ** 12), Fraction(1023, 2 ** 24))])]
    nice = [v for v in into16 if not F32.is_nan(v[0])]
    in_modes(vop1, "v_cvt_f16_f32_e32", F32, 1, lambda m, x: fl.convert(F32, F16, x, m), into16, [KEEP], None, "rounded by the f16 mode; the upper half is zeroed", bits=16, srcs=[32])
    in_modes(vop1, "v_cvt_f16_f32_e32", F32, 1, lambda m, x: fl.convert(F32, F16, x, m), nice[-16:] + nice[10:16], ROUNDS + [0x3c0], None, bits=16, srcs=[32])
    # Whether a denormal that rounds up to the least normal number counts as one is not settled: not asked.
    settled = [v for v in nice[-16:] if F16.is_denormal(fl.convert(F32, F16, v[0])) == (0 < abs(F32.value(v[0])) < Fraction(1, 2 ** 14))]
    in_modes(vop1, "v_cvt_f16_f32_e32", F32, 1, lambda m, x: fl.convert(F32, F16, x, m), settled, [0x330], None, "denormal results flushed", bits=16, srcs=[32])
    in_modes(vop1, "v_cvt_f16_f32_e32", F32, 1, lambda m, x: fl.convert(F32, F16, x, m), nice[-16:-10] + [(0x7f800000,), (0xff800000,), (0x7f7fffff,)], [0x8003f0], GFX9, "FP16_OVFL: overflow gives 65504, infinities stay", bits=16, srcs=[32])
    halves = [(x,) for x in fl.edges(F16)]
    in_modes(vop1, "v_cvt_f32_f16_e32", F16, 1, lambda m, x: fl.convert(F16, F32, x, m), halves, [KEEP, 0x330], None, "exact", bits=32, srcs=[16])
    vop1.block("v_cvt_f16_f32_e64 v0, -v4", ["v4=3f800000 -> v0=0000bc00", "v4=c0000000 -> v0=00004000"])
    vop1.block("v_cvt_f32_f16_e64 v0, |v4| clamp", ["v4=1234c000 -> v0=3f800000", "v4=0000b800 -> v0=3f000000"])


def root(v, f):
    """The square root of a rational as a rational near enough to round."""
    scale = 2 ** 400
    from math import isqrt
    return Fraction(isqrt(v.numerator * scale * scale // v.denominator), scale)


def transcendental(vop1):
    def special(table, near):
        lines = [f"v4={x:08x} -> v0={y:08x}" for x, y in table]
        return lines + [f"v4={x:08x} -> v0=~{y:08x}" for x, y in near]

    inf, ninf, nan, nnan, one = 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000, 0x3f800000
    normal = [f32(v) for v in (3, 7, 10, Fraction(1, 3), 100000, Fraction(1, 100000), Fraction(12345, 7), 2 ** 60, Fraction(1, 2 ** 60), Fraction(3, 2))]
    passes = [(nan, nan), (nnan, nnan), (0x7f800001, 0x7fc00001)]
    rcp = [(0, inf), (0x80000000, ninf), (inf, 0), (ninf, 0x80000000), (0xc0000000, 0xbf000000), (one, one), (1, inf), (0x80000001, ninf), (0x7f7fffff, 0), (0x7e800001, 0), (0x7e800000, 0x00800000)] + passes
    near = [(x, F32.round(1 / F32.value(x))) for x in normal + [x | 1 << 31 for x in normal[:3]]]
    for name in ("v_rcp_f32_e32", "v_rcp_iflag_f32_e32"):
        vop1.block(f"{name} v0, v4", special(rcp, near), note="denormals are flushed, in and out")
    rsq = [(0, inf), (0x80000000, ninf), (inf, 0), (0xbf800000, nnan), (ninf, nnan), (0x40800000, 0x3f000000), (one, one), (1, inf), (0x80000001, ninf)] + passes
    vop1.block("v_rsq_f32_e32 v0, v4", special(rsq, [(x, F32.round(1 / root(F32.value(x), F32))) for x in normal]))
    sqrt = [(0, 0), (0x80000000, 0x80000000), (inf, inf), (0xbf800000, nnan), (ninf, nnan), (0x40800000, 0x40000000), (one, one), (1, 0), (0x80000001, 0x80000000)] + passes
    vop1.block("v_sqrt_f32_e32 v0, v4", special(sqrt, [(x, F32.round(root(F32.value(x), F32))) for x in normal]))
    exp = [(0, one), (0x80000000, one), (ninf, 0), (inf, inf), (one, 0x40000000), (0xbf800000, 0x3f000000), (0x43000000, inf), (0x42fe0000, 0x7f000000), (0xc3000000, 0), (0xc2fc0000, 0x00800000), (1, one), (0x80000001, one)] + passes
    log = [(0, ninf), (0x80000000, ninf), (1, ninf), (inf, inf), (one, 0), (0x40000000, one), (0x3f000000, 0xbf800000), (0xbf800000, nnan), (ninf, nnan), (0x00800000, 0xc2fc0000), (0x7f000000, 0x42fe0000)] + passes
    # 2^0.5, 2^-1.5, 2^(1/3), log2 of 3, 10, 1.5, 1/3, worked out to 30 digits.
    exp_near = [(0x3f000000, "1.41421356237309504880168872420970"), (0xbfc00000, "0.35355339059327376220042218105242"), (0x3eaaaaab, None), (0x40200000, "5.65685424949238019520675489683879")]
    log_near = [(0x40400000, "1.58496250072115618145373894394782"), (0x41200000, "3.32192809488736234787031942948939"), (0x3fc00000, "0.58496250072115618145373894394782"), (0x42c80000, "6.64385618977472469574063885897878")]
    exps = special(exp, [(x, f32(Fraction(v))) for x, v in exp_near if v])
    logs = special(log, [(x, f32(Fraction(v))) for x, v in log_near])
    for name in ("v_exp_f32_e32", "v_exp_legacy_f32_e32"):
        vop1.block(f"{name} v0, v4", exps, note="denormals are flushed, in and out")
    for name in ("v_log_f32_e32", "v_log_legacy_f32_e32"):
        vop1.block(f"{name} v0, v4", logs, note="denormals count as zero")
    sin = [(0, 0), (0x80000000, 0x80000000), (0x3e800000, one), (0x3f400000, 0xbf800000), (0x3f000000, 0), (inf, "nan"), (ninf, "nan"), (nan, nan)]
    cos = [(0, one), (0x80000000, one), (0x3e800000, 0), (0x3f000000, 0xbf800000), (0x3f800000, one), (inf, "nan"), (ninf, "nan"), (nan, nan)]
    text = lambda table: [f"v4={x:08x} -> v0={y if isinstance(y, str) else format(y, '08x')}" for x, y in table]
    r2 = f32(Fraction("0.70710678118654752440"))
    vop1.block("v_sin_f32_e32 v0, v4", text(sin) + [f"v4=3e000000 -> v0=~{r2:08x}", "v4=3daaaaab -> v0=~3f000000", "v4=3f600000 -> v0=~bf3504f3"], note="the argument counts revolutions")
    vop1.block("v_cos_f32_e32 v0, v4", text(cos) + [f"v4=3e000000 -> v0=~{r2:08x}", "v4=be000000 -> v0=~3f3504f3"])
    vop1.block("v_sin_f32_e32 v0, v4", ["v4=7f7fffff -> v0=00000000", "v4=4b800000 -> v0=00000000"], GFX9, "gfx9 takes every argument")
    vop1.block("v_cos_f32_e32 v0, v4", ["v4=7f7fffff -> v0=3f800000", "v4=4b800000 -> v0=3f800000"], GFX9)
    # gfx6/7 variants.
    fmax = 0x7f7fffff
    clamp = lambda table: [(x, y if y & 0x7fffffff != inf else fmax | y & 1 << 31) for x, y in table]
    zero = lambda table: [(x, 0 if y & 0x7fffffff == inf else y) for x, y in table]
    vop1.block("v_rcp_clamp_f32_e32 v0, v4", special(clamp(rcp), near[:4]), note="infinities clamp to the largest float")
    vop1.block("v_rsq_clamp_f32_e32 v0, v4", special(clamp(rsq), []))
    vop1.block("v_log_clamp_f32_e32 v0, v4", special(clamp(log), []))
    plain = [(x, y) for x, y in rcp if y & 0x7fffffff != inf and x & 0x7fffffff]
    vop1.block("v_rcp_legacy_f32_e32 v0, v4", special([(0, 0), (0x80000000, 0x80000000)] + [p for p in plain if p[0] & 0x7fffffff != inf], near[:4]), note="1/0 gives 0, with its sign")
    vop1.block("v_rsq_legacy_f32_e32 v0, v4", special([(0, 0), (0x40800000, 0x3f000000), (0xbf800000, nnan), (one, one)], []))
    # f64: 2^29 ulp are allowed; correctly rounded is what everybody gives.
    d = lambda v: F64.round(Fraction(v))
    dn, dnn = 0x7ff8000000000000, 0xfff8000000000000
    di, dni, d1 = 0x7ff0000000000000, 0xfff0000000000000, 0x3ff0000000000000
    wide = lambda table, near: [f"v[4:5]={x:016x} -> v[0:1]={y:016x}" for x, y in table] + [f"v[4:5]={x:016x} -> v[0:1]=~{y:016x}" for x, y in near]
    dnormal = [d(v) for v in (3, Fraction(1, 3), 1000001, Fraction(1, 2 ** 60))]
    rcp64 = [(0, di), (1 << 63, dni), (di, 0), (dni, 1 << 63), (d1, d1), (d(-2), d(Fraction(-1, 2))), (dn, dn)]
    vop1.block("v_rcp_f64_e32 v[0:1], v[4:5]", wide(rcp64, [(x, d(1 / F64.value(x))) for x in dnormal]), note="the hardware promises 2^29 ulp; a correctly rounded result satisfies that")
    rsq64 = [(0, di), (1 << 63, dni), (di, 0), (d(-1), dnn), (d(4), d(Fraction(1, 2))), (dn, dn)]
    vop1.block("v_rsq_f64_e32 v[0:1], v[4:5]", wide(rsq64, [(x, d(1 / root(F64.value(x), F64))) for x in dnormal]))
    vop1.block("v_sqrt_f64_e32 v[0:1], v[4:5]", wide([(0, 0), (1 << 63, 1 << 63), (di, di), (d(-1), dnn), (d(4), d(2)), (dn, dn)], [(x, d(root(F64.value(x), F64))) for x in dnormal]))
    dmax = 0x7fefffffffffffff
    wclamp = lambda table: [(x, y if y & mask(63) != di else dmax | y & 1 << 63) for x, y in table]
    vop1.block("v_rcp_clamp_f64_e32 v[0:1], v[4:5]", wide(wclamp(rcp64), []))
    vop1.block("v_rsq_clamp_f64_e32 v[0:1], v[4:5]", wide(wclamp(rsq64), []))
    # f16: 0.51 ulp, denormals supported.
    h = lambda v: F16.round(Fraction(v))
    hx = [h(v) for v in (3, 7, Fraction(1, 3), 1000, Fraction(1, 1000), Fraction(3, 2))]
    half = lambda table, near: [f"v4={x | 0xabcd0000:08x} -> v0={y if isinstance(y, str) else format(y, '08x')}" for x, y in table] + [f"v4={x | 0xabcd0000:08x} -> v0=~{y:08x}" for x, y in near]
    vop1.block("v_rcp_f16_e32 v0, v4", half([(0, 0x7c00), (0x8000, 0xfc00), (0x7c00, 0), (0xfc00, 0x8000), (0x3c00, 0x3c00), (0xc000, 0xb800), (0x7bff, h(Fraction(1, 65504))), (0x0001, 0x7c00), (0x7e00, 0x7e00)], [(x, h(1 / F16.value(x))) for x in hx]), GFX8, "denormals are supported")
    vop1.block("v_sqrt_f16_e32 v0, v4", half([(0, 0), (0x8000, 0x8000), (0x7c00, 0x7c00), (0xbc00, 0xfe00), (0x4400, 0x4000), (0x0001, 0x0c00), (0x7e00, 0x7e00)], [(x, h(root(F16.value(x), F16))) for x in hx]), GFX8)
    vop1.block("v_rsq_f16_e32 v0, v4", half([(0, 0x7c00), (0x8000, 0xfc00), (0x7c00, 0), (0xbc00, 0xfe00), (0x4400, 0x3800), (0x0001, 0x6c00), (0x7e00, 0x7e00)], [(x, h(1 / root(F16.value(x), F16))) for x in hx]), GFX8)
    vop1.block("v_exp_f16_e32 v0, v4", half([(0, 0x3c00), (0x8000, 0x3c00), (0xfc00, 0), (0x7c00, 0x7c00), (0x3c00, 0x4000), (0xbc00, 0x3800), (0x4c00, 0x7c00), (0xcc00, 0x0100), (0xce00, 0x0001), (0xd000, 0), (0x7e00, 0x7e00)], [(0x3800, h(Fraction("1.41421356237309504880")))]), GFX8)
    vop1.block("v_log_f16_e32 v0, v4", half([(0, 0xfc00), (0x8000, 0xfc00), (0x7c00, 0x7c00), (0x3c00, 0), (0x4000, 0x3c00), (0x3800, 0xbc00), (0xbc00, 0xfe00), (0x0001, 0xce00), (0x7e00, 0x7e00)], [(0x4200, h(Fraction("1.58496250072115618145")))]), GFX8)
    vop1.block("v_sin_f16_e32 v0, v4", half([(0, 0), (0x8000, 0x8000), (0x3400, 0x3c00), (0x3a00, 0xbc00), (0x3800, 0), (0x7c00, "nan"), (0x7e00, 0x7e00)], [(0x3000, h(Fraction("0.70710678118654752440")))]), GFX8)
    vop1.block("v_cos_f16_e32 v0, v4", half([(0, 0x3c00), (0x8000, 0x3c00), (0x3400, 0), (0x3800, 0xbc00), (0x3c00, 0x3c00), (0x7c00, "nan"), (0x7e00, 0x7e00)], [(0x3000, h(Fraction("0.70710678118654752440")))]), GFX8)
    # Modifiers.
    vop1.block("v_rcp_f32_e64 v0, -|v4|", ["v4=40000000 -> v0=bf000000", "v4=c0000000 -> v0=bf000000"])
    vop1.block("v_rcp_f32_e64 v0, v4 clamp", ["v4=3f000000 -> v0=3f800000", "v4=40000000 -> v0=3f000000", "v4=0 -> v0=3f800000", "v4=7fc00000 -> v0=00000000"])
    vop1.block("v_sqrt_f32_e64 v0, v4 mul:2", ["mode=00000100 v4=40800000 -> v0=40800000", "v4=40800000 -> v0=40000000"])


def cubes(vop3):
    """Ties: |z| first, then |y|; the tests for negative numbers are false for -0."""
    values = [f32(v) for v in (0, 1, -1, 2, -2, Fraction(1, 2), -3)] + [0x80000000]
    rows3 = []
    for i in range(30):
        rows3.append((values[i % 8], values[(i * 3 + i // 8) % 8], values[(i * 5 + 2 + i // 3) % 8]))
    rows3 += [(f32(1), f32(1), f32(1)), (f32(-1), f32(-1), f32(-1)), (f32(1), f32(1), 0), (f32(1), 0, f32(1)), (0, f32(1), f32(1)), (0, 0, 0x80000000), (0x80000000, 0x80000000, 0x80000000)]
    neg = lambda x: x ^ 1 << 31
    val = F32.value

    def face(x, y, z):
        ax, ay, az = abs(val(x)), abs(val(y)), abs(val(z))
        if az >= ax and az >= ay:
            return "z", val(z) < 0
        if ay >= ax:
            return "y", val(y) < 0
        return "x", val(x) < 0

    def ident(x, y, z):
        axis, negative = face(x, y, z)
        return f32({"x": 0, "y": 2, "z": 4}[axis] + negative)

    def sc(x, y, z):
        axis, negative = face(x, y, z)
        return {"z": neg(x) if negative else x, "y": x, "x": z if negative else neg(z)}[axis]

    def tc(x, y, z):
        axis, negative = face(x, y, z)
        return {"z": neg(y), "y": neg(z) if negative else z, "x": neg(y)}[axis]

    def ma(x, y, z):
        axis, _ = face(x, y, z)
        v = {"x": x, "y": y, "z": z}[axis]
        return F32.round(val(v) * 2, 0, F32.negative(v))
    for name, fn in (("id", ident), ("sc", sc), ("tc", tc), ("ma", ma)):
        valu(vop3, f"v_cube{name}_f32", 32, [32] * 3, fn, rows3)
    vop3.block("v_cubeid_f32 v0, -v4, v8, |v12|", ["v4=3f800000 v8=0 v12=0 -> v0=3f800000", "v4=0 v8=0 v12=bf800000 -> v0=40800000"])


def trig_preop(vop3):
    """2/pi in 1201 bits from the binary point; the segment at shift, scaled."""
    # Pi by Machin's formula, exactly enough.
    one = 1 << 1400

    def atan_inverse(n):
        total, term, k, sign = 0, one // n, 1, 1
        while term:
            total += sign * (term // k)
            term //= n * n
            k += 2
            sign = -sign
        return total
    pi = 4 * (4 * atan_inverse(5) - atan_inverse(239))
    two_over_pi = (2 * one << 1201) // pi  # 1201 bits behind the point
    lines = []
    for x, segment in ((0x3ff0000000000000, 0), (0x3ff0000000000000, 1), (0x3ff0000000000000, 2), (0x4370000000000000, 0), (0x4370000000000000, 1), (0x7fe0000000000000, 0), (0x7fe0000000000000, 2),
                       (0x7b00000000000000, 0), (0x7b00000000000000, 1), (0x7aff000000000000, 1), (0x4340000000000000, 0), (0x4350000000000000, 0), (0xc010000000000000, 1), (0x0, 0), (0x4370000000000000, 32), (0x3ff0000000000000, 21)):
        exponent = F64.exponent(x)
        shift = (segment & 31) * 53 + max(exponent - 1077, 0)
        result = (two_over_pi << shift & mask(1201)) >> (1201 - 53)
        scale = -53 - shift + (128 if exponent >= 1968 else 0)
        d = F64.round(Fraction(result) * Fraction(2) ** scale)
        lines.append(f"v[4:5]={x:016x} v8={segment:08x} -> v[0:1]={d:016x}")
    vop3.block("v_trig_preop_f64 v[0:1], v[4:5], v8", lines, note="53 bits of 2/pi from bit S1[4:0] * 53 + max(exponent - 1077, 0)")


def mullit(vop3):
    lines = ["v4=3f800000 v8=40000000 v12=3f800000 -> v0=40000000", "v4=40400000 v8=c0000000 v12=40000000 -> v0=c0c00000",
             "v4=3f800000 v8=3f800000 v12=0 -> v0=ff7fffff", "v4=3f800000 v8=3f800000 v12=bf800000 -> v0=ff7fffff", "v4=3f800000 v8=3f800000 v12=7fc00000 -> v0=ff7fffff",
             "v4=3f800000 v8=ff800000 v12=3f800000 -> v0=ff7fffff", "v4=0 v8=7f800000 v12=3f800000 -> v0=00000000"]
    vop3.block("v_mullit_f32 v0, v4, v8, v12", lines, GFX67, "S1 -max, -inf or NaN, or S2 not above 0: -max; else the product, 0 times anything being 0")


def add(vop1, vop2, vop3):
    norm = integers(vop1)
    packs(vop2, vop3, norm)
    between(vop1)
    transcendental(vop1)
    cubes(vop3)
    trig_preop(vop3)
    mullit(vop3)
