"""What kernels take, and how wrong arguments are refused."""

import ctypes
import mmap
import re

import numpy as np
import pytest

import wavelift


def arrays(n=256):
    return np.ones(n, np.float32), np.arange(n, dtype=np.float32)


@pytest.fixture(params=[False, True], ids=["copied", "in place"], autouse=True)
def in_place(request, monkeypatch):
    """All of it holds for arrays in place, too."""
    monkeypatch.setitem(OPTIONS, "in_place", request.param)
    return request.param


OPTIONS = {}


def twice(saxpy, y, x, n=256):
    saxpy(y, x, 2.0, n, grid=n, **OPTIONS)


def test_views_are_accessed(saxpy):
    y, x = arrays()
    # A view of the middle, at the alignment of its elements only.
    twice(saxpy, y[1:255], x[1:255], 254)
    np.testing.assert_array_equal(y[1:255], 2 * x[1:255] + 1)
    assert y[0] == 1 and y[255] == 1


@pytest.mark.parametrize("step", [2, -1, -3])
def test_arrays_with_gaps(saxpy, step):
    x = np.arange(768, dtype=np.float32)[::step][:256]
    y = np.ones(768, np.float32)
    part = y[::step][:256]
    n = len(part)
    twice(saxpy, part, x, n)
    np.testing.assert_array_equal(part, 2 * x + 1)
    assert np.count_nonzero(y == 1) == 768 - n + np.count_nonzero(x == 0)


def test_arrays_in_memory_of_the_device_are_never_copied(saxpy):
    device = saxpy.module.device
    y = device.buffer(np.ones(256, np.float32)).numpy(np.float32)
    x = device.buffer(np.arange(512, dtype=np.float32)).numpy(np.float32, (2, 256))
    expected = 2 * x[1] + 1
    twice(saxpy, y, x[1])
    np.testing.assert_array_equal(y, expected)
    # With gaps they are copies, as others.
    twice(saxpy, y[:128], x[0, ::2], 128)
    np.testing.assert_array_equal(y[:128], expected[:128] + 2 * x[0, ::2])
    with pytest.raises(ValueError, match="shares memory with an array in the device's memory"):
        twice(saxpy, y[:128], y[::2], 128)


def test_kernels_see_arrays_in_c_order(saxpy):
    x = np.asfortranarray(np.arange(256, dtype=np.float32).reshape(16, 16))
    y = np.zeros(256, np.float32)
    twice(saxpy, y, x)
    np.testing.assert_array_equal(y, 2 * x.reshape(-1))


def test_interleaved_views_are_no_overlap(saxpy):
    pairs = np.ones((256, 2), np.float32)
    twice(saxpy, pairs[:, 0], pairs[:, 1])
    np.testing.assert_array_equal(pairs, [[3, 1]] * 256)


def test_overlapping_arrays_are_the_same_memory(saxpy):
    y = np.ones(256, np.float32)
    twice(saxpy, y, y)
    np.testing.assert_array_equal(y, 3)
    # Overlapping in part.
    y = np.ones(512, np.float32)
    twice(saxpy, y[:256], y[128:384])
    np.testing.assert_array_equal(y[:128], 3)


def test_shared_memory_that_must_be_copied_is_refused(saxpy):
    y = np.ones(1024, np.float32)
    with pytest.raises(ValueError, match=r"argument 2 .*shares memory with argument 1"):
        twice(saxpy, y[:256], y[:512:2])


def test_read_only_arrays_are_inputs_only(saxpy):
    y, x = arrays()
    x.flags.writeable = False
    twice(saxpy, y, x)
    np.testing.assert_array_equal(y, 2 * x + 1)
    twice(saxpy, np.broadcast_to(np.float32(1), 256).copy(), np.broadcast_to(np.float32(3), 256))
    y.flags.writeable = False
    before = y.copy()
    with pytest.raises(ValueError, match=r"saxpy\(\) argument 1 .*read-only"):
        twice(saxpy, y, x)
    np.testing.assert_array_equal(y, before)


