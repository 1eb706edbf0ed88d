//! Tests of the ledger's time under wrong clocks: at a start and while running, with and without
//! load.

use super::{
    Clock, ClockState,
    bounded::{
        BoundedTime, ClockLimits, EARLIEST_USECS, FOLLOW_USECS_PER_USEC, PERSISTENCE_USECS,
        TOLERANCE_USECS,
    },
};
use proptest::prelude::*;

const SEC: u64 = 1_000_000;
const HOUR: u64 = 3_600 * SEC;
const DAY: u64 = 24 * HOUR;
const YEAR: u64 = 365 * DAY;
const START: u64 = 1_800_000_000 * SEC;
const LIMITS: ClockLimits = ClockLimits {
    jump_max_usecs: 30 * DAY,
    confirmed_until_usecs: 0,
    earliest_usecs: EARLIEST_USECS,
};

/// A chain beside its clocks. The right time is `START` plus elapsed time.
struct Chain {
    bounded: BoundedTime,
    elapsed_usecs: u64,
    /// Lead of the wall clock over the right time.
    offset_usecs: i64,
    newest_usecs: u64,
}

impl Chain {
    /// Starts a node at `START`. The wall clock is off by `offset_usecs`, and the newest block is
    /// `age_usecs` old.
    fn started(limits: ClockLimits, age_usecs: u64, offset_usecs: i64) -> Self {
        let newest_usecs = START - age_usecs;
        let wall_usecs = START.saturating_add_signed(offset_usecs);
        Self {
            bounded: BoundedTime::new(limits, newest_usecs, wall_usecs, 0),
            elapsed_usecs: 0,
            offset_usecs,
            newest_usecs,
        }
    }

    /// Starts a node on a new block, with the right time.
    fn running() -> Self {
        Self::started(LIMITS, 0, 0)
    }

    fn true_usecs(&self) -> u64 {
        START + self.elapsed_usecs
    }

    fn wall_usecs(&self) -> u64 {
        self.true_usecs().saturating_add_signed(self.offset_usecs)
    }

    fn observe(&mut self) -> ClockState {
        self.bounded.observe(self.wall_usecs(), self.elapsed_usecs);
        self.bounded.state()
    }

    fn now_usecs(&self) -> u64 {
        self.bounded
            .now_usecs(self.wall_usecs(), self.elapsed_usecs)
    }

    /// Orders a block and returns its time.
    fn block(&mut self) -> u64 {
        self.observe();
        assert!(self.bounded.is_trusted(), "blocks require a trusted clock");
        self.newest_usecs = self.now_usecs().max(self.newest_usecs + 1);
        self.bounded
            .record_block(self.newest_usecs, self.elapsed_usecs);
        self.newest_usecs
    }

    /// Orders a block a little later than the last one, and returns its time.
    fn next_block(&mut self) -> u64 {
        self.elapsed_usecs += 1_000;
        self.block()
    }

    /// Advances time by `usecs`, with a block every `pause_usecs`. Without a pause, only observes
    /// once per second.
    fn run(&mut self, usecs: u64, pause_usecs: Option<u64>) {
        let end_usecs = self.elapsed_usecs + usecs;
        while self.elapsed_usecs < end_usecs {
            let step_usecs = pause_usecs
                .unwrap_or(SEC)
                .min(end_usecs - self.elapsed_usecs);
            self.elapsed_usecs += step_usecs;
            match pause_usecs {
                Some(_) => {
                    self.block();
                }
                None => {
                    self.observe();
                }
            }
        }
    }

    /// Returns the lead of the newest block over the right time.
    fn ahead_usecs(&self) -> i64 {
        self.newest_usecs as i64 - self.true_usecs() as i64
    }
}

/// No blocks, one per second, and one every 10 ms.
const LOADS: [Option<u64>; 3] = [None, Some(SEC), Some(10_000)];

#[test]
fn trusts_a_clock_within_the_limit_immediately_at_a_start() {
    for age_usecs in [SEC, 7 * DAY, 30 * DAY] {
        let mut chain = Chain::started(LIMITS, age_usecs, 0);
        assert_eq!(chain.block(), START);
        assert_eq!(chain.observe(), ClockState::InStep);
    }
}

#[test]
fn distrusts_a_clock_beyond_the_limit_until_it_is_corrected() {
    for offset_usecs in [YEAR, 30 * DAY] {
        let mut chain = Chain::started(LIMITS, SEC, offset_usecs as i64);
        assert_eq!(chain.observe(), ClockState::Untrusted);
        chain.run(3 * SEC, None);
        assert!(!chain.bounded.is_trusted());
        assert_eq!(
            chain.now_usecs(),
            chain.true_usecs() - SEC,
            "the newest block and elapsed time"
        );
        chain.offset_usecs = 0;
        assert_eq!(chain.observe(), ClockState::InStep);
        assert_eq!(chain.block(), chain.true_usecs());
    }
}

