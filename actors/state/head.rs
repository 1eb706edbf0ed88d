//! The newest durable moment of the ledger, as one immutable value, and what is remembered of accounts at it.

use super::{
    account_cache::AccountCache,
    committed::{CommittedTransaction, IndexedBlock},
};
use arc_swap::ArcSwap;
use ledger_crypto::HashValue;
use ledger_types::{ChainTip, LedgerInfo};
use std::sync::{Arc, PoisonError, RwLock};

/// How far back transactions are found without the store. The newest block is always there.
const RECENT_BLOCKS_MAX: usize = 32;
/// The most transactions of all recent blocks together: about 30 MB of transfers.
const RECENT_TRANSACTIONS_MAX: usize = 10_000;
/// The most bytes that all recent blocks together may have put out: a transaction may emit and write
/// far more than a transfer does. (What comes in is bounded by `sequencer.block_bytes_max`.)
const RECENT_OUTPUT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The newest durable moment of the ledger: what answers carry in their headers, and the newest blocks.
#[derive(Debug)]
pub struct Head {
    ledger_info: LedgerInfo,
    /// The newest blocks, ascending.
    recent: Vec<Arc<IndexedBlock>>,
}

impl Head {
    /// The head of a ledger that was just opened.
    pub(crate) fn opened(ledger_info: LedgerInfo) -> Self {
        Self {
            ledger_info,
            recent: Vec::new(),
        }
    }

    /// What every answer carries in its headers.
    pub fn ledger_info(&self) -> &LedgerInfo {
        &self.ledger_info
    }

    /// The transaction `hash`, if it was committed recently; else the store knows.
    pub(crate) fn committed(&self, hash: &HashValue) -> Option<CommittedTransaction> {
        let mut newest_first = self.recent.iter().rev();
        let found = newest_first.find_map(|block| block.committed(hash))?;
        (found.version >= self.ledger_info.oldest_version).then_some(found)
    }

