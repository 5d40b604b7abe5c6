#!/usr/bin/env python3
"""Times wavelift against runtimes that compile the same OpenCL C for the processor.

    python3 compare.py --setup            makes benches/.runtimes with pyopencl and Intel's runtime
    python3 compare.py [NAME...]          compares, and prints tables in Markdown
    python3 compare.py --set open [--half a]   the same with the open set, or a half of it
    python3 compare.py --emitters [NAME...]   compares the translator's two back ends with one another

The last needs no other package; the first two need Python 3.11 or newer and a network for --setup
only. The runtimes: PoCL (Debian's package pocl-opencl-icd, which must be installed) and Intel's CPU
runtime for OpenCL (the PyPI packages intel-opencl-rt and intel-cmplr-lib-rt). Build wavelift with
`cargo build --release` before.

Each benchmark runs on the three alternately, on one core and then on all of them; the least time
of all rounds counts. Times are those of the kernels: event times of the runtimes, and without
translation those of `wavelift bench`. What the three compute is compared as well. On a busy machine
give it priority: `nice -n -15 python3 compare.py`.
"""

import argparse
import datetime
import json
import math
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile

from bench_sets import SETS, Set

HERE = pathlib.Path(__file__).resolve().parent
HOME = HERE / ".runtimes"
VENV = HOME / "venv"
PACKAGES = ["numpy", "pyopencl", "intel-opencl-rt", "intel-cmplr-lib-rt"]
POCL_ICD = pathlib.Path("/etc/OpenCL/vendors/pocl.icd")

EMITTERS = ("wide", "cranelift")
# What the mean of all benchmarks is called; those of a class are by its name.
ALL = "geometric mean"
# How many of the worst benchmarks are named.
WORST = 15
# Name, what the OpenCL platform's name contains.
RUNTIMES = {"PoCL": "Portable Computing Language", "Intel": "Intel(R) OpenCL"}


def setup():
    """Makes the virtual environment and a folder of ICD files per runtime."""
    subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    subprocess.run([VENV / "bin/pip", "install", "--quiet", *PACKAGES], check=True)
    for name in RUNTIMES:
        (HOME / name).mkdir(exist_ok=True)
    # The package's own ICD file names a path of the machine that it was built on.
    library = VENV / "lib/libintelocl.so"
    if library.exists():
        (HOME / "Intel/intel.icd").write_text(f"{library}\n")
    else:
        print(f"intel-opencl-rt has no {library}: comparisons go without Intel's runtime")
    if POCL_ICD.exists():
        shutil.copy(POCL_ICD, HOME / "PoCL/pocl.icd")
    else:
        print(f"there is no {POCL_ICD}: `apt-get install pocl-opencl-icd` and repeat, or "
              "comparisons go without PoCL")


class Runtime:
    """An OpenCL runtime in a process of its own, on one core or on all."""

    def __init__(self, name, cores):
        env = dict(os.environ, OCL_ICD_VENDORS=str(HOME / name),
                   LD_LIBRARY_PATH=str(VENV / "lib"), POCL_CACHE_DIR=str(HOME / "cache"),
                   PYOPENCL_NO_CACHE="1")
        if cores == 1:
            env |= {"POCL_MAX_PTHREAD_COUNT": "1", "CL_CONFIG_CPU_TBB_NUM_WORKERS": "1"}
        self.process = subprocess.Popen(
            [*pinned(cores), VENV / "bin/python", HERE / "opencl_worker.py", RUNTIMES[name]],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env=env)
        self.about = self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"error": "the runtime's process ended"}

    def ask(self, **request):
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        return self.answer()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def pinned(cores):
    return ["taskset", "-c", "0"] if cores == 1 else []


class Runtimes:
    """The runtimes' processes, which go on from benchmark to benchmark; one that ended starts anew."""

    def __init__(self):
        self.running = {}

    def get(self, name, cores):
        """A runtime's process, if the runtime is there."""
        if not any((HOME / name).glob("*.icd")):
            return None
        runtime = self.running.get((name, cores))
        if runtime is None or runtime.process.poll() is not None:
            runtime = self.running[name, cores] = Runtime(name, cores)
        return runtime

    def close(self):
        for runtime in self.running.values():
            runtime.close()


