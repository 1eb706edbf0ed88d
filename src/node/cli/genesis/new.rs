//! `genesis new`: writes the genesis file of a new chain, and the keys of its first accounts.

use crate::{
    cli::{CliError, key, output},
    genesis::{describe_accounts, describe_chain, genesis_text, parse_genesis},
};
use ledger_crypto::Ed25519PublicKey;
use ledger_framework::FRAMEWORK_VERSION;
use ledger_types::{AccountAddress, FrameworkUpgrade, Genesis, GenesisAccount, Parameters, Vendor};
use std::{
    fs::OpenOptions,
    io::{self, Write as _},
    path::{Path, PathBuf},
    str::FromStr,
};

/// The options of `genesis new`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Chain id, which transactions are signed for: a number that no other chain of yours has
    #[arg(long, value_name = "1-255", value_parser = clap::value_parser!(u8).range(1..))]
    chain_id: u8,
    /// Word in headers, hash domains and framework names; the SDKs of Aptos need APTOS
    #[arg(long, default_value_t = Vendor::default())]
    vendor: Vendor,
    /// Minimum gas unit price
    #[arg(long, value_name = "PRICE", default_value_t = Parameters::default().gas_unit_price_min)]
    gas_unit_price_min: u64,
    /// Whether new stores of a coin get event handles, which the event routes of accounts read
    #[arg(long, value_name = "BOOL", action = clap::ArgAction::Set,
        default_value_t = Parameters::default().coin_event_handles)]
    coin_event_handles: bool,
    /// Whether transfers may pay 0x0, 0x1, 0x3 and 0xa, which have no key
    #[arg(long, value_name = "BOOL", action = clap::ArgAction::Set,
        default_value_t = Parameters::default().transfers_to_framework)]
    transfers_to_framework: bool,
    /// File to create with a new private key, whose account starts with the balance; may be given
    /// several times
    #[arg(long, value_name = "FILE=BALANCE")]
    key: Vec<Balance<PathBuf>>,
    /// Address of an account that starts with the balance, in the coin's smallest unit; may be
    /// given several times
    #[arg(long, value_name = "ADDRESS=BALANCE")]
    account: Vec<Balance<AccountAddress>>,
    /// Public key of a validator, of several that agree on the blocks; may be given several times
    #[arg(long, value_name = "KEY", value_parser = public_key)]
    validator: Vec<Ed25519PublicKey>,
    /// State that nobody holds coins
    #[arg(long, conflicts_with_all = ["key", "account"])]
    no_coins: bool,
    /// File to write; must not exist
    #[arg(long, value_name = "FILE", default_value = "genesis.toml")]
    out: PathBuf,
}

/// A balance at genesis, of an account that `T` names.
#[derive(Debug, Clone)]
struct Balance<T> {
    of: T,
    balance: u64,
}

impl<T: FromStr> FromStr for Balance<T> {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str = "expected NAME=BALANCE, with a balance in the coin's smallest unit";
        let (of, balance) = text.rsplit_once('=').ok_or(EXPECTED)?;
        Ok(Self {
            of: of.parse().map_err(|_| EXPECTED)?,
            balance: balance.replace('_', "").parse().map_err(|_| EXPECTED)?,
        })
    }
}

fn public_key(text: &str) -> Result<Ed25519PublicKey, hex::FromHexError> {
    let mut bytes = [0; 32];
    hex::decode_to_slice(text.strip_prefix("0x").unwrap_or(text), &mut bytes)?;
    Ok(Ed25519PublicKey(bytes))
}

/// Writes the keys, then the genesis file, and prints the chain.
///
/// # Errors
///
/// Returns [`CliError::Fatal`] if no account holds coins and `--no-coins` does not say so, if the
/// genesis cannot start a chain, or if a file exists or cannot be written. Keys that were created
/// before stay.
pub fn execute(arguments: &Arguments) -> Result<(), CliError> {
    if arguments.key.is_empty() && arguments.account.is_empty() && !arguments.no_coins {
        return Err(CliError::Fatal(
            "nobody would hold coins, and none can be made later: give accounts with --key \
             FILE=BALANCE or --account ADDRESS=BALANCE, or say it with --no-coins"
                .to_owned(),
        ));
    }
    let out = &arguments.out;
    let failed = |path: &Path, error: io::Error| CliError::fatal(path.display(), &error);
    let exists = out.try_exists().map_err(|error| failed(out, error))?;
    if exists {
        return Err(CliError::Fatal(format!(
            "{} exists; a chain keeps its genesis, so name another file with --out",
            out.display()
        )));
    }
    let mut accounts = Vec::new();
    for account in &arguments.account {
        accounts.push(genesis_account(account.of, account.balance));
    }
    for new in &arguments.key {
        let key = key::create()?;
        let address = AccountAddress::from_public_key(&key.public_key());
        key::write(&new.of, &key).map_err(|error| failed(&new.of, error))?;
        accounts.push(genesis_account(address, new.balance));
    }
    let genesis = genesis(arguments, accounts);
    let text = genesis_text(&genesis).map_err(|error| CliError::fatal("the genesis", &error))?;
    parse_genesis(&text).map_err(|error| CliError::fatal("the genesis", &error))?;
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(out)
        .map_err(|error| failed(out, error))?;
    let written = file
        .write_all(text.as_bytes())
        .and_then(|()| file.sync_all());
    written.map_err(|error| failed(out, error))?;
    let words = describe_chain(&genesis)? + &describe_accounts(&genesis);
    Ok(output::line(&format!("wrote {}\n{words}", out.display()))?)
}

fn genesis_account(address: AccountAddress, balance: u64) -> GenesisAccount {
    GenesisAccount {
        address,
        balance,
        authentication_key: None,
    }
}

/// Returns the genesis of the options with these accounts, and the newest framework version.
fn genesis(arguments: &Arguments, accounts: Vec<GenesisAccount>) -> Genesis {
    Genesis {
        chain_id: arguments.chain_id,
        vendor: arguments.vendor.clone(),
        development: false,
        faucet_private_key: None,
        validators: arguments.validator.clone(),
        parameters: Parameters {
            gas_unit_price_min: arguments.gas_unit_price_min,
            coin_event_handles: arguments.coin_event_handles,
            transfers_to_framework: arguments.transfers_to_framework,
            framework_upgrades: vec![FrameworkUpgrade {
                version: FRAMEWORK_VERSION,
                height: 0,
            }],
            ..Parameters::default()
        },
        accounts,
    }
}
