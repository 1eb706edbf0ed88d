//! Tests of the node's side of the engine, with a log on disk.

mod decided;
mod kit;

use super::*;
use crate::{
    NodeConfig,
    engine::{EngineRequest, SyncedBlock},
    protocol::proposed_block::CheckedBlock,
};
use bytes::Bytes;
use kit::{
    Files, VALIDATORS, Validator, certificate, genesis, own_turn, proposer, recipient, turn,
};
use ledger_crypto::HashValue;
use ledger_limits::ClientKey;
use ledger_test_support::MemoryChain;
use worker::JOBS_MAX;

#[test]
fn records_a_height_before_the_engine_may_sign_for_it() {
    let files = Files::new();
    let mut validator = files.start();
    assert_eq!(validator.ready(), 1);
    let proposer = proposer(1, 0);
    let mut reply = validator.send(|reply| EngineRequest::RoundStarted {
        height: 1,
        round: 0,
        proposer,
        reply,
    });
    assert!(reply.try_recv().is_err(), "the height is not recorded yet");
    validator.settle();
    assert_eq!(reply.try_recv(), Ok(Vec::new()));
    drop(validator);
    assert_eq!(files.log().signed_height().unwrap(), 1);
}

#[test]
fn a_round_begins_when_the_blocks_of_its_height_are_durable() {
    let files = Files::new();
    let mut validator = files.start();
    validator.ready();
    validator.start_round(1, 0);
    let turn = turn(1, 0);
    let block = validator.block_of(turn, &[]);
    let mut verdict = validator.send_block(turn, &block);
    validator.run_job();
    let proposer = turn.proposer;
    let mut known = validator.send(|reply| EngineRequest::RoundStarted {
        height: 1,
        round: 0,
        proposer,
        reply,
    });
    let mut again = validator.send_block(turn, &block);
    assert!(verdict.try_recv().is_err(), "the block is not durable yet");
    assert!(known.try_recv().is_err());
    assert!(again.try_recv().is_err());
    validator.settle();
    assert_eq!(known.try_recv().unwrap().len(), 1);
    assert_eq!(verdict.try_recv(), again.try_recv());
}

#[test]
fn a_block_that_two_peers_send_is_answered_when_it_is_durable() {
    let files = Files::new();
    let mut validator = files.start();
    validator.ready();
    validator.start_round(1, 0);
    let turn = turn(1, 0);
    let block = validator.block_of(turn, &[]);
    let _first = validator.send_block(turn, &block);
    let mut second = validator.send_block(turn, &block);
    validator.run_job();
    validator.run_job();
    assert!(second.try_recv().is_err(), "the block is not durable yet");
    validator.settle();
    assert!(second.try_recv().unwrap().unwrap().is_valid);
}

#[test]
fn the_thread_of_the_log_answers_nothing_after_a_failed_write() {
    let files = Files::new();
    let validator = files.start();
    let (sender, jobs) = crossbeam_channel::bounded(JOBS_MAX);
    let (health, _faults) = recipient();
    let mut thread = validator
        .worker
        .serve(jobs, health, validator.reporter.clone());
    let (reply, mut acknowledged) = oneshot::channel();
    sender
        .send(ConsensusJob::Decide {
            certificate: certificate(turn(1, 0), HashValue::ZERO),
            ledger_height: 0,
            reply,
        })
        .unwrap();
    let (reply, mut recorded) = oneshot::channel();
    let then: Then = Box::new(move || answer(reply, ()));
    let height = 1;
    sender
        .send(ConsensusJob::RecordHeight { height, then })
        .unwrap();
    while thread.has_work() {
        assert!(thread.step().is_continue());
    }
    assert!(acknowledged.try_recv().is_err());
    assert!(recorded.try_recv().is_err());
    let error = validator.reporter.get().unwrap().to_string();
    assert!(error.contains("was not proposed"), "{error}");
}

#[test]
fn peers_do_not_fill_the_queue_of_the_log() {
    let files = Files::new();
    let mut validator = files.start();
    validator.ready();
    validator.start_round(1, 0);
    let read = |reply| EngineRequest::GetDecidedBlocks {
        first: 1,
        last: 1,
        reply,
    };
    let _waiting: Vec<_> = (0..PEER_JOBS_MAX).map(|_| validator.send(read)).collect();
    assert_eq!(validator.send(read).try_recv(), Ok(Vec::new()));
    let turn = turn(1, 0);
    let block = validator.block_of(turn, &[]);
    assert_eq!(validator.send_block(turn, &block).try_recv(), Ok(None));
    assert_eq!(validator.start_round(1, 1), []);
    assert!(validator.reporter.get().is_none());
}

