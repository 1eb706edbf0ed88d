"""`--benches`: the crates' own benches of two builds, run in turns.

Each bench is an executable that `cargo bench --no-run` puts beside the node's binary. Its output
has one of three formats: the tables of divan (`stages`, `signatures`), the table of `functions`,
and the lines of `growth`.
"""

import collections
import math
import os
import re
import subprocess
import sys
import tempfile

import figures

UNITS_US = {"ns": 1e-3, "µs": 1.0, "ms": 1e3, "s": 1e6}
# A line of divan's table: tree, name, fastest, slowest, median, mean, samples, iterations.
DIVAN_LINE = re.compile(
    r"^(?P<tree>[│ ]*)[├╰]─ (?P<name>\S.*?)\s{2,}" r"(?:(?P<value>[\d.]+) (?P<unit>ns|µs|ms|s)\s)?"
)
# A line of `functions`: name, gas units, microseconds, calls per second, price against a transfer.
FUNCTIONS_LINE = re.compile(r"^(?P<name>\S.*?)\s+\d+\s+(?P<value>[\d.]+)\s+\d+\s+[\d.]+$")
# Lines of `growth`: one for each fifth of the transfers, then one for each kind of look-up.
GROWTH_FIFTH = re.compile(r"^\s*(?P<name>\d+ transfers): .*?, (?P<value>[\d.]+) us of CPU each")
GROWTH_LOOK_UP = re.compile(r"^\s*(?P<value>[\d.]+) (?P<unit>us|ms) (?P<name>.+)$")


def parse_divan(lines):
    """Yields each bench with its fastest sample in microseconds, the least disturbed one."""
    path = []
    for line in lines:
        found = DIVAN_LINE.match(line)
        if found:
            path[len(found["tree"]) // 3 :] = [found["name"]]
            if found["value"]:
                yield "/".join(path), float(found["value"]) * UNITS_US[found["unit"]]


def parse_functions(lines):
    """Yields each function with the median time of a call in microseconds."""
    for line in lines:
        found = FUNCTIONS_LINE.match(line)
        if found:
            yield found["name"], float(found["value"])


def parse_growth(lines):
    """Yields processor time of a transfer by fifth, and time by kind of look-up, in us."""
    for line in lines:
        if found := GROWTH_FIFTH.match(line):
            yield found["name"], float(found["value"])
        elif found := GROWTH_LOOK_UP.match(line):
            yield found["name"], float(found["value"]) * (1e3 if found["unit"] == "ms" else 1.0)


BENCHES = {
    "stages": parse_divan,
    "functions": parse_functions,
    "signatures": parse_divan,
    "growth": parse_growth,
}
NODE, OLD = "node", "old build"


def executable(node, name):
    """Returns the newest executable of a bench beside a node's binary."""
    built = (
        path
        for path in (node.parent / "deps").glob(f"{name}-*")
        if not path.suffix and os.access(path, os.X_OK)
    )
    newest = max(built, key=lambda path: path.stat().st_mtime, default=None)
    return newest or sys.exit(
        f"{node.parent / 'deps'} has no bench {name}; --help says how it is built"
    )


def run(path, parse):
    """Runs a bench once and returns its figures, processor time in seconds and context switches."""
    with tempfile.TemporaryFile("w+") as printed:
        process = subprocess.Popen([path, "--bench"], stdout=printed, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        printed.seek(0)
        found = numbered(parse(printed.read().splitlines()))
    if process.returncode != 0 or not found:
        sys.exit(f"{path} ended with {process.returncode} and printed {len(found)} figures")
    return {
        "us": found,
        "cpu_seconds": used.ru_utime + used.ru_stime,
        "switches": used.ru_nvcsw + used.ru_nivcsw,
    }


def numbered(found):
    """Returns figures by name. A repeated name gets a number, because functions can have several
    cases."""
    figures_us, seen = {}, collections.Counter()
    for name, value in found:
        seen[name] += 1
        figures_us[name if seen[name] == 1 else f"{name} #{seen[name]}"] = value
    return figures_us


def measure(options):
    """Runs all benches of both builds for all rounds, and returns a row for each figure."""
    paths = {NODE: options.node, OLD: options.node_old}
    rounds = {name: [] for name in BENCHES}
    for number in range(options.rounds):
        for name, parse in BENCHES.items():
            runs = {}
            for build in figures.in_turns(number, paths):
                runs[build] = run(executable(paths[build], name), parse)
                figures.progress(
                    number, name, build, f"{runs[build]['cpu_seconds']:8.1f} s of processor time"
                )
            rounds[name].append(runs)
    return [row for name, of in rounds.items() for row in summaries(name, of)]


def summaries(name, rounds):
    """Returns the rows of a bench. The first one has remarks about all of them."""
    common = [
        key
        for key in rounds[0][NODE]["us"]
        if all(key in runs[build]["us"] for runs in rounds for build in runs)
    ]
    rows = []
    for key in common:
        values = {build: [runs[build]["us"][key] for runs in rounds] for build in (NODE, OLD)}
        rows.append(figures.result(f"{name}/{key}", f"{name}: {key}", "us", values))
    means = figures.spread([geometric_mean(runs, common) for runs in rounds])
    used = {
        build: {
            key: figures.median(runs[build][key] for runs in rounds)
            for key in ("cpu_seconds", "switches")
        }
        for build in (NODE, OLD)
    }
    rows[0]["remarks"] += [
        f"geometric mean of the ratios of {len(common)} figures: {means['median']:.3f}"
        f" ({means['min']:.3f} to {means['max']:.3f} by round)",
        *(
            f"{build}: {of['cpu_seconds']:.1f} s of processor time,"
            f" {of['switches']:,} switches per run"
            for build, of in used.items()
        ),
    ]
    return rows


def geometric_mean(runs, keys):
    """Returns the geometric mean of a round's ratios. A figure that was printed as 0 has none."""
    pairs = [(runs[NODE]["us"][key], runs[OLD]["us"][key]) for key in keys]
    logarithms = [math.log(own / its) for own, its in pairs if own > 0 and its > 0]
    return math.exp(sum(logarithms) / max(len(logarithms), 1))
