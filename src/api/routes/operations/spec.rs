//! The document of the interface, and the page to read it on.

use super::{ErrorCode, Media, Operation, StatusCode, Success, Tag, error, json, parameter};
use crate::{
    openapi::schemas,
    routes::spec::{LIBRARY_PARTS, OWN_PARTS},
};

fn file(
    id: &'static str,
    summary: &'static str,
    description: &'static str,
    success: Success,
) -> Operation {
    Operation::new(id, Tag::Node, summary, description)
        .always_answers()
        .success(success)
}

/// `GET /v1/spec`
pub(crate) fn page() -> Operation {
    file(
        "get_spec_page",
        "This document as a page",
        "A page to read this document on and to try the operations. It loads nothing from other hosts. What `Accept` \
         says makes no difference.",
        Success::ok("The page.").body(Media::Text("text/html"), "A page in HTML."),
    )
}

/// `GET /v1/spec.json`
pub(crate) fn json() -> Operation {
    file(
        "get_spec_json",
        "This document as JSON",
        "What `Accept` says makes no difference.",
        Success::ok("This document.").json(schemas::any_object, json!({"openapi": "3.1.0"})),
    )
}

/// `GET /v1/spec.yaml`
pub(crate) fn yaml() -> Operation {
    file(
        "get_spec_yaml",
        "This document as YAML",
        "YAML 1.2. What `Accept` says makes no difference.",
        Success::ok("This document.").value(
            Media::Text("application/yaml"),
            schemas::any_object,
            json!({"openapi": "3.1.0"}),
        ),
    )
}

/// `GET /v1/spec/{part}`
pub(crate) fn part() -> Operation {
    let parts: Vec<_> = OWN_PARTS.iter().chain(&LIBRARY_PARTS).collect();
    let success = Success::ok("The part.")
        .body(Media::Text("text/css"), "A style sheet.")
        .body(Media::Text("text/javascript"), "A script.")
        .body(Media::Bytes("image/png"), "A picture.");
    file(
        "get_spec_part",
        "A part of the page",
        "Scripts, styles and pictures of the page that shows this document.",
        success,
    )
    .parameter(parameter::path(
        "part",
        "The name of the part.",
        json!({"type": "string", "enum": parts}),
        OWN_PARTS[0],
    ))
    .any_text_in_path()
    .errors(&[error(
        StatusCode::NOT_FOUND,
        ErrorCode::WebFrameworkError,
        "The page has no such part.",
    )])
}