#[test]
fn a_round_has_two_blocks() {
    let files = Files::new();
    let mut validator = files.start();
    validator.ready();
    validator.start_round(1, 0);
    let turn = turn(1, 0);
    for later_usecs in 0..3 {
        let block = validator.block_of(turn, &[]);
        let mut header = block.header;
        header.timestamp_usecs += later_usecs;
        let block = CheckedBlock::new(header, Vec::new(), &validator.chain);
        let verdict = validator.receive(turn, &block);
        assert_eq!(verdict.is_some(), later_usecs < 2);
    }
}

#[test]
fn a_round_receives_the_same_block_again_also_after_a_restart() {
    let files = Files::new();
    let own = own_turn(1);
    let mut validator = files.start();
    validator.ready();
    validator.start_round(1, own.round);
    let transfer = validator.transfer(0, 0);
    let block = validator.propose(own, &[transfer]);
    files.clock.pass_secs(5);
    assert_eq!(validator.propose(own, &[]), block);
    drop(validator);
    let mut validator = files.start();
    assert_eq!(validator.ready(), 1);
    let known = validator.start_round(1, own.round);
    assert_eq!(known.len(), 1);
    assert_eq!((known[0].hash, known[0].is_valid), (block.hash, true));
    assert_eq!(validator.propose(own, &[]), block);
}

#[test]
fn a_later_round_proposes_the_transactions_that_no_block_has() {
    let files = Files::new();
    let mut validator = files.start();
    validator.ready();
    let first = own_turn(1);
    let later = turn(1, first.round + u32::from(VALIDATORS));
    let transfer = validator.transfer(0, 0);
    let block = validator.propose(first, std::slice::from_ref(&transfer));
    let again = validator.propose(later, &[]);
    assert_ne!(again.hash, block.hash, "the header names another round");
    let decided = validator.bft.proposals.of_block(1, again.hash).unwrap();
    assert_eq!(decided.block.transactions, [transfer]);
    assert!(validator.pulls.is_empty());
}

#[test]
fn a_block_ahead_of_the_clock_is_offered_when_its_time_has_come() {
    let files = Files::new();
    let mut validator = files.start();
    validator.ready();
    validator.start_round(1, 0);
    let turn = turn(1, 0);
    let mut block = validator.block_of(turn, &[]);
    block.header.timestamp_usecs += 2_000_000;
    let block = CheckedBlock::new(block.header, Vec::new(), &validator.chain);
    assert_eq!(validator.receive(turn, &block), None);
    assert_eq!(validator.start_round(1, 1), []);
    files.clock.pass_secs(3);
    let offered = validator.start_round(1, 2);
    assert_eq!(offered.len(), 1);
    assert_eq!((offered[0].round, offered[0].is_valid), (0, true));
    assert_eq!(validator.start_round(1, 3), [], "the engine has it");
}

#[test]
fn votes_against_a_block_that_breaks_a_rule() {
    let files = Files::new();
    let mut validator = files.start();
    validator.ready();
    validator.start_round(1, 0);
    let turn = turn(1, 0);
    let mut block = validator.block_of(turn, &[]);
    block.header.executed.version += 1;
    let block = CheckedBlock::new(block.header, Vec::new(), &validator.chain);
    let verdict = validator.receive(turn, &block).unwrap();
    assert!(!verdict.is_valid);
}

#[test]
fn bytes_that_are_no_block_get_no_verdict() {
    let files = Files::new();
    let mut validator = files.start();
    validator.ready();
    validator.start_round(1, 0);
    let turn = turn(1, 0);
    let unsigned = validator.transfer(0, 0);
    let block = validator.block_of(turn, &[unsigned]);
    let mut bytes = block.bytes.to_vec();
    *bytes.last_mut().unwrap() ^= 1;
    for bytes in [Bytes::new(), bytes.into()] {
        let verdict = validator.request(|reply| EngineRequest::BlockReceived {
            height: 1,
            round: 0,
            valid_round: None,
            proposer: turn.proposer,
            bytes,
            reply,
        });
        assert_eq!(verdict, Some(None));
    }
}

#[test]
fn a_decision_is_durable_before_it_is_acknowledged_and_executed() {
    let files = Files::new();
    let mut validator = files.start();
    validator.ready();
    validator.start_round(1, 0);
    let turn = turn(1, 0);
    let transfer = validator.transfer(0, 0);
    let block = validator.block_of(turn, &[transfer]);
    assert!(validator.receive(turn, &block).unwrap().is_valid);
    let certificate = certificate(turn, block.hash);
    let repeated = certificate.clone();
    let mut reply = validator.send(|reply| EngineRequest::Decided { certificate, reply });
    let mut again = validator.send(|reply| EngineRequest::Decided {
        certificate: repeated,
        reply,
    });
    assert!(reply.try_recv().is_err(), "the decision is not durable yet");
    assert!(again.try_recv().is_err(), "nor when it is repeated");
    assert!(validator.executed.is_empty());
    validator.settle();
    assert_eq!(reply.try_recv(), Ok(()));
    assert_eq!(again.try_recv(), Ok(()));
    let executed = validator.executed.try_recv().unwrap();
    assert_eq!(executed.executed, Some(block.header.executed));
    assert_eq!(executed.transactions, block.transactions);
    let decided = validator.decided.try_recv().unwrap();
    assert_eq!(decided.0, block.transactions);
}

