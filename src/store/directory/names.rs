//! Names in the data directory: the check of their owner, and their sync.

use super::{
    error::{foreign, io_error},
    lock::LOCK_NAME,
};
use crate::StoreError;
#[cfg(unix)]
use std::io::ErrorKind;
use std::{ffi::OsStr, fs, io, path::Path};

/// File of the database.
pub(crate) const FILE_NAME: &str = "ledger.redb";
/// File of the write-ahead log.
pub(crate) const LOG_NAME: &str = "ledger.log";
/// File of the database until it is complete.
pub(crate) const NEW_FILE_NAME: &str = "ledger.redb.new";
/// File of the settings that the node's operator has kept. The store leaves it alone.
pub const OVERRIDES_NAME: &str = "overrides.toml";
/// File of these settings until it is complete.
const NEW_OVERRIDES_NAME: &str = "overrides.toml.new";
/// Directory at the root of a new file system.
const LOST_AND_FOUND: &str = "lost+found";
/// Begin of the name of a recording of the newest blocks, before its time.
pub(super) const FLIGHT_PREFIX: &str = "flight-";
/// End of the name of a recording.
pub(super) const FLIGHT_SUFFIX: &str = ".json";
/// Further suffix of a recording until it is complete.
pub(super) const UNFINISHED_SUFFIX: &str = ".tmp";
/// Form of the time in the name of a recording: each 0 is a digit.
const FLIGHT_TIME_FORM: &[u8] = b"00000000T000000.000000Z";

/// Creates the directory if it is absent, with access for its owner alone.
///
/// It holds the key of the digests. With the key, others could choose names whose digests fill one
/// block of the indices.
///
/// # Errors
///
/// Returns the error of the operating system if the directory does not exist and cannot be created.
pub(super) fn make_directory(directory: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(directory)
}

/// Checks that the directory is empty or holds a ledger, before anything is created in it.
///
/// # Errors
///
/// Returns [`StoreError::Foreign`] for another file in a directory without a ledger, and
/// [`StoreError::Directory`] if the directory cannot be listed.
pub(super) fn check_names(directory: &Path) -> Result<(), StoreError> {
    let failed = io_error(directory);
    for entry in fs::read_dir(directory).map_err(&failed)? {
        let name = entry.map_err(&failed)?.file_name();
        // An operator may have removed a ledger and kept recordings and settings of its node.
        let is_kept = name == OVERRIDES_NAME || name == NEW_OVERRIDES_NAME || is_flight_name(&name);
        let is_own = [LOST_AND_FOUND, LOCK_NAME, NEW_FILE_NAME, FILE_NAME]
            .iter()
            .any(|own| name == *own)
            || is_kept;
        // Beside a ledger, other files are allowed. Another process may have created the ledger
        // since the listing began.
        if !is_own && !directory.join(FILE_NAME).try_exists().map_err(&failed)? {
            return Err(foreign(directory, &name.to_string_lossy()));
        }
    }
    Ok(())
}

/// Returns whether a recording, complete or not, can have this name.
///
/// No file of another form is ever removed.
pub(super) fn is_flight_name(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    is_complete_flight_name(name.strip_suffix(UNFINISHED_SUFFIX).unwrap_or(&name))
}

/// Returns whether a complete recording can have this name.
pub(super) fn is_complete_flight_name(name: &str) -> bool {
    let time = name
        .strip_prefix(FLIGHT_PREFIX)
        .and_then(|rest| rest.strip_suffix(FLIGHT_SUFFIX));
    time.is_some_and(|time| {
        time.len() == FLIGHT_TIME_FORM.len()
            && time
                .bytes()
                .zip(FLIGHT_TIME_FORM)
                .all(|(byte, form)| match form {
                    b'0' => byte.is_ascii_digit(),
                    form => byte == *form,
                })
    })
}

/// Syncs the directory and those above it, because redb syncs only the content of its file.
///
/// Every start does this: the process that created the names may have been killed before its sync.
///
/// # Errors
///
/// Returns the error of the operating system if a directory cannot be opened or synced. The names
/// of the files may then not be durable.
#[cfg(unix)]
pub(super) fn sync_names(directory: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    let directory = directory.canonicalize()?;
    let device = fs::metadata(&directory)?.dev();
    sync_directory(&fs::File::open(&directory)?)?;
    for above in directory.ancestors().skip(1) {
        // A node creates no directory above a mount point.
        if fs::metadata(above)?.dev() != device {
            break;
        }
        match fs::File::open(above) {
            Ok(above) => sync_directory(&above)?,
            // A directory that can be traversed but not listed was not created by this user.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Syncs one directory.
///
/// File systems without this operation report that it is invalid for a directory. No other
/// operation would make their names more durable, so this is not an error.
#[cfg(unix)]
fn sync_directory(directory: &fs::File) -> io::Result<()> {
    match directory.sync_all() {
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::InvalidInput | ErrorKind::Unsupported
            ) =>
        {
            Ok(())
        }
        synced => synced,
    }
}

/// Does nothing: only Unix systems sync directories.
#[cfg(not(unix))]
pub(super) fn sync_names(_directory: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_a_directory_with_kept_settings_for_an_empty_one() {
        let directory = tempfile::tempdir().unwrap();
        for name in [OVERRIDES_NAME, NEW_OVERRIDES_NAME] {
            fs::write(directory.path().join(name), "").unwrap();
            check_names(directory.path()).unwrap();
        }
        fs::write(directory.path().join("other.toml"), "").unwrap();
        check_names(directory.path()).unwrap_err();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn accepts_a_file_system_that_cannot_sync_directories() {
        let directory = fs::File::open("/proc").unwrap();
        let kind = directory.sync_all().unwrap_err().kind();
        assert_eq!(kind, ErrorKind::InvalidInput, "no longer an example");
        sync_directory(&directory).unwrap();
        sync_names(Path::new("/proc")).unwrap();
    }
}
