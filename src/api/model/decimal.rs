//! Decimal numbers in requests: in a path, a query, or a string member of a JSON body.

use serde::{Deserialize, Deserializer, de::Error as _};
use std::{num::ParseIntError, str::FromStr};

/// A number in decimal digits, without a sign.
///
/// The standard library also accepts a leading `+`, which would give each number a second form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct DecimalText<T>(pub T);

impl<T: FromStr<Err = ParseIntError>> FromStr for DecimalText<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err("a number is written in decimal digits".to_owned());
        }
        text.parse().map(Self).map_err(|cause| cause.to_string())
    }
}

impl<'de, T: FromStr<Err = ParseIntError>> Deserialize<'de> for DecimalText<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn parses_formatted_numbers(number: u64) {
            prop_assert_eq!(number.to_string().parse(), Ok(DecimalText(number)));
        }

        #[test]
        fn accepts_only_digits(text in "[-+0-9 _.ex\u{660}]{0,4}") {
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            prop_assert_eq!(text.parse::<DecimalText<u64>>().is_ok(), digits);
        }
    }

    #[test]
    fn rejects_signs_and_overflow() {
        for text in ["+0", "-0", "", "18446744073709551616", "0x1", " 1"] {
            assert!(text.parse::<DecimalText<u64>>().is_err(), "{text:?}");
            assert!(
                serde_json::from_value::<DecimalText<u64>>(text.into()).is_err(),
                "{text:?}"
            );
        }
        assert_eq!("18446744073709551615".parse(), Ok(DecimalText(u64::MAX)));
    }
}
