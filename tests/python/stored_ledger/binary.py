"""Bounds-checked reads from bytes."""


class Damaged(Exception):
    """Bytes that contradict docs/internals/storage.md."""


def require(holds: bool, what: str) -> None:
    """Raises `Damaged` with the text `what` unless `holds`."""
    if not holds:
        raise Damaged(what)


def part(data: bytes, begin: int, end: int, what: str) -> bytes:
    """Returns `data[begin:end]`, which must lie within `data`."""
    if not 0 <= begin <= end <= len(data):
        raise Damaged(f"{what}: bytes {begin} to {end} of {len(data)}")
    return data[begin:end]


def little(data: bytes, begin: int, count: int, what: str) -> int:
    """Returns the little-endian number in `count` bytes from `begin`."""
    return int.from_bytes(part(data, begin, begin + count, what), "little")


def big(data: bytes, begin: int, count: int, what: str) -> int:
    """Returns the big-endian number in `count` bytes from `begin`."""
    return int.from_bytes(part(data, begin, begin + count, what), "big")
