//! Replies to the engine's messages, each within a bound.
//!
//! | message | the node is late | the node drops its reply |
//! |---|---|---|
//! | `ConsensusReady`, `StartedRound`, `Decided` | the engine stops | the engine stops |
//! | `Finalized` | the node may wait for work | the engine stops |
//! | `GetValue` | the turn passes, as that of a slow proposer | the engine stops |
//! | `GetDecidedValues` | an empty list | an empty list |
//! | `GetHistoryMinHeight` | the last answer, at first the current height | as if it was late |
//! | `ProcessSyncedValue` | `LocalTransientError`: another request | as if it was late |
//!
//! After the reply to `StartedRound` the engine signs for the height, which the node has recorded
//! before. So nothing can stand in for it.
//!
//! A dropped reply to `GetValue` is harmless to the engine: its host actor logs an error and
//! handles the next message, and the round ends with the proposer's timeout.

use super::blocks::publish_own;
use super::context::{AdapterContext, Outcome, answer, proposed_value, reply_within, round_number};
use crate::context::{Address, BlockHash, Height, Ledger};
use crate::{certificate, sizes};
use arc_malachitebft_app_channel::Reply;
use arc_malachitebft_app_channel::app::engine::host::{
    HeightParams, LocallyProposedValue, Next, ProposedValue, SyncedValueOutcome,
};
use arc_malachitebft_app_channel::app::types::core::Round;
use arc_malachitebft_sync::RawDecidedValue;
use bytes::Bytes;
use ledger_actors::engine::{DecidedBlock, EncodedBlock, EngineRequest, Equivocation, SyncedBlock};
use ledger_types::{AccountAddress, CommitCertificate};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The replies of the node, forwarded to the engine.
pub(super) struct Replies {
    context: Arc<AdapterContext>,
    // The last answer to a request of the lowest height, 0 before the first.
    oldest_height: Arc<AtomicU64>,
}

impl Replies {
    pub(super) fn new(context: Arc<AdapterContext>) -> Self {
        Self {
            context,
            oldest_height: Arc::default(),
        }
    }

    pub(super) fn ready(&self, reply: Reply<(Height, HeightParams<Ledger>)>) {
        let context = self.context.clone();
        let is_signer = context.key.is_some();
        let first = context.request(|reply| EngineRequest::Ready { is_signer, reply });
        tokio::spawn(async move {
            let first = context.reply_or_stop("Ready", sizes::READY_TIMEOUT, first);
            match first.await {
                // The engine's log counts height 0 as started.
                Some(0) => context.no_reply("Ready", "the first height is 0"),
                Some(first) => answer(reply, (Height(first), context.height_params())),
                None => {}
            }
        });
    }

    pub(super) fn started_round(
        &self,
        height: u64,
        round: u32,
        proposer: AccountAddress,
        reply: Reply<Vec<ProposedValue<Ledger>>>,
    ) {
        let context = self.context.clone();
        let known = context.request(|reply| EngineRequest::RoundStarted {
            height,
            round,
            proposer,
            reply,
        });
        tokio::spawn(async move {
            let known = context.reply_or_stop("RoundStarted", sizes::WRITE_TIMEOUT, known);
            if let Some(known) = known.await {
                answer(reply, known.iter().map(proposed_value).collect());
            }
        });
    }

    pub(super) fn propose(
        &self,
        height: Height,
        round: Round,
        limit: Duration,
        reply: Reply<LocallyProposedValue<Ledger>>,
    ) {
        let context = self.context.clone();
        let block = context.request(|reply| EngineRequest::Propose {
            height: height.0,
            round: round_number(round),
            timeout: limit,
            reply,
        });
        tokio::spawn(async move {
            match reply_within(limit, block).await {
                Outcome::Reply(EncodedBlock { hash, bytes }) => {
                    // The parts go first, because validators vote when they have both.
                    publish_own(&context, height, round, Round::Nil, hash, &bytes);
                    let value = BlockHash(hash);
                    answer(reply, LocallyProposedValue::new(height, round, value));
                }
                Outcome::Late => {
                    let counter = &context.counters.missed_proposals;
                    counter.fetch_add(1, Ordering::Relaxed);
                    tracing::warn!(%height, %round, "the node had no block within its turn");
                }
                Outcome::Dropped => context.no_reply("Propose", "it dropped the request"),
            }
        });
    }

