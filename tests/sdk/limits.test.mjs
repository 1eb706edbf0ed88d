// The TypeScript SDK with a pruned node whose mempool has little capacity.

import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { Account } from "@aptos-labs/ts-sdk";
import { Session, rejection } from "./session.mjs";

const TRANSFER = "0x1::aptos_account::transfer";
const WINDOW_VERSIONS = 3;
const PENDING_MAX = 2;

describe("a node with small limits", { timeout: 120_000 }, () => {
  const session = Session.forSuite([
    `pruner.window_versions=${WINDOW_VERSIONS}`,
    "pruner.batch_versions=1",
    `mempool.capacity_per_account=${PENDING_MAX}`,
  ]);
  let sender;

  before(async () => {
    sender = await session.funded();
  });

  test("responds with 410 for pruned versions, without an archive", async () => {
    let oldest;
    do {
      await session.call(sender, TRANSFER, [Account.generate().accountAddress, 1]);
      // Without the SDK, which caches the response for seconds.
      const info = await (await fetch(session.api)).json();
      oldest = Number(info.oldest_ledger_version);
    } while (oldest < 2);
    const options = { ledgerVersion: 1 };
    const { aptos } = session;
    const coin = { accountAddress: "0x1", moduleName: "coin" };
    for (const [request, code] of [
      [() => aptos.getTransactionByVersion(options), "version_pruned"],
      [() => aptos.getBlockByVersion(options), "version_pruned"],
      [() => aptos.getBlockByHeight({ blockHeight: 0 }), "block_pruned"],
      [() => aptos.getTransactions({ options: { offset: 1 } }), "version_pruned"],
      [() => aptos.getAccountModule({ ...coin, options }), "version_pruned"],
      [
        () => aptos.viewJson({ payload: { function: "0x1::chain_id::get" }, options }),
        "version_pruned",
      ],
    ]) {
      const { status, data } = await rejection(request());
      assert.deepEqual([status, data.error_code], [410, code], request.toString());
      assert.equal(data.archival_endpoint, undefined);
    }
  });

  test("rejects transactions above an account's capacity but accepts earlier ones", async () => {
    const { sequence_number: next } = await session.aptos.getAccountInfo({
      accountAddress: sender.accountAddress,
    });
    const submit = async (ahead) => {
      const transaction = await session.aptos.transaction.build.simple({
        sender: sender.accountAddress,
        data: { function: TRANSFER, functionArguments: [Account.generate().accountAddress, 1] },
        options: { accountSequenceNumber: BigInt(next) + BigInt(ahead) },
      });
      const { hash } = await session.aptos.signAndSubmitTransaction({
        signer: sender,
        transaction,
      });
      return hash;
    };
    const parked = [await submit(1), await submit(2)];
    const { status, data } = await rejection(submit(3));
    assert.deepEqual([status, data.error_code], [507, "mempool_is_full"]);
    await submit(0);
    await session.aptos.waitForTransaction({ transactionHash: parked[0] });
    // The last transaction was evicted.
    const evicted = await rejection(
      session.aptos.getTransactionByHash({ transactionHash: parked[1] }),
    );
    assert.deepEqual([evicted.status, evicted.data.error_code], [404, "transaction_not_found"]);
    await session.aptos.waitForTransaction({ transactionHash: await submit(2) });
  });
});
