//! A real node: the binary, on free ports, in a directory of its own that goes away with it.

use super::{Account, Answer, ChainFacts, Http, binary};
use ledger::{AccountAddress, HashValue, SignedTransaction};
use reqwest::Method;
use serde_json::{Value, json};
use std::{
    fs::{self, File},
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::Arc,
};
use tempfile::TempDir;

/// A node that answers. Dropping it kills it.
#[derive(Debug)]
pub struct TestNode {
    child: Child,
    directory: Arc<TempDir>,
    settings: Vec<String>,
    /// What it printed before the ready line.
    pub greeting: Vec<String>,
    pub api: String,
    pub faucet: Option<String>,
    pub admin: String,
    pub http: Http,
}

impl TestNode {
    /// Starts a node with these settings (`key=value`) beside the built-in ones.
    pub fn start(settings: &[&str]) -> Self {
        let settings = settings.iter().map(|&setting| setting.to_owned()).collect();
        Self::start_in(Arc::new(tempfile::tempdir().unwrap()), settings)
    }

    fn start_in(directory: Arc<TempDir>, settings: Vec<String>) -> Self {
        let mut child = Self::command(directory.path(), &settings)
            .stdout(Stdio::piped())
            .stderr(
                File::options()
                    .create(true)
                    .append(true)
                    .open(log_file(&directory))
                    .unwrap(),
            )
            .spawn()
            .unwrap();
        let mut greeting = Vec::new();
        let stdout = child.stdout.take().unwrap();
        for line in BufReader::new(stdout).lines() {
            let line = line.unwrap();
            if let Some(words) = line.strip_prefix("ready ") {
                let address = |name: &str| {
                    let mut pairs = words.split(' ').filter_map(|word| word.split_once('='));
                    pairs.find(|(key, _)| *key == name).map(|(_, url)| url.to_owned())
                };
                return Self {
                    api: address("api").unwrap(),
                    faucet: address("faucet"),
                    admin: address("admin").unwrap(),
                    http: Http::new(),
                    child,
                    directory,
                    settings,
                    greeting,
                };
            }
            greeting.push(line);
        }
        let status = child.wait().unwrap();
        let log = fs::read_to_string(log_file(&directory)).unwrap();
        panic!("the node ended with {status} before it was ready:\n{log}");
    }

    /// The command line of a node in `directory`, on free ports.
    pub fn command(directory: &Path, settings: &[String]) -> Command {
        let mut command = binary();
        command.arg("run").arg("--data-dir").arg(directory.join("data"));
        let ports = ["api", "faucet", "admin"].map(|name| format!("{name}.listen=127.0.0.1:0"));
        for setting in ports.iter().chain(settings) {
            command.args(["--set", setting]);
        }
        command
    }

    /// Where it lives.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// What it logged.
    pub fn log(&self) -> String {
        fs::read_to_string(log_file(&self.directory)).unwrap()
    }

    /// Ends it as a power cut would.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to stop, and waits until it has.
    pub fn stop(&mut self, signal: &str) -> ExitStatus {
        let sent = Command::new("kill")
            .args(["-s", signal, &self.child.id().to_string()])
            .status()
            .unwrap();
        assert!(sent.success());
        self.child.wait().unwrap()
    }

    /// A new process on the same directory; this one must have ended.
    pub fn restart(self) -> Self {
        Self::start_in(Arc::clone(&self.directory), self.settings.clone())
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.http.get(&format!("{}{path}", self.api)).await
    }

    /// What transactions of this node's chain are signed for.
    pub async fn chain(&self) -> ChainFacts {
        let answer = self.get("/v1").await;
        let vendor = answer
            .headers
            .keys()
            .find_map(|name| name.as_str().strip_prefix("x-")?.strip_suffix("-chain-id"));
        let gas = self.get("/v1/estimate_gas_price").await;
        ChainFacts {
            id: answer.json["chain_id"].as_u64().unwrap().try_into().unwrap(),
            vendor: vendor.unwrap().parse().unwrap(),
            gas_unit_price: gas.json["gas_estimate"].as_u64().unwrap(),
        }
    }

    /// Has the faucet pay an account.
    pub async fn fund(&self, account: &Account, amount: u64) {
        let url = format!("{}/fund", self.faucet.as_ref().unwrap());
        let body = json!({ "address": account.address.to_string(), "amount": amount });
        let answer = self.http.send_json(Method::POST, &url, &body).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
    }

    /// Submits; `None` when no answer came.
    pub async fn try_submit(&self, transaction: &SignedTransaction) -> Option<Answer> {
        let vendor = self.vendor_lower(transaction);
        let request = self
            .http
            .request(Method::POST, &format!("{}/v1/transactions", self.api))
            .header(
                "content-type",
                format!("application/x.{vendor}.signed_transaction+bcs"),
            )
            .body(bcs::to_bytes(transaction).unwrap());
        self.http.try_send(request).await
    }

    /// The vendor word as the transaction's own call names it.
    fn vendor_lower(&self, transaction: &SignedTransaction) -> String {
        let call = transaction.raw.entry_function().unwrap();
        let module = call.module.name.as_str();
        module.strip_suffix("_account").unwrap().to_owned()
    }

    /// Submits; gives the hash.
    pub async fn submit(&self, transaction: &SignedTransaction) -> HashValue {
        let answer = self.try_submit(transaction).await.unwrap();
        assert_eq!(answer.status, 202, "{}", answer.text);
        answer.json["hash"].as_str().unwrap().parse().unwrap()
    }

    /// Waits by long polls; gives the committed transaction. `None` when no answer came.
    pub async fn try_wait(&self, hash: &HashValue) -> Option<Value> {
        let url = format!("{}/v1/transactions/wait_by_hash/{hash}", self.api);
        loop {
            let answer = self.http.try_send(self.http.request(Method::GET, &url)).await?;
            assert_eq!(answer.status, 200, "{}", answer.text);
            if answer.json["type"] != "pending_transaction" {
                return Some(answer.json);
            }
        }
    }

    /// Submits and waits; gives the committed transaction.
    pub async fn submit_and_wait(&self, transaction: &SignedTransaction) -> Value {
        let hash = self.submit(transaction).await;
        self.try_wait(&hash).await.unwrap()
    }

    /// What an account holds of the chain's coin.
    pub async fn balance(&self, address: &AccountAddress) -> u64 {
        let answer = self.get(&format!("/v1/accounts/{address}/balance/0xa")).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        answer.json.as_u64().unwrap()
    }

    /// The number of an account's next transaction.
    pub async fn sequence_number(&self, address: &AccountAddress) -> u64 {
        let answer = self.get(&format!("/v1/accounts/{address}")).await;
        answer.json["sequence_number"].as_str().unwrap().parse().unwrap()
    }
}

impl Drop for TestNode {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn log_file(directory: &TempDir) -> PathBuf {
    directory.path().join("node.err")
}
