"""Row `reads`: responses of the node per second, compared with a bare handler.

The handler is part of the floor and sends as many bytes. The ledger is prepared once. It has
transfers over many accounts, which are requested in turns, so that no single page of the database
serves all requests, and a block of exactly a hundred transactions. `wrk` sends the requests over
persistent connections and accepts no compression.
"""

import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys

import figures
import node_api
import programs
import start
import waits

NAME = "reads"
# So many that the index of hashes is in the database, not only in memory.
TRANSFERS = 300_000
ACCOUNTS = 3_000
# Transfers in the block of a hundred, without its block metadata, its epilogue and the transfer
# that releases the others.
HELD_TRANSFERS = 97
# Number of pages, spread over the ledger, that provide accounts and hashes.
PAGES = 20
# Number of responses that determine the median size.
SAMPLES = 50
EVENTS = 25
SCRIPT = pathlib.Path(__file__).with_name("wrk.lua")
CONNECTIONS = 64
# By kind of read: key of its paths, title, media type of the response.
KINDS = {
    "balance": ("balance", "point reads: balance", node_api.JSON),
    "by_hash": ("by_hash", "point reads: by_hash", node_api.JSON),
    "by_hash_bcs": ("by_hash", "point reads: by_hash, in BCS", node_api.BCS),
    "events": ("events", f"pages: {EVENTS} events", node_api.JSON),
    "events_bcs": ("events", f"pages: {EVENTS} events, in BCS", node_api.BCS),
    "block": ("block", "pages: a block of 100 with its transactions", node_api.JSON),
    "block_bcs": ("block", "pages: a block of 100 with its transactions, in BCS", node_api.BCS),
}


class Reads:
    name = NAME
    unit = "requests/s"
    rounds_max = None

    def measure(self, number, options, directory):
        """Measures all kinds of reads. All programs run for the whole round; one is loaded."""
        kept = directory.kept("reads", lambda path: prepare(path, options))
        fresh, runs = directory.fresh(), {}
        all_paths = json.loads((kept / "paths.json").read_text())
        with contextlib.ExitStack() as stack:
            started = [
                (
                    contender,
                    stack.enter_context(
                        start_on(contender, kept / "data", fresh / str(index), options)
                    ),
                )
                for index, contender in enumerate(contenders(options))
            ]
            first_api = started[0][1].addresses["api"]
            for kind, (what, _, media_type) in KINDS.items():
                size = body_bytes(first_api, all_paths[what], media_type)
                runs[kind] = {}
                for contender, program in figures.in_turns(number, started):
                    paths = [f"/bytes/{size}"] if contender is programs.FLOOR else all_paths[what]
                    run = load_with_wrk(program, paths, media_type, options, fresh)
                    runs[kind][contender.name] = {**run, "body_bytes": size}
                    text = f"{run['per_second']:12,.0f} requests/s   {run['cpu_us']:8.1f} us each"
                    figures.progress(number, self.name, f"{contender.name}, {kind}", text)
        return runs

    def summaries(self, rounds, options):
        return [self.summary(kind, [runs[kind] for runs in rounds], options) for kind in KINDS]

    def summary(self, kind, rounds, options):
        names = [contender.name for contender in contenders(options)]
        reports = {name: [runs[name] for runs in rounds] for name in names}
        values = {name: [run["per_second"] for run in reports[name]] for name in names}
        title = f"{KINDS[kind][1]}, {CONNECTIONS} connections"
        result = figures.result(f"{self.name}/{kind}", title, self.unit, values)
        for name, program in result["programs"].items():
            for figure in ("p50_ms", "p99_ms", "cpu_us", "generator_cpu_us", "busy_share"):
                program[figure] = figures.median(report[figure] for report in reports[name])
            program["note"] = (
                f"{figures.median(report['body_bytes'] for report in reports[name]):,.0f} bytes"
            )
            result["remarks"] += remarks(name, reports[name])
        figures.add_costs(
            result, {name: [run["cost"] for run in reports[name]] for name in names}, options
        )
        return result


def contenders(options):
    return programs.contenders(options, programs.NODE, programs.FLOOR)


def start_on(contender, data, directory, options):
    """Starts a program on a copy of the prepared ledger. The floor needs none."""
    directory.mkdir()
    if contender is not programs.FLOOR:
        start.copy(data, directory / "data")
    return contender.start(options, directory)


