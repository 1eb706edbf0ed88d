//! The kinds of reads, each around the window's lower bound, and the checks of their responses.

use super::{
    bounds::Bounds,
    known::{Block, Transfer},
    watch::{Response, Watch},
};
use fastrand::Rng;
use ledger_test_support::http::{NodeClient, number};
use serde_json::Value;
use std::sync::Arc;

/// The distance of the versions that are read, so that most are read repeatedly while the window
/// moves.
const STRIDE: u64 = 8;
/// Number of rows of a page.
const PAGE: u64 = 20;
/// The resource with the sequence number.
const ACCOUNT: &str = "0x1::account::Account";
/// The resource whose event handles are those of the primary store.
const COIN_STORE: &str = "0x1::coin::CoinStore<0x1::node_coin::NodeCoin>";
/// The event stream with one event per block, numbered by height.
const BLOCKS: &str = "/v1/accounts/0x1/events/0x1::block::BlockResource/new_block_events";

/// A client that reads until the watch is finished.
#[derive(Debug)]
pub struct Reader {
    pub node: NodeClient,
    pub watch: Arc<Watch>,
    pub random: Rng,
}

impl Reader {
    /// Reads until the watch is finished or a request gets no response.
    pub async fn run(mut self) {
        while !self.watch.is_finished() {
            let read = match self.random.u8(..12) {
                0 => self.block_by_height().await,
                1 => self.block_by_version().await,
                2 => self.by_version().await,
                3 => self.by_hash().await,
                4 => self.listing().await,
                5 => self.newest_listing().await,
                6 => self.summaries().await,
                7 => self.account_transactions().await,
                8 => self.block_events().await,
                9 => self.withdrawals().await,
                10 => self.resources_at_a_version().await,
                _ => self.state_at_a_version().await,
            };
            if read.is_none() {
                return;
            }
        }
    }

    /// Sends a request of this kind.
    async fn get(&self, kind: &'static str, path: String) -> Option<Response> {
        self.watch.get(&self.node, kind, path).await
    }

    /// Returns a random version around the lower bound.
    fn version(&mut self) -> u64 {
        let bounds = self.watch.bounds();
        let distance = self.watch.window / 8 + 1;
        let version = number_around_oldest(
            &mut self.random,
            bounds.oldest_version,
            bounds.version,
            distance,
        );
        version / STRIDE * STRIDE
    }

    /// Returns a random height around the lower bound.
    fn height(&mut self) -> u64 {
        let bounds = self.watch.bounds();
        let distance = (bounds.height - bounds.oldest_height) / 8 + 1;
        number_around_oldest(
            &mut self.random,
            bounds.oldest_height,
            bounds.height,
            distance,
        )
    }

    /// Returns a transfer of the payer, with its sequence number.
    fn transfer(&mut self) -> Option<(u64, Transfer)> {
        let oldest = self.watch.bounds().oldest_version;
        let known = self.watch.known();
        let newest = (known.transfers().len() as u64).checked_sub(1)?;
        let first = known
            .transfers_from(oldest)
            .next()
            .map_or(newest, |(first, _)| first);
        let distance = (newest - first) / 8 + 1;
        let number = number_around_oldest(&mut self.random, first, newest, distance);
        Some((number, known.transfers()[number as usize]))
    }

    async fn block_by_height(&mut self) -> Option<()> {
        let height = self.height();
        let path = format!("/v1/blocks/by_height/{height}?with_transactions=true");
        let response = self.get("block by height", path).await?;
        if response.check_presence(
            height >= response.bounds.oldest_height,
            &format!("block {height}"),
        ) {
            check_block(&self.watch, &response, height);
        }
        Some(())
    }

    async fn block_by_version(&mut self) -> Option<()> {
        let version = self.version();
        let path = format!("/v1/blocks/by_version/{version}?with_transactions=true");
        let response = self.get("block by version", path).await?;
        if response.check_version(version) {
            let block = Block::from_json(&response.http.json);
            assert!(
                (block.first_version..=block.last_version).contains(&version),
                "{block:?}"
            );
            check_block(
                &self.watch,
                &response,
                number(&response.http.json["block_height"]),
            );
        }
        Some(())
    }

    async fn by_version(&mut self) -> Option<()> {
        let version = self.version();
        let path = format!("/v1/transactions/by_version/{version}");
        let response = self.get("transaction by version", path).await?;
        if response.check_version(version) {
            assert_eq!(number(&response.http.json["version"]), version);
            self.watch
                .known()
                .record_body(&response.path, &response.http.text);
        }
        Some(())
    }

