"""VOP3P: packed 16-bit arithmetic, mixed precision, dot products, and the packed 32-bit forms of CDNA."""

from fractions import Fraction

import floats as fl
from case import Chapter, Random, mask, signed
from floats import DEFAULT, F16, F32, F64, Mode
from vector import GFX9
from vector_int import sat

M16, M32 = mask(16), mask(32)
KEEP = 0x3f0
INTS = [0, 0x00010001, 0xffffffff, 0x7fff8000, 0x80007fff, 0x00018001, 0x12345678, 0x8000ffff, 0x0010fff0, 0x000f0011, 0x7fff7fff, 0x80008000, 0x00ffff00]
FLOATS = [0x3c004000, 0xbc003800, 0x00008000, 0x7c00fc00, 0x7e003c00, 0x3c007e05, 0x00010400, 0x83ff0001, 0x7bff7bff, 0xfbff3555, 0x42483c01, 0x3bff3c01, 0x7c01fc07]


def half(value, which):
    return value >> 16 * which & M16


def rows(pool, count, n, seed):
    random = Random(seed)
    result = [tuple(pool[i] for _ in range(count)) for i in range(2)]
    while len(result) < n:
        row = [random.pick(pool) for _ in range(count)]
        row[len(result) % count] = pool[len(result) % len(pool)]
        if tuple(row) not in result:
            result.append(tuple(row))
    return result


def lines_of(values, fn, count, float_kind, sel=None, sel_hi=None, neg=0, neg_hi=0, prefix=""):
    """Lines of a packed operation; fn takes the chosen halves."""
    sel, sel_hi = sel or [0] * count, sel_hi or [1] * count
    lines = []
    for row in values:
        out = 0
        for at, (picks, negs) in enumerate(((sel, neg), (sel_hi, neg_hi))):
            chosen = [half(v, p) for v, p in zip(row, picks)]
            if float_kind:
                chosen = [x ^ 0x8000 if negs >> i & 1 else x for i, x in enumerate(chosen)]
            out |= (fn(*chosen) & M16) << 16 * at
        regs = " ".join(f"v{4 * i + 4}={v:08x}" for i, v in enumerate(row))
        lines.append(f"{prefix}{regs} -> v0={out:08x}")
    return lines


def bits(flags, count):
    return "[" + ",".join(str(flags >> i & 1) for i in range(count)) + "]"


