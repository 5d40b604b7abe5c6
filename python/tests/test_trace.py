"""Traces of waves, and comparisons of the engines."""

import pathlib

import numpy as np
import pytest

import wavelift

CLOCK = """
kernel void clock(global ulong *times) { times[get_global_id(0)] = __builtin_readcyclecounter(); }
"""


def test_a_trace(saxpy):
    x, y = np.arange(128, dtype=np.float32), np.ones(128, np.float32)
    events = saxpy.trace(y, x, 2.0, 128, grid=128, block=128, wave=1)
    # It ran on copies.
    np.testing.assert_array_equal(y, 1)
    assert [event.number for event in events] == list(range(len(events)))
    assert events[0].symbol == ("saxpy", 0) and events[-1].next == "end"
    assert all(event.exec == 2**64 - 1 for event in events)
    add = next(event for event in events if event.instruction.startswith("v_add_f32"))
    (sums,) = add.registers.values()
    assert sums == {lane: 2.0 * (64 + lane) + 1 for lane in range(64)}
    (store,) = (event for event in events if event.instruction.startswith("global_store"))
    assert len(store.memory) == 64
    for lane, (access, of_lane, name, offset, value, new) in enumerate(store.memory):
        assert (access, of_lane, name, offset) == ("write", lane, "argument 1", 4 * (64 + lane))
        assert value == np.float32(sums[lane]).tobytes() and new is None
    assert "write 4 bytes of argument 1 at 0-63: 0x100 +4" in str(store)
    assert store.instruction in repr(store)
    scalar = next(event for event in events if event.instruction.startswith("s_load"))
    assert scalar.memory[0][:4] == ("read", None, "arguments", scalar.memory[0][3])


def test_source_lines_of_a_trace(saxpy):
    root = pathlib.Path(__file__).parents[2]
    norms = wavelift.Module(root / "tests/kernels/source/lines.gfx900.co")["_Z5normsIfEvPT_PKS0_i"]
    x = np.ones(64, np.float32)
    events = norms.trace(x.copy(), x, 1, grid=64)
    inlined = next(event for event in events if event.line == ("lines.hip", 16))
    assert inlined.frames == [
        ("float norm<float>(float, float)", True, ("lines.hip", 16)),
        ("void norms<float>(float*, float const*, int)", False, ("lines.hip", 41)),
    ]
    plain = saxpy.trace(x.copy(), x, 2.0, 64, grid=64)
    assert all(event.line is None and event.frames == [] for event in plain)


def test_limits_of_a_trace(saxpy):
    x = np.ones(128, np.float32)
    assert len(saxpy.trace(x, x.copy(), 2.0, 128, grid=128, block=64, limit=3)) == 3
    with pytest.raises(ValueError, match="has no workgroup"):
        saxpy.trace(x, x.copy(), 2.0, 128, grid=128, block=64, workgroup=(2, 0, 0))
    with pytest.raises(ValueError, match="has no wave 1"):
        saxpy.trace(x, x.copy(), 2.0, 128, grid=128, block=64, wave=1)


def test_a_trace_of_a_kernel_that_does_wrong(faults):
    with pytest.raises(wavelift.Fault) as caught:
        faults["wild_load"].trace(bytearray(4096), 64, grid=64)
    assert caught.value.lane == 17


def test_engines_that_agree(saxpy):
    x, y = np.ones(128, np.float32), np.ones(128, np.float32)
    assert saxpy.diff(y, x, 2.0, 128, grid=128, block=64) is None
    np.testing.assert_array_equal(y, 1)


def test_engines_that_differ():
    # The clocks of two runs differ, whatever the engines do.
    clock = wavelift.Module.compile(source=CLOCK)["clock"]
    difference = clock.diff(np.zeros(128, np.uint64), grid=128, block=64)
    assert difference.workgroup == (0, 0, 0) and difference.wave == 0
    assert difference.symbol == ("clock", 0)
    for name, offset, reference, other in difference.memory:
        assert name == "times" and 0 <= offset < 512
        assert reference != other and len(reference) == len(other)
    text = str(difference)
    assert text.startswith("the engines differ about clock\nfirst different workgroup: (0, 0, 0)\n")
    assert "first different stretch: wave 0 of workgroup (0, 0, 0)" in text
    assert "clock" in repr(difference)


def test_a_fault_of_both_engines_is_no_difference(faults):
    with pytest.raises(wavelift.Fault) as caught:
        faults["wild_load"].diff(bytearray(4096), 64, grid=64)
    assert caught.value.lane == 17


def test_functions_of_the_package(saxpy):
    x, y = np.ones(128, np.float32), np.ones(128, np.float32)
    arguments = (y, x, 2.0, 128)
    assert wavelift.diff(saxpy, *arguments, grid=128) is None
    assert wavelift.profile(saxpy, *arguments, grid=128).waves == 2
    events = wavelift.trace(saxpy, *arguments, grid=128, limit=2)
    assert [str(event) for event in events] == [str(event) for event in saxpy.trace(*arguments, grid=128, limit=2)]
    np.testing.assert_array_equal(y, 1)
