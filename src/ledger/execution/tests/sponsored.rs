//! Transactions with several signers, and sponsored transactions.

use ledger_crypto::Ed25519PrivateKey;
use ledger_execution::{
    development_accounts, genesis::DEVELOPMENT_BALANCE, simulate, validate_for_admission,
};
use ledger_framework::modules::account::Account;
use ledger_test_support::{GAS_UNIT_PRICE, MemoryChain, START_SECS, TransactionSigner as _};
use ledger_types::{
    AccountAddress, CheckedTransaction, ExecutedTransaction, LedgerInfo, RawTransaction,
    SignedTransaction, StateKey, ValidationStatus as Status,
    transaction::{AccountAuthenticator, TransactionAuthenticator},
};
use ledger_vm::intrinsic_gas_units;

const UNKNOWN_ADDRESS: AccountAddress = AccountAddress::from_low_u64(0xabcdef);
const COIN: &str = "0x1::node_coin::NodeCoin";

fn key(number: usize) -> Ed25519PrivateKey {
    development_accounts()[number].private_key.clone()
}

fn address(number: usize) -> AccountAddress {
    development_accounts()[number].address
}

/// Returns a key without an account on the ledger, and its address.
fn unknown_account() -> (Ed25519PrivateKey, AccountAddress) {
    let key = Ed25519PrivateKey::from_seed(&[77; 32]);
    let address = AccountAddress::from_public_key(&key.public_key());
    (key, address)
}

fn run(chain: &mut MemoryChain, transaction: CheckedTransaction) -> ExecutedTransaction {
    let block = chain.execute(vec![transaction]);
    assert_eq!(block.discarded, []);
    block.transactions[1].clone()
}

fn fee(executed: &ExecutedTransaction) -> u64 {
    executed.info.v0().gas_used * GAS_UNIT_PRICE
}

/// Returns the status that rejects the transaction at admission.
///
/// The prologue must reject it with the same status.
fn rejection_status(chain: &mut MemoryChain, transaction: CheckedTransaction) -> Status {
    let facts = chain.transaction_facts(&transaction);
    let rejection =
        validate_for_admission(&chain.chain, &facts, &transaction, chain.next_secs()).unwrap_err();
    let block = chain.execute(vec![transaction]);
    assert_eq!(block.discarded[0].status_code, rejection.status.code());
    rejection.status
}

#[test]
fn charges_the_fee_payer_and_increments_the_sender() {
    let mut chain = MemoryChain::development();
    let raw = chain.raw(&key(0), chain.transfer(UNKNOWN_ADDRESS, 700));
    let signed = chain.sign_together(&[&key(0)], Some(&key(1)), raw);
    let executed = run(&mut chain, signed);
    assert!(executed.info.v0().status.is_success());
    let (sender, payer) = (chain.facts(&address(0)), chain.facts(&address(1)));
    assert_eq!(sender.balance, DEVELOPMENT_BALANCE - 700);
    assert_eq!(payer.balance, DEVELOPMENT_BALANCE - fee(&executed));
    assert_eq!((sender.sequence_number, payer.sequence_number), (1, 0));
}

#[test]
fn charges_the_fee_payer_for_a_failed_transaction() {
    let mut chain = MemoryChain::development();
    let raw = chain.raw(&key(0), chain.transfer(UNKNOWN_ADDRESS, u64::MAX));
    let signed = chain.sign_together(&[&key(0)], Some(&key(1)), raw);
    let executed = run(&mut chain, signed);
    assert!(!executed.info.v0().status.is_success());
    assert_eq!(chain.facts(&address(0)).balance, DEVELOPMENT_BALANCE);
    assert_eq!(chain.facts(&address(0)).sequence_number, 1);
    let paid = DEVELOPMENT_BALANCE - fee(&executed);
    assert_eq!(chain.facts(&address(1)).balance, paid);
}

