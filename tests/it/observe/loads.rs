//! The limiting stage, as a node names it under loads that one stage bounds.
//!
//! Each load keeps one stage busy, whatever else the machine does, and lasts until the node has
//! named the stage. Whether all cores are busy depends on the machine, so that test is ignored.

use super::snapshot;
use crate::overload::passkeys::Passkeys;
use ledger_test_support::{
    TestAccount, TransactionBuilder, TransactionSigner,
    http::{NodeClient, RawConnection, submission_bytes},
    node::{DiskOperation, SlowDisk, TestNode, bench_report, start_bench, until},
};
use ledger_types::{AccountAddress, SignedTransaction, transaction::TransactionAuthenticator};
use ledger_vm::Chain;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::{task::JoinSet, time::sleep};

/// Funds of each account, enough for every fee.
const FUNDS: u64 = 1_000_000_000_000_000;

/// Number of clients that send at the same time.
const CLIENTS: u64 = 8;

/// Pause of a client after a rejection, and of one that keeps no stage busy.
const PAUSE: Duration = Duration::from_millis(5);

/// Makes the builder of an account's next transaction.
type Build = fn(&Chain, AccountAddress) -> TransactionBuilder;

/// Returns the builder of a transfer.
fn transfer(chain: &Chain, sender: AccountAddress) -> TransactionBuilder {
    TransactionBuilder::transfer(chain, sender, AccountAddress::from_low_u64(0xb0b), 1)
}

/// Returns the builder of a transaction that takes milliseconds to execute and then runs out of
/// gas, so that its output is small.
pub(super) fn long_call(chain: &Chain, sender: AccountAddress) -> TransactionBuilder {
    const TRANSFERS: usize = 1_500;
    let arguments = [json!(vec!["0xb0b"; TRANSFERS]), json!(vec!["1"; TRANSFERS])];
    let function = "0x1::node_account::batch_transfer".parse().unwrap();
    let call = chain.registry().call_from_json(&function, &[], &arguments);
    TransactionBuilder::call(chain, sender, call.unwrap()).max_gas_amount(10_000)
}

/// Submits transactions of one account, as fast as the node accepts them.
async fn submit_all<S: TransactionSigner>(
    client: NodeClient,
    chain: Chain,
    signer: S,
    build: Build,
) {
    let mut sequence_number = 0;
    loop {
        let builder = build(&chain, signer.address()).sequence_number(sequence_number);
        let response = client.try_submit(&builder.sign(&signer)).await;
        match response.map(|response| response.status) {
            Some(202) => sequence_number += 1,
            Some(503 | 507) => sleep(PAUSE).await,
            other => panic!("{other:?}"),
        }
    }
}

/// Funds accounts and starts a client for each, which submits their transactions.
pub(super) async fn submitters<S: TransactionSigner + Send + Sync + 'static>(
    node: &TestNode,
    signer: fn(u64) -> S,
    build: Build,
) -> JoinSet<()> {
    let chain = node.chain().await;
    let mut clients = JoinSet::new();
    for number in 1..=CLIENTS {
        let signer = signer(number);
        node.fund(&signer, FUNDS).await;
        clients.spawn(submit_all(
            node.client.clone(),
            chain.clone(),
            signer,
            build,
        ));
    }
    clients
}

