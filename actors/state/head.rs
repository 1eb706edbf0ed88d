//! The Head: the newest durable version of the ledger, with the newest blocks and accounts.

use super::{
    account_cache::AccountCache,
    committed::{CommittedTransaction, IndexedBlock},
    prune_horizon::{Horizon, PruneHorizon},
};
use arc_swap::ArcSwap;
use ledger_crypto::HashValue;
use ledger_types::{ChainTip, ExecutedBlock, LedgerInfo};
use std::sync::{Arc, PoisonError, RwLock};

/// Maximum number of recent blocks. A look-up of their transactions needs no read of the store.
///
/// The newest block is always a recent block, even if it exceeds the two bounds below.
const RECENT_BLOCKS_MAX: usize = 32;

/// Maximum total number of transactions in all recent blocks. As transfers, they take about 30 MB.
const RECENT_TRANSACTIONS_MAX: usize = 10_000;

/// Maximum total size of the outputs (event data, written keys and values) of all recent blocks, in
/// bytes.
///
/// The outputs of other transactions can be far larger than those of transfers. The setting
/// `sequencer.block_bytes_max` bounds the size of the transactions themselves.
const RECENT_OUTPUT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The newest durable version of the ledger. Clones are cheap.
///
/// Its ledger info is consistent: the oldest version is at most the newest one.
#[derive(Clone, Debug)]
pub struct Head {
    ledger_info: LedgerInfo,
    published: Arc<PublishedHead>,
}

impl Head {
    /// Returns the ledger info, which every response carries in its headers.
    pub fn ledger_info(&self) -> &LedgerInfo {
        &self.ledger_info
    }

    /// Returns the transaction `hash` if a recent block includes it and its version is not pruned.
    /// If this returns `None`, the store may still hold the transaction.
    pub(crate) fn committed(&self, hash: &HashValue) -> Option<CommittedTransaction> {
        let mut newest_first = self.published.recent.iter().rev();
        let committed = newest_first.find_map(|block| block.committed(hash))?;
        (committed.version >= self.ledger_info.oldest_version).then_some(committed)
    }

    /// Returns whether a recent block includes the transaction `hash`, also at a pruned version.
    pub(crate) fn is_in_recent_block(&self, hash: &HashValue) -> bool {
        let recent = &self.published.recent;
        recent.iter().any(|block| block.committed(hash).is_some())
    }

    /// Returns the recent blocks above a height, the oldest first. Blocks between it and them are
    /// not in memory any more.
    pub fn blocks_above(&self, height: u64) -> impl Iterator<Item = RecentBlock<'_>> {
        let recent = self.published.recent.iter();
        let above = recent.filter(move |block| block.block().height() > height);
        above.map(|block| RecentBlock {
            block: block.block(),
            execution_usecs: block.execution_usecs(),
        })
    }

    /// Returns the height of the oldest recent block, or that of the next block if there is no
    /// recent one. The blocks from this height up to the Head are recent.
    pub(crate) fn oldest_recent_height(&self) -> u64 {
        let oldest = self.published.recent.first();
        oldest.map_or(self.ledger_info.block_height.saturating_add(1), |block| {
            block.block().height()
        })
    }
}

/// A block of the Head.
#[derive(Clone, Copy, Debug)]
pub struct RecentBlock<'a> {
    /// The executed block.
    pub block: &'a ExecutedBlock,
    /// Processor time of the executor for it, in microseconds.
    pub execution_usecs: u64,
}

/// The immutable value that the committer publishes.
#[derive(Debug)]
struct PublishedHead {
    /// The ledger info without the horizon, which [`HeadReader`] adds.
    ledger_info: LedgerInfo,
    /// The newest blocks, in ascending order.
    recent: Vec<Arc<IndexedBlock>>,
}

