// Reads of the TypeScript SDK: pages, earlier versions, a large block.

import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { Account } from "@aptos-labs/ts-sdk";
import {
  COIN,
  FUNDED,
  STORE,
  Session,
  primaryStore,
  rejection,
  sameAddress,
} from "./session.mjs";

const ACCOUNT = "0x1::account::Account";
const TRANSFER = "0x1::aptos_account::transfer";
/** More transactions than two pages of a block in the SDK. */
const COUNT = 230;
const PAGE = 100;
/** Seconds until transactions expire. Long, because the machine may be busy. */
const EXPIRY_S = 100;

describe("reads", { timeout: 120_000 }, () => {
  const session = Session.forSuite([
    `mempool.capacity_per_account=${COUNT}`,
    "sequencer.block_time_max_ms=600000",
  ]);
  let sender;
  let recipient;
  /** The sender's committed transactions in order. */
  let sent;

  before(async () => {
    [sender, recipient] = [await session.funded(), Account.generate()];
    const expireTimestamp = Math.floor(Date.now() / 1000) + EXPIRY_S;
    // The first transaction is sent last, so that one block can take all of them.
    const hashes = [];
    for (let number = COUNT - 1; number >= 0; number -= 1) {
      const transaction = await session.aptos.transaction.build.simple({
        sender: sender.accountAddress,
        data: { function: TRANSFER, functionArguments: [recipient.accountAddress, number + 1] },
        options: { accountSequenceNumber: number, expireTimestamp },
      });
      hashes.unshift(
        (await session.aptos.signAndSubmitTransaction({ signer: sender, transaction })).hash,
      );
    }
    sent = await Promise.all(
      hashes.map((transactionHash) => session.aptos.waitForTransaction({ transactionHash })),
    );
  });

  test("returns transactions from a version", async () => {
    const { version } = sent[0];
    const listed = await session.aptos.getTransactions({
      options: { offset: BigInt(version), limit: 30 },
    });
    assert.equal(listed.length, 30);
    assert.deepEqual(
      listed.map((one) => Number(one.version)),
      listed.map((_, at) => Number(version) + at),
    );
    assert.deepEqual(listed[0], sent[0]);
    const newest = await session.aptos.getTransactions();
    assert.equal(newest.length, 25, "a page without an offset holds the newest");
    const pastEnd = await rejection(
      session.aptos.getTransactions({ options: { offset: 10_000_000 } }),
    );
    assert.deepEqual([pastEnd.status, pastEnd.data.error_code], [400, "invalid_input"]);
  });

  test("returns the transactions of an account", async () => {
    const all = [];
    for (let offset = 0; offset < COUNT; offset += PAGE) {
      const options = { offset, limit: PAGE };
      all.push(
        ...(await session.aptos.getAccountTransactions({
          accountAddress: sender.accountAddress,
          options,
        })),
      );
    }
    assert.deepEqual(all, sent);
    const none = await session.aptos.getAccountTransactions({
      accountAddress: recipient.accountAddress,
    });
    assert.deepEqual(none, []);
  });

  test("returns a block with more transactions than a page", async () => {
    const ledgerVersion = sent[PAGE].version;
    const block = await session.aptos.getBlockByVersion({
      ledgerVersion,
      options: { withTransactions: true },
    });
    const count = Number(block.last_version) - Number(block.first_version) + 1;
    assert.ok(count > 2 * PAGE, `a block of ${count} transactions`);
    const versions = block.transactions.map(({ version }) => Number(version));
    assert.deepEqual(
      versions,
      Array.from({ length: count }, (_, at) => Number(block.first_version) + at),
    );
    const without = await session.aptos.getBlockByVersion({ ledgerVersion });
    assert.deepEqual(
      [without.transactions ?? null, without.block_height],
      [null, block.block_height],
    );
    const byHeight = await session.aptos.getBlockByHeight({
      blockHeight: BigInt(block.block_height),
      options: { withTransactions: true },
    });
    assert.deepEqual(byHeight, block);
  });

  test("returns all resources of an account, whole and in pages", async () => {
    const own = await session.aptos.getAccountResources({
      accountAddress: sender.accountAddress,
    });
    assert.deepEqual(
      own.map(({ type }) => type),
      [ACCOUNT],
    );
    const accountAddress = primaryStore(sender.accountAddress);
    const resources = await session.aptos.getAccountResources({ accountAddress });
    const types = resources.map(({ type }) => type);
    assert.deepEqual(new Set(types).size, types.length, "each once");
    for (const resourceType of ["0x1::object::ObjectCore", STORE]) {
      const { data } =
        resources.find(({ type }) => type === resourceType) ?? assert.fail(`no ${resourceType}`);
      assert.deepEqual(
        data,
        await session.aptos.getAccountResource({ accountAddress, resourceType }),
      );
    }
    const pages = [];
    let cursor;
    do {
      const options = { limit: 1, cursor };
      const page = await session.aptos.getAccountResourcesPage({ accountAddress, options });
      pages.push(page.resources);
      cursor = page.cursor;
    } while (cursor !== undefined);
    assert.ok(pages.length > 1, `${pages.length} pages`);
    assert.deepEqual(pages.flat(), resources);
    const unknown = Account.generate().accountAddress;
    assert.deepEqual(await session.aptos.getAccountResources({ accountAddress: unknown }), []);
  });

  test("returns modules in pages", async () => {
    const all = await session.aptos.getAccountModules({ accountAddress: "0x1" });
    const listed = [];
    let cursor;
    do {
      const page = await session.aptos.getAccountModulesPage({
        accountAddress: "0x1",
        options: { limit: 7, cursor },
      });
      assert.ok(page.modules.length <= 7);
      listed.push(...page.modules);
      cursor = page.cursor;
    } while (cursor !== undefined);
    assert.deepEqual(listed, all);
    const { modules } = await session.aptos.getAccountModulesPage({ accountAddress: "0x1" });
    assert.deepEqual(modules, all, "all fit the SDK's own page");
  });

  test("returns the state at a version", async () => {
    const { accountAddress } = sender;
    const options = { ledgerVersion: BigInt(sent[0].version) - 1n };
    const store = await session.aptos.getAccountResource({
      accountAddress: primaryStore(accountAddress),
      resourceType: STORE,
      options,
    });
    assert.equal(store.balance, FUNDED.toString());
    const after = { ledgerVersion: BigInt(sent[2].version) };
    const paid = {
      accountAddress: primaryStore(recipient.accountAddress),
      resourceType: STORE,
      options: after,
    };
    assert.equal((await session.aptos.getAccountResource(paid)).balance, String(1 + 2 + 3));
    const payload = {
      function: "0x1::coin::balance",
      typeArguments: [COIN],
      functionArguments: [recipient.accountAddress],
    };
    assert.deepEqual(await session.aptos.view({ payload, options: after }), ["6"]);
    const inJson = { ...payload, functionArguments: [recipient.accountAddress.toString()] };
    assert.deepEqual(await session.aptos.viewJson({ payload: inJson, options: after }), ["6"]);
    const module = { accountAddress: "0x1", moduleName: "coin", options };
    assert.equal((await session.aptos.getAccountModule(module)).abi.name, "coin");
    const authenticationKey = sender.publicKey.authKey().toString();
    sameAddress(
      await session.aptos.lookupOriginalAccountAddress({ authenticationKey, options }),
      accountAddress,
    );
  });

  test("rejects versions above the newest one", async () => {
    const { accountAddress } = sender;
    const options = { ledgerVersion: 10_000_000n };
    const above = [
      session.aptos.getAccountResource({ accountAddress, resourceType: ACCOUNT, options }),
      session.aptos.getAccountModule({
        accountAddress: "0x1",
        moduleName: "coin",
        options: { ledgerVersion: 10_000_001n },
      }),
      session.aptos.viewJson({ payload: { function: "0x1::chain_id::get" }, options }),
    ];
    // All are awaited together, because Node.js ends on a rejected promise without a handler.
    for (const { status, data } of await Promise.all(above.map(rejection))) {
      assert.deepEqual([status, data.error_code], [404, "version_not_found"]);
    }
  });
});
