//! Building and signing of transactions.

use bytes::Bytes;
use ledger_crypto::{Ed25519PrivateKey, Ed25519PublicKey, Ed25519Signature};
use ledger_types::{
    AccountAddress, CheckedTransaction, EntryFunction, RawTransaction, SignedTransaction, TypeTag,
    Vendor,
    transaction::{
        AccountAuthenticator, ExtraConfig, InnerPayload, MultisigPayload, TransactionAuthenticator,
        TransactionExecutable, TransactionPayload,
    },
};
use ledger_vm::Chain;
use serde::Serialize;
use std::time::{SystemTime, UNIX_EPOCH};

/// Unix time, in seconds, at which transactions expire by default: in the year 2096.
pub const FAR_FUTURE_SECS: u64 = 4_000_000_000;

/// Gas units that a transaction may use by default.
const MAX_GAS_AMOUNT: u64 = 100_000;

/// A signer of transactions for one account.
pub trait TransactionSigner {
    /// Returns the address of the account.
    fn address(&self) -> AccountAddress;

    /// Signs `message` as the account.
    fn authenticate(&self, message: &[u8]) -> AccountAuthenticator;
}

/// The account whose address derives from the key.
impl TransactionSigner for Ed25519PrivateKey {
    fn address(&self) -> AccountAddress {
        AccountAddress::from_public_key(&self.public_key())
    }

    fn authenticate(&self, message: &[u8]) -> AccountAuthenticator {
        AccountAuthenticator::Ed25519 {
            public_key: self.public_key(),
            signature: self.sign(message),
        }
    }
}

/// A builder of one transaction.
///
/// Unless it is set otherwise, the transaction has sequence number 0, the lowest gas price of the
/// chain, a gas limit of 100,000 units, and [`FAR_FUTURE_SECS`] as its expiration.
#[derive(Clone, Debug)]
pub struct TransactionBuilder {
    vendor: Vendor,
    raw: RawTransaction,
}

impl TransactionBuilder {
    /// Creates a builder of a transaction with this payload.
    pub fn new(chain: &Chain, sender: AccountAddress, payload: TransactionPayload) -> Self {
        let raw = RawTransaction {
            sender,
            sequence_number: 0,
            payload,
            max_gas_amount: MAX_GAS_AMOUNT,
            gas_unit_price: chain.parameters().gas_unit_price_min,
            expiration_timestamp_secs: FAR_FUTURE_SECS,
            chain_id: chain.id(),
        };
        Self::from_raw(chain, raw)
    }

    /// Creates a builder of a call of an entry function.
    pub fn call(chain: &Chain, sender: AccountAddress, call: EntryFunction) -> Self {
        Self::new(chain, sender, TransactionPayload::EntryFunction(call))
    }

    /// Creates a builder of a transfer of `amount`, in the coin's smallest unit.
    pub fn transfer(
        chain: &Chain,
        sender: AccountAddress,
        to: AccountAddress,
        amount: u64,
    ) -> Self {
        Self::call(chain, sender, transfer_call(chain.vendor(), to, amount))
    }

    /// Creates a builder of a transaction that is `raw` unless it is changed.
    pub fn from_raw(chain: &Chain, raw: RawTransaction) -> Self {
        Self {
            vendor: chain.vendor().clone(),
            raw,
        }
    }

    /// Sets the sequence number.
    pub fn sequence_number(mut self, sequence_number: u64) -> Self {
        self.raw.sequence_number = sequence_number;
        self
    }

    /// Makes the transaction orderless: a nonce protects it from replay, not its sequence number.
    ///
    /// # Panics
    ///
    /// Panics if the payload is not a call of an entry function or of a multisig account.
    pub fn nonce(mut self, nonce: u64) -> Self {
        self.raw.payload = orderless_payload(self.raw.payload, nonce);
        self.sequence_number(u64::MAX)
    }

    /// Sets the maximum number of gas units.
    pub fn max_gas_amount(mut self, max_gas_amount: u64) -> Self {
        self.raw.max_gas_amount = max_gas_amount;
        self
    }

    /// Sets the price of a gas unit, in the coin's smallest unit.
    pub fn gas_unit_price(mut self, gas_unit_price: u64) -> Self {
        self.raw.gas_unit_price = gas_unit_price;
        self
    }

    /// Sets the Unix time, in seconds, from which no block takes the transaction.
    pub fn expiration_secs(mut self, expiration_secs: u64) -> Self {
        self.raw.expiration_timestamp_secs = expiration_secs;
        self
    }

    /// Sets the chain id.
    pub fn chain_id(mut self, chain_id: u8) -> Self {
        self.raw.chain_id = chain_id;
        self
    }

    /// Returns the transaction without a signature.
    pub fn build(self) -> RawTransaction {
        self.raw
    }

    /// Returns the transaction with this authenticator, which may be an invalid one.
    pub fn with_authenticator(self, authenticator: TransactionAuthenticator) -> SignedTransaction {
        SignedTransaction {
            raw: self.raw,
            authenticator,
        }
    }

    /// Returns the transaction with this key and signature, which may be an invalid one.
    pub fn with_signature(
        self,
        public_key: Ed25519PublicKey,
        signature: Ed25519Signature,
    ) -> SignedTransaction {
        self.with_authenticator(TransactionAuthenticator::Ed25519 {
            public_key,
            signature,
        })
    }

