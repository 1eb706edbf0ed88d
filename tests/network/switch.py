#!/usr/bin/env python3
"""Joins network namespaces of this machine, with delay, loss and partitions between them.

Usage: tests/network/switch.py NODES

Each node has a network namespace with one TUN device. Another device, of the namespace in which
the program starts, belongs to the clients. The program needs the rights of root. It ends with its
standard input, and the namespaces end with the processes in them. It prints

    198.18.7.1 /proc/123/fd/4       address and namespace of each node: nsenter --net=FILE COMMAND
    198.18.7.200 -                  the addresses of clients begin here
    ready

and reads commands, each of which it answers with one line:

    link FROM TO DELAY_MS JITTER_MS LOSS
        Sets one direction between two nodes, numbered from 0, or between all of them (`*`). LOSS is
        a probability, and 1 is a partition. Packets of a direction keep their order.
    count
        Answers with packets and bytes of IP so far: {"FROM TO": [PACKETS, BYTES]}.

Links of clients are never changed. A packet that is delayed or lost may be a burst of TCP segments,
as network adapters transmit them (GSO); `count` counts the segments.
"""

import ctypes
import fcntl
import heapq
import itertools
import json
import os
import random
import select
import struct
import subprocess
import sys
import time

CLONE_NEWNET = 0x4000_0000
TUNSETIFF = 0x4004_54CA
TUNSETOFFLOAD = 0x4004_54D0
# TUN without packet information, with a header of virtio_net.
FLAGS = 0x0001 | 0x1000 | 0x4000
# Checksums are not computed, and TCP segments come in bursts.
OFFLOADS = 0x1 | 0x2
# struct virtio_net_hdr: flags, type, length of headers, size of a segment, checksum.
VIRTIO_BYTES = 10
PACKET_BYTES_MAX = VIRTIO_BYTES + 65_535
# Offset of the last byte of the destination.
DESTINATION = VIRTIO_BYTES + 19
# Packets that are read from a device before the next one.
BATCH = 64
# Bytes that wait in one direction. More are dropped, as a router drops them.
WAITING_BYTES_MAX = 64 << 20
# Last byte of the first address of the clients, which have all above.
CLIENTS = 200

libc = ctypes.CDLL(None, use_errno=True)


def check(result):
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


class Link:
    """One direction between two devices."""

    def __init__(self, to):
        self.to = to
        self.delay = self.jitter = self.loss = 0.0
        # Time at which the newest packet arrives.
        self.newest = 0.0
        self.waiting_bytes = 0
        self.packets = self.bytes = 0

    def count(self, packet):
        segments, size = 1, len(packet) - VIRTIO_BYTES
        if packet[1]:
            headers, segment = struct.unpack_from("=HH", packet, 2)
            segments = -(-(size - headers) // segment)
            size += (segments - 1) * headers
        self.packets += segments
        self.bytes += size


class Switch:
    def __init__(self, nodes):
        # Networks for measurements (RFC 2544), so that no machine has one.
        self.network = f"198.18.{os.getpid() % 256}"
        self.files = []
        home = os.open("/proc/self/ns/net", os.O_RDONLY)
        namespaces = []
        for node in range(nodes):
            check(libc.unshare(CLONE_NEWNET))
            namespaces.append(os.open("/proc/self/ns/net", os.O_RDONLY))
            self.files.append(self.device([node + 1]))
        check(libc.setns(home, CLONE_NEWNET))
        self.files.append(self.device(range(CLIENTS, 255)))
        # By the last byte of the address.
        ports = [*range(nodes), *([nodes] * (255 - CLIENTS))]
        addresses = [*range(1, nodes + 1), *range(CLIENTS, 255)]
        self.links = {
            file: {address: Link(self.files[port]) for address, port in zip(addresses, ports)}
            for file in self.files
        }
        self.nodes = range(nodes)
        # Packets that are delayed: time of arrival, number, link, packet.
        self.waiting = []
        self.numbers = itertools.count()
        for node, namespace in enumerate(namespaces):
            print(f"{self.network}.{node + 1} /proc/{os.getpid()}/fd/{namespace}")
        print(f"{self.network}.{CLIENTS} -\nready", flush=True)

    def device(self, addresses):
        """Creates a device in the namespace of this process."""
        name = f"net{os.getpid()}"
        file = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(file, TUNSETIFF, struct.pack("16sH22x", name.encode(), FLAGS))
        fcntl.ioctl(file, TUNSETOFFLOAD, OFFLOADS)
        commands = [f"link set {name} up", "link set lo up"]
        commands += [f"addr add {self.network}.{address}/24 dev {name}" for address in addresses]
        subprocess.run(["ip", "-batch", "-"], input="\n".join(commands), text=True, check=True)
        return file

    def forward(self, links, packet, now):
        if packet[VIRTIO_BYTES] >> 4 != 4:
            return
        link = links.get(packet[DESTINATION])
        if link is None:
            return
        link.count(packet)
        if link.loss and random.random() < link.loss:
            return
        if not link.delay and link.newest <= now:
            os.write(link.to, packet)
        elif link.waiting_bytes < WAITING_BYTES_MAX:
            arrives = now + link.delay + link.jitter * random.random()
            link.newest = max(arrives, link.newest)
            link.waiting_bytes += len(packet)
            heapq.heappush(self.waiting, (link.newest, next(self.numbers), link, packet))

    def read(self, file):
        links, now = self.links[file], time.monotonic()
        try:
            for _ in range(BATCH):
                self.forward(links, os.read(file, PACKET_BYTES_MAX), now)
        except BlockingIOError:
            pass

    def deliver(self):
        """Writes the packets that arrive now. Returns the seconds until the next one."""
        now = time.monotonic()
        while self.waiting:
            arrives, _, link, packet = self.waiting[0]
            if arrives > now:
                return arrives - now
            heapq.heappop(self.waiting)
            link.waiting_bytes -= len(packet)
            os.write(link.to, packet)
        return None

    def link(self, source, target):
        return self.links[self.files[source]][target + 1]

    def command(self, name, *arguments):
        if name == "count":
            links = {f"{a} {b}": self.link(a, b) for a in self.nodes for b in self.nodes if a != b}
            return json.dumps({name: [link.packets, link.bytes] for name, link in links.items()})
        source, target, delay_ms, jitter_ms, loss = arguments
        for a in self.nodes if source == "*" else [int(source)]:
            for b in self.nodes if target == "*" else [int(target)]:
                link = self.link(a, b)
                link.delay, link.jitter = float(delay_ms) / 1000, float(jitter_ms) / 1000
                link.loss = float(loss)
        return "ok"

    def run(self):
        poll = select.epoll()
        for file in [0, *self.files]:
            poll.register(file, select.EPOLLIN)
        while True:
            for file, _ in poll.poll(self.deliver()):
                if file != 0:
                    self.read(file)
                    continue
                # A client waits for the answer to its command, so there is one line.
                line = os.read(0, 4096).decode()
                if not line:
                    return
                print(self.command(*line.split()), flush=True)


if __name__ == "__main__":
    Switch(int(sys.argv[1])).run()
