//! A node, as its clients see it.

use super::{ClientError, base_url, error::success, http_client};
use crate::signer::ChainIdentity;
use ledger::{AccountAddress, HashValue, SignedTransaction, Vendor};
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use std::time::Duration;

/// The pause between two long polls of one wait; the reference's own interval.
const PAUSE_BETWEEN_POLLS: Duration = Duration::from_millis(20);

/// A connection to a node.
#[derive(Debug, Clone)]
pub struct NodeClient {
    http: reqwest::Client,
    base: String,
}

/// The newest state of the ledger, and whose it is.
#[derive(Debug, Clone)]
pub struct LedgerState {
    /// What its transactions are signed for.
    pub chain: ChainIdentity,
    /// The newest version.
    pub version: u64,
    /// The newest block's height.
    pub block_height: u64,
}

/// What is known of an account.
#[derive(Debug, Clone, Deserialize)]
pub struct AccountState {
    /// The number of its next transaction.
    #[serde(deserialize_with = "number_in_text")]
    pub sequence_number: u64,
    /// Which key signs for it.
    pub authentication_key: String,
}

/// A committed transaction.
#[derive(Debug, Clone, Deserialize)]
pub struct Committed {
    /// Where it stands on the ledger.
    #[serde(deserialize_with = "number_in_text")]
    pub version: u64,
    /// Whether it did what it says.
    pub success: bool,
    /// In words.
    pub vm_status: String,
    /// In gas units.
    #[serde(deserialize_with = "number_in_text")]
    pub gas_used: u64,
}

#[derive(Deserialize)]
struct LedgerBody {
    chain_id: u8,
    #[serde(deserialize_with = "number_in_text")]
    ledger_version: u64,
    #[serde(deserialize_with = "number_in_text")]
    block_height: u64,
}

#[derive(Deserialize)]
struct GasEstimate {
    gas_estimate: u64,
}

#[derive(Deserialize)]
struct Submitted {
    hash: String,
}

fn number_in_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    String::deserialize(deserializer)?
        .parse()
        .map_err(serde::de::Error::custom)
}

impl NodeClient {
    /// The node at `http://HOST:PORT`; a `/v1` behind it is taken as well.
    ///
    /// # Errors
    /// When `url` is no such address.
    pub fn new(url: &str) -> Result<Self, ClientError> {
        let base = base_url(url)?;
        let base = base.strip_suffix("/v1").unwrap_or(&base);
        Ok(Self {
            http: http_client()?,
            base: format!("{base}/v1"),
        })
    }

    /// The newest state of the ledger; the vendor word is in the names of the answer's headers.
    ///
    /// # Errors
    /// When the node does not answer, or not as a node does.
    pub async fn ledger(&self) -> Result<LedgerState, ClientError> {
        let url = self.base.clone();
        let response = self.get(&url).await?;
        let vendor = vendor_of(response.headers()).ok_or_else(|| ClientError::Unexpected {
            url: url.clone(),
            reason: "no header X-{VENDOR}-CHAIN-ID; is this a node?".to_owned(),
        })?;
        let body: LedgerBody = read(&url, response).await?;
        Ok(LedgerState {
            chain: ChainIdentity {
                id: body.chain_id,
                vendor,
            },
            version: body.ledger_version,
            block_height: body.block_height,
        })
    }

    /// The gas unit price that the node suggests.
    ///
    /// # Errors
    /// As [`NodeClient::ledger`].
    pub async fn gas_unit_price(&self) -> Result<u64, ClientError> {
        let url = format!("{}/estimate_gas_price", self.base);
        let estimate: GasEstimate = read(&url, self.get(&url).await?).await?;
        Ok(estimate.gas_estimate)
    }

    /// What is known of an account.
    ///
    /// # Errors
    /// As [`NodeClient::ledger`], and when there is no such account.
    pub async fn account(&self, address: &AccountAddress) -> Result<AccountState, ClientError> {
        let url = format!("{}/accounts/{address}", self.base);
        read(&url, self.get(&url).await?).await
    }

    /// What an account holds of the chain's coin, in its smallest unit.
    ///
    /// # Errors
    /// As [`NodeClient::ledger`].
    pub async fn balance(&self, address: &AccountAddress) -> Result<u64, ClientError> {
        let coin = AccountAddress::NATIVE_ASSET;
        let url = format!("{}/accounts/{address}/balance/{coin}", self.base);
        read(&url, self.get(&url).await?).await
    }

    /// Submits a transaction.
    ///
    /// # Errors
    /// When the node does not answer or refuses it.
    pub async fn submit(
        &self,
        vendor: &Vendor,
        transaction: &SignedTransaction,
    ) -> Result<HashValue, ClientError> {
        let url = format!("{}/transactions", self.base);
        let response = self
            .http
            .post(&url)
            .header(CONTENT_TYPE, submission_media_type(vendor))
            .body(bcs::to_bytes(transaction).expect("a transaction has a BCS form"))
            .send()
            .await
            .map_err(|source| no_answer(&url, source))?;
        let submitted: Submitted = read(&url, success(&url, response).await?).await?;
        submitted
            .hash
            .parse()
            .map_err(|error| ClientError::Unexpected {
                url,
                reason: format!("hash {:?}: {error}", submitted.hash),
            })
    }

    /// Waits by long polls until the transaction is committed, or has left the pool: at its expiry
    /// at the latest, so this ends.
    ///
    /// # Errors
    /// When it left, or the node does not answer.
    pub async fn wait(&self, hash: &HashValue) -> Result<Committed, ClientError> {
        let url = format!("{}/transactions/wait_by_hash/{hash}", self.base);
        loop {
            let body: serde_json::Value = match self.get(&url).await {
                Ok(response) => read(&url, response).await?,
                Err(ClientError::Refused {
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
                return serde_json::from_value(body).map_err(|error| ClientError::Unexpected {
                    url,
                    reason: error.to_string(),
                });
            }
            // A node with too many waiters answers at once instead of waiting.
            tokio::time::sleep(PAUSE_BETWEEN_POLLS).await;
        }
    }

    async fn get(&self, url: &str) -> Result<reqwest::Response, ClientError> {
        let response = self
            .http
            .get(url)
            .send()
            .await
            .map_err(|source| no_answer(url, source))?;
        success(url, response).await
    }
}

/// The MIME type of a signed transaction in BCS.
pub fn submission_media_type(vendor: &Vendor) -> String {
    format!("application/x.{}.signed_transaction+bcs", vendor.lower())
}

fn no_answer(url: &str, source: reqwest::Error) -> ClientError {
    ClientError::NoAnswer {
        url: url.to_owned(),
        source,
    }
}

async fn read<T: DeserializeOwned>(
    url: &str,
    response: reqwest::Response,
) -> Result<T, ClientError> {
    response.json().await.map_err(|source| {
        if source.is_decode() {
            ClientError::Unexpected {
                url: url.to_owned(),
                reason: source.to_string(),
            }
        } else {
            no_answer(url, source)
        }
    })
}

/// The word between `x-` and `-chain-id` in the name of a header.
fn vendor_of(headers: &HeaderMap) -> Option<Vendor> {
    headers.keys().find_map(|name| {
        let word = name
            .as_str()
            .strip_prefix("x-")?
            .strip_suffix("-chain-id")?;
        word.parse().ok()
    })
}
