"""Transactions of one account, sent in order by the Python SDK's transaction worker."""

import unittest

from aptos_sdk.account import Account
from aptos_sdk.transaction_worker import TransactionQueue, TransactionWorker

from session import FUNDED, SessionTestCase, address, call, u64

COUNT = 300
# Transactions per page.
PAGE = 100


class Worker(SessionTestCase):
    """The worker numbers, signs and submits the queued payloads."""

    async def test_commits_all_transactions_in_order(self):
        sender, recipient = await self.funded(), Account.generate().address()
        pushed = TransactionQueue(self.rest)
        worker = TransactionWorker(sender, self.rest, pushed.next)
        worker.start()
        # The amounts identify the order of submission.
        for amount in range(1, COUNT + 1):
            await pushed.push(
                call("0x1::aptos_account::transfer", [], address(recipient), u64(amount))
            )
        processed = [await worker.next_processed_transaction() for _ in range(COUNT)]
        worker.stop()
        self.assertEqual([error for _, _, error in processed if error is not None], [])
        self.assertEqual([number for number, _, _ in processed], list(range(COUNT)))

        await self.rest.wait_for_transaction(processed[-1][1])
        self.assertEqual(await self.rest.account_balance(recipient), COUNT * (COUNT + 1) // 2)
        self.assertLess(await self.rest.account_balance(sender.address()), FUNDED)
        committed = []
        for start in range(0, COUNT, PAGE):
            committed += await self.rest.transactions_by_account(
                sender.address(), limit=PAGE, start=start
            )
        members = [
            (one["hash"], one["sequence_number"], one["payload"]["arguments"][1], one["success"])
            for one in committed
        ]
        expected = [(sent, str(number), str(number + 1), True) for number, sent, _ in processed]
        self.assertEqual(members, expected)


if __name__ == "__main__":
    unittest.main()
