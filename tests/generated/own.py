"""Programs of many lanes, in the manner of YARPGen: loops over arrays with many conditionals, integers of all sizes, bit
fields, vectors, floats, LDS with barriers and atomics. One text is OpenCL C for the GPU and C for the host.

No operation is undefined: arithmetic wraps (-fwrapv), shifts and indices are masked, divisors are odd. Floats are as IEEE 754
has them on both sides: nothing is contracted, variables stay in a range without denormals, and only integers made of floats
are stored.

A program is a sequence of phases with barriers between them, each a function of one work-item. In a phase an array in LDS is
read by all or has a slot for each work-item, and a counter is read or changed by one kind of atomic operation.
"""

import random
import struct

from program import Program

INTS = {"char": (8, True), "uchar": (8, False), "short": (16, True), "ushort": (16, False),
        "int": (32, True), "uint": (32, False), "long": (64, True), "ulong": (64, False)}
UNSIGNED = {8: "uchar", 16: "ushort", 32: "uint", 64: "ulong"}
FLOATS = ["float", "float", "float", "double", "double", "half"]
VECTORS = {"char4": ("char", 4), "uchar4": ("uchar", 4), "short2": ("short", 2), "ushort2": ("ushort", 2),
           "short4": ("short", 4), "ushort4": ("ushort", 4), "int4": ("int", 4), "uint4": ("uint", 4),
           "int2": ("int", 2), "uint2": ("uint", 2), "long2": ("long", 2), "ulong2": ("ulong", 2)}
INPUT_WORDS = 1024
SLOTS = 8
COUNTERS = 16
SPECIAL = [0, 1, 2, 3, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF]


