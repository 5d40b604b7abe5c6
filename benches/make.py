#!/usr/bin/env python3
"""Remakes the benchmarks: code objects of benches/kernels, manifests of real and of small sizes.

    python3 make.py [NAME...]

Needs NumPy, clang-19, lld-19 and rocm-device-libs. What a benchmark runs on and with is in
bench_table.py; the code objects of kernels from examples/ are made by examples/make.py.
"""

import pathlib
import subprocess
import sys

import numpy as np

from bench_table import BENCHES
from contents import contents

HERE = pathlib.Path(__file__).resolve().parent
BITCODE = "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode"
TARGETS = ["gfx900", "gfx906"]
# As for the examples: products and sums are rounded as written; fused ones are written fma().
FLAGS = ["-ffp-contract=off", "-Wall"]


def compile_object(source, target):
    output = source.with_suffix(f".{target}.co")
    subprocess.run(
        ["clang-19", "-x", "cl", "-cl-std=CL2.0", "-O2", "--target=amdgcn-amd-amdhsa",
         f"-mcpu={target}", "-mcode-object-version=5", f"--rocm-device-lib-path={BITCODE}", *FLAGS,
         source.name, "-o", output], check=True, cwd=source.parent)
    output.chmod(0o644)


def value(v):
    if isinstance(v, dict):
        return "{ " + ", ".join(f"{key} = {value(x)}" for key, x in v.items()) + " }"
    return f'"{v}"' if isinstance(v, str) else repr(v)


def argument(arg):
    if isinstance(arg, str):
        return f'"{arg}"'
    kind, x = arg
    return value({kind: x.hex() if kind == "hex" else x})


def manifest(title, code_object, run, expectations):
    lines = [f"# {title}. Made by make.py."]
    if not expectations:
        lines.append("# No expectation: small/ has the same in a size for `wavelift diff`.")
    lines += ["", "[buffers]"]
    width = max(map(len, run["buffers"]))
    lines += [f"{name:{width}} = {value(spec)}" for name, spec in run["buffers"].items()]
    for dispatch in run["dispatches"]:
        lines += ["", "[[dispatch]]", f'code_object = "{code_object}"',
                  f'kernel = "{dispatch["kernel"]}"']
        lines += [f"{key} = {list(dispatch[key])}" for key in ("grid", "workgroup", "global_offset")
                  if key in dispatch]
        lines.append(f"args = [{', '.join(map(argument, dispatch['args']))}]")
    if expectations:
        lines += ["", "[expect]"]
        lines += [f'{name} = {{ file = "{file}" }}' for name, file in expectations.items()]
    return "\n".join(lines) + "\n"


def make(name):
    bench = BENCHES[name]
    source = HERE / "manifests" / f"{bench['object']}.cl"
    for size, folder, up in [("real", HERE / "manifests", ""),
                             ("small", HERE / "manifests" / "small", "../")]:
        folder.mkdir(exist_ok=True)
        run = bench["run"](*bench[size])
        expectations = {}
        if "expect" in bench:
            buffers = {n: contents(spec) for n, spec in run["buffers"].items()}
            for buffer, compute in bench["expect"].items():
                expectations[buffer] = f"{name}.{buffer}.expected.npy"
                np.save(folder / expectations[buffer], compute(buffers))
        title = bench["title"] if size == "real" else f"{name} in a small size"
        for target in TARGETS:
            text = manifest(title, f"{up}{bench['object']}.{target}.co", run, expectations)
            (folder / f"{name}.{target}.toml").write_text(text)
    return source.resolve()


def main():
    names = sys.argv[1:] or list(BENCHES)
    for name in names:
        if name not in BENCHES:
            sys.exit(f"no benchmark is called {name}; there are {', '.join(BENCHES)}")
    for source in sorted({make(name) for name in names}):
        if source.parent == HERE / "kernels":
            for target in TARGETS:
                compile_object(source, target)
    print(f"{len(names)} benchmarks")


if __name__ == "__main__":
    main()
