"""Simulation with the Python SDK."""

import unittest

from aptos_sdk.account import Account
from aptos_sdk.async_client import ApiError

from session import COIN, FUNDED, SessionTestCase, address, call, u64

FEE_STATEMENT = "0x1::transaction_fee::FeeStatement"


def transfer(recipient, amount):
    """Returns the payload of a transfer of the native coin."""
    return call("0x1::aptos_account::transfer", [], address(recipient), u64(amount))


class Simulation(SessionTestCase):
    """Simulations compared with execution."""

    async def simulate(self, sender, payload, **options):
        raw = await self.rest.create_bcs_transaction(sender, payload)
        results = await self.rest.simulate_transaction(raw, sender, **options)
        self.assertEqual(len(results), 1)
        return results[0]

    async def test_predicts_gas_and_events_without_a_change(self):
        sender, recipient = await self.funded(), Account.generate().address()
        predicted = await self.simulate(sender, transfer(recipient, 1234))
        self.assertIs(predicted["success"], True)
        self.assertEqual(await self.rest.account_sequence_number(sender.address()), 0)
        self.assertEqual(await self.rest.account_balance(sender.address()), FUNDED)

        done = await self.run_call(sender, transfer(recipient, 1234))
        self.assertEqual(predicted["gas_used"], done["gas_used"])
        self.assertEqual(predicted["events"], done["events"])
        self.assertEqual(await self.rest.account_balance(recipient), 1234)

    async def test_predicts_status_and_cost_of_a_failure(self):
        sender = await self.funded()
        failed = await self.simulate(sender, transfer(Account.generate().address(), 10 * FUNDED))
        self.assertIs(failed["success"], False)
        self.assertRegex(
            failed["vm_status"],
            r"^Move abort in 0x1::fungible_asset: EINSUFFICIENT_BALANCE\(0x10004\): ",
        )
        self.assertGreater(int(failed["gas_used"]), 0)
        self.assertEqual([event["type"] for event in failed["events"]], [FEE_STATEMENT])

    async def test_estimates_gas_on_request(self):
        sender = await self.funded()
        payload = transfer(Account.generate().address(), 1)
        estimated = await self.simulate(sender, payload, estimate_gas_usage=True)
        self.assertIs(estimated["success"], True)
        self.assertGreaterEqual(int(estimated["max_gas_amount"]), int(estimated["gas_used"]))

    async def test_fails_for_wrong_arguments_or_an_unknown_function(self):
        sender = await self.funded()
        wrong = call("0x1::aptos_account::transfer", [], u64(1))
        failed = await self.simulate(sender, wrong)
        self.assertIs(failed["success"], False)
        unknown = await self.simulate(sender, call("0x1::coin::no_such_function", [COIN]))
        self.assertIs(unknown["success"], False)

    async def test_rejects_a_valid_signature(self):
        sender = await self.funded()
        signed = await self.rest.create_bcs_signed_transaction(
            sender, transfer(Account.generate().address(), 1)
        )
        with self.assertRaises(ApiError) as rejected:
            await self.rest.simulate_bcs_transaction(signed)
        self.assertEqual(rejected.exception.status_code, 400)


if __name__ == "__main__":
    unittest.main()
