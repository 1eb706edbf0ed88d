// The TypeScript SDK with a node whose limit of requests in flight is reached.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Account } from "@aptos-labs/ts-sdk";
import { Session, rejection } from "./session.mjs";

const TRANSFER = "0x1::aptos_account::transfer";
/** More than the number of concurrent requests of the SDK. */
const IN_FLIGHT_MAX = 8;
const UNAVAILABLE = 503;

describe("a node at its limit of requests in flight", { timeout: 120_000 }, () => {
  const session = Session.forSuite([
    `api.max_in_flight=${IN_FLIGHT_MAX}`,
    "wait.timeout_ms=600000",
  ]);

  const get = async (path, request) => {
    const response = await fetch(`${session.api}${path}`, request);
    const retryAfter = response.headers.get("retry-after");
    return { status: response.status, retryAfter, body: await response.json() };
  };
  const untilStatus = async (isExpected) => {
    let response;
    do response = await get("");
    while (!isExpected(response.status));
    return response;
  };

  test("rejects the SDK immediately and serves it again after requests have ended", async () => {
    const { aptos } = session;
    const sender = await session.funded();
    const { accountAddress } = sender;
    // Stays pending, because sequence number 0 is missing; long polls for it wait as well.
    const transaction = await aptos.transaction.build.simple({
      sender: accountAddress,
      data: { function: TRANSFER, functionArguments: [Account.generate().accountAddress, 1] },
      options: { accountSequenceNumber: 1 },
    });
    const { hash } = await aptos.signAndSubmitTransaction({ signer: sender, transaction });
    const canceled = new AbortController();
    const request = { signal: canceled.signal };
    const wait = async () => {
      // Repeats while the permit of a request that has ended is not yet released.
      while ((await get(`/transactions/wait_by_hash/${hash}`, request)).status === UNAVAILABLE);
    };
    const waits = Array.from({ length: IN_FLIGHT_MAX }, wait);
    try {
      const { retryAfter, body } = await untilStatus((status) => status === UNAVAILABLE);
      assert.equal(retryAfter, "1");
      const { status, data } = await rejection(aptos.getAccountInfo({ accountAddress }));
      assert.deepEqual([status, data], [UNAVAILABLE, body]);
    } finally {
      canceled.abort();
      await Promise.allSettled(waits);
    }
    // The node releases the permits some time after the clients have canceled.
    await untilStatus((status) => status !== UNAVAILABLE);
    assert.equal((await aptos.getAccountInfo({ accountAddress })).sequence_number, "0");
  });
});
