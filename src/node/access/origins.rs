//! Origins of web pages that may send requests to the faucet: `faucet.origins`.

use super::authority::authority_of;
use std::{fmt, str::FromStr};

/// A list of origins as browsers write them (RFC 6454), such as `https://wallet.example`, or all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origins(Vec<String>);

impl Origins {
    /// Maximum number of origins. Each is compared with the origin of every request of a web page.
    pub const COUNT_MAX: usize = 100;
    /// The entry that matches every origin.
    const ALL: &'static str = "*";

    /// Returns whether the list contains `origin`.
    pub fn allow(&self, origin: &str) -> bool {
        let matches = |listed: &String| listed == Self::ALL || listed.eq_ignore_ascii_case(origin);
        self.0.iter().any(matches)
    }
}

/// Parses a list of origins, separated by commas.
impl FromStr for Origins {
    type Err = NoOrigins;

    fn from_str(text: &str) -> Result<Self, NoOrigins> {
        let parts = text.split(',').map(str::trim).filter(|_| !text.is_empty());
        let origins: Vec<_> = parts.map(str::to_owned).collect();
        let is_origin = |origin: &String| origin == Self::ALL || authority_of(origin).is_some();
        if origins.len() <= Self::COUNT_MAX && origins.iter().all(is_origin) {
            Ok(Self(origins))
        } else {
            Err(NoOrigins)
        }
    }
}

/// Writes the origins separated by commas.
impl fmt::Display for Origins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(","))
    }
}

/// The text is not a list of origins.
#[derive(Debug, PartialEq, Eq)]
pub struct NoOrigins;

/// Describes the accepted texts.
impl fmt::Display for NoOrigins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "up to {} origins such as https://wallet.example, separated by commas, * for all, or \"\" for none",
            Origins::COUNT_MAX
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allows_only_listed_origins() {
        let origins: Origins = "https://wallet.example, http://10.0.0.7:3000"
            .parse()
            .unwrap();
        for listed in [
            "https://wallet.example",
            "https://WALLET.example",
            "http://10.0.0.7:3000",
        ] {
            assert!(origins.allow(listed), "{listed}");
        }
        for other in [
            "http://wallet.example",
            "https://wallet.example:8443",
            "http://10.0.0.7",
            "null",
        ] {
            assert!(!origins.allow(other), "{other}");
        }
        assert!(
            !"".parse::<Origins>()
                .unwrap()
                .allow("https://wallet.example")
        );
        assert!("*".parse::<Origins>().unwrap().allow("null"));
    }

    #[test]
    fn rejects_texts_that_are_not_origins() {
        let too_many = ["https://a"; Origins::COUNT_MAX + 1].join(",");
        for text in [
            "wallet.example",
            "https://",
            "https://wallet.example/",
            "https://wallet.example,",
            "ftp://wallet.example",
            "null",
            "https://user@wallet.example",
            &too_many,
        ] {
            assert_eq!(text.parse::<Origins>(), Err(NoOrigins), "{text}");
        }
    }
}
