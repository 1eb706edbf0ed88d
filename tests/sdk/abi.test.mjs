// The interfaces of the framework's modules, as the TypeScript SDK reads them before it builds a call.

import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { fetchEntryFunctionAbi, fetchViewFunctionAbi, parseTypeTag } from "@aptos-labs/ts-sdk";
import { Session } from "./session.mjs";

describe("interfaces of modules", { timeout: 120_000 }, () => {
  const session = Session.forSuite();
  let modules;

  before(async () => {
    modules = (await session.aptos.getAccountModules({ accountAddress: "0x1" })).map(
      ({ abi }) => abi,
    );
  });

  /** Calls `read` for each function that `chosen` takes, and gives how many there were. */
  async function each(chosen, read) {
    let count = 0;
    for (const { address, name: module, exposed_functions } of modules) {
      for (const declared of exposed_functions.filter(chosen)) {
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

  test("the SDK knows how to call every entry function", async () => {
    assert.ok((await each(({ is_entry }) => is_entry, fetchEntryFunctionAbi)) > 0);
  });

  test("the SDK knows how to ask every view function", async () => {
    assert.ok((await each(({ is_view }) => is_view, fetchViewFunctionAbi)) > 0);
  });

  test("the SDK reads the type of every field and of every result", () => {
    const types = modules.flatMap(({ structs, exposed_functions }) => [
      ...structs.flatMap(({ fields }) => fields.map(({ type }) => type)),
      ...exposed_functions.flatMap((declared) => declared.return),
    ]);
    assert.ok(types.length > 0);
    for (const type of types)
      assert.equal(parseTypeTag(type, { allowGenerics: true }).toString(), type);
  });
});
