//! A random chain with a naive model of its answers, and the comparison with a snapshot.

use crate::{
    HashLookup, PageEnd, Snapshot, StoreError, StreamPage, StreamPosition, TransactionSummary,
};
use fastrand::Rng;
use ledger_test_support::generated::{
    BlockGenerator, TransactionSpec, address, resource_key, state_key, stream,
};
use ledger_types::{
    ContractEvent, EventKey, ExecutedBlock, ExecutedTransaction, LedgerInfo, ReplayProtector,
    StateKey, WriteOp,
};
use std::{collections::BTreeMap, sync::Arc};

/// Number of accounts. Accounts, streams, and keys are few, so that they repeat often.
const ACCOUNTS: u64 = 5;
/// Number of state keys.
const KEYS: u64 = 12;

/// Number of accounts with resources.
const OWNERS: u64 = 3;

/// Returns the key with this number, of a table item or of a resource of an account.
fn key(number: u64) -> StateKey {
    match number % (OWNERS + 1) {
        OWNERS => state_key(number),
        owner => resource_key(owner, number),
    }
}

/// All blocks of a chain, with naive answers to every query.
#[derive(Clone, Debug)]
pub(super) struct Workload {
    generator: BlockGenerator,
    pub(super) random: Rng,
    pub(super) blocks: Vec<Arc<ExecutedBlock>>,
}

impl Workload {
    /// Creates a chain of the genesis block.
    pub(super) fn new(seed: u64) -> Self {
        let mut generator = BlockGenerator::new();
        let writes = (0..KEYS / 2).map(|number| {
            (
                key(number),
                WriteOp::Create(vec![0, 0, number as u8].into()),
            )
        });
        let first = generator.first_block(writes.collect());
        Self {
            generator,
            random: Rng::with_seed(seed),
            blocks: vec![Arc::new(first)],
        }
    }

    /// Adds `count` blocks, and returns them.
    pub(super) fn grow(&mut self, count: u64) -> Vec<Arc<ExecutedBlock>> {
        for _ in 0..count {
            let specs = (0..self.random.u8(..5)).map(|_| self.spec()).collect();
            self.blocks.push(Arc::new(self.generator.block(specs)));
        }
        self.blocks[self.blocks.len() - count as usize..].to_vec()
    }

    /// Adds `count` blocks without user transactions, and returns them.
    pub(super) fn grow_idle(&mut self, count: usize) -> Vec<Arc<ExecutedBlock>> {
        let generator = &mut self.generator;
        self.blocks
            .extend((0..count).map(|_| Arc::new(generator.block(Vec::new()))));
        self.blocks[self.blocks.len() - count..].to_vec()
    }

    fn spec(&mut self) -> TransactionSpec {
        let random = &mut self.random;
        let streams = (0..random.u8(..4)).map(|_| stream(random.u64(..ACCOUNTS), random.u64(..2)));
        let streams = streams.collect();
        let writes = (0..random.u8(..4)).map(|_| {
            let key = key(random.u64(..KEYS));
            let operation = match random.u8(..4) {
                0 => WriteOp::Delete,
                1 => WriteOp::Create(vec![random.u8(..); random.usize(..40)].into()),
                _ => WriteOp::Modify(vec![random.u8(..); random.usize(..40)].into()),
            };
            (key, operation)
        });
        let writes = writes.collect();
        TransactionSpec {
            sender: random.u64(..ACCOUNTS),
            is_orderless: random.u8(..3) == 0,
            streams,
            module_event: random.u8(..3) == 0,
            writes,
        }
    }

    /// Returns the ledger info after block `height`, with a window from block `oldest_height`.
    pub(super) fn info(&self, height: u64, oldest_height: u64) -> LedgerInfo {
        let (block, oldest) = (
            &self.blocks[height as usize],
            &self.blocks[oldest_height as usize],
        );
        LedgerInfo {
            chain_id: 4,
            epoch: block.tip.epoch,
            version: block.tip.version,
            oldest_version: oldest.first_version,
            block_height: height,
            oldest_block_height: oldest_height,
            timestamp_usecs: block.tip.timestamp_usecs,
        }
    }

    fn versioned(&self) -> impl Iterator<Item = (u64, &ExecutedTransaction)> {
        self.blocks.iter().flat_map(|block| block.versioned())
    }

    fn state(&self, version: u64) -> BTreeMap<&StateKey, &WriteOp> {
        let until = self.versioned().take_while(|(v, _)| *v <= version);
        until
            .flat_map(|(_, executed)| executed.writes.iter())
            .map(|(key, operation)| (key, operation))
            .collect()
    }

