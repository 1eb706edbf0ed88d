//! Keys and signatures of transactions with several signers.
//!
//! The authenticator at each index must belong to the account at that index: a signature by one
//! signer must never be accepted for another one. The tests exchange keys, signatures and addresses
//! in all permutations between the sender, up to three secondary signers, and the fee payer.

use ledger_crypto::DecodedKeys;
use ledger_execution::validate_for_admission;
use ledger_test_support::{MemoryChain, TestAccount, TestKey, TransactionSigner};
use ledger_types::{
    AccountAddress, CheckedTransaction, RawTransaction, SignedTransaction,
    ValidationStatus as Status,
    transaction::{AccountAuthenticator, AnySignature, TransactionAuthenticator},
};

const UNKNOWN_ADDRESS: AccountAddress = AccountAddress::from_low_u64(0xabcdef);
const SECONDARY_SIGNERS_MAX: usize = 3;

/// Returns the key of a development account.
fn development_key(number: usize) -> TestKey {
    TestKey::Ed25519(TestAccount::development().swap_remove(number).key)
}

/// Returns the first `count` of three keys for secondary signers: two ed25519 keys and one
/// secp256k1 key.
///
/// Both kinds are needed because ed25519 signatures are checked in a batch, secp256k1 signatures
/// one by one.
fn secondary_keys(count: usize) -> Vec<TestKey> {
    let keys = [
        development_key(1),
        TestKey::ed25519(8),
        TestKey::secp256k1(9),
    ];
    keys[..count].to_vec()
}

/// Returns an authenticator with the public key of `key` and a signature of `message` by `signer`.
fn authenticator(key: &TestKey, signer: &TestKey, message: &[u8]) -> AccountAuthenticator {
    match (key, signer.sign(message)) {
        (TestKey::Ed25519(key), AnySignature::Ed25519(signature)) => {
            AccountAuthenticator::Ed25519 {
                public_key: key.public_key(),
                signature,
            }
        }
        (key, signature) => AccountAuthenticator::SingleKey {
            public_key: key.public_key(),
            signature,
        },
    }
}

/// A transaction with secondary signers, in the multi-agent form or, with a fee payer, in the fee
/// payer form.
#[derive(Clone)]
struct Signers {
    raw: RawTransaction,
    sender: TestKey,
    secondary: Vec<TestKey>,
    fee_payer: Option<TestKey>,
}

impl Signers {
    /// Returns both forms, each with one to three secondary signers.
    fn all(chain: &MemoryChain) -> Vec<Self> {
        let sender = development_key(0);
        let raw = chain.raw(&sender, chain.transfer(UNKNOWN_ADDRESS, 7));
        let forms = [None, Some(development_key(2))];
        let of_form = |fee_payer: Option<TestKey>| {
            let (raw, sender) = (raw.clone(), sender.clone());
            (1..=SECONDARY_SIGNERS_MAX).map(move |count| Self {
                raw: raw.clone(),
                sender: sender.clone(),
                secondary: secondary_keys(count),
                fee_payer: fee_payer.clone(),
            })
        };
        forms.into_iter().flat_map(of_form).collect()
    }

    /// Returns the keys in the order of the wire format: sender, secondary signers, fee payer.
    fn keys(&self) -> Vec<&TestKey> {
        std::iter::once(&self.sender)
            .chain(&self.secondary)
            .chain(&self.fee_payer)
            .collect()
    }

    fn addresses(&self) -> Vec<AccountAddress> {
        self.secondary
            .iter()
            .map(TransactionSigner::address)
            .collect()
    }

    /// Returns the message that all signers sign if the secondary signers have these addresses.
    fn message(&self, chain: &MemoryChain, addresses: &[AccountAddress]) -> Vec<u8> {
        let vendor = chain.chain.vendor();
        match &self.fee_payer {
            Some(payer) => self
                .raw
                .fee_payer_signing_message(addresses, payer.address(), vendor),
            None => self.raw.multi_agent_signing_message(addresses, vendor),
        }
    }

