// Writes tests/golden/*.json with the pinned SDK. Run it after a new kind of vector or a new SDK
// version (`npm run golden`) and look at the difference: a byte that changes is a broken promise.

import { writeFile } from "node:fs/promises";
import { goldenFiles } from "./golden_vectors.mjs";

for (const [name, text] of Object.entries(goldenFiles())) {
  await writeFile(new URL(`../golden/${name}`, import.meta.url), text);
}
