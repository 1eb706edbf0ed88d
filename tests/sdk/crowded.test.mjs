// What the TypeScript SDK makes of a node that serves as many requests as it may.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Account } from "@aptos-labs/ts-sdk";
import { Session, refusal } from "./session.mjs";

const TRANSFER = "0x1::aptos_account::transfer";
/** More than the SDK sends at once by itself. */
const IN_FLIGHT_MAX = 8;
const UNAVAILABLE = 503;

describe("a crowded node", { timeout: 120_000 }, () => {
  const session = Session.forSuite([
    `api.max_in_flight=${IN_FLIGHT_MAX}`,
    "wait.timeout_ms=600000",
  ]);

  const ask = async (path, request) => {
    const response = await fetch(`${session.api}${path}`, request);
    const retryAfter = response.headers.get("retry-after");
    return { status: response.status, retryAfter, body: await response.json() };
  };
  const untilStatus = async (isMeant) => {
    let answer;
    do answer = await ask("");
    while (!isMeant(answer.status));
    return answer;
  };

  test("says so at once and serves the SDK again as soon as it has room", async () => {
    const { aptos } = session;
    const sender = await session.funded();
    const { accountAddress } = sender;
    // Waits for its predecessor, and with it whoever asks for it.
    const transaction = await aptos.transaction.build.simple({
      sender: accountAddress,
      data: { function: TRANSFER, functionArguments: [Account.generate().accountAddress, 1] },
      options: { accountSequenceNumber: 1 },
    });
    const { hash } = await aptos.signAndSubmitTransaction({ signer: sender, transaction });
    const crowd = new AbortController();
    const request = { signal: crowd.signal };
    const wait = async () => {
      // Its own place may be taken by a request that has only just been answered.
      while ((await ask(`/transactions/wait_by_hash/${hash}`, request)).status === UNAVAILABLE);
    };
    const waits = Array.from({ length: IN_FLIGHT_MAX }, wait);
    try {
      const { retryAfter, body } = await untilStatus((status) => status === UNAVAILABLE);
      assert.equal(retryAfter, "1");
      const { status, data } = await refusal(aptos.getAccountInfo({ accountAddress }));
      assert.deepEqual([status, data], [UNAVAILABLE, body]);
    } finally {
      crowd.abort();
      await Promise.allSettled(waits);
    }
    // The node learns that they left later than they do.
    await untilStatus((status) => status !== UNAVAILABLE);
    assert.equal((await aptos.getAccountInfo({ accountAddress })).sequence_number, "0");
  });
});