    async fn by_hash(&mut self) -> Option<()> {
        let Some((_, transfer)) = self.transfer() else {
            return Some(());
        };
        let path = format!("/v1/transactions/by_hash/{}", transfer.hash);
        let response = self.get("transaction by hash", path).await?;
        // Below the window the status is 410 while the index has the hash, and 404 afterwards.
        if response.http.status == 404 {
            assert!(
                transfer.version < response.bounds.oldest_version,
                "{response:?}"
            );
        } else if response.check_version(transfer.version) {
            assert_eq!(number(&response.http.json["version"]), transfer.version);
            self.watch
                .known()
                .record_body(&response.path, &response.http.text);
        }
        Some(())
    }

    async fn listing(&mut self) -> Option<()> {
        let start = self.version();
        let path = format!("/v1/transactions?start={start}&limit={PAGE}");
        let response = self.get("listing", path).await?;
        if response.check_version(start) {
            let end = response.bounds.version.min(start + PAGE - 1);
            assert_eq!(
                versions(&response.http.json),
                (start..=end).collect::<Vec<_>>(),
                "{response:?}"
            );
            self.record_full_page(&response);
        }
        Some(())
    }

    async fn newest_listing(&mut self) -> Option<()> {
        let path = format!("/v1/transactions?limit={PAGE}");
        let response = self.get("newest listing", path).await?;
        let Bounds {
            oldest_version,
            version,
            ..
        } = response.bounds;
        let first = oldest_version.max((version + 1).saturating_sub(PAGE));
        assert_eq!(
            versions(&response.http.json),
            (first..=version).collect::<Vec<_>>(),
            "{response:?}"
        );
        Some(())
    }

    async fn summaries(&mut self) -> Option<()> {
        let start = self.version();
        let payer = self.watch.payer.address;
        let path = format!(
            "/v1/accounts/{payer}/transaction_summaries?start_version={start}&limit={PAGE}"
        );
        let response = self.get("summaries", path).await?;
        if response.check_version(start) {
            let known = self.watch.known();
            let expected = known
                .transfers_from(start)
                .map(|(_, transfer)| transfer.version)
                .filter(|version| *version <= response.bounds.version);
            let found = versions(&response.http.json);
            // Transactions that are committed but not yet known to the payer may follow.
            let expected: Vec<_> = expected.take(PAGE as usize).collect();
            assert!(
                found.starts_with(&expected),
                "{response:?}: expected {expected:?}"
            );
            assert!(
                found
                    .iter()
                    .all(|version| *version <= response.bounds.version),
                "{response:?}"
            );
        }
        Some(())
    }

    async fn account_transactions(&mut self) -> Option<()> {
        let Some((start, transfer)) = self.transfer() else {
            return Some(());
        };
        let payer = self.watch.payer.address;
        let path = format!("/v1/accounts/{payer}/transactions?start={start}&limit={PAGE}");
        let response = self.get("account transactions", path).await?;
        if response.check_version(transfer.version) {
            check_numbered(&self.watch, &response, start);
            self.record_full_page(&response);
        }
        Some(())
    }

    async fn withdrawals(&mut self) -> Option<()> {
        let Some((start, transfer)) = self.transfer() else {
            return Some(());
        };
        let payer = self.watch.payer.address;
        let path = format!(
            "/v1/accounts/{payer}/events/{COIN_STORE}/withdraw_events?start={start}&limit={PAGE}"
        );
        let response = self.get("events of withdrawals", path).await?;
        if response.check_version(transfer.version) {
            check_numbered(&self.watch, &response, start);
            self.record_full_page(&response);
        }
        Some(())
    }

    async fn block_events(&mut self) -> Option<()> {
        let start = self.height();
        let path = format!("{BLOCKS}?start={start}&limit={PAGE}");
        let response = self.get("events of blocks", path).await?;
        if response.check_presence(
            start >= response.bounds.oldest_height,
            &format!("the event of block {start}"),
        ) {
            let newest = response.bounds.height;
            let expected: Vec<_> = (start..=newest.min(start + PAGE - 1)).collect();
            assert_eq!(
                sequence_numbers(&response.http.json),
                expected,
                "{response:?}"
            );
            self.record_full_page(&response);
        }
        Some(())
    }

