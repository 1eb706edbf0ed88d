"""Load generators: processes at nice 19 that send requests from one source address.

A generator keeps each of its connections busy with one request, or with one batch of pipelined
requests. It does not wait for responses of other connections.
"""

import collections
import dataclasses
import heapq
import multiprocessing
import os
import re
import selectors
import socket
import sys
import time
import typing

import programs
import wire

NICE = 19
# Time until a connection repeats its request after a rejection, in seconds. A client that repeats
# at once would measure the cost of rejections.
PAUSE_AFTER_REJECTION_SECONDS = 0.25
REJECTIONS = (429, 503, 507)
# Beginning of a response that is kept, and the message of a rejection in it.
MESSAGE_BYTES = 300
MESSAGE = re.compile(rb'"message":"([^"]{0,120})')
OK = b"HTTP/1.1 200"
# Size of the receive buffer of a connection that does not read, in bytes.
UNREAD_BYTES = 4_096
# Maximum number of different messages in a report.
REASONS_MAX = 4
# Interval in which the rate of a load with a target is corrected, in seconds.
CORRECT_SECONDS = 0.1
# Step of the loop of a load with a rate, in seconds.
STEP_SECONDS = 0.002
# Maximum time until a generator without responses notices that it is stopped, in seconds.
IDLE_SECONDS = 0.05
# Maximum number of requests that begin in one step, because each of them may have to be signed.
BEGIN_MAX = 16


@dataclasses.dataclass
class Load:
    """A load of one client.

    `requests` creates an iterator of requests in the generator's process."""

    connections: int
    requests: typing.Callable
    source: str = "127.0.0.2"
    # Number of requests in each item of the iterator.
    pipelined: int = 1
    pause_seconds: float = PAUSE_AFTER_REJECTION_SECONDS
    # Whether responses are read. If not, each connection sends one request and stays open.
    is_reading: bool = True
    # Responses that the load shall get, beside rejections.
    expected: tuple = (200,)


class Slot:
    """A connection of a generator."""

    def __init__(self):
        self.socket = None
        self.reader = wire.Reader(MESSAGE_BYTES)
        self.unsent = None
        # The last bytes received, which may be the first ones of a response.
        self.tail = b""
        self.due = 0
        self.began = 0


