"""Transactions in BCS, and accounts that sign them.

Needs the Python package `cryptography`. The chain is the development chain of a node with the
default settings.
"""

import base64
import hashlib
import json
import time

import wire

CHAIN_ID = 4
GAS_UNIT_PRICE = 100
# More than any call of these modules uses.
MAX_GAS_AMOUNT = 2_000_000
# The year 2096.
EXPIRES_SECS = 4_000_000_000
# Time after which a transaction with a nonce expires; the node allows at most about 100 s.
ORDERLESS_EXPIRES_AFTER_SECS = 60
# Sequence number of a transaction with a nonce.
ORDERLESS = (1 << 64) - 1
# Keys and signatures of the most expensive account.
PASSKEYS = 32
FUNDED = 1_000_000_000_000_000


def sha3(*parts):
    return hashlib.sha3_256(b"".join(parts)).digest()


RAW_TRANSACTION = sha3(b"NODE::RawTransaction")
TRANSACTION = sha3(b"NODE::Transaction")


def u64(number):
    return number.to_bytes(8, "little")


def uleb(number):
    encoded = bytearray()
    while number >= 0x80:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def sized(data):
    """Returns a byte vector or a text in BCS."""
    data = data.encode() if isinstance(data, str) else data
    return uleb(len(data)) + data


def vector(items):
    return uleb(len(items)) + b"".join(items)


def address_bytes(text):
    return bytes.fromhex(text.removeprefix("0x").rjust(64, "0"))


def call(function, arguments, type_arguments=()):
    """Returns a call of an entry or view function in BCS. Its arguments are in BCS."""
    address, module, name = function.split("::")
    return b"".join(
        [
            *(address_bytes(address), sized(module), sized(name)),
            vector(type_arguments),
            vector([sized(argument) for argument in arguments]),
        ]
    )


def raw(sender, function_call, sequence_number=0, nonce=None):
    """Returns a transaction without its signature."""
    expires_secs = EXPIRES_SECS
    if nonce is None:
        payload = b"\2" + function_call
    else:
        expires_secs = int(time.time()) + ORDERLESS_EXPIRES_AFTER_SECS
        sequence_number = ORDERLESS
        payload = b"\4\0\1" + function_call + b"\0\0\1" + u64(nonce)
    terms = u64(MAX_GAS_AMOUNT) + u64(GAS_UNIT_PRICE) + u64(expires_secs) + bytes([CHAIN_ID])
    return sender + u64(sequence_number) + payload + terms


def transaction_hash(signed):
    return "0x" + sha3(TRANSACTION, b"\0", signed).hex()


class Account:
    """An account with one ed25519 key."""

    def __init__(self, seed):
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        self.key = Ed25519PrivateKey.from_private_bytes(sha3(seed.encode()))
        self.public_key = self.key.public_key().public_bytes_raw()
        self.address = sha3(self.public_key, b"\0")

    @property
    def hex(self):
        return "0x" + self.address.hex()

    def authenticator(self, signature):
        return b"\0" + sized(self.public_key) + sized(signature)

    def sign(self, function_call, sequence_number=0, nonce=None):
        """Returns a signed transaction in BCS."""
        unsigned = raw(self.address, function_call, sequence_number, nonce)
        return unsigned + self.authenticator(self.key.sign(RAW_TRANSACTION + unsigned))

    def unsigned(self, function_call, sequence_number=0, nonce=None):
        """Returns a transaction for a simulation, whose signature is zeros."""
        unsigned = raw(self.address, function_call, sequence_number, nonce)
        return unsigned + self.authenticator(bytes(64))


