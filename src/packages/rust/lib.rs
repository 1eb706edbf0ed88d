//! A ledger node with its ledger in memory, in the process of a test.
//!
//! Each [`TestChain`] has funded accounts, a REST interface on a free port, and a clock that only
//! the test changes. It starts in milliseconds, and any number runs in one process.
//!
//! ```
//! use ledger_test_chain::TestChain;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let chain = TestChain::start();
//! let alice = &chain.accounts()[0];
//! let url = format!("{}/accounts/{}/balance/0xa", chain.url(), alice.address);
//! assert_eq!(reqwest::get(url).await?.text().await?, "1000000000000");
//!
//! // The next block is an hour younger.
//! chain.clock().pass_secs(3_600);
//! # Ok(())
//! # }
//! ```
//!
//! `docs/use/testing.md` compares the crate with the packages for JavaScript and Python.

mod options;
mod serve;

use ledger_execution::genesis::numbered_accounts;
pub use ledger_test_support::HandClock;
pub use options::Options;
use serve::serve;
use std::{
    panic::resume_unwind,
    sync::mpsc,
    thread::{self, JoinHandle},
};
use tokio::sync::oneshot;

/// A funded account. Its key is public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FundedAccount {
    /// Address, with 64 hex digits.
    pub address: String,
    /// Private key of ed25519 in the text form of the SDKs, `ed25519-priv-0x...`.
    pub private_key: String,
}

/// A running chain, which stops when it is dropped.
#[derive(Debug)]
pub struct TestChain {
    url: String,
    accounts: Vec<FundedAccount>,
    clock: HandClock,
    /// Dropped to stop the node.
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl TestChain {
    /// Starts a chain with the default options.
    ///
    /// # Panics
    ///
    /// Panics as [`TestChain::with`] does.
    pub fn start() -> Self {
        Self::with(Options::default())
    }

    /// Starts a chain, and returns it once it accepts requests.
    ///
    /// # Panics
    ///
    /// Panics if the options cannot start a chain, or if the system refuses a thread or a port.
    pub fn with(options: Options) -> Self {
        let accounts = numbered_accounts(options.accounts).map(|account| FundedAccount {
            address: account.address.to_long_hex(),
            private_key: format!("ed25519-priv-0x{}", hex::encode(account.private_key.seed())),
        });
        let accounts = accounts.collect();
        let clock = HandClock::at_secs(options.start_secs);
        let (stop, stopped) = oneshot::channel();
        let (started, url) = mpsc::sync_channel(1);
        let node_clock = clock.clone();
        let thread = thread::Builder::new()
            .name("test-chain".to_owned())
            .spawn(move || serve(&options, node_clock, &started, stopped))
            .expect("the system has a thread");
        match url.recv() {
            Ok(url) => Self {
                url,
                accounts,
                clock,
                stop: Some(stop),
                thread: Some(thread),
            },
            // The thread has ended without a URL, by a panic that names the cause.
            Err(_) => match thread.join() {
                Err(panic) => resume_unwind(panic),
                Ok(()) => unreachable!("a thread without a panic sends the URL"),
            },
        }
    }

    /// Returns the URL of the REST interface: `http://127.0.0.1:PORT/v1`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the funded accounts, which are the same on each chain.
    pub fn accounts(&self) -> &[FundedAccount] {
        &self.accounts
    }

    /// Returns the clock of the chain, which stands still until the test advances it. The next
    /// block has its time.
    pub fn clock(&self) -> &HandClock {
        &self.clock
    }
}

impl Drop for TestChain {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            // A second panic would abort the test and hide the first one.
            if !thread::panicking()
                && let Err(panic) = ended
            {
                resume_unwind(panic);
            }
        }
    }
}
