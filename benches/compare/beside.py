"""Row `beside`: observers of a node beside a load of another client.

Each load runs on a node of its own with a copy of the same ledger, in turns with no load and with a
harmless one: balance reads at a rate that takes the same processor time of the node. All generators
run at nice 19 and from another address than the observers. A load passes if the p99 of each
observer is at most 100 ms or five times its p99 beside the harmless load, the commit of a polite
account takes at most twice as long (p50), no observer is rejected or gets another error, and
resident memory is within the sum of limits that the node logs.
"""

import contextlib
import json
import pathlib
import re
import time

import assaults
import figures
import machine
import observers
import programs
import sender
import signing
import start
import stock

NAME = "beside"
ALONE, LOAD, HARMLESS = "alone", "load", "harmless"
OBSERVERS = ("balance", "health", "page", "large_page")
LATENCY_MS_MAX, LATENCY_RATIO_MAX, COMMIT_RATIO_MAX = 100, 5, 2
# A commit as fast as this passes: the difference is one turn of the scheduler.
COMMIT_MS_MIN = 20
# Time of a load before the observers start, in seconds.
LEAD_SECONDS = 1
# A node is idle if its threads want less than this share of a core during this time.
IDLE_CORES, IDLE_SECONDS, IDLE_WAIT_SECONDS = 0.3, 0.5, 60
MEMORY_BYTES = re.compile(r"memory_bytes_max=(\d+)")
HEAD = [
    "load",
    *(f"{observer} p99 ms: load / harmless / alone" for observer in OBSERVERS),
    "polite commit p50 ms",
    "polite commit p99 ms",
    "memory MB / limit",
    "node cores: load / harmless",
    "responses / s",
    "idle after s",
    "failed",
]


class Beside:
    name = NAME
    rounds_max = None

    def __init__(self):
        # Cores that the node used under each load in the last round.
        self.cores = {}

    def measure(self, number, options, directory):
        kept = directory.kept("stock", lambda path: stock.prepare(path, options))
        runs = {}
        for name in chosen(options):
            fresh = directory.fresh()
            start.copy(kept / "data", fresh / "data")
            ledger = json.loads((kept / "ledger.json").read_text())
            runs[name] = self.measure_load(number, name, ledger, options, fresh)
        return runs

    def measure_load(self, number, name, ledger, options, directory):
        assault = assaults.ALL[name]
        run = {}
        with programs.NODE.start(options, directory, *assault.settings) as node:
            api = node.addresses["api"]
            ledger["polite"] = stock.POLITE
            if assault.prepare:
                client = signing.Client(node.addresses)
                assault.prepare(client, ledger)
                client.close()
            phases = [ALONE, LOAD, HARMLESS]
            for phase in phases if number % 2 == 0 else [HARMLESS, LOAD, ALONE]:
                loads = {
                    ALONE: None,
                    LOAD: lambda: sender.Running(api, assault.load(ledger)),
                    HARMLESS: lambda: sender.Running(
                        api, assaults.balances(ledger), node.pid, self.cores.get(name, 1.0)
                    ),
                }
                run[phase] = observed(node, loads[phase], ledger, options)
                if phase == LOAD:
                    self.cores[name] = run[phase]["cores"]
                text = json.dumps(short(run[phase]))
                figures.progress(number, name, phase, text)
            node.log.flush()
            node.log.seek(0)
            found = MEMORY_BYTES.search(re.sub(r"\x1b\[[0-9;]*m", "", node.log.read()))
            run["memory_bytes_max"] = int(found.group(1)) if found else 0
        return run

    def summaries(self, rounds, _options):
        results = [summary(name, [runs[name] for runs in rounds]) for name in rounds[0]]
        return [{"name": self.name, "head": HEAD, "lines": [line(result) for result in results]}]


def chosen(options):
    return options.loads or list(assaults.ALL)


def observed(node, load, ledger, options):
    """Returns what observers see during one phase, and what the node used."""
    until_idle(node)
    reset_peak(node)
    running = load() if load else None
    time.sleep(LEAD_SECONDS)
    if running:
        running.mark()
    watch = observers.Running(node.addresses["api"], ledger)
    begin, cpu, used = time.monotonic(), programs.cpu_seconds(node.pid), node.usage()
    time.sleep(options.seconds)
    seconds = time.monotonic() - begin
    cores = (programs.cpu_seconds(node.pid) - cpu) / seconds
    by_thread = node.usage().since(used).cpu_us_by_thread
    report = running.stop() if running else {}
    ended = time.monotonic()
    seen = watch.stop()
    until_idle(node)
    return {
        "observers": seen,
        "cores": cores,
        "cores_by_thread": {
            name: round(used / 1e6 / seconds, 2) for name, used in by_thread.most_common(5)
        },
        "peak_bytes": peak_bytes(node),
        "load": report,
        "responses_per_second": report.get("per_second", {}),
        "reasons": report.get("reasons", {}),
        "idle_after_seconds": time.monotonic() - ended - IDLE_SECONDS,
    }


