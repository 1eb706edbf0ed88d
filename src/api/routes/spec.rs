//! The OpenAPI document, and a page that displays it.
//!
//! The page loads nothing from other hosts, and its content security policy forbids requests to
//! them.

use crate::{
    context::{
        IntoResponse, RequestContext, SharedBody,
        extract::{Parameter, Path},
    },
    error::{ApiError, ErrorCode, ErrorKind, LedgerHeaders},
    model::format::JSON,
    openapi::{
        StatusCode,
        errors::error,
        operation::{Media, Operation, Success, Tag},
        schemas,
    },
};
use actix_web::{
    HttpResponse,
    http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, X_CONTENT_TYPE_OPTIONS},
};
use bytes::Bytes;
use ledger_types::LedgerInfo;
use serde_json::{Value, json};
use std::{borrow::Cow, sync::Arc};

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const YAML: &str = "application/yaml";

/// Content security policy of the page, which allows requests to this node only. `data:` is for the
/// images in the library's style sheet.
const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; \
                           style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                           connect-src 'self'; base-uri 'none'; form-action 'none'; \
                           frame-ancestors 'none'";

/// Caching of the parts of the page, which change only with the software: one hour.
const PARTS_CACHING: &str = "max-age=3600";

/// Caching of the document, which can change at a restart of the node.
const DOCUMENT_CACHING: &str = "no-cache";

/// A file of text or an image, with the ledger info of its response headers.
pub(super) struct File {
    ledger_info: LedgerInfo,
    media_type: Cow<'static, str>,
    caching: &'static str,
    body: Bytes,
}

impl File {
    fn new(
        cx: &RequestContext,
        media_type: impl Into<Cow<'static, str>>,
        caching: &'static str,
        body: impl Into<Bytes>,
    ) -> Self {
        Self {
            ledger_info: cx.newest(),
            media_type: media_type.into(),
            caching,
            body: body.into(),
        }
    }
}

impl IntoResponse for File {
    fn into_response(self, headers: &LedgerHeaders) -> HttpResponse {
        let mut response = HttpResponse::Ok()
            .content_type(self.media_type.as_ref())
            .insert_header((CACHE_CONTROL, self.caching))
            .insert_header((CONTENT_SECURITY_POLICY, PAGE_POLICY))
            .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
            .body(self.body);
        headers.write(&self.ledger_info, response.headers_mut());
        response.extensions_mut().insert(SharedBody);
        response
    }
}

fn operation(
    id: &'static str,
    summary: &'static str,
    description: &'static str,
    success: Success,
) -> Operation {
    Operation::new(id, Tag::Node, summary, description)
        .always_answers()
        .success(success)
}

/// Handles `GET /v1/spec`.
pub(super) async fn page(cx: RequestContext) -> Result<File, ApiError> {
    let page = Bytes::from_static(include_bytes!("page/page.html"));
    Ok(File::new(&cx, HTML, DOCUMENT_CACHING, page))
}

/// Describes [`page`].
pub(super) fn describe_page() -> Operation {
    operation(
        "get_spec_page",
        "Get this document as a page",
        "Displays this document and lets readers try its operations. The page loads nothing from \
         other hosts. `Accept` is ignored.",
        Success::ok("The page.").body(Media::Text("text/html"), "HTML page."),
    )
}

/// Handles `GET /v1/spec.json`.
pub(super) async fn json(cx: RequestContext) -> Result<File, ApiError> {
    let document = cx.state.document.json(cx.chain().vendor());
    Ok(File::new(&cx, JSON, DOCUMENT_CACHING, document))
}

/// Describes [`json`].
pub(super) fn describe_json() -> Operation {
    operation(
        "get_spec_json",
        "Get this document as JSON",
        "`Accept` is ignored.",
        Success::ok("This document.").json(schemas::any_object, json!({"openapi": "3.1.0"})),
    )
}

/// Handles `GET /v1/spec.yaml`.
pub(super) async fn yaml(cx: RequestContext) -> Result<File, ApiError> {
    let document = cx.state.document.yaml(cx.chain().vendor())?;
    Ok(File::new(&cx, YAML, DOCUMENT_CACHING, document))
}

/// Describes [`yaml`].
pub(super) fn describe_yaml() -> Operation {
    operation(
        "get_spec_yaml",
        "Get this document as YAML",
        "YAML 1.2. `Accept` is ignored.",
        Success::ok("This document.").value(
            Media::Text("application/yaml"),
            schemas::any_object,
            json!({"openapi": "3.1.0"}),
        ),
    )
}

/// Parts of the page that are files of the library, Swagger UI.
const LIBRARY_PARTS: [&str; 3] = [
    "swagger-ui.css",
    "swagger-ui-bundle.js",
    "favicon-32x32.png",
];

/// Parts of the page that are files of this crate.
const OWN_PARTS: [&str; 2] = ["page.css", "page.js"];

/// The name of a part of the page.
pub(super) enum PagePart {}

impl Parameter for PagePart {
    type Value = String;
    const NAME: &'static str = "part";
    const DESCRIPTION: &'static str = "Name of the part.";
    const SCHEMA: fn() -> Value = || {
        let parts: Vec<_> = OWN_PARTS.iter().chain(&LIBRARY_PARTS).collect();
        json!({"type": "string", "enum": parts})
    };
    const EXAMPLE: fn() -> Value = || json!(OWN_PARTS[0]);
}

/// Handles `GET /v1/spec/{part}`.
pub(super) async fn part(cx: RequestContext, Path(part): Path<PagePart>) -> Result<File, ApiError> {
    let own = |media_type, text: &'static str| Ok(File::new(&cx, media_type, PARTS_CACHING, text));
    match part.as_str() {
        "page.css" => own(STYLE, include_str!("page/page.css")),
        "page.js" => own(SCRIPT, include_str!("page/page.js")),
        name if LIBRARY_PARTS.contains(&name) => library_part(&cx, name),
        _ => Err(cx.unknown_route().into()),
    }
}

/// Describes [`part`].
pub(super) fn describe_part() -> Operation {
    let success = Success::ok("The part.")
        .body(Media::Text("text/css"), "Style sheet.")
        .body(Media::Text("text/javascript"), "Script.")
        .body(Media::Bytes("image/png"), "Image.");
    operation(
        "get_spec_part",
        "Get a part of the page",
        "Scripts, style sheets, and images of the page that displays this document.",
        success,
    )
    .parameter(Path::<PagePart>::describe())
    .any_text_in_path()
    .errors(&[error(
        StatusCode::NOT_FOUND,
        ErrorCode::WebFrameworkError,
        "The page does not have this part.",
    )])
}

fn library_part(cx: &RequestContext, name: &str) -> Result<File, ApiError> {
    let missing = "a part of the page is missing";
    let config = Arc::new(utoipa_swagger_ui::Config::default());
    let file = utoipa_swagger_ui::serve(name, config)
        .map_err(|cause| ErrorKind::internal(missing, &cause))?
        .ok_or_else(|| ErrorKind::internal(missing, &name))?;
    let body = match file.bytes {
        Cow::Borrowed(bytes) => Bytes::from_static(bytes),
        Cow::Owned(bytes) => bytes.into(),
    };
    Ok(File::new(cx, file.content_type, PARTS_CACHING, body))
}

/// Handles `GET /`, which is not part of the REST API. Responds with a page of links.
pub(crate) async fn home() -> HttpResponse {
    HttpResponse::Ok()
        .content_type(HTML)
        .insert_header((CONTENT_SECURITY_POLICY, PAGE_POLICY))
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .body(include_str!("page/home.html"))
}
