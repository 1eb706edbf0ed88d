//! Opens the ledger, in the data directory or in memory: starts the chain in an empty one, or adds
//! configured framework upgrades to an existing one.

use super::{error::RunError, genesis::ConfiguredGenesis};
use crate::config::{ConfigError, Settings};
use ledger_execution::{build_chain, execute_genesis};
use ledger_store::{FileSize, Inspection, Store, WAL_BYTES_MAX, inspect_directory};
use ledger_types::{FrameworkUpgrade, Genesis};
use ledger_vm::Chain;
use std::path;

/// An open ledger.
#[derive(Debug)]
pub struct OpenLedger {
    /// The store of the ledger.
    pub store: Store,
    /// The genesis, with all framework upgrades.
    pub genesis: Genesis,
    /// The chain of the ledger.
    pub chain: Chain,
    /// The directory, and whether the ledger is new, in words.
    pub words: String,
}

/// Opens the ledger in the data directory, or an empty one in memory. Commits block 0 if it is
/// empty.
///
/// # Errors
///
/// Returns [`RunError::Fatal`] if the directory cannot be opened, read, or written. Returns
/// [`RunError::Configuration`] if it holds another chain than the configured one, or if the chain
/// cannot continue with the configured framework upgrades.
pub fn open_ledger(
    settings: &Settings,
    configured: ConfiguredGenesis,
) -> Result<OpenLedger, RunError> {
    let location = &*location(settings);
    let access_error =
        |error| RunError::fatal(format_args!("storage.data_dir = {location:?}"), &error);
    let contradiction = |cause: String| ConfigError::Contradiction(format!("{location}: {cause}"));
    let build =
        |genesis: &Genesis| build_chain(genesis).map_err(|error| contradiction(error.to_string()));
    let opened = match settings.storage.directory() {
        Some(directory) => {
            let check_bytes_max = settings.storage.check_bytes_max;
            Store::open_checked(directory, &settings.store, check_bytes_max)
        }
        None => Store::in_memory(&settings.store),
    };
    let mut store = opened.map_err(|error| RunError::fatal("storage.data_dir", &error))?;
    let stored = store.genesis().map_err(access_error)?.zip(store.height());
    let (genesis, chain, words) = match stored {
        None => {
            let genesis = configured.genesis;
            let chain = build(&genesis)?;
            store
                .initialize(&genesis, &execute_genesis(&genesis, &chain))
                .map_err(access_error)?;
            tracing::info!(directory = location, "created a ledger");
            (genesis, chain, format!("new, in {location}"))
        }
        Some((found, height)) => {
            let genesis = continued_genesis(&found, configured, height).map_err(contradiction)?;
            let chain = build(&genesis)?;
            if genesis != found {
                store.extend_genesis(&genesis).map_err(access_error)?;
                let upgrades =
                    FrameworkUpgrade::format_list(&genesis.parameters.framework_upgrades);
                tracing::info!(upgrades, "added framework upgrades");
            }
            tracing::info!(directory = location, height, "opened the ledger");
            let words = format!("continued from height {height}, in {location}");
            (genesis, chain, words)
        }
    };
    if store.height() == Some(0) {
        check_limit_of_empty_ledger(settings).map_err(ConfigError::Contradiction)?;
    }
    Ok(OpenLedger {
        store,
        genesis,
        chain,
        words,
    })
}

/// Checks that [`open_ledger`] can open the ledger in the data directory, without writing anything.
/// Returns what it would find there, in words.
///
/// # Errors
///
/// Returns the errors of [`open_ledger`], as far as they can be found without a replay of the log.
pub fn inspect_ledger(
    settings: &Settings,
    configured: ConfiguredGenesis,
) -> Result<String, RunError> {
    let Some(directory) = settings.storage.directory() else {
        return Ok("ledger in memory: none yet, a start creates it".to_owned());
    };
    let found = inspect_directory(directory, &settings.store, settings.storage.check_bytes_max)
        .map_err(|error| RunError::fatal("storage.data_dir", &error))?;
    let state = match found {
        Inspection::Empty => "none yet, a start creates it".to_owned(),
        Inspection::Unclosed => {
            "was not closed, so a start reads all of it, and only then compares the chain"
                .to_owned()
        }
        Inspection::Ledger { genesis, height } => {
            continued_genesis(&genesis, configured, height).map_err(|cause| {
                ConfigError::Contradiction(format!("{}: {cause}", directory.display()))
            })?;
            format!("of this chain, at height {height}")
        }
    };
    Ok(format!("ledger in {}: {state}", location(settings)))
}

