//! Tests of the writer queue's capacity, the delay before an apply, notifications of the health,
//! and the start of the scrubber's passes.

use super::{
    applier::applier,
    health::HealthReporter,
    meter::CommitMeter,
    readers::ReadContext,
    scrubber::BeginPass,
    writer::{Writer, WriterPeers, apply_delay},
    *,
};
use crate::{
    Clock, NodeError, WorkConfig,
    error::{FaultKind, NotWritable, StorageFault},
    protocol::{
        commit_queue::WriteJobs,
        committer::BlocksDurable,
        durable_reader::{ApplyRequests, DurableReader},
        pruner::PruneDone,
    },
    runtime::{fatal::FatalErrorReporter, mailbox::Mailbox, work_meter::WorkMeter},
    state::{
        committed::IndexedBlock,
        directory_size::DirectorySize,
        flight_recorder::FlightRecorder,
        head::HeadPublisher,
        prune_horizon::{Horizon, PruneHorizonPublisher},
        storage_health::{ShortageSource, StorageHealthPublisher},
    },
};
use crossbeam_channel::Receiver;
use ledger_execution::execute_block;
use ledger_store::{PruneBound, Store, StoreOptions};
use ledger_test_support::{
    Disk, Fault,
    block::block,
    store::{initialize_store, open_store},
    test_genesis,
};
use ledger_types::{AccountAddress, ChainTip, OrderedBlock, Parameters, StateError, StateKey};
use ledger_vm::Chain;
use std::{
    io,
    sync::{Arc, Mutex},
    time::Duration,
};

/// Interval of two passes of the scrubber, which no test waits for.
const SCRUB_INTERVAL: Duration = Duration::from_secs(60 * 60);

/// A storage, the other sides of its queues, and its notifications.
struct Fixture {
    storage: Storage,
    write_jobs: WriteJobs,
    passes: Receiver<BeginPass>,
    health: StorageHealthPublisher,
    /// Notifications that it has sent, as text.
    sent: Arc<Mutex<Vec<String>>>,
    reporter: FatalErrorReporter,
}

/// Creates a storage whose node has at most `in_flight_max` blocks in flight.
fn fixture(in_flight_max: usize) -> Fixture {
    let reporter = FatalErrorReporter::new();
    let (commits, write_jobs) = CommitQueue::new(write_jobs_max(in_flight_max), reporter.clone());
    let meter = |thread| Arc::new(WorkMeter::new(thread, 1));
    let (reads, read_turns, _) = ReadQueues::new(
        1,
        &WorkConfig::default(),
        &Arc::default(),
        &meter(readers::POINT_THREAD),
        &meter(readers::THREAD),
    );
    let sent: Arc<Mutex<Vec<String>>> = Arc::default();
    let record_pause = |actor: &'static str| {
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
        paused: ["mempool", "sequencer", "pruner"].map(record_pause).into(),
    };
    let health = StorageHealthPublisher::default();
    let (begin_pass, passes) = crossbeam_channel::bounded(1);
    let scrub_schedule = ScrubSchedule::new(
        begin_pass,
        SCRUB_INTERVAL,
        Clock::default(),
        health.health().clone(),
        DirectorySize::default(),
    );
    let storage = Storage::new(
        commits,
        reads,
        read_turns,
        InlineStore::revoked(),
        health.health().clone(),
        peers,
        Some(scrub_schedule),
    );
    Fixture {
        storage,
        write_jobs,
        passes,
        health,
        sent,
        reporter,
    }
}

/// Returns a step that removes nothing.
fn prune_step() -> PruneStep {
    PruneStep {
        bound: PruneBound::below(1),
        versions_max: 1,
        timed_versions: None,
        is_checkpoint: false,
    }
}

/// Returns a reporter of faults whose messages are dropped.
fn silent_reporter(publisher: StorageHealthPublisher) -> HealthReporter {
    HealthReporter::new(publisher, Recipient::new(|_| ()), Recipient::new(|_| ()))
}

