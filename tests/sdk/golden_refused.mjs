// Signatures of kinds that the node reads and then refuses by name, as the TypeScript SDK writes them.

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

/** A signature with everything that one may hold; no proof is behind it. */
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
/** What the SDK sends in the place of such a signature to be simulated. */
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

/** A signer whose key is `publicKey` and whose authenticator is `authenticator`, whatever is signed. */
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

/** Name of a vector -> who signs it. */
export const refusedSigners = {
  keyless: single(keyless, keylessSignature),
  "federated keyless": single(federated, keylessSignature),
  "simulation with a keyless key": single(keyless, simulated),
  "multi key with keyless": multi(),
  abstract: abstracted,
  "derivable abstract": derivable,
};
