"""The most expensive legal requests of every route that were found."""

import itertools
import json
import urllib.parse

import signing
import stock
import wire

# Maximum number of transactions of a page, and number of large ones in a batch.
PAGE_MAX, BATCH_MAX = 100, 10
# Bytes of a JSON body that is close to the maximum, 8 MiB.
BODY_BYTES = 8_000_000
# Type arguments with which a type can still be parsed.
LONG_TYPE_ARGUMENTS = 30
# Transfers that nearly fill a transaction.
BATCH_TRANSFERS = 1_500


class Request:
    """A request that is repeated; `make` returns its bytes for each number."""

    def __init__(self, name, make):
        self.name = name
        self.make = make
        self.numbers = itertools.count()

    def next(self):
        return self.make(next(self.numbers))


def requests(ledger):
    """Yields requests of every route."""
    yield from reads(ledger)
    yield from state(ledger)
    yield from transactions(ledger)
    yield from posts(ledger)


def get(name, path, accept=wire.JSON, *headers):
    return Request(name, lambda _: wire.get(path, accept, *headers))


def reads(ledger):
    owner, multisig = ledger["owner"], ledger["multisig"]
    balances, pages = ledger["balances"], ledger["pages"]
    yield get("GET /-/healthy", "/v1/-/healthy")
    yield get("GET /", "/v1")
    yield get("GET /info", "/v1/info")
    yield get("GET /spec", "/v1/spec")
    yield get("GET /spec.json", "/v1/spec.json")
    yield get("GET /spec.json, zstd", "/v1/spec.json", wire.JSON, "accept-encoding: zstd")
    yield get("GET /spec.json, br", "/v1/spec.json", wire.JSON, "accept-encoding: br")
    yield get("GET /spec.yaml", "/v1/spec.yaml")
    yield get("GET /estimate_gas_price", "/v1/estimate_gas_price")
    yield Request(
        "GET /accounts/{a}/balance/{asset}",
        lambda number: wire.get(balances[number % len(balances)]),
    )
    yield Request(
        "GET /transactions?limit=25, small",
        lambda number: wire.get(pages[number % len(pages)]),
    )
    yield Request(
        "GET /transactions?limit=15, small, br",
        lambda number: wire.get(
            pages[number % len(pages)].replace(f"limit={stock.PAGE}", "limit=15"),
            wire.JSON,
            "accept-encoding: br",
        ),
    )
    yield get("GET /accounts/{a}", f"/v1/accounts/{owner}")
    yield get("GET /accounts/{a}/resources", f"/v1/accounts/{owner}/resources")
    yield get("GET /accounts/0x1/resources", "/v1/accounts/0x1/resources")
    multisig_type = "0x1::multisig_account::MultisigAccount"
    yield get(
        "GET /accounts/{a}/resource/{type}", f"/v1/accounts/{multisig}/resource/{multisig_type}"
    )
    markers = ",".join(["0x1::string::String"] * LONG_TYPE_ARGUMENTS)
    long_type = urllib.parse.quote(f"0x1::coin::CoinStore<{owner}::m::C<{markers}>>")
    yield get(
        "GET /accounts/{a}/resource/{type}, long type",
        f"/v1/accounts/{owner}/resource/{long_type}",
    )
    yield get("GET /accounts/{a}/module/{name}", "/v1/accounts/0x1/module/multisig_account")
    yield get("GET /accounts/{a}/modules", "/v1/accounts/0x1/modules")
    yield get("GET /accounts/{a}/modules, BCS", "/v1/accounts/0x1/modules", wire.BCS)
    records = f"/v1/accounts/{owner}/events/0x1::registry::Registry/set_events"
    yield get("GET /accounts/{a}/events/{handle}/{field}, 100 of 8 KB", f"{records}?limit=100")
    stream = ledger["record_stream"]
    yield get(
        "GET /accounts/{a}/events/{number}, 100 of 8 KB",
        f"/v1/accounts/{owner}/events/{stream}?limit=100",
    )
    height = f"/v1/blocks/by_version/{ledger['first_large']}?with_transactions=true"
    yield get("GET /blocks/by_version, with_transactions", height)
    yield get(
        "GET /blocks/by_height/0, with_transactions",
        "/v1/blocks/by_height/0?with_transactions=true",
    )


