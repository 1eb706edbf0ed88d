// Simulation with the TypeScript SDK.

import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { Account, AccountAddress } from "@aptos-labs/ts-sdk";
import { COIN, FUNDED, STORE, Session, primaryStore, sameAddress } from "./session.mjs";

const TRANSFER = "0x1::aptos_account::transfer";

describe("simulation", { timeout: 120_000 }, () => {
  const session = Session.forSuite();
  let sender;

  before(async () => {
    sender = await session.funded();
  });

  /** Returns the simulation of a call, without a public key if `key` is null. */
  async function simulate(
    functionArguments,
    { name = TRANSFER, key = sender.publicKey, options } = {},
  ) {
    const transaction = await session.build(sender, name, functionArguments);
    const signerPublicKey = key ?? undefined;
    const [result] = await session.aptos.transaction.simulate.simple({
      signerPublicKey,
      transaction,
      options,
    });
    return result;
  }

  test("predicts the gas, events and changes of the transaction", async () => {
    const recipient = Account.generate().accountAddress;
    const before = await session.aptos.getAccountInfo({ accountAddress: sender.accountAddress });
    const predicted = await simulate([recipient, 1234]);
    assert.equal(predicted.success, true, predicted.vm_status);
    assert.equal(await session.aptos.getBalance({ accountAddress: recipient, asset: COIN }), 0);
    const after = await session.aptos.getAccountInfo({ accountAddress: sender.accountAddress });
    assert.deepEqual(after, before, "a simulation changes nothing");

    const done = await session.call(sender, TRANSFER, [recipient, 1234]);
    assert.equal(predicted.gas_used, done.gas_used);
    assert.deepEqual(predicted.events, done.events);
    const slots = ({ changes }) =>
      changes.map(({ type, address, data }) => [type, address, data?.type]);
    assert.deepEqual(slots(predicted), slots(done));
    const store = predicted.changes.find(
      ({ address, data }) =>
        data?.type === STORE && AccountAddress.from(address).equals(primaryStore(recipient)),
    );
    assert.equal(store.data.data.balance, "1234");
    sameAddress(predicted.sender, sender.accountAddress);
  });

  test("simulates without a public key", async () => {
    const recipient = Account.generate().accountAddress;
    const [without, withKey] = [
      await simulate([recipient, 1], { key: null }),
      await simulate([recipient, 1]),
    ];
    assert.equal(without.success, true, without.vm_status);
    assert.deepEqual(
      without.events.map(({ type }) => type),
      withKey.events.map(({ type }) => type),
    );
  });

  test("predicts the status and the cost of a failure", async () => {
    const failed = await simulate([Account.generate().accountAddress, FUNDED * 10]);
    assert.equal(failed.success, false);
    assert.match(
      failed.vm_status,
      /^Move abort in 0x1::fungible_asset: EINSUFFICIENT_BALANCE\(0x10004\): .+/,
    );
    assert.ok(BigInt(failed.gas_used) > 0n);
    assert.deepEqual(
      failed.events.map(({ type }) => type),
      ["0x1::transaction_fee::FeeStatement"],
    );
  });

  test("estimates gas price and maximum gas on request", async () => {
    const { gas_estimate: market } = await session.aptos.getGasPriceEstimation();
    const estimated = await simulate([Account.generate().accountAddress, 1], {
      options: { estimateGasUnitPrice: true, estimateMaxGasAmount: true },
    });
    assert.equal(estimated.success, true, estimated.vm_status);
    assert.equal(estimated.gas_unit_price, market.toString());
    assert.ok(BigInt(estimated.max_gas_amount) >= BigInt(estimated.gas_used));
  });

  test("returns the status with which a submission is rejected", async () => {
    const stranger = Account.generate();
    const recipient = stranger.accountAddress;
    const transaction = await session.aptos.transaction.build.simple({
      sender: sender.accountAddress,
      data: { function: TRANSFER, functionArguments: [recipient, 1] },
      options: { expireTimestamp: 1 },
    });
    const signerPublicKey = sender.publicKey;
    const [expired] = await session.aptos.transaction.simulate.simple({
      signerPublicKey,
      transaction,
    });
    const wrongKey = await simulate([recipient, 1], { key: stranger.publicKey });
    for (const [rejected, status] of [
      [expired, "TRANSACTION_EXPIRED"],
      [wrongKey, "INVALID_AUTH_KEY"],
    ]) {
      assert.deepEqual(
        [rejected.success, rejected.vm_status, rejected.gas_used],
        [false, status, "0"],
      );
      assert.deepEqual([rejected.events, rejected.changes], [[], []]);
    }
  });
});
