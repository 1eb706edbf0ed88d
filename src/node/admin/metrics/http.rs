//! Metrics of HTTP: responses by route and status, and connections by listener.

use super::{
    super::context::Admin,
    family::{Families, Row, Unit},
};
use crate::access::{DenialStatus, LoginStatus};
use ledger_api::{ApiState, ResponseCacheStatus};
use ledger_http::{ConnectionStatus, ListenerRegistry};

/// Appends the metrics of HTTP.
pub fn collect(admin: &Admin, listeners: &ListenerRegistry, families: &mut Families) {
    let api = &admin.api;
    routes(api, families);
    answers(api, families);
    families
        .counter((
            "ledger_http_denied_total",
            "Requests from an address that is denied (api.denied_addresses).",
        ))
        .sample(&[], api.denied_addresses.rejected() as f64);
    response_cache(&api.cache.status(), families);
    connections(&listeners.status(), families);
    logins(&admin.gate.login_status(), families);
    denials(&admin.gate.denial_status(), families);
}

fn routes(api: &ApiState, families: &mut Families) {
    let routes = api.route_meters.status();
    let mut answers = families.counter((
        "ledger_http_requests_total",
        "Responses of the REST interface; unknown routes are counted together.",
    ));
    for route in &routes {
        for (status, count) in &route.statuses {
            let code = status.to_string();
            let labels = [
                ("method", route.method.as_str()),
                ("route", &route.path),
                ("code", &code),
            ];
            answers.sample(&labels, *count as f64);
        }
    }
    let mut took = families.histogram((
        "ledger_http_request_seconds",
        "Time from a request's head to its response's head; includes a long poll's wait.",
    ));
    for route in &routes {
        let labels = [
            ("method", route.method.as_str()),
            ("route", route.path.as_str()),
        ];
        took.histogram_sample(&labels, Unit::Time, &route.took);
    }
}

fn answers(api: &ApiState, families: &mut Families) {
    let mut bytes = families.gauge((
        "ledger_http_answers_bytes",
        "Memory of the responses that are made or unread (api.answers_bytes_max).",
    ));
    bytes.sample(&[], api.answers_bytes() as f64);
}

fn response_cache(cache: &ResponseCacheStatus, families: &mut Families) {
    let mut bytes = families.gauge((
        "ledger_http_response_cache_bytes",
        "Memory of the responses in the response cache.",
    ));
    bytes.sample(&[], cache.bytes as f64);
    let mut asked = families.counter((
        "ledger_http_response_cache_total",
        "Requests whose response can be cached, by outcome: hit or miss.",
    ));
    for (outcome, count) in [("hit", cache.hits), ("miss", cache.misses)] {
        asked.sample(&[("outcome", outcome)], count as f64);
    }
}

const CONNECTION_GAUGES: [Row<ConnectionStatus>; 1] = [(
    (
        "ledger_connections_open",
        "Number of open connections of the listener.",
    ),
    |count| count.open as f64,
)];

const CONNECTION_COUNTERS: [Row<ConnectionStatus>; 4] = [
    (
        (
            "ledger_connections_closed_idle_total",
            "Connections closed after the keep-alive time without a request (api.keep_alive_secs).",
        ),
        |count| count.closed_idle as f64,
    ),
    (
        (
            "ledger_connections_refused_total",
            "Connections closed on accept because their address had too many.",
        ),
        |count| count.refused_of_address as f64,
    ),
    (
        (
            "ledger_connections_failed_handshakes_total",
            "TLS handshakes that failed or timed out.",
        ),
        |count| count.failed_handshakes as f64,
    ),
    (
        (
            "ledger_connections_reset_streams_total",
            "HTTP/2 streams reset because their response was not read.",
        ),
        |count| count.reset_unread_streams as f64,
    ),
];

fn connections(all: &[ConnectionStatus], families: &mut Families) {
    let labels = |count: &ConnectionStatus| [("listener", count.listener)];
    families.add_rows(all, labels, &CONNECTION_GAUGES, &CONNECTION_COUNTERS);
    let mut cut = families.counter((
        "ledger_connections_cut_total",
        "Connections closed because of their client: unread response, slow head, HTTP/2 misuse.",
    ));
    for count in all {
        let [listener] = labels(count);
        cut.sample(&[listener, ("cause", "unread")], count.cut_unread as f64)
            .sample(
                &[listener, ("cause", "slow_head")],
                count.cut_slow_heads as f64,
            )
            .sample(
                &[listener, ("cause", "misbehaving")],
                count.cut_misbehaving as f64,
            );
    }
}

fn logins(status: &LoginStatus, families: &mut Families) {
    let mut logins = families.counter((
        "ledger_admin_logins_total",
        "Logins to the console, by outcome: accepted, wrong_token, rate_limited or insecure.",
    ));
    for (outcome, count) in [
        ("accepted", status.accepted),
        ("wrong_token", status.wrong_token),
        ("rate_limited", status.rate_limited),
        ("insecure", status.insecure),
    ] {
        logins.sample(&[("outcome", outcome)], count as f64);
    }
}

fn denials(status: &DenialStatus, families: &mut Families) {
    let mut denials = families.counter((
        "ledger_admin_rejected_total",
        "Requests to the admin listener that were rejected, by reason: foreign (Host or Origin), \
         unauthorized or csrf.",
    ));
    for (reason, count) in [
        ("foreign", status.foreign),
        ("unauthorized", status.unauthorized),
        ("csrf", status.csrf),
    ] {
        denials.sample(&[("reason", reason)], count as f64);
    }
}
