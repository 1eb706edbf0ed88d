"""Shared by the tests with the Python SDK: a node per class, funded accounts, calls."""

import json
import unittest
from hashlib import sha3_256
from typing import Any

from aptos_sdk.account import Account
from aptos_sdk.account_address import AccountAddress
from aptos_sdk.async_client import FaucetClient, RestClient
from aptos_sdk.bcs import Serializer
from aptos_sdk.transactions import EntryFunction, TransactionArgument, TransactionPayload
from aptos_sdk.type_tag import StructTag, TypeTag

from node_process import NodeProcess

COIN = "0x1::aptos_coin::AptosCoin"
# Type of the resource that holds a balance, in the primary store of an account and an asset.
STORE = "0x1::fungible_asset::FungibleStore"
# Metadata address of the coin's paired asset.
ASSET = AccountAddress.from_str("0xa")
# Enough for the SDK's default options, which allow each transaction 100,000 gas units at price 100.
FUNDED = 1_000_000_000


def primary_store(owner: AccountAddress) -> AccountAddress:
    """Returns the address of the store that holds the coin of an account."""
    return AccountAddress(sha3_256(owner.address + ASSET.address + b"\xfc").digest())


def address(value) -> TransactionArgument:
    """Returns an argument of type `address`, or of an object."""
    return TransactionArgument(value, Serializer.struct)


def u64(value: int) -> TransactionArgument:
    """Returns an argument of type `u64`."""
    return TransactionArgument(value, Serializer.u64)


def u8(value: int) -> TransactionArgument:
    """Returns an argument of type `u8`."""
    return TransactionArgument(value, Serializer.u8)


def boolean(value: bool) -> TransactionArgument:
    """Returns an argument of type `bool`."""
    return TransactionArgument(value, Serializer.bool)


def data(value: bytes) -> TransactionArgument:
    """Returns an argument of type `vector<u8>` or string."""
    return TransactionArgument(value, Serializer.to_bytes)


def vector(values: list, encode) -> TransactionArgument:
    """Returns a vector whose items are written by `encode`."""
    return TransactionArgument(values, Serializer.sequence_serializer(encode))


def call(
    function: str, type_arguments: list[str], *arguments: TransactionArgument
) -> TransactionPayload:
    """Returns the payload of an entry function, named as `0x1::module::function`."""
    module, name = function.rsplit("::", 1)
    tags = [TypeTag(StructTag.from_str(tag)) for tag in type_arguments]
    return TransactionPayload(EntryFunction.natural(module, name, tags, list(arguments)))


class SessionTestCase(unittest.IsolatedAsyncioTestCase):
    """A node shared by the tests of a class. Each test has its own clients and accounts."""

    node: NodeProcess
    settings: tuple[str, ...] = ()

    @classmethod
    def setUpClass(cls):
        cls.node = NodeProcess("sdk", cls.settings)

    @classmethod
    def tearDownClass(cls):
        code = cls.node.stop()
        if code != 0:
            raise AssertionError(f"the node did not stop cleanly: {code}")

    async def asyncSetUp(self):
        self.rest = RestClient(f"{self.node.api}/v1")
        self.faucet = FaucetClient(self.node.faucet, self.rest)
        # Closes the HTTP client that both share.
        self.addAsyncCleanup(self.faucet.close)

    def assert_same_address(self, text: str, expected: AccountAddress):
        """Asserts that `text`, which has no leading zeros, is the expected address."""
        self.assertEqual(AccountAddress.from_str_relaxed(text), expected)

    async def funded(self) -> Account:
        """Returns a new account with coins."""
        account = Account.generate()
        await self.faucet.fund_account(account.address(), FUNDED)
        return account

    async def run_call(self, sender: Account, payload: TransactionPayload) -> dict[str, Any]:
        """Sends a call, which must succeed. Returns the committed transaction."""
        signed = await self.rest.create_bcs_signed_transaction(sender, payload)
        return await self.rest.submit_and_wait_for_bcs_transaction(signed)

    async def view(self, function: str, type_arguments: list[str], *arguments: str) -> list[Any]:
        """Returns the result of a view function, called in JSON."""
        return json.loads(await self.rest.view(function, type_arguments, list(arguments)))
