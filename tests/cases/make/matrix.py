"""Matrix products of CDNA, whose sources and sums lie in the registers of a whole wave, and moves of accumulation registers.

Layouts are those of AMD's matrix instruction calculator (the CDNA3 manual, 7.1.4), numerics those of MMA-Sim (arXiv 2511.10909):
f32 and f64 are chains of fused operations; f16 and bf16 add the products that one lane holds, on gfx908 exactly, on gfx90a in pairs
with each operation rounded and denormals flushed. EXEC is ignored by products (the CDNA3 manual, table 28).
"""

from fractions import Fraction

from case import Chapter, Random, mask
from floats import F16, F32, F64, Format
import floats as fl

BF16 = Format(16, 8)
BOTH, NEW = ["gfx908", "gfx90a"], ["gfx90a"]
A, B, C, D = 4, 8, 64, 128
NAMES = {"f32": F32, "f16": F16, "bf16": BF16, "f64": F64}
# Size, K, blocks, type; from gfx90a on.
SHAPES = [
    (32, 1, 2, "f32", False), (16, 1, 4, "f32", False), (4, 1, 16, "f32", False), (32, 2, 1, "f32", False), (16, 4, 1, "f32", False),
    (32, 4, 2, "f16", False), (16, 4, 4, "f16", False), (4, 4, 16, "f16", False), (32, 8, 1, "f16", False), (16, 16, 1, "f16", False),
    (32, 4, 2, "i8", False), (16, 4, 4, "i8", False), (4, 4, 16, "i8", False), (32, 8, 1, "i8", False), (16, 16, 1, "i8", False),
    (32, 2, 2, "bf16", False), (16, 2, 4, "bf16", False), (4, 2, 16, "bf16", False), (32, 4, 1, "bf16", False), (16, 8, 1, "bf16", False),
    (32, 4, 2, "bf16_1k", True), (16, 4, 4, "bf16_1k", True), (4, 4, 16, "bf16_1k", True), (32, 8, 1, "bf16_1k", True), (16, 16, 1, "bf16_1k", True),
    (16, 4, 1, "f64", True), (4, 4, 4, "f64", True),
]


