//! Files that hold a secret. A file that others than its owner can access is rejected.

use std::{
    fs::File,
    io::{self, Read as _},
    os::unix::fs::PermissionsExt as _,
};
use zeroize::Zeroizing;

/// Permission bits of all users but the owner of a file.
const GROUP_AND_OTHERS: u32 = 0o077;
/// Maximum size of a file, in bytes. The buffer has this size from the start, because a buffer that
/// grows leaves copies of the secret in freed memory.
const BYTES_MAX: usize = 4096;

/// Reasons why a secret is rejected. No message repeats the content of the file.
#[derive(Debug, thiserror::Error)]
pub enum SecretFileError {
    /// The file cannot be opened or read, or is not UTF-8.
    #[error("{0}")]
    Unreadable(#[from] io::Error),
    /// The permissions of the file grant rights to others than its owner.
    #[error(
        "its mode {mode:03o} grants rights to others than its owner: chmod 600 it, and replace the secret \
         if others use this machine"
    )]
    OpenToOthers {
        /// Permission bits of the file.
        mode: u32,
    },
    /// The file is larger than any secret.
    #[error("it has more than {BYTES_MAX} bytes, the maximum of a secret")]
    TooLarge,
}

/// Reads an open file that holds a secret. The memory of the text is cleared when it is dropped.
///
/// # Errors
///
/// Returns [`SecretFileError::Unreadable`] if the file cannot be read or is not UTF-8,
/// [`SecretFileError::OpenToOthers`] if others than its owner have any right on it, and
/// [`SecretFileError::TooLarge`] if it exceeds 4 KiB.
pub fn read_secret_file(file: File) -> Result<Zeroizing<String>, SecretFileError> {
    let mode = file.metadata()?.permissions().mode() & 0o777;
    if mode & GROUP_AND_OTHERS != 0 {
        return Err(SecretFileError::OpenToOthers { mode });
    }
    read_secret(file)
}

/// Reads a secret to its end from a source without permissions, such as standard input.
///
/// # Errors
///
/// Returns [`SecretFileError::Unreadable`] or [`SecretFileError::TooLarge`] as
/// [`read_secret_file`] does.
pub fn read_secret(source: impl io::Read) -> Result<Zeroizing<String>, SecretFileError> {
    let mut text = Zeroizing::new(String::with_capacity(BYTES_MAX + 1));
    source
        .take(BYTES_MAX as u64 + 1)
        .read_to_string(&mut text)?;
    if text.len() > BYTES_MAX {
        return Err(SecretFileError::TooLarge);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, path::Path};

    /// Reads the secret of the file `path`.
    fn read(path: &Path) -> Result<Zeroizing<String>, SecretFileError> {
        read_secret_file(File::open(path)?)
    }

    #[test]
    fn rejects_files_that_others_can_access() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("secret");
        fs::write(&path, "a secret").unwrap();
        for mode in [0o600, 0o400, 0o700] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(*read(&path).unwrap(), "a secret");
        }
        for mode in [0o640, 0o604, 0o620, 0o601, 0o644, 0o777] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let error = read(&path).unwrap_err().to_string();
            assert!(
                error.contains("chmod 600") && error.contains(&format!("{mode:o}")),
                "{error}"
            );
        }
    }

    #[test]
    fn rejects_secrets_that_are_too_large_or_unreadable() {
        assert!(matches!(
            read_secret(io::repeat(b'a')),
            Err(SecretFileError::TooLarge)
        ));
        let longest = vec![b'a'; BYTES_MAX];
        assert_eq!(read_secret(&longest[..]).unwrap().len(), BYTES_MAX);
        assert!(matches!(
            read_secret(&b"\xff"[..]),
            Err(SecretFileError::Unreadable(_))
        ));
        let missing = read(Path::new("/nowhere/secret"));
        assert!(matches!(missing, Err(SecretFileError::Unreadable(_))));
    }
}
