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
from functools import partial

import assemble
import vector_ir
from lane_ir import Unsupported
from vector_ir import Term, binary, choose, concat, const, extend, extract, fit, invert, product, regroup, test, top, value_of

STEPS = 20000
RSP = 4
CALLEE_SAVED = (3, 5, 12, 13, 14, 15)
# Where the context has the wave's fuel, and a number that suffices; and its pointers.
FUEL, ENOUGH = 144, 1000
POINTERS = {**vector_ir.POINTERS, 152: "functions"}
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
# Bits of elements by the letter in an instruction's name.
ELEMENT = {"b": 8, "w": 16, "d": 32, "q": 64}
SHIFTS = {"sll": "bvshl", "shl": "bvshl", "srl": "bvlshr", "shr": "bvlshr", "sra": "bvashr", "sar": "bvashr"}
SIZES = {"byte": 8, "word": 16, "dword": 32, "qword": 64, "xmmword": 128, "ymmword": 256, "zmmword": 512}
# Conditions as they are encoded: the odd ones are the others inverted. And the flags of each pair.
CONDITIONS = ["o", "no", "b", "ae", "e", "ne", "be", "a", "s", "ns", "p", "np", "l", "ge", "le", "g"]
CONDITION_FLAGS = ["o", "c", "z", "cz", "s", "p", "so", "zso"]


class Region:
    """Code: bytes, offsets that relocations change, where llvm-objdump places it, instructions by
    offset as (name, operands, offset of the next one), and why it cannot be executed."""

    def __init__(self):
        self.data = bytearray()
        self.patches = {}
        self.base = 0
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
    region, last = None, None
    for line in out.splitlines():
        m = re.match(r"([0-9a-f]+) <(\w+)>:", line)
        if m:
            region, last = regions[m.group(2)], None
            region.base = int(m.group(1), 16)
            continue
        m = re.match(r"\s+([0-9a-f]+):\s+(\S.*)", line)
        if m and region is not None:
            at = int(m.group(1), 16) - region.base
            name, *rest = m.group(2).split("#")[0].split("<")[0].split(None, 1) or ["unknown"]
            if last is not None:
                region.instructions[last][2] = at
            region.instructions[at] = [name, operands(rest[0] if rest else ""), None]
            last = at


def operands(text):
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
            found.append(("i", int(part, 0)))
        else:
            found.append(("?", part))
        if mask:
            found.append(("mask", int(mask.group(1)), bool(mask.group(2))))
    return found


# Vector instructions that compute each element of the result from the elements of the sources at the
# same place: bits of an element, and the function.
def _pick(cond):
    return lambda a, b: choose(test(cond, a, b), a, b)


def _mask(cond):
    return lambda a, b: extend(test(cond, a, b), a.bits, True)


def _low_words(name):
    return lambda a, b: product(name, 64, extract(a, 31, 0), extract(b, 31, 0))


def _andn(a, b):
    return binary("bvand", invert(a), b)


def rotated(a, count, left):
    n = a.bits
    c = binary("bvand", count, const(n - 1, n))
    other = binary("bvand", binary("bvsub", const(n, n), c), const(n - 1, n))
    c, other = (c, other) if left else (other, c)
    return binary("bvor", binary("bvshl", a, c), binary("bvlshr", a, other))


