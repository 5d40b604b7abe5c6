#!/usr/bin/env python3
"""Judges the words of the disassembly goldens again with llvm-mc 19 (Debian package llvm-19).

    refresh.py                          says where a golden text differs from what llvm-mc prints now
    refresh.py --write                  writes the new texts
    refresh.py --new gfx942 gfx90a 1    makes the words of a target: those of another one and random ones (the
                                        last argument is the seed) for every opcode number of every encoding

Targets from gfx803 on are disassembled. LLVM has no disassembler for gfx6 and gfx7: there the
text is assembled, and the bytes must come out. Words that a disassembler refuses stay as they are.
"""
import gzip
import pathlib
import random
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
TRAP = 0xBF920000  # s_trap N between the words, to tell where one ends


def mc(gfx, arguments, text):
    command = ["llvm-mc-19", "-triple=amdgcn", f"-mcpu={gfx}", *arguments]
    return subprocess.run(command, input=text, capture_output=True, text=True).stdout.splitlines()


def trap(i):
    return f"s_trap {i}" if i <= 64 else f"s_trap 0x{i:x}"


def brackets(data):
    return "[" + " ".join(f"0x{byte:02x}" for byte in data) + "]"


def disassemble(gfx, words):
    """The text of each word, or None where it is not exactly one instruction."""
    texts = []
    for start in range(0, len(words), 50000):
        part = words[start : start + 50000]
        lines = []
        for i, word in enumerate(part):
            lines += [brackets(word), brackets((TRAP | i).to_bytes(4, "little"))]
        found, seen = [], []
        for line in mc(gfx, ["-disassemble"], "\n".join(lines)):
            if not line.startswith("\t") or line.startswith("\t.text"):
                continue
            text = re.sub(r"\s+", " ", re.sub(r"\s*(;|//).*", "", line)).strip()
            # A word that is s_trap itself comes before its mark.
            own = part[len(found)] == (TRAP | len(found)).to_bytes(4, "little") and not seen
            if text == trap(len(found)) and not own:
                found.append(seen[0] if len(seen) == 1 else None)
                seen = []
            elif text:
                seen.append(text)
        if len(found) != len(part):
            sys.exit(f"{gfx}: llvm-mc stopped at {part[len(found)].hex()}")
        texts += found
    return texts


def assembles(gfx, texts):
    """The bytes of each text, or None."""
    lines = [line for i, text in enumerate(texts) for line in (text, f"s_trap {i & 0xffff}")]
    result, last, n = [], None, 0
    for line in mc(gfx, ["-show-encoding"], "\n".join(lines) + "\n"):
        match = re.search(r"encoding: \[(.*?)\]", line)
        if not match:
            continue
        data = bytes(int(x, 16) for x in match[1].split(","))
        if data == (TRAP | n & 0xFFFF).to_bytes(4, "little") and (
            last is not None or not texts[n].startswith("s_trap")
        ):
            result.append(last)
            last, n = None, n + 1
        else:
            last = data
    return result


def source(rng):
    """A source field of 9 bits."""
    if rng.random() < 0.7:
        return 256 + rng.getrandbits(8)
    return rng.choice([rng.getrandbits(7) & ~1, 128 + rng.getrandbits(6), 240 + rng.randrange(9), 106, 124, 126])


# Name, fixed bits, position and width of the opcode, dwords.
ENCODINGS = [
    ("VOP1", 0x7E000000, 9, 8, 1),
    ("VOP1-SDWA", 0x7E0000F9, 9, 8, 2),
    ("VOP1-DPP", 0x7E0000FA, 9, 8, 2),
    ("VOP2", 0x00000000, 25, 6, 1),
    ("VOP2-SDWA", 0x000000F9, 25, 6, 2),
    ("VOP2-DPP", 0x000000FA, 25, 6, 2),
    ("VOP3", 0xD0000000, 16, 10, 2),
    ("DS", 0xD8000000, 17, 8, 2),
    ("FLAT", 0xDC000000, 18, 7, 2),
    ("SCRATCH", 0xDC004000, 18, 7, 2),
    ("GLOBAL", 0xDC008000, 18, 7, 2),
    ("MUBUF", 0xE0000000, 18, 7, 2),
    ("MTBUF", 0xE8000000, 15, 4, 2),
    ("MIMG", 0xF0000F00, 18, 7, 2),
    ("EXP", 0xC4000000, 0, 0, 2),
    ("VINTRP", 0xD4000000, 16, 2, 1),
    ("SMEM", 0xC0000000, 18, 8, 2),
    ("SOPK", 0xB0000000, 23, 5, 1),
]
K = (0x17, 0x18, 0x24, 0x25)  # VOP2 with a literal


