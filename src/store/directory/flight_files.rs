//! Recordings of the newest blocks, which a node writes into its data directory for its operator.
//!
//! The store names these files, keeps them complete or absent, and limits their number. It does not
//! know their content.

use super::names::{
    FLIGHT_PREFIX, FLIGHT_SUFFIX, UNFINISHED_SUFFIX, is_complete_flight_name, is_flight_name,
    sync_names,
};
use std::{
    ffi::OsStr,
    fs::{self, File},
    io::{self, ErrorKind, Write as _},
    path::{Path, PathBuf},
};

/// Maximum number of recordings in a data directory. Each takes less than 3 MB.
pub const FLIGHT_FILES_MAX: usize = 8;

/// Writes a recording durably, and removes the oldest ones beyond [`FLIGHT_FILES_MAX`].
///
/// `now_usecs` is the time in the name, in microseconds since the Unix epoch; a later time is taken
/// if that name exists. The caller must not call this concurrently for one directory.
///
/// # Errors
///
/// Returns the error of the file system. The directory then holds no part of the recording, except
/// if only the removal of old ones or the sync of the directory failed, or if the unfinished file
/// cannot be removed either; the next start removes that.
pub fn write_flight_file(directory: &Path, now_usecs: u64, content: &[u8]) -> io::Result<PathBuf> {
    let path = (now_usecs..)
        .map(|usecs| directory.join(file_name(usecs)))
        .find(|path| !path.exists())
        .ok_or(ErrorKind::AlreadyExists)?;
    let mut unfinished = path.clone().into_os_string();
    unfinished.push(UNFINISHED_SUFFIX);
    let unfinished = Path::new(&unfinished);
    if let Err(error) =
        write_synced(unfinished, content).and_then(|()| fs::rename(unfinished, &path))
    {
        // The disk may be full. The caller needs the first error.
        let _ = fs::remove_file(unfinished);
        return Err(error);
    }
    remove_oldest(directory, path.file_name())?;
    sync_names(directory)?;
    Ok(path)
}

fn write_synced(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(content)?;
    file.sync_all()
}

/// Removes unfinished recordings, and the oldest ones beyond [`FLIGHT_FILES_MAX`].
///
/// Logs a failure: the ledger does not need these files. The caller holds the lock of the
/// directory, so no process writes one.
pub(super) fn clean_flight_files(directory: &Path) {
    let cleaned = flight_names(directory, |name| !is_complete_flight_name(name))
        .and_then(|unfinished| remove_all(directory, &unfinished))
        .and_then(|()| remove_oldest(directory, None));
    if let Err(error) = cleaned {
        tracing::warn!(%error, directory = %directory.display(), "old flight files are not removed");
    }
}

/// Removes the oldest complete recordings beyond [`FLIGHT_FILES_MAX`], but never `newest`: the
/// clock may have been set back since the others were written.
fn remove_oldest(directory: &Path, newest: Option<&OsStr>) -> io::Result<()> {
    let mut others = flight_names(directory, is_complete_flight_name)?;
    others.retain(|name| newest.is_none_or(|newest| newest != name.as_str()));
    others.sort_unstable();
    let others_max = FLIGHT_FILES_MAX - usize::from(newest.is_some());
    let excess = others.len().saturating_sub(others_max);
    remove_all(directory, &others[..excess])
}

