//! The recorder: the preloaded library, and the log that it writes.

use ledger_test_support::node::TestNode;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};
use tempfile::TempDir;

/// Ends the recorded process immediately after a line with this prefix.
const EXIT_AFTER: &str = "RECORD_EXIT_AFTER";

/// A change of the files, or a sync. Paths begin at the recorded root.
#[derive(Clone, Debug)]
pub enum Step {
    /// A process starts. It has no open files.
    Start,
    Open {
        descriptor: u32,
        creates: bool,
        truncates: bool,
        path: String,
    },
    Close {
        descriptor: u32,
    },
    Write {
        descriptor: u32,
        offset: usize,
        bytes: Vec<u8>,
    },
    Length {
        descriptor: u32,
        length: usize,
    },
    /// A sync begins.
    Sync {
        descriptor: u32,
    },
    /// The sync has completed: everything written before its begin is durable.
    Synced {
        descriptor: u32,
    },
    Rename {
        from: String,
        to: String,
    },
    Unlink {
        path: String,
    },
    Mkdir {
        path: String,
    },
}

/// A directory for nodes with recorded files.
#[derive(Debug)]
pub struct Recorder {
    directory: Arc<TempDir>,
    library: PathBuf,
}

impl Recorder {
    /// Compiles the library and creates the recorded root.
    pub fn new() -> Self {
        let directory = Arc::new(tempfile::tempdir().unwrap());
        let library = directory.path().join("recorder.so");
        let source =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/crash/powerloss/recorder.c");
        // The compiler that builds the C code of crates.
        let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
        let compiled = Command::new(compiler)
            .args([
                "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o",
            ])
            .arg(&library)
            .arg(source)
            .args(["-ldl", "-lpthread"])
            .output()
            .unwrap();
        let message = String::from_utf8_lossy(&compiled.stderr);
        assert!(compiled.status.success(), "{message}");
        let recorder = Self { directory, library };
        fs::create_dir(recorder.root()).unwrap();
        recorder
    }

    /// Returns the recorded root, which is durable from the beginning.
    pub fn root(&self) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join("disk")
    }

    /// Returns the directory of the test, which also contains the recorded files.
    pub fn directory(&self) -> Arc<TempDir> {
        Arc::clone(&self.directory)
    }

    fn log(&self) -> PathBuf {
        self.directory.path().join("record")
    }

    /// Returns the length of the record, in bytes.
    pub fn position(&self) -> u64 {
        fs::metadata(self.log()).unwrap().len()
    }

    /// Returns the command of a recorded node, whose data directory is three new directories deep.
    pub fn command(&self, settings: &[String], exit_after: Option<&str>) -> Command {
        let mut command = TestNode::command(&self.root().join("new/deep"), settings);
        command
            .env("LD_PRELOAD", &self.library)
            .env("RECORD_ROOT", self.root())
            .env("RECORD_LOG", self.log());
        if let Some(line) = exit_after {
            command.env(EXIT_AFTER, line);
        }
        command
    }

    /// Returns all steps, each with the position behind it in the record.
    pub fn steps(&self) -> Vec<(u64, Step)> {
        let record = fs::read(self.log()).unwrap();
        let mut steps = Vec::new();
        let mut at = 0;
        // A killed process may leave the last line or its bytes incomplete.
        while let Some((step, length)) = next_step(&record[at..]) {
            at += length;
            steps.push((at as u64, step));
        }
        assert!(
            record[at..].len() < 8 * 1024 * 1024,
            "the record cannot be read"
        );
        steps
    }
}

/// Parses the first step of a record. Returns it with its length in bytes.
fn next_step(record: &[u8]) -> Option<(Step, usize)> {
    let line_length = record.iter().position(|&byte| byte == b'\n')?;
    let line = std::str::from_utf8(&record[..line_length]).unwrap();
    let mut length = line_length + 1;
    let (keyword, rest) = line.split_once(' ').unwrap_or((line, ""));
    let numbers: Vec<usize> = rest
        .split(' ')
        .map_while(|number| number.parse().ok())
        .collect();
    let descriptor = numbers.first().map_or(0, |&number| number as u32);
    let step = match keyword {
        "start" => Step::Start,
        "open" => Step::Open {
            descriptor,
            creates: numbers[1] == 1,
            truncates: numbers[2] == 1,
            path: rest.splitn(4, ' ').nth(3).unwrap().to_owned(),
        },
        "close" => Step::Close { descriptor },
        "write" => {
            let bytes = record.get(length..length + numbers[2])?.to_vec();
            length += bytes.len();
            Step::Write {
                descriptor,
                offset: numbers[1],
                bytes,
            }
        }
        "length" => Step::Length {
            descriptor,
            length: numbers[1],
        },
        "sync" => Step::Sync { descriptor },
        "synced" => Step::Synced { descriptor },
        "rename" => {
            let (from, to) = rest.split_once('\t').unwrap();
            Step::Rename {
                from: from.to_owned(),
                to: to.to_owned(),
            }
        }
        "unlink" => Step::Unlink {
            path: rest.to_owned(),
        },
        "mkdir" => Step::Mkdir {
            path: rest.to_owned(),
        },
        _ => panic!("the record has the line {line:?}"),
    };
    Some((step, length))
}
