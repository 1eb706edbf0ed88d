//! Submissions that validation rejects.

use super::{TestApi, refused};
use ledger_types::{SignedTransaction, ValidationStatus as Status};

/// A submission and the error that rejects it.
pub struct Refusal {
    pub what: &'static str,
    pub signed: SignedTransaction,
    pub status: Status,
    /// A part of the message in addition to the name of the status.
    pub words: &'static str,
}

impl Refusal {
    /// Submits the transaction, and asserts that the error is the expected one and that the node
    /// has not accepted the transaction.
    pub async fn show(&self, api: &TestApi) {
        let answer = api.client.submit_bcs(&self.signed).await;
        refused(&answer, (400, "vm_error"), self.what);
        let body = answer.json();
        assert_eq!(
            body["vm_error_code"],
            self.status.code(),
            "{}: {body}",
            self.what
        );
        let message = body["message"].as_str().unwrap();
        let start = format!(
            "Invalid transaction: Type: Validation Code: {}",
            self.status
        );
        assert!(message.starts_with(&start), "{}: {message}", self.what);
        assert!(message.contains(self.words), "{}: {message}", self.what);
        assert_eq!(answer.headers["x-node-chain-id"], "4");
        let hash = self.signed.hash(api.chain.vendor());
        let lookup = api
            .client
            .get(&format!("/v1/transactions/by_hash/{hash}"))
            .await;
        refused(&lookup, (404, "transaction_not_found"), self.what);
    }
}
