"""Verifies blocks of a chain of several validators, without a node. README.md has the command.

The only input that must be trusted is the genesis file, with the public keys of the validators. A
certificate is what a node serves at /v1/blocks/by_height/HEIGHT/certificate. All hashes and signed
bytes are computed here, from the header and the votes.
"""

import argparse
import hashlib
import json
import struct
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nacl.exceptions import BadSignatureError
from nacl.signing import VerifyKey

# Byte that follows a key in the hash that is its address: a single ed25519 key.
ED25519_SCHEME = b"\x00"
# Step of a vote in BCS: the second vote of a round, which commits to a block.
PRECOMMIT = 1
# A BCS option with a value.
SOME = b"\x01"


class Invalid(Exception):
    """The reason that a certificate does not prove a block."""


@dataclass
class Header:
    """The part of a block that its hash covers, in the order of its BCS form."""

    parent_hash: bytes
    height: int
    epoch: int
    round: int
    proposer: bytes
    timestamp_usecs: int
    payload_root: bytes
    executed_version: int
    executed_root: bytes

    LAYOUT = struct.Struct("<32sQQQ32sQ32sQ32s")

    @classmethod
    def decode(cls, encoded: bytes) -> "Header":
        if len(encoded) != cls.LAYOUT.size:
            raise Invalid(f"a header has {cls.LAYOUT.size} bytes, got {len(encoded)}")
        return cls(*cls.LAYOUT.unpack(encoded))


class Genesis:
    """The vendor word and the validators of a genesis file."""

    def __init__(self, text: str):
        genesis = tomllib.loads(text)
        self._vendor = genesis.get("vendor", "NODE").upper()
        keys = [unhex(key) for key in genesis.get("validators", [])]
        if not keys:
            raise Invalid("the genesis has no validators, so its blocks have no votes")
        self.keys = {sha3(key, ED25519_SCHEME): key for key in keys}
        # All validators have one vote. More than two thirds decide.
        self.quorum = len(keys) * 2 // 3 + 1

    def prefix(self, type_name: str) -> bytes:
        """Returns the bytes before the content of a type in hashes and signed messages."""
        return sha3(f"{self._vendor}::{type_name}".encode())


def sha3(*parts: bytes) -> bytes:
    return hashlib.sha3_256(b"".join(parts)).digest()


def unhex(text: str) -> bytes:
    try:
        return bytes.fromhex(text.removeprefix("0x"))
    except ValueError:
        raise Invalid(f"not hexadecimal: {text}") from None


def address(text: str) -> bytes:
    """Returns the 32 bytes of an address, which the interface writes without leading zeros."""
    return unhex(text.removeprefix("0x").zfill(64))


def vote(height: int, round: int, block_hash: bytes, validator: bytes) -> bytes:
    """Returns the vote of a validator for a block in BCS."""
    return struct.pack("<BQI", PRECOMMIT, height, round) + SOME + block_hash + validator


def verify(genesis: Genesis, served: dict[str, Any], genesis_hash: bytes) -> tuple[Header, bytes]:
    """Returns the header of a block and its hash.

    Raises `Invalid` unless more than two thirds of the validators signed it.
    """
    if "certificate" not in served:
        raise Invalid("the block has no votes: it is genesis, or one node ordered it alone")
    encoded = unhex(served["header_bytes"])
    header = Header.decode(encoded)
    block_hash = sha3(genesis.prefix("Block"), encoded)
    votes = served["certificate"]
    signers = set()
    for signature in votes["signatures"]:
        validator = address(signature["validator"])
        key = genesis.keys.get(validator)
        if key is None:
            raise Invalid(f"{signature['validator']} is no validator of the genesis")
        if validator in signers:
            raise Invalid(f"{signature['validator']} is listed twice")
        signers.add(validator)
        ballot = vote(header.height, votes["round"], block_hash, validator)
        message = genesis.prefix("Vote") + genesis_hash + ballot
        try:
            VerifyKey(key).verify(message, unhex(signature["signature"]))
        except (BadSignatureError, ValueError):
            raise Invalid(f"the signature of {signature['validator']} does not verify") from None
    if len(signers) < genesis.quorum:
        raise Invalid(f"{len(signers)} validators signed, {genesis.quorum} are needed")
    return header, block_hash


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("genesis", type=Path, help="genesis file of the chain (TOML)")
    parser.add_argument("certificate", type=Path, nargs="+", help="response of a node (JSON)")
    parser.add_argument(
        "--genesis-hash", metavar="HASH", help="hash of block 0, by default the one that is served"
    )
    arguments = parser.parse_args()
    try:
        genesis = Genesis(arguments.genesis.read_text())
        previous = None
        for path in arguments.certificate:
            served = json.loads(path.read_text())
            genesis_hash = unhex(arguments.genesis_hash or served.get("genesis_hash", ""))
            header, block_hash = verify(genesis, served, genesis_hash)
            if previous and header.height == previous[0] + 1 and header.parent_hash != previous[1]:
                raise Invalid(f"block {header.height} does not follow the block before it")
            previous = header.height, block_hash
            print(
                f"block {header.height} 0x{block_hash.hex()} is decided; the ledger at version "
                f"{header.executed_version} has the root 0x{header.executed_root.hex()}"
            )
    except Invalid as reason:
        sys.exit(f"not proved: {reason}")


if __name__ == "__main__":
    main()
