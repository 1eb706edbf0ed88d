"""What is asked of a node while a row is prepared, and after it."""

import json
import urllib.request

JSON = "application/json"
BCS = "application/x-bcs"
# How long an answer may take, in seconds.
PATIENCE_SECONDS = 30
# The largest page of transactions.
PAGE = 100


def get(url, media_type=JSON):
    """The body of an answer that must succeed."""
    request = urllib.request.Request(url, headers={"accept": media_type})
    with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
        return answer.read()


def newest_version(api):
    return int(json.loads(get(f"{api}/v1"))["ledger_version"])


def height(api):
    """Of the newest block; the floor, which has none, stays at 0."""
    return int(json.loads(get(f"{api}/v1"))["block_height"])


def page_starts(first, last, pages):
    """Where to begin so many pages that are spread evenly over the versions."""
    room = max(last - first - PAGE, 0)
    return sorted({first + room * number // max(pages - 1, 1) for number in range(pages)})


def page(api, start, media_type=JSON):
    """Up to `PAGE` transactions; fewer where they are large."""
    return get(f"{api}/v1/transactions?start={start}&limit={PAGE}", media_type)
