//! The document as text, written once per process when it is first asked for.

use super::openapi_document;
use crate::error::ErrorKind;
use bytes::Bytes;
use ledger_types::Vendor;
use std::sync::OnceLock;

/// The document in both forms.
#[derive(Debug, Default)]
pub(crate) struct RenderedDocument {
    json: OnceLock<Bytes>,
    yaml: OnceLock<Bytes>,
}

impl RenderedDocument {
    /// The document as JSON.
    pub fn json(&self, vendor: &Vendor) -> Bytes {
        let written = self
            .json
            .get_or_init(|| openapi_document(vendor).to_string().into());
        written.clone()
    }

    /// The document as YAML.
    ///
    /// # Errors
    /// 500 when it has no form in YAML.
    pub fn yaml(&self, vendor: &Vendor) -> Result<Bytes, ErrorKind> {
        if let Some(written) = self.yaml.get() {
            return Ok(written.clone());
        }
        let written = serde_saphyr::to_string(&openapi_document(vendor))
            .map_err(|cause| ErrorKind::internal("writing the document as YAML failed", &cause))?;
        Ok(self.yaml.get_or_init(|| written.into()).clone())
    }
}
