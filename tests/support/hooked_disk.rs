//! A disk in memory that calls a function before each read.

use redb::{StorageBackend, backends::InMemoryBackend};
use std::{fmt, io};

/// A function that every read calls before it takes effect. The read fails with its error.
type OnRead = Box<dyn Fn() -> io::Result<()> + Send + Sync>;

/// A disk in memory whose reads can be counted, held or failed.
pub struct HookedDisk {
    memory: InMemoryBackend,
    on_read: OnRead,
}

impl HookedDisk {
    /// Creates an empty disk. Each read calls `on_read` on its own thread, and fails with its
    /// error.
    pub fn new(on_read: impl Fn() -> io::Result<()> + Send + Sync + 'static) -> Self {
        Self {
            memory: InMemoryBackend::new(),
            on_read: Box::new(on_read),
        }
    }
}

impl fmt::Debug for HookedDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookedDisk").finish_non_exhaustive()
    }
}

impl StorageBackend for HookedDisk {
    fn len(&self) -> io::Result<u64> {
        self.memory.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        (self.on_read)()?;
        self.memory.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.memory.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.memory.sync_data()
    }

    /// Grows the disk on demand, as a file.
    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let end = offset + data.len() as u64;
        if self.memory.len()? < end {
            self.memory.set_len(end)?;
        }
        self.memory.write(offset, data)
    }
}
