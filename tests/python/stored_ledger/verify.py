"""Checks of a directory that need no node: the ledger's hashes, recomputed from its rows."""

from .bcs import encode_uleb
from .binary import Damaged, require
from .hashes import Accumulator, Hasher
from .ledger import Block, Ledger, Transaction


def verify(ledger: Ledger) -> None:
    """Raises `Damaged` if a hash, a link or a number contradicts docs/internals/storage.md.

    The hashes cover blocks, transactions, events and writes, not the runs of pruned state.
    """
    hasher = Hasher(ledger.vendor)
    for transaction in ledger.transactions():
        check_transaction(transaction, hasher)
    validators = [bytes.fromhex(key[2:]) for key in ledger.genesis.get("validators", [])]
    for block in ledger.blocks:
        check_block(block, hasher, validators)
    for before, block in zip(ledger.blocks, ledger.blocks[1:]):
        check_link(before, block)
    check_roots(ledger)
    check_head(ledger)
    check_accumulator(ledger, hasher)


def check_transaction(transaction: Transaction, hasher: Hasher) -> None:
    """Checks the hashes in the info of a transaction."""
    info, version = transaction.info, transaction.version
    for name, expected in [
        ("transaction_hash", hasher.of("Transaction", transaction.body_bytes)),
        ("event_root_hash", hasher.events(transaction.events)),
        ("state_change_hash", hasher.state_change(transaction.writes)),
    ]:
        require(info[name] == expected, f"version {version}: {name} is not that of its rows")


def check_block(block: Block, hasher: Hasher, validators: list[bytes]) -> None:
    """Checks the hash of a block, its payload root, and the block ids in its transactions."""
    row, height = block.row, block.height
    header = encode_header(row["header"])
    require(hasher.of("Block", header) == row["hash"], f"block {height}: hash")
    require(
        len(block.transactions) == row["last_version"] + 1 - row["first_version"],
        f"block {height}: number of transactions",
    )
    hashes, ids = [], []
    for transaction in block.transactions:
        require(transaction.height == height, f"version {transaction.version}: height")
        kind, content = transaction.body
        if kind in ("User", "Genesis"):
            hashes.append(transaction.info["transaction_hash"])
        elif kind == "BlockMetadataExt":
            ids.append(content[1]["metadata"]["id"])
        elif kind == "BlockEpilogue":
            ids.append(content[1]["block_id"])
        else:
            raise Damaged(f"version {transaction.version}: a transaction of kind {kind}")
    require(ids == [row["hash"]] * (2 if height else 0), f"block {height}: block ids")
    for discarded in row["discarded"]:
        hashes.insert(discarded["position"], discarded["hash"])
        body = discarded["transaction"]
        require(bool(body) == bool(row["certificate"]), f"block {height}: discarded bodies")
        if body:
            found = hasher.of("Transaction", b"\0" + body)
            require(found == discarded["hash"], f"block {height}: a discarded transaction")
    if height == 0 and validators:
        keys = b"".join(encode_uleb(len(key)) + key for key in validators)
        hashes.append(hasher.of("Validators", encode_uleb(len(validators)) + keys))
    root = row["header"]["payload_root"]
    require(hasher.root(hashes) == root, f"block {height}: payload root")


def encode_header(header: dict) -> bytes:
    """Returns the BCS form of a block header."""
    numbers = [header[name].to_bytes(8, "little") for name in ("height", "epoch", "round")]
    timestamp = header["timestamp_usecs"].to_bytes(8, "little")
    executed = header["executed"]
    parts = [header["parent_hash"], *numbers, header["proposer"], timestamp, header["payload_root"]]
    root = [executed["version"].to_bytes(8, "little"), executed["accumulator_root"]]
    return b"".join(parts + root)


def check_link(before: Block, block: Block) -> None:
    """Checks that a block follows the one before it without a gap."""
    height = block.height
    require(height == before.height + 1, f"block {height} follows block {before.height}")
    require(block.row["header"]["parent_hash"] == before.row["hash"], f"block {height}: parent")
    first = before.row["last_version"] + 1
    require(block.row["first_version"] == first, f"block {height}: first version")


