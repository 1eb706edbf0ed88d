"""Event streams of more than two pages, read with the Python SDK by number and by handle."""

import unittest

from aptos_sdk.account import Account
from aptos_sdk.async_client import ApiError
from aptos_sdk.bcs import Serializer

from session import COIN, SessionTestCase, call, data, primary_store, vector

# Default and maximum number of events in a response.
PAGE = 25
PAGE_MAX = 100
# Deposits per transaction. Their sum exceeds two of the largest pages.
BATCHES = [90, 90, 45]
LENGTH = sum(BATCHES)
# Creation number of the deposits: the first one that is free in an object.
DEPOSITS = 0x4000000000001
# The former resource of a coin's balance, by whose name clients ask for the streams of the coin.
COIN_STORE = f"0x1::coin::CoinStore<{COIN}>"
EVENTS = "0x1::fungible_asset::FungibleAssetEvents"
REGISTRY = "0x1::registry::Registry"


class EventsOfLongStreams(SessionTestCase):
    """An account with many deposits of different amounts, whose store has event handles."""

    settings = ("chain.coin_event_handles=true",)

    async def asyncSetUp(self):
        await super().asyncSetUp()
        self.recipient = Account.generate().address()
        self.store = primary_store(self.recipient)
        sender = await self.funded()
        amounts = iter(range(1, LENGTH + 1))
        hashes = []
        for sequence_number, count in enumerate(BATCHES):
            payload = call(
                "0x1::aptos_account::batch_transfer",
                [],
                vector([self.recipient] * count, Serializer.struct),
                vector([next(amounts) for _ in range(count)], Serializer.u64),
            )
            signed = await self.rest.create_bcs_signed_transaction(sender, payload, sequence_number)
            hashes.append(await self.rest.submit_bcs_transaction(signed))
        self.versions = []
        for transaction_hash, count in zip(hashes, BATCHES):
            await self.rest.wait_for_transaction(transaction_hash)
            done = await self.rest.transaction_by_hash(transaction_hash)
            self.versions += [done["version"]] * count

    async def by_creation_number(self, **page):
        return await self.rest.event_by_creation_number(self.store, DEPOSITS, **page)

    async def by_handle(self, **page):
        return await self.rest.events_by_event_handle(
            self.recipient, COIN_STORE, "deposit_events", **page
        )

    async def by_handle_of_the_store(self, **page):
        return await self.rest.events_by_event_handle(self.store, EVENTS, "deposit_events", **page)

    async def pages(self, read, limit=None):
        """Returns the whole stream, read in pages, and the sizes of the pages."""
        events, sizes = [], []
        while page := await read(start=len(events), limit=limit):
            events += page
            sizes.append(len(page))
        return events, sizes

    def assert_whole_stream(self, events):
        self.assertEqual(
            [event["sequence_number"] for event in events], [str(n) for n in range(LENGTH)]
        )
        self.assertEqual(
            [event["data"]["amount"] for event in events], [str(n + 1) for n in range(LENGTH)]
        )
        self.assertEqual([event["version"] for event in events], self.versions)
        self.assertEqual(
            {event["type"] for event in events}, {"0x1::fungible_asset::DepositEvent"}
        )
        for event in events:
            self.assertEqual(event["guid"]["creation_number"], str(DEPOSITS))
            self.assert_same_address(event["guid"]["account_address"], self.store)

    async def assert_pages(self, read):
        # Without a limit, above the maximum, and without an even last page.
        for limit, page in [(None, PAGE), (9999, PAGE_MAX), (40, 40)]:
            events, sizes = await self.pages(read, limit)
            rest = LENGTH % page
            self.assertEqual(
                sizes, [page] * (LENGTH // page) + [rest] * (rest > 0), f"limit {limit}"
            )
            self.assertGreater(len(sizes), 2, "longer than two pages")
            self.assert_whole_stream(events)

    async def test_reads_a_stream_in_pages_by_creation_number(self):
        await self.assert_pages(self.by_creation_number)

    async def test_reads_a_stream_in_pages_by_handle(self):
        await self.assert_pages(self.by_handle)

    async def test_reads_a_stream_in_pages_by_the_handle_of_the_store(self):
        await self.assert_pages(self.by_handle_of_the_store)

    async def test_returns_the_newest_events_without_a_start(self):
        for read in (self.by_creation_number, self.by_handle):
            numbers = [int(event["sequence_number"]) for event in await read()]
            self.assertEqual(numbers, list(range(LENGTH - PAGE, LENGTH)))
            numbers = [int(event["sequence_number"]) for event in await read(limit=3)]
            self.assertEqual(numbers, list(range(LENGTH - 3, LENGTH)))

    async def test_counts_the_events_of_a_stream_in_its_handle(self):
        events = await self.rest.account_resource(self.store, EVENTS)
        handle = events["data"]["deposit_events"]
        self.assertEqual(handle["counter"], str(LENGTH))
        self.assertEqual(handle["guid"]["id"]["creation_num"], str(DEPOSITS))
        self.assert_same_address(handle["guid"]["id"]["addr"], self.store)


class EventsOfShortStreams(SessionTestCase):
    """Streams of less than a page, and streams that do not exist. Stores have no event handles."""

    async def test_reads_the_streams_of_a_module(self):
        owner = await self.funded()
        await self.run_call(owner, call("0x1::registry::initialize", []))
        for content in (b"first", b"second"):
            await self.run_call(owner, call("0x1::registry::set", [], data(b"name"), data(content)))
        await self.run_call(owner, call("0x1::registry::remove", [], data(b"name")))

        registry = await self.rest.account_resource(owner.address(), REGISTRY)
        for field, revisions in [("set_events", ["1", "2"]), ("removed_events", ["2"])]:
            by_handle = await self.rest.events_by_event_handle(owner.address(), REGISTRY, field)
            self.assertEqual(
                [event["data"]["record"]["revision"] for event in by_handle], revisions
            )
            number = int(registry["data"][field]["guid"]["id"]["creation_num"])
            by_number = await self.rest.event_by_creation_number(owner.address(), number)
            self.assertEqual(by_number, by_handle)

    async def test_returns_nothing_for_an_unknown_stream_and_404_for_an_unknown_handle(self):
        account = (await self.funded()).address()
        self.assertEqual(await self.rest.event_by_creation_number(account, 77), [])
        for handle, field in [
            (COIN_STORE, "deposit_events"),
            ("0x1::account::Account", "no_such_field"),
            ("0x1::account::NoSuchStruct", "deposit_events"),
        ]:
            with self.assertRaises(ApiError) as rejected:
                await self.rest.events_by_event_handle(account, handle, field)
            self.assertEqual(rejected.exception.status_code, 404)


if __name__ == "__main__":
    unittest.main()
