//! Development chains: a faucet and a few funded accounts, whose keys everyone knows.

use super::{Genesis, GenesisAccount};
use crate::{
    AccountAddress, FrameworkUpgrade, HashValue, Parameters, Vendor, crypto::Ed25519PrivateKey,
    framework::FRAMEWORK_VERSION,
};

/// A funded account of a development chain; its key is known to everyone.
#[derive(Clone, Debug)]
pub struct DevelopmentAccount {
    /// Its address.
    pub address: AccountAddress,
    /// Its private key.
    pub private_key: Ed25519PrivateKey,
}

impl Genesis {
    /// How many funded accounts a development chain starts with.
    pub const DEVELOPMENT_ACCOUNTS: u8 = 5;
    /// What each of them holds, in the coin's smallest unit.
    pub const DEVELOPMENT_BALANCE: u64 = 1_000_000_000_000;
    /// What the faucet of a development chain holds, in the coin's smallest unit.
    pub const FAUCET_BALANCE: u64 = 1_000_000_000_000_000_000;

    /// A development chain: a faucet and a few funded accounts, all with known keys. Where the
    /// parameters name no framework upgrades, the newest version is on from the start; it is written
    /// down, so that a later program does not take the chain to run its own newest one.
    pub fn development(chain_id: u8, vendor: Vendor, mut parameters: Parameters) -> Self {
        if parameters.framework_upgrades.is_empty() {
            parameters.framework_upgrades.push(FrameworkUpgrade {
                version: FRAMEWORK_VERSION,
                height: 0,
            });
        }
        let faucet = development_key("faucet");
        let mut accounts = vec![GenesisAccount {
            address: faucet.public_key().account_address(),
            balance: Self::FAUCET_BALANCE,
            authentication_key: None,
        }];
        accounts.extend(
            Self::development_accounts()
                .into_iter()
                .map(|account| GenesisAccount {
                    address: account.address,
                    balance: Self::DEVELOPMENT_BALANCE,
                    authentication_key: None,
                }),
        );
        Self {
            chain_id,
            vendor,
            development: true,
            faucet_private_key: Some(hex::encode(faucet.seed())),
            parameters,
            accounts,
        }
    }

    /// The funded accounts of a development chain; they are the same on every one.
    pub fn development_accounts() -> Vec<DevelopmentAccount> {
        let account = |number: u8| {
            let private_key = development_key(&format!("account {number}"));
            DevelopmentAccount {
                address: private_key.public_key().account_address(),
                private_key,
            }
        };
        (0..Self::DEVELOPMENT_ACCOUNTS).map(account).collect()
    }

    /// The faucet's private key, on a development chain that has one.
    pub fn faucet_key(&self) -> Option<Ed25519PrivateKey> {
        if !self.development {
            return None;
        }
        let digits = self.faucet_private_key.as_deref()?;
        let mut seed = [0; 32];
        hex::decode_to_slice(digits.strip_prefix("0x").unwrap_or(digits), &mut seed).ok()?;
        Some(Ed25519PrivateKey::from_seed(&seed))
    }
}

/// A key that everyone can compute; only for chains without value.
fn development_key(role: &str) -> Ed25519PrivateKey {
    let seed = HashValue::sha3_of(&[b"ledger-node development ", role.as_bytes()]);
    Ed25519PrivateKey::from_seed(seed.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn development() -> Genesis {
        Genesis::development(4, Vendor::default(), Parameters::default())
    }

    #[test]
    fn development_keys_do_not_change() {
        // Users put these keys into their scripts: a change of the derivation must be deliberate.
        let first = Genesis::development_accounts().remove(0);
        assert_eq!(hex::encode(first.private_key.seed()), FIRST_SEED);
        assert_eq!(
            first.address,
            first.private_key.public_key().account_address()
        );
    }

    const FIRST_SEED: &str = "9fa385ca3ce16409177586c546dcd6270125ff28c8608247894941abcac1e5cb";

    #[test]
    fn a_development_chain_writes_down_the_version_it_starts_with() {
        let newest = FrameworkUpgrade {
            version: FRAMEWORK_VERSION,
            height: 0,
        };
        assert_eq!(development().parameters.framework_upgrades, [newest]);
        let later = Parameters {
            framework_upgrades: vec![FrameworkUpgrade {
                height: 7,
                ..newest
            }],
            ..Parameters::default()
        };
        let genesis = Genesis::development(4, Vendor::default(), later.clone());
        assert_eq!(genesis.parameters, later);
    }
}
