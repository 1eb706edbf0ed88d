//! Simulation of a transaction at the newest version (docs/reference/reference-node.md#r8).
//!
//! A simulation runs on a reader thread and changes nothing, so the filter of submissions does not
//! apply to it. The reference node has a filter of simulations.

use super::{SIGNED_BCS, SubmissionBody, committed_example, signed_example, submit::check_call};
use crate::{
    context::{
        BodyWriter, LedgerResponse, RequestContext,
        extract::{Combine, Parameter, QueryParameter},
    },
    error::{ApiError, ErrorCode, ErrorKind, Switch},
    limits::{
        Subject,
        large_responses::{size_bytes, values_bytes},
    },
    model::{
        TableTypes,
        bcs::write_executed,
        format::Format,
        json::{CommittedJson, SubmitRequest, TransactionJson},
    },
    openapi::{
        StatusCode,
        errors::{self, documented_only, error},
        operation::{Media, Operation, Success, Tag},
        parameter,
        schemas::schema,
    },
};
use ledger_actors::{Lane, SubmitError};
use ledger_crypto::{ecdsa::secp256r1, multi_ed25519, webauthn::AssertionSignature};
use ledger_execution::{self, AccountSnapshot, max_gas_amount_min};
use ledger_limits::{Demand, WorkKind};
use ledger_store::{Snapshot, StateAt, StoreError};
use ledger_types::{
    AccountAddress, ExecutedTransaction, LedgerInfo, SignedTransaction, StateError,
    transaction::{
        AccountAuthenticator, AnySignature, MultiEd25519PublicKey, MultiEd25519Signature,
        TransactionAuthenticator,
    },
};
use ledger_vm::{Chain, Interrupt};
use serde_json::{Value, json};
use std::fmt;

/// The query parameter with which the node sets the maximum gas amount.
pub(crate) enum EstimateMaxGasAmount {}

impl Parameter for EstimateMaxGasAmount {
    type Value = bool;
    const NAME: &'static str = "estimate_max_gas_amount";
    const DESCRIPTION: &'static str =
        "Whether the node sets `max_gas_amount` to the amount that the payer can afford.";
    const SCHEMA: fn() -> Value = parameter::flag;
    const EXAMPLE: fn() -> Value = || json!(true);
}

/// The query parameter with which the node sets the gas unit price for normal priority.
pub(crate) enum EstimateGasPrice {}

impl Parameter for EstimateGasPrice {
    type Value = bool;
    const NAME: &'static str = "estimate_gas_unit_price";
    const DESCRIPTION: &'static str =
        "Whether the node sets `gas_unit_price` to the estimate for normal priority.";
    const SCHEMA: fn() -> Value = parameter::flag;
    const EXAMPLE: fn() -> Value = || json!(true);
}

/// The query parameter with which the node sets the gas unit price for high priority.
pub(crate) enum EstimatePrioritizedGasPrice {}

impl Parameter for EstimatePrioritizedGasPrice {
    type Value = bool;
    const NAME: &'static str = "estimate_prioritized_gas_unit_price";
    const DESCRIPTION: &'static str =
        "Whether the node sets `gas_unit_price` to the estimate for high priority.";
    const SCHEMA: fn() -> Value = parameter::flag;
    const EXAMPLE: fn() -> Value = || json!(true);
}

/// Handles `POST /v1/transactions/simulate`.
pub(crate) async fn simulate(
    cx: RequestContext,
    estimates: Estimates,
    body: SubmissionBody,
) -> Result<LedgerResponse, ApiError> {
    let signed = body.read(&cx).await?;
    check_call(&signed)?;
    check_signature_forms(&signed.authenticator)?;
    if let Some(call) = signed.raw.entry_function() {
        cx.charge(|| Subject::of_call(call));
    }
    reject_valid_signatures(&cx, &signed).await?;
    let signed = estimates.with_gas_price(&cx, signed).await?;
    let (chain, now_usecs) = (cx.chain().clone(), cx.node().now_usecs());
    let demand = Demand::bytes(signed.size_bytes());
    let mut body = cx.body_writer();
    let (ledger_info, (simulated, size_bytes, mut body)) = cx
        .call(WorkKind::Simulation, demand, move |snapshot, interrupt| {
            body.check_memory()?;
            let simulated = run(&chain, snapshot, &estimates, (now_usecs, interrupt), signed)?;
            let size_bytes = size_bytes(&simulated.executed);
            body.lease_values(values_bytes(size_bytes))?;
            Ok((simulated, size_bytes, body))
        })
        .await?;
    cx.reserve_rendering(ledger_info, &mut body, size_bytes)
        .await?;
    let (chain, format) = (cx.chain().clone(), cx.format());
    cx.render(size_bytes, move || {
        render(&chain, format, body, ledger_info, &simulated)
    })
    .await
}

