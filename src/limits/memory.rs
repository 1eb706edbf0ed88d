//! Memory that many requests share, counted in bytes.
//!
//! A lease counts the bytes that are held, never the bytes that a client announces: otherwise a few
//! headers could take the whole budget.
//!
//! A client may hold at most as many bytes as are free, so the next client always finds memory at
//! once. A large response waits for its memory ([`MemoryLease::reserve`]), in turns by client.
//! Its client may then hold [`PER_FREE_RESERVED`] times as many bytes as are free, so one of several
//! responses that are begun and wait can always be completed.

use crate::{Cancel, ClientKey, FairQueue, QueueFull};
use std::sync::{
    Arc,
    atomic::{
        AtomicUsize,
        Ordering::{Relaxed, SeqCst},
    },
};
use tokio::sync::oneshot;

/// Maximum size of a lease that may use all of a budget: a transaction of the largest size that
/// chains accept by default, or a page of a list.
pub const SMALL_LEASE_BYTES_MAX: usize = 64 * 1024;

/// The fraction of a budget, as a divisor, that larger leases leave free. A few clients with large
/// bodies then do not shut out the many that submit a transaction.
const RESERVED_FOR_SMALL: usize = 4;

/// Number of bytes that a client may hold for each free one when a lease grows.
const PER_FREE: usize = 1;

/// The same when a lease grows for which the client has waited: alone seven eighths. Beside the
/// half that its other leases may hold, there are three eighths for such a lease. Three eighths of
/// the part for large leases are more than a quarter of the budget, the maximum size of a page.
const PER_FREE_RESERVED: usize = 7;

/// Total size of the leases that may wait, as a multiple of the budget. A client alone has half of
/// it, and waits until about eight times its part of the budget is sent.
const WAITING_PER_LIMIT: u64 = 8;

/// Maximum number of waiting leases. The requests that wait for them hold other memory.
const WAITING_MAX: usize = 1_024;

/// A limit on the bytes that all [`MemoryLease`]s hold together. Clones share the budget.
#[derive(Clone, Debug)]
pub struct MemoryBudget(Arc<ThreadHandle>);

/// The handle of one thread. Its reference count is that of the thread's own leases, so that
/// threads do not contend for it.
#[derive(Debug)]
struct ThreadHandle(Arc<Usage>);

/// The limit and the use of a budget.
///
/// A thread that adds a waiter reads the held bytes afterwards. A thread that releases bytes reads
/// the number of waiters afterwards. All of these operations are sequentially consistent, so at
/// least one of the threads sees the change of the other, and no waiter is missed.
#[derive(Debug)]
struct Usage {
    limit_bytes: usize,
    held_bytes: AtomicUsize,
    of_clients: Box<[AtomicUsize]>,
    waiters: FairQueue<Waiter>,
    waiting: Arc<AtomicUsize>,
}

/// A request that waits for a lease.
#[derive(Debug)]
struct Waiter {
    /// Bytes that its lease holds meanwhile.
    own_bytes: usize,
    /// Receives a lease of the requested bytes.
    reply: oneshot::Sender<MemoryLease>,
    _counted: CountedWaiter,
}

/// Counts a waiter until it is dropped.
#[derive(Debug)]
struct CountedWaiter(Arc<AtomicUsize>);

impl CountedWaiter {
    fn new(waiting: &Arc<AtomicUsize>) -> Self {
        waiting.fetch_add(1, SeqCst);
        Self(Arc::clone(waiting))
    }
}

impl Drop for CountedWaiter {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

impl Cancel for Waiter {
    fn is_canceled(&self) -> bool {
        self.reply.is_closed()
    }
}

impl MemoryBudget {
    /// Creates a budget of `limit_bytes`, none of which are held.
    pub fn new(limit_bytes: usize) -> Self {
        let capacity = (limit_bytes as u64).saturating_mul(WAITING_PER_LIMIT);
        let usage = Usage {
            limit_bytes,
            held_bytes: AtomicUsize::new(0),
            of_clients: (0..ClientKey::COUNT)
                .map(|_| AtomicUsize::default())
                .collect(),
            waiters: FairQueue::new(capacity, WAITING_MAX),
            waiting: Arc::default(),
        };
        Self(Arc::new(ThreadHandle(Arc::new(usage))))
    }

    /// Returns a handle to the same budget with a reference count of its own, for the leases of one
    /// thread.
    pub fn for_thread(&self) -> Self {
        Self(Arc::new(ThreadHandle(Arc::clone(&self.0.0))))
    }

