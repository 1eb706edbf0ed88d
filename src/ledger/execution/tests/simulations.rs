//! Simulation of transactions: the time of their block, limits on unchecked input, and missing
//! signatures.

use ledger_crypto::Ed25519PrivateKey;
use ledger_execution::{ViewError, development_accounts, simulate, validate_for_admission, view};
use ledger_test_support::{MemoryChain, START_SECS};
use ledger_types::{
    AccountAddress, CheckedTransaction, ExecutedTransaction, LedgerInfo, RawTransaction,
    SignedTransaction, StateError, StateKey, StateView, ValidationStatus as Status,
    transaction::{
        AccountAuthenticator, AnyPublicKey, AnySignature, MultiKey, TransactionAuthenticator,
    },
};
use ledger_vm::{Interrupt, intrinsic_gas_units};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const UNKNOWN_ADDRESS: AccountAddress = AccountAddress::from_low_u64(0xabcdef);
const UNSIGNED: AccountAuthenticator = AccountAuthenticator::NoAccountAuthenticator;

fn key() -> Ed25519PrivateKey {
    development_accounts()[0].private_key.clone()
}

fn info(chain: &MemoryChain) -> LedgerInfo {
    LedgerInfo {
        chain_id: chain.chain.id(),
        epoch: chain.tip.epoch,
        version: chain.tip.version,
        oldest_version: 0,
        block_height: chain.tip.height,
        oldest_block_height: 0,
        timestamp_usecs: chain.tip.timestamp_usecs,
    }
}

fn unsigned(raw: RawTransaction) -> SignedTransaction {
    let authenticator = TransactionAuthenticator::SingleSender {
        sender: Box::new(UNSIGNED),
    };
    SignedTransaction { raw, authenticator }
}

fn simulated(
    chain: &MemoryChain,
    now_secs: u64,
    signed: &SignedTransaction,
) -> ExecutedTransaction {
    simulate(
        &chain.chain,
        chain,
        &info(chain),
        now_secs * 1_000_000,
        signed,
        None,
    )
    .unwrap()
}

fn status(chain: &MemoryChain, executed: &ExecutedTransaction) -> String {
    chain.chain.vm_status(&executed.info.v0().status)
}

/// Expirations are compared with the clock, as in the next block, because the newest block may be
/// old.
#[test]
fn compares_expirations_with_the_clock_if_the_newest_block_is_old() {
    let mut chain = MemoryChain::development();
    chain.execute(vec![]);
    let now_secs = chain.next_secs() + 10_000;
    let expiring = |nonce, expiration_secs| {
        let mut raw = chain.orderless(chain.raw(&key(), chain.transfer(UNKNOWN_ADDRESS, 1)), nonce);
        raw.expiration_timestamp_secs = expiration_secs;
        unsigned(raw)
    };
    for (expiration_secs, expected) in [
        (now_secs + 60, "Executed successfully"),
        (now_secs + 101, "TRANSACTION_EXPIRATION_TOO_FAR_IN_FUTURE"),
        (now_secs, "TRANSACTION_EXPIRED"),
    ] {
        let executed = simulated(&chain, now_secs, &expiring(1, expiration_secs));
        assert_eq!(status(&chain, &executed), expected, "{expiration_secs}");
    }
    // If the clock is behind the ledger, the time of the newest block applies.
    let executed = simulated(
        &chain,
        START_SECS - 10,
        &expiring(1, chain.next_secs() + 60),
    );
    assert_eq!(status(&chain, &executed), "Executed successfully");
}

/// A state that returns an error for every read.
struct UnreadableState;

impl StateView for UnreadableState {
    fn get(&self, key: &StateKey) -> Result<Option<bytes::Bytes>, StateError> {
        Err(StateError(format!("{key:?} was read")))
    }
}

#[test]
fn rejects_too_many_signers_before_reading_their_accounts() {
    let chain = MemoryChain::development();
    let simulated_status = |addresses: u64, signatures: usize| {
        let mut signed = unsigned(chain.raw(&key(), chain.transfer(UNKNOWN_ADDRESS, 1)));
        signed.authenticator = TransactionAuthenticator::MultiAgent {
            sender: Box::new(UNSIGNED),
            secondary_signer_addresses: (1..=addresses).map(AccountAddress::from_low_u64).collect(),
            secondary_signers: vec![UNSIGNED; signatures],
        };
        let executed = simulate(
            &chain.chain,
            &UnreadableState,
            &info(&chain),
            0,
            &signed,
            None,
        )
        .unwrap();
        status(&chain, &executed)
    };
    assert_eq!(simulated_status(33, 33), "INVALID_SIGNATURE");
    assert_eq!(simulated_status(1_900, 1_900), "INVALID_SIGNATURE");
    assert_eq!(
        simulated_status(100_000, 100_000),
        "EXCEEDED_MAX_TRANSACTION_SIZE"
    );
    assert_eq!(
        simulated_status(3, 2),
        "SECONDARY_KEYS_ADDRESSES_COUNT_MISMATCH"
    );
}

