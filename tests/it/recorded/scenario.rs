//! The transactions that come before the recorded requests.

use super::lines;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use ledger_crypto::Ed25519PrivateKey;
use ledger_framework::modules::object::named_address;
use ledger_test_support::{
    TestAccount, TransactionBuilder, bcs_bytes, function_call,
    http::{RawConnection, number, post_bytes},
    node::TestNode,
    now_secs, transfer_call,
};
use ledger_types::{
    AccountAddress, EntryFunction, SignedTransaction, decode_signed_transaction,
    transaction::TransactionAuthenticator,
};
use ledger_vm::Chain;
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::{collections::HashMap, sync::Arc};

/// Balance of the account that funds the others.
const BANK_BALANCE: u64 = 343_000_000_000;
/// Steps whose transactions expire soon, because they have a nonce. They are signed again.
const ORDERLESS: [&str; 4] = [
    "orderless1",
    "orderless2_json",
    "fee_payer_orderless",
    "multisig_orderless",
];
/// Time until such a transaction expires.
const ORDERLESS_SECS: u64 = 60;

/// A step of the recording. Other fields are for the replay below HTTP.
#[derive(Deserialize)]
struct Step {
    step: Option<String>,
    signed: Option<String>,
}

/// The committed transaction of a step.
pub struct Committed {
    pub hash: String,
    pub version: u64,
    pub height: u64,
    pub first_version: u64,
    pub last_version: u64,
}

/// A node on which the scenario has run.
pub struct Scenario {
    pub node: TestNode,
    pub committed: HashMap<String, Committed>,
    /// The senders of the steps.
    pub senders: HashMap<String, AccountAddress>,
    chain: Chain,
}

/// Returns the account whose private key is the hash of its label.
pub fn account(label: &str) -> TestAccount {
    TestAccount::new(key(label))
}

fn key(label: &str) -> Ed25519PrivateKey {
    Ed25519PrivateKey::from_seed(&Sha256::digest(format!("refnode:{label}")).into())
}

/// Returns the address of the asset of the scenario.
pub fn asset() -> AccountAddress {
    named_address(account("issuer").address, b"REFFA")
}

/// Returns the address of the plain object of the scenario.
pub fn object() -> AccountAddress {
    named_address(account("maker").address, b"OBJ")
}

impl Scenario {
    /// Starts a node with the preset `sdk` and commits the transactions one after another.
    pub async fn run() -> Self {
        let directory = Arc::new(tempfile::tempdir().unwrap());
        let settings = vec!["graphql.listen=".to_owned()];
        let mut command = TestNode::command(directory.path(), &settings);
        command.args(["--preset", "sdk"]);
        let node = TestNode::spawn(command, directory, settings);
        node.fund(&account("bank"), BANK_BALANCE).await;
        let mut scenario = Self {
            chain: node.chain().await,
            node,
            committed: HashMap::new(),
            senders: HashMap::new(),
        };
        for step in lines::<Step>("writes.jsonl.zst") {
            // The first line has no step.
            if let Some(name) = step.step {
                scenario.step(&name, step.signed.as_deref()).await;
            }
        }
        scenario
    }

    async fn step(&mut self, name: &str, signed: Option<&str>) {
        let recorded = signed.map(|text| {
            let bytes = BASE64_STANDARD.decode(text).unwrap();
            decode_signed_transaction(&bytes).unwrap()
        });
        let transaction = match (self.stand_in(name).await, recorded) {
            (Some(transaction), _) => transaction,
            (None, Some(recorded)) if ORDERLESS.contains(&name) => self.sign_again(name, recorded),
            (None, Some(recorded)) => recorded,
            // The step needs bytecode.
            (None, None) => return,
        };
        self.submit(name, &transaction).await;
    }

