//! Conversion of signatures from their JSON form: its errors, and lists.

use super::hex_form::HexArray;

/// Errors of the conversion from a signature's JSON form to an authenticator.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SignatureFormError {
    /// A part in BCS form does not decode.
    #[error("{part} cannot be read: {cause}")]
    Bcs {
        /// Name of the part.
        part: &'static str,
        /// Error of the decoder.
        cause: bcs::Error,
    },
    /// A part has another number of bytes than its kind.
    #[error("{part} has {expected} bytes, this one has {found}")]
    Length {
        /// Name of the part.
        part: &'static str,
        /// Number of bytes of the kind.
        expected: usize,
        /// Number of bytes of the part.
        found: usize,
    },
    /// A multi-agent signature names no secondary signer, or has no signature of one.
    #[error("a multi-agent signature has at least one secondary signer and signature")]
    NoSecondarySigner,
    /// A signature of a multi key has no index, and there is no bitmap.
    #[error("each signature of a multi key needs its `index`")]
    IndexMissing,
    /// The indices are not ascending and unique. The wire form has only one order of signatures.
    #[error("signature indices must be ascending and unique: {1} follows {0}")]
    IndicesNotAscending(u8, u8),
    /// An index is above 31, the largest index of a key.
    #[error("the signature index {0} is above the maximum, 31")]
    IndexTooLarge(u8),
    /// The bitmap and the indices contradict each other.
    #[error("the signature indices do not match `signatures_bitmap`")]
    BitmapMismatch,
}

/// Returns the bytes of a part. `part` is its name in the error.
///
/// # Errors
///
/// Returns [`SignatureFormError::Length`] if their number is not `N`.
pub(super) fn exact<const N: usize>(
    part: &'static str,
    bytes: &HexArray<N>,
) -> Result<[u8; N], SignatureFormError> {
    bytes.array().map_err(|found| SignatureFormError::Length {
        part,
        expected: N,
        found,
    })
}

/// Converts all items, or returns the first error.
pub(super) fn try_convert_all<A, B: TryFrom<A>>(
    items: impl IntoIterator<Item = A>,
) -> Result<Vec<B>, B::Error> {
    items.into_iter().map(B::try_from).collect()
}
