//! Handlers of submissions and waits.
//!
//! The requests that the load generator sends before the load are served with constants.

use crate::{
    batch::BatchChecker,
    checker::{Checker, Rejection},
    log::{Log, Standing},
    many,
    parked::Parked,
    polling::Polling,
};
use actix_web::{
    HttpRequest, HttpResponse,
    http::header::ContentType,
    web::{self, Bytes, Data, Path, PayloadConfig, ServiceConfig},
};
use ledger_crypto::HashValue;
use ledger_framework::new_chain;
use ledger_types::{Parameters, Vendor};
use serde_json::{Value, json};
use std::sync::Arc;

/// Chain id of every transfer.
pub const CHAIN_ID: u8 = 4;
/// The header in which the node sends the chain id.
const CHAIN_ID_HEADER: (&str, &str) = ("x-node-chain-id", "4");
/// Maximum size of a body, in bytes, as on the node. A transfer is much smaller.
const BODY_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Maximum size of a response of `/bytes`, several times a page of a hundred transactions.
const ANSWER_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Balance of every account.
const BALANCE: u64 = u64::MAX;
/// Price of a gas unit, with which the load generator computes fees.
const GAS_UNIT_PRICE: u64 = 100;

/// State of one HTTP thread, which its requests share.
pub struct Worker {
    checker: Checker,
    parked: Parked,
    /// The polling requests, if requests poll instead of being notified.
    polling: Option<Polling>,
    pub batches: BatchChecker,
    pub log: Arc<Log>,
}

impl Worker {
    /// Creates the state of a thread.
    pub fn new(log: &Arc<Log>, batches: BatchChecker, polling: Option<Polling>) -> Self {
        let parked = Parked::default();
        log.ring(parked.bell());
        let chain = new_chain(CHAIN_ID, Vendor::default(), Parameters::default());
        Self {
            checker: Checker::new(chain, log),
            parked,
            polling,
            batches,
            log: Arc::clone(log),
        }
    }

    /// Waits until the transaction of this number is durable. Returns false if it cannot wait.
    pub async fn wait(&self, number: u64) -> bool {
        let log = Arc::clone(&self.log);
        match &self.polling {
            Some(polling) => polling.wait(|| number <= log.durable()).await,
            None => {
                self.parked.wait(number, move || log.durable()).await;
                true
            }
        }
    }
}

/// Adds the routes. The load uses `/v1/transactions` and `wait_by_hash`, and those of [`many`].
pub fn configure(config: &mut ServiceConfig) {
    many::configure(config);
    config
        .app_data(PayloadConfig::new(BODY_BYTES_MAX))
        .route("/v1/transactions", web::post().to(submit))
        .route("/v1/transactions/wait_by_hash/{hash}", web::get().to(wait))
        .route("/v1/transactions/by_hash/{hash}", web::get().to(look))
        .route("/v1", web::get().to(ledger))
        .route("/v1/estimate_gas_price", web::get().to(gas_price))
        .route("/v1/accounts/{address}", web::get().to(account))
        .route(
            "/v1/accounts/{address}/balance/{asset}",
            web::get().to(balance),
        )
        .route("/fund", web::post().to(fund))
        .route("/bytes/{count}", web::get().to(bytes));
}

/// Submits a transaction, and waits until it is durable if the query has `timeout_ms`.
async fn submit(worker: Data<Worker>, request: HttpRequest, body: Bytes) -> HttpResponse {
    match worker.checker.take(body).await {
        Ok(hash) if request.query_string().starts_with("timeout_ms=") => {
            match worker.log.standing(&hash) {
                Standing::Appended(number) if worker.wait(number).await => durable(number),
                standing => answer(Some(standing)),
            }
        }
        Ok(hash) => HttpResponse::Accepted()
            .content_type(ContentType::json())
            .body(format!("{{\"hash\":\"{hash}\"}}")),
        Err(Rejection::Form) => refused("invalid_input"),
        Err(Rejection::Signature) => refused("vm_error"),
    }
}

async fn wait(worker: Data<Worker>, hash: Path<String>) -> HttpResponse {
    match standing(&worker, &hash) {
        Some(Standing::Appended(number)) if worker.wait(number).await => durable(number),
        standing => answer(standing),
    }
}

