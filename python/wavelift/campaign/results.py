"""Results in one SQLite file. Only the process that leads a campaign writes it."""

from __future__ import annotations

import bisect
import json
import os
import sqlite3
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import CampaignError
from .process import Host
from .units import Case, Unit, Verdict, key

#: `PRAGMA application_id`: "wlc" and the format's version.
APPLICATION = 0x776C6301

SCHEMA = """
CREATE TABLE campaigns (
    campaign TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    about TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE results (
    key TEXT PRIMARY KEY,
    campaign TEXT NOT NULL,
    -- Decimal, since numbers of SQLite have 63 bits; null without a range.
    first TEXT,
    end TEXT,
    label TEXT NOT NULL,
    status INTEGER NOT NULL,
    data TEXT NOT NULL,
    seconds REAL NOT NULL,
    worker TEXT NOT NULL,
    finished TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX results_of ON results (campaign);
CREATE TABLE cases (
    key TEXT NOT NULL,
    name TEXT NOT NULL,
    about TEXT NOT NULL,
    PRIMARY KEY (key, name)
) WITHOUT ROWID;
CREATE TABLE files (
    key TEXT NOT NULL,
    name TEXT NOT NULL,
    file TEXT NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (key, name, file)
) WITHOUT ROWID;
"""


class UnwrittenError(Exception):
    """A result that cannot be written."""


@dataclass(frozen=True)
class Row:
    """A result as it is kept."""

    key: str
    campaign: str
    first: int | None
    end: int | None
    label: str
    status: int
    data: dict[str, Any]
    seconds: float
    worker: str
    finished: str

    @property
    def size(self) -> int:
        return 0 if self.first is None or self.end is None else self.end - self.first

    def essence(self) -> object:
        """What another run of the same unit must give as well."""
        failures = self.data.get("failures")
        seeds = failures and [failure["seed"] for failure in failures]
        return self.status, self.data.get("digest"), self.data.get("done"), seeds


