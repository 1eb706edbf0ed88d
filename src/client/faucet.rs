//! A client of the faucet of a development chain.

use crate::{
    ClientError,
    error::RequestError,
    http::{Endpoint, HttpClient, TrustedRoots, read_json},
};
use ledger_crypto::HashValue;
use ledger_types::AccountAddress;
use serde::Deserialize;

/// A client of one faucet. Clones share its connections.
#[derive(Debug, Clone)]
pub struct FaucetClient {
    http: HttpClient,
    /// The path of `/fund`.
    fund_path: String,
}

/// The body of a successful response of `/fund`.
#[derive(Deserialize)]
struct FundResponse {
    txn_hashes: Vec<String>,
}

impl FaucetClient {
    /// Creates a client of the faucet at `url`, without connecting to it. An `https://` URL is
    /// verified with `roots`.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Endpoint::parse`].
    pub fn new(url: &str, roots: &TrustedRoots) -> Result<Self, ClientError> {
        let endpoint = Endpoint::parse(url, roots)?;
        Ok(Self {
            fund_path: format!("{}/fund", endpoint.path()),
            http: HttpClient::new(endpoint),
        })
    }

    /// Requests `amount` of the coin, in its smallest unit, for the account `to`.
    ///
    /// Returns the hash of the transaction after its commit.
    ///
    /// # Errors
    ///
    /// Returns [`ClientError::NoFaucet`] if nothing listens at its address,
    /// [`ClientError::Rejected`] if the faucet responds with an error status,
    /// [`ClientError::NoResponse`] if it does not respond, and [`ClientError::UnexpectedResponse`]
    /// if the body has another form or no transaction hash. Except after the first two, the account
    /// may have been funded.
    pub async fn fund(&self, to: &AccountAddress, amount: u64) -> Result<HashValue, ClientError> {
        let body = serde_json::json!({ "address": to.to_long_hex(), "amount": amount });
        let response = self
            .http
            .post(&self.fund_path, "application/json", body.to_string())
            .await
            .map_err(no_faucet)?;
        let url = self.http.url(&self.fund_path);
        let funded: FundResponse = read_json(&url, &response)?;
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

/// Returns the error of a request that reached no server as that of a missing faucet, because a
/// chain without a faucet has no listener for it.
fn no_faucet(error: ClientError) -> ClientError {
    match error {
        ClientError::NoResponse {
            url,
            source: RequestError::Connect(source),
        } => ClientError::NoFaucet { url, source },
        other => other,
    }
}
