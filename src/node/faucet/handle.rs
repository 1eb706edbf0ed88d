//! The handle through which routes use the funding task.

use super::{
    batch_times::BatchTimes,
    error::FaucetError,
    funder::{Funded, Funder, Request},
};
use crate::{
    access::{AllowedOrigins, HostOriginPolicy},
    config::FaucetSettings,
};
use actix_web::http::header::HeaderMap;
use ledger_actors::{NodeHandle, Overload};
use ledger_client::signer::Signer;
use ledger_crypto::Ed25519PrivateKey;
use ledger_types::{AccountAddress, Vendor};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// Amount of a request that names none, in the coin's smallest unit: a thousand coins, as the
/// reference node's faucet pays.
const AMOUNT_DEFAULT: u64 = 100_000_000_000;

/// Vendor word of the chains that the SDKs are made for, in lowercase.
const SDK_VENDOR: &str = "aptos";
/// Header with which the SDKs send their name and version.
const SDK_HEADER: &str = "x-aptos-client";

/// A handle to the funding task. Cheap to clone. The task ends when the last clone is dropped.
#[derive(Clone, Debug)]
pub struct Faucet {
    queue: mpsc::Sender<Request>,
    times: Arc<BatchTimes>,
    amount_max: u64,
    vendor: Vendor,
    /// The `Host` and `Origin` headers that the faucet accepts.
    pub policy: HostOriginPolicy,
}

impl Faucet {
    /// Starts the funding task, which owns `key`, on the current actix system.
    pub fn start(node: NodeHandle, key: Ed25519PrivateKey, settings: &FaucetSettings) -> Self {
        let (queue, requests) = mpsc::channel(settings.queue_capacity);
        let times = Arc::<BatchTimes>::default();
        let vendor = node.chain().identity().vendor.clone();
        let funder = Funder::new(node, Signer::new(key), Arc::clone(&times));
        actix_web::rt::spawn(funder.run(requests));
        Self {
            queue,
            times,
            amount_max: settings.amount_max,
            vendor,
            policy: HostOriginPolicy {
                section: "faucet",
                hosts: settings.hosts.clone(),
                origins: AllowedOrigins::LocalhostAnd(settings.origins.clone()),
            },
        }
    }

    /// Checks that the client is no SDK that cannot use the account.
    ///
    /// # Errors
    ///
    /// Returns [`FaucetError::ClientIsSdk`] if the client is an SDK of Aptos, and the chain has
    /// another vendor word: the transactions that such an SDK signs are invalid on this chain.
    pub fn check_client(&self, headers: &HeaderMap) -> Result<(), FaucetError> {
        if headers.contains_key(SDK_HEADER) && self.vendor.lower() != SDK_VENDOR {
            return Err(FaucetError::ClientIsSdk(self.vendor.clone()));
        }
        Ok(())
    }

    /// Pays `amount`, or `faucet.amount_max` if that is less, and waits until the payment is
    /// committed, at most until `end` completes.
    ///
    /// # Errors
    ///
    /// Returns [`FaucetError::Overloaded`] if the queue is full, [`FaucetError::Stopping`] if the
    /// task has ended, [`FaucetError::Unfinished`] if `end` completes first, or the error of the
    /// task.
    pub async fn fund(
        &self,
        to: AccountAddress,
        amount: Option<u64>,
        end: impl Future<Output = ()>,
    ) -> Result<Funded, FaucetError> {
        let amount = amount.unwrap_or(AMOUNT_DEFAULT).min(self.amount_max);
        let (reply, answer) = oneshot::channel();
        self.queue
            .try_send(Request { to, amount, reply })
            .map_err(|error| match error {
                mpsc::error::TrySendError::Full(_) => self.queue_full().into(),
                mpsc::error::TrySendError::Closed(_) => FaucetError::Stopping,
            })?;
        tokio::select! {
            biased;
            answer = answer => answer.unwrap_or(Err(FaucetError::Stopping)),
            () = end => Err(FaucetError::Unfinished),
        }
    }

    fn queue_full(&self) -> Overload {
        let capacity = self.queue.max_capacity() as u64;
        let retry_after_secs = self.times.retry_after_secs();
        Overload::new("faucet.queue_capacity", capacity, retry_after_secs)
    }
}