def test_read_only_pages_are_not_written(saxpy, tmp_path):
    path = tmp_path / "x.bin"
    np.arange(256, dtype=np.float32).tofile(path)
    y = np.zeros(256, np.float32)
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as pages:
        x = np.frombuffer(pages, np.float32)
        twice(saxpy, y, x)
        with pytest.raises(ValueError, match="read-only"):
            twice(saxpy, x, y)
        np.testing.assert_array_equal(y, 2 * x)
        del x


def test_other_objects_with_buffers(saxpy):
    x = (ctypes.c_float * 256)(*range(256))
    y = bytearray(1024)
    twice(saxpy, memoryview(y).cast("f"), x)
    np.testing.assert_array_equal(np.frombuffer(y, np.float32), 2 * np.array(x))


class Tensor:
    """A tensor of another library: DLPack, and no buffer protocol."""

    def __init__(self, array, versions=True, device=(1, 0)):
        self.array, self.versions, self.device = array, versions, device

    def __dlpack__(self, **options):
        if not self.versions:
            if options:
                raise TypeError("unexpected keyword argument")
            return self.array.__dlpack__()
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.device


@pytest.mark.parametrize("versions", [True, False])
def test_dlpack(saxpy, versions):
    y, x = arrays()
    expected = 2 * x + y
    twice(saxpy, Tensor(y, versions), Tensor(x, versions))
    np.testing.assert_array_equal(y, expected)
    y = np.zeros((256, 3), np.float32)
    twice(saxpy, Tensor(y[:, 1], versions), Tensor(x[::-1], versions))
    np.testing.assert_array_equal(y[:, 1], 2 * x[::-1])
    np.testing.assert_array_equal(y[:, 0], 0)


def test_dlpack_tensors_are_released(saxpy):
    y, x = arrays()
    import sys

    before = sys.getrefcount(y)
    twice(saxpy, Tensor(y), Tensor(x))
    assert sys.getrefcount(y) == before


def test_wrong_dlpack_tensors(saxpy):
    y, x = arrays()
    with pytest.raises(TypeError, match="not on the CPU"):
        twice(saxpy, Tensor(y, device=(2, 0)), x)
    with pytest.raises(TypeError, match="float32, not floats of 8 bytes"):
        twice(saxpy, Tensor(y.astype(np.float64)), x)
    x.flags.writeable = False
    twice(saxpy, y, Tensor(x))
    with pytest.raises(ValueError, match="read-only"):
        twice(saxpy, Tensor(x), y)


def test_arrays_are_released_after_the_launch(saxpy):
    y = bytearray(1024)
    twice(saxpy, y, np.ones(256, np.float32))
    # Impossible while something has a view of it.
    y.append(0)
    with pytest.raises(TypeError):
        saxpy(y[:1024], np.ones(256, np.float32), "2", 256, grid=256)
    y.append(0)


@pytest.mark.parametrize(
    ("position", "value", "error", "message"),
    [
        (0, np.zeros(256), TypeError, "argument 1 (float*): must have elements of float32, not floats of 8"),
        (0, np.zeros(256, np.int32), TypeError, "float32, not integers of 4 bytes"),
        (0, np.zeros(256, ">f4"), TypeError, "argument 1 (float*): has elements in big-endian order"),
        (0, [0.0] * 256, TypeError, "argument 1 (float*): must be an array"),
        (0, wavelift.Local(64), TypeError, "argument 1 (float*): must be an array"),
        (2, "2.5", TypeError, "argument 3 (float): must be a number, not str"),
        (2, None, TypeError, "argument 3 (float): must be a number, not NoneType"),
        (2, 1e39, OverflowError, "argument 3 (float): 1e+39 is too large for f32"),
        (2, b"\0\0\0", ValueError, "argument 3 (float): must be 4 bytes, not 3"),
        (3, 2.5, TypeError, "argument 4 (uint): must be an integer, not float"),
        (3, -1, OverflowError, "argument 4 (uint): -1 does not fit u32 (0 to 4294967295)"),
        (3, 2**32, OverflowError, "argument 4 (uint): 4294967296 does not fit u32"),
        (3, 2**200, OverflowError, "does not fit u32"),
        (3, np.float32(2), TypeError, "argument 4 (uint): must be an integer"),
    ],
)
def test_wrong_arguments(saxpy, position, value, error, message):
    args = [*arrays(), 2.0, 256]
    args[position] = value
    with pytest.raises(error, match=re.escape(message)):
        saxpy(*args, grid=256)


