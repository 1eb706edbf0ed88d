"""The ledger on which loads and observers run: what makes requests expensive, and small content."""

import json

import programs
import signing

# Transactions with nearly the maximum size, 64 KiB, and the size of their argument in bytes.
LARGE = 300
LARGE_ARGUMENT_BYTES = 65_000
# Transfers of a small part of the ledger, which the observers read.
TRANSFERS, ACCOUNTS = 10_000, 100
# Maximum number of pending transactions of an account, and of large ones, which fill a block.
PENDING_MAX, LARGE_PENDING_MAX = 90, 45
# Proposals of a multisig account, each with a payload of this size in bytes.
PROPOSALS, PAYLOAD_BYTES = 20, 60_000
# Records of the registry of an account, each with the maximum size in bytes.
RECORDS, RECORD_BYTES = 100, 8_192
# Coins that an account creates, so that it has many resources.
COINS = 700
PAGES = 50
PAGE = 25
NATIVE_COIN = "0x1::node_coin::NodeCoin"
OWNER, BUSY, POLITE, PARKED, WAITED = "owner", "busy", "polite", "parked", "waited"
PASSKEYS = ("passkeys 0", "passkeys 1")
SPENDERS = ("spender 0", "spender 1")


def prepare(path, options):
    """Creates the ledger, `path`/data, and its description for the loads, `path`/ledger.json."""
    with programs.NODE.start(options, path) as node:
        load = ("--transfers", TRANSFERS, "--accounts", ACCOUNTS, "--connections", 16)
        programs.output_of(programs.bench_command(options, node, *load))
        client = signing.Client(node.addresses)
        newest = int(client.get("/v1")["ledger_version"])
        ledger = {
            "pages": [
                f"/v1/transactions?start={newest // 2 + number * PAGE}&limit={PAGE}"
                for number in range(PAGES)
            ],
            "newest_small": newest,
        }
        senders, ledger["hashes"] = set(), []
        for start in range(0, newest, 100):
            for transaction in client.get(f"/v1/transactions?start={start}&limit=100"):
                if transaction["type"] == "user_transaction":
                    senders.add(transaction["sender"])
                    ledger["hashes"].append(transaction["hash"])
        ledger["balances"] = [
            f"/v1/accounts/{sender}/balance/{NATIVE_COIN}" for sender in sorted(senders)
        ]
        for name in (OWNER, BUSY, POLITE, PARKED, WAITED, *SPENDERS):
            client.fund(signing.Account(name))
        for name in PASSKEYS:
            client.fund(signing.Passkeys(name))
        owner = signing.Account(OWNER)
        ledger |= add_large(client, owner)
        ledger |= add_content(client, owner)
        starts = range(ledger["first_large"], ledger["last_large"] - PAGE, PAGE)
        ledger["large_pages"] = [f"/v1/transactions?start={at}&limit={PAGE}" for at in starts]
        ledger["newest"] = int(client.get("/v1")["ledger_version"])
        client.close()
    (path / "ledger.json").write_text(json.dumps(ledger, indent=1))


class Sequence:
    """Commits calls of an account in order, many at a time."""

    def __init__(self, client, account):
        self.client = client
        self.account = account
        found = client.get(f"/v1/accounts/{account.hex}")
        self.number = int(found["sequence_number"])

    def commit(self, calls, pending_max=PENDING_MAX):
        """Commits calls and returns their transactions in JSON.

        The first one of up to `pending_max` calls is submitted last, so that all of them are in the
        same block if its limits allow it."""
        committed = []
        for start in range(0, len(calls), pending_max):
            signed = [
                self.account.sign(function_call, self.number + index)
                for index, function_call in enumerate(calls[start : start + pending_max])
            ]
            self.number += len(signed)
            first, *others = signed
            hashes = [self.client.submit(transaction) for transaction in others]
            hashes.insert(0, self.client.submit(first))
            committed += [self.client.wait(transaction) for transaction in hashes]
        return committed

    def commit_ok(self, calls):
        for transaction in self.commit(calls):
            if not transaction["success"]:
                raise RuntimeError(transaction["vm_status"])


def add_large(client, owner):
    calls = [signing.large_call(LARGE_ARGUMENT_BYTES, number % 256) for number in range(LARGE)]
    committed = Sequence(client, owner).commit(calls, LARGE_PENDING_MAX)
    versions = [int(transaction["version"]) for transaction in committed]
    return {
        "first_large": versions[0],
        "last_large": versions[-1],
        "large_hash": committed[0]["hash"],
        "owner": owner.hex,
    }


def add_proposals(client, sequence):
    """Creates a multisig account with large proposals, and returns its address."""
    next_multisig = "0x1::multisig_account::get_next_multisig_account_address"
    multisig = client.view(next_multisig, sequence.account.hex)[0]
    empty = signing.vector([])
    create = signing.call("0x1::multisig_account::create", [signing.u64(1), empty, empty])
    # The variant of an entry function, then a call.
    payload = b"\0" + signing.call("0x1::node_account::transfer", [bytes([7]) * PAYLOAD_BYTES])
    propose = signing.call(
        "0x1::multisig_account::create_transaction",
        [signing.address_bytes(multisig), signing.sized(payload)],
    )
    sequence.commit_ok([create])
    sequence.commit_ok([propose] * PROPOSALS)
    return multisig


def add_content(client, owner):
    sequence = Sequence(client, owner)
    multisig = add_proposals(client, sequence)
    sequence.commit_ok([signing.call("0x1::registry::initialize", [])])
    names = [f"{number:04}" + "n" * 200 for number in range(RECORDS)]
    content = bytes([7]) * RECORD_BYTES
    sequence.commit_ok(
        [
            signing.call("0x1::registry::set", [signing.sized(name), signing.sized(content)])
            for name in names
        ]
    )
    sequence.commit_ok([new_coin(owner, number) for number in range(COINS)])
    registry = client.get(f"/v1/accounts/{owner.hex}/resource/0x1::registry::Registry")
    return {
        "multisig": multisig,
        "registry": registry["data"]["records"]["inner"]["handle"],
        "record": names[0],
        "record_stream": registry["data"]["set_events"]["guid"]["id"]["creation_num"],
    }


def new_coin(owner, number):
    """Returns a call that creates a coin, whose type has a name of its own."""
    coin = b"\7" + owner.address + signing.sized("m") + signing.sized(f"Coin{number}") + b"\0"
    text = signing.sized(f"C{number}")
    arguments = [text, text, b"\2", b"\1"]
    return signing.call("0x1::managed_coin::initialize", arguments, [coin])
