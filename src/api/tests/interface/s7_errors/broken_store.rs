//! A node whose disk cannot be read any more: what needs the store is 500 `internal_error`, and nothing of
//! the cause is told to the client.

use crate::{
    chain::{RECORD_KEY, STORE},
    kit::{Client, RawResponse, Transfer, good},
    rows::{Row, row},
};
use actix_web::{App, HttpServer};
use ledger_actors::{Node, NodeConfig};
use ledger_api::{ApiConfig, ApiState, Connection, configure};
use ledger_execution::{build_chain, development_genesis, execute_genesis};
use ledger_store::{Store, StoreOptions};
use ledger_types::{AccountAddress, Parameters, Vendor};
use ledger_vm::Chain;
use serde_json::{Value, json};
use std::{
    io,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
};

/// What the cause says.
const CAUSE: &str = "the disk is gone";

/// A disk in memory that fails to read once it is told so.
#[derive(Debug)]
struct Breakable {
    memory: redb::backends::InMemoryBackend,
    is_broken: Arc<AtomicBool>,
}

impl redb::StorageBackend for Breakable {
    fn len(&self) -> io::Result<u64> {
        self.memory.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        if self.is_broken.load(SeqCst) {
            return Err(io::Error::other(CAUSE));
        }
        self.memory.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.memory.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.memory.sync_data()
    }

    /// As a file, it grows.
    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let end = offset + data.len() as u64;
        if self.memory.len()? < end {
            self.memory.set_len(end)?;
        }
        self.memory.write(offset, data)
    }
}

/// A node of such a disk that broke after a few blocks.
struct Broken {
    client: Client,
    chain: Chain,
    /// The hash of the transaction of genesis.
    genesis: String,
    /// A table with a record.
    table: String,
    _node: Node,
}

/// Commits a record and a transfer, so that what is asked for has left the head, and breaks the disk.
async fn broken() -> Broken {
    let is_broken = Arc::new(AtomicBool::new(false));
    let [backend, log] = [Arc::clone(&is_broken), Arc::default()].map(|is_broken| Breakable {
        memory: redb::backends::InMemoryBackend::new(),
        is_broken,
    });
    let genesis = development_genesis(4, Vendor::default(), Parameters::default());
    let chain = build_chain(&genesis).unwrap();
    // Nothing of what was read stays in memory.
    let mut store = Store::open_backend(backend, log, &StoreOptions { cache_bytes: 0 }).unwrap();
    store
        .initialize(&genesis, &execute_genesis(&genesis, &chain))
        .unwrap();
    let node = Node::start(chain.clone(), store, None, NodeConfig::default())
        .await
        .unwrap();
    let config = ApiConfig {
        kept_answers_bytes_max: 0,
        ..ApiConfig::default()
    };
    let state = ApiState::new(node.handle(), config);
    let server = HttpServer::new(move || App::new().configure(|config| configure(config, &state)))
        .workers(1)
        .on_connect(|_, data| {
            data.insert(Rc::new(Connection::default()));
        })
        .disable_signals()
        .bind(("127.0.0.1", 0))
        .unwrap();
    let client = Client::new(server.addrs()[0], &chain);
    actix_web::rt::spawn(server.run());
    let owner = Transfer::new(0, 0).sender();
    let made = Transfer::new(0, 0).sign_call(&chain, "0x1::registry::initialize", &[]);
    // Large enough that no table fits into the one page that is read when it is opened.
    let arguments = [json!("name"), json!(format!("0x{}", "ab".repeat(8_000)))];
    let set = |number| Transfer::new(0, number).sign_call(&chain, "0x1::registry::set", &arguments);
    let transfer = |number| Transfer::new(0, number).sign(&chain);
    for signed in [made, set(1), set(2), transfer(3), transfer(4)] {
        assert_eq!(client.submit_bcs(&signed).await.status, 202);
        client.wait(&signed.hash(chain.vendor())).await;
    }
    let registry = format!("/v1/accounts/{owner}/resource/0x1::registry::Registry");
    let registry = good(&client.get(&registry).await);
    let table = registry["data"]["records"]["inner"]["handle"]
        .as_str()
        .unwrap();
    let genesis = good(&client.get("/v1/transactions/by_version/0").await);
    is_broken.store(true, SeqCst);
    Broken {
        client,
        chain,
        genesis: genesis["hash"].as_str().unwrap().to_owned(),
        table: table.to_owned(),
        _node: node,
    }
}

