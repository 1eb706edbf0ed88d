#!/usr/bin/env python3
"""Runs the transcript of each document against a node of its own and compares the output.

    LEDGER_NODE_BIN=target/debug/ledger-node tests/readme/check.py [DOCUMENT...]

Without arguments: README.md, docs/use/quickstart.md and docs/operate/run.md. The commands of a
document run in one shell, in an empty directory. The documents name the default ports. The node
listens on free ports, so this program replaces the default ports in commands, and the free ones in
their output.
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
from typing import Callable, TextIO

from transcript import Step, TranscriptError, matches, steps_of

REPOSITORY = Path(__file__).resolve().parents[2]
DOCUMENTS = [
    REPOSITORY / name for name in ("README.md", "docs/use/quickstart.md", "docs/operate/run.md")
]
DEFAULT_PORTS = {"api": 8080, "faucet": 8081, "admin": 9101}
READY_TIMEOUT_SECS = 60
STOP_TIMEOUT_SECS = 30
STEP_TIMEOUT_SECS = 60


class CheckError(Exception):
    """The output differs from the transcript, or the transcript could not be run."""


class LineReader:
    """Reads the lines that a process prints, with a time limit for each."""

    def __init__(self, stream: TextIO):
        self._lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, args=[stream], daemon=True).start()

    def _read(self, stream: TextIO) -> None:
        for line in stream:
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def read_until(
        self, is_last: Callable[[str], bool], timeout_secs: float, operation: str
    ) -> list[str]:
        """Returns the next lines up to and including the one that `is_last` accepts.

        Raises CheckError, with the lines so far, if the process ends or prints nothing for
        `timeout_secs`.
        """
        lines: list[str] = []
        while True:
            try:
                line = self._lines.get(timeout=timeout_secs)
            except queue.Empty:
                raise CheckError(f"{operation}: no line within {timeout_secs} s", *lines) from None
            if line is None:
                raise CheckError(f"{operation}: the process ended", *lines)
            lines.append(line)
            if is_last(line):
                return lines


class Node:
    """A node with the default configuration, except for its ports and its directory."""

    def __init__(self, binary: Path, directory: Path):
        ports = [("--set", f"{name}.listen=127.0.0.1:0") for name in DEFAULT_PORTS]
        log = directory / "node.log"
        self.process = subprocess.Popen(
            [binary, "run", *sum(ports, ()), "--data-dir", directory / "data"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log.open("w"),
            text=True,
        )
        reader = LineReader(self.process.stdout)
        is_ready = lambda line: line.startswith("ready ")
        try:
            ready = reader.read_until(is_ready, READY_TIMEOUT_SECS, "starting the node")[-1]
        except CheckError as error:
            self.process.kill()
            self.process.wait()
            raise CheckError(*error.args, log.read_text()) from None
        self.urls = dict(part.split("=", 1) for part in ready.split()[1:])

    def stop(self) -> None:
        """Stops the node. Raises CheckError if it does not end with exit code 0."""
        self.process.terminate()
        try:
            code = self.process.wait(STOP_TIMEOUT_SECS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise CheckError(f"the node did not stop within {STOP_TIMEOUT_SECS} s") from None
        if code != 0:
            raise CheckError(f"the node ended with exit code {code}")


class Shell:
    """One bash for all steps, so that variables and files of a step exist in the next ones."""

    END_OF_STEP = "--- end of step"

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
        self._reader = LineReader(self._process.stdout)
        api, faucet = shlex.quote(urls["api"]), shlex.quote(urls["faucet"])
        # Without options, the client commands use the default ports.
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
        """Runs a command and returns the lines that it prints.

        Raises CheckError, with these lines, if its exit status is not 0.
        """
        command = re.sub(r"(\./)?target/(release|debug)/ledger-node\b", "ledger-node", command)
        for name, port in DEFAULT_PORTS.items():
            default_url = rf"(http://)?(127\.0\.0\.1|localhost):{port}\b"
            command = re.sub(default_url, self._urls[name], command)
        end = f"printf '\\n%s %d\\n' '{self.END_OF_STEP}' $?"
        self._process.stdin.write(f"{{ {command}\n}} </dev/null; {end}\n")
        self._process.stdin.flush()
        is_end = lambda line: line.startswith(self.END_OF_STEP)
        *printed, last = self._reader.read_until(is_end, STEP_TIMEOUT_SECS, f"running {command!r}")
        # `end` prints a line break first, which adds an empty line if the output ends with its own.
        if printed and printed[-1] == "":
            printed.pop()
        status = last.removeprefix(self.END_OF_STEP).strip()
        if status != "0":
            raise CheckError(f"exit status {status}", *printed)
        return [self._with_default_ports(line) for line in printed]

    def _with_default_ports(self, line: str) -> str:
        for name, port in DEFAULT_PORTS.items():
            line = line.replace(self._urls[name].removeprefix("http://"), f"127.0.0.1:{port}")
        return line

    def close(self) -> None:
        """Ends the shell."""
        self._process.kill()
        self._process.wait()


def check_step(shell: Shell, step: Step, document: Path) -> None:
    """Runs a step. Raises CheckError if it fails or if its output differs."""
    step_name = f"{document.name}:{step.line}: $ {step.command}"
    try:
        actual = shell.run(step.command)
    except CheckError as error:
        raise CheckError(step_name, *error.args) from None
    if not matches(step.expected, actual):
        raise CheckError(f"{step_name}\nexpected:", *step.expected, "actual:", *actual)


def check_document(document: Path, binary: Path) -> int:
    """Runs every step of a document and returns their number.

    Raises CheckError at the first step that fails, and TranscriptError if the document has no
    transcript.
    """
    steps = steps_of(document.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="ledger-node-readme-") as name:
        directory = Path(name)
        shell_directory = directory / "shell"
        shell_directory.mkdir()
        node = Node(binary, directory)
        try:
            shell = Shell(binary, node.urls, shell_directory)
            try:
                for step in steps:
                    check_step(shell, step, document)
            finally:
                shell.close()
        finally:
            node.stop()
    return len(steps)


def main() -> int:
    documents = [Path(argument) for argument in sys.argv[1:]] or DOCUMENTS
    binary = Path(os.environ.get("LEDGER_NODE_BIN", REPOSITORY / "target/debug/ledger-node"))
    for document in documents:
        try:
            count = check_document(document, binary.resolve())
        except (CheckError, TranscriptError, OSError) as error:
            print(f"{document}:", *error.args, sep="\n", file=sys.stderr)
            return 1
        print(f"{document.name}: {count} steps, output as stated")
    return 0


if __name__ == "__main__":
    sys.exit(main())
