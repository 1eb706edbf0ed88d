//! The texts of `ledger-node config`: the effective configuration with where each value comes from,
//! and every setting with its default, unit, range and reason, which is `config/node.toml`.

use super::{Config, Origin, SETTINGS, Setting};
use std::fmt::Write as _;

impl Config {
    /// The effective configuration as TOML, which the node can read back.
    pub fn render(&self) -> String {
        let mut text = String::from("# The effective configuration of this node.\n");
        let mut section = "";
        for (setting, (value, origin)) in SETTINGS.iter().zip(&self.values) {
            if setting.section() != section {
                section = setting.section();
                // Writing to a String does not fail.
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

/// The origin on one line: a path may hold anything, a comment may not.
fn origin_words(origin: &Origin) -> String {
    origin
        .to_string()
        .chars()
        .map(|c| if c.is_control() { '?' } else { c })
        .collect()
}

/// How wide the lines of [`defaults`] are, in characters.
const LINE_WIDTH: usize = 100;

/// Every setting with its default, unit, allowed range and reason: the text of `config/node.toml`.
pub fn defaults() -> String {
    let mut text = String::from(
        "#:schema ./node.schema.json\n\
         # Every setting of ledger-node with its default, unit and reason.\n\
         # Made by `ledger-node config --defaults`; a test holds it against the code. The schema is for\n\
         # editors that complete and check keys: `ledger-node config --schema`.\n\
         #\n\
         # Built-in values < files (--config, later wins) < environment < --set. The environment variable\n\
         # of section.key is LEDGER_NODE__SECTION__KEY.\n",
    );
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

fn describe(setting: &Setting) -> String {
    format!("{} Allowed: {}.", reason_and_unit(setting), setting.kind)
}

/// Returns what the setting does, and its unit if it has one.
pub(super) fn reason_and_unit(setting: &Setting) -> String {
    match setting.unit {
        "" => setting.reason.to_owned(),
        unit => format!("{} Unit: {unit}.", setting.reason),
    }
}

/// Breaks a text between words; a word longer than a line stands alone.
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
