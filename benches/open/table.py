"""What each kernel of the open set runs on and with, as in bench_table.py.

The kernels are of many kinds and none is written to fit the translator. halves.txt says which of
the two halves a kernel is in (draw.py): one is tuned on, the other is held back.
"""

import pathlib

from bench_table import f32, one, random, u32, zeros

HALVES = pathlib.Path(__file__).resolve().parent / "halves.txt"
KI = 1 << 10
MI = 1 << 20


def i32(value):
    return ("i32", value)


def filled(kind, count, fill):
    return {"type": kind, "count": count, "fill": fill}


def bytes_(count, seed, low=None, high=None):
    return random("u8", count, seed, low, high)


def words(count, seed, low=None, high=None):
    return random("u32", count, seed, low, high)


def floats(count, seed, low=-1.0, high=1.0):
    return random("f32", count, seed, low, high)


def doubles(count, seed, low=-1.0, high=1.0):
    return random("f64", count, seed, low, high)


def launches(buffers, *dispatches):
    return {"buffers": buffers, "dispatches": [d for list_ in dispatches for d in list_]}


def line(kernel, items, args, workgroup=256, **more):
    return one(kernel, [items], [workgroup], args, **more)


def plane(kernel, width, height, args, workgroup=(64, 4), **more):
    return one(kernel, [width, height], list(workgroup), args, **more)


def insertion_sort(n):
    return launches({"rows": random("i32", 32 * n, 1), "out": zeros("i32", 32 * n)},
                    line("insertion_sort", n, ["@out", "@rows"]))


