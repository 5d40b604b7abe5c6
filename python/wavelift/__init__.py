"""Runs AMD GCN kernels on NumPy arrays without a GPU.

>>> import numpy, wavelift
>>> module = wavelift.Module.compile(source="kernel void twice(global int* x) { x[get_global_id(0)] *= 2; }")
>>> x = numpy.arange(4, dtype=numpy.int32)
>>> stats = module["twice"](x, grid=4)
>>> x
array([0, 2, 4, 6], dtype=int32)
"""

from ._wavelift import (
    Buffer,
    Device,
    Difference,
    Event,
    Kernel,
    Local,
    Module,
    Parameter,
    Pointer,
    Profile,
    Stats,
    Stream,
    TraceEvent,
    default_device,
    targets,
)
from .errors import CompileError, Error, Fault, LoadError, NoCompilerError

__all__ = [
    "Buffer",
    "CompileError",
    "Device",
    "Difference",
    "Error",
    "Event",
    "Fault",
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
    "TraceEvent",
    "default_device",
    "targets",
]
