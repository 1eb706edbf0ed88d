//! The cost of checking each kind of signature, alone and many ed25519 ones together, on one core.
//! `cargo bench --bench signatures`.

use bytes::Bytes;
use divan::{Bencher, counter::ItemsCount};
use ledger_crypto::{
    DecodedKeys, Ed25519PrivateKey, Ed25519PublicKey, Ed25519Signature, HashValue,
    ed25519::{Equation, batch},
    webauthn::{self, Assertion, AssertionSignature},
};
use ledger_framework::new_chain;
use ledger_types::{
    AccountAddress, CheckedTransaction, EntryFunction, Parameters, RawTransaction,
    SignedTransaction, Vendor,
    transaction::{
        AccountAuthenticator, AnyPublicKey, AnySignature, MultiEd25519PublicKey,
        MultiEd25519Signature, MultiKey, TransactionAuthenticator, TransactionPayload,
    },
};
use ledger_vm::Chain;
use p256::ecdsa::signature::hazmat::PrehashSigner;

fn main() {
    divan::main();
}

fn chain() -> Chain {
    new_chain(4, Vendor::default(), Parameters::default())
}

/// A transaction of the size of a transfer.
fn raw(number: u64) -> RawTransaction {
    RawTransaction {
        sender: AccountAddress::from_low_u64(0xcafe),
        sequence_number: number,
        payload: TransactionPayload::EntryFunction(EntryFunction {
            module: "0x1::node_account".parse().expect("a module"),
            function: "transfer".parse().expect("a name"),
            type_args: vec![],
            args: vec![Bytes::from(vec![7; 32]), Bytes::from(vec![1; 8])],
        }),
        max_gas_amount: 100_000,
        gas_unit_price: 100,
        expiration_timestamp_secs: 1_700_000_000,
        chain_id: 4,
    }
}

fn private(number: u64) -> Ed25519PrivateKey {
    let mut seed = [7; 32];
    seed[..8].copy_from_slice(&number.to_le_bytes());
    Ed25519PrivateKey::from_seed(&seed)
}

fn ed25519(number: u64, message: &[u8]) -> (Ed25519PublicKey, Ed25519Signature) {
    (private(number).public_key(), private(number).sign(message))
}

fn secp256k1(message: &[u8]) -> (AnyPublicKey, AnySignature) {
    let key = k256::ecdsa::SigningKey::from_slice(&[5; 32]).expect("a scalar");
    let point = key.verifying_key().to_sec1_point(false);
    let digest = HashValue::sha3_of(&[message]);
    let signature: k256::ecdsa::Signature = key.sign_prehash(digest.as_bytes()).expect("a hash");
    (
        AnyPublicKey::Secp256k1Ecdsa(Bytes::copy_from_slice(point.as_bytes())),
        AnySignature::Secp256k1Ecdsa(Bytes::copy_from_slice(&signature.to_bytes())),
    )
}

fn passkey(message: &[u8]) -> (AnyPublicKey, AnySignature) {
    let key = p256::ecdsa::SigningKey::from_slice(&[5; 32]).expect("a scalar");
    let point = key.verifying_key().to_sec1_point(false);
    let challenge = webauthn::challenge(&[message]);
    let client_data = format!(
        r#"{{"type":"webauthn.get","challenge":"{challenge}","origin":"https://wallet.example"}}"#
    );
    let mut assertion = Assertion {
        signature: AssertionSignature::Secp256r1Ecdsa(Bytes::new()),
        authenticator_data: Bytes::from(vec![0x5a; 37]),
        client_data_json: client_data.into(),
    };
    let signature: p256::ecdsa::Signature = key
        .sign_prehash(&assertion.signed_digest())
        .expect("a hash");
    let signature = Bytes::copy_from_slice(&signature.normalize_s().to_bytes());
    assertion.signature = AssertionSignature::Secp256r1Ecdsa(signature);
    (
        AnyPublicKey::Secp256r1Ecdsa(Bytes::copy_from_slice(point.as_bytes())),
        AnySignature::WebAuthn(assertion),
    )
}

fn signed(raw: RawTransaction, sender: AccountAuthenticator) -> SignedTransaction {
    SignedTransaction {
        raw,
        authenticator: TransactionAuthenticator::SingleSender {
            sender: Box::new(sender),
        },
    }
}

/// Checks one transaction whose sender signs so.
fn check_one(bencher: Bencher<'_, '_>, sender: impl Fn(&[u8]) -> AccountAuthenticator) {
    let chain = chain();
    let raw = raw(1);
    let sender = sender(&raw.signing_message(chain.vendor()));
    let transaction = signed(raw, sender);
    assert_eq!(
        transaction.check(chain.vendor(), chain.parameters()),
        Ok(())
    );
    bencher
        .counter(ItemsCount::new(1usize))
        .bench_local(|| transaction.check(chain.vendor(), chain.parameters()));
}

