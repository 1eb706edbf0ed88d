//! A disk that fills up while a node runs.

use super::Tmpfs;
use crate::kit::{HttpResponse, TestAccount, TestNode, function_call, until};
use ledger_crypto::HashValue;
use ledger_types::SignedTransaction;
use ledger_vm::Chain;
use reqwest::Method;
use serde_json::json;
use std::{
    fs::{self, File},
    io::Write as _,
    path::Path,
};

/// How large the file systems of these tests are: several times what the ledgers in them take.
const TMPFS_BYTES: u64 = 64 << 20;

/// A client of a node that runs until the node can write no more.
struct Payer {
    account: TestAccount,
    chain: Chain,
    sequence_number: u64,
    /// What it was told is committed, with the version.
    told: Vec<(HashValue, String)>,
}

impl Payer {
    async fn new(node: &TestNode) -> Self {
        let account = TestAccount::from_seed(1);
        node.fund(&account, 1_000_000_000_000).await;
        Self {
            account,
            chain: node.chain().await,
            sequence_number: 0,
            told: Vec::new(),
        }
    }

    /// Submits the next transfer.
    async fn submit(&mut self, node: &TestNode) -> (HashValue, HttpResponse) {
        let to = TestAccount::from_seed(2).address;
        let transfer = self
            .account
            .transfer(&self.chain, self.sequence_number, to, 1);
        let answer = node.try_submit(&transfer).await.unwrap();
        if answer.status == 202 {
            self.sequence_number += 1;
        }
        (transfer.hash(self.chain.vendor()), answer)
    }

    /// Pays until a transfer that was accepted is not committed; gives that, and the answer to who waits. Where the disk
    /// failed when the log had a block and the database had not, nothing is left over: then the next submission is refused.
    async fn until_full(&mut self, node: &TestNode) -> (Option<HashValue>, HttpResponse) {
        loop {
            let (hash, answer) = self.submit(node).await;
            if answer.status != 202 {
                assert!(!self.told.is_empty(), "{}", answer.text);
                return (None, answer);
            }
            let wait = node
                .get(&format!("/v1/transactions/wait_by_hash/{hash}"))
                .await;
            if wait.status != 200 {
                return (Some(hash), wait);
            }
            if wait.json["type"] == "user_transaction" {
                let version = wait.json["version"].as_str().unwrap().to_owned();
                self.told.push((hash, version));
            }
        }
    }

    /// Checks that all that was told is there.
    async fn check_told(&self, node: &TestNode) {
        for (hash, version) in &self.told {
            let found = node.get(&format!("/v1/transactions/by_hash/{hash}")).await;
            assert_eq!(
                (found.status, &found.json["version"]),
                (200, &json!(version))
            );
        }
    }
}

fn header<'a>(answer: &'a HttpResponse, end: &str) -> Option<&'a str> {
    let mut pairs = answer.headers.iter();
    pairs
        .find(|(name, _)| name.as_str().ends_with(end))
        .map(|(_, value)| value.to_str().unwrap())
}

/// Checks a refusal for now, with its cause.
fn check_refused(answer: &HttpResponse, cause: &str) {
    assert_eq!(answer.status, 503, "{}", answer.text);
    let message = answer.json["message"].as_str().unwrap();
    assert!(message.contains(cause), "{message}");
    assert!(
        header(answer, "retry-after").is_some(),
        "{:?}",
        answer.headers
    );
}

/// Checks what a node answers that cannot write: reads as before, and for the rest the cause.
async fn check_reads_only(node: &TestNode, payer: &mut Payer, cause: &str) {
    let health = node.get("/v1/-/healthy").await;
    assert_eq!(
        (health.status, &health.json["error_code"]),
        (503, &json!("health_check_failed"))
    );
    assert!(health.text.contains(cause), "{}", health.text);

    let (_, refused) = payer.submit(node).await;
    check_refused(&refused, cause);
    assert_eq!(refused.json["error_code"], "internal_error");
    let url = format!("{}/fund", node.faucet.as_ref().unwrap());
    let body = json!({ "address": TestAccount::from_seed(3).address.to_string(), "amount": 1 });
    let refused = node.http.send_json(Method::POST, &url, &body).await;
    check_refused(&refused, cause);

    let ledger = node.get("/v1").await;
    assert_eq!(ledger.status, 200);
    let durable = ledger.json["ledger_version"].as_str().unwrap();
    assert_eq!(header(&ledger, "-ledger-version"), Some(durable));
    payer.check_told(node).await;
    for version in 0..=durable.parse::<u64>().unwrap() {
        let read = node
            .get(&format!("/v1/transactions/by_version/{version}"))
            .await;
        assert_eq!(read.status, 200, "{}", read.text);
        assert_eq!(
            header(&read, "-ledger-version"),
            Some(durable),
            "nothing came since"
        );
    }
    assert!(node.balance(&payer.account.address).await > 0);
}