#[test]
fn adds_the_time_since_the_start_to_the_limit() {
    let mut chain = Chain::started(LIMITS, SEC, YEAR as i64);
    chain.run(5 * DAY, None);
    chain.offset_usecs = 29 * DAY as i64;
    chain.observe();
    assert_eq!(chain.block(), chain.wall_usecs());
}

#[test]
fn trusts_a_clock_at_a_start_up_to_the_confirmed_time() {
    let confirmed = ClockLimits {
        confirmed_until_usecs: START + HOUR,
        ..LIMITS
    };
    let mut chain = Chain::started(confirmed, YEAR, 0);
    assert_eq!(chain.block(), START);
    let chain = Chain::started(confirmed, YEAR, HOUR as i64 + 1);
    assert!(!chain.bounded.is_trusted());
    // While the node runs, the confirmation has no effect.
    let mut chain = Chain::started(confirmed, SEC, 0);
    chain.offset_usecs = HOUR as i64 - 1;
    assert_eq!(chain.block(), START);
}

#[test]
fn trusts_any_clock_after_the_earliest_time_on_a_genesis_chain() {
    for (wall_usecs, is_trusted) in [
        (0, false),
        (EARLIEST_USECS - 1, false),
        (EARLIEST_USECS, true),
        (START + 100 * YEAR, true),
    ] {
        let bounded = BoundedTime::new(LIMITS, 0, wall_usecs, 0);
        assert_eq!(bounded.is_trusted(), is_trusted, "{wall_usecs}");
    }
    let mut bounded = BoundedTime::new(LIMITS, 0, 0, 0);
    bounded.observe(START, SEC);
    assert_eq!(
        bounded.now_usecs(START, SEC),
        START,
        "the clock is trusted once it is set"
    );
}

#[test]
fn genesis_chain_adopts_any_clock_that_persists() {
    let mut bounded = BoundedTime::new(LIMITS, 0, START, 0);
    for elapsed_secs in 1..=200 {
        let wall_usecs = START + YEAR + elapsed_secs * SEC;
        bounded.observe(wall_usecs, elapsed_secs * SEC);
        let is_followed = bounded.now_usecs(wall_usecs, elapsed_secs * SEC) == wall_usecs;
        assert_eq!(
            is_followed,
            elapsed_secs > PERSISTENCE_USECS / SEC,
            "{elapsed_secs}"
        );
    }
}

#[test]
fn ignores_a_year_ahead_for_three_seconds_while_running() {
    for load in LOADS {
        let mut chain = Chain::running();
        chain.run(10 * SEC, load);
        for _ in 0..20 {
            chain.offset_usecs = YEAR as i64;
            chain.run(3 * SEC, load);
            assert_eq!(chain.observe(), ClockState::TooFarAhead);
            chain.next_block();
            assert!(
                chain.ahead_usecs() <= 0,
                "{load:?}: {}",
                chain.ahead_usecs()
            );
            chain.offset_usecs = 0;
            chain.run(SEC, load);
            assert_eq!(chain.next_block(), chain.true_usecs(), "{load:?}");
        }
    }
}

#[test]
fn never_follows_a_clock_beyond_the_limit() {
    for load in [None, Some(SEC)] {
        let mut chain = Chain::running();
        chain.offset_usecs = YEAR as i64;
        chain.run(DAY, load);
        chain.next_block();
        assert_eq!(chain.ahead_usecs(), 0);
    }
}

#[test]
fn ignores_a_lead_within_the_limit_that_does_not_persist() {
    for load in LOADS {
        let mut chain = Chain::running();
        for _ in 0..10 {
            chain.offset_usecs = DAY as i64;
            chain.run(PERSISTENCE_USECS - SEC, load);
            chain.offset_usecs = 0;
            chain.run(2 * SEC, load);
            chain.next_block();
            assert_eq!(chain.ahead_usecs(), 0, "{load:?}");
        }
    }
}

