//! The metrics of a node, as Prometheus reads them: counters that move with the work, the names of
//! `config/metrics.md`, and no text from clients.

#[cfg(feature = "bft")]
use crate::cluster::kit::Cluster;
use ledger_test_support::{
    TestAccount,
    http::{RawConnection, post_bytes, submission_media_type},
    node::{TestNode, until_parked},
};
use ledger_types::Vendor;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    io::Write as _,
    process::{Command, Stdio},
};

/// The document that names, types, labels and help texts must match.
const DOCUMENT: &str = include_str!("../../config/metrics.md");

/// A response of `GET /metrics`.
pub(crate) struct Scrape {
    text: String,
}

/// A metric family: its type, its help text and the names of its labels.
#[derive(Debug, Default, PartialEq, Eq)]
struct Family {
    kind: String,
    help: String,
    labels: BTreeSet<String>,
}

impl Scrape {
    /// Requests the metrics of a node.
    pub(crate) async fn of(node: &TestNode) -> Self {
        let response = node.http.get(&format!("{}/metrics", node.admin)).await;
        assert_eq!(response.status, 200, "{}", response.text);
        assert_eq!(
            response.headers["content-type"],
            "text/plain; version=0.0.4"
        );
        Self {
            text: response.text,
        }
    }

    /// Returns name, labels and value of each sample.
    fn samples(&self) -> impl Iterator<Item = (&str, BTreeMap<&str, &str>, f64)> {
        let lines = self.text.lines().filter(|line| !line.starts_with('#'));
        lines.map(|line| {
            let (series, value) = line.rsplit_once(' ').unwrap();
            let (name, labels) = series.split_once('{').unwrap_or((series, ""));
            let pairs = labels.trim_end_matches("\"}").split("\",");
            let pairs = pairs.filter(|pair| !pair.is_empty());
            let labels = pairs.map(|pair| pair.split_once("=\"").unwrap()).collect();
            (name, labels, sample_value(value))
        })
    }

    /// Returns the sum of the samples with this name and these labels.
    pub(crate) fn sum(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        let has = |of: &BTreeMap<&str, &str>| {
            labels
                .iter()
                .all(|(name, value)| of.get(name) == Some(value))
        };
        let of_name: Vec<_> = self.samples().filter(|(of, ..)| *of == name).collect();
        assert!(!of_name.is_empty(), "no metric {name} is served");
        let selected = of_name.iter().filter(|(_, with, _)| has(with));
        selected.map(|(_, _, value)| value).sum()
    }

    /// Returns the families by name.
    fn families(&self) -> BTreeMap<String, Family> {
        let mut families: BTreeMap<String, Family> = BTreeMap::new();
        for line in self.text.lines() {
            for (prefix, is_help) in [("# HELP ", true), ("# TYPE ", false)] {
                let Some((name, words)) = line
                    .strip_prefix(prefix)
                    .and_then(|rest| rest.split_once(' '))
                else {
                    continue;
                };
                let family = families.entry(name.to_owned()).or_default();
                let field = if is_help {
                    &mut family.help
                } else {
                    &mut family.kind
                };
                assert!(field.is_empty(), "duplicate: {line}");
                *field = words.to_owned();
            }
        }
        for (name, labels, _) in self.samples() {
            let of_histogram = ["_bucket", "_sum", "_count"]
                .iter()
                .find_map(|end| name.strip_suffix(end));
            let of = of_histogram
                .filter(|stem| families.contains_key(*stem))
                .unwrap_or(name);
            let family = families
                .get_mut(of)
                .unwrap_or_else(|| panic!("{name} has no type"));
            let names = labels.into_keys().filter(|label| *label != "le");
            family.labels.extend(names.map(str::to_owned));
        }
        families
    }
}

/// Returns the value of a sample. The format has one spelling of each value that is not finite, but
/// Rust parses several.
fn sample_value(text: &str) -> f64 {
    let value: f64 = text.parse().unwrap();
    assert!(
        value.is_finite() || ["+Inf", "-Inf", "NaN"].contains(&text),
        "not a value of the format: {text}"
    );
    value
}

/// Returns the families of the document's table.
fn documented() -> BTreeMap<String, Family> {
    let rows = DOCUMENT.lines().filter_map(|line| line.strip_prefix("| `"));
    let families = rows.map(|row| {
        let cells: Vec<_> = row.trim_end_matches(" |").split(" | ").collect();
        let [name, kind, labels, help] = cells[..] else {
            panic!("the row does not have four cells: {row}");
        };
        let labels = labels.split(", ").filter(|label| !label.is_empty());
        let family = Family {
            kind: kind.to_owned(),
            help: help.to_owned(),
            labels: labels
                .map(|label| label.trim_matches('`').to_owned())
                .collect(),
        };
        (name.trim_end_matches('`').to_owned(), family)
    });
    families.collect()
}

