"""Dynamic checks of launches in tests: what `--wavelift-check` adds to the pytest plugin.

The devices of the plugin check their launches. After a test its findings are taken from them: a test with
findings fails. Suppressions come from the marker `wavelift_suppress` and from a file. Under pytest-xdist
workers send which of them were used to the controller, which warns about the others.
"""

from __future__ import annotations

import warnings
from collections.abc import Generator, Iterable
from pathlib import Path

import pytest

from . import Device, Finding, Module, Suppression

MARKER = "wavelift_suppress"
SIGNATURE = "wavelift_suppress(rule, kernel=None, *, reason)"

#: How a phase of a test ends otherwise than well; not by Ctrl-C.
_OUTCOMES = (Exception, pytest.fail.Exception, pytest.skip.Exception)

#: The suppressions of a test's markers.
_KNOWN: pytest.StashKey[list[Known]] = pytest.StashKey()


class UnusedSuppressionWarning(pytest.PytestWarning):
    """A suppression has suppressed nothing in any test that it concerns."""


UnusedSuppressionWarning.__module__ = "wavelift.pytest_check"


class Known:
    """A suppression, and how a warning names it."""

    def __init__(self, suppression: Suppression, place: str) -> None:
        self.suppression = suppression
        self.unused = f"{place}: nothing is suppressed by {suppression}"


def wavelift_suppress(rule: str, kernel: str | None = None, *, reason: str) -> Suppression:
    """The suppression of a marker with these arguments. Errors have the marker's name."""
    return Suppression(rule, kernel=kernel, reason=reason)


def read_markers(item: pytest.Item) -> None:
    """Reads the suppressions of a test's markers; wrong ones fail it. A test that is parametrized is one place."""
    known = item.stash[_KNOWN] = []
    for node, mark in item.iter_markers_with_node(MARKER):
        parameters = getattr(node, "callspec", None)
        place = node.nodeid.removesuffix(f"[{parameters.id}]" if parameters else "")
        try:
            known.append(Known(wavelift_suppress(*mark.args, **mark.kwargs), place))
            continue
        except (TypeError, ValueError) as error:
            message = f"{item.nodeid}: wrong marker {SIGNATURE}: {error}"
        pytest.fail(message, pytrace=False)


def of_file(path: str | None) -> list[Known]:
    """The suppressions of a file."""
    if path is None:
        return []
    try:
        all = Suppression.read(path)
    except (OSError, ValueError) as error:
        raise pytest.UsageError(f"--wavelift-suppress: {error}") from error
    return [Known(suppression, f"{path}:{suppression.line}") for suppression in all]


class Checker:
    """Fails tests whose launches have findings. `devices` has those of the plugin by engine."""

    def __init__(self, config: pytest.Config, devices: dict[str, Device]) -> None:
        self.devices = devices
        self.of_file = of_file(config.getoption("wavelift_suppress"))
        #: The warning of each suppression that concerns a test that has run: was it used?
        self.used: dict[str, bool] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        return (yield from self._checked(item, "call"))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, object, object]:
        return (yield from self._checked(item, "teardown"))

    def _checked(self, item: pytest.Item, when: str) -> Generator[None, object, object]:
        """A phase of a test, which fails if launches up to its end have findings."""
        try:
            result = yield
        except _OUTCOMES:
            if findings := self._take(item, when):
                item.add_report_section(when, "wavelift findings", "\n".join(findings))
            raise
        if findings := self._take(item, when):
            number = "a finding" if len(findings) == 1 else f"{len(findings)} findings"
            message = "\n".join([f"the launches have {number}:", *findings])
            pytest.fail(message, pytrace=False)
        return result

    def _take(self, item: pytest.Item, when: str) -> list[str]:
        """The findings of the launches since the last call, without suppressed ones. Notes become a section."""
        found = [one for device in self.devices.values() for one in device.findings()]
        known = item.stash.get(_KNOWN, [])
        path = _path(item)
        if when == "call":
            module = getattr(item, "funcargs", {}).get("module")
            concerning = [
                one
                for one in self.of_file
                if isinstance(module, Module) and one.suppression.concerns(module, path)
            ]
            for one in known + concerning:
                self.used.setdefault(one.unused, False)
        left = [one for one in found if not self._is_known(one, known + self.of_file, path)]
        if notes := _texts(one for one in left if one.severity == "note"):
            item.add_report_section(when, "wavelift notes", "\n".join(notes))
        return _texts(one for one in left if one.severity == "finding")

    def _is_known(self, finding: Finding, known: Iterable[Known], path: Path | None) -> bool:
        suiting = [one for one in known if one.suppression.suits(finding, path)]
        self.used.update((one.unused, True) for one in suiting)
        return bool(suiting)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node) -> None:
        """A worker of pytest-xdist has ended."""
        for unused, used in getattr(node, "workeroutput", {}).get("wavelift_used", {}).items():
            self.used[unused] = used or self.used.get(unused, False)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["wavelift_used"] = self.used
            return
        for unused, used in sorted(self.used.items()):
            if not used:
                _warn(session, unused)


def _path(item: pytest.Item) -> Path | None:
    """The code object or source of a test's fixture `module`."""
    parameters = getattr(item, "callspec", None)
    of_module = parameters.params.get("module") if parameters else None
    return of_module[0] if isinstance(of_module, tuple) else None


def _texts(findings: Iterable[Finding]) -> list[str]:
    """Findings in words: what several launches do wrong at the same instructions is one."""
    launches: dict[tuple, list[Finding]] = {}
    for one in findings:
        other = one.other.address if one.other else None
        launches.setdefault((one.kernel, one.rule, one.instruction.address, other), []).append(one)
    return [
        str(same[0]) + (f"\n  in {len(same)} launches" if len(same) > 1 else "")
        for same in launches.values()
    ]


def _warn(session: pytest.Session, message: str) -> None:
    """Warns; where warnings are errors, the run fails."""
    try:
        warnings.warn(message, UnusedSuppressionWarning, stacklevel=2)
    except UnusedSuppressionWarning:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            reporter.write_line(f"ERROR {message}", red=True)