/// Returns an authenticator of three keys, two of which sign.
fn two_signature_authenticator() -> AccountAuthenticator {
    let public_key = AnyPublicKey::Ed25519(key().public_key());
    AccountAuthenticator::MultiKey {
        public_keys: MultiKey {
            public_keys: vec![public_key; 3],
            signatures_required: 2,
        },
        signatures: vec![AnySignature::Ed25519(key().sign(b"any message")); 2],
        signatures_bitmap: vec![0b1010_0000].into(),
    }
}

#[test]
fn charges_a_missing_signature_as_one_signature() {
    let min_gas_units = |further_signers: [AccountAuthenticator; 2]| {
        let [secondary, fee_payer_signer] = further_signers;
        let authenticator = TransactionAuthenticator::FeePayer {
            sender: Box::new(two_signature_authenticator()),
            secondary_signer_addresses: vec![UNKNOWN_ADDRESS],
            secondary_signers: vec![secondary],
            fee_payer_address: AccountAddress::ZERO,
            fee_payer_signer: Box::new(fee_payer_signer),
        };
        intrinsic_gas_units(0, &authenticator)
    };
    let signed = || AccountAuthenticator::Ed25519 {
        public_key: key().public_key(),
        signature: key().sign(b"any message"),
    };
    // 27.6 gas units for a transaction with one signature, and 30 for each further signature.
    assert_eq!(min_gas_units([signed(), signed()]), 118);
    assert_eq!(min_gas_units([UNSIGNED, UNSIGNED]), 118);
    assert_eq!(
        min_gas_units([two_signature_authenticator(), UNSIGNED]),
        148
    );
}

/// Only a simulation may omit the authenticator. Admission and the prologue reject the transaction.
#[test]
fn rejects_unsigned_transactions_in_a_block() {
    let mut chain = MemoryChain::development();
    let signed = unsigned(chain.raw(&key(), chain.transfer(UNKNOWN_ADDRESS, 1)));
    let executed = simulated(&chain, chain.next_secs(), &signed);
    assert_eq!(status(&chain, &executed), "Executed successfully");
    let ordered = CheckedTransaction::new_unchecked(signed, chain.chain.vendor());
    let facts = chain.transaction_facts(&ordered);
    let rejection =
        validate_for_admission(&chain.chain, &facts, &ordered, chain.next_secs()).unwrap_err();
    assert_eq!(rejection.status, Status::InvalidAuthKey);
    let block = chain.execute(vec![ordered]);
    assert_eq!(
        block.discarded[0].status_code,
        Status::InvalidAuthKey.code()
    );
}

/// Ends the call with each of its charges in turn.
#[test]
fn an_interrupted_simulation_is_out_of_gas_and_leaves_no_changes_of_its_call() {
    let chain = MemoryChain::development();
    let signed = unsigned(chain.raw(&key(), chain.transfer(UNKNOWN_ADDRESS, 1)));
    let now_usecs = chain.next_secs() * 1_000_000;
    let uninterrupted = simulated(&chain, chain.next_secs(), &signed);
    let events = uninterrupted.events.len();
    let interrupted_after = |charges: u64| {
        let count = AtomicU64::new(0);
        let interrupt = Interrupt::new(move || count.fetch_add(1, Relaxed) >= charges);
        simulate(
            &chain.chain,
            &chain,
            &info(&chain),
            now_usecs,
            &signed,
            Some(interrupt),
        )
        .unwrap()
    };
    let mut charges = 0;
    loop {
        let executed = interrupted_after(charges);
        if status(&chain, &executed) == "Executed successfully" {
            assert_eq!(executed.events, uninterrupted.events);
            break;
        }
        assert_eq!(status(&chain, &executed), "Out of gas", "{charges}");
        assert!(executed.events.len() < events, "{charges}");
        charges += 1;
    }
    assert!(charges > 5, "the call has several charges");
}

#[test]
fn an_interrupted_view_is_out_of_gas() {
    let chain = MemoryChain::development();
    let call = chain.call("0x1::block::get_current_block_height", &[], vec![]);
    let interrupt = Interrupt::new(|| true);
    let viewed = view(&chain.chain, &chain, &call, Some(interrupt));
    let Err(ViewError::Failed(failure)) = viewed else {
        panic!("{viewed:?}");
    };
    assert_eq!(failure.vm_status(&chain.chain), "Out of gas");
}
