// Key rotation and resource accounts with the TypeScript SDK.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Account, Ed25519PrivateKey, createResourceAddress } from "@aptos-labs/ts-sdk";
import { COIN, Session, eventOf, rejection, sameAddress } from "./session.mjs";

describe("keys of accounts", { timeout: 120_000 }, () => {
  const session = Session.forSuite();

  const pay = (signer) =>
    session.attempt(signer, "0x1::aptos_account::transfer", [Account.generate().accountAddress, 5]);
  const keyOf = async ({ accountAddress }) =>
    (await session.aptos.getAccountInfo({ accountAddress })).authentication_key;
  const originOf = (authenticationKey) =>
    session.aptos.lookupOriginalAccountAddress({ authenticationKey });

  test("rotates a key with proofs of both keys, and accepts only the new one", async () => {
    const before = await session.funded();
    const newKey = Ed25519PrivateKey.generate();
    const transaction = await session.aptos.rotateAuthKey({
      fromAccount: before,
      toNewPrivateKey: newKey,
    });
    const done = await session.send(before, transaction);
    assert.equal(done.success, true, done.vm_status);
    eventOf(done, "0x1::account::KeyRotation");

    const after = Account.fromPrivateKey({ privateKey: newKey, address: before.accountAddress });
    assert.equal(await keyOf(before), after.publicKey.authKey().toString());
    const old = await rejection(pay(before));
    assert.equal(old.data.vm_error_code, 2, "INVALID_AUTH_KEY");
    assert.equal((await pay(after)).success, true);
    sameAddress(await originOf(after.publicKey.authKey().toString()), before.accountAddress);
  });

  test("finds only the newest key after two rotations", async () => {
    const first = await session.funded();
    const [second, third] = [Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()];
    const rotate = async (from, toNewPrivateKey) => {
      const done = await session.send(
        from,
        await session.aptos.rotateAuthKey({ fromAccount: from, toNewPrivateKey }),
      );
      assert.equal(done.success, true, done.vm_status);
      return Account.fromPrivateKey({ privateKey: toNewPrivateKey, address: first.accountAddress });
    };
    const middle = await rotate(first, second);
    const last = await rotate(middle, third);
    assert.equal((await pay(last)).success, true);
    const middleKey = middle.publicKey.authKey().toString();
    sameAddress(await originOf(middleKey), middleKey, "no account has this key any more");
    sameAddress(await originOf(last.publicKey.authKey().toString()), first.accountAddress);
  });

  test("rotates a key without a proof", async () => {
    const before = await session.funded();
    const privateKey = Ed25519PrivateKey.generate();
    const done = await session.send(
      before,
      await session.aptos.rotateAuthKeyUnverified({
        fromAccount: before,
        toNewPublicKey: privateKey.publicKey(),
      }),
    );
    assert.equal(done.success, true, done.vm_status);
    const after = Account.fromPrivateKey({ privateKey, address: before.accountAddress });
    assert.equal((await pay(after)).success, true);
    const newKey = after.publicKey.authKey().toString();
    sameAddress(await originOf(newKey), newKey, "only a proven change is in the table");
  });

  test("rejects a proof by another key", async () => {
    const [account, other] = [await session.funded(), await session.funded()];
    const before = await keyOf(account);
    // The proofs name another account as originator.
    const built = await session.aptos.rotateAuthKey({
      fromAccount: other,
      toNewPrivateKey: Ed25519PrivateKey.generate(),
    });
    built.rawTransaction.sender = account.accountAddress;
    const rejected = await session.send(account, built);
    assert.match(rejected.vm_status, /^Move abort in 0x1::account: E[A-Z_]+\(0x/);
    assert.equal(await keyOf(account), before);
  });

  test("creates a resource account at the SDK's address, with the given key", async () => {
    const creator = await session.funded();
    const seed = new TextEncoder().encode("a seed");
    const signer = Account.generate();
    const address = createResourceAddress(creator.accountAddress, seed);
    await session.call(creator, "0x1::resource_account::create_resource_account_and_fund", [
      seed,
      signer.publicKey.authKey().toUint8Array(),
      100_000_000,
    ]);
    assert.equal(
      await session.aptos.getBalance({ accountAddress: address, asset: COIN }),
      100_000_000,
    );
    const resource = Account.fromPrivateKey({ privateKey: signer.privateKey, address });
    assert.equal(await keyOf(resource), signer.publicKey.authKey().toString());
    assert.equal((await pay(resource)).success, true);

    const again = await session.attempt(creator, "0x1::resource_account::create_resource_account", [
      seed,
      [],
    ]);
    assert.match(again.vm_status, /^Move abort in 0x1::account: E[A-Z_]+\(0x/);
  });
});
