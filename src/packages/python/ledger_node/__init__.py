"""A ledger node in one binary, and a chain in memory in a process of its own, for tests.

    with LedgerNode.start() as node:
        print(node.url, node.accounts[0].address)
"""

import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

# Maximum time until the ready line. Long, because many tests may start nodes at the same time.
READY_TIMEOUT_SECS = 60
# Listeners, each on a free port.
LISTENERS = ("api", "graphql", "faucet", "admin")


def program() -> str:
    """Returns the path of the program: LEDGER_NODE_BIN, or the one in this package."""
    packed = Path(__file__).parent / "bin" / "ledger-node"
    return os.environ.get("LEDGER_NODE_BIN", str(packed))


def main() -> None:
    """Runs the program instead of this process: the command `ledger-node`."""
    os.execv(program(), ["ledger-node", *sys.argv[1:]])


@dataclass(frozen=True)
class FundedAccount:
    """A funded account of a chain in memory. Its key, `ed25519-priv-0x...`, is public."""

    address: str
    private_key: str


class LedgerNode:
    """A running node with its ledger in memory. It ends with this process at the latest.

    `url` is the address of the REST interface, with `/v1`; `faucet_url`, `indexer_url` and
    `admin_url` are those of the other listeners; `accounts` has the funded accounts.
    """

    @classmethod
    def start(
        cls,
        *,
        preset: str | None = "sdk",
        start_time: datetime | None = None,
        accounts: int | None = None,
        settings: Mapping[str, str | int | bool] | None = None,
    ) -> "LedgerNode":
        """Starts a node on free ports, and returns it once it accepts requests.

        The clock of the chain starts at `start_time`, and runs as fast as time passes. `accounts`
        is the number of funded accounts, 5 by default. `settings` are by their keys, such as
        `{"wait.timeout_ms": 500}`.
        """
        all_settings = {f"{name}.listen": "127.0.0.1:0" for name in LISTENERS}
        all_settings["log.level"] = "warn"
        if start_time is not None:
            all_settings["chain.start_secs"] = int(start_time.timestamp())
        if accounts is not None:
            all_settings["chain.accounts"] = accounts
        all_settings.update(settings or {})
        command = [program(), "run", "--in-memory", "--until-stdin-closes"]
        if preset is not None:
            command += ["--preset", preset]
        for key, value in all_settings.items():
            text = str(value).lower() if isinstance(value, bool) else str(value)
            command += ["--set", f"{key}={text}"]
        return cls(command)

    def __init__(self, command: list[str]):
        # The environment of the test must not configure the node.
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("LEDGER_NODE_")
        }
        with tempfile.TemporaryFile(mode="w+") as log:
            # The node ends when its standard input does, so it does not outlive this process.
            self._process = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
            output = self._read_until_ready()
            if output is None:
                self.stop()
                log.seek(0)
                raise RuntimeError(f"ledger-node did not start:\n{log.read()}")
        ready = output.rsplit("\n", 2)[-2].split()[1:]
        urls = dict(word.split("=", 1) for word in ready)
        self.url = f"{urls['api']}/v1"
        self.faucet_url = urls["faucet"]
        self.indexer_url = f"{urls['graphql']}/v1/graphql"
        self.admin_url = urls["admin"]
        pairs = re.findall(r"^ *account (0x[0-9a-f]+).*\n *private key (\S+)$", output, re.MULTILINE)
        self.accounts = [FundedAccount(address, f"ed25519-priv-{key}") for address, key in pairs]

    def _read_until_ready(self) -> str | None:
        """Returns the output up to the ready line, or `None` if the node ends before it."""
        # A node that does not become ready is killed, which ends its output.
        timer = threading.Timer(READY_TIMEOUT_SECS, self._process.kill)
        timer.start()
        output = ""
        try:
            for line in self._process.stdout:
                output += line
                if line.startswith("ready "):
                    return output
            return None
        finally:
            timer.cancel()

    def stop(self) -> None:
        """Ends the node, which has nothing to save."""
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()

    def __enter__(self) -> "LedgerNode":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
