// Objects with the TypeScript SDK: derived addresses, transfers, resources, deletion.

import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import {
  Account,
  AccountAddress,
  createObjectAddress,
  createUserDerivedObjectAddress,
} from "@aptos-labs/ts-sdk";
import { ASSET, Session, eventOf, rejection, sameAddress } from "./session.mjs";

const MANAGED = "0x1::managed_object";
const CORE = "0x1::object::ObjectCore";
const REFS = `${MANAGED}::ObjectRefs`;

describe("objects", { timeout: 120_000 }, () => {
  const session = Session.forSuite();
  let owner;
  let made = 0;

  before(async () => {
    owner = await session.funded();
  });

  /** Creates an object of the owner and returns its address. */
  async function named() {
    const seed = `object ${(made += 1)}`;
    const done = await session.call(owner, `${MANAGED}::create_named`, [
      new TextEncoder().encode(seed),
    ]);
    const { object } = eventOf(done, `${MANAGED}::ObjectCreation`).data;
    sameAddress(
      object,
      createObjectAddress(owner.accountAddress, seed),
      "where the SDK derives it",
    );
    return object;
  }

  const ownerOf = async (object) => (await session.view("0x1::object::owner", [object], [CORE]))[0];

  test("a named object has the address that the SDK and the view derive", async () => {
    const object = await named();
    const seed = new TextEncoder().encode(`object ${made}`);
    sameAddress(
      (await session.view("0x1::object::create_object_address", [owner.accountAddress, seed]))[0],
      object,
    );
    assert.deepEqual(await session.view("0x1::object::is_object", [object]), [true]);
    sameAddress(await ownerOf(object), owner.accountAddress);
  });

  test("a user-derived address equals the one of the SDK", async () => {
    const [derived] = await session.view("0x1::object::create_user_derived_object_address", [
      owner.accountAddress,
      ASSET,
    ]);
    sameAddress(
      derived,
      createUserDerivedObjectAddress(owner.accountAddress, AccountAddress.from(ASSET)),
    );
  });

  test("an object is transferred by the SDK's method", async () => {
    const [object, recipient] = [await named(), Account.generate()];
    const transaction = await session.aptos.transferDigitalAssetTransaction({
      sender: owner,
      digitalAssetAddress: object,
      recipient: recipient.accountAddress,
      digitalAssetType: REFS,
    });
    const done = await session.send(owner, transaction);
    assert.equal(done.success, true, done.vm_status);
    const moved = eventOf(done, "0x1::object::Transfer").data;
    sameAddress(moved.object, object);
    sameAddress(moved.from, owner.accountAddress);
    sameAddress(moved.to, recipient.accountAddress);
    sameAddress(await ownerOf(object), recipient.accountAddress);
  });

  test("an object is transferred by its indirect owner only", async () => {
    const [outer, inner, stranger] = [await named(), await named(), await session.funded()];
    await session.call(owner, "0x1::object::transfer_to_object", [inner, outer], [CORE, CORE]);
    sameAddress(await ownerOf(inner), outer);
    assert.deepEqual(
      await session.view("0x1::object::owns", [inner, owner.accountAddress], [CORE]),
      [true],
    );

    const stolen = await session.attempt(stranger, "0x1::object::transfer_call", [
      inner,
      stranger.accountAddress,
    ]);
    assert.match(stolen.vm_status, /^Move abort in 0x1::object: ENOT_OBJECT_OWNER\(0x50004\)/);
    await session.call(owner, "0x1::object::transfer_call", [inner, stranger.accountAddress]);
    sameAddress(await ownerOf(inner), stranger.accountAddress);
  });

  test("a transfer of an untransferable object fails", async () => {
    const object = await named();
    await session.call(owner, `${MANAGED}::set_ungated_transfer`, [object, false]);
    const rejected = await session.attempt(
      owner,
      "0x1::object::transfer",
      [object, Account.generate().accountAddress],
      [CORE],
    );
    assert.match(
      rejected.vm_status,
      /^Move abort in 0x1::object: ENO_UNGATED_TRANSFERS\(0x50003\)/,
    );
    sameAddress(await ownerOf(object), owner.accountAddress);
  });

  test("the resources of an object's group are read separately", async () => {
    const object = await named();
    const core = await session.aptos.getAccountResource({
      accountAddress: object,
      resourceType: CORE,
    });
    sameAddress(core.owner, owner.accountAddress);
    assert.equal(core.allow_ungated_transfer, true);
    const refs = await session.aptos.getAccountResource({
      accountAddress: object,
      resourceType: REFS,
    });
    assert.deepEqual(refs.transfer_ref, { self: object });
  });

  test("a deleted object is not found", async () => {
    const done = await session.call(owner, `${MANAGED}::create_generated`);
    const { object } = eventOf(done, `${MANAGED}::ObjectCreation`).data;
    await session.call(owner, `${MANAGED}::delete`, [object]);
    assert.deepEqual(await session.view("0x1::object::is_object", [object]), [false]);
    const deleted = await rejection(
      session.aptos.getAccountResource({ accountAddress: object, resourceType: CORE }),
    );
    assert.equal(deleted.data.error_code, "resource_not_found");
  });
});
