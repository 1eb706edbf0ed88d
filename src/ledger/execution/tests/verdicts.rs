//! Verdicts about transactions in random programs, in which keys rotate away and back, nonces are
//! reused, time passes, and versions are pruned.

use ledger_crypto::{Ed25519PrivateKey, HashValue};
use ledger_execution::{
    BlockCause, Never, NeverReason, ReplayHistory, Verdict, VerdictInputs, development_accounts,
    execute_block,
};
use ledger_framework::modules::nonce_validation::OVERLAP_SECS;
use ledger_test_support::{MemoryChain, START_SECS, TransactionBuilder, next_block};
use ledger_types::{
    AccountAddress, CheckedTransaction, ExecutedBlock, LedgerInfo, OrderedBlock,
    ReplayProtector::{Nonce, SequenceNumber},
};
use proptest::{collection::vec, prelude::*, sample::Index};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

const UNKNOWN_ADDRESS: AccountAddress = AccountAddress::from_low_u64(0xabcdef);

/// Id of a chain other than the test's.
const OTHER_CHAIN: u8 = 77;

/// Nonce of the first rotation. Candidates have smaller ones.
const ROTATION_NONCE: u64 = 1_000;

/// A transaction of account 0 that the program may commit.
#[derive(Clone, Debug)]
struct Candidate {
    has_nonce: bool,
    /// Sequence number or nonce.
    number: u64,
    /// Seconds from the start of the chain to the expiration.
    lifetime_secs: u64,
    /// Which of the two keys signs.
    has_second_key: bool,
    is_of_other_chain: bool,
    amount: u64,
}

fn candidate() -> impl Strategy<Value = Candidate> {
    let number = 0..4u64;
    let lifetime_secs = prop_oneof![1..400u64, Just(1_000_000)];
    let flags = (
        any::<bool>(),
        prop::bool::weighted(0.3),
        prop::bool::weighted(0.1),
    );
    (number, lifetime_secs, flags, 1..4u64).prop_map(|(number, lifetime_secs, flags, amount)| {
        let (has_nonce, has_second_key, is_of_other_chain) = flags;
        Candidate {
            has_nonce,
            number,
            lifetime_secs,
            has_second_key,
            is_of_other_chain,
            amount,
        }
    })
}

#[derive(Clone, Debug)]
enum Step {
    /// A block with these candidates, some seconds after the one before or in the same second.
    Block {
        passed_secs: u64,
        candidates: Vec<Index>,
    },
    /// A rotation to the other key, in a transaction with a nonce.
    Rotate,
    /// Pruning of this number of blocks, as far as others remain.
    Prune(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let block = (prop_oneof![0..10u64, 20..130u64], vec(any::<Index>(), 0..4));
    prop_oneof![
        4 => block.prop_map(|(passed_secs, candidates)| Step::Block { passed_secs, candidates }),
        2 => Just(Step::Rotate),
        1 => (1..4usize).prop_map(Step::Prune),
    ]
}

/// A chain, with the knowledge of a node that has pruned its oldest blocks.
struct Program {
    chain: MemoryChain,
    keys: [Ed25519PrivateKey; 2],
    /// Index of the key that the account has.
    key: usize,
    rotations: u64,
    now_secs: u64,
    /// Seconds from the earliest time of the next block to the time of the node's clock.
    ahead_secs: u64,
    pruned_blocks: usize,
    candidates: Vec<CheckedTransaction>,
    /// Hash of each committed candidate, with the index of its block.
    committed: BTreeMap<HashValue, usize>,
    /// Candidates with a final verdict.
    finals: BTreeSet<HashValue>,
}

impl Program {
    fn new(candidates: &[Candidate]) -> Self {
        let chain = MemoryChain::development();
        let account = development_accounts().remove(0).private_key;
        let keys = [account, Ed25519PrivateKey::from_seed(&[7; 32])];
        let candidates = candidates.iter().map(|candidate| {
            let raw = chain.raw(&keys[0], chain.transfer(UNKNOWN_ADDRESS, candidate.amount));
            let builder = TransactionBuilder::from_raw(&chain.chain, raw);
            let builder = match candidate.has_nonce {
                true => builder.nonce(candidate.number),
                false => builder.sequence_number(candidate.number),
            };
            let builder = builder.expiration_secs(START_SECS + candidate.lifetime_secs);
            let builder = match candidate.is_of_other_chain {
                true => builder.chain_id(OTHER_CHAIN),
                false => builder,
            };
            builder.sign_checked(&chain.chain, &keys[usize::from(candidate.has_second_key)])
        });
        let candidates = candidates.collect();
        Self {
            chain,
            keys,
            key: 0,
            rotations: 0,
            now_secs: START_SECS,
            ahead_secs: 0,
            pruned_blocks: 0,
            candidates,
            committed: BTreeMap::new(),
            finals: BTreeSet::new(),
        }
    }

