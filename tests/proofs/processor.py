"""Runs host code on this processor and compares the wave's state with what `host.py` makes of the same
registers: a test of the meaning that `host.py` gives to instructions."""

import ctypes
import mmap
import platform
import struct
from functools import lru_cache

import host
import interp
import vector_ir
from lane_ir import Unsupported

# Bytes of a wave's state with its vector registers, of a context, and of lane slots.
WAVE, CONTEXT, SLOTS = vector_ir.VECTORS + 2 * 256 * 256 + 64, 1 << 14, 1 << 18
FEATURES = {"avx2": {"avx2", "bmi1", "bmi2", "fma", "f16c"}, "avx512": {"avx512f", "avx512bw", "avx512dq", "avx512vl"}}


def can_run(isa):
    """Has this processor the instructions?"""
    if platform.machine() != "x86_64" or platform.system() != "Linux":
        return False
    with open("/proc/cpuinfo") as file:
        flags = next((line.split() for line in file if line.startswith("flags")), [])
    return FEATURES[isa] <= set(flags)


class Machine(host.Machine):
    """A run on registers that are numbers."""

    def __init__(self, region, exec_value, wave):
        self.wave = wave
        super().__init__(region, exec_value)

    def first(self, base, offset):
        if base == "wave":
            return vector_ir.const(struct.unpack_from("<I", self.wave, offset)[0], 32)
        return super().first(base, offset)


@lru_cache
def folding(library):
    """`vector_ir.function` that evaluates calls on numbers."""
    plain, compiled = vector_ir.function, {}

    def function(name, bits, *args):
        values = [vector_ir.value_of(a) for a in args]
        if None in values:
            return plain(name, bits, *args)
        if name not in compiled:
            params = {f"p{i}": a.bits for i, a in enumerate(args)}
            compiled[name] = library.compile(f"({name} {' '.join(params)})", params)
        return vector_ir.const(compiled[name](*values), bits)

    return function


def registers(seed, exec_value):
    """A wave's state: scalar registers, SCC, EXEC and the first vector registers are random."""
    scalars, vectors = vector_ir.PC // 4, 20 * 64
    words = interp.numbers(f"{seed} {exec_value}", scalars + 1 + vectors)
    wave = bytearray(WAVE)
    struct.pack_into(f"<{scalars}I", wave, 0, *words[:scalars])
    struct.pack_into("<Q", wave, vector_ir.EXEC, exec_value)
    struct.pack_into("<I", wave, vector_ir.SCC, words[scalars] & 1)
    struct.pack_into(f"<{vectors}I", wave, vector_ir.VECTORS, *words[scalars + 1 :])
    return wave


def aligned(size):
    """Memory that begins at a multiple of 64: what owns it, and its address."""
    owner = ctypes.create_string_buffer(size + 64)
    return owner, ctypes.addressof(owner) + 63 & ~63


def run(region, wave):
    """The state after the code has run."""
    code = mmap.mmap(-1, max(1, len(region.data)), prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(bytes(region.data))
    start = ctypes.c_char.from_buffer(code)
    enter = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p)(ctypes.addressof(start))
    (owner, state), (other, context), (third, slots) = aligned(WAVE), aligned(CONTEXT), aligned(SLOTS)
    ctypes.memmove(state, bytes(wave), WAVE)
    ctypes.memmove(context, struct.pack("<QQ", state, slots), 16)
    ctypes.memmove(context + host.FUEL, struct.pack("<I", host.ENOUGH), 4)
    enter(context)
    after = ctypes.string_at(state, WAVE)
    del start, enter, owner, other, third
    return after


def compare(library, region, execs, seed):
    """The first difference, or None. What `host.py` cannot follow is not run."""
    plain, vector_ir.function = vector_ir.function, folding(library)
    try:
        for exec_value in execs:
            wave = registers(seed, exec_value)
            machine = Machine(region, exec_value, bytes(wave))
            machine.run()
            expected = bytearray(wave)
            for (base, at), term in machine.memory.items():
                if base == "wave":
                    value = vector_ir.value_of(term)
                    if value is None:
                        raise Unsupported("a result that is not a number")
                    struct.pack_into("<I", expected, at, value)
            after = run(region, wave)
            for at in range(0, WAVE, 4):
                if expected[at : at + 4] != after[at : at + 4]:
                    return f"EXEC {exec_value:#x}, offset {at}: {after[at:at + 4].hex()} instead of {expected[at:at + 4].hex()}"
    finally:
        vector_ir.function = plain
    return None
