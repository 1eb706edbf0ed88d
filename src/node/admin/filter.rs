//! `/filter`: which submissions are let in, to be changed while the node runs.

use super::{Admin, body_of};
use actix_web::{
    Error, HttpResponse,
    web::{Bytes, Data},
};
use ledger_actors::{FilterRule, FilterRules};
use ledger_api::ErrorKind;
use serde::{Deserialize, Serialize};

/// Maximum size of a body, in bytes: as many of the longest rules as a filter has, each with quotes, a comma,
/// a line break and some indentation.
pub const BODY_BYTES_MAX: usize = FilterRules::RULES_MAX * (FilterRule::TEXT_BYTES_MAX + 16) + 64;

/// How much of a new filter the log tells, in characters.
const LOGGED_CHARS_MAX: usize = 1_000;

/// The rules, each as its text.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Filter {
    rules: Vec<String>,
}

impl From<&FilterRules> for Filter {
    fn from(rules: &FilterRules) -> Self {
        Self {
            rules: rules.iter().map(ToString::to_string).collect(),
        }
    }
}

/// `GET /filter`.
pub async fn show(admin: Data<Admin>) -> HttpResponse {
    HttpResponse::Ok().json(Filter::from(admin.node.filter().rules()))
}

/// `PUT /filter` with `{"rules": ["deny sender 0x1", ...]}`: these rules in the place of all that were
/// there. They hold for every submission that comes after the answer, until the next start.
pub async fn replace(admin: Data<Admin>, body: Result<Bytes, Error>) -> HttpResponse {
    let Filter { rules } = match body_of(
        body,
        BODY_BYTES_MAX,
        "{\"rules\": [\"deny sender 0x1\", ...]}",
    ) {
        Ok(filter) => filter,
        Err(problem) => return problem.response(),
    };
    match FilterRules::parse(&rules) {
        Ok(rules) => {
            let shown = HttpResponse::Ok().json(Filter::from(&rules));
            let text: String = rules.to_string().chars().take(LOGGED_CHARS_MAX).collect();
            let count = rules.len();
            let before = admin.node.set_filter(rules).rules().len();
            tracing::info!(
                rules = count,
                before,
                filter = text,
                "submission filter changed"
            );
            shown
        }
        Err(error) => ErrorKind::InvalidInput(error.to_string()).response(),
    }
}