#[test]
fn follows_a_lead_that_persists_at_a_bounded_rate() {
    for (lead_usecs, loads) in [
        (HOUR, &LOADS[..]),
        (8 * HOUR, &LOADS[..2]),
        (7 * DAY, &LOADS[..1]),
    ] {
        for &load in loads {
            let mut chain = Chain::running();
            chain.offset_usecs = lead_usecs as i64;
            chain.run(PERSISTENCE_USECS - SEC, load);
            chain.next_block();
            assert_eq!(chain.ahead_usecs(), 0, "{load:?}: not followed immediately");
            chain.run(SEC + lead_usecs / FOLLOW_USECS_PER_USEC / 2, load);
            let half_usecs = chain.now_usecs() - chain.true_usecs();
            let spread_usecs = half_usecs.abs_diff(lead_usecs / 2);
            assert!(
                spread_usecs <= 2 * TOLERANCE_USECS + 20 * SEC,
                "{load:?}: {half_usecs}"
            );
            chain.run(lead_usecs / FOLLOW_USECS_PER_USEC / 2 + 5 * SEC, load);
            assert_eq!(chain.next_block(), chain.wall_usecs(), "{load:?}: reached");
            assert_eq!(chain.observe(), ClockState::InStep);
        }
    }
}

#[test]
fn counts_a_suspend_as_elapsed_time() {
    let mut chain = Chain::running();
    chain.run(SEC, Some(10_000));
    chain.elapsed_usecs += 8 * HOUR;
    assert_eq!(chain.block(), chain.true_usecs());
    assert_eq!(chain.observe(), ClockState::InStep);
}

#[test]
fn does_not_count_a_pause_without_observations_as_persistence() {
    let mut chain = Chain::running();
    chain.offset_usecs = DAY as i64;
    chain.observe();
    chain.elapsed_usecs += HOUR;
    chain.block();
    assert_eq!(chain.ahead_usecs(), 0);
}

#[test]
fn follows_small_steps_immediately_but_gains_the_tolerance_once() {
    let mut chain = Chain::running();
    chain.offset_usecs = TOLERANCE_USECS as i64;
    assert_eq!(chain.block(), chain.wall_usecs());
    // The clock gains the tolerance with each block.
    for _ in 0..1_000 {
        chain.elapsed_usecs += 10_000;
        chain.offset_usecs += TOLERANCE_USECS as i64;
        chain.block();
    }
    assert!(
        chain.ahead_usecs() <= TOLERANCE_USECS as i64,
        "{}",
        chain.ahead_usecs()
    );
}

#[test]
fn block_time_hardly_advances_while_the_clock_is_set_back() {
    for load in [Some(SEC), Some(10_000)] {
        let mut chain = Chain::running();
        chain.run(SEC, load);
        let before_usecs = chain.newest_usecs;
        chain.offset_usecs = -(HOUR as i64);
        chain.run(60 * SEC, load);
        assert_eq!(chain.observe(), ClockState::Behind);
        assert!(
            chain.newest_usecs - before_usecs < 10_000,
            "each block advances the time by microseconds"
        );
        assert_eq!(
            chain.now_usecs(),
            chain.newest_usecs,
            "never before the newest block"
        );
        chain.offset_usecs = 0;
        // The clock is ahead of the newest block by the minute for which it was wrong.
        chain.run(PERSISTENCE_USECS + 20 * SEC, load);
        assert_eq!(chain.next_block(), chain.true_usecs());
    }
}

#[test]
fn follows_a_clock_set_back_once_it_reaches_the_newest_block() {
    let mut chain = Chain::running();
    chain.offset_usecs = -(HOUR as i64);
    chain.run(HOUR + 10 * SEC, Some(SEC));
    assert_eq!(chain.observe(), ClockState::InStep);
    assert_eq!(chain.next_block(), chain.wall_usecs());
}

#[test]
fn starts_on_a_chain_that_is_ahead_of_the_clock() {
    let mut chain = Chain::started(LIMITS, 0, -(DAY as i64));
    assert_eq!(chain.observe(), ClockState::Behind);
    assert_eq!(chain.block(), START + 1);
    assert_eq!(chain.block(), START + 2);
}

#[test]
fn survives_the_extremes_of_both_clocks() {
    for (wall_usecs, elapsed_usecs) in [(u64::MAX, 0), (0, u64::MAX), (u64::MAX, u64::MAX)] {
        for newest_usecs in [0, 1, START, u64::MAX] {
            let mut bounded = BoundedTime::new(LIMITS, newest_usecs, START, SEC);
            bounded.observe(wall_usecs, elapsed_usecs);
            assert!(bounded.now_usecs(wall_usecs, elapsed_usecs) >= newest_usecs);
            bounded.record_block(newest_usecs.saturating_add(1), elapsed_usecs);
            bounded.observe(START, SEC);
        }
    }
}

