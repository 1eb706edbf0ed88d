//! Verdicts about transactions whose signatures are rejected, and the texts of verdicts.

use ledger_execution::{
    BlockCause, Blocked, Never, NeverReason, UncheckedTransaction, Verdict, development_accounts,
};
use ledger_test_support::{MemoryChain, START_SECS, TransactionBuilder};
use ledger_types::{
    AccountAddress, Discard, LedgerInfo, SignedTransaction, ValidationStatus as Status,
    transaction::{AccountAuthenticator, TransactionAuthenticator},
};
use std::collections::BTreeSet;

const UNKNOWN_ADDRESS: AccountAddress = AccountAddress::from_low_u64(0xabcdef);

/// Id of a chain other than the test's.
const OTHER_CHAIN: u8 = 77;

/// Expiration of the transactions of the test, in Unix seconds.
const EXPIRATION_SECS: u64 = START_SECS + 10;

/// Returns a transfer for a chain, with a list of signers that is valid or not.
fn transfer(chain: &MemoryChain, chain_id: u8, has_valid_form: bool) -> SignedTransaction {
    let key = development_accounts().remove(0).private_key;
    let raw = chain.raw(&key, chain.transfer(UNKNOWN_ADDRESS, 1));
    let builder = TransactionBuilder::from_raw(&chain.chain, raw)
        .expiration_secs(EXPIRATION_SECS)
        .chain_id(chain_id);
    if has_valid_form {
        return builder.sign(&key);
    }
    builder.with_authenticator(TransactionAuthenticator::MultiAgent {
        sender: Box::new(AccountAuthenticator::NoAccountAuthenticator),
        secondary_signer_addresses: vec![UNKNOWN_ADDRESS],
        secondary_signers: Vec::new(),
    })
}

/// A rejected transaction, and the verdict about it.
struct Case<'a> {
    chain_id: u8,
    has_valid_form: bool,
    discard: &'a Discard,
    /// Time of the newest block, in Unix seconds.
    head_secs: u64,
    expected: Expected<'a>,
}

/// The kind of a verdict, with its message.
enum Expected<'a> {
    Never(NeverReason, &'a str),
    Blocked(BlockCause),
}

impl Case<'_> {
    fn check(&self, chain: &MemoryChain) {
        let signed = transfer(chain, self.chain_id, self.has_valid_form);
        let info = LedgerInfo {
            chain_id: chain.chain.id(),
            epoch: chain.tip.epoch,
            version: chain.tip.version,
            oldest_version: 0,
            block_height: chain.tip.height,
            oldest_block_height: 0,
            // The last microsecond of the second.
            timestamp_usecs: self.head_secs * 1_000_000 + 999_999,
        };
        let found = UncheckedTransaction::from(&signed).decide(&chain.chain, self.discard, &info);
        let expected = match self.expected {
            Expected::Never(reason, message) => Verdict::Never(Never {
                reason,
                message: message.to_owned(),
                used_by: None,
            }),
            Expected::Blocked(cause) => Verdict::Blocked(Blocked::new(cause, self.discard)),
        };
        assert_eq!(found, expected, "{} at {}", self.discard, self.head_secs);
    }
}

#[test]
fn decides_by_the_first_of_chain_signature_and_expiration() {
    let chain = MemoryChain::development();
    let own = chain.chain.id();
    let invalid = Discard::with_detail(Status::InvalidSignature, "7 signatures");
    let duplicate = Discard::with_detail(Status::SignersContainDuplicates, "0xa signs twice");
    let of_chain = format!("the transaction is for chain {OTHER_CHAIN}, this is chain {own}");
    let of_signature = invalid.to_string();
    let of_time = [0, 1].map(|later_secs| {
        let head_secs = EXPIRATION_SECS + later_secs;
        format!(
            "the transaction expired at {EXPIRATION_SECS}, the newest block is of {head_secs}, in \
             Unix seconds"
        )
    });
    let other_chain = || Expected::Never(NeverReason::OtherChain, &of_chain);
    let invalid_signature = || Expected::Never(NeverReason::InvalidSignature, &of_signature);
    let [at, after] = &of_time;
    let expired = |message| Expected::Never(NeverReason::Expired, message);
    // Too many signatures have the status of an invalid one, and an invalid form.
    let too_many = || Expected::Blocked(BlockCause::ChainLimit);
    let twice = || Expected::Blocked(BlockCause::InvalidForm);
    for (chain_id, has_valid_form, discard, by_time) in [
        (
            OTHER_CHAIN,
            true,
            &invalid,
            [other_chain(), other_chain(), other_chain()],
        ),
        (
            OTHER_CHAIN,
            false,
            &duplicate,
            [other_chain(), other_chain(), other_chain()],
        ),
        (
            own,
            true,
            &invalid,
            [
                invalid_signature(),
                invalid_signature(),
                invalid_signature(),
            ],
        ),
        (
            own,
            false,
            &invalid,
            [too_many(), expired(at), expired(after)],
        ),
        (
            own,
            true,
            &duplicate,
            [twice(), expired(at), expired(after)],
        ),
        (
            own,
            false,
            &duplicate,
            [twice(), expired(at), expired(after)],
        ),
    ] {
        for (head_secs, expected) in (EXPIRATION_SECS - 1..).zip(by_time) {
            let case = Case {
                chain_id,
                has_valid_form,
                discard,
                head_secs,
                expected,
            };
            case.check(&chain);
        }
    }
}

#[test]
fn the_message_of_a_block_has_its_detail_and_the_advice_of_its_cause() {
    let causes = [
        BlockCause::AuthenticationKey,
        BlockCause::NonceRemembered,
        BlockCause::ExpirationTooFar,
        BlockCause::ExpiredByClock,
        BlockCause::UnsupportedFeature,
        BlockCause::InvalidForm,
        BlockCause::ChainLimit,
        BlockCause::NonceBucketFull,
        BlockCause::Multisig,
        BlockCause::Filter,
        BlockCause::Switch,
    ];
    let messages = causes.map(|cause| Blocked::new(cause, &"the detail").message);
    for message in &messages {
        assert!(
            message.starts_with("the detail; ") && message.len() > 30,
            "{message}"
        );
    }
    assert_eq!(BTreeSet::from(messages).len(), causes.len());
}
