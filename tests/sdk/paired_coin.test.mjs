// A coin and its paired fungible asset share one balance in every read and transfer of the
// TypeScript SDK.

import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { Account } from "@aptos-labs/ts-sdk";
import { ASSET, COIN, FUNDED, METADATA, Session, eventOf, sameAddress } from "./session.mjs";

describe("a balance of coin and paired asset", { timeout: 120_000 }, () => {
  const session = Session.forSuite();
  let owner;

  before(async () => {
    owner = await session.funded();
  });

  /** Asserts that every read returns this balance of an account. */
  async function assertBalance({ accountAddress }, coinType, metadata, amount) {
    const amounts = {
      "the balance of the coin": await session.aptos.getBalance({
        accountAddress,
        asset: coinType,
      }),
      "the balance of the asset": await session.aptos.getBalance({
        accountAddress,
        asset: metadata,
      }),
      "getAccountCoinAmount by type": await session.aptos.getAccountCoinAmount({
        accountAddress,
        coinType,
      }),
      "getAccountCoinAmount by metadata": await session.aptos.getAccountCoinAmount({
        accountAddress,
        faMetadataAddress: metadata,
      }),
      "coin::balance": await first("0x1::coin::balance", [accountAddress], coinType),
      "primary_fungible_store::balance": await first(
        "0x1::primary_fungible_store::balance",
        [accountAddress, metadata],
        METADATA,
      ),
    };
    for (const [name, found] of Object.entries(amounts)) assert.equal(Number(found), amount, name);
  }
  const first = async (name, functionArguments, type) =>
    (await session.view(name, functionArguments, [type]))[0];

  const transferCoin = (sender, recipient, coinType, amount) =>
    session.call(
      sender,
      "0x1::aptos_account::transfer_coins",
      [recipient.accountAddress, amount],
      [coinType],
    );
  const transferAsset = async (sender, recipient, metadata, amount) => {
    const transaction = await session.aptos.transferFungibleAsset({
      sender,
      fungibleAssetMetadataAddress: metadata,
      recipient: recipient.accountAddress,
      amount,
    });
    const done = await session.send(sender, transaction);
    assert.equal(done.success, true, done.vm_status);
    return done;
  };

  test("transfers the native coin as a coin and as an asset", async () => {
    const [payer, recipient] = [await session.funded(), await session.funded()];
    await transferCoin(owner, recipient, COIN, 5);
    await assertBalance(recipient, COIN, ASSET, FUNDED + 5);
    await transferAsset(owner, recipient, ASSET, 6);
    await assertBalance(recipient, COIN, ASSET, FUNDED + 11);

    const paid = await transferAsset(payer, recipient, ASSET, 7);
    const fee = Number(paid.gas_used) * Number(paid.gas_unit_price);
    const { storage_fee_refund_octas: refund } = paid.events.at(-1).data;
    await assertBalance(payer, COIN, ASSET, FUNDED - 7 - fee + Number(refund));
    await assertBalance(recipient, COIN, ASSET, FUNDED + 18);
  });

  test("pays many accounts in one transaction, in coins or assets", async () => {
    const recipients = [Account.generate(), Account.generate()];
    const addresses = recipients.map(({ accountAddress }) => accountAddress);
    await session.call(owner, "0x1::aptos_account::batch_transfer", [addresses, [10, 20]]);
    await session.call(
      owner,
      "0x1::aptos_account::batch_transfer_coins",
      [addresses, [1, 2]],
      [COIN],
    );
    await session.call(owner, "0x1::aptos_account::batch_transfer_fungible_assets", [
      ASSET,
      addresses,
      [100, 200],
    ]);
    await session.call(owner, "0x1::aptos_account::transfer_fungible_assets", [
      ASSET,
      addresses[1],
      1000,
    ]);
    await assertBalance(recipients[0], COIN, ASSET, 111);
    await assertBalance(recipients[1], COIN, ASSET, 1222);
  });

  test("an account created by a transfer of the asset has the coin", async () => {
    const [byAsset, byCoin] = [Account.generate(), Account.generate()];
    await transferAsset(owner, byAsset, ASSET, 12_345);
    await transferCoin(owner, byCoin, COIN, 54_321);
    await assertBalance(byAsset, COIN, ASSET, 12_345);
    await assertBalance(byCoin, COIN, ASSET, 54_321);
    for (const [{ accountAddress }, amount] of [
      [byAsset, 12_345],
      [byCoin, 54_321],
    ]) {
      assert.equal(await session.aptos.getAccountAPTAmount({ accountAddress }), amount);
    }
  });

  test("the first operation on a user's coin creates its paired asset", async () => {
    const moon = `${owner.accountAddress}::moon::Moon`;
    await session.call(owner, "0x1::managed_coin::initialize", ["Moon", "MOON", 6, true], [moon]);
    const paired = async () => {
      const [metadata] = await session.view("0x1::coin::paired_metadata", [], [moon]);
      return metadata.vec;
    };
    assert.deepEqual(await paired(), []);
    const [byCoin, byAsset] = [await session.funded(), Account.generate()];
    const minted = await session.call(
      owner,
      "0x1::managed_coin::mint",
      [byCoin.accountAddress, 1000],
      [moon],
    );
    const { fungible_asset_metadata_address: metadata } = eventOf(
      minted,
      "0x1::coin::PairCreation",
    ).data;
    assert.deepEqual(await paired(), [{ inner: metadata }]);
    const [back] = await session.view("0x1::coin::paired_coin", [metadata]);
    sameAddress(back.vec[0].account_address, owner.accountAddress);
    assert.deepEqual(await session.view("0x1::fungible_asset::symbol", [metadata], [METADATA]), [
      "MOON",
    ]);
    assert.deepEqual(
      await session.view("0x1::fungible_asset::decimals", [metadata], [METADATA]),
      [6],
    );

    await assertBalance(byCoin, moon, metadata, 1000);
    await transferAsset(byCoin, byAsset, metadata, 300);
    await transferCoin(byCoin, byAsset, moon, 50);
    await assertBalance(byCoin, moon, metadata, 650);
    await assertBalance(byAsset, moon, metadata, 350);
    assert.deepEqual(await session.view("0x1::coin::supply", [], [moon]), [{ vec: ["1000"] }]);
    assert.deepEqual(await session.view("0x1::fungible_asset::supply", [metadata], [METADATA]), [
      { vec: ["1000"] },
    ]);
  });

  test("the balances of an unknown coin and of an unknown account are 0", async () => {
    const { accountAddress } = owner;
    const coinType = `${accountAddress}::moon::Nothing`;
    assert.equal(await session.aptos.getBalance({ accountAddress, asset: coinType }), 0);
    const unknown = Account.generate().accountAddress;
    assert.equal(await session.aptos.getAccountAPTAmount({ accountAddress: unknown }), 0);
    const rejected = await session.attempt(
      owner,
      "0x1::aptos_account::transfer_coins",
      [Account.generate().accountAddress, 1],
      [coinType],
    );
    assert.equal(rejected.success, false);
  });
});
