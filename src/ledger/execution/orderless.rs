//! Replay protection of orderless transactions by their nonces. The ledger remembers a nonce until
//! no block can include its transaction (docs/reference/framework.md#f12).
//!
//! The number of buckets differs from that of the reference node, and a bucket has a maximum size.

use ledger_framework::modules::{
    block::BlockResource,
    nonce_validation::{Bucket, NonceError, NonceSlot, OVERLAP_SECS, SINCE_FRAMEWORK_VERSION},
};
use ledger_types::{
    AccountAddress, Discard, RawTransaction, SignedTransaction, StateError, StateView,
    ValidationStatus as Status,
};
use ledger_vm::{Chain, Context, VmError, decode_resource};

/// The nonce state that validation of an orderless transaction depends on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NonceSnapshot {
    slot: NonceSlot,
    /// The bucket of the nonce.
    bucket: Bucket,
    /// Whether the framework version of the chain remembers nonces.
    is_supported: bool,
}

impl NonceSnapshot {
    /// Reads the nonce state of `transaction`, or returns `None` if it has a sequence number.
    ///
    /// # Errors
    ///
    /// Returns [`StateError`] if the state cannot be read.
    pub fn read(
        chain: &Chain,
        view: &dyn StateView,
        transaction: &SignedTransaction,
    ) -> Result<Option<Self>, StateError> {
        let raw = &transaction.raw;
        let Some(nonce) = raw.payload.replay_protection_nonce() else {
            return Ok(None);
        };
        let slot = NonceSlot::new(&raw.sender, nonce);
        Ok(Some(Self {
            slot,
            bucket: Bucket::read(view, &slot)?,
            is_supported: is_supported(chain, view)?,
        }))
    }

    /// Checks that the chain supports orderless transactions.
    ///
    /// # Errors
    ///
    /// Returns `FEATURE_UNDER_GATING` if the framework version is below the one that remembers
    /// nonces.
    pub(super) fn check_supported(&self) -> Result<(), Discard> {
        if self.is_supported {
            return Ok(());
        }
        let detail = format!(
            "an orderless transaction is not supported below version {SINCE_FRAMEWORK_VERSION} of the \
             framework, which the chain switches on by framework_upgrades"
        );
        Err(Discard::with_detail(Status::FeatureUnderGating, detail))
    }

    /// Checks that the transaction does not expire too long after a block at `now_secs`, in seconds
    /// since the Unix epoch.
    ///
    /// # Errors
    ///
    /// Returns `TRANSACTION_EXPIRATION_TOO_FAR_IN_FUTURE` if the expiration is more than
    /// [`OVERLAP_SECS`] after `now_secs`.
    pub(super) fn check_expiration(
        &self,
        raw: &RawTransaction,
        now_secs: u64,
    ) -> Result<(), Discard> {
        let farthest_secs = now_secs.saturating_add(OVERLAP_SECS);
        if raw.expiration_timestamp_secs <= farthest_secs {
            return Ok(());
        }
        let detail = format!("an orderless transaction must expire at {farthest_secs} or before");
        Err(Discard::with_detail(
            Status::TransactionExpirationTooFarInFuture,
            detail,
        ))
    }

    /// Returns the expiration of the newest transaction that used the nonce, in seconds since the
    /// Unix epoch, or `None` if the ledger remembers none.
    pub(super) fn used_expiration_secs(&self) -> Option<u64> {
        self.bucket.expiration_secs(&self.slot)
    }

    /// Checks that a block at `now_secs`, in seconds since the Unix epoch, may include the nonce of
    /// a transaction that passed [`Self::check_expiration`].
    ///
    /// # Errors
    ///
    /// * `NONCE_ALREADY_USED` if the sender used the nonce in another transaction, and this one
    ///   expires at most [`OVERLAP_SECS`] after that one.
    /// * `SEQUENCE_NONCE_INVALID` if the bucket of the nonce is full.
    pub(super) fn check(&self, raw: &RawTransaction, now_secs: u64) -> Result<(), Discard> {
        let expiration_secs = raw.expiration_timestamp_secs;
        match self.bucket.check(&self.slot, expiration_secs, now_secs) {
            Ok(()) => Ok(()),
            Err(NonceError::Used(used_secs)) => {
                let detail = format!(
                    "the sender used the nonce in a transaction that expires at {used_secs}"
                );
                Err(Discard::with_detail(Status::NonceAlreadyUsed, detail))
            }
            Err(NonceError::Full) => Err(Discard::with_detail(
                Status::SequenceNonceInvalid,
                "the bucket of this nonce is full: use another nonce",
            )),
        }
    }

    /// Charges for the other nonces of the bucket.
    ///
    /// # Errors
    ///
    /// Returns [`VmError::OutOfGas`] if the gas is used up.
    pub(super) fn charge(&self, context: &mut Context<'_>) -> Result<(), VmError> {
        context.charge_nonces(self.bucket.size_bytes())
    }

    /// Stores the nonce of a transaction that passed [`Self::check`].
    ///
    /// # Errors
    ///
    /// Returns [`VmError::State`] if the state cannot be read.
    pub(super) fn remember(
        &self,
        context: &mut Context<'_>,
        raw: &RawTransaction,
    ) -> Result<(), VmError> {
        let mut bucket = self.bucket.clone();
        bucket.insert(
            &self.slot,
            raw.expiration_timestamp_secs,
            context.timestamp_secs(),
        );
        bucket.write(context, &self.slot)
    }
}

/// Returns whether the framework remembers nonces at the height of the state.
///
/// The height is that of the newest block, or of the block that is being executed.
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
