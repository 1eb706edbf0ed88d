"""Row `block`: one block commits many awaited transactions; how long their responses take.

Each transaction is awaited on its own connection when the one that all others depend on is submitted. The figure is
the time from the first response to the last, as their reader sees it. Other rows measure what happens before the
first response: the node executes and writes a block, the floor writes and syncs; it is printed as a note.
Connections are closed after the last response. The figure is so short that a moment of other load doubles it: a run
in which other programs used the machine is repeated, for any program. The floor wakes bare oneshots and answers one
line; the node answers the committed transaction, in BCS as the generator's clients read it (`block`) or in JSON
(`block_json`).

On a virtual machine free memory may have been returned to the host, which then takes longer to provide each page
than the program takes to fill it. Memory is touched before each run of any program.
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
TRIES = 5
# A reader that is busier than this share of the time limits the figure.
BUSY_SHARE_MAX = 0.9
# Enough that the host has not reclaimed all of it before the block commits; with 4 GiB half of the runs had to wait.
TOUCHED_BYTES = 10 << 30


class Block:
    unit = "ms"
    rounds_max = None

    def __init__(self, name, accept):
        self.name = name
        self.accept = accept
        form = accept.upper()
        self.title = f"one block commits {WAITS:,} awaited transactions, responses in {form}: first to last response"

    def measure(self, number, options, directory):
        waits.allow_connections(WAITS)
        runs = {}
        for contender in figures.in_turns(number, parked.contenders(options)):
            for _ in range(TRIES):
                runs[contender.name] = self.run(number, contender, options, directory)
                if not figures.is_disturbed(runs[contender.name]):
                    break
        return runs

    def run(self, number, contender, options, directory):
        touch_memory()
        with parked.start_waiting(contender, options, directory.fresh(), WAITS) as program:
            run = release(program, options, self.accept)
        span = run["last_ms"] - run["first_ms"]
        others = ", disturbed: does not count" if figures.is_disturbed(run) else ""
        text = f"{span:12,.1f} ms, the first after {run['first_ms']:.1f}{others}"
        figures.progress(number, self.name, contender.name, text)
        return run

    def summaries(self, rounds, options):
        names = [contender.name for contender in parked.contenders(options)]
        spans = {name: [runs[name]["last_ms"] - runs[name]["first_ms"] for runs in rounds] for name in names}
        result = figures.result(self.name, self.title, self.unit, spans)
        for name in names:
            reports = [runs[name] for runs in rounds]
            first, size = (figures.median(run[key] for run in reports) for key in ("first_ms", "body_bytes"))
            result["programs"][name]["note"] = f"first response {first:.0f} ms after the release, {size:,.0f} bytes each"
            result["remarks"] += remarks(name, reports)
        figures.add_costs(result, {name: [runs[name]["cost"] for runs in rounds] for name in names}, options)
        return [result]


def touch_memory():
    """Has the host provide memory in advance, at most half of what is free."""
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


def release(program, options, accept):
    addresses = program.addresses
    with waits.Waits(options, addresses, WAITS, accept) as load:
        load.reached("submitted")
        load.go_on()
        load.reached("parked")
        height = node_api.height(addresses["api"])
        with programs.Watch(program, load.process) as watch:
            load.go_on()
            report = load.report()
        return {
            **report,
            "blocks": node_api.height(addresses["api"]) - height,
            "cost": watch.usage.each(WAITS),
            "cores_of_others": watch.cores_of_others,
        }


ROWS = [Block("block", "bcs"), Block("block_json", "json")]
