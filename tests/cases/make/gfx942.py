"""What gfx942 has beyond gfx90a: moves and sums of 64 bits, floats of 8 bits, atomics of packed halves, loads to LDS, scratch at the
sum of two offsets, and its matrix instructions.

Numerics of matrix products are those of MMA-Sim (arXiv 2511.10909) on MI300; of sparse ones no source has them: they are as those
of dense ones over the stored values. Floats of 8 bits are those of the CDNA3 manual, 7.2.
"""

from fractions import Fraction

from case import Chapter, Random, mask, signed
from floats import F16, F32, F64
import floats as fl
import matrix
from matrix import A, B, C, D, BF16, CHECK, Case, Shape, element, fused, span, spread, special_lines, whole

GFX = ["gfx942"]


def floor_log2(v):
    v = abs(v)
    n = v.numerator.bit_length() - v.denominator.bit_length()
    return n - 1 if Fraction(2) ** n > v else n


def floor_to(v, n):
    unit = Fraction(2) ** n
    return v // unit * unit


def trunc_to(v, n):
    return -floor_to(-v, n) if v < 0 else floor_to(v, n)


class Tiny:
    """Floats of 8 bits."""

    bits = 8
    sign = 0x80

    def __init__(self, ebits, bias):
        self.mbits, self.bias = 7 - ebits, bias

    def value(self, x):
        assert x != 0x80, "a number"
        e, m = x >> self.mbits & mask(7 - self.mbits), x & mask(self.mbits)
        v = Fraction(m | (1 << self.mbits if e else 0)) * Fraction(2) ** (max(e, 1) - self.bias - self.mbits)
        return -v if x >> 7 else v

    def is_denormal(self, x):
        return 0 < x & 0x7f <= mask(self.mbits)

    def step(self, v):
        return Fraction(2) ** (max(floor_log2(v), 1 - self.bias) - self.mbits)

    def code(self, v, steps, step):
        """The code of a number of steps, with the sign of `v`."""
        if steps == 0:
            return 0
        found = [x for x in range(1, 128) if self.value(x) == steps * step]
        return found[0] | (0x80 if v < 0 else 0) if found else None

    def round(self, v, saturate=False):
        """To nearest even."""
        if v == 0:
            return 0
        step = self.step(v)
        code = self.code(v, round(abs(v) / step), step)
        return self.limit(v, saturate) if code is None else code

    def stochastic(self, x, random, low, saturate=False):
        """`random`'s bits from `low` on added to the mantissa of the f32 `x`, the rest cut off."""
        v = F32.value(x)
        sum_ = F32.value((x & mask(31)) + (random >> low))
        if sum_ == 0:
            return 0
        step = self.step(sum_)
        code = self.code(-1 if x >> 31 else 1, sum_ // step, step)
        return self.limit(v, saturate) if code is None else code

    def limit(self, v, saturate):
        return (0xff if v < 0 else 0x7f) if saturate else 0x80


FP8, BF8 = Tiny(4, 8), Tiny(5, 16)
TINY = {"fp8": FP8, "bf8": BF8}


# ---- the vector unit

def moves(c):
    for text, source in (("v_mov_b64_e32 v[0:1], v[4:5]", "v[4:5]"), ("v_mov_b64_e64 v[0:1], s[4:5]", "s[4:5]")):
        c.block(text, [f"{source}={x:016x} -> v[0:1]={x:016x}" for x in (0, 0x123456789abcdef0, mask(64))], GFX)
    c.block("v_mov_b64_e32 v[0:1], 1.0", ["-> v[0:1]=3ff0000000000000"], GFX, "constants are doubles")
    c.block("v_mov_b64_e32 v[0:1], -5", ["-> v[0:1]=fffffffffffffffb"], GFX)
    c.block("v_mov_b64_e32 v[0:1], 0x89abcdef", ["-> v[0:1]=0000000089abcdef"], GFX, "a literal is the low half")
    c.block("v_mov_b64_dpp v[0:1], v[4:5] row_newbcast:3 row_mask:0xf bank_mask:0xf",
            ["exec=ffffffffffffffff v[4:5]=7 v4[3]=5 v5[3]=6 v4[19]=1 v5[19]=2 -> v0[0]=5 v1[9]=6 v0[16]=1 v1[31]=2 v0[40]=7 v1[40]=0"], GFX)
    cases = [(a, n, b, (a << (n & 7 if n & 7 <= 4 else 0)) + b & mask(64)) for a, n, b in ((0x100000001, n, 5) for n in range(9))]
    cases += [(mask(64), 4, 0x10, (mask(64) << 4) + 0x10 & mask(64)), (1 << 63, 0, 1 << 63, 0), (3, 0xffffffff, 4, 7)]
    c.block("v_lshl_add_u64 v[0:1], v[4:5], v8, v[12:13]", [f"v[4:5]={a:016x} v8={n:08x} v[12:13]={b:016x} -> v[0:1]={d:016x}" for a, n, b, d in cases], GFX,
            "more than four places are none")
    c.block("v_lshl_add_u64 v[0:1], s[4:5], 3, 1.0", ["s[4:5]=0000000000000002 -> v[0:1]=3ff0000000000010"], GFX)
    for text, order in (("v_fmamk_f32 v0, v4, 0x40400000, v8", lambda a, b, k: (a, k, b)), ("v_fmaak_f32 v0, v4, v8, 0x40400000", lambda a, b, k: (a, b, k))):
        values = [(0x3f800001, 0x3f800001), (0x40000000, 0xbf000000), (0x34000001, 0xc0400000)]
        c.block(text, [f"v4={a:08x} v8={b:08x} -> v0={fl.fma(F32, *order(a, b, 0x40400000)):08x}" for a, b in values], GFX, "fused")


def eight_bits(c):
    for name, f in TINY.items():
        codes = [0, 1, 0x3f, 0x40, 0x7f, 0x81, 0xff, 0x08, 0x04, 0xc5]
        f32 = lambda x: F32.round(f.value(x))
        c.block(f"v_cvt_f32_{name}_e32 v0, v4", [f"v4={0x11223300 | x:08x} -> v0={f32(x):08x}" for x in codes] + ["v4=00000080 -> v0=nan"], GFX)
        c.block(f"v_cvt_f32_{name}_e64 v0, v4 clamp mul:2", [f"mode=000001c0 v4={x:08x} -> v0={F32.round(min(max(2 * f.value(x), 0), 1)):08x}" for x in (0x31, 0x3a, 0xc0, 0x7f)], GFX)
        c.block(f"v_cvt_f32_{name}_e32 v0, 3", [f"-> v0={f32(3):08x}"], GFX)
        for byte in range(4):
            word = 0x3a << 0 | 0x41 << 8 | 0xc2 << 16 | 0x7e << 24
            c.block(f"v_cvt_f32_{name}_sdwa v0, v4 src0_sel:BYTE_{byte}", [f"v4={word:08x} -> v0={f32(word >> 8 * byte & 255):08x}"], GFX)
        pair = lambda x: f"{f32(x >> 8 & 255) << 32 | f32(x & 255):016x}"
        c.block(f"v_cvt_pk_f32_{name}_e32 v[0:1], v4", [f"v4={x:08x} -> v[0:1]={pair(x)}" for x in (0x12344140, 0x0000c27f, 0x00000100)], GFX)
        half_of = lambda x: f"{F32.round(f.value(x >> 8 & 255) / 2) << 32 | F32.round(f.value(x & 255) / 2):016x}"
        c.block(f"v_cvt_pk_f32_{name}_e64 v[0:1], v4 div:2", [f"mode=00000100 v4={x:08x} -> v[0:1]={half_of(x)}" for x in (0x3a41, 0xc27f, 0x0001)], GFX)
        for half in range(2):
            c.block(f"v_cvt_pk_f32_{name}_sdwa v[0:1], v4 src0_sel:WORD_{half}", [f"v4=c27f4140 -> v[0:1]={pair(0xc27f4140 >> 16 * half)}"], GFX)
        numbers = [Fraction(x) for x in (0, 1, -1, 3, Fraction(17, 16), Fraction(19, 16), Fraction(9, 8), Fraction(11, 8), 240, 247, 248, -249, 57344, 61439, 61440, 100000)]
        numbers += [Fraction(2) ** -n * m for n in (7, 8, 10, 11, 15, 17, 18, 19) for m in (1, -1, Fraction(3, 2))]
        lines = [f"v4={F32.round(x):08x} v8={F32.round(y):08x} v0=aaaa5555 -> v0=aaaa{f.round(y) << 8 | f.round(x):04x}" for x, y in zip(numbers, numbers[1:])]
        lines += [f"v4=7f800000 v8=7fc00000 v0=aaaa5555 -> v0=aaaa8080", "v4=80000000 v8=ff800000 v0=0 -> v0=00008000", "v4=00000001 v8=807fffff v0=ffffffff -> v0=ffff0000"]
        c.block(f"v_cvt_pk_{name}_f32 v0, v4, v8", lines, GFX)
        c.block(f"v_cvt_pk_{name}_f32 v0, v4, v8", [f"mode=00800{m} v4={F32.round(Fraction(x)):08x} v8={y:08x} v0=0 -> v0={f.limit(y_, True) << 8 | f.limit(x, True):08x}"
                                                   for m in ("3f0", "000") for x, y, y_ in ((100000, 0xff800000, -1), (-70000, 0x7f800000, 1))], GFX, "FP16_OVFL: the largest number")
        c.block(f"v_cvt_pk_{name}_f32 v0, -v4, |v8| op_sel:[0,0,1]", [f"v4=3f800000 v8=c0000000 v0=aaaa5555 -> v0={f.round(Fraction(2)) << 8 | f.round(Fraction(-1)):04x}5555"], GFX)
        low = 12 if name == "fp8" else 11
        lines = []
        for x in (0x3f800000, 0x3f810000, 0x3f8fffff, 0xbfffffff, 0x41234567, 0x3b812345, 0x3b012345, 0x3a000001, 0x37123456, 0x37800000, 0x436fffff, 0x477fffff, 0x00000000, 0x80000000, 0x80000123):
            for random in (0, 0xffffffff, 0x80000000, 0x12345678, 0xcafebabe):
                lines.append(f"v4={x:08x} v8={random:08x} v0=a1b2c3d4 -> v0=a1b2c3{f.stochastic(x, random, low):02x}")
        lines += ["v4=7f800000 v8=5 v0=0 -> v0=00000080", "v4=ffc00000 v8=5 v0=0 -> v0=00000080", f"mode=008003f0 v4=ff800000 v8=5 v0=0 -> v0=000000ff", f"mode=008003f0 v4=48000000 v8=5 v0=0 -> v0=0000007f"]
        c.block(f"v_cvt_sr_{name}_f32 v0, v4, v8", lines, GFX)
        code = f.stochastic(0x3f812345, 0x12345678, low)
        c.block(f"v_cvt_sr_{name}_f32 v0, |v4|, v8", [f"v4=bf812345 v8=12345678 v0=a1b2c3d4 -> v0=a1b2c3{code:02x}"], GFX)
        for byte in range(4):
            code = f.stochastic(0xbf812345, 0x12345678, low) << 8 * byte | 0xa1b2c3d4 & ~(255 << 8 * byte)
            sel = f" op_sel:[0,0,{byte & 1},{byte >> 1}]" if byte else ""
            c.block(f"v_cvt_sr_{name}_f32 v0, -v4, v8{sel}", [f"v4=3f812345 v8=12345678 v0=a1b2c3d4 -> v0={code:08x}"], GFX)


# ---- memory

def halves(f, pairs):
    """Memory, data and the sum of packed numbers."""
    out = []
    for m, d in pairs:
        add = lambda x, y: f.round(f.value(x) + f.value(y), zero_sign=f.negative(x) and f.negative(y) and f.is_zero(x) and f.is_zero(y))
        out.append((m, d, add(m >> 16, d >> 16) << 16 | add(m & 0xffff, d & 0xffff)))
    return out


def atomics(c):
    f16 = halves(F16, [(0x3c004000, 0x42003c00), (0x3c00bc00, 0x10003c00), (0x00018001, 0x00020001), (0x80008000, 0x80000000), (0x7bff0400, 0x7bff8001)])
    bf16 = halves(BF16, [(0x3f804000, 0x40403f80), (0x3f80bf80, 0x3b803f80), (0x3f813f80, 0x3b803b81), (0x00018001, 0x007f0001), (0x80008000, 0x80000000), (0x7f7f4f00, 0x7f7fcf80), (0x3fff4b80, 0x3b80ca00)])
    special = [(0x7f80ff80, 0x7f803f80), (0x3f807f7f, 0xff807b00)]
    special = [(m, d, r) for (m, d), r in zip(special, (0x7f80ff80, 0xff807f80))]
    f32 = [("3f800000", "40000000", "40400000"), ("00000001", "00000001", "00000000"), ("bf800000", "3f800000", "00000000")]
    f32 = [(int(m, 16), int(d, 16), int(r, 16)) for d, m, r in f32]
    for name, cases in (("pk_add_f16", f16), ("pk_add_bf16", bf16 + special), ("add_f32", f32)):
        for prefix, tail in (("flat", ""), ("global", ", off")):
            lines = [f"v[4:5]=mem+10 v8={d:08x} mem[10]={m:08x} -> mem[10]={r:08x}" for m, d, r in cases]
            c.block(f"{prefix}_atomic_{name} v[4:5], v8{tail}", lines, GFX)
            c.block(f"{prefix}_atomic_{name} v0, v[4:5], v8{tail} sc0", [f"{line} v0={m:08x}" for line, (m, _, _) in zip(lines, cases)], GFX, "the cache keeps denormals of halves and flushes those of f32")
        ds = name.replace("add_f32", "")
        for mode, flush in (("000003f0", False), ("00000300", True)):
            if not ds:
                break
            f = F16 if "bf" not in name else BF16
            own = cases
            if flush:
                zero = lambda x: x & 0x8000 if f.is_denormal(x) else x
                both = lambda x: zero(x >> 16) << 16 | zero(x & 0xffff)
                kept = [(m, d) for m, d, _ in cases if not any(f.is_inf(x) for x in (m >> 16, m & 0xffff, d >> 16, d & 0xffff))]
                own = [(m, d, both(r)) for (m, d), (_, _, r) in zip(kept, halves(f, [(both(m), both(d)) for m, d in kept]))]
            kind = name.removeprefix("pk_add_")
            lines = [f"mode={mode} v4=win+10 v8={d:08x} lds[10]={m:08x} -> lds[10]={r:08x}" for m, d, r in own]
            c.block(f"ds_pk_add_{kind} v4, v8", lines, GFX, "in LDS, MODE's field of f16 decides about denormals")
            c.block(f"ds_pk_add_rtn_{kind} v0, v4, v8", [f"{line} v0={m:08x}" for line, (m, _, _) in zip(lines, own)], GFX)
    c.block("flat_atomic_pk_add_bf16 v[4:5], v8", ["v[4:5]=shared+win+10 v8=3f803f80 lds[10]=40004000 -> lds[10]=40404040"], GFX)
    c.block("flat_atomic_add_f32 v[4:5], v8", ["mode=000003f0 v[4:5]=shared+win+10 v8=00000001 lds[10]=00000001 -> lds[10]=00000002", "mode=00000300 v[4:5]=shared+win+10 v8=00000001 lds[10]=00000001 -> lds[10]=00000000"], GFX,
            "through the aperture as in LDS")
    raw = "s[4:5]=mem0 s6=00004000 s7=00024fac v4=win+10"
    c.block("buffer_atomic_add_f32 v8, v4, s[4:7], 0 offen sc0", [f"{raw} v8={d:08x} mem[10]={m:08x} -> mem[10]={r:08x} v8={m:08x}" for m, d, r in f32], GFX)
    c.block("buffer_atomic_pk_add_f16 v8, v4, s[4:7], 0 offen sc0", [f"{raw} v8={d:08x} mem[10]={m:08x} -> mem[10]={r:08x} v8={m:08x}" for m, d, r in f16], GFX)
    for text in ("buffer_wbl2 sc0 sc1", "buffer_inv sc1", "buffer_wbl2", "buffer_inv"):
        c.block(text, ["v0=1 ->", "exec=0 ->"], GFX)


def loads_to_lds(c):
    sizes = (("ubyte", "80", "00000080"), ("sbyte", "80", "ffffff80"), ("ushort", "ff80", "0000ff80"), ("sshort", "8001", "ffff8001"), ("dword", "12345678", "12345678"))
    for name, memory, value in sizes:
        c.block(f"global_load_lds_{name} v[4:5], off", [f"exec=1 m0=20 v[4:5]=buf buf[0]={memory} -> group[20]={value}", f"exec=1 m0=00000023 v[4:5]=buf buf[0]={memory} -> group[20]={value}"], GFX, "M0[17:2], then four bytes a lane")
        c.block(f"scratch_load_lds_{name} v4, off", [f"exec=1 s[102:103]=scratch m0=20 v4=10 scr[10]={memory} -> group[20]={value}", f"exec=1 s[102:103]=scratch m0=00000023 v4=14 scr[14]={memory} -> group[20]={value}"], GFX)
    c.block("global_load_lds_dword v4, s[4:5] offset:16", ["exec=1 m0=10 s[4:5]=buf v4=4 buf[14]=11223344 -> group[20]=11223344"], GFX, "the offset is added on both sides")
    c.block("global_load_lds_dword v[4:5], off", ["exec=6 m0=20 v[4:5]=buf buf[0]=11223344 -> group[24]=1122334411223344", "exec=3 ldssize=40 m0=3c v[4:5]=buf buf[0]=11223344 -> group[3c]=11223344", "exec=1 m0=20 v[4:5]=8 -> fault: memory"], GFX)


def scratch(c):
    base = "s[102:103]=scratch"
    c.block("scratch_load_dword v0, v4, s3 offset:4", [f"{base} v4=8 s3=00000010 scr[1c]=12345678 -> v0=12345678", f"{base} v4=fffffff8 s3=00000010 scr[c]=12345678 -> v0=12345678"], GFX, "both offsets are added")
    c.block("scratch_load_dword v0, v4, off", [f"{base} v4=10 scr[10]=12345678 -> v0=12345678"], GFX)
    c.block("scratch_load_dword v0, off, s3", [f"{base} s3=00000010 scr[10]=12345678 -> v0=12345678"], GFX)
    c.block("scratch_load_dwordx2 v[0:1], off, off offset:16", [f"{base} v4=ffff scr[10]=0123456789abcdef -> v[0:1]=0123456789abcdef"], GFX, "neither")
    c.block("scratch_store_dword v4, v8, s3", [f"{base} v4=8 s3=00000008 v8=12345678 -> scr[10]=12345678"], GFX)
    c.block("scratch_store_byte off, v8, off offset:3", [f"{base} v8=12345678 -> scr[3]=78"], GFX)
    c.block("s_getreg_b32 s0, hwreg(HW_REG_XCC_ID)", ["s0=1 -> s0=00000000"], GFX)


# ---- matrices

class New(Shape):
    """A shape with the names of gfx942."""

    def __init__(self, size, k, blocks, kind, sparse=False):
        kinds = {"fp8": FP8, "bf8": BF8, "xf32": F32}
        a, _, b = kind.partition("_")
        self.size, self.k, self.blocks, self.kind, self.new = size, k, blocks, kind, True
        self.type, self.sparse = a, sparse
        self.format = kinds.get(a) or matrix.NAMES.get(a)
        self.format_b = kinds.get(b) or self.format
        self.bits = 8 if a == "i8" else self.format.bits
        self.sum_bits = 64 if a == "f64" else 32
        self.sum_format = {"i8": None, "f64": F64}.get(a, F32)
        self.held = k * size * blocks // 64
        self.factor_regs = self.held * self.bits // 32
        self.sum_regs = size * size * blocks * self.sum_bits // 32 // 64
        result = {"i8": "i32", "f64": "f64"}.get(a, "f32")
        several = f"{blocks}b_" if blocks > 1 else ""
        self.name = f"v_{'smfmac' if sparse else 'mfma'}_{result}_{size}x{size}x{k}_{several}{kind}"

    def bits_of_b(self, value):
        return value & 0xff if self.type == "i8" else self.format_b.round(Fraction(value))


SHAPES = [
    (32, 1, 2, "f32"), (16, 1, 4, "f32"), (4, 1, 16, "f32"), (32, 2, 1, "f32"), (16, 4, 1, "f32"),
    (32, 4, 2, "f16"), (16, 4, 4, "f16"), (4, 4, 16, "f16"), (32, 8, 1, "f16"), (16, 16, 1, "f16"),
    (32, 4, 2, "i8"), (16, 4, 4, "i8"), (4, 4, 16, "i8"), (32, 16, 1, "i8"), (16, 32, 1, "i8"),
    (32, 4, 2, "bf16"), (16, 4, 4, "bf16"), (4, 4, 16, "bf16"), (32, 8, 1, "bf16"), (16, 16, 1, "bf16"),
    (16, 4, 1, "f64"), (4, 4, 4, "f64"), (16, 8, 1, "xf32"), (32, 4, 1, "xf32"),
]
SHAPES += [(size, k, 1, f"{a}_{b}") for size, k in ((16, 32), (32, 16)) for a in ("bf8", "fp8") for b in ("bf8", "fp8")]
SPARSE = [(16, 32, "f16"), (32, 16, "f16"), (16, 32, "bf16"), (32, 16, "bf16"), (16, 64, "i8"), (32, 32, "i8")]
SPARSE += [(size, k, f"{a}_{b}") for size, k in ((16, 64), (32, 32)) for a in ("bf8", "fp8") for b in ("bf8", "fp8")]


def parts(shape, f, x):
    """Value and exponent of an element."""
    if shape.type == "xf32":
        x &= ~0x1fff
    v = f.value(x)
    least = {F16: -14, FP8: -7, BF8: -15}.get(f, -126)
    return v, max(floor_log2(v), least) if v else None


def chunk(shape, c, pairs):
    """A sum with products that are added up together."""
    tiny = shape.bits == 8
    totals = []
    for group in (pairs[0::2], pairs[1::2]) if tiny else (pairs,):
        terms = [(x[0] * y[0], x[1] + y[1]) for x, y in group if x[0] and y[0]]
        if terms:
            top = max(e for _, e in terms)
            totals.append((sum(trunc_to(p, top - 24) for p, _ in terms), top))
    v = F32.value(c)
    own = max(floor_log2(v), -126) if v else -126
    top = max([e for _, e in totals], default=None)
    total = sum((floor_to(t, top - 24) if tiny else t for t, _ in totals), Fraction(0))
    high = own if top is None else max(top, own)
    if tiny and own < high - 25:
        v = Fraction(0)
    s = floor_to(total, high - 32) + floor_to(v, high - 24)
    if s:
        s = floor_to(s, max(floor_log2(s), -126) - 31)
    return F32.round(s)


def added(shape, gfx, c, a, b):
    """The sum with all products of a row and a column, as bits."""
    f, g = shape.format, shape.format_b
    if shape.type == "i8":
        return c + sum(signed(x, 8) * signed(y, 8) for x, y in zip(a, b)) & mask(32)
    if shape.type in ("f32", "f64"):
        for x, y in zip(a, b):
            c = fused(f, c, x, y)
        return c
    most = {"f16": 8, "bf16": 8, "xf32": 4}.get(shape.type, 16)
    pairs = [(parts(shape, f, x), parts(shape, g, y)) for x, y in zip(a, b)]
    for at in range(0, len(pairs), most):
        c = chunk(shape, c, pairs[at:at + most])
    return c


def awkward(shape, random):
    if shape.bits == 8 and shape.type != "i8":
        code = lambda: random.pick([x for x in range(256) if x != 0x80])
        a, b = [code() for _ in range(shape.k)], [code() for _ in range(shape.k)]
        c = F32.round(Fraction(random.next() | 1 << 32, 1 << 32) * Fraction(2) ** (random.below(40) - 20) * random.pick([1, -1]))
        return a, b, c
    return matrix.awkward(shape, random)


def of_b(shape, case):
    """Factors of B in their own format: those of a case are as those of A."""
    if shape.format is not shape.format_b:
        case.b = {place: shape.bits_of_b(shape.format.value(bits)) for place, bits in case.b.items()}
    return case


def text(shape, files="vva", c=None, fields="", in_place=False):
    a, b, cd = files
    d = span(cd, D, shape.sum_regs)
    c = c or span(cd, D if in_place else C, shape.sum_regs)
    return f"{shape.name} {d}, {span(a, A, shape.factor_regs)}, {span(b, B, shape.factor_regs)}, {c}{fields}"


def products(c):
    for number, fields in enumerate(SHAPES):
        shape, random = New(*fields), Random(number + 101)
        line = lambda case, **more: of_b(shape, case).line("gfx942", prefix=False, **more)
        c.block(text(shape), [line(whole(shape, random, n)) for n in (4, 8)], GFX)
        check = []
        if shape.format and max(abs(x) for x in CHECK[0]) <= 57344 and shape.format is not FP8 and shape.format_b is not FP8:
            check = [element(shape, random, *[[shape.format.round(Fraction(x)) for x in side] for side in CHECK[:2]], shape.sum_format.round(Fraction(CHECK[2])))]
        lines = [case.line("gfx942", prefix=False, in_place=True) for case in check + [element(shape, random, *awkward(shape, random)) for _ in range(6)]]
        c.block(text(shape, in_place=True), lines, GFX, "rounding, in place")
        if shape.format and shape.bits > 8:
            c.block(text(shape), special_lines(shape, random), GFX)
        constant = (-4 & mask(32), "-4") if shape.type == "i8" else (shape.sum_format.round(Fraction(-4)), "-4.0")
        c.block(text(shape, c=constant[1]), [line(whole(shape, random, 3), constant=constant[0])], GFX)
        for files in ("ava", "vav"):
            c.block(text(shape, files), [line(whole(shape, random, 3), files=files)], GFX)
        if shape.type == "f64":
            for neg in (1, 2, 4, 7):
                case = whole(shape, random, 4)
                negated = Case(shape)
                flip = lambda elements, bit: {place: bits ^ (1 << 63 if neg >> bit & 1 else 0) for place, bits in elements.items()}
                negated.a, negated.b, negated.c = flip(case.a, 0), flip(case.b, 1), flip(case.c, 2)
                # Zeros are negated as well.
                zero = 1 << 63 if neg >> 2 & 1 else 0
                sums = negated.sums("gfx942", (0, 0, 0), zero)
                inputs = case.factors("v", A, case.a) + case.factors("v", B, case.b) + case.registers("a", C, case.c, 0)
                lanes = [f"a[{D}:{D + shape.sum_regs - 1}].all=?"]
                for place, bits in sorted(sums.items()):
                    if F64.is_zero(bits):
                        continue
                    lane, item = shape.sum(*place)
                    lanes += [f"a{D + 2 * item + n}[{lane}]={bits >> 32 * n & mask(32):08x}" for n in range(2)]
                c.block(text(shape, fields=f" neg:[{neg & 1},{neg >> 1 & 1},{neg >> 2}]"), [f"{' '.join(inputs)} -> {' '.join(lanes)}"], GFX, "negations of A, B and C")
            continue
        for blgp in (1, 2, 3, 4, 5, 6, 7):
            if blgp in (1 + number % 7, 1 + (number + 3) % 7):
                c.block(text(shape, fields=f" blgp:{blgp}"), [line(spread(shape, random), fields=(0, 0, blgp))], GFX)
        for cbsz in range(1, shape.blocks.bit_length()):
            abid = random.below(1 << cbsz)
            c.block(text(shape, fields=f" cbsz:{cbsz}" + (f" abid:{abid}" if abid else "")), [line(spread(shape, random), fields=(cbsz, abid, 0))], GFX)
    shape = New(16, 32, 1, "i8")
    case = Case(shape)
    for k in range(32):
        case.a[0, 3, k], case.b[0, 5, k] = 0x80, 0x80
    case.c[0, 3, 5] = 0x7fff0000
    line = case.line("gfx942", prefix=False)
    place = shape.sum(0, 3, 5)
    c.block(text(shape), [line, "mode=008003f0 " + line.rpartition("=")[0] + "=7fffffff"], GFX, "FP16_OVFL limits sums")


def sparse(c):
    index = 200
    for number, (size, k, kind) in enumerate(SPARSE):
        shape, random = New(size, k, 1, kind, sparse=True), Random(number + 201)
        half = shape.held // 2
        sets = 16 // half
        for fields in [(0, n) for n in range(sets)] + [(1, 1)]:
            cbsz, abid = fields
            set_ = abid if cbsz == 0 else 0
            a, b, sums = {}, Case(shape), Case(shape)
            words = {lane: random.next() for lane in range(64)}
            dense = {}
            code = (lambda: random.pick([1, 2, 0xff, 0xfd, 0x7f])) if kind == "i8" else (lambda: shape.format.round(Fraction(random.pick([1, -2, 3, 5]), random.pick([1, 2, 4]))))
            code_b = (lambda: random.pick([1, 2, 0xff, 0x80])) if kind == "i8" else (lambda: shape.format_b.round(Fraction(random.pick([1, -2, 3, 7]), random.pick([1, 2, 4]))))
            i, j = random.below(size), random.below(size)
            for lane in range(i, 64, size):
                for pair in range(half // 2):
                    first = random.below(3)
                    places = first, first + 1 + random.below(3 - first)
                    for n, at in enumerate(places):
                        item = 2 * pair + n
                        shift = 2 * (half * set_ + item)
                        words[lane] = words[lane] & ~(3 << shift) | at << shift
                        a[lane, item] = code()
                        dense[lane // size * shape.held + 4 * pair + at] = a[lane, item]
            for at in range(k):
                b.b[0, j, at] = code_b()
            start = F32.round(Fraction(random.below(99) - 50, 8)) if kind != "i8" else random.next()
            sums.c[0, i, j] = start
            ks = sorted(dense)
            d = added(shape, "gfx942", start, [dense[n] for n in ks], [b.b[0, j, n] for n in ks])
            registers = {}
            for (lane, item), bits in a.items():
                at = item * shape.bits
                registers[A + at // 32, lane] = registers.get((A + at // 32, lane), 0) | bits << at % 32
            inputs = [f"v{A + n}=0" for n in range(shape.factor_regs // 2)] + [f"v{word}[{lane}]={value:x}" for (word, lane), value in sorted(registers.items())]
            inputs += b.factors("v", B, b.b) + sums.registers("a", D, sums.c, 0)
            inputs += [f"v{index}[{lane}]={words[lane]:08x}" for lane in range(i, 64, size)]
            lane, item = shape.sum(0, i, j)
            modifiers = (f" cbsz:{cbsz}" if cbsz else "") + (f" abid:{abid}" if abid else "")
            name = f"{shape.name} {span('a', D, shape.sum_regs)}, {span('v', A, shape.factor_regs // 2)}, {span('v', B, shape.factor_regs)}, v{index}{modifiers}"
            outputs = [f"a[{D}:{D + shape.sum_regs - 1}].all=?", f"a{D + item}[{lane}]={d:08x}"]
            c.block(name, [f"{' '.join(inputs)} -> {' '.join(outputs)}"], GFX, "open point: numerics of sparse products" if number == 0 and fields == (0, 0) else None)


def main():
    matrix.added = added
    c = Chapter("gfx942", __doc__)
    moves(c)
    eight_bits(c)
    atomics(c)
    loads_to_lds(c)
    scratch(c)
    c.write()
    c = Chapter("gfx942_matrix", "Matrix products of gfx942; see tests/cases/make/gfx942.py.")
    products(c)
    sparse(c)
    c.write()


if __name__ == "__main__":
    main()
