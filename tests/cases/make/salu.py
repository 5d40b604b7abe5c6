"""Scalar ALU: sop1, sop2, sopc, sopk, sopp."""

from case import Chapter, EDGE32, EDGE64, TARGETS, hexed, mask, reg, signed, tuples

M32, M64 = mask(32), mask(64)
ALL_GFX9 = ["gfx900", "gfx906"]


def bitrev(value, bits):
    return int(f"{value:0{bits}b}"[::-1], 2)


def first_one_low(value):
    return (value & -value).bit_length() - 1 if value else -1


def first_one_high(value, bits):
    return bits - value.bit_length() if value else -1


def first_differing(value, bits):
    sign = value >> (bits - 1)
    for at in range(1, bits):
        if value >> (bits - 1 - at) & 1 != sign:
            return at
    return -1


def quads(value, bits):
    return [value >> at & 15 for at in range(0, bits, 4)]


def wqm(value, bits):
    return sum((15 if quad else 0) << 4 * i for i, quad in enumerate(quads(value, bits)))


def quadmask(value, bits):
    return sum(1 << i for i, quad in enumerate(quads(value, bits)) if quad)


def replicate(value):
    return sum(3 << 2 * i for i in range(32) if value >> i & 1)


def unary(name, dbits, sbits, fn, values, scc=None):
    """fn(value) -> D; scc: None kept, else function of D."""
    lines = []
    for value in values:
        d = fn(value) & mask(dbits)
        tail = "" if scc is None else f" scc={scc(d)}"
        lines.append(f"{reg('s', 2, sbits)}={hexed(value, sbits)} -> {reg('s', 0, dbits)}={hexed(d, dbits)}{tail}")
    return f"{name} {reg('s', 0, dbits)}, {reg('s', 2, sbits)}", lines


def nonzero(d):
    return int(d != 0)


BITS32 = EDGE32 + [0x00000010, 0x0f0f0f0f, 0x80000010]
BITS64 = EDGE64 + [0x0000000000000010, 0x0000001000000000, 0x00f0000000000f00, 0xfffffffeffffffff, 0xffffffffffffffef]


