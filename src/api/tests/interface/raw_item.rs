//! docs/reference/rest-contract.md#s4-7: `POST /tables/{table_handle}/raw_item`.

use crate::kit::number;
use crate::{
    interface::{
        chain::{History, Pruned, RECORD_KEY},
        rows::row,
    },
    kit::{assert_error, ok_bcs},
};
use serde_json::json;

const ROUTE: &str = "POST /tables/{table_handle}/raw_item";

fn path(table: &str, query: &str) -> String {
    format!("/v1/tables/{table}/raw_item{query}")
}

/// Returns the item in JSON as a Move value and in BCS as the stored bytes.
#[actix_web::test]
async fn the_serialized_key_finds_the_item() {
    let history = History::start().await;
    let key = json!({ "key": RECORD_KEY });
    let item = row("POST /tables/{table_handle}/raw_item", 200, "-")
        .post(&history.api, &path(&history.table, ""), &key)
        .await
        .json();
    let stored = history
        .api
        .client
        .post_json(&path(&history.table, ""), &key, "application/x-bcs")
        .await;
    // The content with its length, the revision, the time.
    let mut expected = vec![1, 0xab];
    expected.extend(1u64.to_le_bytes());
    expected.extend(number(&item["updated_usecs"]).to_le_bytes());
    let mut stored = ok_bcs(&stored).to_vec();
    let mut sorted = expected.clone();
    stored.sort_unstable();
    sorted.sort_unstable();
    assert_eq!(stored, sorted, "the same bytes, in the order of the struct");
    assert_eq!(
        (&item["content"], &item["revision"]),
        (&json!("0xab"), &json!("1"))
    );
    history.api.stop().await;
}

/// Reads the item at `ledger_version`, by default the newest.
#[actix_web::test]
async fn the_item_is_read_at_a_version() {
    let history = History::start().await;
    let key = json!({ "key": RECORD_KEY });
    let set_at = number(&history.record["version"]);
    for query in [
        String::new(),
        format!("?ledger_version={set_at}"),
        format!("?ledger_version={}", set_at + 1),
    ] {
        row(ROUTE, 200, "-")
            .post(&history.api, &path(&history.table, &query), &key)
            .await;
    }
    for version in [0, set_at - 1] {
        let query = format!("?ledger_version={version}");
        let response = row(
            "POST /tables/{table_handle}/raw_item",
            404,
            "table_item_not_found",
        )
        .post(&history.api, &path(&history.table, &query), &key)
        .await;
        let words = format!("Table key({RECORD_KEY}) and Ledger version({version})");
        assert!(response.text().contains(&words), "{}", response.text());
    }
    history.api.stop().await;
}

/// Responds with 404 to a version above the newest, and rejects one that is not a U64.
#[actix_web::test]
async fn a_version_is_a_u64_up_to_the_newest() {
    let history = History::start().await;
    let key = json!({ "key": RECORD_KEY });
    let response = row(
        "POST /tables/{table_handle}/raw_item",
        404,
        "version_not_found",
    )
    .post(
        &history.api,
        &path(&history.table, "?ledger_version=19"),
        &key,
    )
    .await;
    assert_eq!(
        response.json()["message"],
        "Ledger version not found by Ledger version(19)"
    );
    for wrong in ["x", "-1", "", "18446744073709551616"] {
        row(
            "POST /tables/{table_handle}/raw_item",
            400,
            "web_framework_error",
        )
        .post(
            &history.api,
            &path(&history.table, &format!("?ledger_version={wrong}")),
            &key,
        )
        .await;
    }
    history.api.stop().await;
}

/// Accepts a short or a long handle. An unknown table has no items.
#[actix_web::test]
async fn the_handle_has_the_form_of_an_address() {
    let history = History::start().await;
    let key = json!({ "key": RECORD_KEY });
    let short = history
        .table
        .trim_start_matches("0x")
        .trim_start_matches('0');
    row(ROUTE, 200, "-")
        .post(&history.api, &path(short, ""), &key)
        .await;
    row(ROUTE, 404, "table_item_not_found")
        .post(&history.api, &path("0xdead", ""), &key)
        .await;
    row(ROUTE, 400, "web_framework_error")
        .post(&history.api, &path("0xg", ""), &key)
        .await;
    history.api.stop().await;
}

/// Requires the member `key` with bytes in hex.
#[actix_web::test]
async fn the_body_is_an_object_with_a_key() {
    let history = History::start().await;
    for body in [
        json!({}),
        json!({ "key": null }),
        json!({ "key": 5 }),
        json!({ "key": "0x0" }),
        json!({ "Key": RECORD_KEY }),
        json!([]),
        json!(RECORD_KEY),
    ] {
        row(ROUTE, 400, "web_framework_error")
            .post(&history.api, &path(&history.table, ""), &body)
            .await;
    }
    let headers = [("content-type", "application/x-bcs")];
    let response = history
        .api
        .client
        .send("POST", &path(&history.table, ""), &headers, Some(b"\x00"))
        .await;
    assert_error(&response, (415, "web_framework_error"), "a body in BCS");
    history.api.stop().await;
}

/// Responds with 410 even if the item never existed.
#[actix_web::test]
async fn a_pruned_version_is_410() {
    let pruned = Pruned::start().await;
    let key = json!({ "key": "0x" });
    for (version, row) in [
        (
            0,
            row(
                "POST /tables/{table_handle}/raw_item",
                410,
                "version_pruned",
            ),
        ),
        (pruned.oldest - 1, row(ROUTE, 410, "version_pruned")),
        (pruned.oldest, row(ROUTE, 404, "table_item_not_found")),
    ] {
        let query = format!("?ledger_version={version}");
        row.post(&pruned.api, &path("0xdead", &query), &key).await;
    }
    pruned.api.stop().await;
}
