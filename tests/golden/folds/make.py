#!/usr/bin/env python3
"""Remakes the files *.folds of this folder: what LLVM's `opt` makes of calls of intrinsics with
constant arguments, beside the instructions that the intrinsics stand for.

Needs opt-19 and llvm-mc-19. Each pair of intrinsic and inputs becomes a function that returns
nothing but the call; what `-passes=instcombine` leaves in its `ret` is the result. Inputs that LLVM
leaves alone, or for which it says what its own comments disclaim (see the reasons in the tables
below), are not written. `not_folded.txt` lists the intrinsics that LLVM never folds; the script
tries them, so that the list stays true.

    [name] types -> type; rule             see tests/exec/folds.rs
    targets: words ; text                  one line for each encoding
    input ... = result                     hexadecimal; `nan` is any NaN
"""
import os
import random
import re
import struct
import subprocess
import sys
from fractions import Fraction

HERE = os.path.dirname(os.path.abspath(__file__))
TARGETS = ["gfx600", "gfx700", "gfx803", "gfx900", "gfx906"]
OLD, GFX7, GFX8, GFX9 = TARGETS, TARGETS[1:], TARGETS[2:], TARGETS[3:]
COUNT = 128

# ---- types: name -> (bits, LLVM type, fraction bits of floats) -------------------------------------

TYPES = {
    "f16": (16, "half", 10), "f32": (32, "float", 23), "f64": (64, "double", 52),
    "i1": (1, "i1", None), "i16": (16, "i16", None), "i32": (32, "i32", None), "i64": (64, "i64", None),
    "v2f16": (32, "<2 x half>", None), "v2i16": (32, "<2 x i16>", None),
}


def bits(t):
    return TYPES[t][0]


def is_float(t):
    return TYPES[t][2] is not None


def infinity(t):
    n, f = bits(t), TYPES[t][2]
    return ((1 << (n - 1 - f)) - 1) << f


def magnitude(t, x):
    return x & ((1 << (bits(t) - 1)) - 1)


def is_nan(t, x):
    return is_float(t) and magnitude(t, x) > infinity(t)


def is_denormal(t, x):
    return is_float(t) and 0 < magnitude(t, x) < 1 << TYPES[t][2]


def is_zero(t, x):
    return magnitude(t, x) == 0


def value(t, x):
    """The number as a fraction; finite only."""
    n, f = bits(t), TYPES[t][2]
    m = magnitude(t, x)
    field, low = m >> f, m & ((1 << f) - 1)
    bias = (1 << (n - 2 - f)) - 1
    v = Fraction(low if field == 0 else low | 1 << f) * Fraction(2) ** (max(field, 1) - bias - f)
    return -v if x >> (n - 1) else v


def of_float(t, x):
    return int.from_bytes(struct.pack({"f16": "<e", "f32": "<f", "f64": "<d"}[t], x), "little")


# ---- inputs -----------------------------------------------------------------------------------------

def some_float(r, t, nans=True):
    n, f = bits(t), TYPES[t][2]
    unit, top = 1 << f, infinity(t)
    one = (top >> 1) >> f << f
    sign = r.getrandbits(1) << (n - 1)
    kind = r.randrange(14)
    if kind == 0:
        below = 0
    elif kind == 1:
        below = r.choice([1, 2, unit - 1, unit, unit + 1])
    elif kind == 2:
        below = r.choice([top, top, top - 1])
    elif kind == 3:
        below = top | unit >> 1 | r.getrandbits(f - 1) if nans else r.randrange(top)
    elif kind == 4:
        below = r.randrange(unit)
    elif kind == 5:  # halves, quarters
        below = of_float(t, r.randrange(64) / r.choice([1, 2, 4, 8]))
    elif kind == 6:
        below = one + r.randrange(-2, 3)
    elif kind == 7:
        below = r.randrange(top) >> f << f
    elif kind == 8:  # near the edges of integer types
        power = r.choice([7, 8, 15, 16, 31, 32, 52, 63]) if t != "f16" else r.choice([7, 8, 11, 14, 15])
        below = one + (power << f) + r.choice([-2, -1, 0, 1, r.randrange(unit)])
    elif kind in (9, 10, 11):
        below = one + (r.randrange(-4, 5) << f) + r.randrange(unit)
    else:
        below = r.randrange(top)
    return sign | below


