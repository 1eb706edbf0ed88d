//! The recipient of a payment: an address, an authentication key, or a public key.

use super::error::FaucetError;
use ledger_crypto::{Ed25519PublicKey, HashValue};
use ledger_types::AccountAddress;

/// The fields that name an account. If several are present, the first one counts.
#[derive(Debug)]
pub struct Recipient {
    address: Option<String>,
    auth_key: Option<String>,
    pub_key: Option<String>,
}

impl Recipient {
    /// Creates a recipient from the fields of a query.
    pub fn new(address: Option<String>, auth_key: Option<String>, pub_key: Option<String>) -> Self {
        Self {
            address,
            auth_key,
            pub_key,
        }
    }

    /// Returns the address of the account.
    ///
    /// # Errors
    ///
    /// Returns [`FaucetError::InvalidRequest`] if no field is present, if the first one is
    /// malformed, or if the address is reserved: no key exists for it, so the coins would be lost.
    pub fn resolve(&self) -> Result<AccountAddress, FaucetError> {
        let named = self.named()?;
        if named.is_reserved() {
            return Err(FaucetError::InvalidRequest(format!(
                "{named} is reserved for the framework and cannot be funded"
            )));
        }
        Ok(named)
    }

    fn named(&self) -> Result<AccountAddress, FaucetError> {
        let invalid = |what: &str, error: &dyn std::fmt::Display| {
            FaucetError::InvalidRequest(format!("{what} cannot be read: {error}"))
        };
        if let Some(text) = &self.address {
            return text
                .trim()
                .parse()
                .map_err(|error| invalid("address", &error));
        }
        if let Some(text) = &self.auth_key {
            let key: HashValue = text
                .trim()
                .parse()
                .map_err(|error| invalid("auth_key", &error))?;
            return Ok(AccountAddress::new(*key.as_bytes()));
        }
        if let Some(text) = &self.pub_key {
            // The text form of a public key is that of a hash: 32 bytes in hex.
            let key: HashValue = text.trim().parse().map_err(|_| {
                invalid(
                    "pub_key",
                    &"an ed25519 public key has exactly 64 hex digits",
                )
            })?;
            return Ok(AccountAddress::from_public_key(&Ed25519PublicKey(
                *key.as_bytes(),
            )));
        }
        Err(FaucetError::InvalidRequest(
            "one of address, auth_key and pub_key is required".to_owned(),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ledger_crypto::Ed25519PrivateKey;

    fn recipient(
        address: Option<&str>,
        auth_key: Option<&str>,
        pub_key: Option<&str>,
    ) -> Recipient {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Recipient::new(owned(address), owned(auth_key), owned(pub_key))
    }

    #[test]
    fn resolves_each_field_to_the_same_account() {
        let key = Ed25519PrivateKey::from_seed(&[3; 32]).public_key();
        let address = AccountAddress::from_public_key(&key);
        let long = address.to_long_hex();
        let public = hex::encode(key.0);
        for named in [
            recipient(Some(&long), None, None),
            recipient(Some(&long[2..]), None, None),
            recipient(None, Some(&long), None),
            recipient(None, Some(&long[2..]), None),
            recipient(None, None, Some(&public)),
            recipient(None, None, Some(&format!("0x{public}"))),
        ] {
            assert_eq!(named.resolve().unwrap(), address, "{named:?}");
        }
    }

    #[test]
    fn rejects_reserved_addresses() {
        for low in ["0", "1", "3", "a"] {
            let long = format!("0x{low:0>64}");
            for named in [
                recipient(Some(&format!("0x{low}")), None, None),
                recipient(None, Some(&long), None),
            ] {
                let error = named.resolve().unwrap_err();
                assert!(matches!(error, FaucetError::InvalidRequest(_)), "{named:?}");
                assert!(error.to_string().contains("reserved"), "{error}");
            }
        }
        assert!(recipient(Some("0x2"), None, None).resolve().is_ok());
    }

    #[test]
    fn rejects_missing_and_malformed_fields() {
        for named in [
            recipient(None, None, None),
            recipient(Some(""), None, None),
            recipient(Some("0xzz"), None, None),
            recipient(None, Some("0x12"), None),
            recipient(None, None, Some("0x12")),
        ] {
            assert!(
                matches!(named.resolve(), Err(FaucetError::InvalidRequest(_))),
                "{named:?}"
            );
        }
    }
}
