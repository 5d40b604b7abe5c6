"""The option --wavelift-check of the pytest plugin, by runs of pytest in a folder of their own."""

import shutil

import pytest

from test_findings import RACES

TEST = """
import numpy as np
import pytest

def reverse(kernel):
    x = np.arange(128, dtype=np.uint32)
    y = np.zeros(128, np.uint32)
    kernel(x, y, grid=128, block=128)

@pytest.mark.wavelift("tile.gfx906.co")
{marks}
def test_reverse(module):
    reverse(module["{kernel}"])
"""

DEFECTS = """
import numpy as np
import pytest

@pytest.mark.wavelift("defects.gfx906.co")
def test_defect(module):
    {body}
"""


@pytest.fixture
def run(pytester):
    """Runs pytest on a test of the code objects of races."""
    for name in ("tile.gfx906.co", "defects.gfx906.co"):
        shutil.copy(RACES / name, pytester.path)

    def run(*options, kernel="tile_reverse_racy", marks="", test=TEST):
        test = test.replace("{marks}", marks).replace("{kernel}", kernel)
        pytester.makepyfile(test)
        return pytester.runpytest_subprocess("-v", "-p", "no:cacheprovider", *options)

    return run


def test_a_race_fails_the_test(run):
    run().assert_outcomes(passed=2)
    run("--wavelift-check", kernel="tile_reverse_repaired").assert_outcomes(passed=2)
    result = run("--wavelift-check")
    result.assert_outcomes(failed=2)
    for engine in ("jit", "interp"):
        result.stdout.fnmatch_lines(
            [
                f"*_ test_reverse?{engine}-gfx906? _*",
                "the launches have 2 findings:",
                "tile_reverse_racy: finding: lane 0 of wave 1 of workgroup (0, 0, 0) writes LDS at 0x100,"
                " which wave 0 has read; there is no barrier between ?race-lds?",
                "  0x*  ds_read_b32 *",
                "  0x*  ds_write_b32 *",
                "tile_reverse_racy: finding: * reads LDS at 0xfc, which wave 0 has written; *",
            ]
        )


def test_findings_of_several_launches_are_one(run):
    again = '    reverse(module["tile_reverse_racy"])\n'
    result = run("--wavelift-check", "--wavelift-engine=jit", test=TEST + again)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["the launches have 2 findings:", "tile_reverse_racy: *", "  in 2 launches"])


def test_an_access_out_of_bounds_fails_the_test(run):
    test = DEFECTS.format(
        body="""y = module.device.alloc(4 * 63)
    module["past_the_end"](y, 63, grid=64)"""
    )
    result = run("--wavelift-check", test=test)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["past_the_end: finding: *past the end of a 252-byte*?out-of-bounds?"])


def test_notes_are_only_reported(run):
    test = DEFECTS.format(body='module["lanes_collide"](np.zeros(64, np.uint32), grid=64)')
    result = run("--wavelift-check", "-rP", test=test)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*- Captured wavelift notes call -*", "lanes_collide: note: *?lanes-collide?"])
    marked = test.replace("def test", "@pytest.mark.wavelift_suppress('lanes-collide', reason='r')\ndef test")
    result = run("--wavelift-check", "-rP", test=marked)
    result.assert_outcomes(passed=2)
    result.stdout.no_fnmatch_line("*wavelift notes*")


def test_findings_of_a_test_that_fails_are_in_its_report(run):
    result = run("--wavelift-check", "--wavelift-engine=jit", test=TEST + "    assert 1 == 2\n")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*assert 1 == 2", "*- Captured wavelift findings call -*", "tile_reverse_racy: finding: *"])


def test_findings_of_fixtures(run):
    """A launch of setup is the test's; one of teardown is an error of its own."""
    setup = """
@pytest.fixture
def early(module):
    reverse(module["tile_reverse_racy"])

@pytest.mark.wavelift("tile.gfx906.co", engines=["jit"])
def test_early(module, early):
    pass
"""
    result = run("--wavelift-check", kernel="tile_reverse_repaired", test=TEST + setup)
    result.assert_outcomes(passed=2, failed=1)
    teardown = setup.replace("    reverse", "    yield\n    reverse")
    result = run("--wavelift-check", kernel="tile_reverse_repaired", test=TEST + teardown)
    result.assert_outcomes(passed=3, errors=1)
    skipping = setup.replace('racy"])', 'racy"])\n    pytest.skip("early")')
    after = setup.replace("early", "late").replace("_racy", "_repaired")
    result = run("--wavelift-check", kernel="tile_reverse_repaired", test=TEST + skipping + after)
    result.assert_outcomes(passed=3, skipped=1, errors=1)