def until_idle(node):
    """Waits until the node has finished what it was asked for."""
    end = time.monotonic() + IDLE_WAIT_SECONDS
    while time.monotonic() < end:
        before = wanted_seconds(node)
        time.sleep(IDLE_SECONDS)
        if wanted_seconds(node) - before < IDLE_CORES * IDLE_SECONDS:
            return


def wanted_seconds(node):
    """Returns the time in which the node's threads have run or waited for a core, in seconds.

    Beside other programs, a busy node may use little processor time."""
    wanted_ns = 0
    for path in pathlib.Path(f"/proc/{node.pid}/task").glob("*/schedstat"):
        with contextlib.suppress(OSError):
            running_ns, waiting_ns, _ = map(int, path.read_text().split())
            wanted_ns += running_ns + waiting_ns
    return wanted_ns / 1e9


def reset_peak(node):
    """Resets the peak of resident memory (`clear_refs` of proc(5))."""
    with open(f"/proc/{node.pid}/clear_refs", "w") as file:
        file.write("5")


def peak_bytes(node):
    """Returns the peak of resident memory since `reset_peak`."""
    text = machine.of_proc(f"/proc/{node.pid}/status", "VmHWM")
    return int(text.removesuffix("kB")) * 1024


def short(phase):
    """Returns the figures of a progress line."""
    seen = phase["observers"]
    latencies = {name: round(seen[name]["p99_ms"], 1) for name in seen}
    failed = {
        name: (seen[name]["rejected"], seen[name]["other"])
        for name in seen
        if seen[name]["rejected"] or seen[name]["other"]
    }
    return {
        "p99": latencies,
        "commit_p50": round(seen["polite"]["p50_ms"], 1),
        "cores": round(phase["cores"], 2),
        "threads": phase["cores_by_thread"],
        "peak_mb": phase["peak_bytes"] // 1_000_000,
        "responses": {key: round(value) for key, value in phase["responses_per_second"].items()},
        **({"reasons": phase["reasons"]} if phase["reasons"] else {}),
        "idle_after": round(phase["idle_after_seconds"], 1),
        **({"rejected_other": failed} if failed else {}),
        **({"wait_requests": seen["wait"]["requests"]} if "wait" in seen else {}),
    }


def summary(name, runs):
    """Returns the medians of a load and the limits that it exceeds."""

    def median(phase, value):
        return figures.median(value(run[phase]) for run in runs)

    latencies = {
        observer: {
            phase: median(phase, lambda of, observer=observer: of["observers"][observer]["p99_ms"])
            for phase in (LOAD, HARMLESS, ALONE)
        }
        for observer in OBSERVERS
    }
    commits = {
        quantile: {
            phase: median(phase, lambda of, key=quantile: of["observers"]["polite"][key])
            for phase in (LOAD, HARMLESS, ALONE)
        }
        for quantile in observers.QUANTILES
    }
    memory_max = runs[0]["memory_bytes_max"]
    memory = max(run[LOAD]["peak_bytes"] for run in runs)
    failed = [
        observer
        for observer, found in latencies.items()
        if found[LOAD] > max(LATENCY_MS_MAX, LATENCY_RATIO_MAX * found[HARMLESS])
    ]
    commit = commits["p50_ms"]
    if commit[LOAD] > max(COMMIT_RATIO_MAX * commit[HARMLESS], COMMIT_MS_MIN):
        failed.append("commit")
    if memory > memory_max:
        failed.append("memory")
    for kind in ("rejected", "other"):
        count = sum(seen[kind] for run in runs for seen in run[LOAD]["observers"].values())
        if count:
            failed.append(f"{count} {kind}")
    waits = [run[LOAD]["observers"].get("wait") for run in runs]
    if all(waits):
        per_second = figures.median(seen["requests"] / seen["seconds"] for seen in waits)
        if per_second > 2:
            failed.append(f"{per_second:.0f} waits/s")
    return {
        "name": name,
        "latencies": latencies,
        "commits": commits,
        "memory_bytes": memory,
        "memory_bytes_max": memory_max,
        "cores": {phase: median(phase, lambda of: of["cores"]) for phase in (LOAD, HARMLESS)},
        "responses": runs[0][LOAD]["responses_per_second"],
        "idle_after": median(LOAD, lambda of: of["idle_after_seconds"]),
        "failed": failed,
    }


def line(result):
    def three(found):
        return " / ".join(f"{found[phase]:,.1f}" for phase in (LOAD, HARMLESS, ALONE))

    cores = result["cores"]
    return [
        f"`{result['name']}`: {assaults.ALL[result['name']].title}",
        *(three(found) for found in result["latencies"].values()),
        *(three(found) for found in result["commits"].values()),
        f"{result['memory_bytes'] / 1e6:,.0f} / {result['memory_bytes_max'] / 1e6:,.0f}",
        f"{cores[LOAD]:.2f} / {cores[HARMLESS]:.2f}",
        ", ".join(f"{status}: {count:,.0f}" for status, count in result["responses"].items()),
        f"{result['idle_after']:.1f}",
        ", ".join(result["failed"]) or "-",
    ]


ROWS = [Beside()]
