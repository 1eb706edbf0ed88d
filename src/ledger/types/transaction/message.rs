//! Signing messages of the signers of a transaction (docs/reference/reference-node.md#r31).

use super::TransactionAuthenticator;
use crate::{AccountAddress, RawTransaction, Vendor, transaction::SignedTransaction};

/// Variant index of a message for several signers without a fee payer.
const MULTI_AGENT: u8 = 0;
/// Variant index of a message with a fee payer.
const MULTI_AGENT_WITH_FEE_PAYER: u8 = 1;

/// The messages that the signers of one transaction may sign.
pub(super) struct Messages {
    /// Message that the fee payer signs, or that all signers sign if there is no fee payer.
    pub main: Vec<u8>,
    /// Message that the other signers may sign instead if there is a fee payer. It has the zero
    /// address as the fee payer, so that they can sign before the fee payer is known.
    pub zero_payer: Option<Vec<u8>>,
}

impl Messages {
    /// Builds the messages of `transaction`.
    pub fn of(transaction: &SignedTransaction, vendor: &Vendor) -> Self {
        let raw = &transaction.raw;
        let authenticator = &transaction.authenticator;
        let secondary = authenticator.secondary_signer_addresses();
        match authenticator {
            TransactionAuthenticator::Ed25519 { .. }
            | TransactionAuthenticator::MultiEd25519 { .. }
            | TransactionAuthenticator::SingleSender { .. } => Self {
                main: raw.signing_message(vendor),
                zero_payer: None,
            },
            TransactionAuthenticator::MultiAgent { .. } => Self {
                main: raw.multi_agent_signing_message(secondary, vendor),
                zero_payer: None,
            },
            TransactionAuthenticator::FeePayer {
                fee_payer_address, ..
            } => {
                let message_for_payer =
                    |payer| raw.fee_payer_signing_message(secondary, payer, vendor);
                Self {
                    main: message_for_payer(*fee_payer_address),
                    zero_payer: Some(message_for_payer(AccountAddress::ZERO)),
                }
            }
        }
    }
}

impl RawTransaction {
    /// Returns the bytes that all signers sign if there are secondary signers but no fee payer.
    pub fn multi_agent_signing_message(
        &self,
        secondary: &[AccountAddress],
        vendor: &Vendor,
    ) -> Vec<u8> {
        self.message_with_data(MULTI_AGENT, secondary, None, vendor)
    }

    /// Returns the bytes that all signers sign if there is a fee payer.
    ///
    /// The sender and the secondary signers may sign the zero address instead of `fee_payer`. Any
    /// account can then become the fee payer.
    pub fn fee_payer_signing_message(
        &self,
        secondary: &[AccountAddress],
        fee_payer: AccountAddress,
        vendor: &Vendor,
    ) -> Vec<u8> {
        self.message_with_data(
            MULTI_AGENT_WITH_FEE_PAYER,
            secondary,
            Some(fee_payer),
            vendor,
        )
    }

    /// Returns the hash prefix, the variant index, and the BCS form of the transaction, the
    /// secondary addresses, and the fee payer's address.
    fn message_with_data(
        &self,
        variant: u8,
        secondary: &[AccountAddress],
        fee_payer: Option<AccountAddress>,
        vendor: &Vendor,
    ) -> Vec<u8> {
        let mut message = vendor.seeds().raw_transaction_with_data.as_bytes().to_vec();
        message.push(variant);
        bcs::serialize_into(&mut message, &(self, secondary))
            .expect("a transaction has a BCS form");
        message.extend(fee_payer.iter().flat_map(AccountAddress::as_bytes));
        message
    }
}
