"""The lane IR that `wavelift ir` prints: reading, and evaluation of a block for one lane.

The meaning of the operations is that of their documentation (`lower/src/ir.rs`,
`lower/src/ir/functions.rs`). A value of lanes is its value in the lane LANE. Truth values are one bit.
A `Ballot` is 64 unknown bits, of which bit LANE is the argument: what is proved holds for each lane.
"""

import re


class Unsupported(Exception):
    """The block has something that is not modelled."""


class Region:
    """A region: lines of nodes, writes, and the terminator of block 0."""

    def __init__(self):
        self.blocks = 0
        self.nodes = []
        self.writes = {}
        self.term = None


def read(text):
    """Regions by the kernel at whose first instruction they begin."""
    found, region = {}, None
    for line in text.splitlines():
        if line.startswith("; "):
            m = re.match(r"; (\w+)\+0x0, region", line)
            region = Region() if m else None
            if m:
                found[m.group(1)] = region
        elif region is None or not line.strip():
            continue
        elif line.startswith("block"):
            region.blocks += 1
        elif line.startswith("    ") and region.blocks == 1:
            words = line.split()
            if words[0].startswith("%"):
                region.nodes.append((words[0][1:-1], words[1], words[3], [w[1:] for w in words[4:]]))
            elif "<-" in words:
                region.writes[words[0]] = words[2][1:]
            elif words[0] not in ("count", "exec", "outcome"):
                region.term = line.strip()
    return found


def slot(name):
    """The symbol of a slot as `wavelift ir` writes it on the left of `<-`."""
    m = re.fullmatch(r"([vs])(\d+)", name)
    return f"{m.group(1).upper()}{m.group(2)}" if m else name.upper()


def bits_of_symbol(symbol):
    """Bits of a register's symbol."""
    if symbol in ("EXEC", "VCC"):
        return 64
    return 1 if symbol == "SCC" else 32


BINARY = {"Add": "bvadd", "Sub": "bvsub", "Mul": "bvmul", "And": "bvand", "Or": "bvor", "Xor": "bvxor"}
SHIFT = {"Shl": "bvshl", "Lshr": "bvlshr", "Ashr": "bvashr"}
PICK = {"MinU": "bvule", "MaxU": "bvuge", "MinS": "bvsle", "MaxS": "bvsge"}
ICMP = {"Eq": "=", "Ne": "distinct", "Ult": "bvult", "Ule": "bvule", "Slt": "bvslt", "Sle": "bvsle"}
HALVES = {"Add": "add_u16", "Sub": "sub_u16", "Mul": "mul_lo_u16", "MinU": "min_u16", "MaxU": "max_u16",
          "MinS": "min_i16", "MaxS": "max_i16", "AddSatU": "add_u16.clamp", "AddSatS": "add_i16.clamp",
          "SubSatU": "sub_u16.clamp", "SubSatS": "sub_i16.clamp"}


