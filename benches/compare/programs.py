"""The programs that are measured: how each is started, driven and stopped."""

import collections
import contextlib
import functools
import json
import os
import pathlib
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import machine

TARGET = machine.ROOT / "target" / "release"
PEER = machine.ROOT / "benches" / "peer"
# How long a program may take to answer or to stop, in seconds.
PATIENCE_SECONDS = 30


class Directory:
    """A directory that goes away with all that was written there."""

    def __init__(self, parent):
        self.parent = parent

    def __enter__(self):
        self.parent.mkdir(parents=True, exist_ok=True)
        self.path = pathlib.Path(tempfile.mkdtemp(dir=self.parent))
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    def fresh(self, name="run"):
        """An empty directory in it; what was in the one before is gone."""
        path = self.path / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir()
        return path

    def kept(self, name, make):
        """A directory in it that stays: `make` fills it when it is asked for first."""
        path = self.path / name
        if not path.exists():
            path.mkdir()
            make(path)
        return path


class Process:
    """A program under way."""

    def __init__(self, command, directory):
        self.log = open(directory / "log", "w+")
        self.command = [str(word) for word in command]
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=self.log, text=True)
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.log.close()

    @functools.cached_property
    def addresses(self):
        """What its ready line says, which is read once."""
        for line in self.process.stdout:
            if line.startswith("ready "):
                return dict(field.split("=", 1) for field in line.split()[1:])
        return self.fail()

    def answers_at(self, port):
        """Waits until it listens there."""
        end = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            try:
                return socket.create_connection(("127.0.0.1", port)).close()
            except ConnectionRefusedError:
                time.sleep(0.02)
        return self.fail()

    def resident_bytes(self):
        """Memory that it has in use."""
        return int(machine.of_proc(f"/proc/{self.pid}/status", "VmRSS").removesuffix("kB")) * 1024

    @contextlib.contextmanager
    def stopped(self):
        """Has it do nothing meanwhile."""
        self.process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)

    def kill(self):
        """Ends it in the middle of what it does."""
        self.process.kill()
        self.process.wait()

    def cpu_ms_by_thread(self):
        """Processor time of its threads so far, those of one name together; empty where the kernel does not tell."""
        used = collections.Counter()
        for thread in pathlib.Path(f"/proc/{self.pid}/task").glob("*"):
            try:
                name, times = (thread / "comm").read_text().strip(), (thread / "schedstat").read_text().split()
            except OSError:
                continue
            # A bar would end a column of the table.
            used[name.replace("|", " ")] += int(times[0]) / 1e6
        return used

    def fail(self):
        self.process.kill()
        self.log.seek(0)
        sys.exit(f"{self.command[0]} did not start: {self.log.read()}")


class Watch:
    """How many cores are used while it is open: by a program, by what it is driven with, and by others.

    What drives it is begun and waited for meanwhile, or is the process `driver`, which goes on."""

    def __init__(self, program, driver=None):
        self.program = program
        self.driver = driver

    def used(self):
        drivers = children_seconds() + (cpu_seconds(self.driver.pid) if self.driver else 0)
        return time.monotonic(), cpu_seconds(self.program.pid), drivers, machine.busy_seconds()

    def __enter__(self):
        self.before = self.used()
        return self

    def __exit__(self, *_):
        seconds, program, drivers, all_programs = (now - then for now, then in zip(self.used(), self.before))
        self.program_cores = program / seconds
        self.generator_cores = drivers / seconds
        self.cores_of_others = max((all_programs - program - drivers) / seconds, 0.0)


def output_of(command):
    """What a program prints that must succeed."""
    command = [str(word) for word in command]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return done.stdout


def report(program, command):
    """Runs a generator and reads what it measured; adds how many cores others used meanwhile."""
    with Watch(program) as watch:
        printed = output_of(command)
    return {**json.loads(printed), "cores_of_others": watch.cores_of_others}


def cpu_seconds(pid):
    """Processor time that a process has used so far."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    # The fourteenth and fifteenth field of the line; the third is the first behind the name.
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def children_seconds():
    """Processor time of the programs that were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Ledger:
    """The node or the floor, which `ledger-node bench` drives."""

    def __init__(self, name, command, *load):
        self.name = name
        self.command = command
        self.load = load

    def start(self, options, directory):
        return Process(self.command(options, directory / "data"), directory)

    def drive(self, program, row, options):
        """Loads it as the row says, and gives the generator's report."""
        load = [*row.load(options), "--warm-up", options.warm_up, *self.load]
        return report(program, bench_command(options, program, *load))

    def run(self, row, options, directory):
        """Starts it anew for one load."""
        with self.start(options, directory.fresh()) as program:
            return self.drive(program, row, options)


def bench_command(options, program, *load):
    addresses = program.addresses
    target = ["--url", addresses["api"], "--faucet", addresses["faucet"], "--pid", program.pid]
    return [options.generator, "bench", *target, "--output", "json", *load]


def node_command(options, data, *of_row):
    """The node, with the settings of a row and those of the options, which win."""
    command = [options.node, "run", "--data-dir", data]
    listen = ["api.listen=127.0.0.1:0", "faucet.listen=127.0.0.1:0", "admin.listen=127.0.0.1:0"]
    return command + [word for setting in (*listen, *of_row, *options.set) for word in ("--set", setting)]


def floor_command(options, data, *of_row):
    return [options.floor, "--data-dir", data, *of_row]


def polling_floor_command(options, data):
    """As the reference waits: at most 100 requests at once, each of which looks every 20 ms."""
    return floor_command(options, data, "--poll-ms", "20", "--parked-max", "100")


class Anvil:
    """The peer, in one of its modes. What it holds is in memory only."""

    # Room for more transfers in a block than come in its time.
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
            program.answers_at(port)
            target = ["--address", f"127.0.0.1:{port}", "--pid", program.pid]
            return report(program, [options.peer_load, *target, *row.load(options), "--warm-up", options.warm_up])


def anvil_path():
    """Where `npm ci` puts it, if it has been asked to."""
    found = sorted(PEER.glob("node_modules/@foundry-rs/anvil-*/bin/anvil"))
    return found[0] if found else None


NODE = Ledger("node", node_command)
NODE_JSON = Ledger("node, JSON", node_command, "--format", "json")
FLOOR = Ledger("floor", floor_command)
FLOOR_POLLING = Ledger("floor, 100 polls of 20 ms", polling_floor_command)
ANVIL_100_MS = Anvil("anvil, 100 ms blocks", "--block-time", "0.1")
ANVIL_10_MS = Anvil("anvil, 10 ms blocks", "--block-time", "0.01")
ANVIL_AUTOMINE = Anvil("anvil, automine")
PEERS = (ANVIL_100_MS, ANVIL_10_MS, ANVIL_AUTOMINE)