class Wavelift:
    def __init__(self, binary, cores, emitter="auto"):
        self.command = [*pinned(cores), binary]
        self.threads = ["--threads", str(1 if cores == 1 else 0), "--emitter", emitter]

    def ask(self, command, manifest, *more):
        done = subprocess.run(
            [*self.command, command, manifest, *self.threads, "--no-fallback", "--json", *more],
            capture_output=True, text=True)
        try:
            answer = json.loads(done.stdout)
        except json.JSONDecodeError:
            return {"error": done.stderr.strip() or f"exit status {done.returncode}"}
        if not answer["ok"]:
            fault = answer["fault"]
            answer["error"] = fault["message"] if fault else "an expectation does not hold"
        return answer

    def translation(self, answer):
        return sum(d["translate_s"] for d in timed(answer))

    def times(self, answer):
        """Seconds of each round over all timed dispatches."""
        return [sum(times) for times in zip(*(d["execute_s"] for d in timed(answer)))]


def timed(answer):
    return [d for d in answer["dispatches"] if not d["kernel"].startswith("setup_")]


def with_outputs(manifest, names, folder):
    """A copy of a manifest in `folder` that writes the named buffers."""
    text = manifest.read_text()
    for key in ('code_object = "', '{ file = "'):
        text = text.replace(key, f"{key}{manifest.parent}/")
    text += "\n[outputs]\n" + "".join(f'{name} = "{name}.npy"\n' for name in names)
    copy = folder / manifest.name
    copy.write_text(text)
    return copy


def difference(a, b, tolerance):
    """What is wrong between two arrays; empty when nothing is. And how far they are apart."""
    import numpy as np
    a, b = a.ravel(), b.ravel()
    if tolerance == 0:
        wrong = int((a.view(np.uint8) != b.view(np.uint8)).sum())
        return (f"{wrong} bytes differ" if wrong else ""), 0.0
    a, b = a.astype(np.float64), b.astype(np.float64)
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return "not finite", math.nan
    apart = float(np.abs(a - b).max() / np.abs(b).max())
    return ("" if apart <= tolerance else f"off by {apart:.1e}"), apart


def check(results, compare):
    """Compares what the runtimes computed, each pair."""
    import numpy as np
    notes, furthest = [], 0.0
    names = list(results)
    for i, one in enumerate(names):
        for other in names[i + 1:]:
            for buffer, tolerance in compare.items():
                a, b = (np.load(results[n] / f"{buffer}.npy") for n in (one, other))
                wrong, apart = difference(a, b, tolerance)
                furthest = max(furthest, apart)
                if wrong:
                    notes.append(f"{buffer} of {one} and {other}: {wrong}")
    return notes, furthest


