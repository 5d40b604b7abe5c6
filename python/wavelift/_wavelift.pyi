from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Protocol, Self, final, overload

import numpy
from typing_extensions import Buffer as _HasBuffer

_Engine = Literal["jit", "interp"]
_Sizes = int | Sequence[int]

class _HasDLPack(Protocol):
    def __dlpack__(self, *, max_version: tuple[int, int] | None = None) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...

_Array = _HasBuffer | _HasDLPack
#: What kernels take: arrays, buffers and None for pointers; numbers, sequences of numbers for
#: vectors, and objects with the bytes of a structure for values; Local for LDS.
_Argument = _Array | Buffer | Pointer | Local | None | bool | int | float | Sequence[float]

def default_device(engine: _Engine = "jit") -> Device:
    """The device of modules that name none; one for each engine."""

def targets(code: str | PathLike[str] | bytes | bytearray) -> list[str]:
    """Targets of the code objects in a file, or in its bytes, that can be run."""

@final
class Device:
    """A device that runs kernels: memory and an engine.

    engine: "jit" translates to host code, "interp" interprets.
    threads: worker threads; 0 means one for each processor.
    timeout: seconds after which a launch ends in a Fault of kind "timeout".
    memcheck: report accesses outside the exact allocation and reads of LDS and scratch that were
        never written. Slow.
    sanitize: check launches for data races, accesses out of bounds and barriers that not all waves
        reach (docs/dynamic.md), on one thread: findings.
    stack: bytes of stack of a work-item in addition to the scratch that a kernel states.
    """

    def __new__(
        cls,
        *,
        engine: _Engine = "jit",
        threads: int = 0,
        timeout: float | None = None,
        memcheck: bool = False,
        sanitize: bool = False,
        stack: int | None = None,
    ) -> Self: ...
    @property
    def engine(self) -> _Engine: ...
    @property
    def threads(self) -> int: ...
    @property
    def timeout(self) -> float | None: ...
    @property
    def memcheck(self) -> bool: ...
    @property
    def sanitize(self) -> bool: ...
    def findings(self) -> list[Finding]:
        """What launches were found to do wrong since the last call, in the order of the launches; with
        sanitize=True only. Waits for the launches that are queued on streams; how they end does not
        matter. Launches of profile, diff and trace are not checked."""

    def alloc(self, nbytes: int) -> Buffer:
        """A buffer of that many zero bytes."""

    def buffer(self, array: _Array) -> Buffer:
        """A buffer with a copy of an array's elements, in C order."""

    def stream(self) -> Stream:
        """A new stream."""

@final
class Buffer(_HasBuffer):
    """Memory of a device. It has the buffer protocol: numpy.asarray(buffer) is a view of its bytes."""

    @property
    def nbytes(self) -> int: ...
    @property
    def address(self) -> int:
        """Guest address of the first byte."""

    @property
    def device(self) -> Device: ...
    def at(self, offset: int) -> Pointer:
        """A pointer to the byte at offset, as an argument of a kernel."""

    def write(self, array: _Array, offset: int = 0) -> None:
        """Overwrites bytes from offset on with the elements of an array, in C order."""

    def read(self, offset: int = 0, nbytes: int | None = None) -> bytes:
        """A copy of nbytes bytes from offset on; None: all from there on."""

    def numpy(self, dtype: Any = None, shape: Any = None) -> numpy.ndarray:
        """The bytes as a NumPy array of this type and shape, without a copy."""

    def __len__(self) -> int: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...

@final
class Pointer:
    """A pointer into a buffer, as an argument of a kernel."""

    @property
    def address(self) -> int: ...

@final
class Local:
    """That many bytes of LDS, for parameters that are pointers to LDS."""

    def __new__(cls, nbytes: int) -> Self: ...
    @property
    def nbytes(self) -> int: ...

