// The payment loop of examples/payments in TypeScript as a child process, and the check of its
// payments.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { COIN } from "./session.mjs";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const COMPILER = path("node_modules/typescript/bin/tsc");
const COMPILED = path("node_modules/.cache/examples/payments/payments.mjs");

/** The example as a child process. */
export class PaymentLoop {
  #arguments;
  #child;
  #exited;
  /** What the runs have printed. */
  output = "";

  /** Starts the example with this list, at the node with this URL. */
  static async start(directory, url, payer, payments) {
    const loop = new PaymentLoop();
    const [keyFile, list] = [join(directory, "payer.key"), join(directory, "payments.txt")];
    await writeFile(keyFile, payer.privateKey.toString(), { mode: 0o600 });
    await writeFile(list, payments.map((each) => `${each.recipient} ${each.amount}\n`).join(""));
    loop.#arguments = ["--node", url, keyFile, list];
    loop.start();
    return loop;
  }

  start() {
    this.#child = spawn(process.execPath, [COMPILED, ...this.#arguments]);
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream.on("data", (text) => {
        this.output += text;
      });
    this.#exited = once(this.#child, "close");
  }

  /** Resolves to the exit code, or to the name of the signal. */
  async exited() {
    const [code, signal] = await this.#exited;
    return code ?? signal;
  }

  async kill() {
    this.#child.kill("SIGKILL");
    return this.exited();
  }
}

/** Checks the types of the example, and compiles it. */
export async function compile() {
  // Node.js from version 22.18 on runs the file itself.
  const compiler = [COMPILER, "--project", path("tsconfig.json")];
  await promisify(execFile)(process.execPath, compiler).catch(({ stdout }) => assert.fail(stdout));
}

/** Asserts that the ledger has each payment once. `output` is the message of a failure. */
export async function assertPaidOnce(sdk, { accountAddress }, payments, output) {
  const { sequence_number } = await sdk.getAccountInfo({ accountAddress });
  assert.equal(Number(sequence_number), payments.length, output);
  for (const recipient of new Set(payments.map((each) => each.recipient))) {
    const received = payments.filter((each) => each.recipient === recipient);
    const total = received.reduce((sum, { amount }) => sum + amount, 0);
    const balance = await sdk.getBalance({ accountAddress: recipient, asset: COIN });
    assert.equal(balance, total, output);
  }
}
