"""What launches are found to do wrong."""

import threading

import numpy as np
import pytest

import wavelift
from conftest import ROOT

RACES = ROOT / "tests" / "kernels" / "races"


@pytest.fixture
def load_races(engine):
    """Loads one of the code objects for a device that checks launches."""

    def load(name, **options):
        device = wavelift.Device(engine=engine, sanitize=True, **options)
        return wavelift.Module(RACES / f"{name}.gfx906.co", device=device)

    return load


def reverse(kernel, **how):
    x, y = (kernel.module.device.buffer(np.arange(256, dtype=np.uint32)) for _ in range(2))
    return kernel(x, y, grid=256, block=128, **how)


def races(module):
    return [found for found in module.device.findings() if found.rule == "race-lds"]


def test_a_race_in_lds(load_races):
    module = load_races("tile")
    device = module.device
    assert device.sanitize and "sanitize" in repr(device)
    reverse(module["tile_reverse_repaired"])
    assert device.findings() == []
    reverse(module["tile_reverse_racy"])
    note, finding, second = device.findings()
    assert (note.rule, note.severity, note.other) == ("unwritten-lds", "note", None)
    assert (finding.rule, finding.severity) == ("race-lds", "finding")
    assert (second.rule, second.instruction.address) == ("race-lds", finding.other.address)
    assert finding.kernel == "tile_reverse_racy"
    assert finding.what == f"LDS at 0x{finding.address:x}"
    assert (finding.workgroup, finding.wave, finding.lane) == ((0, 0, 0), 1, 0)
    assert finding.count > 1
    assert finding.instruction.text.startswith("ds_")
    assert finding.other.text.startswith("ds_")
    assert finding.instruction.text in module["tile_reverse_racy"].disassembly()
    first, other, at = str(finding).split("\n")
    assert first == f"tile_reverse_racy: finding: {finding.why} [race-lds]"
    assert other.strip() == str(finding.other)
    assert at.strip() == str(finding.instruction)
    assert "there is no barrier between" in repr(finding)
    assert device.findings() == [], "they were given"


def test_instructions_have_their_lines(load_races):
    module = load_races("tile")
    reverse(module["tile_reverse_racy"])
    finding = races(module)[0]
    lines = (RACES / "tile.cl").read_text().splitlines()
    sides = (finding.instruction, finding.other)
    if finding.instruction.file is None:
        assert all(side.line is None for side in sides)
    else:
        assert all("tile[" in lines[side.line - 1] for side in sides)


def test_memory_is_named_by_the_parameter(load_races):
    module = load_races("defects")
    y = np.zeros(64, np.uint32)
    module["lanes_collide"](y, grid=64)
    [note] = module.device.findings()
    assert (note.rule, note.severity) == ("lanes-collide", "note")
    # The code object has types, but no names.
    assert note.what == "argument 1[0]"
    assert (note.other, note.count) == (None, 1)


def test_an_access_out_of_bounds(load_races):
    module = load_races("defects")
    y = module.device.alloc(4 * 99)
    module["past_the_end"](y, 99, grid=64)
    [finding] = module.device.findings()
    assert finding.rule == "out-of-bounds"
    assert finding.address == y.address + 4 * 99
    assert "past the end of a 396-byte" in finding.why


def test_a_finding_without_an_address(load_races):
    module = load_races("defects")
    module["two_barriers"](np.zeros(128, np.uint32), grid=128, block=128)
    found = {finding.rule: finding for finding in module.device.findings()}
    finding = found["barrier-divergence"]
    assert finding.severity == "finding"
    assert (finding.what, finding.address, finding.lane) == (None, None, None)


def test_launches_on_streams(load_races):
    """Findings are those of their launches, in order, and are waited for."""
    module = load_races("tile")
    kernels = ["tile_reverse_racy", "tile_reverse_repaired", "transpose_racy"]
    streams = [module.device.stream() for _ in kernels]
    for name, stream in zip(kernels, streams):
        if name == "transpose_racy":
            x, y = (module.device.alloc(1024) for _ in range(2))
            module[name](x, y, grid=(16, 16), block=(16, 16), stream=stream)
        else:
            reverse(module[name], stream=stream)
    found = [finding.kernel for finding in races(module)]
    assert sorted(set(found)) == ["tile_reverse_racy", "transpose_racy"]
    assert found == sorted(found), "the first launch is the first one"
    assert module.device.findings() == []


