//! Checks of the rows of each block that need no state: hashes, numbers, links, and roots.

use super::mismatch::Mismatch;
use ledger_crypto::{HashBatch, HashValue};
use ledger_store::StoredBlock;
use ledger_types::{
    Accumulator, BlockInfo, ChainTip, CheckedTransaction, LedgerRoot, Seeds, SignedTransaction,
    Transaction, accumulator::root_of,
};
use ledger_vm::Chain;
use std::collections::VecDeque;

/// Number of hashes of a transaction: its own, and those of events, writes and info.
const HASHES: usize = 4;

/// Initial capacity for the hashed bytes of a transaction, which a transfer needs.
const HASHED_BYTES: usize = 4_096;

/// The check of the rows of blocks in order.
pub(super) struct RowCheck<'a> {
    chain: &'a Chain,
    previous: Option<BlockInfo>,
    /// The accumulator before the version of its number of leaves, which is at or above the next
    /// version.
    accumulator: Accumulator,
    first_root_version: u64,
    /// Roots after the newest blocks with their heights, oldest first.
    roots: VecDeque<(u64, LedgerRoot)>,
}

impl<'a> RowCheck<'a> {
    /// Creates the check of a ledger from its oldest version to `tip`.
    ///
    /// # Errors
    ///
    /// Returns a mismatch if the accumulator of `tip` does not have the number of its leaves.
    pub(super) fn new(
        chain: &'a Chain,
        oldest_version: u64,
        tip: &ChainTip,
    ) -> Result<Self, Mismatch> {
        let leaves = Some(tip.accumulator.leaf_count());
        let accumulator = tip.accumulator.earlier(oldest_version);
        let (Some(accumulator), true) = (accumulator, leaves == tip.version.checked_add(1)) else {
            return Err(Mismatch {
                version: tip.version,
                part: "the accumulator of the head".to_owned(),
                stored: format!("{:?}", tip.accumulator),
                computed: format!("one of {} leaves", tip.version.saturating_add(1)),
            });
        };
        Ok(Self {
            chain,
            previous: None,
            first_root_version: accumulator.leaf_count(),
            accumulator,
            roots: VecDeque::new(),
        })
    }

    /// Returns the first version whose accumulator root is compared.
    pub(super) fn first_root_version(&self) -> u64 {
        self.first_root_version
    }

    /// Checks the rows of the next block.
    ///
    /// # Errors
    ///
    /// Returns the mismatch with the lowest version, first those of the block.
    pub(super) fn check(&mut self, stored: &StoredBlock) -> Result<(), Mismatch> {
        let block = &stored.block;
        let (height, version) = (block.header.height, block.first_version);
        let part = |part: &str| format!("{part} of block {height}");
        let hash = block.header.hash(self.chain.vendor());
        hashes_equal(version, part("the hash"), block.hash, hash)?;
        self.check_link(block)?;
        self.check_transactions(stored)?;
        if height > 0 {
            // Block 0 is compared with the genesis as a whole.
            let root = payload_root(stored, self.chain)?;
            let name = part("the payload root");
            hashes_equal(version, name, block.header.payload_root, root)?;
        }
        self.check_executed(block)?;
        if let Some(last) = stored.transactions.last() {
            self.roots.push_back((
                height,
                LedgerRoot {
                    version: block.last_version,
                    accumulator_root: last.accumulator_root,
                },
            ));
        }
        // The root of block 0 is named until `root_delay_blocks` others follow.
        while self.roots.len() as u64 > self.chain.parameters().root_delay_blocks {
            self.roots.pop_front();
        }
        self.previous = Some(block.clone());
        Ok(())
    }

    /// Checks that `tip` is the end of the last block.
    ///
    /// # Errors
    ///
    /// Returns the first mismatch.
    pub(super) fn check_end(&self, tip: &ChainTip) -> Result<(), Mismatch> {
        let version = tip.version;
        let Some(last) = &self.previous else {
            return Ok(());
        };
        let part = "the hash in the head".to_owned();
        hashes_equal(version, part, tip.block_hash, last.hash)?;
        for (part, stored, computed) in [
            ("the height of the head", tip.height, last.header.height),
            ("the version of the head", version, last.last_version),
            (
                "the time of the head",
                tip.timestamp_usecs,
                last.header.timestamp_usecs,
            ),
        ] {
            Mismatch::check(version, part, &stored, &computed, u64::to_string)?;
        }
        let part = "the accumulator of the head";
        let words = |accumulator: &Accumulator| format!("{accumulator:?}");
        Mismatch::check(version, part, &tip.accumulator, &self.accumulator, words)?;
        for (height, root) in &self.roots {
            let part = format!("the root of block {height} in the head");
            let stored = tip.roots.at(*height, tip.height);
            Mismatch::check(version, part, &stored, &Some(*root), |root| {
                root.map_or("absent".to_owned(), |root| root.to_string())
            })?;
        }
        Ok(())
    }