#[test]
fn a_start_executes_the_decided_blocks_first() {
    let files = Files::new();
    let mut validator = files.start();
    validator.ready();
    let mut hashes = Vec::new();
    for height in 1..=2 {
        let turn = turn(height, 0);
        let block = validator.block_of(turn, &[]);
        validator.receive(turn, &block);
        validator.decide(turn, block.hash).unwrap();
        hashes.push(block.hash);
    }
    drop(validator);
    let mut validator = files.start();
    let heights: Vec<_> = validator
        .executed
        .try_iter()
        .map(|block| block.height)
        .collect();
    assert_eq!(heights, [1, 2]);
    assert_eq!(validator.ready(), 3);
    assert_eq!(Some(validator.bft.parent.hash), hashes.pop());
}

#[actix::test]
async fn a_start_executes_more_decided_blocks_than_its_configuration_allows() {
    const DECIDED: u64 = 6;
    let files = Files::new();
    let mut validator = files.start();
    validator.ready();
    for height in 1..=DECIDED {
        let turn = turn(height, 0);
        let block = validator.block_of(turn, &[]);
        validator.receive(turn, &block);
        validator.decide(turn, block.hash).unwrap();
    }
    drop(validator);
    let mut config = NodeConfig::default();
    config.sequencer.blocks_in_flight_max = 1;
    let (node, next_height) = files.start_node(config).await;
    assert_eq!(next_height, DECIDED + 1);
    // An empty block is one version.
    let failed = async { drop(node.failed().await) };
    node.handle()
        .wait_for_version(DECIDED, failed, ClientKey::NODE)
        .await
        .unwrap();
    node.stop().await.unwrap();
}

#[test]
fn transactions_of_a_proposal_that_was_not_decided_return() {
    let files = Files::new();
    let mut validator = files.start();
    validator.ready();
    let transfers = [validator.transfer(0, 0), validator.transfer(1, 0)];
    validator.propose(own_turn(1), &transfers);
    let turn = turn(1, 0);
    let other = validator.block_of(turn, &transfers[..1]);
    validator.receive(turn, &other);
    validator.decide(turn, other.hash).unwrap();
    let returned = validator.returned.try_recv().unwrap();
    assert_eq!(returned.0, transfers[1..]);
}

#[test]
fn the_next_height_waits_for_the_ledger() {
    let files = Files::new();
    let mut validator = files.start();
    let mut memory = MemoryChain::new(&genesis());
    validator.ready();
    validator.bft.announced_height = u64::MAX;
    let mut next = oneshot::channel().1;
    for height in 1..=2 {
        let turn = turn(height, 0);
        let block = validator.block_of(turn, &[]);
        validator.receive(turn, &block);
        validator.decide(turn, block.hash).unwrap();
        next = validator.finalize(turn, block.hash);
    }
    assert!(next.try_recv().is_err(), "two blocks are not in the ledger");
    validator.commit_next(&mut memory);
    assert_eq!(next.try_recv(), Ok(3));
}

#[test]
fn the_next_height_waits_for_work() {
    let files = Files::new();
    let mut validator = files.start();
    let mut memory = MemoryChain::new(&genesis());
    validator.ready();
    let mut finalize = |validator: &mut Validator, height| {
        let turn = turn(height, 0);
        let block = validator.block_of(turn, &[]);
        validator.receive(turn, &block);
        validator.decide(turn, block.hash).unwrap();
        validator.commit_next(&mut memory);
        validator.finalize(turn, block.hash)
    };
    let mut next = finalize(&mut validator, 1);
    assert!(next.try_recv().is_err());
    assert_eq!(validator.watches.try_iter().count(), 1);
    validator.bft.handle_ready(&mut validator.ordering);
    assert_eq!(next.try_recv(), Ok(2));
    assert_eq!(*validator.work.borrow_and_update(), 2, "the peers are told");

    let mut next = finalize(&mut validator, 2);
    assert!(next.try_recv().is_err());
    let announced = EngineRequest::WorkAnnounced { height: 3 };
    validator.bft.handle(announced, &mut validator.ordering);
    assert_eq!(next.try_recv(), Ok(3));
    assert!(
        !validator.work.has_changed().unwrap(),
        "the peer has told them"
    );
}

