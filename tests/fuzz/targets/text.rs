//! Text of settings: filter rules, framework upgrades, and the vendor.
//!
//! Checks that the printed form of a parsed value parses as the same value.

use ledger_actors::{FilterRule, FilterRules};
use ledger_types::{FrameworkUpgrade, Vendor};
use std::{fmt::Debug, fmt::Display, str::FromStr};

/// Checks the text as each of the settings.
///
/// # Panics
///
/// Panics if a printed form does not parse as the same value.
pub fn run(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else {
        return;
    };
    check_printed::<FilterRule>(text);
    check_printed::<FrameworkUpgrade>(text);
    check_printed::<Vendor>(text);
    if let Ok(list) = FrameworkUpgrade::parse_list(text) {
        let printed = FrameworkUpgrade::format_list(&list);
        assert_eq!(
            FrameworkUpgrade::parse_list(&printed),
            Ok(list),
            "printed as {printed:?}"
        );
    }
    if let Ok(rules) = FilterRules::parse_list(text) {
        let printed = rules.to_string();
        let parsed = FilterRules::parse_list(&printed);
        assert_eq!(parsed, Ok(rules), "printed as {printed:?}");
    }
}

/// Checks that the printed form parses as the same value, if the text is a `T`.
fn check_printed<T: FromStr<Err: Debug> + Display + PartialEq + Debug>(text: &str) {
    if let Ok(value) = text.parse::<T>() {
        let parsed: T = value
            .to_string()
            .parse()
            .expect("the printed form is valid");
        assert_eq!(parsed, value);
    }
}
