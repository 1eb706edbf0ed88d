// Creation, transfer, freezing and burning of a fungible asset with the TypeScript SDK.

import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { Account, createObjectAddress } from "@aptos-labs/ts-sdk";
import { METADATA, STORE, Session, eventOf, primaryStore, sameAddress } from "./session.mjs";

const MANAGED = "0x1::managed_fungible_asset";
const MAXIMUM = 10_000;

describe("a fungible asset", { timeout: 120_000 }, () => {
  const session = Session.forSuite();
  let creator;
  let holder;
  let made = 0;

  before(async () => {
    creator = await session.funded();
    holder = await session.funded();
  });

  /** Creates an asset and mints `minted` units to the holder. Returns its metadata address. */
  async function asset({ minted = 1000 } = {}) {
    const symbol = `M${(made += 1)}`;
    await session.call(creator, `${MANAGED}::create`, [
      "Moon dust",
      symbol,
      6,
      "https://example.org/icon",
      "https://example.org",
      MAXIMUM,
    ]);
    const metadata = createObjectAddress(creator.accountAddress, symbol);
    if (minted > 0)
      await session.call(creator, `${MANAGED}::mint`, [metadata, holder.accountAddress, minted]);
    return metadata;
  }

  const balance = ({ accountAddress }, metadata) =>
    session.aptos.getBalance({ accountAddress, asset: metadata.toString() });
  const view = (name, functionArguments, typeArguments = [METADATA]) =>
    session.view(`0x1::${name}`, functionArguments, typeArguments);

  test("is created at the address that the SDK derives, with its metadata", async () => {
    const metadata = await asset({ minted: 0 });
    sameAddress(
      (await session.view(`${MANAGED}::asset_address`, [creator.accountAddress, `M${made}`]))[0],
      metadata,
    );
    assert.deepEqual(await view("fungible_asset::name", [metadata]), ["Moon dust"]);
    assert.deepEqual(await view("fungible_asset::symbol", [metadata]), [`M${made}`]);
    assert.deepEqual(await view("fungible_asset::decimals", [metadata]), [6]);
    assert.deepEqual(await view("fungible_asset::maximum", [metadata]), [
      { vec: [MAXIMUM.toString()] },
    ]);
    assert.deepEqual(await view("fungible_asset::supply", [metadata]), [{ vec: ["0"] }]);
    sameAddress((await view("object::owner", [metadata]))[0], creator.accountAddress);
    const described = await session.aptos.getAccountResource({
      accountAddress: metadata,
      resourceType: METADATA,
    });
    assert.equal(described.icon_uri, "https://example.org/icon");
  });

  test("is minted into the primary store at the address that the SDK derives", async () => {
    const metadata = await asset({ minted: 0 });
    const done = await session.call(creator, `${MANAGED}::mint`, [
      metadata,
      holder.accountAddress,
      700,
    ]);
    const store = primaryStore(holder.accountAddress, metadata);
    const deposit = eventOf(done, "0x1::fungible_asset::Deposit").data;
    sameAddress(deposit.store, store);
    assert.equal(deposit.amount, "700");
    sameAddress(
      (
        await view("primary_fungible_store::primary_store_address", [
          holder.accountAddress,
          metadata,
        ])
      )[0],
      store,
    );
    assert.equal(await balance(holder, metadata), 700);
    assert.deepEqual(
      await view("primary_fungible_store::balance", [holder.accountAddress, metadata]),
      ["700"],
    );
    assert.deepEqual(await view("fungible_asset::balance", [store], [STORE]), ["700"]);
    assert.deepEqual(await view("fungible_asset::supply", [metadata]), [{ vec: ["700"] }]);
    const resource = await session.aptos.getAccountResource({
      accountAddress: store,
      resourceType: STORE,
    });
    assert.equal(resource.balance, "700");
    sameAddress(resource.metadata.inner, metadata);
  });

  test("is transferred to a new account by the SDK's method", async () => {
    const metadata = await asset();
    const recipient = Account.generate();
    const transaction = await session.aptos.transferFungibleAsset({
      sender: holder,
      fungibleAssetMetadataAddress: metadata,
      recipient: recipient.accountAddress,
      amount: 400,
    });
    const done = await session.send(holder, transaction);
    assert.equal(done.success, true, done.vm_status);
    assert.equal(eventOf(done, "0x1::fungible_asset::Withdraw").data.amount, "400");
    assert.equal(eventOf(done, "0x1::fungible_asset::Deposit").data.amount, "400");
    assert.equal(await balance(holder, metadata), 600);
    assert.equal(await balance(recipient, metadata), 400);
  });

  test("is not transferred above the balance or minted above the maximum", async () => {
    const metadata = await asset();
    const beyond = await session.attempt(
      holder,
      "0x1::primary_fungible_store::transfer",
      [metadata, creator.accountAddress, 1001],
      [METADATA],
    );
    assert.match(
      beyond.vm_status,
      /^Move abort in 0x1::fungible_asset: EINSUFFICIENT_BALANCE\(0x10004\)/,
    );
    const mint = [metadata, holder.accountAddress, MAXIMUM - 999];
    const minted = await session.attempt(creator, `${MANAGED}::mint`, mint);
    assert.match(
      minted.vm_status,
      /^Move abort in 0x1::fungible_asset: EMAX_SUPPLY_EXCEEDED\(0x20005\)/,
    );
    const stranger = await session.attempt(holder, `${MANAGED}::mint`, [
      metadata,
      holder.accountAddress,
      1,
    ]);
    assert.match(stranger.vm_status, /^Move abort in 0x1::managed_fungible_asset: /);
    assert.equal(await balance(holder, metadata), 1000);
  });

  test("leaves a frozen store only after it is unfrozen", async () => {
    const metadata = await asset();
    const transfer = () =>
      session.attempt(
        holder,
        "0x1::primary_fungible_store::transfer",
        [metadata, creator.accountAddress, 1],
        [METADATA],
      );
    await session.call(creator, `${MANAGED}::freeze`, [metadata, holder.accountAddress]);
    assert.deepEqual(
      await view("primary_fungible_store::is_frozen", [holder.accountAddress, metadata]),
      [true],
    );
    assert.match(
      (await transfer()).vm_status,
      /^Move abort in 0x1::fungible_asset: ESTORE_IS_FROZEN\(0x50003\)/,
    );
    await session.call(creator, `${MANAGED}::unfreeze`, [metadata, holder.accountAddress]);
    assert.equal((await transfer()).success, true);
  });

  test("is burned in a holder's store", async () => {
    const metadata = await asset();
    await session.call(creator, `${MANAGED}::burn`, [metadata, holder.accountAddress, 300]);
    assert.equal(await balance(holder, metadata), 700);
    assert.deepEqual(await view("fungible_asset::supply", [metadata]), [{ vec: ["700"] }]);
  });

  test("moves between two stores by the SDK's method", async () => {
    const metadata = await asset();
    const done = await session.call(holder, `${MANAGED}::create_store`, [metadata]);
    const { store } = eventOf(done, `${MANAGED}::StoreCreation`).data;
    const transaction = await session.aptos.transferFungibleAssetBetweenStores({
      sender: holder,
      fromStore: primaryStore(holder.accountAddress, metadata),
      toStore: store,
      amount: 250,
    });
    const moved = await session.send(holder, transaction);
    assert.equal(moved.success, true, moved.vm_status);
    assert.deepEqual(await view("fungible_asset::balance", [store], [STORE]), ["250"]);
    assert.equal(await balance(holder, metadata), 750);
  });
});
