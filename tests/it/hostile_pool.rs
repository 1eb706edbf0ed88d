//! Clients that abuse the mempool or waits.
//!
//! Honest clients are served meanwhile, and no memory of an abandoned request is retained.

use futures::future::join_all;
use ledger_crypto::HashValue;
use ledger_test_support::{
    TestAccount, TransactionBuilder,
    http::{NodeClient, RawConnection, batch_bytes, wait_bytes},
    node::{TestNode, until},
};
use ledger_types::SignedTransaction;
use ledger_vm::Chain;
use serde_json::Value;
use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
};

/// Funds for every transaction of a test.
const FUNDS: u64 = 1_000_000_000_000;

/// Returns an account with funds.
async fn funded_account(node: &TestNode, number: u64) -> TestAccount {
    let account = TestAccount::from_seed(number);
    node.fund(&account, FUNDS).await;
    account
}

/// Returns a transfer of an account to itself.
fn self_transfer(account: &TestAccount, chain: &Chain, sequence_number: u64) -> SignedTransaction {
    account.transfer(chain, sequence_number, account.address, 1)
}

/// Returns the status and the body of the response for a transaction.
async fn status_and_body(node: &TestNode, hash: &HashValue) -> (u16, String) {
    let response = node.get(&format!("/v1/transactions/by_hash/{hash}")).await;
    (response.status, response.text)
}

/// Keeps as many transactions of one account in the mempool as it accepts until `is_over`. Counts
/// the batches of which none was accepted because the mempool was full.
///
/// It submits batches because single transactions may be committed as fast as they are submitted.
async fn spam(
    node: NodeClient,
    chain: Chain,
    account: TestAccount,
    is_over: Arc<AtomicBool>,
    rejected: Arc<AtomicU64>,
) {
    const BATCH: u64 = 10;
    let mut connection = RawConnection::connect(node.authority()).await;
    let mut next = 0;
    while !is_over.load(SeqCst) {
        let batch: Vec<_> = (next..next + BATCH)
            .map(|number| self_transfer(&account, &chain, number))
            .collect();
        let request = batch_bytes(&batch);
        let response = connection.exchange(&request).await.unwrap();
        match response.status {
            202 => next += BATCH,
            206 => next += first_over_capacity(&response.text()).unwrap_or(BATCH),
            507 => {
                assert!(response.headers.contains_key("retry-after"), "{response:?}");
                rejected.fetch_add(1, SeqCst);
            }
            _ => panic!("{response:?}"),
        }
    }
}

/// Returns the index of the first transaction of a batch that was rejected because the mempool was
/// full.
///
/// A later one of the batch may have been accepted, and is accepted again when it is submitted
/// again.
fn first_over_capacity(response: &str) -> Option<u64> {
    let body: Value = serde_json::from_str(response).unwrap();
    let mut failures = body["transaction_failures"].as_array().unwrap().iter();
    let first = failures.find(|failure| failure["error"]["error_code"] == "mempool_is_full")?;
    Some(first["transaction_index"].as_u64().unwrap())
}

