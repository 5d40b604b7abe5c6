"""What the vector chapters share: blocks of one instruction whose lines differ by lane."""

from case import hexed, mask, reg

GFX8 = ["gfx803", "gfx900", "gfx906"]
GFX9 = ["gfx900", "gfx906"]
GFX67 = ["gfx600", "gfx700"]
SOURCES = [4, 8, 12]
JUNK = 0xabcd0000


def operands(dst, srcs):
    return ", ".join(([reg("v", 0, dst)] if dst else []) + [reg("v", SOURCES[i], bits) for i, bits in enumerate(srcs)])


def source(i, value, bits):
    """A source register; 16-bit operands get something in the upper half that must not matter."""
    if bits == 16:
        value, bits = value | JUNK, 32
    return f"{reg('v', SOURCES[i], bits)}={hexed(value, bits)}"


def valu(c, names, dst, srcs, fn, values, mods="", targets=None, note=None, state="", keeps=False, order=None, old=None):
    """A block of `name dst, srcs mods`; fn(*values) gives D. `keeps`: a 16-bit result leaves the upper half alone.
    `old`: fn's last argument is the destination's old value, of `old` bits."""
    if isinstance(names, str):
        names = [names]
    texts = [f"{name} {operands(dst, srcs)}{mods}" for name in names]
    lines = []
    for row in values:
        d = fn(*row) & mask(dst)
        inputs = [source(i, value, bits) for i, (value, bits) in enumerate(zip(row, srcs))]
        if old:
            upper = 0x77770000 if old == 16 else 0
            inputs.append(f"{reg('v', 0, dst)}={hexed(row[-1] | upper, max(old, 32))}")
            if keeps:
                d |= upper
        elif keeps:
            inputs.append("v0=77776666")
            d |= 0x77770000
        if state:
            inputs.insert(0, state)
        lines.append(f"{' '.join(inputs)} -> {reg('v', 0, dst)}={hexed(d, max(dst, 32))}")
    c.block(texts, lines, targets, note)


def forms(name, *suffixes):
    return [name + suffix for suffix in suffixes]
