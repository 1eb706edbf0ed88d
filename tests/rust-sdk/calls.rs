//! Calls every method of the Rust SDK that sends requests, against a node with the preset of SDKs,
//! and compares the table of docs/reference/sdks.md with the results.
//!
//! `UPDATE_GOLDEN=1` writes the table. The node is the program of `LEDGER_NODE_BIN`.

mod node;
mod services;
mod table;

use aptos_sdk::{
    AccountAddress, Aptos, AptosConfig, AptosResult, HashValue,
    account::Ed25519Account,
    api::{FaucetClient, IndexerClient},
    transaction::{
        BatchTransactionResult, EntryFunction, FeePayerRawTransaction, InputEntryFunctionData,
        MultiAgentRawTransaction, SignedTransaction, SimulateQueryOptions, TransactionPayload,
        builder::sign_transaction,
    },
    types::TypeTag,
};
use node::Node;
use serde_json::{Value, json};
use table::{Group, Table};

type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

const COIN: &str = "0x1::aptos_coin::AptosCoin";
const FUNDED: u64 = 1_000_000_000;

/// Calls of the framework for tokens.
const TOKENS: Group = Group {
    result: "differs",
    reason: "calls `0x4::token`, which the node does not have",
    rejection: "CONSTRAINT_NOT_SATISFIED",
};

/// A node, the SDK's client of it, and an account that holds coins.
struct Session {
    sdk: Aptos,
    owner: Ed25519Account,
}

impl Session {
    /// Returns a new account that holds coins.
    async fn funded(&self) -> AptosResult<Ed25519Account> {
        self.sdk.create_funded_account(FUNDED).await
    }

    /// Returns the payload of a transfer to a new account.
    fn transfer(&self) -> AptosResult<TransactionPayload> {
        let recipient = Ed25519Account::generate().address();
        Ok(EntryFunction::apt_transfer(recipient, 1)?.into())
    }

    /// Returns a signed transfer to a new account.
    async fn signed(&self) -> AptosResult<SignedTransaction> {
        let raw = self
            .sdk
            .build_transaction(&self.owner, self.transfer()?)
            .await?;
        sign_transaction(&raw, &self.owner)
    }
}

/// Asserts that all transactions of a batch were accepted.
fn all(results: Vec<BatchTransactionResult>) -> AptosResult<()> {
    for one in results {
        one.result?;
    }
    Ok(())
}

#[tokio::main]
async fn main() -> Result<()> {
    let node = Node::start()?;
    let config = AptosConfig::custom(&format!("{}/v1", node.api))?
        .with_faucet_url(&node.faucet)?
        .with_indexer_url(&format!("{}/v1/graphql", node.graphql))?;
    let sdk = Aptos::new(config.clone())?;
    let mut table = Table::default();
    let owner = table.works(
        "Aptos.create_funded_account",
        sdk.create_funded_account(FUNDED).await,
    );
    let session = Session { sdk, owner };
    reads(&session, &mut table).await?;
    transactions(&session, &mut table).await?;
    simulations(&session, &mut table).await?;
    transfers(&session, &mut table).await?;
    batches(&session, &mut table).await?;
    fullnode(&session, &mut table).await?;
    services::faucet(&FaucetClient::new(&config)?, &mut table).await;
    services::indexer(&session, &IndexerClient::new(&config)?, &mut table).await;
    services::names(&session, &mut table).await;
    table.check()
}

async fn reads(session: &Session, table: &mut Table) -> Result<()> {
    let (sdk, owner) = (&session.sdk, session.owner.address());
    table.works("Aptos.ledger_info", sdk.ledger_info().await);
    table.works("Aptos.ensure_chain_id", sdk.ensure_chain_id().await);
    assert_eq!(
        table.works("Aptos.get_balance", sdk.get_balance(owner).await),
        FUNDED
    );
    table.works(
        "Aptos.get_sequence_number",
        sdk.get_sequence_number(owner).await,
    );
    assert!(table.works("Aptos.account_exists", sdk.account_exists(owner).await));
    table.works("Aptos.fund_account", sdk.fund_account(owner, 1).await);
    let function = "0x1::coin::balance";
    let arguments = vec![json!(owner.to_string())];
    let balance = sdk.view(function, vec![COIN.to_owned()], arguments).await;
    assert_eq!(
        table.works("Aptos.view", balance),
        [json!((FUNDED + 1).to_string())]
    );
    let bytes = owner.to_bytes().to_vec();
    let types = || vec![COIN.to_owned()];
    let decoded = sdk
        .view_bcs::<Vec<u64>>(function, types(), vec![bytes.clone()])
        .await;
    assert_eq!(table.works("Aptos.view_bcs", decoded), [FUNDED + 1]);
    table.works(
        "Aptos.view_bcs_raw",
        sdk.view_bcs_raw(function, types(), vec![bytes]).await,
    );
    Ok(())
}

