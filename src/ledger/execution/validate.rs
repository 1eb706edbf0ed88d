//! Validation rules of a transaction. A transaction that breaks one pays nothing.
//!
//! The same rules apply at submission, against the newest committed state, and in the prologue of a
//! block, against the state of the block. They are checked in the order of the reference node
//! (docs/reference/reference-node.md#r16, docs/reference/framework.md#f11), except that it rejects
//! a used sequence number earlier (docs/internals/execution.md#validation):
//!
//! 1. The kind of the payload, the size, the gas amount, the gas unit price, and the deposit of a
//!    new account.
//! 2. Support for orderless transactions, duplicate signers, expiration, chain id, and the
//!    authentication key of the sender.
//! 3. Replay protection: the nonce, or else the sequence number.
//! 4. The balance of the gas payer, and the authentication keys of the secondary signers and of the
//!    fee payer.

use super::{
    account_deposit::{account_deposit_max, storage_gas_price},
    account_snapshot::AccountSnapshot,
    orderless::NonceSnapshot,
};
use ledger_crypto::HashValue;
use ledger_types::{
    AccountAddress, CheckedTransaction, Discard, RawTransaction, SignedTransaction, StateError,
    StateView, ValidationStatus as Status, transaction::TransactionAuthenticator,
};
use ledger_vm::{BlockState, Chain, intrinsic_gas_units};
use std::collections::BTreeSet;

/// Lowest sequence number that is rejected with `SEQUENCE_NUMBER_TOO_BIG`.
pub const SEQUENCE_NUMBER_MAX: u64 = 1 << 63;

/// Purpose of an execution.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ExecutionMode {
    /// The result is committed to the ledger.
    Commit,
    /// The result is only reported. The transaction has no signatures, so a missing key is no
    /// error.
    Simulate,
}

/// The state that validation of one transaction depends on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ValidationInputs {
    /// Snapshot of the sender.
    pub sender: AccountSnapshot,
    /// Snapshots of the secondary signers, in their order.
    pub secondary_signers: Vec<AccountSnapshot>,
    /// Snapshot of the fee payer, if the transaction has one.
    pub fee_payer: Option<AccountSnapshot>,
    /// Nonce state, if the transaction is orderless.
    pub nonce: Option<NonceSnapshot>,
}

impl ValidationInputs {
    /// Reads the inputs for the validation of `transaction`.
    ///
    /// # Errors
    ///
    /// Returns [`StateError`] if the state cannot be read.
    pub fn read(
        chain: &Chain,
        view: &dyn StateView,
        transaction: &SignedTransaction,
    ) -> Result<Self, StateError> {
        let read = |address: &AccountAddress| AccountSnapshot::read(chain, view, address);
        Self::read_accounts(chain, view, transaction, read)
    }

    /// Reads the inputs like [`Self::read`], with the store addresses that `state` knows.
    pub(super) fn read_in_block(
        chain: &Chain,
        state: &BlockState<'_>,
        transaction: &SignedTransaction,
    ) -> Result<Self, StateError> {
        let read = |address: &AccountAddress| AccountSnapshot::read_in_block(chain, state, address);
        Self::read_accounts(chain, state, transaction, read)
    }

    fn read_accounts(
        chain: &Chain,
        view: &dyn StateView,
        transaction: &SignedTransaction,
        read: impl Fn(&AccountAddress) -> Result<AccountSnapshot, StateError>,
    ) -> Result<Self, StateError> {
        let authenticator = &transaction.authenticator;
        let secondary = authenticator.secondary_signer_addresses();
        let fee_payer = authenticator.fee_payer().map(|(address, _)| read(&address));
        Ok(Self {
            sender: read(&transaction.raw.sender)?,
            secondary_signers: secondary.iter().map(&read).collect::<Result<_, _>>()?,
            fee_payer: fee_payer.transpose()?,
            nonce: NonceSnapshot::read(chain, view, transaction)?,
        })
    }

