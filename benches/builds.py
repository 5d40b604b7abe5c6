#!/usr/bin/env python3
"""Two builds of wavelift on every benchmark, for example before and after a change.

    python3 builds.py BEFORE AFTER [NAME...]      two binaries; --half a: that half of the open set only

Runs of both alternate on one thread; the least time of each counts. A ratio is the time of the first build divided by that
of the second, so 1.10 means that the second is 10 % faster."""

import argparse
import pathlib

from ablation import mean, run, shown
from bench_sets import SETS, Set


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("builds", nargs=2, type=pathlib.Path, metavar="BINARY")
    parser.add_argument("names", nargs="*", metavar="NAME", help="benchmarks; all when none is named")
    parser.add_argument("--half", choices=["a", "b"], help="only this half of the open set")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=0.2, help="of each run")
    options = parser.parse_args()
    groups = {}
    for which in SETS:
        benches = Set(which)
        for name, bench in benches.benches.items():
            half = bench.get("half") if which == "open" else None
            if options.names and name not in options.names or options.half and half != options.half:
                continue
            manifest = benches.folder / f"{name}.gfx906.toml"
            least = [float("inf")] * 2
            for turn in range(options.rounds):
                for which_build in [0, 1] if turn % 2 == 0 else [1, 0]:
                    took = run(options.builds[which_build], manifest, options.seconds, None)
                    least[which_build] = min(least[which_build], took)
            ratio = least[0] / least[1]
            groups.setdefault(f"half {half}" if half else "first set", {})[name] = ratio
            print(f"{name}: {least[0] * 1e3:.2f} ms, {least[1] * 1e3:.2f} ms, {ratio:.2f}", flush=True)
    print("\n| | mean | most | least |\n|---|--:|---|---|")
    for group, ratios in groups.items():
        order = sorted(ratios, key=ratios.get)
        most, least = (", ".join(f"{name} {ratios[name]:.2f}" for name in names) for names in (order[::-1][:6], order[:6]))
        print(f"| {group} | {shown(mean(ratios.values()))} | {most} | {least} |")


if __name__ == "__main__":
    main()
