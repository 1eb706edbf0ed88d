//! A client of the REST interface of a node.

use crate::{
    ClientError,
    http::{base_url, check_status, http_client, no_response},
};
use ledger_crypto::HashValue;
use ledger_types::{AccountAddress, ChainIdentity, SignedTransaction, Vendor};
use reqwest::{
    Response,
    header::{CONTENT_TYPE, HeaderMap},
};
use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use std::time::Duration;

/// Pause between two long polls of one wait, the interval of the reference node.
const POLL_PAUSE: Duration = Duration::from_millis(20);

/// A client of one node. Clones share its connections.
#[derive(Debug, Clone)]
pub struct NodeClient {
    http: reqwest::Client,
    /// The URL of the interface, with `/v1` and without a trailing slash.
    base_url: String,
}

/// The latest committed state of a ledger.
#[derive(Debug, Clone)]
pub struct LedgerState {
    /// The chain that transactions of this ledger are signed for.
    pub chain: ChainIdentity,
    /// The latest version.
    pub version: u64,
    /// The height of the latest block.
    pub block_height: u64,
}

/// The state of an account.
#[derive(Debug, Clone, Deserialize)]
pub struct AccountState {
    /// The sequence number of the account's next transaction.
    #[serde(deserialize_with = "decimal_text")]
    pub sequence_number: u64,
    /// The authentication key of the account, in hex.
    pub authentication_key: String,
}

/// The outcome of a committed transaction.
#[derive(Debug, Clone, Deserialize)]
pub struct CommittedTransaction {
    /// The version of the transaction.
    #[serde(deserialize_with = "decimal_text")]
    pub version: u64,
    /// Whether the execution succeeded. The fee is charged in either case.
    pub success: bool,
    /// The status of the execution, in words.
    pub vm_status: String,
    /// Gas units that the transaction used.
    #[serde(deserialize_with = "decimal_text")]
    pub gas_used: u64,
}

/// The fields of `/v1` that a [`LedgerState`] is made of.
#[derive(Deserialize)]
struct LedgerBody {
    chain_id: u8,
    #[serde(deserialize_with = "decimal_text")]
    ledger_version: u64,
    #[serde(deserialize_with = "decimal_text")]
    block_height: u64,
}

/// The body of `/v1/estimate_gas_price`.
#[derive(Deserialize)]
struct GasEstimate {
    gas_estimate: u64,
}

/// The field of an accepted submission that identifies the transaction.
#[derive(Deserialize)]
struct AcceptedSubmission {
    hash: String,
}

/// Deserializes a 64-bit number that JSON holds as decimal text.
fn decimal_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    String::deserialize(deserializer)?
        .parse()
        .map_err(serde::de::Error::custom)
}

impl NodeClient {
    /// Creates a client of the node at `url`, which may end with `/v1`, without connecting to it.
    ///
    /// # Errors
    /// Returns [`ClientError::InvalidUrl`] if `url` is not of the form `http://HOST:PORT`.
    pub fn new(url: &str) -> Result<Self, ClientError> {
        let base = base_url(url)?;
        let base = base.strip_suffix("/v1").unwrap_or(&base);
        Ok(Self {
            http: http_client()?,
            base_url: format!("{base}/v1"),
        })
    }

    /// Returns the latest committed state of the ledger.
    ///
    /// The vendor word of the chain is read from the names of the response headers.
    ///
    /// # Errors
    /// Returns [`ClientError::NoResponse`] if the node does not respond, [`ClientError::Rejected`]
    /// if it responds with an error status, and [`ClientError::UnexpectedResponse`] if the response
    /// is not one of a node.
    pub async fn ledger(&self) -> Result<LedgerState, ClientError> {
        let url = self.base_url.clone();
        let response = self.get(&url).await?;
        let vendor =
            vendor_of(response.headers()).ok_or_else(|| ClientError::UnexpectedResponse {
                url: url.clone(),
                reason: "no header X-{VENDOR}-CHAIN-ID; is this a node?".to_owned(),
            })?;
        let body: LedgerBody = read_json(&url, response).await?;
        Ok(LedgerState {
            chain: ChainIdentity {
                id: body.chain_id,
                vendor,
            },
            version: body.ledger_version,
            block_height: body.block_height,
        })
    }

    /// Returns the gas unit price that the node recommends, in the coin's smallest unit.
    ///
    /// # Errors
    /// Returns the same errors as [`NodeClient::ledger`].
    pub async fn gas_unit_price(&self) -> Result<u64, ClientError> {
        let url = format!("{}/estimate_gas_price", self.base_url);
        let estimate: GasEstimate = read_json(&url, self.get(&url).await?).await?;
        Ok(estimate.gas_estimate)
    }