def packed(c):
    s = lambda x: signed(x, 16)
    ints = {
        "mad_i16": (3, lambda a, b, d: a * b + d, lambda a, b, d: sat(s(a) * s(b) + s(d), 16, True)), "mad_u16": (3, lambda a, b, d: a * b + d, lambda a, b, d: sat(a * b + d, 16, False)),
        "add_i16": (2, lambda a, b: a + b, lambda a, b: sat(s(a) + s(b), 16, True)), "add_u16": (2, lambda a, b: a + b, lambda a, b: sat(a + b, 16, False)),
        "sub_i16": (2, lambda a, b: a - b, lambda a, b: sat(s(a) - s(b), 16, True)), "sub_u16": (2, lambda a, b: a - b, lambda a, b: sat(a - b, 16, False)),
        "mul_lo_u16": (2, lambda a, b: a * b, None), "lshlrev_b16": (2, lambda a, b: b << a % 16, None), "lshrrev_b16": (2, lambda a, b: b >> a % 16, None),
        "ashrrev_i16": (2, lambda a, b: s(b) >> a % 16, None), "max_i16": (2, lambda a, b: max(s(a), s(b)), None), "min_i16": (2, lambda a, b: min(s(a), s(b)), None),
        "max_u16": (2, max, None), "min_u16": (2, min, None),
    }
    for name, (count, fn, saturating) in ints.items():
        text = f"v_pk_{name} v0, " + ", ".join(["v4", "v8", "v12"][:count])
        values = rows(INTS, count, 16, 51 + len(name))
        few = values[4:10]
        c.block(text, lines_of(values, fn, count, False), GFX9)
        if name[:3] in ("max", "min"):
            c.block(text + " clamp", lines_of(few, fn, count, False), GFX9, "both fit the type")
        if saturating:
            c.block(text + " clamp", lines_of(values, saturating, count, False), GFX9, "saturates to the type")
        for sel, sel_hi in ((1, 7), (2, 7), (0, 0), (7, 0), (4, 6)) if count == 3 else ((1, 3), (2, 3), (0, 0), (3, 0), (1, 2)):
            lists = [[flags >> i & 1 for i in range(count)] for flags in (sel, sel_hi)]
            c.block(f"{text} op_sel:{bits(sel, count)} op_sel_hi:{bits(sel_hi, count)}", lines_of(few, fn, count, False, *lists), GFX9)
    c.block("v_pk_add_u16 v0, v4, v8 neg_lo:[1,0] neg_hi:[0,1]", lines_of(rows(INTS, 2, 4, 3), lambda a, b: a + b, 2, False), GFX9, "neg is for floats (open point: ignored)")
    floats = {"fma_f16": (3, lambda m, a, b, d: fl.fma(F16, a, b, d, m)), "add_f16": (2, lambda m, a, b: fl.add(F16, a, b, m)), "mul_f16": (2, lambda m, a, b: fl.mul(F16, a, b, m)),
              "min_f16": (2, lambda m, a, b: fl.minmax(F16, a, b, m, True)), "max_f16": (2, lambda m, a, b: fl.minmax(F16, a, b, m, False))}
    for name, (count, op) in floats.items():
        text = f"v_pk_{name} v0, " + ", ".join(["v4", "v8", "v12"][:count])
        values = rows(FLOATS, count, 20, 61 + len(name))
        if count == 3:
            clash = lambda a, b, d: any(F16.is_nan(half(d, h)) and (F16.is_inf(half(a, h)) and F16.is_zero(half(b, h)) or F16.is_zero(half(a, h)) and F16.is_inf(half(b, h))) for h in (0, 1))
            values = [v for v in values if not clash(*v)]
        fn = lambda *x, op=op: op(DEFAULT, *x)
        few = [v for v in values[2:] if not any(F16.is_nan(half(x, h)) for x in v for h in (0, 1))][:6]
        c.block(text, lines_of(values, fn, count, True), GFX9)
        for mode in (0x330, 0x3fc, 0x3f8) + ((0x8003f0,) if name != "min_f16" else ()):
            c.block(text, lines_of(few, lambda *x, op=op, mode=mode: op(Mode(mode), *x), count, True, prefix=f"mode={mode:08x} "), GFX9, "denormals, rounding and FP16_OVFL by MODE" if mode == 0x330 else None)
        c.block(text + " clamp", lines_of(values[:10], lambda *x, op=op: fl.clamp(F16, op(DEFAULT, *x)), count, True), GFX9, "clamp to [0, 1], each half")
        every = 7 if count == 3 else 3
        for sel, sel_hi, neg, neg_hi in ((1, every, 0, 0), (2, every & ~2, 0, 0), (0, 0, 0, 0), (0, every, 1, 2), (0, every, every, every), (every, 0, 2, 0), (every & 5, 2, 1, 1)):
            mods = f" op_sel:{bits(sel, count)} op_sel_hi:{bits(sel_hi, count)} neg_lo:{bits(neg, count)} neg_hi:{bits(neg_hi, count)}"
            lists = [[flags >> i & 1 for i in range(count)] for flags in (sel, sel_hi)]
            c.block(text + mods, lines_of(few, fn, count, True, *lists, neg, neg_hi), GFX9)
    # Inline constants.
    for const, value in (("1", 1), ("-1", M32), ("64", 64), ("-16", 0xfffffff0)):
        for mods, pick in (("", (0, 1)), (" op_sel_hi:[0,1]", (0, 0))):
            c.block(f"v_pk_add_u16 v0, {const}, v8{mods}", [f"v8={v:08x} -> v0={(half(v, 1) + half(value, pick[1]) & M16) << 16 | half(v, 0) + half(value, 0) & M16:08x}" for v in (0x00100020, 0xffff0001)], GFX9,
                    "integers are sign-extended to 32 bits" if not mods else None)
    c.block("v_pk_add_f16 v0, 1.0, v8", ["v8=40004000 -> v0=40004200"], GFX9, "f16 operations: the constant in the low half, 0 in the high one")
    c.block("v_pk_add_f16 v0, 1.0, v8 op_sel_hi:[0,1]", ["v8=40004000 -> v0=42004200"], GFX9)
    c.block("v_pk_add_u16 v0, 2.0, v8", ["v8=00010001 -> v0=40010001"], GFX9, "integer operations: the f32 pattern")
    c.block("v_pk_mul_f16 v0, s2, v8", ["s2=40003c00 v8=42004200 -> v0=46004200"], GFX9)


