//! How many of something there are at once.

use crate::state::ApiState;
use std::{
    rc::Rc,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

/// So many places. Its count orders no other memory, hence relaxed.
#[derive(Debug)]
pub(crate) struct Places {
    max: usize,
    taken: AtomicUsize,
}

impl Places {
    /// All of them are free.
    pub fn new(max: usize) -> Self {
        Self {
            max,
            taken: AtomicUsize::new(0),
        }
    }
}

/// A place, given back when dropped, so that a request whose client went away cannot keep it. It finds where it belongs by
/// its thread's state, so that no thread waits for another where it is counted who has that.
pub(crate) struct Place {
    state: Rc<ApiState>,
    of: fn(&ApiState) -> &Places,
}

impl Place {
    /// Takes a place, or gives `None` where all are taken.
    pub fn take(state: &Rc<ApiState>, of: fn(&ApiState) -> &Places) -> Option<Self> {
        let places = of(state);
        let one_more = |taken| (taken < places.max).then_some(taken + 1);
        let taken = places.taken.fetch_update(Relaxed, Relaxed, one_more);
        taken.is_ok().then(|| Self {
            state: Rc::clone(state),
            of,
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        (self.of)(&self.state).taken.fetch_sub(1, Relaxed);
    }
}
