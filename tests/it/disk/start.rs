//! Starts on a directory that a node cannot use. The node names the directory and the remedy, and
//! changes nothing.

use super::{Tmpfs, check_message};
use ledger_test_support::{
    TestAccount,
    node::{DiskOperation, SlowDisk, TestNode, binary},
};
use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

/// Seed of positions and lengths of damage.
const SEED: u64 = 6;

/// Returns the bytes of the ledger of a stopped node.
async fn ledger() -> Vec<u8> {
    // On a busy machine a pass lasts long and retains freed pages, so the file would grow by pages
    // without content, whose damage is harmless.
    let mut node = TestNode::start(&["storage.scrub_hours=0"]);
    // As many that most pages of the file have content: it has just doubled after 20.
    for seed in 1..=40 {
        node.fund(&TestAccount::from_seed(seed), 1_000_000).await;
    }
    assert_eq!(node.stop("TERM").code(), Some(0), "{}", node.log());
    fs::read(node.directory().join("data/ledger.redb")).unwrap()
}

/// Runs a command that must end with exit status 1 and one message with all these words.
fn check_failure(mut command: Command, words: &[&str]) {
    let output = command.output().unwrap();
    let log = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{log}");
    assert!(!log.contains("panicked"), "{log}");
    check_message(&log, words);
}

/// Starts a node in `directory`, which must reject its data with these words.
fn check_rejected(directory: &Path, words: &[&str]) {
    let data = directory.join("data");
    let words = [&[data.to_str().unwrap()], words].concat();
    check_failure(TestNode::command(directory, &[]), &words);
}

#[test]
fn rejects_a_path_that_is_not_a_directory() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("data"), "mine").unwrap();
    check_rejected(directory.path(), &["check that it is a directory"]);
    assert_eq!(
        fs::read_to_string(directory.path().join("data")).unwrap(),
        "mine"
    );
}

#[test]
fn rejects_a_directory_with_other_files() {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("data")).unwrap();
    fs::write(directory.path().join("data/thesis.txt"), "mine").unwrap();
    check_rejected(directory.path(), &["thesis.txt", "name an empty directory"]);
    assert_eq!(
        fs::read_dir(directory.path().join("data")).unwrap().count(),
        1
    );
}

#[test]
fn rejects_a_disk_without_space_for_a_new_ledger() {
    let directory = tempfile::tempdir().unwrap();
    let limited = TestNode::limited("-f 64", &TestNode::command(directory.path(), &[]));
    let data = directory.path().join("data");
    check_failure(
        limited,
        &[data.to_str().unwrap(), "File too large", "free disk space"],
    );
    // Files of the failed start do not disturb the next one on a disk with space.
    let left: Vec<_> = fs::read_dir(&data).unwrap().collect();
    assert!(left.len() <= 1, "{left:?}");
}

#[tokio::test]
async fn rejects_a_read_only_disk() {
    let intact = ledger().await;
    for has_ledger in [true, false] {
        let directory = tempfile::tempdir().unwrap();
        let data = directory.path().join("data");
        fs::create_dir(&data).unwrap();
        let Some(tmpfs) = Tmpfs::over(&data, 64 << 20) else {
            return;
        };
        if has_ledger {
            fs::write(data.join("ledger.redb"), &intact).unwrap();
        }
        tmpfs.set_read_only(true);
        check_rejected(directory.path(), &["Read-only file system", "may write to"]);
        if has_ledger {
            assert!(
                fs::read(data.join("ledger.redb")).unwrap() == intact,
                "the file was changed"
            );
        }
        tmpfs.set_read_only(false);
    }
}

/// Number of processes that are started concurrently.
const STARTS: usize = 3;
/// Number of times that processes are started.
const ROUNDS: usize = 6;

