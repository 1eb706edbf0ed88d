//! Requests as bytes: transfers of one account to another, and waits for them.

use ledger_client::signer::{self, Signer, Terms};
use ledger_crypto::{Ed25519PrivateKey, HashValue};
use ledger_types::ChainIdentity;
use ledger_types::{AccountAddress, ReplayProtector, Vendor};
use std::time::Duration;

/// Chain id of a development chain.
const CHAIN_ID: u8 = 4;
/// Minimum price of a gas unit on that chain, in the coin's smallest unit.
const GAS_UNIT_PRICE: u64 = 100;
/// Maximum gas units of a transfer, which uses far fewer.
const MAX_GAS_AMOUNT: u64 = 2_000;
/// Initial balance of each account: the fees of a million transfers.
const GRANT: u64 = 1_000_000 * GAS_UNIT_PRICE * 200;
/// Time after which a transfer expires, longer than a run.
const EXPIRES_AFTER: Duration = Duration::from_secs(3_600);
/// Seeds of the keys of the two accounts.
const SENDER_SEED: [u8; 32] = [1; 32];
const RECIPIENT_SEED: [u8; 32] = [2; 32];

/// A builder of requests of one account.
#[derive(Debug)]
pub struct Requests {
    chain: ChainIdentity,
    sender: Signer,
    recipient: AccountAddress,
    address: String,
    faucet: String,
}

/// A signed transfer and the request that submits it.
#[derive(Debug)]
pub struct Transfer {
    pub hash: HashValue,
    pub submission: Vec<u8>,
}

impl Requests {
    /// Creates a builder for the node at `address` and its faucet, both `HOST:PORT`.
    pub fn new(address: &str, faucet: &str) -> Self {
        let signer = |seed: &[u8; 32]| Signer::new(Ed25519PrivateKey::from_seed(seed));
        Self {
            chain: ChainIdentity {
                id: CHAIN_ID,
                vendor: Vendor::default(),
            },
            sender: signer(&SENDER_SEED),
            recipient: signer(&RECIPIENT_SEED).address(),
            address: address.to_owned(),
            faucet: faucet.to_owned(),
        }
    }

    /// Returns the address of the sending account.
    pub fn sender(&self) -> AccountAddress {
        self.sender.address()
    }

    /// Returns the requests to the faucet that create the two accounts.
    pub fn fundings(&self) -> [Vec<u8>; 2] {
        [self.sender(), self.recipient].map(|account| {
            let body = serde_json::json!({ "address": account.to_long_hex(), "amount": GRANT });
            let body = body.to_string();
            post(&self.faucet, "/fund", "application/json", body.as_bytes())
        })
    }

    /// Returns the first transfer of the account and the `count` transfers after it.
    pub fn transfers(&self, count: usize) -> (Transfer, Vec<Transfer>) {
        let following = (1..=count as u64).map(|number| self.transfer(number));
        (self.transfer(0), following.collect())
    }

    fn transfer(&self, sequence_number: u64) -> Transfer {
        let terms = Terms {
            max_gas_amount: MAX_GAS_AMOUNT,
            gas_unit_price: GAS_UNIT_PRICE,
            expiration_timestamp_secs: signer::unix_secs_after(EXPIRES_AFTER),
        };
        let vendor = &self.chain.vendor;
        let call = signer::transfer(vendor, self.recipient, 1);
        let protector = ReplayProtector::SequenceNumber(sequence_number);
        let signed = self.sender.sign(&self.chain, protector, call, terms);
        let body = bcs::to_bytes(&signed).expect("a transaction has a BCS form");
        let media_type = format!("application/x.{}.signed_transaction+bcs", vendor.lower());
        Transfer {
            hash: signed.hash(vendor),
            submission: post(&self.address, "/v1/transactions", &media_type, &body),
        }
    }

    /// Returns the long poll for a transaction, with a response in BCS.
    pub fn wait(&self, hash: &HashValue) -> Vec<u8> {
        let path = format!("/v1/transactions/wait_by_hash/{hash}");
        let head = format!("GET {path} HTTP/1.1\r\nhost: {}\r\n", self.address);
        format!("{head}accept: application/x-bcs\r\n\r\n").into()
    }
}

fn post(host: &str, path: &str, media_type: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {host}\r\ncontent-type: {media_type}\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}
