//! The JSON of a snapshot: every stage of the node within one second.
//!
//! `GET /snapshot`, the events of `GET /events` and the pages of the console have these types.
//! A field without a value is `null`: the system or the stage does not have the figure.
//!
//! `Name` is the type of names: static texts in the node, and owned ones in a client that has read
//! the JSON. A client ignores fields that it does not know, because the node may be newer.

use serde::{Deserialize, Serialize, Serializer};

/// The state of the node within the newest interval of about one second.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Snapshot<Name = &'static str> {
    /// Number of the snapshot since the start of the node, from 1.
    pub sequence: u64,
    /// Monotonic time since the start of the sampler, in milliseconds. The unit of `since_ms` of
    /// `GET /history`.
    pub uptime_ms: u64,
    /// Time of the system clock, in milliseconds since the Unix epoch.
    pub unix_ms: u64,
    /// Length of the interval that rates and shares refer to, in milliseconds.
    pub interval_ms: u64,
    /// Height of the newest durable block.
    pub height: u64,
    /// Version of the newest durable transaction.
    pub version: u64,
    /// The stage that limits the throughput.
    pub limit: Limit<Name>,
    /// Use of the processor.
    pub processor: Processor,
    /// The stages, in the order in which a transaction meets them, then those beside its way.
    pub stages: Vec<Stage<Name>>,
    /// The messages between stages.
    pub edges: Vec<Edge<Name>>,
    /// The newest value of each series of [`History`], in the same order.
    pub series: Vec<SeriesValue<Name>>,
    /// The limits that have rejected requests since the start, with their rates now.
    pub rejections: Vec<Rejection<Name>>,
    /// All threads by name. Empty if the system does not measure threads.
    pub threads: Vec<ThreadGroup>,
}

/// The kind of a [`Limit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitKind {
    /// The threads of a stage are busy.
    Busy,
    /// The syncs of the disk take the time of the writer.
    Disk,
    /// All cores are busy, and no stage is at its limit.
    Processor,
    /// A capacity rejects requests although its stage has time.
    Capacity,
    /// No stage is at its limit: the clients send no more.
    Clients,
    /// A kind that this program does not know, of a newer node.
    #[serde(other)]
    Unknown,
}

/// The stage that limits the throughput, in the newest seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limit<Name = &'static str> {
    /// Kind of the limit.
    pub kind: LimitKind,
    /// Name of the stage. `None` if the processor or the clients are the limit.
    pub stage: Option<Name>,
    /// One sentence for operators that says why.
    pub sentence: String,
    /// What helps, with the keys of settings between backticks. Empty if the clients are the limit.
    pub remedy: String,
    /// Name of the setting of a capacity that rejects. The setting may be a constant in words.
    pub setting: Option<Name>,
    /// The largest consumers of processor time, largest first, if the processor is the limit.
    pub consumers: Vec<Consumer>,
    /// Time since which this kind and stage are named, in milliseconds.
    pub since_ms: u64,
}

/// A group of threads with its share of the processor time of the process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Consumer {
    /// Name of the threads.
    pub thread: String,
    /// Share of the processor time of the process, in thousandths.
    pub share_permille: u64,
}

/// Use of the processor by the process and by the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Processor {
    /// Number of cores that the process may use.
    pub cores: usize,
    /// Processor time of the process, in thousandths of the time of all `cores`.
    pub busy_permille: Option<u64>,
    /// Time for which threads of the process waited for a core, in thousandths of the time of all
    /// `cores`. Above 1,000 if many threads wait.
    pub core_wait_permille: Option<u64>,
    /// Busy time of the whole machine, in thousandths of the time of its cores.
    pub machine_busy_permille: Option<u64>,
}

/// The kind of a [`Stage`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StageKind {
    /// An actor with its mailbox. Actors may share a thread.
    Actor,
    /// A group of threads of one name.
    Threads,
    /// A queue or a set without threads of its own.
    Queue,
    /// A kind that this program does not know, of a newer node.
    #[serde(other)]
    Unknown,
}

/// An actor, a group of threads, or a queue on the way of a transaction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stage<Name = &'static str> {
    /// Name of the stage, unique and the same in each snapshot.
    pub name: Name,
    /// Name in words, for a heading.
    pub title: Name,
    /// Kind of the stage.
    pub kind: StageKind,
    /// Whether the way of a transaction from the client to the commit includes the stage.
    pub is_on_path: bool,
    /// Name of its threads, which other actors may share. `None` without threads.
    pub thread: Option<Name>,
    /// Number of its threads.
    pub threads: usize,
    /// Processor time of the threads, in thousandths of the time of all of them. Of an actor, the
    /// part of the thread's processor time that the actor took.
    pub busy_permille: Option<u64>,
    /// Time for which the threads waited for a core, in the same unit.
    pub core_wait_permille: Option<u64>,
    /// Time in handlers or jobs, waiting included, in thousandths of the time of all threads. Near
    /// 1,000 the threads never had to wait for work.
    pub occupied_permille: Option<u64>,
    /// Messages, jobs or transactions that arrived, per second.
    pub in_per_s: Option<f64>,
    /// Messages, jobs or transactions that were done, per second.
    pub out_per_s: Option<f64>,
    /// Requests that were rejected, per second.
    pub rejected_per_s: Option<f64>,
    /// The queue in front of the stage. `None` if the node cannot observe it.
    pub queue: Option<Queue<Name>>,
    /// Syncs of the disk, of the writer.
    pub sync: Option<SyncShare>,
}

