"""Prints the function that a transaction calls, and the number of transactions in its block.

Uses the package that openapi-python-client generated as `node_client`. Arguments: the address of
the API, the hash of the transaction.
"""

import sys

from node_client import Client
from node_client.api.blocks import get_block_by_version
from node_client.api.transactions import get_transaction_by_hash
from node_client.models import Block, TransactionPayloadEntryFunction, TransactionUser


def main(base_url: str, txn_hash: str) -> None:
    client = Client(base_url=base_url)
    transaction = get_transaction_by_hash.sync(txn_hash, client=client)
    assert isinstance(transaction, TransactionUser), transaction
    assert isinstance(transaction.payload, TransactionPayloadEntryFunction), transaction
    version = int(transaction.version)
    block = get_block_by_version.sync(version, client=client, with_transactions=True)
    assert isinstance(block, Block), block
    print(transaction.payload.function, len(block.transactions))


main(*sys.argv[1:])
