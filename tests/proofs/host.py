"""The host code that `wavelift ir --host` prints: execution of a region on symbolic registers.

The bytes are disassembled by llvm-objdump. The state of a wave is that of `vector_ir.py`: EXEC is a
number, so that loops over groups of lanes are followed as they would run, all other registers are
symbols. The code is entered as System V's ABI says, with the context in RDI; it must return there with
RSP and the registers of the caller as they were.

The meaning of an instruction is its section "Operation" in Intel's manual (Intel 64 and IA-32
Architectures Software Developer's Manual, volume 2); the tables below name the instruction as the
manual does. Vector registers are 16 dwords, mask registers 64 bits, flags are one bit or unknown.
"""

import re
import subprocess

import assemble
import vector_ir
from lane_ir import Unsupported
from vector_ir import Term, binary, choose, concat, const, extend, extract, function, invert, product, regroup, test, value_of

STEPS = 20000
RSP = 4
CALLEE_SAVED = (3, 5, 12, 13, 14, 15)
# Where the context has the wave's fuel, and a number that suffices; and its pointers.
FUEL, ENOUGH = 144, 1000
POINTERS = {0: "wave", 8: "second", 152: "functions"}
NAMES = ["rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi"]


def register_names():
    """Names of general registers to (number, bits); without AH and the like, which the code lacks."""
    found = {}
    for n, name in enumerate(NAMES):
        short = name[1:]
        found[name], found["e" + short], found[short] = (n, 64), (n, 32), (n, 16)
        found[short[0] + "l" if short[1] == "x" else short + "l"] = (n, 8)
    for n in range(8, 16):
        found[f"r{n}"], found[f"r{n}d"], found[f"r{n}w"], found[f"r{n}b"] = (n, 64), (n, 32), (n, 16), (n, 8)
    return found


GENERAL = register_names()
SIZES = {"byte": 8, "word": 16, "dword": 32, "qword": 64, "xmmword": 128, "ymmword": 256, "zmmword": 512}
CONDITIONS = ["o", "no", "b", "ae", "e", "ne", "be", "a", "s", "ns", "p", "np", "l", "ge", "le", "g"]


class Region:
    """Code: bytes, offsets that relocations change, instructions by address, and who compiled it."""

    def __init__(self):
        self.data = bytearray()
        self.patches = {}
        self.instructions = {}
        self.refused = None


def read(text, folder):
    """Regions by kernel, from what `wavelift ir --host` prints."""
    found, region = {}, None
    for line in text.splitlines():
        m = re.match(r"; (\w+)\+0x0, region", line)
        if m:
            region = found[m.group(1)] = Region()
        elif line.startswith("; by Cranelift"):
            region.refused = line[2:]
        elif re.match(r"; .*, region", line):
            region = None
        elif region is not None and line.startswith("; 0x"):
            at, what = line[2:].split(": ")
            region.patches[int(at, 16)] = what
        elif region is not None and line:
            region.data += bytes.fromhex(line)
    disassemble(found, folder)
    return found


def disassemble(regions, folder):
    """Instructions of all regions, by llvm-objdump."""
    source, target = folder / "host.s", folder / "host.o"
    lines = ["\t.text"]
    for name, region in regions.items():
        lines += ["\t.p2align 6", f"{name}:", "\t.byte " + ",".join(map(str, region.data))]
    source.write_text("\n".join(lines) + "\n")
    make = [assemble.tool("llvm-mc"), "--triple=x86_64-linux", "--filetype=obj", str(source), "-o", str(target)]
    subprocess.run(make, check=True)
    show = [assemble.tool("llvm-objdump"), "-d", "-M", "intel", "-z", "--no-show-raw-insn", "--mattr=+avx512f"]
    out = subprocess.run([*show, str(target)], check=True, capture_output=True, text=True).stdout
    region, base = None, 0
    for line in out.splitlines():
        m = re.match(r"([0-9a-f]+) <(\w+)>:", line)
        if m:
            region, base, last = regions[m.group(2)], int(m.group(1), 16), None
            continue
        m = re.match(r"\s+([0-9a-f]+):\s+(\S.*)", line)
        if m and region is not None:
            at = int(m.group(1), 16) - base
            words = m.group(2).split("#")[0].split("<")[0].strip().split(None, 1) or ["unknown"]
            if last is not None:
                region.instructions[last][2] = at
            region.instructions[at] = [words[0], operands(words[1] if len(words) > 1 else "", base), None]
            last = at


def operands(text, base):
    """Operands: ("r", number, bits), ("v", number, bits), ("k", number), ("m", bits, parts, broadcast),
    ("i", value); the first may have ("mask", number, zero) behind it."""
    found = []
    for part in re.findall(r"(?:[^,\[\]]|\[[^\]]*\])+", text):
        part = part.strip()
        mask = re.search(r"\s*\{k(\d)\}(?:\s*(\{z\}))?", part)
        part = re.sub(r"\s*\{k\d\}(?:\s*\{z\})?", "", part).strip()
        m = re.fullmatch(r"(?:(\w+) ptr )?\[([^\]]*)\](?:\s*\{1to(\d+)\})?", part)
        v = re.fullmatch(r"([xyz])mm(\d+)", part)
        k = re.fullmatch(r"k(\d)", part)
        if part in GENERAL:
            found.append(("r", *GENERAL[part]))
        elif v:
            found.append(("v", int(v.group(2)), {"x": 128, "y": 256, "z": 512}[v.group(1)]))
        elif k:
            found.append(("k", int(k.group(1))))
        elif m:
            parts = re.findall(r"([+-]?)\s*([^\s+-]+)", m.group(2))
            found.append(("m", SIZES.get(m.group(1)), parts, int(m.group(3) or 0)))
        elif re.fullmatch(r"-?(0x[0-9a-f]+|\d+)", part):
            found.append(("i", int(part, 0), base))
        else:
            found.append(("?", part))
        if mask:
            found.append(("mask", int(mask.group(1)), bool(mask.group(2))))
    return found


# Vector instructions that compute each element of the result from the elements of the sources at the
# same place: bits of an element, and the function.
def _bin(op):
    return lambda a, b: binary(op, a, b)


def _pick(cond):
    return lambda a, b: choose(test(cond, a, b), a, b)


def _variable(op):
    return lambda a, n: binary(op, a, n)


def _saturated(op):
    return lambda a, b: vector_ir.saturated(op, a, b)


def _andn(a, b):
    return binary("bvand", invert(a), b)


