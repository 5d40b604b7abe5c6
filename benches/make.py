#!/usr/bin/env python3
"""Remakes the benchmarks: code objects of benches/kernels, manifests of real and of small sizes.

    python3 make.py [--set open] [NAME...]

Needs NumPy, clang-19, lld-19 and rocm-device-libs. What a benchmark runs on and with is in
bench_table.py, or open/table.py for the open set; the code objects of kernels from examples/ are
made by examples/make.py.
"""

import argparse
import pathlib
import subprocess

import numpy as np

from bench_sets import SETS, Set
from contents import contents

HERE = pathlib.Path(__file__).resolve().parent
BITCODE = "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode"
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


def manifest(title, code_object, run, expectations, tolerance):
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
        lines += [f"{key} = {dispatch[key]}" for key in ("repeat", "stack") if key in dispatch]
        lines.append(f"args = [{', '.join(map(argument, dispatch['args']))}]")
    if expectations:
        lines += ["", "[expect]"]
        lines += [f"{name} = {value({'file': file} | tolerance)}"
                  for name, file in expectations.items()]
    return "\n".join(lines) + "\n"


def make(benches, name):
    bench = benches.benches[name]
    source = benches.folder / f"{bench['object']}.cl"
    for size, folder, up in [("real", benches.folder, ""),
                             ("small", benches.folder / "small", "../")]:
        folder.mkdir(exist_ok=True)
        run = bench["run"](*bench[size])
        expectations = {}
        expect = bench.get("expect", bench.get(f"expect_{size}", {}))
        if expect:
            buffers = {n: contents(spec) for n, spec in run["buffers"].items()}
            for buffer, compute in expect.items():
                expectations[buffer] = f"{name}.{buffer}.expected.npy"
                np.save(folder / expectations[buffer], compute(buffers))
        title = bench["title"] if size == "real" else f"{name} in a small size"
        for target in benches.targets:
            text = manifest(title, f"{up}{bench['object']}.{target}.co", run, expectations,
                            bench.get("tolerance", {}))
            (folder / f"{name}.{target}.toml").write_text(text)
    return source.resolve()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="benchmarks; all when none is named")
    parser.add_argument("--set", choices=SETS, default="first")
    options = parser.parse_args()
    benches = Set(options.set)
    names = benches.pick(options.names)
    for source in sorted({make(benches, name) for name in names}):
        if source.is_relative_to(HERE):
            for target in benches.targets:
                compile_object(source, target)
    print(f"{len(names)} benchmarks")


if __name__ == "__main__":
    main()