def check_roots(ledger: Ledger) -> None:
    """Checks that headers and tips name the results of earlier blocks.

    Of a pruned ledger only the results in the window are known.
    """
    delay = ledger.genesis["parameters"]["root_delay_blocks"]
    roots = {block.height: root_after(block) for block in ledger.blocks}
    for block in ledger.blocks:
        expected = roots.get(max(block.height - delay, 0))
        found = block.row["header"]["executed"]
        require(expected in (None, found), f"block {block.height}: result in the header")
    tips = [block.tip for block in ledger.blocks[ledger.blocks_in_tables :]]
    for tip in [ledger.head["tip"], *tips]:
        heights = range(max(tip["height"] - delay + 1, 0), tip["height"] + 1)
        require(len(tip["roots"]) == len(heights), f"tip {tip['height']}: number of roots")
        for height, found in zip(heights, tip["roots"]):
            expected = roots.get(height)
            require(expected in (None, found), f"tip {tip['height']}: root of block {height}")


def root_after(block: Block) -> dict:
    """Returns the root of the ledger after a block."""
    root = block.transactions[-1].accumulator_root
    return {"version": block.row["last_version"], "accumulator_root": root}


def check_head(ledger: Ledger) -> None:
    """Checks that the head names the first and the last block of the tables."""
    require(ledger.blocks_in_tables > 0, "the tables have no block")
    head, tip = ledger.head, ledger.head["tip"]
    first, last = ledger.blocks[0], ledger.blocks[ledger.blocks_in_tables - 1]
    for name, found, expected in [
        ("oldest version", head["oldest_version"], first.row["first_version"]),
        ("oldest height", head["oldest_block_height"], first.height),
        ("height", tip["height"], last.height),
        ("hash", tip["block_hash"], last.row["hash"]),
        ("version", tip["version"], last.row["last_version"]),
        ("time", tip["timestamp_usecs"], last.row["header"]["timestamp_usecs"]),
        ("leaves", tip["accumulator"]["leaf_count"], tip["version"] + 1),
    ]:
        require(found == expected, f"the {name} of the head is {found!r}, not {expected!r}")
    starts = {block.row["first_version"] for block in ledger.blocks}
    require(ledger.oldest_version in starts, "the oldest version begins no block")


def check_accumulator(ledger: Ledger, hasher: Hasher) -> None:
    """Checks the accumulator after each transaction.

    Of a pruned ledger only the peaks that cover the window can be recomputed up to the head; from
    there on, in the log, each root.
    """
    tables = ledger.blocks[: ledger.blocks_in_tables]
    stored = ledger.head["tip"]["accumulator"]
    if ledger.head["oldest_version"] == 0:
        accumulator = Accumulator(hasher, 0, [])
        extend(accumulator, tables, hasher)
        require(accumulator.peaks == stored["peaks"], "the accumulator of the head")
    else:
        check_peaks(ledger, tables, hasher)
        accumulator = Accumulator(hasher, stored["leaf_count"], stored["peaks"])
        root = tables[-1].transactions[-1].accumulator_root
        require(accumulator.root() == root, "the accumulator root of the head")
    for block in ledger.blocks[ledger.blocks_in_tables :]:
        extend(accumulator, [block], hasher)
        peaks = block.tip["accumulator"]["peaks"]
        require(accumulator.peaks == peaks, f"the accumulator after block {block.height}")


def extend(accumulator: Accumulator, blocks: list[Block], hasher: Hasher) -> None:
    """Appends the infos of blocks and compares each root."""
    for transaction in (t for block in blocks for t in block.transactions):
        accumulator.append(hasher.of("TransactionInfo", transaction.info_bytes))
        require(
            accumulator.root() == transaction.accumulator_root,
            f"version {transaction.version}: accumulator root",
        )


def check_peaks(ledger: Ledger, tables: list[Block], hasher: Hasher) -> None:
    """Checks the peaks of the head whose leaves all lie in the window."""
    stored = ledger.head["tip"]["accumulator"]
    oldest = ledger.head["oldest_version"]
    leaves = [
        hasher.of("TransactionInfo", transaction.info_bytes)
        for block in tables
        for transaction in block.transactions
    ]
    end = stored["leaf_count"]
    require(len(stored["peaks"]) == end.bit_count(), "the number of peaks of the head")
    for peak in reversed(stored["peaks"]):
        size = end & -end
        end -= size
        if end < oldest:
            break
        subtree = leaves[end - oldest : end - oldest + size]
        require(hasher.root(subtree) == peak, f"the peak of {size} leaves from {end}")
