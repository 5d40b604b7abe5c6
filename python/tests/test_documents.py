"""The examples of documents: `pycon` blocks with their output, `python` blocks as programs."""

import doctest

from conftest import ROOT, blocks
from test_modules import needs_clang


@needs_clang
def test_the_tutorial(monkeypatch):
    monkeypatch.chdir(ROOT)
    path = ROOT / "docs" / "python.md"
    sessions = blocks(path, "pycon")
    assert len(sessions) > 5
    test = doctest.DocTestParser().get_doctest("\n".join(sessions), {}, path.name, str(path), 0)
    runner = doctest.DocTestRunner()
    output = []
    runner.run(test, out=output.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(output)


@needs_clang
def test_the_test_of_the_tutorial(pytester):
    [test] = blocks(ROOT / "docs" / "python.md", "python")
    (pytester.path / "saxpy.cl").write_text((ROOT / "examples/saxpy/saxpy.cl").read_text())
    pytester.makepyfile(test)
    pytester.runpytest_subprocess().assert_outcomes(passed=4)


@needs_clang
def test_the_program_of_the_readme(monkeypatch):
    monkeypatch.chdir(ROOT)
    programs = [program for program in blocks(ROOT / "README.md", "python") if "wavelift" in program]
    assert programs
    for program in programs:
        exec(compile(program, "README.md", "exec"), {})


@needs_clang
def test_the_example_of_the_package():
    import wavelift

    result = doctest.testmod(wavelift)
    assert (result.attempted, result.failed) == (5, 0)
