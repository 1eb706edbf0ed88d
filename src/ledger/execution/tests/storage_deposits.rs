//! Storage deposits: their price, their refund, and chains without them.

use fastrand::Rng;
use ledger_crypto::Ed25519PrivateKey;
use ledger_execution::{development_accounts, development_genesis, validate_for_admission};
use ledger_framework::modules::account::Account;
use ledger_test_support::{GAS_UNIT_PRICE, MemoryChain};
use ledger_types::{
    AccountAddress, CheckedTransaction, Discard, ExecutedTransaction, Parameters, StateKey,
    ValidationStatus, Vendor,
};
use ledger_vm::intrinsic_gas_units;

fn key() -> Ed25519PrivateKey {
    development_accounts().remove(0).private_key
}

/// Executes a call at a gas price. The call must succeed.
fn run(
    chain: &mut MemoryChain,
    price: u64,
    function: &str,
    args: Vec<Vec<u8>>,
) -> ExecutedTransaction {
    let mut raw = chain.raw(&key(), chain.call(function, &[], args));
    raw.gas_unit_price = price;
    let transaction = chain.sign(&key(), raw);
    let executed = chain.execute(vec![transaction]).transactions[1].clone();
    assert!(executed.info.v0().status.is_success(), "{function}");
    executed
}

/// Returns the storage fee and the storage refund of a transaction's fee statement, in the coin's
/// smallest unit.
fn fee_and_refund(chain: &MemoryChain, executed: &ExecutedTransaction) -> (u64, u64) {
    let statement = executed.events.last().unwrap();
    let registry = chain.chain.registry();
    let json = registry
        .value_to_json(statement.type_tag(), statement.data())
        .unwrap();
    let number = |name: &str| json[name].as_str().unwrap().parse().unwrap();
    (
        number("storage_fee_octas"),
        number("storage_fee_refund_octas"),
    )
}

fn balance(chain: &MemoryChain) -> u64 {
    chain
        .facts(&AccountAddress::from_public_key(&key().public_key()))
        .balance
}

fn record() -> Vec<Vec<u8>> {
    vec![
        bcs::to_bytes("n").unwrap(),
        bcs::to_bytes(&vec![1u8; 500]).unwrap(),
    ]
}

#[test]
fn refunds_the_storage_deposit_of_a_deleted_slot() {
    let mut chain = MemoryChain::development();
    run(
        &mut chain,
        GAS_UNIT_PRICE,
        "0x1::registry::initialize",
        vec![],
    );
    let created = run(&mut chain, GAS_UNIT_PRICE, "0x1::registry::set", record());
    let (fee, refund) = fee_and_refund(&chain, &created);
    assert!(fee > 400_000 + 400 * 500, "{fee}");
    assert_eq!(refund, 0);
    let before = balance(&chain);
    let name = vec![bcs::to_bytes("n").unwrap()];
    let removed = run(
        &mut chain,
        GAS_UNIT_PRICE * 2,
        "0x1::registry::remove",
        name,
    );
    // The refund is the deposit paid for the slot, whatever the gas price of the removal.
    assert_eq!(fee_and_refund(&chain, &removed), (0, fee));
    let charge = removed.info.v0().gas_used * GAS_UNIT_PRICE * 2;
    assert_eq!(balance(&chain), before - charge + fee);
}

/// Returns a chain whose minimum gas price is 0.
fn chain_with_free_gas() -> MemoryChain {
    let parameters = Parameters {
        gas_unit_price_min: 0,
        ..Parameters::default()
    };
    MemoryChain::new(&development_genesis(4, Vendor::default(), parameters))
}

#[test]
fn executes_transactions_of_accounts_without_coins_if_gas_is_free() {
    let mut chain = chain_with_free_gas();
    let key = Ed25519PrivateKey::from_seed(&[9; 32]);
    let mut raw = chain.raw(&key, chain.call("0x1::registry::initialize", &[], vec![]));
    raw.gas_unit_price = 0;
    let transaction = chain.sign(&key, raw);
    let executed = &chain.execute(vec![transaction]).transactions[1];
    assert!(
        executed.info.v0().status.is_success(),
        "{:?}",
        executed.info
    );
}

