"""A node of this repository as a child process, with its own directory and free ports."""

import os
import queue
import subprocess
import tempfile
import threading
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]

# Maximum times until the ready line and of a stop. Long, because the machine may be busy.
READY_TIMEOUT_SECS = 60
STOP_TIMEOUT_SECS = 30


def binary() -> Path:
    """Returns the path of LEDGER_NODE_BIN, otherwise of the release or debug build."""
    named = os.environ.get("LEDGER_NODE_BIN")
    built = [REPOSITORY / "target" / profile / "ledger-node" for profile in ("release", "debug")]
    candidates = [Path(named)] if named else built
    for path in candidates:
        if path.exists():
            return path
    raise FileNotFoundError(f"no node to test; looked for {', '.join(map(str, candidates))}")


class NodeProcess:
    """A running node with `config/<preset>.toml` and `settings` (`section.key=value`).

    If `preset` is None, the node has no preset. `api`, `graphql`, `faucet` and `admin` are its
    addresses. Its ledger is in `data`, which remains after the end of the process, or in a
    temporary directory. `build` is the program to run, by default that of `binary`.
    """

    def __init__(
        self,
        preset: str | None,
        settings: tuple[str, ...] = (),
        data: Path | None = None,
        build: Path | None = None,
    ):
        self._directory = tempfile.TemporaryDirectory(prefix="ledger-node-python-")
        directory = Path(self._directory.name)
        free_ports = [
            f"{name}.listen=127.0.0.1:0" for name in ("api", "graphql", "faucet", "admin")
        ]
        overrides = [part for setting in (*free_ports, *settings) for part in ("--set", setting)]
        config = ["--config", REPOSITORY / "config" / f"{preset}.toml"] if preset else []
        data = data or directory / "data"
        self._log = directory / "node.log"
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [build or binary(), "run", *config, *overrides, "--data-dir", data],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        try:
            urls = self._wait_until_ready()
        except Exception:
            self.kill()
            raise
        self.api, self.graphql = urls["api"], urls["graphql"]
        self.faucet, self.admin = urls["faucet"], urls["admin"]

    def _wait_until_ready(self) -> dict[str, str]:
        """Returns the addresses of the ready line: `ready api=http://127.0.0.1:1234 faucet=...`."""
        lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read_lines, args=[lines], daemon=True).start()
        while True:
            try:
                line = lines.get(timeout=READY_TIMEOUT_SECS)
            except queue.Empty:
                raise TimeoutError(
                    f"no ready line within {READY_TIMEOUT_SECS} s\n{self.log()}"
                ) from None
            if line is None:
                raise RuntimeError(f"the node ended before it was ready\n{self.log()}")
            if line.startswith("ready "):
                return dict(part.split("=", 1) for part in line.split()[1:])

    def _read_lines(self, lines: "queue.Queue[str | None]") -> None:
        for line in self._process.stdout:
            lines.put(line)
        lines.put(None)

    def log(self) -> str:
        """Returns the standard error of the node."""
        return self._log.read_text()

    def stop(self) -> int:
        """Sends SIGTERM and returns the exit code. Kills a node that does not stop in time."""
        self._process.terminate()
        try:
            return self._process.wait(STOP_TIMEOUT_SECS)
        finally:
            self.kill()

    def kill(self) -> None:
        """Kills the process and removes its directory."""
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()
        self._directory.cleanup()
