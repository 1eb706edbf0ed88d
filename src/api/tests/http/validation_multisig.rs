//! Rejections of transactions of multisig accounts.

use crate::kit::{Rejection, Settings, TestApi, Transfer, assert_still_commits, ok_json};
use ledger_crypto::HashValue;
use ledger_types::{
    AccountAddress, EntryFunction, ValidationStatus as Status,
    transaction::{Multisig, MultisigPayload, TransactionPayload},
};
use serde_json::{Value, json};

/// Validation statuses that the tests of this file cause.
pub const CAUSED: [Status; 6] = [
    Status::AccountNotMultisig,
    Status::NotMultisigOwner,
    Status::MultisigTransactionNotFound,
    Status::MultisigTransactionInsufficientApprovals,
    Status::MultisigTransactionPayloadDoesNotMatchHash,
    Status::MultisigTransactionPayloadDoesNotMatch,
];

/// A multisig account of the development accounts 0 and 1.
struct Vault {
    api: TestApi,
    address: AccountAddress,
    /// Number of transactions that account 0 has sent.
    sent: u64,
}

impl Vault {
    async fn requiring(signatures: u64) -> Self {
        let api = TestApi::start(Settings::default()).await;
        let creator = Transfer::new(0, 0).sender().to_string();
        let call = json!({
            "function": "0x1::multisig_account::get_next_multisig_account_address",
            "type_arguments": [],
            "arguments": [creator],
        });
        let viewed = ok_json(
            &api.client
                .post_json("/v1/view", &call, "application/json")
                .await,
        );
        let mut vault = Self {
            api,
            address: viewed[0].as_str().unwrap().parse().unwrap(),
            sent: 0,
        };
        let other = Transfer::new(1, 0).sender().to_string();
        let terms = [
            json!([other]),
            json!(signatures.to_string()),
            json!([]),
            json!([]),
        ];
        vault.run("create_with_owners", &terms).await;
        vault
    }

    /// Commits a call of the module by account 0.
    async fn run(&mut self, function: &str, arguments: &[Value]) {
        let function = format!("0x1::multisig_account::{function}");
        let call = Transfer::new(0, self.sent).sign_call(&self.api.chain, &function, arguments);
        let committed = self.api.commit_signed(&call).await;
        assert_eq!(committed["success"], true, "{committed}");
        self.sent += 1;
    }

    /// Proposes this payload or its hash as account 0.
    async fn propose(&mut self, function: &str, payload: &[u8]) {
        let arguments = [
            json!(self.address.to_string()),
            json!(format!("0x{}", hex::encode(payload))),
        ];
        self.run(function, &arguments).await;
    }

    /// Returns the form in which the account stores a call.
    fn stored_form(call: &EntryFunction) -> Vec<u8> {
        bcs::to_bytes(&MultisigPayload::EntryFunction(call.clone())).unwrap()
    }

    fn transfer(&self, amount: u64) -> EntryFunction {
        let transfer = Transfer {
            amount,
            ..Transfer::new(0, 0)
        };
        let TransactionPayload::EntryFunction(call) = transfer.payload(&self.api.chain) else {
            panic!("a transfer is a call");
        };
        call
    }

    /// Asserts that the vault's next transaction is rejected if account `from` sends it.
    async fn assert_rejected(&self, from: usize, call: Option<EntryFunction>, status: Status) {
        let payload = TransactionPayload::Multisig(Multisig {
            multisig_address: self.address,
            payload: call.map(MultisigPayload::EntryFunction),
        });
        let sequence_number = if from == 0 { self.sent } else { 0 };
        let signed = Transfer::new(from, sequence_number).sign_payload(&self.api.chain, payload);
        let rejection = Rejection {
            case: status.name(),
            signed,
            status,
            words: "",
        };
        rejection.assert_rejected(&self.api).await;
    }
}

#[actix_web::test]
async fn rejects_transactions_that_the_owners_have_not_approved() {
    let mut vault = Vault::requiring(2).await;
    let call = vault.transfer(7);
    vault
        .assert_rejected(0, None, Status::MultisigTransactionNotFound)
        .await;
    vault
        .propose("create_transaction", &Vault::stored_form(&call))
        .await;
    vault
        .assert_rejected(2, None, Status::NotMultisigOwner)
        .await;
    vault
        .assert_rejected(0, None, Status::MultisigTransactionInsufficientApprovals)
        .await;
    vault.address = AccountAddress::from_low_u64(0xabc);
    vault
        .assert_rejected(0, Some(call), Status::AccountNotMultisig)
        .await;
    assert_still_commits(&vault.api).await;
    vault.api.stop().await;
}

#[actix_web::test]
async fn rejects_payloads_that_the_owners_have_not_proposed() {
    let mut vault = Vault::requiring(1).await;
    let (call, other) = (vault.transfer(7), vault.transfer(8));
    vault
        .propose("create_transaction", &Vault::stored_form(&call))
        .await;
    vault
        .assert_rejected(
            0,
            Some(other),
            Status::MultisigTransactionPayloadDoesNotMatch,
        )
        .await;
    vault.api.stop().await;

    let mut vault = Vault::requiring(1).await;
    let hash = HashValue::sha3_of(&[&Vault::stored_form(&call)]);
    vault
        .propose("create_transaction_with_hash", hash.as_bytes())
        .await;
    for call in [Some(vault.transfer(8)), None] {
        vault
            .assert_rejected(0, call, Status::MultisigTransactionPayloadDoesNotMatchHash)
            .await;
    }
    assert_still_commits(&vault.api).await;
    vault.api.stop().await;
}
