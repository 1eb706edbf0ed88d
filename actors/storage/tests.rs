//! Capacity of the queue of the writer, the delay before an apply, and notifications of the health.

use super::*;
use crate::{
    error::FaultKind,
    runtime::mailbox::Recipient,
    state::{
        committed::IndexedBlock,
        head::HeadPublisher,
        prune_horizon::{Horizon, PruneHorizonPublisher},
    },
    storage::meter::CommitMeter,
    testing::{block, wallet::development},
};
use ledger_execution::execute_block;
use ledger_types::{AccountAddress, OrderedBlock, StateError, StateKey};
use std::{io, sync::Mutex};

#[test]
fn a_busy_writer_has_room_for_all_that_may_wait_and_for_no_more() {
    const IN_FLIGHT_MAX: u64 = 2;
    let reporter = FatalErrorReporter::new();
    let config = StorageConfig::default();
    let readers = Arc::new(WorkMeter::new("readers", 1));
    let (mut storage, _parts) =
        Storage::new(&config, IN_FLIGHT_MAX as usize, reporter.clone(), readers);
    for _ in 0..=config.readers {
        storage.commits.request_apply();
    }
    let commit = |height| IndexedBlock::without_updates(block(height, &[], &[]));
    for height in 1..=IN_FLIGHT_MAX {
        storage.commits.commit(commit(height));
    }
    let prune = PruneStep {
        below_version: 1,
        versions_max: 1,
    };
    storage.handle(prune);
    assert!(reporter.get().is_none());
    storage.commits.commit(commit(IN_FLIGHT_MAX + 1));
    assert_eq!(reporter.get().unwrap().thread, Storage::NAME);
}

#[test]
fn what_is_durable_is_shown_at_a_pause_or_as_soon_as_a_reader_wants_to_see_it() {
    let directory = tempfile::tempdir().unwrap();
    let (chain, store) = development(directory.path());
    let (writer, store) = store.split();
    let snapshot = store.snapshot().unwrap();
    let version = snapshot.ledger_info().version;
    let state = |key: &StateKey| {
        let value = snapshot.state_value(key, version);
        value.map_err(|error| StateError(error.to_string()))
    };
    let mut tip = store.chain_tip().unwrap();
    let mut next_block = || {
        let ordered = OrderedBlock {
            height: tip.height + 1,
            epoch: 1,
            round: tip.height + 1,
            proposer: AccountAddress::from_low_u64(0),
            timestamp_usecs: tip.timestamp_usecs + 1,
            transactions: Vec::new(),
            certificate: bytes::Bytes::new(),
        };
        let block = execute_block(&chain, &tip, &state, ordered).unwrap();
        tip = block.tip.clone();
        IndexedBlock::without_updates(Arc::new(block))
    };

    let reporter = FatalErrorReporter::new();
    let readers = Arc::new(WorkMeter::new("readers", 1));
    let (_storage, parts) = Storage::new(&StorageConfig::default(), 1, reporter.clone(), readers);
    let (commits, reader) = (parts.commits(), parts.durable_reader(store.clone()));
    let peers = WriterPeers {
        committer: Recipient::new(|_| ()),
        pruner: Recipient::new(|_| ()),
        meter: Arc::new(CommitMeter::default()),
    };
    let horizon = PruneHorizonPublisher::new(Horizon::of(snapshot.ledger_info()));
    let head = HeadPublisher::new(*snapshot.ledger_info(), horizon.horizon()).reader();
    let context = ReadContext {
        head,
        reader: reader.clone(),
        health: HealthReporter::new(
            StorageHealthPublisher::default(),
            Recipient::new(|_| ()),
            Recipient::new(|_| ()),
        ),
    };
    let (mut writer, _readers) = parts.workers((writer, horizon), context, peers, &reporter);
    for is_wanted in [false, true] {
        let block = next_block();
        let height = block.block().height();
        let transactions = block.block().transactions.len();
        commits.commit(block);
        assert!(writer.step().is_continue());
        assert!(store.would_wait(height), "the writer waits for more");
        assert_eq!(writer.pause(), Some(writer::apply_delay(transactions)));
        if is_wanted {
            reader.request_apply(height);
            commits.commit(next_block());
        }
        assert!(writer.step().is_continue());
        assert!(!store.would_wait(height));
        assert!(!writer.has_work());
    }
    reader.request_apply(tip.height);
    assert!(!writer.has_work(), "nobody asks for what is shown");
    assert!(reporter.get().is_none());
}

