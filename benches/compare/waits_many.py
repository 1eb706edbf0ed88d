"""Row `waits_many`: the memory of waits that share requests, and the responses when they end.

A hundred requests wait for 10,000 transactions each, and each of 100,000 transactions is awaited
by ten requests. None can be committed, because each of ten accounts lacks its first one. The figure
is the growth of resident memory since the mempool holds the transactions, divided by the number of
waits. Then the first transactions are submitted one after the other. The blocks of each account end
100,000 of the waits, a tenth of each request. A balance is read meanwhile, by another process than
that of the waits.
"""

import multiprocessing
import time

import figures
import observers
import programs
import stock
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
# Interval of balance reads, in seconds.
READ_SECONDS = 0.002
# Time in which `ledger-wait-load` releases nothing, in seconds.
QUIET_SECONDS = 2
HEAD = [
    "waits",
    "bytes each",
    "at most",
    "MB before / with all waits / after",
    f"first outcome of {WAITS // ACCOUNTS:,}, ms",
    "last, ms",
    "balance read p50 / p99 / maximum, ms",
    "without releases",
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
        reading = Reading(node.addresses["api"])
        released_at = time.monotonic() + QUIET_SECONDS
        load.proceed()
        report = load.report()
        reads = reading.stop()
    return {
        **report,
        "quiet_reads": observers.quantiles(seconds for at, seconds in reads if at < released_at),
        "reads": observers.quantiles(seconds for at, seconds in reads if at >= released_at),
    }


class Reads(observers.Getter):
    """Reads a balance, and keeps the end of each read with its duration."""

    def __init__(self, url, is_stopped):
        path = f"/v1/accounts/0x1/balance/{stock.NATIVE_COIN}"
        super().__init__("balance", url, is_stopped, [path], READ_SECONDS)
        self.ended = []

    def observe(self):
        begin = time.monotonic()
        super().observe()
        end = time.monotonic()
        self.ended.append((end, end - begin))


class Reading:
    """The process that reads a balance."""

    def __init__(self, url):
        self.is_stopped = multiprocessing.Event()
        self.receiver, sender = multiprocessing.Pipe(duplex=False)
        self.process = multiprocessing.Process(
            target=read, args=(url, self.is_stopped, sender), daemon=True
        )
        self.process.start()

    def stop(self):
        """Returns the end and the duration of each read, in seconds."""
        self.is_stopped.set()
        ended = self.receiver.recv()
        self.process.join()
        return ended


def read(url, is_stopped, sender):
    reads = Reads(url, is_stopped)
    reads.run()
    sender.send(reads.ended)


def line(run):
    def over(name):
        found = figures.spread([release[name] for release in run["releases"]])
        return f"{found['median']:,.0f} ({found['min']:,.0f} to {found['max']:,.0f})"

    def quantiles(found):
        return " / ".join(f"{found[name]:.1f}" for name in ("p50_ms", "p99_ms", "max_ms"))

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
        over("first_ms"),
        over("last_ms"),
        quantiles(run["reads"]),
        quantiles(run["quiet_reads"]),
        ", ".join(failed) or "-",
    ]


ROWS = [WaitsMany()]
