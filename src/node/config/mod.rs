//! Configuration of the node: defaults < presets < files < kept settings < environment < `--set` <
//! `--data-dir` (docs/operate/configure.md#layers).
//!
//! [`Settings`] holds the configuration, and [`SETTINGS`] binds each key to one of its fields.

mod error;
mod layers;
mod load;
mod overrides;
mod preset;
mod render;
mod schema;
mod setting;
mod settings;
mod table;
mod value;

#[cfg(test)]
mod tests;

pub use error::{ConfigError, message_with_position, shortened};
pub use load::{Config, ConfigOptions};
pub use overrides::{Overrides, overrides_diff, overrides_path, render_overrides};
pub use preset::Preset;
pub use render::defaults;
pub use schema::schema;
pub use setting::{Applies, Kind, RawValue, Setting};
pub use settings::{FaucetSettings, SequencerSettings, Settings};
pub use table::{BUDGET_MS, MAILBOX_CAPACITY, SETTINGS};
pub use value::{Origin, SettingValue, Value};