def mixed(c):
    def source(row, sel, sel_hi, neg, absolute, m, flush16):
        out = []
        for i, v in enumerate(row):
            if sel_hi >> i & 1:
                h = half(v, sel >> i & 1)
                h = fl.flush(F16, h) if flush16 or m.flush_src(F16) else h
                x = fl.convert(F16, F32, h, Mode(0x3f0))
            else:
                x = v
            if absolute >> i & 1:
                x &= mask(31)
            if neg >> i & 1:
                x ^= 1 << 31
            out.append(x)
        return out
    values = [(0x3f800000, 0x40000000, 0xbf000000), (0x3c004000, 0x42003800, 0xbc003c00), (0x40490fdb, 0x3eaaaaab, 0x3f800001), (0x00013c00, 0x3c000400, 0x00008000), (0x3f8b3c01, 0x3f7f3bff, 0xbf803c00),
              (0x7bff7bff, 0x7bff4000, 0xfbff7c00), (0x477fe000, 0x3f800800, 0x38000000)]
    for gfx, op in (("gfx900", "mad"), ("gfx906", "fma")):
        def compute(row, sel, sel_hi, neg, absolute, m=DEFAULT, op=op):
            a, b, d = source(row, sel, sel_hi, neg, absolute, m, op == "mad")
            return fl.mad(F32, a, b, d, m) if op == "mad" else fl.fma(F32, a, b, d, m)

        def into16(x, m, op=op):
            r = fl.convert(F32, F16, x, m)
            return fl.flush(F16, r) if op == "mad" else r
        for sel, sel_hi, neg, absolute in ((0, 0, 0, 0), (0, 7, 0, 0), (7, 7, 0, 0), (2, 3, 0, 0), (4, 4, 0, 0), (1, 1, 0, 0), (0, 0, 1, 2), (5, 7, 2, 5), (0, 2, 7, 7)):
            regs = []
            for i, reg in enumerate(("v4", "v8", "v12")):
                text = f"|{reg}|" if absolute >> i & 1 else reg
                regs.append("-" + text if neg >> i & 1 else text)
            mods = f" op_sel:{bits(sel, 3)} op_sel_hi:{bits(sel_hi, 3)}"
            use = [v for v in values]
            text = " ".join
            inputs = [text(f"v{4 * i + 4}={v:08x}" for i, v in enumerate(row)) for row in use]
            results = [compute(row, sel, sel_hi, neg, absolute) for row in use]
            note = "not fused; denormals are always flushed" if op == "mad" else "fused"
            c.block(f"v_{op}_mix_f32 v0, {', '.join(regs)}{mods}", [f"{i} -> v0={r:08x}" for i, r in zip(inputs, results)], [gfx], note)
            c.block(f"v_{op}_mix_f32 v0, {', '.join(regs)}{mods} clamp", [f"{i} -> v0={fl.clamp(F32, r):08x}" for i, r in zip(inputs, results)][:4], [gfx])
            c.block(f"v_{op}_mixlo_f16 v0, {', '.join(regs)}{mods}", [f"v0=11112222 {i} -> v0={0x11110000 | into16(r, DEFAULT):08x}" for i, r in zip(inputs, results)], [gfx], "the other half stays")
            c.block(f"v_{op}_mixhi_f16 v0, {', '.join(regs)}{mods}", [f"v0=11112222 {i} -> v0={0x2222 | into16(r, DEFAULT) << 16:08x}" for i, r in zip(inputs, results)], [gfx])
        c.block(f"v_{op}_mixhi_f16 v0, v4, v8, v12 clamp", [f"v0=11112222 v4={a:08x} v8={b:08x} v12={d:08x} -> v0={0x2222 | fl.clamp(F16, into16(compute((a, b, d), 0, 0, 0, 0), DEFAULT)) << 16:08x}" for a, b, d in values[:3]], [gfx])
        c.block(f"v_{op}_mixlo_f16 v0, v4, v8, v12 clamp", [f"v0=11112222 v4={a:08x} v8={b:08x} v12={d:08x} -> v0={0x11110000 | fl.clamp(F16, into16(compute((a, b, d), 0, 0, 0, 0), DEFAULT)):08x}" for a, b, d in values[:3]], [gfx])
        for mode in (0x3fc, 0x3f4):
            c.block(f"v_{op}_mixlo_f16 v0, v4, v8, v12", [f"mode={mode:08x} v0=11112222 v4={a:08x} v8={b:08x} v12={d:08x} -> v0={0x11110000 | into16(compute((a, b, d), 0, 0, 0, 0, Mode(mode)), Mode(mode)):08x}" for a, b, d in values[:3]], [gfx],
                    "the f16 result is rounded by the 16/64 mode")