    pub(super) fn oldest_height(&self, reply: Reply<Height>) {
        let context = self.context.clone();
        let last = self.oldest_height.clone();
        let oldest = context.request(|reply| EngineRequest::GetOldestHeight { reply });
        tokio::spawn(async move {
            if let Some(height) = context.reply_or_none(oldest).await {
                last.store(height, Ordering::Relaxed);
            }
            let height = match last.load(Ordering::Relaxed) {
                // No block is stated: the peers request what they need from others.
                0 => context.stopper.subscribe().borrow().height,
                height => height,
            };
            answer(reply, Height(height));
        });
    }

    pub(super) fn decided(&self, certificate: CommitCertificate, reply: Reply<()>) {
        let context = self.context.clone();
        let durable = context.request(|reply| EngineRequest::Decided { certificate, reply });
        tokio::spawn(async move {
            let durable = context.reply_or_stop("Decided", sizes::WRITE_TIMEOUT, durable);
            if durable.await.is_some() {
                answer(reply, ());
            }
        });
    }

    pub(super) fn finalized(
        &self,
        certificate: CommitCertificate,
        equivocations: Vec<Equivocation>,
        reply: Reply<Next<Ledger>>,
    ) {
        let context = self.context.clone();
        let height = certificate.height;
        let next = context.request(|reply| EngineRequest::Finalized {
            certificate,
            equivocations,
            reply,
        });
        tokio::spawn(async move {
            match next.await {
                // A lower height would be signed again.
                Ok(next) if next <= height => {
                    context.no_reply("Finalized", "the next height is not above the last one");
                }
                Ok(next) => {
                    answer(reply, Next::Start(Height(next), context.height_params()));
                }
                Err(_) => context.no_reply("Finalized", "it dropped the request"),
            }
        });
    }

    pub(super) fn decided_blocks(
        &self,
        first: u64,
        last: u64,
        reply: Reply<Vec<RawDecidedValue<Ledger>>>,
    ) {
        let context = self.context.clone();
        // The engine limits the range, but states that it does not check it.
        let last = last.min(first.saturating_add(sizes::SYNC_BATCH_BLOCKS as u64 - 1));
        let blocks =
            context.request(|reply| EngineRequest::GetDecidedBlocks { first, last, reply });
        tokio::spawn(async move {
            let blocks = context.reply_or_none(blocks).await.unwrap_or_default();
            let blocks = blocks.into_iter().take(sizes::SYNC_BATCH_BLOCKS);
            answer(reply, blocks.map(raw_decided).collect());
        });
    }

    pub(super) fn synced(
        &self,
        height: Height,
        round: Round,
        proposer: Address,
        bytes: Bytes,
        reply: Reply<SyncedValueOutcome<Ledger>>,
    ) {
        let context = self.context.clone();
        let counter = &context.counters.synced_blocks;
        counter.fetch_add(1, Ordering::Relaxed);
        let stored = context.request(|reply| EngineRequest::BlockSynced {
            height: height.0,
            round: round_number(round),
            proposer: proposer.0,
            bytes,
            reply,
        });
        tokio::spawn(async move {
            answer(
                reply,
                match context.reply_or_none(stored).await {
                    Some(SyncedBlock::Stored(block)) => {
                        SyncedValueOutcome::Verdict(proposed_value(&block))
                    }
                    Some(SyncedBlock::Malformed) => SyncedValueOutcome::PeerFault,
                    Some(SyncedBlock::Unavailable) | None => {
                        SyncedValueOutcome::LocalTransientError
                    }
                },
            );
        });
    }
}

fn raw_decided(block: DecidedBlock) -> RawDecidedValue<Ledger> {
    RawDecidedValue::new(block.bytes, certificate::from_ledger(&block.certificate))
}
