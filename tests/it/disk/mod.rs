//! The real binary on a disk that is full, fails, may not be written, or holds something damaged.
//!
//! What needs the right to mount says so where it is missing, and fails in the runs that decide (`CI` set).

mod damage;
mod full;
mod start;

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
};

/// Fails unless a node that ended by itself said one thing, with all these words.
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

/// A file system in memory over a directory, until it is dropped.
struct Tmpfs(PathBuf);

impl Tmpfs {
    /// Lays a file system of `bytes` over `directory`; `None` where that is not allowed.
    fn over(directory: &Path, bytes: u64) -> Option<Self> {
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={bytes}"), "tmpfs"])
            .arg(directory)
            .output();
        match mounted {
            Ok(output) if output.status.success() => Some(Self(directory.to_owned())),
            refused => {
                let words = format!("skipped: needs the right to mount a tmpfs: {refused:?}\n");
                assert!(std::env::var_os("CI").is_none(), "{words}");
                // Past what a test prints, which is shown only if it fails.
                std::io::stderr().write_all(words.as_bytes()).unwrap();
                None
            }
        }
    }

    /// Lets nobody write to it, or lets them again.
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
        // Lazily: a node may still run in it when a test fails.
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}
