//! Monitor of the disk space of the data directory, and of the paths of the store's files.
//!
//! The paths are compared so that an idle node finds a file that was removed or replaced. The
//! writer compares them before it acknowledges a group of blocks.
//!
//! Submissions are rejected before a write fails. A node that runs low on disk space continues by
//! itself once space is free; a node whose write has failed needs a restart. The reserve also holds
//! the mempool that a stop saves, so accepted transactions are not lost.
//!
//! The reserve is what the writer needs to finish the blocks in flight, with their checkpoint and
//! the compaction beside it ([`write_space_bytes`]), and at least `storage.min_free_bytes`. The
//! writer checks its need again before each write. A group of blocks that the reserve did not
//! cover, because its transactions write much or another program takes the space, waits there.
//!
//! The pending transactions count as blocks in flight only for submissions. If they stopped the
//! start of blocks too, a shortage that they cause would never end: nothing would write them.
//!
//! Free pages inside the ledger file are not counted, because a block may need other pages than the
//! free ones. So the disk needs the reserve beside the file even if the file no longer grows.
//!
//! The monitor also forecasts when the space suffices no longer ([`forecast`]).

mod disks;
mod forecast;

use crate::{admin::StorageForecast, config::Settings};
use disks::DirectorySpace;
use forecast::{Growth, free_bytes};
use ledger_actors::{NodeHandle, Progress};
use ledger_store::write_space_bytes;
use std::{
    io,
    path::Path,
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};
use tokio::{
    sync::oneshot,
    task::JoinHandle,
    time::{MissedTickBehavior, interval},
};

/// Name of the thread that compares and measures.
const THREAD: &str = "disk-room";

/// Between two ticks. One costs a few system calls of about a microsecond. The writer checks the
/// space of what it writes between two of them.
const PROBE_INTERVAL: Duration = Duration::from_millis(250);

/// Part of a disk, one in so many, that limits `storage.min_free_bytes`, so that a small disk can
/// be used. It does not limit the need of the writer.
const DISK_PART: u64 = 10;

/// Size of a log record per signed byte of its transactions. That of transfers is 4 to 5.
const RECORD_BYTES_PER_SIGNED_BYTE: u64 = 6;

/// The disk space that must stay free.
#[derive(Clone, Copy, Debug)]
struct DiskReserve {
    min_free_bytes: u64,
    /// Maximum size of the blocks in flight, in signed bytes.
    in_flight_bytes_max: u64,
    /// Whether prune steps run beside the blocks.
    is_pruning: bool,
}

impl DiskReserve {
    /// Returns the configured reserve, or `None` if it is 0.
    fn of(settings: &Settings) -> Option<Self> {
        let sequencer = &settings.node.sequencer;
        // One more than the blocks in flight, because the sequencer may be receiving a batch.
        let blocks = (sequencer.blocks_in_flight_max as u64).saturating_add(1);
        (settings.storage.min_free_bytes > 0).then(|| Self {
            min_free_bytes: settings.storage.min_free_bytes,
            in_flight_bytes_max: blocks.saturating_mul(sequencer.block_bytes_max as u64),
            is_pruning: settings.node.pruner.enabled,
        })
    }

    /// Returns the reserve on the disk of the ledger, in bytes. `block_bytes` is the size of the
    /// transactions of blocks to come, in signed bytes.
    ///
    /// It covers as many of these blocks as are in flight, and a prune step, which moves about as
    /// much as the blocks since the last one have written.
    fn ledger_bytes(self, space: &DirectorySpace, block_bytes: u64) -> u64 {
        let in_flight = block_bytes.min(self.in_flight_bytes_max);
        let records = in_flight.saturating_mul(RECORD_BYTES_PER_SIGNED_BYTE);
        let pruned = if self.is_pruning { records } else { 0 };
        let content = records.saturating_add(pruned);
        let written = write_space_bytes(content, space.database, space.log_bytes);
        let configured = self.min_free_bytes.min(space.ledger.total / DISK_PART);
        configured.max(written)
    }

