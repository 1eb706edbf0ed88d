// An account whose key lives in an authenticator, as a browser's passkey does: the WebAuthn assertions
// are made here, the classes of the TypeScript SDK carry them.

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
/** The authenticator's flags: the user was present and verified. */
const FLAGS = 0b0000_0101;
/** How often the authenticator signed, as a big-endian u32. */
const COUNTER = [0, 0, 0, 7];

const hash = (algorithm, bytes) => createHash(algorithm).update(bytes).digest();

/** Of the two values of `s` with which a signature holds, the larger. */
function withHighS(signature) {
  const { r, s } = p256.Signature.fromBytes(signature);
  return new p256.Signature(r, p256.Point.Fn.ORDER - s).toBytes();
}

/** An account that the SDK's functions take as a signer. */
export class PasskeyAccount {
  signingScheme = SigningScheme.SingleKey;
  #privateKey;

  /** At the address that its key stands for, or at the one given. */
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

  /** The assertion over `message`. `type` and `high` make ones that must be refused. */
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
