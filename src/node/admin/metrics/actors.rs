//! Metrics of actors: mailboxes, worker threads, and queues of the signature check.

use super::family::{Families, Row, Unit};
use ledger_actors::{BudgetStatus, LaneStatus, MailboxStatus, NodeHandle, WorkStatus};

/// Appends the metrics of actors.
pub fn collect(node: &NodeHandle, families: &mut Families) {
    mailboxes(&node.mailboxes(), families);
    workers(&node.meters().work, families);
    stalls(node, families);
    families.add_rows(
        &node.budgets(),
        |budget| [("budget", budget.name)],
        &BUDGET_GAUGES,
        &BUDGET_COUNTERS,
    );
    families
        .gauge((
            "ledger_read_queue_capacity",
            "Maximum number of reads that wait for a thread (storage.read_queue_capacity).",
        ))
        .sample(&[], node.config().storage.read_queue_capacity as f64);
    families.add_rows(
        &node.signature_lanes(),
        |lane| [("lane", lane.lane)],
        &LANE_GAUGES,
        &LANE_COUNTERS,
    );
}

const BUDGET_GAUGES: [Row<BudgetStatus>; 3] = [
    (
        (
            "ledger_budget_capacity_seconds",
            "Maximum estimated duration of the work that waits in the queue (PATCH \
             /budgets/{name}).",
        ),
        |budget| budget.capacity_ms as f64 / 1e3,
    ),
    (
        (
            "ledger_budget_waiting_seconds",
            "Estimated duration of the work that waits in the queue.",
        ),
        |budget| budget.waiting_ms as f64 / 1e3,
    ),
    (
        (
            "ledger_budget_waiting_jobs",
            "Number of jobs that wait in the queue.",
        ),
        |budget| budget.waiting as f64,
    ),
];

const BUDGET_COUNTERS: [Row<BudgetStatus>; 1] = [(
    (
        "ledger_budget_rejected_total",
        "Jobs that were rejected because the queue had reached its budget or its number of jobs, or \
         because their client held as much of either as was free.",
    ),
    |budget| budget.rejected as f64,
)];

const MAILBOX_GAUGES: [Row<MailboxStatus>; 4] = [
    (
        (
            "ledger_mailbox_capacity",
            "Maximum number of requests that wait for the actor (PATCH /actors/{name}).",
        ),
        |mailbox| mailbox.capacity as f64,
    ),
    (
        (
            "ledger_mailbox_depth",
            "Number of requests that wait for the actor.",
        ),
        |mailbox| mailbox.depth as f64,
    ),
    (
        (
            "ledger_mailbox_high_water",
            "Maximum number of requests that waited for the actor at the same time, since the \
             start of the node or the last change of the capacity.",
        ),
        |mailbox| mailbox.high_water as f64,
    ),
    (
        (
            "ledger_actor_busy_ratio",
            "Share of the last 8.6 s that its thread ran the actor; a thread's actors add up.",
        ),
        |mailbox| mailbox.busy_permille as f64 / 1e3,
    ),
];

const MAILBOX_COUNTERS: [Row<MailboxStatus>; 3] = [
    (
        (
            "ledger_mailbox_accepted_total",
            "Requests that the actor's mailbox accepted.",
        ),
        |mailbox| mailbox.accepted as f64,
    ),
    (
        (
            "ledger_mailbox_refused_total",
            "Requests that were rejected because the actor's mailbox was full.",
        ),
        |mailbox| mailbox.refused as f64,
    ),
    (
        (
            "ledger_mailbox_protocol_total",
            "Messages from other actors, which are always accepted.",
        ),
        |mailbox| mailbox.protocol as f64,
    ),
];

