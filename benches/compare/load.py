"""Load rows: transfers that `ledger-node bench` or a peer's generator sends, and their speed."""

import os

import figures
import programs


class Load:
    """A load and its figure for the program `first`, compared with each of `against`."""

    def __init__(self, name, title, unit, first, against, **load):
        self.name = name
        self.title = title
        self.unit = unit
        self.first = first
        self.against = against
        self.connections = load["connections"]
        self.mode = load["mode"]
        self.accounts = load.get("accounts", 2_000)
        # Transfers per second that are signed in advance. Further ones are signed under the load.
        self.rate_max = load["rate_max"]
        # Whether the load must use the whole machine, and a larger figure is better.
        self.is_throughput = unit == "committed/s"
        self.rounds_max = None
        # Settings of the node.
        self.settings = load.get("settings", ())
        # Further options of the generator.
        self.words = load.get("words", ())

    def contenders(self, options):
        return programs.contenders(options, self.first, *self.against)

    def load(self, options):
        transfers = self.rate_max * (options.seconds + options.warm_up)
        return [
            *("--mode", self.mode),
            *("--connections", self.connections),
            *("--accounts", self.accounts),
            *("--duration", options.seconds),
            *("--pre-signed", transfers),
            *self.words,
        ]

    def figure(self, report):
        return (
            report["committed_per_second"]
            if self.is_throughput
            else report["commit_latency"]["p50_ms"]
        )

    def measure(self, number, options, directory):
        """Runs each program once."""
        runs = {}
        for contender in figures.in_turns(number, self.contenders(options)):
            runs[contender.name] = run = contender.run(self, options, directory)
            figures.progress(
                number,
                self.name,
                contender.name,
                f"{self.figure(run):12,.2f} {self.unit:12} {cost(run)}",
            )
        return runs

    def summaries(self, rounds, options):
        """Returns the row: figures of all programs, ratios to the first, costs and remarks."""
        names = [contender.name for contender in self.contenders(options)]
        reports = {name: [runs[name] for runs in rounds] for name in names}
        values = {name: [self.figure(report) for report in reports[name]] for name in names}
        result = figures.result(self.name, self.title, self.unit, values)
        for name in names:
            result["programs"][name].update(of_program(self, reports[name]))
            result["remarks"] += remarks(self, name, reports[name], options.busy_share)
        figures.add_costs(
            result,
            {name: [measured_cost(report) for report in reports[name]] for name in names},
            options,
        )
        return [result]


def measured_cost(report):
    """Returns the cost of a node's transfer, or `None` for other programs.

    The generator reads the processor time of the whole process when the warm-up ends, so it is more
    exact than the sum over threads."""
    if "cost" not in report:
        return None
    return {**report["cost"], "cpu_us": report["node"]["cpu_us_per_transfer"]}


def cost(run):
    """Returns the processor time of a run as text."""
    return (
        f"{run['node']['cpu_us_per_transfer']:8.1f} us each"
        f" + {run['generator']['cpu_us_per_transfer']:5.1f} us of the generator"
    )


def busy_share(report):
    """Returns the share of the machine that the program and the generator used."""
    generator = report["generator"]
    return (
        report["node"]["cores"] + generator["busy_share"] * generator["threads"]
    ) / os.cpu_count()


def remarks(row, name, reports, busy_share_min):
    """Yields the remarks about runs of a program whose figures are doubtful."""
    of = f"of {len(reports)} runs"
    limited = sum(report["generator"]["was_the_limit"] for report in reports)
    if limited:
        yield f"{name}: the generator was the limit in {limited} {of}"
    nothing = sum(not row.figure(report) for report in reports)
    if nothing:
        yield f"{name}: nothing was committed in {nothing} {of}"
    faulty = [
        report
        for report in reports
        if report["errors"] or report["failed"] or report["uncommitted"]
    ]
    if faulty:
        worst = max(faulty, key=lambda report: report["uncommitted"])
        yield (
            f"{name}: in {len(faulty)} {of} errors or transfers that were not committed; the worst:"
            f" {worst['uncommitted']} uncommitted, {worst['failed']} failed,"
            f" errors {worst['errors'] or 'none'}"
        )
    yield from figures.disturbed(name, reports)
    idle = sum(busy_share(report) < busy_share_min for report in reports)
    if row.is_throughput and name == programs.FLOOR.name and idle:
        limit = f"below {busy_share_min:.0%} of the available processor time"
        yield f"{name}: {idle} {of} DO NOT COUNT: {limit}"


def of_program(row, reports):
    """Returns the medians of the other figures of a program's runs."""
    median = lambda value: figures.median(value(report) for report in reports)
    return {
        "cpu_us": median(lambda report: report["node"]["cpu_us_per_transfer"]),
        "generator_cpu_us": median(lambda report: report["generator"]["cpu_us_per_transfer"]),
        "busy_share": median(busy_share),
        "p50_ms": median(
            lambda report: report["commit_latency" if row.mode == "await" else "submit_latency"][
                "p50_ms"
            ]
        ),
        "p99_ms": median(
            lambda report: report["commit_latency" if row.mode == "await" else "submit_latency"][
                "p99_ms"
            ]
        ),
    }


# Transfers of a batch of the row `bulk`, and its connections.
BATCH, CONNECTIONS = 100, 256
# A wait for a batch takes a permit for each of its hashes. Each transaction of a batch counts in
# the queues of signatures and of the mempool, and the clients of one address may use a part of
# them. With the defaults, 256 batches of 100 at once get rejections, which are repeated.
BULK_SETTINGS = tuple(
    f"{setting}={3 * BATCH * CONNECTIONS}"
    for setting in ("wait.capacity", "signatures.queue_capacity", "actors.mempool.mailbox_capacity")
)

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
        "one",
        "one client, submit to end of its long poll, p50",
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
    Load(
        "bulk",
        f"{CONNECTIONS} clients: a batch of {BATCH}, then one wait for it",
        "committed/s",
        programs.NODE,
        (programs.FLOOR,),
        connections=CONNECTIONS,
        mode="await",
        rate_max=50_000,
        words=("--wait", "many", "--batch", BATCH),
        settings=BULK_SETTINGS,
    ),
]
