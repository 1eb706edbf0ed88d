"""Provokes the symptoms of docs/operate/tune.md on a node, and applies the cure of each.

    python3 benches/symptoms [SYMPTOM...] [--rounds 1] [--seconds 4] [--node PATH]
    python3 benches/symptoms --provoke SYMPTOM [--set KEY=VALUE]

For each symptom, a node starts in an empty directory, and a load makes one of its parts the limit.
Once the console names it, the program reads the figure that the guide names, changes the setting
that the guide names (`PATCH /settings`, or a restart), and reads the figure again. It fails if
the console names another limit, or if the figure does not change as the guide says. All symptoms
take about five minutes. Run no other programs meanwhile. It needs the Python package
`cryptography`, `cc` for the slow disk, and a release build:

    cargo build --release

`--provoke` starts the load of one symptom, and holds it for whoever opens the console.
"""

import argparse
import contextlib
import dataclasses
import json
import math
import pathlib
import signal
import sys
import time
import urllib.request

# The programs, loads and figures that both share.
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "compare"))

import figures
import machine
import node_api
import observed
import programs
import symptoms
import table

# Maximum time until the console names a limit, until the load has begun, and until a cure has its
# effect.
NAMED_SECONDS_MAX, LOADED_SECONDS_MAX, CURED_SECONDS_MAX = 60, 60, 30
# Time between two looks at the console, in seconds.
LOOK_SECONDS = 0.25
HEAD = ["symptom", "limit that is named", "after s", "cure", "figure", "before", "cured", "passed"]


@dataclasses.dataclass
class Run:
    """A symptom that was provoked and cured once."""

    sentence: str
    named_after_seconds: float
    before: float
    cured: float
    is_named: bool

    def has_passed(self, symptom):
        return self.is_named and symptom.is_cured(self.before, self.cured)


def arguments():
    parser = argparse.ArgumentParser(
        prog="benches/symptoms",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    names = ", ".join(symptoms.ALL)
    parser.add_argument("symptoms", nargs="*", metavar="SYMPTOM", help=f"default: all of {names}")
    parser.add_argument("--provoke", choices=symptoms.ALL, metavar="SYMPTOM")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=4, help="time of each figure")
    parser.add_argument("--node", type=pathlib.Path, default=programs.TARGET / "ledger-node")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of the node"
    )
    parser.add_argument(
        "--work-dir", type=pathlib.Path, default=programs.TARGET.parent / "symptoms"
    )
    options = parser.parse_args()
    unknown = set(options.symptoms) - set(symptoms.ALL)
    if unknown:
        parser.error(f"no symptom {', '.join(sorted(unknown))}")
    if not options.node.exists():
        parser.error(f"{options.node} is missing; --help says how it is built")
    options.node = options.generator = options.node.resolve()
    return options


def start(symptom, settings, options, directory, is_cured=False):
    """Starts a node with the settings."""
    words = [f"{key}={value}" for key, value in settings.items()]
    command = programs.node_command(options, directory / "data", *words)
    if symptom.wrapper and (symptom.cure or not is_cured):
        command = [*symptom.wrapper(directory), *command]
    return programs.Process(command, directory)


def until_named(node, limits):
    """Waits until the console names one of the limits. Returns the one that it names at the end."""
    end = time.monotonic() + NAMED_SECONDS_MAX
    while True:
        named = observed.snapshot(node)["limit"]
        if is_one(named, limits) or time.monotonic() > end:
            return named
        time.sleep(LOOK_SECONDS)


def is_one(named, limits):
    """Returns whether a limit is one of `limits`. A stage of `None` is any."""
    stage = named["stage"]
    if named["kind"] == "processor" and named["consumers"]:
        stage = named["consumers"][0]["thread"]
    return not limits or (named["kind"], stage) in limits or (named["kind"], None) in limits


def until_loaded(symptom, node):
    """Waits until the load does its work: a load without requests has no symptom either."""
    end = time.monotonic() + LOADED_SECONDS_MAX
    while time.monotonic() < end:
        if figure(symptom.work, node, 1) >= symptom.work_min:
            return
    sys.exit(f"{node.command}: the load does not begin")


def figure(function, node, seconds):
    """Returns a figure of the node over a time."""
    before = observed.Sample(node)
    time.sleep(seconds)
    return function(before, observed.Sample(node))


def change(node, cure):
    """Changes run-time settings, as the console does."""
    request = urllib.request.Request(
        f"{node.addresses['admin']}/settings", json.dumps({"set": cure}).encode(), method="PATCH"
    )
    urllib.request.urlopen(request, timeout=node_api.TIMEOUT_SECONDS).close()


