"""VOPC: vector compares. The mask is written whole; inactive lanes give 0."""

import floats as fl
from case import Chapter, EDGE16, EDGE32, EDGE64, hexed, mask, reg, signed, tuples
from floats import DEFAULT, F16, F32, F64, Mode
from vector import GFX67, GFX8, GFX9, JUNK

INT = {"f": lambda c: False, "lt": lambda c: c < 0, "eq": lambda c: c == 0, "le": lambda c: c <= 0, "gt": lambda c: c > 0, "ne": lambda c: c != 0, "ge": lambda c: c >= 0, "t": lambda c: True}
FLOAT = {"f": lambda c: False, "lt": lambda c: c == -1, "eq": lambda c: c == 0, "le": lambda c: c in (-1, 0), "gt": lambda c: c == 1, "lg": lambda c: c in (-1, 1), "ge": lambda c: c in (0, 1),
         "o": lambda c: c is not None, "u": lambda c: c is None, "nge": lambda c: c not in (0, 1), "nlg": lambda c: c not in (-1, 1), "ngt": lambda c: c != 1, "nle": lambda c: c not in (-1, 0),
         "neq": lambda c: c != 0, "nlt": lambda c: c != -1, "tru": lambda c: True}


def block(c, name, bits, pairs, fn, targets, exec_too, few=6):
    regs = [reg("v", 4, bits), reg("v", 8, bits)]
    for form, out in (("e32", "vcc"), ("e64", "s[2:3]")):
        lines = []
        for a, b in pairs if form == "e32" else pairs[:few]:
            r = int(fn(a, b))
            values = [v | JUNK if bits == 16 else v for v in (a, b)]
            tail = f" exec.lane={r}" if exec_too else ""
            lines.append(f"{regs[0]}={hexed(values[0], max(bits, 32))} {regs[1]}={hexed(values[1], max(bits, 32))} -> {out}.lane={r}{tail}")
        c.block(f"{name}_{form} {out}, {regs[0]}, {regs[1]}", lines, targets)


