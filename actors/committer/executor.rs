//! The executor thread: executes ordered blocks on the newest state.
//!
//! A block is executed while the writer thread appends its predecessor. The [`StateCache`] holds
//! the writes of blocks that are not durable yet. The store holds the rest of the state.

use super::state_cache::StateCache;
use crate::{
    error::{FaultKind, StorageFault},
    protocol::{commit_queue::CommitQueue, durable_reader::DurableReader},
    runtime::{fatal::FatalErrorReporter, mailbox::Recipient, worker::WorkerThread},
    state::{
        account_cache::{AccountCache, AccountUpdates},
        committed::IndexedBlock,
        flight_recorder::{BlockStage, FlightRecorder},
        head::HeadReader,
    },
};
use bytes::Bytes;
use crossbeam_channel::Receiver;
use ledger_execution::{AccountSnapshot, ExecuteError, execute_block, written_account};
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
pub(crate) const THREAD: &str = "executor";

/// The state of the executor thread: the tip of the executed chain, and caches of the chain's
/// state.
#[derive(Debug)]
pub(crate) struct Executor {
    chain: Chain,
    /// Tip after the newest executed block.
    tip: ChainTip,
    reader: DurableReader,
    /// Source of the durable height. Blocks up to the Head are applied to the store, or can be
    /// applied on request.
    head: HeadReader,
    cache: RefCell<StateCache>,
    /// Accounts after the newest executed block.
    accounts: AccountCache,
    recorder: FlightRecorder,
}

impl Executor {
    /// Creates an executor that continues after `tip`, the newest block of the store.
    pub(crate) fn new(
        chain: Chain,
        tip: ChainTip,
        reader: DurableReader,
        head: HeadReader,
        recorder: FlightRecorder,
    ) -> Self {
        Self {
            chain,
            tip,
            reader,
            head,
            cache: RefCell::new(StateCache::new()),
            accounts: AccountCache::default(),
            recorder,
        }
    }

    /// Creates the thread that executes the blocks of `ordered` and sends them to the writer.
    ///
    /// The thread ends when the sending side of `ordered` is dropped, or at the first block that it
    /// cannot execute, because later blocks build on that block. It sends a fault of the disk, or a
    /// result that differs from the decided one, to `faults`. It reports any other error to
    /// `reporter`.
    pub(crate) fn serve(
        mut self,
        ordered: Receiver<OrderedBlock>,
        commits: CommitQueue,
        faults: Recipient<StorageFault>,
        reporter: FatalErrorReporter,
    ) -> WorkerThread<OrderedBlock> {
        let recorder = self.recorder.clone();
        let waited =
            move |block: &OrderedBlock| recorder.time_since(BlockStage::Ordered, block.height);
        let thread =
            WorkerThread::new(THREAD, ordered, move |block, _| match self.execute(block) {
                Ok(executed) => {
                    commits.commit(executed);
                    ControlFlow::Continue(())
                }
                Err(error) => {
                    match error {
                        ExecutionFailure::Fault(fault) => faults.send(fault),
                        ExecutionFailure::Store(error) => reporter.report(THREAD, &error),
                        ExecutionFailure::Block(error) => reporter.report(THREAD, &error),
                    }
                    ControlFlow::Break(())
                }
            });
        thread.with_waited(waited)
    }

    /// Executes the next block.
    ///
    /// # Errors
    ///
    /// Returns [`ExecutionFailure`] if the state cannot be read, or if the block contradicts the
    /// state, the chain, or the results of this node. The tip stays the same.
    fn execute(&mut self, block: OrderedBlock) -> Result<Arc<IndexedBlock>, ExecutionFailure> {
        let begun_usecs = self.recorder.clock().thread_processor_usecs();
        self.recorder
            .record(BlockStage::ExecutionBegun, [block.height]);
        let durable_height = self.head.ledger_info().block_height;
        self.cache.get_mut().set_durable_height(durable_height);
        let state = State {
            cache: &self.cache,
            reader: &self.reader,
            durable_height,
            snapshot: OnceCell::new(),
            store_error: OnceCell::new(),
        };
        let executed = execute_on(&state, &self.chain, &self.tip, &self.accounts, block);
        let (block, updates) = executed.map_err(|error| match state.store_error.into_inner() {
            Some(error) => match StorageFault::of(THREAD, FaultKind::Read, &error) {
                Some(fault) => ExecutionFailure::Fault(fault),
                None => ExecutionFailure::Store(error),
            },
            None => match error {
                ExecuteError::Diverged { .. } => {
                    ExecutionFailure::Fault(StorageFault::diverged(THREAD, &error))
                }
                error => ExecutionFailure::Block(error),
            },
        })?;
        self.tip = block.tip.clone();
        self.accounts.apply(&updates);
        self.recorder.record(BlockStage::Executed, [block.height()]);
        let ended_usecs = self.recorder.clock().thread_processor_usecs();
        Ok(Arc::new(IndexedBlock::new(
            Arc::new(block),
            updates,
            ended_usecs.saturating_sub(begun_usecs),
        )))
    }
}

/// Executes a block on `state` and adds its writes to the state's cache.
///
/// `accounts` caches accounts as they are before the block. Returns the executed block and the
/// accounts that it changed.
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

/// Returns the accounts that the user transactions of a block changed, as they are after the block.
///
/// Each write updates its account if `accounts` caches it. An account that is not cached is read
/// with `read`, which must read the state after the block.
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
        let Some(address) = written_account(chain, (key, write.value()))? else {
            continue;
        };
        let cached = changed
            .get(&address)
            .copied()
            .or_else(|| accounts.get(&address));
        let after = match cached {
            Some(cached) => {
                AccountSnapshot::after_write(cached, chain, &address, (key, write.value()))?
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
    /// A read of the state failed because of a fault of the disk, or a result of this node differs
    /// from the one that the validators decided.
    Fault(StorageFault),
    /// A read of the state failed for another reason.
    Store(StoreError),
    /// The block contradicts the state or the chain.
    Block(ExecuteError),
}

/// The newest state during the execution of a block.
///
/// It opens at most one snapshot of the store, at the first miss of the cache.
struct State<'a> {
    cache: &'a RefCell<StateCache>,
    reader: &'a DurableReader,
    /// Height of a durable block. The cache holds all writes of later blocks. Other writes are in
    /// the snapshot.
    durable_height: u64,
    snapshot: OnceCell<Snapshot>,
    /// The first error of the store. Execution returns only its description, but its kind decides
    /// whether the process ends.
    store_error: OnceCell<StoreError>,
}

impl State<'_> {
    /// Returns the newest value of `key`, or `None` if it has no value.
    ///
    /// # Errors
    ///
    /// Returns the description of the store's error, which `store_error` records if it is the
    /// first.
    fn get(&self, key: &StateKey) -> Result<Option<Bytes>, StateError> {
        if let Some(value) = self.cache.borrow_mut().get(key) {
            return Ok(value);
        }
        let record_error = |error: StoreError| {
            let description = error.to_string();
            // An error means that an earlier error of the store is recorded.
            let _ = self.store_error.set(error);
            StateError(description)
        };
        let snapshot = match self.snapshot.get() {
            Some(snapshot) => snapshot,
            None => {
                let snapshot = self
                    .reader
                    .snapshot(self.durable_height)
                    .map_err(record_error)?;
                self.snapshot.get_or_init(|| snapshot)
            }
        };
        let version = snapshot.ledger_info().version;
        let value = snapshot.state_value(key, version).map_err(record_error)?;
        self.cache.borrow_mut().add_read(key.clone(), value.clone());
        Ok(value)
    }
}
