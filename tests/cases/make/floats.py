"""Exact floating point: values as rationals, rounded once, by MODE's rules."""

from fractions import Fraction

from case import mask


class Format:
    def __init__(self, bits, exponent):
        self.bits, self.ebits = bits, exponent
        self.mbits = bits - 1 - exponent
        self.bias = (1 << exponent - 1) - 1
        self.sign = 1 << bits - 1
        self.inf = mask(exponent) << self.mbits
        self.quiet = 1 << self.mbits - 1
        self.nan = self.inf | self.quiet
        self.max = self.inf - 1
        self.one = self.bias << self.mbits

    def is_nan(self, x):
        return x & ~self.sign > self.inf

    def is_snan(self, x):
        return self.is_nan(x) and not x & self.quiet

    def is_inf(self, x):
        return x & ~self.sign == self.inf

    def is_zero(self, x):
        return x & ~self.sign == 0

    def is_denormal(self, x):
        return 0 < x & ~self.sign <= mask(self.mbits)

    def negative(self, x):
        return x >> self.bits - 1 & 1

    def exponent(self, x):
        return x >> self.mbits & mask(self.ebits)

    def value(self, x):
        """The rational that a finite number is."""
        e, m = self.exponent(x), x & mask(self.mbits)
        power = max(e, 1) - self.bias - self.mbits
        if e:
            m |= 1 << self.mbits
        v = Fraction(m) * (Fraction(2) ** power)
        return -v if self.negative(x) else v

    def round(self, v, mode=0, zero_sign=0, overflow_to_max=False):
        """Bits of a rational. Round modes: 0 nearest even, 1 up, 2 down, 3 toward zero."""
        if v == 0:
            return self.sign if zero_sign else 0
        sign, v = int(v < 0), abs(v)
        exponent = v.numerator.bit_length() - v.denominator.bit_length()
        if Fraction(2) ** exponent > v:
            exponent -= 1
        exponent = max(exponent, 1 - self.bias)
        scaled = v / Fraction(2) ** (exponent - self.mbits)
        whole, rest = scaled.numerator // scaled.denominator, scaled - scaled.numerator // scaled.denominator
        up = {0: rest > Fraction(1, 2) or rest == Fraction(1, 2) and whole & 1, 1: rest > 0 and not sign, 2: rest > 0 and sign, 3: False}[mode]
        whole += bool(up)
        # The hidden bit carries into the exponent by itself.
        bits = whole if whole >> self.mbits == 0 else whole + ((exponent + self.bias - 1) << self.mbits)
        if bits >= self.inf:
            to_max = overflow_to_max or mode == 3 or mode == 1 and sign or mode == 2 and not sign
            bits = self.max if to_max else self.inf
        return bits | (self.sign if sign else 0)


F16, F32, F64 = Format(16, 5), Format(32, 8), Format(64, 11)


class Mode:
    """MODE's floating-point bits."""

    def __init__(self, bits=0x3f0):
        self.bits = bits
        self.dx10, self.ieee, self.fp16_ovfl = bits >> 8 & 1, bits >> 9 & 1, bits >> 23 & 1

    def rounding(self, f):
        return self.bits & 3 if f is F32 else self.bits >> 2 & 3

    def denorm(self, f):
        return self.bits >> 4 & 3 if f is F32 else self.bits >> 6 & 3

    def flush_src(self, f):
        return self.denorm(f) in (0, 2)

    def flush_dst(self, f):
        return self.denorm(f) in (0, 1)


DEFAULT = Mode()


def flush(f, x):
    return x & f.sign if f.is_denormal(x) else x


def quiet(f, x):
    return x | f.quiet


def first_nan(f, *values):
    for x in values:
        if f.is_nan(x):
            return quiet(f, x)
    return None


def finish(f, v, mode, zero_sign=0):
    """Rounds a rational as an instruction's result."""
    result = f.round(v, mode.rounding(f), zero_sign, f is F16 and mode.fp16_ovfl)
    return flush(f, result) if mode.flush_dst(f) else result


def sources(f, mode, *values, always=False):
    return [flush(f, x) if always or mode.flush_src(f) else x for x in values]


def add(f, a, b, mode=DEFAULT):
    a, b = sources(f, mode, a, b)
    nan = first_nan(f, a, b)
    if nan is not None:
        return nan
    if f.is_inf(a) or f.is_inf(b):
        if f.is_inf(a) and f.is_inf(b) and a != b:
            return f.nan
        return a if f.is_inf(a) else b
    v = f.value(a) + f.value(b)
    both = f.negative(a) and f.negative(b) and f.is_zero(a) and f.is_zero(b)
    return finish(f, v, mode, both or mode.rounding(f) == 2 and not (f.is_zero(a) and f.is_zero(b) and not f.negative(a) and not f.negative(b)))


