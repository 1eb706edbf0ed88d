"""The row `million`: what a node needs that has committed many transfers over many accounts, in memory and on the
disk, and whether it became slower by them."""

import figures
import node_api
import programs

TRANSFERS = 1_000_000
# So many transfers for each account.
PER_ACCOUNT = 10
CONNECTIONS = 256
# Pages of which the size of a transfer is taken, spread over all of them.
PAGES = 40
# What is in a page's BCS for each transaction beside itself, its events and its changes: a version, its info when
# it succeeded (a tag, the gas, a status, three hashes, two that are absent), and the root of the
# accumulator.
FRAME_BYTES = 8 + (1 + 8 + 1 + 3 * 32 + 1 + 1) + 32
NODE, PAYLOAD = "node", "payload"
FIRST, LAST = "first fifth", "last fifth"
MEMORY_MUST_MB = 600


class Million:
    name = "million"
    rounds_max = None

    def measure(self, number, options, directory):
        fresh = directory.fresh()
        run = fill(fresh / "data", fresh, options)
        disk = f"{run['stopped_bytes_each']:,.0f} bytes on the disk for {run['payload_bytes_each']:,.0f}"
        figures.progress(number, self.name, NODE, f"{run['resident_bytes'] / 1e6:,.0f} MB, {disk} each")
        return {NODE: run}

    def summaries(self, rounds, options):
        runs = [found[NODE] for found in rounds]
        of = f"{transfers(options):,} transfers over {accounts(options):,} accounts"
        values = lambda key, scale=1: [run[key] / scale for run in runs]
        memory = {NODE: values("resident_bytes", 1e6)}
        memory = figures.result("million/memory", f"resident memory after {of}", "MB", memory)
        memory["programs"][NODE]["note"] = f"at most {MEMORY_MUST_MB} MB"
        disk = {NODE: values("stopped_bytes_each"), PAYLOAD: values("payload_bytes_each")}
        disk = figures.result("million/disk", f"on the disk each, {of}", "bytes", disk)
        running = figures.median(values("running_bytes_each"))
        disk["programs"][NODE]["note"] = f"allocated after a stop; {running:,.0f} before it"
        disk["programs"][PAYLOAD]["note"] = "BCS of transaction, events and changes"
        fifths = [run["fifths_committed_per_second"] for run in runs]
        speed = {LAST: [parts[-1] for parts in fifths], FIRST: [parts[0] for parts in fifths]}
        speed = figures.result("million/speed", f"committed, {of}", "committed/s", speed)
        for result in (memory, disk, speed):
            result["remarks"] += remarks(runs)
        return [memory, disk, speed]


def remarks(runs):
    faulty = sum(bool(run["failed"] or run["uncommitted"]) for run in runs)
    if faulty:
        yield f"{NODE}: transfers that were not committed in {faulty} of {len(runs)} runs"
    yield from figures.disturbed(NODE, runs)


def transfers(options, by_default=TRANSFERS):
    return options.transfers or by_default


def accounts(options, by_default=TRANSFERS):
    return transfers(options, by_default) // PER_ACCOUNT


def fill(data, directory, options):
    """Has a new node commit the transfers; stops it, and tells what they took."""
    with programs.Process(programs.node_command(options, data), directory) as node:
        load = ("--transfers", transfers(options), "--accounts", accounts(options), "--connections", CONNECTIONS)
        report = programs.report(node, programs.bench_command(options, node, *load))
        resident, running = node.resident_bytes(), allocated_bytes(data)
        payload = payload_bytes_each(node.addresses["api"], report["committed"])
    committed = report["committed"]
    return {
        **report,
        "resident_bytes": resident,
        "running_bytes_each": running / committed,
        "stopped_bytes_each": allocated_bytes(data) / committed,
        "payload_bytes_each": payload,
    }


def allocated_bytes(data):
    """Of all files in a directory, as the file system counts."""
    return sum(path.stat().st_blocks * 512 for path in data.rglob("*") if path.is_file())


def payload_bytes_each(api, committed):
    """The payload of all transactions, for each transfer: of the oldest, which fund the accounts, by all of them; of
    the newest, which are as many as the transfers and hardly anything else, by pages that are spread over them."""
    newest = node_api.newest_version(api)
    first = max(newest - committed, 0)
    total = version = 0
    while version < first:
        count, payload = page_payload(api, version)
        version += count
        total += payload
    sampled = [page_payload(api, start) for start in node_api.page_starts(version, newest, PAGES)]
    each = sum(payload for _, payload in sampled) / sum(count for count, _ in sampled)
    return (total + each * (newest - version)) / committed


def page_payload(api, start):
    """How many transactions a page has, and their payload."""
    body = node_api.page(api, start, node_api.BCS)
    count, count_bytes = uleb128(body)
    return count, len(body) - count_bytes - count * FRAME_BYTES


def uleb128(body):
    """The number that begins it, and its length, as BCS writes how many elements follow."""
    value = 0
    for index, byte in enumerate(body):
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return value, index + 1
    raise ValueError("a number without an end")


ROWS = [Million()]
