//! `/settings`: all settings of the node, and changes of its run-time settings.

use super::{
    change::{author, change_error},
    context::{Admin, BODY_BYTES_MAX, error_response, parse_body},
    filter,
    loads::settings_report,
};
use crate::{
    config::{RawValue, Value},
    tunable::{Change, ChangeError, Keep, Kept, RunTimeSettings, Terms},
};
use actix_web::{HttpRequest, HttpResponse, http::StatusCode, web::Data};
use ledger_api::{ErrorCode, ErrorKind, UnencodedBody};
use serde::Deserialize;
use std::{io, thread};
use tokio::sync::oneshot;

/// Maximum size of the body of a change, in bytes: that of the filter's, whose rules are a setting,
/// and as much as other bodies for the other settings.
pub const CHANGE_BYTES_MAX: usize = filter::BODY_BYTES_MAX + BODY_BYTES_MAX;

/// Name of the thread that writes the file of kept settings.
const THREAD: &str = "settings-writer";

/// Body of `PATCH /settings`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ChangeBody {
    /// New values by key.
    set: serde_json::Map<String, serde_json::Value>,
    /// Time after which the old values return unless the change is confirmed, in seconds.
    revert_after_secs: Option<u64>,
    /// Reason of the change, for the log and the console.
    reason: Option<String>,
}

/// `GET /settings`: responds with all settings, the memory limits, and the newest changes.
pub async fn list(admin: Data<Admin>) -> HttpResponse {
    HttpResponse::Ok().json(settings_report(&admin))
}

/// `PATCH /settings` with `{"set": {"wait.capacity": 512, ...}, "revert_after_secs": 300}`: checks
/// all values, applies all, and responds with all settings.
///
/// The old values return after `revert_after_secs` unless the change is confirmed. It and `reason`
/// are optional. Responds with 400 if a value is not allowed, and with 409 if another change waits
/// for its confirmation or the machine has not enough memory for the new limits.
pub async fn change(
    request: HttpRequest,
    admin: Data<Admin>,
    body: UnencodedBody<CHANGE_BYTES_MAX>,
) -> HttpResponse {
    let form = "{\"set\": {\"wait.capacity\": 512, ...}, \"revert_after_secs\": 300}";
    let body: ChangeBody = match parse_body(body, form) {
        Ok(body) => body,
        Err(problem) => return problem.response(),
    };
    let set = body.set.into_iter();
    let change = Change {
        set: set.map(|(key, value)| (key, raw_value(value))).collect(),
        terms: Terms {
            revert_after_secs: body.revert_after_secs,
            reason: body.reason,
        },
    };
    let changed = admin.settings.change(&change, &author(&request));
    report(&admin, changed)
}

/// `POST /settings/confirm`: ends the wait for the confirmation of a change, and responds with all
/// settings. Responds with 409 if no change waits for one.
pub async fn confirm(
    request: HttpRequest,
    admin: Data<Admin>,
    body: UnencodedBody<BODY_BYTES_MAX>,
) -> HttpResponse {
    if let Err(problem) = without_body(body) {
        return problem.response();
    }
    let confirmed = admin.settings.confirm(&author(&request));
    report(&admin, confirmed)
}

/// `POST /settings/undo`: takes back the newest change, and responds with all settings. Responds
/// with 409 if there is none.
pub async fn undo(
    request: HttpRequest,
    admin: Data<Admin>,
    body: UnencodedBody<BODY_BYTES_MAX>,
) -> HttpResponse {
    if let Err(problem) = without_body(body) {
        return problem.response();
    }
    let undone = admin.settings.undo(&author(&request));
    report(&admin, undone)
}

/// `POST /settings/keep` with `{"keys": ["wait.capacity"], "forget": [], "preview": true}`: writes
/// the values in force of some settings into `overrides.toml`, and removes others. Responds with
/// the difference, and writes nothing if `preview` is true.
///
/// Responds with 400 to a key that is no run-time setting, with 409 if a setting cannot be kept, is
/// not kept, or waits for a confirmation, and with 500 if the file cannot be written or the system
/// refuses a thread.
pub async fn keep(
    request: HttpRequest,
    admin: Data<Admin>,
    body: UnencodedBody<BODY_BYTES_MAX>,
) -> HttpResponse {
    let form = "{\"keys\": [\"wait.capacity\"], \"forget\": [], \"preview\": true}";
    let body: Keep = match parse_body(body, form) {
        Ok(body) => body,
        Err(problem) => return problem.response(),
    };
    let author = author(&request);
    match keep_on_thread(admin.settings.clone(), body, author).await {
        Ok(Ok(kept)) => HttpResponse::Ok().json(kept),
        Ok(Err(error)) => change_error(&error),
        Err(error) => error_response(
            StatusCode::INTERNAL_SERVER_ERROR,
            ErrorCode::InternalError,
            format!("the thread that writes kept settings cannot be started: {error}"),
        ),
    }
}

/// Writes on a thread of its own, because the file system may hang.
///
/// # Errors
///
/// Returns the error of the operating system if it refuses the thread.
async fn keep_on_thread(
    settings: RunTimeSettings,
    request: Keep,
    author: String,
) -> io::Result<Result<Kept, ChangeError>> {
    let (sender, kept) = oneshot::channel();
    thread::Builder::new()
        .name(THREAD.to_owned())
        .spawn(move || {
            // An error means that the client has closed its connection.
            let _ = sender.send(settings.keep(&request, &author));
        })?;
    kept.await.map_err(io::Error::other)
}

/// Checks that a request has no body.
fn without_body(body: UnencodedBody<BODY_BYTES_MAX>) -> Result<(), ErrorKind> {
    match body.0?.is_empty() {
        true => Ok(()),
        false => Err(ErrorKind::Syntax("this request has no body".to_owned())),
    }
}

/// Returns the response with all settings, or the error of a change.
fn report(admin: &Admin, changed: Result<(), ChangeError>) -> HttpResponse {
    match changed {
        Ok(()) => HttpResponse::Ok().json(settings_report(admin)),
        Err(error) => change_error(&error),
    }
}

/// Converts a value of a request.
fn raw_value(value: serde_json::Value) -> RawValue {
    match value {
        serde_json::Value::String(text) => RawValue::Typed(Value::Text(text)),
        serde_json::Value::Bool(switch) => RawValue::Typed(Value::Boolean(switch)),
        serde_json::Value::Number(number) => match number.as_u64() {
            Some(number) => RawValue::Typed(Value::Integer(number)),
            None => RawValue::OutOfRange(number.to_string()),
        },
        serde_json::Value::Null => RawValue::Other("null"),
        serde_json::Value::Array(_) => RawValue::Other("array"),
        serde_json::Value::Object(_) => RawValue::Other("object"),
    }
}
