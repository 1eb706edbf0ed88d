//! The newest durable moment of the ledger, as one immutable value.

use super::facts::Facts;
use crate::Committed;
use arc_swap::ArcSwap;
use ledger::{
    AccountAddress, AccountFacts, ChainTip, ExecutedBlock, ExecutedTransaction, HashValue, LedgerInfo,
    map::HashMap,
};
use std::sync::Arc;

/// How far back transactions are found without the store. The newest block is always there.
const RECENT_BLOCKS_MAX: usize = 32;
/// The most transactions of all recent blocks together: about 30 MB of transfers.
const RECENT_TRANSACTIONS_MAX: usize = 10_000;
/// The most bytes that all recent blocks together may have put out: a transaction may emit and write
/// far more than a transfer does. (What comes in is bounded by `sequencer.block_bytes_max`.)
const RECENT_OUTPUT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// An executed block with its transactions by hash.
#[derive(Debug)]
pub(crate) struct IndexedBlock {
    pub(crate) block: Arc<ExecutedBlock>,
    by_hash: HashMap<HashValue, usize>,
    /// The data of all events, and all keys and values written.
    output_bytes: usize,
}

impl IndexedBlock {
    pub(crate) fn new(block: Arc<ExecutedBlock>) -> Self {
        let hashes = block.transactions.iter().map(|executed| executed.hash);
        let by_hash = hashes.zip(0..).collect();
        let output_bytes = block
            .transactions
            .iter()
            .map(ExecutedTransaction::output_bytes)
            .sum();
        Self {
            block,
            by_hash,
            output_bytes,
        }
    }

    fn committed(&self, hash: &HashValue) -> Option<Committed> {
        let index = *self.by_hash.get(hash)?;
        Committed::in_block(&self.block, index)
    }
}

/// The newest durable moment of the ledger: what answers carry in their headers, the newest blocks,
/// and what submissions are checked against.
#[derive(Debug)]
pub struct Head {
    ledger_info: LedgerInfo,
    facts: Facts,
    /// The newest blocks, ascending.
    recent: Vec<Arc<IndexedBlock>>,
}

impl Head {
    /// The head of a ledger that was just opened.
    pub(crate) fn opened(ledger_info: LedgerInfo) -> Self {
        Self {
            ledger_info,
            facts: Facts::default(),
            recent: Vec::new(),
        }
    }

    /// What every answer carries in its headers.
    pub fn ledger_info(&self) -> &LedgerInfo {
        &self.ledger_info
    }

    /// The facts of an account, if it was touched recently; else the store knows.
    pub(crate) fn facts(&self, address: &AccountAddress) -> Option<AccountFacts> {
        self.facts.get(address)
    }

    /// The height of a block from which on the accounts that the Head does not know have not changed until it.
    pub(crate) fn facts_complete_from(&self) -> u64 {
        self.facts.complete_from()
    }

    /// The transaction `hash`, if it was committed recently; else the store knows.
    pub(crate) fn committed(&self, hash: &HashValue) -> Option<Committed> {
        let mut newest_first = self.recent.iter().rev();
        let found = newest_first.find_map(|block| block.committed(hash))?;
        (found.version >= self.ledger_info.oldest_version).then_some(found)
    }

    /// The head after `blocks`, of which the last is the newest; `facts` are those after it.
    pub(super) fn after(&self, blocks: &[Arc<IndexedBlock>], facts: Facts) -> Self {
        let mut ledger_info = self.ledger_info;
        if let Some(newest) = blocks.last() {
            ledger_info = at_tip(&ledger_info, &newest.block.tip);
        }
        let mut recent = self.recent.clone();
        recent.extend_from_slice(blocks);
        let (mut transactions, mut output_bytes) = (0, 0);
        let kept = recent.iter().rev().take_while(|block| {
            transactions += block.block.transactions.len();
            output_bytes += block.output_bytes;
            transactions <= RECENT_TRANSACTIONS_MAX && output_bytes <= RECENT_OUTPUT_BYTES_MAX
        });
        let kept = kept.take(RECENT_BLOCKS_MAX).count().max(1);
        recent.drain(..recent.len().saturating_sub(kept));
        Self {
            ledger_info,
            facts,
            recent,
        }
    }

    /// The same moment without what lies below `oldest_version`, the first of the block of that height.
    /// What is gone already stays so.
    fn with_oldest(&self, oldest_version: u64, oldest_block_height: u64) -> Self {
        Self {
            ledger_info: LedgerInfo {
                oldest_version: oldest_version.max(self.ledger_info.oldest_version),
                oldest_block_height: oldest_block_height.max(self.ledger_info.oldest_block_height),
                ..self.ledger_info
            },
            facts: self.facts.clone(),
            recent: self.recent.clone(),
        }
    }
}

fn at_tip(before: &LedgerInfo, tip: &ChainTip) -> LedgerInfo {
    LedgerInfo {
        epoch: tip.epoch,
        version: tip.version,
        block_height: tip.height,
        timestamp_usecs: tip.timestamp_usecs,
        ..*before
    }
}

/// Where the newest [`Head`] is found. The committer adds blocks and the store's writer takes the past
/// away; neither undoes what the other has done.
#[derive(Clone, Debug)]
pub(crate) struct HeadCell(Arc<ArcSwap<Head>>);

impl HeadCell {
    pub(crate) fn new(head: Head) -> Self {
        Self(Arc::new(ArcSwap::from_pointee(head)))
    }