    /// Returns the snapshot of the account that pays the fee.
    pub(super) fn gas_payer(&self) -> &AccountSnapshot {
        self.fee_payer.as_ref().unwrap_or(&self.sender)
    }
}

/// Checks a submitted transaction against the newest committed state.
///
/// A sequence number above that of the account is accepted, because the mempool parks the
/// transaction. `now_secs` is the Unix time in seconds.
///
/// # Errors
///
/// Returns the [`Discard`] of the first broken rule.
pub fn validate_for_admission(
    chain: &Chain,
    inputs: &ValidationInputs,
    transaction: &CheckedTransaction,
    now_secs: u64,
) -> Result<(), Discard> {
    let rules = Rules {
        chain,
        inputs,
        transaction,
        now_secs,
        mode: ExecutionMode::Commit,
    };
    RULES.iter().try_for_each(|rule| match rule(&rules) {
        Err(discard) if discard.status == Status::SequenceNumberTooNew => Ok(()),
        result => result,
    })
}

/// Checks a transaction against the state that it is about to run on.
///
/// `now_secs` is the block time in seconds since the Unix epoch.
///
/// # Errors
///
/// Returns the [`Discard`] of the first broken rule, including a sequence number that is too new.
pub(super) fn validate_in_block(
    chain: &Chain,
    inputs: &ValidationInputs,
    transaction: &CheckedTransaction,
    now_secs: u64,
    mode: ExecutionMode,
) -> Result<(), Discard> {
    let rules = Rules {
        chain,
        inputs,
        transaction,
        now_secs,
        mode,
    };
    RULES.iter().try_for_each(|rule| rule(&rules))
}

/// Returns the discards of all rules that a transaction breaks in a block at `now_secs`, in the
/// order of the rules.
pub(super) fn broken_rules(
    chain: &Chain,
    inputs: &ValidationInputs,
    transaction: &CheckedTransaction,
    now_secs: u64,
) -> Vec<Discard> {
    let rules = Rules {
        chain,
        inputs,
        transaction,
        now_secs,
        mode: ExecutionMode::Commit,
    };
    let broken = RULES.iter().filter_map(|rule| rule(&rules).err());
    broken.collect()
}

/// A validation rule, which returns the discard of a transaction that breaks it.
type Rule = fn(&Rules<'_>) -> Result<(), Discard>;

/// All rules except that of multisig payloads, in their order.
const RULES: [Rule; 10] = [
    |rules| check_form(rules.chain, rules.transaction),
    |rules| rules.check_nonces_supported(),
    |rules| rules.check_signers(),
    |rules| rules.check_expiration(),
    |rules| rules.check_chain_id(),
    |rules| rules.check_sender_key(),
    |rules| rules.check_nonce_expiration(),
    |rules| rules.check_replay(),
    |rules| rules.check_balance(),
    |rules| rules.check_other_keys(),
];

/// The validation rules, applied to one transaction.
///
/// Unlike on the reference node, a transaction cannot request higher limits.
struct Rules<'a> {
    chain: &'a Chain,
    inputs: &'a ValidationInputs,
    transaction: &'a CheckedTransaction,
    now_secs: u64,
    mode: ExecutionMode,
}

