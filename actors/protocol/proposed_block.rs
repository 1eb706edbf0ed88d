//! The form in which validators exchange blocks, and the checks of a block that need no state.

use bytes::Bytes;
use ledger_crypto::{DecodedKeys, HashValue};
use ledger_types::{
    BlockHeader, CheckedTransaction, Discard, accumulator::root_of, decode_signed_transaction,
};
use ledger_vm::Chain;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A block that follows the rules which need no state.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CheckedBlock {
    pub(crate) header: BlockHeader,
    /// Block hash.
    pub(crate) hash: HashValue,
    pub(crate) transactions: Vec<Arc<CheckedTransaction>>,
    /// The encoded block.
    pub(crate) bytes: Bytes,
}

/// A block to encode.
#[derive(Serialize)]
struct BlockRef<'a> {
    header: &'a BlockHeader,
    transactions: Vec<&'a serde_bytes::Bytes>,
}

/// A decoded block. The transactions are not decoded yet, because their sizes come first.
#[derive(Deserialize)]
struct Block<'a> {
    header: BlockHeader,
    #[serde(borrow)]
    transactions: Vec<&'a serde_bytes::Bytes>,
}

/// The reason that bytes are no block of the chain, whatever the state.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BlockError {
    /// The size, or the number or the size of the transactions, exceeds a limit of the chain.
    #[error("the block has {found} {unit}, and the chain allows {limit}")]
    Limit {
        unit: &'static str,
        found: u64,
        limit: u64,
    },
    /// The bytes encode no block.
    #[error("the bytes encode no block: {0}")]
    Encoding(String),
    /// A transaction is malformed or its signatures do not verify.
    #[error("transaction {position} is rejected: {discard}")]
    Transaction { position: usize, discard: Discard },
    /// The header does not cover the transactions.
    #[error("the header has the payload root {header}, and the transactions have {transactions}")]
    PayloadRoot {
        header: HashValue,
        transactions: HashValue,
    },
}

impl CheckedBlock {
    /// Creates a block of checked transactions.
    ///
    /// # Panics
    ///
    /// Panics if a value has no BCS form. All values of blocks have one.
    pub(crate) fn new(
        header: BlockHeader,
        transactions: Vec<Arc<CheckedTransaction>>,
        chain: &Chain,
    ) -> Self {
        let encoded = transactions
            .iter()
            .map(|checked| bcs::to_bytes(checked.transaction()).map(Bytes::from))
            .collect::<Result<Vec<_>, _>>()
            .expect("transactions have a BCS form");
        Self {
            bytes: encode(&header, &encoded),
            hash: header.hash(chain.vendor()),
            header,
            transactions,
        }
    }

    /// Decodes a block and checks its limits, its signatures and its payload root. `keys` caches
    /// the decoded keys of earlier calls.
    ///
    /// # Errors
    ///
    /// Returns the first broken rule.
    pub(crate) fn check(
        bytes: Bytes,
        chain: &Chain,
        keys: &mut DecodedKeys,
    ) -> Result<Self, BlockError> {
        let parameters = chain.parameters();
        within("bytes", bytes.len(), parameters.encoded_block_bytes_max())?;
        let block: Block<'_> =
            bcs::from_bytes(&bytes).map_err(|error| BlockError::Encoding(error.to_string()))?;
        let Block {
            header,
            transactions,
        } = block;
        within(
            "transactions",
            transactions.len(),
            parameters.block_transactions_max,
        )?;
        let payload_bytes = transactions.iter().map(|encoded| encoded.len()).sum();
        if transactions.len() > 1 {
            within(
                "bytes of transactions",
                payload_bytes,
                parameters.block_bytes_max,
            )?;
        }
        let transactions = check_transactions(&transactions, chain, keys)?;
        let payload_root = payload_root(&transactions, chain);
        if header.payload_root != payload_root {
            return Err(BlockError::PayloadRoot {
                header: header.payload_root,
                transactions: payload_root,
            });
        }
        Ok(Self {
            hash: header.hash(chain.vendor()),
            header,
            transactions,
            bytes,
        })
    }
}

/// Returns the encoded block of these transactions in BCS.
///
/// # Panics
///
/// Panics if a header has no BCS form. Every one has.
pub(crate) fn encode(header: &BlockHeader, transactions: &[Bytes]) -> Bytes {
    let block = BlockRef {
        header,
        transactions: transactions
            .iter()
            .map(|bytes| serde_bytes::Bytes::new(bytes))
            .collect(),
    };
    bcs::to_bytes(&block)
        .expect("blocks have a BCS form")
        .into()
}

/// Returns the header and the encoded transactions of a block, unchecked.
///
/// # Errors
///
/// Returns the error of BCS if the bytes encode no block.
#[cfg(test)]
pub(crate) fn decode_parts(bytes: &[u8]) -> Result<(BlockHeader, Vec<Bytes>), bcs::Error> {
    let block: Block<'_> = bcs::from_bytes(bytes)?;
    let transactions = block.transactions.iter();
    let transactions = transactions.map(|encoded| Bytes::copy_from_slice(encoded));
    Ok((block.header, transactions.collect()))
}