    /// Signs the transaction for its only signer.
    ///
    /// An ed25519 key signs in the original form, any other one as [`Self::sign_as_single_sender`].
    pub fn sign(self, signer: &(impl TransactionSigner + ?Sized)) -> SignedTransaction {
        let message = self.raw.signing_message(&self.vendor);
        match signer.authenticate(&message) {
            AccountAuthenticator::Ed25519 {
                public_key,
                signature,
            } => self.with_signature(public_key, signature),
            sender => self.with_single_sender(sender),
        }
    }

    /// Signs the transaction for its only signer and checks the signature.
    ///
    /// # Panics
    ///
    /// Panics if the ledger rejects the signature.
    pub fn sign_checked(
        self,
        chain: &Chain,
        signer: &impl TransactionSigner,
    ) -> CheckedTransaction {
        CheckedTransaction::check(self.sign(signer), chain.vendor(), chain.parameters())
            .expect("the signature is valid")
    }

    /// Signs the transaction for its only signer, in the form that every kind of key has.
    pub fn sign_as_single_sender(self, signer: &impl TransactionSigner) -> SignedTransaction {
        self.sign_with(|message| signer.authenticate(message))
    }

    /// Signs the transaction for its only signer by a function of the signing message.
    pub fn sign_with(
        self,
        authenticate: impl FnOnce(&[u8]) -> AccountAuthenticator,
    ) -> SignedTransaction {
        let message = self.raw.signing_message(&self.vendor);
        self.with_single_sender(authenticate(&message))
    }

    fn with_single_sender(self, sender: AccountAuthenticator) -> SignedTransaction {
        self.with_authenticator(TransactionAuthenticator::SingleSender {
            sender: Box::new(sender),
        })
    }

    /// Signs the transaction for several signers, the sender first, and for a fee payer if there is
    /// one.
    pub fn sign_together<S: TransactionSigner>(
        self,
        signers: &[&S],
        fee_payer: Option<&S>,
    ) -> SignedTransaction {
        let (sender, secondary) = signers.split_first().expect("there is a sender");
        let addresses: Vec<_> = secondary.iter().map(|signer| signer.address()).collect();
        let message = match fee_payer {
            Some(payer) => {
                let payer = payer.address();
                self.raw
                    .fee_payer_signing_message(&addresses, payer, &self.vendor)
            }
            None => self
                .raw
                .multi_agent_signing_message(&addresses, &self.vendor),
        };
        let sender = Box::new(sender.authenticate(&message));
        let secondary_signers = secondary
            .iter()
            .map(|signer| signer.authenticate(&message))
            .collect();
        self.with_authenticator(match fee_payer {
            Some(payer) => TransactionAuthenticator::FeePayer {
                sender,
                secondary_signer_addresses: addresses,
                secondary_signers,
                fee_payer_address: payer.address(),
                fee_payer_signer: Box::new(payer.authenticate(&message)),
            },
            None => TransactionAuthenticator::MultiAgent {
                sender,
                secondary_signer_addresses: addresses,
                secondary_signers,
            },
        })
    }
}

/// Returns the payload with a nonce that protects it from replay.
///
/// # Panics
///
/// Panics if the payload is not a call of an entry function or of a multisig account.
pub fn orderless_payload(payload: TransactionPayload, nonce: u64) -> TransactionPayload {
    let (executable, multisig_address) = match payload {
        TransactionPayload::EntryFunction(call) => {
            (TransactionExecutable::EntryFunction(call), None)
        }
        TransactionPayload::Multisig(multisig) => {
            let executable = match multisig.payload {
                Some(MultisigPayload::EntryFunction(call)) => {
                    TransactionExecutable::EntryFunction(call)
                }
                Some(MultisigPayload::Script(script)) => TransactionExecutable::Script(script),
                None => TransactionExecutable::Empty,
            };
            (executable, Some(multisig.multisig_address))
        }
        other => panic!("a payload that cannot have a nonce: {other:?}"),
    };
    TransactionPayload::Payload(InnerPayload::V1 {
        executable,
        extra_config: ExtraConfig::V1 {
            multisig_address,
            replay_protection_nonce: Some(nonce),
        },
    })
}

/// Returns a call of a function such as `0x1::coin::transfer`, with arguments in BCS.
///
/// # Panics
///
/// Panics if the name of the function or of a type is malformed.
pub fn function_call(function: &str, type_args: &[&str], args: Vec<Vec<u8>>) -> EntryFunction {
    let (module, name) = function.rsplit_once("::").expect("a qualified name");
    let type_tag = |text: &&str| text.parse::<TypeTag>().expect("a type");
    EntryFunction {
        module: module.parse().expect("a module"),
        function: name.parse().expect("a function"),
        type_args: type_args.iter().map(type_tag).collect(),
        args: args.into_iter().map(Bytes::from).collect(),
    }
}

/// Returns the call that pays `amount` of the coin, in its smallest unit.
pub fn transfer_call(vendor: &Vendor, to: AccountAddress, amount: u64) -> EntryFunction {
    let function = format!("0x1::{}_account::transfer", vendor.lower());
    function_call(&function, &[], vec![bcs_bytes(&to), bcs_bytes(&amount)])
}

/// Returns the Unix time in seconds.
///
/// # Panics
///
/// Panics if the clock is before 1970.
pub fn now_secs() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.expect("a clock after 1970").as_secs()
}

/// Returns the BCS form of a value, as an argument of a call has it.
///
/// # Panics
///
/// Panics if the value has no BCS form.
pub fn bcs_bytes(value: &impl Serialize) -> Vec<u8> {
    bcs::to_bytes(value).expect("a value with a BCS form")
}
