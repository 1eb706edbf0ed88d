//! Writes a genesis file, with an explanation before each key.

use ledger_types::Genesis;

/// First lines of a genesis file.
const HEADER: &str = "\
# Genesis of a chain: every node of the chain starts with this file, and it never changes, except
# for later entries of framework_upgrades. `ledger-node genesis check` names its faults, and
# `ledger-node genesis show` prints the chain in words.
#
# Amounts are in the coin's smallest unit: one coin is 100,000,000 of it. For a chain of several
# validators, `validators` lists their public keys (docs/operate/cluster.md).
";

/// The explanation of each key, in the order of the file. Explained are the first line of a key and
/// the first header of a list.
const EXPLANATIONS: [(&str, &str); 18] = [
    (
        "chain_id",
        "1 to 255. Transactions are signed for it, so give each chain its own.",
    ),
    (
        "vendor",
        "1 to 16 letters A-Z: the word in headers (X-{VENDOR}-CHAIN-ID), MIME types, hash domains\n\
         and framework names. The SDKs of Aptos need APTOS.",
    ),
    (
        "development",
        "true only if private keys are known to all, as those of a faucet.",
    ),
    (
        "faucet_private_key",
        "Key of the faucet, on a development chain only.",
    ),
    (
        "validators",
        "Public keys of the validators, in the order of their turns.",
    ),
    (
        "[parameters]",
        "Limits, prices and switches. Each has the default of the program that wrote the file.",
    ),
    (
        "gas_unit_price_min",
        "A sender must hold max_gas_amount times its gas unit price. The TypeScript SDK sets that\n\
         amount to 2,000,000.",
    ),
    (
        "gas_unit_price_max",
        "Protects senders from a price by mistake.",
    ),
    (
        "max_gas_amount",
        "Maximum of a transaction's own max_gas_amount, 1,000 or more.",
    ),
    (
        "transaction_bytes_max",
        "Maximum size of a signed transaction, 512 or more.",
    ),
    (
        "block_gas_max",
        "Maximum work of a block in gas units, 1,000 or more.",
    ),
    (
        "block_output_bytes_max",
        "Maximum output of a block, 16,384 or more.",
    ),
    (
        "block_transactions_max",
        "Maximum number of transactions and of their bytes in a block of validators.",
    ),
    (
        "root_delay_blocks",
        "2 to 64: number of heights after which a block header names the result of a block.",
    ),
    (
        "coin_event_handles",
        "Whether new stores of a coin get event handles, which the event routes of accounts read.\n\
         Without them a transfer takes less state, and its events are in no stream.",
    ),
    (
        "transfers_to_framework",
        "Whether transfers may pay 0x0, 0x1, 0x3 and 0xa, which have no key: such a payment is lost.",
    ),
    (
        "[[parameters.framework_upgrades]]",
        "Framework versions with the heights from which they apply. Without an entry at height 0,\n\
         the chain starts with version 1.",
    ),
    (
        "[[accounts]]",
        "First accounts: `ledger-node account new` prints the address of a new key. Together they\n\
         hold all coins that will ever exist. An authentication_key names another key than that of\n\
         the address.",
    ),
];

/// Returns the text of a genesis file.
///
/// # Errors
///
/// Returns the error of the TOML writer if a number is above the largest one of TOML.
pub fn genesis_text(genesis: &Genesis) -> Result<String, toml::ser::Error> {
    let mut unexplained = EXPLANATIONS.to_vec();
    let mut text = HEADER.to_owned();
    for line in toml::to_string(genesis)?.lines() {
        let key = line.split(" = ").next().unwrap_or(line);
        let at = unexplained.iter().position(|(name, _)| *name == key);
        if let Some((_, explanation)) = at.map(|at| unexplained.remove(at)) {
            // The writer has an empty line before headers.
            let is_header = key.starts_with('[');
            if !is_header {
                text.push('\n');
            }
            for words in explanation.lines() {
                text += &format!("# {words}\n");
            }
        }
        text += line;
        text.push('\n');
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::genesis::parse_genesis;
    use ledger_framework::FRAMEWORK_VERSION;
    use ledger_types::{FrameworkUpgrade, GenesisAccount, Parameters};
    use std::{env, fs, path::Path};

    fn example() -> Genesis {
        let account = |address: &str, balance| GenesisAccount {
            address: address.parse().unwrap(),
            balance,
            authentication_key: None,
        };
        Genesis {
            chain_id: 77,
            vendor: "NODE".parse().unwrap(),
            development: false,
            faucet_private_key: None,
            validators: Vec::new(),
            parameters: Parameters {
                framework_upgrades: vec![FrameworkUpgrade {
                    version: FRAMEWORK_VERSION,
                    height: 0,
                }],
                ..Parameters::default()
            },
            accounts: vec![
                account("0xa11ce", 1_000_000_000_000_000),
                account("0xb0b", 250_000_000_000),
            ],
        }
    }

    #[test]
    fn writes_the_annotated_example() {
        let text = genesis_text(&example()).unwrap();
        assert_eq!(parse_genesis(&text).unwrap(), example());
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/genesis.toml");
        if env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&path, &text).unwrap();
        }
        assert_eq!(fs::read_to_string(path).unwrap_or_default(), text);
    }

    #[test]
    fn explains_every_key() {
        let text = genesis_text(&example()).unwrap();
        let optional = ["faucet_private_key", "validators"];
        for (name, _) in EXPLANATIONS {
            let is_written = text.lines().any(|line| line.starts_with(name));
            assert_eq!(is_written, !optional.contains(&name), "{name}");
        }
        assert!(text.lines().all(|line| line.len() <= 100), "{text}");
    }
}
