//! The table of stages, the way of a transaction first.

use super::screen::Screen;
use crate::observe::{Snapshot, Stage};
use ratatui::{
    buffer::Buffer,
    layout::{Constraint, Layout, Rect},
    style::{Color, Modifier, Style},
    symbols::block,
    text::Line,
    widgets::Widget as _,
};
use std::rc::Rc;

/// Mark before the name of the limiting stage, which shows it without colors.
const MARK: &str = ">";

/// Width of the marks.
const MARK_WIDTH: u16 = 1;

/// Maximum width of a bar of the busy share.
const BAR_WIDTH_MAX: u16 = 20;

/// The ends of a bar, by eighths of a character.
const EIGHTHS: [&str; 8] = [
    "",
    block::ONE_EIGHTH,
    block::ONE_QUARTER,
    block::THREE_EIGHTHS,
    block::HALF,
    block::FIVE_EIGHTHS,
    block::THREE_QUARTERS,
    block::SEVEN_EIGHTHS,
];

/// Width from which the table has all columns.
const WIDE: u16 = 131;

/// Text of a figure that the stage does not have.
const NONE: &str = "-";

/// A column of the table.
struct Column {
    heading: &'static str,
    width: u16,
    is_text: bool,
    /// Whether only a wide screen has it.
    is_wide: bool,
    text: fn(&Stage<String>) -> Option<String>,
}

/// A column of figures.
const fn figures(
    heading: &'static str,
    width: u16,
    text: fn(&Stage<String>) -> Option<String>,
) -> Column {
    Column {
        heading,
        width,
        is_text: false,
        is_wide: false,
        text,
    }
}

/// A column of names, of a wide screen.
const fn names(
    heading: &'static str,
    width: u16,
    text: fn(&Stage<String>) -> Option<String>,
) -> Column {
    Column {
        is_text: true,
        is_wide: true,
        ..figures(heading, width, text)
    }
}

/// The columns behind name and bar. With those and the spaces, the narrow ones have 80 characters.
const COLUMNS: [Column; 11] = [
    figures("busy", 4, |stage| stage.busy_permille.map(percent)),
    figures("wait", 4, |stage| stage.core_wait_permille.map(percent)),
    figures("in/s", 5, |stage| stage.in_per_s.map(number)),
    figures("out/s", 5, |stage| stage.out_per_s.map(number)),
    figures("queue/max", 9, |stage| {
        let queue = stage.queue.as_ref()?;
        let waiting = number(queue.waiting as f64);
        Some(match queue.capacity {
            Some(capacity) => format!("{waiting}/{}", number(capacity as f64)),
            None => waiting,
        })
    }),
    figures("old", 5, |stage| {
        Some(duration(
            stage.queue.as_ref()?.oldest_ms?.saturating_mul(1_000),
        ))
    }),
    figures("p50", 5, |stage| {
        Some(duration(stage.queue.as_ref()?.waited_p50_us?))
    }),
    figures("p99", 5, |stage| {
        Some(duration(stage.queue.as_ref()?.waited_p99_us?))
    }),
    figures("rej/s", 5, |stage| stage.rejected_per_s.map(number)),
    names("unit", 12, |stage| Some(stage.queue.as_ref()?.unit.clone())),
    names("setting of the maximum", 33, |stage| {
        stage.queue.as_ref()?.setting.clone()
    }),
];

/// Width of the column of names: that of the longest one.
const NAME_WIDTH: u16 = 15;

/// Draws heading and stages, and returns the number of stages below the area. More hidden rows than
/// there can be above the area are brought back.
pub fn draw(screen: &mut Screen, area: Rect, buffer: &mut Buffer) -> usize {
    let Some((snapshot, _)) = &screen.newest else {
        return 0;
    };
    let rows = usize::from(area.height.saturating_sub(1));
    let hidden_max = snapshot.stages.len().saturating_sub(rows);
    screen.rows_above = screen.rows_above.min(hidden_max);
    let table = Table::new(area, BAR_WIDTH_MAX, screen.has_color);
    table.draw(snapshot, screen.rows_above, buffer);
    hidden_max - screen.rows_above
}

/// A table with the columns that fit into an area.
pub struct Table {
    area: Rect,
    /// The areas of mark, name and bar, then those of the columns.
    areas: Rc<[Rect]>,
    columns: Vec<&'static Column>,
    has_color: bool,
}