def some_int(r, n):
    power = 1 << r.randrange(n)
    near = r.randrange(-2, 3)
    kind = r.randrange(5)
    x = [near, power + near, -power + near, r.getrandbits(n) >> r.randrange(n), r.getrandbits(n)][kind]
    return x & ((1 << n) - 1)


def some(r, t, nans=True):
    if t == "v2i16":
        return some_int(r, 16) | some_int(r, 16) << 16
    return some_float(r, t, nans) if is_float(t) else some_int(r, bits(t))


class Fold:
    """An intrinsic, the instructions for it, and inputs."""

    def __init__(self, name, ins, out, instructions, ir=None, rule="exact", inputs=None, keep=None,
                 nans=True, count=COUNT, args=None):
        self.name, self.ins, self.out, self.rule = name, ins, out, rule
        self.instructions = instructions  # [(targets, text)]
        self.ir = ir or self.call
        self.args = args or []  # more LLVM arguments behind the inputs
        r = random.Random("folds " + name)
        seen = set()
        rows = list(inputs or [])
        while len(rows) < (count if inputs is None else len(inputs)):
            row = tuple(some(r, t, nans) for t in ins)
            if row not in seen and (keep is None or keep(*row)):
                seen.add(row)
                rows.append(row)
        self.rows = rows

    def call(self, args):
        result = TYPES[self.out][1]
        declared = [a.rsplit(" ", 1)[0] for a in self.args]
        types = ", ".join([TYPES[t][1] for t in self.ins] + declared)
        given = ", ".join(list(args) + self.args)
        return [f"%r = call {result} @llvm.{self.name}({given})"], \
            f"declare {result} @llvm.{self.name}({types})"


def literal(t, x):
    n, llvm, _ = TYPES[t]
    if llvm.startswith("<"):
        return f"{llvm} bitcast (i32 {x} to {llvm})"
    return f"{llvm} bitcast (i{n} {x} to {llvm})" if is_float(t) else f"{llvm} {x}"


def fold(folds):
    """Fills `results` of each: one for each row, None where LLVM does not fold."""
    lines = ['target triple = "amdgcn-amd-amdhsa"']
    declared, functions = set(), []
    for f in folds:
        f.results = []
        for row in f.rows:
            body, declaration = f.ir([literal(t, x) for t, x in zip(f.ins, row)])
            if declaration:
                declared.add(declaration)
            n, llvm, _ = TYPES[f.out]
            if llvm != f"i{n}":
                body = body + [f"%bits = bitcast {llvm} %r to i{n}", f"ret i{n} %bits"]
            else:
                body = body + [f"ret i{n} %r"]
            lines.append(f"define i{n} @f{len(functions)}() #0 {{")
            lines += body + ["}"]
            functions.append(f)
    lines += sorted(declared) + ['attributes #0 = { "target-cpu"="gfx906" }']
    run = subprocess.run(["opt-19", "-S", "-mcpu=gfx906", "-passes=instcombine"], input="\n".join(lines),
                         capture_output=True, text=True)
    if run.returncode:
        sys.exit(run.stderr[:4000])
    texts = dict(re.findall(r"define \S+ @f(\d+)\(\)[^{]*\{\n((?:.|\n)*?)\n\}", run.stdout))
    for i, f in enumerate(functions):
        body = texts[str(i)].strip().split("\n")
        ret = re.fullmatch(r"\s*ret i\d+ (-?\d+|true|false)", body[-1])
        n = bits(f.out)
        if len(body) != 1 or not ret:
            f.results.append(None)
        else:
            x = {"true": 1, "false": 0}.get(ret[1])
            f.results.append((int(ret[1]) if x is None else x) & ((1 << n) - 1))


def encode(target, text):
    """The words and LLVM's own text of an instruction."""
    run = subprocess.run(["llvm-mc-19", "-triple=amdgcn-amd-amdhsa", f"-mcpu={target}", "-show-encoding"],
                         input=text, capture_output=True, text=True)
    found = re.search(r"^\t(\S.*?)\s*; encoding: \[([^]]*)\]", run.stdout, re.M)
    if run.returncode or not found:
        sys.exit(f"{target} {text}: {run.stderr}")
    data = bytes(int(b, 16) for b in found[2].split(","))
    return " ".join(f"{w:08x}" for (w,) in struct.iter_unpack("<I", data)), found[1]


