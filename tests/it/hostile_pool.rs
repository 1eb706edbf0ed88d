//! Clients that mean harm to the pool and to those who wait: whatever they send, honest ones still get through,
//! and nothing of theirs is kept.

use crate::kit::{
    NodeClient, RawConnection, TestAccount, TestNode, TransactionBuilder, batch_bytes, until,
    wait_bytes,
};
use futures::future::join_all;
use ledger_crypto::HashValue;
use ledger_types::SignedTransaction;
use ledger_vm::Chain;
use serde_json::Value;
use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
};

/// Enough for every transaction of a test.
const FUNDS: u64 = 1_000_000_000_000;

/// An account with funds.
async fn funded(node: &TestNode, number: u64) -> TestAccount {
    let account = TestAccount::from_seed(number);
    node.fund(&account, FUNDS).await;
    account
}

/// A transfer to itself.
fn own(account: &TestAccount, chain: &Chain, sequence_number: u64) -> SignedTransaction {
    account.transfer(chain, sequence_number, account.address, 1)
}

/// What the node says of a transaction.
async fn told(node: &TestNode, hash: &HashValue) -> (u16, String) {
    let answer = node.get(&format!("/v1/transactions/by_hash/{hash}")).await;
    (answer.status, answer.text)
}

/// Keeps as many transactions of one account in the pool as it takes, until it is told to end; counts the
/// batches of which nothing was taken, as there was no room. In batches, as one at a time may come no faster
/// than it is committed.
async fn spam(
    node: NodeClient,
    chain: Chain,
    account: TestAccount,
    over: Arc<AtomicBool>,
    refused: Arc<AtomicU64>,
) {
    const BATCH: u64 = 10;
    let mut connection = RawConnection::connect(node.authority()).await;
    let mut next = 0;
    while !over.load(SeqCst) {
        let batch: Vec<_> = (next..next + BATCH)
            .map(|number| own(&account, &chain, number))
            .collect();
        let request = batch_bytes(&batch);
        let answer = connection.exchange(&request).await.unwrap();
        match answer.status {
            202 => next += BATCH,
            206 => next += first_without_room(&answer.text()).unwrap_or(BATCH),
            507 => {
                assert!(answer.headers.contains_key("retry-after"), "{answer:?}");
                refused.fetch_add(1, SeqCst);
            }
            _ => panic!("{answer:?}"),
        }
    }
}

/// Where in a batch the first stands for which the pool had no room. One behind it may have found some, and be
/// committed when it comes again: that is refused too, and not for want of room.
fn first_without_room(answer: &str) -> Option<u64> {
    let told: Value = serde_json::from_str(answer).unwrap();
    let mut failures = told["transaction_failures"].as_array().unwrap().iter();
    let first = failures.find(|failure| failure["error"]["error_code"] == "mempool_is_full")?;
    Some(first["transaction_index"].as_u64().unwrap())
}