/// Returns the arguments of a read of a table item of `owner`.
async fn registered(session: &Session) -> Result<(String, &'static str, &'static str, Value)> {
    let sdk = &session.sdk;
    let initialize = InputEntryFunctionData::new("0x1::registry::initialize").build()?;
    sdk.sign_submit_and_wait(&session.owner, initialize, None)
        .await?;
    let set = InputEntryFunctionData::new("0x1::registry::set")
        .arg("name")
        .arg(vec![7u8])
        .build()?;
    sdk.sign_submit_and_wait(&session.owner, set, None).await?;
    let kind = "0x1::registry::Registry";
    let resource = sdk
        .fullnode()
        .get_account_resource(session.owner.address(), kind)
        .await?;
    let handle = resource.data.data["records"]["inner"]["handle"]
        .as_str()
        .unwrap_or_default();
    Ok((
        handle.to_owned(),
        "0x1::string::String",
        "0x1::registry::Record",
        json!("name"),
    ))
}

async fn transactions(session: &Session, table: &mut Table) -> Result<()> {
    let (sdk, owner) = (&session.sdk, &session.owner);
    let wait = async |hash: HashValue| sdk.fullnode().wait_for_transaction(&hash, None).await;
    let raw = sdk.build_transaction(owner, session.transfer()?).await;
    table.works("Aptos.build_transaction", raw);
    let pending = sdk.sign_and_submit(owner, session.transfer()?).await;
    wait(table.works("Aptos.sign_and_submit", pending).data.hash).await?;
    let done = sdk
        .sign_submit_and_wait(owner, session.transfer()?, None)
        .await;
    table.works("Aptos.sign_submit_and_wait", done);
    let raw = sdk
        .build_orderless_transaction(owner, session.transfer()?, None)
        .await;
    table.works("Aptos.build_orderless_transaction", raw);
    let pending = sdk
        .sign_and_submit_orderless(owner, session.transfer()?, None)
        .await;
    wait(
        table
            .works("Aptos.sign_and_submit_orderless", pending)
            .data
            .hash,
    )
    .await?;
    let done = sdk
        .sign_submit_and_wait_orderless(owner, session.transfer()?, None, None)
        .await;
    table.works("Aptos.sign_submit_and_wait_orderless", done);
    let pending = sdk.submit_transaction(&session.signed().await?).await;
    wait(table.works("Aptos.submit_transaction", pending).data.hash).await?;
    let done = sdk.submit_and_wait(&session.signed().await?, None).await;
    table.works("Aptos.submit_and_wait", done);
    let (handle, key, value, name) = registered(session).await?;
    table.works(
        "Aptos.get_table_item",
        sdk.get_table_item(&handle, key, value, name.clone()).await,
    );
    let item = sdk
        .fullnode()
        .get_table_item(&handle, key, value, name)
        .await;
    table.works("FullnodeClient.get_table_item", item);
    let (rotated, new) = (session.funded().await?, Ed25519Account::generate());
    table.works(
        "Aptos.rotate_auth_key",
        sdk.rotate_auth_key(&rotated, &new, None).await,
    );
    Ok(())
}

