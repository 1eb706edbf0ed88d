//! `/filter`: the rules of the submission filter.

use super::{
    change::{change_error, change_one},
    context::{Admin, parse_body},
};
use crate::config::Value;
use actix_web::{HttpRequest, HttpResponse, web::Data};
use ledger_actors::{FilterRule, FilterRules, SubmissionFilter};
use ledger_api::{ErrorKind, UnencodedBody};
use serde::{Deserialize, Serialize};

/// Maximum size of a body, in bytes: the maximum number of the longest rules, each with quotes, a
/// comma, a line break and some indentation.
pub const BODY_BYTES_MAX: usize = FilterRules::RULES_MAX * (FilterRule::TEXT_BYTES_MAX + 16) + 64;

/// The body of a change: the rules in their text form.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NewRules {
    rules: Vec<String>,
}

/// The rules in force.
#[derive(Debug, Serialize)]
struct Filter {
    /// The rules in their text form.
    rules: Vec<String>,
    /// Number of submissions and verdicts that each rule has decided since it is in force.
    hits: Vec<u64>,
}

impl From<&SubmissionFilter> for Filter {
    fn from(filter: &SubmissionFilter) -> Self {
        Self {
            rules: filter.rules().iter().map(ToString::to_string).collect(),
            hits: filter.hits().collect(),
        }
    }
}

/// `GET /filter`: responds with the rules in force and their hits.
pub async fn show(admin: Data<Admin>) -> HttpResponse {
    HttpResponse::Ok().json(Filter::from(&*admin.node.filter()))
}

/// `PUT /filter` with `{"rules": ["deny sender 0x1", ...]}`: replaces all rules.
///
/// The new rules apply to every submission that arrives after the response, until the next start or
/// until a reload finds that the configuration files changed their rules, unless they are kept.
/// Responds with 400 if a rule is malformed, and with 409 if another change of the rules waits for
/// its confirmation.
pub async fn replace(
    request: HttpRequest,
    admin: Data<Admin>,
    body: UnencodedBody<BODY_BYTES_MAX>,
) -> HttpResponse {
    let NewRules { rules } = match parse_body(body, "{\"rules\": [\"deny sender 0x1\", ...]}") {
        Ok(rules) => rules,
        Err(problem) => return problem.response(),
    };
    match FilterRules::parse(&rules) {
        Ok(rules) => {
            let value = Value::Text(rules.to_string());
            match change_one(&request, &admin, "filter.rules", value) {
                Ok(()) => show(admin).await,
                Err(error) => change_error(&error),
            }
        }
        Err(error) => ErrorKind::InvalidInput(error.to_string()).response(),
    }
}
