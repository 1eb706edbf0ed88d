//! The block that a transaction runs in where it runs outside of one: to be validated, simulated or
//! viewed.

use super::{BlockState, Context, VmError, context::Environment};
use crate::{
    AccountAddress, Chain, HashValue, LedgerInfo, StateError,
    framework::modules::{block::BlockResource, timestamp::CurrentTimeMicroseconds},
};

impl Environment {
    /// A block right after the ledger stood as `info` says, at the same time.
    pub(super) fn after(info: &LedgerInfo, transaction_hash: HashValue) -> Self {
        Self {
            height: info.block_height.saturating_add(1),
            timestamp_usecs: info.timestamp_usecs,
            transaction_hash,
        }
    }

    /// The same block, cut when the clock shows `now_usecs`; block time never goes back.
    pub(super) fn not_before(self, now_usecs: u64) -> Self {
        Self {
            timestamp_usecs: self.timestamp_usecs.max(now_usecs),
            ..self
        }
    }

    /// The block that wrote `state` last, in which no transaction runs.
    ///
    /// # Errors
    /// When the state cannot be read or does not tell its block.
    pub(super) fn last_of(chain: &Chain, state: &BlockState<'_>) -> Result<Self, StateError> {
        let nowhere = Self {
            height: 0,
            timestamp_usecs: 0,
            transaction_hash: HashValue::ZERO,
        };
        let mut context = Context::unmetered(chain, state, nowhere);
        let unread = |failure: VmError| match failure {
            VmError::State(error) => error,
            other => StateError(format!("the newest block is not in the state: {other:?}")),
        };
        let at = AccountAddress::ONE;
        let block: BlockResource = context.require_resource(at, &[]).map_err(unread)?;
        let time: CurrentTimeMicroseconds = context.require_resource(at, &[]).map_err(unread)?;
        Ok(Self {
            height: block.height,
            timestamp_usecs: time.microseconds,
            ..nowhere
        })
    }
}
