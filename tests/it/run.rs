//! The command `run`: its output and its end.

use ledger_test_support::{TestAccount, node::TestNode};
use reqwest::Method;

#[tokio::test]
async fn prints_and_funds_the_accounts_of_a_development_chain() {
    let node = TestNode::start(&[]);
    let greeting = node.greeting.join("\n");
    assert!(greeting.contains("development only"), "{greeting}");
    let accounts: Vec<_> = node
        .greeting
        .iter()
        .filter_map(|line| account(line))
        .collect();
    assert_eq!(accounts.len(), 5, "{greeting}");
    for (address, balance) in accounts {
        assert_eq!(node.balance(&address.parse().unwrap()).await, balance);
    }
}

/// Returns address and balance of a line about a funded account.
fn account(line: &str) -> Option<(&str, u64)> {
    let (address, balance) = line
        .trim()
        .strip_prefix("account ")?
        .split_once(" holds ")?;
    Some((address, balance.parse().unwrap()))
}

#[tokio::test]
async fn prints_the_directory_and_whether_the_ledger_is_new() {
    let mut node = TestNode::start(&[]);
    let data = std::fs::canonicalize(node.directory().join("data")).unwrap();
    let line = |node: &TestNode| node.greeting.last().cloned().unwrap();
    assert_eq!(line(&node), format!("ledger new, in {}", data.display()));
    // The first development account, whose key is public.
    let first = node.greeting.iter().find_map(|line| account(line)).unwrap();
    let (address, before) = (first.0.to_owned(), first.1);
    let url = format!("{}/fund", node.faucet.as_ref().unwrap());
    let body = serde_json::json!({ "address": address, "amount": 5 });
    let funded = node.http.send_json(Method::POST, &url, &body).await;
    assert_eq!(funded.status, 200, "{}", funded.text);
    node.stop("TERM");
    let node = node.restart();
    let height = node.get("/v1").await.json["block_height"].clone();
    let continued = format!(
        "ledger continued from height {}, in {}",
        height.as_str().unwrap(),
        data.display()
    );
    assert_eq!(line(&node), continued);
    let funded = format!("account {address} holds {}", before + 5);
    assert!(
        node.greeting.iter().any(|line| line.trim() == funded),
        "{:?}",
        node.greeting
    );
}

#[test]
fn warns_that_other_machines_reach_a_development_chain() {
    let warning = "other machines reach a development chain";
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("genesis.toml");
    std::fs::write(&file, "chain_id = 7\naccounts = []\n").unwrap();
    let own = format!("chain.genesis={}", file.display());
    for (settings, is_warned) in [
        (vec!["api.listen=0.0.0.0:0"], true),
        (vec![], false),
        (vec!["api.listen=0.0.0.0:0", &*own], false),
    ] {
        let mut node = TestNode::start(&settings);
        node.stop("TERM");
        assert_eq!(
            node.log().contains(warning),
            is_warned,
            "{settings:?}: {}",
            node.log()
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
    assert_eq!(node.greeting.len(), 1, "{:?}", node.greeting);
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
fn exits_with_1_before_it_creates_a_ledger_if_an_address_is_in_use() {
    let first = TestNode::start(&[]);
    let used = first.api.strip_prefix("http://").unwrap();
    let directory = tempfile::tempdir().unwrap();
    let settings = [format!("api.listen={used}")];
    let output = TestNode::command(directory.path(), &settings)
        .output()
        .unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    for part in ["api.listen", used, "choose another port"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert!(!directory.path().join("data").exists());
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