class Shape:
    """A shape, and where its elements lie."""

    def __init__(self, size, k, blocks, kind, new):
        self.size, self.k, self.blocks, self.kind, self.new = size, k, blocks, kind, new
        self.type = kind.removesuffix("_1k")
        self.format = NAMES.get(self.type)
        self.bits = 8 if self.type == "i8" else self.format.bits
        self.sum_bits = 64 if self.type == "f64" else 32
        self.sum_format = {"i8": None, "f64": F64}.get(self.type, F32)
        self.held = k * size * blocks // 64
        self.factor_regs = self.held * self.bits // 32
        self.sum_regs = size * size * blocks * self.sum_bits // 32 // 64
        result = {"i8": "i32", "f64": "f64"}.get(self.type, "f32")
        self.name = f"v_mfma_{result}_{size}x{size}x{k}{kind}"

    def factor(self, block, outer, k):
        """Lane and item of an element of A or B."""
        return outer + self.size * (block + self.blocks * (k // self.held)), k % self.held

    def sum(self, block, i, j):
        """Lane and item of an element of C and D."""
        h = 1 if self.type == "f64" else 4
        beside = max(1, 64 * h // (self.size * self.size))
        groups = 64 // (self.size * beside)
        g = self.size // (h * groups)
        item = i % h + h * (i // (h * groups) + g * (block // beside))
        return j + self.size * (block % beside + beside * (i // h % groups)), item

    def bits_of(self, value):
        """Bits of an integer as a factor."""
        return value & 0xff if self.type == "i8" else self.format.round(Fraction(value))

    def sum_bits_of(self, value):
        return value & mask(32) if self.sum_format is None else self.sum_format.round(Fraction(value))


def fused(f, c, a, b):
    """c + a * b, rounded once; a sum of zero is negative if both are."""
    if any(f.is_nan(x) or f.is_inf(x) for x in (a, b, c)):
        raise AssertionError("finite numbers only")
    product_sign = f.negative(a) ^ f.negative(b)
    zero = f.value(a) * f.value(b) == 0 and f.is_zero(c)
    return f.round(f.value(c) + f.value(a) * f.value(b), zero_sign=zero and product_sign and f.negative(c))


def signed_zero(f, v, negative):
    return f.round(v, zero_sign=negative)


def flushed(f, x):
    return 0 if f.is_denormal(x) else x


def settled(x):
    return fl.flush(F32, x)


def add(x, y):
    v = F32.value(x) + F32.value(y)
    return settled(signed_zero(F32, v, F32.negative(x) and F32.negative(y) and F32.is_zero(x) and F32.is_zero(y)))


def product(f, x, y):
    return settled(signed_zero(F32, f.value(x) * f.value(y), f.negative(x) ^ f.negative(y)))


def added(shape, gfx, c, a, b):
    """The sum with all products of a row and a column, as bits."""
    f = shape.format
    if shape.type == "i8":
        s = lambda x: x - 256 if x >> 7 else x
        return (c + sum(s(x) * s(y) for x, y in zip(a, b))) & mask(32)
    if shape.type in ("f32", "f64"):
        for x, y in zip(a, b):
            c = fused(f, c, x, y)
        return c
    for at in range(0, shape.k, shape.held):
        pairs = list(zip(a[at:at + shape.held], b[at:at + shape.held]))
        if gfx == "gfx908":
            c = F32.round(F32.value(c) + sum(f.value(x) * f.value(y) for x, y in pairs))
            continue
        terms = [product(f, flushed(f, x), flushed(f, y)) for x, y in pairs]
        while len(terms) > 1:
            terms = [add(terms[n], terms[n + 1]) for n in range(0, len(terms), 2)]
        c = add(flushed(F32, c) if at == 0 else c, terms[0])
    return c


class Case:
    """Elements that are not 0, by place."""

    def __init__(self, shape):
        self.shape, self.a, self.b, self.c = shape, {}, {}, {}

    def source_block(self, block, cbsz, abid):
        return (block >> cbsz << cbsz) + abid

    def source_lane(self, lane, blgp):
        return {0: lane, 1: lane % 32, 2: lane % 32 + 32, 3: (lane + 16) % 64}.get(blgp, lane % 16 + 16 * (blgp & 3))

    def sums(self, gfx, fields, default):
        """Elements of D that are not as C is by default."""
        shape, (cbsz, abid, blgp) = self.shape, fields
        a, b = {}, {}
        for (block, i, k), bits in self.a.items():
            a[shape.factor(block, i, k)] = bits
        for (block, j, k), bits in self.b.items():
            b[shape.factor(block, j, k)] = bits
        result = {}
        for block in range(shape.blocks):
            from_block = self.source_block(block, cbsz, abid)
            rows, columns = {}, {}
            for n in range(shape.size):
                row = [a.get(shape.factor(from_block, n, k), 0) for k in range(shape.k)]
                places = [shape.factor(block, n, k) for k in range(shape.k)]
                column = [b.get((self.source_lane(lane, blgp), item), 0) for lane, item in places]
                if any(row):
                    rows[n] = row
                if any(column):
                    columns[n] = column
            zeros = [0] * shape.k
            unmet = {}
            for i in range(shape.size):
                for j in range(shape.size):
                    c = self.c.get((block, i, j), default)
                    if i in rows and j in columns:
                        d = added(shape, gfx, c, rows[i], columns[j])
                    else:
                        if c not in unmet:
                            unmet[c] = added(shape, gfx, c, zeros, zeros)
                        d = unmet[c]
                    if d != default:
                        result[block, i, j] = d
        return result

    def factors(self, file, first, elements):
        """Registers of a factor: 0, but for lanes with elements."""
        shape, words = self.shape, {}
        for place, bits in elements.items():
            lane, item = shape.factor(*place)
            for n in range(max(shape.bits // 32, 1)):
                word = first + item * shape.bits // 32 + n
                at = item * shape.bits % 32
                words[word, lane] = words.get((word, lane), 0) | (bits >> 32 * n & mask(32)) << at
        base = [f"{file}{first + n}=0" for n in range(shape.factor_regs)]
        return base + [f"{file}{word}[{lane}]={value:x}" for (word, lane), value in sorted(words.items())]

    def registers(self, file, first, elements, default, suffix=""):
        """Registers of sums."""
        shape, out = self.shape, []
        per = shape.sum_bits // 32
        if default == 0:
            out.append(f"{file}[{first}:{first + shape.sum_regs - 1}]{suffix}=0")
        else:
            out.extend(f"{file}{first + n}{suffix}={default >> 32 * (n % per) & mask(32):08x}" for n in range(shape.sum_regs))
        words = {}
        for place, bits in elements.items():
            lane, item = shape.sum(*place)
            for n in range(per):
                words[first + item * per + n, lane] = bits >> 32 * n & mask(32)
        return out + [f"{file}{word}[{lane}]={value:08x}" for (word, lane), value in sorted(words.items())]

    def line(self, gfx, fields=(0, 0, 0), files="vva", c_default=0, constant=None, in_place=False, prefix=True):
        a, b, cd = files
        default = c_default if constant is None else constant
        if constant is not None:
            self.c = {}
        inputs = self.factors(a, A, self.a) + self.factors(b, B, self.b)
        if constant is None:
            inputs += self.registers(cd, D if in_place else C, self.c, default)
        outputs = self.registers(cd, D, self.sums(gfx, fields, default), default, ".all")
        start = f"{gfx}: " if prefix else ""
        return f"{start}{' '.join(inputs)} -> {' '.join(outputs)}"


def span(file, first, count):
    return f"{file}{first}" if count == 1 else f"{file}[{first}:{first + count - 1}]"


def text(shape, files="vva", c=None, fields=(0, 0, 0), in_place=False):
    a, b, cd = files
    d = span(cd, D, shape.sum_regs)
    c = c or span(cd, D if in_place else C, shape.sum_regs)
    modifiers = "".join(f" {name}:{value}" for name, value in zip(("cbsz", "abid", "blgp"), fields) if value)
    return f"{shape.name} {d}, {span(a, A, shape.factor_regs)}, {span(b, B, shape.factor_regs)}, {c}{modifiers}"


def whole(shape, random, count):
    """Small integers at random places; each k has elements of both factors."""
    case, small = Case(shape), lambda: random.pick([-5, -4, -3, -2, -1, 1, 2, 3, 4, 5])
    for n in range(count):
        block, k = random.below(shape.blocks), random.below(shape.k)
        case.a[block, random.below(shape.size), k] = shape.bits_of(small())
        case.b[block, random.below(shape.size), k] = shape.bits_of(small())
        case.c[random.below(shape.blocks), random.below(shape.size), random.below(shape.size)] = shape.sum_bits_of(small())
    return case


def spread(shape, random):
    """One element of each row and column, so that what reaches other blocks and lanes is seen."""
    case, k = Case(shape), random.below(shape.k)
    for block in range(shape.blocks):
        case.a[block, random.below(shape.size), k] = shape.bits_of(1 + block % 7)
        for _ in range(2 if shape.blocks > 4 else 4):
            case.b[block, random.below(shape.size), k] = shape.bits_of(random.pick([-3, -2, 2, 3]))
    return case


CHECK = ([-8192, Fraction(-1, 2), Fraction(-1, 4), Fraction(-1, 8)], [1024, 1, 1, 1], 2 ** 23)


def element(shape, random, a, b, c):
    """A row and a column that meet in one element."""
    case, block, i, j = Case(shape), random.below(shape.blocks), random.below(shape.size), random.below(shape.size)
    for k in range(shape.k):
        case.a[block, i, k], case.b[block, j, k] = a[k % len(a)], b[k % len(b)]
    case.c[block, i, j] = c
    return case


def awkward(shape, random):
    """Factors whose products lie far apart, nearly cancel, or are denormals."""
    f, s = shape.format, shape.sum_format
    if shape.type == "i8":
        numbers = [0x80, 0x7f, 0xff, 0x81]
        return [random.pick(numbers) for _ in range(shape.k)], [random.pick(numbers) for _ in range(shape.k)], random.pick([0x7fffff00, 0x80000010, 0xffffffff])
    spread_of = {F16: 12, BF16: 40, F32: 40, F64: 200}[f]

    def number(low):
        exponent = random.below(spread_of) - spread_of // 2 - low
        mantissa = random.next() << 32 | random.next()
        magnitude = Fraction(1 << 53 | mantissa & mask(53)) / (1 << 53) * Fraction(2) ** exponent
        return f.round(-magnitude if random.below(2) else magnitude)

    low = {F16: 8, BF16: 60, F32: 50, F64: 0}[f] if random.below(2) else 0
    a, b = [number(low) for _ in range(shape.k)], [number(low) for _ in range(shape.k)]
    if random.below(3) == 0:
        a[random.below(shape.k)] = 1 + random.below(3) | random.below(2) << f.bits - 1
    exponent = random.below(spread_of) - spread_of // 2 - 2 * low
    c = s.round(Fraction(random.next() | 1 << 32, 1 << 32) * Fraction(2) ** exponent * random.pick([1, -1]))
    return a, b, c


def special(shape):
    """Infinities, NaNs and zeros: a, b, c and the result of both targets."""
    f, s = shape.format, shape.sum_format
    inf, one, zero = f.inf, f.one, 0
    rest = [zero] * (shape.k - 1)
    cases = [([inf] + rest, [one] * shape.k, 0, s.inf), ([one] + rest, [one] * shape.k, s.inf | s.sign, s.inf | s.sign)]
    nans = [([inf] + rest, [zero] * shape.k, 0), ([one] + rest, [one] * shape.k, s.nan | 5), ([inf] + rest, [one] * shape.k, s.inf | s.sign)]
    return cases, nans


def special_lines(shape, random):
    cases, nans = special(shape)
    lines = []
    for a, b, c, d in cases + [(a, b, c, None) for a, b, c in nans]:
        case, block, i, j = Case(shape), random.below(shape.blocks), random.below(shape.size), random.below(shape.size)
        for k in range(shape.k):
            if a[k]:
                case.a[block, i, k] = a[k]
            if b[k]:
                case.b[block, j, k] = b[k]
        # Zeros of other columns meet the infinity; those elements are not looked at.
        case.c[block, i, j] = c
        inputs = case.factors("v", A, case.a) + case.factors("v", B, case.b) + case.registers("a", C, case.c, 0)
        lane, item = shape.sum(block, i, j)
        per = shape.sum_bits // 32
        if d is None and per == 2:
            # A word of an f64 is no NaN by itself: the open point of `runtime/src/choices.rs`.
            d = 0x7ff8 << 48
        out = [f"a[{D}:{D + shape.sum_regs - 1}].all=?"]
        for n in range(per):
            value = "nan" if d is None else f"{d >> 32 * n & mask(32):08x}"
            out.append(f"a{D + item * per + n}[{lane}]={value}")
        lines.append(f"{' '.join(inputs)} -> {' '.join(out)}")
    return lines


def products(c):
    for number, fields in enumerate(SHAPES):
        shape, random = Shape(*fields), Random(number + 1)
        targets = NEW if shape.new else BOTH
        same = "gfx908" if not shape.new else "gfx90a"
        c.block(text(shape), [whole(shape, random, n).line(same, prefix=False) for n in (4, 8)], targets)
        lines = []
        check = element(shape, random, *[[shape.format.round(Fraction(x)) for x in side] for side in CHECK[:2]], shape.sum_format.round(Fraction(CHECK[2]))) if shape.format else None
        for case in ([check] if check else []) + [element(shape, random, *awkward(shape, random)) for _ in range(4)]:
            lines += [case.line(gfx, in_place=True) for gfx in targets]
        c.block(text(shape, in_place=True), lines, targets, "rounding, in place")
        if shape.format:
            c.block(text(shape), special_lines(shape, random), targets)
        constant = (-4 & mask(32), "-4") if shape.type == "i8" else (shape.sum_format.round(Fraction(-4)), "-4.0")
        c.block(text(shape, c=constant[1]), [whole(shape, random, 3).line(same, constant=constant[0], prefix=False)], targets)
        c.block(text(shape, "ava"), [whole(shape, random, 3).line(same, files="ava", prefix=False)], targets)
        c.block(text(shape, "vav"), [whole(shape, random, 3).line("gfx90a", files="vav", prefix=False)], NEW)
        if shape.type == "f64":
            continue
        for blgp in (1, 2, 3, 4, 5, 6, 7):
            if blgp in (1 + number % 7, 1 + (number + 3) % 7):
                c.block(text(shape, fields=(0, 0, blgp)), [spread(shape, random).line(same, (0, 0, blgp), prefix=False)], targets)
        for cbsz in range(1, shape.blocks.bit_length()):
            abid = random.below(1 << cbsz)
            note = None if 1 << cbsz == shape.blocks else "open point: contiguous sets of blocks"
            c.block(text(shape, fields=(cbsz, abid, 0)), [spread(shape, random).line(same, (cbsz, abid, 0), prefix=False)], targets, note)


def moves(c):
    c.block("v_accvgpr_read_b32 v0, a4", ["a4=12345678 -> v0=12345678", "a4=ffffffff -> v0=ffffffff", "a4=lane -> v0=lane"], BOTH)
    c.block("v_accvgpr_read_b32 v255, a255", ["a255=7fc00001 -> v255=7fc00001"], BOTH)
    c.block("v_accvgpr_write_b32 a0, v4", ["v4=12345678 -> a0=12345678", "v4=00000001 -> a0=00000001", "v4=lane -> a0=lane"], BOTH)
    c.block("v_accvgpr_write_b32 a255, v0", ["v0=7f800001 -> a255=7f800001"], BOTH)
    for constant, value in (("0", 0), ("-1", mask(32)), ("64", 64), ("1.0", 0x3f800000), ("0.15915494", 0x3e22f983)):
        c.block(f"v_accvgpr_write_b32 a3, {constant}", [f"-> a3={value:08x}"], BOTH)
    c.block("v_accvgpr_write_b32 a3, s4", ["s4=12345678 -> a3=12345678"], NEW)
    c.block("v_accvgpr_mov_b32 a0, a4", ["a4=12345678 -> a0=12345678", "a4=ffffffff -> a0=ffffffff", "a4=lane -> a0=lane"], NEW)
    c.block("v_accvgpr_mov_b32 a255, a255", ["a255=12345678 -> a255=12345678"], NEW)


def memory(c):
    """Accumulation registers as data of memory instructions."""
    c.block("ds_read_b32 a0, v4 offset:4", ["v4=win+8 lds[c]=11223344 -> a0=11223344"], NEW)
    c.block("ds_read_b128 a[0:3], v4", ["v4=win+10 lds[10]=00112233445566778899aabbccddeeff -> a[0:3]=00112233445566778899aabbccddeeff"], NEW)
    c.block("ds_write_b64 v4, a[8:9] offset:16", ["v4=win a[8:9]=0123456789abcdef -> lds[10]=0123456789abcdef"], NEW)
    c.block("ds_write_b8 v4, a8", ["v4=win+3 a8=12345678 -> lds[3]=78"], NEW)
    c.block("ds_read2_b32 a[0:1], v4 offset1:2", ["v4=win lds[0]=11111111 lds[8]=22222222 -> a[0:1]=2222222211111111"], NEW)
    c.block("ds_write2_b32 v4, a8, a12 offset1:3", ["v4=win a8=12345678 a12=9abcdef0 -> lds[0]=12345678 lds[c]=9abcdef0"], NEW)
    c.block("ds_add_rtn_u32 a0, v4, a8", ["v4=win+10 a8=00000005 lds[10]=00000007 -> lds[10]=0000000c a0=00000007"], NEW)
    c.block("ds_cmpst_b32 v4, a8, a12", ["v4=win+10 a8=00000007 a12=00000009 lds[10]=00000007 -> lds[10]=00000009"], NEW)
    c.block("ds_add_f64 v4, a[8:9]", ["v4=win+10 a[8:9]=3ff0000000000000 lds[10]=4000000000000000 -> lds[10]=4008000000000000"], NEW)
    for name, address in (("flat", "v[4:5]"), ("global", "v[4:5], off")):
        tail = address.partition("]")[2]
        c.block(f"{name}_load_dword a0, {address}", ["v[4:5]=mem+10 mem[10]=11223344 -> a0=11223344"], NEW)
        c.block(f"{name}_load_dwordx4 a[0:3], {address}", ["v[4:5]=mem+10 mem[10]=00112233445566778899aabbccddeeff -> a[0:3]=00112233445566778899aabbccddeeff"], NEW)
        c.block(f"{name}_load_sbyte a0, {address}", ["v[4:5]=mem+10 mem[10]=80 -> a0=ffffff80"], NEW)
        c.block(f"{name}_store_dwordx2 v[4:5], a[8:9]{tail}", ["v[4:5]=mem+10 a[8:9]=0123456789abcdef -> mem[10]=0123456789abcdef"], NEW)
        c.block(f"{name}_atomic_add a0, v[4:5], a8{tail} glc", ["v[4:5]=mem+10 a8=00000005 mem[10]=00000007 -> mem[10]=0000000c a0=00000007"], NEW)
        c.block(f"{name}_atomic_add_f64 a[0:1], v[4:5], a[8:9]{tail} glc", ["v[4:5]=mem+10 a[8:9]=3ff0000000000000 mem[10]=4000000000000000 -> mem[10]=4008000000000000 a[0:1]=4000000000000000"], NEW)
    c.block("scratch_store_dword v4, a8, off", ["s[102:103]=scratch v4=10 a8=12345678 -> scr[10]=12345678"], NEW)
    c.block("scratch_load_dword a0, v4, off", ["s[102:103]=scratch v4=10 scr[10]=12345678 -> a0=12345678"], NEW)
    resource = "s[4:5]=mem0 s6=00004000 s7=00024fac v4=win+10"
    c.block("buffer_load_dword a0, v4, s[4:7], 0 offen", [f"{resource} mem[10]=11223344 -> a0=11223344"], NEW)
    c.block("buffer_load_dwordx3 a[0:2], v4, s[4:7], 0 offen", [f"{resource} mem[10]=8899aabb4455667700112233 -> a[0:2]=8899aabb4455667700112233"], NEW)
    c.block("buffer_store_short a8, v4, s[4:7], 0 offen", [f"{resource} a8=12345678 -> mem[10]=5678"], NEW)
    c.block("buffer_atomic_add a8, v4, s[4:7], 0 offen glc", [f"{resource} a8=00000005 mem[10]=00000007 -> mem[10]=0000000c a8=00000007"], NEW)
    c.block("tbuffer_load_format_x a0, v4, s[4:7], 0 format:[BUF_DATA_FORMAT_32,BUF_NUM_FORMAT_UINT] offen", [f"{resource} mem[10]=11223344 -> a0=11223344"], NEW)


def main():
    c = Chapter("mfma", __doc__)
    products(c)
    moves(c)
    memory(c)
    c.write()


if __name__ == "__main__":
    main()
