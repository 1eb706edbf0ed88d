"""HTTP/1.1 requests as bytes, and blocking connections from a chosen source address."""

import re
import socket
import sys
import urllib.parse

JSON = "application/json"
BCS = "application/x-bcs"
SIGNED_BCS = "application/x.node.signed_transaction+bcs"
VIEW_BCS = "application/x.node.view_function+bcs"
# Maximum time of a request of an observer, in seconds. A response that takes longer counts with
# this time.
TIMEOUT_SECONDS = 60
CONTENT_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
CHUNKED = re.compile(rb"\r\ntransfer-encoding: *chunked", re.IGNORECASE)
HEAD_END = b"\r\n\r\n"
READ_BYTES = 1 << 20


def get(path, accept=JSON, *headers):
    lines = [f"GET {path} HTTP/1.1", "host: localhost", f"accept: {accept}", *headers]
    return "\r\n".join([*lines, "", ""]).encode()


def post(path, body, media_type=JSON, accept=JSON):
    head = (
        f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: {media_type}\r\n"
        f"accept: {accept}\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def endpoint(url):
    """Returns host and port of a URL, as `socket` takes them."""
    parts = urllib.parse.urlsplit(url)
    return parts.hostname, parts.port


class Reader:
    """Reads responses incrementally, and keeps at most `keep_bytes` of their bodies."""

    def __init__(self, keep_bytes=0):
        self.keep_bytes = keep_bytes
        # Whether responses have no body in spite of their length, as those of `HEAD`.
        self.is_head = False
        self.buffer = b""
        self.reset()

    def reset(self):
        self.status = None
        self.remaining = None
        self.is_chunked = False
        self.body_bytes = 0
        self.body = []

    def feed(self, data):
        """Adds received bytes. Yields status and kept body of each whole response."""
        self.buffer += data
        while self.buffer:
            if self.status is None:
                end = self.buffer.find(HEAD_END)
                if end < 0:
                    return
                head = self.buffer[:end]
                self.buffer = self.buffer[end + len(HEAD_END) :]
                self.status = int(head[9:12])
                self.is_chunked = bool(CHUNKED.search(head))
                length = CONTENT_LENGTH.search(head)
                self.remaining = int(length.group(1)) if length and not self.is_head else 0
                self.is_chunked = self.is_chunked and not self.is_head
            if self.is_chunked:
                if not self.take_chunks():
                    return
            elif self.remaining:
                self.take(self.remaining)
                if self.remaining:
                    return
            response = self.status, b"".join(self.body)
            self.reset()
            yield response

    def take(self, count):
        part = self.buffer[:count]
        self.buffer = self.buffer[len(part) :]
        self.remaining -= len(part)
        kept = self.keep_bytes - self.body_bytes
        if kept > 0:
            self.body.append(part[:kept])
        self.body_bytes += len(part)

    def take_chunks(self):
        """Takes chunks from the buffer. Returns whether the last one has been taken."""
        while True:
            if self.remaining:
                # The end of a chunk is a line break, which is not counted.
                self.take(self.remaining)
                if self.remaining:
                    return False
            start = 2 if self.buffer.startswith(b"\r\n") else 0
            end = self.buffer.find(b"\r\n", start)
            if end < 0:
                return False
            size = int(self.buffer[start:end].partition(b";")[0], 16)
            if size == 0:
                if len(self.buffer) < end + 4:
                    return False
                self.buffer = self.buffer[end + 4 :]
                return True
            self.buffer = self.buffer[end + 2 :]
            self.remaining = size


class Connection:
    """A blocking connection that reconnects if the node has closed it."""

    def __init__(self, url, source="127.0.0.1"):
        self.address = endpoint(url)
        self.source = source
        self.socket = None

    def connect(self):
        self.socket = socket.create_connection(
            self.address, TIMEOUT_SECONDS, source_address=(self.source, 0)
        )
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def exchange(self, request):
        """Sends a request and returns status and body. The status is 0 without a response."""
        try:
            if self.socket is None:
                self.connect()
            self.socket.sendall(request)
            reader = Reader(keep_bytes=sys.maxsize)
            reader.is_head = request.startswith(b"HEAD")
            while data := self.socket.recv(READ_BYTES):
                for response in reader.feed(data):
                    return response
        except OSError:
            pass
        self.close()
        return 0, b""

    def close(self):
        if self.socket is not None:
            self.socket.close()
        self.socket = None
