//! Proposed transactions of a multisig account.

use crate::modules::simple_map::SimpleMap;
use ledger_types::AccountAddress;
use ledger_vm::move_structs;
use serde_bytes::ByteBuf;

move_structs! {
    module "multisig_account";

    /// A pending transaction.
    MultisigTransaction as "MultisigTransaction" has ["copy", "drop", "store"] {
        /// Payload in its BCS form, if the payload itself was proposed.
        payload: Option<ByteBuf>,
        /// SHA3-256 hash of the payload, if only the hash was proposed.
        payload_hash: Option<Vec<u8>>,
        /// Approvals (`true`) and rejections (`false`), in the order of the first votes.
        ///
        /// Votes of former owners do not count. A new vote removes them if there are [`OWNERS_MAX`]
        /// votes.
        votes: SimpleMap<AccountAddress, bool>,
        /// Owner that proposed the transaction.
        creator: AccountAddress,
        /// Time of the proposal, in seconds since 1970.
        creation_time_secs: u64,
    }

    /// Error of a failed payload.
    ExecutionError as "ExecutionError" has ["copy", "drop", "store"] {
        /// Module that failed, or the empty string if no module did.
        abort_location: String,
        /// `MoveAbort`, `MoveExecutionFailure` or `VMError`.
        error_type: String,
        /// Abort code, or the status code of any other failure.
        error_code: u64,
    }
}
