"""Row `block`: one block commits many awaited transactions; how long their responses take.

Each transaction is awaited on its own connection when the one that all others depend on is
submitted. The figure is the time from the first response to the last, as their reader receives
them. A note has the time before the first response, in which the node executes and writes a block,
and the floor writes and syncs. Connections are closed after the last response.

The figure is short, so other load can double it. A run of any program in which other programs used
the machine is repeated. The floor completes bare oneshots and sends one line. The node sends the
committed transaction in BCS.

The host of a virtual machine may have reclaimed free memory, and returning a page takes longer than
filling it. Memory is therefore touched before each run of any program.
"""

import mmap
import os

import figures
import node_api
import parked
import programs
import waits

WAITS = 10_000
# Maximum number of runs of a program per round, until one is not disturbed.
ATTEMPTS_MAX = 5
# A reader that is busier than this share of the time limits the figure.
BUSY_SHARE_MAX = 0.9
# The host must not have reclaimed all of it before the block commits. With 4 GiB, half of the runs
# waited for the host.
TOUCHED_BYTES = 10 << 30


class Block:
    name = "block"
    title = f"one block commits {WAITS:,} awaited transactions: first to last response"
    unit = "ms"
    rounds_max = None

    def measure(self, number, options, directory):
        waits.allow_connections(WAITS)
        runs = {}
        for contender in figures.in_turns(number, parked.contenders(options)):
            for _ in range(ATTEMPTS_MAX):
                runs[contender.name] = self.run(number, contender, options, directory)
                if not figures.is_disturbed(runs[contender.name]):
                    break
        return runs

    def run(self, number, contender, options, directory):
        touch_memory()
        with parked.start_waiting(contender, options, directory.fresh(), WAITS) as program:
            run = release(program, options)
        span = run["last_ms"] - run["first_ms"]
        others = ", disturbed: does not count" if figures.is_disturbed(run) else ""
        text = f"{span:12,.1f} ms, the first after {run['first_ms']:.1f}{others}"
        figures.progress(number, self.name, contender.name, text)
        return run

    def summaries(self, rounds, options):
        names = [contender.name for contender in parked.contenders(options)]
        spans = {
            name: [runs[name]["last_ms"] - runs[name]["first_ms"] for runs in rounds]
            for name in names
        }
        result = figures.result(self.name, self.title, self.unit, spans)
        for name in names:
            reports = [runs[name] for runs in rounds]
            first, size = (
                figures.median(run[key] for run in reports) for key in ("first_ms", "body_bytes")
            )
            result["programs"][name][
                "note"
            ] = f"first response {first:.0f} ms after the release, {size:,.0f} bytes each"
            result["remarks"] += remarks(name, reports)
        figures.add_costs(
            result, {name: [runs[name]["cost"] for runs in rounds] for name in names}, options
        )
        return [result]


def touch_memory():
    """Writes to free memory, at most half of it, so that the host provides its pages."""
    free_bytes = os.sysconf("SC_AVPHYS_PAGES") * mmap.PAGESIZE
    with mmap.mmap(
        -1, min(TOUCHED_BYTES, free_bytes // 2 // mmap.PAGESIZE * mmap.PAGESIZE)
    ) as memory:
        for page in range(0, len(memory), mmap.PAGESIZE):
            memory[page] = 1


def remarks(name, reports):
    of = f"of {len(reports)} runs"
    faulty = sum(run["committed"] != WAITS for run in reports)
    if faulty:
        yield f"{name}: {faulty} {of} DO NOT COUNT, some responses were not committed transactions"
    limited = sum(run["busy_share"] >= BUSY_SHARE_MAX for run in reports)
    if limited:
        yield f"{name}: the reader was the limit in {limited} {of}"
    several = sum(run["blocks"] > 1 for run in reports)
    if several:
        yield f"{name}: more than one block in {several} {of}"
    yield from figures.disturbed(name, reports)


def release(program, options):
    addresses = program.addresses
    with waits.Waits(options, addresses, WAITS) as load:
        load.reached("submitted")
        load.proceed()
        load.reached("parked")
        height = node_api.height(addresses["api"])
        with programs.Watch(program, load.process) as watch:
            load.proceed()
            report = load.report()
        return {
            **report,
            "blocks": node_api.height(addresses["api"]) - height,
            "cost": watch.usage.each(WAITS),
            "cores_of_others": watch.cores_of_others,
        }


ROWS = [Block()]
