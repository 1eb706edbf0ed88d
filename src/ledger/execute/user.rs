//! Runs one user transaction: prologue, the call, epilogue.

use super::{
    AccountFacts, BlockState, Context, Discard, Failure, MiscellaneousStatus,
    block::Output,
    gas::{GasMeter, GasUsed},
    validate::validate_in_block,
};
use crate::{
    AccountAddress, Chain, CheckedTransaction, ExecutionStatus, StateError,
    framework::{
        Inputs,
        modules::{
            account,
            coin::CoinStore,
            transaction_fee::{EOUT_OF_GAS, FeeStatement},
        },
    },
};

/// What became of an ordered transaction.
pub(super) enum Outcome {
    /// It is in the ledger: it succeeded or failed, and paid.
    Kept {
        /// What it did.
        output: Output,
        /// What it paid, which is burnt, in the coin's smallest unit.
        fee: u64,
    },
    /// The prologue refused it.
    Discarded(Discard),
}

/// Runs `transaction` on `state` at block time `now_secs`.
///
/// # Errors
/// When the state cannot be read.
pub(super) fn execute_user(
    chain: &Chain,
    state: &BlockState<'_>,
    transaction: &CheckedTransaction,
    now_secs: u64,
) -> Result<Outcome, StateError> {
    let sender = transaction.raw().sender;
    let facts = AccountFacts::read(chain, state, &sender)?;
    if let Err(discard) = validate_in_block(chain, &facts, transaction, now_secs) {
        return Ok(Outcome::Discarded(discard));
    }
    let meter = GasMeter::new(transaction.raw().max_gas_amount, transaction.size_bytes());
    let mut context = Context::new(chain, state, meter.clone());
    let called = call(chain, &mut context, transaction);
    // What the call used, before the epilogue, which is not charged: also a call whose sender cannot
    // pay in the end pays for all of it.
    let used = context.meter.used();
    let (context, status, fee) = match called.and_then(|()| close(&mut context, transaction, used)) {
        Ok(fee) => (context, ExecutionStatus::Success, fee),
        Err(failure) => {
            // The call leaves no trace but its cost.
            let status = failure.into_status(chain)?;
            let mut context = Context::new(chain, state, meter);
            let fee = match close(&mut context, transaction, used) {
                Ok(fee) => fee,
                Err(Failure::State(error)) => return Err(error),
                Err(failure) => {
                    return Err(StateError(format!(
                        "the epilogue of a failed transaction failed: {failure:?}"
                    )));
                }
            };
            (context, status, fee)
        }
    };
    let (writes, events) = context.finish();
    Ok(Outcome::Kept {
        output: Output {
            gas_used: used.total,
            status,
            events,
            writes,
        },
        fee,
    })
}

/// Calls the entry function and charges for what it wrote.
fn call(chain: &Chain, context: &mut Context<'_>, transaction: &CheckedTransaction) -> Result<(), Failure> {
    let payload = &transaction.raw().payload;
    let call = payload.entry_function().ok_or(MiscellaneousStatus::LinkerError)?;
    let function = chain
        .framework()
        .function(&call.module, &call.function)
        .ok_or(MiscellaneousStatus::LinkerError)?;
    let signers: [AccountAddress; 1] = [transaction.raw().sender];
    function.call(context, &call.type_args, Inputs::new(&signers, &call.args))?;
    context.charge_writes()
}

/// The epilogue: the sender pays, its sequence number goes up, and a fee statement closes the events.
/// Gives the fee. It charges no gas: the intrinsic cost covers it.
fn close(context: &mut Context<'_>, transaction: &CheckedTransaction, used: GasUsed) -> Result<u64, Failure> {
    let raw = transaction.raw();
    context.meter = GasMeter::unlimited();
    let out_of_gas = |context: &Context<'_>| context.abort("transaction_validation", &EOUT_OF_GAS);
    let Some(fee) = used.total.checked_mul(raw.gas_unit_price) else {
        return out_of_gas(context);
    };
    let coin = std::slice::from_ref(context.native_coin());
    match context.read_resource::<CoinStore>(raw.sender, coin)? {
        Some(mut store) => {
            let Some(rest) = store.coin.value.checked_sub(fee) else {
                return out_of_gas(context);
            };
            store.coin.value = rest;
            context.write_resource(raw.sender, coin, &store)?;
        }
        // A chain whose gas may be free has senders without a store.
        None if fee == 0 => {}
        None => return out_of_gas(context),
    }
    let mut account = account::load(context, raw.sender)?;
    // Validation refused numbers from 2^63 on, so this cannot overflow.
    account.sequence_number += 1;
    context.write_resource(raw.sender, &[], &account)?;
    context.emit(&FeeStatement {
        total_charge_gas_units: used.total,
        execution_gas_units: used.execution,
        io_gas_units: used.io,
        storage_fee_octas: 0,
        storage_fee_refund_octas: 0,
    })?;
    Ok(fee)
}
