// Many transactions of one account in order, sent by the TypeScript SDK's transaction worker.

import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, test } from "node:test";
import { Account, TransactionWorkerEventsEnum } from "@aptos-labs/ts-sdk";
import { Session } from "./session.mjs";

const COUNT = 1_000;
/** What the list of an account's transactions gives at once. */
const PAGE = 100;
/** How many pages are read at a time. */
const PAGES_AT_ONCE = 5;
/** Later than the last transaction is sent, even on a busy machine. Unit: s. */
const EXPIRY_S = 170;

describe("the transaction worker", { timeout: 180_000 }, () => {
  const session = Session.forSuite();

  /** Every committed transaction of an account with a sequence number, by that number. */
  async function transactionsOf(accountAddress) {
    const starts = Array.from({ length: COUNT / PAGE }, (_, page) => page * PAGE);
    const all = [];
    while (starts.length > 0) {
      const pages = starts
        .splice(0, PAGES_AT_ONCE)
        .map((offset) =>
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
    // Amounts tell the order in which the transactions were handed in.
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