def sop1():
    c = Chapter("sop1", "SOP1: scalar instructions with one source. SCC is kept where no line mentions it.")
    for bits, values in ((32, BITS32), (64, BITS64)):
        b = f"b{bits}"
        c.block(*unary(f"s_mov_{b}", bits, bits, lambda v: v, values[:6]))
        c.block(*unary(f"s_not_{b}", bits, bits, lambda v: ~v, values, nonzero), note="SCC = (D != 0)")
        c.block(*unary(f"s_wqm_{b}", bits, bits, lambda v, n=bits: wqm(v, n), values, nonzero))
        c.block(*unary(f"s_quadmask_{b}", bits, bits, lambda v, n=bits: quadmask(v, n), values, nonzero),
                note="one bit a quad; 64 bits give 16")
        c.block(*unary(f"s_brev_{b}", bits, bits, lambda v, n=bits: bitrev(v, n), values), note="SCC is kept")
        c.block(*unary(f"s_bcnt0_i32_{b}", 32, bits, lambda v, n=bits: n - bin(v).count("1"), values, nonzero))
        c.block(*unary(f"s_bcnt1_i32_{b}", 32, bits, lambda v: bin(v).count("1"), values, nonzero))
        c.block(*unary(f"s_ff0_i32_{b}", 32, bits, lambda v, n=bits: first_one_low(~v & mask(n)), values),
                note="-1 when there is none; SCC is kept")
        c.block(*unary(f"s_ff1_i32_{b}", 32, bits, first_one_low, values))
        c.block(*unary(f"s_flbit_i32_{b}", 32, bits, lambda v, n=bits: first_one_high(v, n), values))
        name = "s_flbit_i32" if bits == 32 else "s_flbit_i32_i64"
        c.block(*unary(name, 32, bits, lambda v, n=bits: first_differing(v, n), values),
                note="first bit that differs from the sign; 0x80000000 gives 1")
    c.block(*unary("s_sext_i32_i8", 32, 32, lambda v: signed(v, 8), [0, 1, 0x7f, 0x80, 0xff, 0x100, 0x12345680, 0xffffff7f]))
    c.block(*unary("s_sext_i32_i16", 32, 32, lambda v: signed(v, 16), [0, 1, 0x7fff, 0x8000, 0xffff, 0x10000, 0x12348000, 0xffff7fff]))
    c.block(*unary("s_abs_i32", 32, 32, lambda v: abs(signed(v, 32)), BITS32, nonzero), note="0x80000000 stays; SCC = (D != 0)")
    c.block(*unary("s_bitreplicate_b64_b32", 64, 32, replicate, BITS32), note="SCC is kept")
    for bits in (32, 64):
        d = reg("s", 0, bits)
        for one in (0, 1):
            lines = []
            for old in (0, mask(bits), 0x123456789abcdef0 & mask(bits)):
                for at in (0, 1, 31, 32, 33, 63, 64, 0xffffffe3):
                    n = at % bits
                    new = old | 1 << n if one else old & ~(1 << n)
                    lines.append(f"s2={at:08x} {d}={hexed(old, bits)} -> {d}={hexed(new, bits)}")
            c.block(f"s_bitset{one}_b{bits} {d}, s2", lines, note="the amount is taken modulo the width; SCC is kept")
        s = reg("s", 2, bits)
        c.block(f"s_cmov_b{bits} {d}, {s}",
                [f"scc=1 {s}={hexed(v, bits)} {d}=5 -> {d}={hexed(v, bits)}" for v in (0, 1, mask(bits))]
                + [f"scc=0 {s}={hexed(v, bits)} {d}=5 ->" for v in (0, mask(bits))], note="SCC = 0: no write")
    # Constants in operands.
    const = [("0", 0, 0), ("64", 64, 64), ("-1", M32, M64), ("-16", M32 - 15, M64 - 15), ("0.5", 0x3f000000, 0x3fe0000000000000),
             ("-0.5", 0xbf000000, 0xbfe0000000000000), ("1.0", 0x3f800000, 0x3ff0000000000000),
             ("-1.0", 0xbf800000, 0xbff0000000000000), ("2.0", 0x40000000, 0x4000000000000000),
             ("-2.0", 0xc0000000, 0xc000000000000000), ("4.0", 0x40800000, 0x4010000000000000),
             ("-4.0", 0xc0800000, 0xc010000000000000), ("0x12345678", 0x12345678, 0x12345678),
             ("0xfffffff0", None, None), ("0x89abcdef", 0x89abcdef, 0x89abcdef)]
    for text, v32, v64 in const:
        if v32 is not None:
            c.block(f"s_mov_b32 s0, {text}", [f"-> s0={v32:08x}"])
            c.block(f"s_mov_b64 s[0:1], {text}", [f"-> s[0:1]={v64:016x}"],
                    note="64-bit operands take f64 constants; literals are zero-extended")
    gfx8 = ["gfx803", "gfx900", "gfx906"]
    c.block("s_mov_b32 s0, 0.15915494", ["-> s0=3e22f983"], gfx8)
    c.block("s_mov_b64 s[0:1], 0.15915494309189532", ["-> s[0:1]=3fc45f306dc9c882"], gfx8)
    for text, register in (("vcc_lo", "vcc_lo"), ("vcc_hi", "vcc_hi"), ("m0", "m0"), ("exec_lo", "exec_lo"), ("exec_hi", "exec_hi")):
        c.block(f"s_mov_b32 {text}, s2", [f"exec=0123456789abcdef s2=80000001 -> {register}=80000001"])
        c.block(f"s_mov_b32 s0, {text}", [f"exec=0123456789abcdef {register}=80000001 -> s0=80000001"]
                if "exec" not in text else
                [f"exec=0123456789abcdef -> s0={'89abcdef' if text == 'exec_lo' else '01234567'}"])
    c.block("s_mov_b64 exec, s[2:3]", ["exec=1 s[2:3]=ffff0000ffff0000 -> exec=ffff0000ffff0000", "exec=f s[2:3]=0 -> exec=0"])
    c.block("s_mov_b64 vcc, exec", ["exec=123456789abcdef0 -> vcc=123456789abcdef0"])
    c.block("s_mov_b32 s0, scc", ["scc=1 -> s0=00000001", "scc=0 -> s0=00000000"])
    c.block(["s_mov_b32 s0, src_vccz", "s_mov_b32 s0, vccz"], ["vcc=0 -> s0=00000001", "vcc=100000000 -> s0=00000000", "vcc=1 -> s0=00000000"])
    c.block(["s_mov_b32 s0, src_execz", "s_mov_b32 s0, execz"], ["exec=0 -> s0=00000001", "exec=8000000000000000 -> s0=00000000"])
    for name in ("shared", "private"):
        c.block(f"s_mov_b64 s[0:1], src_{name}_base", [f"-> s[0:1]={name}"], ALL_GFX9, "the value is in the high dword")
        c.block(f"s_mov_b64 s[0:1], src_{name}_limit", [f"-> s[0:1]={name}+ffffffff"], ALL_GFX9)
        c.block(f"s_mov_b32 s0, src_{name}_base", ["-> s0=00000000"], ALL_GFX9, "32-bit reads give 0")
    # The saveexec family.
    ops = {
        "and": lambda s, e: s & e, "or": lambda s, e: s | e, "xor": lambda s, e: s ^ e,
        "andn2": lambda s, e: s & ~e, "orn2": lambda s, e: s | ~e, "nand": lambda s, e: ~(s & e),
        "nor": lambda s, e: ~(s | e), "xnor": lambda s, e: ~(s ^ e), "andn1": lambda s, e: ~s & e, "orn1": lambda s, e: ~s | e,
    }
    pairs = [(0, 0), (M64, M64), (0, M64), (M64, 0), (0x123456789abcdef0, 0x0f0f0f0ff0f0f0f0), (0x8000000000000000, 0x8000000000000001),
             (0x00000000ffffffff, 0xffffffff00000000)]
    for op, fn in ops.items():
        lines = []
        for s, e in pairs:
            new = fn(s, e) & M64
            lines.append(f"exec={e:016x} s[2:3]={s:016x} -> s[0:1]={e:016x} exec={new:016x} scc={nonzero(new)}")
        c.block(f"s_{op}_saveexec_b64 s[0:1], s[2:3]", lines, note="D = EXEC; EXEC = S0 op EXEC; SCC = (EXEC != 0)")
        lines = [f"exec={e:016x} s[0:1]={s:016x} -> s[0:1]={e:016x} exec={fn(s, e) & M64:016x} scc={nonzero(fn(s, e) & M64)}" for s, e in pairs[4:]]
        c.block(f"s_{op}_saveexec_b64 s[0:1], s[0:1]", lines, note="S0 is read before D is written")
    for op in ("andn1", "andn2"):
        lines = []
        for s, e in pairs:
            new = ops[op](s, e) & M64
            lines.append(f"exec={e:016x} s[2:3]={s:016x} -> s[0:1]={new:016x} exec={new:016x} scc={nonzero(new)}")
        c.block(f"s_{op}_wrexec_b64 s[0:1], s[2:3]", lines, note="D is the new EXEC")
    # Relative moves: SGPR number plus M0.
    c.block("s_movrels_b32 s0, s2", ["m0=0 s2=00000011 s3=00000012 -> s0=00000011", "m0=1 s2=11 s3=12 -> s0=00000012", "m0=14 s22=77 -> s0=00000077"])
    c.block("s_movrels_b32 s5, s2", ["m0=1000 s0=00000044 -> s5=00000044", "m0=80 s0=44 -> s5=00000044"], note="out of range reads s0")
    c.block("s_movreld_b32 s5, s2", ["m0=1000 s2=00000044 ->", "m0=80 s2=44 ->"], note="out of range is not written")
    c.block("s_movrels_b64 s[0:1], s[2:3]", ["m0=0 s[2:3]=1100000010 -> s[0:1]=0000001100000010", "m0=4 s[6:7]=77000000ff -> s[0:1]=00000077000000ff"])
    c.block("s_movreld_b32 s0, s2", ["m0=0 s2=00000011 -> s0=00000011", "m0=9 s2=11 -> s9=00000011"])
    c.block("s_movreld_b64 s[0:1], s[2:3]", ["m0=0 s[2:3]=1100000010 -> s[0:1]=0000001100000010", "m0=a s[2:3]=77000000ff -> s[10:11]=00000077000000ff"])
    gfx67, gfx89 = TARGETS[:2], TARGETS[2:]
    c.block("s_movrels_b32 s0, s2", ["m0=65 s103=00000055 -> s0=00000055", "m0=66 s0=44 s104=55 -> s0=00000044"], gfx67, "there are 104")
    c.block("s_movrels_b32 s0, s2", ["m0=63 s101=00000055 -> s0=00000055", "m0=64 s0=44 s102=55 -> s0=00000044"], gfx89, "there are 102")
    c.block("s_movrels_b32 s5, s2", ["m0=fffffffe s0=44 -> s5=00000044", "m0=fffffffd s0=44 -> s5=00000044", "m0=100 s0=44 -> s5=00000044"], note="every bit of M0 counts, and nothing wraps")
    c.block("s_movrels_b64 s[4:5], s[2:3]", ["m0=64 s[102:103]=1100000010 -> s[4:5]=0000001100000010", "m0=66 s[0:1]=1100000010 -> s[4:5]=0000001100000010"], gfx67)
    c.block("s_movrels_b64 s[4:5], s[2:3]", ["m0=62 s[100:101]=1100000010 -> s[4:5]=0000001100000010", "m0=64 s[0:1]=1100000010 -> s[4:5]=0000001100000010"], gfx89)
    c.block("s_movrels_b32 s5, vcc_lo", ["m0=0 s0=44 vcc=7700000066 -> s5=00000044"], note="VCC is out of range")
    c.block("s_movrels_b32 vcc_hi, s2", ["m0=3 s5=77 vcc=0000001100000022 -> vcc=0000007700000022"])
    c.block("s_movrels_b64 vcc, s[2:3]", ["m0=4 s[6:7]=77000000ff -> vcc=00000077000000ff"])
    c.block("s_movrels_b64 exec, s[2:3]", ["m0=4 exec=f s[6:7]=77000000ff -> exec=00000077000000ff"])
    c.block("s_movrels_b32 m0, s2", ["m0=4 s6=77 -> m0=00000077"])
    c.block("s_movrels_b32 s2, s2", ["m0=0 s2=77 -> s2=00000077", "m0=1 s2=77 s3=88 -> s2=00000088"])
    c.block("s_movreld_b32 s5, s2", ["m0=62 s2=00000044 -> s103=00000044", "m0=63 s2=44 ->"], gfx67)
    c.block("s_movreld_b32 s5, s2", ["m0=60 s2=00000044 -> s101=00000044", "m0=61 s2=44 ->"], gfx89)
    c.block("s_movreld_b32 s5, s2", ["m0=ffffffff s2=44 ->", "m0=fffffffb s2=44 ->", "m0=100 s2=44 ->"])
    c.block("s_movreld_b64 s[4:5], s[2:3]", ["m0=62 s[2:3]=1100000010 -> s[102:103]=0000001100000010", "m0=64 s[2:3]=1100000010 ->"], gfx67)
    c.block("s_movreld_b64 s[4:5], s[2:3]", ["m0=60 s[2:3]=1100000010 -> s[100:101]=0000001100000010", "m0=62 s[2:3]=1100000010 ->"], gfx89)
    c.block("s_movreld_b32 vcc_lo, s2", ["m0=0 s2=44 ->"], note="VCC is out of range")
    for source, given, value in [
        ("-7", "", 0xfffffff9), ("64", "", 64), ("0.5", "", 0x3f000000), ("0x12345678", "", 0x12345678),
        ("m0", "", 9), ("vcc_lo", " vcc=1100000022", 0x22), ("vcc_hi", " vcc=1100000022", 0x11),
        ("exec_lo", " exec=1100000022", 0x22), ("exec_hi", " exec=1100000022", 0x11),
        ("src_scc", " scc=1", 1), ("src_scc", " scc=0", 0),
        ("src_vccz", " vcc=0", 1), ("src_vccz", " vcc=100000000", 0), ("src_execz", " exec=0", 1), ("src_execz", " exec=100000000", 0),
        ("tba_lo", " s108=1234", 0x1234),
    ]:
        targets = TARGETS[:3] if source == "tba_lo" else TARGETS
        c.block(f"s_movreld_b32 s0, {source}", [f"m0=9{given} -> s9={value:08x}"], targets)
    c.block("s_movreld_b32 s0, ttmp5", ["m0=9 s113=1234 -> s9=00001234"], ALL_GFX9)
    for source, given, value in [
        ("-7", "", M64 - 6), ("64", "", 64), ("0.5", "", 0x3fe0000000000000), ("0x12345678", "", 0x12345678),
        ("vcc", " vcc=1100000022", 0x1100000022), ("exec", " exec=1100000022", 0x1100000022), ("src_scc", " scc=1", 1),
    ]:
        c.block(f"s_movreld_b64 s[0:1], {source}", [f"m0=a{given} -> s[10:11]={value:016x}"])
    c.block("s_movreld_b64 s[0:1], src_shared_base", ["m0=a -> s[10:11]=shared"], ALL_GFX9)
    c.block("s_mov_b32 m0, s2 ; s_movreld_b32 s4, 7 ; s_add_u32 s8, s4, s5", ["s2=1 s4=30 s5=40 -> m0=00000001 s5=00000007 s8=00000037 scc=0", "s2=0 s4=30 s5=40 -> m0=00000000 s4=00000007 s8=00000047 scc=0"], note="what was known of registers is not any more")
    c.block("s_mov_b64 s[6:7], 5 ; s_add_u32 m0, s2, 1 ; s_movrels_b64 exec, s[4:5] ; s_mov_b64 s[8:9], exec", ["exec=f s2=1 -> m0=00000002 s[6:7]=0000000000000005 exec=0000000000000005 s[8:9]=0000000000000005 scc=0"], note="what was written just before is read")
    # The program counter.
    c.block("s_getpc_b64 s[0:1]", ["-> s[0:1]=code+4", "scc=1 -> s[0:1]=code+4"])
    c.block("s_setpc_b64 s[2:3]", ["s[2:3]=code+10 -> pc=16", "s[2:3]=code+4 -> pc=4", "s[2:3]=code+ffffffffffffffe0 -> pc=-32"])
    c.block("s_swappc_b64 s[0:1], s[2:3]", ["s[2:3]=code+10 -> s[0:1]=code+4 pc=16", "s[2:3]=code+fffffffffffffff0 -> s[0:1]=code+4 pc=-16"])
    c.block("s_swappc_b64 s[0:1], s[0:1]", ["s[0:1]=code+8 -> s[0:1]=code+4 pc=8"], note="S0 is read before D is written")
    c.block("s_rfe_b64 s[2:3]", ["s[2:3]=code+10 -> fault: unsupported", "s[2:3]=code+4 scc=1 -> fault: unsupported"], note="there is no trap handler to return from")
    # Fork and join: CSP is MODE[31:29]; a quad of SGPRs holds {PC, EXEC}.
    c.block("s_cbranch_join s2", [
        "mode=000003f0 s2=0 ->",
        "mode=200003f0 s2=1 ->",
        "exec=f mode=600003f0 s2=0 s[8:9]=000000000000ff00 s[10:11]=code+10 -> mode=400003f0 exec=000000000000ff00 pc=16",
    ], note="CSP == S0: go on; else pop {PC, EXEC}")
    # GPR indexing.
    c.block("s_set_gpr_idx_idx s2", ["m0=ffffffff s2=12345678 -> m0=ffffff78", "m0=00001234 s2=ffffff00 -> m0=00001200"], gfx8)
    c.write()


