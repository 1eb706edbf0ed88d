"""Rows `start`: the time from the start of the process to its first response.

The start uses an empty directory, a ledger that was stopped, or one whose node was killed under
load. Each round copies the directories, so that all rounds begin with the same ones. The copies are
synced and in the page cache.
"""

import http.client
import os
import subprocess
import time

import figures
import growth
import programs

# Time between two requests, in seconds.
REQUEST_INTERVAL_SECONDS = 0.001
# Time for the file system to finish other work, in seconds.
SETTLE_SECONDS = 2
# Load on the node before it is killed, in seconds.
KILLED_AFTER_SECONDS = 5
EMPTY, STOPPED, KILLED = "empty", "stopped", "killed"
TITLES = {EMPTY: "empty directory", STOPPED: "stopped ledger", KILLED: "ledger killed under load"}
START_MS_MAX = {EMPTY: 100, STOPPED: 500, KILLED: 1_500}


class Start:
    name = "start"
    unit = "ms"
    rounds_max = None

    def measure(self, number, options, directory):
        kept = directory.kept("start", lambda path: prepare(path, options))
        runs = {state: {} for state in START_MS_MAX}
        for state in figures.in_turns(number, START_MS_MAX):
            for contender in figures.in_turns(number, programs.contenders(options, programs.NODE)):
                fresh = directory.fresh()
                if state != EMPTY:
                    copy(kept / state, fresh / "data")
                runs[state][contender.name] = run = first_response(contender, options, fresh)
                figures.progress(
                    number, self.name, f"{contender.name}, {state}", f"{run['ms']:12,.1f} ms"
                )
        return runs

    def summaries(self, rounds, options):
        return [
            self.summary(state, [runs[state] for runs in rounds], options) for state in START_MS_MAX
        ]

    def summary(self, state, rounds, options):
        names = [contender.name for contender in programs.contenders(options, programs.NODE)]
        values = {name: [runs[name]["ms"] for runs in rounds] for name in names}
        title = f"first response after start, {TITLES[state]}"
        if state != EMPTY:
            title += f" of {growth.transfers(options):,} transfers"
        result = figures.result(f"{self.name}/{state}", title, self.unit, values)
        for name in names:
            allocated = figures.median(runs[name]["allocated_bytes"] for runs in rounds)
            result["programs"][name][
                "note"
            ] = f"at most {START_MS_MAX[state]:,} ms; {allocated / 1e6:,.0f} MB on the disk"
        figures.add_costs(
            result, {name: [runs[name]["cost"] for runs in rounds] for name in names}, options
        )
        return result


def prepare(path, options):
    """Creates a ledger that was stopped and one whose node was killed.

    The old build creates both if there is one, because each build can open them."""
    data = path / "data"
    contender = programs.contenders(options, programs.NODE)[-1]
    growth.fill(contender, path, options)
    copy(data, path / STOPPED)
    with contender.start(options, path) as node:
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
    """Copies a directory. Holes of files stay holes."""
    target.mkdir()
    subprocess.run(["cp", "--archive", "--sparse=always", f"{source}/.", target], check=True)


def first_response(contender, options, directory):
    """Measures the time from the start of a node to its first response."""
    # Earlier writes and deletions must not keep the disk busy while the node opens its files.
    os.sync()
    time.sleep(SETTLE_SECONDS)
    begin = time.perf_counter()
    with contender.start(options, directory) as node:
        address = node.addresses["api"].removeprefix("http://")
        while not responds(address):
            time.sleep(REQUEST_INTERVAL_SECONDS)
        took = time.perf_counter() - begin
        run = {
            "ms": took * 1e3,
            "allocated_bytes": growth.allocated_bytes(directory / "data"),
            "cost": node.usage().each(1),
        }
        # The time of a graceful stop is not measured.
        node.kill()
    return run


def responds(address):
    connection = http.client.HTTPConnection(address)
    try:
        connection.request("GET", "/v1")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


ROWS = [Start()]
