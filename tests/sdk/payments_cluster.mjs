// The payment loop of examples/payments against a balancer in front of two full nodes, while the
// validators and the loop's own full node are killed. It needs HAProxy, so it is not a part of
// `npm test`:
//
//     LEDGER_NODE_BIN=target/debug/ledger-node node --test tests/sdk/payments_cluster.mjs

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Account, Aptos, AptosConfig, Network } from "@aptos-labs/ts-sdk";
import { binary } from "./node_process.mjs";
import { PaymentLoop, assertPaidOnce, compile } from "./payment_loop.mjs";
import { FUNDED } from "./session.mjs";

const HAPROXY_CONFIG = fileURLToPath(new URL("../../config/haproxy.cfg", import.meta.url));
const VALIDATORS = 4;
const FULL_NODES = [4, 5];
const PAYMENTS = 80;
/** Number of payments between two kills. */
const PAYMENTS_PER_KILL = 10;
/** Nodes that are killed, in turns. "full" is the full node that the loop uses. */
const VICTIMS = [0, "full", 1, 2, "full", 3, 0];

/** The nodes that `cluster init` creates, as processes, and a balancer in front of full nodes. */
class Cluster {
  #directory;
  #base;
  #nodes = [];
  #balancer;

  static async start(directory) {
    const cluster = new Cluster();
    cluster.#directory = join(directory, "cluster");
    // Ports of this process, below those that the system gives to others.
    cluster.#base = 10_000 + (process.pid % 40) * 500;
    const count = ["--validators", `${VALIDATORS}`, "--full-nodes", `${FULL_NODES.length}`];
    const place = ["--base-port", `${cluster.#base}`, "--dir", cluster.#directory];
    await promisify(execFile)(binary(), ["cluster", "init", ...count, ...place]);
    await cluster.#configure();
    await Promise.all([...Array(VALIDATORS).keys(), ...FULL_NODES].map((one) => cluster.run(one)));
    await cluster.#balance(directory);
    return cluster;
  }

  /** Sets the parameters of config/sdk.toml in the genesis. */
  async #configure() {
    const file = join(this.#directory, "genesis.toml");
    const text = await readFile(file, "utf8");
    const parameters = {
      vendor: '"APTOS"',
      gas_unit_price_min: "10",
      coin_event_handles: "false",
    };
    const changed = Object.entries(parameters).reduce((before, [name, value]) => {
      const line = new RegExp(`^${name} = .*$`, "m");
      assert.match(before, line);
      return before.replace(line, `${name} = ${value}`);
    }, text);
    await writeFile(file, changed);
  }

  /** Starts a node, and waits until it is ready. */
  async run(index) {
    const child = spawn(binary(), ["run", "--config", "node.toml"], {
      cwd: join(this.#directory, `node-${index}`),
      stdio: ["ignore", "pipe", "ignore"],
    });
    this.#nodes[index] = child;
    for await (const line of createInterface({ input: child.stdout })) {
      if (line.startsWith("ready ")) return;
    }
    throw new Error(`node ${index} ended before it was ready`);
  }

  async kill(index) {
    const exited = once(this.#nodes[index], "exit");
    this.#nodes[index].kill("SIGKILL");
    await exited;
  }

  async #balance(directory) {
    const [before] = (await readFile(HAPROXY_CONFIG, "utf8")).split("    server node-0");
    const server = (one) => `    server node-${one} 127.0.0.1:${this.#port(100, one)}`;
    const config = before.replace("bind :80", `bind 127.0.0.1:${this.#port(400, 99)}`);
    const file = join(directory, "haproxy.cfg");
    await writeFile(file, `${config}${FULL_NODES.map(server).join("\n")}\n`);
    this.#balancer = spawn("haproxy", ["-db", "-f", file], { stdio: "ignore" });
  }

  #port(listener, number) {
    return this.#base + listener + number;
  }

  get url() {
    return `http://127.0.0.1:${this.#port(400, 99)}/v1`;
  }

  /** Returns the node that the balancer has chosen for this machine. */
  async chosen() {
    for (;;) {
      const response = await fetch(this.url).catch(() => undefined);
      const name = response?.headers.get("x-served-by");
      if (name) return Number(name.split("-")[1]);
      await pause(50);
    }
  }

  async fund(account) {
    const body = JSON.stringify({ address: account.accountAddress.toString(), amount: FUNDED });
    const headers = { "content-type": "application/json" };
    const url = `http://127.0.0.1:${this.#port(300, 0)}/fund`;
    const response = await fetch(url, { method: "POST", headers, body });
    assert.equal(response.status, 200, await response.text());
  }

  end() {
    for (const child of [...this.#nodes, this.#balancer]) child?.kill("SIGKILL");
  }
}

describe("the payment loop behind a balancer", { timeout: 300_000 }, () => {
  let directory, cluster, loop;

  before(async () => {
    await compile();
    directory = await mkdtemp(join(tmpdir(), "ledger-node-cluster-"));
    cluster = await Cluster.start(directory);
  });

  after(async () => {
    await loop?.kill();
    cluster?.end();
    if (directory) await rm(directory, { recursive: true });
  });

  /** Resolves when the loop has made `count` payments. Rejects if it ends before. */
  const paid = async (count) => {
    const made = () => loop.output.match(/^payment \d+: \d+ to/gm)?.length ?? 0;
    while (made() < count) {
      const code = await Promise.race([loop.exited(), pause(20, undefined)]);
      assert.equal(code, undefined, loop.output);
    }
  };

  test("makes each payment once while validators and its full node are killed", async (t) => {
    const payer = Account.generate();
    await cluster.chosen();
    await cluster.fund(payer);
    const recipients = Array.from({ length: 3 }, () => Account.generate().accountAddress);
    const payments = Array.from({ length: PAYMENTS }, (_, k) => ({
      recipient: recipients[k % recipients.length],
      amount: 1 + k,
    }));
    loop = await PaymentLoop.start(directory, cluster.url, payer, payments);
    for (const [at, victim] of VICTIMS.entries()) {
      await paid((at + 1) * PAYMENTS_PER_KILL);
      const index = victim === "full" ? await cluster.chosen() : victim;
      await cluster.kill(index);
      // It starts again when some payments were made without it.
      await paid((at + 1) * PAYMENTS_PER_KILL + 3);
      await cluster.run(index);
    }
    assert.equal(await loop.exited(), 0, loop.output);
    assert.match(loop.output, new RegExp(`${PAYMENTS} payments occurred exactly once`));
    const repeated = loop.output.match(/trying again/g)?.length ?? 0;
    t.diagnostic(`${repeated} requests were repeated`);
    // Without a minimum version, at the node to which the balancer sends this machine.
    const sdk = new Aptos(new AptosConfig({ network: Network.CUSTOM, fullnode: cluster.url }));
    await assertPaidOnce(sdk, payer, payments, loop.output);
  });
});
