"""Row `bulk`: ways in which 256 clients, or one, submit transfers and learn of their commits.

Each way is a load of its own, in turns with the others, so that ratios of the node's ways are those
of one round. The floor serves the same requests. The peer serves the nearest ones: receipts that
are polled for, `eth_sendRawTransactionSync`, and lists of calls.
"""

import copy

import figures
import load
import programs

NAME = "bulk"
# Transfers of a batch, and connections of the ways with many.
BATCH, CONNECTIONS = 100, 256
# Batches that the one connection submits beyond the one that it waits for. With fewer, the node
# sometimes has no work.
AHEAD = 16
# Transfers per second of the peer that are signed in advance, more than it mines.
PEER_RATE_MAX = 20_000
# Lists of calls that the peer serves concurrently. Its rate falls from 16 on, and 256 stall it.
PEER_BATCHES_MAX = 8
# A wait for a batch takes a permit for each of its hashes. Each transaction of a batch counts in
# the queues of signatures and of the mempool, and the clients of one address may use a part of
# them.
# With the defaults, 256 batches of 100 at once get rejections, which are repeated.
SETTINGS = tuple(
    f"{setting}={3 * BATCH * CONNECTIONS}"
    for setting in ("wait.capacity", "signatures.queue_capacity", "actors.mempool.mailbox_capacity")
)
AIMS_HEAD = ["aim", "node", "at least", "floor", "result"]
NOT_AWAITED = "not awaited"
TWO, ONE, MANY_256, MANY_1 = "two requests", "one request", "bulk", "bulk from one"


class Way(load.Load):
    """A load with a way to learn of the commit."""

    def __init__(self, name, title, mode, peer, words=(), peer_words=(), **more):
        connections, rate_max = more.get("connections", CONNECTIONS), more["rate_max"]
        self.peer_connections = more.get("peer_connections", connections)
        super().__init__(
            name,
            title,
            "committed/s",
            programs.NODE,
            (programs.FLOOR, peer),
            connections=connections,
            mode=mode,
            rate_max=rate_max,
        )
        self.settings = SETTINGS
        # Options of the generators that describe the way.
        self.words = words
        self.peer_words = peer_words

    def load(self, options):
        return [*super().load(options), *self.words]

    def peer_load(self, options):
        of_peer = copy.copy(self)
        of_peer.rate_max, of_peer.connections = PEER_RATE_MAX, self.peer_connections
        return [*load.Load.load(of_peer, options), *self.peer_words]


def way_of_batches(name, title, connections, *more):
    return Way(
        name,
        title,
        "await",
        programs.ANVIL_10_MS,
        ("--wait", "many", "--batch", BATCH, *more),
        ("--batch", BATCH),
        connections=connections,
        peer_connections=min(connections, PEER_BATCHES_MAX),
        rate_max=50_000,
    )


WAYS = [
    Way(
        NOT_AWAITED,
        f"{CONNECTIONS} connections submit",
        "submit",
        programs.ANVIL_100_MS,
        rate_max=50_000,
    ),
    Way(
        TWO,
        f"{CONNECTIONS} clients: submission, then a long poll",
        "await",
        programs.ANVIL_10_MS,
        ("--wait", "two"),
        ("--poll",),
        rate_max=35_000,
    ),
    Way(
        ONE,
        f"{CONNECTIONS} clients: submission that waits",
        "await",
        programs.ANVIL_10_MS,
        ("--wait", "one"),
        rate_max=45_000,
    ),
    way_of_batches(
        MANY_256, f"{CONNECTIONS} clients: batch of {BATCH}, then one wait for it", CONNECTIONS
    ),
    way_of_batches(
        MANY_1,
        f"one connection: batches of {BATCH}, {AHEAD} ahead, one wait for each",
        1,
        *("--ahead", AHEAD),
    ),
]
# Ratios of two ways of the node, and the least that each of them shall be.
AIMS = [(ONE, TWO, 1.3), (MANY_1, MANY_256, 0.95), (MANY_1, NOT_AWAITED, 1.25)]


class Bulk:
    name = NAME
    rounds_max = None

    def measure(self, number, options, directory):
        ways = figures.in_turns(number, WAYS)
        return {way.name: way.measure(number, options, directory) for way in ways}

    def summaries(self, rounds, options):
        found = [
            result
            for way in WAYS
            for result in way.summaries([runs[way.name] for runs in rounds], options)
        ]
        aims = [aim(rounds, *of) for of in AIMS]
        return [*found, {"name": self.name, "head": AIMS_HEAD, "lines": aims}]


def aim(rounds, way, other, at_least):
    """Returns the line of an aim: the ratio of two ways by round."""

    def ratios(program):
        rates = [(rate(runs[way][program]), rate(runs[other][program])) for runs in rounds]
        return figures.spread([own / max(its, 1.0) for own, its in rates])

    node, floor = ratios(programs.NODE.name), ratios(programs.FLOOR.name)
    is_met = node["median"] >= at_least
    return [
        f"{way} / {other}",
        text(node),
        str(at_least),
        text(floor),
        "met" if is_met else "MISSED",
    ]


def rate(report):
    return report["committed_per_second"]


def text(spread):
    return f"{spread['median']:.2f} ({spread['min']:.2f} to {spread['max']:.2f})"


ROWS = [Bulk()]
