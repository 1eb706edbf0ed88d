//! The rules that a transaction must meet before it may cost anything: the same function decides
//! at submission, against the newest committed facts, and in a block's prologue, against its state.

use super::{
    account_deposit::account_deposit_max,
    orderless::NonceSnapshot,
    user::{ExecutionMode, storage_gas_price},
};
use bytes::Bytes;
use ledger_crypto::HashValue;
use ledger_framework::modules::{account::Account, coin::CoinStore};
use ledger_types::{
    AccountAddress, CheckedTransaction, Discard, SignedTransaction, StateError, StateKey,
    StateView, ValidationStatus as Status, transaction::TransactionAuthenticator,
};
use ledger_vm::{Chain, decode_resource, intrinsic_units};
use std::collections::BTreeSet;

/// Sequence numbers from here on are refused (`SEQUENCE_NUMBER_TOO_BIG`).
pub const SEQUENCE_NUMBER_MAX: u64 = 1 << 63;

/// What validation needs to know of an account.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccountSnapshot {
    /// The sequence number of its next transaction.
    pub sequence_number: u64,
    /// Which key may sign for it.
    pub authentication_key: HashValue,
    /// Its balance of the chain's coin, in the smallest unit.
    pub balance: u64,
}

impl AccountSnapshot {
    /// Reads the facts of `address`. An account without an account resource has sequence number 0,
    /// its own address as authentication key, and whatever its coin store holds.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub fn read(
        chain: &Chain,
        view: &dyn StateView,
        address: &AccountAddress,
    ) -> Result<Self, StateError> {
        let registry = chain.registry();
        let native = std::slice::from_ref(registry.native_coin());
        let account = view.get(&registry.resource_key::<Account>(address, &[]))?;
        let coins = view.get(&registry.resource_key::<CoinStore>(address, native))?;
        let (sequence_number, authentication_key) = account_facts(address, account.as_ref())?;
        Ok(Self {
            sequence_number,
            authentication_key,
            balance: balance(coins.as_ref())?,
        })
    }

    /// The facts of `address` after its state at `key` has become `value`: as [`Self::read`] would find them.
    ///
    /// # Errors
    /// When the value is not what is stored there.
    pub fn after_write(
        self,
        chain: &Chain,
        address: &AccountAddress,
        (key, value): (&StateKey, Option<&Bytes>),
    ) -> Result<Self, StateError> {
        let registry = chain.registry();
        let native = std::slice::from_ref(registry.native_coin());
        if registry.is_resource_key::<Account>(key, &[]) {
            let (sequence_number, authentication_key) = account_facts(address, value)?;
            return Ok(Self {
                sequence_number,
                authentication_key,
                ..self
            });
        }
        if registry.is_resource_key::<CoinStore>(key, native) {
            let balance = balance(value)?;
            return Ok(Self { balance, ..self });
        }
        Ok(self)
    }
}

/// The sequence number and authentication key that an account resource tells, or that there is none.
fn account_facts(
    address: &AccountAddress,
    account: Option<&Bytes>,
) -> Result<(u64, HashValue), StateError> {
    let (sequence_number, key) = match account {
        Some(bytes) => {
            let account: Account = decode_resource(bytes)?;
            (account.sequence_number, account.authentication_key)
        }
        None => (0, address.as_bytes().to_vec()),
    };
    // A key of another length matches no signature, as a zeroed one must.
    Ok((
        sequence_number,
        HashValue::new(key.try_into().unwrap_or_default()),
    ))
}

fn balance(coins: Option<&Bytes>) -> Result<u64, StateError> {
    coins.map_or(Ok(0), |bytes| {
        Ok(decode_resource::<CoinStore>(bytes)?.coin.value)
    })
}

/// What validation needs to know of the ledger for one transaction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ValidationInputs {
    /// Of its sender.
    pub sender: AccountSnapshot,
    /// Of each secondary signer, in their order.
    pub secondary_signers: Vec<AccountSnapshot>,
    /// Of the account that pays in the sender's place, where there is one.
    pub fee_payer: Option<AccountSnapshot>,
    /// Of its nonce, where it is orderless.
    pub nonce: Option<NonceSnapshot>,
}

