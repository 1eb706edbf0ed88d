"""Transactions of several kinds, for tests that need a ledger with some content."""

from aptos_sdk.account import Account
from aptos_sdk.account_address import AccountAddress
from aptos_sdk.async_client import FaucetClient, RestClient
from aptos_sdk.bcs import Serializer
from aptos_sdk.transactions import TransactionPayload

from node_process import NodeProcess
from session import FUNDED, address, call, data, u8, u64, vector

MANAGED_ASSET = "0x1::managed_fungible_asset"


class Traffic:
    """Calls that commit transactions. Each returns when its transactions are durable."""

    def __init__(self, node: NodeProcess):
        self._rest = RestClient(f"{node.api}/v1")
        self._faucet = FaucetClient(node.faucet, self._rest)

    async def close(self) -> None:
        """Closes the clients."""
        await self._faucet.close()

    async def fund(self, account: Account) -> None:
        """Funds an account."""
        await self._wait(await self._faucet.fund_account(account.address(), FUNDED, False))

    async def transfers(self, sender: Account, count: int) -> None:
        """Commits transfers to new accounts, one after the other."""
        for amount in range(1, count + 1):
            recipient = Account.generate().address()
            await self._run(sender, "0x1::aptos_account::transfer", address(recipient), u64(amount))

    async def batch(self, sender: Account, amounts: list[int]) -> None:
        """Commits one transaction with a transfer of each amount to one new account."""
        recipients = [Account.generate().address()] * len(amounts)
        arguments = [vector(recipients, Serializer.struct), vector(amounts, Serializer.u64)]
        await self._run(sender, "0x1::aptos_account::batch_transfer", *arguments)

    async def aborted(self, sender: Account) -> None:
        """Commits a transfer that aborts, because it exceeds the balance."""
        recipient = address(sender.address())
        await self._run(sender, "0x1::aptos_account::transfer", recipient, u64(10 * FUNDED))

    async def asset(self, creator: Account, amount: int) -> None:
        """Creates a fungible asset, and mints `amount` of it to a new account."""
        text = [data(b"Dust"), data(b"DUST"), u8(2), data(b""), data(b"")]
        # An option without a value has the form of an empty list.
        no_maximum = data(b"")
        await self._run(creator, f"{MANAGED_ASSET}::create", *text, no_maximum)
        metadata = AccountAddress.for_named_object(creator.address(), b"DUST")
        holder = Account.generate().address()
        await self._run(
            creator, f"{MANAGED_ASSET}::mint", address(metadata), address(holder), u64(amount)
        )

    async def _run(self, sender: Account, function: str, *arguments) -> None:
        payload: TransactionPayload = call(function, [], *arguments)
        signed = await self._rest.create_bcs_signed_transaction(sender, payload)
        await self._wait(await self._rest.submit_bcs_transaction(signed))

    async def _wait(self, transaction_hash: str) -> None:
        """Waits until a transaction is committed. The SDK would poll once per second."""
        url = f"{self._rest.base_url}/transactions/wait_by_hash/{transaction_hash}"
        while True:
            response = (await self._rest.client.get(url)).raise_for_status().json()
            if response["type"] != "pending_transaction":
                return
