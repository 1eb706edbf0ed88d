//! Replay protection of orderless transactions.
//!
//! A nonce prevents its transaction from running twice until no block can include it any more. The
//! table of nonces is bounded and depends on the ledger's state alone.

use ledger_crypto::Ed25519PrivateKey;
use ledger_execution::{
    development_accounts, development_genesis, execute_block, genesis::DEVELOPMENT_BALANCE,
    validate_for_admission,
};
use ledger_framework::modules::nonce_validation::{
    BUCKET_NONCES_MAX, Bucket, NonceSlot, RememberedNonce,
};
use ledger_test_support::{GAS_UNIT_PRICE, MemoryChain, START_SECS};
use ledger_types::{
    AccountAddress, CheckedTransaction, Discard, EntryFunction, ExecutedTransaction,
    FrameworkUpgrade, OrderedBlock, Parameters, StateKey, ValidationStatus as Status, Vendor,
    transaction::{Multisig, MultisigPayload, TransactionPayload},
};
use std::sync::Arc;

const UNKNOWN_ADDRESS: AccountAddress = AccountAddress::from_low_u64(0xabcdef);

fn key(number: usize) -> Ed25519PrivateKey {
    development_accounts()[number].private_key.clone()
}

fn address(number: usize) -> AccountAddress {
    development_accounts()[number].address
}

/// Returns a transfer of one unit by account 0 that expires at this Unix time, in seconds.
fn transfer_expiring_at(
    chain: &MemoryChain,
    nonce: u64,
    expiration_secs: u64,
) -> CheckedTransaction {
    let mut raw = chain.orderless(
        chain.raw(&key(0), chain.transfer(UNKNOWN_ADDRESS, 1)),
        nonce,
    );
    raw.expiration_timestamp_secs = expiration_secs;
    chain.sign(&key(0), raw)
}

fn transfer(chain: &MemoryChain, nonce: u64) -> CheckedTransaction {
    transfer_expiring_at(chain, nonce, chain.next_secs() + 60)
}

fn admitted(
    chain: &MemoryChain,
    transaction: &CheckedTransaction,
    now_secs: u64,
) -> Result<(), Discard> {
    let facts = chain.transaction_facts(transaction);
    validate_for_admission(&chain.chain, &facts, transaction, now_secs)
}

/// Executes the transaction in a block at `now_secs`, and returns the status that rejects it.
///
/// Admission at `now_secs` must return the same status as the prologue.
fn rejection_status(
    chain: &mut MemoryChain,
    now_secs: u64,
    transaction: CheckedTransaction,
) -> Option<Status> {
    let rejection = admitted(chain, &transaction, now_secs).err();
    let block = chain.execute_at(now_secs, vec![transaction]);
    let discarded = block
        .discarded
        .first()
        .map(|discarded| discarded.status_code);
    assert_eq!(
        discarded,
        rejection.as_ref().map(|rejection| rejection.status.code())
    );
    rejection.map(|rejection| rejection.status)
}

fn user_transactions(chain: &MemoryChain) -> Vec<&ExecutedTransaction> {
    let newest = chain.blocks.last().unwrap();
    let users = newest.transactions.iter();
    users
        .filter(|executed| executed.transaction.as_user().is_some())
        .collect()
}

fn bucket(chain: &MemoryChain, nonce: u64) -> Bucket {
    Bucket::read(chain, &NonceSlot::new(&address(0), nonce)).unwrap()
}

/// Returns the first `count` nonces of account 0 in the bucket of nonce 0, beginning with nonce 0.
fn nonces_in_one_bucket(count: usize) -> Vec<u64> {
    let sender = address(0);
    let bucket_of = |nonce| NonceSlot::new(&sender, nonce).bucket();
    let expected_bucket = bucket_of(0);
    (0..)
        .filter(|nonce| bucket_of(*nonce) == expected_bucket)
        .take(count)
        .collect()
}

#[test]
fn executes_nonces_in_any_order_without_a_sequence_number() {
    let mut chain = MemoryChain::development();
    let nonces = [7, 3, u64::MAX, 0, 5];
    let transactions = nonces.map(|nonce| transfer(&chain, nonce));
    let block = chain.execute(transactions.to_vec());
    assert_eq!(block.discarded, []);
    assert_eq!(chain.facts(&UNKNOWN_ADDRESS).balance, nonces.len() as u64);
    assert_eq!(chain.facts(&address(0)).sequence_number, 0);
    // The account can also send a transaction with a sequence number.
    let call = chain.transfer(UNKNOWN_ADDRESS, 1);
    chain.run(&key(0), call);
    assert_eq!(chain.facts(&address(0)).sequence_number, 1);
}

