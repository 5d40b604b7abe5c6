"""Where batches run: in this process one after the other, or on the workers of Dask."""

from __future__ import annotations

import importlib
import os
import socket
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from . import CampaignError
from .process import Host, WorkerError, host
from .units import Unit, Verdict

Result = TypeVar("Result")


@dataclass(frozen=True)
class Batch:
    """Units that a worker runs one after the other."""

    units: tuple[Unit, ...]
    program: str
    host: Host
    #: Seconds for each process.
    limit: float


@dataclass(frozen=True)
class Outcome:
    """What became of a batch: verdicts, or an error."""

    batch: Batch
    verdicts: tuple[Verdict, ...] = ()
    #: Where it ran.
    worker: str = ""
    error: Exception | None = None


def run_batch(batch: Batch) -> tuple[tuple[Verdict, ...], str]:
    """Runs a batch; this is what workers do."""
    here = host(batch.program)
    if here != batch.host:
        raise WorkerError(f"{socket.gethostname()} has {here}; the campaign has {batch.host}")
    verdicts = tuple(unit.run(batch.program, batch.limit) for unit in batch.units)
    return verdicts, f"{socket.gethostname()}:{os.getpid()}"


class Backend(ABC):
    """Runs batches."""

    @abstractmethod
    def now(self, function: Callable[..., Result], *arguments: object) -> Result:
        """Calls a function where batches run, and waits for it."""

    @abstractmethod
    def workers(self) -> int:
        """How many batches run at the same time."""

    @abstractmethod
    def room(self) -> int:
        """How many batches should be submitted now."""

    @abstractmethod
    def submit(self, batch: Batch) -> None:
        """Adds a batch."""

    @abstractmethod
    def wait(self, seconds: float) -> list[Outcome]:
        """Waits at most so long for batches to end; gives those that have."""

    @abstractmethod
    def busy(self) -> int:
        """Batches that have not ended."""

    @abstractmethod
    def close(self) -> None:
        """Drops batches that have not ended."""


class Serial(Backend):
    """One batch at a time, in this process."""

    def __init__(self) -> None:
        self._batch: Batch | None = None

    def now(self, function: Callable[..., Result], *arguments: object) -> Result:
        try:
            return function(*arguments)
        except WorkerError as error:
            raise CampaignError(str(error)) from error

    def workers(self) -> int:
        return 1

    def room(self) -> int:
        return 1 - self.busy()

    def submit(self, batch: Batch) -> None:
        self._batch = batch

    def wait(self, seconds: float) -> list[Outcome]:
        batch, self._batch = self._batch, None
        if batch is None:
            return []
        try:
            return [Outcome(batch, *run_batch(batch))]
        except WorkerError as error:
            return [Outcome(batch, error=error)]

    def busy(self) -> int:
        return int(self._batch is not None)

    def close(self) -> None:
        self._batch = None


#: Batches of each worker that are submitted, so that it does not wait for the next one.
AHEAD = 2
#: Seconds for which the number of workers is remembered.
COUNTED = 2.0
#: Seconds for the first worker to come; schedulers of clusters may take their time.
FIRST_WORKER = 3600.0


class Cluster(Backend):
    """The workers of a Dask scheduler. Batches whose worker vanishes are run by others, which Dask does."""

    def __init__(self, address: str | None, local: int | None, dashboard: str, say: Callable[[str], None]) -> None:
        try:
            module = importlib.import_module("distributed")
        except ImportError as error:
            raise CampaignError(
                f"--local and --scheduler need Dask ({error}); install it: pip install 'wavelift[campaign]'"
            ) from error
        # Its types are not complete.
        distributed: Any = module
        self._distributed = distributed
        self._cluster: Any = None
        self._futures: dict[Any, Batch] = {}
        self._count = (0.0, 0)
        try:
            if address is None:
                self._cluster = distributed.LocalCluster(
                    n_workers=local, threads_per_worker=1, processes=True, memory_limit=0, dashboard_address=dashboard
                )
            self._client: Any = distributed.Client(address if self._cluster is None else self._cluster)
        except (OSError, ValueError, TimeoutError) as error:
            self._close_cluster()
            raise CampaignError(f"cannot reach the scheduler{f' {address}' if address else ''}: {error}") from error
        link = self._client.dashboard_link
        say(f"scheduler {self._client.scheduler.address}" + (f", dashboard {link}" if link else ""))
        try:
            self._client.wait_for_workers(1, timeout=FIRST_WORKER)
        except TimeoutError as error:
            self.close()
            raise CampaignError(f"no worker has come in {FIRST_WORKER:.0f} s") from error

    def now(self, function: Callable[..., Result], *arguments: object) -> Result:
        try:
            result: Result = self._client.submit(function, *arguments, pure=False).result()
            return result
        except WorkerError as error:
            raise CampaignError(str(error)) from error

    def workers(self) -> int:
        then, count = self._count
        if time.monotonic() - then > COUNTED:
            count = sum(self._client.nthreads().values())
            self._count = time.monotonic(), count
        return max(count, 1)

    def room(self) -> int:
        return AHEAD * self.workers() - self.busy()

    def submit(self, batch: Batch) -> None:
        unit = batch.units[0]
        # Dask shows tasks by the part of their name before the hash.
        name = f"{unit.kind}-{unit.key(batch.host)}"
        future = self._client.submit(run_batch, batch, key=f"{name}-{time.monotonic_ns()}", pure=False)
        self._futures[future] = batch

    def wait(self, seconds: float) -> list[Outcome]:
        if not self._futures:
            return []
        try:
            self._distributed.wait(list(self._futures), timeout=seconds, return_when="FIRST_COMPLETED")
        except TimeoutError:
            pass
        outcomes = []
        for future in [future for future in self._futures if future.done()]:
            batch = self._futures.pop(future)
            outcomes.append(self._outcome(future, batch))
            future.release()
        return outcomes

    def _outcome(self, future: Any, batch: Batch) -> Outcome:
        if future.cancelled():
            raise CampaignError("the scheduler is gone, or has dropped the campaign; what has ended is kept")
        error = future.exception()
        if error is None:
            return Outcome(batch, *future.result())
        if isinstance(error, self._distributed.KilledWorker):
            # Its text names the task by its key.
            error = WorkerError(f"the workers that ran it vanished, the last one {error.last_worker}")
        return Outcome(batch, error=error)

    def busy(self) -> int:
        return len(self._futures)

    def close(self) -> None:
        if self._futures:
            self._client.cancel(list(self._futures))
            self._futures.clear()
        self._client.close()
        self._close_cluster()

    def _close_cluster(self) -> None:
        if self._cluster is not None:
            self._cluster.close()
