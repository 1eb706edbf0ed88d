//! A file that is replaced as a whole, for files that the node changes while it runs.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

/// Replaces the file at `path`, which has the old or the new text after a crash.
///
/// The new file has the permissions `mode`, without those that the umask of the process removes.
///
/// # Errors
///
/// Returns the error of the operating system. The file is unchanged then, except if only the sync
/// of the directory failed.
pub fn replace_file(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    let new = write_new(path, text, mode)?;
    fs::rename(&new, path)?;
    let directory = path.parent().filter(|path| !path.as_os_str().is_empty());
    File::open(directory.unwrap_or(Path::new(".")))?.sync_all()
}

/// Writes and syncs the new file beside the old one, and returns its path.
fn write_new(path: &Path, text: &str, mode: u32) -> io::Result<PathBuf> {
    let new = path.with_extension("toml.new");
    // One that a crash has left may have other permissions.
    match fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(mode).open(&new)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    Ok(new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn leaves_the_former_file_until_the_new_one_is_complete() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file.toml");
        replace_file(&path, "old", 0o600).unwrap();
        // A crash between write and rename.
        let new = write_new(&path, "incomplete", 0o644).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");

        replace_file(&path, "new", 0o600).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        assert!(!new.exists());
    }
}