#[test]
fn charges_and_refunds_no_deposit_if_gas_may_be_free() {
    let mut chain = chain_with_free_gas();
    run(&mut chain, 0, "0x1::registry::initialize", vec![]);
    for _ in 0..3 {
        let before = balance(&chain);
        run(&mut chain, 0, "0x1::registry::set", record());
        assert_eq!(balance(&chain), before);
        let name = vec![bcs::to_bytes("n").unwrap()];
        let removed = run(&mut chain, 1, "0x1::registry::remove", name);
        assert_eq!(fee_and_refund(&chain, &removed), (0, 0));
        assert_eq!(balance(&chain), before - removed.info.v0().gas_used);
    }
}

#[test]
fn charges_the_whole_gas_limit_if_it_does_not_cover_the_deposit() {
    let mut chain = MemoryChain::development();
    // The limit of an account's first transaction must cover the deposit of the account resource.
    let owner = AccountAddress::from_public_key(&key().public_key());
    let call = chain.transfer(owner, 0);
    chain.run(&key(), call);
    let before = balance(&chain);
    let to = AccountAddress::from_low_u64(0x77);
    let mut raw = chain.raw(&key(), chain.transfer(to, 1));
    raw.max_gas_amount = 2_000;
    let transaction = chain.sign(&key(), raw);
    let executed = chain.execute(vec![transaction]).transactions[1].clone();
    let status = chain.chain.vm_status(&executed.info.v0().status);
    assert_eq!(status, "Out of gas");
    assert_eq!(fee_and_refund(&chain, &executed), (0, 0));
    assert_eq!(balance(&chain), before - 2_000 * GAS_UNIT_PRICE);
}

/// Gas price at which one gas unit costs one unit of the coin, so that nothing is rounded.
const EXACT_PRICE: u64 = 1;

/// Returns gas prices of every magnitude up to the maximum of a chain, and prices close to `fee`.
fn gas_prices(seed: u64, fee: u64) -> Vec<u64> {
    const RANDOM: usize = 40;
    let price_max = Parameters::default().gas_unit_price_max;
    let mut random = Rng::with_seed(seed);
    let edges = [
        1,
        2,
        3,
        99,
        100,
        101,
        fee / 2,
        fee - 1,
        fee,
        fee + 1,
        price_max,
    ];
    let of_any_magnitude = std::iter::repeat_with(|| {
        let bound = 10u64.saturating_pow(random.u32(1..=10));
        random.u64(1..=bound.min(price_max))
    });
    edges
        .into_iter()
        .chain(of_any_magnitude.take(RANDOM))
        .collect()
}

/// Creates a chain whose accounts can pay any gas price.
fn chain_with_rich_accounts() -> MemoryChain {
    let parameters = Parameters {
        gas_unit_price_min: 1,
        ..Parameters::default()
    };
    let mut genesis = development_genesis(4, Vendor::default(), parameters);
    for account in &mut genesis.accounts {
        account.balance = account.balance.max(1_000_000_000_000_000_000);
    }
    MemoryChain::new(&genesis)
}

/// The gas and the coins that a transaction paid at one gas price.
#[derive(Clone, Copy, Debug)]
struct Paid {
    gas_units: u64,
    fee: u64,
    coins: u64,
}

/// Sets a record at `price` on a new chain and removes it at `price_of_removal`.
///
/// Returns the payments of both transactions.
fn set_and_remove(price: u64, price_of_removal: u64) -> [Paid; 2] {
    let mut chain = chain_with_rich_accounts();
    run(&mut chain, 1, "0x1::registry::initialize", vec![]);
    let name = vec![bcs::to_bytes("n").unwrap()];
    let calls = [
        (price, "0x1::registry::set", record()),
        (price_of_removal, "0x1::registry::remove", name),
    ];
    calls.map(|(price, function, arguments)| {
        let before = balance(&chain);
        let executed = run(&mut chain, price, function, arguments);
        let (fee, refund) = fee_and_refund(&chain, &executed);
        let gas_units = executed.info.v0().gas_used;
        let coins = before + refund - balance(&chain);
        assert_eq!(coins, gas_units * price, "{function} at {price}");
        Paid {
            gas_units,
            fee: fee.max(refund),
            coins,
        }
    })
}

/// The deposit depends on the size of the slot alone. It is charged in whole gas units, rounded up.
#[test]
fn charges_at_least_the_deposit_at_every_gas_price() {
    let seed = 0x5eed;
    let [exact, _] = set_and_remove(EXACT_PRICE, EXACT_PRICE);
    let work_units = exact.gas_units - exact.fee;
    for price in gas_prices(seed, exact.fee) {
        let context = format!("seed {seed:#x}, price {price}");
        let [set, _] = set_and_remove(price, EXACT_PRICE);
        assert_eq!(
            set.fee, exact.fee,
            "{context}: the deposit depends only on the size"
        );
        let charged_deposit = (set.gas_units - work_units) * price;
        assert!(
            charged_deposit >= set.fee,
            "{context}: {charged_deposit} for a deposit of {}",
            set.fee
        );
        assert!(
            charged_deposit - set.fee < price,
            "{context}: one unit or more above the deposit: {charged_deposit}"
        );
    }
}

