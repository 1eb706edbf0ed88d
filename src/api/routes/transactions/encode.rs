//! Signing messages of transactions that a client describes in JSON
//! (docs/reference/rest-contract.md#s4-1, docs/reference/reference-node.md#r9). A client must trust
//! the node, because the node could encode another transaction.

use crate::{
    context::{LedgerResponse, RequestContext},
    error::{ApiError, ErrorKind, Switch},
    model::{
        format::Format,
        json::{JsonString, TransactionRequest},
    },
};
use ledger_crypto::hex_text;
use ledger_types::{AccountAddress, RawTransaction, Vendor, transaction::SIGNATURES_MAX};
use schemars::JsonSchema;
use serde::Deserialize;

/// The body: that of a submission without `signature`, and who else signs.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct EncodeRequest {
    #[serde(flatten)]
    transaction: TransactionRequest,
    /// Where it is given, even without an address in it, the transaction is a multi-agent one.
    secondary_signers: Option<Vec<JsonString<AccountAddress>>>,
    /// Where it is given the transaction is sponsored. The reference has no such member, so that its
    /// clients cannot learn what to sign for a sponsored one.
    fee_payer_address: Option<JsonString<AccountAddress>>,
}

/// `POST /v1/transactions/encode_submission`
pub(crate) async fn encode_submission(mut cx: RequestContext) -> Result<LedgerResponse, ApiError> {
    cx.state.require(Switch::EncodeSubmission)?;
    if cx.format() == Format::Bcs {
        return Err(ErrorKind::BcsNotSupported("encode_submission").into());
    }
    let request: EncodeRequest = cx.json_body().await?;
    let ledger_info = *cx.node().head().ledger_info();
    let chain = cx.chain();
    let signers = Signers {
        secondary: request.secondary_signers.map(addresses).transpose()?,
        fee_payer: request.fee_payer_address.map(|JsonString(address)| address),
    };
    let raw = request
        .transaction
        .into_raw(chain)
        .map_err(|problem| problem.at(ledger_info))?;
    let message = signers.signing_message(&raw, chain.vendor());
    LedgerResponse::json(ledger_info, &hex_text(&message))
}

/// # Errors
/// 400 when there are more than may sign a transaction.
fn addresses(signers: Vec<JsonString<AccountAddress>>) -> Result<Vec<AccountAddress>, ErrorKind> {
    if signers.len() > SIGNATURES_MAX {
        let given = signers.len();
        let refusal = format!(
            "{given} secondary signers are named, a transaction has at most {SIGNATURES_MAX}"
        );
        return Err(ErrorKind::InvalidInput(refusal));
    }
    Ok(signers
        .into_iter()
        .map(|JsonString(address)| address)
        .collect())
}

/// Who signs beside the sender.
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
