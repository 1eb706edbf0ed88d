// Submission and waiting with the TypeScript SDK, for transactions that fail, wait or are rejected.

import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, test } from "node:test";
import { Account, Hex, TransactionWorkerEventsEnum } from "@aptos-labs/ts-sdk";
import { COIN, FUNDED, Session, rejection, sameAddress } from "./session.mjs";

const TRANSFER = "0x1::aptos_account::transfer";
const UNKNOWN_HASH = `0x${"5".repeat(64)}`;

describe("sending", { timeout: 120_000 }, () => {
  const session = Session.forSuite();
  const build = (sender, options, amount = 1) =>
    session.aptos.transaction.build.simple({
      sender: sender.accountAddress,
      data: { function: TRANSFER, functionArguments: [Account.generate().accountAddress, amount] },
      options,
    });

  test("reports a transaction as pending until the earlier one arrives", async () => {
    const sender = await session.funded();
    const submit = async (number) => {
      const transaction = await build(sender, { accountSequenceNumber: number });
      return session.aptos.signAndSubmitTransaction({ signer: sender, transaction });
    };
    const { hash: transactionHash } = await submit(1);
    assert.equal(await session.aptos.isPendingTransaction({ transactionHash }), true);
    const impatient = session.aptos.waitForTransaction({
      transactionHash,
      options: { timeoutSecs: 1 },
    });
    await assert.rejects(impatient, /timed out in pending state after 1 seconds/);
    await submit(0);
    assert.equal((await session.aptos.waitForTransaction({ transactionHash })).success, true);
    assert.equal(await session.aptos.isPendingTransaction({ transactionHash }), false);
    // The SDK reports an unknown hash as pending.
    assert.equal(await session.aptos.isPendingTransaction({ transactionHash: UNKNOWN_HASH }), true);
  });

  test("ends a wait for an unknown hash with the node's error", async () => {
    const waited = session.aptos.waitForTransaction({
      transactionHash: UNKNOWN_HASH,
      options: { timeoutSecs: 1 },
    });
    const { status, data } = await rejection(waited);
    assert.deepEqual([status, data.error_code], [404, "transaction_not_found"]);
    const malformed = await rejection(
      session.aptos.waitForTransaction({ transactionHash: "0x12" }),
    );
    assert.deepEqual([malformed.status, malformed.data.error_code], [400, "web_framework_error"]);
  });

  test("throws for a failed transaction unless checkSuccess is false", async () => {
    const sender = await session.funded();
    const transaction = await build(sender, {}, FUNDED * 10);
    const { hash: transactionHash } = await session.aptos.signAndSubmitTransaction({
      signer: sender,
      transaction,
    });
    await assert.rejects(
      session.aptos.waitForTransaction({ transactionHash }),
      /failed with an error: Move abort in/,
    );
    const options = { checkSuccess: false };
    assert.equal(
      (await session.aptos.waitForTransaction({ transactionHash, options })).success,
      false,
    );
  });

  test("the node computes the SDK's signing message", async () => {
    const sender = await session.funded();
    const transaction = await build(sender);
    const raw = transaction.rawTransaction;
    const message = Hex.fromHexInput(session.aptos.getSigningMessage({ transaction })).toString();
    const response = await fetch(`${session.api}/transactions/encode_submission`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        sender: raw.sender.toString(),
        sequence_number: raw.sequence_number.toString(),
        max_gas_amount: raw.max_gas_amount.toString(),
        gas_unit_price: raw.gas_unit_price.toString(),
        expiration_timestamp_secs: raw.expiration_timestamp_secs.toString(),
        payload: {
          type: "entry_function_payload",
          function: TRANSFER,
          type_arguments: [],
          arguments: [
            `0x${Buffer.from(raw.payload.entryFunction.args[0].bcsToBytes()).toString("hex")}`,
            "1",
          ],
        },
      }),
    });
    assert.equal(await response.json(), message);
  });

  test("the fee payer signs and submits", async () => {
    const [sender, feePayer] = [Account.generate(), await session.funded()];
    const transaction = await session.aptos.transaction.build.simple({
      sender: sender.accountAddress,
      withFeePayer: true,
      data: {
        function: "0x1::aptos_account::create_account",
        functionArguments: [Account.generate().accountAddress],
      },
    });
    const senderAuthenticator = session.aptos.sign({ signer: sender, transaction });
    const { hash } = await session.aptos.signAndSubmitAsFeePayer({
      feePayer,
      senderAuthenticator,
      transaction,
    });
    const done = await session.aptos.waitForTransaction({ transactionHash: hash });
    sameAddress(done.signature.fee_payer_address, feePayer.accountAddress);
    assert.ok((await session.balance(feePayer.accountAddress)) < FUNDED);

    const next = await session.aptos.transaction.build.simple({
      sender: sender.accountAddress,
      withFeePayer: true,
      data: {
        function: "0x1::aptos_account::create_account",
        functionArguments: [Account.generate().accountAddress],
      },
    });
    const ofSender = session.aptos.sign({ signer: sender, transaction: next });
    const feePayerAuthenticator = session.aptos.signAsFeePayer({
      signer: feePayer,
      transaction: next,
    });
    const submitted = await session.aptos.transaction.submit.simple({
      transaction: next,
      senderAuthenticator: ofSender,
      feePayerAuthenticator,
    });
    await session.aptos.waitForTransaction({ transactionHash: submitted.hash });
  });

  test("executes a batch of one account", async () => {
    const [sender, recipient] = [await session.funded(), Account.generate().accountAddress];
    const finished = once(
      session.aptos.transaction.batch,
      TransactionWorkerEventsEnum.ExecutionFinish,
    );
    const data = [1, 2, 3].map((amount) => ({
      function: TRANSFER,
      functionArguments: [recipient, amount],
    }));
    await session.aptos.batchTransactionsForSingleAccount({ sender, data });
    await finished;
    assert.equal(await session.balance(recipient), 6);
  });

  test("reports a module that the node does not have", async () => {
    const { accountAddress } = await session.funded();
    const { status, data } = await rejection(
      session.aptos.account.abstraction.getAuthenticationFunction({ accountAddress }),
    );
    assert.deepEqual([status, data.error_code], [400, "invalid_input"]);
    const unknown = await rejection(
      session.build({ accountAddress }, "0x1::no_such_module::f", [], [COIN]),
    );
    assert.deepEqual([unknown.status, unknown.data.error_code], [404, "module_not_found"]);
  });
});