impl PublishedHead {
    /// Returns the value after `blocks`, which are in ascending order.
    fn after(&self, blocks: &[Arc<IndexedBlock>]) -> Self {
        let mut recent = self.recent.clone();
        recent.extend(blocks.iter().cloned());
        let newest = recent.last().map(|newest| &newest.block().tip);
        let ledger_info = newest.map_or(self.ledger_info, |tip| at_tip(&self.ledger_info, tip));
        let (mut transactions, mut output_bytes) = (0, 0);
        let retained = recent.iter().rev().take_while(|block| {
            transactions += block.block().transactions.len();
            output_bytes += block.output_bytes();
            transactions <= RECENT_TRANSACTIONS_MAX && output_bytes <= RECENT_OUTPUT_BYTES_MAX
        });
        let retained = retained.take(RECENT_BLOCKS_MAX).count().max(1);
        recent.drain(..recent.len().saturating_sub(retained));
        Self {
            ledger_info,
            recent,
        }
    }
}

/// Returns the ledger info at `tip`, with the other fields of `previous`.
fn at_tip(previous: &LedgerInfo, tip: &ChainTip) -> LedgerInfo {
    LedgerInfo {
        epoch: tip.epoch,
        version: tip.version,
        block_height: tip.height,
        timestamp_usecs: tip.timestamp_usecs,
        ..*previous
    }
}

/// The published Head with its account cache.
#[derive(Debug)]
struct HeadCell {
    published: ArcSwap<PublishedHead>,
    /// Accounts at `published`, which changes only under this lock.
    accounts: RwLock<AccountCache>,
}

/// The reading side of the Head. Clones are cheap and share the value.
#[derive(Clone, Debug)]
pub(crate) struct HeadReader {
    cell: Arc<HeadCell>,
    horizon: PruneHorizon,
}

impl HeadReader {
    /// Returns the Head.
    ///
    /// A later call never returns an older Head, nor a lower oldest version.
    pub(crate) fn load(&self) -> Head {
        // Loaded before the Head, because a prune step removes only versions below a published
        // Head. So the Head that is loaded next is not below this horizon.
        let horizon = self.horizon.load();
        let published = self.cell.published.load_full();
        Head {
            ledger_info: with_horizon(&published.ledger_info, horizon),
            published,
        }
    }

    /// Returns the ledger info of the Head.
    ///
    /// Unlike [`Self::load`], it does not update the reference count of the Head.
    pub(crate) fn ledger_info(&self) -> LedgerInfo {
        // Loaded before the Head, as in `load`.
        let horizon = self.horizon.load();
        with_horizon(&self.cell.published.load().ledger_info, horizon)
    }

    /// Calls `read` with the Head and the accounts at it. No block is published during the call.
    pub(crate) fn with_accounts<T>(&self, read: impl FnOnce(Head, &AccountCache) -> T) -> T {
        let accounts = self.cell.accounts.read();
        let accounts = accounts.unwrap_or_else(PoisonError::into_inner);
        read(self.load(), &accounts)
    }
}

/// Returns the ledger info with the oldest version and block height of `horizon`.
fn with_horizon(ledger_info: &LedgerInfo, horizon: Horizon) -> LedgerInfo {
    LedgerInfo {
        oldest_version: horizon.version,
        oldest_block_height: horizon.block_height,
        ..*ledger_info
    }
}

/// The writing side of the Head, which only the committer owns.
#[derive(Debug)]
pub(crate) struct HeadPublisher(HeadReader);

impl HeadPublisher {
    /// Creates the Head of a newly opened ledger. Every published Head takes its oldest version and
    /// block height from `horizon`.
    pub(crate) fn new(ledger_info: LedgerInfo, horizon: PruneHorizon) -> Self {
        let published = PublishedHead {
            ledger_info,
            recent: Vec::new(),
        };
        Self(HeadReader {
            cell: Arc::new(HeadCell {
                published: ArcSwap::from_pointee(published),
                accounts: RwLock::default(),
            }),
            horizon,
        })
    }

    /// Returns the reading side.
    pub(crate) fn reader(&self) -> HeadReader {
        self.0.clone()
    }

    /// Returns the Head.
    pub(crate) fn load(&self) -> Head {
        self.0.load()
    }

