//! Restarts of engines.

use crate::support::{Cluster, wait_for_status};
use ledger_bft::{EngineStatus, Step, log_height};

#[test]
fn a_restarted_validator_continues_at_the_height_of_its_log() {
    let mut cluster = Cluster::start(4, &[0, 1, 2, 3], 3);
    for index in 0..4 {
        cluster.node(index).wait_for_height(3);
        wait_for_status(cluster.engine(index), |status| status.is_waiting);
    }
    // Two validators vote for a block, but cannot decide it.
    cluster.stop(2);
    cluster.stop(3);
    for index in 0..2 {
        cluster.node(index).begin(u64::MAX);
        let has_voted = |status: &EngineStatus| status.height == 4 && status.step == Step::Prevote;
        wait_for_status(cluster.engine(index), has_voted);
    }
    cluster.stop(0);
    cluster.stop(1);
    for (index, height) in [(0, 4), (1, 4), (2, 3), (3, 3)] {
        assert_eq!(log_height(&cluster.log_path(index)).unwrap(), Some(height));
    }
    for index in 0..4 {
        cluster.node(index).begin(u64::MAX);
        cluster.restart(index);
    }
    for index in 0..4 {
        cluster.node(index).wait_for_height(9);
        assert_eq!(
            cluster.node(index).read(|state| state.equivocations.len()),
            0
        );
    }
    cluster.check(&[0, 1, 2, 3]);
}

#[test]
fn a_log_has_a_height_after_the_first_start_only() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log");
    assert_eq!(log_height(&path).unwrap(), None);
    assert!(!path.exists());
    std::fs::write(&path, [0; 40]).unwrap();
    assert!(log_height(&path).is_err());
}