#[test]
fn writer_queue_has_capacity_for_exactly_the_jobs_that_can_be_outstanding() {
    const IN_FLIGHT_MAX: u64 = 2;
    let Fixture {
        mut storage,
        write_jobs: _write_jobs,
        reporter,
        ..
    } = fixture(IN_FLIGHT_MAX as usize);
    let executed = |height| IndexedBlock::without_updates(block(height, &[], &[]));
    for height in 1..=IN_FLIGHT_MAX {
        storage.commits.commit(executed(height));
    }
    storage.handle(prune_step());
    assert!(reporter.get().is_none());
    storage.commits.commit(executed(IN_FLIGHT_MAX + 1));
    assert_eq!(reporter.get().unwrap().thread, Storage::NAME);
}

/// Executes an empty block after `tip`, which it replaces by that of the block.
fn next_block(chain: &Chain, snapshot: &Snapshot, tip: &mut ChainTip) -> Arc<IndexedBlock> {
    let version = snapshot.ledger_info().version;
    let state = |key: &StateKey| {
        let value = snapshot.state_value(key, version);
        value.map_err(|error| StateError(error.to_string()))
    };
    let ordered = OrderedBlock {
        height: tip.height + 1,
        epoch: 1,
        round: tip.height + 1,
        proposer: AccountAddress::from_low_u64(0),
        timestamp_usecs: tip.timestamp_usecs + 1,
        executed: None,
        transactions: Vec::new(),
        certificate: bytes::Bytes::new(),
    };
    let block = execute_block(chain, tip, &state, ordered).unwrap();
    *tip = block.tip.clone();
    IndexedBlock::without_updates(Arc::new(block))
}

#[test]
fn writes_wait_for_disk_space_in_their_order_and_blocks_continue_one_by_one() {
    let disk = Disk::default();
    let store = Store::open_backend(disk.clone(), disk.log(), &StoreOptions::default());
    let (chain, store) = initialize_store(store.unwrap(), &test_genesis(Parameters::default()));
    let (writer, store) = store.split();
    let snapshot = store.snapshot().unwrap();
    let mut tip = store.chain_tip().unwrap();
    let Fixture {
        mut storage,
        write_jobs,
        health: publisher,
        reporter,
        ..
    } = fixture(1);
    let commits = storage.commits.clone();
    let sent: Arc<Mutex<Vec<String>>> = Arc::default();
    let (blocks, steps) = (Arc::clone(&sent), Arc::clone(&sent));
    let peers = WriterPeers {
        committer: Recipient::new(move |durable: BlocksDurable| {
            let heights = durable.blocks.iter().map(|block| block.block().height());
            blocks
                .lock()
                .unwrap()
                .push(format!("blocks {:?}", heights.collect::<Vec<_>>()));
        }),
        pruner: Recipient::new(move |_: PruneDone| steps.lock().unwrap().push("prune step".into())),
    };
    let horizon = PruneHorizonPublisher::new(Horizon::of(snapshot.ledger_info()));
    let health = publisher.health().clone();
    let recorder = FlightRecorder::new(Clock::default());
    let meter = Arc::new(CommitMeter::default());
    let writer = Writer::new(writer, horizon, peers, meter, recorder);
    let mut writer = writer.serve(write_jobs, silent_reporter(publisher), reporter.clone());
    disk.inject(Fault::FullWrites { count: usize::MAX });
    commits.commit(next_block(&chain, &snapshot, &mut tip));
    storage.handle(prune_step());
    for _ in 0..2 {
        assert!(writer.step().is_continue());
        assert!(writer.pause().is_some(), "the write is repeated");
        assert!(sent.lock().unwrap().is_empty());
        assert!(matches!(
            health.unavailable(),
            Some(NotWritable::LowDiskSpace(_))
        ));
    }
    // There is no space for both blocks in one record.
    disk.free_space();
    disk.inject(Fault::FullWrites { count: 1 });
    commits.commit(next_block(&chain, &snapshot, &mut tip));
    assert!(writer.step().is_continue());
    assert_eq!(health.unavailable(), None);
    let expected = ["blocks [1]", "blocks [2]", "prune step"];
    assert_eq!(std::mem::take(&mut *sent.lock().unwrap()), expected);
    for _ in 0..2 {
        commits.commit(next_block(&chain, &snapshot, &mut tip));
    }
    assert!(writer.step().is_continue());
    assert_eq!(*sent.lock().unwrap(), ["blocks [3, 4]"]);
    assert!(reporter.get().is_none());
}

