//! A node that is started on a directory it cannot use says which and what to do, and changes nothing.

use super::Tmpfs;
use crate::kit::{Account, TestNode};
use std::{fs, path::Path, process::Command};

/// Places and lengths of damage are drawn with this seed.
const SEED: u64 = 6;

/// The bytes of a ledger that a node has left.
async fn ledger() -> Vec<u8> {
    let mut node = TestNode::start(&[]);
    for seed in 1..=20 {
        node.fund(&Account::from_seed(seed), 1_000_000).await;
    }
    assert_eq!(node.stop("TERM").code(), Some(0), "{}", node.log());
    fs::read(node.directory().join("data/ledger.redb")).unwrap()
}

/// Runs a command that must end by itself, with 1 and one clear message that has all these words.
fn check_refusal(mut command: Command, words: &[&str]) {
    let output = command.output().unwrap();
    let log = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{log}");
    assert!(!log.contains("panicked"), "{log}");
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

/// Starts a node in `directory`, which must refuse its data with these words.
fn check_refused(directory: &Path, words: &[&str]) {
    let data = directory.join("data");
    let words = [&[data.to_str().unwrap()], words].concat();
    check_refusal(TestNode::command(directory, &[]), &words);
}

#[test]
fn a_path_that_is_no_directory() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("data"), "mine").unwrap();
    check_refused(directory.path(), &["check that it is a directory"]);
    assert_eq!(fs::read_to_string(directory.path().join("data")).unwrap(), "mine");
}

#[test]
fn a_directory_of_something_else() {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("data")).unwrap();
    fs::write(directory.path().join("data/thesis.txt"), "mine").unwrap();
    check_refused(directory.path(), &["thesis.txt", "name an empty directory"]);
    assert_eq!(fs::read_dir(directory.path().join("data")).unwrap().count(), 1);
}

#[test]
fn a_new_ledger_for_which_there_is_no_room() {
    let directory = tempfile::tempdir().unwrap();
    let inner = TestNode::command(directory.path(), &[]);
    let mut limited = Command::new("sh");
    limited
        .args(["-c", "trap '' XFSZ; ulimit -f 64; exec \"$@\"", "sh"])
        .arg(inner.get_program())
        .args(inner.get_args());
    let data = directory.path().join("data");
    check_refusal(limited, &[data.to_str().unwrap(), "File too large", "make room"]);
    // The next start, when there is room, is not disturbed by what this one left.
    let left: Vec<_> = fs::read_dir(&data).unwrap().collect();
    assert!(left.len() <= 1, "{left:?}");
}

#[tokio::test]
async fn a_disk_that_may_only_be_read() {
    let whole = ledger().await;
    for has_ledger in [true, false] {
        let directory = tempfile::tempdir().unwrap();
        let data = directory.path().join("data");
        fs::create_dir(&data).unwrap();
        let Some(tmpfs) = Tmpfs::over(&data, 64 << 20) else {
            return;
        };
        if has_ledger {
            fs::write(data.join("ledger.redb"), &whole).unwrap();
        }
        tmpfs.set_read_only(true);
        check_refused(directory.path(), &["Read-only file system", "may write to"]);
        if has_ledger {
            assert!(
                fs::read(data.join("ledger.redb")).unwrap() == whole,
                "it was changed"
            );
        }
        tmpfs.set_read_only(false);
    }
}

#[tokio::test]
async fn a_second_process_on_the_same_directory() {
    let mut first = TestNode::start(&[]);
    let account = Account::from_seed(1);
    first.fund(&account, 1_000_000_000).await;
    check_refused(first.directory(), &["in use by another node"]);
    let chain = first.chain().await;
    let transfer = account.transfer(&chain, 0, Account::from_seed(2).address, 7);
    assert_eq!(first.submit_and_wait(&transfer).await["success"], true);
    assert_eq!(first.stop("TERM").code(), Some(0), "{}", first.log());
}

#[tokio::test]
async fn a_file_that_is_no_whole_ledger_is_refused_as_it_is() {
    let whole = ledger().await;
    let mut random = fastrand::Rng::with_seed(SEED);
    let mut files = vec![Vec::new(), vec![0; 4096], b"mine".to_vec(), vec![0xA5; 1 << 20]];
    // In the first pages, where what is needed to open it stands, and anywhere.
    for length in [1, 63, 320, 4095, 4096, 8192] {
        files.push(whole[..length].to_vec());
    }
    for _ in 0..4 {
        files.push(whole[..random.usize(..whole.len() / 2)].to_vec());
    }
    for file in files {
        let directory = tempfile::tempdir().unwrap();
        let data = directory.path().join("data");
        fs::create_dir(&data).unwrap();
        fs::write(data.join("ledger.redb"), &file).unwrap();
        check_refused(
            directory.path(),
            &["is damaged", "restore the directory from a copy"],
        );
        let after = fs::read(data.join("ledger.redb")).unwrap();
        assert!(after == file, "a file of {} bytes was changed", file.len());
    }
}

/// Runs a node on a damaged file until it answers or has ended; whether it was refused, as it must be then.
fn is_refused(file: &[u8]) -> bool {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("ledger.redb"), file).unwrap();
    // A listener that cannot be: whatever the ledger is, the process ends by itself.
    let mut command = TestNode::command(directory.path(), &["api.listen=192.0.2.1:9".to_owned()]);
    let output = command.output().unwrap();
    let log = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{log}");
    assert!(!log.contains("panicked"), "{log}");
    let is_refused = log.contains("is damaged: ");
    if is_refused {
        assert!(log.contains(data.to_str().unwrap()), "{log}");
        let after = fs::read(data.join("ledger.redb")).unwrap();
        assert!(after == file, "a refused file was changed: {log}");
    }
    is_refused
}

#[tokio::test]
async fn a_ledger_with_damaged_bytes_is_refused_without_a_panic() {
    const CASES: u64 = 100;
    /// Where the roots stand.
    const HEADER_BYTES: usize = 320;
    let whole = ledger().await;
    let mut refused = 0;
    for seed in 0..CASES {
        let mut random = fastrand::Rng::with_seed(SEED + seed);
        let mut file = whole.clone();
        for _ in 0..random.usize(1..=8) {
            let end = if random.u8(..4) == 0 {
                HEADER_BYTES
            } else {
                whole.len()
            };
            file[random.usize(..end)] ^= 1 << random.u8(..8);
        }
        refused += u64::from(is_refused(&file));
    }
    assert!(refused > CASES / 2, "{refused} of {CASES} files were refused");
}
