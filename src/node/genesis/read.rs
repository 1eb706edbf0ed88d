//! Reads a genesis file, and names all of its faults with their lines.

use crate::config::message_with_position;
use ledger_framework::FRAMEWORK_VERSION;
use ledger_limits::{open_regular_file, read_bounded_text};
use ledger_types::{AccountAddress, Genesis, GenesisPlace};
use std::{io, path::Path};
use toml::de::{DeTable, DeValue};

/// Maximum size of a genesis file, in bytes. It holds about ten million accounts. Without a limit,
/// a file that is named by mistake could take all memory.
const FILE_BYTES_MAX: usize = 1024 * 1024 * 1024;

/// A genesis file that cannot start a chain.
#[derive(Debug, thiserror::Error)]
pub enum GenesisFileError {
    /// The file cannot be read.
    #[error("the file cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    /// The faults of the file, each with its line.
    #[error("{}", .0.join("; "))]
    Faults(Vec<String>),
}

impl GenesisFileError {
    /// Returns the faults, of which there is at least one.
    pub fn faults(&self) -> Vec<String> {
        match self {
            Self::Unreadable(_) => vec![self.to_string()],
            Self::Faults(faults) => faults.clone(),
        }
    }
}

/// Reads a genesis file.
///
/// # Errors
///
/// Returns [`GenesisFileError::Unreadable`] if the file cannot be read or is too large, and the
/// errors of [`parse_genesis`].
pub fn read_genesis(path: &Path) -> Result<Genesis, GenesisFileError> {
    parse_genesis(&read_bounded_text(
        open_regular_file(path)?,
        FILE_BYTES_MAX,
    )?)
}

/// Returns the genesis of a file with this text.
///
/// # Errors
///
/// Returns [`GenesisFileError::Faults`] with the first fault of the form, or else with all reasons
/// for which the genesis cannot start a useful chain. Among them is that nobody holds coins, unless
/// the file says so with `accounts = []`.
pub fn parse_genesis(text: &str) -> Result<Genesis, GenesisFileError> {
    let malformed = |error: toml::de::Error| {
        GenesisFileError::Faults(vec![message_with_position(text, &error)])
    };
    let genesis: Genesis = toml::from_str(text).map_err(malformed)?;
    let errors = genesis.errors(FRAMEWORK_VERSION);
    if errors.is_empty() && genesis.supply() > 0 && genesis.faucet_key().is_none() {
        // Without the positions of all keys, because a file may have millions of accounts.
        return Ok(genesis);
    }
    let table = DeTable::parse(text).map_err(malformed)?;
    let lines = Lines {
        text,
        table: table.get_ref(),
    };
    let mut faults: Vec<_> = errors
        .iter()
        .map(|error| lines.before(error.place(), &error.to_string()))
        .collect();
    faults.extend(lines.missing_faucet_account(&genesis));
    faults.extend(lines.missing_coins(&genesis));
    match faults.is_empty() {
        true => Ok(genesis),
        false => Err(GenesisFileError::Faults(faults)),
    }
}

/// The text of a genesis file with the positions of its keys.
struct Lines<'a> {
    text: &'a str,
    table: &'a DeTable<'a>,
}

impl Lines<'_> {
    /// Returns a message behind its line, or alone if the file does not have the key.
    fn before(&self, place: GenesisPlace, message: &str) -> String {
        match self.offset(place) {
            Some(offset) => {
                let line = self.text[..offset].matches('\n').count() + 1;
                format!("line {line}: {message}")
            }
            None => message.to_owned(),
        }
    }

    fn offset(&self, place: GenesisPlace) -> Option<usize> {
        let key_in = |table: &DeTable<'_>, name: &str| {
            let mut keys = table.keys();
            keys.find(|key| key.get_ref() == name)
                .map(|key| key.span().start)
        };
        match place {
            GenesisPlace::Key(name) => key_in(self.table, name),
            GenesisPlace::Parameter(name) => match self.table.get("parameters")?.get_ref() {
                DeValue::Table(parameters) => key_in(parameters, name),
                _ => None,
            },
            GenesisPlace::Account(index) => match self.table.get("accounts")?.get_ref() {
                DeValue::Array(accounts) => match accounts.get(index)?.get_ref() {
                    DeValue::Table(account) => key_in(account, "address"),
                    _ => None,
                },
                _ => None,
            },
        }
    }

    /// Returns the fault that the faucet of a development chain has no account.
    fn missing_faucet_account(&self, genesis: &Genesis) -> Option<String> {
        let key = genesis.faucet_key()?;
        let address = AccountAddress::from_public_key(&key.public_key());
        let mut accounts = genesis.accounts.iter();
        if accounts.any(|account| account.address == address) {
            return None;
        }
        let message = format!(
            "the account of the faucet key, {}, is not among the accounts; add it, or remove the \
             key",
            address.to_long_hex()
        );
        Some(self.before(GenesisPlace::Key("faucet_private_key"), &message))
    }

    /// Returns the fault that nobody can ever pay for a transaction.
    fn missing_coins(&self, genesis: &Genesis) -> Option<String> {
        let is_said = genesis.accounts.is_empty() && self.table.contains_key("accounts");
        if genesis.supply() > 0 || is_said {
            return None;
        }
        let message = "nobody holds coins, and none can be made later: add [[accounts]] with an \
                       address and a balance, or say it with accounts = []";
        Some(self.before(GenesisPlace::Key("accounts"), message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> Vec<String> {
        match parse_genesis(text) {
            Err(GenesisFileError::Faults(faults)) => faults,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn names_all_faults_with_their_lines() {
        let text = "chain_id = 0\n\
                    [parameters]\n\
                    block_gas_max = 1\n\
                    root_delay_blocks = 1\n\
                    [[accounts]]\n\
                    address = \"0xa1\"\n\
                    balance = 1\n\
                    [[accounts]]\n\
                    balance = 1\n\
                    address = \"0xa1\"\n\
                    [[accounts]]\n\
                    address = \"0x1\"\n\
                    balance = 1\n";
        let faults = faults(text);
        let starts = [
            "line 1: chain_id = 0: it is an integer from 1 to 255",
            "line 3: block_gas_max is too low",
            "line 4: root_delay_blocks must be 2 to 64",
            "line 10: the account 0x",
            "line 12: the address 0x",
        ];
        assert_eq!(faults.len(), starts.len(), "{faults:#?}");
        for (fault, start) in faults.iter().zip(starts) {
            assert!(fault.starts_with(start), "{fault:?} is not {start:?}");
        }
    }

    #[test]
    fn names_the_range_of_the_chain_id() {
        for text in ["chain_id = 256\n", "chain_id = -1\n"] {
            let message = faults(text).remove(0);
            let words = "it is an integer from 1 to 255";
            assert!(message.starts_with("line 1, column"), "{message}");
            assert!(
                message.contains("chain_id = ") && message.contains(words),
                "{message}"
            );
        }
    }

    #[test]
    fn rejects_a_chain_without_coins_unless_the_file_says_so() {
        let poor = "chain_id = 7\n\n[[accounts]]\naddress = \"0xa1\"\nbalance = 0\n";
        for (text, start) in [("chain_id = 7\n", "nobody"), (poor, "line 3: nobody")] {
            let fault = faults(text).remove(0);
            assert!(fault.starts_with(start), "{fault}");
        }
        parse_genesis("chain_id = 7\naccounts = []\n").unwrap();
    }
}