def queens(n):
    items = -(-n ** 3 // 64) * 64
    return launches({"counts": zeros("u32", items)},
                    line("queens", items, ["@counts", i32(n)], 64))


def polygon_clip(n):
    return launches({"corners": floats(6 * n, 2, -2.0, 2.0), "areas": zeros("f32", n)},
                    line("polygon_clip", n, ["@areas", "@corners", i32(n)]))


def product_24(n):
    return launches({"a": floats(16 * n, 3), "b": floats(16 * n, 4), "c": zeros("f32", 16 * n)},
                    line("product_24", n, ["@c", "@a", "@b"]))


def solve_32(n):
    return launches({"matrices": floats(36 * n, 5), "sides": floats(6 * n, 6),
                     "solutions": zeros("f32", 6 * n)},
                    line("solve_32", n, ["@solutions", "@matrices", "@sides"]))


def reactions_48(n, steps):
    return launches({"amounts": floats(10 * n, 7, 0.0, 1.0)},
                    line("reactions_48", n, ["@amounts", f32(0.01), i32(steps)]))


def dct_64(across, down):
    pixels = 64 * across * down
    return launches({"image": bytes_(pixels, 8), "out": zeros("i16", pixels)},
                    line("dct_64", across * down, ["@out", "@image", i32(across)], 64))


def collatz(n):
    return launches({"steps": zeros("u32", n)}, line("collatz", n, ["@steps", u32(1000001)]))


def gcd(n):
    return launches({"a": words(n, 9), "b": words(n, 10), "out": zeros("u32", n)},
                    line("gcd", n, ["@out", "@a", "@b", u32(n)]))


def square_root(n):
    return launches({"numbers": random("u64", n, 11), "roots": zeros("u32", n)},
                    line("square_root", n, ["@roots", "@numbers"]))


def set_bits(n):
    return launches({"words": random("u64", n, 12), "out": zeros("u32", 2 * n)},
                    line("set_bits", n, ["@out", "@words"]))


def crc32(n, length):
    return launches({"messages": bytes_(n * length, 13), "sums": zeros("u32", n)},
                    line("crc32", n, ["@sums", "@messages", u32(length)]))


def nearest_code(n, codes):
    return launches({"queries": words(4 * n, 14), "codes": words(4 * codes, 15),
                     "out": zeros("u32", 2 * n)},
                    line("nearest_code", n, ["@out", "@queries", "@codes", u32(codes)]))


def bytecode(n, rounds):
    return launches({"numbers": words(n, 16), "program": bytes_(4 * 48, 17),
                     "out": zeros("u32", n)},
                    line("bytecode", n, ["@out", "@numbers", "@program", i32(48), i32(rounds)]))


def lexer(n):
    return launches({"text": bytes_(128 * n, 18, 32, 126), "counts": zeros("u32", 5 * n)},
                    line("lexer", n, ["@counts", "@text", i32(128)]))


def mixed(n):
    return launches({"kinds": bytes_(n, 19), "a": random("i32", n, 20), "b": random("i32", n, 21),
                     "out": zeros("i32", n)},
                    line("mixed", n, ["@out", "@kinds", "@a", "@b"]))


def ackermann(n, most):
    return launches({"numbers": words(n, 22, 0, most), "out": zeros("u32", n)},
                    line("ackermann", n, ["@out", "@numbers"], 64, stack=4096))


def quicksort(n, length):
    return launches({"rows": random("i32", n * length, 23)},
                    line("quicksort", n, ["@rows", i32(length)], 64, stack=8192))


def integrals(n):
    return launches({"ends": doubles(n, 24, -0.5, 1.0), "out": zeros("f64", n)},
                    line("integrals", n, ["@out", "@ends"], 64, stack=4096))


def sorted_rows(buffers):
    import numpy as np
    return np.sort(buffers["rows"].reshape(-1, 16)).ravel()


def arc_tangents(buffers):
    import numpy as np
    return (np.arctan(5.0 * buffers["ends"]) + np.arctan(5.0)) / 5.0


def pointers(n, turns):
    return launches({"values": floats(n, 25), "kinds": bytes_(n, 26)},
                    line("pointers", n, ["@values", "@kinds", i32(turns)], 64, stack=4096))


def particles_aos(n, steps):
    return launches({"numbers": floats(7 * n, 27, 0.0, 1.0), "particles": {"bytes": 32 * n}},
                    line("setup_particles", n, ["@particles", "@numbers"]),
                    line("particles_aos", n, ["@particles", f32(0.02), i32(steps), i32(n)]))


def particles_soa(n, steps):
    buffers = {name: floats(n, 28 + i, 0.0, 1.0) for i, name in enumerate("xyz")}
    buffers |= {f"v{name}": floats(n, 31 + i) for i, name in enumerate("xyz")}
    buffers |= {"mass": floats(n, 34, 0.5, 1.5), "bounces": zeros("i32", n)}
    return launches(buffers, line("particles_soa", n, [f"@{b}" for b in buffers] +
                                  [f32(0.02), i32(n)], repeat=steps))


def records(n, each):
    return launches({"records": bytes_(32 * n * each, 35), "summaries": zeros("i32", 4 * n)},
                    line("records", n, ["@summaries", "@records", i32(each)]))


def substring(n):
    return launches({"text": bytes_(n, 36, 97, 99), "pattern": bytes_(6, 37, 97, 99),
                     "found": zeros("u8", n), "count": zeros("u32", 1)},
                    line("substring", n, ["@found", "@count", "@text", u32(n), "@pattern", u32(6)]))


def utf8(n):
    return launches({"text": bytes_(64 * n, 38), "out": zeros("u32", 3 * n)},
                    line("utf8", n, ["@out", "@text"]))


def decimal(n):
    return launches({"numbers": random("u64", n, 39), "texts": zeros("u8", 24 * n)},
                    line("decimal", n, ["@texts", "@numbers"]))


def base64(n):
    return launches({"in": bytes_(3 * n, 40), "out": zeros("u8", 4 * n)},
                    line("base64", n, ["@out", "@in", i32(n)]))


def divide(n):
    return launches({"a": random("i64", n, 41), "b": random("i64", n, 42),
                     "quotients": zeros("i64", n), "remainders": zeros("i64", n)},
                    line("divide", n, ["@quotients", "@remainders", "@a", "@b"]))


def power_mod(n):
    return launches({"bases": words(n, 43), "exponents": words(n, 44),
                     "moduli": words(n, 45, 3, 0xffffffff), "out": zeros("u32", n)},
                    line("power_mod", n, ["@out", "@bases", "@exponents", "@moduli"]))


def fixed_point(width, most):
    return launches({"out": zeros("u32", width * width)},
                    plane("fixed_point", width, width, ["@out", i32(width), i32(most)], (16, 16)))


def lu_solve(n):
    return launches({"matrices": doubles(36 * n, 46), "sides": doubles(6 * n, 47),
                     "solutions": zeros("f64", 6 * n)},
                    line("lu_solve", n, ["@solutions", "@matrices", "@sides"], 64))


def eigenvalues(n):
    return launches({"matrices": doubles(16 * n, 48), "out": zeros("f64", 4 * n)},
                    line("eigenvalues", n, ["@out", "@matrices", i32(6)], 64))


def dgemm(n):
    return launches({"a": doubles(n * n, 49), "b": doubles(n * n, 50), "c": zeros("f64", n * n)},
                    plane("dgemm", n, n, ["@c", "@a", "@b", i32(n)], (16, 16)))


def tridiagonal(n, length):
    return launches({"lower": doubles(n * length, 51), "upper": doubles(n * length, 52),
                     "x": doubles(n * length, 53), "scratch": zeros("f64", n * length)},
                    line("tridiagonal", n, ["@x", "@scratch", "@lower", "@upper", i32(length)]))


def half_rows(n, length):
    return launches({"in": random("f16", n * length, 54, -8.0, 8.0),
                     "out": zeros("f16", n * length)},
                    line("half_rows", n, ["@out", "@in", i32(length)]))


def half_cross(n):
    return launches({"in": random("f16", n * n, 55, 0.0, 1.0), "out": zeros("f16", n * n)},
                    plane("half_cross", n, n, ["@out", "@in", i32(n), i32(n)]))


def half_layer(inputs, outputs, samples):
    return launches({"in": random("f16", inputs * samples, 56, -1.0, 1.0),
                     "weights": random("f16", inputs * outputs, 57, -0.25, 0.25),
                     "bias": random("f16", outputs, 58, -0.5, 0.5),
                     "out": zeros("f16", outputs * samples)},
                    plane("half_layer", outputs, samples,
                          ["@out", "@in", "@weights", "@bias", i32(inputs), i32(outputs)]))


def network(n):
    return launches({"rows": words(16 * n, 59)}, line("network", n, ["@rows"]))


def odd_even(groups):
    return launches({"keys": words(512 * groups, 60), "values": words(512 * groups, 61)},
                    line("odd_even", 256 * groups, ["@keys", "@values"]))


def merge_path(n):
    return launches({"a": zeros("u32", n), "b": zeros("u32", n), "out": zeros("u32", 2 * n)},
                    line("setup_sorted", n, ["@a", "@b"]),
                    line("merge_path", n // 8, ["@out", "@a", "@b", u32(n)]))


def edit_distance(n):
    return launches({"a": bytes_(32 * n, 62, 97, 100), "b": bytes_(32 * n, 63, 97, 100),
                     "out": zeros("u32", n)},
                    line("edit_distance", n, ["@out", "@a", "@b"]))


def alignment(groups):
    return launches({"a": bytes_(128 * groups, 64, 65, 68), "b": bytes_(128 * groups, 65, 65, 68),
                     "scores": zeros("i32", groups)},
                    line("alignment", 128 * groups, ["@scores", "@a", "@b"], 128))


def knapsack(groups, items):
    return launches({"weights": bytes_(groups * items, 66, 1, 60),
                     "values": bytes_(groups * items, 67), "out": zeros("u32", 256 * groups)},
                    line("knapsack", 256 * groups, ["@out", "@weights", "@values", i32(items)]))


def subsequence(n):
    return launches({"a": bytes_(64 * n, 68), "b": bytes_(64 * n, 69), "out": zeros("u32", n)},
                    line("subsequence", n, ["@out", "@a", "@b"]))


def search_level(n, levels):
    return launches({"edges": words(8 * n, 70, 0, n - 1), "levels": zeros("i32", n)},
                    line("setup_root", n, ["@levels"]),
                    *(line("search_level", n, ["@levels", "@edges", i32(level)])
                      for level in range(levels)))


def page_rank(n, rounds):
    average = 12
    args = ["@starts", "@sources", "@parts", f32(0.85), u32(n)]
    ranks = ["ranks", "others"]
    return launches({"starts": zeros("u32", n + 1), "sources": words(n * average, 71, 0, n - 1),
                     "parts": floats(n, 72, 0.0, 0.15), "ranks": filled("f32", n, 1.0),
                     "others": zeros("f32", n)},
                    line("setup_starts", n + 256, ["@starts", u32(average), u32(n)]),
                    *(line("page_rank", n, [f"@{ranks[1 - r % 2]}", f"@{ranks[r % 2]}", *args])
                      for r in range(rounds)))


def all_paths(groups):
    return launches({"graphs": random("u16", 1024 * groups, 73, 1, 1000)},
                    plane("all_paths", 16 * groups, 16, ["@graphs"], (16, 16)))


def triangles(n):
    return launches({"neighbours": zeros("u32", 12 * n), "counts": zeros("u32", n)},
                    line("setup_neighbours", n, ["@neighbours"]),
                    line("triangles", n, ["@counts", "@neighbours", u32(n)]))


def ellpack(n, width):
    return launches({"columns": random("i32", n * width, 74, -n // 4, n - 1),
                     "values": floats(n * width, 75), "x": floats(n, 76), "y": zeros("f32", n)},
                    line("ellpack", n, ["@y", "@columns", "@values", "@x", i32(width), i32(n)]))


def blocks(n, width):
    return launches({"columns": words(n // 4 * width, 77, 0, n // 4 - 1),
                     "values": floats(4 * n * width, 78), "x": floats(n, 79), "y": zeros("f32", n)},
                    line("blocks", n, ["@y", "@columns", "@values", "@x", i32(width)]))


def coordinates(n, entries):
    return launches({"rows": words(entries, 80, 0, n - 1), "columns": words(entries, 81, 0, n - 1),
                     "values": random("i16", entries, 82), "x": random("i16", n, 83),
                     "y": zeros("i32", n)},
                    line("coordinates", entries, ["@y", "@rows", "@columns", "@values", "@x"]))


def philox(n):
    return launches({"out": zeros("u32", 4 * n)},
                    line("philox", n, ["@out", u32(0x12345678), u32(0x9abcdef0)]))


def mersenne(n, count):
    return launches({"out": zeros("u32", n)}, line("mersenne", n, ["@out", i32(count)], 64))


def normals(n, pairs):
    return launches({"out": zeros("f32", 2 * n)},
                    line("normals", n, ["@out", u32(99), i32(pairs)]))


def ising(width, sweeps):
    return launches({"spins": random("i8", width * width, 84)},
                    line("setup_spins", width * width, ["@spins"]),
                    *(plane("ising", width // 2, width,
                            ["@spins", i32(width), i32(width), u32(77 + 13 * s), i32(s % 2)],
                            (32, 8)) for s in range(2 * sweeps)))


def insert(keys, slots):
    return launches({"keys": words(keys, 85, 0, 2 * keys), "queries": words(keys, 89, 0, 2 * keys),
                     "slots": zeros("u32", slots), "tries": zeros("u8", keys)},
                    line("insert", keys, ["@slots", u32(slots - 1), "@keys"]),
                    line("find", keys, ["@tries", "@slots", u32(slots - 1), "@queries"]))


def group_by(n, groups):
    return launches({"groups": random("u16", n, 86, 0, groups - 1), "values": random("i32", n, 87),
                     "counts": zeros("u32", groups), "sums": zeros("u32", groups),
                     "least": filled("i32", groups, 0x7fffffff),
                     "most": filled("i32", groups, -0x80000000)},
                    line("group_by", n, ["@counts", "@sums", "@least", "@most", "@groups",
                                         "@values"]))


def bloom(keys, bits):
    return launches({"keys": words(keys, 88), "queries": words(4 * keys, 89),
                     "bits": zeros("u32", bits // 32), "out": zeros("u8", 4 * keys)},
                    line("bloom_add", keys, ["@bits", u32(bits - 1), "@keys"]),
                    line("bloom_test", 4 * keys, ["@out", "@bits", u32(bits - 1), "@queries"]))


def stencil_line(n):
    return launches({"in": floats(n, 90), "weights": floats(9, 91), "out": zeros("f32", n)},
                    line("line", n, ["@out", "@in", "@weights", i32(n)]))


def life(width):
    return launches({"board": bytes_(width * width, 92), "out": zeros("u8", width * width)},
                    plane("life", width, width, ["@out", "@board", i32(width), i32(width)]))


def box(x, y, z):
    return launches({"in": floats(x * y * z, 93), "out": zeros("f32", x * y * z)},
                    one("box", [x, y, z], [32, 4, 2], ["@out", "@in", i32(x), i32(y), i32(z)]))


def wave(width, steps):
    fields = ["first", "second", "third"]
    buffers = {name: floats(width * width, 94 + i) for i, name in enumerate(fields[:2])}
    buffers["third"] = zeros("f32", width * width)
    return launches(buffers, *(plane("wave", width, width,
                                     [f"@{fields[(s + k) % 3]}" for k in (2, 1, 0)] +
                                     [i32(width), i32(width), f32(0.2)], (16, 16))
                               for s in range(steps)))


def lattice(width, height, steps):
    cells, names = width * height, ["flow", "other"]
    return launches({"flow": floats(9 * cells, 96, 0.1, 0.2), "other": zeros("f32", 9 * cells),
                     "walls": bytes_(cells, 97)},
                    *(plane("lattice", width, height,
                            [f"@{names[1 - s % 2]}", f"@{names[s % 2]}", "@walls", i32(width),
                             i32(height), f32(0.7)]) for s in range(steps)))


def fft_private(n):
    return launches({"data": floats(64 * n, 98), "roots": zeros("f32", 64)},
                    line("setup_roots", 32, ["@roots", i32(32)], 32),
                    line("fft_private", n, ["@data", "@roots"], 64))


def fft_local(groups):
    return launches({"data": floats(512 * groups, 99), "roots": zeros("f32", 512)},
                    line("setup_roots", 256, ["@roots", i32(256)]),
                    line("fft_local", 128 * groups, ["@data", "@roots"], 128))


def residues(groups):
    return launches({"data": words(512 * groups, 100), "roots": zeros("u32", 256)},
                    line("setup_residues", 256, ["@roots"]),
                    line("residues", 256 * groups, ["@data", "@roots"]))


def taps(n):
    return launches({"in": floats(n, 101), "filter": floats(63, 102), "out": zeros("f32", n)},
                    line("taps", n, ["@out", "@in", "@filter", i32(n)]))


def layer(width, channels, outputs):
    return launches({"in": floats(width * width * channels, 103),
                     "weights": floats(9 * channels * outputs, 104), "bias": floats(outputs, 105),
                     "out": zeros("f32", width * width * outputs)},
                    one("layer", [width, width, outputs], [32, 8, 1],
                        ["@out", "@in", "@weights", "@bias", i32(width), i32(width), i32(channels)]))


def pool(width, channels):
    half = width // 2
    return launches({"in": floats(width * width * channels, 106),
                     "out": zeros("f32", half * half * channels),
                     "where": zeros("i32", half * half * channels)},
                    one("pool", [half, half, channels], [32, 8, 1],
                        ["@out", "@where", "@in", i32(width), i32(width)]))


def segments(n):
    return launches({"in": random("i32", n, 107), "flags": bytes_(n, 108), "out": zeros("i32", n)},
                    line("segments", n, ["@out", "@in", "@flags"]))


def keep(n):
    return launches({"in": random("i32", n, 109), "counts": zeros("u32", n // 256),
                     "places": zeros("u32", n // 256), "out": zeros("i32", n)},
                    line("count_kept", n, ["@counts", "@in"]),
                    line("place_blocks", 256, ["@places", "@counts", u32(n // 256)]),
                    line("keep", n, ["@out", "@places", "@in"]))


def lower_bound(n, queries):
    return launches({"list": zeros("u32", n), "queries": words(queries, 110, 0, 16 * n),
                     "out": zeros("u32", queries)},
                    line("setup_list", n, ["@list"]),
                    line("lower_bound", queries, ["@out", "@list", u32(n), "@queries"]))


def prefixes(nodes, n):
    return launches({"children": words(16 * nodes, 111), "addresses": words(n, 112),
                     "out": zeros("u32", n)},
                    line("prefixes", n, ["@out", "@children", u32(nodes), "@addresses"]))


def rays(width, bits):
    leaves = 8 ** bits
    levels, nodes = [], leaves // 2
    while nodes:
        levels += line("setup_boxes", nodes, ["@boxes"], min(nodes, 64))
        nodes //= 2
    return launches({"spheres": zeros("f32", 4 * leaves), "boxes": zeros("f32", 12 * leaves),
                     "out": zeros("f32", width * width)},
                    line("setup_spheres", leaves, ["@spheres", "@boxes", i32(bits)], 64), levels,
                    plane("rays", width, width, ["@out", "@spheres", "@boxes", u32(leaves),
                                                 i32(width)], (8, 8)))


def image(kernel, kind, channels, *more, seed, workgroup=(64, 4)):
    def run(width):
        return launches({"in": bytes_(channels * width * width, seed),
                         "out": zeros(kind, width * width)},
                        plane(kernel, width, width,
                              ["@out", "@in", i32(width), i32(width), *map(f32, more)], workgroup))
    return run


def circle(n, points):
    return launches({"hits": zeros("u32", n)}, line("circle", n, ["@hits", i32(points)]))


def paths(n, steps):
    return launches({"payoffs": zeros("f32", n)},
                    line("paths", n, ["@payoffs", f32(100.0), f32(95.0), f32(0.0005), f32(0.02),
                                      i32(steps)]))


def walks(n, size):
    return launches({"out": zeros("u32", n)}, line("walks", n, ["@out", i32(size), u32(4000)]))


def aes(n):
    return launches({"in": bytes_(16 * n, 117), "sbox": zeros("u8", 256), "keys": bytes_(176, 118),
                     "out": zeros("u8", 16 * n)},
                    line("setup_sbox", 256, ["@sbox"]),
                    line("aes", n, ["@out", "@in", "@sbox", "@keys"]))


def aes_blocks(buffers):
    import numpy as np

    def twice(x):
        return x << 1 ^ (0x11b if x & 0x80 else 0)

    def product(x, y):
        return 0 if y == 0 else (x if y & 1 else 0) ^ product(twice(x), y >> 1)

    sbox = []
    for x in range(256):
        r = next((y for y in range(256) if product(x, y) == 1), 0) * 0x101
        sbox.append((r ^ r >> 4 ^ r >> 5 ^ r >> 6 ^ r >> 7 ^ 0x63) & 0xff)
    keys, out = buffers["keys"].tolist(), []
    for block in buffers["in"].reshape(-1, 16).tolist():
        s = [x ^ k for x, k in zip(block, keys)]
        for round_ in range(1, 11):
            t = [sbox[s[(i + 4 * (i & 3)) & 15]] for i in range(16)]
            if round_ < 10:
                t = [product(t[i], 2) ^ product(t[j | i & 12], 3) ^ t[k | i & 12] ^ t[m | i & 12]
                     for i in range(16)
                     for j, k, m in [((i + 1) & 3, (i + 2) & 3, (i + 3) & 3)]]
            s = [x ^ k for x, k in zip(t, keys[16 * round_:])]
        out += s
    return np.array(out, np.uint8)


def keccak(n):
    return launches({"messages": random("u64", 8 * n, 119), "out": zeros("u64", 4 * n)},
                    line("keccak", n, ["@out", "@messages"], 64))


def rc4(n, length):
    return launches({"keys": bytes_(16 * n, 120), "out": zeros("u8", n * length)},
                    line("rc4", n, ["@out", "@keys", i32(length)], 64))


def chacha(n):
    return launches({"data": words(16 * n, 121), "key": words(11, 122)},
                    line("chacha", n, ["@data", "@key"]))


def run_lengths(n):
    return launches({"in": bytes_(128 * n, 123, 0, 2), "out": zeros("u8", 256 * n),
                     "sizes": zeros("u32", n)},
                    line("run_lengths", n, ["@out", "@sizes", "@in"]))


def huffman(n, symbols):
    return launches({"streams": words(16 * n, 124), "out": zeros("u8", n * symbols)},
                    line("huffman", n, ["@out", "@streams", i32(16), i32(symbols)]))


def matches(n, window):
    return launches({"text": bytes_(n, 125, 97, 100), "out": zeros("u16", 2 * n)},
                    line("matches", n, ["@out", "@text", i32(window), i32(n)]))


def unpack(blocks_):
    return launches({"packed": words(32 * blocks_ + 1, 126), "widths": bytes_(blocks_, 127, 1, 32),
                     "out": zeros("u32", 32 * blocks_)},
                    line("unpack", 32 * blocks_, ["@out", "@packed", "@widths"]))


def all_pairs(n):
    return launches({"bodies": floats(4 * n, 128, 0.0, 1.0), "forces": zeros("f32", 4 * n)},
                    line("all_pairs", n, ["@forces", "@bodies", f32(0.09), i32(n)]))


def cells(size):
    count = size ** 3
    return launches({"numbers": floats(24 * count, 129, 0.0, 1.0), "counts": zeros("u32", count),
                     "bodies": zeros("f32", 32 * count), "forces": zeros("f32", 32 * count)},
                    line("setup_cells", count, ["@bodies", "@counts", "@numbers", i32(size)], 64),
                    line("cells", 8 * count, ["@forces", "@bodies", "@counts", i32(size),
                                              f32(1.0)], 64))


# File, name, what it asks for, run, arguments of run for the real and the small size, buffers to
# compare with tolerances, more keys: `expect_small` computes what buffers of the small size hold in
# the end, for kernels that not all other runtimes take, or take right.
ROWS = [
    ("private", "insertion-sort", "32 numbers sorted in a private array", insertion_sort,
     (32 * KI,), (128,), {"out": 0}),
    ("private", "queens", "backtracking in a private array, divergent", queens,
     (10,), (6,), {"counts": 0}),
    ("private", "polygon-clip", "two private arrays whose lengths differ", polygon_clip,
     (128 * KI,), (256,), {"areas": 1e-5}),
    ("spills", "product-24", "4 x 4 matrices in 24 registers", product_24,
     (64 * KI,), (256,), {"c": 1e-6}),
    ("spills", "solve-32", "six equations unrolled in 32 registers", solve_32,
     (64 * KI,), (256,), {"solutions": 1e-5}),
    ("spills", "reactions-48", "Runge and Kutta with ten substances in 48 registers", reactions_48,
     (16 * KI, 16), (256, 2), {"amounts": 1e-5}),
    ("spills", "dct-64", "8 x 8 cosine transform of bytes in 64 registers", dct_64,
     (256, 256), (8, 8), {"out": 0}),
    ("loops", "collatz", "64-bit loop, as long as each lane's number asks", collatz,
     (64 * KI,), (256,), {"steps": 0}),
    ("loops", "gcd", "a loop of 32-bit remainders", gcd, (128 * KI,), (256,), {"out": 0}),
    ("loops", "square-root", "64-bit integer root, bit by bit", square_root,
     (128 * KI,), (256,), {"roots": 0}),
    ("bits", "set-bits", "a loop over the set bits of a 64-bit word", set_bits,
     (256 * KI,), (256,), {"out": 0}),
    ("bits", "crc32", "eight bits of each byte of a message", crc32,
     (32 * KI, 64), (128, 16), {"sums": 0}),
    ("bits", "nearest-code", "popcounts of 128 bits against a list that all share", nearest_code,
     (16 * KI, 1024), (256, 32), {"out": 0}),
    ("switches", "bytecode", "an interpreter, the same program in all lanes, registers in a private "
     "array", bytecode, (16 * KI, 8), (256, 2), {"out": 0}),
    ("switches", "lexer", "a state machine over bytes, divergent switch", lexer,
     (32 * KI,), (64,), {"counts": 0}),
    ("switches", "mixed", "a divergent switch of twelve operations, division among them", mixed,
     (512 * KI,), (512,), {"out": 0}),
    ("recursion", "ackermann", "recursion that is not inlined", ackermann,
     (4 * KI, 11), (64, 5), {"out": 0},
     {"needs": "recursion", "expect_small": {"out": lambda buffers: 2 * buffers["numbers"] + 3}}),
    ("recursion", "quicksort", "recursion over rows of global memory", quicksort,
     (4 * KI, 64), (64, 16), {"rows": 0},
     {"needs": "recursion", "expect_small": {"rows": sorted_rows}}),
    ("recursion", "integrals", "recursion of f64 with seven arguments, halving intervals", integrals,
     (8 * KI,), (64,), {"out": 1e-13},
     {"needs": "recursion", "expect_small": {"out": arc_tangents}, "tolerance": {"abs": 1e-6}}),
    ("calls", "pointers", "calls through pointers that differ in each lane", pointers,
     (16 * KI, 16), (64, 4), {"values": 1e-5}),
    ("structures", "particles-aos", "an array of structures of 32 bytes, branches", particles_aos,
     (128 * KI, 16), (256, 4), {"particles": 0}),
    ("structures", "particles-soa", "eight arrays, four launches", particles_soa,
     (512 * KI, 4), (256, 2), {"x": 0, "vy": 0, "bounces": 0}),
    ("structures", "records", "structures of mixed fields, four after another in each lane", records,
     (128 * KI, 4), (256, 2), {"summaries": 0, "records": 0}),
    ("strings", "substring", "comparison of bytes with early end, an atomic counter", substring,
     (2 * MI,), (1024,), {"found": 0, "count": 0}),
    ("strings", "utf8", "decoding bytes, nested divergent loops", utf8,
     (64 * KI,), (64,), {"out": 0}),
    ("strings", "decimal", "64-bit division by ten, text of bytes", decimal,
     (64 * KI,), (256,), {"texts": 0}),
    ("strings", "base64", "three bytes to four letters of a table", base64,
     (MI,), (1024,), {"out": 0}),
    ("int64", "divide", "64-bit signed division and remainder", divide,
     (256 * KI,), (256,), {"quotients": 0, "remainders": 0}),
    ("int64", "power-mod", "64-bit remainders in a loop over bits", power_mod,
     (16 * KI,), (64,), {"out": 0}),
    ("int64", "fixed-point", "Mandelbrot set with high halves of 64-bit products", fixed_point,
     (256, 256), (32, 16), {"out": 0}),
    ("linear", "lu-solve", "f64 elimination with pivots in a private array", lu_solve,
     (32 * KI,), (64,), {"solutions": 1e-9}),
    ("linear", "eigenvalues", "f64 rotations with square roots and divisions", eigenvalues,
     (16 * KI,), (64,), {"out": 1e-9}),
    ("linear", "dgemm", "f64 matrix product through tiles in LDS", dgemm,
     (384,), (32,), {"c": 1e-13}),
    ("linear", "tridiagonal", "f64 recurrences with division down strided columns", tridiagonal,
     (16 * KI, 32), (256, 8), {"x": 1e-12}),
    ("halves", "half-rows", "f16 to f32 and back, rows of one lane each", half_rows,
     (64 * KI, 32), (128, 16), {"out": 1e-3}),
    ("halves", "half-cross", "f16 stencil with tests at the border", half_cross,
     (1024,), (64,), {"out": 2e-3}, {"needs": "cl_khr_fp16"}),
    ("halves", "half-layer", "f16 matrix times vector, sums in f16", half_layer,
     (256, 256, 512), (32, 64, 4), {"out": 2e-2}, {"needs": "cl_khr_fp16"}),
    ("sorting", "network", "a network of 63 exchanges in registers", network,
     (256 * KI,), (256,), {"rows": 0}),
    ("sorting", "odd-even", "keys and values merged in LDS, 45 barriers", odd_even,
     (512,), (2,), {"keys": 0, "values": 0}),
    ("sorting", "merge-path", "binary search, then a merge of 16 in each lane", merge_path,
     (MI,), (2 * KI,), {"out": 0}),
    ("dynamic", "edit-distance", "a private row of bytes", edit_distance,
     (32 * KI,), (64,), {"out": 0}),
    ("dynamic", "alignment", "diagonals in LDS, 256 barriers", alignment,
     (512,), (2,), {"scores": 0}),
    ("dynamic", "knapsack", "two rows in LDS, a barrier for each item", knapsack,
     (256, 64), (2, 8), {"out": 0}),
    ("dynamic", "subsequence", "64-bit words with carries, a private table", subsequence,
     (64 * KI,), (64,), {"out": 0}),
    ("graphs", "breadth-first", "levels of a search, eight launches, few lanes active", search_level,
     (256 * KI, 8), (256, 4), {"levels": 0}),
    ("graphs", "page-rank", "two gathers per edge, rows that differ, two launches", page_rank,
     (128 * KI, 2), (256, 2), {"ranks": 1e-5}),
    ("graphs", "all-paths", "Floyd's algorithm on 32 x 32 in LDS, 33 barriers", all_paths,
     (512,), (2,), {"graphs": 0}),
    ("graphs", "triangles", "divergent merging of sorted lists", triangles,
     (64 * KI,), (256,), {"counts": 0}),
    ("sparse", "ellpack", "padded sparse rows, gathers under a condition", ellpack,
     (256 * KI, 16), (256, 4), {"y": 1e-5}),
    ("sparse", "blocks", "sparse rows of 4 x 4 blocks", blocks,
     (128 * KI, 8), (256, 4), {"y": 1e-5}),
    ("sparse", "coordinates", "sparse entries in any order, atomic additions", coordinates,
     (64 * KI, MI), (256, KI), {"y": 0}),
    ("randoms", "philox", "ten rounds of 32-bit products with high halves", philox,
     (MI,), (256,), {"out": 0}),
    ("randoms", "mersenne", "624 words of private state", mersenne,
     (8 * KI, 256), (64, 32), {"out": 0}),
    ("randoms", "normals", "logarithms, roots, sines and cosines", normals,
     (64 * KI, 8), (256, 2), {"out": 1e-4}),
    ("randoms", "ising", "spins of bytes on a checkerboard, four launches", ising,
     (1024, 2), (64, 1), {"spins": 0}),
    ("tables", "hash-set", "a hash table by atomics, then look-ups", insert,
     (512 * KI, MI), (512, 1024), {"slots": 0, "tries": 0}),
    ("tables", "group-by", "four atomics of 4096 groups per value", group_by,
     (256 * KI, 4096), (1024, 64), {"counts": 0, "sums": 0, "least": 0, "most": 0}),
    ("tables", "bloom", "bits set by atomics, tests with early end", bloom,
     (128 * KI, MI), (256, 4 * KI), {"bits": 0, "out": 0}),
    ("stencils", "stencil-line", "nine neighbours in a line through LDS", stencil_line,
     (4 * MI,), (1024,), {"out": 1e-5}),
    ("stencils", "life", "eight neighbours of bytes, remainders for the borders", life,
     (1024,), (64,), {"out": 0}),
    ("stencils", "box", "27 neighbours in space, each with tests at the borders", box,
     (128, 128, 64), (32, 8, 4), {"out": 1e-5}),
    ("stencils", "wave", "tiles with margins in LDS, two launches", wave,
     (1024, 2), (64, 2), {"first": 1e-6, "third": 1e-6}),
    ("fluid", "lattice", "nine arrays in a plane, walls, division, tables", lattice,
     (512, 512, 2), (64, 8, 2), {"flow": 1e-5}),
    ("transforms", "fft-private", "Fourier transforms in private arrays with loops", fft_private,
     (32 * KI,), (64,), {"data": 1e-5}),
    ("transforms", "fft-local", "Fourier transforms of radix 2 in LDS", fft_local,
     (2048,), (2,), {"data": 1e-5}),
    ("transforms", "residues", "number-theoretic transforms in LDS, remainders of 64 bits", residues,
     (512,), (2,), {"data": 0}),
    ("convolutions", "taps", "a filter of 63 taps with tests at the ends", taps,
     (512 * KI,), (512,), {"out": 1e-5}),
    ("convolutions", "layer", "3 x 3 over 16 channels with tests at the borders", layer,
     (64, 16, 32), (32, 2, 2), {"out": 1e-5}),
    ("convolutions", "pool", "the greatest of 3 x 3 and its place", pool,
     (512, 16), (64, 1), {"out": 0, "where": 0}),
    ("scans", "segments", "segmented sums in LDS, 17 barriers", segments,
     (MI,), (512,), {"out": 0}),
    ("scans", "compaction", "counts, their scan and a scatter: three launches", keep,
     (MI,), (1024,), {"out": 0}),
    ("trees", "lower-bound", "binary search in 1 Mi numbers", lower_bound,
     (MI, 256 * KI), (1024, 256), {"out": 0}),
    ("trees", "prefixes", "a trie of nibbles, up to eight dependent reads", prefixes,
     (16 * KI, 512 * KI), (64, 256), {"out": 0}),
    ("trees", "rays", "a tree of boxes with a private stack", rays,
     (128, 5), (32, 2), {"out": 1e-3}),
    ("images", "median", "nine bytes sorted in a private array", image("median", "u8", 1, seed=113),
     (512,), (64,), {"out": 0}),
    ("images", "sobel", "bytes of eight neighbours, early end at the border",
     image("sobel", "u8", 1, seed=114), (2048,), (64,), {"out": 0}),
    ("images", "bilateral", "25 exponentials per pixel",
     image("bilateral", "f32", 1, 0.1, 0.0005, seed=115), (512,), (64,), {"out": 1e-5}),
    ("images", "rotation", "bilinear reads of four-byte pixels",
     image("rotation", "f32", 4, 0.8660254, 0.5, seed=116, workgroup=(16, 16)), (1024,), (64,),
     {"out": 1e-4}),
    ("montecarlo", "circle", "random points counted, arithmetic", circle,
     (64 * KI, 64), (256, 8), {"hits": 0}),
    ("montecarlo", "paths", "exponentials along random paths", paths,
     (32 * KI, 32), (256, 4), {"payoffs": 1e-3}),
    ("montecarlo", "walks", "random walks of very different lengths", walks,
     (16 * KI, 16), (64, 6), {"out": 0}),
    ("cryptography", "aes", "AES by bytes with a table and private arrays", aes,
     (64 * KI,), (256,), {"out": 0}, {"expect_small": {"out": aes_blocks}}),
    ("cryptography", "keccak", "25 words of 64 bits, rotations", keccak,
     (64 * KI,), (64,), {"out": 0}),
    ("cryptography", "rc4", "a private table of 256 bytes", rc4,
     (8 * KI, 64), (64, 16), {"out": 0}),
    ("cryptography", "chacha", "sixteen words, additions and rotations", chacha,
     (512 * KI,), (256,), {"data": 0}),
    ("compression", "run-lengths", "runs of bytes, outputs that differ in length", run_lengths,
     (16 * KI,), (64,), {"out": 0, "sizes": 0}),
    ("compression", "huffman", "bit streams, a code table", huffman,
     (32 * KI, 64), (64, 16), {"out": 0}),
    ("compression", "matches", "the longest match in a window of bytes", matches,
     (16 * KI, 256), (512, 32), {"out": 0}),
    ("compression", "unpack", "numbers of 1 to 32 bits", unpack,
     (64 * KI,), (64,), {"out": 0}),
    ("molecules", "all-pairs", "all pairs with a distance test", all_pairs,
     (4 * KI,), (256,), {"forces": 1e-4}),
    ("molecules", "cells", "bodies of 27 cells around, loops that differ", cells,
     (16,), (4,), {"forces": 1e-4}),
]


def halves():
    """The half of each kernel that has been drawn."""
    return dict(line_.split() for line_ in HALVES.read_text().splitlines()
                if line_ and not line_.startswith("#")) if HALVES.exists() else {}


def benches():
    drawn = halves()
    out = {}
    for file, name, title, run, real, small, compare, *more in ROWS:
        out[name] = {"class": f"half {drawn.get(name, '?')}", "half": drawn.get(name),
                     "title": title[0].upper() + title[1:], "object": file, "run": run, "real": real, "small": small,
                     "compare": compare, **(more[0] if more else {})}
    return out


BENCHES = benches()
