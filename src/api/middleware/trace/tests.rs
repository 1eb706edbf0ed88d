//! Traces and log lines, checked in the output of a log subscriber.

use super::*;
use actix_web::{
    App, Error, HttpResponse,
    body::BoxBody,
    dev::ServiceRequest,
    http::{Method, header::HeaderValue},
    middleware::{Next, from_fn},
    test::{TestRequest, call_service, init_service},
    web,
};
use proptest::prelude::*;
use serde_json::Value;
use std::{
    io,
    sync::{Arc, Mutex},
};
use tracing_subscriber::{filter::Targets, fmt, layer::SubscriberExt as _};

const TRACE_ID: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT_ID: &str = "b7ad6b7169203331";
const GOOD: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

#[test]
fn parses_traceparent_by_the_standard() {
    let expected = TraceParent {
        trace_id: TRACE_ID.to_owned(),
        parent_id: PARENT_ID.to_owned(),
    };
    let changed = |from: &str, to: &str| GOOD.replacen(from, to, 1);
    let good = [
        GOOD.to_owned(),
        changed("-01", "-00"),
        changed("-01", "-ff"),
        changed("00-", "01-"),
        changed("00-", "cc-") + "-what-comes-later",
    ];
    for text in good {
        assert_eq!(TraceParent::parse(&text), Some(expected.clone()), "{text}");
    }
    let bad = [
        String::new(),
        "-".repeat(3),
        GOOD.to_uppercase(),
        format!("{GOOD}-"),
        format!("{GOOD}-more"),
        format!(" {GOOD}"),
        changed("00-", "ff-"),
        changed("00-", "0-"),
        changed("-01", ""),
        changed("-01", "-1"),
        changed("-01", "-0g"),
        changed(TRACE_ID, &"0".repeat(32)),
        changed(PARENT_ID, &"0".repeat(16)),
        changed(TRACE_ID, &TRACE_ID[1..]),
        changed(PARENT_ID, "b7ad6b716920333\u{e9}"),
        changed("-", "_"),
    ];
    for text in bad {
        assert_eq!(TraceParent::parse(&text), None, "{text}");
    }
}

#[test]
fn ignores_repeated_traceparents() {
    let mut headers = HeaderMap::new();
    let name = HeaderName::from_static("traceparent");
    headers.append(name.clone(), HeaderValue::from_static(GOOD));
    assert!(TraceParent::from_headers(&headers).is_some());
    headers.append(name, HeaderValue::from_static(GOOD));
    assert_eq!(TraceParent::from_headers(&headers), None);
}

proptest! {
    #[test]
    fn parses_any_text_and_returns_the_ids_of_valid_ones(
        text in "[0-9a-f-]{0,80}|[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}|.{0,80}"
    ) {
        if let Some(parent) = TraceParent::parse(&text) {
            let ids = format!("-{}-{}-", parent.trace_id, parent.parent_id);
            prop_assert_eq!(&text[2..53], &ids[..]);
        }
    }

    #[test]
    fn truncates_text_to_one_short_line(text in "(?s).{0,300}") {
        let line = truncated(&text);
        prop_assert!(!line.chars().any(char::is_control));
        // An escaped control character has up to eight characters, such as \u{9f}.
        prop_assert!(line.chars().count() <= 8 * LOGGED_CHARS_MAX);
    }
}

/// A log in memory.
#[derive(Clone, Default)]
struct MemoryLog(Arc<Mutex<Vec<u8>>>);

impl io::Write for MemoryLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the log lines at these levels while a handler that logs an error serves `requests`.
async fn log_lines(levels: &str, requests: Vec<TestRequest>) -> Vec<Value> {
    let log = MemoryLog::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::registry()
        .with(levels.parse::<Targets>().unwrap())
        .with(fmt::layer().json().with_writer(move || writer.clone()));
    let _guard = tracing::subscriber::set_default(subscriber);
    let client = HeaderName::from_static("x-node-client");
    let traced = move |request: ServiceRequest, next: Next<BoxBody>| {
        let client = client.clone();
        async move {
            let peer = request.peer_addr().map(|peer| peer.ip());
            let trace = RequestTrace::start(request.headers(), peer);
            let response = trace.in_scope(next.call(request)).await?;
            let pattern = response.request().match_pattern();
            trace.finish(&client, ("", pattern.as_deref()), &response);
            Ok::<_, Error>(response)
        }
    };
    let app = App::new().wrap(from_fn(traced)).route(
        "/things/{name}",
        web::get().to(|| async {
            tracing::error!("a failure");
            HttpResponse::InternalServerError().finish()
        }),
    );
    let app = init_service(app).await;
    for request in requests {
        call_service(&app, request.to_request()).await;
    }
    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn get(path: &str) -> TestRequest {
    TestRequest::with_uri(path).method(Method::GET)
}

#[actix_web::test]
async fn logs_a_line_per_request_if_enabled() {
    let long = "x".repeat(LOGGED_CHARS_MAX + 1);
    let requests = vec![
        get("/things/a?secret=1")
            .peer_addr("[2001:db8::9]:80".parse().unwrap())
            .insert_header(("traceparent", GOOD))
            .insert_header(("x-node-client", "sdk/1\t\u{9b}2J status=200")),
        get("/nothing").insert_header(("x-node-client", long)),
    ];
    let lines = log_lines("off,http=debug", requests).await;
    assert_eq!(lines.len(), 2, "{lines:#?}");
    assert_eq!(lines[0]["target"], TARGET);
    let first = &lines[0]["fields"];
    assert_eq!(first["method"], "GET");
    assert_eq!(first["route"], "/things/{name}");
    assert_eq!(first["status"], 500);
    assert!(first["duration_us"].is_u64(), "{first}");
    assert_eq!(first["trace_id"], TRACE_ID);
    assert_eq!(first["parent_id"], PARENT_ID);
    assert_eq!(first["address"], "2001:db8::9");
    assert_eq!(first["client"], "sdk/1\\t\\u{9b}2J status=200");
    let second = &lines[1]["fields"];
    assert_eq!(
        (&second["route"], &second["status"]),
        (&"(none)".into(), &404.into())
    );
    assert_eq!(second["client"], "x".repeat(LOGGED_CHARS_MAX));
    assert_eq!(second.get("trace_id"), None, "{second}");
}

#[actix_web::test]
async fn adds_the_trace_to_events_of_its_request_only() {
    let requests = vec![
        get("/things/a").insert_header(("traceparent", GOOD)),
        get("/things/b").insert_header(("traceparent", "00-nonsense")),
        get("/things/c"),
    ];
    let lines = log_lines("info", requests).await;
    assert_eq!(lines.len(), 3, "{lines:#?}");
    assert_eq!(lines[0]["span"]["trace_id"], TRACE_ID, "{}", lines[0]);
    assert_eq!(lines[0]["span"]["parent_id"], PARENT_ID);
    for line in &lines[1..] {
        assert_eq!(line.get("span"), None, "{line}");
    }
}
