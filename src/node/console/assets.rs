//! Style sheet and script of the console, which are part of the binary.

use actix_web::{
    HttpRequest, HttpResponse,
    http::header::{
        AcceptEncoding, CACHE_CONTROL, ContentEncoding, ETAG, Encoding, Header as _, IF_NONE_MATCH,
        VARY, X_CONTENT_TYPE_OPTIONS,
    },
    web::Bytes,
};
use flate2::{Compression, write::GzEncoder};
use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    io::Write as _,
    sync::LazyLock,
};

/// A file of the binary with its entity tag.
struct Asset {
    content: &'static str,
    content_type: &'static str,
    /// The content in the coding `gzip`. The files contain nothing secret that its length could
    /// show.
    gzip: Bytes,
    /// The weak tag of both codings (RFC 9110, section 8.8.3).
    etag: String,
}

static STYLE_SHEET: LazyLock<Asset> =
    LazyLock::new(|| Asset::new(include_str!("console.css"), "text/css; charset=utf-8"));

static SCRIPT: LazyLock<Asset> =
    LazyLock::new(|| Asset::new(include_str!("console.js"), "text/javascript; charset=utf-8"));

impl Asset {
    fn new(content: &'static str, content_type: &'static str) -> Self {
        // The hasher without a key has the same result in each process of one build.
        let mut hasher = DefaultHasher::new();
        content.hash(&mut hasher);
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        let gzip = gzip
            .write_all(content.as_bytes())
            .and_then(|()| gzip.finish());
        Self {
            content,
            content_type,
            gzip: gzip.expect("a write to memory succeeds").into(),
            etag: format!("W/\"{:016x}\"", hasher.finish()),
        }
    }

    /// Responds with the file, or with 304 if the client has it.
    fn respond(&self, request: &HttpRequest) -> HttpResponse {
        let known = request.headers().get_all(IF_NONE_MATCH);
        let is_known = known
            .filter_map(|value| value.to_str().ok())
            .any(|tags| tags.contains(&self.etag));
        let mut response = match is_known {
            true => HttpResponse::NotModified(),
            false => HttpResponse::Ok(),
        };
        response
            .insert_header((ETAG, self.etag.as_str()))
            // The path is the same after an upgrade, so a browser compares the tag for each page.
            .insert_header((CACHE_CONTROL, "no-cache"))
            .insert_header((VARY, "accept-encoding"));
        if is_known {
            return response.finish();
        }
        response
            .content_type(self.content_type)
            .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"));
        match accepts_gzip(request) {
            true => response
                .insert_header(ContentEncoding::Gzip)
                .body(self.gzip.clone()),
            false => response.body(self.content),
        }
    }
}

/// Returns whether the client accepts the coding `gzip`.
fn accepts_gzip(request: &HttpRequest) -> bool {
    let codings = [Encoding::gzip(), Encoding::identity()];
    let accepted = AcceptEncoding::parse(request).ok();
    accepted.and_then(|accepted| accepted.negotiate(codings.iter())) == Some(Encoding::gzip())
}

/// `GET /assets/console.css`: responds with the style sheet, or with 304.
pub async fn style_sheet(request: HttpRequest) -> HttpResponse {
    STYLE_SHEET.respond(&request)
}

/// `GET /assets/console.js`: responds with the script, or with 304.
pub async fn script(request: HttpRequest) -> HttpResponse {
    SCRIPT.respond(&request)
}
