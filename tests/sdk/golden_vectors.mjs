// The golden vectors: what the unmodified TypeScript SDK makes of fixed keys and fixed transactions.
//
// `goldenFiles()` returns the content of every file of tests/golden. make_golden.mjs writes them,
// golden.test.mjs holds the committed files against them, and the Rust test of crate `ledger`
// (src/ledger/tests/golden.rs) holds the node's own types against them.

import {
  AccountAddress,
  AccountAuthenticatorEd25519,
  AccountAuthenticatorNoAccountAuthenticator,
  Bool,
  ChainId,
  Ed25519Account,
  Ed25519PrivateKey,
  Ed25519Signature,
  EntryFunction,
  Hex,
  I8,
  I256,
  MoveVector,
  MultiAgentTransaction,
  MultiEd25519Account,
  MultiEd25519PublicKey,
  MultiKey,
  MultiKeyAccount,
  MultiSig,
  MultiSigTransactionPayload,
  RawTransaction,
  Script,
  Secp256k1PrivateKey,
  SignedTransaction,
  SimpleTransaction,
  SingleKeyAccount,
  TransactionAuthenticatorSingleSender,
  TransactionExecutableEmpty,
  TransactionExecutableEntryFunction,
  TransactionExecutableScript,
  TransactionExtraConfigV1,
  TransactionInnerPayloadV1,
  TransactionPayloadEntryFunction,
  TransactionPayloadMultiSig,
  TransactionPayloadScript,
  U8,
  U16,
  U32,
  U64,
  U128,
  U256,
  generateSignedTransaction,
  generateSigningMessageForTransaction,
  generateUserTransactionHash,
  hashValues,
  parseTypeTag,
} from "@aptos-labs/ts-sdk";
import { derivedAddresses, resources } from "./golden_resources.mjs";

const CHAIN_ID = 4;
const U64_MAX = 0xffff_ffff_ffff_ffffn;

const hex = (bytes) => Hex.fromHexInput(bytes).toString();

/** A private key's 32 bytes: `byte` repeated. Fixed, so that every run gives the same vectors. */
const seed = (byte) => `0x${byte.toString(16).padStart(2, "0").repeat(32)}`;
const ed25519Key = (byte) => new Ed25519PrivateKey(seed(byte));
const secp256k1Key = (byte) => new Secp256k1PrivateKey(seed(byte));

// --- accounts -----------------------------------------------------------------------------------

const ed25519 = new Ed25519Account({ privateKey: ed25519Key(0x01) });
const secondEd25519 = new Ed25519Account({ privateKey: ed25519Key(0x02) });
const thirdEd25519 = new Ed25519Account({ privateKey: ed25519Key(0xfe) });
const singleEd25519 = new SingleKeyAccount({ privateKey: ed25519Key(0x03) });
const singleSecp256k1 = new SingleKeyAccount({ privateKey: secp256k1Key(0x04) });
const multiKey = new MultiKeyAccount({
  multiKey: new MultiKey({
    publicKeys: [ed25519Key(0x05).publicKey(), secp256k1Key(0x06).publicKey(), ed25519Key(0x07).publicKey()],
    signaturesRequired: 2,
  }),
  signers: [
    new SingleKeyAccount({ privateKey: secp256k1Key(0x06) }),
    new SingleKeyAccount({ privateKey: ed25519Key(0x07) }),
  ],
});
const multiEd25519 = new MultiEd25519Account({
  publicKey: new MultiEd25519PublicKey({
    publicKeys: [0x08, 0x09, 0x0a].map((byte) => ed25519Key(byte).publicKey()),
    threshold: 2,
  }),
  signers: [ed25519Key(0x08), ed25519Key(0x0a)],
});
const rotated = new Ed25519Account({
  privateKey: ed25519Key(0x0b),
  address: secondEd25519.accountAddress,
});

