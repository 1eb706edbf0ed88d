"""The errors of the Python SDK on a chain without the preset, with another vendor word."""

import json
import unittest
import urllib.request

from aptos_sdk.account import Account
from aptos_sdk.async_client import ApiError, FaucetClient, RestClient

from node_process import NodeProcess
from session import FUNDED, address, call, u64

PRESET = "ledger-node run --preset sdk"


class WithoutPreset(unittest.IsolatedAsyncioTestCase):
    """A chain with the default vendor word, and an account that holds coins."""

    async def asyncSetUp(self):
        self.node = NodeProcess(None)
        self.addCleanup(self.node.kill)
        self.rest = RestClient(f"{self.node.api}/v1")
        self.faucet = FaucetClient(self.node.faucet, self.rest)
        self.addAsyncCleanup(self.faucet.close)
        self.account = Account.generate()
        fund = urllib.request.Request(
            f"{self.node.faucet}/fund",
            json.dumps({"address": str(self.account.address()), "amount": FUNDED}).encode(),
            {"content-type": "application/json"},
        )
        with urllib.request.urlopen(fund) as response:
            self.assertEqual(response.status, 200)

    async def test_names_the_preset_when_the_sdk_funds_or_submits(self):
        with self.assertRaisesRegex(ApiError, PRESET):
            await self.faucet.fund_account(self.account.address(), 1)
        to = address(Account.generate().address())
        payload = call("0x1::aptos_account::transfer", [], to, u64(1))
        signed = await self.rest.create_bcs_signed_transaction(self.account, payload)
        with self.assertRaisesRegex(ApiError, PRESET):
            await self.rest.submit_bcs_transaction(signed)


if __name__ == "__main__":
    unittest.main()