#[test]
fn applies_durable_blocks_after_a_pause_or_on_request() {
    let directory = tempfile::tempdir().unwrap();
    let (chain, store) = open_store(directory.path());
    let (writer, store) = store.split();
    let snapshot = store.snapshot().unwrap();
    let mut tip = store.chain_tip().unwrap();
    let mut next_block = || next_block(&chain, &snapshot, &mut tip);

    let Fixture {
        storage,
        write_jobs,
        health,
        reporter,
        ..
    } = fixture(1);
    let commits = storage.commits.clone();
    let (requests, apply_jobs) = ApplyRequests::new();
    let reader = DurableReader::new(store.clone(), requests);
    let peers = WriterPeers {
        committer: Recipient::new(|_| ()),
        pruner: Recipient::new(|_| ()),
    };
    let horizon = PruneHorizonPublisher::new(Horizon::of(snapshot.ledger_info()));
    let health = silent_reporter(health);
    let recorder = FlightRecorder::new(Clock::default());
    let mut applier = applier(
        writer.applier(),
        apply_jobs,
        recorder.clone(),
        health.clone(),
        reporter.clone(),
    );
    let meter = Arc::new(CommitMeter::default());
    let writer = Writer::new(writer, horizon, peers, meter, recorder);
    let mut writer = writer.serve(write_jobs, health, reporter.clone());
    for is_requested in [false, true] {
        let block = next_block();
        let height = block.block().height();
        let transactions = block.block().transactions.len();
        commits.commit(block);
        assert!(writer.step().is_continue());
        assert!(
            store.would_wait(height),
            "the writer applies only after the pause"
        );
        assert_eq!(writer.pause(), Some(apply_delay(transactions)));
        if is_requested {
            reader.request_apply(height);
            reader.request_apply(height);
            assert!(applier.step().is_continue());
            assert!(!store.would_wait(height));
        }
        assert!(writer.step().is_continue());
        assert!(!store.would_wait(height));
        assert!(!writer.has_work() && !applier.has_work());
    }
    reader.request_apply(tip.height);
    assert!(!applier.has_work(), "an applied block needs no request");
    assert!(reporter.get().is_none());
}

#[actix::test]
async fn begins_a_pass_at_the_start_and_again_after_one_that_ended_early() {
    let Fixture {
        storage, passes, ..
    } = fixture(1);
    tokio::time::pause();
    let storage = Mailbox::start_here("storage", 1, storage, &FatalErrorReporter::new());
    // The actor is idle during each sleep, so the clock advances.
    tokio::time::sleep(CHECK_INTERVAL / 2).await;
    assert!(passes.try_recv().is_ok());
    storage.send(ScrubDone { is_complete: false });
    tokio::time::sleep(CHECK_INTERVAL).await;
    assert!(passes.try_recv().is_ok());
}

#[test]
fn read_of_a_block_that_a_closed_store_has_not_applied_is_no_fault() {
    let directory = tempfile::tempdir().unwrap();
    let (_chain, store) = open_store(directory.path());
    let (writer, reader) = store.split();
    let mut ledger_info = *reader.snapshot().unwrap().ledger_info();
    ledger_info.block_height += 1;
    let health = StorageHealthPublisher::default();
    let context = ReadContext {
        head: HeadPublisher::unpruned(ledger_info).reader(),
        reader: DurableReader::new(reader, ApplyRequests::new().0),
        health: silent_reporter(health.clone()),
    };
    drop(writer);
    let answer = context.read(|_: &Snapshot| Ok(()));
    assert!(matches!(answer, Err(NodeError::Stopping)));
    assert_eq!(health.health().fault(), None);
}

fn fault(kind: FaultKind) -> StorageFault {
    StorageFault {
        thread: "test",
        kind,
        cause: "injected by the test".into(),
    }
}