class Passkeys:
    """An account whose signatures are the most expensive to check: 32 times the same passkey."""

    AUTHENTICATOR_DATA = bytes([7]) * 37

    def __init__(self, seed):
        from cryptography.hazmat.primitives.asymmetric import ec

        scalar = int.from_bytes(sha3(seed.encode())[:31], "big")
        self.key = ec.derive_private_key(scalar, ec.SECP256R1())
        numbers = self.key.public_key().public_numbers()
        point = b"\4" + numbers.x.to_bytes(32, "big") + numbers.y.to_bytes(32, "big")
        self.keys = vector([b"\2" + sized(point)] * PASSKEYS) + bytes([PASSKEYS])
        self.address = sha3(self.keys, b"\3")

    @property
    def hex(self):
        return "0x" + self.address.hex()

    def assertion(self, challenge):
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import ec, utils

        text = base64.urlsafe_b64encode(challenge).decode().rstrip("=")
        client_data = json.dumps(
            {"type": "webauthn.get", "challenge": text, "origin": "http://localhost"},
            separators=(",", ":"),
        ).encode()
        signed = self.AUTHENTICATOR_DATA + hashlib.sha256(client_data).digest()
        r, s = utils.decode_dss_signature(self.key.sign(signed, ec.ECDSA(hashes.SHA256())))
        order = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
        signature = r.to_bytes(32, "big") + min(s, order - s).to_bytes(32, "big")
        return b"\2\0" + sized(signature) + sized(self.AUTHENTICATOR_DATA) + sized(client_data)

    def sign(self, function_call, sequence_number=0, nonce=None, is_last_valid=True):
        """Returns a signed transaction in BCS. Its last signature is invalid if required."""
        unsigned = raw(self.address, function_call, sequence_number, nonce)
        assertion = self.assertion(sha3(RAW_TRANSACTION + unsigned))
        last = assertion if is_last_valid else self.assertion_with_other_signature(unsigned)
        signatures = vector([assertion] * (PASSKEYS - 1) + [last])
        return unsigned + b"\4\3" + self.keys + signatures + sized(b"\xff" * (PASSKEYS // 8))

    def assertion_with_other_signature(self, unsigned):
        """Returns an assertion with the right challenge and the signature of another one."""
        right = self.assertion(sha3(RAW_TRANSACTION + unsigned))
        other = self.assertion(sha3(b"another message"))
        # Variant bytes, then 64 bytes of signature behind their length.
        return right[:3] + other[3:67] + right[67:]


def transfer(to, amount=1):
    return call("0x1::node_account::transfer", [to, u64(amount)])


def batch_transfer(to, count):
    """Returns a call that transfers one unit to the same account `count` times."""
    arguments = [vector([to] * count), vector([u64(1)] * count)]
    return call("0x1::node_account::batch_transfer", arguments)


def large_call(size_bytes, byte=1):
    """Returns a call with a large argument. It fails, but the transaction is committed."""
    return call("0x1::coin::transfer", [bytes([byte]) * size_bytes])


def submission(signed, accept=wire.JSON):
    return wire.post("/v1/transactions", signed, wire.SIGNED_BCS, accept)


class Client:
    """A client of a node that funds accounts, submits transactions and waits for them."""

    def __init__(self, addresses):
        self.api = wire.Connection(addresses["api"])
        self.faucet = wire.Connection(addresses["faucet"])

    def get(self, path):
        """Returns the JSON of a successful response."""
        status, body = self.api.exchange(wire.get(path))
        if status != 200:
            raise RuntimeError(f"GET {path}: {status} {body[:300]}")
        return json.loads(body)

    def view(self, function, *arguments):
        request = {"function": function, "type_arguments": [], "arguments": list(arguments)}
        status, body = self.api.exchange(wire.post("/v1/view", json.dumps(request).encode()))
        if status != 200:
            raise RuntimeError(f"{function}: {status} {body[:300]}")
        return json.loads(body)

    def fund(self, account):
        body = json.dumps({"address": account.hex, "amount": FUNDED}).encode()
        status, text = self.faucet.exchange(wire.post("/fund", body))
        if status != 200:
            raise RuntimeError(f"fund: {status} {text[:300]}")

    def submit(self, signed):
        """Submits a transaction and returns its hash."""
        status, body = self.api.exchange(submission(signed))
        if status != 202:
            raise RuntimeError(f"submission: {status} {body[:300]}")
        return transaction_hash(signed)

    def wait(self, transaction):
        """Waits for the commit of a transaction and returns it."""
        while True:
            found = self.get(f"/v1/transactions/wait_by_hash/{transaction}")
            if found["type"] != "pending_transaction":
                return found

    def commit(self, signed):
        return self.wait(self.submit(signed))

    def close(self):
        self.api.close()
        self.faucet.close()
