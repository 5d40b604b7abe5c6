"""The pytest plugin, by runs of pytest in a folder of their own."""

import shutil

import pytest

from conftest import EXAMPLES
from test_modules import needs_clang

TEST = """
import numpy as np
import pytest

@pytest.mark.wavelift({code})
def test_saxpy(module):
    y = np.ones(64, np.float32)
    module["saxpy"](y, y, 1.0, 64, grid=64)
    assert (y == 2).all()
"""


@pytest.fixture
def run(pytester):
    """Runs pytest on a test of that code."""

    def run(code, *options, test=TEST):
        for name in ("saxpy.gfx900.co", "saxpy.gfx803.co", "saxpy.bundle.hipfb", "saxpy.cl"):
            shutil.copy(EXAMPLES / "saxpy" / name, pytester.path)
        pytester.makepyfile(test.replace("{code}", code))
        return pytester.runpytest_subprocess("-v", "-p", "no:cacheprovider", *options)

    return run


def test_both_engines_on_the_target_of_a_code_object(run):
    result = run('"saxpy.gfx900.co"')
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*test_saxpy?jit-gfx900*PASSED*", "*test_saxpy?interp-gfx900*PASSED*"])


def test_every_target_of_a_bundle(run):
    result = run('"saxpy.bundle.hipfb"')
    outcomes = result.parseoutcomes()
    targets = __import__("wavelift").targets(EXAMPLES / "saxpy" / "saxpy.bundle.hipfb")
    assert len(targets) > 1
    assert outcomes == {"passed": 2 * len(targets)}
    for target in targets:
        result.stdout.fnmatch_lines([f"*interp-{target}*PASSED*"])


def test_options_choose(run):
    run('"saxpy.gfx900.co"', "--wavelift-engine=interp").assert_outcomes(passed=1)
    run('"saxpy.bundle.hipfb"', "--wavelift-target=gfx906").assert_outcomes(passed=2)
    run('"saxpy.gfx900.co"', "--wavelift-memcheck").assert_outcomes(passed=2)


def test_the_marker_chooses(run):
    run('"saxpy.gfx900.co", engines=["jit"]').assert_outcomes(passed=1)
    run('"saxpy.bundle.hipfb", targets=["gfx906"]').assert_outcomes(passed=2)


@needs_clang
def test_sources_are_compiled_for_each_target(run):
    result = run('"saxpy.cl", targets=["gfx803", "gfx906"]')
    result.assert_outcomes(passed=4)
    run('"saxpy.cl"').assert_outcomes(passed=2)


def test_sources_are_skipped_without_a_compiler(run, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("WAVELIFT_CLANG", raising=False)
    run('"saxpy.cl"').assert_outcomes(skipped=2)


def test_failures_of_kernels_fail_the_test(run):
    test = TEST.replace("grid=64", "grid=128").replace("1.0, 64", "1.0, 2**31")
    result = run('"saxpy.gfx900.co", engines=["jit"]', test=test)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*Fault: lane 0 * bytes at *"])


def test_wrong_markers(run):
    run('"missing.co"').assert_outcomes(errors=2)
    result = run('"saxpy.gfx900.co", target="gfx900"')
    result.stdout.fnmatch_lines(["*the marker wavelift has no argument target*"])
    result = run("")
    result.stdout.fnmatch_lines(['*needs @pytest.mark.wavelift("kernel.co")*'])


def test_other_fixtures_of_that_name_are_left_alone(pytester):
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture
        def module():
            return 17

        def test_own(module):
            assert module == 17
        """
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=1)