/// Creating and deleting a slot must not yield coins.
#[test]
fn refunds_at_most_the_charged_deposit_at_any_two_gas_prices() {
    let seed = 0xfee;
    let [exact, _] = set_and_remove(EXACT_PRICE, EXACT_PRICE);
    let set_units = exact.gas_units - exact.fee;
    let gas_prices = gas_prices(seed, exact.fee);
    for (number, price) in gas_prices.iter().enumerate() {
        let price_of_removal = gas_prices[(number * 7 + 3) % gas_prices.len()];
        let [set, remove] = set_and_remove(*price, price_of_removal);
        let refund = remove.fee;
        assert_eq!(refund, set.fee, "seed {seed:#x}");
        let charged = set.coins - set_units * price;
        assert!(
            charged >= refund,
            "seed {seed:#x}: {charged} charged at {price}, {refund} returned at {price_of_removal}"
        );
    }
}

/// The deposit of a slot is the sum of a fixed price and a price per byte of its key and value.
#[test]
fn charges_the_deposit_of_the_created_slots() {
    let mut chain = chain_with_rich_accounts();
    let created = run(&mut chain, 7, "0x1::registry::initialize", vec![]);
    let owner = AccountAddress::from_public_key(&key().public_key());
    let before = MemoryChain::new(&development_genesis(
        4,
        Vendor::default(),
        Parameters::default(),
    ))
    .state;
    let account = StateKey::resource(&owner, &"0x1::account::Account".parse().unwrap());
    // The epilogue writes the account, for which no deposit is paid.
    let slots = created
        .writes
        .iter()
        .filter(|(slot, _)| !before.contains_key(slot) && *slot != account);
    let deposit: usize = slots
        .map(|(slot, op)| 400_000 + 400 * (slot.as_bytes().len() + op.value().unwrap().len()))
        .sum();
    assert!(deposit > 400_000, "{deposit}");
    assert_eq!(fee_and_refund(&chain, &created), (deposit as u64, 0));
}

/// The account of the first transaction that a test executes: a key with coins or with a fee payer,
/// whose account resource does not exist yet.
struct FirstTransaction {
    chain: MemoryChain,
    sender: Ed25519PrivateKey,
    /// Key of the account that pays the fee.
    payer: Ed25519PrivateKey,
}

impl FirstTransaction {
    /// Creates a chain on which a fee payer pays, or else the sender itself, which was funded.
    fn new(is_sponsored: bool) -> Self {
        let mut chain = chain_with_rich_accounts();
        let sender = Ed25519PrivateKey::from_seed(&[77; 32]);
        let funder = development_accounts().remove(1).private_key;
        let payer = if is_sponsored {
            funder
        } else {
            let to = AccountAddress::from_public_key(&sender.public_key());
            let call = chain.transfer(to, 400_000_000_000_000_000);
            let funded = chain.run(&funder, call);
            assert!(funded.transactions[1].info.v0().status.is_success());
            sender.clone()
        };
        Self {
            chain,
            sender,
            payer,
        }
    }

    /// Signs a call of the sender that creates no slot beside the account resource, and that
    /// succeeds or fails.
    fn sign(&self, price: u64, succeeds: bool, max_gas_amount: u64) -> CheckedTransaction {
        let call = if succeeds {
            let native = self.chain.chain.registry().native_coin().to_string();
            self.chain.call("0x1::coin::register", &[&native], vec![])
        } else {
            let to = AccountAddress::from_public_key(&key().public_key());
            self.chain.transfer(to, u64::MAX)
        };
        let mut raw = self.chain.raw(&self.sender, call);
        (raw.gas_unit_price, raw.max_gas_amount) = (price, max_gas_amount);
        if self.payer.public_key() == self.sender.public_key() {
            self.chain.sign(&self.sender, raw)
        } else {
            self.chain
                .sign_together(&[&self.sender], Some(&self.payer), raw)
        }
    }