    /// Returns the transaction with these authenticators, in the order of [`Self::keys`].
    fn with(
        &self,
        secondary_signer_addresses: Vec<AccountAddress>,
        authenticators: Vec<AccountAuthenticator>,
    ) -> SignedTransaction {
        let mut authenticators = authenticators.into_iter();
        let sender = Box::new(authenticators.next().unwrap());
        let secondary_signers = authenticators.by_ref().take(self.secondary.len()).collect();
        let authenticator = match &self.fee_payer {
            Some(payer) => TransactionAuthenticator::FeePayer {
                sender,
                secondary_signer_addresses,
                secondary_signers,
                fee_payer_address: payer.address(),
                fee_payer_signer: Box::new(authenticators.next().unwrap()),
            },
            None => TransactionAuthenticator::MultiAgent {
                sender,
                secondary_signer_addresses,
                secondary_signers,
            },
        };
        assert_eq!(authenticators.next(), None);
        SignedTransaction {
            raw: self.raw.clone(),
            authenticator,
        }
    }

    /// Returns the transaction whose authenticator `i` has the key of signer `keys[i]` and a
    /// signature by signer `signatures[i]`.
    ///
    /// All signatures are of the message of this transaction.
    fn exchanged(
        &self,
        chain: &MemoryChain,
        keys: &[usize],
        signatures: &[usize],
    ) -> SignedTransaction {
        let addresses = self.addresses();
        let message = self.message(chain, &addresses);
        let all = self.keys();
        let authenticators = keys
            .iter()
            .zip(signatures)
            .map(|(key, signer)| authenticator(all[*key], all[*signer], &message))
            .collect();
        self.with(addresses, authenticators)
    }

    fn description(&self) -> String {
        let payer = self.fee_payer.as_ref().map_or("no", |_| "a");
        format!(
            "{} secondary signers, {payer} fee payer",
            self.secondary.len()
        )
    }
}

/// Returns every permutation of the numbers below `count`, the ascending one first.
fn permutations(count: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..count {
        all = all
            .into_iter()
            .flat_map(|order| {
                let rest = (0..count).filter({
                    let order = order.clone();
                    move |number| !order.contains(number)
                });
                rest.map(move |number| [&order[..], &[number]].concat())
                    .collect::<Vec<_>>()
            })
            .collect();
    }
    all
}

/// Returns the numbers below `count` in ascending order, with one of them replaced by another, for
/// every pair of the two.
fn substitutions(count: usize) -> impl Iterator<Item = Vec<usize>> {
    let pairs = (0..count).flat_map(move |copied| (0..count).map(move |index| (copied, index)));
    pairs
        .filter(|(copied, index)| copied != index)
        .map(move |(copied, index)| {
            let mut order: Vec<_> = (0..count).collect();
            order[index] = copied;
            order
        })
}

#[track_caller]
fn assert_invalid_signature(chain: &MemoryChain, transaction: SignedTransaction, context: &str) {
    let rejection =
        CheckedTransaction::check(transaction, chain.chain.vendor(), chain.chain.parameters())
            .expect_err(context);
    assert_eq!(
        rejection.status,
        Status::InvalidSignature,
        "{context}: {rejection}"
    );
}

/// Each authenticator is valid in itself, because its signature is by its key. The transaction is
/// rejected because the key is not the key of the account at the same index.
#[test]
fn rejects_exchanged_authenticators_at_admission_and_in_a_block() {
    let development = MemoryChain::development();
    for signers in Signers::all(&development) {
        for order in permutations(signers.keys().len()) {
            let context = format!("{}, in the order {order:?}", signers.description());
            let mut chain = MemoryChain::development();
            let transaction = signers.exchanged(&chain, &order, &order);
            let transaction = CheckedTransaction::check(
                transaction,
                chain.chain.vendor(),
                chain.chain.parameters(),
            )
            .expect(&context);
            let facts = chain.transaction_facts(&transaction);
            let admitted =
                validate_for_admission(&chain.chain, &facts, &transaction, chain.next_secs());
            let block = chain.execute(vec![transaction]);
            let discarded: Vec<_> = block.discarded.iter().map(|one| one.status_code).collect();
            if order.is_sorted() {
                assert_eq!((admitted, discarded), (Ok(()), vec![]), "{context}");
                // The transfer function takes no further signers and fails, but it is executed.
                assert_eq!(
                    chain.facts(&signers.sender.address()).sequence_number,
                    1,
                    "{context}"
                );
            } else {
                let status = Status::InvalidAuthKey;
                assert_eq!(
                    admitted.map_err(|discard| discard.status),
                    Err(status),
                    "{context}"
                );
                assert_eq!(discarded, [status.code()], "{context}");
                assert_eq!(
                    chain.facts(&signers.sender.address()).sequence_number,
                    0,
                    "{context}"
                );
            }
        }
    }
}