def write(name, comment, folds):
    fold(folds)
    out = ["# " + line for line in comment]
    total = 0
    for f in folds:
        rows = [(row, x) for row, x in zip(f.rows, f.results) if x is not None]
        if not rows:
            sys.exit(f"{f.name} does not fold")
        out += ["", f"[{f.name}] {' '.join(f.ins)} -> {f.out}; {f.rule}"]
        words = {}
        for targets, text in f.instructions:
            for target in targets:
                words.setdefault(encode(target, text), []).append(target)
        out += [f"{' '.join(targets)}: {w} ; {text}" for (w, text), targets in words.items()]
        for row, x in rows:
            ins = " ".join(f"{v:0{(bits(t) + 3) // 4}x}" for v, t in zip(row, f.ins))
            result = "nan" if is_nan(f.out, x) else f"{x:0{(bits(f.out) + 3) // 4}x}"
            out.append(f"{ins} = {result}")
        total += len(rows)
        print(f"{name} {f.name}: {len(rows)} of {len(f.rows)} folded")
    with open(os.path.join(HERE, name), "w") as file:
        file.write("\n".join(out) + "\n")
    print(f"{name}: {len(folds)} intrinsics, {total} results")


# ---- the instructions: inputs in v0, v2, v4 (s0, s2, s4), results in v8 (s20) ----------------------

def v(op, *types, out="v8", more=""):
    def reg(i, t):
        return f"v[{2 * i}:{2 * i + 1}]" if bits(t) == 64 else f"v{2 * i}"
    return f"{op} {', '.join([out] + [reg(i, t) for i, t in enumerate(types)])}{more}"


def s(op, *types, out="s20"):
    def reg(i, t):
        return f"s[{2 * i}:{2 * i + 1}]" if bits(t) == 64 else f"s{2 * i}"
    return f"{op} {', '.join([out] + [reg(i, t) for i, t in enumerate(types)])}"


V64, S64 = "v[8:9]", "s[20:21]"


def unary(op, names, rule="exact", f16=GFX8, f32=OLD, f64=GFX7, **more):
    """llvm.OP of all float types: `names` is the stem of the instructions."""
    out = []
    for t, targets in (("f16", f16), ("f32", f32), ("f64", f64)):
        if targets:
            text = v(f"{names}_{t}", t, out=V64 if t == "f64" else "v8")
            out.append(Fold(f"{op}.{t}", [t], t, [(targets, text)], rule=rule, **more))
    return out


def cube():
    return [Fold(f"amdgcn.cube{x}", ["f32"] * 3, "f32", [(OLD, v(f"v_cube{x}_f32", *["f32"] * 3))], nans=False)
            for x in ("id", "ma", "sc", "tc")]


def quarter_turns(t):
    out = []
    for n in list(range(-40, 41)) + [256, 255, 1000 if t != "f16" else 200]:
        out.append((of_float(t, n / 4),))
    return out


def legacy():
    f = ["f32"] * 3

    def exact(x, y, z):
        """No rounding of the product and no denormal: fused and unfused are the same."""
        if any(is_denormal("f32", w) for w in (x, y, z)):
            return False
        if any(magnitude("f32", w) >= infinity("f32") for w in (x, y)):
            return True
        p = value("f32", x) * value("f32", y)
        if p != 0 and not Fraction(2) ** -126 <= abs(p) < Fraction(2) ** 128:
            return False
        if magnitude("f32", z) >= infinity("f32"):
            return True
        q = p + value("f32", z)
        if q != 0 and abs(q) < Fraction(2) ** -126:
            return False
        if p == 0 and is_zero("f32", z):
            return True
        top = p.numerator.bit_length() - (p.numerator & -p.numerator).bit_length() + 1 if p else 0
        return top <= 24
    r = random.Random("legacy")
    rows = []
    while len(rows) < COUNT:
        row = tuple(some_float(r, "f32", False) & (~0xfff if r.randrange(4) else ~0) for _ in f)
        if exact(*row):
            rows.append(row)
    return [
        Fold("amdgcn.fmul.legacy", f[:2], "f32", [(OLD, v("v_mul_legacy_f32", *f[:2]))]),
        # GCN has no v_fma_legacy_f32: the unfused one, for products that need no rounding.
        Fold("amdgcn.fma.legacy", f, "f32", [(OLD, v("v_mad_legacy_f32", *f))], inputs=rows),
    ]