ELEMENTS = {
    # PADDB/PADDW/PADDD/PADDQ, PSUBB/PSUBW/PSUBD, PSUBQ
    **{f"vpadd{s}": (n, _bin("bvadd")) for s, n in (("b", 8), ("w", 16), ("d", 32), ("q", 64))},
    **{f"vpsub{s}": (n, _bin("bvsub")) for s, n in (("b", 8), ("w", 16), ("d", 32), ("q", 64))},
    # PADDSB/PADDSW, PADDUSB/PADDUSW, PSUBSB/PSUBSW, PSUBUSB/PSUBUSW
    **{f"vpadd{k}{s}": (n, _saturated(f"{f}add_sat")) for k, f in (("s", "s"), ("us", "u")) for s, n in (("b", 8), ("w", 16))},
    **{f"vpsub{k}{s}": (n, _saturated(f"{f}sub_sat")) for k, f in (("s", "s"), ("us", "u")) for s, n in (("b", 8), ("w", 16))},
    # PAND, PANDN, POR, PXOR; the forms with masks by dwords and quadwords
    **{f"vp{k}{s}": (n, f) for s, n in (("", 32), ("d", 32), ("q", 64))
       for k, f in (("and", _bin("bvand")), ("or", _bin("bvor")), ("xor", _bin("bvxor")), ("andn", _andn))},
    # ANDPS, ANDNPS, ORPS, XORPS
    **{f"v{k}ps": (32, f) for k, f in (("and", _bin("bvand")), ("or", _bin("bvor")), ("xor", _bin("bvxor")), ("andn", _andn))},
    # PMINUB/PMINUW/PMINUD/PMINUQ, PMINSB ..., PMAXUB ..., PMAXSB ...
    **{f"vp{m}{k}{s}": (n, _pick(k + ("lt" if m == "min" else "gt"))) for m in ("min", "max") for k in "us"
       for s, n in (("b", 8), ("w", 16), ("d", 32), ("q", 64))},
    # VPSLLVW/VPSLLVD/VPSLLVQ, VPSRLV*, VPSRAV*: counts of the element's bits and more clear it, or fill
    # it with the sign, as the shifts of SMT-LIB do.
    **{f"vp{k}v{s}": (n, _variable(op)) for k, op in (("sll", "bvshl"), ("srl", "bvlshr"), ("sra", "bvashr"))
       for s, n in (("w", 16), ("d", 32), ("q", 64))},
    # PMULLW, PMULLD
    "vpmullw": (16, _bin("bvmul")),
    "vpmulld": (32, lambda a, b: product("mul32", 32, a, b)),
    "vpmullq": (64, vector_ir.wide_product),
    # PMULHUW, PMULHW
    "vpmulhuw": (16, lambda a, b: extract(binary("bvmul", extend(a, 32, False), extend(b, 32, False)), 31, 16)),
    "vpmulhw": (16, lambda a, b: extract(binary("bvmul", extend(a, 32, True), extend(b, 32, True)), 31, 16)),
    # PMULUDQ, PMULDQ: the low dwords of quadwords
    "vpmuludq": (64, lambda a, b: product("umul64", 64, extract(a, 31, 0), extract(b, 31, 0))),
    "vpmuldq": (64, lambda a, b: product("smul64", 64, extract(a, 31, 0), extract(b, 31, 0))),
    # PAVGB
    "vpavgb": (8, lambda a, b: extract(binary("bvlshr", binary("bvadd", binary("bvadd", extend(a, 9, False), extend(b, 9, False)), const(1, 9)), const(1, 9)), 7, 0)),
    # PCMPEQB/PCMPEQW/PCMPEQD/PCMPEQQ, PCMPGTB ...: with vectors as destination
    **{f"vpcmpeq{s}": (n, lambda a, b: extend(test("eq", a, b), a.bits, True)) for s, n in (("b", 8), ("w", 16), ("d", 32), ("q", 64))},
    **{f"vpcmpgt{s}": (n, lambda a, b: extend(test("sgt", a, b), a.bits, True)) for s, n in (("b", 8), ("w", 16), ("d", 32), ("q", 64))},
    # VPROLVD/VPROLVQ, VPRORVD/VPRORVQ
    **{f"vprolv{s}": (n, lambda a, c: rotated(a, c, True)) for s, n in (("d", 32), ("q", 64))},
    **{f"vprorv{s}": (n, lambda a, c: rotated(a, c, False)) for s, n in (("d", 32), ("q", 64))},
}
# One source: PABSB/PABSW/PABSD, VPLZCNTD, VPOPCNTD, moves.
UNARY = {
    "vpabsd": (32, lambda a: choose(test("slt", a, const(0, 32)), binary("bvsub", const(0, 32), a), a)),
    "vpabsw": (16, lambda a: choose(test("slt", a, const(0, 16)), binary("bvsub", const(0, 16), a), a)),
    "vplzcntd": (32, lambda a: vector_ir.bits_of("clz", a)),
    "vpopcntd": (32, lambda a: vector_ir.ones(a)),
}
# MOVDQU, MOVDQA, MOVUPS, MOVAPS: alignment is not checked.
MOVES = {**{f"vmov{k}{s}": n for k in ("dqu", "dqa") for s, n in (("", 32), ("8", 8), ("16", 16), ("32", 32), ("64", 64))},
         "vmovups": 32, "vmovaps": 32, "vmovupd": 64, "vmovapd": 64}
# VPCMPB/VPCMPUB ... with a predicate, in the assembler's names; the destination is a mask.
PREDICATES = {"eq": "eq", "lt": "lt", "le": "le", "neq": "ne", "nlt": "ge", "nle": "gt", "gt": "gt", "ge": "ge"}


def rotated(a, count, left):
    n = a.bits
    c = binary("bvand", count, const(n - 1, n))
    other = binary("bvand", binary("bvsub", const(n, n), c), const(n - 1, n))
    c, other = (c, other) if left else (other, c)
    return binary("bvor", binary("bvshl", a, c), binary("bvlshr", a, other))


def join(parts):
    """One bit vector of parts, the least significant first; an address of its halves."""
    if len(parts) == 2 and parts[0].op == "address low" and parts[1].op == "address high":
        if parts[0].args[0].args == parts[1].args[0].args:
            return parts[0].args[0]
        raise Unsupported("halves of different addresses")
    t = parts[0]
    for other in parts[1:]:
        t = concat(other, t)
    return t


def halves(t):
    """The dwords of a bit vector."""
    if t.op == "address":
        return [Term("address low", (t,), 32), Term("address high", (t,), 32)]
    return [extract(t, i + 31, i) for i in range(0, t.bits, 32)]


def low(t, bits):
    return t if t.bits == bits else extract(t, bits - 1, 0)


