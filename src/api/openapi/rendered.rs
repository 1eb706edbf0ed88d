//! The document as text, written once per process when it is first asked for.

use crate::error::ErrorKind;
use bytes::Bytes;
use ledger_types::Vendor;
use serde_json::Value;
use std::sync::OnceLock;

/// The document in both forms.
#[derive(Debug)]
pub(crate) struct RenderedDocument {
    /// Makes the document of a chain with a vendor word.
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

    /// The document as JSON.
    pub fn json(&self, vendor: &Vendor) -> Bytes {
        let written = self
            .json
            .get_or_init(|| (self.document)(vendor).to_string().into());
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
        let written = serde_saphyr::to_string(&(self.document)(vendor))
            .map_err(|cause| ErrorKind::internal("writing the document as YAML failed", &cause))?;
        Ok(self.yaml.get_or_init(|| written.into()).clone())
    }
}
