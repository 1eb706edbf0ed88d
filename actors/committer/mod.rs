//! The committer.

mod feed;
mod head;

pub use feed::BlockFeed;
pub use head::Head;
