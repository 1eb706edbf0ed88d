"""Figures of a node: what its metrics, its snapshots and the system say between two samples."""

import json
import math
import re
import struct
import time

import machine
import node_api
import programs

SERIES = re.compile(r"^([a-z_]+)(?:\{(.*)\})? (\S+)$", re.MULTILINE)
# Size of the control file of the slow disk: three operations, and other fields.
CONTROL_BYTES = 3 * 256 + 280
LABEL = re.compile(r'(\w+)="([^"]*)"')


class Sample:
    """The counters of a node at one time."""

    def __init__(self, node):
        admin = node.addresses["admin"]
        text = node_api.get(f"{admin}/metrics", "*/*").decode()
        self.at = time.monotonic()
        self.cpu_seconds = programs.cpu_seconds(node.pid)
        self.series = [
            (name, dict(LABEL.findall(labels)), float(value))
            for name, labels, value in SERIES.findall(text)
        ]

    def sum(self, name, labels):
        """Returns the sum of the series of a metric that have these labels."""
        wanted = labels.items()
        own = (value for of, own, value in self.series if of == name and wanted <= own.items())
        return sum(own)


def snapshot(node):
    return json.loads(node_api.get(f"{node.addresses['admin']}/snapshot"))


def increase(name, **labels):
    """Returns the function of the increase of a counter between two samples."""
    return lambda before, after: after.sum(name, labels) - before.sum(name, labels)


def seconds(before, after):
    return after.at - before.at


def cpu_seconds(before, after):
    return after.cpu_seconds - before.cpu_seconds


def ratio(part, whole):
    """Returns the function of the quotient of two functions of samples, which may be infinite."""

    def quotient(before, after):
        of = whole(before, after)
        return part(before, after) / of if of else math.inf

    return quotient


def scaled(factor, function):
    return lambda before, after: factor * function(before, after)


def per_second(name, **labels):
    return ratio(increase(name, **labels), seconds)


def mean_ms(name):
    """Returns the function of the mean of a histogram of seconds, in milliseconds."""
    return scaled(1e3, ratio(increase(f"{name}_sum"), increase(f"{name}_count")))


def slow_disk(directory, sync_ms):
    """Returns the words before a command that delay each sync of the ledger's files.

    The library and the layout of its control file are those of the tests
    (tests/support/node/slow_disk.rs)."""
    library, control = directory / "slow_disk.so", directory / "slow_disk"
    source = machine.ROOT / "tests/support/node/slow_disk.c"
    programs.output_of(["cc", "-shared", "-fPIC", "-O1", "-o", library, source])
    sync = struct.pack("<4Q208s16s", sync_ms, 0, 0, 0, b"/data/ledger.", b"")
    control.write_bytes(sync.ljust(CONTROL_BYTES, b"\0"))
    return ["env", f"LD_PRELOAD={library}", f"SLOW_DISK_CONTROL={control}"]


def slow_reader(line_seconds):
    """Returns the words before a command whose standard error is read slowly."""
    reader = f"while read -r line; do sleep {line_seconds}; done"
    return ["bash", "-c", f'exec "$@" 2> >({reader})', "slow_reader"]