/// One authenticator or more has a key of one signer and a signature by another one.
#[test]
fn rejects_exchanged_signatures_in_single_and_batch_checks() {
    let chain = MemoryChain::development();
    let mut transactions = Vec::new();
    let mut expected = Vec::new();
    for signers in Signers::all(&chain) {
        let mut orders = permutations(signers.keys().len());
        orders.extend(substitutions(signers.keys().len()));
        let in_order = &orders[0];
        for order in &orders {
            let context = format!("{}, in the order {order:?}", signers.description());
            for transaction in [
                signers.exchanged(&chain, in_order, order),
                signers.exchanged(&chain, order, in_order),
            ] {
                let is_valid = order == in_order;
                if is_valid {
                    CheckedTransaction::check(
                        transaction.clone(),
                        chain.chain.vendor(),
                        chain.chain.parameters(),
                    )
                    .expect(&context);
                } else {
                    assert_invalid_signature(&chain, transaction.clone(), &context);
                }
                transactions.push(transaction);
                expected.push(is_valid);
            }
        }
    }
    let are_valid = CheckedTransaction::check_all(
        transactions,
        chain.chain.vendor(),
        chain.chain.parameters(),
        &mut DecodedKeys::default(),
    );
    let are_valid: Vec<_> = are_valid.iter().map(Result::is_ok).collect();
    assert_eq!(are_valid, expected);
}

/// A signer cannot replace another one by signing twice.
#[test]
fn rejects_one_authenticator_for_two_signers() {
    let development = MemoryChain::development();
    for signers in Signers::all(&development) {
        for order in substitutions(signers.keys().len()) {
            let context = format!("{}, in the order {order:?}", signers.description());
            let mut chain = MemoryChain::development();
            let transaction = signers.exchanged(&chain, &order, &order);
            let transaction = CheckedTransaction::check(
                transaction,
                chain.chain.vendor(),
                chain.chain.parameters(),
            )
            .expect(&context);
            let facts = chain.transaction_facts(&transaction);
            let rejection =
                validate_for_admission(&chain.chain, &facts, &transaction, chain.next_secs())
                    .expect_err(&context);
            assert_eq!(rejection.status, Status::InvalidAuthKey, "{context}");
            let block = chain.execute(vec![transaction]);
            assert_eq!(
                block.discarded[0].status_code,
                rejection.status.code(),
                "{context}"
            );
        }
    }
}

/// The signed message fixes the order of the addresses, because the order determines the role of
/// each signer in the call.
#[test]
fn rejects_exchanged_addresses() {
    let chain = MemoryChain::development();
    for signers in Signers::all(&chain) {
        let signed = signers.addresses();
        let message = signers.message(&chain, &signed);
        let authenticators: Vec<_> = signers
            .keys()
            .iter()
            .map(|key| authenticator(key, key, &message))
            .collect();
        for order in permutations(signed.len()) {
            let context = format!("{}, in the order {order:?}", signers.description());
            let addresses: Vec<_> = order.iter().map(|number| signed[*number]).collect();
            // The authenticators of the secondary signers keep their order, or move with the
            // addresses.
            let mut reordered = authenticators.clone();
            for (index, number) in order.iter().enumerate() {
                reordered[1 + index] = authenticators[1 + number].clone();
            }
            for authenticators in [authenticators.clone(), reordered] {
                let transaction = signers.with(addresses.clone(), authenticators);
                if order.is_sorted() {
                    CheckedTransaction::check(
                        transaction,
                        chain.chain.vendor(),
                        chain.chain.parameters(),
                    )
                    .expect(&context);
                } else {
                    assert_invalid_signature(&chain, transaction, &context);
                }
            }
        }
    }
}

/// Exactly one signature is invalid, at each index in turn. A permutation makes at least two
/// invalid.
#[test]
fn rejects_a_signature_of_an_unrelated_key_at_every_index() {
    let chain = MemoryChain::development();
    let unrelated_key = TestKey::ed25519(10);
    for signers in Signers::all(&chain) {
        let addresses = signers.addresses();
        let message = signers.message(&chain, &addresses);
        let keys = signers.keys();
        for index in 0..keys.len() {
            let authenticators = keys.iter().enumerate().map(|(number, key)| {
                let signer = if number == index { &unrelated_key } else { key };
                authenticator(key, signer, &message)
            });
            let transaction = signers.with(addresses.clone(), authenticators.collect());
            let context = format!("{}, index {index}", signers.description());
            assert_invalid_signature(&chain, transaction, &context);
        }
    }
}
