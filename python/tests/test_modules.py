"""Code objects, kernels and compilation."""

import shutil

import numpy as np
import pytest

import wavelift
from conftest import EXAMPLES

SAXPY = EXAMPLES / "saxpy" / "saxpy.gfx900.co"

needs_clang = pytest.mark.skipif(
    not any(shutil.which(name) for name in ("clang-19", "clang-20", "clang-18", "clang")),
    reason="no clang is installed",
)


def test_modules_from_paths_and_bytes():
    for code in (SAXPY, str(SAXPY), SAXPY.read_bytes(), bytearray(SAXPY.read_bytes())):
        module = wavelift.Module(code)
        assert module.kernels == ["saxpy"]
        assert "saxpy" in module and "daxpy" not in module
        assert list(module) == ["saxpy"] and len(module) == 1
    assert repr(module).startswith("<wavelift.Module for ") and "saxpy" in repr(module)
    assert "s_endpgm" in module.disassembly()


def test_bundles():
    bundle = EXAMPLES / "saxpy" / "saxpy.bundle.hipfb"
    assert "gfx906" in wavelift.Module(bundle, target="gfx906").target
    with pytest.raises(wavelift.LoadError, match="gfx"):
        wavelift.Module(bundle)


def test_wrong_modules(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        wavelift.Module(tmp_path / "missing.co")
    assert caught.value.filename.endswith("missing.co")
    with pytest.raises(wavelift.LoadError):
        wavelift.Module(b"no code object")
    # A ValueError for those who expect Python's.
    with pytest.raises(ValueError):
        wavelift.Module(SAXPY.read_bytes()[:500])
    with pytest.raises(TypeError):
        wavelift.Module(17)
    with pytest.raises(KeyError, match="daxpy"):
        wavelift.Module(SAXPY)["daxpy"]
    with pytest.raises(TypeError, match="device or engine"):
        wavelift.Module(SAXPY, device=wavelift.Device(), engine="jit")
    with pytest.raises(ValueError, match="engine must be 'jit' or 'interp'"):
        wavelift.Module(SAXPY, engine="gpu")


def test_what_a_kernel_shows():
    kernel = wavelift.Module(SAXPY)["saxpy"]
    assert kernel.name == "saxpy"
    # This one was compiled without the parameters' names.
    assert [parameter.name for parameter in kernel.parameters] == [None] * 4
    y, x, a, n = kernel.parameters
    assert (y.type, y.kind, y.size, y.offset, y.read_only) == ("float*", "pointer", 8, 0, False)
    assert (a.type, a.kind, a.size, a.offset) == ("float", "value", 4, 16)
    assert n.type == "uint" and "float" in repr(a)
    assert kernel.vgprs > 0 and kernel.sgprs > 0
    assert (kernel.lds, kernel.scratch, kernel.required_block) == (0, 0, None)
    assert "v_mul_f32" in kernel.disassembly() or "v_mad_f32" in kernel.disassembly()
    text = repr(kernel)
    assert "saxpy(float*, float*, float, uint)" in text and "VGPRs" in text
    html = kernel._repr_html_()
    assert "<details>" in html and "s_endpgm" in html and "float*" in html


@needs_clang
def test_compilation_of_a_file(tmp_path):
    source = tmp_path / "add.cl"
    source.write_text("kernel void add(global int *x, int n) { x[get_global_id(0)] += n; }\n")
    for target in ("gfx906", "gfx803"):
        module = wavelift.Module.compile(source, target=target)
        assert target in module.target
        x = np.zeros(64, np.int32)
        module["add"](x, -7, grid=64)
        assert "add(int* x, int n)" in repr(module["add"])
        with pytest.raises(TypeError, match=r"add\(\) argument 2 n \(int\): must be an integer"):
            module["add"](x, "1", grid=64)
        np.testing.assert_array_equal(x, -7)


@needs_clang
def test_compilation_of_text():
    module = wavelift.Module.compile(source="kernel void zero(global int *x) { *x = 0; }")
    x = np.ones(1, np.int32)
    module["zero"](x, grid=1)
    assert x[0] == 0


@needs_clang
def test_errors_and_warnings_of_the_compiler(tmp_path):
    with pytest.raises(wavelift.CompileError, match="expected ';'"):
        wavelift.Module.compile(source="kernel void bad(global int *x) { *x = 0 }")
    name = "".join(chr(97 + digit) for digit in np.random.default_rng().integers(0, 26, 12))
    with pytest.warns(UserWarning, match="incompatible"):
        wavelift.Module.compile(source=f"kernel void {name}(global int *x) {{ global float *y = x; *y = 1; }}")
    with pytest.raises(FileNotFoundError):
        wavelift.Module.compile(tmp_path / "missing.cl")


def test_wrong_compilations(tmp_path):
    path = tmp_path / "kernel.txt"
    path.write_text("")
    with pytest.raises(ValueError, match="is no source"):
        wavelift.Module.compile(path)
    with pytest.raises(TypeError, match="either a path or a source"):
        wavelift.Module.compile()
    with pytest.raises(ValueError, match="'opencl' or 'hip'"):
        wavelift.Module.compile(source="", language="cuda")