def measure(name, bench, options, cores, processes):
    """A benchmark on all runtimes: times, and what there is to say."""
    manifest = options.set.folder / f"{name}.{options.target}.toml"
    wavelift = Wavelift(options.wavelift, cores)
    row = {"name": name, "class": bench["class"], "cores": cores, "seconds": {}, "notes": []}
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        results = {}
        copy = with_outputs(manifest, bench["compare"], scratch)
        answer = wavelift.ask("run", copy, "--out", scratch / "wavelift")
        if "error" in answer:
            row["notes"].append(f"wavelift: {answer['error']}")
        else:
            row["translate"] = wavelift.translation(answer)
            results["wavelift"] = scratch / "wavelift"
        runtimes = {}
        for other in RUNTIMES:
            runtime = processes.get(other, cores)
            if runtime is None:
                continue
            needs = bench.get("needs")
            if needs and needs not in runtime.about.get("extensions", [needs]):
                row["notes"].append(f"{other} has no {needs}")
                continue
            answer = runtime.ask(load=str(manifest))
            if "error" in answer:
                first = next((line for line in answer["error"].splitlines()
                              if line.startswith("error:")), answer["error"].splitlines()[0])
                row["notes"].append(f"{other}: {first[:160]}")
                continue
            row.setdefault("devices", {})[other] = runtime.about["device"]
            runtimes[other] = runtime
            results[other] = scratch / other
            results[other].mkdir()
            runtime.ask(dump=str(results[other]), buffers=list(bench["compare"]))
        wrong, row["apart"] = check(results, bench["compare"])
        row["notes"] += wrong
        row["wrong"] = bool(wrong)
        row["checked"] = sorted(results)
        shutil.rmtree(scratch / "wavelift", ignore_errors=True)
        seconds = {n: [] for n in results}
        for _ in range(options.rounds):
            if "wavelift" in seconds:
                answer = wavelift.ask("bench", manifest, "--samples", "--seconds", str(options.seconds))
                if "error" in answer:
                    row["notes"].append(f"wavelift: {answer['error']}")
                    del seconds["wavelift"]
                else:
                    seconds["wavelift"] += wavelift.times(answer)
                    row["lanes"] = sum(d["lane_instructions"] or 0 for d in timed(answer))
            for other, runtime in runtimes.items():
                answer = runtime.ask(time=1, **{"for": options.seconds})
                seconds[other] += answer.get("seconds", [])
        # Nothing of it stays in memory beside the next benchmark.
        for runtime in runtimes.values():
            runtime.ask(unload=True)
        row["seconds"] = {n: min(list_) for n, list_ in seconds.items() if list_}
        row["spread"] = {n: sorted(list_)[len(list_) // 2] / min(list_)
                         for n, list_ in seconds.items() if list_}
    return row


def milliseconds(seconds):
    if seconds is None:
        return "-"
    ms = seconds * 1e3
    return f"{ms:.0f}" if ms >= 100 else f"{ms:.1f}" if ms >= 10 else f"{ms:.2f}"


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def table(rows, cores):
    """The rows of one number of cores in Markdown, geometric means last: of each class and of all."""
    one = cores == 1
    lines = ["| benchmark | wavelift ms |" + (" translation ms | Glane/s |" if one else " speed-up |")
             + " PoCL ms | Intel ms | PoCL / wavelift | Intel / wavelift | results |",
             "|---|--:|--:|" + ("--:|" if one else "") + "--:|--:|--:|--:|---|"]
    single = {row["name"]: row["seconds"].get("wavelift") for row in rows if row["cores"] == 1}
    ratios = {}
    for row in (row for row in rows if row["cores"] == cores):
        mine = row["seconds"].get("wavelift")
        cells = [row["name"], milliseconds(mine)]
        if one:
            lanes = f"{row['lanes'] / mine / 1e9:.2f}" if mine and row.get("lanes") else "-"
            cells += [milliseconds(row.get("translate")), lanes]
        else:
            before = single.get(row["name"])
            cells.append(f"{before / mine:.2f}" if mine and before else "-")
        cells += [milliseconds(row["seconds"].get(other)) for other in RUNTIMES]
        for other in RUNTIMES:
            theirs = row["seconds"].get(other)
            if mine and theirs:
                for group in (row["class"], ALL):
                    ratios.setdefault(group, {}).setdefault(other, []).append(theirs / mine)
                cells.append(f"{theirs / mine:.2f}")
            else:
                cells.append("-")
        if len(row["checked"]) == 1:
            result = "nothing to compare with"
        elif not row["wrong"]:
            result = "the same" if row["apart"] == 0 else f"within {row['apart']:.0e}"
        else:
            result = "**differ**"
        result = "; ".join([result, *row["notes"]]).replace("|", "/")
        lines.append("| " + " | ".join([*cells, result]) + " |")
    blank = " |" * (4 if one else 3)
    for group in sorted(ratios, key=lambda group: (group == ALL, group.startswith("half") and group)):
        cells = [f"**{mean(ratios[group][other]):.2f}**" if other in ratios[group] else "-"
                 for other in RUNTIMES]
        lines.append(f"| {group} |" + blank[2:] + " | | " + " | ".join(cells) + " | |")
    return "\n".join(lines)


def worst(rows, cores):
    """The benchmarks with the smallest ratios to each runtime."""
    lines = []
    for other in RUNTIMES:
        ratios = sorted((row["seconds"][other] / row["seconds"]["wavelift"], row["name"]) for row in rows
                        if row["cores"] == cores and {other, "wavelift"} <= row["seconds"].keys())
        named = ", ".join(f"{name} {ratio:.2f}" for ratio, name in ratios[:WORST])
        slower = sum(ratio < 1 for ratio, _ in ratios)
        lines.append(f"\n{other}'s code is faster in {slower} of {len(ratios)}. Least: {named}.")
    return "".join(lines)


def machine():
    info = pathlib.Path("/proc/cpuinfo").read_text()
    model = next(line.split(":")[1].strip() for line in info.splitlines() if "model name" in line)
    flags = next(line for line in info.splitlines() if line.startswith("flags")).split()
    vectors = next((v for v in ("avx512f", "avx2", "avx", "sse4_1") if v in flags), "sse2")
    return f"{model}, {os.cpu_count()} cores, {vectors}, {platform.system()} {platform.release()}"


def version():
    done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=HERE, capture_output=True,
                          text=True)
    return done.stdout.strip() or "unknown"


