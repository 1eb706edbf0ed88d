"""Decoder of BCS (https://github.com/diem/bcs) that follows a schema.

A schema is a function that reads a value from a `Reader`. A struct becomes a dictionary, a variant
of an enum a pair of its name and its content.
"""

from typing import Any, Callable

from .binary import Damaged, part, require

# Maximum length of a sequence, and maximum nesting depth of structs and enums.
LENGTH_MAX = 2**31 - 1
DEPTH_MAX = 500


class Reader:
    """Bytes with a position."""

    def __init__(self, data: bytes):
        self.data = data
        self.position = 0
        self.depth = 0

    def take(self, count: int) -> bytes:
        """Returns the next `count` bytes."""
        begin, self.position = self.position, self.position + count
        return part(self.data, begin, self.position, "a value in BCS")

    def uleb(self) -> int:
        """Returns the next variable-length number, which must fit 32 bits and be canonical."""
        value = 0
        for shift in range(0, 35, 7):
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                require(byte != 0 or shift == 0, "a number with a needless byte")
                require(value < 2**32, "a number above 32 bits")
                return value
        raise Damaged("a number of more than five bytes")

    def length(self) -> int:
        """Returns the length of the next sequence."""
        length = self.uleb()
        require(length <= LENGTH_MAX, "a sequence that is too long")
        return length

    def slice_of(self, schema: "Schema") -> tuple[Any, bytes]:
        """Returns the next value, and its bytes."""
        begin = self.position
        value = schema(self)
        return value, self.data[begin : self.position]

    def end(self) -> None:
        """Checks that no byte is left."""
        rest = len(self.data) - self.position
        require(rest == 0, f"{rest} bytes follow a value in BCS")


Schema = Callable[[Reader], Any]


def decode(schema: Schema, data: bytes) -> Any:
    """Decodes a value that takes all of `data`."""
    reader = Reader(data)
    value = schema(reader)
    reader.end()
    return value


def encode_uleb(value: int) -> bytes:
    """Returns the variable-length form of a number."""
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def unsigned(count: int) -> Schema:
    """Returns the schema of an unsigned number of `count` bytes."""
    return lambda reader: int.from_bytes(reader.take(count), "little")


def signed(count: int) -> Schema:
    """Returns the schema of a signed number of `count` bytes."""
    return lambda reader: int.from_bytes(reader.take(count), "little", signed=True)


U8, U16, U32, U64, U128 = (unsigned(2**power) for power in range(5))
I8, I16, I32, I64, I128 = (signed(2**power) for power in range(5))


def fixed(count: int) -> Schema:
    """Returns the schema of `count` bytes without a length."""
    return lambda reader: reader.take(count)


def BYTES(reader: Reader) -> bytes:
    """Reads bytes with their length."""
    return reader.take(reader.length())


def STRING(reader: Reader) -> str:
    """Reads text in UTF-8 with its length."""
    try:
        return BYTES(reader).decode()
    except UnicodeDecodeError as error:
        raise Damaged(f"a text in BCS: {error}") from None


def BOOL(reader: Reader) -> bool:
    """Reads a boolean, which is 0 or 1."""
    byte = reader.take(1)[0]
    require(byte <= 1, f"a boolean with the value {byte}")
    return byte == 1


def UNIT(reader: Reader) -> None:
    """Reads the content of a variant without content."""


def option(schema: Schema) -> Schema:
    """Returns the schema of an optional value, which is `None` if absent."""
    return lambda reader: schema(reader) if BOOL(reader) else None


def vector(schema: Schema) -> Schema:
    """Returns the schema of a list."""
    return lambda reader: [schema(reader) for _ in range(reader.length())]


def pair(first: Schema, second: Schema) -> Schema:
    """Returns the schema of a pair."""
    return lambda reader: (first(reader), second(reader))


def later(name: Callable[[], Schema]) -> Schema:
    """Returns a schema that is looked up when it is used, for types that contain themselves."""
    return lambda reader: name()(reader)


def nested(reader: Reader, read: Callable[[], Any]) -> Any:
    """Runs `read` one level deeper."""
    reader.depth += 1
    require(reader.depth <= DEPTH_MAX, "a value that is nested too deeply")
    value = read()
    reader.depth -= 1
    return value


def struct(**fields: Schema) -> Schema:
    """Returns the schema of a struct with these fields in this order."""

    def read(reader: Reader) -> dict[str, Any]:
        return nested(reader, lambda: {name: field(reader) for name, field in fields.items()})

    return read


def enum(type_name: str, **variants: Schema | None) -> Schema:
    """Returns the schema of an enum with these variants in this order.

    A variant that is `None` exists in the format, but the ledger never stores it.
    """
    names = list(variants)

    def read(reader: Reader) -> tuple[str, Any]:
        index = reader.uleb()
        require(index < len(names), f"{type_name} has no variant {index}")
        content = variants[names[index]]
        require(content is not None, f"{type_name}::{names[index]} in a stored value")
        return names[index], nested(reader, lambda: content(reader))

    return read
