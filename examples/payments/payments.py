"""A payment loop without state of its own. It can be killed at any instant, and so can the node:
the same command continues, and each payment occurs exactly once. README.md has the command.

Payment k of the list is the transaction with sequence number `first + k` of the paying account. The
ledger commits at most one transaction with a number, in the order of the numbers. So a repetition
never pays twice, and the account's next number says which payments are done. Lines may be appended
to the list, but not changed, and nothing else may send from the account.
"""

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import httpx
from aptos_sdk.account_address import AccountAddress
from aptos_sdk.bcs import Serializer
from aptos_sdk.ed25519 import PrivateKey
from aptos_sdk.transactions import (
    EntryFunction,
    RawTransaction,
    SignedTransaction,
    TransactionArgument,
    TransactionPayload,
)

# Maximum time that the node waits for the commit before it responds.
COMMIT_WAIT_MS = 10_000
# Maximum time of a request, longer than the node waits.
REQUEST_TIMEOUT_SECS = 20
# Pause before a request is repeated, unless the response has `Retry-After`.
RETRY_PAUSE_SECS = 0.2
# Time without a payment after which the loop ends with an error.
GIVE_UP_AFTER_SECS = 300
# Maximum gas units of a payment. The creation of a recipient's account takes most.
GAS_UNITS_MAX = 200_000
# `vm_error_code` of a transaction whose sequence number is used.
SEQUENCE_NUMBER_TOO_OLD = 3


@dataclass
class Payment:
    recipient: AccountAddress
    amount: int

    @staticmethod
    def parse(line: str) -> "Payment":
        """Parses a line of the list: recipient and amount."""
        recipient, amount = line.split()
        return Payment(AccountAddress.from_str_relaxed(recipient), int(amount))


@dataclass
class Answer:
    """A response of the node. The status is 0 if there was none."""

    status: int
    body: Any
    retry_after_secs: float = 0

    def fail(self, what: str) -> NoReturn:
        """Ends with the node's message. The command can be repeated after each of them."""
        message = self.body.get("message") or self.body["vm_status"]
        raise SystemExit(f"{what}: {self.status}: {message}")

    def is_final(self) -> bool:
        """Returns whether the payment has failed, or a repetition cannot succeed."""
        # A transaction with this number is pending, in a block, or committed. It is this payment.
        is_known = (
            self.body.get("error_code") in ("invalid_transaction_update", "sequence_number_too_old")
            or self.body.get("vm_error_code") == SEQUENCE_NUMBER_TOO_OLD
        )
        # 404: the mempool has removed the transaction, because it expired or made room for others.
        is_rejected = 400 <= self.status < 500 and self.status != 404 and not is_known
        return self.status == 200 or is_rejected


