//! Framework upgrades: the heights from which a chain uses newer versions of the framework.
//!
//! All other parameters of a chain are fixed at genesis. The list of upgrades may grow while the
//! chain runs. A new upgrade must be above the newest block, so that it cannot affect committed
//! blocks.

use crate::Parameters;
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
    /// An empty text is an empty list. [`Parameters::check_upgrades`] checks order and versions.
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
    #[error("framework_upgrades must ascend in version and height: {0} stands before {1}")]
    Order(FrameworkUpgrade, FrameworkUpgrade),
    /// The program does not have the version.
    #[error(
        "framework_upgrades switches to version {} at height {}, but this program has versions 1 to {newest_version}: \
         start a program that has it",
        .upgrade.version, .upgrade.height
    )]
    UnknownVersion {
        /// The upgrade.
        upgrade: FrameworkUpgrade,
        /// The newest version of the program.
        newest_version: u64,
    },
    /// The new list lacks an upgrade of the chain.
    #[error("the chain has the framework upgrade {0}, which framework_upgrades must go on to name")]
    Missing(FrameworkUpgrade),
    /// The height of a new upgrade is not above the newest block.
    #[error(
        "the framework upgrade {upgrade} is new to the chain, whose newest block has height {newest_height}: \
         its height must be above that"
    )]
    TooLate {
        /// The upgrade.
        upgrade: FrameworkUpgrade,
        /// The height of the newest block.
        newest_height: u64,
    },
}

impl Parameters {
    /// Checks that the upgrades ascend and that the program has every version.
    ///
    /// `newest_version` is the newest framework version of the program. It has all versions from 1.
    ///
    /// # Errors
    ///
    /// * [`UpgradeError::Order`] if the version or the height of an upgrade is not above that of
    ///   the previous one.
    /// * [`UpgradeError::UnknownVersion`] if a version is not between 1 and `newest_version`.
    pub fn check_upgrades(&self, newest_version: u64) -> Result<(), UpgradeError> {
        let upgrades = &self.framework_upgrades;
        let is_out_of_order = |pair: &&[FrameworkUpgrade]| {
            pair[0].version >= pair[1].version || pair[0].height >= pair[1].height
        };
        if let Some(pair) = upgrades.windows(2).find(is_out_of_order) {
            return Err(UpgradeError::Order(pair[0], pair[1]));
        }
        let known = 1..=newest_version;
        match upgrades
            .iter()
            .find(|upgrade| !known.contains(&upgrade.version))
        {
            Some(upgrade) => Err(UpgradeError::UnknownVersion {
                upgrade: *upgrade,
                newest_version,
            }),
            None => Ok(()),
        }
    }

    /// Checks that a running chain may replace these parameters' upgrades with the ones of `next`.
    ///
    /// `height` is the height of the chain's newest block. The new list must include all upgrades
    /// of the chain, and other upgrades must be above `height`.
    ///
    /// # Errors
    ///
    /// * [`UpgradeError::Missing`] with the first upgrade that `next` lacks.
    /// * [`UpgradeError::TooLate`] with the first new upgrade at or below `height`.
    pub fn check_upgrade_change(&self, next: &Self, height: u64) -> Result<(), UpgradeError> {
        let (current, proposed) = (&self.framework_upgrades, &next.framework_upgrades);
        if let Some(missing) = current.iter().find(|upgrade| !proposed.contains(upgrade)) {
            return Err(UpgradeError::Missing(*missing));
        }
        let is_too_late =
            |upgrade: &&FrameworkUpgrade| !current.contains(upgrade) && upgrade.height <= height;
        match proposed.iter().find(is_too_late) {
            Some(upgrade) => Err(UpgradeError::TooLate {
                upgrade: *upgrade,
                newest_height: height,
            }),
            None => Ok(()),
        }
    }

    /// Returns the framework version of the block at `height`.
    pub fn framework_version(&self, height: u64) -> u64 {
        let on = |upgrade: &&FrameworkUpgrade| upgrade.height <= height;
        self.framework_upgrades
            .iter()
            .filter(on)
            .map(|upgrade| upgrade.version)
            .max()
            .unwrap_or(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters(upgrades: &str) -> Parameters {
        Parameters {
            framework_upgrades: FrameworkUpgrade::parse_list(upgrades).unwrap(),
            ..Parameters::default()
        }
    }

    #[test]
    fn activates_a_version_from_its_height() {
        let version = |upgrades: &str, height| parameters(upgrades).framework_version(height);
        assert_eq!(version("", u64::MAX), 1);
        assert_eq!(version("2@0", 0), 2);
        assert_eq!((version("2@7", 6), version("2@7", 7)), (1, 2));
        assert_eq!(version("2@7,3@9", u64::MAX), 3);
    }

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

    #[test]
    fn rejects_unordered_and_unknown_versions() {
        const NEWEST: u64 = 3;
        for good in ["", "1@0", "2@0", "1@0,2@1"] {
            assert_eq!(parameters(good).check_upgrades(NEWEST), Ok(()), "{good}");
        }
        for bad in ["2@1,1@2", "1@2,2@1", "2@1,2@2", "1@1,2@1"] {
            let error = parameters(bad).check_upgrades(NEWEST).unwrap_err();
            assert!(matches!(error, UpgradeError::Order(..)), "{bad}: {error}");
        }
        assert!(parameters("0@5").check_upgrades(NEWEST).is_err());
        let unknown = format!("{}@1234", NEWEST + 1);
        let error = parameters(&unknown)
            .check_upgrades(NEWEST)
            .unwrap_err()
            .to_string();
        assert!(error.contains("height 1234"), "{error}");
    }

    #[test]
    fn accepts_only_new_upgrades_above_the_height() {
        let check_change = |current: &str, proposed: &str, height| {
            parameters(current).check_upgrade_change(&parameters(proposed), height)
        };
        assert_eq!(check_change("", "2@11", 10), Ok(()));
        assert_eq!(check_change("2@5", "2@5", 10), Ok(()));
        assert_eq!(check_change("3@20", "2@15,3@20", 10), Ok(()));
        assert!(matches!(
            check_change("", "2@10", 10),
            Err(UpgradeError::TooLate {
                newest_height: 10,
                ..
            })
        ));
        assert!(matches!(
            check_change("2@5", "", 10),
            Err(UpgradeError::Missing(_))
        ));
        assert!(matches!(
            check_change("2@15", "2@16", 10),
            Err(UpgradeError::Missing(_))
        ));
    }
}