@final
class Module:
    """A code object that is loaded into a device's memory.

    code: a file, or its bytes: an ELF code object, an offload bundle or a HIP fat binary.
    target: which code object of a bundle, such as "gfx906:xnack-".
    device: where it runs; or engine, for the default device of that engine.
    """

    def __new__(
        cls,
        code: str | PathLike[str] | bytes | bytearray,
        *,
        target: str | None = None,
        device: Device | None = None,
        engine: _Engine | None = None,
    ) -> Self: ...
    @overload
    @classmethod
    def compile(
        cls,
        path: str | PathLike[str],
        *,
        target: str | None = None,
        device: Device | None = None,
        engine: _Engine | None = None,
    ) -> Module: ...
    @overload
    @classmethod
    def compile(
        cls,
        *,
        source: str,
        language: Literal["opencl", "hip"] = "opencl",
        target: str | None = None,
        device: Device | None = None,
        engine: _Engine | None = None,
    ) -> Module:
        """Compiles OpenCL C (.cl) or HIP (.hip) with the clang or hipcc that is installed, for a
        target (gfx906). The result is kept in the user's cache. Warnings of the compiler are
        warnings of Python."""

    @property
    def device(self) -> Device: ...
    @property
    def target(self) -> str: ...
    @property
    def kernels(self) -> list[str]: ...
    def __getitem__(self, name: str, /) -> Kernel: ...
    def __contains__(self, name: str, /) -> bool: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[str]: ...
    def disassembly(self) -> str:
        """All code in LLVM's syntax."""

@final
class Kernel:
    """A kernel of a module; calling it runs it."""

    @overload
    def __call__(
        self,
        *args: _Argument,
        grid: _Sizes,
        block: _Sizes | None = None,
        lds: int = 0,
        offset: _Sizes | None = None,
        timeout: float | None = None,
        engine: _Engine | None = None,
        stream: None = None,
        in_place: bool = False,
    ) -> Stats: ...
    @overload
    def __call__(
        self,
        *args: _Argument,
        grid: _Sizes,
        block: _Sizes | None = None,
        lds: int = 0,
        offset: _Sizes | None = None,
        timeout: float | None = None,
        engine: _Engine | None = None,
        stream: Stream,
        in_place: bool = False,
    ) -> Event:
        """Runs the kernel over grid work-items in workgroups of block, and waits for its end.

        block: work-items of a workgroup; None: what the kernel requires, else 256, 16 by 16 or
            8 by 8 by 4 at most.
        lds: bytes of LDS in addition to the kernel's own and to those of Local arguments.
        offset: the first global id in each dimension.
        timeout: time limit in seconds instead of the device's.
        engine: another engine than the module's. The code object is loaded for the default device
            of that engine, with variables of its own; buffers of another device are refused.
        stream: queue the launch there and return at once.
        in_place: let the kernel access arrays of the host where they are, instead of copies of them
            in the device's memory, if they have no gaps and are aligned.
        """

    def profile(
        self,
        *args: _Argument,
        grid: _Sizes,
        block: _Sizes | None = None,
        lds: int = 0,
        offset: _Sizes | None = None,
        timeout: float | None = None,
    ) -> Profile:
        """Where the kernel spends its time, and how it was translated.

        It runs twice on copies of the arguments, timed and with counters; arrays and buffers stay
        as they are. The run with counters may take many times as long and has a hundred times the
        timeout.
        """

    def diff(
        self,
        *args: _Argument,
        grid: _Sizes,
        block: _Sizes | None = None,
        lds: int = 0,
        offset: _Sizes | None = None,
        timeout: float | None = None,
        step_limit: int = 10_000_000,
    ) -> Difference | None:
        """Where the interpreter and the translator differ; None if they agree bit for bit.

        It runs on both engines, on copies of the arguments and on one thread; arrays and buffers stay
        as they are. A difference is narrowed to the first workgroup, wave and instruction, of which
        at most step_limit are run side by side. A fault on both engines alike is raised.
        """

    def trace(
        self,
        *args: _Argument,
        grid: _Sizes,
        block: _Sizes | None = None,
        lds: int = 0,
        offset: _Sizes | None = None,
        timeout: float | None = None,
        workgroup: tuple[int, int, int] = (0, 0, 0),
        wave: int = 0,
        limit: int | None = 10_000,
    ) -> list[TraceEvent]:
        """What a wave of a workgroup executes, instruction by instruction.

        The kernel is interpreted, on copies of the arguments; arrays and buffers stay as they are.
        limit: most instructions to give; None: all.
        """

    @property
    def name(self) -> str: ...
    @property
    def module(self) -> Module: ...
    @property
    def parameters(self) -> list[Parameter]: ...
    @property
    def sgprs(self) -> int: ...
    @property
    def vgprs(self) -> int: ...
    @property
    def lds(self) -> int:
        """Static LDS in bytes."""

    @property
    def scratch(self) -> int:
        """Scratch of a work-item in bytes."""

    @property
    def required_block(self) -> tuple[int, int, int] | None:
        """The only workgroup size that it allows, if there is one."""

    def disassembly(self) -> str:
        """The kernel in LLVM's syntax."""

    def _repr_html_(self) -> str: ...

