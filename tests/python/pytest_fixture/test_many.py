"""CHAINS tests with a chain and a payment each, for a long run of the fixture."""

import os

import pytest

from test_fixture import fund, get


@pytest.mark.parametrize("number", range(int(os.environ.get("CHAINS", 3))))
def test_pays_on_a_chain_of_its_own(ledger_node, number):
    fund(ledger_node, "0xb0b", number + 1)
    assert get(f"{ledger_node.url}/accounts/0xb0b/balance/0xa") == number + 1
