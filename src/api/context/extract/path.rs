//! Parameters of the path, percent-decoded and parsed. A value that does not parse is
//! `web_framework_error` with the parameter's name (docs/interface.md#rule-3).

use super::{Extract, Inputs, Parameter, RequestParts};
use crate::{
    error::ErrorKind,
    openapi::{ParameterLocation, parameter},
};
use actix_web::HttpRequest;
use percent_encoding::percent_decode_str;

/// Path that all routes are below.
pub(crate) const ROOT: &str = "/v1";

/// Maximum number of parameters in a path.
pub(super) const PARAMETERS_MAX: usize = 3;

/// A parameter of the path.
pub(crate) struct Path<P: Parameter>(pub P::Value);

impl<P: Parameter> Path<P> {
    /// Describes the parameter.
    pub fn describe() -> parameter::Parameter {
        parameter::path(P::NAME, P::DESCRIPTION, (P::SCHEMA)(), (P::EXAMPLE)())
    }
}

impl<P: Parameter> Extract for Path<P> {
    fn declare(inputs: &mut Inputs) {
        inputs.parameters.push((ParameterLocation::Path, P::NAME));
    }

    fn extract(request: &mut RequestParts<'_>) -> Result<Self, ErrorKind> {
        let text = percent_decode_str(request.path.get(P::NAME)).decode_utf8_lossy();
        text.parse().map(Self).map_err(|cause| {
            ErrorKind::Syntax(format!("failed to parse path `{}`: {cause}", P::NAME))
        })
    }
}

/// Returns the parameter that a segment of a route's path stands for, or `None`.
pub(super) fn name_in_braces(segment: &str) -> Option<&str> {
    segment.strip_prefix('{')?.strip_suffix('}')
}

/// The segments of a request's path that are parameters, with their names.
pub(super) struct PathValues<'r>([(&'static str, &'r str); PARAMETERS_MAX]);

impl<'r> PathValues<'r> {
    /// Splits the path of a request that matches `pattern`.
    pub fn new(pattern: &'static str, request: &'r HttpRequest) -> Self {
        // actix-web has decoded all characters that do not change the segments of the path.
        let path = request.match_info().as_str();
        let path = path.strip_prefix(ROOT).unwrap_or_default();
        let segments = pattern.split('/').zip(path.split('/'));
        let values = segments.filter_map(|(part, text)| Some((name_in_braces(part)?, text)));
        let mut all = [("", ""); PARAMETERS_MAX];
        for (slot, value) in all.iter_mut().zip(values) {
            *slot = value;
        }
        Self(all)
    }

    /// Returns the text of a parameter, or an empty text if the path does not have it.
    fn get(&self, name: &str) -> &'r str {
        let mut values = self.0.iter();
        values
            .find(|(known, _)| *known == name)
            .map_or("", |(_, text)| text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::{dev::Payload, test::TestRequest};
    use ledger_crypto::HashValue;
    use ledger_types::{AccountAddress, StructTag};
    use serde_json::Value;
    use std::{fmt::Display, marker::PhantomData, str::FromStr};

    /// The parameter `first` of a path `/{first}/{second}`, parsed as `T`.
    struct First<T>(PhantomData<T>);
    struct Second;

    impl<T: FromStr<Err: Display>> Parameter for First<T> {
        type Value = T;
        const NAME: &'static str = "first";
        const DESCRIPTION: &'static str = "";
        const SCHEMA: fn() -> Value = || Value::Null;
        const EXAMPLE: fn() -> Value = || Value::Null;
    }

    impl Parameter for Second {
        type Value = String;
        const NAME: &'static str = "second";
        const DESCRIPTION: &'static str = "";
        const SCHEMA: fn() -> Value = || Value::Null;
        const EXAMPLE: fn() -> Value = || Value::Null;
    }

    fn read<E: Extract>(path: &str) -> Result<E, ErrorKind> {
        let request = TestRequest::with_uri(&format!("{ROOT}{path}")).to_http_request();
        let mut parts = RequestParts::new("/r/{first}/events/{second}", &request, Payload::None);
        E::extract(&mut parts)
    }

    fn first<T: FromStr<Err: Display>>(text: &str) -> Result<T, ErrorKind> {
        read(&format!("/r/{text}/events/0x7")).map(|Path(value): Path<First<T>>| value)
    }

    #[test]
    fn addresses_with_and_without_prefix_short_and_long() {
        let one = AccountAddress::ONE.to_long_hex();
        for text in ["0x1", "1", "01", &one, &one[2..], "%30x1"] {
            let address: AccountAddress = first(text).unwrap();
            assert_eq!(address, AccountAddress::ONE, "{text}");
        }
        for text in ["0x", "xyz", "-1", "%00", "%FF", "0x1%20", &"1".repeat(65)] {
            let problem = first::<AccountAddress>(text).unwrap_err().to_string();
            assert!(
                problem.starts_with("failed to parse path `first`: "),
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
            assert_eq!(first::<StructTag>(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn percent_signs_are_decoded_once() {
        type Both = (Path<Second>, Path<First<String>>);
        let (Path(second), Path(first)): Both = read("/r/a%2541%2Fb/events/c%20d").unwrap();
        assert_eq!((&*first, &*second), ("a%41/b", "c d"));
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
            assert_eq!(first::<HashValue>(text).is_ok(), good, "{text}");
        }
    }
}
