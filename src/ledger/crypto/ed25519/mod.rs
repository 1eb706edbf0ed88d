//! Ed25519 signatures with canonical encodings and cofactored verification.
//!
//! Non-canonical encodings and points of small order are rejected. A signature is valid if
//! `8(sB - kA - R) = 0`.
//!
//! The equation has the cofactor 8, because only then do single and batch verification always
//! agree. Without the cofactor, a forged `R` of mixed order can pass a batch by chance and fail
//! alone.

mod backend;
pub mod batch;
mod decoded_keys;
mod equation;
mod keys;

pub use backend::backend;
pub use decoded_keys::DecodedKeys;
pub use equation::Equation;
pub use keys::{Ed25519PrivateKey, Ed25519PublicKey, Ed25519Signature, SignatureError};
