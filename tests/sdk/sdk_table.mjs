// The table of docs/reference/sdks.md that this suite prints.

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";

const DOCUMENT = new URL("../../docs/reference/sdks.md", import.meta.url);
const END = "<!-- end of table -->";

/**
 * Compares the table behind the mark `<!-- table NAME -->` with these rows. `UPDATE_GOLDEN=1`
 * writes them into the document.
 */
export async function checkTable(name, header, rows) {
  const lines = [header, header.map(() => "---"), ...rows];
  const printed = lines.map((cells) => `| ${cells.join(" | ")} |\n`).join("");
  const text = await readFile(DOCUMENT, "utf8");
  const mark = `<!-- table ${name} -->\n`;
  const begin = text.indexOf(mark) + mark.length;
  const end = text.indexOf(END, begin);
  assert.ok(begin >= mark.length && end >= begin, `the document has no table ${name}`);
  if (process.env.UPDATE_GOLDEN) {
    await writeFile(DOCUMENT, text.slice(0, begin) + printed + text.slice(end));
  } else {
    assert.equal(text.slice(begin, end), printed, "UPDATE_GOLDEN=1 rewrites the table");
  }
}
