//! The one indexer query that the node serves, as the TypeScript SDK sends it, and the rejection
//! of every other query.

use crate::kit::{
    BODY_BYTES_MAX, Client, RawResponse, Settings, TestApi, Transfer, ledger_headers, ok_json,
};
use serde_json::{Value, json};

/// The query of the SDK, with its line breaks.
const QUERY: &str = "
    query getProcessorStatus($where_condition: processor_status_bool_exp) {
  processor_status(where: $where_condition) {
    last_success_version
    processor
    last_updated
  }
}
    ";

/// Processors with a status on this node.
const PROCESSORS: [&str; 6] = [
    "account_transactions_processor",
    "default_processor",
    "events_processor",
    "fungible_asset_processor",
    "objects_processor",
    "user_transaction_processor",
];

async fn post(client: &Client, body: &Value) -> RawResponse {
    client.post_json("/v1/graphql", body, "*/*").await
}

async fn query_statuses(client: &Client, variables: Option<Value>) -> (RawResponse, Vec<Value>) {
    let mut body = json!({ "query": QUERY });
    if let Some(variables) = variables {
        body["variables"] = variables;
    }
    let response = post(client, &body).await;
    let content = ok_json(&response);
    assert_eq!(content.get("errors"), None, "{content}");
    let statuses = content["data"]["processor_status"]
        .as_array()
        .unwrap()
        .clone();
    (response, statuses)
}

fn where_processor(condition: &Value) -> Option<Value> {
    Some(json!({ "where_condition": { "processor": condition } }))
}

/// Returns the message of a response without data.
fn rejection_message(response: &RawResponse) -> String {
    let content = ok_json(response);
    assert_eq!(content["data"], Value::Null, "{content}");
    let message = content["errors"][0]["message"].as_str().unwrap().to_owned();
    assert!(
        message
            .starts_with("this node has no indexer and serves the query processor_status only: "),
        "{message}"
    );
    assert!(
        content["errors"].as_array().unwrap().len() <= 4,
        "{content}"
    );
    message
}

async fn rejection_of(client: &Client, query: &str) -> String {
    rejection_message(&post(client, &json!({ "query": query })).await)
}

#[actix_web::test]
async fn reports_every_processor_at_the_version_of_the_headers() {
    let api = TestApi::start(Settings::default()).await;
    let mut sequence_number = 0;
    while sequence_number < 3 {
        let committed = api.commit(&Transfer::new(0, sequence_number)).await;
        sequence_number += 1;
        let (response, statuses) = query_statuses(&api.client, None).await;
        let [_, version, _, usecs, ..] = ledger_headers(&response, "node");
        let names: Vec<_> = statuses
            .iter()
            .map(|status| status["processor"].as_str().unwrap())
            .collect();
        assert_eq!(names, PROCESSORS);
        for status in &statuses {
            assert_eq!(
                status["last_success_version"], version,
                "the number in the headers"
            );
            let fraction = format!(".{:06}", usecs % 1_000_000);
            assert!(
                status["last_updated"]
                    .as_str()
                    .unwrap()
                    .ends_with(&fraction),
                "{status}"
            );
        }
        let of_transaction: u64 = committed["version"].as_str().unwrap().parse().unwrap();
        assert!(
            version >= of_transaction,
            "a client that has seen {of_transaction} does not wait"
        );
    }
    api.stop().await;
}

#[actix_web::test]
async fn reports_no_version_that_a_restart_loses() {
    let api = TestApi::start(Settings::default()).await;
    for sequence_number in 0..3 {
        let signed = Transfer::new(0, sequence_number).sign(&api.chain);
        assert_eq!(api.client.submit_bcs(&signed).await.status, 202);
    }
    let (_, before) = query_statuses(&api.client, None).await;
    let api = api.restarted().await;
    let (_, after) = query_statuses(&api.client, None).await;
    let version = |statuses: &[Value]| statuses[0]["last_success_version"].as_u64().unwrap();
    assert!(version(&before) <= version(&after), "{before:?} {after:?}");
    api.stop().await;
}

