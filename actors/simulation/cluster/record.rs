//! What the validators signed, decided, stored and showed, over all crashes, with the properties.

use super::super::{
    audit::{has_equal_content, stored_block},
    findings::Findings,
    fixture::{Fixture, VALIDATORS},
    model::Block,
    scheduler::Scheduler,
};
use super::{crashes::Disks, network::ProposedBytes, votes::Vote};
use crate::{
    NodeHandle,
    engine::{DecidedBlock, ProposedBlock},
    protocol::proposed_block::decode_parts,
};
use ledger_crypto::HashValue;
use ledger_store::{ConsensusLog, StoreError, StoreReader};
use ledger_test_support::Disk;
use ledger_types::{BlockHeader, ExecutedBlock, LedgerRoot, VoteStep};
use std::{
    cell::{RefCell, RefMut},
    collections::{BTreeMap, BTreeSet},
    ops::Deref,
    rc::Rc,
};

/// No two validators have different blocks at a height.
const AGREEMENT: &str = "all validators have the same blocks";
/// An honest validator signs one vote and one proposal per height and round, over all restarts.
const ONE_SIGNATURE: &str = "no validator signs two messages for one step";
/// A vote needs a block that its node still has after a crash.
const VALUE_IS_DURABLE: &str = "a block is durable before a vote for it";
/// A vote needs a block that names the result which its node has for an earlier one.
const ROOT_IS_CHECKED: &str = "a block is voted for after its root was compared";
/// An acknowledged decision is on the disk after a crash.
const DECISION_IS_DURABLE: &str = "a decision is durable before it is acknowledged";
/// A signed height is recorded on the disk after a crash.
const HEIGHT_IS_RECORDED: &str = "a height is recorded before its first signature";
/// A transaction that a client received as committed is in the chain, at its version.
const ACKNOWLEDGED_IS_COMMITTED: &str = "an acknowledged transaction is in every chain, once";
/// The blocks that a node sends to peers are the decided ones.
const SERVED_IS_DECIDED: &str = "a peer receives decided blocks only";
/// Blocks follow the rules of the chain.
const RULES_OF_THE_CHAIN: &str = super::super::properties::RULES_OF_THE_CHAIN;
/// After the faults, all validators sign and reach one height.
pub(super) const LIVENESS: &str = "the validators continue after the faults";
/// The node replies to the engine.
pub(super) const EVERY_REQUEST_ENDS: &str = super::super::properties::EVERY_REQUEST_ENDS;
/// A node has no fatal error: no disk reports one.
pub(super) const NO_FAILURE: &str = super::super::properties::NO_FAILURE;

/// Probability that a check opens the synced consensus log, in thousandths.
const DISK_CHECK_RATE: u32 = 100;

/// What the engine of a validator relies on.
#[derive(Clone, Debug, Default)]
struct Acknowledged {
    /// Heights and hashes of blocks with a verdict.
    values: BTreeSet<(u64, HashValue)>,
    /// Newest height whose decision the node acknowledged.
    decided_height: u64,
    /// Newest height for which the validator signed. `None` after the loss of its record.
    signed_height: Option<u64>,
    /// Newest height that the validator has shown.
    visible_height: u64,
}

/// Validator, height, round and step of a vote.
type VoteKey = (usize, u64, u32, VoteStep);

/// The record of a simulation.
pub(super) struct Record {
    findings: Findings,
    /// Validator that may sign contradictory messages.
    pub(super) liar: Option<usize>,
    /// Results of the blocks, by height.
    roots: RefCell<BTreeMap<u64, LedgerRoot>>,
    votes: RefCell<BTreeMap<VoteKey, Option<HashValue>>>,
    proposals: RefCell<BTreeMap<(usize, u64, u32), HashValue>>,
    /// Blocks of the nodes for their turns.
    own_blocks: RefCell<BTreeMap<(usize, u64, u32), HashValue>>,
    decisions: RefCell<BTreeMap<u64, HashValue>>,
    headers: RefCell<BTreeMap<HashValue, BlockHeader>>,
    acknowledged: RefCell<[Acknowledged; VALIDATORS]>,
    /// Versions that clients received, by transaction.
    versions: RefCell<BTreeMap<HashValue, u64>>,
    /// The nodes that run.
    nodes: RefCell<[Option<NodeHandle>; VALIDATORS]>,
    /// Their disks.
    disks: RefCell<[Option<Disks>; VALIDATORS]>,
}

impl Deref for Record {
    type Target = Findings;

    fn deref(&self) -> &Findings {
        &self.findings
    }
}