async fn look(worker: Data<Worker>, hash: Path<String>) -> HttpResponse {
    answer(standing(&worker, &hash))
}

/// Returns the status of a transaction, or `None` if `hash` is not a hash.
fn standing(worker: &Worker, hash: &str) -> Option<Standing> {
    Some(worker.log.standing(&hash.parse().ok()?))
}

fn answer(standing: Option<Standing>) -> HttpResponse {
    match standing {
        None => refused("web_framework_error"),
        Some(Standing::Unknown) => HttpResponse::NotFound().finish(),
        Some(Standing::Appended(_)) => HttpResponse::Ok()
            .content_type(ContentType::json())
            .body("{\"type\":\"pending_transaction\"}"),
        Some(Standing::Durable(number)) => durable(number),
    }
}

fn durable(number: u64) -> HttpResponse {
    HttpResponse::Ok()
        .content_type(ContentType::json())
        .body(format!(
            "{{\"type\":\"user_transaction\",\"version\":\"{number}\",\"success\":true,\
         \"vm_status\":\"Executed successfully\",\"gas_used\":\"0\"}}"
        ))
}

/// Returns the ledger info. The version is the number of durable transactions; blocks do not exist.
async fn ledger(worker: Data<Worker>) -> HttpResponse {
    let version = worker.log.durable().to_string();
    HttpResponse::Ok()
        .insert_header(CHAIN_ID_HEADER)
        .json(json!({ "chain_id": CHAIN_ID, "ledger_version": version, "block_height": "0" }))
}

async fn gas_price() -> HttpResponse {
    constant(&json!({ "gas_estimate": GAS_UNIT_PRICE }))
}

async fn account(address: Path<String>) -> HttpResponse {
    constant(&json!({ "sequence_number": "0", "authentication_key": *address }))
}

async fn balance() -> HttpResponse {
    constant(&json!(BALANCE))
}

async fn fund() -> HttpResponse {
    constant(&json!({ "txn_hashes": [HashValue::ZERO.to_string()] }))
}

/// Returns a body of `count` bytes, for comparison with reads of the node.
async fn bytes(count: Path<usize>) -> HttpResponse {
    let count = count.into_inner().min(ANSWER_BYTES_MAX);
    HttpResponse::Ok()
        .content_type(ContentType::json())
        .body(vec![b' '; count])
}

fn constant(body: &Value) -> HttpResponse {
    HttpResponse::Ok().json(body)
}

