"""The row `block`: one block commits many awaited transactions; how long their answers take.

Every transaction is awaited on a connection of its own when the one that all depend on is submitted. The figure is
the time from the first answer to the last, as their reader sees it: what comes before the first (for the node a
block that is executed and written, for the floor a write and its sync) is the business of other rows, and is told
beside it. Connections are closed when all have come. Others have only to use the machine for a moment to double
so short a time: a run in which they did is tried again, of either program. The floor wakes bare oneshots and answers a
line; the node answers the committed transaction, in BCS as the
generator's clients read it (`block`), and in JSON (`block_json`).

On a virtual machine free memory may have gone back to its host, which then takes longer to give each page than the
program takes to fill it: memory is touched before each run, of either program.
"""

import mmap
import os

import figures
import node_api
import parked
import programs
import waits

WAITS = 10_000
# So often a round tries each program, until others leave the machine alone meanwhile.
TRIES = 5
# A reader that is so busy is what the time is spent on.
BUSY_SHARE_MAX = 0.9
# So much that the host has not taken all of it back when the block is committed: with 4 GiB half of the runs waited for it.
TOUCHED_BYTES = 10 << 30


class Block:
    unit = "ms"
    rounds_max = None

    def __init__(self, name, accept):
        self.name = name
        self.accept = accept
        self.title = f"one block commits {WAITS:,} awaited transactions, answers in {accept.upper()}: first to last answer"

    def measure(self, number, options, directory):
        waits.allow_connections(WAITS)
        runs = {}
        for name in figures.in_turns(number, (parked.NODE, parked.FLOOR)):
            for _ in range(TRIES):
                runs[name] = self.run(number, name, options, directory)
                if not figures.is_disturbed(runs[name]):
                    break
        return runs

    def run(self, number, name, options, directory):
        touch_memory()
        fresh = directory.fresh()
        with programs.Process(parked.command(name, options, fresh / "data", WAITS), fresh) as program:
            run = release(program, options, self.accept)
        span = run["last_ms"] - run["first_ms"]
        others = ", others used the machine: does not count" if figures.is_disturbed(run) else ""
        figures.progress(number, self.name, name, f"{span:12,.1f} ms, the first after {run['first_ms']:.1f}{others}")
        return run

    def summaries(self, rounds, options):
        names = (parked.NODE, parked.FLOOR)
        spans = {name: [runs[name]["last_ms"] - runs[name]["first_ms"] for runs in rounds] for name in names}
        result = figures.result(self.name, self.title, self.unit, spans)
        for name in names:
            reports = [runs[name] for runs in rounds]
            first, size = (figures.median(run[key] for run in reports) for key in ("first_ms", "body_bytes"))
            note = f"first answer {first:.0f} ms after the release, {size:,.0f} bytes each"
            result["programs"][name]["note"] = f"{note}; ms of CPU by thread: {by_thread(reports)}"
            result["remarks"] += remarks(name, reports)
        return [result]


def touch_memory():
    """Has the system own memory that it can give at once: at most half of what is free."""
    free_bytes = os.sysconf("SC_AVPHYS_PAGES") * mmap.PAGESIZE
    with mmap.mmap(-1, min(TOUCHED_BYTES, free_bytes // 2 // mmap.PAGESIZE * mmap.PAGESIZE)) as memory:
        for page in range(0, len(memory), mmap.PAGESIZE):
            memory[page] = 1


def remarks(name, reports):
    of = f"of {len(reports)} runs"
    faulty = sum(run["committed"] != WAITS for run in reports)
    if faulty:
        yield f"{name}: {faulty} {of} DO NOT COUNT, not all were answered as committed"
    limited = sum(run["busy_share"] >= BUSY_SHARE_MAX for run in reports)
    if limited:
        yield f"{name}: the reader was the limit in {limited} {of}"
    several = sum(run["blocks"] > 1 for run in reports)
    if several:
        yield f"{name}: more than one block in {several} {of}"
    yield from figures.disturbed(name, reports)


def by_thread(reports):
    """Medians of what the busiest threads used from the release to the last answer."""
    names = {name for run in reports for name in run["cpu_ms_by_thread"]}
    used = {name: figures.median(run["cpu_ms_by_thread"].get(name, 0) for run in reports) for name in names}
    return ", ".join(f"{name} {used[name]:.0f}" for name in sorted(used, key=used.get, reverse=True) if used[name] >= 1)


def release(program, options, accept):
    addresses = program.addresses
    with waits.Waits(options, addresses, WAITS, accept) as load:
        load.reached("submitted")
        load.go_on()
        load.reached("parked")
        height = node_api.height(addresses["api"])
        used = program.cpu_ms_by_thread()
        with programs.Watch(program, load.process) as watch:
            load.go_on()
            report = load.report()
        return {
            **report,
            "blocks": node_api.height(addresses["api"]) - height,
            "cpu_ms_by_thread": program.cpu_ms_by_thread() - used,
            "cores_of_others": watch.cores_of_others,
        }


ROWS = [Block("block", "bcs"), Block("block_json", "json")]
