//! What benches share: funded accounts by number, and their transfers.

use bytes::Bytes;
use ledger_crypto::Ed25519PrivateKey;
use ledger_execution::development_genesis;
use ledger_types::{
    AccountAddress, EntryFunction, Genesis, GenesisAccount, Parameters, RawTransaction,
    SignedTransaction, Vendor,
    transaction::{TransactionAuthenticator, TransactionPayload},
};

/// The key of an account.
pub fn key(number: u64) -> Ed25519PrivateKey {
    let mut seed = [7; 32];
    seed[..8].copy_from_slice(&number.to_le_bytes());
    Ed25519PrivateKey::from_seed(&seed)
}

/// A chain on which the first accounts have money.
pub fn genesis(accounts: u64) -> Genesis {
    let mut genesis = development_genesis(4, Vendor::default(), Parameters::default());
    let funded = (0..accounts).map(|number| GenesisAccount {
        address: AccountAddress::from_public_key(&key(number).public_key()),
        balance: 1 << 50,
        authentication_key: None,
    });
    genesis.accounts.extend(funded);
    genesis
}

/// The transfer of 1 from one account to another that has a sequence number and expires at a time (Unix seconds).
pub fn transfer(
    (from, to): (u64, u64),
    sequence_number: u64,
    expires_secs: u64,
) -> SignedTransaction {
    let (key, to) = (
        key(from),
        AccountAddress::from_public_key(&key(to).public_key()),
    );
    let call = EntryFunction {
        module: "0x1::node_account".parse().expect("a module"),
        function: "transfer".parse().expect("a name"),
        type_args: vec![],
        args: vec![
            Bytes::from(bcs::to_bytes(&to).expect("BCS")),
            Bytes::from(bcs::to_bytes(&1u64).expect("BCS")),
        ],
    };
    let raw = RawTransaction {
        sender: AccountAddress::from_public_key(&key.public_key()),
        sequence_number,
        payload: TransactionPayload::EntryFunction(call),
        max_gas_amount: 100_000,
        gas_unit_price: 100,
        expiration_timestamp_secs: expires_secs,
        chain_id: 4,
    };
    let authenticator = TransactionAuthenticator::Ed25519 {
        public_key: key.public_key(),
        signature: key.sign(&raw.signing_message(&Vendor::default())),
    };
    SignedTransaction { raw, authenticator }
}
