//! A disk that a test makes slow, hanging or broken while a node runs, and that counts the calls
//! which find it full. Also moves the system clock of the node.
//!
//! ```ignore
//! let Some(disk) = SlowDisk::new() else { return };
//! let node = disk.start(&[]);
//! disk.delay(DiskOperation::Sync, "ledger.log", Duration::from_secs(2));
//! disk.hang(DiskOperation::Write, "/data/");
//! disk.release(DiskOperation::Write);
//! disk.hang_in("executor", DiskOperation::Read, "/data/");
//! disk.move_clock(-60);
//! ```

use super::TestNode;
use std::{
    fs::File,
    io::Write as _,
    os::unix::fs::FileExt as _,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::Duration,
};
use tempfile::TempDir;

/// Source of the library that delays system calls.
const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/node/slow_disk.c");

/// Size of an operation in the control file, in bytes: its delay, three counters, the part of a
/// path, the name of a thread.
const OPERATION_BYTES: usize = 256;

/// Offset of the number of calls that are not delayed yet, and of the part of a path, within an
/// operation, in bytes.
const UNDELAYED_OFFSET: usize = 24;
const PATH_PART_OFFSET: usize = 32;

/// Size of the name of a thread, in bytes. The kernel stores 15 characters of it.
const THREAD_BYTES: usize = 16;

/// Number of values of [`DiskOperation`].
const OPERATIONS: usize = 3;

/// Offset of the fields after the operations: whether the library is loaded, and the number of
/// calls that found the disk full.
const OPERATIONS_END: u64 = (OPERATIONS * OPERATION_BYTES) as u64;

/// Offset and size of the path of the last such call.
const FULL_PATH_OFFSET: u64 = OPERATIONS_END + 16;
const FULL_PATH_BYTES: usize = 256;

/// Offset of the lead of the system clock.
const CLOCK_AHEAD_OFFSET: u64 = FULL_PATH_OFFSET + FULL_PATH_BYTES as u64;

/// Delay of a call that hangs until it is released, in milliseconds.
const HANG_MS: u64 = u64::MAX;

/// Delay of a call that fails instead, as `slow_disk.c` defines it.
const FAIL_MS: u64 = u64::MAX - 1;

/// A kind of system call on an open file. The values are indices into the control file.
#[allow(dead_code, reason = "each suite that copies the kit uses some of them")]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DiskOperation {
    /// `fsync` and `fdatasync`.
    Sync = 0,
    /// `write` and `pwrite`.
    Write = 1,
    /// `read` and `pread`.
    Read = 2,
}

/// Numbers of delayed calls since the start of the node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DelayedCalls {
    /// Number of calls that were delayed.
    pub begun: u64,
    /// Number of these calls whose delay has ended.
    pub ended: u64,
}

impl DelayedCalls {
    /// Returns the number of calls that are being delayed.
    pub fn waiting(self) -> u64 {
        self.begun.saturating_sub(self.ended)
    }
}

/// A library that delays the system calls of the nodes that it is loaded into, and the file that
/// controls it. No call is delayed at first.
#[derive(Debug)]
pub struct SlowDisk {
    directory: TempDir,
    control: File,
}