    async fn resources_at_a_version(&mut self) -> Option<()> {
        let version = self.version();
        let payer = self.watch.payer.address;
        let path = format!("/v1/accounts/{payer}/resources?ledger_version={version}");
        let response = self.get("resources at a version", path).await?;
        // The payer does not exist at the oldest versions.
        if response.http.status != 404 && response.check_version(version) {
            self.watch
                .known()
                .record_body(&response.path, &response.http.text);
        }
        Some(())
    }

    /// Checks that at every version the payee has received as many coins as the payer has sent.
    async fn state_at_a_version(&mut self) -> Option<()> {
        let version = self.version();
        let (payer, payee) = (self.watch.payer.address, self.watch.payee.address);
        let sent = format!("/v1/accounts/{payer}/resource/{ACCOUNT}?ledger_version={version}");
        let sent = self.get("resource at a version", sent).await?;
        let received = format!("/v1/accounts/{payee}/balance/0xa?ledger_version={version}");
        let received = self.get("balance at a version", received).await?;
        if [&sent, &received]
            .iter()
            .any(|response| response.http.status == 404)
        {
            return Some(());
        }
        let are_in_window = [&sent, &received].map(|response| response.check_version(version));
        for response in [&sent, &received]
            .into_iter()
            .filter(|response| response.http.status == 200)
        {
            self.watch
                .known()
                .record_body(&response.path, &response.http.text);
        }
        let held = received.http.json.as_u64();
        if are_in_window == [true, true] && held >= Some(self.watch.payee_start) {
            let sent = number(&sent.http.json["data"]["sequence_number"]);
            assert_eq!(
                held.map(|held| held - self.watch.payee_start),
                Some(sent),
                "{version}"
            );
        }
        Some(())
    }

    /// Records the body of a full page, which never changes.
    fn record_full_page(&self, response: &Response) {
        if rows(&response.http.json).len() as u64 == PAGE {
            self.watch
                .known()
                .record_body(&response.path, &response.http.text);
        }
    }
}

/// Returns a random number up to `newest`, in four of five cases from `oldest - distance` to
/// `oldest + 2 * distance`.
fn number_around_oldest(random: &mut Rng, oldest: u64, newest: u64, distance: u64) -> u64 {
    let number = match random.u8(..10) {
        0 => random.u64(..=newest),
        1 => random.u64(oldest..=newest),
        _ => (oldest + random.u64(..=3 * distance)).saturating_sub(distance),
    };
    number.min(newest)
}

/// Checks that a block is complete, adjacent to its neighbors, and within the bounds of the
/// headers.
pub fn check_block(watch: &Watch, response: &Response, height: u64) {
    let json = &response.http.json;
    assert_eq!(number(&json["block_height"]), height, "{}", response.path);
    let block = Block::from_json(json);
    let expected: Vec<_> = (block.first_version..=block.last_version).collect();
    assert_eq!(
        versions(&json["transactions"]),
        expected,
        "{}",
        response.path
    );
    let Bounds {
        oldest_version,
        version,
        oldest_height,
        height: newest_height,
    } = response.bounds;
    assert_eq!(
        height == oldest_height,
        block.first_version == oldest_version,
        "{response:?}"
    );
    assert_eq!(
        height == newest_height,
        block.last_version == version,
        "{response:?}"
    );
    let mut known = watch.known();
    known.record_block(height, &block);
    known.record_body(&format!("block {height}"), &response.http.text);
}

/// Checks a page of the payer's transfers, or of their withdrawals, from a sequence number on.
fn check_numbered(watch: &Watch, response: &Response, start: u64) {
    let json = &response.http.json;
    let numbers = sequence_numbers(json);
    assert!(
        (start..)
            .zip(&numbers)
            .all(|(expected, found)| expected == *found),
        "{response:?}"
    );
    let known = watch.known();
    let expected: Vec<_> = known.transfers()[start as usize..]
        .iter()
        .map(|transfer| transfer.version)
        .filter(|version| *version <= response.bounds.version)
        .take(PAGE as usize)
        .collect();
    assert!(
        versions(json).starts_with(&expected),
        "{response:?}: expected {expected:?}"
    );
}

/// Returns the rows of a page.
fn rows(json: &Value) -> &[Value] {
    json.as_array()
        .unwrap_or_else(|| panic!("{json} is not a page"))
}

/// Returns the versions of a page.
fn versions(json: &Value) -> Vec<u64> {
    rows(json)
        .iter()
        .map(|row| number(&row["version"]))
        .collect()
}

/// Returns the sequence numbers of a page.
fn sequence_numbers(json: &Value) -> Vec<u64> {
    rows(json)
        .iter()
        .map(|row| number(&row["sequence_number"]))
        .collect()
}