LOGIC = {"and": partial(binary, "bvand"), "or": partial(binary, "bvor"), "xor": partial(binary, "bvxor"), "andn": _andn}
ELEMENTS = {
    # PADDB/PADDW/PADDD/PADDQ, PSUBB/PSUBW/PSUBD, PSUBQ
    **{f"vp{k}{s}": (n, partial(binary, f"bv{k}")) for k in ("add", "sub") for s, n in ELEMENT.items()},
    # PADDSB/PADDSW, PADDUSB/PADDUSW, PSUBSB/PSUBSW, PSUBUSB/PSUBUSW
    **{f"vp{k}{sign}{s}": (ELEMENT[s], partial(vector_ir.saturated, f"{sign[0]}{k}_sat"))
       for k in ("add", "sub") for sign in ("s", "us") for s in "bw"},
    # PAND, PANDN, POR, PXOR; the forms with masks by dwords and quadwords
    **{f"vp{k}{s}": (n, f) for s, n in (("", 32), ("d", 32), ("q", 64)) for k, f in LOGIC.items()},
    # PMINUB/PMINUW/PMINUD/PMINUQ, PMINSB ..., PMAXUB ..., PMAXSB ...
    **{f"vp{m}{sign}{s}": (n, _pick(sign + cond)) for m, cond in (("min", "lt"), ("max", "gt")) for sign in "us" for s, n in ELEMENT.items()},
    # VPSLLVW/VPSLLVD/VPSLLVQ, VPSRLV*, VPSRAV*: counts of the element's bits and more clear it, or fill
    # it with the sign, as the shifts of SMT-LIB do.
    **{f"vp{k}v{s}": (ELEMENT[s], partial(binary, SHIFTS[k])) for k in ("sll", "srl", "sra") for s in "wdq"},
    # PMULLW, PMULLD
    "vpmullw": (16, partial(binary, "bvmul")),
    "vpmulld": (32, partial(product, "mul32", 32)),
    "vpmullq": (64, vector_ir.wide_product),
    # PMULUDQ, PMULDQ: the low dwords of quadwords
    "vpmuludq": (64, _low_words("umul64")),
    "vpmuldq": (64, _low_words("smul64")),
    # PCMPEQB/PCMPEQW/PCMPEQD/PCMPEQQ, PCMPGTB ...: with vectors as destination
    **{f"vpcmpeq{s}": (n, _mask("eq")) for s, n in ELEMENT.items()},
    **{f"vpcmpgt{s}": (n, _mask("sgt")) for s, n in ELEMENT.items()},
}
# MOVDQU, MOVDQA, MOVUPS, MOVAPS: alignment is not checked.
MOVES = {**{f"vmov{k}{s}": n for k in ("dqu", "dqa") for s, n in (("", 32), ("8", 8), ("16", 16), ("32", 32), ("64", 64))},
         "vmovups": 32, "vmovaps": 32, "vmovupd": 64, "vmovapd": 64}
# VPCMPB/VPCMPUB ... with a predicate, in the assembler's names; the destination is a mask.
PREDICATES = {"eq": "eq", "lt": "lt", "le": "le", "neq": "ne", "nlt": "ge", "nle": "gt", "gt": "gt"}


def join(parts):
    """One bit vector of parts, the least significant first; an address of its halves."""
    if len(parts) == 2 and parts[0].op == "address low" and parts[1].op == "address high":
        if parts[0].args[0].args == parts[1].args[0].args:
            return parts[0].args[0]
        raise Unsupported("halves of different addresses")
    return vector_ir.join(parts)