    /// Returns the shortages. `pool_bytes` is the size of the mempool that a stop would save.
    fn shortages(self, space: &DirectorySpace, pool_bytes: u64) -> Shortages {
        Shortages {
            pausing: self.shortage(space, pool_bytes, 0),
            pool: self.shortage(space, pool_bytes, pool_bytes),
        }
    }

    /// Returns a message if free space is below the reserve for the saved mempool of `pool_bytes`
    /// and for blocks of `block_bytes`.
    fn shortage(
        self,
        space: &DirectorySpace,
        pool_bytes: u64,
        block_bytes: u64,
    ) -> Option<Arc<str>> {
        let ledger_bytes = self.ledger_bytes(space, block_bytes);
        let wanted = match space.pool {
            None => [
                Some((space.ledger, ledger_bytes.saturating_add(pool_bytes))),
                None,
            ],
            Some(pool) => [Some((space.ledger, ledger_bytes)), Some((pool, pool_bytes))],
        };
        let mut wanted = wanted.into_iter().flatten();
        let (disk, reserve) = wanted.find(|(disk, reserve)| disk.free < *reserve)?;
        let (directory, free) = (space.directory.display(), disk.free);
        let is_too_small = reserve > disk.total.saturating_sub(space.node_bytes());
        let advice = match block_bytes {
            0 if is_too_small => "the disk is too small for this ledger",
            0 => "free disk space",
            // The disk may be large enough for the ledger once they are written.
            _ => "free disk space, or wait for these blocks",
        };
        let purpose = match block_bytes {
            0 => "storage.min_free_bytes or the next writes",
            _ => "blocks of the pending transactions",
        };
        Some(
            format!(
                "the disk of {directory} has {free} bytes free, below the reserve of {reserve} \
                 (for {purpose}, and the saved mempool); {advice}"
            )
            .into(),
        )
    }
}

/// Messages about low disk space.
#[derive(Debug, Default)]
struct Shortages {
    /// The shortage because of which no block is started, or `None` if there is none.
    pausing: Option<Arc<str>>,
    /// The shortage because of which only submissions are rejected. There is one whenever blocks
    /// are not started.
    pool: Option<Arc<str>>,
}

/// A task that compares the paths and measures the disk space at intervals, until this is dropped.
#[derive(Debug)]
pub(super) struct DiskSpaceMonitor(JoinHandle<()>);

impl DiskSpaceMonitor {
    /// Measures the disks of `directory` once, starts the task, and reports each result to `node`,
    /// and when the space will be used up to `forecast`. If no reserve is configured, low disk space is not reported.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system if a thread cannot be started.
    pub(super) async fn start(
        node: NodeHandle,
        settings: &Settings,
        directory: &Path,
        forecast: StorageForecast,
    ) -> io::Result<Self> {
        let progress = node.watch_thread(THREAD);
        let mut probe = DiskSpaceProbe {
            requests: start_probe_thread(node.clone(), directory, progress)?,
            node,
            reserve: DiskReserve::of(settings),
            pool_bytes: 0,
            has_failed: false,
            is_short: false,
            is_pausing: false,
            started: Instant::now(),
            growth: Growth::default(),
            forecast,
        };
        probe.run().await;
        Ok(Self(actix_web::rt::spawn(async move {
            let mut ticks = interval(PROBE_INTERVAL);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                ticks.tick().await;
                probe.run().await;
            }
        })))
    }
}

