// Every kind of signature with the TypeScript SDK: execution, simulation, JSON form, and rejection
// for another transaction or account.

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
import { unsupportedSigners } from "./golden_unsupported.mjs";
import { KINDS, transactionSignatureJson } from "./kinds.mjs";
import { Session, assertPredicted, rejection } from "./session.mjs";

const TRANSFER = "0x1::aptos_account::transfer";

describe("kinds of signatures", { timeout: 120_000 }, () => {
  const session = Session.forSuite();
  const transfer = (sender, amount = 5) =>
    session.build(sender, TRANSFER, [Account.generate().accountAddress, amount]);

  /** Simulates a transaction, without a key if `signerPublicKey` is undefined. */
  async function simulate(transaction, signerPublicKey) {
    const [result] = await session.aptos.transaction.simulate.simple({
      transaction,
      signerPublicKey,
    });
    return result;
  }
  /** Returns the key for a simulation. The SDK cannot simulate with multi-ed25519 keys. */
  const simulationKey = ({ publicKey }) =>
    publicKey instanceof MultiEd25519PublicKey ? undefined : publicKey;

  /** Returns the response to a simulation of a validly signed transaction. */
  async function simulateSigned(transaction, senderAuthenticator) {
    const response = await fetch(`${session.api}/transactions/simulate`, {
      method: "POST",
      headers: { "Content-Type": "application/x.aptos.signed_transaction+bcs" },
      body: generateSignedTransaction({ transaction, senderAuthenticator }),
    });
    return response.json();
  }

  for (const [name, make] of Object.entries(KINDS)) {
    test(`${name}: is executed, and its signature is returned as it was sent`, async () => {
      const account = await session.funded(make());
      const transaction = await transfer(account);
      const sender = session.sign(account, transaction);
      const done = await session.submit(transaction, { sender });
      assert.equal(done.success, true, done.vm_status);
      const sent = transactionSignatureJson(transaction, { sender });
      // The node repeats the members of a single sender beside it, as the reference node has them.
      const members = sent.type === "single_sender" ? { ...sent.sender, type: sent.type } : {};
      assert.deepEqual(done.signature, { ...sent, ...members });
    });

    test(`${name}: is simulated with and without its key, with similar gas`, async () => {
      const account = await session.funded(make());
      const transaction = await transfer(account);
      const unsigned = await simulate(transaction, undefined);
      assert.deepEqual(unsigned.signature, {
        type: "single_sender",
        sender: { type: "no_account_signature" },
      });
      const withKey = await simulate(transaction, simulationKey(account));
      const withSignature = await simulateSigned(transaction, session.sign(account, transaction));
      assert.equal(withSignature.error_code, "invalid_input", "a valid signature is rejected");
      const done = await session.send(account, transaction);
      assert.equal(done.success, true, done.vm_status);
      for (const predicted of [unsigned, withKey]) {
        assertPredicted(predicted, done);
        assert.deepEqual(
          predicted.events.map(({ type }) => type),
          done.events.map(({ type }) => type),
        );
      }
    });

    test(`${name}: is rejected for another transaction or account`, async () => {
      const account = await session.funded(make());
      const [one, other] = [await transfer(account, 5), await transfer(account, 6)];
      const forOther = await rejection(
        session.submit(one, { sender: session.sign(account, other) }),
      );
      assert.equal(forOther.data.vm_error_code, 1, "INVALID_SIGNATURE");
      const byOther = await rejection(session.submit(one, { sender: session.sign(make(), one) }));
      assert.equal(byOther.data.vm_error_code, 2, "INVALID_AUTH_KEY");
      const foreignKey = simulationKey(make());
      if (foreignKey) assert.equal((await simulate(one, foreignKey)).vm_status, "INVALID_AUTH_KEY");
    });
  }

  for (const [name, signer] of Object.entries(unsupportedSigners)) {
    test(`${name}: is rejected by name`, async () => {
      const transaction = await transfer(signer);
      const rejected = await rejection(
        session.submit(transaction, { sender: session.sign(signer, transaction) }),
      );
      assert.equal(rejected.data.vm_error_code, 26, "FEATURE_UNDER_GATING");
      assert.match(
        rejected.data.message,
        /an? (keyless|federated keyless|abstract account) signature is not supported/,
      );
    });
  }

  test("rejects a multi key account with too few signatures", async () => {
    const account = await session.funded(KINDS["multi key, ed25519 and secp256k1 of 3"]());
    const transaction = await transfer(account);
    const signature = new MultiKeySignature({
      signatures: [account.signTransaction(transaction).signatures[0]],
      bitmap: [0],
    });
    const sender = new AccountAuthenticatorMultiKey(account.publicKey, signature);
    const rejected = await rejection(session.submit(transaction, { sender }));
    assert.equal(rejected.data.vm_error_code, 1, "INVALID_SIGNATURE");
  });

  test("rejects a passkey assertion of another type or with a high s", async () => {
    const account = await session.funded(KINDS["single key WebAuthn"]());
    const transaction = await transfer(account);
    const message = generateSigningMessageForTransaction(transaction);
    for (const forged of [{ type: "webauthn.create" }, { high: true }]) {
      const signature = new AnySignature(account.assertion(message, forged));
      const sender = new AccountAuthenticatorSingleKey(account.publicKey, signature);
      const rejected = await rejection(session.submit(transaction, { sender }));
      assert.equal(
        rejected.data.vm_error_code,
        1,
        `INVALID_SIGNATURE of ${JSON.stringify(forged)}`,
      );
    }
    const held = await session.send(account, transaction);
    assert.equal(held.success, true, held.vm_status);
  });
});
