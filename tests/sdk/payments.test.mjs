// The payment loop of examples/payments in TypeScript, while node and client are killed.
//
// PAYMENTS_SEED repeats the payments and the submissions at which a process is killed.

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Account, Aptos, AptosConfig, Network } from "@aptos-labs/ts-sdk";
import { CuttingProxy, MOMENTS } from "./cutting_proxy.mjs";
import { NodeProcess } from "./node_process.mjs";
import { PaymentLoop, assertPaidOnce, compile } from "./payment_loop.mjs";
import { FUNDED, endpoints } from "./session.mjs";

const PAYMENTS = 60;
const RECIPIENTS = 3;
const VICTIMS = [["client"], ["node"], ["client", "node"]];
const KILLS = VICTIMS.flatMap((victims) =>
  Object.values(MOMENTS).map((moment) => ({ victims, moment })),
);
/** Maximum number of submissions between two kills, so that all kills are before the last one. */
const GAP_MAX = Math.floor(PAYMENTS / KILLS.length) - 1;

/** Returns random integers from 0 to `below` (mulberry32). */
function seeded(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

describe("the payment loop in TypeScript", { timeout: 120_000 }, () => {
  let directory, node, proxy, client;

  before(async () => {
    await compile();
    directory = await mkdtemp(join(tmpdir(), "ledger-node-payments-"));
    node = await NodeProcess.start("sdk");
    proxy = await CuttingProxy.start(node.api);
  });

  after(async () => {
    await client?.kill();
    proxy?.close();
    await node?.kill();
    if (directory) await rm(directory, { recursive: true });
  });

  /** Returns a client of the node, whose addresses change with each start. */
  const sdk = () => new Aptos(new AptosConfig({ network: Network.CUSTOM, ...endpoints(node) }));

  const fundedPayer = async () => {
    const payer = Account.generate();
    await sdk().fundAccount({ accountAddress: payer.accountAddress, amount: FUNDED });
    return payer;
  };

  /** Starts the example with this list. */
  const startClient = async (payer, payments) => {
    client = await PaymentLoop.start(directory, `${proxy.url}/v1`, payer, payments);
  };

  /** Kills the processes, and starts them again. */
  const restart = async (victims) => {
    if (victims.includes("client")) await client.kill();
    if (victims.includes("node")) {
      await node.crash();
      proxy.redirect(node.api);
    }
    if (victims.includes("client")) client.start();
  };

  test("makes each payment once while node and client are killed", async (t) => {
    const seed = Number(process.env.PAYMENTS_SEED ?? Date.now() % 2 ** 32);
    t.diagnostic(`PAYMENTS_SEED=${seed}`);
    const random = seeded(seed);
    const recipients = Array.from({ length: RECIPIENTS }, () => Account.generate().accountAddress);
    const payments = Array.from({ length: PAYMENTS }, () => ({
      recipient: recipients[random(RECIPIENTS)],
      amount: 1 + random(1000),
    }));
    const kills = KILLS.map((kill) => [random(2 ** 20), kill]).sort(([a], [b]) => a - b);
    const payer = await fundedPayer();
    await startClient(payer, payments);
    for (const [, { victims, moment }] of kills) {
      const ended = client.exited().then((code) => assert.fail(`ended: ${code}\n${client.output}`));
      await Promise.race([proxy.reached(moment, 1 + random(GAP_MAX)), ended]);
      await restart(victims);
    }
    assert.equal(await client.exited(), 0, client.output);
    assert.match(client.output, /60 payments occurred exactly once/);
    await assertPaidOnce(sdk(), payer, payments, client.output);
  });

  test("accepts payments of an earlier run with another expiration", async () => {
    const payer = await fundedPayer();
    const payments = [1, 2, 3].map((amount) => ({
      recipient: Account.generate().accountAddress,
      amount,
    }));
    // The second one waits for the first one, which only the example sends.
    const transaction = await sdk().transaction.build.simple({
      sender: payer.accountAddress,
      data: {
        function: "0x1::aptos_account::transfer",
        functionArguments: [payments[1].recipient, payments[1].amount],
      },
      options: { accountSequenceNumber: 1 },
    });
    await sdk().signAndSubmitTransaction({ signer: payer, transaction });
    await startClient(payer, payments);
    assert.equal(await client.exited(), 0, client.output);
    assert.match(client.output, /payment 1: 400, trying again/);
    await assertPaidOnce(sdk(), payer, payments, client.output);
  });

  test("refuses a list that differs from the payments on the ledger", async () => {
    const payer = await fundedPayer();
    const [recipient, amount] = [Account.generate().accountAddress, 1];
    await startClient(payer, [{ recipient, amount }]);
    assert.equal(await client.exited(), 0, client.output);
    const edited = [{ recipient, amount: 2 }];
    await startClient(payer, [...edited, { recipient, amount }]);
    assert.equal(await client.exited(), 1, client.output);
    assert.match(client.output, /is not payment 0 of the list/);
    await assertPaidOnce(sdk(), payer, [{ recipient, amount }], client.output);
  });
});
