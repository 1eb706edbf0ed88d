"""Every client of the Python SDK that sends requests, and the table of docs/reference/sdks.md.

test_calls.py has the methods of the clients of the REST API, of the faucet and of the indexer. This
file calls those of the other clients, among them the ones that a node alone cannot serve.
"""

import asyncio
import importlib
import inspect
import pkgutil
import tempfile
import unittest
from pathlib import Path

import aptos_sdk
from aptos_sdk.account import Account
from aptos_sdk.account_address import AccountAddress
from aptos_sdk.aptos_token_client import AptosTokenClient, Property, PropertyMap
from aptos_sdk.aptos_tokenv1_client import AptosTokenV1Client
from aptos_sdk.package_publisher import PackagePublisher

import test_calls
from sdk_table import check_table
from session import SessionTestCase, call, data

# Modules whose classes start the program of the reference node.
NOT_CLIENTS = {"aptos_sdk.aptos_cli_wrapper"}
# Methods of other clients that work, by the file that tests them.
WORKS = {
    "test_worker.py": {
        "AccountSequenceNumber.next_sequence_number",
        "AccountSequenceNumber.synchronize",
        "TransactionQueue.next",
        "TransactionQueue.push",
        "TransactionWorker.next_processed_transaction",
    },
    "test_clients.py": {
        "AptosTokenClient.read_object",
        "AptosTokenClient.tokens_minted_from_transaction",
        "AptosTokenClient.transfer_token",
        "AptosTokenV1Client.transfer_object",
        "PackagePublisher.derive_object_address",
    },
}
# Methods that a node alone cannot serve, by class: the reason, and the rejection of each.
REJECTED = {
    AptosTokenClient: ("calls `0x4::aptos_token`, which the node does not have", "LINKER_ERROR"),
    AptosTokenV1Client: (
        "uses `0x3::token`, which the node does not have",
        "LINKER_ERROR|0x3::token::",
    ),
    PackagePublisher: (
        "publishes a package, but the node executes no bytecode",
        # Only functions of `0x1::code` are rejected at once.
        "this chain runs native modules|LINKER_ERROR",
    ),
}
# Methods of test_calls.py whose answer differs from that of a public network.
INDEXER = "IndexerClient.query"
AGGREGATOR = "RestClient.aggregator_value"


def methods_of(client: type) -> list[str]:
    """Returns the names of the methods that send requests, with the name of the class."""
    members = inspect.getmembers(client, inspect.iscoroutinefunction)
    return [f"{client.__name__}.{name}" for name, _ in members if not name.startswith("_")]


def clients() -> list[type]:
    """Returns the classes of the SDK that have methods that send requests."""
    found = []
    for module in pkgutil.walk_packages(aptos_sdk.__path__, "aptos_sdk."):
        members = inspect.getmembers(importlib.import_module(module.name), inspect.isclass)
        for _, one in members:
            is_own = one.__module__ == module.name and module.name not in NOT_CLIENTS
            if is_own and not issubclass(one, unittest.TestCase) and methods_of(one):
                found.append(one)
    return found


def rest_methods() -> dict[str, str]:
    """Returns the methods of the clients in test_calls.py, with the file that tests each."""
    tested = {method: file for file, names in test_calls.TESTED.items() for method in names}
    methods = [method for one in test_calls.CLIENTS for method in methods_of(one)]
    return {method: tested[method.partition(".")[2]] for method in methods}


