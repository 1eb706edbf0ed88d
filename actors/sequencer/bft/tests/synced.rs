//! Decided blocks of peers that meet other blocks of their height.

use super::*;

#[test]
fn a_block_whose_height_is_decided_during_its_check_is_refused() {
    let files = Files::new();
    let mut validator = files.start();
    validator.ready();
    validator.start_round(1, 0);
    let turn = turn(1, 0);
    let block = validator.block_of(turn, &[]);
    validator.receive(turn, &block);
    let mut synced = validator.send(|reply| EngineRequest::BlockSynced {
        height: 1,
        round: 0,
        proposer: turn.proposer,
        bytes: block.bytes.clone(),
        reply,
    });
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
    let synced = validator.request(|reply| EngineRequest::BlockSynced {
        height: 1,
        round: 0,
        proposer: turn.proposer,
        bytes: decided.bytes.clone(),
        reply,
    });
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
    let synced = validator.request(|reply| EngineRequest::BlockSynced {
        height: 1,
        round: 0,
        proposer: turn.proposer,
        bytes: block.bytes.clone(),
        reply,
    });
    let is_valid = matches!(synced, Some(SyncedBlock::Stored(block)) if block.is_valid);
    assert!(is_valid, "{synced:?}");
}