#[test]
fn ignores_the_sequence_number_of_an_orderless_transaction() {
    let mut chain = MemoryChain::development();
    for (nonce, number) in [0, 1, 1 << 63, u64::MAX].into_iter().enumerate() {
        let mut raw = chain.orderless(
            chain.raw(&key(0), chain.transfer(UNKNOWN_ADDRESS, 1)),
            nonce as u64,
        );
        raw.sequence_number = number;
        let (now_secs, signed) = (chain.next_secs(), chain.sign(&key(0), raw));
        assert_eq!(
            rejection_status(&mut chain, now_secs, signed),
            None,
            "{number}"
        );
    }
}

#[test]
fn rejects_expirations_more_than_100_seconds_ahead() {
    let mut chain = MemoryChain::development();
    let now_secs = chain.next_secs();
    let too_far = transfer_expiring_at(&chain, 1, now_secs + 101);
    let expected = Some(Status::TransactionExpirationTooFarInFuture);
    assert_eq!(rejection_status(&mut chain, now_secs, too_far), expected);
    let (now_secs, nonce) = (chain.next_secs(), 1);
    let farthest = transfer_expiring_at(&chain, nonce, now_secs + 100);
    assert_eq!(rejection_status(&mut chain, now_secs, farthest), None);
    let now_secs = chain.next_secs();
    let expired = transfer_expiring_at(&chain, 2, now_secs);
    assert_eq!(
        rejection_status(&mut chain, now_secs, expired),
        Some(Status::TransactionExpired)
    );
}

#[test]
fn rejects_a_used_nonce_until_the_overlap_interval_ends() {
    let mut chain = MemoryChain::development();
    let first = transfer_expiring_at(&chain, 9, START_SECS + 50);
    assert_eq!(
        rejection_status(&mut chain, START_SECS, first.clone()),
        None
    );
    let used = Some(Status::NonceAlreadyUsed);
    // The same transaction is rejected, and so are others with its nonce.
    assert_eq!(rejection_status(&mut chain, START_SECS + 1, first), used);
    for (now, expiration) in [(2, 90), (50, 150), (51, 150), (60, 150)] {
        let again = transfer_expiring_at(&chain, 9, START_SECS + expiration);
        assert_eq!(
            rejection_status(&mut chain, START_SECS + now, again),
            used,
            "{now} {expiration}"
        );
    }
    // This one expires more than 100 seconds after the first, so every block that can include it is
    // later than the blocks that can include the first.
    let after = transfer_expiring_at(&chain, 9, START_SECS + 151);
    assert_eq!(
        rejection_status(&mut chain, START_SECS + 61, after.clone()),
        None
    );
    assert_eq!(
        bucket(&chain, 9).nonces.len(),
        1,
        "the new nonce replaces the expired one"
    );
    assert_eq!(rejection_status(&mut chain, START_SECS + 62, after), used);
    // The nonces of another sender are independent.
    let mut raw = chain.orderless(chain.raw(&key(1), chain.transfer(UNKNOWN_ADDRESS, 1)), 9);
    raw.expiration_timestamp_secs = START_SECS + 100;
    let other = chain.sign(&key(1), raw);
    assert_eq!(rejection_status(&mut chain, START_SECS + 63, other), None);
}

#[test]
fn executes_a_nonce_once_per_block() {
    let mut chain = MemoryChain::development();
    let (one, other) = (
        transfer(&chain, 4),
        transfer_expiring_at(&chain, 4, chain.next_secs() + 61),
    );
    let block = chain.execute(vec![one.clone(), one, other]);
    let discarded: Vec<(u32, u64)> = block
        .discarded
        .iter()
        .map(|d| (d.position, d.status_code))
        .collect();
    let used = Status::NonceAlreadyUsed.code();
    assert_eq!(discarded, [(1, used), (2, used)]);
    assert_eq!(chain.facts(&UNKNOWN_ADDRESS).balance, 1);
}

#[test]
fn charges_a_failed_transaction_and_uses_its_nonce() {
    let mut chain = MemoryChain::development();
    let call = chain.transfer(UNKNOWN_ADDRESS, u64::MAX);
    let raw = chain.orderless(chain.raw(&key(0), call), 4);
    let signed = chain.sign(&key(0), raw);
    chain.execute(vec![signed.clone()]);
    let executed = user_transactions(&chain)[0];
    assert!(!executed.info.v0().status.is_success());
    let fee = executed.info.v0().gas_used * GAS_UNIT_PRICE;
    assert_eq!(chain.facts(&address(0)).balance, DEVELOPMENT_BALANCE - fee);
    let now_secs = chain.next_secs();
    assert_eq!(
        rejection_status(&mut chain, now_secs, signed),
        Some(Status::NonceAlreadyUsed)
    );
}

