//! Handlers of batches, and of waits for many transactions (docs/use/interface.md).

use crate::{
    checker::Rejection,
    routes::{Worker, refused},
};
use actix_web::{
    HttpRequest, HttpResponse,
    http::header::{ACCEPT, CONTENT_TYPE, ContentType, HeaderName},
    web::{Bytes, Data, ServiceConfig, post},
};
use ledger_crypto::HashValue;
use serde::Deserialize;
use std::{fmt::Write as _, iter::zip};

/// Media type of BCS.
const BCS: &str = "application/x-bcs";
/// Length of a short text in BCS, and the text.
const VM_STATUS: &[u8] = b"\x15Executed successfully";
/// Variant indices of an outcome and of the summary, and of the statuses of an outcome.
const OUTCOME: u8 = 0;
const SUMMARY: u8 = 1;
const COMMITTED: u8 = 0;
const UNKNOWN: u8 = 3;

/// Adds the routes.
pub fn configure(config: &mut ServiceConfig) {
    config
        .route("/v1/transactions/batch", post().to(submit_batch))
        .route("/v1/transactions/wait", post().to(wait_many));
}

/// Submits a batch in BCS. One invalid transaction rejects all.
async fn submit_batch(worker: Data<Worker>, request: HttpRequest, body: Bytes) -> HttpResponse {
    match worker.batches.check(&body).await {
        Ok(parts) => {
            let transactions = parts
                .iter()
                .flatten()
                .map(|(hash, bytes)| (*hash, &**bytes));
            worker.log.append(transactions);
            if is_bcs(&request, &ACCEPT) {
                return HttpResponse::Accepted().content_type(BCS).body(vec![0]);
            }
            HttpResponse::Accepted()
                .content_type(ContentType::json())
                .body("{\"transaction_failures\":[]}")
        }
        Err(Rejection::Form) => refused("invalid_input"),
        Err(Rejection::Signature) => refused("vm_error"),
    }
}

/// Waits until all transactions are durable, and responds with all outcomes together.
async fn wait_many(worker: Data<Worker>, request: HttpRequest, body: Bytes) -> HttpResponse {
    let hashes = if is_bcs(&request, &CONTENT_TYPE) {
        bcs::from_bytes(&body).ok()
    } else {
        parse_json(&body)
    };
    let Some(hashes) = hashes else {
        return refused("invalid_input");
    };
    let numbers = worker.log.numbers(&hashes);
    let last = numbers.iter().flatten().max().copied();
    // No sync follows for transactions that are durable already.
    if let Some(last) = last.filter(|last| *last > worker.log.durable()) {
        worker.wait(last).await;
    }
    let version = worker.log.durable();
    let (media_type, body) = if is_bcs(&request, &ACCEPT) {
        (BCS, frames(&hashes, &numbers, version))
    } else {
        (
            "application/x-ndjson",
            lines(&hashes, &numbers, version).into(),
        )
    };
    HttpResponse::Ok().content_type(media_type).body(body)
}

/// Returns the hashes of a body in JSON, or `None` if it has another form.
fn parse_json(body: &[u8]) -> Option<Vec<HashValue>> {
    #[derive(Deserialize)]
    struct Hashes<'a> {
        #[serde(borrow)]
        hashes: Vec<&'a str>,
    }
    let Hashes { hashes } = serde_json::from_slice(body).ok()?;
    hashes.into_iter().map(|hash| hash.parse().ok()).collect()
}

fn is_bcs(request: &HttpRequest, header: &HeaderName) -> bool {
    let value = request.headers().get(header);
    value.is_some_and(|value| value.as_bytes().starts_with(BCS.as_bytes()))
}

/// Returns a line of JSON for each outcome, and the summary at this version.
fn lines(hashes: &[HashValue], numbers: &[Option<u64>], version: u64) -> String {
    let mut text = String::with_capacity(hashes.len() * 200);
    for (hash, number) in zip(hashes, numbers) {
        let _ = match number {
            Some(number) => writeln!(
                text,
                "{{\"type\":\"outcome\",\"hash\":\"{hash}\",\"status\":\"committed\",\
                 \"version\":\"{number}\",\"success\":true,\
                 \"vm_status\":\"Executed successfully\"}}"
            ),
            None => writeln!(
                text,
                "{{\"type\":\"outcome\",\"hash\":\"{hash}\",\"status\":\"unknown\"}}"
            ),
        };
    }
    let committed = numbers.iter().flatten().count();
    let unknown = numbers.len() - committed;
    // Writing to a String does not fail.
    let _ = writeln!(
        text,
        "{{\"type\":\"summary\",\"ledger_version\":\"{version}\",\"ledger_timestamp_usec\":\"0\",\
         \"committed\":{committed},\"removed\":0,\"pruned\":0,\"unknown\":{unknown},\"pending\":0}}"
    );
    text
}

/// Returns a frame of BCS for each outcome, and the summary at this version.
fn frames(hashes: &[HashValue], numbers: &[Option<u64>], version: u64) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(hashes.len() * 80);
    for (hash, number) in zip(hashes, numbers) {
        let status = match number {
            Some(number) => [&[COMMITTED], &number.to_le_bytes()[..], &[1], VM_STATUS].concat(),
            None => vec![UNKNOWN],
        };
        push_frame(&mut bytes, &[&[OUTCOME], hash.as_bytes(), &status]);
    }
    let committed = numbers.iter().flatten().count() as u64;
    let unknown = numbers.len() as u64 - committed;
    // Version and time of the ledger, which has no time here, then the counts by status.
    let summary = [version, 0, committed, 0, 0, unknown, 0].map(u64::to_le_bytes);
    push_frame(&mut bytes, &[&[SUMMARY], summary.as_flattened()]);
    bytes
}

/// Appends the length of a value, and the value.
fn push_frame(bytes: &mut Vec<u8>, parts: &[&[u8]]) {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    bytes.extend_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
    parts.iter().for_each(|part| bytes.extend_from_slice(part));
}
