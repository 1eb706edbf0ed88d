// The TypeScript programs of README.md and docs/use/quickstart.md, run against a node with the
// preset that these documents name (config/sdk.toml).
//
// The comment behind a `console.log(...)` is the line that it prints. A program is a file in a
// directory outside of the repository, which has only the SDK. It runs unchanged, after a prelude
// that sets the addresses of the SDK's local network to those of the node.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { NodeProcess } from "./node_process.mjs";
import { endpoints } from "./session.mjs";

const DOCUMENTS = ["README.md", "docs/use/quickstart.md"];
const REPOSITORY = new URL("../../", import.meta.url);
const PROGRAM = /^```ts\n(.*?)^```$/gms;
const PRINT = /console\.log\(/g;
const STATED_PRINT = /console\.log\(.*\); \/\/ (.+)$/gm;
const TIMEOUT_MS = 60_000;
const PACKAGES = fileURLToPath(new URL("node_modules", import.meta.url));
/** Name of a program, as README.md gives it. Node.js removes its types from 22.18 on. */
const PROGRAM_FILE = "transfer.mts";

const all = (pattern, text) => [...text.matchAll(pattern)];

/** Returns the programs of a document, each with the lines that it prints. */
async function programsOf(document) {
  const text = await readFile(new URL(document, REPOSITORY), "utf8");
  return all(PROGRAM, text).map(([, source]) => {
    const stated = all(STATED_PRINT, source).map(([, line]) => line);
    assert.equal(stated.length, all(PRINT, source).length, "every console.log states its line");
    assert.ok(stated.length > 0, "a program states what it prints");
    return { source, stated };
  });
}

/** Runs a program with the SDK's local network at `node`, and returns the lines that it prints. */
async function run(source, node) {
  const { fullnode, faucet, indexer } = endpoints(node);
  const prelude = `
    import * as sdk from "@aptos-labs/ts-sdk";
    sdk.NetworkToNodeAPI.local = ${JSON.stringify(fullnode)};
    sdk.NetworkToFaucetAPI.local = ${JSON.stringify(faucet)};
    sdk.NetworkToIndexerAPI.local = ${JSON.stringify(indexer)};
  `;
  const cwd = await mkdtemp(join(tmpdir(), "ledger-node-program-"));
  try {
    // As `npm install` of the SDK leaves the directory.
    await symlink(PACKAGES, join(cwd, "node_modules"));
    await writeFile(join(cwd, "prelude.mjs"), prelude);
    await writeFile(join(cwd, PROGRAM_FILE), source);
    const command = ["--import", "./prelude.mjs", PROGRAM_FILE];
    const { stdout } = await promisify(execFile)(process.execPath, command, {
      cwd,
      timeout: TIMEOUT_MS,
    });
    return stdout.trimEnd().split("\n");
  } finally {
    await rm(cwd, { recursive: true });
  }
}

describe("the programs of the documents", { timeout: 2 * TIMEOUT_MS }, () => {
  let node;

  before(async () => {
    node = await NodeProcess.start("sdk");
  });

  after(async () => {
    const code = await node?.stop();
    if (node) assert.equal(code, 0, `the node stops cleanly\n${node.log()}`);
  });

  for (const document of DOCUMENTS) {
    test(`${document} prints the lines that it states`, async () => {
      const programs = await programsOf(document);
      assert.ok(programs.length > 0, `${document} has a program`);
      for (const { source, stated } of programs) {
        assert.deepEqual(await run(source, node), stated, source);
      }
    });
  }
});
