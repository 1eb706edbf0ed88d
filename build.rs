//! Passes the commit and the profile of the build to the compiler, for `--version`, and compresses
//! the debug information of release builds.
//!
//! The commit is read from the files of the repository, because `git` may not be installed. It is
//! `unknown` in a source tree without a repository, and in the dev profile, where a commit would
//! otherwise compile the binary again.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// Number of hex digits of the commit in the version.
const COMMIT_DIGITS: usize = 12;

fn main() {
    // Without this line, a change of any file of the package would run the script again.
    println!("cargo::rerun-if-changed=build.rs");
    // "release" for every profile that inherits it, and "debug" for the others.
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let (profile, commit) = if is_release {
        let package = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        let repository = package.and_then(|package| Repository::open(&package.join(".git")));
        ("release", repository.and_then(|found| found.head_commit()))
    } else {
        ("dev", None)
    };
    let is_linux = env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux");
    if is_release && is_linux {
        println!("cargo::rustc-link-arg-bins=-Wl,--compress-debug-sections=zlib");
    }
    let commit = commit.as_deref().unwrap_or("unknown");
    println!("cargo::rustc-env=LEDGER_NODE_PROFILE={profile}");
    println!("cargo::rustc-env=LEDGER_NODE_COMMIT={commit}");
}

/// The folders of a repository.
struct Repository {
    /// The folder with `HEAD`, which each worktree has of its own.
    worktree: PathBuf,
    /// The folder with the refs, which all worktrees share.
    common: PathBuf,
}

impl Repository {
    /// Opens the repository at `.git`, which is a file that names a folder in a worktree that was
    /// added to a repository. Returns `None` if there is none.
    fn open(dot_git: &Path) -> Option<Self> {
        let worktree = match fs::read_to_string(dot_git) {
            Ok(text) => {
                watch(dot_git);
                dot_git
                    .parent()?
                    .join(text.strip_prefix("gitdir: ")?.trim_end())
            }
            Err(_) => dot_git.to_owned(),
        };
        let common = match fs::read_to_string(worktree.join("commondir")) {
            Ok(text) => worktree.join(text.trim_end()),
            Err(_) => worktree.clone(),
        };
        Some(Self { worktree, common })
    }

    /// Returns the first digits of the commit that is checked out, or `None` if it cannot be read.
    fn head_commit(&self) -> Option<String> {
        let head = read_watched(&self.worktree.join("HEAD"))?;
        let commit = match head.strip_prefix("ref: ") {
            Some(name) => self.resolve(name.trim_end())?,
            None => head,
        };
        let digits = commit.get(..COMMIT_DIGITS)?;
        let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hex.then(|| digits.to_owned())
    }

    /// Returns the commit of the ref `name`, which has a file of its own or a line in
    /// `packed-refs`.
    fn resolve(&self, name: &str) -> Option<String> {
        let file = self.common.join(name);
        if let Some(commit) = read_watched(&file) {
            return Some(commit);
        }
        // The next commit creates the file. Cargo takes a missing file as changed, but watches
        // folders.
        watch(file.ancestors().find(|folder| folder.is_dir())?);
        let packed = read_watched(&self.common.join("packed-refs"))?;
        let mut lines = packed.lines().filter_map(|line| line.split_once(' '));
        let (commit, _) = lines.find(|(_, packed)| *packed == name)?;
        Some(commit.to_owned())
    }
}

/// Reads a file, and runs this script again when it changes. Returns `None` if it cannot be read.
fn read_watched(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    watch(path);
    Some(text)
}

/// Runs this script again when a file or a folder changes.
fn watch(path: &Path) {
    println!("cargo::rerun-if-changed={}", path.display());
}