@final
class Parameter:
    """A parameter of a kernel, as its metadata describes it."""

    @property
    def name(self) -> str | None: ...
    @property
    def type(self) -> str | None: ...
    @property
    def kind(self) -> str:
        """"value", "pointer", "local" or another kind of the metadata."""

    @property
    def size(self) -> int: ...
    @property
    def offset(self) -> int: ...
    @property
    def read_only(self) -> bool: ...

@final
class Finding:
    """What a launch was found to do wrong, or a note. Its text is that of the command line: the sentence and
    both instructions."""

    @property
    def rule(self) -> str:
        """The rule that is broken, such as "race-lds"."""

    @property
    def severity(self) -> Literal["finding", "note"]:
        """A note is no defect."""

    @property
    def kernel(self) -> str:
        """The kernel that was launched."""

    @property
    def what(self) -> str | None:
        """What was accessed, such as "y[3]"; None for barriers."""

    @property
    def why(self) -> str:
        """What is wrong, in one sentence."""

    @property
    def address(self) -> int | None:
        """Guest address of the lowest byte, or its offset in LDS; None for barriers."""

    @property
    def workgroup(self) -> tuple[int, int, int]:
        """The workgroup in which it was found first."""

    @property
    def wave(self) -> int: ...
    @property
    def lane(self) -> int | None:
        """Where it is known; None also for scalar instructions."""

    @property
    def count(self) -> int:
        """How often it was found in the launch."""

    @property
    def instruction(self) -> Instruction:
        """The instruction at which it was found."""

    @property
    def other(self) -> Instruction | None:
        """The earlier instruction, such as the other access of a race."""

@final
class Instruction:
    """An instruction of a code object."""

    @property
    def address(self) -> int:
        """Address in the code object, as in the disassembly."""

    @property
    def text(self) -> str: ...
    @property
    def file(self) -> str | None:
        """File of the source, if the code object has lines."""

    @property
    def line(self) -> int | None: ...

@final
class Suppression:
    """Stands for findings that are known.

    rule: the rule's name. Unknown ones are a ValueError.
    kernel: the kernel's name; None: all.
    file: the end of the path of the code object or source; None: any.
    address: of the instruction that goes wrong, in the code object; None: any.
    reason: why the findings are known.
    """

    def __new__(
        cls,
        rule: str,
        *,
        kernel: str | None = None,
        file: str | PathLike[str] | None = None,
        address: int | None = None,
        reason: str,
    ) -> Self: ...
    @staticmethod
    def read(path: str | PathLike[str]) -> list[Suppression]:
        """The entries of a TOML file, as wavelift check --suppress reads it (docs/check.md)."""

    def suits(self, finding: Finding, path: str | PathLike[str] | None = None) -> bool:
        """Does it stand for a finding in code that was loaded from path?"""

    def concerns(self, module: Module, path: str | PathLike[str] | None = None) -> bool:
        """May it stand for a finding in a launch of a kernel of module, which was loaded from path?"""

    @property
    def rule(self) -> str: ...
    @property
    def kernel(self) -> str | None: ...
    @property
    def file(self) -> Path | None: ...
    @property
    def address(self) -> int | None: ...
    @property
    def reason(self) -> str: ...
    @property
    def line(self) -> int | None:
        """Line of the entry in its file; None without a file."""

