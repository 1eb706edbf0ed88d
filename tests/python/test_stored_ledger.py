"""A data directory, read by `stored_ledger` and compared with the node that wrote it.

The directories are those after a kill, after a stop, with a pruned window, and with damage.
"""

import asyncio
import collections
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from aptos_sdk.account import Account

from node_process import NodeProcess
from stored_ledger import schema
from stored_ledger.balances import balances, newest_state
from stored_ledger.bcs import decode
from stored_ledger.binary import Damaged
from stored_ledger.hashes import Hasher
from stored_ledger.ledger import Ledger, read_ledger
from stored_ledger.node import NodeClient, compare
from stored_ledger.redb import Database
from stored_ledger.verify import verify
from stored_ledger.wal import HEADER_BYTES, Record, records
from traffic import Traffic

GOLDEN = Path(__file__).parent.parent / "golden" / "transactions.json"
# Kinds of signatures that the ledger does not check and thus never stores.
NEVER_COMMITTED = ("keyless", "abstract")
TABLES = ("blocks", "transactions", "events", "writes")
# Metadata address of the chain's coin.
COIN = f"0x{0xA:064x}"
MINTED = 900
# Number of versions in a block of one user transaction.
BLOCK_VERSIONS = 3
# Number of random bits that the test of a whole ledger changes, one at a time, and their seed.
FLIPS = int(os.environ.get("STORED_LEDGER_FLIPS", "24"))
SEED = int(os.environ.get("STORED_LEDGER_SEED", str(random.randrange(2**32))))
# Maximum time of the pruner until the end of the window.
PRUNED_TIMEOUT_SECS = 30


class StoredLedgerTestCase(unittest.TestCase):
    """Copies of one directory, and a running node with the same ledger.

    `killed` is a copy after SIGKILL, when the newest blocks are only in the log, `stopped` one
    after a graceful stop. `info` is the node's last response before the kill.
    """

    settings: tuple[str, ...] = ()
    # Number of versions that the node retains, not counting those at the start of the oldest block.
    window = None

    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory(prefix="stored-ledger-")
        cls.addClassCleanup(directory.cleanup)
        cls.root = Path(directory.name)
        cls.killed, cls.stopped = cls.root / "killed", cls.root / "stopped"
        data = cls.root / "data"

        account = Account.generate()
        node = NodeProcess("sdk", cls.settings, data)
        asyncio.run(cls.first_session(node, account))
        node.stop()

        node = NodeProcess("sdk", cls.settings, data)
        asyncio.run(cls.second_session(node, account))
        cls.info = cls.settled_info(NodeClient(node.api))
        node.kill()
        shutil.copytree(data, cls.killed)

        NodeProcess("sdk", cls.settings, data).stop()
        shutil.copytree(data, cls.stopped)

        cls.node = NodeProcess("sdk", cls.settings, data)
        cls.addClassCleanup(cls.node.stop)
        cls.client = NodeClient(cls.node.api)

    @staticmethod
    async def first_session(node: NodeProcess, account: Account):
        """Commits transactions of several kinds."""
        traffic = Traffic(node)
        await traffic.fund(account)
        await traffic.transfers(account, 6)
        await traffic.batch(account, list(range(1, 31)))
        await traffic.aborted(account)
        await traffic.asset(account, MINTED)
        await traffic.close()

    @staticmethod
    async def second_session(node: NodeProcess, account: Account):
        """Commits some more. The first block is a checkpoint, and the others are in the log."""
        traffic = Traffic(node)
        await traffic.transfers(account, 6)
        other = Account.generate_secp256k1_ecdsa()
        await traffic.fund(other)
        await traffic.transfers(other, 2)
        await traffic.close()

    @classmethod
    def settled_info(cls, client: NodeClient) -> dict:
        """Returns the ledger info after the pruner has reached the end of the window."""
        deadline = time.monotonic() + PRUNED_TIMEOUT_SECS
        while True:
            info = client.get("/")
            newest, oldest = (int(info[f"{name}ledger_version"]) for name in ("", "oldest_"))
            if cls.window is None or newest - oldest < cls.window + BLOCK_VERSIONS:
                return info
            if time.monotonic() > deadline:
                raise TimeoutError(f"not pruned: {info}")
            time.sleep(0.1)

    def read(self, directory: Path) -> Ledger:
        """Reads a directory and checks everything, also against the node."""
        ledger = read_ledger(directory)
        verify(ledger)
        compare(ledger, self.client)
        self.assertEqual(ledger.blocks[-1].height, int(self.info["block_height"]))
        self.assertEqual(ledger.oldest_version, int(self.info["oldest_ledger_version"]))
        return ledger

    def copy_of(self, directory: Path) -> Path:
        """Returns a copy of a directory."""
        copy = Path(tempfile.mkdtemp(dir=self.root)) / "data"
        return shutil.copytree(directory, copy)

    def damaged_copy(self, directory: Path, name: str, offset: int) -> Path:
        """Returns a copy of a directory in which one bit of a file is changed."""
        copy = self.copy_of(directory)
        content = bytearray((copy / name).read_bytes())
        content[offset] ^= 1
        (copy / name).write_bytes(content)
        return copy

    def assert_damaged(self, directory: Path, name: str, offset: int):
        """Checks that a directory with a changed bit is rejected without a node."""
        copy = self.damaged_copy(directory, name, offset)
        with self.assertRaises(Damaged):
            verify(read_ledger(copy))

    def exit_code(self, directory: Path) -> int:
        """Returns the exit code of the command line for a directory and the running node."""
        command = [sys.executable, "-m", "stored_ledger", directory, "--node", self.node.api]
        finished = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True)
        return finished.returncode

    def log_of(self, directory: Path) -> list[Record]:
        """Returns the records of a log."""
        entries = Database(directory / "ledger.redb").entries("meta")
        meta = {entry.key: entry.value for entry in entries}
        state = decode(schema.WAL_STATE, meta[b"log"])
        return list(records(directory / "ledger.log", meta[b"digest_key"], state["generation"]))


