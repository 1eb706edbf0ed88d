// Comparison of the list in calls.mjs with the SDK, with the named files, and with the table of
// docs/reference/sdks.md. The calls that a node alone cannot serve are sent.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { before, describe, test } from "node:test";
import { Account, Aptos, AptosConfig, Network } from "@aptos-labs/ts-sdk";
import { EphemeralKeyPair } from "@aptos-labs/ts-sdk/keyless";
import { INNER, NOT_SERVED, TESTED } from "./calls.mjs";
import { checkTable } from "./sdk_table.mjs";
import { endpoints, Session } from "./session.mjs";

/** Objects of the client that have methods of their own. */
const PARTS = [
  "transaction.build",
  "transaction.simulate",
  "transaction.submit",
  "transaction.batch",
  "account.abstraction",
];

/** Returns the part of `client` at a path. */
function partOf(client, path) {
  return path.reduce((part, name) => part[name], client);
}

/** Returns the names of the object's own and inherited methods. */
function methodsOf(object) {
  const described = { ...Object.getOwnPropertyDescriptors(Object.getPrototypeOf(object)) };
  Object.assign(described, Object.getOwnPropertyDescriptors(object));
  const names = Object.keys(described).filter(
    (name) => typeof described[name].value === "function",
  );
  return names.filter((name) => name !== "constructor" && !name.startsWith("_"));
}

/** Returns a token as an OpenID provider signs it. Its signature is invalid. */
function identityToken() {
  const parts = [
    { alg: "RS256", kid: "a key" },
    { iss: "https://accounts.example.com", aud: "an app", sub: "a user", nonce: "1", iat: 1 },
  ];
  const encoded = parts.map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"));
  return [...encoded, "c2lnbmF0dXJl"].join(".");
}

/** Returns the arguments of every call that is not served: each call reads some of them. */
function argumentsOf(owner, api) {
  const { accountAddress: address, publicKey, privateKey } = owner;
  return {
    ...{ accountAddress: address, address, ownerAddress: address, creatorAddress: address },
    ...{ objectAddress: address, digitalAssetAddress: address, collectionAddress: address },
    ...{ collectionId: address, poolAddress: address, delegatorAddress: address },
    ...{ recipient: address, publicKey, privateKey, signer: owner, creator: owner },
    ...{ account: owner, sender: owner, limit: 1, name: "name.apt", domain: "domain" },
    ...{ collection: "c", collectionName: "c", description: "d", uri: "u", assetType: "0xa" },
    ...{ propertyKey: "key", propertyType: "STRING", propertyValue: "value" },
    ...{ authenticationFunction: "0x1::module::authenticate", expiration: { policy: "domain" } },
    ...{ metadataBytes: "0x00", moduleBytecode: ["0x00"], iss: "https://accounts.example.com" },
    ...{ jwt: identityToken(), ephemeralKeyPair: EphemeralKeyPair.generate() },
    jwksUrl: `${api}/no_keys`,
    query: { query: "{ user_transactions(limit: 1) { version } }" },
  };
}

/** Calls whose argument of this name is an address instead of an account. */
const BY_ADDRESS = {
  sender: ["setTargetAddress", "clearTargetAddress", "setPrimaryName", "renewDomain"],
  account: ["publishPackageTransaction"],
};

describe("the list of the SDK's calls", { timeout: 120_000 }, () => {
  const session = Session.forSuite();
  const notServed = NOT_SERVED.flatMap(({ calls }) => calls);
  let aptos;
  let owner;

  before(async () => {
    owner = await session.funded();
    // The services of keyless accounts are at no default address, which would be a public one.
    const services = { pepper: session.api, prover: session.api };
    const addresses = { ...endpoints(session.node), ...services };
    aptos = new Aptos(new AptosConfig({ network: Network.LOCAL, ...addresses }));
  });

  test("has every method of the SDK exactly once", () => {
    const ofParts = PARTS.flatMap((path) =>
      methodsOf(partOf(aptos, path.split("."))).map((name) => `${path}.${name}`),
    );
    const listed = [...Object.values(TESTED).flat(), ...INNER, ...notServed];
    assert.deepEqual(listed.toSorted(), [...methodsOf(aptos), ...ofParts].toSorted());
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

  /**
   * Sends a call, and its transaction if it builds one. Returns the reason of the rejection, or "no
   * value" if the SDK returns none.
   */
  async function rejectionOf(call) {
    const path = call.split(".");
    const method = path.pop();
    const given = argumentsOf(owner, session.api);
    for (const [name, methods] of Object.entries(BY_ADDRESS)) {
      if (methods.includes(method)) given[name] = owner.accountAddress;
    }
    try {
      const built = await partOf(aptos, path)[method](given);
      const transaction = built?.transaction ?? built;
      if (transaction === undefined) return "no value";
      assert.ok(transaction.rawTransaction, `${call} is served`);
      return (await session.send(owner, transaction)).vm_status;
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      return error.message;
    }
  }

  for (const { reason, rejection, calls } of NOT_SERVED) {
    test(`rejects what ${reason}`, async () => {
      for (const call of calls) assert.match(await rejectionOf(call), rejection, call);
    });
  }

  test("sends a transaction without a submitter of its own", async () => {
    aptos.setIgnoreTransactionSubmitter(true);
    const transaction = await aptos.transferCoinTransaction({
      sender: owner.accountAddress,
      recipient: Account.generate().accountAddress,
      amount: 1,
    });
    assert.equal((await session.send(owner, transaction)).success, true);
  });

  test("is the table of the document", async () => {
    const tested = Object.entries(TESTED).flatMap(([file, names]) =>
      names.map((name) => [name, "works", `\`${file}\``]),
    );
    const inner = INNER.map((name) => [name, "works", "part of `forSingleAccount`"]);
    const rejected = NOT_SERVED.flatMap(({ reason, result, calls }) =>
      calls.map((name) => [name, result, reason]),
    );
    const rows = [...tested, ...inner, ...rejected].toSorted(([a], [b]) => (a < b ? -1 : 1));
    await checkTable(
      "typescript",
      ["method", "result", "test, or reason"],
      rows.map(([name, ...others]) => [`\`${name}\``, ...others]),
    );
  });
});
