//! Watches the room on the disk of the ledger, so that submissions are refused before a write fails: a node
//! that has stopped by itself in time goes on by itself, one whose write has failed needs a restart. What is
//! kept free also holds the pool, which a stop saves: what was accepted is not lost for want of room.
//!
//! What the database has free inside its file is not seen: it is the room of commits to come, but how much it
//! is only a walk over the whole file tells. So a disk that a ledger fills whose window is full, and which
//! grows no more, must still have the reserve beside the file.

mod disks;

use crate::config::Settings;
use disks::{Room, Rooms};
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

/// Between two looks. One costs a few system calls of about a microsecond; between two of them a fast disk
/// takes less than the reserve.
const LOOK_INTERVAL: Duration = Duration::from_millis(250);

/// `storage.min_free_bytes` counts up to this part of a disk, so that one that is small altogether can be used.
const DISK_PART: u64 = 10;

/// What a commit writes for each signed byte of its transactions, about: rows, and pages that are written anew.
const WRITTEN_PER_SIGNED_BYTE: u64 = 4;

/// What is kept free.
#[derive(Clone, Copy, Debug)]
struct Reserve {
    min_free_bytes: u64,
    /// The most signed bytes of blocks on their way.
    in_flight_bytes_max: u64,
}

impl Reserve {
    /// As it is configured; `None` where nothing is kept.
    fn of(settings: &Settings) -> Option<Self> {
        let sequencer = &settings.node.sequencer;
        // A block more than are in flight: a batch may be on its way to the sequencer.
        let blocks = (sequencer.blocks_in_flight_max as u64).saturating_add(1);
        (settings.storage.min_free_bytes > 0).then(|| Self {
            min_free_bytes: settings.storage.min_free_bytes,
            in_flight_bytes_max: blocks.saturating_mul(sequencer.block_bytes_max as u64),
        })
    }

    /// On the disk of the ledger, for what is on its way and is finished: no more than is in the pool.
    fn ledger_bytes(self, disk: Room, pool_bytes: u64) -> u64 {
        let in_flight = pool_bytes.min(self.in_flight_bytes_max);
        let written = in_flight.saturating_mul(WRITTEN_PER_SIGNED_BYTE);
        self.min_free_bytes.min(disk.total / DISK_PART).max(written)
    }

    /// Why there is too little room, in words, while a stop would save the pool in `pool_bytes`.
    fn shortage(self, rooms: &Rooms, pool_bytes: u64) -> Option<Arc<str>> {
        let ledger_bytes = self.ledger_bytes(rooms.ledger, pool_bytes);
        let wanted = match rooms.pool {
            None => [
                Some((rooms.ledger, ledger_bytes.saturating_add(pool_bytes))),
                None,
            ],
            Some(pool) => [Some((rooms.ledger, ledger_bytes)), Some((pool, pool_bytes))],
        };
        let mut wanted = wanted.into_iter().flatten();
        let (disk, reserve) = wanted.find(|(disk, reserve)| disk.free < *reserve)?;
        let (directory, free) = (rooms.directory.display(), disk.free);
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
pub(super) struct RoomWatch(JoinHandle<()>);

impl RoomWatch {
    /// Looks at once, then in intervals; tells `node` whether its disk has room. `None` where the settings
    /// keep no room.
    ///
    /// # Errors
    /// When a thread cannot be started.
    pub(super) async fn start(node: NodeHandle, settings: &Settings) -> io::Result<Option<Self>> {
        let Some(reserve) = Reserve::of(settings) else {
            return Ok(None);
        };
        let mut look = Look {
            node,
            looker: looker(&settings.storage.data_dir)?,
            reserve,
            pool_bytes: 0,
            is_blind: false,
            is_short: false,
        };
        look.once().await;
        Ok(Some(Self(actix_web::rt::spawn(async move {
            let mut looks = interval(LOOK_INTERVAL);
            looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                looks.tick().await;
                look.once().await;
            }
        }))))
    }
}

impl Drop for RoomWatch {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A look, to be answered.
type Question = oneshot::Sender<io::Result<Rooms>>;

/// A thread that looks when it is asked, and ends when nobody can ask any more. A file system that hangs holds
/// up this thread and nothing else; nobody waits for its end.
fn looker(directory: &Path) -> io::Result<mpsc::Sender<Question>> {
    let (ask, questions) = mpsc::channel::<Question>();
    let directory: Arc<Path> = directory.into();
    thread::Builder::new()
        .name("disk-room".to_owned())
        .spawn(move || {
            for question in questions {
                let _ = question.send(Rooms::of(&directory));
            }
        })?;
    Ok(ask)
}

struct Look {
    node: NodeHandle,
    looker: mpsc::Sender<Question>,
    reserve: Reserve,
    /// In how many bytes a stop would save the pool, as far as the pool has told.
    pool_bytes: u64,
    /// Whether the last look failed.
    is_blind: bool,
    /// Whether the node was last told that there is too little room.
    is_short: bool,
}

impl Look {
    async fn once(&mut self) {
        // A mempool with too much to do tells it the next time.
        if let Ok(bytes) = self.node.saved_pool_bytes().await {
            self.pool_bytes = bytes;
        }
        match self.rooms().await {
            Ok(rooms) => {
                self.is_blind = false;
                let shortage = self.reserve.shortage(&rooms, self.pool_bytes);
                self.tell(shortage);
            }
            // What cannot be known is no reason to refuse; should there be no room, the write says so.
            Err(error) if !self.is_blind => {
                self.is_blind = true;
                tracing::warn!(%error, "how much room the data directory has is unknown");
                self.tell(None);
            }
            Err(_) => {}
        }
    }