def carry(value):
    return value >> 32 & 1


def sop2():
    c = Chapter("sop2", "SOP2: scalar instructions with two sources.")
    pairs = tuples([EDGE32, EDGE32], 16, 1, [(0, 0), (M32, 1), (1, M32), (0x7fffffff, 1), (0x80000000, 0x80000000),
                                              (0x80000000, 1), (0, 0x80000000), (5, 5), (M32, M32), (0x7fffffff, 0xffffffff)])
    wide = tuples([EDGE64, EDGE64], 12, 2, [(0, 0), (M64, 1), (M64, M64), (1 << 63, 1 << 63), (1 << 32, 1 << 32)])

    def binary(name, bits, fn, values, sbits=None, note=None):
        """fn(a, b) -> (D, SCC or None)"""
        d, s0 = reg("s", 0, bits), reg("s", 2, bits if sbits is None else sbits[0])
        s1 = reg("s", 4, bits if sbits is None else sbits[1])
        lines = []
        for a, b in values:
            value, scc = fn(a, b)
            tail = "" if scc is None else f" scc={scc}"
            lines.append(f"{s0}={hexed(a, bits if sbits is None else sbits[0])} {s1}={hexed(b, bits if sbits is None else sbits[1])}"
                         f" -> {d}={hexed(value, bits)}{tail}")
        c.block(f"{name} {d}, {s0}, {s1}", lines, note=note)

    def overflow(value):
        return int(not -(1 << 31) <= value < 1 << 31)

    def s(v, bits=32):
        return signed(v, bits)

    binary("s_add_u32", 32, lambda a, b: (a + b, carry(a + b)), pairs, note="SCC = carry")
    binary("s_sub_u32", 32, lambda a, b: (a - b, int(b > a)), pairs, note="SCC = borrow")
    binary("s_add_i32", 32, lambda a, b: (a + b, overflow(s(a) + s(b))), pairs, note="SCC = signed overflow")
    binary("s_sub_i32", 32, lambda a, b: (a - b, overflow(s(a) - s(b))), pairs, note="SCC = signed overflow")
    for name, fn in (("s_addc_u32", lambda a, b, k: (a + b + k, carry(a + b + k))), ("s_subb_u32", lambda a, b, k: (a - b - k, int(b + k > a)))):
        lines = []
        for a, b in pairs:
            for k in (0, 1):
                value, out = fn(a, b, k)
                lines.append(f"scc={k} s2={a:08x} s4={b:08x} -> s0={value & M32:08x} scc={out}")
        c.block(f"{name} s0, s2, s4", lines, note="SCC = carry in and out; borrow in more than 32 bits")
    binary("s_min_i32", 32, lambda a, b: (min(s(a), s(b)), int(s(a) < s(b))), pairs, note="SCC = S0 chosen, strictly")
    binary("s_min_u32", 32, lambda a, b: (min(a, b), int(a < b)), pairs)
    binary("s_max_i32", 32, lambda a, b: (max(s(a), s(b)), int(s(a) > s(b))), pairs)
    binary("s_max_u32", 32, lambda a, b: (max(a, b), int(a > b)), pairs)
    for bits in (32, 64):
        d, s0, s1 = reg("s", 0, bits), reg("s", 2, bits), reg("s", 4, bits)
        c.block(f"s_cselect_b{bits} {d}, {s0}, {s1}",
                [f"scc={k} {s0}={hexed(a, bits)} {s1}={hexed(b, bits)} -> {d}={hexed(a if k else b, bits)}"
                 for a, b in ((1, 2), (mask(bits), 0)) for k in (0, 1)])
    logic = {"and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b, "andn2": lambda a, b: a & ~b,
             "orn2": lambda a, b: a | ~b, "nand": lambda a, b: ~(a & b), "nor": lambda a, b: ~(a | b), "xnor": lambda a, b: ~(a ^ b)}
    for op, fn in logic.items():
        for bits, values in ((32, pairs), (64, wide)):
            binary(f"s_{op}_b{bits}", bits, lambda a, b, fn=fn, n=bits: (fn(a, b), nonzero(fn(a, b) & mask(n))), values)
    amounts = [0, 1, 31, 32, 33, 63, 64, 0xffffffff, 0xffffffe4]
    for bits, edges in ((32, EDGE32), (64, EDGE64)):
        values = [(edges[(i * 5 + 3) % len(edges)], n) for i, n in enumerate(amounts + amounts)] + [(1, bits - 1), (1 << bits - 1, bits - 1)]
        n = bits

        def shift(fn, n=n):
            return lambda a, b: (fn(a, b % n), nonzero(fn(a, b % n) & mask(n)))
        binary(f"s_lshl_b{bits}", bits, shift(lambda a, b: a << b), values, (bits, 32), "the amount is taken modulo the width")
        binary(f"s_lshr_b{bits}", bits, shift(lambda a, b: a >> b), values, (bits, 32))
        binary(f"s_ashr_i{bits}", bits, shift(lambda a, b, n=n: signed(a, n) >> b), values, (bits, 32))
        bfm = [(0, 0), (1, 0), (5, 3), (bits - 1, 0), (bits - 1, 1), (bits, 4), (bits + 2, 4), (31, 31), (8, bits + 1), (M32, M32)]
        binary(f"s_bfm_b{bits}", bits, lambda a, b, n=n: (((1 << a % n) - 1) << b % n, None), bfm, (32, 32), "width 32 is 0; SCC is kept")
        fields = [0, 0x00010000, 0x00080004, 0x0010_0010, 0x0010_0008, 0x0020_0000, 0x0020_0004, 0x007f_0001, 0x0040_0000, 0x0001_001f,
                  0x0004_001e, 0x0081_0003, 0xff05_ffe2, 0x0005_0020, 0x003f_0021, 0x0008_003c]
        cases = [(edges[(i * 7 + 4) % len(edges)], f) for i, f in enumerate(fields)] + [(0xf0f0f0f0a5a5a5a5 & mask(bits), f) for f in fields]

        def bfe(a, f, sign, n=n):
            offset, width = f % n, f >> 16 & 127
            if width == 0:
                return 0, 0
            value = (signed(a, n) if sign else a) >> offset
            if width < n:
                value = signed(value, width) if sign else value & mask(width)
            return value, nonzero(value & mask(n))
        binary(f"s_bfe_u{bits}", bits, lambda a, f: bfe(a, f, False), cases, (bits, 32), "offset [4:0] ([5:0]), width [22:16]; SCC = (D != 0)")
        binary(f"s_bfe_i{bits}", bits, lambda a, f: bfe(a, f, True), cases, (bits, 32))
    binary("s_mul_i32", 32, lambda a, b: (a * b, None), pairs + [(0x12345, 0x6789a), (M32, 0x7fffffff)], note="SCC is kept")
    binary("s_mul_hi_u32", 32, lambda a, b: (a * b >> 32, None), pairs + [(M32, M32), (0x12345678, 0x9abcdef0)])
    binary("s_mul_hi_i32", 32, lambda a, b: (s(a) * s(b) >> 32, None), pairs + [(M32, M32), (0x12345678, 0x9abcdef0)])
    binary("s_absdiff_i32", 32, lambda a, b: (abs(s(a - b)), nonzero((a - b) & M32)), pairs + [(0x80000000, 0x7fffffff)], note="the difference wraps, then its absolute value; SCC = (D != 0)")
    for n in (1, 2, 3, 4):
        binary(f"s_lshl{n}_add_u32", 32, lambda a, b, n=n: ((a << n) + b, int((a << n) + b >= 1 << 32)), pairs, note="SCC: the whole sum is 2^32 or more")
    halves = [(0x12345678, 0x9abcdef0), (0xffff0000, 0x0000ffff), (0x0000ffff, 0xffff0000)]
    binary("s_pack_ll_b32_b16", 32, lambda a, b: (a & 0xffff | b << 16, None), halves, note="SCC is kept")
    binary("s_pack_lh_b32_b16", 32, lambda a, b: (a & 0xffff | b & 0xffff0000, None), halves)
    binary("s_pack_hh_b32_b16", 32, lambda a, b: (a >> 16 | b & 0xffff0000, None), halves)
    # Fork: the larger side is pushed and the smaller one runs first; a tie runs the pass side first.
    quad = "s[16:17]"
    c.block("s_cbranch_g_fork s[2:3], s[4:5]", [
        "exec=ff mode=000003f0 s[2:3]=ff s[4:5]=code+20 -> pc=32",
        "exec=ff mode=000003f0 s[2:3]=ff00 s[4:5]=code+20 ->",
        f"exec=ff mode=800003f0 s[2:3]=0f s[4:5]=code+20 -> {quad}=00000000000000f0 s[18:19]=code+4 exec=000000000000000f mode=a00003f0 pc=32",
        f"exec=ff mode=800003f0 s[2:3]=07 s[4:5]=code+20 -> {quad}=00000000000000f8 s[18:19]=code+4 exec=0000000000000007 mode=a00003f0 pc=32",
        f"exec=ff mode=800003f0 s[2:3]=1f s[4:5]=code+20 -> {quad}=000000000000001f s[18:19]=code+20 exec=00000000000000e0 mode=a00003f0",
    ], note="CSP (MODE[31:29]) * 4 is the first SGPR of {EXEC, PC}")
    c.block("s_rfe_restore_b64 s[2:3], s4", ["s[2:3]=code+10 s4=0 -> fault: unsupported", "s[2:3]=code+4 s4=1 -> fault: unsupported"])
    c.block("s_add_u32 s0, s0, s0", ["s0=80000001 -> s0=00000002 scc=1", "s0=7fffffff -> s0=fffffffe scc=0"], note="D may be a source")
    c.block("s_and_b64 exec, exec, s[2:3]", ["exec=ff00ff00ff00ff00 s[2:3]=0ff00ff00ff00ff0 -> exec=0f000f000f000f00 scc=1",
                                              "exec=f s[2:3]=f0 -> exec=0 scc=0"])
    c.block("s_add_u32 s0, s2, 0x12345678", ["s2=f0000000 -> s0=02345678 scc=1", "s2=1 -> s0=12345679 scc=0"])
    c.block("s_and_b64 s[0:1], s[2:3], 0x89abcdef", ["s[2:3]=ffffffffffffffff -> s[0:1]=0000000089abcdef scc=1"], note="literals of 64-bit operands are zero-extended")
    c.block("s_ashr_i64 s[0:1], 0x89abcdef, s4", ["s4=4 -> s[0:1]=fffffffff89abcde scc=1"], note="and sign-extended for signed ones")
    c.block("s_mul_i32 s0, s2, -16", ["s2=00000003 -> s0=ffffffd0", "s2=10000000 -> s0=00000000"])
    c.write()


