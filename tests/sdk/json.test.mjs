// Transactions of the TypeScript SDK, submitted in JSON. The node computes the message that the SDK
// signs, and accepts each signature in the form of its own responses.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  Account,
  Hex,
  generateSigningMessageForTransaction,
  generateUserTransactionHash,
} from "@aptos-labs/ts-sdk";
import { KINDS, transactionSignatureJson } from "./kinds.mjs";
import { COIN, Session } from "./session.mjs";

const TRANSFER = "0x1::aptos_account::transfer";
const EXCHANGE = "0x1::exchange::exchange_coins";

describe("transactions in JSON", { timeout: 120_000 }, () => {
  const session = Session.forSuite();

  const transferTo = ({ accountAddress }) => ({
    function: TRANSFER,
    functionArguments: [accountAddress.toString(), "5"],
  });
  const exchange = {
    function: EXCHANGE,
    typeArguments: [COIN, COIN],
    functionArguments: ["7", "3"],
  };
  const build = (sender, data, rest) =>
    session.aptos.transaction.build.simple({ sender: sender.accountAddress, data, ...rest });
  const buildShared = (sender, other, rest) =>
    session.aptos.transaction.build.multiAgent({
      sender: sender.accountAddress,
      secondarySignerAddresses: [other.accountAddress],
      data: exchange,
      ...rest,
    });

  /** Returns the JSON form of a transaction that the SDK built from `data`. */
  function described({ rawTransaction: raw }, data, nonce) {
    return {
      sender: raw.sender.toString(),
      sequence_number: raw.sequence_number.toString(),
      max_gas_amount: raw.max_gas_amount.toString(),
      gas_unit_price: raw.gas_unit_price.toString(),
      expiration_timestamp_secs: raw.expiration_timestamp_secs.toString(),
      replay_protection_nonce: nonce,
      payload: {
        type: "entry_function_payload",
        function: data.function,
        type_arguments: data.typeArguments ?? [],
        arguments: data.functionArguments,
      },
    };
  }

  async function post(path, body) {
    const response = await fetch(`${session.api}/${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    const content = await response.json();
    assert.ok(response.ok, JSON.stringify(content));
    return content;
  }

  async function assertMessage(transaction, description) {
    const message = Hex.fromHexInput(generateSigningMessageForTransaction(transaction)).toString();
    assert.equal(await post("transactions/encode_submission", description), message);
  }

  /** Submits in JSON and compares the hash with that of the SDK's bytes. */
  async function assertAccepted(transaction, description, { sender, secondary, feePayer }) {
    const signature = transactionSignatureJson(transaction, { sender, secondary, feePayer });
    const { hash } = await post("transactions", { ...description, signature });
    const expected = generateUserTransactionHash({
      transaction,
      senderAuthenticator: sender,
      additionalSignersAuthenticators: secondary,
      feePayerAuthenticator: feePayer,
    });
    assert.equal(hash, expected);
    await session.aptos.waitForTransaction({ transactionHash: hash });
  }

  for (const [name, make] of Object.entries(KINDS)) {
    test(`accepts a signature in JSON: ${name}`, async () => {
      const account = await session.funded(make());
      const data = transferTo(Account.generate());
      const transaction = await build(account, data);
      const description = described(transaction, data);
      await assertMessage(transaction, description);
      await assertAccepted(transaction, description, {
        sender: session.sign(account, transaction),
      });
    });
  }

  test("accepts an orderless transaction in JSON", async () => {
    const account = await session.funded();
    const data = transferTo(Account.generate());
    const transaction = await build(account, data, { options: { replayProtectionNonce: 17n } });
    const description = described(transaction, data, "17");
    await assertMessage(transaction, description);
    await assertAccepted(transaction, description, { sender: session.sign(account, transaction) });
  });

  test("accepts a multi-agent transaction in JSON", async () => {
    const [one, other] = [
      await session.funded(),
      await session.funded(KINDS["single key WebAuthn"]()),
    ];
    const transaction = await buildShared(one, other);
    const description = described(transaction, exchange);
    await assertMessage(transaction, {
      ...description,
      secondary_signers: [other.accountAddress.toString()],
    });
    const secondary = [session.sign(other, transaction)];
    await assertAccepted(transaction, description, {
      sender: session.sign(one, transaction),
      secondary,
    });
  });

  test("accepts a sponsored transaction in JSON whose payer is known last", async () => {
    const [account, sponsor] = [await session.funded(), await session.funded()];
    const data = transferTo(Account.generate());
    const transaction = await build(account, data, { withFeePayer: true });
    const description = described(transaction, data);
    await assertMessage(transaction, { ...description, fee_payer_address: "0x0" });
    const sender = session.sign(account, transaction);
    const feePayer = session.signAsPayer(sponsor, transaction);
    await assertMessage(transaction, {
      ...description,
      fee_payer_address: sponsor.accountAddress.toString(),
    });
    await assertAccepted(transaction, description, { sender, feePayer });
  });

  test("accepts a sponsored multi-agent transaction in JSON", async () => {
    const [one, other, sponsor] = [
      await session.funded(),
      await session.funded(),
      await session.funded(),
    ];
    const transaction = await buildShared(one, other, { withFeePayer: true });
    const feePayer = session.signAsPayer(sponsor, transaction);
    const description = described(transaction, exchange);
    await assertMessage(transaction, {
      ...description,
      secondary_signers: [other.accountAddress.toString()],
      fee_payer_address: sponsor.accountAddress.toString(),
    });
    const secondary = [session.sign(other, transaction)];
    await assertAccepted(transaction, description, {
      sender: session.sign(one, transaction),
      secondary,
      feePayer,
    });
  });
});