def test_launches_on_a_stream_that_nobody_waits_for(run):
    test = TEST.replace("def reverse(kernel):", "def reverse(kernel):\n    device = kernel.module.device")
    test = test.replace("kernel(x, y,", "kernel(device.buffer(x), device.buffer(y), stream=device.stream(),")
    run("--wavelift-check", test=test).assert_outcomes(failed=2)


SUPPRESSED = '@pytest.mark.wavelift_suppress("race-lds", reason="only here")'


def test_a_marker_leaves_findings_out(run):
    result = run("--wavelift-check", "--strict-markers", marks=SUPPRESSED)
    result.assert_outcomes(passed=2)
    result.stdout.no_fnmatch_line("*warning*")
    of_kernel = SUPPRESSED.replace("reason", '"tile_reverse_racy", reason')
    run("--wavelift-check", marks=of_kernel).assert_outcomes(passed=2)
    result = run("--wavelift-check", marks=of_kernel.replace("_racy", ""))
    result.assert_outcomes(failed=2, warnings=1)
    run("--wavelift-check", marks=SUPPRESSED.replace("race-lds", "race-global")).assert_outcomes(
        failed=2, warnings=1
    )


def test_a_marker_that_suppresses_nothing(run):
    result = run("--wavelift-check", kernel="tile_reverse_repaired", marks=SUPPRESSED)
    result.assert_outcomes(passed=2, warnings=1)
    result.stdout.fnmatch_lines(
        ["*UnusedSuppressionWarning: *.py::test_reverse: nothing is suppressed by race-lds of all kernels"]
    )
    result = run("--wavelift-check", "-Werror", kernel="tile_reverse_repaired", marks=SUPPRESSED)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["ERROR *: nothing is suppressed by race-lds of all kernels"])
    run(kernel="tile_reverse_repaired", marks=SUPPRESSED).assert_outcomes(passed=2)


def test_a_marker_of_a_module_is_used_once(run):
    """It is not unused in tests that have nothing to suppress."""
    test = TEST.replace("{marks}", "").replace("def reverse", "pytestmark = {marks}\n\ndef reverse")
    test += '    reverse(module["tile_reverse_repaired"])\n'
    other = '\n@pytest.mark.wavelift("tile.gfx906.co")\ndef test_other(module):\n    pass\n'
    result = run("--wavelift-check", marks=SUPPRESSED[1:], test=test + other)
    result.assert_outcomes(passed=4)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ('"race-lds"', "*required*'reason'*"),
        ('"race-lds", reason=""', "*the reason is empty; say why the finding is known*"),
        ('"race", reason="r"', "*unknown rule \"race\"; the rules are race-lds, race-global, *"),
        ('"race-lds", line=7, reason="r"', "*'line'*"),
        ('rule=7, reason="r"', "*int*"),
    ],
)
@pytest.mark.parametrize("options", [[], ["--wavelift-check"]])
def test_wrong_markers(run, arguments, message, options):
    result = run(*options, marks=f"@pytest.mark.wavelift_suppress({arguments})")
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines([message])
    result.stdout.fnmatch_lines(["*test_reverse?jit-gfx906?: wrong marker wavelift_suppress(rule, *"])


KNOWN = """
[[suppress]]
rule = "race-lds"
kernel = "{kernel}"
file = "{file}"
reason = "known"

[[suppress]]
rule = "wait-read"
kernel = "*"
reason = "static checks have it"
"""


def test_a_file_of_known_findings(run, pytester):
    known = pytester.path / "known.toml"
    options = ("--wavelift-check", "--wavelift-suppress=known.toml")

    def write(kernel="tile_reverse_racy", file="tile.gfx906.co"):
        known.write_text(KNOWN.format(kernel=kernel, file=file))

    write()
    run(*options).assert_outcomes(passed=2)
    # That kernel has none.
    write(kernel="tile_reverse_repaired")
    result = run(*options)
    result.assert_outcomes(failed=2, warnings=1)
    result.stdout.fnmatch_lines(["*known.toml:2: nothing is suppressed by race-lds of kernel tile_reverse_repaired"])
    # No test has loaded such a file.
    write(file="other.co")
    result = run(*options)
    assert result.parseoutcomes() == {"failed": 2}
    known.write_text("[[suppress]]\nrule = 'race-lds'\nkernel = '*'\n")
    result = run(*options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --wavelift-suppress: known.toml:*reason*"])
    known.unlink()
    result = run(*options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --wavelift-suppress: *No such file*known.toml*"])


def test_workers_of_xdist(run):
    """A suppression is used if one worker has used it."""
    pytest.importorskip("xdist")
    options = ("--wavelift-check", "-n2")
    result = run(*options)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["tile_reverse_racy: finding: *?race-lds?"])
    result = run(*options, marks=SUPPRESSED)
    assert result.parseoutcomes() == {"passed": 2}
    result = run(*options, kernel="tile_reverse_repaired", marks=SUPPRESSED)
    result.assert_outcomes(passed=2, warnings=1)
