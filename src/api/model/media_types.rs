//! The media types of bodies in BCS that clients send, made once from the chain's vendor word.

use ledger_types::Vendor;

/// The media types on one chain.
#[derive(Debug)]
pub(crate) struct MediaTypes {
    /// Of a signed transaction, and of a batch of them.
    pub signed_transaction: String,
    /// Of a call of a view function.
    pub view_function: String,
}

impl MediaTypes {
    /// The media types with this vendor word.
    pub fn new(vendor: &Vendor) -> Self {
        let media_type = |what: &str| format!("application/x.{}.{what}+bcs", vendor.lower());
        Self {
            signed_transaction: media_type("signed_transaction"),
            view_function: media_type("view_function"),
        }
    }
}