/// Checks that a node whose write failed says so once, ends with 1 when it is asked to, and that the next
/// one on its directory has all that clients know of, after `repair`.
async fn check_stop_and_restart(
    mut node: TestNode,
    payer: &Payer,
    pending: Option<HashValue>,
    repair: impl FnOnce(),
) {
    let words = "the ledger cannot be written any more";
    let log = node.logged(words).await;
    assert_eq!(log.matches(words).count(), 1, "{log}");
    repair();
    assert_eq!(node.stop("TERM").code(), Some(1), "{}", node.log());
    let last = node.log().lines().last().unwrap_or_default().to_owned();
    assert!(
        last.starts_with("ledger-node: the node did not stop cleanly"),
        "{last}"
    );

    let node = node.restart_with(&[]);
    payer.check_told(&node).await;
    if let Some(pending) = pending {
        let committed = node.try_wait(&pending).await.unwrap();
        assert_eq!(committed["success"], true, "accepted and forgotten");
    }
    let health = node.get("/v1/-/healthy").await;
    assert_eq!(health.status, 200, "{}", health.text);
}

#[tokio::test]
async fn a_file_that_may_grow_no_more_leaves_a_node_that_reads() {
    let mut node = TestNode::start(&[]);
    let mut payer = Payer::new(&node).await;
    node.stop("TERM");
    let file = node.directory().join("data/ledger.redb");
    let size = fs::metadata(file).unwrap().len();
    let node = node.restart_with_file_size_limit(size);
    let (pending, wait) = payer.until_full(&node).await;
    let cause = "File too large";
    check_refused(&wait, cause);
    if let Some(pending) = pending {
        let found = node
            .get(&format!("/v1/transactions/by_hash/{pending}"))
            .await;
        let kind = found.json["type"].as_str().unwrap();
        // Committed where the log had it when the database failed.
        assert!(
            ["pending_transaction", "user_transaction"].contains(&kind),
            "{}",
            found.text
        );
    }
    check_reads_only(&node, &mut payer, cause).await;
    check_stop_and_restart(node, &payer, pending, || ()).await;
}

/// Moves a stopped node's ledger to a small disk of its own.
fn move_to(node: &TestNode, bytes: u64) -> Option<Tmpfs> {
    let data = node.directory().join("data");
    let ledger = fs::read(data.join("ledger.redb")).unwrap();
    let tmpfs = Tmpfs::over(&data, bytes)?;
    fs::write(data.join("ledger.redb"), ledger).unwrap();
    Some(tmpfs)
}

/// Fills a disk but for `left_bytes`.
fn fill(directory: &Path, left_bytes: usize) {
    const CHUNK_BYTES: usize = 64 << 10;
    let mut filler = File::create(directory.join("filler")).unwrap();
    while filler.write_all(&[1; CHUNK_BYTES]).is_ok() {}
    // What a failed write leaves is not known, so the room is made again.
    let length = filler.metadata().unwrap().len();
    filler
        .set_len(length.saturating_sub(u64::try_from(left_bytes).unwrap()))
        .unwrap();
}

#[tokio::test]
async fn a_full_disk_leaves_a_node_that_reads() {
    let mut node = TestNode::start(&[]);
    let mut payer = Payer::new(&node).await;
    node.stop("TERM");
    let Some(tmpfs) = move_to(&node, TMPFS_BYTES) else {
        return;
    };
    // Without a reserve, so that the write itself fails.
    let node = node.restart_with(&["storage.min_free_bytes=0"]);
    fill(&tmpfs.0, 64 << 10);
    let (pending, wait) = payer.until_full(&node).await;
    let cause = "No space left on device";
    check_refused(&wait, cause);
    check_reads_only(&node, &mut payer, cause).await;
    let filler = tmpfs.0.join("filler");
    check_stop_and_restart(node, &payer, pending, || fs::remove_file(filler).unwrap()).await;
}