def med3():
    def one_zero(t):
        # LLVM does not say which zero it takes; LLVM 19 takes the larger of the other two when the
        # last operand is a NaN, where the hardware takes the smaller.
        return lambda *row: not is_nan(t, row[2]) and len({x for x in row if is_zero(t, x)}) < 2
    return [
        Fold("amdgcn.fmed3.f32", ["f32"] * 3, "f32", [(OLD, v("v_med3_f32", *["f32"] * 3))], keep=one_zero("f32")),
        Fold("amdgcn.fmed3.f16", ["f16"] * 3, "f16", [(GFX9, v("v_med3_f16", *["f16"] * 3))], keep=one_zero("f16")),
    ]


def frexp():
    out = []
    for t, targets in (("f16", GFX8), ("f32", OLD), ("f64", OLD)):
        pair = V64 if t == "f64" else "v8"
        e = "i16" if t == "f16" else "i32"
        out += [
            Fold(f"amdgcn.frexp.mant.{t}", [t], t, [(targets, v(f"v_frexp_mant_{t}", t, out=pair))]),
            Fold(f"amdgcn.frexp.exp.{e}.{t}", [t], e, [(targets, v(f"v_frexp_exp_{e}_{t}", t))]),
        ]
    return out


def ldexp():
    out = []
    for t, targets in (("f16", GFX8), ("f32", OLD), ("f64", OLD)):
        e = "i16" if t == "f16" else "i32"
        span = {"f16": 60, "f32": 320, "f64": 2300}[t]
        r = random.Random("ldexp" + t)
        rows = [(some(r, t), (some_int(r, bits(e)) if r.randrange(5) == 0 else r.randrange(-span, span))
                 & ((1 << bits(e)) - 1)) for _ in range(COUNT)]
        text = v("v_ldexp_" + t, t, e, out=V64 if t == "f64" else "v8")
        out.append(Fold(f"ldexp.{t}.{e}", [t, e], t, [(targets, text)], inputs=rows))
    return out


def classes():
    out = []
    for t, targets in (("f16", GFX8), ("f32", OLD), ("f64", OLD)):
        r = random.Random("class" + t)
        rows = []
        for _ in range(COUNT):
            x = some(r, t)
            if r.randrange(6) == 0:  # signalling
                x = infinity(t) | 1 + r.getrandbits(TYPES[t][2] - 2) | r.getrandbits(1) << (bits(t) - 1)
            rows.append((x, r.choice([r.getrandbits(10), 1 << r.randrange(10), 0x3ff ^ 1 << r.randrange(10)])))
        text = v(f"v_cmp_class_{t}_e64", t, "i32", out=S64)
        out.append(Fold(f"amdgcn.class.{t}", [t, "i32"], "i1", [(targets, text)], inputs=rows, rule="mask"))
    return out


def saturating():
    out = []
    one, two = ["i16"] * 2, ["i32"] * 2
    for op, n16, n32 in (("uadd.sat", "v_add_u16", "v_add_u32"), ("usub.sat", "v_sub_u16", "v_sub_u32"),
                         ("sadd.sat", "v_add_i16", "v_add_i32"), ("ssub.sat", "v_sub_i16", "v_sub_i32")):
        older = GFX8 if op[0] == "u" else GFX9
        form = "_e64" if op[0] == "u" else ""
        out.append(Fold(op + ".i16", one, "i16", [(older, v(n16 + form, *one, more=" clamp"))]))
        texts = [(GFX9, v(n32 + form, *two, more=" clamp"))]
        if op[0] == "u":
            texts.append((["gfx803"], v(n32 + form, *two, out="v8, s[20:21]", more=" clamp")))
        out.append(Fold(op + ".i32", two, "i32", texts))
        packed = n16.replace("v_", "v_pk_")
        out.append(Fold(op + ".v2i16", ["v2i16"] * 2, "v2i16", [(GFX9, v(packed, *["v2i16"] * 2, more=" clamp"))]))
    return out


