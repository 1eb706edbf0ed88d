// Transactions with several signers, with the TypeScript SDK: an atomic exchange of two assets.

import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { Account, createObjectAddress } from "@aptos-labs/ts-sdk";
import { KINDS, transactionSignatureJson } from "./kinds.mjs";
import {
  ASSET,
  METADATA,
  Session,
  assertPredicted,
  eventOf,
  fee,
  rejection,
  sameAddress,
} from "./session.mjs";

const EXCHANGE = "0x1::exchange::exchange_assets";
const MINTED = 1_000;
/** Amounts of the native coin from the buyer and of the asset from the seller. */
const [PRICE, GOODS] = [250, 40];

describe("multi-agent transactions", { timeout: 120_000 }, () => {
  const session = Session.forSuite();
  let creator;
  let goods;

  before(async () => {
    creator = await session.funded();
    const about = [
      "Goods",
      "GOODS",
      0,
      "https://example.org/icon",
      "https://example.org",
      1_000_000,
    ];
    await session.call(creator, "0x1::managed_fungible_asset::create", about);
    goods = createObjectAddress(creator.accountAddress, "GOODS");
  });

  /** Mints goods to `account` and returns it. */
  async function seller(account = Account.generate()) {
    await session.call(creator, "0x1::managed_fungible_asset::mint", [
      goods,
      account.accountAddress,
      MINTED,
    ]);
    return account;
  }
  const build = (buyer, others, { withFeePayer, goodsAmount = GOODS } = {}) =>
    session.aptos.transaction.build.multiAgent({
      sender: buyer.accountAddress,
      secondarySignerAddresses: others.map((account) => account.accountAddress),
      withFeePayer,
      data: {
        function: EXCHANGE,
        typeArguments: [METADATA, METADATA],
        functionArguments: [ASSET, PRICE, goods, goodsAmount],
      },
    });
  const goodsOf = ({ accountAddress }) =>
    session.aptos.getBalance({ accountAddress, asset: goods.toString() });
  const coinsOf = ({ accountAddress }) => session.balance(accountAddress);

  /** Returns the signatures of a buyer and one seller. */
  const byBoth = (transaction, buyer, other) => ({
    sender: session.sign(buyer, transaction),
    secondary: [session.sign(other, transaction)],
  });

  async function assertExchanged(done, buyer, other) {
    assert.equal(done.success, true, done.vm_status);
    const { first, second, first_amount, second_amount } = eventOf(
      done,
      "0x1::exchange::AssetsExchanged",
    ).data;
    sameAddress(first, buyer.accountAddress);
    sameAddress(second, other.accountAddress);
    assert.deepEqual([first_amount, second_amount], [String(PRICE), String(GOODS)]);
    assert.deepEqual([await goodsOf(buyer), await goodsOf(other)], [GOODS, MINTED - GOODS]);
    assert.equal(await coinsOf(other), PRICE);
  }

  test("exchanges assets of two accounts, and the first pays the fee", async () => {
    const [buyer, other] = [await session.funded(), await seller()];
    const before = await coinsOf(buyer);
    const transaction = await build(buyer, [other]);
    const signatures = byBoth(transaction, buyer, other);
    const done = await session.submit(transaction, signatures);
    await assertExchanged(done, buyer, other);
    assert.equal(await coinsOf(buyer), before - PRICE - fee(done));
    assert.deepEqual(done.signature, transactionSignatureJson(transaction, signatures));
  });

  test("charges the fee to a third account", async () => {
    const [buyer, other, sponsor] = [Account.generate(), await seller(), await session.funded()];
    await session.call(creator, "0x1::aptos_account::transfer", [buyer.accountAddress, PRICE]);
    const before = await coinsOf(sponsor);
    const transaction = await build(buyer, [other], { withFeePayer: true });
    // The seller signs before the fee payer is known.
    const secondary = [session.sign(other, transaction)];
    const feePayer = session.signAsPayer(sponsor, transaction);
    const signatures = { sender: session.sign(buyer, transaction), secondary, feePayer };
    const done = await session.submit(transaction, signatures);
    await assertExchanged(done, buyer, other);
    assert.equal(await coinsOf(buyer), 0);
    assert.equal(await coinsOf(sponsor), before - fee(done));
    assert.deepEqual(done.signature, transactionSignatureJson(transaction, signatures));
  });

  test("charges the fee to the second account", async () => {
    const [buyer, other] = [Account.generate(), await seller(await session.funded())];
    await session.call(creator, "0x1::aptos_account::transfer", [buyer.accountAddress, PRICE]);
    const before = await coinsOf(other);
    const transaction = await build(buyer, [other], { withFeePayer: true });
    const feePayer = session.signAsPayer(other, transaction);
    const done = await session.submit(transaction, {
      ...byBoth(transaction, buyer, other),
      feePayer,
    });
    assert.equal(done.success, true, done.vm_status);
    assert.equal(await coinsOf(buyer), 0);
    assert.equal(await coinsOf(other), before + PRICE - fee(done));
  });

  test("accepts signers of different kinds", async () => {
    const buyer = await session.funded(KINDS["multi-ed25519, 2 of 3"]());
    const other = await seller(KINDS["multi key, secp256k1 and WebAuthn of 3"]());
    const transaction = await build(buyer, [other]);
    const signatures = byBoth(transaction, buyer, other);
    const done = await session.submit(transaction, signatures);
    await assertExchanged(done, buyer, other);
    assert.deepEqual(done.signature, transactionSignatureJson(transaction, signatures));
  });

  test("transfers nothing if one balance is too low", async () => {
    const [buyer, other] = [await session.funded(), await seller()];
    const before = await coinsOf(buyer);
    const transaction = await build(buyer, [other], { goodsAmount: MINTED + 1 });
    const done = await session.submit(transaction, byBoth(transaction, buyer, other));
    assert.equal(done.success, false);
    assert.match(done.vm_status, /^Move abort in 0x1::fungible_asset: EINSUFFICIENT_BALANCE\(/);
    assert.equal(await coinsOf(buyer), before - fee(done));
    assert.equal(await goodsOf(other), MINTED);
  });

  test("rejects missing, foreign and additional signatures", async () => {
    const [buyer, other] = [await session.funded(), await seller()];
    const [transaction, dearer] = [
      await build(buyer, [other]),
      await build(buyer, [other], { goodsAmount: GOODS + 1 }),
    ];
    const sender = session.sign(buyer, transaction);
    for (const [secondary, code] of [
      [[session.sign(other, dearer)], 1],
      [[session.sign(buyer, transaction)], 2],
      [[], 27],
      [[session.sign(other, transaction), session.sign(other, transaction)], 27],
    ]) {
      const rejected = await rejection(session.submit(transaction, { sender, secondary }));
      assert.equal(rejected.data.vm_error_code, code, rejected.data.message);
    }
  });

  test("rejects duplicate signers", async () => {
    const [buyer, other] = [await session.funded(), await seller()];
    for (const others of [[buyer], [other, other]]) {
      const transaction = await build(buyer, others);
      const secondary = others.map((account) => session.sign(account, transaction));
      const signatures = { sender: session.sign(buyer, transaction), secondary };
      const rejected = await rejection(session.submit(transaction, signatures));
      assert.equal(rejected.data.vm_error_code, 28, "SIGNERS_CONTAIN_DUPLICATES");
    }
  });

  test("fails with more signers than the function has", async () => {
    const [buyer, one, two] = [await session.funded(), await seller(), await seller()];
    const transaction = await build(buyer, [one, two]);
    const secondary = [session.sign(one, transaction), session.sign(two, transaction)];
    const done = await session.submit(transaction, {
      sender: session.sign(buyer, transaction),
      secondary,
    });
    assert.equal(done.success, false, done.vm_status);
    assert.deepEqual([await goodsOf(one), await goodsOf(two)], [MINTED, MINTED]);
  });

  test("simulates with and without keys and payer, within the tolerance of gas", async () => {
    const [buyer, other, sponsor] = [
      await session.funded(),
      await seller(),
      await session.funded(),
    ];
    for (const withFeePayer of [false, true]) {
      const transaction = await build(buyer, [other], { withFeePayer });
      const simulate = async (keys) => {
        const [result] = await session.aptos.transaction.simulate.multiAgent({
          transaction,
          ...keys,
        });
        return result;
      };
      const keys = {
        signerPublicKey: buyer.publicKey,
        secondarySignersPublicKeys: [other.publicKey],
      };
      const predicted = [await simulate({}), await simulate(keys)];
      const feePayer = withFeePayer ? session.signAsPayer(sponsor, transaction) : undefined;
      const done = await session.submit(transaction, {
        ...byBoth(transaction, buyer, other),
        feePayer,
      });
      assert.equal(done.success, true, done.vm_status);
      for (const simulated of predicted) assertPredicted(simulated, done);
    }
  });
});
