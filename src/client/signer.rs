//! Building and signing transfers: what the faucet, the `account` commands and the bench share.

use ledger::{
    AccountAddress, Chain, EntryFunction, Identifier, ModuleId, Parameters, RawTransaction,
    ReplayProtector, SignedTransaction, Vendor,
    crypto::Ed25519PrivateKey,
    transaction::{
        ExtraConfig, InnerPayload, TransactionAuthenticator, TransactionExecutable,
        TransactionPayload,
    },
};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use zeroize::Zeroizing;

/// The prefix of a private key in the textual form that the ecosystem's SDKs print and read.
const TEXT_PREFIX: &str = "ed25519-priv-";

/// What a signature is for: a chain's id and its vendor word.
#[derive(Debug, Clone)]
pub struct ChainIdentity {
    /// The chain id.
    pub id: u8,
    /// The vendor word.
    pub vendor: Vendor,
}

impl ChainIdentity {
    /// The chain with the default parameters, which a client does not know and need not: names and
    /// forms follow from the identity.
    pub fn to_chain(&self) -> Chain {
        Chain::new(self.id, self.vendor.clone(), Parameters::default())
    }
}

impl From<&Chain> for ChainIdentity {
    fn from(chain: &Chain) -> Self {
        Self {
            id: chain.id(),
            vendor: chain.vendor().clone(),
        }
    }
}

/// An account that can sign.
#[derive(Debug, Clone)]
pub struct Signer {
    key: Ed25519PrivateKey,
    address: AccountAddress,
}

/// Price, limit and expiry of a transaction.
#[derive(Debug, Clone, Copy)]
pub struct Terms {
    /// The most gas units it may use.
    pub max_gas_amount: u64,
    /// What a gas unit costs, in the coin's smallest unit.
    pub gas_unit_price: u64,
    /// When it expires, in Unix seconds.
    pub expiration_timestamp_secs: u64,
}

impl Signer {
    /// The account that was made from `key`.
    pub fn new(key: Ed25519PrivateKey) -> Self {
        let address = key.public_key().account_address();
        Self { key, address }
    }

    /// Its address.
    pub fn address(&self) -> AccountAddress {
        self.address
    }

    /// Signs a call, in the wire form of what protects it from being replayed.
    pub fn sign(
        &self,
        chain: &ChainIdentity,
        protector: ReplayProtector,
        call: EntryFunction,
        terms: Terms,
    ) -> SignedTransaction {
        let (sequence_number, payload) = match protector {
            ReplayProtector::SequenceNumber(number) => {
                (number, TransactionPayload::EntryFunction(call))
            }
            ReplayProtector::Nonce(nonce) => (u64::MAX, orderless(call, nonce)),
        };
        let raw = RawTransaction {
            sender: self.address,
            sequence_number,
            payload,
            max_gas_amount: terms.max_gas_amount,
            gas_unit_price: terms.gas_unit_price,
            expiration_timestamp_secs: terms.expiration_timestamp_secs,
            chain_id: chain.id,
        };
        let signature = self.key.sign(&raw.signing_message(&chain.vendor));
        let authenticator = TransactionAuthenticator::Ed25519 {
            public_key: self.key.public_key(),
            signature,
        };
        SignedTransaction { raw, authenticator }
    }
}

fn orderless(call: EntryFunction, nonce: u64) -> TransactionPayload {
    TransactionPayload::Payload(InnerPayload::V1 {
        executable: TransactionExecutable::EntryFunction(call),
        extra_config: ExtraConfig::V1 {
            multisig_address: None,
            replay_protection_nonce: Some(nonce),
        },
    })
}

/// `0x1::{vendor}_account::transfer`: pays `amount`, and makes the recipient's account if there is none.
pub fn transfer(vendor: &Vendor, to: AccountAddress, amount: u64) -> EntryFunction {
    account_call(
        vendor,
        "transfer",
        &[&bcs::to_bytes(&to), &bcs::to_bytes(&amount)],
    )
}