def counts():
    def nonzero(x):
        return x != 0
    i32, i64 = ["i32"], ["i64"]
    return [
        Fold("bitreverse.i32", i32, "i32", [(OLD, v("v_bfrev_b32", *i32)), (OLD, s("s_brev_b32", *i32))]),
        Fold("bitreverse.i64", i64, "i64", [(OLD, s("s_brev_b64", *i64, out=S64))]),
        # The instructions give -1 for 0.
        Fold("ctlz.i32", i32, "i32", [(OLD, v("v_ffbh_u32", *i32)), (OLD, s("s_flbit_i32_b32", *i32))],
             args=["i1 false"], keep=nonzero),
        Fold("cttz.i32", i32, "i32", [(OLD, v("v_ffbl_b32", *i32)), (OLD, s("s_ff1_i32_b32", *i32))],
             args=["i1 false"], keep=nonzero),
        Fold("ctpop.i32", i32, "i32", [(OLD, v("v_bcnt_u32_b32", *i32, more=", 0")), (OLD, s("s_bcnt1_i32_b32", *i32))]),
        trunc_of("ctlz.i64", s("s_flbit_i32_b64", *i64), ["i1 false"], nonzero),
        trunc_of("cttz.i64", s("s_ff1_i32_b64", *i64), ["i1 false"], nonzero),
        trunc_of("ctpop.i64", s("s_bcnt1_i32_b64", *i64), [], None),
    ]


def trunc_of(name, text, args, keep):
    def ir(given):
        types = ", ".join(["i64"] + [a.rsplit(" ", 1)[0] for a in args])
        return [f"%w = call i64 @llvm.{name}({', '.join(list(given) + args)})", "%r = trunc i64 %w to i32"], \
            f"declare i64 @llvm.{name}({types})"
    return Fold(name, ["i64"], "i32", [(OLD, text)], ir=ir, keep=keep)


def fields():
    out = []
    for sign in "us":
        scalar = "u" if sign == "u" else "i"
        out.append(Fold(f"amdgcn.{sign}bfe.i32", ["i32"] * 3, "i32", [(OLD, v(f"v_bfe_{scalar}32", *["i32"] * 3))],
                        inputs=field_rows(32)))
        # Offset and width in one operand; LLVM takes each modulo the size.
        for n in (32, 64):
            out.append(packed_field(sign, n, f"s_bfe_{scalar}{n}"))
    return out


def field_rows(n):
    r = random.Random(f"fields {n}")
    rows = []
    for _ in range(COUNT):
        offset = r.choice([r.randrange(n), r.randrange(n), 0, n - 1, r.getrandbits(32)])
        width = r.choice([r.randrange(n), r.randrange(n), 0, 1, n - 1, r.getrandbits(32)])
        rows.append((some_int(r, n), offset, width))
    return rows


def packed_field(sign, n, op):
    rows = [(x, offset % n | (width % n) << 16) for x, offset, width in field_rows(n)]
    t = f"i{n}"

    def ir(given):
        x = int(given[1].split()[1])
        return [f"%r = call {t} @llvm.amdgcn.{sign}bfe.{t}({given[0]}, i32 {x & 0xffff}, i32 {x >> 16})"], \
            f"declare {t} @llvm.amdgcn.{sign}bfe.{t}({t}, i32, i32)"
    text = s(op, t, "i32", out=S64 if n == 64 else "s20")
    return Fold(f"amdgcn.{sign}bfe.{t} packed", [t, "i32"], t, [(OLD, text)], ir=ir, inputs=rows)


def cast(op, source, result, targets, instruction, name=None, **more):
    """A conversion that is an LLVM instruction or a saturating intrinsic."""
    a, b = TYPES[source][1], TYPES[result][1]

    def plain(given):
        return [f"%r = {op} {given[0]} to {b}"], None

    def saturating(given):
        return [f"%r = call {b} @llvm.{op}.{result}.{source}({given[0]})"], \
            f"declare {b} @llvm.{op}.{result}.{source}({a})"
    text = v(instruction, source, out=V64 if bits(result) == 64 else "v8")
    return Fold(f"{op}.{result}.{source}", [source], result, [(targets, text)],
                ir=saturating if op.endswith("sat") else plain, **more)


