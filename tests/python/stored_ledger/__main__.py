"""Reads the copy of a data directory, checks it, and compares it with a node if one is named."""

import argparse
import sys
from pathlib import Path

from .balances import balances, newest_state
from .binary import Damaged
from .ledger import read_ledger
from .node import NodeClient, compare
from .verify import verify


def main() -> int:
    """Returns the exit code: 0 if everything agrees, 1 if something contradicts."""
    parser = argparse.ArgumentParser(prog="stored_ledger", description=__doc__)
    parser.add_argument("directory", type=Path, help="copy of the data directory of a stopped node")
    parser.add_argument("--node", metavar="URL", help="address of an idle node with this ledger")
    parser.add_argument("--balances", action="store_true", help="print every balance")
    arguments = parser.parse_args()
    try:
        ledger = read_ledger(arguments.directory)
        verify(ledger)
        found = balances(newest_state(ledger))
        if arguments.node:
            compare(ledger, NodeClient(arguments.node))
    except Damaged as error:
        print(f"{arguments.directory}: {error}", file=sys.stderr)
        return 1
    last = ledger.blocks[-1]
    print(
        f"format {ledger.format}, chain {ledger.head['chain_id']} ({ledger.vendor}): "
        f"versions {ledger.oldest_version} to {last.row['last_version']}, "
        f"blocks {ledger.blocks[0].height} to {last.height}, of which "
        f"{len(ledger.blocks) - ledger.blocks_in_tables} only in {ledger.log_records} log records; "
        f"{ledger.pruned_state.runs} runs of pruned state; {len(found)} balances"
    )
    if arguments.balances:
        for balance in sorted(found, key=lambda balance: (balance.asset, balance.owner)):
            print(f"0x{balance.owner.hex()} {balance.asset} {balance.amount}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
