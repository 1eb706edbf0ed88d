"""Medians, ratios, costs and remarks that all rows report, and the progress lines of a run."""

import os
import statistics
import sys

import programs

median = statistics.median
# A run is disturbed if other programs use more than this share of the machine.
OTHERS_SHARE_MAX = 0.1
RELEASES = {release.name for release in programs.RELEASES.values()}


def spread(values):
    return {"median": median(values), "min": min(values), "max": max(values)}


def result(name, title, unit, values):
    """Returns a row of the table.

    `values` maps each program to its figures by round. The row has the ratios of the first program
    to each other one, round by round."""
    return {
        "name": name,
        "title": title,
        "unit": unit,
        "first": next(iter(values)),
        "programs": {program: {"figure": spread(own)} for program, own in values.items()},
        "ratios": ratios(values),
        "remarks": [],
    }


def ratios(values):
    """Returns the spread of the first program's ratios to each program without a figure of 0."""
    first = next(iter(values))
    return {
        other: spread([own / its for own, its in zip(values[first], others)])
        for other, others in values.items()
        if other != first and all(others)
    }


def add_verdict(result, costs):
    """Adds a remark whether the first program is worse than the release, the sum of all steps.

    A step from build to build may stay within the spread of its rounds each time. `costs` maps
    programs to processor time by round."""
    first = result["first"]
    release = next(name for name in result["programs"] if name in RELEASES)
    figure, figure_of_release = (result["programs"][name]["figure"] for name in (first, release))
    excess = figure["median"] - figure_of_release["median"]
    if result["unit"].endswith("/s"):
        excess = -excess
    worse = []
    if excess > figure_of_release["max"] - figure_of_release["min"]:
        worse.append("the figure")
    if first in costs and release in costs:
        own, its = costs[first], costs[release]
        if median(own) - median(its) > max(its) - min(its):
            worse.append("processor time")
    result["is_worse"] = bool(worse)
    verdict = f"WORSE, {' and '.join(worse)}" if worse else "not worse"
    result["remarks"].append(f"the sum of all steps since {release}: {verdict}")


def add_costs(result, costs, options):
    """Adds processor time and context switches to a row.

    `costs` maps programs to one cost per round, as `programs.Usage.each` returns it. Programs
    without a cost are left out. If two builds are compared, a remark says whether the processor
    time of the new one exceeds that of the old one by more than the spread of the old one's
    rounds."""
    costs = {program: of for program, of in costs.items() if of and all(of)}
    cpu_us = {program: [cost["cpu_us"] for cost in of] for program, of in costs.items()}
    for program, of in costs.items():
        names = {name for cost in of for name in cost["cpu_us_by_thread"]}
        by_thread = {
            name: median(cost["cpu_us_by_thread"].get(name, 0) for cost in of) for name in names
        }
        result["programs"][program]["cost"] = {
            "cpu_us": spread(cpu_us[program]),
            "cpu_us_by_thread": dict(sorted(by_thread.items(), key=lambda item: -item[1])),
            "switches": median(cost["switches"] for cost in of),
        }
    if result["first"] not in cpu_us:
        return
    if options.node_release and options.rounds > 1:
        add_verdict(result, cpu_us)
    first = cpu_us.pop(result["first"])
    result["cpu_ratios"] = ratios({result["first"]: first, **cpu_us})
    # A single round has no spread.
    if not options.node_old or len(first) < 2:
        return
    for program, others in cpu_us.items():
        excess, allowed = median(first) - median(others), max(others) - min(others)
        verdict = "ABOVE" if excess > allowed else "within"
        result["remarks"].append(
            f"processor time of {result['first']} less that of {program}: {excess:+.1f} us,"
            f" {verdict} the spread of the rounds of {program}, {allowed:.1f} us"
        )


def in_turns(number, programs):
    """Returns the programs in the order of a round.

    The order alternates, so that a change of the machine's speed favors no program."""
    programs = list(programs)
    return programs if number % 2 == 0 else programs[::-1]


def is_disturbed(report):
    """Returns whether other programs used too much of the machine during a run."""
    return report["cores_of_others"] / os.cpu_count() > OTHERS_SHARE_MAX


def disturbed(name, reports):
    """Yields a remark if a run was disturbed."""
    runs = sum(map(is_disturbed, reports))
    if runs:
        of = f"of the machine in {runs} of {len(reports)} runs"
        others = "other programs, or other machines of the host,"
        yield f"{name}: {others} used more than {OTHERS_SHARE_MAX:.0%} {of}"


def progress(number, row, program, text):
    """Prints a line about a finished run to standard error."""
    print(f"round {number + 1}  {row:8} {program:26} {text}", file=sys.stderr, flush=True)
