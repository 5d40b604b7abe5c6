"""The SDWA and DPP forms."""

import floats as fl
from case import Chapter, EDGE32, Random, hexed, mask, signed
from floats import F16, F32
from vector import GFX8, GFX9

M32 = mask(32)
SELS = ["BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"]
UNUSED = ["UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"]
VALUES = [(0x12345678, 0x9abcdef0), (0x80ff7f01, 0x00807f81), (M32, 0), (0x0000ffff, 0x80008000), (0xdeadbeef, 0x00000001), (0x3f80c040, 0x01fe8000)]


def place_of(sel):
    number = SELS.index(sel)
    if number < 4:
        return 8 * number, 8
    return (16 * (number - 4), 16) if number < 6 else (0, 32)


def select(value, sel, sext=False):
    shift, bits = place_of(sel)
    value = value >> shift & mask(bits)
    return signed(value, bits) & M32 if sext else value


def put(value, sel, unused, old):
    shift, bits = place_of(sel)
    if bits == 32:
        return value & M32
    field = value & mask(bits)
    if unused == "UNUSED_PRESERVE":
        return old & ~(mask(bits) << shift) | field << shift
    if unused == "UNUSED_SEXT":
        return signed(field, bits) << shift & M32
    return field << shift


def sdwa(c):
    # Every selection of the source and of the destination.
    for sel in SELS:
        for sext in (False, True):
            source = f"sext(v4)" if sext else "v4"
            lines = [f"v4={a:08x} -> v0={select(a, sel, sext):08x}" for pair in VALUES for a in pair]
            c.block(f"v_mov_b32_sdwa v0, {source} dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:{sel}", lines, GFX8, "select, then sign-extend" if sext else None)
        for unused in UNUSED:
            lines = [f"v0={b:08x} v4={a:08x} -> v0={put(a, sel, unused, b):08x}" for a, b in VALUES]
            c.block(f"v_mov_b32_sdwa v0, v4 dst_sel:{sel} dst_unused:{unused} src0_sel:DWORD", lines, GFX8)
    random = Random(41)
    for name, fn in (("v_and_b32", lambda a, b: a & b), ("v_xor_b32", lambda a, b: a ^ b), ("v_max_i32", lambda a, b: max(signed(a, 32), signed(b, 32)) & M32), ("v_min_u32", min),
                     ("v_mul_u32_u24", lambda a, b: (a & 0xffffff) * (b & 0xffffff)), ("v_lshlrev_b32", lambda a, b: b << a % 32), ("v_ashrrev_i32", lambda a, b: signed(b, 32) >> a % 32)):
        for i in range(5):
            s0, s1, d, u = random.pick(SELS), random.pick(SELS), random.pick(SELS), random.pick(UNUSED)
            e0, e1 = random.below(2), random.below(2)
            texts = [f"sext({v})" if e else v for v, e in (("v4", e0), ("v8", e1))]
            lines = [f"v0={0x11223344:08x} v4={a:08x} v8={b:08x} -> v0={put(fn(select(a, s0, e0), select(b, s1, e1)) & M32, d, u, 0x11223344):08x}" for a, b in VALUES]
            c.block(f"{name}_sdwa v0, {texts[0]}, {texts[1]} dst_sel:{d} dst_unused:{u} src0_sel:{s0} src1_sel:{s1}", lines, GFX8)
    # Floats: abs, then neg, on the selected value's own sign bit.
    singles = [(0x3f800000, 0x40000000), (0xbf800000, 0x3f000000), (0x7fc00000, 0xff800000), (0xc0490fdb, 0x80000000)]
    for text, change in (("-{0}, {1}", lambda f, a, b: (a ^ f.sign, b)), ("|{0}|, -{1}", lambda f, a, b: (a & ~f.sign, b ^ f.sign)), ("-|{0}|, -|{1}|", lambda f, a, b: (a | f.sign, b | f.sign))):
        lines = [f"v4={a:08x} v8={b:08x} -> v0={fl.add(F32, *change(F32, a, b)):08x}" for a, b in singles]
        c.block(f"v_add_f32_sdwa v0, {text.format('v4', 'v8')} dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD", lines, GFX8, "abs, then neg")
        halves = [(0x3c004000, 0xbc003800), (0x7e003555, 0x8000c248), (0x00010400, 0x7c000001)]
        for s0, s1, d, u in (("WORD_1", "WORD_0", "WORD_1", "UNUSED_PRESERVE"), ("WORD_0", "WORD_1", "WORD_0", "UNUSED_PAD"), ("WORD_1", "WORD_1", "DWORD", "UNUSED_PAD"), ("WORD_1", "WORD_0", "WORD_0", "UNUSED_SEXT")):
            lines = []
            for a, b in halves:
                r = fl.add(F16, *change(F16, select(a, s0), select(b, s1)))
                lines.append(f"v0=11112222 v4={a:08x} v8={b:08x} -> v0={put(r, d, u, 0x11112222):08x}")
            c.block(f"v_add_f16_sdwa v0, {text.format('v4', 'v8')} dst_sel:{d} dst_unused:{u} src0_sel:{s0} src1_sel:{s1}", lines, GFX8)
    c.block("v_mul_f32_sdwa v0, v4, v8 clamp dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD",
            ["v4=40000000 v8=40000000 -> v0=3f800000", "v4=bf800000 v8=40000000 -> v0=00000000", "v4=3f000000 v8=3f000000 -> v0=3e800000", "v4=7fc00000 v8=0 -> v0=00000000"], GFX8, "clamp comes before the placement")
    c.block("v_mul_f16_sdwa v0, v4, v8 clamp dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0 src1_sel:WORD_1",
            ["v0=11112222 v4=00004000 v8=40000000 -> v0=3c002222", "v0=11112222 v4=0000bc00 v8=40000000 -> v0=00002222"], GFX8)
    c.block("v_mul_f32_sdwa v0, v4, v8 mul:2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD", ["mode=00000100 v4=3f800000 v8=40000000 -> v0=40800000", "v4=3f800000 v8=40000000 -> v0=40000000"], GFX9, "gfx9: output modifier")
    c.block("v_and_b32_sdwa v0, s2, v8 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:DWORD", ["s2=12345678 v8=ffffffff -> v0=00001234", "s2=ffff0000 v8=00ff00ff -> v0=000000ff"], GFX9, "gfx9: scalar sources")
    c.block("v_and_b32_sdwa v0, v4, s2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:BYTE_3", ["s2=12345678 v4=ffffffff -> v0=00000012"], GFX9)
    c.block("v_cvt_f32_i32_sdwa v0, sext(v4) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_2", ["v4=00ff0000 -> v0=bf800000", "v4=ff7fffff -> v0=42fe0000"], GFX8)
    c.block("v_cvt_f32_u32_sdwa v0, v4 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1", ["v4=00010000 -> v0=3f800000", "v4=ffff1234 -> v0=477fff00"], GFX8)
    c.block("v_mac_f32_sdwa v0, v4, v8 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD", ["v0=3f800000 v4=40000000 v8=40400000 -> v0=40e00000", "v0=bf800000 v4=3f800000 v8=3f800000 -> v0=00000000"], ["gfx803"])
    # Carry and compare.
    for name, targets in (("v_add_u32_sdwa", ["gfx803"]), ("v_add_co_u32_sdwa", GFX9)):
        c.block(f"{name} v0, vcc, v4, v8 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:WORD_1", ["v4=fffffff0 v8=00105555 -> v0=00000000 vcc.lane=1", "v4=1 v8=ffff0000 -> v0=00010000 vcc.lane=0"], targets)
    c.block("v_cndmask_b32_sdwa v0, v4, v8, vcc dst_sel:BYTE_3 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_1 src1_sel:BYTE_0", ["vcc.lane=0 v0=11223344 v4=aabbccdd v8=00000055 -> v0=cc223344", "vcc.lane=1 v0=11223344 v4=aabbccdd v8=00000055 -> v0=55223344"], GFX8)
    for sel0, sel1 in (("BYTE_0", "DWORD"), ("WORD_1", "BYTE_3"), ("DWORD", "WORD_0")):
        for e0 in (False, True):
            source = "sext(v4)" if e0 else "v4"
            lines = [f"v4={a:08x} v8={b:08x} -> vcc.lane={int(signed(select(a, sel0, e0), 32) < signed(select(b, sel1), 32))}" for a, b in VALUES]
            c.block(f"v_cmp_lt_i32_sdwa vcc, {source}, v8 src0_sel:{sel0} src1_sel:{sel1}", lines, GFX8)
    c.block("v_cmp_eq_u32_sdwa s[2:3], v4, v8 src0_sel:BYTE_1 src1_sel:BYTE_0", ["v4=00001200 v8=00000012 -> s[2:3].lane=1", "v4=00001200 v8=00001200 -> s[2:3].lane=0"], GFX9, "SDWAB: the mask goes to an SGPR pair")
    c.block("v_cmpx_eq_u32_sdwa vcc, v4, v8 src0_sel:BYTE_1 src1_sel:BYTE_0", ["v4=00001200 v8=00000012 -> vcc.lane=1 exec.lane=1", "v4=00001200 v8=00001200 -> vcc.lane=0 exec.lane=0"], GFX8)
    c.block("v_cmp_lt_f32_sdwa vcc, -v4, |v8| src0_sel:DWORD src1_sel:DWORD", ["v4=3f800000 v8=0 -> vcc.lane=1", "v4=bf800000 v8=bf000000 -> vcc.lane=0"], GFX8)
    c.block("v_cmp_lt_f16_sdwa vcc, v4, v8 src0_sel:WORD_1 src1_sel:WORD_0", ["v4=38000000 v8=00003c00 -> vcc.lane=1", "v4=3c000000 v8=00003800 -> vcc.lane=0"], GFX8)


