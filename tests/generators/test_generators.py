"""Clients that generators make of the OpenAPI document of a running node.

Each test generates a client, compiles it in TypeScript, and runs a program that calls the node
through it. The table of docs/reference/sdks.md states what each generator leaves out.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.request
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "python"))

from node_process import NodeProcess  # noqa: E402
from sdk_table import check_table  # noqa: E402

RECIPIENT = f"0x{'b0b':0>64}"
TIMEOUT_SECS = 120
# A part of the document that openapi-python-client does not read: its operation and its type.
WARNING = re.compile(
    r"WARNING parsing (\w+ \S+) within.*?"
    r"(?:Unsupported content type |Unsupported content_type \{')([\w./+-]+)",
    re.DOTALL,
)
# The name of a schema for which openapi-python-client makes no class.
LOST_SCHEMA = re.compile(r"Unable to (?:parse|process) schema (\S+)")


def run(command: list, directory: Path, environment: dict[str, str] | None = None) -> str:
    """Runs a command and returns what it prints. Raises AssertionError if it fails."""
    done = subprocess.run(
        command,
        cwd=directory,
        env={**os.environ, **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIMEOUT_SECS,
    )
    assert done.returncode == 0, f"{command}: exit status {done.returncode}\n{done.stdout}"
    return done.stdout


class Generators(unittest.TestCase):
    """A node with one transfer, and its document."""

    @classmethod
    def setUpClass(cls):
        cls.node = NodeProcess("sdk")
        cls.addClassCleanup(cls.node.kill)
        cls.api = f"{cls.node.api}/v1"
        directory = tempfile.TemporaryDirectory(prefix="ledger-node-generators-")
        cls.addClassCleanup(directory.cleanup)
        cls.directory = Path(directory.name)
        with urllib.request.urlopen(f"{cls.api}/spec.json") as response:
            document = json.load(response)
        (cls.directory / "spec.json").write_text(json.dumps(document))
        operations = [one for path in document["paths"].values() for one in path.values()]
        cls.operations = {one["operationId"] for one in operations}
        cls.schemas = set(document["components"]["schemas"])
        fund = urllib.request.Request(
            f"{cls.node.faucet}/fund",
            json.dumps({"address": RECIPIENT, "amount": 1000}).encode(),
            {"content-type": "application/json"},
        )
        with urllib.request.urlopen(fund) as response:
            [cls.hash] = json.load(response)["txn_hashes"]

    def assert_called(self, printed: str):
        """Asserts that a program printed the call of the faucet, and the size of its block."""
        self.assertRegex(printed, r"^0x1::aptos_account::transfer [1-9]\d*\n$")

    def run_typescript(self, name: str) -> None:
        """Compiles the program `call_NAME.ts` with the generated client, and runs it."""
        modules = HERE / "node_modules"
        (self.directory / "node_modules").symlink_to(modules)
        self.addCleanup((self.directory / "node_modules").unlink)
        for file in ("tsconfig.json", f"call_{name}.ts"):
            shutil.copy(HERE / file, self.directory)
        self.addCleanup((self.directory / f"call_{name}.ts").unlink)
        run(["node", modules / "typescript/bin/tsc"], self.directory)
        program = self.directory / "out" / f"call_{name}.js"
        self.assert_called(run(["node", program, self.api, self.hash], self.directory))

    def test_openapi_typescript(self):
        program = HERE / "node_modules/openapi-typescript/bin/cli.js"
        run(["node", program, "spec.json", "-o", "openapi_typescript.d.ts"], self.directory)
        types = (self.directory / "openapi_typescript.d.ts").read_text()
        for name in self.operations | self.schemas:
            self.assertRegex(types, rf"\n    +{name}: ")
        self.run_typescript("openapi_typescript")

    def test_hey_api(self):
        program = HERE / "node_modules/@hey-api/openapi-ts/bin/run.js"
        options = ["-i", "spec.json", "-o", "hey_api", "--no-log-file"]
        run(["node", program, *options], self.directory)
        types = (self.directory / "hey_api/types.gen.ts").read_text()
        # Names of types are written with a capital after each digit.
        declared = {name.lower() for name in re.findall(r"^export type (\w+) ", types, re.M)}
        self.assertEqual({name.lower() for name in self.schemas} - declared, set())
        functions = (self.directory / "hey_api/sdk.gen.ts").read_text()
        calls = re.findall(r"^export const (\w+) ", functions, re.M)
        self.assertEqual(len(calls), len(self.operations))
        self.run_typescript("hey_api")

    def test_openapi_python_client(self):
        program = Path(sys.executable).parent / "openapi-python-client"
        options = ["--path", "spec.json", "--meta", "none", "--output-path", "node_client"]
        printed = run([program, "generate", *options], self.directory)
        self.assertEqual(LOST_SCHEMA.findall(printed), [])
        left_out = WARNING.findall(printed)
        self.assertEqual(printed.count("WARNING"), len(left_out), printed)
        generated = {path.stem for path in self.directory.glob("node_client/api/*/*.py")}
        self.assertEqual(self.operations - generated, set())
        command = [sys.executable, HERE / "call_openapi_python_client.py", self.api, self.hash]
        self.assert_called(run(command, self.directory, {"PYTHONPATH": str(self.directory)}))
        self.check_document(left_out)

    def check_document(self, left_out: list[tuple[str, str]]):
        """Compares the table of the generators with their versions and what they leave out."""
        packages = json.loads((HERE / "package.json").read_text())["dependencies"]
        by_type: dict[str, set[str]] = {}
        for operation, media_type in left_out:
            by_type.setdefault(media_type, set()).add(operation)
        lost = "; ".join(
            f"bodies in `{media_type}` of {', '.join(f'`{one}`' for one in sorted(operations))}"
            for media_type, operations in sorted(by_type.items())
        )
        functions = "and a function for each operation"
        made = {
            "openapi-typescript": "types of all operations and schemas",
            "@hey-api/openapi-ts": f"types of all operations and schemas, {functions}",
        }
        rows = [[f"`{name}`", packages[name], makes, "-"] for name, makes in made.items()]
        name = "openapi-python-client"
        rows.append([f"`{name}`", version(name), f"a class for each schema, {functions}", lost])
        check_table("generators", ["generator", "version", "makes", "leaves out"], rows)


if __name__ == "__main__":
    unittest.main()