#[actix_web::test]
async fn selects_processors_by_name() {
    let api = TestApi::start(Settings::default()).await;
    let names = |statuses: Vec<Value>| -> Vec<String> {
        let names = statuses
            .iter()
            .map(|status| status["processor"].as_str().unwrap().to_owned());
        names.collect()
    };
    let none: [&str; 0] = [];
    for (condition, expected) in [
        (
            json!({ "_eq": "fungible_asset_processor" }),
            &["fungible_asset_processor"][..],
        ),
        (json!({ "_eq": "token_v2_processor" }), &none),
        (
            json!({ "_in": ["token_v2_processor", "events_processor"] }),
            &["events_processor"],
        ),
        (
            json!({ "_eq": "events_processor", "_in": ["default_processor"] }),
            &none,
        ),
        (json!({ "_in": [] }), &none),
        (json!({}), &PROCESSORS),
    ] {
        let (_, statuses) = query_statuses(&api.client, where_processor(&condition)).await;
        assert_eq!(names(statuses), expected, "{condition}");
    }
    for variables in [
        json!({}),
        json!({ "where_condition": {} }),
        json!({ "where_condition": null }),
        Value::Null,
    ] {
        let (_, statuses) = query_statuses(&api.client, Some(variables.clone())).await;
        assert_eq!(names(statuses), PROCESSORS, "{variables}");
    }
    api.stop().await;
}

#[actix_web::test]
async fn serves_aliases_single_columns_and_a_named_operation() {
    let api = TestApi::start(Settings::default()).await;
    let query = "query a { processor_status { processor } } \
                 query b { far: processor_status(\
                 where: {processor: {_eq: \"events_processor\"}}) { \
                 __typename version: last_success_version } }";
    let response = post(
        &api.client,
        &json!({ "query": query, "operationName": "b" }),
    )
    .await;
    let far = json!([{ "__typename": "processor_status", "version": 0 }]);
    assert_eq!(ok_json(&response), json!({ "data": { "far": far } }));
    let message = rejection_message(&post(&api.client, &json!({ "query": query })).await);
    assert!(message.contains("Operation name required"), "{message}");
    api.stop().await;
}

#[actix_web::test]
async fn rejects_every_other_query_by_name() {
    let api = TestApi::start(Settings::default()).await;
    for (query, named) in [
        (
            "{ user_transactions(limit: 1) { version } }",
            "user_transactions",
        ),
        (
            "query q($w: table_items_bool_exp!) { table_items(where: $w) { key } }",
            "table_items",
        ),
        (
            "{ processor_status { last_transaction_timestamp } }",
            "last_transaction_timestamp",
        ),
        // Deeper than any query that the node serves.
        (
            "{ account_transactions_aggregate { aggregate { count { a { b } } } } }",
            "account_transactions_aggregate",
        ),
        ("{ processor_status(limit: 1) { processor } }", "limit"),
        (
            "{ processor_status(where: {processor: {_neq: \"x\"}}) { processor } }",
            "_neq",
        ),
        (
            "{ processor_status(where: {_or: []}) { processor } }",
            "_or",
        ),
        (
            "{ processor_status(where: {processor: {_eq: 1}}) { processor } }",
            "String",
        ),
        ("{ processor_status }", "processor_status"),
        ("{ __schema { types { name } } }", "uses introspection"),
        (
            "{ __type(name: \"query_root\") { name } }",
            "uses introspection",
        ),
        ("mutation { delete { x } }", "mutations"),
        (
            "subscription { processor_status { processor } }",
            "subscriptions",
        ),
        ("", "expected"),
        ("{ processor_status { processor }", "expected"),
    ] {
        let message = rejection_of(&api.client, query).await;
        assert!(message.contains(named), "{query}: {message}");
    }
    let variables = json!({ "where_condition": { "processor": { "_eq": 7 } } });
    let wrong = json!({ "query": QUERY, "variables": variables });
    rejection_message(&post(&api.client, &wrong).await);
    api.stop().await;
}