def sdwa_values(c):
    """Every value of each field that sdwa() leaves out, on both sources."""
    all_dwords = "dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD"
    for sel in SELS:
        for sext in (False, True):
            source = "sext(v8)" if sext else "v8"
            lines = [f"v4={a:08x} v8={b:08x} -> v0={a ^ select(b, sel, sext):08x}" for a, b in VALUES]
            c.block(f"v_xor_b32_sdwa v0, v4, {source} dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:{sel}", lines, GFX8)
    # A part of a register as an f32 has the sign of an f32: bit 31, which is 0 before neg.
    for sel in ("BYTE_1", "WORD_0", "WORD_1"):
        for text, change in (("-v4, v8", lambda x: x | 1 << 31), ("|v4|, v8", lambda x: x & mask(31)), ("-|v4|, v8", lambda x: x | 1 << 31)):
            lines = [f"v4={a:08x} v8={b:08x} -> v0={fl.add(F32, change(select(a, sel)), b):08x}" for a, b in ((0x3f80c040, 0x00000000), (0xffff8001, 0x00004000), (0x12345678, 0x00800000))]
            c.block(f"v_add_f32_sdwa v0, {text} dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:{sel} src1_sel:DWORD", lines, GFX8, "the sign is bit 31 of what was selected" if sel == "BYTE_1" else None)
    # Output modifiers act where denormals are flushed and IEEE is off.
    for text, scale in (("mul:2", 1), ("mul:4", 2), ("div:2", -1)):
        product = lambda by: (0x40000000 + (by << 23))
        c.block(f"v_mul_f32_sdwa v0, v4, v8 {text} {all_dwords}", [f"mode=00000100 v4=3f800000 v8=40000000 -> v0={product(scale):08x}", "v4=3f800000 v8=40000000 -> v0=40000000", f"mode=00000100 v4=80000000 v8=40000000 -> v0=00000000"], GFX9)
        c.block(f"v_mul_f32_sdwa v0, v4, v8 clamp {text} {all_dwords}", ["mode=00000100 v4=3f800000 v8=40000000 -> v0=3f800000", "mode=00000100 v4=bf800000 v8=40000000 -> v0=00000000", f"mode=00000100 v4=3e000000 v8=3e000000 -> v0={0x3c800000 + (scale << 23):08x}"], GFX9, "clamp comes behind")
    # Clamp of integers saturates, of compares it only signals.
    for d, u in (("DWORD", "UNUSED_PAD"), ("WORD_1", "UNUSED_PRESERVE"), ("WORD_0", "UNUSED_SEXT")):
        for name, fn in (("v_add_u16", lambda a, b: min(a + b, 0xffff)), ("v_sub_u16", lambda a, b: max(a - b, 0))):
            rows = [(0x0000fff0, 0x00200011), (0x12348000, 0x7fff0000), (0x00010002, 0x00030004)]
            lines = [f"v0=11112222 v4={a:08x} v8={b:08x} -> v0={put(fn(a & 0xffff, b >> 16), d, u, 0x11112222):08x}" for a, b in rows]
            c.block(f"{name}_sdwa v0, v4, v8 clamp dst_sel:{d} dst_unused:{u} src0_sel:WORD_0 src1_sel:WORD_1", lines, GFX8)
    c.block("v_cmp_lt_f32_sdwa vcc, v4, v8 clamp src0_sel:DWORD src1_sel:DWORD", ["v4=3f800000 v8=40000000 -> vcc.lane=1", "v4=7fc00000 v8=40000000 -> vcc.lane=0"], ["gfx803"], "clamp: signal on quiet NaNs; the result is the same")
    # Scalar sources, in every kind of instruction.
    scalars = (("s2", "s2"), ("vcc_lo", "vcc_lo"), ("m0", "m0"), ("ttmp4", None))
    for text, place in scalars[:3]:
        c.block(f"v_add_u16_sdwa v0, {text}, v8 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:WORD_0", [f"{place}=12345678 v8=00001111 -> v0=00002345", f"{place}=ffff0000 v8=00000001 -> v0=00000000"], GFX9)
        c.block(f"v_lshlrev_b32_sdwa v0, v4, {text} dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_0 src1_sel:WORD_1", [f"{place}=12345678 v4=00000004 -> v0=00012340", f"{place}=8001ffff v4=00000410 -> v0=80010000"], GFX9)
    c.block("v_mov_b32_sdwa v0, sext(s2) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_2", ["s2=12845678 -> v0=ffffff84", "s2=007fffff -> v0=0000007f"], GFX9)
    c.block(f"v_add_f32_sdwa v0, -|s2|, v8 {all_dwords}", ["s2=3f800000 v8=40000000 -> v0=3f800000", "s2=bf800000 v8=3f800000 -> v0=00000000"], GFX9)
    c.block("v_add_f16_sdwa v0, s2, -s2 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0 src1_sel:WORD_1", ["s2=3c004000 v0=aaaabbbb -> v0=3c00bbbb", "s2=40004000 v0=aaaabbbb -> v0=0000bbbb"], GFX9, "one register twice")
    c.block("v_cmp_lt_i32_sdwa vcc, sext(s2), v8 src0_sel:BYTE_3 src1_sel:DWORD", ["s2=80000000 v8=00000000 -> vcc.lane=1", "s2=7f000000 v8=00000000 -> vcc.lane=0"], GFX9)
    c.block("v_cmp_gt_u32_sdwa s[2:3], v4, s8 src0_sel:WORD_0 src1_sel:WORD_1", ["s8=12345678 v4=00001235 -> s[2:3].lane=1", "s8=12345678 v4=ffff1234 -> s[2:3].lane=0"], GFX9)
    # SDWAB: the mask goes to any SGPR pair.
    for pair in ("s[2:3]", "s[100:101]", "vcc"):
        c.block(f"v_cmp_lt_f32_sdwa {pair}, -v4, |v8| src0_sel:DWORD src1_sel:DWORD", [f"v4=3f800000 v8=0 -> {pair}.lane=1", f"v4=bf800000 v8=bf000000 -> {pair}.lane=0", f"v4=7fc00000 v8=0 -> {pair}.lane=0"], GFX9)
        c.block(f"v_cmp_ge_f16_sdwa {pair}, v4, v8 src0_sel:WORD_1 src1_sel:WORD_0", [f"v4=3c000000 v8=00003c00 -> {pair}.lane=1", f"v4=38000000 v8=00003c00 -> {pair}.lane=0"], GFX9)
        c.block(f"v_cmp_ne_u16_sdwa {pair}, v4, v8 src0_sel:BYTE_0 src1_sel:BYTE_1", [f"v4=00000012 v8=00001200 -> {pair}.lane=0", f"v4=00000112 v8=00001201 -> {pair}.lane=0", f"v4=00000013 v8=00001200 -> {pair}.lane=1"], GFX9)
        c.block(f"v_cmp_class_f32_sdwa {pair}, v4, v8 src0_sel:DWORD src1_sel:WORD_1", [f"v4=7fc00000 v8=00020000 -> {pair}.lane=1", f"v4=3f800000 v8=00020100 -> {pair}.lane=0"], GFX9)
        c.block(f"v_cmpx_lt_i32_sdwa {pair}, sext(v4), v8 src0_sel:WORD_1 src1_sel:DWORD", [f"v4=80000000 v8=00000000 -> {pair}.lane=1 exec.lane=1", f"v4=7fff0000 v8=00000000 -> {pair}.lane=0 exec.lane=0"], GFX9, "EXEC and the pair" if pair == "s[2:3]" else None)