    pub(crate) fn load(&self) -> Arc<Head> {
        self.0.load_full()
    }

    /// Makes `head` the newest moment; gives it as it is shown.
    pub(super) fn publish(&self, head: &Head) -> Arc<Head> {
        self.change(|before| {
            let oldest = before.ledger_info();
            head.with_oldest(oldest.oldest_version, oldest.oldest_block_height)
        })
    }

    /// Hides what lies below `oldest_version`, the first of the block of that height.
    ///
    /// The writer calls it when that is durably gone and snapshots do not show so yet: an answer from the
    /// Head alone, and a snapshot at the Head, then never name an older version than an earlier answer.
    pub(crate) fn raise_oldest(&self, oldest_version: u64, oldest_block_height: u64) {
        self.change(|head| head.with_oldest(oldest_version, oldest_block_height));
    }

    /// Puts in the place of the newest moment what `change` makes of it; called again where another thread
    /// was faster.
    fn change(&self, change: impl Fn(&Head) -> Head) -> Arc<Head> {
        let mut before = self.0.load();
        loop {
            let after = Arc::new(change(&before));
            let found = self.0.compare_and_swap(&*before, Arc::clone(&after));
            if Arc::ptr_eq(&before, &found) {
                return after;
            }
            before = found;
        }
    }
}

#[cfg(test)]
impl Head {
    /// The newest blocks, ascending.
    pub(crate) fn recent_blocks(&self) -> impl Iterator<Item = &Arc<ExecutedBlock>> {
        self.recent.iter().map(|indexed| &indexed.block)
    }

    /// As this one, with one more block and nothing known of accounts.
    pub(crate) fn with_block(&self, block: Arc<ExecutedBlock>) -> Self {
        self.after(&[Arc::new(IndexedBlock::new(block))], Facts::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{block, block_writing, draft, ledger_info};
    use bytes::Bytes;
    use ledger::StateKey;

    fn indexed(height: u64, numbers: std::ops::Range<u64>) -> Arc<IndexedBlock> {
        let transactions: Vec<_> = numbers.map(|number| draft(1, number).checked()).collect();
        Arc::new(IndexedBlock::new(block(height, &transactions, &[])))
    }

    #[test]
    fn recent_blocks_are_found_and_older_ones_go() {
        let mut head = Head::opened(ledger_info(0));
        for height in 1..=RECENT_BLOCKS_MAX as u64 + 1 {
            head = head.after(&[indexed(height, height..height + 1)], Facts::default());
        }
        assert_eq!(head.ledger_info().block_height, RECENT_BLOCKS_MAX as u64 + 1);
        assert!(head.committed(&draft(1, 1).checked().hash()).is_none());
        let found = head.committed(&draft(1, 2).checked().hash()).unwrap();
        assert_eq!((found.version, found.block_timestamp_usecs), (2_000, 2_000));
        assert_eq!(found.transaction().unwrap().hash, draft(1, 2).checked().hash());
    }

    #[test]
    fn a_block_above_all_bounds_is_still_found() {
        let large = indexed(1, 0..RECENT_TRANSACTIONS_MAX as u64 + 1);
        let head = Head::opened(ledger_info(0)).after(&[indexed(0, 0..1), large], Facts::default());
        assert_eq!(head.recent.len(), 1);
    }

    #[test]
    fn blocks_with_much_output_go_early_but_the_newest_stays() {
        let writing = |height: u64, bytes: usize| {
            let value = Bytes::from(vec![0; bytes]);
            let key = StateKey::from_encoded(Bytes::from_static(b"key"));
            let block = block_writing(height, &[(key, Some(value))]);
            Arc::new(IndexedBlock::new(Arc::new(block)))
        };
        let mut head = Head::opened(ledger_info(0));
        for height in 1..=5 {
            head = head.after(&[writing(height, RECENT_OUTPUT_BYTES_MAX / 3)], Facts::default());
        }
        assert_eq!(head.recent.len(), 2, "three keys and a third each are too much");
        let head = head.after(&[writing(6, RECENT_OUTPUT_BYTES_MAX + 1)], Facts::default());
        assert_eq!(head.recent.len(), 1);
        assert!(head.committed(&draft(1, 6).checked().hash()).is_some());
    }

    #[test]
    fn pruned_versions_are_not_shown() {
        let head = Head::opened(ledger_info(0)).after(&[indexed(1, 0..2)], Facts::default());
        let pruned = head.with_oldest(1_001, 1);
        assert!(pruned.committed(&draft(1, 0).checked().hash()).is_none());
        assert!(pruned.committed(&draft(1, 1).checked().hash()).is_some());
        assert_eq!(pruned.ledger_info().oldest_version, 1_001);
    }

    #[test]
    fn the_past_that_is_gone_stays_gone_when_a_block_comes_that_was_made_before() {
        let cell = HeadCell::new(Head::opened(ledger_info(0)));
        let after = cell.load().with_block(Arc::clone(&indexed(1, 0..2).block));
        cell.raise_oldest(1_001, 1);
        let shown = cell.publish(&after);
        let info = |head: &Head| {
            let info = head.ledger_info();
            (info.block_height, info.oldest_block_height, info.oldest_version)
        };
        assert_eq!(info(&shown), (1, 1, 1_001));
        cell.raise_oldest(0, 0);
        assert_eq!(info(&cell.load()), (1, 1, 1_001));
    }
}
