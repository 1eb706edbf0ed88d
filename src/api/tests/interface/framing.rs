//! docs/use/interface.md#head-requests: pipelined requests. Each response has the framing of its
//! own request, whatever follows.

use crate::{
    interface::{
        chain::History,
        examples::{self, Example},
    },
    kit::TestApi,
};
use ledger_test_support::http::RawConnection;

/// A request and what its response must have.
struct Request {
    method: &'static str,
    bytes: String,
    status: u16,
    version: &'static str,
    closes: bool,
}

impl Request {
    fn new(method: &'static str, path: &str, version: &'static str, lines: &str) -> Self {
        let bytes = format!("{method} {path} HTTP/{version}\r\nhost: node\r\n{lines}");
        Self {
            method,
            bytes,
            status: 200,
            version,
            closes: version == "1.0",
        }
    }

    fn of(example: &Example) -> Self {
        let request = Self::new(example.method(), &example.path, "1.1", "");
        let request = match &example.body {
            Some(body) => request.with_body(&body.to_string(), false),
            None => request.without_body(),
        };
        Self {
            status: example.status,
            ..request
        }
    }

    /// Returns the request that ends each exchange.
    fn last() -> Self {
        let closing = Self::new("GET", "/v1/-/healthy", "1.1", "connection: close\r\n");
        Self {
            closes: true,
            ..closing.without_body()
        }
    }

    fn without_body(mut self) -> Self {
        self.bytes += "\r\n";
        self
    }

    fn with_body(mut self, body: &str, is_chunked: bool) -> Self {
        self.bytes += "content-type: application/json\r\n";
        self.bytes += &if is_chunked {
            let (first, second) = body.split_at(1);
            format!(
                "Transfer-Encoding: chunked\r\n\r\n1;x=\"y\"\r\n{first}\r\n{:X}\r\n{second}\r\n\
                 0\r\nx-trailer: z\r\n\r\n",
                second.len()
            )
        } else {
            format!("Content-Length: {}\r\n\r\n{body}", body.len())
        };
        self
    }
}

/// A response, as a client that trusts its framing reads it.
struct Response {
    status: u16,
    version: String,
    head: String,
    body: String,
}

impl Response {
    /// Takes the response to a request with this method from the front of `received`.
    fn take(received: &mut &str, method: &str) -> Option<Self> {
        let (head, rest) = received.split_once("\r\n\r\n")?;
        let head = head.to_ascii_lowercase();
        let (version, rest_of_line) = head.strip_prefix("http/")?.split_once(' ')?;
        let status = rest_of_line.get(..3)?.parse().ok()?;
        let value = |name: &str| {
            let mut lines = head.lines().filter_map(|line| line.split_once(": "));
            lines.find_map(|(of, value)| (of == name).then_some(value))
        };
        let (body, rest) = match (method, value("content-length")) {
            ("HEAD", _) => (String::new(), rest),
            (_, Some(length)) => {
                let (body, rest) = rest.split_at_checked(length.parse().ok()?)?;
                (body.to_owned(), rest)
            }
            (_, None) => {
                assert_eq!(value("transfer-encoding"), Some("chunked"), "{head}");
                take_chunks(rest)?
            }
        };
        *received = rest;
        Some(Self {
            status,
            version: version.to_owned(),
            body,
            head,
        })
    }

    fn closes(&self) -> bool {
        let keeps = self.version == "1.1" || self.head.contains("connection: keep-alive");
        !keeps || self.head.contains("connection: close")
    }
}

/// Returns the content of a chunked body, and what follows it.
fn take_chunks(mut rest: &str) -> Option<(String, &str)> {
    let mut body = String::new();
    loop {
        let (size, chunk) = rest.split_once("\r\n")?;
        let (chunk, after) = chunk.split_at_checked(usize::from_str_radix(size, 16).ok()?)?;
        rest = after.strip_prefix("\r\n")?;
        if chunk.is_empty() {
            return Some((body, rest));
        }
        body += chunk;
    }
}

/// Checks the bytes of a whole connection on which these requests were sent.
fn assert_framed(received: &str, requests: &[&Request], case: &str) {
    let mut rest = received;
    for request in requests {
        let response = Response::take(&mut rest, request.method);
        let response = response.unwrap_or_else(|| panic!("{case}: {rest:?} in {received:?}"));
        assert_eq!(response.version, request.version, "{case}: {received:?}");
        assert_eq!(response.status, request.status, "{case}: {received:?}");
        if response.head.contains("content-type: application/json") && request.method != "HEAD" {
            let json = serde_json::from_str::<serde_json::Value>(&response.body);
            assert!(json.is_ok(), "{case}: {received:?}");
        }
        assert!(response.closes() || !request.closes, "{case}: {received:?}");
        if response.closes() {
            break;
        }
    }
    assert_eq!(rest, "", "{case}: {received:?}");
}

