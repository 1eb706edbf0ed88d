// Accounts of every supported kind of signature, and the JSON form of each signature.

import {
  AccountAddress,
  AnyPublicKeyVariant,
  Ed25519Account,
  Ed25519PrivateKey,
  Hex,
  MultiEd25519Account,
  MultiEd25519PublicKey,
  MultiKeyAccount,
  Secp256k1PrivateKey,
  SingleKeyAccount,
  WebAuthnSignature,
} from "@aptos-labs/ts-sdk";
import { PasskeyAccount } from "./passkey.mjs";

/** Returns a multi key account with three keys of different kinds. Those at `indices` sign. */
function mixed(address, indices) {
  const holders = [
    new SingleKeyAccount({ privateKey: Ed25519PrivateKey.generate() }),
    new SingleKeyAccount({ privateKey: Secp256k1PrivateKey.generate() }),
    new PasskeyAccount(),
  ];
  return MultiKeyAccount.fromPublicKeysAndSigners({
    address,
    publicKeys: holders.map((holder) => holder.publicKey),
    signaturesRequired: 2,
    signers: indices.map((index) => holders[index]),
  });
}

function multiEd25519(address) {
  const keys = [1, 2, 3].map(() => Ed25519PrivateKey.generate());
  const publicKey = new MultiEd25519PublicKey({
    publicKeys: keys.map((key) => key.publicKey()),
    threshold: 2,
  });
  return new MultiEd25519Account({ publicKey, signers: [keys[0], keys[2]], address });
}

/** Functions by kind that create an account, at `address` if it is given. */
export const KINDS = {
  ed25519: (address) => new Ed25519Account({ privateKey: Ed25519PrivateKey.generate(), address }),
  "multi-ed25519, 2 of 3": multiEd25519,
  "single key ed25519": (address) =>
    new SingleKeyAccount({ privateKey: Ed25519PrivateKey.generate(), address }),
  "single key secp256k1": (address) =>
    new SingleKeyAccount({ privateKey: Secp256k1PrivateKey.generate(), address }),
  "single key WebAuthn": (address) => new PasskeyAccount({ address }),
  "multi key, ed25519 and secp256k1 of 3": (address) => mixed(address, [0, 1]),
  "multi key, secp256k1 and WebAuthn of 3": (address) => mixed(address, [2, 1]),
};

// --- JSON ---------------------------------------------------------------------------------------

const KEY_TYPES = {
  [AnyPublicKeyVariant.Ed25519]: "ed25519",
  [AnyPublicKeyVariant.Secp256k1]: "secp256k1_ecdsa",
  [AnyPublicKeyVariant.Secp256r1]: "secp256r1_ecdsa",
};

const hex = (bytes) => Hex.fromHexInput(bytes).toString();
/** Returns an address without leading zeros, as the node formats it. */
const short = (address) => `0x${BigInt(AccountAddress.from(address).toStringLong()).toString(16)}`;

const publicKeyJson = ({ variant, publicKey }) => ({
  type: KEY_TYPES[variant],
  value: hex(publicKey.toUint8Array()),
});

/** Returns the hex form of a signature: of an assertion its BCS form, otherwise its bytes. */
function signatureJson({ signature, variant }) {
  if (signature instanceof WebAuthnSignature)
    return { type: "web_authn", value: hex(signature.bcsToBytes()) };
  return { type: KEY_TYPES[variant], value: hex(signature.toUint8Array()) };
}

/** Returns the JSON form of the signature of one account. */
export function accountSignatureJson(authenticator) {
  if (authenticator.isEd25519()) {
    const { public_key, signature } = authenticator;
    return {
      type: "ed25519_signature",
      public_key: public_key.toString(),
      signature: signature.toString(),
    };
  }
  if (authenticator.isMultiEd25519()) {
    const { public_key, signature } = authenticator;
    return {
      type: "multi_ed25519_signature",
      public_keys: public_key.publicKeys.map(String),
      signatures: signature.signatures.map(String),
      threshold: public_key.threshold,
      bitmap: hex(signature.bitmap),
    };
  }
  if (authenticator.isSingleKey()) {
    const { public_key, signature } = authenticator;
    return {
      type: "single_key_signature",
      public_key: publicKeyJson(public_key),
      signature: signatureJson(signature),
    };
  }
  const { public_keys, signatures } = authenticator;
  const indices = signatures.bitMapToSignerIndices();
  return {
    type: "multi_key_signature",
    public_keys: public_keys.publicKeys.map(publicKeyJson),
    signatures: signatures.signatures.map((one, at) => ({
      index: indices[at],
      signature: signatureJson(one),
    })),
    signatures_required: public_keys.signaturesRequired,
  };
}

/**
 * Returns the JSON form of the signatures of a transaction. With a single signer, a signature of a
 * newer kind is in the field `sender`, so that the form can be submitted again.
 */
export function transactionSignatureJson(transaction, { sender, secondary = [], feePayer }) {
  const signers = {
    sender: accountSignatureJson(sender),
    secondary_signer_addresses: (transaction.secondarySignerAddresses ?? []).map(short),
    secondary_signers: secondary.map(accountSignatureJson),
  };
  if (feePayer) {
    return {
      type: "fee_payer_signature",
      ...signers,
      fee_payer_address: short(transaction.feePayerAddress),
      fee_payer_signer: accountSignatureJson(feePayer),
    };
  }
  if (secondary.length > 0) return { type: "multi_agent_signature", ...signers };
  if (sender.isEd25519() || sender.isMultiEd25519()) return signers.sender;
  return { type: "single_sender", sender: signers.sender };
}
