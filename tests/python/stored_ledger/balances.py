"""The newest state, and the balances in it."""

from dataclasses import dataclass
from hashlib import sha3_256

from .bcs import BOOL, U64, Reader, decode, pair, struct, vector
from .ledger import Ledger
from .schema import ADDRESS, BYTES, STRUCT_TAG, WRITE

# First byte of a state key, and of the path in a key with an address.
ACCESS_PATH = 0
PATH_RESOURCE_GROUP = 2
ADDRESS_END = 33
FRAMEWORK = (1).to_bytes(32, "big")
# Scheme byte of addresses that are derived from an owner and an object.
DERIVED_SCHEME = b"\xfc"

GROUP = vector(pair(STRUCT_TAG, BYTES))
FUNGIBLE_STORE = struct(metadata=ADDRESS, balance=U64, frozen=BOOL)


@dataclass(frozen=True)
class Balance:
    """A balance of an account. The asset is named by the address of its metadata."""

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
    """Returns the balances of all primary fungible stores."""
    found = []
    for key, value in state.items():
        if key[:1] != bytes([ACCESS_PATH]):
            continue
        address, path = key[1:ADDRESS_END], decode(BYTES, key[ADDRESS_END:])
        if path[0] == PATH_RESOURCE_GROUP:
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
