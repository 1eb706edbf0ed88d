//! Parameters of the path, percent-decoded and parsed. A value that does not parse is rejected with
//! `web_framework_error` and the parameter's name (docs/use/interface.md#invalid-values).

use super::{
    argument::{Extract, Inputs, Parameter},
    parts::RequestParts,
};
use crate::{
    error::ErrorKind,
    openapi::{ParameterLocation, parameter},
};
use percent_encoding::percent_decode_str;

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

#[cfg(test)]
mod tests {
    use super::{super::ROOT, *};
    use actix_web::{dev::Payload, test::TestRequest};
    use ledger_crypto::HashValue;
    use ledger_types::{AccountAddress, StructTag};
    use serde_json::Value;
    use std::{fmt::Display, marker::PhantomData, str::FromStr};

    /// The parameter `first` of a path `/{first}/{second}`, parsed as `T`.
    struct First<T>(PhantomData<T>);
    /// The parameter `second` of a path `/{first}/{second}`.
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
    fn parses_short_and_long_addresses_with_and_without_prefix() {
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
    fn percent_decodes_struct_tags_and_ignores_white_space() {
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
    fn decodes_percent_signs_once() {
        type Both = (Path<Second>, Path<First<String>>);
        let (Path(second), Path(first)): Both = read("/r/a%2541%2Fb/events/c%20d").unwrap();
        assert_eq!((&*first, &*second), ("a%41/b", "c d"));
    }

    #[test]
    fn rejects_hashes_with_missing_digits() {
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