async fn simulations(session: &Session, table: &mut Table) -> Result<()> {
    let (sdk, owner) = (&session.sdk, &session.owner);
    let signed = session.signed().await?.for_simulate_endpoint();
    table.works(
        "Aptos.simulate_transaction",
        sdk.simulate_transaction(&signed).await,
    );
    let simulated = table.works(
        "Aptos.simulate",
        sdk.simulate(owner, session.transfer()?).await,
    );
    assert!(simulated.success(), "{}", simulated.vm_status());
    table.works("Aptos.simulate_signed", sdk.simulate_signed(&signed).await);
    let options = SimulateQueryOptions::new().estimate_gas_unit_price(true);
    let simulated = sdk.simulate_signed_with_options(&signed, options).await;
    table.works("Aptos.simulate_signed_with_options", simulated);
    let other = session.funded().await?.address();
    let raw = sdk.build_transaction(owner, session.transfer()?).await?;
    let several = MultiAgentRawTransaction::new(raw.clone(), vec![other]);
    table.works(
        "Aptos.simulate_multi_agent",
        sdk.simulate_multi_agent(&several, None).await,
    );
    let sponsored = FeePayerRawTransaction::new_simple(raw, other);
    let simulated = sdk.simulate_fee_payer(&sponsored, None).await;
    assert!(table.works("Aptos.simulate_fee_payer", simulated).success());
    table.works(
        "Aptos.estimate_gas",
        sdk.estimate_gas(owner, session.transfer()?).await,
    );
    let pending = sdk.simulate_and_submit(owner, session.transfer()?).await;
    let hash = table.works("Aptos.simulate_and_submit", pending).data.hash;
    sdk.fullnode().wait_for_transaction(&hash, None).await?;
    let done = sdk
        .simulate_submit_and_wait(owner, session.transfer()?, None)
        .await;
    table.works("Aptos.simulate_submit_and_wait", done);
    Ok(())
}

async fn transfers(session: &Session, table: &mut Table) -> Result<()> {
    let (sdk, owner) = (&session.sdk, &session.owner);
    let recipient = session.funded().await?.address();
    table.works(
        "Aptos.transfer_apt",
        sdk.transfer_apt(owner, recipient, 1).await,
    );
    let coin: TypeTag = TypeTag::from_str_strict(COIN)?;
    table.works(
        "Aptos.transfer_coin",
        sdk.transfer_coin(owner, recipient, coin, 1).await,
    );
    let metadata = AccountAddress::from_hex("0xa")?;
    let done = sdk
        .transfer_fungible_asset(owner, metadata, recipient, 1)
        .await;
    table.works("Aptos.transfer_fungible_asset", done);
    let create = InputEntryFunctionData::new("0x1::managed_object::create_named")
        .arg("a seed")
        .build()?;
    let done = sdk.sign_submit_and_wait(owner, create, None).await?;
    let changes = done.data["changes"].as_array().into_iter().flatten();
    let mut cores = changes.filter(|change| change["data"]["type"] == "0x1::object::ObjectCore");
    let object = cores
        .next()
        .and_then(|core| core["address"].as_str())
        .unwrap_or_default();
    let object = AccountAddress::from_hex(object)?;
    let done = sdk.transfer_digital_asset(owner, object, recipient).await;
    table.rejected("Aptos.transfer_digital_asset", done, &TOKENS);
    table.works(
        "Aptos.transfer_object",
        sdk.transfer_object(owner, object, recipient).await,
    );
    Ok(())
}

async fn batches(session: &Session, table: &mut Table) -> Result<()> {
    let (sdk, client) = (&session.sdk, session.sdk.fullnode());
    let batch = sdk.batch();
    let two = || -> AptosResult<_> { Ok(vec![session.transfer()?, session.transfer()?]) };
    let transfers = || vec![(Ed25519Account::generate().address(), 1)];
    // Each has an account of its own, whose sequence number no pending transaction changes.
    let sender = async || session.funded().await;
    let built = async || batch.build(&sender().await?, two()?).await;
    table.works("BatchOperations.build", built().await);
    let sent = batch.submit(&sender().await?, two()?).await;
    table.works("BatchOperations.submit", sent.and_then(all));
    let sent = batch.submit_and_wait(&sender().await?, two()?, None).await;
    table.works("BatchOperations.submit_and_wait", sent.and_then(all));
    let sent = batch.transfer_apt(&sender().await?, transfers()).await;
    table.works("BatchOperations.transfer_apt", sent.and_then(all));
    let sent = sdk.submit_batch(&sender().await?, two()?).await;
    table.works("Aptos.submit_batch", sent.and_then(all));
    let sent = sdk
        .submit_batch_and_wait(&sender().await?, two()?, None)
        .await;
    table.works("Aptos.submit_batch_and_wait", sent.and_then(all));
    let sent = sdk.batch_transfer_apt(&sender().await?, transfers()).await;
    table.works("Aptos.batch_transfer_apt", sent.and_then(all));
    let name = |method: &str| format!("SignedTransactionBatch.{method}");
    let sent = built().await?.submit_all(client).await;
    table.works(&name("submit_all"), all(sent));
    let sent = built().await?.submit_and_wait_all(client, None).await;
    table.works(&name("submit_and_wait_all"), all(sent));
    let sent = built().await?.submit_sequential(client).await;
    table.works(&name("submit_sequential"), all(sent));
    let sent = built()
        .await?
        .submit_and_wait_sequential(client, None)
        .await;
    table.works(&name("submit_and_wait_sequential"), all(sent));
    Ok(())
}

