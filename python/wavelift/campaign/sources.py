"""What remains to be done, and in which pieces: each piece should keep a worker busy for some seconds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable

from .units import Unit

#: Of a new measurement of the time for one number, in the average.
WEIGHT = 0.3
#: Numbers of a range that the first batches have, while nothing is known about their time.
FIRST = 256


class Source(ABC):
    """Units that are left."""

    #: Numbers or units that are left to be given out.
    left: int

    def __init__(self, cost: float | None = None) -> None:
        #: Seconds for one of them, as measured.
        self.cost = cost

    @abstractmethod
    def take(self, seconds: float, workers: int) -> list[Unit]:
        """A batch that takes about so many seconds; nothing if nothing is left."""

    def measured(self, count: int, seconds: float) -> None:
        """A batch of so many took this long."""
        if count > 0:
            new = seconds / count
            self.cost = new if self.cost is None else self.cost + WEIGHT * (new - self.cost)

    def _count(self, seconds: float, workers: int) -> int:
        """How many a batch has: for `seconds`; towards the end fewer, so that all workers end together, but for a second
        at least."""
        if self.cost is None or self.cost <= 0:
            return FIRST
        fair = self.left / (2 * workers)
        return max(int(min(seconds / self.cost, fair)), self._least())

    def _least(self) -> int:
        """How many take a second."""
        return FIRST if self.cost is None or self.cost <= 0 else int(1 / self.cost) + 1


class Ranges(Source):
    """Parts of ranges."""

    def __init__(
        self, ranges: Iterable[tuple[int, int]], unit: Callable[[int, int], Unit], cost: float | None = None
    ) -> None:
        super().__init__(cost)
        self._ranges = deque(ranges)
        self._unit = unit
        self.left = sum(end - first for first, end in self._ranges)

    def take(self, seconds: float, workers: int) -> list[Unit]:
        if not self._ranges:
            return []
        first, end = self._ranges.popleft()
        count = self._count(seconds, workers)
        # A rest of less than a second goes with it.
        middle = first + count if first + count + self._least() <= end else end
        if middle < end:
            self._ranges.appendleft((middle, end))
        self.left -= middle - first
        return [self._unit(first, middle)]


class Units(Source):
    """Units of a list."""

    def __init__(self, units: Iterable[Unit]) -> None:
        super().__init__()
        self._units = deque(units)
        self.left = len(self._units)

    def take(self, seconds: float, workers: int) -> list[Unit]:
        count = 1 if self.cost is None else self._count(seconds, workers)
        batch = [self._units.popleft() for _ in range(min(count, len(self._units)))]
        self.left -= len(batch)
        return batch
