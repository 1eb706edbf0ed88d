//! Directories that earlier programs wrote, `tests/formats/`: those of this format must open and give the
//! answers that they gave when they were made; older ones are refused, with the way out.
//!
//! After a change of the format (`FORMAT` of `src/store/schema.rs`, or that of `mempool.bcs`) the fixture of
//! the new one is made, and committed, by
//!
//! ```sh
//! cargo test --test it crash::formats::make -- --ignored
//! ```

use crate::kit::{Account, TestNode};
use ledger::HashValue;
use ledger_actors::{Clock, Lookup, Node, NodeConfig};
use ledger_store::{Store, StoreOptions};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};
use tempfile::TempDir;

/// The format that this program writes.
const FORMAT: u64 = 2;
/// How well the file is packed: it is nearly empty, and made once.
const ZSTD_LEVEL: i32 = 19;
/// The largest file of a fixture, unpacked.
const FILE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// What a fixture knows of itself, `answers.json`.
#[derive(Debug, Serialize, Deserialize)]
struct Known {
    /// Microseconds since the Unix epoch.
    made_at_usecs: u64,
    /// A transaction in the saved pool.
    pending: String,
    /// What is answered to GET of these paths.
    answers: BTreeMap<String, Value>,
}

fn fixture(format: u64) -> PathBuf {
    let formats = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats");
    formats.join(format.to_string())
}

/// Unpacks the fixture of a format; the data directory is `data`.
fn unpack(format: u64) -> Arc<TempDir> {
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

fn known() -> Known {
    serde_json::from_slice(&fs::read(fixture(FORMAT).join("answers.json")).unwrap()).unwrap()
}

#[test]
fn a_directory_of_the_previous_format_is_refused() {
    let directory = unpack(FORMAT - 1);
    let file = directory.path().join("data/ledger.redb");
    let before = fs::read(&file).unwrap();
    // The second time as the first: the refusal has not made anything else of it.
    for _ in 0..2 {
        let output = TestNode::command(directory.path(), &[]).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{message}");
        for part in [
            "has format 1",
            "reads 2 only",
            "program that wrote it",
            "an empty directory",
        ] {
            assert!(message.contains(part), "{part:?} is not in {message:?}");
        }
        let files = fs::read_dir(directory.path().join("data")).unwrap();
        let mut names: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["ledger.lock", "ledger.redb"]);
        assert!(fs::read(&file).unwrap() == before, "the refused file was changed");
    }
}

#[tokio::test]
async fn a_directory_of_this_format_gives_the_answers_it_gave() {
    let known = known();
    let node = TestNode::start_in(unpack(FORMAT), Vec::new());
    for (path, answer) in &known.answers {
        assert_eq!(&node.get(path).await.json, answer, "{path}");
    }
    // It goes on.
    node.fund(&Account::from_seed(9), 1).await;
}

#[test]
fn a_pool_of_this_format_is_taken_in() {
    let known = known();
    let directory = unpack(FORMAT);
    let data = directory.path().join("data");
    actix_web::rt::System::new().block_on(async {
        let options = StoreOptions {
            cache_bytes: 1024 * 1024,
        };
        let store = Store::open(&data, &options).unwrap();
        let chain = store.genesis().unwrap().unwrap().chain().unwrap();
        let made_at_usecs = known.made_at_usecs;
        // What waited then has expired long since.
        let clock = Clock::new(move || made_at_usecs);
        let node = Node::start_with_clock(chain, store, Some(&data), NodeConfig::default(), clock);
        let node = node.await.unwrap();
        let hash: HashValue = known.pending.parse().unwrap();
        let (_, found) = node.handle().transaction_by_hash(hash).await.unwrap();
        assert!(matches!(found, Lookup::Pending(_)), "{found:?}");
        node.stop().await.unwrap();
    });
}

/// Writes the fixture of this format; see the head of this file.
#[tokio::test]
#[ignore = "it writes into tests/formats"]
async fn make() {
    let mut node = TestNode::start(&[]);
    let chain = node.chain().await;
    let (payer, payee) = (Account::from_seed(1), Account::from_seed(2));
    node.fund(&payer, 10_000_000_000).await;
    for number in 0..3 {
        node.submit_and_wait(&payer.transfer(&chain, number, payee.address, 5 + number))
            .await;
    }
    let pending = node
        .submit(&payer.transfer(&chain, 9, payee.address, 1))
        .await
        .to_string();
    let mut paths: Vec<_> = [payer.address, payee.address]
        .iter()
        .flat_map(|address| {
            [
                "",
                "/resources",
                "/balance/0xa",
                "/transactions",
                "/transaction_summaries",
            ]
            .map(|page| format!("/v1/accounts/{address}{page}"))
        })
        .collect();
    let height: u64 = super::told::number(&node.get("/v1").await.json["block_height"]);
    // Genesis has more transactions than a fixture may have.
    paths.push("/v1/blocks/by_height/0".to_owned());
    paths.extend((1..=height).map(|height| format!("/v1/blocks/by_height/{height}?with_transactions=true")));
    let mut answers = BTreeMap::new();
    for path in paths {
        let answer = node.get(&path).await;
        if answer.status == 200 {
            answers.insert(path, answer.json);
        }
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let known = Known {
        made_at_usecs: now.as_micros() as u64,
        pending,
        answers,
    };
    assert!(node.stop("TERM").success(), "{}", node.log());
    let to = fixture(FORMAT);
    fs::create_dir_all(&to).unwrap();
    let data = node.directory().join("data");
    let file = fs::read(data.join("ledger.redb")).unwrap();
    let packed = zstd::bulk::compress(&file, ZSTD_LEVEL).unwrap();
    fs::write(to.join("ledger.redb.zst"), packed).unwrap();
    fs::copy(data.join("mempool.bcs"), to.join("mempool.bcs")).unwrap();
    let mut text = serde_json::to_string_pretty(&known).unwrap();
    text.push('\n');
    fs::write(to.join("answers.json"), text).unwrap();
}
