"""The steps of `ledger-wait-load`, which starts long polls and releases all of them together."""

import json
import resource
import subprocess
import sys

# Files that a program needs beside its connections. A node reserves 1,024 connections each for the
# faucet and the admin listener. The rest of its limit bounds the API connections.
OTHER_FILES = 2 * 1_024 + 352


def settings(transfers):
    """Returns the settings of a node that holds `transfers` transactions of one account.

    The node commits them in one block."""
    return (
        "wait.timeout_ms=600000",
        # The clients of one address may use seven eighths.
        f"wait.capacity={transfers * 8 // 7 + 1_000}",
        f"mempool.capacity_per_account={transfers + 1}",
        f"sequencer.block_transactions_max={transfers + 1}",
        "sequencer.block_bytes_max=33554432",
        "sequencer.block_time_max_ms=600000",
    )


def allow_connections(count):
    """Raises the limit on open files of this process and of the programs that it starts."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = count + OTHER_FILES
    if most != resource.RLIM_INFINITY and most < needed:
        sys.exit(
            f"{count} connections need {needed} open files, and at most {most} are allowed"
            " (ulimit -Hn)"
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def command(options, addresses, transfers):
    target = ["--url", addresses["api"], "--faucet", addresses["faucet"]]
    return [str(word) for word in (options.wait_load, *target, "--transfers", transfers)]


class Waits:
    """A running `ledger-wait-load`."""

    def __init__(self, options, addresses, transfers):
        self.command = command(options, addresses, transfers)
        pipes = {name: subprocess.PIPE for name in ("stdin", "stdout", "stderr")}
        self.process = subprocess.Popen(self.command, text=True, bufsize=1, **pipes)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def line(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{' '.join(self.command)}: {self.process.stderr.read()}")
        return line.strip()

    def reached(self, step):
        """Waits until the program has printed that it has reached `step`."""
        line = self.line()
        if line != step:
            sys.exit(f"{' '.join(self.command)}: {line} where {step} was expected")

    def proceed(self):
        """Lets the program begin its next step."""
        self.process.stdin.write("\n")

    def report(self):
        """Waits for the end of the last step and returns the report."""
        return json.loads(self.line())
