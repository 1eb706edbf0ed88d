//! A reader of the log that does not read: requests are answered, and the log reports the lost lines.

use crate::kit::{RawConnection, TestNode, until};
use std::{
    io::{BufRead as _, BufReader, PipeReader, pipe},
    sync::Arc,
    thread,
    time::Duration,
};
use tempfile::TempDir;
use tokio::time::timeout;

/// Lines about requests are on.
const SETTINGS: [&str; 2] = ["log.level=debug,http=debug", "log.format=json"];

/// Requests in one pipeline.
const PIPELINE: usize = 100;

/// Pipelines after which lines must have been lost: each request makes a line of more than 300 bytes, and 4 MiB
/// of lines wait beside the content of the pipe.
const PIPELINES_MAX: usize = 500;

/// How long an answer may take before the test has failed; generous, for machines that are busy.
const PATIENCE: Duration = Duration::from_secs(120);

/// A request whose line in the log is long.
pub(crate) fn request() -> String {
    let client = "client".repeat(30);
    let trace = format!("00-{}-{}-01", "a".repeat(32), "b".repeat(16));
    format!(
        "GET /v1/-/healthy HTTP/1.1\r\nhost: node\r\nx-node-client: {client}\r\ntraceparent: {trace}\r\n\r\n"
    )
}

/// Starts a node with a pipe as standard error, which is not read yet.
pub(crate) fn unread_node() -> (TestNode, PipeReader) {
    let directory = Arc::new(TempDir::new().unwrap());
    let settings = SETTINGS.map(str::to_owned).to_vec();
    let command = TestNode::command(directory.path(), &settings);
    let (reader, writer) = pipe().unwrap();
    (
        TestNode::try_spawn_logging_to(writer, command, directory, settings)
            .unwrap_or_else(|status| panic!("the node ended with {status} before it was ready")),
        reader,
    )
}

/// How many lines of the log were lost.
pub(crate) async fn lost_lines(node: &TestNode) -> u64 {
    let metrics = node.http.get(&format!("{}/metrics", node.admin)).await.text;
    let sample = metrics
        .lines()
        .find_map(|line| line.strip_prefix("ledger_log_lost_lines_total "));
    sample.unwrap().parse().unwrap()
}

/// Sends requests, all of which are answered, until lines are lost.
async fn fill_log(node: &TestNode) {
    let mut connection = RawConnection::connect(node.authority()).await;
    let pipeline = request().repeat(PIPELINE).into_bytes();
    for _ in 0..PIPELINES_MAX {
        connection.send(&pipeline).await;
        for _ in 0..PIPELINE {
            let answer = timeout(PATIENCE, connection.response()).await;
            assert_eq!(answer.expect("an answer in time").unwrap().status, 200);
        }
        if lost_lines(node).await > 0 {
            return;
        }
    }
    panic!("no line was lost");
}

/// The number in a line that reports lost lines.
fn reported_lines(line: &str) -> Option<u64> {
    let entry: serde_json::Value = serde_json::from_str(line).unwrap();
    let fields = &entry["fields"];
    let is_report = fields["message"]
        .as_str()?
        .contains("lines of the log were lost");
    is_report.then(|| fields["lines"].as_u64().unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_requests_while_the_log_is_not_read_and_reports_lost_lines() {
    let (mut node, reader) = unread_node();
    fill_log(&node).await;
    assert_eq!(node.get("/v1").await.status, 200);
    let lost = lost_lines(&node).await;

    let reading = thread::spawn(move || {
        let lines = BufReader::new(reader).lines().map(Result::unwrap);
        let reports: Vec<_> = lines.filter_map(|line| reported_lines(&line)).collect();
        reports
    });
    // Lines are taken again once the report is written.
    until("room in the log", || async {
        let before = lost_lines(&node).await;
        node.get("/v1").await;
        (lost_lines(&node).await == before).then_some(())
    })
    .await;
    let total = lost_lines(&node).await;
    assert!(total >= lost);
    assert_eq!(node.stop("TERM").code(), Some(0));
    let reports = reading.join().unwrap();
    assert!(!reports.is_empty());
    assert_eq!(reports.iter().sum::<u64>(), total, "{reports:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stops_cleanly_while_the_log_is_not_read() {
    let (mut node, _reader) = unread_node();
    fill_log(&node).await;
    node.signal("TERM");
    assert_eq!(node.ended_within_patience().await.code(), Some(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ends_after_a_fatal_error_while_the_log_is_not_read() {
    let (mut node, reader) = unread_node();
    fill_log(&node).await;
    // The stop waits for this request, whose body does not come, so that the second signal comes before its end.
    let mut unfinished = RawConnection::connect(node.authority()).await;
    unfinished
        .send(b"POST /v1/view HTTP/1.1\r\nhost: node\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{")
        .await;
    node.signal("TERM");
    node.signal("INT");
    assert_eq!(node.ended_within_patience().await.code(), Some(1));
    drop(reader);
}
