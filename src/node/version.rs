//! The version of the program.

use ledger_crypto::ed25519;
use std::sync::LazyLock;

/// Version, commit and profile of the build, and the backend of ed25519 on this processor.
/// `build.rs` sets commit and profile.
pub static VERSION: LazyLock<String> = LazyLock::new(|| {
    format!(
        "{} (commit {}, {}, ed25519 {})",
        env!("CARGO_PKG_VERSION"),
        env!("LEDGER_NODE_COMMIT"),
        env!("LEDGER_NODE_PROFILE"),
        ed25519::backend(),
    )
});
