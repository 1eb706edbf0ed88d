"""Row `costs`: the most expensive requests of every route, by the processor time of the node.

A client sends each request of a list repeatedly over one connection, one at a time. The figure is
the processor time of all threads of the node for one request. The other columns have the bytes of
the request and of its response, the time to the response, and the growth of resident memory during
the first request. The node has no response cache, because a client can always vary its requests.
"""

import contextlib
import itertools
import json
import pathlib
import time

import expensive
import figures
import machine
import many
import programs
import start
import stock
import wire

NAME = "costs"
# Settings with which each request has its full cost.
SETTINGS = ("api.response_cache_bytes_max=0", "storage.scrub_hours=0")
# Time for which a request is repeated, in seconds, and its minimum and maximum number.
REPEAT_SECONDS = 1.0
REPEATS_MIN, REPEATS_MAX = 5, 2_000
# A node is idle if its threads want less than this share of a core during this time.
IDLE_CORES, IDLE_SECONDS, IDLE_WAIT_SECONDS = 0.3, 0.5, 60
# Requests of each kind before a measurement.
WARM_UP = 3
HEAD = [
    "request",
    "status",
    "bytes in",
    "bytes out",
    "CPU us",
    "CPU us / byte in",
    "out / in",
    "ms",
    "memory MB",
    "threads",
]


class Costs:
    name = NAME
    rounds_max = None

    def measure(self, number, options, directory):
        kept = directory.kept("stock", lambda path: stock.prepare(path, options))
        fresh = directory.fresh()
        start.copy(kept / "data", fresh / "data")
        ledger = json.loads((kept / "ledger.json").read_text())
        runs = {}
        for request in requests(ledger, options.requests):
            # A node of its own, because memory that an earlier request used is not returned.
            with programs.NODE.start(options, fresh, *SETTINGS) as node:
                client = wire.Connection(node.addresses["api"])
                for path in (*ledger["balances"][:WARM_UP], *ledger["pages"][:WARM_UP]):
                    client.exchange(wire.get(path))
                runs[request.name] = run = cost(node, client, request)
                client.close()
            text = f"{run['status']} {run['cpu_us']:12,.0f} us"
            figures.progress(number, self.name, request.name, text)
        return runs

    def summaries(self, rounds, _options):
        rows = [
            {
                **rounds[0][name],
                "name": name,
                "cpu_us": figures.median(runs[name]["cpu_us"] for runs in rounds),
                "ms": figures.median(runs[name]["ms"] for runs in rounds),
                "memory_bytes": figures.median(runs[name]["memory_bytes"] for runs in rounds),
            }
            for name in rounds[0]
        ]
        rows.sort(key=lambda row: -row["cpu_us"] / row["bytes_in"])
        return [{"name": self.name, "head": HEAD, "lines": [line(row) for row in rows]}]


def requests(ledger, parts=()):
    """Yields the requests whose name has one of `parts`, or all."""
    for request in itertools.chain(expensive.requests(ledger), many.requests(ledger)):
        if not parts or any(part in request.name for part in parts):
            yield request


def cost(node, client, request):
    """Returns the cost of one request."""
    until_idle(node)
    reset_peak(node)
    resident = node.resident_bytes()
    status, _ = client.exchange(request.next())
    held = max(peak_bytes(node) - resident, 0)
    for _ in range(WARM_UP):
        client.exchange(request.next())
    used, cpu = node.usage(), programs.cpu_seconds(node.pid)
    begin, count, bytes_in = time.monotonic(), 0, 0
    while count < REPEATS_MIN or (
        time.monotonic() - begin < REPEAT_SECONDS and count < REPEATS_MAX
    ):
        message = request.next()
        bytes_in += len(message)
        last, body = client.exchange(message)
        status = last if last != 200 else status
        count += 1
    seconds = time.monotonic() - begin
    # The time of threads that ended meanwhile is missing in the usage by thread.
    usage = node.usage().since(used)
    threads = usage.each(count)
    return {
        "status": status,
        "bytes_in": bytes_in // count,
        "bytes_out": len(body),
        "cpu_us": max(threads["cpu_us"], 0.0),
        "cpu_us_by_clock": (programs.cpu_seconds(node.pid) - cpu) / count * 1e6,
        "by_thread": dict(
            sorted(threads["cpu_us_by_thread"].items(), key=lambda item: -item[1])[:3]
        ),
        "ms": seconds / count * 1e3,
        "memory_bytes": held,
        "count": count,
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


def line(row):
    by_thread = ", ".join(
        f"{name} {used:,.0f}" for name, used in row["by_thread"].items() if used >= 1
    )
    return [
        f"`{row['name']}`",
        str(row["status"]),
        f"{row['bytes_in']:,}",
        f"{row['bytes_out']:,}",
        f"{row['cpu_us']:,.0f}",
        f"{row['cpu_us'] / row['bytes_in']:.2f}",
        f"{row['bytes_out'] / row['bytes_in']:,.1f}",
        f"{row['ms']:,.2f}",
        f"{row['memory_bytes'] / 1e6:,.1f}",
        by_thread,
    ]


ROWS = [Costs()]
