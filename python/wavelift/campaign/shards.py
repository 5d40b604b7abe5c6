"""One dispatch in shards: ranges of workgroups as tasks, whose changes `wavelift shard merge` puts together."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from . import CampaignError
from .backends import Backend, Batch, Outcome
from .process import Host, WorkerError, call
from .units import Case, Tree, Unit, Verdict, read_tree


@dataclass(frozen=True)
class Shard(Unit):
    """A range of the workgroups of a manifest's launch. Its verdict has the file of changes."""

    kind: ClassVar[str] = "shard"
    name: str
    tree: Tree
    number: int
    of: int
    #: Of `wavelift shard run`.
    options: tuple[str, ...] = ()

    def about(self) -> dict[str, Any]:
        return {"files": self.tree.hashes(), "shard": [self.number, self.of], "options": self.options}

    def label(self) -> str:
        return f"shard {self.number}/{self.of} of {self.name}"

    def file(self) -> str:
        """The name of the file of changes. Names sort as numbers do."""
        return f"{self.number:0{len(str(self.of))}}-of-{self.of}.changes"

    def run(self, program: str, limit: float) -> Verdict:
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="wavelift-") as name:
            folder = Path(name)
            manifest = self.tree.write(folder / "manifest")
            changes = folder / "changes"
            command = [program, "shard", "run", str(manifest), "--shard", f"{self.number}/{self.of}", "--independent"]
            done = call([*command, "--changes", str(changes), "--json", *self.options], limit)
            if done.status in (2, 3):
                # As it would be on any worker.
                raise CampaignError(f"{self.label()}: {done.errors.strip().removeprefix('error: ')}")
            if done.status != 0:
                raise WorkerError(f"wavelift shard run: {done.end}: {done.errors.strip()[-500:]}")
            files = {self.file(): changes.read_bytes()}
            report: dict[str, Any] = json.loads(done.output)
        return Verdict(0, report, time.monotonic() - began, (Case(self.label(), "changes", files),))


@dataclass(frozen=True)
class Settings:
    """How shards are run."""

    program: str
    #: Seconds for each process.
    limit: float
    retries: int


def check(manifest: Path, shards: int, program: str, limit: float, options: list[str]) -> None:
    """Requires that shards are independent, by one run in checked mode here, of at most `limit` seconds."""
    command = [program, "shard", "check", str(manifest), "--shards", str(shards), *options]
    done = call(command, limit)
    if done.status != 0:
        message = (done.output + done.errors).strip().removeprefix("error: ")
        raise CampaignError(message or f"wavelift shard check: {done.end}")


def run(
    manifest: Path, shards: int, changes: Path, backend: Backend, host: Host, settings: Settings,
    options: list[str], say: Callable[[str], None],
) -> dict[str, Any]:  # fmt: skip
    """Runs the shards that have no file in the folder of changes; gives how many, and their seconds."""
    tree = read_tree(manifest)
    units = [Shard(manifest.name, tree, number, shards, tuple(options)) for number in range(1, shards + 1)]
    left = [unit for unit in units if not (changes / unit.file()).exists()]
    changes.mkdir(parents=True, exist_ok=True)
    attempts: Counter[int] = Counter()
    busy = 0.0
    begun = time.monotonic()
    waiting = list(reversed(left))
    while waiting or backend.busy():
        while waiting and backend.room() > 0:
            backend.submit(Batch((waiting.pop(),), settings.program, host, settings.limit))
        for outcome in backend.wait(0.5):
            [unit] = outcome.batch.units
            assert isinstance(unit, Shard)
            if outcome.error is None:
                busy += _keep(outcome, changes)
                continue
            attempts[unit.number] += 1
            if isinstance(outcome.error, CampaignError) or attempts[unit.number] > settings.retries:
                raise CampaignError(str(outcome.error)) from outcome.error
            say(f"{unit.label()}: {outcome.error}; it is run again")
            waiting.append(unit)
    return {"shards": shards, "done_now": len(left), "seconds": time.monotonic() - begun, "busy_seconds": busy}


def _keep(outcome: Outcome, changes: Path) -> float:
    """Writes the files of a shard, each as a whole; its seconds."""
    [verdict] = outcome.verdicts
    for case in verdict.cases:
        for name, data in case.files.items():
            part = changes / f".{name}.part"
            part.write_bytes(data)
            part.replace(changes / name)
    return verdict.seconds


def merge(manifest: Path, shards: int, changes: Path, program: str, options: list[str]) -> int:
    """Puts the changes together; prints what `wavelift shard merge` does, and gives its exit status."""
    names = [Shard("", Tree("", {}), number, shards).file() for number in range(1, shards + 1)]
    files = [str(changes / name) for name in names]
    sys.stdout.flush()
    return subprocess.run([program, "shard", "merge", str(manifest), *files, *options], stdin=subprocess.DEVNULL).returncode
