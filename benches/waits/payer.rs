//! Transfers of one account to another.

use ledger_client::signer::{self, Signer, Terms};
use ledger_crypto::Ed25519PrivateKey;
use ledger_types::{AccountAddress, ChainIdentity, ReplayProtector, SignedTransaction};
use std::time::Duration;

/// Minimum price of a gas unit on a development chain, in the coin's smallest unit.
const GAS_UNIT_PRICE: u64 = 100;
/// Maximum gas units of a transfer. The first one stores the account of the sender, which takes half
/// of them; the others use far fewer.
const MAX_GAS_AMOUNT: u64 = 10_000;
/// Initial balance of each account: the fees of a million transfers.
pub const GRANT: u64 = 1_000_000 * GAS_UNIT_PRICE * 200;
/// Time after which a transfer expires, longer than a run.
const EXPIRES_AFTER: Duration = Duration::from_secs(3_600);
/// Seeds of the keys of the two accounts.
const SENDER_SEED: [u8; 32] = [1; 32];
const RECIPIENT_SEED: [u8; 32] = [2; 32];

/// The sender of all transfers.
#[derive(Debug)]
pub struct Payer {
    pub chain: ChainIdentity,
    sender: Signer,
    recipient: AccountAddress,
}

impl Payer {
    /// Creates the sender of transfers on `chain`.
    pub fn new(chain: ChainIdentity) -> Self {
        let signer = |seed| Signer::new(Ed25519PrivateKey::from_seed(seed));
        Self {
            chain,
            sender: signer(&SENDER_SEED),
            recipient: signer(&RECIPIENT_SEED).address(),
        }
    }

    /// Returns the addresses of the sender and the recipient.
    pub fn accounts(&self) -> [AccountAddress; 2] {
        [self.sender.address(), self.recipient]
    }

    /// Signs the transfer with this sequence number.
    pub fn transfer(&self, sequence_number: u64) -> SignedTransaction {
        let terms = Terms {
            max_gas_amount: MAX_GAS_AMOUNT,
            gas_unit_price: GAS_UNIT_PRICE,
            expiration_timestamp_secs: signer::unix_secs_after(EXPIRES_AFTER),
        };
        let call = signer::transfer(&self.chain.vendor, self.recipient, 1);
        let protector = ReplayProtector::SequenceNumber(sequence_number);
        self.sender.sign(&self.chain, protector, call, terms)
    }
}
