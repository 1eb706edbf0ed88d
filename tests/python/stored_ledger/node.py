"""Comparison of a directory with the responses of a node that has the same ledger."""

import json
from typing import Any
from urllib.parse import quote
from urllib.request import Request, urlopen

from . import schema
from .balances import Balance, balances, newest_state
from .bcs import Reader, encode_uleb
from .binary import require
from .ledger import Block, Ledger, Transaction

TIMEOUT_SECS = 30
# Maximum number of transactions in a response.
PAGE_MAX = 100


class NodeClient:
    """A client of a node's REST interface. `api` is the address before `/v1`."""

    def __init__(self, api: str):
        self._api = api

    def get(self, path: str) -> Any:
        """Returns the JSON response to a path below `/v1`."""
        return json.loads(self.read(path, "application/json"))

    def read(self, path: str, media_type: str) -> bytes:
        """Returns the body of the response to a path below `/v1` in a media type."""
        request = Request(f"{self._api}/v1{path}", headers={"accept": media_type})
        with urlopen(request, timeout=TIMEOUT_SECS) as response:
            return response.read()


def compare(ledger: Ledger, node: NodeClient) -> None:
    """Raises `Damaged` if the newest state of a directory is not that of an idle node."""
    compare_info(ledger, node.get("/"))
    for block in readable_blocks(ledger):
        compare_block(block, node.get(f"/blocks/by_height/{block.height}"))
    transactions = [t for block in readable_blocks(ledger) for t in block.transactions]
    for begin in range(0, len(transactions), PAGE_MAX):
        compare_page(transactions[begin : begin + PAGE_MAX], node)
    for balance in balances(newest_state(ledger)):
        compare_balance(balance, node)


def readable_blocks(ledger: Ledger) -> list[Block]:
    """Returns the blocks that a node serves: the log may record that the oldest are pruned."""
    oldest = ledger.oldest_version
    return [block for block in ledger.blocks if block.row["first_version"] >= oldest]


def compare_info(ledger: Ledger, info: dict[str, Any]) -> None:
    """Compares both ends of the ledger with the ledger info."""
    readable = readable_blocks(ledger)
    tip = readable[-1].tip or ledger.head["tip"]
    for name, expected in [
        ("chain_id", ledger.head["chain_id"]),
        ("epoch", str(tip["epoch"])),
        ("ledger_version", str(readable[-1].row["last_version"])),
        ("block_height", str(readable[-1].height)),
        ("oldest_ledger_version", str(readable[0].row["first_version"])),
        ("oldest_block_height", str(readable[0].height)),
        ("ledger_timestamp", str(readable[-1].row["header"]["timestamp_usecs"])),
    ]:
        require(info[name] == expected, f"{name} is {expected}, and {info[name]} in the node")


def compare_block(block: Block, response: dict[str, Any]) -> None:
    """Compares a block with its response."""
    row = block.row
    for name, expected in [
        ("block_hash", f"0x{row['hash'].hex()}"),
        ("block_timestamp", str(row["header"]["timestamp_usecs"])),
        ("first_version", str(row["first_version"])),
        ("last_version", str(row["last_version"])),
    ]:
        require(response[name] == expected, f"block {block.height}: {name} in the node")


def compare_page(transactions: list[Transaction], node: NodeClient) -> None:
    """Compares transactions with two responses: hashes in JSON, everything in BCS."""
    path = f"/transactions?start={transactions[0].version}&limit={len(transactions)}"
    responses = node.get(path)
    require(len(responses) == len(transactions), f"{path}: {len(responses)} transactions")
    for transaction, response in zip(transactions, responses):
        info = transaction.info
        for name, expected in [
            ("version", str(transaction.version)),
            ("hash", f"0x{info['transaction_hash'].hex()}"),
            ("state_change_hash", f"0x{info['state_change_hash'].hex()}"),
            ("event_root_hash", f"0x{info['event_root_hash'].hex()}"),
            ("accumulator_root_hash", f"0x{transaction.accumulator_root.hex()}"),
            ("gas_used", str(info["gas_used"])),
            ("success", info["status"][0] == "Success"),
        ]:
            require(
                response[name] == expected, f"version {transaction.version}: {name} in the node"
            )
    expected = encode_uleb(len(transactions)) + b"".join(map(on_chain_data, transactions))
    require(node.read(path, "application/x-bcs") == expected, f"{path} in BCS")


def on_chain_data(transaction: Transaction) -> bytes:
    """Returns a transaction in the form of a BCS response."""
    events, writes = transaction.events, transaction.writes
    return b"".join(
        [
            transaction.version.to_bytes(8, "little"),
            transaction_data(transaction.body_bytes),
            transaction.info_bytes,
            encode_uleb(len(events)),
            *events,
            transaction.accumulator_root,
            write_set_data(writes),
        ]
    )


def transaction_data(body: bytes) -> bytes:
    """Returns the form of a transaction in a BCS response. Only genesis has another stored form,
    because it contains a write set."""
    variant, payload = body[:1], body[1:]
    if variant != b"\1":
        return body
    reader = Reader(payload[2:])
    writes = [reader.slice_of(schema.WRITE)[1] for _ in range(reader.length())]
    return variant + payload[:1] + write_set_data(writes) + payload[2 + reader.position :]


def write_set_data(writes: list[bytes]) -> bytes:
    """Returns the form of rows of writes in a BCS response."""
    return b"".join([b"\0", encode_uleb(len(writes)), *map(write_data, writes)])


def write_data(row: bytes) -> bytes:
    """Returns the form of a write in a BCS response: no length precedes the state key, and one
    precedes the key of a table item, which follows one byte and the handle."""
    reader = Reader(row)
    key = reader.take(reader.length())
    operation = row[reader.position :]
    if key[:1] == b"\1":
        key = key[:33] + encode_uleb(len(key) - 33) + key[33:]
    return key + operation


def compare_balance(balance: Balance, node: NodeClient) -> None:
    """Compares a balance with its response."""
    path = f"/accounts/0x{balance.owner.hex()}/balance/{quote(balance.asset, safe='')}"
    response = node.get(path)
    require(response == balance.amount, f"{path} is {balance.amount}, and {response} in the node")