class Evaluation:
    """SMT-LIB text of a block: symbols (name to bits), definitions, assumptions."""

    def __init__(self, library):
        self.library = library
        self.symbols = {"LANE": 32}
        self.lines = []
        self.assumed = []
        self.calls = {}
        self.width = {}
        self.made_of = {}

    def symbol(self, name, bits=None):
        self.symbols[name] = bits or bits_of_symbol(name)
        return name

    def run(self, region):
        """The values that registers get, by symbol."""
        if region.blocks != 1 or region.term not in ("end",):
            raise Unsupported(f"the block ends with {region.term!r}")
        for name, ty, op, args in region.nodes:
            self.width[name] = int(ty[1:])
            self.made_of[name] = (op, args)
            term = self.node(name, int(ty[1:]), op, args)
            if term is not None:
                self.lines.append(f"(define-fun n{name} () (_ BitVec {ty[1:]}) {term})")
        return {slot(to): f"n{value}" for to, value in region.writes.items()}

    def node(self, name, bits, op, args):
        head, _, inner = op.partition("(")
        inner = inner[:-1] if inner else ""
        a = [f"n{x}" for x in args]
        n = self.width[args[0]] if args else bits
        if head == "Const":
            return f"(_ bv{int(inner, 16)} {bits})"
        if head == "Undef":
            return self.symbol(f"UNDEF{name}", bits)
        if head == "LaneId":
            return "LANE"
        if head == "ReadS":
            m = re.fullmatch(r"Sgpr\((\d+)\)", inner)
            if not m and inner not in ("Exec", "Vcc", "Scc", "Mode"):
                raise Unsupported(op)
            return self.symbol(f"S{m.group(1)}" if m else inner.upper())
        if head == "ReadV":
            return self.symbol(f"V{inner}")
        if head == "Mul" and n == 32:
            return f"(mul32 {a[0]} {a[1]})"
        if head in ("MulHiU", "MulHiS") and n == 32:
            return f"(high ({'u' if head == 'MulHiU' else 's'}mul64 {a[0]} {a[1]}))"
        if head == "Mul" and self.factors(args):
            return self.factors(args)
        if head in BINARY:
            return f"({BINARY[head]} {a[0]} {a[1]})"
        if head in ("MulHiU", "MulHiS"):
            e = "zero" if head == "MulHiU" else "sign"
            x = [f"((_ {e}_extend {n}) {y})" for y in a]
            return f"((_ extract {2 * n - 1} {n}) (bvmul {x[0]} {x[1]}))"
        if head == "Not":
            return f"(bvnot {a[0]})"
        if head in SHIFT:
            amount = f"(amount{5 if n == 32 else 6} {a[1]})"
            return f"({SHIFT[head]} {a[0]} {amount})"
        if head in PICK:
            return f"(ite ({PICK[head]} {a[0]} {a[1]}) {a[0]} {a[1]})"
        if head == "Popcnt":
            return f"(ones{n} {a[0]})"
        if head == "Clz":
            return f"(first{n} (reverse{n} {a[0]}))"
        if head == "Ctz":
            return f"(first{n} {a[0]})"
        if head == "Brev":
            return f"(reverse{n} {a[0]})"
        if head == "AlignBit":
            return f"(low (bvlshr (concat {a[0]} {a[1]}) (uw64 (amount5 {a[2]}))))"
        if head == "Perm":
            return f"(v_perm_b32 {a[0]} {a[1]} {a[2]})"
        if head == "ByteU":
            return f"((_ zero_extend 24) (byte{inner} {a[0]}))"
        if head == "Halves":
            kind, _, amount = inner.partition("(")
            if kind in HALVES:
                return f"(v_pk_{HALVES[kind]} {a[0]} {a[1]})"
            k = f"(_ bv{amount[:-1]} 16)"
            return f"(concat ({SHIFT[kind]} (hi16 {a[0]}) {k}) ({SHIFT[kind]} (lo16 {a[0]}) {k}))"
        if head == "SextFrom":
            k = int(inner)
            return f"((_ sign_extend {bits - k}) ((_ extract {k - 1} 0) {a[0]}))"
        if head == "Icmp":
            return f"(bit ({ICMP[inner]} {a[0]} {a[1]}))"
        if head == "Pair":
            return f"(concat {a[1]} {a[0]})"
        if head in ("Lo", "Hi"):
            return f"({'low' if head == 'Lo' else 'high'} {a[0]})"
        if head in ("Zext", "Sext"):
            return f"((_ {'zero' if head == 'Zext' else 'sign'}_extend 32) {a[0]})"
        if head == "BoolToInt":
            return f"((_ zero_extend 31) {a[0]})"
        if head == "Select":
            return f"(ite (= {a[0]} #b1) {a[1]} {a[2]})"
        if head in ("MaskFromBits", "ExecMask"):
            return f"(bit_of {a[0]} LANE)"
        if head == "Ballot":
            s = self.symbol(f"BALLOT{name}", 64)
            self.assumed.append(f"(= (bit_of {s} LANE) {a[0]})")
            return s
        if head == "Call":
            function, imm = inner.split(",")
            if f"fn_{function}.0" not in self.library:
                raise Unsupported(op)
            self.calls[name] = (function, int(imm), a)
            return self.call(name, 0)
        if head == "Result":
            return self.call(args[0], int(inner))
        raise Unsupported(op)

    def factors(self, args):
        """A product of 64 bits of two words that are extended alike, in the form of the definitions."""
        for extension, product in (("Zext", "umul64"), ("Sext", "smul64")):
            words = []
            for arg in args:
                op, inner = self.made_of[arg]
                if op == extension:
                    words.append(f"n{inner[0]}")
                elif op.startswith("Const("):
                    value = int(op[6:-1], 16)
                    word = value & 0xFFFFFFFF
                    negative = extension == "Sext" and word >> 31
                    if value == word | (0xFFFFFFFF00000000 if negative else 0):
                        words.append(f"(_ bv{word} 32)")
            if len(words) == 2:
                return f"({product} {words[0]} {words[1]})"
        return None

    def call(self, name, n):
        function, imm, args = self.calls[name]
        f = self.library[f"fn_{function}.{n}"]
        extra = {"imm": f"(_ bv{imm} 32)", "lane": "LANE"}
        words = args + [extra[p] for p, _ in f.params[len(args):]]
        return f"({f.name} {' '.join(words)})"