def neg(f, x):
    return x ^ f.sign


def sub(f, a, b, mode=DEFAULT):
    nan = first_nan(f, a, b)
    return nan if nan is not None else add(f, a, neg(f, b), mode)


def mul(f, a, b, mode=DEFAULT):
    a, b = sources(f, mode, a, b)
    nan = first_nan(f, a, b)
    if nan is not None:
        return nan
    sign = f.negative(a) ^ f.negative(b)
    if f.is_inf(a) or f.is_inf(b):
        return f.nan if f.is_zero(a) or f.is_zero(b) else f.inf | (f.sign if sign else 0)
    return finish(f, f.value(a) * f.value(b), mode, sign)


def fma(f, a, b, c, mode=DEFAULT, scale=1):
    a, b, c = sources(f, mode, a, b, c)
    nan = first_nan(f, a, b, c)
    if nan is not None:
        return nan
    sign = f.negative(a) ^ f.negative(b)
    if f.is_inf(a) or f.is_inf(b):
        if f.is_zero(a) or f.is_zero(b):
            return f.nan
        product = f.inf | (f.sign if sign else 0)
        return f.nan if f.is_inf(c) and c != product else product
    if f.is_inf(c):
        return c
    product = f.value(a) * f.value(b)
    v = (product + f.value(c)) * scale
    if product == 0 and f.is_zero(c):
        zero_sign = f.negative(c) if sign == f.negative(c) else mode.rounding(f) == 2
    else:
        zero_sign = mode.rounding(f) == 2
    return finish(f, v, mode, zero_sign)


def flushing(mode, f):
    """The mode with denormals of the format flushed."""
    return Mode(mode.bits & ~(0x30 if f is F32 else 0xc0))


def mad(f, a, b, c, mode=DEFAULT):
    """Not fused, denormals always flushed."""
    mode = flushing(mode, f)
    nan = first_nan(f, a, b, c)
    if nan is not None:
        return nan
    return add(f, mul(f, a, b, mode), c, mode)


def minmax(f, a, b, mode, less, flushes=True):
    """V_MIN (less) and V_MAX."""
    if flushes:
        a, b = sources(f, mode, a, b)
    if mode.ieee and f.is_snan(a):
        return quiet(f, a)
    if mode.ieee and f.is_snan(b):
        return quiet(f, b)
    if f.is_nan(a):
        return b
    if f.is_nan(b):
        return a
    order = lambda x: (-(x & ~f.sign) if f.negative(x) else x, not f.negative(x))
    result = min(a, b, key=order) if less else max(a, b, key=order)
    return flush(f, result) if flushes and mode.flush_dst(f) else result


def compare(f, a, b, mode=DEFAULT):
    """-1, 0, 1; None when unordered."""
    if f.is_nan(a) or f.is_nan(b):
        return None
    a, b = sources(f, mode, a, b)
    key = lambda x: -(x & ~f.sign) if f.negative(x) else x
    return (key(a) > key(b)) - (key(a) < key(b))


def convert(src, dst, x, mode=DEFAULT, rounding=None):
    """Float to float."""
    x, = sources(src, mode, x)
    if src.is_nan(x):
        payload = (x | src.quiet) & mask(src.mbits)
        shift = dst.mbits - src.mbits
        payload = payload << shift if shift >= 0 else payload >> -shift
        return (dst.sign if src.negative(x) else 0) | dst.inf | payload | dst.quiet
    if src.is_inf(x):
        return dst.inf | (dst.sign if src.negative(x) else 0)
    mode_of = mode.rounding(dst) if rounding is None else rounding
    result = dst.round(src.value(x), mode_of, src.negative(x), dst is F16 and mode.fp16_ovfl)
    return flush(dst, result) if mode.flush_dst(dst) else result


def clamp(f, x, mode=DEFAULT):
    if f.is_nan(x):
        return 0 if mode.dx10 else x
    if f.negative(x):
        return 0
    return min(x, f.one)


def edges(f):
    """Values with something special about them."""
    tiny = 1
    return [0, f.sign, f.one, f.one | f.sign, f.one + 1, f.one - 1, f.inf, f.inf | f.sign, f.nan, f.nan | f.sign | 5,
            f.inf | 3, f.inf | f.sign | 7, tiny, tiny | f.sign, mask(f.mbits), mask(f.mbits) | f.sign, 1 << f.mbits, f.max, f.max | f.sign,
            f.round(Fraction(3, 2)), f.round(Fraction(-5, 2)), f.round(Fraction(1, 3)), f.round(Fraction(12345, 7)), f.round(Fraction(-1, 4096))]
