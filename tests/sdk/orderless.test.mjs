// Transactions with a nonce in place of a sequence number, with the TypeScript SDK.

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
import { Session, assertForetold, eventOf, fee, refusal } from "./session.mjs";

const TRANSFER = "0x1::aptos_account::transfer";
const MULTISIG = "0x1::multisig_account";
const BURST = 1_000;
/** How many requests that build or wait are under way at once; submissions are not held back. */
const AT_ONCE = 50;
/** What the list of an account's summaries gives at once. */
const PAGE = 100;
/** When a transaction expires, from now: later than a busy machine needs, earlier than the 100 s that
 * orderless ones may take at most. */
const EXPIRY_S = 90;

const newNonce = () => randomBytes(8).readBigUInt64BE();
const inSeconds = (seconds) => Math.floor(Date.now() / 1000) + seconds;

/** What `task` gives for each item, a few at a time. */
async function inGroups(items, task) {
  const results = [];
  for (let start = 0; start < items.length; start += AT_ONCE) {
    results.push(...(await Promise.all(items.slice(start, start + AT_ONCE).map(task))));
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

  /** The summaries of all of an account's committed transactions. */
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

  test(`a burst of ${BURST} from one account is committed whole`, async () => {
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

  test("a nonce is taken once by an account, whatever it pays for", async () => {
    const [sender, other] = [await session.funded(), await session.funded()];
    const nonce = newNonce();
    const transaction = await build(sender, nonce);
    assert.equal((await session.send(sender, transaction)).success, true);
    for (const again of [transaction, await build(sender, nonce, { amount: 2 })]) {
      const refused = await refusal(session.send(sender, again));
      assert.equal(refused.data.vm_error_code, 42, "NONCE_ALREADY_USED");
    }
    assert.equal((await session.send(other, await build(other, nonce))).success, true);
  });

  test("those with a nonce and those with a sequence number do not wait for one another", async () => {
    const [sender, nonce] = [await session.funded(), newNonce()];
    const numbered = (accountSequenceNumber) =>
      session.aptos.transaction.build.simple({
        sender: sender.accountAddress,
        data: { function: TRANSFER, functionArguments: [recipient, 1] },
        options: { accountSequenceNumber },
      });
    const submit = (transaction) =>
      session.aptos.signAndSubmitTransaction({ signer: sender, transaction });
    // The second of two numbers waits for the first, the nonce for nobody.
    const second = await submit(await numbered(1));
    assert.equal((await session.send(sender, await build(sender, nonce))).success, true);
    assert.equal(await sequenceNumberOf(sender), "0");
    const first = await session.send(sender, await numbered(0));
    assert.equal(first.success, true);
    await session.aptos.waitForTransaction({ transactionHash: second.hash });
    assert.equal(await sequenceNumberOf(sender), "2");
  });

  test("summaries hold both kinds, in the order in which they were committed", async () => {
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

  test("one that expires late is refused", async () => {
    const sender = await session.funded();
    const late = await build(sender, newNonce(), { expiry: inSeconds(200) });
    const refused = await refusal(session.send(sender, late));
    assert.equal(refused.data.vm_error_code, 44, "TRANSACTION_EXPIRATION_TOO_FAR_IN_FUTURE");
  });

  test("another account pays for one, and its sender needs no account", async () => {
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
    const absent = await refusal(
      session.aptos.getAccountResource({ accountAddress, resourceType: "0x1::account::Account" }),
    );
    assert.equal(absent.data.error_code, "resource_not_found");
  });

  test("a multi key account sends one", async () => {
    const sender = await session.funded(KINDS["multi key, secp256k1 and WebAuthn of 3"]());
    const done = await session.send(sender, await build(sender, newNonce()));
    assert.equal(done.success, true, done.vm_status);
  });

  test("an owner executes a multisig account's transactions with them", async () => {
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
    // The payload stands in the transaction, or only on the ledger.
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

  test("is simulated with a key and without, at about the real gas", async () => {
    const sender = await session.funded();
    const transaction = await build(sender, newNonce());
    const foretold = [];
    for (const signerPublicKey of [undefined, sender.publicKey]) {
      const [result] = await session.aptos.transaction.simulate.simple({
        transaction,
        signerPublicKey,
      });
      foretold.push(result);
    }
    const done = await session.send(sender, transaction);
    for (const simulated of foretold) assertForetold(simulated, done);
    const [again] = await session.aptos.transaction.simulate.simple({ transaction });
    assert.equal(again.vm_status, "NONCE_ALREADY_USED");
  });
});
