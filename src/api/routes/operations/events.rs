//! Streams of events.

use super::{
    ErrorCode, Operation, StatusCode, Success, Tag, documented_only, error, errors, json,
    parameter, schema,
};
use crate::model::json::VersionedEventJson;

fn events(id: &'static str, summary: &'static str, description: &'static str) -> Operation {
    let example = json!([{
        "version": "5",
        "guid": {"creation_number": "3", "account_address": "0x5"},
        "sequence_number": "0",
        "type": "0x1::coin::WithdrawEvent",
        "data": {"amount": "7"},
    }]);
    let success = Success::ok("The events, ascending by sequence number.")
        .json(schema::<Vec<VersionedEventJson<'static>>>(), example)
        .bcs("A BCS vector of structs: the version of the transaction, and the event.")
        .link(
            "first_transaction",
            "get_transaction_by_version",
            &[("txn_version", "$response.body#/0/version")],
        );
    let address = parameter::path(
        "address",
        "The account that the events were emitted to, with or without `0x`.",
        parameter::address_text(),
        "0x1",
    );
    Operation::new(id, Tag::Events, summary, description)
        .parameter(address)
        .parameter(parameter::query(
            "start",
            "The sequence number of the first event; without it the newest events are given.",
            parameter::u64_text(),
            "0",
        ))
        .parameter(parameter::limit(
            "How many events a page has at most; 25 without it, 100 above that.",
        ))
        .success(success)
        .errors(errors::LIMIT)
        .errors(&[error(
            StatusCode::GONE,
            ErrorCode::VersionPruned,
            "`start` is below the first event of the stream that the node keeps.",
        )])
}

/// `GET /v1/accounts/{address}/events/{creation_number}`
pub(crate) fn by_creation_number() -> Operation {
    events(
        "get_events_by_creation_number",
        "Events of a stream by its creation number",
        "Each stream of an account has a number, from 0 in the order in which the streams were made. Accounts and streams that do not \
         exist have no events. Events of modules belong to no stream; they stand in their transactions.",
    )
    .parameter(parameter::path(
        "creation_number",
        "The number of the stream.",
        parameter::u64_text(),
        "0",
    ))
    .errors(&[documented_only(
        StatusCode::NOT_FOUND,
        ErrorCode::AccountNotFound,
        "Never the answer here: what does not exist has no events.",
    )])
}

/// `GET /v1/accounts/{address}/events/{event_handle}/{field_name}`
pub(crate) fn by_handle() -> Operation {
    events(
        "get_events_by_event_handle",
        "Events of a stream by its handle",
        "The stream whose handle is a field of a resource at the address, as the state is now. Only fields of \
         the resource itself are looked at, not fields of its fields.",
    )
    .parameter(parameter::path(
        "event_handle",
        "The type of the resource that holds the handle.",
        parameter::struct_tag_text(),
        "0x1::account::Account",
    ))
    .parameter(parameter::path(
        "field_name",
        "The field of the resource that is the handle.",
        json!({"type": "string", "minLength": 1}),
        "coin_register_events",
    ))
    .errors(&[
        error(
            StatusCode::BAD_REQUEST,
            ErrorCode::InvalidInput,
            "The name of the field is none, or the field holds no handle.",
        ),
        error(
            StatusCode::NOT_FOUND,
            ErrorCode::ResourceNotFound,
            "There is no such resource at the address.",
        ),
        error(
            StatusCode::NOT_FOUND,
            ErrorCode::StructFieldNotFound,
            "The resource has no such field.",
        ),
    ])
}