    fn usage(&self) -> &Usage {
        &self.0.0
    }

    /// Returns the size of the budget.
    pub fn limit_bytes(&self) -> usize {
        self.usage().limit_bytes
    }

    /// Returns the bytes that leases hold. They exceed the budget if one lease alone does.
    pub fn held_bytes(&self) -> usize {
        self.usage().held_bytes.load(SeqCst)
    }

    /// Creates an empty lease of `client`. A lease of [`ClientKey::NODE`] is limited by the budget
    /// only.
    pub fn lease(&self, client: ClientKey) -> MemoryLease {
        MemoryLease {
            budget: self.clone(),
            client,
            bytes: AtomicUsize::new(0),
            reserved_bytes: 0,
            per_free: PER_FREE,
        }
    }

    /// Returns a lease of `bytes` for a client that has waited for them, or `None` if the budget
    /// has no capacity. `own_bytes` are those of the lease that it enlarges.
    fn grant(&self, client: ClientKey, own_bytes: usize, bytes: usize) -> Option<MemoryLease> {
        let wanted = own_bytes.saturating_add(bytes);
        let mut lease = self.lease(client);
        if !lease.hold(own_bytes, wanted, PER_FREE_RESERVED) {
            return None;
        }
        *lease.bytes.get_mut() = bytes;
        Some(lease)
    }

    /// Grants their leases to the waiters that the budget has capacity for, in turns by client.
    fn serve_waiters(&self) {
        let usage = self.usage();
        while usage.waiting.load(SeqCst) > 0 {
            let mut granted = None;
            let next = usage.waiters.pop_where(|client, bytes, waiter| {
                // Removed without a lease: the next one of its client may need fewer bytes.
                if waiter.is_canceled() {
                    return true;
                }
                let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
                granted = self.grant(client, waiter.own_bytes, bytes);
                granted.is_some()
            });
            let Some((_, waiter)) = next else {
                return;
            };
            // An error means that the request was canceled. The next waiter may get the bytes.
            if let Some(lease) = granted
                && let Err(mut lease) = waiter.reply.send(lease)
            {
                lease.release_to(0);
            }
        }
    }

    /// Returns whether a new lease could hold this many bytes now. It always can if no other lease
    /// holds any, so that what a single request may be is never rejected by the budget.
    pub fn has_capacity(&self, lease_bytes: usize) -> bool {
        self.free_after(self.held_bytes(), 0, lease_bytes).is_some()
    }

    /// Returns the bytes that are free after a lease has grown to `lease_bytes` while all leases
    /// hold `held`, of which `own` are its own. Returns `None` if it may not grow, and
    /// [`usize::MAX`] if it is the only lease.
    fn free_after(&self, held: usize, own: usize, lease_bytes: usize) -> Option<usize> {
        let others = held.saturating_sub(own);
        let limit = match lease_bytes {
            0..=SMALL_LEASE_BYTES_MAX => self.limit_bytes(),
            _ => self.limit_bytes() - self.limit_bytes() / RESERVED_FOR_SMALL,
        };
        match others {
            0 => Some(usize::MAX),
            _ => limit.checked_sub(others.saturating_add(lease_bytes)),
        }
    }
}

/// Bytes of a [`MemoryBudget`] that one request holds, released when it is dropped.
#[derive(Debug)]
pub struct MemoryLease {
    budget: MemoryBudget,
    client: ClientKey,
    /// Relaxed, because it orders no other memory.
    bytes: AtomicUsize,
    /// Bytes that the lease holds even if it is smaller, or 0 if nothing is reserved.
    reserved_bytes: usize,
    /// Number of bytes that the client may hold for each free one when the lease grows.
    per_free: usize,
}

impl MemoryLease {
    /// Returns the bytes of the lease.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Relaxed)
    }

    /// Adds bytes to the lease and returns true, or returns false and changes nothing if the budget
    /// has no capacity for them, or the client holds its part of it. Reserved bytes always fit.
    pub fn try_grow(&self, added_bytes: usize) -> bool {
        let own = self.bytes();
        let wanted = own.saturating_add(added_bytes);
        let held = own.max(self.reserved_bytes);
        let is_held = wanted <= held || self.hold(held, wanted, self.per_free);
        if is_held {
            self.bytes.store(wanted, Relaxed);
        }
        is_held
    }