/// The queue in front of a stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queue<Name = &'static str> {
    /// The unit of `waiting` and `capacity`: `requests`, `checks`, `jobs`, `ms`, `blocks`,
    /// `transactions`, or `waits`.
    pub unit: Name,
    /// Amount that waits at the end of the interval.
    pub waiting: u64,
    /// Maximum of `waiting`. `None` if the protocol bounds the queue.
    pub capacity: Option<u64>,
    /// Name of the setting that is the capacity, if it is one.
    pub setting: Option<Name>,
    /// Age of the oldest entry that waits, in milliseconds; an upper bound. `None` if none waits or
    /// the age is not known.
    pub oldest_ms: Option<u64>,
    /// Median of the time in the queue of the entries that left it in the interval, in
    /// microseconds. Histograms have bounds of powers of two, so it is exact within a factor of two.
    pub waited_p50_us: Option<u64>,
    /// 99th percentile of that time.
    pub waited_p99_us: Option<u64>,
    /// Whether work waited whenever the stage could take some, in the whole interval. The queue of
    /// an actor is observed at both ends of the interval only.
    pub was_never_empty: bool,
}

/// The share of the syncs in the time of the writer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SyncShare {
    /// Time in syncs, in thousandths of the interval.
    pub sync_permille: u64,
    /// Mean duration of the syncs of the interval, in milliseconds. `None` without a sync.
    pub sync_ms: Option<f64>,
    /// Number of syncs per second.
    pub syncs_per_s: f64,
}

/// The messages from one stage to another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edge<Name = &'static str> {
    /// Name of the sending stage, or `clients`, or `peers`.
    pub from: Name,
    /// Name of the receiving stage, or `clients`, or `peers`.
    pub to: Name,
    /// What the messages are: `requests`, `transactions`, `blocks`.
    pub unit: Name,
    /// Messages per second.
    pub per_s: Option<f64>,
    /// Number of messages that wait for the receiver.
    pub waiting: Option<u64>,
}

/// The rejections of one limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rejection<Name = &'static str> {
    /// Name of the limit: its setting, if it has one.
    pub limit: Name,
    /// Value of the limit at the newest rejection.
    pub value: u64,
    /// Rejected requests per second.
    pub per_s: f64,
    /// Rejected requests since the start of the process.
    pub total: u64,
}

/// The threads of one name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadGroup {
    /// The name, cut to 15 characters by the kernel.
    pub name: String,
    /// Number of threads with this name.
    pub threads: usize,
    /// Processor time of all of them, in thousandths of one core.
    pub cpu_permille: u64,
    /// Time for which they waited for a core, in the same unit. `None` if the kernel does not
    /// measure it.
    pub core_wait_permille: Option<u64>,
}

/// The name, unit and meaning of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeriesInfo<Name = &'static str> {
    /// Name of the series, unique.
    pub name: Name,
    /// Name of the chart that shows it, with the other series of the group.
    pub group: Name,
    /// Label in the chart.
    pub title: Name,
    /// Unit of the values: `per_s`, `us`, `ms`, `transactions`, `bytes`, `waits`, `blocks`,
    /// or `permille`.
    pub unit: Name,
}

/// The newest value of a series.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeriesValue<Name = &'static str> {
    /// Name of the series.
    pub name: Name,
    /// The value, in the unit of the series.
    pub value: Option<f64>,
}

/// The newest 15 minutes, for `GET /history`. All arrays have one element per point.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct History<Name = &'static str> {
    /// Number of snapshots of which each point is the mean and the maximum.
    pub snapshots_per_point: usize,
    /// Time of the last snapshot of each point, in milliseconds of [`Snapshot::uptime_ms`].
    pub uptime_ms: Vec<u64>,
    /// The same in milliseconds since the Unix epoch.
    pub unix_ms: Vec<u64>,
    /// The series of the charts.
    pub series: Vec<SeriesHistory<Name>>,
    /// The stages, in the order of a snapshot.
    pub stages: Vec<StageHistory<Name>>,
    /// Name of the limiting stage at the end of each point, or the kind of a limit without a
    /// stage.
    pub limits: Vec<Name>,
}

/// The points of a series.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SeriesHistory<Name = &'static str> {
    /// Name, unit and meaning.
    #[serde(flatten)]
    pub info: SeriesInfo<Name>,
    /// Mean of each point.
    #[serde(serialize_with = "round_points")]
    pub mean: Vec<Option<f32>>,
    /// Maximum of each point.
    #[serde(serialize_with = "round_points")]
    pub max: Vec<Option<f32>>,
}

/// The points of a stage. Each is the maximum of its snapshots.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StageHistory<Name = &'static str> {
    /// Name of the stage.
    pub name: Name,
    /// Maxima of [`Stage::busy_permille`].
    #[serde(serialize_with = "round_points")]
    pub busy_permille: Vec<Option<f32>>,
    /// Maxima of [`Queue::waiting`].
    #[serde(serialize_with = "round_points")]
    pub waiting: Vec<Option<f32>>,
    /// Maxima of [`Stage::rejected_per_s`].
    #[serde(serialize_with = "round_points")]
    pub rejected_per_s: Vec<Option<f32>>,
}

/// Serializes points with two decimal places at most, which are as many as a chart can show. Most
/// points are whole, so this halves the length of a history.
fn round_points<S: Serializer>(points: &[Option<f32>], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(points.iter().map(|point| point.map(RoundedPoint)))
}

/// A point with two decimal places at most.
struct RoundedPoint(f32);

impl Serialize for RoundedPoint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rounded = (f64::from(self.0) * 100.0).round() / 100.0;
        match rounded.fract() == 0.0 {
            true => serializer.serialize_i64(rounded as i64),
            false => serializer.serialize_f64(rounded),
        }
    }
}
