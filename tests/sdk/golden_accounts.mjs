// The fixed accounts of the golden vectors.

import {
  AccountAddress,
  Ed25519Account,
  Ed25519PrivateKey,
  Hex,
  MultiEd25519Account,
  MultiEd25519PublicKey,
  MultiKey,
  MultiKeyAccount,
  Secp256k1PrivateKey,
  Secp256r1PrivateKey,
  SingleKeyAccount,
} from "@aptos-labs/ts-sdk";
import { PasskeyAccount } from "./passkey.mjs";

export const hex = (bytes) => Hex.fromHexInput(bytes).toString();

/** Returns a private key of 32 equal bytes, so that every run generates the same vectors. */
export const seed = (byte) => `0x${byte.toString(16).padStart(2, "0").repeat(32)}`;
export const ed25519Key = (byte) => new Ed25519PrivateKey(seed(byte));
export const secp256k1Key = (byte) => new Secp256k1PrivateKey(seed(byte));

export const ed25519 = new Ed25519Account({ privateKey: ed25519Key(0x01) });
export const secondEd25519 = new Ed25519Account({ privateKey: ed25519Key(0x02) });
export const thirdEd25519 = new Ed25519Account({ privateKey: ed25519Key(0xfe) });
export const singleEd25519 = new SingleKeyAccount({ privateKey: ed25519Key(0x03) });
export const singleSecp256k1 = new SingleKeyAccount({ privateKey: secp256k1Key(0x04) });
export const multiKey = new MultiKeyAccount({
  multiKey: new MultiKey({
    publicKeys: [
      ed25519Key(0x05).publicKey(),
      secp256k1Key(0x06).publicKey(),
      ed25519Key(0x07).publicKey(),
    ],
    signaturesRequired: 2,
  }),
  signers: [
    new SingleKeyAccount({ privateKey: secp256k1Key(0x06) }),
    new SingleKeyAccount({ privateKey: ed25519Key(0x07) }),
  ],
});
export const multiEd25519 = new MultiEd25519Account({
  publicKey: new MultiEd25519PublicKey({
    publicKeys: [0x08, 0x09, 0x0a].map((byte) => ed25519Key(byte).publicKey()),
    threshold: 2,
  }),
  signers: [ed25519Key(0x08), ed25519Key(0x0a)],
});
export const rotated = new Ed25519Account({
  privateKey: ed25519Key(0x0b),
  address: secondEd25519.accountAddress,
});
export const passkey = new PasskeyAccount({ privateKey: new Secp256r1PrivateKey(seed(0x0c)) });
export const multiKeyWithPasskey = new MultiKeyAccount({
  multiKey: new MultiKey({
    publicKeys: [ed25519Key(0x0d).publicKey(), secp256k1Key(0x0e).publicKey(), passkey.publicKey],
    signaturesRequired: 2,
  }),
  signers: [new SingleKeyAccount({ privateKey: secp256k1Key(0x0e) }), passkey],
});

export const recipient = AccountAddress.from(`0x${"cd".repeat(32)}`);