    /// Compares all answers of `snapshot` with the model. `info` is the expected ledger info.
    pub(super) fn check(&self, snapshot: &Snapshot, info: &LedgerInfo) -> Result<(), StoreError> {
        assert_eq!(snapshot.ledger_info(), info);
        self.check_transactions(snapshot, info)?;
        self.check_blocks(snapshot, info)?;
        self.check_states(snapshot, info)?;
        self.check_state_keys(snapshot, info)?;
        for account in 0..=ACCOUNTS {
            self.check_account(snapshot, info, account)?;
            self.check_summaries(snapshot, info, account)?;
            for creation_number in 0..2 {
                self.check_stream(snapshot, info, &stream(account, creation_number))?;
            }
        }
        Ok(())
    }

    fn check_transactions(&self, snapshot: &Snapshot, info: &LedgerInfo) -> Result<(), StoreError> {
        let window = info.oldest_version..=info.version;
        for (version, executed) in self.versioned() {
            let stored = snapshot.transaction(version)?;
            assert!(stored.iter().all(|stored| stored.version() == version));
            let found = stored.map(|stored| stored.decode()).transpose()?;
            let expected = window.contains(&version).then(|| executed.clone());
            assert_eq!(found, expected, "transaction {version}");
            let by_hash = snapshot.version_by_hash(&executed.hash)?;
            let found = snapshot.transaction_by_hash(&executed.hash)?;
            assert_eq!(found.as_ref().map(version_of), by_hash, "the same version");
            if let Some(HashLookup::InWindow(found)) = found {
                assert_eq!(Some(found.transaction.decode()?), expected);
                assert_eq!(Some(found.block), snapshot.block_of_version(version)?);
            }
            match expected {
                Some(_) => assert_eq!(by_hash, Some(version)),
                // The entry of a pruned transaction is deleted some time after its row.
                None if version < info.oldest_version => {
                    assert!(by_hash.is_none_or(|v| v == version));
                }
                None => assert_eq!(by_hash, None),
            }
        }
        assert_eq!(
            snapshot.version_by_hash(&ledger_crypto::HashValue::sha3_of(&[b"unknown"]))?,
            None
        );
        let unknown = ledger_crypto::HashValue::sha3_of(&[b"unknown"]);
        assert_eq!(snapshot.transaction_by_hash(&unknown)?, None);
        assert_eq!(snapshot.transaction(u64::MAX)?, None);
        assert_eq!(snapshot.transaction_in_block(u64::MAX)?, None);
        let consecutive = snapshot.transactions(window.clone())?;
        let consecutive: Result<Vec<_>, _> = consecutive.collect();
        let one_by_one: Result<Vec<_>, _> = window
            .clone()
            .map(|version| snapshot.transaction(version))
            .collect();
        let one_by_one: Vec<_> = one_by_one?.into_iter().flatten().collect();
        assert_eq!(consecutive?, one_by_one, "transactions {window:?}");
        Ok(())
    }

    fn check_blocks(&self, snapshot: &Snapshot, info: &LedgerInfo) -> Result<(), StoreError> {
        for block in &self.blocks {
            let is_in_window =
                (info.oldest_block_height..=info.block_height).contains(&block.height());
            let expected = is_in_window.then(|| ledger_types::BlockInfo::from(&**block));
            assert_eq!(snapshot.block(block.height())?, expected);
            for version in [block.first_version, block.last_version()] {
                assert_eq!(snapshot.block_of_version(version)?, expected);
                let in_block = snapshot.transaction_in_block(version)?;
                let of_block = in_block.as_ref().map(|found| found.block.clone());
                assert_eq!(of_block, expected);
                let transaction = in_block.map(|found| found.transaction);
                assert_eq!(transaction, snapshot.transaction(version)?);
            }
        }
        assert_eq!(snapshot.block(u64::MAX)?, None);
        assert_eq!(snapshot.block_of_version(u64::MAX)?, None);
        Ok(())
    }

    /// Compares the state with the model.
    pub(super) fn check_states(
        &self,
        snapshot: &Snapshot,
        info: &LedgerInfo,
    ) -> Result<(), StoreError> {
        for version in info.oldest_version..=info.version {
            let state = self.state(version);
            for key in (0..=KEYS).map(key) {
                let expected = state.get(&key).and_then(|operation| operation.value());
                let found = snapshot.state_value(&key, version)?;
                assert_eq!(found.as_ref(), expected, "{key:?} at {version} of {info:?}");
            }
        }
        for version in [info.version + 1, info.oldest_version.wrapping_sub(1)] {
            let result = snapshot.state_value(&state_key(0), version);
            assert!(
                matches!(result, Err(StoreError::VersionOutOfRange { .. })),
                "{version}"
            );
        }
        Ok(())
    }

