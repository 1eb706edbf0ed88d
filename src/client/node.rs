//! A client of the REST interface of a node.

use crate::{
    ClientError,
    http::{Endpoint, HttpClient, Response, TrustedRoots, read_json},
};
use bytes::Bytes;
use http::StatusCode;
use ledger_crypto::HashValue;
use ledger_types::{AccountAddress, ChainIdentity, SignedTransaction, Vendor};
use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use std::time::{Duration, Instant};

/// Pause between two long polls of one wait, the interval of the reference node.
const POLL_PAUSE: Duration = Duration::from_millis(20);

/// Time for which [`NodeClient::submit_and_wait`] asks the node to wait, in milliseconds, half of
/// that in which a response must arrive. It covers the expiration of usual transactions.
const COMMIT_WAIT_MS: u64 = 30_000;

/// Maximum number of requests with the same submission. If a response is lost, the node may have
/// accepted the transaction, so the same bytes are sent again.
const SUBMISSIONS_MAX: usize = 4;

/// Pause before a submission is sent again, in which a restarting node may become ready.
const RESUBMIT_PAUSE: Duration = Duration::from_millis(500);

/// Maximum time that [`NodeClient::await_committed`] waits for a node that is behind another one of
/// its chain.
const BEHIND_MAX: Duration = Duration::from_secs(60);

/// A client of one node. Clones share its connections.
#[derive(Debug, Clone)]
pub struct NodeClient {
    http: HttpClient,
    /// The path of the interface, with `/v1` and without a trailing slash.
    base_path: String,
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
pub struct TransactionOutcome {
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

/// A committed transaction that has a sequence number.
#[derive(Debug, Clone, Deserialize)]
pub struct NumberedTransaction {
    /// The hash of the transaction, in hex.
    pub hash: String,
    #[serde(deserialize_with = "decimal_text")]
    sequence_number: u64,
    /// The payload in the JSON form of the interface.
    pub payload: serde_json::Value,
    /// The outcome.
    #[serde(flatten)]
    pub outcome: TransactionOutcome,
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
    /// An `https://` URL is verified with `roots`.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Endpoint::parse`].
    pub fn new(url: &str, roots: &TrustedRoots) -> Result<Self, ClientError> {
        let endpoint = Endpoint::parse(url, roots)?;
        let base = endpoint.path();
        let base = base.strip_suffix("/v1").unwrap_or(base);
        Ok(Self {
            base_path: format!("{base}/v1"),
            http: HttpClient::new(endpoint),
        })
    }

