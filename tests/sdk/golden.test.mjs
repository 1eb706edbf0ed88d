// Comparison of the committed golden vectors with those that the pinned SDK generates.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";
import { goldenFiles } from "./golden_vectors.mjs";

for (const [name, made] of Object.entries(goldenFiles())) {
  test(`tests/golden/${name} equals the output of the SDK`, async () => {
    const committed = await readFile(new URL(`../golden/${name}`, import.meta.url), "utf8");
    assert.deepEqual(
      JSON.parse(committed),
      JSON.parse(made),
      "run `npm run golden` and review the difference",
    );
  });
}
