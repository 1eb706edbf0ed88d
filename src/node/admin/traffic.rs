//! `/traffic`: the heaviest clients, senders and functions, and the denial of them.

use super::{
    change::{author, change_error},
    context::{Admin, BODY_BYTES_MAX, parse_body},
};
use crate::tunable::{ChangeError, Denial, RunTimeSettings, Terms};
use actix_web::{
    HttpRequest, HttpResponse,
    http::header::{CACHE_CONTROL, HeaderValue},
    web::Data,
};
use ledger_actors::FilterRule;
use ledger_api::{ErrorKind, UnencodedBody};
use ledger_limits::Networks;
use ledger_metrics::{Heaviest, Traffic};
use serde::{Deserialize, Serialize};
use std::{fmt, net::IpAddr};

/// Number of rows of each kind. A flood is among the first ones.
const ROWS: usize = 20;

/// Every response has the state of this second.
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

/// The JSON of `GET /traffic`.
#[derive(Clone, Debug, Serialize)]
pub struct TrafficStatus {
    /// Addresses of clients; with IPv6 their networks of 64 bits.
    pub addresses: KindStatus,
    /// Senders of submissions.
    pub senders: KindStatus,
    /// Functions that submissions, views and simulations call.
    pub functions: KindStatus,
    /// Denied addresses.
    pub denied_addresses: Vec<String>,
}

/// The heaviest of one kind.
#[derive(Clone, Debug, Serialize)]
pub struct KindStatus {
    /// Traffic of all of the kind.
    pub total: Rates,
    /// The heaviest ones, the heaviest first.
    pub rows: Vec<TrafficRow>,
}

/// An address, a sender or a function.
#[derive(Clone, Debug, Serialize)]
pub struct TrafficRow {
    /// Its text, as a denial takes it.
    pub name: String,
    /// Its traffic.
    #[serde(flatten)]
    pub rates: Rates,
    /// Its share of the work of all of the kind, in thousandths.
    pub share_permille: u64,
    /// Whether its requests, or its submissions, are denied.
    pub is_denied: bool,
}

/// Traffic in a second, a weighted mean over about 10 s.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Rates {
    /// Requests, or transactions and calls.
    pub requests_per_s: f64,
    /// Those of them that were rejected.
    pub rejected_per_s: f64,
    /// Processor time of the threads that worked for them, in milliseconds.
    pub work_ms_per_s: f64,
}

impl From<Traffic> for Rates {
    fn from(traffic: Traffic) -> Self {
        let tenths = |value: f64| (value * 10.0).round() / 10.0;
        Self {
            requests_per_s: tenths(traffic.requests),
            rejected_per_s: tenths(traffic.rejected),
            work_ms_per_s: tenths(traffic.work_usecs / 1e3),
        }
    }
}

/// Returns the heaviest clients, senders and functions of the last seconds.
pub fn traffic(admin: &Admin) -> TrafficStatus {
    let report = admin.api.traffic.heaviest(ROWS);
    let denied = admin.api.denied_addresses.networks();
    let filter = admin.node.filter();
    let is_denied = |subject: String| {
        let rule = format!("deny {subject}").parse::<FilterRule>();
        rule.is_ok_and(|rule| filter.rules().contains(&rule))
    };
    TrafficStatus {
        addresses: kind(&report.addresses, client_name, |address| {
            denied.contain(*address)
        }),
        senders: kind(&report.senders, ToString::to_string, |sender| {
            is_denied(format!("sender {sender}"))
        }),
        functions: kind(&report.functions, ToString::to_string, |function| {
            is_denied(format!("function {function}"))
        }),
        denied_addresses: denied.iter().map(|network| network.to_string()).collect(),
    }
}

/// Returns the text of the address of a client, with IPv6 of its network.
fn client_name(address: &IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(network) => format!("{network}/64"),
    }
}

fn kind<K>(
    heaviest: &Heaviest<K>,
    name: impl Fn(&K) -> String,
    is_denied: impl Fn(&K) -> bool,
) -> KindStatus {
    let total_usecs = heaviest.total.work_usecs.max(1.0);
    let rows = heaviest.keys.iter().map(|(key, traffic)| TrafficRow {
        name: name(key),
        rates: (*traffic).into(),
        share_permille: (traffic.work_usecs * 1e3 / total_usecs).round() as u64,
        is_denied: is_denied(key),
    });
    KindStatus {
        rows: rows.collect(),
        total: heaviest.total.into(),
    }
}

