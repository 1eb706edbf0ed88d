//! Simulation of a transaction at the newest version (docs/reference/reference-node.md#r8).
//!
//! A simulation runs on a reader thread and changes nothing, so the filter of submissions does not
//! apply to it. The reference node has a filter of simulations.

use super::submit::{bounded, signed_transaction};
use crate::{
    context::{LedgerResponse, RequestContext},
    error::{ApiError, ErrorKind, Switch},
    limits::large_responses::{self, size_bytes},
    model::{
        TableTypes,
        bcs::OnChainBcs,
        format::Format,
        json::{CommittedJson, TransactionJson},
    },
};
use ledger_actors::{Lane, SubmitError};
use ledger_execution::{self, AccountSnapshot};
use ledger_store::{Snapshot, StateAt, StoreError};
use ledger_types::{
    AccountAddress, ExecutedTransaction, LedgerInfo, SignedTransaction,
    transaction::TransactionAuthenticator,
};
use ledger_vm::Chain;
use std::slice::from_ref;

/// `POST /v1/transactions/simulate`
pub(crate) async fn simulate(mut cx: RequestContext) -> Result<LedgerResponse, ApiError> {
    cx.state.require(Switch::Simulation)?;
    let estimates = Estimates::asked_by(&cx)?;
    let signed = signed_transaction(&mut cx).await?;
    bounded(&signed)?;
    refuse_signed(&cx, &signed).await?;
    let signed = estimates.with_gas_price(&cx, signed).await?;
    let (chain, now_usecs) = (cx.chain().clone(), cx.node().now_usecs());
    let (ledger_info, simulated) = cx
        .read(move |snapshot| run(&chain, snapshot, &estimates, now_usecs, signed).map(Ok))
        .await?;
    let permit = cx
        .state
        .large_responses()
        .acquire_for(size_bytes(&simulated.executed))?;
    let (chain, format) = (cx.chain().clone(), cx.format());
    large_responses::render(cx.node(), permit, move || {
        render(&chain, format, ledger_info, &simulated)
    })
    .await
}

/// Refuses a transaction whose signatures hold: whoever has it could submit it. As a rule they do not, so
/// they are not checked among those of submissions.
async fn refuse_signed(cx: &RequestContext, signed: &SignedTransaction) -> Result<(), ErrorKind> {
    let verdict = cx
        .node()
        .check_signatures(signed.clone(), Lane::Untrusted)
        .await;
    match verdict {
        Err(SubmitError::Invalid(_)) => Ok(()),
        Err(error) => Err(error.into()),
        Ok(_) => Err(ErrorKind::InvalidInput(
            "Simulated transactions must not have a valid signature".to_owned(),
        )),
    }
}

/// Which of its numbers the transaction leaves to the node.
#[derive(Clone, Copy)]
struct Estimates {
    max_gas_amount: bool,
    gas_unit_price: bool,
    prioritized_gas_unit_price: bool,
}

impl Estimates {
    fn asked_by(cx: &RequestContext) -> Result<Self, ErrorKind> {
        let flag = |name| Ok::<_, ErrorKind>(cx.query(name)?.unwrap_or(false));
        Ok(Self {
            max_gas_amount: flag("estimate_max_gas_amount")?,
            gas_unit_price: flag("estimate_gas_unit_price")?,
            prioritized_gas_unit_price: flag("estimate_prioritized_gas_unit_price")?,
        })
    }

    /// The transaction with the node's gas price, where one is asked for: the higher one if both are.
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

/// What a simulation gave.
struct Simulated {
    executed: ExecutedTransaction,
    tables: TableTypes,
}

fn run(
    chain: &Chain,
    snapshot: &Snapshot,
    estimates: &Estimates,
    now_usecs: u64,
    mut signed: SignedTransaction,
) -> Result<Simulated, StoreError> {
    let ledger_info = snapshot.ledger_info();
    let state = snapshot.state_at(ledger_info.version);
    if estimates.max_gas_amount {
        signed.raw.max_gas_amount = max_gas_amount(chain, &state, &signed)?;
    }
    let executed = ledger_execution::simulate(chain, &state, ledger_info, now_usecs, &signed)
        .map_err(|cause| StoreError::Inconsistent(cause.0))?;
    let mut tables = TableTypes::default();
    tables.load(chain, snapshot, &executed.writes, ledger_info.version)?;
    Ok(Simulated { executed, tables })
}

/// The most gas units that the chain allows and the payer can pay for, but no fewer than the transaction
/// needs at least, so that a payer who has too little is told so. The zero address stands for a payer
/// who is not known yet.
fn max_gas_amount(
    chain: &Chain,
    state: &StateAt<'_>,
    signed: &SignedTransaction,
) -> Result<u64, StoreError> {
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
    let facts = AccountSnapshot::read(chain, state, payer);
    let balance = facts
        .map_err(|cause| StoreError::Inconsistent(cause.0))?
        .balance;
    let affordable = balance.checked_div(signed.raw.gas_unit_price);
    let least = ledger_vm::intrinsic_gas_units(signed.size_bytes(), &signed.authenticator);
    Ok(affordable.unwrap_or(allowed).max(least).min(allowed))
}

/// One transaction in an array, as if it were committed at the newest version.
fn render(
    chain: &Chain,
    format: Format,
    ledger_info: LedgerInfo,
    simulated: &Simulated,
) -> Result<LedgerResponse, ApiError> {
    let Simulated { executed, tables } = simulated;
    let version = ledger_info.version;
    let answer = match format {
        Format::Json => {
            let view = CommittedJson {
                version,
                timestamp_usecs: ledger_info.timestamp_usecs,
                executed,
                tables,
            };
            LedgerResponse::json(ledger_info, &[TransactionJson::committed(chain, view)])
        }
        // A slice is a vector on the wire; an array would have no length before it.
        Format::Bcs => {
            LedgerResponse::bcs(ledger_info, &from_ref(&OnChainBcs::new(version, executed)))
        }
    };
    Ok(answer?.with_gas_used(executed.info.v0().gas_used))
}
