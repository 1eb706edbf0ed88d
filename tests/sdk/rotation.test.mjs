// Rotation between kinds of keys with the TypeScript SDK.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Account, Ed25519Account, MultiEd25519Account } from "@aptos-labs/ts-sdk";
import { KINDS } from "./kinds.mjs";
import { Session, eventOf, rejection, sameAddress } from "./session.mjs";

const MULTI_ED25519 = "multi-ed25519, 2 of 3";

describe("rotation between kinds of keys", { timeout: 120_000 }, () => {
  const session = Session.forSuite();

  const pay = (signer) =>
    session.attempt(signer, "0x1::aptos_account::transfer", [Account.generate().accountAddress, 5]);
  const originOf = (account) =>
    session.aptos.lookupOriginalAccountAddress({
      authenticationKey: account.publicKey.authKey().toString(),
    });

  /** Sends a rotation. Asserts that `to` can sign for the account and `from` cannot. */
  async function rotate(from, to, transaction) {
    const done = await session.send(from, transaction);
    assert.equal(done.success, true, done.vm_status);
    const newKey = to.publicKey.authKey().toString();
    assert.equal(eventOf(done, "0x1::account::KeyRotationToPublicKey").data.new_auth_key, newKey);
    const { authentication_key } = await session.aptos.getAccountInfo({
      accountAddress: from.accountAddress,
    });
    assert.equal(authentication_key, newKey);

    const old = await rejection(pay(from));
    assert.equal(old.data.vm_error_code, 2, "INVALID_AUTH_KEY");
    const paid = await pay(to);
    assert.equal(paid.success, true, paid.vm_status);
    sameAddress(paid.sender, from.accountAddress);
  }

  const proven = async (from, to) =>
    rotate(from, to, await session.aptos.rotateAuthKey({ fromAccount: from, toAccount: to }));
  const unproven = async (from, to) =>
    rotate(
      from,
      to,
      await session.aptos.rotateAuthKeyUnverified({
        fromAccount: from,
        toNewPublicKey: to.publicKey,
      }),
    );

  test("rotates with proofs from ed25519 to multi-ed25519 and back", async () => {
    const first = await session.funded();
    const second = KINDS[MULTI_ED25519](first.accountAddress);
    assert.ok(second instanceof MultiEd25519Account);
    await proven(first, second);
    sameAddress(await originOf(second), first.accountAddress);

    const third = KINDS.ed25519(first.accountAddress);
    assert.ok(third instanceof Ed25519Account);
    await proven(second, third);
    sameAddress(await originOf(third), first.accountAddress);
    sameAddress(
      await originOf(second),
      second.publicKey.authKey().toString(),
      "no account has this key",
    );
  });

  for (const [name, make] of Object.entries(KINDS)) {
    test(`rotates without a proof to ${name}`, async () => {
      const first = await session.funded();
      const second = make(first.accountAddress);
      await unproven(first, second);
      const newKey = second.publicKey.authKey().toString();
      sameAddress(await originOf(second), newKey, "the table has only rotations with proofs");
    });
  }

  test("rotates through every kind in turn", async () => {
    let holder = await session.funded();
    for (const make of Object.values(KINDS)) {
      const next = make(holder.accountAddress);
      await unproven(holder, next);
      holder = next;
    }
  });
});