def listed(items):
    """A lane list, shortened when it repeats."""
    for group in (4, 16, 32, 64):
        if all(items[lane] == ("-" if items[lane % group] == "-" else "z" if items[lane % group] == "z" else items[lane % group] + lane - lane % group) for lane in range(64)):
            break
    out, at = [], 0
    while at < group:
        end = at + 1
        if isinstance(items[at], int):
            step = 1 if end < group and items[end] == items[at] + 1 else -1
            while end < group and isinstance(items[end], int) and items[end] == items[end - 1] + step:
                end += 1
            if end - at > 2:
                out.append(f"{items[at]}..{items[end - 1]}")
                at = end
                continue
        end = at + 1
        while end < group and items[end] == items[at]:
            end += 1
        out.append(f"{items[at]}*{end - at}" if end - at > 1 else f"{items[at]}")
        at = end
    return " ".join(out)


def dpp(c):
    def quad(a, b, d, e):
        return lambda n: n & ~3 | (a, b, d, e)[n & 3]

    def row_shl(k):
        return lambda n: n + k if (n & 15) + k < 16 else None

    def row_shr(k):
        return lambda n: n - k if (n & 15) >= k else None
    controls = [(f"quad_perm:[{a},{b},{d},{e}]", quad(a, b, d, e)) for a, b, d, e in ((0, 1, 2, 3), (1, 0, 3, 2), (3, 2, 1, 0), (0, 0, 0, 0), (3, 3, 3, 3), (2, 0, 3, 1), (1, 2, 3, 0))]
    for k in range(1, 16):
        controls += [(f"row_shl:{k}", row_shl(k)), (f"row_shr:{k}", row_shr(k)), (f"row_ror:{k}", lambda n, k=k: n & ~15 | (n - k) & 15)]
    controls += [
        ("wave_shl:1", lambda n: n + 1 if n < 63 else None), ("wave_rol:1", lambda n: (n + 1) & 63),
        ("wave_shr:1", lambda n: n - 1 if n else None), ("wave_ror:1", lambda n: (n - 1) & 63),
        ("row_mirror", lambda n: n & ~15 | 15 - (n & 15)), ("row_half_mirror", lambda n: n & ~7 | 7 - (n & 7)),
        ("row_bcast:15", lambda n: n if n < 16 else (n & 0x30) - 1), ("row_bcast:31", lambda n: n if n < 32 else 31),
    ]
    for text, source in controls:
        for bound in (False, True):
            items = [source(n) for n in range(64)]
            items = [("z" if bound else "-") if x is None else x for x in items]
            inactive = "z" if bound else "-"
            for mask_text, keep in ((" row_mask:0xf bank_mask:0xf", lambda n: False),) + (
                    ((" row_mask:0xa bank_mask:0xf", lambda n: not 0xa >> (n >> 4) & 1), (" row_mask:0xf bank_mask:0x5", lambda n: not 5 >> (n >> 2 & 3) & 1), (" row_mask:0x6 bank_mask:0x9", lambda n: not (6 >> (n >> 4) & 1 and 9 >> (n >> 2 & 3) & 1)))
                    if text in ("quad_perm:[1,0,3,2]", "row_shl:1", "row_bcast:15", "row_bcast:31", "row_ror:7", "wave_shr:1", "row_mirror") else ()):
                lanes = ["-" if keep(n) else x for n, x in enumerate(items)]
                c.block(f"v_mov_b32_dpp v0, v4 {text}{mask_text}{' bound_ctrl:0' if bound else ''}", [f"-> v0=v4<{listed(lanes)} | {inactive}>"], GFX8,
                        "bound_ctrl:0 sets the bit: an invalid lane reads 0 and writes" if bound and text == "row_shl:1" else None)
    # Every bit of the masks: rows of 16 lanes, banks of 4 in every row.
    for rows, banks in [(1 << i, 15) for i in range(4)] + [(15, 1 << i) for i in range(4)] + [(0, 15), (15, 0), (3, 12), (12, 3)]:
        for text, source in (("row_ror:1", lambda n: n & ~15 | (n - 1) & 15), ("wave_ror:1", lambda n: (n - 1) & 63)):
            lanes = [source(n) if rows >> (n >> 4) & 1 and banks >> (n >> 2 & 3) & 1 else "-" for n in range(64)]
            c.block(f"v_mov_b32_dpp v0, v4 {text} row_mask:{rows:#x} bank_mask:{banks:#x}", [f"-> v0=v4<{listed(lanes)} | ->"], GFX8, "masks are of destination lanes" if rows == 1 else None)
    # Only the first source crosses lanes.
    c.block("v_add_u32_dpp v0, v4, v8 row_shl:1 row_mask:0xf bank_mask:0xf", ["v8=00000100 -> v0=v4<1..15 - | ->+100"], GFX9)
    c.block("v_add_u32_dpp v0, v4, v8 row_shl:1 row_mask:0xf bank_mask:0xf bound_ctrl:0", ["v8=00000100 -> v0=v4<1..15 z | z>+100"], GFX9)
    c.block("v_add_u32_dpp v4, v4, v8 row_shr:1 row_mask:0xf bank_mask:0xf", ["v8=00000100 -> v4=v4<- 0..14 | ->+100"], GFX9, "D may be the source")
    identity = "quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf"
    singles = [(0x3f800000, 0x40000000), (0xbf800000, 0x3f000000), (0x7fc00000, 0xff800000), (0xc0490fdb, 0x80000000)]
    for text, change in (("-v4, v8", lambda a, b: (a ^ 1 << 31, b)), ("|v4|, -v8", lambda a, b: (a & mask(31), b ^ 1 << 31)), ("-|v4|, |v8|", lambda a, b: (a | 1 << 31, b & mask(31)))):
        c.block(f"v_add_f32_dpp v0, {text} {identity}", [f"v4={a:08x} v8={b:08x} -> v0={fl.add(F32, *change(a, b)):08x}" for a, b in singles], GFX8, "abs, then neg")
    for text, change in (("-v4, |v8|", lambda a, b: (a ^ 0x8000, b & 0x7fff)), ("-|v4|, -v8", lambda a, b: (a | 0x8000, b ^ 0x8000)), ("|v4|, -|v8|", lambda a, b: (a & 0x7fff, b | 0x8000))):
        c.block(f"v_add_f16_dpp v0, {text} {identity}", [f"v4={a | 0xabcd0000:08x} v8={b | 0x80000000:08x} -> v0={fl.add(F16, *change(a, b)):08x}" for a, b in ((0x3c00, 0x4000), (0xbc00, 0x3800), (0xc248, 0x0001), (0x8000, 0x0000))], GFX8)
        c.block(f"v_mul_f32_dpp v0, {text} {identity}", [f"v4={a:08x} v8={b:08x} -> v0={fl.mul(F32, *(x << 16 | y & 0xffff for x, y in zip(change(a >> 16, b >> 16), (a, b)))):08x}" for a, b in singles], GFX8)
    c.block(f"v_sub_f32_dpp v0, v4, v8 {identity}", [f"v4={a:08x} v8={b:08x} -> v0={fl.sub(F32, a, b):08x}" for a, b in singles], GFX8)
    c.block(f"v_subrev_f32_dpp v0, v4, v8 quad_perm:[1,1,1,1] row_mask:0xf bank_mask:0xf", ["exec=f v4[1]=3f800000 v8[0]=40000000 v8[1]=40400000 v8[2]=40800000 v8[3]=0 -> v0[0]=3f800000 v0[1]=40000000 v0[2]=40400000 v0[3]=bf800000"], GFX8)
    c.block(f"v_mac_f32_dpp v0, v4, v8 {identity}", ["v0=3f800000 v4=40000000 v8=40400000 -> v0=40e00000"], GFX8)
    c.block(f"v_add_f16_dpp v0, v4, v8 {identity}", ["v4=abcd3c00 v8=abcd4000 -> v0=00004200", "v4=0000bc00 v8=00003c00 -> v0=00000000"], GFX8)
    c.block(f"v_cndmask_b32_dpp v0, v4, v8, vcc {identity}", ["vcc.lane=0 v4=1 v8=2 -> v0=00000001", "vcc.lane=1 v4=1 v8=2 -> v0=00000002"], GFX8)
    for name, targets in (("v_add_u32_dpp", ["gfx803"]), ("v_add_co_u32_dpp", GFX9)):
        c.block(f"{name} v0, vcc, v4, v8 {identity}", ["v4=ffffffff v8=1 -> v0=00000000 vcc.lane=1", "v4=1 v8=1 -> v0=00000002 vcc.lane=0"], targets)
    c.block([f"v_addc_co_u32_dpp v0, vcc, v4, v8, vcc {identity}", f"v_addc_u32_dpp v0, vcc, v4, v8, vcc {identity}"], ["vcc.lane=1 v4=ffffffff v8=0 -> v0=00000000 vcc.lane=1", "vcc.lane=0 v4=1 v8=1 -> v0=00000002 vcc.lane=0"], GFX8)
    c.block(f"v_cvt_f32_i32_dpp v0, v4 {identity}", ["v4=ffffffff -> v0=bf800000", "v4=5 -> v0=40a00000"], GFX8)
    c.block(f"v_fmac_f32_dpp v0, v4, v8 {identity}", ["v0=bf800002 v4=3f800001 v8=3f800001 -> v0=28800000", "v0=3f800000 v4=40000000 v8=40400000 -> v0=40e00000"], ["gfx906"])


def main():
    c = Chapter("sdwa", "SDWA: sub-dword selections. Select, then sign-extend or abs and neg; clamp, then the placement.")
    sdwa(c)
    sdwa_values(c)
    c.write()
    c = Chapter("dpp", "DPP: the first source comes from another lane. Lanes behind `|` are what a source lane gives that is off in EXEC.")
    dpp(c)
    c.write()


if __name__ == "__main__":
    main()
