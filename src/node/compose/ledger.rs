//! Opening the data directory, starting the chain in an empty one, and taking on what may change in the
//! genesis of one that runs: further framework upgrades.

use super::ConfiguredGenesis;
use crate::{cli::Failure, config::ConfigError, config::Settings};
use ledger_execution::{build_chain, execute_genesis};
use ledger_store::Store;
use ledger_types::{FrameworkUpgrade, Genesis};
use ledger_vm::Chain;

/// A ledger that is ready to go on.
#[derive(Debug)]
pub struct OpenLedger {
    /// Where it is.
    pub store: Store,
    /// What it started with, and its framework upgrades.
    pub genesis: Genesis,
    /// The chain it holds.
    pub chain: Chain,
}

/// Opens the ledger in the data directory; block 0 is committed when there is none yet.
///
/// # Errors
/// When the directory cannot be used, holds another chain than the configured one, or its chain cannot
/// go on with the configured framework upgrades.
pub fn open_ledger(
    settings: &Settings,
    configured: ConfiguredGenesis,
) -> Result<OpenLedger, Failure> {
    let directory = &settings.storage.data_dir;
    let failure = |error| Failure::fatal("data directory", &error);
    let unwritten = |error| {
        Failure::fatal(
            format_args!("data directory {}", directory.display()),
            &error,
        )
    };
    let refusal =
        |cause: String| ConfigError::Contradiction(format!("{}: {cause}", directory.display()));
    let started =
        |genesis: &Genesis| build_chain(genesis).map_err(|error| refusal(error.to_string()));
    let check_bytes_max = settings.storage.check_bytes_max;
    let opened = Store::open_checked(directory, &settings.store, check_bytes_max);
    let mut store = opened.map_err(failure)?;
    let stored = store.genesis().map_err(unwritten)?.zip(store.height());
    let (genesis, chain) = match stored {
        None => {
            let genesis = configured.genesis;
            let chain = started(&genesis)?;
            store
                .initialize(&genesis, &execute_genesis(&genesis, &chain))
                .map_err(unwritten)?;
            tracing::info!(directory = %directory.display(), "a new ledger begins");
            (genesis, chain)
        }
        Some((found, height)) => {
            let genesis = continued(&found, configured, height).map_err(refusal)?;
            let chain = started(&genesis)?;
            if genesis != found {
                store.extend_genesis(&genesis).map_err(unwritten)?;
                let upgrades =
                    FrameworkUpgrade::format_list(&genesis.parameters.framework_upgrades);
                tracing::info!(upgrades, "the chain takes on framework upgrades");
            }
            tracing::info!(directory = %directory.display(), "the ledger continues");
            (genesis, chain)
        }
    };
    Ok(OpenLedger {
        store,
        genesis,
        chain,
    })
}

/// The genesis with which a ledger goes on that was started with `found` and has its newest block at
/// `height`: the configured one, if it differs in nothing but upgrades ahead of that block.
fn continued(
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
        let goes_on = found
            .parameters
            .check_upgrade_change(&genesis.parameters, height);
        goes_on.map_err(|error| error.to_string())?;
    }
    Ok(genesis)
}

/// The first difference that an operator would look for, in words.
fn difference(found: &Genesis, configured: &Genesis) -> String {
    let differs = |what: &str, found: &dyn ToString, configured: &dyn ToString| {
        format!(
            "it has {what} {}, configured is {}",
            found.to_string(),
            configured.to_string()
        )
    };
    let price = |genesis: &Genesis| genesis.parameters.gas_unit_price_min;
    if found.chain_id != configured.chain_id {
        differs("chain id", &found.chain_id, &configured.chain_id)
    } else if found.vendor != configured.vendor {
        differs("vendor word", &found.vendor, &configured.vendor)
    } else if price(found) != price(configured) {
        differs("gas_unit_price_min", &price(found), &price(configured))
    } else if found.development != configured.development {
        differs("development", &found.development, &configured.development)
    } else if found.parameters != configured.parameters {
        "its parameters are others".to_owned()
    } else {
        "its accounts or keys are others".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ledger_execution::development_genesis;
    use ledger_types::{Parameters, Vendor};

    fn development(upgrades: &str) -> Genesis {
        let parameters = Parameters {
            framework_upgrades: FrameworkUpgrade::parse_list(upgrades).unwrap(),
            ..Parameters::default()
        };
        development_genesis(4, Vendor::default(), parameters)
    }

    #[test]
    fn a_ledger_keeps_its_upgrades_and_takes_on_those_ahead() {
        let go_on = |found: &str, configured: &str, height| {
            let configured = ConfiguredGenesis {
                genesis: development(configured),
                names_upgrades: !configured.is_empty(),
            };
            continued(&development(found), configured, height)
        };
        // Nothing is said: a ledger of an earlier program does not run this one's newest version.
        assert_eq!(go_on("1@0", "", 10), Ok(development("1@0")));
        assert_eq!(go_on("1@0", "1@0,2@11", 10), Ok(development("1@0,2@11")));
        let late = go_on("1@0", "1@0,2@10", 10).unwrap_err();
        assert!(
            late.contains("2@10") && late.contains("height 10"),
            "{late}"
        );
        let left_out = go_on("1@0,2@9", "1@0", 10).unwrap_err();
        assert!(left_out.contains("2@9"), "{left_out}");
        let mut other = development("1@0,2@11");
        other.accounts.pop();
        let other = ConfiguredGenesis {
            genesis: other,
            names_upgrades: true,
        };
        let error = continued(&development("1@0"), other, 10).unwrap_err();
        assert!(error.contains("another genesis"), "{error}");
    }

    #[test]
    fn the_difference_names_what_an_operator_would_look_for() {
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
        let mut poorer = base.clone();
        poorer.accounts.pop();
        assert!(difference(&base, &poorer).contains("accounts"));
    }
}