impl ValidationInputs {
    /// Reads what `transaction` needs.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub fn read(
        chain: &Chain,
        view: &dyn StateView,
        transaction: &SignedTransaction,
    ) -> Result<Self, StateError> {
        let authenticator = &transaction.authenticator;
        let read = |address: &AccountAddress| AccountSnapshot::read(chain, view, address);
        let secondary = authenticator.secondary_signer_addresses();
        let fee_payer = authenticator.fee_payer().map(|(address, _)| read(&address));
        Ok(Self {
            sender: read(&transaction.raw.sender)?,
            secondary_signers: secondary.iter().map(read).collect::<Result<_, _>>()?,
            fee_payer: fee_payer.transpose()?,
            nonce: NonceSnapshot::read(chain, view, transaction)?,
        })
    }

    /// Of the account that pays.
    fn gas_payer(&self) -> &AccountSnapshot {
        self.fee_payer.as_ref().unwrap_or(&self.sender)
    }
}

/// Checks a submitted transaction against the newest committed facts. A sequence number above the
/// account's is fine here: the pool parks it.
///
/// `now_secs` is Unix time.
///
/// # Errors
/// The first rule that is broken.
pub fn validate_for_admission(
    chain: &Chain,
    facts: &ValidationInputs,
    transaction: &CheckedTransaction,
    now_secs: u64,
) -> Result<(), Discard> {
    let rules = Rules {
        chain,
        facts,
        transaction,
        now_secs,
        purpose: ExecutionMode::Commit,
    };
    rules.check_before_replay()?;
    match rules.check_replay() {
        Err(discard) if discard.status == Status::SequenceNumberTooNew => {}
        verdict => verdict?,
    }
    rules.check_after_replay()
}

/// Checks a transaction against the state it is about to run on; `now_secs` is block time.
///
/// # Errors
/// The first rule that is broken.
pub(super) fn validate_in_block(
    chain: &Chain,
    facts: &ValidationInputs,
    transaction: &CheckedTransaction,
    now_secs: u64,
    purpose: ExecutionMode,
) -> Result<(), Discard> {
    let rules = Rules {
        chain,
        facts,
        transaction,
        now_secs,
        purpose,
    };
    rules.check_before_replay()?;
    rules.check_replay()?;
    rules.check_after_replay()
}

/// The rules for one transaction, in the order of the reference node
/// (docs/reference/reference-node.md#r16, docs/reference/framework.md#f11). A transaction cannot
/// request higher limits here.
struct Rules<'a> {
    chain: &'a Chain,
    facts: &'a ValidationInputs,
    transaction: &'a CheckedTransaction,
    now_secs: u64,
    purpose: ExecutionMode,
}

