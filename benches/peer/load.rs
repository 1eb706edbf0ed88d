//! The load: funds accounts, signs transfers, and sends them over connections.

use crate::{
    Arguments, Mode,
    report::{Measured, report},
    rpc,
    transfer::Account,
};
use ledger_client::{
    http::{Connection, Endpoint, Request},
    load::{ResourceUsage, Tally},
};
use serde_json::{Value, json};
use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    error::Error,
    num::NonZero,
    rc::Rc,
    thread,
    time::{Duration, Instant},
};
use tokio::{runtime, task::LocalSet, time::sleep_until};

/// Number of calls in one request before the load.
const CALLS_PER_REQUEST: usize = 200;
/// Maximum time after the load in which accepted transfers may be mined.
const MINED_TIMEOUT: Duration = Duration::from_secs(5);
/// Interval between two counts of mined transfers.
const COUNT_INTERVAL: Duration = Duration::from_millis(100);
/// Balance of each account in wei, more than it spends.
const BALANCE: &str = "0xffffffffffffffffffff";

/// The state that all connections share.
struct Load {
    mode: Mode,
    measured_from: Instant,
    end: Instant,
    tally: RefCell<Tally>,
    accepted: Cell<u64>,
    ran_out: Cell<bool>,
}

/// Funds the accounts, runs the load, and returns its report.
///
/// # Errors
///
/// Returns an error if the peer does not respond to a call before or after the load, or responds
/// with an error. Errors during the load are counted in the report.
pub fn run(arguments: &Arguments) -> Result<Value, Box<dyn Error>> {
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let endpoint = Endpoint::plain(arguments.address.clone());
    let mut peer = Peer {
        connection: Connection::new(endpoint.clone()),
        endpoint: endpoint.clone(),
        accounts: (0..arguments.accounts.get() as u64)
            .map(Account::new)
            .collect(),
    };
    let chain_id = runtime.block_on(peer.prepare())?;
    let requests = sign_all(arguments, &endpoint, &peer.accounts, chain_id);
    Ok(LocalSet::new().block_on(&runtime, measure(arguments, &mut peer, requests))?)
}

async fn measure(
    arguments: &Arguments,
    peer: &mut Peer,
    requests: Vec<VecDeque<Request>>,
) -> Result<Value, String> {
    let begin = Instant::now();
    let measured_from = begin + arguments.warm_up();
    let load = Rc::new(Load {
        mode: arguments.mode,
        measured_from,
        end: measured_from + arguments.duration(),
        tally: RefCell::default(),
        accepted: Cell::new(0),
        ran_out: Cell::new(false),
    });
    let connections: Vec<_> = requests
        .into_iter()
        .map(|requests| {
            let connection = Connection::new(Endpoint::plain(arguments.address.clone()));
            tokio::task::spawn_local(drive(Rc::clone(&load), connection, requests))
        })
        .collect();
    let mut sample = async |at: Instant| {
        sleep_until(at.into()).await;
        let now = Instant::now();
        let mined = peer.mined().await?;
        Ok::<_, String>((now, mined, ResourceUsage::now(Some(arguments.pid))))
    };
    let before = sample(measured_from).await?;
    let after = sample(load.end).await?;
    for connection in connections {
        connection.await.map_err(|error| error.to_string())?;
    }
    let mut mined = peer.mined().await?;
    while mined < load.accepted.get() && load.end.elapsed() < MINED_TIMEOUT {
        tokio::time::sleep(COUNT_INTERVAL).await;
        mined = peer.mined().await?;
    }
    let measured = Measured {
        seconds: after.0 - before.0,
        committed: after.1.saturating_sub(before.1),
        uncommitted: load.accepted.get().saturating_sub(mined),
        ran_out: load.ran_out.get(),
        usage: [before.2, after.2],
    };
    Ok(report(&measured, &load.tally.borrow()))
}

