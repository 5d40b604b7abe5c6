"""Queries to the solver z3, which runs as a process."""

import re
import shutil
import subprocess

# Resource units of z3 (some 4 million a second) for a query among others; what takes more gets a process
# of its own.
BRIEF = 6000000
INSTALL = "z3 is not installed: apt install z3 (or pip install z3-solver)"


def installed():
    return shutil.which("z3") is not None


def query(library, symbols, lines, assumed, goals):
    """SMT-LIB text that is unsatisfiable when the goals hold."""
    body = lines + [f"(assert {a})" for a in assumed] + [f"(assert (not (and true {' '.join(goals)})))"]
    words = re.findall(r"[^\s()]+", "\n".join(body))
    declared = [f"(declare-const {s} (_ BitVec {b}))" for s, b in sorted(symbols.items())]
    values = f"(get-value ({' '.join(sorted(symbols))}))" if symbols else ""
    return "\n".join(["(set-logic QF_BV)", library.text(words), *declared, *body, "(check-sat)", values]) + "\n"


UNKNOWN_PRODUCT = """(declare-fun umul64 ((_ BitVec 32) (_ BitVec 32)) (_ BitVec 64))
(define-fun mul32 ((x (_ BitVec 32)) (y (_ BitVec 32))) (_ BitVec 32) ((_ extract 31 0) (umul64 x y)))
(define-fun smul64 ((x (_ BitVec 32)) (y (_ BitVec 32))) (_ BitVec 64)
  (bvsub (bvsub (umul64 x y) (ite (bvslt x #x00000000) (concat y #x00000000) #x0000000000000000))
    (ite (bvslt y #x00000000) (concat x #x00000000) #x0000000000000000)))
"""


def with_unknown_product(text):
    """The query with the product of words as any function of them, or None without products.

    That it is unsatisfiable implies that the query is. It relies on two identities: the low words of
    both products are the product of words, and the signed product is the unsigned one without the
    sources shifted by 32 where the other one is negative.
    """
    lines = text.split("\n")
    products = ("(define-fun mul32 ", "(define-fun umul64 ", "(define-fun smul64 ")
    if not any(line.startswith(products) for line in lines):
        return None
    rest = [line for line in lines if not line.startswith(products) and not line.startswith("(set-logic")]
    return "(set-logic QF_UFBV)\n" + UNKNOWN_PRODUCT + "\n".join(rest)


def prove_many(texts, seconds, any_product=False):
    """The answer of `prove` to each query: first all in one process and briefly, then what is left.
    With any_product, products are unknown functions from the start."""
    parts = []
    answers = {}
    for i, text in enumerate(texts):
        other = with_unknown_product(text) if any_product else None
        answers[i] = "unsat for any product" if other else "unsat"
        text = other or text
        parts.append(f'(reset)\n(echo "--{i}")\n(set-option :rlimit {BRIEF})\n{text}')
    out = run("\n".join(parts), 10 + 2 * len(texts))
    sections = {}
    for section in out.split("--")[1:]:
        number, _, answer = section.partition("\n")
        sections[int(number)] = answer
    return [
        (answers[i], "") if sections.get(i, "").startswith("unsat") else prove(text, seconds)
        for i, text in enumerate(texts)
    ]


def prove(text, seconds):
    """An answer of `ask`, or "unsat for any product"."""
    other = with_unknown_product(text)
    if other is not None and ask(other, seconds)[0] == "unsat":
        return "unsat for any product", ""
    return ask(text, seconds)


def run(text, seconds):
    """What z3 prints, which is cut off after these seconds of CPU time."""
    command = ["sh", "-c", f"ulimit -t {seconds}; exec z3 -in"]
    return subprocess.run(command, input=text, capture_output=True, text=True).stdout


def ask(text, seconds):
    """("unsat" | "sat" | "timeout" | "error", values or message)."""
    out = run(text, seconds)
    first, _, rest = out.partition("\n")
    if first == "unsat":
        return "unsat", ""
    if first == "sat":
        return "sat", " ".join(f"{n}={v}" for n, v in re.findall(r"\((\w+) (#\w+)\)", rest))
    return ("error", out[:500]) if "(error" in out else ("timeout", "")
