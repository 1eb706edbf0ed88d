//! Reads at least at the version of an earlier response, on other connections and under load.

use ledger_test_support::{
    TestAccount,
    http::{RawConnection, RawResponse, post_bytes, submission_bytes, wait_bytes},
    node::{TestNode, until_parked},
};
use ledger_types::SignedTransaction;
use ledger_vm::Chain;
use serde_json::json;
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::SeqCst},
};

const WRITERS: u64 = 8;

const WRITES: u64 = 40;

/// Balance of each account, which pays for all of its transactions.
const FUNDS: u64 = 10_000_000_000;

/// Returns the newest version of the ledger in the headers.
fn ledger_version(response: &RawResponse) -> u64 {
    assert_eq!(response.status, 200, "{}", response.text());
    response.headers["x-node-ledger-version"].parse().unwrap()
}

/// Returns a read of the account at least at this version, by the header or by the parameter.
fn account_bytes(account: &TestAccount, min_version: u64, by_header: bool) -> Vec<u8> {
    let address = account.address;
    let (query, line) = match by_header {
        true => (
            String::new(),
            format!("x-node-min-ledger-version: {min_version}\r\n"),
        ),
        false => (format!("&min_ledger_version={min_version}"), String::new()),
    };
    let path = format!("/v1/accounts/{address}?timeout_ms=30000{query}");
    format!("GET {path} HTTP/1.1\r\nhost: node\r\n{line}\r\n").into_bytes()
}

fn transfer(account: &TestAccount, chain: &Chain, sequence_number: u64) -> SignedTransaction {
    account.transfer(chain, sequence_number, account.address, 1)
}

/// Submits a transaction and waits until it is committed. Returns the response, whose headers have
/// a version that includes it.
async fn commit(
    connection: &mut RawConnection,
    chain: &Chain,
    transaction: &SignedTransaction,
) -> RawResponse {
    let request = submission_bytes(transaction);
    let accepted = connection.exchange(&request).await.unwrap();
    assert_eq!(accepted.status, 202, "{}", accepted.text());
    let request = wait_bytes(&transaction.hash(chain.vendor()));
    loop {
        let response = connection.exchange(&request).await.unwrap();
        assert_eq!(response.status, 200, "{}", response.text());
        if !response.text().contains("pending_transaction") {
            return response;
        }
    }
}

/// Commits transactions on one connection, and reads each on the other one.
async fn write_and_read(authority: String, chain: Chain, account: TestAccount) {
    let mut writes = RawConnection::connect(&authority).await;
    let mut reads = RawConnection::connect(&authority).await;
    for sequence_number in 0..WRITES {
        let transaction = transfer(&account, &chain, sequence_number);
        let written = ledger_version(&commit(&mut writes, &chain, &transaction).await);
        let request = account_bytes(&account, written, sequence_number % 2 == 0);
        let read = reads.exchange(&request).await.unwrap();
        assert!(ledger_version(&read) >= written);
        let next = (sequence_number + 1).to_string();
        assert_eq!(read.json()["sequence_number"], next, "at {written}");
        // The node has this version only with the next block of any account.
        let later = ledger_version(&read) + 1;
        let request = account_bytes(&account, later, sequence_number % 2 == 1);
        let read = reads.exchange(&request).await.unwrap();
        assert!(ledger_version(&read) >= later);
        assert_eq!(read.json()["sequence_number"], next, "at {later}");
    }
}

/// Commits transactions of an account until `is_over`.
async fn load(authority: String, chain: Chain, account: TestAccount, is_over: Arc<AtomicBool>) {
    let mut connection = RawConnection::connect(&authority).await;
    let mut sequence_number = 0;
    while !is_over.load(SeqCst) {
        let transaction = transfer(&account, &chain, sequence_number);
        commit(&mut connection, &chain, &transaction).await;
        sequence_number += 1;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_connections_read_at_least_the_version_of_an_earlier_response() {
    let node = TestNode::start(&["api.workers=2"]);
    let chain = node.chain().await;
    let authority = node.authority().to_owned();
    let is_over = Arc::new(AtomicBool::new(false));
    let mut accounts = Vec::new();
    for number in 1..=WRITERS + 1 {
        let account = TestAccount::from_seed(number);
        node.fund(&account, FUNDS).await;
        accounts.push(account);
    }
    let of_load = accounts.pop().unwrap();
    let running = tokio::spawn(load(
        authority.clone(),
        chain.clone(),
        of_load,
        Arc::clone(&is_over),
    ));
    let mut writers = Vec::new();
    for account in accounts {
        let writer = write_and_read(authority.clone(), chain.clone(), account);
        writers.push(tokio::spawn(writer));
    }
    for writer in writers {
        writer.await.unwrap();
    }
    is_over.store(true, SeqCst);
    running.await.unwrap();
}

/// The waits do not time out within the test.
#[tokio::test]
async fn a_client_that_disconnects_releases_its_permit() {
    let node = TestNode::start(&["wait.timeout_ms=600000"]);
    let view = json!({
        "function": "0x1::coin::balance",
        "type_arguments": ["0x1::node_coin::NodeCoin"],
        "arguments": ["0xb0b"],
    });
    let path = "/v1/view?min_ledger_version=1000";
    let posted = post_bytes(path, "application/json", view.to_string().as_bytes());
    let account = TestAccount::from_seed(1);
    let request = format!(
        "GET /v1/accounts/{}?min_ledger_version=1000 HTTP/1.1\r\nhost: node\r\n\r\n",
        account.address
    );
    for request in [request.as_bytes(), &posted] {
        let mut connection = RawConnection::connect(node.authority()).await;
        connection.send(request).await;
        until_parked(&node, 1).await;
        drop(connection);
        until_parked(&node, 0).await;
    }
}
