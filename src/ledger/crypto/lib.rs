//! Hashes, signature schemes, and hash maps for keys that clients choose.
//!
//! Every signature scheme follows the chain's rules (docs/interface.md#rule-22): it accepts only
//! canonical encodings, so that a signature cannot be changed into another one of the same message,
//! and rejects keys for which anyone can sign. One exception: a multi-key signature with more
//! signers than its threshold is also valid without the surplus signers. Such a transaction has
//! several hashes, of which at most one is executed.
//!
//! | scheme | key | signature | over |
//! |---|---|---|---|
//! | [`ed25519`] | 32 bytes | `R || s` | the message |
//! | [`multi_ed25519`] | up to 32 ed25519 keys and a threshold | the signers' signatures and a bitmap | the message |
//! | [`ecdsa::secp256k1`] | 65 bytes, an uncompressed point | `r || s`, low `s` | SHA3-256 of the message |
//! | [`webauthn`] | 65 bytes, an uncompressed point of secp256r1 | an assertion with `r || s`, low `s` | the client data of a passkey |
//!
//! [`ed25519::batch`] checks many ed25519 signatures in one equation.

// Client input must not end the process: a panic is for a broken invariant, and names it.
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
