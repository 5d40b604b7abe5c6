#!/usr/bin/env python3
"""Judges the words of the disassembly goldens again with llvm-mc 19 (Debian package llvm-19).

    refresh.py            says where a golden text differs from what llvm-mc prints now
    refresh.py --write    writes the new texts

Targets from gfx803 on are disassembled. LLVM has no disassembler for gfx6 and gfx7: there the
text is assembled, and the bytes must come out. Words that a disassembler refuses stay as they are.
"""
import gzip
import pathlib
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


def main():
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
