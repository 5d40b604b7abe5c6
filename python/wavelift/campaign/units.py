"""Units of work. A unit is a value: what `run` gives depends on nothing else but the build of wavelift
and the CPU's instruction set. Units are sent to workers, and verdicts come back, so both contain the
bytes of their files."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import string
import tempfile
import time
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from . import CampaignError
from .process import Done, Host, WorkerError, call

#: Digests of parts are added modulo this.
MODULUS = 1 << 256
#: Of keys: changes when equal contents would give another verdict.
FORMAT = 1


@dataclass(frozen=True)
class Case:
    """A failing case: files, one of which is a manifest or a text that shows it."""

    name: str
    #: What is wrong and how it is repeated, in one line.
    about: str
    files: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Verdict:
    """The result of a unit."""

    #: As exit statuses of wavelift: 0 all is well, 1 a difference, 2 bad input, 3 a fault.
    status: int
    #: What is known, as JSON.
    data: dict[str, Any]
    #: Seconds that it took.
    seconds: float
    cases: tuple[Case, ...] = ()
    #: Of a unit with a range that was not run to its end: the end of what was run.
    end: int | None = None


def digest_of(value: object) -> str:
    """A hash of what JSON can express."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def add_digests(digests: list[str]) -> str:
    """The digest of a whole from those of its parts."""
    return f"{sum(int(digest, 16) for digest in digests) % MODULUS:064x}"


class Unit(ABC):
    """Something to run."""

    #: The kind's name.
    kind: ClassVar[str]

    @abstractmethod
    def about(self) -> dict[str, Any]:
        """All that the verdict depends on, but the host and a range."""

    @abstractmethod
    def label(self) -> str:
        """A name for people."""

    @abstractmethod
    def run(self, program: str, limit: float) -> Verdict:
        """Runs it with this program, each process for at most `limit` seconds."""

    def range(self) -> tuple[int, int] | None:
        """First number and the one behind the last, if it is a part of a range."""
        return None

    def campaign(self, host: Host) -> str:
        """A hash of what all parts of a range have in common, host included."""
        return digest_of({"format": FORMAT, "kind": self.kind, "host": host.about(), **self.about()})

    def key(self, host: Host) -> str:
        """The key of its result."""
        return key(self.campaign(host), self.range())


def key(campaign: str, part: tuple[int, int] | None) -> str:
    """The key of the result of a part of a campaign."""
    return digest_of([campaign, part])


def _report(done: Done, command: list[str]) -> dict[str, Any]:
    """The object that a command printed."""
    try:
        report = json.loads(done.output)
    except ValueError as error:
        raise WorkerError(f"{' '.join(command[:2])} printed no JSON: {error}") from error
    if not isinstance(report, dict):
        raise WorkerError(f"{' '.join(command[:2])} printed no object")
    return report


def _first(text: str) -> str:
    """The first line that says something, which is what wrong use is reported by."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[0].removeprefix("error: ") if lines else "no message"


def _last(text: str) -> str:
    """The last line that says something."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:500] if lines else "no message"


# ---- fuzzing


