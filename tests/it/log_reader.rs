//! A reader of the log that does not read. Requests are served, and the log reports the lost lines.

use ledger_test_support::{
    http::RawConnection,
    node::{TestNode, until},
};
use std::{
    io::{BufRead as _, BufReader, PipeReader, pipe},
    sync::Arc,
    thread,
    time::Duration,
};
use tempfile::TempDir;
use tokio::time::timeout;

/// Settings with which the node logs every request.
const SETTINGS: [&str; 2] = ["log.level=debug,http=debug", "log.format=json"];

/// Number of requests in one pipeline.
const PIPELINE: usize = 100;

/// Number of pipelines after which lines must have been lost. Each request logs more than 300
/// bytes, and 4 MiB of lines are queued in addition to the content of the pipe.
const PIPELINES_MAX: usize = 500;

/// Time limit for a response, long enough for a busy machine.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(120);

/// Encodes a request with a long line in the log.
pub(crate) fn request() -> String {
    let client = "client".repeat(30);
    let trace = format!("00-{}-{}-01", "a".repeat(32), "b".repeat(16));
    format!(
        "GET /v1/-/healthy HTTP/1.1\r\nhost: node\r\nx-node-client: {client}\r\n\
         traceparent: {trace}\r\n\r\n"
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

/// Returns the number of lost lines.
pub(crate) async fn lost_lines(node: &TestNode) -> u64 {
    let metrics = node.http.get(&format!("{}/metrics", node.admin)).await.text;
    let sample = metrics
        .lines()
        .find_map(|line| line.strip_prefix("ledger_log_lost_lines_total "));
    sample.unwrap().parse().unwrap()
}

/// Sends requests, each of which gets a response, until lines are lost.
async fn fill_log(node: &TestNode) {
    let mut connection = RawConnection::connect(node.authority()).await;
    let pipeline = request().repeat(PIPELINE).into_bytes();
    for _ in 0..PIPELINES_MAX {
        connection.send(&pipeline).await;
        for _ in 0..PIPELINE {
            let response = timeout(RESPONSE_TIMEOUT, connection.response()).await;
            assert_eq!(response.expect("a response in time").unwrap().status, 200);
        }
        if lost_lines(node).await > 0 {
            return;
        }
    }
    panic!("no line was lost");
}

/// Returns the number in a line that reports lost lines.
fn reported_lines(line: &str) -> Option<u64> {
    let entry: serde_json::Value = serde_json::from_str(line).unwrap();
    let fields = &entry["fields"];
    let is_report = fields["message"]
        .as_str()?
        .contains("log lines were dropped");
    is_report.then(|| fields["lines"].as_u64().unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn serves_requests_while_the_log_is_not_read_and_reports_lost_lines() {
    let (mut node, reader) = unread_node();
    fill_log(&node).await;
    assert_eq!(node.get("/v1").await.status, 200);
    let lost = lost_lines(&node).await;

    let reader_thread = thread::spawn(move || {
        let lines = BufReader::new(reader).lines().map(Result::unwrap);
        let reports: Vec<_> = lines.filter_map(|line| reported_lines(&line)).collect();
        reports
    });
    // No line is lost any more once the report is written.
    until("capacity in the log", || async {
        let before = lost_lines(&node).await;
        node.get("/v1").await;
        (lost_lines(&node).await == before).then_some(())
    })
    .await;
    let total = lost_lines(&node).await;
    assert!(total >= lost);
    assert_eq!(node.stop("TERM").code(), Some(0));
    let reports = reader_thread.join().unwrap();
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
    // The stop waits for this request, whose body is incomplete, so that the second signal arrives
    // before its end. The interim response shows that the node has received the request.
    let mut unfinished = RawConnection::connect(node.authority()).await;
    unfinished
        .send(
            b"POST /v1/view HTTP/1.1\r\nhost: node\r\ncontent-type: application/json\r\n\
              expect: 100-continue\r\ncontent-length: 9\r\n\r\n",
        )
        .await;
    let interim = b"HTTP/1.1 100 Continue\r\n\r\n";
    assert_eq!(unfinished.bytes(interim.len()).await, interim);
    node.signal("TERM");
    node.signal("INT");
    assert_eq!(node.ended_within_patience().await.code(), Some(1));
    drop(reader);
}
