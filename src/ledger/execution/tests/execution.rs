//! Execution of signed transactions: the committed transactions, the state, and rejections.

use ledger_crypto::Ed25519PrivateKey;
use ledger_execution::{
    development_accounts, genesis::DEVELOPMENT_BALANCE, validate_for_admission,
};
use ledger_framework::{
    AssetType, balance,
    modules::{account::Account, fungible_asset::ConcurrentSupply},
};
use ledger_test_support::{
    GAS_UNIT_PRICE, MemoryChain, START_SECS, TestAccount, funded_genesis, test_genesis,
};
use ledger_types::{
    AccountAddress, CheckedTransaction, ExecutedTransaction, Parameters, ValidationStatus,
    state::group_members, transaction::TransactionPayload,
};

fn key(number: usize) -> Ed25519PrivateKey {
    development_accounts()[number].private_key.clone()
}

fn address(number: usize) -> AccountAddress {
    development_accounts()[number].address
}

const UNKNOWN_ADDRESS: AccountAddress = AccountAddress::from_low_u64(0xabcdef);

/// Returns the user transaction of a block that has exactly one.
fn single_user_transaction(block: &ledger_types::ExecutedBlock) -> &ExecutedTransaction {
    assert_eq!(
        block.transactions.len(),
        3,
        "metadata, the transaction, epilogue"
    );
    &block.transactions[1]
}

fn supply(chain: &MemoryChain) -> u128 {
    let registry = chain.chain.registry();
    let group = &chain.state[&registry.group_key(&AccountAddress::NATIVE_ASSET)];
    let supply = &group_members(group).unwrap()[&registry.tag_of::<ConcurrentSupply>(&[])];
    let supply: ConcurrentSupply = bcs::from_bytes(supply).unwrap();
    supply.current.value
}

#[test]
fn transfers_the_amount_and_burns_the_fee() {
    let mut chain = MemoryChain::development();
    let before = supply(&chain);
    let call = chain.transfer(UNKNOWN_ADDRESS, 1_000);
    let block = chain.run(&key(0), call);
    let transaction = single_user_transaction(block);
    assert_eq!(
        MemoryChain::development()
            .chain
            .vm_status(&transaction.info.v0().status),
        "Executed successfully"
    );
    let gas_used = transaction.info.v0().gas_used;
    let fee = gas_used * GAS_UNIT_PRICE;
    // The transfer creates one slot: 4,000 gas units at this price, and 4 per byte.
    assert!(
        gas_used > 4_028,
        "below the intrinsic cost and one slot: {gas_used}"
    );
    let types: Vec<String> = transaction
        .events
        .iter()
        .map(|e| e.type_tag().to_string())
        .collect();
    assert_eq!(
        types,
        [
            "0x1::fungible_asset::Withdraw",
            "0x1::fungible_asset::WithdrawEvent",
            "0x1::fungible_asset::Deposit",
            "0x1::fungible_asset::DepositEvent",
            "0x1::transaction_fee::FeeStatement"
        ]
    );
    assert_eq!(chain.facts(&UNKNOWN_ADDRESS).balance, 1_000);
    assert_eq!(chain.facts(&UNKNOWN_ADDRESS).sequence_number, 0);
    assert_eq!(
        chain.facts(&address(0)).balance,
        DEVELOPMENT_BALANCE - 1_000 - fee
    );
    assert_eq!(chain.facts(&address(0)).sequence_number, 1);
    assert_eq!(supply(&chain), before - u128::from(fee));
}

#[test]
fn reads_one_balance_as_coin_and_as_paired_asset() {
    let chain = MemoryChain::development();
    let coin = "0x1::node_coin::NodeCoin".parse().unwrap();
    for asset in [
        AssetType::Coin(coin),
        AssetType::FungibleAsset(AccountAddress::NATIVE_ASSET),
    ] {
        assert_eq!(
            balance(&chain.chain, &chain, &address(0), &asset).unwrap(),
            DEVELOPMENT_BALANCE
        );
    }
    let other = AssetType::FungibleAsset(UNKNOWN_ADDRESS);
    assert_eq!(
        balance(&chain.chain, &chain, &address(0), &other).unwrap(),
        0
    );
}