    /// Returns the latest committed state of the ledger.
    ///
    /// The vendor word of the chain is read from the names of the response headers.
    ///
    /// # Errors
    ///
    /// Returns [`ClientError::NoResponse`] if the node does not respond, [`ClientError::Rejected`]
    /// if it responds with an error status, and [`ClientError::UnexpectedResponse`] if the response
    /// is not one of a node.
    pub async fn ledger(&self) -> Result<LedgerState, ClientError> {
        let response = self.http.get(&self.base_path).await?;
        let url = self.http.url(&self.base_path);
        let vendor = vendor_of(&response).ok_or_else(|| ClientError::UnexpectedResponse {
            url: url.clone(),
            reason: "no header X-{VENDOR}-CHAIN-ID; is this a node?".to_owned(),
        })?;
        let body: LedgerBody = read_json(&url, &response)?;
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
    ///
    /// Returns the same errors as [`NodeClient::ledger`].
    pub async fn gas_unit_price(&self) -> Result<u64, ClientError> {
        let estimate: GasEstimate = self.get_json("/estimate_gas_price").await?;
        Ok(estimate.gas_estimate)
    }

    /// Returns the state of an account.
    ///
    /// # Errors
    ///
    /// Returns [`ClientError::Rejected`] if the account does not exist, and otherwise the same
    /// errors as [`NodeClient::ledger`].
    pub async fn account(&self, address: &AccountAddress) -> Result<AccountState, ClientError> {
        self.get_json(&format!("/accounts/{address}")).await
    }

    /// Returns whether the state has anything of an address: a resource, or a store of the chain's
    /// coin. The store is an object of its own, so it is no resource at the address. An unknown
    /// address has a balance of 0 and the sequence number 0.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`NodeClient::ledger`].
    pub async fn exists(&self, address: &AccountAddress) -> Result<bool, ClientError> {
        let resources: Vec<serde_json::Value> = self
            .get_json(&format!("/accounts/{address}/resources?limit=1"))
            .await?;
        Ok(!resources.is_empty() || self.has_store(address).await?)
    }

    /// Returns whether an account has a store of the chain's coin.
    async fn has_store(&self, address: &AccountAddress) -> Result<bool, ClientError> {
        let path = format!("{}/view", self.base_path);
        let call = serde_json::json!({
            "function": "0x1::primary_fungible_store::primary_store_exists",
            "type_arguments": ["0x1::fungible_asset::Metadata"],
            "arguments": [address.to_string(), AccountAddress::NATIVE_ASSET.to_string()],
        });
        let response = self
            .http
            .post(&path, "application/json", call.to_string())
            .await?;
        let [has_store] = read_json(&self.http.url(&path), &response)?;
        Ok(has_store)
    }

    /// Returns the balance of an account in the chain's coin, in its smallest unit.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`NodeClient::ledger`].
    pub async fn balance(&self, address: &AccountAddress) -> Result<u64, ClientError> {
        let coin = AccountAddress::NATIVE_ASSET;
        self.get_json(&format!("/accounts/{address}/balance/{coin}"))
            .await
    }

    /// Returns the committed transaction of an account with this sequence number, or `None` if
    /// there is none yet.
    ///
    /// # Errors
    ///
    /// Returns [`ClientError::Rejected`] with status 410 if the transaction is below the window,
    /// and otherwise the same errors as [`NodeClient::ledger`].
    pub async fn numbered_transaction(
        &self,
        address: &AccountAddress,
        sequence_number: u64,
    ) -> Result<Option<NumberedTransaction>, ClientError> {
        let path = format!("/accounts/{address}/transactions?start={sequence_number}&limit=1");
        let page: Vec<NumberedTransaction> = self.get_json(&path).await?;
        let mut page = page.into_iter();
        Ok(page.find(|transaction| transaction.sequence_number == sequence_number))
    }

    /// Submits a transaction of a chain with the word `vendor`, and returns its hash.
    ///
    /// # Errors
    ///
    /// Returns [`ClientError::Rejected`] if the node rejects the transaction. After
    /// [`ClientError::NoResponse`] and [`ClientError::UnexpectedResponse`] it may be pending.
    pub async fn submit(
        &self,
        vendor: &Vendor,
        transaction: &SignedTransaction,
    ) -> Result<HashValue, ClientError> {
        let path = format!("{}/transactions", self.base_path);
        let body = bcs::to_bytes(transaction).expect("a transaction has a BCS form");
        let response = self
            .http
            .post(&path, &submission_media_type(vendor), body)
            .await?;
        let url = self.http.url(&path);
        let accepted: AcceptedSubmission = read_json(&url, &response)?;
        accepted
            .hash
            .parse()
            .map_err(|error| ClientError::UnexpectedResponse {
                url,
                reason: format!("hash {:?}: {error}", accepted.hash),
            })
    }

    /// Submits a transaction of a chain with the word `vendor`, and waits for its commit.
    ///
    /// A repetition with the same transaction is safe: it returns the outcome of the only commit.
    /// If no response arrives, this sends the same bytes again, in all up to four times.
    ///
    /// # Errors
    ///
    /// Returns [`ClientError::Rejected`] if the node rejects the transaction and does not know it.
    /// Otherwise returns the errors of [`NodeClient::wait`], after which the transaction may be
    /// pending, except after [`ClientError::NotCommitted`].
    pub async fn submit_and_wait(
        &self,
        vendor: &Vendor,
        transaction: &SignedTransaction,
    ) -> Result<TransactionOutcome, ClientError> {
        let hash = transaction.hash(vendor);
        let path = format!(
            "{}/transactions?timeout_ms={COMMIT_WAIT_MS}",
            self.base_path
        );
        let body: Bytes = bcs::to_bytes(transaction)
            .expect("a transaction has a BCS form")
            .into();
        let media_type = submission_media_type(vendor);
        for attempt in 1..=SUBMISSIONS_MAX {
            match self.http.post(&path, &media_type, body.clone()).await {
                Ok(response) if response.status() == StatusCode::OK => {
                    return read_json(&self.http.url(&path), &response);
                }
                // The deadline has passed, or the node waits for no more clients.
                Ok(_) => break,
                Err(ClientError::NoResponse { .. }) if attempt < SUBMISSIONS_MAX => {
                    tokio::time::sleep(RESUBMIT_PAUSE).await;
                }
                Err(error) => return self.outcome_after(error, &hash).await,
            }
        }
        self.wait(&hash).await
    }

    /// Returns the outcome of a transaction after its submission has failed with `error`: that of
    /// an earlier submission of the same bytes, or `error` if there was none.
    async fn outcome_after(
        &self,
        error: ClientError,
        hash: &HashValue,
    ) -> Result<TransactionOutcome, ClientError> {
        match error {
            // Removed from the mempool during the wait.
            ClientError::Rejected {
                status: 404,
                message,
                ..
            } => Err(ClientError::NotCommitted {
                hash: *hash,
                reason: message,
            }),
            // A committed transaction is rejected because its sequence number or nonce is used, or
            // because it has expired since.
            error @ ClientError::Rejected { status: 400, .. } => match self.wait(hash).await {
                Err(ClientError::NotCommitted { .. }) => Err(error),
                outcome => outcome,
            },
            error => Err(error),
        }
    }

    /// Waits by long polls until the transaction is committed.
    ///
    /// The wait ends when the transaction expires at the latest, because the mempool removes it.
    ///
    /// # Errors
    ///
    /// Returns [`ClientError::NotCommitted`] if the transaction was removed from the mempool, and
    /// otherwise the same errors as [`NodeClient::ledger`].
    pub async fn wait(&self, hash: &HashValue) -> Result<TransactionOutcome, ClientError> {
        let path = format!("/transactions/wait_by_hash/{hash}");
        loop {
            let body: serde_json::Value = match self.get_json(&path).await {
                Ok(body) => body,
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
                        url: self.http.url(&format!("{}{path}", self.base_path)),
                        reason: error.to_string(),
                    }
                });
            }
            // A node with too many waiting clients responds immediately instead of waiting.
            tokio::time::sleep(POLL_PAUSE).await;
        }
    }

