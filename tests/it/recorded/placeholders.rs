//! The values that differ between nodes, which the requests name by placeholders such as
//! `{addr:alice}` or `{version:transfer1+1}`.

use super::scenario::{Committed, Scenario, account, asset, object};
use ledger_crypto::HashValue;
use ledger_framework::modules::object::user_derived_address;
use ledger_test_support::{http::number, now_secs};
use ledger_types::AccountAddress;
use reqwest::Method;
use serde_json::{Value, json};

/// A source of the values.
pub struct Placeholders<'a> {
    scenario: &'a Scenario,
}

/// A placeholder: kind, name, and the number that is added to the value.
struct Placeholder<'a> {
    kind: &'a str,
    name: &'a str,
    offset: i64,
}

impl<'a> Placeholder<'a> {
    /// Returns the placeholder at the begin of `text`, and the text behind it.
    fn parse(text: &'a str) -> Option<(Self, &'a str)> {
        let (inner, rest) = text.strip_prefix('{')?.split_once('}')?;
        let is_part =
            |character: char| character.is_ascii_alphanumeric() || "_.:".contains(character);
        let end = inner.find(|character| !is_part(character));
        let (words, offset) = inner.split_at(end.unwrap_or(inner.len()));
        let (kind, name) = words.split_once(':').unwrap_or((words, ""));
        let offset = if offset.is_empty() {
            0
        } else {
            offset.parse().ok()?
        };
        let is_kind = !kind.is_empty()
            && kind
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        is_kind.then_some((Self { kind, name, offset }, rest))
    }
}

fn hex_text(address: AccountAddress) -> String {
    format!("0x{}", hex::encode(address.as_bytes()))
}

fn sha3_address(parts: &[&[u8]]) -> AccountAddress {
    AccountAddress::new(*HashValue::sha3_of(parts).as_bytes())
}

impl<'a> Placeholders<'a> {
    pub fn new(scenario: &'a Scenario) -> Self {
        Self { scenario }
    }

    /// Returns the text with values, or `None` if one of them needs bytecode.
    pub async fn fill(&mut self, mut text: &str) -> Option<String> {
        let mut filled = String::new();
        while let Some(begin) = text.find('{') {
            filled += &text[..begin];
            text = &text[begin..];
            match Placeholder::parse(text) {
                Some((placeholder, rest)) => {
                    filled += &self.value(&placeholder).await?;
                    text = rest;
                }
                None => {
                    filled.push('{');
                    text = &text[1..];
                }
            }
        }
        Some(filled + text)
    }

    async fn value(&self, placeholder: &Placeholder<'_>) -> Option<String> {
        let &Placeholder { kind, name, offset } = placeholder;
        let plus = |value: u64| value.checked_add_signed(offset).unwrap().to_string();
        let committed = |read: fn(&Committed) -> u64| {
            let committed = self.scenario.committed.get(name)?;
            Some(plus(read(committed)))
        };
        let hash = || Some(self.scenario.committed.get(name)?.hash.clone());
        Some(match kind {
            "addr" => hex_text(self.address(name)),
            "addr_bare" => hex_text(self.address(name))[2..].to_owned(),
            "addr_upper" => format!("0x{}", hex_text(self.address(name))[2..].to_uppercase()),
            "hash" => hash()?,
            "hash_bare" => hash()?[2..].to_owned(),
            "version" => committed(|committed| committed.version)?,
            "height" => committed(|committed| committed.height)?,
            "first" => committed(|committed| committed.first_version)?,
            "last" => committed(|committed| committed.last_version)?,
            "latest" => plus(number(&self.get("").await["ledger_version"])),
            "height_latest" => plus(number(&self.get("").await["block_height"])),
            "now" => plus(now_secs()),
            "handle" => self.handle(name).await?,
            "object" => self.object(name).await,
            "cursor" => self.cursor(name).await,
            unknown => panic!("an unknown placeholder {unknown}"),
        })
    }

    /// Returns the address of an account. An account with a key of another scheme is the sender of
    /// a step.
    fn address(&self, label: &str) -> AccountAddress {
        let step = match label {
            "multi" => "multi_ed25519",
            "sk_ed" => "single_sk_ed",
            "sk_k1" => "single_sk_k1",
            "sk_r1" => "single_sk_r1",
            "mk" => "multi_key",
            _ => return account(label).address,
        };
        self.scenario.senders[step]
    }

    fn multisig() -> AccountAddress {
        let owner = account("owner1").address;
        let seed = b"aptos_framework::multisig_account";
        sha3_address(&[owner.as_bytes(), seed, &0u64.to_le_bytes(), &[0xff]])
    }

    /// Returns the handle of a table, or `None` if its owner needs bytecode.
    async fn handle(&self, name: &str) -> Option<String> {
        let (owner, r#type, field) = match name {
            "originating" => (
                AccountAddress::ONE,
                "account::OriginatingAddress",
                "address_map",
            ),
            "multisig" => (
                Self::multisig(),
                "multisig_account::MultisigAccount",
                "transactions",
            ),
            _ => return None,
        };
        let resource = self
            .get(&format!("/accounts/{owner}/resource/0x1::{type}"))
            .await;
        let handle = resource["data"][field]["handle"].as_str();
        Some(handle.expect("a table").to_owned())
    }

    async fn object(&self, name: &str) -> String {
        let moon = format!(
            "{}::moon_coin::MoonCoin",
            hex_text(account("coiner").address)
        );
        let store = |owner: &str, of| user_derived_address(account(owner).address, of);
        let of_resource = |seed: &[u8]| {
            let owner = account("raa").address;
            sha3_address(&[owner.as_bytes(), seed, &[0xff]])
        };
        hex_text(match name {
            "multisig" => Self::multisig(),
            "resource1" => of_resource(b"one"),
            "resource2" => of_resource(b"two"),
            "fa" => asset(),
            "object" => object(),
            "moon_type" => return moon,
            "moon_meta" => {
                let view = json!({
                    "function": "0x1::coin::paired_metadata",
                    "type_arguments": [moon],
                    "arguments": [],
                });
                let node = &self.scenario.node;
                let url = format!("{}/v1/view", node.api);
                let metadata = node.http.send_json(Method::POST, &url, &view).await;
                let address = metadata.json[0]["vec"][0]["inner"].as_str();
                address.expect("an asset").parse().unwrap()
            }
            _ => match name.split_once("_store_") {
                Some(("apt", owner)) => store(owner, AccountAddress::NATIVE_ASSET),
                Some(("fa", owner)) => store(owner, asset()),
                _ => panic!("an unknown object {name}"),
            },
        })
    }

    /// Returns the cursor behind a page, named by address, list and length.
    async fn cursor(&self, name: &str) -> String {
        let parts: Vec<&str> = name.split('.').collect();
        let [address, list, limit] = parts[..] else {
            panic!("an unknown page {name}");
        };
        let path = format!("/v1/accounts/{address}/{list}?limit={limit}");
        let response = self.scenario.node.get(&path).await;
        let cursor = response.headers["x-aptos-cursor"].to_str();
        cursor.unwrap().to_owned()
    }

    async fn get(&self, path: &str) -> Value {
        let response = self.scenario.node.get(&format!("/v1{path}")).await;
        assert_eq!(response.status, 200, "{path}: {}", response.text);
        response.json
    }
}