    /// Checks that a block follows the one before it.
    fn check_link(&self, block: &BlockInfo) -> Result<(), Mismatch> {
        let Some(previous) = &self.previous else {
            return Ok(());
        };
        let (height, version) = (block.header.height, block.first_version);
        let part = |part: &str| format!("{part} of block {height}");
        let parent = block.header.parent_hash;
        hashes_equal(version, part("the parent"), parent, previous.hash)?;
        let next_height = previous.header.height + 1;
        let next_version = previous.last_version + 1;
        let name = part("the height");
        Mismatch::check(version, name, &height, &next_height, u64::to_string)?;
        let name = part("the first version");
        Mismatch::check(version, name, &version, &next_version, u64::to_string)
    }

    /// Checks the result of an earlier block that the header names, if that block is in the window.
    fn check_executed(&self, block: &BlockInfo) -> Result<(), Mismatch> {
        let height = block.header.height;
        let delay = self.chain.parameters().root_delay_blocks;
        let named = height.saturating_sub(delay);
        let mut roots = self.roots.iter();
        let Some((_, root)) = roots.find(|(height, _)| *height == named) else {
            return Ok(());
        };
        let part = format!("the result of block {named} in the header of block {height}");
        let executed = &block.header.executed;
        Mismatch::check(block.first_version, part, executed, root, |root| {
            root.to_string()
        })
    }

    /// Checks the hashes of transactions, events, writes and infos, and the accumulator.
    fn check_transactions(&mut self, stored: &StoredBlock) -> Result<(), Mismatch> {
        let seeds = self.chain.vendor().seeds();
        let first = stored.block.first_version;
        let hashes = hashes(stored, seeds);
        let (hashes, _) = hashes.as_chunks::<HASHES>();
        let from = self.accumulator.leaf_count().saturating_sub(first);
        let skipped = usize::try_from(from).unwrap_or(usize::MAX);
        let leaves = hashes
            .iter()
            .skip(skipped)
            .map(|[.., info]| *info)
            .collect();
        let roots = self
            .accumulator
            .extend(leaves, &seeds.transaction_accumulator);
        let transactions = || (first..).zip(&stored.transactions);
        for ((version, executed), [own, events, writes, _]) in transactions().zip(hashes) {
            let info = executed.info.v0();
            for (part, stored, computed) in [
                (
                    "the transaction hash in the info",
                    info.transaction_hash,
                    own,
                ),
                ("the event root in the info", info.event_root_hash, events),
                (
                    "the state change hash in the info",
                    info.state_change_hash,
                    writes,
                ),
            ] {
                hashes_equal(version, part.to_owned(), stored, *computed)?;
            }
        }
        for ((version, executed), root) in transactions().skip(skipped).zip(roots) {
            let part = "the accumulator root".to_owned();
            hashes_equal(version, part, executed.accumulator_root, root)?;
        }
        Ok(())
    }
}

/// Returns the hashes of a block's transactions, [`HASHES`] of each.
fn hashes(stored: &StoredBlock, seeds: &Seeds) -> Vec<HashValue> {
    let messages = HASHES * stored.transactions.len();
    let mut batch = HashBatch::with_capacity(messages, HASHED_BYTES / HASHES);
    for executed in &stored.transactions {
        batch.push_bcs(&seeds.transaction, &executed.transaction);
        batch.push_bcs(&seeds.contract_events, &executed.events);
        batch.push_bcs(&seeds.write_set, &executed.writes);
        batch.push_bcs(&seeds.transaction_info, &executed.info);
    }
    batch.finish()
}

/// Returns the root of the ordered transactions of a block: the committed ones, with each discarded
/// one at its position.
///
/// # Errors
///
/// Returns a mismatch if a discarded transaction has another hash than its entry.
fn payload_root(stored: &StoredBlock, chain: &Chain) -> Result<HashValue, Mismatch> {
    let block = &stored.block;
    let users = stored
        .transactions
        .iter()
        .filter(|executed| matches!(executed.transaction, Transaction::User(_)));
    let mut ordered: Vec<_> = users.map(|executed| executed.hash).collect();
    for discarded in &block.discarded {
        let position = discarded.position as usize;
        let part = format!(
            "the discarded transaction {position} of block {}",
            block.header.height
        );
        if !discarded.transaction.is_empty() {
            let body = bcs::from_bytes::<SignedTransaction>(&discarded.transaction);
            let found = body.map(|body| CheckedTransaction::new_unchecked(body, chain.vendor()));
            // Bytes that encode no transaction have no hash of one.
            let found = found.map_or(HashValue::ZERO, |found| found.hash());
            hashes_equal(block.first_version, part.clone(), discarded.hash, found)?;
        }
        if position > ordered.len() {
            return Err(Mismatch {
                version: block.first_version,
                part,
                stored: format!("at position {position}"),
                computed: format!("one of {} ordered transactions", ordered.len() + 1),
            });
        }
        ordered.insert(position, discarded.hash);
    }
    let seeds = chain.vendor().seeds();
    Ok(root_of(ordered, &seeds.transaction_accumulator))
}

/// Compares a stored hash with the computed one.
fn hashes_equal(
    version: u64,
    part: String,
    stored: HashValue,
    computed: HashValue,
) -> Result<(), Mismatch> {
    Mismatch::check(version, part, &stored, &computed, HashValue::to_string)
}