@dataclass(frozen=True)
class Fuzz(Unit):
    """A range of seeds of `wavelift fuzz`."""

    kind: ClassVar[str] = "fuzz"
    target: str
    first: int
    end: int
    #: As the user gives them.
    options: tuple[str, ...] = ()
    #: As wavelift writes them, which is what the key is made of.
    canonical: str = ""
    #: Programs that differ, after which the rest is left.
    most: int = 20

    def about(self) -> dict[str, Any]:
        return {"target": self.target, "options": self.canonical}

    def label(self) -> str:
        return f"fuzz {self.target} {self.first}..{self.end}"

    def range(self) -> tuple[int, int]:
        return self.first, self.end

    def run(self, program: str, limit: float) -> Verdict:
        began = time.monotonic()
        total = fuzz_total([])
        cases: list[Case] = []
        self._run(program, limit, self.first, self.end, total, cases)
        status = 1 if total["failures"] else 0
        end = self.first + total["done"]
        seconds = time.monotonic() - began
        return Verdict(status, total, seconds, tuple(cases), end if end < self.end else None)

    def _run(
        self, program: str, limit: float, first: int, end: int, total: dict[str, Any], cases: list[Case]
    ) -> None:
        """Runs seeds and adds what they give. A process that crashes is repeated with halves of its seeds, until
        one seed is left."""
        most = self.most - len(total["failures"])
        if most <= 0:
            return
        with tempfile.TemporaryDirectory(prefix="wavelift-") as folder:
            command = [program, "fuzz", "--target", self.target, "--seeds", f"{first}..{end}", "--json"]
            command += ["--max-failures", str(most), *self.options]
            if "--read-only" not in self.options:
                command += ["--emit", folder]
            done = call(command, limit)
            if done.crashed and end - first > 1:
                middle = first + (end - first) // 2
                self._run(program, limit, first, middle, total, cases)
                if total["done"] == middle - self.first:
                    self._run(program, limit, middle, end, total, cases)
                return
            if done.crashed:
                failure = self._crash(done, first)
                total["done"] += 1
                total["failures"].append(failure)
                cases.append(Case(f"{self.target}-seed-{first}", case_about(failure)))
                return
            if done.status == 2:
                raise CampaignError(f"wavelift fuzz: {_first(done.errors)}")
            if done.status not in (0, 1):
                raise WorkerError(f"wavelift fuzz: {done.end}: {_last(done.errors)}")
            report = _report(done, command)
            if report["stopped"] not in (None, "failures"):
                raise WorkerError(f"wavelift fuzz was stopped by a {report['stopped']}")
            new = fuzz_cases(report, Path(folder))
            add_fuzz(total, report)
            cases += new

    def probe(self, program: str, limit: float) -> tuple[str, float]:
        """The options as wavelift writes them, and the seconds that a seed takes. It runs for a second."""
        command = [program, "fuzz", "--target", self.target, "--seeds", f"{self.first}..{self.end}", "--json"]
        command += ["--timeout", "1", *self.options]
        began = time.monotonic()
        done = call(command, limit)
        seconds = time.monotonic() - began
        if done.status == 2:
            raise CampaignError(f"wavelift fuzz: {_first(done.errors)}")
        if done.status not in (0, 1, 3):
            raise CampaignError(f"wavelift fuzz, one of the first seeds: {done.end}: {_last(done.errors)}")
        report = _report(done, command)
        return str(report["options"]), seconds / max(report["done"], 1)

    def _crash(self, done: Done, seed: int) -> dict[str, Any]:
        options = " ".join(["", self.canonical]) if self.canonical else ""
        repeat = f"wavelift fuzz --target {self.target} --seeds {seed}..{seed + 1}{options}"
        message = f"the process ended by {done.end}: {_last(done.errors)}"
        return {"seed": seed, "differences": [message], "repeat": repeat, "manifest": None, "diff": None}


