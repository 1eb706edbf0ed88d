//! Each rejection by validation, with its status, `error_code`, `vm_error_code` and message, and a
//! check that each status of the ledger has a test that causes it.
//!
//! `validation_pool.rs` has the rejections by the mempool, `validation_multisig.rs` those of
//! multisig accounts.

use crate::{
    http::{orderless, validation_multisig},
    kit::{Rejection, Settings, TestApi, Transfer, assert_error, assert_still_commits, now_secs},
};
use ledger_api::submission_json;
use ledger_crypto::Ed25519Signature;
use ledger_test_support::{TestSigner, TransactionSigner as _};
use ledger_types::{
    AccountAddress, RawTransaction, SignedTransaction, ValidationStatus as Status,
    transaction::{
        AccountAuthenticator, ExtraConfig, InnerPayload, Script, TransactionAuthenticator,
        TransactionExecutable, TransactionPayload,
    },
};

fn rejection(
    status: Status,
    words: &'static str,
    case: &'static str,
    signed: SignedTransaction,
) -> Rejection {
    Rejection {
        case,
        signed,
        status,
        words,
    }
}

/// Returns the next transfer of the first account, which has committed one.
fn next() -> Transfer {
    Transfer::new(0, 1)
}

fn changed(api: &TestApi, change: impl FnOnce(&mut RawTransaction)) -> SignedTransaction {
    let transfer = next();
    let mut raw = transfer.raw(&api.chain, transfer.sender(), transfer.payload(&api.chain));
    change(&mut raw);
    transfer.account().sign(&api.chain, raw)
}

/// Returns the rejections that need no ledger state: signatures and form.
fn of_form(api: &TestApi) -> Vec<Rejection> {
    use Status as S;
    let good = next().sign(&api.chain);
    let with_signature_of = |raw: &RawTransaction, signature| SignedTransaction {
        raw: raw.clone(),
        authenticator: TransactionAuthenticator::Ed25519 {
            public_key: next().account().key.public_key(),
            signature,
        },
    };
    let zeros = with_signature_of(&good.raw, Ed25519Signature([0; 64]));
    // The size is checked before the signature, because the cost of that check grows with the size.
    let mut large = zeros.clone();
    large.raw.payload = TransactionPayload::Script(script(70_000));
    vec![
        rejection(S::InvalidSignature, "", "a signature of zeros", zeros),
        rejection(
            S::ExceededMaxTransactionSize,
            "65536",
            "a large transaction",
            large,
        ),
        rejection(
            S::MaxGasUnitsExceedsMaxGasUnitsBound,
            "the bound is",
            "more gas than the chain allows",
            changed(api, |raw| raw.max_gas_amount = u64::MAX),
        ),
        rejection(
            S::MaxGasUnitsBelowMinTransactionGasUnits,
            "the bound is",
            "less gas than any transaction takes",
            changed(api, |raw| raw.max_gas_amount = 0),
        ),
        rejection(
            S::GasUnitPriceBelowMinBound,
            "the bound is 100",
            "a price below the chain's",
            changed(api, |raw| raw.gas_unit_price = 99),
        ),
        rejection(
            S::GasUnitPriceAboveMaxBound,
            "the bound is 10000000000",
            "a price above the chain's",
            changed(api, |raw| raw.gas_unit_price = 10_000_000_001),
        ),
    ]
}

