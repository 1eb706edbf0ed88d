//! Calls outside of blocks: the time of views, and clients that disconnect before the response.

use crate::{
    http::{
        simulations::unsigned,
        turns::{occupy_reader, wait_for_queries},
    },
    kit::{RawResponse, Settings, TestApi, Transfer, ok_json},
};
use bytes::Bytes;
use ledger_limits::WorkKind;
use ledger_store::{Store, StoreOptions};
use ledger_test_support::HookedDisk;
use ledger_types::{AccountAddress, StateKey, StructTag};
use serde_json::{Value, json};
use std::{
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    thread,
};

const JSON: &str = "application/json";

/// Number of pending transactions of [`MULTISIG`], which a view reads one by one. A release build
/// takes several milliseconds for them.
const PENDING: u64 = 5_000;

/// A multisig account.
const MULTISIG: AccountAddress = AccountAddress::from_low_u64(0x5161);

/// Returns a multisig account with [`PENDING`] pending transactions, more than its functions allow.
fn multisig() -> Vec<(StateKey, Bytes)> {
    let table = AccountAddress::from_low_u64(0x7ab1e);
    let event_handle = (0u64, 0u64, MULTISIG);
    let account = (
        vec![MULTISIG],
        1u64,
        table,
        0u64,
        PENDING + 1,
        None::<AccountAddress>,
        Vec::<(String, Vec<u8>)>::new(),
        [event_handle; 9],
    );
    let none: Option<Vec<u8>> = None;
    let votes = Vec::<(AccountAddress, bool)>::new();
    let transaction = bcs::to_bytes(&(&none, &none, votes, MULTISIG, 0u64)).unwrap();
    let transaction = Bytes::from(transaction);
    let tag: StructTag = "0x1::multisig_account::MultisigAccount".parse().unwrap();
    let account = (
        StateKey::resource(&MULTISIG, &tag),
        bcs::to_bytes(&account).unwrap().into(),
    );
    let item = |number: u64| StateKey::table_item(&table, &number.to_le_bytes());
    let items = (1..=PENDING).map(|number| (item(number), transaction.clone()));
    items.chain([account]).collect()
}

/// Returns the body of the view of all pending transactions.
fn long_view() -> Value {
    json!({
        "function": "0x1::multisig_account::get_pending_transactions",
        "type_arguments": [],
        "arguments": [MULTISIG.to_string()],
    })
}

#[actix_web::test]
async fn a_view_beyond_its_time_is_out_of_gas() {
    for (call_time_max_ms, is_long_enough) in [(1, false), (3_600_000, true)] {
        let mut settings = Settings {
            more_state: multisig(),
            ..Settings::default()
        };
        settings.node.work.call_time_max_ms = call_time_max_ms;
        let api = TestApi::start(settings).await;
        let response = api.client.post_json("/v1/view", &long_view(), JSON).await;
        if is_long_enough {
            let pending = ok_json(&response);
            assert_eq!(pending[0].as_array().unwrap().len(), PENDING as usize);
        } else {
            // Not with the text of the response, which is half a megabyte if the view succeeds.
            assert_eq!(response.status, 400);
            let error = response.json();
            // The code of the status OUT_OF_GAS.
            let expected = json!(["Out of gas", "invalid_input", 4002]);
            let fields = ["message", "error_code", "vm_error_code"].map(|name| &error[name]);
            assert_eq!(json!(fields), expected);
        }
        api.stop().await;
    }
}

