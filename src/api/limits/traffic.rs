//! The heaviest clients, senders and functions of the last seconds, in bounded memory.
//!
//! Each thread that serves requests has sketches of its own, and a report adds them. A busy thread
//! records a random sample of its requests only, each with the weight of those that it stands for.

use super::sampling::Sampling;
use ledger_actors::thread_processor_usecs;
use ledger_limits::network_of;
use ledger_metrics::{Heaviest, HeavyHitters, Traffic};
use ledger_types::{AccountAddress, EntryFunction, Identifier, ModuleId, SignedTransaction};
use std::{
    cell::{Cell, RefCell},
    fmt,
    future::poll_fn,
    hash::Hash,
    mem,
    net::IpAddr,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// Number of keys of each kind that a thread counts. A key with more than a 128th of the work of
/// the thread is among them. The three kinds take less than 64 KB.
const SLOTS: usize = 128;

/// Time in which the weight of a request falls to 1/e, so that nearly all of the weight is in the
/// last 10 s, and a flood is the heaviest within a second or two.
const MEMORY: Duration = Duration::from_secs(5);

/// Estimated time of the check of a signature in a batch, in microseconds.
const SIGNATURE_USECS: u64 = 25;

/// A function of a module.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionName {
    /// The module.
    pub module: ModuleId,
    /// Name of the function.
    pub name: Identifier,
}

impl From<&EntryFunction> for FunctionName {
    fn from(call: &EntryFunction) -> Self {
        Self {
            module: call.module.clone(),
            name: call.function.clone(),
        }
    }
}

/// Writes `ADDRESS::MODULE::NAME`.
impl fmt::Display for FunctionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}::{}", self.module, self.name)
    }
}

/// The heaviest keys of each kind.
#[derive(Clone, Debug)]
pub struct TrafficReport {
    /// Addresses of clients, with IPv6 their networks of 64 bits.
    pub addresses: Heaviest<IpAddr>,
    /// Senders of submitted transactions.
    pub senders: Heaviest<AccountAddress>,
    /// Functions that submissions, views and simulations call.
    pub functions: Heaviest<FunctionName>,
}

/// The execution of a transaction in a block.
#[derive(Clone, Copy, Debug)]
pub struct Execution<'a> {
    /// The transaction.
    pub transaction: &'a SignedTransaction,
    /// Processor time of the executor for it, in microseconds.
    pub usecs: f64,
}

/// The traffic of all threads.
#[derive(Debug)]
pub struct TrafficMeter {
    /// Executions in blocks.
    blocks: Mutex<Sketches>,
    /// One for each thread that serves requests. All of them start with the listeners.
    threads: Mutex<Vec<Arc<Mutex<Sketches>>>>,
}

/// The traffic of one thread.
#[derive(Debug)]
struct Sketches {
    addresses: HeavyHitters<IpAddr>,
    senders: HeavyHitters<AccountAddress>,
    functions: HeavyHitters<FunctionName>,
}

impl Sketches {
    fn new(now: Instant) -> Self {
        Self {
            addresses: HeavyHitters::new(SLOTS, MEMORY, now),
            senders: HeavyHitters::new(SLOTS, MEMORY, now),
            functions: HeavyHitters::new(SLOTS, MEMORY, now),
        }
    }
}

impl Default for TrafficMeter {
    fn default() -> Self {
        Self {
            blocks: Mutex::new(Sketches::new(Instant::now())),
            threads: Mutex::default(),
        }
    }
}

