//! Cases of `0x1::escrow`: coins that are locked for their recipient.

use crate::functions::{
    Case, Expected, World, args,
    coin::{
        FROZEN, INSUFFICIENT, NATIVE as COIN, NOT_PUBLISHED, assert_holds, create_funded_coin,
        freeze, has_store, initialize_coin, mint, paired_asset, view,
    },
    fungible_asset::METADATA,
};
use ledger_framework::modules::{coin::CoinInfo, optional_aggregator::OptionalAggregator};
use ledger_types::{ExecutedTransaction, TypeTag};
use serde_json::{Value, json};

const OPEN: &str = "0x1::escrow::open";
const RELEASE: &str = "0x1::escrow::release";
const CANCEL: &str = "0x1::escrow::cancel";
const AMOUNT: u64 = 1_000;
const OPENED: Expected = Expected::Success(&[
    "0x1::fungible_asset::Withdraw",
    "0x1::fungible_asset::WithdrawEvent",
    "0x1::escrow::Opened",
]);
const CLOSED: Expected = Expected::Success(&[
    "0x1::fungible_asset::Deposit",
    "0x1::fungible_asset::DepositEvent",
    "0x1::escrow::Closed",
]);
const DEADLINE: &str = "0x1::escrow: EDEADLINE(0x10002): the deadline must lie ahead of the block's time, by at most 365 days";
const NOT_OPEN: &str =
    "0x1::escrow: ENOT_OPEN(0x60003): the payer has no open escrow of this coin with this number";

/// Returns the time of the next block, in seconds.
fn next_secs(world: &World) -> u64 {
    ledger_test_support::START_SECS + world.chain.tip.height
}

/// Returns the supply of a coin: that of the coin itself, which is the amount that programs hold in
/// resources, that of its paired asset, and the sum that `coin::supply` returns.
fn supplies_of(world: &World, coin: &str) -> [Value; 3] {
    let asset = paired_asset(world, coin);
    [
        view(world, "coin_supply", coin, vec![]),
        world
            .view("0x1::fungible_asset::supply", &[METADATA], args![asset])
            .remove(0),
        view(world, "supply", coin, vec![]),
    ]
    .map(|supply| supply["vec"][0].clone())
}

/// Replaces the amount of a coin of account 0 that programs hold in resources by one that calls
/// could not reach in a lifetime.
fn set_coin_supply(world: &mut World, coin: &str, supply: u128) {
    let coin: TypeTag = coin.parse().unwrap();
    let registry = world.chain().registry();
    let key = registry.resource_key::<CoinInfo>(&world.address(0), std::slice::from_ref(&coin));
    let mut info: CoinInfo = bcs::from_bytes(&world.chain.state[&key]).unwrap();
    info.supply = Some(OptionalAggregator::unlimited(supply));
    let info = bcs::to_bytes(&info).unwrap();
    world.chain.state.insert(key, info.into());
}

/// Opens an escrow for account 1, with a deadline two blocks later.
fn open(world: &mut World) -> ExecutedTransaction {
    open_with_coin(world, COIN, AMOUNT)
}

fn open_with_coin(world: &mut World, coin: &str, amount: u64) -> ExecutedTransaction {
    let deadline_secs = next_secs(world) + 2;
    let recipient = world.address(1);
    world.call_ok(0, OPEN, &[coin], args![recipient, amount, deadline_secs])
}

fn try_open_with_coin(world: &mut World, coin: &str, amount: u64) -> ExecutedTransaction {
    let deadline_secs = next_secs(world) + 2;
    let recipient = world.address(1);
    world.call(0, OPEN, &[coin], args![recipient, amount, deadline_secs])
}

fn locked_amount(world: &World) -> Value {
    world
        .view("0x1::escrow::locked", &[COIN], args![world.address(0)])
        .remove(0)
}

fn escrow_json(world: &World, number: u64) -> Value {
    world
        .view("0x1::escrow::get", &[COIN], args![world.address(0), number])
        .remove(0)
}

fn balance_change(
    world: &World,
    executed: &ExecutedTransaction,
    account: usize,
    before: u64,
) -> i128 {
    i128::from(world.balance(account)) - i128::from(before) + world.net_fee(executed)
}

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = openings();
    cases.extend(releases());
    cases.extend(cancellations());
    cases.extend(other_coins());
    cases.extend(supplies());
    cases
}

