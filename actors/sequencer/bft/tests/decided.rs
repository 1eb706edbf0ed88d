//! Decided blocks, whatever this node thought of them before, and what follows from them.

use super::*;
use crate::state::prune_horizon::Horizon;

#[test]
fn a_decided_block_is_valid_although_this_node_has_another_result() {
    let files = Files::new();
    let mut validator = files.start();
    validator.ready();
    validator.start_round(1, 0);
    let turn = turn(1, 0);
    let mut block = validator.block_of(turn, &[]);
    block.header.executed.version += 1;
    let block = CheckedBlock::new(block.header, Vec::new(), &validator.chain);
    assert!(!validator.receive(turn, &block).unwrap().is_valid);
    let synced = validator.sync(turn, &block);
    let Some(SyncedBlock::Stored(stored)) = synced else {
        panic!("{synced:?}");
    };
    assert!(stored.is_valid);
    validator.decide(turn, block.hash).unwrap();
    assert_eq!(validator.bft.parent.hash, block.hash);
}

#[test]
fn the_next_height_waits_for_the_durable_decision() {
    let files = Files::new();
    let mut validator = files.start();
    validator.ready();
    validator.bft.announced_height = u64::MAX;
    let turn = turn(1, 0);
    let block = validator.block_of(turn, &[]);
    validator.receive(turn, &block);
    let certificate = certificate(turn, block.hash);
    // The engine does not wait for the acknowledgment.
    let mut decided = validator.send(|reply| EngineRequest::Decided { certificate, reply });
    let mut next = validator.finalize(turn, block.hash);
    assert!(decided.try_recv().is_err() && next.try_recv().is_err());
    validator.run_job();
    assert_eq!((decided.try_recv(), next.try_recv()), (Ok(()), Ok(2)));
}

#[test]
fn a_block_whose_height_is_decided_during_its_check_is_refused() {
    let files = Files::new();
    let mut validator = files.start();
    validator.ready();
    validator.start_round(1, 0);
    let turn = turn(1, 0);
    let block = validator.block_of(turn, &[]);
    validator.receive(turn, &block);
    let mut synced = validator.send_synced(turn, &block);
    let check = validator.jobs.try_recv().unwrap();
    validator.worker.run(check).unwrap();
    let checked = validator.checked.try_recv().unwrap();
    validator.decide(turn, block.hash).unwrap();
    validator
        .bft
        .handle_checked(checked, &mut validator.ordering);
    assert_eq!(synced.try_recv(), Ok(SyncedBlock::Unavailable));
    assert!(validator.reporter.get().is_none());
}

#[test]
fn a_decided_block_is_stored_although_its_round_has_two_others() {
    let files = Files::new();
    let mut validator = files.start();
    validator.ready();
    validator.start_round(1, 0);
    let turn = turn(1, 0);
    let [first, second, decided] = [1, 2, 3].map(|number| {
        let mut block = validator.block_of(turn, &[]);
        block.header.timestamp_usecs += number;
        CheckedBlock::new(block.header, Vec::new(), &validator.chain)
    });
    for other in [&first, &second] {
        assert!(validator.receive(turn, other).unwrap().is_valid);
    }
    assert_eq!(validator.receive(turn, &decided), None);
    let synced = validator.sync(turn, &decided);
    assert!(matches!(synced, Some(SyncedBlock::Stored(_))), "{synced:?}");
    validator.decide(turn, decided.hash).unwrap();
}

#[test]
fn a_decided_block_is_valid_although_this_node_could_not_vote_for_it() {
    let files = Files::new();
    let mut validator = files.start();
    validator.ready();
    validator.start_round(1, 0);
    let turn = turn(1, 0);
    let mut ahead = validator.block_of(turn, &[]);
    ahead.header.timestamp_usecs += 3_600_000_000;
    let block = CheckedBlock::new(ahead.header, Vec::new(), &validator.chain);
    assert_eq!(validator.receive(turn, &block), None);
    let synced = validator.sync(turn, &block);
    let is_valid = matches!(synced, Some(SyncedBlock::Stored(block)) if block.is_valid);
    assert!(is_valid, "{synced:?}");
}

#[test]
fn names_the_oldest_height_that_pruning_has_left() {
    let files = Files::new();
    let mut validator = files.start();
    let oldest_height = |validator: &mut Validator| {
        validator.request(|reply| EngineRequest::GetOldestHeight { reply })
    };
    assert_eq!(oldest_height(&mut validator), Some(1));
    validator.horizon.raise(Horizon {
        version: 9,
        block_height: 4,
    });
    assert_eq!(oldest_height(&mut validator), Some(4));
}

#[test]
fn a_full_node_begins_a_height_only_after_a_validator() {
    let files = Files::new();
    files.log().record_height(u64::MAX).unwrap();
    let mut node = files.start_full_node();
    node.ordering.config.heartbeat_secs = 1;
    let is_signer = false;
    let next = node.request(|reply| EngineRequest::Ready { is_signer, reply });
    assert_eq!(next, Some(1));
    let reached = EngineRequest::QuorumReached { height: 0 };
    node.bft.handle(reached, &mut node.ordering);
    let mut memory = MemoryChain::new(&genesis());
    let turn = turn(1, 0);
    let block = node.block_of(turn, &[]);
    node.receive(turn, &block);
    node.decide(turn, block.hash).unwrap();
    node.commit_next(&mut memory);
    let mut next = node.finalize(turn, block.hash);
    node.bft.handle_ready(&mut node.ordering);
    assert!(next.try_recv().is_err(), "its transactions begin no height");
    assert_eq!(node.watches.try_iter().count(), 0);
    let announced = EngineRequest::WorkAnnounced { height: 2 };
    node.bft.handle(announced, &mut node.ordering);
    assert_eq!(next.try_recv(), Ok(2));
    assert!(
        !node.work.has_changed().unwrap(),
        "a validator announced it"
    );
    assert!(node.may_vote.try_recv().is_err(), "it has no votes");
}
