"""The payment loop of examples/payments in Python, while node and client are killed.

PAYMENTS_SEED repeats the payments and the submissions at which a process is killed.
"""

import asyncio
import os
import random
import sys
import tempfile
import time
import unittest
from pathlib import Path

from aptos_sdk.account import Account
from aptos_sdk.account_address import AccountAddress
from aptos_sdk.async_client import FaucetClient, RestClient

from cutting_proxy import CuttingProxy, Moment
from node_process import REPOSITORY, NodeProcess
from session import FUNDED, address, call, u64

EXAMPLE = REPOSITORY / "examples" / "payments" / "payments.py"
TRANSFER = "0x1::aptos_account::transfer"
PAYMENTS = 60
RECIPIENTS = 3
# The processes and the moments of each kill, in random order.
KILLS = [
    (victims, moment)
    for victims in (("client",), ("node",), ("client", "node"))
    for moment in Moment
]
# Maximum number of submissions between two kills, so that all kills are before the last one.
GAP_MAX = PAYMENTS // len(KILLS) - 1
# Maximum time of a run of the example with all restarts. Long, because the machine may be busy.
TIMEOUT_SECS = 120

# Recipient and amount of each payment.
Payments = list[tuple[AccountAddress, int]]


class Client:
    """The example as a child process. `output` is the file of what its runs print."""

    def __init__(self, output: Path, *arguments: str | Path):
        self._arguments = arguments
        self._output = output

    async def start(self) -> None:
        with self._output.open("a") as output:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, EXAMPLE, *self._arguments, stdout=output, stderr=output
            )

    async def exited(self) -> int:
        """Returns the exit code."""
        return await self._process.wait()

    async def kill(self) -> None:
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()

    def output(self) -> str:
        """Returns what the runs have printed."""
        return self._output.read_text()


class PaymentLoopTest(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="ledger-node-payments-")
        self.addCleanup(temporary.cleanup)
        self.directory = Path(temporary.name)
        self.node = await self.started_node()
        self.addCleanup(lambda: self.node.kill())
        self.proxy = CuttingProxy(self.node.api)
        await self.proxy.start()
        self.addCleanup(self.proxy.close)

    async def started_node(self) -> NodeProcess:
        """Starts a node with the ledger of the one before."""
        return await asyncio.to_thread(NodeProcess, "sdk", data=self.directory / "data")

    async def start_client(self, payer: Account, payments: Payments) -> Client:
        """Starts the example with this list."""
        key_file, payments_file = self.directory / "payer.key", self.directory / "payments.txt"
        key_file.write_text(payer.private_key.aip80())
        payments_file.write_text("".join(f"{to} {amount}\n" for to, amount in payments))
        url = f"{self.proxy.url}/v1"
        client = Client(self.directory / "output", "--node", url, key_file, payments_file)
        await client.start()
        self.addAsyncCleanup(client.kill)
        return client

    async def restart(self, client: Client, victims: tuple[str, ...]) -> None:
        """Kills the processes, and starts them again."""
        if "client" in victims:
            await client.kill()
        if "node" in victims:
            self.node.kill()
            self.node = await self.started_node()
            self.proxy.redirect(self.node.api)
        if "client" in victims:
            await client.start()

    def connect(self) -> tuple[RestClient, FaucetClient]:
        """Returns clients of the node, whose addresses change with each start."""
        rest = RestClient(f"{self.node.api}/v1")
        faucet = FaucetClient(self.node.faucet, rest)
        # Closes the HTTP client that both share.
        self.addAsyncCleanup(faucet.close)
        return rest, faucet

    async def funded_payer(self) -> Account:
        payer = Account.generate()
        _, faucet = self.connect()
        await faucet.fund_account(payer.address(), FUNDED)
        return payer

    async def assert_paid_once(self, payer: Account, payments: Payments, output: str) -> None:
        """Asserts that the ledger has each payment once."""
        rest, _ = self.connect()
        self.assertEqual(await rest.account_sequence_number(payer.address()), len(payments), output)
        for recipient, _ in payments:
            total = sum(amount for other, amount in payments if other == recipient)
            self.assertEqual(await rest.account_balance(recipient), total, output)

    async def test_makes_each_payment_once_while_node_and_client_are_killed(self):
        seed = int(os.environ.get("PAYMENTS_SEED", time.time_ns() % 2**32))
        print(f"PAYMENTS_SEED={seed}")
        numbers = random.Random(seed)
        recipients = [Account.generate().address() for _ in range(RECIPIENTS)]
        payments = [
            (numbers.choice(recipients), numbers.randint(1, 1000)) for _ in range(PAYMENTS)
        ]
        payer = await self.funded_payer()
        client = await self.start_client(payer, payments)
        async with asyncio.timeout(TIMEOUT_SECS):
            for victims, moment in numbers.sample(KILLS, len(KILLS)):
                reached = self.proxy.reached(moment, numbers.randint(1, GAP_MAX))
                waits = [asyncio.create_task(wait) for wait in (reached, client.exited())]
                done, [left] = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
                left.cancel()
                self.assertIn(waits[0], done, client.output())
                await self.restart(client, victims)
            self.assertEqual(await client.exited(), 0, client.output())
        self.assertIn("60 payments occurred exactly once", client.output())
        await self.assert_paid_once(payer, payments, client.output())

    async def test_accepts_payments_of_an_earlier_run_with_another_expiration(self):
        payer = await self.funded_payer()
        payments = [(Account.generate().address(), amount) for amount in (1, 2, 3)]
        # The second one waits for the first one, which only the example sends.
        recipient, amount = payments[1]
        payload = call(TRANSFER, [], address(recipient), u64(amount))
        rest, _ = self.connect()
        signed = await rest.create_bcs_signed_transaction(payer, payload, sequence_number=1)
        await rest.submit_bcs_transaction(signed)
        client = await self.start_client(payer, payments)
        self.assertEqual(await client.exited(), 0, client.output())
        self.assertIn("payment 1: 400, trying again", client.output())
        await self.assert_paid_once(payer, payments, client.output())

    async def test_refuses_a_list_that_differs_from_the_payments_on_the_ledger(self):
        payer = await self.funded_payer()
        recipient = Account.generate().address()
        client = await self.start_client(payer, [(recipient, 1)])
        self.assertEqual(await client.exited(), 0, client.output())
        client = await self.start_client(payer, [(recipient, 2), (recipient, 1)])
        self.assertEqual(await client.exited(), 1, client.output())
        self.assertIn("is not payment 0", client.output())
        await self.assert_paid_once(payer, [(recipient, 1)], client.output())
