//! Ledgers for the tests: one with transactions of every kind, and one with pruned blocks.

use crate::kit::{Settings, TestApi, Transfer, ledger_headers, ok_json};
use ledger_actors::WaitConfig;
use ledger_types::{AccountAddress, SignedTransaction};
use serde_json::{Value, json};

/// The resource with the event handles of a primary store.
pub const STORE_EVENTS: &str = "0x1::fungible_asset::FungibleAssetEvents";

/// The coin store of the chain's coin, percent-encoded as in a path. Its streams are those of the
/// primary store.
pub const STORE: &str = "0x1::coin::CoinStore%3C0x1::node_coin::NodeCoin%3E";

/// The key of the only record, in BCS.
pub const RECORD_KEY: &str = "0x046e616d65";

/// Starts a node with a wait timeout of 10 ms.
pub async fn start_with_short_waits() -> TestApi {
    let mut settings = Settings::default();
    settings.node.wait = WaitConfig {
        timeout_ms: 10,
        ..WaitConfig::default()
    };
    TestApi::start(settings).await
}

/// A node with seven blocks: genesis, three transfers of 7 to `0xb0b` by the first development
/// account, a registry of the second one with a record, and an orderless transfer of the first.
/// Each block but genesis has three transactions, so the versions are 0 to 18.
pub struct History {
    pub api: TestApi,
    /// The committed form of the transfers.
    pub transfers: Vec<Value>,
    /// The committed form of the transaction that set the record.
    pub record: Value,
    /// The committed form of the orderless transfer.
    pub orderless: Value,
    /// The table of records.
    pub table: String,
}

/// The newest version of a [`History`].
pub const NEWEST: u64 = 18;

impl History {
    pub async fn start() -> Self {
        Self::start_with(Settings::default()).await
    }

    pub async fn start_with(settings: Settings) -> Self {
        let api = TestApi::start(settings).await;
        let mut transfers = Vec::new();
        for sequence_number in 0..3 {
            transfers.push(api.commit(&Transfer::new(0, sequence_number)).await);
        }
        let created = Transfer::new(1, 0).sign_call(&api.chain, "0x1::registry::initialize", &[]);
        api.commit_signed(&created).await;
        let arguments = [json!("name"), json!("0xab")];
        let set = Transfer::new(1, 1).sign_call(&api.chain, "0x1::registry::set", &arguments);
        let record = api.commit_signed(&set).await;
        assert_eq!(record["success"], true, "{record}");
        let orderless = api.commit_signed(&orderless(&api, 0, 5)).await;
        let registry = format!(
            "/v1/accounts/{}/resource/0x1::registry::Registry",
            Transfer::new(1, 0).sender()
        );
        let registry = ok_json(&api.client.get(&registry).await);
        let table = registry["data"]["records"]["inner"]["handle"]
            .as_str()
            .unwrap();
        Self {
            transfers,
            record,
            orderless,
            table: table.to_owned(),
            api,
        }
    }

    /// Returns the account that sent the transfers.
    pub fn sender(&self) -> AccountAddress {
        Transfer::new(0, 0).sender()
    }

    /// Returns the account that owns the registry.
    pub fn owner(&self) -> AccountAddress {
        Transfer::new(1, 0).sender()
    }

    pub async fn get(&self, path: &str) -> Value {
        ok_json(&self.api.client.get(path).await)
    }
}

/// Returns an orderless transfer of 7 to `0xb0b` by a development account.
pub fn orderless(api: &TestApi, from: usize, nonce: u64) -> SignedTransaction {
    Transfer::orderless(from).sign_with_nonce(&api.chain, nonce)
}

/// Returns a transaction that stays pending, because its predecessor is missing.
pub fn parked(api: &TestApi) -> SignedTransaction {
    Transfer::new(2, 5).sign(&api.chain)
}

/// A node with nine blocks that retains six versions, which are two blocks. Its pruner is idle.
pub struct Pruned {
    pub api: TestApi,
    /// The committed form of the eight transfers of 7 to `0xb0b` by the first development account.
    pub transfers: Vec<Value>,
    /// The oldest retained version, which is the first of its block.
    pub oldest: u64,
    pub oldest_height: u64,
    pub newest: u64,
}

/// Number of versions in a block of one transfer.
const VERSIONS_PER_BLOCK: u64 = 3;

impl Pruned {
    pub async fn start() -> Self {
        const TRANSFERS: u64 = 8;
        let window = 2 * VERSIONS_PER_BLOCK;
        let api = TestApi::start(Settings::with_window(window)).await;
        // The only transaction of this sender and the only event of this stream are pruned.
        let single = Transfer {
            to: AccountAddress::from_low_u64(0xcafe),
            ..Transfer::new(1, 0)
        };
        api.commit(&single).await;
        let mut transfers = Vec::new();
        for sequence_number in 0..TRANSFERS {
            transfers.push(api.commit(&Transfer::new(0, sequence_number)).await);
            // Each pruning step ends before the next block starts another one.
            let newest = (sequence_number + 2) * VERSIONS_PER_BLOCK;
            wait_for_oldest(&api, (newest + 1).saturating_sub(window)).await;
        }
        let newest = (TRANSFERS + 1) * VERSIONS_PER_BLOCK;
        Self {
            api,
            transfers,
            oldest: newest + 1 - window,
            oldest_height: TRANSFERS,
            newest,
        }
    }

    pub fn sender(&self) -> AccountAddress {
        Transfer::new(0, 0).sender()
    }
}

/// Waits until the window begins at the first version of the block that contains `version`.
async fn wait_for_oldest(api: &TestApi, version: u64) {
    const TRIES_MAX: u32 = 100_000;
    let expected = match version {
        0 => 0,
        // Genesis is a block of one transaction.
        _ => (version - 1) / VERSIONS_PER_BLOCK * VERSIONS_PER_BLOCK + 1,
    };
    for _ in 0..TRIES_MAX {
        if ledger_headers(&api.client.get("/v1").await, "node")[2] == expected {
            return;
        }
    }
    panic!("the window does not begin with version {expected}");
}
