//! Tests of the screen with hand-made snapshots.

use super::{
    curves::Curves,
    screen::{Received, Screen},
    view,
};
use crate::{cli::target::TargetError, observe::Snapshot};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::{buffer::Buffer, layout::Rect, style::Color};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Returns the JSON of a stage with a queue.
fn stage(name: &str, is_on_path: bool, busy_permille: u64) -> Value {
    json!({
        "name": name, "title": name, "kind": "actor", "is_on_path": is_on_path,
        "thread": "actors", "threads": 1,
        "busy_permille": busy_permille, "core_wait_permille": 15, "occupied_permille": 900,
        "in_per_s": 1234.5, "out_per_s": 2.4, "rejected_per_s": 0.0,
        "queue": {
            "unit": "requests", "waiting": 12, "capacity": 16384,
            "setting": format!("actors.{name}.mailbox_capacity"),
            "oldest_ms": 41, "waited_p50_us": 850, "waited_p99_us": 4100,
            "was_never_empty": false,
        },
        "sync": null,
    })
}

/// Returns the JSON of a snapshot with these stages, of which the executor is the limit.
fn json_of(stages: &[Value], uptime_ms: u64, committed: f64) -> Value {
    json!({
        "sequence": 7, "uptime_ms": uptime_ms, "unix_ms": 0, "interval_ms": 1000,
        "height": 1234, "version": 56789,
        "limit": {
            "kind": "busy", "stage": "executor",
            "sentence": "executor 97 % busy, its queue never empty",
            "remedy": "", "setting": null, "consumers": [], "since_ms": 12_345,
        },
        "processor": {
            "cores": 2, "busy_permille": 870, "core_wait_permille": 120,
            "machine_busy_permille": null,
        },
        "stages": stages,
        "edges": [],
        "series": [
            { "name": "committed", "value": committed },
            { "name": "latency_p99", "value": null },
            { "name": "rejected_http", "value": 2.0 },
            { "name": "rejected_pool", "value": 3.0 },
            { "name": "memory_resident", "value": 123_456_789.0 },
        ],
        "rejections": [],
        "threads": [],
    })
}

fn snapshot(json: Value) -> Snapshot<String> {
    serde_json::from_value(json).unwrap()
}

/// Returns the stages of a small node.
fn stages() -> [Value; 3] {
    [
        stage("mempool", true, 120),
        stage("executor", true, 970),
        stage("pruner", false, 0),
    ]
}

/// Returns a screen that has received a snapshot now.
fn screen_with(json: Value, now: Instant) -> Screen {
    let mut screen = Screen::new("http://127.0.0.1:9101".to_owned(), true);
    receive(&mut screen, json, now);
    screen
}

fn receive(screen: &mut Screen, json: Value, now: Instant) {
    let received = Received {
        snapshot: snapshot(json),
        history: None,
    };
    screen.receive(Ok(received), now);
}

fn drawn(screen: &mut Screen, now: Instant, width: u16, height: u16) -> Buffer {
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    view::draw(screen, now, area, &mut buffer);
    buffer
}

fn lines(buffer: &Buffer) -> Vec<String> {
    let rows = buffer.area.rows();
    rows.map(|row| view::row_text(buffer, row)).collect()
}

fn press(screen: &mut Screen, code: KeyCode) -> bool {
    screen
        .press(KeyEvent::new(code, KeyModifiers::NONE))
        .is_break()
}

#[test]
fn a_small_screen_has_sentence_stages_and_curves_with_the_limiting_stage_marked() {
    let now = Instant::now();
    let mut screen = screen_with(json_of(&stages(), 5_000, 100.0), now);
    receive(&mut screen, json_of(&stages(), 10_000, 50.0), now);
    let drawn = drawn(&mut screen, now + Duration::from_secs(3), 80, 12);
    assert_eq!(
        lines(&drawn),
        [
            "http://127.0.0.1:9101  height 1,234  version 56,789                live, 3 s old",
            "limit: executor 97 % busy, its queue never empty (for 12 s)",
            "processor: 87 % of 2 cores, waiting for a core 12 %, all programs –",
            "  stage                  busy wait  in/s out/s queue/max   old   p50   p99 rej/s",
            "  mempool         ▋       12%   2%  1.2k   2.4    12/16k  41ms 850µs 4.1ms     0",
            "> executor        █████▊  97%   2%  1.2k   2.4    12/16k  41ms 850µs 4.1ms     0",
            "  pruner                   0%   2%  1.2k   2.4    12/16k  41ms 850µs 4.1ms     0",
            "the newest minutes, a column for 5 s",
            "committed        50/s                █▄  latency p99         –",
            "pending             –                    rejected          5/s                ██",
            "processor           –                    memory         123 MB                ██",
            "q end   p pause   ? help   arrows scroll",
        ]
    );
}

