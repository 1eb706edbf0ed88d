"""Modules of the framework, used with the Python SDK: assets, coins, objects, tables."""

import unittest

from aptos_sdk.account import Account, RotationProofChallenge
from aptos_sdk.account_address import AccountAddress
from aptos_sdk.async_client import ApiError
from aptos_sdk.bcs import Serializer
from aptos_sdk.type_tag import StructTag, TypeTag

from session import COIN, SessionTestCase, address, boolean, call, data, u8, u64

METADATA = "0x1::fungible_asset::Metadata"
RECORD = "0x1::registry::Record"
MANAGED_ASSET = "0x1::managed_fungible_asset"
# The number of the ed25519 scheme.
ED25519 = 0


def text(value: str):
    """Returns an argument of type string."""
    return data(value.encode())


class Framework(SessionTestCase):
    """A test for each module."""

    async def test_creates_mints_and_transfers_a_fungible_asset(self):
        creator, holder, recipient = await self.funded(), await self.funded(), Account.generate()
        no_maximum = data(b"")  # An option without a value has the form of an empty list.
        made = call(
            f"{MANAGED_ASSET}::create",
            [],
            text("Dust"),
            text("DUST"),
            u8(2),
            text(""),
            text(""),
            no_maximum,
        )
        await self.run_call(creator, made)
        metadata = AccountAddress.for_named_object(creator.address(), b"DUST")
        mint = call(
            f"{MANAGED_ASSET}::mint", [], address(metadata), address(holder.address()), u64(900)
        )
        await self.run_call(creator, mint)
        transfer = call(
            "0x1::primary_fungible_store::transfer",
            [METADATA],
            address(metadata),
            address(recipient.address()),
            u64(400),
        )
        await self.run_call(holder, transfer)
        for owner, balance in [(holder, "500"), (recipient, "400")]:
            arguments = [str(owner.address()), str(metadata)]
            held = await self.view("0x1::primary_fungible_store::balance", [METADATA], *arguments)
            self.assertEqual(held, [balance])

    async def test_creates_mints_and_transfers_a_managed_coin(self):
        issuer, recipient = await self.funded(), Account.generate()
        moon = f"{issuer.address()}::moon::Moon"
        made = call(
            "0x1::managed_coin::initialize",
            [moon],
            text("Moon"),
            text("MOON"),
            u8(6),
            boolean(False),
        )
        await self.run_call(issuer, made)
        minted = call("0x1::managed_coin::mint", [moon], address(issuer.address()), u64(70))
        await self.run_call(issuer, minted)
        pending = await self.rest.transfer_coins(issuer, recipient.address(), moon, 30)
        await self.rest.wait_for_transaction(pending)
        self.assertEqual(await self.rest.account_balance(issuer.address(), coin_type=moon), 40)
        self.assertEqual(await self.rest.account_balance(recipient.address(), coin_type=moon), 30)

    async def test_transfers_an_object_by_the_method_of_the_sdk(self):
        owner, recipient = await self.funded(), Account.generate()
        await self.run_call(owner, call("0x1::managed_object::create_named", [], data(b"a seed")))
        thing = AccountAddress.for_named_object(owner.address(), b"a seed")
        await self.rest.wait_for_transaction(
            await self.rest.transfer_object(owner, thing, recipient.address())
        )
        core = await self.rest.account_resource(thing, "0x1::object::ObjectCore")
        self.assert_same_address(core["data"]["owner"], recipient.address())

    async def test_reads_a_table_item(self):
        owner = await self.funded()
        await self.run_call(owner, call("0x1::registry::initialize", []))
        await self.run_call(
            owner, call("0x1::registry::set", [], text("a name"), data(b"\x01\x02"))
        )
        registry = await self.rest.account_resource(owner.address(), "0x1::registry::Registry")
        handle = registry["data"]["records"]["inner"]["handle"]
        record = await self.rest.get_table_item(handle, "0x1::string::String", RECORD, "a name")
        self.assertEqual((record["content"], record["revision"]), ("0x0102", "1"))

    async def test_calls_a_view_in_bcs(self):
        account = await self.funded()
        tags = [TypeTag(StructTag.from_str(COIN))]
        arguments = [address(account.address())]
        in_bcs = await self.rest.view_bcs_payload("0x1::coin", "balance", tags, arguments)
        in_json = await self.view("0x1::coin::balance", [COIN], str(account.address()))
        self.assertEqual(in_bcs, in_json)

    async def test_creates_a_resource_account_at_the_address_of_the_sdk(self):
        creator = await self.funded()
        payload = call(
            "0x1::resource_account::create_resource_account", [], data(b"a seed"), data(b"")
        )
        await self.run_call(creator, payload)
        made = AccountAddress.for_resource_account(creator.address(), b"a seed")
        account = await self.rest.account_resource(made, "0x1::account::Account")
        # The key of its creator, because the call gives none.
        self.assertEqual(account["data"]["authentication_key"], creator.auth_key())

    async def test_rotates_a_key_with_proofs_of_both_keys(self):
        account, other = await self.funded(), Account.generate()
        challenge = RotationProofChallenge(
            sequence_number=0,
            originator=account.address(),
            current_auth_key=AccountAddress.from_str(account.auth_key()),
            new_public_key=other.public_key(),
        )
        serializer = Serializer()
        challenge.serialize(serializer)
        keys = [holder.public_key().to_crypto_bytes() for holder in (account, other)]
        proofs = [holder.sign(serializer.output()).data() for holder in (account, other)]
        arguments = [argument for key in keys for argument in (u8(ED25519), data(key))]
        arguments += [data(proof) for proof in proofs]
        await self.run_call(
            account, call("0x1::account::rotate_authentication_key", [], *arguments)
        )

        rotated = Account(account.address(), other.private_key)
        transfer = call("0x1::aptos_account::transfer", [], address(other.address()), u64(1))
        await self.run_call(rotated, transfer)
        with self.assertRaises(ApiError) as rejected:
            await self.run_call(account, transfer)
        self.assertIn("INVALID_AUTH_KEY", str(rejected.exception))

    async def test_lists_modules_in_pages(self):
        framework = AccountAddress.from_str("0x1")
        everything = await self.rest.account_modules(framework, limit=1000)
        names = [module["abi"]["name"] for module in everything]
        self.assertIn("registry", names)
        self.assertEqual(len(names), len(set(names)))
        first = await self.rest.account_modules(framework, limit=3)
        self.assertEqual(first, everything[:3])


if __name__ == "__main__":
    unittest.main()