/// Returns the rejections that depend on the state of an account or on the chain.
fn of_accounts(api: &TestApi) -> Vec<Rejection> {
    use Status as S;
    let other = Transfer::new(1, 0);
    let foreign = {
        let raw = next().raw(&api.chain, next().sender(), next().payload(&api.chain));
        other.signer().sign_alone(&api.chain, raw)
    };
    let newcomer = TestSigner::of_every_scheme().remove(0).1;
    let poor = newcomer.sign_alone(&api.chain, {
        let transfer = Transfer::new(0, 0);
        transfer.raw(&api.chain, newcomer.address(), transfer.payload(&api.chain))
    });
    let expensive = |raw: &mut RawTransaction| raw.gas_unit_price = 10_000_000_000;
    vec![
        rejection(S::InvalidAuthKey, "", "another account's key", foreign),
        rejection(
            S::SequenceNumberTooOld,
            "transaction sequence number is 0, current sequence number is 1",
            "a number that was used",
            changed(api, |raw| {
                raw.sequence_number = 0;
                raw.max_gas_amount -= 1;
            }),
        ),
        rejection(
            S::SequenceNumberTooBig,
            "",
            "a number above the largest",
            changed(api, |raw| raw.sequence_number = 1 << 63),
        ),
        rejection(
            S::InsufficientBalanceForTransactionFee,
            "max_gas_amount x gas_unit_price is 1000000000000000",
            "a fee above the balance",
            changed(api, expensive),
        ),
        rejection(
            S::InsufficientBalanceForTransactionFee,
            "the account holds 0",
            "an account without funds",
            poor,
        ),
        rejection(
            S::TransactionExpired,
            "",
            "an expired transaction",
            changed(api, |raw| raw.expiration_timestamp_secs = now_secs() - 10),
        ),
        rejection(
            S::BadChainId,
            "the transaction is for chain 9, this is chain 4",
            "another chain's transaction",
            changed(api, |raw| raw.chain_id = 9),
        ),
    ]
}

/// Returns the authenticators of the secondary signers.
fn secondary_signers_mut(signed: &mut SignedTransaction) -> &mut Vec<AccountAuthenticator> {
    match &mut signed.authenticator {
        TransactionAuthenticator::MultiAgent {
            secondary_signers, ..
        }
        | TransactionAuthenticator::FeePayer {
            secondary_signers, ..
        } => secondary_signers,
        other => panic!("{other:?} has no secondary signers"),
    }
}

/// Swaps the signatures of two Ed25519 signers, but not their keys.
fn exchange_signatures(signers: &mut [AccountAuthenticator]) {
    let [
        AccountAuthenticator::Ed25519 {
            signature: first, ..
        },
        AccountAuthenticator::Ed25519 {
            signature: second, ..
        },
    ] = signers
    else {
        panic!("{signers:?}");
    };
    std::mem::swap(first, second);
}

/// Returns the rejections of secondary signers and fee payers.
fn of_signers(api: &TestApi) -> Vec<Rejection> {
    use Status as S;
    let (sender, other) = (next().signer(), Transfer::new(1, 0).signer());
    let raw = || next().raw(&api.chain, next().sender(), next().payload(&api.chain));
    let mut unnamed = sender.sign_together(&api.chain, raw(), &[&other], None);
    secondary_signers_mut(&mut unnamed).clear();
    let twice = sender.sign_together(&api.chain, raw(), &[&other, &other], None);
    let itself = sender.sign_together(&api.chain, raw(), &[&sender], None);
    let poor = TestSigner::of_every_scheme().remove(0).1;
    let unpaid = sender.sign_together(&api.chain, raw(), &[], Some(&poor));
    let many: Vec<_> = std::iter::repeat_n(&other, 33).collect();
    let third = Transfer::new(2, 0).signer();
    let exchanged = |payer: Option<&TestSigner>, exchange: fn(&mut [AccountAuthenticator])| {
        let mut signed = sender.sign_together(&api.chain, raw(), &[&other, &third], payer);
        exchange(secondary_signers_mut(&mut signed));
        signed
    };
    let payer = Transfer::new(3, 0).signer();
    vec![
        rejection(
            S::InvalidAuthKey,
            "",
            "two secondary signers, exchanged",
            exchanged(None, |signers| signers.swap(0, 1)),
        ),
        rejection(
            S::InvalidAuthKey,
            "",
            "two secondary signers, exchanged, and a fee payer",
            exchanged(Some(&payer), |signers| signers.swap(0, 1)),
        ),
        rejection(
            S::InvalidSignature,
            "the secondary signer",
            "the signatures of two secondary signers, exchanged",
            exchanged(None, exchange_signatures),
        ),
        rejection(
            S::InvalidSignature,
            "the secondary signer",
            "the signatures of two secondary signers, exchanged, and a fee payer",
            exchanged(Some(&payer), exchange_signatures),
        ),
        rejection(
            S::SecondaryKeysAddressesCountMismatch,
            "1 secondary signers are named, 0 sign",
            "a secondary signer without a signature",
            unnamed,
        ),
        rejection(
            S::SignersContainDuplicates,
            "signs more than once",
            "a signer twice",
            twice,
        ),
        rejection(
            S::SignersContainDuplicates,
            "signs more than once",
            "the sender twice",
            itself,
        ),
        rejection(
            S::InvalidSignature,
            "the transaction has no signature",
            "a fee payer without a signature",
            sender.sign_together(
                &api.chain,
                raw(),
                &[],
                Some(&TestSigner::Unsigned(other.address())),
            ),
        ),
        rejection(
            S::InvalidSignature,
            "32",
            "more signatures than a transaction may have",
            sender.sign_together(&api.chain, raw(), &many, None),
        ),
        rejection(
            S::InsufficientBalanceForTransactionFee,
            "the account holds 0",
            "a fee payer without funds",
            unpaid,
        ),
    ]
}

