// A first session with the unmodified TypeScript SDK, against a node with the preset for SDKs
// (config/sdk.toml).
//
// The tests depend on each other and run in order.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import {
  Account,
  AccountAddress,
  Aptos,
  AptosConfig,
  Network,
  generateUserTransactionHash,
} from "@aptos-labs/ts-sdk";
import { NodeProcess } from "./node_process.mjs";
import {
  ASSET,
  COIN,
  STORE,
  endpoints,
  eventOf,
  primaryStore,
  rejection,
  sameAddress,
} from "./session.mjs";

/** With this amount an account can use the SDK's default options, as the preset promises. */
const FUNDED = 100_000_000;
const AMOUNT = 1_234_567;
const U64_TEXT = /^\d+$/;
const HASH_TEXT = /^0x[0-9a-f]{64}$/;

let node;
let aptos;
const alice = Account.generate();
const bob = Account.generate();

function assertRejected(error, status, errorCode, vmErrorCode) {
  assert.equal(error.status, status, `status of ${JSON.stringify(error.data)}`);
  assert.equal(error.data.error_code, errorCode, `error_code of ${JSON.stringify(error.data)}`);
  assert.equal(
    error.data.vm_error_code ?? undefined,
    vmErrorCode,
    `vm_error_code of ${JSON.stringify(error.data)}`,
  );
  assert.equal(typeof error.data.message, "string", "the body of an error has a message");
}

function buildTransfer(sender, recipient, amount, options) {
  return aptos.transaction.build.simple({
    sender: sender.accountAddress,
    data: {
      function: "0x1::aptos_account::transfer",
      functionArguments: [recipient.accountAddress, amount],
    },
    options,
  });
}

async function submitTransfer(sender, recipient, amount, options) {
  const transaction = await buildTransfer(sender, recipient, amount, options);
  return aptos.signAndSubmitTransaction({ signer: sender, transaction });
}

const waitFor = (pending, options) =>
  aptos.waitForTransaction({ transactionHash: pending.hash, options });
const fee = (committed) => Number(committed.gas_used) * Number(committed.gas_unit_price);
const balance = (account, asset = COIN) =>
  aptos.getBalance({ accountAddress: account.accountAddress, asset });
const sequenceNumber = async (account) =>
  (await aptos.getAccountInfo({ accountAddress: account.accountAddress })).sequence_number;

/** Returns the block of a version, found from genesis, because the SDK caches the newest height. */
async function blockOf(version) {
  for (let height = 0n; ; height += 1n) {
    const block = await aptos.getBlockByHeight({ blockHeight: height });
    if (BigInt(block.last_version) >= BigInt(version)) return block;
  }
}