/// Returns the absolute path of the data directory, whose setting is relative to the directory in
/// which the node was started, or that the ledger is in memory.
pub fn location(settings: &Settings) -> String {
    let Some(directory) = settings.storage.directory() else {
        return "memory".to_owned();
    };
    let absolute = path::absolute(directory);
    let absolute = absolute.unwrap_or_else(|_| directory.to_owned());
    absolute.display().to_string()
}

/// Checks that the ledger without blocks is within `pruner.window_bytes`. Its genesis may have many
/// accounts.
///
/// # Errors
///
/// Returns the message of an error that names both sizes.
fn check_limit_of_empty_ledger(settings: &Settings) -> Result<(), String> {
    let limit_bytes = settings.node.pruner.window_bytes;
    let size = match settings.storage.directory().map(FileSize::of) {
        Some(Ok(size)) if limit_bytes > 0 => size,
        _ => return Ok(()),
    };
    let bytes = size.disk_bytes.saturating_add(WAL_BYTES_MAX);
    if bytes <= limit_bytes {
        return Ok(());
    }
    Err(format!(
        "pruner.window_bytes = {limit_bytes} is below {bytes}, which this ledger may take without \
         a transaction; raise the limit, or set it to 0"
    ))
}

/// Returns the genesis with which a ledger continues. `found` is the genesis of the ledger, and
/// `height` the height of its newest block.
///
/// # Errors
///
/// Returns the reason if the configured genesis differs in anything but upgrades above `height`.
fn continued_genesis(
    found: &Genesis,
    configured: ConfiguredGenesis,
    height: u64,
) -> Result<Genesis, String> {
    let mut genesis = configured.genesis;
    let upgrades = found.parameters.framework_upgrades.clone();
    let wanted = std::mem::replace(&mut genesis.parameters.framework_upgrades, upgrades);
    if genesis != *found {
        return Err(format!(
            "it holds a ledger with another genesis than the configured one: {}; \
             configure that chain, or name another directory with --data-dir",
            difference(found, &genesis)
        ));
    }
    if configured.names_upgrades {
        genesis.parameters.framework_upgrades = wanted;
        let checked = found
            .parameters
            .check_upgrade_change(&genesis.parameters, height);
        checked.map_err(|error| error.to_string())?;
    }
    Ok(genesis)
}

