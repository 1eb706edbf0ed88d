//! Standard input as a terminal that does not echo what is typed.

use rustix::{
    process::{Signal, getpid, kill_process},
    termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr},
};
use std::io::{self, Read, StdinLock, Write as _};

/// The character that the interrupt key (Ctrl-C) sends.
const INTERRUPT: u8 = 0x03;

/// A terminal on standard input whose echo is off until this is dropped.
pub struct HiddenTerminal {
    before: Termios,
}

impl HiddenTerminal {
    /// Turns the echo off. Returns `None` if standard input is not a terminal.
    ///
    /// The interrupt key ends the line instead of the process, which would leave the echo off.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system if the terminal cannot be changed.
    pub fn hide() -> io::Result<Option<Self>> {
        let stdin = io::stdin();
        let Ok(before) = tcgetattr(&stdin) else {
            return Ok(None);
        };
        let mut hidden = before.clone();
        hidden.local_modes -= LocalModes::ECHO | LocalModes::ISIG;
        hidden.local_modes |= LocalModes::ICANON | LocalModes::ECHONL;
        hidden.special_codes[SpecialCodeIndex::VEOL] = INTERRUPT;
        tcsetattr(&stdin, OptionalActions::Now, &hidden)?;
        Ok(Some(Self { before }))
    }

    /// Asks with `prompt` on standard error, and returns a reader of one line.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system if the prompt cannot be written.
    pub fn line(self, prompt: &str) -> io::Result<HiddenLine> {
        let mut stderr = io::stderr();
        stderr.write_all(prompt.as_bytes())?;
        stderr.flush()?;
        Ok(HiddenLine {
            stdin: io::stdin().lock(),
            terminal: Some(self),
        })
    }
}

impl Drop for HiddenTerminal {
    fn drop(&mut self) {
        // An error means that the terminal was closed.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
    }
}

/// A line that is typed at a terminal without an echo. The echo is on again after its end.
pub struct HiddenLine {
    stdin: StdinLock<'static>,
    /// `None` after the end of the line.
    terminal: Option<HiddenTerminal>,
}

impl Read for HiddenLine {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.terminal.is_none() {
            return Ok(0);
        }
        let count = self.stdin.read(buffer)?;
        let end = buffer[..count].last().copied();
        if matches!(end, None | Some(b'\n' | INTERRUPT)) {
            self.terminal = None;
        }
        if end == Some(INTERRUPT) {
            // With the terminal as it was before, the process ends as the interrupt key would have
            // ended it.
            kill_process(getpid(), Signal::INT)?;
            // The process was started with the signal ignored. Callers would retry an error of the
            // kind `Interrupted` and take the line for a key.
            return Err(io::Error::other("interrupted"));
        }
        Ok(count)
    }
}
