//! Changes of run-time settings, which several routes make.

use super::context::{Admin, error_response};
use crate::{
    access::Requester,
    config::Value,
    tunable::{Change, ChangeError},
};
use actix_web::{HttpMessage as _, HttpRequest, HttpResponse, http::StatusCode};
use ledger_api::ErrorCode;

/// Returns the client of a request, for the log and the marks: how it is authorized, and its
/// address.
pub(super) fn author(request: &HttpRequest) -> String {
    let extensions = request.extensions();
    let requester = extensions.get::<Requester>();
    requester.map_or_else(String::new, Requester::to_string)
}

/// Changes one setting, which a route beside `/settings` names.
///
/// # Errors
///
/// Returns the errors of [`RunTimeSettings::change`](crate::tunable::RunTimeSettings::change).
pub(super) fn change_one(
    request: &HttpRequest,
    admin: &Admin,
    key: &str,
    value: Value,
) -> Result<(), ChangeError> {
    let change = Change::of_one(key, value);
    admin.settings.change(&change, &author(request))
}

/// Returns the response to a change that was rejected.
pub(super) fn change_error(error: &ChangeError) -> HttpResponse {
    let status = match error {
        ChangeError::Empty
        | ChangeError::Unknown(_)
        | ChangeError::NotRunTime { .. }
        | ChangeError::NotAllowed { .. }
        | ChangeError::RevertAfter(_)
        | ChangeError::Reason => StatusCode::BAD_REQUEST,
        ChangeError::Memory { .. }
        | ChangeError::Pending { .. }
        | ChangeError::NothingPending
        | ChangeError::NothingToUndo
        | ChangeError::Determined { .. }
        | ChangeError::NotKept(_)
        | ChangeError::NotDenied(_)
        | ChangeError::Busy
        | ChangeError::OverridesIgnored
        | ChangeError::InvalidFile(_) => StatusCode::CONFLICT,
        ChangeError::Unwritable { .. } => {
            let message = error.to_string();
            let status = StatusCode::INTERNAL_SERVER_ERROR;
            return error_response(status, ErrorCode::InternalError, message);
        }
    };
    error_response(status, ErrorCode::InvalidInput, error.to_string())
}
