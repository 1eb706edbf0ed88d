"""SipHash-1-3 with 128 bits of output, which the store uses for digests with a secret key."""

from struct import iter_unpack

MASK = 0xFFFFFFFFFFFFFFFF
INITIAL = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
FINAL_ROUNDS = 3
# Constants of the variant with 128 bits of output.
LONG_OUTPUT = 0xEE
SECOND_HALF = 0xDD


def _round(a: int, b: int, c: int, d: int) -> tuple[int, int, int, int]:
    """Runs one round of the permutation."""
    a = (a + b) & MASK
    b = (b << 13 | b >> 51) & MASK ^ a
    a = (a << 32 | a >> 32) & MASK
    c = (c + d) & MASK
    d = (d << 16 | d >> 48) & MASK ^ c
    a = (a + d) & MASK
    d = (d << 21 | d >> 43) & MASK ^ a
    c = (c + b) & MASK
    b = (b << 17 | b >> 47) & MASK ^ c
    c = (c << 32 | c >> 32) & MASK
    return a, b, c, d


def digest(key: bytes, message: bytes) -> bytes:
    """Returns the 16 bytes of the digest of `message` under a key of 16 bytes."""
    low, high = (int.from_bytes(key[begin : begin + 8], "little") for begin in (0, 8))
    a, b, c, d = (word ^ half for word, half in zip(INITIAL, (low, high, low, high)))
    b ^= LONG_OUTPUT
    # The last word has the length in its highest byte.
    padding = bytes(7 - len(message) % 8) + bytes([len(message) & 0xFF])
    for (word,) in iter_unpack("<Q", message + padding):
        a, b, c, d = _round(a, b, c, d ^ word)
        a ^= word
    a, b, c, d = _final_rounds(a, b, c ^ LONG_OUTPUT, d)
    first = a ^ b ^ c ^ d
    a, b, c, d = _final_rounds(a, b ^ SECOND_HALF, c, d)
    second = a ^ b ^ c ^ d
    return first.to_bytes(8, "little") + second.to_bytes(8, "little")


def _final_rounds(a: int, b: int, c: int, d: int) -> tuple[int, int, int, int]:
    """Runs the rounds before each half of the output."""
    for _ in range(FINAL_ROUNDS):
        a, b, c, d = _round(a, b, c, d)
    return a, b, c, d
