//! The cost of a response without the network: routing, middleware, the look-up, JSON or BCS.
//!
//! `cargo bench -p ledger-api --bench answers`

use actix_http::Request;
use actix_web::{
    App, Error,
    body::{self, MessageBody},
    dev::{Service, ServiceResponse},
    http::{
        StatusCode,
        header::{ACCEPT, CONTENT_TYPE},
    },
    rt::{System, SystemRunner},
    test::{self, TestRequest},
};
use bytes::Bytes;
use divan::Bencher;
use ledger_actors::{Node, NodeConfig};
use ledger_api::{ApiConfig, ApiState, configure};
use ledger_crypto::HashValue;
use ledger_store::{Store, StoreOptions};
use ledger_test_support::{TestAccount, funded_genesis, store::initialize_store};
use ledger_vm::Chain;
use serde_json::Value;
use tempfile::TempDir;

const JSON: &str = "application/json";
const BCS: &str = "application/x-bcs";
/// Number of transfers of the requested block.
const BLOCK_TRANSFERS: u64 = 100;
/// Number of blocks after the requested one, more than are in memory, so that it is read from the
/// store.
const BLOCKS_AFTER: u64 = 40;

fn main() {
    divan::main();
}

/// A node with a block of transfers from account 0 to account 1, then blocks of one transfer of
/// account 1.
struct Fixture {
    system: SystemRunner,
    _node: Node,
    state: ApiState,
    chain: Chain,
    _directory: TempDir,
}

impl Fixture {
    fn new() -> Self {
        let system = System::new();
        let directory = tempfile::tempdir().expect("a directory");
        let genesis = funded_genesis(2);
        let options = StoreOptions {
            cache_bytes: 64 << 20,
        };
        let store = Store::open(directory.path(), &options).expect("a new store");
        let (chain, store) = initialize_store(store, &genesis);
        let mut config = NodeConfig::default();
        config.mempool.capacity_per_account = config
            .mempool
            .capacity_per_account
            .max(BLOCK_TRANSFERS as usize);
        let node = system
            .block_on(Node::start(chain.clone(), store, None, config))
            .expect("it starts");
        Self {
            state: ApiState::new(node.handle(), ApiConfig::default(), ""),
            system,
            _node: node,
            chain,
            _directory: directory,
        }
    }

    /// Measures responses to the path that `path` returns for the JSON of a committed transfer.
    fn measure(&self, bencher: Bencher, accept: &str, path: impl FnOnce(&Chain, &Value) -> String) {
        let app = App::new().configure(|config| configure(config, &self.state));
        let service = self.system.block_on(test::init_service(app));
        let hash = self.system.block_on(prepare(&self.chain, &service));
        let by_hash = format!("/v1/transactions/by_hash/{hash}");
        let transfer = self.system.block_on(get(&service, &by_hash, JSON));
        let path = path(
            &self.chain,
            &serde_json::from_slice(&transfer).expect("a transfer"),
        );
        bencher.bench_local(|| self.system.block_on(get(&service, &path, accept)));
    }
}

/// The REST service in this process.
trait RestService<B>: Service<Request, Response = ServiceResponse<B>, Error = Error> {}

impl<B, S: Service<Request, Response = ServiceResponse<B>, Error = Error>> RestService<B> for S {}

/// Commits the transfers and returns the hash of a transfer of the requested block.
async fn prepare<B: MessageBody>(chain: &Chain, service: &impl RestService<B>) -> HashValue {
    let submit = async |sender: u64, number| {
        let recipient = TestAccount::from_seed(1 - sender).address;
        let transfer = TestAccount::from_seed(sender).transfer(chain, number, recipient, 1);
        let request = TestRequest::post()
            .uri("/v1/transactions")
            .insert_header((CONTENT_TYPE, "application/x.node.signed_transaction+bcs"))
            .set_payload(bcs::to_bytes(&transfer).expect("BCS"));
        answer(service, request, StatusCode::ACCEPTED).await;
        transfer.hash(chain.vendor())
    };
    let wait = async |hash| {
        let path = format!("/v1/transactions/wait_by_hash/{hash}");
        get(service, &path, JSON).await;
    };
    // The first transfer is submitted last, so that one block takes all of them.
    for number in (1..BLOCK_TRANSFERS).rev() {
        submit(0, number).await;
    }
    let hash = submit(0, 0).await;
    wait(hash).await;
    for number in 0..BLOCKS_AFTER {
        wait(submit(1, number).await).await;
    }
    hash
}

async fn get<B: MessageBody>(service: &impl RestService<B>, path: &str, accept: &str) -> Bytes {
    let request = TestRequest::get().uri(path).insert_header((ACCEPT, accept));
    answer(service, request, StatusCode::OK).await
}

async fn answer<B: MessageBody>(
    service: &impl RestService<B>,
    request: TestRequest,
    expected: StatusCode,
) -> Bytes {
    let response = service.call(request.to_request()).await.expect("an answer");
    assert_eq!(response.status(), expected, "{:?}", response.request());
    let body = body::to_bytes(response.into_body()).await;
    body.ok().expect("a body that is there")
}

fn by_hash(transfer: &Value) -> String {
    format!("/v1/transactions/by_hash/{}", text(&transfer["hash"]))
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

#[divan::bench]
fn balance(bencher: Bencher) {
    Fixture::new().measure(bencher, JSON, |chain, transfer| {
        let (sender, coin) = (text(&transfer["sender"]), chain.registry().native_coin());
        format!("/v1/accounts/{sender}/balance/{coin}")
    });
}

/// A balance at least at a version that the ledger has.
#[divan::bench]
fn balance_at_least(bencher: Bencher) {
    Fixture::new().measure(bencher, JSON, |chain, transfer| {
        let (sender, coin) = (text(&transfer["sender"]), chain.registry().native_coin());
        format!("/v1/accounts/{sender}/balance/{coin}?min_ledger_version=1")
    });
}

#[divan::bench(args = [JSON, BCS])]
fn by_hash_in(bencher: Bencher, accept: &str) {
    Fixture::new().measure(bencher, accept, |_, transfer| by_hash(transfer));
}

#[divan::bench]
fn events_25(bencher: Bencher) {
    Fixture::new().measure(bencher, JSON, |_, transfer| {
        let events = transfer["events"].as_array().expect("events");
        let mut guids = events.iter().map(|event| &event["guid"]);
        let of_stream = guids.find(|guid| guid["account_address"] == transfer["sender"]);
        let guid = of_stream.expect("an event of the sender");
        let (account, number) = (
            text(&guid["account_address"]),
            text(&guid["creation_number"]),
        );
        format!("/v1/accounts/{account}/events/{number}?limit=25")
    });
}

#[divan::bench(args = [JSON, BCS])]
fn block_of_100_in(bencher: Bencher, accept: &str) {
    Fixture::new().measure(bencher, accept, |_, transfer| {
        let version = text(&transfer["version"]);
        format!("/v1/blocks/by_version/{version}?with_transactions=true")
    });
}