/// An event in the history of a chain.
#[derive(Clone, Debug)]
enum Event {
    Pass(u64),
    /// Sets the wall clock to this offset from the right time.
    Set(i64),
    Observe,
    Block,
}

fn event(offset: impl Strategy<Value = i64> + 'static) -> impl Strategy<Value = Event> {
    prop_oneof![
        3 => (0..3 * SEC).prop_map(Event::Pass),
        1 => (0..2 * DAY).prop_map(Event::Pass),
        1 => offset.prop_map(Event::Set),
        3 => Just(Event::Observe),
        3 => Just(Event::Block),
    ]
}

impl Chain {
    fn apply(&mut self, event: &Event) {
        match *event {
            Event::Pass(usecs) => self.elapsed_usecs += usecs,
            Event::Set(offset_usecs) => self.offset_usecs = offset_usecs,
            Event::Observe => {
                self.observe();
            }
            Event::Block => {
                self.block();
            }
        }
    }
}

proptest! {
    /// For any sequence of readings, the parent, elapsed time, and the tolerance bound the time
    /// of a block.
    #[test]
    fn bounds_each_block_by_its_parent_and_elapsed_time(
        age_usecs in 0..30 * DAY,
        events in prop::collection::vec(event(-(2 * YEAR as i64)..2 * YEAR as i64), 1..200),
    ) {
        let mut chain = Chain::started(LIMITS, age_usecs, 0);
        chain.block();
        let mut parent_at_usecs = chain.elapsed_usecs;
        for event in &events {
            let parent_usecs = chain.newest_usecs;
            chain.apply(event);
            prop_assert!(chain.now_usecs() >= chain.newest_usecs);
            if let Event::Block = event {
                let elapsed_usecs = chain.elapsed_usecs - parent_at_usecs;
                // A lead that was followed to its end adds the tolerance once more.
                let bound_usecs = elapsed_usecs * (FOLLOW_USECS_PER_USEC + 2) + 2 * TOLERANCE_USECS;
                prop_assert!(chain.newest_usecs > parent_usecs);
                prop_assert!(chain.newest_usecs - parent_usecs <= bound_usecs);
                parent_at_usecs = chain.elapsed_usecs;
            }
        }
    }

    /// No number of readings beyond the limit, over any time, enters a block.
    #[test]
    fn blocks_never_contain_a_clock_beyond_the_limit(
        age_usecs in 0..30 * DAY,
        events in prop::collection::vec(
            event(prop_oneof![Just(0), 31 * DAY as i64..20 * YEAR as i64]),
            1..200,
        ),
    ) {
        let mut chain = Chain::started(LIMITS, age_usecs, 0);
        for (blocks, event) in (1..).zip(&events) {
            chain.apply(event);
            prop_assert!(chain.ahead_usecs() <= blocks, "{} us ahead", chain.ahead_usecs());
        }
        chain.offset_usecs = 0;
        chain.run(2 * SEC, Some(SEC));
        prop_assert!((0..=events.len() as i64).contains(&chain.ahead_usecs()));
    }

    /// After any history within the limit, the ledger's time reaches a clock that stays right.
    #[test]
    fn reaches_a_clock_that_stays_right(
        events in prop::collection::vec(event(-(2 * HOUR as i64)..2 * HOUR as i64), 1..100),
        load in prop_oneof![Just(None), Just(Some(SEC))],
    ) {
        let mut chain = Chain::running();
        for event in &events {
            chain.apply(event);
        }
        // The newest block may be hours ahead, and the line hours behind.
        chain.offset_usecs = 0;
        chain.run(6 * HOUR, load);
        prop_assert_eq!(chain.observe(), ClockState::InStep);
        prop_assert_eq!(chain.next_block(), chain.true_usecs());
    }
}

#[test]
fn processor_time_excludes_the_wait_for_another_thread() {
    const WORK_USECS: u64 = 20_000;
    let clock = Clock::default();
    let begun_usecs = clock.thread_processor_usecs();
    let worked_usecs = std::thread::spawn({
        let clock = clock.clone();
        move || {
            let begun_usecs = clock.thread_processor_usecs();
            loop {
                let worked_usecs = clock.thread_processor_usecs() - begun_usecs;
                if worked_usecs >= WORK_USECS {
                    return worked_usecs;
                }
            }
        }
    })
    .join()
    .unwrap();
    let own_usecs = clock.thread_processor_usecs() - begun_usecs;
    assert!(
        own_usecs < worked_usecs / 2,
        "{own_usecs} us while another thread worked {worked_usecs} us"
    );
}
