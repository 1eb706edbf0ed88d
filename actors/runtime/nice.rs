//! Nice values of threads.

use std::io;

/// Raises the nice value of this thread to `nice`. A higher value stays, because only a
/// privileged process may lower it.
///
/// # Errors
///
/// Returns the error of the operating system if it rejects the value.
#[cfg(target_os = "linux")]
pub(crate) fn raise_nice_value(nice: u8) -> io::Result<()> {
    use rustix::process::{getpriority_process, setpriority_process};
    // Applies to the calling thread: Linux has one nice value per thread.
    let nice = getpriority_process(None)?.max(i32::from(nice));
    setpriority_process(None, nice)?;
    Ok(())
}

/// Does nothing, because on other systems the nice value applies to the whole process.
///
/// # Errors
///
/// Returns no error.
#[cfg(not(target_os = "linux"))]
pub(crate) fn raise_nice_value(_: u8) -> io::Result<()> {
    Ok(())
}
