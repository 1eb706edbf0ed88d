//! A terminal for a command under test.

use rustix::{
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize},
};
use std::{
    ffi::OsStr,
    fs::File,
    io::{Read as _, Write as _},
    mem,
    os::unix::ffi::OsStrExt as _,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex},
    thread::{self, JoinHandle},
};

/// A running command whose standard input, output and error are a terminal of its own.
pub struct TerminalCommand {
    /// The command.
    pub child: Child,
    /// The controlling side of the terminal, to which typed keys are written.
    controller: File,
    terminal: File,
    /// The output up to now, which a thread reads, so that the command never waits for a reader.
    output: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl TerminalCommand {
    /// Starts a command at a terminal of 80 columns and 24 rows.
    pub fn start(mut command: Command) -> Self {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&controller).unwrap();
        unlockpt(&controller).unwrap();
        let name = ptsname(&controller, Vec::new()).unwrap();
        let path = OsStr::from_bytes(name.as_bytes());
        let terminal = File::options().read(true).write(true).open(path).unwrap();
        let size = Winsize {
            ws_row: 24,
            ws_col: 80,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&terminal, size).unwrap();
        let end = || Stdio::from(terminal.try_clone().unwrap());
        let child = command
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .spawn()
            .unwrap();
        let controller = File::from(controller);
        let output = Arc::<Mutex<Vec<u8>>>::default();
        let reader = thread::spawn({
            let (mut controller, output) = (controller.try_clone().unwrap(), Arc::clone(&output));
            move || {
                let mut part = [0; 4096];
                // The read ends with an I/O error once no process has the terminal open any more.
                while let Ok(length @ 1..) = controller.read(&mut part) {
                    output.lock().unwrap().extend_from_slice(&part[..length]);
                }
            }
        });
        // It holds ends of the terminal.
        drop(command);
        Self {
            child,
            controller,
            terminal,
            output,
            reader,
        }
    }

    /// Returns whether the terminal echoes typed keys.
    pub fn echoes(&self) -> bool {
        self.has(LocalModes::ECHO)
    }

    /// Returns whether the terminal has local modes.
    pub fn has(&self, modes: LocalModes) -> bool {
        tcgetattr(&self.terminal)
            .unwrap()
            .local_modes
            .contains(modes)
    }

    /// Types keys at the terminal.
    pub fn type_keys(&mut self, keys: &str) {
        self.controller.write_all(keys.as_bytes()).unwrap();
    }

    /// Returns the output up to now.
    pub fn output(&self) -> String {
        String::from_utf8_lossy(&self.output.lock().unwrap()).into_owned()
    }

    /// Waits until the command has ended. Returns its status, whether the terminal is as before,
    /// and the output.
    pub fn ended(mut self) -> (ExitStatus, bool, String) {
        let status = self.child.wait().unwrap();
        let is_restored = self.has(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG);
        drop(self.terminal);
        self.reader.join().unwrap();
        let output = mem::take(&mut *self.output.lock().unwrap());
        (status, is_restored, String::from_utf8(output).unwrap())
    }
}