#[actix_web::test]
async fn rejects_queries_that_are_deep_wide_or_long() {
    let api = TestApi::start(Settings::default()).await;
    let nested = |open: &str, close: &str| open.repeat(1_000) + &close.repeat(1_000);
    let aliases: String = (0..200).map(|n| format!("a{n}:processor ")).collect();
    let lists: String = (0..100)
        .map(|n| format!("a{n}:processor_status{{processor}} "))
        .collect();
    let fragments: String = (0..20)
        .map(|n| {
            format!(
                "fragment f{n} on query_root {{...f{m} ...f{m}}} ",
                m = n + 1
            )
        })
        .collect();
    let unknown = "a ".repeat(1_500);
    let directives = "@skip(if:false)".repeat(20);
    for (query, named) in [
        (nested("{a", "}"), "1000 brackets"),
        // The closing brackets are in a string and in a comment, so no parser counts them.
        (
            format!("query q($a: b = \"]]]\" # ]]]\n{}", "[".repeat(1_000)),
            "brackets",
        ),
        (
            format!(
                "{{ processor_status(where: {}) {{ processor }} }}",
                nested("[", "]")
            ),
            "brackets",
        ),
        (format!("{{ {lists} }}"), "101 brackets"),
        (
            format!("{{ processor_status {{ {aliases} }} }}"),
            "605 tokens",
        ),
        (format!("{{ ...f0 }} {fragments}"), "fragments"),
        (
            "fragment f on query_root { ...f } { ...f }".to_owned(),
            "fragments",
        ),
        (
            "{ ... on query_root { processor_status { processor } } }".to_owned(),
            "fragments",
        ),
        (format!("{{ {unknown} }}"), "1502 tokens"),
        (
            format!(
                "{{ processor_status {{ {} }} }}",
                &aliases[..aliases.find("a40:").unwrap()]
            ),
            "too complex",
        ),
        (
            "{ processor_status { processor { processor { processor } } } }".to_owned(),
            "must not have a selection",
        ),
        (
            format!(
                "{{ processor_status {{ processor {} }} }}",
                "@skip(if:false)".repeat(3)
            ),
            "directives",
        ),
        (
            format!("{{ processor_status {directives} {{ processor }} }}"),
            "brackets",
        ),
    ] {
        let message = rejection_of(&api.client, &query).await;
        assert!(message.contains(named), "{query}: {message}");
    }
    // A variable may be nested up to the depth limit of JSON, but such a value has no valid type.
    let variables = format!("{}1{}", "[".repeat(100), "]".repeat(100));
    let variables: Value = serde_json::from_str(&variables).unwrap();
    rejection_message(
        &post(
            &api.client,
            &json!({ "query": QUERY, "variables": { "where_condition": variables } }),
        )
        .await,
    );
    api.stop().await;
}

#[actix_web::test]
async fn rejects_malformed_requests_as_other_routes_do() {
    let api = TestApi::start(Settings::default()).await;
    let json = ("content-type", "application/json");
    let long = vec![b' '; 4 * 1024 + 1];
    assert!(
        long.len() < BODY_BYTES_MAX,
        "below the limit of other routes"
    );
    let bcs = ("accept", "application/x-bcs");
    let valid = serde_json::to_vec(&json!({ "query": QUERY })).unwrap();
    for (headers, body, status, code) in [
        (&[json][..], &b"{"[..], 400, "web_framework_error"),
        (
            &[json],
            b"[{\"query\":\"{ a }\"}]",
            400,
            "web_framework_error",
        ),
        (&[json], b"{\"variables\":{}}", 400, "web_framework_error"),
        (&[json], b"{\"query\":7}", 400, "web_framework_error"),
        (&[json], &long, 413, "web_framework_error"),
        (
            &[("content-type", "application/graphql")],
            b"{ a }",
            415,
            "web_framework_error",
        ),
        (&[], &valid, 415, "web_framework_error"),
        (&[json, bcs], &valid, 400, "bcs_not_supported"),
    ] {
        let response = api
            .client
            .send("POST", "/v1/graphql", headers, Some(body))
            .await;
        assert_eq!(
            (response.status, &response.error_code()[..]),
            (status, code),
            "{}",
            response.text()
        );
    }
    let response = api.client.get("/v1/graphql").await;
    assert_eq!(
        (response.status, &response.headers["allow"][..]),
        (405, "POST")
    );
    api.stop().await;
}

#[actix_web::test]
async fn accepts_queries_of_pages_of_another_origin() {
    let api = TestApi::start(Settings::default()).await;
    let headers = [
        ("content-type", "application/json"),
        ("origin", "http://a.page"),
    ];
    let body = serde_json::to_vec(&json!({ "query": QUERY })).unwrap();
    let response = api
        .client
        .send("POST", "/v1/graphql", &headers, Some(&body))
        .await;
    assert_eq!(response.status, 200, "{}", response.text());
    assert!(
        response.headers.contains_key("access-control-allow-origin"),
        "{:?}",
        response.headers
    );
    api.stop().await;
}
