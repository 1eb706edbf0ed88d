//! Calls of view functions, which read one version of the state and change nothing. They run on a
//! reader thread, as every read does, and end when their gas does.

use super::transactions::submit::bounded_call;
use crate::{
    context::{LedgerResponse, RequestContext, extract::body},
    error::{ApiError, ErrorKind},
    limits::large_responses,
    model::{
        format::{Format, JSON},
        json::{CallRequest, ValueJson},
    },
};
use bytes::Bytes;
use ledger_execution::{self, ViewError, ViewOutput};
use ledger_types::{EntryFunction, LedgerInfo, transaction::SIGNED_TRANSACTION_DEPTH_MAX};
use ledger_vm::Chain;
use std::rc::Rc;

/// `POST /v1/view`
pub(crate) async fn view(mut cx: RequestContext) -> Result<LedgerResponse, ApiError> {
    let state = Rc::clone(&cx.state);
    let (media_type, body) = cx.body(&[JSON, state.view_function_media_type()]).await?;
    let function = match media_type {
        0 => body::parse_json::<CallRequest>(&body)?.view_function(cx.chain())?,
        _ => from_bcs(cx.chain(), &body)?,
    };
    bounded_call(&function)?;
    let chain = cx.chain().clone();
    let (ledger_info, viewed) = cx
        .read_state(move |snapshot, version| {
            let viewed = ledger_execution::view(&chain, &snapshot.state_at(version), &function);
            Ok(viewed.map_err(|error| problem(&chain, error)))
        })
        .await?;
    let size_bytes = viewed.values.iter().map(|(_, bytes)| bytes.len()).sum();
    let permit = cx.state.large_responses().acquire_for(size_bytes)?;
    let (chain, format) = (cx.chain().clone(), cx.format());
    large_responses::render(cx.node(), permit, move || {
        render(&chain, format, ledger_info, &viewed)
    })
    .await
}

/// # Errors
/// 400 when there are more bytes than a transaction may have, or they are no call.
fn from_bcs(chain: &Chain, body: &[u8]) -> Result<EntryFunction, ErrorKind> {
    let (size, size_max) = (body.len() as u64, chain.parameters().transaction_bytes_max);
    if size > size_max {
        return Err(ErrorKind::InvalidInput(format!(
            "a call in BCS has at most {size_max} bytes, as a transaction, this one has {size}"
        )));
    }
    bcs::from_bytes_with_limit(body, SIGNED_TRANSACTION_DEPTH_MAX).map_err(|cause| {
        ErrorKind::InvalidInput(format!(
            "Failed to deserialize input into ViewFunction: {cause}"
        ))
    })
}

/// An array of values; in BCS each value is a vector of its bytes.
fn render(
    chain: &Chain,
    format: Format,
    ledger_info: LedgerInfo,
    viewed: &ViewOutput,
) -> Result<LedgerResponse, ApiError> {
    let values = viewed.values.iter();
    let answer = match format {
        Format::Json => {
            let shown: Vec<_> = values
                .map(|(tag, bytes)| ValueJson::new(chain, tag, bytes.clone()))
                .collect();
            LedgerResponse::json(ledger_info, &shown)
        }
        Format::Bcs => {
            let stored: Vec<&Bytes> = values.map(|(_, bytes)| bytes).collect();
            LedgerResponse::bcs(ledger_info, &stored)
        }
    };
    Ok(answer?.with_gas_used(viewed.gas_used))
}

fn problem(chain: &Chain, error: ViewError) -> ErrorKind {
    match error {
        ViewError::Call(cause) => ErrorKind::InvalidInput(cause.to_string()),
        ViewError::Failed(failure) => ErrorKind::ViewFailed {
            message: failure.vm_status(chain),
            vm_error_code: failure.code,
        },
        ViewError::State(cause) => ErrorKind::internal("running a view function failed", &cause),
    }
}
