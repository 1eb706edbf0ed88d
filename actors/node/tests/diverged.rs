//! A node whose results differ from the ones that the validators decided.

use super::*;
use crate::error::{FaultKind, NotWritable, StopError};
use ledger_store::StoreReader;
use ledger_test_support::{MemoryChain, test_genesis};
use ledger_types::Parameters;

/// A changed balance of the sender, so that the validators have other results than the node.
const BALANCE: u64 = 7_000_000_000;

impl Fixture {
    /// Sends an ordered block to the committer, as the sequencer does.
    fn order(&self, block: OrderedBlock) {
        let committer = &self.handle.shared.node.mailboxes.committer;
        committer.send(ExecuteBlock(block));
    }

    /// Waits until a version is durable, or no longer can be.
    async fn version(&self, version: u64) -> Result<(), NodeError> {
        let committer = &self.handle.shared.node.mailboxes.committer;
        request(committer, |reply| SubscribeVersion {
            version,
            reply,
            notifier: None,
        })
        .await
    }
}

/// Returns the validators' chain: a block with a transfer of the account whose balance differs, and
/// empty blocks up to the one after the header that names the result.
fn validators() -> MemoryChain {
    let parameters = Parameters::default();
    let delay_blocks = parameters.root_delay_blocks;
    let mut validators = MemoryChain::new(&test_genesis(parameters));
    let mut wallets = Wallet::development();
    validators.replace_balance(&wallets[0].address, BALANCE);
    let to = wallets[1].address;
    let transfer = wallets[0].transfer(&validators.chain, to, 1);
    validators.execute(vec![transfer]);
    for _ in 0..=delay_blocks {
        validators.execute(Vec::new());
    }
    validators
}

#[actix::test]
async fn makes_no_block_durable_from_the_decided_header_on_that_names_another_result() {
    let fixture = fixture().await;
    let handle = &fixture.handle;
    let validators = validators();
    let newest = validators.blocks.len() as u64 - 1;
    let diverged_at = newest - 1;
    for height in 1..diverged_at {
        fixture.order(validators.decided_block(height));
        let version = validators.blocks[height as usize].last_version();
        fixture.version(version).await.unwrap();
    }
    assert_eq!(handle.diverged(), None);
    for height in [diverged_at, newest] {
        fixture.order(validators.decided_block(height));
    }
    let version = validators.blocks[diverged_at as usize].last_version();
    assert!(fixture.version(version).await.is_err());

    let cause = handle.diverged().unwrap();
    let decided = validators.blocks[diverged_at as usize].header.executed;
    let own = handle.head().ledger_info().block_height;
    assert_eq!(own, diverged_at - 1);
    assert!(cause.to_string().contains(&decided.to_string()), "{cause}");
    assert_eq!(cause.to_string().matches("root 0x").count(), 2, "{cause}");
    assert_eq!(handle.not_writable(), Some(cause.clone()));
    let mut wallets = Wallet::development();
    let to = wallets[0].address;
    let transfer = wallets[1].transfer(&validators.chain, to, 1);
    let rejected = handle.submit(transfer, ClientKey::NODE).await.unwrap_err();
    assert!(
        matches!(
            rejected,
            SubmitError::Node(NodeError::NotWritable(NotWritable::Diverged(_)))
        ),
        "{rejected:?}"
    );

    let Fixture {
        node, _directory, ..
    } = fixture;
    let Err(StopError::Storage(fault)) = node.stop().await else {
        panic!("the stop reports no fault");
    };
    assert_eq!(
        (fault.kind, fault.thread),
        (FaultKind::Diverged, "executor")
    );
    let reader: StoreReader = open_store(_directory.path()).1.split().1;
    assert_eq!(reader.chain_tip().unwrap().height, diverged_at - 1);
}
