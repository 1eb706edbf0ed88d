//! The parts of the screen, from top to bottom.

use super::{
    screen::{Problem, Screen},
    table,
};
use crate::{
    console::Form,
    observe::{Limit, LimitKind, Processor, Snapshot},
};
use ratatui::{
    buffer::Buffer,
    layout::{Constraint, Layout, Rect},
    style::{Modifier, Style},
    text::{Line, Span, Text},
    widgets::{Paragraph, Widget as _, Wrap},
};
use std::time::Instant;

/// Maximum number of lines of a sentence: of the limit, or of an error.
const SENTENCE_LINES_MAX: u16 = 3;

/// Maximum number of characters of a sentence that are drawn: what the lines of a wide screen hold.
const SENTENCE_CHARS_MAX: usize = 1_000;

/// Height of the curves that remains on a low screen: a line for two of them.
const CURVES_HEIGHT_MIN: u16 = 3;

/// Maximum number of stages that are printed: several times those of a node.
const PRINTED_STAGES_MAX: usize = 100;

const HELP: &str = "\
q, Ctrl-C  end
p, space   pause: keep the figures
arrows, PgUp, PgDn, Home  scroll the stages
?, Esc     close this text

The stages are the way of a transaction from the client to the commit, then
those beside it. The mark > is on the one that limits the throughput.

busy       processor time of its threads; of an actor, its part of it
wait       time for which they waited for a core
in/s out/s what arrived and what was done per second
queue/max  what waits, and its maximum (of reads: milliseconds of work)
old        age of the oldest that waits
p50 p99    time in the queue
rej/s      what was rejected per second

docs/operate/tune.md leads from a symptom to a setting.";

/// Draws the screen.
pub fn draw(screen: &mut Screen, now: Instant, area: Rect, buffer: &mut Buffer) {
    let problem = screen.problem.as_ref().map(problem_text);
    let limit = screen.newest.as_ref().map(|(of, _)| limit_text(&of.limit));
    let height =
        |text: &Option<Text<'static>>| text.as_ref().map_or(0, |text| lines(text, area.width));
    let [title, problem_area, limit_area, processor, body, keys] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(height(&problem)),
        Constraint::Length(height(&limit)),
        Constraint::Length(1),
        Constraint::Fill(1),
        Constraint::Length(1),
    ])
    .areas(area);
    draw_title(screen, now, title, buffer);
    for (text, area) in [(problem, problem_area), (limit, limit_area)] {
        if let Some(text) = text {
            sentence(text).render(area, buffer);
        }
    }
    let mut words = "q end   p pause   ? help   arrows scroll".to_owned();
    if let Some((snapshot, _)) = &screen.newest {
        processor_line(&snapshot.processor).render(processor, buffer);
        let rows = u16::try_from(snapshot.stages.len()).unwrap_or(u16::MAX);
        let below = draw_body(screen, rows.saturating_add(1), body, buffer);
        if below > 0 {
            words += &format!(" ({below} more below)");
        }
    }
    Line::styled(words, Modifier::DIM).render(keys, buffer);
    replace_invisible(buffer);
}

/// Draws the table of so many rows and the curves below it, or the explanations. Returns the number
/// of stages below the table's area.
fn draw_body(screen: &mut Screen, rows: u16, area: Rect, buffer: &mut Buffer) -> usize {
    if screen.has_help {
        Paragraph::new(HELP).render(area, buffer);
        return 0;
    }
    let rows = rows.min(area.height.saturating_sub(CURVES_HEIGHT_MIN));
    // Only a table that leaves more than the lowest curves has a line below it.
    let is_higher = area.height > rows + CURVES_HEIGHT_MIN;
    let [table, heading, curves] = Layout::vertical([
        Constraint::Length(rows),
        Constraint::Length(u16::from(is_higher)),
        Constraint::Fill(1),
    ])
    .areas(area);
    let below = table::draw(screen, table, buffer);
    let words = "the newest minutes, a column for 5 s";
    Line::styled(words, Modifier::DIM).render(heading, buffer);
    screen.curves.draw(curves, buffer);
    below
}

/// Returns a snapshot as lines of a width, without bars and curves.
pub fn text(screen: &Screen, width: u16) -> String {
    let Some((snapshot, _)) = &screen.newest else {
        return String::new();
    };
    let limit = limit_text(&snapshot.limit);
    let stages = snapshot.stages.len().min(PRINTED_STAGES_MAX) as u16;
    let [title, limit_area, processor, table] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(lines(&limit, width)),
        Constraint::Length(1),
        Constraint::Length(stages + 1),
    ])
    .areas(Rect::new(0, 0, width, stages + SENTENCE_LINES_MAX + 3));
    let mut buffer = Buffer::empty(title.union(table));
    title_line(screen, snapshot).render(title, &mut buffer);
    sentence(limit).render(limit_area, &mut buffer);
    processor_line(&snapshot.processor).render(processor, &mut buffer);
    table::Table::new(table, 0, false).draw(snapshot, 0, &mut buffer);
    replace_invisible(&mut buffer);
    let rows = buffer.area.rows().map(|row| row_text(&buffer, row));
    rows.collect::<Vec<_>>().join("\n")
}