/// Describes [`simulate`].
pub(crate) fn describe_simulate() -> Operation {
    let success =
        Success::ok("Array of one transaction, as if it were committed at the newest version.")
            .json(
                schema::<Vec<TransactionJson<'static>>>(),
                json!([committed_example()]),
            )
            .bcs("Committed transaction in BCS, without a list around it.")
            .with_gas_used();
    Operation::new(
        "simulate_transaction",
        Tag::Transactions,
        "Simulate a transaction",
        "Runs the transaction on the newest state without a change to the ledger. Its signatures \
         must be invalid: use zeros for them. A transaction that would be rejected or fail is 200, \
         with `success` false and its `vm_status`.",
    )
    .needs(Switch::Simulation)
    .parameter(QueryParameter::<EstimateMaxGasAmount>::describe())
    .parameter(QueryParameter::<EstimateGasPrice>::describe())
    .parameter(QueryParameter::<EstimatePrioritizedGasPrice>::describe())
    .json_body(schema::<SubmitRequest>(), signed_example())
    .bcs_body(Media::SignedTransactionBcs, SIGNED_BCS)
    .success(success)
    .errors(errors::SUBMISSION)
    .errors(&[
        error(
            StatusCode::BAD_REQUEST,
            ErrorCode::InvalidInput,
            "The signatures are valid.",
        ),
        error(
            StatusCode::FORBIDDEN,
            ErrorCode::ApiDisabled,
            "The operator has disabled simulations.",
        ),
        documented_only(
            StatusCode::NOT_FOUND,
            ErrorCode::AccountNotFound,
            "Declared by the REST contract for submissions, and never returned.",
        ),
        documented_only(
            StatusCode::INSUFFICIENT_STORAGE,
            ErrorCode::MempoolIsFull,
            "Declared by the REST contract for submissions, and never returned: a simulation does \
             not use the mempool.",
        ),
    ])
}

/// Checks that the signatures of a transaction are well formed, although they are invalid.
///
/// The keys themselves are not decoded here: the queue of the signatures does that.
///
/// # Errors
///
/// Returns [`ErrorKind::InvalidInput`] if a secondary signer has no signature, or if the encoding of
/// a multi-ed25519 key, of a multi-ed25519 signature, or of the signature in a WebAuthn assertion is
/// invalid.
fn check_signature_forms(authenticator: &TransactionAuthenticator) -> Result<(), ErrorKind> {
    let (named, signing) = (
        authenticator.secondary_signer_addresses().len(),
        authenticator.secondary_signers().len(),
    );
    if named != signing {
        return Err(malformed(&format_args!(
            "{named} secondary signers are named, {signing} sign"
        )));
    }
    if let TransactionAuthenticator::MultiEd25519 {
        public_key,
        signature,
    } = authenticator
    {
        check_multi_ed25519_form(public_key, signature)?;
    }
    let payer = authenticator.fee_payer().map(|(_, signer)| signer);
    let signers = authenticator.sender_account_authenticator().into_iter();
    for signer in signers
        .chain(authenticator.secondary_signers())
        .chain(payer)
    {
        match signer {
            AccountAuthenticator::MultiEd25519 {
                public_key,
                signature,
            } => check_multi_ed25519_form(public_key, signature)?,
            AccountAuthenticator::SingleKey { signature, .. } => check_assertion_form(signature)?,
            AccountAuthenticator::MultiKey { signatures, .. } => {
                signatures.iter().try_for_each(check_assertion_form)?;
            }
            AccountAuthenticator::Ed25519 { .. }
            | AccountAuthenticator::NoAccountAuthenticator
            | AccountAuthenticator::Abstract { .. } => {}
        }
    }
    Ok(())
}

fn malformed(cause: &dyn fmt::Display) -> ErrorKind {
    ErrorKind::InvalidInput(cause.to_string())
}

fn check_multi_ed25519_form(
    key: &MultiEd25519PublicKey,
    signature: &MultiEd25519Signature,
) -> Result<(), ErrorKind> {
    multi_ed25519::MultiEd25519PublicKey::from_bytes_unchecked(&key.0)
        .and(multi_ed25519::MultiEd25519Signature::from_bytes(
            &signature.0,
        ))
        .map(|_| ())
        .map_err(|cause| malformed(&cause))
}

fn check_assertion_form(signature: &AnySignature) -> Result<(), ErrorKind> {
    let AnySignature::WebAuthn(assertion) = signature else {
        return Ok(());
    };
    let AssertionSignature::Secp256r1Ecdsa(bytes) = &assertion.signature;
    secp256r1::check_signature(bytes).map_err(|cause| malformed(&cause))
}

/// Rejects a transaction with valid signatures, because any party that sees the request could
/// submit it.
///
/// The signatures of a simulation are mostly invalid, so the untrusted queue checks them.
async fn reject_valid_signatures(
    cx: &RequestContext,
    signed: &SignedTransaction,
) -> Result<(), ErrorKind> {
    let verdict = cx
        .node()
        .check_signatures(signed.clone(), Lane::Untrusted, cx.client())
        .await;
    match verdict {
        Err(SubmitError::Invalid(_)) => Ok(()),
        Err(error) => Err(error.into()),
        Ok(_) => Err(ErrorKind::InvalidInput(
            "Simulated transactions must not have a valid signature".to_owned(),
        )),
    }
}