/// Returns a reporter whose messages `storage` handles immediately.
fn reporter_to(storage: Storage, health: StorageHealthPublisher) -> HealthReporter {
    let fault_receiver = Arc::new(Mutex::new(storage));
    let space_receiver = Arc::clone(&fault_receiver);
    HealthReporter::new(
        health,
        Recipient::new(move |message: FirstFault| fault_receiver.lock().unwrap().handle(message)),
        Recipient::new(move |message: DiskSpaceChanged| {
            space_receiver.lock().unwrap().handle(message);
        }),
    )
}

#[test]
fn notifies_the_other_actors_of_each_change_of_the_disk_space() {
    let Fixture {
        storage,
        health,
        sent,
        ..
    } = fixture(1);
    let reporter = reporter_to(storage, health);
    let shortage: Arc<str> = "7 bytes are left".into();
    for is_low in [true, true, false, false] {
        reporter.report_disk_space(ShortageSource::Monitor, is_low.then_some(&shortage));
    }
    let expected = [true, false].map(|is_paused| {
        ["mempool", "sequencer", "pruner"].map(|actor| format!("{actor} {is_paused}"))
    });
    assert_eq!(*sent.lock().unwrap(), expected.concat());
}

#[test]
fn cancels_all_waits_and_pauses_once_after_the_first_fault() {
    let Fixture {
        storage,
        health,
        sent,
        ..
    } = fixture(1);
    let reporter = reporter_to(storage, health);
    reporter.report(&fault(FaultKind::Write));
    reporter.report(&fault(FaultKind::Read));
    reporter.report_disk_space(ShortageSource::Monitor, Some(&"7 bytes are left".into()));
    reporter.report_disk_space(ShortageSource::Monitor, None);
    let expected = ["waiters", "mempool true", "sequencer true", "pruner true"];
    assert_eq!(*sent.lock().unwrap(), expected);
}

#[test]
fn holds_a_prune_step_back_until_writes_are_resumed() {
    let Fixture {
        mut storage,
        write_jobs,
        health,
        ..
    } = fixture(1);
    let shortage: Arc<str> = "7 bytes are left".into();
    health.publish_disk_space(ShortageSource::Monitor, Some(&shortage));
    storage.handle(DiskSpaceChanged);
    storage.handle(prune_step());
    assert!(write_jobs.jobs.is_empty(), "writes are paused");
    health.publish_disk_space(ShortageSource::Monitor, None);
    storage.handle(DiskSpaceChanged);
    assert_eq!(write_jobs.jobs.len(), 1);
}

#[test]
fn notifies_the_other_actors_of_the_newest_health() {
    let Fixture {
        mut storage,
        health,
        sent,
        ..
    } = fixture(1);
    health.publish_disk_space(ShortageSource::Monitor, Some(&"7 bytes are left".into()));
    health.publish_disk_space(ShortageSource::Monitor, None);
    health.publish_fault(&fault(FaultKind::Write));
    storage.handle(DiskSpaceChanged);
    assert_eq!(
        *sent.lock().unwrap(),
        ["mempool true", "sequencer true", "pruner true"]
    );
}

#[test]
fn publishes_the_first_fault_before_it_notifies_the_storage_actor() {
    let publisher = StorageHealthPublisher::default();
    let health = publisher.health().clone();
    let published: Arc<Mutex<Vec<_>>> = Arc::default();
    let at_notification = Arc::clone(&published);
    let reporter = HealthReporter::new(
        publisher.clone(),
        Recipient::new(move |FirstFault| at_notification.lock().unwrap().push(health.fault())),
        Recipient::new(|_| ()),
    );
    reporter.report_read("test", &StoreError::Gap("injected by the test".to_owned()));
    assert_eq!(
        publisher.health().unavailable(),
        None,
        "a gap is no fault of the disk"
    );
    let disk_full = io::Error::from(io::ErrorKind::StorageFull);
    let disk_full: StoreError = redb::StorageError::from(disk_full).into();
    for _ in 0..2 {
        reporter.report(&fault(FaultKind::Write));
        reporter.report_read("test", &disk_full);
    }
    assert_eq!(*published.lock().unwrap(), [Some(fault(FaultKind::Write))]);
    assert!(matches!(
        publisher.health().failed(),
        Some(NotWritable::ReadFailed(_))
    ));
}