/// Returns the bytes of a POST request.
fn post(path: &str, media_type: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: node\r\ncontent-type: {media_type}\r\n\
         content-length: {length}\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

/// Returns the number of jobs of this kind that have run.
pub fn jobs(api: &TestApi, kind: WorkKind) -> u64 {
    let costs = api.handle().meters().costs;
    costs
        .iter()
        .find(|status| status.kind == kind)
        .unwrap()
        .units
}

/// Returns the response to a request that has the only permit of `api.max_in_flight`. Another
/// request holds it until its response is sent or its client has disconnected.
async fn get_with_permit(api: &TestApi, path: &str) -> RawResponse {
    loop {
        let response = api.client.get(path).await;
        if response.status != 503 {
            return response;
        }
    }
}

#[actix_web::test]
async fn a_call_whose_client_disconnects_while_it_waits_does_not_run() {
    for kind in [WorkKind::View, WorkKind::Simulation] {
        let mut settings = Settings::default();
        settings.node.storage.readers = 1;
        settings.api.max_in_flight = 1;
        let api = TestApi::start(settings).await;
        let request = match kind {
            WorkKind::View => {
                let view = json!({
                    "function": "0x1::block::get_current_block_height",
                    "type_arguments": [],
                    "arguments": [],
                });
                post("/v1/view", JSON, view.to_string().as_bytes())
            }
            _ => {
                let transaction = unsigned(&api, &Transfer::new(0, 0));
                let body = bcs::to_bytes(&transaction).unwrap();
                let media_type = api.client.signed_transaction_type();
                post("/v1/transactions/simulate", &media_type, &body)
            }
        };
        let reader = occupy_reader(&api).await;
        let mut connection = api.client.connect().await;
        connection.send(&request).await;
        wait_for_queries(&api, 1).await;
        connection.reset();
        ok_json(&get_with_permit(&api, "/v1").await);
        drop(reader);
        // Queries of one client run in the order of their arrival.
        ok_json(&get_with_permit(&api, "/v1/transactions?limit=1").await);
        assert_eq!(jobs(&api, kind), 0, "{kind:?}");
        api.stop().await;
    }
}

/// The reads of a disk by the reader threads.
#[derive(Debug, Default)]
struct Reads {
    count: AtomicUsize,
    /// Whether a read is held.
    is_held: AtomicBool,
    is_closed: Mutex<bool>,
    opened: Condvar,
}

impl Reads {
    /// Counts a read, and waits while the gate is closed.
    fn pass(&self) {
        self.count.fetch_add(1, SeqCst);
        let is_closed = self.is_closed.lock().unwrap();
        self.is_held.store(*is_closed, SeqCst);
        let opened = self.opened.wait_while(is_closed, |is_closed| *is_closed);
        drop(opened.unwrap());
    }

    fn close(&self) {
        *self.is_closed.lock().unwrap() = true;
    }

    fn open(&self) {
        *self.is_closed.lock().unwrap() = false;
        self.opened.notify_all();
    }
}

/// Returns an empty store in memory whose reads all reach the disk, and the reads of its database.
fn holding_store() -> (Store, Arc<Reads>) {
    let reads = Arc::<Reads>::default();
    let passed = Arc::clone(&reads);
    let database = HookedDisk::new(move || {
        if thread::current().name() == Some("store-reader") {
            passed.pass();
        }
        Ok(())
    });
    let log = HookedDisk::new(|| Ok(()));
    let options = StoreOptions { cache_bytes: 0 };
    (Store::open_backend(database, log, &options).unwrap(), reads)
}

#[actix_web::test]
async fn a_call_whose_client_disconnects_while_it_runs_is_interrupted() {
    let (store, reads) = holding_store();
    let mut settings = Settings {
        more_state: multisig(),
        store: Some(store),
        ..Settings::default()
    };
    settings.node.work.call_time_max_ms = 3_600_000;
    settings.api.max_in_flight = 1;
    let api = TestApi::start(settings).await;
    reads.close();
    let mut connection = api.client.connect().await;
    let body = long_view().to_string();
    let request = post("/v1/view", JSON, body.as_bytes());
    connection.send(&request).await;
    while !reads.is_held.load(SeqCst) {
        tokio::task::yield_now().await;
    }
    connection.reset();
    ok_json(&get_with_permit(&api, "/v1").await);
    let before = reads.count.load(SeqCst);
    reads.open();
    while jobs(&api, WorkKind::View) == 0 {
        tokio::task::yield_now().await;
    }
    let after = reads.count.load(SeqCst) - before;
    assert!(after < PENDING as usize / 10, "{after} reads");
    api.stop().await;
}
