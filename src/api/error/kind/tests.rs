//! Responses of all rows of the table.

mod rows;

use super::*;
use actix_web::{body::to_bytes, http::header};
use ledger_actors::{NodeError, SubmitError};
use ledger_types::ValidationStatus;
use rows::{left, rows};
use serde_json::{Value, json};
use std::{collections::BTreeSet, env, fs, path::Path};

async fn answer(problem: &ErrorKind) -> (u16, Value) {
    let response = problem.response();
    let status = response.status().as_u16();
    assert_eq!(
        response.headers().get(header::CONTENT_TYPE).unwrap(),
        "application/json"
    );
    let body = to_bytes(response.into_body()).await.unwrap();
    (status, serde_json::from_slice(&body).unwrap())
}

#[actix_web::test]
async fn responds_with_status_code_and_message_of_every_row() {
    for (problem, status, error_code, message) in rows() {
        let expected = json!({ "message": message, "error_code": error_code });
        assert_eq!(answer(&problem).await, (status, expected), "{problem:?}");
    }
}

/// The variants are read from the source, because a match would only list them once more.
#[test]
fn has_a_row_for_every_kind() {
    let source = include_str!("../kind.rs");
    let (_, variants) = source.split_once("pub enum ErrorKind {\n").unwrap();
    let (variants, _) = variants.split_once("\n}\n").unwrap();
    let name_of = |text: &str| -> String {
        let name = text.chars().take_while(char::is_ascii_alphanumeric);
        name.collect()
    };
    let lines = variants
        .lines()
        .filter_map(|line| line.strip_prefix("    "));
    let declared: BTreeSet<_> = lines
        .map(name_of)
        .filter(|name| name.starts_with(|first: char| first.is_ascii_uppercase()))
        .collect();
    assert!(declared.contains("ResourceNotFound") && declared.contains("BcsNotSupported"));
    let mut with_row: BTreeSet<_> = rows()
        .into_iter()
        .map(|(problem, ..)| name_of(&format!("{problem:?}")))
        .collect();
    // Their bodies have `vm_error_code`, which tests of their own check.
    with_row.extend(["Refused", "ViewFailed"].map(str::to_owned));
    assert_eq!(with_row, declared);
}

#[test]
fn matches_the_golden_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/surface/errors.txt");
    let mut lines: Vec<_> = rows()
        .into_iter()
        .map(|(problem, ..)| {
            let (status, code) = problem.row();
            format!(
                "{} {} {problem}\n",
                status.as_u16(),
                json!(code).as_str().unwrap()
            )
        })
        .collect();
    lines.sort();
    if env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, lines.concat()).unwrap();
    }
    assert_eq!(lines.concat(), fs::read_to_string(&path).unwrap());
}

#[test]
fn raises_every_code_but_account_not_found() {
    // docs/reference/rest-contract.md#s7, in its order.
    let listed = "account_not_found, resource_not_found, module_not_found, struct_field_not_found, \
        version_not_found, transaction_not_found, table_item_not_found, block_not_found, \
        state_value_not_found, version_pruned, block_pruned, invalid_input, \
        invalid_transaction_update, sequence_number_too_old, vm_error, rejected_by_filter, \
        health_check_failed, mempool_is_full, internal_error, web_framework_error, \
        bcs_not_supported, api_disabled";
    let refused = ErrorKind::Refused(ValidationStatus::InvalidSignature.into());
    let mut raised: Vec<_> = rows()
        .into_iter()
        .map(|(problem, ..)| problem.row().1)
        .collect();
    raised.push(refused.row().1);
    let raised: Vec<_> = raised.iter().map(|code| json!(code)).collect();
    let (mut count, mut never) = (0, Vec::new());
    for code in listed.split(", ") {
        count += 1;
        if !raised.contains(&json!(code)) {
            never.push(code);
        }
    }
    assert_eq!((count, never), (22, vec!["account_not_found"]));
}

