"""What each example runs on and with. `run` gives buffers, dispatches in order and expectations;
its `check` compares the host's results with a second, independent computation where there is one.
"""

import hashlib
import struct

import numpy as np

from oracle import integers, uniform

BITCODE = "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode"
ALL = ["gfx600", "gfx700", "gfx803", "gfx900", "gfx906"]

HOST = "Expected values: the same source compiled for the host by clang (host_shim.h, host_run.c)"


def same(a, b):
    assert np.array_equal(np.asarray(a), np.asarray(b)), "host run and second computation differ"


def zeros(kind, count):
    return {"type": kind, "count": count, "fill": 0.0 if kind.startswith("f") else 0}


def saxpy():
    n = 5000
    x, y = uniform("saxpy x", n, -4.0, 4.0), uniform("saxpy y", n, -4.0, 4.0)
    return {
        "buffers": {"x": x, "y": y},
        "dispatches": [{"kernel": "saxpy", "grid": [5120], "workgroup": [256],
                        "args": ["@y", "@x", ("f32", 2.5), ("u32", n)]}],
        "expect": {"y": {}},
        "check": lambda out: same(out["y"], np.float32(2.5) * x + y),
    }


def matmul():
    m, n, k = 45, 70, 52
    a, b = uniform("matmul a", (m, k), -1.0, 1.0), uniform("matmul b", (k, n), -1.0, 1.0)

    def check(out):
        exact = a.astype(np.float64) @ b.astype(np.float64)
        for name in ("naive", "tiled"):
            assert np.allclose(out[name].reshape(m, n), exact, atol=1e-4), name
        tiled = np.zeros((m, n), np.float32)
        for i in range(k):
            tiled += a[:, i:i + 1] * b[i:i + 1, :]
        same(out["tiled"].reshape(m, n), tiled)

    sizes = [("u32", m), ("u32", n), ("u32", k)]
    return {
        "buffers": {"a": a, "b": b, "naive": zeros("f32", m * n), "tiled": zeros("f32", m * n)},
        "dispatches": [
            {"kernel": "matmul_naive", "grid": [n, m], "workgroup": [32, 4],
             "args": ["@naive", "@a", "@b", *sizes]},
            {"kernel": "matmul_tiled", "grid": [80, 48], "workgroup": [16, 16],
             "args": ["@tiled", "@a", "@b", *sizes]}],
        "expect": {"naive": {}, "tiled": {}},
        "check": check,
    }


def mandelbrot():
    width, height = 150, 110
    view = struct.pack("<4f3I", -2.2, -1.2, 3.2 / width, 2.4 / height, width, height, 100)
    return {
        "buffers": {"iterations": zeros("u32", width * height)},
        "dispatches": [{"kernel": "mandelbrot", "grid": [width, height], "workgroup": [16, 8],
                        "args": ["@iterations", ("hex", view)]}],
        "outputs": ["iterations"],
        "expect": {"iterations": {}},
    }


def reduction():
    n = 10007
    numbers = integers("reduction numbers", n, np.uint32)
    floats = uniform("reduction floats", n, -1000.0, 1000.0)

    def check(out):
        same(out["sum"], [np.uint32(int(numbers.astype(object).sum()) % 2**32)])
        same(out["squares"], [np.uint64(sum(int(v)**2 for v in numbers) % 2**64)])
        same(out["largest"].view(np.float32), [floats.max()])

    return {
        "buffers": {"numbers": numbers, "floats": floats, "sum": zeros("u32", 1),
                    "largest": {"type": "u32", "values": [0xFF800000]},
                    "squares": zeros("u64", 1)},
        "dispatches": [
            {"kernel": "reduce_sum", "grid": [2048], "workgroup": [256],
             "args": ["@sum", "@numbers", ("local", 1024), ("u32", n)]},
            {"kernel": "reduce_max", "grid": [1280], "workgroup": [128],
             "args": ["@largest", "@floats", ("local", 512), ("u32", n)]},
            {"kernel": "reduce_squares", "grid": [1024], "workgroup": [256],
             "args": ["@squares", "@numbers", ("local", 2048), ("u32", n)]}],
        "expect": {"sum": {}, "largest": {}, "squares": {}},
        "check": check,
    }


