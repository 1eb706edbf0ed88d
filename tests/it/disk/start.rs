//! A node that is started on a directory it cannot use says which and what to do, and changes nothing.

use super::{Tmpfs, check_message};
use crate::kit::{TestAccount, TestNode};
use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Command, Stdio},
};

/// Places and lengths of damage are drawn with this seed.
const SEED: u64 = 6;

/// The bytes of a ledger that a node has left.
async fn ledger() -> Vec<u8> {
    let mut node = TestNode::start(&[]);
    for seed in 1..=20 {
        node.fund(&TestAccount::from_seed(seed), 1_000_000).await;
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
    check_message(&log, words);
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
    assert_eq!(
        fs::read_to_string(directory.path().join("data")).unwrap(),
        "mine"
    );
}

#[test]
fn a_directory_of_something_else() {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("data")).unwrap();
    fs::write(directory.path().join("data/thesis.txt"), "mine").unwrap();
    check_refused(directory.path(), &["thesis.txt", "name an empty directory"]);
    assert_eq!(
        fs::read_dir(directory.path().join("data")).unwrap().count(),
        1
    );
}

#[test]
fn a_new_ledger_for_which_there_is_no_room() {
    let directory = tempfile::tempdir().unwrap();
    let limited = TestNode::limited("-f 64", &TestNode::command(directory.path(), &[]));
    let data = directory.path().join("data");
    check_refusal(
        limited,
        &[data.to_str().unwrap(), "File too large", "make room"],
    );
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

/// So many processes are started at once, so many times.
const STARTS: usize = 3;
const ROUNDS: usize = 6;

#[test]
fn of_many_processes_that_are_started_on_an_absent_directory_one_has_it() {
    for round in 0..ROUNDS {
        let directory = tempfile::tempdir().unwrap();
        let mut starts: Vec<_> = (0..STARTS)
            .map(|_| {
                let mut command = TestNode::command(directory.path(), &[]);
                command.stdout(Stdio::piped()).stderr(Stdio::piped());
                command.spawn().unwrap()
            })
            .collect();
        let outputs: Vec<_> = starts
            .iter_mut()
            .map(|start| BufReader::new(start.stdout.take().unwrap()))
            .collect();
        // Each says that it is ready, or ends.
        let are_ready: Vec<_> = outputs
            .into_iter()
            .map(|output| {
                output
                    .lines()
                    .any(|line| line.unwrap().starts_with("ready "))
            })
            .collect();
        for (mut start, &is_ready) in starts.into_iter().zip(&are_ready) {
            if is_ready {
                start.kill().unwrap();
            }
            let output = start.wait_with_output().unwrap();
            let log = String::from_utf8(output.stderr).unwrap();
            assert!(
                is_ready || log.contains("in use by another node"),
                "round {round}: {log}"
            );
        }
        let ready = are_ready.iter().filter(|is_ready| **is_ready).count();
        assert_eq!(ready, 1, "round {round}: {ready} of {STARTS} run");
    }
}

#[tokio::test]
async fn a_second_process_on_the_same_directory() {
    let mut first = TestNode::start(&[]);
    let account = TestAccount::from_seed(1);
    first.fund(&account, 1_000_000_000).await;
    check_refused(first.directory(), &["in use by another node"]);
    let chain = first.chain().await;
    let transfer = account.transfer(&chain, 0, TestAccount::from_seed(2).address, 7);
    assert_eq!(first.submit_and_wait(&transfer).await["success"], true);
    assert_eq!(first.stop("TERM").code(), Some(0), "{}", first.log());
}

#[tokio::test]
async fn a_file_that_is_no_whole_ledger_is_refused_as_it_is() {
    let whole = ledger().await;
    let mut random = fastrand::Rng::with_seed(SEED);
    let mut files = vec![
        Vec::new(),
        vec![0; 4096],
        b"mine".to_vec(),
        vec![0xA5; 1 << 20],
    ];
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

/// An address that no machine has (RFC 5737).
const NOWHERE: &str = "192.0.2.1:9";

/// Runs a node on a damaged file until it answers or has ended; whether it was refused, as it must be then.
///
/// Where it is not compared with its checksums at the start, the database may find the damage all the same.
fn is_refused(file: &[u8], is_compared: bool) -> bool {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("ledger.redb"), file).unwrap();
    // A listener that cannot be: whatever the ledger is, the process ends by itself.
    let check_bytes_max = if is_compared { u32::MAX } else { 0 };
    let settings = [
        format!("api.listen={NOWHERE}"),
        format!("storage.check_bytes_max={check_bytes_max}"),
    ];
    let mut command = TestNode::command(directory.path(), &settings);
    let output = command.output().unwrap();
    let log = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{log}");
    assert!(!log.contains("panicked"), "{log}");
    let is_refused = log.contains("is damaged: ");
    if is_refused {
        assert!(log.contains(data.to_str().unwrap()), "{log}");
        let after = fs::read(data.join("ledger.redb")).unwrap();
        assert!(
            after == file || !is_compared,
            "a refused file was changed: {log}"
        );
    } else {
        // All that there is to say against this ledger is where it was to be served.
        let last = log.lines().last().unwrap_or_default();
        let is_listener = last.starts_with("ledger-node: ") && last.contains(NOWHERE);
        assert!(is_listener, "{log}");
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
        let is_compared = seed % 4 > 0;
        let is_refused = is_refused(&file, is_compared);
        refused += u64::from(is_refused && is_compared);
    }
    assert!(
        refused > CASES / 2,
        "{refused} of {CASES} files were refused"
    );
}
