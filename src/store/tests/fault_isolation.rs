//! What the shield does where a disk fails in part: reads that fail at times, a length that is not told.

use crate::io::fault_isolation::FaultIsolatingBackend;
use redb::{StorageBackend, backends::InMemoryBackend};
use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering::SeqCst},
    },
};

const PAGE: usize = 4096;

/// A disk of which a part fails.
#[derive(Debug, Default)]
struct Partly {
    memory: Arc<InMemoryBackend>,
    faults: Arc<Faults>,
}

#[derive(Debug, Default)]
struct Faults {
    /// So many of the next reads fail.
    reads: AtomicU32,
    changes: AtomicBool,
    len: AtomicBool,
}

fn fails_if(is_failing: bool) -> io::Result<()> {
    match is_failing {
        true => Err(io::Error::other("as the test wants it")),
        false => Ok(()),
    }
}

impl StorageBackend for Partly {
    fn len(&self) -> io::Result<u64> {
        fails_if(self.faults.len.load(SeqCst))?;
        self.memory.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let left = self
            .faults
            .reads
            .fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1));
        fails_if(left.is_ok())?;
        self.memory.read(offset, out)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        fails_if(self.faults.changes.load(SeqCst))?;
        self.memory.set_len(length)
    }

    fn sync_data(&self) -> io::Result<()> {
        fails_if(self.faults.changes.load(SeqCst))
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        fails_if(self.faults.changes.load(SeqCst))?;
        self.memory.write(offset, data)
    }
}

/// A shielded disk of two pages of ones.
fn shielded() -> (FaultIsolatingBackend<Partly>, Arc<Faults>) {
    let partly = Partly::default();
    let faults = Arc::clone(&partly.faults);
    let (shield, _) = FaultIsolatingBackend::new(partly);
    shield.set_len(2 * PAGE as u64).unwrap();
    shield.write(0, &[1; 2 * PAGE]).unwrap();
    (shield, faults)
}

fn page(shield: &FaultIsolatingBackend<Partly>, number: usize) -> io::Result<Vec<u8>> {
    let mut page = vec![0; PAGE];
    shield.read((number * PAGE) as u64, &mut page)?;
    Ok(page)
}

#[test]
fn a_read_that_fails_now_and_then_is_answered_and_one_that_always_does_is_not() {
    let (shield, faults) = shielded();
    for failing in 1..=3 {
        faults.reads.store(failing, SeqCst);
        assert_eq!(page(&shield, 0).unwrap(), [1; PAGE], "{failing} fail");
    }
    faults.reads.store(u32::MAX, SeqCst);
    assert!(page(&shield, 0).is_err());
    assert!(
        u32::MAX - faults.reads.load(SeqCst) < 10,
        "it tries on and on"
    );
}

#[test]
fn what_is_kept_after_a_failure_needs_no_disk() {
    let (shield, faults) = shielded();
    faults.changes.store(true, SeqCst);
    faults.reads.store(u32::MAX, SeqCst);
    shield.write(0, &[2; PAGE]).unwrap();
    assert_eq!(page(&shield, 0).unwrap(), [2; PAGE]);
    assert!(page(&shield, 1).is_err(), "it is on the disk only");
    faults.reads.store(0, SeqCst);
    shield.write(PAGE as u64, &[3; 2]).unwrap();
    let both = page(&shield, 1).unwrap();
    assert_eq!((&both[..2], &both[2..]), (&[3; 2][..], &[1; PAGE - 2][..]));
}

/// After a failed sync the system may forget what was written: then the disk's own bytes are read.
#[test]
fn what_was_written_and_not_synced_is_kept_after_a_failure() {
    let partly = Partly::default();
    let (faults, memory) = (Arc::clone(&partly.faults), Arc::clone(&partly.memory));
    let (shield, _) = FaultIsolatingBackend::new(partly);
    shield.set_len(3 * PAGE as u64).unwrap();
    shield.write(0, &[1; 3 * PAGE]).unwrap();
    shield.sync_data().unwrap();
    shield.write(PAGE as u64, &[2; PAGE]).unwrap();
    faults.changes.store(true, SeqCst);
    shield.sync_data().unwrap();
    memory.write(0, &[0; 3 * PAGE]).unwrap();
    assert_eq!(page(&shield, 1).unwrap(), [2; PAGE]);
    assert_eq!(
        page(&shield, 0).unwrap(),
        [0; PAGE],
        "it was synced, and the disk has it"
    );
}

#[test]
fn a_disk_that_fails_and_does_not_tell_its_length_is_shielded_from_too() {
    let (shield, faults) = shielded();
    faults.changes.store(true, SeqCst);
    faults.len.store(true, SeqCst);
    shield.write(0, &[2; PAGE]).unwrap();
    assert_eq!(shield.len().unwrap(), 2 * PAGE as u64);
    assert_eq!(page(&shield, 0).unwrap(), [2; PAGE]);
    assert_eq!(page(&shield, 1).unwrap(), [1; PAGE]);
    shield.sync_data().unwrap();
}
