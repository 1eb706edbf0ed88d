//! The responses that the operations declare, as plain data.

use super::{DocumentedRoute, StatusCode};
use crate::error::ErrorCode;

/// A response that an operation declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredResponse {
    /// Method of the request.
    pub method: String,
    /// Path with `/v1`, its parameters in braces.
    pub path: String,
    /// Name of the operation.
    pub operation_id: &'static str,
    /// Status of the response.
    pub status: u16,
    /// Code in the body of an error; `None` for a success.
    pub error_code: Option<ErrorCode>,
    /// Whether a request can cause the response. The REST contract has responses that nothing
    /// causes on this node.
    pub can_happen: bool,
}

/// Returns every response that the routes declare: for each route its successes and each pair of
/// status and `error_code` of its errors, once.
pub(crate) fn declared_responses(routes: &[DocumentedRoute<'_>]) -> Vec<DeclaredResponse> {
    let mut success: Vec<DeclaredResponse> = Vec::new();
    for route in routes {
        let declared = |status: StatusCode, error_code, can_happen| DeclaredResponse {
            method: route.method.to_owned(),
            path: format!("/v1{}", route.path.trim_end_matches('/')),
            operation_id: route.operation.id,
            status: status.as_u16(),
            error_code,
            can_happen,
        };
        let successes = route.operation.successes.iter();
        let errors = route.operation.errors.iter();
        let all = successes
            .map(|success| declared(success.status, None, true))
            .chain(errors.map(|error| declared(error.status, Some(error.code), error.can_happen)));
        for answer in all {
            let same = |other: &&mut DeclaredResponse| {
                let key = |one: &DeclaredResponse| (one.status, one.error_code);
                other.method == answer.method
                    && other.path == answer.path
                    && key(other) == key(&answer)
            };
            match success.iter_mut().find(same) {
                Some(known) => known.can_happen |= answer.can_happen,
                None => success.push(answer),
            }
        }
    }
    success
}
