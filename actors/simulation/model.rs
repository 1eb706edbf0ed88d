//! Model of the ledger, independent of the code that it is compared with.
//!
//! The model holds accounts with balance, sequence number and nonces, the visible blocks, and the
//! responses that clients have received. Times are steps of the scheduler unless a name has a unit.

use super::{
    fixture::{Call, Draft, FUNDED, Fixture, Once, WALLETS, wallets},
    oracle::Asked,
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
    pub(super) numbers: [u64; WALLETS],
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
pub(super) struct Sent {
    pub(super) draft: Draft,
    pub(super) transaction: Arc<CheckedTransaction>,
    /// Number of its submissions without a response.
    pub(super) open_submits: usize,
    /// Step at which one of its submissions last began or completed.
    pub(super) submitted: u64,
    /// State of knowledge when its first submission began.
    pub(super) first: Asked,
    /// Range of the ledger's time at its possible insertion into the pool, in Unix seconds.
    pub(super) inserted_secs: Span,
    /// Whether a node has accepted the transaction and nothing since can have lost it.
    pub(super) is_held: bool,
    /// Version of the transaction, once its block is visible.
    pub(super) version: Option<u64>,
    /// Step at which that block became visible in the model.
    pub(super) shown: Option<u64>,
    /// Step at which a client first received it as committed.
    pub(super) told_committed: Option<u64>,
    /// Latest response of this run of the node that reported its removal from the pool: the steps
    /// at which the request began and the response arrived.
    pub(super) told_left: Option<(u64, u64)>,
}

impl Sent {
    /// Returns whether a client knew at step `at` that the transaction had left the pool, without
    /// any submission since.
    pub(super) fn has_left(&self, at: u64) -> bool {
        let is_left = |(left, told): (u64, u64)| self.submitted < left && told <= at;
        self.open_submits == 0 && self.told_left.is_some_and(is_left)
    }

    /// Returns whether two transactions have the same content and different hashes.
    pub(super) fn differs_only_in_signature(&self, other: &Self) -> bool {
        self.transaction.raw() == other.transaction.raw() && self.is_rival(other)
    }

    /// Returns whether two different transactions have the same sender and sequence number or
    /// nonce.
    pub(super) fn is_rival(&self, other: &Self) -> bool {
        (self.draft.sender, self.draft.once) == (other.draft.sender, other.draft.once)
            && self.transaction.hash() != other.transaction.hash()
    }
}

/// Highest values of the ledger info in any response so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Floor {
    pub(super) version: u64,
    pub(super) block_height: u64,
    pub(super) oldest_version: u64,
    pub(super) oldest_block_height: u64,
    pub(super) timestamp_usecs: u64,
}

