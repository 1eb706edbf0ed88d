// Golden vectors: the output of the unmodified TypeScript SDK for fixed keys and transactions.
//
// `goldenFiles()` returns the content of every file of tests/golden. make_golden.mjs writes the
// files, golden.test.mjs compares the committed ones with the SDK, and
// src/ledger/execution/tests/golden.rs compares the node's types with them.

import { AccountAddress, parseTypeTag } from "@aptos-labs/ts-sdk";
import {
  ed25519,
  hex,
  multiEd25519,
  multiKey,
  multiKeyWithPasskey,
  passkey,
  recipient,
  secondEd25519,
  seed,
  singleEd25519,
  singleSecp256k1,
  thirdEd25519,
} from "./golden_accounts.mjs";
import { derivedAddresses, resources } from "./golden_resources.mjs";
import { transactions } from "./golden_transactions.mjs";

// --- accounts -----------------------------------------------------------------------------------

/**
 * Returns the vector of an account. The preimage of its authentication key is `publicKey` (the bare
 * key for ed25519, the BCS form for newer kinds) followed by the byte `scheme`.
 */
function accountVector(name, scheme, account, publicKey) {
  return {
    name,
    scheme,
    public_key: hex(publicKey),
    authentication_key: account.publicKey.authKey().toString(),
    address: account.accountAddress.toStringLong(),
  };
}

function accounts() {
  return [
    { ...accountVector("ed25519", 0, ed25519, ed25519.publicKey.toUint8Array()), seed: seed(0x01) },
    {
      ...accountVector("second ed25519", 0, secondEd25519, secondEd25519.publicKey.toUint8Array()),
      seed: seed(0x02),
    },
    {
      ...accountVector("third ed25519", 0, thirdEd25519, thirdEd25519.publicKey.toUint8Array()),
      seed: seed(0xfe),
    },
    accountVector("multi-ed25519", 1, multiEd25519, multiEd25519.publicKey.toUint8Array()),
    accountVector("single key ed25519", 2, singleEd25519, singleEd25519.publicKey.bcsToBytes()),
    accountVector(
      "single key secp256k1",
      2,
      singleSecp256k1,
      singleSecp256k1.publicKey.bcsToBytes(),
    ),
    accountVector("multi key", 3, multiKey, multiKey.publicKey.bcsToBytes()),
    accountVector("single key secp256r1", 2, passkey, passkey.publicKey.bcsToBytes()),
    accountVector(
      "multi key with secp256r1",
      3,
      multiKeyWithPasskey,
      multiKeyWithPasskey.publicKey.bcsToBytes(),
    ),
  ];
}

// --- addresses ----------------------------------------------------------------------------------

function addresses() {
  const texts = [
    "0x0",
    "0x1",
    "0xa",
    "0xf",
    "0x10",
    "0xa550c18",
    ed25519.accountAddress.toStringLong(),
    `0x${"0".repeat(61)}abc`,
    `0x0${"f".repeat(63)}`,
    `0x${"Ab".repeat(32)}`,
    "f".repeat(64),
  ];
  return texts.map((text) => {
    const address = AccountAddress.from(text, { maxMissingChars: 63 });
    return {
      text,
      long: address.toStringLong(),
      short: address.toStringShort(),
      bcs: hex(address.bcsToBytes()),
    };
  });
}

// --- types --------------------------------------------------------------------------------------

const COIN = "0x1::aptos_coin::AptosCoin";

function types() {
  const texts = [
    // Without i8 to i256: this SDK numbers them 11 to 16. On the wire 11 is the function type, and
    // they are 12 to 17, as the Rust test states.
    ...["bool", "u8", "u16", "u32", "u64", "u128", "u256", "address", "signer"],
    "vector<u8>",
    "vector<vector<address>>",
    COIN,
    "0x1::string::String",
    `0x1::coin::CoinStore<${COIN}>`,
    `0x1::option::Option<vector<0x1::object::Object<0x1::fungible_asset::Metadata>>>`,
    `${ed25519.accountAddress.toStringLong()}::_m1::Pair_2<u8, vector<${COIN}>>`,
    `${recipient.toStringLong()}::m::Three<u8,bool,  0x2::a::B<0x3::c::D<u256, u16>, address>>`,
    `0x0001::coin::CoinStore<0x${"1".padStart(64, "0")}::aptos_coin::AptosCoin>`,
  ];
  return texts.map((text) => {
    const tag = parseTypeTag(text);
    const vector = { text, printed: tag.toString(), bcs: hex(tag.bcsToBytes()) };
    // Paths and state keys contain the struct tag without the type tag's variant index.
    return tag.isStruct() ? { ...vector, struct_bcs: hex(tag.value.bcsToBytes()) } : vector;
  });
}

// ------------------------------------------------------------------------------------------------

/** Returns the text of each file in tests/golden by its name. */
export function goldenFiles() {
  const contents = {
    accounts: accounts(),
    addresses: addresses(),
    derived_addresses: derivedAddresses(),
    resources: resources(),
    transactions: transactions(),
    types: types(),
  };
  return Object.fromEntries(
    Object.entries(contents).map(([name, value]) => [
      `${name}.json`,
      `${JSON.stringify(value, null, 2)}\n`,
    ]),
  );
}
