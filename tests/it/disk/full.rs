//! A disk that becomes full while a node runs.

use super::Tmpfs;
use ledger_crypto::HashValue;
use ledger_test_support::{
    TestAccount, function_call,
    http::HttpResponse,
    node::{TestNode, until},
};
use ledger_types::SignedTransaction;
use ledger_vm::Chain;
use reqwest::Method;
use serde_json::json;
use std::{
    fs::{self, File},
    io::Write as _,
    path::Path,
};

/// Size of the file systems of these tests, several times that of the ledgers in them.
const TMPFS_BYTES: u64 = 64 << 20;

/// A client that transfers until the node cannot write any more.
struct Payer {
    account: TestAccount,
    chain: Chain,
    sequence_number: u64,
    /// The acknowledged commitments, with their versions.
    acknowledged: Vec<(HashValue, String)>,
}

impl Payer {
    async fn new(node: &TestNode) -> Self {
        let account = TestAccount::from_seed(1);
        node.fund(&account, 1_000_000_000_000).await;
        Self {
            account,
            chain: node.chain().await,
            sequence_number: 0,
            acknowledged: Vec::new(),
        }
    }

    /// Submits the next transfer.
    async fn submit(&mut self, node: &TestNode) -> (HashValue, HttpResponse) {
        let to = TestAccount::from_seed(2).address;
        let transfer = self
            .account
            .transfer(&self.chain, self.sequence_number, to, 1);
        let response = node.try_submit(&transfer).await.unwrap();
        if response.status == 202 {
            self.sequence_number += 1;
        }
        (transfer.hash(self.chain.vendor()), response)
    }

    /// Transfers until an accepted transfer is not committed. Returns its hash and the response to
    /// the wait.
    ///
    /// If the disk failed after the log had the block and before the database had it, no transfer
    /// is left over: then the next submission is rejected, and the hash is `None`.
    async fn until_full(&mut self, node: &TestNode) -> (Option<HashValue>, HttpResponse) {
        loop {
            let (hash, response) = self.submit(node).await;
            if response.status != 202 {
                assert!(!self.acknowledged.is_empty(), "{}", response.text);
                return (None, response);
            }
            let wait = node
                .get(&format!("/v1/transactions/wait_by_hash/{hash}"))
                .await;
            if wait.status != 200 {
                return (Some(hash), wait);
            }
            if wait.json["type"] == "user_transaction" {
                let version = wait.json["version"].as_str().unwrap().to_owned();
                self.acknowledged.push((hash, version));
            }
        }
    }

    /// Checks that the node has every acknowledged commitment.
    async fn check_acknowledged(&self, node: &TestNode) {
        for (hash, version) in &self.acknowledged {
            let found = node.get(&format!("/v1/transactions/by_hash/{hash}")).await;
            assert_eq!(
                (found.status, &found.json["version"]),
                (200, &json!(version))
            );
        }
    }
}

/// Returns the value of the header with this suffix.
fn header<'a>(response: &'a HttpResponse, suffix: &str) -> Option<&'a str> {
    let mut pairs = response.headers.iter();
    pairs
        .find(|(name, _)| name.as_str().ends_with(suffix))
        .map(|(_, value)| value.to_str().unwrap())
}

/// Checks that a request was rejected with 503, `Retry-After`, and this cause.
pub(super) fn check_rejected(response: &HttpResponse, cause: &str) {
    assert_eq!(response.status, 503, "{}", response.text);
    let message = response.json["message"].as_str().unwrap();
    assert!(message.contains(cause), "{message}");
    assert!(
        header(response, "retry-after").is_some(),
        "{:?}",
        response.headers
    );
}

