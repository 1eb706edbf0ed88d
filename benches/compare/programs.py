"""The measured programs: how each is started, loaded and stopped."""

import collections
import dataclasses
import functools
import json
import os
import pathlib
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import machine
import node_api

TARGET = machine.ROOT / "target" / "release"
PEER = machine.ROOT / "benches" / "peer"
# Maximum time for a program to listen or to stop, in seconds.
TIMEOUT_SECONDS = 30


class Directory:
    """A temporary directory, which is removed on exit."""

    def __init__(self, parent):
        self.parent = parent

    def __enter__(self):
        self.parent.mkdir(parents=True, exist_ok=True)
        self.path = pathlib.Path(tempfile.mkdtemp(dir=self.parent))
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    def fresh(self, name="run"):
        """Returns an empty subdirectory. Removes an earlier one of the same name."""
        path = self.path / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir()
        return path

    def kept(self, name, make):
        """Returns a subdirectory that all rounds share. `make` fills it on the first call."""
        path = self.path / name
        if not path.exists():
            path.mkdir()
            make(path)
        return path


@dataclasses.dataclass
class Usage:
    """Resources that the threads of a process have used."""

    # Processor time by thread name, in microseconds. Threads of one name are added up.
    cpu_us_by_thread: collections.Counter
    # Voluntary and involuntary context switches of all threads.
    switches: int

    def since(self, before):
        """Returns the resources that were used after `before`."""
        return Usage(
            self.cpu_us_by_thread - before.cpu_us_by_thread, self.switches - before.switches
        )

    def each(self, count):
        """Returns the cost of one of `count` operations, as the rows report it."""
        count = max(count, 1)
        cpu_us_by_thread = {name: used / count for name, used in self.cpu_us_by_thread.items()}
        return {
            "cpu_us": sum(cpu_us_by_thread.values()),
            "cpu_us_by_thread": cpu_us_by_thread,
            "switches": self.switches / count,
        }


class Process:
    """A running program."""

    def __init__(self, command, directory):
        self.log = open(directory / "log", "w+")
        self.command = [str(word) for word in command]
        self.process = subprocess.Popen(
            self.command, stdout=subprocess.PIPE, stderr=self.log, text=True
        )
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.log.close()

    @functools.cached_property
    def addresses(self):
        """The addresses of the ready line, by listener."""
        for line in self.process.stdout:
            if line.startswith("ready "):
                return dict(field.split("=", 1) for field in line.split()[1:])
        return self.fail()

    def wait_for_port(self, port):
        """Waits until the program listens on a port of the loopback address."""
        end = time.monotonic() + TIMEOUT_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            try:
                return socket.create_connection(("127.0.0.1", port)).close()
            except ConnectionRefusedError:
                time.sleep(0.02)
        return self.fail()

    def resident_bytes(self):
        """Returns the resident memory of the process."""
        return int(machine.of_proc(f"/proc/{self.pid}/status", "VmRSS").removesuffix("kB")) * 1024

    def kill(self):
        """Kills the process without a graceful stop."""
        self.process.kill()
        self.process.wait()

    def usage(self):
        """Returns the resources that the live threads have used so far.

        The counts of a thread are lost when it ends, so a difference of two calls covers the
        threads that live during both. On a system without `/proc/PID/task` all counts are 0."""
        used = Usage(collections.Counter(), 0)
        for thread in pathlib.Path(f"/proc/{self.pid}/task").glob("*"):
            try:
                name, times = (thread / "comm").read_text().strip(), (
                    thread / "schedstat"
                ).read_text().split()
                status = (thread / "status").read_text()
            except OSError:
                continue
            # A vertical bar would end a cell of the printed table.
            used.cpu_us_by_thread[name.replace("|", " ")] += int(times[0]) / 1e3
            counts = (line.partition(":") for line in status.splitlines())
            used.switches += sum(
                int(count) for key, _, count in counts if key.endswith("ctxt_switches")
            )
        return used

    def fail(self):
        self.process.kill()
        self.log.seek(0)
        sys.exit(f"{self.command[0]} did not start: {self.log.read()}")


class Watch:
    """Measures inside a `with` block the cores that a program, its generator and all others use.

    The load generator is a child process that starts and ends inside the block, or the process
    `driver`, which outlives the block. `usage` has the resources of the program's threads."""

    def __init__(self, program, driver=None):
        self.program = program
        self.driver = driver

    def used(self):
        drivers = children_seconds() + (cpu_seconds(self.driver.pid) if self.driver else 0)
        return time.monotonic(), cpu_seconds(self.program.pid), drivers, machine.busy_seconds()

    def __enter__(self):
        self.before, self.usage_before = self.used(), self.program.usage()
        return self

    def __exit__(self, *_):
        self.usage = self.program.usage().since(self.usage_before)
        seconds, program, drivers, all_programs = (
            now - then for now, then in zip(self.used(), self.before)
        )
        self.program_cores = program / seconds
        self.generator_cores = drivers / seconds
        self.cores_of_others = max((all_programs - program - drivers) / seconds, 0.0)


def output_of(command):
    """Runs a program and returns its standard output. Ends this process if the program fails."""
    command = [str(word) for word in command]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return done.stdout


def report(program, command):
    """Runs a load generator and returns its report with the cores that other programs used."""
    with Watch(program) as watch:
        printed = output_of(command)
    return {**json.loads(printed), "cores_of_others": watch.cores_of_others}