/// Holds each answer against its row, and tells all that are answered otherwise.
fn hold(answers: Vec<(Row, String, RawResponse)>) {
    let mut other = Vec::new();
    for (row, path, answer) in answers {
        if answer.status == row.status {
            row.holds(&answer, &path);
            assert!(!answer.text().contains(CAUSE), "{}", answer.text());
        } else {
            other.push((path, answer.status));
        }
    }
    assert!(other.is_empty(), "{other:#?}");
}

/// Every read of the ledger.
#[actix_web::test]
async fn reads_of_a_broken_disk_are_500() {
    let Broken {
        client,
        genesis: hash,
        _node,
        ..
    } = broken().await;
    let sender = Transfer::new(0, 0).sender();
    let rows = [
        (
            row("GET /transactions", 500, "internal_error"),
            "transactions".to_owned(),
        ),
        (
            row(
                "GET /transactions/by_hash/{txn_hash}",
                500,
                "internal_error",
            ),
            format!("transactions/by_hash/{hash}"),
        ),
        (
            row(
                "GET /transactions/wait_by_hash/{txn_hash}",
                500,
                "internal_error",
            ),
            format!("transactions/wait_by_hash/{hash}"),
        ),
        (
            row(
                "GET /transactions/by_version/{txn_version}",
                500,
                "internal_error",
            ),
            "transactions/by_version/0".to_owned(),
        ),
        (
            row("GET /transactions/auxiliary_info", 500, "internal_error"),
            "transactions/auxiliary_info?start_version=0".to_owned(),
        ),
        (
            row(
                "GET /blocks/by_height/{block_height}",
                500,
                "internal_error",
            ),
            "blocks/by_height/1?with_transactions=true".to_owned(),
        ),
        (
            row("GET /blocks/by_version/{version}", 500, "internal_error"),
            "blocks/by_version/1?with_transactions=true".to_owned(),
        ),
        (
            row("GET /accounts/{address}", 500, "internal_error"),
            format!("accounts/{sender}"),
        ),
        (
            row("GET /accounts/{address}/resources", 500, "internal_error"),
            format!("accounts/{sender}/resources"),
        ),
        (
            row(
                "GET /accounts/{address}/resource/{resource_type}",
                500,
                "internal_error",
            ),
            format!("accounts/{sender}/resource/{STORE}"),
        ),
        (
            row("GET /accounts/{address}/modules", 500, "internal_error"),
            "accounts/0x1/modules".to_owned(),
        ),
        (
            row(
                "GET /accounts/{address}/module/{module_name}",
                500,
                "internal_error",
            ),
            "accounts/0x1/module/coin".to_owned(),
        ),
        (
            row(
                "GET /accounts/{address}/balance/{asset_type}",
                500,
                "internal_error",
            ),
            format!("accounts/{sender}/balance/0xa"),
        ),
        (
            row(
                "GET /accounts/{address}/transactions",
                500,
                "internal_error",
            ),
            format!("accounts/{sender}/transactions"),
        ),
        (
            row(
                "GET /accounts/{address}/transaction_summaries",
                500,
                "internal_error",
            ),
            format!("accounts/{sender}/transaction_summaries"),
        ),
        (
            row(
                "GET /accounts/{address}/events/{creation_number}",
                500,
                "internal_error",
            ),
            "accounts/0xb0b/events/2".to_owned(),
        ),
        (
            row(
                "GET /accounts/{address}/events/{event_handle}/{field_name}",
                500,
                "internal_error",
            ),
            format!("accounts/{sender}/events/{STORE}/withdraw_events"),
        ),
    ];
    let mut answers = Vec::new();
    for (row, path) in rows {
        let answer = client.get(&format!("/v1/{path}")).await;
        answers.push((row, path, answer));
    }
    hold(answers);
}

/// The node rejects submissions after the first failed read, so each route gets a node of its own.
#[actix_web::test]
async fn submissions_on_a_broken_disk_are_500_and_later_ones_503() {
    let mut answers = Vec::new();
    for (row, path) in [
        (
            row("POST /transactions", 500, "internal_error"),
            "transactions",
        ),
        (
            row("POST /transactions/batch", 500, "internal_error"),
            "transactions/batch",
        ),
    ] {
        let Broken {
            client,
            chain,
            _node,
            ..
        } = broken().await;
        // The Head does not have the account of this sender, so it is read from the store.
        let transaction = Transfer::new(2, 0).json(&chain);
        let body = match path {
            "transactions" => transaction,
            _ => json!([transaction]),
        };
        let url = format!("/v1/{path}");
        let answer = client.post_json(&url, &body, "*/*").await;
        answers.push((row, path.to_owned(), answer));
        let later = client.post_json(&url, &body, "*/*").await;
        assert_eq!(later.status, 503, "{path}: {}", later.text());
    }
    hold(answers);
}

