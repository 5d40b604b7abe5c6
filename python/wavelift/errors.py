"""Exceptions of wavelift."""

from __future__ import annotations

__all__ = ["CompileError", "Error", "Fault", "LoadError", "NoCompilerError"]


class Error(Exception):
    """An error of wavelift that no exception of Python describes."""


class LoadError(Error, ValueError):
    """A file that is no code object which can be run."""


class CompileError(Error):
    """A source that was not compiled; the message has what the compiler printed."""


class NoCompilerError(CompileError):
    """No compiler for a source is installed; the message says what to install."""


class Fault(Error):
    """The kernel did wrong. Arrays and buffers keep what it had written.

    Attributes that name a place are None where none is known: a write past the end of a buffer is
    found after the kernel has ended.

    kind: such as "memory", "read_only", "misaligned", "trap", "timeout", "illegal_instruction".
    kernel: the kernel's name.
    address: guest address of the access, if it was one.
    lane: the lane within the wave; None for scalar instructions.
    pc: address of the instruction in the code object, as in the disassembly.
    symbol: function and offset of the instruction.
    instruction: the instruction's text.
    workgroup, wave: where it happened.
    exec: the mask of active lanes at the instruction.
    """

    kind: str
    kernel: str
    address: int | None
    lane: int | None
    pc: int | None
    symbol: tuple[str, int] | None
    instruction: str | None
    workgroup: tuple[int, int, int] | None
    wave: int | None
    exec: int | None

    def __init__(self, message: str, **attributes) -> None:
        super().__init__(message)
        self.__dict__.update(attributes)

    def __reduce__(self):
        return _restore, (self.args[0], self.__dict__)


def _restore(message: str, attributes: dict) -> Fault:
    return Fault(message, **attributes)


for _class in (Error, LoadError, CompileError, NoCompilerError, Fault):
    _class.__module__ = "wavelift"