/**
 * `scheme` is the number that closes the preimage of the authentication key; `public_key` holds the
 * other bytes of it: the bare key for ed25519, the BCS form for the newer kinds.
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
    { ...accountVector("second ed25519", 0, secondEd25519, secondEd25519.publicKey.toUint8Array()), seed: seed(0x02) },
    { ...accountVector("third ed25519", 0, thirdEd25519, thirdEd25519.publicKey.toUint8Array()), seed: seed(0xfe) },
    accountVector("multi-ed25519", 1, multiEd25519, multiEd25519.publicKey.toUint8Array()),
    accountVector("single key ed25519", 2, singleEd25519, singleEd25519.publicKey.bcsToBytes()),
    accountVector("single key secp256k1", 2, singleSecp256k1, singleSecp256k1.publicKey.bcsToBytes()),
    accountVector("multi key", 3, multiKey, multiKey.publicKey.bcsToBytes()),
  ];
}

const recipient = AccountAddress.from(`0x${"cd".repeat(32)}`);

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
    return { text, long: address.toStringLong(), short: address.toStringShort(), bcs: hex(address.bcsToBytes()) };
  });
}

// --- types --------------------------------------------------------------------------------------

const COIN = "0x1::aptos_coin::AptosCoin";

function types() {
  const texts = [
    // Without i8 to i256: this SDK numbers them 11 to 16, but on the wire 11 is the function type
    // and they are 12 to 17, which the Rust test states by itself.
    ...["bool", "u8", "u16", "u32", "u64", "u128", "u256", "address", "signer"],
    "vector<u8>",
    "vector<vector<address>>",
    COIN,
    "0x1::string::String",
    `0x1::coin::CoinStore<${COIN}>`,
    `0x1::option::Option<vector<0x1::object::Object<0x1::fungible_asset::Metadata>>>`,
    `${ed25519.accountAddress.toStringLong()}::_m1::Pair_2<u8, vector<${COIN}>>`,
    `${recipient.toStringLong()}::m::Three<u8,bool,  0x2::a::B<0x3::c::D<u256, u16>, address>>`,
    `0x0001::coin::CoinStore<0x0000000000000000000000000000000000000000000000000000000000000001::aptos_coin::AptosCoin>`,
  ];
  return texts.map((text) => {
    const tag = parseTypeTag(text);
    const vector = { text, printed: tag.toString(), bcs: hex(tag.bcsToBytes()) };
    // The struct tag alone stands in paths and state keys, without the type tag's variant index.
    return tag.isStruct() ? { ...vector, struct_bcs: hex(tag.value.bcsToBytes()) } : vector;
  });
}

// --- transactions -------------------------------------------------------------------------------


const transfer = () => EntryFunction.build("0x1::aptos_account", "transfer", [], [recipient, new U64(1_000)]);
const transferCoins = () =>
  EntryFunction.build(
    "0x1::aptos_account",
    "transfer_coins",
    [parseTypeTag(COIN)],
    [recipient, new U64(U64_MAX)],
  );
const manyTypes = () =>
  EntryFunction.build(
    `0x${"0".repeat(61)}abc::module_1`,
    "entry_2",
    [parseTypeTag("vector<0x1::coin::Coin<0x1::aptos_coin::AptosCoin>>"), parseTypeTag("u256"), parseTypeTag("u16")],
    [MoveVector.U8([]), MoveVector.MoveString(["", "é"]), new Bool(true), new U256(2n ** 255n)],
  );
const script = () =>
  new Script(
    new Uint8Array([0xa1, 0x1c, 0xeb, 0x0b, 0, 1, 2, 3]),
    [parseTypeTag(COIN)],
    [
      new U8(255),
      new U64(U64_MAX),
      new U128(2n ** 127n),
      recipient,
      MoveVector.U8([1, 2, 3]),
      new Bool(false),
      new U16(65_535),
      new U32(7),
      new U256(2n ** 200n),
      new I8(-1),
      new I256(-(2n ** 250n)),
    ],
  );

const entryPayload = (call) => new TransactionPayloadEntryFunction(call);
const innerPayload = (executable, multisigAddress, nonce) =>
  new TransactionInnerPayloadV1(executable, new TransactionExtraConfigV1(multisigAddress, nonce));

function rawTransaction(sender, payload, { sequenceNumber = 7n } = {}) {
  return new RawTransaction(
    sender.accountAddress,
    sequenceNumber,
    payload,
    200_000n,
    100n,
    1_900_000_000n,
    new ChainId(CHAIN_ID),
  );
}

/** All that the SDK computes of a transaction; `sender` tells the authentication key. */
function transactionVector(name, parts, sender) {
  const { transaction } = parts;
  const raw = transaction.rawTransaction;
  return {
    name,
    sender: raw.sender.toStringLong(),
    sequence_number: raw.sequence_number.toString(),
    authentication_key: sender.publicKey.authKey().toString(),
    raw: hex(raw.bcsToBytes()),
    signing_message: hex(generateSigningMessageForTransaction(transaction)),
    signed: hex(generateSignedTransaction(parts)),
    hash: generateUserTransactionHash(parts),
  };
}

/** A transaction that `sender` alone signs. */
function simple(name, sender, payload, options) {
  const transaction = new SimpleTransaction(rawTransaction(sender, payload, options));
  return transactionVector(
    name,
    { transaction, senderAuthenticator: sender.signTransactionWithAuthenticator(transaction) },
    sender,
  );
}

