"""Every method of the Python SDK's clients of the REST API, the faucet and the indexer.

This file has the list of all methods, so that a new one of the SDK fails a test, and tests the
methods that no other file calls.
"""

import inspect
import unittest
from pathlib import Path

from aptos_sdk.account import Account
from aptos_sdk.account_address import AccountAddress
from aptos_sdk.async_client import (
    ApiError,
    ClientConfig,
    FaucetClient,
    IndexerClient,
    ResourceNotFound,
    RestClient,
)
from aptos_sdk.type_tag import StructTag, TypeTag

from session import (
    COIN,
    FUNDED,
    STORE,
    SessionTestCase,
    address,
    call,
    data,
    primary_store,
    u64,
)

# Tested methods by file. A method that several files call is listed once.
TESTED = {
    "session.py": {
        "fund_account",
        "view",
        "create_bcs_signed_transaction",
        "submit_and_wait_for_bcs_transaction",
    },
    "test_events.py": {
        "event_by_creation_number",
        "events_by_event_handle",
        "submit_bcs_transaction",
        "wait_for_transaction",
        "transaction_by_hash",
    },
    "test_framework.py": {
        "account_modules",
        "get_table_item",
        "transfer_coins",
        "transfer_object",
        "view_bcs_payload",
    },
    "test_signatures.py": {"create_multi_agent_bcs_transaction"},
    "test_simulation.py": {
        "create_bcs_transaction",
        "simulate_bcs_transaction",
        "simulate_transaction",
        "account_sequence_number",
    },
    "test_worker.py": {"transactions_by_account", "account_balance"},
    "test_calls.py": {
        "account",
        "account_module",
        "account_resource",
        "account_resources",
        "account_transaction_sequence_number_status",
        "aggregator_value",
        "bcs_transfer",
        "blocks_by_height",
        "blocks_by_version",
        "chain_id",
        "close",
        "current_timestamp",
        "healthy",
        "info",
        "query",
        "transaction_by_version",
        "transaction_pending",
        "transactions",
    },
}
CLIENTS = (RestClient, FaucetClient, IndexerClient)
FRAMEWORK = AccountAddress.from_str("0x1")
UNKNOWN_HASH = f"0x{'5' * 64}"
# Above every version of a test.
FAR_VERSION = 10_000_000
PROCESSOR_STATUS = """
    query getProcessorStatus($where_condition: processor_status_bool_exp) {
      processor_status(where: $where_condition) { last_success_version processor last_updated }
    }
"""


class ListOfCalls(unittest.TestCase):
    """Comparison of the list with the SDK and with the named files."""

    def test_has_every_method_of_every_client(self):
        calls = set()
        for client in CLIENTS:
            members = inspect.getmembers(client, inspect.isfunction)
            calls |= {name for name, _ in members if not name.startswith("_")}
        self.assertEqual(set().union(*TESTED.values()), calls)

    def test_names_files_that_call_the_methods(self):
        for name, calls in TESTED.items():
            text = (Path(__file__).parent / name).read_text()
            for method in calls:
                self.assertRegex(text, rf"\.{method}\b", name)


