#!/usr/bin/env python3
"""Remakes the code objects and manifests of this folder, and what they expect.

Needs NumPy, clang-19, lld-19, llvm-19 and rocm-device-libs. Factors and sums are small integers, so
all products are exact whatever the numerics are: NumPy's are what is expected.
"""

import pathlib
import re
import subprocess
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
BITCODE = "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode"
# Shape, blocks, elements of A and B in a lane: from the source.
ROW = re.compile(r"^(ONE|MANY|KERNEL|PLACED)\(([fi]\d+)_(\d+)x\d+x(\d+)(\w+?)(_1k)?, ", re.M)
DTYPES = {"f32": "<f4", "f64": "<f8", "i32": "<i4", "f16": "<f2", "bf16": "<u2", "i8": "<i1", "fp8": "u1", "bf8": "u1"}
MOST_FACTORS, MOST_SUMS = 1024, 2048
# Mantissa bits and bias of floats of 8 bits.
TINY = {"fp8": (3, 8), "bf8": (2, 16)}


def link_libraries(folder):
    """The libraries of gfx942 are those of gfx940; Debian's packages have them under that name only."""
    for file in pathlib.Path(BITCODE).iterdir():
        (folder / file.name).symlink_to(file)
    own = folder / "oclc_isa_version_942.bc"
    if not own.exists():
        own.symlink_to(f"{BITCODE}/oclc_isa_version_940.bc")


def compile_object(libraries, source, target, level):
    output = HERE / f"{source}.{target}.{level}.co"
    subprocess.run(
        ["clang-19", "-x", "cl", "-cl-std=CL2.0", f"-{level}", "-Wall", "--target=amdgcn-amd-amdhsa",
         f"-mcpu={target}", "-mcode-object-version=5", f"--rocm-device-lib-path={libraries}",
         f"{source}.cl", "-o", output], check=True, cwd=HERE)
    subprocess.run(["llvm-strip-19", output], check=True)
    output.chmod(0o644)


def bits(values, kind):
    """The values as elements of a type."""
    if kind == "bf16":
        return (values.astype("<f4").view("<u4") >> 16).astype("<u2")
    if kind in TINY:
        mantissa, bias = TINY[kind]
        known = {0: 0}
        for code in range(1, 128):
            exponent, rest = code >> mantissa, code & (1 << mantissa) - 1
            value = (rest + (1 << mantissa if exponent else 0)) * 2.0 ** (max(exponent, 1) - bias - mantissa)
            known[value], known[-value] = code, code | 128
        return np.array([known[value] for value in values.reshape(-1)], "u1")
    return values.astype(DTYPES[kind])


def lines_for(source, target):
    """The lines of a source that are compiled for a target."""
    skips, lines = [], []
    for line in (HERE / source).read_text().splitlines():
        word, _, name = line.partition(" ")
        if word in ("#ifdef", "#ifndef") and name.startswith("__gfx"):
            skips.append((name == f"__{target}__") != (word == "#ifdef"))
        elif word.startswith("#if"):
            skips.append(False)
        elif word == "#endif":
            skips.pop()
        elif not any(skips):
            lines.append(line)
    return "\n".join(lines)


def shapes(target):
    """Name, type of sums and of factors, rows, depth and blocks of each shape, and whether A is sparse."""
    for row in ROW.finditer(lines_for("products.cl", target)):
        macro, sum_type, size, k, factor, suffix = row.groups()
        size, k = int(size), int(k)
        name = f"{sum_type}_{size}x{size}x{k}{factor}{suffix or ''}"
        # 64 lanes hold as many elements each.
        held = {"f32": 1, "f64": 1, "f16": 4, "i8": 4, "bf16": 4 if suffix else 2, "_i8": 8, "_xf32": 2}.get(factor, 8)
        kinds = factor.removeprefix("_").replace("xf32", "f32").split("_")
        sparse = macro == "PLACED"
        blocks = 1 if sparse else 64 * held // (size * k)
        yield f"sparse_{name}" if sparse else name, sum_type, kinds, size, k, blocks, sparse


