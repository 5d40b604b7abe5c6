"""Kernels of examples/ against NumPy and Python's own functions, on both engines."""

import ctypes
import hashlib

import numpy as np
import pytest

import wavelift
from conftest import EXAMPLES

RANDOM = np.random.default_rng(7)


@pytest.mark.parametrize("target", ["gfx600", "gfx700", "gfx803", "gfx900", "gfx906"])
def test_saxpy_on_every_target(load, target):
    module = load("saxpy", target)
    assert module.target.endswith(target)
    x = RANDOM.random(1000, dtype=np.float32)
    y = RANDOM.random(1000, dtype=np.float32)
    expected = np.float32(2.5) * x + y
    stats = module["saxpy"](y, x, 2.5, 1000, grid=1024, block=256)
    np.testing.assert_array_equal(y, expected)
    assert (stats.workgroups, stats.waves) == (4, 16)
    assert stats.seconds > 0


def test_reduction_with_lds(load):
    module = load("reduction")
    assert sorted(module) == ["reduce_max", "reduce_squares", "reduce_sum"]
    numbers = RANDOM.integers(0, 2**32, 10007, dtype=np.uint32)
    total = np.zeros(1, np.uint32)
    module["reduce_sum"](total, numbers, wavelift.Local(1024), 10007, grid=2048, block=256)
    assert total[0] == numbers.sum(dtype=np.uint32)
    floats = RANDOM.normal(size=10007).astype(np.float32)
    best = np.array([0xFF800000], np.uint32)
    module["reduce_max"](best, floats, wavelift.Local(512), 10007, grid=1280, block=128)
    assert best.view(np.float32)[0] == floats.max()
    squares = np.zeros(1, np.uint64)
    module["reduce_squares"](squares, numbers, wavelift.Local(2048), 10007, grid=1024, block=256)
    assert squares[0] == (numbers.astype(np.uint64) ** 2).sum(dtype=np.uint64)


def test_matmul_in_two_dimensions(load):
    a = np.load(EXAMPLES / "matmul" / "a.npy").reshape(45, 52)
    b = np.load(EXAMPLES / "matmul" / "b.npy").reshape(52, 70)
    c = np.zeros((45, 70), np.float32)
    module = load("matmul")
    module["matmul_naive"](c, a, b, 45, 70, 52, grid=(70, 45), block=(32, 4))
    np.testing.assert_allclose(c, a @ b, rtol=1e-4, atol=1e-5)
    tiled = np.zeros_like(c)
    module["matmul_tiled"](tiled, a, b, 45, 70, 52, grid=(80, 48), block=(16, 16))
    np.testing.assert_allclose(tiled, a @ b, rtol=1e-4, atol=1e-5)


def test_histogram_of_bytes(load):
    # Neither the address nor the size is a multiple of four.
    data = RANDOM.integers(0, 256, 20012, dtype=np.uint8)[1:]
    bins = np.zeros(256, np.uint32)
    load("histogram")["histogram"](bins, data, len(data), grid=1152, block=192)
    np.testing.assert_array_equal(bins, np.bincount(data, minlength=256))


def test_sha256(load):
    messages = [bytes(RANDOM.integers(0, 256, n, dtype=np.uint8)) for n in range(0, 150)]
    lengths = np.array([len(message) for message in messages], np.uint32)
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.uint32)
    digests = np.zeros((150, 32), np.uint8)
    # `bytes` is a read-only buffer.
    kernel = load("sha256")["sha256"]
    kernel(digests, b"".join(messages), starts, lengths, 150, grid=150, block=128)
    for digest, message in zip(digests, messages):
        assert bytes(digest) == hashlib.sha256(message).digest()


class View(ctypes.Structure):
    _fields_ = [
        ("x0", ctypes.c_float),
        ("y0", ctypes.c_float),
        ("dx", ctypes.c_float),
        ("dy", ctypes.c_float),
        ("width", ctypes.c_uint32),
        ("height", ctypes.c_uint32),
        ("max_iter", ctypes.c_uint32),
    ]


def test_structure_by_value(load):
    view = View(-2.2, -1.2, 0.021333, 0.021818, 150, 110, 100)
    dtype = np.dtype([("corner", "2f4"), ("pixel", "2f4"), ("size", "3u4")])
    record = np.frombuffer(bytes(view), dtype)[0]
    kernel = load("mandelbrot")["mandelbrot"]
    images = []
    for argument in (view, bytes(view), record):
        out = np.zeros((110, 150), np.uint32)
        kernel(out, argument, grid=(150, 110), block=(16, 8))
        images.append(out)
    y, x = np.mgrid[0:110, 0:150]
    c = (-2.2 + 0.021333 * x) + 1j * (-1.2 + 0.021818 * y)
    z, count = np.zeros_like(c), np.zeros(c.shape, int)
    for _ in range(100):
        inside = np.abs(z) <= 2
        z[inside] = z[inside] ** 2 + c[inside]
        count += inside & (np.abs(z) <= 2)
    # Rounding decides at the border.
    assert np.mean(np.abs(images[0].astype(int) - count) <= 1) > 0.97
    np.testing.assert_array_equal(images[0], images[1])
    np.testing.assert_array_equal(images[0], images[2])


def test_half_vectors_by_value(load):
    kernel = load("half2")["half_clamp"]
    a = RANDOM.normal(size=(64, 2)).astype(np.float16)
    b = np.zeros_like(a)
    out = np.zeros_like(a)
    for low in ((-0.5, -0.25), np.array([-0.5, -0.25], np.float16)):
        kernel(out, a, b, low, (0.5, 0.75), 64, grid=64)
        assert (out >= np.array(low, np.float16)).all()
        assert (out <= np.array((0.5, 0.75), np.float16)).all()


def test_doubles_in_three_dimensions(load):
    field = RANDOM.random((12, 10, 9))
    out = np.zeros_like(field)
    load("stencil")["heat"](out, field, 9, 10, 12, 0.1, grid=(7, 8, 10), block=(8, 4, 2), offset=(1, 1, 1))
    inner = (slice(1, -1),) * 3
    around = sum(np.roll(field, step, axis) for axis in range(3) for step in (1, -1))
    expected = field + 0.1 * (around - 6 * field)
    np.testing.assert_allclose(out[inner], expected[inner], rtol=1e-12)
