#!/usr/bin/env python3
"""Tests the REST API against its OpenAPI document with schemathesis.

Usage: run.py [--examples N] [--seed N] [--chain NAME], by default for all chains: one with its
whole history and a pruned one. Needs the packages of requirements.txt. The binary is that of
tests/python.
"""

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

from openapi_spec_validator import OpenAPIV31SpecValidator

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "python"))

from node_process import NodeProcess  # noqa: E402
from workload import make_history  # noqa: E402

# Both chains in parallel take a minute or two on two cores.
EXAMPLES = 8
SEED = 20_260_101
# Probability of a known value instead of a generated one.
KNOWN_PROBABILITY = 0.6
PRUNED_TIMEOUT_SECS = 60
# A small window, and small steps, so that the first pruning ends soon.
PRUNED = ("pruner.window_versions=20", "pruner.batch_versions=10")
# Generated requests ask for waits of any length.
SHORT_WAITS = ("wait.timeout_ms=100", "wait.timeout_max_ms=100")
# The routes of events have some to return.
HANDLES = ("chain.coin_event_handles=true",)
CHAINS = {"history": SHORT_WAITS + HANDLES, "pruned": SHORT_WAITS + HANDLES + PRUNED}
# Operations with a body that has some 2,900 invalid bounds. They use one decoder, so that one of
# them sends all bounds to one chain, and the others send valid ones.
WITH_SIGNED_TRANSACTION = [
    "submit_transaction",
    "submit_batch_transactions",
    "simulate_transaction",
    "get_transaction_verdict",
]
VALID_BOUNDS_ONLY = {"history": WITH_SIGNED_TRANSACTION[1:], "pruned": WITH_SIGNED_TRANSACTION}

# Operations that are not tested, with the reason of each.
NOT_TESTED = {"get_spec_json": "schemathesis reads the document first and does not test its route"}


def dictionaries(parameters: dict[str, list[str | int]]) -> str:
    """Returns the sections of the configuration that mix known values into generated ones."""
    lines = []
    for name, values in sorted(parameters.items()):
        lines += [f"[dictionaries.{name}]", f"values = {json.dumps(values)}"]
    lines.append("[parameters]")
    for name in sorted(parameters):
        lines.append(f'{name} = {{ dictionary = "{name}", probability = {KNOWN_PROBABILITY} }}')
    return "\n".join(lines) + "\n"


def valid_bounds_only(operations: list[str]) -> str:
    """Returns the section of the configuration for operations that send no invalid bounds."""
    names = json.dumps(operations)
    mode = 'phases.coverage.generation.mode = "positive"'
    return f"\n[[operations]]\ninclude-operation-id = {names}\n{mode}\n"


def wait_until_pruned(api: str) -> None:
    """Waits until the node has pruned its first version."""
    deadline = time.monotonic() + PRUNED_TIMEOUT_SECS
    while time.monotonic() < deadline:
        with urllib.request.urlopen(f"{api}/v1") as response:
            if json.load(response)["oldest_ledger_version"] != "0":
                return
        time.sleep(0.1)
    raise TimeoutError("the node does not prune")


def test_chain(name: str, examples: int, seed: int, directory: Path) -> list[str]:
    """Runs schemathesis against a node of its own. Returns the problems."""
    print(f"== chain `{name}`, {examples} examples per operation, seed {seed}", flush=True)
    node = NodeProcess("sdk", settings=CHAINS[name])
    try:
        known = make_history(node.api, node.faucet)
        if name == "pruned":
            wait_until_pruned(node.api)
        return run_schemathesis(node, known, name, examples, seed, directory)
    finally:
        if node.stop() != 0:
            print(node.log()[-4000:], file=sys.stderr)
            raise RuntimeError("the node did not stop cleanly")


def run_schemathesis(
    node: NodeProcess, known: dict, name: str, examples: int, seed: int, directory: Path
) -> list[str]:
    (directory / "known.json").write_text(json.dumps(known))
    shutil.copy(HERE / "hooks.py", directory)
    config = (HERE / "schemathesis.toml").read_text()
    config += valid_bounds_only(VALID_BOUNDS_ONLY[name]) + dictionaries(known["parameters"])
    (directory / "schemathesis.toml").write_text(config)
    responses = directory / "responses.json"
    command = [
        Path(sys.executable).parent / "schemathesis",
        *("--config-file", directory / "schemathesis.toml"),
        *("run", f"{node.api}/v1/spec.json", "--phases", "examples,coverage,fuzzing,stateful"),
        *("--max-examples", str(examples), "--seed", str(seed)),
    ]
    environment = os.environ | {
        "KNOWN_VALUES": str(directory / "known.json"),
        "RESPONSES": str(responses),
    }
    code = subprocess.run(command, cwd=directory, env=environment).returncode
    problems = [] if code == 0 else [f"schemathesis ended with {code}"]
    document = read_document(node.api)
    problems += [
        f"the document at {error.json_path}: {error.message}" for error in invalid_parts(document)
    ]
    return problems + count(json.loads(responses.read_text()), operations(document))


def read_document(api: str) -> dict[str, Any]:
    with urllib.request.urlopen(f"{api}/v1/spec.json") as response:
        return json.load(response)


def invalid_parts(document: dict[str, Any]) -> list:
    """Returns the violations of OpenAPI 3.1: form, schemas, references, examples, names."""
    return list(OpenAPIV31SpecValidator(document).iter_errors())


def operations(document: dict[str, Any]) -> set[str]:
    """Returns the operations that must succeed at least once."""
    methods = (one for path in document["paths"].values() for one in path.values())
    return {one["operationId"] for one in methods} - NOT_TESTED.keys()


def count(responses: dict[str, int], expected: set[str]) -> list[str]:
    """Prints the statuses of each operation.

    Returns the operations that never succeeded, because they were not tested in depth.
    """
    by_operation: dict[str, dict[str, int]] = {operation: {} for operation in expected}
    for key, number in responses.items():
        operation, status = key.split()
        by_operation.setdefault(operation, {})[status] = number
    problems = []
    for operation, statuses in sorted(by_operation.items()):
        counts = ", ".join(f"{status}: {number}" for status, number in sorted(statuses.items()))
        print(f"{operation:<36} {counts}")
        if not any(status.startswith("2") for status in statuses):
            problems.append(f"{operation} never responded with 2xx")
    print(f"{sum(responses.values())} requests", flush=True)
    return problems


def test_all_chains() -> int:
    """Runs this program for each chain in parallel. Each run uses one core."""
    with contextlib.ExitStack() as opened:
        runs = []
        for name in CHAINS:
            output = opened.enter_context(tempfile.TemporaryFile())
            command = [sys.executable, __file__, *sys.argv[1:], "--chain", name]
            runs.append(
                (subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT), output)
            )
        for run, output in runs:
            run.wait()
            output.seek(0)
            shutil.copyfileobj(output, sys.stdout.buffer)
            sys.stdout.flush()
    return 1 if any(run.returncode != 0 for run, _ in runs) else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=EXAMPLES)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--chain", choices=CHAINS)
    options = parser.parse_args()
    if options.chain is None:
        return test_all_chains()
    with tempfile.TemporaryDirectory(prefix="ledger-node-schemathesis-") as directory:
        problems = test_chain(options.chain, options.examples, options.seed, Path(directory))
    for problem in problems:
        print(f"FAILED {options.chain}: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
