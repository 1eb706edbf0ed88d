//! An account whose key is rotated signs with the new one from then on, of whatever kind it is, and no
//! more with the old one. The proofs of both keys, and the table of originating addresses that follows
//! proven rotations, have their cases in `functions/account/rotations.rs`.

mod kit;

use kit::MemoryChain;
use ledger::{
    AccountAddress, CheckedTransaction, Genesis, HashValue, RawTransaction, SignedTransaction,
    ValidationStatus, Vendor,
    crypto::Ed25519PrivateKey,
    execute::validate_for_admission,
    transaction::{
        AccountAuthenticator, AnyPublicKey, AnySignature, MultiEd25519PublicKey, MultiEd25519Signature,
        MultiKey, TransactionAuthenticator,
    },
};

const NOBODY: AccountAddress = AccountAddress::from_low_u64(0xabcdef);
/// The first two of the keys sign.
const BITMAP: [u8; 4] = [0xc0, 0, 0, 0];

fn keys() -> [Ed25519PrivateKey; 2] {
    [1, 2].map(|n| Ed25519PrivateKey::from_seed(&[n; 32]))
}

type Sign = fn(&RawTransaction, &Vendor) -> TransactionAuthenticator;

fn ed25519(raw: &RawTransaction, vendor: &Vendor) -> TransactionAuthenticator {
    let [key, _] = keys();
    TransactionAuthenticator::Ed25519 {
        public_key: key.public_key(),
        signature: key.sign(&raw.signing_message(vendor)),
    }
}

fn multi_ed25519(raw: &RawTransaction, vendor: &Vendor) -> TransactionAuthenticator {
    let message = raw.signing_message(vendor);
    let mut public_key: Vec<u8> = keys().iter().flat_map(|key| key.public_key().0).collect();
    public_key.push(2);
    let mut signature: Vec<u8> = keys().iter().flat_map(|key| key.sign(&message).0).collect();
    signature.extend(BITMAP);
    TransactionAuthenticator::MultiEd25519 {
        public_key: MultiEd25519PublicKey(public_key.into()),
        signature: MultiEd25519Signature(signature.into()),
    }
}

fn single_key(raw: &RawTransaction, vendor: &Vendor) -> TransactionAuthenticator {
    let [key, _] = keys();
    let sender = Box::new(AccountAuthenticator::SingleKey {
        public_key: AnyPublicKey::Ed25519(key.public_key()),
        signature: AnySignature::Ed25519(key.sign(&raw.signing_message(vendor))),
    });
    TransactionAuthenticator::SingleSender { sender }
}

fn multi_key(raw: &RawTransaction, vendor: &Vendor) -> TransactionAuthenticator {
    let message = raw.signing_message(vendor);
    let public_keys = keys()
        .iter()
        .map(|key| AnyPublicKey::Ed25519(key.public_key()))
        .collect();
    let sender = Box::new(AccountAuthenticator::MultiKey {
        public_keys: MultiKey {
            public_keys,
            signatures_required: 2,
        },
        signatures: keys()
            .iter()
            .map(|key| AnySignature::Ed25519(key.sign(&message)))
            .collect(),
        signatures_bitmap: BITMAP.to_vec().into(),
    });
    TransactionAuthenticator::SingleSender { sender }
}

fn signed(chain: &MemoryChain, sender: AccountAddress, sign: Sign) -> CheckedTransaction {
    let old = &Genesis::development_accounts()[0].private_key;
    let mut raw = chain.raw(old, chain.transfer(NOBODY, 1));
    raw.sequence_number = chain.facts(&sender).sequence_number;
    let authenticator = sign(&raw, chain.chain.vendor());
    CheckedTransaction::check(SignedTransaction { raw, authenticator }, &chain.chain).unwrap()
}

fn new_key(chain: &MemoryChain, sender: AccountAddress, sign: Sign) -> HashValue {
    let transaction = signed(chain, sender, sign);
    let authenticator = &transaction.transaction().authenticator;
    authenticator.sender_authentication_key().unwrap().unwrap()
}

#[test]
fn the_new_key_signs_and_the_old_one_no_more() {
    let account = Genesis::development_accounts().remove(0);
    let kinds: [(&str, Sign); 4] = [
        ("ed25519", ed25519),
        ("multi-ed25519", multi_ed25519),
        ("single key", single_key),
        ("multi key", multi_key),
    ];
    for (name, sign) in kinds {
        let mut chain = MemoryChain::development();
        let early = signed(&chain, account.address, sign);
        let facts = chain.transaction_facts(&early);
        let refusal = validate_for_admission(&chain.chain, &facts, &early, chain.next_secs()).unwrap_err();
        assert_eq!(refusal.status, ValidationStatus::InvalidAuthKey, "{name} before");
        let hash = new_key(&chain, account.address, sign).as_bytes().to_vec();
        let arguments = vec![bcs::to_bytes(&hash).unwrap()];
        let rotate = chain.call("0x1::account::rotate_authentication_key_call", &[], arguments);
        chain.run(&account.private_key, rotate);
        let late = chain.sign(
            &account.private_key,
            chain.raw(&account.private_key, chain.transfer(NOBODY, 1)),
        );
        let block = chain.execute(vec![late]);
        let refused = ValidationStatus::InvalidAuthKey.code();
        assert_eq!(block.discarded[0].status_code, refused, "{name}: the old key");
        let used = signed(&chain, account.address, sign);
        assert_eq!(chain.execute(vec![used]).discarded, [], "{name}");
        assert_eq!(chain.facts(&NOBODY).balance, 1, "{name}");
    }
}
