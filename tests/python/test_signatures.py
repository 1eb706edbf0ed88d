"""Signatures of the Python SDK: each kind of key, several signers, fee payers."""

import unittest

from aptos_sdk import ed25519, secp256k1_ecdsa
from aptos_sdk.account import Account
from aptos_sdk.account_address import AccountAddress
from aptos_sdk.asymmetric_crypto_wrapper import MultiPublicKey, MultiSignature, PublicKey
from aptos_sdk.async_client import ApiError
from aptos_sdk.authenticator import (
    AccountAuthenticator,
    Authenticator,
    FeePayerAuthenticator,
    MultiEd25519Authenticator,
    MultiKeyAuthenticator,
    SingleKeyAuthenticator,
    SingleSenderAuthenticator,
)
from aptos_sdk.transactions import FeePayerRawTransaction, SignedTransaction

from session import COIN, FUNDED, SessionTestCase, address, call, u64


def transfer(recipient, amount):
    """Returns the payload of a transfer of the native coin."""
    return call("0x1::aptos_account::transfer", [], address(recipient), u64(amount))


def exchange(first_amount, second_amount):
    """Returns the payload of an exchange of coins by two signers."""
    return call(
        "0x1::exchange::exchange_coins", [COIN, COIN], u64(first_amount), u64(second_amount)
    )


def fee(done):
    """Returns the cost of a committed transaction in the smallest unit."""
    [statement] = [event for event in done["events"] if event["type"].endswith("::FeeStatement")]
    refund = int(statement["data"]["storage_fee_refund_octas"])
    return int(done["gas_used"]) * int(done["gas_unit_price"]) - refund


class SignaturesTestCase(SessionTestCase):
    """Helpers of the tests of signatures."""

    async def fund(self, holder: AccountAddress):
        await self.faucet.fund_account(holder, FUNDED)

    async def submit(self, raw, authenticator):
        return await self.rest.submit_and_wait_for_bcs_transaction(
            SignedTransaction(raw, authenticator)
        )

    async def assert_rejected(self, raw, authenticator, status):
        with self.assertRaises(ApiError) as rejected:
            await self.rest.submit_bcs_transaction(SignedTransaction(raw, authenticator))
        self.assertIn(status, str(rejected.exception))


class Kinds(SignaturesTestCase):
    """Each kind of key signs, and the response names its kind."""

    async def test_accepts_secp256k1(self):
        account = Account.generate_secp256k1_ecdsa()
        await self.fund(account.address())
        done = await self.run_call(account, transfer(AccountAddress.from_str("0x7"), 5))
        self.assertEqual(done["signature"]["type"], "single_sender")
        signature = done["signature"]["sender"]
        self.assertEqual(signature["type"], "single_key_signature")
        public_key = {"type": "secp256k1_ecdsa", "value": account.public_key().hex()}
        self.assertEqual(signature["public_key"], public_key)
        self.assertEqual(signature["signature"]["type"], "secp256k1_ecdsa")

    async def test_simulates_secp256k1(self):
        account = Account.generate_secp256k1_ecdsa()
        await self.fund(account.address())
        raw = await self.rest.create_bcs_transaction(account, transfer(account.address(), 5))
        [predicted] = await self.rest.simulate_transaction(raw, account)
        self.assertIs(predicted["success"], True, predicted["vm_status"])
        done = await self.submit(raw, account.sign_transaction(raw))
        self.assertEqual(predicted["gas_used"], done["gas_used"])

    async def test_accepts_a_single_ed25519_key(self):
        key = ed25519.PrivateKey.random()
        account = AccountAddress.from_key(PublicKey(key.public_key()))
        await self.fund(account)
        raw = await self.rest.create_bcs_transaction(account, transfer(account, 5))
        signed = SingleKeyAuthenticator(key.public_key(), key.sign(raw.keyed()))
        done = await self.submit(raw, AccountAuthenticator(signed))
        signature = done["signature"]["sender"]
        self.assertEqual(signature["type"], "single_key_signature")
        self.assertEqual(signature["public_key"]["type"], "ed25519")

    async def test_accepts_a_multi_key_of_both_kinds_with_enough_signatures(self):
        keys = [
            secp256k1_ecdsa.PrivateKey.random(),
            ed25519.PrivateKey.random(),
            secp256k1_ecdsa.PrivateKey.random(),
        ]
        public_key = MultiPublicKey([key.public_key() for key in keys], 2)
        account = AccountAddress.from_key(public_key)
        await self.fund(account)
        raw = await self.rest.create_bcs_transaction(account, transfer(account, 5))

        def signed_by(*indices):
            signatures = [(index, keys[index].sign(raw.keyed())) for index in indices]
            signature = MultiSignature(signatures)
            return AccountAuthenticator(MultiKeyAuthenticator(public_key, signature))

        await self.assert_rejected(raw, signed_by(1), "INVALID_SIGNATURE")
        done = await self.submit(raw, signed_by(1, 2))
        signature = done["signature"]["sender"]
        self.assertEqual(signature["type"], "multi_key_signature")
        kinds = [key["type"] for key in signature["public_keys"]]
        self.assertEqual(kinds, ["secp256k1_ecdsa", "ed25519", "secp256k1_ecdsa"])
        self.assertEqual([one["index"] for one in signature["signatures"]], [1, 2])
        self.assertEqual(signature["signatures_required"], 2)

    async def test_accepts_multi_ed25519_in_both_wire_forms(self):
        keys = [ed25519.PrivateKey.random() for _ in range(3)]
        public_key = ed25519.MultiPublicKey([key.public_key() for key in keys], 2)
        account = AccountAddress.from_key(public_key)
        await self.fund(account)
        # The older form, and the newer one, which is the default of this SDK.
        for wrapped in (False, True):
            raw = await self.rest.create_bcs_transaction(account, transfer(account, 5))
            signatures = [(key.public_key(), key.sign(raw.keyed())) for key in (keys[0], keys[2])]
            signature = ed25519.MultiSignature.from_key_map(public_key, signatures)
            signed = MultiEd25519Authenticator(public_key, signature)
            if wrapped:
                authenticator = Authenticator(
                    SingleSenderAuthenticator(AccountAuthenticator(signed))
                )
            else:
                authenticator = Authenticator(signed)
            done = await self.submit(raw, authenticator)
            returned = done["signature"]["sender"] if wrapped else done["signature"]
            self.assertEqual(returned["type"], "multi_ed25519_signature")
            self.assertEqual([returned["threshold"], returned["bitmap"]], [2, "0xa0000000"])