fn script(length: usize) -> Script {
    Script {
        code: vec![1; length].into(),
        type_args: Vec::new(),
        args: Vec::new(),
    }
}

fn inner(executable: TransactionExecutable) -> TransactionPayload {
    TransactionPayload::Payload(InnerPayload::V1 {
        executable,
        extra_config: ExtraConfig::V1 {
            multisig_address: None,
            replay_protection_nonce: None,
        },
    })
}

/// Returns a transaction with an authenticator from its BCS form, which begins with the numbers of
/// its variants.
fn of_kind(
    api: &TestApi,
    account_variants: &[u8],
    parts: &impl serde::Serialize,
) -> SignedTransaction {
    const SINGLE_SENDER: u8 = 4;
    let mut bytes = vec![SINGLE_SENDER];
    bytes.extend(account_variants);
    bcs::serialize_into(&mut bytes, parts).unwrap();
    SignedTransaction {
        raw: next().raw(&api.chain, next().sender(), next().payload(&api.chain)),
        authenticator: bcs::from_bytes(&bytes).unwrap(),
    }
}

/// Returns the rejections of payloads and signatures that are declared but not supported.
fn of_kinds(api: &TestApi) -> Vec<Rejection> {
    const SINGLE_KEY: u8 = 2;
    const ABSTRACT: u8 = 5;
    let payload = |payload| changed(api, |raw| raw.payload = payload);
    let empty = TransactionExecutable::Empty;
    let bytes = |length: usize| bytes::Bytes::from(vec![7; length]);
    let ed25519_signature = (0u8, bytes(64));
    let keyless_key = ("issuer", bytes(32));
    let function = (AccountAddress::ONE, "module", "function");
    let rows = [
        (
            "a script payload is not supported",
            payload(TransactionPayload::Script(script(1))),
        ),
        (
            "a script payload is not supported",
            payload(inner(TransactionExecutable::Script(script(1)))),
        ),
        (
            "a module bundle payload is not supported",
            payload(TransactionPayload::ModuleBundle(vec![bytes(1)])),
        ),
        ("an empty payload is not supported", payload(inner(empty))),
        (
            "a keyless signature is not supported",
            of_kind(api, &[SINGLE_KEY, 3], &(&keyless_key, &ed25519_signature)),
        ),
        (
            "a federated keyless signature is not supported",
            of_kind(
                api,
                &[SINGLE_KEY, 4],
                &(AccountAddress::ONE, &keyless_key, &ed25519_signature),
            ),
        ),
        (
            "an SLH-DSA signature is not supported",
            of_kind(api, &[SINGLE_KEY, 5], &(bytes(32), (4u8, bytes(7_856)))),
        ),
        (
            "an abstract account signature is not supported",
            of_kind(api, &[ABSTRACT], &(function, 0u8, bytes(32), bytes(64))),
        ),
        (
            "an abstract account signature is not supported",
            of_kind(
                api,
                &[ABSTRACT],
                &(function, 1u8, bytes(32), bytes(64), bytes(32)),
            ),
        ),
    ];
    let row = |(words, signed)| rejection(Status::FeatureUnderGating, words, words, signed);
    let unsigned = rejection(
        Status::InvalidSignature,
        "the transaction has no signature",
        "no signature",
        of_kind(api, &[], &4u8),
    );
    rows.into_iter().map(row).chain([unsigned]).collect()
}

