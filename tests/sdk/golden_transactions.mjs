// Golden vectors of transactions: one for each kind of payload and signature.

import {
  AccountAddress,
  AccountAuthenticatorEd25519,
  AccountAuthenticatorMultiKey,
  AccountAuthenticatorNoAccountAuthenticator,
  Bool,
  ChainId,
  Ed25519Signature,
  EntryFunction,
  I8,
  I256,
  MoveVector,
  MultiAgentTransaction,
  MultiKeySignature,
  MultiSig,
  MultiSigTransactionPayload,
  RawTransaction,
  Script,
  SignedTransaction,
  SimpleTransaction,
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
import {
  ed25519,
  hex,
  multiEd25519,
  multiKey,
  multiKeyWithPasskey,
  passkey,
  recipient,
  rotated,
  secondEd25519,
  singleEd25519,
  singleSecp256k1,
  thirdEd25519,
} from "./golden_accounts.mjs";
import { unsupportedSigners } from "./golden_unsupported.mjs";

const CHAIN_ID = 4;
const U64_MAX = 0xffff_ffff_ffff_ffffn;
const COIN = "0x1::aptos_coin::AptosCoin";

const transfer = () =>
  EntryFunction.build("0x1::aptos_account", "transfer", [], [recipient, new U64(1_000)]);
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
    [
      parseTypeTag("vector<0x1::coin::Coin<0x1::aptos_coin::AptosCoin>>"),
      parseTypeTag("u256"),
      parseTypeTag("u16"),
    ],
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

/** Returns the values that the SDK computes of a transaction and of its sender's key. */
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

/** Returns the vector of a transaction with `sender` as the only signer. */
function simple(name, sender, payload, options) {
  const transaction = new SimpleTransaction(rawTransaction(sender, payload, options));
  return transactionVector(
    name,
    { transaction, senderAuthenticator: sender.signTransactionWithAuthenticator(transaction) },
    sender,
  );
}

/** Returns the vector of a transaction of several signers, optionally with a fee payer. */
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

/** Returns the vector of a sender that signs for the zero address, before the payer is known. */
function sponsoredLater(name, { sender, feePayer }) {
  const transaction = new SimpleTransaction(
    rawTransaction(sender, entryPayload(transfer())),
    AccountAddress.ZERO,
  );
  const senderAuthenticator = sender.signTransactionWithAuthenticator(transaction);
  transaction.feePayerAddress = feePayer.accountAddress;
  const feePayerAuthenticator = feePayer.signTransactionWithAuthenticator(transaction);
  return transactionVector(
    name,
    { transaction, senderAuthenticator, feePayerAuthenticator },
    sender,
  );
}

/** Returns the vector of a simulation, whose authenticator has no signature. */
function unsigned(name, authenticator, sender = ed25519) {
  const transaction = new SimpleTransaction(rawTransaction(sender, entryPayload(transfer())));
  return transactionVector(name, { transaction, senderAuthenticator: authenticator }, sender);
}

/** Returns the vector of a simulated multi key: a signature per key, all of one kind. */
function unsignedMultiKey(name) {
  const { publicKey } = multiKeyWithPasskey;
  const zeroSignature = new Ed25519Signature(new Uint8Array(64));
  const signatures = publicKey.publicKeys.map(() => zeroSignature);
  const bitmap = publicKey.publicKeys.map((_, index) => index);
  const signature = new MultiKeySignature({ signatures, bitmap });
  return unsigned(
    name,
    new AccountAuthenticatorMultiKey(publicKey, signature),
    multiKeyWithPasskey,
  );
}

/** Returns the vector of an ed25519 signature in the newer form, which the SDK only reads. */
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

export function transactions() {
  const multisig = AccountAddress.from(`0x${"3c".repeat(32)}`);
  const zeroSignature = new Ed25519Signature(new Uint8Array(64));
  return [
    simple("ed25519 transfer", ed25519, entryPayload(transfer())),
    simple("ed25519 coin transfer", secondEd25519, entryPayload(transferCoins()), {
      sequenceNumber: 0n,
    }),
    simple("ed25519 many types", thirdEd25519, entryPayload(manyTypes()), {
      sequenceNumber: U64_MAX,
    }),
    simple("ed25519 rotated key", rotated, entryPayload(transfer())),
    simple(
      "ed25519 inner payload",
      ed25519,
      innerPayload(new TransactionExecutableEntryFunction(transfer())),
    ),
    singleSenderEd25519("ed25519 single sender"),
    simple(
      "orderless transfer",
      ed25519,
      innerPayload(
        new TransactionExecutableEntryFunction(transfer()),
        undefined,
        0x0123_4567_89ab_cdefn,
      ),
      { sequenceNumber: U64_MAX },
    ),
    simple("script payload", ed25519, new TransactionPayloadScript(script())),
    simple(
      "inner script payload",
      ed25519,
      innerPayload(new TransactionExecutableScript(script())),
    ),
    simple(
      "multisig payload",
      ed25519,
      new TransactionPayloadMultiSig(
        new MultiSig(multisig, new MultiSigTransactionPayload(transfer())),
      ),
    ),
    simple(
      "stored multisig payload",
      ed25519,
      new TransactionPayloadMultiSig(new MultiSig(multisig)),
    ),
    simple(
      "inner multisig payload",
      ed25519,
      innerPayload(new TransactionExecutableEntryFunction(transfer()), multisig, undefined),
    ),
    simple(
      "empty inner payload",
      ed25519,
      innerPayload(new TransactionExecutableEmpty(), multisig, 5n),
      {
        sequenceNumber: U64_MAX,
      },
    ),
    simple("single key ed25519", singleEd25519, entryPayload(transfer())),
    simple("single key secp256k1", singleSecp256k1, entryPayload(transfer())),
    simple("multi key", multiKey, entryPayload(transfer())),
    simple("multi-ed25519", multiEd25519, entryPayload(transfer())),
    simple("single key WebAuthn", passkey, entryPayload(transfer())),
    simple("multi key with WebAuthn", multiKeyWithPasskey, entryPayload(transfer())),
    simple(
      "orderless multi key with WebAuthn",
      multiKeyWithPasskey,
      innerPayload(new TransactionExecutableEntryFunction(transfer()), undefined, 0n),
      { sequenceNumber: U64_MAX },
    ),
    shared("multi-agent", { sender: ed25519, secondary: [secondEd25519, singleSecp256k1] }),
    shared("fee payer", { sender: ed25519, feePayer: secondEd25519 }),
    shared("multi-agent with fee payer", {
      sender: ed25519,
      secondary: [multiKey],
      feePayer: singleEd25519,
    }),
    sponsoredLater("fee payer unknown to the sender", {
      sender: singleSecp256k1,
      feePayer: passkey,
    }),
    ...Object.entries(unsupportedSigners).map(([name, signer]) =>
      simple(name, signer, entryPayload(transfer())),
    ),
    unsigned(
      "simulation with a zero signature",
      new AccountAuthenticatorEd25519(ed25519.publicKey, zeroSignature),
    ),
    unsigned(
      "simulation without an authenticator",
      new AccountAuthenticatorNoAccountAuthenticator(),
    ),
    unsignedMultiKey("simulation of a multi key"),
  ];
}