/// Sends the requests of one connection, one at a time, until the end of the load.
async fn drive(load: Rc<Load>, mut connection: Connection, mut requests: VecDeque<Request>) {
    loop {
        let due = Instant::now();
        if due >= load.end {
            return;
        }
        let Some(request) = requests.pop_front() else {
            return load.ran_out.set(true);
        };
        let answer = connection.exchange(request).await.ok();
        match answer.and_then(|answer| rpc::outcome(&answer)) {
            Some(outcome) => load.count(due, outcome),
            None => load.tally.borrow_mut().count_error("no answer".to_owned()),
        }
    }
}

impl Load {
    fn count(&self, due: Instant, outcome: rpc::Outcome) {
        let mut tally = self.tally.borrow_mut();
        if let Some(fault) = outcome.error {
            return tally.count_error(format!("{} {}", fault.code, fault.message));
        }
        self.accepted.set(self.accepted.get() + 1);
        let latencies = match self.mode {
            Mode::Submit => &mut tally.submit,
            Mode::Await => &mut tally.commit,
        };
        if due >= self.measured_from {
            latencies.record(due.elapsed());
        }
        if self.mode == Mode::Await && outcome.result["status"] != "0x1" {
            tally.failed += 1;
        }
    }
}

/// A connection to the peer for calls beside the load, and the accounts.
struct Peer {
    connection: Connection,
    endpoint: Endpoint,
    accounts: Vec<Account>,
}

impl Peer {
    /// Sets the balances of the accounts and returns the chain id.
    async fn prepare(&mut self) -> Result<u64, String> {
        self.of_all("anvil_setBalance", BALANCE).await?;
        let calls = vec![rpc::call("eth_chainId", &json!([]))];
        let results = rpc::all(&mut self.connection, &self.endpoint, calls).await?;
        let id = results.first().and_then(rpc::number);
        id.ok_or_else(|| "the peer returned no chain id".to_owned())
    }

    /// Returns the number of transfers of all accounts that are in blocks.
    async fn mined(&mut self) -> Result<u64, String> {
        let nonces = self.of_all("eth_getTransactionCount", "latest").await?;
        Ok(nonces.iter().filter_map(rpc::number).sum())
    }

    /// Makes a call for each account and returns the results in the order of the accounts.
    async fn of_all(&mut self, method: &str, parameter: &str) -> Result<Vec<Value>, String> {
        let mut results = Vec::with_capacity(self.accounts.len());
        for accounts in self.accounts.chunks(CALLS_PER_REQUEST) {
            let calls = accounts
                .iter()
                .map(|account| rpc::call(method, &json!([account.address(), parameter])));
            results.extend(rpc::all(&mut self.connection, &self.endpoint, calls.collect()).await?);
        }
        Ok(results)
    }
}

/// Returns the requests of each connection. A connection uses its accounts in turns.
fn sign_all(
    arguments: &Arguments,
    endpoint: &Endpoint,
    accounts: &[Account],
    chain_id: u64,
) -> Vec<VecDeque<Request>> {
    let connections = arguments.connections.get().min(accounts.len());
    let each = arguments.pre_signed.get().div_ceil(connections);
    let method = match arguments.mode {
        Mode::Await => "eth_sendRawTransactionSync",
        Mode::Submit => "eth_sendRawTransaction",
    };
    let sign = |connection: usize| -> VecDeque<Request> {
        let own: Vec<_> = (connection..accounts.len()).step_by(connections).collect();
        let calls = (0..each).map(|number| {
            let sender = own[number % own.len()];
            let recipient = &accounts[(sender + 1) % accounts.len()];
            let nonce = (number / own.len()) as u64;
            let signed = accounts[sender].sign(chain_id, nonce, recipient);
            let signed = format!("0x{}", hex::encode(signed));
            rpc::call(method, &json!([signed]))
        });
        calls.map(|call| rpc::request(endpoint, &call)).collect()
    };
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        let parts: Vec<_> = (0..threads)
            .map(|part| {
                let of_part = (part * connections / threads)..((part + 1) * connections / threads);
                let sign = &sign;
                scope.spawn(move || of_part.map(sign).collect::<Vec<_>>())
            })
            .collect();
        let signed = parts
            .into_iter()
            .map(|part| part.join().expect("signing does not panic"));
        signed.flatten().collect()
    })
}
