"""What a figure was measured on: without it, it means nothing."""

import datetime
import os
import pathlib
import platform
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def output(*command):
    """What a command prints, or an empty text where it cannot be run."""
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def of_proc(path, name):
    """The value after `name` in a file of lines `name : value`."""
    try:
        lines = pathlib.Path(path).read_text().splitlines()
    except OSError:
        return ""
    pairs = (line.partition(":") for line in lines)
    return next((value.strip() for key, _, value in pairs if key.strip() == name), "")


def busy_seconds():
    """Processor time that all programs of the machine have used, and that others of its host took from it while they
    wanted it; 0 where the kernel does not tell."""
    try:
        fields = pathlib.Path("/proc/stat").read_text().splitlines()[0].split()[1:9]
    except (OSError, IndexError):
        return 0
    user, nice, system, _idle, _waiting, interrupts, soft_interrupts, stolen = map(int, fields)
    return (user + nice + system + interrupts + soft_interrupts + stolen) / os.sysconf("SC_CLK_TCK")


def describe(work_dir):
    changed = output("git", "status", "--porcelain", "--untracked-files=no")
    parents = [path for path in (work_dir, *work_dir.parents) if path.exists()]
    file_system = output("stat", "--file-system", "--format=%T", str(parents[0]))
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "processor": of_proc("/proc/cpuinfo", "model name") or platform.machine(),
        "cores": os.cpu_count(),
        "memory": of_proc("/proc/meminfo", "MemTotal"),
        "kernel": platform.release(),
        "file_system": file_system,
        "commit": output("git", "rev-parse", "--short=12", "HEAD") + (" with changes" if changed else ""),
        "compiler": output("rustc", "--version"),
        "flags": "profile release" + (f", RUSTFLAGS={os.environ['RUSTFLAGS']}" if "RUSTFLAGS" in os.environ else ""),
        "load_before": os.getloadavg()[0],
    }
