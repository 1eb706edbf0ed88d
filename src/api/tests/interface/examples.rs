//! A successful request of every route on a [`History`], for rules that hold on all routes.

use crate::{
    interface::chain::{History, RECORD_KEY, STORE},
    kit::{RawResponse, Transfer, recipient_store},
};
use ledger_types::AccountAddress;
use serde_json::{Value, json};

/// Routes that respond in JSON only.
pub const JSON_ONLY: [&str; 2] = ["POST /graphql", "POST /transactions/encode_submission"];

/// The route that responds in JSON also to a client that prefers BCS.
pub const JSON_ALWAYS: &str = "GET /info";

/// The routes of [`submissions`].
pub const SUBMISSIONS: [&str; 4] = [
    "POST /transactions",
    "POST /transactions/batch",
    "POST /transactions/encode_submission",
    "POST /transactions/simulate",
];

/// The route whose response is made while it is sent.
pub const WAIT_MANY: &str = "POST /transactions/wait";

/// A request with a successful response.
#[derive(Clone)]
pub struct Example {
    /// Method and path below `/v1`, as in [`Row::route`](crate::interface::rows::Row::route).
    pub route: &'static str,
    pub path: String,
    /// The JSON body of a `POST`.
    pub body: Option<Value>,
    /// Status of the response.
    pub status: u16,
}

impl Example {
    fn get(route: &'static str, path: &str) -> Self {
        Self {
            route,
            path: path.to_owned(),
            body: None,
            status: 200,
        }
    }

    fn post(route: &'static str, path: &str, body: Value) -> Self {
        Self {
            body: Some(body),
            ..Self::get(route, path)
        }
    }

    pub fn method(&self) -> &'static str {
        self.route.split_once(' ').unwrap().0
    }

    /// Returns the request with more parameters in its query.
    pub fn with_query(&self, parameters: &str) -> Self {
        let mark = if self.path.contains('?') { '&' } else { '?' };
        Self {
            path: format!("{}{mark}{parameters}", self.path),
            ..self.clone()
        }
    }

    /// Sends the request. `accept` is the media type of the response.
    pub async fn send(&self, history: &History, accept: &str) -> RawResponse {
        self.send_with(history, &[("accept", accept)]).await
    }

    /// Sends the request with these header lines.
    pub async fn send_with(&self, history: &History, headers: &[(&str, &str)]) -> RawResponse {
        let body = self.body.as_ref().map(|body| body.to_string().into_bytes());
        let mut headers = headers.to_vec();
        if body.is_some() {
            headers.push(("content-type", "application/json"));
        }
        let client = &history.api.client;
        client
            .send(self.method(), &self.path, &headers, body.as_deref())
            .await
    }
}

/// Returns the examples that read, one of each route.
pub fn reads(history: &History) -> Vec<Example> {
    let get = Example::get;
    let store = recipient_store();
    let (sender, hash) = (
        history.sender(),
        history.transfers[0]["hash"].as_str().unwrap(),
    );
    let mut examples = vec![
        get("GET /", "/v1"),
        get("GET /-/healthy", "/v1/-/healthy"),
        get("GET /info", "/v1/info"),
        get("GET /spec", "/v1/spec"),
        get("GET /spec.json", "/v1/spec.json"),
        get("GET /spec.yaml", "/v1/spec.yaml"),
        get("GET /spec/{part}", "/v1/spec/page.css"),
        get("GET /estimate_gas_price", "/v1/estimate_gas_price"),
        get("GET /transactions", "/v1/transactions"),
        get(
            "GET /transactions/by_hash/{txn_hash}",
            &format!("/v1/transactions/by_hash/{hash}"),
        ),
        get(
            "GET /transactions/wait_by_hash/{txn_hash}",
            &format!("/v1/transactions/wait_by_hash/{hash}"),
        ),
        get(
            "GET /transactions/by_version/{txn_version}",
            "/v1/transactions/by_version/2",
        ),
        get(
            "GET /transactions/auxiliary_info",
            "/v1/transactions/auxiliary_info?start_version=0",
        ),
        get(
            "GET /blocks/by_height/{block_height}",
            "/v1/blocks/by_height/1",
        ),
        get(
            "GET /blocks/by_height/{block_height}/certificate",
            "/v1/blocks/by_height/1/certificate",
        ),
        get(
            "GET /blocks/by_version/{version}",
            "/v1/blocks/by_version/2",
        ),
        get("GET /accounts/{address}", &format!("/v1/accounts/{sender}")),
        get(
            "GET /accounts/{address}/resources",
            &format!("/v1/accounts/{store}/resources"),
        ),
        get(
            "GET /accounts/{address}/resource/{resource_type}",
            &format!("/v1/accounts/{store}/resource/0x1::fungible_asset::FungibleStore"),
        ),
        get(
            "GET /accounts/{address}/module/{module_name}",
            "/v1/accounts/0x1/module/coin",
        ),
        get(
            "GET /accounts/{address}/modules",
            "/v1/accounts/0x1/modules",
        ),
        get(
            "GET /accounts/{address}/balance/{asset_type}",
            "/v1/accounts/0xb0b/balance/0xa",
        ),
        get(
            "GET /accounts/{address}/transactions",
            &format!("/v1/accounts/{sender}/transactions"),
        ),
        get(
            "GET /accounts/{address}/transaction_summaries",
            &format!("/v1/accounts/{sender}/transaction_summaries"),
        ),
        get(
            "GET /accounts/{address}/events/{creation_number}",
            "/v1/accounts/0x1/events/3",
        ),
        get(
            "GET /accounts/{address}/events/{event_handle}/{field_name}",
            &format!("/v1/accounts/0xb0b/events/{STORE}/deposit_events"),
        ),
    ];
    examples.extend(posted_reads(history));
    examples
}