#[test]
fn creates_no_account_for_the_sender() {
    let mut chain = MemoryChain::development();
    let stranger = Ed25519PrivateKey::from_seed(&[77; 32]);
    let sender = AccountAddress::from_public_key(&stranger.public_key());
    let resource = StateKey::resource(&sender, &"0x1::account::Account".parse().unwrap());
    let raw = chain.orderless(chain.raw(&stranger, chain.transfer(address(0), 0)), 1);
    chain.execute(vec![chain.sign_together(&[&stranger], Some(&key(1)), raw)]);
    assert!(user_transactions(&chain)[0].info.v0().status.is_success());
    assert!(!chain.state.contains_key(&resource));
    // A transaction with a sequence number creates the account, which stores the number.
    let call = chain.transfer(address(0), 0);
    let signed = chain.sign_together(&[&stranger], Some(&key(1)), chain.raw(&stranger, call));
    chain.execute(vec![signed]);
    assert!(chain.state.contains_key(&resource));
}

#[test]
fn executes_a_multisig_payload_with_a_nonce() {
    let mut chain = MemoryChain::development();
    let next = chain.call(
        "0x1::multisig_account::get_next_multisig_account_address",
        &[],
        vec![bcs::to_bytes(&address(0)).unwrap()],
    );
    let viewed = ledger_execution::view(&chain.chain, &chain, &next, None).unwrap();
    let multisig: AccountAddress = bcs::from_bytes(&viewed.values[0].1).unwrap();
    let no_metadata = bcs::to_bytes(&Vec::<Vec<u8>>::new()).unwrap();
    let one = bcs::to_bytes(&1u64).unwrap();
    let create = chain.call(
        "0x1::multisig_account::create",
        &[],
        vec![one, no_metadata.clone(), no_metadata],
    );
    chain.run(&key(0), create);
    let fund = chain.transfer(multisig, 1_000_000);
    chain.run(&key(0), fund);
    let pay: EntryFunction = chain.transfer(UNKNOWN_ADDRESS, 5);
    let stored = bcs::to_bytes(&MultisigPayload::EntryFunction(pay)).unwrap();
    let arguments = vec![
        bcs::to_bytes(&multisig).unwrap(),
        bcs::to_bytes(&stored).unwrap(),
    ];
    let propose = chain.call("0x1::multisig_account::create_transaction", &[], arguments);
    chain.run(&key(0), propose);
    let number = chain.facts(&address(0)).sequence_number;
    let mut raw = chain.raw(&key(0), chain.transfer(UNKNOWN_ADDRESS, 0));
    raw.payload = TransactionPayload::Multisig(Multisig {
        multisig_address: multisig,
        payload: None,
    });
    let signed = chain.sign(&key(0), chain.orderless(raw, 6));
    let now_secs = chain.next_secs();
    assert_eq!(rejection_status(&mut chain, now_secs, signed.clone()), None);
    assert_eq!(chain.facts(&UNKNOWN_ADDRESS).balance, 5);
    assert_eq!(chain.facts(&address(0)).sequence_number, number);
    let now_secs = chain.next_secs();
    assert_eq!(
        rejection_status(&mut chain, now_secs, signed),
        Some(Status::NonceAlreadyUsed)
    );
}

#[test]
fn drops_nonces_after_the_overlap_interval() {
    let mut chain = MemoryChain::development();
    let nonces = nonces_in_one_bucket(4);
    for (secs, nonce) in (0u64..).zip(&nonces[..3]) {
        let signed = transfer_expiring_at(&chain, *nonce, START_SECS + 10);
        chain.execute_at(START_SECS + secs, vec![signed]);
    }
    assert_eq!(bucket(&chain, 0).nonces.len(), 3);
    let last = |chain: &MemoryChain, nonce, secs| transfer_expiring_at(chain, nonce, secs + 20);
    // The nonces are retained until 100 seconds after they expire, inclusive.
    let signed = last(&chain, nonces[3], START_SECS + 110);
    chain.execute_at(START_SECS + 110, vec![signed]);
    assert_eq!(bucket(&chain, 0).nonces.len(), 4);
    let signed = last(&chain, nonces[0], START_SECS + 111);
    chain.execute_at(START_SECS + 111, vec![signed]);
    assert_eq!(bucket(&chain, 0).nonces.len(), 2);
}