class Clients(SessionTestCase):
    """The clients of tokens and packages."""

    def rejected_methods(self) -> dict[str, str]:
        """Returns the methods that are not served, with the reason of each."""
        working = set().union(*WORKS.values())
        return {
            method: reason
            for client, (reason, _) in REJECTED.items()
            for method in methods_of(client)
            if method not in working
        }

    def test_table_of_the_document_has_every_method(self):
        rows = [[method, "works", f"`{file}`"] for method, file in rest_methods().items()]
        rows += [[one, "works", f"`{file}`"] for file, names in WORKS.items() for one in names]
        rows += [[one, "differs", reason] for one, reason in self.rejected_methods().items()]
        rows = [row for row in rows if row[0] not in (INDEXER, AGGREGATOR)]
        rows.append([INDEXER, "needs an indexer", "the node serves `processor_status` only"])
        rows.append([AGGREGATOR, "differs", "the node stores the supply without an aggregator"])
        rows.sort()
        methods = sorted(method for client in clients() for method in methods_of(client))
        self.assertEqual([method for method, _, _ in rows], methods)
        header = ["method", "result", "test, or reason"]
        check_table("python", header, [[f"`{method}`", *others] for method, *others in rows])

    def argument(self, parameter: inspect.Parameter, owner: Account, package: Path):
        """Returns a valid value for a parameter, by its type."""
        annotation = parameter.annotation
        name = annotation if isinstance(annotation, str) else annotation.__name__
        values = {
            "Account": Account.generate() if parameter.name == "receiver" else owner,
            "AccountAddress": owner.address(),
            "Property": Property.string("name", "value"),
            "PropertyMap": PropertyMap([]),
            "bool": False,
            "bytes": b"metadata",
            "int": 1,
            "str": str(package) if parameter.name == "package_dir" else "text",
            "List": [b"module"],
        }
        return values[name]

    def write_package(self) -> Path:
        """Returns the directory of a compiled package with one module."""
        directory = tempfile.TemporaryDirectory(prefix="ledger-node-package-")
        self.addCleanup(directory.cleanup)
        package = Path(directory.name)
        (package / "Move.toml").write_text('[package]\nname = "a_package"\n')
        modules = package / "build/a_package/bytecode_modules"
        modules.mkdir(parents=True)
        (modules / "module.mv").write_bytes(b"module")
        (modules.parent / "package-metadata.bcs").write_bytes(b"metadata")
        return package

    async def rejection(self, method) -> str:
        """Calls a method, and waits for its transactions. Returns the reason of the rejection."""
        owner, package = await self.funded(), self.write_package()
        parameters = inspect.signature(method).parameters.values()
        required = [one for one in parameters if one.default is inspect.Parameter.empty]
        arguments = [self.argument(one, owner, package) for one in required]
        try:
            sent = await method(*arguments)
            for pending in sent if isinstance(sent, list) else [sent]:
                await self.rest.wait_for_transaction(pending)
        except Exception as error:
            return str(error)
        return self.fail(f"{method.__qualname__} is served")

    async def test_rejects_methods_that_need_bytecode_or_tokens(self):
        kinds = {client.__name__: client for client in REJECTED}
        calls = [method.split(".") for method in self.rejected_methods()]
        # In parallel, because the SDK polls once per second.
        reasons = await asyncio.gather(
            *(self.rejection(getattr(kinds[client](self.rest), name)) for client, name in calls)
        )
        for (client, name), reason in zip(calls, reasons):
            with self.subTest(f"{client}.{name}"):
                self.assertRegex(reason, REJECTED[kinds[client]][1])

    async def test_reads_and_transfers_an_object_by_the_clients_of_tokens(self):
        owner, recipient = await self.funded(), await self.funded()
        done = await self.run_call(
            owner, call("0x1::managed_object::create_named", [], data(b"a seed"))
        )
        thing = AccountAddress.for_named_object(owner.address(), b"a seed")
        tokens = AptosTokenClient(self.rest)
        self.assertEqual(await tokens.tokens_minted_from_transaction(done["hash"]), [])
        await self.rest.wait_for_transaction(
            await tokens.transfer_token(owner, thing, recipient.address())
        )
        [core] = (await tokens.read_object(thing)).resources.values()
        self.assertEqual(core.owner, recipient.address())
        await self.rest.wait_for_transaction(
            await AptosTokenV1Client(self.rest).transfer_object(recipient, thing, owner.address())
        )
        [core] = (await tokens.read_object(thing)).resources.values()
        self.assertEqual(core.owner, owner.address())

    async def test_derives_the_address_of_an_object_with_code(self):
        publisher = await self.funded()
        self.assertEqual(
            await PackagePublisher(self.rest).derive_object_address(publisher.address()),
            PackagePublisher.create_object_deployment_address(publisher.address(), 1),
        )


if __name__ == "__main__":
    unittest.main()
