//! Path and query parameters, each parsed as its declared type. A value that does not parse is
//! `web_framework_error` with the parameter's name (docs/interface.md#rule-3).

use crate::error::ErrorKind;
use actix_web::{HttpRequest, web::Query};
use percent_encoding::percent_decode_str;
use std::{fmt::Display, str::FromStr};

/// Path that all routes are below.
pub(crate) const ROOT: &str = "/v1";

/// The path parameter `name` of a request that fits `pattern`, percent-decoded.
///
/// # Errors
/// 400 when it is no `T`.
pub(crate) fn path<T: FromStr<Err: Display>>(
    pattern: &str,
    request: &HttpRequest,
    name: &str,
) -> Result<T, ErrorKind> {
    // The server has decoded all but what would change the parts of the path.
    let path = request.match_info().as_str();
    let path = path.strip_prefix(ROOT).unwrap_or_default();
    let mut parts = pattern.split('/').zip(path.split('/'));
    let is_it = |part: &str| {
        part.strip_prefix('{')
            .and_then(|part| part.strip_suffix('}'))
            == Some(name)
    };
    let text = parts
        .find(|(part, _)| is_it(part))
        .map_or("", |(_, text)| text);
    percent_decode_str(text)
        .decode_utf8_lossy()
        .parse()
        .map_err(|cause| ErrorKind::Syntax(format!("failed to parse path `{name}`: {cause}")))
}

/// The query parameter `name`, if it is given. Parameters that nobody asks for are ignored: SDKs
/// send some.
///
/// # Errors
/// 400 when it is no `T` or given more than once.
pub(crate) fn query<T: FromStr<Err: Display>>(
    request: &HttpRequest,
    name: &str,
) -> Result<Option<T>, ErrorKind> {
    let failed = |cause: &dyn Display| {
        ErrorKind::Syntax(format!("failed to parse parameter `{name}`: {cause}"))
    };
    let pairs = Query::<Vec<(String, String)>>::from_query(request.query_string())
        .map_err(|cause| failed(&cause))?;
    let mut values = pairs
        .iter()
        .filter(|(key, _)| key == name)
        .map(|(_, value)| value);
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(failed(&"given more than once"));
    }
    value.parse().map(Some).map_err(|cause| failed(&cause))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::DecimalText;
    use actix_web::test::TestRequest;
    use ledger_crypto::HashValue;
    use ledger_types::{AccountAddress, StructTag};

    fn request(uri: &str) -> HttpRequest {
        TestRequest::with_uri(&format!("{ROOT}{uri}")).to_http_request()
    }

    fn address(text: &str) -> Result<AccountAddress, ErrorKind> {
        path(
            "/accounts/{address}/events/{creation_number}",
            &request(&format!("/accounts/{text}/events/0x7")),
            "address",
        )
    }

    #[test]
    fn addresses_with_and_without_prefix_short_and_long() {
        let one = AccountAddress::ONE.to_long_hex();
        for text in ["0x1", "1", "01", &one, &one[2..], "%30x1"] {
            assert_eq!(address(text).unwrap(), AccountAddress::ONE, "{text}");
        }
        for text in ["0x", "xyz", "-1", "%00", "%FF", "0x1%20", &"1".repeat(65)] {
            let problem = address(text).unwrap_err();
            assert!(
                problem
                    .to_string()
                    .starts_with("failed to parse path `address`: "),
                "{problem}"
            );
        }
    }

    #[test]
    fn struct_tags_are_percent_decoded_and_may_hold_white_space() {
        let expected: StructTag = "0x1::coin::CoinStore<0x1::m::A,u8>".parse().unwrap();
        for text in [
            "0x1::coin::CoinStore%3C0x1::m::A,%20u8%3E",
            "0x1::coin::CoinStore%3C0x1::m::A,u8%3E",
            "0x1%3A%3Acoin%3A%3ACoinStore%3C%200x01%3A%3Am%3A%3AA%20%2C%09u8%20%3E",
        ] {
            let request = request(&format!("/r/{text}"));
            assert_eq!(
                path::<StructTag>("/r/{tag}", &request, "tag").unwrap(),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn percent_signs_are_decoded_once() {
        let request = request("/r/a%2541%2Fb/c%20d");
        let of = |name| path::<String>("/r/{tag}/{other}", &request, name).unwrap();
        assert_eq!(
            (of("tag"), of("other")),
            ("a%41/b".to_owned(), "c d".to_owned())
        );
    }

    #[test]
    fn hashes_need_all_digits() {
        let hash = HashValue::sha3_of(&[b"x"]).to_string();
        for (text, good) in [
            (&hash[..], true),
            (&hash[2..], true),
            (&hash[..65], false),
            ("0x", false),
        ] {
            let request = request(&format!("/h/{text}"));
            assert_eq!(
                path::<HashValue>("/h/{hash}", &request, "hash").is_ok(),
                good,
                "{text}"
            );
        }
    }

    #[test]
    fn unknown_query_parameters_are_ignored_and_known_ones_are_read_once() {
        let ask = |uri: &str| query::<DecimalText<u64>>(&request(uri), "version");
        assert_eq!(ask("/a").unwrap(), None);
        assert_eq!(ask("/a?").unwrap(), None);
        assert_eq!(
            ask("/a?accountAddress=0x1&asset=b%3Ac&version=7").unwrap(),
            Some(DecimalText(7))
        );
        for uri in [
            "/a?version=",
            "/a?version",
            "/a?version=x",
            "/a?version=-1",
            "/a?version=%2B1",
            "/a?version=1&version=1",
        ] {
            let problem = ask(uri).unwrap_err();
            assert!(
                problem
                    .to_string()
                    .starts_with("failed to parse parameter `version`: "),
                "{problem}"
            );
        }
    }
}
