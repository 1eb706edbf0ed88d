// Comparison of the list in calls.mjs with the SDK and with the named files.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import { Aptos, AptosConfig, Network } from "@aptos-labs/ts-sdk";
import { NOT_SERVED, TESTED } from "./calls.mjs";

/** Returns the names of the object's own and inherited methods. */
function methodsOf(object) {
  const described = { ...Object.getOwnPropertyDescriptors(Object.getPrototypeOf(object)) };
  Object.assign(described, Object.getOwnPropertyDescriptors(object));
  const names = Object.keys(described).filter(
    (name) => typeof described[name].value === "function",
  );
  return names.filter((name) => name !== "constructor" && !name.startsWith("_"));
}

describe("the list of the SDK's calls", () => {
  const aptos = new Aptos(new AptosConfig({ network: Network.LOCAL }));
  const parts = {
    "transaction.build": aptos.transaction.build,
    "transaction.simulate": aptos.transaction.simulate,
    "transaction.submit": aptos.transaction.submit,
    "transaction.batch": aptos.transaction.batch,
    "account.abstraction": aptos.account.abstraction,
  };
  /** Methods that `forSingleAccount` calls. */
  const INNER = [
    "transaction.batch.start",
    "transaction.batch.push",
    "transaction.batch.registerToEvents",
  ];
  const listed = [TESTED, NOT_SERVED].flatMap((lists) => Object.values(lists).flat());

  test("has every method of the SDK exactly once", () => {
    const ofParts = Object.entries(parts).flatMap(([path, part]) =>
      methodsOf(part).map((name) => `${path}.${name}`),
    );
    const methods = [...methodsOf(aptos), ...ofParts].filter((name) => !INNER.includes(name));
    assert.deepEqual(listed.toSorted(), methods.toSorted());
  });

  for (const [file, names] of Object.entries(TESTED)) {
    test(`${file} calls its listed methods`, async () => {
      const text = await readFile(new URL(file, import.meta.url), "utf8");
      for (const name of names) {
        const call = name.split(".").slice(-2).join(".");
        assert.ok(text.includes(`.${call}(`), `${file} does not call ${name}`);
      }
    });
  }
});
