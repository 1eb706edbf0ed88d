// Every kind of signature, with the TypeScript SDK: it pays, is simulated, is shown as it was sent, and
// holds for nothing else.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  Account,
  AccountAuthenticatorMultiKey,
  AccountAuthenticatorSingleKey,
  AnySignature,
  MultiEd25519PublicKey,
  MultiKeySignature,
  generateSignedTransaction,
  generateSigningMessageForTransaction,
} from "@aptos-labs/ts-sdk";
import { refusedSigners } from "./golden_refused.mjs";
import { KINDS, transactionSignatureJson } from "./kinds.mjs";
import { Session, assertForetold, refusal } from "./session.mjs";

const TRANSFER = "0x1::aptos_account::transfer";

describe("kinds of signatures", { timeout: 120_000 }, () => {
  const session = Session.forSuite();
  const transfer = (sender, amount = 5) =>
    session.build(sender, TRANSFER, [Account.generate().accountAddress, amount]);

  /** `signerPublicKey` undefined simulates without a key. */
  async function simulate(transaction, signerPublicKey) {
    const [result] = await session.aptos.transaction.simulate.simple({
      transaction,
      signerPublicKey,
    });
    return result;
  }
  /** The key to simulate with; the SDK has no form for simulating with multi-ed25519 keys. */
  const simulationKey = ({ publicKey }) =>
    publicKey instanceof MultiEd25519PublicKey ? undefined : publicKey;

  /** The node's answer to simulating the very bytes that could be submitted. */
  async function simulateSigned(transaction, senderAuthenticator) {
    const answer = await fetch(`${session.api}/transactions/simulate`, {
      method: "POST",
      headers: { "Content-Type": "application/x.aptos.signed_transaction+bcs" },
      body: generateSignedTransaction({ transaction, senderAuthenticator }),
    });
    return answer.json();
  }

  for (const [name, make] of Object.entries(KINDS)) {
    test(`${name}: pays, and its signature is shown as it was sent`, async () => {
      const account = await session.funded(make());
      const transaction = await transfer(account);
      const sender = session.sign(account, transaction);
      const done = await session.submit(transaction, { sender });
      assert.equal(done.success, true, done.vm_status);
      assert.deepEqual(done.signature, transactionSignatureJson(transaction, { sender }));
    });

    test(`${name}: is simulated with and without its key, at about the real gas`, async () => {
      const account = await session.funded(make());
      const transaction = await transfer(account);
      const unsigned = await simulate(transaction, undefined);
      assert.deepEqual(unsigned.signature, {
        type: "single_sender",
        sender: { type: "no_account_signature" },
      });
      const withKey = await simulate(transaction, simulationKey(account));
      const withSignature = await simulateSigned(transaction, session.sign(account, transaction));
      assert.equal(withSignature.error_code, "invalid_input", "who has it could submit it");
      const done = await session.send(account, transaction);
      assert.equal(done.success, true, done.vm_status);
      for (const foretold of [unsigned, withKey]) {
        assertForetold(foretold, done);
        assert.deepEqual(
          foretold.events.map(({ type }) => type),
          done.events.map(({ type }) => type),
        );
      }
    });

    test(`${name}: a signature holds for its transaction and its account alone`, async () => {
      const account = await session.funded(make());
      const [one, other] = [await transfer(account, 5), await transfer(account, 6)];
      const forOther = await refusal(session.submit(one, { sender: session.sign(account, other) }));
      assert.equal(forOther.data.vm_error_code, 1, "INVALID_SIGNATURE");
      const byOther = await refusal(session.submit(one, { sender: session.sign(make(), one) }));
      assert.equal(byOther.data.vm_error_code, 2, "INVALID_AUTH_KEY");
      const foreignKey = simulationKey(make());
      if (foreignKey) assert.equal((await simulate(one, foreignKey)).vm_status, "INVALID_AUTH_KEY");
    });
  }

  for (const [name, signer] of Object.entries(refusedSigners)) {
    test(`${name}: is read and refused by name`, async () => {
      const transaction = await transfer(signer);
      const refused = await refusal(
        session.submit(transaction, { sender: session.sign(signer, transaction) }),
      );
      assert.equal(refused.data.vm_error_code, 26, "FEATURE_UNDER_GATING");
      assert.match(
        refused.data.message,
        /an? (keyless|federated keyless|abstract account) signature is not supported/,
      );
    });
  }

  test("a multi key account that too few sign for is refused", async () => {
    const account = await session.funded(KINDS["multi key, ed25519 and secp256k1 of 3"]());
    const transaction = await transfer(account);
    const signature = new MultiKeySignature({
      signatures: [account.signTransaction(transaction).signatures[0]],
      bitmap: [0],
    });
    const sender = new AccountAuthenticatorMultiKey(account.publicKey, signature);
    const refused = await refusal(session.submit(transaction, { sender }));
    assert.equal(refused.data.vm_error_code, 1, "INVALID_SIGNATURE");
  });

  test("a passkey's assertion that creates a credential, or has the higher s, is refused", async () => {
    const account = await session.funded(KINDS["single key WebAuthn"]());
    const transaction = await transfer(account);
    const message = generateSigningMessageForTransaction(transaction);
    for (const forged of [{ type: "webauthn.create" }, { high: true }]) {
      const signature = new AnySignature(account.assertion(message, forged));
      const sender = new AccountAuthenticatorSingleKey(account.publicKey, signature);
      const refused = await refusal(session.submit(transaction, { sender }));
      assert.equal(refused.data.vm_error_code, 1, `INVALID_SIGNATURE of ${JSON.stringify(forged)}`);
    }
    const held = await session.send(account, transaction);
    assert.equal(held.success, true, held.vm_status);
  });
});
