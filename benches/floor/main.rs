//! The floor: the least work that any program must do for the load of a node.
//!
//! `benches/compare` runs it in turns with the node, and reports the node's speed as a share of the
//! floor's. The floor accepts `POST /v1/transactions` in BCS, decodes the body, checks signatures
//! in batches under the ledger's rule, responds with 202, and appends the bytes to a file. One
//! `fdatasync` makes all waiting transactions durable, and `wait_by_hash`, a submission with
//! `timeout_ms`, and a wait for many respond after it.
//!
//! The floor has no pool, no execution, and no index. A transaction stays on the thread that
//! received it, the cheapest arrangement of several that were tried.
//!
//! | module | content |
//! |---|---|
//! | `checker` | signature checks of the submissions of one thread |
//! | `batch` | threads that check the signatures of a batch |
//! | `log` | the file and its thread |
//! | `recent` | positions of the newest transactions in the log |
//! | `parked` | requests that wait for a sync |
//! | `polling` | waits that poll, as on the Aptos full node, for comparison |
//! | `routes` | handlers |
//! | `many` | handlers of batches, and of waits for many transactions |

mod batch;
mod checker;
mod log;
mod many;
mod parked;
mod polling;
mod recent;
mod routes;

use actix_web::{App, HttpServer, http::KeepAlive, web};
use batch::BatchChecker;
use clap::Parser;
use log::Log;
use polling::Polling;
use routes::{CHAIN_ID, Worker};
use std::{
    io::{self, Write as _},
    net::SocketAddr,
    num::NonZeroU64,
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

/// The allocator of the node, so that the comparison does not include the allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The least work that any node for the same load must do.
#[derive(Debug, Parser)]
struct Arguments {
    /// Listening address; port 0 picks a free port
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Directory of the log, created if it is missing
    #[arg(long)]
    data_dir: PathBuf,
    /// HTTP threads, which also check signatures; 0: one per core
    #[arg(long, default_value_t = 0)]
    workers: usize,
    /// Minimum number of transactions of the first write, so that as many requests wait together
    #[arg(long, value_name = "TRANSACTIONS", default_value_t = 0)]
    hold: u64,
    /// Interval at which a waiting request checks whether it is done, instead of being notified
    #[arg(long, value_name = "MILLISECONDS")]
    poll_ms: Option<NonZeroU64>,
    /// Maximum number of polling requests; a further one receives the pending form
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
    let batches = BatchChecker::start(cores(), CHAIN_ID)?;
    let server = HttpServer::new({
        let log = Arc::clone(&log);
        move || {
            let worker = Worker::new(&log, batches.clone(), polling.clone());
            let worker = web::Data::new(worker);
            App::new().app_data(worker).configure(routes::configure)
        }
    });
    // No timers: all connections are those of one load generator, which closes them.
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
