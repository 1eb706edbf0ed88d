//! Figures of a page: their text, and the name by which the script refreshes them.
//!
//! The script formats the values of an event as this file does; `console.js` has the same forms.
//! Both are compared with `tests/golden/figures.json`.

use maud::{Markup, html};

/// Text of a value that the node does not have.
const NONE: &str = "–";

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Thousandths, as a percentage.
    Permille,
    /// A rate, in one second.
    PerSecond,
    /// A number of things.
    Count,
    /// Microseconds.
    Micros,
    /// Milliseconds.
    Millis,
    /// Bytes.
    Bytes,
}

impl Form {
    /// Returns the form of a unit of a series.
    pub fn of_unit(unit: &str) -> Self {
        match unit {
            "per_s" => Self::PerSecond,
            "us" => Self::Micros,
            "ms" => Self::Millis,
            "bytes" => Self::Bytes,
            "permille" => Self::Permille,
            _ => Self::Count,
        }
    }

    /// Returns the name in `data-form`.
    fn name(self) -> &'static str {
        match self {
            Self::Permille => "permille",
            Self::PerSecond => "per_s",
            Self::Count => "count",
            Self::Micros => "us",
            Self::Millis => "ms",
            Self::Bytes => "bytes",
        }
    }

    /// Writes a value.
    pub fn text(self, value: Option<f64>) -> String {
        let Some(value) = value else {
            return NONE.to_owned();
        };
        match self {
            Self::Permille => format!("{} %", short(value / 10.0)),
            Self::PerSecond => format!("{}/s", short(value)),
            Self::Count => short(value.round()),
            Self::Micros => scaled(value, &["µs", "ms", "s"]),
            Self::Millis => scaled(value, &["ms", "s"]),
            Self::Bytes => scaled(value, &["B", "KB", "MB", "GB", "TB"]),
        }
    }
}

/// Writes a number: with one decimal place below 10 unless it is whole, and with separators of
/// thousands.
fn short(value: f64) -> String {
    let tenths = (value * 10.0).round() / 10.0;
    if tenths.abs() < 10.0 && tenths.fract() != 0.0 {
        return format!("{tenths:.1}");
    }
    let digits = format!("{:.0}", value.round());
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Writes a value in the largest unit in which it is at least 1, or in the first one. Each unit is
/// 1,000 times the one before.
fn scaled(mut value: f64, units: &[&str]) -> String {
    let mut unit = 0;
    while value >= 1e3 && unit + 1 < units.len() {
        value /= 1e3;
        unit += 1;
    }
    format!("{} {}", short(value), units[unit])
}

/// Returns a number for a figure, whose few digits a float holds.
pub fn to_f64(number: u64) -> f64 {
    number as f64
}

/// Returns a figure that the script refreshes with the value at `path` of a snapshot, such as
/// `stages.mempool.queue.waiting`: elements of lists have their names.
pub fn figure(path: &str, form: Form, value: Option<f64>) -> Markup {
    html! { span data-value=(path) data-form=(form.name()) { (form.text(value)) } }
}

/// Returns a bar of `permille` of its width, which the script refreshes. A screen reader skips it,
/// because a figure beside it says the same.
pub fn bar(path: &str, permille: Option<u64>) -> Markup {
    let permille = permille.unwrap_or(0).min(1_000);
    html! {
        svg.bar viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true" {
            rect width=(permille) height="10" data-bar=(path) data-level=(level(permille)) {}
        }
    }
}

/// Returns the level of a share, which its color shows.
fn level(permille: u64) -> &'static str {
    match permille {
        900.. => "high",
        600.. => "medium",
        _ => "low",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The browser test compares the script with the same file.
    const FIGURES: &str = include_str!("../../../tests/golden/figures.json");

    #[test]
    fn values_have_few_digits_and_a_unit() {
        let figures: Vec<(String, Option<f64>, String)> = serde_json::from_str(FIGURES).unwrap();
        for (unit, value, text) in figures {
            let form = Form::of_unit(&unit);
            assert_eq!((form.name(), form.text(value)), (&*unit, text), "{value:?}");
        }
    }

    #[test]
    fn a_figure_names_its_value_for_the_script() {
        let markup = figure("stages.pool.in_per_s", Form::PerSecond, Some(3.0)).into_string();
        assert_eq!(
            markup,
            "<span data-value=\"stages.pool.in_per_s\" data-form=\"per_s\">3/s</span>"
        );
    }
}
