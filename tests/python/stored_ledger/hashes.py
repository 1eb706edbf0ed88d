"""Hashes of the ledger: docs/internals/storage.md#hashes."""

from hashlib import sha3_256

from .bcs import encode_uleb


class Hasher:
    """The hashes of a chain, whose vendor word is part of every prefix."""

    def __init__(self, vendor: str):
        self._vendor = vendor

    def of(self, type_name: str, data: bytes) -> bytes:
        """Returns the hash of a value of a type: SHA3-256 of the type's prefix and the BCS form."""
        return sha3_256(sha3_256(f"{self._vendor}::{type_name}".encode()).digest() + data).digest()

    def root(self, leaves: list[bytes]) -> bytes:
        """Returns the root of the Merkle tree of RFC 9162 (section 2.1.1) with these leaves."""
        if not leaves:
            return self.node(b"", b"")
        if len(leaves) == 1:
            return leaves[0]
        split = 1 << (len(leaves) - 1).bit_length() - 1
        return self.node(self.root(leaves[:split]), self.root(leaves[split:]))

    def node(self, left: bytes, right: bytes) -> bytes:
        """Returns an inner node of a tree."""
        return self.of("TransactionAccumulator", left + right)

    def events(self, events: list[bytes]) -> bytes:
        """Returns the hash of the events of a transaction, each in BCS."""
        return self.of("ContractEvents", encode_uleb(len(events)) + b"".join(events))

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
            leaf = self._hasher.node(self.peaks.pop(), leaf)
            level += 1
        self.peaks.append(leaf)
        self.leaf_count += 1

    def root(self) -> bytes:
        """Returns the root of the tree, which has a leaf."""
        *larger, root = self.peaks
        for peak in reversed(larger):
            root = self._hasher.node(peak, root)
        return root
