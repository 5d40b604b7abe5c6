"""The vector IR that `wavelift ir --vector` prints: execution of a region on symbolic registers.

EXEC is a number, so that loops over groups of lanes and branches on EXEC are followed as they would
run; all other registers are symbols: S4, VCC, SCC, and V4L13 for lane 13 of v4. The meaning of the
operations is that of their documentation (`lower/src/vir/op.rs`).
"""

import re
from functools import reduce

from lane_ir import Unsupported

# Offsets in the wave's state. PC is behind the scalar registers. No instruction sees what is between
# BOOKKEEPING and VECTORS.
VCC, EXEC, PC, SCC, BOOKKEEPING, VECTORS = 424, 504, 512, 520, 660, 960
# Pointers at the context's beginning.
POINTERS = {0: "wave", 8: "second"}
STEPS = 20000


class Term:
    """A bit vector: a constant, a symbol, an address, or an operation in SMT-LIB text with arguments."""

    __slots__ = ("op", "args", "bits")

    def __init__(self, op, args, bits):
        self.op, self.args, self.bits = op, args, bits


def const(value, bits):
    return Term("const", (value & (1 << bits) - 1,), bits)


def value_of(t):
    return t.args[0] if t.op == "const" else None


def signed(value, bits):
    return value - (1 << bits) if value >> bits - 1 else value


FOLD = {
    "bvadd": lambda a, b, n: a + b,
    "bvsub": lambda a, b, n: a - b,
    "bvmul": lambda a, b, n: a * b,
    "bvand": lambda a, b, n: a & b,
    "bvor": lambda a, b, n: a | b,
    "bvxor": lambda a, b, n: a ^ b,
    "bvshl": lambda a, b, n: a << b if b < n else 0,
    "bvlshr": lambda a, b, n: a >> b if b < n else 0,
    "bvashr": lambda a, b, n: signed(a, n) >> min(b, n),
}
TEST = {
    "eq": ("=", lambda a, b, n: a == b), "ne": ("distinct", lambda a, b, n: a != b),
    "ult": ("bvult", lambda a, b, n: a < b), "ule": ("bvule", lambda a, b, n: a <= b),
    "ugt": ("bvugt", lambda a, b, n: a > b), "uge": ("bvuge", lambda a, b, n: a >= b),
    "slt": ("bvslt", lambda a, b, n: signed(a, n) < signed(b, n)), "sle": ("bvsle", lambda a, b, n: signed(a, n) <= signed(b, n)),
    "sgt": ("bvsgt", lambda a, b, n: signed(a, n) > signed(b, n)), "sge": ("bvsge", lambda a, b, n: signed(a, n) >= signed(b, n)),
}


def binary(op, a, b):
    n = a.bits
    if a is b and op in ("bvand", "bvor", "bvxor"):
        return const(0, n) if op == "bvxor" else a
    if "address" in (a.op, b.op):
        if op == "bvsub" and b.op == "const":
            return binary("bvadd", a, const(-b.args[0], n))
        base, other = (a, b) if a.op == "address" else (b, a)
        if op == "bvadd" and other.op == "const":
            return Term("address", (base.args[0], base.args[1] + signed(other.args[0], 64)), 64)
        raise Unsupported(f"{op} of an address")
    x, y = value_of(a), value_of(b)
    if x is not None and y is not None:
        return const(FOLD[op](x, y, n), n)
    if op == "bvand" and 0 in (x, y):
        return const(0, n)
    if op in ("bvshl", "bvlshr") and y is not None:
        if y == 0:
            return a
        if y >= n:
            return const(0, n)
        if op == "bvshl":
            return concat(extract(a, n - 1 - y, 0), const(0, y))
        return concat(const(0, y), extract(a, n - 1, y))
    if op in ("bvadd", "bvor", "bvxor") and 0 in (x, y):
        return b if x == 0 else a
    if op == "bvand" and (1 << n) - 1 in (x, y):
        return b if x == (1 << n) - 1 else a
    return Term(op, (a, b), n)