def compare(options):
    names = options.set.pick(options.names, options.half)
    rows, loads, processes = [], [], Runtimes()
    cores = [1] if options.one_core or os.cpu_count() == 1 else [1, os.cpu_count()]
    for name in names:
        for count in cores:
            row = measure(name, options.set.benches[name], options, count, processes)
            loads.append(os.getloadavg()[0])
            rows.append(row)
            times = {n: milliseconds(s) for n, s in row["seconds"].items()}
            print(name, count, times, *row["notes"], file=sys.stderr, flush=True)
            if options.json:
                options.json.write_text(json.dumps(rows, indent=1))
    processes.close()
    now = datetime.datetime.now(datetime.timezone.utc)
    print(f"Machine: {machine()}. {now:%Y-%m-%d %H:%M} UTC, wavelift {version()}, code objects for "
          f"{options.target}, least of {options.rounds} alternating rounds of {options.seconds} s. "
          f"Load average {min(loads):.1f} to {max(loads):.1f}.\n")
    devices = {}
    for row in rows:
        devices |= row.get("devices", {})
    for name, device in devices.items():
        print(f"* {name}: {device}")
    for count in cores:
        print(f"\n{'One core' if count == 1 else f'All {count} cores'}:\n")
        print(table(rows, count))
        print(worst(rows, count))


def measure_emitters(name, options):
    """A benchmark on both back ends, on one core: seconds and refused regions of each."""
    manifest = options.set.folder / f"{name}.{options.target}.toml"
    rows = {}
    for _ in range(options.rounds):
        for emitter in EMITTERS:
            wavelift = Wavelift(options.wavelift, 1, emitter)
            answer = wavelift.ask("bench", manifest, "--samples", "--seconds", str(options.seconds))
            if "error" in answer:
                sys.exit(f"{name}, {emitter}: {answer['error']}")
            row = rows.setdefault(emitter, {"seconds": math.inf})
            row["seconds"] = min(row["seconds"], *wavelift.times(answer))
            row["refused"] = sum(d["regions_refused"] for d in timed(answer))
    return rows


def compare_emitters(options):
    print("| benchmark | wide ms | Cranelift ms | Cranelift / wide |\n|---|--:|--:|--:|")
    ratios, loads, refused = [], [], 0
    for name in options.set.pick(options.names, options.half):
        rows = measure_emitters(name, options)
        wide, cranelift = (rows[emitter] for emitter in EMITTERS)
        ratios.append(cranelift["seconds"] / wide["seconds"])
        loads.append(os.getloadavg()[0])
        refused += wide["refused"]
        times = [milliseconds(row["seconds"]) for row in (wide, cranelift)]
        print("|", " | ".join([name, *times, f"{ratios[-1]:.2f}"]), "|", flush=True)
    print(f"| geometric mean | | | **{mean(ratios):.2f}** |\n")
    print(f"Machine: {machine()}. Wavelift {version()}, code objects for {options.target}, one core, "
          f"least of {options.rounds} alternating rounds of {options.seconds} s. {refused} regions "
          f"refused. Load average {min(loads):.1f} to {max(loads):.1f}.")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="benchmarks; all when none is named")
    parser.add_argument("--setup", action="store_true", help="install the runtimes")
    parser.add_argument("--wavelift", type=pathlib.Path, help="the binary",
                        default=HERE.parent / "target/release/wavelift")
    parser.add_argument("--set", choices=SETS, default="first")
    parser.add_argument("--half", choices=["a", "b"], help="of the open set")
    parser.add_argument("--target", choices=["gfx900", "gfx906"], default="gfx906")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.5, help="of each runtime in each round")
    parser.add_argument("--one-core", action="store_true", help="leave all cores out")
    parser.add_argument("--emitters", action="store_true", help="compare the two back ends")
    parser.add_argument("--json", type=pathlib.Path, help="write all figures to this file")
    options = parser.parse_args()
    if options.setup:
        return setup()
    options.set = Set(options.set)
    if options.half and options.set.folder.name != "open":
        parser.error("only the open set has halves")
    if options.target not in options.set.targets:
        parser.error(f"that set has no code objects for {options.target}")
    if options.emitters:
        return compare_emitters(options)
    python = VENV / "bin/python"
    if not python.exists():
        sys.exit("the runtimes are not set up: python3 compare.py --setup")
    if pathlib.Path(sys.prefix) != VENV:
        os.execv(python, [python, *sys.argv])
    compare(options)


if __name__ == "__main__":
    main()