/// Starts a node on which the first account has committed one transaction.
async fn start() -> TestApi {
    let api = TestApi::start(Settings::default()).await;
    api.commit(&Transfer::new(0, 0)).await;
    api
}

async fn assert_all_rejected(api: TestApi, rejections: Vec<Rejection>) {
    for rejection in rejections {
        rejection.assert_rejected(&api).await;
    }
    assert_still_commits(&api).await;
    api.stop().await;
}

#[actix_web::test]
async fn rejects_invalid_forms_and_signatures() {
    let api = start().await;
    let rejections = of_form(&api);
    assert_all_rejected(api, rejections).await;
}

#[actix_web::test]
async fn rejects_transactions_that_do_not_fit_the_account() {
    let api = start().await;
    let rejections = of_accounts(&api);
    assert_all_rejected(api, rejections).await;
}

#[actix_web::test]
async fn rejects_invalid_secondary_signers_and_fee_payers() {
    let api = start().await;
    let rejections = of_signers(&api);
    assert_all_rejected(api, rejections).await;
}

/// Compares each signer with its own account. The node has the first secondary signer and the fee
/// payer from recent blocks, and reads the second one from the store.
#[actix_web::test]
async fn commits_with_two_secondary_signers_in_their_order() {
    let api = start().await;
    for account in [1, 3] {
        api.commit(&Transfer::new(account, 0)).await;
    }
    let signer = |account| Transfer::new(account, 0).signer();
    let [sender, first, second, payer] = [0, 1, 2, 3].map(signer);
    for (others, payer, sequence_number) in [
        ([&first, &second], None, 1),
        ([&second, &first], None, 2),
        ([&first, &second], Some(&payer), 3),
        ([&second, &first], Some(&payer), 4),
    ] {
        let transfer = Transfer::new(0, sequence_number);
        let raw = transfer.raw(&api.chain, transfer.sender(), transfer.payload(&api.chain));
        let signed = sender.sign_together(&api.chain, raw, &others, payer);
        // The transfer takes no further signers and fails, but it is executed.
        let committed = api.commit_signed(&signed).await;
        assert_eq!(committed["type"], "user_transaction", "{committed}");
    }
    api.stop().await;
}

#[actix_web::test]
async fn rejects_unsupported_payloads_and_signatures() {
    let api = start().await;
    for rejection in of_kinds(&api) {
        rejection.assert_rejected(&api).await;
        // The same in JSON if this kind has a JSON form.
        if matches!(
            rejection.signed.raw.payload,
            TransactionPayload::EntryFunction(_)
        ) {
            let body = submission_json(&api.chain, &rejection.signed);
            let response = api.client.submit_json(&body.parse().unwrap()).await;
            assert_error(&response, (400, "vm_error"), rejection.case);
            let code = rejection.status.code();
            assert_eq!(
                response.json()["vm_error_code"],
                code,
                "{}",
                response.text()
            );
        }
    }
    assert_still_commits(&api).await;
    api.stop().await;
}

/// Statuses that reject no submission, and the reason.
const NOT_BY_SUBMISSION: [(Status, &str); 2] = [
    (
        Status::SequenceNumberTooNew,
        "a submission waits in the mempool for its predecessors; only a block and a simulation \
         reject it (`simulations::rejects_valid_signatures_and_reports_validation_errors`)",
    ),
    (
        Status::UnknownModule,
        "a call of an unknown module passes validation and fails when it is executed",
    ),
];

/// Fails if a status has neither a test nor a reason in [`NOT_BY_SUBMISSION`].
#[actix_web::test]
async fn each_status_has_a_test_that_causes_it() {
    let api = TestApi::start(Settings::default()).await;
    let here = [
        of_form(&api),
        of_accounts(&api),
        of_signers(&api),
        of_kinds(&api),
    ];
    let mut caused: Vec<_> = here
        .iter()
        .flatten()
        .map(|rejection| rejection.status)
        .collect();
    caused.extend(validation_multisig::CAUSED);
    caused.extend(orderless::CAUSED);
    let missing: Vec<_> = (0..1_000)
        .filter_map(Status::from_code)
        .filter(|status| !caused.contains(status))
        .collect();
    assert_eq!(missing, NOT_BY_SUBMISSION.map(|(status, _)| status));
    api.stop().await;
}