impl Floor {
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
const ENOUGH_GAS: u64 = 15_000;

/// The model.
pub(super) struct Model {
    pub(super) accounts: Vec<Account>,
    /// Blocks by height, from 1.
    pub(super) blocks: Vec<Block>,
    /// Versions, from 0.
    pub(super) versions: Vec<Version>,
    pub(super) sent: BTreeMap<HashValue, Sent>,
    pub(super) floor: Floor,
    /// Sum of all fees.
    pub(super) burnt: u128,
}

/// Sum of the balances of all wallets at genesis.
pub(super) const MONEY: u128 = FUNDED as u128 * DEVELOPMENT_BALANCE as u128;

impl Model {
    pub(super) fn new(fixture: &Fixture) -> Self {
        let mut accounts = vec![Account::default(); WALLETS];
        for account in &mut accounts[..FUNDED] {
            account.balance = DEVELOPMENT_BALANCE;
        }
        let mut model = Self {
            accounts,
            blocks: Vec::new(),
            versions: Vec::new(),
            sent: BTreeMap::new(),
            floor: Floor::default(),
            burnt: 0,
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
        let of = |f: fn(&Account) -> u64| std::array::from_fn(|wallet| f(&self.accounts[wallet]));
        let streams = executed
            .events
            .iter()
            .filter_map(ContractEvent::stream_position);
        let version = Version {
            hash: executed.hash,
            height,
            sender,
            balances: of(|account| account.balance),
            numbers: of(|account| account.sequence_number),
            streams: streams.collect(),
        };
        self.versions.push(version);
    }

    /// Adds the next block, which became visible at step `at`, and checks it against the rules of
    /// the chain.
    ///
    /// # Errors
    ///
    /// Returns the violated rule.
    pub(super) fn push(&mut self, block: Block, at: u64) -> Result<(), String> {
        let header = &block.header;
        let (height, first) = (self.height() + 1, self.newest_version() + 1);
        if (header.height, block.first_version) != (height, first) {
            let found = (header.height, block.first_version);
            return Err(format!(
                "block {found:?} comes in the place of {:?}",
                (height, first)
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
                Transaction::User(_) => Some(self.apply(executed, now_secs, at)?),
                _ => None,
            };
            self.push_version(executed, height, sender);
        }
        let held: u128 = self
            .accounts
            .iter()
            .map(|account| u128::from(account.balance))
            .sum();
        if held + self.burnt != MONEY {
            return Err(format!("{held} and {} burnt are not {MONEY}", self.burnt));
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
        at: u64,
    ) -> Result<usize, String> {
        let (hash, version) = (executed.hash, self.newest_version() + 1);
        let Some(sent) = self.sent.get_mut(&hash) else {
            return Err(format!(
                "version {version} is a transaction that nobody sent: {hash}"
            ));
        };
        if let Some(before) = sent.version.replace(version) {
            return Err(format!("{hash} is committed twice: {before} and {version}"));
        }
        sent.shown = Some(at);
        if sent.has_left(at) {
            return Err(format!("{hash} had left, then version {version} is it"));
        }
        let draft = sent.draft;
        if now_secs >= draft.expiration_secs {
            return Err(format!(
                "version {version} had expired at {}",
                draft.expiration_secs
            ));
        }
        let account = &mut self.accounts[draft.sender];
        match draft.once {
            Once::Number(number) if number != account.sequence_number => {
                let next = account.sequence_number;
                return Err(format!(
                    "version {version} has number {number}, {next} was next"
                ));
            }
            Once::Number(_) => account.sequence_number += 1,
            Once::Nonce(nonce) => {
                let before = account.nonces.insert(nonce, draft.expiration_secs);
                if before.is_some_and(|until_secs| now_secs <= until_secs) {
                    return Err(format!(
                        "version {version} uses nonce {nonce} again before {before:?}"
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
        let before = account.balance;
        let what = format!(
            "version {version}, with {before} before it: {draft:?}: {:?}",
            info.status
        );
        match draft.call {
            Call::Nonsense { .. } if is_success => {
                return Err(format!("it makes no sense: {what}"));
            }
            Call::Transfer { amount, .. } if !is_success => {
                let fee_max = draft.max_gas * draft.price;
                if draft.max_gas >= ENOUGH_GAS && before.saturating_sub(fee_max) >= amount {
                    return Err(format!("it failed without a reason: {what}"));
                }
            }
            Call::Nonsense { .. } => {}
            // The amount moves before the fee is charged, so a transfer to the sender itself leaves
            // the amount available for the fee.
            Call::Transfer { to, amount } => {
                let rest = account.balance.checked_sub(amount);
                account.balance =
                    rest.ok_or(format!("it gave away more than there was: {what}"))?;
                self.accounts[to].balance += amount;
            }
        }
        let account = &mut self.accounts[draft.sender];
        let rest = account.balance.checked_sub(fee);
        account.balance = rest.ok_or(format!("nobody pays {fee}: {what}"))?;
        self.burnt += u128::from(fee);
        Ok(draft.sender)
    }

    /// Returns the versions from `oldest` to `newest` of a wallet's transactions with a sequence
    /// number, in ascending order.
    pub(super) fn numbered_versions(&self, wallet: usize, oldest: u64, newest: u64) -> Vec<u64> {
        let versions = (oldest..=newest).filter(|&version| {
            let found = &self.versions[version as usize];
            let is_numbered = |sent: &Sent| matches!(sent.draft.once, Once::Number(_));
            found.sender == Some(wallet) && self.sent.get(&found.hash).is_some_and(is_numbered)
        });
        versions.collect()
    }

    /// Returns the versions and numbers of events in a wallet's streams, from version `oldest` to
    /// `newest`.
    pub(super) fn stream_events(&self, wallet: usize, oldest: u64, newest: u64) -> StreamEvents {
        let address = wallets()[wallet].address;
        let mut found = StreamEvents::new();
        for version in oldest..=newest {
            for (key, number) in &self.versions[version as usize].streams {
                if key.account_address == address {
                    found
                        .entry(key.creation_number)
                        .or_default()
                        .push((version, *number));
                }
            }
        }
        found
    }

    /// Returns the lowest balance of a wallet after any version from `first`.
    pub(super) fn least_balance(&self, wallet: usize, first: u64) -> u64 {
        let versions = self.versions.iter().skip(first as usize);
        let balances = versions.map(|version| version.balances[wallet]);
        balances.min().unwrap_or(self.accounts[wallet].balance)
    }

    /// Returns whether a transaction of the wallet has used a nonce.
    pub(super) fn is_used(&self, wallet: usize, nonce: u64) -> bool {
        self.accounts[wallet].nonces.contains_key(&nonce)
    }
}

/// Versions and numbers of events, by the creation number of their stream.
pub(super) type StreamEvents = BTreeMap<u64, Vec<(u64, u64)>>;