/// The values of the transaction that the node estimates.
#[derive(Clone, Copy)]
pub(crate) struct Estimates {
    max_gas_amount: bool,
    gas_unit_price: bool,
    prioritized_gas_unit_price: bool,
}

impl Combine for Estimates {
    type Parts = (
        QueryParameter<EstimateMaxGasAmount>,
        QueryParameter<EstimateGasPrice>,
        QueryParameter<EstimatePrioritizedGasPrice>,
    );

    fn combine(
        (QueryParameter(amount), QueryParameter(price), QueryParameter(prioritized)): Self::Parts,
    ) -> Result<Self, ErrorKind> {
        Ok(Self {
            max_gas_amount: amount.unwrap_or(false),
            gas_unit_price: price.unwrap_or(false),
            prioritized_gas_unit_price: prioritized.unwrap_or(false),
        })
    }
}

impl Estimates {
    /// Sets the gas unit price of the transaction if an estimate is requested. If both are, the
    /// higher one applies.
    async fn with_gas_price(
        &self,
        cx: &RequestContext,
        mut signed: SignedTransaction,
    ) -> Result<SignedTransaction, ApiError> {
        if !self.gas_unit_price && !self.prioritized_gas_unit_price {
            return Ok(signed);
        }
        let estimate = cx.node().gas_estimate().await?;
        signed.raw.gas_unit_price = if self.prioritized_gas_unit_price {
            estimate.prioritized_gas_estimate
        } else {
            estimate.gas_estimate
        };
        Ok(signed)
    }
}

/// The result of a simulation.
struct Simulated {
    executed: ExecutedTransaction,
    tables: TableTypes,
}

fn run(
    chain: &Chain,
    snapshot: &Snapshot,
    estimates: &Estimates,
    (now_usecs, interrupt): (u64, Interrupt),
    mut signed: SignedTransaction,
) -> Result<Simulated, StoreError> {
    let ledger_info = snapshot.ledger_info();
    let executed = snapshot.read_state(ledger_info.version, |state| {
        if estimates.max_gas_amount {
            signed.raw.max_gas_amount = max_gas_amount(chain, state, &signed)?;
        }
        ledger_execution::simulate(
            chain,
            state,
            ledger_info,
            now_usecs,
            &signed,
            Some(interrupt),
        )
    })?;
    let mut tables = TableTypes::default();
    tables.load(chain, snapshot, &executed.writes, ledger_info.version)?;
    Ok(Simulated { executed, tables })
}

/// Returns the maximum gas amount that the chain allows and the payer can afford, but at least the
/// least amount that validation accepts, so that it rejects a balance that is too low. The zero
/// address means an unknown payer.
fn max_gas_amount(
    chain: &Chain,
    state: &StateAt<'_>,
    signed: &SignedTransaction,
) -> Result<u64, StateError> {
    let allowed = chain.parameters().max_gas_amount;
    let payer = match &signed.authenticator {
        TransactionAuthenticator::FeePayer {
            fee_payer_address, ..
        } => fee_payer_address,
        _ => &signed.raw.sender,
    };
    if *payer == AccountAddress::ZERO {
        return Ok(allowed);
    }
    let balance = AccountSnapshot::read(chain, state, payer)?.balance;
    let affordable = balance.checked_div(signed.raw.gas_unit_price);
    let least = max_gas_amount_min(chain, signed);
    Ok(affordable.unwrap_or(allowed).max(least).min(allowed))
}

/// Responds with a transaction as if it were committed at the newest version: in JSON an array of
/// one, in BCS the transaction itself.
fn render(
    chain: &Chain,
    format: Format,
    body: BodyWriter,
    ledger_info: LedgerInfo,
    simulated: &Simulated,
) -> Result<LedgerResponse, ApiError> {
    let Simulated { executed, tables } = simulated;
    let version = ledger_info.version;
    let response = match format {
        Format::Json => {
            let view = CommittedJson {
                version,
                timestamp_usecs: ledger_info.timestamp_usecs,
                executed,
                tables,
            };
            let mut view = TransactionJson::committed(chain, view);
            let user = executed.transaction.as_user();
            if let Some(call) = user.and_then(|signed| signed.raw.entry_function()) {
                // The simulation ran in the block after the newest one.
                let version = chain
                    .parameters()
                    .framework_version(ledger_info.block_height.saturating_add(1));
                let status = &executed.info.v0().status;
                view = view.with_vm_status(chain.simulated_vm_status(status, call, version));
            }
            body.json(ledger_info, &[view])
        }
        Format::Bcs => body.bcs_with(ledger_info, |out| write_executed(out, version, executed)),
    };
    Ok(response?.with_gas_used(executed.info.v0().gas_used))
}