#[tokio::test]
async fn a_disk_with_little_room_is_noticed_in_time_and_is_over_by_itself() {
    let mut node = TestNode::start(&[]);
    let mut payer = Payer::new(&node).await;
    node.stop("TERM");
    let Some(tmpfs) = move_to(&node, TMPFS_BYTES) else {
        return;
    };
    let mut node = node.restart();
    let (hash, _) = payer.submit(&node).await;
    node.try_wait(&hash).await.unwrap();
    // Less than the tenth that is kept of a small disk, and enough for what is on its way.
    fill(&tmpfs.0, 4 << 20);
    until("the disk to be taken for full", || async {
        (node.get("/v1/-/healthy").await.status == 503).then_some(())
    })
    .await;
    check_reads_only(&node, &mut payer, "storage.min_free_bytes").await;
    fs::remove_file(tmpfs.0.join("filler")).unwrap();
    until("the disk to have room again", || async {
        (node.get("/v1/-/healthy").await.status == 200).then_some(())
    })
    .await;
    let (hash, answer) = payer.submit(&node).await;
    assert_eq!(answer.status, 202, "{}", answer.text);
    node.try_wait(&hash).await.unwrap();
    assert_eq!(node.stop("TERM").code(), Some(0), "{}", node.log());
}

/// Nearly the largest transaction there is. It is never executed: those before it are missing.
fn parked(account: &TestAccount, chain: &Chain, sequence_number: u64) -> SignedTransaction {
    const ARGUMENT_BYTES: usize = 60_000;
    let call = function_call("0x1::coin::transfer", &[], vec![vec![0; ARGUMENT_BYTES]]);
    account.call(chain, sequence_number, call)
}

/// Fills the pool of a node with transactions that wait, until it takes no more; gives those that it took.
async fn park_until_refused(node: &TestNode, accounts: &[TestAccount]) -> Vec<HashValue> {
    const EACH_MAX: u64 = 90;
    let chain = node.chain().await;
    let mut accepted = Vec::new();
    for account in accounts {
        for sequence_number in 1..=EACH_MAX {
            let transaction = parked(account, &chain, sequence_number);
            let answer = node.try_submit(&transaction).await.unwrap();
            match answer.status {
                202 => accepted.push(transaction.hash(chain.vendor())),
                _ => {
                    check_refused(&answer, "storage.min_free_bytes");
                    return accepted;
                }
            }
        }
    }
    accepted
}

async fn check_pending(node: &TestNode, hashes: &[HashValue]) {
    for hash in hashes {
        let found = node.get(&format!("/v1/transactions/by_hash/{hash}")).await;
        assert_eq!(found.json["type"], "pending_transaction", "{}", found.text);
    }
}

/// A stopped node on a small disk, and accounts with funds.
async fn stopped_on_a_small_disk() -> Option<(TestNode, Tmpfs, Vec<TestAccount>)> {
    let mut node = TestNode::start(&[]);
    let accounts: Vec<_> = (1..=4).map(TestAccount::from_seed).collect();
    for account in &accounts {
        node.fund(account, 1_000_000_000_000).await;
    }
    node.stop("TERM");
    let tmpfs = move_to(&node, TMPFS_BYTES)?;
    Some((node, tmpfs, accounts))
}

#[tokio::test]
async fn a_pool_is_taken_in_as_far_as_a_stop_can_save_it() {
    /// Above the tenth that is kept, and below what the transactions would take.
    const FREE_BYTES: usize = 12 << 20;
    let Some((node, tmpfs, accounts)) = stopped_on_a_small_disk().await else {
        return;
    };
    let mut node = node.restart();
    fill(&tmpfs.0, FREE_BYTES);
    let accepted = park_until_refused(&node, &accounts).await;
    assert!(!accepted.is_empty());
    // No room is made before the stop.
    assert_eq!(node.stop("TERM").code(), Some(0), "{}", node.log());
    assert!(!tmpfs.0.join("mempool.bcs.tmp").exists());
    let node = node.restart();
    check_pending(&node, &accepted).await;
}

#[tokio::test]
async fn a_stop_on_a_full_disk_waits_for_room_and_leaves_nothing_that_takes_some() {
    for is_room_made in [true, false] {
        let Some((node, tmpfs, accounts)) = stopped_on_a_small_disk().await else {
            return;
        };
        // Without a reserve, so that there is no room for the pool.
        let mut node = node.restart_with(&["storage.min_free_bytes=0"]);
        let chain = node.chain().await;
        let hash = node.submit(&parked(&accounts[0], &chain, 1)).await;
        fill(&tmpfs.0, 0);
        node.signal("TERM");
        until("the stop to ask for room", || async {
            node.log().contains("make room now").then_some(())
        })
        .await;
        let filler = tmpfs.0.join("filler");
        if is_room_made {
            fs::remove_file(filler).unwrap();
            assert_eq!(
                node.ended_within_patience().await.code(),
                Some(0),
                "{}",
                node.log()
            );
            check_pending(&node.restart(), &[hash]).await;
        } else {
            assert_eq!(node.stop("TERM").code(), Some(1), "{}", node.log());
            assert!(node.log().contains("a second signal"), "{}", node.log());
            assert!(!tmpfs.0.join("mempool.bcs.tmp").exists());
        }
    }
}
