"""Runs AMD GCN kernels on NumPy arrays without a GPU.

>>> import numpy, wavelift
>>> module = wavelift.Module.compile(source="kernel void twice(global int* x) { x[get_global_id(0)] *= 2; }")
>>> x = numpy.arange(4, dtype=numpy.int32)
>>> stats = module["twice"](x, grid=4)
>>> x
array([0, 2, 4, 6], dtype=int32)
"""

from typing import Any

from ._wavelift import (
    Buffer,
    Device,
    Difference,
    Event,
    Finding,
    Instruction,
    Kernel,
    Local,
    Module,
    Parameter,
    Pointer,
    Profile,
    Stats,
    Stream,
    Suppression,
    TraceEvent,
    default_device,
    targets,
)
from .errors import CompileError, Error, Fault, LoadError, NoCompilerError



def diff(kernel: Kernel, *arguments: Any, **launch: Any) -> Difference | None:
    """Where the interpreter and the translator differ, as `kernel.diff(...)`."""
    return kernel.diff(*arguments, **launch)


def profile(kernel: Kernel, *arguments: Any, **launch: Any) -> Profile:
    """Where a kernel spends its time, as `kernel.profile(...)`."""
    return kernel.profile(*arguments, **launch)


def trace(kernel: Kernel, *arguments: Any, **launch: Any) -> list[TraceEvent]:
    """What a wave of a kernel executes, as `kernel.trace(...)`."""
    return kernel.trace(*arguments, **launch)


__all__ = [
    "Buffer",
    "CompileError",
    "Device",
    "Difference",
    "Error",
    "Event",
    "Fault",
    "Finding",
    "Instruction",
    "Kernel",
    "LoadError",
    "Local",
    "Module",
    "NoCompilerError",
    "Parameter",
    "Pointer",
    "Profile",
    "Stats",
    "Stream",
    "Suppression",
    "TraceEvent",
    "default_device",
    "diff",
    "profile",
    "targets",
    "trace",
]
