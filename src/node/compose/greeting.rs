//! What a node prints when it serves: its addresses, its ledger, and the accounts of a development
//! chain.

use super::error::RunError;
use ledger_actors::NodeHandle;
use ledger_execution::genesis::{DEVELOPMENT_ACCOUNT_COUNT, DevelopmentAccount, numbered_accounts};
use ledger_framework::{AssetType, balance};
use ledger_limits::{Demand, Work, WorkKind};
use ledger_store::Snapshot;
use ledger_types::{AccountAddress, Genesis};
use std::collections::BTreeSet;

/// The words of a node that serves.
#[derive(Debug)]
pub struct Greeting {
    /// The ready line.
    pub ready: String,
    /// The ledger: its directory, and whether it is new.
    pub ledger: String,
    /// The genesis of the chain.
    pub genesis: Genesis,
    /// The funded accounts of a development chain. Others have none, because their keys are secret.
    pub accounts: Vec<FundedAccount>,
}

/// A funded account of a development chain.
#[derive(Debug)]
pub struct FundedAccount {
    /// The account with its public key pair.
    pub account: DevelopmentAccount,
    /// What it holds now, in the coin's smallest unit.
    pub balance: u64,
}

/// Returns the funded accounts of a development chain with their balances.
///
/// # Errors
///
/// Returns [`RunError::Fatal`] if the ledger cannot be read.
pub async fn funded_accounts(
    node: &NodeHandle,
    genesis: &Genesis,
) -> Result<Vec<FundedAccount>, RunError> {
    if !genesis.development {
        return Ok(Vec::new());
    }
    // A genesis file may fund only some of them.
    let in_genesis: BTreeSet<_> = genesis.accounts.iter().map(|it| it.address).collect();
    let count = u16::try_from(in_genesis.len()).unwrap_or(u16::MAX);
    let accounts: Vec<_> = numbered_accounts(count.max(DEVELOPMENT_ACCOUNT_COUNT))
        .filter(|account| in_genesis.contains(&account.address))
        .collect();
    let addresses: Vec<_> = accounts.iter().map(|account| account.address).collect();
    let chain = node.chain().clone();
    let query = move |snapshot: &Snapshot| {
        let coin = AssetType::FungibleAsset(AccountAddress::NATIVE_ASSET);
        snapshot.read_state(snapshot.ledger_info().version, |state| {
            let balances = addresses.iter();
            balances
                .map(|address| balance(&chain, state, address, &coin))
                .collect::<Result<Vec<_>, _>>()
        })
    };
    let work = Work::of_node(WorkKind::PointRead, Demand::rows(accounts.len()));
    let (_, balances) = node
        .read(work, query)
        .await
        .map_err(|error| RunError::fatal("reading the balances of the accounts", &error))?;
    let funded = accounts.into_iter().zip(balances);
    let funded = funded.map(|(account, balance)| FundedAccount { account, balance });
    Ok(funded.collect())
}
