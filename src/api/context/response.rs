//! Successful responses: status, the state of the ledger that they were read at, and the body in
//! the format that the client requested.

use super::body::{BodyWriter, ResponseBody};
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

/// Initial capacity of a body of unknown size, in bytes.
const BODY_BYTES: usize = 256;

/// The result of a handler that succeeded.
pub(crate) trait IntoResponse {
    /// Converts the result to an HTTP response. `headers` are the ledger headers of the chain.
    fn into_response(self, headers: &LedgerHeaders) -> HttpResponse;
}

/// An extension of a response whose body is memory that all clients share.
pub(crate) struct SharedBody;

/// A successful response.
#[derive(Debug)]
pub(crate) struct LedgerResponse {
    status: StatusCode,
    ledger_info: LedgerInfo,
    format: Format,
    body: ResponseBody,
    gas_used: Option<u64>,
    cursor: Option<String>,
}

impl LedgerResponse {
    /// Creates a response with status 200 and a value of at most a few KiB as JSON. A
    /// [`BodyWriter`](super::BodyWriter) writes larger ones.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::Internal`] (500) if the value has no JSON form.
    pub fn json(ledger_info: LedgerInfo, value: &impl Serialize) -> Result<Self, ApiError> {
        let mut body = Vec::with_capacity(BODY_BYTES);
        serde_json::to_writer(&mut body, value).map_err(|cause| {
            ErrorKind::internal("writing the response as JSON failed", &cause).at(ledger_info)
        })?;
        Ok(Self::bytes(ledger_info, Format::Json, body.into()))
    }

    /// Creates a response with status 200 and a value of at most a few KiB as BCS.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::Internal`] (500) if the value has no BCS form.
    pub fn bcs(ledger_info: LedgerInfo, value: &impl Serialize) -> Result<Self, ApiError> {
        let mut body = Vec::with_capacity(BODY_BYTES);
        bcs::serialize_into(&mut body, value).map_err(|cause| {
            ErrorKind::internal("writing the response as BCS failed", &cause).at(ledger_info)
        })?;
        Ok(Self::bytes(ledger_info, Format::Bcs, body.into()))
    }

    /// Creates a response with status 200 and a body in this format.
    pub fn bytes(ledger_info: LedgerInfo, format: Format, body: Bytes) -> Self {
        Self::of_body(ledger_info, format, body.into())
    }

    /// Creates a response as [`Self::bytes`] does.
    pub fn of_body(ledger_info: LedgerInfo, format: Format, body: ResponseBody) -> Self {
        Self {
            status: StatusCode::OK,
            ledger_info,
            format,
            body,
            gas_used: None,
            cursor: None,
        }
    }

    /// Returns the state of the ledger that the response was read at.
    #[cfg(test)]
    pub fn ledger_info(&self) -> &LedgerInfo {
        &self.ledger_info
    }

    /// Returns the format of the body.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Returns the body.
    pub fn body(&self) -> &ResponseBody {
        &self.body
    }

    /// Replaces the status.
    pub fn with_status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }

    /// Adds the header with the cost of a call, in gas units.
    pub fn with_gas_used(self, gas_used: u64) -> Self {
        Self {
            gas_used: Some(gas_used),
            ..self
        }
    }

    /// Adds the header with the start of the next page. `None` means that this is the last page.
    pub fn with_cursor(self, cursor: Option<String>) -> Self {
        Self { cursor, ..self }
    }
}

impl IntoResponse for LedgerResponse {
    fn into_response(self, headers: &LedgerHeaders) -> HttpResponse {
        let mut builder = HttpResponse::build(self.status);
        builder.insert_header((
            CONTENT_TYPE,
            HeaderValue::from_static(self.format.media_type()),
        ));
        let mut response = self.body.set_on(&mut builder);
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

impl BodyWriter {
    /// Responds with the value as JSON.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::write_json`].
    pub fn json(
        mut self,
        ledger_info: LedgerInfo,
        value: &impl Serialize,
    ) -> Result<LedgerResponse, ApiError> {
        self.write_json(value)
            .map_err(|error| error.at(ledger_info))?;
        Ok(self.respond(ledger_info, Format::Json))
    }

    /// Responds with the value as BCS.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::write_bcs_with`].
    pub fn bcs(
        self,
        ledger_info: LedgerInfo,
        value: &impl Serialize,
    ) -> Result<LedgerResponse, ApiError> {
        self.bcs_with(ledger_info, |writer| bcs::serialize_into(writer, value))
    }

    /// Responds with the BCS that `write` writes.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::write_bcs_with`].
    pub fn bcs_with(
        mut self,
        ledger_info: LedgerInfo,
        write: impl FnOnce(&mut Self) -> Result<(), bcs::Error>,
    ) -> Result<LedgerResponse, ApiError> {
        self.write_bcs_with(write)
            .map_err(|error| error.at(ledger_info))?;
        Ok(self.respond(ledger_info, Format::Bcs))
    }

    /// Responds with the bytes that were written.
    fn respond(mut self, ledger_info: LedgerInfo, format: Format) -> LedgerResponse {
        let pieces = self.take_pieces();
        self.respond_with(ledger_info, format, pieces)
    }

    /// Responds with pieces that [`Self::take_pieces`] returned, in any order, and with bytes in
    /// other memory.
    pub fn respond_with(
        self,
        ledger_info: LedgerInfo,
        format: Format,
        pieces: Vec<Bytes>,
    ) -> LedgerResponse {
        LedgerResponse::of_body(ledger_info, format, self.into_body(pieces))
    }
}
