"""`ledger-wait-load`, which parks long polls and has all of them answered at once, in its steps."""

import json
import resource
import subprocess
import sys

# Files that a program needs beside its connections. A node keeps 1,024 connections for the faucet and for the admin
# listener each, and does not accept more API connections than the rest of its limit allows.
OTHER_FILES = 2 * 1_024 + 352


def settings(transfers):
    """What a node must be told to hold so many transactions of one account, and to commit them in one block."""
    return (
        "wait.timeout_ms=600000",
        f"wait.capacity={transfers + 1_000}",
        f"mempool.capacity_per_account={transfers + 1}",
        f"sequencer.block_transactions_max={transfers + 1}",
        "sequencer.block_bytes_max=33554432",
    )


def allow_connections(count):
    """Raises how many files this process and what it starts may have open."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = count + OTHER_FILES
    if most != resource.RLIM_INFINITY and most < needed:
        sys.exit(f"{count} connections need {needed} open files, and no more than {most} are allowed (ulimit -Hn)")
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


class Waits:
    """The program under way."""

    def __init__(self, options, addresses, transfers, accept="bcs"):
        target = ["--address", addresses["api"], "--faucet", addresses["faucet"]]
        words = [options.wait_load, *target, "--transfers", transfers, "--accept", accept]
        self.command = [str(word).removeprefix("http://") for word in words]
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
        """Waits until it has got so far."""
        line = self.line()
        if line != step:
            sys.exit(f"{' '.join(self.command)}: {line} where {step} was expected")

    def go_on(self):
        self.process.stdin.write("\n")

    def report(self):
        """What it measured at its end."""
        return json.loads(self.line())