    /// Returns the state of an account.
    ///
    /// # Errors
    /// Returns [`ClientError::Rejected`] if the account does not exist, and otherwise the same
    /// errors as [`NodeClient::ledger`].
    pub async fn account(&self, address: &AccountAddress) -> Result<AccountState, ClientError> {
        let url = format!("{}/accounts/{address}", self.base_url);
        read_json(&url, self.get(&url).await?).await
    }

    /// Returns the balance of an account in the chain's coin, in its smallest unit.
    ///
    /// # Errors
    /// Returns the same errors as [`NodeClient::ledger`].
    pub async fn balance(&self, address: &AccountAddress) -> Result<u64, ClientError> {
        let coin = AccountAddress::NATIVE_ASSET;
        let url = format!("{}/accounts/{address}/balance/{coin}", self.base_url);
        read_json(&url, self.get(&url).await?).await
    }

    /// Submits a transaction of a chain with the word `vendor`, and returns its hash.
    ///
    /// # Errors
    /// Returns [`ClientError::Rejected`] if the node rejects the transaction. After
    /// [`ClientError::NoResponse`] and [`ClientError::UnexpectedResponse`] it may be pending.
    pub async fn submit(
        &self,
        vendor: &Vendor,
        transaction: &SignedTransaction,
    ) -> Result<HashValue, ClientError> {
        let url = format!("{}/transactions", self.base_url);
        let response = self
            .http
            .post(&url)
            .header(CONTENT_TYPE, submission_media_type(vendor))
            .body(bcs::to_bytes(transaction).expect("a transaction has a BCS form"))
            .send()
            .await
            .map_err(|source| no_response(&url, source))?;
        let accepted: AcceptedSubmission =
            read_json(&url, check_status(&url, response).await?).await?;
        accepted
            .hash
            .parse()
            .map_err(|error| ClientError::UnexpectedResponse {
                url,
                reason: format!("hash {:?}: {error}", accepted.hash),
            })
    }

    /// Waits by long polls until the transaction is committed.
    ///
    /// The wait ends when the transaction expires at the latest, because the mempool removes it.
    ///
    /// # Errors
    /// Returns [`ClientError::NotCommitted`] if the transaction was removed from the mempool, and
    /// otherwise the same errors as [`NodeClient::ledger`].
    pub async fn wait(&self, hash: &HashValue) -> Result<CommittedTransaction, ClientError> {
        let url = format!("{}/transactions/wait_by_hash/{hash}", self.base_url);
        loop {
            let body: serde_json::Value = match self.get(&url).await {
                Ok(response) => read_json(&url, response).await?,
                Err(ClientError::Rejected {
                    status: 404,
                    message,
                    ..
                }) => {
                    return Err(ClientError::NotCommitted {
                        hash: *hash,
                        reason: message,
                    });
                }
                Err(error) => return Err(error),
            };
            if body["type"] != "pending_transaction" {
                return serde_json::from_value(body).map_err(|error| {
                    ClientError::UnexpectedResponse {
                        url,
                        reason: error.to_string(),
                    }
                });
            }
            // A node with too many waiting clients responds immediately instead of waiting.
            tokio::time::sleep(POLL_PAUSE).await;
        }
    }

    async fn get(&self, url: &str) -> Result<Response, ClientError> {
        let response = self
            .http
            .get(url)
            .send()
            .await
            .map_err(|source| no_response(url, source))?;
        check_status(url, response).await
    }
}

/// Returns the media type of a signed transaction in BCS.
pub fn submission_media_type(vendor: &Vendor) -> String {
    format!("application/x.{}.signed_transaction+bcs", vendor.lower())
}

/// Reads the JSON body of a response.
async fn read_json<T: DeserializeOwned>(url: &str, response: Response) -> Result<T, ClientError> {
    response.json().await.map_err(|source| {
        if source.is_decode() {
            ClientError::UnexpectedResponse {
                url: url.to_owned(),
                reason: source.to_string(),
            }
        } else {
            no_response(url, source)
        }
    })
}

/// Returns the vendor word, which stands between `x-` and `-chain-id` in the name of a header.
fn vendor_of(headers: &HeaderMap) -> Option<Vendor> {
    headers.keys().find_map(|name| {
        let word = name
            .as_str()
            .strip_prefix("x-")?
            .strip_suffix("-chain-id")?;
        word.parse().ok()
    })
}