class Machine(vector_ir.Machine):
    """One run of a region."""

    def __init__(self, region, exec_value):
        super().__init__(None, exec_value)
        self.region = region
        self.general = [self.symbol(f"HOST_{n}", 64) for n in range(16)]
        self.general[7] = Term("address", ("context", 0), 64)
        self.general[RSP] = Term("address", ("stack", 0), 64)
        self.entry = list(self.general)
        self.vectors = [[self.symbol(f"HOST_V{n}_{i}", 32) for i in range(16)] for n in range(32)]
        self.masks = [[extract(self.symbol(f"HOST_K{n}", 64), i, i) for i in range(64)] for n in range(8)]
        self.flags = dict.fromkeys("coszp")
        self.frame_size = None
        self.pointers = {at: Term("address", (base, 0), 64) for at, base in POINTERS.items()}

    # ---- memory

    def first(self, base, offset):
        if base == "code":
            if offset < 0 or offset + 4 > len(self.region.data) or any(p - 4 < offset < p + 8 for p in self.region.patches):
                raise Unsupported("a load from code")
            return const(int.from_bytes(self.region.data[offset : offset + 4], "little"), 32)
        if base in ("stack", "frame"):
            raise Unsupported("a load of what was not stored")
        if base == "context" and offset // 8 * 8 in POINTERS:
            return halves(self.pointers[offset // 8 * 8])[offset // 4 % 2]
        if base == "context" and offset == FUEL:
            return const(ENOUGH, 32)
        if base not in ("wave", "second", "context", "functions"):
            raise Unsupported("a load of unknown memory")
        return super().first(base, offset)

    def place(self, address, size):
        if address.op != "address":
            raise Unsupported("an access at an unknown address")
        base, at = address.args
        if base == "frame" and (at < 0 or at + size > self.frame_size):
            raise Unsupported("an access outside the frame")
        return base, at

    def load(self, address, bits):
        base, at = self.place(address, bits // 8)
        if at % 4 == 0 and bits % 32 == 0:
            return [self.dword(base, at + i) for i in range(0, bits // 8, 4)]
        shift = at % 4 * 8
        if bits > 32:
            raise Unsupported("a load across dwords")
        parts = [self.dword(base, at // 4 * 4 + i) for i in range(0, (shift + bits + 31) // 32 * 4, 4)]
        return [extract(join(parts), shift + bits - 1, shift)]

    def store(self, address, parts):
        """Parts of 32 bits, or one that is shorter."""
        size = sum(t.bits for t in parts) // 8
        base, at = self.place(address, size)
        if base not in ("wave", "second", "context", "stack", "frame"):
            raise Unsupported("a store to unknown memory")
        if base == "context" and at // 8 * 8 in POINTERS:
            raise Unsupported("a store to the context's pointers")
        if parts[0].bits == 32 and at % 4 == 0:
            for i, t in enumerate(parts):
                self.memory[base, at + 4 * i] = t
            return
        t, shift = parts[0], at % 4 * 8
        if t.bits > 16 or shift + t.bits > 32:
            raise Unsupported("a store across dwords")
        try:
            old = self.dword(base, at // 4 * 4)
        except Unsupported:
            old = Term("unset", (), 32)
        pieces = ([extract(old, shift - 1, 0)] if shift else []) + [t]
        pieces += [extract(old, 31, shift + t.bits)] if shift + t.bits < 32 else []
        self.memory[base, at // 4 * 4] = join(pieces)

    def address(self, operand, next_at):
        total = None
        for sign, part in operand[2]:
            if part == "rip":
                t = Term("address", ("code", next_at), 64)
            elif "*" in part:
                scale, name = part.split("*")
                if name[0].isdigit():
                    scale, name = name, scale
                t = self.plus(const(0, 64), binary("bvmul", self.general[GENERAL[name][0]], const(int(scale, 0), 64)))
            elif part in GENERAL:
                t = self.general[GENERAL[part][0]]
            else:
                t = const(-int(part, 0) if sign == "-" else int(part, 0), 64)
            total = t if total is None else self.plus(total, t)
        return total

    @staticmethod
    def plus(a, b):
        return binary("bvadd", a, b)

    # ---- operands

    def get(self, operand, next_at, bits=None):
        """A general register, memory or a constant."""
        kind = operand[0]
        if kind == "r":
            t = self.general[operand[1]]
            return t if operand[2] == 64 else extract(t, operand[2] - 1, 0)
        if kind == "i":
            return const(operand[1], bits)
        if kind == "m":
            return join(self.load(self.address(operand, next_at), operand[1] or bits))
        raise Unsupported(f"an operand {operand}")

    def put(self, operand, t, next_at):
        if operand[0] == "m":
            self.store(self.address(operand, next_at), halves(t) if t.bits >= 32 else [t])
            return
        n, bits = operand[1], operand[2]
        if bits == 64:
            self.general[n] = t
        elif bits == 32:
            self.general[n] = extend(t, 64, False)
        else:
            self.general[n] = concat(extract(self.general[n], 63, bits), t)

    def vector(self, operand, next_at, size, element, bits=None):
        """Elements of a vector operand."""
        bits = bits or size
        if operand[0] == "v":
            return regroup(self.vectors[operand[1]][: bits // 32], element)
        if operand[0] == "m" and operand[3]:
            one = self.load(self.address(operand, next_at), operand[1])
            return regroup(one * operand[3], element)
        if operand[0] == "m":
            return regroup(self.load(self.address(operand, next_at), bits), element)
        raise Unsupported(f"an operand {operand}")

    def put_vector(self, operand, elements, mask, next_at):
        """Writes a result; a mask keeps or clears elements; the rest of a register is cleared."""
        size = sum(t.bits for t in elements)
        if mask:
            old = None
            if not mask[2]:
                old = self.vector(operand, next_at, size, elements[0].bits)
            bits = self.masks[mask[1]]
            zero = const(0, elements[0].bits)
            elements = [choose(bits[i], t, old[i] if old else zero) for i, t in enumerate(elements)]
        dwords = regroup(elements, 32)
        if operand[0] == "m":
            self.store(self.address(operand, next_at), dwords)
        else:
            self.vectors[operand[1]] = dwords + [const(0, 32)] * (16 - len(dwords))

    # ---- flags

    def set_result(self, t):
        self.flags["z"] = test("eq", t, const(0, t.bits))
        self.flags["s"] = extract(t, t.bits - 1, t.bits - 1)
        self.flags["p"] = None

    def set_logic(self, t):
        self.set_result(t)
        self.flags["c"] = self.flags["o"] = const(0, 1)

    def set_sum(self, a, b, carry, subtract):
        """The sum or difference, and its flags."""
        n = a.bits
        if "address" in (a.op, b.op):
            self.flags = dict.fromkeys("coszp")
            if carry is None and subtract and b.op == "const":
                return binary("bvadd", a, const(-b.args[0], n))
            return self.plus(a, b) if not subtract else self.unknown("a difference of addresses")
        op = "bvsub" if subtract else "bvadd"
        wide = binary(op, extend(a, n + 1, False), extend(b, n + 1, False))
        if carry is not None:
            wide = binary(op, wide, extend(carry, n + 1, False))
        t = binary(op, a, b)
        if carry is not None:
            t = binary(op, t, extend(carry, n, False))
        self.set_result(t)
        self.flags["c"] = extract(wide, n, n) if carry is not None or not subtract else test("ult", a, b)
        sign = lambda x: extract(x, n - 1, n - 1)
        differ = binary("bvxor", sign(a), sign(b))
        same = differ if subtract else invert(differ)
        self.flags["o"] = binary("bvand", same, binary("bvxor", sign(a), sign(t)))
        return t

    @staticmethod
    def unknown(what):
        raise Unsupported(what)

    def condition(self, name):
        """A condition of Jcc, SETcc and CMOVcc."""
        name = {"c": "b", "nae": "b", "nb": "ae", "nc": "ae", "z": "e", "nz": "ne", "na": "be", "nbe": "a", "nge": "l",
                "nl": "ge", "ng": "le", "nle": "g", "pe": "p", "po": "np"}.get(name, name)
        if name not in CONDITIONS:
            raise Unsupported(f"condition {name}")
        n = CONDITIONS.index(name)
        f = self.flags
        needs = ["o", "c", "z", "cz", "s", "p", "so", "zso"][n // 2]
        if any(f[x] is None for x in needs):
            raise Unsupported("a flag that is not known")
        if n // 2 == 3:
            t = binary("bvor", f["c"], f["z"])
        elif n // 2 == 6:
            t = binary("bvxor", f["s"], f["o"])
        elif n // 2 == 7:
            t = binary("bvor", f["z"], binary("bvxor", f["s"], f["o"]))
        else:
            t = f[needs]
        return invert(t) if n % 2 else t

    # ---- instructions

    def run(self):
        if self.region.refused:
            raise Unsupported(self.region.refused)
        self.store(self.general[RSP], halves(self.symbol("HOST_RETURN", 64)))
        at, steps = 0, 0
        while at is not None:
            steps += 1
            if steps > STEPS:
                raise Unsupported("too many steps")
            if at not in self.region.instructions:
                raise Unsupported("a jump to where no instruction is")
            name, args, after = self.region.instructions[at]
            at = self.step(name, args, at, after)
        if value_of(extract(self.general[0], 31, 0)) != 0:
            raise Unsupported("an exit other than to the next region")
        for n in (*CALLEE_SAVED, RSP):
            old, new = self.entry[n], self.general[n]
            if n == RSP:
                new = binary("bvadd", new, const(-8, 64))
            if new is not old and not (new.op == old.op == "address" and new.args == old.args):
                raise Unsupported("registers of the caller may have changed")

    def step(self, name, args, at, after):
        """Executes an instruction; the address of the next one."""
        patched = next((what for patch, what in self.region.patches.items() if at < patch < (after or patch)), None)
        if patched:
            # MOV of an address that is known at run time only
            base = re.sub(r"\W", "_", patched.removeprefix("address of "))
            self.put(args[0], Term("address", (base, 0), 64), after)
            return after
        mask = next((a for a in args if a[0] == "mask"), None)
        args = [a for a in args if a[0] != "mask"]
        if name == "ret":
            return self.leave()
        if name[0] == "j":
            return self.jump(name, args, after)
        if name in ("call",):
            raise Unsupported("a call of the runtime")
        if name in ("nop", "endbr64", "vzeroupper", "notrack") or name.startswith("prefetch"):
            # VZEROUPPER clears what is above 128 bits of the first 16 registers; the others change nothing.
            if name == "vzeroupper":
                for n in range(16):
                    self.vectors[n] = self.vectors[n][:4] + [const(0, 32)] * 12
            return after
        if name[0] == "v":
            self.vector_instruction(name, args, mask, after)
        elif name[0] == "k":
            self.mask_instruction(name, args, after)
        else:
            self.general_instruction(name, args, after)
        return after

    def leave(self):
        back = join(self.load(self.general[RSP], 64))
        if back.op != "symbol" or back.args != ("HOST_RETURN",):
            raise Unsupported("a return to elsewhere")
        self.general[RSP] = binary("bvadd", self.general[RSP], const(8, 64))
        return None

    def jump(self, name, args, after):
        if args[0][0] != "i":
            raise Unsupported("an indirect jump")
        to = args[0][1] - args[0][2]
        if name == "jmp":
            return to
        x = value_of(self.condition(name[1:]))
        if x is None:
            raise Unsupported("a branch on a symbol")
        return to if x else after

    def general_instruction(self, name, args, after):
        get, put = self.get, self.put
        if name in ("push", "pop"):
            # PUSH, POP
            if name == "push":
                t = get(args[0], after, 64)
                self.general[RSP] = binary("bvadd", self.general[RSP], const(-8, 64))
                self.store(self.general[RSP], halves(t))
            else:
                t = join(self.load(self.general[RSP], 64))
                self.general[RSP] = binary("bvadd", self.general[RSP], const(8, 64))
                put(args[0], t, after)
            return
        bits = args[0][2] if args[0][0] == "r" else args[0][1]
        if bits is None:
            bits = args[1][2] if len(args) > 1 and args[1][0] == "r" else None
        d = args[0]
        if name in ("mov", "movabs"):
            put(d, get(args[1], after, bits), after)
        elif name in ("movzx", "movsx", "movsxd"):
            put(d, extend(get(args[1], after), bits, name != "movzx"), after)
        elif name == "lea":
            t = self.address(args[1], after)
            put(d, t if bits == 64 else extract(t, bits - 1, 0), after)
        elif name in ("add", "sub", "cmp", "adc", "sbb"):
            a, b = get(d, after, bits), get(args[1], after, bits)
            if name in ("adc", "sbb"):
                carry = self.flags["c"] or self.unknown("a flag that is not known")
                put(d, self.set_sum(a, b, carry, name == "sbb"), after)
            else:
                t = self.set_sum(a, b, None, name != "add")
                if name != "cmp":
                    put(d, t, after)
        elif name in ("and", "or", "xor", "test"):
            a, b = get(d, after, bits), get(args[1], after, bits)
            if name == "and" and a.op == "address" and b.op == "const" and d[1] == RSP and self.frame_size is None:
                # The stack pointer is aligned downwards once: what is behind it up to here is the frame.
                self.frame_size = -a.args[1]
                pushed = min((at for base, at in self.memory if base == "stack"), default=0)
                self.frame_size += pushed
                self.flags = dict.fromkeys("coszp")
                put(d, Term("address", ("frame", 0), 64), after)
                return
            if name == "xor" and args[0] == args[1]:
                t = const(0, bits)
            elif name == "test" and args[0] == args[1]:
                t = a
            else:
                t = binary("bv" + ("and" if name == "test" else name), a, b)
            self.set_logic(t)
            if name != "test":
                put(d, t, after)
        elif name == "andn":
            t = binary("bvand", invert(get(args[1], after)), get(args[2], after))
            self.set_logic(t)
            put(d, t, after)
        elif name == "not":
            put(d, invert(get(d, after)), after)
        elif name == "neg":
            put(d, self.set_sum(const(0, bits), get(d, after), None, True), after)
        elif name in ("inc", "dec"):
            carry = self.flags["c"]
            t = self.set_sum(get(d, after), const(1, bits), None, name == "dec")
            self.flags["c"] = carry
            put(d, t, after)
        elif name in ("shl", "shr", "sar"):
            self.shift(name, d, args, bits, after)
        elif name in ("shlx", "shrx", "sarx"):
            n = binary("bvand", get(args[2], after), const(bits - 1, bits))
            put(d, binary({"shlx": "bvshl", "shrx": "bvlshr", "sarx": "bvashr"}[name], get(args[1], after), n), after)
        elif name in ("rol", "ror"):
            n = get(args[1], after, bits) if len(args) > 1 else const(1, bits)
            put(d, rotated(get(d, after), extend(low(n, min(n.bits, bits)), bits, False), name == "rol"), after)
            self.flags["c"] = self.flags["o"] = None
        elif name == "imul" and len(args) > 1:
            a, b = (get(d, after), get(args[1], after)) if len(args) == 2 else (get(args[1], after), get(args[2], after, bits))
            self.flags = dict.fromkeys("coszp")
            put(d, product("mul32", 32, a, b) if bits == 32 else vector_ir.wide_product(a, b), after)
        elif name in ("mul", "imul"):
            self.multiply(name == "imul", get(d, after), bits, after)
        elif name in ("popcnt", "lzcnt", "tzcnt"):
            a = get(args[1], after)
            t = vector_ir.ones(a) if name == "popcnt" else vector_ir.bits_of({"lzcnt": "clz", "tzcnt": "ctz"}[name], a)
            self.flags = dict.fromkeys("coszp")
            if name == "popcnt":
                self.flags = dict.fromkeys("cosp", const(0, 1))
                self.flags["z"] = test("eq", a, const(0, bits))
            else:
                self.flags["c"] = test("eq", a, const(0, bits))
                self.flags["z"] = test("eq", t, const(0, bits))
            put(d, t, after)
        elif name == "bt":
            a, n = get(d, after, bits), get(args[1], after, bits)
            n = binary("bvand", n, const(bits - 1, bits))
            self.flags.update(c=extract(binary("bvlshr", a, n), 0, 0), o=None, s=None, p=None)
        elif name.startswith("set"):
            put(d, extend(self.condition(name[3:]), 8, False), after)
        elif name.startswith("cmov"):
            # A 32-bit destination is extended also when the condition is false.
            c = self.condition(name[4:])
            a, b = get(args[1], after), get(d, after)
            put(d, choose(c, a, b), after)
        elif name == "bswap":
            a = get(d, after)
            put(d, join(list(reversed(regroup([a], 8)))), after)
        elif name in ("cdq", "cqo", "xchg", "cmpxchg"):
            raise Unsupported(name)
        else:
            raise Unsupported(name)

    def shift(self, name, d, args, bits, after):
        """SHL, SHR, SAR: the count has 5 bits, 6 of 64-bit operands."""
        n = self.get(args[1], after, 8) if len(args) > 1 else const(1, 8)
        n = binary("bvand", low(n, 8), const(63 if bits == 64 else 31, 8))
        a = self.get(d, after, bits)
        op = {"shl": "bvshl", "shr": "bvlshr", "sar": "bvashr"}[name]
        t = binary(op, a, extend(n, bits, False) if bits > 8 else n)
        count = value_of(n)
        if count is None:
            self.flags = dict.fromkeys("coszp")
        elif count:
            self.set_result(t)
            self.flags["o"] = None
            at = bits - count if name == "shl" else count - 1
            self.flags["c"] = extract(a, at, at) if 0 <= at < bits else None
        self.put(d, t, after)

    def multiply(self, sign, a, bits, after):
        """MUL, IMUL with one operand: RDX:RAX of RAX and the operand."""
        b = low(self.general[0], bits)
        self.flags = dict.fromkeys("coszp")
        if bits == 32:
            t = product("smul64" if sign else "umul64", 64, b, a)
        elif bits == 64:
            t = binary("bvmul", extend(b, 128, sign), extend(a, 128, sign))
        else:
            raise Unsupported("a product of few bits")
        self.put(("r", 0, bits), extract(t, bits - 1, 0), after)
        self.put(("r", 2, bits), extract(t, 2 * bits - 1, bits), after)

    def mask_instruction(self, name, args, after):
        """KMOV, KNOT, KAND, KANDN, KOR, KXOR, KXNOR, KSHIFTL, KSHIFTR, KUNPCK, KORTEST, KTEST."""
        n = {"b": 8, "w": 16, "d": 32, "q": 64}[name[-1]]
        if name.startswith("kunpck"):
            n = {"kunpckbw": 8, "kunpckwd": 16, "kunpckdq": 32}[name]
            a, b = (self.masks[x[1]][:n] for x in args[1:])
            self.put_mask(args[0], b + a)
            return
        op = name[1:-1]
        if op == "mov":
            source = args[1]
            if source[0] == "k":
                bits = self.masks[source[1]][:n]
            elif source[0] == "r":
                t = self.get(source, after)
                bits = [extract(t, i, i) for i in range(n)]
            else:
                t = join(self.load(self.address(source, after), n))
                bits = [extract(t, i, i) for i in range(n)]
            if args[0][0] == "k":
                self.put_mask(args[0], bits)
            elif args[0][0] == "r":
                self.put(args[0], extend(join(bits), args[0][2], False), after)
            else:
                t = join(bits)
                self.store(self.address(args[0], after), halves(t) if n >= 32 else [t])
            return
        sources = [self.masks[x[1]][:n] for x in args if x[0] == "k"]
        if op in ("ortest", "test"):
            a, b = sources
            if op == "ortest":
                t = join([binary("bvor", p, q) for p, q in zip(a, b)])
                self.set_logic(const(0, 1))
                self.flags.update(z=test("eq", t, const(0, n)), c=test("eq", t, const(-1, n)), s=const(0, 1), p=const(0, 1))
            else:
                both, other = (join([f(p, q) for p, q in zip(a, b)]) for f in (_bin("bvand"), _andn))
                self.flags = dict(z=test("eq", both, const(0, n)), c=test("eq", other, const(0, n)), o=const(0, 1), s=const(0, 1), p=const(0, 1))
            return
        if op in ("shiftl", "shiftr"):
            count = args[2][1] & 0xFF
            a, zeros = sources[1], [const(0, 1)] * min(count, n)
            self.put_mask(args[0], (zeros + a)[:n] if op == "shiftl" else (a[count:] + zeros)[:n])
            return
        if op == "not":
            self.put_mask(args[0], [invert(p) for p in sources[1]])
            return
        combine = {"and": _bin("bvand"), "or": _bin("bvor"), "xor": _bin("bvxor"), "andn": _andn,
                   "xnor": lambda p, q: invert(binary("bvxor", p, q))}.get(op)
        if combine is None:
            raise Unsupported(name)
        if args[1] == args[2] and op in ("xor", "xnor"):
            self.put_mask(args[0], [const(int(op == "xnor"), 1)] * n)
            return
        self.put_mask(args[0], [combine(p, q) for p, q in zip(*sources[1:])])

    def put_mask(self, operand, bits):
        self.masks[operand[1]] = bits + [const(0, 1)] * (64 - len(bits))

    def vector_instruction(self, name, args, mask, after):
        d = args[0]
        size = d[2] if d[0] == "v" else d[1] if d[0] == "m" else None
        if d[0] == "k":
            self.compare(name, args, mask, after)
            return
        if name in MOVES:
            if size is None or size != (args[1][2] if args[1][0] == "v" else args[1][1]):
                raise Unsupported(f"{name} of other sizes")
            self.put_vector(d, self.vector(args[1], after, size, MOVES[name]), mask, after)
            return
        if name in ELEMENTS and len(args) == 3 and args[2][0] != "i":
            element, f = ELEMENTS[name]
            if name in ("vpxor", "vpxord", "vpxorq", "vxorps") and args[1] == args[2]:
                elements = [const(0, element)] * (size // element)
            elif name.startswith("vpcmpeq") and args[1] == args[2]:
                elements = [const(-1, element)] * (size // element)
            else:
                a, b = (self.vector(x, after, size, element) for x in args[1:])
                elements = [f(p, q) for p, q in zip(a, b)]
            self.put_vector(d, elements, mask, after)
            return
        if name in UNARY:
            element, f = UNARY[name]
            self.put_vector(d, [f(p) for p in self.vector(args[1], after, size, element)], mask, after)
            return
        m = re.fullmatch(r"vp(sll|srl|sra)([wdq])", name)
        if m:
            # PSLLW/PSLLD/PSLLQ, PSRL*, PSRA*: the count is a constant, or the low quadword of 128 bits.
            element = {"w": 16, "d": 32, "q": 64}[m.group(2)]
            op = {"sll": "bvshl", "srl": "bvlshr", "sra": "bvashr"}[m.group(1)]
            if args[2][0] == "i":
                count = const(min(args[2][1] & 0xFF, element), element) if element > 8 else None
            else:
                c = self.vector(args[2], after, 128, 64, 128)[0]
                count = choose(test("ugt", c, const(element, 64)), const(element, element), extract(c, element - 1, 0))
            self.put_vector(d, [binary(op, p, count) for p in self.vector(args[1], after, size, element)], mask, after)
            return
        m = re.fullmatch(r"vpro([lr])([dq])", name)
        if m:
            # VPROLD/VPROLQ, VPRORD/VPRORQ by a constant
            element = {"d": 32, "q": 64}[m.group(2)]
            n = args[2][1] % element
            n = n if m.group(1) == "l" else (element - n) % element
            turn = lambda p: concat(extract(p, element - n - 1, 0), extract(p, element - 1, element - n)) if n else p
            self.put_vector(d, [turn(p) for p in self.vector(args[1], after, size, element)], mask, after)
            return
        method = getattr(self, "do_" + name, None)
        if method is None:
            for pattern, found in self.PATTERNS:
                m = re.fullmatch(pattern, name)
                if m:
                    getattr(self, found)(m, d, args, mask, size, after)
                    return
            raise Unsupported(name)
        method(d, args, mask, size, after)

    def compare(self, name, args, mask, after):
        """VPCMPD and the like, VPTESTMD, VPTESTNMD, VPMOVD2M: the destination is a mask."""
        m = re.fullmatch(r"vpmov([bwdq])2m", name)
        if m:
            size, element = args[1][2], {"b": 8, "w": 16, "d": 32, "q": 64}[m.group(1)]
            self.put_mask(args[0], [extract(p, element - 1, element - 1) for p in self.vector(args[1], after, size, element)])
            return
        size = args[1][2]
        m = re.fullmatch(r"vptest(n?)m([bwdq])", name)
        if m:
            element, cond = {"b": 8, "w": 16, "d": 32, "q": 64}[m.group(2)], "eq" if m.group(1) else "ne"
            if args[1] == args[2]:
                f = lambda p, q: test(cond, p, const(0, element))
            else:
                f = lambda p, q: test(cond, binary("bvand", p, q), const(0, element))
        else:
            m = re.fullmatch(r"vpcmp(eq|lt|le|neq|nlt|nle|gt|ge|)(u?)([bwdq])", name)
            if not m:
                raise Unsupported(name)
            element = {"b": 8, "w": 16, "d": 32, "q": 64}[m.group(3)]
            if m.group(1):
                cond = PREDICATES[m.group(1)]
            else:
                # Immediate 0: EQ, 1: LT, 2: LE, 3: false, 4: NEQ, 5: NLT, 6: NLE, 7: true.
                cond = ["eq", "lt", "le", None, "ne", "ge", "gt", None][args[3][1] & 7]
                if cond is None:
                    always = const(args[3][1] >> 2 & 1, 1)
                    self.put_mask(args[0], [self.masked(mask, i, always) for i in range(size // element)])
                    return
            cond = cond if cond in ("eq", "ne") else ("u" if m.group(2) else "s") + cond
            f = lambda p, q: test(cond, p, q)
        a, b = (self.vector(x, after, size, element) for x in args[1:3])
        self.put_mask(args[0], [self.masked(mask, i, f(p, q)) for i, (p, q) in enumerate(zip(a, b))])

    def masked(self, mask, i, t):
        return binary("bvand", self.masks[mask[1]][i], t) if mask else t

    # Instructions that move elements; the parts of 128 bits are the manual's "lanes".

    def do_vmovd(self, d, args, mask, size, after):
        """MOVD"""
        if d[0] == "v":
            t = self.get(args[1], after, 32)
            self.put_vector(("v", d[1], 128), [t] + [const(0, 32)] * 3, None, after)
        else:
            self.put(d, self.vectors[args[1][1]][0], after)

    def do_vmovq(self, d, args, mask, size, after):
        """MOVQ"""
        source = args[1]
        low64 = self.vectors[source[1]][:2] if source[0] == "v" else halves(self.get(source, after, 64))
        if d[0] == "v":
            self.put_vector(("v", d[1], 128), low64 + [const(0, 32)] * 2, None, after)
        else:
            self.put(d, join(low64), after)

    def do_vmovss(self, d, args, mask, size, after):
        """MOVSS between register and memory"""
        if len(args) != 2 or mask:
            raise Unsupported("vmovss of registers")
        if d[0] == "v":
            self.put_vector(("v", d[1], 128), self.load(self.address(args[1], after), 32) + [const(0, 32)] * 3, None, after)
        else:
            self.store(self.address(d, after), self.vectors[args[1][1]][:1])

    def do_vmovsd(self, d, args, mask, size, after):
        """MOVSD between register and memory"""
        if len(args) != 2 or mask:
            raise Unsupported("vmovsd of registers")
        if d[0] == "v":
            self.put_vector(("v", d[1], 128), self.load(self.address(args[1], after), 64) + [const(0, 32)] * 2, None, after)
        else:
            self.store(self.address(d, after), self.vectors[args[1][1]][:2])

    def broadcast(self, m, d, args, mask, size, after):
        """VPBROADCASTB/VPBROADCASTW/VPBROADCASTD/VPBROADCASTQ, VBROADCASTSS, VBROADCASTSD"""
        element = {"b": 8, "w": 16, "d": 32, "q": 64, "ss": 32, "sd": 64}[m.group(2)]
        source = args[1]
        if source[0] == "v":
            t = regroup(self.vectors[source[1]][:4], element)[0]
        elif source[0] == "r":
            t = low(self.get(source, after), element)
        else:
            t = join(self.load(self.address(source, after), element))
        self.put_vector(d, [t] * (size // element), mask, after)

    def broadcast_part(self, m, d, args, mask, size, after):
        """VBROADCASTI128, VBROADCASTI32X4, VBROADCASTI64X4 and the like from memory"""
        shape = m.group(1)
        element, bits = {"128": (32, 128), "32x4": (32, 128), "64x2": (64, 128), "64x4": (64, 256), "32x8": (32, 256)}[shape]
        part = self.vector(args[1], after, bits, element, bits)
        self.put_vector(d, part * (size // bits), mask, after)

    def extended(self, m, d, args, mask, size, after):
        """PMOVSX, PMOVZX"""
        narrow, wide = ({"b": 8, "w": 16, "d": 32, "q": 64}[x] for x in m.group(2))
        count = size // wide
        bits = count * narrow
        if args[1][0] == "v":
            parts = regroup(self.vectors[args[1][1]][: max(1, bits // 32)], narrow)[:count]
        else:
            parts = regroup(self.load(self.address(args[1], after), bits), narrow)
        self.put_vector(d, [extend(p, wide, m.group(1) == "s") for p in parts], mask, after)

    def narrowed(self, m, d, args, mask, size, after):
        """VPMOVDW, VPMOVDB, VPMOVWB, VPMOVQD and the like: truncation"""
        wide, narrow = ({"b": 8, "w": 16, "d": 32, "q": 64}[x] for x in m.group(1))
        parts = [extract(p, narrow - 1, 0) for p in self.vector(args[1], after, args[1][2], wide)]
        if d[0] == "v":
            total = len(parts) * narrow
            parts += [const(0, narrow)] * ((128 - total) // narrow if total < 128 else 0)
            if mask and total < 128:
                raise Unsupported("a narrow result under a mask")
        self.put_vector(d, parts, mask, after)

    def mask_to_vector(self, m, d, args, mask, size, after):
        """VPMOVM2B/VPMOVM2W/VPMOVM2D/VPMOVM2Q"""
        element = {"b": 8, "w": 16, "d": 32, "q": 64}[m.group(1)]
        self.put_vector(d, [extend(p, element, True) for p in self.masks[args[1][1]][: size // element]], None, after)

    def ternary(self, m, d, args, mask, size, after):
        """VPTERNLOGD/VPTERNLOGQ: bit i of the result is bit (dest, src1, src2) of the immediate."""
        element = {"d": 32, "q": 64}[m.group(1)]
        a, b, c = (self.vector(x, after, size, element) for x in args[:3])
        table = args[3][1] & 0xFF
        if table in (0, 0xFF):
            self.put_vector(d, [const(-(table & 1), element)] * (size // element), mask, after)
            return
        self.put_vector(d, [ternary_of(table, *x) for x in zip(a, b, c)], mask, after)

    def blend_by_mask(self, m, d, args, mask, size, after):
        """VPBLENDMB/VPBLENDMW/VPBLENDMD/VPBLENDMQ: the second source where the mask is set"""
        element = {"b": 8, "w": 16, "d": 32, "q": 64}[m.group(1)]
        a, b = (self.vector(x, after, size, element) for x in args[1:3])
        if mask is None:
            self.put_vector(d, b, None, after)
            return
        bits, zero = self.masks[mask[1]], const(0, element)
        self.put_vector(d, [choose(bits[i], q, zero if mask[2] else p) for i, (p, q) in enumerate(zip(a, b))], None, after)

    def blend_by_vector(self, m, d, args, mask, size, after):
        """PBLENDVB, BLENDVPS, BLENDVPD: the second source where the sign of the third is set"""
        element = {"pblendvb": 8, "blendvps": 32, "blendvpd": 64}[m.group(1)]
        a, b, c = (self.vector(x, after, size, element) for x in args[1:4])
        top = lambda t: extract(t, element - 1, element - 1)
        self.put_vector(d, [choose(top(z), y, x) for x, y, z in zip(a, b, c)], None, after)

    def blend(self, m, d, args, mask, size, after):
        """VPBLENDD, BLENDPS, PBLENDW: the second source where the bit of the immediate is set"""
        element = 16 if m.group(1) == "pblendw" else 32
        a, b = (self.vector(x, after, size, element) for x in args[1:3])
        self.put_vector(d, [q if args[3][1] >> i % 8 & 1 else p for i, (p, q) in enumerate(zip(a, b))], None, after)

    def do_vpshufb(self, d, args, mask, size, after):
        """PSHUFB: bytes of the same 128 bits by the low 4 bits of the index, 0 where its bit 7 is set"""
        x, index = (self.vector(y, after, size, 8) for y in args[1:3])
        out = []
        for at, i in enumerate(index):
            part = x[at & ~15 : (at & ~15) + 16]
            n = value_of(i)
            if n is not None:
                out.append(const(0, 8) if n & 0x80 else part[n & 15])
                continue
            picked = part[15]
            for k in reversed(range(15)):
                picked = choose(test("eq", extract(i, 3, 0), const(k, 4)), part[k], picked)
            out.append(choose(extract(i, 7, 7), const(0, 8), picked))
        self.put_vector(d, out, mask, after)

    def do_vpshufd(self, d, args, mask, size, after):
        """PSHUFD: dwords of the same 128 bits"""
        x, imm = self.vector(args[1], after, size, 32), args[2][1]
        self.put_vector(d, [x[i & ~3 | imm >> i % 4 * 2 & 3] for i in range(len(x))], mask, after)

    def shuffle_words(self, m, d, args, mask, size, after):
        """PSHUFLW, PSHUFHW"""
        x, imm, high = self.vector(args[1], after, size, 16), args[2][1], m.group(1) == "h"
        pick = lambda i: i & ~3 | imm >> i % 4 * 2 & 3 if (i >> 2 & 1) == high else i
        self.put_vector(d, [x[pick(i)] for i in range(len(x))], mask, after)

    def do_vshufps(self, d, args, mask, size, after):
        """SHUFPS: two dwords of the first source, two of the second, of the same 128 bits"""
        a, b = (self.vector(x, after, size, 32) for x in args[1:3])
        imm = args[3][1]
        self.put_vector(d, [(a, b)[i >> 1 & 1][i & ~3 | imm >> i % 4 * 2 & 3] for i in range(len(a))], mask, after)

    def unpack(self, m, d, args, mask, size, after):
        """PUNPCKLBW ... PUNPCKHQDQ, UNPCKLPS: elements of both sources in turn, of each half of 128 bits"""
        element = {"bw": 8, "wd": 16, "dq": 32, "qdq": 64}[m.group(2)]
        a, b = (self.vector(x, after, size, element) for x in args[1:3])
        per, out = 128 // element, []
        for part in range(0, len(a), per):
            start = part + (per // 2 if m.group(1) == "h" else 0)
            for i in range(start, start + per // 2):
                out += [a[i], b[i]]
        self.put_vector(d, out, mask, after)

    def pack(self, m, d, args, mask, size, after):
        """PACKUSDW, PACKSSDW, PACKUSWB, PACKSSWB: signed elements saturated, of each 128 bits"""
        wide = {"dw": 32, "wb": 16}[m.group(2)]
        narrow, sign = wide // 2, m.group(1) == "ss"
        least, most = (-(1 << narrow - 1), (1 << narrow - 1) - 1) if sign else (0, (1 << narrow) - 1)
        least, most = const(least, wide), const(most, wide)
        fit = lambda t: extract(choose(test("slt", t, least), least, choose(test("sgt", t, most), most, t)), narrow - 1, 0)
        a, b = (self.vector(x, after, size, wide) for x in args[1:3])
        per, out = 128 // wide, []
        for part in range(0, len(a), per):
            out += [fit(t) for t in a[part : part + per] + b[part : part + per]]
        self.put_vector(d, out, mask, after)

    def align(self, m, d, args, mask, size, after):
        """PALIGNR: bytes of both sources together, of each 128 bits"""
        a, b = (self.vector(x, after, size, 8) for x in args[1:3])
        n, out = args[3][1], []
        for part in range(0, len(a), 16):
            both = b[part : part + 16] + a[part : part + 16] + [const(0, 8)] * 256
            out += both[n : n + 16]
        self.put_vector(d, out, mask, after)

    def byte_shift(self, m, d, args, mask, size, after):
        """PSLLDQ, PSRLDQ: bytes of each 128 bits"""
        x, n, out = self.vector(args[1], after, size, 8), min(args[2][1], 16), []
        for part in range(0, len(x), 16):
            zeros, bytes_ = [const(0, 8)] * n, x[part : part + 16]
            out += (zeros + bytes_)[:16] if m.group(1) == "l" else (bytes_ + zeros)[n : n + 16]
        self.put_vector(d, out, mask, after)

    def insert_part(self, m, d, args, mask, size, after):
        """VINSERTI128, VINSERTI32X4, VINSERTI64X4 and the like"""
        element, bits = {"128": (32, 128), "32x4": (32, 128), "64x2": (64, 128), "64x4": (64, 256), "32x8": (32, 256)}[m.group(1)]
        out = self.vector(args[1], after, size, element)
        part = self.vector(args[2], after, bits, element, bits)
        at = args[3][1] % (size // bits) * len(part)
        self.put_vector(d, out[:at] + part + out[at + len(part) :], mask, after)

    def extract_part(self, m, d, args, mask, size, after):
        """VEXTRACTI128, VEXTRACTI32X4, VEXTRACTI64X4 and the like"""
        element, bits = {"128": (32, 128), "32x4": (32, 128), "64x2": (64, 128), "64x4": (64, 256), "32x8": (32, 256)}[m.group(1)]
        source = self.vector(args[1], after, args[1][2], element)
        count = bits // element
        at = args[2][1] % (len(source) // count) * count
        self.put_vector(d, source[at : at + count], mask, after)

    def do_vperm2i128(self, d, args, mask, size, after):
        """VPERM2I128: each half is one of four, or zero"""
        a, b = (self.vector(x, after, 256, 32) for x in args[1:3])
        parts = [a[:4], a[4:], b[:4], b[4:]]
        pick = lambda n: [const(0, 32)] * 4 if n & 8 else parts[n & 3]
        self.put_vector(d, pick(args[3][1]) + pick(args[3][1] >> 4), None, after)

    do_vperm2f128 = do_vperm2i128

    def do_vpermq(self, d, args, mask, size, after):
        """VPERMQ by a constant: quadwords of the same 256 bits"""
        if args[2][0] != "i":
            return self.permute(64, d, args, mask, size, after)
        x, imm = self.vector(args[1], after, size, 64), args[2][1]
        self.put_vector(d, [x[i & ~3 | imm >> i % 4 * 2 & 3] for i in range(len(x))], mask, after)

    def do_vpermd(self, d, args, mask, size, after):
        """VPERMD: dwords of the second source by the first, which must be known"""
        self.permute(32, d, args, mask, size, after)

    def do_vpermw(self, d, args, mask, size, after):
        """VPERMW"""
        self.permute(16, d, args, mask, size, after)

    def permute(self, element, d, args, mask, size, after):
        index, x = (self.vector(y, after, size, element) for y in args[1:3])
        known = [value_of(i) for i in index]
        if None in known:
            raise Unsupported("a permutation by symbols")
        self.put_vector(d, [x[i % len(x)] for i in known], mask, after)

    def permute_two(self, m, d, args, mask, size, after):
        """VPERMT2D, VPERMI2D and the like: elements of two tables"""
        element = {"b": 8, "w": 16, "d": 32, "q": 64}[m.group(2)]
        first, second, third = (self.vector(y, after, size, element) for y in args[:3])
        index, table = (second, first + third) if m.group(1) == "t" else (first, second + third)
        known = [value_of(i) for i in index]
        if None in known:
            raise Unsupported("a permutation by symbols")
        self.put_vector(d, [table[i % len(table)] for i in known], mask, after)

    def shuffle_parts(self, m, d, args, mask, size, after):
        """VSHUFI32X4, VSHUFI64X2: parts of 128 bits of both sources"""
        element = 32 if m.group(1) == "32x4" else 64
        a, b = (self.vector(x, after, size, element) for x in args[1:3])
        per, imm = 128 // element, args[3][1]
        count = len(a) // per
        bits = {4: 2, 2: 1}[count]
        out = []
        for i in range(count):
            source = a if i < count // 2 else b
            at = (imm >> i * bits & (1 << bits) - 1) * per
            out += source[at : at + per]
        self.put_vector(d, out, mask, after)

    def insert(self, m, d, args, mask, size, after):
        """PINSRB/PINSRW/PINSRD/PINSRQ"""
        element = {"b": 8, "w": 16, "d": 32, "q": 64}[m.group(1)]
        out = list(self.vector(args[1], after, 128, element))
        if args[2][0] == "r":
            t = low(self.get(args[2], after), element)
        else:
            t = join(self.load(self.address(args[2], after), element))
        out[args[3][1] % len(out)] = t
        self.put_vector(d, out, None, after)

    def extract_one(self, m, d, args, mask, size, after):
        """PEXTRB/PEXTRW/PEXTRD/PEXTRQ"""
        element = {"b": 8, "w": 16, "d": 32, "q": 64}[m.group(1)]
        x = self.vector(args[1], after, 128, element)
        t = x[args[2][1] % len(x)]
        self.put(d, extend(t, max(element, d[2]), False) if d[0] == "r" else t, after)

    def sign_bits(self, m, d, args, mask, size, after):
        """MOVMSKPS, MOVMSKPD, PMOVMSKB"""
        element = {"movmskps": 32, "movmskpd": 64, "pmovmskb": 8}[m.group(1)]
        x = self.vector(args[1], after, args[1][2], element)
        self.put(d, extend(join([extract(p, element - 1, element - 1) for p in x]), d[2], False), after)

    def do_vpsadbw(self, d, args, mask, size, after):
        """PSADBW: sums of 8 distances of bytes"""
        a, b = (self.vector(x, after, size, 8) for x in args[1:3])
        out = []
        for part in range(0, len(a), 8):
            total = const(0, 64)
            for p, q in zip(a[part : part + 8], b[part : part + 8]):
                apart = choose(test("ugt", p, q), binary("bvsub", p, q), binary("bvsub", q, p))
                total = binary("bvadd", total, extend(apart, 64, False))
            out.append(total)
        self.put_vector(d, out, None, after)

    def do_vpmaddwd(self, d, args, mask, size, after):
        """PMADDWD: sums of two products of signed words"""
        a, b = (self.vector(x, after, size, 16) for x in args[1:3])
        products = [binary("bvmul", extend(p, 32, True), extend(q, 32, True)) for p, q in zip(a, b)]
        self.put_vector(d, [binary("bvadd", *products[i : i + 2]) for i in range(0, len(products), 2)], mask, after)

    PATTERNS = [
        (r"v(pbroadcast|broadcast)(b|w|d|q|ss|sd)", "broadcast"),
        (r"vbroadcast[if](128|32x4|64x2|64x4|32x8)", "broadcast_part"),
        (r"vpmov([sz])x(bw|bd|bq|wd|wq|dq)", "extended"),
        (r"vpmov(dw|db|wb|qd|qw|qb)", "narrowed"),
        (r"vpmovm2([bwdq])", "mask_to_vector"),
        (r"vpternlog([dq])", "ternary"),
        (r"vpblendm([bwdq])", "blend_by_mask"),
        (r"v(pblendvb|blendvps|blendvpd)", "blend_by_vector"),
        (r"v(pblendd|blendps|pblendw)", "blend"),
        (r"vpshuf([lh])w", "shuffle_words"),
        (r"vpunpck([lh])(bw|wd|dq|qdq)", "unpack"),
        (r"vpack(us|ss)(dw|wb)", "pack"),
        (r"vpalignr()", "align"),
        (r"vps([lr])ldq", "byte_shift"),
        (r"vinsert[if](128|32x4|64x2|64x4|32x8)", "insert_part"),
        (r"vextract[if](128|32x4|64x2|64x4|32x8)", "extract_part"),
        (r"vperm([ti])2([bwdq])", "permute_two"),
        (r"vshuf[if](32x4|64x2)", "shuffle_parts"),
        (r"vpinsr([bwdq])", "insert"),
        (r"vpextr([bwdq])", "extract_one"),
        (r"v(movmskps|movmskpd|pmovmskb)", "sign_bits"),
    ]


def ternary_of(table, a, b, c):
    """A function of three bits by its table, as the sum of its products; one of fewer sources is found."""
    bit = lambda i, j, k: table >> (i << 2 | j << 1 | k) & 1
    n = a.bits
    if all(bit(0, j, k) == bit(1, j, k) for j in (0, 1) for k in (0, 1)):
        return two(lambda j, k: bit(0, j, k), b, c, n)
    if all(bit(i, 0, k) == bit(i, 1, k) for i in (0, 1) for k in (0, 1)):
        return two(lambda i, k: bit(i, 0, k), a, c, n)
    if all(bit(i, j, 0) == bit(i, j, 1) for i in (0, 1) for j in (0, 1)):
        return two(lambda i, j: bit(i, j, 0), a, b, n)
    on, off = two(lambda j, k: bit(1, j, k), b, c, n), two(lambda j, k: bit(0, j, k), b, c, n)
    return binary("bvor", binary("bvand", a, on), binary("bvand", invert(a), off))


def two(bit, a, b, n):
    """A function of two bits by its table."""
    names = tuple(bit(i, j) for i in (0, 1) for j in (0, 1))
    return {
        (0, 0, 0, 0): lambda: const(0, n), (1, 1, 1, 1): lambda: const(-1, n),
        (0, 0, 1, 1): lambda: a, (0, 1, 0, 1): lambda: b,
        (1, 1, 0, 0): lambda: invert(a), (1, 0, 1, 0): lambda: invert(b),
        (0, 0, 0, 1): lambda: binary("bvand", a, b), (0, 1, 1, 1): lambda: binary("bvor", a, b),
        (0, 1, 1, 0): lambda: binary("bvxor", a, b), (1, 0, 0, 1): lambda: invert(binary("bvxor", a, b)),
        (1, 1, 1, 0): lambda: invert(binary("bvand", a, b)), (1, 0, 0, 0): lambda: invert(binary("bvor", a, b)),
        (0, 0, 1, 0): lambda: binary("bvand", a, invert(b)), (0, 1, 0, 0): lambda: binary("bvand", invert(a), b),
        (1, 0, 1, 1): lambda: binary("bvor", a, invert(b)), (1, 1, 0, 1): lambda: binary("bvor", invert(a), b),
    }[names]()