def fuzz_total(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """The sum of reports."""
    total: dict[str, Any] = {"done": 0, "runs": 0, "faults": 0, "instructions": 0}
    total |= {"digest": add_digests([]), "failures": []}
    for part in parts:
        add_fuzz(total, part)
    return total


def add_fuzz(total: dict[str, Any], part: dict[str, Any]) -> None:
    """Adds a report of `wavelift fuzz`."""
    for count in ("done", "runs", "faults", "instructions"):
        total[count] += part[count]
    total["digest"] = add_digests([total["digest"], part["digest"]])
    total["failures"] += part["failures"]


def case_about(failure: Mapping[str, Any]) -> str:
    """A difference in one line."""
    how = failure.get("diff") or failure["repeat"]
    return f"seed {failure['seed']}: {'; '.join(failure['differences'][:1])}; to repeat it: {how}"


def fuzz_cases(report: dict[str, Any], folder: Path) -> list[Case]:
    """The differences of a report with the files that `--emit` wrote. In the report, names of files lose their
    folder."""
    cases = []
    for failure in report["failures"]:
        written = failure.get("manifest")
        files = {}
        name = f"{report['target']}-seed-{failure['seed']}"
        if written:
            path = folder / Path(written).name
            name = path.stem
            files = {file.name: file.read_bytes() for file in sorted(folder.glob(f"{path.stem}.*"))}
            failure["manifest"] = path.name
            if failure["diff"]:
                failure["diff"] = failure["diff"].replace(written, path.name)
        cases.append(Case(name, case_about(failure), files))
    return cases


# ---- manifests


@dataclass(frozen=True)
class Tree:
    """A text file with the files that it names, by paths in a folder of their own."""

    entry: str
    files: Mapping[str, bytes]

    def hashes(self) -> dict[str, str]:
        return {name: hashlib.sha256(data).hexdigest() for name, data in self.files.items()}

    def write(self, folder: Path) -> Path:
        """Writes it to a folder; gives the text file."""
        for name, data in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return folder / self.entry

    def with_entry(self, text: str) -> Tree:
        """The same with another text."""
        return replace(self, files={**self.files, self.entry: text.encode()})


def read_tree(path: Path, text: str | None = None) -> Tree:
    """A manifest with all files that it names. `text` is the manifest's text where the file is a template of it."""
    path = Path(os.path.abspath(path))
    try:
        data = path.read_bytes()
        document = tomllib.loads(data.decode() if text is None else text)
    except OSError as error:
        raise CampaignError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise CampaignError(f"{path} is no launch manifest: {error}") from error
    paths = {path: data}
    for name in _names(document, path):
        file = Path(os.path.abspath(path.parent / name))
        if Path(name).is_absolute():
            raise CampaignError(f"{path} names {name}; in campaigns names are relative to the manifest's folder")
        try:
            paths[file] = file.read_bytes()
        except OSError as error:
            raise CampaignError(f"{path} names {name}, which cannot be read: {error.strerror}") from error
    root = Path(os.path.commonpath([file.parent for file in paths]))
    files = {str(file.relative_to(root)): data for file, data in sorted(paths.items())}
    return Tree(str(path.relative_to(root)), files)


def _names(document: dict[str, Any], path: Path) -> list[str]:
    """The files that a manifest names. What else is wrong with it, wavelift says."""
    names = []
    for table in ("buffers", "expect"):
        entries = document.get(table, {})
        if isinstance(entries, dict):
            names += [entry["file"] for entry in entries.values() if isinstance(entry, dict) and "file" in entry]
    dispatches = document.get("dispatch", [])
    if isinstance(dispatches, list):
        names += [entry["code_object"] for entry in dispatches if isinstance(entry, dict) and "code_object" in entry]
    if not names or not all(isinstance(name, str) for name in names):
        raise CampaignError(f"{path} is no launch manifest: it names no code object")
    return names


#: What may be done with a manifest: run on an engine, or on both and compared.
ENGINES = ("jit", "interp", "diff")


def _command(program: str, manifest: Path, engine: str, target: str | None) -> list[str]:
    """The command that runs a manifest; outputs go to a folder beside it."""
    options = ["--threads", "1"] + (["--target", target] if target else [])
    if engine == "diff":
        return [program, "diff", str(manifest), *options]
    out = manifest.parent / ".wavelift-out"
    out.mkdir(exist_ok=True)
    return [program, "run", str(manifest), "--engine", engine, "--json", "--out", str(out), *options]


def _run_manifest(command: list[str], limit: float) -> tuple[int, str]:
    """Status and message of a manifest's run."""
    done = call(command, limit)
    if done.crashed:
        return 1, f"the process ended by {done.end}: {_last(done.errors)}"
    assert done.status is not None, "this is a crash"
    if done.status == 4:
        raise WorkerError(f"wavelift {command[1]}: {_last(done.errors)}")
    if done.status == 0:
        return 0, ""
    message = _last(done.errors) if done.errors.strip() else done.output
    if command[1] == "run" and done.status == 1:
        failed = [result for result in _report(done, command)["expect"] if not result["ok"]]
        message = ", ".join(f"{result['buffer']}: {result['mismatches']} mismatches" for result in failed)
    elif command[1] == "diff" and done.status == 1:
        message = done.output.split("\n", 1)[0]
    return done.status, message


@dataclass(frozen=True)
class Manifest(Unit):
    """A launch manifest on one engine, or on both and compared."""

    kind: ClassVar[str] = "manifests"
    name: str
    tree: Tree
    engine: str
    #: The entry of a bundle.
    target: str | None = None

    def about(self) -> dict[str, Any]:
        return {"entry": self.tree.entry, "files": self.tree.hashes(), "engine": self.engine, "target": self.target}

    def label(self) -> str:
        return " ".join(filter(None, [self.name, self.target, self.engine]))

    def run(self, program: str, limit: float) -> Verdict:
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="wavelift-") as folder:
            manifest = self.tree.write(Path(folder))
            status, message = _run_manifest(_command(program, manifest, self.engine, self.target), limit)
        cases = () if status == 0 else (Case(self.label(), message),)
        return Verdict(status, {"message": message}, time.monotonic() - began, cases)


