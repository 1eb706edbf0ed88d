//! The rule that derives the ledger's time from clock readings, as a pure value.
//!
//! A wrong reading of the wall clock must not enter a block, because block time never decreases: a
//! block of next year makes every transaction expire until next year. So the wall clock is trusted
//! only near a *line*, which starts at a trusted time and advances with elapsed time alone.
//!
//! * A wall clock at most [`TOLERANCE_USECS`] above the line is the ledger's time. Above that, the
//!   line itself is. A block moves the line down to its own time and never up, so blocks cannot
//!   gain the tolerance repeatedly.
//! * The line follows a wall clock that stays ahead of it for [`PERSISTENCE_USECS`], at most
//!   [`FOLLOW_USECS_PER_USEC`] as fast as time passes, unless the clock is more than
//!   `jump_max_usecs` ahead.
//! * At a start the line begins at the wall clock, if that is at most `jump_max_usecs` ahead of the
//!   newest block or confirmed by the operator. Otherwise the clock is not trusted until one of
//!   both holds.
//!
//! `docs/decisions/clock.md` compares the alternatives.

/// Lead of the wall clock over elapsed time that is accepted immediately.
///
/// Covers a leap second, the steps of common NTP clients, and a thread that is preempted between
/// its readings of the two clocks. A wrong clock shifts a block by no more than this.
pub(super) const TOLERANCE_USECS: u64 = 5_000_000;

/// Time for which a larger lead must persist before the line follows it.
///
/// Longer than a wrong reading that corrects itself, and short for a lead that is correct.
pub(super) const PERSISTENCE_USECS: u64 = 60_000_000;

/// Additional time by which the line advances while it follows, per time elapsed.
///
/// The line then runs ten times as fast as time: an hour ahead is reached in 6.7 minutes, a day in
/// 2.7 hours. A wrong clock that persists for a minute more than [`PERSISTENCE_USECS`] gains 9
/// minutes, which the chain waits for when it is corrected.
pub(super) const FOLLOW_USECS_PER_USEC: u64 = 9;

/// Maximum time between two observations that counts as observed.
///
/// The mempool observes at least once per second. After a longer pause, such as a suspend, the
/// observations do not show that the clock was ahead for all of it.
pub(super) const OBSERVED_USECS_MAX: u64 = 5_000_000;

/// Earliest time of a system clock that was ever set: 2026-01-01.
pub(super) const EARLIEST_USECS: u64 = 1_767_225_600_000_000;

/// Configured limits of belief.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClockLimits {
    /// Maximum trusted lead of the wall clock over the newest block, in microseconds.
    pub(crate) jump_max_usecs: u64,
    /// Wall clock up to which the operator has confirmed the time, in microseconds since the Unix
    /// epoch. Applies at a start.
    pub(crate) confirmed_until_usecs: u64,
    /// Earliest trusted time on a chain without blocks after genesis, in microseconds since the
    /// Unix epoch.
    pub(crate) earliest_usecs: u64,
}

/// Relation of the wall clock to the ledger's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockState {
    /// The wall clock is the ledger's time.
    InStep,
    /// The wall clock is ahead within the limit. The ledger's time follows if that persists.
    Ahead,
    /// The wall clock is ahead by more than the limit. The ledger's time does not follow.
    TooFarAhead,
    /// The wall clock is behind the newest block. Block time hardly advances until the clock
    /// reaches it.
    Behind,
    /// No reading of the wall clock since the start was trustworthy. The node orders no blocks.
    Untrusted,
}

/// A run of observations in which the wall clock was ahead of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Lead {
    observed_at_elapsed_usecs: u64,
    observed_for_usecs: u64,
}

/// The ledger's time: the wall clock, bounded by elapsed time and the newest block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BoundedTime {
    limits: ClockLimits,
    /// Time of the newest ordered block. 0 if only genesis exists.
    newest_block_usecs: u64,
    /// The line is at `line_usecs` when elapsed time is `line_elapsed_usecs`.
    line_usecs: u64,
    line_elapsed_usecs: u64,
    lead: Option<Lead>,
    is_trusted: bool,
    state: ClockState,
}

impl BoundedTime {
    /// Creates the value for a start on a chain whose newest block has the time
    /// `newest_block_usecs`; 0 means genesis.
    pub(crate) fn new(
        limits: ClockLimits,
        newest_block_usecs: u64,
        wall_usecs: u64,
        elapsed_usecs: u64,
    ) -> Self {
        let mut started = Self {
            limits,
            newest_block_usecs,
            line_usecs: newest_block_usecs,
            line_elapsed_usecs: elapsed_usecs,
            lead: None,
            is_trusted: false,
            state: ClockState::Untrusted,
        };
        started.observe(wall_usecs, elapsed_usecs);
        started
    }

    /// Returns the ledger's time, in microseconds since the Unix epoch. Never before the newest
    /// ordered block.
    pub(crate) fn now_usecs(&self, wall_usecs: u64, elapsed_usecs: u64) -> u64 {
        let line_usecs = self.line_at(elapsed_usecs);
        let is_near = wall_usecs <= line_usecs.saturating_add(TOLERANCE_USECS);
        let bounded_usecs = if is_near { wall_usecs } else { line_usecs };
        bounded_usecs.max(self.newest_block_usecs)
    }

