//! Media types of BCS request bodies, built once from the chain's vendor word.

use ledger_types::Vendor;

/// The media types of BCS request bodies on one chain.
#[derive(Debug)]
pub(crate) struct MediaTypes {
    /// Media type of a signed transaction, and of a batch of them.
    pub signed_transaction: String,
    /// Media type of a call of a view function.
    pub view_function: String,
}

impl MediaTypes {
    /// Creates the media types with this vendor word.
    pub fn new(vendor: &Vendor) -> Self {
        let media_type = |what: &str| format!("application/x.{}.{what}+bcs", vendor.lower());
        Self {
            signed_transaction: media_type("signed_transaction"),
            view_function: media_type("view_function"),
        }
    }
}
