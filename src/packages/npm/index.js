// A chain in memory in a process of its own, for tests.

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Maximum time until the ready line. Long, because many tests may start nodes at the same time. */
const READY_TIMEOUT_MS = 60_000;
/** Number of characters of the newest output that the message of a failed start contains. */
const LOG_CHARS_MAX = 8_192;
/** Number of characters before the ready line: 10,000 accounts at most, each in two lines. */
const OUTPUT_CHARS_MAX = 4 * 1024 * 1024;
/** Listeners, each on a free port. */
const LISTENERS = ["api", "graphql", "faucet", "admin"];

/** Returns the path of the program: LEDGER_NODE_BIN, or the one in this package. */
export function program() {
  return process.env.LEDGER_NODE_BIN ?? fileURLToPath(new URL("bin/ledger-node", import.meta.url));
}

export class LedgerNode {
  #child;
  #exited;

  /** Starts a node, and resolves once it accepts requests. */
  static async start(options = {}) {
    const node = new LedgerNode();
    await node.#run(options);
    return node;
  }

  async #run(options) {
    // The node ends when its standard input does, so it does not outlive this process.
    const child = spawn(program(), commandLine(options), {
      env: environment(),
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.#child = child;
    this.#exited = new Promise((resolve) => {
      child.once("error", (error) => resolve(error.message));
      child.once("exit", (code, signal) => resolve(`exit code ${code ?? signal}`));
    });
    const output = await this.#readUntilReady();
    Object.assign(this, addresses(output));
    // A test that does not stop its node can end nevertheless.
    for (const handle of [child, ...child.stdio]) handle.unref();
  }

  /** Returns the output up to the ready line. */
  async #readUntilReady() {
    const child = this.#child;
    let [output, log, timer] = ["", "", undefined];
    const ready = new Promise((resolve, reject) => {
      child.stdout.setEncoding("utf8").on("data", (text) => {
        output += text;
        if (/^ready .*\n/m.test(output)) resolve();
        if (output.length > OUTPUT_CHARS_MAX) reject(new Error("no ready line in its output"));
      });
      child.stderr.setEncoding("utf8").on("data", (text) => {
        log = (log + text).slice(-LOG_CHARS_MAX);
      });
      // After its output, which has the cause.
      child.once("close", () => this.#exited.then((end) => reject(new Error(end))));
      child.once("error", reject);
      timer = setTimeout(() => reject(new Error(`not ready in time`)), READY_TIMEOUT_MS);
    });
    try {
      await ready;
    } catch (error) {
      await this.stop();
      throw new Error(`ledger-node did not start: ${error.message}\n${log}`, { cause: error });
    } finally {
      clearTimeout(timer);
    }
    child.stdout.removeAllListeners("data").resume();
    child.stderr.removeAllListeners("data").resume();
    return output;
  }

  /** Ends the node, which has nothing to save. */
  async stop() {
    this.#child.ref();
    this.#child.kill("SIGKILL");
    await this.#exited;
  }

  async [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() {
    await this.stop();
  }
}

/** Returns the arguments of the program. */
function commandLine({ preset = "sdk", startTime, accounts, settings = {} }) {
  const all = Object.fromEntries(LISTENERS.map((name) => [`${name}.listen`, "127.0.0.1:0"]));
  all["log.level"] = "warn";
  if (startTime !== undefined) all["chain.start_secs"] = Math.floor(startTime.getTime() / 1000);
  if (accounts !== undefined) all["chain.accounts"] = accounts;
  Object.assign(all, settings);
  return [
    "run",
    "--in-memory",
    "--until-stdin-closes",
    ...(preset === null ? [] : ["--preset", preset]),
    ...Object.entries(all).flatMap(([key, value]) => ["--set", `${key}=${value}`]),
  ];
}

/** Returns the environment without the variables that configure a node. */
function environment() {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith("LEDGER_NODE_")),
  );
}

/** Returns the addresses of the ready line and the accounts before it. */
function addresses(output) {
  const ready = output.match(/^ready (.*)$/m)[1];
  const urls = Object.fromEntries(ready.split(" ").map((word) => word.split(/=(.*)/, 2)));
  const matches = output.matchAll(/^ *account (0x[0-9a-f]+).*\n *private key (\S+)$/gm);
  return {
    url: `${urls.api}/v1`,
    faucetUrl: urls.faucet,
    indexerUrl: `${urls.graphql}/v1/graphql`,
    adminUrl: urls.admin,
    accounts: Array.from(matches, ([, address, key]) => ({
      address,
      privateKey: `ed25519-priv-${key}`,
    })),
  };
}