impl SlowDisk {
    /// Compiles the library with `cc`, in a directory of its own.
    ///
    /// Prints that the test is skipped, and returns `None`, without a C compiler or the dynamic
    /// loader of Linux.
    ///
    /// # Panics
    ///
    /// Panics instead of returning `None` if the environment variable `CI` is set.
    pub fn new() -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let compiled = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o"])
            .arg(library_file(directory.path()))
            .arg(SOURCE)
            .output();
        match compiled {
            Ok(output) if output.status.success() => {}
            failed => return skip(&format!("needs cc: {failed:?}")),
        }
        let control = File::options()
            .create_new(true)
            .read(true)
            .write(true)
            .open(control_file(directory.path()))
            .unwrap();
        control.set_len(control_bytes()).unwrap();
        let disk = Self { directory, control };
        // A static binary has no dynamic loader, which would load the library.
        let loaded = disk.wrap(super::binary()).arg("--version").output();
        assert!(loaded.unwrap().status.success());
        if !disk.is_loaded() {
            return skip("needs a binary that the dynamic loader of Linux starts");
        }
        Some(disk)
    }

    /// Starts a node as [`TestNode::start`] does, with the library.
    pub fn start(&self, settings: &[&str]) -> TestNode {
        let settings = settings.iter().map(|&setting| setting.to_owned()).collect();
        self.start_in(Arc::new(tempfile::tempdir().unwrap()), settings)
    }

    /// Starts a node as [`TestNode::start_in`] does, with the library.
    pub fn start_in(&self, directory: Arc<TempDir>, settings: Vec<String>) -> TestNode {
        let command = self.wrap(TestNode::command(directory.path(), &settings));
        TestNode::spawn(command, directory, settings)
    }

    /// Returns the command with the environment that loads the library.
    pub fn wrap(&self, mut command: Command) -> Command {
        command
            .env("LD_PRELOAD", library_file(self.directory.path()))
            .env("SLOW_DISK_CONTROL", control_file(self.directory.path()));
        command
    }

    /// Delays each call of this kind from now on, on files whose path contains `path_part`.
    ///
    /// A later call replaces an earlier one of the same kind. Calls that wait already take the new
    /// delay, from their begin.
    pub fn delay(&self, operation: DiskOperation, path_part: &str, delay: Duration) {
        let delay_ms = delay.as_millis().try_into().unwrap();
        self.set("", operation, path_part, 0, delay_ms);
    }

    /// Makes each call of this kind hang until [`Self::release`], on files whose path contains
    /// `path_part`.
    pub fn hang(&self, operation: DiskOperation, path_part: &str) {
        self.hang_in("", operation, path_part);
    }

    /// Makes calls hang as [`Self::hang`] does, in the threads of this name only. The kernel stores
    /// 15 characters of a name.
    pub fn hang_in(&self, thread: &str, operation: DiskOperation, path_part: &str) {
        self.set(thread, operation, path_part, 0, HANG_MS);
    }

    /// Makes calls hang as [`Self::hang`] does, after the next `undelayed` ones.
    pub fn hang_after(&self, undelayed: u64, operation: DiskOperation, path_part: &str) {
        self.set("", operation, path_part, undelayed, HANG_MS);
    }

    /// Makes each call of this kind fail until [`Self::release`], on files whose path contains
    /// `path_part`.
    pub fn fail(&self, operation: DiskOperation, path_part: &str) {
        self.set("", operation, path_part, 0, FAIL_MS);
    }

    /// Ends the delays of this kind, also those of calls that wait.
    pub fn release(&self, operation: DiskOperation) {
        self.write_delay(operation, 0);
    }

    /// Returns the numbers of the delayed calls of this kind.
    pub fn calls(&self, operation: DiskOperation) -> DelayedCalls {
        // In this order, so that no call appears ended before it began.
        let ended = self.read(offset(operation) + 16);
        let begun = self.read(offset(operation) + 8);
        DelayedCalls { begun, ended }
    }

    /// Returns the number of calls of the nodes that failed because the disk or a quota was full.
    pub fn full_calls(&self) -> u64 {
        self.read(OPERATIONS_END + 8)
    }

    /// Returns the path of the file of the last such call, or an empty text.
    pub fn full_path(&self) -> String {
        let mut bytes = [0; FULL_PATH_BYTES];
        self.control
            .read_exact_at(&mut bytes, FULL_PATH_OFFSET)
            .unwrap();
        let path = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        String::from_utf8_lossy(path).into_owned()
    }

    /// Sets the system clock of the nodes ahead of the machine's, or behind it if `ahead_secs` is
    /// negative. The clocks that measure elapsed time do not change.
    pub fn move_clock(&self, ahead_secs: i64) {
        let bytes = ahead_secs.to_ne_bytes();
        self.control
            .write_all_at(&bytes, CLOCK_AHEAD_OFFSET)
            .unwrap();
    }

    fn set(
        &self,
        thread: &str,
        operation: DiskOperation,
        path_part: &str,
        undelayed: u64,
        delay_ms: u64,
    ) {
        const BYTES: usize = OPERATION_BYTES - UNDELAYED_OFFSET;
        let mut bytes = [0; BYTES];
        let (number_bytes, texts) = bytes.split_at_mut(PATH_PART_OFFSET - UNDELAYED_OFFSET);
        number_bytes.copy_from_slice(&undelayed.to_ne_bytes());
        let (path_bytes, thread_bytes) = texts.split_at_mut(texts.len() - THREAD_BYTES);
        for (to, text) in [(path_bytes, path_part), (thread_bytes, thread)] {
            assert!(text.len() < to.len(), "{text}");
            to[..text.len()].copy_from_slice(text.as_bytes());
        }
        let undelayed_offset = offset(operation) + UNDELAYED_OFFSET as u64;
        self.control.write_all_at(&bytes, undelayed_offset).unwrap();
        self.write_delay(operation, delay_ms);
    }

    fn write_delay(&self, operation: DiskOperation, delay_ms: u64) {
        let bytes = delay_ms.to_ne_bytes();
        self.control
            .write_all_at(&bytes, offset(operation))
            .unwrap();
    }

    fn read(&self, offset: u64) -> u64 {
        let mut bytes = [0; 8];
        self.control.read_exact_at(&mut bytes, offset).unwrap();
        u64::from_ne_bytes(bytes)
    }

    fn is_loaded(&self) -> bool {
        self.read(OPERATIONS_END) == 1
    }
}

/// Prints why the test is skipped, and returns `None`.
///
/// # Panics
///
/// Panics if the environment variable `CI` is set.
pub fn skip<T>(reason: &str) -> Option<T> {
    let words = format!("skipped: {reason}\n");
    assert!(std::env::var_os("CI").is_none(), "{words}");
    // Directly to standard error, because the captured output is printed only if the test fails.
    std::io::stderr().write_all(words.as_bytes()).unwrap();
    None
}

fn offset(operation: DiskOperation) -> u64 {
    operation as u64 * OPERATION_BYTES as u64
}

fn control_bytes() -> u64 {
    CLOCK_AHEAD_OFFSET + 8
}

fn library_file(directory: &Path) -> PathBuf {
    directory.join("slow_disk.so")
}

fn control_file(directory: &Path) -> PathBuf {
    directory.join("control")
}
