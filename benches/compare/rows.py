"""The rows of the table: what load, which figure, who against whom."""

import os
import statistics

import programs


class Row:
    """A load and the figure that is read off it: of `first`, held against each of `against`."""

    def __init__(self, name, title, unit, first, against, **load):
        self.name = name
        self.title = title
        self.unit = unit
        self.first = first
        self.against = against
        self.connections = load["connections"]
        self.mode = load["mode"]
        self.accounts = load.get("accounts", 2_000)
        # So many transfers a second are signed before; more would be signed under the load.
        self.rate_max = load["rate_max"]
        # Whether the load is to use the machine up, and more is better.
        self.is_throughput = unit == "committed/s"

    def contenders(self, options):
        return [self.first, *(other for other in self.against if other not in programs.PEERS or options.anvil)]

    def load(self, options):
        transfers = self.rate_max * (options.seconds + options.warm_up)
        return [
            *("--mode", self.mode),
            *("--connections", self.connections),
            *("--accounts", self.accounts),
            *("--duration", options.seconds),
            *("--pre-signed", transfers),
        ]

    def figure(self, report):
        return report["committed_per_second"] if self.is_throughput else report["commit_latency"]["p50_ms"]


ALL = [
    Row(
        "submit",
        "submit-only, 256 connections, BCS",
        "committed/s",
        programs.NODE,
        (programs.FLOOR, *programs.PEERS),
        connections=256,
        mode="submit",
        rate_max=50_000,
    ),
    Row(
        "await",
        "every transfer awaited by its own long poll, 256 clients",
        "committed/s",
        programs.NODE,
        (programs.FLOOR, *programs.PEERS),
        connections=256,
        mode="await",
        rate_max=35_000,
    ),
    Row(
        "one",
        "one client, submit to answered wait, p50",
        "ms",
        programs.NODE,
        (programs.FLOOR, programs.ANVIL_AUTOMINE),
        connections=1,
        mode="await",
        rate_max=6_000,
    ),
    Row(
        "json",
        "submit-only, 256 connections, JSON against BCS",
        "committed/s",
        programs.NODE_JSON,
        (programs.NODE,),
        connections=256,
        mode="submit",
        rate_max=35_000,
    ),
]
NAMES = [row.name for row in ALL]


def described(options):
    """What the run was asked for, as far as it decides the figures."""
    return {"rounds": options.rounds, "seconds": options.seconds, "warm_up": options.warm_up, "set": options.set}


def spread(figures):
    return {"median": statistics.median(figures), "min": min(figures), "max": max(figures)}


def busy_share(report):
    """How much of the machine the program and the generator used together."""
    generator = report["generator"]
    return (report["node"]["cores"] + generator["busy_share"] * generator["threads"]) / os.cpu_count()


# Others that use so much of the machine make a run say less.
OTHERS_SHARE_MAX = 0.1


def remarks(row, name, reports, busy_share_min):
    """What speaks against the figures of a program."""
    of = f"of {len(reports)} runs"
    limited = sum(report["generator"]["was_the_limit"] for report in reports)
    if limited:
        yield f"{name}: the generator was the limit in {limited} {of}"
    nothing = sum(not row.figure(report) for report in reports)
    if nothing:
        yield f"{name}: nothing was committed in {nothing} {of}"
    faulty = [report for report in reports if report["errors"] or report["failed"] or report["uncommitted"]]
    if faulty:
        worst = max(faulty, key=lambda report: report["uncommitted"])
        yield (
            f"{name}: in {len(faulty)} {of} errors or transfers that were not committed; the worst:"
            f" {worst['uncommitted']} uncommitted, {worst['failed']} failed, errors {worst['errors'] or 'none'}"
        )
    disturbed = sum(report["cores_of_others"] / os.cpu_count() > OTHERS_SHARE_MAX for report in reports)
    if disturbed:
        yield f"{name}: other programs used more than {OTHERS_SHARE_MAX:.0%} of the machine in {disturbed} {of}"
    idle = sum(busy_share(report) < busy_share_min for report in reports)
    if row.is_throughput and name == programs.FLOOR.name and idle:
        yield f"{name}: {idle} {of} DO NOT COUNT: below {busy_share_min:.0%} of what processor time allows"


def of_program(row, reports):
    """Medians and spread of one program's runs."""
    median = lambda value: statistics.median(value(report) for report in reports)
    return {
        "figure": spread([row.figure(report) for report in reports]),
        "cpu_us": median(lambda report: report["node"]["cpu_us_per_transfer"]),
        "generator_cpu_us": median(lambda report: report["generator"]["cpu_us_per_transfer"]),
        "busy_share": median(busy_share),
        "p50_ms": median(lambda report: report["commit_latency" if row.mode == "await" else "submit_latency"]["p50_ms"]),
        "p99_ms": median(lambda report: report["commit_latency" if row.mode == "await" else "submit_latency"]["p99_ms"]),
    }


def summary(row, rounds, options):
    """The programs of a row, the ratios of the first to the others, and what speaks against them."""
    names = [contender.name for contender in row.contenders(options)]
    reports = {name: [runs[name] for runs in rounds] for name in names}
    mine = [row.figure(report) for report in reports[names[0]]]
    ratios = {}
    for name in names[1:]:
        others = [row.figure(report) for report in reports[name]]
        # Against a program that did nothing there is no ratio; `remarks` says so.
        if all(others):
            ratios[name] = spread([own / other for own, other in zip(mine, others)])
    return {
        "first": names[0],
        "programs": {name: of_program(row, reports[name]) for name in names},
        "ratios": ratios,
        "remarks": [text for name in names for text in remarks(row, name, reports[name], options.busy_share)],
    }