fn mailboxes(all: &[MailboxStatus], families: &mut Families) {
    let labels = |mailbox: &MailboxStatus| [("actor", mailbox.actor), ("thread", mailbox.thread)];
    families.add_rows(all, labels, &MAILBOX_GAUGES, &MAILBOX_COUNTERS);
    let mut handled = families.counter((
        "ledger_mailbox_messages_total",
        "Requests and messages that the actor has handled, by kind.",
    ));
    for mailbox in all {
        let [actor, thread] = labels(mailbox);
        for (kind, count) in &mailbox.handled_by_kind {
            handled.sample(&[actor, thread, ("kind", kind)], *count as f64);
        }
    }
    let mut waited = families.histogram((
        "ledger_mailbox_waited_seconds",
        "Time that messages waited before the actor handled them.",
    ));
    for mailbox in all {
        waited.histogram_sample(&labels(mailbox), Unit::Time, &mailbox.waited);
    }
    let mut handling = families.histogram((
        "ledger_mailbox_handled_seconds",
        "Time that the actor took to handle a message.",
    ));
    for mailbox in all {
        handling.histogram_sample(&labels(mailbox), Unit::Time, &mailbox.handling);
    }
}

const WORKER_GAUGES: [Row<WorkStatus>; 3] = [
    (
        (
            "ledger_worker_threads",
            "Number of threads of this name that take jobs from their queue.",
        ),
        |worker| worker.threads as f64,
    ),
    (
        (
            "ledger_worker_queue_depth",
            "Number of jobs that wait for the threads.",
        ),
        |worker| worker.depth as f64,
    ),
    (
        (
            "ledger_worker_busy_ratio",
            "Share of the last 8.6 s that the threads ran jobs; a job counts when it ends.",
        ),
        |worker| worker.busy_permille as f64 / 1e3,
    ),
];

const WORKER_COUNTERS: [Row<WorkStatus>; 1] = [(
    (
        "ledger_worker_refused_total",
        "Jobs that were rejected because the queue was full.",
    ),
    |worker| worker.refused as f64,
)];

fn workers(all: &[WorkStatus], families: &mut Families) {
    let labels = |worker: &WorkStatus| [("thread", worker.thread)];
    families.add_rows(all, labels, &WORKER_GAUGES, &WORKER_COUNTERS);
    let mut took = families.histogram((
        "ledger_worker_job_seconds",
        "Duration of a job of the threads.",
    ));
    for worker in all {
        took.histogram_sample(&labels(worker), Unit::Time, &worker.took);
    }
    let mut waited = families.histogram((
        "ledger_worker_waited_seconds",
        "Time that jobs waited for a thread; of those that the writer takes together, the first.",
    ));
    for worker in all {
        waited.histogram_sample(&labels(worker), Unit::Time, &worker.waited);
    }
}

fn stalls(node: &NodeHandle, families: &mut Families) {
    let mut stalled = families.gauge((
        "ledger_stalled",
        "Number of actors or threads of this name without progress for process.stall_secs.",
    ));
    for (thread, count) in node.stalls_by_name() {
        stalled.sample(&[("thread", &thread)], count as f64);
    }
}

const LANE_GAUGES: [Row<LaneStatus>; 3] = [
    (
        (
            "ledger_signature_capacity_checks",
            "Maximum work that waits in the lane, in single ed25519 verifications.",
        ),
        |lane| lane.capacity_signatures as f64,
    ),
    (
        (
            "ledger_signature_waiting_checks",
            "Work that waits in the lane, in single ed25519 verifications.",
        ),
        |lane| lane.waiting_signatures as f64,
    ),
    (
        (
            "ledger_signature_waiting_transactions",
            "Number of transactions that wait for the verification of their signatures.",
        ),
        |lane| lane.waiting as f64,
    ),
];

const LANE_COUNTERS: [Row<LaneStatus>; 5] = [
    (
        (
            "ledger_signature_accepted_total",
            "Transactions that the lane accepted.",
        ),
        |lane| lane.accepted as f64,
    ),
    (
        (
            "ledger_signature_refused_total",
            "Transactions that were rejected because the lane was full.",
        ),
        |lane| lane.refused as f64,
    ),
    (
        (
            "ledger_signature_checked_total",
            "Transactions whose signatures were verified, with either verdict.",
        ),
        |lane| lane.checked as f64,
    ),
    (
        (
            "ledger_signature_bad_total",
            "Transactions with an invalid signature.",
        ),
        |lane| lane.bad as f64,
    ),
    (
        (
            "ledger_signature_batches_total",
            "Batches in which signatures were verified.",
        ),
        |lane| lane.batches as f64,
    ),
];
