"""Row `parked`: the memory of one waiting long poll.

Many long polls wait in one process, each on its own connection for its own transaction, which
cannot be committed yet. The figure is the growth of resident memory since the time before the first
connection, when the mempool already holds the transactions. Releasing all of them at the end proves
that each was waiting. The floor delays its first write, and its handler waits for a oneshot.
"""

import time

import figures
import programs
import waits

# With OTHER_FILES below a limit of 20,000 open files.
WAITS = 17_500
# Time for the allocator to return freed memory and for requests in flight to finish, in seconds.
SETTLE_SECONDS = 3


class Parked:
    name = "parked"
    title = f"{WAITS:,} long polls waiting, resident memory each"
    unit = "bytes"
    rounds_max = None

    def measure(self, number, options, directory):
        waits.allow_connections(WAITS)
        runs = {}
        for contender in figures.in_turns(number, contenders(options)):
            with start_waiting(contender, options, directory.fresh(), WAITS) as program:
                runs[contender.name] = run = park(program, options)
            figures.progress(
                number, self.name, contender.name, f"{run['bytes_each']:12,.0f} bytes each"
            )
        return runs

    def summaries(self, rounds, options):
        names = [contender.name for contender in contenders(options)]
        values = {name: [runs[name]["bytes_each"] for runs in rounds] for name in names}
        result = figures.result(self.name, self.title, self.unit, values)
        for name in names:
            before = figures.median(runs[name]["before_bytes"] for runs in rounds)
            result["programs"][name]["note"] = f"{before / 1e6:.0f} MB before"
            faulty = sum(runs[name]["committed"] != WAITS for runs in rounds)
            if faulty:
                result["remarks"].append(
                    f"{name}: {faulty} runs DO NOT COUNT, some long polls were not completed"
                )
        figures.add_costs(
            result, {name: [runs[name]["cost"] for runs in rounds] for name in names}, options
        )
        return [result]


def contenders(options):
    return programs.contenders(options, programs.NODE, programs.FLOOR)


def start_waiting(contender, options, directory, transfers):
    """Starts a program that can hold `transfers` long polls and completes them with one block."""
    if contender is programs.FLOOR:
        return contender.start(options, directory, "--hold", transfers + 1)
    return contender.start(options, directory, *waits.settings(transfers))


def park(program, options):
    with waits.Waits(options, program.addresses, WAITS) as load:
        load.reached("submitted")
        time.sleep(SETTLE_SECONDS)
        before, used = program.resident_bytes(), program.usage()
        load.proceed()
        load.reached("parked")
        time.sleep(SETTLE_SECONDS)
        parked = program.resident_bytes()
        load.proceed()
        report = load.report()
        cost = program.usage().since(used).each(WAITS)
    each = (parked - before) / WAITS
    committed = report["committed"]
    return {
        "bytes_each": each,
        "before_bytes": before,
        "parked_bytes": parked,
        "committed": committed,
        "cost": cost,
    }


ROWS = [Parked()]
