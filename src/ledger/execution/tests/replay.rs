//! Replay protection of transactions that have several valid signed forms.
//!
//! One raw transaction can have several hashes: a key set may sign with more signatures than it
//! requires, or with a longer bitmap of the same bits. Only the first form in order is executed.

use ledger_crypto::Ed25519PrivateKey;
use ledger_execution::development_accounts;
use ledger_test_support::{MemoryChain, TransactionBuilder};
use ledger_types::{
    AccountAddress, CheckedTransaction, RawTransaction, ValidationStatus as Status,
    transaction::{AccountAuthenticator, AnyPublicKey, AnySignature, MultiKey},
};
use std::collections::HashSet;

const UNKNOWN_ADDRESS: AccountAddress = AccountAddress::from_low_u64(0xabcdef);

fn keys() -> [Ed25519PrivateKey; 3] {
    [1, 2, 3].map(|n| Ed25519PrivateKey::from_seed(&[n; 32]))
}

fn key_set() -> MultiKey {
    MultiKey {
        public_keys: keys()
            .map(|key| AnyPublicKey::Ed25519(key.public_key()))
            .to_vec(),
        signatures_required: 2,
    }
}

/// Returns the transaction with the signatures of the keys that the bitmap selects.
fn signed(chain: &MemoryChain, raw: &RawTransaction, bitmap: &[u8]) -> CheckedTransaction {
    let keys = keys().into_iter().enumerate();
    let signers = keys.filter(|(number, _)| bitmap[0] & (0x80 >> number) != 0);
    let builder = TransactionBuilder::from_raw(&chain.chain, raw.clone());
    let signed = builder.sign_with(|message| AccountAuthenticator::MultiKey {
        public_keys: key_set(),
        signatures: signers
            .map(|(_, key)| AnySignature::Ed25519(key.sign(message)))
            .collect(),
        signatures_bitmap: bitmap.to_vec().into(),
    });
    CheckedTransaction::check(signed, chain.chain.vendor(), chain.chain.parameters()).unwrap()
}

#[test]
fn executes_only_the_first_signed_form_of_a_transaction() {
    let account = development_accounts().remove(0);
    for nonce in [None, Some(5)] {
        let mut chain = MemoryChain::development();
        let hash = bcs::to_bytes(&key_set().authentication_key().as_bytes().to_vec()).unwrap();
        let rotate = chain.call(
            "0x1::account::rotate_authentication_key_call",
            &[],
            vec![hash],
        );
        chain.run(&account.private_key, rotate);
        let raw = chain.raw(&account.private_key, chain.transfer(UNKNOWN_ADDRESS, 1));
        let (raw, rejection) = match nonce {
            None => (raw, Status::SequenceNumberTooOld),
            Some(nonce) => (chain.orderless(raw, nonce), Status::NonceAlreadyUsed),
        };
        let bitmaps: [&[u8]; 4] = [&[0xc0], &[0xc0, 0, 0, 0], &[0xa0], &[0xe0]];
        let forms = bitmaps.map(|bitmap| signed(&chain, &raw, bitmap));
        let hashes: HashSet<_> = forms.iter().map(CheckedTransaction::hash).collect();
        assert_eq!(hashes.len(), forms.len(), "two forms have the same hash");
        let block = chain.execute(forms[..3].to_vec());
        let codes: Vec<u64> = block
            .discarded
            .iter()
            .map(|discarded_transaction| discarded_transaction.status_code)
            .collect();
        assert_eq!(codes, [rejection.code(); 2]);
        let block = chain.execute(forms[3..].to_vec());
        assert_eq!(block.discarded[0].status_code, rejection.code());
        assert_eq!(chain.facts(&UNKNOWN_ADDRESS).balance, 1);
    }
}
