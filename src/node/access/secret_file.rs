//! Files that hold a secret: read only where nobody but their owner can read them too.

use std::{
    fs::File,
    io::{self, Read as _},
    os::unix::fs::PermissionsExt as _,
    path::Path,
};
use zeroize::Zeroizing;

/// The permission bits of everyone but a file's owner.
const GROUP_AND_OTHERS: u32 = 0o077;
/// The largest file, in bytes: a secret in any form, some white space, and no copy that had to grow.
const BYTES_MAX: usize = 4096;

/// Why a secret is not read. The text of the file is in no error.
#[derive(Debug, thiserror::Error)]
pub enum SecretFileError {
    /// It cannot be opened or read, or is no text.
    #[error("{0}")]
    Unreadable(#[from] io::Error),
    /// Others than its owner may do something with it.
    #[error(
        "others than its owner may use the secret in it (mode {mode:03o}): chmod 600 it, and make a new \
         secret if others use this machine"
    )]
    OpenToOthers {
        /// Its permission bits.
        mode: u32,
    },
    /// It is too large to hold a secret.
    #[error("it has more than {BYTES_MAX} bytes, which no secret has")]
    TooLarge,
}

/// Reads the text of a file that holds a secret; the memory is cleared when it is dropped.
///
/// # Errors
/// See [`SecretFileError`].
pub fn read_secret_file(path: &Path) -> Result<Zeroizing<String>, SecretFileError> {
    let file = File::open(path)?;
    // Asked of the open file, so that what is looked at is what is read.
    let mode = file.metadata()?.permissions().mode() & 0o777;
    if mode & GROUP_AND_OTHERS != 0 {
        return Err(SecretFileError::OpenToOthers { mode });
    }
    read_secret(file)
}

/// Reads a secret to its end, as [`read_secret_file`] does, from where there are no permissions.
///
/// # Errors
/// See [`SecretFileError`].
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
    use std::fs;

    #[test]
    fn only_its_owner_may_have_rights_on_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("secret");
        fs::write(&path, "a secret").unwrap();
        for mode in [0o600, 0o400, 0o700] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(*read_secret_file(&path).unwrap(), "a secret");
        }
        for mode in [0o640, 0o604, 0o620, 0o601, 0o644, 0o777] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let error = read_secret_file(&path).unwrap_err().to_string();
            assert!(
                error.contains("chmod 600") && error.contains(&format!("{mode:o}")),
                "{error}"
            );
        }
    }

    #[test]
    fn a_secret_has_an_end() {
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
        let missing = read_secret_file(Path::new("/nowhere/secret"));
        assert!(matches!(missing, Err(SecretFileError::Unreadable(_))));
    }
}
