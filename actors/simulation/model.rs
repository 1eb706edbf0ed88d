//! Model of the ledger, independent of the code that it is compared with.
//!
//! The model holds accounts with balance, sequence number and nonces, the visible blocks, and the
//! responses that clients have received. Times are steps of the scheduler unless a name has a unit.

use super::{
    fixture::{Call, Draft, FUNDED_WALLETS, Fixture, ReplayProtection, WALLETS, store_of},
    oracle::RequestStart,
};
use ledger_crypto::HashValue;
use ledger_execution::genesis::DEVELOPMENT_BALANCE;
use ledger_types::{
    BlockHeader, CheckedTransaction, ContractEvent, DiscardedTransaction, EventKey, ExecutedBlock,
    ExecutedTransaction, ExecutionStatus, LedgerInfo, Transaction,
};
use std::{collections::BTreeMap, sync::Arc};

/// Account of a wallet in the model.
#[derive(Clone, Debug, Default)]
pub(super) struct Account {
    pub(super) balance: u64,
    pub(super) sequence_number: u64,
    /// Expiration of each used nonce, in Unix seconds.
    nonces: BTreeMap<u64, u64>,
}

/// A visible block.
pub(super) struct Block {
    pub(super) header: BlockHeader,
    pub(super) first_version: u64,
    pub(super) transactions: Vec<ExecutedTransaction>,
    pub(super) discarded: Vec<DiscardedTransaction>,
}

impl From<&ExecutedBlock> for Block {
    fn from(block: &ExecutedBlock) -> Self {
        Self {
            header: block.header.clone(),
            first_version: block.first_version,
            transactions: block.transactions.clone(),
            discarded: block.discarded.clone(),
        }
    }
}

/// Facts about one version.
#[derive(Clone, Debug)]
pub(super) struct Version {
    pub(super) hash: HashValue,
    pub(super) height: u64,
    /// Index of the wallet that sent the transaction.
    pub(super) sender: Option<usize>,
    /// Balance of each wallet after the version.
    pub(super) balances: [u64; WALLETS],
    /// Sequence number of each wallet after the version.
    pub(super) sequence_numbers: [u64; WALLETS],
    /// Stream positions of the events, in order.
    pub(super) streams: Vec<(EventKey, u64)>,
}

/// Smallest and largest possible value of an uncertain number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) low: u64,
    pub(super) high: u64,
}

impl Span {
    pub(super) fn at(value: u64) -> Self {
        Self {
            low: value,
            high: value,
        }
    }

    pub(super) fn include(&mut self, value: u64) {
        self.low = self.low.min(value);
        self.high = self.high.max(value);
    }

