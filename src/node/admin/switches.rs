//! `/switches`: the parts of the REST interface that are enabled.

use super::{
    change::{author, change_error},
    context::{Admin, BODY_BYTES_MAX, parse_body},
};
use crate::{
    config::{RawValue, Value},
    tunable::{Change, Terms},
};
use actix_web::{HttpRequest, HttpResponse, web::Data};
use ledger_api::{SwitchChange, SwitchSettings, UnencodedBody};

/// Lists the settings of all switches, each with the field of a value that has its name.
macro_rules! positions {
    ($of:ident) => {
        [
            ("api.json_output_enabled", $of.json_output_enabled),
            ("api.bcs_output_enabled", $of.bcs_output_enabled),
            ("api.submission_enabled", $of.submission_enabled),
            ("api.simulation_enabled", $of.simulation_enabled),
            (
                "api.encode_submission_enabled",
                $of.encode_submission_enabled,
            ),
        ]
    };
}

/// Returns the setting of each switch with its position.
pub fn switch_positions(switches: SwitchSettings) -> [(&'static str, bool); 5] {
    positions!(switches)
}

/// `GET /switches`: responds with the state of all switches.
pub async fn show(admin: Data<Admin>) -> HttpResponse {
    HttpResponse::Ok().json(admin.api.switches.settings())
}

/// `PATCH /switches` with the switches to change, such as `{"submission_enabled": false}`: responds
/// with the new state of all switches.
///
/// It applies to every request that arrives after the response, until the next start unless it is
/// kept. Responds with 409 if another change of a switch waits for its confirmation.
pub async fn change(
    request: HttpRequest,
    admin: Data<Admin>,
    body: UnencodedBody<BODY_BYTES_MAX>,
) -> HttpResponse {
    let switches: SwitchChange = match parse_body(body, "such as {\"submission_enabled\": false}") {
        Ok(switches) => switches,
        Err(problem) => return problem.response(),
    };
    let positions = positions!(switches);
    let set = positions.into_iter().filter_map(|(key, position)| {
        let value = RawValue::Typed(Value::Boolean(position?));
        Some((key.to_owned(), value))
    });
    let change = Change {
        set: set.collect(),
        terms: Terms::default(),
    };
    if change.set.is_empty() {
        return show(admin).await;
    }
    match admin.settings.change(&change, &author(&request)) {
        Ok(()) => show(admin).await,
        Err(error) => change_error(&error),
    }
}
