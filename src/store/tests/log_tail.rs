//! The end of the write-ahead log after a cut, zeros, or a flipped bit in its last record: what the
//! start reports, and the ledger that it opens.

use super::{Config, OPTIONS, configured, workload::Workload};
use crate::{LogReplay, RecordDefect, Store, wal::WalConfig};
use ledger_test_support::{Disk, Image, generated::genesis};
use redb::StorageBackend as _;

/// Height of the newest block, which is alone in the last record of the log.
const HEIGHT: u64 = 16;
/// Number of records of the log.
const RECORDS: u64 = 3;
/// A log for all records of the test.
const LARGE: WalConfig = WalConfig {
    bytes_max: 1024 * 1024,
    ..WalConfig::SMALL
};
/// Size of the header of a record, in bytes.
const HEADER_BYTES: usize = 72;
/// Offset of the size of the content in a header, in bytes.
const CONTENT_BYTES_AT: usize = 32;
const PAGE_BYTES: usize = 4096;

/// A disk that a killed process leaves.
struct KilledLedger {
    workload: Workload,
    image: Image,
    /// Offset of the last record, in bytes.
    offset: usize,
    /// Size of the last record without its padding, in bytes.
    used_bytes: usize,
}

impl KilledLedger {
    /// Creates a log whose last record takes one page and overwrites a record of an older
    /// generation, more of which follow.
    fn new() -> Self {
        let mut workload = Workload::new(21);
        let disk = Disk::default();
        let store = Store::open_backend(disk.clone(), disk.log(), &OPTIONS).unwrap();
        let mut store = configured(store, Config::with_wal(LARGE));
        store.initialize(&genesis(), &workload.blocks[0]).unwrap();
        let (mut writer, _reader) = store.split();
        for block in workload.grow(HEIGHT - RECORDS - 1) {
            writer.commit(&[block]).unwrap();
        }
        assert!(writer.wal.end() > 2 * RECORDS * PAGE_BYTES as u64);
        writer.wal_config.bytes_max = 0;
        writer.commit(&workload.grow(1)).unwrap();
        writer.wal_config = LARGE;
        let mut offset = 0;
        for block in workload.grow_idle(RECORDS as usize) {
            offset = usize::try_from(writer.wal.end()).unwrap();
            writer.commit(&[block]).unwrap();
        }
        assert_eq!(writer.wal.end(), (offset + PAGE_BYTES) as u64);
        let mut content_bytes = [0; 8];
        let log = disk.log();
        log.read((offset + CONTENT_BYTES_AT) as u64, &mut content_bytes)
            .unwrap();
        let used_bytes = HEADER_BYTES + u64::from_le_bytes(content_bytes) as usize;
        assert!(log.len().unwrap() > (offset + PAGE_BYTES) as u64);
        Self {
            image: disk.written(),
            workload,
            offset,
            used_bytes,
        }
    }

    /// Opens the ledger with a change of its log, checks that it ends at the last complete record,
    /// and returns the replay. Every answer is compared if `compares_all`.
    fn open(&self, compares_all: bool, change: impl FnOnce(&Disk)) -> LogReplay {
        let disk = Disk::new(self.image.clone());
        change(&disk);
        let store = Store::open_backend(disk.clone(), disk.log(), &OPTIONS).unwrap();
        let replay = *store.log_replay().expect("the log was open");
        let height = HEIGHT - (RECORDS - replay.records);
        assert_eq!((replay.height, replay.blocks), (height, replay.records));
        let (_writer, reader) = store.split();
        let tip = &self.workload.blocks[height as usize].tip;
        assert_eq!(reader.chain_tip().unwrap(), *tip);
        if compares_all {
            self.workload
                .check(&reader.snapshot().unwrap(), &self.workload.info(height, 0))
                .unwrap();
        }
        replay
    }

    /// Checks that the last record is dropped and reported with this size and defect.
    fn check_dropped(&self, replay: LogReplay, bytes: usize, defect: RecordDefect, case: &str) {
        assert_eq!(replay.records, RECORDS - 1, "{case}");
        let dropped = replay.dropped.expect(case);
        assert_eq!(dropped.number, RECORDS - 1, "{case}");
        assert_eq!(dropped.offset, self.offset as u64, "{case}");
        assert_eq!(
            (dropped.bytes, dropped.defect),
            (bytes as u64, defect),
            "{case}"
        );
    }

    /// Checks that nothing is reported, and that the ledger has this number of records.
    fn check_silent(replay: LogReplay, records: u64, case: &str) {
        assert_eq!((replay.records, replay.dropped), (records, None), "{case}");
    }
}

