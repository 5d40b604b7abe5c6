"""What results say: by campaign, as text or JSON, with the failing cases in a folder."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from pathlib import Path
from typing import Any

from . import CampaignError
from .results import Results, Row, UnwrittenError, cover, gaps, spans
from .units import Fuzz, Sweep, Tree, fuzz_total

#: Kinds whose units are parts of a range, and what is counted.
RANGED = {Fuzz.kind: "seeds", Sweep.kind: "inputs"}


def _texts(ranges: Iterable[tuple[int, int]]) -> list[str]:
    return [f"{first}..{end}" for first, end in ranges]


def _ranged(kind: str, rows: list[Row], whole: tuple[int, int] | None) -> dict[str, Any]:
    """Of the parts of a range."""
    parts = cover(rows, whole)
    covered = spans(parts)
    left = gaps(covered, whole) if whole else []
    report: dict[str, Any] = {"ranges": _texts(covered), "left": _texts(left), "parts": len(parts)}
    report["seconds"] = sum(row.seconds for row in parts)
    if kind == Fuzz.kind:
        report |= fuzz_total([row.data for row in parts])
    else:
        report["done"] = sum(row.size for row in parts)
        report["failures"] = [{"inputs": row.label, **row.data} for row in parts if row.status]
    report["status"] = max((row.status for row in parts), default=0)
    return report


def _listed(rows: list[Row]) -> dict[str, Any]:
    """Of units without ranges."""
    rows = sorted(rows, key=lambda row: row.label)
    failures = [{"unit": row.label, "status": row.status, **row.data} for row in rows if row.status]
    return {
        "units": [row.label for row in rows],
        "done": len(rows),
        "seconds": sum(row.seconds for row in rows),
        "failures": failures,
        "status": max((row.status for row in rows), default=0),
    }


def report(results: Results, requested: dict[str, tuple[int, int] | None] | None = None) -> list[dict[str, Any]]:
    """All campaigns, or those that are requested, each with a part of its range if that is requested. Units of one kind
    without ranges are one entry."""
    entries: list[dict[str, Any]] = []
    lists: dict[tuple[str, str], tuple[dict[str, Any], list[Row]]] = {}
    for campaign, (kind, about) in results.campaigns().items():
        if requested is not None and campaign not in requested:
            continue
        rows = list(results.rows(campaign))
        host = {name: about[name] for name in ("version", "build", "cpu")}
        if kind in RANGED:
            whole = requested[campaign] if requested is not None else None
            name = about["target"] if kind == Fuzz.kind else f"{Path(about['entry']).name} {about['engine']}"
            entry = {"kind": kind, "name": name, "options": about.get("options", ""), "host": host}
            entries.append(entry | _ranged(kind, rows, whole))
        else:
            lists.setdefault((kind, str(host)), (host, []))[1].extend(rows)
    for (kind, _), (host, rows) in lists.items():
        entries.append({"kind": kind, "name": "", "options": "", "host": host} | _listed(rows))
    return entries


def status(entries: list[dict[str, Any]]) -> int:
    """The exit status that they stand for."""
    return max((entry["status"] for entry in entries), default=0)


def text(entries: list[dict[str, Any]]) -> str:
    """For people."""
    blocks = []
    for entry in entries:
        host = entry["host"]
        head = " ".join(filter(None, [entry["kind"], entry["name"], entry["options"]]))
        lines = [f"{head}; wavelift {host['version']}, {host['build']}, {host['cpu']}"]
        lines += _lines(entry)
        for failure in entry["failures"]:
            lines.append(f"  FAILING: {_failure(failure)}")
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) if blocks else "no results"


def _lines(entry: dict[str, Any]) -> list[str]:
    done, seconds = entry["done"], entry["seconds"]
    failing = len(entry["failures"])
    if entry["kind"] not in RANGED:
        return [f"  {done} units in {seconds:.1f} s: {done - failing} ok, {failing} failing"]
    what = RANGED[entry["kind"]]
    lines = [f"  {what} {', '.join(entry['ranges']) or 'none'}: {done} done in {entry['parts']} parts, {seconds:.1f} s"]
    if entry["left"]:
        lines.append(f"  left: {', '.join(entry['left'])}")
    if entry["kind"] == Fuzz.kind:
        lines.append(f"  {entry['instructions']} instructions in {entry['runs']} runs, {entry['faults']} with a fault")
        lines.append(f"  digest {entry['digest']}")
    good = "the engines agree" if entry["kind"] == Fuzz.kind else "no part fails"
    verdict = f"{failing} cases fail" if failing else good
    return [*lines, f"  {verdict}"] if done else lines


def _failure(failure: dict[str, Any]) -> str:
    if "seed" in failure:
        how = failure.get("diff") or failure["repeat"]
        return f"seed {failure['seed']}: {'; '.join(failure['differences'][:1])}; to repeat it: {how}"
    if "inputs" in failure:
        first, end = failure["differs"]
        return f"{failure['inputs']}: smallest part {first}..{end}: {failure['message']}"
    return f"{failure['unit']}: {failure['message']}"


def write_cases(results: Results, folder: Path, requested: Container[str] | None = None) -> list[str]:
    """Writes the files of all failing cases to a folder; gives their names. A case of one file is a file, others that
    name files in folders are a folder."""
    written = []
    campaigns = results.campaigns() if requested is None else requested
    for row in results.rows():
        if row.status == 0 or row.campaign not in campaigns:
            continue
        for case in results.cases(row.key):
            if not case.files:
                continue
            name = re.sub(r"[^A-Za-z0-9._-]+", "-", case.name)
            # A sweep's case has the names of its template.
            flat = all(file.startswith(f"{case.name}.") for file in case.files)
            tree = Tree("", case.files)
            try:
                tree.write(folder if flat else folder / name)
            except OSError as error:
                raise UnwrittenError(f"cannot write {folder}: {error.strerror}") from error
            written.append(name)
    return written


def parse_range(value: str) -> tuple[int, int]:
    """`FIRST..END` of the command line."""
    parts = value.split("..")
    if len(parts) != 2 or not all(part.isdecimal() for part in parts):
        raise CampaignError(f"`{value}` is no range; write the first number and the end, such as 0..1000")
    first, end = map(int, parts)
    if not first < end <= (1 << 64) - 1:
        raise CampaignError(f"`{value}`: the end must be greater than the first number, and less than 2^64")
    return first, end
