// An account whose key lives in an authenticator, as a browser's passkey does: node's crypto makes the
// WebAuthn assertions, the classes of the TypeScript SDK carry them.

import { createHash, generateKeyPairSync, sign } from "node:crypto";
import {
  AccountAddress,
  AccountAuthenticatorSingleKey,
  AnyPublicKey,
  AnySignature,
  Hex,
  Secp256r1PublicKey,
  SigningScheme,
  WebAuthnSignature,
  generateSigningMessageForTransaction,
} from "@aptos-labs/ts-sdk";

const ORIGIN = "https://wallet.example";
/** The authenticator's flags: the user was present and verified. */
const FLAGS = 0b0000_0101;
/** The order of the curve P-256. */
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/** `r || s` with the other of the two values of s that hold; the smaller one unless `high`. */
function withHalf(signature, high) {
  const s = BigInt(`0x${signature.subarray(32).toString("hex")}`);
  const wanted = s > ORDER / 2n === high ? s : ORDER - s;
  return Buffer.concat([signature.subarray(0, 32), Buffer.from(wanted.toString(16).padStart(64, "0"), "hex")]);
}

/** An account that the SDK's functions take as a signer. */
export class PasskeyAccount {
  signingScheme = SigningScheme.SingleKey;
  #privateKey;

  /** At the address that the new key stands for, or at the one given. */
  constructor({ address } = {}) {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const { x, y } = publicKey.export({ format: "jwk" });
    const point = Buffer.concat([Buffer.from([4]), Buffer.from(x, "base64url"), Buffer.from(y, "base64url")]);
    this.#privateKey = privateKey;
    this.publicKey = new AnyPublicKey(new Secp256r1PublicKey(point));
    this.accountAddress = address ? AccountAddress.from(address) : this.publicKey.authKey().derivedAddress();
  }

  getAnyPublicKey() {
    return this.publicKey;
  }

  /** The assertion over `message`. `type` and `high` make ones that must be refused. */
  assertion(message, { type = "webauthn.get", high = false } = {}) {
    const challenge = createHash("sha3-256").update(Hex.fromHexInput(message).toUint8Array()).digest("base64url");
    const clientData = Buffer.from(JSON.stringify({ type, challenge, origin: ORIGIN, crossOrigin: false }));
    const party = createHash("sha256").update(new URL(ORIGIN).hostname).digest();
    const authenticatorData = Buffer.concat([party, Buffer.from([FLAGS, 0, 0, 0, 7])]);
    const signed = Buffer.concat([authenticatorData, createHash("sha256").update(clientData).digest()]);
    const signature = sign("sha256", signed, { key: this.#privateKey, dsaEncoding: "ieee-p1363" });
    return new WebAuthnSignature(withHalf(signature, high), authenticatorData, clientData);
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