#[test]
fn refunds_the_storage_deposit_to_the_fee_payer() {
    let mut chain = MemoryChain::development();
    let set = |name: &str| {
        vec![
            bcs::to_bytes(name).unwrap(),
            bcs::to_bytes(&vec![1u8; 300]).unwrap(),
        ]
    };
    for (function, arguments) in [("initialize", vec![]), ("set", set("n"))] {
        let call = chain.call(&format!("0x1::registry::{function}"), &[], arguments);
        chain.run(&key(0), call);
    }
    let (sender, payer) = (
        chain.facts(&address(0)).balance,
        chain.facts(&address(1)).balance,
    );
    let name = vec![bcs::to_bytes("n").unwrap()];
    let raw = chain.raw(&key(0), chain.call("0x1::registry::remove", &[], name));
    let signed = chain.sign_together(&[&key(0)], Some(&key(1)), raw);
    let executed = run(&mut chain, signed);
    assert!(executed.info.v0().status.is_success());
    assert_eq!(chain.facts(&address(0)).balance, sender);
    let paid = payer as i128 - chain.facts(&address(1)).balance as i128;
    assert!(paid < i128::from(fee(&executed)), "{paid}");
}

/// The fee payer is also a secondary signer, and the call spends the coins that the fee needs.
#[test]
fn charges_a_fee_payer_that_spends_the_fee_in_the_call() {
    let mut chain = MemoryChain::development();
    let all_but_one = DEVELOPMENT_BALANCE - 1;
    let arguments = vec![
        bcs::to_bytes(&1u64).unwrap(),
        bcs::to_bytes(&all_but_one).unwrap(),
    ];
    let call = chain.call("0x1::exchange::exchange_coins", &[COIN, COIN], arguments);
    let raw = chain.raw(&key(0), call);
    let signed = chain.sign_together(&[&key(0), &key(1)], Some(&key(1)), raw);
    let executed = run(&mut chain, signed);
    let status = chain.chain.vm_status(&executed.info.v0().status);
    assert!(status.contains("EOUT_OF_GAS"), "{status}");
    assert_eq!(chain.facts(&address(0)).balance, DEVELOPMENT_BALANCE);
    assert_eq!(chain.facts(&address(0)).sequence_number, 1);
    let expected_balance = DEVELOPMENT_BALANCE - fee(&executed);
    assert_eq!(chain.facts(&address(1)).balance, expected_balance);
}

#[test]
fn executes_sponsored_transactions_of_an_account_without_coins() {
    let mut chain = MemoryChain::development();
    let (sender_key, sender_address) = unknown_account();
    let raw = chain.raw(&sender_key, chain.transfer(address(0), 0));
    let signed = chain.sign_together(&[&sender_key], Some(&key(1)), raw);
    let executed = run(&mut chain, signed);
    assert!(executed.info.v0().status.is_success());
    let facts = chain.facts(&sender_address);
    assert_eq!((facts.balance, facts.sequence_number), (0, 1));
    // Without a fee payer, the account cannot pay.
    let raw = chain.raw(&sender_key, chain.transfer(address(0), 0));
    let signed = chain.sign(&sender_key, raw);
    let status = rejection_status(&mut chain, signed);
    assert_eq!(status, Status::InsufficientBalanceForTransactionFee);
    // The account cannot pay for others either.
    let raw = chain.raw(&key(0), chain.transfer(address(1), 0));
    let signed = chain.sign_together(&[&key(0)], Some(&sender_key), raw);
    let status = rejection_status(&mut chain, signed);
    assert_eq!(status, Status::InsufficientBalanceForTransactionFee);
}

