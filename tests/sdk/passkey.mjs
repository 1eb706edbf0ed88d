// An account with a passkey. This file creates the WebAuthn assertions of a browser's authenticator
// for the classes of the TypeScript SDK.

import { createHash } from "node:crypto";
import { p256 } from "@noble/curves/nist.js";
import {
  AccountAddress,
  AccountAuthenticatorSingleKey,
  AnyPublicKey,
  AnySignature,
  Hex,
  Secp256r1PrivateKey,
  SigningScheme,
  WebAuthnSignature,
  generateSigningMessageForTransaction,
} from "@aptos-labs/ts-sdk";

const ORIGIN = "https://wallet.example";
/** Flags of the authenticator: user present, user verified. */
const FLAGS = 0b0000_0101;
/** Signature counter, a big-endian u32. */
const COUNTER = [0, 0, 0, 7];

const hash = (algorithm, bytes) => createHash(algorithm).update(bytes).digest();

/** Returns the equivalent signature with the larger value of `s`. */
function withHighS(signature) {
  const { r, s } = p256.Signature.fromBytes(signature);
  return new p256.Signature(r, p256.Point.Fn.ORDER - s).toBytes();
}

/** An account that the SDK accepts as a signer. */
export class PasskeyAccount {
  signingScheme = SigningScheme.SingleKey;
  #privateKey;

  /** Creates an account at `address`, or at the address derived from its key. */
  constructor({ privateKey = Secp256r1PrivateKey.generate(), address } = {}) {
    this.#privateKey = privateKey;
    this.publicKey = new AnyPublicKey(privateKey.publicKey());
    this.accountAddress = address
      ? AccountAddress.from(address)
      : this.publicKey.authKey().derivedAddress();
  }

  getAnyPublicKey() {
    return this.publicKey;
  }

  /** Returns the assertion over `message`. Another `type` or `high` makes it invalid. */
  assertion(message, { type = "webauthn.get", high = false } = {}) {
    const challenge = hash("sha3-256", Hex.fromHexInput(message).toUint8Array()).toString(
      "base64url",
    );
    const clientData = Buffer.from(
      JSON.stringify({ type, challenge, origin: ORIGIN, crossOrigin: false }),
    );
    const party = hash("sha256", new URL(ORIGIN).hostname);
    const authenticatorData = Buffer.concat([party, Buffer.from([FLAGS, ...COUNTER])]);
    const digest = hash("sha256", Buffer.concat([authenticatorData, hash("sha256", clientData)]));
    const signature = p256.sign(digest, this.#privateKey.toUint8Array(), { prehash: false });
    return new WebAuthnSignature(
      high ? withHighS(signature) : signature,
      authenticatorData,
      clientData,
    );
  }

  sign(message) {
    return new AnySignature(this.assertion(message));
  }

  signTransaction(transaction) {
    return this.sign(generateSigningMessageForTransaction(transaction));
  }

  signTransactionWithAuthenticator(transaction) {
    return new AccountAuthenticatorSingleKey(this.publicKey, this.signTransaction(transaction));
  }
}
