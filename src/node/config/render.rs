//! The texts that `ledger-node config` prints: the effective configuration with the origin of each
//! value, and all defaults, which is `config/node.toml`.

use super::{Config, Kind, Origin, SETTINGS, Setting, setting::is_open};
use std::fmt::Write as _;

impl Config {
    /// Returns the effective configuration in TOML, which the node can load.
    pub fn render(&self) -> String {
        let mut text = String::from("# The effective configuration of this node.\n");
        let mut section = "";
        for (setting, value, origin) in self.values() {
            if setting.section() != section {
                section = setting.section();
                // Writing to a `String` does not fail.
                let _ = writeln!(text, "\n[{section}]");
            }
            let unit = match setting.unit {
                "" => String::new(),
                unit => format!("{unit}; "),
            };
            let _ = writeln!(
                text,
                "{} = {value}  # {unit}{}",
                setting.name(),
                origin_words(origin)
            );
        }
        text
    }
}

/// Returns the origin without control characters: a path may contain line breaks.
fn origin_words(origin: &Origin) -> String {
    origin
        .to_string()
        .chars()
        .map(|c| if c.is_control() { '?' } else { c })
        .collect()
}

/// Maximum length of a line of [`defaults`], in bytes.
const LINE_WIDTH: usize = 100;

/// First lines of [`defaults`].
const HEADER: &str = "\
#:schema ./node.schema.json
# Every setting of ledger-node with its default. A comment begins with the unit and the allowed
# values. The reference node is a full node of Aptos.
#
# Printed by `ledger-node config --defaults`; a test compares it with the code. Editors complete and
# check keys with the schema, which `ledger-node config --schema` prints.
#
# Defaults < presets (--preset) < files (--config, later ones win) < settings kept at run time <
# environment < --set.
# The environment variable of section.key is LEDGER_NODE__SECTION__KEY.
";

/// Returns all settings with their defaults, units, allowed values and reasons.
pub fn defaults() -> String {
    let mut text = HEADER.to_owned();
    let mut section = "";
    for setting in SETTINGS {
        if setting.section() != section {
            section = setting.section();
            text += &format!("\n[{section}]\n");
        }
        for line in wrap(&describe(setting), LINE_WIDTH - 2) {
            text += &format!("# {line}\n");
        }
        text += &format!("{} = {}\n", setting.name(), setting.default());
    }
    text
}

/// Returns the unit of a setting with its range, or its allowed values, and then its reason.
fn describe(setting: &Setting) -> String {
    let range = match &setting.kind {
        Kind::Integer(range) if is_open(range) => format!("{} or more", range.start()),
        Kind::Integer(range) => format!("{} to {}", range.start(), range.end()),
        Kind::OptionalInteger(range) if is_open(range) => {
            format!("0, or {} or more", range.start())
        }
        Kind::OptionalInteger(range) => format!("0, or {} to {}", range.start(), range.end()),
        kind => kind.to_string(),
    };
    let unit = match setting.unit {
        "" => String::new(),
        unit => format!("{unit}, "),
    };
    format!("{unit}{range}. {}", setting.description())
}

/// Breaks a text into lines of at most `width` bytes. A longer word gets a line of its own.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is always a last line");
        if line.is_empty() {
            *line = word.to_owned();
        } else if line.len() + 1 + word.len() <= width {
            *line += " ";
            *line += word;
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}
