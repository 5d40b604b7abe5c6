"""What the generators give to `run`."""

from dataclasses import dataclass
from pathlib import Path


class Skipped(Exception):
    """Why there is no program, or no use in running it."""


@dataclass
class Program:
    """A program: one kernel, which is compiled for the host, too."""

    kind: str
    seed: int
    source: Path
    kernel: str
    grid: int
    workgroup: int
    # Output buffers by name, in words of 32 bits.
    buffers: dict
    # Input buffers by name, as files in the source's folder.
    inputs: dict
    arguments: list
    flags: list
    host_flags: list
    note: str = ""
    # Targets on which it does not run.
    without: tuple = ()

    @property
    def name(self):
        return f"{self.kind}{self.seed}"
