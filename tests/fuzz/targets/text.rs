//! Texts of the configuration and of the vendor word: the printed form of a value parses to it.

use ledger_actors::{FilterRule, FilterRules};
use ledger_types::{FrameworkUpgrade, Vendor};
use std::{fmt::Debug, fmt::Display, str::FromStr};

pub fn run(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else {
        return;
    };
    printed_alike::<FilterRule>(text);
    printed_alike::<FrameworkUpgrade>(text);
    printed_alike::<Vendor>(text);
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
        let again = FilterRules::parse_list(&printed);
        assert_eq!(again, Ok(rules), "printed as {printed:?}");
    }
}

fn printed_alike<T: FromStr<Err: Debug> + Display + PartialEq + Debug>(text: &str) {
    if let Ok(value) = text.parse::<T>() {
        let again: T = value.to_string().parse().expect("what is printed is read");
        assert_eq!(again, value);
    }
}
