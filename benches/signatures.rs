//! Benchmark of signature checks on one core: single signatures of each kind, and batches of
//! ed25519 signatures.
//!
//! `cargo bench -p ledger-execution --bench signatures`

use divan::{Bencher, counter::ItemsCount};
use ledger_crypto::{
    DecodedKeys,
    ed25519::{Equation, batch},
};
use ledger_test_support::{
    TestAccount, TestKey, TestSigner, TransactionBuilder, TransactionSigner, development_chain,
};
use ledger_types::{AccountAddress, CheckedTransaction, SignedTransaction};

fn main() {
    divan::main();
}

/// Returns a builder of a transfer.
fn transfer(sequence_number: u64) -> TransactionBuilder {
    let chain = development_chain();
    let account = AccountAddress::from_low_u64(0xcafe);
    TransactionBuilder::transfer(&chain, account, account, 1).sequence_number(sequence_number)
}

/// Measures the check of one transaction of `signer`.
fn check_one(bencher: Bencher<'_, '_>, signer: &impl TransactionSigner) {
    let chain = development_chain();
    let transaction = transfer(1).sign_as_single_sender(signer);
    assert_eq!(
        transaction.check(chain.vendor(), chain.parameters()),
        Ok(())
    );
    bencher
        .counter(ItemsCount::new(1usize))
        .bench_local(|| transaction.check(chain.vendor(), chain.parameters()));
}

#[divan::bench]
fn single_ed25519(bencher: Bencher<'_, '_>) {
    check_one(bencher, &TestAccount::from_seed(1));
}

#[divan::bench]
fn single_secp256k1(bencher: Bencher<'_, '_>) {
    check_one(bencher, &TestKey::secp256k1(5));
}

#[divan::bench]
fn single_webauthn(bencher: Bencher<'_, '_>) {
    check_one(bencher, &TestKey::passkey(5));
}

/// Measures a key set in which all keys sign, the most expensive case of its size.
#[divan::bench(args = [2, 8, 32])]
fn multi_ed25519(bencher: Bencher<'_, '_>, keys: u8) {
    let key = |number| TestAccount::from_seed(u64::from(number)).key;
    let signer = TestSigner::MultiEd25519 {
        keys: (0..keys).map(key).collect(),
        threshold: keys,
    };
    check_one(bencher, &signer);
}

/// Measures a key set of a passkey, a secp256k1 key and an ed25519 key. The last two sign.
#[divan::bench]
fn multi_key_2_of_3_mixed(bencher: Bencher<'_, '_>) {
    let signer = TestSigner::MultiKey {
        keys: vec![
            TestKey::passkey(5),
            TestKey::secp256k1(5),
            TestKey::ed25519(1),
        ],
        signatures_required: 2,
    };
    check_one(bencher, &signer);
}

/// Returns `count` transactions, each signed by a different ed25519 key.
fn transactions(count: u64) -> Vec<SignedTransaction> {
    let numbers = 0..count;
    numbers
        .map(|number| transfer(number).sign_as_single_sender(&TestAccount::from_seed(number)))
        .collect()
}

/// Measures the complete check of a batch: signing messages, curve points, equations, and hashes.
#[divan::bench(args = [1, 2, 4, 8, 16, 32, 64, 128])]
fn batch_of_transactions(bencher: Bencher<'_, '_>, count: u64) {
    let (chain, transactions) = (development_chain(), transactions(count));
    bencher
        .counter(ItemsCount::new(transactions.len()))
        .with_inputs(|| transactions.clone())
        .bench_local_values(|transactions| {
            CheckedTransaction::check_all(
                transactions,
                chain.vendor(),
                chain.parameters(),
                &mut DecodedKeys::default(),
            )
        });
}

/// Measures the check of a batch in which one signature of every 32 is invalid.
#[divan::bench(args = [32, 64, 128])]
fn batch_with_few_invalid(bencher: Bencher<'_, '_>, count: u64) {
    let chain = development_chain();
    let mut transactions = transactions(count);
    for transaction in transactions.iter_mut().skip(7).step_by(32) {
        transaction.raw.gas_unit_price += 1;
    }
    bencher
        .counter(ItemsCount::new(transactions.len()))
        .with_inputs(|| transactions.clone())
        .bench_local_values(|transactions| {
            CheckedTransaction::check_all(
                transactions,
                chain.vendor(),
                chain.parameters(),
                &mut DecodedKeys::default(),
            )
        });
}

/// Measures the check of a batch in which all signatures are invalid, so every sum of equations
/// fails.
#[divan::bench(args = [32, 128])]
fn batch_of_invalid(bencher: Bencher<'_, '_>, count: u64) {
    let chain = development_chain();
    let mut transactions = transactions(count);
    for transaction in &mut transactions {
        transaction.raw.gas_unit_price += 1;
    }
    bencher
        .counter(ItemsCount::new(transactions.len()))
        .with_inputs(|| transactions.clone())
        .bench_local_values(|transactions| {
            CheckedTransaction::check_all(
                transactions,
                chain.vendor(),
                chain.parameters(),
                &mut DecodedKeys::default(),
            )
        });
}

/// Returns the verification equations of `count` messages. Message `i` is signed by key
/// `i % senders`.
fn equations(count: u64, senders: u64) -> Vec<Equation> {
    let numbers = 0..count;
    numbers
        .map(|number| {
            let message = number.to_le_bytes();
            let key = TestAccount::from_seed(number % senders).key;
            key.public_key()
                .equation(&[&message], &key.sign(&message))
                .expect("the key and the signature are well-formed")
        })
        .collect()
}

/// Measures one verification equation.
#[divan::bench]
fn single_equation(bencher: Bencher<'_, '_>) {
    let equations = equations(1, 1);
    bencher
        .counter(ItemsCount::new(1usize))
        .bench_local(|| equations[0].holds());
}

/// Measures a batch of verification equations of different keys.
#[divan::bench(args = [2, 3, 4, 8, 16, 32, 64, 128])]
fn batch_of_equations(bencher: Bencher<'_, '_>, count: u64) {
    let equations = equations(count, count);
    bencher
        .counter(ItemsCount::new(equations.len()))
        .bench_local(|| batch::check(&equations));
}

/// Measures a batch of verification equations of one key.
#[divan::bench(args = [32, 128])]
fn batch_of_equations_of_one_key(bencher: Bencher<'_, '_>, count: u64) {
    let equations = equations(count, 1);
    bencher
        .counter(ItemsCount::new(equations.len()))
        .bench_local(|| batch::check(&equations));
}