/// If each key paid less than the deposit, a fee payer could create slots almost for free.
#[test]
fn charges_the_deposit_of_a_sponsored_account_once() {
    for succeeds in [true, false] {
        let mut chain = MemoryChain::development();
        let (sender_key, sender_address) = unknown_account();
        let send = |chain: &mut MemoryChain, max_gas_amount: u64| {
            // A transfer would also create the store of the sender.
            let call = if succeeds {
                chain.call("0x1::coin::register", &[COIN], vec![])
            } else {
                chain.transfer(address(0), 1)
            };
            let mut raw = chain.raw(&sender_key, call);
            raw.max_gas_amount = max_gas_amount;
            chain.sign_together(&[&sender_key], Some(&key(1)), raw)
        };
        let slot = StateKey::resource(&sender_address, &"0x1::account::Account".parse().unwrap());
        let value = bcs::serialized_size(&Account::implicit(sender_address)).unwrap();
        let deposit = 400_000 + 400 * (slot.as_bytes().len() + value) as u64;
        let deposit_units = deposit.div_ceil(GAS_UNIT_PRICE);

        let too_little = send(&mut chain, deposit_units);
        assert_eq!(
            rejection_status(&mut chain, too_little),
            Status::MaxGasUnitsBelowMinTransactionGasUnits
        );
        let first = send(&mut chain, deposit_units + 2_000);
        let first = run(&mut chain, first);
        assert_eq!(first.info.v0().status.is_success(), succeeds);
        let second = send(&mut chain, 2_000);
        let second = run(&mut chain, second);
        let (first_fee, second_fee) = (fee(&first), fee(&second));
        let first_surcharge = first_fee - second_fee;
        // A successful call also pays gas for creating the slot, beside the deposit; a failed one
        // does not.
        let work_max = 50 * GAS_UNIT_PRICE;
        assert!(
            (deposit..deposit + work_max).contains(&first_surcharge),
            "{first_surcharge} for {deposit}"
        );
        let expected_balance = DEVELOPMENT_BALANCE - first_fee - second_fee;
        assert_eq!(chain.facts(&address(1)).balance, expected_balance);
        assert_eq!(chain.facts(&sender_address).sequence_number, 2);
    }
}

#[test]
fn accepts_the_sender_as_fee_payer() {
    let mut chain = MemoryChain::development();
    let raw = chain.raw(&key(0), chain.transfer(address(1), 5));
    let signed = chain.sign_together(&[&key(0)], Some(&key(0)), raw);
    let executed = run(&mut chain, signed);
    let expected_balance = DEVELOPMENT_BALANCE - 5 - fee(&executed);
    assert_eq!(chain.facts(&address(0)).balance, expected_balance);
}

#[test]
fn passes_signers_to_the_call_in_their_order() {
    let mut chain = MemoryChain::development();
    let arguments = vec![
        bcs::to_bytes(&10u64).unwrap(),
        bcs::to_bytes(&3u64).unwrap(),
    ];
    let call = chain.call("0x1::exchange::exchange_coins", &[COIN, COIN], arguments);
    let raw = chain.raw(&key(0), call);
    let signed = chain.sign_together(&[&key(0), &key(1)], Some(&key(2)), raw);
    let executed = run(&mut chain, signed);
    assert!(executed.info.v0().status.is_success());
    let balance = |number| chain.facts(&address(number)).balance;
    assert_eq!(balance(0), DEVELOPMENT_BALANCE - 7);
    assert_eq!(balance(1), DEVELOPMENT_BALANCE + 7);
    assert_eq!(balance(2), DEVELOPMENT_BALANCE - fee(&executed));
}

/// In each case, one signer's key is not the key of its account.
#[test]
fn rejects_keys_of_other_accounts_for_each_signer() {
    let mut chain = MemoryChain::development();
    let raw = chain.raw(&key(0), chain.transfer(UNKNOWN_ADDRESS, 1));
    let signed = chain.sign_together(&[&key(0), &key(1)], Some(&key(2)), raw);
    type Change = fn(&mut TransactionAuthenticator, AccountAuthenticator);
    let changes: [Change; 3] = [
        |authenticator, by| match authenticator {
            TransactionAuthenticator::FeePayer { sender, .. } => **sender = by,
            other => panic!("{other:?}"),
        },
        |authenticator, by| match authenticator {
            TransactionAuthenticator::FeePayer {
                secondary_signers, ..
            } => secondary_signers[0] = by,
            other => panic!("{other:?}"),
        },
        |authenticator, by| match authenticator {
            TransactionAuthenticator::FeePayer {
                fee_payer_signer, ..
            } => **fee_payer_signer = by,
            other => panic!("{other:?}"),
        },
    ];
    for change in changes {
        let SignedTransaction {
            raw,
            mut authenticator,
        } = signed.transaction().clone();
        let message =
            raw.fee_payer_signing_message(&[address(1)], address(2), chain.chain.vendor());
        change(&mut authenticator, key(3).authenticate(&message));
        let forged = SignedTransaction { raw, authenticator };
        let forged =
            CheckedTransaction::check(forged, chain.chain.vendor(), chain.chain.parameters())
                .unwrap();
        assert_eq!(rejection_status(&mut chain, forged), Status::InvalidAuthKey);
    }
}

