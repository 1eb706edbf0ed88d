// Objects with the TypeScript SDK: their addresses are those that its helpers derive, and they change
// hands by its own calls.

import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import {
  Account,
  AccountAddress,
  createObjectAddress,
  createUserDerivedObjectAddress,
} from "@aptos-labs/ts-sdk";
import { ASSET, Session, eventOf, refusal, sameAddress } from "./session.mjs";

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

  /** A new object that belongs to the owner. */
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

  test("a named object is where the SDK and the view derive it", async () => {
    const object = await named();
    const seed = new TextEncoder().encode(`object ${made}`);
    sameAddress(
      (await session.view("0x1::object::create_object_address", [owner.accountAddress, seed]))[0],
      object,
    );
    assert.deepEqual(await session.view("0x1::object::is_object", [object]), [true]);
    sameAddress(await ownerOf(object), owner.accountAddress);
  });

  test("a derived address is the one that the SDK derives", async () => {
    const [derived] = await session.view("0x1::object::create_user_derived_object_address", [
      owner.accountAddress,
      ASSET,
    ]);
    sameAddress(
      derived,
      createUserDerivedObjectAddress(owner.accountAddress, AccountAddress.from(ASSET)),
    );
  });

  test("an object changes hands by the SDK's own call", async () => {
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

  test("an object is moved by who owns it through another object, and by nobody else", async () => {
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

  test("an object that must not be moved stays", async () => {
    const object = await named();
    await session.call(owner, `${MANAGED}::set_ungated_transfer`, [object, false]);
    const refused = await session.attempt(
      owner,
      "0x1::object::transfer",
      [object, Account.generate().accountAddress],
      [CORE],
    );
    assert.match(refused.vm_status, /^Move abort in 0x1::object: ENO_UNGATED_TRANSFERS\(0x50003\)/);
    sameAddress(await ownerOf(object), owner.accountAddress);
  });

  test("an object's resources are read one by one out of their group", async () => {
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

  test("a deleted object is gone", async () => {
    const done = await session.call(owner, `${MANAGED}::create_generated`);
    const { object } = eventOf(done, `${MANAGED}::ObjectCreation`).data;
    await session.call(owner, `${MANAGED}::delete`, [object]);
    assert.deepEqual(await session.view("0x1::object::is_object", [object]), [false]);
    const gone = await refusal(
      session.aptos.getAccountResource({ accountAddress: object, resourceType: CORE }),
    );
    assert.equal(gone.data.error_code, "resource_not_found");
  });
});