fn posted_reads(history: &History) -> [Example; 7] {
    let (table, post) = (&history.table, Example::post);
    [
        post(
            WAIT_MANY,
            "/v1/transactions/wait",
            json!({ "hashes": [history.transfers[0]["hash"]] }),
        ),
        post(
            "POST /tables/{table_handle}/item",
            &format!("/v1/tables/{table}/item"),
            json!({
                "key_type": "0x1::string::String",
                "value_type": "0x1::registry::Record",
                "key": "name",
            }),
        ),
        post(
            "POST /tables/{table_handle}/raw_item",
            &format!("/v1/tables/{table}/raw_item"),
            json!({ "key": RECORD_KEY }),
        ),
        post(
            "POST /experimental/state_values/raw",
            "/v1/experimental/state_values/raw",
            json!({ "key": state_key(history) }),
        ),
        post(
            "POST /transactions/status",
            "/v1/transactions/status",
            Transfer::new(3, 0).json(&history.api.chain),
        ),
        post(
            "POST /graphql",
            "/v1/graphql",
            json!({ "query": "{ processor_status { last_success_version } }" }),
        ),
        post(
            "POST /view",
            "/v1/view",
            json!({
                "function": "0x1::coin::balance",
                "type_arguments": ["0x1::node_coin::NodeCoin"],
                "arguments": ["0xb0b"],
            }),
        ),
    ]
}

/// Returns the key of the record in the state: the variant, the table, and the item's key with its
/// length.
fn state_key(history: &History) -> String {
    let table: AccountAddress = history.table.parse().unwrap();
    let key = hex::decode(&RECORD_KEY[2..]).unwrap();
    format!(
        "0x01{}{:02x}{}",
        &table.to_long_hex()[2..],
        key.len(),
        &RECORD_KEY[2..]
    )
}

/// Returns the examples with a transaction, in an order in which each is accepted.
pub fn submissions(history: &History) -> Vec<Example> {
    let chain = &history.api.chain;
    let post = Example::post;
    let transfer = |sequence_number| Transfer::new(3, sequence_number).json(chain);
    let mut simulated = transfer(0);
    simulated["signature"]["signature"] = json!(format!("0x{}", "00".repeat(64)));
    let mut unsigned = transfer(0);
    unsigned.as_object_mut().unwrap().remove("signature");
    let accepted = |example| Example {
        status: 202,
        ..example
    };
    vec![
        post(
            "POST /transactions/simulate",
            "/v1/transactions/simulate",
            json!(simulated),
        ),
        post(
            "POST /transactions/encode_submission",
            "/v1/transactions/encode_submission",
            unsigned,
        ),
        accepted(post("POST /transactions", "/v1/transactions", transfer(0))),
        accepted(post(
            "POST /transactions/batch",
            "/v1/transactions/batch",
            json!([transfer(1)]),
        )),
    ]
}

/// Returns all examples.
pub fn all(history: &History) -> Vec<Example> {
    let mut examples = reads(history);
    examples.extend(submissions(history));
    examples
}

/// Returns the examples with a body.
pub fn posts(history: &History) -> Vec<Example> {
    let all = all(history).into_iter();
    all.filter(|example| example.body.is_some()).collect()
}
