//! Validation statuses of transactions that are rejected without a charge
//! (docs/reference/reference-node.md#r14).

use ledger_crypto::HashValue;
use std::fmt;

macro_rules! validation_statuses {
    ($($variant:ident = $code:literal $name:literal,)*) => {
        /// A validation status. Its number is the `vm_error_code` of API errors.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[allow(missing_docs, reason = "the names and numbers of the table say all there is")]
        pub enum ValidationStatus { $($variant = $code,)* }

        impl ValidationStatus {
            /// Returns the name on the wire, such as `INVALID_SIGNATURE`.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Returns the status with the number `code`, or `None` if no status has it.
            pub fn from_code(code: u64) -> Option<Self> {
                match code { $($code => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

validation_statuses! {
    InvalidSignature = 1 "INVALID_SIGNATURE",
    InvalidAuthKey = 2 "INVALID_AUTH_KEY",
    SequenceNumberTooOld = 3 "SEQUENCE_NUMBER_TOO_OLD",
    SequenceNumberTooNew = 4 "SEQUENCE_NUMBER_TOO_NEW",
    InsufficientBalanceForTransactionFee = 5 "INSUFFICIENT_BALANCE_FOR_TRANSACTION_FEE",
    TransactionExpired = 6 "TRANSACTION_EXPIRED",
    ExceededMaxTransactionSize = 10 "EXCEEDED_MAX_TRANSACTION_SIZE",
    UnknownModule = 12 "UNKNOWN_MODULE",
    MaxGasUnitsExceedsMaxGasUnitsBound = 13 "MAX_GAS_UNITS_EXCEEDS_MAX_GAS_UNITS_BOUND",
    MaxGasUnitsBelowMinTransactionGasUnits = 14 "MAX_GAS_UNITS_BELOW_MIN_TRANSACTION_GAS_UNITS",
    GasUnitPriceBelowMinBound = 15 "GAS_UNIT_PRICE_BELOW_MIN_BOUND",
    GasUnitPriceAboveMaxBound = 16 "GAS_UNIT_PRICE_ABOVE_MAX_BOUND",
    BadChainId = 23 "BAD_CHAIN_ID",
    SequenceNumberTooBig = 24 "SEQUENCE_NUMBER_TOO_BIG",
    FeatureUnderGating = 26 "FEATURE_UNDER_GATING",
    SecondaryKeysAddressesCountMismatch = 27 "SECONDARY_KEYS_ADDRESSES_COUNT_MISMATCH",
    SignersContainDuplicates = 28 "SIGNERS_CONTAIN_DUPLICATES",
    SequenceNonceInvalid = 29 "SEQUENCE_NONCE_INVALID",
    AccountNotMultisig = 31 "ACCOUNT_NOT_MULTISIG",
    NotMultisigOwner = 32 "NOT_MULTISIG_OWNER",
    MultisigTransactionNotFound = 33 "MULTISIG_TRANSACTION_NOT_FOUND",
    MultisigTransactionInsufficientApprovals = 34 "MULTISIG_TRANSACTION_INSUFFICIENT_APPROVALS",
    MultisigTransactionPayloadDoesNotMatchHash = 35 "MULTISIG_TRANSACTION_PAYLOAD_DOES_NOT_MATCH_HASH",
    MultisigTransactionPayloadDoesNotMatch = 40 "MULTISIG_TRANSACTION_PAYLOAD_DOES_NOT_MATCH",
    NonceAlreadyUsed = 42 "NONCE_ALREADY_USED",
    TransactionExpirationTooFarInFuture = 44 "TRANSACTION_EXPIRATION_TOO_FAR_IN_FUTURE",
}

impl ValidationStatus {
    /// Returns the number on the wire.
    pub fn code(self) -> u64 {
        self as u64
    }
}

impl fmt::Display for ValidationStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A rejection by validation. The transaction is not committed and pays nothing.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("Invalid transaction: Type: Validation Code: {status}{}", .detail.as_deref().map(|d| format!(" ({d})")).unwrap_or_default())]
pub struct Discard {
    /// Validation status.
    pub status: ValidationStatus,
    /// Details of the cause that the status does not convey.
    pub detail: Option<String>,
}

impl Discard {
    /// Creates a rejection with a description of its cause.
    pub fn with_detail(status: ValidationStatus, detail: impl fmt::Display) -> Self {
        Self {
            status,
            detail: Some(detail.to_string()),
        }
    }

    /// Adds to the detail the hash of the transaction that used the sequence number or nonce.
    #[must_use]
    pub fn used_by(self, user: HashValue) -> Self {
        let before = self.detail.map(|detail| detail + "; ");
        let before = before.unwrap_or_default();
        Self::with_detail(
            self.status,
            format_args!("{before}used by transaction {user}"),
        )
    }

    /// Creates a rejection of bytecode, which the ledger does not execute.
    ///
    /// `bytecode` names its form in the message.
    pub fn bytecode(bytecode: &'static str) -> Self {
        Self::with_detail(
            ValidationStatus::FeatureUnderGating,
            format_args!(
                "{bytecode} is not supported: this chain runs native modules, see \
                 docs/use/programs.md"
            ),
        )
    }

    /// Creates a rejection of a feature that the ledger decodes but does not execute.
    ///
    /// `feature` names the feature in the message.
    pub fn unsupported(feature: &'static str) -> Self {
        Self::with_detail(
            ValidationStatus::FeatureUnderGating,
            format_args!("{feature} is not supported"),
        )
    }
}

impl From<ValidationStatus> for Discard {
    fn from(status: ValidationStatus) -> Self {
        Self {
            status,
            detail: None,
        }
    }
}