def random_word(rng, name, base, at, opcode):
    """A word with random fields; those that most instructions lack are often zero."""
    r, some = rng.getrandbits, lambda bits: rng.choice([0, rng.getrandbits(bits)])
    even = lambda: rng.choice([0, r(8) & ~1])
    low = base | opcode << at
    if name == "VOP3":
        mai = 0x3BE <= opcode
        low |= (r(8) & ~1 if mai else r(8)) | some(3) << 8 | some(4) << 11 | rng.choice([0, 1]) << 15
        src = (lambda: source(rng) & ~1) if mai else (lambda: source(rng))
        return low, src() | src() << 9 | rng.choice([0, src()]) << 18 | some(2) << 27 | some(3) << 29
    if name.startswith("VOP"):
        low |= r(8) << 17 | (r(8) << 9 if name.startswith("VOP2") else 0)
        if name.endswith("SDWA"):
            # llvm-mc stops at a selection of 7.
            second = rng.randrange(7) << 24 | some(4) << 28 if name.startswith("VOP2") else 0
            return low, r(8) | 6 << 8 | some(2) << 11 | some(3) << 13 | rng.randrange(7) << 16 | some(5) << 19 | second
        if name.endswith("DPP"):
            return low, r(8) | rng.choice([r(8), 0x150 + r(4), 0x101 + r(4)]) << 8 | r(1) << 19 | some(4) << 20 | r(8) << 24
        return (low | source(rng), r(32)) if name == "VOP2" and opcode in K else (low | source(rng),)
    if name == "DS":
        return low | some(16) | r(1) << 25, r(8) | even() << 8 | even() << 16 | even() << 24
    if name in ("FLAT", "SCRATCH", "GLOBAL"):
        saddr = 0 if name == "FLAT" else rng.choice([0x7F, 0, r(6) * 2, r(7)])
        low |= r(2) << 16 | r(1) << 25 | some(13) | (r(1) if name == "SCRATCH" else 0) << 13
        return low, r(8) & ~1 | even() << 8 | saddr << 16 | r(1) << 23 | even() << 24
    if name == "MUBUF":
        low |= some(16) | r(1) << 17
        return low, rng.choice([0, r(8) & ~1 | (r(8) & ~1) << 8 | r(5) << 16 | r(1) << 23 | rng.choice([r(7), 128]) << 24])
    if name == "MTBUF":
        return low | r(15) | r(7) << 19, r(8) & ~1 | (r(8) & ~1) << 8 | r(5) << 16 | r(1) << 23 | rng.choice([r(7), 128]) << 24
    if name == "SMEM":
        return low | r(18), rng.choice([r(21), r(7)])
    if name == "SOPK":
        return (low | r(7) << 16 | r(16), r(32)) if opcode == 20 else (low | r(7) << 16 | r(16),)
    return (low, 2 | 4 << 8 | 2 << 16) if name in ("MIMG", "EXP") else (low | r(8),)


def probes(name, base, at, width):
    """For each opcode number of an encoding, words that LLVM accepts if it has the instruction."""
    for opcode in range(62 if width == 6 else 1 << width):
        low = base | opcode << at
        if name in ("VOP1", "VOP2"):
            words = [(low | src, *([0] if name == "VOP2" and opcode in K else [])) for src in (0, 0x102, 0x04000102)]
        elif name.startswith(("VOP1-", "VOP2-")):
            low |= 4 << 17 | (4 << 9 if name.startswith("VOP2") else 0)
            words = [(low, 0x06060602), (low, 0x00060602), (low, 0x00060002)]
            if name.endswith("DPP"):
                words = [(low, 0xFF00E402), (low, 0xFF015102)]
        elif name == "VOP3":
            words = [(low | d, src) for d in (0, 4) for src in (0, 0x102, 0x20902, 0x4120902, 0x80, 0x20102)]
        elif name == "DS":
            words = [(low | gds << 16, high) for gds in (0, 1) for high in (0, 2, 0x402, 0x80402, 0x0C000002, 0x0C000402, 0x0C080402, 0x0C000000, 0x400)]
        elif name in ("FLAT", "SCRATCH", "GLOBAL"):
            off = 0 if name == "FLAT" else 0x7F0000
            words = [(low | glc << 16, high | off) for glc in (0, 1) for high in (2, 0x402, 0x04000002, 0x08000402)]
        elif name == "MUBUF":
            words = [(low | lds << 16, high) for lds in (0, 1) for high in (0, 0x80010402, 0x80010000)]
        elif name == "SMEM":
            words = [(low | mods, 0) for mods in (0, 0x20000, 0x20100, 0x30000)]
        else:
            words = [(low, 0), (low, 2 | 4 << 8 | 2 << 16)] if name in ("MTBUF", "MIMG", "EXP") else [(low,), (low, 0)]
        for word in words:
            yield f"random:{name}/{opcode}", b"".join(n.to_bytes(4, "little") for n in word)