fn parts() -> (Storage, StorageParts) {
    Storage::new(
        &StorageConfig::default(),
        1,
        FatalErrorReporter::new(),
        Arc::new(WorkMeter::new("readers", 1)),
    )
}

fn fault(kind: FaultKind) -> StorageFault {
    StorageFault {
        thread: "test",
        kind,
        cause: "as the test wants it".into(),
    }
}

/// A storage whose notifications are recorded in words.
fn notifying() -> (Storage, Arc<Mutex<Vec<String>>>) {
    let (storage, parts) = parts();
    let sent: Arc<Mutex<Vec<String>>> = Arc::default();
    let paused = |actor: &'static str| {
        let sent = Arc::clone(&sent);
        Recipient::new(move |SetPaused(is_paused)| {
            sent.lock().unwrap().push(format!("{actor} {is_paused}"));
        })
    };
    let canceled = Arc::clone(&sent);
    let peers = StoragePeers {
        committer: Recipient::new(move |CancelWaiters| {
            canceled.lock().unwrap().push("waiters".to_owned());
        }),
        mempool: paused("mempool"),
        sequencer: paused("sequencer"),
        pruner: paused("pruner"),
    };
    parts.peers.set(peers).unwrap();
    (storage, sent)
}

#[test]
fn notifies_the_other_actors_of_each_change_of_the_disk_space() {
    let (mut storage, sent) = notifying();
    for is_low in [true, true, false, false] {
        storage.handle(DiskSpace { is_low });
    }
    let expected = [true, false].map(|is_paused| {
        ["mempool", "sequencer", "pruner"].map(|actor| format!("{actor} {is_paused}"))
    });
    assert_eq!(*sent.lock().unwrap(), expected.concat());
}

#[test]
fn cancels_all_waits_and_pauses_once_after_the_first_fault() {
    let (mut storage, sent) = notifying();
    storage.handle(fault(FaultKind::Write));
    storage.handle(fault(FaultKind::Read));
    storage.handle(DiskSpace { is_low: true });
    storage.handle(DiskSpace { is_low: false });
    let expected = ["waiters", "mempool true", "sequencer true", "pruner true"];
    assert_eq!(*sent.lock().unwrap(), expected);
}

#[test]
fn publishes_a_fault_before_the_storage_actor_is_notified_and_only_the_first_of_its_kind() {
    let (_storage, parts) = parts();
    let health = parts.health();
    let faults: Arc<Mutex<Vec<_>>> = Arc::default();
    let received = Arc::clone(&faults);
    let reporter = HealthReporter::new(
        parts.publisher.clone(),
        Recipient::new(move |fault: StorageFault| {
            let is_published = health.failed().is_some();
            received.lock().unwrap().push((fault.kind, is_published));
        }),
        Recipient::new(|_| ()),
    );
    reporter.report_read("test", &StoreError::Gap("as the test wants it".to_owned()));
    assert_eq!(
        parts.health().unavailable(),
        None,
        "it is no fault of the disk"
    );
    let disk = io::Error::from(io::ErrorKind::StorageFull);
    let disk: StoreError = redb::StorageError::from(disk).into();
    for _ in 0..2 {
        reporter.report(fault(FaultKind::Write));
        reporter.report_read("test", &disk);
    }
    let expected = [(FaultKind::Write, true), (FaultKind::Read, true)];
    assert_eq!(*faults.lock().unwrap(), expected);
}
