"""Row `waits_many`: the memory of waits that share requests, and the responses when they end.

A hundred requests wait for 10,000 transactions each, and each of 100,000 transactions is awaited
by ten requests. None can be committed, because each of ten accounts lacks its first one. The figure
is the growth of resident memory since the mempool holds the transactions, divided by the number of
waits. Then the first transactions are submitted one after the other. The blocks of each account end
100,000 of the waits, a tenth of each request. A balance is read meanwhile, by a thread of its own.
"""

import time

import figures
import programs
import waits

NAME = "waits_many"
TRANSACTIONS, REQUESTS, HASHES, ACCOUNTS = 100_000, 100, 10_000, 10
WAITS = REQUESTS * HASHES
SETTINGS = (
    # The clients of one address may use seven eighths.
    f"wait.capacity={WAITS * 8 // 7 + 1_000}",
    "wait.timeout_max_ms=600000",
    f"mempool.capacity_per_account={TRANSACTIONS // ACCOUNTS + 1}",
    "storage.scrub_hours=0",
)
BYTES_MAX = 512
# Time for the allocator to return freed memory, in seconds.
SETTLE_SECONDS = 3
HEAD = [
    "waits",
    "bytes each",
    "at most",
    "MB before / with all waits / after",
    f"first outcome of {WAITS // ACCOUNTS:,}, ms",
    "last, ms",
    "balance read p50, ms",
    "p99, ms",
    "maximum, ms",
    "p50 / p99 / maximum without releases, ms",
    "failed",
]


class WaitsMany:
    name = NAME
    rounds_max = None

    def measure(self, number, options, directory):
        with programs.NODE.start(options, directory.fresh(), *SETTINGS) as node:
            run = measured(node, options)
        text = f"{run['resident_bytes_per_wait']:12,.0f} bytes each {run}"
        figures.progress(number, self.name, programs.NODE.name, text)
        return run

    def summaries(self, rounds, _options):
        return [{"name": self.name, "head": HEAD, "lines": [line(run) for run in rounds]}]


def measured(node, options):
    size = {"--requests": REQUESTS, "--hashes": HASHES, "--accounts": ACCOUNTS, "--pid": node.pid}
    words = [word for option in size.items() for word in option]
    with waits.Waits(options, node.addresses, TRANSACTIONS, more=words) as load:
        load.reached("submitted")
        time.sleep(SETTLE_SECONDS)
        load.proceed()
        load.reached("parked")
        time.sleep(SETTLE_SECONDS)
        load.proceed()
        return load.report()


def line(run):
    def over(values):
        found = figures.spread(list(values))
        return f"{found['median']:,.1f} ({found['min']:,.1f} to {found['max']:,.1f})"

    def releases(name):
        return over(release[name] for release in run["releases"])

    def reads(name):
        return over(release["reads"][name] for release in run["releases"])

    quantiles = ("p50_ms", "p99_ms", "max_ms")
    memory = ("before", "waiting", "after")
    failed = []
    if run["resident_bytes_per_wait"] > BYTES_MAX:
        failed.append("memory")
    if run["committed"] != WAITS or run["summaries"] != REQUESTS:
        failed.append(f"{WAITS - run['committed']} not committed")
    return [
        f"{run['waits']:,}",
        f"{run['resident_bytes_per_wait']:,.0f}",
        str(BYTES_MAX),
        " / ".join(f"{run[f'resident_bytes_{name}'] / 1e6:,.0f}" for name in memory),
        releases("first_ms"),
        releases("last_ms"),
        *map(reads, quantiles),
        " / ".join(f"{run['quiet'][name]:.2f}" for name in quantiles),
        ", ".join(failed) or "-",
    ]


ROWS = [WaitsMany()]
