"""Data directories of one build of the node, opened by another build and then by the first again.

`LEDGER_NODE_BIN_OLD` names the other build. Needs only Python.
"""

import hashlib
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from node_process import NodeProcess, binary
from stored_ledger.node import PAGE_MAX, NodeClient

OLD = os.environ.get("LEDGER_NODE_BIN_OLD")
# Number of transfers that each build commits.
TRANSFERS = int(os.environ.get("EXCHANGE_TRANSFERS", "3000"))
ACCOUNTS = 200
CONNECTIONS = 32


@unittest.skipUnless(OLD, "LEDGER_NODE_BIN_OLD names no other build")
class Exchange(unittest.TestCase):
    """The first build writes a directory, the second extends it, and the first reads it again."""

    def test_opens_a_directory_after_a_stop_of_the_other_build(self):
        self.exchange(NodeProcess.stop)

    def test_opens_a_directory_after_a_kill_of_the_other_build(self):
        self.exchange(NodeProcess.kill)

    def exchange(self, end):
        """Checks both directions. `end` ends a node."""
        builds = binary(), Path(OLD)
        for first, second in [builds, builds[::-1]]:
            with self.subTest(first=first, second=second), tempfile.TemporaryDirectory() as parent:
                data = Path(parent) / "data"
                responses = self.session(first, data, end, {}, TRANSFERS)
                responses = self.session(second, data, end, responses, TRANSFERS)
                self.session(first, data, end, responses, 0)
                print(f"{first}, {second}, {first}: {len(responses)} responses are equal")

    def session(self, build: Path, data: Path, end, expected: dict, transfers: int) -> dict:
        """Runs a build, compares its responses with `expected`, and commits transfers.

        Returns the digests of responses that no later block changes, by path.
        """
        node = NodeProcess("sdk", data=data, build=build)
        try:
            client = NodeClient(node.api)
            self.assertEqual(digests(client, expected), expected)
            if transfers:
                load(node, build, transfers)
            return digests(client, settled_paths(client))
        finally:
            end(node)


def load(node: NodeProcess, build: Path, transfers: int) -> None:
    """Commits transfers with the load generator of a build."""
    options = {
        "url": node.api,
        "faucet": node.faucet,
        "transfers": transfers,
        "accounts": ACCOUNTS,
        "connections": CONNECTIONS,
    }
    arguments = [part for name, value in options.items() for part in (f"--{name}", str(value))]
    subprocess.run([build, "bench", *arguments], check=True, stdout=subprocess.DEVNULL)


def settled_paths(client: NodeClient) -> list[str]:
    """Returns paths whose responses no later block changes.

    These are all transactions, the newest block, and the senders of the last transactions at the
    newest version.
    """
    newest = int(client.get("/")["ledger_version"])
    pages = range(0, newest + 1, PAGE_MAX)
    last = client.get(f"/transactions?start={pages[-1]}&limit={newest + 1 - pages[-1]}")
    senders = {transaction["sender"] for transaction in last if "sender" in transaction}
    return [
        *(
            f"/transactions?start={begin}&limit={min(PAGE_MAX, newest + 1 - begin)}"
            for begin in pages
        ),
        f"/blocks/by_version/{newest}?with_transactions=true",
        *(f"/accounts/{sender}/resources?ledger_version={newest}" for sender in sorted(senders)),
    ]


def digests(client: NodeClient, paths) -> dict[str, str]:
    """Returns the digests of the responses to paths below `/v1`."""
    read = {path: client.read(path, "application/json") for path in paths}
    return {path: hashlib.sha256(body).hexdigest() for path, body in read.items()}


if __name__ == "__main__":
    unittest.main()
