"""Golden values of resources, compared with the serializer of the Python SDK.

The TypeScript SDK generated them. Bytes on which both SDKs agree do not depend on an error in one.
"""

import json
import unittest
from pathlib import Path

from aptos_sdk.account_address import AccountAddress
from aptos_sdk.bcs import Serializer

GOLDEN = Path(__file__).parent.parent / "golden" / "resources.json"

# Writers of the SDK by type. A layout is a name of this table, the fields of a struct in order, or
# a list with the layout of a vector's items.
WRITERS = {
    "u8": lambda to, value: to.u8(int(value)),
    "u64": lambda to, value: to.u64(int(value)),
    "u128": lambda to, value: to.u128(int(value)),
    "bool": Serializer.bool,
    "string": Serializer.str,
    "bytes": lambda to, value: to.to_bytes(bytes.fromhex(value[2:])),
    "address": lambda to, value: to.struct(AccountAddress.from_str_relaxed(value)),
}
ID = {"creation_num": "u64", "addr": "address"}
HANDLE = {"counter": "u64", "guid": {"id": ID}}
OFFER = {"for": {"vec": ["address"]}}
OBJECT = {"inner": "address"}
TABLE = {"handle": "address"}
TYPE_INFO = {"account_address": "address", "module_name": "bytes", "struct_name": "bytes"}
CAPABILITY = {"account": "address"}
INTEGER = {"value": "u128", "limit": "u128"}


def simple_map(key, value):
    """Returns the layout of a map, which is a vector of pairs."""
    return {"data": [{"key": key, "value": value}]}


LAYOUTS = {
    "account::Account": {
        "authentication_key": "bytes",
        "sequence_number": "u64",
        "guid_creation_num": "u64",
        "coin_register_events": HANDLE,
        "key_rotation_events": HANDLE,
        "rotation_capability_offer": OFFER,
        "signer_capability_offer": OFFER,
    },
    "coin::CoinStore": {
        "coin": {"value": "u64"},
        "frozen": "bool",
        "deposit_events": HANDLE,
        "withdraw_events": HANDLE,
    },
    "coin::CoinInfo": {
        "name": "string",
        "symbol": "string",
        "decimals": "u8",
        "supply": {"vec": [{"aggregator": {"vec": [INTEGER]}, "integer": {"vec": [INTEGER]}}]},
    },
    "coin::PairedCoinType": {"type": TYPE_INFO},
    "object::ObjectCore": {
        "guid_creation_num": "u64",
        "owner": "address",
        "allow_ungated_transfer": "bool",
        "transfer_events": HANDLE,
    },
    "fungible_asset::FungibleStore": {"metadata": OBJECT, "balance": "u64", "frozen": "bool"},
    "fungible_asset::Metadata": {
        "name": "string",
        "symbol": "string",
        "decimals": "u8",
        "icon_uri": "string",
        "project_uri": "string",
    },
    "fungible_asset::ConcurrentSupply": {"current": {"value": "u128", "max_value": "u128"}},
    "aptos_account::DirectTransferConfig": {
        "allow_arbitrary_coin_transfers": "bool",
        "update_coin_transfer_events": HANDLE,
    },
    "registry::Registry": {
        "records": {"inner": TABLE, "length": "u64"},
        "set_events": HANDLE,
        "removed_events": HANDLE,
    },
    "managed_fungible_asset::ManagedFungibleAsset": {
        "mint_ref": {"metadata": OBJECT},
        "transfer_ref": {"metadata": OBJECT},
        "burn_ref": {"metadata": OBJECT},
        "mutate_metadata_ref": {"metadata": OBJECT},
    },
    "account::OriginatingAddress": {"address_map": TABLE},
    "resource_account::Container": {"store": simple_map("address", CAPABILITY)},
    "gas_schedule::GasScheduleV2": {
        "feature_version": "u64",
        "entries": [{"key": "string", "val": "u64"}],
    },
    "multisig_account::MultisigAccount": {
        "owners": ["address"],
        "num_signatures_required": "u64",
        "transactions": TABLE,
        "last_executed_sequence_number": "u64",
        "next_sequence_number": "u64",
        "signer_cap": {"vec": [CAPABILITY]},
        "metadata": simple_map("string", "bytes"),
        "add_owners_events": HANDLE,
        "remove_owners_events": HANDLE,
        "update_signature_required_events": HANDLE,
        "create_transaction_events": HANDLE,
        "vote_events": HANDLE,
        "execute_rejected_transaction_events": HANDLE,
        "execute_transaction_events": HANDLE,
        "transaction_execution_failed_events": HANDLE,
        "metadata_updated_events": HANDLE,
    },
}


def write(to: Serializer, layout, value) -> None:
    """Writes the JSON form of a value by its layout."""
    if isinstance(layout, str):
        WRITERS[layout](to, value)
    elif isinstance(layout, list):
        to.sequence(value, lambda to, item: write(to, layout[0], item))
    else:
        for field, inner in layout.items():
            write(to, inner, value[field])


class Golden(unittest.TestCase):
    """Comparison of the bytes of each resource."""

    def test_serializes_resources_to_the_golden_bytes(self):
        vectors = json.loads(GOLDEN.read_text())
        compared = set()
        for vector in vectors:
            name = vector["type"].removeprefix("0x1::").split("<")[0]
            # Parts of resources are compared inside them.
            if name in LAYOUTS:
                with self.subTest(name):
                    to = Serializer()
                    write(to, LAYOUTS[name], vector["json"])
                    self.assertEqual("0x" + to.output().hex(), vector["bcs"])
                    compared.add(name)
        self.assertEqual(compared, set(LAYOUTS))


if __name__ == "__main__":
    unittest.main()
