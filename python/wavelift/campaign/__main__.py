"""`python -m wavelift.campaign`."""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import CampaignError, shards
from .backends import Backend, Cluster, Serial
from .campaign import End, Settings, run
from .process import Host, find
from .process import host as host_of
from .report import RANGED, report, status, text, parse_range, write_cases
from .results import Results, Row, UnwrittenError, cover, gaps, merge, spans
from .sources import Ranges, Source, Units
from .units import ENGINES, Fuzz, Manifest, Sweep, Unit, fuzz_cases, fuzz_total, key, read_programs
from .units import read_template, read_tree

STATUS = """\
Exit status: 0 all agree; 1 differences or failed expectations; 2 wrong use, nothing ran; 3 a guest faulted, or not all
was run; 4 results could not be written. What was run is in the file of results; the same command runs the rest."""

#: Exit statuses of campaigns, beside those of units.
WRONG_USE, INCOMPLETE, UNWRITTEN = 2, 3, 4

#: Options of `wavelift fuzz` that campaigns give themselves.
OWN = ("--seeds", "--shard", "--target", "--json", "--emit", "--timeout", "--max-failures")


def _number(value: str, least: float) -> float:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not (least <= number < math.inf):
        raise argparse.ArgumentTypeError(f"`{value}` is no number from {least:g} on")
    return number


def _seconds(value: str) -> float:
    return _number(value, 1)


def _count(value: str) -> int:
    if not value.isdecimal() or int(value) < 1:
        raise argparse.ArgumentTypeError(f"`{value}` is no number from 1 on")
    return int(value)


def _list(value: str) -> list[str]:
    return [part for part in value.split(",") if part]


def _engines(value: str) -> list[str]:
    engines = _list(value)
    for engine in engines:
        if engine not in ENGINES:
            raise argparse.ArgumentTypeError(f"`{engine}` is none of {', '.join(ENGINES)}")
    return engines


