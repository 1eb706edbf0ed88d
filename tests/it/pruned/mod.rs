//! A window that is always full: reads while new blocks are committed and the oldest are pruned.
//!
//! | subject | file |
//! |---|---|
//! | the long run: readers of every kind during a load | `under_load.rs` |
//! | ends while pruning, and other windows after a restart | `restarts.rs` |
//! | a limit on the size of the ledger, and compaction | `size_limit.rs` |
//! | the bounds of the window in a response's headers | `bounds.rs` |
//! | facts of the ledger that later responses must repeat | `known.rs` |
//! | requests, and the checks of every response | `watch.rs` |
//! | the kinds of reads | `reads.rs` |
//! | pages of the file | `file.rs` |

mod bounds;
mod file;
mod known;
mod load;
mod reads;
mod restarts;
mod size_limit;
mod under_load;
mod watch;

/// Returns the number in an environment variable, by which a long run differs from the default one.
fn from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| {
        text.parse()
            .unwrap_or_else(|_| panic!("{name}={text} is not a whole number"))
    })
}
