// The npm package of src/packages/npm: a chain in memory for each test, which ends with the process
// that started it.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, test } from "node:test";
import { Account, Aptos, AptosConfig, Ed25519PrivateKey, Network } from "@aptos-labs/ts-sdk";
import { binary } from "./node_process.mjs";

process.env.LEDGER_NODE_BIN = binary();
const PACKAGE = new URL("../../src/packages/npm/index.js", import.meta.url);
const { LedgerNode } = await import(PACKAGE);

/** Pause between two looks at a process, and the maximum number of them. */
const LOOK_PAUSE_MS = 20;
const LOOKS_MAX = 1_500;
/** Maximum time until a node of another process has started and ended. */
const TIMEOUT_MS = 120_000;

/** Returns a client of the SDK for a node. */
function client(node) {
  const { url: fullnode, faucetUrl: faucet, indexerUrl: indexer } = node;
  return new Aptos(new AptosConfig({ network: Network.CUSTOM, fullnode, faucet, indexer }));
}

/** Pays `amount` from the first funded account to a new one. Returns the committed transaction. */
async function pay(node, amount, options) {
  const aptos = client(node);
  const signer = Account.fromPrivateKey({
    privateKey: new Ed25519PrivateKey(node.accounts[0].privateKey),
  });
  assert.equal(signer.accountAddress.toStringLong(), node.accounts[0].address);
  const transaction = await aptos.transferCoinTransaction({
    sender: signer.accountAddress,
    recipient: Account.generate().accountAddress,
    amount,
    options,
  });
  const { hash } = await aptos.signAndSubmitTransaction({ signer, transaction });
  return aptos.waitForTransaction({ transactionHash: hash });
}

describe("a chain for each test", () => {
  test("pays", async () => {
    const node = await LedgerNode.start();
    const committed = await pay(node, 1_000);
    assert.equal(committed.success, true);
    await node.stop();
    await assert.rejects(fetch(node.url));
  });

  test("starts at a chosen time with chosen accounts and settings", async () => {
    const startTime = new Date("2031-05-06T07:08:09Z");
    const settings = { "faucet.amount_max": 7 };
    const node = await LedgerNode.start({ startTime, accounts: 8, settings });
    assert.equal(node.accounts.length, 8);
    const accountAddress = Account.generate().accountAddress;
    await client(node).fundAccount({ accountAddress, amount: 100 });
    const balance = await fetch(`${node.url}/accounts/${accountAddress}/balance/0xa`);
    assert.equal(await balance.json(), 7);
    const startSecs = startTime.getTime() / 1000;
    const { timestamp } = await pay(node, 1, { expireTimestamp: startSecs + 600 });
    const sinceStart = Number(timestamp) / 1_000_000 - startSecs;
    assert.ok(sinceStart >= 0 && sinceStart < 600, `${sinceStart} s`);
    await node.stop();
  });

  test("reports why a node does not start", async () => {
    const started = LedgerNode.start({ settings: { "chain.id": 0 } });
    await assert.rejects(started, /chain\.id = "0"/);
  });
});

/** Starts a process that starts a node, and returns it with the URL of the node. */
async function startInChild(t, after) {
  const script = `
    const { LedgerNode } = await import(${JSON.stringify(PACKAGE)});
    const node = await LedgerNode.start();
    console.log(node.url);
    ${after}`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => child.kill("SIGKILL"));
  const [url] = await once(createInterface({ input: child.stdout }), "line");
  return { child, url };
}

/** Waits until no node accepts connections at `url`. */
async function ended(url) {
  for (let look = 0; look < LOOKS_MAX; look += 1) {
    const response = await fetch(url).catch(() => null);
    if (response === null) return;
    await response.text();
    await new Promise((resolve) => setTimeout(resolve, LOOK_PAUSE_MS));
  }
  throw new Error(`a node still serves at ${url}`);
}

test("a node ends with the process that started it", { timeout: TIMEOUT_MS }, async (t) => {
  // A process that forgets its node ends, and one that is killed cannot stop it.
  const forgetful = await startInChild(t, "");
  await once(forgetful.child, "exit");
  await ended(forgetful.url);
  const killed = await startInChild(t, "setInterval(() => {}, 1_000);");
  killed.child.kill("SIGKILL");
  await ended(killed.url);
});

/** Runs the program with npx, as installed in a new directory, in a process group of its own. */
async function npx(t, ...words) {
  const directory = await mkdtemp(join(tmpdir(), "ledger-node-npx-"));
  t.after(() => rm(directory, { recursive: true }));
  const programs = join(directory, "node_modules", ".bin");
  await mkdir(programs, { recursive: true });
  await symlink(binary(), join(programs, "ledger-node"));
  const child = spawn("npx", ["--no", "ledger-node", ...words], {
    cwd: directory,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  t.after(() => {
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // All processes of the group have ended.
    }
  });
  return child;
}

/** Collects the text of a stream up to its end. */
async function text(stream) {
  return (await stream.setEncoding("utf8").toArray()).join("");
}

test("npx ends with the exit code of the program", async (t) => {
  const child = await npx(t, "config", "--set", "chain.id=0");
  const [[code], log] = await Promise.all([once(child, "exit"), text(child.stderr)]);
  assert.equal(code, 2, log);
});
