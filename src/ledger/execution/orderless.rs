//! Replay protection of orderless transactions by their nonces, which the ledger remembers until no
//! block can contain the transaction any more (docs/reference/framework.md#f12).
//!
//! The number of buckets differs from the reference node's, and a bucket has a maximum size.

use ledger_framework::modules::{
    block::BlockResource,
    nonce_validation::{Bucket, NonceError, NonceSlot, OVERLAP_SECS, SINCE_FRAMEWORK_VERSION},
};
use ledger_types::{
    AccountAddress, Discard, RawTransaction, SignedTransaction, StateError, StateView,
    ValidationStatus as Status,
};
use ledger_vm::{Chain, Context, VmError, decode_resource};

/// What validation needs to know for an orderless transaction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NonceSnapshot {
    slot: NonceSlot,
    /// The nonces among which its own would be.
    bucket: Bucket,
    /// Whether the chain's framework remembers nonces already.
    is_supported: bool,
}

impl NonceSnapshot {
    /// Reads what `transaction` needs; nothing where it has a sequence number.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub fn read(
        chain: &Chain,
        view: &dyn StateView,
        transaction: &SignedTransaction,
    ) -> Result<Option<Self>, StateError> {
        let raw = &transaction.raw;
        let Some(nonce) = raw.payload.replay_protection_nonce() else {
            return Ok(None);
        };
        let slot = NonceSlot::of(&raw.sender, nonce);
        Ok(Some(Self {
            slot,
            bucket: Bucket::read(view, &slot)?,
            is_supported: is_supported(chain, view)?,
        }))
    }

    /// Whether the chain takes orderless transactions at all.
    pub(super) fn check_supported(&self) -> Result<(), Discard> {
        if self.is_supported {
            return Ok(());
        }
        let detail = format!(
            "an orderless transaction is not supported below version {SINCE_FRAMEWORK_VERSION} of the \
             framework, which the chain switches on by framework_upgrades"
        );
        Err(Discard::because(Status::FeatureUnderGating, detail))
    }

    /// Whether the nonce may be taken in a block at `now_secs`.
    pub(super) fn check(&self, raw: &RawTransaction, now_secs: u64) -> Result<(), Discard> {
        let expiration_secs = raw.expiration_timestamp_secs;
        let farthest_secs = now_secs.saturating_add(OVERLAP_SECS);
        if expiration_secs > farthest_secs {
            let detail =
                format!("an orderless transaction must expire at {farthest_secs} or before");
            return Err(Discard::because(
                Status::TransactionExpirationTooFarInFuture,
                detail,
            ));
        }
        match self.bucket.check(&self.slot, expiration_secs, now_secs) {
            Ok(()) => Ok(()),
            Err(NonceError::Used(used_secs)) => {
                let detail = format!(
                    "the sender used the nonce in a transaction that expires at {used_secs}"
                );
                Err(Discard::because(Status::NonceAlreadyUsed, detail))
            }
            Err(NonceError::Full) => Err(Discard::because(
                Status::SequenceNonceInvalid,
                "there is no room for this nonce now: take another one",
            )),
        }
    }

    /// Charges for the nonces beside the transaction's own.
    ///
    /// # Errors
    /// When gas runs out.
    pub(super) fn charge(&self, context: &mut Context<'_>) -> Result<(), VmError> {
        context.charge_nonces(self.bucket.size_bytes())
    }

    /// Remembers the nonce of a transaction that passed [`Self::check`].
    ///
    /// # Errors
    /// When the state cannot be read.
    pub(super) fn remember(
        &self,
        context: &mut Context<'_>,
        raw: &RawTransaction,
    ) -> Result<(), VmError> {
        let mut bucket = self.bucket.clone();
        bucket.remember(
            &self.slot,
            raw.expiration_timestamp_secs,
            context.timestamp_secs(),
        );
        bucket.write(context, &self.slot)
    }
}

/// Whether the framework remembers nonces at the height of the state: its newest block's, or that of the
/// block that is executed.
fn is_supported(chain: &Chain, view: &dyn StateView) -> Result<bool, StateError> {
    let is_on = |height| chain.parameters().framework_version(height) >= SINCE_FRAMEWORK_VERSION;
    if is_on(0) {
        return Ok(true);
    }
    let key = chain
        .registry()
        .resource_key::<BlockResource>(&AccountAddress::ONE, &[]);
    match view.get(&key)? {
        Some(bytes) => Ok(is_on(decode_resource::<BlockResource>(&bytes)?.height)),
        None => Ok(false),
    }
}
