//! The configured genesis: a file, or a development chain.

use crate::{
    config::{Config, ConfigError},
    genesis::{GenesisFileError, read_genesis},
};
use ledger_execution::genesis::development_genesis_with;
use ledger_framework::FRAMEWORK_VERSION;
use ledger_types::{FrameworkUpgrade, Genesis, Parameters};
use std::{io::ErrorKind, path::Path};

/// Value of `sequencer.mode` on a chain of several validators.
const BFT: &str = "bft";

/// The setting that names the file.
const SETTING: &str = "chain.genesis";

/// The configured genesis, which can start a chain.
#[derive(Debug)]
pub struct ConfiguredGenesis {
    /// The genesis.
    pub genesis: Genesis,
    /// Whether the settings name framework upgrades. Otherwise an existing ledger keeps its own,
    /// even if a new chain would start with a newer version.
    pub names_upgrades: bool,
}

/// Returns the configured genesis.
///
/// # Errors
///
/// Returns [`ConfigError::BadValue`] if the genesis file cannot be read or cannot start a chain.
/// Returns [`ConfigError::Contradiction`] if a setting contradicts the file, allows as many blocks
/// in flight as the delay of roots, names another mode than that of the chain, or enables a faucet
/// on a chain without a faucet key.
pub fn configured_genesis(config: &Config) -> Result<ConfiguredGenesis, ConfigError> {
    let chain = &config.settings().chain;
    let genesis = match &chain.genesis {
        Some(path) => {
            let genesis = read(config, path)?;
            check_agreement(config, &genesis, path)?;
            genesis
        }
        None => {
            let parameters = Parameters {
                gas_unit_price_min: chain.gas_unit_price_min,
                coin_event_handles: chain.coin_event_handles,
                transfers_to_framework: chain.transfers_to_framework,
                framework_upgrades: chain.framework_upgrades.clone(),
                ..Parameters::default()
            };
            development_genesis_with(chain.id, chain.vendor.clone(), parameters, chain.accounts)
        }
    };
    if let Some(error) = genesis.errors(FRAMEWORK_VERSION).first() {
        // Of a development chain, because a file was checked when it was read.
        return Err(ConfigError::Contradiction(format!("genesis: {error}")));
    }
    check_blocks_in_flight(config, &genesis)?;
    check_mode(config, &genesis)?;
    let is_faucet_requested = config.is_set("faucet.enabled") && config.settings().faucet.enabled;
    if is_faucet_requested && genesis.faucet_key().is_none() {
        return Err(ConfigError::Contradiction(
            "faucet.enabled = true, but the genesis is not that of a development chain with a faucet key"
                .to_owned(),
        ));
    }
    Ok(ConfiguredGenesis {
        names_upgrades: chain.genesis.is_some() || !chain.framework_upgrades.is_empty(),
        genesis,
    })
}

fn read(config: &Config, path: &Path) -> Result<Genesis, ConfigError> {
    read_genesis(path).map_err(|error| {
        let recipe = match &error {
            GenesisFileError::Unreadable(source) if source.kind() == ErrorKind::NotFound => {
                "; ledger-node genesis new writes a genesis file"
            }
            _ => "",
        };
        config.bad_file(SETTING, path, format!("{error}{recipe}"))
    })
}

/// Checks that a block is executed before the block that names its result in the header begins.
///
/// # Errors
///
/// Returns [`ConfigError::Contradiction`] if as many blocks may be in flight.
fn check_blocks_in_flight(config: &Config, genesis: &Genesis) -> Result<(), ConfigError> {
    let blocks_max = config.settings().node.sequencer.blocks_in_flight_max as u64;
    let delay_blocks = genesis.parameters.root_delay_blocks;
    if blocks_max < delay_blocks {
        return Ok(());
    }
    Err(ConfigError::Contradiction(format!(
        "sequencer.blocks_in_flight_max = {blocks_max}, but the genesis has root_delay_blocks = \
         {delay_blocks}: a block header names the result of the block that many heights before, so \
         that fewer blocks may be in flight; set sequencer.blocks_in_flight_max to {} or less",
        delay_blocks - 1
    )))
}

/// Checks that `sequencer.mode` is that of the chain, and that this program has it.
///
/// # Errors
///
/// Returns [`ConfigError::Contradiction`] if it is not, or if a validator has no directory.
fn check_mode(config: &Config, genesis: &Genesis) -> Result<(), ConfigError> {
    let settings = config.settings();
    let is_bft = settings.sequencer.mode == BFT;
    let message = match (is_bft, !genesis.validators.is_empty()) {
        (true, true) if !cfg!(feature = "bft") => {
            "sequencer.mode = bft, but this program was built without the feature bft; use one that \
             was built with it"
        }
        (true, true) if settings.consensus.directory.is_none() => {
            "sequencer.mode = bft needs consensus.directory, the directory of a node"
        }
        (true, false) => {
            "sequencer.mode = bft, but the genesis has no validators; set sequencer.mode = solo"
        }
        (false, true) => "the genesis has validators, so sequencer.mode must be bft",
        (true, true) | (false, false) => return Ok(()),
    };
    Err(ConfigError::Contradiction(message.to_owned()))
}

/// Checks that the settings agree with the genesis file. Settings that no layer sets are ignored.
///
/// # Errors
///
/// Returns [`ConfigError::Contradiction`] for the first setting that differs.
fn check_agreement(config: &Config, genesis: &Genesis, path: &Path) -> Result<(), ConfigError> {
    let chain = &config.settings().chain;
    let parameters = &genesis.parameters;
    let price_min = parameters.gas_unit_price_min;
    let has_handles = parameters.coin_event_handles;
    let pays_framework = parameters.transfers_to_framework;
    let upgrades = &parameters.framework_upgrades;
    let pairs = [
        (
            "chain.id",
            chain.id.to_string(),
            genesis.chain_id.to_string(),
            chain.id == genesis.chain_id,
        ),
        (
            "chain.vendor",
            chain.vendor.to_string(),
            genesis.vendor.to_string(),
            chain.vendor == genesis.vendor,
        ),
        (
            "chain.gas_unit_price_min",
            chain.gas_unit_price_min.to_string(),
            price_min.to_string(),
            chain.gas_unit_price_min == price_min,
        ),
        (
            "chain.coin_event_handles",
            chain.coin_event_handles.to_string(),
            has_handles.to_string(),
            chain.coin_event_handles == has_handles,
        ),
        (
            "chain.transfers_to_framework",
            chain.transfers_to_framework.to_string(),
            pays_framework.to_string(),
            chain.transfers_to_framework == pays_framework,
        ),
        (
            "chain.framework_upgrades",
            FrameworkUpgrade::format_list(&chain.framework_upgrades),
            FrameworkUpgrade::format_list(upgrades),
            chain.framework_upgrades == *upgrades,
        ),
        (
            "chain.accounts",
            chain.accounts.to_string(),
            "which accounts hold coins".to_owned(),
            false,
        ),
    ];
    for (key, set, in_genesis, agree) in pairs {
        if let Some(origin) = config.origin(key)
            && config.is_set(key)
            && !agree
        {
            return Err(ConfigError::Contradiction(format!(
                "{key} = {set} ({origin}), but the genesis {} says {in_genesis}",
                path.display()
            )));
        }
    }
    Ok(())
}
