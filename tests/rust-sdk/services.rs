//! Calls of the services beside the node: the faucet, an indexer, the registry of names.

use crate::{
    Session,
    table::{Group, Table},
};
use aptos_sdk::{
    account::Ed25519Account,
    api::{AnsClient, FaucetClient, IndexerClient},
};
use serde_json::Value;

/// Queries of data that an indexer derives from the ledger.
const INDEXER: Group = Group {
    result: "needs an indexer",
    reason: "reads data that an indexer derives from the ledger",
    rejection: "this node has no indexer",
};
/// Reads of the registry of names.
const NAMES: Group = Group {
    result: "differs",
    reason: "calls the registry of names, which exists at fixed addresses of public networks",
    rejection: "could not find",
};
/// Calls the methods of the faucet's client.
pub async fn faucet(client: &FaucetClient, table: &mut Table) {
    let address = Ed25519Account::generate().address();
    table.works("FaucetClient.fund", client.fund(address, 1).await);
    table.works(
        "FaucetClient.fund_default",
        client.fund_default(address).await,
    );
    table.works(
        "FaucetClient.create_and_fund",
        client.create_and_fund(1).await,
    );
}

/// Calls the methods of the indexer's client.
pub async fn indexer(session: &Session, client: &IndexerClient, table: &mut Table) {
    let owner = session.owner.address();
    let name = |method: &str| format!("IndexerClient.{method}");
    let query = client
        .query::<Value>("{ user_transactions(limit: 1) { version } }", None)
        .await;
    table.rejected(&name("query"), query, &INDEXER);
    let found = client.get_fungible_asset_balances(owner).await;
    table.rejected(&name("get_fungible_asset_balances"), found, &INDEXER);
    table.rejected(
        &name("get_account_tokens"),
        client.get_account_tokens(owner).await,
        &INDEXER,
    );
    let found = client.get_account_tokens_paginated(owner, None).await;
    table.rejected(&name("get_account_tokens_paginated"), found, &INDEXER);
    let found = client.get_account_transactions(owner, None).await;
    table.rejected(&name("get_account_transactions"), found, &INDEXER);
    let found = client.get_account_transactions_paginated(owner, None).await;
    table.rejected(&name("get_account_transactions_paginated"), found, &INDEXER);
    let found = client
        .get_events_by_type("0x1::coin::DepositEvent", None)
        .await;
    table.rejected(&name("get_events_by_type"), found, &INDEXER);
    let found = client.get_events_by_account(owner, None).await;
    table.rejected(&name("get_events_by_account"), found, &INDEXER);
    table.rejected(
        &name("get_collection"),
        client.get_collection(owner).await,
        &INDEXER,
    );
    let found = client.get_collection_tokens(owner, None).await;
    table.rejected(&name("get_collection_tokens"), found, &INDEXER);
    table.rejected(
        &name("get_coin_balances"),
        client.get_coin_balances(owner).await,
        &INDEXER,
    );
    let found = client.get_coin_activities(owner, None).await;
    table.rejected(&name("get_coin_activities"), found, &INDEXER);
    table.works(
        &name("get_processor_status"),
        client.get_processor_status().await,
    );
    table.works(
        &name("get_indexer_version"),
        client.get_indexer_version().await,
    );
    table.works(
        &name("check_indexer_lag"),
        client.check_indexer_lag(1, 1_000_000).await,
    );
}

/// Calls the methods of the client of the registry of names.
pub async fn names(session: &Session, table: &mut Table) {
    // The SDK knows no registry of a local network.
    let client = session.sdk.fullnode().clone();
    let client = AnsClient::with_router_address(client, session.owner.address());
    let owner = session.owner.address();
    let name = |method: &str| format!("AnsClient.{method}");
    table.rejected(
        &name("get_target_address"),
        client.get_target_address("name.apt").await,
        &NAMES,
    );
    table.rejected(
        &name("get_owner_address"),
        client.get_owner_address("name.apt").await,
        &NAMES,
    );
    table.rejected(
        &name("get_primary_name"),
        client.get_primary_name(owner).await,
        &NAMES,
    );
    table.rejected(
        &name("get_expiration"),
        client.get_expiration("name.apt").await,
        &NAMES,
    );
    table.rejected(&name("lookup"), client.lookup("name.apt").await, &NAMES);
    table.rejected(
        &name("reverse_lookup"),
        client.reverse_lookup(owner).await,
        &NAMES,
    );
}
