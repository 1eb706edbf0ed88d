//! Reads a listing in pages of random lengths.

// A failing run prints its seed.
#![allow(clippy::print_stdout)]

use crate::kit::{Client, RawResponse, assert_error, ledger_headers, ok_json};
use fastrand::Rng;
use serde_json::Value;

/// Maximum number of entries in a page of transactions or events.
const PAGE_MAX: u64 = 100;

/// Prints a seed and creates a generator of random numbers from it.
pub fn generator(seed: u64) -> Rng {
    println!("seed {seed}");
    Rng::with_seed(seed)
}

/// Returns a random page limit. One in five exceeds [`PAGE_MAX`].
fn page_limit(random: &mut Rng) -> u64 {
    random.u64(1..=PAGE_MAX * 5 / 4)
}

/// A listing with pages that begin at a number.
pub struct Numbered {
    pub path: String,
    /// Query parameter with the number of the first entry.
    pub start: &'static str,
    /// Member of an entry that has its number. Without one, entries are numbered by position.
    pub number: Option<&'static str>,
}

/// Result of reading a listing.
pub struct Walked {
    /// The newest version when the first page was read.
    pub version: u64,
    pub all: Vec<Value>,
    /// Whether a page was rejected because its first entry was pruned.
    pub is_pruned: bool,
}

/// Returns the number that a member holds as text.
pub fn number(entry: &Value, member: &str) -> u64 {
    entry[member].as_str().unwrap().parse().unwrap()
}

/// Returns the newest version when a response was made.
pub fn version(response: &RawResponse) -> u64 {
    ledger_headers(response, "node")[1]
}

/// Returns the newest version.
pub async fn newest_version(client: &Client) -> u64 {
    version(&client.get("/v1/info").await)
}

impl Numbered {
    /// Reads pages of random lengths from the number `from` to the version that was the newest one
    /// at the first page, while newer versions are committed.
    pub async fn walk(&self, client: &Client, from: u64, random: &mut Rng) -> Walked {
        let (mut start, mut first_page_version) = (from, None);
        let mut walked = Walked {
            version: 0,
            all: Vec::new(),
            is_pruned: false,
        };
        loop {
            let limit = page_limit(random);
            let path = format!("{}?{}={start}&limit={limit}", self.path, self.start);
            let response = client.get(&path).await;
            walked.version = *first_page_version.get_or_insert(version(&response));
            match response.status {
                // Some listings reject a start beyond their end.
                400 => {
                    assert_error(&response, (400, "invalid_input"), &path);
                    assert!(start > version(&response), "{path}");
                    return walked;
                }
                410 => {
                    walked.is_pruned = true;
                    return walked;
                }
                _ => {}
            }
            let Value::Array(page) = ok_json(&response) else {
                panic!("{path} is not a list");
            };
            assert!(page.len() as u64 <= limit.min(PAGE_MAX), "{path}");
            assert!(!response.headers.contains_key("x-node-cursor"), "{path}");
            let Some(last) = page.last() else {
                return walked;
            };
            start = match self.number {
                Some(member) => number(last, member) + 1,
                None => start + page.len() as u64,
            };
            // Entries that are numbered by position have one position per version.
            let is_past = match last.get("version") {
                Some(_) => number(last, "version") > walked.version,
                None => start > walked.version + 1,
            };
            walked.all.extend(page);
            if is_past {
                return walked;
            }
        }
    }
}

/// Reads a listing to its end by cursors, in pages of 1 to `limit_max` entries. Returns `None` if
/// a page was rejected because its version was pruned.
pub async fn walk_cursors(
    client: &Client,
    path: &str,
    random: &mut Rng,
    limit_max: u64,
) -> Option<Vec<Value>> {
    let (mut all, mut start) = (Vec::new(), String::new());
    loop {
        let limit = random.u64(1..=limit_max);
        let response = client.get(&format!("{path}&limit={limit}{start}")).await;
        if response.status == 410 {
            assert_error(&response, (410, "version_pruned"), path);
            return None;
        }
        let page = ok_json(&response);
        let page = page.as_array().unwrap();
        assert!(page.len() as u64 <= limit, "{path}");
        all.extend(page.iter().cloned());
        match response.headers.get("x-node-cursor") {
            Some(cursor) => start = format!("&start={cursor}"),
            None => return Some(all),
        }
    }
}
