//! `run`: what it says, and how it ends.

use crate::kit::{HttpResponse, TestAccount, TestNode, until};
use reqwest::Method;
use tokio::task::JoinHandle;

#[tokio::test]
async fn a_development_chain_names_its_accounts_and_they_are_funded() {
    let node = TestNode::start(&[]);
    let greeting = node.greeting.join("\n");
    assert!(greeting.contains("development only"), "{greeting}");
    let addresses: Vec<_> = node
        .greeting
        .iter()
        .filter_map(|line| line.trim().strip_prefix("account "))
        .collect();
    assert_eq!(addresses.len(), 5, "{greeting}");
    for address in addresses {
        assert!(
            node.balance(&address.parse().unwrap()).await > 0,
            "{address}"
        );
    }
}

#[tokio::test]
async fn a_chain_from_a_genesis_file_has_its_accounts_and_no_faucet() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("genesis.toml");
    let genesis =
        "chain_id = 77\nvendor = \"OTHER\"\n[[accounts]]\naddress = \"0xabc\"\nbalance = 42\n";
    std::fs::write(&file, genesis).unwrap();
    let node = TestNode::start(&[&format!("chain.genesis={}", file.display())]);
    assert_eq!(node.faucet, None);
    assert!(node.greeting.is_empty(), "{:?}", node.greeting);
    let answer = node.get("/v1").await;
    assert_eq!(answer.json["chain_id"], 77);
    assert!(answer.headers.contains_key("x-other-chain-id"));
    assert_eq!(node.balance(&"0xabc".parse().unwrap()).await, 42);
}

#[tokio::test]
async fn starts_with_the_largest_number_of_worker_threads() {
    let mut node = TestNode::start(&["api.workers=512"]);
    #[cfg(target_os = "linux")]
    {
        let threads = node.scheduling_policies().len();
        assert!(threads > 512, "{threads} threads after the ready line");
    }
    assert_eq!(node.get("/v1").await.status, 200);
    assert!(node.stop("TERM").success());
}

#[cfg(target_os = "linux")]
#[test]
fn its_threads_wait_their_turns_where_the_settings_say_so() {
    // Of sched(7).
    const SCHED_BATCH: u32 = 3;
    let inherited = procfs::process::Process::myself()
        .unwrap()
        .stat()
        .unwrap()
        .policy
        .unwrap();
    let node = TestNode::start(&["process.scheduling=inherit"]);
    assert!(
        node.scheduling_policies()
            .iter()
            .all(|&policy| policy == inherited)
    );
    let node = TestNode::start(&[]);
    let policies = node.scheduling_policies();
    assert!(policies.len() > 5, "{policies:?}");
    // Who starts the tests may have decided otherwise.
    if inherited == 0 {
        assert!(
            policies.iter().all(|&policy| policy == SCHED_BATCH),
            "{policies:?}"
        );
    }
}

#[test]
fn both_signals_stop_it_cleanly() {
    for signal in ["INT", "TERM"] {
        let mut node = TestNode::start(&[]);
        let status = node.stop(signal);
        assert_eq!(status.code(), Some(0), "{signal}: {}", node.log());
    }
}

#[test]
fn an_address_in_use_ends_it_with_1_and_names_the_listener() {
    let first = TestNode::start(&[]);
    let taken = first.api.strip_prefix("http://").unwrap();
    let directory = tempfile::tempdir().unwrap();
    let settings = [format!("api.listen={taken}")];
    let output = TestNode::command(directory.path(), &settings)
        .output()
        .unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(
        message.contains("api.listen") && message.contains(taken),
        "{message}"
    );
}

#[test]
fn a_directory_in_use_ends_it_with_1() {
    let first = TestNode::start(&[]);
    let output = TestNode::command(first.directory(), &[]).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("in use"), "{message}");
}

#[test]
fn the_log_is_json_where_that_is_asked_for() {
    let mut node = TestNode::start(&["log.format=json"]);
    node.stop("TERM");
    let log = node.log();
    assert!(log.lines().count() > 1);
    for line in log.lines() {
        let entry: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(entry["level"].is_string(), "{line}");
    }
}

/// How many requests committer and mempool have taken.
async fn asked(node: &TestNode) -> (u64, u64) {
    let taken = async |actor: &str| {
        let url = format!("{}/actors/{actor}", node.admin);
        node.http.get(&url).await.json["accepted"].as_u64().unwrap()
    };
    (taken("committer").await, taken("mempool").await)
}

/// Begins a long poll that no commitment ends, and returns when it is parked.
async fn park_a_wait(node: &TestNode) -> JoinHandle<Option<HttpResponse>> {
    let chain = node.chain().await;
    let account = TestAccount::from_seed(1);
    node.fund(&account, 1_000_000_000).await;
    // Waits for its predecessor, which never comes.
    let parked = account.transfer(&chain, 1, account.address, 1);
    let hash = node.submit(&parked).await;
    let before = asked(node).await;
    let url = format!("{}/v1/transactions/wait_by_hash/{hash}", node.api);
    let http = node.http.clone();
    let waiting = tokio::spawn(async move { http.try_send(http.request(Method::GET, &url)).await });
    // It subscribes at the committer, then looks in the mempool: a stop in between would answer it.
    until("the wait to begin", || async {
        let now = asked(node).await;
        (now.0 > before.0 && now.1 > before.1).then_some(())
    })
    .await;
    waiting
}

/// The longest that `wait.timeout_ms` can be.
const LONGEST_WAIT: &str = "wait.timeout_ms=600000";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_answers_those_who_wait() {
    let mut node = TestNode::start(&["wait.timeout_ms=1500"]);
    let waiting = park_a_wait(&node).await;
    let status = node.stop("TERM");
    assert_eq!(status.code(), Some(0), "{}", node.log());
    let answer = waiting.await.unwrap().unwrap();
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!(answer.json["type"], "pending_transaction");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_does_not_wait_for_the_longest_waits() {
    let mut node = TestNode::start(&[LONGEST_WAIT]);
    let waiting = park_a_wait(&node).await;
    node.signal("TERM");
    let status = node.ended_within_patience().await;
    assert_eq!(status.code(), Some(0), "{}", node.log());
    // Its connection is cut, or it is told in the moment before that the node is stopping.
    if let Some(answer) = waiting.await.unwrap() {
        assert_eq!(answer.status, 503, "{}", answer.text);
        assert_eq!(answer.json["message"], "the node is stopping");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_signal_ends_it_at_once() {
    let mut node = TestNode::start(&[LONGEST_WAIT]);
    let _waiting = park_a_wait(&node).await;
    // Two kinds: of one kind the system may make one.
    node.signal("TERM");
    node.signal("INT");
    let status = node.ended_within_patience().await;
    assert_eq!(status.code(), Some(1), "{}", node.log());
    assert!(node.log().contains("second signal"), "{}", node.log());
}

#[tokio::test]
async fn a_second_start_continues_the_ledger() {
    let mut node = TestNode::start(&[]);
    let account = TestAccount::from_seed(1);
    node.fund(&account, 1234).await;
    let before = node.get("/v1").await.json;
    assert_eq!(node.stop("INT").code(), Some(0));
    let node = node.restart();
    assert_eq!(node.get("/v1").await.json, before);
    assert_eq!(node.balance(&account.address).await, 1234);
}
