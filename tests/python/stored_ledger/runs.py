"""The runs of the state below the window: docs/internals/storage.md#runs."""

from dataclasses import dataclass
from typing import Any

from .bcs import decode
from .binary import Damaged, big, little, part, require
from .redb import Database, Entry
from .schema import STREAM_END, WRITE
from .siphash import digest

RUN_NUMBER_BYTES = 8
DIGEST_BYTES = 16
# Bytes of a digest that all state keys of an address share.
OWNER_BYTES = 6
PAYLOAD_LENGTH_BYTES = 4
# Set in the number of a run, it is the number of the run's bloom filter.
FILTER_BIT = 1 << 63
FILTER_COUNT_BYTES = 8
FILTER_BLOCK_BYTES = 32
SALTS = (
    0x47B6137B,
    0x44974D91,
    0x8824AD5B,
    0xA2B7289D,
    0x705495C7,
    0x2DF1424B,
    0x9EFC4947,
    0x5C6BFB31,
)

# First byte of a payload.
DELETION = 0
VALUE = 1
STREAM = 2


@dataclass
class PrunedState:
    """What pruned versions leave: the value of each state key, which is `None` for a deletion, and
    the number after the last pruned event of each stream."""

    values: dict[bytes, bytes | None]
    streams: dict[tuple[bytes, int], int]
    runs: int = 0
    filters: int = 0


def read_pruned_state(database: Database, manifest: dict[str, Any], key: bytes) -> PrunedState:
    """Reads the runs of pruned state, oldest first, so that newer entries replace older ones."""
    blocks: dict[int, list[Entry]] = {}
    for block in database.entries("runs"):
        blocks.setdefault(big(block.key, 0, RUN_NUMBER_BYTES, "number of a run"), []).append(block)
    state = PrunedState({}, {})
    for run in manifest["pruned_state"]["list"]:
        entries = run_entries(blocks.get(run["id"], []))
        require(len(entries) == run["entries"], f"run {run['id']} has {len(entries)} entries")
        segments = blocks.get(run["id"] | FILTER_BIT, [])
        state.runs += 1
        state.filters += check_filter(segments, [entry for entry, _ in entries])
        for entry, payload in entries:
            apply_payload(state, entry, payload, key)
    return state


def run_entries(blocks: list[Entry]) -> list[tuple[bytes, bytes]]:
    """Returns the digests and payloads in the blocks of a run."""
    entries: list[tuple[bytes, bytes]] = []
    for block in blocks:
        data, position = block.value, 0
        require(block.key[RUN_NUMBER_BYTES:] == data[:DIGEST_BYTES], "the key of a block of a run")
        while position < len(data):
            begin = position + DIGEST_BYTES + PAYLOAD_LENGTH_BYTES
            entry = part(data, position, position + DIGEST_BYTES, "an entry of a run")
            length = little(data, position + DIGEST_BYTES, PAYLOAD_LENGTH_BYTES, "a length")
            position = begin + length
            require(not entries or entries[-1][0] < entry, "the entries of a run do not ascend")
            entries.append((entry, part(data, begin, position, "a payload of a run")))
    return entries


def apply_payload(state: PrunedState, entry: bytes, payload: bytes, key: bytes) -> None:
    """Applies an entry to the state. Its digest must be that of the key in its payload."""
    kind, rest = part(payload, 0, 1, "kind of a payload")[0], payload[1:]
    if kind == STREAM:
        stream, number = decode(STREAM_END, rest)
        address, creation_number = stream["account_address"], stream["creation_number"]
        expected = digest(key, b"\xff" + address + creation_number.to_bytes(8, "big"))
        state.streams[address, creation_number] = number
    elif kind in (VALUE, DELETION):
        state_key, (operation, value) = decode(WRITE, rest)
        require((operation != "Delete") == (kind == VALUE), "the kind of a payload")
        expected = state_key_digest(state_key, key)
        state.values[state_key] = value
    else:
        raise Damaged(f"a payload of kind {kind}")
    require(entry == expected, "the digest of an entry is not that of its key")


def state_key_digest(state_key: bytes, key: bytes) -> bytes:
    """Returns the digest of a state key. It begins with that of the address, if there is one."""
    whole = digest(key, state_key)
    if state_key[:1] != b"\0" or len(state_key) < 33:
        return whole
    return digest(key, state_key[:33])[:OWNER_BYTES] + whole[OWNER_BYTES:]


def check_filter(segments: list[Entry], keys: list[bytes]) -> bool:
    """Checks that the bloom filter of a run has all of its keys. Returns whether there is one.

    A filter that stands for fewer entries is none: a program that writes no filters has written a
    part of the run.
    """
    count = sum(little(row.value, 0, FILTER_COUNT_BYTES, "a filter") for row in segments)
    if count != len(keys):
        return False
    for key in keys:
        holding = [row for row in segments if row.key[RUN_NUMBER_BYTES:] <= key]
        require(bool(holding) and segment_has(holding[-1].value, key), "a key missing in a filter")
    return True


def segment_has(row: bytes, key: bytes) -> bool:
    """Returns whether all eight bits of a key are set in a segment of a filter."""
    blocks = row[FILTER_COUNT_BYTES:]
    require(blocks != b"" and len(blocks) % FILTER_BLOCK_BYTES == 0, "the size of a filter")
    key_hash = little(key, 0, 8, "a key") ^ little(key, 8, 8, "a key")
    number = (key_hash >> 32) * (len(blocks) // FILTER_BLOCK_BYTES) >> 32
    for index, salt in enumerate(SALTS):
        bit = ((key_hash & 0xFFFFFFFF) * salt & 0xFFFFFFFF) >> 27
        begin = number * FILTER_BLOCK_BYTES + 4 * index
        if not little(blocks, begin, 4, "a word of a filter") >> bit & 1:
            return False
    return True
