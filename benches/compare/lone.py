"""Row `lone`: what the threads of the node do for a transfer of the only client.

One client submits a transfer and waits for its commit, as in row `one`. The figures are counts for
each transfer by thread: system calls, wake-ups, and instructions. Unlike times they depend little
on the speed of the host. Calls of `sched_yield` are an exception: a thread that waits repeats them
for as long as another one works, so they have a column of their own.

Needs Linux, `perf` and the permission to trace. A processor without a counter of instructions, such
as that of many virtual machines, leaves their column empty.
"""

import collections
import pathlib
import re
import signal
import subprocess
import sys
import time

import figures
import machine
import node_api
import programs

NAME = "lone"
ACCOUNTS = 2_000
# Committed transactions that show that the accounts are funded: batch transfers of 150 accounts.
FUNDED_MIN = 100
# Maximum time until the load has begun, and its maximum duration, in seconds.
BEGIN_SECONDS, LOAD_SECONDS = 60, 3_600
# Threads with fewer system calls for each transfer are left out of the table.
CALLS_MIN = 0.05
SPINNING = "sched_yield"
# Calls that make a transfer durable. A lone transfer has one.
SYNCS = ("fdatasync", "fsync")
INSTRUCTIONS = "instructions:u"
HEAD = ["program", "thread", "system calls", "yields", "wake-ups", "instructions", "most calls"]
MOST_CALLS = 6
ALL_THREADS = "all"
# A line of `perf trace --summary` about a thread, and one about a call.
THREAD = re.compile(r"^ .+ \((\d+)\), \d+ events")
CALL = re.compile(r"^   (\w+) +(\d+) +\d+ +[\d.]+ ")


class Lone:
    name = NAME
    rounds_max = None

    def measure(self, number, options, directory):
        runs = {}
        for contender in figures.in_turns(number, contenders(options)):
            runs[contender.name] = run = counts(contender, options, directory)
            calls = run[ALL_THREADS]["calls"].total()
            figures.progress(number, self.name, contender.name, f"{calls:12,.2f} calls each")
        return runs

    def summaries(self, rounds, options):
        programs_of_row = {
            contender.name: summary([runs[contender.name] for runs in rounds])
            for contender in contenders(options)
        }
        lines = [
            line(name, thread, of)
            for name, threads in programs_of_row.items()
            for thread, of in threads.items()
        ]
        return [{"name": self.name, "head": HEAD, "lines": lines, "programs": programs_of_row}]


def contenders(options):
    return programs.contenders(options, programs.NODE)


def counts(contender, options, directory):
    """Returns the counts of each thread of a node for each transfer of a single client."""
    with contender.start(options, directory.fresh()) as node:
        load = ("--mode", "await", "--connections", 1, "--accounts", ACCOUNTS)
        command = programs.bench_command(options, node, *load, "--duration", LOAD_SECONDS)
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        generator = subprocess.Popen([str(word) for word in command], **quiet)
        try:
            wait_for_load(node)
            time.sleep(options.warm_up)
            threads = names_by_id(node.pid)
            woken, instructions = wake_ups_and_instructions(node, options.seconds)
            calls = system_calls(node.pid, options.seconds, directory.path / "perf")
        finally:
            generator.kill()
            generator.wait()
    by_name = {}
    for thread, name in threads.items():
        for key in (ALL_THREADS, name):
            of = by_name.setdefault(key, {"calls": collections.Counter(), "wake_ups": 0})
            of["calls"].update(calls.get(thread, {}))
            of["wake_ups"] += woken.get(thread, 0)
            if instructions:
                of["instructions"] = of.get("instructions", 0) + instructions.get(thread, 0)
    return by_name


def wait_for_load(node):
    """Waits until the accounts are funded and the client sends its transfers."""
    end = time.monotonic() + BEGIN_SECONDS
    while node_api.committed_transactions(node.addresses["admin"]) < FUNDED_MIN:
        if time.monotonic() > end:
            sys.exit(f"{NAME}: no load within {BEGIN_SECONDS} s")
        time.sleep(0.1)


def tasks(pid):
    """Returns the directories of a process's threads in the order of their start."""
    return sorted(pathlib.Path(f"/proc/{pid}/task").glob("*"), key=lambda path: int(path.name))