class WholeLedger(StoredLedgerTestCase):
    """A ledger from genesis on."""

    def test_reads_the_newest_blocks_from_the_log_after_a_kill(self):
        ledger = self.read(self.killed)
        self.assertGreater(len(ledger.blocks), ledger.blocks_in_tables)
        self.assertGreater(ledger.blocks_in_tables, 1)

    def test_reads_all_blocks_from_the_tables_after_a_stop(self):
        ledger = self.read(self.stopped)
        self.assertEqual(len(ledger.blocks), ledger.blocks_in_tables)
        self.assertEqual((self.stopped / "ledger.log").stat().st_size, 0)

    def test_finds_the_same_state_after_a_kill_and_after_a_stop(self):
        states = [newest_state(read_ledger(copy)) for copy in (self.killed, self.stopped)]
        self.assertEqual(states[0], states[1])
        amounts = {balance.amount for balance in balances(states[0]) if balance.asset != COIN}
        self.assertEqual(amounts, {MINTED})

    def test_rejects_a_changed_bit_in_every_table(self):
        database = Database(self.stopped / "ledger.redb")
        for name in TABLES:
            entry = list(database.entries(name))[-1]
            for index in (0, len(entry.value) // 2, len(entry.value) - 1):
                with self.subTest(table=name, byte=index):
                    self.assert_damaged(self.stopped, "ledger.redb", entry.offset + index)

    def test_rejects_every_random_changed_bit(self):
        draw = random.Random(SEED)
        values = self.hashed_values()
        copies = {directory: self.copy_of(directory) for directory in (self.killed, self.stopped)}
        flips = collections.Counter()
        for number in range(FLIPS):
            name = draw.choice(sorted(values))
            directory, file, begin, size = draw.choice(values[name])
            path, bit = copies[directory] / file, draw.randrange(8 * size)
            with self.subTest(seed=SEED, flip=number, of=name, begin=begin, bit=bit):
                whole = path.read_bytes()
                damaged = bytearray(whole)
                damaged[begin + bit // 8] ^= 1 << bit % 8
                path.write_bytes(damaged)
                try:
                    with self.assertRaises(Damaged):
                        verify(read_ledger(copies[directory]))
                finally:
                    path.write_bytes(whole)
                flips[name] += 1
        print(
            f"STORED_LEDGER_SEED={SEED}: {flips.total()} of {FLIPS} flips rejected, {dict(flips)}"
        )

    def hashed_values(self) -> dict[str, list[tuple[Path, str, int, int]]]:
        """Returns the values whose damage is detected without a node, by name.

        A value is a directory, a file, a first byte and a size. The values are the rows, and all
        records of the log except the last one.
        """
        database = Database(self.stopped / "ledger.redb")
        rows = {
            name: [
                (self.stopped, "ledger.redb", entry.offset, len(entry.value))
                for entry in database.entries(name)
            ]
            for name in TABLES
        }
        log = [
            (self.killed, "ledger.log", record.begin, HEADER_BYTES + len(record.content))
            for record in self.log_of(self.killed)[:-1]
        ]
        return {**rows, "log": log}

    def test_rejects_a_damaged_record_that_others_follow(self):
        record = self.log_of(self.killed)[-2]
        for offset in (record.begin, record.begin + 40, record.begin + 200):
            with self.subTest(offset=offset - record.begin):
                self.assert_damaged(self.killed, "ledger.log", offset)

    def test_lacks_the_blocks_of_a_damaged_last_record(self):
        record = self.log_of(self.killed)[-1]
        copy = self.damaged_copy(self.killed, "ledger.log", record.begin + 200)
        ledger = read_ledger(copy)
        verify(ledger)
        self.assertEqual(ledger.blocks[-1].height, record.height)
        with self.assertRaisesRegex(Damaged, "ledger_version"):
            compare(ledger, self.client)

    def test_exits_with_1_for_a_damaged_directory(self):
        entry = next(Database(self.killed / "ledger.redb").entries("transactions"))
        damaged = self.damaged_copy(self.killed, "ledger.redb", entry.offset)
        self.assertEqual([self.exit_code(copy) for copy in (self.killed, damaged)], [0, 1])


class PrunedLedger(StoredLedgerTestCase):
    """A ledger whose oldest versions are pruned."""

    window = 9
    settings = (f"pruner.window_versions={window}", "pruner.batch_versions=12")

    def test_reads_the_log_above_pruned_tables_after_a_kill(self):
        ledger = self.read(self.killed)
        self.assertGreater(ledger.pruned_state.runs, 0)
        self.assertEqual(ledger.pruned_state.filters, ledger.pruned_state.runs)
        self.assertGreater(ledger.prune_records, 0)
        self.assertGreater(ledger.oldest_version, ledger.head["oldest_version"])

    def test_reads_pruned_tables_after_a_stop(self):
        ledger = self.read(self.stopped)
        self.assertEqual(ledger.oldest_version, ledger.head["oldest_version"])
        self.assertGreater(len(ledger.pruned_state.streams), 0)

    def test_differs_from_the_node_after_a_changed_bit_in_pruned_state(self):
        entry, index = self.pruned_balance()
        copy = self.damaged_copy(self.stopped, "ledger.redb", entry.offset + index)
        ledger = read_ledger(copy)
        # No hash covers pruned state, so only the node's response differs.
        verify(ledger)
        with self.assertRaisesRegex(Damaged, "/balance/"):
            compare(ledger, self.client)

    def pruned_balance(self):
        """Returns a block of a run and the index of a balance in it.

        The balance is that of a primary store that has not changed since.
        """
        ledger = read_ledger(self.stopped)
        newest = newest_state(ledger)
        blocks = list(Database(self.stopped / "ledger.redb").entries("runs"))
        for key, value in reversed(ledger.pruned_state.values.items()):
            if newest.get(key) != value:
                continue
            for balance in balances({key: value}):
                metadata = bytes.fromhex(balance.asset[2:])
                # In the store, the amount follows the address of the metadata.
                amount = value.index(metadata + balance.amount.to_bytes(8, "little")) + len(metadata)
                for block in blocks:
                    if (index := block.value.find(key)) >= 0:
                        # The variant of the write and the length of the value follow the key.
                        return block, block.value.index(value, index + len(key)) + amount
        raise AssertionError("no primary store in the runs of pruned state")


class Schemas(unittest.TestCase):
    """Schemas and hashes against vectors of the SDK."""

    def test_decodes_every_golden_transaction_and_computes_its_hash(self):
        hasher = Hasher("APTOS")
        for vector in json.loads(GOLDEN.read_text()):
            body = b"\0" + bytes.fromhex(vector["signed"][2:])
            with self.subTest(vector["name"]):
                if any(kind in vector["name"] for kind in NEVER_COMMITTED):
                    with self.assertRaises(Damaged):
                        decode(schema.TRANSACTION, body)
                else:
                    decode(schema.TRANSACTION, body)
                found = hasher.of("Transaction", body).hex()
                self.assertEqual(f"0x{found}", vector["hash"])


if __name__ == "__main__":
    unittest.main()
