//! The floor: the smallest honest program for the load that a node takes, so that a node can be measured as
//! a share of it on the same machine in the same run (`benches/compare`).
//!
//! It takes the same `POST /v1/transactions` in BCS, decodes it, checks the signature under the ledger's
//! rule in batches, answers 202, and appends the bytes to a file with one `fdatasync` for all that wait;
//! `wait_by_hash` is parked until that sync. There is no pool, no execution and no index, and what cannot be
//! left out is arranged to cost as little as was found: a transaction stays on the thread that it came to.
//!
//! | to find | look in |
//! |---|---|
//! | signatures, checked together | `checker.rs` |
//! | the file and its thread | `log.rs` |
//! | where each of the newest transactions stands | `recent.rs` |
//! | requests that are parked | `parked.rs` |
//! | the reference's way of waiting, to stand beside it | `polling.rs` |
//! | what is answered | `routes.rs` |

mod checker;
mod log;
mod parked;
mod polling;
mod recent;
mod routes;

use actix_web::{App, HttpServer, http::KeepAlive, web};
use clap::Parser;
use log::Log;
use polling::Polling;
use routes::Worker;
use std::{
    io::{self, Write as _},
    net::SocketAddr,
    num::NonZeroU64,
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

/// The node's allocator, so that the two differ in their work alone.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The least work that any node for the same load must do.
#[derive(Debug, Parser)]
struct Arguments {
    /// Where to listen; port 0 picks a free one
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// The directory of the log; made where it is missing
    #[arg(long)]
    data_dir: PathBuf,
    /// HTTP threads, each of which also checks the signatures of what it took; 0: one per core
    #[arg(long, default_value_t = 0)]
    workers: usize,
    /// Write nothing before so many transactions have come: all that wait for one of them are parked at once
    #[arg(long, value_name = "TRANSACTIONS", default_value_t = 0)]
    hold: u64,
    /// Let requests that wait look so often whether they are done, in place of being woken
    #[arg(long, value_name = "MILLISECONDS")]
    poll_ms: Option<NonZeroU64>,
    /// Let so many requests wait at once while they look for themselves; more are answered as pending
    #[arg(
        long,
        value_name = "REQUESTS",
        default_value_t = 100,
        requires = "poll_ms"
    )]
    parked_max: usize,
}

#[actix_web::main]
async fn main() -> io::Result<()> {
    let arguments = Arguments::parse();
    std::fs::create_dir_all(&arguments.data_dir)?;
    let log = Log::open(&arguments.data_dir.join("transactions.log"), arguments.hold)?;
    let polling = arguments
        .poll_ms
        .map(|interval| Polling::new(Duration::from_millis(interval.get()), arguments.parked_max));
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let workers = match arguments.workers {
        0 => cores(),
        workers => workers,
    };
    let server = HttpServer::new({
        let log = Arc::clone(&log);
        move || {
            let worker = web::Data::new(Worker::new(&log, polling.clone()));
            App::new().app_data(worker).configure(routes::configure)
        }
    });
    // No timers: connections come from one generator that closes them.
    let server = server
        .workers(workers)
        .keep_alive(KeepAlive::Os)
        .client_request_timeout(Duration::ZERO)
        .backlog(4_096)
        .bind(arguments.listen)?;
    let address = server.addrs().first().copied().unwrap_or(arguments.listen);
    let mut stdout = io::stdout();
    writeln!(stdout, "ready api=http://{address} faucet=http://{address}")?;
    stdout.flush()?;
    server.run().await
}
