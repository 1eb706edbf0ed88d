"""The pytest fixture of src/packages/python: a chain in memory for each test."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from datetime import datetime, timezone
from urllib.request import Request, urlopen

import pytest
from aptos_sdk.account import Account
from aptos_sdk.account_address import AccountAddress
from aptos_sdk.async_client import RestClient

from ledger_node import LedgerNode

START = datetime(2031, 5, 6, 7, 8, 9, tzinfo=timezone.utc)
# Pause between two looks at a node, and the maximum number of them.
LOOK_PAUSE_SECS = 0.02
LOOKS_MAX = 1_500


def get(url: str) -> dict:
    with urlopen(url) as response:
        return json.load(response)


def fund(node: LedgerNode, address: str, amount: int) -> None:
    body = json.dumps({"address": address, "amount": amount}).encode()
    headers = {"content-type": "application/json"}
    urlopen(Request(f"{node.faucet_url}/fund", body, headers)).close()


async def pay(node: LedgerNode, amount: int) -> dict:
    """Pays from the first funded account, and returns the committed transaction."""
    client = RestClient(node.url)
    sender = Account.load_key(node.accounts[0].private_key)
    recipient = AccountAddress.from_str(node.accounts[1].address)
    txn_hash = await client.bcs_transfer(sender, recipient, amount)
    await client.wait_for_transaction(txn_hash)
    committed = await client.transaction_by_hash(txn_hash)
    await client.close()
    return committed


def test_pays(ledger_node):
    assert asyncio.run(pay(ledger_node, 1_000))["success"]
    balance = get(f"{ledger_node.url}/accounts/{ledger_node.accounts[1].address}/balance/0xa")
    assert balance == 1_000_000_001_000


@pytest.mark.ledger_node(start_time=START, accounts=8, settings={"chain.id": 9})
def test_starts_at_a_chosen_time(ledger_node):
    assert len(ledger_node.accounts) == 8
    assert get(ledger_node.url)["chain_id"] == 9
    fund(ledger_node, "0xb0b", 5)
    usecs = int(get(ledger_node.url)["ledger_timestamp"])
    assert 0 <= usecs / 1_000_000 - START.timestamp() < 600


def test_reports_why_a_node_does_not_start():
    with pytest.raises(RuntimeError, match=r"chain\.id = .0."):
        LedgerNode.start(settings={"chain.id": 0})


def test_ends_with_a_process_that_is_killed():
    script = (
        "import time\nfrom ledger_node import LedgerNode\n"
        "print(LedgerNode.start().url, flush=True)\ntime.sleep(600)"
    )
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    url = child.stdout.readline().strip()
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    for _ in range(LOOKS_MAX):
        try:
            urlopen(url).close()
        except OSError:
            return
        time.sleep(LOOK_PAUSE_SECS)
    raise AssertionError(f"a node still serves at {url}")