/// `GET /traffic`: responds with the heaviest clients, senders and functions.
pub async fn show(admin: Data<Admin>) -> HttpResponse {
    HttpResponse::Ok()
        .insert_header((CACHE_CONTROL, NO_STORE))
        .json(traffic(&admin))
}

/// Body of `POST /traffic/deny` and `POST /traffic/allow`. It names one subject.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DenialBody {
    /// Address or network of clients.
    address: Option<String>,
    /// Sender of submissions.
    sender: Option<String>,
    /// Function that submissions call: `ADDRESS::MODULE::NAME`.
    function: Option<String>,
    /// Rule of the filter in its text form.
    rule: Option<String>,
    /// Time after which the denial ends unless it is confirmed, in seconds.
    revert_after_secs: Option<u64>,
    /// Reason, for the log and the console.
    reason: Option<String>,
}

/// The form of a [`DenialBody`].
const FORM: &str = "{\"address\": \"10.0.0.1\"} or another one of sender, function and rule, with \
                    \"revert_after_secs\" and \"reason\"";

impl DenialBody {
    /// Returns the subject.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::InvalidInput`] if there is not one subject, or its text is malformed.
    fn denial(&self) -> Result<Denial, ErrorKind> {
        let invalid = |error: &dyn fmt::Display| ErrorKind::InvalidInput(error.to_string());
        let rule = |text: &str| {
            let rule = text.parse::<FilterRule>();
            rule.map(Denial::Rule).map_err(|error| invalid(&error))
        };
        match (&self.address, &self.sender, &self.function, &self.rule) {
            (Some(address), None, None, None) => match address.parse::<Networks>() {
                Ok(networks) if networks.iter().count() == 1 => Ok(Denial::Addresses(networks)),
                _ => Err(invalid(
                    &"expected an address or a network such as 10.0.0.0/8",
                )),
            },
            (None, Some(sender), None, None) => rule(&format!("deny sender {sender}")),
            (None, None, Some(function), None) => rule(&format!("deny function {function}")),
            (None, None, None, Some(text)) => rule(text),
            _ => Err(invalid(&format_args!("the body must be {FORM}"))),
        }
    }
}

/// `POST /traffic/deny` with an address, a sender, a function or a rule: denies it, and responds
/// with the traffic. A rule becomes the first one of the filter.
///
/// It ends after `revert_after_secs`, which is optional, unless it is confirmed. Responds with 400
/// if the subject is malformed or the list is full, and with 409 if another change waits for its
/// confirmation.
pub async fn deny(
    request: HttpRequest,
    admin: Data<Admin>,
    body: UnencodedBody<BODY_BYTES_MAX>,
) -> HttpResponse {
    change(&request, admin, body, RunTimeSettings::deny).await
}

/// `POST /traffic/allow` with an address, a sender, a function or a rule: takes the denial back, or
/// removes the rule, and responds with the traffic.
///
/// Responds with 400 if the subject is malformed, and with 409 if it is not denied or if another
/// change waits for its confirmation.
pub async fn allow(
    request: HttpRequest,
    admin: Data<Admin>,
    body: UnencodedBody<BODY_BYTES_MAX>,
) -> HttpResponse {
    change(&request, admin, body, RunTimeSettings::allow).await
}

async fn change(
    request: &HttpRequest,
    admin: Data<Admin>,
    body: UnencodedBody<BODY_BYTES_MAX>,
    change: impl FnOnce(&RunTimeSettings, &Denial, Terms, &str) -> Result<(), ChangeError>,
) -> HttpResponse {
    let body: DenialBody = match parse_body(body, FORM) {
        Ok(body) => body,
        Err(problem) => return problem.response(),
    };
    let denial = match body.denial() {
        Ok(denial) => denial,
        Err(problem) => return problem.response(),
    };
    let terms = Terms {
        revert_after_secs: body.revert_after_secs,
        reason: body.reason.filter(|reason| !reason.is_empty()),
    };
    match change(&admin.settings, &denial, terms, &author(request)) {
        Ok(()) => show(admin).await,
        Err(error) => change_error(&error),
    }
}
