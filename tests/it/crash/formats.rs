//! Directories that this and earlier programs wrote, in `tests/formats/`. That of the readable
//! format must open and give the responses recorded when it was made. Older ones are rejected with
//! advice.
//!
//! After a change of the format (`FORMAT` of `src/store/tables/schema.rs`, or that of
//! `mempool.bcs`) the fixture of the new format is written and committed by
//!
//! ```sh
//! cargo test --test it crash::formats::make -- --ignored
//! ```

use ledger_actors::{Clock, Node, NodeConfig, TransactionStatus};
use ledger_crypto::HashValue;
use ledger_execution::build_chain;
use ledger_framework::modules::object::{INIT_GUID_CREATION_NUM, user_derived_address};
use ledger_limits::ClientKey;
use ledger_store::{Store, StoreOptions};
use ledger_test_support::{
    TestAccount, function_call,
    http::{number, submission_media_type},
    node::TestNode,
};
use ledger_types::AccountAddress;
use reqwest::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};
use tempfile::TempDir;

/// The format that this program reads and writes.
pub(crate) const FORMAT: u64 = 6;
/// The compression level of fixtures. A ledger file is nearly empty and is packed once.
const ZSTD_LEVEL: i32 = 19;
/// Maximum size of an unpacked file of a fixture, in bytes.
const FILE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The content of `answers.json`: the recorded responses of a fixture.
#[derive(Debug, Serialize, Deserialize)]
struct RecordedResponses {
    /// The time when the fixture was made, in microseconds since the Unix epoch.
    made_at_usecs: u64,
    /// The hash of a transaction in the saved mempool.
    pending: String,
    /// The bodies of GET responses by path.
    answers: BTreeMap<String, Value>,
    /// A table item.
    item: Item,
}

/// A POST request for a table item, and the body of its response.
#[derive(Debug, Serialize, Deserialize)]
struct Item {
    path: String,
    body: Value,
    answer: Value,
}

/// Returns the directory of a format's fixture.
fn fixture(format: u64) -> PathBuf {
    let formats = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats");
    formats.join(format.to_string())
}

/// Unpacks the fixture of a format. The data directory is `data` in the returned one.
pub(crate) fn unpack(format: u64) -> Arc<TempDir> {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    fs::create_dir(&data).unwrap();
    let packed = fs::read(fixture(format).join("ledger.redb.zst")).unwrap();
    let unpacked = zstd::bulk::decompress(&packed, FILE_BYTES_MAX).unwrap();
    fs::write(data.join("ledger.redb"), unpacked).unwrap();
    let pool = fixture(format).join("mempool.bcs");
    if pool.exists() {
        fs::copy(pool, data.join("mempool.bcs")).unwrap();
    }
    Arc::new(directory)
}

/// Reads the recorded responses of the readable format's fixture.
fn recorded_responses() -> RecordedResponses {
    serde_json::from_slice(&fs::read(fixture(FORMAT).join("answers.json")).unwrap()).unwrap()
}

#[test]
fn rejects_a_directory_of_an_older_format() {
    for format in 1..FORMAT {
        check_rejects(format);
    }
}

/// Checks that a start on a directory of this format ends with advice and changes nothing.
fn check_rejects(format: u64) {
    let directory = unpack(format);
    let file = directory.path().join("data/ledger.redb");
    let before = fs::read(&file).unwrap();
    // The second start must be rejected as the first one: the first one has not converted the file.
    for _ in 0..2 {
        let output = TestNode::command(directory.path(), &[]).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{message}");
        for part in [
            &format!("has format {format}"),
            &format!("reads {FORMAT}"),
            "program that wrote it",
            "an empty directory",
        ] {
            assert!(message.contains(part), "{part:?} is not in {message:?}");
        }
        let files = fs::read_dir(directory.path().join("data")).unwrap();
        let mut names: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["ledger.lock", "ledger.redb"]);
        assert!(
            fs::read(&file).unwrap() == before,
            "the rejected file was changed"
        );
    }
}