def _range(value: str) -> tuple[int, int]:
    try:
        return parse_range(value)
    except CampaignError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _parser() -> argparse.ArgumentParser:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="python -m wavelift.campaign", description="Campaigns: many runs of wavelift, here or on a cluster.",
        epilog=STATUS, formatter_class=raw, allow_abbrev=False,
    )  # fmt: skip
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--results", metavar="FILE", type=Path, default=Path("campaign.db"),
                        help="the file of results, which is made or continued [%(default)s]")  # fmt: skip
    shared.add_argument("--json", action="store_true", help="print the summary as one JSON object")
    shared.add_argument("--failures", metavar="DIR", type=Path,
                        help="the folder for failing cases [the file of results with .failures in place of its ending]")  # fmt: skip

    running = argparse.ArgumentParser(add_help=False, parents=[shared])
    where = running.add_mutually_exclusive_group()
    where.add_argument("--serial", action="store_true", help="one after the other, without Dask (the default)")
    where.add_argument("--local", metavar="N", type=_count, help="on N workers of this machine, by Dask")
    where.add_argument("--scheduler", metavar="ADDRESS", help="on the workers of a Dask scheduler, such as tcp://host:8786")
    running.add_argument("--wavelift", metavar="PATH", help="the program on each worker [wavelift in PATH]")
    running.add_argument("--batch", metavar="SECONDS", type=_seconds, default=10.0,
                         help="what a batch should take, 1 or more [%(default)g]")  # fmt: skip
    running.add_argument("--limit", metavar="SECONDS", type=_seconds, default=600.0,
                         help="a process that takes longer is stopped, which is a failing case [%(default)g]")  # fmt: skip
    running.add_argument("--max-failures", metavar="N", type=_count, default=20,
                         help="failing cases after which nothing more is begun [%(default)s]")  # fmt: skip
    running.add_argument("--retries", metavar="N", type=int, default=3,
                         help="how often a batch is run again that a worker could not run [%(default)s]")  # fmt: skip
    running.add_argument("--dashboard", metavar="ADDRESS", default=":0",
                         help="of --local: where Dask's dashboard listens [any free port]")  # fmt: skip

    fuzz = commands.add_parser(
        "fuzz", parents=[running], help="random programs on both engines, by ranges of seeds", formatter_class=raw,
        epilog=f"Options after -- are those of wavelift fuzz, but {', '.join(OWN)}.\n\n{STATUS}", allow_abbrev=False,
    )  # fmt: skip
    fuzz.add_argument("--target", metavar="GFX[,GFX]", type=_list, required=True, help="targets, such as gfx906")
    fuzz.add_argument("--seeds", metavar="FIRST..END", type=_range, required=True)
    fuzz.add_argument("options", nargs="*", metavar="-- OPTION", help=argparse.SUPPRESS)

    manifests = commands.add_parser(
        "manifests", parents=[running], help="launch manifests x engines x targets", epilog=STATUS, formatter_class=raw,
        allow_abbrev=False,
    )  # fmt: skip
    manifests.add_argument("manifests", nargs="+", metavar="MANIFEST", type=Path)
    manifests.add_argument("--engines", metavar="LIST", type=_engines, default=list(ENGINES),
                           help="of jit and interp (expectations must hold) and diff (the engines must agree) [all]")  # fmt: skip
    manifests.add_argument("--targets", metavar="LIST", type=_list, default=[],
                           help="entries of bundles, each as a unit [what the manifest says]")  # fmt: skip

    sweep = commands.add_parser(
        "sweep", parents=[running], help="all inputs of a range, by a template of a manifest", epilog=STATUS,
        formatter_class=raw, allow_abbrev=False,
        description="The template is a launch manifest with $FIRST for the first input and $COUNT for their number.",
    )  # fmt: skip
    sweep.add_argument("template", metavar="TEMPLATE", type=Path)
    sweep.add_argument("--range", metavar="FIRST..END", type=_range, required=True, help="the inputs")
    sweep.add_argument("--engine", choices=ENGINES, default="diff",
                       help="diff: the engines must agree; others: expectations must hold [%(default)s]")  # fmt: skip
    sweep.add_argument("--target", metavar="GFX", help="the entry of a bundle")

    programs = commands.add_parser(
        "programs", parents=[running], help="ROCm programs under wavelift exec", epilog=STATUS, formatter_class=raw,
        allow_abbrev=False,
    )  # fmt: skip
    programs.add_argument("list", metavar="LIST.toml", type=Path)
    programs.add_argument("--gpus", metavar="LIST", type=_list, default=[],
                          help="only these [those of the program, else gfx906]")  # fmt: skip

    sharding = commands.add_parser(
        "shards", parents=[running], help="one dispatch as ranges of its workgroups", formatter_class=raw,
        epilog=f"Options after -- are those of wavelift shard run.\n\n{STATUS}", allow_abbrev=False,
        description="Runs the shards of a manifest with one launch, and puts together what they changed.",
    )  # fmt: skip
    sharding.add_argument("manifest", metavar="MANIFEST", type=Path)
    sharding.add_argument("--shards", metavar="N", type=_count, required=True)
    sharding.add_argument("--independent", action="store_true",
                          help="take it for granted that no shard reads or writes what another one writes [a run in checked"
                               " mode here finds out]")  # fmt: skip
    sharding.add_argument("--changes", metavar="DIR", type=Path,
                          help="the folder for the changes of each shard [the manifest's name with .changes]")  # fmt: skip
    sharding.add_argument("--out", metavar="DIR", type=Path, help="where outputs go [what the manifest says]")
    sharding.add_argument("options", nargs="*", metavar="-- OPTION", help=argparse.SUPPRESS)

    merging = commands.add_parser(
        "merge", help="join files of results, and reports of wavelift fuzz --json", epilog=STATUS, formatter_class=raw,
        allow_abbrev=False,
    )  # fmt: skip
    merging.add_argument("files", nargs="+", metavar="FILE", type=Path)
    merging.add_argument("-o", "--output", metavar="FILE", type=Path, required=True)

    commands.add_parser(
        "report", parents=[shared], help="what a file of results says", epilog=STATUS, formatter_class=raw,
        allow_abbrev=False,
    )  # fmt: skip
    return parser


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


# ---- campaigns


def _backend(arguments: argparse.Namespace) -> Backend:
    if arguments.local or arguments.scheduler:
        return Cluster(arguments.scheduler, arguments.local, arguments.dashboard, _say)
    return Serial()


#: Of each campaign that was asked for, the part of its range.
Requested = dict[str, tuple[int, int] | None]


