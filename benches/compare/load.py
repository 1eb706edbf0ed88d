"""The rows of one load: transfers that `ledger-node bench` or a peer's generator sends, and how fast they are
committed."""

import os

import figures
import programs


class Load:
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
        self.rounds_max = None

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

    def measure(self, number, options, directory):
        """One run of each program, in turns."""
        runs = {}
        for contender in figures.in_turns(number, self.contenders(options)):
            runs[contender.name] = run = contender.run(self, options, directory)
            figures.progress(number, self.name, contender.name, f"{self.figure(run):12,.2f} {self.unit:12} {cost(run)}")
        return runs

    def summaries(self, rounds, options):
        """The programs of a row, the ratios of the first to the others, and what speaks against them."""
        names = [contender.name for contender in self.contenders(options)]
        reports = {name: [runs[name] for runs in rounds] for name in names}
        values = {name: [self.figure(report) for report in reports[name]] for name in names}
        result = figures.result(self.name, self.title, self.unit, values)
        for name in names:
            result["programs"][name].update(of_program(self, reports[name]))
            result["remarks"] += remarks(self, name, reports[name], options.busy_share)
        return [result]


def cost(run):
    """Processor time of a run, for people."""
    return (
        f"{run['node']['cpu_us_per_transfer']:8.1f} us each"
        f" + {run['generator']['cpu_us_per_transfer']:5.1f} us of the generator"
    )


def busy_share(report):
    """How much of the machine the program and the generator used together."""
    generator = report["generator"]
    return (report["node"]["cores"] + generator["busy_share"] * generator["threads"]) / os.cpu_count()


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
    yield from figures.disturbed(name, reports)
    idle = sum(busy_share(report) < busy_share_min for report in reports)
    if row.is_throughput and name == programs.FLOOR.name and idle:
        yield f"{name}: {idle} {of} DO NOT COUNT: below {busy_share_min:.0%} of what processor time allows"


def of_program(row, reports):
    """Medians of what else one program's runs tell."""
    median = lambda value: figures.median(value(report) for report in reports)
    return {
        "cpu_us": median(lambda report: report["node"]["cpu_us_per_transfer"]),
        "generator_cpu_us": median(lambda report: report["generator"]["cpu_us_per_transfer"]),
        "busy_share": median(busy_share),
        "p50_ms": median(lambda report: report["commit_latency" if row.mode == "await" else "submit_latency"]["p50_ms"]),
        "p99_ms": median(lambda report: report["commit_latency" if row.mode == "await" else "submit_latency"]["p99_ms"]),
    }


ROWS = [
    Load(
        "submit",
        "submit-only, 256 connections, BCS",
        "committed/s",
        programs.NODE,
        (programs.FLOOR, *programs.PEERS),
        connections=256,
        mode="submit",
        rate_max=50_000,
    ),
    Load(
        "await",
        "every transfer awaited by its own long poll, 256 clients",
        "committed/s",
        programs.NODE,
        (programs.FLOOR, programs.FLOOR_POLLING, *programs.PEERS),
        connections=256,
        mode="await",
        rate_max=35_000,
    ),
    Load(
        "await_json",
        "the same, the answers in JSON",
        "committed/s",
        programs.NODE_JSON,
        (programs.FLOOR,),
        connections=256,
        mode="await",
        rate_max=35_000,
    ),
    Load(
        "one",
        "one client, submit to answered wait, p50",
        "ms",
        programs.NODE,
        (programs.FLOOR, programs.ANVIL_AUTOMINE),
        connections=1,
        mode="await",
        rate_max=6_000,
    ),
    Load(
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
