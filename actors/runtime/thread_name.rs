//! Names of threads that a library starts.

/// Names the calling thread, so that the system shows the name, cut to 15 bytes. Threads of
/// actix-rt have one name otherwise.
///
/// Only Linux names threads that run already.
pub fn name_thread(name: &str) {
    #[cfg(target_os = "linux")]
    if let Ok(name) = std::ffi::CString::new(name) {
        // An error means that the thread keeps its name.
        let _ = rustix::thread::set_name(&name);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = name;
}