/// Returns the rows of a screen of a real size, with all stages of a node.
fn rows_of_a_node(width: u16, height: u16) -> Vec<String> {
    let names = [
        "http",
        "signature-check",
        "mempool",
        "pool",
        "sequencer",
        "executor",
    ];
    let stages: Vec<_> = names.iter().map(|name| stage(name, true, 500)).collect();
    let now = Instant::now();
    let mut screen = screen_with(json_of(&stages, 5_000, 100.0), now);
    lines(&drawn(&mut screen, now, width, height))
}

#[test]
fn a_wide_screen_adds_units_settings_and_high_curves() {
    let rows = rows_of_a_node(160, 50);
    let executor = rows
        .iter()
        .find(|row| row.starts_with("> executor"))
        .unwrap();
    let end = "requests     actors.executor.mailbox_capacity";
    assert!(executor.ends_with(end), "{executor}");
    // Half of a bar of 20 characters.
    assert!(
        executor.contains(&format!(" {} ", "█".repeat(10))),
        "{executor}"
    );
    let label = rows
        .iter()
        .position(|row| row.starts_with("committed"))
        .unwrap();
    assert!(rows[label].contains("100/s max 100/s"), "{}", rows[label]);
    // The only column reaches the full height below the label.
    for row in &rows[label + 1..label + 8] {
        assert_eq!(row.matches('█').count(), 1, "{rows:#?}");
    }
    let narrow = rows_of_a_node(80, 24);
    assert!(
        narrow.iter().all(|row| !row.contains("mailbox_capacity")),
        "{narrow:#?}"
    );
}

#[test]
fn colors_are_of_the_terminal_and_can_be_absent() {
    let now = Instant::now();
    let colors = |has_color| {
        let mut screen = screen_with(json_of(&stages(), 5_000, 1.0), now);
        screen.has_color = has_color;
        let drawn = drawn(&mut screen, now, 80, 24);
        let mut colors: Vec<_> = drawn.content.iter().map(|cell| cell.fg).collect();
        colors.retain(|color| *color != Color::Reset);
        colors.dedup();
        assert!(drawn.content.iter().all(|cell| cell.bg == Color::Reset));
        colors
    };
    assert_eq!(colors(true), [Color::Green, Color::Red]);
    assert_eq!(colors(false), []);
}

#[test]
fn an_error_keeps_the_figures_with_their_age_and_says_what_to_do() {
    let now = Instant::now();
    let mut screen = Screen::new("http://127.0.0.1:9101".to_owned(), true);
    screen.receive(
        Err(TargetError::NotRunning("cannot connect".to_owned())),
        now,
    );
    let first = lines(&drawn(&mut screen, now, 80, 24)).join("\n");
    assert!(
        first.contains("no connection\nerror: cannot connect; start the node"),
        "{first}"
    );
    receive(&mut screen, json_of(&stages(), 5_000, 1.0), now);
    assert!(!screen.has_gap());
    let text = "responded with 401".to_owned();
    screen.receive(Err(TargetError::Unauthorized(text)), now);
    let later = drawn(&mut screen, now + Duration::from_secs(12), 80, 24);
    let later = lines(&later).join("\n");
    assert!(
        later.contains("no connection, 12 s old\nerror: responded with 401"),
        "{later}"
    );
    assert!(later.contains("--token-file; trying again"), "{later}");
    assert!(later.contains("\n> executor"), "{later}");
    assert!(screen.has_gap(), "the curves lack what follows");
    receive(&mut screen, json_of(&stages(), 9_000, 1.0), now);
    let again = lines(&drawn(&mut screen, now, 80, 24)).join("\n");
    assert!(again.contains("live, 0 s old\nlimit:"), "{again}");
}

#[test]
fn keys_scroll_within_the_stages_pause_explain_and_end() {
    let now = Instant::now();
    let stages: Vec<_> = (0..40)
        .map(|of| stage(&format!("stage-{of}"), true, 1))
        .collect();
    let mut screen = screen_with(json_of(&stages, 5_000, 1.0), now);
    let shown = |screen: &mut Screen| {
        let rows = lines(&drawn(screen, now, 80, 24));
        let names = rows.iter().filter(|row| row.starts_with("  stage-"));
        let names: Vec<_> = names.map(|row| row[8..10].trim().to_owned()).collect();
        (names[0].clone(), names[names.len() - 1].clone())
    };
    let (first, last) = shown(&mut screen);
    assert_eq!((&*first, &*last), ("0", "15"));
    let rows = lines(&drawn(&mut screen, now, 80, 24));
    assert!(
        rows[23].ends_with("arrows scroll (24 more below)"),
        "{rows:#?}"
    );
    for _ in 0..9 {
        press(&mut screen, KeyCode::PageDown);
    }
    let (first, last) = shown(&mut screen);
    assert_eq!((&*first, &*last), ("24", "39"));
    press(&mut screen, KeyCode::Up);
    assert_eq!(shown(&mut screen).0, "23");
    press(&mut screen, KeyCode::Home);
    assert_eq!(shown(&mut screen).0, "0");

    press(&mut screen, KeyCode::Char('p'));
    receive(&mut screen, json_of(&stages[..1], 6_000, 1.0), now);
    assert_eq!(shown(&mut screen).1, "15");
    assert!(screen.is_paused() && screen.has_gap());
    let paused = lines(&drawn(&mut screen, now, 80, 24));
    assert!(paused[0].ends_with("paused, 0 s old"), "{}", paused[0]);
    press(&mut screen, KeyCode::Char('p'));
    receive(&mut screen, json_of(&stages[..1], 6_000, 1.0), now);
    assert_eq!(shown(&mut screen).1, "0");

    press(&mut screen, KeyCode::Char('?'));
    let help = lines(&drawn(&mut screen, now, 80, 24)).join("\n");
    assert!(help.contains("\nq, Ctrl-C  end\n"), "{help}");
    assert!(
        help.contains("from a symptom to a setting"),
        "the text is cut: {help}"
    );
    press(&mut screen, KeyCode::Esc);
    assert_eq!(shown(&mut screen).1, "0");
    assert!(press(&mut screen, KeyCode::Char('q')));
    let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    assert!(screen.press(interrupt).is_break());
    assert!(!press(&mut screen, KeyCode::Char('c')));
}