async fn fullnode(session: &Session, table: &mut Table) -> Result<()> {
    let (client, owner) = (session.sdk.fullnode(), session.owner.address());
    let name = |method: &str| format!("FullnodeClient.{method}");
    table.works(&name("get_ledger_info"), client.get_ledger_info().await);
    table.works(&name("get_account"), client.get_account(owner).await);
    table.works(
        &name("get_sequence_number"),
        client.get_sequence_number(owner).await,
    );
    table.works(
        &name("get_account_balance"),
        client.get_account_balance(owner).await,
    );
    table.works(
        &name("get_account_resources"),
        client.get_account_resources(owner).await,
    );
    let page = client
        .get_account_resources_paginated(AccountAddress::ONE, None, Some(1))
        .await;
    assert!(
        table
            .works(&name("get_account_resources_paginated"), page)
            .cursor
            .is_some()
    );
    let resource = client
        .get_account_resource(owner, "0x1::account::Account")
        .await;
    table.works(&name("get_account_resource"), resource);
    let framework = AccountAddress::ONE;
    table.works(
        &name("get_account_modules"),
        client.get_account_modules(framework).await,
    );
    let page = client
        .get_account_modules_paginated(framework, None, Some(1))
        .await;
    table.works(&name("get_account_modules_paginated"), page);
    table.works(
        &name("get_account_module"),
        client.get_account_module(framework, "coin").await,
    );
    table.works(
        &name("estimate_gas_price"),
        client.estimate_gas_price().await,
    );
    let function = "0x1::chain_id::get";
    table.works(&name("view"), client.view(function, vec![], vec![]).await);
    table.works(
        &name("view_bcs"),
        client.view_bcs(function, vec![], vec![]).await,
    );
    table.works(
        &name("view_bcs_args"),
        client.view_bcs_args(function, vec![], vec![]).await,
    );
    let events = client
        .get_events_by_creation_number(owner, 0, None, None)
        .await;
    table.works(&name("get_events_by_creation_number"), events);
    let kind = "0x1::account::Account";
    let events = client.get_events_by_event_handle(owner, kind, "coin_register_events", None, None);
    table.works(&name("get_events_by_event_handle"), events.await);
    let signed = session.signed().await?;
    table.works(
        &name("submit_transaction"),
        client.submit_transaction(&signed).await,
    );
    let hash = signed.hash()?;
    let done = client.wait_for_transaction(&hash, None).await;
    let done = table.works(&name("wait_for_transaction"), done).data;
    let version: u64 = done["version"].as_str().unwrap_or_default().parse()?;
    let signed = session.signed().await?;
    table.works(
        &name("submit_and_wait"),
        client.submit_and_wait(&signed, None).await,
    );
    table.works(
        &name("get_transaction_by_hash"),
        client.get_transaction_by_hash(&hash).await,
    );
    let read = client.get_transaction_by_version(version).await;
    assert_eq!(
        table.works(&name("get_transaction_by_version"), read).data,
        done
    );
    table.works(
        &name("get_transactions"),
        client.get_transactions(Some(version), Some(1)).await,
    );
    let page = client.get_account_transactions(owner, None, Some(1)).await;
    table.works(&name("get_account_transactions"), page);
    table.works(
        &name("get_block_by_height"),
        client.get_block_by_height(1, true).await,
    );
    table.works(
        &name("get_block_by_version"),
        client.get_block_by_version(version, true).await,
    );
    let signed = session.signed().await?.for_simulate_endpoint();
    table.works(
        &name("simulate_transaction"),
        client.simulate_transaction(&signed).await,
    );
    let simulated = client
        .simulate_transaction_with_options(&signed, None)
        .await;
    table.works(&name("simulate_transaction_with_options"), simulated);
    Ok(())
}