impl Rules<'_> {
    fn check_before_replay(&self) -> Result<(), Discard> {
        check_form(self.chain, self.transaction)?;
        if let Some(nonce) = &self.facts.nonce {
            nonce.check_supported()?;
        }
        self.check_signers()?;
        let raw = self.transaction.raw();
        if self.now_secs >= raw.expiration_timestamp_secs {
            return Err(Status::TransactionExpired.into());
        }
        if raw.chain_id != self.chain.id() {
            let (given, here) = (raw.chain_id, self.chain.id());
            let detail = format!("the transaction is for chain {given}, this is chain {here}");
            return Err(Discard::because(Status::BadChainId, detail));
        }
        let key = self.transaction.sender_authentication_key()?;
        self.check_key(&self.facts.sender, key)
    }

    fn check_after_replay(&self) -> Result<(), Discard> {
        self.check_balance()?;
        let authenticator = self.authenticator();
        for (facts, signer) in self
            .facts
            .secondary_signers
            .iter()
            .zip(authenticator.secondary_signers())
        {
            self.check_key(facts, signer.authentication_key()?)?;
        }
        match (&self.facts.fee_payer, authenticator.fee_payer()) {
            (Some(facts), Some((_, signer))) => self.check_key(facts, signer.authentication_key()?),
            _ => Ok(()),
        }
    }

    fn authenticator(&self) -> &TransactionAuthenticator {
        &self.transaction.transaction().authenticator
    }

    /// Nobody signs twice. That everybody who is named signs was seen before any state was read
    /// ([`TransactionAuthenticator::check_form`]).
    fn check_signers(&self) -> Result<(), Discard> {
        let secondary = self.authenticator().secondary_signer_addresses();
        if secondary.is_empty() {
            return Ok(());
        }
        let mut seen = BTreeSet::from([self.transaction.raw().sender]);
        match secondary.iter().find(|signer| !seen.insert(**signer)) {
            Some(twice) => Err(Discard::because(
                Status::SignersContainDuplicates,
                format_args!("{twice} signs more than once"),
            )),
            None => Ok(()),
        }
    }

    /// The key must be the account's; a simulation may come without any.
    fn check_key(&self, account: &AccountSnapshot, key: Option<HashValue>) -> Result<(), Discard> {
        match key {
            None if self.purpose == ExecutionMode::Simulate => Ok(()),
            key if key == Some(account.authentication_key) => Ok(()),
            _ => Err(Status::InvalidAuthKey.into()),
        }
    }

    /// That it did not run before: by its nonce, else by its sequence number.
    fn check_replay(&self) -> Result<(), Discard> {
        match &self.facts.nonce {
            Some(nonce) => nonce.check(self.transaction.raw(), self.now_secs),
            None => self.check_sequence_number(),
        }
    }

    fn check_sequence_number(&self) -> Result<(), Discard> {
        let (given, current) = (
            self.transaction.raw().sequence_number,
            self.facts.sender.sequence_number,
        );
        let detail = || {
            format!("transaction sequence number is {given}, current sequence number is {current}")
        };
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

    /// Who pays must hold the fee of all the gas that the transaction allows itself. A simulation whose
    /// payer is not known yet names the zero address, which holds nothing and pays nothing.
    fn check_balance(&self) -> Result<(), Discard> {
        let fee_payer = self.authenticator().fee_payer();
        if self.purpose == ExecutionMode::Simulate
            && fee_payer.is_some_and(|(payer, _)| payer == AccountAddress::ZERO)
        {
            return Ok(());
        }
        let raw = self.transaction.raw();
        let fee_max = u128::from(raw.gas_unit_price) * u128::from(raw.max_gas_amount);
        let balance = self.facts.gas_payer().balance;
        if u128::from(balance) < fee_max {
            let detail = format!(
                "the account holds {balance}, max_gas_amount x gas_unit_price is {fee_max}"
            );
            return Err(Discard::because(
                Status::InsufficientBalanceForTransactionFee,
                detail,
            ));
        }
        Ok(())
    }
}

fn within(is_within: bool, status: Status, bound: u64) -> Result<(), Discard> {
    if is_within {
        Ok(())
    } else {
        Err(Discard::because(
            status,
            format_args!("the bound is {bound}"),
        ))
    }
}

/// What needs no state: kind, size, gas.
fn check_form(chain: &Chain, transaction: &CheckedTransaction) -> Result<(), Discard> {
    let raw = transaction.raw();
    let parameters = chain.parameters();
    raw.payload.executable()?;
    parameters.check_transaction_size(transaction.size_bytes())?;
    let gas_max = parameters.max_gas_amount;
    within(
        raw.max_gas_amount <= gas_max,
        Status::MaxGasUnitsExceedsMaxGasUnitsBound,
        gas_max,
    )?;
    let authenticator = &transaction.transaction().authenticator;
    let gas_min = intrinsic_units(transaction.size_bytes(), authenticator);
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
    )?;
    let room_fee = account_deposit_max(chain, transaction.transaction());
    let room_units =
        storage_gas_price(chain, raw).map_or(0, |price| room_fee.div_ceil(price.get()));
    let gas_min = gas_min.saturating_add(room_units);
    within(
        raw.max_gas_amount >= gas_min,
        Status::MaxGasUnitsBelowMinTransactionGasUnits,
        gas_min,
    )
}
