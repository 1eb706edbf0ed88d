//! The runtime of actors and worker threads: mailboxes, threads, clocks, and fatal errors.

pub(crate) mod actor;
pub(crate) mod arbiters;
pub(crate) mod clock;
pub(crate) mod fatal;
pub(crate) mod mailbox;
pub(crate) mod nice;
pub(crate) mod progress;
pub(crate) mod thread_name;
pub(crate) mod timer;
pub(crate) mod work_meter;
pub(crate) mod work_queue;
pub(crate) mod worker;