impl TrafficMeter {
    /// Adds the work of executions to their senders and functions.
    pub fn record_executions<'a>(&self, executions: impl Iterator<Item = Execution<'a>>) {
        let now = Instant::now();
        let mut blocks = locked(&self.blocks);
        for Execution { transaction, usecs } in executions {
            let work = Traffic {
                work_usecs: usecs,
                ..Traffic::default()
            };
            blocks.senders.add(&transaction.raw.sender, work, now);
            if let Some(call) = transaction.raw.entry_function() {
                blocks.functions.add(&call.into(), work, now);
            }
        }
    }

    /// Returns the recorder of a further thread.
    pub(crate) fn recorder(&self) -> TrafficRecorder {
        let now = Instant::now();
        let sketches = Arc::new(Mutex::new(Sketches::new(now)));
        locked(&self.threads).push(Arc::clone(&sketches));
        TrafficRecorder {
            sketches,
            sampling: RefCell::new(Sampling::new(now)),
        }
    }

    /// Returns at most `count` keys of each kind.
    pub fn heaviest(&self, count: usize) -> TrafficReport {
        let now = Instant::now();
        let threads = locked(&self.threads).clone();
        let threads = threads.iter().map(|thread| locked(thread));
        let mut threads: Vec<_> = threads.chain([locked(&self.blocks)]).collect();
        let addresses = threads.iter_mut().map(|of| of.addresses.per_second(now));
        let addresses = Heaviest::sum(addresses, count);
        let senders = threads.iter_mut().map(|of| of.senders.per_second(now));
        let senders = Heaviest::sum(senders, count);
        let functions = threads.iter_mut().map(|of| of.functions.per_second(now));
        TrafficReport {
            addresses,
            senders,
            functions: Heaviest::sum(functions, count),
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Valid even if the holder panicked: each change is complete.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The recorder of one thread.
#[derive(Debug)]
pub(crate) struct TrafficRecorder {
    sketches: Arc<Mutex<Sketches>>,
    sampling: RefCell<Sampling>,
}

impl TrafficRecorder {
    /// Returns the work of a request that arrives `now`, or `None` if it is not recorded.
    pub(crate) fn sample(&self, now: Instant) -> Option<RequestWork> {
        let stands_for = self.sampling.borrow_mut().sample(now)?;
        Some(RequestWork {
            stands_for,
            usecs: Cell::new(0),
            subjects: RefCell::default(),
        })
    }

    /// Records the response to a request of the client at this address.
    pub(crate) fn record(&self, work: &RequestWork, address: Option<IpAddr>, is_rejected: bool) {
        let now = Instant::now();
        let subjects = mem::take(&mut *work.subjects.borrow_mut());
        // At least one, so that each request has a weight.
        let work_usecs = work.usecs.get().max(1) as f64;
        let traffic = |is_rejected: bool| Traffic {
            requests: 1.0,
            rejected: if is_rejected { 1.0 } else { 0.0 },
            work_usecs,
        };
        let weight = f64::from(work.stands_for);
        let parts: f64 = subjects.iter().map(|of| f64::from(of.stands_for)).sum();
        let mut sketches = locked(&self.sketches);
        if let Some(address) = address {
            let traffic = traffic(is_rejected) * weight;
            sketches.addresses.add(&network_of(address), traffic, now);
        }
        for subject in &subjects {
            let mut part = traffic(subject.is_rejected.unwrap_or(is_rejected));
            part.work_usecs /= parts;
            let part = part * (weight * f64::from(subject.stands_for));
            if let Some(sender) = &subject.sender {
                sketches.senders.add(sender, part, now);
            }
            if let Some(function) = &subject.function {
                sketches.functions.add(function, part, now);
            }
        }
    }
}

/// The sender and the function that a request is charged to.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    sender: Option<AccountAddress>,
    function: Option<FunctionName>,
    signatures: u64,
    /// Number of transactions of the request that the subject stands for.
    stands_for: u32,
    /// Whether the transaction was rejected. That of the response if it is `None`.
    is_rejected: Option<bool>,
}

impl Subject {
    /// Returns the subject of a submission.
    pub(crate) fn of_submission(signed: &SignedTransaction) -> Self {
        Self {
            sender: Some(signed.raw.sender),
            function: signed.raw.entry_function().map(Into::into),
            signatures: signed.authenticator.billed_signatures(),
            stands_for: 1,
            is_rejected: None,
        }
    }

    /// Returns the subject of a call that is executed outside of blocks. It is not signed, so it
    /// has no sender.
    pub(crate) fn of_call(call: &EntryFunction) -> Self {
        Self {
            sender: None,
            function: Some(call.into()),
            signatures: 0,
            stands_for: 1,
            is_rejected: None,
        }
    }
}

/// The work of a request that is recorded.
///
/// Work is the processor time of the HTTP worker, of queries on reader threads and of renderings,
/// as measured, and of the checks of signatures, as estimated. A look-up of a few rows counts only if
/// the HTTP worker makes it.
#[derive(Debug)]
pub(crate) struct RequestWork {
    /// Number of requests that the request stands for.
    stands_for: u32,
    /// Processor time, in microseconds.
    usecs: Cell<u64>,
    subjects: RefCell<Vec<Subject>>,
}

impl RequestWork {
    /// Adds processor time of a thread that has worked for the request, in microseconds.
    pub(crate) fn add(&self, usecs: u64) {
        self.usecs.set(self.usecs.get().saturating_add(usecs));
    }

    /// Charges the request to a subject, which stands for this many of its transactions.
    pub(crate) fn charge(&self, subject: Subject, stands_for: u32) {
        let signatures = subject.signatures.saturating_mul(stands_for.into());
        self.add(signatures.saturating_mul(SIGNATURE_USECS));
        self.subjects.borrow_mut().push(Subject {
            stands_for,
            ..subject
        });
    }

    /// Notes which of the subjects were rejected, in the order in which they were charged.
    pub(crate) fn set_rejected(&self, are_rejected: impl Iterator<Item = bool>) {
        let mut subjects = self.subjects.borrow_mut();
        for (subject, is_rejected) in subjects.iter_mut().zip(are_rejected) {
            subject.is_rejected = Some(is_rejected);
        }
    }

    /// Runs a future, and adds the time of its polls.
    pub(crate) async fn measure<F: Future + Unpin>(
        work: Option<&Self>,
        mut future: F,
    ) -> F::Output {
        let Some(work) = work else {
            return future.await;
        };
        poll_fn(|context| {
            let (output, usecs) = measured(true, || Pin::new(&mut future).poll(context));
            work.add(usecs);
            output
        })
        .await
    }
}

/// Runs work. Returns its output with the processor time of the thread for it, in microseconds, or
/// 0 unless it is measured.
pub(crate) fn measured<T>(is_measured: bool, work: impl FnOnce() -> T) -> (T, u64) {
    if !is_measured {
        return (work(), 0);
    }
    let began_usecs = thread_processor_usecs();
    let output = work();
    (output, thread_processor_usecs().saturating_sub(began_usecs))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ledger_test_support::draft::draft;

    /// Number of requests that stands in a second of the report for one request.
    const ONE: f64 = 1.0 / MEMORY.as_secs() as f64;

    fn sender(number: u8) -> AccountAddress {
        AccountAddress::new([number; 32])
    }

    fn subject(number: u8) -> Subject {
        Subject {
            sender: Some(sender(number)),
            function: None,
            signatures: 0,
            stands_for: 1,
            is_rejected: None,
        }
    }

    #[test]
    fn divides_the_work_of_a_batch_among_its_subjects() {
        let meter = TrafficMeter::default();
        let recorder = meter.recorder();
        let work = recorder.sample(Instant::now()).unwrap();
        work.add(100);
        for number in [1, 2] {
            work.charge(subject(number), 10);
        }
        work.set_rejected([true, false].into_iter());
        recorder.record(&work, Some([127, 0, 0, 1].into()), false);
        let report = meter.heaviest(10);
        let all = report.addresses.keys[0].1;
        assert_eq!((all.requests, all.work_usecs), (ONE, 100.0 * ONE));
        let rejected = Traffic {
            requests: 10.0 * ONE,
            rejected: 10.0 * ONE,
            work_usecs: 50.0 * ONE,
        };
        let accepted = Traffic {
            rejected: 0.0,
            ..rejected
        };
        let expected = [(sender(1), rejected), (sender(2), accepted)];
        assert_eq!(report.senders.keys, expected);
        assert_eq!(report.senders.total.requests, 20.0 * ONE);
    }

    #[test]
    fn adds_the_traffic_of_all_threads_and_of_one_network() {
        let meter = TrafficMeter::default();
        for address in ["2001:db8::1", "2001:db8::2", "10.0.0.1"] {
            let recorder = meter.recorder();
            let work = recorder.sample(Instant::now()).unwrap();
            work.add(10);
            work.charge(subject(3), 1);
            recorder.record(&work, Some(address.parse().unwrap()), true);
        }
        let report = meter.heaviest(1);
        let (network, traffic) = report.addresses.keys[0];
        assert_eq!(network, "2001:db8::".parse::<IpAddr>().unwrap());
        assert_eq!((traffic.requests, traffic.rejected), (2.0 * ONE, 2.0 * ONE));
        assert_eq!(report.senders.keys[0].1.requests, 3.0 * ONE);
        assert_eq!(report.addresses.keys.len(), 1);
    }

    #[test]
    fn adds_the_executions_of_blocks_to_requests() {
        let meter = TrafficMeter::default();
        let recorder = meter.recorder();
        let transaction = draft(1, 0).checked().transaction().clone();
        let work = recorder.sample(Instant::now()).unwrap();
        work.charge(Subject::of_submission(&transaction), 1);
        recorder.record(&work, None, false);
        let execution = Execution {
            transaction: &transaction,
            usecs: 75.0,
        };
        meter.record_executions([execution, execution].into_iter());
        let report = meter.heaviest(10);
        let expected = Traffic {
            requests: ONE,
            rejected: 0.0,
            work_usecs: 175.0 * ONE,
        };
        assert_eq!(report.senders.keys, [(transaction.raw.sender, expected)]);
        assert_eq!(report.functions.keys[0].1, expected);
        assert!(report.addresses.keys.is_empty());
    }

    #[test]
    fn charges_signatures() {
        let meter = TrafficMeter::default();
        let recorder = meter.recorder();
        let work = recorder.sample(Instant::now()).unwrap();
        let subject = Subject {
            signatures: 2,
            ..subject(1)
        };
        work.charge(subject, 1);
        recorder.record(&work, None, false);
        let usecs = meter.heaviest(1).senders.keys[0].1.work_usecs / ONE;
        assert!((usecs - 50.0).abs() < 1e-9, "{usecs}");
    }
}