#[tokio::test]
async fn returns_the_recorded_responses() {
    let recorded = recorded_responses();
    // The time since the fixture's newest block grows from day to day.
    let settings = vec!["sequencer.clock_jump_max_secs=3153600000".to_owned()];
    let mut node = TestNode::start_in(unpack(FORMAT), settings);
    // In the second pass the directory is one that this program has written.
    for _ in 0..2 {
        for (path, answer) in &recorded.answers {
            assert_eq!(&get_json(&node, path).await, answer, "{path}");
        }
        let Item { path, body, answer } = &recorded.item;
        assert_eq!(&post_item(&node, path, body).await, answer, "{path}");
        node.kill();
        node = node.restart();
    }
    // The ledger accepts new transactions.
    node.fund(&TestAccount::from_seed(9), 1).await;
}

/// Returns the body of a GET response, which must have status 200.
async fn get_json(node: &TestNode, path: &str) -> Value {
    let answer = node.get(path).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text);
    answer.json
}

/// Returns the table item that `body` requests.
async fn post_item(node: &TestNode, path: &str, body: &Value) -> Value {
    let url = format!("{}{path}", node.api);
    let answer = node.http.send_json(Method::POST, &url, body).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text);
    answer.json
}

#[test]
fn restores_the_recorded_mempool() {
    let directory = unpack(FORMAT);
    let data = directory.path().join("data");
    actix_web::rt::System::new().block_on(check_restores_mempool(&data, recorded_responses()));
}

/// Checks that a node on `data` has the saved transaction.
async fn check_restores_mempool(data: &Path, recorded: RecordedResponses) {
    let options = StoreOptions {
        cache_bytes: 1024 * 1024,
    };
    let store = Store::open(data, &options).unwrap();
    let chain = build_chain(&store.genesis().unwrap().unwrap()).unwrap();
    let made_at_usecs = recorded.made_at_usecs;
    // The saved transaction expired long ago by the current time.
    let clock = Clock::new(move || made_at_usecs);
    let node = Node::start_with_clock(chain, store, Some(data), NodeConfig::default(), clock);
    let node = node.await.unwrap();
    let hash: HashValue = recorded.pending.parse().unwrap();
    let (_, found) = node
        .handle()
        .transaction_by_hash(hash, ClientKey::NODE)
        .await
        .unwrap();
    assert!(matches!(found, TransactionStatus::Pending(_)), "{found:?}");
    node.stop().await.unwrap();
}

/// Calls a function of `0x1::multisig_account` and returns the committed transaction.
async fn call_multisig(
    node: &TestNode,
    payer: &TestAccount,
    sequence_number: u64,
    name: &str,
    args: Vec<Vec<u8>>,
) -> Value {
    let chain = node.chain().await;
    let call = function_call(&format!("0x1::multisig_account::{name}"), &[], args);
    let transaction = payer.call(&chain, sequence_number, call);
    let media_type = submission_media_type(chain.vendor());
    let submission = node
        .http
        .request(Method::POST, &format!("{}/v1/transactions", node.api))
        .header("content-type", media_type)
        .body(bcs::to_bytes(&transaction).unwrap());
    let answer = node.http.try_send(submission).await.unwrap();
    assert_eq!(answer.status, 202, "{}", answer.text);
    let hash = answer.json["hash"].as_str().unwrap().parse().unwrap();
    let committed = node.try_wait(&hash).await.unwrap();
    assert_eq!(committed["success"], true, "{committed}");
    committed
}

/// Creates a multisig account with one pending transaction. Returns both committed transactions of
/// the payer, and path and body of the request for the pending one as an item of the account's
/// table.
async fn make_multisig(
    node: &TestNode,
    payer: &TestAccount,
    sequence_number: u64,
) -> ([Value; 2], String, Value) {
    let nothing = || bcs::to_bytes(&Vec::<Vec<u8>>::new()).unwrap();
    let args = vec![bcs::to_bytes(&1u64).unwrap(), nothing(), nothing()];
    let made = call_multisig(node, payer, sequence_number, "create", args).await;
    let changes = made["changes"].as_array().unwrap();
    let account = changes
        .iter()
        .find(|change| change["data"]["type"] == "0x1::multisig_account::MultisigAccount")
        .unwrap();
    let address: AccountAddress = account["address"].as_str().unwrap().parse().unwrap();
    // The payload is opaque until it is executed.
    let payload = bcs::to_bytes(&[0u8, 1, 2].as_slice()).unwrap();
    let args = vec![bcs::to_bytes(&address).unwrap(), payload];
    let proposed =
        call_multisig(node, payer, sequence_number + 1, "create_transaction", args).await;
    let handle = account["data"]["data"]["transactions"]["handle"]
        .as_str()
        .unwrap();
    let path = format!("/v1/tables/{handle}/item");
    let body = json!({
        "key_type": "u64",
        "value_type": "0x1::multisig_account::MultisigTransaction",
        "key": "1",
    });
    ([made, proposed], path, body)
}

