"""Profiles of kernels."""

import numpy as np
import pytest

import wavelift


def test_a_profile(saxpy):
    x, y = np.ones(1024, np.float32), np.ones(1024, np.float32)
    profile = saxpy.profile(y, x, 2.0, 1024, grid=1024, block=256)
    # It ran on copies.
    np.testing.assert_array_equal(y, 1)
    assert profile.waves == 16
    # Scalar instructions count once, those of vectors for each lane.
    assert profile.instructions < profile.lane_instructions < 64 * profile.instructions
    assert profile.instructions % 16 == 0
    assert profile.seconds > 0
    text = str(profile)
    assert text.startswith("profile of saxpy: 1 launch, 16 waves, ")
    assert f"{profile.instructions} instructions" in text and "region saxpy" in text
    page, part = profile.html(), profile._repr_html_()
    assert page.startswith("<!DOCTYPE html>") and "<title>Profile of saxpy</title>" in page
    for content in ("global_load_dword", "executions", "<style>"):
        assert content in page and content in part
    assert "<body" not in part and part.count("<div") == part.count("</div>")
    assert "wavelift.Profile of saxpy" in repr(profile)


def test_buffers_are_copied_for_a_profile(saxpy):
    device = saxpy.module.device
    x, y = device.buffer(np.ones(64, np.float32)), device.buffer(np.ones(64, np.float32))
    assert saxpy.profile(y, x, 2.0, 64, grid=64).waves == 1
    np.testing.assert_array_equal(y.numpy(np.float32), 1)
    with pytest.raises(TypeError, match="argument 1 .*not a pointer into one"):
        saxpy.profile(y.at(0), x, 2.0, 64, grid=64)


def test_a_profile_of_a_kernel_that_does_wrong(faults):
    with pytest.raises(wavelift.Fault) as caught:
        faults["wild_load"].profile(bytearray(4096), 64, grid=64)
    assert caught.value.lane == 17
