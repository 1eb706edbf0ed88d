//! The limit of the process on open files.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft limit on open files to `wanted`, or to the hard limit if that is lower.
///
/// Returns the resulting soft limit.
pub fn raise_limit(wanted: u64) -> u64 {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let soft = current.unwrap_or(u64::MAX);
    let raised = maximum.map_or(wanted, |maximum| wanted.min(maximum));
    if soft >= raised {
        return soft;
    }
    let limit = Rlimit {
        current: Some(raised),
        maximum,
    };
    match setrlimit(Resource::Nofile, limit) {
        Ok(()) => raised,
        // Some systems have another limit below the hard one.
        Err(error) => {
            tracing::debug!(%error, raised, "the limit on open files stays");
            soft
        }
    }
}