RELATIONS = {"eq": lambda a, b: a == b, "lg": lambda a, b: a != b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
             "lt": lambda a, b: a < b, "le": lambda a, b: a <= b}


def sopc():
    c = Chapter("sopc", "SOPC: scalar compares; SCC is the result.")
    pairs = [(0, 0), (1, 2), (2, 1), (M32, 1), (1, M32), (0x80000000, 0x7fffffff), (0x7fffffff, 0x80000000), (M32, M32), (0x80000000, 0)]
    for kind in "iu":
        for op, fn in RELATIONS.items():
            lines = []
            for a, b in pairs:
                x, y = (signed(a, 32), signed(b, 32)) if kind == "i" else (a, b)
                lines.append(f"s2={a:08x} s4={b:08x} -> scc={int(fn(x, y))}")
            c.block(f"s_cmp_{op}_{kind}32 s2, s4", lines)
    for op in ("eq", "lg"):
        c.block(f"s_cmp_{op}_u64 s[2:3], s[4:5]",
                [f"s[2:3]={a:016x} s[4:5]={b:016x} -> scc={int(RELATIONS[op](a, b))}" for a, b in ((0, 0), (1 << 32, 0), (1, 1 << 32), (M64, M64), (M64, M64 >> 1), (5, 4))])
    for bits in (32, 64):
        s = reg("s", 2, bits)
        for one in (0, 1):
            lines = []
            for value in (0, mask(bits), 0x8000000000000001 if bits == 64 else 0x80000001, 0x123456789abcdef0 & mask(bits)):
                for at in (0, 1, 31, 32, 63, 64, 0xffffffff):
                    lines.append(f"{s}={hexed(value, bits)} s4={at:08x} -> scc={int(value >> at % bits & 1 == one)}")
            c.block(f"s_bitcmp{one}_b{bits} {s}, s4", lines)
    c.block("s_setvskip s2, s4", ["mode=000003f0 s2=8 s4=3 -> mode=100003f0", "mode=000003f0 s2=7 s4=3 ->", "mode=100003f0 s2=0 s4=0 -> mode=000003f0",
                                   "mode=000003f0 s2=80000000 s4=ff -> mode=100003f0"], note="VSKIP is MODE[28]")
    c.block("s_setvskip s2, 3 ; v_mov_b32_e32 v0, v1 ; s_mov_b32 s0, s3", ["mode=000003f0 s2=8 s3=5 v1=1 -> mode=100003f0 s0=00000005", "mode=100003f0 s2=0 s3=5 v1=1 -> mode=000003f0 s0=00000005 v0=00000001"],
            note="vector instructions are skipped")
    gfx8 = ["gfx803", "gfx900", "gfx906"]
    c.block("s_set_gpr_idx_on s2, gpr_idx(SRC0,DST)", ["mode=000003f0 m0=ffffffff s2=12345678 -> mode=080003f0 m0=ffff9f78", "mode=000003f0 m0=0 s2=5 -> mode=080003f0 m0=00009005"], gfx8,
            note="MODE[27] on; M0[7:0] = S0[7:0], M0[15:12] = the mask")
    c.block("s_cmp_eq_u32 s2, 0x12345678", ["s2=12345678 -> scc=1", "s2=12345679 -> scc=0"])
    c.block("s_cmp_gt_i32 s2, -1", ["s2=0 -> scc=1", "s2=ffffffff -> scc=0"])
    c.block("s_cmp_gt_u32 s2, -1", ["s2=0 -> scc=0", "s2=ffffffff -> scc=0"])
    c.write()