#[test]
fn commits_failed_transactions_with_only_their_fee() {
    let arguments = |amount: u64| {
        vec![
            bcs::to_bytes(&UNKNOWN_ADDRESS).unwrap(),
            bcs::to_bytes(&amount).unwrap(),
        ]
    };
    /// Function, type arguments, arguments, and expected `vm_status`.
    type Case = (
        &'static str,
        &'static [&'static str],
        Vec<Vec<u8>>,
        &'static str,
    );
    let cases: [Case; 8] = [
        (
            "0x1::node_account::transfer",
            &[],
            arguments(u64::MAX),
            "Move abort in 0x1::fungible_asset: EINSUFFICIENT_BALANCE(0x10004): the store holds less than the amount",
        ),
        (
            "0x1::node_account::transfer",
            &[],
            vec![],
            "NUMBER_OF_ARGUMENTS_MISMATCH",
        ),
        (
            "0x1::node_account::transfer",
            &[],
            vec![vec![1], vec![2]],
            "FAILED_TO_DESERIALIZE_ARGUMENT",
        ),
        (
            "0x1::node_account::transfer",
            &["u8"],
            arguments(1),
            "NUMBER_OF_TYPE_ARGUMENTS_MISMATCH",
        ),
        (
            "0x1::node_account::nothing",
            &[],
            vec![],
            "FUNCTION_RESOLUTION_FAILURE",
        ),
        (
            "0x2::node_account::transfer",
            &[],
            arguments(1),
            "LINKER_ERROR",
        ),
        (
            "0x1::coin::transfer",
            &["0x5::a::B"],
            arguments(1),
            "Move abort in 0x1::coin: ECOIN_INFO_NOT_PUBLISHED(0x10003): this type is no coin: it was not initialised",
        ),
        (
            "0x1::node_account::create_account",
            &[],
            vec![bcs::to_bytes(&address(1)).unwrap()],
            "Move abort in 0x1::account: EACCOUNT_ALREADY_EXISTS(0x80001): there is an account at this address",
        ),
    ];
    for (function, type_args, args, vm_status) in cases {
        let mut chain = MemoryChain::development();
        let call = chain.call(function, type_args, args);
        let transaction = single_user_transaction(chain.run(&key(0), call)).clone();
        assert_eq!(
            chain.chain.vm_status(&transaction.info.v0().status),
            vm_status,
            "{function}"
        );
        assert!(!transaction.info.v0().status.is_success());
        assert_eq!(transaction.events.len(), 1, "only the fee statement");
        let fee = transaction.info.v0().gas_used * GAS_UNIT_PRICE;
        assert_eq!(chain.facts(&address(0)).balance, DEVELOPMENT_BALANCE - fee);
        assert_eq!(chain.facts(&address(0)).sequence_number, 1);
        assert_eq!(chain.facts(&UNKNOWN_ADDRESS).balance, 0);
    }
}

#[test]
fn charges_the_whole_gas_limit_if_gas_runs_out() {
    let mut chain = MemoryChain::development();
    // The limit of an account's first transaction must cover the deposit of the account resource.
    let call = chain.transfer(address(1), 0);
    chain.run(&key(0), call);
    let before = chain.facts(&address(0)).balance;
    let mut raw = chain.raw(&key(0), chain.transfer(UNKNOWN_ADDRESS, 5));
    raw.max_gas_amount = 30;
    let transaction = chain.sign(&key(0), raw);
    let executed = single_user_transaction(chain.execute(vec![transaction])).clone();
    assert_eq!(
        chain.chain.vm_status(&executed.info.v0().status),
        "Out of gas"
    );
    assert_eq!(executed.info.v0().gas_used, 30);
    assert_eq!(chain.facts(&UNKNOWN_ADDRESS).balance, 0);
    assert_eq!(
        chain.facts(&address(0)).balance,
        before - 30 * GAS_UNIT_PRICE
    );
}

#[test]
fn charges_used_gas_if_the_call_spends_the_fee() {
    let mut chain = MemoryChain::development();
    let call = chain.transfer(address(1), DEVELOPMENT_BALANCE);
    let executed = single_user_transaction(chain.run(&key(0), call)).clone();
    assert!(
        chain
            .chain
            .vm_status(&executed.info.v0().status)
            .contains("EOUT_OF_GAS(0x203ed)")
    );
    assert_eq!(chain.facts(&address(1)).balance, DEVELOPMENT_BALANCE);
    let gas_used = executed.info.v0().gas_used;
    assert_eq!(
        chain.facts(&address(0)).balance,
        DEVELOPMENT_BALANCE - gas_used * GAS_UNIT_PRICE
    );
    // The same transfer of half the balance, which leaves enough for the fee, uses the same gas.
    let call = chain.transfer(address(1), DEVELOPMENT_BALANCE / 2);
    assert_eq!(
        single_user_transaction(chain.run(&key(0), call))
            .info
            .v0()
            .gas_used,
        gas_used
    );
}

