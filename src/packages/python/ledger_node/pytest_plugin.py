"""The fixture `ledger_node`: a chain in memory for each test.

    @pytest.mark.ledger_node(start_time=datetime(2030, 1, 1, tzinfo=timezone.utc))
    def test_pays(ledger_node):
        assert ledger_node.accounts
"""

from collections.abc import Iterator

import pytest

from . import LedgerNode


def pytest_configure(config: pytest.Config) -> None:
    """Registers the marker."""
    config.addinivalue_line(
        "markers", "ledger_node(**options): options of LedgerNode.start for the fixture ledger_node"
    )


@pytest.fixture
def ledger_node(request: pytest.FixtureRequest) -> Iterator[LedgerNode]:
    """A node with its ledger in memory, for one test."""
    marker = request.node.get_closest_marker("ledger_node")
    with LedgerNode.start(**(marker.kwargs if marker else {})) as node:
        yield node