#[test]
fn rejects_duplicate_signers() {
    let mut chain = MemoryChain::development();
    let raw = chain.raw(&key(0), chain.transfer(UNKNOWN_ADDRESS, 1));
    for keys in [[&key(0), &key(0)], [&key(1), &key(1)]] {
        let keys = [&key(0), keys[0], keys[1]];
        let signed = chain.sign_together(&keys, None, raw.clone());
        assert_eq!(
            rejection_status(&mut chain, signed),
            Status::SignersContainDuplicates
        );
    }
}

/// Each signature after the first has a price, so that many signatures are not free.
#[test]
fn charges_gas_for_each_signature() {
    let mut chain = MemoryChain::development();
    let call = || MemoryChain::development().transfer(address(1), 1);
    let executed = chain.run(&key(0), call());
    let unsponsored_gas = executed.transactions[1].info.v0().gas_used;
    let raw = chain.raw(&key(0), call());
    let signed = chain.sign_together(&[&key(0)], Some(&key(1)), raw);
    let sponsored_gas = run(&mut chain, signed).info.v0().gas_used;
    assert_eq!(sponsored_gas - unsponsored_gas, 30);
    let keys: Vec<_> = (0..31u8)
        .map(|n| Ed25519PrivateKey::from_seed(&[n + 100; 32]))
        .collect();
    let all: Vec<_> = std::iter::once(key(0)).chain(keys).collect();
    let mut raw = chain.raw(&key(0), call());
    let signature_gas = 27 + 31 * 30;
    raw.max_gas_amount = signature_gas;
    let signed = chain.sign_together(&all.iter().collect::<Vec<_>>(), None, raw);
    let authenticator = &signed.transaction().authenticator;
    assert!(intrinsic_gas_units(signed.size_bytes(), authenticator) > signature_gas);
    assert_eq!(
        rejection_status(&mut chain, signed),
        Status::MaxGasUnitsBelowMinTransactionGasUnits
    );
}

fn simulated(
    chain: &MemoryChain,
    raw: RawTransaction,
    payer: AccountAddress,
) -> ExecutedTransaction {
    let authenticator = TransactionAuthenticator::FeePayer {
        sender: Box::new(AccountAuthenticator::NoAccountAuthenticator),
        secondary_signer_addresses: vec![],
        secondary_signers: vec![],
        fee_payer_address: payer,
        fee_payer_signer: Box::new(AccountAuthenticator::NoAccountAuthenticator),
    };
    let info = LedgerInfo {
        chain_id: chain.chain.id(),
        epoch: chain.tip.epoch,
        version: chain.tip.version,
        oldest_version: 0,
        block_height: chain.tip.height,
        oldest_block_height: 0,
        timestamp_usecs: START_SECS * 1_000_000,
    };
    simulate(
        &chain.chain,
        chain,
        &info,
        info.timestamp_usecs,
        &SignedTransaction { raw, authenticator },
        None,
    )
    .unwrap()
}

#[test]
fn simulates_with_and_without_a_fee_payer_address() {
    let chain = MemoryChain::development();
    let (sender_key, _) = unknown_account();
    let raw = chain.raw(&sender_key, chain.transfer(address(0), 0));
    let without_payer = simulated(&chain, raw.clone(), AccountAddress::ZERO);
    assert!(without_payer.info.v0().status.is_success());
    let with_payer = simulated(&chain, raw.clone(), address(1));
    assert_eq!(
        without_payer.info.v0().gas_used,
        with_payer.info.v0().gas_used
    );
    // Without a fee payer no fee is paid, so the only writes are the account and the store of the
    // sender.
    assert_eq!(
        (
            without_payer.writes.iter().count(),
            with_payer.writes.iter().count()
        ),
        (2, 3)
    );
    let with_poor_payer = simulated(&chain, raw, UNKNOWN_ADDRESS);
    let status = chain.chain.vm_status(&with_poor_payer.info.v0().status);
    assert!(
        status.contains("INSUFFICIENT_BALANCE_FOR_TRANSACTION_FEE"),
        "{status}"
    );
}