class Generator:
    """Writes one program."""

    def __init__(self, seed):
        self.chance = random.Random(f"own {seed}")
        chance = self.chance
        self.workgroup = chance.choice([64, 64, 128, 100, 192, 33])
        self.groups = chance.choice([1, 2, 3])
        self.scalars = {f"x{n}": chance.choice(list(INTS)) for n in range(chance.randint(4, 9))}
        self.floats = {f"f{n}": chance.choice(FLOATS) for n in range(chance.randint(0, 3))}
        self.vectors = {f"w{n}": chance.choice(list(VECTORS)) for n in range(chance.randint(0, 3))}
        # By name: type, length as a power of two.
        self.arrays = {f"a{n}": (chance.choice(list(INTS)), chance.choice([2, 4, 8, 16])) for n in range(chance.randint(0, 2))}
        # By name of an array of structures: fields with type and bits (0: no bit field), length.
        self.structs = {f"s{n}": (self.fields(), chance.choice([1, 2, 4])) for n in range(chance.randint(0, 2))}
        self.lds = {f"l{n}": chance.choice(list(INTS)) for n in range(chance.randint(0, 3))}
        self.counters = {f"c{n}": chance.choice(["uint", "int", "ulong"]) for n in range(chance.randint(0, 2))}
        self.global_atomic = chance.choice(["add", "xor", "max", "min", "or", "sub"])
        self.helpers = []
        self.modes = {}
        self.indices = []
        self.fresh = 0
        self.lines = []
        self.in_loop = 0
        self.budget = 0
        self.pure = None

    def fields(self):
        fields = {}
        for number in range(self.chance.randint(2, 6)):
            kind = self.chance.choice(list(INTS))
            bits = INTS[kind][0]
            fields[f"m{number}"] = (kind, self.chance.randint(1, bits - 1) if self.chance.random() < 0.4 else 0)
        return fields

    def one_of(self, *choices):
        """One of the pairs (weight, value)."""
        return self.chance.choices([value for _, value in choices], [weight for weight, _ in choices])[0]

    # ---- expressions

    def literal(self, kind):
        bits, signed = INTS[kind]
        value = self.one_of((3, self.chance.randint(0, 9)), (2, self.chance.choice(SPECIAL)), (2, self.chance.getrandbits(bits)))
        value &= (1 << bits) - 1
        return f"({kind}){value}{'ul' if bits == 64 else 'u'}" if not signed or value >= 1 << (bits - 1) else f"({kind}){value}"

    def index(self, length, depth=1):
        """An index of an array whose length is a power of two."""
        if self.indices and self.chance.random() < 0.5:
            return f"({self.chance.choice(self.indices)} & {length - 1})"
        return f"({self.expression('uint', depth)} & {length - 1}u)"

    def leaf(self, kind):
        if self.pure is not None:
            choices = [(4, name) for name in self.pure] + [(1, self.literal(kind))]
            choices += [(1, name) for name in self.indices]
            return f"({kind}){self.one_of(*choices)}"
        choices = [(3, name) for name in self.scalars]
        choices += [(2, "lid"), (1, "group"), (3, self.literal(kind))]
        choices += [(3, name) for name in self.indices]
        for name, (_, length) in self.arrays.items():
            choices.append((3, lambda name=name, length=length: f"{name}[{self.index(length, 0)}]"))
        for name, (fields, length) in self.structs.items():
            field = self.chance.choice(list(fields))
            choices.append((3, lambda name=name, length=length, field=field: f"{name}[{self.index(length, 0)}].{field}"))
        for name in self.lds:
            if self.modes.get(name) == "read":
                choices.append((4, lambda name=name: f"{name}[{self.expression('uint', 0)} % {self.workgroup}u]"))
            elif self.modes.get(name) == "own":
                choices.append((2, f"{name}[lid]"))
        for name in self.counters:
            if self.modes.get(name) == "read":
                choices.append((2, lambda name=name: f"{name}[{self.index(COUNTERS, 0)}]"))
        for name, vector in self.vectors.items():
            count = VECTORS[vector][1]
            choices.append((2, f"{name}.s{self.chance.randrange(count)}"))
            choices.append((0.7, lambda name=name, count=count: f"{name}[{self.index(count, 0)}]"))
        choices.append((2, lambda: f"in[({self.chance.choice(['lid', 'lid * 3u', 'lid + 64u * group', 'group'])} + "
                                   f"{self.expression('uint', 0)}) & {INPUT_WORDS - 1}u]"))
        choices.append((1, lambda: f"out[{self.index(SLOTS, 0)}]"))
        chosen = self.one_of(*choices)
        return f"({kind}){chosen if isinstance(chosen, str) else chosen()}"

    def condition(self, depth):
        kind = self.chance.choice(list(INTS))
        form = self.chance.random()
        if depth > 0 and form < 0.2:
            return f"({self.condition(depth - 1)} {self.chance.choice(['&&', '||'])} {self.condition(depth - 1)})"
        if form < 0.3:
            lane = "lid" if self.pure is None else "(uint)p0"
            return f"!{self.condition(depth - 1)}" if depth > 0 else f"({lane} & {self.chance.choice([1, 2, 4, 8, 16, 32])}u)"
        if form < 0.4 and self.pure is None:
            float_kind = self.chance.choice(FLOATS)
            return (f"({self.float_expression(float_kind, depth - 1)} {self.chance.choice(['<', '<=', '>', '>=', '==', '!='])} "
                    f"{self.float_expression(float_kind, depth - 1)})")
        return (f"({self.expression(kind, depth - 1)} {self.chance.choice(['<', '<=', '>', '>=', '==', '!='])} "
                f"{self.expression(kind, depth - 1)})")

    def expression(self, kind, depth):
        if depth <= 0 or self.chance.random() < 0.12:
            return f"({self.leaf(kind)})"
        operand = kind if self.chance.random() < 0.6 else self.chance.choice(list(INTS))
        bits, signed = INTS[operand]
        form = self.one_of((10, "simple"), (5, "shift"), (2, "divide"), (3, "constant"), (4, "bits"), (3, "two"), (4, "choose"),
                           (3, "compare"), (3, "count"), (2, "saturate"), (2, "extreme"), (2, "wide"), (3, "three"), (2, "float"),
                           (1.5, "call"))
        a = self.expression(operand, depth - 1)
        if form == "simple":
            return f"({kind})({a} {self.chance.choice(['+', '-', '*', '&', '|', '^', '+', '-'])} {self.expression(operand, depth - 1)})"
        if form == "shift":
            by = f"({self.expression('uint', depth - 2)} & {bits - 1}u)" if self.chance.random() < 0.5 else str(self.chance.randrange(bits))
            return f"({kind})(({operand})({a} {self.chance.choice(['<<', '>>'])} {by}))"
        if form == "divide":
            other = self.expression(operand, depth - 1)
            if signed:
                a = f"({operand})({a} >> 1)"
            elif bits >= 32 and self.chance.random() < 0.5:
                a, other = f"opaque_{operand}({a})", f"opaque_{operand}({other})"
            elif bits >= 32:
                mask = f"0x{(1 << (bits - 1)) - 1:x}ul"
                a, other = f"({operand})({a} & {mask})", f"({operand})({other} & {mask})"
            return f"({kind})({a} {self.chance.choice(['/', '%'])} ({operand})({other} | 1))"
        if form == "constant":
            divisor = self.chance.choice([3, 5, 7, 10, 16, 25, 100, self.chance.randint(2, 127)])
            operator = self.chance.choice(["/", "%", "*"])
            if not signed and bits >= 32 and operator != "*":
                a = f"opaque_{operand}({a})"
            return f"({kind})({a} {operator} {divisor})"
        if form == "bits":
            low = self.chance.randrange(bits)
            width = self.chance.randint(1, bits - low)
            mask = (1 << width) - 1
            return self.one_of(
                (2, f"({kind})(({a} >> {low}) & {mask}ul)"),
                (1, f"({kind})(({operand})({a} << {low}) >> {bits - width})"),
                (1, f"({kind})(({a} & {mask}ul) << {low})"),
                (1, f"({kind})({a} & ~((({operand}){mask}ul) << {low}))"))
        if form == "two":
            b = self.expression(operand, depth - 1)
            mask = self.literal(operand)
            return self.one_of(
                (1, f"({kind})(({mask} & {a}) | (~{mask} & {b}))"),
                (1, f"({kind})(({a} << {self.chance.randrange(1, 5)}) + {b})"),
                (1, f"({kind})({a} > {b} ? {a} - {b} : {b} - {a})"),
                (1, f"({kind})opaque_uint(((uint){a} & 0xffffffu) * ((uint){b} & 0xffffffu))"),
                (1, f"({kind})((uint)((((ulong)(uint){a} << 32) | (uint){b}) >> {self.chance.randrange(32)}))"),
                (1, f"({kind})((((uint){a} & 0xffu) << 8) | ((uint){b} & 0xff0000ffu))"))
        if form == "choose":
            return f"({kind})({self.condition(depth - 1)} ? {a} : {self.expression(operand, depth - 1)})"
        if form == "compare":
            return f"({kind}){self.condition(depth - 1)}"
        if form == "count":
            return self.one_of(
                (1, f"({kind})__builtin_popcountl((ulong){a})"), (1, f"({kind})__builtin_popcount((uint){a})"),
                (1, f"({kind})__builtin_clz((uint){a} | 1u)"), (1, f"({kind})__builtin_ctz((uint){a} | 0x80000000u)"),
                (1, f"({kind})__builtin_clzl((ulong){a} | 1ul)"), (1, f"({kind})__builtin_ctzl((ulong){a} | 0x8000000000000000ul)"),
                (1, f"({kind})__builtin_bitreverse32((uint){a})"), (1, f"({kind})__builtin_bitreverse64((ulong){a})"),
                (1, f"({kind})__builtin_bswap32((uint){a})"), (1, f"({kind})__builtin_bswap64((ulong){a})"))
        if form in ("saturate", "extreme"):
            names = ["add_sat", "sub_sat"] if form == "saturate" else ["min", "max"]
            b = self.expression(operand, depth - 1)
            return f"({kind})__builtin_elementwise_{self.chance.choice(names)}(({operand}){a}, ({operand}){b})"
        if form == "wide":
            b = self.expression(operand, depth - 1)
            return self.one_of((1, f"({kind})(((ulong)(uint){a} * (ulong)(uint){b}) >> 32)"),
                               (1, f"({kind})(((long)(int){a} * (long)(int){b}) >> {self.chance.choice([1, 16, 31, 32])})"),
                               (1, f"({kind})((ulong)(uint){a} * (uint){b} + (ulong){self.expression('ulong', depth - 1)})"))
        if form == "three":
            b, c = self.expression(operand, depth - 1), self.expression(operand, depth - 2)
            first, second = self.chance.choice(["+ +", "| |", "^ ^", "& |", "* +", "+ -", "^ +", "* -", "+ &"]).split()
            return f"({kind})(({a} {first} {b}) {second} {c})"
        if form == "float" and self.pure is None:
            float_kind = self.chance.choice(FLOATS)
            names = {"float": ["int_of_float", "long_of_float", "uint_of_float"],
                     "double": ["int_of_double", "long_of_double", "ulong_of_double"], "half": ["int_of_half"]}
            return f"({kind}){self.chance.choice(names[float_kind])}({self.float_expression(float_kind, min(depth - 1, 2))})"
        if form == "call" and self.helpers and self.pure is None:
            name, kinds = self.chance.choice(self.helpers)
            return f"({kind}){name}({', '.join(self.expression(of, depth - 2) for of in kinds)})"
        return f"({kind})({a} ^ {self.expression(operand, depth - 1)})"

    def float_expression(self, kind, depth):
        suffix = "f" if kind == "float" else ""
        if depth <= 0 or self.chance.random() < 0.2:
            variables = [(4, name) for name, of in self.floats.items() if of == kind]
            if kind == "half":
                return self.one_of((2, f"(half)(int)({self.expression('int', 0)} & {self.chance.choice([7, 127])})"),
                                   (1, f"(half){self.chance.choice(['0.5f', '1.0f', '-2.25f', '3.0f'])}"), *variables)
            integer = self.chance.choice(["int", "uint", "short", "uchar", "long", "ulong"])
            whole = f"({kind})({integer})({self.expression(integer, 0)} & {self.chance.choice([15, 1023, 65535])})"
            return self.one_of((2, whole), (1, f"({kind}){self.chance.randint(-9, 9)}.{self.chance.choice(['0', '25', '5', '1'])}{suffix}"),
                               *variables)
        a = self.float_expression(kind, depth - 1)
        form = self.one_of((8, "simple"), (2, "convert"), (2, "choose"), (2, "negate"), *([] if kind == "half" else [
            (2, "fma"), (1.5, "divide"), (2, "round"), (0.7, "root"), (1, "scale"), (1, "extreme")]))
        if form == "simple":
            return f"({a} {self.chance.choice(['+', '-', '*'])} {self.float_expression(kind, depth - 1)})"
        if form == "convert":
            other = self.chance.choice([of for of in ["float", "double", "half"] if of != kind and not (kind == "half" and of == "double")])
            return f"({kind})({self.float_expression(other, depth - 1)})"
        if form == "choose":
            return f"({self.condition(0)} ? {a} : {self.float_expression(kind, depth - 1)})"
        if form == "negate":
            return f"(-{a})"
        if form == "fma":
            return f"__builtin_fma{suffix}({a}, {self.float_expression(kind, depth - 1)}, {self.float_expression(kind, depth - 2)})"
        if form == "divide":
            return f"({a} / {self.float_expression(kind, depth - 1)})"
        if form == "round":
            return f"__builtin_{self.chance.choice(['floor', 'ceil', 'trunc', 'rint'])}{suffix}({a})"
        if form == "root":
            return f"__builtin_sqrt{suffix}(__builtin_fabs{suffix}({a}))"
        if form == "scale":
            return f"__builtin_ldexp{suffix}({a}, (int)({self.expression('int', 0)} & 7) - 3)"
        return f"__builtin_f{self.chance.choice(['min', 'max'])}{suffix}({a}, {self.float_expression(kind, depth - 1)})"

    def vector_expression(self, kind, depth):
        element, count = VECTORS[kind]
        bits, _ = INTS[element]
        if depth <= 0 or self.chance.random() < 0.15:
            same = [(3, name) for name, of in self.vectors.items() if of == kind]
            like = [(2, f"__builtin_convertvector({name}, {kind})") for name, of in self.vectors.items() if VECTORS[of][1] == count and of != kind]
            parts = ", ".join(self.expression(element, 0) for _ in range(count))
            return self.one_of((1, f"({kind}){{{parts}}}"), *same, *like)
        a, b = self.vector_expression(kind, depth - 1), self.vector_expression(kind, depth - 1)
        swizzle = "".join(str(self.chance.randrange(count)) for _ in range(count))
        return self.one_of(
            (6, f"({a} {self.chance.choice(['+', '-', '*', '&', '|', '^'])} {b})"),
            (1, f"({a} {self.chance.choice(['<<', '>>'])} ({b} & ({element}){bits - 1}))"),
            (1, f"(__builtin_convertvector({a} {self.chance.choice(['<', '>', '==', '!=', '<='])} {b}, {kind}) & {self.vector_expression(kind, depth - 2)})"),
            (2, f"__builtin_elementwise_{self.chance.choice(['min', 'max', 'add_sat', 'sub_sat'])}(({kind}){a}, ({kind}){b})"),
            (1, f"({a}).s{swizzle}"), (0.5, f"(~{a})"))

    # ---- statements

    def line(self, text):
        self.lines.append("    " * (1 + self.in_loop_depth()) + text)

    def in_loop_depth(self):
        return self.nesting

    def statements(self, count):
        for _ in range(count):
            if self.budget <= 0:
                return
            self.budget -= 1
            self.statement()

    def block(self, count):
        self.nesting += 1
        self.statements(count)
        self.nesting -= 1

    def statement(self):
        chance = self.chance
        simple = [(8, "scalar"), (2 if self.arrays else 0, "array"), (3 if self.structs else 0, "struct"),
                  (3 if self.vectors else 0, "vector"), (2 if self.floats else 0, "float"), (1, "out"),
                  (3 if any(self.modes.get(name) == "own" for name in self.lds) else 0, "lds"),
                  (2, "atomic")]
        nested = [(5, "if"), (4, "for"), (2, "while"), (2, "switch"), (0.3, "leave")]
        if self.in_loop:
            nested.append((1.5, "break"))
        kind = self.one_of(*simple, *(nested if self.nesting < 3 else []))
        depth = chance.randint(1, 3)
        if kind == "scalar":
            name, of = chance.choice(list(self.scalars.items()))
            operator = chance.choice(["=", "=", "=", "+=", "-=", "^=", "|=", "&=", "*="])
            self.line(f"{name} {operator} {self.expression(of, depth)};")
        elif kind == "array":
            name, (of, length) = chance.choice(list(self.arrays.items()))
            self.line(f"{name}[{self.index(length)}] {chance.choice(['=', '+=', '^='])} {self.expression(of, depth)};")
        elif kind == "struct":
            name, (fields, length) = chance.choice(list(self.structs.items()))
            field = chance.choice(list(fields))
            self.line(f"{name}[{self.index(length)}].{field} {chance.choice(['=', '+=', '^='])} {self.expression(fields[field][0], depth)};")
        elif kind == "vector":
            name, of = chance.choice(list(self.vectors.items()))
            element, count = VECTORS[of]
            self.line(self.one_of((4, f"{name} = {self.vector_expression(of, 2)};"),
                                  (1, f"{name}.s{chance.randrange(count)} = {self.expression(element, depth)};"),
                                  (1, f"{name}[{self.index(count, 0)}] = {self.expression(element, depth)};")))
        elif kind == "float":
            name, of = chance.choice(list(self.floats.items()))
            self.line(f"{name} = kept_{of}({self.float_expression(of, 2)});")
        elif kind == "out":
            self.line(f"out[{self.index(SLOTS)}] {chance.choice(['=', '+=', '^='])} {self.expression('ulong', depth)};")
        elif kind == "lds":
            name = chance.choice([name for name in self.lds if self.modes.get(name) == "own"])
            self.line(f"{name}[lid] {chance.choice(['=', '+=', '^='])} {self.expression(self.lds[name], depth)};")
        elif kind == "atomic":
            counters = [(name, self.modes[name]) for name in self.counters if self.modes.get(name, "read") != "read"]
            if counters and chance.random() < 0.8:
                name, operation = chance.choice(counters)
                self.line(f"__atomic_fetch_{operation}(&{name}[{self.index(COUNTERS)}], {self.expression(self.counters[name], depth)}, __ATOMIC_RELAXED);")
            else:
                self.line(f"__atomic_fetch_{self.global_atomic}(&acc[{self.index(COUNTERS)}], {self.expression('uint', depth)}, __ATOMIC_RELAXED);")
        elif kind == "if":
            self.line(f"if ({self.condition(2)}) {{")
            self.block(chance.randint(1, 4))
            if chance.random() < 0.4:
                self.line("} else {")
                self.block(chance.randint(1, 3))
            self.line("}")
        elif kind == "for":
            name = f"i{self.fresh}"
            self.fresh += 1
            bound = str(chance.randint(2, 8)) if chance.random() < 0.6 else f"({self.expression('uint', 1)} & {chance.choice([3, 7])}u)"
            if not bound.isdigit():
                self.line(f"uint {name}_end = {bound};")
                bound = f"{name}_end"
            step = chance.choice(["++", "++", " += 2"])
            self.line(f"for (uint {name} = 0; {name} < {bound}; {name}{step}) {{")
            self.indices.append(name)
            self.in_loop += 1
            self.block(chance.randint(1, 4))
            self.in_loop -= 1
            self.indices.remove(name)
            self.line("}")
        elif kind == "while":
            name = f"i{self.fresh}"
            self.fresh += 1
            limit, test = chance.randint(3, 12), self.condition(1)
            post = chance.random() < 0.5
            self.line(f"uint {name} = 0;")
            self.line("do {" if post else f"while ({name} < {limit}u && {test}) {{")
            self.indices.append(name)
            self.in_loop += 1
            self.nesting += 1
            self.line(f"{name}++;")
            self.nesting -= 1
            self.block(chance.randint(1, 3))
            self.in_loop -= 1
            self.line(f"}} while ({name} < {limit}u && {test});" if post else "}")
            self.indices.remove(name)
        elif kind == "switch":
            of = chance.choice(["int", "uint", "long", "uchar"])
            mask = chance.choice([3, 7, 15])
            self.line(f"switch ({self.expression(of, 2)} & {mask}) {{")
            before, self.in_loop = self.in_loop, 0
            for value in chance.sample(range(mask + 1), chance.randint(2, min(mask + 1, 6))):
                self.line(f"case {value}:")
                self.block(chance.randint(1, 2))
                if chance.random() < 0.75:
                    self.line("    break;")
            if chance.random() < 0.6:
                self.line("default:")
                self.block(1)
                self.line("    break;")
            else:
                self.line("default:;")
            self.in_loop = before
            self.line("}")
        elif kind == "break":
            self.line(f"if ({self.condition(1)}) {chance.choice(['break', 'continue'])};")
        else:
            self.line(f"if ({self.condition(1)}) goto done;")

    # ---- the program

    def helper(self, number):
        """A function without side effects, called or inlined as the compiler likes, or never inlined."""
        kinds = [self.chance.choice(list(INTS)) for _ in range(self.chance.randint(1, 3))]
        result = self.chance.choice(list(INTS))
        names = [f"p{n}" for n in range(len(kinds))]
        self.pure, self.indices = names, []
        how = self.chance.choice(["CALLED", "CALLED", "INLINE"])
        text = [f"{how} {result} helper{number}({', '.join(f'{of} {name}' for of, name in zip(kinds, names))})", "{"]
        text.append(f"    {result} r = {self.expression(result, 2)};")
        if self.chance.random() < 0.6:
            self.indices = ["i"]
            self.pure = names + ["r"]
            text.append(f"    for (uint i = 0; i < ((uint)p0 & 7u); i++) {{")
            text.append(f"        if ({self.condition(1)}) r {self.chance.choice(['+=', '^=', '-='])} {self.expression(result, 2)};")
            if self.chance.random() < 0.4:
                text.append(f"        if ({self.condition(1)}) return r;")
            text.append("    }")
            self.indices = []
        text += [f"    return r ^ {self.expression(result, 1)};", "}", ""]
        self.pure, self.indices = None, []
        self.helpers.append((f"helper{number}", kinds))
        return text

    def parameters(self):
        """Of a phase: declaration, and what the kernel and the host's loop pass."""
        names = [("struct scalars *p", "&p", "&p[lid]")]
        names += [(f"{of} *{name}", name, f"{name}[lid]") for name, (of, _) in self.arrays.items()]
        names += [(f"struct {name} *{name}", name, f"{name}[lid]") for name in self.structs]
        names += [(f"LOCAL {of} *{name}", name, name) for name, of in {**self.lds, **self.counters}.items()]
        slot = f"out + {SLOTS}u * (group * {self.workgroup}u + lid)"
        names += [("GLOBAL const uint *in", "in", "in"), ("GLOBAL ulong *out", slot, slot),
                  ("GLOBAL uint *acc", "acc", "acc"), ("uint lid", "lid", "lid"), ("uint group", "group", "group")]
        return names

    def phase(self, name, body):
        variables = {**self.scalars, **self.floats, **self.vectors}
        text = [f"PHASE {name}({', '.join(declaration for declaration, _, _ in self.parameters())})", "{"]
        text += [f"    {of} {variable} = p->{variable};" for variable, of in variables.items()]
        return text + body + ["done:;"] + [f"    p->{variable} = {variable};" for variable in variables] + ["}", ""]

    def first_phase(self):
        text = []
        for number, (name, of) in enumerate(self.scalars.items()):
            text.append(f"    {name} = ({of})(in[(lid * {number * 2 + 1}u + group + {number * 37}u) & {INPUT_WORDS - 1}u]"
                        + (f" * 0x9e3779b97f4a7c15ul >> {self.chance.randrange(32)});" if INTS[of][0] == 64 else ");"))
        for name, of in self.floats.items():
            text.append(f"    {name} = kept_{of}(({of})(int)(in[(lid + {self.chance.randrange(999)}u) & {INPUT_WORDS - 1}u] & 1023u) - ({of})400.0f);")
        for name, of in self.vectors.items():
            element, count = VECTORS[of]
            parts = ", ".join(f"({element})in[(lid + {self.chance.randrange(999)}u) & {INPUT_WORDS - 1}u]" for _ in range(count))
            text.append(f"    {name} = ({of}){{{parts}}};")
        for name, (of, length) in self.arrays.items():
            text.append(f"    for (uint i = 0; i < {length}; i++) {name}[i] = ({of})in[(lid + i * 5u) & {INPUT_WORDS - 1}u];")
        for name, (fields, length) in self.structs.items():
            sets = " ".join(f"{name}[i].{field} = ({of})in[(lid * 7u + i + {number}u) & {INPUT_WORDS - 1}u];"
                            for number, (field, (of, _)) in enumerate(fields.items()))
            text.append(f"    for (uint i = 0; i < {length}; i++) {{ {sets} }}")
        for name, of in self.lds.items():
            text.append(f"    {name}[lid] = ({of})(in[(lid + 99u) & {INPUT_WORDS - 1}u] + group);")
        for name, of in self.counters.items():
            text.append(f"    if (lid < {COUNTERS}u) {name}[lid] = ({of})lid;")
        return self.phase("first", text)

    def last_phase(self):
        """All that a work-item has goes to its slots of the output."""
        text, slot = [], 0

        def store(value):
            nonlocal slot
            text.append(f"    out[{slot % SLOTS}] = (out[{slot % SLOTS}] ^ (ulong)({value})) * 0x100000001b3ul;")
            slot += 1

        for name in self.scalars:
            store(name)
        for name, of in self.floats.items():
            store(f"int_of_{of}({name} * ({of})8.0f)")
        for name, of in self.vectors.items():
            for element in range(VECTORS[of][1]):
                store(f"{name}.s{element}")
        for name, (of, length) in self.arrays.items():
            text.append(f"    for (uint i = 0; i < {length}; i++)")
            store(f"{name}[i]")
        for name, (fields, length) in self.structs.items():
            for field in fields:
                text.append(f"    for (uint i = 0; i < {length}; i++)")
                store(f"{name}[i].{field}")
        for name in self.lds:
            store(f"{name}[(lid * 5u + 1u) % {self.workgroup}u]")
        for name in self.counters:
            text.append(f"    for (uint i = 0; i < {COUNTERS}u; i++)")
            store(f"{name}[i]")
        return self.phase("last", text)

    def program(self):
        chance = self.chance
        text = ['#include "own.h"', ""]
        for name, (fields, _) in self.structs.items():
            text.append(f"struct {name} {{")
            text += [f"    {of} {field}{f' : {bits}' if bits else ''};" for field, (of, bits) in fields.items()]
            text += ["};", ""]
        variables = {**self.scalars, **self.floats, **self.vectors}
        text += ["struct scalars {", *[f"    {of} {name};" for name, of in variables.items()], "};", ""]
        for number in range(chance.randint(0, 3)):
            text += self.helper(number)
        text += self.first_phase()
        phases = ["first"]
        for number in range(chance.randint(1, 3)):
            for name in self.lds:
                self.modes[name] = chance.choice(["own", "read"])
            for name in self.counters:
                self.modes[name] = chance.choice(["read", "add", "sub", "xor", "or", "and", "max", "min"])
            self.lines, self.nesting, self.in_loop, self.indices = [], 0, 0, []
            self.budget = chance.randint(8, 30)
            self.statements(chance.randint(4, 12))
            text += self.phase(f"phase{number}", self.lines)
            phases.append(f"phase{number}")
        text += self.last_phase()
        phases.append("last")

        parameters = self.parameters()
        lds = [(of, name, self.workgroup) for name, of in self.lds.items()] + [(of, name, COUNTERS) for name, of in self.counters.items()]
        private = [(of, name, length) for name, (of, length) in self.arrays.items()]
        private += [(f"struct {name}", name, length) for name, (_, length) in self.structs.items()]
        text += ["#ifdef __AMDGCN__",
                 f"kernel __attribute__((reqd_work_group_size({self.workgroup}, 1, 1)))",
                 "void entry(GLOBAL const uint *in, GLOBAL ulong *out, GLOBAL uint *acc)", "{"]
        text += [f"    LOCAL {of} {name}[{length}];" for of, name, length in lds]
        text += [f"    {of} {name}[{length}];" for of, name, length in private]
        text += ["    struct scalars p;", "    uint lid = __builtin_amdgcn_workitem_id_x(), group = __builtin_amdgcn_workgroup_id_x();"]
        for phase in phases:
            text.append(f"    {phase}({', '.join(device for _, device, _ in parameters)});")
            if phase != "last":
                text.append("    BARRIER();")
        items = self.workgroup * self.groups
        text += ["}", "#else", f"static uint in[{INPUT_WORDS}], acc[{COUNTERS}];", f"static ulong out[{items * SLOTS}];",
                 "int main(int count, char **arguments)", "{"]
        text += [f"    static {of} {name}[{length}];" for of, name, length in lds]
        text += [f"    static {of} {name}[{self.workgroup}][{length}];" for of, name, length in private]
        text += [f"    static struct scalars p[{self.workgroup}];", "    read_file(arguments[1], in, sizeof in);",
                 f"    for (uint group = 0; group < {self.groups}; group++) {{"]
        for phase in phases:
            text.append(f"        for (uint lid = 0; lid < {self.workgroup}; lid++)")
            text.append(f"            {phase}({', '.join(host for _, _, host in parameters)});")
        text += ["    }", "    write_file(arguments[2], out, sizeof out);", "    write_file(arguments[3], acc, sizeof acc);", "}", "#endif", ""]
        return "\n".join(text)


def generate(seed, folder):
    """The program of this seed, its source and input in `folder`."""
    generator = Generator(seed)
    source = folder / f"own{seed}.c"
    source.write_text(generator.program())
    chance = random.Random(f"own input {seed}")
    words = [chance.choice(SPECIAL) if chance.random() < 0.2 else chance.getrandbits(chance.choice([4, 8, 16, 32])) for _ in range(INPUT_WORDS)]
    name = f"own{seed}.in.bin"
    (folder / name).write_bytes(struct.pack(f"<{INPUT_WORDS}I", *words))
    items = generator.workgroup * generator.groups
    common = ["-ffp-contract=off", "-fwrapv"]
    return Program(
        kind="own", seed=seed, source=source, note=f"{generator.groups} workgroups of {generator.workgroup}", kernel="entry",
        grid=items, workgroup=generator.workgroup, buffers={"out": items * SLOTS * 2, "acc": COUNTERS}, inputs={"in": name},
        arguments=["@in", "@out", "@acc"],
        flags=["-x", "cl", "-cl-std=CL1.2", "-cl-fp32-correctly-rounded-divide-sqrt", *common],
        host_flags=["-std=gnu11", "-Xclang", "-ffloat16-excess-precision=none", *common])
