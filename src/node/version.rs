//! The version of the program, and the commit of its build.

use ledger_crypto::ed25519;
use std::sync::LazyLock;

/// Commit of the build that `build.rs` found, `unknown` if it found none.
const COMMIT: &str = env!("LEDGER_NODE_COMMIT");

/// Returns the commit of the build, or an empty text if it is unknown.
pub fn git_hash() -> &'static str {
    match COMMIT {
        "unknown" => "",
        commit => commit,
    }
}

/// Version, commit and profile of the build, and the backend of ed25519 on this processor.
/// `build.rs` sets commit and profile.
pub static VERSION: LazyLock<String> = LazyLock::new(|| {
    format!(
        "{} (commit {}, {}, ed25519 {})",
        env!("CARGO_PKG_VERSION"),
        COMMIT,
        env!("LEDGER_NODE_PROFILE"),
        ed25519::backend(),
    )
});
