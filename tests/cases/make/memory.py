"""Memory: LDS, FLAT, GLOBAL, SCRATCH, buffers, scalar memory. Each lane has a window of 256 bytes."""

import floats as fl
from case import Chapter, TARGETS, assemble, hexed, mask, signed
from floats import F16, F32, F64
from forms import listed
from vector import GFX67, GFX8, GFX9

GFX7UP = ["gfx700"] + GFX8
GFX9UP = GFX9 + ["gfx908", "gfx90a", "gfx942"]
M32 = mask(32)


def le(value, size):
    return f"{value & mask(8 * size):0{2 * size}x}"


def reg(first, count, file="v"):
    return f"{file}{first}" if count == 1 else f"{file}[{first}:{first + count - 1}]"


def fcmp(f, a, b):
    return fl.compare(f, a, b)


def atomics(bits):
    """name: (type suffix, function of memory and data, values)"""
    s = lambda x: signed(x, bits)
    top, full = 1 << bits - 1, mask(bits)
    pairs = [(5, 3), (0, 0), (full, 1), (3, 5), (top, full), (full, top), (top - 1, 1), (0x12345678, 0x9abcdef0), (7, 7)]
    f = F32 if bits == 32 else F64
    fpairs = [(f.one, f.one | f.sign), (f.one | f.sign, f.one), (f.nan, f.one), (f.one, f.nan), (f.inf, f.max), (0, f.one)]
    return {
        "add": ("u", lambda m, d: m + d, pairs), "sub": ("u", lambda m, d: m - d, pairs), "rsub": ("u", lambda m, d: d - m, pairs),
        "inc": ("u", lambda m, d: 0 if m >= d else m + 1, pairs), "dec": ("u", lambda m, d: d if m == 0 or m > d else m - 1, pairs),
        "smin": ("i", lambda m, d: min(s(m), s(d)), pairs), "smax": ("i", lambda m, d: max(s(m), s(d)), pairs), "umin": ("u", min, pairs), "umax": ("u", max, pairs),
        "and": ("b", lambda m, d: m & d, pairs), "or": ("b", lambda m, d: m | d, pairs), "xor": ("b", lambda m, d: m ^ d, pairs), "swap": ("b", lambda m, d: d, pairs[:4]),
        "fmin": ("f", lambda m, d: d if fcmp(f, d, m) == -1 else m, fpairs), "fmax": ("f", lambda m, d: d if fcmp(f, d, m) == 1 else m, fpairs),
    }


def swap_pairs(bits):
    return [(5, 5, 9), (5, 6, 9), (0, 0, mask(bits)), (1 << bits - 1, 0, 7), (mask(bits), mask(bits), 0)]


def fswap_pairs(f):
    return [(f.one, f.one, 5), (0, f.sign, 7), (f.nan, f.nan, 9), (f.one, f.one + 1, 5)]


