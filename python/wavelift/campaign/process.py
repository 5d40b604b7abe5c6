"""Processes of `wavelift`, and which build of it runs here."""

from __future__ import annotations

import functools
import os
import shutil
import signal
import subprocess
from dataclasses import dataclass

from . import CampaignError


class WorkerError(Exception):
    """Why a worker cannot run a unit. Another worker may."""


@dataclass(frozen=True)
class Done:
    """A process that has ended."""

    #: The exit status, negative for a signal; None if it was stopped at its time limit.
    status: int | None
    output: str
    errors: str

    @property
    def crashed(self) -> bool:
        """Whether it ended in another way than by an exit status of wavelift's own."""
        return self.status not in (0, 1, 2, 3, 4)

    @property
    def end(self) -> str:
        """How it ended, in words."""
        if self.status is None:
            return "stopped at its time limit"
        if self.status >= 0:
            return f"exit status {self.status}"
        try:
            return signal.Signals(-self.status).name
        except ValueError:
            return f"signal {-self.status}"


@dataclass(frozen=True)
class Host:
    """What results depend on besides a unit's contents."""

    version: str
    #: Commit and profile.
    build: str
    #: Instruction set that translated code uses.
    cpu: str

    def about(self) -> dict[str, str]:
        return {"version": self.version, "build": self.build, "cpu": self.cpu}

    def __str__(self) -> str:
        return f"wavelift {self.version}, {self.build}, {self.cpu}"


def call(command: list[str], limit: float, cwd: str | None = None, env: dict[str, str] | None = None) -> Done:
    """Runs a command for at most `limit` seconds. It and its children end with an exception here."""
    try:
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env=None if env is None else os.environ | env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        raise WorkerError(f"cannot run {command[0]}: {error.strerror}") from error
    try:
        output, errors = process.communicate(timeout=limit)
        return Done(process.returncode, output, errors)
    except subprocess.TimeoutExpired:
        _stop(process)
        output, errors = process.communicate()
        return Done(None, output, errors)
    except BaseException:
        _stop(process)
        process.communicate()
        raise


def _stop(process: subprocess.Popen[str]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def find(program: str | None) -> str:
    """The program that an option names, or the one of PATH. Workers use the same path."""
    found = shutil.which(program or "wavelift")
    if found is None and program is None:
        raise CampaignError("no program `wavelift` in PATH; install it (cargo install --path .) or name it with --wavelift")
    if found is None:
        raise CampaignError(f"--wavelift: {program} is no program that can be run")
    return os.path.abspath(found)


def host(program: str) -> Host:
    """The build of a program, and this machine's instruction set."""
    try:
        about = os.stat(program)
    except OSError as error:
        raise WorkerError(f"cannot run {program}: {error.strerror}") from error
    return _host(program, about.st_mtime_ns, about.st_size)


@functools.lru_cache
def _host(program: str, _changed: int, _size: int) -> Host:
    done = call([program, "--version"], 60)
    lines = done.output.splitlines()
    rest = dict(line.split(":", 1) for line in lines[1:] if ":" in line)
    if done.status != 0 or not lines or not {"commit", "CPU"} <= rest.keys():
        raise WorkerError(f"{program} is no wavelift of this version: --version gives {done.output[:200]!r}")
    return Host(lines[0].removeprefix("wavelift "), rest["commit"].strip(), rest["CPU"].strip())
