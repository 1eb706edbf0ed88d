"""The loads of the row `beside`: the most expensive requests of one client."""

import dataclasses
import itertools

import expensive
import sender
import signing
import stock
import wire

# Long polls of the load that takes the capacity, and the lower capacity with which it does.
LONG_POLLS, LONG_POLLS_MAX = 6_000, 4_096
# Transactions of an account that wait for a missing one.
PARKED = 60
# First nonce of the loads.
FIRST_NONCE = 1_000_000
# Number of transactions that one account signs before its load. They fill its part of the mempool.
PRE_SIGNED = 4_000
# Number of batches of 1,000 transfers that are signed before their load. Their nonces expire soon.
PRE_SIGNED_BATCHES = 40
# Balance reads in each batch of the harmless load.
PIPELINED = 16


class Assault:
    """A load with the settings of its node, and the preparation of its accounts."""

    def __init__(self, title, load, settings=(), prepare=None):
        self.title = title
        # Function of the ledger's description that returns a `sender.Load`.
        self.load = load
        self.settings = settings
        # Function of a client and the ledger's description that submits what the load needs.
        self.prepare = prepare


def repeated(make):
    """Returns the function of a load that sends the requests of `make` by number."""
    return lambda: (make(number) for number in itertools.count())


def fixed(request):
    return lambda: itertools.repeat(request)


def expensive_load(request, connections, expected=(200,)):
    """Returns the function of a load that repeats a request of `expensive`."""
    return lambda ledger: sender.Load(connections, repeated(request(ledger)), expected=expected)


def simulations(_ledger):
    request = wire.post("/v1/transactions/simulate", expensive.simulation(), wire.SIGNED_BCS)
    return sender.Load(3_000, fixed(request))


def pages(ledger):
    make = expensive.large_pages(ledger, limits=range(60, 101))
    return sender.Load(200, repeated(lambda number: wire.get(make(number))))


def hasty_pages(ledger):
    return dataclasses.replace(pages(ledger), pause_seconds=0.0)


def unread_pages(ledger):
    return dataclasses.replace(pages(ledger), is_reading=False)


def pages_of_account(ledger):
    path = f"/v1/accounts/{ledger['owner']}/transactions"
    return sender.Load(
        200, repeated(lambda number: wire.get(f"{path}?start={number % 100}&limit=100"))
    )


def orderless(call, account=stock.SPENDERS[0], signed_before=PRE_SIGNED):
    """Returns the function of a load of one account that submits a call again and again."""

    def load(_ledger):
        def requests():
            spender = signing.Account(account)
            payload = call(spender)

            def request(number):
                return signing.submission(spender.sign(payload, nonce=number), wire.BCS)

            first = FIRST_NONCE
            prepared = [request(first + number) for number in range(signed_before)]
            following = map(request, itertools.count(first + signed_before))
            return itertools.chain(prepared, following)

        return sender.Load(64, requests, expected=(202,))

    return load


def large_call(_spender):
    return signing.large_call(stock.LARGE_ARGUMENT_BYTES)


def large_batch(spender):
    return signing.batch_transfer(spender.address, expensive.BATCH_TRANSFERS)


def park(client, ledger):
    """Submits transactions that cannot be committed, and adds one hash for the observers."""
    for name, key in ((stock.PARKED, "parked"), (stock.WAITED, "waited")):
        account = signing.Account(name)
        numbers = range(1, 1 + PARKED)
        signed = [account.sign(signing.transfer(account.address), number) for number in numbers]
        ledger[key] = [client.submit(transaction) for transaction in signed]
    ledger["waited"] = ledger["waited"][0]


def long_polls(ledger):
    requests = [wire.get(f"/v1/transactions/wait_by_hash/{hash}") for hash in ledger["parked"]]
    return sender.Load(LONG_POLLS, lambda: itertools.cycle(requests))


def wrong_signatures(_ledger):
    passkeys = signing.Passkeys(stock.PASSKEYS[0])
    call = signing.transfer(passkeys.address)
    wrong = passkeys.sign(call, nonce=FIRST_NONCE, is_last_valid=False)
    return sender.Load(500, fixed(signing.submission(wrong)), expected=(400,))


def valid_signatures(_ledger):
    def requests():
        passkeys = signing.Passkeys(stock.PASSKEYS[0])
        call = signing.transfer(passkeys.address)
        for number in itertools.count(FIRST_NONCE):
            yield signing.submission(passkeys.sign(call, nonce=number), wire.BCS)

    return sender.Load(500, requests, expected=(202,))


def pipelined_pages(ledger):
    """Returns a load of batches of pages of small transactions."""
    batch = b"".join(map(wire.get, ledger["pages"][:PIPELINED]))
    return sender.Load(256, fixed(batch), pipelined=PIPELINED)


