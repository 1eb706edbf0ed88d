//! The pool against a model that keeps a plain list and finds everything anew each time, over
//! random histories of submissions, blocks and expiries.

use super::*;
use crate::{
    SubmitError,
    testing::{block, draft, leaving_out},
};
use proptest::prelude::*;
use std::collections::{BTreeMap, HashSet, VecDeque};

#[derive(Clone, Copy, Debug)]
enum Step {
    Submit {
        sender: u64,
        ahead: u64,
        price: u64,
        lifetime_secs: u64,
        variant: u8,
    },
    Take(usize),
    /// The oldest block becomes durable; of its transactions, this one in the order is refused, and
    /// after so many executed ones the block is full.
    Commit {
        refuse: usize,
        room: usize,
    },
    Wait(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let submit = (0..4u64, 0..6u64, 1..4u64, 1..50u64, 0..3u8).prop_map(
        |(sender, ahead, price, lifetime_secs, variant)| Step::Submit {
            sender,
            ahead,
            price: price * 100,
            lifetime_secs,
            variant,
        },
    );
    let step = prop_oneof![
        6 => submit,
        2 => (1..5usize).prop_map(Step::Take),
        2 => (0..8usize, 1..6usize).prop_map(|(refuse, room)| Step::Commit { refuse, room }),
        1 => (1..20u64).prop_map(Step::Wait),
    ];
    prop::collection::vec(step, 1..120)
}

#[derive(Clone)]
struct Item {
    transaction: Arc<CheckedTransaction>,
    arrived: usize,
    taken: bool,
}

#[derive(Default)]
struct Model {
    items: Vec<Item>,
    ledger: BTreeMap<AccountAddress, u64>,
    arrivals: usize,
}

impl Model {
    fn number(&self, sender: AccountAddress) -> u64 {
        self.ledger.get(&sender).copied().unwrap_or(0)
    }

    fn find(&self, sender: AccountAddress, number: u64) -> Option<&Item> {
        let mut items = self.items.iter();
        items.find(|item| {
            let raw = item.transaction.raw();
            raw.sender == sender && raw.sequence_number == number
        })
    }

    /// Ready: every number from the account's up to it is there, and no block has it.
    fn is_ready(&self, item: &Item) -> bool {
        let raw = item.transaction.raw();
        let mut seen_untaken = false;
        for number in self.number(raw.sender)..=raw.sequence_number {
            match self.find(raw.sender, number) {
                None => return false,
                // Behind one that went back, what blocks have still does not count as present.
                Some(other) if other.taken && seen_untaken => return false,
                Some(other) => seen_untaken |= !other.taken,
            }
        }
        !item.taken
    }

    fn batch(&mut self, transactions_max: usize) -> Vec<HashValue> {
        let mut batch = Vec::new();
        while batch.len() < transactions_max {
            let heads = self.items.iter().filter(|item| {
                let raw = item.transaction.raw();
                let mut earlier = self.number(raw.sender)..raw.sequence_number;
                self.is_ready(item)
                    && earlier.all(|number| self.find(raw.sender, number).is_some_and(|other| other.taken))
            });
            let best =
                heads.max_by_key(|item| (item.transaction.raw().gas_unit_price, Reverse(item.arrived)));
            let Some(hash) = best.map(|item| item.transaction.hash()) else {
                break;
            };
            let items = self.items.iter_mut();
            items
                .filter(|item| item.transaction.hash() == hash)
                .for_each(|item| item.taken = true);
            batch.push(hash);
        }
        batch
    }

    /// A block did not execute it.
    fn untake(&mut self, hash: HashValue) {
        let mut items = self.items.iter_mut();
        let item = items.find(|item| item.transaction.hash() == hash);
        item.expect("a taken transaction is in the model").taken = false;
    }

    fn remove(&mut self, hash: HashValue) {
        self.items.retain(|item| item.transaction.hash() != hash);
    }
}

/// Recomputes every index of the pool from its accounts.
fn check_indices(pool: &Pool) {
    let mut bytes = 0;
    let mut parked = Amount::default();
    let mut ready = BTreeSet::new();
    let mut expiries = BTreeSet::new();
    let mut parking = BTreeSet::new();
    let mut hashes = HashSet::new();
    for (&address, account) in &pool.accounts {
        assert!(!account.is_empty());
        for (number, entry) in account.entries() {
            let hash = entry.transaction.hash();
            assert_eq!(pool.by_hash.get(&hash), Some(&(address, number)));
            hashes.insert(hash);
            bytes += entry.transaction.size_bytes();
            if !entry.taken {
                expiries.insert((entry.expires_at_secs, address, number));
                if number >= account.first_gap() {
                    parked.add(Amount::of(entry));
                    parking.insert(address);
                }
            }
        }
        let head = account.head();
        ready.extend(head.map(|e| (Reverse(e.transaction.raw().gas_unit_price), e.insertion, address)));
    }
    assert_eq!(hashes.len(), pool.by_hash.len());
    assert_eq!((bytes, parked), (pool.bytes, pool.parked));
    assert_eq!(
        (&ready, &expiries, &parking),
        (&pool.ready, &pool.expiries, &pool.parking)
    );
    let limits = &pool.limits;
    assert!(pool.len() <= limits.capacity_transactions && pool.bytes <= limits.capacity_bytes);
    assert!(
        pool.accounts
            .values()
            .all(|account| account.len() <= limits.capacity_per_account)
    );
}

struct History {
    pool: Pool,
    model: Model,
    now_secs: u64,
    blocks: VecDeque<Vec<Arc<CheckedTransaction>>>,
    height: u64,
    /// What the pool took in and has not accounted for.
    open: HashSet<HashValue>,
}

impl History {
    fn submit(&mut self, transaction: Arc<CheckedTransaction>) {
        let raw = transaction.raw();
        let (sender, number, hash) = (raw.sender, raw.sequence_number, transaction.hash());
        let pending = Pending {
            transaction: Arc::clone(&transaction),
            inserted_at_secs: self.now_secs,
        };
        let before = self.model.find(sender, number).cloned();
        let outcome = self
            .pool
            .submit(pending, self.model.number(sender), self.now_secs);
        match (outcome, before) {
            (Ok(held), Some(before)) if held.hash() == before.transaction.hash() => {
                assert_eq!(before.transaction.raw(), transaction.raw());
            }
            (Ok(held), before) => {
                assert_eq!(held.hash(), hash);
                if let Some(before) = before {
                    assert!(!before.taken && before.transaction.raw().gas_unit_price < raw.gas_unit_price);
                    self.model.remove(before.transaction.hash());
                }
                assert!(self.open.insert(hash), "{hash} was in the pool already");
                self.model.items.push(Item {
                    transaction,
                    arrived: self.model.arrivals,
                    taken: false,
                });
                self.model.arrivals += 1;
            }
            (Err(SubmitError::Full { .. }), None) => {
                let held = self
                    .model
                    .items
                    .iter()
                    .filter(|item| item.transaction.raw().sender == sender);
                let limits = &self.pool.limits;
                let is_full = self.pool.len() == limits.capacity_transactions;
                assert!(is_full || held.count() == limits.capacity_per_account);
            }
            (Err(SubmitError::InvalidUpdate(_)), Some(_)) => {}
            (Err(SubmitError::SequenceNumberTooOld { .. }), Some(before)) => assert!(before.taken),
            (outcome, before) => panic!("{outcome:?} with {:?}", before.map(|item| item.transaction)),
        }
    }