    /// Counts the bytes by which a lease grows from `own` to `wanted`, if the client then holds at
    /// most `per_free` times as many as are free. Returns whether it does.
    fn hold(&self, own: usize, wanted: usize, per_free: usize) -> bool {
        let added = wanted - own;
        let usage = self.budget.usage();
        let of_client = &usage.of_clients[self.client.index()];
        // Not added before it is granted: a waiter that is checked meanwhile would not be checked
        // again. Concurrent leases of one client may exceed its part by one of them.
        let client_bytes = of_client.load(SeqCst).saturating_add(added);
        let grown = |held: usize| {
            let free = self.budget.free_after(held, own, wanted)?;
            let is_part = client_bytes <= free.saturating_mul(per_free);
            (is_part || self.client == ClientKey::NODE).then(|| held.saturating_add(added))
        };
        let is_held = usage.held_bytes.fetch_update(SeqCst, SeqCst, grown).is_ok();
        if is_held {
            of_client.fetch_add(added, SeqCst);
        }
        is_held
    }

    /// Waits until the budget has capacity for `added_bytes` more, and reserves them: the lease
    /// holds them until [`Self::release_reserve`], and grows into them.
    ///
    /// # Errors
    ///
    /// Returns [`QueueFull`] if too many leases wait, or if those of the client are more than its
    /// part of them.
    pub async fn reserve(&mut self, added_bytes: usize) -> Result<(), QueueFull<()>> {
        let own_bytes = self.bytes();
        let usage = self.budget.usage();
        // A lease that waits is not overtaken.
        if usage.waiting.load(SeqCst) == 0
            && let Some(granted) = self.budget.grant(self.client, own_bytes, added_bytes)
        {
            self.set_reserve(granted);
            return Ok(());
        }
        let (reply, granted) = oneshot::channel();
        let waiter = Waiter {
            own_bytes,
            reply,
            _counted: CountedWaiter::new(&usage.waiting),
        };
        let pushed = usage
            .waiters
            .try_push(self.client, added_bytes as u64, waiter);
        pushed.map_err(|full| QueueFull {
            job: (),
            reached: full.reached,
            retry_after_secs: full.retry_after_secs,
        })?;
        self.budget.serve_waiters();
        // No error occurs: the queue, which the lease retains, has the sender until it sends.
        if let Ok(granted) = granted.await {
            self.set_reserve(granted);
        }
        Ok(())
    }

    /// Reserves the bytes of another lease of the same client and budget.
    fn set_reserve(&mut self, mut granted: Self) {
        let bytes = std::mem::take(granted.bytes.get_mut());
        self.reserved_bytes = *self.bytes.get_mut() + bytes;
        self.per_free = PER_FREE_RESERVED;
    }

    /// Releases the reserved bytes that the lease does not use.
    pub fn release_reserve(&mut self) {
        let reserved_bytes = std::mem::take(&mut self.reserved_bytes);
        if self.release_bytes(reserved_bytes.saturating_sub(self.bytes())) {
            self.budget.serve_waiters();
        }
    }

    /// Releases all bytes of the lease, which can grow again. Reserved bytes stay held.
    pub fn release(&self) {
        let own = self.bytes.swap(0, Relaxed);
        if self.release_bytes(own.saturating_sub(self.reserved_bytes)) {
            self.budget.serve_waiters();
        }
    }

    /// Releases the bytes of the lease above `bytes`. Reserved bytes stay held.
    pub fn shrink_to(&mut self, bytes: usize) {
        if self.release_to(bytes) {
            self.budget.serve_waiters();
        }
    }

    /// Releases the bytes of the lease above `bytes`, and returns whether there were any.
    fn release_to(&mut self, bytes: usize) -> bool {
        let own = self.bytes();
        *self.bytes.get_mut() = own.min(bytes);
        self.release_bytes(own.saturating_sub(bytes.max(self.reserved_bytes)))
    }

    /// Releases bytes that the lease does not count any more, and returns whether there are any.
    fn release_bytes(&self, bytes: usize) -> bool {
        if bytes == 0 {
            return false;
        }
        let usage = self.budget.usage();
        usage.of_clients[self.client.index()].fetch_sub(bytes, SeqCst);
        usage.held_bytes.fetch_sub(bytes, SeqCst);
        true
    }
}

impl Drop for MemoryLease {
    fn drop(&mut self) {
        self.release_reserve();
        self.shrink_to(0);
    }
}

#[cfg(test)]
mod tests;