    /// Returns the transaction for a step that needs bytecode, or whose recorded transaction names
    /// what such a step made.
    async fn stand_in(&mut self, name: &str) -> Option<SignedTransaction> {
        let core = ["0x1::object::ObjectCore"];
        let [keeper, maker, omar] = ["keeper", "maker", "omar"].map(account);
        let moved_to = |to: AccountAddress| vec![bcs_bytes(&object()), bcs_bytes(&to)];
        let transfer = |to| function_call("0x1::object::transfer", &core, moved_to(to));
        let transaction = match name {
            "publish_coin" => {
                let coiner = account("coiner");
                let call = transfer_call(self.chain.vendor(), coiner.address, 1);
                self.sign(&coiner, call).await
            }
            "fa_create" => {
                let issuer = account("issuer");
                let texts = ["http://127.0.0.1/icon", "http://127.0.0.1/project"];
                let arguments = vec![
                    bcs_bytes(&"Reference Asset"),
                    bcs_bytes(&"REFFA"),
                    bcs_bytes(&6u8),
                    bcs_bytes(&texts[0]),
                    bcs_bytes(&texts[1]),
                    bcs_bytes(&None::<u128>),
                ];
                let create = "0x1::managed_fungible_asset::create";
                let create = function_call(create, &[], arguments);
                let create = self.sign(&issuer, create).await;
                self.submit("asset", &create).await;
                let arguments = vec![
                    bcs_bytes(&asset()),
                    bcs_bytes(&issuer.address),
                    bcs_bytes(&1_000_000u64),
                ];
                let mint = function_call("0x1::managed_fungible_asset::mint", &[], arguments);
                self.sign(&issuer, mint).await
            }
            "object_create" => {
                let create = "0x1::managed_object::create_named";
                let create = function_call(create, &[], vec![bcs_bytes(&b"OBJ".to_vec())]);
                self.sign(&maker, create).await
            }
            "object_transfer" => self.sign(&maker, transfer(keeper.address)).await,
            "fail_object_transfer" => self.sign(&keeper, transfer(account("bob").address)).await,
            "object_transfer_call" => {
                let function = "0x1::object::transfer_call";
                let call = function_call(function, &[], moved_to(omar.address));
                self.sign(&keeper, call).await
            }
            "object_burn" | "object_unburn" => {
                let function = name.replace('_', "::");
                let arguments = vec![bcs_bytes(&object())];
                let call = function_call(&format!("0x1::{function}"), &core, arguments);
                let omar = TestAccount {
                    key: key("omar_new"),
                    ..omar
                };
                self.sign(&omar, call).await
            }
            _ => return None,
        };
        Some(transaction)
    }

    /// Signs a call with the next sequence number of the account.
    async fn sign(&self, account: &TestAccount, call: EntryFunction) -> SignedTransaction {
        let path = format!("/v1/accounts/{}", account.address);
        let response = self.node.get(&path).await;
        TransactionBuilder::call(&self.chain, account.address, call)
            .sequence_number(number(&response.json["sequence_number"]))
            .gas_unit_price(100)
            .sign(account)
    }

    /// Returns the recorded transaction with another expiration.
    fn sign_again(&self, name: &str, recorded: SignedTransaction) -> SignedTransaction {
        let builder = TransactionBuilder::from_raw(&self.chain, recorded.raw)
            .expiration_secs(now_secs() + ORDERLESS_SECS);
        match (&recorded.authenticator, name) {
            (TransactionAuthenticator::FeePayer { .. }, _) => {
                let [sender, payer] = ["newbie2", "sponsor"].map(account);
                builder.sign_together(&[&sender], Some(&payer))
            }
            (_, "multisig_orderless") => builder.sign(&account("owner2")),
            _ => builder.sign(&account("olivia")),
        }
    }

    async fn submit(&mut self, name: &str, transaction: &SignedTransaction) {
        let mut connection = RawConnection::connect(self.node.authority()).await;
        let media_type = "application/x.aptos.signed_transaction+bcs";
        let request = post_bytes("/v1/transactions", media_type, &bcs_bytes(transaction));
        let response = connection.exchange(&request).await.unwrap();
        assert_eq!(response.status, 202, "{name}: {}", response.text());
        let hash = response.json()["hash"].as_str().unwrap().to_owned();
        let committed = self.node.try_wait(&hash.parse().unwrap()).await.unwrap();
        let succeeds = !name.starts_with("fail_") && name != "fee_payer_create_self";
        let is_failure = !succeeds || name == "multi_agent_too_many";
        let has_failed = committed["success"] == Value::Bool(false);
        let is_expected = has_failed == is_failure || name == "fail_after_failure";
        assert!(is_expected, "{name}: {}", committed["vm_status"]);
        let version = number(&committed["version"]);
        let block = self
            .node
            .get(&format!("/v1/blocks/by_version/{version}"))
            .await;
        let of_block = |member: &str| number(&block.json[member]);
        let committed = Committed {
            hash,
            version,
            height: of_block("block_height"),
            first_version: of_block("first_version"),
            last_version: of_block("last_version"),
        };
        self.committed.insert(name.to_owned(), committed);
        self.senders.insert(name.to_owned(), transaction.raw.sender);
    }
}