/// Returns the names of recordings, complete or not, for which `is_wanted` returns true.
fn flight_names(directory: &Path, is_wanted: impl Fn(&str) -> bool) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory)? {
        let name = entry?.file_name();
        if is_flight_name(&name)
            && let Some(name) = name.to_str()
            && is_wanted(name)
        {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

fn remove_all(directory: &Path, names: &[String]) -> io::Result<()> {
    for name in names {
        match fs::remove_file(directory.join(name)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Returns the name of the recording of this time, in microseconds since the Unix epoch. Names of
/// later times are greater up to the year 9999.
fn file_name(unix_usecs: u64) -> String {
    const DAY_SECS: u64 = 24 * 60 * 60;
    let (secs, usecs) = (unix_usecs / 1_000_000, unix_usecs % 1_000_000);
    let (year, month, day) = date(secs / DAY_SECS);
    let (hour, minute, second) = (secs / 3600 % 24, secs / 60 % 60, secs % 60);
    format!(
        "{FLIGHT_PREFIX}{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}.{usecs:06}Z{FLIGHT_SUFFIX}"
    )
}

/// Returns year, month and day of the Gregorian calendar, this many days after 1970-01-01.
///
/// Years begin in March here, so that a leap day is the last day of a year.
fn date(days: u64) -> (u64, u64, u64) {
    const ERA_DAYS: u64 = 146_097;
    let days = days + 719_468;
    let (era, day_of_era) = (days / ERA_DAYS, days % ERA_DAYS);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let months_since_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * months_since_march + 2) / 5 + 1;
    let month = (months_since_march + 2) % 12 + 1;
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const NOW_USECS: u64 = 1_795_763_190_000_042;

    fn names(directory: &Path) -> BTreeSet<String> {
        let entries = fs::read_dir(directory).unwrap();
        entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    #[test]
    fn names_a_file_by_the_time_in_utc() {
        for (unix_secs, time) in [
            (0, "19700101T000000"),
            (951_782_399, "20000228T235959"),
            (951_868_799, "20000229T235959"),
            (951_868_800, "20000301T000000"),
            (1_795_763_190, "20261127T070630"),
            (4_107_542_399, "21000228T235959"),
            (4_107_542_400, "21000301T000000"),
        ] {
            let name = file_name(unix_secs * 1_000_000 + 42);
            assert_eq!(name, format!("flight-{time}.000042Z.json"));
            assert!(is_flight_name(OsStr::new(&name)), "{name}");
            assert!(is_flight_name(OsStr::new(&format!("{name}.tmp"))), "{name}");
        }
    }

    #[test]
    fn takes_no_file_of_another_name_for_a_recording() {
        for name in [
            "flight-.json",
            "flight-plan.json",
            "flight-20261127T070630.000042Z.json.bak",
            "flight-20261127T070630.00004xZ.json",
            "my-flight-20261127T070630.000042Z.json",
            "ledger.redb",
        ] {
            assert!(!is_flight_name(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn writes_each_recording_into_a_file_of_its_own_and_keeps_the_newest_ones() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("flight-plan.json"), "").unwrap();
        let mut written = Vec::new();
        for number in 0..12 {
            let content = format!("{number}");
            // One microsecond has two of them.
            let path =
                write_flight_file(directory.path(), NOW_USECS + number / 2, content.as_bytes());
            let path = path.unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), content);
            written.push(path);
        }
        let kept = &written[written.len() - FLIGHT_FILES_MAX..];
        let mut expected: BTreeSet<_> = kept
            .iter()
            .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
            .collect();
        expected.insert("flight-plan.json".to_owned());
        assert_eq!(names(directory.path()), expected);
    }

    #[test]
    fn keeps_a_recording_that_is_written_after_the_clock_was_set_back() {
        let directory = tempfile::tempdir().unwrap();
        for number in 0..10 {
            write_flight_file(directory.path(), NOW_USECS + number, b"later").unwrap();
        }
        let path = write_flight_file(directory.path(), NOW_USECS - 1, b"earlier").unwrap();
        assert_eq!(fs::read_to_string(path).unwrap(), "earlier");
        assert_eq!(names(directory.path()).len(), FLIGHT_FILES_MAX);
    }

    #[test]
    fn leaves_nothing_of_a_recording_that_cannot_be_written() {
        let directory = tempfile::tempdir().unwrap();
        let name = file_name(NOW_USECS);
        // A directory of the name of the unfinished file.
        fs::create_dir(directory.path().join(format!("{name}.tmp"))).unwrap();
        write_flight_file(directory.path(), NOW_USECS, b"content").unwrap_err();
        assert!(!directory.path().join(name).exists());
    }

    #[test]
    fn removes_unfinished_recordings_and_the_oldest_ones_at_a_start() {
        let directory = tempfile::tempdir().unwrap();
        for number in 0..10 {
            fs::write(directory.path().join(file_name(NOW_USECS + number)), "").unwrap();
        }
        let unfinished = format!("{}.tmp", file_name(NOW_USECS + 20));
        fs::write(directory.path().join(unfinished), "").unwrap();
        clean_flight_files(directory.path());
        let expected = (2..10).map(|number| file_name(NOW_USECS + number));
        assert_eq!(names(directory.path()), expected.collect());
    }
}
