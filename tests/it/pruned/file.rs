//! The file of a running node: what it takes on the disk, and how many of its pages are in use.

use crate::kit::TestNode;
use ledger_store::{Store, StoreOptions};
use std::fs;

/// The file at one moment.
#[derive(Clone, Copy, Debug)]
pub struct FileUsage {
    pub used_pages: u64,
    pub used_bytes: u64,
    pub stored_bytes: u64,
    /// How long the file is; it grows by doubling.
    pub file_bytes: u64,
    /// What it takes on the disk: pages that were never written take nothing.
    pub disk_bytes: u64,
}

impl FileUsage {
    /// Looks at the file of `node`, which is held still meanwhile: the pages are counted in a copy that is as
    /// a power cut would leave the file.
    pub async fn of(node: &TestNode) -> Self {
        let told = node.http.get(&format!("{}/storage", node.admin)).await;
        assert_eq!(told.status, 200, "{}", told.text);
        let copy = tempfile::tempdir_in(node.directory()).unwrap();
        let data = node.directory().join("data");
        node.signal("STOP");
        let copied = ["ledger.redb", "ledger.log"]
            .map(|name| fs::copy(data.join(name), copy.path().join(name)));
        node.signal("CONT");
        for copied in copied {
            copied.unwrap();
        }
        let options = StoreOptions {
            cache_bytes: 64 * 1024 * 1024,
        };
        let usage = Store::open(copy.path(), &options).unwrap().usage().unwrap();
        Self {
            used_pages: usage.used_pages,
            used_bytes: usage.used_pages * usage.page_bytes as u64,
            stored_bytes: usage.stored_bytes,
            file_bytes: told.json["file_bytes"].as_u64().unwrap(),
            disk_bytes: told.json["disk_bytes"].as_u64().unwrap(),
        }
    }
}
