// Transactions that several accounts sign, with the TypeScript SDK: two give one another assets, or
// neither gives anything.

import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { Account, createObjectAddress } from "@aptos-labs/ts-sdk";
import { KINDS, transactionSignatureJson } from "./kinds.mjs";
import {
  ASSET,
  METADATA,
  Session,
  assertForetold,
  eventOf,
  fee,
  refusal,
  sameAddress,
} from "./session.mjs";

const EXCHANGE = "0x1::exchange::exchange_assets";
const MINTED = 1_000;
/** What the first gives of the chain's coin, and the second of its own asset. */
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

  /** `account` with goods to sell. */
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

  /** Both signatures, for a buyer and one seller. */
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

  test("two accounts exchange assets, and the first pays the fee", async () => {
    const [buyer, other] = [await session.funded(), await seller()];
    const before = await coinsOf(buyer);
    const transaction = await build(buyer, [other]);
    const signatures = byBoth(transaction, buyer, other);
    const done = await session.submit(transaction, signatures);
    await assertExchanged(done, buyer, other);
    assert.equal(await coinsOf(buyer), before - PRICE - fee(done));
    assert.deepEqual(done.signature, transactionSignatureJson(transaction, signatures));
  });

  test("a third account pays the fee", async () => {
    const [buyer, other, sponsor] = [Account.generate(), await seller(), await session.funded()];
    await session.call(creator, "0x1::aptos_account::transfer", [buyer.accountAddress, PRICE]);
    const before = await coinsOf(sponsor);
    const transaction = await build(buyer, [other], { withFeePayer: true });
    // The sellers need not know who pays.
    const secondary = [session.sign(other, transaction)];
    const feePayer = session.signAsPayer(sponsor, transaction);
    const signatures = { sender: session.sign(buyer, transaction), secondary, feePayer };
    const done = await session.submit(transaction, signatures);
    await assertExchanged(done, buyer, other);
    assert.equal(await coinsOf(buyer), 0);
    assert.equal(await coinsOf(sponsor), before - fee(done));
    assert.deepEqual(done.signature, transactionSignatureJson(transaction, signatures));
  });

  test("the second account pays the fee", async () => {
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

  test("the signers' kinds may differ", async () => {
    const buyer = await session.funded(KINDS["multi-ed25519, 2 of 3"]());
    const other = await seller(KINDS["multi key, secp256k1 and WebAuthn of 3"]());
    const transaction = await build(buyer, [other]);
    const signatures = byBoth(transaction, buyer, other);
    const done = await session.submit(transaction, signatures);
    await assertExchanged(done, buyer, other);
    assert.deepEqual(done.signature, transactionSignatureJson(transaction, signatures));
  });

  test("neither gives anything where one cannot", async () => {
    const [buyer, other] = [await session.funded(), await seller()];
    const before = await coinsOf(buyer);
    const transaction = await build(buyer, [other], { goodsAmount: MINTED + 1 });
    const done = await session.submit(transaction, byBoth(transaction, buyer, other));
    assert.equal(done.success, false);
    assert.match(done.vm_status, /^Move abort in 0x1::fungible_asset: EINSUFFICIENT_BALANCE\(/);
    assert.equal(await coinsOf(buyer), before - fee(done));
    assert.equal(await goodsOf(other), MINTED);
  });

  test("every account must have signed this, by its own key", async () => {
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
      const refused = await refusal(session.submit(transaction, { sender, secondary }));
      assert.equal(refused.data.vm_error_code, code, refused.data.message);
    }
  });

  test("nobody signs twice", async () => {
    const [buyer, other] = [await session.funded(), await seller()];
    for (const others of [[buyer], [other, other]]) {
      const transaction = await build(buyer, others);
      const secondary = others.map((account) => session.sign(account, transaction));
      const signatures = { sender: session.sign(buyer, transaction), secondary };
      const refused = await refusal(session.submit(transaction, signatures));
      assert.equal(refused.data.vm_error_code, 28, "SIGNERS_CONTAIN_DUPLICATES");
    }
  });

  test("a function is called with as many signers as it takes", async () => {
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

  test("is simulated with keys and without, with a payer and without, at about the real gas", async () => {
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
      const foretold = [await simulate({}), await simulate(keys)];
      const feePayer = withFeePayer ? session.signAsPayer(sponsor, transaction) : undefined;
      const done = await session.submit(transaction, {
        ...byBoth(transaction, buyer, other),
        feePayer,
      });
      assert.equal(done.success, true, done.vm_status);
      for (const simulated of foretold) assertForetold(simulated, done);
    }
  });
});
