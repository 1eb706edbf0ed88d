//! The terminal in raw mode with its alternate screen, and its state afterwards.

use super::{screen::Screen, view};
use crossterm::{
    cursor::Show,
    execute,
    terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode},
};
use ratatui::{Terminal, backend::CrosstermBackend};
use std::{
    io::{self, Stdout, stdout},
    panic,
    time::Instant,
};

/// The terminal of standard output. It is as before when this is dropped, and after a panic.
pub struct FullScreen(Terminal<CrosstermBackend<Stdout>>);

impl FullScreen {
    /// Takes the terminal.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system if the terminal cannot be changed. It is as before
    /// then.
    pub fn open() -> io::Result<Self> {
        // A panic ends the process without a drop, and its message belongs on the usual screen.
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            restore();
            report(info);
        }));
        let open = || {
            enable_raw_mode()?;
            execute!(stdout(), EnterAlternateScreen)?;
            Terminal::new(CrosstermBackend::new(stdout()))
        };
        open().map(Self).inspect_err(|_| restore())
    }

    /// Draws the screen.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system if the terminal cannot be written.
    pub fn draw(&mut self, screen: &mut Screen) -> io::Result<()> {
        let draw = |frame: &mut ratatui::Frame<'_>| {
            let area = frame.area();
            view::draw(screen, Instant::now(), area, frame.buffer_mut());
        };
        self.0.draw(draw).map(drop)
    }
}

impl Drop for FullScreen {
    fn drop(&mut self) {
        restore();
    }
}

/// Restores the terminal. Without effect on one that is as before.
fn restore() {
    // An error means that the terminal was closed.
    let _ = disable_raw_mode();
    let _ = execute!(stdout(), LeaveAlternateScreen, Show);
}