/// Returns the document's row of a family.
fn row(name: &str, family: &Family) -> String {
    let labels: Vec<_> = family
        .labels
        .iter()
        .map(|label| format!("`{label}`"))
        .collect();
    format!(
        "| `{name}` | {} | {} | {} |",
        family.kind,
        labels.join(", "),
        family.help
    )
}

/// Starts a node and commits a transfer. Returns the node with the accounts of sender and
/// recipient.
pub async fn node_at_work(settings: &[&str]) -> (TestNode, TestAccount, TestAccount) {
    let node = TestNode::start(settings);
    let (alice, bob) = (TestAccount::from_seed(1), TestAccount::from_seed(2));
    node.fund(&alice, 1_000_000_000).await;
    let chain = node.chain().await;
    node.submit_and_wait(&alice.transfer(&chain, 0, bob.address, 5))
        .await;
    (node, alice, bob)
}

/// Returns the families that a node of a chain of several validators serves.
#[cfg(feature = "bft")]
async fn families_of_validator() -> BTreeMap<String, Family> {
    let cluster = Cluster::start();
    Scrape::of(cluster.node(0)).await.families()
}

/// Returns the documented families of consensus engine and relay, which this program does not have.
#[cfg(not(feature = "bft"))]
async fn families_of_validator() -> BTreeMap<String, Family> {
    let mut families = documented();
    let prefixes = ["ledger_consensus_", "ledger_relay_"];
    families.retain(|name, _| prefixes.iter().any(|prefix| name.starts_with(prefix)));
    families
}

#[tokio::test]
async fn serves_exactly_the_documented_metrics() {
    let (node, ..) = node_at_work(&[]).await;
    let mut served = Scrape::of(&node).await.families();
    served.extend(families_of_validator().await);
    let documented = documented();
    let mut differences = String::new();
    for (name, family) in served
        .iter()
        .filter(|(name, family)| documented.get(*name) != Some(family))
    {
        writeln!(differences, "served: {}", row(name, family)).unwrap();
    }
    for (name, family) in documented
        .iter()
        .filter(|(name, _)| !served.contains_key(*name))
    {
        // Metrics of the kernel are read on Linux only.
        if cfg!(target_os = "linux") || !family.help.contains("(Linux)") {
            writeln!(differences, "only documented: {}", row(name, family)).unwrap();
        }
    }
    assert!(
        differences.is_empty(),
        "config/metrics.md differs:\n{differences}"
    );
}

/// The growth of a ledger is unknown at first.
#[tokio::test]
async fn spells_infinite_values_as_the_format_does() {
    let node = TestNode::start(&[]);
    let scrape = Scrape::of(&node).await;
    let forecast = "\nledger_storage_full_in_seconds +Inf\n";
    assert!(scrape.text.contains(forecast), "{}", scrape.text);
    assert!(scrape.samples().count() > 0);
}