class Calls(SessionTestCase):
    """Reads, and a transfer to read."""

    # The result of `transfer`.
    transferred = None

    async def transfer(self):
        """Returns the sender, the recipient and the transaction of a transfer of 5.

        The tests share it, because the SDK polls once per second.
        """
        if Calls.transferred is None:
            sender, recipient = await self.funded(), Account.generate().address()
            pending = await self.rest.bcs_transfer(sender, recipient, 5)
            await self.rest.wait_for_transaction(pending)
            Calls.transferred = sender, recipient, await self.rest.transaction_by_hash(pending)
        return Calls.transferred

    async def assert_rejected(self, request, status):
        with self.assertRaises(ApiError) as rejected:
            await request
        self.assertEqual(rejected.exception.status_code, status, str(rejected.exception))

    async def test_reads_the_ledger_info(self):
        info = await self.rest.info()
        self.assertEqual((info["chain_id"], await self.rest.chain_id()), (4, 4))
        _, _, done = await self.transfer()
        self.assertGreaterEqual(
            await self.rest.current_timestamp(), int(done["timestamp"]) / 1_000_000
        )
        self.assertTrue(await self.faucet.healthy())

    async def test_reads_an_account_now_and_at_a_version(self):
        sender, recipient, done = await self.transfer()
        version = int(done["version"])
        for at, number, balance in [(version - 1, 0, 0), (version, 1, 5), (None, 1, 5)]:
            account = await self.rest.account(sender.address(), at)
            expected = {"sequence_number": str(number), "authentication_key": sender.auth_key()}
            self.assertEqual(account, expected)
            self.assertEqual(await self.rest.account_sequence_number(sender.address(), at), number)
            self.assertEqual(await self.rest.account_balance(recipient, at), balance)
            tags = [TypeTag(StructTag.from_str(COIN))]
            in_bcs = await self.rest.view_bcs_payload(
                "0x1::coin", "balance", tags, [address(recipient)], at
            )
            self.assertEqual(in_bcs, [str(balance)])
            in_json = await self.rest.view("0x1::coin::balance", [COIN], [str(recipient)], at)
            self.assertEqual(in_json, f'["{balance}"]'.encode())
        for request in (
            self.rest.account(sender.address(), FAR_VERSION),
            self.rest.view("0x1::coin::balance", [COIN], [str(recipient)], FAR_VERSION),
            self.rest.account_module(FRAMEWORK, "coin", FAR_VERSION),
        ):
            await self.assert_rejected(request, 404)

    async def test_reads_resources_now_and_at_a_version(self):
        sender, recipient, done = await self.transfer()
        version = int(done["version"])
        paid_from, paid_to = primary_store(sender.address()), primary_store(recipient)
        resources = await self.rest.account_resources(paid_from)
        self.assertIn(await self.rest.account_resource(paid_from, STORE), resources)
        for at in (version, version - 1):
            then = await self.rest.account_resources(paid_from, at)
            [store] = [one["data"] for one in then if one["type"] == STORE]
            alone = await self.rest.account_resource(paid_from, STORE, at)
            self.assertEqual(store, alone["data"])
            self.assertEqual(store["balance"] == str(FUNDED), at == version - 1)
        self.assertEqual(await self.rest.account_resources(paid_to, version - 1), [])
        with self.assertRaises(ResourceNotFound):
            await self.rest.account_resource(paid_to, STORE, version - 1)

    async def test_reads_modules_now_and_at_a_version(self):
        module = await self.rest.account_module(FRAMEWORK, "coin")
        self.assertIn(
            "transfer", [function["name"] for function in module["abi"]["exposed_functions"]]
        )
        self.assertEqual(await self.rest.account_module(FRAMEWORK, "coin", 0), module)
        listed = await self.rest.account_modules(FRAMEWORK, ledger_version=0, limit=1000)
        self.assertIn(module, listed)
        await self.assert_rejected(self.rest.account_module(FRAMEWORK, "no_such_module"), 404)

    async def test_reads_transactions_by_position(self):
        sender, _, done = await self.transfer()
        version = int(done["version"])
        self.assertEqual(await self.rest.transaction_by_version(version), done)
        self.assertEqual(await self.rest.transactions(limit=1, start=version), [done])
        newest = await self.rest.transactions(limit=3)
        versions = [int(one["version"]) for one in newest]
        self.assertEqual(versions, list(range(versions[0], versions[0] + 3)))
        self.assertGreaterEqual(versions[-1], version)
        self.assertEqual(await self.rest.transactions_by_account(sender.address()), [done])
        status = self.rest.account_transaction_sequence_number_status
        self.assertTrue(await status(sender.address(), 0))
        self.assertFalse(await status(sender.address(), 1))
        await self.assert_rejected(self.rest.transaction_by_version(FAR_VERSION), 404)
        await self.assert_rejected(self.rest.transactions(start=FAR_VERSION), 400)
        await self.assert_rejected(self.rest.transaction_by_hash(UNKNOWN_HASH), 404)

    async def test_reads_blocks_with_and_without_transactions(self):
        _, _, done = await self.transfer()
        version = int(done["version"])
        block = await self.rest.blocks_by_version(version)
        self.assertIsNone(block.get("transactions"))
        whole = await self.rest.blocks_by_version(version, with_transactions=True)
        self.assertIn(done, whole["transactions"])
        self.assertEqual(whole | {"transactions": None}, block | {"transactions": None})
        height = int(block["block_height"])
        self.assertEqual(await self.rest.blocks_by_height(height), block)
        self.assertEqual(await self.rest.blocks_by_height(height, with_transactions=True), whole)
        await self.assert_rejected(self.rest.blocks_by_height(FAR_VERSION), 404)
        await self.assert_rejected(self.rest.blocks_by_version(FAR_VERSION), 404)

    async def test_reports_a_parked_transaction_as_pending(self):
        sender, recipient = await self.funded(), Account.generate().address()
        later = await self.rest.bcs_transfer(sender, recipient, 2, sequence_number=1)
        self.assertTrue(await self.rest.transaction_pending(later))
        await self.rest.bcs_transfer(sender, recipient, 1, sequence_number=0)
        await self.rest.wait_for_transaction(later)
        self.assertFalse(await self.rest.transaction_pending(later))
        # The SDK reports an unknown hash as pending.
        self.assertTrue(await self.rest.transaction_pending(UNKNOWN_HASH))

    async def test_ends_a_wait_at_its_timeout_or_for_a_failed_transaction(self):
        impatient = RestClient(f"{self.node.api}/v1", ClientConfig(transaction_wait_in_seconds=0))
        self.addAsyncCleanup(impatient.close)
        with self.assertRaisesRegex(AssertionError, "timed out"):
            await impatient.wait_for_transaction(UNKNOWN_HASH)
        sender = await self.funded()
        failed = await self.rest.bcs_transfer(sender, Account.generate().address(), 10 * FUNDED)
        with self.assertRaisesRegex(AssertionError, "EINSUFFICIENT_BALANCE"):
            await self.rest.wait_for_transaction(failed)

    async def test_reads_a_table_item_at_a_version(self):
        owner = await self.funded()
        await self.run_call(owner, call("0x1::registry::initialize", []))
        versions = []
        for content in (b"\x01", b"\x02"):
            done = await self.run_call(
                owner, call("0x1::registry::set", [], data(b"name"), data(content))
            )
            versions.append(int(done["version"]))
        registry = await self.rest.account_resource(owner.address(), "0x1::registry::Registry")
        handle = registry["data"]["records"]["inner"]["handle"]
        item = [handle, "0x1::string::String", "0x1::registry::Record", "name"]
        contents = [(await self.rest.get_table_item(*item, at))["content"] for at in versions]
        self.assertEqual(contents, ["0x01", "0x02"])
        await self.assert_rejected(self.rest.get_table_item(*item, versions[0] - 1), 404)
        await self.assert_rejected(self.rest.get_table_item(*item[:3], "no such name"), 404)

    async def test_stores_the_supply_without_an_aggregator(self):
        coin_info = f"0x1::coin::CoinInfo<{COIN}>"
        with self.assertRaisesRegex(ApiError, "aggregator not found"):
            await self.rest.aggregator_value(FRAMEWORK, coin_info, ["supply"])

    async def test_reads_the_status_of_an_indexer_processor(self):
        _, _, done = await self.transfer()
        indexer = IndexerClient(f"{self.node.graphql}/v1/graphql")
        condition = {"where_condition": {"processor": {"_eq": "events_processor"}}}
        response = await indexer.query(PROCESSOR_STATUS, condition)
        [status] = response["data"]["processor_status"]
        self.assertEqual(status["processor"], "events_processor")
        self.assertGreaterEqual(status["last_success_version"], int(done["version"]))
        rejected = await indexer.query("{ events(limit: 1) { data } }", {})
        self.assertIn("this node has no indexer", rejected["errors"][0]["message"])

    async def test_rejects_a_submission_with_its_reason(self):
        sender = await self.funded()
        to = address(sender.address())
        first, other = (call("0x1::aptos_account::transfer", [], to, u64(n)) for n in (1, 2))
        done = await self.run_call(sender, first)
        signed = await self.rest.create_bcs_signed_transaction(sender, other, sequence_number=0)
        with self.assertRaisesRegex(ApiError, "SEQUENCE_NUMBER_TOO_OLD") as rejected:
            await self.rest.submit_bcs_transaction(signed)
        self.assertEqual(rejected.exception.status_code, 400)
        self.assertIn(f"used by transaction {done['hash']}", str(rejected.exception))

    async def test_accepts_the_bytes_of_a_committed_transaction_again(self):
        sender = await self.funded()
        payload = call("0x1::aptos_account::transfer", [], address(sender.address()), u64(1))
        signed = await self.rest.create_bcs_signed_transaction(sender, payload)
        hashes = []
        for _ in range(2):
            hashes.append(await self.rest.submit_bcs_transaction(signed))
            await self.rest.wait_for_transaction(hashes[0])
        self.assertEqual(hashes[0], hashes[1])
        self.assertEqual(await self.rest.account_sequence_number(sender.address()), 1)


if __name__ == "__main__":
    unittest.main()
