// Transactions across a restart of the node, with the TypeScript SDK.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Account } from "@aptos-labs/ts-sdk";
import { KINDS } from "./kinds.mjs";
import { Session, rejection } from "./session.mjs";

const TRANSFER = "0x1::aptos_account::transfer";

describe("a restarted node", { timeout: 120_000 }, () => {
  const session = Session.forSuite();
  const build = (sender, options) =>
    session.aptos.transaction.build.simple({
      sender: sender.accountAddress,
      data: { function: TRANSFER, functionArguments: [Account.generate().accountAddress, 1] },
      options,
    });
  const submit = (signer, transaction) =>
    session.aptos.signAndSubmitTransaction({ signer, transaction });
  /** Longer than a restart, shorter than the maximum of orderless transactions. */
  const expireTimestamp = () => Math.floor(Date.now() / 1000) + 90;

  test("rejects nonces that were used before", async () => {
    const sender = await session.funded();
    const options = () => ({ replayProtectionNonce: 7n, expireTimestamp: expireTimestamp() });
    assert.equal((await session.send(sender, await build(sender, options()))).success, true);
    await session.restart();
    const rejected = await rejection(submit(sender, await build(sender, options())));
    assert.equal(rejected.data.vm_error_code, 42, "NONCE_ALREADY_USED");
    const other = await build(sender, { ...options(), replayProtectionNonce: 8n });
    assert.equal((await session.send(sender, other)).success, true);
  });

  test("commits parked transactions of every kind of signature", async () => {
    const accounts = [];
    for (const make of Object.values(KINDS)) accounts.push(await session.funded(make()));
    const numbered = (account, accountSequenceNumber) =>
      build(account, { accountSequenceNumber, expireTimestamp: expireTimestamp() });
    const parked = [];
    for (const account of accounts) parked.push(await submit(account, await numbered(account, 1)));
    await session.restart();
    for (const account of accounts) await submit(account, await numbered(account, 0));
    for (const { hash } of parked)
      await session.aptos.waitForTransaction({ transactionHash: hash });
  });
});
