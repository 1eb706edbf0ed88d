//! What tests ask of a node: the calls that most of them make.

use super::{Account, Answer, ChainFacts, Http};
use ledger_crypto::HashValue;
use ledger_types::{AccountAddress, SignedTransaction, Vendor};
use reqwest::Method;
use serde_json::{Value, json};

/// The addresses of a node. It may be gone; the methods that expect that begin with `try_`.
#[derive(Clone, Debug)]
pub struct Client {
    pub api: String,
    pub graphql: Option<String>,
    pub faucet: Option<String>,
    pub admin: String,
    pub http: Http,
}

impl Client {
    pub async fn get(&self, path: &str) -> Answer {
        self.http.get(&format!("{}{path}", self.api)).await
    }

    /// What transactions of this node's chain are signed for.
    pub async fn chain(&self) -> ChainFacts {
        let answer = self.get("/v1").await;
        let vendor = answer
            .headers
            .keys()
            .find_map(|name| name.as_str().strip_prefix("x-")?.strip_suffix("-chain-id"));
        let gas = self.get("/v1/estimate_gas_price").await;
        ChainFacts {
            id: answer.json["chain_id"]
                .as_u64()
                .unwrap()
                .try_into()
                .unwrap(),
            vendor: vendor.unwrap().parse().unwrap(),
            gas_unit_price: gas.json["gas_estimate"].as_u64().unwrap(),
        }
    }

    /// Has the faucet pay an account.
    pub async fn fund(&self, account: &Account, amount: u64) {
        let url = format!("{}/fund", self.faucet.as_ref().unwrap());
        let body = json!({ "address": account.address.to_string(), "amount": amount });
        let answer = self.http.send_json(Method::POST, &url, &body).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
    }

    /// Submits; `None` when no answer came.
    pub async fn try_submit(&self, transaction: &SignedTransaction) -> Option<Answer> {
        let vendor = self.vendor_lower(transaction);
        let request = self
            .http
            .request(Method::POST, &format!("{}/v1/transactions", self.api))
            .header(
                "content-type",
                format!("application/x.{vendor}.signed_transaction+bcs"),
            )
            .body(bcs::to_bytes(transaction).unwrap());
        self.http.try_send(request).await
    }

    /// The vendor word as the transaction's own call names it; the built-in one where it names none.
    fn vendor_lower(&self, transaction: &SignedTransaction) -> String {
        let call = transaction.raw.entry_function().unwrap();
        let module = call.module.name.as_str();
        match module.strip_suffix("_account") {
            Some(vendor) => vendor.to_owned(),
            None => Vendor::default().lower().to_owned(),
        }
    }

    /// Submits; gives the hash.
    pub async fn submit(&self, transaction: &SignedTransaction) -> HashValue {
        let answer = self.try_submit(transaction).await.unwrap();
        assert_eq!(answer.status, 202, "{}", answer.text);
        answer.json["hash"].as_str().unwrap().parse().unwrap()
    }

    /// Waits by long polls; gives the committed transaction. `None` when no answer came,
    /// or the node says that it fails.
    pub async fn try_wait(&self, hash: &HashValue) -> Option<Value> {
        let answer = self.try_wait_until_known(hash).await?;
        assert_eq!(answer.status, 200, "{}", answer.text);
        Some(answer.json)
    }

    /// Waits by long polls until the answer is not that the transaction is pending; gives that answer: in a
    /// short window it may be pruned as soon as it is committed. `None` as in [`Self::try_wait`].
    pub async fn try_wait_until_known(&self, hash: &HashValue) -> Option<Answer> {
        let url = format!("{}/v1/transactions/wait_by_hash/{hash}", self.api);
        loop {
            let answer = self
                .http
                .try_send(self.http.request(Method::GET, &url))
                .await?;
            if answer.status >= 500 {
                return None;
            }
            if answer.json["type"] != "pending_transaction" {
                return Some(answer);
            }
        }
    }

    /// Submits and waits; gives the committed transaction.
    pub async fn submit_and_wait(&self, transaction: &SignedTransaction) -> Value {
        let hash = self.submit(transaction).await;
        self.try_wait(&hash).await.unwrap()
    }

    /// What an account holds of the chain's coin.
    pub async fn balance(&self, address: &AccountAddress) -> u64 {
        let answer = self
            .get(&format!("/v1/accounts/{address}/balance/0xa"))
            .await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        answer.json.as_u64().unwrap()
    }

    /// The number of an account's next transaction.
    pub async fn sequence_number(&self, address: &AccountAddress) -> u64 {
        let answer = self.get(&format!("/v1/accounts/{address}")).await;
        answer.json["sequence_number"]
            .as_str()
            .unwrap()
            .parse()
            .unwrap()
    }
}
