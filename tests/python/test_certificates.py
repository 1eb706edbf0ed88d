"""examples/certificates/verify.py, offline, with the certificates of four validators."""

import asyncio
import copy
import json
import socket
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import httpx

from node_process import REPOSITORY, NodeProcess, binary

EXAMPLE = REPOSITORY / "examples" / "certificates" / "verify.py"
VALIDATORS = 4
# Maximum time until a block is served. Long, because the machine may be busy.
TIMEOUT_SECS = 120


def free_ports(count: int) -> list[int]:
    """Returns ports that are free until another program takes them."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class CertificateTest(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="ledger-node-certificates-")
        self.addCleanup(temporary.cleanup)
        self.directory = Path(temporary.name)
        self.genesis = self.directory / "cluster" / "genesis.toml"
        self.nodes = await self.started_cluster()

    async def started_cluster(self) -> list[NodeProcess]:
        cluster = self.directory / "cluster"
        command = [binary(), "cluster", "init", "--validators", str(VALIDATORS), "--dir", cluster]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        ports = free_ports(2 * VALIDATORS)
        ports, relays = ports[:VALIDATORS], ports[VALIDATORS:]
        nodes = []
        for index, (port, relay) in enumerate(zip(ports, relays)):
            validator = cluster / f"node-{index}" / "validator"
            peers = (validator / "peers.toml").read_text()
            for first, replacements in ((7000, ports), (7400, relays)):
                for other, replacement in enumerate(replacements):
                    peers = peers.replace(f"127.0.0.1:{first + other}", f"127.0.0.1:{replacement}")
            (validator / "peers.toml").write_text(peers)
            settings = (
                f"chain.genesis={self.genesis}",
                "sequencer.mode=bft",
                f"consensus.directory={validator}",
                f"consensus.listen=127.0.0.1:{port}",
                f"consensus.relay_listen=127.0.0.1:{relay}",
            )
            node = await asyncio.to_thread(NodeProcess, "small-machine", settings)
            self.addCleanup(node.kill)
            nodes.append(node)
        return nodes

    async def commit(self) -> None:
        """Commits a transaction of the faucet."""
        async with httpx.AsyncClient(timeout=TIMEOUT_SECS) as client:
            url = f"{self.nodes[0].faucet}/mint?address=0xb0b&amount=1"
            (await client.post(url)).raise_for_status()

    async def certificate(self, node: NodeProcess, height: int) -> dict:
        """Returns the certificate of a block as soon as the node has it."""
        url = f"{node.api}/v1/blocks/by_height/{height}/certificate"
        async with httpx.AsyncClient(timeout=TIMEOUT_SECS) as client:
            async with asyncio.timeout(TIMEOUT_SECS):
                while (response := await client.get(url)).status_code == 404:
                    pass
        return response.raise_for_status().json()

    async def run_example(self, *served: dict, options: tuple[str, ...] = ()):
        """Runs the example with these responses. Returns its exit code and its output."""
        paths = [self.directory / f"{index}.json" for index in range(len(served))]
        for path, content in zip(paths, served):
            path.write_text(json.dumps(content))
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            EXAMPLE,
            self.genesis,
            *paths,
            *options,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output, _ = await process.communicate()
        return process.returncode, output.decode()

    async def assert_refused(self, reason: str, *served: dict, options: tuple[str, ...] = ()):
        code, output = await self.run_example(*served, options=options)
        self.assertEqual((code, reason in output), (1, True), output)

    async def test_proves_the_blocks_of_each_validator_and_nothing_else(self):
        while (await self.newest_height()) < 2:
            await self.commit()
        for node in self.nodes:
            served = [await self.certificate(node, height) for height in (1, 2)]
            code, output = await self.run_example(*served)
            self.assertEqual(code, 0, output)
            for one in served:
                self.assertIn(f"block {one['block_height']} {one['block_hash']} is", output)
        await self.assert_refused("no votes", await self.certificate(self.nodes[0], 0))
        await self.check_changes(served[0])
        second = copy.deepcopy(served[1])
        options = ("--genesis-hash", f"0x{9:064x}")
        await self.assert_refused("does not verify", second, options=options)

    async def newest_height(self) -> int:
        async with httpx.AsyncClient(timeout=TIMEOUT_SECS) as client:
            return int((await client.get(f"{self.nodes[0].api}/v1")).json()["block_height"])

    async def check_changes(self, served: dict) -> None:
        """Checks that no changed certificate proves anything."""

        def changed(change) -> dict:
            copied = copy.deepcopy(served)
            change(copied)
            return copied

        def signatures(content: dict) -> list:
            return content["certificate"]["signatures"]

        def change_last_byte(content: dict) -> None:
            last = content["header_bytes"][-2:]
            replacement = "00" if last != "00" else "01"
            content["header_bytes"] = content["header_bytes"][:-2] + replacement

        def next_round(content: dict) -> None:
            content["certificate"]["round"] += 1

        def swap(content: dict) -> None:
            first, second, *_ = signatures(content)
            first["signature"], second["signature"] = second["signature"], first["signature"]

        cases = {
            "does not verify": [change_last_byte, next_round, swap],
            "validators signed": [lambda content: signatures(content).__delitem__(slice(2, None))],
            "listed twice": [lambda content: signatures(content).append(signatures(content)[0])],
            "no validator": [lambda content: signatures(content)[0].update(validator="0x1")],
            "a header has": [lambda content: content.update(header_bytes="0x00")],
        }
        for reason, changes in cases.items():
            for change in changes:
                with self.subTest(reason):
                    await self.assert_refused(reason, changed(change))


if __name__ == "__main__":
    unittest.main()