@pytest.mark.parametrize(
    "value", [2, 2.0, True + 1, np.float32(2), np.float64(2), np.int8(2), b"\0\0\0\x40"]
)
def test_numbers_of_all_types(saxpy, value):
    y, x = arrays()
    saxpy(y, x, value, np.uint64(256), grid=256)
    np.testing.assert_array_equal(y, 2 * x + 1)


def test_infinities_and_nans_are_numbers(saxpy):
    y, x = arrays()
    saxpy(y, x, float("inf"), 256, grid=256)
    assert np.isnan(y[0]) and np.isinf(y[1:]).all()


def test_number_of_arguments(saxpy):
    with pytest.raises(TypeError, match=re.escape("saxpy(float*, float*, float, uint) takes 4 arguments, but 2")):
        saxpy(1, 2, grid=1)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({}, TypeError, "grid"),
        ({"grid": 0}, ValueError, "no work-items"),
        ({"grid": -1}, ValueError, "grid must be"),
        ({"grid": 2**32}, ValueError, "grid must be"),
        ({"grid": "all"}, TypeError, "grid must be"),
        ({"grid": (1, 1, 1, 1)}, ValueError, "grid must be"),
        ({"grid": ()}, ValueError, "grid must be"),
        ({"grid": 64, "block": 4096}, ValueError, "more than 1024 work-items"),
        ({"grid": 64, "lds": 1 << 20}, ValueError, "bytes of LDS"),
        ({"grid": 64, "timeout": 0}, ValueError, "timeout must be"),
        ({"grid": 64, "timeout": float("nan")}, ValueError, "timeout must be"),
        ({"grid": 64, "engine": "gpu"}, ValueError, "engine must be"),
    ],
)
def test_wrong_launches(saxpy, options, error, message):
    with pytest.raises(error, match=re.escape(message)):
        saxpy(*arrays(), 2.0, 256, **options)


def test_null_pointers_and_pointers_into_buffers(saxpy):
    device = saxpy.module.device
    x = device.buffer(np.arange(512, dtype=np.float32))
    y = np.zeros(256, np.float32)
    twice(saxpy, y, x.at(1024))
    np.testing.assert_array_equal(y, 2 * np.arange(256, 512))
    with pytest.raises(wavelift.Fault, match="null pointer"):
        twice(saxpy, None, x)
    with pytest.raises(ValueError, match="offset 2049 is past the end"):
        x.at(2049)


def test_local_memory_is_no_array(load):
    kernel = load("reduction")["reduce_sum"]
    with pytest.raises(TypeError, match=r"argument 3 \(uint\*\): must be wavelift.Local"):
        kernel(np.zeros(1, np.uint32), np.zeros(4, np.uint32), np.zeros(4), 4, grid=256)


def test_vectors(load):
    kernel = load("half2")["half_clamp"]
    a = np.zeros((4, 2), np.float16)
    for low, error, message in [
        ((1,), ValueError, "sequence of 2 numbers, not 1"),
        (1.0, TypeError, "sequence of 2 numbers, not float"),
        ((1.0, 1e6), OverflowError, "1000000.0 is too large for f16"),
        (np.zeros(2, np.float32), ValueError, "2 elements of f16"),
        (np.zeros(2, np.int16), TypeError, "float16, not integers"),
    ]:
        with pytest.raises(error, match=rf"argument 4 \(half2\): .*{message}"):
            kernel(a, a.copy(), a.copy(), low, (1, 1), 4, grid=4)
