//! Tests of the recorded times, of replaced entries, and of the written file.

use super::*;
use serde_json::{Value, json};
use std::{
    fs,
    sync::{Mutex, OnceLock},
    thread,
    time::{Duration, Instant},
};

/// Wall clock of the tests at elapsed time 0.
const START_USECS: u64 = 1_800_000_000_000_000;

const EPOCH: Epoch = Epoch {
    unix_usecs: START_USECS,
    elapsed_usecs: 1,
};

/// A recorder with the elapsed time of its clock in microseconds, which the test advances.
fn recorder() -> (FlightRecorder, Arc<AtomicU64>) {
    let elapsed = Arc::new(AtomicU64::new(0));
    let read = Arc::clone(&elapsed);
    let clock = Clock::from_readings(move || crate::ClockReading {
        wall_usecs: START_USECS + read.load(Relaxed),
        elapsed_usecs: read.load(Relaxed),
    });
    (FlightRecorder::new(clock), elapsed)
}

fn written(recorder: &FlightRecorder, reason: &str) -> Value {
    let directory = tempfile::tempdir().unwrap();
    let file = recorder.write(directory.path(), reason).unwrap();
    let text = fs::read_to_string(&file.path).unwrap();
    let recording: Value = serde_json::from_str(&text).unwrap();
    let blocks = recording["blocks"].as_array().unwrap();
    assert_eq!(file.blocks, blocks.len());
    // A line for each block, between the first and the last one.
    assert_eq!(text.lines().count(), blocks.len() + 2, "{text}");
    recording
}

#[test]
fn writes_the_time_of_each_stage_and_null_for_those_that_a_block_has_not_reached() {
    let (recorder, elapsed) = recorder();
    let at = |usecs, stage, heights: &[u64]| {
        elapsed.store(usecs, Relaxed);
        recorder.record(stage, heights.iter().copied());
    };
    at(100, BlockStage::Executed, &[6]);
    recorder.record_ordered(7, 3, 900);
    at(110, BlockStage::ExecutionBegun, &[7]);
    recorder.record_ordered(8, 0, 0);
    at(150, BlockStage::Executed, &[7]);
    at(155, BlockStage::ExecutionBegun, &[8]);
    let since = |stage, height| recorder.time_since(stage, height);
    assert_eq!(
        since(BlockStage::ExecutionBegun, 7),
        Some(Duration::from_micros(45))
    );
    assert_eq!(since(BlockStage::Durable, 7), None);
    assert_eq!(since(BlockStage::Executed, 6), None, "it has no entry");
    at(400, BlockStage::Durable, &[7]);
    at(420, BlockStage::Visible, &[7]);
    elapsed.store(450, Relaxed);
    recorder.record_applied(7);
    elapsed.store(500, Relaxed);
    recorder.record_applied(7);
    let expected = json!({
        "format": 1,
        "node_version": env!("CARGO_PKG_VERSION"),
        "reason": "a \"reason\"",
        "written_at_unix_usecs": START_USECS + 500,
        "blocks": [
            {
                "height": 7,
                "transactions": 3,
                "bytes": 900,
                "ordered_at_unix_usecs": START_USECS + 100,
                "execution_begun_after_usecs": 10,
                "executed_after_usecs": 50,
                "durable_after_usecs": 300,
                "visible_after_usecs": 320,
                "applied_after_usecs": 350,
            },
            {
                "height": 8,
                "transactions": 0,
                "bytes": 0,
                "ordered_at_unix_usecs": START_USECS + 110,
                "execution_begun_after_usecs": 45,
                "executed_after_usecs": null,
                "durable_after_usecs": null,
                "visible_after_usecs": null,
                "applied_after_usecs": null,
            },
        ],
    });
    assert_eq!(written(&recorder, "a \"reason\""), expected);
}

#[test]
fn writes_no_blocks_before_the_first_one() {
    let (recorder, _) = recorder();
    assert_eq!(written(&recorder, "")["blocks"], json!([]));
}