def permuted(b, blgp):
    """B of 32x32x2 after BLGP: row k is in lanes 32 k to 32 k + 31."""
    lane = np.arange(64)
    source = {1: lane % 32, 2: lane % 32 + 32, 3: (lane + 16) % 64}
    source = source.get(blgp, lane % 16 + 16 * (blgp - 4))
    return b.reshape(64)[source].reshape(b.shape)


def main():
    rng = np.random.default_rng(1)
    first = rng.integers(-4, 5, (2, 256))
    more = np.random.default_rng(3).integers(-4, 5, (2, MOST_FACTORS - 256))
    a, b = np.concatenate([first, more], axis=1)
    c = rng.integers(-100, 101, MOST_SUMS)
    for kind in ("f32", "f64", "f16", "bf16", "i8", "fp8", "bf8"):
        np.save(HERE / f"a.{kind}.npy", bits(a, kind))
        np.save(HERE / f"b.{kind}.npy", bits(b, kind))
    for kind in ("f32", "f64", "i32"):
        np.save(HERE / f"c.{kind}.npy", bits(c, kind))
    places = ascending_pairs(MOST_FACTORS // 4)
    np.save(HERE / "places.npy", places)
    with tempfile.TemporaryDirectory() as folder:
        link_libraries(pathlib.Path(folder))
        for target in ("gfx908", "gfx90a", "gfx942"):
            for level in ("O0", "O3"):
                compile_object(folder, "products", target, level)
                manifest(target, level, a, b, c, places)
            compile_object(folder, "gemm", target, "O3")
            gemm(target)
            compile_object(folder, "loops", target, "O3")
            loops(target)


def ascending_pairs(count):
    """Places of pairs of elements among four, the lower one first."""
    pairs = np.array([(low, high) for high in range(4) for low in range(high)], "u1")
    return pairs[np.random.default_rng(4).integers(0, len(pairs), count)].reshape(-1)


def dense(stored, places):
    """A sparse A with the elements that it leaves out."""
    rows, count = stored.shape
    whole = np.zeros((rows, count // 2, 4), stored.dtype)
    np.put_along_axis(whole, places.reshape(rows, -1, 2).astype(int), stored.reshape(rows, -1, 2), 2)
    return whole.reshape(rows, -1)


def manifest(target, level, a, b, c, places):
    expected = {"f32": [], "f64": [], "i32": []}
    dispatches = []
    for name, sum_type, factors, size, k, blocks, sparse in shapes(target):
        if sparse:
            stored = a[:size * k // 2].reshape(size, k // 2)
            x = dense(stored, places[:stored.size])[np.newaxis]
        else:
            x = a[:blocks * size * k].reshape(blocks, size, k)
        y = b[:blocks * k * size].reshape(blocks, k, size)
        z = c[:blocks * size * size].reshape(blocks, size, size)
        results = [(name, x @ y + z)]
        if blocks > 1 and not name.startswith("f64") and level == "O3":
            results.append((name + "_broadcast", x[-1] @ y + z))
        if sparse and level == "O3":
            results.append((name + "_last", results[0][1]))
        if name == "f32_32x32x2f32" and level == "O3":
            results += [(f"permuted_{n}", x @ permuted(y, n) + z) for n in range(1, 8)]
        for kernel, result in results:
            done = expected[sum_type]
            offset = sum(map(len, done)) * np.dtype(DTYPES[sum_type]).itemsize
            done.append(result.reshape(-1))
            dispatches.append((kernel, sum_type, factors[0], factors[-1], offset, sparse))
    lines = [f"# Each shape of matrix instruction, {target}, -{level}. Made by make.py.", "", "[buffers]"]
    kinds = {kind for _, _, a_kind, b_kind, *_ in dispatches for kind in (a_kind, b_kind)}
    for kind in sorted(kinds):
        lines += [f'{side}_{kind} = {{ file = "{side}.{kind}.npy" }}' for side in "ab"]
    if any(sparse for *_, sparse in dispatches):
        lines.append('places = { file = "places.npy" }')
    checks = []
    for kind, done in expected.items():
        if done:
            all_sums = bits(np.concatenate(done), kind)
            file = f"d.{kind}.{target}.{level}.expected.npy"
            np.save(HERE / file, all_sums)
            lines += [f'c_{kind} = {{ file = "c.{kind}.npy" }}',
                      f'd_{kind} = {{ type = "{kind}", count = {len(all_sums)}, fill = 0 }}']
            checks.append(f'd_{kind} = {{ file = "{file}" }}')
    for kernel, sum_type, a_kind, b_kind, offset, sparse in dispatches:
        lines += ["", "[[dispatch]]", f'code_object = "products.{target}.{level}.co"',
                  f'kernel = "{kernel}"', "grid = [64]", "workgroup = [64]",
                  f'args = ["@d_{sum_type}+{offset}", "@a_{a_kind}", "@b_{b_kind}", "@c_{sum_type}"'
                  + (', "@places"]' if sparse else "]")]
    lines += ["", "[expect]", *checks, ""]
    (HERE / f"products.{target}.{level}.toml").write_text("\n".join(lines))


def gemm(target):
    """A product of 128 x 128 elements by both kernels."""
    size = 128
    a, b = np.random.default_rng(2).integers(-4, 5, (2, size, size)).astype("<f4")
    np.save(HERE / "gemm.a.npy", a)
    np.save(HERE / "gemm.b.npy", b)
    np.save(HERE / "gemm.c.expected.npy", a @ b)
    lines = [f"# A matrix product by matrix instructions and without, {target}. Made by make.py.", "",
             "[buffers]", 'a = { file = "gemm.a.npy" }', 'b = { file = "gemm.b.npy" }']
    kernels = ("gemm_mfma", "gemm_fma")
    lines += [f'{kernel} = {{ type = "f32", count = {size * size}, fill = 0 }}' for kernel in kernels]
    for kernel in kernels:
        lines += ["", "[[dispatch]]", f'code_object = "gemm.{target}.O3.co"', f'kernel = "{kernel}"',
                  f"grid = [{size * 4}, {size // 64}]", "workgroup = [256, 1]",
                  f'args = ["@{kernel}", "@a", "@b", {{ i32 = {size} }}]']
    lines += ["", "[expect]", *(f'{kernel} = {{ file = "gemm.c.expected.npy" }}' for kernel in kernels), ""]
    (HERE / f"gemm.{target}.toml").write_text("\n".join(lines))


# A loop's kernel: shape, elements of a lane's factors, and its sums.
LOOP = re.compile(r"^(LOOP|SPARSE)\(([fi]\d+)_(\d+)x\d+x(\d+)(\w+?)(_1k)?, .*?, (\d+), (\d+), \w+(?:, \w+)?\)", re.M)
ITERATIONS = 3


def loops(target):
    """A few iterations of each loop of loops.cl."""
    lines = [f"# Loops of matrix instructions, {target}. Made by make.py.", "", "[buffers]"]
    checks, dispatches = ["", "[expect]"], []
    for row in LOOP.finditer(lines_for("loops.cl", target)):
        macro, kind, size, k, factor, suffix, sums, count = row.groups()
        kernel = f"{kind}_{size}x{size}x{k}{factor}{suffix or ''}"
        terms = int(k)
        if macro == "SPARSE":
            kernel, terms = f"sparse_{kernel}", terms // 2
        # Sums of products of 1 and 1 to 4.
        value = ITERATIONS * terms * sum(i % 4 + 1 for i in range(int(count)))
        lines.append(f'{kernel} = {{ type = "{kind}", count = {64 * int(sums)}, fill = 0 }}')
        checks.append(f'{kernel} = {{ type = "{kind}", fill = {value} }}')
        dispatches += ["", "[[dispatch]]", f'code_object = "loops.{target}.O3.co"', f'kernel = "{kernel}"',
                       "grid = [64]", "workgroup = [64]", f'args = ["@{kernel}", {{ i32 = {ITERATIONS} }}]']
    (HERE / f"loops.{target}.toml").write_text("\n".join([*lines, *dispatches, *checks, ""]))


main()