    /// Executes the call that [`Self::sign`] signs.
    ///
    /// Returns whether it succeeded, and what it paid.
    ///
    /// # Errors
    ///
    /// Returns the discard of a transaction that validation rejects.
    fn pay(
        mut self,
        price: u64,
        succeeds: bool,
        max_gas_amount: u64,
    ) -> Result<(bool, Paid), Discard> {
        let signed = self.sign(price, succeeds, max_gas_amount);
        let payer = AccountAddress::from_public_key(&self.payer.public_key());
        let facts = self.chain.transaction_facts(&signed);
        let now_secs = self.chain.next_secs();
        let admitted = validate_for_admission(&self.chain.chain, &facts, &signed, now_secs);
        let before = self.chain.facts(&payer).balance;
        let block = self.chain.execute(vec![signed]).clone();
        assert_eq!(block.discarded.is_empty(), admitted.is_ok(), "{price}");
        admitted.map(|()| {
            let executed = block.transactions[1].clone();
            let paid = Paid {
                gas_units: executed.info.v0().gas_used,
                fee: fee_and_refund(&self.chain, &executed).0,
                coins: before - self.chain.facts(&payer).balance,
            };
            (executed.info.v0().status.is_success(), paid)
        })
    }
}

/// The payer of a sender's first transaction pays the deposit of the account resource, even if the
/// call fails.
#[test]
fn charges_at_least_the_deposit_of_an_account_at_every_gas_price() {
    let seed = 0xacc;
    for is_sponsored in [false, true] {
        let intrinsic_gas_units = {
            let any = FirstTransaction::new(is_sponsored).sign(1, true, 2_000_000);
            intrinsic_gas_units(any.size_bytes(), &any.transaction().authenticator)
        };
        let pay = |price: u64, succeeds: bool, max_gas_amount: u64| {
            FirstTransaction::new(is_sponsored).pay(price, succeeds, max_gas_amount)
        };
        for succeeds in [true, false] {
            let (is_success, exact) = pay(EXACT_PRICE, succeeds, 2_000_000).unwrap();
            assert_eq!(is_success, succeeds);
            let work_units = exact.gas_units - exact.fee;
            for price in gas_prices(seed, exact.fee) {
                let context =
                    format!("seed {seed:#x}, price {price}, {succeeds}, sponsored {is_sponsored}");
                let deposit_units = exact.fee.div_ceil(price);
                let (is_success, paid) =
                    pay(price, succeeds, deposit_units + 2_000).expect(&context);
                assert_eq!((is_success, paid.fee), (succeeds, exact.fee), "{context}");
                assert_eq!(paid.coins, paid.gas_units * price, "{context}");
                let charged_deposit = (paid.gas_units - work_units) * price;
                assert!(
                    charged_deposit >= paid.fee,
                    "{context}: {charged_deposit} for a deposit of {}",
                    paid.fee
                );
                assert!(
                    charged_deposit - paid.fee < price,
                    "{context}: one unit or more above the deposit: {charged_deposit}"
                );
                // Admission requires the same units, in addition to the intrinsic gas of the
                // transaction.
                let min_gas_units = intrinsic_gas_units + deposit_units;
                assert!(pay(price, succeeds, min_gas_units).is_ok(), "{context}");
                let rejection = pay(price, succeeds, min_gas_units - 1).expect_err(&context);
                assert_eq!(
                    rejection.status,
                    ValidationStatus::MaxGasUnitsBelowMinTransactionGasUnits,
                    "{context}"
                );
            }
        }
    }
}

/// An orderless transaction needs no account resource, because it has no sequence number.
#[test]
fn charges_no_deposit_for_the_account_of_an_orderless_transaction() {
    let mut first = FirstTransaction::new(false);
    let sender = AccountAddress::from_public_key(&first.sender.public_key());
    let account = first
        .chain
        .chain
        .registry()
        .resource_key::<Account>(&sender, &[]);
    let to = AccountAddress::from_public_key(&key().public_key());
    for (nonce, amount, succeeds) in [(1, 1, true), (2, u64::MAX, false)] {
        let raw = first
            .chain
            .raw(&first.sender, first.chain.transfer(to, amount));
        let raw = first.chain.orderless(raw, nonce);
        let signed = first.chain.sign(&first.sender, raw);
        let executed = first.chain.execute(vec![signed]).transactions[1].clone();
        assert_eq!(executed.info.v0().status.is_success(), succeeds);
        assert_eq!(fee_and_refund(&first.chain, &executed), (0, 0));
        assert!(!first.chain.state.contains_key(&account));
    }
}
