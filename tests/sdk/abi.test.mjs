// Module ABIs, read by the functions of the TypeScript SDK that build calls.

import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { fetchEntryFunctionAbi, fetchViewFunctionAbi, parseTypeTag } from "@aptos-labs/ts-sdk";
import { Session } from "./session.mjs";

describe("module ABIs", { timeout: 120_000 }, () => {
  const session = Session.forSuite();
  let modules;

  before(async () => {
    modules = (await session.aptos.getAccountModules({ accountAddress: "0x1" })).map(
      ({ abi }) => abi,
    );
  });

  /** Reads the ABI of each function that fits `isSelected`, and returns their number. */
  async function readAll(isSelected, read) {
    let count = 0;
    for (const { address, name: module, exposed_functions } of modules) {
      for (const declared of exposed_functions.filter(isSelected)) {
        const abi = await read(address, module, declared.name, session.aptos.config);
        assert.equal(
          abi.typeParameters.length,
          declared.generic_type_params.length,
          `${module}::${declared.name}`,
        );
        const signers = declared.params.filter((param) => /^&?signer$/.test(param)).length;
        assert.equal(
          abi.parameters.length,
          declared.params.length - signers,
          `${module}::${declared.name}`,
        );
        count += 1;
      }
    }
    return count;
  }

  test("the SDK reads the ABI of every entry function", async () => {
    assert.ok((await readAll(({ is_entry }) => is_entry, fetchEntryFunctionAbi)) > 0);
  });

  test("the SDK reads the ABI of every view function", async () => {
    assert.ok((await readAll(({ is_view }) => is_view, fetchViewFunctionAbi)) > 0);
  });

  test("the SDK parses the type of every field and result", () => {
    const types = modules.flatMap(({ structs, exposed_functions }) => [
      ...structs.flatMap(({ fields }) => fields.map(({ type }) => type)),
      ...exposed_functions.flatMap((declared) => declared.return),
    ]);
    assert.ok(types.length > 0);
    for (const type of types)
      assert.equal(parseTypeTag(type, { allowGenerics: true }).toString(), type);
  });
});