/// Returns the paths of all recorded requests for an account and its store of coins: their latest
/// state, and that of `version`.
fn paths_of_account(address: AccountAddress, version: &Value) -> Vec<String> {
    let version = version.as_str().unwrap();
    let store = user_derived_address(address, AccountAddress::NATIVE_ASSET);
    let of_account = [
        String::new(),
        "/resources".to_owned(),
        "/balance/0xa".to_owned(),
        "/transactions".to_owned(),
        "/transaction_summaries".to_owned(),
        format!("?ledger_version={version}"),
        format!("/resources?ledger_version={version}"),
        format!("/balance/0xa?ledger_version={version}"),
    ];
    let of_store = [
        "/resources".to_owned(),
        "/events/0x1::fungible_asset::FungibleAssetEvents/deposit_events".to_owned(),
        // The stream of deposits, by its creation number.
        format!("/events/{}", INIT_GUID_CREATION_NUM + 1),
        format!("/resources?ledger_version={version}"),
        format!("/resource/0x1::fungible_asset::FungibleStore?ledger_version={version}"),
    ];
    let of_account = of_account.map(|page| format!("/v1/accounts/{address}{page}"));
    let of_store = of_store.map(|page| format!("/v1/accounts/{store}{page}"));
    of_account.into_iter().chain(of_store).collect()
}

/// Writes the fixture of the current format; see the module documentation.
#[tokio::test]
#[ignore = "writes into tests/formats"]
async fn make() {
    let mut node = TestNode::start(&[]);
    let chain = node.chain().await;
    let (payer, payee) = (TestAccount::from_seed(1), TestAccount::from_seed(2));
    node.fund(&payer, 10_000_000_000).await;
    let mut committed = Vec::new();
    for number in 0..3 {
        let transfer = payer.transfer(&chain, number, payee.address, 5 + number);
        committed.push(node.submit_and_wait(&transfer).await);
    }
    let (multisig, item_path, body) = make_multisig(&node, &payer, 3).await;
    committed.extend(multisig);
    let pending = node
        .submit(&payer.transfer(&chain, 9, payee.address, 1))
        .await
        .to_string();

    let second = &committed[1]["version"];
    let mut paths: Vec<_> = [payer.address, payee.address]
        .into_iter()
        .flat_map(|address| paths_of_account(address, second))
        .collect();
    for transaction in &committed {
        let [hash, version] = ["hash", "version"].map(|name| transaction[name].as_str().unwrap());
        paths.push(format!("/v1/transactions/by_hash/{hash}"));
        paths.push(format!("/v1/transactions/by_version/{version}"));
    }
    let height: u64 = number(&node.get("/v1").await.json["block_height"]);
    // The genesis block has too many transactions for a fixture.
    paths.push("/v1/blocks/by_height/0".to_owned());
    paths.extend(
        (1..=height).map(|height| format!("/v1/blocks/by_height/{height}?with_transactions=true")),
    );
    let mut answers = BTreeMap::new();
    for path in paths {
        let answer = get_json(&node, &path).await;
        answers.insert(path, answer);
    }
    let item = Item {
        answer: post_item(&node, &item_path, &body).await,
        path: item_path,
        body,
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let recorded = RecordedResponses {
        made_at_usecs: now.as_micros() as u64,
        pending,
        answers,
        item,
    };
    assert!(node.stop("TERM").success(), "{}", node.log());
    let to = fixture(FORMAT);
    fs::create_dir_all(&to).unwrap();
    let data = node.directory().join("data");
    let file = fs::read(data.join("ledger.redb")).unwrap();
    let packed = zstd::bulk::compress(&file, ZSTD_LEVEL).unwrap();
    fs::write(to.join("ledger.redb.zst"), packed).unwrap();
    fs::copy(data.join("mempool.bcs"), to.join("mempool.bcs")).unwrap();
    let mut text = serde_json::to_string_pretty(&recorded).unwrap();
    text.push('\n');
    fs::write(to.join("answers.json"), text).unwrap();
}
