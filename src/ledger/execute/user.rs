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
    let result = call(chain, &mut context, transaction).and_then(|()| {
        let used = context.meter.used();
        let fee = close(&mut context, transaction, used)?;
        Ok((used, fee))
    });
    let used = context.meter.used();
    let (context, status, used, fee) = match result {
        Ok((used, fee)) => (context, ExecutionStatus::Success, used, fee),
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
            (context, status, used, fee)
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
    let meter = context.meter.clone();
    context.meter = GasMeter::new(u64::MAX, 0);
    let out_of_gas = |context: &Context<'_>| context.abort("transaction_validation", &EOUT_OF_GAS);
    let fee = used.total.checked_mul(raw.gas_unit_price);
    let Some(fee) = fee else {
        return out_of_gas(context);
    };
    let coin = std::slice::from_ref(context.native_coin());
    let Some(mut store) = context.read_resource::<CoinStore>(raw.sender, coin)? else {
        return if fee == 0 {
            finish_epilogue(context, raw.sender, used, meter).map(|()| 0)
        } else {
            out_of_gas(context)
        };
    };
    let Some(rest) = store.coin.value.checked_sub(fee) else {
        return out_of_gas(context);
    };
    store.coin.value = rest;
    context.write_resource(raw.sender, coin, &store)?;
    finish_epilogue(context, raw.sender, used, meter).map(|()| fee)
}

fn finish_epilogue(
    context: &mut Context<'_>,
    sender: AccountAddress,
    used: GasUsed,
    meter: GasMeter,
) -> Result<(), Failure> {
    let mut account = account::load(context, sender)?;
    // Validation refused numbers from 2^63 on, so this cannot overflow.
    account.sequence_number += 1;
    context.write_resource(sender, &[], &account)?;
    context.emit(&FeeStatement {
        total_charge_gas_units: used.total,
        execution_gas_units: used.execution,
        io_gas_units: used.io,
        storage_fee_octas: 0,
        storage_fee_refund_octas: 0,
    })?;
    context.meter = meter;
    Ok(())
}
