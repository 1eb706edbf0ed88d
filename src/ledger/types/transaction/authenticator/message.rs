//! Signing messages of the signers of a transaction (docs/reference/reference-node.md#r31).

use super::TransactionAuthenticator;
use crate::{AccountAddress, RawTransaction, Vendor, transaction::SignedTransaction};

/// The variants of what several signers sign, on the wire.
const MULTI_AGENT: u8 = 0;
const MULTI_AGENT_WITH_FEE_PAYER: u8 = 1;

/// The messages that the signers of one transaction sign.
pub(super) struct Messages {
    /// What the fee payer signs, or everybody where there is none.
    pub main: Vec<u8>,
    /// What the others may sign where there is a fee payer: the same with the zero address for a fee payer
    /// who is not known yet.
    pub payer_unknown: Option<Vec<u8>>,
}

impl Messages {
    pub fn of(transaction: &SignedTransaction, vendor: &Vendor) -> Self {
        let raw = &transaction.raw;
        let authenticator = &transaction.authenticator;
        let secondary = authenticator.secondary_signer_addresses();
        match authenticator {
            TransactionAuthenticator::Ed25519 { .. }
            | TransactionAuthenticator::MultiEd25519 { .. }
            | TransactionAuthenticator::SingleSender { .. } => Self {
                main: raw.signing_message(vendor),
                payer_unknown: None,
            },
            TransactionAuthenticator::MultiAgent { .. } => Self {
                main: raw.multi_agent_signing_message(secondary, vendor),
                payer_unknown: None,
            },
            TransactionAuthenticator::FeePayer {
                fee_payer_address, ..
            } => {
                let with = |payer| raw.fee_payer_signing_message(secondary, payer, vendor);
                Self {
                    main: with(*fee_payer_address),
                    payer_unknown: Some(with(AccountAddress::ZERO)),
                }
            }
        }
    }
}

impl RawTransaction {
    /// The bytes that all signers sign where there are secondary ones.
    pub fn multi_agent_signing_message(
        &self,
        secondary: &[AccountAddress],
        vendor: &Vendor,
    ) -> Vec<u8> {
        self.message_with_data(MULTI_AGENT, secondary, None, vendor)
    }

    /// The bytes that all signers sign where there is a fee payer. The sender and the secondary signers
    /// may sign the zero address in the place of the fee payer's, who then is free to be anyone.
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
