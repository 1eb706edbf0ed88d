// A long run of the npm package: CHAINS tests with a chain and a payment each.

import assert from "node:assert/strict";
import { availableParallelism } from "node:os";
import { describe, test } from "node:test";
import { binary } from "./node_process.mjs";

process.env.LEDGER_NODE_BIN = binary();
const { LedgerNode } = await import("../../src/packages/npm/index.js");

const CHAINS = Number(process.env.CHAINS ?? 100);

describe("many chains", { concurrency: availableParallelism() }, () => {
  for (let number = 0; number < CHAINS; number += 1) {
    test(`chain ${number}`, async () => {
      const node = await LedgerNode.start();
      const response = await fetch(`${node.faucetUrl}/fund`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ address: "0xb0b", amount: number + 1 }),
      });
      assert.equal(response.status, 200, await response.text());
      const balance = await fetch(`${node.url}/accounts/0xb0b/balance/0xa`);
      assert.equal(await balance.json(), number + 1);
      await node.stop();
    });
  }
});
