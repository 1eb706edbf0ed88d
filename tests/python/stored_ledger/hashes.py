"""Hashes of the ledger: docs/internals/storage.md#hashes."""

from hashlib import sha3_256

from .bcs import encode_uleb

# Root of an empty tree, and the right sibling of a subtree without one.
PLACEHOLDER = b"ACCUMULATOR_PLACEHOLDER_HASH".ljust(32, b"\0")


class Hasher:
    """The hashes of a chain, whose vendor word is part of every prefix."""

    def __init__(self, vendor: str):
        self._vendor = vendor

    def of(self, type_name: str, data: bytes) -> bytes:
        """Returns the hash of a value of a type: SHA3-256 of the type's prefix and the BCS form."""
        return sha3_256(sha3_256(f"{self._vendor}::{type_name}".encode()).digest() + data).digest()

    def root(self, type_name: str, leaves: list[bytes]) -> bytes:
        """Returns the root of a tree with these leaves, whose inner nodes have a type's prefix."""
        level = leaves or [PLACEHOLDER]
        while len(level) > 1:
            if len(level) % 2:
                level = [*level, PLACEHOLDER]
            pairs = zip(level[::2], level[1::2])
            level = [self.of(type_name, left + right) for left, right in pairs]
        return level[0]

    def payload_root(self, hashes: list[bytes]) -> bytes:
        """Returns the root over the hashes of the ordered transactions of a block."""
        return self.root("TransactionAccumulator", hashes)

    def event_root(self, events: list[bytes]) -> bytes:
        """Returns the root over the events of a transaction, each in BCS."""
        leaves = [self.of("ContractEvent", event) for event in events]
        return self.root("EventAccumulator", leaves)

    def state_change(self, writes: list[bytes]) -> bytes:
        """Returns the hash of a write set, from its writes in BCS. Its variant index is 0."""
        return self.of("WriteSet", b"\0" + encode_uleb(len(writes)) + b"".join(writes))


class Accumulator:
    """The tree over the infos of all transactions, as the roots of its full subtrees: one per set
    bit of the number of leaves, the largest first."""

    def __init__(self, hasher: Hasher, leaf_count: int, peaks: list[bytes]):
        self._hasher = hasher
        self.leaf_count = leaf_count
        self.peaks = list(peaks)

    def append(self, leaf: bytes) -> None:
        """Appends a leaf and merges subtrees of equal size."""
        level = 0
        while self.leaf_count >> level & 1:
            leaf = self._node(self.peaks.pop(), leaf)
            level += 1
        self.peaks.append(leaf)
        self.leaf_count += 1

    def root(self) -> bytes:
        """Returns the root. A subtree without a sibling has the placeholder as the right one."""
        if not self.peaks:
            return PLACEHOLDER
        level = (self.leaf_count & -self.leaf_count).bit_length() - 1
        node = self.peaks[-1]
        remaining = self.peaks[:-1]
        height = (self.leaf_count - 1).bit_length()
        is_smallest = True
        while level < height:
            if not is_smallest and self.leaf_count >> level & 1:
                node = self._node(remaining.pop(), node)
            else:
                node = self._node(node, PLACEHOLDER)
            is_smallest = False
            level += 1
        return node

    def _node(self, left: bytes, right: bytes) -> bytes:
        return self._hasher.of("TransactionAccumulator", left + right)
