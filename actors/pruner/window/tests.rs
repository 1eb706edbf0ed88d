//! Tests of the window and of the decision which versions stay.

use super::*;
use ledger_test_support::block::ledger_info;
use proptest::prelude::*;

fn window(window_versions: u64, batch_versions: u64) -> Window {
    let config = PrunerConfig {
        enabled: true,
        window_versions,
        batch_versions,
        ..PrunerConfig::default()
    };
    Window::new(config, &ledger_info(0))
}

/// Returns the newest version of a ledger with 1,000 versions per second.
fn newest(version: u64) -> Newest {
    Newest {
        version,
        timestamp_usecs: version.saturating_mul(1_000),
    }
}

/// Returns the bound of a window without `window_secs` and `window_bytes`.
fn below(version: u64) -> Option<PruneBound> {
    Some(PruneBound::below(version))
}

fn pruned(oldest_version: u64, done: bool) -> Pruned {
    Pruned {
        oldest_version,
        oldest_block_height: 0,
        done,
        remaining_versions: 0,
    }
}

#[test]
fn prunes_only_whole_batches_below_the_window() {
    let mut window = window(100, 10);
    window.extend(newest(108));
    assert_eq!(
        window.next_step(),
        None,
        "9 of the versions 0 to 108 are removable: 0 to 8"
    );
    window.extend(newest(109));
    assert_eq!(window.next_step(), below(10));
}

#[test]
fn keeps_the_newest_block_without_a_window() {
    let mut window = window(0, 1);
    window.extend(newest(7));
    assert_eq!(
        window.next_step(),
        below(7),
        "7 is the newest, and may end a block"
    );
}

#[test]
fn allows_only_one_step_in_flight() {
    let mut window = window(10, 5);
    window.extend(newest(100));
    assert_eq!(window.next_step(), below(91));
    window.extend(newest(200));
    assert_eq!(window.next_step(), None);
    window.complete_step(pruned(5, false), None);
    assert_eq!(window.next_step(), below(191));
}

#[test]
fn starts_the_next_step_only_after_a_new_block() {
    let mut window = window(10, 5);
    window.extend(newest(100));
    assert_eq!(window.next_step(), below(91));
    window.complete_step(pruned(80, true), None);
    assert_eq!(
        window.next_step(),
        None,
        "80 to 90 belong to a block that reaches into the window"
    );
    window.extend(newest(101));
    assert_eq!(window.next_step(), below(92));
    window.extend(newest(200));
    window.complete_step(pruned(80, true), None);
    assert_eq!(window.next_step(), below(191));
}

/// Returns the oldest version after a step as the store executes it: it removes whole blocks,
/// at least one.
fn remove(oldest: u64, step_versions: u64, below: u64, block_versions: u64) -> u64 {
    let block_start = |version: u64| version / block_versions * block_versions;
    block_start((oldest + step_versions).min(below))
        .max((oldest + block_versions).min(block_start(below)))
}

#[test]
fn reduces_a_backlog_while_more_than_a_batch_arrives_per_step() {
    const WINDOW: u64 = 1_000;
    const BATCH: u64 = 10;
    for (block_versions, arriving) in [
        (1, 100),
        (7, 100),
        (60, 100),
        (90, 100),
        (300, 100),
        (90, 1_000),
    ] {
        let mut window = window(WINDOW, BATCH);
        window.newest = newest(20_000);
        let mut oldest = 0;
        let mut largest_step = 0;
        for _ in 0..2_000 {
            if let Some(PruneBound {
                below_version: below,
                ..
            }) = window.next_step()
            {
                largest_step = largest_step.max(window.step_versions());
                oldest = remove(oldest, window.step_versions(), below, block_versions);
                window.extend(newest(window.newest.version + arriving));
                let is_done = oldest == below / block_versions * block_versions;
                window.complete_step(pruned(oldest, is_done), None);
            } else {
                window.extend(newest(window.newest.version + arriving));
            }
        }
        let retained = window.newest.version + 1 - oldest;
        let case = format!("blocks of {block_versions}, {arriving} arrive during a step");
        let limit = WINDOW + 2 * arriving + BATCH + block_versions;
        assert!(
            (WINDOW..=limit).contains(&retained),
            "{case}: {retained} versions are retained"
        );
        let limit = BATCH + 2 * arriving + block_versions;
        assert!(largest_step <= limit, "{case}: a step of {largest_step}");
    }
}