    pub(super) fn contains(&self, value: u64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

/// A transaction that a client sent, and the responses about it.
#[derive(Clone, Debug)]
pub(super) struct SentTransaction {
    pub(super) draft: Draft,
    pub(super) transaction: Arc<CheckedTransaction>,
    /// Number of its submissions without a response.
    pub(super) open_submits: usize,
    /// Step at which one of its submissions last began or completed.
    pub(super) last_submit_step: u64,
    /// State of knowledge when its first submission began.
    pub(super) first_request: RequestStart,
    /// Range of the ledger's time at its possible insertion into the pool, in Unix seconds.
    pub(super) inserted_secs: Span,
    /// Whether a node has accepted the transaction and nothing since can have lost it.
    pub(super) is_accepted: bool,
    /// Version of the transaction, once its block is visible.
    pub(super) version: Option<u64>,
    /// Step at which that block became visible in the model.
    pub(super) visible_at: Option<u64>,
    /// Step at which a client first received it as committed.
    pub(super) reported_committed_at: Option<u64>,
    /// Step at which a client first received the verdict that it is never committed.
    pub(super) reported_never_at: Option<u64>,
    /// Latest response of this run of the node that reported that the pool does not hold it, by a
    /// reason of its removal or by a verdict: the steps at which the request began and the response
    /// arrived.
    pub(super) reported_removed: Option<(u64, u64)>,
}

impl SentTransaction {
    /// Creates the record of a transaction whose first submission begins.
    pub(super) fn new(
        draft: Draft,
        transaction: &Arc<CheckedTransaction>,
        first_request: RequestStart,
        now_secs: u64,
    ) -> Self {
        Self {
            draft,
            transaction: Arc::clone(transaction),
            open_submits: 0,
            last_submit_step: 0,
            first_request,
            inserted_secs: Span::at(now_secs),
            is_accepted: false,
            version: None,
            visible_at: None,
            reported_committed_at: None,
            reported_never_at: None,
            reported_removed: None,
        }
    }

    /// Returns whether a client knew at `step` that the transaction was removed from the pool,
    /// without any submission since.
    pub(super) fn is_known_removed(&self, step: u64) -> bool {
        let is_before = |(looked_up_at, reported_at): (u64, u64)| {
            self.last_submit_step < looked_up_at && reported_at <= step
        };
        self.open_submits == 0 && self.reported_removed.is_some_and(is_before)
    }

    /// Returns whether two transactions have the same content and different hashes.
    pub(super) fn differs_only_in_signature(&self, other: &Self) -> bool {
        self.transaction.raw() == other.transaction.raw() && self.competes_with(other)
    }

    /// Returns whether two different transactions have the same sender and sequence number or
    /// nonce.
    pub(super) fn competes_with(&self, other: &Self) -> bool {
        (self.draft.sender, self.draft.replay_protection)
            == (other.draft.sender, other.draft.replay_protection)
            && self.transaction.hash() != other.transaction.hash()
    }
}

/// Highest values of the ledger info in any response so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LedgerInfoFloor {
    pub(super) version: u64,
    pub(super) block_height: u64,
    pub(super) oldest_version: u64,
    pub(super) oldest_block_height: u64,
    pub(super) timestamp_usecs: u64,
}

impl LedgerInfoFloor {
    pub(super) fn of(info: &LedgerInfo) -> Self {
        Self {
            version: info.version,
            block_height: info.block_height,
            oldest_version: info.oldest_version,
            oldest_block_height: info.oldest_block_height,
            timestamp_usecs: info.timestamp_usecs,
        }
    }

    pub(super) fn raise(&mut self, info: &LedgerInfo) {
        self.version = self.version.max(info.version);
        self.block_height = self.block_height.max(info.block_height);
        self.oldest_version = self.oldest_version.max(info.oldest_version);
        self.oldest_block_height = self.oldest_block_height.max(info.oldest_block_height);
        self.timestamp_usecs = self.timestamp_usecs.max(info.timestamp_usecs);
    }
}

/// Gas limit, in gas units, at or above which no transfer runs out of gas, even if it creates an
/// account. With less, the model cannot predict the result, because it does not count gas.
const SUFFICIENT_MAX_GAS: u64 = 15_000;

/// The model.
pub(super) struct Model {
    pub(super) accounts: Vec<Account>,
    /// Blocks by height, from 1.
    pub(super) blocks: Vec<Block>,
    /// Versions, from 0.
    pub(super) versions: Vec<Version>,
    pub(super) sent: BTreeMap<HashValue, SentTransaction>,
    pub(super) floor: LedgerInfoFloor,
    /// Sum of all fees.
    pub(super) burned_fees: u128,
}

/// Sum of the balances of all wallets at genesis.
pub(super) const TOTAL_BALANCE: u128 = FUNDED_WALLETS as u128 * DEVELOPMENT_BALANCE as u128;

impl Model {
    pub(super) fn new(fixture: &Fixture) -> Self {
        let mut accounts = vec![Account::default(); WALLETS];
        for account in &mut accounts[..FUNDED_WALLETS] {
            account.balance = DEVELOPMENT_BALANCE;
        }
        let mut model = Self {
            accounts,
            blocks: Vec::new(),
            versions: Vec::new(),
            sent: BTreeMap::new(),
            floor: LedgerInfoFloor::default(),
            burned_fees: 0,
        };
        for executed in &fixture.genesis.transactions {
            model.push_version(executed, 0, None);
        }
        model
    }

    pub(super) fn height(&self) -> u64 {
        self.blocks.len() as u64
    }

    pub(super) fn newest_version(&self) -> u64 {
        self.versions.len() as u64 - 1
    }

    pub(super) fn version(&self, version: u64) -> Option<&Version> {
        self.versions.get(usize::try_from(version).ok()?)
    }