    fn perform(&mut self, step: &Step) {
        match step {
            Step::Block {
                passed_secs,
                candidates,
            } => {
                self.now_secs += passed_secs;
                let chosen = candidates
                    .iter()
                    .map(|index| index.get(&self.candidates).clone());
                let chosen = chosen.collect();
                self.commit(chosen);
            }
            Step::Rotate => self.rotate(),
            Step::Prune(blocks) => {
                let newest = self.chain.blocks.len() - 1;
                self.pruned_blocks = (self.pruned_blocks + blocks).min(newest);
            }
        }
    }

    fn commit(&mut self, transactions: Vec<CheckedTransaction>) {
        let block = OrderedBlock {
            // Later than the newest block, perhaps in the same second.
            timestamp_usecs: (self.now_secs * 1_000_000).max(self.chain.tip.timestamp_usecs + 1),
            transactions: transactions.into_iter().map(Arc::new).collect(),
            ..next_block(&self.chain.tip)
        };
        let chain = &mut self.chain;
        let block = execute_block(&chain.chain, &chain.tip, &*chain, block).unwrap();
        let hashes: Vec<_> = user_hashes(&block).collect();
        chain.apply(block);
        let index = self.chain.blocks.len() - 1;
        for hash in hashes {
            assert!(
                !self.finals.contains(&hash),
                "{hash} is committed after never"
            );
            assert_eq!(
                self.committed.insert(hash, index),
                None,
                "{hash} is committed twice"
            );
        }
    }

    fn rotate(&mut self) {
        let next = 1 - self.key;
        let key = self.keys[next].public_key().authentication_key();
        let call = self.chain.call(
            "0x1::account::rotate_authentication_key_call",
            &[],
            vec![bcs::to_bytes(&key.as_bytes().to_vec()).unwrap()],
        );
        self.now_secs += 1;
        let raw = self.chain.raw(&self.keys[0], call);
        let rotation = TransactionBuilder::from_raw(&self.chain.chain, raw)
            .nonce(ROTATION_NONCE + self.rotations)
            .expiration_secs(self.now_secs + 50)
            .sign_checked(&self.chain.chain, &self.keys[self.key]);
        self.commit(vec![rotation]);
        self.rotations += 1;
        self.key = next;
    }

    fn ledger_info(&self) -> LedgerInfo {
        let (tip, oldest) = (&self.chain.tip, &self.chain.blocks[self.pruned_blocks]);
        LedgerInfo {
            chain_id: self.chain.chain.id(),
            epoch: tip.epoch,
            version: tip.version,
            oldest_version: oldest.first_version,
            block_height: tip.height,
            oldest_block_height: oldest.height(),
            timestamp_usecs: tip.timestamp_usecs,
        }
    }

    /// Returns the newest transaction in the window with the sequence number or nonce.
    fn user(&self, transaction: &CheckedTransaction) -> Option<HashValue> {
        let raw = transaction.raw();
        let readable = self.chain.blocks[self.pruned_blocks..].iter().rev();
        let executed = readable.flat_map(|block| block.transactions.iter().rev());
        let mut users = executed.filter_map(|executed| {
            let user = executed.transaction.as_user()?;
            let is_same = user.raw.sender == raw.sender
                && user.raw.replay_protector() == raw.replay_protector();
            is_same.then_some(executed.hash)
        });
        users.next()
    }

    /// Returns the verdict about a transaction that is not in the window.
    fn verdict(&self, transaction: &CheckedTransaction) -> Option<Verdict> {
        let info = self.ledger_info();
        let chain = &self.chain.chain;
        let inputs = VerdictInputs::read(chain, &self.chain, &info, transaction).unwrap();
        let used = inputs.is_protector_used(transaction.raw());
        let oldest = &self.chain.blocks[self.pruned_blocks];
        let history = ReplayHistory {
            user: used.then(|| self.user(transaction)).flatten(),
            oldest_secs: (self.pruned_blocks > 0)
                .then_some(oldest.header.timestamp_usecs / 1_000_000),
        };
        inputs.decide(chain, transaction, &history, self.clock_secs())
    }