/// Checks that a node that cannot write still serves reads, and names the cause in other
/// responses.
async fn check_reads_only(node: &TestNode, payer: &mut Payer, cause: &str) {
    let health = node.get("/v1/-/healthy").await;
    assert_eq!(
        (health.status, &health.json["error_code"]),
        (503, &json!("health_check_failed"))
    );
    assert!(health.text.contains(cause), "{}", health.text);
    // The probe of readiness names the check, and only a client of the operator gets the cause. A
    // restart would not help, so the probe of liveness succeeds.
    let probe = async |path: &str| node.http.get(&format!("{}{path}", node.admin)).await;
    let ready = probe("/readyz").await;
    assert_eq!((ready.status, ready.text.as_str()), (503, "writable"));
    assert_eq!(probe("/livez").await.status, 200);
    let checks = probe("/checks").await.json;
    let check = checks.as_array().unwrap().iter();
    let mut failed = check.filter(|check| check["ok"] == false);
    let problem = failed.next().unwrap()["problem"].as_str().unwrap();
    assert!(problem.contains(cause), "{checks}");
    assert_eq!(failed.next(), None, "{checks}");

    let (_, rejected) = payer.submit(node).await;
    check_rejected(&rejected, cause);
    assert_eq!(rejected.json["error_code"], "internal_error");
    let url = format!("{}/fund", node.faucet.as_ref().unwrap());
    let body = json!({ "address": TestAccount::from_seed(3).address.to_string(), "amount": 1 });
    let rejected = node.http.send_json(Method::POST, &url, &body).await;
    check_rejected(&rejected, cause);

    let ledger = node.get("/v1").await;
    assert_eq!(ledger.status, 200);
    let durable = ledger.json["ledger_version"].as_str().unwrap();
    assert_eq!(header(&ledger, "-ledger-version"), Some(durable));
    payer.check_acknowledged(node).await;
    for version in 0..=durable.parse::<u64>().unwrap() {
        let read = node
            .get(&format!("/v1/transactions/by_version/{version}"))
            .await;
        assert_eq!(read.status, 200, "{}", read.text);
        assert_eq!(
            header(&read, "-ledger-version"),
            Some(durable),
            "the version has advanced"
        );
    }
    assert!(node.balance(&payer.account.address).await > 0);
}

/// Checks that a node with a failed write logs it once and stops with exit status 1, and that after
/// `repair` the next node on its directory has every acknowledged commitment.
async fn check_stop_and_restart(
    mut node: TestNode,
    payer: &Payer,
    pending: Option<HashValue>,
    repair: impl FnOnce(),
) {
    let words = "the ledger cannot be written: submissions are rejected";
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
    payer.check_acknowledged(&node).await;
    if let Some(pending) = pending {
        let committed = node.try_wait(&pending).await.unwrap();
        assert_eq!(committed["success"], true, "accepted and lost");
    }
    let health = node.get("/v1/-/healthy").await;
    assert_eq!(health.status, 200, "{}", health.text);
}

#[tokio::test]
async fn serves_reads_after_the_file_size_limit_is_reached() {
    let mut node = TestNode::start(&[]);
    let mut payer = Payer::new(&node).await;
    node.stop("TERM");
    let file = node.directory().join("data/ledger.redb");
    let size = fs::metadata(file).unwrap().len();
    let node = node.restart_with_file_size_limit(size);
    let (pending, wait) = payer.until_full(&node).await;
    let cause = "File too large";
    check_rejected(&wait, cause);
    if let Some(pending) = pending {
        let found = node
            .get(&format!("/v1/transactions/by_hash/{pending}"))
            .await;
        let kind = found.json["type"].as_str().unwrap();
        // The transfer is committed if the log had it when the database failed.
        assert!(
            ["pending_transaction", "user_transaction"].contains(&kind),
            "{}",
            found.text
        );
    }
    check_reads_only(&node, &mut payer, cause).await;
    check_stop_and_restart(node, &payer, pending, || ()).await;
}

/// Moves the ledger of a stopped node to a small disk.
fn move_to(node: &TestNode, bytes: u64) -> Option<Tmpfs> {
    let data = node.directory().join("data");
    let ledger = fs::read(data.join("ledger.redb")).unwrap();
    let tmpfs = Tmpfs::over(&data, bytes)?;
    fs::write(data.join("ledger.redb"), ledger).unwrap();
    Some(tmpfs)
}

/// Fills a disk except for `left_bytes`.
pub(super) fn fill(directory: &Path, left_bytes: usize) {
    const CHUNK_BYTES: usize = 64 << 10;
    let mut filler = File::create(directory.join("filler")).unwrap();
    while filler.write_all(&[1; CHUNK_BYTES]).is_ok() {}
    // A failed write may have been partial, so the free space is created afterwards.
    let length = filler.metadata().unwrap().len();
    filler
        .set_len(length.saturating_sub(u64::try_from(left_bytes).unwrap()))
        .unwrap();
}