    /// Returns the first version of the block at `height`, or `None` if it is not visible.
    pub(super) fn first_version(&self, height: u64) -> Option<u64> {
        match height.checked_sub(1) {
            None => Some(0),
            Some(index) => Some(self.blocks.get(index as usize)?.first_version),
        }
    }

    /// Returns whether a transaction is in a visible block.
    pub(super) fn is_committed(&self, hash: &HashValue) -> bool {
        self.sent
            .get(hash)
            .is_some_and(|sent| sent.version.is_some())
    }

    fn push_version(&mut self, executed: &ExecutedTransaction, height: u64, sender: Option<usize>) {
        let per_wallet =
            |f: fn(&Account) -> u64| std::array::from_fn(|wallet| f(&self.accounts[wallet]));
        let streams = executed
            .events
            .iter()
            .filter_map(ContractEvent::stream_position);
        let version = Version {
            hash: executed.hash,
            height,
            sender,
            balances: per_wallet(|account| account.balance),
            sequence_numbers: per_wallet(|account| account.sequence_number),
            streams: streams.collect(),
        };
        self.versions.push(version);
    }

    /// Adds the next block, which became visible at `step`, and checks it against the rules of the
    /// chain.
    ///
    /// # Errors
    ///
    /// Returns the violated rule.
    pub(super) fn push_block(&mut self, block: Block, step: u64) -> Result<(), String> {
        let header = &block.header;
        let (height, first_version) = (self.height() + 1, self.newest_version() + 1);
        if (header.height, block.first_version) != (height, first_version) {
            let actual = (header.height, block.first_version);
            return Err(format!(
                "block {actual:?} instead of {:?}",
                (height, first_version)
            ));
        }
        if let Some(parent) = self.blocks.last()
            && header.timestamp_usecs <= parent.header.timestamp_usecs
        {
            return Err(format!("block {height} is not later than its parent"));
        }
        let now_secs = header.timestamp_usecs / 1_000_000;
        for executed in &block.transactions {
            let sender = match &executed.transaction {
                Transaction::User(_) => Some(self.apply(executed, now_secs, step)?),
                _ => None,
            };
            self.push_version(executed, height, sender);
        }
        let total: u128 = self
            .accounts
            .iter()
            .map(|account| u128::from(account.balance))
            .sum();
        if total + self.burned_fees != TOTAL_BALANCE {
            return Err(format!(
                "{total} and {} of fees are not {TOTAL_BALANCE}",
                self.burned_fees
            ));
        }
        self.blocks.push(block);
        Ok(())
    }