impl Drop for DiskSpaceMonitor {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A request to measure, with the sender of the result: `None` if a file of the store is not at
/// its path.
type ProbeRequest = oneshot::Sender<Option<io::Result<DirectorySpace>>>;

/// Starts the thread that compares the files of `node` with their paths and measures, on request.
/// It counts each request in `progress`, and ends when the sender is dropped.
///
/// A file system that hangs blocks only this thread. No other thread waits for its end.
fn start_probe_thread(
    node: NodeHandle,
    directory: &Path,
    progress: Arc<Progress>,
) -> io::Result<mpsc::Sender<ProbeRequest>> {
    let (sender, requests) = mpsc::channel::<ProbeRequest>();
    let directory: Arc<Path> = directory.into();
    thread::Builder::new()
        .name(THREAD.to_owned())
        .spawn(move || {
            for request in requests {
                let measured = progress.count(|| {
                    let is_in_place = node.check_files(THREAD);
                    is_in_place.then(|| DirectorySpace::of(&directory))
                });
                // An error means that the probe was dropped meanwhile.
                let _ = request.send(measured);
            }
        })?;
    Ok(sender)
}

/// The state of the task.
struct DiskSpaceProbe {
    node: NodeHandle,
    requests: mpsc::Sender<ProbeRequest>,
    /// The configured reserve, or `None` if free space is not compared with one.
    reserve: Option<DiskReserve>,
    /// Size of the mempool that a stop would save, in bytes, as last reported.
    pool_bytes: u64,
    /// Whether the last measurement failed.
    has_failed: bool,
    /// Whether the last report to the node was a shortage.
    is_short: bool,
    /// Whether it stopped the start of blocks.
    is_pausing: bool,
    started: Instant,
    growth: Growth,
    forecast: StorageForecast,
}

impl DiskSpaceProbe {
    async fn run(&mut self) {
        self.pool_bytes = self.node.saved_pool_bytes();
        let Some(measured) = self.measure().await else {
            return;
        };
        if let Ok(space) = &measured {
            self.update_forecast(space);
        }
        let Some(reserve) = self.reserve else {
            return;
        };
        match measured {
            Ok(space) => {
                self.has_failed = false;
                self.report(&reserve.shortages(&space, self.pool_bytes));
            }
            // Unknown space is no reason to reject submissions. If the disk is full, a write fails.
            Err(error) if !self.has_failed => {
                self.has_failed = true;
                tracing::warn!(%error, "the free disk space of the data directory cannot be measured");
                self.report(&Shortages::default());
            }
            Err(_) => {}
        }
    }

    /// Forecasts when the ledger has no more space.
    fn update_forecast(&mut self, space: &DirectorySpace) {
        let usage = self.node.store_usage();
        if usage.sequence == 0 {
            return;
        }
        let reserve = self.reserve;
        let reserve_bytes = reserve.map_or(0, |reserve| reserve.ledger_bytes(space, 0));
        let limit_bytes = self.node.config().pruner.window_bytes;
        let free = free_bytes(space, usage, self.pool_bytes, reserve_bytes, limit_bytes);
        self.growth.record(self.started.elapsed(), usage.used_bytes);
        self.forecast.set(match self.node.is_window_limited() {
            // The growth so far does not continue.
            true => Some(f64::INFINITY),
            false => self.growth.full_in_seconds(free),
        });
    }

    /// Measures the free space. Returns `None` if a file of the store is not at its path.
    async fn measure(&self) -> Option<io::Result<DirectorySpace>> {
        let (request, space) = oneshot::channel();
        if let Err(error) = self.requests.send(request) {
            return Some(Err(io::Error::other(error)));
        }
        space
            .await
            .unwrap_or_else(|error| Some(Err(io::Error::other(error))))
    }

    /// Reports the shortages to the node, and logs changes.
    fn report(&mut self, Shortages { pausing, pool }: &Shortages) {
        self.node.report_disk_space(pausing.as_ref());
        self.node.report_pool_space(pool.as_ref());
        let was_short = std::mem::replace(&mut self.is_short, pool.is_some());
        let was_pausing = std::mem::replace(&mut self.is_pausing, pausing.is_some());
        match (pausing, pool) {
            (Some(cause), _) if !was_pausing => tracing::error!(
                %cause,
                "low disk space: submissions are rejected and no block is started until space is free"
            ),
            (None, Some(cause)) if !was_short || was_pausing => tracing::error!(
                %cause,
                "low disk space: submissions are rejected until space is free or pending \
                 transactions are written"
            ),
            (None, None) if was_short => {
                tracing::info!("disk space is sufficient again: submissions are accepted");
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
