#!/usr/bin/env python3
"""Remakes every example: code objects, inputs, expected outputs and manifests.

    python3 make.py [NAME...]

Needs NumPy, clang-19, lld-19, llvm-19 and rocm-device-libs; for the code object of version 3 also
clang-15 and lld-15. What an example runs on and with is in examples_table.py.
"""

import pathlib
import subprocess
import sys
import textwrap

import numpy as np

import oracle
from examples_table import ALL, BITCODE, EXAMPLES

HERE = pathlib.Path(__file__).resolve().parent
# Products and sums are rounded as written; fused ones are written fma().
FLAGS = ["-ffp-contract=off", "-Xclang", "-cl-ext=+__cl_clang_function_pointers", "-Wall"]


def compile_object(source, output, target, version, flags):
    """OpenCL C to a code object; clang 19 no longer writes version 3, clang 15 does."""
    clang = "clang-15" if version == 3 else "clang-19"
    extra = [] if version != 3 else ["-Wno-unknown-warning-option"]
    subprocess.run(
        [clang, "-x", "cl", "-cl-std=CL2.0", "-O2", "--target=amdgcn-amd-amdhsa", f"-mcpu={target}",
         f"-mcode-object-version={version}", f"--rocm-device-lib-path={BITCODE}", *FLAGS, *extra,
         *flags, source.name, "-o", output], check=True, cwd=source.parent)
    output.chmod(0o644)


def bundle(folder, output, objects):
    """A clang offload bundle as HIP embeds it: an empty host entry, then one entry per target."""
    empty = folder / "empty.tmp"
    empty.write_bytes(b"")
    targets = ["host-x86_64-unknown-linux"]
    targets += [f"hipv4-amdgcn-amd-amdhsa--{target}" for target in objects]
    inputs = [empty, *objects.values()]
    subprocess.run(
        ["clang-offload-bundler-19", "-type=o", "-bundle-align=4096",
         f"-targets={','.join(targets)}", *[f"-input={i}" for i in inputs],
         f"-output={folder / output}"], check=True)
    empty.unlink()


def toml_argument(arg):
    if isinstance(arg, str):
        return f'"{arg}"'
    kind, value = arg
    if kind == "hex":
        return f'{{ hex = "{value.hex()}" }}'
    if kind.startswith("f"):
        return f"{{ {kind} = {float(value)!r} }}"
    return f"{{ {kind} = {value} }}"


def manifest(example, label, code_object, run):
    """The manifest's text for one target; `run` has the buffers, dispatches and expectations."""
    lines = [f"# {example['title']}: {label}. Made by make.py."]
    lines += textwrap.wrap(example["oracle"], 98, initial_indent="# ", subsequent_indent="# ")
    lines += ["", "[buffers]"]
    width = max(map(len, run["buffers"]))
    for name, buffer in run["buffers"].items():
        if isinstance(buffer, np.ndarray):
            spec = f'{{ file = "{name}.npy" }}'
        else:
            spec = "{ " + ", ".join(f"{k} = {toml_value(v)}" for k, v in buffer.items()) + " }"
        lines.append(f"{name:{width}} = {spec}")
    for dispatch in run["dispatches"]:
        lines += ["", "[[dispatch]]", f'code_object = "{code_object}"',
                  f'kernel = "{dispatch["kernel"]}"']
        lines += [f"{key} = {list(dispatch[key])}" for key in ("grid", "workgroup", "global_offset")
                  if key in dispatch]
        lines.append(f"args = [{', '.join(map(toml_argument, dispatch['args']))}]")
    if "outputs" in run:
        lines += ["", "[outputs]"]
        lines += [f'{name} = "{name}.out.npy"' for name in run["outputs"]]
    lines += ["", "[expect]"]
    for name, tolerance in run["expect"].items():
        rest = "".join(f", {key} = {value!r}" for key, value in tolerance.items())
        lines.append(f'{name} = {{ file = "{name}.expected.npy"{rest} }}')
    return "\n".join(lines) + "\n"


def toml_value(value):
    if isinstance(value, str):
        return f'"{value}"'
    return repr(value)


def starting_state(buffer, buffers):
    """A buffer's contents before the first dispatch."""
    if isinstance(buffer, np.ndarray):
        return buffer.copy()
    if "file" in buffer:
        return buffers[buffer["file"].removesuffix(".npy")].copy()
    if "bytes" in buffer:
        return np.zeros(buffer["bytes"], np.uint8)
    dtype = oracle.NUMPY_TYPES[buffer["type"]]
    if "values" in buffer:
        return np.array(buffer["values"], dtype)
    return np.full(buffer["count"], buffer.get("fill", 0), dtype)


def host_run(source, run, flush):
    """All buffers after the dispatches, run on the host."""
    buffers = {n: starting_state(b, run["buffers"]) for n, b in run["buffers"].items()}
    host = oracle.Host(source, FLAGS)
    for dispatch in run["dispatches"]:
        host.run(dispatch, buffers, flush)
    return buffers


def make(name):
    example = EXAMPLES[name]
    folder = HERE / name
    source = folder / f"{name}.cl"
    flags = example.get("device_flags", [])
    run = example["run"]()
    buffers = host_run(source, run, flush=False)
    flushed = host_run(source, run, flush=True)
    for n in run["expect"]:
        assert buffers[n].tobytes() == flushed[n].tobytes(), f"{n} has to do with denormals"
    if "check" in run:
        run["check"](buffers)
    for stale in folder.glob("*.npy"):
        stale.unlink()
    for n, buffer in run["buffers"].items():
        if isinstance(buffer, np.ndarray):
            np.save(folder / f"{n}.npy", buffer)
    for n in run["expect"]:
        np.save(folder / f"{n}.expected.npy", buffers[n])

    objects = {}
    builds = [(t, example.get("version", 5), f"{name}.{t}") for t in example.get("targets", ALL)]
    builds += [(t, v, f"{name}.v{v}.{t}") for t, v in example.get("also", [])]
    for target, version, stem in builds:
        output = folder / f"{stem}.co"
        compile_object(source, output, target, version, flags)
        objects.setdefault(target, output)
        label = f"{target}, code object version {version}"
        (folder / f"{stem}.toml").write_text(manifest(example, label, output.name, run))
    if "bundle" in example:
        chosen = {t: objects[t] for t in example["bundle"]}
        bundle(folder, f"{name}.bundle.hipfb", chosen)
        label = "a bundle of " + ", ".join(chosen) + "; choose with --target"
        (folder / f"{name}.bundle.toml").write_text(
            manifest(example, label, f"{name}.bundle.hipfb", run))
    print(f"{name}: {len(builds)} code objects, {sum(1 for _ in folder.glob('*.npy'))} arrays")


def main():
    names = sys.argv[1:] or list(EXAMPLES)
    for name in names:
        if name not in EXAMPLES:
            sys.exit(f"no example is called {name}; there are {', '.join(EXAMPLES)}")
        make(name)


if __name__ == "__main__":
    main()
