"""The row `parked`: what a long poll costs in memory while it waits.

So many are parked in one process, each on a connection and a transaction of its own that cannot be committed yet.
Measured is by how much resident memory grows from just before the first connection: the transactions are in the
pool by then. Afterwards all are released, which shows that each was waiting. The floor holds its first write
back; its handler parks on a oneshot.
"""

import time

import figures
import programs
import waits

WAITS = 19_000
# For memory that was freed to go back, and for what is under way to come to rest, in seconds.
SETTLE_SECONDS = 3
NODE, FLOOR = "node", "floor"


class Parked:
    name = "parked"
    title = f"{WAITS:,} long polls parked, resident memory each"
    unit = "bytes"
    rounds_max = None

    def measure(self, number, options, directory):
        waits.allow_connections(WAITS)
        runs = {}
        for name in figures.in_turns(number, (NODE, FLOOR)):
            fresh = directory.fresh()
            with programs.Process(command(name, options, fresh / "data", WAITS), fresh) as program:
                runs[name] = run = park(program, options)
            figures.progress(number, self.name, name, f"{run['bytes_each']:12,.0f} bytes each")
        return runs

    def summaries(self, rounds, options):
        names = (NODE, FLOOR)
        values = {name: [runs[name]["bytes_each"] for runs in rounds] for name in names}
        result = figures.result(self.name, self.title, self.unit, values)
        for name in names:
            before = figures.median(runs[name]["before_bytes"] for runs in rounds)
            result["programs"][name]["note"] = f"{before / 1e6:.0f} MB before"
            faulty = sum(runs[name]["committed"] != WAITS for runs in rounds)
            if faulty:
                result["remarks"].append(f"{name}: {faulty} runs DO NOT COUNT, not all were answered at the end")
        return [result]


def command(name, options, data, transfers):
    """A program that can park so many long polls, and answers all at once."""
    if name == NODE:
        return programs.node_command(options, data, *waits.settings(transfers))
    return programs.floor_command(options, data, "--hold", transfers + 1)


def park(program, options):
    with waits.Waits(options, program.addresses, WAITS) as load:
        load.reached("submitted")
        time.sleep(SETTLE_SECONDS)
        before = program.resident_bytes()
        load.go_on()
        load.reached("parked")
        time.sleep(SETTLE_SECONDS)
        parked = program.resident_bytes()
        load.go_on()
        report = load.report()
    each = (parked - before) / WAITS
    return {"bytes_each": each, "before_bytes": before, "parked_bytes": parked, "committed": report["committed"]}


ROWS = [Parked()]
