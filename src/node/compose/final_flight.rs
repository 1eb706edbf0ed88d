//! The recording of the newest blocks that a process writes before a broken invariant ends it.

use ledger_actors::{FlightFile, FlightRecorder};
use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc,
    },
    thread,
    time::Duration,
};

/// Name of the thread that writes the file.
const THREAD: &str = "flight-writer";

/// Maximum time for which the end of the process waits for the file.
///
/// A disk that hangs must not keep the process alive, and the other threads run meanwhile.
const WRITE_TIMEOUT: Duration = Duration::from_secs(2);

/// Writes the recording at most once. Clones share it. Cheap to clone.
#[derive(Clone, Debug)]
pub struct FinalFlight(Arc<Shared>);

/// The state that clones of a [`FinalFlight`] share.
#[derive(Debug)]
struct Shared {
    /// The directory of the file, or `None` if the ledger is in memory, so that none is written.
    directory: Option<PathBuf>,
    /// The recorder, once the node has started.
    recorder: OnceLock<FlightRecorder>,
    is_written: AtomicBool,
}

impl FinalFlight {
    /// Creates a value that writes nothing until [`Self::set_recorder`].
    pub fn new(directory: Option<&Path>) -> Self {
        Self(Arc::new(Shared {
            directory: directory.map(Path::to_owned),
            recorder: OnceLock::new(),
            is_written: AtomicBool::new(false),
        }))
    }

    /// Sets the recorder of the node that has started.
    pub fn set_recorder(&self, recorder: FlightRecorder) {
        // A process has one node, so this is the first call.
        let _ = self.0.recorder.set(recorder);
    }

    /// Writes the recording, with the reason that ends the process. Logs the file, or why there is
    /// none. Does nothing at a later call, before the node has started, or for a ledger in memory.
    ///
    /// Returns after [`WRITE_TIMEOUT`] at the latest. It is called from the panic hook too, so it
    /// takes no lock that the calling thread can hold.
    pub fn write(&self, reason: &str) {
        let (Some(recorder), Some(directory)) =
            (self.0.recorder.get().cloned(), self.0.directory.clone())
        else {
            return;
        };
        if self.0.is_written.swap(true, Relaxed) {
            return;
        }
        let (sender, written) = mpsc::channel();
        let reason = reason.to_owned();
        let spawned = thread::Builder::new()
            .name(THREAD.to_owned())
            .spawn(move || {
                // An error means that the process did not wait any longer.
                let _ = sender.send(recorder.write(&directory, &reason));
            });
        if let Err(error) = spawned {
            tracing::error!(%error, "no flight file: its thread cannot be started");
            return;
        }
        match written.recv_timeout(WRITE_TIMEOUT) {
            Ok(Ok(FlightFile { path, blocks })) => {
                tracing::info!(file = %path.display(), blocks, "flight file written");
            }
            Ok(Err(error)) => tracing::error!(%error, "no flight file"),
            Err(_) => tracing::error!("no flight file: the disk has not taken it in time"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_nothing_before_the_node_has_started() {
        let directory = tempfile::tempdir().unwrap();
        FinalFlight::new(Some(directory.path())).write("a broken invariant");
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
