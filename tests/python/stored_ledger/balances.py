"""The newest state, and the balances in it."""

from dataclasses import dataclass
from hashlib import sha3_256
from typing import Any

from .bcs import BOOL, U64, Reader, decode, pair, struct, vector
from .binary import little
from .ledger import Ledger
from .schema import ADDRESS, BYTES, STRUCT_TAG, WRITE

# First byte of a state key, and of the path in a key with an address.
ACCESS_PATH = 0
PATH_RESOURCE = 1
PATH_RESOURCE_GROUP = 2
ADDRESS_END = 33
FRAMEWORK = (1).to_bytes(32, "big")
# Scheme byte of addresses that are derived from an owner and an object.
DERIVED_SCHEME = b"\xfc"

GROUP = vector(pair(STRUCT_TAG, BYTES))
FUNGIBLE_STORE = struct(metadata=ADDRESS, balance=U64, frozen=BOOL)


@dataclass(frozen=True)
class Balance:
    """A balance of an account: `asset` is a coin type or the address of a fungible asset."""

    owner: bytes
    asset: str
    amount: int


def newest_state(ledger: Ledger) -> dict[bytes, bytes]:
    """Returns the value of every state key: pruned state first, then the writes in order."""
    state: dict[bytes, bytes | None] = dict(ledger.pruned_state.values)
    for transaction in ledger.transactions():
        for write in transaction.writes:
            key, (_, value) = decode(WRITE, write)
            state[key] = value
    return {key: value for key, value in state.items() if value is not None}


def balances(state: dict[bytes, bytes]) -> list[Balance]:
    """Returns the balances of all coin stores and primary fungible stores."""
    found = []
    for key, value in state.items():
        if key[:1] != bytes([ACCESS_PATH]):
            continue
        address, path = key[1:ADDRESS_END], decode(BYTES, key[ADDRESS_END:])
        if path[0] == PATH_RESOURCE:
            tag = decode(STRUCT_TAG, path[1:])
            if is_framework(tag, "coin", "CoinStore"):
                # A coin store begins with its balance.
                amount = little(value, 0, 8, "a coin store")
                found.append(Balance(address, type_text(tag["type_args"][0]), amount))
        elif path[0] == PATH_RESOURCE_GROUP:
            found += primary_balance(address, value)
    return found


def primary_balance(store: bytes, group: bytes) -> list[Balance]:
    """Returns the balance in an object's group, if the object is a primary fungible store."""
    members = {
        tag["name"]: value
        for tag, value in decode(GROUP, group)
        if tag["address"] == FRAMEWORK and tag["module"] in ("object", "fungible_asset")
    }
    if "FungibleStore" not in members or "ObjectCore" not in members:
        return []
    fungible = decode(FUNGIBLE_STORE, members["FungibleStore"])
    core = Reader(members["ObjectCore"])
    U64(core)
    owner, metadata = ADDRESS(core), fungible["metadata"]
    if sha3_256(owner + metadata + DERIVED_SCHEME).digest() != store:
        return []
    return [Balance(owner, f"0x{metadata.hex()}", fungible["balance"])]


def is_framework(tag: dict[str, Any], module: str, name: str) -> bool:
    """Returns whether a struct is `0x1::module::name`, with any type arguments."""
    return (tag["address"], tag["module"], tag["name"]) == (FRAMEWORK, module, name)


def type_text(tag: tuple[str, Any]) -> str:
    """Returns the text of a type."""
    kind, content = tag
    if kind == "Vector":
        return f"vector<{type_text(content)}>"
    if kind != "Struct":
        return kind.lower()
    arguments = ", ".join(map(type_text, content["type_args"]))
    name = f"0x{content['address'].hex()}::{content['module']}::{content['name']}"
    return f"{name}<{arguments}>" if arguments else name
