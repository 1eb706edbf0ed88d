//! The file of a running node: its size on the disk, and the number of pages in use.

use ledger_store::{Store, StoreOptions};
use ledger_test_support::node::TestNode;
use std::fs;

/// The usage of the file at one time.
#[derive(Clone, Copy, Debug)]
pub struct FileUsage {
    pub used_pages: u64,
    pub used_bytes: u64,
    pub stored_bytes: u64,
    /// The length of the file, which grows by doubling.
    pub file_bytes: u64,
    /// The space that the file takes on the disk. Unwritten pages take none.
    pub disk_bytes: u64,
}

impl FileUsage {
    /// Measures the file of `node`, which is stopped meanwhile. The pages are counted in a copy,
    /// which is as a power failure would leave the file.
    pub async fn measure(node: &TestNode) -> Self {
        let response = node.http.get(&format!("{}/storage", node.admin)).await;
        assert_eq!(response.status, 200, "{}", response.text);
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
            file_bytes: response.json["file_bytes"].as_u64().unwrap(),
            disk_bytes: response.json["disk_bytes"].as_u64().unwrap(),
        }
    }
}