#[test]
fn versions_before_the_first_due_step_do_not_enlarge_it() {
    let mut window = window(1_000, 10);
    for version in 0..=1_009 {
        assert_eq!(window.next_step(), None);
        window.extend(newest(version));
    }
    assert_eq!(window.next_step(), below(10));
    assert_eq!(window.step_versions(), 20);
}

#[test]
fn disabled_pruner_removes_nothing() {
    let mut window = window(1, 1);
    window.config.enabled = false;
    window.extend(newest(1_000));
    assert_eq!(window.next_step(), None);
}

#[test]
fn survives_maximum_window_and_version() {
    let mut window = window(u64::MAX, 1);
    window.extend(newest(u64::MAX));
    assert_eq!(window.next_step(), None);
}

/// Returns a window of one version and of one second.
fn timed_window(batch_versions: u64) -> Window {
    let config = PrunerConfig {
        enabled: true,
        window_versions: 1,
        window_secs: 1,
        batch_versions,
        ..PrunerConfig::default()
    };
    Window::new(config, &ledger_info(0))
}

#[test]
fn starts_a_step_once_a_whole_batch_is_older_than_the_window() {
    let mut window = timed_window(10);
    assert_eq!(window.timed_versions(), Some(10));
    window.extend(newest(500));
    // The first step finds out how old the versions are.
    let bound = window.next_step().unwrap();
    assert_eq!((bound.below_version, bound.before_usecs), (500, Some(0)));
    // Versions 0 to 9 are at most as old as version 9.
    window.complete_step(pruned(0, true), Some(9_000));
    window.extend(newest(1_009));
    assert_eq!(window.next_step(), None, "version 9 is one second old");
    window.extend(newest(1_010));
    let bound = window.next_step().unwrap();
    assert_eq!(
        (bound.below_version, bound.before_usecs),
        (1_010, Some(10_000))
    );
    window.complete_step(pruned(10, true), Some(19_000));
    window.extend(newest(1_011));
    assert_eq!(window.next_step(), None);
}

#[test]
fn time_does_not_shorten_the_window_of_versions() {
    let mut window = timed_window(10);
    window.config.window_versions = 5_000;
    window.extend(newest(5_000));
    assert_eq!(window.next_step(), None);
    window.extend(newest(5_009));
    assert_eq!(window.next_step().unwrap().below_version, 10);
}

#[test]
fn size_overrides_both_minimums() {
    let mut window = timed_window(10);
    window.config.window_versions = 1_000_000;
    window.extend(newest(9_999));
    window.complete_step(pruned(0, true), Some(9_999_000));
    assert_eq!(window.next_step(), None);
    window.set_fitting_versions(9_991);
    assert_eq!(window.next_step(), None, "only 9 versions do not fit");
    window.set_fitting_versions(4_000);
    assert_eq!(window.next_step().unwrap().always_below_version, 6_000);
    assert_eq!(window.lag_versions(), 6_000);
}

#[test]
fn empty_step_does_not_end_a_backlog() {
    let mut window = window(10, 5);
    window.extend(newest(100));
    assert_eq!(window.empty_step(), below(0));
    assert_eq!(window.empty_step(), None);
    window.complete_step(pruned(0, true), None);
    assert_eq!(window.next_step(), below(91));
}

/// Returns whether the bound allows the removal of a version, as the store decides it.
fn may_remove(bound: &PruneBound, version: u64) -> bool {
    let is_old = bound
        .before_usecs
        .is_none_or(|before| newest(version).timestamp_usecs < before);
    version < bound.always_below_version || (version < bound.below_version && is_old)
}

proptest! {
    #[test]
    fn retains_what_either_minimum_asks_for_unless_it_does_not_fit(
        versions in 1_u64..100_000,
        version in 0_u64..100_000,
        window_versions in 0_u64..100_000,
        window_secs in 0_u64..100,
        fitting_versions in prop_oneof![Just(u64::MAX), 0_u64..100_000],
    ) {
        let newest_version = versions - 1;
        let version = version.min(newest_version);
        let config = PrunerConfig {
            window_versions,
            window_secs,
            ..PrunerConfig::default()
        };
        let bound = prune_bound(&config, newest(newest_version), fitting_versions);
        let age_versions = newest_version - version;
        let is_asked_for = age_versions < window_versions.max(1)
            || (window_secs > 0 && age_versions <= window_secs * 1_000);
        let does_not_fit = age_versions >= fitting_versions.max(VERSIONS_MIN);
        prop_assert_eq!(
            may_remove(&bound, version),
            does_not_fit || !is_asked_for,
            "{:?}", bound
        );
    }
}
