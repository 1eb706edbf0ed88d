//! Hashes, signature schemes, and hash maps for keys that clients choose.
//!
//! | module | content |
//! |---|---|
//! | `hash` | [`HashValue`]; [`Seed`], the domain prefix of a hashed type; [`HashBatch`] |
//! | [`ed25519`] | the scheme of most accounts; [`ed25519::batch`] checks many signatures in one equation |
//! | [`multi_ed25519`], [`ecdsa`], [`webauthn`] | the other schemes |
//! | `authentication_key` | the key that an account stores for its signer: [`authentication_key()`] |
//! | [`map`] | hash maps whose keys clients choose |
//! | [`array_32`], `hex_text` | 32-byte arrays in serde; [`HexText`] |
//!
//! | scheme | key | signature | signed data |
//! |---|---|---|---|
//! | [`ed25519`] | 32 bytes | `R`, `s` | message |
//! | [`multi_ed25519`] | 1 to 32 ed25519 keys, threshold | signatures, bitmap | message |
//! | [`ecdsa::secp256k1`] | 65 bytes, uncompressed point | `r`, low `s` | SHA3-256 of the message |
//! | [`webauthn`] | 65 bytes, uncompressed point of secp256r1 | assertion with `r`, low `s` | client data |
//!
//! `docs/internals/execution.md#signatures` describes the check of a transaction's signatures.
//!
//! # Rules
//!
//! * Every signature scheme follows the chain's rules (docs/use/interface.md#canonical-signatures).
//!   It accepts only canonical encodings, so that a signature cannot be changed into another one of
//!   the same message. It rejects keys that anyone can sign for.
//! * A multi-key signature with more signers than its threshold is an exception: it is also valid
//!   without the surplus signers. A transaction with this signature has several hashes, and at most
//!   one of them is executed.
//!
//! # Example
//!
//! ```
//! use ledger_crypto::{Ed25519PrivateKey, HashValue, Seed, SignatureError};
//!
//! let key = Ed25519PrivateKey::from_seed(&[7; 32]);
//! let signature = key.sign(b"pay 10 coins");
//! let public_key = key.public_key();
//! assert_eq!(public_key.verify(&[b"pay 10 coins"], &signature), Ok(()));
//! // A message can be in several parts.
//! assert_eq!(public_key.verify(&[b"pay ", b"10 coins"], &signature), Ok(()));
//! assert_eq!(
//!     public_key.verify(&[b"pay 11 coins"], &signature),
//!     Err(SignatureError::Mismatch)
//! );
//!
//! // The prefix of the type makes the hash differ from those of other types with the same bytes.
//! let seed = Seed::new("NODE", "Transaction");
//! assert_ne!(seed.hash(&[b"bytes"]), HashValue::sha3_of(&[b"bytes"]));
//! ```

// Client input must not end the process. Only a broken invariant panics, and the message names it.
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::panic, clippy::unreachable)
)]

pub mod array_32;
mod authentication_key;
pub mod ecdsa;
pub mod ed25519;
mod hash;
mod hex_text;
pub mod map;
pub mod multi_ed25519;
pub mod webauthn;

pub use authentication_key::{Scheme, authentication_key};
pub use ed25519::{
    DecodedKeys, Ed25519PrivateKey, Ed25519PublicKey, Ed25519Signature, SignatureError,
};
pub use hash::{HashBatch, HashError, HashValue, Seed};
pub use hex_text::{HexText, hex_text};
