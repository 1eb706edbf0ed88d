// Transactions with a nonce instead of a sequence number, with the TypeScript SDK.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { before, describe, test } from "node:test";
import {
  Account,
  AccountAddress,
  MultiSig,
  SimpleTransaction,
  TransactionPayloadMultiSig,
  generateRawTransaction,
  generateTransactionPayload,
} from "@aptos-labs/ts-sdk";
import { KINDS, transactionSignatureJson } from "./kinds.mjs";
import { Session, assertPredicted, eventOf, fee, rejection } from "./session.mjs";

const TRANSFER = "0x1::aptos_account::transfer";
const MULTISIG = "0x1::multisig_account";
const BURST = 1_000;
/** Maximum number of concurrent builds or waits. Submissions are not limited. */
const CONCURRENT_MAX = 50;
/** Summaries per page. */
const PAGE = 100;
/** Time until a transaction expires: long enough for a busy machine, below the 100 s that orderless
 * transactions have at most. */
const EXPIRY_S = 90;

const newNonce = () => randomBytes(8).readBigUInt64BE();
const inSeconds = (seconds) => Math.floor(Date.now() / 1000) + seconds;

/** Returns the results of `task` for all items, with bounded concurrency. */
async function inGroups(items, task) {
  const results = [];
  for (let start = 0; start < items.length; start += CONCURRENT_MAX) {
    results.push(...(await Promise.all(items.slice(start, start + CONCURRENT_MAX).map(task))));
  }
  return results;
}

