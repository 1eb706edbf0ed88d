// A payment loop without state of its own. It can be killed at any instant, and so can the node:
// the same command continues, and each payment occurs exactly once. README.md has the command.
//
// Payment k of the list is the transaction with sequence number `first + k` of the paying account.
// The ledger commits at most one transaction with a number, in the order of the numbers. So a
// repetition never pays twice, and the account's next number says which payments are done. Lines
// may be appended to the list, but not changed, and nothing else may send from the account.

import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import {
  Account,
  AccountAddress,
  ChainId,
  Ed25519PrivateKey,
  EntryFunction,
  RawTransaction,
  SimpleTransaction,
  TransactionPayloadEntryFunction,
  U64,
  generateSignedTransaction,
} from "@aptos-labs/ts-sdk";

/** Maximum time that the node waits for the commit before it responds. */
const COMMIT_WAIT_MS = 10_000;
/** Maximum time of a request, longer than the node waits. */
const REQUEST_TIMEOUT_MS = 20_000;
/** Pause before a request is repeated, unless the response has `Retry-After`. */
const RETRY_PAUSE_MS = 200;
/** Time without a payment after which the loop ends with an error. */
const GIVE_UP_AFTER_MS = 300_000;
/** Maximum gas units of a payment. The creation of a recipient's account takes most. */
const GAS_UNITS_MAX = 200_000n;
/** `vm_error_code` of a transaction whose sequence number is used. */
const SEQUENCE_NUMBER_TOO_OLD = 3;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    node: { type: "string", default: "http://127.0.0.1:8080/v1" },
    first: { type: "string", default: "0" },
  },
});
const [keyFile, paymentsFile] = positionals;
if (!keyFile || !paymentsFile) {
  throw new Error("usage: node payments.mts [--node URL] [--first NUMBER] KEY_FILE PAYMENTS_FILE");
}
const privateKey = new Ed25519PrivateKey(readFileSync(keyFile, "utf8").trim(), false);
const payer = Account.fromPrivateKey({ privateKey });
const account = `/accounts/${payer.accountAddress}`;
const first = BigInt(values.first);
const payments = readFileSync(paymentsFile, "utf8").split("\n").filter(Boolean).map(payment);

/** Version of the ledger that the loop has seen, which later reads must include. */
let seenVersion = 0n;
let lastProgress = Date.now();

type Payment = { recipient: AccountAddress; amount: bigint };
type Answer = { status: number; body: any; retryAfterMs: number };

/** Parses a line of the list: recipient and amount. */
function payment(line: string): Payment {
  const [recipient = "", amount = ""] = line.trim().split(/\s+/);
  return { recipient: address(recipient), amount: BigInt(amount) };
}

function address(text: string): AccountAddress {
  return AccountAddress.from(text, { maxMissingChars: 63 });
}

/** Sends a request once. The status is 0 without a response. */
async function request(path: string, init: RequestInit = {}): Promise<Answer> {
  const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
  try {
    const response = await fetch(`${values.node}${path}`, { ...init, signal });
    const version = BigInt(response.headers.get("x-aptos-ledger-version") ?? 0);
    if (version > seenVersion) seenVersion = version;
    const retryAfterMs = Number(response.headers.get("retry-after")) * 1000;
    return { status: response.status, body: await response.json(), retryAfterMs };
  } catch (error) {
    return { status: 0, body: { message: String(error) }, retryAfterMs: 0 };
  }
}

/** Throws an error with the node's message. The command can be repeated after each of them. */
function fail(what: string, { status, body }: Answer): never {
  throw new Error(`${what}: ${status}: ${body.message ?? body.vm_status}`);
}

/** Pauses before a request is repeated. */
async function retryPause(what: string, answer: Answer) {
  if (Date.now() - lastProgress > GIVE_UP_AFTER_MS) fail(`${what}, no progress`, answer);
  console.error(`${what}: ${answer.status || "no response"}, trying again`);
  await pause(answer.retryAfterMs || RETRY_PAUSE_MS);
}

/** Reads from the ledger, at a version that has everything that the loop has seen. */
async function read(path: string) {
  for (;;) {
    const query = `${path.includes("?") ? "&" : "?"}min_ledger_version=${seenVersion}`;
    const answer = await request(path + query);
    if (answer.status === 200) return answer.body;
    if (answer.status > 0 && answer.status < 500) fail(path, answer);
    await retryPause(path, answer);
  }
}