def conversions():
    out = []
    for sign, llvm in (("i", "s"), ("u", "u")):
        out += [
            cast(f"fpto{llvm}i.sat", "f32", "i32", OLD, f"v_cvt_{sign}32_f32"),
            cast(f"fpto{llvm}i.sat", "f64", "i32", OLD, f"v_cvt_{sign}32_f64"),
            cast(f"fpto{llvm}i.sat", "f16", "i16", GFX8, f"v_cvt_{sign}16_f16"),
            cast(f"{llvm}itofp", "i32", "f32", OLD, f"v_cvt_f32_{sign}32"),
            cast(f"{llvm}itofp", "i32", "f64", OLD, f"v_cvt_f64_{sign}32"),
            cast(f"{llvm}itofp", "i16", "f16", GFX8, f"v_cvt_f16_{sign}16"),
        ]
    return out + [
        cast("fptrunc", "f32", "f16", OLD, "v_cvt_f16_f32"),
        cast("fptrunc", "f64", "f32", OLD, "v_cvt_f32_f64"),
        cast("fpext", "f16", "f32", OLD, "v_cvt_f32_f16"),
        cast("fpext", "f32", "f64", OLD, "v_cvt_f64_f32"),
        # NaN payloads of the packed halves are LLVM's own.
        Fold("amdgcn.cvt.pkrtz", ["f32"] * 2, "v2f16",
             [(OLD, v("v_cvt_pkrtz_f16_f32", "f32", "f32"))], nans=False),
    ]


def perm():
    r = random.Random("perm")
    rows = []
    for _ in range(COUNT):
        selector = sum(r.choice([r.randrange(8), r.randrange(16), r.getrandbits(8)]) << 8 * i for i in range(4))
        rows.append((r.getrandbits(32), r.getrandbits(32), selector))
    return Fold("amdgcn.perm", ["i32"] * 3, "i32", [(GFX8, v("v_perm_b32", *["i32"] * 3))], inputs=rows)


def preop():
    r = random.Random("preop")
    rows = []
    for segment in range(32):
        for _ in range(6):
            exponent = r.choice([0, 1023, 1076, 1077, 1078, 1967, 1968, 1969, 2046, r.randrange(2047)])
            x = r.getrandbits(1) << 63 | exponent << 52 | r.getrandbits(52)
            rows.append((x, segment if r.randrange(4) else segment | r.getrandbits(27) << 5))
    return Fold("amdgcn.trig.preop.f64", ["f64", "i32"], "f64", [(OLD, v("v_trig_preop_f64", "f64", "i32", out=V64))],
                inputs=rows)


def specials(t):
    n, top, unit = bits(t), infinity(t), 1 << TYPES[t][2]
    one = (top >> 1) // unit * unit
    rows = [(x | sign << (n - 1),) for sign in (0, 1)
            for x in (0, 1, unit - 1, unit >> 1, top, top | unit >> 1, top - 1, unit, one, one + unit, one + 1)]
    return rows


def normal_results(t):
    """Where a reciprocal neither takes nor gives a denormal."""
    half = (infinity(t) >> TYPES[t][2]) - 3
    return lambda x: not is_denormal(t, x) and (magnitude(t, x) >> TYPES[t][2] <= half or magnitude(t, x) >= infinity(t))


def no_denormal(t):
    return lambda *row: not any(is_denormal(t, x) for x in row)


def fma():
    out = []
    for t, targets in (("f16", GFX8), ("f32", OLD), ("f64", OLD)):
        out.append(Fold(f"fma.{t}", [t] * 3, t, [(targets, v(f"v_fma_{t}", t, t, t, out=V64 if t == "f64" else "v8"))]))
        unlike = lambda x, y, t=t: not (is_zero(t, x) and is_zero(t, y) and x != y)
        for op, name in (("minnum", "min"), ("maxnum", "max")):
            text = v(f"v_{name}_{t}", t, t, out=V64 if t == "f64" else "v8")
            out.append(Fold(f"{op}.{t}", [t] * 2, t, [(targets, text)], keep=unlike))
    return out


def whole_quads():
    i32, i64 = ["i32"], ["i64"]
    return [
        Fold("amdgcn.s.wqm.i32", i32, "i32", [(OLD, s("s_wqm_b32", *i32))]),
        Fold("amdgcn.s.wqm.i64", i64, "i64", [(OLD, s("s_wqm_b64", *i64, out=S64))]),
        Fold("amdgcn.s.quadmask.i32", i32, "i32", [(OLD, s("s_quadmask_b32", *i32))]),
        Fold("amdgcn.s.quadmask.i64", i64, "i64", [(OLD, s("s_quadmask_b64", *i64, out=S64))]),
        Fold("amdgcn.s.bitreplicate", i32, "i64", [(GFX9, s("s_bitreplicate_b64_b32", *i32, out=S64))]),
    ]