impl Rules<'_> {
    /// Checks that the chain supports the nonce of an orderless transaction.
    fn check_nonces_supported(&self) -> Result<(), Discard> {
        let nonce = self.inputs.nonce.as_ref();
        nonce.map_or(Ok(()), NonceSnapshot::check_supported)
    }

    /// Checks that the transaction has not expired.
    fn check_expiration(&self) -> Result<(), Discard> {
        if self.now_secs >= self.transaction.raw().expiration_timestamp_secs {
            return Err(Status::TransactionExpired.into());
        }
        Ok(())
    }

    /// Checks that the transaction is for this chain.
    fn check_chain_id(&self) -> Result<(), Discard> {
        let (given, chain_id) = (self.transaction.raw().chain_id, self.chain.id());
        if given == chain_id {
            return Ok(());
        }
        let detail = format!("the transaction is for chain {given}, this is chain {chain_id}");
        Err(Discard::with_detail(Status::BadChainId, detail))
    }

    /// Checks the key of the sender.
    fn check_sender_key(&self) -> Result<(), Discard> {
        let key = self.transaction.sender_authentication_key()?;
        self.check_key(&self.inputs.sender, key)
    }

    /// Checks the keys of the secondary signers and of the fee payer.
    fn check_other_keys(&self) -> Result<(), Discard> {
        let authenticator = self.authenticator();
        for (account, signer) in self
            .inputs
            .secondary_signers
            .iter()
            .zip(authenticator.secondary_signers())
        {
            self.check_key(account, signer.authentication_key()?)?;
        }
        match (&self.inputs.fee_payer, authenticator.fee_payer()) {
            (Some(account), Some((_, signer))) => {
                self.check_key(account, signer.authentication_key()?)
            }
            _ => Ok(()),
        }
    }

    fn authenticator(&self) -> &TransactionAuthenticator {
        &self.transaction.transaction().authenticator
    }

    /// Checks that no account signs twice.
    ///
    /// [`TransactionAuthenticator::check_form`] has already checked that each named account signs,
    /// before any read of the state.
    fn check_signers(&self) -> Result<(), Discard> {
        let secondary = self.authenticator().secondary_signer_addresses();
        if secondary.is_empty() {
            return Ok(());
        }
        let mut seen = BTreeSet::from([self.transaction.raw().sender]);
        match secondary.iter().find(|signer| !seen.insert(**signer)) {
            Some(duplicate) => Err(Discard::with_detail(
                Status::SignersContainDuplicates,
                format_args!("{duplicate} signs more than once"),
            )),
            None => Ok(()),
        }
    }

    /// Checks that `key` is the authentication key of `account`. A simulation may omit the key.
    fn check_key(&self, account: &AccountSnapshot, key: Option<HashValue>) -> Result<(), Discard> {
        match key {
            None if self.mode == ExecutionMode::Simulate => Ok(()),
            key if key == Some(account.authentication_key) => Ok(()),
            _ => Err(Status::InvalidAuthKey.into()),
        }
    }

    /// Checks that an orderless transaction does not expire too far ahead.
    fn check_nonce_expiration(&self) -> Result<(), Discard> {
        match &self.inputs.nonce {
            Some(nonce) => nonce.check_expiration(self.transaction.raw(), self.now_secs),
            None => Ok(()),
        }
    }

    /// Checks that the transaction has not run before, by its nonce or else by its sequence number.
    fn check_replay(&self) -> Result<(), Discard> {
        match &self.inputs.nonce {
            Some(nonce) => nonce.check(self.transaction.raw(), self.now_secs),
            None => self.check_sequence_number(),
        }
    }

    /// Checks that the sequence number is the next one of the sender.
    ///
    /// # Errors
    ///
    /// * `SEQUENCE_NUMBER_TOO_BIG` from [`SEQUENCE_NUMBER_MAX`].
    /// * `SEQUENCE_NUMBER_TOO_OLD` below the sequence number of the account.
    /// * `SEQUENCE_NUMBER_TOO_NEW` above the sequence number of the account.
    fn check_sequence_number(&self) -> Result<(), Discard> {
        let (given, current) = (
            self.transaction.raw().sequence_number,
            self.inputs.sender.sequence_number,
        );
        let detail = || {
            format!("transaction sequence number is {given}, current sequence number is {current}")
        };
        if given >= SEQUENCE_NUMBER_MAX {
            Err(Status::SequenceNumberTooBig.into())
        } else if given < current {
            Err(Discard::with_detail(Status::SequenceNumberTooOld, detail()))
        } else if given > current {
            Err(Discard::with_detail(Status::SequenceNumberTooNew, detail()))
        } else {
            Ok(())
        }
    }

    /// Checks that the balance of the gas payer covers `max_gas_amount` at the price of the
    /// transaction.
    ///
    /// A simulation with an unknown payer names the zero address, which has no balance and pays
    /// nothing.
    fn check_balance(&self) -> Result<(), Discard> {
        let fee_payer = self.authenticator().fee_payer();
        if self.mode == ExecutionMode::Simulate
            && fee_payer.is_some_and(|(payer, _)| payer == AccountAddress::ZERO)
        {
            return Ok(());
        }
        let fee_max = fee_max(self.transaction.raw());
        let balance = self.inputs.gas_payer().balance;
        if u128::from(balance) < fee_max {
            let detail = format!(
                "the account holds {balance}, max_gas_amount x gas_unit_price is {fee_max}"
            );
            return Err(Discard::with_detail(
                Status::InsufficientBalanceForTransactionFee,
                detail,
            ));
        }
        Ok(())
    }
}

