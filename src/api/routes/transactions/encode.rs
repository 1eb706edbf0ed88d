//! Encoding of the signing message of a transaction in JSON
//! (docs/reference/rest-contract.md#s4-1, docs/reference/reference-node.md#r9). A client must trust
//! the node, because the node could encode another transaction.

use super::unsigned_example;
use crate::{
    context::{LedgerResponse, RequestContext, extract::JsonBody},
    error::{ApiError, ErrorCode, ErrorKind, Switch},
    model::{
        format::Format,
        json::{EncodeRequest, HexBytes, JsonString},
    },
    openapi::{
        StatusCode,
        errors::error,
        operation::{Operation, Success, Tag},
        schemas::schema,
    },
};
use ledger_crypto::hex_text;
use ledger_types::{AccountAddress, RawTransaction, Vendor, transaction::SIGNATURES_MAX};
use ledger_vm::Chain;
use serde_json::json;

/// Number of characters for each byte in hexadecimal.
const HEX_CHARS_PER_BYTE: usize = 2;

/// Handles `POST /v1/transactions/encode_submission`.
pub(crate) async fn encode_submission(
    cx: RequestContext,
    body: JsonBody<EncodeRequest>,
) -> Result<LedgerResponse, ApiError> {
    if cx.format() == Format::Bcs {
        return Err(ErrorKind::BcsNotSupported("encode_submission").into());
    }
    let (ledger_info, chain) = (cx.newest(), cx.chain().clone());
    let encoded = body.read_as(&cx, move |request| encode(&chain, request));
    let text = encoded.await?.map_err(|problem| problem.at(ledger_info))?;
    // The text is as large as a body may be.
    let (size_bytes, writer) = (text.len() / HEX_CHARS_PER_BYTE, cx.body_writer());
    cx.render(size_bytes, move || writer.json(ledger_info, &text))
        .await
}

/// Describes [`encode_submission`].
pub(crate) fn describe_encode_submission() -> Operation {
    let success = Success::ok("Signing message, in hexadecimal.")
        .json(schema::<HexBytes>(), json!("0xb5e97db0"));
    Operation::new(
        "encode_submission",
        Tag::Transactions,
        "Encode a signing message",
        "Returns the message that the signers of a transaction sign. Use only a node that you \
         trust, because a node could encode another transaction. `secondary_signers` makes the \
         transaction a multi-agent one, and `fee_payer_address` makes it a sponsored one.",
    )
    .needs(Switch::EncodeSubmission)
    .reads_no_ledger()
    .json_body(schema::<EncodeRequest>(), unsigned_example())
    .success(success)
    .errors(&[
        error(
            StatusCode::BAD_REQUEST,
            ErrorCode::InvalidInput,
            "The framework does not have the function, the arguments do not match its parameters, \
             or there are too many signers.",
        ),
        error(
            StatusCode::BAD_REQUEST,
            ErrorCode::VmError,
            "The chain does not execute this kind of payload.",
        ),
        error(
            StatusCode::BAD_REQUEST,
            ErrorCode::BcsNotSupported,
            "`Accept` selects BCS, which this operation does not support.",
        ),
        error(
            StatusCode::FORBIDDEN,
            ErrorCode::ApiDisabled,
            "The operator has disabled encoding.",
        ),
    ])
}

/// Returns the signing message of a request in hexadecimal. The inner error depends on the chain,
/// so its response has ledger headers.
///
/// # Errors
///
/// Returns the error of [`addresses`].
fn encode(chain: &Chain, request: EncodeRequest) -> Result<Result<String, ErrorKind>, ErrorKind> {
    let raw = request.raw(chain);
    let signers = Signers {
        secondary: request.secondary_signers.map(addresses).transpose()?,
        fee_payer: request.fee_payer_address.map(|JsonString(address)| address),
    };
    Ok(raw.map(|raw| hex_text(&signers.signing_message(&raw, chain.vendor()))))
}

/// Returns the addresses of the signers.
///
/// # Errors
///
/// Returns [`ErrorKind::InvalidInput`] if there are more than [`SIGNATURES_MAX`].
fn addresses(signers: Vec<JsonString<AccountAddress>>) -> Result<Vec<AccountAddress>, ErrorKind> {
    if signers.len() > SIGNATURES_MAX {
        let given = signers.len();
        let error_text = format!(
            "{given} secondary signers are named, a transaction has at most {SIGNATURES_MAX}"
        );
        return Err(ErrorKind::InvalidInput(error_text));
    }
    Ok(signers
        .into_iter()
        .map(|JsonString(address)| address)
        .collect())
}

/// The signers beside the sender.
struct Signers {
    secondary: Option<Vec<AccountAddress>>,
    fee_payer: Option<AccountAddress>,
}

impl Signers {
    fn signing_message(&self, raw: &RawTransaction, vendor: &Vendor) -> Vec<u8> {
        let secondary = self.secondary.as_deref();
        match self.fee_payer {
            Some(payer) => {
                raw.fee_payer_signing_message(secondary.unwrap_or_default(), payer, vendor)
            }
            None => match secondary {
                Some(secondary) => raw.multi_agent_signing_message(secondary, vendor),
                None => raw.signing_message(vendor),
            },
        }
    }
}