def histogram():
    n, m = 20011, 3001
    data = (uniform("histogram data", n, 0.0, 16.0).astype(np.float64)**2).astype(np.uint8)
    numbers = integers("histogram numbers", m, np.int32) // 3 | 0x40

    def check(out):
        same(out["bins"], np.bincount(data, minlength=256))
        same(out["range"], [numbers.min(), numbers.max()])
        unsigned = numbers.view(np.uint32)
        same(out["bits"], [f.reduce(unsigned)
                           for f in (np.bitwise_or, np.bitwise_xor, np.bitwise_and)])

    return {
        "buffers": {"data": data, "numbers": numbers, "bins": zeros("u32", 256),
                    "range": {"type": "i32", "values": [2**31 - 1, -2**31]},
                    "bits": {"type": "u32", "values": [0, 0, 0xFFFFFFFF]}},
        "dispatches": [
            {"kernel": "histogram", "grid": [1152], "workgroup": [192],
             "args": ["@bins", "@data", ("u32", n)]},
            {"kernel": "extents", "grid": [m], "workgroup": [256],
             "args": ["@range", "@bits", "@numbers", ("u32", m)]}],
        "expect": {"bins": {}, "range": {}, "bits": {}},
        "check": check,
    }


def bitonic():
    count, block = 4096, 512
    keys = integers("bitonic keys", count, np.uint32)
    keys[::37] = keys[0]
    dispatches = [{"kernel": "bitonic_block", "grid": [count // 2], "workgroup": [256],
                   "args": ["@keys"]}]
    k = 2 * block
    while k <= count:
        j = k // 2
        while j >= block:
            dispatches.append({"kernel": "bitonic_step", "grid": [count // 2], "workgroup": [128],
                               "args": ["@keys", ("u32", j), ("u32", k)]})
            j //= 2
        dispatches.append({"kernel": "bitonic_merge", "grid": [count // 2], "workgroup": [256],
                           "args": ["@keys", ("u32", k)]})
        k *= 2
    return {
        "buffers": {"keys": keys},
        "dispatches": dispatches,
        "expect": {"keys": {}},
        "check": lambda out: same(out["keys"], np.sort(keys)),
    }


def sha256():
    lengths = list(range(0, 70)) + [111, 112, 119, 120, 127, 128, 129, 183, 184, 247, 248, 300]
    lengths = np.array(lengths + [(i * 29) % 200 for i in range(68)], np.uint32)
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.uint32)
    data = integers("sha256 data", int(lengths.sum()), np.uint8)
    count, stride, length, fixed = len(lengths), 50, 61, 200

    def digest(pieces):
        return np.frombuffer(b"".join(hashlib.sha256(p.tobytes()).digest() for p in pieces),
                             np.uint8)

    def check(out):
        same(out["digests"], digest(data[s:s + n] for s, n in zip(starts, lengths)))
        same(out["fixed"], digest(data[i * stride:i * stride + length] for i in range(fixed)))

    assert stride * fixed + length <= len(data)
    return {
        "buffers": {"data": data, "starts": starts, "lengths": lengths,
                    "digests": zeros("u8", 32 * count), "fixed": zeros("u8", 32 * fixed)},
        "dispatches": [
            {"kernel": "sha256", "grid": [count], "workgroup": [128],
             "args": ["@digests", "@data", "@starts", "@lengths", ("u32", count)]},
            {"kernel": "sha256_fixed", "grid": [256], "workgroup": [64],
             "args": ["@fixed", "@data", ("u32", stride), ("u32", length), ("u32", fixed)]}],
        "expect": {"digests": {}, "fixed": {}},
        "check": check,
    }


def blur():
    width, height = 61, 47
    image = integers("blur image", (height, width, 4), np.uint8)
    image[10:30, 12:40] = [250, 5, 128, 255]

    def check(out):
        weights = np.array([1, 4, 6, 4, 1])
        wide = np.pad(image.astype(np.int64), ((2, 2), (2, 2), (0, 0)), mode="edge")
        rows = sum(w * wide[:, i:i + width] for i, w in enumerate(weights))
        full = sum(w * rows[i:i + height] for i, w in enumerate(weights))
        same(out["blurred"].reshape(image.shape), (full + 128) >> 8)
        box = sum(wide[1 + i:1 + i + height, 1 + j:1 + j + width]
                  for i in range(3) for j in range(3)).astype(np.float32)
        value = np.float32(2) * image.astype(np.float32) - box * np.float32(1 / 9)
        same(out["sharp"].reshape(image.shape), np.rint(value).clip(0, 255))

    shape = {"grid": [64, 48], "workgroup": [16, 8]}
    sizes = [("u32", width), ("u32", height)]
    return {
        "buffers": {"image": image, "rows": {"bytes": 8 * width * height},
                    "blurred": zeros("u8", 4 * width * height),
                    "sharp": zeros("u8", 4 * width * height)},
        "dispatches": [
            {"kernel": "blur_rows", **shape, "args": ["@rows", "@image", *sizes]},
            {"kernel": "blur_columns", **shape, "args": ["@blurred", "@rows", *sizes]},
            {"kernel": "sharpen", **shape, "args": ["@sharp", "@image", *sizes]}],
        "expect": {"blurred": {}, "sharp": {}},
        "check": check,
    }


def half2():
    n, pairs, rows, width = 750, 1500, 300, 24
    h = np.float16
    x = uniform("half2 x", 4 * n, -1.5, 1.5, h)
    a, b = uniform("half2 a", 2 * pairs, -8.0, 8.0, h), uniform("half2 b", 2 * pairs, 0.5, 3.0, h)
    table = uniform("half2 rows", rows * width, 0.25, 2.0, h)
    w = uniform("half2 w", width, -2.0, 2.0, h)
    s, t = integers("half2 s", 2 * pairs, np.int16), integers("half2 t", 2 * pairs, np.int16)
    low, high = np.array([-12.5, -3.0], h), np.array([14.0, 5.5], h)

    def check(out):
        v = a.reshape(-1, 2) * b.reshape(-1, 2)[:, ::-1] - a.reshape(-1, 2)[:, 1:]
        same(out["clamped"].reshape(-1, 2), np.minimum(np.maximum(v, low), high))
        dots = np.zeros((rows, 2), np.float32)
        for k in range(width):
            column = table.reshape(rows, width)[:, k].astype(np.float32)
            dots += column[:, None] * np.array([w[k], w[width - 1 - k]], np.float32)
        same(out["dots"].reshape(rows, 2), dots)
        v = x.astype(np.float64)
        cubic = ((0.75 * v + -1.25) * v + 0.5) * v + 2.0
        assert np.abs(out["cubic"] - cubic).max() < 0.01
        s2, t2 = s.reshape(-1, 2), t.reshape(-1, 2)
        r = np.maximum(s2 * t2 + (t2 << 3), s2 >> (t2 & 15)) - np.minimum(s2[:, ::-1], t2)
        u = np.maximum(r.view(np.uint16), t2.view(np.uint16)) >> (s2.view(np.uint16) & 7)
        same(out["mixed"].reshape(-1, 2),
             (np.minimum(u, np.uint16(40000)) + r.view(np.uint16)).view(np.int16))

    return {
        "buffers": {"x": x, "a": a, "b": b, "table": table, "w": w, "s": s, "t": t,
                    "cubic": zeros("f16", 4 * n), "clamped": zeros("f16", 2 * pairs),
                    "dots": zeros("f32", 2 * rows), "mixed": zeros("i16", 2 * pairs)},
        "dispatches": [
            {"kernel": "half_cubic", "grid": [768], "workgroup": [128],
             "args": ["@cubic", "@x", ("f16", 2.0), ("f16", 0.5), ("f16", -1.25), ("f16", 0.75),
                      ("u32", n)]},
            {"kernel": "half_clamp", "grid": [1536], "workgroup": [256],
             "args": ["@clamped", "@a", "@b", ("hex", low.tobytes()), ("hex", high.tobytes()),
                      ("u32", pairs)]},
            {"kernel": "half_dot", "grid": [rows], "workgroup": [128],
             "args": ["@dots", "@table", "@w", ("u32", width), ("u32", rows)]},
            {"kernel": "short_mix", "grid": [1536], "workgroup": [256],
             "args": ["@mixed", "@s", "@t", ("u32", pairs)]}],
        "expect": {"cubic": {}, "clamped": {}, "dots": {}, "mixed": {}},
        "check": check,
    }


def stencil():
    nx, ny, nz = 34, 21, 12
    field = uniform("stencil field", (nz, ny, nx), 1.0, 2.0, np.float64)

    def check(out):
        inner = (slice(1, -1),) * 3
        gradient = [field[2:, 1:-1, 1:-1] - field[:-2, 1:-1, 1:-1],
                    field[1:-1, 2:, 1:-1] - field[1:-1, :-2, 1:-1],
                    field[1:-1, 1:-1, 2:] - field[1:-1, 1:-1, :-2]]
        gz, gy, gx = gradient
        same(out["slopes"].reshape(field.shape)[inner],
             np.sqrt(gx * gx + gy * gy + gz * gz) / field[inner])

    inner = {"grid": [nx - 2, ny - 2, nz - 2], "workgroup": [16, 4, 2], "global_offset": [1, 1, 1]}
    sizes = [("u32", nx), ("u32", ny), ("u32", nz)]
    return {
        "buffers": {"field": field, "step1": {"file": "field.npy"},
                    "step2": {"file": "field.npy"},
                    "slopes": zeros("f64", nx * ny * nz)},
        "dispatches": [
            {"kernel": "heat", **inner, "args": ["@step1", "@field", *sizes, ("f64", 0.1)]},
            {"kernel": "heat", **inner, "args": ["@step2", "@step1", *sizes, ("f64", 0.1)]},
            {"kernel": "slope", **inner, "args": ["@slopes", "@field", *sizes]}],
        "expect": {"step1": {}, "step2": {}, "slopes": {}},
        "check": check,
    }


def calls():
    n = 300
    push, dup, swap, add, mul, xor, rol, dec, jnz, halt = range(10)
    # The stack is [value, counter] at the top of the loop.
    program = [
        (swap, 0), (push, 2654435), (mul, 0), (rol, 7), (dup, 0), (push, 0xABCDE), (xor, 0),
        (push, 13), (rol, 5), (swap, 0), (add, 0), (add, 0), (swap, 0), (dec, 0), (jnz, 0),
        (halt, 0)]
    code = np.array([op | operand << 8 for op, operand in program], np.uint32)
    seeds = integers("calls seeds", n, np.uint32)
    return {
        "buffers": {"code": code, "seeds": seeds, "results": zeros("u32", n),
                    "mixed": zeros("u32", n)},
        "dispatches": [
            {"kernel": "vm_switch", "grid": [n], "workgroup": [128],
             "args": ["@results", "@code", "@seeds", ("u32", n)]},
            {"kernel": "vm_table", "grid": [384], "workgroup": [128],
             "args": ["@mixed", "@seeds", ("u32", 12), ("u32", n)]}],
        "expect": {"results": {}, "mixed": {}},
    }


def pointers():
    n = 350
    return {
        "buffers": {"table": integers("pointers table", 8 * n, np.uint32),
                    "results": zeros("u32", n)},
        "dispatches": [{"kernel": "pointers", "grid": [384], "workgroup": [128],
                        "args": ["@results", "@table", ("local", 512), ("u32", n)]}],
        "expect": {"results": {}, "table": {}},
    }


def numeric():
    n = 400
    a = integers("numeric a", (n, 2), np.uint32)
    a >>= integers("numeric shift", (n, 2), np.uint32) % np.uint32(32)
    b = integers("numeric b", (n, 2), np.uint64)
    b >>= integers("numeric long shift", (n, 2), np.uint64) % np.uint64(64)
    ratio = uniform("numeric ratio", (n, 2), 0.1, 50.0)
    ratio[::3, 0] *= -1
    angles = uniform("numeric angles", n, -20.0, 20.0)
    angles[::5] *= np.float32(5000.0)
    values = uniform("numeric values", n, 0.01, 4.0)

    def check(out):
        p, q = a[:, 0], a[:, 1] | 1
        small = out["small"].reshape(n, 4)
        same(small[:, 0], p // q)
        same(small[:, 1], p % q)
        s, t = p.view(np.int32).astype(np.int64), q.view(np.int32).astype(np.int64)
        same(small[:, 3].view(np.int32), np.fmod(s, t))
        same(out["large"].reshape(n, 2)[:, 0], b[:, 0] // (b[:, 1] | np.uint64(1)))
        same(out["quotients"].reshape(n, 2)[:, 0], ratio[:, 0] / ratio[:, 1])
        # Known answer of Philox 4x32-10: counter and key zero.
        same(out["bits"][:4], [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8])

    shape = {"grid": [n], "workgroup": [128]}
    return {
        "buffers": {"a": a, "b": b, "ratio": ratio, "angles": angles, "values": values,
                    "small": zeros("u32", 4 * n), "large": zeros("u64", 2 * n),
                    "quotients": zeros("f32", 2 * n), "bits": zeros("u32", 4 * n),
                    "normals": zeros("f32", 2 * n), "results": zeros("f32", 4 * n)},
        "dispatches": [
            {"kernel": "divisions", **shape, "args": ["@small", "@large", "@a", "@b", ("u32", n)]},
            {"kernel": "quotients", **shape, "args": ["@quotients", "@ratio", ("u32", n)]},
            {"kernel": "gaussians", **shape,
             "args": ["@bits", "@normals", ("hex", bytes(8)), ("u32", n)]},
            {"kernel": "functions", **shape,
             "args": ["@results", "@angles", "@values", ("u32", n)]}],
        "expect": {"small": {}, "large": {}, "quotients": {}, "bits": {},
                   "normals": {"abs": 1e-6, "rel": 1e-6}, "results": {"abs": 3e-7, "rel": 2e-6}},
        "check": check,
    }


INTEGERS = "bit-exact, integers only."
FLOATS = ("bit-exact, since every operation is correctly rounded; no value is denormal (the host "
          "run was repeated with denormals flushed, as gfx6 to gfx8 do).")

EXAMPLES = {
    "saxpy": {
        "title": "y = a*x + y", "run": saxpy, "also": [("gfx803", 3)],
        "bundle": ["gfx803", "gfx900", "gfx906"],
        "oracle": f"{HOST}, checked against NumPy; {FLOATS}"},
    "matmul": {
        "title": "Matrix product, from global memory and tiled in LDS", "run": matmul, "version": 4,
        "oracle": f"{HOST}, the tiled one checked against NumPy; {FLOATS}"},
    "mandelbrot": {
        "title": "Escape times of the Mandelbrot set", "run": mandelbrot,
        "oracle": f"{HOST}; {FLOATS}"},
    "reduction": {
        "title": "Sum, maximum and sum of squares", "run": reduction,
        "oracle": f"{HOST}, checked against NumPy; bit-exact: integers, and a maximum of floats."},
    "histogram": {
        "title": "Byte histogram and extents by atomics", "run": histogram, "version": 4,
        "oracle": f"{HOST}, checked against NumPy; {INTEGERS}"},
    "bitonic": {
        "title": "Bitonic sort", "run": bitonic,
        "oracle": f"{HOST}, checked against NumPy's sort; {INTEGERS}"},
    "sha256": {
        "title": "SHA-256 of many messages", "run": sha256,
        "oracle": f"{HOST}, checked against Python's hashlib; {INTEGERS}"},
    "blur": {
        "title": "Image filters", "run": blur, "version": 4,
        "oracle": f"{HOST}, checked against NumPy; {FLOATS}"},
    "half2": {
        "title": "Packed 16-bit arithmetic", "run": half2, "targets": ["gfx900", "gfx906"],
        "device_flags": ["-cl-denorms-are-zero"],
        "oracle": f"{HOST}, checked against NumPy but for the cubic; {FLOATS}"},
    "stencil": {
        "title": "Double-precision stencils on a 3D grid", "run": stencil,
        "oracle": f"{HOST}, slopes checked against NumPy; bit-exact, since every operation is "
                  "correctly rounded."},
    "calls": {
        "title": "Function calls, scratch memory and function pointers", "run": calls,
        "oracle": f"{HOST}; {INTEGERS}"},
    "pointers": {
        "title": "Generic pointers", "run": pointers, "targets": ALL[1:], "also": [("gfx803", 4)],
        "oracle": f"{HOST}; {INTEGERS}"},
    "numeric": {
        "title": "Division, random numbers and elementary functions", "run": numeric,
        "device_flags": ["-cl-fp32-correctly-rounded-divide-sqrt"],
        "oracle": f"{HOST}, most checked against NumPy; integers, quotients and square roots are "
                  "bit-exact. The host rounds elementary functions from double; the device library "
                  "has OpenCL's limits (sin, cos 4 ulp, log, exp 3, pow 16), and so have the "
                  "tolerances of normals (products of three such) and results."},
}
