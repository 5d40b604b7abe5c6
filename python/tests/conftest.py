import signal
import re
from pathlib import Path

import pytest

import wavelift

# A shell's background jobs ignore it, and tests send it.
signal.signal(signal.SIGINT, signal.default_int_handler)

pytest_plugins = ["pytester"]

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
ENGINES = ["jit", "interp"]


def blocks(path, language):
    """The blocks of code in a document."""
    return re.findall(rf"^```{language}\n(.*?)^```$", path.read_text(), re.DOTALL | re.MULTILINE)


@pytest.fixture(params=ENGINES)
def engine(request):
    """Both engines, one after the other."""
    return request.param


@pytest.fixture
def load(engine):
    """Loads the code object of an example for a target."""

    def load(name, target="gfx900"):
        return wavelift.Module(EXAMPLES / name / f"{name}.{target}.co", engine=engine)

    return load


@pytest.fixture
def saxpy(load):
    return load("saxpy")["saxpy"]


@pytest.fixture
def faults(engine):
    """Kernels that do wrong; the first parameter is a buffer, the second a number of 8 bytes."""
    path = ROOT / "tests" / "kernels" / "faults" / "faults.gfx900.co"
    return wavelift.Module(path, engine=engine)
