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
    pub fn print_list(list: &[Self]) -> String {
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
        "framework_upgrades switches to version {} at height {}, but this program has versions 1 to {newest}: \
         start a program that has it",
        .upgrade.version, .upgrade.height
    )]
    Unknown {
        /// The upgrade.
        upgrade: FrameworkUpgrade,
        /// The newest version of the program.
        newest: u64,
    },
    /// The new list lacks an upgrade of the chain.
    #[error("the chain has the framework upgrade {0}, which framework_upgrades must go on to name")]
    LeftOut(FrameworkUpgrade),
    /// The height of a new upgrade is not above the newest block.
    #[error(
        "the framework upgrade {upgrade} is new to the chain, whose newest block has height {newest}: \
         its height must be above that"
    )]
    Past {
        /// The upgrade.
        upgrade: FrameworkUpgrade,
        /// The height of the newest block.
        newest: u64,
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
    /// * [`UpgradeError::Unknown`] if a version is not between 1 and `newest_version`.
    pub fn check_upgrades(&self, newest_version: u64) -> Result<(), UpgradeError> {
        let upgrades = &self.framework_upgrades;
        let out_of_order = |pair: &&[FrameworkUpgrade]| {
            pair[0].version >= pair[1].version || pair[0].height >= pair[1].height
        };
        if let Some(pair) = upgrades.windows(2).find(out_of_order) {
            return Err(UpgradeError::Order(pair[0], pair[1]));
        }
        let known = 1..=newest_version;
        match upgrades
            .iter()
            .find(|upgrade| !known.contains(&upgrade.version))
        {
            Some(upgrade) => Err(UpgradeError::Unknown {
                upgrade: *upgrade,
                newest: newest_version,
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
    /// * [`UpgradeError::LeftOut`] with the first upgrade that `next` lacks.
    /// * [`UpgradeError::Past`] with the first new upgrade at or below `height`.
    pub fn continue_upgrades(&self, next: &Self, height: u64) -> Result<(), UpgradeError> {
        let (had, wanted) = (&self.framework_upgrades, &next.framework_upgrades);
        if let Some(left_out) = had.iter().find(|upgrade| !wanted.contains(upgrade)) {
            return Err(UpgradeError::LeftOut(*left_out));
        }
        let too_late =
            |upgrade: &&FrameworkUpgrade| !had.contains(upgrade) && upgrade.height <= height;
        match wanted.iter().find(too_late) {
            Some(upgrade) => Err(UpgradeError::Past {
                upgrade: *upgrade,
                newest: height,
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
    fn a_version_is_on_from_its_height_on() {
        let version = |upgrades: &str, height| parameters(upgrades).framework_version(height);
        assert_eq!(version("", u64::MAX), 1);
        assert_eq!(version("2@0", 0), 2);
        assert_eq!((version("2@7", 6), version("2@7", 7)), (1, 2));
        assert_eq!(version("2@7,3@9", u64::MAX), 3);
    }

    #[test]
    fn lists_read_as_they_print() {
        for text in ["", "2@0", "2@1000,3@18446744073709551615"] {
            let list = FrameworkUpgrade::parse_list(text).unwrap();
            assert_eq!(FrameworkUpgrade::print_list(&list), text);
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
    fn a_list_ascends_and_names_known_versions() {
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
    fn a_running_chain_takes_on_only_what_lies_ahead() {
        let goes_on = |had: &str, wanted: &str, height| {
            parameters(had).continue_upgrades(&parameters(wanted), height)
        };
        assert_eq!(goes_on("", "2@11", 10), Ok(()));
        assert_eq!(goes_on("2@5", "2@5", 10), Ok(()));
        assert_eq!(goes_on("3@20", "2@15,3@20", 10), Ok(()));
        assert!(matches!(
            goes_on("", "2@10", 10),
            Err(UpgradeError::Past { newest: 10, .. })
        ));
        assert!(matches!(
            goes_on("2@5", "", 10),
            Err(UpgradeError::LeftOut(_))
        ));
        assert!(matches!(
            goes_on("2@15", "2@16", 10),
            Err(UpgradeError::LeftOut(_))
        ));
    }
}
