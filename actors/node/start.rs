//! The start of a node.

use super::{
    Node,
    parts::Parts,
    threads::{Threads, watch},
    wires::{Opened, OpenedConsensus},
    wiring::Wiring,
};
#[cfg(test)]
use crate::relay::RelaySender;
use crate::{
    Clock, NodeConfig, StartError,
    engine::ConsensusStart,
    mempool::{
        Pool,
        persistence::restore::{Restored, RestoredFile, restore},
    },
    runtime::{arbiters::Arbiters, clock::LedgerClock, fatal::FatalErrorReporter},
    sequencer::bft::restore::restore as restore_consensus,
};
use ledger_store::Store;
use ledger_vm::Chain;
use std::path::Path;

impl Node {
    /// Starts all actors and threads on a store whose genesis block is committed.
    ///
    /// A graceful stop saves the mempool in the file `mempool.bcs` of `data_dir`, and a start
    /// restores it from there. The file stays until [`Node::discard_saved_pool`]. Without a
    /// directory the mempool is not saved.
    ///
    /// # Errors
    ///
    /// Returns [`StartError::NoSystem`] outside an actix system, [`StartError::Store`] or
    /// [`StartError::SavedPool`] if the store or the saved mempool cannot be read, and
    /// [`StartError::Thread`] if a thread cannot be started. No block was ordered, and the saved
    /// mempool is unchanged.
    pub async fn start(
        chain: Chain,
        store: Store,
        data_dir: Option<&Path>,
        config: NodeConfig,
    ) -> Result<Self, StartError> {
        Self::start_with_clock(chain, store, data_dir, config, Clock::default()).await
    }

    /// Starts a node with the clock of the caller.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Node::start`].
    pub async fn start_with_clock(
        chain: Chain,
        store: Store,
        data_dir: Option<&Path>,
        config: NodeConfig,
        clock: Clock,
    ) -> Result<Self, StartError> {
        Self::start_opened(open(chain, store, data_dir, config, clock)?, data_dir)
    }

    /// Starts a node of a chain of several validators. Its engine sends requests to
    /// [`NodeHandle::engine_requests`](crate::NodeHandle::engine_requests). Also returns the height
    /// that the engine decides first.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Node::start`], and [`StartError::Store`] if the consensus log cannot
    /// be read.
    pub async fn start_with_consensus(
        chain: Chain,
        store: Store,
        data_dir: Option<&Path>,
        config: NodeConfig,
        consensus: ConsensusStart,
    ) -> Result<(Self, u64), StartError> {
        let (mut opened, file) = open(chain, store, data_dir, config, Clock::default())?;
        opened.relay = consensus.relay.clone();
        let (start, log) = restore_consensus(consensus, &opened.chain, opened.tip.clone())?;
        let next_height = start.next_height();
        opened.consensus = Some(OpenedConsensus { start, log });
        let node = Self::start_opened((opened, file), data_dir)?;
        Ok((node, next_height))
    }

    /// Starts a node that orders alone, and asks other nodes through `relay`.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Node::start`].
    #[cfg(test)]
    pub(super) fn start_with_relay(
        chain: Chain,
        store: Store,
        config: NodeConfig,
        relay: RelaySender,
    ) -> Result<Self, StartError> {
        let (mut opened, file) = open(chain, store, None, config, Clock::default())?;
        opened.relay = Some(relay);
        Self::start_opened((opened, file), None)
    }

    fn start_opened(
        (opened, restored_file): (Opened, Option<RestoredFile>),
        data_dir: Option<&Path>,
    ) -> Result<Self, StartError> {
        if !Arbiters::can_start() {
            return Err(StartError::NoSystem);
        }
        let reporter = FatalErrorReporter::new();
        let arbiters = Arbiters::start(opened.config.actors.threads, reporter.clone())
            .map_err(StartError::Thread)?;
        let wiring = Wiring::new(&opened, &arbiters, &reporter);
        let parts = Parts::new(opened, wiring, &reporter);
        let handle = parts.handle;
        let threads =
            Threads::spawn(parts.workers, parts.services, &handle).map_err(StartError::Thread)?;
        let stall_monitor = watch(&handle).map_err(StartError::Thread)?;
        // After all that can fail: from here on, blocks are ordered.
        parts.actors.run(&arbiters, parts.inboxes);
        Ok(Self {
            handle,
            data_dir: data_dir.map(Path::to_owned),
            restored_file,
            arbiters,
            threads,
            stall_monitor,
        })
    }
}

/// Splits the store, and restores the saved mempool of `data_dir`, whose file is returned.
///
/// # Errors
///
/// Returns [`StartError::Store`] or [`StartError::SavedPool`] if the store or the saved mempool
/// cannot be read.
fn open(
    chain: Chain,
    store: Store,
    data_dir: Option<&Path>,
    config: NodeConfig,
    clock: Clock,
) -> Result<(Opened, Option<RestoredFile>), StartError> {
    let (files, scrubber) = (store.files(), store.scrubber());
    let (mut writer, reader) = store.split();
    let tip = reader.chain_tip()?;
    let ledger_info = *reader.snapshot()?.ledger_info();
    let clock = LedgerClock::new(clock, &config.sequencer, tip.timestamp_usecs);
    let (limits, now_secs) = (&config.mempool, clock.now_secs());
    let Restored { pool, file } = match data_dir {
        Some(directory) => restore(limits, directory, &chain, &reader, now_secs)?,
        None => Restored {
            pool: Pool::new(limits.clone()),
            file: None,
        },
    };
    let opened = Opened {
        chain,
        config,
        clock,
        pool,
        usage: writer.measure_usage(),
        writer,
        reader,
        files,
        scrubber,
        tip,
        ledger_info,
        consensus: None,
        relay: None,
    };
    Ok((opened, file))
}
