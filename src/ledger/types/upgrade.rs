//! Framework upgrades: the heights from which a chain uses newer versions of the framework.
//!
//! All other parameters of a chain are fixed at genesis. The list of upgrades may grow while the
//! chain runs. A new upgrade must be above the newest block, so that it cannot affect committed
//! blocks.

use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// A version of the framework and the height of the first block that uses it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrameworkUpgrade {
    /// Version of the framework.
    pub version: u64,
    /// Height of the first block with this version.
    pub height: u64,
}

impl FrameworkUpgrade {
    /// Parses a comma-separated list of `VERSION@HEIGHT`.
    ///
    /// An empty text is an empty list. [`crate::Parameters::check_upgrades`] checks order and
    /// versions.
    ///
    /// # Errors
    ///
    /// Returns [`UpgradeParseError`] if an item is not `VERSION@HEIGHT`.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, UpgradeParseError> {
        let list = text.trim();
        if list.is_empty() {
            Ok(Vec::new())
        } else {
            list.split(',').map(|item| item.trim().parse()).collect()
        }
    }

    /// Formats a list as [`FrameworkUpgrade::parse_list`] parses it.
    pub fn format_list(list: &[Self]) -> String {
        let items: Vec<String> = list.iter().map(Self::to_string).collect();
        items.join(",")
    }
}

impl fmt::Display for FrameworkUpgrade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.version, self.height)
    }
}

/// The error of parsing a text that is not `VERSION@HEIGHT`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("an upgrade is VERSION@HEIGHT, two whole numbers")]
pub struct UpgradeParseError;

impl FromStr for FrameworkUpgrade {
    type Err = UpgradeParseError;

    fn from_str(text: &str) -> Result<Self, UpgradeParseError> {
        // The standard library's parser would accept a sign.
        let number = |digits: &str| match digits.starts_with('+') {
            true => Err(UpgradeParseError),
            false => digits.parse().map_err(|_| UpgradeParseError),
        };
        let (version, height) = text.split_once('@').ok_or(UpgradeParseError)?;
        Ok(Self {
            version: number(version)?,
            height: number(height)?,
        })
    }
}

/// The reason that a list of framework upgrades is invalid, or that a running chain cannot adopt
/// it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UpgradeError {
    /// The second upgrade does not have a higher version and height than the first.
    #[error("framework_upgrades must ascend in version and height: {0} precedes {1}")]
    Order(FrameworkUpgrade, FrameworkUpgrade),
    /// The program does not have the version.
    #[error(
        "framework_upgrades switches to version {} at height {}, but this program has versions 1 \
         to {newest_version}; use a newer program",
        .upgrade.version, .upgrade.height
    )]
    UnknownVersion {
        /// The upgrade.
        upgrade: FrameworkUpgrade,
        /// The newest version of the program.
        newest_version: u64,
    },
    /// The new list lacks an upgrade of the chain.
    #[error("framework_upgrades must list the framework upgrade {0}, which the chain has")]
    Missing(FrameworkUpgrade),
    /// The height of a new upgrade is not above the newest block.
    #[error(
        "the framework upgrade {upgrade} is not part of the chain yet: it must be above height \
         {newest_height} of the newest block"
    )]
    TooLate {
        /// The upgrade.
        upgrade: FrameworkUpgrade,
        /// The height of the newest block.
        newest_height: u64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_printed_lists_and_rejects_malformed_ones() {
        for text in ["", "2@0", "2@1000,3@18446744073709551615"] {
            let list = FrameworkUpgrade::parse_list(text).unwrap();
            assert_eq!(FrameworkUpgrade::format_list(&list), text);
        }
        assert_eq!(
            FrameworkUpgrade::parse_list(" 2@1 , 3@2 ").unwrap().len(),
            2
        );
        for bad in [
            ",",
            "2",
            "2@",
            "@2",
            "2@1,",
            "+2@1",
            "2@-1",
            "2@1@3",
            "2@18446744073709551616",
        ] {
            assert_eq!(
                FrameworkUpgrade::parse_list(bad),
                Err(UpgradeParseError),
                "{bad}"
            );
        }
    }
}
