"""Row `long`: the speed of a pruning node after many transfers, compared with its first minute.

The version of the node is read every second. The first and the last minute are those of the load.
The seconds before it, in which accounts are funded, commit few transactions.
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
# Share of all transfers that pruning retains.
WINDOW_SHARE = 0.2
MINUTE_SECONDS = 60
# Parts of a run that is too short for minutes.
PARTS = 4
# The load begins with the first second that commits at least this share of the fastest one.
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
            run = run_load(node, options)
            run["resident_bytes"] = node.resident_bytes()
            run["allocated_bytes"] = growth.allocated_bytes(fresh / "data")
        figures.progress(
            number,
            self.name,
            "node",
            f"{run['first']:,.0f}/s first, {run['last']:,.0f}/s at the end",
        )
        return {"node": run}

    def summaries(self, rounds, options):
        runs = [found["node"] for found in rounds]
        transfers, accounts = (
            count(options, TRANSFERS) for count in (growth.transfers, growth.accounts)
        )
        title = f"{transfers:,} transfers over {accounts:,} accounts, pruned to {WINDOW_SHARE:.0%}"
        values = {LAST: [run["last"] for run in runs], FIRST: [run["first"] for run in runs]}
        result = figures.result(self.name, title, self.unit, values)
        resident, disk = (
            figures.median(run[key] for run in runs)
            for key in ("resident_bytes", "allocated_bytes")
        )
        result["programs"][LAST][
            "note"
        ] = f"{resident / 1e6:,.0f} MB resident, {disk / 1e6:,.0f} MB on the disk"
        result["programs"][FIRST][
            "note"
        ] = f"of {figures.median(run['span_seconds'] for run in runs):.0f} s each"
        result["remarks"] += growth.remarks("node", runs)
        return [result]


def run_load(node, options):
    """Loads a node, reads its version every second, and returns the report with both speeds."""
    addresses = node.addresses
    transfers, accounts = (
        count(options, TRANSFERS) for count in (growth.transfers, growth.accounts)
    )
    load = ("--transfers", transfers, "--accounts", accounts, "--connections", growth.CONNECTIONS)
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
    """Returns the speed at both ends of the load. A sample is a pair of a time and a version."""
    rates = [
        (later[1] - sooner[1]) / (later[0] - sooner[0])
        for sooner, later in zip(samples, samples[1:])
    ]
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
