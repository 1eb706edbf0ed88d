//! The dashboard and the alert rules of `config/`, with the real Prometheus, which scrapes a node.
//!
//! The tests need the program `prometheus` and are ignored without it: `.ci/run metrics` has it.

use crate::metrics::node_at_work;
use ledger_test_support::node::{TestNode, start_bench, until, until_parked};
use serde_json::Value;
use std::{
    fmt::Write as _,
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};
use tempfile::TempDir;
use tokio::task::JoinHandle;

const DASHBOARD: &str = include_str!("../../config/grafana/ledger-node.json");
const ALERTS: &str = include_str!("../../config/alerts.yml");

/// A Prometheus that scrapes a node each second.
struct Prometheus {
    process: Child,
    url: String,
    _directory: TempDir,
}

impl Prometheus {
    /// Starts Prometheus with the alert rules, which fire without their time.
    fn start(node: &TestNode) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = |name| directory.path().join(name);
        fs::write(path("alerts.yml"), without_time(ALERTS)).unwrap();
        let target = node.admin.strip_prefix("http://").unwrap();
        let config = format!(
            "global: {{scrape_interval: 1s, evaluation_interval: 1s}}\n\
             rule_files: [alerts.yml]\n\
             scrape_configs: [{{job_name: ledger-node, static_configs: [{{targets: [\"{target}\"]}}]}}]\n"
        );
        fs::write(path("prometheus.yml"), config).unwrap();
        let mut process = Command::new("prometheus")
            .arg(argument("config.file", &path("prometheus.yml")))
            .arg(argument("storage.tsdb.path", &path("data")))
            .arg("--web.listen-address=127.0.0.1:0")
            .stderr(Stdio::piped())
            .spawn()
            .expect("prometheus is installed");
        let log = BufReader::new(process.stderr.take().unwrap());
        let mut lines = log.lines().map_while(Result::ok);
        let line = lines.find(|line| line.contains("Listening on")).unwrap();
        let (_, address) = line.rsplit_once("address=").unwrap();
        let url = format!("http://{address}");
        // A full pipe would stop the process.
        std::thread::spawn(move || lines.for_each(drop));
        Self {
            process,
            url,
            _directory: directory,
        }
    }

    /// Returns the samples of an expression.
    async fn query(&self, node: &TestNode, expression: &str) -> Vec<Value> {
        let query = expression.bytes().fold(String::new(), |mut text, byte| {
            write!(text, "%{byte:02X}").unwrap();
            text
        });
        let url = format!("{}/api/v1/query?query={query}", self.url);
        let response = node.http.get(&url).await;
        // It is 503 until it has started.
        if response.status == 503 {
            return Vec::new();
        }
        assert_eq!(response.status, 200, "{expression}: {}", response.text);
        response.json["data"]["result"].as_array().unwrap().clone()
    }

    /// Waits until an alert fires.
    async fn await_alert(&self, node: &TestNode, name: &str) {
        let alert = format!("ALERTS{{alertname=\"{name}\",alertstate=\"firing\"}}");
        until(name, || async {
            (!self.query(node, &alert).await.is_empty()).then_some(())
        })
        .await;
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        // An error means that it has ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn argument(name: &str, path: &Path) -> String {
    format!("--{name}={}", path.display())
}

/// Returns the rules without the time for which each must hold.
fn without_time(rules: &str) -> String {
    let is_time = |line: &&str| !line.trim_start().starts_with("for: ");
    let lines: Vec<_> = rules.lines().filter(is_time).collect();
    lines.join("\n")
}

/// Returns the expressions of the dashboard by the title of their panel, with values for the
/// variables of Grafana.
fn expressions() -> Vec<(String, String)> {
    let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
    let panels = dashboard["panels"].as_array().unwrap().iter();
    let with_targets = panels.filter_map(|panel| Some((panel, panel["targets"].as_array()?)));
    let expressions = with_targets.flat_map(|(panel, targets)| {
        targets.iter().map(|target| {
            let expression = target["expr"].as_str().unwrap();
            let expression = expression
                .replace("$job", "ledger-node")
                .replace("$instance", ".*")
                .replace("$__rate_interval", "5s");
            (panel["title"].as_str().unwrap().to_owned(), expression)
        })
    });
    expressions.collect()
}

#[tokio::test]
#[ignore = "needs prometheus; .ci/run metrics has it"]
async fn every_panel_of_the_dashboard_has_values() {
    let (node, ..) = node_at_work(&[]).await;
    let prometheus = Prometheus::start(&node);
    let expressions = expressions();
    assert!(expressions.len() > 30, "{expressions:?}");
    for (title, expression) in &expressions {
        // A node that orders alone has no validators.
        if expression.contains("ledger_consensus_") {
            prometheus.query(&node, expression).await;
            continue;
        }
        until(title, || async {
            let samples = prometheus.query(&node, expression).await;
            (!samples.is_empty()).then_some(())
        })
        .await;
    }
}

#[tokio::test]
#[ignore = "needs prometheus; .ci/run metrics has it"]
async fn alerts_fire_under_the_faults_they_are_for() {
    let settings = [
        "actors.mempool.mailbox_capacity=1",
        "mempool.capacity_transactions=100",
        "wait.capacity=8",
    ];
    let (mut node, alice, bob) = node_at_work(&settings).await;
    let prometheus = Prometheus::start(&node);
    let chain = node.chain().await;
    // Transactions without the one before them fill the pool and wait.
    let mut pending = Vec::new();
    for sequence_number in 10..95 {
        let transfer = alice.transfer(&chain, sequence_number, bob.address, 1);
        pending.push(node.submit(&transfer).await);
    }
    prometheus
        .await_alert(&node, "LedgerMempoolNearlyFull")
        .await;

    let wait = format!("{}/v1/transactions/wait_by_hash/{}", node.api, pending[0]);
    // One client may hold seven of eight.
    let parked: Vec<_> = (0..7)
        .map(|_| {
            let (client, url) = (node.http.clone(), wait.clone());
            tokio::spawn(async move { client.get(&url).await })
        })
        .collect();
    until_parked(&node, 7).await;
    until("a wait that is refused", || async {
        node.http.get(&wait).await;
        let refused = "increase(ledger_waits_refused_total[1m]) > 0";
        (!prometheus.query(&node, refused).await.is_empty()).then_some(())
    })
    .await;
    prometheus.await_alert(&node, "LedgerWaitsFull").await;
    parked.iter().for_each(JoinHandle::abort);

    let mut bench = start_bench(&node, "--accounts 64 --connections 64 --duration 3600");
    prometheus.await_alert(&node, "LedgerMailboxFull").await;
    prometheus.await_alert(&node, "LedgerOverloaded").await;
    bench.kill().unwrap();
    bench.wait().unwrap();

    node.kill();
    prometheus.await_alert(&node, "LedgerNodeDown").await;
}
