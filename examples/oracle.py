"""Expected values: an example's OpenCL source, compiled for the host and run over the same grid.

The source is compiled by clang as OpenCL C for x86-64 with host_shim.h in place of clang's own
OpenCL headers, linked with host_run.c and called through ctypes. No AMD tool, no GPU and no part
of this project takes part.
"""

import ctypes
import hashlib
import pathlib
import re
import subprocess
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
CLANG = "clang-19"
KERNEL = re.compile(
    r"^kernel\s+(?:__attribute__\(\(\w+\([^)]*\)\)\)\s*)?void\s+(\w+)\(([^)]*)\)", re.M)


def parameters(source):
    """The kernels of an OpenCL source: name -> list of parameter types."""
    found = {}
    for name, params in KERNEL.findall(source):
        found[name] = [re.sub(r"\w+$", "", " ".join(p.split())).strip() for p in params.split(",")]
    return found


def entry_points(source):
    """Functions with one signature that take a kernel's arguments from an array of words: pointers
    as they are, values by their address."""
    lines = []
    for name, types in parameters(source).items():
        args = [f"({t})a[{i}]" if t.endswith("*") else f"*(private {t} *)a[{i}]"
                for i, t in enumerate(types)]
        lines.append(f"void enter_{name}(private ulong *a) {{ {name}({', '.join(args)}); }}")
    return "\n".join(lines)


class Host:
    """One example's kernels on the host."""

    def __init__(self, source_path, flags):
        source = source_path.read_text()
        self.types = parameters(source)
        self.folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(self.folder.name)
        unit = folder / "unit.cl"
        unit.write_text(f'#include "{source_path}"\n{entry_points(source)}\n')
        subprocess.run(
            [CLANG, "-x", "cl", "-cl-std=CL2.0", "-cl-no-stdinc", "-Wno-override-module",
             "--target=x86_64-unknown-linux-gnu", "-O1", "-fPIC", *flags, "-include",
             HERE / "host_shim.h", "-c", unit, "-o", folder / "unit.o"], check=True)
        subprocess.run(
            [CLANG, "-O1", "-fPIC", "-shared", HERE / "host_run.c", folder / "unit.o", "-lm", "-o",
             folder / "unit.so"], check=True)
        self.library = ctypes.CDLL(str(folder / "unit.so"))

    def run(self, dispatch, buffers, flush):
        """Runs one dispatch on `buffers` (name -> array), in place; `flush`: without denormals."""
        kernel = dispatch["kernel"]
        assert len(dispatch["args"]) == len(self.types[kernel]), kernel
        keep, slots = [], []
        for arg in dispatch["args"]:
            if isinstance(arg, str):
                slots.append(buffers[arg[1:]].ctypes.data)
                continue
            kind, value = arg
            if kind == "local":
                memory = np.full(value, 0xA5, np.uint8)
            elif kind == "hex":
                memory = np.frombuffer(value, np.uint8).copy()
            else:
                memory = np.array([value], NUMPY_TYPES[kind])
            keep.append(memory)
            slots.append(memory.ctypes.data)
        words = (ctypes.c_uint64 * len(slots))(*slots)
        triples = [dispatch["grid"], dispatch["workgroup"], dispatch.get("global_offset", [])]
        shape = [(ctypes.c_size_t * 3)(*(list(t) + [fill] * (3 - len(t))))
                 for t, fill in zip(triples, (1, 1, 0))]
        self.library.run(getattr(self.library, f"enter_{kernel}"), words, *shape, flush)


NUMPY_TYPES = {"i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16, "i32": np.int32,
               "u32": np.uint32, "i64": np.int64, "u64": np.uint64, "f16": np.float16,
               "f32": np.float32, "f64": np.float64}


def random_bits(seed, count):
    """`count` 64-bit numbers of the SplitMix64 sequence; the same with every NumPy."""
    mask = np.uint64
    start = int.from_bytes(hashlib.sha256(str(seed).encode()).digest()[:8], "little")
    z = mask(start) + np.arange(1, count + 1, dtype=mask) * mask(0x9E3779B97F4A7C15)
    z = (z ^ z >> mask(30)) * mask(0xBF58476D1CE4E5B9)
    z = (z ^ z >> mask(27)) * mask(0x94D049BB133111EB)
    return z ^ z >> mask(31)


def integers(seed, shape, dtype):
    """Random numbers over the whole range of an integer type."""
    bits = random_bits(seed, int(np.prod(shape)))
    width = np.dtype(dtype).itemsize * 8
    return (bits >> np.uint64(64 - width)).astype(f"u{width // 8}").view(dtype).reshape(shape)


def uniform(seed, shape, low, high, dtype=np.float32):
    """Random multiples of 2^-23 times (high - low), or of 2^-52 for doubles: never denormal for
    bounds of ordinary size."""
    digits = {np.float16: 11, np.float32: 23, np.float64: 52}[dtype]
    bits = random_bits(seed, int(np.prod(shape))) >> np.uint64(64 - digits)
    unit = bits.astype(np.float64) / 2.0 ** digits
    return (low + (high - low) * unit).astype(dtype).reshape(shape)