@final
class Difference:
    """Where the interpreter and the translator differ about a launch. Its text says it for readers.

    Without a workgroup the difference does not show again: the result depends on time. Where no
    single instruction differs, the instruction is the first of a stretch of code up to a backward
    branch, or None.
    """

    @property
    def workgroup(self) -> tuple[int, int, int] | None: ...
    @property
    def wave(self) -> int | None: ...
    @property
    def pc(self) -> int | None: ...
    @property
    def symbol(self) -> tuple[str, int] | None: ...
    @property
    def instruction(self) -> str | None: ...
    @property
    def registers(self) -> list[tuple[str, int | None, int, int]]:
        """Name, lane, and the values of interpreter and translator."""

    @property
    def memory(self) -> list[tuple[str | None, int, bytes, bytes]]:
        """Parameter and offset, or None and an address, and the bytes of interpreter and
        translator."""

@final
class TraceEvent:
    """An instruction that a wave has executed. Its text is that of the command line."""

    @property
    def number(self) -> int:
        """How many instructions the wave has executed before."""

    @property
    def pc(self) -> int: ...
    @property
    def symbol(self) -> tuple[str, int] | None: ...
    @property
    def line(self) -> tuple[str, int] | None:
        """File and line, if the code object has lines."""

    @property
    def frames(self) -> list[tuple[str, bool, tuple[str, int] | None]]:
        """The functions that it is part of, the innermost first, if the code object has lines:
        name, whether it is inlined into the next one, file and line."""

    @property
    def instruction(self) -> str: ...
    @property
    def exec(self) -> int:
        """EXEC before it."""

    @property
    def registers(self) -> dict[str, int | float | dict[int, int | float]]:
        """Registers that it has changed: a number by name, or numbers by lane. Results of
        instructions on floats are floats."""

    @property
    def memory(self) -> list[tuple[str, int | None, str | None, int, bytes, bytes | None]]:
        """Its accesses: "read", "write" or "atomic"; the lane, None for the scalar unit; the
        parameter, "lds", "scratch", "code", "arguments" or None; the offset there, or the address;
        the bytes; those that an atomic has left."""

    @property
    def next(self) -> Literal["continue", "jump", "barrier", "wait", "end", "fault"]: ...

@final
class Profile:
    """A kernel's profile. Its text is a summary by region and block; a notebook shows the page."""

    @property
    def seconds(self) -> float:
        """In translated code and what it calls, over all threads."""

    @property
    def waves(self) -> int: ...
    @property
    def instructions(self) -> int:
        """Executed by waves."""

    @property
    def lane_instructions(self) -> int:
        """The same, each counted once for every active lane (scalar instructions once)."""

    def html(self) -> str:
        """A page without scripts: regions and blocks by time, the reasons why they are not faster,
        and the disassembly with executions, active lanes and share of time."""

    def _repr_html_(self) -> str: ...

@final
class Stats:
    """What a launch did."""

    @property
    def workgroups(self) -> int: ...
    @property
    def waves(self) -> int: ...
    @property
    def seconds(self) -> float:
        """From the first wave's start to the last one's end, translation included."""

    @property
    def translate_seconds(self) -> float: ...
    @property
    def fallbacks(self) -> int:
        """Executions of instructions that the translator handed to the interpreter."""

@final
class Stream:
    """A queue of launches that run in order while Python goes on.

    After a launch has failed it runs nothing more; synchronize and the events of later launches
    raise the error.
    """

    @property
    def device(self) -> Device: ...
    def synchronize(self) -> None:
        """Waits until all launches so far have ended."""

    def record(self) -> Event:
        """An event that is done when all launches so far have ended."""

    def wait_for(self, event: Event) -> None:
        """Lets subsequent launches begin after the one of event."""

@final
class Event:
    """The end of a launch on a stream."""

    @property
    def done(self) -> bool: ...
    def wait(self, timeout: float | None = None) -> Stats | None:
        """Waits for at most timeout seconds; None if the launch has not ended by then."""