#[test]
fn lets_one_of_many_processes_create_a_ledger_in_a_new_directory() {
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
        // Each process prints its ready line or ends.
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
async fn rejects_a_directory_in_use_by_another_node() {
    let mut first = TestNode::start(&[]);
    let account = TestAccount::from_seed(1);
    first.fund(&account, 1_000_000_000).await;
    check_rejected(first.directory(), &["in use by another node"]);
    let chain = first.chain().await;
    let transfer = account.transfer(&chain, 0, TestAccount::from_seed(2).address, 7);
    assert_eq!(first.submit_and_wait(&transfer).await["success"], true);
    assert_eq!(first.stop("TERM").code(), Some(0), "{}", first.log());
}

#[tokio::test]
async fn rejects_an_incomplete_or_foreign_file_without_changing_it() {
    let intact = ledger().await;
    let mut random = fastrand::Rng::with_seed(SEED);
    let mut files = vec![
        Vec::new(),
        vec![0; 4096],
        b"mine".to_vec(),
        vec![0xA5; 1 << 20],
    ];
    // Cuts within the first pages, which hold what an open reads, and at random positions.
    for length in [1, 63, 320, 4095, 4096, 8192] {
        files.push(intact[..length].to_vec());
    }
    for _ in 0..4 {
        files.push(intact[..random.usize(..intact.len() / 2)].to_vec());
    }
    for file in files {
        let directory = tempfile::tempdir().unwrap();
        let data = directory.path().join("data");
        fs::create_dir(&data).unwrap();
        fs::write(data.join("ledger.redb"), &file).unwrap();
        check_rejected(
            directory.path(),
            &["is damaged", "restore the directory from a copy"],
        );
        let after = fs::read(data.join("ledger.redb")).unwrap();
        assert!(after == file, "a file of {} bytes was changed", file.len());
    }
}

/// Runs a node on a damaged file until it ends, and returns whether it rejected the file.
///
/// Without a comparison of checksums at the start, the database may find the damage all the same.
fn is_rejected(file: &[u8], is_compared: bool) -> bool {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("ledger.redb"), file).unwrap();
    // The process ends whatever the file is.
    let [api, admin] = TestNode::settings_of_a_late_failure();
    let check_bytes_max = if is_compared { u32::MAX } else { 0 };
    let settings = [
        api,
        admin,
        format!("storage.check_bytes_max={check_bytes_max}"),
    ];
    let mut command = TestNode::command(directory.path(), &settings);
    let output = command.output().unwrap();
    let log = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{log}");
    assert!(!log.contains("panicked"), "{log}");
    // Without a comparison, the node also finds damage that leaves the pages intact: that of the
    // stored genesis, for example.
    let is_found = !is_compared && log.contains("restore the data directory from a copy");
    let is_rejected = log.contains("is damaged: ") || is_found;
    if is_rejected {
        assert!(log.contains(data.to_str().unwrap()), "{log}");
        let after = fs::read(data.join("ledger.redb")).unwrap();
        assert!(
            after == file || !is_compared,
            "a rejected file was changed: {log}"
        );
    } else {
        // The only error of this start is the address of its second listener.
        let last = log.lines().last().unwrap_or_default();
        let is_listener = last.starts_with("ledger-node: ") && last.contains("api.listen");
        assert!(is_listener, "{log}");
    }
    is_rejected
}

#[tokio::test]
async fn rejects_a_ledger_with_damaged_bytes_without_a_panic() {
    const CASES: u64 = 100;
    /// Length of the header, which holds the roots.
    const HEADER_BYTES: usize = 320;
    let intact = ledger().await;
    let mut rejected = 0;
    for seed in 0..CASES {
        let mut random = fastrand::Rng::with_seed(SEED + seed);
        let mut file = intact.clone();
        for _ in 0..random.usize(1..=8) {
            let end = if random.u8(..4) == 0 {
                HEADER_BYTES
            } else {
                intact.len()
            };
            file[random.usize(..end)] ^= 1 << random.u8(..8);
        }
        let is_compared = seed % 4 > 0;
        let is_rejected = is_rejected(&file, is_compared);
        rejected += u64::from(is_rejected && is_compared);
    }
    assert!(
        rejected > CASES / 2,
        "{rejected} of {CASES} files were rejected"
    );
}

/// Runs a command on a disk whose syncs hang until standard error has a line with these words, and
/// returns the process.
fn reported_while_syncs_hang(disk: &SlowDisk, command: Command, words: &str) -> Child {
    disk.hang(DiskOperation::Sync, "/data/ledger.");
    let mut command = disk.wrap(command);
    let mut process = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
    let line = lines.find(|line| line.as_ref().unwrap().contains(words));
    assert!(line.is_some(), "no line contains {words:?}");
    // Standard error is read until the process ends, which a full pipe would stop.
    std::thread::spawn(move || lines.for_each(drop));
    process
}

#[test]
fn a_signal_ends_a_start_that_opens_the_ledger() {
    let Some(disk) = SlowDisk::new() else { return };
    for signal in ["INT", "TERM"] {
        let directory = tempfile::tempdir().unwrap();
        let start = TestNode::command(directory.path(), &[]);
        let mut starting = reported_while_syncs_hang(&disk, start, "opening the ledger");
        let id = starting.id().to_string();
        let sent = Command::new("kill").args(["-s", signal, &id]).status();
        assert!(sent.unwrap().success());
        assert_eq!(starting.wait().unwrap().code(), Some(0), "{signal}");
        disk.release(DiskOperation::Sync);
    }
}

#[tokio::test]
async fn a_compaction_that_takes_long_reports_its_progress() {
    let Some(disk) = SlowDisk::new() else { return };
    let mut node = TestNode::start(&[]);
    assert!(node.stop("TERM").success());
    let mut compact = binary();
    compact
        .arg("compact")
        .arg("--data-dir")
        .arg(node.directory().join("data"));
    let mut compact = reported_while_syncs_hang(&disk, compact, "compacting for ");
    disk.release(DiskOperation::Sync);
    assert!(compact.wait().unwrap().success());
}