    /// Applies a user transaction and returns the index of its sender.
    ///
    /// # Errors
    ///
    /// Returns the violated rule.
    fn apply(
        &mut self,
        executed: &ExecutedTransaction,
        now_secs: u64,
        step: u64,
    ) -> Result<usize, String> {
        let (hash, version) = (executed.hash, self.newest_version() + 1);
        let Some(sent) = self.sent.get_mut(&hash) else {
            return Err(format!(
                "version {version} is a transaction that no client sent: {hash}"
            ));
        };
        if let Some(before) = sent.version.replace(version) {
            return Err(format!("{hash} is committed twice: {before} and {version}"));
        }
        sent.visible_at = Some(step);
        if sent.reported_never_at.is_some() {
            return Err(format!(
                "{hash} was never to be committed, and is version {version}"
            ));
        }
        if sent.is_known_removed(step) {
            return Err(format!(
                "{hash} was removed, then committed as version {version}"
            ));
        }
        let draft = sent.draft;
        if now_secs >= draft.expiration_secs {
            return Err(format!(
                "version {version} had expired at {}",
                draft.expiration_secs
            ));
        }
        let account = &mut self.accounts[draft.sender];
        match draft.replay_protection {
            ReplayProtection::SequenceNumber(number) if number != account.sequence_number => {
                let next = account.sequence_number;
                return Err(format!(
                    "version {version} has number {number}, {next} was next"
                ));
            }
            ReplayProtection::SequenceNumber(_) => account.sequence_number += 1,
            ReplayProtection::Nonce(nonce) => {
                let before = account.nonces.insert(nonce, draft.expiration_secs);
                if before.is_some_and(|until_secs| now_secs <= until_secs) {
                    return Err(format!(
                        "version {version} reuses nonce {nonce} before {before:?}"
                    ));
                }
            }
        }
        let info = executed.info.v0();
        let fee = info.gas_used * draft.price;
        if info.gas_used == 0 || info.gas_used > draft.max_gas {
            return Err(format!(
                "version {version} used {} gas units",
                info.gas_used
            ));
        }
        let is_success = info.status == ExecutionStatus::Success;
        let balance_before = account.balance;
        let description = format!(
            "version {version}, balance {balance_before}: {draft:?}: {:?}",
            info.status
        );
        match draft.call {
            Call::Invalid { .. } if is_success => {
                return Err(format!("an invalid call succeeded: {description}"));
            }
            Call::Transfer { amount, .. } if !is_success => {
                let fee_max = draft.max_gas * draft.price;
                if draft.max_gas >= SUFFICIENT_MAX_GAS
                    && balance_before.saturating_sub(fee_max) >= amount
                {
                    return Err(format!("a transfer failed without a reason: {description}"));
                }
            }
            Call::Invalid { .. } => {}
            // The amount moves before the fee is charged, so a transfer to the sender itself leaves
            // the amount available for the fee.
            Call::Transfer { to, amount } => {
                let remaining = account.balance.checked_sub(amount);
                account.balance =
                    remaining.ok_or(format!("a transfer exceeds the balance: {description}"))?;
                self.accounts[to].balance += amount;
            }
        }
        let account = &mut self.accounts[draft.sender];
        let remaining = account.balance.checked_sub(fee);
        account.balance =
            remaining.ok_or(format!("the balance is below the fee {fee}: {description}"))?;
        self.burned_fees += u128::from(fee);
        Ok(draft.sender)
    }

    /// Returns the status of a user transaction's execution, or `None` if its version has none.
    pub(super) fn execution_status(&self, version: u64) -> Option<&ExecutionStatus> {
        let height = self.version(version)?.height;
        let block = self
            .blocks
            .get(usize::try_from(height.checked_sub(1)?).ok()?)?;
        let index = usize::try_from(version.checked_sub(block.first_version)?).ok()?;
        Some(&block.transactions.get(index)?.info.v0().status)
    }

    /// Returns the versions from `oldest` to `newest` of a wallet's transactions with a sequence
    /// number, in ascending order.
    pub(super) fn sequenced_versions(&self, wallet: usize, oldest: u64, newest: u64) -> Vec<u64> {
        let versions = (oldest..=newest).filter(|&version| {
            let entry = &self.versions[version as usize];
            let is_sequenced = |sent: &SentTransaction| {
                matches!(
                    sent.draft.replay_protection,
                    ReplayProtection::SequenceNumber(_)
                )
            };
            entry.sender == Some(wallet) && self.sent.get(&entry.hash).is_some_and(is_sequenced)
        });
        versions.collect()
    }

    /// Returns the versions and numbers of events in the streams of a wallet's store, from version
    /// `oldest` to `newest`.
    pub(super) fn stream_events(&self, wallet: usize, oldest: u64, newest: u64) -> StreamEvents {
        let store = store_of(wallet);
        let mut streams = StreamEvents::new();
        for version in oldest..=newest {
            for (key, number) in &self.versions[version as usize].streams {
                if key.account_address == store {
                    streams
                        .entry(key.creation_number)
                        .or_default()
                        .push((version, *number));
                }
            }
        }
        streams
    }

    /// Returns the lowest balance of a wallet after any version from `first_version`.
    pub(super) fn lowest_balance(&self, wallet: usize, first_version: u64) -> u64 {
        let versions = self.versions.iter().skip(first_version as usize);
        let balances = versions.map(|version| version.balances[wallet]);
        balances.min().unwrap_or(self.accounts[wallet].balance)
    }

    /// Returns whether a transaction of the wallet has used a nonce.
    pub(super) fn is_nonce_used(&self, wallet: usize, nonce: u64) -> bool {
        self.accounts[wallet].nonces.contains_key(&nonce)
    }
}

/// Versions and numbers of events, by the creation number of their stream.
pub(super) type StreamEvents = BTreeMap<u64, Vec<(u64, u64)>>;