def remarks(name, reports):
    of = f"of {len(reports)} runs"
    limited = sum(report["generator_cores"] >= 0.9 for report in reports)
    if limited:
        yield f"{name}: wrk was the limit in {limited} {of}"
    faulty = sum(report["errors"] > 0 for report in reports)
    if faulty:
        yield f"{name}: DOES NOT COUNT, requests failed in {faulty} {of}"
    yield from figures.disturbed(name, reports)


def prepare(path, options):
    """Creates a ledger and the list of paths to request.

    The old build creates it if there is one, because each build can open it."""
    with contenders(options)[-1 if options.node_old else 0].start(options, path) as node:
        addresses = node.addresses
        load = ("--transfers", TRANSFERS, "--accounts", ACCOUNTS, "--connections", 256)
        programs.output_of(programs.bench_command(options, node, *load))
        command = waits.command(options, addresses, HELD_TRANSFERS)
        # A line for each of its two steps.
        done = subprocess.run(command, input="\n\n", capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: {done.stderr}")
        last_hash = json.loads(done.stdout.splitlines()[-1])["hash"]
        paths = paths_of(addresses["api"], last_hash)
        (path / "paths.json").write_text(json.dumps(paths))


def paths_of(api, hash_in_block):
    """Returns the paths to request, by kind."""
    version = json.loads(node_api.get(f"{api}/v1/transactions/by_hash/{hash_in_block}"))["version"]
    block = f"/v1/blocks/by_version/{version}?with_transactions=true"
    transactions = len(json.loads(node_api.get(api + block))["transactions"])
    if transactions != HELD_TRANSFERS + 3:
        sys.exit(f"the block to read has {transactions} transactions, not {HELD_TRANSFERS + 3}")
    # The newest half, because the first transactions fund the accounts.
    newest = node_api.newest_version(api) - HELD_TRANSFERS - 3
    transfers = []
    for start in node_api.page_starts(newest // 2, newest, PAGES):
        found = json.loads(node_api.page(api, start))
        transfers += [
            transaction for transaction in found if transaction["type"] == "user_transaction"
        ]
    guids = {event_key(transfer) for transfer in transfers} - {None}
    return {
        "balance": [f"/v1/accounts/{transfer['sender']}/balance/0xa" for transfer in transfers],
        "by_hash": [f"/v1/transactions/by_hash/{transfer['hash']}" for transfer in transfers],
        "events": [
            f"/v1/accounts/{account}/events/{stream}?limit={EVENTS}"
            for account, stream in sorted(guids)
        ],
        "block": [block],
    }


def event_key(transfer):
    """Returns account and creation number of the sender's withdrawals, if the transfer has one."""
    for event in transfer["events"]:
        if event["type"].endswith("::WithdrawEvent"):
            return event["guid"]["account_address"], event["guid"]["creation_number"]
    return None


def body_bytes(api, paths, media_type):
    """Returns the median size of some responses."""
    some = paths[:: max(len(paths) // SAMPLES, 1)]
    return int(statistics.median(len(node_api.get(api + path, media_type)) for path in some))


def load_with_wrk(program, paths, media_type, options, directory):
    """Loads a program with wrk after a warm-up, and returns the measurement."""
    api = program.addresses["api"]
    file = directory / "paths"
    file.write_text("\n".join(paths) + "\n")
    command = ["wrk", "--threads", 1, "--connections", CONNECTIONS, "--script", SCRIPT]
    command += ["--header", f"accept: {media_type}", "--duration"]
    if options.warm_up:
        programs.output_of([*command, f"{options.warm_up}s", api, "--", file])
    with programs.Watch(program) as watch:
        printed = programs.output_of([*command, f"{options.seconds}s", api, "--", file])
    measured = json.loads(
        next(line for line in printed.splitlines() if line.startswith("JSON ")).removeprefix(
            "JSON "
        )
    )
    per_second = measured["requests"] / measured["seconds"]
    return {
        **measured,
        "per_second": per_second,
        "cpu_us": watch.program_cores / per_second * 1e6,
        "cost": watch.usage.each(measured["requests"]),
        "generator_cpu_us": watch.generator_cores / per_second * 1e6,
        "generator_cores": watch.generator_cores,
        "busy_share": (watch.program_cores + watch.generator_cores) / os.cpu_count(),
        "cores_of_others": watch.cores_of_others,
    }


ROWS = [Reads()]