describe("orderless transactions", { timeout: 180_000 }, () => {
  const session = Session.forSuite();
  let recipient;

  before(async () => {
    recipient = (await session.funded()).accountAddress;
  });

  const build = (sender, nonce, { amount = 1, expiry = inSeconds(EXPIRY_S), withFeePayer } = {}) =>
    session.aptos.transaction.build.simple({
      sender: sender.accountAddress,
      withFeePayer,
      data: { function: TRANSFER, functionArguments: [recipient, amount] },
      options: { replayProtectionNonce: nonce, expireTimestamp: expiry },
    });
  const sequenceNumberOf = async ({ accountAddress }) =>
    (await session.aptos.getAccountInfo({ accountAddress })).sequence_number;

  /** Returns the summaries of all committed transactions of an account. */
  async function summariesOf({ accountAddress }) {
    const all = [];
    for (let start = 0; ;) {
      const query = `start_version=${start}&limit=${PAGE}`;
      const url = `${session.api}/accounts/${accountAddress}/transaction_summaries?${query}`;
      const page = await (await fetch(url)).json();
      all.push(...page);
      if (page.length < PAGE) return all;
      start = Number(page.at(-1).version) + 1;
    }
  }

  test(`commits a burst of ${BURST} transactions of one account`, async () => {
    const sender = await session.funded();
    const nonces = Array.from({ length: BURST }, newNonce);
    assert.equal(new Set(nonces).size, BURST);
    const transactions = await inGroups(nonces, (nonce) => build(sender, nonce));
    const signatures = transactions.map((transaction) => session.sign(sender, transaction));

    const before = await session.balance(recipient);
    const pending = await Promise.all(
      transactions.map((transaction, at) =>
        session.aptos.transaction.submit.simple({
          transaction,
          senderAuthenticator: signatures[at],
        }),
      ),
    );
    const done = await inGroups(pending, ({ hash }) =>
      session.aptos.waitForTransaction({ transactionHash: hash }),
    );

    assert.equal(await session.balance(recipient), before + BURST);
    assert.deepEqual(
      done.map(({ replay_protection_nonce }) => BigInt(replay_protection_nonce)),
      nonces,
    );
    assert.equal(await sequenceNumberOf(sender), "0");
    const summaries = await summariesOf(sender);
    assert.deepEqual(
      new Set(summaries.map(({ replay_protector: { type, nonce } }) => `${type} ${nonce}`)),
      new Set(nonces.map((nonce) => `nonce ${nonce}`)),
    );
    assert.deepEqual(
      summaries.map(({ transaction_hash }) => transaction_hash).toSorted(),
      pending.map(({ hash }) => hash).toSorted(),
    );
  });

  test("rejects a nonce that another transaction of its account has used", async () => {
    const [sender, other] = [await session.funded(), await session.funded()];
    const nonce = newNonce();
    const transaction = await build(sender, nonce);
    const done = await session.send(sender, transaction);
    assert.equal(done.success, true);
    // The same bytes are the same transaction.
    assert.equal((await session.send(sender, transaction)).version, done.version);
    const again = await build(sender, nonce, { amount: 2 });
    const rejected = await rejection(session.send(sender, again));
    assert.equal(rejected.data.vm_error_code, 42, "NONCE_ALREADY_USED");
    assert.match(rejected.data.message, new RegExp(`used by transaction ${done.hash}`));
    assert.equal((await session.send(other, await build(other, nonce))).success, true);
  });

  test("orders transactions with nonces independently of sequence numbers", async () => {
    const [sender, nonce] = [await session.funded(), newNonce()];
    const numbered = (accountSequenceNumber) =>
      session.aptos.transaction.build.simple({
        sender: sender.accountAddress,
        data: { function: TRANSFER, functionArguments: [recipient, 1] },
        options: { accountSequenceNumber },
      });
    const submit = (transaction) =>
      session.aptos.signAndSubmitTransaction({ signer: sender, transaction });
    // The second sequence number waits for the first. The nonce waits for neither.
    const second = await submit(await numbered(1));
    assert.equal((await session.send(sender, await build(sender, nonce))).success, true);
    assert.equal(await sequenceNumberOf(sender), "0");
    const first = await session.send(sender, await numbered(0));
    assert.equal(first.success, true);
    await session.aptos.waitForTransaction({ transactionHash: second.hash });
    assert.equal(await sequenceNumberOf(sender), "2");
  });

  test("lists the summaries of both kinds in the order of commits", async () => {
    const sender = await session.funded();
    const nonce = newNonce();
    const hashes = [];
    for (const transaction of [
      () => session.build(sender, TRANSFER, [recipient, 1]),
      () => build(sender, nonce),
      () => session.build(sender, TRANSFER, [recipient, 1]),
    ]) {
      hashes.push((await session.send(sender, await transaction())).hash);
    }
    const summaries = await summariesOf(sender);
    assert.deepEqual(
      summaries.map(({ transaction_hash }) => transaction_hash),
      hashes,
    );
    assert.deepEqual(
      summaries.map(({ replay_protector }) => replay_protector),
      [
        { type: "sequence_number", sequence_number: "0" },
        { type: "nonce", nonce: nonce.toString() },
        { type: "sequence_number", sequence_number: "1" },
      ],
    );
  });

  test("rejects an expiration too far in the future", async () => {
    const sender = await session.funded();
    const late = await build(sender, newNonce(), { expiry: inSeconds(200) });
    const rejected = await rejection(session.send(sender, late));
    assert.equal(rejected.data.vm_error_code, 44, "TRANSACTION_EXPIRATION_TOO_FAR_IN_FUTURE");
  });

  test("executes a sponsored one of a new account", async () => {
    const [sender, sponsor] = [Account.generate(), await session.funded()];
    const transaction = await session.aptos.transaction.build.simple({
      sender: sender.accountAddress,
      withFeePayer: true,
      data: {
        function: "0x1::aptos_account::create_account",
        functionArguments: [Account.generate().accountAddress],
      },
      options: { replayProtectionNonce: newNonce() },
    });
    const before = await session.balance(sponsor.accountAddress);
    const feePayer = session.signAsPayer(sponsor, transaction);
    const signatures = { sender: session.sign(sender, transaction), feePayer };
    const done = await session.submit(transaction, signatures);
    assert.equal(done.success, true, done.vm_status);
    assert.equal(await session.balance(sponsor.accountAddress), before - fee(done));
    assert.deepEqual(done.signature, transactionSignatureJson(transaction, signatures));
    assert.equal(await sequenceNumberOf(sender), "0");
    const { accountAddress } = sender;
    const absent = await rejection(
      session.aptos.getAccountResource({ accountAddress, resourceType: "0x1::account::Account" }),
    );
    assert.equal(absent.data.error_code, "resource_not_found");
  });

  test("executes one of a multi key account", async () => {
    const sender = await session.funded(KINDS["multi key, secp256k1 and WebAuthn of 3"]());
    const done = await session.send(sender, await build(sender, newNonce()));
    assert.equal(done.success, true, done.vm_status);
  });

  test("executes transactions of a multisig account", async () => {
    const owner = await session.funded();
    const sender = owner.accountAddress;
    const [multisigAddress] = await session.view(`${MULTISIG}::get_next_multisig_account_address`, [
      sender,
    ]);
    await session.call(owner, `${MULTISIG}::create`, [1, [], []]);
    await session.call(owner, TRANSFER, [multisigAddress, 1000]);
    const payload = await generateTransactionPayload({
      aptosConfig: session.aptos.config,
      multisigAddress,
      function: TRANSFER,
      functionArguments: [recipient, 500],
    });
    const bytes = payload.multiSig.transaction_payload.bcsToBytes();
    const named = new TransactionPayloadMultiSig(
      new MultiSig(AccountAddress.from(multisigAddress)),
    );

    const before = await session.balance(recipient);
    // The payload is in the transaction, or only on the ledger.
    for (const executed of [payload, named]) {
      await session.call(owner, `${MULTISIG}::create_transaction`, [multisigAddress, bytes]);
      const raw = await generateRawTransaction({
        aptosConfig: session.aptos.config,
        sender,
        payload: executed,
        options: { replayProtectionNonce: newNonce() },
      });
      const done = await session.send(owner, new SimpleTransaction(raw));
      assert.equal(done.success, true, done.vm_status);
      eventOf(done, `${MULTISIG}::TransactionExecutionSucceeded`);
    }
    assert.equal(await session.balance(recipient), before + 1000);
  });

  test("simulates with and without a key, within the tolerance of gas", async () => {
    const sender = await session.funded();
    const transaction = await build(sender, newNonce());
    const predicted = [];
    for (const signerPublicKey of [undefined, sender.publicKey]) {
      const [result] = await session.aptos.transaction.simulate.simple({
        transaction,
        signerPublicKey,
      });
      predicted.push(result);
    }
    const done = await session.send(sender, transaction);
    for (const simulated of predicted) assertPredicted(simulated, done);
    const [again] = await session.aptos.transaction.simulate.simple({ transaction });
    assert.equal(again.vm_status, "NONCE_ALREADY_USED");
  });
});
