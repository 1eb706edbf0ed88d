//! Clients of a development chain with real keys, and the store of such a chain.

use ledger_crypto::Ed25519PrivateKey;
use ledger_execution::{build_chain, development_accounts, development_genesis, execute_genesis};
use ledger_store::{Store, StoreOptions};
use ledger_types::{
    AccountAddress, CheckedTransaction, EntryFunction, Identifier, Parameters, RawTransaction,
    SignedTransaction, Vendor,
    transaction::{TransactionAuthenticator, TransactionPayload},
};
use ledger_vm::Chain;
use std::path::Path;

/// An account with its key and its next sequence number.
#[derive(Clone, Debug)]
pub struct Wallet {
    pub address: AccountAddress,
    pub key: Ed25519PrivateKey,
    pub sequence_number: u64,
}

impl Wallet {
    /// An account that does not exist yet.
    pub fn new(number: u64) -> Self {
        let mut seed = [7; 32];
        seed[..8].copy_from_slice(&number.to_le_bytes());
        let key = Ed25519PrivateKey::from_seed(&seed);
        Self {
            address: AccountAddress::from_public_key(&key.public_key()),
            key,
            sequence_number: 0,
        }
    }

    /// A transfer that expires far in the future; takes the next sequence number.
    pub fn transfer(
        &mut self,
        chain: &Chain,
        to: AccountAddress,
        amount: u64,
    ) -> CheckedTransaction {
        self.transfer_until(chain, to, amount, 4_000_000_000)
    }

    /// A transfer that expires at `expiration_secs`; takes the next sequence number.
    pub fn transfer_until(
        &mut self,
        chain: &Chain,
        to: AccountAddress,
        amount: u64,
        expiration_secs: u64,
    ) -> CheckedTransaction {
        let argument = |bytes: Vec<u8>| bytes.into();
        let module = format!("0x1::{}_account", chain.vendor().lower());
        let payload = TransactionPayload::EntryFunction(EntryFunction {
            module: module.parse().expect("a module"),
            function: Identifier::new("transfer").expect("a name"),
            type_args: Vec::new(),
            args: vec![
                argument(bcs::to_bytes(&to).expect("an address")),
                argument(bcs::to_bytes(&amount).expect("an amount")),
            ],
        });
        self.sign(chain, payload, expiration_secs)
    }

    /// A transaction that expires at `expiration_secs`; takes the next sequence number.
    pub fn sign(
        &mut self,
        chain: &Chain,
        payload: TransactionPayload,
        expiration_secs: u64,
    ) -> CheckedTransaction {
        let raw = RawTransaction {
            sender: self.address,
            sequence_number: self.sequence_number,
            payload,
            max_gas_amount: 20_000,
            gas_unit_price: 100,
            expiration_timestamp_secs: expiration_secs,
            chain_id: chain.id(),
        };
        self.sequence_number += 1;
        let authenticator = TransactionAuthenticator::Ed25519 {
            public_key: self.key.public_key(),
            signature: self.key.sign(&raw.signing_message(chain.vendor())),
        };
        CheckedTransaction::check(
            SignedTransaction { raw, authenticator },
            chain.vendor(),
            chain.parameters(),
        )
        .expect("a good signature")
    }
}

/// The funded accounts of a development chain.
pub fn funded() -> Vec<Wallet> {
    let accounts = development_accounts().into_iter().map(|account| Wallet {
        address: account.address,
        key: account.private_key,
        sequence_number: 0,
    });
    accounts.collect()
}

/// A development chain and its store in `directory`, made when there is none.
pub fn development(directory: &Path) -> (Chain, Store) {
    development_with(directory, Parameters::default())
}

/// The same with other bounds than a chain's usual ones.
pub fn development_with(directory: &Path, parameters: Parameters) -> (Chain, Store) {
    let options = StoreOptions {
        cache_bytes: 8 << 20,
    };
    let store = Store::open(directory, &options).expect("the store opens");
    initialized_with(store, parameters)
}

/// A development chain in this store.
pub fn initialized(store: Store) -> (Chain, Store) {
    initialized_with(store, Parameters::default())
}

fn initialized_with(mut store: Store, parameters: Parameters) -> (Chain, Store) {
    let genesis = development_genesis(4, Vendor::default(), parameters);
    let chain = build_chain(&genesis).expect("a good genesis");
    if store.genesis().expect("a readable store").is_none() {
        store
            .initialize(&genesis, &execute_genesis(&genesis, &chain))
            .expect("a writable store");
    }
    (chain, store)
}