def test(cond, a, b):
    op, fold = TEST[cond]
    if a is b and cond in ("eq", "ne"):
        return const(int(cond == "eq"), 1)
    x, y = value_of(a), value_of(b)
    if x is not None and y is not None:
        return const(int(fold(x, y, a.bits)), 1)
    if cond in ("eq", "ne") and y is not None and a.op == "bvand" and "const" in (a.args[0].op, a.args[1].op):
        # One bit of a value is tested.
        value, mask = a.args if a.args[1].op == "const" else a.args[::-1]
        mask = mask.args[0]
        if mask and mask & mask - 1 == 0 and y in (0, mask):
            found = bit(value, mask.bit_length() - 1)
            return found if (y == mask) == (cond == "eq") else invert(found)
    return Term(f"test {op}", (a, b), 1)


def invert(a):
    x = value_of(a)
    return const(~x, a.bits) if x is not None else Term("bvnot", (a,), a.bits)


def choose(c, a, b):
    """c, of one bit, ? a : b"""
    x = value_of(c)
    if x is not None:
        return a if x else b
    return Term("choose", (c, a, b), a.bits)


def extract(t, high, low):
    if (low, high) == (0, t.bits - 1):
        return t
    if t.op == "const":
        return const(t.args[0] >> low, high - low + 1)
    if t.op == "concat":
        a, b = t.args
        if high < b.bits:
            return extract(b, high, low)
        if low >= b.bits:
            return extract(a, high - b.bits, low - b.bits)
    if t.op.startswith("extract"):
        base = t.args[0]
        shift = int(t.op.split()[2])
        return extract(base, high + shift, low + shift)
    if t.op == "zero" and high < t.args[0].bits:
        return extract(t.args[0], high, low)
    if t.op == "zero" and low >= t.args[0].bits:
        return const(0, high - low + 1)
    return Term(f"extract {high} {low}", (t,), high - low + 1)


def top(t):
    """The sign."""
    return extract(t, t.bits - 1, t.bits - 1)


def bit(t, i):
    """Bit i as a term, which depends on no more than it must."""
    if t.op == "concat":
        a, b = t.args
        return bit(b, i) if i < b.bits else bit(a, i - b.bits)
    if t.op.startswith("extract"):
        return bit(t.args[0], i + int(t.op.split()[2]))
    if t.op in ("zero", "sign"):
        inner = t.args[0]
        if i >= inner.bits and t.op == "zero":
            return const(0, 1)
        return bit(inner, min(i, inner.bits - 1))
    if t.op in ("bvand", "bvor", "bvxor"):
        return binary(t.op, bit(t.args[0], i), bit(t.args[1], i))
    if t.op == "bvnot":
        return invert(bit(t.args[0], i))
    if t.op == "choose":
        return choose(t.args[0], bit(t.args[1], i), bit(t.args[2], i))
    return extract(t, i, i)


def concat(a, b):
    if a.op == b.op == "const":
        return const(a.args[0] << b.bits | b.args[0], a.bits + b.bits)
    if a.op.startswith("extract") and b.op.startswith("extract") and a.args[0] is b.args[0]:
        (_, high, middle), (_, m, low) = a.op.split(), b.op.split()
        if int(middle) == int(m) + 1:
            return extract(a.args[0], int(high), int(low))
    return Term("concat", (a, b), a.bits + b.bits)


def join(parts):
    """One bit vector of parts, the least significant first."""
    return reduce(lambda t, other: concat(other, t), parts)


def extend(t, bits, sign):
    if bits == t.bits:
        return t
    x = value_of(t)
    if x is not None:
        return const(signed(x, t.bits) if sign else x, bits)
    return Term("sign" if sign else "zero", (t,), bits)


def function(name, bits, *args):
    """A call of a definition in `meaning/`."""
    return Term(f"call {name}", args, bits)


