//! Decisions of validators that all follow the rules.

use crate::support::{Cluster, address};

#[test]
fn four_validators_decide_equal_blocks() {
    let cluster = Cluster::start(4, &[0, 1, 2, 3], u64::MAX);
    for index in 0..4 {
        cluster.node(index).wait_for_height(10);
    }
    cluster.check(&[0, 1, 2, 3]);
}

/// With two connections between a pair, one of which is closed, a validator may never receive the
/// votes of another one.
#[test]
fn each_validator_receives_the_votes_of_all_others() {
    let cluster = Cluster::start(4, &[0, 1, 2, 3], u64::MAX);
    for index in 0..4 {
        crate::support::wait_for_status(cluster.engine(index), |_| {
            let report = cluster.engine(index).report();
            let mut validators = report.validators.iter();
            validators.all(|one| one.is_self || one.last_vote.is_some())
        });
    }
}

#[test]
fn three_of_four_validators_continue_and_the_fourth_catches_up() {
    let mut cluster = Cluster::start(4, &[0, 1, 2], u64::MAX);
    for index in 0..3 {
        cluster.node(index).wait_for_height(10);
    }
    let report = cluster.engine(0).report();
    let absent = report.validator(&address(3)).unwrap();
    assert!(absent.missed_turns > 0, "{report:?}");
    assert_eq!(absent.last_vote, None);
    assert!(absent.heights_without_vote >= 9, "{report:?}");
    let present = report.validator(&address(1)).unwrap();
    assert!(present.heights_without_vote <= 2, "{report:?}");
    assert_eq!((report.peers, report.peers_configured), (2, 3));
    assert!(report.is_signer && report.is_running);
    crate::support::wait_for_status(cluster.engine(0), |_| {
        let report = cluster.engine(0).report();
        report.actor_answers > 1 && report.network_answers > 1
    });
    cluster.restart(3);
    cluster
        .node(3)
        .wait("a synced block", |state| (state.synced > 0).then_some(()));
    let height = cluster.node(0).read(|state| state.decided.len() as u64);
    cluster.node(3).wait_for_height(height + 5);
    // It also votes again.
    cluster
        .node(0)
        .wait("a certificate with all votes", |state| {
            let certificate = &state.decided.last()?.certificate;
            let mut signers = certificate.signatures.iter();
            signers
                .any(|signed| signed.validator == address(3))
                .then_some(())
        });
    cluster.check(&[0, 1, 2, 3]);
}

#[test]
fn waiting_validators_begin_when_one_has_work() {
    let cluster = Cluster::start(4, &[0, 1, 2, 3], 3);
    for index in 0..4 {
        cluster.node(index).wait_for_height(3);
        crate::support::wait_for_status(cluster.engine(index), |status| status.is_waiting);
    }
    cluster.engine(2).announce_work(4);
    cluster.node(2).begin(4);
    for index in 0..4 {
        cluster.node(index).wait_for_height(4);
        let mut announced = cluster.node(index).read(|state| state.announced.clone());
        // A node that was a little behind received announcements of earlier heights.
        announced.retain(|height| *height > 3);
        // The node with work began first, but a peer may answer before its engine has noticed.
        if index != 2 {
            assert_eq!(announced, [4], "node {index}");
        }
        assert_eq!(cluster.node(index).read(|state| state.decided.len()), 4);
    }
}

#[test]
fn a_node_without_votes_follows() {
    let mut cluster = Cluster::start(5, &[], u64::MAX);
    // The fifth node has no key of a validator, and the others know that.
    let validators = ledger_types::ValidatorSet::new(
        (0..4).map(|index| crate::support::validator_key(index).public_key()),
    );
    for index in 0..5 {
        let mut settings = cluster.settings(index);
        settings.validators = validators.clone();
        for peer in &mut settings.peers {
            peer.validator = peer.validator.filter(|one| *one != address(4));
        }
        if index == 4 {
            settings.validator_key = None;
            settings.is_validator = false;
        }
        let node = cluster.nodes[usize::from(index)].sender();
        let engine = ledger_bft::Engine::start(settings, node).unwrap();
        cluster.engines[usize::from(index)] = Some(engine);
    }
    for index in 0..5 {
        cluster.node(index).wait_for_height(10);
    }
    let hashes = |index| {
        cluster.node(index).read(|state| {
            let hash = |block: &ledger_actors::engine::DecidedBlock| block.certificate.block_hash;
            state.decided[..10].iter().map(hash).collect::<Vec<_>>()
        })
    };
    assert_eq!(hashes(4), hashes(0));
    assert!(
        !cluster.log_path(4).exists(),
        "the log of votes is untouched"
    );
}
