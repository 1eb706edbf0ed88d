//! Signatures under the chain's rules (docs/interface.md#rule-22).
//!
//! Every kind accepts only canonical encodings, so that a signature cannot be changed into another one
//! of the same message, and rejects keys for which anyone can sign. One exception: a multi-key
//! signature with more signers than its threshold is also valid without the surplus signers. Such a
//! transaction has several hashes, of which at most one is executed.
//!
//! | kind | key | signature | over |
//! |---|---|---|---|
//! | [`ed25519`] | 32 bytes | `R || s` | the message |
//! | [`multi_ed25519`] | up to 32 of them and a threshold | those of the signers and a bitmap | the message |
//! | [`secp256k1`] | 65 bytes, a point without compression | `r || s`, low `s` | SHA3-256 of the message |
//! | [`webauthn`] | 65 bytes, a point of secp256r1 | an assertion with `r || s`, low `s` | what a passkey signs |
//!
//! [`batch`] checks many ed25519 signatures at once.

pub mod batch;
mod decoded_keys;
pub mod ecdsa;
pub mod ed25519;
pub mod multi_ed25519;
pub mod secp256k1;
pub mod secp256r1;
pub mod webauthn;

pub use decoded_keys::DecodedKeys;
pub use ed25519::{Ed25519PrivateKey, Ed25519PublicKey, Ed25519Signature, SignatureError};
