//! Run-time settings: their values, the changes while the node runs, and what of them is kept.
//!
//! | module | content |
//! |---|---|
//! | `state` | [`RunTimeSettings`]: change, undo, revert, reload |
//! | `history` | the changes that undo takes back, and the marks of the charts |
//! | `deny` | adds and removes rules of the filter and denied addresses |
//! | `keep` | writes `overrides.toml` |
//! | `targets` | the limits of the node that the settings are |
//! | `recommend` | values that the measurements suggest |
//! | `report` | the JSON of `GET /settings` |
//! | `memory` | sum of all memory limits, and the memory of the machine |

mod deny;
mod error;
mod history;
mod keep;
mod memory;
mod recommend;
mod report;
mod state;
mod targets;

#[cfg(test)]
mod tests;

pub use deny::Denial;
pub use error::ChangeError;
pub use history::Mark;
pub use keep::{Keep, Kept};
pub use memory::log_memory;
pub use recommend::Load;
pub use report::{MemoryStatus, ReplacedStatus, SettingStatus, SettingsReport};
pub use state::{Change, RunTimeSettings, Terms};
pub use targets::Targets;
