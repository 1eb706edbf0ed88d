//! Failures of the engine, each with its reason.

use crate::support::{Cluster, address, stop_reason, wait_for_status};
use ledger_bft::{StartError, Step, StopReason};
use std::fs::OpenOptions;
use std::io::{Seek, SeekFrom, Write};
use std::net::TcpListener;

#[test]
fn a_taken_port_is_an_error() {
    let mut cluster = Cluster::start(1, &[], 1);
    let _other = TcpListener::bind(format!("127.0.0.1:{}", cluster.ports[0])).unwrap();
    let error = cluster.try_start(0).unwrap_err();
    assert!(matches!(error, StartError::Listen { .. }), "{error}");
}

#[test]
fn a_log_that_is_open_or_malformed_is_an_error() {
    let mut cluster = Cluster::start(1, &[0], 1);
    let mut settings = cluster.settings(0);
    settings.listen_address = "127.0.0.1:0".into();
    let node = cluster.nodes[0].sender();
    let error = ledger_bft::Engine::start(settings, node).err().unwrap();
    assert!(matches!(error, StartError::Log { .. }), "{error}");
    cluster.stop(0);
    std::fs::write(cluster.log_path(0), [9; 100]).unwrap();
    let error = cluster.try_start(0).unwrap_err();
    assert!(matches!(error, StartError::Log { .. }), "{error}");
}

#[test]
fn keys_and_validators_must_match() {
    let cluster = Cluster::start(2, &[], 1);
    let start = |change: &dyn Fn(&mut ledger_bft::Settings)| {
        let mut settings = cluster.settings(0);
        change(&mut settings);
        ledger_bft::Engine::start(settings, cluster.nodes[0].sender())
            .err()
            .unwrap()
    };
    let error = start(&|settings| settings.validators = Default::default());
    assert!(matches!(error, StartError::ValidatorCount(0)), "{error}");
    let error = start(&|settings| settings.validator_key = Some(crate::support::validator_key(9)));
    assert!(matches!(error, StartError::NoValidator(_)), "{error}");
    let error = start(&|settings| settings.peers[0].address = "nowhere".into());
    assert!(matches!(error, StartError::Address(_)), "{error}");
    let error = start(&|settings| settings.block_bytes_max = 0);
    assert!(matches!(error, StartError::BlockLength(0)), "{error}");
}

/// One of four validators votes against the block that does not come, which leaves entries in its
/// log.
#[test]
fn a_bad_entry_of_the_log_stops_the_engine() {
    let mut cluster = Cluster::start(4, &[0], u64::MAX);
    wait_for_status(cluster.engine(0), |status| status.step == Step::Prevote);
    cluster.stop(0);
    let path = cluster.log_path(0);
    assert_eq!(ledger_bft::log_height(&path).unwrap(), Some(1));
    let mut file = OpenOptions::new().write(true).open(&path).unwrap();
    // The last byte of the file is of an entry's payload, so its checksum differs.
    file.seek(SeekFrom::End(-1)).unwrap();
    file.write_all(&[0xff]).unwrap();
    drop(file);
    cluster.restart(0);
    let reason = stop_reason(cluster.engine(0));
    assert!(
        matches!(&reason, StopReason::Log(text) if text.contains("Corrupted")),
        "{reason}"
    );
    // The log has lost the entry, so the validator must not sign at its height again.
    cluster.stop(0);
    assert_eq!(ledger_bft::log_height(&path).unwrap(), None);
}

#[test]
fn a_dropped_reply_stops_the_engine_by_name() {
    for name in ["Ready", "RoundStarted", "Propose", "Decided", "Finalized"] {
        let mut cluster = Cluster::start(1, &[], u64::MAX);
        cluster.nodes[0].read(|state| state.drops.push(name));
        cluster.restart(0);
        let reason = stop_reason(cluster.engine(0));
        let expected = StopReason::NoReply {
            request: name,
            reason: "it dropped the request",
        };
        assert_eq!(reason, expected);
    }
}

#[test]
fn a_dropped_reply_with_a_safe_answer_stops_nothing() {
    let mut cluster = Cluster::start(1, &[], u64::MAX);
    cluster.nodes[0].read(|state| state.drops.push("GetOldestHeight"));
    cluster.restart(0);
    cluster.node(0).wait_for_height(5);
    wait_for_status(cluster.engine(0), |_| {
        cluster.engine(0).report().late_replies > 0
    });
    assert_eq!(
        cluster
            .node(0)
            .read(|state| state.decided[0].certificate.signatures[0].validator),
        address(0)
    );
}

#[test]
fn a_proposal_that_is_late_costs_a_turn_only() {
    let mut cluster = Cluster::start(4, &[], u64::MAX);
    cluster.nodes[0].read(|state| state.withholds.push("Propose"));
    for index in 0..4 {
        cluster.restart(index);
    }
    for index in 0..4 {
        cluster.node(index).wait_for_height(8);
    }
    assert!(cluster.engine(0).report().missed_proposals > 0);
    let report = cluster.engine(1).report();
    let late = report.validator(&address(0)).unwrap();
    assert!(late.missed_turns > 0, "{report:?}");
    cluster.check(&[0, 1, 2, 3]);
}