def sopk():
    c = Chapter("sopk", "SOPK: scalar instructions with a 16-bit immediate.")
    c.block("s_movk_i32 s0, 0x1234", ["-> s0=00001234", "scc=1 -> s0=00001234"])
    c.block("s_movk_i32 s0, 0x8000", ["-> s0=ffff8000"])
    c.block("s_cmovk_i32 s0, 0x8001", ["scc=1 s0=5 -> s0=ffff8001", "scc=0 s0=5 ->"])
    for imm in (5, 0x7fff, 0x8000, 0xffff, 0):
        for kind in "iu":
            for op, fn in RELATIONS.items():
                k = signed(imm, 16) if kind == "i" else imm
                lines = []
                for a in (k & M32, (k + 1) & M32, (k - 1) & M32, 0x80000000, 0x7fffffff, 0xffff8000, 0x00008000):
                    x = signed(a, 32) if kind == "i" else a
                    lines.append(f"s2={a:08x} -> scc={int(fn(x, k))}")
                if imm in (5, 0x8000) or op in ("eq", "lt"):
                    c.block(f"s_cmpk_{op}_{kind}32 s2, {imm:#x}", lines)
    for imm in (1, 0x7fff, 0x8000, 0xffff):
        k, lines, products = signed(imm, 16), [], []
        for a in (0, 1, 0x7fffffff, 0x80000000, M32, 0x7fff8000, 0x80007fff):
            total = signed(a, 32) + k
            lines.append(f"s0={a:08x} -> s0={total & M32:08x} scc={int(total != signed(total, 32))}")
            products.append(f"s0={a:08x} -> s0={a * k & M32:08x}")
        c.block(f"s_addk_i32 s0, {imm:#x}", lines, note="SCC = signed overflow")
        c.block(f"s_mulk_i32 s0, {imm:#x}", products, note="SCC is kept")
    # Hardware registers: simm16 = {size - 1, offset, id}.
    for text, lines in (
        ("hwreg(HW_REG_MODE)", ["mode=000003f0 -> s0=000003f0", "mode=0080010f -> s0=0080010f"]),
        ("hwreg(HW_REG_MODE, 4, 4)", ["mode=000003f0 -> s0=0000000f", "mode=0000035f -> s0=00000005"]),
        ("hwreg(HW_REG_MODE, 9, 1)", ["mode=000003f0 -> s0=00000001", "mode=000001f0 -> s0=00000000"]),
        ("hwreg(HW_REG_TRAPSTS, 0, 9)", ["trapsts=000001ff -> s0=000001ff", "trapsts=0 -> s0=00000000"]),
        ("hwreg(HW_REG_STATUS, 0, 1)", ["scc=1 -> s0=00000001", "scc=0 -> s0=00000000"]),
        ("hwreg(HW_REG_STATUS, 9, 2)", ["exec=0 vcc=1 -> s0=00000001", "exec=1 vcc=0 -> s0=00000002", "exec=1 vcc=1 -> s0=00000000"]),
        ("hwreg(HW_REG_LDS_ALLOC)", ["hw6=12345678 -> s0=12345678"]),
        ("hwreg(HW_REG_GPR_ALLOC, 8, 8)", ["hw5=12345678 -> s0=00000056"]),
    ):
        c.block(f"s_getreg_b32 s0, {text}", lines)
    c.block("s_getreg_b32 s0, hwreg(HW_REG_SH_MEM_BASES)", ["-> s0=00010002", "scc=1 -> s0=00010002"], ALL_GFX9, "bits 63:48 of the LDS aperture above those of the scratch aperture")
    c.block("s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s2", ["mode=000003f0 s2=ffffffff -> mode=000003ff", "mode=000003ff s2=5 -> mode=000003f5"])
    c.block("s_setreg_b32 hwreg(HW_REG_MODE, 4, 4), s2", ["mode=000003f0 s2=0 -> mode=00000300", "mode=00000300 s2=fffffffa -> mode=000003a0"])
    c.block("s_setreg_b32 hwreg(HW_REG_MODE), s2", ["mode=000003f0 s2=00000300 -> mode=00000300", "mode=0 s2=0000030f -> mode=0000030f"])
    c.block("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3", ["mode=000003c0 -> mode=000003f0", "mode=000003f0 ->"])
    c.block("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0", ["mode=000003f0 -> mode=000003c0"])
    c.block("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 3 ; v_add_f32_e32 v0, v1, v2",
            ["mode=000003f0 v1=3f800000 v2=33ffffff -> mode=000003f3 v0=3f800000", "mode=000003f1 v1=bf800000 v2=b3ffffff -> mode=000003f3 v0=bf800000"],
            note="MODE acts at once: 1 and a little less than 2^-23 round toward zero")
    c.block("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 1 ; v_add_f32_e32 v0, v1, v2 ; s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 2 ; v_add_f32_e32 v3, v1, v2",
            ["mode=000003f0 v1=3f800000 v2=30000000 -> mode=000003f2 v0=3f800001 v3=3f800000"])
    c.block("s_call_b64 s[0:1], 3", ["-> s[0:1]=code+4 pc=16"], ALL_GFX9, note="target = PC + 4 + simm16 * 4")
    c.block("s_call_b64 s[0:1], 65531", ["-> s[0:1]=code+4 pc=-16"], ALL_GFX9)
    c.block("s_cbranch_i_fork s[2:3], 7", [
        "exec=ff mode=000003f0 s[2:3]=ff -> pc=32", "exec=ff mode=000003f0 s[2:3]=ff00 ->",
        "exec=ff mode=800003f0 s[2:3]=0f -> s[16:17]=00000000000000f0 s[18:19]=code+4 exec=000000000000000f mode=a00003f0 pc=32",
        "exec=ff mode=800003f0 s[2:3]=1f -> s[16:17]=000000000000001f s[18:19]=code+20 exec=00000000000000e0 mode=a00003f0",
    ])
    c.write()


