"""The tables of a redb file (file format 3), read without redb.

The layout is described in https://github.com/cberner/redb/blob/v4.6.0/docs/design.md and
docs/internals/storage.md#database. This module reads the newest durable commit. It does not verify
redb's page checksums: the hashes of the ledger cover the rows of blocks and transactions.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Iterator, NamedTuple

from .binary import Damaged, little, part, require

MAGIC = b"redb\x1a\x0a\xa9\x0d\x0a"
FILE_FORMAT = 3
PAGE_BYTES = 4096
HEADER_BYTES = 64
SLOT_BYTES = 128

# Bits of the byte after the magic number.
PRIMARY_SLOT = 1
RECOVERY_REQUIRED = 2
TWO_PHASE_COMMIT = 4

LEAF = 1
BRANCH = 2
NORMAL_TABLE = 3
# redb's own limit on the depth of a tree. It ends a cycle of damaged pages.
DEPTH_MAX = 128
# Size of a branch's entry for one child: checksum and page number.
CHECKSUM_BYTES = 16
PAGE_NUMBER_BYTES = 8
# Size of a tree's root in a commit slot and in a table's definition: page, checksum, length.
ROOT_BYTES = PAGE_NUMBER_BYTES + CHECKSUM_BYTES + 8


class Entry(NamedTuple):
    """A key with its value. `offset` is the position of the value in the file."""

    key: bytes
    value: bytes
    offset: int


@dataclass
class Table:
    """The root of a table's tree, which is `None` if the table is empty, and the sizes of its keys
    and values, which are `None` if they vary."""

    root: int | None
    length: int
    key_bytes: int | None
    value_bytes: int | None


class Database:
    """The newest durable commit of a redb file."""

    def __init__(self, path: Path):
        self._data = path.read_bytes()
        header = part(self._data, 0, HEADER_BYTES + 2 * SLOT_BYTES, "header of the database")
        require(header.startswith(MAGIC), "the file does not begin as a redb file")
        flags = header[len(MAGIC)]
        require(little(header, 12, 4, "page size") == PAGE_BYTES, "unexpected page size")
        self._header_pages = little(header, 16, 4, "header pages of a region")
        self._region_pages = self._header_pages + little(header, 20, 4, "data pages of a region")
        # Every durable commit of the store is a two-phase commit, so the primary slot is whole.
        require(flags & TWO_PHASE_COMMIT != 0, "the last commit was not a two-phase commit")
        self.was_closed = flags & RECOVERY_REQUIRED == 0
        begin = HEADER_BYTES + SLOT_BYTES * (flags & PRIMARY_SLOT)
        slot = header[begin : begin + SLOT_BYTES]
        require(slot[0] == FILE_FORMAT, f"file format {slot[0]} of redb")
        # Names of tables and their definitions vary in size.
        root = little(slot, 8, PAGE_NUMBER_BYTES, "root of the tables") if slot[1] else None
        names = Table(root, little(slot, 32, 8, "number of tables"), None, None)
        self.tables = {
            entry.key.decode(errors="replace"): self._definition(entry.value)
            for entry in self._entries(names)
        }

    def entries(self, name: str) -> Iterator[Entry]:
        """Yields the entries of a table, ascending by key as redb compares keys."""
        require(name in self.tables, f"the database has no table {name}")
        return self._entries(self.tables[name])

    @staticmethod
    def _definition(value: bytes) -> Table:
        """Decodes the definition of a table: kind, length, root, then the fixed sizes."""
        require(part(value, 0, 1, "kind of a table")[0] == NORMAL_TABLE, "a table of another kind")
        length = little(value, 1, 8, "length of a table")
        root = little(value, 10, PAGE_NUMBER_BYTES, "root of a table") if value[9] else None

        def fixed(begin: int) -> int | None:
            is_fixed = part(value, begin, begin + 1, "size of keys or values")[0]
            return little(value, begin + 1, 4, "size of keys or values") if is_fixed else None

        sizes = 10 + ROOT_BYTES
        return Table(root, length, fixed(sizes), fixed(sizes + 5))

    def _entries(self, table: Table) -> Iterator[Entry]:
        count = 0
        if table.root is not None:
            for entry in self._walk(table.root, table, 0):
                count += 1
                yield entry
        require(count == table.length, f"a table has {count} rows instead of {table.length}")

    def _walk(self, number: int, table: Table, depth: int) -> Iterator[Entry]:
        require(depth < DEPTH_MAX, "the tree of a table is too deep")
        begin, page = self._page(number)
        if page[0] == LEAF:
            yield from leaf_entries(page, begin, table)
        elif page[0] == BRANCH:
            for child in branch_children(page):
                yield from self._walk(child, table, depth + 1)
        else:
            raise Damaged(f"a page of kind {page[0]}")

    def _page(self, number: int) -> tuple[int, bytes]:
        """Returns the position and the bytes of a page.

        A page number has the index in the region, the region, and the order: the page has
        `2 ** order` times the base size.
        """
        order = number >> 59
        require(order <= 20, f"a page of order {order}")
        index = number & (0xFFFFF >> order)
        region = number >> 20 & 0xFFFFF
        pages = 1 + region * self._region_pages + self._header_pages + (index << order)
        begin = pages * PAGE_BYTES
        return begin, part(self._data, begin, begin + (PAGE_BYTES << order), "a page")


def branch_children(page: bytes) -> list[int]:
    """Returns the page numbers of a branch's children, in order of their keys."""
    children = little(page, 2, 2, "number of keys") + 1
    begin = 8 + children * CHECKSUM_BYTES
    return [
        little(page, begin + index * PAGE_NUMBER_BYTES, PAGE_NUMBER_BYTES, "a child")
        for index in range(children)
    ]


def leaf_entries(page: bytes, begin: int, table: Table) -> Iterator[Entry]:
    """Yields the entries of a leaf that begins at `begin` of the file.

    The ends of keys and then of values come first, unless their size is fixed; then all keys, then
    all values.
    """
    count = little(page, 2, 2, "number of entries")
    require(count > 0, "a leaf without entries")
    position = 4
    ends: list[list[int]] = []
    for size in (table.key_bytes, table.value_bytes):
        if size is None:
            ends.append([little(page, position + 4 * n, 4, "an end") for n in range(count)])
            position += 4 * count
        else:
            ends.append([size * (n + 1) for n in range(count)])
    key_ends, value_ends = ends
    if table.key_bytes is not None:
        key_ends = [position + end for end in key_ends]
    if table.value_bytes is not None:
        value_ends = [key_ends[-1] + end for end in value_ends]
    keys = zip([position, *key_ends], key_ends)
    values = zip([key_ends[-1], *value_ends], value_ends)
    for (key_begin, key_end), (value_begin, value_end) in zip(keys, values):
        key = part(page, key_begin, key_end, "a key")
        value = part(page, value_begin, value_end, "a value")
        yield Entry(key, value, begin + value_begin)
