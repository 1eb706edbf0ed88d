//! Calls of view functions, which read one version of the state and do not change it. A call runs
//! on a reader thread, and fails if it exceeds its gas limit.

use super::transactions::submit::check_argument_count;
use crate::{
    context::{
        BodyWriter, LedgerResponse, RequestContext,
        extract::{AtVersion, JsonOrBcs, JsonOrBcsBody},
    },
    error::{ApiError, ErrorCode, ErrorKind},
    limits::Subject,
    model::{
        bcs::write_length,
        format::Format,
        json::{CallRequest, ValueJson, parse_json},
    },
    openapi::{
        StatusCode,
        errors::{self, error},
        operation::{Media, Operation, Success, Tag},
        schemas::schema,
    },
};
use bytes::Bytes;
use ledger_execution::{self, ViewError, ViewOutput};
use ledger_limits::{Demand, WorkKind};
use ledger_types::{EntryFunction, LedgerInfo, transaction::SIGNED_TRANSACTION_DEPTH_MAX};
use ledger_vm::Chain;
use serde_json::{Value, json};
use std::io::Write as _;

/// Handles `POST /v1/view`.
pub(super) async fn view(
    cx: RequestContext,
    body: JsonOrBcsBody<ViewCall>,
    version: Result<AtVersion, ErrorKind>,
) -> Result<LedgerResponse, ApiError> {
    let ViewCall(function) = body.read(&cx).await?;
    check_argument_count(&function)?;
    cx.charge(|| Subject::of_call(&function));
    let version = version?;
    let chain = cx.chain().clone();
    let demand = Demand::bytes(function.args.iter().map(Bytes::len).sum());
    let mut body = cx.body_writer();
    let (ledger_info, (viewed, size_bytes, mut body)) = cx
        .call(WorkKind::View, demand, move |snapshot, interrupt| {
            body.check_memory()?;
            let viewed = snapshot.read_state(version.resolve(snapshot)?, |state| {
                Ok(ledger_execution::view(
                    &chain,
                    state,
                    &function,
                    Some(interrupt),
                ))
            })?;
            let viewed = viewed.map_err(|error| problem(&chain, error))?;
            let size_bytes = viewed.values.iter().map(|(_, bytes)| bytes.len()).sum();
            body.lease_values(size_bytes)?;
            Ok((viewed, size_bytes, body))
        })
        .await?;
    cx.reserve_rendering(ledger_info, &mut body, size_bytes)
        .await?;
    let (chain, format) = (cx.chain().clone(), cx.format());
    cx.render(size_bytes, move || {
        render(&chain, format, body, ledger_info, &viewed)
    })
    .await
}

/// Describes [`view`].
pub(super) fn describe_view() -> Operation {
    let request = json!({
        "function": "0x1::chain_id::get",
        "type_arguments": [],
        "arguments": [],
    });
    let success = Success::ok("Return values of the function, in order.")
        .json(schema::<Vec<Value>>(), json!([4]))
        .bcs("Number of values in ULEB128, then the values in BCS, one after the other.")
        .with_gas_used();
    Operation::new(
        "view",
        Tag::View,
        "Call a view function",
        "Runs a function that reads the state at a version and does not change it. The call fails \
         if it uses as much gas as a transaction may. The response has the used gas in \
         `X-{VENDOR}-GAS-USED`; the gas is not charged.",
    )
    .parameter(AtVersion::describe())
    .json_body(schema::<CallRequest>(), request)
    .bcs_body(
        Media::ViewFunctionBcs,
        "Call in BCS: module, function, type arguments, and a vector with the BCS bytes of each \
         argument.",
    )
    .success(success)
    .errors(errors::STATE_VERSION)
    .errors(&[error(
        StatusCode::BAD_REQUEST,
        ErrorCode::InvalidInput,
        "The view function does not exist, the arguments do not match its parameters, or the call \
         fails. `vm_error_code` is the status code of a failed call.",
    )])
}

/// A call of a view function.
pub(super) struct ViewCall(EntryFunction);

impl JsonOrBcs for ViewCall {
    const BCS: Media = Media::ViewFunctionBcs;

    fn from_json(chain: &Chain, body: &[u8]) -> Result<Self, ErrorKind> {
        parse_json::<CallRequest>(body)?
            .view_function(chain)
            .map(Self)
    }

    fn from_bcs(chain: &Chain, body: &[u8]) -> Result<Self, ErrorKind> {
        let (size, size_max) = (body.len() as u64, chain.parameters().transaction_bytes_max);
        if size > size_max {
            return Err(ErrorKind::InvalidInput(format!(
                "a call in BCS has at most {size_max} bytes, as a transaction, this one has {size}"
            )));
        }
        let function = bcs::from_bytes_with_limit(body, SIGNED_TRANSACTION_DEPTH_MAX);
        function.map(Self).map_err(|cause| {
            ErrorKind::InvalidInput(format!(
                "Failed to deserialize input into ViewFunction: {cause}"
            ))
        })
    }
}

/// Responds with an array of values. In BCS the values follow their number, without lengths.
fn render(
    chain: &Chain,
    format: Format,
    body: BodyWriter,
    ledger_info: LedgerInfo,
    viewed: &ViewOutput,
) -> Result<LedgerResponse, ApiError> {
    let values = viewed.values.iter();
    let response = match format {
        Format::Json => {
            let shown: Vec<_> = values
                .map(|(tag, bytes)| ValueJson::new(chain, tag, bytes.clone()))
                .collect();
            body.json(ledger_info, &shown)
        }
        Format::Bcs => body.bcs_with(ledger_info, |out| {
            write_length(out, values.len())?;
            for (_, bytes) in values {
                out.write_all(bytes)?;
            }
            Ok(())
        }),
    };
    Ok(response?.with_gas_used(viewed.gas_used))
}

fn problem(chain: &Chain, error: ViewError) -> ErrorKind {
    match error {
        ViewError::Failed(failure) => ErrorKind::ViewFailed {
            message: failure.vm_status(chain),
            vm_error_code: failure.code,
        },
        ViewError::State(cause) => ErrorKind::internal("running a view function failed", &cause),
    }
}
