"""Faults, time limits, signals, threads, streams and buffers."""

import _thread
import pickle
import signal
import threading
import time

import numpy as np
import pytest

import wavelift


@pytest.fixture
def buffer(faults):
    return faults.device.alloc(4096)


def test_attributes_of_a_fault(faults, buffer):
    with pytest.raises(wavelift.Fault) as caught:
        faults["wild_load"](buffer, 0xDEAD0000, grid=128, block=64)
    fault = caught.value
    assert (fault.kind, fault.kernel, fault.lane) == ("memory", "wild_load", 17)
    assert fault.address == 0xDEAD0000
    assert fault.instruction.split()[0] == "global_load_dword"
    assert fault.instruction in faults["wild_load"].disassembly()
    assert fault.symbol[0] == "wild_load"
    assert fault.workgroup[1:] == (0, 0) and fault.wave == 0
    assert fault.exec == 2**64 - 1
    assert fault.symbol[1] > 0 and fault.pc % 4 == 0
    assert "lane 17 read 4 bytes at 0xdead0000" in str(fault)
    assert "wavelift.Device(memcheck=True)" in str(fault)
    assert isinstance(fault, wavelift.Error)
    copy = pickle.loads(pickle.dumps(fault))
    assert (str(copy), copy.__dict__) == (str(fault), fault.__dict__)


def test_the_device_works_after_a_fault(faults, buffer, saxpy):
    for _ in range(3):
        with pytest.raises(wavelift.Fault):
            faults["wild_store"](buffer, 64, grid=64)
        y = np.ones(64, np.float32)
        saxpy(y, y, 1.0, 64, grid=64)
        np.testing.assert_array_equal(y, 2)


def test_traps_and_illegal_instructions(faults, buffer):
    with pytest.raises(wavelift.Fault, match="trap") as caught:
        faults["trap"](buffer, 0, grid=128, block=64)
    assert caught.value.kind == "trap"
    assert caught.value.address is None
    with pytest.raises(wavelift.Fault) as caught:
        faults["misaligned"](buffer, 0, grid=64)
    assert caught.value.kind == "misaligned"


def test_writes_past_the_end_of_a_buffer(faults):
    buffer = faults.device.alloc(252)
    # Memory behind the last allocation is inaccessible.
    last = faults.device.alloc(64)
    with pytest.raises(wavelift.Fault) as caught:
        faults["fine"](buffer, 0, grid=64)
    fault = caught.value
    assert fault.kind == "overrun"
    assert (fault.pc, fault.lane, fault.workgroup) == (None, None, None)
    assert last.read() == bytes(64)


def test_time_limits(faults, buffer):
    begin = time.monotonic()
    with pytest.raises(wavelift.Fault) as caught:
        faults["endless"](buffer, 0, grid=64, timeout=0.3)
    assert caught.value.kind == "timeout"
    assert time.monotonic() - begin < 10
    device = wavelift.Device(engine=faults.device.engine, timeout=0.3)
    assert device.timeout == 0.3


def test_memcheck():
    device = wavelift.Device(memcheck=True)
    assert device.memcheck and "memcheck" in repr(device)
    buffer = device.alloc(1000)
    from conftest import EXAMPLES

    saxpy = wavelift.Module(EXAMPLES / "saxpy" / "saxpy.gfx900.co", device=device)["saxpy"]
    with pytest.raises(wavelift.Fault) as caught:
        saxpy(buffer, np.ones(256, np.float32), 1.0, 256, grid=256)
    assert (caught.value.kind, caught.value.lane) == ("memory", 58)


