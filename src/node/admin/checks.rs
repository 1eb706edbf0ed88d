//! The checks of the node: `/livez`, `/readyz` and `/checks`.
//!
//! The probes have the form of Kubernetes' own: 200 `ok`, or 503 with the names of the checks that
//! fail, and a line for each check with `?verbose`. They state no cause, because they need no
//! token.

use super::{context::Admin, phase::Phase};
use actix_web::{
    HttpRequest, HttpResponse,
    http::{
        StatusCode,
        header::{CACHE_CONTROL, X_CONTENT_TYPE_OPTIONS},
    },
    web::Data,
};
use ledger_actors::HealthCheck;
use serde::Serialize;
use std::fmt::Write as _;

/// A check with its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Name, as the probes state it.
    pub name: &'static str,
    /// What holds if the check passes.
    pub condition: &'static str,
    /// Whether it passes.
    pub ok: bool,
    /// The cause in words if it fails.
    pub problem: Option<String>,
    /// What the operator does if it fails.
    pub remedy: &'static str,
    /// Whether `/livez` fails with it: only a restart ends the problem.
    pub is_live: bool,
    /// Whether `/readyz` fails with it: clients are better served by another node.
    pub is_ready: bool,
}

/// The constant part of a check.
struct Kind {
    name: &'static str,
    condition: &'static str,
    remedy: &'static str,
    is_live: bool,
    is_ready: bool,
}

impl Kind {
    const STARTED: Self = Self {
        name: "started",
        condition: "The start is complete.",
        remedy: "Wait; the log names the step of the start.",
        is_live: false,
        is_ready: true,
    };
    const SERVING: Self = Self {
        name: "serving",
        condition: "The node is not stopping.",
        remedy: "Wait for the stop, then start the node again if it is to serve.",
        is_live: true,
        is_ready: true,
    };
    const PROGRESS: Self = Self {
        name: "progress",
        condition: "No actor or thread is stalled.",
        remedy: "See docs/operate/alerts.md: save the log and a flight recording, and restart the \
                 node if the stall does not end.",
        is_live: true,
        is_ready: false,
    };

    /// Returns the kind of a condition of the node.
    fn of_node(name: &'static str) -> Self {
        let (condition, remedy) = match name {
            HealthCheck::WRITABLE => (
                "The ledger is written: disk, free space, clock and decided blocks.",
                "See docs/operate/recover.md#disk: free space, repair the disk or the clock as the \
                 cause says, and restart the node if writing has ended.",
            ),
            HealthCheck::COMMITS => (
                "Blocks are committed while transactions wait.",
                "Look at the stage that the cause names, and at the disk below it; restart the \
                 node if the stall does not end.",
            ),
            _ => (
                "Enough validators are in contact, and the node is not far behind them.",
                "Check the network to the peers, and that the other validators run: \
                 docs/operate/cluster.md.",
            ),
        };
        Self {
            name,
            condition,
            remedy,
            is_live: false,
            is_ready: true,
        }
    }

    /// Returns the check with this result.
    fn check(self, problem: Option<String>) -> Check {
        Check {
            name: self.name,
            condition: self.condition,
            ok: problem.is_none(),
            problem,
            remedy: self.remedy,
            is_live: self.is_live,
            is_ready: self.is_ready,
        }
    }
}

/// Returns all checks of the node, with those first whose failure explains the others.
pub fn checks(admin: &Admin) -> Vec<Check> {
    let phase = admin.phase.get();
    let starting = (phase == Phase::Starting).then(|| "the node is starting".to_owned());
    let stopping = (phase == Phase::Stopping).then(|| "the node is stopping".to_owned());
    let stalls = admin.node.stalls();
    // Those that wait for peers are a problem of commits, which a restart does not end.
    let of_node = stalls.iter().filter(|stall| !stall.waits_for_peers());
    let stalled: Vec<_> = of_node.map(ToString::to_string).collect();
    let stalled = (!stalled.is_empty()).then(|| stalled.join("; "));
    let mut checks = vec![
        Kind::STARTED.check(starting),
        Kind::SERVING.check(stopping),
        Kind::PROGRESS.check(stalled),
    ];
    let of_node = admin.node.health_checks();
    checks.extend(of_node.map(|check| Kind::of_node(check.name).check(check.problem)));
    checks
}

/// `GET /checks`: responds with all checks.
pub async fn list(admin: Data<Admin>) -> HttpResponse {
    HttpResponse::Ok().json(checks(&admin))
}

/// `GET /livez`: responds with 200 unless only a restart ends a problem.
pub async fn live(admin: Data<Admin>, request: HttpRequest) -> HttpResponse {
    let checks = checks(&admin).into_iter().filter(|check| check.is_live);
    probe("livez", &checks.collect::<Vec<_>>(), &request)
}

/// `GET /readyz`: responds with 200 if the node is to get requests of clients.
pub async fn ready(admin: Data<Admin>, request: HttpRequest) -> HttpResponse {
    let checks = checks(&admin).into_iter().filter(|check| check.is_ready);
    probe("readyz", &checks.collect::<Vec<_>>(), &request)
}

/// Responds to a probe.
fn probe(name: &str, checks: &[Check], request: &HttpRequest) -> HttpResponse {
    let is_verbose = request
        .query_string()
        .split('&')
        .any(|pair| pair.split('=').next() == Some("verbose"));
    let status = match checks.iter().all(|check| check.ok) {
        true => StatusCode::OK,
        false => StatusCode::SERVICE_UNAVAILABLE,
    };
    HttpResponse::build(status)
        .content_type("text/plain; charset=utf-8")
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .insert_header((CACHE_CONTROL, "no-store"))
        .body(probe_text(name, checks, is_verbose))
}

/// Returns the body of the response to a probe. It names checks only, never a cause.
fn probe_text(name: &str, checks: &[Check], is_verbose: bool) -> String {
    let failed: Vec<_> = checks
        .iter()
        .filter(|check| !check.ok)
        .map(|check| check.name)
        .collect();
    if !is_verbose {
        return match failed[..] {
            [] => "ok".to_owned(),
            _ => failed.join("\n"),
        };
    }
    let mut text = String::new();
    for check in checks {
        let (sign, result) = match check.ok {
            true => ('+', "ok"),
            false => ('-', "failed: reason withheld"),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "[{sign}]{} {result}", check.name);
    }
    let result = match failed[..] {
        [] => "passed",
        _ => "failed",
    };
    let _ = writeln!(text, "{name} check {result}");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_failed_checks_without_their_cause() {
        let started = || Kind::STARTED.check(None);
        let stalled = Kind::PROGRESS.check(Some("executor is stalled".to_owned()));
        let passing = [started(), Kind::SERVING.check(None)];
        assert_eq!(probe_text("readyz", &passing, false), "ok");
        assert_eq!(
            probe_text("readyz", &passing, true),
            "[+]started ok\n[+]serving ok\nreadyz check passed\n"
        );
        let failing = [started(), stalled];
        assert_eq!(probe_text("livez", &failing, false), "progress");
        assert_eq!(
            probe_text("livez", &failing, true),
            "[+]started ok\n[-]progress failed: reason withheld\nlivez check failed\n"
        );
    }
}
