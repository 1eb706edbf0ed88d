// Transactions of one account, sent in order by the TypeScript SDK's transaction worker.

import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, test } from "node:test";
import { Account, TransactionWorkerEventsEnum } from "@aptos-labs/ts-sdk";
import { Session } from "./session.mjs";

const COUNT = 1_000;
/** Transactions per page. */
const PAGE = 100;
/** Maximum number of pages read concurrently. */
const CONCURRENT_PAGES_MAX = 5;
/** Seconds until transactions expire. Long, because the machine may be busy. */
const EXPIRY_S = 170;

describe("the transaction worker", { timeout: 180_000 }, () => {
  const session = Session.forSuite();

  /** Returns the committed transactions of an account by sequence number. */
  async function transactionsOf(accountAddress) {
    const starts = Array.from({ length: COUNT / PAGE }, (_, page) => page * PAGE);
    const all = [];
    while (starts.length > 0) {
      const pages = starts.splice(0, CONCURRENT_PAGES_MAX).map((offset) =>
        session.aptos.getAccountTransactions({
          accountAddress,
          options: { offset, limit: PAGE },
        }),
      );
      all.push(...(await Promise.all(pages)).flat());
    }
    return all;
  }

  test(`commits ${COUNT} transactions of one account in order`, async () => {
    const [sender, recipient] = [await session.funded(), Account.generate().accountAddress];
    const worker = session.aptos.transaction.batch;
    const failures = [];
    let executed = 0;
    worker.on(TransactionWorkerEventsEnum.TransactionExecuted, () => (executed += 1));
    for (const event of ["TransactionSendFailed", "TransactionExecutionFailed"]) {
      worker.on(TransactionWorkerEventsEnum[event], ({ error }) => failures.push(error));
    }
    const finished = once(worker, TransactionWorkerEventsEnum.ExecutionFinish);
    // The amounts identify the order of submission.
    const data = Array.from({ length: COUNT }, (_, at) => ({
      function: "0x1::aptos_account::transfer",
      functionArguments: [recipient, at + 1],
    }));
    const expireTimestamp = Math.floor(Date.now() / 1000) + EXPIRY_S;
    session.aptos.transaction.batch.forSingleAccount({
      sender,
      data,
      options: { expireTimestamp },
    });
    await finished;

    assert.deepEqual(failures, []);
    assert.equal(executed, COUNT);
    assert.equal(await session.balance(recipient), (COUNT * (COUNT + 1)) / 2);
    const committed = await transactionsOf(sender.accountAddress);
    assert.deepEqual(
      committed.map((one) => [one.sequence_number, one.payload.arguments[1], one.success]),
      data.map((_, at) => [String(at), String(at + 1), true]),
    );
    const versions = committed.map(({ version }) => Number(version));
    assert.deepEqual(
      versions,
      versions.toSorted((left, right) => left - right),
    );
  });
});
