//! The identity of a chain.

use crate::Vendor;

/// The values that distinguish a chain from others, which signatures cover.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainIdentity {
    /// The chain id.
    pub id: u8,
    /// The vendor word.
    pub vendor: Vendor,
}
