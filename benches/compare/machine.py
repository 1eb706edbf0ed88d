"""The machine and the commit of a measurement."""

import datetime
import os
import pathlib
import platform
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def output(*command, directory=ROOT):
    """Returns the standard output of a command, or an empty text if it fails."""
    try:
        return subprocess.run(
            command, cwd=directory, capture_output=True, text=True, check=True
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def of_proc(path, name):
    """Returns the value of `name` in a file of lines `name : value`."""
    try:
        lines = pathlib.Path(path).read_text().splitlines()
    except OSError:
        return ""
    pairs = (line.partition(":") for line in lines)
    return next((value.strip() for key, _, value in pairs if key.strip() == name), "")


def busy_seconds():
    """Returns the processor time that the machine has used or its host has withheld, in seconds.

    Returns 0 on a system without `/proc/stat`."""
    try:
        fields = pathlib.Path("/proc/stat").read_text().splitlines()[0].split()[1:9]
    except (OSError, IndexError):
        return 0
    user, nice, system, _idle, _waiting, interrupts, soft_interrupts, stolen = map(int, fields)
    return (user + nice + system + interrupts + soft_interrupts + stolen) / os.sysconf("SC_CLK_TCK")


def commit_of(directory):
    """Returns the commit of the checkout around a path, or the path if there is no checkout."""
    directory = directory if directory.is_dir() else directory.parent
    commit = output("git", "rev-parse", "--short=12", "HEAD", directory=directory)
    changed = output("git", "status", "--porcelain", "--untracked-files=no", directory=directory)
    return commit + (" with changes" if changed else "") if commit else str(directory)


def describe(work_dir, node):
    """Describes the machine, the checkout, and the build of the program `node`."""
    parents = [path for path in (work_dir, *work_dir.parents) if path.exists()]
    file_system = output("stat", "--file-system", "--format=%T", str(parents[0]))
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "processor": of_proc("/proc/cpuinfo", "model name") or platform.machine(),
        "cores": os.cpu_count(),
        "memory": of_proc("/proc/meminfo", "MemTotal"),
        "kernel": platform.release(),
        "file_system": file_system,
        "commit": commit_of(ROOT),
        "compiler": output("rustc", "--version"),
        # Names the backend of ed25519 that the processor selects.
        "node": output(str(node), "--version"),
        "flags": "profile release"
        + (f", RUSTFLAGS={os.environ['RUSTFLAGS']}" if "RUSTFLAGS" in os.environ else ""),
        "load_before": os.getloadavg()[0],
    }
