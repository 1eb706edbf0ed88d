"""Observers: clients with one request at a time, beside a load from another address.

Each observer has a fixed interval. A request that is late delays the following ones, so each of
them counts with the time from its own due time, as if the observer had sent it.
"""

import json
import multiprocessing
import threading
import time

import signing
import wire

SOURCE = "127.0.0.1"
INTERVAL_SECONDS = 0.02
POLITE_INTERVAL_SECONDS = 0.1
# Interval of pages of large transactions, each of which takes the node some milliseconds.
LARGE_INTERVAL_SECONDS = 0.2
PAUSE_AFTER_REJECTION_SECONDS = 0.02

QUANTILES = {"p50_ms": 0.5, "p99_ms": 0.99}


def quantiles(seconds):
    """Returns quantiles of latencies, in milliseconds."""
    ordered = sorted(seconds)
    found = {
        name: ordered[min(int(share * len(ordered)), len(ordered) - 1)] * 1e3 if ordered else 0.0
        for name, share in QUANTILES.items()
    }
    return {**found, "max_ms": ordered[-1] * 1e3 if ordered else 0.0}


class Observer(threading.Thread):
    """Repeats `observe` at an interval until the event `is_stopped` is set."""

    def __init__(self, name, url, is_stopped, interval_seconds=INTERVAL_SECONDS):
        super().__init__(daemon=True)
        self.observer = name
        self.connection = wire.Connection(url, SOURCE)
        self.is_stopped = is_stopped
        self.interval_seconds = interval_seconds
        self.seconds = []
        self.requests = 0
        self.rejected = 0
        self.other = 0

    def exchange(self, request):
        self.requests += 1
        return self.connection.exchange(request)

    def run(self):
        due = time.monotonic()
        while not self.is_stopped.is_set():
            self.observe()
            end = time.monotonic()
            # Requests that are due before the end of this one.
            while due <= end:
                self.seconds.append(end - due)
                due += self.interval_seconds
            self.is_stopped.wait(due - end)
        self.connection.close()

    def observe(self):
        """Sends a request until it succeeds."""
        request = self.request()
        while True:
            status, _ = self.exchange(request)
            if status == 200 or self.is_stopped.is_set():
                return
            if status in (503, 507):
                self.rejected += 1
            else:
                self.other += 1
            time.sleep(PAUSE_AFTER_REJECTION_SECONDS)

    def report(self):
        return {
            **quantiles(self.seconds),
            "count": len(self.seconds),
            "requests": self.requests,
            "rejected": self.rejected,
            "other": self.other,
        }


class Getter(Observer):
    """Reads some paths in turns."""

    def __init__(self, name, url, is_stopped, paths, interval_seconds=INTERVAL_SECONDS):
        super().__init__(name, url, is_stopped, interval_seconds)
        self.paths = paths
        self.number = 0

    def request(self):
        self.number += 1
        return wire.get(self.paths[self.number % len(self.paths)])


class Polite(Observer):
    """An account that submits a transfer and waits for its commit, at a low rate."""

    def __init__(self, url, is_stopped, seed):
        super().__init__("polite", url, is_stopped, POLITE_INTERVAL_SECONDS)
        self.account = signing.Account(seed)
        status, body = self.connection.exchange(
            wire.get(f"/v1/accounts/{self.account.hex}")
        )
        found = json.loads(body) if status == 200 else {}
        self.sequence_number = int(found.get("sequence_number", 0))

    def observe(self):
        signed = self.account.sign(
            signing.transfer(self.account.address), self.sequence_number
        )
        self.sequence_number += 1
        request = signing.submission(signed, wire.BCS)
        while not self.is_stopped.is_set():
            status, _ = self.exchange(request)
            if status == 202:
                break
            if status in (503, 507):
                self.rejected += 1
            else:
                self.other += 1
            time.sleep(PAUSE_AFTER_REJECTION_SECONDS)
        path = f"/v1/transactions/wait_by_hash/{signing.transaction_hash(signed)}"
        while not self.is_stopped.is_set():
            status, body = self.exchange(wire.get(path))
            if status == 200 and b'"pending_transaction"' not in body[:80]:
                return
            if status in (503, 507):
                self.rejected += 1
                time.sleep(PAUSE_AFTER_REJECTION_SECONDS)


class Waiter(Observer):
    """Waits for a transaction that is not committed. The figure is the duration of one request."""

    def __init__(self, url, is_stopped, transaction):
        super().__init__("wait", url, is_stopped)
        self.path = f"/v1/transactions/wait_by_hash/{transaction}"

    def run(self):
        while not self.is_stopped.is_set():
            begin = time.monotonic()
            status, _ = self.exchange(wire.get(self.path))
            self.seconds.append(time.monotonic() - begin)
            self.other += status != 200
        self.connection.close()


class Running:
    """The process of all observers."""

    def __init__(self, url, ledger):
        self.is_stopped = multiprocessing.Event()
        self.receiver, sender = multiprocessing.Pipe(duplex=False)
        self.process = multiprocessing.Process(
            target=run, args=(url, ledger, self.is_stopped, sender), daemon=True
        )
        self.process.start()

    def stop(self):
        """Waits for the requests in flight, and returns the report of each observer."""
        self.is_stopped.set()
        report = self.receiver.recv()
        self.process.join()
        return report


def run(url, ledger, is_stopped, sender):
    threads = [
        Getter("balance", url, is_stopped, ledger["balances"]),
        Getter("health", url, is_stopped, ["/v1/-/healthy"]),
        Getter("page", url, is_stopped, ledger["pages"]),
        Getter("large_page", url, is_stopped, ledger["large_pages"], LARGE_INTERVAL_SECONDS),
        Polite(url, is_stopped, ledger["polite"]),
    ]
    if "waited" in ledger:
        threads.append(Waiter(url, is_stopped, ledger["waited"]))
    for thread in threads:
        thread.start()
    begin = time.monotonic()
    for thread in threads:
        thread.join()
    report = {thread.observer: thread.report() for thread in threads}
    for observer in report.values():
        observer["seconds"] = time.monotonic() - begin
    sender.send(report)
