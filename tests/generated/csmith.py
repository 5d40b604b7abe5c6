"""Programs of csmith: C on one lane, or with a copy of its global variables for each of 64 lanes."""

import random
import re
import subprocess
from pathlib import Path

from program import Program, Skipped

# Lanes by the place of their globals; of LDS there are 64 KiB.
LANES = {"one": 1, "global": 64, "lds": 16, "private": 64}
# Of Debian's libcsmith-dev.
HEADERS = Path("/usr/include/csmith")
GLOBAL = re.compile(r"^static (?P<declaration>[^=;]*?\b(?P<name>g_\d+)(?:\[\d+\])*) = (?P<value>.*);(?:/\*.*)?$")
SCALAR = re.compile(r"^(?:u?int\d+_t) g_\d+$")
# What csmith may do, by chance.
CHANCES = ["--no-packed-struct", "--no-volatiles", "--no-unions", "--no-bitfields", "--no-jumps", "--no-consts"]


def generate(seed, folder):
    """The program of this seed, its source in `folder`."""
    chance = random.Random(f"csmith {seed}")
    options = ["--concise", "--no-argc", "--max-funcs", str(chance.randint(1, 4)),
               "--max-block-depth", str(chance.randint(2, 4)), "--max-expr-complexity", str(chance.randint(4, 10)),
               "--max-array-len-per-dim", str(chance.randint(3, 10))]
    options += [option for option in CHANCES if chance.random() < 0.15]
    command = ["csmith", "--seed", str(seed), *options]
    try:
        made = subprocess.run(command, capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired as late:
        raise Skipped("csmith takes longer than 300 s") from late
    if made.returncode != 0:
        raise Skipped(f"csmith ends with status {made.returncode}")
    place = chance.choice(["one", "global", "global", "lds", "private"])
    text = made.stdout
    if place != "one":
        text = for_lanes(text, place, chance)
    arithmetic = "#define INLINED_ARITHMETIC\n" if chance.random() < 0.7 else ""
    text = f"/* {' '.join(command)}; globals: {place} */\n{arithmetic}{text}\n#include \"entry.h\"\n"
    source = folder / f"csmith{seed}.c"
    source.write_text(text)
    lanes = LANES[place]
    # Accesses by FLAT to LDS need its size in M0 on these targets, which clang does not set.
    without = ("gfx700", "gfx803") if place == "lds" else ()
    return Program(
        kind="csmith", seed=seed, source=source, note=f"globals: {place}", without=without, kernel="entry", grid=lanes, workgroup=lanes,
        buffers={"out": lanes}, inputs={}, arguments=["@out"],
        flags=["-std=gnu11", "-ffreestanding", "-idirafter", str(HEADERS)],
        host_flags=["-std=gnu11", "-idirafter", str(HEADERS)])


def for_lanes(text, place, chance):
    """The program with its global variables as members of a structure, of which each lane has one. Some begin with values
    that depend on the lane, so that lanes go different ways."""
    before, members, after = [], [], []
    for line in text.split("\n"):
        found = GLOBAL.match(line)
        if found:
            members.append(found)
        elif members:
            after.append(line)
        else:
            before.append(line)
    if not members:
        raise Skipped("no global variables")
    lines = ["struct globals {", "    uint32_t crc;"]
    lines += [f"    {member['declaration']};" for member in members]
    lines += ["};", ""]
    if place == "private":
        lines += ["#define PRIVATE_GLOBALS", "static struct globals *globals_of[LANES];", "#define GLOBALS (globals_of[LANE])"]
    elif place == "lds":
        lines += ["static IN_LDS struct globals globals_of[LANES];",
                  "#define GLOBALS ((struct globals *)&globals_of[LANE])",
                  '_Static_assert(sizeof globals_of <= 65536, "globals do not fit into LDS");']
    else:
        lines += ["static struct globals globals_of[LANES];", "#define GLOBALS (&globals_of[LANE])"]
    lines += ["#define crc32_context (GLOBALS->crc)"]
    lines += [f"#define {member['name']} (GLOBALS->{member['name']})" for member in members]
    lines += ["", "static void globals_begin(void)", "{", "    struct globals first = {", "        0,"]
    lines += [f"        {member['value']}," for member in members]
    lines += ["    };", "    __builtin_memcpy(GLOBALS, &first, sizeof first);"]
    for member in members:
        if SCALAR.match(member["declaration"]) and chance.random() < 0.5:
            change = chance.choice(["{0} += LANE * {1};", "{0} ^= LANE;", "{0} = LANE % 3 ? {0} : {1};", "if (LANE & {2}) {0} = LANE;"])
            lines.append("    " + change.format(member["name"], chance.randrange(1 << 16), 1 << chance.randrange(6)))
    lines += ["}", ""]
    return "\n".join([f"#define LANES {LANES[place]}", *before, *lines, *after])