    /// Publishes durable blocks, with the accounts that they changed, and returns the new Head.
    ///
    /// This can drop the last reference to blocks that are no longer recent, and freeing them takes
    /// time. To defer that, the caller holds the previous Head.
    pub(crate) fn publish(&mut self, blocks: &[Arc<IndexedBlock>]) -> Head {
        let cell = &self.0.cell;
        let mut accounts = cell
            .accounts
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        for block in blocks {
            accounts.apply(block.account_updates());
        }
        let published = cell.published.load().after(blocks);
        cell.published.store(Arc::new(published));
        self.0.load()
    }
}

#[cfg(test)]
impl HeadPublisher {
    /// Creates the Head of a ledger that is never pruned.
    pub(crate) fn unpruned(ledger_info: LedgerInfo) -> Self {
        let horizon = super::prune_horizon::PruneHorizonPublisher::new(Horizon::of(&ledger_info));
        Self::new(ledger_info, horizon.horizon())
    }
}

#[cfg(test)]
impl Head {
    /// Returns the newest blocks, in ascending order.
    pub(crate) fn recent_blocks(&self) -> impl Iterator<Item = &Arc<ExecutedBlock>> {
        self.published.recent.iter().map(|indexed| indexed.block())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::{account_cache::AccountUpdates, prune_horizon::PruneHorizonPublisher};
    use bytes::Bytes;
    use ledger_execution::AccountSnapshot;
    use ledger_test_support::{
        block::{block, block_writing, ledger_info},
        draft::draft,
    };
    use ledger_types::{AccountAddress, StateKey};
    use std::thread;

    fn indexed(height: u64, numbers: std::ops::Range<u64>) -> Arc<IndexedBlock> {
        let transactions: Vec<_> = numbers.map(|number| draft(1, number).checked()).collect();
        IndexedBlock::without_updates(block(height, &transactions, &[]))
    }

    #[test]
    fn holds_recent_blocks_and_drops_older_ones() {
        let mut publisher = HeadPublisher::unpruned(ledger_info(0));
        for height in 1..=RECENT_BLOCKS_MAX as u64 + 1 {
            publisher.publish(&[indexed(height, height..height + 1)]);
        }
        let head = publisher.reader().load();
        assert_eq!(
            head.ledger_info().block_height,
            RECENT_BLOCKS_MAX as u64 + 1
        );
        assert!(head.committed(&draft(1, 1).checked().hash()).is_none());
        let committed = head.committed(&draft(1, 2).checked().hash()).unwrap();
        assert_eq!(
            (committed.version, committed.block_timestamp_usecs),
            (2_000, 2_000)
        );
        assert_eq!(
            committed.content().unwrap().hash,
            draft(1, 2).checked().hash()
        );
    }

    #[test]
    fn holds_the_newest_block_even_if_it_exceeds_all_bounds() {
        let large = indexed(1, 0..RECENT_TRANSACTIONS_MAX as u64 + 1);
        let mut publisher = HeadPublisher::unpruned(ledger_info(0));
        let head = publisher.publish(&[indexed(0, 0..1), large]);
        assert_eq!(head.recent_blocks().count(), 1);
    }

    #[test]
    fn drops_blocks_with_large_outputs_early_but_not_the_newest() {
        let writing = |height: u64, bytes: usize| {
            let value = Bytes::from(vec![0; bytes]);
            let key = StateKey::from_encoded(Bytes::from_static(b"key"));
            let block = block_writing(height, &[(key, Some(value))]);
            IndexedBlock::without_updates(Arc::new(block))
        };
        let mut publisher = HeadPublisher::unpruned(ledger_info(0));
        for height in 1..=5 {
            publisher.publish(&[writing(height, RECENT_OUTPUT_BYTES_MAX / 3)]);
        }
        assert_eq!(
            publisher.reader().load().recent_blocks().count(),
            2,
            "three values of a third, with their keys, exceed the bound"
        );
        let head = publisher.publish(&[writing(6, RECENT_OUTPUT_BYTES_MAX + 1)]);
        assert_eq!(head.recent_blocks().count(), 1);
        assert!(head.committed(&draft(1, 6).checked().hash()).is_some());
    }

    /// Returns publishers of a Head and of its horizon, which is raised to the arguments.
    fn pruned_publishers(
        version: u64,
        block_height: u64,
    ) -> (HeadPublisher, PruneHorizonPublisher) {
        let mut horizon = PruneHorizonPublisher::new(Horizon::of(&ledger_info(0)));
        horizon.raise(Horizon {
            version,
            block_height,
        });
        let publisher = HeadPublisher::new(ledger_info(0), horizon.horizon());
        (publisher, horizon)
    }

    #[test]
    fn does_not_return_pruned_transactions() {
        let (mut publisher, _horizon) = pruned_publishers(1_001, 1);
        let head = publisher.publish(&[indexed(1, 0..2)]);
        assert!(head.committed(&draft(1, 0).checked().hash()).is_none());
        assert!(head.committed(&draft(1, 1).checked().hash()).is_some());
        assert_eq!(head.ledger_info().oldest_version, 1_001);
    }

    #[test]
    fn retains_the_horizon_after_a_lower_one_is_reported() {
        let (mut publisher, mut horizon) = pruned_publishers(1_001, 1);
        let head = publisher.publish(&[indexed(1, 0..2)]);
        let info = |head: &Head| {
            let info = head.ledger_info();
            (
                info.block_height,
                info.oldest_block_height,
                info.oldest_version,
            )
        };
        assert_eq!(info(&head), (1, 1, 1_001));
        horizon.raise(Horizon {
            version: 0,
            block_height: 0,
        });
        assert_eq!(info(&publisher.reader().load()), (1, 1, 1_001));
        assert_eq!(
            publisher.reader().ledger_info(),
            *publisher.reader().load().ledger_info()
        );
    }

    // Each block raises the horizon to its first version, as the pruner does for the smallest
    // window.
    #[test]
    fn newest_version_is_never_below_the_oldest() {
        const BLOCKS: u64 = 20_000;
        let mut horizon = PruneHorizonPublisher::new(Horizon::of(&ledger_info(0)));
        let mut publisher = HeadPublisher::new(ledger_info(0), horizon.horizon());
        let reader = publisher.reader();
        thread::scope(|scope| {
            scope.spawn(move || {
                for height in 1..=BLOCKS {
                    let block = block(height, &[], &[]);
                    let raised = Horizon {
                        version: block.first_version,
                        block_height: height,
                    };
                    publisher.publish(&[IndexedBlock::without_updates(block)]);
                    horizon.raise(raised);
                }
            });
            let mut oldest = 0;
            while oldest < BLOCKS {
                for info in [*reader.load().ledger_info(), reader.ledger_info()] {
                    assert!(info.oldest_block_height <= info.block_height, "{info:?}");
                    assert!(
                        oldest <= info.oldest_block_height,
                        "the horizon decreased: {info:?}"
                    );
                    oldest = info.oldest_block_height;
                }
            }
        });
    }

    #[test]
    fn returns_accounts_at_the_version_of_the_head() {
        const BLOCKS: u64 = 5_000;
        const ACCOUNT: AccountAddress = AccountAddress::ONE;
        let mut publisher = HeadPublisher::unpruned(ledger_info(0));
        let reader = publisher.reader();
        let checked_height = || {
            let (height, account) = reader.with_accounts(|head, accounts| {
                (head.ledger_info().block_height, accounts.get(&ACCOUNT))
            });
            let sequence_number = account.map_or(0, |account| account.sequence_number);
            assert_eq!(sequence_number, height, "each block increments it");
            height
        };
        thread::scope(|scope| {
            scope.spawn(move || {
                for height in 1..=BLOCKS {
                    let account = AccountSnapshot {
                        sequence_number: height,
                        authentication_key: HashValue::ZERO,
                        balance: 0,
                        store: AccountAddress::ZERO,
                    };
                    let updates = AccountUpdates {
                        height,
                        accounts: vec![(ACCOUNT, account)],
                    };
                    let indexed = IndexedBlock::new(block(height, &[], &[]), updates, 0);
                    publisher.publish(&[Arc::new(indexed)]);
                }
            });
            while checked_height() < BLOCKS {}
        });
    }
}