#[tokio::test]
async fn resumes_without_a_restart_after_the_disk_was_full() {
    let mut node = TestNode::start(&[]);
    let mut payer = Payer::new(&node).await;
    node.stop("TERM");
    let Some(tmpfs) = move_to(&node, TMPFS_BYTES) else {
        return;
    };
    // There is no reserve, so that the writer itself finds the shortage.
    let mut node = node.restart_with(&["storage.min_free_bytes=0", "wait.timeout_ms=300"]);
    let (hash, _) = payer.submit(&node).await;
    node.try_wait(&hash).await.unwrap();
    fill(&tmpfs.0, 64 << 10);
    let (pending, response) = payer.submit(&node).await;
    assert_eq!(response.status, 202, "{}", response.text);
    until("the writer to find the shortage", || async {
        (node.get("/v1/-/healthy").await.status == 503).then_some(())
    })
    .await;
    let path = format!("/v1/transactions/wait_by_hash/{pending}");
    let wait = node.get(&path).await;
    assert_eq!(wait.json["type"], "pending_transaction", "{}", wait.text);
    check_reads_only(
        &node,
        &mut payer,
        "the next write with its checkpoint may take",
    )
    .await;
    fs::remove_file(tmpfs.0.join("filler")).unwrap();
    until("the node to continue", || async {
        (node.get("/v1/-/healthy").await.status == 200).then_some(())
    })
    .await;
    assert_eq!(node.try_wait(&pending).await.unwrap()["success"], true);
    let (hash, response) = payer.submit(&node).await;
    assert_eq!(response.status, 202, "{}", response.text);
    node.try_wait(&hash).await.unwrap();
    assert_eq!(node.stop("TERM").code(), Some(0), "{}", node.log());
}

#[tokio::test]
async fn rejects_writes_before_the_disk_is_full_and_recovers_with_free_space() {
    let mut node = TestNode::start(&[]);
    let mut payer = Payer::new(&node).await;
    node.stop("TERM");
    let Some(tmpfs) = move_to(&node, TMPFS_BYTES) else {
        return;
    };
    let mut node = node.restart();
    let (hash, _) = payer.submit(&node).await;
    node.try_wait(&hash).await.unwrap();
    // Less than the reserve (a tenth of a small disk), and enough for the transfer in flight.
    fill(&tmpfs.0, 4 << 20);
    until("the disk to be considered full", || async {
        (node.get("/v1/-/healthy").await.status == 503).then_some(())
    })
    .await;
    check_reads_only(&node, &mut payer, "storage.min_free_bytes").await;
    fs::remove_file(tmpfs.0.join("filler")).unwrap();
    until("the disk to have free space again", || async {
        (node.get("/v1/-/healthy").await.status == 200).then_some(())
    })
    .await;
    let (hash, response) = payer.submit(&node).await;
    assert_eq!(response.status, 202, "{}", response.text);
    node.try_wait(&hash).await.unwrap();
    assert_eq!(node.stop("TERM").code(), Some(0), "{}", node.log());
}

/// Returns a transaction of nearly the maximum size, whose execution fails.
fn large(account: &TestAccount, chain: &Chain, sequence_number: u64) -> SignedTransaction {
    const ARGUMENT_BYTES: usize = 60_000;
    let call = function_call("0x1::coin::transfer", &[], vec![vec![0; ARGUMENT_BYTES]]);
    account.call(chain, sequence_number, call)
}

/// Submits transactions that wait for earlier ones until one is rejected. Returns the accepted
/// ones.
async fn park_until_rejected(node: &TestNode, accounts: &[TestAccount]) -> Vec<HashValue> {
    const EACH_MAX: u64 = 90;
    let chain = node.chain().await;
    let mut accepted = Vec::new();
    for account in accounts {
        for sequence_number in 1..=EACH_MAX {
            let transaction = large(account, &chain, sequence_number);
            let response = node.try_submit(&transaction).await.unwrap();
            match response.status {
                202 => accepted.push(transaction.hash(chain.vendor())),
                _ => {
                    // Between two measurements of the node, a fast machine submits so much that
                    // the space is too small for any block. So the purpose of the space varies.
                    check_rejected(&response, "and the saved mempool");
                    return accepted;
                }
            }
        }
    }
    accepted
}

