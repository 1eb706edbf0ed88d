//! Who may talk to the operator's listener through a browser: nobody but its own pages.
//!
//! A page from elsewhere can make a browser send requests to this machine, also under a host name
//! that it points here (DNS rebinding). Such requests carry the foreign name in `Host` or `Origin`.

use super::{Admin, refusal};
use actix_web::{
    Error,
    body::{EitherBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    http::{
        StatusCode,
        header::{HOST, HeaderName, ORIGIN},
    },
    middleware::Next,
    web::Data,
};
use ledger_api::ErrorCode;
use std::net::{IpAddr, SocketAddr};

/// Refuses a request with a foreign `Host` or `Origin`, before any route sees it.
///
/// # Errors
/// Those of the routes.
pub async fn check<B: MessageBody>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B>>, Error> {
    let listen = request.app_data::<Data<Admin>>().map(|admin| admin.listen);
    let host = header(&request, &HOST).filter(|host| is_own(host, listen));
    let message = match (host, header(&request, &ORIGIN)) {
        (None, _) => {
            "the Host header names neither this machine nor admin.listen; where admin.listen is 0.0.0.0 \
             or [::], ask for localhost, or set admin.listen to the address that is asked for"
        }
        (Some(host), Some(origin)) if !is_origin_of(host, origin) => {
            "the Origin header is not of a page of this listener"
        }
        (Some(_), None) if request.headers().contains_key(ORIGIN) => "the Origin header cannot be read",
        _ => return next.call(request).await.map(ServiceResponse::map_into_left_body),
    };
    let response = refusal(StatusCode::FORBIDDEN, ErrorCode::WebFrameworkError, message);
    Ok(request.into_response(response).map_into_right_body())
}

/// The only value of a header; none when it is absent, repeated, or no text.
fn header<'a>(request: &'a ServiceRequest, name: &HeaderName) -> Option<&'a str> {
    let mut values = request.headers().get_all(name);
    let first = values.next()?;
    match values.next() {
        None => first.to_str().ok(),
        Some(_) => None,
    }
}

/// Whether pages of `origin` come from the listener that is asked for under the name `host`. Another
/// port of this machine may serve anyone's pages.
fn is_origin_of(host: &str, origin: &str) -> bool {
    origin
        .split_once("://")
        .is_some_and(|(scheme, own)| matches!(scheme, "http" | "https") && own.eq_ignore_ascii_case(host))
}

/// Whether `HOST` or `HOST:PORT` is a name of this machine, or the address that is listened on.
fn is_own(host: &str, listen: Option<SocketAddr>) -> bool {
    if let Some(ip) = ip_of(host) {
        return ip.is_loopback() || listen.is_some_and(|listen| listen.ip() == ip);
    }
    let name = host.split_once(':').map_or(host, |(name, _)| name);
    name.eq_ignore_ascii_case("localhost")
}

fn ip_of(host: &str) -> Option<IpAddr> {
    let unbracketed = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .unwrap_or(host);
    match unbracketed.parse() {
        Ok(ip) => Some(ip),
        Err(_) => host.parse().ok().map(|address: SocketAddr| address.ip()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_a_scheme_and_exactly_the_host() {
        for own in ["http://localhost:9101", "https://LOCALHOST:9101"] {
            assert!(is_origin_of("localhost:9101", own), "{own}");
        }
        for foreign in [
            "null",
            "localhost:9101",
            "://localhost:9101",
            "ftp://localhost:9101",
            "http://localhost",
            "http://localhost:3000",
            "http://localhost:9101/",
            "http://127.0.0.1:9101",
        ] {
            assert!(!is_origin_of("localhost:9101", foreign), "{foreign}");
        }
    }

    #[test]
    fn only_loopback_and_the_configured_address_are_own() {
        let listen = Some("10.0.0.7:9101".parse().unwrap());
        for own in [
            "localhost",
            "LOCALHOST:9101",
            "127.0.0.1",
            "127.0.0.1:1",
            "[::1]",
            "[::1]:9101",
            "10.0.0.7",
            "10.0.0.7:80",
        ] {
            assert!(is_own(own, listen), "{own}");
        }
        for foreign in [
            "",
            "example.org",
            "localhost.example.org",
            "127.0.0.1.example.org",
            "10.0.0.8",
            "10.0.0.7.nip.io:9101",
            "[::2]",
            "localhost@example.org",
        ] {
            assert!(!is_own(foreign, listen), "{foreign}");
        }
    }
}