    /// Returns the time of the node's clock, in seconds.
    fn clock_secs(&self) -> u64 {
        self.now_secs + 1 + self.ahead_secs
    }

    /// Returns whether a next block at the time of the clock would include the transaction.
    fn would_commit(&self, transaction: &CheckedTransaction) -> bool {
        let block = OrderedBlock {
            timestamp_usecs: self.clock_secs() * 1_000_000,
            transactions: vec![Arc::new(transaction.clone())],
            ..next_block(&self.chain.tip)
        };
        let executed = execute_block(&self.chain.chain, &self.chain.tip, &self.chain, block);
        user_hashes(&executed.unwrap()).next().is_some()
    }

    fn check_verdicts(&mut self) {
        for transaction in self.candidates.clone() {
            let hash = transaction.hash();
            let block = self.committed.get(&hash);
            if block.is_some_and(|index| *index >= self.pruned_blocks) {
                continue;
            }
            let verdict = self.verdict(&transaction);
            if block.is_some() {
                assert_eq!(verdict, None, "{hash} is committed and pruned");
                continue;
            }
            let would_commit = self.would_commit(&transaction);
            match &verdict {
                None => assert!(!would_commit && self.may_be_pruned(&transaction), "{hash}"),
                Some(Verdict::Never(never)) => {
                    assert!(!would_commit, "{hash}: {never:?}");
                    self.check_reason(&transaction, never.reason);
                    self.check_user(&transaction, never.reason, never.used_by);
                    self.finals.insert(hash);
                }
                Some(Verdict::Blocked(_)) => assert!(!would_commit, "{hash}: {verdict:?}"),
                Some(Verdict::CanCommit(can_commit)) => {
                    assert_eq!(would_commit, can_commit.waits_for.is_empty(), "{verdict:?}");
                }
            }
            let is_undecided = !matches!(verdict, None | Some(Verdict::Never(_)));
            assert!(
                !(is_undecided && self.finals.contains(&hash)),
                "{hash} was never, now {verdict:?}"
            );
        }
    }

    /// Returns whether pruning may hide a commit of the transaction
    /// (docs/use/interface.md#verdicts).
    fn may_be_pruned(&self, transaction: &CheckedTransaction) -> bool {
        let raw = transaction.raw();
        let oldest_usecs = self.chain.blocks[self.pruned_blocks].header.timestamp_usecs;
        let is_possible = match raw.replay_protector() {
            SequenceNumber(number) => {
                let next = self.chain.facts(&raw.sender).sequence_number;
                number < next && self.user(transaction).is_none()
            }
            Nonce(_) => oldest_usecs / 1_000_000 + OVERLAP_SECS >= raw.expiration_timestamp_secs,
        };
        self.pruned_blocks > 0 && is_possible
    }

    /// Asserts that a final reason is the lowest one that holds. Whether a nonce is used is known
    /// to the ledger only.
    fn check_reason(&self, transaction: &CheckedTransaction, reason: NeverReason) {
        let (raw, tip) = (transaction.raw(), &self.chain.tip);
        let next = self.chain.facts(&raw.sender).sequence_number;
        let is_used = matches!(raw.replay_protector(), SequenceNumber(number) if number < next);
        let is_expired = tip.timestamp_usecs / 1_000_000 >= raw.expiration_timestamp_secs;
        let holding = [
            (
                raw.chain_id != self.chain.chain.id(),
                NeverReason::OtherChain,
            ),
            (is_used, NeverReason::SequenceNumberUsed),
            (reason == NeverReason::NonceUsed, NeverReason::NonceUsed),
            (is_expired, NeverReason::Expired),
        ];
        let lowest = holding.iter().find(|(holds, _)| *holds);
        assert_eq!(lowest.map(|(_, lowest)| *lowest), Some(reason), "{raw:?}");
    }

