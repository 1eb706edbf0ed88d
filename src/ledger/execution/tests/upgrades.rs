//! A module of a later framework version is absent below the height that activates the version, and
//! present from that height. Every replay gives the same result.

use ledger_crypto::{Ed25519PrivateKey, HashValue};
use ledger_execution::{ViewError, development_accounts, development_genesis, view};
use ledger_framework::FRAMEWORK_VERSION;
use ledger_test_support::{MemoryChain, START_SECS};
use ledger_types::{
    AccountAddress, CheckedTransaction, EntryFunction, ExecutedBlock, FrameworkUpgrade, Genesis,
    ModuleId, Parameters, Vendor,
};

const ESCROW: &str = "0x1::escrow";
const COIN: &str = "0x1::node_coin::NodeCoin";
/// Height at which the chain of these tests activates version 2, which added escrow.
const UPGRADE_HEIGHT: u64 = 3;

fn genesis(upgrades: &str) -> Genesis {
    let mut genesis = development_genesis(4, Vendor::default(), Parameters::default());
    genesis.parameters.framework_upgrades = FrameworkUpgrade::parse_list(upgrades).unwrap();
    genesis
}

fn chain_with_upgrade() -> MemoryChain {
    MemoryChain::new(&genesis(&format!("2@{UPGRADE_HEIGHT}")))
}

fn key(number: usize) -> Ed25519PrivateKey {
    development_accounts()[number].private_key.clone()
}

fn open(chain: &MemoryChain) -> EntryFunction {
    let recipient = bcs::to_bytes(&development_accounts()[1].address).unwrap();
    let deadline_secs = START_SECS + 1_000;
    let args = vec![
        recipient,
        bcs::to_bytes(&7u64).unwrap(),
        bcs::to_bytes(&deadline_secs).unwrap(),
    ];
    chain.call("0x1::escrow::open", &[COIN], args)
}

/// Returns a transfer of a coin whose type is a struct of escrow. It is not a coin, so the
/// error depends on whether the type is known.
fn transfer_of_escrow_type(chain: &MemoryChain) -> EntryFunction {
    let args = vec![
        bcs::to_bytes(&AccountAddress::ONE).unwrap(),
        bcs::to_bytes(&1u64).unwrap(),
    ];
    chain.call("0x1::coin::transfer", &["0x1::escrow::Escrow"], args)
}

fn status(chain: &mut MemoryChain, call: EntryFunction) -> String {
    let transaction = chain.run(&key(0), call).transactions[1].clone();
    chain.chain.vm_status(&transaction.info.v0().status)
}

fn locked(chain: &MemoryChain) -> Result<u64, ViewError> {
    let payer = bcs::to_bytes(&development_accounts()[0].address).unwrap();
    let viewed = view(
        &chain.chain,
        chain,
        &chain.call("0x1::escrow::locked", &[COIN], vec![payer]),
        None,
    )?;
    Ok(bcs::from_bytes(&viewed.values[0].1).unwrap())
}

fn lists_escrow(chain: &MemoryChain) -> bool {
    let version = chain.chain.parameters().framework_version(chain.tip.height);
    let id: ModuleId = ESCROW.parse().unwrap();
    let registry = chain.chain.registry();
    let is_listed = registry
        .module_names(&AccountAddress::ONE, version)
        .contains(&id.name);
    assert_eq!(registry.has_module(&id, version), is_listed);
    is_listed
}

#[test]
fn activates_a_module_at_its_height() {
    let mut chain = chain_with_upgrade();
    while chain.tip.height + 1 < UPGRADE_HEIGHT {
        let call = open(&chain);
        assert_eq!(status(&mut chain, call), "LINKER_ERROR");
        assert!(!lists_escrow(&chain));
        let error = locked(&chain).unwrap_err();
        assert!(
            matches!(&error, ViewError::Failed(failure) if failure.code == 1081),
            "{error}"
        );
    }
    let call = open(&chain);
    assert_eq!(status(&mut chain, call), "Executed successfully");
    assert_eq!(chain.tip.height, UPGRADE_HEIGHT);
    assert!(lists_escrow(&chain));
    assert_eq!(locked(&chain).unwrap(), 7);
}

#[test]
fn activates_types_at_the_height_of_their_module() {
    let mut chain = chain_with_upgrade();
    let call = transfer_of_escrow_type(&chain);
    assert_eq!(status(&mut chain, call), "LINKER_ERROR");
    while chain.tip.height + 1 < UPGRADE_HEIGHT {
        chain.execute(vec![]);
    }
    let call = transfer_of_escrow_type(&chain);
    let status = status(&mut chain, call);
    assert!(status.contains("ECOIN_INFO_NOT_PUBLISHED"), "{status}");
}

#[test]
fn runs_the_first_version_without_upgrades() {
    let mut chain = MemoryChain::new(&genesis(""));
    for _ in 0..UPGRADE_HEIGHT {
        chain.execute(vec![]);
    }
    let call = open(&chain);
    assert_eq!(status(&mut chain, call), "LINKER_ERROR");
}

#[test]
fn starts_a_development_chain_with_the_newest_version() {
    let mut chain = MemoryChain::development();
    assert_eq!(
        chain.chain.parameters().framework_version(0),
        FRAMEWORK_VERSION
    );
    let call = open(&chain);
    assert_eq!(status(&mut chain, call), "Executed successfully");
}

/// Returns the user transactions of a block in their order.
fn user_transactions(chain: &MemoryChain, block: &ExecutedBlock) -> Vec<CheckedTransaction> {
    let user = |transaction: &ledger_types::ExecutedTransaction| {
        let signed = transaction.transaction.as_user()?.clone();
        Some(
            CheckedTransaction::check(signed, chain.chain.vendor(), chain.chain.parameters())
                .unwrap(),
        )
    };
    block.transactions.iter().filter_map(user).collect()
}

fn hashes(chain: &MemoryChain) -> Vec<HashValue> {
    chain
        .blocks
        .iter()
        .map(|block| block.tip.block_hash)
        .collect()
}

fn roots(chain: &MemoryChain) -> Vec<HashValue> {
    let transactions = chain.blocks.iter().flat_map(|block| &block.transactions);
    transactions
        .map(|transaction| transaction.accumulator_root)
        .collect()
}

#[test]
fn replays_an_upgrade_with_the_same_hashes() {
    // The chain before its operators add the upgrade to the genesis parameters, at height 2.
    let mut chain_before_upgrade = MemoryChain::new(&genesis(""));
    let mut chain = chain_with_upgrade();
    for _ in 0..UPGRADE_HEIGHT + 2 {
        let transaction = chain.sign(&key(0), chain.raw(&key(0), open(&chain)));
        chain.execute(vec![transaction]);
    }
    let mut replay = chain_with_upgrade();
    for block in &chain.blocks[1..] {
        let transactions = user_transactions(&chain, block);
        if block.height() < UPGRADE_HEIGHT {
            chain_before_upgrade.execute(user_transactions(&chain, block));
        }
        replay.execute(transactions);
    }
    assert_eq!(hashes(&replay), hashes(&chain));
    assert_eq!(roots(&replay), roots(&chain));
    assert_eq!(
        hashes(&chain_before_upgrade)[..],
        hashes(&chain)[..UPGRADE_HEIGHT as usize]
    );
    assert_eq!(
        roots(&chain_before_upgrade)[..],
        roots(&chain)[..roots(&chain_before_upgrade).len()]
    );
    assert_eq!(locked(&chain).unwrap(), 3 * 7);
}
