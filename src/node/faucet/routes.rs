//! Routes of the faucet: `/fund` (JSON), `/mint` (the older form, a query), and `/` (health).

use super::{
    error::FaucetError, funder::Funded, handle::Faucet, host_origin::check_host_and_origin,
    recipient::Recipient,
};
use actix_web::{
    Error, HttpResponse, Resource, Route,
    http::{Method, StatusCode},
    middleware::from_fn,
    web::{self, Bytes, Data, Query, ServiceConfig},
};
use ledger_api::BrowserCors;
use serde::{Deserialize, Serialize};

/// Maximum size of a body of `/fund`, in bytes. Three keys and a number take a few hundred.
const BODY_BYTES_MAX: usize = 4096;

/// Methods of the routes, which web pages may use.
const METHODS: [Method; 2] = [Method::GET, Method::POST];

/// Body of `/fund`. Unknown fields are ignored, as by the reference node's faucet.
#[derive(Deserialize)]
struct FundBody {
    #[serde(flatten)]
    recipient: Recipient,
    amount: Option<u64>,
}

/// Query of `/mint`.
#[derive(Deserialize)]
struct MintQuery {
    address: Option<String>,
    auth_key: Option<String>,
    pub_key: Option<String>,
    amount: Option<u64>,
    #[serde(default)]
    return_txns: bool,
}

/// Response body of `/fund`.
#[derive(Serialize)]
struct FundResponse {
    txn_hashes: Vec<String>,
}

/// Registers the routes.
pub fn configure(config: &mut ServiceConfig, faucet: &Faucet) {
    let routes = web::scope("")
        // Web applications in development call the faucet from their own origin.
        .wrap(BrowserCors::new(&METHODS, []))
        // Outermost, because this check alone decides which origins are accepted.
        .wrap(from_fn(check_host_and_origin))
        .service(only("GET", "/", web::get().to(async || "tap:ok")))
        .service(only("POST", "/fund", web::post().to(fund)))
        .service(only("POST", "/mint", web::post().to(mint)))
        .default_service(web::to(async || FaucetError::UnknownRoute.json()));
    config
        .app_data(Data::new(faucet.clone()))
        .app_data(web::PayloadConfig::new(BODY_BYTES_MAX))
        .app_data(web::QueryConfig::default().error_handler(|error, _| {
            let response = FaucetError::InvalidRequest(error.to_string()).text();
            actix_web::error::InternalError::from_response(error, response).into()
        }))
        .service(routes);
}

/// Returns a resource with one route. It responds with 405 to any other method.
fn only(method: &'static str, path: &'static str, route: Route) -> Resource {
    web::resource(path)
        .route(route)
        .default_service(web::to(move || async move {
            FaucetError::MethodNotAllowed(method).json()
        }))
}

async fn fund(faucet: Data<Faucet>, body: Result<Bytes, Error>) -> HttpResponse {
    let funded = match body {
        Ok(body) => fund_by_body(&faucet, &body).await,
        Err(error) => Err(unreadable(&error)),
    };
    match funded {
        Ok(funded) => HttpResponse::Ok().json(FundResponse {
            txn_hashes: vec![funded.transaction.hash().to_string()],
        }),
        Err(error) => error.json(),
    }
}

/// Returns the error of a body that cannot be read.
fn unreadable(error: &Error) -> FaucetError {
    match error.as_response_error().status_code() {
        StatusCode::PAYLOAD_TOO_LARGE => FaucetError::BodyTooLarge {
            limit_bytes: BODY_BYTES_MAX,
        },
        _ => FaucetError::InvalidRequest(error.to_string()),
    }
}

async fn fund_by_body(faucet: &Faucet, body: &[u8]) -> Result<Funded, FaucetError> {
    let body: FundBody = serde_json::from_slice(body).map_err(|error| {
        FaucetError::InvalidRequest(format!("the body cannot be read: {error}"))
    })?;
    faucet.fund(body.recipient.resolve()?, body.amount).await
}

async fn mint(faucet: Data<Faucet>, query: Query<MintQuery>) -> HttpResponse {
    let query = query.into_inner();
    let return_txns = query.return_txns;
    let recipient = Recipient::new(query.address, query.auth_key, query.pub_key);
    let funded = match recipient.resolve() {
        Ok(to) => faucet.fund(to, query.amount).await,
        Err(error) => Err(error),
    };
    match funded {
        Ok(funded) if return_txns => {
            let transactions = [funded.transaction.transaction()];
            let bytes = bcs::to_bytes(&transactions[..]).expect("a transaction has a BCS form");
            HttpResponse::Ok()
                .content_type("text/plain; charset=utf-8")
                .body(hex::encode(bytes))
        }
        Ok(funded) => HttpResponse::Ok().json([funded.transaction.hash().to_string()]),
        Err(error) => error.text(),
    }
}
