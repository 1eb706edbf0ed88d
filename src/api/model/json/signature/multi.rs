//! JSON form of signatures by several Ed25519 keys with a threshold.
//!
//! On the wire, the keys and the threshold are one byte vector, and the signatures and a bitmap
//! another. The JSON form has the parts as members.

use super::{
    convert::{SignatureFormError, exact},
    hex_form::HexArray,
    keys::{ED25519_KEY, ED25519_SIGNATURE},
};
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
    arrays.iter().copied().map(HexArray::new).collect()
}

/// Returns the concatenation of all arrays and `end`. `part` is the name of an array in the error.
///
/// # Errors
///
/// Returns [`SignatureFormError::Length`] if an array has another length.
fn concat<const N: usize>(
    part: &'static str,
    arrays: &[HexArray<N>],
    end: &[u8],
) -> Result<bytes::Bytes, SignatureFormError> {
    let mut bytes = Vec::with_capacity(arrays.len() * N + end.len());
    for array in arrays {
        bytes.extend_from_slice(&exact(part, array)?);
    }
    bytes.extend_from_slice(end);
    Ok(bytes.into())
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
            bitmap: HexArray::new(*bitmap),
        }
    }

    /// Returns the keys with the threshold, and the signatures with the bitmap.
    ///
    /// # Errors
    ///
    /// Returns [`SignatureFormError::Length`] if a key, a signature or the bitmap has another
    /// length.
    pub fn parts(
        &self,
    ) -> Result<(MultiEd25519PublicKey, MultiEd25519Signature), SignatureFormError> {
        let bitmap = exact("the bitmap of a multi-ed25519 signature", &self.bitmap)?;
        let keys = concat(ED25519_KEY, &self.public_keys, &[self.threshold])?;
        let signatures = concat(ED25519_SIGNATURE, &self.signatures, &bitmap)?;
        Ok((
            MultiEd25519PublicKey(keys),
            MultiEd25519Signature(signatures),
        ))
    }
}
