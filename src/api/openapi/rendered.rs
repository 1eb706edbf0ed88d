//! The document as text, rendered once per process at its first request.

use crate::error::ErrorKind;
use bytes::Bytes;
use ledger_types::Vendor;
use serde_json::Value;
use std::sync::OnceLock;

/// The document as JSON and as YAML.
#[derive(Debug)]
pub(crate) struct RenderedDocument {
    /// Makes the document of a chain with this vendor word.
    document: fn(&Vendor) -> Value,
    json: OnceLock<Bytes>,
    yaml: OnceLock<Bytes>,
}

impl RenderedDocument {
    /// Creates the rendered form of a document, which `document` makes when it is first requested.
    pub fn new(document: fn(&Vendor) -> Value) -> Self {
        Self {
            document,
            json: OnceLock::new(),
            yaml: OnceLock::new(),
        }
    }

    /// Returns the document as JSON.
    pub fn json(&self, vendor: &Vendor) -> Bytes {
        let written = self
            .json
            .get_or_init(|| (self.document)(vendor).to_string().into());
        written.clone()
    }

    /// Returns the document as YAML.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::Internal`] (500) if the document has no form in YAML.
    pub fn yaml(&self, vendor: &Vendor) -> Result<Bytes, ErrorKind> {
        if let Some(written) = self.yaml.get() {
            return Ok(written.clone());
        }
        let written = serde_saphyr::to_string(&(self.document)(vendor))
            .map_err(|cause| ErrorKind::internal("writing the document as YAML failed", &cause))?;
        Ok(self.yaml.get_or_init(|| written.into()).clone())
    }
}
