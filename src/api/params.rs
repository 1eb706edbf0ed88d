//! Path and query parameters, each read as its declared type; what does not read is
//! `web_framework_error` with the parameter's name (design section 8).

use crate::error::Problem;
use actix_web::{HttpRequest, web::Query};
use std::{fmt::Display, str::FromStr};

/// The path parameter `name`, percent-decoded.
///
/// # Errors
/// 400 when it is no `T`.
pub(crate) fn path<T: FromStr<Err: Display>>(request: &HttpRequest, name: &str) -> Result<T, Problem> {
    let failed = |cause: &dyn Display| Problem::Syntax(format!("failed to parse path `{name}`: {cause}"));
    // Most texts stand in the path as they are.
    if let Some(text) = request.match_info().get(name)
        && !text.contains('%')
    {
        return text.parse().map_err(|cause| failed(&cause));
    }
    // The names come undecoded and the values of the same order decoded.
    let values: Vec<String> = request.match_info().load().map_err(|cause| failed(&cause))?;
    let mut named = request.match_info().iter().zip(values);
    let text = named
        .find(|((key, _), _)| *key == name)
        .map(|(_, value)| value)
        .unwrap_or_default();
    text.parse().map_err(|cause| failed(&cause))
}

/// The query parameter `name`, if it is given. Parameters that nobody asks for are ignored: SDKs
/// send some.
///
/// # Errors
/// 400 when it is no `T` or given more than once.
pub(crate) fn query<T: FromStr<Err: Display>>(
    request: &HttpRequest,
    name: &str,
) -> Result<Option<T>, Problem> {
    let failed =
        |cause: &dyn Display| Problem::Syntax(format!("failed to parse parameter `{name}`: {cause}"));
    let pairs =
        Query::<Vec<(String, String)>>::from_query(request.query_string()).map_err(|cause| failed(&cause))?;
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
    use crate::decimal::Decimal;
    use actix_web::{dev::ResourceDef, test::TestRequest};
    use ledger::{AccountAddress, HashValue, StructTag};

    fn request(pattern: &str, uri: &str) -> HttpRequest {
        let mut request = TestRequest::with_uri(uri).to_srv_request();
        assert!(
            ResourceDef::new(pattern).capture_match_info(request.match_info_mut()),
            "{uri}"
        );
        request.into_parts().0
    }

    fn address(text: &str) -> Result<AccountAddress, Problem> {
        path(
            &request("/accounts/{address}", &format!("/accounts/{text}")),
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
            let uri = format!("/r/{text}");
            let request = request("/r/{tag}", &uri);
            assert_eq!(path::<StructTag>(&request, "tag").unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn percent_signs_are_decoded_once() {
        let request = request("/r/{tag}", "/r/a%2541%2Fb");
        assert_eq!(path::<String>(&request, "tag").unwrap(), "a%41/b");
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
            let request = request("/h/{hash}", &format!("/h/{text}"));
            assert_eq!(path::<HashValue>(&request, "hash").is_ok(), good, "{text}");
        }
    }

    #[test]
    fn unknown_query_parameters_are_ignored_and_known_ones_are_read_once() {
        let ask = |uri: &str| query::<Decimal<u64>>(&request("/a", uri), "version");
        assert_eq!(ask("/a").unwrap(), None);
        assert_eq!(ask("/a?").unwrap(), None);
        assert_eq!(
            ask("/a?accountAddress=0x1&asset=b%3Ac&version=7").unwrap(),
            Some(Decimal(7))
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
