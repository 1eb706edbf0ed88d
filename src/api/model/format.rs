//! Format of a response, JSON or BCS (docs/reference/reference-node.md#r24).

use actix_web::http::header::{ACCEPT, HeaderMap};

/// The media type of JSON bodies.
pub(crate) const JSON: &str = "application/json";
/// The media type of BCS answers.
pub(crate) const BCS: &str = "application/x-bcs";

/// The form of an answer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Format {
    Json,
    Bcs,
}

/// The media type of a header value without its parameters, in whatever case it was sent.
pub(crate) fn essence(media_type: &str) -> &str {
    media_type.split(';').next().unwrap_or_default().trim()
}

impl Format {
    /// The first entry of `Accept` that names one of the two decides, whatever its weight; JSON
    /// where none does. Types that the node does not speak are passed over, never refused.
    pub fn from_accept(headers: &HeaderMap) -> Self {
        headers
            .get_all(ACCEPT)
            .filter_map(|value| value.to_str().ok())
            .flat_map(|list| list.split(','))
            .find_map(|entry| {
                let is = |media_type: &str| essence(entry).eq_ignore_ascii_case(media_type);
                let formats = [Self::Json, Self::Bcs];
                formats.into_iter().find(|format| is(format.media_type()))
            })
            .unwrap_or(Self::Json)
    }

    /// The media type of an answer in this form.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Json => JSON,
            Self::Bcs => BCS,
        }
    }
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
        Format::from_accept(&headers)
    }

    #[test]
    fn the_first_recognised_type_wins() {
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
    fn a_value_that_is_no_text_is_passed_over() {
        let mut headers = HeaderMap::new();
        headers.append(ACCEPT, HeaderValue::from_bytes(b"\xff\xfe").unwrap());
        assert_eq!(Format::from_accept(&headers), Format::Json);
    }
}
