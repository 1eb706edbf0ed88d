//! JSON form of signatures by some of several keys of any kind.
//!
//! On the wire, a bitmap beside the signatures identifies their keys. In JSON, each signature has
//! the index of its key instead. The bitmap of four bytes that SDKs write follows from the indices.
//!
//! The hash of a transaction covers the bitmap as it was signed, and a client may use another
//! length. A bitmap that does not follow from the indices is therefore included as
//! `signatures_bitmap`. The reference node has no such member: it drops the bitmap, so a
//! resubmitted transaction has another hash.

use super::{
    bitmap,
    convert::{SignatureFormError, try_convert_all},
    hex_form::HexBytes,
    keys::{AnySignatureJson, PublicKeyJson},
};
use bytes::Bytes;
use ledger_types::transaction::{AccountAuthenticator, AnySignature, MultiKey};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Public keys, the number of signatures that the account requires, and the signatures.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "MultiKeySignature", inline)]
pub(crate) struct MultiKeyJson {
    public_keys: Vec<PublicKeyJson>,
    signatures: Vec<IndexedSignatureJson>,
    signatures_required: u8,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    signatures_bitmap: Option<HexBytes>,
}

/// A signature and the index of its key. The index is absent if the bitmap names no key for the
/// signature. Such a signature is invalid.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "IndexedSignature")]
pub(super) struct IndexedSignatureJson {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    index: Option<u8>,
    signature: AnySignatureJson,
}

impl MultiKeyJson {
    pub fn new(keys: &MultiKey, signatures: &[AnySignature], signatures_bitmap: &Bytes) -> Self {
        let key_indices: Vec<_> = bitmap::indices(signatures_bitmap).collect();
        let is_implied = key_indices.len() == signatures.len()
            && bitmap::from_indices(key_indices.iter().copied())
                .is_some_and(|bitmap| bitmap[..] == signatures_bitmap[..]);
        let key_indices = key_indices
            .into_iter()
            .map(Some)
            .chain(std::iter::repeat(None));
        let indexed = signatures
            .iter()
            .zip(key_indices)
            .map(|(signature, index)| IndexedSignatureJson {
                index,
                signature: signature.into(),
            });
        Self {
            public_keys: keys.public_keys.iter().map(Into::into).collect(),
            signatures: indexed.collect(),
            signatures_required: keys.signatures_required,
            signatures_bitmap: (!is_implied).then(|| HexBytes(signatures_bitmap.clone())),
        }
    }

    /// Returns the bitmap as it was signed.
    ///
    /// # Errors
    ///
    /// Returns [`SignatureFormError::BitmapMismatch`] if the indices are not those of
    /// `signatures_bitmap`, or an error of [`Self::bitmap_from_indices`] if there is no such
    /// member.
    fn bitmap(&self) -> Result<Bytes, SignatureFormError> {
        match &self.signatures_bitmap {
            None => self.bitmap_from_indices(),
            Some(HexBytes(explicit)) => {
                let key_indices = bitmap::indices(explicit)
                    .map(Some)
                    .chain(std::iter::repeat(None));
                if self
                    .signatures
                    .iter()
                    .map(|entry| entry.index)
                    .ne(key_indices.take(self.signatures.len()))
                {
                    return Err(SignatureFormError::BitmapMismatch);
                }
                Ok(explicit.clone())
            }
        }
    }

    /// Returns the bitmap of four bytes that follows from the indices.
    ///
    /// # Errors
    ///
    /// Returns [`SignatureFormError::IndexMissing`] if a signature has no index,
    /// [`SignatureFormError::IndicesNotAscending`] if the indices are not ascending and unique, and
    /// [`SignatureFormError::IndexTooLarge`] if an index is above 31.
    fn bitmap_from_indices(&self) -> Result<Bytes, SignatureFormError> {
        let key_indices: Option<Vec<u8>> =
            self.signatures.iter().map(|entry| entry.index).collect();
        let key_indices = key_indices.ok_or(SignatureFormError::IndexMissing)?;
        if let Some(pair) = key_indices.windows(2).find(|pair| pair[0] >= pair[1]) {
            return Err(SignatureFormError::IndicesNotAscending(pair[0], pair[1]));
        }
        let bitmap = bitmap::from_indices(key_indices.iter().copied());
        let bitmap = bitmap
            .ok_or_else(|| SignatureFormError::IndexTooLarge(key_indices[key_indices.len() - 1]))?;
        Ok(Bytes::copy_from_slice(&bitmap))
    }
}

impl TryFrom<MultiKeyJson> for AccountAuthenticator {
    type Error = SignatureFormError;

    fn try_from(multi: MultiKeyJson) -> Result<Self, SignatureFormError> {
        let signatures_bitmap = multi.bitmap()?;
        let signatures = multi.signatures.into_iter();
        Ok(Self::MultiKey {
            public_keys: MultiKey {
                public_keys: try_convert_all(multi.public_keys)?,
                signatures_required: multi.signatures_required,
            },
            signatures: try_convert_all(signatures.map(|entry| entry.signature))?,
            signatures_bitmap,
        })
    }
}