def lds():
    c = Chapter("ds", "DS: local data share. `win` is the lane's window; M0 is -1 where no line says otherwise.")
    # Loads and stores.
    for name, size, sign, targets in (("u8", 1, False, None), ("i8", 1, True, None), ("u16", 2, False, None), ("i16", 2, True, None), ("b32", 4, False, None), ("b64", 8, False, None), ("b96", 12, False, GFX7UP), ("b128", 16, False, GFX7UP)):
        count = max(1, size // 4)
        values = [0x80ff7f01_12345678_9abcdef0_0fedcba9 & mask(8 * size), mask(8 * size), 1]
        for offset in (0, 16):
            text = f"ds_read_{name} {reg(0, count)}, v4" + (f" offset:{offset}" if offset else "")
            c.block(text, [f"v4=win+10 lds[{16 + offset:x}]={le(v, size)} -> {reg(0, count)}={hexed(signed(v, 8 * size) if sign else v, max(32, 8 * size))}" for v in values], targets)
        if not sign:
            store = {1: "b8", 2: "b16"}.get(size, name)
            for offset in (0, 16):
                text = f"ds_write_{store} v4, {reg(8, count)}" + (f" offset:{offset}" if offset else "")
                c.block(text, [f"v4=win+10 {reg(8, count)}={hexed(0xabcd1234_80ff7f01_12345678_9abcdef0 >> (0 if size > 4 else 3) & mask(max(32, 8 * size)), max(32, 8 * size))} -> lds[{16 + offset:x}]={le(0xabcd1234_80ff7f01_12345678_9abcdef0 >> (0 if size > 4 else 3), size)}",
                               f"v4=win+20 {reg(8, count)}=0 -> lds[{32 + offset:x}]={le(0, size)}"], targets)
    for name, lo, sign, size in (("u8_d16", 0, False, 1), ("u8_d16_hi", 1, False, 1), ("i8_d16", 0, True, 1), ("i8_d16_hi", 1, True, 1), ("u16_d16", 0, False, 2), ("u16_d16_hi", 1, False, 2)):
        lines = []
        for v in (0x80 if size == 1 else 0x8001, 0x7f):
            part = (signed(v, 8 * size) if sign else v) & 0xffff
            keep = (0x11110000 | part) if not lo else 0x2222 | part << 16
            lines.append(f"gfx900: v0=11112222 v4=win+10 lds[10]={le(v, size)} -> v0={keep:08x}")
            lines.append(f"gfx906: v0=11112222 v4=win+10 lds[10]={le(v, size)} -> v0={part << 16 * lo:08x}")
        c.block(f"ds_read_{name} v0, v4", lines, GFX9, "the other half stays; with SRAM ECC (gfx906) it is zeroed")
    c.block("ds_write_b8_d16_hi v4, v8", ["v4=win+11 v8=12345678 -> lds[11]=34", "v4=win+10 v8=00ff0000 -> lds[10]=ff"], GFX9)
    c.block("ds_write_b16_d16_hi v4, v8", ["v4=win+12 v8=12345678 -> lds[12]=1234", "v4=win+10 v8=ffff0000 -> lds[10]=ffff"], GFX9)
    # Two addresses.
    a, b = 0x11223344_55667788, 0x99aabbcc_ddeeff00
    for size, count in ((4, 1), (8, 2)):
        n, av, bv = size * 8, a & mask(size * 8), b & mask(size * 8)
        both = f"v[0:{2 * count - 1}]"
        ra, rb = reg(8, count), reg(12, count)
        c.block(f"ds_read2_b{n} {both}, v4 offset0:1 offset1:5", [f"v4=win+10 lds[{16 + size:x}]={le(av, size)} lds[{16 + 5 * size:x}]={le(bv, size)} -> {both}={bv << n | av:0{4 * size}x}"])
        c.block(f"ds_read2_b{n} {both}, v4 offset0:3 offset1:3", [f"v4=win+0 lds[{3 * size:x}]={le(av, size)} -> {both}={av << n | av:0{4 * size}x}"])
        c.block(f"ds_read2st64_b{n} {both}, v4 offset0:1 offset1:0", [f"exec=1 v4=win+8 group[8]={le(bv, size)} group[{8 + 64 * size:x}]={le(av, size)} -> v0[0]={av & M32:08x} v{count}[0]={bv & M32:08x}" + (f" v1[0]={av >> 32:08x} v3[0]={bv >> 32:08x}" if count == 2 else "")])
        c.block(f"ds_write2st64_b{n} v4, {ra}, {rb} offset0:1 offset1:0", [f"exec=1 v4=win+8 {ra}={hexed(av, n)} {rb}={hexed(bv, n)} -> group[8]={le(bv, size)} group[{8 + 64 * size:x}]={le(av, size)}"])
        c.block(f"ds_read2st64_b{n} {both}, v4 offset0:0 offset1:1", [f"exec=1 v4=win+10 group[10]={le(av, size)} group[{16 + 64 * size:x}]={le(bv, size)} -> v{0}[0]={av & M32:08x} v{count}[0]={bv & M32:08x}" + (f" v1[0]={av >> 32:08x} v3[0]={bv >> 32:08x}" if count == 2 else "")])
        c.block(f"ds_write2_b{n} v4, {ra}, {rb} offset0:1 offset1:5", [f"v4=win+10 {ra}={hexed(av, n)} {rb}={hexed(bv, n)} -> lds[{16 + size:x}]={le(av, size)} lds[{16 + 5 * size:x}]={le(bv, size)}"])
        c.block(f"ds_write2_b{n} v4, {ra}, {rb} offset0:3 offset1:3", [f"v4=win+0 {ra}={hexed(av, n)} {rb}={hexed(bv, n)} -> lds[{3 * size:x}]={le(av, size)}"], note="equal offsets: one access, the first data")
        c.block(f"ds_write2st64_b{n} v4, {ra}, {rb} offset0:0 offset1:1", [f"exec=1 v4=win+10 {ra}={hexed(av, n)} {rb}={hexed(bv, n)} -> group[10]={le(av, size)} group[{16 + 64 * size:x}]={le(bv, size)}"])
        old0, old1 = 0x0102030405060708 & mask(n), 0x1112131415161718 & mask(n)
        c.block(f"ds_wrxchg2_rtn_b{n} {both}, v4, {ra}, {rb} offset0:2 offset1:2", [f"v4=win+0 {ra}={hexed(av, n)} {rb}={hexed(bv, n)} lds[{2 * size:x}]={le(old0, size)} -> {both}=? lds[{2 * size:x}]={le(av, size)}"], note="equal offsets: one access, the first data")
        c.block(f"ds_wrxchg2st64_rtn_b{n} {both}, v4, {ra}, {rb} offset0:1 offset1:0", [f"exec=1 v4=win+8 {ra}={hexed(av, n)} {rb}={hexed(bv, n)} group[8]={le(old1, size)} group[{8 + 64 * size:x}]={le(old0, size)} -> v0[0]={old0 & M32:08x} v{count}[0]={old1 & M32:08x}" + (f" v1[0]={old0 >> 32:08x} v3[0]={old1 >> 32:08x}" if count == 2 else "") + f" group[8]={le(bv, size)} group[{8 + 64 * size:x}]={le(av, size)}"])
        c.block(f"ds_wrxchg2_rtn_b{n} {both}, v4, {ra}, {rb} offset0:1 offset1:5", [f"v4=win+10 {ra}={hexed(av, n)} {rb}={hexed(bv, n)} lds[{16 + size:x}]={le(old0, size)} lds[{16 + 5 * size:x}]={le(old1, size)} -> {both}={old1 << n | old0:0{4 * size}x} lds[{16 + size:x}]={le(av, size)} lds[{16 + 5 * size:x}]={le(bv, size)}"])
        c.block(f"ds_wrxchg2st64_rtn_b{n} {both}, v4, {ra}, {rb} offset0:0 offset1:1", [f"exec=1 v4=win+10 {ra}={hexed(av, n)} {rb}={hexed(bv, n)} group[10]={le(old0, size)} group[{16 + 64 * size:x}]={le(old1, size)} -> v0[0]={old0 & M32:08x} v{count}[0]={old1 & M32:08x}" + (f" v1[0]={old0 >> 32:08x} v3[0]={old1 >> 32:08x}" if count == 2 else "") + f" group[10]={le(av, size)} group[{16 + 64 * size:x}]={le(bv, size)}"])
    # Atomics.
    for bits in (32, 64):
        size, count = bits // 8, bits // 32
        d, d2, out = reg(8, count), reg(12, count), reg(0, count)
        f = F32 if bits == 32 else F64
        for op, (kind, fn, pairs) in atomics(bits).items():
            name = {"smin": "min", "smax": "max", "umin": "min", "umax": "max", "fmin": "min", "fmax": "max", "swap": "wrxchg"}.get(op, op)
            for returns in (False, True):
                if op == "swap" and not returns:
                    continue
                lines = [f"v4=win+10 {d}={hexed(x, bits)} lds[10]={le(m, size)} -> lds[10]={le(fn(m, x), size)}" + (f" {out}={hexed(m, bits)}" if returns else "") for m, x in pairs]
                c.block(f"ds_{name}_{'rtn_' if returns else ''}{kind}{bits} {out + ', ' if returns else ''}v4, {d}", lines)
            if op != "swap":
                lines = [f"v4=win+10 lds[10]={le(m, size)} lds[20]={le(x, size)} -> lds[10]={le(fn(m, x), size)}" for m, x in pairs[:5]]
                c.block(f"ds_{name}_src2_{kind}{bits} v4 offset:4", lines, note="the other operand lies 4 * offset behind")
        c.block(f"ds_add_u{bits} v4, {d} offset:48", [f"v4=win+10 {d}=5 lds[40]={le(7, size)} -> lds[40]={le(12, size)}"])
        c.block(f"ds_write_src2_b{bits} v4 offset:4", [f"v4=win+10 lds[20]={le(a, size)} -> lds[10]={le(a, size)}", f"v4=win+20 lds[30]={le(b, size)} -> lds[20]={le(b, size)}"])
        for returns in (False, True):
            rtn, first = ("rtn_", out + ", ") if returns else ("", "")
            tail = lambda m: f" {out}={hexed(m, bits)}" if returns else ""
            c.block(f"ds_cmpst_{rtn}b{bits} {first}v4, {d}, {d2}", [f"v4=win+10 {d}={hexed(x, bits)} {d2}={hexed(n, bits)} lds[10]={le(m, size)} -> lds[10]={le(n if m == x else m, size)}{tail(m)}" for m, x, n in swap_pairs(bits)], note="DATA0 compare, DATA1 new")
            c.block(f"ds_cmpst_{rtn}f{bits} {first}v4, {d}, {d2}", [f"v4=win+10 {d}={hexed(x, bits)} {d2}={hexed(n, bits)} lds[10]={le(m, size)} -> lds[10]={le(n if fcmp(f, m, x) == 0 else m, size)}{tail(m)}" for m, x, n in fswap_pairs(f)], note="-0 equals +0, NaN equals nothing")
            c.block(f"ds_mskor_{rtn}b{bits} {first}v4, {d}, {d2}", [f"v4=win+10 {d}={hexed(x, bits)} {d2}={hexed(n, bits)} lds[10]={le(m, size)} -> lds[10]={le(m & ~x | n, size)}{tail(m)}" for m, x, n in ((a & mask(bits), 0xff00ff00, 0x00110011), (0, mask(bits), 5), (mask(bits), 0xf0, 0))])
    for returns in (False, True):
        rtn, first = ("rtn_", "v0, ") if returns else ("", "")
        lines = [f"v4=win+10 v8={d:08x} lds[10]={m:08x} -> lds[10]={fl.add(F32, m, d):08x}" + (f" v0={m:08x}" if returns else "") for m, d in ((0x3f800000, 0x40000000), (0xbf800000, 0x3f800000), (0x3f800000, 0x33800001), (1, 1))]
        c.block(f"ds_add_{rtn}f32 {first}v4, v8", lines, GFX8, "always to nearest even")
        c.block(f"ds_add_{rtn}f32 {first}v4, v8", ["mode=000003ff v4=win+10 v8=33800001 lds[10]=3f800000 -> lds[10]=3f800001" + (" v0=3f800000" if returns else ""), "mode=00000300 v4=win+10 v8=00000001 lds[10]=00000001 -> lds[10]=00000000" + (" v0=00000001" if returns else "")], GFX8, "MODE rounding does not matter, denormals do")
        lines = [f"v4=win+10 v[8:9]={d:016x} lds[10]={m:016x} -> lds[10]={fl.add(F64, m, d):016x}" + (f" v[0:1]={m:016x}" if returns else "") for m, d in ((0x3ff0000000000000, 0x4000000000000000), (0xbff0000000000000, 0x3ff0000000000000))]
        c.block(f"ds_add_{rtn}f64 {first.replace('v0', 'v[0:1]')}v4, v[8:9]", lines, ["gfx90a"])
        c.block(f"ds_add_{rtn}f64 {first.replace('v0', 'v[0:1]')}v4, v[8:9]", ["mode=000003ff v4=win+10 v[8:9]=3ca0000000000001 lds[10]=3ff0000000000000 -> lds[10]=3ff0000000000001" + (" v[0:1]=3ff0000000000000" if returns else ""), "mode=00000300 v4=win+10 v[8:9]=0000000000000001 lds[10]=0000000000000001 -> lds[10]=0000000000000002" + (" v[0:1]=0000000000000001" if returns else "")], ["gfx90a"], "neither rounding nor denormals follow MODE")
    c.block("ds_add_src2_f32 v4 offset:4", ["v4=win+10 lds[10]=3f800000 lds[20]=40000000 -> lds[10]=40400000", "v4=win+10 lds[10]=bf800000 lds[20]=3f800000 -> lds[10]=00000000"], GFX8)
    c.block("ds_add_src2_u32 v4 offset:32764", ["v4=win+20 lds[20]=00000005 lds[10]=00000007 -> lds[20]=0000000c"], note="offset[14:0] is signed: -4 dwords")
    c.block("ds_add_src2_u32 v4 offset:32768", ["v4=win+80010 lds[10]=00000005 lds[20]=00000007 -> lds[10]=0000000c", "v4=win+fff80020 lds[20]=00000005 lds[10]=00000007 -> lds[20]=0000000c"], note="offset bit 15: the signed distance in dwords is in ADDR[31:17]")
    c.block("ds_wrap_rtn_b32 v0, v4, v8, v12", [f"v4=win+10 v8={x:08x} v12={y:08x} lds[10]={m:08x} -> v0={m:08x} lds[10]={(m - x if m >= x else m + y) & M32:08x}" for m, x, y in ((5, 3, 100), (2, 3, 100), (3, 3, 9), (0, 0xffffffff, 0xffffffff))], GFX7UP)
    c.block("ds_nop", ["v0=1 ->", "exec=0 ->"], GFX7UP)
    # Out of range: each access by itself.
    c.block("ds_read_b32 v0, v4", ["ldssize=40 v4=3c group[3c]=11223344 -> v0=11223344", "ldssize=40 v4=40 -> v0=00000000", "ldssize=40 v4=fffffffc -> v0=00000000", "ldssize=40 v4=10000 -> v0=00000000"], note="out of range reads 0")
    c.block("ds_read_b32 v0, v4 offset:64", ["ldssize=40 v4=0 -> v0=00000000", "ldssize=80 v4=0 group[40]=11223344 -> v0=11223344"])
    c.block("ds_write_b32 v4, v8", ["ldssize=40 v4=40 v8=5 ->", "ldssize=40 v4=fffffff0 v8=5 ->", "exec=1 ldssize=40 v4=3c v8=5 -> group[3c]=00000005"], note="out of range is not written")
    c.block("ds_read2_b32 v[0:1], v4 offset0:0 offset1:1", ["ldssize=40 v4=3c group[3c]=11223344 -> v[0:1]=0000000011223344"], note="each half by itself")
    c.block("ds_add_rtn_u32 v0, v4, v8", ["ldssize=40 v4=40 v8=5 -> v0=00000000"])
    c.block("ds_read_b32 v0, v4", ["gfx600..gfx803: m0=20 v4=20 -> v0=00000000", "gfx600..gfx803: m0=20 v4=1c group[1c]=11223344 -> v0=11223344", "gfx900..: m0=20 v4=20 group[20]=11223344 -> v0=11223344"], note="M0 limits LDS before gfx9")
    c.block("ds_read_b32 v0, v4", ["gfx900..: v4=win+11 lds[11]=11223344 -> v0=11223344", "gfx600..gfx803: v4=win+11 lds[10]=11223344 -> v0=11223344"], note="unaligned: in full on gfx9, before that the low bits are ignored")
    wraps = ["gfx700"] + GFX8
    note = "base and offset wrap at 32 bits"
    c.block("ds_read_b32 v0, v4 offset:136", ["v4=ffffff88 group[10]=12345678 -> v0=12345678", "v4=fffffffc group[84]=89abcdef -> v0=89abcdef", "v4=ffffff74 -> v0=00000000"], wraps, note)
    c.block("ds_read_b32 v0, v4 offset:136", ["v4=ffffff88 -> v0=00000000", "v4=fffffffc -> v0=00000000"], ["gfx600"], "a negative base is out of range on gfx6, whatever the sum")
    c.block("ds_write_b32 v4, v8 offset:136", ["exec=1 v4=ffffff88 v8=12345678 -> group[10]=12345678", "exec=1 v4=ffffff74 v8=12345678 ->"], wraps)
    c.block("ds_write_b32 v4, v8 offset:136", ["v4=ffffff88 v8=12345678 ->"], ["gfx600"])
    c.block("ds_read_u8 v0, v4 offset:255", ["v4=ffffff12 group[11]=89 -> v0=00000089"], wraps)
    c.block("ds_read_b64 v[0:1], v4 offset:136", ["v4=ffffff88 group[10]=123456789abcdef0 -> v[0:1]=123456789abcdef0"], wraps)
    c.block("ds_read_b128 v[0:3], v4 offset:144", ["v4=ffffff80 group[10]=80ff7f01123456789abcdef08fedcb89 -> v[0:3]=80ff7f01123456789abcdef08fedcb89"], wraps)
    c.block("ds_read2_b32 v[0:1], v4 offset0:34 offset1:4", ["v4=ffffff88 group[10]=12345678 -> v[0:1]=0000000012345678", "v4=fffffff0 group[78]=12345678 group[0]=9abcdef0 -> v[0:1]=9abcdef012345678"], wraps, "each half by itself")
    c.block("ds_read2_b32 v[0:1], v4 offset0:34 offset1:4", ["v4=ffffff88 -> v[0:1]=0000000000000000"], ["gfx600"])
    c.block("ds_read2st64_b32 v[0:1], v4 offset0:1 offset1:2", ["v4=ffffff10 group[10]=12345678 group[110]=9abcdef0 -> v[0:1]=9abcdef012345678"], wraps)
    c.block("ds_write2_b64 v4, v[8:9], v[12:13] offset0:18 offset1:1", ["exec=1 v4=ffffff80 v[8:9]=123456789abcdef0 v[12:13]=5 -> group[10]=123456789abcdef0"], wraps)
    c.block("ds_add_rtn_u32 v0, v4, v8 offset:136", ["exec=1 v4=ffffff88 v8=5 group[10]=00000007 -> v0=00000007 group[10]=0000000c", "v4=ffffff74 v8=5 -> v0=00000000"], wraps)
    c.block("ds_add_rtn_u32 v0, v4, v8 offset:136", ["v4=ffffff88 v8=5 -> v0=00000000"], ["gfx600"])
    c.block("ds_cmpst_rtn_b64 v[0:1], v4, v[8:9], v[12:13] offset:136", ["exec=1 v4=ffffff88 v[8:9]=7 v[12:13]=9 group[10]=0000000000000007 -> v[0:1]=0000000000000007 group[10]=0000000000000009"], wraps)
    c.block("ds_wrxchg2_rtn_b32 v[0:1], v4, v8, v12 offset0:34 offset1:4", ["exec=1 v4=ffffff88 v8=5 v12=6 group[10]=00000007 -> v[0:1]=0000000000000007 group[10]=00000005"], wraps)
    c.block("ds_add_src2_u32 v4 offset:32764", ["v4=8 group[8]=00000005 -> group[8]=00000005"], note="the other operand's address wraps, too: out of range it is 0")
    c.block("ds_bpermute_b32 v0, v4, v8 offset:24", ["v4=fffffffc -> v0=v8<5 | z>"], GFX8)
    c.block("ds_write_b32 v4, v8", ["exec=ff v4=10 v8[0]=1 v8[7]=7 v8[3]=3 -> group[10]=00000007"], note="one address: the highest lane wins")
    c.block("ds_add_rtn_u32 v0, v4, v8", ["exec=f v4=10 v8=1 group[10]=00000064 -> v0[0]=64 v0[1]=65 v0[2]=66 v0[3]=67 group[10]=00000068"], note="lanes in ascending order")
    # Exchange between lanes; LDS is not touched.
    def addresses(sources):
        return "<" + " ".join(str(4 * s) for s in sources) + ">"
    rotated = [(n + 1) & 63 for n in range(64)]
    reversed_lanes = [63 - n for n in range(64)]
    c.block("ds_bpermute_b32 v0, v4, v8", [f"v4={addresses(rotated)} -> v0=v8<{listed(rotated)} | z>", f"v4={addresses(reversed_lanes)} -> v0=v8<{listed(reversed_lanes)} | z>", "v4=00000014 -> v0=v8<5 | z>", "v4=00000117 -> v0=v8<5 | z>"], GFX8,
            "an inactive source lane gives 0; the address counts bytes, modulo 64 lanes")
    c.block("ds_bpermute_b32 v0, v4, v8 offset:8", [f"v4={addresses(range(64))} -> v0=v8<{listed([(n + 2) & 63 for n in range(64)])} | z>"], GFX8)
    back = [(n - 1) & 63 for n in range(64)]
    c.block("ds_permute_b32 v0, v4, v8", [f"v4={addresses(rotated)} -> v0=v8<{listed(back)} | z>", f"v4={addresses(reversed_lanes)} -> v0=v8<{listed(reversed_lanes)} | z>", "exec=ffffffffffffffff v4=00000000 -> v0=v8<63 z*63>", "exec=00000000000000ff v4=00000004 -> v0=v8<z 7 z*62>"], GFX8,
            "lanes that nobody writes get 0; the highest lane wins")
    c.block("ds_permute_b32 v0, v4, v8 offset:8", [f"v4={addresses(range(64))} -> v0=v8<{listed([(n - 2) & 63 for n in range(64)])} | z>"], GFX8)
    for perm in ((0, 1, 2, 3), (1, 2, 3, 0), (3, 3, 0, 0), (2, 3, 0, 1)):
        c.block(f"ds_swizzle_b32 v0, v4 offset:swizzle(QUAD_PERM,{','.join(map(str, perm))})", [f"-> v0=v4<{listed([n & ~3 | perm[n & 3] for n in range(64)])} | z>"], note="an inactive source lane gives 0")
    for and_mask, or_mask, xor_mask in ((31, 0, 1), (31, 0, 16), (0x1c, 0, 0), (0x10, 5, 0), (0x1e, 1, 31), (0, 0, 0), (31, 0, 31)):
        offset = and_mask | or_mask << 5 | xor_mask << 10
        lanes = [((n & 31 & and_mask) | or_mask) ^ xor_mask | n & 32 for n in range(64)]
        c.block(f"ds_swizzle_b32 v0, v4 offset:{offset}", [f"-> v0=v4<{listed(lanes)} | z>"], note="and, or, xor within 32 lanes")
    for offset in (0xc000 | 1 << 5, 0xc400 | 3 << 5, 0xc000 | 5 << 5 | 0x18, 0xc400 | 2 << 5 | 0x1c):
        rotate, keep = offset >> 5 & 31, offset & 31
        rotate = -rotate if offset >> 10 & 1 else rotate
        lanes = [(n & keep | (n + rotate) & ~keep) & 31 | n & 32 for n in range(64)]
        c.block(f"ds_swizzle_b32 v0, v4 offset:{offset}", [f"-> v0=v4<{listed(lanes)} | z>"], GFX9, "gfx9: rotate")
    for offset in (0xe000, 0xe010, 0xe018, 0xe01f):
        keep, lanes = offset & 31, []
        for n in range(64):
            j = int(f"{n & 31:05b}"[::-1], 2) >> bin(keep).count("1")
            lanes.append(j | n & keep | n & 32)
        c.block(f"ds_swizzle_b32 v0, v4 offset:{offset}", [f"-> v0=v4<{listed(lanes)} | z>"], GFX9, "gfx9: FFT")
    # The wave's counter, thread addresses.
    c.block("ds_append v0 offset:4", ["exec=00000000000000ff m0=ffff0010 group[14]=00000005 -> v0=00000005 group[14]=0000000d", "exec=00000000000000ff m0=10 group[14]=00000005 -> v0=00000005 group[14]=0000000d", "exec=8000000000000001 m0=20 group[24]=ffffffff -> v0=ffffffff group[24]=00000001"], note="adds the number of active lanes once")
    c.block("ds_consume v0 offset:4", ["exec=00000000000000ff m0=10 group[14]=00000009 -> v0=00000009 group[14]=00000001", "exec=1 m0=20 group[24]=00000000 -> v0=00000000 group[24]=ffffffff"])
    c.block("ds_read_addtid_b32 v0 offset:8", ["exec=3 m0=20 group[28]=1111111122222222 -> v0[0]=22222222 v0[1]=11111111", "exec=8000000000000000 m0=0 group[104]=12345678 -> v0[63]=12345678"], GFX9, "M0 + offset + 4 * lane")
    c.block("ds_write_addtid_b32 v4 offset:8", ["exec=3 m0=20 v4[0]=22222222 v4[1]=11111111 -> group[28]=1111111122222222", "exec=8000000000000000 m0=0 v4=12345678 -> group[104]=12345678"], GFX9)
    c.block("ds_condxchg32_rtn_b64 v[0:1], v4, v[8:9]", ["v4=win+10 v[8:9]=8000000500000007 lds[10]=1111111122222222 -> v[0:1]=1111111122222222 lds[14]=00000005", "v4=win+10 v[8:9]=0000000580000007 lds[10]=1111111122222222 -> v[0:1]=1111111122222222 lds[10]=00000007"], GFX7UP,
            "each dword whose data has bit 31 set is written, without that bit")
    c.block("ds_ordered_count v0, v4 gds", ["-> fault: unsupported", "v4=0 -> fault: unsupported"], note="global data share")
    # Global wave sync of one wave. M0[21:16] is part of the resource's number.
    lines = lambda more="": [f"m0={m0:x} v4=0 {more}s0=9 -> s0=1" for m0 in (0, 0x120000)]
    c.block("ds_gws_init v4 gds ; ds_gws_barrier v4 gds ; s_mov_b32 s0, 1", lines(), note="a barrier of one wave")
    c.block("ds_gws_init v4 gds ; ds_gws_sema_v gds ; ds_gws_sema_p gds ; s_mov_b32 s0, 1", lines(), note="a semaphore")
    c.block("ds_gws_init v4 gds ; ds_gws_sema_br v8 gds ; ds_gws_sema_p gds ; ds_gws_sema_p gds ; s_mov_b32 s0, 1", lines("v8=2 "), note="released twice")
    c.block("ds_gws_init v4 gds ; ds_gws_sema_release_all gds ; s_mov_b32 s0, 1", lines(), GFX7UP, "nobody waits")
    # LDS as an operand.
    c.block(["v_mov_b32_e32 v0, src_lds_direct", "v_mov_b32_e32 v0, lds_direct"], ["m0=00020010 group[10]=12345678 -> v0=12345678", "m0=00000010 group[10]=12345688 -> v0=00000088", "m0=00010010 group[10]=1234f678 -> v0=0000f678", "m0=00040010 group[10]=12345688 -> v0=ffffff88", "m0=00050010 group[10]=1234f678 -> v0=fffff678"],
            note="LDS_DIRECT: M0[15:0] address, M0[18:16] format; broadcast")

    def direct(text, lines, targets=TARGETS, note=None):
        c.block([text.replace("LDS", "src_lds_direct"), text.replace("LDS", "lds_direct")], lines, targets, note)
    word = "group[10]=3f800000"
    for low in (1, 2, 3):
        direct("v_mov_b32_e32 v0, LDS", [f"m0=0002001{low} group[10]=12345678 -> v0=12345678"], note="the dword that holds the byte" if low == 1 else None)
    direct("v_add_f32_e32 v0, LDS, v8", [f"m0=00020010 {word} v8=40000000 -> v0=40400000", f"m0=00020010 {word} v8=bf800000 -> v0=00000000"])
    direct("v_mul_f32_e64 v0, -|LDS|, v8", [f"m0=00020010 {word} v8=40000000 -> v0=c0000000", "m0=00020010 group[10]=c0000000 v8=40400000 -> v0=c0c00000"])
    direct("v_fma_f32 v0, LDS, v8, v12", [f"m0=00020010 {word} v8=40000000 v12=3f800000 -> v0=40400000", "m0=00000010 group[10]=000000ff v8=3f800000 v12=00000000 -> v0=000000ff"])
    direct("v_and_b32_e32 v0, LDS, v8", ["m0=00050010 group[10]=00008001 v8=ff00ff0f -> v0=ff008001", "m0=00040010 group[10]=00000080 v8=0ff00ff0 -> v0=0ff00f80"])
    direct("v_bfe_u32 v0, LDS, v8, v12", ["m0=00020010 group[10]=12345678 v8=00000008 v12=00000008 -> v0=00000056"])
    direct("v_cmp_eq_u32_e32 vcc, LDS, v8", ["m0=00010010 group[10]=abcd1234 v8=00001234 -> vcc.lane=1", "m0=00020010 group[10]=abcd1234 v8=00001234 -> vcc.lane=0"])
    direct("v_cmp_gt_i32_e64 s[2:3], LDS, v8", ["m0=00040010 group[10]=00000080 v8=00000000 -> s[2:3].lane=0", "m0=00000010 group[10]=00000080 v8=00000000 -> s[2:3].lane=1"])
    direct("v_cndmask_b32_e32 v0, LDS, v8, vcc", ["m0=00020010 group[10]=11112222 v8=33334444 vcc.lane=0 -> v0=11112222", "m0=00020010 group[10]=11112222 v8=33334444 vcc.lane=1 -> v0=33334444"])
    direct("v_add_f16_e32 v0, LDS, v8", ["m0=00020010 group[10]=7e003c00 v8=00004000 -> v0=00004200"], GFX8)
    direct("v_cvt_f32_u32_e32 v0, LDS", ["m0=00010010 group[10]=ffff0003 -> v0=40400000"])
    # Beyond the LDS nothing is read.
    direct("v_mov_b32_e32 v0, LDS", ["m0=0002fffc -> v0=00000000"])
    c.write()


LOADS = [("ubyte", 1, False), ("sbyte", 1, True), ("ushort", 2, False), ("sshort", 2, True), ("dword", 4, False), ("dwordx2", 8, False), ("dwordx3", 12, False), ("dwordx4", 16, False)]
DATA = 0x80ff7f01_12345678_9abcdef0_8fedcb89


def load_store(c, prefix, targets, address, text_of, place):
    """Loads and stores of every size. address: input text for byte 0x10; text_of(name, register): instruction text."""
    for name, size, sign in LOADS:
        count = max(1, size // 4)
        v = DATA & mask(8 * size)
        value = hexed(signed(v, 8 * size) if sign else v, max(32, 8 * size))
        c.block(text_of(f"{prefix}_load_{name}", reg(0, count), True), [f"{address} {place}[10]={le(v, size)} -> {reg(0, count)}={value}", f"{address} {place}[10]={le(1, size)} -> {reg(0, count)}={hexed(1, max(32, 8 * size))}"], targets)
    for name, size, _ in LOADS:
        name = {"ubyte": "byte", "ushort": "short"}.get(name, name)
        if name.startswith("s") and name != "short":
            continue
        count = max(1, size // 4)
        c.block(text_of(f"{prefix}_store_{name}", reg(8, count), False), [f"{address} {reg(8, count)}={hexed(DATA & mask(32 * count), 32 * count)} -> {place}[10]={le(DATA, size)}", f"{address} {reg(8, count)}=0 -> {place}[10]={le(0, size)}"], targets)


def d16(c, prefix, address, text_of, place, targets=GFX9):
    for name, high, sign, size in (("ubyte_d16", 0, False, 1), ("ubyte_d16_hi", 1, False, 1), ("sbyte_d16", 0, True, 1), ("sbyte_d16_hi", 1, True, 1), ("short_d16", 0, False, 2), ("short_d16_hi", 1, False, 2)):
        lines = []
        for v in (0x80 if size == 1 else 0x8001, 0x7f):
            part = (signed(v, 8 * size) if sign else v) & 0xffff
            keep = 0x2222 | part << 16 if high else 0x11110000 | part
            for gfx in targets:
                # With SRAM ECC the other half is zeroed.
                value = keep if gfx == "gfx900" else part << 16 * high
                lines.append(f"{gfx}: v0=11112222 {address} {place}[10]={le(v, size)} -> v0={value:08x}")
        c.block(text_of(f"{prefix}_load_{name}", "v0", True), lines, targets)
    for name, size in (("byte_d16_hi", 1), ("short_d16_hi", 2)):
        c.block(text_of(f"{prefix}_store_{name}", "v8", False), [f"{address} v8=12345678 -> {place}[10]={le(0x1234, size)}", f"{address} v8=ffff0000 -> {place}[10]={le(0xffff, size)}"], targets)


def memory_atomics(c, prefix, targets, address, text_of, place, floats=(), skip=("rsub",), cmp_name="cmpswap", float_targets=GFX67):
    for bits in (32, 64):
        size, count = bits // 8, bits // 32
        suffix = "" if bits == 32 else "_x2"
        d, pair, out = reg(8, count), reg(8, 2 * count), reg(0, count)
        f = F32 if bits == 32 else F64
        for op, (kind, fn, pairs) in atomics(bits).items():
            if op in skip and op != "rsub" or kind == "f" and op not in floats:
                continue
            where = ["gfx600"] if op == "rsub" else float_targets if kind == "f" else targets
            if op == "rsub" and "rsub" in skip:
                continue
            into = d if text_of.buffer else out
            # The data register is also where the old value goes for buffers.
            for glc in (False, True):
                lines = [f"{address} {d}={hexed(x, bits)} {place}[10]={le(m, size)} -> {place}[10]={le(fn(m, x), size)}" + (f" {into}={hexed(m, bits)}" if glc else "") for m, x in pairs[:6]]
                text = text_of(f"{prefix}_atomic_{op}{suffix}", d, glc)
                if op == "rsub":
                    # The assembler does not know it: four opcodes behind the exchange.
                    (_, words), = assemble([text.replace("rsub", "swap")], "gfx600")
                    c.raw(text, [words[0] + (4 << 18), words[1]], lines, where)
                else:
                    c.block(text, lines, where)
        for op, cases, equal in (("cmpswap", swap_pairs(bits), lambda m, x: m == x), ("fcmpswap", fswap_pairs(f), lambda m, x: fcmp(f, m, x) == 0)):
            if op == "fcmpswap" and not floats:
                continue
            for glc in (False, True):
                into = d if text_of.buffer else out
                lines = [f"{address} {pair}={x << bits | n:0{size * 4}x} {place}[10]={le(m, size)} -> {place}[10]={le(n if equal(m, x) else m, size)}" + (f" {into}={hexed(m, bits)}" if glc else "") for m, x, n in cases]
                c.block(text_of(f"{prefix}_atomic_{op}{suffix}", pair, glc, count), lines, float_targets if op == "fcmpswap" else targets, "data = {new, compare}")


class FlatText:
    """Instruction text of FLAT forms; address registers v[4:5] or as given."""
    buffer = False

    def __init__(self, address="v[4:5]", tail=""):
        self.address, self.tail = address, tail

    def __call__(self, name, data, load, count=None):
        if "_atomic_" in name:
            if load:
                n = count or (1 if data[1] != "[" else (int(data[data.index(":") + 1:-1]) - int(data[2:data.index(":")]) + 1))
                return f"{name} {reg(0, n)}, {self.address}, {data}{self.tail} glc"
            return f"{name} {self.address}, {data}{self.tail}"
        return f"{name} {data}, {self.address}{self.tail}" if load else f"{name} {self.address}, {data}{self.tail}"


def flat():
    c = Chapter("flat", "FLAT, GLOBAL and SCRATCH.")
    plain = FlatText()
    load_store(c, "flat", GFX7UP, "v[4:5]=mem+10", plain, "mem")
    d16(c, "flat", "v[4:5]=mem+10", plain, "mem")
    memory_atomics(c, "flat", GFX7UP, "v[4:5]=mem+10", plain, "mem", ("fmin", "fmax"), float_targets=["gfx700"])
    off = FlatText(tail=", off")
    load_store(c, "global", GFX9, "v[4:5]=mem+10", off, "mem")
    d16(c, "global", "v[4:5]=mem+10", off, "mem")
    memory_atomics(c, "global", GFX9, "v[4:5]=mem+10", off, "mem")
    # Offsets and scalar addresses.
    c.block("flat_load_dword v0, v[4:5] offset:16", ["v[4:5]=mem+10 mem[20]=12345678 -> v0=12345678", "v[4:5]=mem+14 mem[24]=12345678 -> v0=12345678"], GFX9, "gfx9: 12 bits, unsigned")
    c.block("global_load_dword v0, v[4:5], off offset:16", ["v[4:5]=mem+10 mem[20]=12345678 -> v0=12345678", "v[4:5]=mem+0 mem[10]=12345678 -> v0=12345678"], GFX9)
    c.block("global_load_dword v0, v[4:5], off offset:-16", ["v[4:5]=mem+20 mem[10]=12345678 -> v0=12345678", "v[4:5]=mem+10 mem[0]=12345678 -> v0=12345678"], GFX9, "13 bits, signed")
    c.block("global_store_dword v[4:5], v8, off offset:-4", ["v[4:5]=mem+20 v8=12345678 -> mem[1c]=12345678"], GFX9)
    c.block("global_load_dword v0, v4, s[2:3]", ["s[2:3]=mem0 v4=win+10 mem[10]=12345678 -> v0=12345678", "s[2:3]=mem0+8 v4=win+8 mem[10]=12345678 -> v0=12345678"], GFX9, "SGPR pair + 32-bit VGPR, zero-extended")
    c.block("global_load_dword v0, v4, s[2:3] offset:-8", ["s[2:3]=mem0 v4=win+18 mem[10]=12345678 -> v0=12345678"], GFX9)
    c.block("global_store_dwordx2 v4, v[8:9], s[2:3] offset:8", ["s[2:3]=mem0 v4=win+8 v[8:9]=123456789abcdef0 -> mem[10]=123456789abcdef0"], GFX9)
    c.block("global_atomic_add v0, v4, v8, s[2:3] offset:16 glc", ["s[2:3]=mem0 v4=win+0 v8=5 mem[10]=00000007 -> v0=00000007 mem[10]=0000000c"], GFX9)
    c.block("global_load_dword v0, v4, s[2:3] offset:136", ["exec=1 s[2:3]=mem0+ffffffff00000000 v4=ffffff88 mem[10]=12345678 -> v0=12345678", "s[2:3]=mem0 v4=ffffff88 -> fault: memory"], GFX9, "the sum has 64 bits and the register no sign")
    c.block("global_store_dword v4, v8, s[2:3] offset:-8", ["exec=1 s[2:3]=mem0+ffffffff00000020 v4=fffffff8 v8=12345678 -> mem[10]=12345678"], GFX9)
    c.block("global_load_dword v0, v[4:5], off offset:16", ["v[4:5]=mem+fffffffffffffff8 mem[8]=12345678 -> v0=12345678", "v[4:5]=fffffffffffffff8 -> fault: memory read 4 bytes at 0x8"], GFX9, "64 bits wrap")
    c.block("global_load_dword v0, v[4:5], off offset:-16", ["v[4:5]=8 -> fault: memory read 4 bytes at 0xfffffffffffffff8"], GFX9)
    c.block("global_load_dword v0, v[4:5], off", ["v[4:5]=mem+11 mem[11]=12345678 -> v0=12345678", "v[4:5]=mem+13 mem[13]=89abcdef -> v0=89abcdef"], GFX9, "unaligned")
    c.block("global_load_dwordx2 v[4:5], v[4:5], off", ["v[4:5]=mem+10 mem[10]=123456789abcdef0 -> v[4:5]=123456789abcdef0"], GFX9, "the address may be overwritten")
    c.block("global_store_dword v[4:5], v8, off", ["exec=ff v[4:5]=buf v8[0]=1 v8[7]=7 v8[3]=3 -> buf[0]=00000007"], GFX9, "one address: the highest lane wins")
    c.block("global_atomic_add v0, v[4:5], v8, off glc", ["exec=f v[4:5]=buf v8=1 buf[0]=00000064 -> v0[0]=64 v0[1]=65 v0[2]=66 v0[3]=67 buf[0]=00000068"], GFX9)
    for name, data in (("global_atomic_add_f32", "v8"), ("global_atomic_pk_add_f16", "v8")):
        values = [("40000000", "3f800000", "40400000"), ("bf800000", "3f800000", "00000000")] if "f32" in name else [("3c004000", "42003c00", "44004200"), ("00003c00", "3c00bc00", "3c000000")]
        c.block(f"{name} v[4:5], {data}, off", [f"v[4:5]=mem+10 v8={d} mem[10]={m} -> mem[10]={r}" for d, m, r in values], ["gfx908"])
    for prefix, tail in (("flat", ""), ("global", ", off")):
        for name, cases in (("add", [("3ff0000000000000", "4000000000000000", "4008000000000000"), ("bff0000000000000", "3ff0000000000000", "0000000000000000")]), ("min", [("3ff0000000000000", "4000000000000000", "3ff0000000000000"), ("4000000000000000", "3ff0000000000000", "3ff0000000000000")]), ("max", [("3ff0000000000000", "4000000000000000", "4000000000000000"), ("4000000000000000", "3ff0000000000000", "4000000000000000")])):
            c.block([f"{prefix}_atomic_{name}_f64 v[0:1], v[4:5], v[8:9]{tail} {bit}" for bit in ("glc", "sc0")], [f"v[4:5]=mem+10 v[8:9]={d} mem[10]={m} -> v[0:1]={m} mem[10]={r}" for d, m, r in cases], ["gfx90a", "gfx942"])
    # Apertures.
    c.block("flat_load_dword v0, v[4:5]", ["v[4:5]=shared+win+10 lds[10]=12345678 -> v0=12345678", "v[4:5]=shared+win+fc lds[fc]=89abcdef -> v0=89abcdef"], GFX7UP, "the LDS aperture")
    c.block("flat_store_dword v[4:5], v8", ["v[4:5]=shared+win+10 v8=12345678 -> lds[10]=12345678", "v[4:5]=shared+win+20 v8=0 -> lds[20]=00000000"], GFX7UP)
    c.block("flat_atomic_add v0, v[4:5], v8 glc", ["v[4:5]=shared+win+10 v8=5 lds[10]=00000007 -> v0=00000007 lds[10]=0000000c"], GFX7UP)
    c.block("flat_atomic_add_f64 v[0:1], v[4:5], v[8:9] glc", ["mode=00000300 v[4:5]=shared+win+10 v[8:9]=0000000000000001 lds[10]=0000000000000001 -> v[0:1]=0000000000000001 lds[10]=0000000000000002"], ["gfx90a"], "denormals are kept in LDS, too")
    c.block("flat_load_dword v0, v[4:5]", ["s[102:103]=scratch v[4:5]=private+10 scr[10]=12345678 -> v0=12345678", "s[102:103]=scratch v[4:5]=private+fc scr[fc]=89abcdef -> v0=89abcdef"], GFX9, "the scratch aperture; dwords of the lanes lie side by side")
    c.block("flat_store_dwordx2 v[4:5], v[8:9]", ["s[102:103]=scratch v[4:5]=private+10 v[8:9]=123456789abcdef0 -> scr[10]=123456789abcdef0"], GFX9)
    c.block("flat_load_dword v0, v[4:5] offset:16", ["v[4:5]=shared+fffffffffffffff8 group[8]=12345678 -> v0=12345678", "s[102:103]=scratch v[4:5]=private+fffffffffffffff8 scr[8]=12345678 -> v0=12345678", "v[4:5]=fffffffffffffff8 -> fault: memory read 4 bytes at 0x8", "v[4:5]=shared+fffffff8 -> fault: memory"], GFX9, "the aperture is that of the sum, which has 64 bits")
    c.block("flat_store_dword v[4:5], v8 offset:16", ["exec=1 v[4:5]=shared+fffffffffffffff8 v8=12345678 -> group[8]=12345678"], GFX9)
    c.block("flat_load_dword v0, v[4:5]", ["v[4:5]=shared+fffffffc -> fault: outside_private", "v[4:5]=private+fffffffc -> fault: outside_private"], GFX7UP)
    # M0 limits LDS before gfx9; the low bits of misaligned addresses are ignored there.
    old = ["gfx700", "gfx803"]
    c.block("flat_load_dword v0, v[4:5]", ["exec=1 m0=20 v[4:5]=shared+1c group[1c]=12345678 -> v0=12345678", "m0=20 v[4:5]=shared+1d -> fault: outside_private", "m0=0 v[4:5]=shared -> fault: outside_private"], old, "M0 limits LDS through the aperture too")
    c.block("flat_store_dword v[4:5], v8", ["exec=1 m0=20 v[4:5]=shared+1c v8=12345678 -> group[1c]=12345678", "m0=20 v[4:5]=shared+20 v8=5 -> fault: outside_private"], old)
    c.block("flat_atomic_add v0, v[4:5], v8 glc", ["m0=20 v[4:5]=shared+20 v8=5 -> fault: outside_private"], old)
    c.block("flat_load_dword v0, v[4:5]", ["exec=1 m0=0 v[4:5]=shared+1c group[1c]=12345678 -> v0=12345678"], GFX9, "not on gfx9")
    c.block("flat_load_dwordx3 v[0:2], v[4:5]", ["m0=ffffffff v[4:5]=shared+win+14 lds[10]=123456789abcdef08fedcb89 -> v[0:2]=123456789abcdef08fedcb89"], old, "three dwords are aligned as four")
    c.block("flat_store_dwordx4 v[4:5], v[8:11]", ["m0=ffffffff v[4:5]=shared+win+1c v[8:11]=80ff7f01123456789abcdef08fedcb89 -> lds[10]=80ff7f01123456789abcdef08fedcb89"], old)
    c.block("flat_load_dwordx3 v[0:2], v[4:5]", ["v[4:5]=shared+win+15 lds[15]=123456789abcdef08fedcb89 -> v[0:2]=123456789abcdef08fedcb89"], GFX9)
    # FLAT_SCRATCH is the wave's address on gfx9; before it holds an offset in units of 256 bytes and the size.
    c.block("flat_load_dword v0, v[4:5]", ["s[102:103]=scratch+100 v[4:5]=private+10 scr[14]=12345678 -> v0=12345678"], GFX9, "through the scratch aperture from where FLAT_SCRATCH says")
    c.block("flat_store_dwordx2 v[4:5], v[8:9]", ["s[102:103]=scratch+100 v[4:5]=private+10 v[8:9]=123456789abcdef0 -> scr[14]=123456789abcdef0"], GFX9)
    for target, pair in (("gfx700", "s[104:105]"), ("gfx803", "s[102:103]")):
        c.block("flat_load_dword v0, v[4:5]", [f"{pair}=0000000200000020 v[4:5]=private+10 scr[18]=12345678 -> v0=12345678", f"{pair}=0000000200000020 v[4:5]=private+20 -> fault: outside_private"], [target])
        c.block("flat_atomic_add v0, v[4:5], v8 glc", [f"{pair}=0000000200000020 v[4:5]=private+10 v8=5 scr[18]=00000007 -> v0=00000007 scr[18]=0000000c"], [target])
    # Scratch.
    for text, setting in (("v4, off", "v4=10"), ("off, s2", "s2=10"), ("v4, off offset:16", "v4=0"), ("off, s2 offset:8", "s2=8"), ("v4, off offset:-16", "v4=20")):
        c.block(f"scratch_load_dword v0, {text}", [f"s[102:103]=scratch {setting} scr[10]=12345678 -> v0=12345678"], GFX9)
        c.block(f"scratch_store_dword {text.split(', ')[0]}, v8, {text.split(', ')[1]}", [f"s[102:103]=scratch {setting} v8=89abcdef -> scr[10]=89abcdef"], GFX9)
    c.block("scratch_load_dword v0, v4, off offset:136", ["s[102:103]=scratch v4=ffffff88 scr[10]=12345678 -> v0=12345678", "s[102:103]=scratch v4=fffffffc scr[84]=89abcdef -> v0=89abcdef"], GFX9, "open point: register and offset wrap at 32 bits")
    c.block("scratch_store_dword v4, v8, off offset:136", ["s[102:103]=scratch v4=ffffff88 v8=12345678 -> scr[10]=12345678"], GFX9)
    c.block("scratch_load_dwordx4 v[0:3], v4, off offset:136", ["s[102:103]=scratch v4=ffffff88 scr[10]=80ff7f01123456789abcdef08fedcb89 -> v[0:3]=80ff7f01123456789abcdef08fedcb89"], GFX9)
    c.block("scratch_load_ubyte v0, off, s2 offset:136", ["s[102:103]=scratch s2=ffffff89 scr[11]=89 -> v0=00000089"], GFX9)
    c.block("scratch_store_dwordx2 off, v[8:9], s2 offset:136", ["s[102:103]=scratch s2=ffffff88 v[8:9]=123456789abcdef0 -> scr[10]=123456789abcdef0"], GFX9)
    c.block("scratch_load_dword v0, v4, off offset:-16", ["s[102:103]=scratch v4=8 -> fault: memory"], GFX9, "nothing lies in front of the lane's first byte")
    scratch = FlatText("v4", ", off")
    load_store(c, "scratch", GFX9UP, "s[102:103]=scratch v4=10", scratch, "scr")
    d16(c, "scratch", "s[102:103]=scratch v4=10", scratch, "scr", GFX9UP)
    # Faults.
    c.block("global_load_dword v0, v[4:5], off", ["v[4:5]=0 -> fault: memory read 4 bytes at 0x0", "exec=8 v[4:5]=ffffffffffff0000 -> fault: memory read 4 bytes"], GFX9)
    c.block("global_store_dword v[4:5], v8, off", ["v[4:5]=4 -> fault: memory wrote 4 bytes at 0x4", "exec=0 v[4:5]=4 ->"], GFX9)
    c.block("flat_load_dword v0, v[4:5]", ["v[4:5]=0 -> fault: memory read 4 bytes", "exec=0 v[4:5]=0 ->"], GFX7UP)
    c.block("global_atomic_add v[4:5], v8, off", ["v[4:5]=mem+11 -> fault: misaligned", "v[4:5]=0 -> fault: memory"], GFX9)
    c.block("global_atomic_add_x2 v[4:5], v[8:9], off", ["v[4:5]=mem+14 -> fault: misaligned"], GFX9)
    c.block("flat_atomic_add v[4:5], v8", ["v[4:5]=shared+11 -> fault: misaligned", "v[4:5]=private+12 -> fault: misaligned"], GFX7UP, "FLAT atomics are aligned in the apertures too")
    c.block("scratch_load_dwordx2 v[0:1], v4, off", ["s[102:103]=scratch v4=11 scr[11]=123456789abcdef0 -> v[0:1]=123456789abcdef0"], GFX9, "misaligned: byte by byte over the lane's dwords")
    c.block("scratch_store_short v4, v8, off", ["s[102:103]=scratch v4=13 v8=1234 -> scr[13]=1234"], GFX9)
    c.write()


class BufferText:
    buffer = True

    def __init__(self, tail):
        self.tail = tail

    def __call__(self, name, data, glc, count=None):
        glc = " glc" if glc and "_atomic_" in name else ""
        return f"{name} {data}, v4, s[4:7], 0{self.tail}{glc}"


WORD3 = "00024fac"  # dst_sel xyzw, UINT, 32


def buffers():
    c = Chapter("mubuf", "MUBUF: buffers through descriptors in s[4:7] = {base, stride; num_records; selectors, format}.")
    raw = f"s[4:5]=mem0 s6=00004000 s7={WORD3}"
    text = BufferText(" offen")
    load_store_buffer(c, raw + " v4=win+10", text)
    address = raw + " v4=win+10"
    d16(c, "buffer", address, text, "mem")
    # The assembler does not know them.
    three = hexed(DATA & mask(96), 96)
    c.raw("buffer_load_dwordx3 v[0:2], v4, s[4:7], 0 offen", [0xe03c1000, 0x80010004], [f"{address} mem[10]={le(DATA, 12)} -> v[0:2]={three}", f"{address} mem[10]={le(1, 12)} -> v[0:2]={hexed(1, 96)}"], ["gfx600"])
    c.raw("buffer_store_dwordx3 v[8:10], v4, s[4:7], 0 offen", [0xe07c1000, 0x80010804], [f"{address} v[8:10]={three} -> mem[10]={le(DATA, 12)}", f"{address} v[8:10]=0 -> mem[10]={le(0, 12)}"], ["gfx600"])
    memory_atomics(c, "buffer", TARGETS, address, text, "mem", ("fmin", "fmax"), skip=())
    for name, cases in (("add_f32", [("40000000", "3f800000", "40400000"), ("bf800000", "3f800000", "00000000")]), ("pk_add_f16", [("3c004000", "42003c00", "44004200"), ("00003c00", "3c00bc00", "3c000000")])):
        c.block(f"buffer_atomic_{name} v8, v4, s[4:7], 0 offen", [f"{address} v8={d} mem[10]={m} -> mem[10]={r}" for d, m, r in cases], ["gfx908"])
    for name, cases in (("add", [("3ff0000000000000", "4000000000000000", "4008000000000000"), ("bff0000000000000", "3ff0000000000000", "0000000000000000")]), ("min", [("3ff0000000000000", "4000000000000000", "3ff0000000000000"), ("4000000000000000", "3ff0000000000000", "3ff0000000000000")]), ("max", [("3ff0000000000000", "4000000000000000", "4000000000000000"), ("4000000000000000", "3ff0000000000000", "4000000000000000")])):
        c.block(f"buffer_atomic_{name}_f64 v[8:9], v4, s[4:7], 0 offen", [f"{address} v[8:9]={d} mem[10]={m} -> mem[10]={r}" for d, m, r in cases], ["gfx90a"])
    # Addresses.
    c.block("buffer_load_dword v0, v4, s[4:7], s3 offen offset:8", [f"{raw} s3=10 v4=win+8 mem[20]=12345678 -> v0=12345678", f"{raw} s3=0 v4=win+8 mem[10]=12345678 -> v0=12345678"], note="inst_offset is added to the VGPR's, soffset to the base")
    c.block("buffer_load_dword v0, off, s[4:7], 0 offset:16", [f"s[4:5]=buf s6=00001000 s7={WORD3} buf[10]=12345678 -> v0=12345678"])
    structured = f"s[4:5]=buf+0010000000000000 s6=00000100 s7={WORD3}"
    c.block("buffer_load_dword v0, v4, s[4:7], 0 idxen", [f"{structured} v4=5 buf[50]=12345678 -> v0=12345678", f"gfx600 gfx700 gfx900 gfx906: {structured} v4=ff buf[ff0]=12345678 -> v0=12345678", f"gfx803: {structured} v4=f buf[f0]=12345678 -> v0=12345678", f"gfx803: {structured} v4=10 -> v0=00000000",
             f"{structured} v4=100 -> v0=00000000", f"{structured} v4=ffffffff -> v0=00000000"], note="index * stride; num_records counts records, on gfx8 without swizzle bytes")
    c.block("buffer_load_dword v0, v[4:5], s[4:7], 0 idxen offen offset:4", [f"{structured} v4=5 v5=4 buf[58]=12345678 -> v0=12345678", f"{structured} v4=100 v5=4 -> v0=00000000"], note="index, then offset")
    c.block("buffer_store_dword v8, v4, s[4:7], 0 idxen", [f"exec=1 {structured} v4=5 v8=12345678 -> buf[50]=12345678", f"exec=ffffffffffffffff {structured} v4=100 v8=5 ->"])
    # Range checks of raw buffers, dword by dword.
    small = f"s[4:5]=buf s6=00000040 s7={WORD3}"
    c.block("buffer_load_dword v0, v4, s[4:7], 0 offen", [f"{small} v4=3c buf[3c]=12345678 -> v0=12345678", f"{small} v4=40 -> v0=00000000", f"{small} v4=7fffffff -> v0=00000000", f"{small} v4=fffffffc -> v0=00000000"])
    c.block("buffer_load_dwordx2 v[0:1], v4, s[4:7], 0 offen", [f"{small} v4=3c buf[3c]=12345678 -> v[0:1]=0000000012345678", f"{small} v4=38 buf[38]=123456789abcdef0 -> v[0:1]=123456789abcdef0"], note="multi-dword accesses are checked dword by dword")
    c.block("buffer_store_dwordx2 v[8:9], v4, s[4:7], 0 offen", [f"exec=1 {small} v4=3c v[8:9]=123456789abcdef0 -> buf[3c]=9abcdef0"])
    c.block("buffer_store_dword v8, v4, s[4:7], 0 offen", [f"exec=ffffffffffffffff {small} v4=40 v8=5 ->", f"exec=1 {small} v4=3c v8=5 -> buf[3c]=00000005"])
    c.block("buffer_atomic_add v8, v4, s[4:7], 0 offen glc", [f"{small} v4=40 v8=5 -> v8=00000000"], note="out of range returns 0")
    c.block("buffer_load_dword v0, v4, s[4:7], s3 offen", [f"{small} s3=40 v4=0 buf[40]=12345678 -> v0=12345678"], GFX9, "open point: soffset does not take part in the check on gfx9")
    c.block("buffer_load_dword v0, v4, s[4:7], s3 offen", [f"{small} s3=40 v4=0 -> v0=00000000"], ["gfx803"], "it does before")
    c.block("buffer_load_dword v0, v4, s[4:7], 0 offen", ["s[4:7]=0 v4=0 -> v0=00000000"], note="an unbound descriptor reads 0")
    c.block("buffer_store_dword v8, v4, s[4:7], 0 offen", ["s[4:7]=0 v4=0 v8=5 ->"])
    c.block("buffer_load_dword v0, v[4:5], s[4:7], 0 addr64 offset:16", [f"s[4:5]=0 s6=0 s7={WORD3} v[4:5]=mem+10 mem[20]=12345678 -> v0=12345678", f"s[4:5]=mem0 s6=0 s7={WORD3} v4=win+10 v5=0 mem[20]=12345678 -> v0=12345678"], GFX67, "ADDR64: no range check")
    c.block("buffer_load_dword v0, v[4:5], s[4:7], 0 addr64", ["s[4:7]=0 v[4:5]=mem+10 mem[10]=12345678 -> v0=12345678", f"s[4:5]=mem0+8010000000000000 s6=0 s7=00824fac v4=win+10 v5=0 mem[10]=12345678 -> v0=12345678"], GFX67, "a null descriptor is a base of 0; stride, swizzle and lane do not count")
    c.block("buffer_atomic_add v8, v[4:5], s[4:7], 0 addr64 glc", ["s[4:7]=0 v[4:5]=mem+10 v8=5 mem[10]=00000007 -> v8=00000007 mem[10]=0000000c"], GFX67)
    c.block("buffer_load_format_x v0, v[4:5], s[4:7], 0 addr64", [f"s[4:5]=0 s6=0 s7={WORD3} v[4:5]=mem+10 mem[10]=12345678 -> v0=12345678"], GFX67)
    c.block("buffer_load_ubyte v0, v[4:5], s[4:7], 0 addr64", ["s[4:7]=0 v[4:5]=mem+1230000000000010 mem[10]=89 -> v0=00000089", "s[4:7]=0 v[4:5]=deadbeef00000000 -> fault: memory read 1 byte at 0xbeef00000000"], GFX67, "addresses have 48 bits")
    c.block("buffer_store_dword v8, v[4:5], s[4:7], 0 addr64", ["s[4:7]=0 v[4:5]=mem+1230000000000010 v8=12345678 -> mem[10]=12345678"], GFX67)
    # Scratch through a descriptor: lanes side by side.
    swizzled = "s[4:5]=scratch+8000000000000000 s6=00004000 s7=00ea4fac"
    c.block("buffer_load_dword v0, v4, s[4:7], 0 offen offset:8", [f"{swizzled} v4=8 scr[10]=12345678 -> v0=12345678", f"{swizzled} v4=f4 scr[fc]=12345678 -> v0=12345678"], GFX8, "swizzled by the lane: add_tid, index stride 64")
    c.block("buffer_store_dword v8, v4, s[4:7], 0 offen offset:8", [f"{swizzled} v4=8 v8=12345678 -> scr[10]=12345678"], GFX8)
    c.block("buffer_store_dwordx2 v[8:9], off, s[4:7], 0 offset:16", [f"{swizzled} v[8:9]=123456789abcdef0 -> scr[10]=123456789abcdef0"], GFX8)
    c.block("buffer_load_dword v0, off, s[4:7], 0 offset:16", [f"{swizzled} scr[10]=12345678 -> v0=12345678"], GFX8)
    # The offset of an address is a sum of 32 bits; the range check sees its carry.
    c.block("buffer_load_dword v0, v4, s[4:7], 0 offen offset:136", [f"{raw} v4=ffffff88 -> v0=00000000", f"{small} v4=ffffff88 -> v0=00000000", f"{raw.replace('00004000', 'ffffffff')} v4=ffffff88 -> v0=00000000"], note="a negative offset is out of range of a raw buffer, even if the sum is not")
    c.block("buffer_store_dword v8, v4, s[4:7], 0 offen offset:136", [f"{raw} v4=ffffff88 v8=5 ->"])
    c.block("buffer_atomic_add v8, v4, s[4:7], 0 offen offset:136 glc", [f"{raw} v4=ffffff88 v8=5 -> v8=00000000"])
    records = [target for target in TARGETS if target != "gfx803"]
    c.block("buffer_load_dword v0, v[4:5], s[4:7], 0 idxen offen offset:136", [f"{structured} v4=5 v5=ffffff80 buf[58]=12345678 -> v0=12345678", f"{structured} v4=0 v5=fffffffc buf[84]=12345678 -> v0=12345678"], records, "in a structured buffer the index alone is checked, and the offset wraps at 32 bits")
    c.block("buffer_load_dword v0, v[4:5], s[4:7], 0 idxen offen offset:136", [f"{structured} v4=5 v5=ffffff80 -> v0=00000000"], ["gfx803"], "not on gfx8, which checks bytes")
    c.block("buffer_store_dwordx2 v[8:9], v[4:5], s[4:7], 0 idxen offen offset:136", [f"exec=1 {structured} v4=5 v5=ffffff80 v[8:9]=123456789abcdef0 -> buf[58]=123456789abcdef0"], records)
    c.block("buffer_atomic_add v8, v[4:5], s[4:7], 0 idxen offen offset:136 glc", [f"exec=1 {structured} v4=5 v5=ffffff80 v8=5 buf[58]=00000007 -> v8=00000007 buf[58]=0000000c"], records)
    c.block("buffer_load_format_x v0, v[4:5], s[4:7], 0 idxen offen offset:136", [f"{structured} v4=5 v5=ffffff80 buf[58]=12345678 -> v0=12345678"], records)
    old = ["gfx600", "gfx700", "gfx803"]
    c.block("buffer_load_dword v0, v4, s[4:7], 0 offen offset:136", [f"{swizzled} v4=ffffff88 scr[10]=12345678 -> v0=12345678", f"{swizzled} v4=fffffffc scr[84]=89abcdef -> v0=89abcdef", f"{swizzled} v4=ffffff74 -> fault: memory"], GFX9, "scratch has no range check on gfx9: negative offsets that the instruction makes positive count")
    c.block("buffer_load_dword v0, v4, s[4:7], 0 offen offset:136", [f"{swizzled} v4=ffffff88 -> v0=00000000", f"{swizzled.replace('00004000', 'ffffffff')} v4=ffffff88 -> v0=00000000"], old, "before they are out of range")
    c.block("buffer_store_dword v8, v4, s[4:7], 0 offen offset:136", [f"{swizzled} v4=ffffff88 v8=12345678 -> scr[10]=12345678"], GFX9)
    c.block("buffer_store_dword v8, v4, s[4:7], 0 offen offset:136", [f"{swizzled} v4=ffffff88 v8=12345678 ->"], old)
    c.block("buffer_load_dwordx4 v[0:3], v4, s[4:7], 0 offen offset:136", [f"{swizzled} v4=ffffff88 scr[10]=80ff7f01123456789abcdef08fedcb89 -> v[0:3]=80ff7f01123456789abcdef08fedcb89", f"{swizzled} v4=ffffff8a scr[12]=80ff7f01123456789abcdef08fedcb89 -> v[0:3]=80ff7f01123456789abcdef08fedcb89"], GFX9)
    c.block("buffer_store_dwordx3 v[8:10], v4, s[4:7], 0 offen offset:136", [f"{swizzled} v4=ffffff89 v[8:10]=123456789abcdef08fedcb89 -> scr[11]=123456789abcdef08fedcb89"], GFX9)
    c.block("buffer_load_ubyte v0, v4, s[4:7], 0 offen offset:136", [f"{swizzled} v4=ffffff89 scr[11]=89 -> v0=00000089"], GFX9)
    c.block("buffer_store_short v8, v4, s[4:7], 0 offen offset:136", [f"{swizzled} v4=ffffff8b v8=1234 -> scr[13]=1234"], GFX9)
    c.block("buffer_atomic_add v8, v4, s[4:7], 0 offen offset:136 glc", [f"{swizzled} v4=ffffff88 v8=5 scr[10]=00000007 -> v8=00000007 scr[10]=0000000c"], GFX9)
    c.block("buffer_load_format_x v0, v4, s[4:7], 0 offen offset:136", [f"{swizzled} v4=ffffff88 scr[10]=12345678 -> v0=12345678"], GFX9)
    c.block("buffer_load_dword v0, v4, s[4:7], s3 offen", [f"{swizzled} s3=ffffff00 v4=4 -> fault: memory", f"{swizzled} s3=00000100 v4=c scr[10]=12345678 -> v0=12345678"], GFX9, "the scalar offset is added to the address, which has 48 bits")
    c.block("buffer_load_dword v0, v[4:5], s[4:7], s3 addr64 offset:136", [f"s[4:5]=0000ffffffffffc0 s6=0 s7={WORD3} s3=48 v[4:5]=mem+ffffffffffffff80 mem[10]=12345678 -> v0=12345678", f"s[4:5]=0000ffff00000000 s6=0 s7={WORD3} s3=ffffff88 v[4:5]=mem+0 mem[10]=12345678 -> v0=12345678"], GFX67, "ADDR64 adds in 48 bits; the scalar offset has no sign")
    # Elements of one record lie apart: each dword, and each byte of what crosses an element, has its own address.
    c.block("buffer_load_dwordx4 v[0:3], v4, s[4:7], 0 offen", [f"{swizzled} v4=10 scr[10]=80ff7f01123456789abcdef08fedcb89 -> v[0:3]=80ff7f01123456789abcdef08fedcb89", f"{swizzled} v4=12 scr[12]=80ff7f01123456789abcdef08fedcb89 -> v[0:3]=80ff7f01123456789abcdef08fedcb89"], GFX8, "elements lie apart: each dword, and each byte of what crosses an element, has its own address")
    c.block("buffer_store_dwordx3 v[8:10], v4, s[4:7], 0 offen", [f"{swizzled} v4=11 v[8:10]=123456789abcdef08fedcb89 -> scr[11]=123456789abcdef08fedcb89"], GFX8)
    c.block("buffer_load_ushort v0, v4, s[4:7], 0 offen", [f"{swizzled} v4=13 scr[13]=cb89 -> v0=0000cb89"], GFX8)
    c.block("buffer_store_short v8, v4, s[4:7], 0 offen", [f"{swizzled} v4=13 v8=1234 -> scr[13]=1234"], GFX8)
    # Formats that do not exist.
    bad = lambda nfmt, dfmt: f"s[4:5]=mem0 s6=00004000 s7={0xfac | nfmt << 12 | dfmt << 15:08x} v4=win+10"
    c.block("buffer_load_format_x v0, v4, s[4:7], 0 offen", [f"{bad(0, 15)} -> fault: unsupported data format 15", f"{bad(6, 4)} -> fault: unsupported number format 6", f"{bad(0, 0)} -> v0=00000000"], note="reserved formats; format 0 is unbound")
    c.block("buffer_store_format_x v8, v4, s[4:7], 0 offen", [f"{bad(0, 15)} v8=5 -> fault: unsupported data format 15", f"{bad(0, 0)} v8=5 ->"])
    # Formats.
    formats(c, "buffer", lambda nfmt, dfmt: f"s[4:5]=mem0 s6=00004000 s7={0xfac | nfmt << 12 | dfmt << 15:08x}", "")
    sel = lambda x, y, z, w: f"s[4:5]=mem0 s6=00004000 s7={x | y << 3 | z << 6 | w << 9 | 4 << 12 | 10 << 15:08x}"
    c.block("buffer_load_format_xyzw v[0:3], v4, s[4:7], 0 offen", [f"{sel(7, 6, 5, 4)} v4=win+10 mem[10]=44332211 -> v[0:3]={0x11:08x}{0x22:08x}{0x33:08x}{0x44:08x}", f"{sel(0, 1, 4, 0)} v4=win+10 mem[10]=44332211 -> v[0:3]={0:08x}{0x11:08x}{1:08x}{0:08x}"], note="destination selectors: 0, 1, x, y, z, w")
    for text in ("buffer_wbinvl1", "buffer_wbinvl1_vol", "buffer_wbinvl1_sc"):
        c.block(text, ["v0=1 ->", "exec=0 ->"])
    for text in ("buffer_wbl2", "buffer_invl2"):
        c.block(text, ["v0=1 ->", "exec=0 ->"], ["gfx90a"])
    # To LDS and back.
    c.block("buffer_load_dword v4, s[4:7], 0 offen lds", [f"exec=3 {raw} m0=20 v4=win+10 mem[10]=12345678 -> group[20]=1234567812345678"], GFX8, "LDS address = M0 + 4 * lane")
    c.block("buffer_store_lds_dword s[4:7], 0 lds", [f"exec=1 s[4:5]=buf s6=1000 s7={WORD3} m0=20 group[20]=12345678 -> buf[0]=12345678", f"exec=1 s[4:5]=buf+10 s6=1000 s7={WORD3} m0=24 group[24]=89abcdef -> buf[10]=89abcdef"], GFX8)
    c.write()
    c = Chapter("mtbuf", "MTBUF: the format is in the instruction; missing components are 0.")
    formats(c, "tbuffer", lambda nfmt, dfmt: raw, None)
    uint32 = lambda op, data, address, tail: [f"tbuffer_{op} {data}, {address}, s[4:7], 0 format:[BUF_DATA_FORMAT_32,BUF_NUM_FORMAT_UINT] {tail}", f"tbuffer_{op} {data}, {address}, s[4:7], dfmt:4, nfmt:4, 0 {tail}"]
    load = uint32("load_format_x", "v0", "v4", "offen offset:136")
    c.block(load, [f"{raw} v4=ffffff88 -> v0=00000000"], note="the offset of an address is a sum of 32 bits; the range check sees its carry")
    c.block(load, [f"{swizzled} v4=ffffff88 scr[10]=12345678 -> v0=12345678"], GFX9)
    c.block(load, [f"{swizzled} v4=ffffff88 -> v0=00000000"], old)
    c.block(uint32("store_format_x", "v8", "v4", "offen offset:136"), [f"{swizzled} v4=ffffff88 v8=12345678 -> scr[10]=12345678"], GFX9)
    c.block(uint32("load_format_x", "v0", "v[4:5]", "idxen offen offset:136"), [f"{structured} v4=5 v5=ffffff80 buf[58]=12345678 -> v0=12345678"], records)
    c.write()


def load_store_buffer(c, address, text):
    for name, size, sign in LOADS:
        count = max(1, size // 4)
        v = DATA & mask(8 * size)
        value = hexed(signed(v, 8 * size) if sign else v, max(32, 8 * size))
        targets = GFX7UP if name == "dwordx3" else None
        c.block(text(f"buffer_load_{name}", reg(0, count), False), [f"{address} mem[10]={le(v, size)} -> {reg(0, count)}={value}", f"{address} mem[10]={le(1, size)} -> {reg(0, count)}={hexed(1, max(32, 8 * size))}"], targets)
        store = {"ubyte": "byte", "ushort": "short"}.get(name, name)
        if not sign:
            c.block(text(f"buffer_store_{store}", reg(8, count), False), [f"{address} {reg(8, count)}={hexed(DATA & mask(32 * count), 32 * count)} -> mem[10]={le(DATA, size)}", f"{address} {reg(8, count)}=0 -> mem[10]={le(0, size)}"], targets)


def unorm(v, n):
    from fractions import Fraction
    return F32.round(Fraction(v, (1 << n) - 1))


def snorm(v, n):
    from fractions import Fraction
    return F32.round(max(Fraction(signed(v, n), (1 << n - 1) - 1), Fraction(-1)), 0, 0)


def formats(c, prefix, descriptor, kind):
    from fractions import Fraction
    one = F32.one
    names = {1: "8", 2: "16", 3: "8_8", 4: "32", 5: "16_16", 10: "8_8_8_8", 11: "32_32", 12: "16_16_16_16", 14: "32_32_32_32", 8: "10_10_10_2", 9: "2_10_10_10"}
    sizes = {1: [8], 2: [16], 3: [8, 8], 4: [32], 5: [16, 16], 10: [8] * 4, 11: [32] * 2, 12: [16] * 4, 14: [32] * 4}
    conv = {0: unorm, 1: snorm, 2: lambda v, n: F32.round(Fraction(v)), 3: lambda v, n: F32.round(Fraction(signed(v, n))), 4: lambda v, n: v, 5: lambda v, n: signed(v, n) & M32,
            7: lambda v, n: v if n == 32 else fl.convert(F16, F32, v)}
    nfmts = {0: "UNORM", 1: "SNORM", 2: "USCALED", 3: "SSCALED", 4: "UINT", 5: "SINT", 7: "FLOAT"}
    samples = [0x3c80ff7f01c03412_80ff7f0112345678, 0x4200bc0080007bff_3f800000c0490fdb, 0, mask(128)]

    def text_of(op, data, nfmt, dfmt):
        if prefix == "buffer":
            return f"buffer_{op} {data}, v4, s[4:7], 0 offen"
        return f"tbuffer_{op} {data}, v4, s[4:7], 0 format:[BUF_DATA_FORMAT_{names[dfmt]},BUF_NUM_FORMAT_{nfmts[nfmt]}] offen", f"tbuffer_{op} {data}, v4, s[4:7], dfmt:{dfmt}, nfmt:{nfmt}, 0 offen"
    letters = ["x", "xy", "xyz", "xyzw"]
    for dfmt, widths in sizes.items():
        for nfmt in nfmts:
            if widths[0] == 32 and nfmt in (0, 1, 2, 3) or widths[0] == 8 and nfmt == 7:
                continue
            if dfmt in (3, 12) and nfmt in (2, 3) or dfmt in (1, 2) and nfmt in (1, 2):
                continue
            size = sum(widths) // 8
            lines = []
            for sample in samples[:3 if nfmt == 7 else 4]:
                raw, at, parts = sample & mask(8 * size), 0, []
                for width in widths:
                    parts.append(conv[nfmt](raw >> at & mask(width), width))
                    at += width
                if nfmt == 7 and any(F32.is_nan(p) for p in parts):
                    continue
                last = 0 if prefix == "tbuffer" else 1 if nfmt in (4, 5) else one
                full = parts + [0, 0, 0, last][len(parts):]
                lines.append((raw, size, full))
            count = 4
            texts = text_of(f"load_format_xyzw", "v[0:3]", nfmt, dfmt)
            base = descriptor(nfmt, dfmt) + " v4=win+10"
            c.block(list(texts) if isinstance(texts, tuple) else texts, [f"{base} mem[10]={le(raw, size)} -> v[0:3]={''.join(f'{p:08x}' for p in reversed(full))}" for raw, size, full in lines], note=f"{names[dfmt]} {nfmts[nfmt]}")
            # Narrower loads, and stores of values that are exact.
            if dfmt in (10, 14) and nfmt in (0, 4, 7):
                for n in (1, 2, 3):
                    texts = text_of(f"load_format_{letters[n - 1]}", reg(0, n), nfmt, dfmt)
                    c.block(list(texts) if isinstance(texts, tuple) else texts, [f"{base} mem[10]={le(raw, size)} -> {reg(0, n)}={''.join(f'{p:08x}' for p in reversed(full[:n]))}" for raw, size, full in lines[:2]])
            n = len(widths)
            op = f"store_format_{letters[n - 1]}"
            texts = text_of(op, reg(8, n), nfmt, dfmt)
            c.block(list(texts) if isinstance(texts, tuple) else texts, [f"{base} {reg(8, n)}={''.join(f'{p:08x}' for p in reversed(full[:n]))} -> mem[10]={le(raw, size)}" for raw, size, full in lines if not (nfmt == 1 and any(raw >> sum(widths[:i]) & mask(w) == 1 << w - 1 for i, w in enumerate(widths)))] or ["v0=1 ->"])
    # Three components are stored to four-component formats with the last one 0.
    texts = text_of("store_format_xyz", "v[8:10]", 4, 10)
    c.block(list(texts) if isinstance(texts, tuple) else texts, [f"{descriptor(4, 10)} v4=win+10 v[8:10]=000000330000002200000011 -> mem[10]=00332211", f"{descriptor(4, 10)} v4=win+10 v[8:10]=0 -> mem[10]=00000000"])
    # Conversions on stores clamp.
    texts = text_of("store_format_xyzw", "v[8:11]", 0, 10)
    c.block(list(texts) if isinstance(texts, tuple) else texts, [f"{descriptor(0, 10)} v4=win+10 v[8:11]=40000000bf8000003f0000007fc00000 -> mem[10]=ff008000"], note="unorm clamps to [0, 1]; a NaN gives 0; 127.5 rounds to even")
    texts = text_of("store_format_xyzw", "v[8:11]", 4, 10)
    c.block(list(texts) if isinstance(texts, tuple) else texts, [f"{descriptor(4, 10)} v4=win+10 v[8:11]=00000100000000ff0000000500000000 -> mem[10]=ffff0500"], note="integers clamp to the component")
    # 16-bit components: packed on gfx9, one a register on gfx8.
    raw = 0x4200bc003c004000
    for n in (1, 2, 3, 4):
        parts = [raw >> 16 * i & 0xffff for i in range(n)]
        load, store = f"load_format_d16_{letters[n - 1]}", f"store_format_d16_{letters[n - 1]}"
        packed = sum(p << 16 * i for i, p in enumerate(parts))
        regs = (n + 1) // 2
        base = f"{descriptor(7, 12)} v4=win+10"
        for op, is_load in ((load, True), (store, False)):
            texts9, texts8 = text_of(op, reg(0 if is_load else 8, regs), 7, 12), text_of(op, reg(0 if is_load else 8, n), 7, 12)
            wide = sum(p << 32 * i for i, p in enumerate(parts))
            known = mask(16 * n)
            if is_load:
                lines9 = [f"{base} mem[10]={raw:016x} -> {reg(0, regs)}={packed:0{8 * regs}x}"]
                lines8 = [f"{base} mem[10]={raw:016x} -> {reg(0, n)}={wide:0{8 * n}x}"]
            else:
                lines9 = [f"{base} {reg(8, regs)}={packed:0{8 * regs}x} -> mem[10]={raw & known:016x}"]
                lines8 = [f"{base} {reg(8, n)}={wide:0{8 * n}x} -> mem[10]={raw & known:016x}"]
            if is_load and n % 2:
                # Whether the half behind the last component is kept is not settled.
                last = parts[-1]
                lines9 = [f"{base} v{regs - 1}=0 mem[10]={raw:016x} -> {reg(0, regs)}={packed:0{8 * regs}x}"]
                assert last
            extra9 = [line.replace("win+10", "win+20").replace("mem[10]", "mem[20]") for line in lines9]
            extra8 = [line.replace("win+10", "win+20").replace("mem[10]", "mem[20]") for line in lines8]
            c.block(list(texts9) if isinstance(texts9, tuple) else texts9, lines9 + extra9, GFX9, "packed halves")
            c.block(list(texts8) if isinstance(texts8, tuple) else texts8, lines8 + extra8, ["gfx803"], "one component a register")
    if prefix == "buffer":
        base = f"{descriptor(7, 2)} v4=win+10"
        c.block("buffer_load_format_d16_hi_x v0, v4, s[4:7], 0 offen", [f"gfx900: {base} v0=11112222 mem[10]=3c00 -> v0=3c002222", f"gfx900: {base} v0=11110000 mem[10]=8001 -> v0=80010000", f"gfx906: {base} v0=11112222 mem[10]=3c00 -> v0=3c000000"], GFX9)
        c.block("buffer_store_format_d16_hi_x v8, v4, s[4:7], 0 offen", [f"{base} v8=3c002222 -> mem[10]=3c00", f"{base} v8=bc000000 -> mem[10]=bc00"], GFX9)


def scalar():
    c = Chapter("smem", "SMEM: scalar memory.")
    data = "0123456789abcdeffedcba9876543210"
    big = (data * 4)
    for count in (1, 2, 4, 8, 16):
        suffix = "" if count == 1 else f"x{count}"
        value = big[-8 * count:]
        d = reg(16, count, "s")
        c.block(f"s_load_dword{suffix} {d}, s[2:3], 0x0", [f"s[2:3]=buf buf[0]={value} -> {d}={value}", f"s[2:3]=buf+40 buf[40]={value} -> {d}={value}"])
        c.block(f"s_load_dword{suffix} {d}, s[2:3], 0x10", [f"gfx803..: s[2:3]=buf buf[10]={value} -> {d}={value}", f"gfx600 gfx700: s[2:3]=buf buf[40]={value} -> {d}={value}"], note="the immediate counts dwords before gfx8")
        c.block(f"s_load_dword{suffix} {d}, s[2:3], s8", [f"s[2:3]=buf s8=20 buf[20]={value} -> {d}={value}", f"s[2:3]=buf s8=23 buf[20]={value} -> {d}={value}"], note="the low two bits are ignored")
        size = 4 * count
        vsharp = f"s[4:5]=buf s6=00001000 s7={WORD3}"
        c.block(f"s_buffer_load_dword{suffix} {d}, s[4:7], 0x0", [f"{vsharp} buf[0]={value} -> {d}={value}", f"s[4:5]=buf s6=0 s7={WORD3} -> {d}={'0' * 8 * count}"], note="beyond the buffer: 0")
        c.block(f"s_buffer_load_dword{suffix} {d}, s[4:7], s8", [f"{vsharp} s8=40 buf[40]={value} -> {d}={value}", f"{vsharp} s8=1000 -> {d}={'0' * 8 * count}",
                                                             f"s[4:5]=buf s6=00000044 s7={WORD3} s8=40 buf[40]={value} -> {d}={value[-8:].rjust(8 * count, '0')}",
                                                             f"s[4:5]=buf+0010000000000000 s6=00000010 s7={WORD3} s8=c0 buf[c0]={value} -> {d}={value}"], note="stride only scales num_records")
        if count <= 4:
            c.block(f"s_store_dword{suffix} {d}, s[2:3], 0x10", [f"s[2:3]=buf {d}={value} -> buf[10]={value}", f"s[2:3]=buf+40 {d}={value} -> buf[50]={value}"], GFX8)
            c.block(f"s_store_dword{suffix} {d}, s[2:3], m0", [f"m0=20 s[2:3]=buf {d}={value} -> buf[20]={value}"], GFX8)
            c.block(f"s_buffer_store_dword{suffix} {d}, s[4:7], 0x10", [f"{vsharp} {d}={value} -> buf[10]={value}", f"s[4:5]=buf s6=00000010 s7={WORD3} {d}={value} ->"], GFX8, "beyond the buffer: not written")
            c.block(f"s_scratch_load_dword{suffix} {d}, s[2:3], s8", [f"s[2:3]=buf s8=1 buf[40]={value} -> {d}={value}", f"s[2:3]=buf s8=0 buf[0]={value} -> {d}={value}"], GFX9, "the register offset counts 64 bytes")
            c.block(f"s_scratch_store_dword{suffix} {d}, s[2:3], s8", [f"s[2:3]=buf s8=1 {d}={value} -> buf[40]={value}", f"s[2:3]=buf s8=2 {d}={value} -> buf[80]={value}"], GFX9)
    c.block("s_load_dword s16, s[2:3], 0x11", ["gfx803..: s[2:3]=buf buf[10]=12345678 -> s16=12345678"], GFX8)
    c.block("s_load_dword s16, s[2:3], -0x10", ["s[2:3]=buf+20 buf[10]=12345678 -> s16=12345678"], GFX9, "gfx9: 21 bits, signed")
    c.block("s_load_dword s16, s[2:3], s8 offset:0x10", ["s[2:3]=buf s8=10 buf[20]=12345678 -> s16=12345678"], GFX9)
    c.block("s_load_dword s16, s[2:3], 0x12345", ["s[2:3]=buf+fffffffffffedcdc buf[20]=12345678 -> s16=12345678"], GFX8)
    c.block("s_load_dword s16, s[2:3], s8", ["s[2:3]=buf+ffffffff00000014 s8=fffffffc buf[10]=12345678 -> s16=12345678", "s[2:3]=buf s8=fffffffc -> fault: memory"], note="sums have 64 bits and registers no sign")
    c.block("s_load_dword s16, s[2:3], s8 offset:-0x10", ["s[2:3]=buf s8=20 buf[10]=12345678 -> s16=12345678", "s[2:3]=buf+ffffffff00000020 s8=fffffffc buf[c]=12345678 -> s16=12345678"], GFX9)
    c.block("s_store_dword s16, s[2:3], s8 offset:-0x10", ["s[2:3]=buf s8=20 s16=12345678 -> buf[10]=12345678"], GFX9)
    c.block("s_scratch_load_dword s16, s[2:3], s8", ["s[2:3]=buf+ffffffff00000010 s8=4000000 buf[10]=12345678 -> s16=12345678"], GFX9)
    c.block("s_buffer_load_dword s16, s[4:7], s8", [f"s[4:5]=buf s6=00001000 s7={WORD3} s8=fffffffc -> s16=00000000", f"s[4:5]=buf s6=ffffffff s7={WORD3} s8=fffffffc -> fault: memory"])
    c.block("s_buffer_load_dword s16, s[4:7], s8 offset:0x20", [f"s[4:5]=buf s6=00001000 s7={WORD3} s8=fffffff0 -> s16=00000000", f"s[4:5]=buf s6=ffffffff s7={WORD3} s8=fffffff0 -> s16=00000000"], GFX9, "beyond the buffer, whose check sees the carry")
    c.block("s_load_dwordx2 s[2:3], s[2:3], 0x0", ["s[2:3]=buf buf[0]=123456789abcdef0 -> s[2:3]=123456789abcdef0"], note="the address may be overwritten")
    c.block("s_load_dwordx2 vcc, s[2:3], 0x0", ["s[2:3]=buf buf[0]=123456789abcdef0 -> vcc=123456789abcdef0"])
    c.block("s_load_dword s16, s[2:3], 0x0", ["s[2:3]=0 -> fault: memory read 4 bytes", "s[2:3]=ffffffffffff0000 -> fault: memory"])
    for text in ("s_dcache_inv", "s_dcache_wb", "s_dcache_inv_vol", "s_dcache_wb_vol"):
        c.block(text, ["scc=0 ->", "scc=1 ->"])
    c.block("s_atc_probe 7, s[2:3], 0x0", ["scc=0 ->", "scc=1 ->"], GFX8)
    c.block("s_atc_probe_buffer 7, s[4:7], 0x0", ["scc=0 ->", "scc=1 ->"], GFX8)
    c.block("s_dcache_discard s[2:3], 0x0", ["s[2:3]=buf ->", "s[2:3]=buf scc=1 ->"], GFX9)
    c.block("s_dcache_discard_x2 s[2:3], 0x0", ["s[2:3]=buf ->", "s[2:3]=buf scc=1 ->"], GFX9)
    for text, targets in (("s_memtime s[16:17]", None), ("s_memrealtime s[16:17]", GFX8)):
        c.block(f"{text} ; s_mov_b64 s[16:17], 0", ["scc=0 -> s[16:17]=0000000000000000", "scc=1 -> s[16:17]=0000000000000000"], targets, "a clock: nothing else changes")
    # Atomics.
    for bits in (32, 64):
        size, count = bits // 8, bits // 32
        suffix = "" if bits == 32 else "_x2"
        d, pair = reg(16, count, "s"), reg(16, 2 * count, "s")
        for op, (kind, fn, pairs) in atomics(bits).items():
            if kind == "f" or op == "rsub":
                continue
            for base, name, setting in (("s[2:3]", "s_atomic", "s[2:3]=buf"), ("s[4:7]", "s_buffer_atomic", f"s[4:5]=buf s6=00001000 s7={WORD3}")):
                for glc in (False, True):
                    lines = [f"{setting} {d}={hexed(x, bits)} buf[10]={le(m, size)} -> buf[10]={le(fn(m, x), size)}" + (f" {d}={hexed(m, bits)}" if glc else "") for m, x in pairs[:5]]
                    c.block(f"{name}_{op}{suffix} {d}, {base}, 0x10{' glc' if glc else ''}", lines, GFX9)
        for base, name, setting in (("s[2:3]", "s_atomic", "s[2:3]=buf"), ("s[4:7]", "s_buffer_atomic", f"s[4:5]=buf s6=00001000 s7={WORD3}")):
            for glc in (False, True):
                lines = [f"{setting} {pair}={x << bits | n:0{size * 4}x} buf[10]={le(m, size)} -> buf[10]={le(n if m == x else m, size)}" + (f" {d}={hexed(m, bits)}" if glc else "") for m, x, n in swap_pairs(bits)]
                c.block(f"{name}_cmpswap{suffix} {pair}, {base}, 0x10{' glc' if glc else ''}", lines, GFX9)
    c.write()


def graphics():
    c = Chapter("graphics", "Exports and parameter interpolation: exports change nothing that a kernel sees; parameters do not exist in compute.")
    c.block("exp mrt0 v4, v5, v6, v7 done vm", ["v0=1 ->", "exec=0 ->"])
    c.block("exp null off, off, off, off done vm", ["v0=1 ->", "exec=0 ->"])
    c.block("exp pos0 v4, off, v6, off", ["v0=1 ->", "exec=0 ->"])
    for text, targets in (("v_interp_p1_f32_e32 v0, v4, attr0.x", None), ("v_interp_p2_f32_e32 v0, v4, attr0.x", None), ("v_interp_mov_f32_e32 v0, p10, attr1.y", None), ("v_interp_p1ll_f16 v0, v4, attr0.x", GFX8),
                          ("v_interp_p1lv_f16 v0, v4, attr0.x, v12", GFX8), ("v_interp_p2_f16 v0, v4, attr0.x, v12", GFX8), ("v_interp_p2_legacy_f16 v0, v4, attr0.x, v12", GFX9)):
        c.block([text, text.replace("_e32", "")], ["m0=0 -> fault: unsupported", "m0=10 -> fault: unsupported"], targets)
    c.write()


if __name__ == "__main__":
    lds()
    graphics()
    flat()
    buffers()
    scalar()
