"""The sets of benchmarks: where each one's manifests are and the table that says what is in it."""

import importlib
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
# Module of the table, folder of the manifests (those of small sizes are in small/ there), targets.
SETS = {"first": ("bench_table", HERE / "manifests", ["gfx900", "gfx906"]),
        "open": ("open.table", HERE / "open", ["gfx906"])}


class Set:
    def __init__(self, name):
        table, self.folder, self.targets = SETS[name]
        self.benches = importlib.import_module(table).BENCHES

    def pick(self, names, half=None):
        """The named benchmarks, or all, of one half if there are halves."""
        for name in names:
            if name not in self.benches:
                raise SystemExit(f"no benchmark is called {name}; there are {', '.join(self.benches)}")
        return [name for name in names or self.benches
                if half is None or self.benches[name].get("half") == half]