#[tokio::test]
async fn counts_the_work_of_a_transfer() {
    let (node, alice, bob) = node_at_work(&[]).await;
    let chain = node.chain().await;
    // The mempool responds after it has processed all earlier messages, also those about the block.
    let mempool_settled = || node.get("/v1/estimate_gas_price");
    mempool_settled().await;
    let before = Scrape::of(&node).await;
    let committed = node
        .submit_and_wait(&alice.transfer(&chain, 1, bob.address, 7))
        .await;
    let version: f64 = committed["version"].as_str().unwrap().parse().unwrap();
    mempool_settled().await;
    let after = Scrape::of(&node).await;
    let increase =
        |name: &str, labels: &[(&str, &str)]| after.sum(name, labels) - before.sum(name, labels);

    let submit = ("route", "/v1/transactions");
    let increases_by_one = [
        ("ledger_block_transactions_sum", &[][..]),
        ("ledger_pool_left_total", &[("reason", "committed")]),
        (
            "ledger_mailbox_messages_total",
            &[("actor", "mempool"), ("kind", "submit")],
        ),
        (
            "ledger_http_requests_total",
            &[submit, ("method", "POST"), ("code", "202")],
        ),
        (
            "ledger_http_request_seconds_count",
            &[submit, ("method", "POST")],
        ),
        (
            "ledger_http_request_seconds_bucket",
            &[submit, ("le", "+Inf")],
        ),
        ("ledger_block_height", &[]),
        ("ledger_block_transactions_count", &[]),
        ("ledger_commit_group_blocks_sum", &[]),
        ("ledger_commit_write_seconds_count", &[]),
        ("ledger_worker_job_seconds_count", &[("thread", "executor")]),
        (
            "ledger_mailbox_messages_total",
            &[("actor", "committer"), ("kind", "blocks_durable")],
        ),
    ];
    for (name, labels) in increases_by_one {
        assert_eq!(increase(name, labels), 1.0, "{name} {labels:?}");
    }
    let increases = [
        ("ledger_version", &[][..]),
        ("ledger_store_syncs_total", &[]),
        ("ledger_store_sync_seconds_total", &[]),
        ("ledger_commit_write_seconds_sum", &[]),
        ("ledger_signature_checked_total", &[]),
        ("ledger_mailbox_accepted_total", &[("actor", "mempool")]),
        ("ledger_mailbox_protocol_total", &[("actor", "sequencer")]),
        (
            "ledger_mailbox_handled_seconds_sum",
            &[("actor", "committer")],
        ),
        (
            "ledger_mailbox_waited_seconds_count",
            &[("thread", "actors")],
        ),
    ];
    for (name, labels) in increases {
        assert!(increase(name, labels) > 0.0, "{name} {labels:?}");
    }
    assert!(after.sum("ledger_version", &[]) >= version);
    assert_eq!(after.sum("ledger_pool_transactions", &[]), 0.0);
    assert_eq!(after.sum("ledger_pool_bytes", &[]), 0.0);
    assert_eq!(after.sum("ledger_store_writable", &[]), 1.0);
    let used_bytes = after.sum("ledger_store_used_bytes", &[]);
    assert!(used_bytes > 5e4 && after.sum("ledger_storage_bytes", &[]) > used_bytes);
    assert!(after.sum("ledger_storage_full_in_seconds", &[]) > 0.0);
    for name in ["ledger_pruner_limited", "ledger_pruner_limit_exceeded"] {
        assert_eq!(after.sum(name, &[]), 0.0, "{name}");
    }
    assert!(after.sum("process_resident_memory_bytes", &[]) > 1e6);
}

#[tokio::test]
async fn counts_unknown_paths_under_one_label() {
    let (node, ..) = node_at_work(&[]).await;
    let before = Scrape::of(&node).await;
    let unknown = "deadbeef0123";
    let long = "a".repeat(20_000);
    for (path, status) in [
        (format!("/v1/{unknown}"), 404),
        (format!("/v1/accounts/{unknown}/nothing"), 404),
        (
            format!("/v1/transactions/by_hash/0x{}{unknown}", "0".repeat(52)),
            404,
        ),
        (format!("/v1/accounts/{long}"), 414),
    ] {
        assert_eq!(node.get(&path).await.status, status, "{path}");
    }
    let url = format!("{}/v1/view", node.api);
    let invalid = node.http.request(reqwest::Method::GET, &url);
    assert_eq!(node.http.try_send(invalid).await.unwrap().status, 405);
    let after = Scrape::of(&node).await;
    let increase = |route: &str, code: &str| {
        let labels = [("route", route), ("code", code)];
        let name = "ledger_http_requests_total";
        after.sum(name, &labels) - before.sum(name, &labels)
    };
    assert_eq!(increase("(none)", "404"), 2.0);
    assert_eq!(increase("(none)", "405"), 1.0);
    assert_eq!(increase("/v1/transactions/by_hash/{txn_hash}", "404"), 1.0);
    // A request that is rejected for its length is counted under its route.
    assert_eq!(increase("/v1/accounts/{address}", "414"), 1.0);
    assert!(!after.text.contains(unknown) && !after.text.contains(&long));
}

/// Submits a transfer that lacks its predecessor. Returns the task of a long poll for it.
async fn wait_for_parked(
    node: &TestNode,
    alice: &TestAccount,
    bob: &TestAccount,
) -> tokio::task::JoinHandle<u16> {
    let chain = node.chain().await;
    let hash = node
        .submit(&alice.transfer(&chain, 2, bob.address, 1))
        .await;
    let url = format!("{}/v1/transactions/wait_by_hash/{hash}", node.api);
    let http = node.http.clone();
    tokio::spawn(async move { http.get(&url).await.status })
}