def test_ctrl_c_stops_a_kernel(faults, buffer):
    threading.Timer(0.3, _thread.interrupt_main).start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        faults["endless"](buffer, 0, grid=64)
    assert time.monotonic() - begin < 10
    # The arrays of a cancelled launch are free again, and the device works.
    y = bytearray(4096)
    threading.Timer(0.3, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        faults["endless"](y, 0, grid=64)
    y.append(0)
    with pytest.raises(wavelift.Fault):
        faults["wild_load"](buffer, 64, grid=64)


def test_signal_handlers_run_while_a_kernel_does(faults, buffer):
    seen = []

    def handler(number, frame):
        seen.append(number)

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(wavelift.Fault, match="time limit"):
            faults["endless"](buffer, 0, grid=64, timeout=0.6)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert seen == [signal.SIGALRM]


def test_kernels_in_place_see_what_the_host_writes():
    """A kernel that polls memory ends when another thread of Python writes there."""
    from conftest import ROOT

    kernel = wavelift.Module(ROOT / "tests/kernels/waits/waits.gfx900.co")["grid_barrier"]
    words = np.zeros(8, np.int32)

    def end():
        words[0] = 2

    threading.Timer(0.3, end).start()
    # One workgroup of two that it waits for.
    kernel(words, 2, grid=64, block=64, in_place=True, timeout=60)
    assert (words[0], words[1]) == (2, 1)


def test_other_threads_run_while_a_kernel_does(faults, buffer):
    count = 0
    done = threading.Event()

    def work():
        nonlocal count
        while not done.is_set():
            count += 1
            time.sleep(0.001)

    thread = threading.Thread(target=work)
    thread.start()
    with pytest.raises(wavelift.Fault):
        faults["endless"](buffer, 0, grid=64, timeout=0.5)
    done.set()
    thread.join()
    assert count > 20


@pytest.mark.parametrize("in_place", [False, True])
def test_launches_from_several_threads_on_the_same_arrays(saxpy, in_place):
    x = np.arange(4096, dtype=np.float32)
    results, errors = [None] * 4, []

    def work(number):
        try:
            for _ in range(10):
                y = np.full(4096, number, np.float32)
                # Parts of one array that overlap.
                part = x[number * 64 : number * 64 + 2048]
                saxpy(y, part, 2.0, 2048, grid=2048, in_place=in_place)
                np.testing.assert_array_equal(y[:2048], 2 * part + np.float32(number))
            results[number] = True
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == [] and results == [True] * 4


def test_streams(saxpy):
    device = saxpy.module.device
    x = device.buffer(np.ones(256, np.float32))
    y = device.buffer(np.zeros(256, np.float32))
    stream, other = device.stream(), device.stream()
    for factor in (1.0, 2.0):
        event = saxpy(y, x, factor, 256, grid=256, stream=stream)
    other.wait_for(event)
    last = saxpy(y, x, 4.0, 256, grid=256, stream=other)
    assert last.wait().workgroups == 1
    assert event.done and event.wait(1).workgroups == 1
    stream.synchronize()
    np.testing.assert_array_equal(y.numpy(np.float32), 7)
    with pytest.raises(TypeError, match="argument 1 .*wavelift.Buffer"):
        saxpy(np.zeros(256, np.float32), x, 1.0, 256, grid=256, stream=stream)


def test_a_failed_stream_runs_nothing_more(faults, buffer, saxpy):
    stream = faults.device.stream()
    event = faults["wild_load"](buffer, 64, grid=64, stream=stream)
    with pytest.raises(wavelift.Fault):
        event.wait()
    y = faults.device.alloc(256)
    event = saxpy(y, y, 1.0, 64, grid=64, stream=stream)
    with pytest.raises(wavelift.Fault):
        event.wait()
    with pytest.raises(wavelift.Fault):
        stream.synchronize()


def test_waiting_for_an_event_with_a_limit(faults, buffer):
    stream = faults.device.stream()
    event = faults["endless"](buffer, 0, grid=64, timeout=0.5, stream=stream)
    assert not event.done
    assert event.wait(timeout=0.05) is None
    with pytest.raises(wavelift.Fault, match="time limit"):
        event.wait()


def test_buffers(engine):
    device = wavelift.Device(engine=engine)
    assert (device.engine, device.threads, device.timeout) == (engine, 0, None)
    buffer = device.buffer(np.arange(8, dtype=np.uint16)[::2])
    assert (len(buffer), buffer.nbytes, buffer.device) == (8, 8, device)
    assert buffer.read() == np.array([0, 2, 4, 6], np.uint16).tobytes()
    buffer.write(np.array([7, 8], np.uint16), offset=2)
    assert buffer.read(2, 4) == b"\x07\0\x08\0"
    view = buffer.numpy(np.uint16, (2, 2))
    view[1, 1] = 99
    assert buffer.read(6) == b"\x63\0"
    with pytest.raises(ValueError, match="9 bytes at offset 0 are outside"):
        buffer.read(0, 9)
    with pytest.raises(ValueError, match="outside a buffer of 8 bytes"):
        buffer.write(bytes(4), offset=6)
    with pytest.raises(TypeError, match="must be an array, not"):
        device.buffer([1, 2])
    with pytest.raises(MemoryError):
        device.alloc(1 << 60)
    # The view keeps the memory.
    del buffer
    assert view[0, 1] == 7


def test_buffers_of_another_device_are_refused(saxpy):
    other = wavelift.Device().alloc(1024)
    with pytest.raises(ValueError, match="argument 0: the buffer belongs to another device"):
        saxpy(other, np.zeros(256, np.float32), 1.0, 256, grid=256)


def test_another_engine_for_a_launch(saxpy):
    for engine in ("jit", "interp"):
        y = np.ones(64, np.float32)
        saxpy(y, y, 1.0, 64, grid=64, engine=engine)
        np.testing.assert_array_equal(y, 2)
    assert saxpy.module.device.engine in repr(saxpy.module.device)


def test_default_devices():
    assert wavelift.default_device() is wavelift.default_device("jit")
    assert wavelift.default_device("interp").engine == "interp"
