//! A watch of open files: whether one of them may have been removed, renamed or replaced.
//!
//! Comparing both files with their paths takes a system call for each before a group of blocks is
//! acknowledged. Linux reports a change of a watched file before the call that made the change
//! returns, so one call tells that no file has changed. It does not report every change: a
//! directory above that of the file may be renamed, and another machine may change a network file
//! system. Another thread compares the files with their paths at intervals.

use super::file_identity::StoreFiles;

/// The watch of the files of a store, or none on a system without it.
#[derive(Debug)]
pub(crate) struct FileWatch {
    #[cfg(target_os = "linux")]
    events: Option<std::os::fd::OwnedFd>,
    /// Whether the files were not compared since the watch began.
    is_new: bool,
}

impl FileWatch {
    /// Begins to watch files, with their directories.
    pub(crate) fn new(files: &StoreFiles) -> Self {
        Self {
            #[cfg(target_os = "linux")]
            events: linux::watch(files.paths()),
            is_new: true,
        }
    }

    /// Returns whether a file may have been moved since the last call.
    ///
    /// The first call returns `true`, because a file may have been moved before the watch began.
    /// Every call does if the system has no watch left. Then the caller must compare the files with
    /// their paths.
    pub(crate) fn may_have_moved(&mut self) -> bool {
        let is_new = std::mem::take(&mut self.is_new);
        #[cfg(target_os = "linux")]
        let is_changed = self.events.as_ref().is_none_or(linux::has_events);
        #[cfg(not(target_os = "linux"))]
        let is_changed = true;
        is_new || is_changed
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use rustix::{
        fs::inotify::{self, CreateFlags, WatchFlags},
        io::{Errno, read},
    };
    use std::{os::fd::OwnedFd, path::Path};

    /// Size of a buffer for some events, at least one with the longest name, in bytes.
    const EVENTS_BYTES: usize = 1024;

    /// Watches files and their directories. Returns `None` if there are none, or if the system or a
    /// limit of the user (`fs.inotify`) does not permit it.
    pub(super) fn watch<'p>(paths: impl Iterator<Item = &'p Path>) -> Option<OwnedFd> {
        let mut paths = paths.peekable();
        paths.peek()?;
        let events = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
        // The number of links is an attribute.
        let of_file = WatchFlags::ATTRIB | WatchFlags::MOVE_SELF;
        // The path may be a symbolic link, which is replaced in its directory.
        let of_directory = WatchFlags::MOVE_SELF
            | WatchFlags::DELETE
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO;
        for path in paths {
            inotify::add_watch(&events, path, of_file).ok()?;
            inotify::add_watch(&events, path.parent()?, of_directory).ok()?;
        }
        Some(events)
    }

    /// Takes all events, and returns whether there were any. An error counts as one.
    pub(super) fn has_events(events: &OwnedFd) -> bool {
        let mut buffer = [0; EVENTS_BYTES];
        let mut has_any = false;
        loop {
            match read(events, &mut buffer) {
                Err(Errno::AGAIN) => return has_any,
                Err(_) => return true,
                Ok(_) => has_any = true,
            }
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::io::file_identity::OpenFile;
    use std::{
        fs::{self, File},
        io::Write as _,
        os::unix::fs::symlink,
        path::Path,
    };

    /// Returns the watch of a file at `path`, after its first comparison, and the open file, as in
    /// a store. Linux reports the removal of a file in another way if no process has it open.
    fn watched(path: &Path) -> (File, FileWatch) {
        let file = File::options().append(true).open(path).unwrap();
        let files = StoreFiles::new([OpenFile::new(path, &file).unwrap()]);
        let mut watch = FileWatch::new(&files);
        assert!(watch.may_have_moved(), "it was not compared before");
        assert!(!watch.may_have_moved());
        (file, watch)
    }

    #[test]
    fn reports_each_change_of_a_path_once() {
        type Change = fn(&Path);
        let changes: [(&str, Change); 6] = [
            ("removed", |data| {
                fs::remove_file(data.join("file")).unwrap();
            }),
            ("a link removed", |data| {
                fs::hard_link(data.join("file"), data.join("other")).unwrap();
                fs::remove_file(data.join("file")).unwrap();
            }),
            ("renamed", |data| {
                fs::rename(data.join("file"), data.join("old")).unwrap();
            }),
            ("replaced", |data| {
                fs::write(data.join("new"), "").unwrap();
                fs::rename(data.join("new"), data.join("file")).unwrap();
            }),
            ("directory removed", |data| {
                fs::remove_dir_all(data).unwrap();
            }),
            ("directory renamed", |data| {
                fs::rename(data, data.with_extension("old")).unwrap();
            }),
        ];
        for (case, change) in changes {
            let directory = tempfile::tempdir().unwrap();
            let data = directory.path().join("data");
            fs::create_dir(&data).unwrap();
            fs::write(data.join("file"), "").unwrap();
            let (_file, mut watch) = watched(&data.join("file"));
            change(&data);
            assert!(watch.may_have_moved(), "{case}");
            assert!(!watch.may_have_moved(), "{case}");
        }
    }

    #[test]
    fn reports_a_replaced_link() {
        let directory = tempfile::tempdir().unwrap();
        let [file, link, new] = ["file", "link", "new"].map(|name| directory.path().join(name));
        fs::write(&file, "").unwrap();
        symlink(&file, &link).unwrap();
        let (_file, mut watch) = watched(&link);
        symlink("elsewhere", &new).unwrap();
        fs::rename(&new, &link).unwrap();
        assert!(watch.may_have_moved());
    }

    /// The directory of the target is not watched.
    #[test]
    fn reports_a_change_of_the_target_of_a_link() {
        type Change = fn(&Path, &Path);
        let changes: [(&str, Change); 2] = [
            ("removed", |target, _| fs::remove_file(target).unwrap()),
            ("renamed", |target, to| fs::rename(target, to).unwrap()),
        ];
        for (case, change) in changes {
            let [data, disk] = [(); 2].map(|()| tempfile::tempdir().unwrap());
            let (link, target) = (data.path().join("link"), disk.path().join("target"));
            fs::write(&target, "").unwrap();
            symlink(&target, &link).unwrap();
            let (_file, mut watch) = watched(&link);
            change(&target, &disk.path().join("old"));
            assert!(watch.may_have_moved(), "{case}");
        }
    }

    #[test]
    fn reports_no_write() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        fs::write(&path, "").unwrap();
        let (_file, mut watch) = watched(&path);
        let mut file = File::options().append(true).open(&path).unwrap();
        file.write_all(b"content").unwrap();
        file.sync_all().unwrap();
        file.set_len(0).unwrap();
        File::create(directory.path().join("other")).unwrap();
        assert!(!watch.may_have_moved());
    }

    #[test]
    fn reports_a_change_at_every_call_without_a_watch() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        fs::write(&path, "").unwrap();
        let (_file, mut watch) = watched(&path);
        watch.events = None;
        assert!(watch.may_have_moved() && watch.may_have_moved());
    }
}
