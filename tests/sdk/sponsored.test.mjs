// Transactions that another account pays for, with the TypeScript SDK.

import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { Account } from "@aptos-labs/ts-sdk";
import { KINDS, transactionSignatureJson } from "./kinds.mjs";
import { FUNDED, Session, assertForetold, fee, refusal, sameAddress } from "./session.mjs";

const TRANSFER = "0x1::aptos_account::transfer";
const CREATE = "0x1::aptos_account::create_account";
/** What a sender has, and sends on to the last unit. */
const ALL = 777;

describe("sponsored transactions", { timeout: 120_000 }, () => {
  const session = Session.forSuite();
  let sponsor;

  before(async () => {
    sponsor = await session.funded();
  });

  /** A transaction whose payer is still unknown: the SDK puts the zero address in its place. */
  const build = (sender, name, functionArguments) =>
    session.aptos.transaction.build.simple({
      sender: sender.accountAddress,
      withFeePayer: true,
      data: { function: name, functionArguments },
    });
  /** A new account's first transaction, which needs no coins of its own. */
  const buildFirst = (sender) => build(sender, CREATE, [Account.generate().accountAddress]);
  const paidWith = async (accountAddress, amount) =>
    session.call(sponsor, TRANSFER, [accountAddress, amount]);

  test("the fee leaves the sponsor exactly, and the sender keeps what it had", async () => {
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

  test("an account that was never seen sends its first transaction", async () => {
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

  test("the sender may sign before or after it knows who pays", async () => {
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

  test("a sender may be its own sponsor", async () => {
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

  test("who pays must have signed that it pays", async () => {
    const sender = Account.generate();
    const transaction = await buildFirst(sender);
    // Signed as if somebody unknown would pay, which is enough for the sender only.
    const unknowing = session.sign(sponsor, transaction);
    const stranger = session.signAsPayer(Account.generate(), transaction);
    transaction.feePayerAddress = sponsor.accountAddress;
    for (const [feePayer, code] of [
      [unknowing, 1],
      [stranger, 1],
      [session.sign(Account.generate(), transaction), 2],
    ]) {
      const signatures = { sender: session.sign(sender, transaction), feePayer };
      const refused = await refusal(session.submit(transaction, signatures));
      assert.equal(refused.data.vm_error_code, code);
    }
  });

  test("who pays must be able to", async () => {
    const [sender, poor] = [await session.funded(), Account.generate()];
    const transaction = await buildFirst(sender);
    const feePayer = session.signAsPayer(poor, transaction);
    const refused = await refusal(
      session.submit(transaction, { sender: session.sign(sender, transaction), feePayer }),
    );
    assert.equal(refused.data.vm_error_code, 5, "INSUFFICIENT_BALANCE_FOR_TRANSACTION_FEE");
  });

  test("a transaction that fails is paid for too", async () => {
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

  test("a passkey sends and a multi key account pays", async () => {
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

  test("is simulated with the payer unknown and known, with keys and without, at about the real gas", async () => {
    const sender = Account.generate();
    const transaction = await buildFirst(sender);
    const simulate = async (keys) => {
      const [result] = await session.aptos.transaction.simulate.simple({ transaction, ...keys });
      return result;
    };
    const foretold = [await simulate({}), await simulate({ signerPublicKey: sender.publicKey })];
    const feePayer = session.signAsPayer(sponsor, transaction);
    foretold.push(await simulate({}));
    foretold.push(
      await simulate({ signerPublicKey: sender.publicKey, feePayerPublicKey: sponsor.publicKey }),
    );

    const done = await session.submit(transaction, {
      sender: session.sign(sender, transaction),
      feePayer,
    });
    for (const simulated of foretold) assertForetold(simulated, done);
  });

  test("a simulation tells that the payer cannot pay", async () => {
    const transaction = await buildFirst(await session.funded());
    transaction.feePayerAddress = Account.generate().accountAddress;
    const [result] = await session.aptos.transaction.simulate.simple({ transaction });
    assert.equal(result.vm_status, "INSUFFICIENT_BALANCE_FOR_TRANSACTION_FEE");
  });
});
