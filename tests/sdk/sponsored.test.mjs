// Transactions with a fee payer, with the TypeScript SDK.

import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { Account } from "@aptos-labs/ts-sdk";
import { KINDS, transactionSignatureJson } from "./kinds.mjs";
import { FUNDED, Session, assertPredicted, fee, rejection, sameAddress } from "./session.mjs";

const TRANSFER = "0x1::aptos_account::transfer";
const CREATE = "0x1::aptos_account::create_account";
/** The whole balance of a sender. */
const ALL = 777;

describe("sponsored transactions", { timeout: 120_000 }, () => {
  const session = Session.forSuite();
  let sponsor;

  before(async () => {
    sponsor = await session.funded();
  });

  /** Builds a transaction with the zero address as payer, because the payer is unknown. */
  const build = (sender, name, functionArguments) =>
    session.aptos.transaction.build.simple({
      sender: sender.accountAddress,
      withFeePayer: true,
      data: { function: name, functionArguments },
    });
  /** Builds the first transaction of a new account, which needs no coins. */
  const buildFirst = (sender) => build(sender, CREATE, [Account.generate().accountAddress]);
  const paidWith = async (accountAddress, amount) =>
    session.call(sponsor, TRANSFER, [accountAddress, amount]);

  test("charges the exact fee to the sponsor and none to the sender", async () => {
    const [sender, recipient] = [Account.generate(), Account.generate().accountAddress];
    await paidWith(sender.accountAddress, ALL);
    const before = await session.balance(sponsor.accountAddress);
    const transaction = await build(sender, TRANSFER, [recipient, ALL]);
    const signatures = {
      sender: session.sign(sender, transaction),
      feePayer: session.signAsPayer(sponsor, transaction),
    };
    const done = await session.submit(transaction, signatures);
    assert.equal(done.success, true, done.vm_status);

    assert.equal(await session.balance(sponsor.accountAddress), before - fee(done));
    assert.equal(await session.balance(sender.accountAddress), 0);
    assert.equal(await session.balance(recipient), ALL);
    assert.deepEqual(done.signature, transactionSignatureJson(transaction, signatures));
    sameAddress(done.sender, sender.accountAddress);
  });

  test("executes the first transaction of an unknown account", async () => {
    const sender = Account.generate();
    const before = await session.balance(sponsor.accountAddress);
    const transaction = await buildFirst(sender);
    const pending = await session.aptos.signAndSubmitTransaction({
      signer: sender,
      feePayer: sponsor,
      transaction,
    });
    const done = await session.aptos.waitForTransaction({ transactionHash: pending.hash });
    assert.equal(await session.balance(sponsor.accountAddress), before - fee(done));
    const { sequence_number } = await session.aptos.getAccountInfo({
      accountAddress: sender.accountAddress,
    });
    assert.equal(sequence_number, "1");
  });

  test("accepts a sender that signs before or after the payer is known", async () => {
    const sender = Account.generate();
    const first = await buildFirst(sender);
    const early = session.sign(sender, first);
    assert.equal(first.feePayerAddress.toString(), "0x0");
    const done = await session.submit(first, {
      sender: early,
      feePayer: session.signAsPayer(sponsor, first),
    });
    assert.equal(done.success, true, done.vm_status);

    const second = await buildFirst(sender);
    const feePayer = session.signAsPayer(sponsor, second);
    const late = await session.submit(second, { sender: session.sign(sender, second), feePayer });
    assert.equal(late.success, true, late.vm_status);
  });

  test("accepts a sender as its own sponsor", async () => {
    const sender = await session.funded();
    const transaction = await build(sender, TRANSFER, [Account.generate().accountAddress, ALL]);
    const feePayer = session.signAsPayer(sender, transaction);
    const done = await session.submit(transaction, {
      sender: session.sign(sender, transaction),
      feePayer,
    });
    assert.equal(done.success, true, done.vm_status);
    assert.equal(await session.balance(sender.accountAddress), FUNDED - ALL - fee(done));
  });

  test("rejects a payer that has not signed as payer", async () => {
    const sender = Account.generate();
    const transaction = await buildFirst(sender);
    // Signed for the zero address as payer, which is valid only for the sender.
    const unknowing = session.sign(sponsor, transaction);
    const stranger = session.signAsPayer(Account.generate(), transaction);
    transaction.feePayerAddress = sponsor.accountAddress;
    for (const [feePayer, code] of [
      [unknowing, 1],
      [stranger, 1],
      [session.sign(Account.generate(), transaction), 2],
    ]) {
      const signatures = { sender: session.sign(sender, transaction), feePayer };
      const rejected = await rejection(session.submit(transaction, signatures));
      assert.equal(rejected.data.vm_error_code, code);
    }
  });

  test("rejects a payer without the fee", async () => {
    const [sender, poor] = [await session.funded(), Account.generate()];
    const transaction = await buildFirst(sender);
    const feePayer = session.signAsPayer(poor, transaction);
    const rejected = await rejection(
      session.submit(transaction, { sender: session.sign(sender, transaction), feePayer }),
    );
    assert.equal(rejected.data.vm_error_code, 5, "INSUFFICIENT_BALANCE_FOR_TRANSACTION_FEE");
  });

  test("charges the sponsor for a failed transaction", async () => {
    const sender = Account.generate();
    const before = await session.balance(sponsor.accountAddress);
    const transaction = await build(sender, TRANSFER, [sponsor.accountAddress, 1]);
    const feePayer = session.signAsPayer(sponsor, transaction);
    const done = await session.submit(transaction, {
      sender: session.sign(sender, transaction),
      feePayer,
    });
    assert.equal(done.success, false);
    assert.match(done.vm_status, /^Move abort in 0x1::/);
    assert.equal(await session.balance(sponsor.accountAddress), before - fee(done));
  });

  test("accepts a passkey as sender and a multi key account as payer", async () => {
    const sender = KINDS["single key WebAuthn"]();
    const payer = await session.funded(KINDS["multi key, secp256k1 and WebAuthn of 3"]());
    const before = await session.balance(payer.accountAddress);
    const transaction = await buildFirst(sender);
    const signatures = {
      sender: session.sign(sender, transaction),
      feePayer: session.signAsPayer(payer, transaction),
    };
    const done = await session.submit(transaction, signatures);
    assert.equal(done.success, true, done.vm_status);
    assert.equal(await session.balance(payer.accountAddress), before - fee(done));
    assert.deepEqual(done.signature, transactionSignatureJson(transaction, signatures));
  });

  test("simulates with and without payer and keys, within the tolerance of gas", async () => {
    const sender = Account.generate();
    const transaction = await buildFirst(sender);
    const simulate = async (keys) => {
      const [result] = await session.aptos.transaction.simulate.simple({ transaction, ...keys });
      return result;
    };
    const predicted = [await simulate({}), await simulate({ signerPublicKey: sender.publicKey })];
    const feePayer = session.signAsPayer(sponsor, transaction);
    predicted.push(await simulate({}));
    predicted.push(
      await simulate({ signerPublicKey: sender.publicKey, feePayerPublicKey: sponsor.publicKey }),
    );

    const done = await session.submit(transaction, {
      sender: session.sign(sender, transaction),
      feePayer,
    });
    for (const simulated of predicted) assertPredicted(simulated, done);
  });

  test("simulates the status of a payer without the fee", async () => {
    const transaction = await buildFirst(await session.funded());
    transaction.feePayerAddress = Account.generate().accountAddress;
    const [result] = await session.aptos.transaction.simulate.simple({ transaction });
    assert.equal(result.vm_status, "INSUFFICIENT_BALANCE_FOR_TRANSACTION_FEE");
  });
});
