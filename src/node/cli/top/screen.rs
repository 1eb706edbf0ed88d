//! The state of the screen, and its changes by keys and responses.

use super::curves::Curves;
use crate::{
    cli::target::TargetError,
    observe::{History, Snapshot},
};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::{ops::ControlFlow, time::Instant};

/// Number of rows that a page key scrolls.
const PAGE_ROWS: usize = 10;

/// The responses of a node.
pub struct Received {
    /// The newest snapshot.
    pub snapshot: Snapshot<String>,
    /// The newest 15 minutes, if they were requested.
    pub history: Option<History<String>>,
}

/// A request that failed.
pub struct Problem {
    /// The error.
    pub text: String,
    /// What an operator does about it.
    pub remedy: Option<&'static str>,
}

/// The state of the screen.
pub struct Screen {
    /// URL of the admin listener.
    pub url: String,
    /// Whether colors are drawn.
    pub has_color: bool,
    /// The newest snapshot, and when it was received.
    pub newest: Option<(Snapshot<String>, Instant)>,
    /// The newest minutes.
    pub curves: Curves,
    /// The error of the newest request.
    pub problem: Option<Problem>,
    /// Whether the explanations cover the table.
    pub has_help: bool,
    /// Number of stages above the first row of the table.
    pub rows_above: usize,
    is_paused: bool,
    has_gap: bool,
}

impl Screen {
    /// Creates a screen without a snapshot.
    pub fn new(url: String, has_color: bool) -> Self {
        Self {
            url,
            has_color,
            newest: None,
            curves: Curves::default(),
            problem: None,
            has_help: false,
            rows_above: 0,
            is_paused: false,
            has_gap: true,
        }
    }

    /// Returns whether the screen keeps its figures, so that nothing is requested.
    pub fn is_paused(&self) -> bool {
        self.is_paused
    }

    /// Returns whether the curves lack snapshots, so that the history is requested.
    pub fn has_gap(&self) -> bool {
        self.has_gap
    }

    /// Shows a response. After an error the figures stay, with their age.
    pub fn receive(&mut self, response: Result<Received, TargetError>, now: Instant) {
        // The response to a request before the pause.
        if self.is_paused {
            return;
        }
        match response {
            Ok(Received { snapshot, history }) => {
                match history {
                    Some(history) => self.curves = Curves::of(&history, &snapshot),
                    None => self.curves.push(&snapshot),
                }
                self.newest = Some((snapshot, now));
                self.problem = None;
                self.has_gap = false;
            }
            Err(error) => {
                self.problem = Some(Problem {
                    text: error.to_string(),
                    remedy: remedy(&error),
                });
                self.has_gap = true;
            }
        }
    }

    /// Applies a key. Breaks if it ends the command.
    pub fn press(&mut self, key: KeyEvent) -> ControlFlow<()> {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('c') if is_control => return ControlFlow::Break(()),
            KeyCode::Char('q') => return ControlFlow::Break(()),
            KeyCode::Esc if self.has_help => self.has_help = false,
            KeyCode::Char('?' | 'h') => self.has_help = !self.has_help,
            KeyCode::Char('p' | ' ') => {
                self.is_paused = !self.is_paused;
                self.has_gap = true;
            }
            KeyCode::Up | KeyCode::Char('k') => self.scroll_up(1),
            KeyCode::Down | KeyCode::Char('j') => self.rows_above += 1,
            KeyCode::PageUp => self.scroll_up(PAGE_ROWS),
            KeyCode::PageDown => self.rows_above += PAGE_ROWS,
            KeyCode::Home => self.rows_above = 0,
            _ => {}
        }
        ControlFlow::Continue(())
    }

    /// Scrolls up. The view bounds the rows in the other direction, because it knows its height.
    fn scroll_up(&mut self, rows: usize) {
        self.rows_above = self.rows_above.saturating_sub(rows);
    }
}

/// Returns what an operator does about an error whose text does not say it.
pub fn remedy(error: &TargetError) -> Option<&'static str> {
    match error {
        TargetError::NotRunning(_) => Some(
            "start the node, or name its admin listener (admin=URL in its ready line) with --url",
        ),
        TargetError::Unauthorized(_) => {
            Some("name the file of the listener's token (admin.token_file) with --token-file")
        }
        TargetError::NotFound(_) => Some(
            "this is not an admin listener; name the node's (admin=URL in its ready line) with --url",
        ),
        TargetError::Failed(_) => None,
    }
}