def halves(t):
    """The dwords of a bit vector."""
    if t.op == "address":
        return [Term("address low", (t,), 32), Term("address high", (t,), 32)]
    return [extract(t, i + 31, i) for i in range(0, t.bits, 32)]


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
        self.forget_flags()
        self.frame_size = None

    # ---- memory

    def first(self, base, offset):
        if base == "code":
            if offset < 0 or offset + 4 > len(self.region.data) or any(p - 4 < offset < p + 8 for p in self.region.patches):
                raise Unsupported("a load from code")
            return const(int.from_bytes(self.region.data[offset : offset + 4], "little"), 32)
        if base in ("stack", "frame"):
            raise Unsupported("a load of what was not stored")
        if base == "context" and offset // 8 * 8 in POINTERS:
            return halves(Term("address", (POINTERS[offset // 8 * 8], 0), 64))[offset // 4 % 2]
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
        if base == "stack" and at + size > 0:
            raise Unsupported("a store to the caller's stack")
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
                t = binary("bvmul", self.general[GENERAL[name][0]], const(int(scale, 0), 64))
            elif part in GENERAL:
                t = self.general[GENERAL[part][0]]
            else:
                t = const(-int(part, 0) if sign == "-" else int(part, 0), 64)
            total = t if total is None else binary("bvadd", total, t)
        return total

    def push(self, t):
        self.general[RSP] = binary("bvsub", self.general[RSP], const(8, 64))
        self.store(self.general[RSP], halves(t))

    def pop(self):
        t = join(self.load(self.general[RSP], 64))
        self.general[RSP] = binary("bvadd", self.general[RSP], const(8, 64))
        return t

    # ---- operands

    def get(self, operand, next_at, bits=None):
        """A general register, memory or a constant."""
        kind = operand[0]
        if kind == "r":
            return extract(self.general[operand[1]], operand[2] - 1, 0)
        if kind == "i":
            return const(operand[1], bits)
        if kind == "m":
            return join(self.load(self.address(operand, next_at), operand[1] or bits))
        raise Unsupported(f"an operand {operand}")

    def both(self, first, second, next_at, bits):
        """Two operands: one term if they are the same, whose difference and equality are then known."""
        a = self.get(first, next_at, bits)
        return a, a if first == second else self.get(second, next_at, bits)

    def put(self, operand, t, next_at):
        if operand[0] == "m":
            self.store(self.address(operand, next_at), halves(t) if t.bits >= 32 else [t])
            return
        n, bits = operand[1], operand[2]
        if bits >= 32:
            self.general[n] = extend(t, 64, False)
        else:
            self.general[n] = concat(extract(self.general[n], 63, bits), t)

    def vector(self, operand, next_at, bits, element):
        """Elements of a vector operand."""
        if operand[0] == "v":
            return regroup(self.vectors[operand[1]][: bits // 32], element)
        if operand[0] != "m":
            raise Unsupported(f"an operand {operand}")
        if operand[3]:
            return regroup(self.load(self.address(operand, next_at), operand[1]) * operand[3], element)
        return regroup(self.load(self.address(operand, next_at), bits), element)

    def sources(self, operands, next_at, bits, element):
        """Elements of several vector operands: the same terms of the same operand, see `both`."""
        found = []
        for i, operand in enumerate(operands):
            same = operands.index(operand)
            found.append(found[same] if same < i else self.vector(operand, next_at, bits, element))
        return found

    def element(self, operand, next_at, bits):
        """A general register's low bits, memory, or the first element of a vector."""
        if operand[0] == "v":
            return extract(join(self.vectors[operand[1]][: max(1, bits // 32)]), bits - 1, 0)
        if operand[0] == "m":
            return join(self.load(self.address(operand, next_at), bits))
        return extract(self.get(operand, next_at), bits - 1, 0)

    def put_vector(self, operand, elements, mask, next_at):
        """Writes a result; a mask keeps or clears elements; the rest of a register is cleared."""
        size = sum(t.bits for t in elements)
        if mask:
            zero = const(0, elements[0].bits)
            old = [zero] * len(elements) if mask[2] else self.vector(operand, next_at, size, zero.bits)
            elements = [choose(*x) for x in zip(self.masks[mask[1]], elements, old)]
        dwords = regroup(elements, 32)
        if operand[0] == "m":
            self.store(self.address(operand, next_at), dwords)
        else:
            self.vectors[operand[1]] = dwords + [const(0, 32)] * (16 - len(dwords))

    def put_element(self, operand, t, next_at):
        """Writes memory or a general register, above t with zeros."""
        self.put(operand, extend(t, operand[2], False) if operand[0] == "r" else t, next_at)

    # ---- flags

    def forget_flags(self):
        self.flags = dict.fromkeys("coszp")

    def flag(self, name):
        if self.flags[name] is None:
            raise Unsupported("a flag that is not known")
        return self.flags[name]

    def set_result(self, t):
        self.flags["z"] = test("eq", t, const(0, t.bits))
        self.flags["s"] = top(t)
        self.flags["p"] = None

    def set_logic(self, t):
        self.set_result(t)
        self.flags["c"] = self.flags["o"] = const(0, 1)

    def set_sum(self, a, b, carry, subtract):
        """The sum or difference, and its flags."""
        op = "bvsub" if subtract else "bvadd"
        t = binary(op, a, b)
        if "address" in (a.op, b.op):
            if carry is not None:
                raise Unsupported("a carry into an address")
            self.forget_flags()
            return t
        n = a.bits
        if carry is None and subtract:
            self.flags["c"] = test("ult", a, b)
        else:
            wide = binary(op, extend(a, n + 1, False), extend(b, n + 1, False))
            if carry is not None:
                wide = binary(op, wide, extend(carry, n + 1, False))
                t = binary(op, t, extend(carry, n, False))
            self.flags["c"] = top(wide)
        self.set_result(t)
        differ = binary("bvxor", top(a), top(b))
        same = differ if subtract else invert(differ)
        self.flags["o"] = binary("bvand", same, binary("bvxor", top(a), top(t)))
        return t

    def condition(self, name):
        """A condition of Jcc, SETcc and CMOVcc."""
        if name not in CONDITIONS:
            raise Unsupported(f"condition {name}")
        n = CONDITIONS.index(name)
        found = [self.flag(x) for x in CONDITION_FLAGS[n // 2]]
        if name in ("l", "ge", "le", "g"):
            found[-2:] = [binary("bvxor", *found[-2:])]
        t = found[0] if len(found) == 1 else binary("bvor", *found)
        return invert(t) if n % 2 else t

    # ---- instructions

    def run(self):
        if self.region.refused:
            raise Unsupported(self.region.refused)
        self.push(self.symbol("HOST_RETURN", 64))
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
        if name == "call":
            raise Unsupported("a call of the runtime")
        if name == "nop":
            return after
        if name == "vzeroupper":
            for n in range(16):
                self.vectors[n] = self.vectors[n][:4] + [const(0, 32)] * 12
            return after
        if not args:
            raise Unsupported(name)
        if name[0] == "v":
            self.vector_instruction(name, args, mask, after)
        elif name[0] == "k":
            self.mask_instruction(name, args, after)
        else:
            self.general_instruction(name, args, after)
        return after

    def leave(self):
        back = self.pop()
        if back.op != "symbol" or back.args != ("HOST_RETURN",):
            raise Unsupported("a return to elsewhere")
        return None

    def jump(self, name, args, after):
        if args[0][0] != "i":
            raise Unsupported("an indirect jump")
        to = args[0][1] - self.region.base
        if name == "jmp":
            return to
        x = value_of(self.condition(name[1:]))
        if x is None:
            raise Unsupported("a branch on a symbol")
        return to if x else after

    def general_instruction(self, name, args, after):
        get, put = self.get, self.put
        if name == "push":
            self.push(get(args[0], after, 64))
            return
        if name == "pop":
            put(args[0], self.pop(), after)
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
            put(d, extract(self.address(args[1], after), bits - 1, 0), after)
        elif name in ("add", "sub", "cmp", "adc", "sbb"):
            carry = self.flag("c") if name in ("adc", "sbb") else None
            t = self.set_sum(get(d, after, bits), get(args[1], after, bits), carry, name in ("sub", "cmp", "sbb"))
            if name != "cmp":
                put(d, t, after)
        elif name in ("and", "or", "xor", "test"):
            a, b = self.both(d, args[1], after, bits)
            if name == "and" and a.op == "address" and b.op == "const" and d[1] == RSP and self.frame_size is None:
                # The stack pointer is aligned downwards once: what is behind it up to here is the frame.
                self.frame_size = min(at for base, at in self.memory if base == "stack") - a.args[1]
                self.forget_flags()
                put(d, Term("address", ("frame", 0), 64), after)
                return
            t = binary("bvand" if name == "test" else f"bv{name}", a, b)
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
            put(d, binary(SHIFTS[name[:3]], get(args[1], after), n), after)
        elif name in ("rol", "ror"):
            n = get(args[1], after, bits) if len(args) > 1 else const(1, bits)
            put(d, rotated(get(d, after), fit(n, bits), name == "rol"), after)
            self.flags["c"] = self.flags["o"] = None
        elif name == "imul":
            a, b = (get(d, after), get(args[1], after)) if len(args) == 2 else (get(args[1], after), get(args[2], after, bits))
            self.forget_flags()
            put(d, product("mul32", 32, a, b) if bits == 32 else vector_ir.wide_product(a, b), after)
        elif name in ("popcnt", "lzcnt", "tzcnt"):
            a = get(args[1], after)
            if name == "popcnt":
                t = vector_ir.ones(a)
                self.flags = dict.fromkeys("cosp", const(0, 1))
                self.flags["z"] = test("eq", a, const(0, bits))
            else:
                t = vector_ir.bits_of({"lzcnt": "clz", "tzcnt": "ctz"}[name], a)
                self.forget_flags()
                self.flags["c"] = test("eq", a, const(0, bits))
                self.flags["z"] = test("eq", t, const(0, bits))
            put(d, t, after)
        elif name.startswith("set"):
            put(d, extend(self.condition(name[3:]), 8, False), after)
        elif name.startswith("cmov"):
            # A 32-bit destination is extended also when the condition is false.
            c = self.condition(name[4:])
            a, b = get(args[1], after), get(d, after)
            put(d, choose(c, a, b), after)
        else:
            raise Unsupported(name)

    def shift(self, name, d, args, bits, after):
        """SHL, SHR, SAR: the count has 5 bits, 6 of 64-bit operands."""
        n = self.get(args[1], after, 8) if len(args) > 1 else const(1, 8)
        n = binary("bvand", extract(n, 7, 0), const(63 if bits == 64 else 31, 8))
        a = self.get(d, after, bits)
        t = binary(SHIFTS[name], a, fit(n, bits))
        count = value_of(n)
        if count is None:
            self.forget_flags()
        elif count:
            self.set_result(t)
            self.flags["o"] = None
            at = bits - count if name == "shl" else count - 1
            self.flags["c"] = extract(a, at, at) if 0 <= at < bits else None
        self.put(d, t, after)

    def mask_instruction(self, name, args, after):
        """KMOV, KAND, KANDN, KOR, KXOR"""
        n = ELEMENT[name[-1]]
        op = name[1:-1]
        if op == "mov":
            if args[1][0] == "k":
                bits = self.masks[args[1][1]][:n]
            else:
                t = self.element(args[1], after, n)
                bits = [extract(t, i, i) for i in range(n)]
            if args[0][0] == "k":
                self.put_mask(args[0], bits)
            else:
                self.put_element(args[0], join(bits), after)
            return
        if op not in LOGIC:
            raise Unsupported(name)
        a, b = (self.masks[x[1]][:n] for x in args[1:])
        self.put_mask(args[0], [LOGIC[op](p, q) for p, q in zip(a, b)])

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
        if name in ELEMENTS:
            element, f = ELEMENTS[name]
            a, b = self.sources(args[1:], after, size, element)
            self.put_vector(d, [f(p, q) for p, q in zip(a, b)], mask, after)
            return
        for pattern, method in self.PATTERNS:
            m = re.fullmatch(pattern, name)
            if m:
                getattr(self, method)(m, d, args, mask, size, after)
                return
        raise Unsupported(name)

    def compare(self, name, args, mask, after):
        """VPCMPD and the like, VPTESTMD, VPTESTNMD, VPMOVD2M: the destination is a mask."""
        m = re.fullmatch(r"vpmov([bwdq])2m", name)
        if m:
            self.put_mask(args[0], [top(p) for p in self.vector(args[1], after, args[1][2], ELEMENT[m.group(1)])])
            return
        test_bits = re.fullmatch(r"vptest(n?)m([bwdq])", name)
        m = test_bits or re.fullmatch(r"vpcmp(eq|gt|lt|le|neq|nlt|nle)(u?)([bwdq])", name)
        if not m:
            raise Unsupported(name)
        element = ELEMENT[name[-1]]
        a, b = self.sources(args[1:3], after, args[1][2], element)
        if test_bits:
            cond = "eq" if m.group(1) else "ne"
            found = [test(cond, binary("bvand", p, q), const(0, element)) for p, q in zip(a, b)]
        else:
            cond = PREDICATES[m.group(1)]
            cond = cond if cond in ("eq", "ne") else (m.group(2) or "s") + cond
            found = [test(cond, p, q) for p, q in zip(a, b)]
        self.put_mask(args[0], [binary("bvand", self.masks[mask[1]][i], t) if mask else t for i, t in enumerate(found)])

    # Instructions by PATTERNS; the parts of 128 bits are the manual's "lanes".

    def shift_all(self, m, d, args, mask, size, after):
        """PSLLW/PSLLD/PSLLQ, PSRL*, PSRA*: the count is a constant, or the low quadword of 128 bits."""
        op, element = SHIFTS[m.group(1)], ELEMENT[m.group(2)]
        if args[2][0] == "i":
            count = const(min(args[2][1] & 0xFF, element), element)
        else:
            c = self.vector(args[2], after, 128, 64)[0]
            count = choose(test("ugt", c, const(element, 64)), const(element, element), extract(c, element - 1, 0))
        self.put_vector(d, [binary(op, p, count) for p in self.vector(args[1], after, size, element)], mask, after)

    def move_low(self, m, d, args, mask, size, after):
        """MOVD, MOVQ; MOVSS and MOVSD between register and memory: a vector is cleared above."""
        if len(args) != 2 or mask:
            raise Unsupported(f"{m.group()} of registers")
        t = self.element(args[1], after, 32 if m.group(1) in ("d", "ss") else 64)
        if d[0] == "v":
            dwords = halves(t)
            self.put_vector(("v", d[1], 128), dwords + [const(0, 32)] * (4 - len(dwords)), None, after)
        else:
            self.put(d, t, after)

    def broadcast(self, m, d, args, mask, size, after):
        """VPBROADCASTB/VPBROADCASTW/VPBROADCASTD/VPBROADCASTQ, VBROADCASTSS, VBROADCASTSD"""
        element = ELEMENT.get(m.group(1)) or {"ss": 32, "sd": 64}[m.group(1)]
        self.put_vector(d, [self.element(args[1], after, element)] * (size // element), mask, after)

    def mask_to_vector(self, m, d, args, mask, size, after):
        """VPMOVM2B/VPMOVM2W/VPMOVM2D/VPMOVM2Q"""
        element = ELEMENT[m.group(1)]
        self.put_vector(d, [extend(p, element, True) for p in self.masks[args[1][1]][: size // element]], None, after)

    def ternary(self, m, d, args, mask, size, after):
        """VPTERNLOGD/VPTERNLOGQ: bit i of the result is bit (dest, src1, src2) of the immediate."""
        element = ELEMENT[m.group(1)]
        a, b, c = self.sources(args[:3], after, size, element)
        table = args[3][1] & 0xFF
        self.put_vector(d, [ternary_of(table, *x) for x in zip(a, b, c)], mask, after)

    def blend_by_mask(self, m, d, args, mask, size, after):
        """VPBLENDMB/VPBLENDMW/VPBLENDMD/VPBLENDMQ: the second source where the mask is set"""
        element = ELEMENT[m.group(1)]
        a, b = self.sources(args[1:3], after, size, element)
        if mask and not mask[2]:
            b, mask = [choose(*x) for x in zip(self.masks[mask[1]], b, a)], None
        self.put_vector(d, b, mask, after)

    def blend_by_vector(self, m, d, args, mask, size, after):
        """PBLENDVB, BLENDVPS, BLENDVPD: the second source where the sign of the third is set"""
        element = {"pblendvb": 8, "blendvps": 32, "blendvpd": 64}[m.group(1)]
        a, b, c = self.sources(args[1:4], after, size, element)
        self.put_vector(d, [choose(top(z), y, x) for x, y, z in zip(a, b, c)], None, after)

    def blend(self, m, d, args, mask, size, after):
        """VPBLENDD, BLENDPS, PBLENDW: the second source where the bit of the immediate is set"""
        element = 16 if m.group(1) == "pblendw" else 32
        a, b = self.sources(args[1:3], after, size, element)
        self.put_vector(d, [q if args[3][1] >> i % 8 & 1 else p for i, (p, q) in enumerate(zip(a, b))], None, after)

    def shuffle_bytes(self, m, d, args, mask, size, after):
        """PSHUFB: bytes of the same 128 bits by the low 4 bits of the index, 0 where its bit 7 is set"""
        self.put_vector(d, self.pick_bytes(*self.sources(args[1:3], after, size, 8), 8), mask, after)

    def shuffle_floats(self, m, d, args, mask, size, after):
        """SHUFPS: two dwords of the first source, two of the second, of the same 128 bits"""
        sources, imm = self.sources(args[1:3], after, size, 32), args[3][1]
        self.put_vector(d, [sources[i >> 1 & 1][of_four(imm, i)] for i in range(size // 32)], mask, after)

    def unpack(self, m, d, args, mask, size, after):
        """PUNPCKLBW ... PUNPCKHQDQ, UNPCKLPS: elements of both sources in turn, of each half of 128 bits"""
        element = {"bw": 8, "wd": 16, "dq": 32, "qdq": 64}[m.group(2)]
        a, b = self.sources(args[1:3], after, size, element)
        per, out = 128 // element, []
        for part in range(0, len(a), per):
            start = part + (per // 2 if m.group(1) == "h" else 0)
            for i in range(start, start + per // 2):
                out += [a[i], b[i]]
        self.put_vector(d, out, mask, after)

    def sign_bits(self, m, d, args, mask, size, after):
        """MOVMSKPS, MOVMSKPD, PMOVMSKB"""
        element = {"movmskps": 32, "movmskpd": 64, "pmovmskb": 8}[m.group(1)]
        x = self.vector(args[1], after, args[1][2], element)
        self.put_element(d, join([top(p) for p in x]), after)

    PATTERNS = [
        (r"vp(sll|srl|sra)([wdq])", "shift_all"),
        (r"vmov(d|q|ss|sd)", "move_low"),
        (r"vp?broadcast(b|w|d|q|ss|sd)", "broadcast"),
        (r"vpmovm2([bwdq])", "mask_to_vector"),
        (r"vpternlog([dq])", "ternary"),
        (r"vpblendm([bwdq])", "blend_by_mask"),
        (r"v(pblendvb|blendvps|blendvpd)", "blend_by_vector"),
        (r"v(pblendd|blendps|pblendw)", "blend"),
        (r"vpshufb", "shuffle_bytes"),
        (r"vshufps", "shuffle_floats"),
        (r"vpunpck([lh])(bw|wd|dq|qdq)", "unpack"),
        (r"v(movmskps|movmskpd|pmovmskb)", "sign_bits"),
    ]


def of_four(imm, i):
    """The place from which a shuffle of four elements by two bits each takes element i."""
    return i & ~3 | imm >> i % 4 * 2 & 3


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