/// Waits until the node names a limit of this kind and stage while `clients` send. Returns its
/// sentence.
async fn until_named(
    node: &TestNode,
    clients: JoinSet<()>,
    kind: &str,
    stage: Option<&str>,
) -> String {
    let what = format!("the limit {kind} of {stage:?}");
    let limit = until(&what, || async {
        let snapshot = snapshot(node).await;
        let limit = &snapshot["limit"];
        (limit["kind"] == kind && limit["stage"].as_str() == stage).then(|| limit.clone())
    })
    .await;
    drop(clients);
    limit["sentence"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn names_the_clients_of_a_node_that_has_time() {
    let node = TestNode::start(&[]);
    let sentence = until_named(&node, JoinSet::new(), "clients", None).await;
    assert_eq!(
        sentence,
        "no stage is at its limit: clients send 0 transactions per second"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_the_signature_checks_under_signatures_that_take_milliseconds() {
    let node = TestNode::start(&["signatures.threads=1", "signatures.nice=0"]);
    let clients = submitters(&node, Passkeys::from_seed, transfer).await;
    let sentence = until_named(&node, clients, "busy", Some("signature-check")).await;
    assert!(
        sentence.ends_with(" ever empty") || sentence.ends_with(" never empty"),
        "{sentence}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_the_executor_under_transactions_that_take_milliseconds() {
    let node = TestNode::start(&["mempool.capacity_per_account=10"]);
    let clients = submitters(&node, TestAccount::from_seed, long_call).await;
    until("the age of a block that waits", || async {
        let snapshot = snapshot(&node).await;
        let mut stages = snapshot["stages"].as_array().unwrap().iter();
        let executor = stages.find(|stage| stage["name"] == "executor").unwrap();
        executor["queue"]["oldest_ms"].as_u64().filter(|ms| *ms > 0)
    })
    .await;
    let sentence = until_named(&node, clients, "busy", Some("executor")).await;
    assert!(
        sentence.ends_with(" ever empty") || sentence.ends_with(" never empty"),
        "{sentence}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_the_readers_under_simulations_that_take_milliseconds() {
    let node = TestNode::start(&["storage.readers=1"]);
    let chain = node.chain().await;
    let mut clients = JoinSet::new();
    for number in 1..=CLIENTS {
        let account = TestAccount::from_seed(number);
        node.fund(&account, FUNDS).await;
        let signed = long_call(&chain, account.address).sign(&account);
        let request = simulation_bytes(&unsigned(signed));
        let authority = node.authority().to_owned();
        clients.spawn(async move {
            let mut connection = RawConnection::connect(&authority).await;
            loop {
                let response = connection.exchange(&request).await.unwrap();
                assert_eq!(response.status, 200, "{}", response.text());
            }
        });
    }
    let sentence = until_named(&node, clients, "busy", Some("store-reader")).await;
    assert!(
        sentence.ends_with(" ever empty") || sentence.ends_with(" never empty"),
        "{sentence}"
    );
}

/// Returns a transaction with a signature that no key has made, as a simulation demands it.
fn unsigned(mut transaction: SignedTransaction) -> SignedTransaction {
    if let TransactionAuthenticator::Ed25519 { signature, .. } = &mut transaction.authenticator {
        signature.0 = [0; 64];
    }
    transaction
}

/// Returns the request of a simulation.
fn simulation_bytes(transaction: &SignedTransaction) -> Vec<u8> {
    let submission = submission_bytes(transaction);
    let path = b"POST /v1/transactions ";
    assert!(submission.starts_with(path));
    let simulation: &[u8] = b"POST /v1/transactions/simulate ";
    [simulation, &submission[path.len()..]].concat()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_a_mailbox_that_is_too_small_for_bursts() {
    let node = TestNode::start(&["actors.mempool.mailbox_capacity=1"]);
    let mut clients = JoinSet::new();
    for _ in 0..4 * CLIENTS {
        let authority = node.authority().to_owned();
        clients.spawn(async move {
            let mut connection = RawConnection::connect(&authority).await;
            let request =
                format!("GET /v1/estimate_gas_price HTTP/1.1\r\nhost: {authority}\r\n\r\n");
            loop {
                let response = connection.exchange(request.as_bytes()).await.unwrap();
                assert!([200, 503].contains(&response.status), "{}", response.text());
                sleep(4 * PAUSE).await;
            }
        });
    }
    let sentence = until_named(&node, clients, "capacity", Some("mempool")).await;
    let of_capacity = "per second: its mailbox of 1 is full, its thread is ";
    assert!(sentence.contains(of_capacity), "{sentence}");
    assert!(sentence.ends_with(" % busy"), "{sentence}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_the_waits_that_their_capacity_rejects() {
    let node = TestNode::start(&["wait.capacity=1"]);
    let chain = node.chain().await;
    let account = TestAccount::from_seed(1);
    node.fund(&account, FUNDS).await;
    // The transaction before it is missing, so it stays in the mempool.
    let pending = account.transfer(&chain, 1, AccountAddress::from_low_u64(0xb0b), 1);
    let submitted = node.client.try_submit(&pending).await.unwrap();
    assert_eq!(submitted.status, 202, "{}", submitted.text);
    let hash = pending.hash(chain.vendor());
    let mut clients = JoinSet::new();
    for _ in 0..CLIENTS {
        let client = node.client.clone();
        clients.spawn(async move {
            loop {
                let path = format!("/v1/transactions/wait_by_hash/{hash}");
                assert_eq!(client.get(&path).await.status, 200);
            }
        });
    }
    let sentence = until_named(&node, clients, "capacity", Some("waits")).await;
    assert!(
        sentence.ends_with("wait.capacity = 1 is reached"),
        "{sentence}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_the_disk_whose_syncs_take_the_time_of_the_writer() {
    const SYNC: Duration = Duration::from_millis(50);
    let Some(disk) = SlowDisk::new() else {
        return;
    };
    let node = disk.start(&["mempool.capacity_per_account=100000"]);
    let clients = submitters(&node, TestAccount::from_seed, transfer).await;
    disk.delay(DiskOperation::Sync, "/data/ledger.", SYNC);
    let sentence = until_named(&node, clients, "disk", Some("store-writer")).await;
    assert!(sentence.starts_with("the disk: "), "{sentence}");
    assert!(sentence.ends_with(" % of the writer"), "{sentence}");
}

/// Shows the largest consumers of a machine whose cores are all busy. The machine must have two
/// cores and no other work.
#[ignore = "whether the processor is the limit depends on the machine: see tests/README.md"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_the_processor_and_its_largest_consumers() {
    let node = TestNode::start(&[]);
    let bench = start_bench(&node, "--connections 64 --mode await --duration 60");
    let consumers: Value = until("the limit processor", || async {
        let snapshot = snapshot(&node).await;
        let limit = &snapshot["limit"];
        (limit["kind"] == "processor").then(|| limit["consumers"].clone())
    })
    .await;
    assert!(consumers.as_array().unwrap().len() > 1, "{consumers}");
    bench_report(bench).await;
}