def lane_moves():
    i32 = ["i32"]
    return [
        Fold("amdgcn.readfirstlane", i32, "i32", [(OLD, "v_readfirstlane_b32 s20, v0")], rule="uniform",
             ir=lambda g: ([f"%r = call i32 @llvm.amdgcn.readfirstlane.i32({g[0]})"],
                           "declare i32 @llvm.amdgcn.readfirstlane.i32(i32)")),
        Fold("amdgcn.readlane", i32, "i32", [(OLD, "v_readlane_b32 s20, v0, 17")], rule="uniform",
             ir=lambda g: ([f"%r = call i32 @llvm.amdgcn.readlane.i32({g[0]}, i32 17)"],
                           "declare i32 @llvm.amdgcn.readlane.i32(i32, i32)")),
    ]


def main():
    f32, i32 = "f32", "i32"
    turns = lambda t: quarter_turns(t) + [(some(random.Random(f"turn {t} {i}"), t),) for i in range(COUNT)]
    # v_sin_f32 and v_cos_f32 flush denormals, v_sin of -0 is -0 where LLVM has 0, and before gfx9 they
    # are for up to 256 turns.
    small = lambda t: [row for row in turns(t) if magnitude(t, row[0]) <= of_float(t, 256.0)
                       and not is_denormal(t, row[0]) and row[0] != 1 << (bits(t) - 1)]
    write("floats.folds", ["Float operations. MODE has denormals, IEEE and DX10_CLAMP on."],
          cube() + legacy() + med3() + frexp() + ldexp() + classes()
          # The intrinsic's description calls v_fract_f32 buggy before gfx8, v_fract_f64 is so on gfx6.
          + unary("amdgcn.fract", "v_fract", f64=GFX7, f32=GFX8, nans=False)
          + unary("floor", "v_floor") + unary("ceil", "v_ceil") + unary("trunc", "v_trunc") + unary("rint", "v_rndne")
          + fma()
          # v_sqrt_f32 and v_rcp_f32 flush denormals.
          + unary("sqrt", "v_sqrt", f64=OLD, f32=[]) + unary("amdgcn.rcp", "v_rcp", f64=OLD, f32=[])
          + unary("sqrt", "v_sqrt", f64=[], f16=[], keep=no_denormal(f32))
          + unary("amdgcn.rcp", "v_rcp", f64=[], f16=[], keep=normal_results(f32))
          + [Fold(f"amdgcn.{op}.{t}", [t], t, [(targets, v(f"v_{op}_{t}", t))], inputs=small(t), rule="near")
             for op in ("sin", "cos") for t, targets in (("f16", GFX8), ("f32", OLD))]
          + [Fold(f"amdgcn.{op}.{t}", [t], t, [(targets, v(f"v_{name}_{t}", t))], inputs=specials(t))
             for op, name in (("log", "log"), ("exp2", "exp")) for t, targets in (("f16", GFX8), ("f32", OLD))]
          + [preop()])
    write("convert.folds", ["Conversions. MODE rounds to nearest even and has denormals on."], conversions())
    write("integer.folds", ["Integer operations, vector and scalar."],
          [perm()] + fields() + counts()
          + [Fold("fshr.i32", [i32] * 3, i32, [(OLD, v("v_alignbit_b32", *[i32] * 3))])]
          + saturating() + whole_quads() + lane_moves()
          + [Fold(f"{op}.i32", [i32] * 2, i32, [(OLD, v(f"v_{name}", i32, i32)), (OLD, s(f"s_{name}", i32, i32))])
             for op, name in (("umin", "min_u32"), ("umax", "max_u32"), ("smin", "min_i32"), ("smax", "max_i32"))])
    not_folded()


