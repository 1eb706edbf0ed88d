//! Watches the room on the disk of the ledger, so that submissions are refused before a write fails: a node
//! that has stopped by itself in time goes on by itself, one whose write has failed needs a restart. What is
//! kept free also holds the pool, which a stop saves: what was accepted is not lost for want of room.
//!
//! What the database has free inside its file is not seen: it is the room of commits to come, but how much it
//! is only a walk over the whole file tells. So a disk that a ledger fills whose window is full, and which
//! grows no more, must still have the reserve beside the file.

mod disks;

use crate::config::Settings;
use disks::{DirectorySpace, DiskSpace};
use ledger_actors::NodeHandle;
use std::{
    io,
    path::Path,
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};
use tokio::{
    sync::oneshot,
    task::JoinHandle,
    time::{MissedTickBehavior, interval},
};

/// Between two ticks. One costs a few system calls of about a microsecond; between two of them a fast disk
/// takes less than the reserve.
const PROBE_INTERVAL: Duration = Duration::from_millis(250);

/// `storage.min_free_bytes` counts up to this part of a disk, so that one that is small altogether can be used.
const DISK_PART: u64 = 10;

/// What a commit writes for each signed byte of its transactions, about: rows, and pages that are written anew.
const WRITTEN_PER_SIGNED_BYTE: u64 = 4;

/// What is kept free.
#[derive(Clone, Copy, Debug)]
struct DiskReserve {
    min_free_bytes: u64,
    /// The most signed bytes of blocks on their way.
    in_flight_bytes_max: u64,
}

impl DiskReserve {
    /// As it is configured; `None` where nothing is kept.
    fn of(settings: &Settings) -> Option<Self> {
        let sequencer = &settings.sequencer;
        // A block more than are in flight: a batch may be on its way to the sequencer.
        let blocks = (sequencer.blocks_in_flight_max as u64).saturating_add(1);
        (settings.storage.min_free_bytes > 0).then(|| Self {
            min_free_bytes: settings.storage.min_free_bytes,
            in_flight_bytes_max: blocks.saturating_mul(sequencer.block_bytes_max as u64),
        })
    }

    /// On the disk of the ledger, for what is on its way and is finished: no more than is in the pool.
    fn ledger_bytes(self, disk: DiskSpace, pool_bytes: u64) -> u64 {
        let in_flight = pool_bytes.min(self.in_flight_bytes_max);
        let written = in_flight.saturating_mul(WRITTEN_PER_SIGNED_BYTE);
        self.min_free_bytes.min(disk.total / DISK_PART).max(written)
    }

    /// Why there is too little room, in words, while a stop would save the pool in `pool_bytes`.
    fn shortage(self, space: &DirectorySpace, pool_bytes: u64) -> Option<Arc<str>> {
        let ledger_bytes = self.ledger_bytes(space.ledger, pool_bytes);
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
        Some(
            format!(
                "the disk of {directory} has {free} bytes free, and {reserve} are kept \
                 (storage.min_free_bytes, and what saving the pool takes); make room on it"
            )
            .into(),
        )
    }
}

/// Looks again and again until it is dropped.
#[derive(Debug)]
pub(super) struct DiskSpaceMonitor(JoinHandle<()>);

impl DiskSpaceMonitor {
    /// Looks at once, then in intervals; tells `node` whether its disk has room. `None` where the settings
    /// keep no room.
    ///
    /// # Errors
    /// When a thread cannot be started.
    pub(super) async fn start(node: NodeHandle, settings: &Settings) -> io::Result<Option<Self>> {
        let Some(reserve) = DiskReserve::of(settings) else {
            return Ok(None);
        };
        let mut probe = DiskSpaceProbe {
            node,
            requests: start_probe_thread(&settings.storage.data_dir)?,
            reserve,
            pool_bytes: 0,
            has_failed: false,
            is_short: false,
        };
        probe.run().await;
        Ok(Some(Self(actix_web::rt::spawn(async move {
            let mut ticks = interval(PROBE_INTERVAL);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                ticks.tick().await;
                probe.run().await;
            }
        }))))
    }
}

impl Drop for DiskSpaceMonitor {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A look, to be answered.
type ProbeRequest = oneshot::Sender<io::Result<DirectorySpace>>;

/// A thread that looks when it is asked, and ends when nobody can ask any more. A file system that hangs holds
/// up this thread and nothing else; nobody waits for its end.
fn start_probe_thread(directory: &Path) -> io::Result<mpsc::Sender<ProbeRequest>> {
    let (sender, requests) = mpsc::channel::<ProbeRequest>();
    let directory: Arc<Path> = directory.into();
    thread::Builder::new()
        .name("disk-room".to_owned())
        .spawn(move || {
            for request in requests {
                // An error means that the probe was dropped meanwhile.
                let _ = request.send(DirectorySpace::of(&directory));
            }
        })?;
    Ok(sender)
}

struct DiskSpaceProbe {
    node: NodeHandle,
    requests: mpsc::Sender<ProbeRequest>,
    reserve: DiskReserve,
    /// In how many bytes a stop would save the pool, as far as the pool has told.
    pool_bytes: u64,
    /// Whether the last look failed.
    has_failed: bool,
    /// Whether the node was last told that there is too little room.
    is_short: bool,
}

impl DiskSpaceProbe {
    async fn run(&mut self) {
        // A mempool with too much to do tells it the next time.
        if let Ok(bytes) = self.node.saved_pool_bytes().await {
            self.pool_bytes = bytes;
        }
        match self.measure().await {
            Ok(space) => {
                self.has_failed = false;
                let shortage = self.reserve.shortage(&space, self.pool_bytes);
                self.report(shortage);
            }
            // What cannot be known is no reason to refuse; should there be no room, the write says so.
            Err(error) if !self.has_failed => {
                self.has_failed = true;
                tracing::warn!(%error, "how much room the data directory has is unknown");
                self.report(None);
            }
            Err(_) => {}
        }
    }