    /// Compares the state keys of each account at every version, all of them and from each cursor.
    pub(super) fn check_state_keys(
        &self,
        snapshot: &Snapshot,
        info: &LedgerInfo,
    ) -> Result<(), StoreError> {
        for version in info.oldest_version..=info.version {
            let state = self.state(version);
            for account in (0..=OWNERS).map(address) {
                let all = snapshot.state_keys(&account, version, None)?;
                let all = all.collect::<Result<Vec<_>, _>>()?;
                assert!(all.is_sorted_by_key(|entry| entry.cursor), "{all:?}");
                assert!(
                    all.windows(2).all(|two| two[0].cursor != two[1].cursor),
                    "{all:?}"
                );
                let mut found: Vec<_> = all
                    .iter()
                    .filter_map(|entry| entry.key_value.clone())
                    .collect();
                found.sort();
                let values = state
                    .iter()
                    .filter(|(key, _)| key.address() == Some(account));
                let values = values.filter_map(|(key, operation)| {
                    Some(((*key).clone(), operation.value()?.clone()))
                });
                let expected: Vec<_> = values.collect();
                assert_eq!(found, expected, "{account} at {version} of {info:?}");
                for (number, entry) in all.iter().enumerate() {
                    let cursor = snapshot.state_key_cursor(&account, entry.cursor.to_bytes());
                    assert_eq!(cursor, Some(entry.cursor));
                    let rest = snapshot.state_keys(&account, version, cursor)?;
                    let rest = rest.collect::<Result<Vec<_>, _>>()?;
                    assert_eq!(
                        rest,
                        all[number..],
                        "from {number} of {account} at {version}"
                    );
                    assert_eq!(
                        snapshot.state_key_cursor(&address(99), entry.cursor.to_bytes()),
                        None
                    );
                }
            }
        }
        Ok(())
    }

    fn check_account(
        &self,
        snapshot: &Snapshot,
        info: &LedgerInfo,
        account: u64,
    ) -> Result<(), StoreError> {
        let sender = address(account);
        let all: Vec<(u64, u64)> = self
            .versioned()
            .filter(|(version, _)| (info.oldest_version..=info.version).contains(version))
            .filter_map(|(version, executed)| {
                let raw = &executed.transaction.as_user()?.raw;
                let is_sequential = raw.payload.replay_protection_nonce().is_none();
                (raw.sender == sender && is_sequential).then_some((raw.sequence_number, version))
            })
            .collect();
        assert_eq!(
            snapshot.first_account_transaction(&sender)?,
            all.first().map(|(number, _)| *number)
        );
        let versions =
            |page: &[(u64, u64)]| page.iter().map(|(_, version)| *version).collect::<Vec<_>>();
        for limit in [0, 1, 3, 1_000] {
            let newest = &all[all.len().saturating_sub(limit)..];
            let found = snapshot.account_transactions(&sender, None, limit)?;
            assert_eq!(found, versions(newest), "newest {limit} of {account}");
            for start in [0, 1, 2, 5, 9, 20, u64::MAX] {
                let page = all.iter().filter(|(number, _)| *number >= start);
                let page: Vec<_> = page.take(limit).copied().collect();
                let found = snapshot.account_transactions(&sender, Some(start), limit)?;
                assert_eq!(found, versions(&page), "{limit} of {account} from {start}");
            }
        }
        Ok(())
    }

    /// Compares summaries between the ends of the window, versions outside, and some versions
    /// inside, and the transactions that used the sequence numbers and nonces of the window.
    fn check_summaries(
        &self,
        snapshot: &Snapshot,
        info: &LedgerInfo,
        account: u64,
    ) -> Result<(), StoreError> {
        let sender = address(account);
        let all: Vec<TransactionSummary> = self
            .versioned()
            .filter(|(version, _)| (info.oldest_version..=info.version).contains(version))
            .filter_map(|(version, executed)| {
                let raw = &executed.transaction.as_user()?.raw;
                (raw.sender == sender).then(|| TransactionSummary {
                    sender,
                    version,
                    hash: executed.hash,
                    replay_protector: raw.replay_protector(),
                })
            })
            .collect();
        let width = info.version - info.oldest_version;
        let inside = (0..4).map(|part| info.oldest_version + width * part / 3);
        let ends: Vec<u64> = [
            0,
            info.oldest_version.saturating_sub(1),
            info.version + 1,
            u64::MAX,
        ]
        .into_iter()
        .chain(inside)
        .collect();
        for (start, end) in ends
            .iter()
            .flat_map(|start| ends.iter().map(move |end| (*start, *end)))
        {
            let within: Vec<_> = all
                .iter()
                .filter(|summary| (start..=end).contains(&summary.version))
                .collect();
            for limit in [0, 1, 3, 1_000] {
                let case = format!("{limit} of {account} in {start}..={end} of {info:?}");
                let first = &within[..within.len().min(limit)];
                let found =
                    snapshot.transaction_summaries(&sender, start..=end, PageEnd::Oldest, limit)?;
                assert_eq!(found.iter().collect::<Vec<_>>(), first, "first {case}");
                let last = &within[within.len().saturating_sub(limit)..];
                let found =
                    snapshot.transaction_summaries(&sender, start..=end, PageEnd::Newest, limit)?;
                assert_eq!(found.iter().collect::<Vec<_>>(), last, "last {case}");
            }
        }
        let is_nonce = |summary: &TransactionSummary| {
            matches!(summary.replay_protector, ReplayProtector::Nonce(_))
        };
        for (used, max) in all.iter().flat_map(|used| [(used, 2), (used, 1_000)]) {
            let searched_max = if is_nonce(used) { max } else { usize::MAX };
            let searched = all.iter().filter(|other| is_nonce(other) == is_nonce(used));
            let mut searched = searched.rev().take(searched_max);
            let expected = searched.find(|other| other.replay_protector == used.replay_protector);
            let found = snapshot.hash_by_protector(&sender, used.replay_protector, max)?;
            assert_eq!(found, expected.map(|other| other.hash), "{used:?} of {max}");
        }
        Ok(())
    }

