"""Row `shares`: two clients, one with 100 times the connections of the other.

Both want more than half of the node. The figure is the share of completed cost, which is that of
completed requests because both send the same ones. The generators have the priority of the node:
one that is starved would not want more than half.
"""

import dataclasses
import itertools
import json
import time

import assaults
import expensive
import figures
import programs
import sender
import signing
import start
import stock
import wire

NAME = "shares"
FEW, MANY = 12, 1_200
# Connections with which an account submits more than half of what the node can execute.
FEW_SPENDING = 64
# Time of a load before the next step, in seconds.
LEAD_SECONDS = 2
SOURCES = ("127.0.0.3", "127.0.0.2")
RATIO_MIN, RATIO_MAX = 0.8, 1.25
HEAD = [
    "work",
    "few / many, completed",
    "few: completed/s, rejected/s, ms",
    "many: completed/s, rejected/s, ms",
    "cores",
    "failed",
]


def signatures(number):
    """Returns the load of the client `number`: valid transactions of its own account."""

    def load(_ledger):
        def requests():
            passkeys = signing.Passkeys(stock.PASSKEYS[number])
            call = signing.transfer(passkeys.address)
            for nonce in itertools.count(assaults.FIRST_NONCE):
                yield signing.submission(passkeys.sign(call, nonce=nonce), wire.BCS)

        return sender.Load(MANY, requests, expected=(202,))

    return load


@dataclasses.dataclass
class Work:
    """A kind of work that two clients want: the one with many connections, then the other."""

    loads: tuple
    # Connections of the client with fewer, which must be enough to want more than half.
    few: int = FEW
    # Accounts whose fees show the completed work, if responses do not.
    payers: tuple = ()


def same(load):
    return Work((load, load))


# The loads of both clients, by kind of work.
WORK = {
    "simulations": same(assaults.simulations),
    "small_pages": same(assaults.expensive_load(expensive.small_pages, MANY)),
    "pages": same(assaults.pages),
    "rendered": same(assaults.expensive_load(expensive.proposals, MANY)),
    "wrong_signatures": same(assaults.wrong_signatures),
    "signatures": Work((signatures(0), signatures(1))),
    "executions": Work(
        tuple(assaults.orderless(assaults.large_batch, name, 0) for name in stock.SPENDERS),
        FEW_SPENDING,
        stock.SPENDERS,
    ),
    "graphql": same(assaults.expensive_load(expensive.graphql, MANY)),
}


class Shares:
    name = NAME
    rounds_max = None

    def measure(self, number, options, directory):
        kept = directory.kept("stock", lambda path: stock.prepare(path, options))
        runs = {}
        for name in options.loads or WORK:
            fresh = directory.fresh()
            start.copy(kept / "data", fresh / "data")
            ledger = json.loads((kept / "ledger.json").read_text())
            with programs.NODE.start(options, fresh) as node:
                runs[name] = run = share(node, WORK[name], ledger, options)
            figures.progress(number, name, "few / many", json.dumps(run))
        return runs

    def summaries(self, rounds, _options):
        lines = []
        for name in rounds[0]:
            of = [runs[name] for runs in rounds]
            ratio = figures.median(run["ratio"] for run in of)
            is_fair = RATIO_MIN <= ratio <= RATIO_MAX
            lines.append(
                [
                    f"`{name}`",
                    f"{ratio:.2f} ({min(run['ratio'] for run in of):.2f} to"
                    f" {max(run['ratio'] for run in of):.2f})",
                    *(client_text([run[client] for run in of]) for client in ("few", "many")),
                    f"{figures.median(run['cores'] for run in of):.2f}",
                    "-" if is_fair else "share",
                ]
            )
        return [{"name": self.name, "head": HEAD, "lines": lines}]


def client_text(runs):
    names = ("completed", "rejected", "ms")
    return ", ".join(f"{figures.median(run[name] for run in runs):,.0f}" for name in names)


def share(node, work, ledger, options):
    """Runs both clients and returns what each completed per second."""
    api = node.addresses["api"]
    running = []
    # The client with many connections first, so that the other one finds its queues.
    for make, connections, source in zip(work.loads, (MANY, work.few), SOURCES):
        load = dataclasses.replace(make(ledger), connections=connections, source=source)
        running.append((load, sender.Running(api, load, nice=0)))
        time.sleep(LEAD_SECONDS)
    for _, own in running:
        own.mark()
    begin, cpu = time.monotonic(), programs.cpu_seconds(node.pid)
    before = fees(node, work)
    time.sleep(options.seconds)
    seconds = time.monotonic() - begin
    paid = [(now - then) / seconds for now, then in zip(fees(node, work), before)]
    cores = (programs.cpu_seconds(node.pid) - cpu) / seconds
    many, few = (client(load, own.stop()) for load, own in running)
    if paid:
        many["completed"], few["completed"] = paid
    ratio = few["completed"] / max(many["completed"], 1e-9)
    return {"few": few, "many": many, "ratio": ratio, "cores": cores}


def fees(node, work):
    """Returns the spent balance of both accounts of work that is measured by their fees."""
    client = signing.Client(node.addresses)
    found = [
        signing.FUNDED
        - int(client.get(f"/v1/accounts/{account.hex}/balance/{stock.NATIVE_COIN}"))
        for account in map(signing.Account, work.payers)
    ]
    client.close()
    return found


def client(load, report):
    statuses = report["per_second"]
    completed = sum(rate for status, rate in statuses.items() if status in load.expected)
    return {
        "completed": completed,
        "rejected": sum(statuses.values()) - completed,
        "statuses": statuses,
        "reasons": report["reasons"],
        "ms": report["latency_seconds"] * 1e3,
    }


ROWS = [Shares()]
