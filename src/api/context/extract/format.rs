//! Selection of the response format by the header `Accept` (docs/reference/reference-node.md#r24).

use crate::model::format::{Format, essence};
use actix_web::http::header::{ACCEPT, HeaderMap};

/// Returns the format of the response to a request with these headers.
///
/// The first entry of `Accept` that names one of the formats decides, whatever its weight. Without
/// such an entry the format is JSON. Other media types are ignored, never rejected.
pub(crate) fn response_format(headers: &HeaderMap) -> Format {
    headers
        .get_all(ACCEPT)
        .filter_map(|value| value.to_str().ok())
        .flat_map(|list| list.split(','))
        .find_map(|entry| {
            let is = |media_type: &str| essence(entry).eq_ignore_ascii_case(media_type);
            let formats = [Format::Json, Format::Bcs];
            formats.into_iter().find(|format| is(format.media_type()))
        })
        .unwrap_or(Format::Json)
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::HeaderValue;

    fn format_of(values: &[&'static str]) -> Format {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(ACCEPT, HeaderValue::from_static(value));
        }
        response_format(&headers)
    }

    #[test]
    fn selects_the_first_supported_type() {
        let cases: [(&[&str], Format); 9] = [
            (&[], Format::Json),
            (&["*/*"], Format::Json),
            (&["application/json"], Format::Json),
            (&["application/x-bcs"], Format::Bcs),
            (
                &["text/html, application/x-bcs, application/json"],
                Format::Bcs,
            ),
            (&["application/json, application/x-bcs"], Format::Json),
            (&["APPLICATION/X-BCS; q=0.5, application/json"], Format::Bcs),
            (&["text/plain", "application/x-bcs"], Format::Bcs),
            (&["image/png, ,;"], Format::Json),
        ];
        for (values, expected) in cases {
            assert_eq!(format_of(values), expected, "{values:?}");
        }
    }

    #[test]
    fn ignores_values_that_are_not_text() {
        let mut headers = HeaderMap::new();
        headers.append(ACCEPT, HeaderValue::from_bytes(b"\xff\xfe").unwrap());
        assert_eq!(response_format(&headers), Format::Json);
    }
}