def names_by_id(pid):
    """Returns the names of threads by id. All threads of a name but the first share another one.

    The first `actix-rt` thread of a node runs its actors. The others serve listeners, and any of
    them may serve the client."""
    names = {}
    for path in tasks(pid):
        # A vertical bar would end a cell of the printed table.
        name = (path / "comm").read_text().strip().replace("|", " ")
        names[int(path.name)] = f"{name}, others" if name in names.values() else name
    return names


def wake_ups(pid):
    """Returns how often each thread has waited for an event, by id."""
    key = "voluntary_ctxt_switches"
    return collections.Counter(
        {int(path.name): int(machine.of_proc(path / "status", key) or 0) for path in tasks(pid)}
    )


def wake_ups_and_instructions(node, seconds):
    """Counts for `seconds` and returns wake-ups and instructions of each transfer by thread id.

    The instructions are those outside of the kernel, or empty if the processor does not count."""
    admin = node.addresses["admin"]
    before, committed = wake_ups(node.pid), node_api.committed_transactions(admin)
    command = ["perf", "stat", "--per-thread", "-x", ",", "-e", INSTRUCTIONS, "-p", node.pid]
    command = [str(word) for word in (*command, "sleep", seconds)]
    printed = subprocess.run(command, capture_output=True, text=True)
    after = wake_ups(node.pid)
    transfers = max(node_api.committed_transactions(admin) - committed, 1)
    woken = {thread: (after[thread] - before[thread]) / transfers for thread in after}
    instructions = instructions_by_id(printed.stderr)
    return woken, {thread: count / transfers for thread, count in instructions.items()}


def instructions_by_id(printed):
    """Returns the counts in the output of `perf stat`, whose lines begin with `NAME-ID,COUNT,`."""
    found = {}
    for text in printed.splitlines():
        if counted := re.match(r".*?-(\d+),(\d+),", text):
            found[int(counted[1])] = int(counted[2])
    return found


def system_calls(pid, seconds, path):
    """Traces a process for `seconds` and returns its system calls by thread id and name.

    They are counts for each transfer. A transfer of the trace is a sync of the disk."""
    command = ["perf", "trace", "--summary", "--output", path, "--pid", pid]
    tracer = subprocess.Popen(
        [str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    time.sleep(seconds)
    tracer.send_signal(signal.SIGINT)
    _, errors = tracer.communicate(timeout=programs.TIMEOUT_SECONDS)
    found = calls_by_id(path.read_text() if path.exists() else "")
    syncs = sum(calls[name] for calls in found.values() for name in SYNCS)
    if not syncs:
        sys.exit(f"perf trace counted no sync: {errors.decode()}")
    return {
        thread: collections.Counter({name: count / syncs for name, count in calls.items()})
        for thread, calls in found.items()
    }


def calls_by_id(summary_of_trace):
    """Returns the calls in the output of `perf trace --summary`, by thread id and name."""
    found, calls = {}, collections.Counter()
    for text in summary_of_trace.splitlines():
        if thread := THREAD.match(text):
            calls = found[int(thread[1])] = collections.Counter()
        elif call := CALL.match(text):
            calls[call[1]] += int(call[2])
    return found


def summary(rounds):
    """Returns the medians of the rounds by thread, without threads that do little."""
    medians = {
        thread: of_thread([run[thread] for run in rounds if thread in run]) for thread in rounds[0]
    }
    return {thread: of for thread, of in medians.items() if of["system_calls"] >= CALLS_MIN}


def of_thread(rounds):
    names = {name for of in rounds for name in of["calls"]}
    calls = {name: figures.median(of["calls"][name] for of in rounds) for name in names}
    yields = calls.pop(SPINNING, 0)
    instructions = [of.get("instructions") for of in rounds]
    return {
        "system_calls": figures.median(
            of["calls"].total() - of["calls"][SPINNING] for of in rounds
        ),
        "yields": yields,
        "wake_ups": figures.median(of["wake_ups"] for of in rounds),
        "instructions": None if None in instructions else figures.median(instructions),
        "calls": dict(sorted(calls.items(), key=lambda item: -item[1])),
    }


def line(program, thread, of):
    most = list(of["calls"].items())[:MOST_CALLS]
    return [
        program if thread == ALL_THREADS else "",
        thread,
        f"{of['system_calls']:.2f}",
        f"{of['yields']:.2f}",
        f"{of['wake_ups']:.2f}",
        "" if of["instructions"] is None else f"{of['instructions']:,.0f}",
        ", ".join(f"{name} {count:.2f}" for name, count in most if count >= CALLS_MIN),
    ]


ROWS = [Lone()]
