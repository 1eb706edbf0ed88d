//! Tests of the reserve of disk space.

use super::{disks::DiskSpace, *};
use ledger_store::FileSize;

const MIB: u64 = 1024 * 1024;

fn space(ledger: DiskSpace, pool: Option<DiskSpace>) -> DirectorySpace {
    DirectorySpace {
        directory: Path::new("some/data").into(),
        ledger,
        pool,
        database: FileSize {
            file_bytes: 4 * MIB,
            disk_bytes: 2 * MIB,
        },
        log_bytes: MIB,
    }
}

const RESERVE: DiskReserve = DiskReserve {
    min_free_bytes: 100 * MIB,
    in_flight_bytes_max: 10 * MIB,
    is_pruning: false,
};

fn reserve_bytes(total: u64, pool_bytes: u64) -> u64 {
    RESERVE.ledger_bytes(&space(DiskSpace { free: 0, total }, None), pool_bytes)
}

fn is_too_low(free: u64, total: u64, pool_bytes: u64) -> bool {
    let space = space(DiskSpace { free, total }, None);
    RESERVE.shortage(&space, pool_bytes, 0).is_some()
}

#[test]
fn reserves_the_configured_bytes_up_to_a_tenth_of_the_disk() {
    assert_eq!(reserve_bytes(10_000 * MIB, 0), 100 * MIB);
    assert_eq!(reserve_bytes(500 * MIB, 0), 50 * MIB);
    assert!(is_too_low(100 * MIB - 1, 10_000 * MIB, 0));
    assert!(!is_too_low(100 * MIB, 10_000 * MIB, 0));
}

#[test]
fn reserves_the_need_of_the_next_writes_on_any_disk() {
    let idle = reserve_bytes(20 * MIB, 0);
    // The log grows by 3.25 MiB. The checkpoint of 4 MiB writes 10 MiB and 1 MiB.
    assert!(idle > 14 * MIB && idle < 15 * MIB, "{idle}");
    assert_eq!(reserve_bytes(0, 0), idle, "a disk without a known size");
    let busy = reserve_bytes(20 * MIB, MIB);
    // 6 MiB of records, and 15 MiB of pages.
    assert_eq!(busy, idle + 21 * MIB);
    let most = reserve_bytes(20 * MIB, 10 * MIB);
    assert_eq!(reserve_bytes(20 * MIB, 20 * MIB), most);
    let pruning = DiskReserve {
        is_pruning: true,
        ..RESERVE
    };
    let disk = DiskSpace { free: 0, total: 0 };
    assert!(pruning.ledger_bytes(&space(disk, None), MIB) > busy);
}

#[test]
fn reserves_space_for_the_saved_mempool() {
    let idle = reserve_bytes(20 * MIB, 0);
    assert!(is_too_low(idle + 99, 20 * MIB, 100));
    assert!(!is_too_low(idle + 100, 20 * MIB, 100));
    assert!(is_too_low(u64::MAX - 1, 10_000 * MIB, u64::MAX));
}

#[test]
fn starts_blocks_of_pending_transactions_that_need_more_than_is_free() {
    let shortages = |free| {
        let disk = DiskSpace {
            free,
            total: 20 * MIB,
        };
        RESERVE.shortages(&space(disk, None), MIB)
    };
    let pausing = reserve_bytes(20 * MIB, 0) + MIB;
    let Shortages {
        pausing: None,
        pool,
    } = shortages(pausing)
    else {
        panic!("blocks are not started");
    };
    // A disk that is too small would not become large enough by these blocks.
    let pool = pool.expect("submissions are rejected");
    assert!(!pool.contains("too small"), "{pool}");
    let both = shortages(pausing - 1);
    assert!(both.pausing.is_some() && both.pool.is_some(), "{both:?}");
    let none = shortages(reserve_bytes(20 * MIB, MIB) + MIB);
    assert!(none.pausing.is_none() && none.pool.is_none(), "{none:?}");
}

#[test]
fn requires_space_on_both_disks_of_a_linked_ledger() {
    let disk = |free| DiskSpace {
        free,
        total: 10_000 * MIB,
    };
    let is_too_low = |ledger, pool| {
        let space = space(disk(ledger), Some(disk(pool)));
        RESERVE.shortage(&space, 10, 0).is_some()
    };
    assert!(is_too_low(99 * MIB, 1_000));
    assert!(!is_too_low(100 * MIB, 10));
    assert!(is_too_low(100 * MIB, 9));
}

#[test]
fn scales_with_the_size_of_blocks_and_is_off_at_0() {
    let mut settings = Settings::default();
    let before = DiskReserve::of(&settings).unwrap().in_flight_bytes_max;
    settings.node.sequencer.block_bytes_max *= 2;
    let larger = DiskReserve::of(&settings).unwrap().in_flight_bytes_max;
    assert_eq!(larger, 2 * before);
    settings.node.sequencer.blocks_in_flight_max += 1;
    assert!(DiskReserve::of(&settings).unwrap().in_flight_bytes_max > larger);
    settings.storage.min_free_bytes = 0;
    assert!(DiskReserve::of(&settings).is_none());
}

#[test]
fn names_directory_and_setting_in_the_message() {
    let message = |total| {
        let disk = DiskSpace { free: 7, total };
        RESERVE.shortage(&space(disk, None), 0, 0).unwrap()
    };
    for part in [
        "some/data",
        "7 bytes free",
        "storage.min_free_bytes",
        "free disk space",
    ] {
        let message = message(1_000 * MIB);
        assert!(message.contains(part), "{message}");
    }
    let message = message(10 * MIB);
    assert!(message.contains("too small"), "{message}");
}