    /// Waits until this node has a transaction that another node of its chain has committed.
    ///
    /// # Errors
    ///
    /// Returns [`ClientError::NotCommitted`] if the node does not know the transaction after a
    /// minute, and [`ClientError::Rejected`] with status 503 if it cannot ask the other nodes for
    /// as long. Otherwise returns the same errors as [`NodeClient::ledger`].
    pub async fn await_committed(
        &self,
        hash: &HashValue,
    ) -> Result<TransactionOutcome, ClientError> {
        let begun = Instant::now();
        loop {
            match self.wait(hash).await {
                Err(
                    ClientError::NotCommitted { .. } | ClientError::Rejected { status: 503, .. },
                ) if begun.elapsed() < BEHIND_MAX => tokio::time::sleep(POLL_PAUSE).await,
                outcome => return outcome,
            }
        }
    }

    /// Requests a path below that of the interface, and deserializes the JSON response.
    async fn get_json<T: DeserializeOwned>(&self, path: &str) -> Result<T, ClientError> {
        let path = format!("{}{path}", self.base_path);
        let response = self.http.get(&path).await?;
        read_json(&self.http.url(&path), &response)
    }
}

/// Returns the media type of a signed transaction in BCS.
pub fn submission_media_type(vendor: &Vendor) -> String {
    format!("application/x.{}.signed_transaction+bcs", vendor.lower())
}

/// Returns the vendor word: the part between `x-` and `-chain-id` of a header name.
fn vendor_of(response: &Response) -> Option<Vendor> {
    response.headers().keys().find_map(|name| {
        let word = name.as_str().strip_prefix("x-")?;
        word.strip_suffix("-chain-id")?.parse().ok()
    })
}