    /// Executes the oldest block as the ledger would.
    fn commit(&mut self, refuse: usize, room: usize) {
        let Some(batch) = self.blocks.pop_front() else {
            return;
        };
        let (mut executed, mut refused, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
        for (index, transaction) in batch.into_iter().enumerate() {
            let raw = transaction.raw();
            let expected = self.model.number(raw.sender);
            if executed.len() == room {
                self.model.untake(transaction.hash());
                left_out.push(transaction);
            } else if raw.sequence_number > expected {
                self.model.untake(transaction.hash());
                refused.push((transaction, ValidationStatus::SequenceNumberTooNew));
            } else if raw.sequence_number < expected || index == refuse {
                refused.push((transaction, ValidationStatus::InvalidAuthKey));
            } else {
                self.model.ledger.insert(raw.sender, expected + 1);
                self.model.remove(transaction.hash());
                assert!(self.open.remove(&transaction.hash()), "executed twice");
                executed.push(transaction);
            }
        }
        self.height += 1;
        let block = leaving_out(block(self.height, &executed, &refused), &left_out);
        self.pool.commit(&block);
    }

    fn run(&mut self, step: Step) {
        match step {
            Step::Submit {
                sender,
                ahead,
                price,
                lifetime_secs,
                variant,
            } => {
                let number = self.model.number(AccountAddress::from_low_u64(sender)) + ahead;
                let draft = draft(sender, number)
                    .price(price)
                    .expires_at(self.now_secs / 20 * 20 + 20 + lifetime_secs)
                    .signature(variant);
                self.submit(draft.checked());
            }
            Step::Take(transactions_max) => {
                let limits = BatchLimits {
                    transactions_max,
                    bytes_max: usize::MAX,
                };
                let batch = self.pool.take_batch(limits);
                let hashes: Vec<_> = batch.iter().map(|transaction| transaction.hash()).collect();
                assert_eq!(hashes, self.model.batch(transactions_max));
                self.blocks.push_back(batch);
            }
            Step::Commit { refuse, room } => self.commit(refuse, room),
            Step::Wait(secs) => {
                self.now_secs += secs;
                self.pool.expire(self.now_secs);
            }
        }
        self.account_for_left();
        self.compare();
    }

    fn account_for_left(&mut self) {
        for (hash, reason) in self.pool.drain_left() {
            assert!(self.open.remove(&hash), "{hash} left twice: {reason}");
            if let LeaveReason::Evicted(_) = reason {
                let item = self
                    .model
                    .items
                    .iter()
                    .find(|item| item.transaction.hash() == hash);
                assert!(!item.expect("it was in the model").taken);
            }
            self.model.remove(hash);
        }
    }

    fn compare(&self) {
        check_indices(&self.pool);
        let pool: HashSet<_> = self.pool.by_hash.keys().copied().collect();
        let model: HashSet<_> = self
            .model
            .items
            .iter()
            .map(|item| item.transaction.hash())
            .collect();
        assert_eq!(pool, model);
        assert_eq!(pool, self.open);
        let is_ready = self.model.items.iter().any(|item| self.model.is_ready(item));
        assert_eq!(self.pool.has_ready(), is_ready);
    }
}

proptest! {
    #[test]
    fn the_pool_does_what_a_plain_list_does(
        steps in steps(),
        capacity_transactions in 1..14usize,
        capacity_per_account in 1..6usize,
    ) {
        let limits = MempoolConfig {
            capacity_transactions,
            capacity_per_account,
            capacity_bytes: 1 << 20,
            ttl_secs: 40,
        };
        let mut history = History {
            pool: Pool::new(limits),
            model: Model::default(),
            now_secs: 1_000,
            blocks: VecDeque::new(),
            height: 0,
            open: HashSet::new(),
        };
        for step in steps {
            history.run(step);
        }
    }
}