/// The blocks have one transaction, so that a hundred pending ones are a hundred blocks. A
/// transaction that waits for all of them waits long.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commits_transactions_of_others_during_spam_from_one_account() {
    const PENDING_MAX: u64 = 100;
    const ROUNDS: u64 = 10;
    let node = TestNode::start(&[
        "sequencer.block_transactions_max=1",
        "sequencer.blocks_in_flight_max=1",
        "mempool.capacity_per_account=100",
    ]);
    let chain = node.chain().await;
    let (spammer, honest) = (
        funded_account(&node, 1).await,
        funded_account(&node, 2).await,
    );
    let (is_over, rejected) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicU64::new(0)),
    );
    let spam_task = spam(
        node.client.clone(),
        chain.clone(),
        spammer.clone(),
        Arc::clone(&is_over),
        Arc::clone(&rejected),
    );
    let spam_task = tokio::spawn(spam_task);
    until("a mempool full of spam", || async {
        (rejected.load(SeqCst) > 0).then_some(())
    })
    .await;
    let mut overtaken = 0;
    for number in 0..ROUNDS {
        let before = node.sequence_number(&spammer.address).await;
        let committed = node
            .submit_and_wait(&self_transfer(&honest, &chain, number))
            .await;
        assert_eq!(committed["success"], true, "{committed}");
        overtaken += node.sequence_number(&spammer.address).await - before;
    }
    is_over.store(true, SeqCst);
    spam_task.await.unwrap();
    // In the order of arrival about ninety transactions would be committed before each.
    assert!(
        overtaken < ROUNDS * PENDING_MAX / 2,
        "{overtaken} spam transactions overtook {ROUNDS}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn evicts_parked_transactions_for_ready_ones_if_the_mempool_is_full() {
    const PARKED: u64 = 1_000;
    let node = TestNode::start(&[&format!("mempool.capacity_transactions={PARKED}")]);
    let chain = node.chain().await;
    let mut spammers = Vec::new();
    for numbers in (100..100 + PARKED).collect::<Vec<_>>().chunks(200) {
        spammers
            .extend(join_all(numbers.iter().map(|&number| funded_account(&node, number))).await);
    }
    let honest = funded_account(&node, 1).await;
    let mut parked = Vec::new();
    for spammer in &spammers {
        parked.push(node.submit(&self_transfer(spammer, &chain, 1)).await);
    }
    let late = node
        .try_submit(&self_transfer(&spammers[0], &chain, 2))
        .await
        .unwrap();
    assert_eq!(
        late.status, 507,
        "a parked transaction was accepted in a full mempool: {}",
        late.text
    );
    assert!(late.headers.contains_key("retry-after"));

    for number in 0..20 {
        let committed = node
            .submit_and_wait(&self_transfer(&honest, &chain, number))
            .await;
        assert_eq!(committed["success"], true, "{committed}");
        // The capacity that the commit frees is filled again.
        let spammer = &spammers[number as usize];
        if let Some(response) = node.try_submit(&self_transfer(spammer, &chain, 3)).await
            && response.status == 202
        {
            parked.push(response.json["hash"].as_str().unwrap().parse().unwrap());
        }
    }
    let mut evicted = 0;
    for hash in &parked {
        match status_and_body(&node, hash).await {
            (200, text) => assert!(text.contains("pending_transaction"), "{text}"),
            (404, text) => {
                assert!(
                    text.contains("to make room"),
                    "removed without a reason: {text}"
                );
                evicted += 1;
            }
            (status, text) => panic!("{status} {text}"),
        }
    }
    assert!(
        (1..=20).contains(&evicted),
        "{evicted} were evicted for 20 transactions"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_with_a_lower_capacity_removes_the_newest_transactions_with_a_reason() {
    const RESTORED: usize = 3;
    let mut node = TestNode::start(&[]);
    let chain = node.chain().await;
    let account = funded_account(&node, 1).await;
    // They wait for the first one, which is not submitted.
    let parked: Vec<_> = (1..=2 * RESTORED as u64)
        .map(|number| self_transfer(&account, &chain, number))
        .collect();
    let mut hashes = Vec::new();
    for transaction in &parked {
        hashes.push(node.submit(transaction).await);
    }
    assert!(node.stop("TERM").success());
    let restored_bytes: usize = parked[..RESTORED]
        .iter()
        .map(|transaction| bcs::serialized_size(transaction).unwrap())
        .sum();
    let file = node.directory().join("data/mempool.bcs");
    assert!(std::fs::metadata(file).unwrap().len() > restored_bytes as u64);
    let node = node.restart_with(&[&format!("mempool.capacity_bytes={restored_bytes}")]);
    for (index, hash) in hashes.iter().enumerate() {
        let (status, text) = status_and_body(&node, hash).await;
        if index < RESTORED {
            assert_eq!(status, 200, "{text}");
            assert!(text.contains("pending_transaction"), "{text}");
        } else {
            assert_eq!(status, 404, "{text}");
            assert!(text.contains("evicted at a restart"), "{text}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replaces_a_transaction_at_a_higher_price_and_names_its_replacement() {
    const REPLACED: u64 = 1_000;
    let node = TestNode::start(&["mempool.capacity_transactions=2"]);
    let chain = node.chain().await;
    let account = funded_account(&node, 1).await;
    let first = self_transfer(&account, &chain, 1).raw;
    let at_price = |gas_unit_price: u64| {
        TransactionBuilder::from_raw(&chain, first.clone())
            .gas_unit_price(gas_unit_price)
            .sign(&account)
    };
    let mut hashes = Vec::new();
    for price in 0..=REPLACED {
        hashes.push(
            node.submit(&at_price(chain.parameters().gas_unit_price_min + price))
                .await,
        );
    }
    let lower = node
        .try_submit(&at_price(chain.parameters().gas_unit_price_min))
        .await
        .unwrap();
    assert_eq!(
        (lower.status, &lower.json["error_code"]),
        (400, &"invalid_transaction_update".into())
    );
    for pair in hashes.windows(2) {
        let (status, text) = status_and_body(&node, &pair[0]).await;
        assert_eq!(status, 404, "{text}");
        assert!(text.contains(&format!("replaced by {}", pair[1])), "{text}");
    }
    // The mempool has capacity for the transaction before it, so that both can be executed.
    assert_eq!(
        node.submit_and_wait(&self_transfer(&account, &chain, 0))
            .await["success"],
        true
    );
    let last = node.try_wait(hashes.last().unwrap()).await.unwrap();
    assert_eq!(
        last["gas_unit_price"],
        (chain.parameters().gas_unit_price_min + REPLACED).to_string()
    );
}

/// The waits do not time out within the test, and there may be far fewer than are started.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn releases_ten_thousand_abandoned_waits() {
    const CONCURRENT: usize = 250;
    const ROUNDS: usize = 40;
    const MEMORY_MAX: usize = 64 * 1024 * 1024;
    let node = TestNode::start(&[
        "wait.timeout_ms=600000",
        "wait.capacity=300",
        "api.max_in_flight=400",
        "api.max_connections=1000",
    ]);
    let chain = node.chain().await;
    let account = funded_account(&node, 1).await;
    let parked = node.submit(&self_transfer(&account, &chain, 1)).await;
    let request = wait_bytes(&parked);
    let committer = async || {
        let url = format!("{}/actors/committer", node.admin);
        node.http.get(&url).await.json["accepted"].as_u64().unwrap()
    };
    let mut resident_before = 0;
    for round in 0..ROUNDS {
        let before = committer().await;
        let mut waits = Vec::new();
        for _ in 0..CONCURRENT {
            let mut connection = RawConnection::connect(node.authority()).await;
            connection.send(&request).await;
            waits.push(connection);
        }
        // A request without a permit gets a response after 100 ms, without a message to the
        // committer, and is sent again. The permits of the last round are released when the node
        // has seen that their connections are closed.
        resend_until_waiting(&request, &mut waits, async || {
            committer().await >= before + CONCURRENT as u64
        })
        .await;
        drop(waits);
        if round == 0 {
            resident_before = node.resident_bytes();
        }
    }
    let grown = node.resident_bytes().saturating_sub(resident_before);
    assert!(grown < MEMORY_MAX, "{grown} bytes are retained");

    let mut honest = RawConnection::connect(node.authority()).await;
    let before = committer().await;
    honest.send(&request).await;
    let mut honest = [honest];
    resend_until_waiting(&request, &mut honest, async || committer().await > before).await;
    node.submit_and_wait(&self_transfer(&account, &chain, 0))
        .await;
    let response = honest[0].response().await.unwrap();
    let text = response.text();
    assert_eq!(response.status, 200, "{text}");
    assert!(text.contains("user_transaction"), "{text}");
}

/// Resends the request on each connection that got a response without a wait, until all requests
/// wait.
///
/// # Panics
///
/// Panics if they never do.
async fn resend_until_waiting(
    request: &[u8],
    waits: &mut [RawConnection],
    all_wait: impl AsyncFn() -> bool,
) {
    const POLLS_MAX: usize = 20_000;
    for _ in 0..POLLS_MAX {
        if all_wait().await {
            return;
        }
        for wait in &mut *waits {
            if wait.is_answered() {
                wait.response().await.unwrap();
                wait.send(request).await;
            }
        }
    }
    panic!("the permits of closed connections were not released");
}