/// Replaces texts of cells that are not one visible character. A node has no others, and they could
/// change the direction of the text.
fn replace_invisible(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        let symbol = cell.symbol();
        if symbol.chars().count() != 1 || Span::raw(symbol).width() == 0 {
            cell.set_char(char::REPLACEMENT_CHARACTER);
        }
    }
}

/// Returns the text of a row of a buffer.
pub fn row_text(buffer: &Buffer, row: Rect) -> String {
    let cells = row.columns().map(|cell| buffer[(cell.x, cell.y)].symbol());
    cells.collect::<String>().trim_end().to_owned()
}

/// Draws the node on the left, and the state of the connection on the right.
fn draw_title(screen: &Screen, now: Instant, area: Rect, buffer: &mut Buffer) {
    let state = state(screen, now);
    let width = u16::try_from(state.width()).unwrap_or(u16::MAX);
    let layout = Layout::horizontal([Constraint::Fill(1), Constraint::Length(width)]);
    let [node, end] = layout.spacing(1).areas(area);
    match &screen.newest {
        Some((snapshot, _)) => title_line(screen, snapshot).render(node, buffer),
        None => Line::raw(&screen.url).render(node, buffer),
    }
    state.render(end, buffer);
}

/// Returns the node and its newest block.
fn title_line<'a>(screen: &'a Screen, snapshot: &Snapshot<String>) -> Line<'a> {
    let count = |number: u64| Form::Count.text(Some(number as f64));
    let (height, version) = (count(snapshot.height), count(snapshot.version));
    Line::from(vec![
        Span::styled(&screen.url, Modifier::BOLD),
        Span::raw(format!("  height {height}  version {version}")),
    ])
}

/// Returns the state of the connection, with the age of the figures.
fn state(screen: &Screen, now: Instant) -> Line<'static> {
    let Some((_, received)) = &screen.newest else {
        return Line::raw(match screen.problem {
            Some(_) => "no connection",
            None => "connecting",
        });
    };
    let secs = now.saturating_duration_since(*received).as_secs();
    match &screen.problem {
        Some(_) => Line::styled(format!("no connection, {secs} s old"), Modifier::REVERSED),
        None if screen.is_paused() => {
            Line::styled(format!("paused, {secs} s old"), Modifier::REVERSED)
        }
        None => Line::raw(format!("live, {secs} s old")),
    }
}

/// Returns the error of the newest request and what to do.
fn problem_text(problem: &Problem) -> Text<'static> {
    let remedy = problem
        .remedy
        .map_or(String::new(), |remedy| format!("; {remedy}"));
    let error = cut(&problem.text);
    Text::from(Line::from(vec![
        Span::styled("error:", Modifier::REVERSED | Modifier::BOLD),
        Span::raw(format!(" {error}{remedy}; trying again")),
    ]))
}

/// Returns the sentence that names the limiting stage.
fn limit_text(limit: &Limit<String>) -> Text<'static> {
    let style = match limit.kind {
        LimitKind::Clients => Style::new(),
        _ => Style::new().add_modifier(Modifier::BOLD),
    };
    let secs = limit.since_ms / 1_000;
    let sentence = cut(&limit.sentence);
    Text::from(Line::from(vec![
        Span::raw("limit: "),
        Span::styled(sentence, style),
        Span::raw(format!(" (for {secs} s)")),
    ]))
}

fn sentence(text: Text<'static>) -> Paragraph<'static> {
    Paragraph::new(text).wrap(Wrap { trim: true })
}

/// Returns the first characters of a text of the node.
fn cut(text: &str) -> String {
    text.chars().take(SENTENCE_CHARS_MAX).collect()
}

/// Returns the number of lines of a sentence that are drawn in a width, between words.
fn lines(text: &Text<'static>, width: u16) -> u16 {
    let mut drawn = Buffer::empty(Rect::new(0, 0, width, SENTENCE_LINES_MAX));
    sentence(text.clone()).render(drawn.area, &mut drawn);
    let rows = drawn.area.rows();
    rows.filter(|row| !row_text(&drawn, *row).is_empty())
        .count() as u16
}

/// Returns the use of the processor.
fn processor_line(processor: &Processor) -> Line<'static> {
    let share = |permille: Option<u64>| Form::Permille.text(permille.map(|of| of as f64));
    Line::raw(format!(
        "processor: {} of {} cores, waiting for a core {}, all programs {}",
        share(processor.busy_permille),
        processor.cores,
        share(processor.core_wait_permille),
        share(processor.machine_busy_permille),
    ))
}