/// Requests that read the ledger through the state, which has no errors of the store.
#[actix_web::test]
async fn failed_reads_of_the_state_reject_later_submissions() {
    let sender = Transfer::new(0, 0).sender();
    let balance = format!("/v1/accounts/{sender}/balance/0xa");
    for path in [balance.as_str(), "/v1/view", "/v1/transactions/simulate"] {
        let Broken {
            client,
            chain,
            _node,
            ..
        } = broken().await;
        let answer = match path {
            "/v1/view" => client.post_json(path, &balance_call(), "*/*").await,
            "/v1/transactions/simulate" => client.post_json(path, &simulated(&chain), "*/*").await,
            _ => client.get(path).await,
        };
        assert_eq!(answer.status, 500, "{path}: {}", answer.text());
        let transaction = Transfer::new(2, 0).json(&chain);
        let later = client
            .post_json("/v1/transactions", &transaction, "*/*")
            .await;
        assert_eq!(later.status, 503, "{path}: {}", later.text());
    }
}

/// Returns a transaction to simulate.
fn simulated(chain: &Chain) -> Value {
    let mut transaction = Transfer::new(1, 0).json(chain);
    transaction["signature"]["signature"] = json!(format!("0x{}", "00".repeat(64)));
    transaction
}

/// Returns the call of a view function that reads a balance.
fn balance_call() -> Value {
    json!({
        "function": "0x1::coin::balance",
        "type_arguments": ["0x1::node_coin::NodeCoin"],
        "arguments": [Transfer::new(0, 0).sender().to_string()],
    })
}

/// Every other request with a body that reads the ledger.
#[actix_web::test]
async fn calls_on_a_broken_disk_are_500() {
    let Broken {
        client,
        chain,
        table,
        _node,
        ..
    } = broken().await;
    let handle: AccountAddress = table.parse().unwrap();
    let handle = &handle.to_long_hex()[2..];
    let item = json!({
        "key_type": "0x1::string::String",
        "value_type": "0x1::registry::Record",
        "key": "name",
    });
    let mut answers = Vec::new();
    for (row, path, body) in [
        (
            row("POST /transactions/simulate", 500, "internal_error"),
            "transactions/simulate",
            simulated(&chain),
        ),
        (
            row("POST /tables/{table_handle}/item", 500, "internal_error"),
            &format!("tables/{table}/item"),
            item,
        ),
        (
            row(
                "POST /tables/{table_handle}/raw_item",
                500,
                "internal_error",
            ),
            &format!("tables/{table}/raw_item"),
            json!({ "key": RECORD_KEY }),
        ),
        (
            row("POST /experimental/state_values/raw", 500, "internal_error"),
            "experimental/state_values/raw",
            json!({ "key": format!("0x01{handle}05{}", &RECORD_KEY[2..]) }),
        ),
        (
            row("POST /view", 500, "internal_error"),
            "view",
            balance_call(),
        ),
    ] {
        let answer = client.post_json(&format!("/v1/{path}"), &body, "*/*").await;
        answers.push((row, path.to_owned(), answer));
    }
    hold(answers);
}

/// What the node holds in memory is answered all the same: the rows of these routes say that nothing
/// causes a 500.
#[actix_web::test]
async fn what_needs_no_disk_is_still_answered() {
    let Broken {
        client,
        chain,
        _node,
        ..
    } = broken().await;
    for (row, path) in [
        (row("GET /", 200, "-"), ""),
        (row("GET /-/healthy", 200, "-"), "/-/healthy"),
        (row("GET /info", 200, "-"), "/info"),
        (
            row("GET /estimate_gas_price", 200, "-"),
            "/estimate_gas_price",
        ),
        (row("GET /spec", 200, "-"), "/spec"),
        (row("GET /spec.json", 200, "-"), "/spec.json"),
        (row("GET /spec.yaml", 200, "-"), "/spec.yaml"),
        (row("GET /spec/{part}", 200, "-"), "/spec/page.css"),
    ] {
        row.holds(&client.get(&format!("/v1{path}")).await, path);
    }
    for (row, path, body) in [
        (
            row("POST /graphql", 200, "-"),
            "graphql",
            json!({ "query": "{ processor_status { last_success_version } }" }),
        ),
        (
            row("POST /transactions/encode_submission", 200, "-"),
            "transactions/encode_submission",
            Transfer::new(2, 0).json(&chain),
        ),
    ] {
        let answer = client.post_json(&format!("/v1/{path}"), &body, "*/*").await;
        row.holds(&answer, path);
    }
}