#[test]
fn no_control_character_of_a_node_reaches_the_terminal() {
    let now = Instant::now();
    let commands = "a\u{1b}]0;b\u{7}\u{9b}2Jc\r\nd\u{202e}e";
    let mut json = json_of(&[stage(commands, true, 1)], 5_000, 1.0);
    json["limit"]["sentence"] = commands.into();
    json["stages"][0]["queue"]["unit"] = commands.into();
    let mut screen = screen_with(json, now);
    let error = TargetError::Failed(commands.to_owned());
    let is_control = |c: char| c.is_control() || c == '\u{202e}';
    let printed = view::text(&screen, 132);
    screen.receive(Err(error), now);
    let drawn = drawn(&mut screen, now, 160, 50);
    let mut cells = drawn.content.iter();
    assert!(cells.all(|cell| !cell.symbol().contains(is_control)));
    assert!(printed.contains("a]0;b2Jc"), "{printed}");
    assert!(
        !printed.replace('\n', "").contains(is_control),
        "{printed:?}"
    );
}

#[test]
fn a_newer_node_may_have_more_fields_and_kinds() {
    let mut json = json_of(&stages(), 5_000, 1.0);
    json["limit"]["kind"] = "network".into();
    json["stages"][0]["kind"] = "fiber".into();
    json["stages"][0]["color"] = "blue".into();
    json["more"] = json!({ "a": [1] });
    let now = Instant::now();
    let rows = lines(&drawn(&mut screen_with(json, now), now, 80, 24));
    assert!(
        rows[1].starts_with("limit: executor 97 % busy"),
        "{rows:#?}"
    );
}

#[test]
fn extreme_figures_fit_every_size_of_a_screen() {
    let now = Instant::now();
    let mut json = json_of(
        &[stage(&"long".repeat(100_000), true, u64::MAX)],
        u64::MAX,
        1e308,
    );
    json["stages"][0]["in_per_s"] = (-1e308).into();
    json["stages"][0]["queue"] = json!({
        "unit": "ms", "waiting": u64::MAX, "capacity": 0, "setting": null,
        "oldest_ms": u64::MAX, "waited_p50_us": u64::MAX, "waited_p99_us": null,
        "was_never_empty": true,
    });
    json["limit"]["sentence"] = "word ".repeat(100_000).into();
    json["series"][2] = json!({ "name": "committed", "value": 1e308 });
    let mut screen = screen_with(json, now);
    for (width, height) in [(0, 0), (1, 1), (7, 3), (80, 5), (300, 100)] {
        drawn(&mut screen, now, width, height);
    }
    let rows = lines(&drawn(&mut screen, now, 80, 24));
    assert!(
        rows.iter().any(|row| row.starts_with("  longlonglonglon ")),
        "{rows:#?}"
    );
    screen.newest.as_mut().unwrap().0.stages.clear();
    assert_eq!(view::text(&screen, 132).lines().count(), 6);
}

#[test]
fn a_curve_has_a_column_of_maxima_for_each_five_seconds() {
    let columns = |snapshots: &[(u64, f64)]| {
        let mut curves = Curves::default();
        for &(uptime_ms, committed) in snapshots {
            curves.push(&snapshot(json_of(&[], uptime_ms, committed)));
        }
        let mut buffer = Buffer::empty(Rect::new(0, 0, 64, 3));
        curves.draw(buffer.area, &mut buffer);
        // The first curve, behind its label.
        lines(&buffer)[0]
            .chars()
            .skip(22)
            .take(9)
            .collect::<String>()
    };
    assert_eq!(
        columns(&[(1_000, 4.0), (4_000, 8.0), (5_000, 4.0)]),
        "       █▄"
    );
    // A node that was not observed for ten seconds.
    assert_eq!(columns(&[(1_000, 8.0), (15_000, 8.0)]), "     █  █");
    // A node that has started again.
    assert_eq!(columns(&[(60_000, 8.0), (1_000, 8.0)]), "        █");
}
