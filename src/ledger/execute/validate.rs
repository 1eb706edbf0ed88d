//! The rules that a transaction must meet before it may cost anything: the same function decides
//! at submission, against the newest committed facts, and in a block's prologue, against its state.

use super::{
    Discard, ValidationStatus as Status, change_set::decode_resource, gas::intrinsic_units, user::Purpose,
};
use crate::{
    AccountAddress, Chain, CheckedTransaction, HashValue, StateError, StateView,
    framework::modules::{account::Account, coin::CoinStore},
};

/// Sequence numbers from here on are refused (`SEQUENCE_NUMBER_TOO_BIG`).
pub const SEQUENCE_NUMBER_MAX: u64 = 1 << 63;

/// What validation needs to know of an account.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccountFacts {
    /// The sequence number of its next transaction.
    pub sequence_number: u64,
    /// Which key may sign for it.
    pub authentication_key: HashValue,
    /// Its balance of the chain's coin, in the smallest unit.
    pub balance: u64,
}

impl AccountFacts {
    /// Reads the facts of `address`. An account without an account resource has sequence number 0,
    /// its own address as authentication key, and whatever its coin store holds.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub fn read(chain: &Chain, view: &dyn StateView, address: &AccountAddress) -> Result<Self, StateError> {
        let framework = chain.framework();
        let account = view.get(&framework.resource_key::<Account>(address, &[]))?;
        let (sequence_number, key) = match account {
            Some(bytes) => {
                let account: Account = decode_resource(&bytes)?;
                (account.sequence_number, account.authentication_key)
            }
            None => (0, address.as_bytes().to_vec()),
        };
        // A key of another length matches no signature, as a zeroed one must.
        let authentication_key = HashValue::new(key.try_into().unwrap_or_default());
        let native = std::slice::from_ref(framework.native_coin());
        let balance = match view.get(&framework.resource_key::<CoinStore>(address, native))? {
            Some(bytes) => decode_resource::<CoinStore>(&bytes)?.coin.value,
            None => 0,
        };
        Ok(Self {
            sequence_number,
            authentication_key,
            balance,
        })
    }
}

/// Checks a submitted transaction against the newest committed facts of its sender. A sequence
/// number above the account's is fine here: the pool parks it.
///
/// `now_secs` is Unix time.
///
/// # Errors
/// The first rule that is broken.
pub fn validate_for_admission(
    chain: &Chain,
    sender: &AccountFacts,
    transaction: &CheckedTransaction,
    now_secs: u64,
) -> Result<(), Discard> {
    match validate_in_block(chain, sender, transaction, now_secs, Purpose::Commit) {
        Err(discard) if discard.status == Status::SequenceNumberTooNew => check_balance(sender, transaction),
        verdict => verdict,
    }
}

/// Checks a transaction against the state it is about to run on; `now_secs` is block time. The order
/// of the checks is the reference's (rest-behaviour section 2.2, framework-notes section 6).
///
/// # Errors
/// The first rule that is broken.
pub(super) fn validate_in_block(
    chain: &Chain,
    sender: &AccountFacts,
    transaction: &CheckedTransaction,
    now_secs: u64,
    purpose: Purpose,
) -> Result<(), Discard> {
    check_form(chain, transaction)?;
    let raw = transaction.raw();
    if now_secs >= raw.expiration_timestamp_secs {
        return Err(Status::TransactionExpired.into());
    }
    if raw.chain_id != chain.id() {
        let detail = format!(
            "the transaction is for chain {}, this is chain {}",
            raw.chain_id,
            chain.id()
        );
        return Err(Discard::because(Status::BadChainId, detail));
    }
    check_key(sender, transaction, purpose)?;
    check_sequence_number(sender, raw.sequence_number)?;
    check_balance(sender, transaction)
}

/// The key must be the account's; a simulation may come without any.
fn check_key(
    sender: &AccountFacts,
    transaction: &CheckedTransaction,
    purpose: Purpose,
) -> Result<(), Discard> {
    let authenticator = &transaction.transaction().authenticator;
    if purpose == Purpose::Simulate && authenticator.is_absent() {
        return Ok(());
    }
    if authenticator.sender_authentication_key()? != sender.authentication_key {
        return Err(Status::InvalidAuthKey.into());
    }
    Ok(())
}

/// Refuses what is too large, which is worth doing before its signature is checked: that costs time
/// in proportion to the size.
///
/// # Errors
/// `EXCEEDED_MAX_TRANSACTION_SIZE`.
pub(crate) fn validate_size(chain: &Chain, size_bytes: usize) -> Result<(), Discard> {
    let size_max = chain.parameters().transaction_bytes_max;
    within(
        size_bytes as u64 <= size_max,
        Status::ExceededMaxTransactionSize,
        size_max,
    )
}

fn within(is_within: bool, status: Status, bound: u64) -> Result<(), Discard> {
    if is_within {
        Ok(())
    } else {
        Err(Discard::because(status, format_args!("the bound is {bound}")))
    }
}

/// What needs no state: kind, size, gas.
fn check_form(chain: &Chain, transaction: &CheckedTransaction) -> Result<(), Discard> {
    let raw = transaction.raw();
    let parameters = chain.parameters();
    raw.payload.executable()?;
    validate_size(chain, transaction.size_bytes())?;
    let gas_max = parameters.max_gas_amount;
    within(
        raw.max_gas_amount <= gas_max,
        Status::MaxGasUnitsExceedsMaxGasUnitsBound,
        gas_max,
    )?;
    let gas_min = intrinsic_units(transaction.size_bytes());
    within(
        raw.max_gas_amount >= gas_min,
        Status::MaxGasUnitsBelowMinTransactionGasUnits,
        gas_min,
    )?;
    let price_min = parameters.gas_unit_price_min;
    within(
        raw.gas_unit_price >= price_min,
        Status::GasUnitPriceBelowMinBound,
        price_min,
    )?;
    let price_max = parameters.gas_unit_price_max;
    within(
        raw.gas_unit_price <= price_max,
        Status::GasUnitPriceAboveMaxBound,
        price_max,
    )
}

fn check_sequence_number(sender: &AccountFacts, given: u64) -> Result<(), Discard> {
    let current = sender.sequence_number;
    let detail = || format!("transaction sequence number is {given}, current sequence number is {current}");
    if given >= SEQUENCE_NUMBER_MAX {
        Err(Status::SequenceNumberTooBig.into())
    } else if given < current {
        Err(Discard::because(Status::SequenceNumberTooOld, detail()))
    } else if given > current {
        Err(Discard::because(Status::SequenceNumberTooNew, detail()))
    } else {
        Ok(())
    }
}

/// The sender must hold the fee of all the gas that the transaction allows itself.
fn check_balance(sender: &AccountFacts, transaction: &CheckedTransaction) -> Result<(), Discard> {
    let raw = transaction.raw();
    let fee_max = u128::from(raw.gas_unit_price) * u128::from(raw.max_gas_amount);
    if u128::from(sender.balance) < fee_max {
        let detail = format!(
            "the account holds {}, max_gas_amount x gas_unit_price is {fee_max}",
            sender.balance
        );
        return Err(Discard::because(
            Status::InsufficientBalanceForTransactionFee,
            detail,
        ));
    }
    Ok(())
}
