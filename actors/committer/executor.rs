//! The executor thread: executes ordered blocks on the newest state.
//!
//! A block is executed while the one before it is written. Writes that are not durable yet are in the
//! [`StateCache`], the rest of the state is in the store.

use super::state_cache::StateCache;
use crate::{
    error::{FaultKind, StorageFault},
    protocol::{commit_queue::CommitQueue, durable_reader::DurableReader},
    runtime::{fatal::FatalErrorReporter, mailbox::Recipient, worker::WorkerThread},
    state::{
        account_cache::{AccountCache, AccountUpdates},
        committed::IndexedBlock,
        head::HeadReader,
    },
};
use bytes::Bytes;
use crossbeam_channel::Receiver;
use ledger_execution::{AccountSnapshot, ExecuteError, execute_block};
use ledger_store::{Snapshot, StoreError};
use ledger_types::{AccountAddress, ChainTip, ExecutedBlock, OrderedBlock, StateError, StateKey};
use ledger_vm::Chain;
use std::{
    cell::{OnceCell, RefCell},
    collections::BTreeMap,
    ops::ControlFlow,
    sync::Arc,
};

/// Name of the thread.
const THREAD: &str = "executor";

/// The state of the executor thread: the end of the chain, and caches of its state.
#[derive(Debug)]
pub(crate) struct Executor {
    chain: Chain,
    tip: ChainTip,
    reader: DurableReader,
    /// The store has the blocks up to the Head, or is about to apply them.
    head: HeadReader,
    cache: RefCell<StateCache>,
    accounts: AccountCache,
}

impl Executor {
    /// Creates an executor that continues after `tip`, the newest block of the store.
    pub(crate) fn new(
        chain: Chain,
        tip: ChainTip,
        reader: DurableReader,
        head: HeadReader,
    ) -> Self {
        Self {
            chain,
            tip,
            reader,
            head,
            cache: RefCell::new(StateCache::new()),
            accounts: AccountCache::default(),
        }
    }

    /// Creates the thread that executes the blocks of a queue and passes them to the writer.
    ///
    /// It ends when the sending side of `ordered` is dropped, or with the first block that it cannot
    /// execute: later blocks build on it.
    pub(super) fn serve(
        mut self,
        ordered: Receiver<OrderedBlock>,
        commits: CommitQueue,
        faults: Recipient<StorageFault>,
        reporter: FatalErrorReporter,
    ) -> WorkerThread<OrderedBlock> {
        WorkerThread::new(THREAD, ordered, move |block, _| match self.execute(block) {
            Ok(executed) => {
                commits.commit(executed);
                ControlFlow::Continue(())
            }
            Err(error) => {
                match error {
                    ExecutionFailure::Disk(fault) => faults.send(fault),
                    ExecutionFailure::Store(error) => reporter.report(THREAD, &error),
                    ExecutionFailure::Block(error) => reporter.report(THREAD, &error),
                }
                ControlFlow::Break(())
            }
        })
    }

    /// Executes the next block.
    fn execute(&mut self, block: OrderedBlock) -> Result<Arc<IndexedBlock>, ExecutionFailure> {
        let durable_height = self.head.ledger_info().block_height;
        self.cache.get_mut().set_durable(durable_height);
        let state = State {
            cache: &self.cache,
            reader: &self.reader,
            durable_height,
            snapshot: OnceCell::new(),
            failed: OnceCell::new(),
        };
        let executed = execute_on(&state, &self.chain, &self.tip, &self.accounts, block);
        let (block, updates) = executed.map_err(|error| match state.failed.into_inner() {
            Some(failed) => match StorageFault::of(THREAD, FaultKind::Read, &failed) {
                Some(fault) => ExecutionFailure::Disk(fault),
                None => ExecutionFailure::Store(failed),
            },
            None => ExecutionFailure::Block(error),
        })?;
        self.tip = block.tip.clone();
        self.accounts.apply(&updates);
        Ok(Arc::new(IndexedBlock::new(Arc::new(block), updates)))
    }
}

/// Executes a block on `state` and adds its writes to the state's cache. `accounts` holds accounts as
/// they are before the block.
///
/// Returns the block and the accounts that it changed.
fn execute_on(
    state: &State<'_>,
    chain: &Chain,
    tip: &ChainTip,
    accounts: &AccountCache,
    block: OrderedBlock,
) -> Result<(ExecutedBlock, AccountUpdates), ExecuteError> {
    let view = |key: &StateKey| state.get(key);
    let block = execute_block(chain, tip, &view, block)?;
    state.cache.borrow_mut().apply(&block);
    let read = |address: &AccountAddress| AccountSnapshot::read(chain, &view, address);
    let updates = account_updates(accounts, chain, &block, &read)?;
    Ok((block, updates))
}

/// Returns the accounts that the user transactions of a block changed, as they are after it.
///
/// A cached account is updated by each write. Another one is read with `read`, which reads the state after
/// the block.
fn account_updates(
    accounts: &AccountCache,
    chain: &Chain,
    block: &ExecutedBlock,
    read: &dyn Fn(&AccountAddress) -> Result<AccountSnapshot, StateError>,
) -> Result<AccountUpdates, StateError> {
    let users = block
        .transactions
        .iter()
        .filter(|executed| executed.transaction.as_user().is_some());
    let mut changed = BTreeMap::new();
    for (key, write) in users.flat_map(|executed| executed.writes.iter()) {
        let Some(address) = key.address() else {
            continue;
        };
        let known = changed
            .get(&address)
            .copied()
            .or_else(|| accounts.get(&address));
        let after = match known {
            Some(known) => {
                AccountSnapshot::after_write(known, chain, &address, (key, write.value()))?
            }
            None => read(&address)?,
        };
        changed.insert(address, after);
    }
    Ok(AccountUpdates {
        height: block.height(),
        accounts: changed.into_iter().collect(),
    })
}

/// The reason why a block was not executed.
#[derive(Debug)]
enum ExecutionFailure {
    /// The state could not be read, because of the disk.
    Disk(StorageFault),
    /// The state could not be read for another reason.
    Store(StoreError),
    /// The block contradicts the state or the chain.
    Block(ExecuteError),
}

/// The newest state during the execution of a block. It opens a snapshot of the store at most once, when
/// the cache misses.
struct State<'a> {
    cache: &'a RefCell<StateCache>,
    reader: &'a DurableReader,
    /// Height of a block from which on all writes are in the cache. Earlier ones are in the store.
    durable_height: u64,
    snapshot: OnceCell<Snapshot>,
    /// The first error of the store. Execution returns its description only, but its kind decides whether
    /// the process ends.
    failed: OnceCell<StoreError>,
}

impl State<'_> {
    fn get(&self, key: &StateKey) -> Result<Option<Bytes>, StateError> {
        if let Some(value) = self.cache.borrow_mut().get(key) {
            return Ok(value);
        }
        let failed = |error: StoreError| {
            let words = error.to_string();
            let _ = self.failed.set(error);
            StateError(words)
        };
        let snapshot = match self.snapshot.get() {
            Some(snapshot) => snapshot,
            None => {
                let snapshot = self.reader.snapshot(self.durable_height).map_err(failed)?;
                self.snapshot.get_or_init(|| snapshot)
            }
        };
        let version = snapshot.ledger_info().version;
        let value = snapshot.state_value(key, version).map_err(failed)?;
        self.cache.borrow_mut().add_read(key.clone(), value.clone());
        Ok(value)
    }
}
