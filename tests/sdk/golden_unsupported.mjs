// Signatures of unsupported kinds, which the node decodes and rejects by name, from the SDK.

import {
  AbstractedAccount,
  AccountAuthenticatorMultiKey,
  AccountAuthenticatorSingleKey,
  AnyPublicKey,
  AnyPublicKeyVariant,
  AnySignature,
  DerivableAbstractedAccount,
  Ed25519PublicKey,
  Ed25519Signature,
  EphemeralCertificateVariant,
  MultiKey,
  MultiKeySignature,
  ZkpVariant,
} from "@aptos-labs/ts-sdk";
import {
  EphemeralCertificate,
  EphemeralPublicKey,
  EphemeralSignature,
  FederatedKeylessPublicKey,
  Groth16Zkp,
  KeylessPublicKey,
  KeylessSignature,
  ZeroKnowledgeSig,
  ZkProof,
} from "@aptos-labs/ts-sdk/keyless";
import { ed25519, recipient } from "./golden_accounts.mjs";

const bytes = (length, value) => new Uint8Array(length).fill(value);

const keylessKey = new KeylessPublicKey("https://accounts.example.com", bytes(32, 0x21));
const keyless = new AnyPublicKey(keylessKey, AnyPublicKeyVariant.Keyless);
const federated = new AnyPublicKey(
  new FederatedKeylessPublicKey(recipient, keylessKey),
  AnyPublicKeyVariant.FederatedKeyless,
);

/** A signature with every optional field. Its proof is invalid. */
const keylessSignature = new AnySignature(
  new KeylessSignature({
    jwtHeader: '{"alg":"RS256","kid":"a key","typ":"JWT"}',
    ephemeralCertificate: new EphemeralCertificate(
      new ZeroKnowledgeSig({
        proof: new ZkProof(
          new Groth16Zkp({ a: bytes(32, 0x22), b: bytes(64, 0x23), c: bytes(32, 0x24) }),
          ZkpVariant.Groth16,
        ),
        expHorizonSecs: 10_000_000,
        extraField: '"family_name":"Example",',
        overrideAudVal: "another audience",
        trainingWheelsSignature: new EphemeralSignature(new Ed25519Signature(bytes(64, 0x25))),
      }),
      EphemeralCertificateVariant.ZkProof,
    ),
    expiryDateSecs: 1_900_000_000,
    ephemeralPublicKey: new EphemeralPublicKey(new Ed25519PublicKey(bytes(32, 0x26))),
    ephemeralSignature: new EphemeralSignature(new Ed25519Signature(bytes(64, 0x27))),
  }),
);
/** The signature that the SDK sends in simulations. */
const simulated = new AnySignature(KeylessSignature.getSimulationSignature());

const authenticationFunction = `${recipient.toStringLong()}::a_module::authenticate`;
const signer = (digest) => ed25519.sign(digest).toUint8Array();

const abstracted = new AbstractedAccount({
  accountAddress: recipient,
  signer,
  authenticationFunction,
});
const derivable = new DerivableAbstractedAccount({
  signer,
  authenticationFunction,
  abstractPublicKey: bytes(20, 0x28),
});

/** Returns a signer with a constant authenticator. */
const fixed = (publicKey, authenticator) => ({
  publicKey,
  accountAddress: publicKey.authKey().derivedAddress(),
  signTransactionWithAuthenticator: () => authenticator,
});
const single = (publicKey, signature) =>
  fixed(publicKey, new AccountAuthenticatorSingleKey(publicKey, signature));

function multi() {
  const publicKey = new MultiKey({
    publicKeys: [ed25519.publicKey, keyless, federated],
    signaturesRequired: 2,
  });
  const signature = new MultiKeySignature({
    signatures: [keylessSignature, simulated],
    bitmap: [1, 2],
  });
  return fixed(publicKey, new AccountAuthenticatorMultiKey(publicKey, signature));
}

/** Signers by name of their vector. */
export const unsupportedSigners = {
  keyless: single(keyless, keylessSignature),
  "federated keyless": single(federated, keylessSignature),
  "simulation with a keyless key": single(keyless, simulated),
  "multi key with keyless": multi(),
  abstract: abstracted,
  "derivable abstract": derivable,
};