    fn check_stream(
        &self,
        snapshot: &Snapshot,
        info: &LedgerInfo,
        key: &EventKey,
    ) -> Result<(), StoreError> {
        let all: Vec<(u64, u64, ContractEvent)> = self
            .versioned()
            .filter(|(version, _)| (info.oldest_version..=info.version).contains(version))
            .flat_map(|(version, executed)| {
                executed.events.iter().map(move |event| (version, event))
            })
            .filter_map(|(version, event)| {
                let (stream, number) = event.stream_position()?;
                (stream == *key).then(|| (number, version, event.clone()))
            })
            .collect();
        let events = |page: &[(u64, u64, ContractEvent)]| {
            page.iter()
                .map(|(_, version, event)| (*version, event.clone()))
                .collect::<Vec<_>>()
        };
        let pruned = self
            .versioned()
            .filter(|(version, _)| *version < info.oldest_version);
        let numbers = pruned
            .flat_map(|(_, executed)| &executed.events)
            .filter_map(|event| event.stream_position().filter(|(stream, _)| stream == key));
        let next = numbers.last().map(|(_, number)| number + 1);
        let first = all.first().map(|(number, ..)| *number);
        assert_eq!(snapshot.first_event(key)?, first.or(next));
        for limit in [0, 1, 3, 1_000] {
            let newest = &all[all.len().saturating_sub(limit)..];
            assert_eq!(
                snapshot.events(key, None, limit)?,
                events(newest),
                "newest {limit}"
            );
            for start in [0, 1, 2, 5, 9, 20, u64::MAX] {
                let page = all.iter().filter(|(number, ..)| *number >= start);
                let page: Vec<_> = page.take(limit).cloned().collect();
                assert_eq!(
                    snapshot.events(key, Some(start), limit)?,
                    events(&page),
                    "from {start}"
                );
                let request = StreamPage::new(Some(start), limit);
                let rows = snapshot.stream_event_rows(key, &request)?.rows.into_iter();
                let rows: Vec<_> = rows.map(|row| (row.version, row.event)).collect();
                let row = |(version, event): &(u64, ContractEvent)| {
                    (*version, bcs::to_bytes(event).unwrap())
                };
                let expected: Vec<_> = events(&page).iter().map(row).collect();
                assert_eq!(rows, expected, "rows from {start}");
                assert_eq!(
                    in_parts(snapshot, key, request)?,
                    rows,
                    "from {start} in parts"
                );
            }
            let request = StreamPage::new(None, limit);
            let rows = snapshot.stream_event_rows(key, &request)?.rows.into_iter();
            let rows: Vec<_> = rows.map(|row| (row.version, row.event)).collect();
            assert_eq!(
                in_parts(snapshot, key, request)?,
                rows,
                "newest {limit} in parts"
            );
        }
        Ok(())
    }
}

/// Returns the events of a page, read one by one, with their versions.
fn in_parts(
    snapshot: &Snapshot,
    key: &EventKey,
    mut page: StreamPage,
) -> Result<Vec<(u64, Vec<u8>)>, StoreError> {
    page.bytes_max = 1;
    let mut all = Vec::new();
    while page.limit > 0 {
        let part = snapshot.stream_event_rows(key, &page)?;
        page.limit -= part.rows.len();
        assert!(
            part.rows.len() <= 1,
            "the row that reaches the size is the last one"
        );
        all.extend(part.rows.into_iter().map(|row| (row.version, row.event)));
        let Some(next) = part.next else { break };
        page.from = next;
    }
    if matches!(page.from, StreamPosition::End(_)) {
        all.reverse();
    }
    Ok(all)
}

fn version_of(found: &HashLookup) -> u64 {
    match found {
        HashLookup::InWindow(found) => found.transaction.version(),
        HashLookup::Pruned { version } => *version,
    }
}
