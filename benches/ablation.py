#!/usr/bin/env python3
"""What each form of code is worth: every benchmark with all forms and with one left out.

A form that makes no difference to a benchmark's host code is not measured on it: its ratio is 1. For the other forms runs
alternate between all forms and each one left out; the least time of each counts. A ratio is the time without the form divided
by the time with it, so 1.10 means that the form makes the benchmark 10 % faster. Both sets run in the sizes of `compare.py`,
on one thread."""

import argparse
import json
import math
import pathlib
import re
import subprocess
import tempfile

from bench_sets import HERE, SETS, Set

# Bytes at the beginning of a file of cached code that state its key.
KEY = 64

# Bytes at its end that state its checksum, which includes the key.
CHECK = 32


def run(binary, manifest, seconds, without, *more):
    """The least seconds of a benchmark's dispatches."""
    command = [binary, "bench", manifest, "--threads", "1", "--seconds", str(seconds), "--json", *more]
    if without:
        command += ["--without", without]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{manifest.name} without {without or 'nothing'}: {done.stderr.strip()}")
    return sum(dispatch["execute_min_s"] for dispatch in json.loads(done.stdout)["dispatches"])


def host_code(binary, manifest, without):
    """The host code of a benchmark, each translated region in both tiers."""
    with tempfile.TemporaryDirectory() as folder:
        # So long that the background compiler ends.
        run(binary, manifest, 0.1, without, "--cache", folder)
        return sorted(path.read_bytes()[KEY:-CHECK] for path in pathlib.Path(folder).glob("*.code"))


def forms(binary):
    """All forms, as the help lists them."""
    text = subprocess.run([binary, "bench", "--help"], capture_output=True, text=True, check=True).stdout
    # The help is wrapped to the terminal's width.
    return re.split(r",\s*", re.search(r"--without.*?\[possible values: (.*?)\]", text, re.DOTALL)[1])


def mean(ratios):
    ratios = list(ratios)
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def shown(value):
    return "-" if value is None else f"{value:.3f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="benchmarks; all when none is named")
    parser.add_argument("--wavelift", type=pathlib.Path, default=HERE.parent / "target/release/wavelift")
    parser.add_argument("--forms", nargs="*", help="only these")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.2, help="of each run")
    parser.add_argument("--json", type=pathlib.Path, help="write all times to this file")
    options = parser.parse_args()
    options.forms = options.forms or forms(options.wavelift)
    # By group of benchmarks, name and form (None: all forms): the least time.
    groups = {"first": {}, "a": {}, "b": {}}
    for which in SETS:
        benches = Set(which)
        for name in benches.benches:
            if options.names and name not in options.names:
                continue
            half = benches.benches[name].get("half") if which == "open" else None
            manifest = benches.folder / f"{name}.gfx906.toml"
            small = benches.folder / "small" / manifest.name
            code = host_code(options.wavelift, small, None)
            differ = [form for form in options.forms if host_code(options.wavelift, small, form) != code]
            times = groups[half or "first"][name] = {}
            for _ in range(options.rounds):
                for form in [None, *differ, None]:
                    took = run(options.wavelift, manifest, options.seconds, form)
                    times[form] = min(took, times.get(form, took))
            print(f"{name}: {times[None] * 1e3:.2f} ms,",
                  ", ".join(f"{form} {times[form] / times[None]:.2f}" for form in differ), flush=True)
    if options.json:
        options.json.write_text(json.dumps({group: {name: {form or "all": time for form, time in times.items()}
                                                    for name, times in names.items()}
                                            for group, names in groups.items()}, indent=1))
    print("\n| form left out | first set | half a | half b | different code | mean of these | most | least |")
    print("|---|--:|--:|--:|--:|--:|---|---|")
    for form in options.forms:
        means = [mean(times.get(form, times[None]) / times[None] for times in names.values()) for names in groups.values()]
        ratios = {name: times[form] / times[None] for names in groups.values() for name, times in names.items() if form in times}
        order = sorted(ratios, key=ratios.get)
        most = ", ".join(f"{name} {ratios[name]:.2f}" for name in order[::-1][:3] if ratios[name] > 1)
        least = ", ".join(f"{name} {ratios[name]:.2f}" for name in order[:3] if ratios[name] < 1)
        print(f"| `{form}` |", " | ".join(map(shown, means)), f"| {len(ratios)} | {shown(mean(ratios.values()))} | {most} | {least} |")


if __name__ == "__main__":
    main()