#[test]
fn transfers_create_no_account_resource() {
    for to in [
        UNKNOWN_ADDRESS,
        AccountAddress::ZERO,
        AccountAddress::ONE,
        AccountAddress::NATIVE_ASSET,
    ] {
        let parameters = Parameters {
            transfers_to_framework: true,
            ..Parameters::default()
        };
        let mut chain = MemoryChain::new(&test_genesis(parameters));
        let key_of_account = chain.chain.registry().resource_key::<Account>(&to, &[]);
        let before = chain.state.get(&key_of_account).cloned();
        let call = chain.transfer(to, 1);
        let executed = single_user_transaction(chain.run(&key(0), call)).clone();
        assert!(executed.info.v0().status.is_success(), "{to}");
        assert_eq!(chain.facts(&to).balance, 1, "{to}");
        assert_eq!(chain.state.get(&key_of_account), before.as_ref(), "{to}");
    }
}

#[test]
fn executes_batch_transfers_atomically() {
    let mut chain = MemoryChain::development();
    let batch = |chain: &MemoryChain, amounts: Vec<u64>| {
        let recipients = vec![UNKNOWN_ADDRESS, AccountAddress::from_low_u64(0xaaaa)];
        chain.call(
            "0x1::node_account::batch_transfer",
            &[],
            vec![
                bcs::to_bytes(&recipients).unwrap(),
                bcs::to_bytes(&amounts).unwrap(),
            ],
        )
    };
    let call = batch(&chain, vec![3, u64::MAX]);
    assert!(
        !single_user_transaction(chain.run(&key(0), call))
            .info
            .v0()
            .status
            .is_success()
    );
    assert_eq!(chain.facts(&UNKNOWN_ADDRESS).balance, 0);
    let call = batch(&chain, vec![3]);
    let status = single_user_transaction(chain.run(&key(0), call))
        .info
        .v0()
        .status
        .clone();
    assert!(
        chain
            .chain
            .vm_status(&status)
            .starts_with("Move abort in 0x1::node_account: EMISMATCHING")
    );
    let call = batch(&chain, vec![3, 4]);
    assert!(
        single_user_transaction(chain.run(&key(0), call))
            .info
            .v0()
            .status
            .is_success()
    );
    assert_eq!(chain.facts(&UNKNOWN_ADDRESS).balance, 3);
}

#[test]
fn charges_only_the_fee_for_a_transfer_to_itself() {
    let mut chain = MemoryChain::development();
    let call = chain.transfer(address(1), 9);
    let before = chain.facts(&address(1)).balance;
    let executed = single_user_transaction(chain.run(&key(1), call)).clone();
    assert_eq!(executed.events.len(), 5);
    assert_eq!(
        chain.facts(&address(1)).balance,
        before - executed.info.v0().gas_used * GAS_UNIT_PRICE
    );
}

#[test]
fn rejects_invalid_transactions_with_the_status_of_the_rule() {
    use ValidationStatus as Status;
    let chain = MemoryChain::development();
    type Change = fn(&mut ledger_types::RawTransaction);
    let cases: [(Change, Status); 10] = [
        (
            |raw| raw.max_gas_amount = 20_000_001,
            Status::MaxGasUnitsExceedsMaxGasUnitsBound,
        ),
        (
            |raw| raw.max_gas_amount = 27,
            Status::MaxGasUnitsBelowMinTransactionGasUnits,
        ),
        (
            |raw| raw.gas_unit_price = 0,
            Status::GasUnitPriceBelowMinBound,
        ),
        (
            |raw| raw.gas_unit_price = 10_000_000_001,
            Status::GasUnitPriceAboveMaxBound,
        ),
        (
            |raw| raw.expiration_timestamp_secs = START_SECS,
            Status::TransactionExpired,
        ),
        (|raw| raw.chain_id = 5, Status::BadChainId),
        (|raw| raw.sender = UNKNOWN_ADDRESS, Status::InvalidAuthKey),
        (
            |raw| raw.sequence_number = 1 << 63,
            Status::SequenceNumberTooBig,
        ),
        (
            |raw| raw.gas_unit_price = 10_000_000_000,
            Status::InsufficientBalanceForTransactionFee,
        ),
        (
            |raw| {
                raw.payload = TransactionPayload::ModuleBundle(vec![]);
            },
            Status::FeatureUnderGating,
        ),
    ];
    for (change, status) in cases {
        let mut raw = chain.raw(&key(0), chain.transfer(UNKNOWN_ADDRESS, 1));
        change(&mut raw);
        let transaction = chain.sign(&key(0), raw);
        let facts = chain.transaction_facts(&transaction);
        let rejection =
            validate_for_admission(&chain.chain, &facts, &transaction, START_SECS).unwrap_err();
        assert_eq!(rejection.status, status);
        // The prologue rejects the transaction too, and the block is executed without it.
        let mut copy = MemoryChain::development();
        let block = copy.execute(vec![transaction]);
        assert_eq!(block.transactions.len(), 2);
        assert_eq!(block.discarded[0].status_code, status.code());
    }
}