class PaymentLoop:
    def __init__(self, url: str, key: PrivateKey, first: int, payments: list[Payment]):
        self.http = httpx.Client(base_url=url, timeout=REQUEST_TIMEOUT_SECS)
        self.key = key
        self.payer = AccountAddress.from_key(key.public_key())
        self.account = f"/accounts/{self.payer}"
        self.first = first
        self.payments = payments
        # Version of the ledger that the loop has seen, which later reads must include.
        self.seen_version = 0
        self.last_progress = time.monotonic()

    def request(self, method: str, path: str, **options: Any) -> Answer:
        """Sends a request once."""
        try:
            response = self.http.request(method, path, **options)
            version = int(response.headers.get("x-aptos-ledger-version", 0))
            self.seen_version = max(self.seen_version, version)
            retry_after_secs = float(response.headers.get("retry-after", 0))
            return Answer(response.status_code, response.json(), retry_after_secs)
        except (httpx.HTTPError, ValueError) as error:
            return Answer(0, {"message": repr(error)})

    def retry_pause(self, what: str, answer: Answer) -> None:
        """Pauses before a request is repeated."""
        if time.monotonic() - self.last_progress > GIVE_UP_AFTER_SECS:
            answer.fail(f"{what}, no progress")
        print(f"{what}: {answer.status or 'no response'}, trying again", file=sys.stderr)
        time.sleep(answer.retry_after_secs or RETRY_PAUSE_SECS)

    def read(self, path: str, **query: Any) -> Any:
        """Reads from the ledger, at a version that has everything that the loop has seen."""
        while True:
            query["min_ledger_version"] = self.seen_version
            answer = self.request("GET", path, params=query)
            if answer.status == 200:
                return answer.body
            if 0 < answer.status < 500:
                answer.fail(path)
            self.retry_pause(path, answer)

    def next_number(self) -> int:
        """Returns the sequence number of the account's next transaction."""
        return int(self.read(self.account)["sequence_number"])

    def sign(self, k: int) -> bytes:
        """Returns the signed transaction of payment `k`."""
        arguments = [
            TransactionArgument(self.payments[k].recipient, Serializer.struct),
            TransactionArgument(self.payments[k].amount, Serializer.u64),
        ]
        call = EntryFunction.natural("0x1::aptos_account", "transfer", [], arguments)
        # One to two minutes ahead, and equal within a minute: a repetition then has the same bytes,
        # and waits for the same commit. Other bytes are rejected while the first ones are pending.
        expiration = (int(time.time()) // 60 + 2) * 60
        raw = RawTransaction(
            self.payer,
            self.first + k,
            TransactionPayload(call),
            GAS_UNITS_MAX,
            self.gas_unit_price,
            expiration,
            self.chain_id,
        )
        return SignedTransaction(raw, raw.sign(self.key)).bytes()

    def pay(self, k: int) -> None:
        """Makes payment `k`, and returns when the transaction with its number is committed."""
        headers = {"content-type": "application/x.aptos.signed_transaction+bcs"}
        query = {"timeout_ms": COMMIT_WAIT_MS}
        while True:
            answer = self.request(
                "POST", "/transactions", params=query, headers=headers, content=self.sign(k)
            )
            if answer.status == 200 and answer.body["success"]:
                return
            if answer.is_final():
                answer.fail(f"payment {k}")
            # Pending, removed, rejected for now, or unknown: the ledger says if it has occurred.
            self.retry_pause(f"payment {k}", answer)
            if self.next_number() > self.first + k:
                return

    def verify(self, count: int) -> None:
        """Checks on the ledger that the first `count` payments have occurred as in the list."""
        k = 0
        while k < count:
            page = self.read(f"{self.account}/transactions", start=self.first + k, limit=100)
            if not page:
                raise SystemExit(f"the ledger has no transaction {self.first + k}")
            for transaction in page[: count - k]:
                if not self.is_payment(k, transaction):
                    raise SystemExit(f"transaction {transaction['hash']} is not payment {k}")
                if not transaction["success"]:
                    raise SystemExit(f"payment {k} failed: {transaction['vm_status']}")
                k += 1

    def is_payment(self, k: int, transaction: dict[str, Any]) -> bool:
        """Returns whether a committed transaction is payment `k` of the list."""
        payload = transaction["payload"]
        return (
            int(transaction["sequence_number"]) == self.first + k
            and payload.get("function") == "0x1::aptos_account::transfer"
            and Payment.parse(" ".join(payload["arguments"])) == self.payments[k]
        )

    def run(self) -> None:
        """Makes the payments that have not occurred yet, and verifies all of them."""
        self.chain_id = self.read("")["chain_id"]
        self.gas_unit_price = self.read("/estimate_gas_price")["gas_estimate"]
        done = self.next_number() - self.first
        if done < 0:
            raise SystemExit(f"the next sequence number of the account is below {self.first}")
        # An edited list or another `first` is found before another coin moves.
        self.verify(min(done, len(self.payments)))

        # A payment that fails uses its number, so the balance must cover all payments and fees.
        fee_max = GAS_UNITS_MAX * self.gas_unit_price
        due = sum(payment.amount + fee_max for payment in self.payments[done:])
        balance = self.read(f"{self.account}/balance/0xa")
        if balance < due:
            raise SystemExit(f"the balance is {balance}; payments and fees can take {due}")

        for k in range(done, len(self.payments)):
            self.pay(k)
            self.last_progress = time.monotonic()
            payment = self.payments[k]
            print(f"payment {k}: {payment.amount} to {payment.recipient}", flush=True)
        self.verify(len(self.payments))
        print(f"{len(self.payments)} payments occurred exactly once")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--node", default="http://127.0.0.1:8080/v1")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("key_file", type=Path)
    parser.add_argument("payments_file", type=Path)
    options = parser.parse_args()
    lines = options.payments_file.read_text().splitlines()
    PaymentLoop(
        options.node,
        PrivateKey.from_str(options.key_file.read_text().strip(), strict=False),
        options.first,
        [Payment.parse(line) for line in lines if line.strip()],
    ).run()