pub fn refused(error_code: &str) -> HttpResponse {
    HttpResponse::BadRequest().json(json!({ "message": error_code, "error_code": error_code }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::{App, http::StatusCode, test};
    use ledger_test_support::{TestAccount, development_chain, function_call};
    use ledger_types::SignedTransaction;

    fn worker(log: &Arc<Log>) -> Worker {
        Worker::new(log, BatchChecker::start(2, CHAIN_ID).unwrap(), None)
    }

    fn signed(sequence_number: u64) -> SignedTransaction {
        let call = function_call("0x1::any::call", &[], vec![]);
        TestAccount::from_seed(7).call(&development_chain(), sequence_number, call)
    }

    #[actix_web::test]
    async fn accepts_valid_and_rejects_invalid_signatures_of_one_batch() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        let log = Log::open(&path, 0).unwrap();
        let app = App::new()
            .app_data(Data::new(worker(&log)))
            .configure(configure);
        let app = test::init_service(app).await;
        let post = |transaction: &SignedTransaction| {
            let body = bcs::to_bytes(transaction).unwrap();
            let request = test::TestRequest::post()
                .uri("/v1/transactions")
                .set_payload(body);
            test::call_service(&app, request.to_request())
        };
        let good: Vec<_> = (0..5).map(signed).collect();
        let mut bad = signed(5);
        bad.raw.sequence_number = 6;
        let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(|index| post(&good[index]));
        let (a, b, refused, c, d, e) = tokio::join!(a, b, post(&bad), c, d, e);
        for answer in [a, b, c, d, e] {
            assert_eq!(answer.status(), StatusCode::ACCEPTED);
        }
        assert_eq!(refused.status(), StatusCode::BAD_REQUEST);
        let get = |hash: HashValue| {
            let uri = format!("/v1/transactions/wait_by_hash/{hash}");
            test::call_service(&app, test::TestRequest::get().uri(&uri).to_request())
        };
        let vendor = Vendor::default();
        for transaction in &good {
            assert_eq!(
                get(transaction.hash(&vendor)).await.status(),
                StatusCode::OK
            );
        }
        assert_eq!(get(bad.hash(&vendor)).await.status(), StatusCode::NOT_FOUND);
        let sizes: usize = good
            .iter()
            .map(|transaction| 4 + transaction.size_bytes())
            .sum();
        assert_eq!(
            std::fs::read(&path).unwrap().len(),
            sizes,
            "awaited transactions are written"
        );
    }

    #[actix_web::test]
    async fn rejects_a_body_that_is_not_a_transaction() {
        let directory = tempfile::tempdir().unwrap();
        let log = Log::open(&directory.path().join("log"), 0).unwrap();
        let app = App::new()
            .app_data(Data::new(worker(&log)))
            .configure(configure);
        let app = test::init_service(app).await;
        for body in [&b""[..], b"no transaction", &[0; 200]] {
            let request = test::TestRequest::post()
                .uri("/v1/transactions")
                .set_payload(body);
            let answer = test::call_service(&app, request.to_request()).await;
            assert_eq!(answer.status(), StatusCode::BAD_REQUEST, "{body:?}");
        }
    }

    #[actix_web::test]
    async fn responds_to_a_submission_with_a_timeout_when_it_is_durable() {
        let directory = tempfile::tempdir().unwrap();
        let log = Log::open(&directory.path().join("log"), 0).unwrap();
        let app = App::new()
            .app_data(Data::new(worker(&log)))
            .configure(configure);
        let app = test::init_service(app).await;
        let request = test::TestRequest::post()
            .uri("/v1/transactions?timeout_ms=5000")
            .set_payload(bcs::to_bytes(&signed(0)).unwrap());
        let answer = test::call_service(&app, request.to_request()).await;
        assert_eq!(answer.status(), StatusCode::OK);
        let answer: Value = test::read_body_json(answer).await;
        assert_eq!((&answer["version"], log.durable()), (&json!("1"), 1));
    }

    #[actix_web::test]
    async fn submits_a_batch_of_several_parts_and_waits_for_all_of_it() {
        let directory = tempfile::tempdir().unwrap();
        let log = Log::open(&directory.path().join("log"), 0).unwrap();
        let app = App::new()
            .app_data(Data::new(worker(&log)))
            .configure(configure);
        let app = test::init_service(app).await;
        let post = |path: &str, media_type: &'static str, body: Vec<u8>| {
            let request = test::TestRequest::post()
                .uri(path)
                .insert_header(("content-type", media_type))
                .set_payload(body);
            test::call_service(&app, request.to_request())
        };
        let good: Vec<_> = (0..150).map(signed).collect();
        let mut bad = good.clone();
        bad[149].raw.sequence_number = 200;
        for (batch, expected) in [
            (&bad, StatusCode::BAD_REQUEST),
            (&good, StatusCode::ACCEPTED),
        ] {
            let body = bcs::to_bytes(batch).unwrap();
            let answer = post("/v1/transactions/batch", "application/x-bcs", body).await;
            assert_eq!(answer.status(), expected);
        }
        let unknown = bad[149].hash(&Vendor::default());
        let mut hashes: Vec<_> = good
            .iter()
            .map(|transaction| transaction.hash(&Vendor::default()))
            .collect();
        hashes.push(unknown);
        let body = json!({ "hashes": hashes.iter().map(HashValue::to_string).collect::<Vec<_>>() });
        let body = body.to_string().into_bytes();
        let answer = post("/v1/transactions/wait", "application/json", body).await;
        let text = test::read_body(answer).await;
        let lines: Vec<Value> = text
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect();
        assert_eq!((lines.len(), log.durable()), (152, 150));
        assert_eq!(lines[149]["version"], "150");
        assert_eq!(lines[150]["status"], "unknown");
        assert_eq!(lines[151]["committed"], 150);
        let body = bcs::to_bytes(&hashes).unwrap();
        let answer = post("/v1/transactions/wait", "application/x-bcs", body).await;
        assert_eq!(answer.status(), StatusCode::OK);
    }
}
