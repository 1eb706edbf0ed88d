#!/usr/bin/env python3
"""Runs the transcripts of a Markdown file against a fresh node and compares the output.

    LEDGER_NODE_BIN=target/debug/ledger-node tests/readme/check.py [README.md]

The commands run in one shell, in an empty directory. A reader's node listens on the default ports;
the one started here listens on free ports, so the default ports are exchanged for them in what is
run, and back in what is printed.
"""

import os
import queue
import re
import shlex
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from transcript import TranscriptError, matches, steps_of

REPOSITORY = Path(__file__).resolve().parents[2]
DEFAULT_PORTS = {"api": 8080, "faucet": 8081, "admin": 9101}
READY_TIMEOUT_SECS = 60
STOP_TIMEOUT_SECS = 30
STEP_TIMEOUT_SECS = 60


class CheckError(Exception):
    """The transcript does not hold, or could not be run."""


class Lines:
    """The lines that a process prints, each waited for with a limit."""

    def __init__(self, stream):
        self._lines = queue.Queue()
        threading.Thread(target=self._read, args=[stream], daemon=True).start()

    def _read(self, stream):
        for line in stream:
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def until(self, is_last, timeout_secs: float, doing: str) -> list[str]:
        """Lines up to the one that `is_last` accepts, which is the last of the result."""
        lines: list[str] = []
        while True:
            try:
                line = self._lines.get(timeout=timeout_secs)
            except queue.Empty:
                raise CheckError(f"{doing}: nothing more after {timeout_secs} s", *lines) from None
            if line is None:
                raise CheckError(f"{doing}: the process ended", *lines)
            lines.append(line)
            if is_last(line):
                return lines


class Node:
    """A node with the default configuration, except for its ports and its directory."""

    def __init__(self, binary: Path, directory: Path):
        listeners = [part for name in DEFAULT_PORTS for part in ("--set", f"{name}.listen=127.0.0.1:0")]
        self.process = subprocess.Popen(
            [binary, "run", *listeners, "--data-dir", directory / "data"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=(directory / "node.log").open("w"),
            text=True,
        )
        lines = Lines(self.process.stdout)
        try:
            ready = lines.until(lambda line: line.startswith("ready "), READY_TIMEOUT_SECS, "starting the node")[-1]
        except CheckError as error:
            self.process.kill()
            self.process.wait()
            raise CheckError(*error.args, (directory / "node.log").read_text()) from None
        self.urls = dict(part.split("=", 1) for part in ready.split()[1:])

    def stop(self):
        """Stops the node; raises CheckError unless it ends cleanly."""
        self.process.terminate()
        try:
            code = self.process.wait(STOP_TIMEOUT_SECS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise CheckError(f"the node did not stop within {STOP_TIMEOUT_SECS} s") from None
        if code != 0:
            raise CheckError(f"the node ended with exit code {code}")


class Shell:
    """One bash for all steps, so that variables and files of one step are there for the next."""

    MARK = "--- end of step"

    def __init__(self, binary: Path, urls: dict[str, str], directory: Path):
        self._urls = urls
        self._process = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            cwd=directory,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._lines = Lines(self._process.stdout)
        api, faucet = shlex.quote(urls["api"]), shlex.quote(urls["faucet"])
        # The client commands take the default ports for granted; here they are told the free ones.
        self._process.stdin.write(f"""
            set -o pipefail
            ledger-node() {{
                case "$1 $2" in
                    "account show" | "account transfer") set -- "$1" "$2" --url {api} "${{@:3}}" ;;
                    "account fund") set -- "$1" "$2" --faucet {faucet} "${{@:3}}" ;;
                    "bench "*) set -- "$1" --url {api} --faucet {faucet} "${{@:2}}" ;;
                esac
                {shlex.quote(str(binary))} "$@"
            }}
        """)

    def run(self, command: str) -> list[str]:
        """Runs a command and gives the lines it printed; raises CheckError unless it succeeds."""
        command = re.sub(r"(\./)?target/(release|debug)/ledger-node\b", "ledger-node", command)
        for name, port in DEFAULT_PORTS.items():
            command = re.sub(rf"(http://)?(127\.0\.0\.1|localhost):{port}\b", self._urls[name], command)
        self._process.stdin.write(f"{{ {command}\n}} </dev/null; printf '\\n%s %d\\n' '{self.MARK}' $?\n")
        self._process.stdin.flush()
        *printed, mark = self._lines.until(
            lambda line: line.startswith(self.MARK), STEP_TIMEOUT_SECS, f"running {command!r}"
        )
        # The line break before the mark is the checker's, also where the output ends with its own.
        if printed and printed[-1] == "":
            printed.pop()
        status = mark.removeprefix(self.MARK).strip()
        if status != "0":
            raise CheckError(f"exit status {status}", *printed)
        return [self._with_default_ports(line) for line in printed]

    def _with_default_ports(self, line: str) -> str:
        for name, port in DEFAULT_PORTS.items():
            line = line.replace(self._urls[name].removeprefix("http://"), f"127.0.0.1:{port}")
        return line

    def close(self):
        """Ends the shell."""
        self._process.kill()
        self._process.wait()


def check(document: Path, binary: Path) -> int:
    """Runs every step; gives their number, raises CheckError at the first that does not hold."""
    steps = steps_of(document.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="ledger-node-readme-") as name:
        directory = Path(name)
        workplace = directory / "workplace"
        workplace.mkdir()
        node = Node(binary, directory)
        try:
            shell = Shell(binary, node.urls, workplace)
            try:
                for step in steps:
                    place = f"{document.name}:{step.line}: $ {step.command}"
                    try:
                        printed = shell.run(step.command)
                    except CheckError as error:
                        raise CheckError(place, *error.args) from None
                    if not matches(step.expected, printed):
                        raise CheckError(f"{place}\nshown:", *step.expected, "printed:", *printed)
            finally:
                shell.close()
        finally:
            node.stop()
    return len(steps)


def main() -> int:
    document = Path(sys.argv[1]) if len(sys.argv) > 1 else REPOSITORY / "README.md"
    binary = Path(os.environ.get("LEDGER_NODE_BIN", REPOSITORY / "target/debug/ledger-node")).resolve()
    try:
        count = check(document, binary)
    except (CheckError, TranscriptError, OSError) as error:
        print("\n".join(str(part) for part in error.args), file=sys.stderr)
        return 1
    print(f"{count} steps of {document.name} print what it shows")
    return 0


if __name__ == "__main__":
    sys.exit(main())
