"""MIMG: images. T# in s[8:15], S# in s[16:19], addresses from v4 on, data from v20 on.

Loads, stores and atomics of lanes go to the lane's own window through a 2D image of 64 rows of 256 bytes each; samples go to
small images in the wave's buffer. The model of sampling is rational arithmetic.
"""

from fractions import Fraction
from math import floor

import floats as fl
from case import Chapter, TARGETS, hexed, mask, signed
from floats import F16, F32
from memory import atomics, fswap_pairs, le, reg, snorm, swap_pairs, unorm
from vector import GFX67, GFX8, GFX9

M32 = mask(32)
OLD, NEW = "gfx600..gfx803", "gfx900.."
T, S = "s[8:15]", "s[16:19]"
D1, D2, D3, CUBE, D1A, D2A, MSAA = 8, 9, 10, 11, 12, 13, 14
UNORM, SNORM, USCALED, SSCALED, UINT, SINT, FLOAT = 0, 1, 2, 3, 4, 5, 7
XYZW, X001, XY01 = 0xfac, 0x204, 0x22c
WIDTHS = {1: [8], 2: [16], 3: [8, 8], 4: [32], 5: [16, 16], 6: [11, 11, 10], 7: [10, 11, 11], 8: [2, 10, 10, 10], 9: [10, 10, 10, 2], 10: [8] * 4, 11: [32, 32],
          12: [16] * 4, 13: [32] * 3, 14: [32] * 4, 16: [5, 6, 5], 17: [5, 5, 5, 1], 18: [1, 5, 5, 5], 19: [4] * 4}


def resource(new, kind, data, number, size, pitch=None, sel=XYZW, first=0, **extra):
    """Digits of a T# without its address, and of an array's layers."""
    w, h, d = (list(size) + [1, 1])[:3]
    layers = kind in (D1A, D2A)
    last = first + d - 1
    words = [0, data << 20 | number << 26, w - 1 | h - 1 << 14, sel | extra.get("tiling", 0 if new else 8) << 20 | extra.get("base", 0) << 12 | extra.get("last", 0) << 16 | kind << 28,
             (last if layers and new else d - 1) | (pitch or w) - 1 << 13 | (extra.get("border", 0) << 29 if new else 0), first | (0 if new or not layers else last << 13), extra.get("w6", 0), 0]
    return f"{sum(word << 32 * i for i, word in enumerate(words)):064x}"


def sampler(clamp=2, linear=0, unnormalized=0, border=0, z=0, minify=None, lod=(0, 0xfff), bias=0, clamps=None, **extra):
    x, y, zc = clamps or (clamp,) * 3
    words = [x | y << 3 | zc << 6 | unnormalized << 15 | extra.get("w0", 0), lod[0] | lod[1] << 12, linear << 20 | (linear if minify is None else minify) << 22 | z << 24 | bias & mask(14), border << 30]
    return f"{S}={sum(word << 32 * i for i, word in enumerate(words)):032x}"


def both(*args, base="mem0/256", **extra):
    """The T# for old targets, and for new ones."""
    return [(only, f"{T}={base}+{resource(new, *args, **extra)}") for only, new in ((OLD, False), (NEW, True))]


def lines(image, rest):
    return [f"{only}: {t} {line}" for only, t in image for line in rest]


