//! Everything that the operations declare to answer, as plain data.

use crate::{error::ErrorCode, routes};
use actix_web::http::StatusCode;

/// One answer that one operation declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredAnswer {
    /// The method of the request.
    pub method: String,
    /// The path with `/v1`, its parameters in braces.
    pub path: String,
    /// The name of the operation.
    pub operation_id: &'static str,
    /// The status of the answer.
    pub status: u16,
    /// What the body of an error says; `None` for a success.
    pub error_code: Option<ErrorCode>,
    /// Whether a request can cause it. What the interface document declares is declared here even where
    /// nothing can.
    pub can_happen: bool,
}

/// Every answer that the interface declares: for each route its successes and each pair of status and
/// `error_code` that it may refuse with, once.
pub fn declared_answers() -> Vec<DeclaredAnswer> {
    let mut answers: Vec<DeclaredAnswer> = Vec::new();
    for row in routes::table() {
        let declared = |status: StatusCode, error_code, can_happen| DeclaredAnswer {
            method: row.method().to_string(),
            path: format!("/v1{}", row.path().trim_end_matches('/')),
            operation_id: row.operation().id,
            status: status.as_u16(),
            error_code,
            can_happen,
        };
        let successes = row.operation().successes.iter();
        let refusals = row.operation().refusals.iter();
        let all =
            successes
                .map(|success| declared(success.status, None, true))
                .chain(refusals.map(|refusal| {
                    declared(refusal.status, Some(refusal.code), refusal.can_happen)
                }));
        for answer in all {
            let same = |other: &&mut DeclaredAnswer| {
                let key = |one: &DeclaredAnswer| (one.status, one.error_code);
                other.method == answer.method
                    && other.path == answer.path
                    && key(other) == key(&answer)
            };
            match answers.iter_mut().find(same) {
                Some(known) => known.can_happen |= answer.can_happen,
                None => answers.push(answer),
            }
        }
    }
    answers
}