#[test]
fn reports_a_last_record_that_is_cut_at_any_byte() {
    let ledger = KilledLedger::new();
    // Of the padding, which holds no data, only some bytes are tried.
    let padding = (ledger.used_bytes..=PAGE_BYTES).step_by(101);
    for left_bytes in (0..ledger.used_bytes).chain(padding) {
        let case = format!("{left_bytes} of {} bytes are left", ledger.used_bytes);
        let replay = ledger.open(left_bytes % 512 == 1, |disk| {
            let length = ledger.offset + left_bytes;
            disk.log().set_len(length as u64).unwrap();
        });
        match left_bytes {
            // The log looks like one that ends with the record before.
            0 => KilledLedger::check_silent(replay, RECORDS - 1, &case),
            cut if cut < ledger.used_bytes => {
                ledger.check_dropped(replay, cut, RecordDefect::Length, &case);
            }
            _ => KilledLedger::check_silent(replay, RECORDS, &case),
        }
    }
}

#[test]
fn reports_a_last_record_with_any_bit_flipped() {
    let ledger = KilledLedger::new();
    for bit in 0..ledger.used_bytes * 8 {
        let (at, case) = (ledger.offset + bit / 8, format!("bit {bit}"));
        let replay = ledger.open(bit % 512 == 0, |disk| {
            let mut byte = [0];
            disk.log().read(at as u64, &mut byte).unwrap();
            disk.log()
                .write(at as u64, &[byte[0] ^ (1 << (bit % 8))])
                .unwrap();
        });
        if bit / 8 >= HEADER_BYTES {
            ledger.check_dropped(replay, PAGE_BYTES, RecordDefect::Content, &case);
            continue;
        }
        // The size is that of the damaged header, so only this field changes it.
        let is_size = (CONTENT_BYTES_AT..CONTENT_BYTES_AT + 8).contains(&(bit / 8));
        let bytes = replay.dropped.expect(&case).bytes as usize;
        assert!(bytes == PAGE_BYTES || is_size, "{case}: {bytes} bytes");
        ledger.check_dropped(replay, bytes, RecordDefect::Header, &case);
    }
}

#[test]
fn reports_a_last_record_whose_end_is_zeroed_and_names_the_one_before_a_zeroed_one() {
    /// Bytes of magic and generation, and the first byte of the number, which identify a record.
    const IDENTITY_BYTES: usize = 17;
    let ledger = KilledLedger::new();
    for left_bytes in 0..=ledger.used_bytes {
        let case = format!("{left_bytes} of {} bytes are left", ledger.used_bytes);
        let mut content = vec![0; ledger.used_bytes];
        // The checksum in the header has a random key, so its last bytes may be zeros.
        let is_changed = |before: &[u8]| before.iter().skip(left_bytes).any(|byte| *byte != 0);
        let replay = ledger.open(left_bytes % 512 == 0, |disk| {
            disk.log().read(ledger.offset as u64, &mut content).unwrap();
            let zeros = vec![0; PAGE_BYTES - left_bytes];
            let at = ledger.offset + left_bytes;
            disk.log().write(at as u64, &zeros).unwrap();
        });
        if !is_changed(&content) {
            KilledLedger::check_silent(replay, RECORDS, &case);
        } else if left_bytes < IDENTITY_BYTES {
            KilledLedger::check_silent(replay, RECORDS - 1, &case);
        } else {
            let dropped = replay.dropped.expect(&case);
            let defect = match is_changed(&content[..HEADER_BYTES]) {
                true => RecordDefect::Header,
                false => RecordDefect::Content,
            };
            ledger.check_dropped(replay, dropped.bytes as usize, defect, &case);
        }
    }
}

#[test]
fn reports_no_remains_of_an_older_generation() {
    let mut workload = Workload::new(22);
    let disk = Disk::default();
    let store = Store::open_backend(disk.clone(), disk.log(), &OPTIONS).unwrap();
    let mut store = configured(store, Config::with_wal(LARGE));
    store.initialize(&genesis(), &workload.blocks[0]).unwrap();
    let (mut writer, _reader) = store.split();
    // Generations of different lengths, with records of one and more pages.
    for (count, idle) in [(12, 2), (3, 5), (7, 0), (1, 9), (0, 1)] {
        let mut blocks = workload.grow(count);
        blocks.extend(workload.grow_idle(idle));
        for (records, block) in (1..).zip(&blocks) {
            writer.commit(std::slice::from_ref(block)).unwrap();
            let killed = Disk::new(disk.written());
            let store = Store::open_backend(killed.clone(), killed.log(), &OPTIONS).unwrap();
            let replay = *store.log_replay().unwrap();
            assert_eq!((replay.records, replay.dropped), (records, None));
            assert_eq!(replay.height, block.tip.height);
        }
        writer.wal_config.bytes_max = 0;
        writer.commit(&workload.grow_idle(1)).unwrap();
        writer.wal_config = LARGE;
        let killed = Disk::new(disk.written());
        let store = Store::open_backend(killed.clone(), killed.log(), &OPTIONS).unwrap();
        let replay = *store.log_replay().unwrap();
        assert_eq!((replay.records, replay.dropped), (0, None));
    }
}
