//! The data directory and the names in it: whose they are, and that they are durable.

use crate::StoreError;
use crate::directory::{error::foreign, lock::LOCK_NAME};

#[cfg(unix)]
#[cfg(unix)]
use std::io::ErrorKind;
use std::{fs, io, path::Path, sync::Arc};

/// The file of the ledger in its directory.
pub(crate) const FILE_NAME: &str = "ledger.redb";
/// The block log beside it.
pub(crate) const LOG_NAME: &str = "ledger.log";
/// The name of the ledger's file until it is whole.
pub(crate) const NEW_FILE_NAME: &str = "ledger.redb.new";
/// What a freshly made file system has at its root.
const LOST_AND_FOUND: &str = "lost+found";

/// Makes the directory where there is none, for its owner alone: the secret of the digests lies in it, with
/// which others could choose names that fill one block of the indices.
pub(crate) fn make_directory(directory: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(directory)
}

/// Refuses a directory of something else before anything is made in it.
pub(crate) fn check_names(directory: &Path) -> Result<(), StoreError> {
    let failed = |error: io::Error| StoreError::Directory {
        directory: directory.to_owned(),
        source: Arc::new(error),
    };
    for entry in fs::read_dir(directory).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let is_ours = [LOST_AND_FOUND, LOCK_NAME, NEW_FILE_NAME, FILE_NAME]
            .iter()
            .any(|ours| name == *ours);
        // Beside a ledger anything may lie; another process may have made it just now.
        if !is_ours && !directory.join(FILE_NAME).try_exists().map_err(failed)? {
            return Err(foreign(directory, &name.to_string_lossy()));
        }
    }
    Ok(())
}

/// Makes the names of the file and of the directories above it durable; the database syncs contents only. At
/// every start: whoever made them may have been killed before it came to this.
#[cfg(unix)]
pub(crate) fn sync_names(directory: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    let directory = directory.canonicalize()?;
    let device = fs::metadata(&directory)?.dev();
    sync_directory(&fs::File::open(&directory)?)?;
    for above in directory.ancestors().skip(1) {
        // Nothing above a mount point was made by us.
        if fs::metadata(above)?.dev() != device {
            break;
        }
        match fs::File::open(above) {
            Ok(above) => sync_directory(&above)?,
            // One that may be passed but not listed cannot be synced; it is not ours either.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Syncs a directory. File systems that know no such thing say that it is no operation for a directory: their
/// names are as durable as they make them, and nothing that we do changes that.
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

#[cfg(not(unix))]
pub(crate) fn sync_names(_directory: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_system_without_a_sync_of_directories_can_be_used() {
        let directory = fs::File::open("/proc").unwrap();
        let kind = directory.sync_all().unwrap_err().kind();
        assert_eq!(kind, ErrorKind::InvalidInput, "an example no more");
        sync_directory(&directory).unwrap();
        sync_names(Path::new("/proc")).unwrap();
    }
}