describe("the TypeScript SDK", { timeout: 180_000 }, () => {
  let committed;

  before(async () => {
    node = await NodeProcess.start("sdk");
    aptos = new Aptos(new AptosConfig({ network: Network.CUSTOM, ...endpoints(node) }));
  });

  after(async () => {
    const code = await node?.stop();
    if (node) assert.equal(code, 0, `the node stops cleanly\n${node.log()}`);
  });

  test("reads the ledger info", async () => {
    const info = await aptos.getLedgerInfo();
    assert.equal(info.chain_id, 4);
    for (const field of [
      "epoch",
      "ledger_version",
      "oldest_ledger_version",
      "ledger_timestamp",
      "oldest_block_height",
      "block_height",
    ]) {
      assert.match(info[field], U64_TEXT, field);
    }
    assert.equal(typeof info.node_role, "string");
    assert.equal(await aptos.getChainId(), 4);
  });

  test("reads a gas estimate that a funded account can pay", async () => {
    const {
      deprioritized_gas_estimate: low,
      gas_estimate: market,
      prioritized_gas_estimate: high,
    } = await aptos.getGasPriceEstimation();
    for (const price of [low, market, high])
      assert.ok(Number.isSafeInteger(price), `a number, got ${price}`);
    assert.ok(low <= market && market <= high, `${low} <= ${market} <= ${high}`);
  });

  test("funds two accounts through the faucet", async () => {
    // In parallel: the faucet must not use a sequence number twice.
    const grants = await Promise.all(
      [alice, bob].map((account) =>
        aptos.fundAccount({ accountAddress: account.accountAddress, amount: FUNDED }),
      ),
    );
    for (const grant of grants) assert.equal(grant.success, true, grant.vm_status);
    assert.equal(await balance(alice), FUNDED);
    assert.equal(await balance(bob), FUNDED);
    assert.equal(await sequenceNumber(alice), "0");
  });

  test("reads the ABI of a module", async () => {
    const { bytecode, abi } = await aptos.getAccountModule({
      accountAddress: "0x1",
      moduleName: "aptos_account",
    });
    assert.match(bytecode, /^0x/);
    sameAddress(abi.address, "0x1");
    assert.equal(abi.name, "aptos_account");
    const transfer = abi.exposed_functions.find(({ name }) => name === "transfer");
    assert.deepEqual(transfer, {
      name: "transfer",
      visibility: "public",
      is_entry: true,
      is_view: false,
      generic_type_params: [],
      params: ["&signer", "address", "u64"],
      return: [],
    });
    for (const { name, fields } of abi.structs)
      assert.ok(Array.isArray(fields), `fields of ${name}`);
  });

  test("sends a transfer with default options and waits for it", async () => {
    const transaction = await buildTransfer(alice, bob, AMOUNT);
    assert.equal(transaction.rawTransaction.max_gas_amount, 2_000_000n, "the SDK's default");
    assert.equal(transaction.rawTransaction.chain_id.chainId, 4);
    const senderAuthenticator = aptos.transaction.sign({ signer: alice, transaction });
    const hash = generateUserTransactionHash({ transaction, senderAuthenticator });

    const pending = await aptos.transaction.submit.simple({ transaction, senderAuthenticator });
    assert.equal(pending.hash, hash, "the node computes the hash that the SDK computes");
    sameAddress(pending.sender, alice.accountAddress);
    assert.equal(pending.sequence_number, "0");

    committed = await waitFor(pending);
    assert.equal(committed.type, "user_transaction");
    assert.equal(committed.success, true);
    assert.equal(committed.vm_status, "Executed successfully");
    assert.equal(committed.hash, hash);
    assert.match(committed.version, U64_TEXT);
    assert.match(committed.timestamp, U64_TEXT);
    assert.ok(BigInt(committed.gas_used) > 0n, "a transfer costs gas");
    for (const field of ["state_change_hash", "event_root_hash", "accumulator_root_hash"]) {
      assert.match(committed[field], HASH_TEXT, field);
    }
  });

  test("reads the transaction by hash and by version", async () => {
    assert.deepEqual(
      await aptos.getTransactionByHash({ transactionHash: committed.hash }),
      committed,
    );
    assert.deepEqual(
      await aptos.getTransactionByVersion({ ledgerVersion: committed.version }),
      committed,
    );

    const { payload, signature } = committed;
    assert.equal(payload.type, "entry_function_payload");
    assert.equal(payload.function, "0x1::aptos_account::transfer");
    assert.deepEqual(payload.type_arguments, []);
    sameAddress(payload.arguments[0], bob.accountAddress);
    assert.equal(payload.arguments[1], AMOUNT.toString());
    assert.equal(signature.type, "ed25519_signature");
    assert.equal(signature.public_key, alice.publicKey.toString());
  });

  test("finds the transfer in its events and changes", () => {
    for (const [name, { accountAddress }] of [
      ["Withdraw", alice],
      ["Deposit", bob],
    ]) {
      const { amount, store } = eventOf(committed, `0x1::fungible_asset::${name}`).data;
      assert.equal(amount, AMOUNT.toString());
      sameAddress(store, primaryStore(accountAddress));
    }
    eventOf(committed, "0x1::transaction_fee::FeeStatement");

    const store = committed.changes.find(
      ({ type, address, data }) =>
        type === "write_resource" &&
        data.type === STORE &&
        AccountAddress.from(address).equals(primaryStore(bob.accountAddress)),
    );
    assert.equal(
      store?.data.data.balance,
      (FUNDED + AMOUNT).toString(),
      JSON.stringify(committed.changes),
    );
  });

  test("reads accounts and balances", async () => {
    const info = await aptos.getAccountInfo({ accountAddress: alice.accountAddress });
    assert.equal(info.sequence_number, "1");
    assert.equal(info.authentication_key, alice.publicKey.authKey().toString());
    assert.equal(await sequenceNumber(bob), "0");

    const left = FUNDED - AMOUNT - fee(committed);
    for (const asset of [COIN, ASSET]) {
      assert.equal(await balance(alice, asset), left, `the sender's balance of ${asset}`);
      assert.equal(
        await balance(bob, asset),
        FUNDED + AMOUNT,
        `the recipient's balance of ${asset}`,
      );
    }
  });

  test("reads resources", async () => {
    const store = await aptos.getAccountResource({
      accountAddress: primaryStore(bob.accountAddress),
      resourceType: STORE,
    });
    assert.equal(store.balance, (FUNDED + AMOUNT).toString());
    assert.equal(store.frozen, false);
    sameAddress(store.metadata.inner, ASSET);

    const account = await aptos.getAccountResource({
      accountAddress: alice.accountAddress,
      resourceType: "0x1::account::Account",
    });
    assert.equal(account.sequence_number, "1");
    assert.equal(account.authentication_key, alice.publicKey.authKey().toString());
  });

  test("reads the block of the transaction, with and without transactions", async () => {
    const block = await blockOf(committed.version);
    assert.match(block.block_hash, HASH_TEXT);
    assert.equal(block.block_timestamp, committed.timestamp, "one time for the whole block");
    assert.equal(block.transactions ?? undefined, undefined, "no transactions without the option");

    const full = await aptos.getBlockByHeight({
      blockHeight: BigInt(block.block_height),
      options: { withTransactions: true },
    });
    assert.equal(full.block_hash, block.block_hash);
    const versions = full.transactions.map(({ version }) => BigInt(version));
    const first = BigInt(block.first_version);
    assert.deepEqual(
      versions,
      versions.map((_, i) => first + BigInt(i)),
      "every version once, in order",
    );
    assert.equal(versions.at(-1), BigInt(block.last_version));
    assert.equal(full.transactions[0].type, "block_metadata_transaction");
    assert.equal(full.transactions[0].id, block.block_hash);
    assert.equal(full.transactions.at(-1).type, "block_epilogue_transaction");
    assert.deepEqual(
      full.transactions.find(({ hash }) => hash === committed.hash),
      committed,
    );
  });

  test("creates an account by a transfer, and transfers a named coin", async () => {
    const carol = Account.generate();
    const first = await waitFor(await submitTransfer(alice, carol, 5));
    assert.equal(await balance(carol), 5, first.vm_status);
    const transaction = await aptos.transferCoinTransaction({
      sender: alice.accountAddress,
      recipient: carol.accountAddress,
      amount: 7,
    });
    const second = await waitFor(
      await aptos.signAndSubmitTransaction({ signer: alice, transaction }),
    );
    assert.equal(second.payload.function, "0x1::aptos_account::transfer_coins");
    assert.deepEqual(second.payload.type_arguments, [COIN]);
    assert.equal(await balance(carol), 12);
    assert.equal(await sequenceNumber(carol), "0");
  });

  test("commits transactions that were sent out of order in order", async () => {
    const start = BigInt(await sequenceNumber(bob));
    const hashes = [];
    for (const step of [2n, 1n, 0n]) {
      const pending = await submitTransfer(bob, alice, 1, { accountSequenceNumber: start + step });
      hashes.unshift(pending.hash);
    }
    const versions = [];
    for (const hash of hashes) versions.push(BigInt((await waitFor({ hash })).version));
    assert.ok(versions[0] < versions[1] && versions[1] < versions[2], `in order: ${versions}`);
    assert.equal(await sequenceNumber(bob), (start + 3n).toString());
  });

  test("commits a transfer above the balance as failed and charges its gas", async () => {
    const before = await balance(bob);
    const sequence = BigInt(await sequenceNumber(bob));
    const pending = await submitTransfer(bob, alice, 10 * FUNDED);
    await assert.rejects(waitFor(pending), /EINSUFFICIENT_BALANCE/, "the SDK reports the reason");

    const failed = await waitFor(pending, { checkSuccess: false });
    assert.equal(failed.success, false);
    assert.match(
      failed.vm_status,
      /^Move abort in 0x1::fungible_asset: EINSUFFICIENT_BALANCE\(0x10004\): .+/,
    );
    assert.ok(fee(failed) > 0, "a failed transaction pays its gas");
    assert.equal(await balance(bob), before - fee(failed));
    assert.equal(await sequenceNumber(bob), (sequence + 1n).toString());
  });

  test("receives the reason of a rejected transaction", async () => {
    const used = await rejection(submitTransfer(alice, bob, 1, { accountSequenceNumber: 0 }));
    assertRejected(used, 400, "vm_error", 3);

    const poor = Account.generate();
    const unfunded = await rejection(submitTransfer(poor, bob, 1, { accountSequenceNumber: 0 }));
    assertRejected(unfunded, 400, "vm_error", 5);

    const expired = await rejection(submitTransfer(alice, bob, 1, { expireTimestamp: 1 }));
    assertRejected(expired, 400, "vm_error", 6);

    const cheap = await rejection(submitTransfer(alice, bob, 1, { gasUnitPrice: 0 }));
    assertRejected(cheap, 400, "vm_error", 15);

    const transaction = await buildTransfer(alice, bob, 1);
    const other = await buildTransfer(alice, bob, 2);
    const senderAuthenticator = aptos.transaction.sign({ signer: alice, transaction });
    const forged = await rejection(
      aptos.transaction.submit.simple({ transaction: other, senderAuthenticator }),
    );
    assertRejected(forged, 400, "vm_error", 1);

    const stranger = aptos.transaction.sign({ signer: poor, transaction });
    const wrongKey = await rejection(
      aptos.transaction.submit.simple({ transaction, senderAuthenticator: stranger }),
    );
    assertRejected(wrongKey, 400, "vm_error", 2);
  });

  test("receives 404 for objects that do not exist", async () => {
    const unknown = `0x${"ab".repeat(32)}`;
    const cases = [
      ["transaction_not_found", () => aptos.getTransactionByHash({ transactionHash: unknown })],
      [
        "transaction_not_found",
        () => aptos.getTransactionByVersion({ ledgerVersion: 1_000_000_000 }),
      ],
      ["block_not_found", () => aptos.getBlockByHeight({ blockHeight: 1_000_000_000 })],
      [
        "module_not_found",
        () => aptos.getAccountModule({ accountAddress: "0x1", moduleName: "no_such_module" }),
      ],
      [
        "resource_not_found",
        () => aptos.getAccountResource({ accountAddress: unknown, resourceType: STORE }),
      ],
    ];
    for (const [errorCode, call] of cases)
      assertRejected(await rejection(call()), 404, errorCode, undefined);
    assert.equal(await aptos.getBalance({ accountAddress: unknown, asset: COIN }), 0);
  });
});