    /// Asserts that the named user is another committed transaction with the same protector.
    fn check_user(
        &self,
        transaction: &CheckedTransaction,
        reason: NeverReason,
        used_by: Option<HashValue>,
    ) {
        if reason == NeverReason::SequenceNumberUsed {
            assert!(used_by.is_some(), "{} has no user", transaction.hash());
        }
        let Some(user) = used_by else { return };
        assert_ne!(user, transaction.hash());
        assert!(
            self.committed.contains_key(&user),
            "{user} is not committed"
        );
    }
}

fn user_hashes(block: &ExecutedBlock) -> impl Iterator<Item = HashValue> {
    let executed = block.transactions.iter();
    let users = executed.filter(|executed| executed.transaction.as_user().is_some());
    users.map(|executed| executed.hash)
}

proptest! {
    /// After each step, every candidate that is not in the window is decided and compared with a
    /// block that orders it next. The clock of the node may be ahead of later blocks.
    #[test]
    fn verdicts_contradict_neither_each_other_nor_the_ledger(
        candidates in vec(candidate(), 1..12),
        steps in vec((step(), prop_oneof![Just(0), 1..120u64]), 1..24),
    ) {
        let mut program = Program::new(&candidates);
        for (step, ahead_secs) in &steps {
            program.perform(step);
            program.ahead_secs = *ahead_secs;
            program.check_verdicts();
        }
    }
}

/// Returns a transaction with a nonce that the development account can commit.
fn with_nonce(nonce: u64, lifetime_secs: u64) -> Candidate {
    Candidate {
        has_nonce: true,
        number: nonce,
        lifetime_secs,
        has_second_key: false,
        is_of_other_chain: false,
        amount: lifetime_secs,
    }
}

/// The first block of a second is pruned, and the oldest readable block is another one of it. A
/// transaction that expires [`OVERLAP_SECS`] later can be in the first block at the earliest.
#[test]
fn a_commit_in_the_second_of_the_oldest_block_may_be_pruned() {
    const BLOCK_SECS: u64 = 10;
    let farthest_secs = BLOCK_SECS + OVERLAP_SECS;
    let [committed, unused, later] = [farthest_secs, farthest_secs, farthest_secs + 1];
    let candidates = [
        with_nonce(0, committed),
        with_nonce(1, unused),
        with_nonce(2, later),
    ];
    let mut program = Program::new(&candidates);
    let [committed, unused, later] = <[_; 3]>::try_from(program.candidates.clone()).unwrap();
    program.now_secs += BLOCK_SECS;
    program.commit(vec![committed.clone()]);
    program.commit(Vec::new());
    // The genesis block and the first one of the second.
    program.pruned_blocks = 2;
    assert_eq!(program.committed.get(&committed.hash()), Some(&1));
    for (passed_secs, is_expired) in [(0, false), (OVERLAP_SECS, true), (1, true)] {
        program.now_secs += passed_secs;
        program.commit(Vec::new());
        assert_eq!(program.verdict(&committed), None, "after {passed_secs} s");
        assert_eq!(
            program.verdict(&unused).is_none(),
            is_expired,
            "after {passed_secs} s"
        );
        program.check_verdicts();
    }
    let (expiration_secs, head_secs) = (START_SECS + farthest_secs + 1, program.now_secs);
    let never = Never {
        reason: NeverReason::Expired,
        message: format!(
            "the transaction expired at {expiration_secs}, the newest block is of {head_secs}, in \
             Unix seconds"
        ),
        used_by: None,
    };
    assert_eq!(program.verdict(&later), Some(Verdict::Never(never)));
}

/// The ledger remembers a nonce until [`OVERLAP_SECS`] after the expiration.
#[test]
fn a_remembered_nonce_is_the_cause_that_blocks_a_far_expiration() {
    const USED_LIFETIME_SECS: u64 = 50;
    const FAR_LIFETIME_SECS: u64 = 1_000_000;
    let candidates = [
        with_nonce(0, USED_LIFETIME_SECS),
        with_nonce(0, FAR_LIFETIME_SECS),
        with_nonce(1, FAR_LIFETIME_SECS),
    ];
    let mut program = Program::new(&candidates);
    let [committed, again, other] = <[_; 3]>::try_from(program.candidates.clone()).unwrap();
    program.now_secs += 1;
    program.commit(vec![committed]);
    let assert_blocked = |program: &Program, transaction, cause| {
        let Some(Verdict::Blocked(blocked)) = program.verdict(transaction) else {
            panic!("{:?}", program.verdict(transaction));
        };
        let from_secs = START_SECS + FAR_LIFETIME_SECS - OVERLAP_SECS;
        assert_eq!((blocked.cause, blocked.from_secs), (cause, Some(from_secs)));
    };
    let last_secs = START_SECS + USED_LIFETIME_SECS + OVERLAP_SECS;
    for (now_secs, cause) in [
        (program.now_secs, BlockCause::NonceRemembered),
        (last_secs, BlockCause::NonceRemembered),
        (last_secs + 1, BlockCause::ExpirationTooFar),
    ] {
        program.now_secs = now_secs;
        program.commit(Vec::new());
        assert_blocked(&program, &again, cause);
        assert_blocked(&program, &other, BlockCause::ExpirationTooFar);
    }
}
