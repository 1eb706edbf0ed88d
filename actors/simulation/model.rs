//! What must be so, kept apart from the code that it is held against: accounts with a balance, a number and
//! nonces, the blocks that were shown, and what was told to whom.

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

/// An account.
#[derive(Clone, Debug, Default)]
pub(super) struct Account {
    pub(super) balance: u64,
    pub(super) sequence_number: u64,
    /// The nonces that were used, and until when.
    nonces: BTreeMap<u64, u64>,
}

/// A block that was shown.
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

/// What is known of a version.
#[derive(Clone, Debug)]
pub(super) struct Version {
    pub(super) hash: HashValue,
    pub(super) height: u64,
    /// Whose transaction it is.
    pub(super) sender: Option<usize>,
    /// Of each wallet after it.
    pub(super) balances: [u64; WALLETS],
    /// Of each wallet after it.
    pub(super) numbers: [u64; WALLETS],
    /// Its events of streams, in order.
    pub(super) streams: Vec<(EventKey, u64)>,
}

/// The least and the most that something can have been.
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

/// A transaction that a client sent, and what was said about it.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    pub(super) draft: Draft,
    pub(super) transaction: Arc<CheckedTransaction>,
    /// How many submissions of it have no answer yet.
    pub(super) open_submits: usize,
    /// When the last submission of it was begun and answered.
    pub(super) submitted: u64,
    /// What was known when its first submission began.
    pub(super) first: Asked,
    /// What the clock can have shown when the pool took it in, Unix seconds.
    pub(super) inserted_secs: Span,
    /// Said to be accepted, and nothing has happened since that may lose it.
    pub(super) is_held: bool,
    /// Its version, once it is in a block that was shown.
    pub(super) version: Option<u64>,
    /// When that block was shown.
    pub(super) shown: Option<u64>,
    /// When it was first told as committed.
    pub(super) told_committed: Option<u64>,
    /// When it was last asked and told that it left the pool, by this run of the node.
    pub(super) told_left: Option<(u64, u64)>,
}

impl Sent {
    /// Whether a question that is asked `at` this step comes after it was told that it left, with nothing new
    /// come in since.
    pub(super) fn has_left(&self, at: u64) -> bool {
        let is_left = |(left, told): (u64, u64)| self.submitted < left && told <= at;
        self.open_submits == 0 && self.told_left.is_some_and(is_left)
    }

    /// Returns whether two transactions have the same content and different hashes.
    pub(super) fn differs_only_in_signature(&self, other: &Self) -> bool {
        self.transaction.raw() == other.transaction.raw() && self.is_rival(other)
    }

    /// Whether two are for the same place in the pool.
    pub(super) fn is_rival(&self, other: &Self) -> bool {
        (self.draft.sender, self.draft.once) == (other.draft.sender, other.draft.once)
            && self.transaction.hash() != other.transaction.hash()
    }
}

/// The newest that was told to anyone.
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

/// More than any transfer takes, also one that makes an account. Below it nothing can be said without
/// counting gas.
const ENOUGH_GAS: u64 = 15_000;

/// The model.
pub(super) struct Model {
    pub(super) accounts: Vec<Account>,
    /// By height, from 1.
    pub(super) blocks: Vec<Block>,
    /// By version, from 0.
    pub(super) versions: Vec<Version>,
    pub(super) sent: BTreeMap<HashValue, Sent>,
    pub(super) floor: Floor,
    /// All fees.
    pub(super) burnt: u128,
}

/// All money of the wallets at the beginning.
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

    /// The first version of the block of a height.
    pub(super) fn first_version(&self, height: u64) -> Option<u64> {
        match height.checked_sub(1) {
            None => Some(0),
            Some(index) => Some(self.blocks.get(index as usize)?.first_version),
        }
    }

    /// Whether a transaction is in a block that was shown.
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

    /// Takes in the next block, which was shown at this step, by the rules of the chain.
    ///
    /// # Errors
    /// The rule that it breaks.
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

    /// A user transaction by the rules; gives its sender.
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
            // The money moves before the fee is paid: who pays himself needs it only once.
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

    /// The newest versions of a wallet's transactions with a number, ascending.
    pub(super) fn numbered_versions(&self, wallet: usize, oldest: u64, newest: u64) -> Vec<u64> {
        let versions = (oldest..=newest).filter(|&version| {
            let found = &self.versions[version as usize];
            let is_numbered = |sent: &Sent| matches!(sent.draft.once, Once::Number(_));
            found.sender == Some(wallet) && self.sent.get(&found.hash).is_some_and(is_numbered)
        });
        versions.collect()
    }

    /// The versions and numbers of the events that a wallet's streams have.
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

    /// The least that a wallet had after any version from `first` on.
    pub(super) fn least_balance(&self, wallet: usize, first: u64) -> u64 {
        let versions = self.versions.iter().skip(first as usize);
        let balances = versions.map(|version| version.balances[wallet]);
        balances.min().unwrap_or(self.accounts[wallet].balance)
    }

    /// Whether a wallet's transaction has used a nonce.
    pub(super) fn is_used(&self, wallet: usize, nonce: u64) -> bool {
        self.accounts[wallet].nonces.contains_key(&nonce)
    }
}

/// Versions and numbers of events, by the number of their stream.
pub(super) type StreamEvents = BTreeMap<u64, Vec<(u64, u64)>>;
