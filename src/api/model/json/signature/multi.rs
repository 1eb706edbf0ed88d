//! JSON form of signatures by several Ed25519 keys with a threshold.
//!
//! On the wire, the keys and the threshold are one byte vector, and the signatures and a bitmap
//! another. The JSON form has the parts as members.

use super::hex_form::HexArray;
use ledger_types::transaction::{MultiEd25519PublicKey, MultiEd25519Signature};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Ed25519 keys with their threshold, and signatures with the bitmap of the keys that signed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "MultiEd25519Signature", inline)]
pub(crate) struct MultiEd25519Json {
    public_keys: Vec<HexArray<32>>,
    signatures: Vec<HexArray<64>>,
    threshold: u8,
    bitmap: HexArray<4>,
}

/// Splits the bytes into arrays of `N` bytes. A shorter remainder is dropped; the byte vectors of a
/// valid signature have none.
fn split_arrays<const N: usize>(bytes: &[u8]) -> Vec<HexArray<N>> {
    let (arrays, _) = bytes.as_chunks::<N>();
    arrays.iter().copied().map(HexArray).collect()
}

/// Returns the concatenation of all arrays and `end`.
fn concat<const N: usize>(arrays: &[HexArray<N>], end: &[u8]) -> bytes::Bytes {
    let mut bytes: Vec<u8> = arrays.iter().flat_map(|array| array.0).collect();
    bytes.extend_from_slice(end);
    bytes.into()
}

impl MultiEd25519Json {
    pub fn new(public_key: &MultiEd25519PublicKey, signature: &MultiEd25519Signature) -> Self {
        let (&threshold, keys) = public_key.0.split_last().unwrap_or((&0, &[]));
        let (signatures, bitmap) = signature
            .0
            .split_last_chunk::<4>()
            .unwrap_or((&[], &[0; 4]));
        Self {
            public_keys: split_arrays(keys),
            signatures: split_arrays(signatures),
            threshold,
            bitmap: HexArray(*bitmap),
        }
    }

    pub fn public_key(&self) -> MultiEd25519PublicKey {
        MultiEd25519PublicKey(concat(&self.public_keys, &[self.threshold]))
    }

    pub fn signature(&self) -> MultiEd25519Signature {
        MultiEd25519Signature(concat(&self.signatures, &self.bitmap.0))
    }
}
