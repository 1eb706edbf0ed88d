"""The rows `submit_sustained` and `await_sustained`: a load that goes on for ten minutes or more, beside short runs of
the floor before and after.

The floor keeps nothing but a file that grows, so that it is as fast in its first seconds as later; the node has a
ledger that grows, caches that fill, and runs of its indices that are merged.
"""

import copy

import figures
import load
import programs

# As long as a row that goes on for long is to go on.
SECONDS_DEFAULT = 600
BEFORE, AFTER = "floor, before", "floor, after"


class Sustained:
    unit = "committed/s"
    rounds_max = 1

    def __init__(self, short, node_rate_max):
        self.name = f"{short.name}_sustained"
        self.short = short
        # So many transfers a second of the node are signed before.
        self.node_rate_max = node_rate_max

    def measure(self, number, options, directory):
        long, longer = copy.copy(self.short), copy.copy(options)
        long.rate_max, longer.seconds = self.node_rate_max, options.sustain
        runs = {}
        for name, program, row, its_options in (
            (BEFORE, programs.FLOOR, self.short, options),
            ("node", programs.NODE, long, longer),
            (AFTER, programs.FLOOR, self.short, options),
        ):
            runs[name] = run = program.run(row, its_options, directory)
            rate = f"{run['committed_per_second']:12,.2f} {self.unit:12} {load.cost(run)}"
            figures.progress(number, self.name, name, rate)
        return runs

    def summaries(self, rounds, options):
        names = ("node", BEFORE, AFTER)
        reports = {name: [runs[name] for runs in rounds] for name in names}
        values = {name: [run["committed_per_second"] for run in runs] for name, runs in reports.items()}
        title = f"{self.short.title}, for {options.sustain:,} s"
        result = figures.result(self.name, title, self.unit, values)
        for name in names:
            result["programs"][name].update(load.of_program(self.short, reports[name]))
            floor = programs.FLOOR.name if name != "node" else name
            result["remarks"] += load.remarks(self.short, floor, reports[name], options.busy_share)
        node = reports["node"][0]
        fifths = " ".join(f"{rate:,.0f}" for rate in node["fifths_committed_per_second"])
        result["remarks"].append(f"node: committed/s by fifth: {fifths}; {node['uncommitted']} uncommitted at the end")
        return [result]


BY_NAME = {row.name: row for row in load.ROWS}
ROWS = [Sustained(BY_NAME["submit"], 16_000), Sustained(BY_NAME["await"], 12_000)]
NAMES = [row.name for row in ROWS]