fn openings() -> Vec<Case> {
    vec![
        Case::new(OPEN, "locks the coins", OPENED, |world| {
            assert_eq!(
                (locked_amount(world), escrow_json(world, 0)),
                (json!("0"), json!({"vec": []}))
            );
            let before = world.balance(0);
            let deadline_secs = next_secs(world) + 2;
            let executed = open(world);
            assert_eq!(
                balance_change(world, &executed, 0, before),
                -i128::from(AMOUNT)
            );
            assert_eq!(locked_amount(world), "1000");
            let expected = json!({
                "recipient": world.address(1).to_string(),
                "amount": "1000",
                "deadline_secs": deadline_secs.to_string(),
            });
            assert_eq!(escrow_json(world, 0), json!({"vec": [expected]}));
            executed
        }),
        Case::new(
            OPEN,
            "second escrow with the latest possible deadline",
            OPENED,
            |world| {
                open(world);
                let deadline_secs = next_secs(world) + 365 * 86_400;
                let executed = world.call(
                    0,
                    OPEN,
                    &[COIN],
                    args![world.address(2), 5u64, deadline_secs],
                );
                assert_eq!(locked_amount(world), "1005");
                assert_eq!(escrow_json(world, 0)["vec"][0]["amount"], "1000");
                assert_eq!(escrow_json(world, 1)["vec"][0]["amount"], "5");
                executed
            },
        ),
        Case::new(
            OPEN,
            "zero amount",
            Expected::Abort(
                "0x1::escrow: EZERO_AMOUNT(0x10001): an escrow holds at least one unit of the coin",
            ),
            |world| {
                let deadline_secs = next_secs(world) + 2;
                world.call(
                    0,
                    OPEN,
                    &[COIN],
                    args![world.address(1), 0u64, deadline_secs],
                )
            },
        ),
        Case::new(
            OPEN,
            "deadline at the block's time",
            Expected::Abort(DEADLINE),
            |world| {
                let now_secs = next_secs(world);
                world.call(0, OPEN, &[COIN], args![world.address(1), AMOUNT, now_secs])
            },
        ),
        Case::new(
            OPEN,
            "deadline too far in the future",
            Expected::Abort(DEADLINE),
            |world| {
                let deadline_secs = next_secs(world) + 365 * 86_400 + 1;
                world.call(
                    0,
                    OPEN,
                    &[COIN],
                    args![world.address(1), AMOUNT, deadline_secs],
                )
            },
        ),
        Case::new(OPEN, "amount above the balance", INSUFFICIENT, |world| {
            let deadline_secs = next_secs(world) + 2;
            world.call(
                0,
                OPEN,
                &[COIN],
                args![world.address(1), u64::MAX, deadline_secs],
            )
        }),
    ]
}

fn releases() -> Vec<Case> {
    vec![
        Case::new(
            RELEASE,
            "deposits the coins to the recipient",
            CLOSED,
            |world| {
                open(world);
                let before = world.balance(1);
                let executed = world.call(1, RELEASE, &[COIN], args![world.address(0), 0u64]);
                assert_eq!(
                    balance_change(world, &executed, 1, before),
                    i128::from(AMOUNT)
                );
                assert_eq!(
                    (locked_amount(world), escrow_json(world, 0)),
                    (json!("0"), json!({"vec": []}))
                );
                executed
            },
        ),
        Case::new(RELEASE, "after the deadline", CLOSED, |world| {
            open(world);
            for _ in 0..3 {
                world.chain.execute(vec![]);
            }
            world.call(1, RELEASE, &[COIN], args![world.address(0), 0u64])
        }),
        Case::new(
            RELEASE,
            "by an account that is not the recipient",
            Expected::Abort(
                "0x1::escrow: ENOT_RECIPIENT(0x50004): only the recipient of the escrow may release it",
            ),
            |world| {
                open(world);
                world.call(0, RELEASE, &[COIN], args![world.address(0), 0u64])
            },
        ),
        Case::new(
            RELEASE,
            "escrow that is already released",
            Expected::Abort(NOT_OPEN),
            |world| {
                open(world);
                world.call_ok(1, RELEASE, &[COIN], args![world.address(0), 0u64]);
                world.call(1, RELEASE, &[COIN], args![world.address(0), 0u64])
            },
        ),
        Case::new(
            RELEASE,
            "escrow of another coin",
            Expected::Abort(NOT_OPEN),
            |world| {
                open(world);
                world.call(
                    1,
                    RELEASE,
                    &["0xabc::moon::Coin"],
                    args![world.address(0), 0u64],
                )
            },
        ),
    ]
}

fn cancellations() -> Vec<Case> {
    vec![
        Case::new(CANCEL, "returns the coins to the payer", CLOSED, |world| {
            open(world);
            world.chain.execute(vec![]);
            let before = world.balance(0);
            let executed = world.call(0, CANCEL, &[COIN], args![0u64]);
            assert_eq!(
                balance_change(world, &executed, 0, before),
                i128::from(AMOUNT)
            );
            assert_eq!(
                (locked_amount(world), escrow_json(world, 0)),
                (json!("0"), json!({"vec": []}))
            );
            executed
        }),
        Case::new(
            CANCEL,
            "one second before the deadline",
            Expected::Abort(
                "0x1::escrow: EBEFORE_DEADLINE(0x30005): \
                 the payer may cancel the escrow only when its deadline has come",
            ),
            |world| {
                open(world);
                let executed = world.call(0, CANCEL, &[COIN], args![0u64]);
                assert_eq!(locked_amount(world), "1000");
                executed
            },
        ),
        Case::new(
            CANCEL,
            "by the recipient",
            Expected::Abort(NOT_OPEN),
            |world| {
                open(world);
                world.chain.execute(vec![]);
                world.call(1, CANCEL, &[COIN], args![0u64])
            },
        ),
    ]
}

