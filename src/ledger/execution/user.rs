//! Execution of one user transaction: prologue, call, epilogue.
//!
//! The prologue checks a multisig payload again on the state of the block, because the votes of the
//! owners may change between admission and the block.

use super::{
    account_deposit::{self, storage_gas_price},
    entry_function::call_entry_function,
    finalize::Output,
    multisig::{self, MultisigCall},
    orderless::NonceSnapshot,
    validate::{ExecutionMode, ValidationInputs, validate_in_block},
};
use ledger_framework::modules::{
    account, fungible_asset, primary_fungible_store,
    transaction_fee::{EOUT_OF_GAS, FeeStatement},
};
use ledger_types::{
    AccountAddress, CheckedTransaction, Discard, ExecutionStatus, RawTransaction,
    SignedTransaction, StateError,
};
use ledger_vm::{
    BlockState, Chain, Context, Environment, GasMeter, GasUsed, Interrupt, MiscellaneousStatus,
    VmError, intrinsic_internal_gas,
};

/// Result of an ordered transaction.
pub(super) enum Outcome {
    /// The transaction succeeded or failed, paid its fee, and is part of the ledger.
    Executed {
        /// Effects of the transaction.
        output: Output,
        /// Execution and IO gas, in gas units, without storage. It counts toward the gas limit of
        /// the block.
        work_units: u64,
        /// Fee minus storage refund, in the coin's smallest unit. The epilogue of the block burns
        /// it. Negative if the refund exceeds the charge.
        fee: i128,
    },
    /// The prologue rejected the transaction.
    Discarded(Discard),
}

