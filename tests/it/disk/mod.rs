//! The real binary on a disk that is full, fails, is read-only, or holds damaged files, and in a
//! directory that is removed.
//!
//! Tests that need the right to mount print that it is missing, and fail if `CI` is set.

mod damage;
#[cfg(target_os = "linux")]
#[allow(
    clippy::print_stdout,
    reason = "a run prints its seed and the log of its node"
)]
mod filled_disk;
#[cfg(target_os = "linux")]
#[allow(
    clippy::print_stdout,
    reason = "a run prints its seed and the sums of all runs"
)]
mod filling;
mod full;
mod moved;
#[cfg(target_os = "linux")]
mod scrubbing;
#[cfg(target_os = "linux")]
mod slow;
#[cfg(target_os = "linux")]
mod stalls;
mod start;

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
};

/// Checks that a node that ended by itself printed exactly one message, with all these words.
fn check_message(log: &str, words: &[&str]) {
    let messages: Vec<_> = log
        .lines()
        .filter(|line| line.starts_with("ledger-node: "))
        .collect();
    let [message] = messages[..] else {
        panic!("{} messages: {log}", messages.len());
    };
    for word in words {
        assert!(message.contains(word), "no {word:?} in {message:?}");
    }
}

/// A file system in memory that is mounted over a directory until it is dropped.
struct Tmpfs(PathBuf);

impl Tmpfs {
    /// Mounts a file system of `bytes` over `directory`. Returns `None` if that is not permitted.
    fn over(directory: &Path, bytes: u64) -> Option<Self> {
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={bytes}"), "tmpfs"])
            .arg(directory)
            .output();
        match mounted {
            Ok(output) if output.status.success() => Some(Self(directory.to_owned())),
            failed => {
                let words = format!("skipped: needs the right to mount a tmpfs: {failed:?}\n");
                assert!(std::env::var_os("CI").is_none(), "{words}");
                // Directly to standard error, because the captured output is printed only if the
                // test fails.
                std::io::stderr().write_all(words.as_bytes()).unwrap();
                None
            }
        }
    }

    /// Makes the file system read-only, or writable again.
    fn set_read_only(&self, is_read_only: bool) {
        let options = if is_read_only {
            "remount,ro"
        } else {
            "remount,rw"
        };
        let remounted = Command::new("mount")
            .args(["-o", options])
            .arg(&self.0)
            .status();
        assert!(remounted.unwrap().success());
    }
}

impl Drop for Tmpfs {
    fn drop(&mut self) {
        // Detached lazily, because a node may still run in it if a test fails.
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}