def sopp():
    c = Chapter("sopp", "SOPP: program control. Branch target = PC + 4 + simm16 * 4.")
    c.block("s_branch 3", ["-> pc=16", "scc=1 -> pc=16"])
    c.block("s_branch 65531", ["-> pc=-16", "scc=1 -> pc=-16"])
    c.block("s_branch 0", ["-> pc=4"])
    for name, taken, not_taken in (
        ("scc0", ["scc=0"], ["scc=1"]), ("scc1", ["scc=1"], ["scc=0"]),
        ("vccz", ["vcc=0"], ["vcc=1", "vcc=100000000", "vcc=8000000000000000"]), ("vccnz", ["vcc=1", "vcc=100000000", "exec=0 vcc=1"], ["vcc=0"]),
        ("execz", ["exec=0"], ["exec=1", "exec=8000000000000000"]), ("execnz", ["exec=1", "exec=8000000000000000"], ["exec=0"]),
        ("cdbgsys", [], ["scc=1", "scc=0"]), ("cdbguser", [], ["scc=1", "scc=0"]),
        ("cdbgsys_or_user", [], ["scc=1", "scc=0"]), ("cdbgsys_and_user", [], ["scc=1", "scc=0"]),
    ):
        c.block(f"s_cbranch_{name} 3", [f"{state} -> pc=16" for state in taken] + [f"{state} ->" for state in not_taken],
                note="no debugger is attached" if "cdbg" in name else None)
        if taken:
            c.block(f"s_cbranch_{name} 65534", [f"{state} -> pc=-4" for state in taken] + [f"{state} ->" for state in not_taken])
    for text in ("s_nop 0", "s_nop 7", "s_waitcnt 0", "s_waitcnt vmcnt(0)", "s_waitcnt lgkmcnt(0)", "s_sleep 1", "s_sleep 127", "s_setprio 3", "s_setprio 0",
                 "s_icache_inv", "s_incperflevel 1", "s_decperflevel 1", "s_ttracedata", "s_setkill 0", "s_sethalt 0", "s_wakeup",
                 "s_sendmsg sendmsg(MSG_INTERRUPT)", "s_sendmsghalt sendmsg(MSG_INTERRUPT)", "s_sendmsg sendmsg(MSG_SYSMSG, SYSMSG_OP_ECC_ERR_INTERRUPT)", "s_trap 3"):
        c.block(text, ["scc=0 ->", "scc=1 m0=5 ->"])
    c.block("s_barrier", ["scc=0 -> pc=0", "scc=1 -> pc=0"])
    c.block("s_endpgm", ["-> end", "exec=0 -> end"])
    c.block("s_endpgm_saved", ["-> end", "exec=0 -> end"])
    c.block("s_endpgm_ordered_ps_done", ["-> end", "exec=0 -> end"])
    c.block("s_trap 2", ["-> fault: trap 2", "exec=0 -> fault: trap 2"])
    gfx8 = ["gfx803", "gfx900", "gfx906"]
    c.block("s_set_gpr_idx_off", ["mode=080003f0 m0=00001234 -> mode=000003f0", "mode=000003f0 ->"], gfx8)
    c.block("s_set_gpr_idx_mode gpr_idx(SRC0)", ["mode=080003f0 m0=ffffffff -> m0=ffff1fff", "mode=000003f0 m0=00000007 -> m0=00001007"], gfx8, note="M0[15:12] = simm16")
    c.block("s_set_gpr_idx_mode gpr_idx(SRC0,SRC1,SRC2,DST)", ["mode=080003f0 m0=00000000 -> m0=0000f000"], gfx8)
    c.write()


if __name__ == "__main__":
    sop1()
    sop2()
    sopc()
    sopk()
    sopp()
