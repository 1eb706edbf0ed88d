//! One connection for many requests.

use super::{Answer, Client};
use ledger_types::SignedTransaction;
use tokio::{io::AsyncWriteExt, net::TcpStream};

/// A connection that stays open, for one request at a time.
pub struct Connection {
    client: Client,
    stream: TcpStream,
    /// The head of the last request.
    sent: Vec<u8>,
}

impl Connection {
    pub async fn open(client: &Client) -> Self {
        Self {
            stream: client.connect().await,
            client: client.clone(),
            sent: Vec::new(),
        }
    }

    /// Sends the transaction as BCS to this path.
    pub async fn send(&mut self, path: &str, signed: &SignedTransaction) {
        let body = bcs::to_bytes(signed).unwrap();
        let mut request = format!(
            "POST {path} HTTP/1.1\r\nhost: node\r\ncontent-type: {}\r\ncontent-length: {}\r\n\r\n",
            self.client.signed_transaction_type(),
            body.len()
        )
        .into_bytes();
        self.sent.clone_from(&request);
        request.extend(body);
        self.stream.write_all(&request).await.unwrap();
    }

    /// The answer to what was sent last.
    pub async fn answer(&mut self) -> Answer {
        let answer = Answer::read(&mut self.stream).await;
        self.client.assert_declared(&self.sent, &answer);
        answer
    }

    /// Submits the transaction.
    pub async fn submit(&mut self, signed: &SignedTransaction) -> Answer {
        self.send("/v1/transactions", signed).await;
        self.answer().await
    }
}
