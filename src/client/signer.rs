//! Keys in their text form, and transactions that are built and signed.

use ledger_crypto::Ed25519PrivateKey;
use ledger_types::{
    AccountAddress, ChainIdentity, EntryFunction, Identifier, ModuleId, RawTransaction,
    ReplayProtector, SignedTransaction, Vendor,
    transaction::{
        ExtraConfig, InnerPayload, TransactionAuthenticator, TransactionExecutable,
        TransactionPayload,
    },
};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use zeroize::Zeroizing;

/// Prefix of a private key in the text form that the ecosystem's SDKs print and read.
const TEXT_PREFIX: &str = "ed25519-priv-";

/// The private key of an account that was created from this key.
#[derive(Debug, Clone)]
pub struct Signer {
    key: Ed25519PrivateKey,
    address: AccountAddress,
}

/// Gas limit, gas price and expiration of a transaction.
#[derive(Debug, Clone, Copy)]
pub struct Terms {
    /// Maximum gas units that the transaction may use.
    pub max_gas_amount: u64,
    /// Price of a gas unit, in the coin's smallest unit.
    pub gas_unit_price: u64,
    /// Unix time, in seconds, from which the transaction is no longer committed.
    pub expiration_timestamp_secs: u64,
}

/// One payment of a batch transfer.
#[derive(Debug, Clone, Copy)]
pub struct Payment {
    /// The account that receives the amount.
    pub recipient: AccountAddress,
    /// The amount, in the coin's smallest unit.
    pub amount: u64,
}

impl Signer {
    /// Creates a signer for the account whose address derives from `key`.
    pub fn new(key: Ed25519PrivateKey) -> Self {
        let address = AccountAddress::from_public_key(&key.public_key());
        Self { key, address }
    }

    /// Returns the address of the account.
    pub fn address(&self) -> AccountAddress {
        self.address
    }

    /// Signs a transaction that calls an entry function.
    ///
    /// A sequence number yields a transaction in the original payload form. A nonce yields an
    /// orderless one.
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

/// Returns the payload of an orderless transaction.
fn orderless(call: EntryFunction, nonce: u64) -> TransactionPayload {
    TransactionPayload::Payload(InnerPayload::V1 {
        executable: TransactionExecutable::EntryFunction(call),
        extra_config: ExtraConfig::V1 {
            multisig_address: None,
            replay_protection_nonce: Some(nonce),
        },
    })
}

/// Returns the call of `0x1::{vendor}_account::transfer`, which pays `amount` of the coin, in its
/// smallest unit, and creates the store of the recipient if there is none.
pub fn transfer(vendor: &Vendor, to: AccountAddress, amount: u64) -> EntryFunction {
    account_call(
        vendor,
        "transfer",
        &[&bcs::to_bytes(&to), &bcs::to_bytes(&amount)],
    )
}

/// Returns the call of `0x1::{vendor}_account::batch_transfer`, which makes all of these payments
/// or none.
pub fn batch_transfer(vendor: &Vendor, payments: &[Payment]) -> EntryFunction {
    let recipients: Vec<_> = payments.iter().map(|payment| payment.recipient).collect();
    let amounts: Vec<_> = payments.iter().map(|payment| payment.amount).collect();
    account_call(
        vendor,
        "batch_transfer",
        &[&bcs::to_bytes(&recipients), &bcs::to_bytes(&amounts)],
    )
}

/// Returns the call of a function of the module `0x1::{vendor}_account`.
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

/// Returns the Unix time, in seconds, of the instant `after` from now.
pub fn unix_secs_after(after: Duration) -> u64 {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    now.saturating_add(after).as_secs()
}

/// Parses a private key: 64 hex digits, with or without `0x` and the prefix of the SDKs.
///
/// Returns `None` if the text is in another form.
pub fn parse_private_key(text: &str) -> Option<Ed25519PrivateKey> {
    let text = text.trim();
    let text = text.strip_prefix(TEXT_PREFIX).unwrap_or(text);
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let mut seed = Zeroizing::new([0u8; 32]);
    hex::decode_to_slice(digits, seed.as_mut_slice()).ok()?;
    Some(Ed25519PrivateKey::from_seed(&seed))
}

/// Returns a private key as `0x` and 64 hex digits.
///
/// The memory of the text is zeroed when the text is dropped.
pub fn private_key_text(key: &Ed25519PrivateKey) -> Zeroizing<String> {
    let seed = Zeroizing::new(key.seed());
    let mut digits = Zeroizing::new([0; 64]);
    let encoded = hex::encode_to_slice(seed.as_slice(), digits.as_mut_slice());
    encoded.expect("a seed has 32 bytes, each with two digits");
    // The capacity is exact, because a reallocation would leave a copy in memory.
    let mut text = Zeroizing::new(String::with_capacity(2 + digits.len()));
    text.push_str("0x");
    text.extend(digits.iter().copied().map(char::from));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use ledger_types::{CheckedTransaction, Parameters};

    #[test]
    fn parses_a_key_in_every_text_form() {
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
    }

    #[test]
    fn rejects_keys_of_other_lengths() {
        let text = private_key_text(&Ed25519PrivateKey::from_seed(&[7; 32]));
        for form in ["", "0x", "0x07", "ed25519-priv-", &format!("{}00", *text)] {
            assert!(parse_private_key(form).is_none(), "{form}");
        }
    }

    #[test]
    fn signs_transfers_that_the_ledger_accepts() {
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
        let checked =
            CheckedTransaction::check(signed, &chain.vendor, &Parameters::default()).unwrap();
        assert_eq!(checked.raw().sender, signer.address());
        let call = checked.raw().entry_function().unwrap();
        assert_eq!(call.module.to_string(), "0x1::node_account");
        assert_eq!(call.args[1].as_ref(), 5u64.to_le_bytes());
    }
}
