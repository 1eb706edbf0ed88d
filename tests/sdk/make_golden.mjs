// Writes tests/golden/*.json with the pinned SDK (`npm run golden`). Run it for a new kind of
// vector or a new version of the SDK, and review the difference: a changed byte breaks clients.

import { writeFile } from "node:fs/promises";
import { goldenFiles } from "./golden_vectors.mjs";

for (const [name, text] of Object.entries(goldenFiles())) {
  await writeFile(new URL(`../golden/${name}`, import.meta.url), text);
}