#[test]
fn rejects_nonces_while_their_bucket_is_full() {
    let mut chain = MemoryChain::development();
    let nonces = nonces_in_one_bucket(3);
    let gas = |chain: &MemoryChain| user_transactions(chain)[0].info.v0().gas_used;
    let signed = transfer(&chain, nonces[0]);
    chain.execute(vec![signed]);
    let signed = transfer(&chain, nonces[1] + 1);
    chain.execute(vec![signed]);
    let alone = gas(&chain);
    // Fills the bucket, as a sender could that searched for nonces of this bucket.
    let mut nearly_full = bucket(&chain, 0);
    let colliding = |digest| RememberedNonce {
        digest,
        txn_expiration_time: START_SECS + 60,
    };
    let others = (1..BUCKET_NONCES_MAX as u128 - 1).map(colliding);
    nearly_full.nonces.extend(others);
    let key = NonceSlot::new(&address(0), 0).state_key();
    chain
        .state
        .insert(key, bcs::to_bytes(&nearly_full).unwrap().into());
    let signed = transfer(&chain, nonces[1]);
    assert_eq!(chain.execute(vec![signed]).discarded, []);
    assert_eq!(bucket(&chain, 0).nonces.len(), BUCKET_NONCES_MAX);
    // The gas covers the 511 other nonces of the bucket, 24 bytes each.
    assert_eq!(gas(&chain) - alone, 103);
    let one_more = nonces[2];
    let now_secs = chain.next_secs();
    let one_too_many = transfer(&chain, one_more);
    assert_eq!(
        rejection_status(&mut chain, now_secs, one_too_many),
        Some(Status::SequenceNonceInvalid)
    );
    // Other buckets have capacity.
    let (now_secs, in_other_bucket) = (chain.next_secs(), transfer(&chain, one_more + 1));
    assert_eq!(
        rejection_status(&mut chain, now_secs, in_other_bucket),
        None
    );
    let now_secs = START_SECS + 60 + 110;
    let later = transfer_expiring_at(&chain, one_more, now_secs + 1);
    assert_eq!(rejection_status(&mut chain, now_secs, later), None);
    assert_eq!(bucket(&chain, 0).nonces.len(), 1);
}

#[test]
fn rebuilds_used_nonces_from_state_alone() {
    let mut chain = MemoryChain::development();
    for block in 0..40 {
        let nonces = [block, block / 2, 1_000 + block % 5];
        let transactions =
            nonces.map(|nonce| transfer_expiring_at(&chain, nonce, START_SECS + block * 7 + 30));
        chain.execute_at(START_SECS + block * 7, transactions.to_vec());
    }
    let discarded: usize = chain.blocks.iter().map(|block| block.discarded.len()).sum();
    assert!(discarded > 30, "{discarded}");
    let mut replay = MemoryChain::development();
    for (number, block) in (0u64..).zip(&chain.blocks[1..]) {
        let nonces = [number, number / 2, 1_000 + number % 5];
        let transactions =
            nonces.map(|nonce| transfer_expiring_at(&replay, nonce, START_SECS + number * 7 + 30));
        let ordered = OrderedBlock {
            timestamp_usecs: (START_SECS + number * 7) * 1_000_000,
            transactions: transactions.into_iter().map(Arc::new).collect(),
            ..ledger_test_support::next_block(&replay.tip)
        };
        let executed = execute_block(&replay.chain, &replay.tip, &replay, ordered).unwrap();
        assert_eq!(&executed, block);
        // Only the tip and the state are carried over, as after a restart.
        let state = std::mem::take(&mut replay.state);
        replay = MemoryChain {
            tip: replay.tip,
            state,
            ..MemoryChain::development()
        };
        replay.apply(executed);
    }
    assert_eq!(replay.state, chain.state);
}

#[test]
fn accepts_orderless_transactions_from_the_height_of_the_framework() {
    let mut genesis = development_genesis(4, Vendor::default(), Parameters::default());
    genesis.parameters.framework_upgrades = FrameworkUpgrade::parse_list("2@0,3@3").unwrap();
    let mut chain = MemoryChain::new(&genesis);
    for _ in 0..2 {
        let (now_secs, signed) = (chain.next_secs(), transfer(&chain, 1));
        assert_eq!(
            rejection_status(&mut chain, now_secs, signed),
            Some(Status::FeatureUnderGating)
        );
    }
    // Admission uses the framework of the newest block, so it accepts orderless transactions one
    // block later than the prologue.
    let signed = transfer(&chain, 1);
    assert_eq!(chain.execute(vec![signed]).discarded, []);
    let (now_secs, signed) = (chain.next_secs(), transfer(&chain, 2));
    assert_eq!(rejection_status(&mut chain, now_secs, signed), None);
}
