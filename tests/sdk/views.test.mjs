// View functions, called with the TypeScript SDK with arguments in BCS and in JSON.

import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { Account } from "@aptos-labs/ts-sdk";
import { ASSET, COIN, FUNDED, METADATA, Session, rejection } from "./session.mjs";

describe("views", { timeout: 120_000 }, () => {
  const session = Session.forSuite();
  let account;

  before(async () => {
    account = await session.funded();
  });

  const both = async (name, functionArguments, typeArguments) => {
    const payload = { function: name, functionArguments, typeArguments };
    const withAbi = await session.aptos.view({ payload });
    assert.deepEqual(
      await session.aptos.viewJson({ payload }),
      withAbi,
      `${name} in BCS and in JSON`,
    );
    return withAbi;
  };

  test("returns the same values for arguments in BCS and in JSON", async () => {
    const address = account.accountAddress.toString();
    assert.deepEqual(await both("0x1::coin::balance", [address], [COIN]), [FUNDED.toString()]);
    const info = await session.aptos.getAccountResource({
      accountAddress: "0x1",
      resourceType: `0x1::coin::CoinInfo<${COIN}>`,
    });
    assert.deepEqual(await both("0x1::coin::symbol", [], [COIN]), [info.symbol]);
    assert.deepEqual(await both("0x1::coin::decimals", [], [COIN]), [8]);
    assert.deepEqual(await both("0x1::coin::is_coin_initialized", [], [`${address}::moon::Moon`]), [
      false,
    ]);
    assert.deepEqual(await both("0x1::chain_id::get", []), [4]);
    const [{ vec: supply }] = await both("0x1::coin::supply", [], [COIN]);
    assert.equal(supply.length, 1);
    assert.ok(BigInt(supply[0]) >= BigInt(FUNDED));
  });

  test("accepts strings and objects", async () => {
    assert.deepEqual(
      await both("0x1::registry::get", [account.accountAddress.toString(), "nothing"]),
      [{ vec: [] }],
    );
    assert.deepEqual(await both("0x1::fungible_asset::decimals", [ASSET], [METADATA]), [8]);
  });

  test("reads the state at a version", async () => {
    const payload = {
      function: "0x1::coin::balance",
      functionArguments: [account.accountAddress],
      typeArguments: [COIN],
    };
    const { ledger_version: now } = await session.aptos.getLedgerInfo();
    await session.call(account, "0x1::aptos_account::transfer", [
      Account.generate().accountAddress,
      1,
    ]);
    assert.deepEqual(await session.aptos.view({ payload, options: { ledgerVersion: now } }), [
      FUNDED.toString(),
    ]);
    const [left] = await session.aptos.view({ payload });
    assert.ok(Number(left) < FUNDED);
  });

  test("rejects a view that aborts or cannot be called", async () => {
    const view = (name, functionArguments, typeArguments) =>
      rejection(
        session.aptos.viewJson({ payload: { function: name, functionArguments, typeArguments } }),
      );
    const entry = await view(
      "0x1::coin::transfer",
      [account.accountAddress.toString(), "1"],
      [COIN],
    );
    assert.equal(entry.status, 400);
    const arity = await view("0x1::coin::balance", [], [COIN]);
    assert.equal(arity.status, 400);
    const aborted = await view("0x1::multisig_account::get_transaction", [
      account.accountAddress.toString(),
      "1",
    ]);
    assert.equal(aborted.status, 400);
    for (const error of [entry, arity, aborted])
      assert.equal(error.data.error_code, "invalid_input");
  });

  test("lists every module with its ABI", async () => {
    const modules = await session.aptos.getAccountModules({ accountAddress: "0x1" });
    const names = modules.map(({ abi }) => abi.name);
    assert.deepEqual(new Set(names).size, names.length, "each once");
    for (const name of ["account", "coin", "object", "registry", "multisig_account"]) {
      const listed = modules.find(({ abi }) => abi.name === name);
      assert.ok(listed, `${name} among ${names.join(", ")}`);
      const alone = await session.aptos.getAccountModule({
        accountAddress: "0x1",
        moduleName: name,
      });
      assert.deepEqual(listed, alone);
    }
    assert.deepEqual(
      await session.aptos.getAccountModules({ accountAddress: account.accountAddress }),
      [],
    );
  });
});