def _rest(results: Results, campaign: str, whole: tuple[int, int]) -> list[tuple[int, int]]:
    """What of a range has no results."""
    return gaps(spans(cover(results.rows(campaign), whole)), whole)


def _fuzz(arguments: argparse.Namespace, backend: Backend, program: str, results: Results, host: Host,
          requested: Requested) -> list[Source]:  # fmt: skip
    for option in arguments.options:
        if option.split("=")[0] in OWN:
            raise CampaignError(f"{option} after --: a campaign gives it itself")
    if not arguments.target:
        raise CampaignError("--target names no target")
    first, end = arguments.seeds
    options = tuple(arguments.options)
    sources: list[Source] = []
    for target in arguments.target:
        canonical, cost = backend.now(Fuzz(target, first, end, options).probe, program, arguments.limit)

        def part(first: int, end: int, target: str = target, canonical: str = canonical) -> Unit:
            return Fuzz(target, first, end, options, canonical, arguments.max_failures)

        campaign = part(first, end).campaign(host)
        requested[campaign] = first, end
        sources.append(Ranges(_rest(results, campaign, (first, end)), part, cost))
    return sources


def _unit_source(units: Sequence[Unit], results: Results, host: Host, requested: Requested) -> list[Source]:
    """Those of a list that have no results."""
    left = {}
    for unit in units:
        requested[unit.campaign(host)] = None
        if not results.has(unit.key(host)):
            left[unit.key(host)] = unit
    return [Units(left.values())]


def _manifests(arguments: argparse.Namespace) -> list[Unit]:
    units: list[Unit] = []
    for path in arguments.manifests:
        tree = read_tree(path)
        for target in arguments.targets or [None]:
            units += [Manifest(str(path), tree, engine, target) for engine in arguments.engines]
    return units


def _sweep(arguments: argparse.Namespace, results: Results, host: Host, requested: Requested) -> list[Source]:
    first, end = arguments.range
    tree = read_template(arguments.template, first)

    def part(first: int, end: int) -> Unit:
        return Sweep(str(arguments.template), tree, first, end, arguments.engine, arguments.target)

    campaign = part(first, end).campaign(host)
    requested[campaign] = first, end
    return [Ranges(_rest(results, campaign, (first, end)), part)]


def _campaign(arguments: argparse.Namespace) -> int:
    program = find(arguments.wavelift)
    # What can be wrong with files is found before anything is started.
    units: Sequence[Unit] = []
    if arguments.command == "manifests":
        units = _manifests(arguments)
    elif arguments.command == "programs":
        units = read_programs(arguments.list, arguments.gpus)
        if not units:
            raise CampaignError(f"{arguments.list} has no program for {', '.join(arguments.gpus)}")
    elif arguments.command == "sweep":
        read_template(arguments.template, arguments.range[0])
    with Results(arguments.results) as results:
        backend = _backend(arguments)
        requested: Requested = {}
        try:
            host = backend.now(host_of, program)
            if arguments.command == "fuzz":
                sources = _fuzz(arguments, backend, program, results, host, requested)
            elif arguments.command == "sweep":
                sources = _sweep(arguments, results, host, requested)
            else:
                sources = _unit_source(units, results, host, requested)
        except BaseException:
            backend.close()
            raise
        settings = Settings(program, arguments.batch, arguments.limit, arguments.max_failures, arguments.retries)
        end = run(sources, RANGED.get(arguments.command, "units"), backend, results, host, settings)
        return _finish(arguments, results, requested, end)


def _shards(arguments: argparse.Namespace) -> int:
    program = find(arguments.wavelift)
    manifest: Path = arguments.manifest
    changes: Path = arguments.changes or Path(manifest.with_suffix(".changes").name)
    if not arguments.independent:
        shards.check(manifest, arguments.shards, program, arguments.limit, arguments.options)
    backend = _backend(arguments)
    try:
        host = backend.now(host_of, program)
        settings = shards.Settings(program, arguments.limit, arguments.retries)
        about = shards.run(manifest, arguments.shards, changes, backend, host, settings, arguments.options, _say)
    finally:
        backend.close()
    if not arguments.json:
        print("{done_now} shards run in {seconds:.1f} s, workers were busy for {busy_seconds:.1f} s".format(**about))
    options = ["--json"] if arguments.json else []
    options += ["--out", str(arguments.out)] if arguments.out else []
    return shards.merge(manifest, arguments.shards, changes, program, options)


