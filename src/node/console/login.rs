//! `/login` and `/logout`: begin and end of a session.

use super::layout::Page;
use crate::{
    access::{LoginError, LoginTransport, Requester},
    admin::{Admin, BODY_BYTES_MAX},
};
use actix_web::{
    HttpRequest, HttpResponse,
    http::{
        StatusCode,
        header::{LOCATION, RETRY_AFTER, SET_COOKIE},
    },
    web::{Data, ReqData},
};
use ledger_api::UnencodedBody;
use maud::{Markup, html};
use std::time::Instant;
use zeroize::Zeroizing;

/// Name of the form's field with the token.
const TOKEN_FIELD: &str = "token";

/// `GET /login`: responds with the form, or redirects a client that needs no login.
///
/// Responds with 403 and the reason if the connection would reveal the token.
pub async fn show(admin: Data<Admin>, requester: Option<ReqData<Requester>>) -> HttpResponse {
    if requester.is_some() {
        return redirect("/");
    }
    match admin.gate.transport() {
        LoginTransport::Exposed => exposed(),
        LoginTransport::Loopback | LoginTransport::Secure => {
            page(form(None)).respond(StatusCode::OK)
        }
    }
}

/// `POST /login` with the token in a form: begins a session and redirects to the overview.
///
/// Responds with 403 if the text is not the token or the connection would reveal it, with 429 if
/// the address of the client has failed too often, and with 500 if the system has no random
/// numbers. A body that is late, too large or encoded is 408, 413 or 415.
pub async fn log_in(
    admin: Data<Admin>,
    request: HttpRequest,
    body: UnencodedBody<BODY_BYTES_MAX>,
) -> HttpResponse {
    let body = match body.0 {
        Ok(body) => body,
        Err(problem) => return problem.response(),
    };
    let mut fields = form_urlencoded::parse(&body);
    let token = fields.find(|(name, _)| name == TOKEN_FIELD);
    let token = Zeroizing::new(token.map_or(String::new(), |(_, value)| value.into_owned()));
    let peer = request.peer_addr().map(|peer| peer.ip());
    let headers = request.headers();
    match admin
        .gate
        .log_in(token.trim(), headers, peer, Instant::now())
    {
        Ok(cookie) => {
            let mut response = redirect("/");
            set_cookie(&mut response, &cookie);
            response
        }
        Err(LoginError::Exposed) => exposed(),
        Err(LoginError::WrongToken) => {
            page(form(Some("This is not the token."))).respond(StatusCode::FORBIDDEN)
        }
        Err(LoginError::TooManyFailures { wait }) => {
            let secs = wait.as_secs() + 1;
            let message =
                format!("Too many wrong tokens from this address. Try again in {secs} s.");
            let mut response = page(form(Some(&message))).respond(StatusCode::TOO_MANY_REQUESTS);
            response.headers_mut().insert(RETRY_AFTER, secs.into());
            response
        }
        Err(LoginError::NoRandomness) => page(form(Some("The system has no random numbers.")))
            .respond(StatusCode::INTERNAL_SERVER_ERROR),
    }
}

/// `POST /logout`: ends the session and redirects to the login.
pub async fn log_out(admin: Data<Admin>, request: HttpRequest) -> HttpResponse {
    let cookie = admin.gate.log_out(request.headers());
    let mut response = redirect("/login");
    set_cookie(&mut response, &cookie);
    response
}

fn set_cookie(response: &mut HttpResponse, cookie: &str) {
    // A cookie has letters, digits and punctuation only.
    if let Ok(value) = cookie.try_into() {
        response.headers_mut().insert(SET_COOKIE, value);
    }
}

fn redirect(path: &'static str) -> HttpResponse {
    HttpResponse::SeeOther()
        .insert_header((LOCATION, path))
        .finish()
}

fn page(content: Markup) -> Page<'static> {
    Page {
        title: "Log in",
        section: None,
        requester: None,
        banners: html! {},
        content,
    }
}

/// Responds with the reason why the connection permits no login.
fn exposed() -> HttpResponse {
    let content = html! {
        section.card.narrow {
            h1 { "Log in" }
            p {
                "Other machines reach this listener over plain HTTP, so a login would reveal the "
                "token. Set " code { "admin.tls_certificate" } " and "
                code { "admin.tls_private_key" } ", or " code { "admin.behind_proxy" }
                " if a proxy with TLS is before the node, or listen on 127.0.0.1 and use a tunnel."
            }
            p { "Programs may still send the token in the header Authorization." }
        }
    };
    page(content).respond(StatusCode::FORBIDDEN)
}

/// Returns the form, with the problem of the last attempt.
fn form(problem: Option<&str>) -> Markup {
    html! {
        section.card.narrow {
            h1 { "Log in" }
            form method="post" action="/login" {
                label for="token" { "Token" }
                input #token name=(TOKEN_FIELD) type="password" required autofocus
                    autocomplete="current-password" aria-describedby="hint problem"
                    aria-invalid=[problem.map(|_| "true")];
                p #hint .hint { "The content of the file that admin.token_file names." }
                @if let Some(problem) = problem {
                    p #problem .error role="alert" { (problem) }
                }
                button type="submit" { "Log in" }
            }
        }
    }
}
