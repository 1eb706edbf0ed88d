//! A file in memory, for the write-ahead log of a store in memory.

use redb::{StorageBackend, backends::InMemoryBackend};
use std::{
    io,
    sync::{Mutex, PoisonError},
};

/// A file in memory. A write beyond its end makes it longer, as in a file of the system. The backend
/// of redb returns an error there, because redb sets the length of its file first.
#[derive(Debug, Default)]
pub(crate) struct MemoryFile {
    content: InMemoryBackend,
    /// Held while the length is compared and changed.
    growth: Mutex<()>,
}

impl StorageBackend for MemoryFile {
    fn len(&self) -> io::Result<u64> {
        self.content.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.content.read(offset, out)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.content.set_len(length)
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let end = offset.saturating_add(data.len() as u64);
        // Valid even if the holder panicked: each change is complete.
        let growth = self.growth.lock().unwrap_or_else(PoisonError::into_inner);
        if end > self.content.len()? {
            self.content.set_len(end)?;
        }
        drop(growth);
        self.content.write(offset, data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_to_the_end_of_a_write() {
        let file = MemoryFile::default();
        file.write(3, b"abc").unwrap();
        file.write(0, b"x").unwrap();
        assert_eq!(file.len().unwrap(), 6);
        let mut content = [1; 6];
        file.read(0, &mut content).unwrap();
        assert_eq!(&content, b"x\0\0abc");
    }
}
