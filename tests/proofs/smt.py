"""The SMT-LIB definitions in `meaning/`: reading, signatures, and evaluation on integers."""

import re
from functools import lru_cache
from pathlib import Path

FILES = ["base", "salu", "valu", "compare", "packed", "forms", "lane_ir", "vector_ir"]


class Function:
    """A `define-fun`: parameters as (name, bits), bits of the result, body, and the source text."""

    def __init__(self, name, params, bits, body):
        self.name, self.params, self.bits, self.body = name, params, bits, body
        self.uses = {word for word in words_of(body)}


def tokens(text):
    """Words and parentheses of SMT-LIB text."""
    return re.findall(r"[()]|[^\s()]+", re.sub(r";.*", "", text))


def expressions(text):
    """S-expressions as nested lists."""
    stack = [[]]
    for token in tokens(text):
        if token == "(":
            stack.append([])
        elif token == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    if len(stack) != 1:
        raise ValueError("parentheses do not match")
    return stack[0]


def written(expression):
    """An s-expression as text."""
    if isinstance(expression, list):
        return "(" + " ".join(written(part) for part in expression) + ")"
    return expression


def words_of(expression):
    """All words of an s-expression."""
    if isinstance(expression, list):
        for part in expression:
            yield from words_of(part)
    else:
        yield expression


def bits_of_sort(sort):
    """Bits of a sort: B32, (_ BitVec 32), or Bool as 0."""
    if sort == "Bool":
        return 0
    if isinstance(sort, list):
        return int(sort[2])
    return int(sort[1:])


