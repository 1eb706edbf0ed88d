"""Requests to a node while a row is prepared and after it was measured."""

import json
import sys
import urllib.request

JSON = "application/json"
BCS = "application/x-bcs"
# Maximum time of a request, in seconds.
TIMEOUT_SECONDS = 30
# Maximum number of transactions that the node returns in one response.
PAGE = 100
# Metric whose sum counts the committed transactions of users.
COMMITTED = "ledger_block_transactions_sum"


def get(url, media_type=JSON):
    """Returns the body of a successful response."""
    request = urllib.request.Request(url, headers={"accept": media_type})
    with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
        return response.read()


def newest_version(api):
    return int(json.loads(get(f"{api}/v1"))["ledger_version"])


def height(api):
    """Returns the height of the newest block. The floor has no blocks and always returns 0."""
    return int(json.loads(get(f"{api}/v1"))["block_height"])


def committed_transactions(admin):
    """Returns how many transactions of users the node has committed since its start."""
    for line in get(f"{admin}/metrics", "*/*").decode().splitlines():
        if line.startswith(f"{COMMITTED} "):
            return int(float(line.split()[1]))
    return sys.exit(f"{admin}/metrics has no {COMMITTED}")


def page_starts(first, last, pages):
    """Returns the start versions of pages that are spread evenly over `first` to `last`."""
    span = max(last - first - PAGE, 0)
    return sorted({first + span * number // max(pages - 1, 1) for number in range(pages)})


def page(api, start, media_type=JSON):
    """Returns a page of up to `PAGE` transactions. A page of large transactions is shorter."""
    return get(f"{api}/v1/transactions?start={start}&limit={PAGE}", media_type)