impl Table {
    /// Creates a table in an area, with bars of at most a width.
    pub fn new(area: Rect, bar_width_max: u16, has_color: bool) -> Self {
        let is_shown = |column: &&Column| !column.is_wide || area.width >= WIDE;
        let columns: Vec<_> = COLUMNS.iter().filter(is_shown).collect();
        let mut widths = vec![
            Constraint::Length(MARK_WIDTH),
            Constraint::Length(NAME_WIDTH),
            Constraint::Max(bar_width_max),
        ];
        widths.extend(
            columns
                .iter()
                .map(|column| Constraint::Length(column.width)),
        );
        Self {
            area,
            areas: Layout::horizontal(widths).spacing(1).split(area),
            columns,
            has_color,
        }
    }

    /// Draws the heading, and the stages after the first `above` ones.
    pub fn draw(&self, snapshot: &Snapshot<String>, above: usize, buffer: &mut Buffer) {
        let mut lines = self.area.rows();
        let Some(line) = lines.next() else { return };
        let headings = self.columns.iter().map(|column| column.heading.to_owned());
        self.draw_row(["", "stage"], headings, line, buffer);
        buffer.set_style(line, Modifier::UNDERLINED);
        let limit = snapshot.limit.stage.as_deref();
        for (stage, line) in snapshot.stages.iter().skip(above).zip(lines) {
            let is_limit = limit == Some(&*stage.name);
            let mark = if is_limit { MARK } else { "" };
            let figures = self.columns.iter().map(|column| {
                let figure = (column.text)(stage);
                figure.unwrap_or_else(|| NONE.to_owned())
            });
            self.draw_row([mark, &stage.name], figures, line, buffer);
            self.draw_bar(stage.busy_permille.unwrap_or(0), line, buffer);
            if !stage.is_on_path {
                buffer.set_style(line, Modifier::DIM);
            }
            if is_limit {
                buffer.set_style(line, Modifier::BOLD);
                let width = self.areas[1].right() - line.x;
                buffer.set_style(Rect { width, ..line }, Modifier::REVERSED);
            }
        }
    }

    /// Draws mark, name and the texts of the columns into a line.
    fn draw_row(
        &self,
        [mark, name]: [&str; 2],
        texts: impl Iterator<Item = String>,
        line: Rect,
        buffer: &mut Buffer,
    ) {
        let mut cells = self.areas.iter().map(|area| cell(*area, line));
        for text in [mark, name] {
            Line::raw(text).render(cells.next().unwrap_or_default(), buffer);
        }
        // Behind the bar.
        for ((column, text), cell) in self.columns.iter().zip(texts).zip(cells.skip(1)) {
            let text = Line::raw(text);
            let text = match column.is_text {
                true => text,
                false => text.right_aligned(),
            };
            text.render(cell, buffer);
        }
    }

    /// Draws the bar of a share. Its figure is in the next column.
    fn draw_bar(&self, permille: u64, line: Rect, buffer: &mut Buffer) {
        let style = match permille {
            _ if !self.has_color => Style::new(),
            900.. => Style::new().fg(Color::Red),
            600.. => Style::new().fg(Color::Yellow),
            _ => Style::new().fg(Color::Green),
        };
        let cell = cell(self.areas[2], line);
        let eighths = usize::from(cell.width) * 8 * permille.min(1_000) as usize / 1_000;
        let bar = block::FULL.repeat(eighths / 8) + EIGHTHS[eighths % 8];
        Line::styled(bar, style).render(cell, buffer);
    }
}

/// Returns the cell of a column in a line.
fn cell(column: Rect, line: Rect) -> Rect {
    Rect {
        x: column.x,
        width: column.width,
        ..line
    }
}

/// Writes a share of thousandths in at most four characters.
fn percent(permille: u64) -> String {
    format!("{}%", (permille.min(9_990) + 5) / 10)
}

/// Writes a number in at most four characters, up to 999 T: with one decimal place below 10 of its
/// unit.
fn number(value: f64) -> String {
    scaled(value, &["", "k", "M", "G", "T"])
}

/// Writes a duration in at most five characters, up to 9,999 minutes.
fn duration(micros: u64) -> String {
    const MINUTE: f64 = 60e6;
    let micros = micros as f64;
    match micros < 10.0 * MINUTE {
        true => scaled(micros, &["µs", "ms", "s"]),
        false => format!("{:.0}m", micros / MINUTE),
    }
}

/// Writes a value in the largest unit in which it is at least 1, or in the first one.
fn scaled(mut value: f64, units: &[&str]) -> String {
    let mut units = units.iter();
    let mut unit = units.next().copied().unwrap_or_default();
    // A value that is written as 1000 is 1 of the next unit.
    while value >= 999.5
        && let Some(next) = units.next()
    {
        value /= 1e3;
        unit = next;
    }
    let tenths = (value * 10.0).round() / 10.0;
    match tenths < 10.0 && tenths.fract() != 0.0 {
        true => format!("{tenths:.1}{unit}"),
        false => format!("{value:.0}{unit}"),
    }
}
