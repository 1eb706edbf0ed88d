//! Files that are read whole, of a type and a size that cannot stop their reader.

use rustix::fs::OFlags;
use std::{
    fs::{File, OpenOptions},
    io::{self, Read},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};

/// Opens a regular file for reading.
///
/// A path may also name a pipe or a device, which blocks its reader or has no end. The file type is
/// that of the open file, because the path may name another file a moment later. Neither the open
/// nor a read waits, except for the file system.
///
/// # Errors
///
/// Returns the error of the system, or one of the kind `InvalidInput` if the file is not a regular
/// file.
pub fn open_regular_file(path: &Path) -> io::Result<File> {
    // Without this flag, opening a pipe waits for its writer.
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)?;
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::Error::new(
        io::ErrorKind::InvalidInput,
        "it is not a regular file, but a directory, pipe or device; write the content to a file",
    ))
}

/// Reads a source to its end, and at most `bytes_max` bytes.
///
/// # Errors
///
/// Returns the error of the source, or one of the kind `FileTooLarge` if it has more bytes.
pub fn read_bounded(source: impl Read, bytes_max: usize) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    // One byte more, which shows that the source is too large.
    source
        .take((bytes_max as u64).saturating_add(1))
        .read_to_end(&mut content)?;
    if content.len() > bytes_max {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("it has more than {bytes_max} bytes, the maximum of such a file"),
        ));
    }
    Ok(content)
}

/// Reads a source as [`read_bounded`] does, as UTF-8.
///
/// # Errors
///
/// Returns the errors of [`read_bounded`], or one of the kind `InvalidData` if the content is not
/// UTF-8.
pub fn read_bounded_text(source: impl Read, bytes_max: usize) -> io::Result<String> {
    String::from_utf8(read_bounded(source, bytes_max)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not valid UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd as _;

    #[test]
    fn opens_only_regular_files() {
        let regular = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        assert!(open_regular_file(&regular).is_ok());
        let (reader, _writer) = io::pipe().unwrap();
        let pipe = format!("/dev/fd/{}", reader.as_raw_fd());
        for path in ["/dev/null", "/dev", &pipe] {
            let error = open_regular_file(Path::new(path)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{path}");
        }
        let error = open_regular_file(Path::new("/nowhere")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn reads_at_most_the_maximum() {
        assert_eq!(read_bounded(&b"four"[..], 4).unwrap(), b"four");
        let error = read_bounded(io::repeat(b'a'), 4).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        assert!(error.to_string().contains("more than 4 bytes"), "{error}");
        let error = read_bounded_text(&b"\xff"[..], 4).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }
}