#[test]
fn accepts_a_payer_that_holds_exactly_the_highest_fee() {
    let mut chain = MemoryChain::development();
    let payer = Ed25519PrivateKey::from_seed(&[9; 32]);
    let call = chain.transfer(
        AccountAddress::from_public_key(&payer.public_key()),
        10_000 * GAS_UNIT_PRICE,
    );
    chain.run(&key(0), call);
    let validated = |max_gas_amount| {
        let mut raw = chain.raw(&payer, chain.transfer(address(0), 1));
        raw.max_gas_amount = max_gas_amount;
        let transaction = chain.sign(&payer, raw);
        let facts = chain.transaction_facts(&transaction);
        let result = validate_for_admission(&chain.chain, &facts, &transaction, START_SECS);
        result.map_err(|discard| discard.status)
    };
    let rejected = Err(ValidationStatus::InsufficientBalanceForTransactionFee);
    assert_eq!(validated(10_000), Ok(()));
    assert_eq!(validated(10_001), rejected);
}

#[test]
fn executes_transactions_only_in_order_of_sequence_number() {
    let mut chain = MemoryChain::development();
    let numbered = |chain: &MemoryChain, number: u64| -> CheckedTransaction {
        let mut raw = chain.raw(&key(0), chain.transfer(UNKNOWN_ADDRESS, 1));
        raw.sequence_number = number;
        chain.sign(&key(0), raw)
    };
    let (zero, one, two) = (
        numbered(&chain, 0),
        numbered(&chain, 1),
        numbered(&chain, 2),
    );
    let facts = chain.transaction_facts(&two);
    assert_eq!(
        validate_for_admission(&chain.chain, &facts, &two, START_SECS),
        Ok(()),
        "admission accepts the transaction, because the mempool parks it"
    );
    let block = chain.execute(vec![zero.clone(), two, one, zero]);
    let statuses: Vec<(u32, u64)> = block
        .discarded
        .iter()
        .map(|d| (d.position, d.status_code))
        .collect();
    assert_eq!(statuses, [(1, 4), (3, 3)]);
    assert_eq!(chain.facts(&address(0)).sequence_number, 2);
}

#[test]
fn hashes_events_and_changes_of_each_transaction() {
    const ACCOUNTS: u64 = 20;
    let mut chain = MemoryChain::new(&funded_genesis(ACCOUNTS));
    let vendor = chain.chain.vendor().clone();
    let transfer = |number: u64| {
        let sender = TestAccount::from_seed(number % ACCOUNTS);
        let payee = TestAccount::from_seed(7).address;
        let transfer = sender.transfer(&chain.chain, number / ACCOUNTS, payee, number + 1);
        CheckedTransaction::new_unchecked(transfer, &vendor)
    };
    let transfers = (0..2 * ACCOUNTS).map(transfer).collect();
    let block = chain.execute(transfers);
    assert_eq!(block.transactions.len() as u64, 2 * ACCOUNTS + 2);
    for executed in &block.transactions {
        let info = executed.info.v0();
        let events_hash = vendor.seeds().contract_events.hash_bcs(&executed.events);
        assert_eq!(info.event_root_hash, events_hash, "{}", executed.hash);
        let writes_hash = vendor.seeds().write_set.hash_bcs(&executed.writes);
        assert_eq!(info.state_change_hash, writes_hash, "{}", executed.hash);
    }
}