    /// The head after `blocks`, of which the last is the newest.
    fn after<'a>(&self, blocks: impl IntoIterator<Item = &'a Arc<IndexedBlock>>) -> Self {
        let mut recent = self.recent.clone();
        recent.extend(blocks.into_iter().cloned());
        let newest = recent.last().map(|newest| &newest.block().tip);
        let ledger_info = newest.map_or(self.ledger_info, |tip| at_tip(&self.ledger_info, tip));
        let (mut transactions, mut output_bytes) = (0, 0);
        let kept = recent.iter().rev().take_while(|block| {
            transactions += block.block().transactions.len();
            output_bytes += block.output_bytes();
            transactions <= RECENT_TRANSACTIONS_MAX && output_bytes <= RECENT_OUTPUT_BYTES_MAX
        });
        let kept = kept.take(RECENT_BLOCKS_MAX).count().max(1);
        recent.drain(..recent.len().saturating_sub(kept));
        Self {
            ledger_info,
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
pub(crate) struct HeadCell(Arc<Newest>);

#[derive(Debug)]
struct Newest {
    head: ArcSwap<Head>,
    /// Of the accounts at `head`, which gets blocks only while this is locked.
    facts: RwLock<AccountCache>,
}

impl HeadCell {
    pub(crate) fn new(head: Head) -> Self {
        Self(Arc::new(Newest {
            head: ArcSwap::from_pointee(head),
            facts: RwLock::default(),
        }))
    }

    pub(crate) fn load(&self) -> Arc<Head> {
        self.0.head.load_full()
    }

    /// What `look` finds of accounts at the newest moment. Blocks wait for it.
    pub(crate) fn with_accounts<T>(&self, look: impl FnOnce(Arc<Head>, &AccountCache) -> T) -> T {
        let facts = self.0.facts.read().unwrap_or_else(PoisonError::into_inner);
        look(self.load(), &facts)
    }

    /// Makes that after `blocks` the newest moment, and gives it. With the one before go blocks that are recent no longer,
    /// which takes a while: who must not wait for that keeps it meanwhile.
    pub(crate) fn publish(&self, blocks: &[Arc<IndexedBlock>]) -> Arc<Head> {
        let mut facts = self.0.facts.write().unwrap_or_else(PoisonError::into_inner);
        for block in blocks {
            facts.apply(block.account_updates());
        }
        self.change(|before| before.after(blocks))
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
        let mut before = self.0.head.load();
        loop {
            let after = Arc::new(change(&before));
            let found = self.0.head.compare_and_swap(&*before, Arc::clone(&after));
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
    pub(crate) fn recent_blocks(&self) -> impl Iterator<Item = &Arc<ledger_types::ExecutedBlock>> {
        self.recent.iter().map(|indexed| indexed.block())
    }

    /// As this one, with one more block.
    pub(crate) fn with_block(&self, block: Arc<ledger_types::ExecutedBlock>) -> Self {
        self.after(&[IndexedBlock::without_updates(block)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        state::account_cache::AccountUpdates,
        testing::{block, block_writing, draft, ledger_info},
    };
    use bytes::Bytes;
    use ledger_execution::AccountSnapshot;
    use ledger_types::{AccountAddress, StateKey};
    use std::thread;

    fn indexed(height: u64, numbers: std::ops::Range<u64>) -> Arc<IndexedBlock> {
        let transactions: Vec<_> = numbers.map(|number| draft(1, number).checked()).collect();
        IndexedBlock::without_updates(block(height, &transactions, &[]))
    }

    #[test]
    fn recent_blocks_are_found_and_older_ones_go() {
        let mut head = Head::opened(ledger_info(0));
        for height in 1..=RECENT_BLOCKS_MAX as u64 + 1 {
            head = head.after(&[indexed(height, height..height + 1)]);
        }
        assert_eq!(
            head.ledger_info().block_height,
            RECENT_BLOCKS_MAX as u64 + 1
        );
        assert!(head.committed(&draft(1, 1).checked().hash()).is_none());
        let found = head.committed(&draft(1, 2).checked().hash()).unwrap();
        assert_eq!((found.version, found.block_timestamp_usecs), (2_000, 2_000));
        assert_eq!(found.content().unwrap().hash, draft(1, 2).checked().hash());
    }

    #[test]
    fn a_block_above_all_bounds_is_still_found() {
        let large = indexed(1, 0..RECENT_TRANSACTIONS_MAX as u64 + 1);
        let head = Head::opened(ledger_info(0)).after(&[indexed(0, 0..1), large]);
        assert_eq!(head.recent.len(), 1);
    }

    #[test]
    fn blocks_with_much_output_go_early_but_the_newest_stays() {
        let writing = |height: u64, bytes: usize| {
            let value = Bytes::from(vec![0; bytes]);
            let key = StateKey::from_encoded(Bytes::from_static(b"key"));
            let block = block_writing(height, &[(key, Some(value))]);
            IndexedBlock::without_updates(Arc::new(block))
        };
        let mut head = Head::opened(ledger_info(0));
        for height in 1..=5 {
            head = head.after(&[writing(height, RECENT_OUTPUT_BYTES_MAX / 3)]);
        }
        assert_eq!(
            head.recent.len(),
            2,
            "three keys and a third each are too much"
        );
        let head = head.after(&[writing(6, RECENT_OUTPUT_BYTES_MAX + 1)]);
        assert_eq!(head.recent.len(), 1);
        assert!(head.committed(&draft(1, 6).checked().hash()).is_some());
    }

    #[test]
    fn pruned_versions_are_not_shown() {
        let head = Head::opened(ledger_info(0)).after(&[indexed(1, 0..2)]);
        let pruned = head.with_oldest(1_001, 1);
        assert!(pruned.committed(&draft(1, 0).checked().hash()).is_none());
        assert!(pruned.committed(&draft(1, 1).checked().hash()).is_some());
        assert_eq!(pruned.ledger_info().oldest_version, 1_001);
    }

    #[test]
    fn the_past_that_is_gone_stays_gone_when_a_block_comes_that_was_made_before() {
        let cell = HeadCell::new(Head::opened(ledger_info(0)));
        let block = Arc::clone(indexed(1, 0..2).block());
        cell.raise_oldest(1_001, 1);
        let shown = cell.publish(&[IndexedBlock::without_updates(block)]);
        let info = |head: &Head| {
            let info = head.ledger_info();
            (
                info.block_height,
                info.oldest_block_height,
                info.oldest_version,
            )
        };
        assert_eq!(info(&shown), (1, 1, 1_001));
        cell.raise_oldest(0, 0);
        assert_eq!(info(&cell.load()), (1, 1, 1_001));
    }

    #[test]
    fn accounts_are_found_as_they_are_at_the_moment_that_is_given_with_them() {
        const BLOCKS: u64 = 5_000;
        const ACCOUNT: AccountAddress = AccountAddress::ONE;
        let cell = HeadCell::new(Head::opened(ledger_info(0)));
        let look = || {
            let found = cell.with_accounts(|head, facts| {
                (head.ledger_info().block_height, facts.get(&ACCOUNT))
            });
            let sequence_number = found.1.map_or(0, |facts| facts.sequence_number);
            assert_eq!(sequence_number, found.0, "each block raises it by one");
            found.0
        };
        thread::scope(|scope| {
            scope.spawn(|| {
                for height in 1..=BLOCKS {
                    let account = AccountSnapshot {
                        sequence_number: height,
                        authentication_key: HashValue::ZERO,
                        balance: 0,
                    };
                    let updates = AccountUpdates {
                        height,
                        accounts: vec![(ACCOUNT, account)],
                    };
                    let indexed = IndexedBlock::new(block(height, &[], &[]), updates);
                    cell.publish(&[Arc::new(indexed)]);
                }
            });
            while look() < BLOCKS {}
        });
    }
}
