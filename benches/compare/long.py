"""The row `long`: whether a node that prunes is still as fast after many transfers as in its first minute.

Its version is read every second. The first and the last minute are those of the load: the seconds before it, in
which accounts are funded, commit few transactions.
"""

import json
import subprocess
import tempfile
import time

import figures
import growth
import node_api
import programs

NAME = "long"
TRANSFERS = 10_000_000
# The part of all transfers that pruning keeps.
WINDOW_SHARE = 0.2
MINUTE_SECONDS = 60
# A run that is too short for two minutes is held against itself by quarters.
PARTS = 4
# The load begins with the first second that commits such a share of the fastest one.
LOAD_SHARE = 0.25
FIRST, LAST = "first minute", "at the end"


class Long:
    name = NAME
    unit = "committed/s"
    rounds_max = 1

    def measure(self, number, options, directory):
        fresh = directory.fresh()
        window = int(growth.transfers(options, TRANSFERS) * WINDOW_SHARE)
        settings = ("pruner.enabled=true", f"pruner.window_versions={window}")
        with programs.NODE.start(options, fresh, *settings) as node:
            run = watched(node, options)
            run["resident_bytes"] = node.resident_bytes()
            run["allocated_bytes"] = growth.allocated_bytes(fresh / "data")
        figures.progress(number, self.name, "node", f"{run['first']:,.0f}/s first, {run['last']:,.0f}/s at the end")
        return {"node": run}

    def summaries(self, rounds, options):
        runs = [found["node"] for found in rounds]
        asked, over = (count(options, TRANSFERS) for count in (growth.transfers, growth.accounts))
        title = f"{asked:,} transfers over {over:,} accounts, pruned to {WINDOW_SHARE:.0%}"
        values = {LAST: [run["last"] for run in runs], FIRST: [run["first"] for run in runs]}
        result = figures.result(self.name, title, self.unit, values)
        resident, disk = (figures.median(run[key] for run in runs) for key in ("resident_bytes", "allocated_bytes"))
        result["programs"][LAST]["note"] = f"{resident / 1e6:,.0f} MB resident, {disk / 1e6:,.0f} MB on the disk"
        result["programs"][FIRST]["note"] = f"of {figures.median(run['span_seconds'] for run in runs):.0f} s each"
        result["remarks"] += growth.remarks("node", runs)
        return [result]


def watched(node, options):
    """Loads a node and looks at it every second."""
    addresses = node.addresses
    asked, over = (count(options, TRANSFERS) for count in (growth.transfers, growth.accounts))
    load = ("--transfers", asked, "--accounts", over, "--connections", growth.CONNECTIONS)
    command = [str(word) for word in programs.bench_command(options, node, *load)]
    samples = []
    with tempfile.TemporaryFile("w+") as printed, programs.Watch(node) as watch:
        generator = subprocess.Popen(command, stdout=printed, stderr=subprocess.DEVNULL)
        while generator.poll() is None:
            samples.append((time.monotonic(), node_api.newest_version(addresses["api"])))
            time.sleep(1)
        printed.seek(0)
        report = json.load(printed)
    return {**report, **ends(samples), "cores_of_others": watch.cores_of_others}


def ends(samples):
    """How fast the load was at its beginning and its end; samples are moments and versions."""
    rates = [(later[1] - sooner[1]) / (later[0] - sooner[0]) for sooner, later in zip(samples, samples[1:])]
    loaded = [index for index, rate in enumerate(rates) if rate >= LOAD_SHARE * max(rates)]
    begin, end = loaded[0], loaded[-1] + 1
    span = max(min(MINUTE_SECONDS, (end - begin) // PARTS), 1)
    return {
        "first": rate(samples[begin], samples[begin + span]),
        "last": rate(samples[end - span], samples[end]),
        "span_seconds": span,
        "samples": samples,
    }


def rate(sooner, later):
    return (later[1] - sooner[1]) / (later[0] - sooner[0])


ROWS = [Long()]
