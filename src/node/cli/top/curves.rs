//! The curves: the newest minutes of a few series, in columns of equal time.

use crate::{
    console::Form,
    observe::{History, Snapshot},
};
use ratatui::{
    buffer::Buffer,
    layout::{Constraint, Layout, Rect},
    style::{Modifier, Style},
    text::{Line, Span},
    widgets::{Sparkline, Widget as _},
};
use std::{collections::VecDeque, iter};

/// Time of a column, in milliseconds. So a narrow screen shows a minute, and a wide one several.
const COLUMN_MS: u64 = 5_000;

/// Maximum number of columns: the 15 minutes of the node's history.
pub const COLUMNS_MAX: usize = 180;

/// Number of curves.
const CURVE_COUNT: usize = CURVES.len();

/// Width from which three curves are beside each other, and not two.
const WIDE: u16 = 120;

/// Maximum height of a curve with its label: more shows no more.
const HEIGHT_MAX: u16 = 8;

/// Height of a column, in parts of the curve's height.
const PARTS: f64 = 1_000.0;

/// Width of title and value before a curve of one line.
const LABEL_WIDTH: u16 = 22;

/// A curve: the sum of the series whose names begin with a text.
struct Curve {
    title: &'static str,
    series: &'static str,
    form: Form,
}

const fn curve(title: &'static str, series: &'static str, form: Form) -> Curve {
    Curve {
        title,
        series,
        form,
    }
}

const CURVES: [Curve; 6] = [
    curve("committed", "committed", Form::PerSecond),
    curve("latency p99", "latency_p99", Form::Micros),
    curve("pending", "pool_transactions", Form::Count),
    curve("rejected", "rejected_", Form::PerSecond),
    curve("processor", "processor_busy", Form::Permille),
    curve("memory", "memory_resident", Form::Bytes),
];

/// The values of the curves. `None` is a value that the node does not have.
type Values = [Option<f64>; CURVE_COUNT];

/// A column: the maxima of its time.
struct Column {
    /// Time of the node since its start, in columns.
    number: u64,
    values: Values,
}

/// The newest columns of each curve.
#[derive(Default)]
pub struct Curves {
    columns: VecDeque<Column>,
    newest: Values,
}

impl Curves {
    /// Returns the curves of a history, up to the newest snapshot.
    pub fn of(history: &History<String>, newest: &Snapshot<String>) -> Self {
        let mut curves = Self {
            newest: values(newest),
            ..Self::default()
        };
        for (point, &uptime_ms) in history.uptime_ms.iter().enumerate() {
            let series = history.series.iter().map(|series| {
                let value = series.max.get(point).copied().flatten();
                (series.info.name.as_str(), value.map(f64::from))
            });
            curves.add(uptime_ms, sums(series));
        }
        curves
    }

    /// Adds a snapshot.
    pub fn push(&mut self, snapshot: &Snapshot<String>) {
        self.newest = values(snapshot);
        self.add(snapshot.uptime_ms, self.newest);
    }

    fn add(&mut self, uptime_ms: u64, values: Values) {
        let number = uptime_ms / COLUMN_MS;
        match self.columns.back_mut() {
            Some(last) if last.number == number => {
                for (kept, value) in last.values.iter_mut().zip(values) {
                    *kept = max(*kept, value);
                }
                return;
            }
            // The node has started again.
            Some(last) if last.number > number => self.columns.clear(),
            _ => {}
        }
        if self.columns.len() == COLUMNS_MAX {
            self.columns.pop_front();
        }
        self.columns.push_back(Column { number, values });
    }

    /// Draws all curves, as high as the area allows.
    pub fn draw(&self, area: Rect, buffer: &mut Buffer) {
        let beside = match area.width {
            WIDE.. => 3,
            _ => 2,
        };
        let rows = CURVE_COUNT.div_ceil(beside);
        let height = (area.height / rows as u16).clamp(1, HEIGHT_MAX);
        let areas = Layout::vertical(vec![Constraint::Length(height); rows])
            .split(area)
            .iter()
            .flat_map(|row| {
                let columns = Layout::horizontal(vec![Constraint::Fill(1); beside]);
                columns.spacing(2).split(*row).to_vec()
            })
            .collect::<Vec<_>>();
        for (index, area) in areas.into_iter().take(CURVE_COUNT).enumerate() {
            self.draw_curve(index, area, buffer);
        }
    }

    fn draw_curve(&self, index: usize, area: Rect, buffer: &mut Buffer) {
        let is_high = area.height > 1;
        let layout = match is_high {
            true => Layout::vertical([Constraint::Length(1), Constraint::Fill(1)]),
            false => Layout::horizontal([Constraint::Length(LABEL_WIDTH), Constraint::Fill(1)]),
        };
        let [label, bars_area] = layout.areas(area);
        let columns = self.columns_of(index, bars_area.width);
        let highest = columns.iter().copied().fold(None, max);
        let Curve { title, form, .. } = &CURVES[index];
        let value = form.text(self.newest[index]);
        let mut words = vec![
            Span::raw(format!("{title:<11} ")),
            Span::styled(format!("{value:>9}"), Modifier::BOLD),
        ];
        if is_high {
            let highest = format!(" max {}", form.text(highest));
            words.push(Span::styled(highest, Modifier::DIM));
        }
        Line::from(words).render(label, buffer);
        let full = highest.unwrap_or(0.0).max(f64::MIN_POSITIVE);
        // A share of the whole, which a u64 holds. A negative value, which no node has, is 0.
        let parts = |value: f64| (value / full * PARTS) as u64;
        let bars = columns.iter().map(|value| value.map(parts));
        Sparkline::default()
            .data(bars)
            .max(PARTS as u64)
            .style(Style::new())
            .render(bars_area, buffer);
    }

    /// Returns the newest columns of a curve, the last one at the end.
    fn columns_of(&self, index: usize, width: u16) -> Vec<Option<f64>> {
        let last = self.columns.back().map_or(0, |column| column.number);
        let width = usize::from(width).min(COLUMNS_MAX);
        let mut kept = self.columns.iter().rev().peekable();
        let mut columns: Vec<_> = (0..width as u64)
            .map(|age| {
                let number = last.checked_sub(age)?;
                kept.next_if(|column| column.number == number)?.values[index]
            })
            .collect();
        columns.reverse();
        columns
    }
}

/// Returns the value of each curve in a snapshot.
fn values(snapshot: &Snapshot<String>) -> Values {
    let series = snapshot.series.iter();
    sums(series.map(|series| (series.name.as_str(), series.value)))
}

/// Returns the value of each curve: the sum of its series that have one.
fn sums<'a>(series: impl Iterator<Item = (&'a str, Option<f64>)>) -> Values {
    let mut sums = [None; CURVE_COUNT];
    for (name, value) in series {
        for (sum, curve) in iter::zip(&mut sums, &CURVES) {
            if let Some(value) = value
                && name.starts_with(curve.series)
            {
                *sum = Some(sum.unwrap_or(0.0) + value);
            }
        }
    }
    sums
}

/// Returns the larger of two values, if one exists.
fn max(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.max(other)),
        _ => one.or(other),
    }
}
