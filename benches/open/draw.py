#!/usr/bin/env python3
"""Tosses the coin for kernels of table.py that are in neither half yet, and writes halves.txt.

    python3 benches/open/draw.py

The names that have none, sorted, are shuffled by Python's generator with the seed below and the
number of names drawn before; the first half of them goes to a, the rest to b. What was drawn stays.
"""

import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from open.table import HALVES, ROWS, halves  # noqa: E402

SEED = 20261124
HEAD = """# The two halves of the open set, drawn by draw.py: a is tuned on, b is held back.
"""


def main():
    drawn = halves()
    names = sorted(row[1] for row in ROWS if row[1] not in drawn)
    random.Random(SEED + len(drawn)).shuffle(names)
    for i, name in enumerate(names):
        drawn[name] = "a" if 2 * i < len(names) else "b"
    HALVES.write_text(HEAD + "".join(f"{name} {drawn[name]}\n" for name in sorted(drawn)))
    print(f"{len(names)} drawn")


if __name__ == "__main__":
    main()