/// Checks that the transactions are pending.
async fn check_pending(node: &TestNode, hashes: &[HashValue]) {
    for hash in hashes {
        let found = node.get(&format!("/v1/transactions/by_hash/{hash}")).await;
        assert_eq!(found.json["type"], "pending_transaction", "{}", found.text);
    }
}

/// Creates a stopped node on a small disk, and funded accounts.
async fn stopped_node_on_a_small_disk() -> Option<(TestNode, Tmpfs, Vec<TestAccount>)> {
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
async fn accepts_only_as_many_transactions_as_a_stop_can_save() {
    /// Free space above the reserve of an idle node, and below the size of the transactions.
    const FREE_BYTES: usize = 20 << 20;
    let Some((node, tmpfs, accounts)) = stopped_node_on_a_small_disk().await else {
        return;
    };
    // Before the start, because the disk has no space while it is filled.
    fill(&tmpfs.0, FREE_BYTES);
    let mut node = node.restart();
    let accepted = park_until_rejected(&node, &accounts).await;
    assert!(!accepted.is_empty());
    // The stop needs no more space than is left.
    assert_eq!(node.stop("TERM").code(), Some(0), "{}", node.log());
    assert!(!tmpfs.0.join("mempool.bcs.tmp").exists());
    let node = node.restart();
    check_pending(&node, &accepted).await;
}

#[tokio::test]
async fn commits_pending_transactions_whose_blocks_may_need_more_space_than_is_free() {
    const TRANSACTIONS: u64 = 20;
    /// Free space above the reserve of an idle node with the saved mempool, and below the reserve
    /// with the blocks of the pending transactions.
    const FREE_BYTES: usize = 20 << 20;
    let Some((node, tmpfs, accounts)) = stopped_node_on_a_small_disk().await else {
        return;
    };
    // The first block waits for space, so that a stop saves all transactions.
    let mut node = node.restart_with(&["storage.min_free_bytes=0"]);
    let chain = node.chain().await;
    fill(&tmpfs.0, 0);
    let mut accepted = Vec::new();
    for sequence_number in (0..TRANSACTIONS).rev() {
        let transaction = large(&accounts[0], &chain, sequence_number);
        accepted.push(node.submit(&transaction).await);
    }
    node.signal("TERM");
    node.logged("free disk space now").await;
    fs::remove_file(tmpfs.0.join("filler")).unwrap();
    let ended = node.ended_within_patience().await;
    assert_eq!(ended.code(), Some(0), "{}", node.log());
    fill(&tmpfs.0, FREE_BYTES);
    let node = node.restart_with(&["sequencer.block_transactions_max=1"]);
    for hash in accepted {
        until("the commit", || async {
            let path = format!("/v1/transactions/by_hash/{hash}");
            let found = node.get(&path).await;
            (found.json["type"] == "user_transaction").then_some(())
        })
        .await;
    }
    let log = node
        .logged("disk space is sufficient again: submissions are accepted")
        .await;
    assert!(log.contains("pending transactions are written"), "{log}");
}

#[tokio::test]
async fn waits_for_disk_space_in_a_stop_and_leaves_no_partial_file() {
    for is_space_freed in [true, false] {
        let Some((node, tmpfs, accounts)) = stopped_node_on_a_small_disk().await else {
            return;
        };
        // There is no reserve, so that the disk has no space for the pool.
        let mut node = node.restart_with(&["storage.min_free_bytes=0"]);
        let chain = node.chain().await;
        let hash = node.submit(&large(&accounts[0], &chain, 1)).await;
        fill(&tmpfs.0, 0);
        node.signal("TERM");
        until("the stop to request disk space", || async {
            node.log().contains("free disk space now").then_some(())
        })
        .await;
        let filler = tmpfs.0.join("filler");
        if is_space_freed {
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
