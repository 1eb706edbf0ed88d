//! The chain of a genesis, in words.

use ledger_execution::{build_chain, execute_genesis};
use ledger_types::{FrameworkUpgrade, Genesis, GenesisError};

/// Returns a description of the chain, one value a line. Nodes with the same hash run the same chain.
///
/// # Errors
///
/// Returns the error of [`build_chain`].
pub fn describe_chain(genesis: &Genesis) -> Result<String, GenesisError> {
    let parameters = &genesis.parameters;
    let chain = build_chain(genesis)?;
    let hash = execute_genesis(genesis, &chain).tip.block_hash;
    let (accounts, supply) = (genesis.accounts.len(), genesis.supply());
    let holders = match supply {
        0 => "nobody holds coins".to_owned(),
        _ => {
            let holders = match accounts {
                1 => "1 account holds".to_owned(),
                count => format!("{count} accounts hold"),
            };
            format!("{holders} {supply} of the coin's smallest unit")
        }
    };
    let order = match genesis.validators.len() {
        0 => "one node orders the blocks".to_owned(),
        1 => "1 validator decides the blocks".to_owned(),
        count => format!("{count} validators agree on the blocks"),
    };
    let upgrades = match FrameworkUpgrade::format_list(&parameters.framework_upgrades).as_str() {
        "" => "1@0".to_owned(),
        upgrades => upgrades.to_owned(),
    };
    let handles = match parameters.coin_event_handles {
        true => "event streams of each new store",
        false => "events of transactions only",
    };
    let kind = match genesis.development {
        true => "\ndevelopment: its keys are public, never for value",
        false => "",
    };
    Ok(format!(
        "chain id {}\n\
         vendor word {}\n\
         genesis hash {hash}\n\
         supply: {holders}\n\
         order: {order}\n\
         gas unit price {} to {}\n\
         deposits and withdrawals of coins: {handles}\n\
         framework versions {upgrades} (VERSION@HEIGHT){kind}",
        genesis.chain_id,
        genesis.vendor,
        parameters.gas_unit_price_min,
        parameters.gas_unit_price_max,
    ))
}

/// Returns the accounts with their balances, one a line, or an empty text if there are none.
pub fn describe_accounts(genesis: &Genesis) -> String {
    let lines = genesis.accounts.iter().map(|account| {
        let address = account.address.to_long_hex();
        format!("\n  account {address} holds {}", account.balance)
    });
    lines.collect()
}
