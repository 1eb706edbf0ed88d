//! A client of the faucet of a development chain.

use crate::{
    ClientError,
    http::{base_url, check_status, http_client, no_response},
};
use ledger_crypto::HashValue;
use ledger_types::AccountAddress;
use serde::Deserialize;

/// A client of one faucet. Clones share its connections.
#[derive(Debug, Clone)]
pub struct FaucetClient {
    http: reqwest::Client,
    base_url: String,
}

/// The body of a successful response of `/fund`.
#[derive(Deserialize)]
struct FundResponse {
    txn_hashes: Vec<String>,
}

impl FaucetClient {
    /// Creates a client of the faucet at `url`, without connecting to it.
    ///
    /// # Errors
    /// Returns [`ClientError::InvalidUrl`] if `url` is not of the form `http://HOST:PORT`.
    pub fn new(url: &str) -> Result<Self, ClientError> {
        Ok(Self {
            http: http_client()?,
            base_url: base_url(url)?,
        })
    }

    /// Requests `amount` of the coin, in its smallest unit, for the account `to`.
    ///
    /// Returns the hash of the transaction after its commit.
    ///
    /// # Errors
    /// Returns [`ClientError::Rejected`] if the faucet responds with an error status,
    /// [`ClientError::NoResponse`] if it does not respond or its body is not as expected, and
    /// [`ClientError::UnexpectedResponse`] if the body contains no transaction hash. Except after
    /// `Rejected`, the account may have been funded.
    pub async fn fund(&self, to: &AccountAddress, amount: u64) -> Result<HashValue, ClientError> {
        let url = format!("{}/fund", self.base_url);
        let body = serde_json::json!({ "address": to.to_long_hex(), "amount": amount });
        let response = self
            .http
            .post(&url)
            .json(&body)
            .send()
            .await
            .map_err(|source| no_response(&url, source))?;
        let funded: FundResponse = check_status(&url, response)
            .await?
            .json()
            .await
            .map_err(|source| no_response(&url, source))?;
        let first = funded.txn_hashes.first().map(|text| text.parse());
        match first {
            Some(Ok(hash)) => Ok(hash),
            _ => Err(ClientError::UnexpectedResponse {
                url,
                reason: "no transaction hash".to_owned(),
            }),
        }
    }
}
