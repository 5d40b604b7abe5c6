"""What each benchmark runs on and with, at its real size and at a small one.

`run(size)` gives buffers and dispatches in order; dispatches of kernels whose names begin with
`setup_` are not timed. `compare` names the buffers that the runtimes' results are compared by, with
a tolerance relative to the buffer's largest magnitude (0: every bit); `needs` an OpenCL extension.
`class` says which kind of kernel it is: `compare.py` gives a mean for each.
`expect` computes what small buffers hold in the end from what they hold at first.
"""

import struct

EXAMPLES = "../../examples"


def random(kind, count, seed, low=None, high=None):
    spec = {"seed": seed}
    if low is not None:
        spec |= {"low": low, "high": high}
    return {"type": kind, "count": count, "random": spec}


def zeros(kind, count):
    return {"type": kind, "count": count, "fill": 0.0 if kind.startswith("f") else 0}


def total(buffers):
    return buffers["numbers"].sum(dtype="uint32", keepdims=True)


def counts(buffers):
    # Who only wants the names of benchmarks needs no NumPy.
    import numpy as np
    return np.bincount(buffers["data"], minlength=256).astype(np.uint32)


def u32(value):
    return ("u32", value)


def f32(value):
    return ("f32", value)


def one(kernel, grid, workgroup, args, **more):
    return [{"kernel": kernel, "grid": grid, "workgroup": workgroup, "args": args, **more}]


def saxpy(n):
    return {"buffers": {"x": random("f32", n, 1, -1.0, 1.0), "y": random("f32", n, 2, -1.0, 1.0)},
            "dispatches": one("saxpy", [n], [256], ["@y", "@x", f32(2.5), u32(n)])}


def product(n, kernel, workgroup):
    return {"buffers": {"a": random("f32", n * n, 3, -1.0, 1.0),
                        "b": random("f32", n * n, 4, -1.0, 1.0), "c": zeros("f32", n * n)},
            "dispatches": one(kernel, [n, n], workgroup,
                              ["@c", "@a", "@b", u32(n), u32(n), u32(n)])}


def mandelbrot(n, most):
    view = struct.pack("<4f3I", -2.2, -1.2, 3.2 / n, 2.4 / n, n, n, most)
    return {"buffers": {"iterations": zeros("u32", n * n)},
            "dispatches": one("mandelbrot", [n, n], [16, 16], ["@iterations", ("hex", view)])}


def nbody(n):
    return {"buffers": {"bodies": random("f32", 4 * n, 5, 0.0, 1.0),
                        "velocity": random("f32", 4 * n, 6, -0.1, 0.1), "out": zeros("f32", 4 * n)},
            "dispatches": one("nbody", [n], [256], ["@out", "@velocity", "@bodies", u32(n),
                                                    f32(0.01), f32(0.001)])}


def blackscholes(n):
    return {"buffers": {"prices": random("f32", n, 7, 5.0, 30.0),
                        "strikes": random("f32", n, 8, 1.0, 100.0),
                        "years": random("f32", n, 9, 0.25, 10.0),
                        "calls": zeros("f32", n), "puts": zeros("f32", n)},
            "dispatches": one("blackscholes", [n], [256],
                              ["@calls", "@puts", "@prices", "@strikes", "@years", f32(0.02),
                               f32(0.3), u32(n)])}


def sha256(messages):
    return {"buffers": {"data": random("u8", 64 * messages, 10),
                        "digests": zeros("u8", 32 * messages)},
            "dispatches": one("sha256_fixed", [messages], [256],
                              ["@digests", "@data", u32(64), u32(64), u32(messages)])}


def md5(messages):
    return {"buffers": {"messages": random("u32", 4 * messages, 11),
                        "digests": zeros("u32", 4 * messages)},
            "dispatches": one("md5", [messages], [256],
                              ["@digests", "@messages", u32(messages)])}


