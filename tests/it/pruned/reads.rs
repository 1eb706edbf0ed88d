//! The kinds of reads, each around the window's lower end, and what must hold for its answer.

use super::{
    known::{Block, Transfer},
    moment::Moment,
    number,
    watch::{Told, Watch},
};
use crate::kit::NodeClient;
use fastrand::Rng;
use serde_json::Value;
use std::sync::Arc;

/// Every so many versions one is asked for, so that most are asked for again while the window moves on.
const STRIDE: u64 = 8;
/// How many rows a page has.
const PAGE: u64 = 20;
/// The resource with the sequence number.
const ACCOUNT: &str = "0x1::account::Account";
/// The stream that has an event of every block, whose number is the height.
const BLOCKS: &str = "/v1/accounts/0x1/events/0x1::block::BlockResource/new_block_events";

/// A client that reads until the watch is over.
#[derive(Debug)]
pub struct Reader {
    pub node: NodeClient,
    pub watch: Arc<Watch>,
    pub random: Rng,
}

impl Reader {
    /// Reads until the watch is over, or no answer comes.
    pub async fn run(mut self) {
        while !self.watch.is_over() {
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

    async fn ask(&self, kind: &'static str, path: String) -> Option<Told> {
        self.watch.ask(&self.node, kind, path).await
    }

    fn version(&mut self) -> u64 {
        let moment = self.watch.moment();
        let reach = self.watch.window / 8 + 1;
        let version = number_around_oldest(
            &mut self.random,
            moment.oldest_version,
            moment.version,
            reach,
        );
        version / STRIDE * STRIDE
    }

    fn height(&mut self) -> u64 {
        let moment = self.watch.moment();
        let reach = (moment.height - moment.oldest_height) / 8 + 1;
        number_around_oldest(&mut self.random, moment.oldest_height, moment.height, reach)
    }

    /// A transfer of the payer, with its sequence number.
    fn transfer(&mut self) -> Option<(u64, Transfer)> {
        let oldest = self.watch.moment().oldest_version;
        let known = self.watch.known();
        let newest = (known.transfers().len() as u64).checked_sub(1)?;
        let first = known
            .transfers_from(oldest)
            .next()
            .map_or(newest, |(first, _)| first);
        let reach = (newest - first) / 8 + 1;
        let number = number_around_oldest(&mut self.random, first, newest, reach);
        Some((number, known.transfers()[number as usize]))
    }

    async fn block_by_height(&mut self) -> Option<()> {
        let height = self.height();
        let path = format!("/v1/blocks/by_height/{height}?with_transactions=true");
        let told = self.ask("block by height", path).await?;
        if told.gives(
            height >= told.moment.oldest_height,
            &format!("block {height}"),
        ) {
            check_block(&self.watch, &told, height);
        }
        Some(())
    }

    async fn block_by_version(&mut self) -> Option<()> {
        let version = self.version();
        let path = format!("/v1/blocks/by_version/{version}?with_transactions=true");
        let told = self.ask("block by version", path).await?;
        if told.gives_version(version) {
            let block = Block::of(&told.answer.json);
            assert!(
                (block.first_version..=block.last_version).contains(&version),
                "{block:?}"
            );
            check_block(
                &self.watch,
                &told,
                number(&told.answer.json["block_height"]),
            );
        }
        Some(())
    }

    async fn by_version(&mut self) -> Option<()> {
        let version = self.version();
        let path = format!("/v1/transactions/by_version/{version}");
        let told = self.ask("transaction by version", path).await?;
        if told.gives_version(version) {
            assert_eq!(number(&told.answer.json["version"]), version);
            self.watch.known().learn_body(&told.path, &told.answer.text);
        }
        Some(())
    }

    async fn by_hash(&mut self) -> Option<()> {
        let Some((_, transfer)) = self.transfer() else {
            return Some(());
        };
        let path = format!("/v1/transactions/by_hash/{}", transfer.hash);
        let told = self.ask("transaction by hash", path).await?;
        // Below the window it is 410 while the index has it, then it is unknown.
        if told.answer.status == 404 {
            assert!(transfer.version < told.moment.oldest_version, "{told:?}");
        } else if told.gives_version(transfer.version) {
            assert_eq!(number(&told.answer.json["version"]), transfer.version);
            self.watch.known().learn_body(&told.path, &told.answer.text);
        }
        Some(())
    }

    async fn listing(&mut self) -> Option<()> {
        let start = self.version();
        let path = format!("/v1/transactions?start={start}&limit={PAGE}");
        let told = self.ask("listing", path).await?;
        if told.gives_version(start) {
            let end = told.moment.version.min(start + PAGE - 1);
            assert_eq!(
                versions(&told.answer.json),
                (start..=end).collect::<Vec<_>>(),
                "{told:?}"
            );
            self.learn_full_page(&told);
        }
        Some(())
    }

    async fn newest_listing(&mut self) -> Option<()> {
        let path = format!("/v1/transactions?limit={PAGE}");
        let told = self.ask("newest listing", path).await?;
        let Moment {
            oldest_version,
            version,
            ..
        } = told.moment;
        let first = oldest_version.max((version + 1).saturating_sub(PAGE));
        assert_eq!(
            versions(&told.answer.json),
            (first..=version).collect::<Vec<_>>(),
            "{told:?}"
        );
        Some(())
    }

    async fn summaries(&mut self) -> Option<()> {
        let start = self.version();
        let payer = self.watch.payer.address;
        let path = format!(
            "/v1/accounts/{payer}/transaction_summaries?start_version={start}&limit={PAGE}"
        );
        let told = self.ask("summaries", path).await?;
        if told.gives_version(start) {
            let known = self.watch.known();
            let expected = known
                .transfers_from(start)
                .map(|(_, transfer)| transfer.version)
                .filter(|version| *version <= told.moment.version);
            let found = versions(&told.answer.json);
            // What is committed and not yet told to the payer may come on top.
            let expected: Vec<_> = expected.take(PAGE as usize).collect();
            assert!(
                found.starts_with(&expected),
                "{told:?}: expected {expected:?}"
            );
            assert!(
                found.iter().all(|version| *version <= told.moment.version),
                "{told:?}"
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
        let told = self.ask("account transactions", path).await?;
        if told.gives_version(transfer.version) {
            check_numbered(&self.watch, &told, start);
            self.learn_full_page(&told);
        }
        Some(())
    }

    async fn withdrawals(&mut self) -> Option<()> {
        let Some((start, transfer)) = self.transfer() else {
            return Some(());
        };
        let (payer, store) = (self.watch.payer.address, &self.watch.coin_store);
        let path = format!(
            "/v1/accounts/{payer}/events/{store}/withdraw_events?start={start}&limit={PAGE}"
        );
        let told = self.ask("events of withdrawals", path).await?;
        if told.gives_version(transfer.version) {
            check_numbered(&self.watch, &told, start);
            self.learn_full_page(&told);
        }
        Some(())
    }

    async fn block_events(&mut self) -> Option<()> {
        let start = self.height();
        let path = format!("{BLOCKS}?start={start}&limit={PAGE}");
        let told = self.ask("events of blocks", path).await?;
        if told.gives(
            start >= told.moment.oldest_height,
            &format!("the event of block {start}"),
        ) {
            let newest = told.moment.height;
            let expected: Vec<_> = (start..=newest.min(start + PAGE - 1)).collect();
            assert_eq!(sequence_numbers(&told.answer.json), expected, "{told:?}");
            self.learn_full_page(&told);
        }
        Some(())
    }

    async fn resources_at_a_version(&mut self) -> Option<()> {
        let version = self.version();
        let payer = self.watch.payer.address;
        let path = format!("/v1/accounts/{payer}/resources?ledger_version={version}");
        let told = self.ask("resources at a version", path).await?;
        // The payer is younger than the ledger.
        if told.answer.status != 404 && told.gives_version(version) {
            self.watch.known().learn_body(&told.path, &told.answer.text);
        }
        Some(())
    }

    /// At every version the payee has received as many coins as the payer has sent.
    async fn state_at_a_version(&mut self) -> Option<()> {
        let version = self.version();
        let (payer, payee) = (self.watch.payer.address, self.watch.payee.address);
        let sent = format!("/v1/accounts/{payer}/resource/{ACCOUNT}?ledger_version={version}");
        let sent = self.ask("resource at a version", sent).await?;
        let received = format!("/v1/accounts/{payee}/balance/0xa?ledger_version={version}");
        let received = self.ask("balance at a version", received).await?;
        if [&sent, &received]
            .iter()
            .any(|told| told.answer.status == 404)
        {
            return Some(());
        }
        let are_there = [&sent, &received].map(|told| told.gives_version(version));
        for told in [&sent, &received]
            .into_iter()
            .filter(|told| told.answer.status == 200)
        {
            self.watch.known().learn_body(&told.path, &told.answer.text);
        }
        let held = received.answer.json.as_u64();
        if are_there == [true, true] && held >= Some(self.watch.payee_start) {
            let sent = number(&sent.answer.json["data"]["sequence_number"]);
            assert_eq!(
                held.map(|held| held - self.watch.payee_start),
                Some(sent),
                "{version}"
            );
        }
        Some(())
    }

    /// A page that is full stays the same.
    fn learn_full_page(&self, told: &Told) {
        if rows(&told.answer.json).len() as u64 == PAGE {
            self.watch.known().learn_body(&told.path, &told.answer.text);
        }
    }
}

/// Returns a random number up to `newest`, in four of five cases from `oldest - reach` to
/// `oldest + 2 * reach`.
fn number_around_oldest(random: &mut Rng, oldest: u64, newest: u64, reach: u64) -> u64 {
    let number = match random.u8(..10) {
        0 => random.u64(..=newest),
        1 => random.u64(oldest..=newest),
        _ => (oldest + random.u64(..=3 * reach)).saturating_sub(reach),
    };
    number.min(newest)
}

/// A block is whole, adjoins its neighbours, and is where the headers have it.
pub fn check_block(watch: &Watch, told: &Told, height: u64) {
    let json = &told.answer.json;
    assert_eq!(number(&json["block_height"]), height, "{}", told.path);
    let block = Block::of(json);
    let expected: Vec<_> = (block.first_version..=block.last_version).collect();
    assert_eq!(versions(&json["transactions"]), expected, "{}", told.path);
    let Moment {
        oldest_version,
        version,
        oldest_height,
        height: newest_height,
    } = told.moment;
    assert_eq!(
        height == oldest_height,
        block.first_version == oldest_version,
        "{told:?}"
    );
    assert_eq!(
        height == newest_height,
        block.last_version == version,
        "{told:?}"
    );
    let mut known = watch.known();
    known.learn_block(height, &block);
    known.learn_body(&format!("block {height}"), &told.answer.text);
}

/// A page of the payer's transfers, or of their withdrawals, from a sequence number on.
fn check_numbered(watch: &Watch, told: &Told, start: u64) {
    let json = &told.answer.json;
    let numbers = sequence_numbers(json);
    assert!(
        (start..)
            .zip(&numbers)
            .all(|(expected, found)| expected == *found),
        "{told:?}"
    );
    let known = watch.known();
    let expected: Vec<_> = known.transfers()[start as usize..]
        .iter()
        .map(|transfer| transfer.version)
        .filter(|version| *version <= told.moment.version)
        .take(PAGE as usize)
        .collect();
    assert!(
        versions(json).starts_with(&expected),
        "{told:?}: expected {expected:?}"
    );
}

fn rows(json: &Value) -> &[Value] {
    json.as_array()
        .unwrap_or_else(|| panic!("{json} is no page"))
}

fn versions(json: &Value) -> Vec<u64> {
    rows(json)
        .iter()
        .map(|row| number(&row["version"]))
        .collect()
}

fn sequence_numbers(json: &Value) -> Vec<u64> {
    rows(json)
        .iter()
        .map(|row| number(&row["sequence_number"]))
        .collect()
}
