//! The recorded requests of a reference node, replayed on a node with the preset `sdk`.
//!
//! `tests/golden/recorded/` has the requests with the recorded responses (`answers.jsonl.zst`), the
//! scenario of transactions that comes before them (`writes.jsonl.zst`), and each difference with
//! its reason (`differences.toml`). A difference that is not listed fails the test, and so does a
//! listed one that no longer occurs. This command prints all of them:
//! `cargo test --test it recorded:: -- --nocapture`
//!
//! `items.toml` names the tests of each item of the comparison with the reference node.

mod compare;

mod placeholders;
mod scenario;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use compare::{Answer, compare};
use ledger_test_support::{
    differences::Allowed,
    http::{RawConnection, RawResponse},
};
use placeholders::Placeholders;
use scenario::Scenario;
use serde::Deserialize;
use std::{collections::BTreeMap, fs, path::PathBuf};

/// A request with the recorded response.
#[derive(Deserialize)]
struct Template {
    id: String,
    method: String,
    path: String,
    headers: BTreeMap<String, String>,
    body: Option<String>,
    body_b64: Option<String>,
    /// The byte of which the body consists, and its length.
    body_fill: Option<(u8, usize)>,
    #[serde(default)]
    flags: Vec<Flag>,
    /// Whether the body depends on chance, such as the order of resources in a short page.
    #[serde(default)]
    varies: bool,
    answer: Answer,
}

/// The form of a body without a declared length.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Flag {
    NoLength,
    Chunked,
}

/// Returns the path of a file of the recording.
fn golden(name: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.join("tests/golden/recorded").join(name)
}

/// Returns the lines of a compressed file of the recording.
fn lines<T: for<'a> Deserialize<'a>>(name: &str) -> Vec<T> {
    let packed = fs::read(golden(name)).unwrap();
    let text = String::from_utf8(zstd::decode_all(&packed[..]).unwrap()).unwrap();
    let parse = |line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
    text.lines().map(parse).collect()
}

impl Template {
    /// Returns the bytes of the request, or `None` if the scenario has no value for a placeholder.
    async fn request(&self, placeholders: &mut Placeholders<'_>) -> Option<Vec<u8>> {
        let body = match (&self.body, &self.body_b64, self.body_fill) {
            (Some(text), ..) => Some(placeholders.fill(text).await?.into_bytes()),
            (_, Some(text), _) => Some(BASE64_STANDARD.decode(text).unwrap()),
            (.., Some((byte, length))) => Some(vec![byte; length]),
            (None, None, None) => None,
        };
        let path = placeholders.fill(&self.path).await?;
        let mut head = format!("{} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n", self.method);
        for (name, value) in &self.headers {
            let value = placeholders.fill(value).await?;
            head += &format!("{name}: {value}\r\n");
        }
        let has_length = body.is_some() || ["POST", "PUT", "PATCH"].contains(&&*self.method);
        let mut body = body.unwrap_or_default();
        if self.flags.contains(&Flag::Chunked) {
            head += "transfer-encoding: chunked\r\n";
            let size = format!("{:x}\r\n", body.len());
            body = [size.as_bytes(), &body, b"\r\n0\r\n\r\n"].concat();
        } else if has_length && !self.flags.contains(&Flag::NoLength) {
            head += &format!("content-length: {}\r\n", body.len());
        }
        head += "\r\n";
        Some([head.as_bytes(), &body].concat())
    }
}

/// A connection to the node that is opened again when the node has closed it.
struct Client<'a> {
    authority: &'a str,
    connection: Option<RawConnection>,
}

impl Client<'_> {
    async fn send(&mut self, method: &str, request: &[u8]) -> RawResponse {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => RawConnection::connect(self.authority).await,
        };
        connection.send(request).await;
        let response = match method {
            "HEAD" => connection.response_head().await,
            _ => connection.response().await,
        };
        let response = response.expect("a response");
        if response.headers.get("connection").map(String::as_str) != Some("close") {
            self.connection = Some(connection);
        }
        response
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_recorded_requests_as_the_reference_node_except_for_listed_differences() {
    let scenario = Scenario::run().await;
    let mut placeholders = Placeholders::new(&scenario);
    let mut client = Client {
        authority: scenario.node.authority(),
        connection: None,
    };
    let templates: Vec<Template> = lines("answers.jsonl.zst");
    let (mut differences, mut steps) = (Vec::new(), Vec::new());
    for template in &templates {
        let Some(request) = template.request(&mut placeholders).await else {
            continue;
        };
        let response = client.send(&template.method, &request).await;
        differences.extend(compare(template, &response));
        steps.push(template.id.as_str());
    }
    // Only scripts, packages and modules that need bytecode have no value.
    assert!(steps.len() + 20 > templates.len(), "{} sent", steps.len());
    if let Some(file) = std::env::var_os("RECORDED_DIFFERENCES") {
        let lines = differences
            .iter()
            .map(|one| format!("{}\t{}\t{}\n", one.step, one.kind, one.item));
        fs::write(file, lines.collect::<String>()).unwrap();
    }
    let allowed = Allowed::read(&fs::read_to_string(golden("differences.toml")).unwrap());
    allowed.assert_complete(
        "tests/golden/recorded/differences.toml",
        &differences,
        &steps,
    );
}