    async fn measure(&self) -> io::Result<DirectorySpace> {
        let (request, space) = oneshot::channel();
        self.requests.send(request).map_err(io::Error::other)?;
        space.await.map_err(io::Error::other)?
    }

    fn report(&mut self, shortage: Option<Arc<str>>) {
        self.node.report_disk_space(shortage.as_ref());
        if shortage.is_some() == self.is_short {
            return;
        }
        self.is_short = shortage.is_some();
        match shortage {
            Some(cause) => tracing::error!(
                %cause,
                "submissions are refused and no block is begun until there is room"
            ),
            None => tracing::info!("the disk has room again: submissions are taken"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::SETTINGS;

    fn space(ledger: DiskSpace, pool: Option<DiskSpace>) -> DirectorySpace {
        DirectorySpace {
            directory: Path::new("some/data").into(),
            ledger,
            pool,
        }
    }

    const RESERVE: DiskReserve = DiskReserve {
        min_free_bytes: 100,
        in_flight_bytes_max: 50,
    };

    fn is_too_low(free: u64, total: u64, pool_bytes: u64) -> bool {
        let space = space(DiskSpace { free, total }, None);
        RESERVE.shortage(&space, pool_bytes).is_some()
    }

    #[test]
    fn the_reserve_is_what_was_asked_for_and_at_most_a_tenth_of_the_disk() {
        assert!(is_too_low(99, 10_000, 0));
        assert!(!is_too_low(100, 10_000, 0));
        assert!(is_too_low(49, 500, 0), "a small disk keeps a tenth");
        assert!(!is_too_low(50, 500, 0));
        assert!(
            !is_too_low(0, 0, 0),
            "a disk that does not tell is not refused"
        );
    }

    #[test]
    fn the_pool_comes_on_top_and_so_does_what_is_on_its_way_where_it_is_more() {
        assert!(is_too_low(109, 10_000, 10));
        assert!(!is_too_low(110, 10_000, 10));
        assert!(
            is_too_low(199, 500, 40),
            "160 for blocks and 40 for the file"
        );
        assert!(!is_too_low(200, 500, 40));
        assert!(
            is_too_low(1_199, 500, 1_000),
            "no more than 50 are on their way"
        );
        assert!(!is_too_low(1_200, 500, 1_000));
        assert!(is_too_low(u64::MAX - 1, 10_000, u64::MAX));
    }

    #[test]
    fn a_ledger_on_another_disk_than_its_directory_needs_room_on_both() {
        let disk = |free| DiskSpace {
            free,
            total: 10_000,
        };
        let is_too_low = |ledger, pool| {
            let space = space(disk(ledger), Some(disk(pool)));
            RESERVE.shortage(&space, 10).is_some()
        };
        assert!(is_too_low(99, 1_000));
        assert!(!is_too_low(100, 10));
        assert!(is_too_low(100, 9));
    }

    #[test]
    fn the_reserve_follows_the_size_of_blocks_and_0_is_off() {
        let defaults: Vec<_> = SETTINGS.iter().map(|setting| (setting.default)()).collect();
        let mut settings = Settings::from_values(&defaults);
        let before = DiskReserve::of(&settings).unwrap().in_flight_bytes_max;
        settings.sequencer.block_bytes_max *= 2;
        let larger = DiskReserve::of(&settings).unwrap().in_flight_bytes_max;
        assert_eq!(larger, 2 * before);
        settings.sequencer.blocks_in_flight_max += 1;
        assert!(DiskReserve::of(&settings).unwrap().in_flight_bytes_max > larger);
        settings.storage.min_free_bytes = 0;
        assert!(DiskReserve::of(&settings).is_none());
    }

    #[test]
    fn the_words_name_the_directory_the_setting_and_the_way_out() {
        let disk = DiskSpace {
            free: 7,
            total: 1_000_000,
        };
        let words = RESERVE.shortage(&space(disk, None), 0).unwrap();
        for part in [
            "some/data",
            "7 bytes free",
            "storage.min_free_bytes",
            "make room",
        ] {
            assert!(words.contains(part), "{words}");
        }
    }
}
