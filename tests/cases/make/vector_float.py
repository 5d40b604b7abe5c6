"""Floating-point instructions of the vector ALU: arithmetic, min and max, rounding, output modifiers, division steps."""

from fractions import Fraction

import floats as fl
from case import Random, hexed, mask, reg, signed
from floats import DEFAULT, F16, F32, F64, Mode
from vector import GFX67, GFX8, GFX9, SOURCES, operands, source, valu

KEEP, FLUSH = 0x3f0, 0x300
GFX7UP = ["gfx700"] + GFX8


def rows(f, count, n, seed, first=()):
    """Combinations of edge values; the first lines are given."""
    random, pool = Random(seed), fl.edges(f)
    result = list(first)
    for i in range(n):
        row = [random.pick(pool) for _ in range(count)]
        row[i % count] = pool[(i * 7 // count) % len(pool)]
        if random.below(3) == 0:
            row = [random.next() << 32 & mask(f.bits) | random.next() & mask(f.bits) if f.bits == 64 else random.next() & mask(f.bits) for _ in row]
        if tuple(row) not in result:
            result.append(tuple(row))
    return result


def in_modes(c, names, f, count, fn, values, modes, targets=None, note=None, mods="", keeps=False, bits=None, srcs=None):
    """One block whose lines run in several modes; fn(mode, *values)."""
    if isinstance(names, str):
        names = [names]
    dst, srcs = bits or f.bits, srcs or [f.bits] * count
    lines = []
    for mode_bits in modes:
        mode = Mode(mode_bits)
        for row in values:
            d = fn(mode, *row)
            inputs = " ".join(source(i, x, b) for i, (x, b) in enumerate(zip(row, srcs)))
            text = d if isinstance(d, str) else f"{d & mask(dst) | (0x77770000 if keeps else 0):0{max(dst, 32) // 4}x}"
            state = "" if mode_bits == KEEP else f"mode={mode_bits:08x} "
            lines.append(f"{state}{inputs}{' v0=77776666' if keeps else ''} -> {reg('v', 0, dst)}={text}")
    c.block([f"{name} {operands(dst, srcs)}{mods}" for name in names], lines, targets, note)


def dedup(values):
    return list(dict.fromkeys(values))


# Denormals: all kept, all flushed, results flushed, sources flushed; then the four rounding modes.
DENORMS = [KEEP, 0x300, 0x350, 0x3a0]
ROUNDS = [0x3f5, 0x3fa, 0x3ff]
INTERESTING = {
    F16: [(0x3c00, 0x0001), (0x0400, 0x8001), (0x03ff, 0x0001), (0x7bff, 0x7bff), (0x7bff, 0x4c00), (0xfbff, 0xfbff), (0x3c00, 0xbc00), (0x8000, 0x8000), (0x0001, 0x3800), (0x3555, 0x4248)],
    F32: [(0x3f800000, 1), (0x00800000, 0x80000001), (0x007fffff, 1), (0x7f7fffff, 0x7f7fffff), (0x7f7fffff, 0x73000000), (0xff7fffff, 0xff7fffff), (0x3f800000, 0xbf800000),
          (0x80000000, 0x80000000), (1, 0x3f000000), (0x3eaaaaab, 0x40490fdb), (0x3f800000, 0x33800000), (0x3f800001, 0x33800000), (0x00800000, 0x3f000000), (0x1f800000, 0x1f800000)],
    F64: [(0x3ff0000000000000, 1), (0x0010000000000000, 0x8000000000000001), (0x7fefffffffffffff, 0x7fefffffffffffff), (0x3ff0000000000000, 0xbff0000000000000), (1 << 63, 1 << 63),
          (1, 0x3fe0000000000000), (0x3fd5555555555555, 0x400921fb54442d18), (0x3ff0000000000000, 0x3ca0000000000000), (0x2000000000000000, 0x1ff8000000000000)],
}


def arithmetic(vop2, vop3):
    for f, kind, targets in ((F32, "f32", None), (F16, "f16", GFX8)):
        values = rows(f, 2, 40, f.bits, INTERESTING[f])
        few = INTERESTING[f] + values[14:20]
        for op, fn in (("add", fl.add), ("sub", fl.sub), ("subrev", lambda f, a, b, mode: fl.sub(f, b, a, mode)), ("mul", fl.mul)):
            name = f"v_{op}_{kind}"
            vals = [v for v in values if op != "subrev" or not (f.is_nan(v[0]) and f.is_nan(v[1]))]
            in_modes(vop2, name + "_e32", f, 2, lambda m, a, b, fn=fn: fn(f, a, b, m), vals, [KEEP], targets,
                     "gfx8 and gfx9 zero the upper half" if f is F16 else None)
            in_modes(vop2, name + "_e64", f, 2, lambda m, a, b, fn=fn: fn(f, a, b, m), few, DENORMS[1:] + ROUNDS, targets, "denormals and rounding by MODE")
            # Source modifiers: abs, then neg, on the bits.
            lines = []
            for a, b in few:
                for text, x, y in (("-{0}, |{1}|", a ^ f.sign, b & ~f.sign), ("-|{0}|, -{1}", a | f.sign, b ^ f.sign)):
                    if f.is_nan(a) and f.is_nan(b):
                        continue
                    lines.append((text, a, b, fn(f, x, y, DEFAULT)))
            for text in ("-{0}, |{1}|", "-|{0}|, -{1}"):
                vop2.block(f"{name}_e64 v0, {text.format('v4', 'v8')}",
                           [f"{source(0, a, f.bits)} {source(1, b, f.bits)} -> v0={d:08x}" for t, a, b, d in lines if t == text], targets, "abs first, then neg")
            # Clamp: NaN gives 0 under DX10_CLAMP.
            for mode in (KEEP, 0x2f0):
                in_modes(vop2, name + "_e64", f, 2, lambda m, a, b, fn=fn: fl.clamp(f, fn(f, a, b, m), m), values[:30], [mode], targets,
                         "clamp to [0, 1]" if mode == KEEP else "without DX10_CLAMP a NaN passes", " clamp")
            # Output modifiers act only when results are flushed and IEEE is off.
            for text, factor in ((" mul:2", Fraction(2)), (" mul:4", Fraction(4)), (" div:2", Fraction(1, 2))):
                in_modes(vop2, name + "_e64", f, 2, lambda m, a, b, fn=fn: fn(f, a, b, m), few[:10], [KEEP, 0x300], targets, "no omod with denormals or IEEE", text)

                def with_omod(m, a, b, fn=fn, factor=factor):
                    # Results are flushed last, so the operation itself may give a denormal.
                    r = fn(f, a, b, Mode(m.bits | (0x20 if f is F32 else 0x80)))
                    if f.is_nan(r) or f.is_inf(r):
                        return r
                    r = fl.flush(f, f.round(f.value(r) * factor, m.rounding(f)))
                    return 0 if f.is_zero(r) else r
                safe = [(a, b) for a, b in few if not (f.is_snan(a) or f.is_snan(b))]
                in_modes(vop2, name + "_e64", f, 2, with_omod, safe, [0x100, 0x103 if f is F32 else 0x10c], targets, "output modifier after rounding; -0 becomes +0", text)
                in_modes(vop2, name + "_e64", f, 2, lambda m, a, b: fl.clamp(f, with_omod(m, a, b), m), safe, [0x100], targets, "clamp comes after the output modifier", " clamp" + text)
    for f, kind in ((F64, "f64"),):
        values = rows(f, 2, 40, 64, INTERESTING[f])
        few = INTERESTING[f] + values[10:16]
        for op, fn in (("add", fl.add), ("mul", fl.mul)):
            in_modes(vop3, f"v_{op}_f64", f, 2, lambda m, a, b, fn=fn: fn(f, a, b, m), values, [KEEP], None)
            in_modes(vop3, f"v_{op}_f64", f, 2, lambda m, a, b, fn=fn: fn(f, a, b, m), few, DENORMS[1:] + ROUNDS, None, "denormals and rounding by MODE[7:6], [3:2]")
            in_modes(vop3, f"v_{op}_f64", f, 2, lambda m, a, b, fn=fn: fl.clamp(f, fn(f, a, b, m), m), values[:24], [KEEP, 0x2f0], None, "clamp", " clamp")
            vop3.block(f"v_{op}_f64 v[0:1], -v[4:5], |v[8:9]|", [f"v[4:5]={a:016x} v[8:9]={b:016x} -> v[0:1]={fn(f, a ^ f.sign, b & ~f.sign):016x}" for a, b in few])
    # Constants.
    for text, bits in (("0.5", 0x3f000000), ("1.0", 0x3f800000), ("-4.0", 0xc0800000), ("2", 2), ("-1", 0xffffffff), ("0x40490fdb", 0x40490fdb)):
        vop2.block(f"v_add_f32_e32 v0, {text}, v8", [f"v8={b:08x} -> v0={fl.add(F32, bits, b):08x}" for b in (0x3f800000, 0, 0xbf000000)])
    for text, bits in (("0.5", 0x3800), ("1.0", 0x3c00), ("-4.0", 0xc400), ("2", 2), ("0x4248", 0x4248), ("0.15915494", 0x3118)):
        vop2.block(f"v_add_f16_e32 v0, {text}, v8", [f"v8={b:08x} -> v0={fl.add(F16, bits, b):08x}" for b in (0x3c00, 0, 0xb800)], GFX8)
    for text, bits in (("0.5", 0x3fe0000000000000), ("-4.0", 0xc010000000000000), ("2", 2)):
        vop3.block(f"v_add_f64 v[0:1], {text}, v[8:9]", [f"v[8:9]={b:016x} -> v[0:1]={fl.add(F64, bits, b):016x}" for b in (0x3ff0000000000000, 0, 1)])
    vop3.block("v_add_f64 v[0:1], s[2:3], v[8:9]", ["s[2:3]=3ff0000000000000 v[8:9]=4000000000000000 -> v[0:1]=4008000000000000"])


def legacy(vop2, vop3):
    def mul_legacy(f, a, b, m):
        a, b = fl.sources(f, m, a, b)
        return 0 if f.is_zero(a) or f.is_zero(b) else fl.mul(f, a, b, m)

    values = rows(F32, 2, 30, 3, INTERESTING[F32]) + [(0, 0x7f800000), (0x7fc00000, 0), (0x80000000, 0x7f800001), (0x80000000, 0x3f800000)]
    in_modes(vop2, "v_mul_legacy_f32_e32", F32, 2, lambda m, a, b: mul_legacy(F32, a, b, m), values, [KEEP, 0x300], None, "0 times anything is +0")
    triples = no_nan_clash(rows(F32, 3, 30, 4, [(0, 0x7f800000, 0x3f800000), (0x7fc00000, 0x80000000, 0xbf800000), (0x3f800000, 0x40000000, 0x40400000)]))

    def mad_legacy(m, a, b, d):
        m = fl.flushing(m, F32)
        a, b, d = fl.sources(F32, m, a, b, d)
        if F32.is_zero(a) or F32.is_zero(b):
            return fl.add(F32, 0, d, m)
        return fl.mad(F32, a, b, d, m)
    in_modes(vop3, "v_mad_legacy_f32", F32, 3, mad_legacy, triples, [KEEP, 0x300], None, "0 times anything is +0; flushes denormals always")
    lines = [f"v4={a:08x} v8={b:08x} v0={d:08x} -> v0={mad_legacy(DEFAULT, a, b, d):08x}" for a, b, d in triples]
    vop2.block("v_mac_legacy_f32_e32 v0, v4, v8", lines, GFX67)

    def compare(a, b):
        return fl.compare(F32, a, b, DEFAULT)
    pairs = [v for v in rows(F32, 2, 30, 5, [(0, 0x80000000), (0x80000000, 0), (0x7fc00000, 1), (1, 0x7fc00000)])]
    in_modes(vop2, "v_min_legacy_f32_e32", F32, 2, lambda m, a, b: a if compare(a, b) == -1 else b, [(a, b) for a, b in pairs if not (F32.is_snan(a) or F32.is_snan(b))], [KEEP], GFX67, "S0 < S1 ? S0 : S1")
    in_modes(vop2, "v_max_legacy_f32_e32", F32, 2, lambda m, a, b: a if compare(a, b) in (0, 1) else b, [(a, b) for a, b in pairs if not (F32.is_snan(a) or F32.is_snan(b))], [KEEP], GFX67, "S0 >= S1 ? S0 : S1")


def no_nan_clash(triples, f=F32):
    """Without rows where the product is invalid and the addend a NaN: which NaN comes out is not settled."""
    def clash(a, b, d):
        invalid = f.is_inf(a) and f.is_zero(fl.flush(f, b)) or f.is_zero(fl.flush(f, a)) and f.is_inf(b)
        return invalid and f.is_nan(d)
    return [row for row in triples if not clash(*row)]


def min_max(vop2, vop3):
    for f, kind, chapter, suffix, targets in ((F32, "f32", vop2, "_e32", None), (F16, "f16", vop2, "_e32", GFX8), (F64, "f64", vop3, "", None)):
        quiet_nan, signalling = f.nan, f.inf | 1
        first = [(0, f.sign), (f.sign, 0), (quiet_nan, f.one), (f.one, quiet_nan), (signalling, f.one), (f.one, signalling), (signalling, quiet_nan), (quiet_nan, signalling),
                 (quiet_nan, quiet_nan | 5), (f.inf, f.inf | f.sign), (1, f.sign | 1), (1, 2)]
        values = rows(f, 2, 28, 6 + f.bits, first)
        old = [t for t in GFX67 + ["gfx803"] if targets is None or t in targets]
        for op, less in (("min", True), ("max", False)):
            name = f"v_{op}_{kind}{suffix}"
            in_modes(chapter, name, f, 2, lambda m, a, b: fl.minmax(f, a, b, m, less), values, [KEEP, 0x1f0], targets, "IEEE: sNaN(S0), then sNaN(S1), quieted; else a NaN loses; min(+-0) is -0")
            in_modes(chapter, name, f, 2, lambda m, a, b: fl.minmax(f, a, b, m, less, False), values[8:20], [FLUSH], old, "before gfx9 denormals are never flushed")
            in_modes(chapter, name, f, 2, lambda m, a, b: fl.minmax(f, a, b, m, less), values[8:20], [FLUSH], GFX9, "gfx9 flushes by MODE")
    for f, kind, targets in ((F32, "f32", None), (F16, "f16", GFX9)):
        first = [(f.one, f.one | f.sign, 0), (f.nan, f.one, f.inf), (f.one, f.nan, f.sign), (f.one, 0, f.nan), (f.inf | 1, f.one, f.sign | f.one), (f.one, f.inf | 1, 0), (f.one, f.sign, f.inf | 1),
                 (f.nan, f.nan, f.one), (f.one, f.one, f.one), (0, f.sign, 0), (f.inf, f.inf | f.sign, f.one)]
        values = rows(f, 3, 20, 7 + f.bits, first)

        def three(m, a, b, d, less, flushes=True):
            return fl.minmax(f, fl.minmax(f, a, b, m, less, flushes), d, m, less, flushes)

        def med3(m, a, b, d, flushes=True):
            if any(map(f.is_nan, (a, b, d))):
                return three(m, a, b, d, True, flushes)
            if flushes:
                a, b, d = fl.sources(f, m, a, b, d)
            order = lambda x: (-(x & ~f.sign) if f.negative(x) else x, not f.negative(x))
            r = sorted((a, b, d), key=order)[1]
            return fl.flush(f, r) if flushes and m.flush_dst(f) else r
        in_modes(vop3, f"v_min3_{kind}", f, 3, lambda m, a, b, d: three(m, a, b, d, True), values, [KEEP, 0x1f0], targets, "nested two-operand ops")
        in_modes(vop3, f"v_max3_{kind}", f, 3, lambda m, a, b, d: three(m, a, b, d, False), values, [KEEP, 0x1f0], targets)
        zeros = [v for v in values if not (f.is_zero(v[0]) + f.is_zero(v[1]) + f.is_zero(v[2]) > 1)]
        in_modes(vop3, f"v_med3_{kind}", f, 3, med3, zeros, [KEEP, 0x1f0], targets, "any NaN: min3")
        denormals = [(1, 2, 3), (f.sign | 1, 1, 0x10), (f.one, 1, 5), (1, f.one, f.one | f.sign)]
        old = [t for t in GFX67 + ["gfx803"] if targets is None]
        for name, fn in (("min3", lambda m, a, b, d, z: three(m, a, b, d, True, z)), ("max3", lambda m, a, b, d, z: three(m, a, b, d, False, z)), ("med3", med3)):
            if old:
                in_modes(vop3, f"v_{name}_{kind}", f, 3, lambda m, a, b, d, fn=fn: fn(m, a, b, d, False), denormals, [FLUSH], old, "before gfx9 denormals are never flushed")
            in_modes(vop3, f"v_{name}_{kind}", f, 3, lambda m, a, b, d, fn=fn: fn(m, a, b, d, True), denormals[:1] + denormals[2:3], [FLUSH], GFX9, "gfx9 flushes by MODE")
        vop3.block(f"v_med3_{kind} v0, -v4, |v8|, v12", [f"{source(0, a, f.bits)} {source(1, b, f.bits)} {source(2, d, f.bits)} -> v0={med3(DEFAULT, a ^ f.sign, b & ~f.sign, d):08x}" for a, b, d in zeros[:1] + zeros[10:18]], targets)
        if f is F16:
            for select in ("[1,0,0,0]", "[0,1,0,1]", "[0,0,1,0]"):
                picks = [int(x) for x in select.strip("[]").split(",")]
                lines = []
                for (a, b, d), (x, y, z) in zip(zeros[11:17], zeros[12:18]):
                    regs = [hi << 16 | lo for hi, lo in ((x, a), (y, b), (z, d))]
                    r = med3(DEFAULT, *(v >> 16 * p & 0xffff for v, p in zip(regs, picks)))
                    out = r << 16 | 0x2222 if picks[3] else r
                    lines.append(f"v0=11112222 v4={regs[0]:08x} v8={regs[1]:08x} v12={regs[2]:08x} -> v0={out:08x}")
                vop3.block(f"v_med3_f16 v0, v4, v8, v12 op_sel:{select}", lines, GFX9)
                for name, less in (("min3", True), ("max3", False)):
                    lines = []
                    for (a, b, d), (x, y, z) in zip(zeros[11:17], zeros[12:18]):
                        regs = [hi << 16 | lo for hi, lo in ((x, a), (y, b), (z, d))]
                        r = three(DEFAULT, *(v >> 16 * p & 0xffff for v, p in zip(regs, picks)), less)
                        lines.append(f"v0=11112222 v4={regs[0]:08x} v8={regs[1]:08x} v12={regs[2]:08x} -> v0={r << 16 | 0x2222 if picks[3] else r:08x}")
                    vop3.block(f"v_{name}_f16 v0, v4, v8, v12 op_sel:{select}", lines, GFX9)


def fused(vop2, vop3):
    first = {F32: [(0x3f800001, 0x3f800001, 0xbf800002), (0x3f800001, 0x3f7fffff, 0xbf800000), (0x7f7fffff, 0x40000000, 0xff7fffff), (0x00800000, 0x3f000000, 0), (0, 0x7f800000, 1), (1, 0x3f800000, 0x80000001),
                   (0x1e3ce508, 0x1e3ce508, 0), (0x3f800000, 0x80000000, 0), (0x3f800000, 0x80000000, 0x80000000)],
             F16: [(0x3c01, 0x3c01, 0xbc02), (0x3c01, 0x3bff, 0xbc00), (0x7bff, 0x4000, 0xfbff), (0x0400, 0x3800, 0), (0, 0x7c00, 1), (1, 0x3c00, 0x8001), (0x5a82, 0x5a82, 0xfbff), (0x3c00, 0x8000, 0), (0x2401, 0x2401, 0x6400)],
             F64: [(0x3ff0000000000001, 0x3ff0000000000001, 0xbff0000000000002), (0x7fefffffffffffff, 0x4000000000000000, 0xffefffffffffffff), (1, 0x3fe0000000000000, 0), (0, 0x7ff0000000000000, 1)]}
    for f, kind in ((F32, "f32"), (F64, "f64"), (F16, "f16")):
        values = no_nan_clash(rows(f, 3, 36, 8 + f.bits, first[f]), f)
        few = first[f] + values[12:18]
        few = no_nan_clash(few, f)
        fma = lambda m, a, b, d: fl.fma(f, a, b, d, m)
        if f is F16:
            for name, targets, keeps in (("v_fma_f16", ["gfx803"], False), ("v_fma_legacy_f16", GFX9, False), ("v_fma_f16", GFX9, True)):
                in_modes(vop3, name, f, 3, fma, values, [KEEP], targets, "fused; gfx9 keeps the upper half, the gfx8 opcode zeroes it", keeps=keeps)
            in_modes(vop3, "v_fma_f16", f, 3, fma, few, [0x300] + ROUNDS, GFX9, "fused", keeps=True)
            in_modes(vop3, "v_fma_f16", f, 3, lambda m, a, b, d: fl.clamp(f, fma(m, a, b, d), m), values[:16], [KEEP], GFX9, "clamp", " clamp", keeps=True)
            for name, targets, keeps in (("v_mad_f16", ["gfx803"], False), ("v_mad_legacy_f16", GFX9, False), ("v_mad_f16", GFX9, True)):
                in_modes(vop3, name, f, 3, lambda m, a, b, d: fl.mad(f, a, b, d, m), values, [KEEP], targets, "not fused, flushes denormals always", keeps=keeps)
            large = [(0x7bff, 0x4000, 0xfbff), (0x7bff, 0xc000, 0x7bff), (0x7bff, 0x3c00, 0x7bff), (0x7bff, 0x4000, 0x4000), (0x7bff, 0x4000, 0x7c00), (0x7bff, 0x4000, 0xfc00), (0x7c00, 0xc000, 0x7bff), (0x7bff, 0x4000, 0x7e01)]
            in_modes(vop3, "v_mad_f16", f, 3, lambda m, a, b, d: fl.mad(f, a, b, d, m), large, [0x8003f0], GFX9, "FP16_OVFL limits the product, then the sum; infinities stay", keeps=True)
            for select in ("[1,0,0,0]", "[0,1,0,0]", "[0,0,1,0]", "[0,0,0,1]", "[1,1,1,1]"):
                picks = [int(x) for x in select.strip("[]").split(",")]
                lines = []
                for (a, b, d), (x, y, z) in zip(values[9:15], values[16:22]):
                    regs = [hi << 16 | lo for hi, lo in ((x, a), (y, b), (z, d))]
                    chosen = [v >> 16 * p & 0xffff for v, p in zip(regs, picks)]
                    if not no_nan_clash([tuple(chosen)], f):
                        continue
                    lines.append((regs, chosen))
                for name, op in (("v_fma_f16", fl.fma), ("v_mad_f16", fl.mad)):
                    vop3.block(f"{name} v0, v4, v8, v12 op_sel:{select}", [f"v0=11112222 v4={regs[0]:08x} v8={regs[1]:08x} v12={regs[2]:08x} -> v0={op(f, *chosen) << 16 | 0x2222 if picks[3] else 0x11110000 | op(f, *chosen):08x}" for regs, chosen in lines], GFX9)
        else:
            name = f"v_fma_{kind}"
            in_modes(vop3, name, f, 3, fma, values, [KEEP], None, "fused")
            in_modes(vop3, name, f, 3, fma, few, DENORMS[1:] + ROUNDS, None, "denormals and rounding by MODE")
            in_modes(vop3, name, f, 3, lambda m, a, b, d: fl.clamp(f, fma(m, a, b, d), m), values[:16], [KEEP], None, "clamp", " clamp")
            regs = [reg("v", n, f.bits) for n in (4, 8, 12)]
            vop3.block(f"{name} {reg('v', 0, f.bits)}, -{regs[0]}, |{regs[1]}|, -|{regs[2]}|",
                       [f"{regs[0]}={hexed(a, f.bits)} {regs[1]}={hexed(b, f.bits)} {regs[2]}={hexed(d, f.bits)} -> {reg('v', 0, f.bits)}={hexed(fl.fma(f, a ^ f.sign, b & ~f.sign, d | f.sign), f.bits)}" for a, b, d in few])
    # f32, not fused.
    values = no_nan_clash(rows(F32, 3, 36, 9, first[F32]))
    mad = lambda m, a, b, d: fl.mad(F32, a, b, d, m)
    in_modes(vop3, "v_mad_f32", F32, 3, mad, values, [KEEP], None, "the product is rounded, then the sum; denormals are always flushed")
    in_modes(vop3, "v_mad_f32", F32, 3, mad, values[:10], [0x300] + ROUNDS, None)
    in_modes(vop3, "v_mad_f32", F32, 3, lambda m, a, b, d: fl.clamp(F32, mad(m, a, b, d), m), values[:16], [KEEP], None, "clamp", " clamp")
    mac = [f"v4={a:08x} v8={b:08x} v0={d:08x} -> v0={fl.mad(F32, a, b, d):08x}" for a, b, d in values]
    vop2.block("v_mac_f32_e32 v0, v4, v8", mac, note="not fused")
    vop2.block("v_mac_f32_e64 v0, -v4, |v8|", [f"v4={a:08x} v8={b:08x} v0={d:08x} -> v0={fl.mad(F32, a ^ F32.sign, b & ~F32.sign, d):08x}" for a, b, d in values[:12]])
    vop2.block("v_fmac_f32_e32 v0, v4, v8", [f"v4={a:08x} v8={b:08x} v0={d:08x} -> v0={fl.fma(F32, a, b, d):08x}" for a, b, d in values], ["gfx906"], "fused")
    k = 0x40490fdb
    vop2.block(f"v_madmk_f32 v0, v4, {k:#x}, v8", [f"v4={a:08x} v8={b:08x} -> v0={fl.mad(F32, a, k, b):08x}" for a, b, _ in values[:16] if not F32.is_nan(a)], note="S0 * K + S1")
    vop2.block(f"v_madak_f32 v0, v4, v8, {k:#x}", [f"v4={a:08x} v8={b:08x} -> v0={fl.mad(F32, a, b, k):08x}" for a, b, _ in values[:16]], note="S0 * S1 + K")
    values = no_nan_clash(rows(F16, 3, 30, 10, first[F16]), F16)
    for targets, keep in ((["gfx803"], 0), (GFX9, 0x55550000)):
        note = "gfx9 keeps the upper half" if keep else "gfx8 zeroes the upper half"
        vop2.block("v_mac_f16_e32 v0, v4, v8", [f"{source(0, a, 16)} {source(1, b, 16)} v0={d | 0x55550000:08x} -> v0={fl.mad(F16, a, b, d) | keep:08x}" for a, b, d in values], targets, note)
        k = 0x4248
        vop2.block(f"v_madmk_f16 v0, v4, {k:#x}, v8", [f"v0=55550000 {source(0, a, 16)} {source(1, b, 16)} -> v0={fl.mad(F16, a, k, b) | keep:08x}" for a, b, _ in values[:14] if not F16.is_nan(a)], targets, note)
        vop2.block(f"v_madak_f16 v0, v4, v8, {k:#x}", [f"v0=55550000 {source(0, a, 16)} {source(1, b, 16)} -> v0={fl.mad(F16, a, b, k) | keep:08x}" for a, b, _ in values[:14]], targets, note)


def floor(v):
    return v.numerator // v.denominator


def nearest(v):
    whole = floor(v)
    rest = v - whole
    return whole + (rest > Fraction(1, 2) or rest == Fraction(1, 2) and whole & 1)


def rounding(vop1):
    ops = {"trunc": lambda v: floor(v) if v >= 0 else -floor(-v), "ceil": lambda v: -floor(-v), "floor": floor, "rndne": nearest}
    for f, kind, targets in ((F32, "f32", None), (F16, "f16", GFX8), (F64, "f64", GFX7UP)):
        half = f.round(Fraction(1, 2))
        values = [(x,) for x in dedup(fl.edges(f) + [half, half - 1, half + 1, half | f.sign, f.round(Fraction(5, 2)), f.round(Fraction(7, 2)), f.round(Fraction(-3, 2)), f.round(Fraction(2 ** f.mbits)) - 1,
                                                      f.round(Fraction(2 ** f.mbits + 1)), f.round(Fraction(-2 ** (f.mbits - 1) - Fraction(1, 2)))])]

        def whole(m, x, op):
            x, = fl.sources(f, m, x)
            if f.is_nan(x):
                return fl.quiet(f, x)
            return x if f.is_inf(x) else f.round(Fraction(op(f.value(x))), 0, f.negative(x))
        for name, op in ops.items():
            in_modes(vop1, f"v_{name}_{kind}_e32", f, 1, lambda m, x, op=op: whole(m, x, op), values, [KEEP], targets, "the sign of zero stays")
            in_modes(vop1, f"v_{name}_{kind}_e32", f, 1, lambda m, x, op=op: whole(m, x, op), [(1,), (f.sign | 1,), (half,)], [0x300, 0x30f], targets)
        below_one = f.one - 1

        def fract(m, x):
            x, = fl.sources(f, m, x)
            if f.is_nan(x):
                return fl.quiet(f, x)
            if f.is_inf(x):
                return f.nan
            v = f.value(x)
            if v == 0:
                return 0
            r = fl.finish(f, v - floor(v), m, 0)
            return below_one if not f.is_nan(r) and r >= f.one else r
        # Where the difference is an exact zero its sign depends on the rounding mode; only nearest is asked here.
        in_modes(vop1, f"v_fract_{kind}_e32", f, 1, fract, values, [KEEP], GFX7UP if targets is None or f is F64 else targets, "x - floor(x), below 1; infinities give NaN")
        finite = [v for v in values if not f.is_nan(v[0]) and not f.is_inf(v[0]) and not (f.negative(v[0]) and f.value(v[0]) > -Fraction(1, 100))]
        if f is not F16:
            in_modes(vop1, f"v_fract_{kind}_e32", f, 1, fract, finite, [KEEP], ["gfx600"])
        # Mantissa and exponent.
        def exponent(m, x):
            if f.is_nan(x) or f.is_inf(x) or f.is_zero(x):
                return 0
            v = abs(f.value(x))
            e = v.numerator.bit_length() - v.denominator.bit_length()
            return e + (Fraction(2) ** e <= v)

        def mantissa(m, x):
            if f.is_nan(x):
                return fl.quiet(f, x)
            return x if f.is_inf(x) or f.is_zero(x) else f.round(f.value(x) / Fraction(2) ** exponent(m, x))
        exp_name = {"f16": "v_frexp_exp_i16_f16_e32"}.get(kind, f"v_frexp_exp_i32_{kind}_e32")
        all_targets = None if kind == "f64" else targets
        in_modes(vop1, exp_name, f, 1, exponent, values, [KEEP], all_targets, "infinity, NaN and zero give 0; denormals their true exponent", bits=16 if f is F16 else 32)
        in_modes(vop1, f"v_frexp_mant_{kind}_e32", f, 1, mantissa, values, [KEEP], all_targets)
    vop1.block("v_floor_f32_e64 v0, -|v4|", ["v4=3fc00000 -> v0=c0000000", "v4=bfc00000 -> v0=c0000000"])
    vop1.block("v_trunc_f32_e64 v0, v4 clamp", ["v4=40200000 -> v0=3f800000", "v4=bfc00000 -> v0=00000000", "v4=3f000000 -> v0=00000000", "v4=7fc00000 -> v0=00000000"])


def ldexp(vop2, vop3):
    def scale(f, m, x, e):
        x, = fl.sources(f, m, x)
        if f.is_nan(x):
            return fl.quiet(f, x)
        if f.is_inf(x) or f.is_zero(x):
            return x
        e = max(-5000, min(5000, e))
        return fl.finish(f, f.value(x) * Fraction(2) ** e, m)
    for f, kind, ebits in ((F32, "f32", 32), (F64, "f64", 32), (F16, "f16", 16)):
        exps = [0, 1, -1, 5, -24, -149 if f is F32 else -10, 127, -126, 300, -300, 2000, -2200, (1 << ebits - 1) - 1, -(1 << ebits - 1)]
        xs = fl.edges(f)
        values = [(xs[(i * 5 + j) % len(xs)], exps[i % len(exps)] & mask(ebits)) for j in (0, 3) for i in range(len(exps) * 2)]
        values += [(f.one | 1, -(f.bias + f.mbits - 1) & mask(ebits)), (f.round(Fraction(3, 2)), -(f.bias + f.mbits - 1) - 1 & mask(ebits)), (f.one, -(f.bias + f.mbits) & mask(ebits)), (1, f.mbits)]
        fn = lambda m, x, e: scale(f, m, x, signed(e, ebits))
        if f is F32:
            in_modes(vop2, ["v_ldexp_f32_e32", "v_ldexp_f32"], f, 2, fn, values, [KEEP], None, "one rounding, also into denormals")
            in_modes(vop2, ["v_ldexp_f32_e64", "v_ldexp_f32"], f, 2, fn, values[:8] + values[-4:], [0x300, 0x3ff], None)
        elif f is F64:
            in_modes(vop3, "v_ldexp_f64", f, 2, fn, values, [KEEP], None, srcs=[64, 32])
            in_modes(vop3, "v_ldexp_f64", f, 2, fn, values[:8] + values[-4:], [0x300, 0x3ff], None, srcs=[64, 32])
        else:
            in_modes(vop2, "v_ldexp_f16_e32", f, 2, fn, values, [KEEP], GFX8, "the exponent is a signed 16-bit number")


def division(vop3):
    for f, kind, big, edge, down in ((F32, "f32", 64, 96, 23), (F64, "f64", 128, 768, 53)):
        def is_denormal_quotient(n, d):
            return n != 0 and abs(n / d) < f.value(1 << f.mbits)

        def scaled(x, power):
            if f.is_nan(x) or f.is_inf(x) or f.is_zero(x):
                return fl.quiet(f, x) if f.is_nan(x) else x
            return f.round(f.value(x) * Fraction(2) ** power)

        def div_scale(a, b, d):
            """(D, VCC): S1 = b is the denominator, S2 = d the numerator."""
            if f.is_zero(b) or f.is_zero(d):
                return "nan", "?"
            one = Fraction(1)
            vb, vd = f.value(b), f.value(d)
            if f.exponent(d) - f.exponent(b) >= edge:
                return (scaled(a, big) if a == b else a), 1
            if f.is_denormal(b):
                return scaled(a, big), 0
            if is_denormal_quotient(one, vb) and is_denormal_quotient(vd, vb):
                return (scaled(a, -big) if a == b else a), 1
            if is_denormal_quotient(one, vb):
                return scaled(a, -big), 0
            if is_denormal_quotient(vd, vb):
                return (scaled(a, big) if a == d else a), 1
            if f.exponent(d) <= down:
                return scaled(a, big), 0
            return a, 0
        one, two = f.one, f.one + (1 << f.mbits)
        e = lambda n, m=0: (n << f.mbits) | m
        top = (1 << f.ebits) - 2
        pairs = [(one, one), (two, one), (one, two), (e(top), e(1)), (e(1), e(top)), (e(top, 5), e(top, 3)), (one, 3), (5, one), (3, 5), (e(down), one), (e(down + 1), one), (e(2), e(2)),
                 (e(edge + 10), e(10)), (e(edge + 9), e(10)), (e(edge + 11), e(10)), (e(top - 1), e(30)), (e(1), e(top - 3)), (e(30), e(top)), (e(top), e(top)), (f.sign | two, one), (one, f.sign | e(1)),
                 (f.max, 1), (1, f.max), (e(f.bias - 20, 7), e(f.bias + f.bias - 5, 9))]
        lines = []
        for n, d in pairs:
            for a in (d, n):
                value, vcc = div_scale(a, d, n)
                regs = [reg("v", x, f.bits) for x in (4, 8, 12)]
                text = " ".join(f"{r}={hexed(x, f.bits)}" for r, x in zip(regs, (a, d, n)))
                lines.append(f"{text} -> {reg('v', 0, f.bits)}={hexed(value, f.bits)} vcc.lane={vcc}")
        regs = [reg("v", x, f.bits) for x in (4, 8, 12)]
        # The mask of gfx6 is unusable in hardware; producing the right one is harmless.
        vop3.block(f"v_div_scale_{kind} {reg('v', 0, f.bits)}, vcc, {', '.join(regs)}", lines, note="S1 denominator, S2 numerator; semantics as corrected in the errata")
        vop3.block(f"v_div_scale_{kind} {reg('v', 0, f.bits)}, s[2:3], {regs[0]}, {regs[0]}, {regs[2]}",
                   [f"{regs[0]}={hexed(d, f.bits)} {regs[2]}={hexed(n, f.bits)} -> {reg('v', 0, f.bits)}={hexed(div_scale(d, d, n)[0], f.bits)} s[2:3].lane={div_scale(d, d, n)[1]}" for n, d in pairs])
        # FMAS: VCC scales the fused result, rounded once.
        values = [(one, one, one), (one + 1, one + 1, f.sign | (one + 2)), (e(f.bias - 40), one, e(30)), (e(f.bias + 40), one, e(f.bias + 41, 3)), (f.nan, one, one), (f.inf, one, one), (one, one, 0),
                  (e(1), e(f.bias - 3, 5), 0), (e(1), e(f.bias - 3, 5), e(top)), (e(top), two, e(top)), (0, one, f.sign), (e(f.bias - 10, 77), e(f.bias + 3, 99), e(f.bias + big // 2))]
        lines = []
        for a, b, d in values:
            for vcc in (0, 1):
                scale = Fraction(1)
                if vcc:
                    scale = Fraction(2) ** (big if f.exponent(d) > f.bias else -big)
                r = fl.fma(f, a, b, d, DEFAULT, scale)
                lines.append(f"vcc.lane={vcc} " + " ".join(f"{q}={hexed(x, f.bits)}" for q, x in zip(regs, (a, b, d))) + f" -> {reg('v', 0, f.bits)}={hexed(r, f.bits)}")
        vop3.block(f"v_div_fmas_{kind} {reg('v', 0, f.bits)}, {', '.join(regs)}", lines, note="VCC: times 2^64 (2^128) when exp(S2) is above the bias, else divided; rounded once")
        fixups(vop3, f, f"v_div_fixup_{kind}", None, {F32: -150, F64: -1075}[f])
    for name, targets, keeps in (("v_div_fixup_f16", ["gfx803"], False), ("v_div_fixup_legacy_f16", GFX9, False), ("v_div_fixup_f16", GFX9, True)):
        fixups(vop3, F16, name, targets, None, keeps)
    vop3.block("v_div_fixup_f16 v0, v4, v8, v12 op_sel:[1,0,0,0]", ["v0=11112222 v4=35551111 v8=00004200 v12=00003c00 -> v0=11113555", "v0=11112222 v4=35551111 v8=00000000 v12=0000bc00 -> v0=1111fc00"], GFX9)
    vop3.block("v_div_fixup_f16 v0, v4, v8, v12 op_sel:[0,1,1,1]", ["v0=11112222 v4=11113555 v8=42000000 v12=bc000000 -> v0=b5552222", "v0=11112222 v4=11113555 v8=00007c00 v12=00003c00 -> v0=fe002222"], GFX9)


def fixups(vop3, f, name, targets, underflow, keeps=False):
    default = f.nan | f.sign
    third = f.round(Fraction(1, 3))
    top = f.max & ~mask(f.mbits)

    def fixup(q, d, n):
        sign = (d ^ n) & f.sign
        if f.is_nan(n):
            return fl.quiet(f, n)
        if f.is_nan(d):
            return fl.quiet(f, d)
        if f.is_zero(d) and f.is_zero(n) or f.is_inf(d) and f.is_inf(n):
            return default
        if f.is_zero(d) or f.is_inf(n):
            return f.inf | sign
        if f.is_inf(d) or f.is_zero(n):
            return sign
        if underflow is not None and f.exponent(n) - f.exponent(d) < underflow:
            return sign
        return f.inf | sign if f.is_nan(q) else q & ~f.sign | sign
    values = [(third, f.one, f.one), (third, f.one | f.sign, f.one), (third | f.sign, f.one, f.one), (third, 0, f.one), (third, f.sign, f.one), (third, f.one, 0), (third, f.one, f.sign), (third, 0, 0), (third, f.inf, f.inf),
              (third, f.inf | f.sign, f.one), (third, f.one, f.inf | f.sign), (third, f.nan | 3, f.one), (third, f.one, f.inf | 3), (third, f.nan | 3, f.nan | 5), (f.nan, f.one, f.one), (f.nan, 1 << f.mbits, top | f.sign),
              (third, 0, f.inf), (third, f.inf, 0), (f.inf, f.one, top)]
    if underflow is not None:
        values += [(third, top, 1 << f.mbits), (third, top, 1 << f.mbits | f.sign)]
    lines = []
    for q, d, n in values:
        r = fixup(q, d, n)
        if keeps:
            r |= 0x77770000
        regs = " ".join(source(i, x, f.bits) for i, x in enumerate((q, d, n)))
        lines.append(f"{'v0=77776666 ' if keeps else ''}{regs} -> {reg('v', 0, f.bits)}={hexed(r, max(32, f.bits))}")
    vop3.block(f"{name} {operands(f.bits, [f.bits] * 3)}", lines, targets, "S0 quotient, S1 denominator, S2 numerator")


def add(vop1, vop2, vop3):
    arithmetic(vop2, vop3)
    legacy(vop2, vop3)
    min_max(vop2, vop3)
    fused(vop2, vop3)
    rounding(vop1)
    ldexp(vop2, vop3)
    division(vop3)
