"""Rows `submit_sustained` and `await_sustained`: ten minutes of load or more, in turns of a minute.

The node is one process with one ledger. The ledger grows, caches fill, and indices are merged. The
floor writes to a file only, so it is as fast in its first seconds as later, and its runs are short.

The speed of a shared machine drifts by a third within minutes. Each turn of the node is therefore
compared with the floor before and after it, and counts only if other programs left the machine idle
in all three. During a run of the floor the node is suspended, so that it cannot do deferred work.
"""

import copy

import figures
import load
import programs

# Total measured time of the node's turns that count, in seconds.
SECONDS_DEFAULT = 600
TURN_SECONDS = 60
# Maximum number of turns, as a multiple of the turns that must count.
TURNS_FACTOR_MAX = 2
NODE, FLOOR = "node", "floor"
# Name of the mean of the floor's runs before and after a turn.
AROUND = "floor around it"


class Sustained:
    unit = "committed/s"
    rounds_max = 1

    def __init__(self, short, node_rate_max):
        self.name = f"{short.name}_sustained"
        self.short = short
        self.turn = copy.copy(short)
        # Transfers per second of the node that are signed in advance.
        self.turn.rate_max = node_rate_max

    def measure(self, number, options, directory):
        of_turn = copy.copy(options)
        of_turn.seconds = min(TURN_SECONDS, options.sustain)
        wanted = options.sustain // of_turn.seconds
        runs = {NODE: [], FLOOR: [self.floor(number, options, directory)]}
        with programs.NODE.start(options, directory.fresh("sustained")) as node:
            while len(counting(runs)) < wanted and len(runs[NODE]) < wanted * TURNS_FACTOR_MAX:
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
    """Returns the indices of the node's turns that count.

    Neither such a turn nor the runs of the floor around it were disturbed."""
    calm = {name: [not figures.is_disturbed(run) for run in runs[name]] for name in runs}
    around = zip(calm[NODE], calm[FLOOR], calm[FLOOR][1:])
    return [turn for turn, are_calm in enumerate(around) if all(are_calm)]


def by_turn(runs, rates):
    for name in runs:
        yield f"{name}: committed/s by turn: {' '.join(f'{rate:,.0f}' for rate in rates[name])}"
    left = sum(run["uncommitted"] for run in runs[NODE])
    count = " ".join(str(turn + 1) for turn in counting(runs))
    count = count or "none, so the figure includes all"
    yield f"node: {left} uncommitted at the ends of its turns; turns that count: {count}"


BY_NAME = {row.name: row for row in load.ROWS}
ROWS = [Sustained(BY_NAME["submit"], 16_000), Sustained(BY_NAME["await"], 12_000)]
NAMES = [row.name for row in ROWS]