def waits_for_many(ledger):
    """Returns a load of waits, each for all transactions that cannot be committed."""
    hashes = [bytes.fromhex(hash.removeprefix("0x")) for hash in ledger["parked"]]
    return sender.Load(LONG_POLLS // PARKED, fixed(expensive.wait(hashes, 60_000)))


def large_batches(_ledger):
    """Returns a load of batches of 1,000 valid transfers of one account."""

    def requests():
        def request(number):
            first = FIRST_NONCE + number * expensive.BATCH_MAX
            return expensive.batch(expensive.transfers(first))

        prepared = [request(number) for number in range(PRE_SIGNED_BATCHES)]
        return itertools.chain(prepared, map(request, itertools.count(PRE_SIGNED_BATCHES)))

    return sender.Load(64, requests, expected=(202, 206))


def balances(ledger, connections=64):
    """Returns the harmless load: batches of balance reads."""
    paths = ledger["balances"]
    batches = [
        b"".join(wire.get(paths[(start + number) % len(paths)]) for number in range(PIPELINED))
        for start in range(len(paths))
    ]
    return sender.Load(connections, lambda: itertools.cycle(batches), pipelined=PIPELINED)


ALL = {
    "simulations": Assault("3,000 simulations of 1,500 transfers", simulations),
    "pages": Assault("200 pages of 60 to 100 transactions of 64 KB", pages),
    "hasty_pages": Assault("the same, repeated at once after a rejection", hasty_pages),
    "pages_of_account": Assault("200 pages of 100 transactions of 64 KB", pages_of_account),
    "large": Assault("one account, 64 KB transactions", orderless(large_call)),
    "batches": Assault("one account, 1,500 transfers each", orderless(large_batch)),
    "unread": Assault("200 pages that are not read", unread_pages),
    "votes": Assault(
        "one account, votes on 20 proposals of 60 KB",
        lambda ledger: orderless(lambda _: expensive.voting(ledger), stock.OWNER)(ledger),
    ),
    "simulated_votes": Assault(
        "simulations of votes on 20 proposals of 60 KB",
        expensive_load(expensive.simulated_votes, 500),
    ),
    "heads": Assault(
        "HEAD of pages of 100 transactions of 64 KB",
        expensive_load(expensive.heads_of_pages, 200),
    ),
    "long_polls": Assault(
        "one address, all long polls",
        long_polls,
        (f"wait.capacity={LONG_POLLS_MAX}",),
        park,
    ),
    "views": Assault("views of 1.2 MB", expensive_load(expensive.proposals, 500)),
    "long_views": Assault("views with 8 MB of JSON", expensive_load(expensive.long_seed, 20)),
    "wrong_signatures": Assault("32 passkeys, the last one wrong", wrong_signatures),
    "signatures": Assault("32 passkeys", valid_signatures),
    "graphql": Assault("GraphQL queries of 4 KB", expensive_load(expensive.graphql, 64)),
    "json": Assault(
        "8 MB of JSON to encode",
        expensive_load(expensive.encoded_transfers, 20),
    ),
    "batch_json": Assault(
        "batches in JSON, 900 transfers each",
        expensive_load(expensive.large_json_batch, 64),
    ),
    "resources": Assault("2,100 resources", expensive_load(expensive.resources, 256)),
    "modules": Assault("modules", expensive_load(expensive.modules, 256)),
    "events": Assault(
        "pages of 100 events of 8 KB",
        expensive_load(expensive.events, 256),
    ),
    "by_hash": Assault(
        "transactions of 64 KB by hash", expensive_load(expensive.by_hash, 256)
    ),
    "pipelined": Assault("pipelined reads of small pages", pipelined_pages),
    "documents": Assault("the OpenAPI document", expensive_load(expensive.compressed_document, 256)),
    "waits_for_many": Assault(
        "one address, all permits of waits, 60 in each request",
        waits_for_many,
        (f"wait.capacity={LONG_POLLS_MAX}",),
        park,
    ),
    "unknown_waits": Assault(
        "waits for 10,000 unknown hashes",
        expensive_load(expensive.unknown_waits, 64),
    ),
    "large_batches": Assault("one account, batches of 1,000 transfers", large_batches),
    "wrong_batches": Assault(
        "batches of 1,000 wrong signatures",
        expensive_load(expensive.wrong_batch, 64, (400,)),
    ),
    "statuses": Assault(
        "the status of a transaction of 64 KB",
        expensive_load(expensive.status_of_committed, 256),
    ),
    "status_signatures": Assault(
        "the status of 32 passkeys, the last one wrong",
        expensive_load(expensive.status_of_passkeys, 500),
    ),
}