# ---- sweeps


@dataclass(frozen=True)
class Sweep(Unit):
    """A range of inputs: a template of a manifest with the first one and their number in it."""

    kind: ClassVar[str] = "sweep"
    name: str
    template: Tree
    first: int
    end: int
    engine: str = "diff"
    target: str | None = None

    def about(self) -> dict[str, Any]:
        tree = self.template
        return {"entry": tree.entry, "files": tree.hashes(), "engine": self.engine, "target": self.target}

    def label(self) -> str:
        return f"{self.name} {self.first}..{self.end} {self.engine}"

    def range(self) -> tuple[int, int]:
        return self.first, self.end

    def manifest(self, first: int, end: int) -> Tree:
        """The manifest of a part."""
        text = self.template.files[self.template.entry].decode()
        return self.template.with_entry(fill(text, first, end))

    def run(self, program: str, limit: float) -> Verdict:
        began = time.monotonic()
        first, end = self.first, self.end
        status, message = self._part(program, limit, first, end)
        if status == 2:
            raise CampaignError(f"{self.name}, inputs {first}..{end}: {message}")
        cases: tuple[Case, ...] = ()
        if status != 0:
            whole = status
            while end - first > 1:
                middle = first + (end - first) // 2
                for part in [(first, middle), (middle, end)]:
                    found = self._part(program, limit, *part)
                    if found[0] == whole:
                        (first, end), message = part, found[1]
                        break
                else:
                    break
            tree = self.manifest(first, end)
            name = f"{Path(self.name).stem}-{first}-{end}"
            cases = (Case(name, f"inputs {first}..{end}: {message}", tree.files),)
        data = {"done": self.end - self.first, "message": message, "differs": [first, end] if status else None}
        return Verdict(status, data, time.monotonic() - began, cases)

    def _part(self, program: str, limit: float, first: int, end: int) -> tuple[int, str]:
        with tempfile.TemporaryDirectory(prefix="wavelift-") as folder:
            manifest = self.manifest(first, end).write(Path(folder))
            return _run_manifest(_command(program, manifest, self.engine, self.target), limit)


def fill(template: str, first: int, end: int) -> str:
    """The manifest of inputs `first` to `end - 1`."""
    return string.Template(template).substitute(FIRST=first, COUNT=end - first)


def read_template(path: Path, first: int) -> Tree:
    """A template with all files that it names."""
    try:
        text = path.read_text()
        filled = fill(text, first, first + 1)
    except OSError as error:
        raise CampaignError(f"cannot read {path}: {error.strerror}") from error
    except KeyError as error:
        raise CampaignError(f"{path} has ${error.args[0]}; a template has $FIRST and $COUNT") from error
    except ValueError as error:
        raise CampaignError(f"{path}: {error}; a dollar sign is written as $$") from error
    if filled == fill(text, first + 1, first + 3):
        raise CampaignError(f"{path} has neither $FIRST nor $COUNT, so all parts of the range would be the same")
    return read_tree(path, filled)


# ---- programs