#[test]
fn a_decided_block_that_breaks_a_rule_ends_the_node() {
    let files = Files::new();
    let mut validator = files.start();
    validator.ready();
    let turn = turn(1, 0);
    let mut block = validator.block_of(turn, &[]);
    block.header.parent_hash = HashValue::ZERO;
    let block = CheckedBlock::new(block.header, Vec::new(), &validator.chain);
    let synced = validator.sync(turn, &block);
    // The peer may have sent another block than the decided one.
    assert!(matches!(synced, Some(SyncedBlock::Stored(_))), "{synced:?}");
    assert!(validator.reporter.get().is_none());
    assert_eq!(validator.decide(turn, block.hash), None);
    let error = validator.reporter.get().unwrap().to_string();
    assert!(error.contains("its parent is not the newest"), "{error}");
}

#[test]
fn a_validator_without_a_record_may_vote_two_heights_above_the_tips_of_a_quorum() {
    let files = Files::new();
    files.log().record_height(u64::MAX).unwrap();
    let mut validator = files.start();
    let is_signer = false;
    let next = validator.request(|reply| EngineRequest::Ready { is_signer, reply });
    assert_eq!(next, Some(1));
    for height in 1..=5 {
        assert_eq!(validator.worker.log().signed_height().unwrap(), u64::MAX);
        assert!(validator.may_vote.try_recv().is_err(), "height {height}");
        // The proposals of the first two heights are late: the others are further.
        if height == 3 {
            let reached = EngineRequest::QuorumReached { height: 3 };
            validator.bft.handle(reached, &mut validator.ordering);
        }
        validator.start_round(height, 0);
        let turn = turn(height, 0);
        let block = validator.block_of(turn, &[]);
        validator.receive(turn, &block);
        validator.decide(turn, block.hash).unwrap();
    }
    assert_eq!(validator.worker.log().signed_height().unwrap(), 5);
    assert_eq!(validator.may_vote.try_recv(), Ok(()));
}

#[test]
fn a_validator_without_a_record_may_vote_if_it_is_above_the_heights_that_it_may_have_signed() {
    let files = Files::new();
    files.log().record_height(u64::MAX).unwrap();
    let mut validator = files.start();
    let is_signer = false;
    validator.request(|reply| EngineRequest::Ready { is_signer, reply });
    for height in 1..=2 {
        let missed = turn(height, 0);
        let block = validator.block_of(missed, &[]);
        let synced = validator.sync(missed, &block);
        assert!(matches!(synced, Some(SyncedBlock::Stored(_))), "{synced:?}");
        validator.decide(missed, block.hash).unwrap();
    }
    let reached = EngineRequest::QuorumReached { height: 0 };
    validator.bft.handle(reached, &mut validator.ordering);
    validator.settle();
    assert_eq!(validator.worker.log().signed_height().unwrap(), 2);
    assert_eq!(validator.may_vote.try_recv(), Ok(()));
}

#[test]
fn a_second_engine_receives_the_blocks_that_the_first_received() {
    let files = Files::new();
    let mut validator = files.start();
    let is_signer = false;
    validator.request(|reply| EngineRequest::Ready { is_signer, reply });
    validator.start_round(1, 0);
    let turn = turn(1, 0);
    let block = validator.block_of(turn, &[]);
    validator.receive(turn, &block);
    let is_signer = true;
    let next = validator.request(|reply| EngineRequest::Ready { is_signer, reply });
    assert_eq!(next, Some(1));
    let known = validator.start_round(1, 1);
    assert_eq!(known.len(), 1);
    assert_eq!(known[0].hash, block.hash);
    assert_eq!(validator.worker.log().signed_height().unwrap(), 1);
}

#[test]
fn a_follower_may_vote_above_the_recorded_height() {
    let files = Files::new();
    files.log().record_height(2).unwrap();
    let mut validator = files.start();
    let is_signer = false;
    validator.request(|reply| EngineRequest::Ready { is_signer, reply });
    let reached = EngineRequest::QuorumReached { height: 0 };
    validator.bft.handle(reached, &mut validator.ordering);
    // Raised, since the engine's log of height 2 will lack the signatures of before.
    for height in 1..=3 {
        assert_eq!(validator.worker.log().signed_height().unwrap(), 3);
        assert!(validator.may_vote.try_recv().is_err(), "height {height}");
        validator.start_round(height, 0);
        let turn = turn(height, 0);
        let block = validator.block_of(turn, &[]);
        validator.receive(turn, &block);
        validator.decide(turn, block.hash).unwrap();
    }
    assert_eq!(validator.worker.log().signed_height().unwrap(), 3);
    assert_eq!(validator.may_vote.try_recv(), Ok(()));
}