/// `0x1::{vendor}_account::batch_transfer`: several transfers, all or none.
pub fn batch_transfer(vendor: &Vendor, transfers: &[(AccountAddress, u64)]) -> EntryFunction {
    let (recipients, amounts): (Vec<_>, Vec<_>) = transfers.iter().copied().unzip();
    account_call(
        vendor,
        "batch_transfer",
        &[&bcs::to_bytes(&recipients), &bcs::to_bytes(&amounts)],
    )
}

fn account_call(
    vendor: &Vendor,
    function: &str,
    args: &[&Result<Vec<u8>, bcs::Error>],
) -> EntryFunction {
    let name = |text: &str| {
        Identifier::new(text).expect("a vendor word and lower-case letters are a name")
    };
    EntryFunction {
        module: ModuleId {
            address: AccountAddress::ONE,
            name: name(&format!("{}_account", vendor.lower())),
        },
        function: name(function),
        type_args: Vec::new(),
        args: args
            .iter()
            .map(|bytes| {
                let bytes = bytes
                    .as_ref()
                    .expect("addresses and numbers have a BCS form");
                bytes.clone().into()
            })
            .collect(),
    }
}

/// The Unix time, in seconds, that lies `after` from now.
pub fn unix_secs_after(after: Duration) -> u64 {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    now.saturating_add(after).as_secs()
}

/// Reads a private key: 64 hex digits, with or without `0x`, with or without the prefix of the SDKs.
pub fn parse_private_key(text: &str) -> Option<Ed25519PrivateKey> {
    let text = text.trim();
    let text = text.strip_prefix(TEXT_PREFIX).unwrap_or(text);
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let mut seed = Zeroizing::new([0u8; 32]);
    hex::decode_to_slice(digits, seed.as_mut_slice()).ok()?;
    Some(Ed25519PrivateKey::from_seed(&seed))
}

/// The printed form of a private key: `0x` and 64 hex digits. The memory is cleared when it is dropped.
pub fn private_key_text(key: &Ed25519PrivateKey) -> Zeroizing<String> {
    let seed = Zeroizing::new(key.seed());
    let mut digits = Zeroizing::new([0; 64]);
    let encoded = hex::encode_to_slice(seed.as_slice(), digits.as_mut_slice());
    encoded.expect("a seed has 32 bytes, each with two digits");
    // As long as it gets, so that no copy is left where it had to grow.
    let mut text = Zeroizing::new(String::with_capacity(2 + digits.len()));
    text.push_str("0x");
    text.extend(digits.iter().copied().map(char::from));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use ledger::CheckedTransaction;

    #[test]
    fn a_key_reads_back_in_every_form() {
        let key = Ed25519PrivateKey::from_seed(&[7; 32]);
        let text = private_key_text(&key);
        for form in [
            text.to_string(),
            text[2..].to_owned(),
            format!("{TEXT_PREFIX}{}\n", *text),
        ] {
            let read = parse_private_key(&form).map(|key| key.seed());
            assert_eq!(read, Some([7; 32]), "{form}");
        }
        for form in ["", "0x", "0x07", "ed25519-priv-", &format!("{}00", *text)] {
            assert!(parse_private_key(form).is_none(), "{form}");
        }
    }

    #[test]
    fn a_signed_transfer_passes_the_ledgers_own_check() {
        let vendor = Vendor::default();
        let chain = ChainIdentity {
            id: 4,
            vendor: vendor.clone(),
        };
        let signer = Signer::new(Ed25519PrivateKey::from_seed(&[1; 32]));
        let terms = Terms {
            max_gas_amount: 1,
            gas_unit_price: 1,
            expiration_timestamp_secs: 1,
        };
        let signed = signer.sign(
            &chain,
            ReplayProtector::SequenceNumber(3),
            transfer(&vendor, AccountAddress::ONE, 5),
            terms,
        );
        let checked = CheckedTransaction::check(signed, &chain.to_chain()).unwrap();
        assert_eq!(checked.raw().sender, signer.address());
        let call = checked.raw().entry_function().unwrap();
        assert_eq!(call.module.to_string(), "0x1::node_account");
        assert_eq!(call.args[1].as_ref(), 5u64.to_le_bytes());
    }
}
