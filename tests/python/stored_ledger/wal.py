"""The write-ahead log: docs/internals/storage.md#write-ahead-log."""

from dataclasses import dataclass
from pathlib import Path
from typing import Iterator

from .binary import Damaged, little
from .siphash import digest

PAGE_BYTES = 4096
MAGIC = b"blocklog"
DIGEST_BYTES = 16
# Length of the header up to its own digest: magic number, four numbers, digest of the content.
COVERED_BYTES = 8 + 4 * 8 + DIGEST_BYTES
HEADER_BYTES = COVERED_BYTES + DIGEST_BYTES
# Input from which the key of the log is derived.
KEY_LABEL = b"\xffblock log"


@dataclass
class Record:
    """A whole record. `begin` is its position in the file, `height` that of the block before it."""

    begin: int
    generation: int
    number: int
    height: int
    content: bytes

    @property
    def end(self) -> int:
        """The position of the next record."""
        end = self.begin + HEADER_BYTES + len(self.content)
        return (end + PAGE_BYTES - 1) // PAGE_BYTES * PAGE_BYTES


@dataclass
class Header:
    """A header whose digest is correct."""

    generation: int
    number: int
    height: int
    content_bytes: int
    content_digest: bytes


def header_at(data: bytes, begin: int, key: bytes) -> Header | None:
    """Returns the header at `begin`, or `None` if there is none."""
    header = data[begin : begin + HEADER_BYTES]
    if len(header) < HEADER_BYTES or not header.startswith(MAGIC):
        return None
    if digest(key, header[:COVERED_BYTES]) != header[COVERED_BYTES:]:
        return None
    numbers = (little(header, 8 * index, 8, "a number") for index in range(1, 5))
    return Header(*numbers, header[COVERED_BYTES - DIGEST_BYTES : COVERED_BYTES])


def record_at(data: bytes, begin: int, key: bytes) -> Record | None:
    """Returns the record at `begin`, or `None` if there is no whole one."""
    header = header_at(data, begin, key)
    if header is None or header.content_bytes > len(data) - begin - HEADER_BYTES:
        return None
    content = data[begin + HEADER_BYTES :][: header.content_bytes]
    if digest(key, content) != header.content_digest:
        return None
    return Record(begin, header.generation, header.number, header.height, content)


def records(path: Path, digest_key: bytes, generation: int) -> Iterator[Record]:
    """Yields the records of one generation, in order.

    Raises `Damaged` if a record is not whole although a later one of its generation exists: the
    writer syncs a record before it writes the next one.
    """
    data = path.read_bytes()
    key = digest(digest_key, KEY_LABEL)
    begin, number = 0, 0
    while record := record_at(data, begin, key):
        if (record.generation, record.number) != (generation, number):
            break
        yield record
        begin, number = record.end, number + 1
    for later in range(begin, len(data), PAGE_BYTES):
        header = header_at(data, later, key)
        if header and header.generation == generation and header.number > number:
            raise Damaged(f"record {number} of the log is not whole, and {header.number} is later")
