"""A proxy between a client and a node, which reports the moments at which a test kills one of them.

It has the same address while the node restarts at others.
"""

import asyncio
import enum
from urllib.parse import urlsplit


class Moment(enum.Enum):
    """A moment of a submission."""

    # The proxy has begun to forward the request.
    REQUESTED = enum.auto()
    # The node has responded, and the proxy does not forward the response.
    ANSWERED = enum.auto()


class CuttingProxy:
    """A proxy to the node at the URL `target`. `url` is its address after `start`."""

    def __init__(self, target: str):
        self._target = urlsplit(target)
        self._writers: set[asyncio.StreamWriter] = set()
        # The next moment to report, and the number of submissions until it.
        self._moment = Moment.REQUESTED
        self._submissions_until = 0
        self._reported = asyncio.Event()

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._forward, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def reached(self, moment: Moment, submission: int) -> None:
        """Waits for this moment of the submission with this number from now on, the next is 1."""
        self._moment, self._submissions_until = moment, submission
        self._reported.clear()
        await self._reported.wait()

    def redirect(self, target: str) -> None:
        """Forwards to the node at `target` from now on. Cuts the connections of before."""
        self._target = urlsplit(target)
        for writer in self._writers:
            writer.transport.abort()

    def close(self) -> None:
        """Cuts all connections and closes the listener."""
        self._server.close()
        self.redirect(self._target.geturl())

    async def _forward(
        self, from_client: asyncio.StreamReader, to_client: asyncio.StreamWriter
    ) -> None:
        target = self._target
        try:
            from_node, to_node = await asyncio.open_connection(target.hostname, target.port)
        except OSError:
            to_client.transport.abort()
            return
        # The moment of this connection to report, from its submission on.
        moment: Moment | None = None

        async def forward_requests() -> None:
            nonlocal moment
            while chunk := await from_client.read(65536):
                if chunk.startswith(b"POST "):
                    self._submissions_until -= 1
                    if self._submissions_until == 0:
                        moment = self._moment
                to_node.write(chunk)
                if moment is Moment.REQUESTED:
                    self._reported.set()

        async def forward_responses() -> None:
            while chunk := await from_node.read(65536):
                if moment is Moment.ANSWERED:
                    self._reported.set()
                else:
                    to_client.write(chunk)

        writers = {to_client, to_node}
        self._writers |= writers
        directions = [forward_requests(), forward_responses()]
        tasks = [asyncio.create_task(direction) for direction in directions]
        # A killed process closes or resets its connection.
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for writer in writers:
            writer.transport.abort()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._writers -= writers
