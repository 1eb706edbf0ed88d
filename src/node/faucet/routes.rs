//! Routes of the faucet: `/fund` (JSON), `/mint` (the older form, a query), and `/` (health).

use super::{
    error::FaucetError, funder::Funded, handle::Faucet, host_origin::check_host_and_origin,
    recipient::Recipient,
};
use actix_web::{
    HttpRequest, HttpResponse, Resource, Route,
    http::Method,
    middleware::from_fn,
    web::{self, Data, Query, ServiceConfig},
};
use ledger_api::{BrowserCors, Connection, UnencodedBody, parse_body};
use serde::{Deserialize, Serialize};
use std::{fmt::Display, str::FromStr};

/// Maximum size of a body, in bytes. Three keys and a number in that of `/fund` take a few hundred.
const BODY_BYTES_MAX: usize = 4096;

/// Methods of the routes, which web pages may use.
const METHODS: [Method; 2] = [Method::GET, Method::POST];

/// Body of `/fund`. Unknown fields are ignored, as by the reference node's faucet.
#[derive(Deserialize)]
struct FundBody {
    address: Option<String>,
    auth_key: Option<String>,
    pub_key: Option<String>,
    amount: Option<u64>,
}

/// Query of `/mint`. Values are text, because an error of the query's parser does not name the
/// parameter.
#[derive(Deserialize)]
struct MintQuery {
    address: Option<String>,
    auth_key: Option<String>,
    pub_key: Option<String>,
    amount: Option<String>,
    return_txns: Option<String>,
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

async fn fund(
    request: HttpRequest,
    faucet: Data<Faucet>,
    body: UnencodedBody<BODY_BYTES_MAX>,
) -> HttpResponse {
    match fund_by_body(&request, &faucet, body).await {
        Ok(funded) => HttpResponse::Ok().json(FundResponse {
            txn_hashes: vec![funded.transaction.hash().to_string()],
        }),
        Err(error) => error.json(),
    }
}

async fn fund_by_body(
    request: &HttpRequest,
    faucet: &Faucet,
    body: UnencodedBody<BODY_BYTES_MAX>,
) -> Result<Funded, FaucetError> {
    faucet.check_client(request.headers())?;
    let body: FundBody = parse_body(&body.0?, "the body cannot be read")?;
    let recipient = Recipient::new(body.address, body.auth_key, body.pub_key);
    let end = Connection::work_ends(request);
    faucet.fund(recipient.resolve()?, body.amount, end).await
}

/// Parses a parameter of a query, if it is present.
fn parse_parameter<T: FromStr<Err: Display>>(
    name: &str,
    value: Option<String>,
) -> Result<Option<T>, FaucetError> {
    let parsed = value.map(|text| text.parse()).transpose();
    parsed.map_err(|error| FaucetError::InvalidRequest(format!("{name} cannot be read: {error}")))
}

async fn mint(
    request: HttpRequest,
    faucet: Data<Faucet>,
    query: Query<MintQuery>,
    body: UnencodedBody<BODY_BYTES_MAX>,
) -> HttpResponse {
    let funded = async {
        // Its content has no meaning, but a request that is incomplete must not be paid.
        body.0?;
        faucet.check_client(request.headers())?;
        let query = query.into_inner();
        let return_txns = parse_parameter("return_txns", query.return_txns)?.unwrap_or(false);
        let amount = parse_parameter("amount", query.amount)?;
        let recipient = Recipient::new(query.address, query.auth_key, query.pub_key);
        let end = Connection::work_ends(&request);
        let funded = faucet.fund(recipient.resolve()?, amount, end).await?;
        Ok::<_, FaucetError>((funded, return_txns))
    };
    match funded.await {
        Ok((funded, true)) => {
            let transactions = [funded.transaction.transaction()];
            let bytes = bcs::to_bytes(&transactions[..]).expect("a transaction has a BCS form");
            HttpResponse::Ok()
                .content_type("text/plain; charset=utf-8")
                .body(hex::encode(bytes))
        }
        Ok((funded, false)) => HttpResponse::Ok().json([funded.transaction.hash().to_string()]),
        Err(error) => error.text(),
    }
}
