"""Runs launch manifests on an OpenCL runtime for compare.py; one process per runtime and number of
cores, since both come from environment variables.

Requests come as JSON lines on standard input, answers go to standard output:
{"load": manifest} builds and runs once, {"time": rounds} gives the least seconds of the timed
dispatches and all of them, {"dump": folder, "buffers": [name]} writes buffers after the last run,
{"unload": true} lets go of the buffers. Sources are built once for all manifests.
"""

import json
import pathlib
import re
import sys
import time
import tomllib

import numpy as np
import pyopencl as cl

from contents import TYPES, contents


class Run:
    """A manifest on a device."""

    def __init__(self, context, device, programs, path):
        path = pathlib.Path(path)
        manifest = tomllib.loads(path.read_text())
        self.device = device
        self.queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
        self.first = {name: contents(spec) for name, spec in manifest["buffers"].items()}
        self.buffers = {name: cl.Buffer(context, cl.mem_flags.READ_WRITE, array.nbytes)
                        for name, array in self.first.items()}
        begin = time.perf_counter()
        self.dispatches = []
        for dispatch in manifest["dispatch"]:
            code_object = path.parent / dispatch["code_object"]
            # Where saxpy.gfx900.co is, there is saxpy.cl.
            source = code_object.with_name(code_object.name.split(".")[0] + ".cl")
            if source not in programs:
                # The code objects are made with -ffp-contract=off.
                text = "#pragma OPENCL FP_CONTRACT OFF\n" + source.read_text()
                programs[source] = cl.Program(context, text).build(["-cl-std=CL1.2"])
            kernel = cl.Kernel(programs[source], dispatch["kernel"])
            for index, arg in enumerate(dispatch["args"]):
                kernel.set_arg(index, self.argument(arg))
            self.dispatches.append((kernel, dispatch))
        self.restore(self.first)
        self.run()
        self.build_seconds = time.perf_counter() - begin
        self.changed = {}
        for name, array in self.first.items():
            if self.read(name).tobytes() != array.tobytes():
                self.changed[name] = array

    def argument(self, arg):
        if isinstance(arg, str):
            if not re.fullmatch(r"@\w+", arg):
                raise ValueError(f"{arg}: offsets into buffers are not supported here")
            return self.buffers[arg[1:]]
        [(kind, value)] = arg.items()
        if kind == "local":
            return cl.LocalMemory(value)
        if kind == "hex":
            return np.frombuffer(bytes.fromhex(value), np.uint8)
        return TYPES[kind](value)

    def restore(self, arrays):
        for name, array in arrays.items():
            cl.enqueue_copy(self.queue, self.buffers[name], array)
        self.queue.finish()

    def run(self):
        """Runs all dispatches; seconds of each by the device's clock."""
        events = []
        for kernel, dispatch in self.dispatches:
            for _ in range(dispatch.get("repeat", 1)):
                event = cl.enqueue_nd_range_kernel(
                    self.queue, kernel, dispatch["grid"], dispatch["workgroup"],
                    dispatch.get("global_offset"))
                events.append((dispatch["kernel"], event))
        self.queue.finish()
        timed = [e for kernel, e in events if not kernel.startswith("setup_")]
        return sum(e.profile.end - e.profile.start for e in timed) * 1e-9

    def time(self, rounds, seconds):
        """At least that many rounds, and for that long unless the rounds take long."""
        out, begin = [], time.perf_counter()
        while len(out) < rounds or time.perf_counter() - begin < seconds:
            self.restore(self.changed)
            out.append(self.run())
        return out

    def read(self, name):
        out = np.empty_like(self.first[name])
        cl.enqueue_copy(self.queue, out, self.buffers[name])
        self.queue.finish()
        return out


def main():
    [platform] = [p for p in cl.get_platforms() if sys.argv[1] in p.name]
    [device] = platform.get_devices(cl.device_type.CPU)[:1]
    context = cl.Context([device])
    answer = {"device": f"{platform.name} {platform.version}: {device.name.strip()}",
              "units": device.max_compute_units, "extensions": device.extensions.split()}
    run, programs = None, {}
    while True:
        print(json.dumps(answer), flush=True)
        line = sys.stdin.readline()
        if not line:
            return
        request = json.loads(line)
        try:
            if "load" in request:
                run = None
                run = Run(context, device, programs, request["load"])
                answer = {"build_s": run.build_seconds}
            elif "unload" in request:
                run, answer = None, {}
            elif "time" in request:
                answer = {"seconds": run.time(request["time"], request["for"])}
            elif "dump" in request:
                for name in request["buffers"]:
                    np.save(pathlib.Path(request["dump"]) / f"{name}.npy", run.read(name))
                answer = {}
        except Exception as error:  # whatever a runtime has to say belongs in the table's notes
            answer = {"error": f"{type(error).__name__}: {error}"}


if __name__ == "__main__":
    main()