def new(gfx, like, seed):
    """The file of a target that has none yet."""
    rng = random.Random(int(seed))
    with gzip.open(HERE / f"{like}.tsv.gz", "rt") as file:
        head, *rows = [line.rstrip("\n").split("\t") for line in file]
    words = {bytes.fromhex(row[0]): row[3] for row in rows if row[1] != "encoding"}
    for name, base, at, width, _ in ENCODINGS:
        # v_nop has forms that only hardware knows.
        first = 1 if name in ("VOP1-SDWA", "VOP1-DPP") else 0
        for opcode in range(first, 62 if width == 6 else 1 << width):
            for _ in range(2 if name in ("MIMG", "EXP", "VINTRP") else 6):
                word = b"".join(n.to_bytes(4, "little") for n in random_word(rng, name, base, at, opcode))
                words.setdefault(word, f"random:{name}/{opcode}")
    data = list(words)
    texts = disassemble(gfx, data)
    known = {words[word] for word, text in zip(data, texts) if text}
    probed = [probe for name, base, at, width, _ in ENCODINGS for probe in probes(name, base, at, width)]
    known |= {origin for (origin, _), text in zip(probed, disassemble(gfx, [word for _, word in probed])) if text}
    marker = lambda text: "Invalid" in text or "/*" in text
    clean = [text for text in texts if text and not marker(text)]
    again = dict(zip(clean, assembles(gfx, clean)))
    out = []
    for word, text in zip(data, texts):
        origin = words[word]
        if text and marker(text):
            grade = "marker"
        elif text:
            grade = "strict" if again[text] == word else "loose"
        elif origin.startswith("random:") and origin not in known:
            grade = "opcode"
        else:
            grade = "operand"
        out.append([word.hex(), grade, text or "", origin])
    data = "".join("\t".join(row) + "\n" for row in [head, *out]).encode()
    with open(HERE / f"{gfx}.tsv.gz", "wb") as raw, gzip.GzipFile("", "wb", 9, raw, 0) as file:
        file.write(data)
    for grade in ("strict", "loose", "opcode", "operand", "marker"):
        print(gfx, grade, sum(row[1] == grade for row in out))


def main():
    if sys.argv[1:2] == ["--new"]:
        return new(*sys.argv[2:])
    write = "--write" in sys.argv[1:]
    for path in sorted(HERE.glob("*.tsv.gz")):
        gfx = path.name.split(".")[0]
        with gzip.open(path, "rt") as file:
            head, *rows = [line.rstrip("\n").split("\t") for line in file]
        valid = [row for row in rows if row[1] in ("strict", "loose")]
        words = [bytes.fromhex(row[0]) for row in valid]
        changed = 0
        if gfx in ("gfx600", "gfx700"):
            for row, word, got in zip(valid, words, assembles(gfx, [row[2] for row in valid])):
                if got != word and row[1] == "strict":
                    changed += 1
                    print(f"{gfx} {row[0]} {row[2]} assembles to {got.hex() if got else 'nothing'}")
        else:
            for row, text in zip(valid, disassemble(gfx, words)):
                if text is not None and text != row[2]:
                    changed += 1
                    print(f"{gfx} {row[0]} {row[2]} is now {text}")
                    row[2] = text
        print(f"{gfx}: {len(valid)} words, {changed} differ")
        if write and changed and gfx not in ("gfx600", "gfx700"):
            data = "".join("\t".join(row) + "\n" for row in [head, *rows]).encode()
            with open(path, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, 0) as file:
                file.write(data)


main()