/** Returns the sequence number of the account's next transaction. */
async function nextNumber(): Promise<bigint> {
  return BigInt((await read(account)).sequence_number);
}

/** Returns the signed transaction of payment `k`. */
function sign(k: number) {
  const { recipient, amount } = payments[k];
  const args = [recipient, new U64(amount)];
  // One to two minutes ahead, and equal within a minute: a repetition then has the same bytes, and
  // waits for the same commit. Other bytes are rejected while the first ones are pending.
  const expiration = BigInt(Math.floor(Date.now() / 60_000) + 2) * 60n;
  const rawTransaction = new RawTransaction(
    payer.accountAddress,
    first + BigInt(k),
    new TransactionPayloadEntryFunction(
      EntryFunction.build("0x1::aptos_account", "transfer", [], args),
    ),
    GAS_UNITS_MAX,
    gasUnitPrice,
    expiration,
    new ChainId(chainId),
  );
  const transaction = new SimpleTransaction(rawTransaction);
  const senderAuthenticator = payer.signTransactionWithAuthenticator(transaction);
  return Uint8Array.from(generateSignedTransaction({ transaction, senderAuthenticator }));
}

/** Makes payment `k`, and returns when the transaction with its number is committed. */
async function pay(k: number) {
  for (;;) {
    const answer = await request(`/transactions?timeout_ms=${COMMIT_WAIT_MS}`, {
      method: "POST",
      headers: { "content-type": "application/x.aptos.signed_transaction+bcs" },
      body: sign(k),
    });
    if (answer.status === 200 && answer.body.success) return;
    if (isFinal(answer)) fail(`payment ${k}`, answer);
    // Pending, removed, rejected for now, or unknown: the ledger says whether it has occurred.
    await retryPause(`payment ${k}`, answer);
    if ((await nextNumber()) > first + BigInt(k)) return;
  }
}

/** Returns whether the payment has failed, or a repetition of the submission cannot succeed. */
function isFinal({ status, body }: Answer): boolean {
  // A transaction with this number is pending, in a block, or committed. It is this payment.
  const isKnown =
    body.error_code === "invalid_transaction_update" ||
    body.error_code === "sequence_number_too_old" ||
    body.vm_error_code === SEQUENCE_NUMBER_TOO_OLD;
  // 404: the mempool has removed the transaction, because it expired or made room for others.
  const isRejected = status >= 400 && status < 500 && status !== 404 && !isKnown;
  return status === 200 || isRejected;
}

/** Checks on the ledger that the first `count` payments have occurred as in the list. */
async function verify(count: number) {
  for (let k = 0; k < count; ) {
    const start = first + BigInt(k);
    const page = await read(`${account}/transactions?start=${start}&limit=100`);
    if (page.length === 0) throw new Error(`the ledger has no transaction ${start}`);
    for (const { sequence_number, success, vm_status, hash, payload } of page.slice(0, count - k)) {
      const [recipient = "0x0", amount = "0"] = payload.arguments ?? [];
      const isPayment =
        BigInt(sequence_number) === first + BigInt(k) &&
        payload.function === "0x1::aptos_account::transfer" &&
        address(recipient).equals(payments[k].recipient) &&
        BigInt(amount) === payments[k].amount;
      if (!isPayment) throw new Error(`transaction ${hash} is not payment ${k} of the list`);
      if (!success) throw new Error(`payment ${k}, transaction ${hash}, failed: ${vm_status}`);
      k += 1;
    }
  }
}

const { chain_id: chainId } = await read("");
const gasUnitPrice = BigInt((await read("/estimate_gas_price")).gas_estimate);
const done = Number((await nextNumber()) - first);
if (done < 0) throw new Error(`the next sequence number of the account is below ${first}`);
// An edited list or another `first` is found before another coin moves.
await verify(Math.min(done, payments.length));

// A payment that fails uses its number, so the balance must cover all payments and fees.
const feeMax = GAS_UNITS_MAX * gasUnitPrice;
const due = payments.slice(done).reduce((sum, { amount }) => sum + amount + feeMax, 0n);
const balance = BigInt(await read(`${account}/balance/0xa`));
if (balance < due) throw new Error(`the balance is ${balance}; payments and fees can take ${due}`);

for (let k = done; k < payments.length; k++) {
  await pay(k);
  lastProgress = Date.now();
  console.log(`payment ${k}: ${payments[k].amount} to ${payments[k].recipient}`);
}
await verify(payments.length);
console.log(`${payments.length} payments occurred exactly once`);