fn single_key((public_key, signature): (AnyPublicKey, AnySignature)) -> AccountAuthenticator {
    AccountAuthenticator::SingleKey {
        public_key,
        signature,
    }
}

#[divan::bench]
fn alone_ed25519(bencher: Bencher<'_, '_>) {
    check_one(bencher, |message| {
        let (public_key, signature) = ed25519(1, message);
        AccountAuthenticator::Ed25519 {
            public_key,
            signature,
        }
    });
}

#[divan::bench]
fn alone_secp256k1(bencher: Bencher<'_, '_>) {
    check_one(bencher, |message| single_key(secp256k1(message)));
}

#[divan::bench]
fn alone_webauthn(bencher: Bencher<'_, '_>) {
    check_one(bencher, |message| single_key(passkey(message)));
}

/// All keys sign, so this is the dearest set of its size.
#[divan::bench(args = [2, 8, 32])]
fn multi_ed25519(bencher: Bencher<'_, '_>, keys: u64) {
    check_one(bencher, |message| {
        let signers: Vec<_> = (0..keys).map(|number| ed25519(number, message)).collect();
        let threshold = u8::try_from(keys).expect("at most 32 keys");
        let bitmap = (u32::MAX << (32 - keys)).to_be_bytes();
        let public_keys = signers.iter().flat_map(|(key, _)| key.0).chain([threshold]);
        let signatures = signers
            .iter()
            .flat_map(|(_, signature)| signature.0)
            .chain(bitmap);
        AccountAuthenticator::MultiEd25519 {
            public_key: MultiEd25519PublicKey(public_keys.collect::<Vec<_>>().into()),
            signature: MultiEd25519Signature(signatures.collect::<Vec<_>>().into()),
        }
    });
}

/// Two of three kinds sign.
#[divan::bench]
fn multi_key_2_of_3_mixed(bencher: Bencher<'_, '_>) {
    check_one(bencher, |message| {
        let (key, signature) = ed25519(1, message);
        let (secp256k1, passkey) = (secp256k1(message), passkey(message));
        AccountAuthenticator::MultiKey {
            public_keys: MultiKey {
                public_keys: vec![AnyPublicKey::Ed25519(key), secp256k1.0, passkey.0],
                signatures_required: 2,
            },
            signatures: vec![AnySignature::Ed25519(signature), secp256k1.1],
            signatures_bitmap: Bytes::from_static(&[0b1100_0000]),
        }
    });
}

/// Transactions of as many senders, each signed with ed25519.
fn transactions(count: u64) -> Vec<SignedTransaction> {
    let chain = chain();
    let numbers = 0..count;
    numbers
        .map(|number| {
            let raw = raw(number);
            let (public_key, signature) = ed25519(number, &raw.signing_message(chain.vendor()));
            signed(
                raw,
                AccountAuthenticator::Ed25519 {
                    public_key,
                    signature,
                },
            )
        })
        .collect()
}

/// Whole transactions together: signing messages, points, equations, hashes.
#[divan::bench(args = [1, 2, 4, 8, 16, 32, 64, 128])]
fn together_transactions(bencher: Bencher<'_, '_>, count: u64) {
    let (chain, transactions) = (chain(), transactions(count));
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

/// As many signatures, of which every 32nd does not hold.
#[divan::bench(args = [32, 64, 128])]
fn together_some_bad(bencher: Bencher<'_, '_>, count: u64) {
    let chain = chain();
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

/// As many signatures, of which none holds: every sum is for nothing.
#[divan::bench(args = [32, 128])]
fn together_all_bad(bencher: Bencher<'_, '_>, count: u64) {
    let chain = chain();
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

/// Equations of as many messages, of keys of `senders` accounts.
fn equations(count: u64, senders: u64) -> Vec<Equation> {
    let numbers = 0..count;
    numbers
        .map(|number| {
            let message = number.to_le_bytes();
            let (key, signature) = ed25519(number % senders, &message);
            key.equation(&[&message], &signature)
                .expect("the parts are in order")
        })
        .collect()
}

/// The equations alone, one by one.
#[divan::bench]
fn equation_alone(bencher: Bencher<'_, '_>) {
    let equations = equations(1, 1);
    bencher
        .counter(ItemsCount::new(1usize))
        .bench_local(|| equations[0].holds());
}

/// The equations alone, in one sum.
#[divan::bench(args = [2, 3, 4, 8, 16, 32, 64, 128])]
fn equations_together(bencher: Bencher<'_, '_>, count: u64) {
    let equations = equations(count, count);
    bencher
        .counter(ItemsCount::new(equations.len()))
        .bench_local(|| batch::check(&equations));
}

/// The same, all of one key.
#[divan::bench(args = [32, 128])]
fn equations_of_one_sender(bencher: Bencher<'_, '_>, count: u64) {
    let equations = equations(count, 1);
    bencher
        .counter(ItemsCount::new(equations.len()))
        .bench_local(|| batch::check(&equations));
}
