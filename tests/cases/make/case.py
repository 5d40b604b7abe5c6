"""Writes case files: assembles instruction texts with llvm-mc for every target and puts the lines behind them.

The expected values are computed by the chapter scripts from the specification, with plain integers and exact
rationals. Nothing here runs wavelift.
"""

import os
import re
import subprocess

TARGETS = ["gfx600", "gfx700", "gfx803", "gfx900", "gfx906"]
ALL_TARGETS = TARGETS + ["gfx908", "gfx90a", "gfx942"]
CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
ENCODING = re.compile(r"^\t(.*?)\s*; encoding: \[(.*)\]$")


def assemble(texts, target):
    """Canonical text and words of each text, None where the assembler refuses."""
    source = "".join(f"{text}\n" for text in texts)
    run = subprocess.run(
        ["llvm-mc-19", "-triple=amdgcn", f"-mcpu={target}", "-show-encoding"],
        input=source, capture_output=True, text=True, check=False)
    refused = {int(n) for n in re.findall(r"^<stdin>:(\d+):\d+: error", run.stderr, re.M)}
    found = []
    for line in run.stdout.splitlines():
        match = ENCODING.match(line)
        if match:
            data = [int(byte, 16) for byte in match.group(2).split(",")]
            words = [int.from_bytes(bytes(data[i:i + 4]), "little") for i in range(0, len(data), 4)]
            found.append((match.group(1).replace("\t", " "), words))
    results, at = [], 0
    for number in range(1, len(texts) + 1):
        if number in refused:
            results.append(None)
        else:
            results.append(found[at])
            at += 1
    assert at == len(found), (target, at, len(found))
    return results


class Chapter:
    """One case file."""

    def __init__(self, name, about):
        self.name, self.about, self.blocks = name, about, []

    def block(self, texts, lines, targets=None, note=None, optional=False):
        """A block: texts that are tried in turn on each target (` ; ` joins instructions), and lines. `optional`: left
        out when no target has any of them."""
        if isinstance(texts, str):
            texts = [texts]
        assert lines, texts
        self.blocks.append((texts, list(lines), targets or TARGETS, note, optional))

    def raw(self, text, words, lines, targets, note=None):
        """A block for words that the assembler does not make."""
        self.blocks.append(([(text, words)], list(lines), targets, note, False))

    def write(self):
        """Assembles and writes the file."""
        known = {}
        for target in ALL_TARGETS:
            wanted = sorted({part for texts, _, targets, *_ in self.blocks if target in targets
                             for text in texts if isinstance(text, str) for part in text.split(" ; ")})
            for text, result in zip(wanted, assemble(wanted, target)):
                known[target, text] = result
        out = [f"# {line}" for line in self.about.strip().splitlines()]
        count = 0
        for texts, lines, targets, note, optional in self.blocks:
            heads = {}
            for target in targets:
                for text in texts:
                    if not isinstance(text, str):
                        heads.setdefault(text[0], {}).setdefault(tuple(text[1]), []).append(target)
                        break
                    parts = [known[target, part] for part in text.split(" ; ")]
                    if all(parts):
                        canonical = " ; ".join(part[0] for part in parts)
                        words = tuple(word for part in parts for word in part[1])
                        heads.setdefault(canonical, {}).setdefault(words, []).append(target)
                        break
            if not heads and optional:
                continue
            if not heads:
                raise SystemExit(f"{self.name}: no target has any of {texts}")
            out.append("")
            if note:
                out.append(f"# {note}")
            for text, codes in heads.items():
                columns = [f"{' '.join(targets)} {' '.join(f'{word:08x}' for word in words)}"
                           for words, targets in codes.items()]
                out.append(f"{text}  {'  '.join(columns)}")
            out.extend(f"    {line}" for line in lines)
            count += len(lines)
        path = os.path.join(CASES, f"{self.name}.case")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(out) + "\n")
        print(f"{self.name}: {len(self.blocks)} blocks, {count} lines")


def mask(bits):
    return (1 << bits) - 1


def signed(value, bits):
    value &= mask(bits)
    return value - (1 << bits) if value >> (bits - 1) else value


def hexed(value, bits):
    """Digits of a register value of `bits` bits, whole registers."""
    digits = max(bits, 32) // 4
    return f"{value & mask(bits):0{digits}x}"


def reg(file, first, bits):
    """`v3` or `v[4:5]`."""
    count = (bits + 31) // 32
    return f"{file}{first}" if count == 1 else f"{file}[{first}:{first + count - 1}]"


EDGE32 = [0, 1, 2, 0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0xfffffffe, 0x12345678, 0xdeadbeef, 0x00ff00ff,
          0x00008000, 0xffff8000, 0x0000ffff, 0x00010000]
EDGE64 = [0, 1, 0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff, 0x00000000ffffffff, 0xffffffff00000000,
          0x0000000100000000, 0x0000000080000000, 0x123456789abcdef0, 0xfedcba9876543210]
EDGE16 = [0, 1, 0x7fff, 0x8000, 0xffff, 0xfffe, 0x1234, 0x8001, 0x00ff, 0xff00]


class Random:
    """A small generator, so that files come out the same everywhere."""

    def __init__(self, seed):
        self.state = seed * 0x9e3779b97f4a7c15 + 1 & mask(64)

    def next(self):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) & mask(64)
        return (self.state >> 29) & mask(32)

    def below(self, limit):
        return self.next() % limit

    def pick(self, values):
        return values[self.below(len(values))]


def tuples(pools, count, seed, first=()):
    """`first`, then values of the pools in turn, combined at random, `count` in all at least."""
    random, result = Random(seed), list(first)
    for i in range(max(count - len(result), 0)):
        row = tuple(pool[i % len(pool)] if at == i % len(pools) else random.pick(pool) for at, pool in enumerate(pools))
        if row not in result:
            result.append(row)
    return result
