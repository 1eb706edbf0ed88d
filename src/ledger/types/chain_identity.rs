//! The identity of a chain.

use crate::Vendor;

/// The values that distinguish a chain from others. Signatures cover them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainIdentity {
    /// Chain id.
    pub id: u8,
    /// Vendor word.
    pub vendor: Vendor,
}
