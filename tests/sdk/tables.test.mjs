// Items of a typed table, the records of the registry, read with the TypeScript SDK.

import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { Deserializer } from "@aptos-labs/ts-sdk";
import { Session, rejection, sameAddress } from "./session.mjs";

const RECORD = "0x1::registry::Record";
const NAME = "a name, with ünïcode";
const CONTENT = new TextEncoder().encode("what is recorded");
const hex = (bytes) => `0x${Buffer.from(bytes).toString("hex")}`;

describe("tables", { timeout: 120_000 }, () => {
  const session = Session.forSuite();
  let owner;
  let handle;
  let set;

  const item = (key, options, value_type = RECORD) =>
    session.aptos.getTableItem({
      handle,
      data: { key_type: "0x1::string::String", value_type, key },
      options,
    });

  before(async () => {
    owner = await session.funded();
    await session.call(owner, "0x1::registry::initialize");
    set = await session.call(owner, "0x1::registry::set", [NAME, CONTENT]);
    const registry = await session.aptos.getAccountResource({
      accountAddress: owner.accountAddress,
      resourceType: "0x1::registry::Registry",
    });
    assert.equal(registry.records.length, "1");
    handle = registry.records.inner.handle;
  });

  test("reads an item by its key", async () => {
    assert.deepEqual(await item(NAME), {
      content: hex(CONTENT),
      revision: "1",
      updated_usecs: set.timestamp,
    });
  });

  test("reads an item at a version", async () => {
    const changed = await session.call(owner, "0x1::registry::set", [
      "changing",
      new Uint8Array([1]),
    ]);
    await session.call(owner, "0x1::registry::set", ["changing", new Uint8Array([2, 3])]);
    assert.equal((await item("changing")).content, "0x0203");
    assert.equal((await item("changing")).revision, "2");
    const then = await item("changing", { ledgerVersion: changed.version });
    assert.deepEqual([then.content, then.revision], ["0x01", "1"]);
    const before = await rejection(
      item("changing", { ledgerVersion: BigInt(changed.version) - 1n }),
    );
    assert.equal(before.data.error_code, "table_item_not_found");
  });

  test("responds with 404 for a removed or unknown item", async () => {
    await session.call(owner, "0x1::registry::set", ["short-lived", CONTENT]);
    await item("short-lived");
    await session.call(owner, "0x1::registry::remove", ["short-lived"]);
    for (const key of ["short-lived", "never was"]) {
      const error = await rejection(item(key));
      assert.equal(error.status, 404);
      assert.equal(error.data.error_code, "table_item_not_found");
    }
  });

  test("rejects types that are not those of the table", async () => {
    const error = await rejection(item(NAME, {}, "0x1::registry::NoSuchStruct"));
    assert.equal(error.status, 400);
    assert.equal(error.data.error_code, "invalid_input");
  });

  test("reads an item in BCS by its key in BCS", async () => {
    const key = new TextEncoder().encode(NAME);
    const response = await fetch(`${session.api}/tables/${handle}/raw_item`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/x-bcs" },
      body: JSON.stringify({ key: hex([key.length, ...key]) }),
    });
    assert.equal(response.status, 200, await response.clone().text());
    const record = new Deserializer(new Uint8Array(await response.arrayBuffer()));
    assert.deepEqual(record.deserializeBytes(), CONTENT);
    assert.equal(record.deserializeU64(), 1n, "its revision");
    assert.equal(record.deserializeU64().toString(), set.timestamp);
    assert.equal(record.remaining(), 0);
  });

  test("decodes the change of an item in the transaction", () => {
    const change = set.changes.find(({ type }) => type === "write_table_item");
    // As on the reference node, the handle has leading zeros in changes but not in resources.
    sameAddress(change.handle, handle);
    assert.equal(change.data.key, NAME);
    assert.equal(change.data.key_type, "0x1::string::String");
    assert.equal(change.data.value_type, RECORD);
    assert.equal(change.data.value.content, hex(CONTENT));
  });
});
