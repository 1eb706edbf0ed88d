//! Runs one user transaction: prologue, the call, epilogue.
//!
//! Whether a multisig account lets a payload run is asked here again, in the prologue on the block's
//! state: what its owners vote may change between admission and the block.

use super::{
    account_deposit,
    finalize::Output,
    multisig::{self, MultisigCall},
    orderless::NonceSnapshot,
    validate::{ValidationInputs, validate_in_block},
};
use ledger_framework::modules::{
    account,
    coin::CoinStore,
    transaction_fee::{EOUT_OF_GAS, FeeStatement},
};
use ledger_types::{
    AccountAddress, CheckedTransaction, Discard, EntryFunction, ExecutionStatus, RawTransaction,
    SignedTransaction, StateError,
};
use ledger_vm::{
    BlockState, Chain, Context, Environment, GasMeter, GasUsed, Inputs, MiscellaneousStatus,
    VmError, intrinsic,
};
use std::num::NonZeroU64;

/// What became of an ordered transaction.
pub(super) enum Outcome {
    /// It is in the ledger: it succeeded or failed, and paid.
    Executed {
        /// What it did.
        output: Output,
        /// Its execution and io gas, in units: the work it was, without the room it took.
        work_units: u64,
        /// What it paid, which is burnt, in the coin's smallest unit; negative where a refund is made
        /// anew.
        fee: i128,
    },
    /// The prologue refused it.
    Discarded(Discard),
}

/// What a transaction is run for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ExecutionMode {
    /// For the ledger.
    Commit,
    /// To see what it would do. Nobody signed it, so a missing key is no reason to refuse it.
    Simulate,
}