    /// Updates the line and the state with a reading. The caller must call this about once per
    /// second and before each block.
    pub(crate) fn observe(&mut self, wall_usecs: u64, elapsed_usecs: u64) {
        if self.is_trusted {
            self.follow(wall_usecs, elapsed_usecs);
        } else if self.is_trustworthy(wall_usecs, elapsed_usecs) {
            self.is_trusted = true;
            self.set_line(wall_usecs.max(self.newest_block_usecs), elapsed_usecs);
        }
        self.state = self.state_at(wall_usecs, elapsed_usecs);
    }

    /// Records that a block with the time `block_usecs` was ordered.
    pub(crate) fn record_block(&mut self, block_usecs: u64, elapsed_usecs: u64) {
        if block_usecs < self.line_at(elapsed_usecs) {
            self.set_line(block_usecs, elapsed_usecs);
        }
        self.newest_block_usecs = block_usecs;
    }

    /// Returns whether the wall clock has been trusted since the start. Blocks may be ordered
    /// only then.
    pub(crate) fn is_trusted(&self) -> bool {
        self.is_trusted
    }

    /// Returns the state at the last observation.
    pub(crate) fn state(&self) -> ClockState {
        self.state
    }

    pub(crate) fn newest_block_usecs(&self) -> u64 {
        self.newest_block_usecs
    }

    /// Returns the value with a newest block that was recorded elsewhere, unless it has a newer
    /// one.
    pub(crate) fn with_newest_block(self, newest_block_usecs: u64) -> Self {
        Self {
            newest_block_usecs: self.newest_block_usecs.max(newest_block_usecs),
            ..self
        }
    }

    pub(crate) fn limits(&self) -> ClockLimits {
        self.limits
    }

    fn has_blocks(&self) -> bool {
        self.newest_block_usecs > 0
    }

    fn line_at(&self, elapsed_usecs: u64) -> u64 {
        let since_usecs = elapsed_usecs.saturating_sub(self.line_elapsed_usecs);
        self.line_usecs.saturating_add(since_usecs)
    }

    fn set_line(&mut self, line_usecs: u64, elapsed_usecs: u64) {
        self.line_usecs = line_usecs;
        self.line_elapsed_usecs = elapsed_usecs;
    }

    fn is_trustworthy(&self, wall_usecs: u64, elapsed_usecs: u64) -> bool {
        if !self.has_blocks() {
            return wall_usecs >= self.limits.earliest_usecs;
        }
        let lead_usecs = wall_usecs.saturating_sub(self.line_at(elapsed_usecs));
        lead_usecs <= self.limits.jump_max_usecs || wall_usecs <= self.limits.confirmed_until_usecs
    }

    /// Returns whether the line may follow the lead. On a chain without blocks no block time
    /// contradicts a lead.
    fn may_follow(&self, lead_usecs: u64) -> bool {
        lead_usecs <= self.limits.jump_max_usecs || !self.has_blocks()
    }

    fn follow(&mut self, wall_usecs: u64, elapsed_usecs: u64) {
        let line_usecs = self.line_at(elapsed_usecs);
        let lead_usecs = wall_usecs.saturating_sub(line_usecs);
        if lead_usecs <= TOLERANCE_USECS || !self.may_follow(lead_usecs) {
            self.lead = None;
            return;
        }
        let before = self.lead.unwrap_or(Lead {
            observed_at_elapsed_usecs: elapsed_usecs,
            observed_for_usecs: 0,
        });
        let since_usecs = elapsed_usecs.saturating_sub(before.observed_at_elapsed_usecs);
        let since_usecs = since_usecs.min(OBSERVED_USECS_MAX);
        let observed_for_usecs = before.observed_for_usecs.saturating_add(since_usecs);
        self.lead = Some(Lead {
            observed_at_elapsed_usecs: elapsed_usecs,
            observed_for_usecs,
        });
        if observed_for_usecs < PERSISTENCE_USECS {
            return;
        }
        let step_usecs = since_usecs.saturating_mul(FOLLOW_USECS_PER_USEC);
        if !self.has_blocks() || lead_usecs <= step_usecs.saturating_add(TOLERANCE_USECS) {
            self.set_line(wall_usecs, elapsed_usecs);
            self.lead = None;
        } else {
            self.set_line(line_usecs.saturating_add(step_usecs), elapsed_usecs);
        }
    }

    fn state_at(&self, wall_usecs: u64, elapsed_usecs: u64) -> ClockState {
        let lead_usecs = wall_usecs.saturating_sub(self.line_at(elapsed_usecs));
        if !self.is_trusted {
            ClockState::Untrusted
        } else if wall_usecs.saturating_add(TOLERANCE_USECS) < self.newest_block_usecs {
            ClockState::Behind
        } else if lead_usecs <= TOLERANCE_USECS {
            ClockState::InStep
        } else if self.may_follow(lead_usecs) {
            ClockState::Ahead
        } else {
            ClockState::TooFarAhead
        }
    }
}
