//! Watches the room on the disk of the ledger, so that submissions are refused before a write fails: a node
//! that has stopped by itself in time goes on by itself, one whose write has failed needs a restart.

use ledger_actors::NodeHandle;
use std::{io, path::Path, sync::Arc, time::Duration};
use tokio::{
    task::JoinHandle,
    time::{MissedTickBehavior, interval},
};

/// Between two looks. One costs a system call of about a microsecond; between two of them a fast disk takes
/// less than the reserve.
const LOOK_INTERVAL: Duration = Duration::from_millis(250);

/// The reserve is at most this part of a disk, so that one that is small altogether can be used.
const DISK_PART: u64 = 10;

/// The room on a disk, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Room {
    /// For users without privileges.
    free: u64,
    /// In all; 0 where the system does not tell.
    total: u64,
}

impl Room {
    fn of(directory: &Path) -> io::Result<Self> {
        let disk = rustix::fs::statvfs(directory)?;
        Ok(Self {
            free: disk.f_bavail.saturating_mul(disk.f_frsize),
            total: disk.f_blocks.saturating_mul(disk.f_frsize),
        })
    }

    /// Why this is too little, in words.
    fn shortage(self, directory: &Path, min_free_bytes: u64) -> Option<Arc<str>> {
        let reserve = min_free_bytes.min(self.total / DISK_PART);
        (self.free < reserve).then(|| {
            let (directory, free) = (directory.display(), self.free);
            format!(
                "the disk of {directory} has {free} bytes free, and {reserve} are kept \
                 (storage.min_free_bytes); make room on it"
            )
            .into()
        })
    }
}

/// Looks again and again until it is dropped.
#[derive(Debug)]
pub(super) struct RoomWatch(JoinHandle<()>);

impl RoomWatch {
    /// Looks at once, then in intervals; tells `node` whether its disk has room. With 0 nothing is watched.
    pub(super) fn start(node: NodeHandle, directory: &Path, min_free_bytes: u64) -> Option<Self> {
        if min_free_bytes == 0 {
            return None;
        }
        let mut look = Look {
            node,
            directory: directory.into(),
            min_free_bytes,
            is_blind: false,
        };
        look.once();
        Some(Self(actix_web::rt::spawn(async move {
            let mut looks = interval(LOOK_INTERVAL);
            looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                looks.tick().await;
                look.once();
            }
        })))
    }
}

impl Drop for RoomWatch {
    fn drop(&mut self) {
        self.0.abort();
    }
}

struct Look {
    node: NodeHandle,
    directory: Box<Path>,
    min_free_bytes: u64,
    /// Whether the last look failed.
    is_blind: bool,
}

impl Look {
    fn once(&mut self) {
        match Room::of(&self.directory) {
            Ok(room) => {
                self.is_blind = false;
                self.tell(room.shortage(&self.directory, self.min_free_bytes));
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

    fn tell(&self, shortage: Option<Arc<str>>) {
        let words = shortage.clone();
        if self.node.set_no_room(shortage) {
            match words {
                Some(cause) => tracing::error!(
                    %cause,
                    "submissions are refused and no block is begun until there is room"
                ),
                None => tracing::info!("the disk has room again: submissions are taken"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reserve_is_what_was_asked_for_and_at_most_a_tenth_of_the_disk() {
        let is_short = |free, total, reserve| {
            let room = Room { free, total };
            room.shortage(Path::new("data"), reserve).is_some()
        };
        assert!(is_short(99, 10_000, 100));
        assert!(!is_short(100, 10_000, 100));
        assert!(is_short(49, 500, 100), "a small disk keeps a tenth");
        assert!(!is_short(50, 500, 100));
        assert!(!is_short(0, 0, 100), "a disk that does not tell is not refused");
        assert!(!is_short(0, 10_000, 0), "off");
    }

    #[test]
    fn the_words_name_the_directory_the_setting_and_the_way_out() {
        let room = Room {
            free: 7,
            total: 1_000_000,
        };
        let words = room.shortage(Path::new("some/data"), 100).unwrap();
        for part in ["some/data", "7 bytes free", "storage.min_free_bytes", "make room"] {
            assert!(words.contains(part), "{words}");
        }
    }

    #[test]
    fn a_directory_that_is_there_has_room_and_one_that_is_not_has_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let room = Room::of(directory.path()).unwrap();
        assert!(room.free <= room.total);
        assert!(Room::of(&directory.path().join("none")).is_err());
    }
}
