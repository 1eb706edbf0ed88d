//! The faucet, as its clients see it.

use super::{ClientError, base_url, error::success, http_client};
use ledger::{AccountAddress, HashValue};
use serde::Deserialize;

/// A connection to a faucet.
#[derive(Debug, Clone)]
pub struct FaucetClient {
    http: reqwest::Client,
    base: String,
}

#[derive(Deserialize)]
struct Funded {
    txn_hashes: Vec<String>,
}

impl FaucetClient {
    /// The faucet at `http://HOST:PORT`.
    ///
    /// # Errors
    /// When `url` is no such address.
    pub fn new(url: &str) -> Result<Self, ClientError> {
        Ok(Self {
            http: http_client()?,
            base: base_url(url)?,
        })
    }

    /// Asks for `amount` in the coin's smallest unit; answers when it is committed.
    ///
    /// # Errors
    /// When the faucet does not answer or refuses.
    pub async fn fund(&self, to: &AccountAddress, amount: u64) -> Result<HashValue, ClientError> {
        let url = format!("{}/fund", self.base);
        let body = serde_json::json!({ "address": to.to_long_hex(), "amount": amount });
        let no_answer = |source| ClientError::NoAnswer {
            url: url.clone(),
            source,
        };
        let response = self
            .http
            .post(&url)
            .json(&body)
            .send()
            .await
            .map_err(no_answer)?;
        let funded: Funded = success(&url, response)
            .await?
            .json()
            .await
            .map_err(no_answer)?;
        let first = funded.txn_hashes.first().map(|text| text.parse());
        match first {
            Some(Ok(hash)) => Ok(hash),
            _ => Err(ClientError::Unexpected {
                url,
                reason: "no transaction hash".to_owned(),
            }),
        }
    }
}