def _finish(arguments: argparse.Namespace, results: Results, requested: Requested | None, end: End | None) -> int:
    """The summary, and the files of failing cases."""
    entries = report(results, requested)
    reasons = end.reasons if end else []
    left = any(entry.get("left") for entry in entries)
    folder = arguments.failures or arguments.results.with_suffix(".failures")
    cases = write_cases(results, folder, requested)
    code = status(entries)
    if code == 0 and (reasons or left):
        code = INCOMPLETE
    summary: dict[str, Any] = {"ok": code == 0, "complete": not reasons and not left, "reasons": reasons}
    if end:
        summary |= {"done_now": end.done, "seconds": end.seconds, "busy_seconds": end.busy}
    summary |= {"failures": str(folder) if cases else None, "campaigns": entries}
    if arguments.json:
        print(json.dumps(summary))
        return code
    print(text(entries))
    if end and end.done:
        print(f"\nnow: {end.done} in {end.seconds:.1f} s, workers were busy for {end.busy:.1f} s")
    for reason in reasons:
        print(f"not all was run: {reason}")
    if cases:
        print(f"failing cases are in {folder}: {', '.join(cases[:10])}{' ...' if len(cases) > 10 else ''}")
    return code


# ---- merging


def _read(path: Path) -> Results:
    """A file of results, or a report of `wavelift fuzz --json`."""
    try:
        with path.open("rb") as file:
            begin = file.read(16)
    except OSError as error:
        raise CampaignError(f"cannot read {path}: {error.strerror}") from error
    if begin.startswith(b"SQLite format 3\0"):
        return Results(path, create=False)
    results = Results(None)
    try:
        for line in path.read_text().splitlines():
            if line.strip():
                _take(results, json.loads(line), path)
    except (ValueError, KeyError, TypeError) as error:
        raise CampaignError(f"{path} is neither a file of results nor a report of wavelift fuzz --json") from error
    return results


def _take(results: Results, shard: dict[str, Any], path: Path) -> None:
    """The report of a shard as a result."""
    host = Host(shard["version"], shard["build"], shard["cpu"])
    first, end = shard["seeds"]
    done = first + shard["done"]
    cases = fuzz_cases(shard, _emitted(shard, path))
    if done == first:
        return
    unit = Fuzz(shard["target"], first, done, canonical=shard["options"])
    data = fuzz_total([shard])
    campaign = unit.campaign(host)
    row = Row(
        key(campaign, (first, done)), campaign, first, done, f"fuzz {shard['target']} {first}..{end}",
        1 if shard["failures"] else 0, data, 0.0, path.name, "",
    )  # fmt: skip
    results.put(row, unit.kind, {**host.about(), **unit.about()}, cases)


def _emitted(shard: dict[str, Any], path: Path) -> Path:
    """The folder of `--emit`: as the report names it, relative to this folder or to the report's."""
    names = [failure["manifest"] for failure in shard["failures"] if failure.get("manifest")]
    if not names:
        return path.parent
    folder = Path(names[0]).parent
    return folder if folder.is_dir() else path.parent / folder


def _merge(arguments: argparse.Namespace) -> int:
    different = merge([_read(path) for path in arguments.files], arguments.output)
    for unit in different:
        print(f"DIFFERENT RESULTS: {unit}")
    return 1 if different else 0


# ---- the command line


def main(argv: list[str] | None = None) -> int:
    """Runs a command; gives its exit status."""
    arguments = _parser().parse_args(argv)
    try:
        if arguments.command == "merge":
            return _merge(arguments)
        if arguments.command == "report":
            with Results(arguments.results, create=False) as results:
                return _finish(arguments, results, None, None)
        if arguments.command == "shards":
            return _shards(arguments)
        return _campaign(arguments)
    except CampaignError as error:
        print(f"error: {error}", file=sys.stderr)
        return WRONG_USE
    except UnwrittenError as error:
        print(f"error: {error}", file=sys.stderr)
        return UNWRITTEN
    except BrokenPipeError:
        # A closed output (`| head`) is no error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


if __name__ == "__main__":
    sys.exit(main())
