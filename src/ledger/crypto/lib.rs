//! Hashes, signature schemes, and hash maps for keys that clients choose.
//!
//! Every signature scheme follows the chain's rules (docs/interface.md#rule-22). It accepts only
//! canonical encodings, so that a signature cannot be changed into another one of the same message.
//! It rejects keys that anyone can sign for.
//!
//! A multi-key signature with more signers than its threshold is an exception: it is also valid
//! without the surplus signers. A transaction with this signature has several hashes, and at most
//! one of them is executed.
//!
//! | scheme | key | signature | signed data |
//! |---|---|---|---|
//! | [`ed25519`] | 32 bytes | `R`, `s` | message |
//! | [`multi_ed25519`] | 1 to 32 ed25519 keys, threshold | signatures, bitmap | message |
//! | [`ecdsa::secp256k1`] | 65 bytes, uncompressed point | `r`, low `s` | SHA3-256 of the message |
//! | [`webauthn`] | 65 bytes, uncompressed point | assertion with `r`, low `s` | client data |
//!
//! [`ed25519::batch`] checks many ed25519 signatures in one equation. The keys of [`webauthn`] are
//! points of secp256r1.

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
