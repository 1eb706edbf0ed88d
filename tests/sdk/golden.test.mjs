// The committed golden vectors are what the pinned SDK makes, byte for byte.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";
import { goldenFiles } from "./golden_vectors.mjs";

for (const [name, made] of Object.entries(goldenFiles())) {
  test(`tests/golden/${name} is what the SDK makes`, async () => {
    const committed = await readFile(new URL(`../golden/${name}`, import.meta.url), "utf8");
    assert.deepEqual(
      JSON.parse(committed),
      JSON.parse(made),
      "run `npm run golden` and look at the difference",
    );
  });
}