/// Returns every kind of request that may follow another.
fn second_requests() -> Vec<Request> {
    let view = r#"{"function":"0x1::chain_id::get","type_arguments":[],"arguments":[]}"#;
    let mut requests = Vec::new();
    for (method, path, status) in [
        ("GET", "/v1/info", 200),
        ("HEAD", "/v1/info", 200),
        ("OPTIONS", "/v1/info", 405),
        ("POST", "/v1/view", 200),
        ("DELETE", "/v1/info", 405),
    ] {
        for version in ["1.0", "1.1"] {
            for (lines, closes) in [
                ("", version == "1.0"),
                ("connection: keep-alive\r\n", false),
                ("connection: close\r\n", true),
            ] {
                let new = || Request {
                    status,
                    closes,
                    ..Request::new(method, path, version, lines)
                };
                requests.push(new().with_body(view, false));
                if version == "1.1" {
                    requests.push(new().with_body(view, true));
                }
                if method != "POST" {
                    requests.push(new().without_body());
                }
            }
        }
    }
    requests
}

/// Returns a request of every route, and a `HEAD` of every route that takes it.
fn first_requests(history: &History) -> Vec<Request> {
    let examples = examples::all(history);
    let heads = examples.iter().filter(|example| example.method() == "GET");
    let heads = heads.map(|example| Request::new("HEAD", &example.path, "1.1", "").without_body());
    let requests: Vec<_> = heads.collect();
    let mut all: Vec<_> = examples.iter().map(Request::of).collect();
    all.extend(requests);
    all
}

#[actix_web::test]
async fn frames_the_response_of_each_route_before_each_kind_of_request() {
    let history = History::start().await;
    let last = Request::last();
    for first in first_requests(&history) {
        for second in second_requests() {
            let requests = [&first, &second, &last];
            let case = requests.map(|request| &request.bytes[..]).concat();
            let mut connection = history.api.client.connect().await;
            connection.send(case.as_bytes()).await;
            assert_framed(&connection.rest().await, &requests, &case);
        }
    }
    history.api.stop().await;
}

/// Waits until the only worker thread has read what was sent to it before.
async fn until_read(beside: &mut RawConnection) {
    let request = b"GET /v1/-/healthy HTTP/1.1\r\nhost: node\r\n\r\n";
    let response = beside.exchange(request).await.unwrap();
    assert_eq!(response.status, 200);
}

/// Sends the requests in two parts, the second after the first was read.
async fn received_in_parts(
    api: &TestApi,
    beside: &mut RawConnection,
    bytes: &[u8],
    split: usize,
) -> String {
    let mut connection = api.client.connect().await;
    let (first, second) = bytes.split_at(split);
    connection.send(first).await;
    until_read(beside).await;
    connection.send(second).await;
    connection.rest().await
}

#[actix_web::test]
async fn frames_each_kind_of_response_however_the_requests_are_split() {
    let history = History::start().await;
    let mut beside = history.api.client.connect().await;
    let get = |path| Request::new("GET", path, "1.1", "").without_body();
    let many = examples::all(&history)
        .into_iter()
        .find(|example| example.route == examples::WAIT_MANY)
        .unwrap();
    let view = r#"{"function":"0x1::chain_id::get","type_arguments":[],"arguments":[]}"#;
    let firsts = [
        get("/v1/info"),
        get("/v1/accounts/0xb0b/resources"),
        get("/v1/transactions"),
        Request::of(&many),
        Request::new("HEAD", "/v1/accounts/0xb0b/resources", "1.1", "").without_body(),
        Request {
            status: 400,
            ..get("/v1/transactions/by_version/x")
        },
        Request::new("POST", "/v1/view", "1.1", "").with_body(view, true),
        Request {
            closes: false,
            ..Request::new("POST", "/v1/view", "1.0", "connection: keep-alive\r\n")
                .with_body(view, false)
        },
    ];
    let second = Request::new("HEAD", "/v1/info", "1.1", "").with_body(view, true);
    let last = Request::last();
    for first in &firsts {
        let mut bytes = [first, &second, &last].map(|request| &request.bytes[..]);
        // Empty lines before a request are skipped.
        let leading = format!("\r\n{}\r\n", bytes[0]);
        bytes[0] = &leading;
        let bytes = bytes.concat();
        for split in 0..bytes.len() {
            let received =
                received_in_parts(&history.api, &mut beside, bytes.as_bytes(), split).await;
            let case = format!("{bytes:?} split at {split}");
            assert_framed(&received, &[first, &second, &last], &case);
        }
    }
    history.api.stop().await;
}