/// The submission stays accepted. A client that has closed its side may still read the response.
#[tokio::test]
async fn a_submission_whose_client_disconnects_waits_no_more() {
    let (node, alice, bob) = node_at_work(&["wait.capacity=1"]).await;
    let parked = alice.transfer(&node.chain().await, 2, bob.address, 1);
    let request = post_bytes(
        "/v1/transactions?timeout_ms=60000",
        &submission_media_type(&Vendor::default()),
        &bcs::to_bytes(&parked).unwrap(),
    );
    for is_reset in [true, false, true] {
        let mut connection = RawConnection::connect(node.authority()).await;
        connection.send(&request).await;
        until_parked(&node, 1).await;
        if is_reset {
            connection.reset();
        } else {
            drop(connection);
        }
        until_parked(&node, 0).await;
    }
    let hash = parked.hash(&Vendor::default());
    let found = node.get(&format!("/v1/transactions/by_hash/{hash}")).await;
    assert_eq!(found.json["type"], "pending_transaction");
    let ended = Scrape::of(&node).await;
    for (outcome, expected) in [("timed_out", 1.0), ("disconnected", 2.0)] {
        let count = ended.sum("ledger_waits_ended_total", &[("outcome", outcome)]);
        assert_eq!(count, expected, "{outcome}");
    }
}

#[tokio::test]
async fn counts_waits_while_they_last_and_by_outcome() {
    let (node, alice, bob) = node_at_work(&["wait.timeout_ms=600000"]).await;
    let before = Scrape::of(&node).await;
    assert_eq!(before.sum("ledger_waits_parked", &[]), 0.0);
    let waiting = wait_for_parked(&node, &alice, &bob).await;
    until_parked(&node, 1).await;
    let meanwhile = Scrape::of(&node).await;
    assert_eq!(meanwhile.sum("ledger_pool_transactions", &[]), 1.0);
    assert_eq!(meanwhile.sum("ledger_pool_parked_transactions", &[]), 1.0);
    assert!(meanwhile.sum("ledger_pool_parked_bytes", &[]) > 100.0);
    let chain = node.chain().await;
    node.submit(&alice.transfer(&chain, 1, bob.address, 1))
        .await;
    assert_eq!(waiting.await.unwrap(), 200);
    let after = Scrape::of(&node).await;
    let ended =
        |scrape: &Scrape| scrape.sum("ledger_waits_ended_total", &[("outcome", "committed")]);
    assert_eq!(ended(&after) - ended(&before), 1.0);
    assert_eq!(after.sum("ledger_waits_parked", &[]), 0.0);
}

#[tokio::test]
async fn counts_waits_for_a_version() {
    let (node, alice, bob) = node_at_work(&["wait.timeout_ms=600000"]).await;
    let before = Scrape::of(&node).await;
    let next = before.sum("ledger_version", &[]) as u64 + 1;
    let url = format!("{}/v1?min_ledger_version={next}", node.api);
    let http = node.http.clone();
    let waiting = tokio::spawn(async move { http.get(&url).await.status });
    until_parked(&node, 1).await;
    let chain = node.chain().await;
    node.submit(&alice.transfer(&chain, 1, bob.address, 1))
        .await;
    assert_eq!(waiting.await.unwrap(), 200);
    let after = Scrape::of(&node).await;
    let reached =
        |scrape: &Scrape| scrape.sum("ledger_waits_ended_total", &[("outcome", "reached")]);
    assert_eq!(reached(&after) - reached(&before), 1.0);
    assert_eq!(after.sum("ledger_waits_parked", &[]), 0.0);
}

#[tokio::test]
async fn distinguishes_the_outcomes_of_waits() {
    let (node, alice, bob) = node_at_work(&["wait.timeout_ms=600000", "mempool.ttl_secs=1"]).await;
    assert_eq!(
        wait_for_parked(&node, &alice, &bob).await.await.unwrap(),
        404
    );
    let after = Scrape::of(&node).await;
    assert_eq!(
        after.sum("ledger_waits_ended_total", &[("outcome", "removed")]),
        1.0
    );
    assert_eq!(
        after.sum("ledger_pool_left_total", &[("reason", "expired")]),
        1.0
    );

    let (node, alice, bob) = node_at_work(&["wait.timeout_ms=20"]).await;
    let timed_out = [("outcome", "timed_out")];
    let before = Scrape::of(&node)
        .await
        .sum("ledger_waits_ended_total", &timed_out);
    assert_eq!(
        wait_for_parked(&node, &alice, &bob).await.await.unwrap(),
        200
    );
    let after = Scrape::of(&node)
        .await
        .sum("ledger_waits_ended_total", &timed_out);
    assert_eq!(after - before, 1.0);
}

#[tokio::test]
#[ignore = "needs promtool; .ci/run metrics has it"]
async fn passes_the_check_of_promtool() {
    let (node, ..) = node_at_work(&[]).await;
    let text = Scrape::of(&node).await.text;
    let mut child = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let output_text = [output.stdout, output.stderr].concat();
    let output_text = String::from_utf8_lossy(&output_text);
    assert!(
        output.status.success() && output_text.is_empty(),
        "{output_text}"
    );
}
