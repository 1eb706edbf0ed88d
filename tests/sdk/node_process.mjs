// A node of this repository as a child process, with its own directory and free ports. The process
// ends with the tests.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));

/** Listeners of the presets that these tests use. */
const LISTENERS = ["api", "graphql", "faucet", "admin"];
/** Maximum time until the ready line. Long, because the machine may be busy. */
const READY_TIMEOUT_MS = 60_000;
/** Maximum time of a graceful stop. */
const STOP_TIMEOUT_MS = 30_000;
/** Maximum number of log lines in the message of a failure. */
const LOG_LINES_MAX = 40;

/** Returns the path of LEDGER_NODE_BIN, otherwise of the release or debug build. */
export function binary() {
  const candidates = process.env.LEDGER_NODE_BIN
    ? [process.env.LEDGER_NODE_BIN]
    : ["release", "debug"].map((profile) => join(REPOSITORY, "target", profile, "ledger-node"));
  const found = candidates.find((path) => existsSync(path));
  if (!found) throw new Error(`no node to test; looked for ${candidates.join(", ")}`);
  return found;
}

/** Resolves to the value of `promise`, or rejects with `message()` after `ms`. */
async function within(ms, promise, message) {
  let timer;
  const deadline = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(message())), ms);
  });
  return Promise.race([promise, deadline]).finally(() => clearTimeout(timer));
}

export class NodeProcess {
  #child;
  #directory;
  #preset;
  #settings;
  #exited;
  #log = [];

  /**
   * Starts a node with `config/<preset>.toml`, or without a preset if it is null, and `settings`
   * (`key=value`). Awaits its start.
   */
  static async start(preset, settings = []) {
    const node = new NodeProcess();
    node.#preset = preset;
    node.#settings = settings;
    node.#directory = await mkdtemp(join(tmpdir(), "ledger-node-sdk-"));
    try {
      await node.#run();
    } catch (error) {
      await node.kill();
      throw error;
    }
    return node;
  }

  async #run() {
    const listeners = LISTENERS.map((name) => `${name}.listen=127.0.0.1:0`);
    const settings = [...listeners, ...this.#settings].flatMap((setting) => ["--set", setting]);
    const preset = this.#preset
      ? ["--config", join(REPOSITORY, "config", `${this.#preset}.toml`)]
      : [];
    this.#child = spawn(
      binary(),
      ["run", ...preset, ...settings, "--data-dir", join(this.#directory, "data")],
      { stdio: ["ignore", "pipe", "pipe"] },
    );
    this.#exited = new Promise((resolve) => {
      this.#child.once("error", (error) => resolve({ error }));
      this.#child.once("exit", (code, signal) => resolve({ code, signal }));
    });
    const ready = new Promise((resolve) => {
      createInterface({ input: this.#child.stdout }).on("line", (line) => {
        this.#keep(line);
        if (line.startsWith("ready ")) resolve(line);
      });
    });
    createInterface({ input: this.#child.stderr }).on("line", (line) => this.#keep(line));
    const died = this.#exited.then((end) => {
      throw new Error(`the node ended before it was ready: ${JSON.stringify(end)}\n${this.log()}`);
    });
    const line = await within(
      READY_TIMEOUT_MS,
      Promise.race([ready, died]),
      () => `no ready line within ${READY_TIMEOUT_MS} ms\n${this.log()}`,
    );
    // ready api=http://127.0.0.1:1234 faucet=http://... admin=http://...
    const urls = Object.fromEntries(
      line
        .split(" ")
        .slice(1)
        .map((part) => part.split("=", 2)),
    );
    for (const name of LISTENERS) {
      if (!urls[name]) throw new Error(`the ready line names no ${name}: ${line}`);
      this[name] = urls[name];
    }
  }

  #keep(line) {
    this.#log.push(line);
    if (this.#log.length > LOG_LINES_MAX) this.#log.shift();
  }

  /** Returns the last lines of the node's output. */
  log() {
    return this.#log.join("\n");
  }

  /** Sends SIGTERM and returns the exit code. */
  async #end() {
    this.#child.kill("SIGTERM");
    const end = await within(
      STOP_TIMEOUT_MS,
      this.#exited,
      () => `the node did not stop within ${STOP_TIMEOUT_MS} ms\n${this.log()}`,
    );
    return end.code ?? end.signal;
  }

  /** Stops the node and returns its exit code. Kills a node that does not stop, and throws. */
  async stop() {
    try {
      return await this.#end();
    } finally {
      await this.kill();
    }
  }

  /** Stops the node and starts it with its data at other addresses. Returns the exit code. */
  async restart() {
    const code = await this.#end();
    await this.#run();
    return code;
  }

  /** Kills the node and starts it with its data at other addresses. */
  async crash() {
    this.#child.kill("SIGKILL");
    await this.#exited;
    await this.#run();
  }

  /** Kills the process and removes its directory. */
  async kill() {
    if (this.#child) {
      this.#child.kill("SIGKILL");
      await this.#exited;
    }
    await rm(this.#directory, { recursive: true, force: true });
  }
}
