//! Opening the data directory, and starting the chain in an empty one.

use crate::{commands::Failure, config::ConfigError, config::Settings};
use ledger::{Chain, Genesis};
use ledger_store::{Store, StoreOptions};

/// Opens the ledger in the data directory; block 0 is committed when there is none yet.
///
/// # Errors
/// When the directory cannot be used, or holds another chain than the configured one.
pub fn open_ledger(settings: &Settings, genesis: &Genesis, chain: &Chain) -> Result<Store, Failure> {
    let directory = &settings.storage.data_dir;
    let options = StoreOptions {
        cache_bytes: settings.storage.cache_bytes,
    };
    let failure = |error| Failure::fatal("data directory", &error);
    let mut store = Store::open(directory, &options).map_err(failure)?;
    match store.genesis().map_err(failure)? {
        None => {
            let block = genesis.block(chain);
            store.initialize(genesis, &block).map_err(failure)?;
            tracing::info!(directory = %directory.display(), "a new ledger begins");
        }
        Some(found) if found != *genesis => {
            return Err(ConfigError::Contradiction(format!(
                "{} holds a ledger with another genesis than the configured one: {}; \
                 configure that chain, or name another directory with --data-dir",
                directory.display(),
                difference(&found, genesis)
            ))
            .into());
        }
        Some(_) => tracing::info!(directory = %directory.display(), "the ledger continues"),
    }
    Ok(store)
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
    use ledger::{Parameters, Vendor};

    #[test]
    fn the_difference_names_what_an_operator_would_look_for() {
        let genesis =
            |id, vendor: &str| Genesis::development(id, vendor.parse().unwrap(), Parameters::default());
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