def state(ledger):
    handle = ledger["registry"]
    key = {"key_type": "0x1::string::String", "value_type": "0x1::registry::Record"}
    item = json.dumps({**key, "key": ledger["record"]}).encode()
    yield Request(
        "POST /tables/{handle}/item", lambda _: wire.post(f"/v1/tables/{handle}/item", item)
    )
    raw_key = "0x" + signing.sized(ledger["record"]).hex()
    raw_item = json.dumps({"key": raw_key}).encode()
    yield Request(
        "POST /tables/{handle}/raw_item",
        lambda _: wire.post(f"/v1/tables/{handle}/raw_item", raw_item),
    )
    large_item = json.dumps({"key": "0x" + "11" * (BODY_BYTES // 2)}).encode()
    yield Request(
        "POST /tables/{handle}/raw_item, 8 MB key",
        lambda _: wire.post(f"/v1/tables/{handle}/raw_item", large_item),
    )
    # The variant of a table item, the handle, and the key.
    record_key = signing.sized(signing.sized(ledger["record"]))
    state_key = b"\1" + signing.address_bytes(handle) + record_key
    raw_value = json.dumps({"key": "0x" + state_key.hex()}).encode()
    yield Request(
        "POST /experimental/state_values/raw",
        lambda _: wire.post("/v1/experimental/state_values/raw", raw_value),
    )


def large_pages(ledger, path="/v1/transactions", limits=range(PAGE_MAX, PAGE_MAX + 1)):
    """Returns a function that returns the path of a page of large transactions for a number."""
    first, last = ledger["first_large"], ledger["last_large"] - PAGE_MAX
    limits = list(limits)

    def make(number):
        start = first + number * 7 % max(last - first, 1)
        return f"{path}?start={start}&limit={limits[number % len(limits)]}"

    return make


def transactions(ledger):
    owner = ledger["owner"]
    pages = large_pages(ledger)
    yield Request("GET /transactions?limit=100, 64 KB", lambda number: wire.get(pages(number)))
    yield Request(
        "GET /transactions?limit=100, 64 KB, zstd",
        lambda number: wire.get(pages(number), wire.JSON, "accept-encoding: zstd"),
    )
    yield Request(
        "GET /transactions?limit=100, 64 KB, br",
        lambda number: wire.get(pages(number), wire.JSON, "accept-encoding: br"),
    )
    yield Request(
        "HEAD /transactions?limit=100, 64 KB",
        lambda number: wire.get(pages(number)).replace(b"GET", b"HEAD", 1),
    )
    yield Request(
        "GET /transactions?limit=100, 64 KB, BCS", lambda number: wire.get(pages(number), wire.BCS)
    )
    of_account = f"/v1/accounts/{owner}/transactions"
    yield Request(
        "GET /accounts/{a}/transactions?limit=100, 64 KB",
        lambda number: wire.get(f"{of_account}?start={number % 100}&limit=100"),
    )
    summaries = f"/v1/accounts/{owner}/transaction_summaries"
    yield get("GET /accounts/{a}/transaction_summaries?limit=100", f"{summaries}?limit=100")
    auxiliary = large_pages(ledger, "/v1/transactions/auxiliary_info")
    yield Request(
        "GET /transactions/auxiliary_info?limit=100",
        lambda number: wire.get(auxiliary(number).replace("start=", "start_version=")),
    )
    transactions = "/v1/transactions"
    large = ledger["large_hash"]
    yield get("GET /transactions/by_hash, 64 KB", f"{transactions}/by_hash/{large}")
    yield get("GET /transactions/wait_by_hash, 64 KB", f"{transactions}/wait_by_hash/{large}")
    unknown = "0x" + "11" * 32
    yield get("GET /transactions/by_hash, unknown", f"{transactions}/by_hash/{unknown}")
    yield get("GET /transactions/wait_by_hash, unknown", f"{transactions}/wait_by_hash/{unknown}")
    version = ledger["first_large"]
    yield get("GET /transactions/by_version, 64 KB", f"{transactions}/by_version/{version}")
    genesis = f"{transactions}/by_version/0"
    yield get("GET /transactions/by_version/0", genesis)
    yield get(
        "GET /transactions/by_version/0, zstd", genesis, wire.JSON, "accept-encoding: zstd"
    )


def simulation():
    """Returns the most expensive simulation: a batch of transfers that fills a transaction."""
    spender = signing.Account(stock.SPENDERS[0])
    call = signing.batch_transfer(spender.address, BATCH_TRANSFERS)
    return spender.unsigned(call)


def json_transfer(account, payload_bytes=0):
    """Returns a transaction in JSON with an argument of this size."""
    return {
        "sender": account.hex,
        "sequence_number": "0",
        "max_gas_amount": "100000",
        "gas_unit_price": "100",
        "expiration_timestamp_secs": str(signing.EXPIRES_SECS),
        "payload": {
            "type": "entry_function_payload",
            "function": "0x1::registry::set",
            "type_arguments": [],
            "arguments": ["name", "0x" + "07" * payload_bytes],
        },
    }


def json_batch_transfer(account, transfers):
    """Returns a batch of transfers in JSON."""
    return {
        **json_transfer(account),
        "payload": {
            "type": "entry_function_payload",
            "function": "0x1::node_account::batch_transfer",
            "type_arguments": [],
            "arguments": [[account.hex] * transfers, ["1"] * transfers],
        },
    }


def signed_json(transaction):
    signature = {
        "type": "ed25519_signature",
        "public_key": "0x" + "11" * 32,
        "signature": "0x" + "00" * 64,
    }
    return {**transaction, "signature": signature}


def graphql():
    """Returns the query with the most fields that the node takes."""
    fields = " ".join(f"a{number}: last_success_version" for number in range(29))
    query = "query q { processor_status { " + fields + " } }"
    return json.dumps({"query": query}).encode()


def graphql_text():
    """Returns a query that fills a body with parentheses-free tokens."""
    query = "query q { processor_status { " + "a " * 1_900 + "} }"
    return json.dumps({"query": query}).encode()


def proposals(ledger):
    """Returns the view with the largest result: all pending proposals of a multisig account."""
    multisig = signing.address_bytes(ledger["multisig"])
    return signing.call("0x1::multisig_account::get_pending_transactions", [multisig])


def voting(ledger):
    """Returns the call with the most writes: a vote on all proposals, each of which is written."""
    arguments = [
        signing.address_bytes(ledger["multisig"]),
        signing.u64(1),
        signing.u64(stock.PROPOSALS),
        b"\1",
    ]
    return signing.call("0x1::multisig_account::vote_transactions", arguments)


def long_seed(seed_bytes):
    """Returns a view in JSON that hashes a long argument."""
    arguments = ["0x1", "0x" + "11" * seed_bytes]
    function = "0x1::object::create_object_address"
    request = {"function": function, "type_arguments": [], "arguments": arguments}
    return json.dumps(request).encode()


def posts(ledger):
    spender = signing.Account(stock.SPENDERS[0])
    simulated = simulation()
    path = "/v1/transactions/simulate"
    yield Request(
        "POST /transactions/simulate, 1,500 transfers",
        lambda _: wire.post(path, simulated, wire.SIGNED_BCS),
    )
    yield Request(
        "POST /transactions/simulate, 1,500 transfers, BCS",
        lambda _: wire.post(path, simulated, wire.SIGNED_BCS, wire.BCS),
    )
    small = spender.unsigned(signing.transfer(spender.address))
    yield Request(
        "POST /transactions/simulate, 1 transfer",
        lambda _: wire.post(path, small, wire.SIGNED_BCS),
    )
    owner = signing.Account(stock.OWNER)
    yield Request(
        "POST /transactions/simulate, votes on 20 proposals of 60 KB",
        lambda number: wire.post(
            path, owner.unsigned(voting(ledger), nonce=number), wire.SIGNED_BCS
        ),
    )
    yield Request(
        "POST /transactions, votes on 20 proposals of 60 KB",
        lambda number: signing.submission(owner.sign(voting(ledger), nonce=40_000 + number)),
    )
    passkeys = signing.Passkeys(stock.PASSKEYS[0])
    wrong = passkeys.sign(signing.transfer(passkeys.address), nonce=1, is_last_valid=False)
    yield Request(
        "POST /transactions/simulate, 32 passkeys",
        lambda _: wire.post(path, wrong, wire.SIGNED_BCS),
    )
    yield Request(
        "POST /transactions, 32 passkeys, the last one wrong", lambda _: signing.submission(wrong)
    )
    yield Request(
        "POST /transactions, 32 passkeys",
        lambda number: signing.submission(
            passkeys.sign(signing.transfer(passkeys.address), nonce=10_000 + number)
        ),
    )
    yield Request(
        "POST /transactions, 1 transfer",
        lambda number: signing.submission(
            spender.sign(signing.transfer(spender.address), nonce=10_000 + number)
        ),
    )
    large = signing.large_call(stock.LARGE_ARGUMENT_BYTES)
    yield Request(
        "POST /transactions, 64 KB",
        lambda number: signing.submission(spender.sign(large, nonce=20_000 + number)),
    )
    batch = signing.batch_transfer(spender.address, BATCH_TRANSFERS)
    yield Request(
        "POST /transactions, 1,500 transfers",
        lambda number: signing.submission(spender.sign(batch, nonce=30_000 + number)),
    )
    in_json = json.dumps(signed_json(json_batch_transfer(spender, 900))).encode()
    yield Request(
        "POST /transactions, 900 transfers, JSON", lambda _: wire.post("/v1/transactions", in_json)
    )
    too_large = json.dumps(signed_json(json_transfer(spender, BODY_BYTES // 2))).encode()
    yield Request(
        "POST /transactions, 8 MB JSON", lambda _: wire.post("/v1/transactions", too_large)
    )
    many = json.dumps([signed_json(json_batch_transfer(spender, 900))] * BATCH_MAX).encode()
    yield Request(
        "POST /transactions/batch, 900 transfers each, JSON",
        lambda _: wire.post("/v1/transactions/batch", many),
    )
    wrong_batch = signing.vector([wrong] * BATCH_MAX)
    batch_bcs = "application/x.node.signed_transaction+bcs"
    yield Request(
        "POST /transactions/batch, 32 passkeys each",
        lambda _: wire.post("/v1/transactions/batch", wrong_batch, batch_bcs),
    )
    encoded = json.dumps(json_transfer(spender, BODY_BYTES // 2 - 1_000)).encode()
    yield Request(
        "POST /transactions/encode_submission, 8 MB",
        lambda _: wire.post("/v1/transactions/encode_submission", encoded),
    )
    transfers = json.dumps(json_batch_transfer(spender, 100_000)).encode()
    yield Request(
        "POST /transactions/encode_submission, 100,000 transfers",
        lambda _: wire.post("/v1/transactions/encode_submission", transfers),
    )
    view = proposals(ledger)
    yield Request(
        "POST /view, 20 proposals of 60 KB", lambda _: wire.post("/v1/view", view, wire.VIEW_BCS)
    )
    seed = long_seed(BODY_BYTES // 2 - 1_000)
    yield Request("POST /view, 8 MB seed", lambda _: wire.post("/v1/view", seed))
    yield Request("POST /graphql, 29 fields", lambda _: wire.post("/v1/graphql", graphql()))
    yield Request("POST /graphql, 4 KB", lambda _: wire.post("/v1/graphql", graphql_text()))