def is_live(node, cure):
    """Returns whether all settings of a cure apply at run time."""
    report = json.loads(node_api.get(f"{node.addresses['admin']}/settings"))
    applies = {setting["key"]: setting["applies"] for setting in report["settings"]}
    return bool(cure) and all(applies[key] == "now" for key in cure)


def run(symptom, options, directory):
    """Provokes a symptom, cures it, and returns what was seen."""
    with contextlib.ExitStack() as running:
        node = running.enter_context(start(symptom, symptom.settings, options, directory))
        running.enter_context(symptom.load(node, options))
        began = time.monotonic()
        limit = until_named(node, symptom.limits)
        named_after_seconds = time.monotonic() - began
        until_loaded(symptom, node)
        before = until_shown(symptom, node, options)
        is_restarted = not is_live(node, symptom.cure)
        if not is_restarted:
            change(node, symptom.cure)
            cured = until_cured(symptom, node, before, options)
    if is_restarted:
        settings = symptom.settings | symptom.cure
        with start(symptom, settings, options, directory, is_cured=True) as node:
            with symptom.load(node, options):
                cured = until_cured(symptom, node, before, options)
    is_named = is_one(limit, symptom.limits)
    return Run(limit["sentence"], named_after_seconds, before, cured, is_named)


def until_shown(symptom, node, options):
    """Waits until the figure shows the symptom. Returns the figure."""
    end = time.monotonic() + NAMED_SECONDS_MAX
    while True:
        before = figure(symptom.figure, node, options.seconds)
        if 0 < before < math.inf or time.monotonic() > end:
            return before


def until_cured(symptom, node, before, options):
    """Waits until a cure has its effect. Returns the last figure."""
    until_loaded(symptom, node)
    end = time.monotonic() + CURED_SECONDS_MAX
    while True:
        cured = figure(symptom.figure, node, options.seconds)
        if symptom.is_cured(before, cured) or time.monotonic() > end:
            return cured


def provoke(name, options, directory):
    """Holds the load of a symptom, and prints each limit that the console names."""
    symptom = symptoms.ALL[name]
    with start(symptom, symptom.settings, options, directory) as node:
        print(f"{node.addresses['admin']}/", flush=True)
        with symptom.load(node, options):
            named = None
            while node.process.poll() is None:
                limit = observed.snapshot(node)["limit"]
                if (limit["kind"], limit["stage"]) != named:
                    named = limit["kind"], limit["stage"]
                    print(limit["sentence"], flush=True)
                time.sleep(LOOK_SECONDS)


def line(name, runs):
    """Returns the line of a symptom, with medians."""
    symptom = symptoms.ALL[name]
    cure = ", ".join(f"`{key}={value}`" for key, value in symptom.cure.items()) or symptom.remedy
    passed = sum(run.has_passed(symptom) for run in runs)
    return [
        f"`{name}`",
        runs[-1].sentence if symptom.limits else "-",
        f"{figures.median(run.named_after_seconds for run in runs):.1f}" if symptom.limits else "-",
        cure,
        symptom.title,
        table.number(figures.median(run.before for run in runs)),
        table.number(figures.median(run.cured for run in runs)),
        f"{passed} of {len(runs)}",
    ]


def main():
    options = arguments()
    # Exits through the context managers, which stop the programs and remove the directories.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    with programs.Directory(options.work_dir) as directory:
        if options.provoke:
            with contextlib.suppress(KeyboardInterrupt):
                provoke(options.provoke, options, directory.fresh())
            return
        runs = {name: [] for name in options.symptoms or symptoms.ALL}
        for number in range(options.rounds):
            for name, of in runs.items():
                of.append(run(symptoms.ALL[name], options, directory.fresh()))
                figures.progress(number, name, "", str(of[-1]))
    described = machine.describe(options.work_dir, options.node)
    print(
        f"{described['date']}, {described['node']}, {described['cores']} x"
        f" {described['processor']}; {options.rounds} rounds of {options.seconds} s. Medians.\n"
    )
    print(table.line(HEAD))
    print(f"|{'---|' * len(HEAD)}")
    for name, of in runs.items():
        print(table.line(line(name, of)))
    if not all(run.has_passed(symptoms.ALL[name]) for name, of in runs.items() for run in of):
        sys.exit("a symptom was not named, or its cure had no effect")


if __name__ == "__main__":
    main()