def dots(c):
    gfx = ["gfx906"]
    values = [(0, 0, 0), (0x00010001, 0x00010001, 5), (M32, M32, 0), (0x80008000, 0x80008000, 0), (0x7fff7fff, 0x7fff7fff, 0x7fffffff), (0x12345678, 0x9abcdef0, 0x80000000), (0x80808080, 0x7f7f7f7f, 0x80000001), (0x88888888, 0x77777777, 0xffffffff),
              (0xffffffff, 0xffffffff, 0xffffffff), (0x01020304, 0x05060708, 0xfffffff0)]
    for name, width, sign in (("dot2_i32_i16", 16, True), ("dot2_u32_u16", 16, False), ("dot4_i32_i8", 8, True), ("dot4_u32_u8", 8, False), ("dot8_i32_i4", 4, True), ("dot8_u32_u4", 4, False)):
        def total(a, b, d):
            part = lambda v, i: signed(v >> width * i, width) if sign else v >> width * i & mask(width)
            return sum(part(a, i) * part(b, i) for i in range(32 // width)) + (signed(d, 32) if sign else d)
        c.block(f"v_{name} v0, v4, v8, v12", [f"v4={a:08x} v8={b:08x} v12={d:08x} -> v0={total(a, b, d) & M32:08x}" for a, b, d in values], gfx)
        c.block(f"v_{name} v0, v4, v8, v12 clamp", [f"v4={a:08x} v8={b:08x} v12={d:08x} -> v0={sat(total(a, b, d), 32, sign) & M32:08x}" for a, b, d in values], gfx, "saturates")
        if sign:
            short = {"dot2_i32_i16": "v_dot2c_i32_i16", "dot4_i32_i8": "v_dot4c_i32_i8", "dot8_i32_i4": "v_dot8c_i32_i4"}[name]
            c.block(f"{short}_e64 v0, v4, v8 clamp", [f"v4={a:08x} v8={b:08x} v0={d:08x} -> v0={sat(total(a, b, d), 32, True) & M32:08x}" for a, b, d in values], ["gfx908"], "saturates")
            c.block(f"{short}_e32 v0, v4, v8", [f"v4={a:08x} v8={b:08x} v0={d:08x} -> v0={total(a, b, d) & M32:08x}" for a, b, d in values], ["gfx908"])
    # Sums that are exact in any order.
    exact = [(0x3c004000, 0x42003800, 0x3f800000, Fraction(1) + 3 + 1), (0xbc003c00, 0x3c003c00, 0x40400000, Fraction(3)), (0x40004000, 0x40004000, 0, Fraction(8)), (0x3c003c00, 0x3c003c00, 0xc0000000, Fraction(0))]
    lines = [f"v4={a:08x} v8={b:08x} v12={d:08x} -> v0={F32.round(t):08x}" for a, b, d, t in exact]
    c.block("v_dot2_f32_f16 v0, v4, v8, v12", lines + ["v4=3c00fc00 v8=3c003c00 v12=0 -> v0=ff800000", "v4=7e003c00 v8=3c003c00 v12=0 -> v0=nan"], gfx)
    c.block("v_dot2_f32_f16 v0, v4, v8, v12 clamp", [f"v4={a:08x} v8={b:08x} v12={d:08x} -> v0={fl.clamp(F32, F32.round(t)):08x}" for a, b, d, t in exact], gfx, "clamp to [0, 1]")
    number = lambda x: F16.value(x)
    for neg, neg_hi in ((1, 0), (2, 0), (0, 1), (0, 2), (3, 1), (1, 2)):
        lines = []
        for a, b, d, _ in exact:
            t = F32.value(d)
            for at, negs in enumerate((neg, neg_hi)):
                t += number(half(a, at)) * number(half(b, at)) * (-1) ** bin(negs & 3).count("1")
            lines.append(f"v4={a:08x} v8={b:08x} v12={d:08x} -> v0={F32.round(t):08x}")
        c.block(f"v_dot2_f32_f16 v0, v4, v8, v12 neg_lo:{bits(neg, 3)} neg_hi:{bits(neg_hi, 3)}", lines, gfx)
    # The first product is of the halves that op_sel names, the second of those that op_sel_hi names; the dots of bytes and
    # nibbles have no halves to name (open point: ignored).
    for sel, sel_hi in ((1, 7), (0, 4), (3, 4), (2, 5)):
        mods = f" op_sel:{bits(sel, 3)} op_sel_hi:{bits(sel_hi, 3)}"
        lines = []
        for a, b, d, _ in exact:
            t = F32.value(d) + sum(number(half(a, x & 1)) * number(half(b, x >> 1 & 1)) for x in (sel, sel_hi))
            lines.append(f"v4={a:08x} v8={b:08x} v12={d:08x} -> v0={F32.round(t):08x}")
        c.block("v_dot2_f32_f16 v0, v4, v8, v12" + mods, lines, gfx)
        for name, of in (("i32_i16", lambda x: signed(x, 16)), ("u32_u16", lambda x: x)):
            total = lambda a, b, d: sum(of(half(a, x & 1)) * of(half(b, x >> 1 & 1)) for x in (sel, sel_hi)) + d
            c.block(f"v_dot2_{name} v0, v4, v8, v12" + mods, [f"v4={a:08x} v8={b:08x} v12={d:08x} -> v0={total(a, b, d) & M32:08x}" for a, b, d in values[3:8]], gfx)
        for name, width, sign in (("dot4_i32_i8", 8, True), ("dot8_u32_u4", 4, False)):
            part = lambda v, i: signed(v >> width * i, width) if sign else v >> width * i & mask(width)
            total = lambda a, b, d: sum(part(a, i) * part(b, i) for i in range(32 // width)) + d
            c.block(f"v_{name} v0, v4, v8, v12" + mods, [f"v4={a:08x} v8={b:08x} v12={d:08x} -> v0={total(a, b, d) & M32:08x}" for a, b, d in values[3:8]], gfx, optional=True)
    c.block("v_dot2c_f32_f16_e32 v0, v4, v8", [f"v4={a:08x} v8={b:08x} v0={d:08x} -> v0={F32.round(t):08x}" for a, b, d, t in exact], ["gfx908"])
    c.block("v_dot2c_f32_f16_e64 v0, v4, v8 clamp", [f"v4={a:08x} v8={b:08x} v0={d:08x} -> v0={fl.clamp(F32, F32.round(t)):08x}" for a, b, d, t in exact], ["gfx908"])
    # NEG and ABS act on bit 31 of the source, see runtime/src/choices.rs.
    products = lambda a, b: [number(half(a, i)) * number(half(b, i)) for i in (0, 1)]
    signs = [(a, b, d) for a, b, d in ((0xbc003c00, 0x3c004000, 0x40400000), (0x4000bc00, 0xc0003c00, 0x3f800000), (0x3c00c000, 0x42003800, 0xc0000000))]
    for mods, on_a, on_b in (("-v4, v8", lambda a: a ^ 1 << 31, int), ("|v4|, -v8", lambda a: a & M32 >> 1, lambda b: b ^ 1 << 31)):
        lines = [f"v4={a:08x} v8={b:08x} v0={d:08x} -> v0={F32.round(F32.value(d) + sum(products(on_a(a), on_b(b)))):08x}" for a, b, d in signs]
        c.block(f"v_dot2c_f32_f16_e64 v0, {mods}", lines, ["gfx908"], note="open point: bit 31")
        c.block(f"v_dot2c_f32_f16_dpp v0, {mods} quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf", lines, ["gfx908"], note="open point: bit 31")
    c.block("v_pk_fmac_f16 v0, v4, v8", lines_of([(0x3c004000, 0x42003800)], lambda a, b: fl.fma(F16, a, b, 0x3c00), 2, True)[:1][0].replace(" ->", " v0=3c003c00 ->").split("\n"), ["gfx908"])
    c.block("v_pk_fmac_f16 v0, v4, v8", ["v4=3c003c00 v8=3c003c00 v0=bc004000 -> v0=00004200"], ["gfx908"])


def wide(c):
    """gfx90a."""
    gfx = ["gfx90a"]
    a, b, d = (0x3f800000, 0x40000000), (0x40400000, 0xbf000000), (0x3f000000, 0x3f800000)
    pair = lambda low, high: f"{high << 32 | low:016x}"
    add = lambda x, y: fl.add(F32, x, y)
    mul = lambda x, y: fl.mul(F32, x, y)
    for name, fn in (("add", add), ("mul", mul)):
        text = f"v_pk_{name}_f32 v[0:1], v[4:5], v[8:9]"
        inputs = f"v[4:5]={pair(*a)} v[8:9]={pair(*b)}"
        c.block(text, [f"{inputs} -> v[0:1]={pair(fn(a[0], b[0]), fn(a[1], b[1]))}", f"v[4:5]={pair(1, 0x7f800000)} v[8:9]={pair(*b)} -> v[0:1]={pair(fn(1, b[0]), fn(0x7f800000, b[1]))}"], gfx)
        c.block(text + " op_sel:[1,0] op_sel_hi:[0,1]", [f"{inputs} -> v[0:1]={pair(fn(a[1], b[0]), fn(a[0], b[1]))}"], gfx)
        c.block(text + " neg_lo:[1,0] neg_hi:[0,1]", [f"{inputs} -> v[0:1]={pair(fn(a[0] ^ 1 << 31, b[0]), fn(a[1], b[1] ^ 1 << 31))}"], gfx)
    c.block("v_pk_fma_f32 v[0:1], v[4:5], v[8:9], v[12:13]", [f"v[4:5]={pair(*a)} v[8:9]={pair(*b)} v[12:13]={pair(*d)} -> v[0:1]={pair(fl.fma(F32, a[0], b[0], d[0]), fl.fma(F32, a[1], b[1], d[1]))}",
                                                             f"v[4:5]={pair(0x3f800001, 0)} v[8:9]={pair(0x3f800001, 0)} v[12:13]={pair(0xbf800002, 5)} -> v[0:1]={pair(fl.fma(F32, 0x3f800001, 0x3f800001, 0xbf800002), 5)}"], gfx)
    inputs = f"v[4:5]={pair(*a)} v[8:9]={pair(*b)} v[12:13]={pair(*d)}"
    fma = lambda x, y, z: fl.fma(F32, x, y, z)
    flip = lambda x: x ^ 1 << 31
    text = "v_pk_fma_f32 v[0:1], v[4:5], v[8:9], v[12:13]"
    one = lambda x: fl.clamp(F32, x)
    c.block(text + " clamp", [f"{inputs} -> v[0:1]={pair(one(fma(a[0], b[0], d[0])), one(fma(a[1], b[1], d[1])))}"], gfx, "clamp to [0, 1]")
    for name, fn in (("add", add), ("mul", mul)):
        c.block(f"v_pk_{name}_f32 v[0:1], v[4:5], v[8:9] clamp", [f"v[4:5]={pair(x, y)} v[8:9]={pair(z, w)} -> v[0:1]={pair(one(fn(x, z)), one(fn(y, w)))}" for x, y, z, w in ((0x3f000000, 0xbf800000, 0x3e800000, 0x3f000000), (0x40000000, 0x7fc00000, 0x40000000, 0x3f800000))], gfx)
    c.block(text + " op_sel:[1,0,1] op_sel_hi:[0,1,0]", [f"{inputs} -> v[0:1]={pair(fma(a[1], b[0], d[1]), fma(a[0], b[1], d[0]))}"], gfx)
    c.block(text + " neg_lo:[1,0,1] neg_hi:[0,1,0]", [f"{inputs} -> v[0:1]={pair(fma(flip(a[0]), b[0], flip(d[0])), fma(a[1], flip(b[1]), d[1]))}"], gfx)
    c.block("v_pk_add_f32 v[0:1], -1, v[8:9] op_sel:[1,0] op_sel_hi:[1,0]", ["v[8:9]=bf00000040400000 -> v[0:1]=4040000040400000"], gfx, "constants are in the low half, 0 in the high one")
    c.block("v_pk_add_f32 v[0:1], 1.0, v[8:9]", ["v[8:9]=bf00000040400000 -> v[0:1]=bf00000040800000"], gfx)
    c.block("v_pk_mov_b32 v[0:1], -1, v[8:9] op_sel:[1,0]", ["v[8:9]=bf00000040400000 -> v[0:1]=4040000000000000"], gfx)
    c.block("v_pk_mov_b32 v[0:1], v[4:5], v[8:9]", ["v[4:5]=0000000200000001 v[8:9]=0000000400000003 -> v[0:1]=0000000300000001"], gfx, "D.lo from S0, D.hi from S1")
    c.block("v_pk_mov_b32 v[0:1], v[4:5], v[8:9] op_sel:[1,0]", ["v[4:5]=0000000200000001 v[8:9]=0000000400000003 -> v[0:1]=0000000300000002"], gfx)
    c.block("v_pk_mov_b32 v[0:1], v[4:5], v[8:9] op_sel:[0,1]", ["v[4:5]=0000000200000001 v[8:9]=0000000400000003 -> v[0:1]=0000000400000001"], gfx)
    c.block("v_fmac_f64_e32 v[0:1], v[4:5], v[8:9]", [f"v[4:5]={x:016x} v[8:9]={y:016x} v[0:1]={z:016x} -> v[0:1]={fl.fma(F64, x, y, z):016x}" for x, y, z in ((0x3ff0000000000001, 0x3ff0000000000001, 0xbff0000000000002), (0x4000000000000000, 0x4008000000000000, 0x3ff0000000000000))], gfx)
    c.block("v_mul_legacy_f32 v0, v4, v8", ["v4=0 v8=7f800000 -> v0=00000000", "v4=40000000 v8=40400000 -> v0=40c00000"], gfx)


def main():
    c = Chapter("vop3p", __doc__)
    packed(c)
    mixed(c)
    dots(c)
    wide(c)
    c.write()


if __name__ == "__main__":
    main()
