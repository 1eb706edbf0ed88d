//! The identity of open files: whether their paths still lead to them.
//!
//! The content of a file that was removed or replaced is still written and synced, but the next
//! start does not find it. So a write is acknowledged only if the paths lead to the open files.

use crate::{StoreError, error::PathChange};
use std::{
    fs::{self, File, Metadata},
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Device and inode of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct FileId {
    device: u64,
    inode: u64,
}

#[cfg(unix)]
impl From<&Metadata> for FileId {
    fn from(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
        }
    }
}

/// All files are the same one, so that only a missing path is noticed: the standard library reports
/// no identity on other systems.
#[cfg(not(unix))]
impl From<&Metadata> for FileId {
    fn from(_: &Metadata) -> Self {
        Self {
            device: 0,
            inode: 0,
        }
    }
}

/// An open file and the path by which it was opened.
#[derive(Clone, Debug)]
pub(crate) struct OpenFile {
    path: PathBuf,
    id: FileId,
}

impl OpenFile {
    /// Returns the identity of `file`, which was opened at `path`.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system if it does not report the identity.
    pub(crate) fn new(path: &Path, file: &File) -> io::Result<Self> {
        Ok(Self {
            path: path.to_owned(),
            id: FileId::from(&file.metadata()?),
        })
    }

    /// Compares the file at the path with the open one. Symbolic links are followed.
    fn check(&self) -> Result<(), StoreError> {
        let change = match fs::metadata(&self.path) {
            Ok(found) if FileId::from(&found) == self.id => return Ok(()),
            Ok(_) => PathChange::Replaced,
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                PathChange::Removed
            }
            Err(error) => PathChange::Inaccessible(Arc::new(error)),
        };
        Err(StoreError::FileMoved {
            path: self.path.clone(),
            change,
        })
    }
}

/// The open files of a store, which any thread can compare with their paths. Cheap to clone.
///
/// Empty for a store that is not in a directory.
#[derive(Clone, Debug, Default)]
pub struct StoreFiles(Arc<[OpenFile]>);

impl StoreFiles {
    /// Creates the list of the files that are in a directory.
    pub(crate) fn new(files: impl IntoIterator<Item = OpenFile>) -> Self {
        Self(files.into_iter().collect())
    }

    /// Returns the paths by which the files were opened.
    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().map(|file| &*file.path)
    }

    /// Checks that the path of each file leads to the open file.
    ///
    /// Takes a system call for each file, which blocks while the file system does not respond.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::FileMoved`] for the first path that does not.
    pub fn check(&self) -> Result<(), StoreError> {
        self.0.iter().try_for_each(OpenFile::check)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// Returns a directory with a file, and the open file.
    fn opened(directory: &Path) -> (PathBuf, StoreFiles) {
        fs::create_dir(directory).unwrap();
        let path = directory.join("file");
        let file = File::create(&path).unwrap();
        let files = StoreFiles::new([OpenFile::new(&path, &file).unwrap()]);
        (path, files)
    }

    #[test]
    fn names_the_path_and_its_change() {
        type Change = fn(&Path);
        let cases: [(&str, Change, &str); 5] = [
            (
                "removed",
                |file| fs::remove_file(file).unwrap(),
                "removed or renamed",
            ),
            (
                "renamed",
                |file| fs::rename(file, file.with_extension("old")).unwrap(),
                "removed or renamed",
            ),
            (
                "replaced",
                |file| {
                    fs::copy(file, file.with_extension("new")).unwrap();
                    fs::rename(file.with_extension("new"), file).unwrap();
                },
                "replaced by another file",
            ),
            (
                "directory removed",
                |file| fs::remove_dir_all(file.parent().unwrap()).unwrap(),
                "removed or renamed",
            ),
            (
                "directory replaced by a file",
                |file| {
                    fs::remove_dir_all(file.parent().unwrap()).unwrap();
                    fs::write(file.parent().unwrap(), "").unwrap();
                },
                "removed or renamed",
            ),
        ];
        for (case, change, words) in cases {
            let directory = tempfile::tempdir().unwrap();
            let (path, files) = opened(&directory.path().join("data"));
            files.check().expect(case);
            change(&path);
            let error = files.check().expect_err(case);
            assert!(error.is_failed_io(), "{case}");
            let text = error.to_string();
            assert!(text.starts_with(path.to_str().unwrap()), "{case}: {text}");
            assert!(text.contains(words), "{case}: {text}");
        }
    }

    #[test]
    fn follows_links_and_accepts_a_path_that_leads_to_the_file_again() {
        let directory = tempfile::tempdir().unwrap();
        let (path, _) = opened(&directory.path().join("data"));
        let link = directory.path().join("link");
        symlink(&path, &link).unwrap();
        let file = File::open(&link).unwrap();
        let files = StoreFiles::new([OpenFile::new(&link, &file).unwrap()]);
        files.check().unwrap();
        let moved = directory.path().join("moved");
        fs::rename(&path, &moved).unwrap();
        assert!(files.check().is_err(), "the link leads nowhere");
        fs::remove_file(&link).unwrap();
        symlink(&moved, &link).unwrap();
        files.check().unwrap();
    }

    #[test]
    fn accepts_a_store_without_files() {
        StoreFiles::default().check().unwrap();
    }
}