def spmv(n):
    average = 16
    entries = n * average
    rows = -(-(n + 1) // 256) * 256
    return {"buffers": {"starts": zeros("u32", n + 1),
                        "columns": random("u32", entries, 12, 0, n - 1),
                        "values": random("f32", entries, 13, -1.0, 1.0),
                        "x": random("f32", n, 14, -1.0, 1.0), "y": zeros("f32", n)},
            "dispatches": one("setup_rows", [rows], [256], ["@starts", u32(average), u32(n)]) +
            one("spmv", [n], [256], ["@y", "@starts", "@columns", "@values", "@x", u32(n)])}


def reduction(n):
    items = min(n // 16, 1 << 18)
    return {"buffers": {"numbers": random("u32", n, 15), "sum": zeros("u32", 1)},
            "dispatches": one("reduce_sum", [items], [256],
                              ["@sum", "@numbers", ("local", 1024), u32(n)])}


def histogram(n):
    return {"buffers": {"data": random("u8", n, 16), "bins": zeros("u32", 256)},
            "dispatches": one("histogram", [max(n // 64, 1024)], [256],
                              ["@bins", "@data", u32(n)])}


def scan(n):
    buffers = {"numbers": random("u32", n, 17), "out": zeros("u32", n)}
    # The levels: the numbers, the sums of blocks of 1024, the sums of 1024 of those.
    levels = [("out", "numbers", n)]
    while levels[-1][2] > 1:
        name, count = f"sums{len(levels)}", -(-levels[-1][2] // 1024)
        # Room for whole uint4.
        buffers[name] = zeros("u32", -(-count // 4) * 4)
        levels.append((name, name, count))
    dispatches = []
    for (out, numbers, count), (sums, _, _) in zip(levels, levels[1:]):
        count = -(-count // 4) * 4
        items = -(-count // 1024) * 256
        dispatches += one("scan_blocks", [items], [256],
                          [f"@{out}", f"@{sums}", f"@{numbers}", u32(count)])
    for (out, _, count), (sums, _, _) in list(zip(levels, levels[1:-1]))[::-1]:
        count = -(-count // 4) * 4
        items = -(-count // 1024) * 256
        dispatches += one("add_sums", [items], [256], [f"@{out}", f"@{sums}", u32(count)])
    return {"buffers": buffers, "dispatches": dispatches}


def bitonic(count):
    block = 512
    dispatches = one("bitonic_block", [count // 2], [256], ["@keys"])
    k = 2 * block
    while k <= count:
        j = k // 2
        while j >= block:
            dispatches += one("bitonic_step", [count // 2], [256], ["@keys", u32(j), u32(k)])
            j //= 2
        dispatches += one("bitonic_merge", [count // 2], [256], ["@keys", u32(k)])
        k *= 2
    return {"buffers": {"keys": random("u32", count, 18)}, "dispatches": dispatches}


def transpose(n):
    return {"buffers": {"matrix": random("f32", n * n, 19, -1.0, 1.0), "out": zeros("f32", n * n)},
            "dispatches": one("transpose", [n, n // 4], [32, 8],
                              ["@out", "@matrix", u32(n), u32(n)])}


def blur(n):
    sizes = [u32(n), u32(n)]
    return {"buffers": {"image": random("u8", 4 * n * n, 20), "rows": {"bytes": 8 * n * n},
                        "blurred": zeros("u8", 4 * n * n)},
            "dispatches": one("blur_rows", [n, n], [64, 4], ["@rows", "@image", *sizes]) +
            one("blur_columns", [n, n], [64, 4], ["@blurred", "@rows", *sizes])}


def hgemm(n):
    return {"buffers": {"a": random("f16", n * n, 21, -1.0, 1.0),
                        "b": random("f16", n * n, 22, -1.0, 1.0), "c": zeros("f16", n * n)},
            "dispatches": one("hgemm", [n // 2, n // 4], [64, 4],
                              ["@c", "@a", "@b", u32(n // 2), u32(n)])}


def heat(x, y, z):
    count = (x + 2) * (y + 2) * (z + 2)
    return {"buffers": {"field": random("f64", count, 23, 1.0, 2.0), "out": zeros("f64", count)},
            "dispatches": one("heat", [x, y, z], [64, 4, 1],
                              ["@out", "@field", u32(x + 2), u32(y + 2), u32(z + 2),
                               ("f64", 0.1)], global_offset=[1, 1, 1])}


def fft(batches):
    points = 1024 * batches
    return {"buffers": {"signal": random("f32", 2 * points, 24, -1.0, 1.0),
                        "twiddles": zeros("f32", 2048), "out": zeros("f32", 2 * points)},
            "dispatches": one("setup_twiddles", [1024], [256], ["@twiddles"]) +
            one("fft1024", [256 * batches], [256], ["@out", "@signal", "@twiddles"])}


def gather(n, table):
    return {"buffers": {"table": random("f32", table, 25, -1.0, 1.0),
                        "indices": random("u32", n, 26, 0, table - 1), "out": zeros("f32", n)},
            "dispatches": one("gather", [n], [256], ["@out", "@table", "@indices", u32(n)])}


def alu(n, iterations):
    return {"buffers": {"out": zeros("u32", n)},
            "dispatches": one("alu", [n], [256], ["@out", f32(0.75), f32(1.5), u32(iterations)])}


def kernel(name):
    return f"../kernels/{name}"


def example(name):
    return f"{EXAMPLES}/{name}/{name}"


MI = 1 << 20

# Name of the real size, kernels (from benches/manifests), arguments of `run`: real and small.
BENCHES = {
    "saxpy-16m": {
        "class": "streaming",
        "title": "y = a*x + y over 16 Mi floats: streaming", "object": example("saxpy"),
        "run": saxpy, "real": (16 * MI,), "small": (3840,), "compare": {"y": 0}},
    "matmul-512": {
        "class": "dense loops",
        "title": "A product of 512 x 512 matrices straight from global memory: a dense loop",
        "object": example("matmul"), "run": lambda n: product(n, "matmul_naive", [64, 4]),
        "real": (512,), "small": (64,), "compare": {"c": 1e-5}},
    "matmul-tiled-1024": {
        "class": "LDS and barriers",
        "title": "A product of 1024 x 1024 matrices through tiles in LDS, with barriers",
        "object": example("matmul"), "run": lambda n: product(n, "matmul_tiled", [16, 16]),
        "real": (1024,), "small": (64,), "compare": {"c": 1e-5}},
    "mandelbrot-2048": {
        "class": "arithmetic",
        "title": "The Mandelbrot set in 2048 x 2048 points, at most 1000 iterations: divergent "
                 "arithmetic",
        "object": example("mandelbrot"), "run": mandelbrot, "real": (2048, 1000),
        "small": (64, 50), "compare": {"iterations": 0}},
    "nbody-16k": {
        "class": "arithmetic",
        "title": "16384 bodies attract one another: arithmetic with reciprocal square roots",
        "object": kernel("nbody"), "run": nbody, "real": (16384,), "small": (256,),
        "compare": {"out": 1e-3, "velocity": 1e-3}},
    "blackscholes-4m": {
        "class": "arithmetic",
        "title": "4 Mi options by Black and Scholes: elementary functions of the device library",
        "object": kernel("blackscholes"), "run": blackscholes, "real": (4 * MI,), "small": (1024,),
        "compare": {"calls": 1e-5, "puts": 1e-5}},
    "sha256-256k": {
        "class": "arithmetic",
        "title": "SHA-256 of 131,072 messages of 64 bytes, two blocks each: integer arithmetic",
        "object": example("sha256"), "run": sha256, "real": (131072,), "small": (256,),
        "compare": {"digests": 0}},
    "md5-1m": {
        "class": "arithmetic",
        "title": "MD5 of 1 Mi messages of 16 bytes: integer arithmetic without loops",
        "object": kernel("md5"), "run": md5, "real": (MI,), "small": (512,),
        "compare": {"digests": 0}},
    "spmv-256k": {
        "class": "gathers",
        "title": "A sparse matrix of 262,144 rows and 4 Mi entries in CSR times a vector: gathers, "
                 "divergent loops",
        "object": kernel("spmv"), "run": spmv, "real": (262144,), "small": (512,),
        "compare": {"y": 1e-5}},
    "reduction-16m": {
        "class": "LDS and barriers",
        "title": "The sum of 16 Mi integers: a strided loop, trees in LDS, global atomics",
        "object": example("reduction"), "run": reduction, "real": (16 * MI,), "small": (32768,),
        "compare": {"sum": 0},
        "expect": {"sum": total}},
    "histogram-16m": {
        "class": "LDS and barriers",
        "title": "The histogram of 16 Mi bytes: LDS atomics", "object": example("histogram"),
        "run": histogram, "real": (16 * MI,), "small": (16384,), "compare": {"bins": 0},
        "expect": {"bins": counts}},
    "scan-16m": {
        "class": "LDS and barriers",
        "title": "The prefix sum of 16 Mi integers: LDS and barriers, five launches",
        "object": kernel("scan"), "run": scan, "real": (16 * MI,), "small": (8192,),
        "compare": {"out": 0}},
    "bitonic-1m": {
        "class": "LDS and barriers",
        "title": "A bitonic sort of 1 Mi keys: 78 launches, LDS and barriers",
        "object": example("bitonic"), "run": bitonic, "real": (MI,), "small": (2048,),
        "compare": {"keys": 0}},
    "transpose-4096": {
        "class": "LDS and barriers",
        "title": "A 4096 x 4096 matrix transposed through tiles in LDS", "object": kernel("transpose"),
        "run": transpose, "real": (4096,), "small": (64,), "compare": {"out": 0}},
    "blur-4096": {
        "class": "streaming",
        "title": "A 4096 x 4096 image blurred in two passes: bytes and 16-bit vectors",
        "object": example("blur"), "run": blur, "real": (4096,), "small": (64,),
        "compare": {"blurred": 0}},
    "hgemm-512": {
        "class": "dense loops",
        "title": "A product of 512 x 512 matrices of halves: packed fused multiply-adds",
        "object": kernel("hgemm"), "run": hgemm, "real": (512,), "small": (128,),
        "needs": "cl_khr_fp16", "compare": {"c": 5e-3}},
    "heat-256": {
        "class": "streaming",
        "title": "A seven-point stencil in double precision on 256 x 256 x 128 inner points",
        "object": example("stencil"), "run": heat, "real": (256, 256, 128), "small": (64, 8, 4),
        "compare": {"out": 1e-14}},
    "fft-4m": {
        "class": "LDS and barriers",
        "title": "4096 complex Fourier transforms of 1024 points: five passes through LDS",
        "object": kernel("fft"), "run": fft, "real": (4096,), "small": (4,),
        "compare": {"out": 1e-5}},
    "gather-16m": {
        "class": "gathers",
        "title": "16 Mi reads at random places of 16 MiB", "object": kernel("gather"),
        "run": gather, "real": (16 * MI, 4 * MI), "small": (4096, 1024), "compare": {"out": 0}},
    "alu-64k": {
        "class": "arithmetic",
        "title": "A loop of 4096 iterations of six vector and three scalar instructions in 65,536 "
                 "work-items: arithmetic alone",
        "object": kernel("alu"), "run": alu, "real": (65536, 4096), "small": (256, 64),
        "compare": {"out": 0}},
}