/// Returns the maximum fee of a transaction, which its payer must hold, in the coin's smallest
/// unit.
pub(super) fn fee_max(raw: &RawTransaction) -> u128 {
    u128::from(raw.gas_unit_price) * u128::from(raw.max_gas_amount)
}

/// Checks a limit, and names `bound` in the detail of the rejection.
fn check_limit(is_within: bool, status: Status, bound: u64) -> Result<(), Discard> {
    if is_within {
        Ok(())
    } else {
        Err(Discard::with_detail(
            status,
            format_args!("the bound is {bound}"),
        ))
    }
}

/// Checks the rules that need no state: the kind of the payload, the size, and the gas.
fn check_form(chain: &Chain, transaction: &CheckedTransaction) -> Result<(), Discard> {
    let raw = transaction.raw();
    let parameters = chain.parameters();
    raw.payload.executable()?;
    parameters.check_transaction_size(transaction.size_bytes())?;
    let gas_max = parameters.max_gas_amount;
    check_limit(
        raw.max_gas_amount <= gas_max,
        Status::MaxGasUnitsExceedsMaxGasUnitsBound,
        gas_max,
    )?;
    let authenticator = &transaction.transaction().authenticator;
    let gas_min = intrinsic_gas_units(transaction.size_bytes(), authenticator);
    let check_gas_min = |gas_min| {
        check_limit(
            raw.max_gas_amount >= gas_min,
            Status::MaxGasUnitsBelowMinTransactionGasUnits,
            gas_min,
        )
    };
    check_gas_min(gas_min)?;
    let price_min = parameters.gas_unit_price_min;
    check_limit(
        raw.gas_unit_price >= price_min,
        Status::GasUnitPriceBelowMinBound,
        price_min,
    )?;
    let price_max = parameters.gas_unit_price_max;
    check_limit(
        raw.gas_unit_price <= price_max,
        Status::GasUnitPriceAboveMaxBound,
        price_max,
    )?;
    let deposit_units = account_deposit_units_max(chain, transaction.transaction());
    check_gas_min(gas_min.saturating_add(deposit_units))
}

/// Returns the least `max_gas_amount` that validation accepts: the intrinsic gas of `transaction`
/// and the deposit of the account resource that it may create, in gas units.
pub fn max_gas_amount_min(chain: &Chain, transaction: &SignedTransaction) -> u64 {
    intrinsic_gas_units(transaction.size_bytes(), &transaction.authenticator)
        .saturating_add(account_deposit_units_max(chain, transaction))
}

/// Returns the deposit of the account resource that `transaction` may create, in gas units.
fn account_deposit_units_max(chain: &Chain, transaction: &SignedTransaction) -> u64 {
    let deposit = account_deposit_max(chain, transaction);
    storage_gas_price(chain, &transaction.raw).map_or(0, |price| deposit.div_ceil(price.get()))
}
