//! The sender of the payments of a chain.

use ledger_client::signer::{Signer, Terms, parse_private_key, transfer};
use ledger_test_chain::TestChain;
use ledger_test_support::{
    bcs_bytes,
    http::{HttpClient, submission_media_type},
};
use ledger_types::{ChainIdentity, ReplayProtector};
use reqwest::Method;
use serde_json::Value;

/// The first funded account of a chain, which pays the second one.
pub struct Sender<'a> {
    chain: &'a TestChain,
    http: HttpClient,
    signer: Signer,
}

impl<'a> Sender<'a> {
    pub fn new(chain: &'a TestChain) -> Self {
        let key = parse_private_key(&chain.accounts()[0].private_key).unwrap();
        Self {
            chain,
            http: HttpClient::new(),
            signer: Signer::new(key),
        }
    }

    pub async fn get(&self, path: &str) -> Value {
        let response = self.http.get(&format!("{}/{path}", self.chain.url())).await;
        assert_eq!(response.status, 200, "{}", response.text);
        response.json
    }

    /// Pays the second account, and returns the committed transaction.
    pub async fn pay(&self, sequence_number: u64, amount: u64) -> Value {
        let identity = ChainIdentity {
            id: 4,
            vendor: "APTOS".parse().unwrap(),
        };
        let to = self.chain.accounts()[1].address.parse().unwrap();
        let terms = Terms {
            max_gas_amount: 100_000,
            gas_unit_price: 10,
            expiration_timestamp_secs: self.chain.clock().secs() + 30,
        };
        let protector = ReplayProtector::SequenceNumber(sequence_number);
        let call = transfer(&identity.vendor, to, amount);
        let signed = self.signer.sign(&identity, protector, call, terms);
        let url = format!("{}/transactions", self.chain.url());
        let request = self
            .http
            .request(Method::POST, &url)
            .header("content-type", submission_media_type(&identity.vendor))
            .body(bcs_bytes(&signed));
        let response = self.http.try_send(request).await.expect("a response");
        assert!(response.status < 300, "{}", response.text);
        let hash = signed.hash(&identity.vendor);
        loop {
            let transaction = self.get(&format!("transactions/wait_by_hash/{hash}")).await;
            // A long poll of a busy machine ends before the commit.
            if transaction["type"] != "pending_transaction" {
                return transaction;
            }
        }
    }
}
