//! Transactions without valid signatures.

use crate::{FAR_FUTURE_SECS, TransactionBuilder, development_chain, function_call};
use ledger_crypto::{Ed25519PublicKey, Ed25519Signature};
use ledger_types::{AccountAddress, CheckedTransaction, Vendor};
use std::sync::Arc;

/// A transaction without a valid signature. [`Draft::checked`] marks it as checked, so that the
/// pool accepts it.
#[derive(Clone, Debug)]
pub struct Draft {
    /// Number of the account that sends it.
    pub sender: u64,
    /// Sequence number.
    pub number: u64,
    /// Nonce of an orderless transaction.
    pub nonce: Option<u64>,
    /// Price of a gas unit, in the coin's smallest unit.
    pub price: u64,
    /// Unix time, in seconds, from which no block takes it.
    pub expiration_secs: u64,
    /// Maximum number of gas units.
    pub max_gas: u64,
    /// Argument of the call, which makes payloads differ.
    pub argument: Vec<u8>,
    /// Fill byte of the signature, which makes authenticators and hashes differ.
    pub signature: u8,
}

/// Returns a draft of an account, with this sequence number.
pub fn draft(sender: u64, number: u64) -> Draft {
    Draft {
        sender,
        number,
        nonce: None,
        price: 100,
        expiration_secs: FAR_FUTURE_SECS,
        max_gas: 1_000,
        argument: Vec::new(),
        signature: 0,
    }
}

/// Returns a draft with a nonce instead of a sequence number.
pub fn orderless(sender: u64, nonce: u64) -> Draft {
    Draft {
        nonce: Some(nonce),
        ..draft(sender, u64::MAX)
    }
}

impl Draft {
    /// Sets the price of a gas unit.
    pub fn price(self, price: u64) -> Self {
        Self { price, ..self }
    }

    /// Sets the Unix time of the expiration, in seconds.
    pub fn expires_at(self, expiration_secs: u64) -> Self {
        Self {
            expiration_secs,
            ..self
        }
    }

    /// Sets the fill byte of the signature.
    pub fn signature(self, signature: u8) -> Self {
        Self { signature, ..self }
    }

    /// Sets the argument of the call.
    pub fn argument(self, argument: &[u8]) -> Self {
        Self {
            argument: argument.to_vec(),
            ..self
        }
    }

    /// Returns the transaction as if its signature had been checked.
    pub fn checked(self) -> Arc<CheckedTransaction> {
        let call = function_call("0x1::coin::transfer", &[], vec![self.argument]);
        let mut builder = TransactionBuilder::call(
            &development_chain(),
            AccountAddress::from_low_u64(self.sender),
            call,
        )
        .max_gas_amount(self.max_gas)
        .gas_unit_price(self.price)
        .expiration_secs(self.expiration_secs);
        if let Some(nonce) = self.nonce {
            builder = builder.nonce(nonce);
        }
        let signed = builder.sequence_number(self.number).with_signature(
            Ed25519PublicKey([1; 32]),
            Ed25519Signature([self.signature; 64]),
        );
        Arc::new(CheckedTransaction::new_unchecked(
            signed,
            &Vendor::default(),
        ))
    }
}