    async fn rooms(&self) -> io::Result<Rooms> {
        let (question, answer) = oneshot::channel();
        self.looker.send(question).map_err(io::Error::other)?;
        answer.await.map_err(io::Error::other)?
    }

    fn tell(&mut self, shortage: Option<Arc<str>>) {
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

    fn rooms(ledger: Room, pool: Option<Room>) -> Rooms {
        Rooms {
            directory: Path::new("some/data").into(),
            ledger,
            pool,
        }
    }

    const RESERVE: Reserve = Reserve {
        min_free_bytes: 100,
        in_flight_bytes_max: 50,
    };

    fn is_short(free: u64, total: u64, pool_bytes: u64) -> bool {
        let rooms = rooms(Room { free, total }, None);
        RESERVE.shortage(&rooms, pool_bytes).is_some()
    }

    #[test]
    fn the_reserve_is_what_was_asked_for_and_at_most_a_tenth_of_the_disk() {
        assert!(is_short(99, 10_000, 0));
        assert!(!is_short(100, 10_000, 0));
        assert!(is_short(49, 500, 0), "a small disk keeps a tenth");
        assert!(!is_short(50, 500, 0));
        assert!(
            !is_short(0, 0, 0),
            "a disk that does not tell is not refused"
        );
    }

    #[test]
    fn the_pool_comes_on_top_and_so_does_what_is_on_its_way_where_it_is_more() {
        assert!(is_short(109, 10_000, 10));
        assert!(!is_short(110, 10_000, 10));
        assert!(is_short(199, 500, 40), "160 for blocks and 40 for the file");
        assert!(!is_short(200, 500, 40));
        assert!(
            is_short(1_199, 500, 1_000),
            "no more than 50 are on their way"
        );
        assert!(!is_short(1_200, 500, 1_000));
        assert!(is_short(u64::MAX - 1, 10_000, u64::MAX));
    }

    #[test]
    fn a_ledger_on_another_disk_than_its_directory_needs_room_on_both() {
        let disk = |free| Room {
            free,
            total: 10_000,
        };
        let is_short = |ledger, pool| {
            let rooms = rooms(disk(ledger), Some(disk(pool)));
            RESERVE.shortage(&rooms, 10).is_some()
        };
        assert!(is_short(99, 1_000));
        assert!(!is_short(100, 10));
        assert!(is_short(100, 9));
    }

    #[test]
    fn the_reserve_follows_the_size_of_blocks_and_0_is_off() {
        let mut settings = Settings::default();
        let before = Reserve::of(&settings).unwrap().in_flight_bytes_max;
        settings.node.sequencer.block_bytes_max *= 2;
        let larger = Reserve::of(&settings).unwrap().in_flight_bytes_max;
        assert_eq!(larger, 2 * before);
        settings.node.sequencer.blocks_in_flight_max += 1;
        assert!(Reserve::of(&settings).unwrap().in_flight_bytes_max > larger);
        settings.storage.min_free_bytes = 0;
        assert!(Reserve::of(&settings).is_none());
    }

    #[test]
    fn the_words_name_the_directory_the_setting_and_the_way_out() {
        let disk = Room {
            free: 7,
            total: 1_000_000,
        };
        let words = RESERVE.shortage(&rooms(disk, None), 0).unwrap();
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