class Results:
    """A file of results, or one in memory."""

    def __init__(self, path: Path | None, create: bool = True) -> None:
        self.path = path
        if path is not None and not path.exists() and not create:
            raise CampaignError(f"there is no file {path}")
        try:
            self._db = sqlite3.connect(":memory:" if path is None else path, timeout=60, isolation_level=None)
            [(application,)] = self._db.execute("PRAGMA application_id")
            [(tables,)] = self._db.execute("SELECT count(*) FROM sqlite_master")
            if tables == 0 and application == 0:
                self._db.executescript(f"BEGIN IMMEDIATE; {SCHEMA} PRAGMA application_id = {APPLICATION}; COMMIT;")
            elif application != APPLICATION:
                raise CampaignError(f"{path} is no file of results of this version")
        except sqlite3.Error as error:
            raise CampaignError(f"cannot open {path}: {error}") from error

    def close(self) -> None:
        self._db.close()

    def __enter__(self) -> Results:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- writing

    def add(self, unit: Unit, host: Host, verdict: Verdict, worker: str) -> None:
        """Keeps a verdict. Of a range that was not run to its end, the part that was run."""
        campaign = unit.campaign(host)
        part = unit.range()
        if part is not None and verdict.end is not None:
            part = part[0], verdict.end
        first, end = part if part is not None else (None, None)
        label = unit.label()
        finished = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        row = Row(
            key(campaign, part), campaign, first, end, label, verdict.status, verdict.data, verdict.seconds, worker, finished
        )
        self.put(row, unit.kind, {**host.about(), **unit.about()}, verdict.cases)

    def put(self, row: Row, kind: str, about: dict[str, Any], cases: Iterable[Case]) -> None:
        """Keeps a row with its cases. Of rows with one key the first stays."""
        numbers = [None if number is None else str(number) for number in (row.first, row.end)]
        try:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                self._db.execute("INSERT OR IGNORE INTO campaigns VALUES (?, ?, ?)", (row.campaign, kind, _json(about)))
                values = (row.key, row.campaign, *numbers, row.label, row.status, _json(row.data), row.seconds)
                values += (row.worker, row.finished)
                new = self._db.execute("INSERT OR IGNORE INTO results VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
                for case in cases if new.rowcount else ():
                    self._db.execute("INSERT OR IGNORE INTO cases VALUES (?, ?, ?)", (row.key, case.name, case.about))
                    files = ((row.key, case.name, name, data) for name, data in case.files.items())
                    self._db.executemany("INSERT OR IGNORE INTO files VALUES (?, ?, ?, ?)", files)
                self._db.execute("COMMIT")
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise UnwrittenError(f"cannot write {self.path}: {error}") from error

    # ---- reading

    def campaigns(self) -> dict[str, tuple[str, dict[str, Any]]]:
        """Kind and contents of each campaign."""
        rows = self._read("SELECT campaign, kind, about FROM campaigns ORDER BY kind, about")
        return {campaign: (kind, json.loads(about)) for campaign, kind, about in rows}

    def rows(self, campaign: str | None = None) -> Iterator[Row]:
        """All rows, or those of a campaign."""
        columns = "key, campaign, first, end, label, status, data, seconds, worker, finished"
        where, values = ("WHERE campaign = ?", (campaign,)) if campaign else ("", ())
        for entry in self._read(f"SELECT {columns} FROM results {where} ORDER BY label", values):
            row_key, of, first, end, label, status, data, seconds, worker, finished = entry
            first, end = (None if text is None else int(text) for text in (first, end))
            yield Row(row_key, of, first, end, label, status, json.loads(data), seconds, worker, finished)

    def row(self, row_key: str) -> Row | None:
        """The row of a key."""
        found = self._read("SELECT campaign FROM results WHERE key = ?", (row_key,))
        return next((row for [campaign] in found for row in self.rows(campaign) if row.key == row_key), None)

    def has(self, row_key: str) -> bool:
        """Is there a result of this key?"""
        return bool(self._read("SELECT 1 FROM results WHERE key = ?", (row_key,)))

    def cases(self, row_key: str) -> list[Case]:
        """The failing cases of a row."""
        cases = []
        for name, about in self._read("SELECT name, about FROM cases WHERE key = ?", (row_key,)):
            files = self._read("SELECT file, content FROM files WHERE key = ? AND name = ?", (row_key, name))
            cases.append(Case(name, about, dict(files)))
        return cases

    def _read(self, statement: str, values: tuple[object, ...] = ()) -> list[Any]:
        try:
            return self._db.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise CampaignError(f"cannot read {self.path}: {error}") from error


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def cover(rows: Iterable[Row], whole: tuple[int, int] | None = None) -> list[Row]:
    """Rows of a campaign that do not overlap, with as many numbers as possible, in ascending order; only those inside
    of `whole`."""
    inside = []
    for row in rows:
        if row.first is None or row.end is None:
            continue
        if whole is None or whole[0] <= row.first and row.end <= whole[1]:
            inside.append((row.first, row.end, row))
    inside.sort(key=lambda entry: (entry[1], entry[0]))
    ends = [end for _, end, _ in inside]
    # best[n]: the most numbers of the first n rows, and the last row of these.
    best: list[tuple[int, int | None, int]] = [(0, None, 0)]
    for number, (first, end, _) in enumerate(inside):
        before = bisect.bisect_right(ends, first, 0, number)
        taken = best[before][0] + end - first
        left = best[number]
        best.append((taken, number, before) if taken > left[0] else (left[0], None, number))
    chosen = []
    at = len(inside)
    while at > 0:
        _, last, at = best[at]
        if last is not None:
            chosen.append(inside[last][2])
    return chosen[::-1]


def spans(rows: Iterable[Row]) -> list[tuple[int, int]]:
    """The ranges that rows in ascending order make up."""
    merged: list[tuple[int, int]] = []
    for row in rows:
        assert row.first is not None and row.end is not None, "they have ranges"
        if merged and merged[-1][1] == row.first:
            merged[-1] = merged[-1][0], row.end
        else:
            merged.append((row.first, row.end))
    return merged


def gaps(covered: list[tuple[int, int]], whole: tuple[int, int]) -> list[tuple[int, int]]:
    """What of a range is not covered."""
    left = []
    at = whole[0]
    for first, end in [*covered, (whole[1], whole[1])]:
        if at < first:
            left.append((at, first))
        at = end
    return left


def merge(inputs: list[Results], path: Path) -> list[str]:
    """Writes the results of several files to one. Gives the units of which they have different results."""
    different = []
    try:
        handle, name = tempfile.mkstemp(prefix=".wavelift-", suffix=".part", dir=path.parent)
        os.close(handle)
    except OSError as error:
        raise UnwrittenError(f"cannot write {path}: {error.strerror}") from error
    part = Path(name)
    try:
        with Results(part) as out:
            for one in inputs:
                campaigns = one.campaigns()
                for row in one.rows():
                    old = out.row(row.key)
                    if old is not None:
                        if old.essence() != row.essence():
                            different.append(f"{row.label} of {row.worker} and {old.worker}")
                        continue
                    out.put(row, *campaigns[row.campaign], one.cases(row.key))
        os.replace(part, path)
    except OSError as error:
        raise UnwrittenError(f"cannot write {path}: {error.strerror}") from error
    finally:
        part.unlink(missing_ok=True)
    return different
