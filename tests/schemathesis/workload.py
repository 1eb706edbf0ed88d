"""History for a chain: accounts, transfers, a coin, a table, an object, a pending transaction.

Returns the values of the history that requests can name.
"""

import asyncio
import json
from typing import Any

from aptos_sdk.account import Account
from aptos_sdk.account_address import AccountAddress
from aptos_sdk.async_client import FaucetClient, RestClient

from session import (
    COIN,
    FUNDED,
    STORE,
    address,
    boolean,
    call,
    data,
    primary_store,
    u8,
    u64,
)

# Number of transfers. With the other transactions of their blocks they exceed the pruned window.
TRANSFERS = 12
REGISTRY = "0x1::registry::Registry"
EVENTS = "0x1::fungible_asset::FungibleAssetEvents"


def _text(value: str):
    return data(value.encode())


class Workload:
    """Clients of a node and the history that they commit."""

    def __init__(self, api: str, faucet: str):
        self.rest = RestClient(f"{api}/v1")
        self.faucet = FaucetClient(faucet, self.rest)

    async def funded(self) -> Account:
        account = Account.generate()
        await self.faucet.fund_account(account.address(), FUNDED)
        return account

    async def run(self, sender: Account, payload) -> dict[str, Any]:
        signed = await self.rest.create_bcs_signed_transaction(sender, payload)
        return await self.rest.submit_and_wait_for_bcs_transaction(signed)

    async def get(self, path: str, **query) -> Any:
        response = await self.rest.client.get(f"{self.rest.base_url}{path}", params=query)
        response.raise_for_status()
        return response.json()

    async def post(self, path: str, body: Any) -> Any:
        response = await self.rest.client.post(f"{self.rest.base_url}{path}", json=body)
        response.raise_for_status()
        return response.json()

    async def make_history(self) -> dict[str, Any]:
        """Commits the history. Returns `parameters` by name and `bodies` by operation."""
        alice, bob = await self.funded(), await self.funded()
        moon = f"{alice.address()}::moon::Moon"
        coin = call(
            "0x1::managed_coin::initialize",
            [moon],
            _text("Moon"),
            _text("MOON"),
            u8(6),
            boolean(False),
        )
        await self.run(alice, coin)
        await self.run(
            alice, call("0x1::managed_coin::mint", [moon], address(alice.address()), u64(70))
        )
        await self.run(alice, call("0x1::registry::initialize", []))
        await self.run(alice, call("0x1::registry::set", [], _text("a name"), data(b"\x01\x02")))
        await self.run(bob, call("0x1::managed_object::create_named", [], data(b"a seed")))
        for number in range(TRANSFERS):
            payment = [address(bob.address()), u64(number + 1)]
            await self.run(alice, call("0x1::aptos_account::transfer", [], *payment))
        # Stays pending, because an earlier sequence number is missing.
        waiting = await self._submitted_json(bob, alice, gap=1)
        return await self._known(alice, bob, moon, waiting)

    async def _submitted_json(
        self, sender: Account, recipient: Account, gap: int
    ) -> dict[str, Any]:
        """Submits a transfer `gap` above the next sequence number. Returns it in JSON."""
        payload = call("0x1::aptos_account::transfer", [], address(recipient.address()), u64(1))
        sequence_number = await self.rest.account_sequence_number(sender.address()) + gap
        signed = await self.rest.create_bcs_signed_transaction(
            sender, payload, sequence_number=sequence_number
        )
        txn_hash = await self.rest.submit_bcs_transaction(signed)
        return await self.rest.transaction_by_hash(txn_hash)

    async def _known(
        self, alice: Account, bob: Account, moon: str, waiting: dict[str, Any]
    ) -> dict[str, Any]:
        info = await self.get("")
        newest = int(info["ledger_version"])
        page = await self.get(
            "/transactions", start=max(int(info["oldest_ledger_version"]), newest - 60), limit=60
        )
        addresses = [str(alice.address()), str(bob.address()), "0x1", "0xdead"]
        heights = [
            info["oldest_block_height"],
            str(int(info["block_height"]) // 2),
            info["block_height"],
        ]
        versions = ["0", info["oldest_ledger_version"], page[0]["version"], str(newest)]
        registry = await self.get(f"/accounts/{alice.address()}/resource/{REGISTRY}")
        handle = registry["data"]["records"]["inner"]["handle"]
        seed = AccountAddress.for_named_object(bob.address(), b"a seed")
        store = primary_store(alice.address())
        events = await self.get(f"/accounts/{store}/resource/{EVENTS}")
        deposits = events["data"]["deposit_events"]["guid"]["id"]["creation_num"]
        parameters = {
            "address": [*addresses, str(seed), str(store)],
            "asset_type": [COIN, moon, "0xa"],
            "block_height": [int(height) for height in heights],
            "creation_number": ["0", "2", "3", deposits],
            "end_version": versions,
            "event_handle": [f"0x1::coin::CoinStore<{COIN}>", EVENTS, "0x1::account::Account"],
            "field_name": ["deposit_events", "withdraw_events", "coin_register_events"],
            "ledger_version": versions,
            "module_name": ["coin", "account"],
            "resource_type": [
                "0x1::account::Account",
                STORE,
                REGISTRY,
                "0x1::object::ObjectCore",
            ],
            "start_version": versions,
            "table_handle": [handle],
            "txn_hash": [waiting["hash"], *(one["hash"] for one in page[-3:])],
            "txn_version": versions,
            "version": [int(version) for version in versions],
        }
        return {"parameters": parameters, "bodies": await self._bodies(alice, bob, waiting)}

    async def _bodies(
        self, alice: Account, bob: Account, waiting: dict[str, Any]
    ) -> dict[str, Any]:
        """Returns a valid body for each operation whose body names values of the chain."""
        balance = {
            "function": "0x1::coin::balance",
            "type_arguments": [COIN],
            "arguments": [str(alice.address())],
        }
        unsigned = {name: waiting[name] for name in _REQUEST_FIELDS}
        unsigned["sequence_number"] = str(await self.rest.account_sequence_number(bob.address()))
        no_signature = {
            "type": "ed25519_signature",
            "public_key": bob.public_key().key.encode().hex(),
        }
        no_signature["signature"] = "00" * 64
        signed = {
            **{name: waiting[name] for name in _REQUEST_FIELDS},
            "signature": waiting["signature"],
        }
        return {
            "view": balance,
            "submit_transaction": signed,
            "submit_batch_transactions": [signed],
            "simulate_transaction": {**unsigned, "signature": no_signature},
            "encode_submission": unsigned,
            "get_table_item": {
                "key_type": "0x1::string::String",
                "value_type": "0x1::registry::Record",
                "key": "a name",
            },
            "get_raw_table_item": {"key": "0x06" + b"a name".hex()},
            "get_raw_state_value": {"key": _resource_key(alice.address()).hex()},
            "graphql": {"query": "{ processor_status { processor last_success_version } }"},
        }


_REQUEST_FIELDS = (
    "sender",
    "sequence_number",
    "max_gas_amount",
    "gas_unit_price",
    "expiration_timestamp_secs",
    "payload",
)


def _resource_key(account: AccountAddress) -> bytes:
    """Returns the state key of `0x1::account::Account`: an access path to a struct tag."""
    tag = bytes([1]) + AccountAddress.from_str("0x1").address + b"\x07account\x07Account\x00"
    return bytes([0]) + account.address + bytes([len(tag)]) + tag


def make_history(api: str, faucet: str) -> dict[str, Any]:
    """Commits the history on the node at these addresses."""

    async def work() -> dict[str, Any]:
        workload = Workload(api, faucet)
        try:
            return await workload.make_history()
        finally:
            await workload.faucet.close()

    return json.loads(json.dumps(asyncio.run(work())))
