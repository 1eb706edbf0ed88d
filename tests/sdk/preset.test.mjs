// The errors of the SDK on a chain without the preset, whose vendor word is not that of the SDK.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Account, Aptos, AptosConfig, Network } from "@aptos-labs/ts-sdk";
import { NodeProcess } from "./node_process.mjs";
import { endpoints, rejection } from "./session.mjs";

const PRESET = /ledger-node run --preset sdk/;

describe("a chain without the preset", { timeout: 120_000 }, () => {
  const account = Account.generate();
  let node;
  let aptos;

  before(async () => {
    node = await NodeProcess.start(null);
    aptos = new Aptos(new AptosConfig({ network: Network.LOCAL, ...endpoints(node) }));
    const funded = await fetch(`${node.faucet}/fund`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ address: account.accountAddress.toString(), amount: 1_000_000_000 }),
    });
    assert.equal(funded.status, 200, await funded.text());
  });

  after(() => node?.kill());

  test("names the preset when the SDK funds an account", async () => {
    const { accountAddress } = account;
    const { message } = await rejection(aptos.fundAccount({ accountAddress, amount: 1 }));
    assert.match(message, PRESET);
  });

  test("names the preset when the SDK submits a transaction", async () => {
    const transaction = await aptos.transferCoinTransaction({
      sender: account.accountAddress,
      recipient: Account.generate().accountAddress,
      amount: 1,
    });
    const sent = aptos.signAndSubmitTransaction({ signer: account, transaction });
    assert.match((await rejection(sent)).message, PRESET);
  });

  test("names the preset when the SDK calls a view function", async () => {
    const payload = { function: "0x1::chain_id::get" };
    assert.match((await rejection(aptos.view({ payload }))).message, PRESET);
  });
});