/// Returns the cases with the coin of account 0, which can be frozen and minted without limit.
fn other_coins() -> Vec<Case> {
    vec![
        Case::new(OPEN, "uninitialized coin type", NOT_PUBLISHED, |world| {
            try_open_with_coin(world, "0xabc::moon::Coin", 1)
        }),
        Case::new(OPEN, "from a frozen store", FROZEN, |world| {
            let coin = create_funded_coin(world, &[10]);
            freeze(world, &coin, 0);
            try_open_with_coin(world, &coin, 1)
        }),
        Case::new(
            OPEN,
            "total locked amount overflows",
            Expected::Status("Execution failed in 0x1::escrow::open at code offset 0"),
            |world| {
                let coin = create_funded_coin(world, &[u64::MAX]);
                open_with_coin(world, &coin, u64::MAX);
                let payer = world.address(0);
                mint(world, &coin, payer, 1);
                let executed = try_open_with_coin(world, &coin, 1);
                assert_holds(world, &coin, payer, 1);
                executed
            },
        ),
        Case::new(RELEASE, "creates the recipient's store", CLOSED, |world| {
            let coin = create_funded_coin(world, &[10]);
            open_with_coin(world, &coin, 4);
            let (payer, recipient) = (world.address(0), world.address(1));
            assert!(!has_store(world, &coin, recipient));
            let executed = world.call(1, RELEASE, &[&coin], args![payer, 0u64]);
            assert_holds(world, &coin, payer, 6);
            assert_holds(world, &coin, recipient, 4);
            executed
        }),
        Case::new(RELEASE, "to a frozen store", FROZEN, |world| {
            let coin = create_funded_coin(world, &[10, 1]);
            open_with_coin(world, &coin, 4);
            freeze(world, &coin, 1);
            let payer = world.address(0);
            let executed = world.call(1, RELEASE, &[&coin], args![payer, 0u64]);
            let locked = world.view("0x1::escrow::locked", &[&coin], args![payer]);
            assert_eq!(
                locked,
                [json!("4")],
                "the coins stay locked, and the payer can cancel"
            );
            executed
        }),
        Case::new(
            RELEASE,
            "recipient's balance overflows",
            Expected::Status("Execution failed in 0x1::escrow::release at code offset 0"),
            |world| {
                let coin = create_funded_coin(world, &[10, u64::MAX]);
                open_with_coin(world, &coin, 4);
                world.call(1, RELEASE, &[&coin], args![world.address(0), 0u64])
            },
        ),
    ]
}

/// Returns the cases of a coin whose supply is tracked. Coins of an escrow are in no store, so they
/// are part of the supply of the coin itself, and not of that of its paired asset.
fn supplies() -> Vec<Case> {
    let overflow = Expected::Abort(
        "0x1::optional_aggregator: EAGGREGATOR_OVERFLOW(0x20001): the supply would exceed its limit",
    );
    let underflow = Expected::Abort(
        "0x1::optional_aggregator: EAGGREGATOR_UNDERFLOW(0x20002): more would be destroyed than the supply counts",
    );
    vec![
        Case::new(
            OPEN,
            "moves the amount between the supplies",
            OPENED,
            |world| {
                let coin = create_tracked_coin(world);
                assert_eq!(supplies_of(world, &coin), ["0", "10", "10"]);
                let executed = open_with_coin(world, &coin, 4);
                assert_eq!(supplies_of(world, &coin), ["4", "6", "10"]);
                executed
            },
        ),
        Case::new(
            RELEASE,
            "moves the amount between the supplies",
            CLOSED,
            |world| {
                let coin = create_tracked_coin(world);
                open_with_coin(world, &coin, 4);
                open_with_coin(world, &coin, 5);
                let payer = world.address(0);
                let executed = world.call(1, RELEASE, &[&coin], args![payer, 0u64]);
                assert_eq!(supplies_of(world, &coin), ["5", "5", "10"]);
                executed
            },
        ),
        Case::new(OPEN, "supply of the coin overflows", overflow, |world| {
            let coin = create_tracked_coin(world);
            set_coin_supply(world, &coin, u128::MAX - 3);
            try_open_with_coin(world, &coin, 4)
        }),
        Case::new(
            RELEASE,
            "amount above the supply of the coin",
            underflow,
            |world| {
                let coin = create_tracked_coin(world);
                open_with_coin(world, &coin, 4);
                set_coin_supply(world, &coin, 3);
                world.call(1, RELEASE, &[&coin], args![world.address(0), 0u64])
            },
        ),
    ]
}

/// Initializes a coin with a supply and mints 10 units to account 0.
fn create_tracked_coin(world: &mut World) -> String {
    let coin = initialize_coin(world, true);
    let payer = world.address(0);
    mint(world, &coin, payer, 10);
    coin
}
