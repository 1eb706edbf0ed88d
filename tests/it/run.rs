//! The command `run`: its output and its end.

use crate::kit::{HttpResponse, TestAccount, TestNode, until};
use reqwest::Method;
use tokio::task::JoinHandle;

#[tokio::test]
async fn prints_and_funds_the_accounts_of_a_development_chain() {
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
async fn creates_a_chain_from_a_genesis_file_without_a_faucet() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("genesis.toml");
    let genesis =
        "chain_id = 77\nvendor = \"OTHER\"\n[[accounts]]\naddress = \"0xabc\"\nbalance = 42\n";
    std::fs::write(&file, genesis).unwrap();
    let node = TestNode::start(&[&format!("chain.genesis={}", file.display())]);
    assert_eq!(node.faucet, None);
    assert!(node.greeting.is_empty(), "{:?}", node.greeting);
    let response = node.get("/v1").await;
    assert_eq!(response.json["chain_id"], 77);
    assert!(response.headers.contains_key("x-other-chain-id"));
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
fn sets_the_configured_scheduling_policy_of_its_threads() {
    // The number of the policy in sched(7).
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
    // The process that runs the tests may have selected another policy.
    if inherited == 0 {
        assert!(
            policies.iter().all(|&policy| policy == SCHED_BATCH),
            "{policies:?}"
        );
    }
}

#[test]
fn stops_cleanly_on_both_signals() {
    for signal in ["INT", "TERM"] {
        let mut node = TestNode::start(&[]);
        let status = node.stop(signal);
        assert_eq!(status.code(), Some(0), "{signal}: {}", node.log());
    }
}

#[test]
fn exits_with_1_and_names_the_listener_if_an_address_is_in_use() {
    let first = TestNode::start(&[]);
    let used = first.api.strip_prefix("http://").unwrap();
    let directory = tempfile::tempdir().unwrap();
    let settings = [format!("api.listen={used}")];
    let output = TestNode::command(directory.path(), &settings)
        .output()
        .unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(
        message.contains("api.listen") && message.contains(used),
        "{message}"
    );
}

#[test]
fn logs_json_if_it_is_configured() {
    let mut node = TestNode::start(&["log.format=json"]);
    node.stop("TERM");
    let log = node.log();
    assert!(log.lines().count() > 1);
    for line in log.lines() {
        let entry: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(entry["level"].is_string(), "{line}");
    }
}

/// Returns the numbers of requests that committer and mempool have accepted.
async fn accepted(node: &TestNode) -> (u64, u64) {
    let of_actor = async |actor: &str| {
        let url = format!("{}/actors/{actor}", node.admin);
        node.http.get(&url).await.json["accepted"].as_u64().unwrap()
    };
    (of_actor("committer").await, of_actor("mempool").await)
}

/// Starts a long poll that no commit ends. Returns its task once it is parked.
async fn start_long_poll(node: &TestNode) -> JoinHandle<Option<HttpResponse>> {
    let chain = node.chain().await;
    let account = TestAccount::from_seed(1);
    node.fund(&account, 1_000_000_000).await;
    // This transaction waits for its predecessor, which is never submitted.
    let parked = account.transfer(&chain, 1, account.address, 1);
    let hash = node.submit(&parked).await;
    let before = accepted(node).await;
    let url = format!("{}/v1/transactions/wait_by_hash/{hash}", node.api);
    let http = node.http.clone();
    let long_poll =
        tokio::spawn(async move { http.try_send(http.request(Method::GET, &url)).await });
    // The wait subscribes at the committer before it is looked up in the mempool. A stop in between
    // would end it.
    until("the wait to be parked", || async {
        let now = accepted(node).await;
        (now.0 > before.0 && now.1 > before.1).then_some(())
    })
    .await;
    long_poll
}

/// The maximum of `wait.timeout_ms`.
const MAXIMUM_WAIT: &str = "wait.timeout_ms=600000";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn completes_long_polls_at_a_stop() {
    let mut node = TestNode::start(&["wait.timeout_ms=1500"]);
    let long_poll = start_long_poll(&node).await;
    let status = node.stop("TERM");
    assert_eq!(status.code(), Some(0), "{}", node.log());
    let response = long_poll.await.unwrap().unwrap();
    assert_eq!(response.status, 200, "{}", response.text);
    assert_eq!(response.json["type"], "pending_transaction");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn does_not_wait_for_the_longest_long_polls_at_a_stop() {
    let mut node = TestNode::start(&[MAXIMUM_WAIT]);
    let long_poll = start_long_poll(&node).await;
    node.signal("TERM");
    let status = node.ended_within_patience().await;
    assert_eq!(status.code(), Some(0), "{}", node.log());
    // The connection is closed, or the response says that the node is stopping.
    if let Some(response) = long_poll.await.unwrap() {
        assert_eq!(response.status, 503, "{}", response.text);
        assert_eq!(response.json["message"], "the node is stopping");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn exits_with_1_on_a_second_signal() {
    let mut node = TestNode::start(&[MAXIMUM_WAIT]);
    let _long_poll = start_long_poll(&node).await;
    // The signals differ, because pending signals of one kind are merged.
    node.signal("TERM");
    node.signal("INT");
    let status = node.ended_within_patience().await;
    assert_eq!(status.code(), Some(1), "{}", node.log());
    assert!(node.log().contains("second signal"), "{}", node.log());
}

#[tokio::test]
async fn continues_the_ledger_after_a_restart() {
    let mut node = TestNode::start(&[]);
    let account = TestAccount::from_seed(1);
    node.fund(&account, 1234).await;
    let before = node.get("/v1").await.json;
    assert_eq!(node.stop("INT").code(), Some(0));
    let node = node.restart();
    assert_eq!(node.get("/v1").await.json, before);
    assert_eq!(node.balance(&account.address).await, 1234);
}