class Printer:
    """Terms as SMT-LIB definitions, shared ones once."""

    def __init__(self):
        self.lines, self.symbols, self.names = [], {}, {}
        self.kept = []

    def text(self, root):
        todo = [root]
        while todo:
            t = todo[-1]
            if id(t) in self.names:
                todo.pop()
                continue
            left = [a for a in t.args if isinstance(a, Term) and id(a) not in self.names]
            if left:
                todo += left
                continue
            todo.pop()
            self.kept.append(t)
            self.names[id(t)] = self.one(t)
        return self.names[id(root)]

    def one(self, t):
        a = [self.names[id(x)] for x in t.args if isinstance(x, Term)]
        if t.op == "const":
            return f"(_ bv{t.args[0]} {t.bits})"
        if t.op == "symbol":
            self.symbols[t.args[0]] = t.bits
            return t.args[0]
        if t.op == "address":
            raise Unsupported("an address is a result")
        if t.op.startswith("extract") and t.bits == 1 and t.args[0].op == "symbol":
            # Bits of a symbol that are used alone are symbols: what holds for any such bits holds.
            name = f"{t.args[0].args[0]}B{t.op.split()[2]}"
            self.symbols[name] = 1
            return name
        if t.op.startswith("test"):
            body = f"(ite ({t.op[5:]} {a[0]} {a[1]}) #b1 #b0)"
        elif t.op == "choose":
            body = f"(ite (= {a[0]} #b1) {a[1]} {a[2]})"
        elif t.op.startswith("extract"):
            body = f"((_ {t.op}) {a[0]})"
        elif t.op in ("zero", "sign"):
            body = f"((_ {t.op}_extend {t.bits - t.args[0].bits}) {a[0]})"
        elif t.op.startswith("call"):
            body = f"({t.op[5:]} {' '.join(a)})"
        else:
            body = f"({t.op} {' '.join(a)})"
        name = f"t{len(self.lines)}"
        self.lines.append(f"(define-fun {name} () (_ BitVec {t.bits}) {body})")
        return name


def read(text):
    """Functions by kernel: blocks by name as (parameters, cold, instructions)."""
    found, blocks, lines = {}, None, None
    for line in text.splitlines():
        if line.startswith("; "):
            m = re.match(r"; (\w+)\+0x0, region", line)
            blocks = {} if m else None
            if m:
                found[m.group(1)] = blocks
        elif blocks is not None and line.startswith("block"):
            m = re.match(r"(block\d+)(?:\((.*)\))?( cold)?:", line)
            params = [p.split(": ") for p in m.group(2).split(", ")] if m.group(2) else []
            lines = []
            blocks[m.group(1)] = (params, bool(m.group(3)), lines)
        elif blocks is not None and line.startswith("    "):
            lines.append(re.sub(r" @\d+$", "", line.strip()))
    return found


