"""The row `reads`: answers of the node by second, beside a bare handler's that sends as many bytes.

The ledger that is read is made once: transfers over many accounts, which are asked for in turns so that no
single page of the database answers all, and a block of exactly a hundred transactions. `wrk` asks over
connections that stay, without compression.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys

import figures
import node_api
import programs

NAME = "reads"
# So many that the index of hashes lies in the database, not only in memory.
TRANSFERS = 300_000
ACCOUNTS = 3_000
# With the two that begin and end a block, and the one that releases the others, a hundred.
HELD_TRANSFERS = 97
# Of transactions, spread over the ledger, from which accounts and hashes are taken.
PAGES = 20
# So many answers say how large one is.
SAMPLES = 50
EVENTS = 25
SCRIPT = pathlib.Path(__file__).with_name("wrk.lua")
NODE, FLOOR = "node", "floor"
CONNECTIONS = 64
# What is asked for, what it is called, and in which form it is answered.
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
        """All kinds, node and floor in turns; both run all the time, and the one that is not asked does nothing."""
        kept = directory.kept("reads", lambda path: prepare(path, options))
        fresh, runs = directory.fresh(), {}
        (fresh / "floor").mkdir()
        with (
            programs.Process(programs.node_command(options, kept / "data"), fresh) as node,
            programs.Process(programs.floor_command(options, fresh / "data"), fresh / "floor") as floor,
        ):
            apis = {NODE: node.addresses["api"], FLOOR: floor.addresses["api"]}
            all_paths = json.loads((kept / "paths.json").read_text())
            for kind, (what, _, media_type) in KINDS.items():
                size = body_bytes(apis[NODE], all_paths[what], media_type)
                paths = {NODE: all_paths[what], FLOOR: [f"/bytes/{size}"]}
                runs[kind] = {}
                for name, program in figures.in_turns(number, [(NODE, node), (FLOOR, floor)]):
                    run = ask(program, apis[name], paths[name], media_type, options, fresh)
                    runs[kind][name] = {**run, "body_bytes": size}
                    figures.progress(number, self.name, f"{name}, {kind}", f"{run['per_second']:12,.0f} requests/s")
        return runs

    def summaries(self, rounds, options):
        return [self.summary(kind, [runs[kind] for runs in rounds]) for kind in KINDS]

    def summary(self, kind, rounds):
        values = {name: [runs[name]["per_second"] for runs in rounds] for name in (NODE, FLOOR)}
        title = f"{KINDS[kind][1]}, {CONNECTIONS} connections"
        result = figures.result(f"{self.name}/{kind}", title, self.unit, values)
        for name, program in result["programs"].items():
            reports = [runs[name] for runs in rounds]
            for figure in ("p50_ms", "p99_ms", "cpu_us", "generator_cpu_us", "busy_share"):
                program[figure] = figures.median(report[figure] for report in reports)
            program["note"] = f"{figures.median(report['body_bytes'] for report in reports):,.0f} bytes"
            result["remarks"] += remarks(name, reports)
        return result


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
    """Fills a ledger and notes what can be asked of it."""
    with programs.Process(programs.node_command(options, path / "data"), path) as node:
        addresses = node.addresses
        load = ("--transfers", TRANSFERS, "--accounts", ACCOUNTS, "--connections", 256)
        programs.output_of(programs.bench_command(options, node, *load))
        target = [address.removeprefix("http://") for address in (addresses["api"], addresses["faucet"])]
        command = [options.wait_load, "--address", target[0], "--faucet", target[1], "--transfers", HELD_TRANSFERS]
        command = [str(word) for word in command]
        # Two lines, for its two steps.
        done = subprocess.run(command, input="\n\n", capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: {done.stderr}")
        last_hash = json.loads(done.stdout.splitlines()[-1])["hash"]
        paths = paths_of(addresses["api"], last_hash)
        (path / "paths.json").write_text(json.dumps(paths))


def paths_of(api, hash_in_block):
    """What is asked for, by kind."""
    version = json.loads(node_api.get(f"{api}/v1/transactions/by_hash/{hash_in_block}"))["version"]
    block = f"/v1/blocks/by_version/{version}?with_transactions=true"
    transactions = len(json.loads(node_api.get(api + block))["transactions"])
    if transactions != HELD_TRANSFERS + 3:
        sys.exit(f"the block that is to be read has {transactions} transactions, not {HELD_TRANSFERS + 3}")
    # The newest half: the first transactions fund the accounts.
    newest = node_api.newest_version(api) - HELD_TRANSFERS - 3
    transfers = []
    for start in node_api.page_starts(newest // 2, newest, PAGES):
        found = json.loads(node_api.page(api, start))
        transfers += [transaction for transaction in found if transaction["type"] == "user_transaction"]
    guids = {event_key(transfer) for transfer in transfers} - {None}
    return {
        "balance": [balance(transfer) for transfer in transfers],
        "by_hash": [f"/v1/transactions/by_hash/{transfer['hash']}" for transfer in transfers],
        "events": [f"/v1/accounts/{account}/events/{stream}?limit={EVENTS}" for account, stream in sorted(guids)],
        "block": [block],
    }


def balance(transfer):
    """The path of the sender's balance in the coin that the transfer moved."""
    types = [change.get("data", {}).get("type", "") for change in transfer["changes"]]
    coin = next(name for name in types if "::coin::CoinStore<" in name).partition("<")[2].removesuffix(">")
    return f"/v1/accounts/{transfer['sender']}/balance/{coin}"


def event_key(transfer):
    """Of the sender's withdrawals."""
    for event in transfer["events"]:
        if event["guid"]["account_address"] == transfer["sender"]:
            return event["guid"]["account_address"], event["guid"]["creation_number"]
    return None


def body_bytes(api, paths, media_type):
    """How large the answers are, by the median of some."""
    some = paths[:: max(len(paths) // SAMPLES, 1)]
    return int(statistics.median(len(node_api.get(api + path, media_type)) for path in some))


def ask(program, api, paths, media_type, options, directory):
    """Lets wrk ask for a while without measuring, and then with."""
    file = directory / "paths"
    file.write_text("\n".join(paths) + "\n")
    command = ["wrk", "--threads", 1, "--connections", CONNECTIONS, "--script", SCRIPT]
    command += ["--header", f"accept: {media_type}", "--duration"]
    if options.warm_up:
        programs.output_of([*command, f"{options.warm_up}s", api, "--", file])
    with programs.Watch(program) as watch:
        printed = programs.output_of([*command, f"{options.seconds}s", api, "--", file])
    measured = json.loads(next(line for line in printed.splitlines() if line.startswith("JSON ")).removeprefix("JSON "))
    per_second = measured["requests"] / measured["seconds"]
    return {
        **measured,
        "per_second": per_second,
        "cpu_us": watch.program_cores / per_second * 1e6,
        "generator_cpu_us": watch.generator_cores / per_second * 1e6,
        "generator_cores": watch.generator_cores,
        "busy_share": (watch.program_cores + watch.generator_cores) / os.cpu_count(),
        "cores_of_others": watch.cores_of_others,
    }


ROWS = [Reads()]