/// Returns the Merkle root of the hashes of a block's transactions.
pub(crate) fn payload_root(transactions: &[Arc<CheckedTransaction>], chain: &Chain) -> HashValue {
    let hashes = transactions.iter().map(|transaction| transaction.hash());
    root_of(hashes, &chain.vendor().seeds().transaction_accumulator)
}

/// Checks a number against a limit.
fn within(unit: &'static str, found: usize, limit: u64) -> Result<(), BlockError> {
    match found as u64 {
        found if found <= limit => Ok(()),
        found => Err(BlockError::Limit { unit, found, limit }),
    }
}

/// Decodes transactions and checks their signatures as one batch.
fn check_transactions(
    encoded: &[&serde_bytes::Bytes],
    chain: &Chain,
    keys: &mut DecodedKeys,
) -> Result<Vec<Arc<CheckedTransaction>>, BlockError> {
    let (vendor, parameters) = (chain.vendor(), chain.parameters());
    let rejected = |position, discard| BlockError::Transaction { position, discard };
    let mut signed = Vec::with_capacity(encoded.len());
    for (position, bytes) in encoded.iter().enumerate() {
        parameters
            .check_transaction_size(bytes.len())
            .map_err(|discard| rejected(position, discard))?;
        let transaction = decode_signed_transaction(bytes)
            .map_err(|error| BlockError::Encoding(format!("transaction {position}: {error}")))?;
        signed.push(transaction);
    }
    let checked = CheckedTransaction::check_all(signed, vendor, parameters, keys);
    let checked = checked.into_iter().enumerate();
    checked
        .map(|(position, outcome)| {
            outcome
                .map(Arc::new)
                .map_err(|discard| rejected(position, discard))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ledger_test_support::{MemoryChain, TestAccount, TransactionBuilder, development_chain};
    use proptest::prelude::*;

    fn transfers(count: u64) -> Vec<Arc<CheckedTransaction>> {
        let chain = development_chain();
        let accounts = TestAccount::development();
        let transfer = |number| {
            let signed =
                TransactionBuilder::transfer(&chain, accounts[0].address, accounts[1].address, 10)
                    .sequence_number(number)
                    .sign_checked(&chain, &accounts[0]);
            Arc::new(signed)
        };
        (0..count).map(transfer).collect()
    }

    fn block(transactions: Vec<Arc<CheckedTransaction>>) -> CheckedBlock {
        let chain = development_chain();
        let header = BlockHeader {
            payload_root: payload_root(&transactions, &chain),
            ..MemoryChain::development().blocks[0].header.clone()
        };
        CheckedBlock::new(header, transactions, &chain)
    }

    fn check(bytes: Bytes) -> Result<CheckedBlock, BlockError> {
        CheckedBlock::check(bytes, &development_chain(), &mut DecodedKeys::default())
    }

    #[test]
    fn a_block_is_the_same_after_encoding_and_decoding() {
        for count in [0, 1, 3] {
            let block = block(transfers(count));
            assert_eq!(check(block.bytes.clone()), Ok(block));
        }
    }

    #[test]
    fn rejects_a_header_of_other_transactions() {
        let (one, other) = (block(transfers(1)), block(transfers(2)));
        let block = CheckedBlock::new(one.header, other.transactions, &development_chain());
        let error = check(block.bytes).unwrap_err();
        assert!(matches!(error, BlockError::PayloadRoot { .. }), "{error}");
    }

    #[test]
    fn rejects_a_transaction_whose_signature_does_not_verify() {
        let mut signed = transfers(1)[0].transaction().clone();
        signed.raw.sequence_number += 1;
        let vendor = development_chain().vendor().clone();
        let forged = Arc::new(CheckedTransaction::new_unchecked(signed, &vendor));
        let error = check(block(vec![forged]).bytes).unwrap_err();
        assert!(
            matches!(error, BlockError::Transaction { position: 0, .. }),
            "{error}"
        );
    }

    #[test]
    fn rejects_more_bytes_than_a_block_may_have_before_it_decodes_them() {
        let limit = development_chain().parameters().encoded_block_bytes_max();
        let error = check(vec![0; limit as usize + 1].into()).unwrap_err();
        assert!(matches!(error, BlockError::Limit { .. }), "{error}");
    }

    proptest! {
        #[test]
        fn any_bytes_are_rejected_or_are_a_block(
            cut in any::<prop::sample::Index>(),
            flip in any::<prop::sample::Index>(),
            random in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            let bytes = block(transfers(2)).bytes.to_vec();
            let cut = cut.index(bytes.len());
            prop_assert!(check(bytes[..cut].to_vec().into()).is_err());
            let mut flipped = bytes.clone();
            flipped[flip.index(bytes.len())] ^= 1;
            if let Ok(block) = check(flipped.into()) {
                prop_assert_ne!(block.bytes, bytes.clone());
            }
            let mut longer = bytes;
            longer.push(0);
            prop_assert!(check(longer.into()).is_err());
            let _ = check(random.into());
        }
    }
}
