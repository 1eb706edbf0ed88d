"""Loads that provoke symptoms. Each is a context manager around a running node."""

import contextlib
import itertools
import multiprocessing
import os
import subprocess

import assaults
import expensive
import programs
import sender
import signing
import stock
import wire

# Time for which `ledger-node bench` lasts if nothing ends it, in seconds.
SECONDS_MAX = 3_600
# Transfers of a ledger whose blocks are read, and the number of these blocks.
TRANSFERS, BLOCKS = 20_000, 20
# Simulations at a time of the load that keeps the readers busy.
SIMULATIONS = 64


def bench(*words):
    """Returns a load of transfers of `ledger-node bench`."""

    @contextlib.contextmanager
    def load(node, options):
        command = programs.bench_command(options, node, "--duration", SECONDS_MAX, *words)
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        process = subprocess.Popen([str(word) for word in command], **quiet)
        try:
            yield
        finally:
            process.kill()
            process.wait()

    return load


def requests(make):
    """Returns a load of requests. `make` prepares the node and returns a `sender.Load`."""

    @contextlib.contextmanager
    def load(node, options):
        client = signing.Client(node.addresses)
        prepared = make(client, node, options)
        client.close()
        running = sender.Running(node.addresses["api"], prepared)
        running.mark()
        try:
            yield
        finally:
            running.stop()

    return load


def together(*loads):
    @contextlib.contextmanager
    def load(node, options):
        with contextlib.ExitStack() as running:
            for each in loads:
                running.enter_context(each(node, options))
            yield

    return load


def reads(path, connections):
    """Returns a load that repeats a read."""
    return requests(lambda *_: sender.Load(connections, assaults.fixed(wire.get(path))))


def simulations(client, *_):
    client.fund(signing.Account(stock.SPENDERS[0]))
    load = assaults.simulations({})
    load.connections = SIMULATIONS
    return load


def passkeys(client, *_):
    """Returns a load of one account with 32 signatures in each transaction."""
    client.fund(signing.Passkeys(stock.PASSKEYS[0]))
    return assaults.valid_signatures({})


def votes(client, *_):
    """Returns a load of one account whose transactions each take milliseconds to execute."""
    owner = signing.Account(stock.OWNER)
    client.fund(owner)
    multisig = stock.add_proposals(client, stock.Sequence(client, owner))
    call = expensive.voting({"multisig": multisig})
    return assaults.orderless(lambda _: call, stock.OWNER)({})


def polls(connections):
    """Returns a load of long polls for transactions that cannot be committed."""

    def make(client, *_):
        ledger = {}
        for name in (stock.PARKED, stock.WAITED):
            client.fund(signing.Account(name))
        assaults.park(client, ledger)
        load = assaults.long_polls(ledger)
        load.connections = connections
        return load

    return make


def blocks(client, node, options):
    """Returns a load that reads the same blocks again and again."""
    load = ("--transfers", TRANSFERS, "--connections", 128)
    programs.output_of(programs.bench_command(options, node, *load))
    newest = int(client.get("/v1")["block_height"])
    paths = [
        f"/v1/blocks/by_height/{height}?with_transactions=true"
        for height in range(max(newest - BLOCKS, 1), newest)
    ]
    return sender.Load(32, lambda: itertools.cycle(map(wire.get, paths)))


@contextlib.contextmanager
def busy_programs(_node, _options):
    """Keeps all cores busy with other programs."""
    others = [multiprocessing.Process(target=spin, daemon=True) for _ in range(os.cpu_count())]
    for process in others:
        process.start()
    try:
        yield
    finally:
        for process in others:
            process.kill()
            process.join()


def spin():
    while True:
        pass