@dataclass(frozen=True)
class Program(Unit):
    """A ROCm program that is installed on the workers, under `wavelift exec`."""

    kind: ClassVar[str] = "programs"
    name: str
    command: tuple[str, ...]
    gpu: str
    #: Of the program's file.
    sha256: str
    words: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    limit: float = 120.0

    def about(self) -> dict[str, Any]:
        about = {"command": self.command, "gpu": self.gpu, "sha256": self.sha256}
        return about | {"words": self.words, "env": self.env, "limit": self.limit}

    def label(self) -> str:
        return f"{self.name} {self.gpu}"

    def run(self, program: str, limit: float) -> Verdict:
        began = time.monotonic()
        here = file_hash(self.command[0])
        if here != self.sha256:
            raise WorkerError(f"{self.command[0]} is another file on this worker")
        with tempfile.TemporaryDirectory(prefix="wavelift-") as folder:
            command = [program, "exec", "--gpu", self.gpu, "--threads", "1", *self.command]
            done = call(command, min(limit, self.limit), cwd=folder, env=dict(self.env))
        text = done.output + done.errors
        missing = [word for word in self.words if word.replace("{gpu}", self.gpu) not in text]
        if done.status != 0:
            message = f"{done.end}: {_last(done.errors or done.output)}"
        else:
            message = f"the output lacks {', '.join(map(repr, missing))}" if missing else ""
        status = 1 if message else 0
        cases = (Case(self.label(), message, {"output.txt": text.encode()}),) if message else ()
        return Verdict(status, {"message": message}, time.monotonic() - began, cases)


def file_hash(path: str) -> str:
    """Of a program's file."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise WorkerError(f"cannot read {path}: {error.strerror}") from error


def read_programs(path: Path, gpus: list[str]) -> list[Program]:
    """The programs of a list, each for all GPUs that it is for."""
    try:
        document = tomllib.loads(path.read_text())
    except OSError as error:
        raise CampaignError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise CampaignError(f"{path} is no list of programs: {error}") from error
    entries = document.pop("program", [])
    if document or not isinstance(entries, list) or not entries:
        raise CampaignError(f"{path} is no list of programs: it must have [[program]] tables and nothing else")
    units = []
    for number, entry in enumerate(entries, 1):
        units += _programs(f"{path}, program {number}", entry, gpus)
    return units


def _programs(where: str, entry: dict[str, Any], gpus: list[str]) -> list[Program]:
    def take(name: str, is_right: bool, what: str) -> None:
        if name in entry and not is_right:
            raise CampaignError(f"{where}: {name} must be {what}")

    def texts(name: str) -> bool:
        value = entry.get(name)
        return isinstance(value, list) and all(isinstance(item, str) for item in value)

    unknown = entry.keys() - {"name", "command", "gpus", "words", "env", "limit"}
    if unknown:
        raise CampaignError(f"{where}: unknown key {min(unknown)}")
    if "command" not in entry:
        raise CampaignError(f"{where}: command is missing")
    for name in ("command", "gpus", "words"):
        take(name, texts(name), "a list of strings")
    take("name", isinstance(entry.get("name"), str), "a string")
    take("limit", isinstance(entry.get("limit"), int | float), "a number of seconds")
    env = entry.get("env", {})
    take("env", isinstance(env, dict) and all(isinstance(value, str) for value in env.values()), "a table of strings")
    if not entry["command"]:
        raise CampaignError(f"{where}: command is empty")
    file = shutil.which(entry["command"][0])
    if file is None:
        raise CampaignError(f"{where}: {entry['command'][0]} is no program that can be run")
    file = os.path.abspath(file)
    try:
        sha256 = file_hash(file)
    except WorkerError as error:
        raise CampaignError(f"{where}: {error}") from error
    return [
        Program(
            name=entry.get("name", Path(file).name),
            command=(file, *entry["command"][1:]),
            gpu=gpu,
            sha256=sha256,
            words=tuple(entry.get("words", [])),
            env=tuple(sorted(env.items())),
            limit=float(entry.get("limit", 120)),
        )
        for gpu in entry.get("gpus", gpus or ["gfx906"])
        if gpu in gpus or not gpus
    ]