/** A transaction of several signers, with or without one who pays for it. */
function shared(name, { sender, secondary = [], feePayer }) {
  const raw = rawTransaction(sender, entryPayload(transfer()));
  const addresses = secondary.map((account) => account.accountAddress);
  const transaction =
    secondary.length > 0
      ? new MultiAgentTransaction(raw, addresses, feePayer?.accountAddress)
      : new SimpleTransaction(raw, feePayer.accountAddress);
  const sign = (account) => account.signTransactionWithAuthenticator(transaction);
  return transactionVector(
    name,
    {
      transaction,
      senderAuthenticator: sign(sender),
      additionalSignersAuthenticators: secondary.length > 0 ? secondary.map(sign) : undefined,
      feePayerAuthenticator: feePayer ? sign(feePayer) : undefined,
    },
    sender,
  );
}

/** What the SDK sends to be simulated: the authenticator carries no signature. */
function unsigned(name, authenticator) {
  const transaction = new SimpleTransaction(rawTransaction(ed25519, entryPayload(transfer())));
  return transactionVector(name, { transaction, senderAuthenticator: authenticator }, ed25519);
}

/** An ed25519 signature in the newer wire form, which the SDK reads but does not choose by itself. */
function singleSenderEd25519(name) {
  const vector = simple(name, ed25519, entryPayload(transfer()));
  const transaction = new SimpleTransaction(rawTransaction(ed25519, entryPayload(transfer())));
  const authenticator = ed25519.signTransactionWithAuthenticator(transaction);
  const signed = new SignedTransaction(
    transaction.rawTransaction,
    new TransactionAuthenticatorSingleSender(authenticator),
  );
  const bytes = signed.bcsToBytes();
  const hash = hashValues([hashValues(["APTOS::Transaction"]), new Uint8Array([0]), bytes]);
  return { ...vector, signed: hex(bytes), hash: hex(hash) };
}

function transactions() {
  const multisig = AccountAddress.from(`0x${"3c".repeat(32)}`);
  const zeroSignature = new Ed25519Signature(new Uint8Array(64));
  return [
    simple("ed25519 transfer", ed25519, entryPayload(transfer())),
    simple("ed25519 coin transfer", secondEd25519, entryPayload(transferCoins()), { sequenceNumber: 0n }),
    simple("ed25519 many types", thirdEd25519, entryPayload(manyTypes()), { sequenceNumber: U64_MAX }),
    simple("ed25519 rotated key", rotated, entryPayload(transfer())),
    simple("ed25519 inner payload", ed25519, innerPayload(new TransactionExecutableEntryFunction(transfer()))),
    singleSenderEd25519("ed25519 single sender"),
    simple(
      "orderless transfer",
      ed25519,
      innerPayload(new TransactionExecutableEntryFunction(transfer()), undefined, 0x0123_4567_89ab_cdefn),
      { sequenceNumber: U64_MAX },
    ),
    simple("script payload", ed25519, new TransactionPayloadScript(script())),
    simple("inner script payload", ed25519, innerPayload(new TransactionExecutableScript(script()))),
    simple(
      "multisig payload",
      ed25519,
      new TransactionPayloadMultiSig(new MultiSig(multisig, new MultiSigTransactionPayload(transfer()))),
    ),
    simple("stored multisig payload", ed25519, new TransactionPayloadMultiSig(new MultiSig(multisig))),
    simple(
      "inner multisig payload",
      ed25519,
      innerPayload(new TransactionExecutableEntryFunction(transfer()), multisig, undefined),
    ),
    simple("empty inner payload", ed25519, innerPayload(new TransactionExecutableEmpty(), multisig, 5n), {
      sequenceNumber: U64_MAX,
    }),
    simple("single key ed25519", singleEd25519, entryPayload(transfer())),
    simple("single key secp256k1", singleSecp256k1, entryPayload(transfer())),
    simple("multi key", multiKey, entryPayload(transfer())),
    simple("multi-ed25519", multiEd25519, entryPayload(transfer())),
    shared("multi-agent", { sender: ed25519, secondary: [secondEd25519, singleSecp256k1] }),
    shared("fee payer", { sender: ed25519, feePayer: secondEd25519 }),
    shared("multi-agent with fee payer", { sender: ed25519, secondary: [multiKey], feePayer: singleEd25519 }),
    unsigned("simulation with a zero signature", new AccountAuthenticatorEd25519(ed25519.publicKey, zeroSignature)),
    unsigned("simulation without an authenticator", new AccountAuthenticatorNoAccountAuthenticator()),
  ];
}

// ------------------------------------------------------------------------------------------------

/** File name in tests/golden -> text of the file. */
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
    Object.entries(contents).map(([name, value]) => [`${name}.json`, `${JSON.stringify(value, null, 2)}\n`]),
  );
}