/// Executes `transaction` on `state` in the block that `environment` describes. `interrupt` ends
/// the call of a simulation early; a block has none, so that its result depends on nothing else.
///
/// # Errors
///
/// Returns [`StateError`] if the state cannot be read, or if the epilogue of a failed transaction
/// fails.
pub(super) fn execute_user(
    chain: &Chain,
    state: &BlockState<'_>,
    transaction: &CheckedTransaction,
    environment: Environment,
    mode: ExecutionMode,
    interrupt: Option<Interrupt>,
) -> Result<Outcome, StateError> {
    // A simulated transaction arrives unchecked, and each account that it names costs reads of the
    // state.
    let authenticator = &transaction.transaction().authenticator;
    let bounded = chain
        .parameters()
        .check_transaction_size(transaction.size_bytes())
        .and_then(|()| authenticator.check_form());
    if let Err(discard) = bounded {
        return Ok(Outcome::Discarded(discard));
    }
    let inputs = ValidationInputs::read_in_block(chain, state, transaction.transaction())?;
    let now_secs = environment.timestamp_secs();
    if let Err(discard) = validate_in_block(chain, &inputs, transaction, now_secs, mode) {
        return Ok(Outcome::Discarded(discard));
    }
    if let Some(call) = MultisigCall::of(transaction.raw())
        && let Err(discard) = multisig::validate(chain, state, environment, call)?
    {
        return Ok(Outcome::Discarded(discard));
    }
    let signatures = authenticator.billed_signatures();
    let intrinsic = intrinsic_internal_gas(transaction.size_bytes(), signatures);
    let meter = GasMeter::new(transaction.raw().max_gas_amount, intrinsic);
    let interruptible = meter.clone().with_interrupt(interrupt);
    let mut context = Context::new(chain, state, environment, interruptible);
    let epilogue = Epilogue {
        raw: transaction.raw(),
        nonce: inputs.nonce.as_ref(),
        payer: gas_payer(transaction.transaction(), mode),
    };
    let account_deposit = match storage_gas_price(chain, transaction.raw()) {
        Some(_) => account_deposit::account_deposit(chain, state, transaction.transaction())?,
        None => None,
    };
    let call_result = call(
        &mut context,
        transaction,
        inputs.nonce.as_ref(),
        account_deposit.is_some(),
    );
    // Read before the epilogue, which is free of charge. A call whose payer cannot pay in the end
    // is still charged in full.
    let used = context.gas_used();
    let finished = call_result.and_then(|()| epilogue.finish(&mut context, used));
    let (context, status, used, fee) = match finished {
        Ok(fee) => (context, ExecutionStatus::Success, used, fee),
        Err(failure) => {
            // A failed call leaves no changes and pays no deposit for them. The account that holds
            // the sequence number remains, and its deposit is charged.
            let RawTransaction {
                gas_unit_price,
                max_gas_amount,
                ..
            } = *transaction.raw();
            let mut used = used.without_storage(gas_unit_price);
            if let Some(deposit) = account_deposit {
                used = used.with_storage(deposit, gas_unit_price, max_gas_amount);
            }
            let status = failure.into_status(chain, transaction.raw().entry_function())?;
            let mut context = Context::new(chain, state, environment, meter);
            let fee = match epilogue.finish(&mut context, used) {
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

/// Executes the payload and charges for its writes.
///
/// # Errors
///
/// * [`VmError::OutOfGas`] if the gas is used up.
/// * [`VmError::Miscellaneous`] if the payload does not fit a function, or if a limit of the
///   transaction is exceeded.
/// * [`VmError::State`] if the state cannot be read.
/// * Any other variant if the called function fails.
fn call(
    context: &mut Context<'_>,
    transaction: &CheckedTransaction,
    nonce: Option<&NonceSnapshot>,
    creates_account: bool,
) -> Result<(), VmError> {
    let raw = transaction.raw();
    if let Some(nonce) = nonce {
        nonce.charge(context)?;
    }
    if creates_account {
        account_deposit::create_account(context, raw.sender)?;
    }
    match MultisigCall::of(raw) {
        // Only the multisig account acts, even if other accounts signed beside its owner.
        Some(call) => multisig::execute_multisig(context, call)?,
        None => {
            let call = raw
                .entry_function()
                .ok_or(MiscellaneousStatus::LinkerError)?;
            call_entry_function(context, &signers(transaction.transaction()), call)?;
        }
    }
    let price = storage_gas_price(context.chain(), raw);
    context.charge_writes(price)
}

/// Returns the accounts that a transaction acts for: the sender, then the secondary signers. The
/// fee payer is not one of them.
fn signers(transaction: &SignedTransaction) -> Vec<AccountAddress> {
    let secondary = transaction.authenticator.secondary_signer_addresses();
    std::iter::once(transaction.raw.sender)
        .chain(secondary.iter().copied())
        .collect()
}

/// Returns the account that pays for a transaction.
///
/// Returns `None` for a simulation with the zero address as fee payer, which means an unknown
/// payer.
fn gas_payer(transaction: &SignedTransaction, mode: ExecutionMode) -> Option<AccountAddress> {
    let payer = transaction.gas_payer();
    (mode == ExecutionMode::Commit || payer != AccountAddress::ZERO).then_some(payer)
}

/// Epilogue of a transaction, successful or failed.
struct Epilogue<'a> {
    raw: &'a RawTransaction,
    /// Nonce state of an orderless transaction.
    nonce: Option<&'a NonceSnapshot>,
    /// Account that pays the fee, or `None` in a simulation without a known payer.
    payer: Option<AccountAddress>,
}

impl Epilogue<'_> {
    /// Settles the fee, protects the transaction from replay, and emits the fee statement as its
    /// last event.
    ///
    /// Returns the fee minus the storage refund, in the coin's smallest unit; it is negative if the
    /// refund exceeds the charge. The epilogue consumes no gas, because the intrinsic cost covers
    /// it.
    ///
    /// # Errors
    ///
    /// * [`VmError::Abort`] with [`EOUT_OF_GAS`] if the coins of the payer do not cover the charge.
    /// * [`VmError::State`] if the state cannot be read.
    fn finish(&self, context: &mut Context<'_>, used: GasUsed) -> Result<i128, VmError> {
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
            storage_fee_octas: used.storage_deposits.paid,
            storage_fee_refund_octas: used.storage_deposits.refund,
        })?;
        Ok(fee)
    }

    /// Increments the sequence number of the sender, or stores the nonce of an orderless
    /// transaction.
    fn protect_from_replay(&self, context: &mut Context<'_>) -> Result<(), VmError> {
        if let Some(nonce) = self.nonce {
            return nonce.remember(context, self.raw);
        }
        let mut account = account::load(context, self.raw.sender)?;
        // Cannot overflow, because validation rejects sequence numbers from 2^63.
        account.sequence_number += 1;
        context.write_resource(self.raw.sender, &[], &account)
    }
}

/// Withdraws the charge from the coins of the payer and deposits the storage refund.
///
/// Returns the difference, in the coin's smallest unit.
///
/// # Errors
///
/// Returns [`VmError::Abort`] with [`EOUT_OF_GAS`] if the coins do not cover the charge, and
/// [`VmError::State`] if the state cannot be read.
fn settle_fee(
    context: &mut Context<'_>,
    payer: AccountAddress,
    gas_unit_price: u64,
    used: GasUsed,
) -> Result<i128, VmError> {
    let out_of_gas = |context: &Context<'_>| context.abort("transaction_validation", &EOUT_OF_GAS);
    let charge = i128::from(used.total) * i128::from(gas_unit_price);
    let fee = charge - i128::from(used.storage_deposits.refund);
    let store_address =
        primary_fungible_store::store_address(context, payer, AccountAddress::NATIVE_ASSET)?;
    match fungible_asset::find_store(context, store_address)? {
        Some(mut store) => {
            // The coins must cover the whole charge without the refund.
            let new_balance = i128::from(store.balance) - fee;
            let Some(new_balance) = u64::try_from(new_balance)
                .ok()
                .filter(|_| i128::from(store.balance) >= charge)
            else {
                return out_of_gas(context);
            };
            store.balance = new_balance;
            fungible_asset::write_store(context, store_address, &store)?;
        }
        // On a chain with a minimum gas price of zero, a payer may have no store.
        None if fee == 0 => {}
        None => return out_of_gas(context),
    }
    Ok(fee)
}
