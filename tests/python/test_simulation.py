"""Transactions that the Python SDK simulates before it signs them."""

import unittest

from aptos_sdk.account import Account
from aptos_sdk.async_client import ApiError

from session import COIN, FUNDED, SessionTestCase, address, call, u64

FEE_STATEMENT = "0x1::transaction_fee::FeeStatement"


def transfer(recipient, amount):
    """A payload that transfers the chain's coin."""
    return call("0x1::aptos_account::transfer", [], address(recipient), u64(amount))


class Simulation(SessionTestCase):
    """What a simulation shows, and that it changes nothing."""

    async def simulate(self, sender, payload, **options):
        raw = await self.rest.create_bcs_transaction(sender, payload)
        results = await self.rest.simulate_transaction(raw, sender, **options)
        self.assertEqual(len(results), 1)
        return results[0]

    async def test_the_gas_and_events_are_those_that_the_transaction_then_has(self):
        sender, recipient = await self.funded(), Account.generate().address()
        foretold = await self.simulate(sender, transfer(recipient, 1234))
        self.assertIs(foretold["success"], True)
        self.assertEqual(await self.rest.account_sequence_number(sender.address()), 0)
        self.assertEqual(await self.rest.account_balance(sender.address()), FUNDED)

        done = await self.run_call(sender, transfer(recipient, 1234))
        self.assertEqual(foretold["gas_used"], done["gas_used"])
        self.assertEqual(foretold["events"], done["events"])
        self.assertEqual(await self.rest.account_balance(recipient), 1234)

    async def test_a_transaction_that_would_fail_shows_its_status_and_cost(self):
        sender = await self.funded()
        failed = await self.simulate(sender, transfer(Account.generate().address(), 10 * FUNDED))
        self.assertIs(failed["success"], False)
        self.assertRegex(
            failed["vm_status"], r"^Move abort in 0x1::coin: EINSUFFICIENT_BALANCE\(0x10006\): "
        )
        self.assertGreater(int(failed["gas_used"]), 0)
        self.assertEqual([event["type"] for event in failed["events"]], [FEE_STATEMENT])

    async def test_the_gas_is_estimated_where_that_is_asked_for(self):
        sender = await self.funded()
        payload = transfer(Account.generate().address(), 1)
        estimated = await self.simulate(sender, payload, estimate_gas_usage=True)
        self.assertIs(estimated["success"], True)
        self.assertGreaterEqual(int(estimated["max_gas_amount"]), int(estimated["gas_used"]))

    async def test_a_call_with_the_wrong_arguments_fails(self):
        sender = await self.funded()
        wrong = call("0x1::aptos_account::transfer", [], u64(1))
        failed = await self.simulate(sender, wrong)
        self.assertIs(failed["success"], False)
        unknown = await self.simulate(sender, call("0x1::coin::no_such_function", [COIN]))
        self.assertIs(unknown["success"], False)

    async def test_a_signature_is_not_accepted_for_a_simulation(self):
        sender = await self.funded()
        signed = await self.rest.create_bcs_signed_transaction(
            sender, transfer(Account.generate().address(), 1)
        )
        with self.assertRaises(ApiError) as refused:
            await self.rest.simulate_bcs_transaction(signed)
        self.assertEqual(refused.exception.status_code, 400)


if __name__ == "__main__":
    unittest.main()
