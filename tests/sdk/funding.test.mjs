// Funding of an account by the TypeScript SDK. The SDK calls the faucet and then polls an indexer
// until it has processed the transaction; the node serves this query itself.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Account, Aptos, AptosConfig, Network, ProcessorType } from "@aptos-labs/ts-sdk";
import { FUNDED, Session, endpoints, rejection } from "./session.mjs";

/** Processors whose data the node has. */
const SERVED = [
  ProcessorType.ACCOUNT_TRANSACTION_PROCESSOR,
  ProcessorType.DEFAULT,
  ProcessorType.EVENTS_PROCESSOR,
  ProcessorType.FUNGIBLE_ASSET_PROCESSOR,
  ProcessorType.OBJECT_PROCESSOR,
  ProcessorType.USER_TRANSACTION_PROCESSOR,
];

describe("funding", { timeout: 120_000 }, () => {
  const session = Session.forSuite();

  test("needs no options", async () => {
    const { accountAddress } = Account.generate();
    const grant = await session.aptos.fundAccount({ accountAddress, amount: FUNDED });
    assert.equal(grant.success, true, grant.vm_status);
    assert.equal(await session.balance(accountAddress), FUNDED);
    assert.ok((await session.aptos.getIndexerLastSuccessVersion()) >= BigInt(grant.version));
  });

  test("finds the indexer query on the API listener too", async () => {
    const addresses = { ...endpoints(session.node), indexer: `${session.api}/graphql` };
    const aptos = new Aptos(new AptosConfig({ network: Network.CUSTOM, ...addresses }));
    const { accountAddress } = Account.generate();
    assert.equal((await aptos.fundAccount({ accountAddress, amount: 1 })).success, true);
  });

  test("reads the status of each processor whose data the node has", async () => {
    const { version } = await session.aptos.fundAccount({
      accountAddress: Account.generate().accountAddress,
      amount: 1,
      options: { waitForIndexer: false },
    });
    const committed = await session.aptos.getTransactionByVersion({ ledgerVersion: version });
    for (const processorType of SERVED) {
      const status = await session.aptos.getProcessorStatus(processorType);
      assert.equal(status.processor, processorType);
      assert.ok(
        BigInt(status.last_success_version) >= BigInt(version),
        status.last_success_version,
      );
      const updated_ms = Date.parse(`${status.last_updated}Z`);
      assert.ok(updated_ms >= Math.floor(Number(committed.timestamp) / 1000), status.last_updated);
    }
    for (const processorType of Object.values(ProcessorType).filter(
      (one) => !SERVED.includes(one),
    )) {
      assert.equal(await session.aptos.getProcessorStatus(processorType), undefined, processorType);
    }
  });

  test("receives an error for other indexer queries", async () => {
    const query = { query: "{ user_transactions(limit: 1) { version } }" };
    const { data } = await rejection(session.aptos.queryIndexer({ query }));
    assert.match(
      data.errors[0].message,
      /^this node has no indexer and serves the query processor_status only: .*user_transactions/,
    );
    const { accountAddress } = Account.generate();
    await rejection(session.aptos.getAccountCoinsCount({ accountAddress }));
  });

  test("rejects invalid amounts", async () => {
    for (const amount of [-1, 0.5]) {
      const error = await rejection(
        session.aptos.fundAccount({ accountAddress: Account.generate().accountAddress, amount }),
      );
      assert.equal(error.status, 400, `${amount}: ${JSON.stringify(error.data)}`);
    }
  });
});