def window(data, number, **extra):
    """A row of 256 bytes for each lane."""
    size = sum(WIDTHS[data]) // 8
    return both(D2, data, number, (256 // size, 64), **extra)


def row(x):
    return f"v4={x:x} v5=lane"


# ---- formats

def small(v, n):
    """11 and 10 bits are f16 without a sign and with fewer fraction bits."""
    return fl.convert(F16, F32, v << (15 - n))


def component(number, v, n):
    return {UNORM: unorm, SNORM: snorm, USCALED: lambda v, n: F32.round(Fraction(v)), SSCALED: lambda v, n: F32.round(Fraction(signed(v, n))), UINT: lambda v, n: v,
            SINT: lambda v, n: signed(v, n) & M32, FLOAT: lambda v, n: v if n == 32 else fl.convert(F16, F32, v) if n == 16 else small(v, n)}[number](v, n)


def texel(data, number, raw):
    parts, at = [], 0
    for width in WIDTHS[data]:
        parts.append(component(number, raw >> at & mask(width), width))
        at += width
    return parts + [0, 0, 0, 1 if number in (UINT, SINT) else F32.one][len(parts):]


def words(values):
    return "".join(f"{v & M32:08x}" for v in reversed(values))


def formats(c):
    samples = [0x3c80ff7f01c03412_80ff7f0112345678, 0x42003c0040007bff_3f800000c0490fdb, 0, mask(128)]
    for data, widths in WIDTHS.items():
        numbers = [UINT, SINT, FLOAT] if widths[0] == 32 else [FLOAT] if data in (6, 7) else [UNORM] if data >= 16 else [UNORM, SNORM, UINT, SINT] + ([FLOAT] if widths[0] == 16 else [USCALED, SSCALED] if data in (5, 10) else [])
        size = sum(widths) // 8
        if 256 % size:
            continue
        for number in numbers:
            loads, stores = [], []
            for sample in samples:
                raw = sample & mask(8 * size)
                parts = texel(data, number, raw)
                if number == FLOAT and any(F32.is_nan(p) for p in parts):
                    continue
                at = 32 // size
                loads.append(f"{row(at)} mem[20]={le(raw, size)} -> v[20:23]={words(parts)}")
                least = [raw >> sum(widths[:i]) & mask(w) == 1 << w - 1 for i, w in enumerate(widths)]
                if number != SNORM or not any(least):
                    stores.append(f"{row(at)} v[20:23]={words(parts)} -> mem[20]={le(raw, size)}")
            image = window(data, number)
            c.block(f"image_load v[20:23], v4, {T} dmask:0xf unorm", lines(image, loads), note=f"format {data} {number}")
            c.block(f"image_store v[20:23], v4, {T} dmask:0xf unorm", lines(image, stores))


# ---- loads and stores

def loads(c):
    rgba = window(10, UINT)
    raw = 0x88776655
    parts = [0x55, 0x66, 0x77, 0x88]
    for dmask in (1, 2, 4, 8, 3, 9, 6, 7, 14, 15):
        chosen = [p for i, p in enumerate(parts) if dmask >> i & 1]
        to = reg(20, len(chosen))
        c.block(f"image_load {to}, v4, {T} dmask:{dmask:#x} unorm", lines(rgba, [f"{row(8)} mem[20]={raw:08x} -> {to}={words(chosen)}", f"{row(63)} mem[fc]={raw:08x} -> {to}={words(chosen)}"]))
    load = f"image_load v[20:23], v4, {T} dmask:0xf unorm"
    c.block(load, lines(rgba, ["v4=40 v5=lane -> v[20:23]=0", "v4=0 v5=40 -> v[20:23]=0", "v4=ffffffff v5=lane -> v[20:23]=0", "v4=0 v5=ffffffff -> v[20:23]=0"]), note="outside all components are 0")
    c.block(load, [f"s[8:15]=0 {row(8)} -> v[20:23]=0"], note="an unbound descriptor reads 0")
    for sel, shown in ((0xfac, [0x55, 0x66, 0x77, 0x88]), (6 | 5 << 3 | 4 << 6 | 7 << 9, [0x77, 0x66, 0x55, 0x88]), (4 | 1 << 9, [0x55, 0, 0, 1]), (7 | 1 << 3 | 4 << 6 | 0 << 9, [0x88, 1, 0x55, 0])):
        c.block(load, lines(window(10, UINT, sel=sel), [f"{row(8)} mem[20]={raw:08x} -> v[20:23]={words(shown)}"]), note="selections")
    for flags, status in ((" tfe", 1), (" lwe", 1), (" glc", 0), (" slc", 0)):
        to = "v[20:21]" if flags == " tfe" else "v20"
        result = "v[20:21]=0000000000000066" if status else "v20=66"
        c.block(f"image_load {to}, v4, {T} dmask:0x2 unorm{flags}", lines(rgba, [f"{row(8)} mem[20]={raw:08x} -> {result}", f"v4=40 v5=lane -> {result.replace('66', '00')}"]), note="a status of 0 behind the data" if status else None)
    # Levels.
    for name in ("load_mip", "load_mip_pck", "load_mip_pck_sgn"):
        c.block(f"image_{name} v20, v4, {T} dmask:0x8 unorm", lines(rgba, [f"{row(8)} v6=0 mem[20]=98776655 -> v20={'ffffff98' if name.endswith('sgn') else '98'}", f"{row(8)} v6=1 mem[20]=98776655 -> v20=0", f"v4=0 v5=40 v6=0 -> v20=0"]), note="the image has one level")
    for name in ("load_pck", "load_pck_sgn"):
        image = window(10, UNORM)
        value = 0x887f01ff
        shown = [signed(value >> 8 * i & 255, 8) & M32 if name.endswith("sgn") else value >> 8 * i & 255 for i in range(4)]
        c.block(f"image_{name} v[20:23], v4, {T} dmask:0xf unorm", lines(image, [f"{row(8)} mem[20]={value:08x} -> v[20:23]={words(shown)}", f"v4=0 v5=40 -> v[20:23]=0"]), note="components without conversion: open point")
    # Stores.
    store = f"image_store v[20:23], v4, {T} dmask:0xf unorm"
    c.block(store, lines(rgba, [f"{row(8)} v[20:23]={words(parts)} -> mem[20]={raw:08x}", f"{row(0)} v[20:23]={words([0x100, 0xff, 5, M32])} -> mem[0]=ff05ffff"]), note="integers clamp")
    for text in (store, f"image_atomic_add v20, v4, {T} dmask:0x1 unorm"):
        c.block(text, lines(window(4, UINT), ["exec=ffffffffffffffff v4=40 v5=lane ->", "exec=ffffffffffffffff v4=0 v5=40 ->"]), note="outside nothing happens")
        c.block(text, [f"exec=ffffffffffffffff s[8:15]=0 {row(8)} ->"])
    c.block(f"image_store v[20:21], v4, {T} dmask:0x9 unorm", lines(rgba, [f"{row(8)} v20=55 v21=88 -> mem[20]=88000055"]), note="components that are not sent are 0")
    c.block(f"image_store v20, v4, {T} dmask:0x4 unorm", lines(rgba, [f"{row(8)} v20=55 -> mem[20]=00550000", f"{row(9)} v20=0 -> mem[24]=00000000"]))
    bgra = window(10, UNORM, sel=6 | 5 << 3 | 4 << 6 | 7 << 9, border=4)
    c.block(store, lines(bgra, [f"{row(8)} v[20:23]={words([F32.one, 0, 0, F32.one])} -> mem[20]=ffff0000", f"{row(8)} v[20:23]={words([0x3f000000, 0, F32.one, 0xbf800000])} -> mem[20]=008000ff"]), note="stores go the way back of selections; 127.5 rounds to even")
    for name, extra in (("store_mip", " v6=0"), ("store_pck", ""), ("store_mip_pck", " v6=0")):
        rest = [f"{row(8)}{extra} v[20:23]={words(parts)} -> mem[20]={raw:08x}"]
        if "pck" in name:
            rest.append(f"{row(8)}{extra} v[20:23]={words([0x155, M32, 0x7701, 0x1ff])} -> mem[20]=ff01ff55")
        c.block(f"image_{name} v[20:23], v4, {T} dmask:0xf unorm", lines(rgba, rest), note="low bits without conversion: open point" if "pck" in name else None)
        if "mip" in name:
            c.block(f"image_{name} v[20:23], v4, {T} dmask:0xf unorm", lines(rgba, [f"exec=ffffffffffffffff {row(8)} v6=1 ->"]))
    # Half precision: packed on gfx9, one in a register on gfx803.
    image = window(14, FLOAT)
    memory = f"mem[20]={words([0x3f800000, 0xc0000000, 0x477fe000, 0x33800000])}"
    halves = [0x3c00, 0xc000, 0x7bff, 0x0001]
    for dmask, count in ((15, 4), (7, 3), (1, 1)):
        packed = [halves[i] | (halves[i + 1] << 16 if i + 1 < count else 0) for i in range(0, count, 2)]
        to = reg(20, len(packed))
        c.block(f"image_load {to}, v4, {T} dmask:{dmask:#x} unorm d16", [f"{NEW}: {image[1][1]} {row(2)} {memory} -> {to}={words(packed)}", f"{NEW}: {image[1][1]} v4=10 v5=lane -> {to}=0"], GFX9)
        wide = reg(20, count)
        c.block(f"image_load {wide}, v4, {T} dmask:{dmask:#x} unorm d16", [f"gfx803: {image[0][1]} {row(2)} {memory} -> {wide}={words(halves[:count])}"], ["gfx803"])
    c.block(f"image_load v[20:21], v4, {T} dmask:0xf unorm d16", [f"{window(12, SINT)[1][1]} {row(4)} mem[20]=80007fff1234ffff -> v[20:21]=80007fff1234ffff"], GFX9)
    c.block(f"image_store v[20:21], v4, {T} dmask:0xf unorm d16", [f"{image[1][1]} {row(2)} v[20:21]=00017bffc0003c00 -> {memory}"], GFX9)
    c.block(f"image_store v20, v4, {T} dmask:0xa unorm d16", [f"{image[1][1]} {row(2)} v20=c0003c00 -> mem[20]={words([0x3f800000, 0xc0000000, 0, 0])}"], GFX9, "the mask only counts")
    c.block(f"image_store v[20:21], v4, {T} dmask:0xa unorm d16", [f"{image[0][1]} {row(2)} v20=ffff3c00 v21=ffffc000 -> mem[20]={words([0x3f800000, 0xc0000000, 0, 0])}"], ["gfx803"])
    # Addresses of 16 bits.
    flat = both(D2, 4, UINT, (4, 4), base="buf/256")[1][1]
    c.block(f"image_load v20, v4, {T} dmask:0x1 unorm a16", [f"{flat} v4=00020003 buf[2c]=12345678 -> v20=12345678", f"{flat} v4=00040003 -> v20=0"], GFX9)
    cube = both(D3, 4, UINT, (4, 4, 4), base="buf/256")[1][1]
    c.block(f"image_load v20, v4, {T} dmask:0x1 unorm a16", [f"{cube} v4=00010002 v5=ffff0003 buf[d8]=12345678 -> v20=12345678"], GFX9)
    c.block(f"image_load_mip v20, v4, {T} dmask:0x1 unorm a16", [f"{flat} v4=00020003 v5=ffff0000 buf[2c]=12345678 -> v20=12345678", f"{flat} v4=00020003 v5=00000001 -> v20=0"], GFX9)


def shapes(c):
    load = f"image_load v20, v4, {T} dmask:0x1 unorm"
    at = lambda n: f"buf[{4 * n:x}]=12345678 -> v20=12345678"
    image = lambda *args, **extra: both(*args, base="buf/256", **extra)
    c.block(load, lines(image(D1, 4, UINT, (20,)), [f"v4=13 {at(19)}", "v4=14 -> v20=0"]), note="1D")
    c.block(load, lines(image(D2, 4, UINT, (5, 3), 8), [f"v4=4 v5=2 {at(20)}", "v4=5 v5=0 -> v20=0", "v4=0 v5=3 -> v20=0"]), note="2D with a pitch")
    c.block(load, lines(image(D3, 4, UINT, (5, 3, 4), 8), [f"v4=1 v5=2 v6=3 {at(3 * 24 + 17)}", "v4=0 v5=0 v6=4 -> v20=0"]), note="3D: slices of pitch * height")
    # AMD's own kernels that copy to and from images of three dimensions set DA.
    c.block(load + " da", lines(image(D3, 4, UINT, (5, 3, 4), 8), [f"v4=1 v5=2 v6=3 {at(3 * 24 + 17)}", "v4=0 v5=0 v6=4 -> v20=0"]), note="3D with DA: the same")
    array = f"image_load v20, v4, {T} dmask:0x1 unorm da"
    c.block(array, lines(image(D1A, 4, UINT, (5, 1, 4), 8), [f"v4=3 v5=2 {at(19)}", "v4=0 v5=4 -> v20=0"]), note="1D array")
    c.block(array, lines(image(D2A, 4, UINT, (5, 3, 4), 8), [f"v4=1 v5=2 v6=3 {at(3 * 24 + 17)}", "v4=0 v5=0 v6=4 -> v20=0"]), note="2D array")
    c.block(load, lines(image(D2A, 4, UINT, (5, 3, 4), 8), [f"v4=1 v5=2 v6=3 {at(17)}"]), note="an array without DA: layer 0")
    c.block(array, lines(image(D2, 4, UINT, (5, 3), 8), [f"v4=1 v5=2 v6=3 {at(17)}"]), note="DA without an array: the slice is ignored")
    c.block(array, lines(image(D2A, 4, UINT, (5, 3, 2), 8, first=2), [f"v4=1 v5=2 v6=1 {at(3 * 24 + 17)}", "v4=0 v5=0 v6=2 -> v20=0"]), note="a view that begins with layer 2")
    c.block(f"image_load_mip v20, v4, {T} dmask:0x1 unorm da", lines(image(D2A, 4, UINT, (5, 3, 4), 8), [f"v4=1 v5=2 v6=3 v7=0 {at(3 * 24 + 17)}", "v4=1 v5=2 v6=3 v7=1 -> v20=0"]))
    c.block(f"image_store v20, v4, {T} dmask:0x1 unorm da", lines(image(D2A, 4, UINT, (5, 3, 4), 8), ["exec=1 v4=1 v5=2 v6=3 v20=12345678 -> buf[164]=12345678"]))
    c.block(f"image_store v20, v4, {T} dmask:0x1 unorm", lines(image(D3, 4, UINT, (5, 3, 4), 8), ["exec=1 v4=1 v5=2 v6=3 v20=12345678 -> buf[164]=12345678", "exec=ff v4=0 v5=0 v6=0 v20[0]=1 v20[7]=7 v20[3]=3 -> buf[0]=00000007"]), note="one address: the highest lane wins")
    # Sizes.
    query = f"image_get_resinfo v[20:23], v4, {T} dmask:0xf"
    for kind, size, info in ((D1, (20,), (20, 1, 1)), (D2, (5, 3), (5, 3, 1)), (D3, (5, 3, 4), (5, 3, 4)), (D1A, (5, 1, 4), (5, 4, 1)), (D2A, (5, 3, 4), (5, 3, 4))):
        c.block(query, lines(image(kind, 4, UINT, size, 32), [f"v4=0 -> v[20:23]={words(list(info) + [1])}", f"v4=1 -> v[20:23]={words([0, 0, 0, 1])}"]))
    c.block(query, lines(image(D3, 4, UINT, (20, 9, 6), 32, last=3), [f"v4=2 -> v[20:23]={words([5, 2, 1, 4])}", f"v4=3 -> v[20:23]={words([2, 1, 1, 4])}", f"v4=4 -> v[20:23]={words([0, 0, 0, 4])}"]), note="a query of levels")
    c.block(f"image_get_resinfo v[20:21], v4, {T} dmask:0x9", lines(image(D2, 4, UINT, (5, 3), 8), [f"v4=0 -> v[20:21]={words([5, 1])}"]))
    c.block(query, ["s[8:15]=0 v4=0 -> v[20:23]=0"])


def refusals(c):
    load = f"image_load v20, v4, {T} dmask:0x1 unorm"
    refuse = lambda image, what: [f"{only}: {t} v4=0 v5=0 -> fault: unsupported {what}" for only, t in image]
    c.block(load, refuse(window(4, UINT, tiling=13), "a tiled image (mode 13)"))
    for kind, what in ((CUBE, "a cube map"), (MSAA, "a multisampled image"), (15, "a multisampled image"), (1, "an image of type 1")):
        c.block(load, refuse(both(kind, 4, UINT, (4, 4)), what))
    c.block(load, refuse(window(4, UINT, last=2), "an image of several mip levels"))
    c.block(load, refuse(both(D2, 35, UNORM, (4, 4)), "an image of data format 35"))
    c.block(load, refuse(both(D2, 10, 9, (4, 4)), "number format 9"))
    c.block(load, refuse(both(D2, 10, FLOAT, (4, 4)), "number format 7"))
    compressed = window(4, UINT, w6=1 << 21)
    c.block(load, [f"gfx803: {compressed[0][1]} v4=0 v5=0 -> fault: unsupported a compressed image", f"{NEW}: {compressed[1][1]} v4=0 v5=0 -> fault: unsupported a compressed image"], GFX8)
    c.block(f"image_sample_lz v20, v4, {T}, {S} dmask:0x1 da", refuse(both(D3, 4, UINT, (4, 4, 4)), "an array of 3D images"))
    c.block(f"image_load v20, v4, {T} dmask:0x1 unorm r128", [f"{window(4, UINT)[0][1]} v4=0 v5=0 -> fault: unsupported a 128-bit descriptor"], GFX67 + ["gfx803"])
    c.block(f"image_load v20, v4, {T} dmask:0x1 unorm", [f"exec=0 {S}=0 {t} ->" for _, t in window(4, UINT, tiling=13)], note="nothing happens where no lane acts")


# ---- atomics

def image_atomics(c):
    for bits in (32, 64):
        count, size = bits // 32, bits // 8
        image = window(4 if bits == 32 else 11, UINT)
        old = [image[0]]
        place = f"{row(32 // size)}"
        for name, (_, fn, pairs) in atomics(bits).items():
            ancient = name in ("rsub", "fmin", "fmax")
            address = "v[4:7]" if ancient else "v4"
            data = reg(20, count)
            for glc in (False, True):
                rest = [f"{place} {data}={hexed(x, bits)} mem[20]={le(m, size)} -> mem[20]={le(fn(m, x), size)}" + (f" {data}={hexed(m, bits)}" if glc else "") for m, x in pairs]
                c.block(f"image_atomic_{name} {data}, {address}, {T} dmask:{mask(count):#x} unorm{' glc' if glc else ''}", lines(old if ancient else image, rest), GFX67 if ancient else None)
        for name, pairs, same in (("cmpswap", swap_pairs(bits), lambda m, x: m == x), ("fcmpswap", fswap_pairs(F32 if bits == 32 else fl.F64), lambda m, x: fl.compare(F32 if bits == 32 else fl.F64, m, x) == 0)):
            ancient = name == "fcmpswap"
            address = "v[4:7]" if ancient else "v4"
            data, first = reg(20, 2 * count), reg(20, count)
            for glc in (False, True):
                rest = [f"{place} {data}={hexed(x << bits | n, 2 * bits)} mem[20]={le(m, size)} -> mem[20]={le(n if same(m, x) else m, size)}" + (f" {first}={hexed(m, bits)}" if glc else "") for m, x, n in pairs]
                c.block(f"image_atomic_{name} {data}, {address}, {T} dmask:{mask(2 * count):#x} unorm{' glc' if glc else ''}", lines(old if ancient else image, rest), GFX67 if ancient else None, "new, then compare")
    image = both(D2, 4, UINT, (4, 4), base="buf/256")
    add = f"image_atomic_add v20, v4, {T} dmask:0x1 unorm glc"
    c.block(add, lines(image, ["exec=f v4=1 v5=2 v20=1 buf[24]=00000064 -> v20[0]=64 v20[1]=65 v20[2]=66 v20[3]=67 buf[24]=00000068"]), note="lanes in ascending order")
    c.block(add, lines(image, ["v4=4 v5=0 v20=5 -> v20=0", "v4=0 v5=4 v20=5 -> v20=0"]) + ["s[8:15]=0 v4=0 v5=0 v20=5 -> v20=0"], note="outside: 0")
    c.block(f"image_atomic_add v[20:21], v4, {T} dmask:0x1 unorm glc tfe", lines(image, ["exec=1 v4=1 v5=2 v20=1 buf[24]=00000064 -> v20=64 v21=0 buf[24]=00000065"]), note="a status behind the old value")
    layers = both(D2A, 4, UINT, (4, 4, 2), base="buf/256")
    c.block(f"image_atomic_umax v20, v4, {T} dmask:0x1 unorm da", lines(layers, ["exec=1 v4=1 v5=2 v6=1 v20=5 buf[64]=00000003 -> buf[64]=00000005"]))
    c.block(add, [f"{only}: {t} v4=0 v5=0 -> fault: unsupported an atomic of 4 bytes on texels of 2" for only, t in both(D2, 2, UINT, (4, 4))])
    c.block(f"image_atomic_add v[20:22], v4, {T} dmask:0x7 unorm", [f"{only}: {t} v4=0 v5=0 -> fault: unsupported DMASK 0x7" for only, t in image], optional=True)


# ---- samples

SUFFIXES = ["", "_cl", "_d", "_d_cl", "_l", "_b", "_b_cl", "_lz"]
COARSE = ["_cd", "_cd_cl"]


def parts_of(suffix):
    return set(suffix.split("_")) - {""}


def wrap(mode, i, n):
    once = -1 - i if i < 0 else i
    if mode == 0:
        return i % n
    if mode == 1:
        i %= 2 * n
        return i if i < n else 2 * n - 1 - i
    if mode in (2, 3):
        return min(max(i, 0) if mode == 2 else once, n - 1)
    i = once if mode == 7 else i
    return i if 0 <= i < n else None


def nearest_even(v):
    whole = floor(v)
    rest = v - whole
    return whole + (rest > Fraction(1, 2) or rest == Fraction(1, 2) and whole % 2 == 1)


class Picture:
    """An image in the buffer, of one component of 32 bits."""

    def __init__(self, kind, size, number=FLOAT):
        self.kind, self.size, self.number = kind, (list(size) + [1, 1])[:3], number
        count = self.size[0] * self.size[1] * self.size[2]
        self.texels = [(37 * i * i + 11 * i + 5) % 61 for i in range(count)]
        raw = [F32.round(Fraction(v)) if number == FLOAT else v for v in self.texels]
        self.memory = f"buf[0]={words(raw)}"
        self.image = both(kind, 4, number, size, base="buf/256", sel=X001)
        self.dims = {D1: 1, D1A: 1, D2: 2, D2A: 2, D3: 3}[kind]

    def texel(self, at, layer, border):
        if None in at:
            return Fraction(border)
        x, y, z = (list(at) + [0, 0])[:3]
        z = layer if self.kind in (D1A, D2A) else z
        return Fraction(self.texels[(z * self.size[1] + y) * self.size[0] + x])

    def spans(self, coords, modes, linear, unnormalized, offsets, gathers=False, truncates=False):
        result = []
        for i in range(self.dims):
            n = self.size[i]
            at = Fraction(coords[i]) * (1 if unnormalized else n) + offsets[i]
            if linear[i] and (self.number == FLOAT or gathers):
                fixed = nearest_even((at - Fraction(1, 2)) * 256)
                first = fixed >> 8
                result.append((wrap(modes[i], first, n), wrap(modes[i], first + 1, n), Fraction(fixed & 255, 256)))
            else:
                first = wrap(modes[i], floor(at) if truncates else nearest_even(at * 256) >> 8, n)
                result.append((first, first, Fraction(0)))
        return result

    def layer(self, slice):
        return min(max(nearest_even(Fraction(slice)), 0), self.size[2] - 1)

    def sample(self, coords, modes=(2, 2, 2), linear=(0, 0, 0), unnormalized=0, offsets=(0, 0, 0), slice=0, border=0, truncates=False):
        spans = self.spans(coords, modes, linear, unnormalized, offsets, truncates=truncates)
        total = Fraction(0)
        for corner in range(1 << self.dims):
            share, at = Fraction(1), []
            for i, (near, far, part) in enumerate(spans):
                share *= part if corner >> i & 1 else 1 - part
                at.append(far if corner >> i & 1 else near)
            if share:
                total += share * self.texel(at, self.layer(slice), border)
        return F32.round(total) if self.number == FLOAT else int(total)

    def gather(self, coords, modes=(2, 2, 2), unnormalized=0, offsets=(0, 0, 0), slice=0, border=0):
        x, y = self.spans(coords, modes, (1, 1), unnormalized, offsets, True)
        values = [self.texel((x[i], y[j]), self.layer(slice), border) for i, j in ((0, 1), (1, 1), (1, 0), (0, 0))]
        return [F32.round(v) if self.number == FLOAT else int(v) for v in values]


def f32(v):
    return f"{F32.round(Fraction(v)):08x}"


def addresses(suffix, dims, body, offsets=(0, 0, 0), lod=0):
    """v4 and on: {offset} {bias} {derivatives} body."""
    has, values = parts_of(suffix), []
    if "o" in has:
        values.append(f"{sum((o & 63) << 8 * i for i, o in enumerate(offsets)) | 0xffc0c0c0:08x}")
    if "b" in has:
        values.append(f32(Fraction(1, 2)))
    if has & {"d", "cd"}:
        values += [f32(Fraction(i + 1, 64)) for i in range(2 * dims)]
    values += [f32(v) for v in body]
    if has & {"l", "cl"}:
        values.append(f32(lod))
    return " ".join(f"v{4 + i}={v}" for i, v in enumerate(values))


def address_regs(suffix):
    has = parts_of(suffix)
    return reg(4, 1 + ("o" in has) + ("b" in has) + ("c" in has) + bool(has & {"d", "cd"}))


def sample_line(p, suffix, coords, modes=(2, 2, 2), linear=0, unnormalized=0, offsets=(0, 0, 0), slice=None, lod=0, to="v20", **extra):
    dims = p.dims
    offsets = offsets if "o" in parts_of(suffix) else (0, 0, 0)
    body = list(coords) + ([] if slice is None else [slice])
    s = sampler(linear=linear, unnormalized=unnormalized, clamps=modes, **extra)
    value = p.sample(coords, modes, (linear,) * 3, unnormalized, offsets, slice or 0, 1 if extra.get("border") == 2 else 0)
    return f"{s} {addresses(suffix, dims, body, offsets, lod)} {p.memory} -> {to}={value:08x}"


def samples(c):
    square = Picture(D2, (4, 4))
    q = lambda *v: tuple(Fraction(x) / 16 for x in v)
    for suffix in [s + o for s in SUFFIXES + COARSE for o in ("", "_o")]:
        offsets = (1, -2, 0)
        rest = [sample_line(square, suffix, q(6, 11), linear=0, offsets=offsets), sample_line(square, suffix, q(5, 9), linear=1, offsets=offsets), sample_line(square, suffix, q(-3, 19), (0, 1, 2), 1, offsets=offsets)]
        c.block(f"image_sample{suffix} v20, {address_regs(suffix)}, {T}, {S} dmask:0x1", lines(square.image, rest))
    for suffix in ["_c" + s + o for s in SUFFIXES + COARSE for o in ("", "_o")]:
        c.block(f"image_sample{suffix} v20, {address_regs(suffix)}, {T}, {S} dmask:0x1", [f"{only}: {t} {sampler(linear=n)} v4=0 v5=0 -> fault: unsupported a depth comparison" for only, t in square.image for n in (0, 1)])
    sample = f"image_sample_lz v20, v4, {T}, {S} dmask:0x1"
    # Every mode, inside, at the edges and beyond, with both filters.
    for mode in (0, 1, 2, 3, 6, 7):
        rest = [sample_line(square, "_lz", q(x, y), (mode, 2, 2), linear, border=border) for linear in (0, 1) for x, y in ((1, 8), (-1, 8), (-21, 6), (17, 6), (37, 2), (16, 16)) for border in ((0, 2) if mode in (6, 7) else (0,))]
        c.block(sample, lines(square.image, rest), note=f"wrap mode {mode}")
    for mode in (4, 5):
        c.block(sample, [f"{only}: {t} {sampler(mode)} v4=0 v5=0 -> fault: unsupported wrap mode {mode}" for only, t in square.image])
    rest = [sample_line(square, "_lz", (Fraction(x), Fraction(y)), linear=linear, unnormalized=1) for linear in (0, 1) for x, y in ((0, 0), (Fraction(3, 2), Fraction(5, 2)), (Fraction(7, 4), Fraction(9, 8)), (9, -9))]
    c.block(sample, lines(square.image, rest), note="coordinates in texels, by the sampler")
    c.block(sample + " unorm", lines(square.image, [line.replace(sampler(linear=1, unnormalized=1), sampler(linear=1)) for line in rest[4:]]), note="and by the instruction")
    fine = Fraction(1, 1024)
    rest = [sample_line(square, "_lz", (Fraction(3, 2) + x * fine, Fraction(1, 2)), linear=1, unnormalized=1) for x in (1, 2, 3, 4, 6, 1021, 1022, 1023)]
    c.block(sample, lines(square.image, rest), note="open point: weights of eight fraction bits, nearest even")
    rest = [f"{sampler(unnormalized=1, w0=t << 27)} v4={f32(2 + x * fine)} v5={f32(0)} {square.memory} -> v20={square.sample((2 + x * fine, 0), unnormalized=1, truncates=t):08x}" for t in (0, 1) for x in (-3, -2, -1, 0, 1023)]
    c.block(sample, lines(square.image, rest), note="open point: without a filter they are rounded as well, unless TRUNC_COORD")
    odd = [(f"v4={bits} v5={f32(0)}", x) for bits, x in (("7fc00000", 0), ("7f800000", 3), ("ff800000", 0), ("7f7fffff", 3), ("00000001", 0), ("80000001", 0))]
    c.block(sample, lines(square.image, [f"{sampler()} {address} {square.memory} -> v20={F32.round(Fraction(square.texels[x])):08x}" for address, x in odd]), note="open point: NaN is 0, infinities are far away")
    # Shapes.
    line = Picture(D1, (6,))
    c.block(sample, lines(line.image, [sample_line(line, "_lz", (x,), linear=linear) for linear in (0, 1) for x in q(0, 5, 13, 17)]), note="1D")
    cube = Picture(D3, (4, 2, 2))
    c.block(sample, lines(cube.image, [sample_line(cube, "_lz", q(x, y, z), (0, 1, 2), linear) for linear in (0, 1) for x, y, z in ((5, 9, 3), (13, 2, 9), (0, 16, 15), (-3, 19, 20))]), note="3D")
    mixed = [f"{sampler(linear=l, z=z)} {addresses('_lz', 3, q(5, 9, 7))} {cube.memory} -> v20={cube.sample(q(5, 9, 7), linear=(l, l, z == 2)):08x}" for l in (0, 1) for z in (1, 2)]
    c.block(sample, lines(cube.image, mixed), note="the filter of z, where it is one of its own")
    layers = Picture(D2A, (4, 2, 2))
    for suffix in ("_lz", "_l", "", "_b_cl_o"):
        rest = [sample_line(layers, suffix, q(5, 9), linear=linear, slice=slice, offsets=(-1, 0, 0)) for linear in (0, 1) for slice in (Fraction(0), Fraction(1, 2), Fraction(3, 4), Fraction(-3), Fraction(9))]
        c.block(f"image_sample{suffix} v20, {address_regs(suffix)}, {T}, {S} dmask:0x1 da", lines(layers.image, rest), note="2D array: the nearest layer, even at the half")
    rows = Picture(D1A, (4, 1, 3))
    c.block(sample + " da", lines(rows.image, [sample_line(rows, "_lz", q(5), linear=linear, slice=slice) for linear in (0, 1) for slice in (Fraction(1), Fraction(3, 2))]), note="1D array")
    c.block(sample, lines(layers.image, [sample_line(layers, "_lz", q(5, 9), linear=1)]), note="an array without DA")
    # Integers are not filtered.
    counts = Picture(D2, (4, 4), UINT)
    c.block(sample, lines(counts.image, [sample_line(counts, "_lz", q(5, 9), linear=linear) for linear in (0, 1)]), note="open point: integers pass a linear filter as they are")
    # Filters by the level.
    lod = f"image_sample_l v20, v4, {T}, {S} dmask:0x1"
    rest = [f"{sampler(linear=0, minify=1, **extra)} {addresses('_l', 2, q(5, 9), lod=level)} {square.memory} -> v20={square.sample(q(5, 9), linear=(far,) * 3):08x}"
            for level, far, extra in ((Fraction(0), 0, {}), (Fraction(1, 2), 1, {}), (Fraction(-1), 0, {}), (Fraction(1, 2), 0, {"bias": -256}), (Fraction(0), 1, {"bias": 64}), (Fraction(2), 0, {"lod": (0, 0)}), (Fraction(-2), 1, {"lod": (16, 256)}))]
    c.block(lod, lines(square.image, rest), note="above level 0 the other filter acts")
    plain = f"image_sample v20, v4, {T}, {S} dmask:0x1"
    refuse = lambda s, what: [f"{only}: {t} {s} v4=0 v5=0 -> fault: unsupported {what}" for only, t in square.image]
    c.block(plain, refuse(sampler(linear=0, minify=1), "different filters") + refuse(sampler(linear=3, w0=1 << 9), "an anisotropic filter") + refuse(sampler(w0=1 << 29), "a minimum or maximum filter") + refuse(sampler(border=3), "a border colour from memory"))
    c.block(plain, lines(square.image, [f"{sampler(linear=3)} {addresses('', 2, q(5, 9))} {square.memory} -> v20={square.sample(q(5, 9), linear=(1, 1, 1)):08x}"]), note="anisotropic of ratio 1")
    c.block(plain, [f"s[8:15]=0 {sampler()} v4=0 v5=0 -> v20=0"])
    # Components, borders and halves.
    rgba = lambda **extra: both(D2, 10, UNORM, (2, 2), base="buf/256", **extra)
    memory = "buf[0]=ffffffff00ff00ff00000000ff0000ff"
    bits = [F32.one, 0, 0, F32.one]
    c.block(f"image_sample_lz v[20:23], v4, {T}, {S} dmask:0xf", lines(rgba(), [f"{sampler()} v4={f32(0)} v5={f32(0)} {memory} -> v[20:23]={words(bits)}"]))
    half = F32.round(Fraction(1, 2))
    c.block(f"image_sample_lz v[20:22], v4, {T}, {S} dmask:0xb", lines(rgba(), [f"{sampler(linear=1)} v4={f32(Fraction(1, 2))} v5={f32(0)} {memory} -> v[20:22]={words([half, 0, half])}"]))
    outside = f"v4={f32(-4)} v5={f32(0)}"
    every = f"image_sample_lz v[20:23], v4, {T}, {S} dmask:0xf"
    for border, colour in ((0, [0] * 4), (1, [0, 0, 0, F32.one]), (2, [F32.one] * 4)):
        c.block(every, lines(rgba(), [f"{sampler(6, border=border)} {outside} -> v[20:23]={words(colour)}"]), note="border colours")
    c.block(every, lines(rgba(sel=XY01), [f"{sampler(6, border=0)} {outside} -> v[20:23]={words([0, 0, 0, F32.one])}"]), note="the border goes through the selection")
    argb = 5 | 6 << 3 | 7 << 6 | 4 << 9
    c.block(every, [f"{NEW}: {rgba(sel=argb, border=3)[1][1]} {sampler(6, border=1)} {outside} -> v[20:23]={words([0, 0, 0, F32.one])}"], GFX9, "BC_SWIZZLE: alpha is the first in memory")
    c.block(every, lines(both(D2, 10, UINT, (2, 2), base="buf/256"), [f"{sampler(6, border=2)} {outside} -> v[20:23]={words([1] * 4)}"]), note="one of an integer format")
    c.block(f"image_sample_lz v[20:22], v4, {T}, {S} dmask:0x9 tfe", lines(rgba(), [f"{sampler()} v4={f32(0)} v5={f32(0)} {memory} -> v[20:22]={words([F32.one, F32.one, 0])}"]))
    c.block(f"image_sample_lz v[20:21], v4, {T}, {S} dmask:0xf d16", [f"{rgba()[1][1]} {sampler()} v4={f32(0)} v5={f32(0)} {memory} -> v[20:21]=3c000000_00003c00"], GFX9)
    c.block(f"image_sample_lz v[20:23], v4, {T}, {S} dmask:0xf d16", [f"{rgba()[0][1]} {sampler()} v4={f32(0)} v5={f32(0)} {memory} -> v[20:23]={words([0x3c00, 0, 0, 0x3c00])}"], ["gfx803"])
    # Addresses of 16 bits: each part begins with a register of its own.
    h = lambda v: F16.round(Fraction(v))
    pair = lambda x, y: f"{h(x) | h(y) << 16:08x}"
    x, y = q(5, 9)
    value = square.sample((x, y), linear=(1, 1, 1))
    t, s = square.image[1][1], sampler(linear=1)
    for suffix, front in (("_lz", []), ("_b", [f"ffff{h(1):04x}"]), ("_d", ["12345678", "3c003c00"]), ("_d_o", ["00000000", "12345678", "3c003c00"]), ("_b_o", ["00000000", "ffff3c00"])):
        registers = front + [pair(x, y)]
        c.block(f"image_sample{suffix} v20, {address_regs(suffix)}, {T}, {S} dmask:0x1 a16", [f"{t} {s} {' '.join(f'v{4 + i}={r}' for i, r in enumerate(registers))} {square.memory} -> v20={value:08x}"], GFX9, "halves")
    c.block(f"image_sample_l v20, v4, {T}, {S} dmask:0x1 a16", [f"{t} {sampler(linear=0, minify=1)} v4={pair(x, y)} v5=ffff{h(l):04x} {square.memory} -> v20={square.sample((x, y), linear=(l > 0,) * 3):08x}" for l in (0, 1)], GFX9)
    z = Fraction(7, 16)
    c.block(f"image_sample_d v20, v[4:5], {T}, {S} dmask:0x1 a16", [f"{cube.image[1][1]} {s} v4=12345678 v5=ffff1234 v6=12345678 v7=ffff1234 v8={pair(x, y)} v9={h(z):08x} {cube.memory} -> v20={cube.sample((x, y, z), linear=(1, 1, 1)):08x}"], GFX9)


def gathers(c):
    square = Picture(D2, (4, 4))
    q = lambda *v: tuple(Fraction(x) / 16 for x in v)
    plain = [s for s in SUFFIXES if "d" not in parts_of(s)]
    for suffix in [s + o for s in plain for o in ("", "_o")]:
        offsets = (1, -2, 0) if "_o" in suffix else (0, 0, 0)
        rest = []
        for coords, modes, linear in ((q(6, 10), (2, 2, 2), 0), (q(15, 1), (0, 1, 2), 1), (q(-1, 18), (6, 6, 6), 1)):
            values = square.gather(coords, modes, 0, offsets, 0)
            rest.append(f"{sampler(linear=linear, clamps=modes)} {addresses(suffix, 2, coords, offsets)} {square.memory} -> v[20:23]={words(values)}")
        c.block(f"image_gather4{suffix} v[20:23], {address_regs(suffix)}, {T}, {S} dmask:0x1", lines(square.image, rest), note="(0, 1), (1, 1), (1, 0), (0, 0)")
    for suffix in ["_c" + s + o for s in plain for o in ("", "_o")]:
        c.block(f"image_gather4{suffix} v[20:23], {address_regs(suffix)}, {T}, {S} dmask:0x1", [f"{only}: {t} {sampler(linear=n)} v4=0 v5=0 -> fault: unsupported a depth comparison" for only, t in square.image for n in (0, 1)])
    for dmask, values in ((2, [0] * 4), (8, [F32.one] * 4)):
        c.block(f"image_gather4_lz v[20:23], v4, {T}, {S} dmask:{dmask:#x}", lines(square.image, [f"{sampler()} {addresses('_lz', 2, q(6, 10))} {square.memory} -> v[20:23]={words(values)}"]), note="DMASK names the component")
    layers = Picture(D2A, (4, 2, 2))
    c.block(f"image_gather4_lz v[20:23], v4, {T}, {S} dmask:0x1 da", lines(layers.image, [f"{sampler()} {addresses('_lz', 2, list(q(6, 10)) + [1])} {layers.memory} -> v[20:23]={words(layers.gather(q(6, 10), slice=1))}"]))
    counts = Picture(D2, (4, 4), UINT)
    c.block(f"image_gather4_lz v[20:23], v4, {T}, {S} dmask:0x1 unorm", lines(counts.image, [f"{sampler()} v4={f32(Fraction(7, 2))} v5={f32(2)} {counts.memory} -> v[20:23]={words(counts.gather((Fraction(7, 2), Fraction(2)), unnormalized=1))}"]))
    halves = [fl.convert(F32, F16, v) for v in square.gather(q(6, 10))]
    address = addresses("_lz", 2, q(6, 10))
    c.block(f"image_gather4_lz v[20:21], v4, {T}, {S} dmask:0x1 d16", [f"{square.image[1][1]} {sampler()} {address} {square.memory} -> v[20:21]={sum(v << 16 * i for i, v in enumerate(halves)):016x}"], GFX9)
    c.block(f"image_gather4_lz v[20:23], v4, {T}, {S} dmask:0x1 d16", [f"{square.image[0][1]} {sampler()} {address} {square.memory} -> v[20:23]={words(halves)}"], ["gfx803"])
    refuse = lambda image, what: [f"{only}: {t} {sampler()} v4=0 v5=0 -> fault: unsupported {what}" for only, t in image]
    c.raw(f"image_gather4_lz v[20:23], v4, {T}, {S} dmask:0x3", [0xf11c0300, 0x00821404], refuse(square.image, "DMASK 0x3"), TARGETS)
    c.block(f"image_gather4_lz v[20:23], v4, {T}, {S} dmask:0x1", refuse(Picture(D1, (4,)).image, "an image that is not 2D") + refuse(Picture(D3, (4, 2, 2)).image, "an image that is not 2D") + [f"s[8:15]=0 {sampler()} v4=0 v5=0 -> v[20:23]=0"])
    for text, what in ((f"image_gather4h v[20:23], v4, {T}, {S} dmask:0x1", "a gather of one row"), (f"image_get_lod v20, v4, {T}, {S} dmask:0x1", "a level of detail")):
        image = [square.image[1]] if "4h" in text else square.image
        c.block(text, [f"{only}: {t} {sampler(linear=n)} v4=0 v5=0 -> fault: unsupported {what}" for only, t in image for n in (0, 1)], GFX9 if "4h" in text else None)


def main():
    c = Chapter("mimg", "MIMG: linear images of one level. T# in s[8:15], S# in s[16:19], addresses from v4 on, data from v20 on.")
    formats(c)
    loads(c)
    shapes(c)
    refusals(c)
    image_atomics(c)
    samples(c)
    gathers(c)
    c.write()


if __name__ == "__main__":
    main()
