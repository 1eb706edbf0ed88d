//! A window that is always full: what clients read of it while blocks come and the oldest go.
//!
//! | to find | look in |
//! |---|---|
//! | the long run: readers of every kind beside a load | `under_load.rs` |
//! | stopping and killing in the middle of it, other windows after a restart | `restarts.rs` |
//! | the moment that an answer names | `moment.rs` |
//! | what is known for certain, and must be told the same again | `known.rs` |
//! | asking, and what holds for every answer | `watch.rs` |
//! | the kinds of reads | `reads.rs` |
//! | pages of the file | `file.rs` |

mod file;
mod known;
mod load;
mod moment;
mod reads;
mod restarts;
mod under_load;
mod watch;

/// A whole number as the interface writes it.
fn number(value: &serde_json::Value) -> u64 {
    value
        .as_str()
        .and_then(|text| text.parse().ok())
        .unwrap_or_else(|| panic!("{value} is no number in a string"))
}

/// A whole number from the environment, where the long run differs from the short one.
fn from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| {
        text.parse()
            .unwrap_or_else(|_| panic!("{name}={text} is no whole number"))
    })
}
