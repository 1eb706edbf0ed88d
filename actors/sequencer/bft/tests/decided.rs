//! Decided blocks, whatever this node thought of them before, and what follows from them.

use super::*;

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
    let synced = validator.request(|reply| EngineRequest::BlockSynced {
        height: 1,
        round: 0,
        proposer: turn.proposer,
        bytes: block.bytes.clone(),
        reply,
    });
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