/// Runs `transaction` on `state`, in a block of this height and time.
///
/// # Errors
/// When the state cannot be read.
pub(super) fn execute_user(
    chain: &Chain,
    state: &BlockState<'_>,
    transaction: &CheckedTransaction,
    environment: Environment,
    purpose: ExecutionMode,
) -> Result<Outcome, StateError> {
    // A simulation comes unchecked, and how many accounts it names is how much state is read for it.
    let authenticator = &transaction.transaction().authenticator;
    let bounded = chain
        .parameters()
        .check_transaction_size(transaction.size_bytes())
        .and_then(|()| authenticator.check_form());
    if let Err(discard) = bounded {
        return Ok(Outcome::Discarded(discard));
    }
    let facts = ValidationInputs::read(chain, state, transaction.transaction())?;
    let now_secs = environment.timestamp_secs();
    if let Err(discard) = validate_in_block(chain, &facts, transaction, now_secs, purpose) {
        return Ok(Outcome::Discarded(discard));
    }
    if let Some(call) = MultisigCall::of(transaction.raw())
        && let Err(discard) = multisig::validate(chain, state, environment, call)?
    {
        return Ok(Outcome::Discarded(discard));
    }
    let signatures = authenticator.billed_signatures();
    let intrinsic = intrinsic(transaction.size_bytes(), signatures);
    let meter = GasMeter::new(transaction.raw().max_gas_amount, intrinsic);
    let mut context = Context::new(chain, state, environment, meter.clone());
    let closing = Epilogue {
        raw: transaction.raw(),
        nonce: facts.nonce.as_ref(),
        payer: gas_payer(transaction.transaction(), purpose),
    };
    let account_deposit = match storage_gas_price(chain, transaction.raw()) {
        Some(_) => account_deposit::account_deposit(chain, state, transaction.transaction())?,
        None => None,
    };
    let called = call(
        &mut context,
        transaction,
        facts.nonce.as_ref(),
        account_deposit.is_some(),
    );
    // What the call used, before the epilogue, which is not charged: also a call whose sender cannot
    // pay in the end pays for all of it.
    let used = context.gas_used();
    let (context, status, used, fee) = match called.and_then(|()| closing.close(&mut context, used))
    {
        Ok(fee) => (context, ExecutionStatus::Success, used, fee),
        Err(failure) => {
            // The call leaves no trace but its cost, and takes no room. The account that holds the
            // sequence number stays.
            let RawTransaction {
                gas_unit_price,
                max_gas_amount,
                ..
            } = *transaction.raw();
            let mut used = used.without_storage(gas_unit_price);
            if let Some(room) = account_deposit {
                used = used.with_storage(room, gas_unit_price, max_gas_amount);
            }
            let status = failure.into_status(chain, transaction.raw().entry_function())?;
            let mut context = Context::new(chain, state, environment, meter);
            let fee = match closing.close(&mut context, used) {
                Ok(fee) => fee,
                Err(VmError::State(error)) => return Err(error),
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
    Ok(Outcome::Executed {
        output: Output {
            gas_used: used.total,
            status,
            events,
            writes,
        },
        work_units: used.execution.saturating_add(used.io),
        fee,
    })
}

/// Does what the payload says and charges for what it wrote.
fn call(
    context: &mut Context<'_>,
    transaction: &CheckedTransaction,
    nonce: Option<&NonceSnapshot>,
    makes_account: bool,
) -> Result<(), VmError> {
    let raw = transaction.raw();
    if let Some(nonce) = nonce {
        nonce.charge(context)?;
    }
    match MultisigCall::of(raw) {
        // The multisig account alone acts, whoever signed beside its owner.
        Some(call) => multisig::run(context, call)?,
        None => {
            let call = raw
                .entry_function()
                .ok_or(MiscellaneousStatus::LinkerError)?;
            call_entry_function(context, &signers(transaction.transaction()), call)?;
        }
    }
    if makes_account {
        account_deposit::make(context, raw.sender)?;
    }
    let price = storage_gas_price(context.chain(), raw);
    context.charge_writes(price)
}

/// The gas price at which the transaction pays for room. Where a chain takes transactions for nothing,
/// room is free and nothing is given back: else a slot made for nothing would pay its owner when it goes.
pub(super) fn storage_gas_price(chain: &Chain, raw: &RawTransaction) -> Option<NonZeroU64> {
    NonZeroU64::new(raw.gas_unit_price).filter(|_| chain.parameters().gas_unit_price_min > 0)
}

/// Returns the accounts in whose name a transaction acts: the sender, then the secondary signers. A fee
/// payer is not one of them.
fn signers(transaction: &SignedTransaction) -> Vec<AccountAddress> {
    let secondary = transaction.authenticator.secondary_signer_addresses();
    std::iter::once(transaction.raw.sender)
        .chain(secondary.iter().copied())
        .collect()
}

/// Calls an entry function in the name of `signers`.
pub(super) fn call_entry_function(
    context: &mut Context<'_>,
    signers: &[AccountAddress],
    call: &EntryFunction,
) -> Result<(), VmError> {
    let registry = context.chain().registry();
    let function = registry
        .function(&call.module, &call.function)
        .filter(|function| function.is_entry())
        .filter(|_| registry.has_module(&call.module, context.framework_version()))
        .ok_or(MiscellaneousStatus::LinkerError)?;
    function.call(context, &call.type_args, Inputs::new(signers, &call.args))?;
    Ok(())
}

/// Who pays for a transaction; nobody where a simulation names the zero address, because the payer is
/// not known yet.
fn gas_payer(transaction: &SignedTransaction, purpose: ExecutionMode) -> Option<AccountAddress> {
    let payer = transaction.gas_payer();
    (purpose == ExecutionMode::Commit || payer != AccountAddress::ZERO).then_some(payer)
}

/// The epilogue of a transaction, whether it succeeded or failed.
struct Epilogue<'a> {
    raw: &'a RawTransaction,
    /// What an orderless one must leave behind.
    nonce: Option<&'a NonceSnapshot>,
    /// Who pays, if anybody.
    payer: Option<AccountAddress>,
}

impl Epilogue<'_> {
    /// The payer pays, the sender's sequence number goes up or the nonce is remembered, and a fee
    /// statement closes the events. Gives what leaves the payer, less than nothing where more is given
    /// back than charged. It charges no gas: the intrinsic cost covers it.
    fn close(&self, context: &mut Context<'_>, used: GasUsed) -> Result<i128, VmError> {
        context.stop_metering();
        let fee = match self.payer {
            Some(payer) => settle_fee(context, payer, self.raw.gas_unit_price, used)?,
            None => 0,
        };
        self.protect_from_replay(context)?;
        context.emit(&FeeStatement {
            total_charge_gas_units: used.total,
            execution_gas_units: used.execution,
            io_gas_units: used.io,
            storage_fee_octas: used.storage_fee.fee,
            storage_fee_refund_octas: used.storage_fee.refund,
        })?;
        Ok(fee)
    }

    fn protect_from_replay(&self, context: &mut Context<'_>) -> Result<(), VmError> {
        if let Some(nonce) = self.nonce {
            return nonce.remember(context, self.raw);
        }
        let mut account = account::load(context, self.raw.sender)?;
        // Validation refused numbers from 2^63 on, so this cannot overflow.
        account.sequence_number += 1;
        context.write_resource(self.raw.sender, &[], &account)
    }
}

/// Takes the fee from the payer's coins and puts the refund there.
fn settle_fee(
    context: &mut Context<'_>,
    payer: AccountAddress,
    gas_unit_price: u64,
    used: GasUsed,
) -> Result<i128, VmError> {
    let out_of_gas = |context: &Context<'_>| context.abort("transaction_validation", &EOUT_OF_GAS);
    let charge = i128::from(used.total) * i128::from(gas_unit_price);
    let fee = charge - i128::from(used.storage_fee.refund);
    let coin = std::slice::from_ref(context.native_coin());
    match context.read_resource::<CoinStore>(payer, coin)? {
        Some(mut store) => {
            // The whole charge must be there before anything is given back.
            let rest = i128::from(store.coin.value) - fee;
            let Some(rest) = u64::try_from(rest)
                .ok()
                .filter(|_| i128::from(store.coin.value) >= charge)
            else {
                return out_of_gas(context);
            };
            store.coin.value = rest;
            context.write_resource(payer, coin, &store)?;
        }
        // A chain whose gas may be free has payers without a store.
        None if fee == 0 => {}
        None => return out_of_gas(context),
    }
    Ok(fee)
}
