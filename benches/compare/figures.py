"""What all rows have in common: medians and spread, ratios, and what is told while they run."""

import os
import statistics
import sys

median = statistics.median
# Others that use so much of the machine make a run say less.
OTHERS_SHARE_MAX = 0.1


def spread(values):
    return {"median": median(values), "min": min(values), "max": max(values)}


def result(name, title, unit, values):
    """A row of the table: of each program its values by round, and the ratios of the first to the others."""
    first = next(iter(values))
    ratios = {}
    for other, others in values.items():
        # Against a program that did nothing there is no ratio.
        if other != first and all(others):
            ratios[other] = spread([own / its for own, its in zip(values[first], others)])
    return {
        "name": name,
        "title": title,
        "unit": unit,
        "first": first,
        "programs": {program: {"figure": spread(own)} for program, own in values.items()},
        "ratios": ratios,
        "remarks": [],
    }


def in_turns(number, programs):
    """Who begins changes, so that a machine that slows down or quickens favours nobody."""
    programs = list(programs)
    return programs if number % 2 == 0 else programs[::-1]


def is_disturbed(report):
    """Whether others used the machine meanwhile."""
    return report["cores_of_others"] / os.cpu_count() > OTHERS_SHARE_MAX


def disturbed(name, reports):
    """Says so where it was."""
    runs = sum(map(is_disturbed, reports))
    if runs:
        of = f"of the machine in {runs} of {len(reports)} runs"
        yield f"{name}: other programs, or other machines of the host, used more than {OTHERS_SHARE_MAX:.0%} {of}"


def progress(number, row, program, text):
    """One line for a run that is over, on standard error."""
    print(f"round {number + 1}  {row:8} {program:26} {text}", file=sys.stderr, flush=True)
