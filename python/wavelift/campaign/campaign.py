"""The loop of a campaign: batches are given out, verdicts are kept."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import TextIO

from . import CampaignError
from .backends import Backend, Batch, Outcome
from .process import Host, WorkerError
from .results import Results
from .sources import Source
from .units import Unit


@dataclass(frozen=True)
class Settings:
    """How a campaign runs."""

    program: str
    #: Seconds that a batch should take.
    batch: float
    #: Seconds for each process.
    limit: float
    #: Failing cases, after which no more batches are given out.
    most: int
    #: How often a batch is given to another worker when one cannot run it.
    retries: int


@dataclass
class End:
    """How a campaign ended."""

    #: Why units were left, in words.
    reasons: list[str] = field(default_factory=list)
    #: Numbers or units that were run.
    done: int = 0
    #: Seconds that workers were busy.
    busy: float = 0.0
    seconds: float = 0.0


def size(units: tuple[Unit, ...]) -> int:
    """Numbers of ranges, or units."""
    parts = [unit.range() for unit in units]
    return sum(1 if part is None else part[1] - part[0] for part in parts)


class Progress:
    """A line on a terminal, or a line now and then in a log."""

    #: Seconds between lines.
    TERMINAL, LOG = 0.5, 30.0

    def __init__(self, total: int, what: str, stream: TextIO) -> None:
        self._total, self._what, self._stream = total, what, stream
        self._terminal = stream.isatty()
        self._begun = self._shown = time.monotonic()
        self._wide = 0

    def show(self, done: int, cases: int, workers: int) -> None:
        now = time.monotonic()
        if now - self._shown < (self.TERMINAL if self._terminal else self.LOG):
            return
        self._shown = now
        rate = done / max(now - self._begun, 1e-9)
        text = f"{done} of {self._total} {self._what}, {rate:.0f}/s, {workers} workers, {cases} failing"
        if done:
            text += f", {_time((self._total - done) / rate)} left"
        self._write(text)

    def say(self, text: str) -> None:
        """A line that stays."""
        self.clear()
        print(text, file=self._stream, flush=True)

    def clear(self) -> None:
        """Removes the line from a terminal."""
        if self._terminal and self._wide:
            self._write("")
            self._stream.write("\r")
            self._stream.flush()
            self._wide = 0

    def _write(self, text: str) -> None:
        if self._terminal:
            self._stream.write("\r" + text.ljust(self._wide))
            self._wide = len(text)
        else:
            self._stream.write(text + "\n")
        self._stream.flush()


def _time(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {seconds} s"


@contextmanager
def _signals() -> Iterator[threading.Event]:
    """An event that Ctrl-C and SIGTERM set. A second one ends the program at once."""
    stop = threading.Event()

    def first(number: int, _frame: FrameType | None) -> None:
        stop.set()
        signal.signal(number, signal.SIG_DFL)
        raise KeyboardInterrupt

    old = {number: signal.signal(number, first) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


def run(
    sources: list[Source], what: str, backend: Backend, results: Results, host: Host, settings: Settings,
    stream: TextIO = sys.stderr,
) -> End:  # fmt: skip
    """Runs what the sources give until nothing is left, too many cases fail, or a signal comes. `what` is the plural
    of what they count."""
    end = End()
    progress = Progress(sum(source.left for source in sources), what, stream)
    begun = time.monotonic()
    try:
        with _signals():
            _Loop(sources, backend, results, host, settings, progress, end).run()
    except KeyboardInterrupt:
        end.reasons.append("it was stopped by a signal")
    finally:
        progress.clear()
        backend.close()
    end.seconds = time.monotonic() - begun
    return end


class _Loop:
    def __init__(
        self, sources: list[Source], backend: Backend, results: Results, host: Host, settings: Settings,
        progress: Progress, end: End,
    ) -> None:  # fmt: skip
        self._sources, self._backend, self._results = sources, backend, results
        self._host, self._settings, self._progress, self._end = host, settings, progress, end
        self._failing = 0
        #: By the key of the batch's first unit.
        self._attempts: Counter[str] = Counter()
        self._of: dict[str, Source] = {}

    def run(self) -> None:
        while True:
            while self._backend.room() > 0 and self._failing < self._settings.most:
                batch = self._next()
                if batch is None:
                    break
                self._backend.submit(batch)
            if not self._backend.busy():
                break
            for outcome in self._backend.wait(0.5):
                self._handle(outcome)
            self._progress.show(self._end.done, self._failing, self._backend.workers())
        if any(source.left for source in self._sources):
            self._end.reasons.append(f"{self._failing} cases fail")

    def _next(self) -> Batch | None:
        for source in self._sources:
            units = source.take(self._settings.batch, self._backend.workers())
            if units:
                for unit in units:
                    self._of[unit.key(self._host)] = source
                return Batch(tuple(units), self._settings.program, self._host, self._settings.limit)
        return None

    def _handle(self, outcome: Outcome) -> None:
        batch = outcome.batch
        keys = [unit.key(self._host) for unit in batch.units]
        if isinstance(outcome.error, CampaignError):
            raise outcome.error
        if outcome.error is not None:
            self._fail(batch, keys[0], outcome.error)
            return
        for unit, verdict in zip(batch.units, outcome.verdicts, strict=True):
            self._results.add(unit, self._host, verdict, outcome.worker)
            self._failing += len(verdict.cases)
            for case in verdict.cases:
                self._progress.say(f"FAILING: {unit.label()}: {case.about}")
            part = unit.range()
            if part is not None and verdict.end is not None:
                left = f"{verdict.end}..{part[1]}"
                self._end.reasons.append(f"{unit.label()}: {left} are left, since {len(verdict.cases)} cases fail")
        seconds = sum(verdict.seconds for verdict in outcome.verdicts)
        self._end.done += size(batch.units)
        self._end.busy += seconds
        self._of[keys[0]].measured(size(batch.units), seconds)
        for key in keys:
            del self._of[key]

    def _fail(self, batch: Batch, key: str, error: Exception) -> None:
        label = batch.units[0].label()
        self._attempts[key] += 1
        if self._attempts[key] <= self._settings.retries and isinstance(error, WorkerError | OSError):
            self._progress.say(f"{label}: {error}; it is run again")
            self._backend.submit(batch)
            return
        self._end.reasons.append(f"{label}: {error}")