#[actix_web::test]
async fn shows_the_validation_status_of_a_rejected_transaction() {
    let refused = ErrorKind::Refused(ValidationStatus::InvalidSignature.into());
    let expected = json!({
        "message": "Invalid transaction: Type: Validation Code: INVALID_SIGNATURE",
        "error_code": "vm_error",
        "vm_error_code": 1,
    });
    assert_eq!(answer(&refused).await, (400, expected));

    let later = left(RemovalReason::Rejected(
        ValidationStatus::SequenceNumberTooOld.into(),
    ));
    let (status, body) = answer(&later).await;
    assert_eq!((status, &body["vm_error_code"]), (404, &json!(3)));
    let message = body["message"].as_str().unwrap();
    assert!(
        message.ends_with(": rejected: SEQUENCE_NUMBER_TOO_OLD"),
        "{message}"
    );
}

#[actix_web::test]
async fn shows_the_status_of_a_failed_view() {
    let failed = ErrorKind::ViewFailed {
        message: "why".to_owned(),
        vm_error_code: 4016,
    };
    let expected =
        json!({ "message": "why", "error_code": "invalid_input", "vm_error_code": 4016 });
    assert_eq!(answer(&failed).await, (400, expected));
}

#[test]
fn cuts_long_messages_between_characters() {
    let message = |chars: usize| ErrorKind::Syntax("é".repeat(chars)).body().message;
    let whole = "é".repeat(1_000);
    assert_eq!(message(1_000), whole);
    assert_eq!(message(1_001), format!("{whole} ... (cut)"));
    assert_eq!(message(8 << 20), format!("{whole} ... (cut)"));
}

/// Overload ends soon. An old ledger may stay old, so a failed health check suggests no retry.
#[test]
fn adds_retry_after_to_overload_only() {
    for (problem, status, error_code, _) in rows() {
        let expected = match (status, error_code) {
            _ if matches!(problem, ErrorKind::Unwritable(_)) => Some("10"),
            _ if matches!(problem, ErrorKind::VersionTooFarAhead { .. }) => Some("10"),
            _ if matches!(problem, ErrorKind::Overloaded(_)) => Some("7"),
            (503, "internal_error") | (507, _) => Some("1"),
            _ => None,
        };
        let response = problem.response();
        let seconds = response.headers().get(header::RETRY_AFTER);
        let seconds = seconds.map(|seconds| seconds.to_str().unwrap());
        assert_eq!(seconds, expected, "{problem:?}");
    }
}

/// A reached limit, with a time to retry that no other error has.
fn overload() -> Overload {
    Overload::new("work.read_budget_ms", 500, 7)
}

#[test]
fn lists_the_methods_of_the_path_with_405() {
    let response = ErrorKind::MethodNotAllowed("GET".to_owned()).response();
    assert_eq!(response.headers().get(header::ALLOW).unwrap(), "GET");
}

#[test]
fn suggests_a_longer_retry_while_the_store_cannot_be_written() {
    let failed = ErrorKind::Unwritable(NotWritable::WriteFailed("why".into()));
    let response = failed.response();
    assert_eq!(response.headers().get(header::RETRY_AFTER).unwrap(), "10");
    assert_eq!(response.status(), 503);
}

#[test]
fn maps_errors_of_the_node_to_rows() {
    let code = |problem: ErrorKind| problem.row().1;
    let read = |error: NodeError| code(error.into());
    assert_eq!(
        read(NodeError::Overloaded(overload())),
        ErrorCode::InternalError
    );
    let submit = |error: SubmitError| ErrorKind::from(error).row();
    let full = SubmitError::Full {
        reason: "Mempool is full".to_owned(),
    };
    assert_eq!(
        submit(full),
        (StatusCode::INSUFFICIENT_STORAGE, ErrorCode::MempoolIsFull)
    );
    assert_eq!(
        submit(NodeError::Overloaded(overload()).into()),
        (StatusCode::SERVICE_UNAVAILABLE, ErrorCode::InternalError)
    );
    let store = NodeError::Store(ledger_store::StoreError::Empty).into();
    assert_eq!(
        submit(store),
        (StatusCode::INTERNAL_SERVER_ERROR, ErrorCode::InternalError)
    );
}
