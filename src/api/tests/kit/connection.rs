//! One connection for many requests.

use super::Client;
use ledger_test_support::http::{RawConnection, RawResponse, post_bytes};
use ledger_types::SignedTransaction;
use serde::Serialize;

/// A connection that stays open, for one request at a time.
pub struct Connection {
    client: Client,
    connection: RawConnection,
    /// The last request.
    sent: Vec<u8>,
}

impl Connection {
    pub async fn open(client: &Client) -> Self {
        Self {
            connection: client.connect().await,
            client: client.clone(),
            sent: Vec::new(),
        }
    }

    /// Sends a transaction, or a list of them, as BCS to this path.
    pub async fn send(&mut self, path: &str, signed: &impl Serialize) {
        let media_type = self.client.signed_transaction_type();
        self.sent = post_bytes(path, &media_type, &bcs::to_bytes(signed).unwrap());
        self.connection.send(&self.sent).await;
    }

    /// Reads the response to the last request.
    pub async fn response(&mut self) -> RawResponse {
        let response = self.connection.response().await.expect("a response");
        self.client.assert_declared(&self.sent, &response);
        response
    }

    /// Submits the transaction.
    pub async fn submit(&mut self, signed: &SignedTransaction) -> RawResponse {
        self.send("/v1/transactions", signed).await;
        self.response().await
    }
}