impl Record {
    pub(super) fn new(scheduler: &Rc<Scheduler>, liar: Option<usize>) -> Rc<Self> {
        let record = Self {
            findings: Findings::new(scheduler, Fixture::of_validators()),
            liar,
            roots: RefCell::default(),
            votes: RefCell::default(),
            proposals: RefCell::default(),
            own_blocks: RefCell::default(),
            decisions: RefCell::default(),
            headers: RefCell::default(),
            acknowledged: RefCell::default(),
            versions: RefCell::default(),
            nodes: RefCell::default(),
            disks: RefCell::default(),
        };
        for acknowledged in record.acknowledged.borrow_mut().iter_mut() {
            acknowledged.signed_height = Some(0);
        }
        let genesis = record.fixture.tip.roots.at(0, 0).expect("a root");
        record.roots.borrow_mut().insert(0, genesis);
        Rc::new(record)
    }

    fn acknowledged(&self, validator: usize) -> RefMut<'_, Acknowledged> {
        RefMut::map(self.acknowledged.borrow_mut(), |all| &mut all[validator])
    }

    /// Returns the hash of the decided block at `height`.
    pub(super) fn decision(&self, height: u64) -> Option<HashValue> {
        self.decisions.borrow().get(&height).copied()
    }

    /// Records a block that a validator proposes, true or not.
    pub(super) fn record_block(&self, header: BlockHeader) -> HashValue {
        let hash = header.hash(self.fixture.chain.vendor());
        self.headers.borrow_mut().insert(hash, header);
        hash
    }

    /// Records a signed vote.
    pub(super) fn sign_vote(&self, vote: Vote) {
        self.note_signature(vote.validator, vote.height);
        let key = (vote.validator, vote.height, vote.round, vote.step);
        let first = *self.votes.borrow_mut().entry(key).or_insert(vote.block);
        if first != vote.block {
            self.report(ONE_SIGNATURE, Err(format!("{vote:?} after {first:?}")));
        }
    }

    /// Records a signed proposal, and the block.
    pub(super) fn sign_proposal(&self, validator: usize, block: &ProposedBytes) {
        self.note_signature(validator, block.height);
        let (header, _) = decode_parts(&block.bytes).expect("an encoded block");
        let hash = self.record_block(header);
        let key = (validator, block.height, block.round);
        let first = *self.proposals.borrow_mut().entry(key).or_insert(hash);
        if first != hash {
            let verdict = Err(format!("{key:?} proposed {first} and {hash}"));
            self.report(ONE_SIGNATURE, verdict);
        }
    }

    fn note_signature(&self, validator: usize, height: u64) {
        self.check_synced(validator, HEIGHT_IS_RECORDED, |log| {
            Ok(log.signed_height()? >= height)
        });
        let mut acknowledged = self.acknowledged(validator);
        if let Some(signed) = &mut acknowledged.signed_height {
            *signed = height.max(*signed);
        }
    }

    /// Records the node's verdict on a block.
    pub(super) fn acknowledge_value(&self, validator: usize, block: &ProposedBlock) {
        self.observe_all();
        self.check_value(validator, block.height, block.hash);
        let mut acknowledged = self.acknowledged(validator);
        acknowledged.values.insert((block.height, block.hash));
        if block.is_valid {
            self.report(
                ROOT_IS_CHECKED,
                self.check_root(validator, &acknowledged, block),
            );
        }
    }

    /// Records the node's block for a turn of its own. The turn must always have the same one.
    pub(super) fn acknowledge_own(&self, validator: usize, height: u64, round: u32, bytes: &[u8]) {
        let (header, _) = decode_parts(bytes).expect("an encoded block");
        let hash = self.record_block(header);
        self.acknowledged(validator).values.insert((height, hash));
        self.check_value(validator, height, hash);
        let key = (validator, height, round);
        let first = *self.own_blocks.borrow_mut().entry(key).or_insert(hash);
        if first != hash {
            let verdict = Err(format!("{key:?} has {first} and {hash}"));
            self.report(VALUE_IS_DURABLE, verdict);
        }
    }

    fn check_root(
        &self,
        validator: usize,
        node: &Acknowledged,
        block: &ProposedBlock,
    ) -> Result<(), String> {
        let delay = self.fixture.chain.parameters().root_delay_blocks;
        let height = block.height.saturating_sub(delay);
        let headers = self.headers.borrow();
        let Some(header) = headers.get(&block.hash) else {
            // A block of this node that its engine has not signed.
            let own = &self.fixture.chain.validators().as_slice()[validator];
            let is_own = block.proposer == own.address;
            return is_own.then_some(()).ok_or(format!("{block:?} is unknown"));
        };
        let root = self.roots.borrow().get(&height).copied();
        if node.visible_height < height || root != Some(header.executed) {
            return Err(format!(
                "{block:?} names {:?}, the result of {height} is {root:?}, the node has {}",
                header.executed, node.visible_height
            ));
        }
        Ok(())
    }

    /// Records a decision of an engine.
    pub(super) fn decide(&self, height: u64, hash: HashValue) {
        self.count("decisions");
        let first = *self.decisions.borrow_mut().entry(height).or_insert(hash);
        if first != hash {
            let verdict = Err(format!("{first} and {hash} are decided at {height}"));
            self.report(AGREEMENT, verdict);
        }
    }

    /// Records that the node acknowledged a decision.
    pub(super) fn acknowledge_decision(&self, validator: usize, height: u64) {
        self.check_synced(validator, DECISION_IS_DURABLE, |log| {
            // A later decision removes those that the ledger has.
            let (at, above) = (log.decisions_from(height)?, log.decisions_from(height + 1)?);
            Ok(!at.is_empty() || !above.is_empty())
        });
        let mut acknowledged = self.acknowledged(validator);
        acknowledged.decided_height = height.max(acknowledged.decided_height);
        acknowledged.values.retain(|&(value, _)| value > height);
    }

    /// Records that a client received a transaction as committed.
    pub(super) fn acknowledge_commit(&self, hash: HashValue, version: u64) {
        self.count("commits acknowledged to clients");
        let first = *self.versions.borrow_mut().entry(hash).or_insert(version);
        if first != version {
            let verdict = Err(format!("{hash} is at {first} and at {version}"));
            self.report(ACKNOWLEDGED_IS_COMMITTED, verdict);
        }
    }

    /// Checks the blocks that a node sends to a peer.
    pub(super) fn check_served(&self, first: u64, blocks: &[DecidedBlock]) {
        for (height, block) in (first..).zip(blocks) {
            let (header, _) = decode_parts(&block.bytes).expect("an encoded block");
            let hash = header.hash(self.fixture.chain.vendor());
            let certificate = &block.certificate;
            let served = (header.height, Some(hash), Some(certificate.block_hash));
            let decided = self.decision(height);
            if served != (height, decided, decided) || certificate.height != height {
                let verdict = Err(format!("{served:?} instead of {decided:?} at {height}"));
                self.report(SERVED_IS_DECIDED, verdict);
            }
        }
    }

    /// Sets the node of a validator, and its disks.
    pub(super) fn set_node(&self, validator: usize, handle: NodeHandle, disks: Disks) {
        self.nodes.borrow_mut()[validator] = Some(handle);
        self.disks.borrow_mut()[validator] = Some(disks);
    }

    /// Records that a validator is down.
    pub(super) fn end_node(&self, validator: usize) {
        self.nodes.borrow_mut()[validator] = None;
        self.disks.borrow_mut()[validator] = None;
    }

    /// Returns whether a disk of a validator has failed because of an injected fault.
    pub(super) fn has_failed_disk(&self, validator: usize) -> bool {
        let disks = self.disks.borrow();
        disks[validator].as_ref().is_some_and(Disks::have_failed)
    }

    /// Checks what a power failure now would leave of a validator's consensus log, sometimes.
    fn check_synced(
        &self,
        validator: usize,
        property: &'static str,
        is_durable: impl FnOnce(&ConsensusLog) -> Result<bool, StoreError>,
    ) {
        if !self.scheduler.chance(DISK_CHECK_RATE) {
            return;
        }
        let synced = |disks: &Disks| disks.consensus_log.synced();
        let Some(disk) = self.disks.borrow()[validator].as_ref().map(synced) else {
            return;
        };
        self.count("checks of a synced consensus log");
        let verdict = ConsensusLog::open_backend(Disk::new(disk)).and_then(|log| is_durable(&log));
        let verdict = match verdict {
            Ok(true) => Ok(()),
            other => Err(format!(
                "validator {validator} has not synced it: {other:?}"
            )),
        };
        self.report(property, verdict);
    }

    fn check_value(&self, validator: usize, height: u64, hash: HashValue) {
        // The proposals of a decided height are removed.
        if self.decision(height).is_none() {
            self.check_synced(validator, VALUE_IS_DURABLE, |log| {
                let proposals = log.proposals(height)?;
                Ok(proposals.iter().any(|proposal| proposal.hash == hash))
            });
        }
    }

    /// Adds the blocks that the nodes show, and compares them.
    pub(super) fn observe_all(&self) {
        for (validator, node) in self.nodes.borrow().iter().enumerate() {
            if let Some(node) = node {
                self.observe(validator, node);
            }
        }
    }

    fn observe(&self, validator: usize, handle: &NodeHandle) {
        let head = handle.head();
        let height = head.ledger_info().block_height;
        let before = self.acknowledged(validator).visible_height;
        if height == before {
            return;
        }
        for block in head.recent_blocks() {
            if block.height() > before {
                self.add_root(block);
                self.add_block(validator, Block::from(&**block));
            }
        }
        self.acknowledged(validator).visible_height = height;
    }

    fn add_root(&self, block: &ExecutedBlock) {
        let height = block.height();
        let root = block.tip.roots.at(height, height).expect("its own root");
        self.roots.borrow_mut().insert(height, root);
    }

    fn add_block(&self, validator: usize, block: Block) {
        let height = block.header.height;
        let hash = block.header.hash(self.fixture.chain.vendor());
        if self.decision(height) != Some(hash) {
            let verdict = Err(format!("{validator} has {hash} at {height}, undecided"));
            self.report(AGREEMENT, verdict);
        }
        let mut model = self.model();
        let verdict = match model.blocks.get(height as usize - 1) {
            Some(known) if has_equal_content(known, &block) => Ok(()),
            Some(_) => Err(format!("{validator} has another block {height}")),
            None => {
                self.counters()
                    .add("transactions committed", block.transactions.len() as u64);
                let pushed = model.push_block(block, self.scheduler.now_steps());
                return self.report(RULES_OF_THE_CHAIN, pushed);
            }
        };
        self.report(AGREEMENT, verdict);
    }

    /// Forgets what a validator relied on, because its files were replaced.
    pub(super) fn forget(&self, validator: usize) {
        *self.acknowledged(validator) = Acknowledged::default();
    }

    /// Records that the validator has a record of the heights that it signed again.
    pub(super) fn begin_signing(&self, validator: usize) {
        self.acknowledged(validator).signed_height.get_or_insert(0);
    }

    /// Checks the durable files of a validator before its node runs, and adds the blocks of its
    /// ledger.
    ///
    /// # Errors
    ///
    /// Returns the error of the store or the log if a read fails.
    pub(super) fn audit(
        &self,
        validator: usize,
        reader: &StoreReader,
        log: &ConsensusLog,
    ) -> Result<(), StoreError> {
        let tip = reader.chain_tip()?;
        let snapshot = reader.snapshot()?;
        let oldest_height = snapshot.ledger_info().oldest_block_height.max(1);
        if oldest_height > 1 {
            self.count("starts with a pruned ledger");
        }
        for height in oldest_height..=tip.height {
            if let Some(root) = tip.roots.at(height, tip.height) {
                self.roots.borrow_mut().insert(height, root);
            }
            self.add_block(validator, stored_block(&snapshot, height)?);
        }
        let decided = log.decisions_from(tip.height + 1)?.len() as u64;
        let decided_height = tip.height + decided;
        let proposals = log.proposals(decided_height + 1)?;
        let signed_height = log.signed_height()?;
        let mut node = self.acknowledged(validator);
        if decided_height < node.decided_height.max(node.visible_height) {
            let verdict = Err(format!(
                "{validator} acknowledged {} and has {decided_height}",
                node.decided_height
            ));
            self.report(DECISION_IS_DURABLE, verdict);
        }
        node.visible_height = tip.height;
        if node
            .signed_height
            .is_some_and(|signed| signed > signed_height)
        {
            let verdict = Err(format!("{validator}: {signed_height}, {node:?}"));
            self.report(HEIGHT_IS_RECORDED, verdict);
        }
        let is_missing = |&&(height, hash): &&(u64, HashValue)| {
            height == decided_height + 1 && !proposals.iter().any(|known| known.hash == hash)
        };
        let missing = node.values.iter().find(is_missing);
        let verdict = missing.map_or(Ok(()), |value| Err(format!("{validator} lost {value:?}")));
        self.report(VALUE_IS_DURABLE, verdict);
        Ok(())
    }

    /// Checks at the end that acknowledged transactions are in the chain.
    pub(super) fn check_acknowledged(&self) {
        let model = self.model();
        for (hash, &version) in self.versions.borrow().iter() {
            let committed = model.sent.get(hash).and_then(|sent| sent.version);
            if committed != Some(version) {
                let verdict = Err(format!("{hash} was at {version}, and is at {committed:?}"));
                self.report(ACKNOWLEDGED_IS_COMMITTED, verdict);
            }
        }
    }
}
