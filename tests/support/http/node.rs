//! Calls of a node's listeners.

use super::{HttpClient, HttpResponse, submission_media_type};
use crate::{TransactionSigner, bcs_bytes};
use ledger_crypto::HashValue;
use ledger_framework::new_chain;
use ledger_types::{AccountAddress, Parameters, SignedTransaction, Vendor};
use ledger_vm::Chain;
use reqwest::Method;
use serde_json::{Value, json};

/// A client of one node, which may have ended. The methods that expect that begin with `try_`.
///
/// # Panics
///
/// The other methods panic if there is no response, or if it has another status than that of a
/// success.
#[derive(Clone, Debug)]
pub struct NodeClient {
    /// URL of the public listener, without a path.
    pub api: String,
    /// URL of the GraphQL route.
    pub graphql: Option<String>,
    /// URL of the faucet.
    pub faucet: Option<String>,
    /// URL of the admin listener.
    pub admin: String,
    /// The connections to the node.
    pub http: HttpClient,
}

impl NodeClient {
    /// Returns `HOST:PORT` of the public listener.
    pub fn authority(&self) -> &str {
        let (_, authority) = self.api.split_once("://").expect("a URL");
        authority
    }

    /// Sends a GET request to the public listener.
    pub async fn get(&self, path: &str) -> HttpResponse {
        self.http.get(&format!("{}{path}", self.api)).await
    }

    /// Returns the node's chain. Its lowest gas price is the node's estimate, and its other
    /// parameters are the default ones.
    pub async fn chain(&self) -> Chain {
        let response = self.get("/v1").await;
        let vendor = response
            .headers
            .keys()
            .find_map(|name| name.as_str().strip_prefix("x-")?.strip_suffix("-chain-id"))
            .expect("the header of the chain id");
        let id = response.json["chain_id"].as_u64().expect("a number");
        let gas = self.get("/v1/estimate_gas_price").await;
        let parameters = Parameters {
            gas_unit_price_min: gas.json["gas_estimate"].as_u64().expect("a number"),
            ..Parameters::default()
        };
        new_chain(
            id.try_into().expect("a chain id"),
            vendor.parse().expect("a vendor word"),
            parameters,
        )
    }

    /// Transfers `amount`, in the coin's smallest unit, from the faucet to the account.
    pub async fn fund(&self, account: &(impl TransactionSigner + ?Sized), amount: u64) {
        let url = format!("{}/fund", self.faucet.as_ref().expect("a faucet"));
        let body = json!({ "address": account.address().to_string(), "amount": amount });
        let response = self.http.send_json(Method::POST, &url, &body).await;
        assert_eq!(response.status, 200, "{}", response.text);
    }

    /// Submits the transaction. Returns `None` if there is no response.
    pub async fn try_submit(&self, transaction: &SignedTransaction) -> Option<HttpResponse> {
        let url = format!("{}/v1/transactions", self.api);
        let request = self
            .http
            .request(Method::POST, &url)
            .header("content-type", submission_media_type(&vendor(transaction)))
            .body(bcs_bytes(transaction));
        self.http.try_send(request).await
    }

    /// Submits the transaction and returns its hash.
    pub async fn submit(&self, transaction: &SignedTransaction) -> HashValue {
        let response = self.try_submit(transaction).await.expect("a response");
        assert_eq!(response.status, 202, "{}", response.text);
        let hash = response.json["hash"].as_str().expect("a hash");
        hash.parse().expect("a hash")
    }

    /// Waits by long polls and returns the committed transaction. Returns `None` if there is no
    /// response, or if the node responds that it fails.
    pub async fn try_wait(&self, hash: &HashValue) -> Option<Value> {
        let response = self.try_wait_until_known(hash).await?;
        assert_eq!(response.status, 200, "{}", response.text);
        Some(response.json)
    }

    /// Waits by long polls until the transaction is not pending and returns that response, which is
    /// an error if the transaction was pruned meanwhile. Returns `None` as [`Self::try_wait`] does.
    pub async fn try_wait_until_known(&self, hash: &HashValue) -> Option<HttpResponse> {
        let url = format!("{}/v1/transactions/wait_by_hash/{hash}", self.api);
        loop {
            let request = self.http.request(Method::GET, &url);
            let response = self.http.try_send(request).await?;
            if response.status >= 500 {
                return None;
            }
            if response.json["type"] != "pending_transaction" {
                return Some(response);
            }
        }
    }

    /// Submits the transaction and returns its committed form.
    pub async fn submit_and_wait(&self, transaction: &SignedTransaction) -> Value {
        let hash = self.submit(transaction).await;
        self.try_wait(&hash).await.expect("a response")
    }

    /// Returns the balance of an account, in the coin's smallest unit.
    pub async fn balance(&self, address: &AccountAddress) -> u64 {
        let path = format!("/v1/accounts/{address}/balance/0xa");
        let response = self.get(&path).await;
        assert_eq!(response.status, 200, "{}", response.text);
        response.json.as_u64().expect("a number")
    }

    /// Returns the sequence number of an account's next transaction.
    pub async fn sequence_number(&self, address: &AccountAddress) -> u64 {
        let response = self.get(&format!("/v1/accounts/{address}")).await;
        let text = response.json["sequence_number"].as_str();
        text.expect("an account").parse().expect("a number")
    }
}

/// Returns the vendor word that the transaction's call names, or the default one.
fn vendor(transaction: &SignedTransaction) -> Vendor {
    let call = transaction.raw.entry_function().expect("a call");
    let word = call.module.name.as_str().strip_suffix("_account");
    word.map_or_else(Vendor::default, |word| {
        word.to_ascii_uppercase().parse().expect("a vendor word")
    })
}