def main():
    c = Chapter("vopc", __doc__)
    for bits, edges in ((32, EDGE32), (64, EDGE64), (16, EDGE16)):
        pairs = tuples([edges, edges], 12, 31 + bits, [(0, 0), (1, 2), (2, 1), (mask(bits), 1), (1, mask(bits)), (1 << bits - 1, mask(bits - 1)), (mask(bits - 1), 1 << bits - 1), (5, 5)])
        for kind in "iu":
            for op, test in INT.items():
                def fn(a, b, kind=kind, test=test, bits=bits):
                    x, y = (signed(a, bits), signed(b, bits)) if kind == "i" else (a, b)
                    return test((x > y) - (x < y))
                for prefix in ("v_cmp", "v_cmpx"):
                    block(c, f"{prefix}_{op}_{kind}{bits}", bits, pairs, fn, GFX8 if bits == 16 else None, prefix == "v_cmpx")
    for f, kind in ((F32, "f32"), (F64, "f64"), (F16, "f16")):
        one, nan = f.one, f.nan
        pairs = [(0, f.sign), (one, one), (one, one | f.sign), (one | f.sign, one), (nan, one), (one, nan), (nan | f.sign, nan), (f.inf | 1, one), (f.inf, f.max), (f.inf | f.sign, f.max | f.sign), (1, 0), (f.sign | 1, 1), (1, 2), (one, one + 1), (f.inf, f.inf)]
        for op, test in FLOAT.items():
            fn = lambda a, b, test=test: test(fl.compare(f, a, b))
            for prefix in ("v_cmp", "v_cmpx") + (("v_cmps", "v_cmpsx") if f is not F16 else ()):
                block(c, f"{prefix}_{op}_{kind}", f.bits, pairs, fn, GFX8 if f is F16 else GFX67 if "s" in prefix[5:] else None, "x" in prefix)
        # Sources are flushed by MODE; modifiers; CLAMP has no effect.
        regs = [reg("v", 4, f.bits), reg("v", 8, f.bits)]
        targets = GFX8 if f is F16 else None
        for mode in (0x300, 0x3a0, 0x350):
            lines = [f"mode={mode:08x} {regs[0]}={hexed(a, max(32, f.bits))} {regs[1]}={hexed(b, max(32, f.bits))} -> vcc.lane={int(fl.compare(f, a, b, Mode(mode)) == 0)}" for a, b in ((1, 0), (1, 2), (f.sign | 1, 0), (f.sign | 5, 7), (1 << f.mbits, 0))]
            c.block(f"v_cmp_eq_{kind}_e32 vcc, {regs[0]}, {regs[1]}", lines, targets, "denormal sources are flushed by MODE")
        few = pairs[:8]
        c.block(f"v_cmp_lt_{kind}_e64 s[2:3], -{regs[0]}, |{regs[1]}|", [f"{regs[0]}={hexed(a, max(32, f.bits))} {regs[1]}={hexed(b, max(32, f.bits))} -> s[2:3].lane={int(fl.compare(f, a ^ f.sign, b & ~f.sign) == -1)}" for a, b in few], targets)
        c.block(f"v_cmp_gt_{kind}_e64 s[2:3], |{regs[0]}|, -|{regs[1]}|", [f"{regs[0]}={hexed(a, max(32, f.bits))} {regs[1]}={hexed(b, max(32, f.bits))} -> s[2:3].lane={int(fl.compare(f, a & ~f.sign, b | f.sign) == 1)}" for a, b in few], targets)
        # Classes: sNaN, qNaN, -inf, -normal, -denormal, -0, +0, +denormal, +normal, +inf.
        classes = [f.inf | 1, f.nan, f.inf | f.sign, one | f.sign, 1 | f.sign, f.sign, 0, 1, one, f.inf]
        for exec_too in (False, True):
            name = f"v_cmp{'x' if exec_too else ''}_class_{kind}"
            out = "vcc"
            sreg = regs[0]
            lines = []
            for i, x in enumerate(classes):
                for m in (1 << i, 0x3ff & ~(1 << i), 0x3ff, 0, 0xfffffc00 | 1 << (i + 1) % 10):
                    r = m >> i & 1
                    m16 = m & 0xffff | JUNK if f is F16 else m
                    tail = f" exec.lane={r}" if exec_too else ""
                    lines.append(f"{sreg}={hexed(x, max(32, f.bits))} v8={m16:08x} -> {out}.lane={r}{tail}")
            c.block(f"{name}_e32 vcc, {sreg}, v8", lines, targets, "raw bits")
            c.block(f"{name}_e64 s[2:3], {sreg}, v8", [line.replace("vcc.lane", "s[2:3].lane") for line in lines[:12]], targets)
        c.block(f"v_cmp_class_{kind}_e32 vcc, {regs[0]}, v8", [f"mode=00000300 {regs[0]}={hexed(x, max(32, f.bits))} v8={m:08x} -> vcc.lane={r}" for x, m, r in ((1, 0x80, 1), (1, 0x40, 0), (f.sign | 1, 0x10, 1), (f.sign | 1, 0x20, 0))], targets, "no flush of denormals")
        c.block(f"v_cmp_class_{kind}_e64 s[2:3], -|{regs[0]}|, v8", [f"{regs[0]}={hexed(x, max(32, f.bits))} v8={m:08x} -> s[2:3].lane={r}" for x, m, r in ((one, 8, 1), (one, 0x100, 0), (f.inf, 4, 1), (f.sign, 0x20, 1), (1, 0x10, 1))], targets, "modifiers apply first")
    c.block("v_cmp_eq_u32_e32 vcc, 5, v8", ["v8=5 -> vcc.lane=1", "v8=6 -> vcc.lane=0"])
    c.block("v_cmp_lt_f32_e32 vcc, 0.5, v8", ["v8=3f800000 -> vcc.lane=1", "v8=3f000000 -> vcc.lane=0"])
    c.block("v_cmp_lt_f64_e32 vcc, 0.5, v[8:9]", ["v[8:9]=3ff0000000000000 -> vcc.lane=1", "v[8:9]=3fe0000000000000 -> vcc.lane=0"])
    c.block("v_cmp_eq_u32_e64 vcc, s2, v8", ["s2=5 v8=5 -> vcc.lane=1", "s2=5 v8=6 -> vcc.lane=0"])
    c.block("v_cmpx_lt_u32_e32 vcc, v4, v8 ; v_mov_b32_e32 v0, v4", ["v4[0]=1 v8[0]=2 v4[1]=2 v8[1]=1 exec=3 -> vcc=1 exec=1 v0[0]=00000001", "v4[0]=1 v8[0]=2 v4[1]=2 v8[1]=1 exec=2 -> vcc=0 exec=0"],
            note="EXEC acts on the next instruction")
    c.write()


if __name__ == "__main__":
    main()
