//! Blocks of other validators: parts in, and out again.

use super::context::{AdapterContext, proposed_value, round_number};
use crate::assembly::{Assembly, ReceivedBlock, ReceivedPart, Rejection};
use crate::context::{Address, BlockHash, Height};
use crate::parts::{Part, SignedHeader, StreamHeader, stream_message};
use crate::sizes;
use arc_malachitebft_app_channel::app::engine::consensus::ConsensusMsg;
use arc_malachitebft_app_channel::app::engine::network::NetworkMsg;
use arc_malachitebft_app_channel::app::types::core::{Round, ValueOrigin};
use arc_malachitebft_app_channel::app::types::{PeerId, ProposedValue};
use bytes::Bytes;
use ledger_actors::engine::EngineRequest;
use ledger_crypto::HashValue;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;

/// Time between two log lines about parts that break a rule, so that a peer cannot fill the log.
const LOG_INTERVAL: Duration = Duration::from_secs(10);

/// Logs parts that break a rule, at a limited rate.
#[derive(Default)]
pub(super) struct RejectionLog {
    last: Option<Instant>,
    suppressed: u64,
}

impl RejectionLog {
    fn log(&mut self, publisher: PeerId, rejection: Rejection) {
        if self.last.is_some_and(|last| last.elapsed() < LOG_INTERVAL) {
            self.suppressed += 1;
            return;
        }
        let suppressed = std::mem::take(&mut self.suppressed);
        self.last = Some(Instant::now());
        tracing::warn!(%publisher, %rejection, suppressed, "a part of a block breaks a rule");
    }
}

/// Sends the parts of a block. An error means that the engine has stopped.
pub(super) fn publish(context: &AdapterContext, signed: &SignedHeader, bytes: &Bytes) {
    for part in signed.parts(bytes) {
        let message = NetworkMsg::PublishProposalPart(stream_message(part));
        let _ = context.network.cast(message);
    }
}

/// Tells the peers that this node has transactions for a height.
pub(super) fn announce_work(context: &AdapterContext, height: u64) {
    let message = stream_message(Part::Work { height });
    // An error means that the engine has stopped.
    let _ = context
        .network
        .cast(NetworkMsg::PublishProposalPart(message));
}

/// Sends the parts of a block that this node proposes.
pub(super) fn publish_own(
    context: &AdapterContext,
    height: Height,
    round: Round,
    valid_round: Round,
    hash: HashValue,
    bytes: &Bytes,
) {
    let Some(key) = &context.key else { return };
    let block_bytes = bytes.len().try_into();
    let (Ok(block_bytes), true) = (block_bytes, bytes.len() <= context.block_bytes_max) else {
        tracing::error!(%height, bytes = bytes.len(), "the node proposes a block that is too long");
        return;
    };
    let header = StreamHeader {
        height: height.0,
        round: round_number(round),
        valid_round: valid_round.as_u32(),
        proposer: context.own_address,
        block_hash: hash,
        block_bytes,
        digest: HashValue::sha3_of(&[bytes]),
    };
    let signed = context.domain.sign_stream(key, header);
    publish(context, &signed, bytes);
}

/// The blocks that validators propose.
pub(super) struct Blocks {
    context: Arc<AdapterContext>,
    assembly: Assembly,
    rejections: RejectionLog,
    in_check: Arc<Semaphore>,
}

impl Blocks {
    pub(super) fn new(context: Arc<AdapterContext>) -> Self {
        let assembly = Assembly::new(
            context.domain.clone(),
            context.validators.set().clone(),
            context.block_bytes_max,
        );
        Self {
            context,
            assembly,
            rejections: RejectionLog::default(),
            in_check: Arc::new(Semaphore::new(sizes::BLOCKS_IN_CHECK_MAX)),
        }
    }

    pub(super) fn start_round(&mut self, height: u64, round: u32) {
        self.assembly.start_round(height, round);
    }

    pub(super) fn receive_part(&mut self, publisher: PeerId, part: Part) {
        let Part::Chunk {
            signed,
            index,
            bytes,
        } = part
        else {
            // The observations have recorded the announcement.
            return;
        };
        let received = ReceivedPart {
            publisher: self.context.allowed.validator(&publisher),
            signed: *signed,
            index,
            bytes,
        };
        let counters = &self.context.counters;
        match self.assembly.insert(received) {
            Ok(Some(block)) => self.offer(block),
            Ok(None) => {}
            Err(rejection) if rejection.is_fault() => {
                counters.rejected_parts.fetch_add(1, Ordering::Relaxed);
                self.rejections.log(publisher, rejection);
            }
            Err(_) => {
                counters.dropped_parts.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Offers a block to the node. Its verdict goes to the engine whenever it comes: the engine
    /// ignores one of an earlier height.
    fn offer(&mut self, block: ReceivedBlock) {
        let context = self.context.clone();
        let Ok(permit) = self.in_check.clone().try_acquire_owned() else {
            let counter = &context.counters.dropped_parts;
            counter.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let ReceivedBlock { header, bytes } = block;
        let checked = context.request(|reply| EngineRequest::BlockReceived {
            height: header.height,
            round: header.round,
            valid_round: header.valid_round,
            proposer: header.proposer,
            bytes,
            reply,
        });
        tokio::spawn(async move {
            let _permit = permit;
            let checked = tokio::time::timeout(sizes::WRITE_TIMEOUT, checked).await;
            let Ok(Ok(Some(checked))) = checked else {
                return;
            };
            let value = ProposedValue {
                height: Height(header.height),
                round: Round::new(header.round),
                valid_round: header.valid_round.into(),
                proposer: Address(header.proposer),
                ..proposed_value(&checked)
            };
            let message = ConsensusMsg::ReceivedProposedValue(value, ValueOrigin::Consensus);
            // An error means that the engine has stopped.
            let _ = context.consensus.cast(message);
        });
    }

    /// Sends a block again: this validator's proposal of a block of an earlier round, or a block of
    /// another validator that this one has committed to.
    pub(super) fn restream(
        &self,
        height: Height,
        round: Round,
        valid_round: Round,
        proposer: Address,
        value: BlockHash,
    ) {
        let context = self.context.clone();
        let is_own = proposer.0 == context.own_address;
        let finished = self.assembly.finished_header(height.0, round_number(round));
        let finished = finished.filter(|signed| signed.header.block_hash == value.0);
        let finished = finished.cloned();
        if !is_own && finished.is_none() {
            // The header was lost in a restart. Other validators have it.
            return;
        }
        let bytes = context.request(|reply| EngineRequest::GetBlock {
            height: height.0,
            hash: value.0,
            reply,
        });
        tokio::spawn(async move {
            let Some(Some(bytes)) = context.reply_or_none(bytes).await else {
                return;
            };
            match finished {
                _ if is_own => publish_own(&context, height, round, valid_round, value.0, &bytes),
                Some(signed) => publish(&context, &signed, &bytes),
                None => {}
            }
        });
    }
}
