//! Development chains: a faucet and five funded accounts, with publicly known keys.

use ledger_crypto::{Ed25519PrivateKey, HashValue};
use ledger_framework::FRAMEWORK_VERSION;
use ledger_types::{AccountAddress, FrameworkUpgrade, Genesis, GenesisAccount, Parameters, Vendor};

/// Number of funded accounts that a development chain starts with by default.
pub const DEVELOPMENT_ACCOUNT_COUNT: u16 = 5;
/// Balance of each of these accounts at genesis, in the coin's smallest unit.
pub const DEVELOPMENT_BALANCE: u64 = 1_000_000_000_000;
/// Balance of the faucet of a development chain at genesis, in the coin's smallest unit.
pub const FAUCET_BALANCE: u64 = 1_000_000_000_000_000_000;

/// A funded account of a development chain, with its publicly known key.
#[derive(Clone, Debug)]
pub struct DevelopmentAccount {
    /// Address of the account.
    pub address: AccountAddress,
    /// Private key of the account.
    pub private_key: Ed25519PrivateKey,
}

/// Returns the genesis of a development chain: a faucet and the funded accounts of
/// [`development_accounts`].
///
/// If `parameters` name no framework upgrades, the newest version is active from height 0. The
/// genesis names that version, so that a later program does not run the chain with its own newest
/// version.
pub fn development_genesis(chain_id: u8, vendor: Vendor, parameters: Parameters) -> Genesis {
    development_genesis_with(chain_id, vendor, parameters, DEVELOPMENT_ACCOUNT_COUNT)
}

/// Returns the genesis of [`development_genesis`] with another number of funded accounts.
pub fn development_genesis_with(
    chain_id: u8,
    vendor: Vendor,
    mut parameters: Parameters,
    count: u16,
) -> Genesis {
    if parameters.framework_upgrades.is_empty() {
        parameters.framework_upgrades.push(FrameworkUpgrade {
            version: FRAMEWORK_VERSION,
            height: 0,
        });
    }
    let faucet = development_key("faucet");
    let mut accounts = vec![GenesisAccount {
        address: AccountAddress::from_public_key(&faucet.public_key()),
        balance: FAUCET_BALANCE,
        authentication_key: None,
    }];
    let funded = |account: DevelopmentAccount| GenesisAccount {
        address: account.address,
        balance: DEVELOPMENT_BALANCE,
        authentication_key: None,
    };
    accounts.extend(numbered_accounts(count).map(funded));
    Genesis {
        chain_id,
        vendor,
        development: true,
        faucet_private_key: Some(hex::encode(faucet.seed())),
        parameters,
        accounts,
        validators: Vec::new(),
    }
}

/// Returns the funded accounts, which are the same on every development chain.
pub fn development_accounts() -> Vec<DevelopmentAccount> {
    numbered_accounts(DEVELOPMENT_ACCOUNT_COUNT).collect()
}

/// Returns the first `count` funded accounts of a development chain.
pub fn numbered_accounts(count: u16) -> impl Iterator<Item = DevelopmentAccount> {
    (0..count).map(|number| {
        let private_key = development_key(&format!("account {number}"));
        DevelopmentAccount {
            address: AccountAddress::from_public_key(&private_key.public_key()),
            private_key,
        }
    })
}

/// Derives the key of a role. Anyone can compute it, so it is only for chains without value.
fn development_key(role: &str) -> Ed25519PrivateKey {
    let seed = HashValue::sha3_of(&[b"ledger-node development ", role.as_bytes()]);
    Ed25519PrivateKey::from_seed(seed.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn development() -> Genesis {
        development_genesis(4, Vendor::default(), Parameters::default())
    }

    #[test]
    fn derives_fixed_development_keys() {
        // Users put these keys into their scripts, so a change of the derivation must be
        // deliberate.
        let first = development_accounts().remove(0);
        assert_eq!(hex::encode(first.private_key.seed()), FIRST_SEED);
        assert_eq!(
            first.address,
            AccountAddress::from_public_key(&first.private_key.public_key())
        );
    }

    const FIRST_SEED: &str = "9fa385ca3ce16409177586c546dcd6270125ff28c8608247894941abcac1e5cb";

    #[test]
    fn development_genesis_names_its_framework_version() {
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
        let genesis = development_genesis(4, Vendor::default(), later.clone());
        assert_eq!(genesis.parameters, later);
    }
}