/// Blocks of one, so that a hundred pending ones are a hundred blocks: who waits behind all of them waits long.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn spam_from_one_account_does_not_hold_up_others() {
    const PENDING_MAX: u64 = 100;
    const ROUNDS: u64 = 10;
    let node = TestNode::start(&[
        "sequencer.block_transactions_max=1",
        "sequencer.blocks_in_flight_max=1",
        "mempool.capacity_per_account=100",
    ]);
    let chain = node.chain().await;
    let (spammer, honest) = (funded(&node, 1).await, funded(&node, 2).await);
    let (over, refused) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicU64::new(0)),
    );
    let spamming = spam(
        node.client.clone(),
        chain.clone(),
        spammer.clone(),
        Arc::clone(&over),
        Arc::clone(&refused),
    );
    let spamming = tokio::spawn(spamming);
    until("a pool full of spam", || async {
        (refused.load(SeqCst) > 0).then_some(())
    })
    .await;
    let mut overtaken = 0;
    for number in 0..ROUNDS {
        let before = node.sequence_number(&spammer.address).await;
        let committed = node.submit_and_wait(&own(&honest, &chain, number)).await;
        assert_eq!(committed["success"], true, "{committed}");
        overtaken += node.sequence_number(&spammer.address).await - before;
    }
    over.store(true, SeqCst);
    spamming.await.unwrap();
    // In the order of arrival each would have waited for some ninety.
    assert!(
        overtaken < ROUNDS * PENDING_MAX / 2,
        "{overtaken} of the spam went before {ROUNDS}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parked_transactions_that_fill_the_pool_give_way_to_those_that_can_run() {
    const PARKED: u64 = 1_000;
    let node = TestNode::start(&[&format!("mempool.capacity_transactions={PARKED}")]);
    let chain = node.chain().await;
    let mut spammers = Vec::new();
    for numbers in (100..100 + PARKED).collect::<Vec<_>>().chunks(200) {
        spammers.extend(join_all(numbers.iter().map(|&number| funded(&node, number))).await);
    }
    let honest = funded(&node, 1).await;
    let mut parked = Vec::new();
    for spammer in &spammers {
        parked.push(node.submit(&own(spammer, &chain, 1)).await);
    }
    let late = node
        .try_submit(&own(&spammers[0], &chain, 2))
        .await
        .unwrap();
    assert_eq!(
        late.status, 507,
        "a parked one takes no place: {}",
        late.text
    );
    assert!(late.headers.contains_key("retry-after"));

    for number in 0..20 {
        let committed = node.submit_and_wait(&own(&honest, &chain, number)).await;
        assert_eq!(committed["success"], true, "{committed}");
        // The room that it leaves is filled again.
        let spammer = &spammers[number as usize];
        if let Some(answer) = node.try_submit(&own(spammer, &chain, 3)).await
            && answer.status == 202
        {
            parked.push(answer.json["hash"].as_str().unwrap().parse().unwrap());
        }
    }
    let mut evicted = 0;
    for hash in &parked {
        match told(&node, hash).await {
            (200, text) => assert!(text.contains("pending_transaction"), "{text}"),
            (404, text) => {
                assert!(
                    text.contains("to make room"),
                    "it left without a reason: {text}"
                );
                evicted += 1;
            }
            (status, text) => panic!("{status} {text}"),
        }
    }
    assert!((1..=20).contains(&evicted), "{evicted} were evicted for 20");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_price_that_rises_forever_costs_one_place_and_each_replaced_one_says_so() {
    const REPLACED: u64 = 1_000;
    let node = TestNode::start(&["mempool.capacity_transactions=2"]);
    let chain = node.chain().await;
    let account = funded(&node, 1).await;
    let first = own(&account, &chain, 1).raw;
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
        let (status, text) = told(&node, &pair[0]).await;
        assert_eq!(status, 404, "{text}");
        assert!(text.contains(&format!("replaced by {}", pair[1])), "{text}");
    }
    // There is room for the one before it, so that both can run.
    assert_eq!(
        node.submit_and_wait(&own(&account, &chain, 0)).await["success"],
        true
    );
    let last = node.try_wait(hashes.last().unwrap()).await.unwrap();
    assert_eq!(
        last["gas_unit_price"],
        (chain.parameters().gas_unit_price_min + REPLACED).to_string()
    );
}

/// Without an end of their own within the test, of which far fewer may be there than are begun.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_abandoned_waits_leave_nothing() {
    const AT_ONCE: usize = 250;
    const ROUNDS: usize = 40;
    const MEMORY_MAX: usize = 64 * 1024 * 1024;
    let node = TestNode::start(&[
        "wait.timeout_ms=600000",
        "wait.capacity=300",
        "api.max_in_flight=400",
        "api.max_connections=1000",
    ]);
    let chain = node.chain().await;
    let account = funded(&node, 1).await;
    let parked = node.submit(&own(&account, &chain, 1)).await;
    let request = wait_bytes(&parked);
    let committer = async || {
        let url = format!("{}/actors/committer", node.admin);
        node.http.get(&url).await.json["accepted"].as_u64().unwrap()
    };
    let mut resident_before = 0;
    for round in 0..ROUNDS {
        let before = committer().await;
        let mut waits = Vec::new();
        for _ in 0..AT_ONCE {
            let mut connection = RawConnection::connect(node.authority()).await;
            connection.send(&request).await;
            waits.push(connection);
        }
        // Who has no place is answered at once, without a question to the committer, and asks again: those of
        // the last round give theirs back when the node has seen that they are gone.
        park(&request, &mut waits, async || {
            committer().await >= before + AT_ONCE as u64
        })
        .await;
        drop(waits);
        if round == 0 {
            resident_before = node.resident_bytes();
        }
    }
    let grown = node.resident_bytes().saturating_sub(resident_before);
    assert!(grown < MEMORY_MAX, "{grown} bytes are kept");

    let mut honest = RawConnection::connect(node.authority()).await;
    let before = committer().await;
    honest.send(&request).await;
    let mut honest = [honest];
    park(&request, &mut honest, async || committer().await > before).await;
    node.submit_and_wait(&own(&account, &chain, 0)).await;
    let answer = honest[0].response().await.unwrap();
    let text = answer.text();
    assert_eq!(answer.status, 200, "{text}");
    assert!(text.contains("user_transaction"), "{text}");
}

/// Sends the request again over each connection that was answered at once, until all wait.
///
/// # Panics
/// When they never do.
async fn park(request: &[u8], waits: &mut [RawConnection], all_wait: impl AsyncFn() -> bool) {
    const LOOKS_MAX: usize = 20_000;
    for _ in 0..LOOKS_MAX {
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
    panic!("the places of those that are gone were not given back");
}
