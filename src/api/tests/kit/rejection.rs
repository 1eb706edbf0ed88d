//! Submissions that validation rejects.

use super::{TestApi, assert_error};
use ledger_types::{SignedTransaction, ValidationStatus as Status};

/// A submission and the error that rejects it.
pub struct Rejection {
    pub case: &'static str,
    pub signed: SignedTransaction,
    pub status: Status,
    /// A part of the message in addition to the name of the status.
    pub words: &'static str,
}

impl Rejection {
    /// Submits the transaction, and asserts that the error is the expected one and that the node
    /// has not accepted the transaction.
    pub async fn assert_rejected(&self, api: &TestApi) {
        let response = api.client.submit_bcs(&self.signed).await;
        assert_error(&response, (400, "vm_error"), self.case);
        let body = response.json();
        assert_eq!(
            body["vm_error_code"],
            self.status.code(),
            "{}: {body}",
            self.case
        );
        let message = body["message"].as_str().unwrap();
        let start = format!(
            "Invalid transaction: Type: Validation Code: {}",
            self.status
        );
        assert!(message.starts_with(&start), "{}: {message}", self.case);
        assert!(message.contains(self.words), "{}: {message}", self.case);
        assert_eq!(response.headers["x-node-chain-id"], "4");
        let hash = self.signed.hash(api.chain.vendor());
        let lookup = api
            .client
            .get(&format!("/v1/transactions/by_hash/{hash}"))
            .await;
        assert_error(&lookup, (404, "transaction_not_found"), self.case);
    }
}
