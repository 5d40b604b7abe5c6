"""A pytest plugin: tests of kernels run on both engines and on every target.

A test that is marked with a code object, or with a source, takes it as the fixture `module`:

    @pytest.mark.wavelift("saxpy.cl", targets=["gfx803", "gfx906"])
    def test_saxpy(module):
        ...

The test runs once for each engine and target; `--wavelift-engine` and `--wavelift-target` choose
others. A relative path is relative to the test's file. Sources are compiled for each target
(`targets`, else the options, else gfx906); a test of one is skipped where no compiler is installed.
The targets of a bundle are those of its entries that the library runs.

With `--wavelift-check` a test fails if its launches have findings (`pytest_check`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from . import Device, Module, NoCompilerError, pytest_check, targets

ENGINES = ("jit", "interp")
SOURCES = (".cl", ".hip")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("wavelift")
    group.addoption(
        "--wavelift-engine",
        action="append",
        choices=ENGINES,
        help="engine of tests with a code object; may be repeated (default: both)",
    )
    group.addoption(
        "--wavelift-target",
        action="append",
        metavar="GFX",
        help="target of tests with a source or a bundle, such as gfx906; may be repeated",
    )
    group.addoption(
        "--wavelift-memcheck",
        action="store_true",
        help="check accesses of kernels against exact allocations; slow",
    )
    group.addoption(
        "--wavelift-check",
        action="store_true",
        help="check launches for data races and other defects; a test with findings fails",
    )
    group.addoption(
        "--wavelift-suppress",
        metavar="FILE",
        help="leave out the findings that this file names (with --wavelift-check; TOML: [[suppress]]"
        " with rule, kernel and reason)",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "wavelift(code, targets=None, engines=None): the fixture `module` is this code object or"
        " source, on each engine and target",
    )
    config.addinivalue_line(
        "markers",
        f"{pytest_check.SIGNATURE}: findings of this rule are known; for --wavelift-check",
    )
    config.stash[_DEVICES] = {}
    if config.getoption("wavelift_check"):
        checker = pytest_check.Checker(config, config.stash[_DEVICES])
        config.pluginmanager.register(checker, "wavelift-check")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    pytest_check.read_markers(item)


def _marker(item) -> tuple[Path, list[str] | None, list[str]]:
    """The path, targets and engines of a test's marker."""
    marker = item.get_closest_marker("wavelift")
    if marker is None or len(marker.args) != 1:
        raise pytest.UsageError(
            f'{item.nodeid}: the fixture `module` needs @pytest.mark.wavelift("kernel.co")'
        )
    unknown = set(marker.kwargs) - {"targets", "engines"}
    if unknown:
        raise pytest.UsageError(
            f"{item.nodeid}: the marker wavelift has no argument {', '.join(sorted(unknown))}"
        )
    path = Path(item.path).parent / marker.args[0]
    return path, marker.kwargs.get("targets"), list(marker.kwargs.get("engines") or ENGINES)


def _targets(path: Path, of_marker: list[str] | None, of_options: list[str] | None) -> list:
    """The targets that a test runs on; None if the file has none that can be found out."""
    chosen = of_options or of_marker
    if path.suffix in SOURCES:
        return list(chosen or ["gfx906"])
    try:
        known = targets(path)
    except (OSError, ValueError):
        # The test has the error.
        return [None]
    if chosen is None:
        return known
    return [target for target in known if {target, target.split(":")[0]} & set(chosen)]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "module" not in metafunc.fixturenames:
        return
    if metafunc.definition.get_closest_marker("wavelift") is None:
        # Another fixture of that name, or the error of this one.
        return
    path, of_marker, engines = _marker(metafunc.definition)
    config = metafunc.config
    engines = config.getoption("wavelift_engine") or engines
    cases = [
        pytest.param((path, target, engine), id="-".join(filter(None, (engine, target))))
        for target in _targets(path, of_marker, config.getoption("wavelift_target"))
        for engine in engines
    ]
    metafunc.parametrize("module", cases, indirect=True)


def _device(config: pytest.Config, engine: Literal["jit", "interp"]) -> Device:
    """A device for each engine, for all tests."""
    devices = config.stash[_DEVICES]
    if engine not in devices:
        devices[engine] = Device(
            engine=engine,
            memcheck=config.getoption("wavelift_memcheck"),
            sanitize=config.getoption("wavelift_check"),
        )
    return devices[engine]


_DEVICES: pytest.StashKey[dict[str, Device]] = pytest.StashKey()


@pytest.fixture
def module(request: pytest.FixtureRequest) -> Module:
    """The code object or source that the test's marker `wavelift` names."""
    if not hasattr(request, "param"):
        _marker(request.node)
    path, target, engine = request.param
    device = _device(request.config, engine)
    if path.suffix not in SOURCES:
        return Module(path, target=target, device=device)
    try:
        return Module.compile(path, target=target, device=device)
    except NoCompilerError as error:
        pytest.skip(str(error))