def not_folded():
    """Tries what LLVM does not fold and writes the list."""
    calls = {}

    def call(name, result, *args):
        types = ", ".join(re.match(r"<[^>]*>|\S+", a)[0] for a in args)
        text = f"{result} @llvm.amdgcn.{name}"
        calls[name] = (f"{text}({', '.join(args)})", f"declare {text}({types})", result)
    three = ["i32 305419896", "i32 591751049", "i32 7"]
    for name in ("sad.u8", "sad.hi.u8", "sad.u16", "msad.u8", "lerp", "alignbyte"):
        call(name, "i32", *three)
    call("qsad.pk.u16.u8", "i64", "i64 81985529216486895", "i32 591751049", "i64 7")
    call("mqsad.pk.u16.u8", "i64", "i64 81985529216486895", "i32 591751049", "i64 7")
    call("mqsad.u32.u8", "<4 x i32>", "i64 81985529216486895", "i32 591751049", "<4 x i32> zeroinitializer")
    for name in ("mul.u24.i32", "mul.i24.i32", "mulhi.u24", "mulhi.i24"):
        call(name, "i32", *three[:2])
    for name in ("cvt.pknorm.i16", "cvt.pknorm.u16"):
        call(name, "<2 x i16>", "float 0.5", "float -0.25")
    for name in ("cvt.pk.i16", "cvt.pk.u16"):
        call(name, "<2 x i16>", *three[:2])
    call("cvt.pk.u8.f32", "i32", "float 3.5", "i32 1", "i32 7")
    call("rsq.f32", "float", "float 4.0")
    call("rsq.f64", "double", "double 4.0")
    call("sqrt.f32", "float", "float 4.0")
    call("sqrt.f64", "double", "double 4.0")
    call("div.fmas.f32", "float", "float 3.0", "float 4.0", "float 5.0", "i1 true")
    call("div.fixup.f32", "float", "float 3.0", "float 4.0", "float 5.0")
    call("div.scale.f32", "{ float, i1 }", "float 3.0", "float 4.0", "i1 true")
    call("sffbh.i32", "i32", three[0])
    call("mbcnt.lo", "i32", *three[:2])
    call("mbcnt.hi", "i32", *three[:2])
    call("sdot4", "i32", *three, "i1 false")
    call("udot4", "i32", *three, "i1 false")
    call("sdot8", "i32", *three, "i1 false")
    call("udot8", "i32", *three, "i1 false")
    call("sdot2", "i32", "<2 x i16> <i16 3, i16 4>", "<2 x i16> <i16 5, i16 6>", "i32 7", "i1 false")
    call("udot2", "i32", "<2 x i16> <i16 3, i16 4>", "<2 x i16> <i16 5, i16 6>", "i32 7", "i1 false")
    call("fdot2", "float", "<2 x half> <half 3.0, half 4.0>", "<2 x half> <half 5.0, half 6.0>", "float 7.0", "i1 false")
    call("ds.bpermute", "i32", *three[:2])
    call("update.dpp.i32", "i32", *three[:2], "i32 280", "i32 15", "i32 15", "i1 false")
    call("wave.reduce.umin.i32", "i32", three[0], "i32 0")
    lines = ['target triple = "amdgcn-amd-amdhsa"']
    for i, (text, declaration, result) in enumerate(calls.values()):
        lines += [f"define {result} @f{i}() {{", f"%r = call {text}", f"ret {result} %r", "}"]
    lines += [d for _, d, _ in calls.values()]
    run = subprocess.run(["opt-19", "-S", "-mcpu=gfx906", "-passes=instcombine,instsimplify,early-cse,sccp"],
                         input="\n".join(lines), capture_output=True, text=True)
    if run.returncode:
        sys.exit(run.stderr[:2000])
    out = ["# Intrinsics of which `opt` (LLVM 19, instcombine, instsimplify, early-cse, sccp) leaves a call with",
           "# constant arguments as it is; make.py tries them again. Two more fold and have nothing to compare:",
           "# wave.reduce.umin and wave.reduce.umax of a constant are that constant, and no instruction of GCN."]
    for i, name in enumerate(calls):
        body = re.search(rf"define [^@]*@f{i}\(\)[^{{]*\{{\n((?:.|\n)*?)\n\}}", run.stdout)[1]
        folded = "call" not in body
        print(f"{name}: {'FOLDS' if folded else 'not folded'}")
        if not folded:
            out.append(name)
    with open(os.path.join(HERE, "not_folded.txt"), "w") as file:
        file.write("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
