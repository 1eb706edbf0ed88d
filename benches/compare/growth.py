"""Row `million`: memory and disk space of a node after many transfers over many accounts, and its
speed in the first and last fifth of them."""

import figures
import load
import node_api
import programs

TRANSFERS = 1_000_000
# Transfers per account.
PER_ACCOUNT = 10
CONNECTIONS = 256
# Number of pages, spread over the ledger, that determine the mean size of a transfer.
PAGES = 40
# Bytes per transaction of a page in BCS without the transaction, its events and its changes:
# version, info of a successful transaction (tag, gas, status, three hashes, two absent ones),
# accumulator root.
FRAME_BYTES = 8 + (1 + 8 + 1 + 3 * 32 + 1 + 1) + 32
PAYLOAD = "payload"
FIRST, LAST = "first fifth", "last fifth"
MEMORY_MB_MAX = 600


class Million:
    name = "million"
    rounds_max = None

    def measure(self, number, options, directory):
        runs = {}
        for contender in figures.in_turns(number, programs.contenders(options, programs.NODE)):
            runs[contender.name] = run = fill(contender, directory.fresh(), options)
            stored, payload = run["stopped_bytes_each"], run["payload_bytes_each"]
            disk = f"{stored:,.0f} bytes on the disk for {payload:,.0f}"
            text = f"{run['resident_bytes'] / 1e6:,.0f} MB, {disk} each"
            figures.progress(number, self.name, contender.name, text)
        return runs

    def summaries(self, rounds, options):
        of = f"{transfers(options):,} transfers over {accounts(options):,} accounts"
        reports = {
            contender.name: [runs[contender.name] for runs in rounds]
            for contender in programs.contenders(options, programs.NODE)
        }
        results = [
            memory(of, reports),
            disk(of, reports),
            *(speed(of, name, runs) for name, runs in reports.items()),
        ]
        for name, runs in reports.items():
            for result in results:
                result["remarks"] += remarks(name, runs)
        figures.add_costs(
            results[0],
            {name: [load.measured_cost(run) for run in runs] for name, runs in reports.items()},
            options,
        )
        return results


def memory(of, reports):
    values = {name: [run["resident_bytes"] / 1e6 for run in runs] for name, runs in reports.items()}
    result = figures.result("million/memory", f"resident memory after {of}", "MB", values)
    for name in reports:
        result["programs"][name]["note"] = f"at most {MEMORY_MB_MAX} MB"
    return result


def disk(of, reports):
    values = {name: [run["stopped_bytes_each"] for run in runs] for name, runs in reports.items()}
    values[PAYLOAD] = [run["payload_bytes_each"] for run in next(iter(reports.values()))]
    result = figures.result("million/disk", f"disk space per transfer, {of}", "bytes", values)
    for name, runs in reports.items():
        running = figures.median(run["running_bytes_each"] for run in runs)
        result["programs"][name]["note"] = f"allocated after a stop; {running:,.0f} before it"
    result["programs"][PAYLOAD]["note"] = "BCS of transaction, events and changes"
    return result


def speed(of, name, runs):
    fifths = [run["fifths_committed_per_second"] for run in runs]
    values = {LAST: [parts[-1] for parts in fifths], FIRST: [parts[0] for parts in fifths]}
    return figures.result("million/speed", f"{name}: committed, {of}", "committed/s", values)


def remarks(name, runs):
    faulty = sum(bool(run["failed"] or run["uncommitted"]) for run in runs)
    if faulty:
        yield f"{name}: transfers that were not committed in {faulty} of {len(runs)} runs"
    yield from figures.disturbed(name, runs)


def transfers(options, by_default=TRANSFERS):
    return options.transfers or by_default


def accounts(options, by_default=TRANSFERS):
    return transfers(options, by_default) // PER_ACCOUNT


def fill(contender, directory, options):
    """Loads a new node in `directory`, stops it, and returns the report with sizes."""
    with contender.start(options, directory) as node:
        words = (
            "--transfers",
            transfers(options),
            "--accounts",
            accounts(options),
            "--connections",
            CONNECTIONS,
        )
        report = programs.report_with_cost(node, options, *words)
        data = directory / "data"
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
    """Returns the allocated size of all files in a directory."""
    return sum(path.stat().st_blocks * 512 for path in data.rglob("*") if path.is_file())


def payload_bytes_each(api, committed):
    """Returns the payload of all transactions, divided by the number of transfers.

    All of the oldest transactions, which fund the accounts, are counted. The newest, nearly all of
    them transfers, are sampled by pages."""
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
    """Returns the number of transactions of a page and their payload in bytes."""
    body = node_api.page(api, start, node_api.BCS)
    count, count_bytes = uleb128(body)
    return count, len(body) - count_bytes - count * FRAME_BYTES


def uleb128(body):
    """Returns the ULEB128 number at the start of `body`, as BCS encodes lengths, and its size."""
    value = 0
    for index, byte in enumerate(body):
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return value, index + 1
    raise ValueError("a ULEB128 number that does not end")


ROWS = [Million()]
