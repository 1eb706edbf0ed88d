//! The document of the interface, and a page to read it on. The page needs nothing from other hosts, and may
//! not ask them: nothing that it shows could lead a reader's browser elsewhere.

use crate::{
    context::{IntoResponse, RequestContext, SharedBody},
    error::{ApiError, ErrorKind, LedgerHeaders},
    model::format::JSON,
};
use actix_web::{
    HttpResponse,
    http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, X_CONTENT_TYPE_OPTIONS},
};
use bytes::Bytes;
use ledger_types::LedgerInfo;
use std::{borrow::Cow, sync::Arc};

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const YAML: &str = "application/yaml";

/// What the page may load and ask: this node. Pictures of the library stand in its style sheet.
const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
                           img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
                           frame-ancestors 'none'";

/// The parts of the page change with the software only; a browser asks again once an hour.
const PARTS_CACHING: &str = "max-age=3600";

/// The document may change when the node starts anew.
const DOCUMENT_CACHING: &str = "no-cache";

/// A file of text or pictures, with the moment of the ledger that every answer names.
pub(crate) struct File {
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
            ledger_info: *cx.node().head().ledger_info(),
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

/// `GET /v1/spec`
pub(crate) async fn page(cx: RequestContext) -> Result<File, ApiError> {
    let page = Bytes::from_static(include_bytes!("page/page.html"));
    Ok(File::new(&cx, HTML, DOCUMENT_CACHING, page))
}

/// `GET /v1/spec.json`
pub(crate) async fn json(cx: RequestContext) -> Result<File, ApiError> {
    let document = cx.state.document().json(cx.chain().vendor());
    Ok(File::new(&cx, JSON, DOCUMENT_CACHING, document))
}

/// `GET /v1/spec.yaml`
pub(crate) async fn yaml(cx: RequestContext) -> Result<File, ApiError> {
    let document = cx.state.document().yaml(cx.chain().vendor())?;
    Ok(File::new(&cx, YAML, DOCUMENT_CACHING, document))
}

/// The parts of the page that come from the library.
pub(crate) const LIBRARY_PARTS: [&str; 3] = [
    "swagger-ui.css",
    "swagger-ui-bundle.js",
    "favicon-32x32.png",
];

/// The parts of the page that are our own.
pub(crate) const OWN_PARTS: [&str; 2] = ["page.css", "page.js"];

/// `GET /v1/spec/{part}`
pub(crate) async fn part(cx: RequestContext) -> Result<File, ApiError> {
    let part: String = cx.path("part")?;
    let own = |media_type, text: &'static str| Ok(File::new(&cx, media_type, PARTS_CACHING, text));
    match part.as_str() {
        "page.css" => own(STYLE, include_str!("page/page.css")),
        "page.js" => own(SCRIPT, include_str!("page/page.js")),
        name if LIBRARY_PARTS.contains(&name) => library_part(&cx, name),
        _ => Err(ErrorKind::UnknownRoute(cx.request.path().to_owned()).into()),
    }
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

/// `GET /`, outside of the interface: where to go.
pub(crate) async fn home() -> HttpResponse {
    HttpResponse::Ok()
        .content_type(HTML)
        .insert_header((CONTENT_SECURITY_POLICY, PAGE_POLICY))
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .body(include_str!("page/home.html"))
}