class Machine:
    """One run. A value is the list of the terms of its lanes; a truth value of a lane has one bit."""

    def __init__(self, blocks, exec_value):
        self.blocks = blocks
        self.exec_value = exec_value
        self.memory = {}
        self.env = {}
        self.symbols = {}

    def symbol(self, name, bits):
        if name not in self.symbols:
            self.symbols[name] = Term("symbol", (name,), bits)
        return self.symbols[name]

    def dword(self, base, offset):
        """The dword at an address; at first that of the registers."""
        return self.memory.get((base, offset)) or self.first(base, offset)

    def first(self, base, offset):
        """The dword at an address at the beginning."""
        if base != "wave":
            return self.symbol(f"{base}_{offset}", 32)
        if offset >= VECTORS:
            n = (offset - VECTORS) // 4
            return self.symbol(f"V{n // 64}L{n % 64}", 32)
        if offset in (VCC, VCC + 4):
            return extract(self.symbol("VCC", 64), offset - VCC << 3 | 31, offset - VCC << 3)
        if offset in (EXEC, EXEC + 4):
            exec_term = self.symbol("EXEC", 64) if self.exec_value is None else const(self.exec_value, 64)
            return extract(exec_term, offset - EXEC << 3 | 31, offset - EXEC << 3)
        if offset == SCC:
            return extend(self.symbol("SCC", 1), 32, False)
        return self.symbol(f"S{offset // 4}" if offset < PC else f"STATE_{offset}", 32)

    def register(self, symbol):
        """The final value of a register: S4, VCC, EXEC, SCC, V4L13."""
        if symbol in ("VCC", "EXEC"):
            at = VCC if symbol == "VCC" else EXEC
            return concat(self.dword("wave", at + 4), self.dword("wave", at))
        if symbol == "SCC":
            return extract(self.dword("wave", SCC), 0, 0)
        m = re.fullmatch(r"V(\d+)L(\d+)", symbol)
        if m:
            return self.dword("wave", VECTORS + 256 * int(m.group(1)) + 4 * int(m.group(2)))
        return self.dword("wave", 4 * int(symbol[1:]))

    def run(self):
        block, args, steps = "block0", [[Term("address", ("context", 0), 64)]], 0
        while block:
            params, _, lines = self.blocks[block]
            for (name, _), value in zip(params, args):
                self.env[name] = value
            for line in lines:
                steps += 1
                if steps > STEPS:
                    raise Unsupported("too many steps")
                to = self.instruction(line)
                if to is not None:
                    block, args = to
                    break

    def instruction(self, line):
        m = re.match(r"(v\d+): (\w+) = (.*)", line)
        result, ty, rest = m.groups() if m else (None, None, line)
        op, _, tail = rest.partition(" ")
        if op == "return":
            return None, []
        if op == "jump":
            return self.target(tail)
        if op == "brif":
            c, then, other = re.match(r"(v\d+), (block\d+(?:\(.*?\))?), (block\d+(?:\(.*?\))?)$", tail).groups()
            x = value_of(self.env[c][0])
            if x is None:
                cold = [self.blocks[re.match(r"block\d+", b).group()][1] for b in (then, other)]
                if cold[0] == cold[1]:
                    raise Unsupported("a branch on an unknown value")
                x = cold[1]
            return self.target(then if x else other)
        args = tail.split(", ") if tail else []
        if op.startswith(("load.", "store.")):
            self.access(op, result, ty, args)
            return None
        if result is None:
            raise Unsupported(op)
        self.env[result] = self.compute(op, ty, args)
        return None

    def target(self, text):
        m = re.match(r"(block\d+)(?:\((.*)\))?", text)
        return m.group(1), [self.env[v] for v in m.group(2).split(", ")] if m.group(2) else []

    def access(self, op, result, ty, args):
        if op not in ("load.trusted", "store.trusted", "load.fixed"):
            raise Unsupported(op)
        m = re.match(r"(v\d+)([+-]\d+)?", args[-1])
        address = self.env[m.group(1)][0]
        if address.op != "address":
            raise Unsupported("an access at an unknown address")
        base, at = address.args[0], address.args[1] + int(m.group(2) or 0)
        if op.startswith("load"):
            if base == "context" and at in POINTERS:
                self.env[result] = [Term("address", (POINTERS[at], 0), 64)]
                return
            bits, count = type_of(ty)
            dwords = [self.dword(base, at + 4 * i) for i in range(max(1, bits * count // 32))]
            self.env[result] = regroup(dwords, bits)
        else:
            for i, t in enumerate(regroup(self.env[args[0]], 32)):
                self.memory[base, at + 4 * i] = t

    def compute(self, op, ty, args):
        bits, count = type_of(ty)
        if op == "iconst":
            return [const(int(args[0]), bits)]
        if op == "vconst":
            if args[0].startswith("splat"):
                return [const(int(args[0].split()[1], 16), bits)] * count
            data = bytes.fromhex(args[0][2:])
            return [const(int.from_bytes(data[i : i + bits // 8], "little"), bits) for i in range(0, len(data), bits // 8)]
        if op == "stack_addr":
            return [Term("address", (args[0], 0), 64)]
        if op == "shuffle":
            return self.shuffle(args, bits)
        a = [self.env[x] if x in self.env else x for x in args]
        x = a[0]
        name = {"iadd": "bvadd", "isub": "bvsub", "imul": "bvmul", "band": "bvand", "bor": "bvor", "bxor": "bvxor"}.get(op)
        if op == "imul" and bits == 32:
            return [product("mul32", 32, p, q) for p, q in zip(x, a[1])]
        if op == "imul" and bits == 64:
            return [wide_product(p, q) for p, q in zip(x, a[1])]
        if name:
            return [binary(name, p, q) for p, q in zip(x, a[1])]
        if op == "bnot":
            return [invert(p) for p in x]
        if op == "ineg":
            return [binary("bvsub", const(0, bits), p) for p in x]
        if op in ("umulhi", "smulhi"):
            if bits == 32:
                return [extract(product(op[0] + "mul64", 64, x[0], a[1][0]), 63, 32)]
            wide = [extend(p, 128, op[0] == "s") for p in (x[0], a[1][0])]
            return [extract(binary("bvmul", *wide), 127, 64)]
        if op in ("ishl", "ushr", "sshr"):
            n = fit(binary("bvand", a[1][0], const(bits - 1, a[1][0].bits)), bits)
            return [binary({"ishl": "bvshl", "ushr": "bvlshr", "sshr": "bvashr"}[op], p, n) for p in x]
        if op in ("umin", "umax", "smin", "smax"):
            cond = op[0] + ("lt" if op.endswith("min") else "gt")
            return [choose(test(cond, p, q), p, q) for p, q in zip(x, a[1])]
        if op in ("uadd_sat", "sadd_sat", "usub_sat", "ssub_sat"):
            return [saturated(op, p, q) for p, q in zip(x, a[1])]
        if op == "popcnt":
            return [ones(p) for p in x]
        if op in ("clz", "ctz", "bitrev"):
            return [bits_of(op, x[0])]
        if op == "ireduce":
            return [extract(x[0], bits - 1, 0)] if x[0].op != "address" else x
        if op in ("uextend", "sextend"):
            return [extend(x[0], bits, op[0] == "s")]
        if op == "select":
            c = invert(test("eq", x[0], const(0, x[0].bits)))
            return [choose(c, p, q) for p, q in zip(a[1], a[2])]
        if op in ("bitselect", "blendv"):
            out = []
            for c, p, q in zip(x, a[1], a[2]):
                if c.bits == 1 or op == "blendv":
                    out.append(choose(top(c), p, q))
                else:
                    out.append(binary("bvor", binary("bvand", c, p), binary("bvand", invert(c), q)))
            return out
        if op.startswith("icmp."):
            found = [test(op[5:], p, q) for p, q in zip(x, a[1])]
            return found if "m" in ty else [extend(p, bits, count > 1) for p in found]
        if op == "vhigh_bits":
            return [extend(join([top(p) for p in x]), bits, False)]
        if op == "splat":
            return x * count
        if op == "scalar_to_vector":
            return x + [const(0, bits)] * (count - 1)
        if op == "insertlane":
            out = list(x)
            out[int(a[2])] = a[1][0]
            return out
        if op == "extractlane":
            return [x[int(a[1])]]
        if op in ("swiden_low", "swiden_high", "uwiden_low", "uwiden_high"):
            half = x[: len(x) // 2] if op.endswith("low") else x[len(x) // 2 :]
            return [extend(p, bits, op[0] == "s") for p in half]
        if op == "bitcast":
            return regroup(x, bits)
        if op == "mask_to_vector":
            return [extend(p, bits, True) for p in x]
        if op == "vector_to_mask":
            return [top(p) for p in x]
        if op == "mask_of_bits":
            return [extract(x[0], i, i) for i in range(count)]
        if op in ("mul_wide_u", "mul_wide_s"):
            low = [regroup(v, 32)[::2] for v in (x, a[1])]
            return regroup([product("umul64" if op.endswith("u") else "smul64", 64, p, q) for p, q in zip(*low)], bits)
        if op == "odd_dwords":
            pairs = zip(regroup(x, 32), regroup(a[1], 32))
            return regroup([q if i % 2 else p for i, (p, q) in enumerate(pairs)], bits)
        if op in ("shift_left", "shift_right", "shift_arithmetic", "shift_left_quads", "shift_right_quads", "shift_arithmetic_quads"):
            kind = {"left": "bvshl", "right": "bvlshr", "arithmetic": "bvashr"}[op.split("_")[1]]
            width = 64 if op.endswith("quads") else 32
            return regroup([binary(kind, p, q) for p, q in zip(regroup(x, width), regroup(a[1], width))], bits)
        if op == "rotate":
            n = value_of(a[1][0]) if isinstance(a[1], list) else int(a[1])
            return [concat(extract(p, n - 1, 0), extract(p, 31, n)) if n else p for p in x]
        if op in ("join", "low_half", "high_half", "low_halves", "high_halves"):
            half = len(x) // 2
            return {"join": lambda: x + a[1], "low_half": lambda: x[:half], "high_half": lambda: x[half:],
                    "low_halves": lambda: x[:half] + a[1][:half], "high_halves": lambda: x[half:] + a[1][half:]}[op]()
        if op in ("even_parts", "odd_parts", "mix_parts"):
            parts = [regroup(v, 128) for v in a]
            order = {"even_parts": [(0, 0), (0, 2), (1, 0), (1, 2)], "odd_parts": [(0, 1), (0, 3), (1, 1), (1, 3)],
                     "mix_parts": [(0, 0), (0, 2), (0, 1), (0, 3)]}[op]
            return regroup([parts[v][i] for v, i in order], bits)
        if op == "short_signs":
            return regroup([extend(extract(p, 15, 15), 16, True) for p in regroup(x, 16)], bits)
        if op == "pick_bytes":
            return self.pick_bytes(x, a[1], bits)
        raise Unsupported(op)

    def shuffle(self, args, bits):
        pattern = bytes.fromhex(args[2][2:])
        a, b = (regroup(self.env[v], 8) for v in args[:2])
        out = []
        for part in range(0, len(a), 16):
            source = a[part : part + 16] + b[part : part + 16]
            out += [const(0, 8) if i >= 0x80 else source[i] for i in pattern]
        return regroup(out, bits)

    def pick_bytes(self, x, index, bits):
        x, index = regroup(x, 8), regroup(index, 8)
        out = []
        for at, i in enumerate(index):
            part = x[at & ~15 : (at & ~15) + 16]
            picked = part[15]
            low = extract(i, 3, 0)
            for k in reversed(range(15)):
                picked = choose(test("eq", low, const(k, 4)), part[k], picked)
            out.append(choose(extract(i, 7, 7), const(0, 8), picked))
        return regroup(out, bits)


def type_of(ty):
    """Bits of a lane (one for truth values of lanes) and lanes."""
    m = re.fullmatch(r"([imf])(\d+)(?:x(\d+))?", ty)
    return (1 if m.group(1) == "m" else int(m.group(2))), int(m.group(3) or 1)


def fit(t, bits):
    """A number that fits in fewer bits too."""
    return extract(t, bits - 1, 0) if t.bits > bits else extend(t, bits, False)


def regroup(lanes, bits):
    """The same bits in lanes of another size."""
    if lanes[0].bits == bits or lanes[0].op == "address":
        return lanes
    if lanes[0].bits > bits:
        return [extract(t, i + bits - 1, i) for t in lanes for i in range(0, t.bits, bits)]
    n = bits // lanes[0].bits
    return [join(lanes[i : i + n]) for i in range(0, len(lanes), n)]


def product(name, bits, a, b):
    x, y = value_of(a), value_of(b)
    if x is not None and y is not None and name != "smul64":
        return const(x * y, bits)
    return function(name, bits, a, b)


def wide_product(a, b):
    """A product of 64 bits; of extended words in the form of the definitions."""
    for op, name in (("zero", "umul64"), ("sign", "smul64")):
        words = []
        for t in (a, b):
            if t.op == op and t.args[0].bits == 32:
                words.append(t.args[0])
            elif t.op == "const" and extend(extract(t, 31, 0), 64, op == "sign").args == t.args:
                words.append(extract(t, 31, 0))
        if len(words) == 2:
            return product(name, 64, *words)
    return binary("bvmul", a, b)


def saturated(op, a, b):
    n = a.bits
    sign = op[0] == "s"
    wide = binary("bvadd" if "add" in op else "bvsub", extend(a, n + 2, sign), extend(b, n + 2, sign))
    least, most = (-(1 << n - 1), (1 << n - 1) - 1) if sign else (0, (1 << n) - 1)
    least, most = const(least, n + 2), const(most, n + 2)
    return extract(choose(test("slt", wide, least), least, choose(test("sgt", wide, most), most, wide)), n - 1, 0)


def ones(t):
    n = t.bits
    if n in (32, 64):
        return fit(function(f"ones{n}", 32, t), n)
    if n == 8:
        return function("ones8", 8, t)
    raise Unsupported(f"popcnt of {n} bits")


def bits_of(op, t):
    n = t.bits
    x = value_of(t)
    if x is not None:
        text = f"{x:0{n}b}"
        if op == "bitrev":
            return const(int(text[::-1], 2), n)
        text = text if op == "clz" else text[::-1]
        return const(text.index("1") if x else n, n)
    if n not in (32, 64):
        raise Unsupported(f"{op} of {n} bits")
    if op == "ctz":
        return fit(function(f"first{n}", 32, t), n)
    reverse = function(f"reverse{n}", n, t)
    return reverse if op == "bitrev" else fit(function(f"first{n}", 32, reverse), n)