/// Returns a description of the first difference that matters to an operator.
fn difference(found: &Genesis, configured: &Genesis) -> String {
    let differs = |what: &str, found: &dyn ToString, configured: &dyn ToString| {
        format!(
            "it has {what} {}, configured is {}",
            found.to_string(),
            configured.to_string()
        )
    };
    let price = |genesis: &Genesis| genesis.parameters.gas_unit_price_min;
    let has_handles = |genesis: &Genesis| genesis.parameters.coin_event_handles;
    let pays_framework = |genesis: &Genesis| genesis.parameters.transfers_to_framework;
    if found.chain_id != configured.chain_id {
        differs("chain id", &found.chain_id, &configured.chain_id)
    } else if found.vendor != configured.vendor {
        differs("vendor word", &found.vendor, &configured.vendor)
    } else if price(found) != price(configured) {
        differs("gas_unit_price_min", &price(found), &price(configured))
    } else if has_handles(found) != has_handles(configured) {
        differs(
            "coin_event_handles",
            &has_handles(found),
            &has_handles(configured),
        )
    } else if pays_framework(found) != pays_framework(configured) {
        differs(
            "transfers_to_framework",
            &pays_framework(found),
            &pays_framework(configured),
        )
    } else if found.development != configured.development {
        differs("development", &found.development, &configured.development)
    } else if found.validators != configured.validators {
        "it has other validators".to_owned()
    } else if found.parameters != configured.parameters {
        "its parameters differ".to_owned()
    } else {
        "its accounts or keys differ".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ledger_execution::development_genesis;
    use ledger_store::EMPTY_LEDGER_BYTES_MAX;
    use ledger_types::{Parameters, Vendor};

    fn development(upgrades: &str) -> Genesis {
        let parameters = Parameters {
            framework_upgrades: FrameworkUpgrade::parse_list(upgrades).unwrap(),
            ..Parameters::default()
        };
        development_genesis(4, Vendor::default(), parameters)
    }

    #[test]
    fn rejects_a_limit_below_the_size_of_the_ledger_without_blocks() {
        let directory = tempfile::tempdir().unwrap();
        let mut settings = Settings::default();
        settings.storage.data_dir = directory.path().join("data");
        let open = |settings: &Settings| {
            let configured = ConfiguredGenesis {
                genesis: development(""),
                names_upgrades: false,
            };
            open_ledger(settings, configured).map(drop)
        };
        settings.node.pruner.window_bytes = WAL_BYTES_MAX;
        // Also a later start, as long as there are no blocks.
        for _ in 0..2 {
            let error = open(&settings).unwrap_err();
            assert!(matches!(error, RunError::Configuration(_)), "{error:?}");
            let text = error.to_string();
            assert!(text.contains("pruner.window_bytes"), "{text}");
        }
        for limit_bytes in [0, EMPTY_LEDGER_BYTES_MAX] {
            settings.node.pruner.window_bytes = limit_bytes;
            open(&settings).unwrap();
        }
    }

    #[test]
    fn keeps_past_upgrades_and_adds_future_ones() {
        let continue_with = |found: &str, configured: &str, height| {
            let configured = ConfiguredGenesis {
                genesis: development(configured),
                names_upgrades: !configured.is_empty(),
            };
            continued_genesis(&development(found), configured, height)
        };
        // No upgrades are named: a ledger of an older node keeps its framework version.
        assert_eq!(continue_with("1@0", "", 10), Ok(development("1@0")));
        assert_eq!(
            continue_with("1@0", "1@0,2@11", 10),
            Ok(development("1@0,2@11"))
        );
        let late = continue_with("1@0", "1@0,2@10", 10).unwrap_err();
        assert!(
            late.contains("2@10") && late.contains("height 10"),
            "{late}"
        );
        let left_out = continue_with("1@0,2@9", "1@0", 10).unwrap_err();
        assert!(left_out.contains("2@9"), "{left_out}");
        let mut other = development("1@0,2@11");
        other.accounts.pop();
        let other = ConfiguredGenesis {
            genesis: other,
            names_upgrades: true,
        };
        let error = continued_genesis(&development("1@0"), other, 10).unwrap_err();
        assert!(error.contains("another genesis"), "{error}");
    }

    #[test]
    fn describes_the_difference_that_matters_to_an_operator() {
        let genesis = |id, vendor: &str| {
            development_genesis(id, vendor.parse().unwrap(), Parameters::default())
        };
        let base = genesis(4, Vendor::DEFAULT);
        let cases = [
            (genesis(5, "NODE"), "chain id 4, configured is 5"),
            (genesis(4, "OTHER"), "vendor word NODE, configured is OTHER"),
        ];
        for (configured, words) in cases {
            let text = difference(&base, &configured);
            assert!(text.contains(words), "{text}");
        }
        let mut silent = base.clone();
        silent.parameters.coin_event_handles = false;
        let text = difference(&base, &silent);
        let words = "coin_event_handles true, configured is false";
        assert!(text.contains(words), "{text}");
        let mut poorer = base.clone();
        poorer.accounts.pop();
        assert!(difference(&base, &poorer).contains("accounts"));
    }
}