class Library:
    """All definitions by name."""

    def __init__(self, folder=Path(__file__).parent / "meaning", files=FILES):
        self.functions = {}
        self.order = []
        self.file_of = {}
        for file in files:
            path = folder / f"{file}.smt2"
            if not path.exists():
                continue
            for form in expressions(path.read_text()):
                if form[0] == "define-sort":
                    continue
                if form[0] != "define-fun":
                    raise ValueError(f"{path}: {form[0]} is not expected")
                _, name, params, sort, body = form
                if name in self.functions:
                    raise ValueError(f"{path}: {name} is defined twice")
                params = [(p, bits_of_sort(s)) for p, s in params]
                self.functions[name] = Function(name, params, bits_of_sort(sort), body)
                self.order.append(name)
                self.file_of[name] = file
        self.namespace = dict(HELPERS)
        self.compiled = set()

    def __contains__(self, name):
        return name in self.functions

    def __getitem__(self, name):
        return self.functions[name]

    def closure(self, words):
        """Names of the functions that words use, directly or not."""
        found, todo = set(), [w for w in words if w in self.functions]
        while todo:
            name = todo.pop()
            if name not in found:
                found.add(name)
                todo += [w for w in self.functions[name].uses if w in self.functions]
        return found

    def text(self, words):
        """Definitions of the functions that words use, in order."""
        found = self.closure(words)
        lines = []
        for name in self.order:
            if name in found:
                lines.append(self.line(name))
        return "\n".join(lines)

    @lru_cache(maxsize=None)
    def line(self, name):
        f = self.functions[name]
        params = " ".join(f"({p} {sort(bits)})" for p, bits in f.params)
        return f"(define-fun {name} ({params}) {sort(f.bits)} {written(f.body)})"

    # ---- evaluation

    def compile(self, term, symbols):
        """A Python function of the symbols (name to bits, in order) that evaluates a term."""
        expression = expressions(term)[0]
        for name in self.order:
            if name not in self.compiled and name in self.closure(words_of(expression)):
                f = self.functions[name]
                code, _ = self.python(f.body, {p: (f"a{i}", b) for i, (p, b) in enumerate(f.params)})
                args = ", ".join(f"a{i}" for i in range(len(f.params)))
                exec(f"def {mangled(name)}({args}): return {code}", self.namespace)
                self.compiled.add(name)
        names = list(symbols)
        code, _ = self.python(expression, {s: (f"x_{s}", symbols[s]) for s in names})
        return eval(f"lambda {', '.join('x_' + s for s in names)}: {code}", self.namespace)

    def python(self, e, env):
        """Python text and bits of an expression."""
        if isinstance(e, str):
            if e in env:
                return env[e]
            if e.startswith("#x"):
                return str(int(e[2:], 16)), 4 * (len(e) - 2)
            if e.startswith("#b"):
                return str(int(e[2:], 2)), len(e) - 2
            if e in self.functions:
                return f"{mangled(e)}()", self.functions[e].bits
            raise ValueError(f"{e} is not known")
        head = e[0]
        if head == "_":
            return e[1][2:], int(e[2])
        if isinstance(head, list):
            x, n = self.python(e[1], env)
            if head[1] == "extract":
                high, low = int(head[2]), int(head[3])
                return f"({x} >> {low} & {(1 << high - low + 1) - 1})", high - low + 1
            more = int(head[2])
            if head[1] == "zero_extend":
                return x, n + more
            return f"sext({x}, {n}, {n + more})", n + more
        args = [self.python(a, env) for a in e[1:]]
        x = [a[0] for a in args]
        n = args[0][1]
        mask = (1 << n) - 1
        if head == "ite":
            return f"({x[1]} if {x[0]} else {x[2]})", args[1][1]
        if head in INFIX:
            value = "(" + f" {INFIX[head]} ".join(x) + ")"
            return (f"({value} & {mask})" if head in ("bvadd", "bvsub", "bvmul") else value), n
        if head == "bvnot":
            return f"({x[0]} ^ {mask})", n
        if head == "bvneg":
            return f"(-{x[0]} & {mask})", n
        if head in ("bvshl", "bvlshr", "bvashr"):
            return f"{head}({x[0]}, {x[1]}, {n})", n
        if head == "concat":
            code, bits = args[0]
            for y, m in args[1:]:
                code, bits = f"({code} << {m} | {y})", bits + m
            return code, bits
        if head == "=":
            return f"({x[0]} == {x[1]})", 0
        if head == "distinct":
            return f"({x[0]} != {x[1]})", 0
        if head == "and":
            return "(" + " and ".join(x) + ")", 0
        if head == "or":
            return "(" + " or ".join(x) + ")", 0
        if head == "not":
            return f"(not {x[0]})", 0
        if head in COMPARE:
            signed, op = COMPARE[head]
            if signed:
                x = [f"({y} ^ {1 << n - 1})" for y in x]
            return f"({x[0]} {op} {x[1]})", 0
        if head in self.functions:
            f = self.functions[head]
            for (_, bits), (param, want) in zip(args, f.params):
                if bits != want:
                    raise ValueError(f"{param} of {head} has {want} bits, not {bits}")
            return f"{mangled(head)}({', '.join(x)})", f.bits
        raise ValueError(f"{head} is not known")


def sort(bits):
    return f"(_ BitVec {bits})" if bits else "Bool"


def mangled(name):
    return "f_" + name.replace(".", "__")


INFIX = {"bvadd": "+", "bvsub": "-", "bvmul": "*", "bvand": "&", "bvor": "|", "bvxor": "^"}
COMPARE = {
    f"bv{s}{c}": (s == "s", op)
    for s in "su"
    for c, op in (("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">="))
}


def sext(x, n, m):
    return x | (1 << m) - (1 << n) if x >> n - 1 else x


def bvshl(x, y, n):
    return x << y & (1 << n) - 1 if y < n else 0


def bvlshr(x, y, n):
    return x >> y if y < n else 0


def bvashr(x, y, n):
    s = x - (1 << n) if x >> n - 1 else x
    return s >> min(y, n) & (1 << n) - 1


HELPERS = {"sext": sext, "bvshl": bvshl, "bvlshr": bvlshr, "bvashr": bvashr}