def report_with_cost(program, options, *load):
    """Runs `ledger-node bench` and returns its report, as `report` does.

    The report of a node has `cost`, the resources of its threads per transaction of the whole run,
    with warm-up and the funding of accounts. The floor has no metric that counts transactions."""
    command = bench_command(options, program, *load)
    admin = program.addresses.get("admin")
    committed = node_api.committed_transactions(admin) if admin else 0
    with Watch(program) as watch:
        printed = output_of(command)
    result = {**json.loads(printed), "cores_of_others": watch.cores_of_others}
    if admin:
        result["cost"] = watch.usage.each(node_api.committed_transactions(admin) - committed)
    return result


def cpu_seconds(pid):
    """Returns the processor time of a process, in seconds; 0 if the process has ended."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    # Fields 14 and 15 of proc_pid_stat(5). Field 3 is the first one behind the name.
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def children_seconds():
    """Returns the processor time of all child processes that have been waited for, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Ledger:
    """A program that `ledger-node bench` can load: a build of the node, or the floor."""

    def __init__(self, name, command, *load):
        self.name = name
        # Function of options, data directory and settings of the row.
        self.command = command
        # Options that the load generator gets for this program.
        self.load = load

    def start(self, options, directory, *of_row):
        return Process(self.command(options, directory / "data", *of_row), directory)

    def drive(self, program, row, options):
        """Loads a running program with the load of `row`, and returns the generator's report."""
        return report_with_cost(
            program, options, *row.load(options), "--warm-up", options.warm_up, *self.load
        )

    def run(self, row, options, directory):
        """Starts the program in an empty directory and loads it once."""
        settings = row.settings if self in NODES else ()
        with self.start(options, directory.fresh(), *settings) as program:
            return self.drive(program, row, options)


def bench_command(options, program, *load):
    addresses = program.addresses
    target = ["--url", addresses["api"], "--faucet", addresses["faucet"], "--pid", program.pid]
    return [options.generator, "bench", *target, "--output", "json", *load]


def node_command(options, data, *of_row):
    """Returns the command of a node. Settings in `options` override those of the row."""
    return command_of_build(options.node, options, data, *of_row)


def old_node_command(options, data, *of_row):
    return command_of_build(options.node_old, options, data, *of_row)


def command_of_build(program, options, data, *of_row):
    command = [program, "run", "--data-dir", data]
    listen = ["api.listen=127.0.0.1:0", "faucet.listen=127.0.0.1:0", "admin.listen=127.0.0.1:0"]
    return command + [
        word for setting in (*listen, *of_row, *options.set) for word in ("--set", setting)
    ]


def release_command(options, data, *of_row):
    return command_of_build(options.node_release, options, data, *of_row)


def floor_command(options, data, *of_row):
    return [options.floor, "--data-dir", data, *of_row]


def polling_floor_command(options, data):
    """Returns the command of a floor that polls as the Aptos full node does.

    At most 100 requests wait, and each polls every 20 ms."""
    return floor_command(options, data, "--poll-ms", "20", "--parked-max", "100")


class Anvil:
    """The peer in one of its modes. It stores its ledger in memory only."""

    # The gas limit exceeds the gas of all transfers of a block.
    FLAGS = ("--silent", "--gas-limit", "1000000000", "--no-request-size-limit")

    def __init__(self, name, *mode):
        self.name = name
        self.mode = mode

    def run(self, row, options, directory):
        fresh = directory.fresh()
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            port = unused.getsockname()[1]
        command = [options.anvil, "--host", "127.0.0.1", "--port", port, *self.FLAGS, *self.mode]
        with Process(command, fresh) as program:
            program.wait_for_port(port)
            target = ["--address", f"127.0.0.1:{port}", "--pid", program.pid]
            return report(
                program,
                [options.peer_load, *target, *row.load(options), "--warm-up", options.warm_up],
            )


def anvil_path():
    """Returns the path of anvil if npm has installed it."""
    found = sorted(PEER.glob("node_modules/@foundry-rs/anvil-*/bin/anvil"))
    return found[0] if found else None


NODE = Ledger("node", node_command)
NODE_JSON = Ledger("node, JSON", node_command, "--format", "json")
NODE_OLD = Ledger("old build", old_node_command)
NODE_OLD_JSON = Ledger("old build, JSON", old_node_command, "--format", "json")
FLOOR = Ledger("floor", floor_command)
FLOOR_POLLING = Ledger("floor, 100 polls of 20 ms", polling_floor_command)
ANVIL_100_MS = Anvil("anvil, 100 ms blocks", "--block-time", "0.1")
ANVIL_10_MS = Anvil("anvil, 10 ms blocks", "--block-time", "0.01")
ANVIL_AUTOMINE = Anvil("anvil, automine")
PEERS = (ANVIL_100_MS, ANVIL_10_MS, ANVIL_AUTOMINE)
RELEASE = Ledger("release", release_command)
RELEASE_JSON = Ledger("release, JSON", release_command, "--format", "json")
NODES = (NODE, NODE_JSON, NODE_OLD, NODE_OLD_JSON, RELEASE, RELEASE_JSON)
OLD_BUILDS = {NODE: NODE_OLD, NODE_JSON: NODE_OLD_JSON}
RELEASES = {NODE: RELEASE, NODE_JSON: RELEASE_JSON}


def contenders(options, first, *against):
    """Returns the programs of a row: `first`, then its older builds, or `against` without any."""
    if options.node_old:
        builds = [first, OLD_BUILDS[first]]
        return [*builds, RELEASES[first]] if options.node_release else builds
    return [first, *(other for other in against if other not in PEERS or options.anvil)]