class Generator:
    """The loop of a generator's process."""

    def __init__(self, url, load, pid=None, cores=None):
        self.address = wire.endpoint(url)
        self.load = load
        self.requests = load.requests()
        self.selector = selectors.DefaultSelector()
        self.paused = []
        self.idle = collections.deque()
        self.statuses = collections.Counter()
        # Messages of rejections, with the limits that were reached.
        self.reasons = collections.Counter()
        self.received_bytes = 0
        self.sent_bytes = 0
        self.latency_seconds = 0.0
        self.completed = 0
        # The rate is corrected so that the node with process id `pid` uses `cores` cores.
        self.pid, self.cores = pid, cores
        self.rate = 2_000.0 if cores else None
        self.credit = 0.0

    def run(self, is_marked, is_stopped):
        before, marked = None, 0.0
        for _ in range(self.load.connections):
            self.idle.append(Slot())
        last = corrected = time.monotonic()
        used = programs.cpu_seconds(self.pid) if self.pid else 0
        while not is_stopped.is_set():
            now = time.monotonic()
            if self.rate:
                self.credit = min(self.credit + (now - last) * self.rate, self.rate / 10 + 1)
                if now - corrected >= CORRECT_SECONDS:
                    total = programs.cpu_seconds(self.pid)
                    cores = (total - used) / (now - corrected)
                    factor = self.cores / max(cores, self.cores / 4)
                    self.rate = max(self.rate * min(max(factor, 0.7), 1.5), 10.0)
                    used, corrected = total, now
            last = now
            if before is None and is_marked.is_set():
                before, marked = self.report(), now
            while self.paused and self.paused[0][0] <= now:
                self.idle.append(heapq.heappop(self.paused)[2])
            for _ in range(min(len(self.idle), BEGIN_MAX)):
                if self.rate and self.credit < self.load.pipelined:
                    break
                self.credit -= self.load.pipelined
                self.begin(self.idle.popleft(), now)
            timeout = 0 if self.idle and not self.rate else STEP_SECONDS
            if not (self.idle or self.rate or self.paused):
                timeout = IDLE_SECONDS
            for key, events in self.selector.select(timeout):
                self.advance(key.data, events)
        return difference(self.report(), before, time.monotonic() - marked)

    def report(self):
        return {
            "statuses": dict(self.statuses),
            "reasons": dict(self.reasons.most_common(REASONS_MAX)),
            "received_bytes": self.received_bytes,
            "sent_bytes": self.sent_bytes,
            "latency_seconds": self.latency_seconds,
            "completed": self.completed,
        }

    def begin(self, slot, now):
        try:
            if slot.socket is None:
                slot.socket = socket.socket()
                slot.socket.bind((self.load.source, 0))
                slot.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                slot.socket.setblocking(False)
                if not self.load.is_reading:
                    slot.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, UNREAD_BYTES)
                slot.socket.connect_ex(self.address)
                slot.reader = wire.Reader(MESSAGE_BYTES)
                self.selector.register(slot.socket, selectors.EVENT_WRITE, slot)
            else:
                self.selector.modify(slot.socket, selectors.EVENT_WRITE, slot)
            slot.unsent = memoryview(next(self.requests))
            slot.reader.is_head = slot.unsent[:4] == b"HEAD"
            slot.due = self.load.pipelined
            slot.began = now
        except OSError:
            self.fail(slot)

    def advance(self, slot, events):
        try:
            if events & selectors.EVENT_WRITE:
                sent = slot.socket.send(slot.unsent)
                self.sent_bytes += sent
                slot.unsent = slot.unsent[sent:]
                if not slot.unsent and not self.load.is_reading:
                    self.statuses["unread"] += 1
                    self.selector.unregister(slot.socket)
                    return
                # A response may come before the whole request is sent.
                interest = selectors.EVENT_READ | (selectors.EVENT_WRITE if slot.unsent else 0)
                self.selector.modify(slot.socket, interest, slot)
            if events & selectors.EVENT_READ:
                data = slot.socket.recv(wire.READ_BYTES)
                if not data:
                    self.fail(slot)
                    return
                self.received_bytes += len(data)
                if self.load.pipelined > 1:
                    self.count(slot, data)
                    return
                for status, body in slot.reader.feed(data):
                    self.statuses[status] += 1
                    if status in REJECTIONS:
                        found = MESSAGE.search(body)
                        self.reasons[found.group(1).decode() if found else ""] += 1
                    slot.due -= 1
                    if slot.due == 0:
                        self.end(slot, status)
        except BlockingIOError:
            pass
        except OSError:
            self.fail(slot)

    def count(self, slot, data):
        """Counts responses of pipelined requests by their first bytes, which takes less time."""
        received = slot.tail + data
        found = min(received.count(OK), slot.due)
        slot.tail = received[1 - len(OK) :]
        self.statuses[200] += found
        slot.due -= found
        if found and slot.due == 0:
            self.end(slot, 200)

    def end(self, slot, status):
        if slot.unsent:
            # The node has responded early and does not read the rest.
            self.close(slot)
        else:
            self.selector.modify(slot.socket, selectors.EVENT_READ, slot)
        if status in REJECTIONS:
            self.pause(slot)
        else:
            self.latency_seconds += time.monotonic() - slot.began
            self.completed += 1
            self.idle.append(slot)

    def fail(self, slot):
        self.statuses["no response"] += 1
        self.close(slot)
        self.pause(slot)

    def close(self, slot):
        if slot.socket is not None:
            try:
                self.selector.unregister(slot.socket)
            except KeyError:
                pass
            slot.socket.close()
        slot.socket = None
        slot.unsent = None

    def pause(self, slot):
        due = time.monotonic() + self.load.pause_seconds
        heapq.heappush(self.paused, (due, id(slot), slot))


def difference(after, before, seconds):
    """Returns what a generator did between two reports, per second, and the mean latency."""
    if before is None:
        sys.exit("a generator was stopped before it was marked")
    statuses = {
        status: (count - before["statuses"].get(status, 0)) / seconds
        for status, count in after["statuses"].items()
    }
    completed = after["completed"] - before["completed"]
    return {
        "per_second": {status: rate for status, rate in statuses.items() if rate},
        "reasons": after["reasons"],
        "received_per_second": (after["received_bytes"] - before["received_bytes"]) / seconds,
        "sent_per_second": (after["sent_bytes"] - before["sent_bytes"]) / seconds,
        "latency_seconds": (after["latency_seconds"] - before["latency_seconds"])
        / max(completed, 1),
    }


class Running:
    """A running generator."""

    def __init__(self, url, load, pid=None, cores=None, nice=NICE):
        self.is_marked, self.is_stopped = multiprocessing.Event(), multiprocessing.Event()
        self.receiver, sender = multiprocessing.Pipe(duplex=False)
        self.process = multiprocessing.Process(
            target=run,
            args=(url, load, pid, cores, nice, self.is_marked, self.is_stopped, sender),
            daemon=True,
        )
        self.process.start()
        # The generator has prepared its first requests.
        self.receiver.recv()

    def mark(self):
        """Begins the time that the report covers."""
        self.is_marked.set()

    def stop(self):
        """Ends the generator, which closes its connections, and returns its report."""
        self.is_stopped.set()
        report = self.receiver.recv()
        self.process.join()
        return report


def run(url, load, pid, cores, nice, is_marked, is_stopped, sender):
    os.nice(nice)
    generator = Generator(url, load, pid, cores)
    sender.send("ready")
    sender.send(generator.run(is_marked, is_stopped))
