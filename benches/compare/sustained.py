"""The rows `submit_sustained` and `await_sustained`: a load that goes on for ten minutes or more, in turns of a minute
with short runs of the floor.

The node is one process with one ledger, which grows, whose caches fill, and whose indices are merged; the floor keeps
nothing but a file that grows, so that it is as fast in its first seconds as later. A machine that others share drifts by
a third within minutes: each of the node's turns is held against the floor just before and after it, and counts only
if others left the machine alone in all three. While the floor has its turn the node is stopped, so that it catches up
on nothing.
"""

import copy

import figures
import load
import programs

# What the node's turns that count add up to, as long as a row that goes on for long is to go on.
SECONDS_DEFAULT = 600
TURN_SECONDS = 60
# So many times as many turns are tried on a machine that others do not leave alone.
TRIES = 2
NODE, FLOOR = "node", "floor"
# Before and after a turn.
AROUND = "floor around it"


class Sustained:
    unit = "committed/s"
    rounds_max = 1

    def __init__(self, short, node_rate_max):
        self.name = f"{short.name}_sustained"
        self.short = short
        self.turn = copy.copy(short)
        # So many transfers a second of the node are signed before.
        self.turn.rate_max = node_rate_max

    def measure(self, number, options, directory):
        of_turn = copy.copy(options)
        of_turn.seconds = min(TURN_SECONDS, options.sustain)
        wanted = options.sustain // of_turn.seconds
        runs = {NODE: [], FLOOR: [self.floor(number, options, directory)]}
        with programs.NODE.start(options, directory.fresh("sustained")) as node:
            while len(counting(runs)) < wanted and len(runs[NODE]) < wanted * TRIES:
                runs[NODE].append(programs.NODE.drive(node, self.turn, of_turn))
                self.progress(number, NODE, runs[NODE][-1])
                with node.stopped():
                    runs[FLOOR].append(self.floor(number, options, directory))
        return runs

    def floor(self, number, options, directory):
        run = programs.FLOOR.run(self.short, options, directory)
        self.progress(number, FLOOR, run)
        return run

    def progress(self, number, name, run):
        rate = f"{run['committed_per_second']:12,.2f} {self.unit:12} {load.cost(run)}"
        figures.progress(number, self.name, name, rate)

    def summaries(self, rounds, options):
        (runs,) = rounds
        rates = {name: [run["committed_per_second"] for run in runs[name]] for name in runs}
        count = counting(runs) or range(len(runs[NODE]))
        around = [(rates[FLOOR][turn] + rates[FLOOR][turn + 1]) / 2 for turn in count]
        shown = {NODE: [runs[NODE][turn] for turn in count], FLOOR: runs[FLOOR]}
        title = f"{self.short.title}, {len(count)} turns of {min(TURN_SECONDS, options.sustain)} s"
        values = {NODE: [rates[NODE][turn] for turn in count], AROUND: around}
        result = figures.result(self.name, title, self.unit, values)
        for name, of in ((NODE, NODE), (AROUND, FLOOR)):
            result["programs"][name].update(load.of_program(self.short, shown[of]))
            result["remarks"] += load.remarks(self.short, of, runs[of], options.busy_share)
        result["remarks"] += by_turn(runs, rates)
        return [result]


def counting(runs):
    """The node's turns in which others left the machine alone, and the floor's around them."""
    calm = {name: [not figures.is_disturbed(run) for run in runs[name]] for name in runs}
    around = zip(calm[NODE], calm[FLOOR], calm[FLOOR][1:])
    return [turn for turn, are_calm in enumerate(around) if all(are_calm)]


def by_turn(runs, rates):
    for name in runs:
        yield f"{name}: committed/s by turn: {' '.join(f'{rate:,.0f}' for rate in rates[name])}"
    left = sum(run["uncommitted"] for run in runs[NODE])
    count = " ".join(str(turn + 1) for turn in counting(runs))
    yield f"node: {left} uncommitted at the ends of its turns; those that count: {count or 'none, so all are shown'}"


BY_NAME = {row.name: row for row in load.ROWS}
ROWS = [Sustained(BY_NAME["submit"], 16_000), Sustained(BY_NAME["await"], 12_000)]
NAMES = [row.name for row in ROWS]
