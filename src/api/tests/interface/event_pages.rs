//! docs/reference/rest-contract.md#s4-3, docs/reference/rest-contract.md#s4-4: the pages of a
//! stream, the same by its handle and by its creation number.

use crate::{
    interface::{
        chain::{History, Pruned, STORE},
        rows::row,
    },
    kit::{TestApi, event_numbers, ledger_headers, ok_json, store_of},
};
use serde_json::json;

const BY_HANDLE: &str = "GET /accounts/{address}/events/{event_handle}/{field_name}";

/// Returns the paths of the deposits to an account, by handle and by creation number.
async fn deposits(api: &TestApi, address: &str) -> [String; 2] {
    let by_handle = |address| format!("/v1/accounts/{address}/events/{STORE}/deposit_events");
    // All stores have the same creation number of deposits. The others may have no events.
    let events = ok_json(&api.client.get(&by_handle("0xb0b")).await);
    let number = events[0]["guid"]["creation_number"].as_str().unwrap();
    let store = store_of(address.parse().unwrap());
    let by_number = format!("/v1/accounts/{store}/events/{number}");
    [by_handle(address), by_number]
}

/// Returns events in ascending order, from the sequence number `start` or the newest ones.
#[actix_web::test]
async fn start_is_a_sequence_number_and_defaults_to_the_newest_page() {
    let history = History::start().await;
    for path in deposits(&history.api, "0xb0b").await {
        for (query, expected) in [
            ("", &[0, 1, 2, 3][..]),
            ("?limit=2", &[2, 3]),
            ("?limit=3", &[1, 2, 3]),
            ("?start=0&limit=2", &[0, 1]),
            ("?start=1&limit=2", &[1, 2]),
            ("?start=2", &[2, 3]),
            ("?start=3", &[3]),
            ("?start=3&limit=9", &[3]),
            ("?start=4", &[]),
            ("?start=18446744073709551615", &[]),
        ] {
            let path = format!("{path}{query}");
            assert_eq!(event_numbers(&history.get(&path).await), expected, "{path}");
        }
    }
    history.api.stop().await;
}

/// Rejects a `start` that is not a U64, and a `limit` of more than 16 bits or of 0.
#[actix_web::test]
async fn start_and_limit_have_their_types() {
    let history = History::start().await;
    let rows = [
        [
            row(BY_HANDLE, 400, "web_framework_error"),
            row(BY_HANDLE, 400, "invalid_input"),
        ],
        [
            row(
                "GET /accounts/{address}/events/{creation_number}",
                400,
                "web_framework_error",
            ),
            row(
                "GET /accounts/{address}/events/{creation_number}",
                400,
                "invalid_input",
            ),
        ],
    ];
    let paths = deposits(&history.api, "0xb0b").await;
    for (path, [malformed, zero]) in paths.iter().zip(rows) {
        for query in [
            "start=x",
            "start=-1",
            "start=",
            "limit=65536",
            "limit=x",
            "limit=-1",
            "limit=1.0",
            "limit=",
        ] {
            malformed
                .get(&history.api, &format!("{path}?{query}"))
                .await;
        }
        zero.get(&history.api, &format!("{path}?limit=0")).await;
        let all = history.get(&format!("{path}?limit=65535")).await;
        assert_eq!(event_numbers(&all).len(), 4, "{path}");
    }
    history.api.stop().await;
}

/// Returns the retained events without a start.
#[actix_web::test]
async fn a_start_below_the_first_retained_event_is_410() {
    let pruned = Pruned::start().await;
    let rows = [
        row(
            "GET /accounts/{address}/events/{event_handle}/{field_name}",
            410,
            "version_pruned",
        ),
        row(
            "GET /accounts/{address}/events/{creation_number}",
            410,
            "version_pruned",
        ),
    ];
    let retained = deposits(&pruned.api, "0xb0b").await;
    let emptied = deposits(&pruned.api, "0xcafe").await;
    for ((row, retained), emptied) in rows.into_iter().zip(retained).zip(emptied) {
        // The first six of eight blocks with a deposit each are below the window.
        for start in 0..6 {
            let response = row
                .get(&pruned.api, &format!("{retained}?start={start}"))
                .await;
            assert_eq!(
                response.json()["message"],
                format!("Event({start}) has been pruned, the events before 6 are gone")
            );
        }
        for query in ["?start=6", ""] {
            let events = pruned.api.client.get(&format!("{retained}{query}")).await;
            assert_eq!(
                event_numbers(&ok_json(&events)),
                [6, 7],
                "{retained}{query}"
            );
        }
        // A stream still has its next sequence number when all of its events are pruned.
        let response = row.get(&pruned.api, &format!("{emptied}?start=0")).await;
        assert_eq!(ledger_headers(&response, "node")[2], pruned.oldest);
        for query in ["", "?start=1"] {
            let events = pruned.api.client.get(&format!("{emptied}{query}")).await;
            assert_eq!(ok_json(&events), json!([]), "{emptied}{query}");
        }
    }
    pruned.api.stop().await;
}
