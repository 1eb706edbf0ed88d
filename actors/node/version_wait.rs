//! Waits for a version of the ledger.
//!
//! The committer holds the waiters by version, and completes those that a Head reaches after it has
//! published that Head. A read that begins after a wait therefore uses this Head or a later one.

use super::{handle::NodeHandle, wait::before};
use crate::{
    NodeError, Overload, VersionNotReached, VersionWaitError, protocol::committer::SubscribeVersion,
};
use ledger_limits::{ClientKey, FairPermit};
use tokio::sync::oneshot;

/// Maximum number of versions by which a wait may be ahead of the Head.
///
/// A node that commits 32,000 transactions per second, as the fastest one that was measured, takes
/// 60 s for as many, which is the default of `wait.timeout_max_ms`. A version further ahead is one
/// of another chain or a mistake, and a wait for it would only hold a permit.
pub const VERSIONS_AHEAD_MAX: u64 = 2_000_000;

impl NodeHandle {
    /// Returns whether the Head has `version`. Every later read uses this Head or a later one.
    pub fn has_version(&self, version: u64) -> bool {
        self.node().head.ledger_info().version >= version
    }

    /// Waits for `client` until the Head has `version`, at most until `end` completes. Every later
    /// read uses this Head or a later one.
    ///
    /// The wait takes a permit of `wait.capacity`, which it releases when it ends or is dropped.
    ///
    /// # Errors
    ///
    /// Returns [`VersionNotReached`] with the ledger info of the Head:
    ///
    /// * immediately, if `version` is more than [`VERSIONS_AHEAD_MAX`] above the Head, if
    ///   `wait.capacity` or the client's part of it is reached, if the mailbox of the committer is
    ///   full, or after a fault of the disk, because no block becomes durable until a restart;
    /// * at the end of the wait;
    /// * when a fault of the disk or the stop of the node ends the wait.
    pub async fn wait_for_version(
        &self,
        version: u64,
        end: impl Future<Output = ()>,
        client: ClientKey,
    ) -> Result<(), VersionNotReached> {
        let waited = self.subscribe_version(version, end, client).await;
        let Err(cause) = waited else {
            return Ok(());
        };
        let ledger_info = self.node().head.ledger_info();
        // A block may have become visible since the wait ended.
        if ledger_info.version >= version {
            return Ok(());
        }
        Err(VersionNotReached { ledger_info, cause })
    }

    /// Waits as [`Self::wait_for_version`] does. After an error the Head may have the version.
    async fn subscribe_version(
        &self,
        version: u64,
        end: impl Future<Output = ()>,
        client: ClientKey,
    ) -> Result<(), VersionWaitError> {
        let node = self.node();
        let newest = node.head.ledger_info().version;
        if newest >= version {
            return Ok(());
        }
        if version - newest > VERSIONS_AHEAD_MAX {
            return Err(VersionWaitError::TooFarAhead);
        }
        let meter = &node.mailboxes.meters.waits;
        let Some(_permit) = FairPermit::try_acquire(&node.wait_limit, client) else {
            meter.refused.increment();
            let full = Overload::brief("wait.capacity", node.wait_limit.max());
            return Err(NodeError::from(full).into());
        };
        let (reply, reached) = oneshot::channel();
        node.mailboxes.committer.try_request(SubscribeVersion {
            version,
            reply,
            notifier: self.notifier.clone(),
        })?;
        let begun = meter.begin();
        let reached = before(end, reached).await;
        begun.end();
        match reached {
            Some(Ok(())) => {
                meter.reached.increment();
                Ok(())
            }
            Some(Err(_)) => {
                let failed = node.health.health().failed();
                Err(failed.map_or(NodeError::Stopping, NodeError::from).into())
            }
            None => {
                meter.timed_out.increment();
                Err(VersionWaitError::TimedOut)
            }
        }
    }
}