#[test]
fn keeps_the_newest_blocks_without_stages_of_those_that_they_replace() {
    let (recorder, _) = recorder();
    let last = ENTRIES_MAX as u64 + 5;
    for height in 1..=last {
        recorder.record_ordered(height, 1, 1);
        if height <= 5 {
            recorder.record(BlockStage::Visible, [height]);
        }
    }
    // Its entry is replaced.
    recorder.record(BlockStage::Visible, [1]);
    let entries = recorder.entries(START_USECS);
    let heights: Vec<_> = entries.iter().map(|entry| entry.height).collect();
    assert_eq!(heights, Vec::from_iter(6..=last));
    assert!(
        entries
            .iter()
            .all(|entry| entry.visible_after_usecs.is_none())
    );
}

#[test]
fn reads_no_entry_that_is_being_replaced() {
    /// The recorder whose clock reads the entry.
    static RECORDER: OnceLock<FlightRecorder> = OnceLock::new();
    static READ: Mutex<Vec<Option<BlockEntry>>> = Mutex::new(Vec::new());
    // The recorder reads the clock when it has replaced a part of the entry.
    let clock = Clock::new(|| {
        if let Some(recorder) = RECORDER.get() {
            READ.lock().unwrap().push(recorder.slot(0).entry(&EPOCH));
        }
        1
    });
    let recorder = RECORDER.get_or_init(|| FlightRecorder::new(clock));
    for round in 1..=3 {
        recorder.record_ordered(round * ENTRIES_MAX as u64, 1, 1);
    }
    assert_eq!(*READ.lock().unwrap(), [None, None, None]);
}

#[test]
fn reads_no_entry_of_two_blocks_while_entries_are_replaced() {
    /// Number of blocks that replace each other. Without the check, the reader found an entry of
    /// two blocks when 80,000 had done so, on two busy cores.
    const BLOCKS: u64 = 1_000_000;
    let (recorder, _) = recorder();
    let torn = thread::scope(|scope| {
        let writer = scope.spawn(|| {
            // All blocks share one slot.
            for height in (1..=BLOCKS).map(|round| round * ENTRIES_MAX as u64) {
                recorder.record_ordered(height, height as usize, height as usize);
            }
        });
        let mut torn = None;
        while torn.is_none() && !writer.is_finished() {
            torn = recorder
                .slot(0)
                .entry(&EPOCH)
                .filter(|entry| (entry.transactions, entry.bytes) != (entry.height, entry.height));
        }
        torn
    });
    assert_eq!(torn, None);
}

#[test]
fn rejects_a_second_writer_and_names_a_directory_that_takes_no_file() {
    let (recorder, _) = recorder();
    let directory = tempfile::tempdir().unwrap();
    recorder.0.is_writing.store(true, Relaxed);
    let busy = recorder.write(directory.path(), "").unwrap_err();
    assert!(matches!(busy, FlightError::Busy), "{busy}");
    recorder.0.is_writing.store(false, Relaxed);
    let absent = directory.path().join("absent");
    let error = recorder.write(&absent, "").unwrap_err().to_string();
    assert!(error.contains(absent.to_str().unwrap()), "{error}");
}

#[test]
#[ignore = "a measurement: cargo test --release -p ledger-actors -- --ignored --nocapture cost_of"]
#[allow(clippy::print_stderr, reason = "the figure is the result")]
fn cost_of_a_block_is_printed() {
    const BLOCKS: u64 = 1_000_000;
    let recorder = FlightRecorder::new(Clock::default());
    let begun = Instant::now();
    for height in 1..=BLOCKS {
        recorder.record_ordered(height, 1, 1);
        for stage in [
            BlockStage::ExecutionBegun,
            BlockStage::Executed,
            BlockStage::Durable,
            BlockStage::Visible,
        ] {
            recorder.record(stage, [height]);
        }
        recorder.record_applied(height);
    }
    let per_block: Duration = begun.elapsed() / BLOCKS as u32;
    eprintln!("{per_block:?} per block, all stages");
}