def test_launches_of_threads(load_races):
    module = load_races("tile")
    kernels = [module[name] for name in ("tile_reverse_racy", "tile_reverse_repaired") for _ in range(4)]
    threads = [threading.Thread(target=reverse, args=[kernel]) for kernel in kernels]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # Two in each launch.
    assert [finding.kernel for finding in races(module)] == ["tile_reverse_racy"] * 8


def test_a_launch_that_faults_has_findings(load_races):
    module = load_races("defects")
    y = np.zeros(64, np.uint32)
    with pytest.raises(wavelift.Fault):
        module["past_the_lds_by_flat"](y, wavelift.Local(64), 1 << 14, grid=64)
    assert "out-of-lds" in {finding.rule for finding in module.device.findings()}


def test_other_runs_of_a_kernel_are_not_checked(load_races):
    kernel = load_races("tile")["tile_reverse_racy"]
    arrays = [np.arange(256, dtype=np.uint32) for _ in range(2)]
    for run in (kernel.trace, kernel.profile):
        assert run(*arrays, grid=256, block=128)
    kernel.diff(*arrays, grid=256, block=128)
    assert kernel.module.device.findings() == []


def test_a_device_that_does_not_check(engine):
    device = wavelift.Device(engine=engine)
    assert not device.sanitize
    reverse(wavelift.Module(RACES / "tile.gfx906.co", device=device)["tile_reverse_racy"])
    assert device.findings() == []


def test_checked_with_memcheck(load_races):
    module = load_races("tile", memcheck=True)
    with pytest.raises(wavelift.Fault) as fault:
        # Wave 0 reads what wave 1 has not yet written.
        reverse(module["tile_reverse_racy"])
    assert fault.value.kind == "uninitialized"
    assert races(module) == [], "the launch has ended before"
    reverse(module["tile_reverse_repaired"])
    assert module.device.findings() == []


def test_suppressions(load_races, tmp_path):
    module = load_races("tile")
    reverse(module["tile_reverse_racy"])
    finding = races(module)[0]
    suits = lambda *args, path=None, **keys: wavelift.Suppression(
        *args, **keys, reason="known"
    ).suits(finding, path)
    assert suits("race-lds")
    assert suits("race-lds", kernel="tile_reverse_racy")
    assert suits("race-lds", address=finding.instruction.address)
    assert not suits("race-lds", address=finding.other.address)
    assert not suits("race-lds", kernel="tile_reverse_repaired")
    assert not suits("race-global")
    assert suits("race-lds", file="b/k.co", path="a/b/k.co")
    assert not suits("race-lds", file="b/k.co", path="ab/k.co")
    assert not suits("race-lds", file="k.co")
    with pytest.raises(ValueError, match="unknown rule \"race\"; the rules are race-lds, race-global, "):
        suits("race")
    with pytest.raises(ValueError, match="reason is empty"):
        wavelift.Suppression("race-lds", reason=" ")
    with pytest.raises(TypeError, match="reason"):
        wavelift.Suppression("race-lds")


def test_a_file_of_suppressions(load_races, tmp_path):
    path = tmp_path / "known.toml"
    path.write_text(
        """
        [[suppress]]
        rule = "race-lds"
        kernel = "tile_reverse_racy"
        file = "tile.gfx906.co"
        address = 0x1430
        reason = "known"

        [[suppress]]
        rule = "wait-read"
        kernel = "*"
        reason = "static"
        """
    )
    first, static = wavelift.Suppression.read(path)
    assert (first.rule, first.kernel, first.file.name) == ("race-lds", "tile_reverse_racy", "tile.gfx906.co")
    assert (first.address, first.reason, first.line) == (0x1430, "known", 2)
    assert str(first) == "race-lds of kernel tile_reverse_racy at 0x1430"
    assert (static.kernel, static.file, static.address) == (None, None, None)
    module = load_races("tile")
    assert first.concerns(module, RACES / "tile.gfx906.co")
    assert not first.concerns(module, RACES / "other.co")
    assert not first.concerns(load_races("defects"), RACES / "tile.gfx906.co")
    assert not static.concerns(module, RACES / "tile.gfx906.co"), "launches are not checked by it"
    path.write_text("[[suppress]]\nrule = 'race'\nkernel = '*'\nreason = 'r'\n")
    with pytest.raises(ValueError, match=r"known.toml:\d: .*unknown rule `race`"):
        wavelift.Suppression.read(path)
    with pytest.raises(FileNotFoundError):
        wavelift.Suppression.read(tmp_path / "none.toml")
