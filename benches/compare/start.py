"""The row `start`: the time from the start of the process to its first answer.

Of an empty directory, of a ledger that was stopped, and of one whose node was killed under load. Each is copied for
every round, so that all begin with the same; what was copied is written out before, and lies in the page cache.
"""

import http.client
import os
import shutil
import subprocess
import time

import figures
import growth
import programs

# The time between two questions, in seconds.
ASK_INTERVAL_SECONDS = 0.001
# For the file system to come to rest.
SETTLE_SECONDS = 2
# A node is killed after so many seconds of load.
KILLED_AFTER_SECONDS = 5
EMPTY, STOPPED, KILLED = "empty directory", "stopped", "killed under load"
MUST_MS = {EMPTY: 100, STOPPED: 500, KILLED: 1_500}


class Start:
    name = "start"
    unit = "ms"
    rounds_max = None

    def measure(self, number, options, directory):
        kept = directory.kept("start", lambda path: prepare(path, options))
        runs = {}
        for state in figures.in_turns(number, MUST_MS):
            fresh = directory.fresh()
            if state != EMPTY:
                copy(kept / state, fresh / "data")
            runs[state] = run = first_answer(options, fresh)
            figures.progress(number, self.name, state, f"{run['ms']:12,.1f} ms")
        return runs

    def summaries(self, rounds, options):
        values = {state: [runs[state]["ms"] for runs in rounds] for state in MUST_MS}
        title = f"first answer after start; {growth.transfers(options):,} transfers"
        result = figures.result(self.name, title, self.unit, values)
        for state, must in MUST_MS.items():
            allocated = figures.median(runs[state]["allocated_bytes"] for runs in rounds)
            result["programs"][state]["note"] = f"at most {must:,} ms; {allocated / 1e6:,.0f} MB on the disk"
        # They are beside each other, not held against each other.
        result["ratios"] = {}
        return [result]


def prepare(path, options):
    """A ledger as a stop leaves it, and as a kill does."""
    data = path / "data"
    growth.fill(data, path, options)
    copy(data, path / STOPPED)
    with programs.Process(programs.node_command(options, data), path) as node:
        load = ("--connections", 256, "--accounts", 2_000, "--duration", 600)
        command = programs.bench_command(options, node, *load)
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        generator = subprocess.Popen([str(word) for word in command], **quiet)
        time.sleep(KILLED_AFTER_SECONDS)
        node.kill()
        generator.kill()
        generator.wait()
    data.rename(path / KILLED)


def copy(source, target):
    """A copy that takes as much of the disk."""
    target.mkdir()
    subprocess.run(["cp", "--archive", "--sparse=always", f"{source}/.", target], check=True)


def first_answer(options, directory):
    """How long a node takes until it answers, of which its ready line tells where."""
    # What was written or deleted before is not to keep the disk busy while the node opens its files.
    os.sync()
    time.sleep(SETTLE_SECONDS)
    begin = time.perf_counter()
    with programs.Process(programs.node_command(options, directory / "data"), directory) as node:
        address = node.addresses["api"].removeprefix("http://")
        while not answers(address):
            time.sleep(ASK_INTERVAL_SECONDS)
        took = time.perf_counter() - begin
        run = {"ms": took * 1e3, "allocated_bytes": growth.allocated_bytes(directory / "data")}
        # What it would do at a stop is not measured.
        node.kill()
    return run


def answers(address):
    connection = http.client.HTTPConnection(address)
    try:
        connection.request("GET", "/v1")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


ROWS = [Start()]
