//! Decided blocks that are rebuilt from their rows.

use super::OPTIONS;
use crate::{Store, StoreReader, StoreWriter};
use bytes::Bytes;
use fastrand::Rng;
use ledger_test_support::{Disk, MemoryChain, TestAccount, next_block, test_genesis};
use ledger_types::{
    AccountAddress, CheckedTransaction, DiscardedTransaction, OrderedBlock, Parameters,
};
use std::sync::Arc;

/// A store with the blocks of a chain.
struct Stored {
    chain: MemoryChain,
    writer: StoreWriter,
    reader: StoreReader,
}

impl Stored {
    /// Creates a chain whose blocks have space for some twenty transfers.
    fn new() -> Self {
        let genesis = test_genesis(Parameters {
            block_gas_max: 1_000,
            ..Parameters::default()
        });
        let chain = MemoryChain::new(&genesis);
        let disk = Disk::default();
        let mut store = Store::open_backend(disk.clone(), disk.log(), &OPTIONS).unwrap();
        store.initialize(&genesis, &chain.blocks[0]).unwrap();
        let (writer, reader) = store.split();
        Self {
            chain,
            writer,
            reader,
        }
    }

    /// Executes and commits a block of these transactions.
    fn commit(&mut self, transactions: &[Arc<CheckedTransaction>], certificate: Bytes) {
        let block = OrderedBlock {
            transactions: transactions.to_vec(),
            certificate,
            ..next_block(&self.chain.tip)
        };
        let block = Arc::new(self.chain.execute_ordered(block).clone());
        self.writer.commit(&[block]).unwrap();
    }

    /// Returns transfers, some of which cannot be executed.
    fn transactions(&self, random: &mut Rng) -> Vec<Arc<CheckedTransaction>> {
        let accounts = TestAccount::development();
        let mut next = accounts
            .iter()
            .map(|account| self.chain.facts(&account.address).sequence_number)
            .collect::<Vec<_>>();
        let count = random.usize(..40);
        let transfer = |_| {
            let sender = random.usize(..accounts.len());
            let call = self.chain.transfer(AccountAddress::from_low_u64(9), 1);
            let mut raw = self.chain.raw(&accounts[sender], call);
            raw.sequence_number = next[sender];
            if random.u8(..4) == 0 {
                raw.sequence_number += random.u64(1..9);
            } else {
                next[sender] += 1;
            }
            Arc::new(self.chain.sign(&accounts[sender], raw))
        };
        (0..count).map(transfer).collect()
    }
}

fn encoded(transactions: &[Arc<CheckedTransaction>]) -> Vec<Bytes> {
    transactions
        .iter()
        .map(|transaction| bcs::to_bytes(transaction.transaction()).unwrap().into())
        .collect()
}

#[test]
fn rebuilds_the_ordered_transactions_of_decided_blocks() {
    let mut stored = Stored::new();
    let mut ordered = vec![Vec::new()];
    for seed in 0..30 {
        let transactions = stored.transactions(&mut Rng::with_seed(seed));
        stored.commit(&transactions, vec![seed as u8; 3].into());
        ordered.push(encoded(&transactions));
    }
    let discarded = |is_expected: fn(&DiscardedTransaction) -> bool| {
        let blocks = stored.chain.blocks.iter();
        blocks.flat_map(|block| &block.discarded).any(is_expected)
    };
    assert!(discarded(DiscardedTransaction::is_not_included));
    assert!(discarded(|discarded| !discarded.is_not_included()));

    let snapshot = stored.reader.snapshot().unwrap();
    for (height, block) in (0u64..).zip(&stored.chain.blocks).skip(1) {
        let found = snapshot.decided_block(height).unwrap().unwrap();
        assert_eq!(found.header, block.header);
        assert_eq!(found.certificate, block.certificate);
        let expected = &ordered[height as usize];
        assert_eq!(&found.transactions, expected, "block {height}");
    }
    assert_eq!(snapshot.decided_block(0).unwrap(), None);
    assert_eq!(snapshot.decided_block(31).unwrap(), None);

    let bound = stored.chain.blocks[5].first_version;
    stored.writer.prune(bound, u64::MAX).unwrap();
    let snapshot = stored.reader.snapshot().unwrap();
    let is_stored = |height| snapshot.decided_block(height).unwrap().is_some();
    assert_eq!([4, 5].map(is_stored), [false, true]);
}

#[test]
fn stores_no_discarded_transaction_of_a_node_that_orders_alone() {
    let mut stored = Stored::new();
    let transactions = stored.transactions(&mut Rng::with_seed(7));
    stored.commit(&transactions, Bytes::new());
    let snapshot = stored.reader.snapshot().unwrap();
    let block = snapshot.block(1).unwrap().unwrap();
    assert!(!block.discarded.is_empty());
    let bodies = block
        .discarded
        .iter()
        .map(|discarded| &discarded.transaction);
    assert!(bodies.clone().all(Bytes::is_empty));
    assert_eq!(snapshot.decided_block(1).unwrap(), None);
}
