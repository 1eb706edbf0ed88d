//! Runs of `bench` that end early: the report has what was measured until then.

use ledger_test_support::node::{TestNode, start_bench, until};
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};
use serde_json::Value;
use std::process::Child;

/// A running `bench` without an end of its own.
struct RunningBench(Child);

impl RunningBench {
    /// Starts a run, and waits until the node has committed some of its transfers.
    async fn start(node: &TestNode, options: &str) -> Self {
        let version = async || -> u64 {
            let ledger = node.get("/v1").await.json;
            ledger["ledger_version"].as_str().unwrap().parse().unwrap()
        };
        let before = version().await;
        let this = Self(start_bench(
            node,
            &format!("--accounts 4 --connections 4 {options}"),
        ));
        // More versions than the funding of the accounts takes.
        until("transfers to be committed", || async {
            (version().await > before + 100).then_some(())
        })
        .await;
        this
    }

    /// Returns the process id.
    fn pid(&self) -> Pid {
        Pid::from_child(&self.0)
    }

    /// Waits until the run has ended with exit code 1. Returns its report and its standard error.
    fn report(self) -> (Value, String) {
        let output = self.0.wait_with_output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{error}");
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        (report, error)
    }
}

#[tokio::test]
async fn reports_what_it_measured_until_it_is_interrupted() {
    let node = TestNode::start(&[]);
    for signal in [Signal::INT, Signal::TERM] {
        let run = RunningBench::start(&node, "--mode await --duration 2000").await;
        kill_process(run.pid(), signal).unwrap();
        let (report, error) = run.report();
        assert!(report["committed"].as_u64().unwrap() > 0, "{report}");
        assert_eq!(report["stopped"], "interrupted", "{report}");
        assert_eq!(report["uncommitted"], 0, "{report}");
        assert!(error.contains("interrupted"), "{error}");
    }
}

#[tokio::test]
async fn reports_what_it_measured_until_the_node_ended() {
    let mut node = TestNode::start(&[]);
    let pid = node.process_id();
    let run = RunningBench::start(&node, &format!("--duration 2000 --pid {pid}")).await;
    node.kill();
    let (report, error) = run.report();
    assert!(report["accepted"].as_u64().unwrap() > 0, "{report}");
    assert_eq!(report["node"], Value::Null, "{report}");
    assert!(error.contains("no response from"), "{error}");
}

/// A stopped process sends no response, and its connections stay open.
#[tokio::test]
async fn ends_after_its_duration_although_the_node_does_not_respond() {
    let node = TestNode::start(&[]);
    let run = RunningBench::start(&node, "--duration 5 --mode await").await;
    node.signal("STOP");
    let (report, error) = run.report();
    assert!(error.contains("did not respond within"), "{error}");
    assert_eq!(report["unanswered"], 4, "one per connection: {report}");
}

#[tokio::test]
async fn fails_when_descriptors_run_out() {
    let node = TestNode::start(&[]);
    // The last connections are opened long after the first have sent transfers.
    let run = RunningBench::start(&node, "--duration 30 --ramp 30").await;
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    prlimit(Some(run.pid()), Resource::Nofile, none).unwrap();
    // The node closes a connection, which is then opened again.
    drop(node);
    let (report, error) = run.report();
    assert!(error.contains("Too many open files"), "{error}");
    assert!(
        report["stopped"]
            .as_str()
            .unwrap()
            .contains("cannot open all 4 connections"),
        "{report}"
    );
}
