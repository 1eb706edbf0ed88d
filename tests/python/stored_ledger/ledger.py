"""A data directory of a stopped node: the tables at the last checkpoint, then the log."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Iterator

from . import schema, wal
from .bcs import U64, Reader, decode, enum, vector
from .binary import Damaged, little, require
from .redb import Database
from .runs import PrunedState, read_pruned_state

FORMATS = (6,)
HASH_BYTES = 32
NO_RUNS = {"pruned_state": {"list": []}}
CLOSED = {"generation": 0, "is_open": False}


@dataclass
class Transaction:
    """A committed transaction with its parts, decoded and in BCS."""

    version: int
    height: int
    body: tuple[str, Any]
    body_bytes: bytes
    info: dict[str, Any]
    info_bytes: bytes
    accumulator_root: bytes
    events: list[bytes] = field(default_factory=list)
    writes: list[bytes] = field(default_factory=list)


@dataclass
class Block:
    """A block. `tip` is the end of the chain after it; only the log has it for each block."""

    row: dict[str, Any]
    transactions: list[Transaction]
    tip: dict[str, Any] | None = None

    @property
    def height(self) -> int:
        """The height of the block."""
        return self.row["header"]["height"]


@dataclass
class Ledger:
    """The content of a directory. `blocks` has those of the tables, then those of the log."""

    format: int
    genesis: dict[str, Any]
    head: dict[str, Any]
    oldest_version: int
    blocks: list[Block]
    blocks_in_tables: int
    pruned_state: PrunedState
    log_records: int
    prune_records: int

    @property
    def vendor(self) -> str:
        """The vendor word of the chain."""
        return self.genesis["vendor"]

    def transactions(self) -> Iterator[Transaction]:
        """Yields all transactions, in order."""
        for block in self.blocks:
            yield from block.transactions


def read_ledger(directory: Path) -> Ledger:
    """Reads a directory. Raises `Damaged` if its content contradicts docs/internals/storage.md."""
    database = Database(directory / "ledger.redb")
    meta = {entry.key.decode(errors="replace"): entry.value for entry in database.entries("meta")}
    for key in ("format", "genesis", "digest_key", "head"):
        require(key in meta, f"the table meta has no {key}")
    found = little(meta["format"], 0, 8, "the format")
    require(found in FORMATS, f"format {found}")
    digest_key = meta["digest_key"]
    require(len(digest_key) == 16, "the digest key has another length")
    manifest = decode(schema.MANIFEST, meta["catalog"]) if "catalog" in meta else NO_RUNS
    head = decode(schema.HEAD, meta["head"])
    blocks = blocks_of_tables(database)
    ledger = Ledger(
        format=found,
        genesis=decode_genesis(meta["genesis"]),
        head=head,
        oldest_version=head["oldest_version"],
        blocks=blocks,
        blocks_in_tables=len(blocks),
        pruned_state=read_pruned_state(database, manifest, digest_key),
        log_records=0,
        prune_records=0,
    )
    state = decode(schema.WAL_STATE, meta["log"]) if "log" in meta else CLOSED
    if state["is_open"]:
        apply_log(ledger, wal.records(directory / "ledger.log", digest_key, state["generation"]))
    return ledger


def decode_genesis(text: bytes) -> dict[str, Any]:
    """Decodes the genesis, of which a reader needs the vendor word and the delay of roots."""
    try:
        genesis = json.loads(text)
    except ValueError as error:
        raise Damaged(f"the genesis is not JSON: {error}") from None
    has_vendor = isinstance(genesis, dict) and isinstance(genesis.get("vendor"), str)
    require(has_vendor, "the genesis has no vendor word")
    parameters = genesis.get("parameters")
    delay = parameters.get("root_delay_blocks") if isinstance(parameters, dict) else None
    require(isinstance(delay, int), "the genesis has no delay of roots")
    return genesis


def apply_log(ledger: Ledger, records: Iterator[wal.Record]) -> None:
    """Appends what the log has beyond the tables, in the order of its records."""
    tip = expected = ledger.head["tip"]["height"]
    for record in records:
        # The tables may be ahead of the first record, and each record follows the one before it.
        follows = record.height <= tip if record.number == 0 else record.height == expected
        require(follows, f"record {record.number} of the log follows block {record.height}")
        expected = record.height
        kind, content = decode(ENTRY, record.content)
        ledger.log_records += 1
        if kind == "Prune":
            ledger.prune_records += 1
            ledger.oldest_version = max(ledger.oldest_version, content)
            continue
        for block in content:
            expected = block.height
            # A close of redb without a checkpoint leaves blocks of the log in the tables as well.
            if block.height > tip:
                ledger.blocks.append(block)


def blocks_of_tables(database: Database) -> list[Block]:
    """Returns the blocks of the tables with their transactions."""
    transactions = {}
    for entry in database.entries("transactions"):
        version = little(entry.key, 0, 8, "a version")
        transactions[version] = transaction_of_row(version, entry.value)
    for name, parts in (("events", "events"), ("writes", "writes")):
        for entry in database.entries(name):
            version, number = little(entry.key, 0, 8, name), little(entry.key, 8, 4, name)
            require(version in transactions, f"{name} of version {version}, which has no row")
            rows = getattr(transactions[version], parts)
            require(number == len(rows), f"{name} of version {version}: number {number}")
            rows.append(entry.value)
    blocks, count = [], 0
    for entry in database.entries("blocks"):
        row = decode(schema.BLOCK_ROW, entry.value)
        height = little(entry.key, 0, 8, "a height")
        require(row["header"]["height"] == height, f"block {height} has another height in its row")
        versions = range(row["first_version"], row["last_version"] + 1)
        require(all(version in transactions for version in versions), f"versions of block {height}")
        blocks.append(Block(row, [transactions[version] for version in versions]))
        count += len(versions)
    require(count == len(transactions), "a transaction is in no block")
    return blocks


def transaction_of_row(version: int, row: bytes) -> Transaction:
    """Decodes a row of the table `transactions`: height, transaction, info, accumulator root."""
    height = little(row, 0, 8, "the height of a transaction")
    reader = Reader(row[8:])
    body, body_bytes = reader.slice_of(schema.TRANSACTION)
    (_, info), info_bytes = reader.slice_of(schema.INFO)
    root = reader.take(HASH_BYTES)
    reader.end()
    return Transaction(version, height, body, body_bytes, info, info_bytes, root)


def logged_transaction(reader: Reader) -> Transaction:
    """Reads a transaction of the log. The block sets its version and height."""
    body, body_bytes = reader.slice_of(schema.TRANSACTION)
    hash_value = reader.take(HASH_BYTES)
    (_, info), info_bytes = reader.slice_of(schema.INFO)
    require(hash_value == info["transaction_hash"], "a transaction of the log has two hashes")
    events = [reader.slice_of(schema.EVENT)[1] for _ in range(reader.length())]
    require(reader.uleb() == 0, "a write set of another version")
    writes = [reader.slice_of(schema.WRITE)[1] for _ in range(reader.length())]
    root = reader.take(HASH_BYTES)
    return Transaction(0, 0, body, body_bytes, info, info_bytes, root, events, writes)


def logged_block(reader: Reader) -> Block:
    """Reads a block of the log, which has the tip in addition to the content of the tables."""
    header = schema.HEADER(reader)
    first_version = U64(reader)
    transactions = vector(logged_transaction)(reader)
    discarded = vector(schema.DISCARDED)(reader)
    certificate = schema.BYTES(reader)
    tip = schema.TIP(reader)
    for version, transaction in enumerate(transactions, first_version):
        transaction.version, transaction.height = version, header["height"]
    row = {
        "header": header,
        "hash": tip["block_hash"],
        "first_version": first_version,
        "last_version": tip["version"],
        "discarded": discarded,
        "certificate": certificate,
    }
    return Block(row, transactions, tip)


# Content of a record of the log.
ENTRY = enum("WalEntry", Commit=vector(logged_block), Prune=U64)
