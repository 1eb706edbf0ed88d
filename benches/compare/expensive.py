"""The most expensive requests that were found, which the loads of `beside` and `shares` repeat.

Each function of a load takes the description of the ledger, and returns a function that makes the
request of a number.
"""

import json

import signing
import stock
import wire

# Maximum number of transactions of a page, of hashes of a wait, and of transactions of a batch.
PAGE_MAX, HASHES_MAX, BATCH_MAX = 100, 10_000, 1_000
# Number of large transactions in a batch in JSON.
LARGE_BATCH_MAX = 10
# Bytes of a JSON body that is close to the maximum, 8 MiB.
BODY_BYTES = 8_000_000
# Transfers that nearly fill a transaction, in BCS and in JSON.
BATCH_TRANSFERS, JSON_TRANSFERS = 1_500, 900


def same(request):
    """Returns the function that makes the same request for each number."""
    return lambda _: request


def got(path, *headers):
    return same(wire.get(path, wire.JSON, *headers))


def small_pages(ledger):
    pages = ledger["pages"]
    return lambda number: wire.get(pages[number % len(pages)])


def large_pages(ledger, limits=range(PAGE_MAX, PAGE_MAX + 1)):
    """Returns a function that returns the path of a page of large transactions for a number."""
    first, last = ledger["first_large"], ledger["last_large"] - PAGE_MAX
    limits = list(limits)

    def make(number):
        start = first + number * 7 % max(last - first, 1)
        return f"/v1/transactions?start={start}&limit={limits[number % len(limits)]}"

    return make


def heads_of_pages(ledger):
    pages = large_pages(ledger)
    return lambda number: wire.get(pages(number)).replace(b"GET", b"HEAD", 1)


def compressed_document(_ledger):
    return got("/v1/spec.json", "accept-encoding: zstd")


def resources(ledger):
    return got(f"/v1/accounts/{ledger['owner']}/resources")


def modules(_ledger):
    return got("/v1/accounts/0x1/modules")


def events(ledger):
    stream = "0x1::registry::Registry/set_events"
    return got(f"/v1/accounts/{ledger['owner']}/events/{stream}?limit={PAGE_MAX}")


def by_hash(ledger):
    return got(f"/v1/transactions/wait_by_hash/{ledger['large_hash']}")


def simulation():
    """Returns the most expensive simulation: a batch of transfers that fills a transaction."""
    spender = signing.Account(stock.SPENDERS[0])
    call = signing.batch_transfer(spender.address, BATCH_TRANSFERS)
    return spender.unsigned(call)


def voting(ledger):
    """Returns the call with the most writes: a vote on all proposals, each of which is written."""
    arguments = [
        signing.address_bytes(ledger["multisig"]),
        signing.u64(1),
        signing.u64(stock.PROPOSALS),
        b"\1",
    ]
    return signing.call("0x1::multisig_account::vote_transactions", arguments)


def simulated_votes(ledger):
    owner, call = signing.Account(stock.OWNER), voting(ledger)
    path = "/v1/transactions/simulate"
    return lambda number: wire.post(path, owner.unsigned(call, nonce=number), wire.SIGNED_BCS)


def proposals(ledger):
    """Returns the view with the largest result: all pending proposals of a multisig account."""
    multisig = signing.address_bytes(ledger["multisig"])
    view = signing.call("0x1::multisig_account::get_pending_transactions", [multisig])
    return same(wire.post("/v1/view", view, wire.VIEW_BCS))


def long_seed(_ledger):
    """Returns a view in JSON that hashes a long argument."""
    function = "0x1::object::create_object_address"
    arguments = ["0x1", "0x" + "11" * (BODY_BYTES // 2 - 1_000)]
    request = {"function": function, "type_arguments": [], "arguments": arguments}
    return same(wire.post("/v1/view", json.dumps(request).encode()))


def graphql(_ledger):
    """Returns a query that fills a body with parentheses-free tokens."""
    query = "query q { processor_status { " + "a " * 1_900 + "} }"
    return same(wire.post("/v1/graphql", json.dumps({"query": query}).encode()))


def json_batch_transfer(account, transfers):
    """Returns a batch of transfers in JSON."""
    return {
        "sender": account.hex,
        "sequence_number": "0",
        "max_gas_amount": "100000",
        "gas_unit_price": "100",
        "expiration_timestamp_secs": str(signing.EXPIRES_SECS),
        "payload": {
            "type": "entry_function_payload",
            "function": "0x1::node_account::batch_transfer",
            "type_arguments": [],
            "arguments": [[account.hex] * transfers, ["1"] * transfers],
        },
    }


def encoded_transfers(_ledger):
    spender = signing.Account(stock.SPENDERS[0])
    transfers = json.dumps(json_batch_transfer(spender, 100_000)).encode()
    return same(wire.post("/v1/transactions/encode_submission", transfers))


def large_json_batch(_ledger):
    signature = {
        "type": "ed25519_signature",
        "public_key": "0x" + "11" * 32,
        "signature": "0x" + "00" * 64,
    }
    transfers = json_batch_transfer(signing.Account(stock.SPENDERS[0]), JSON_TRANSFERS)
    signed = {**transfers, "signature": signature}
    batch = json.dumps([signed] * LARGE_BATCH_MAX).encode()
    return same(wire.post("/v1/transactions/batch", batch))


def batch(signed):
    """Returns the request that submits these transactions."""
    body = signing.vector(signed)
    return wire.post("/v1/transactions/batch", body, wire.SIGNED_BCS, wire.BCS)


def transfers(first_nonce):
    """Returns as many transfers as a batch may have, with nonces from `first_nonce` on."""
    spender = signing.Account(stock.SPENDERS[0])
    call = signing.transfer(spender.address)
    nonces = range(first_nonce, first_nonce + BATCH_MAX)
    return [spender.sign(call, nonce=nonce) for nonce in nonces]


def wrong_batch(_ledger):
    """Returns a batch of transactions with well-formed signatures that are invalid."""
    return same(batch([signed[:-32] + bytes(32) for signed in transfers(1)]))


def wait(hashes, timeout_ms):
    """Returns a request that waits for `hashes`, each as 32 bytes."""
    path = f"/v1/transactions/wait?timeout_ms={timeout_ms}"
    return wire.post(path, signing.vector(hashes), wire.BCS, wire.BCS)


def unknown_waits(_ledger):
    hashes = ["0x" + signing.sha3(signing.u64(number)).hex() for number in range(HASHES_MAX)]
    return same(wire.post("/v1/transactions/wait", json.dumps({"hashes": hashes}).encode()))


def status(signed):
    return same(wire.post("/v1/transactions/status", signed, wire.SIGNED_BCS))


def status_of_committed(_ledger):
    # The first transaction that the ledger's owner committed.
    call = signing.large_call(stock.LARGE_ARGUMENT_BYTES, 0)
    return status(signing.Account(stock.OWNER).sign(call))


def status_of_passkeys(_ledger):
    passkeys = signing.Passkeys(stock.PASSKEYS[0])
    call = signing.transfer(passkeys.address)
    return status(passkeys.sign(call, nonce=1, is_last_valid=False))