class SeveralSigners(SignaturesTestCase):
    """Several accounts sign, or another account pays the fee."""

    async def test_exchanges_coins_of_two_accounts(self):
        first, second = await self.funded(), Account.generate_secp256k1_ecdsa()
        await self.fund(second.address())
        signed = await self.rest.create_multi_agent_bcs_transaction(
            first, [second], exchange(70, 30)
        )
        done = await self.rest.submit_and_wait_for_bcs_transaction(signed)
        self.assertEqual(await self.rest.account_balance(second.address()), FUNDED + 70 - 30)
        self.assertEqual(
            await self.rest.account_balance(first.address()), FUNDED - 70 + 30 - fee(done)
        )
        signature = done["signature"]
        self.assertEqual(signature["type"], "multi_agent_signature")
        self.assertEqual(signature["sender"]["type"], "ed25519_signature")
        self.assertEqual(
            [one["type"] for one in signature["secondary_signers"]], ["single_key_signature"]
        )
        self.assert_same_address(signature["secondary_signer_addresses"][0], second.address())

    async def sponsored(self, sender, payload, sponsor, *, others=(), known=True):
        """Returns a transaction of `sender` and `others` with `sponsor` as payer.

        If `known` is false, the other signers sign for the zero address as payer.
        """
        raw = await self.rest.create_bcs_transaction(sender, payload, sequence_number=0)
        addresses = [other.address() for other in others]
        paid = FeePayerRawTransaction(raw, addresses, sponsor.address())
        seen = paid if known else FeePayerRawTransaction(raw, addresses, None)
        secondary = [(other.address(), other.sign_transaction(seen)) for other in others]
        payer = (sponsor.address(), sponsor.sign_transaction(paid))
        authenticator = FeePayerAuthenticator(sender.sign_transaction(seen), secondary, payer)
        return raw, Authenticator(authenticator)

    async def test_charges_the_fee_to_a_known_or_later_payer(self):
        sponsor = await self.funded()
        balance = FUNDED
        for known in (True, False):
            sender = Account.generate()
            payload = call(
                "0x1::aptos_account::create_account", [], address(Account.generate().address())
            )
            done = await self.submit(*await self.sponsored(sender, payload, sponsor, known=known))
            balance -= fee(done)
            self.assertEqual(await self.rest.account_balance(sponsor.address()), balance)
            self.assertEqual(await self.rest.account_sequence_number(sender.address()), 1)
            self.assertEqual(done["signature"]["type"], "fee_payer_signature")
            self.assert_same_address(done["signature"]["fee_payer_address"], sponsor.address())

    async def test_charges_the_fee_of_an_exchange_to_a_third_account(self):
        first, second, sponsor = await self.funded(), await self.funded(), await self.funded()
        done = await self.submit(
            *await self.sponsored(first, exchange(70, 30), sponsor, others=[second])
        )
        self.assertEqual(await self.rest.account_balance(first.address()), FUNDED - 70 + 30)
        self.assertEqual(await self.rest.account_balance(second.address()), FUNDED + 70 - 30)
        self.assertEqual(await self.rest.account_balance(sponsor.address()), FUNDED - fee(done))

    async def test_rejects_a_payer_without_the_fee(self):
        sender, poor = await self.funded(), Account.generate()
        raw, authenticator = await self.sponsored(sender, transfer(sender.address(), 1), poor)
        await self.assert_rejected(raw, authenticator, "INSUFFICIENT_BALANCE_FOR_TRANSACTION_FEE")


if __name__ == "__main__":
    unittest.main()
