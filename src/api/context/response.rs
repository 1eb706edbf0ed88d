//! A successful answer: status, the moment of the ledger it was read at, and the body in the form
//! that the client asked for.

use crate::{
    error::{ApiError, ErrorKind, LedgerHeaders},
    model::format::Format,
};
use actix_web::{
    HttpResponse,
    http::{
        StatusCode,
        header::{CONTENT_TYPE, HeaderValue},
    },
};
use bytes::Bytes;
use ledger_types::LedgerInfo;
use serde::Serialize;

/// Room for the body of an answer of which nothing is known.
const BODY_BYTES: usize = 256;

/// What a handler gives that succeeds.
pub(crate) trait IntoResponse {
    /// The answer on the wire.
    fn into_response(self, headers: &LedgerHeaders) -> HttpResponse;
}

/// Says of an answer that its body is memory which all its readers share; an extension of its response.
pub(crate) struct SharedBody;

/// A successful answer.
#[derive(Debug)]
pub(crate) struct LedgerResponse {
    status: StatusCode,
    ledger_info: LedgerInfo,
    format: Format,
    body: Bytes,
    gas_used: Option<u64>,
    cursor: Option<String>,
}

impl LedgerResponse {
    /// Status 200 with the value as JSON.
    ///
    /// # Errors
    /// 500 when the value has no JSON form.
    pub fn json(ledger_info: LedgerInfo, value: &impl Serialize) -> Result<Self, ApiError> {
        Self::json_of_about(ledger_info, value, BODY_BYTES)
    }

    /// As [`Self::json`], of a value whose JSON has about so many bytes: room for them is taken at once.
    ///
    /// # Errors
    /// As [`Self::json`].
    pub fn json_of_about(
        ledger_info: LedgerInfo,
        value: &impl Serialize,
        body_bytes: usize,
    ) -> Result<Self, ApiError> {
        let mut body = Vec::with_capacity(body_bytes);
        serde_json::to_writer(&mut body, value).map_err(|cause| {
            ErrorKind::internal("writing the answer as JSON failed", &cause).at(ledger_info)
        })?;
        Ok(Self::bytes(ledger_info, Format::Json, body.into()))
    }

    /// Status 200 with the value as BCS.
    ///
    /// # Errors
    /// 500 when the value has no BCS form.
    pub fn bcs(ledger_info: LedgerInfo, value: &impl Serialize) -> Result<Self, ApiError> {
        Self::bcs_of_about(ledger_info, value, BODY_BYTES)
    }

    /// As [`Self::bcs`], of a value that has about so many bytes: room for them is taken at once.
    ///
    /// # Errors
    /// As [`Self::bcs`].
    pub fn bcs_of_about(
        ledger_info: LedgerInfo,
        value: &impl Serialize,
        body_bytes: usize,
    ) -> Result<Self, ApiError> {
        let mut body = Vec::with_capacity(body_bytes);
        let written = bcs::serialize_into(&mut body, value);
        Self::bcs_bytes(ledger_info, written.map(|()| body))
    }

    /// Status 200 with what was written as BCS.
    ///
    /// # Errors
    /// 500 when that failed.
    pub fn bcs_bytes(
        ledger_info: LedgerInfo,
        body: Result<Vec<u8>, bcs::Error>,
    ) -> Result<Self, ApiError> {
        let body = body.map_err(|cause| {
            ErrorKind::internal("writing the answer as BCS failed", &cause).at(ledger_info)
        })?;
        Ok(Self::bytes(ledger_info, Format::Bcs, body.into()))
    }

    /// Status 200 with a body that is already written.
    pub fn bytes(ledger_info: LedgerInfo, format: Format, body: Bytes) -> Self {
        Self {
            status: StatusCode::OK,
            ledger_info,
            format,
            body,
            gas_used: None,
            cursor: None,
        }
    }

    /// The moment of the ledger that it is of.
    #[cfg(test)]
    pub fn ledger_info(&self) -> &LedgerInfo {
        &self.ledger_info
    }

    /// Its form.
    pub fn format(&self) -> Format {
        self.format
    }

    /// What the client gets beside headers.
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// The same answer with another status.
    pub fn with_status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }

    /// The same answer with what the call cost, in gas units.
    pub fn with_gas_used(self, gas_used: u64) -> Self {
        Self {
            gas_used: Some(gas_used),
            ..self
        }
    }

    /// The same answer with where the next page begins; `None` on the last page.
    pub fn with_cursor(self, cursor: Option<String>) -> Self {
        Self { cursor, ..self }
    }
}

impl IntoResponse for LedgerResponse {
    fn into_response(self, headers: &LedgerHeaders) -> HttpResponse {
        let mut response = HttpResponse::build(self.status)
            .insert_header((
                CONTENT_TYPE,
                HeaderValue::from_static(self.format.media_type()),
            ))
            .body(self.body);
        headers.write(&self.ledger_info, response.headers_mut());
        if let Some(gas_used) = self.gas_used {
            headers.write_gas_used(gas_used, response.headers_mut());
        }
        if let Some(cursor) = &self.cursor {
            headers.write_cursor(cursor, response.headers_mut());
        }
        response
    }
}
