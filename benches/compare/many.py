"""The most expensive legal requests of the routes for status, many waits and large batches, and the
first request beyond each of their limits."""

import json

import expensive
import signing
import stock
import wire

# Maximum number of hashes of a wait, and of transactions of a batch.
HASHES_MAX, BATCH_MAX = 10_000, 1_000
# Maximum size of a batch in BCS, in bytes. One in JSON is limited as every body.
BATCH_BYTES_MAX = 655_361
# First nonces of the batches, far apart, because each request of a batch uses new ones.
FIRST_NONCE = {"BCS": 10_000_000, "JSON": 20_000_000, "one": 30_000_000, "passkeys": 40_000_000}
STATUS, WAIT, BATCH = (
    "/v1/transactions/status",
    "/v1/transactions/wait",
    "/v1/transactions/batch",
)


def requests(ledger):
    """Yields requests of the three routes, and of submissions that wait."""
    yield from statuses(ledger)
    yield from waits(ledger)
    yield from batches()


def fixed(name, request):
    return expensive.Request(name, lambda _: request)


def statuses(ledger):
    owner = signing.Account(stock.OWNER)
    spender = signing.Account(stock.SPENDERS[0])
    passkeys = signing.Passkeys(stock.PASSKEYS[0])
    call = signing.transfer(passkeys.address)

    def status(name, signed, accept=wire.JSON):
        name = f"POST /transactions/status, {name}"
        return fixed(name, wire.post(STATUS, signed, wire.SIGNED_BCS, accept))

    # The first transactions that the ledger's owner committed.
    committed = owner.sign(signing.large_call(stock.LARGE_ARGUMENT_BYTES, 0))
    yield status("committed, 64 KB", committed)
    yield status("committed, 64 KB, BCS", committed, wire.BCS)
    other = owner.sign(signing.large_call(stock.LARGE_ARGUMENT_BYTES, 1))
    yield status("used sequence number, 64 KB", other)
    yield status("can commit, transfer", spender.sign(signing.transfer(spender.address)))
    yield status("gap of sequence numbers", spender.sign(signing.transfer(spender.address), 90))
    yield expensive.Request(
        "POST /transactions/status, can commit, 32 passkeys",
        lambda number: wire.post(
            STATUS, passkeys.sign(call, nonce=FIRST_NONCE["passkeys"] + number), wire.SIGNED_BCS
        ),
    )
    wrong = passkeys.sign(call, nonce=1, is_last_valid=False)
    yield status("32 passkeys, the last one wrong", wrong)
    batch = spender.sign(signing.batch_transfer(spender.address, expensive.BATCH_TRANSFERS))
    yield status("1,500 transfers", batch)
    in_json = expensive.signed_json(expensive.json_batch_transfer(spender, 900))
    yield fixed(
        "POST /transactions/status, 900 transfers, JSON",
        wire.post(STATUS, json.dumps(in_json).encode()),
    )
    too_large = expensive.signed_json(expensive.json_transfer(spender, expensive.BODY_BYTES // 2))
    yield fixed(
        "POST /transactions/status, 8 MB JSON",
        wire.post(STATUS, json.dumps(too_large).encode()),
    )


def unknown_hashes(count):
    return [signing.sha3(signing.u64(number)) for number in range(count)]


def wait(hashes, form="JSON", timeout_ms=None, accept=None):
    """Returns a request that waits for `hashes`, each as 32 bytes."""
    query = "" if timeout_ms is None else f"?timeout_ms={timeout_ms}"
    if form == "BCS":
        return wire.post(WAIT + query, signing.vector(hashes), wire.BCS, accept or wire.BCS)
    body = json.dumps({"hashes": ["0x" + hash.hex() for hash in hashes]}).encode()
    return wire.post(WAIT + query, body, wire.JSON, accept or wire.JSON)


def waits(ledger):
    unknown = unknown_hashes(HASHES_MAX + 1)
    committed = [bytes.fromhex(hash.removeprefix("0x")) for hash in ledger["hashes"]]
    committed = committed[:HASHES_MAX]
    for form in ("JSON", "BCS"):
        name = f"POST /transactions/wait, {form}"
        yield fixed(f"{name}, 10,000 unknown hashes", wait(unknown[:HASHES_MAX], form))
        yield fixed(f"{name}, {len(committed):,} committed", wait(committed, form))
        yield fixed(f"{name}, 10,000 times the same hash", wait(unknown[:1] * HASHES_MAX, form))
        yield fixed(f"{name}, 10,001 hashes (illegal)", wait(unknown, form))


def transfers(form, count, first_nonce, is_valid=True):
    """Returns the body of a batch of transfers with nonces from `first_nonce` on."""
    spender = signing.Account(stock.SPENDERS[0])
    call = signing.transfer(spender.address)
    nonces = range(first_nonce, first_nonce + count)
    if form == "BCS":
        signed = [spender.sign(call, nonce=nonce) for nonce in nonces]
        if not is_valid:
            signed = [with_wrong_signature(transaction) for transaction in signed]
        return signing.vector(signed)
    return json.dumps([json_transfer(spender, call, nonce, is_valid) for nonce in nonces]).encode()


def with_wrong_signature(signed):
    """Returns a transaction with another signature, which is well-formed."""
    return signed[:-64] + signed[-64:-32] + bytes(32)


def json_transfer(spender, call, nonce, is_valid):
    unsigned = signing.raw(spender.address, call, nonce=nonce)
    signature = spender.key.sign(signing.RAW_TRANSACTION + unsigned)
    # The eight bytes before the chain id.
    expires_secs = int.from_bytes(unsigned[-9:-1], "little")
    return {
        "sender": spender.hex,
        "sequence_number": str(signing.ORDERLESS),
        "replay_protection_nonce": str(nonce),
        "max_gas_amount": str(signing.MAX_GAS_AMOUNT),
        "gas_unit_price": str(signing.GAS_UNIT_PRICE),
        "expiration_timestamp_secs": str(expires_secs),
        "payload": {
            "type": "entry_function_payload",
            "function": "0x1::node_account::transfer",
            "type_arguments": [],
            "arguments": [spender.hex, "1"],
        },
        "signature": {
            "type": "ed25519_signature",
            "public_key": "0x" + spender.public_key.hex(),
            "signature": "0x" + (signature if is_valid else signature[:32] + bytes(32)).hex(),
        },
    }


def batch(form, body):
    if form == "BCS":
        return wire.post(BATCH, body, wire.SIGNED_BCS, wire.BCS)
    return wire.post(BATCH, body)


def batches():
    for form in ("BCS", "JSON"):
        name = f"POST /transactions/batch, {form}"
        first = FIRST_NONCE[form]
        yield expensive.Request(
            f"{name}, 1,000 transfers",
            lambda number, form=form, first=first: batch(
                form, transfers(form, BATCH_MAX, first + number * BATCH_MAX)
            ),
        )
        wrong = transfers(form, BATCH_MAX, 1, is_valid=False)
        yield fixed(f"{name}, 1,000 wrong signatures", batch(form, wrong))
        beyond = transfers(form, BATCH_MAX + 1, 1)
        yield fixed(f"{name}, 1,001 transfers (illegal)", batch(form, beyond))
    yield from large_batches()
    spender = signing.Account(stock.SPENDERS[1])
    large_call = signing.large_call(stock.LARGE_ARGUMENT_BYTES)
    yield expensive.Request(
        "POST /transactions?timeout_ms=60000, 64 KB",
        lambda number: wire.post(
            "/v1/transactions?timeout_ms=60000",
            spender.sign(large_call, nonce=FIRST_NONCE["one"] + number),
            wire.SIGNED_BCS,
        ),
    )


def large_batches():
    """Yields batches whose limit is their size, with the largest and the slowest transactions."""
    passkeys = signing.Passkeys(stock.PASSKEYS[0])
    call = signing.transfer(passkeys.address)
    spender = signing.Account(stock.SPENDERS[0])
    for title, signed in (
        # They lack earlier ones, so the mempool keeps them and takes the same bytes again.
        ("of 64 KB", spender.sign(signing.large_call(stock.LARGE_ARGUMENT_BYTES), 90)),
        ("of 32 passkeys, the last one wrong", passkeys.sign(call, nonce=1, is_last_valid=False)),
    ):
        # The number of transactions takes one byte.
        count = (BATCH_BYTES_MAX - 1) // len(signed)
        name = "POST /transactions/batch, BCS"
        yield fixed(f"{name}, {count} {title}", batch("BCS", signing.vector([signed] * count)))
    beyond = batch("BCS", signing.vector([signed] * (count + 1)))
    yield fixed(f"{name}, {count + 1} {title} (illegal)", beyond)
    each = expensive.signed_json(expensive.json_batch_transfer(spender, 900))
    count = expensive.BODY_BYTES // len(json.dumps(each))
    in_json = json.dumps([each] * count).encode()
    yield fixed(
        f"POST /transactions/batch, JSON, {count} of 900 transfers", batch("JSON", in_json)
    )
