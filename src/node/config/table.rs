//! The one declaration of every setting. From it come parsing, validation, the output of
//! `ledger-node config`, and the test that holds `config/node.toml` against the code.

use super::{FromValue, Kind, Setting, Value};
use crate::access::{HostNames, Origins};
use ledger_actors::FilterRules;
use ledger_types::{FrameworkUpgrade, Vendor};
use std::{net::SocketAddr, ops::RangeInclusive, path::PathBuf};

/// The largest number that a TOML file can hold.
const MAX: u64 = i64::MAX as u64;

/// How many messages a mailbox may be set to hold, at the start and later.
pub const MAILBOX_CAPACITY: RangeInclusive<u64> = 1..=10_000_000;

/// Maximum number of threads that serve a listener.
const API_WORKERS_MAX: u64 = ledger_http::WORKERS_MAX as u64;

macro_rules! settings {
    ($(
        $(#[$about:meta])*
        $field:ident: $Section:ident = $section:literal {
            $( $name:ident: $type:ty = $default:expr, $kind:expr, $unit:literal, $reason:literal; )*
        }
    )*) => {
        $(
            $(#[$about])*
            #[derive(Debug, Clone)]
            pub struct $Section {
                $( #[doc = $reason] pub $name: $type, )*
            }
        )*

        /// Every setting with its effective value.
        #[derive(Debug, Clone)]
        pub struct Settings {
            $( $(#[$about])* pub $field: $Section, )*
        }

        /// Every setting, in the order in which `config` prints them.
        pub static SETTINGS: &[Setting] = &[
            $( $( Setting {
                section: $section,
                name: stringify!($name),
                kind: $kind,
                default: || Value::from($default),
                unit: $unit,
                reason: $reason,
            }, )* )*
        ];

        impl Settings {
            /// Reads the values, which stand in the order of [`SETTINGS`] and were accepted by them.
            ///
            /// # Panics
            /// When the declaration contradicts itself: its kind allows what its type cannot hold.
            pub fn from_values<'a>(values: impl IntoIterator<Item = &'a Value>) -> Self {
                let mut values = values.into_iter();
                Self {
                    $( $field: $Section {
                        $( $name: values
                            .next()
                            .and_then(<$type>::from_value)
                            .expect(concat!("the type of ", $section, ".", stringify!($name), " fits its kind")), )*
                    }, )*
                }
            }
        }
    };
}

settings! {
    /// Which chain the node serves.
    chain: ChainSettings = "chain" {
        genesis: Option<PathBuf> = "", Kind::OptionalPath, "",
            "The genesis file of the chain. Without one the node makes a development chain from the settings below; with one, those that are set must agree with it.";
        id: u8 = 4, Kind::Integer(1..=255), "",
            "The chain id, which transactions are signed for. 4 is what clients expect of a local network.";
        vendor: Vendor = Vendor::DEFAULT, Kind::Vendor, "",
            "The maker's name in headers (X-{VENDOR}-CHAIN-ID), MIME types, hash domains and framework names.";
        gas_unit_price_min: u64 = 100, Kind::Integer(0..=10_000_000_000), "of the coin's smallest unit",
            "The lowest gas unit price of a development chain. 100 is the reference's; a sender must hold price times max_gas_amount.";
        framework_upgrades: Vec<FrameworkUpgrade> = "", Kind::FrameworkUpgrades, "",
            "From which heights on which versions of the framework are on. Empty: a new development chain starts with the newest, a ledger that is there keeps what it has. A later start may add versions at heights above its newest block.";
    }
    /// The interface's listener.
    api: ApiSettings = "api" {
        listen: SocketAddr = "127.0.0.1:8080", Kind::Listen, "",
            "Where /v1 is served. Only this machine reaches it unless it is changed.";
        max_body_bytes: usize = 8 * 1024 * 1024, Kind::Integer(1..=1_073_741_824), "bytes",
            "The largest request body; beyond it the answer is 413. The reference's limit.";
        bodies_bytes_max: usize = 268_435_456, Kind::Integer(1..=MAX), "bytes",
            "Memory for the bodies of all requests, from their arrival until the answer is made; beyond it the answer is 503. A single body is always taken, and a quarter is kept for those of 64 KiB and less. Enough for some 200,000 transfers at once.";
        answers_bytes_max: usize = 268_435_456, Kind::Integer(1..=MAX), "bytes",
            "Memory for answers that their clients have not read yet; beyond it the answer is 503. A single answer is always given, and a quarter is kept for those of 64 KiB and less.";
        kept_answers_bytes_max: usize = 33_554_432, Kind::Integer(0..=MAX), "bytes",
            "Memory for answers that are kept for who asks next: transactions by hash and version, blocks, and pages of events while the ledger stands still. They are kept no longer than what they show, and each takes a 32nd of it at most. 0 keeps none.";
        max_in_flight: usize = 20_000, Kind::Integer(1..=1_000_000), "requests",
            "Requests served at once, parked long polls included; beyond it the answer is 503. More than wait.capacity, so that parked polls leave room for the rest. /v1/-/healthy has 64 places of its own.";
        max_in_flight_per_address: usize = 19_500, Kind::Integer(1..=1_000_000), "requests",
            "Those of one address (of IPv6, of one network of 64 bits); beyond it the answer is 503. Less than max_in_flight, so that no one address keeps all others out, and as many as let one busy client or a proxy use nearly all; much less does on a public network.";
        workers: usize = 0, Kind::Integer(0..=API_WORKERS_MAX), "threads",
            "Threads that serve HTTP; 0 is one for each core, up to the largest allowed number.";
        keep_alive_secs: u64 = 75, Kind::Integer(1..=86_400), "s",
            "How long a connection is kept without a request, before its first one and between two: at least this long, at most a quarter longer. Longer than the 60 s after which common proxies reuse a connection. The admin listener keeps idle connections for 5 s at most.";
        client_request_timeout_ms: u64 = 5_000, Kind::Integer(1..=600_000), "ms",
            "How long a client may take to send the head of an HTTP/1.1 request, from its first byte; then the answer is 408 and the connection is closed. Over HTTP/2 it bounds the connection preface, and api.keep_alive_secs bounds the head of a request while no other is served.";
        max_connections: usize = 25_000, Kind::Integer(1..=1_000_000), "connections",
            "Connections that are open at once, idle ones included; more wait to be accepted. More than max_in_flight, so that idle ones leave room. Each takes a file descriptor: where the hard limit on open files is too low, the node allows fewer and logs how many.";
        max_connections_per_address: usize = 20_000, Kind::Integer(1..=1_000_000), "connections",
            "Those of one address (of IPv6, of one network of 64 bits); more are closed at once. Less than max_connections, so that no one address keeps all others out; behind a proxy, whose address all clients have, as many. Much less does on a public network.";
        client_send_timeout_ms: u64 = 30_000, Kind::Integer(1..=600_000), "ms",
            "How long a client may keep an answer waiting by not reading it before it is cut off. For long, it must read 2 KB/s at least: what it reads gives it time back, so that its size and this speed bound a whole answer. Over HTTP/2 what the connection reads counts for each of its answers, of which each must get something within ten times as long. As long as a request's body may take.";
        max_streams_per_connection: usize = 128, Kind::Integer(1..=1_000_000), "requests",
            "Requests of one HTTP/2 connection at once, which its client is told; it sends more later. More than the 100 that browsers send, and few enough that no one connection takes all of max_in_flight.";
        compression_enabled: bool = true, Kind::Boolean, "",
            "Whether answers of 8 KB and more are sent as zstd, br or gzip to clients that take it. It costs some microseconds for each 10 KB and saves most of the bytes.";
        tls_certificate: Option<PathBuf> = "", Kind::OptionalPath, "",
            "The certificate of /v1 and those that vouch for it, in PEM: then it is served over TLS only, as HTTP/2 or HTTP/1.1. Without one it is plain HTTP/1.1. Read once, at the start.";
        tls_private_key: Option<PathBuf> = "", Kind::OptionalPath, "",
            "The private key of api.tls_certificate, in PEM; only the node's user should be able to read it.";
        tls_handshake_timeout_ms: u64 = 5_000, Kind::Integer(1..=600_000), "ms",
            "How long a TLS handshake may take before the connection is closed. As long as the head of a request.";
        backlog: u32 = 4_096, Kind::Integer(1..=1_000_000), "connections",
            "Connections that wait to be accepted; the kernel cuts it to its own limit (commonly 4096).";
        json_output_enabled: bool = true, Kind::Boolean, "",
            "Whether answers are given in JSON. Where not, they are refused with 403; errors, /-/healthy, /info and the document of the interface go on. As all switches of this section it can be turned on the admin listener (/switches) until the next start.";
        bcs_output_enabled: bool = true, Kind::Boolean, "",
            "Whether answers are given in BCS; where not, they are refused with 403.";
        submission_enabled: bool = true, Kind::Boolean, "",
            "Whether /transactions and /transactions/batch take transactions; where not, they are refused with 403. The faucet goes on.";
        simulation_enabled: bool = true, Kind::Boolean, "",
            "Whether /transactions/simulate answers; where not, it is refused with 403.";
        encode_submission_enabled: bool = true, Kind::Boolean, "",
            "Whether /transactions/encode_submission answers; where not, it is refused with 403.";
    }
    /// A listener with nothing but the interface's GraphQL query.
    graphql: GraphqlSettings = "graphql" {
        listen: Option<SocketAddr> = "", Kind::OptionalListen, "",
            "Where /v1/graphql is served a second time, and nothing else: clients of a local network look for an indexer at port 8090. Empty: nowhere but at api.listen.";
    }
    /// The faucet's listener, which only a development chain has.
    faucet: FaucetSettings = "faucet" {
        enabled: bool = true, Kind::Boolean, "",
            "Whether a development chain has a faucet. Any other chain has none, and setting this to true there is an error.";
        listen: SocketAddr = "127.0.0.1:8081", Kind::Listen, "",
            "Where /fund and /mint are served.";
        amount_max: u64 = 1_000_000_000_000_000, Kind::Integer(1..=MAX), "of the coin's smallest unit",
            "What one request gets at most; larger amounts are cut to it. Large enough for a bench to fund its accounts with a few requests.";
        queue_capacity: usize = 1_000, Kind::Integer(1..=1_000_000), "requests",
            "Requests that wait for the faucet's next transaction; beyond it the answer is 503.";
        hosts: HostNames = "", Kind::HostNames, "",
            "Names under which the faucet is asked for, beside localhost and IP addresses; under others the answer is 403, so that no page can point a name of its own here.";
        origins: Origins = "", Kind::Origins, "",
            "Pages of other machines that may ask, such as `https://wallet.example`; * lets every page ask that a user of the faucet looks at. Pages that this machine serves may ask always, and programs too.";
    }
    /// The operator's listener.
    admin: AdminSettings = "admin" {
        listen: SocketAddr = "127.0.0.1:9101", Kind::Listen, "",
            "Where /actors is served. Keep it off public networks: who reaches it can change the node. An address that other machines can reach is taken only with a token, which travels in clear text: put TLS in front of it.";
        token_file: Option<PathBuf> = "", Kind::OptionalPath, "",
            "A file with the token that each request must carry as \"Authorization: Bearer TOKEN\"; nobody but its owner may have any rights on it (chmod 600). Empty: no token is asked for. It is read at the start.";
        hosts: HostNames = "", Kind::HostNames, "",
            "Names under which the listener is asked for, beside localhost and IP addresses; under others the answer is 403.";
    }
    /// The check of signatures.
    signatures: SignatureSettings = "signatures" {
        threads: usize = 0, Kind::Integer(0..=1024), "threads",
            "Threads that check signatures; 0 is one for each core, as the check is most of the work of a submission.";
        nice: u8 = 3, Kind::Integer(0..=19), "",
            "How far these threads stand back where there are fewer cores than work, as the nice value of the system: what was taken is committed before more is taken. 0 has them compete with the threads that execute and write, and the pool fills. A node that runs with a higher one keeps it. On Linux only.";
        queue_capacity: usize = 16_384, Kind::Integer(1..=1_000_000), "signatures",
            "How much work waits for a thread, in each of the two lanes: of clients whose last transactions were taken, and of the others; beyond it the answer is 503. Counted in ed25519 signatures: one of secp256k1 counts as 2, a passkey's as 6, and four keys of a set as 1. Transactions of up to 8 and larger ones leave each other a quarter. About half a second of work for one core.";
    }
    /// Which submissions are let in.
    filter: FilterSettings = "filter" {
        rules: FilterRules = "", Kind::FilterRules, "",
            "Rules with commas between, of which the first that matches a submission decides: it is taken, or refused with 403. One that none matches is taken, so that a list of who is let in ends with deny all. A sender is who sends, not who else signs or pays. The admin listener (/filter) changes the rules until the next start. What the pool has taken stays, and the faucet is not asked.";
    }
    /// Pending transactions.
    mempool: MempoolSettings = "mempool" {
        capacity_transactions: usize = 2_000_000, Kind::Integer(1..=100_000_000), "transactions",
            "How many transactions are pending at most, those in blocks that are not durable yet included; beyond it the answer is 507. The reference's limit.";
        capacity_bytes: usize = 2_147_483_648, Kind::Integer(1..=MAX), "bytes",
            "Their signed bytes, all together; beyond it the answer is 507. The reference's limit.";
        capacity_per_account: usize = 100, Kind::Integer(1..=1_000_000), "transactions",
            "How many with a sequence number of one sender; beyond it the answer is 507. The reference's limit.";
        capacity_per_account_orderless: usize = 5_000, Kind::Integer(1..=1_000_000), "transactions",
            "How many with a nonce of one sender; beyond it the answer is 507. The reference's limit.";
        ttl_secs: u64 = 600, Kind::Integer(1..=31_536_000), "s",
            "How long a transaction may be pending, whatever its own expiry says. The reference's limit.";
    }
    /// Long polls.
    wait: WaitSettings = "wait" {
        timeout_ms: u64 = 1_000, Kind::Integer(1..=600_000), "ms",
            "How long wait_by_hash waits for a commitment before it answers that the transaction is pending. The reference's.";
        capacity: usize = 16_384, Kind::Integer(1..=1_000_000), "waiters",
            "How many wait at once; beyond it wait_by_hash answers at once, as by_hash does. Below the file descriptors a process commonly has.";
    }
    /// The order of transactions.
    sequencer: SequencerSettings = "sequencer" {
        mode: String = "solo", Kind::Choice(&["solo"]), "",
            "Who decides the order: solo is this node alone.";
        block_transactions_max: usize = 5_000, Kind::Integer(1..=1_000_000), "transactions",
            "The largest block. The reference's; durable commits gain little from larger ones.";
        block_bytes_max: usize = 3_145_728, Kind::Integer(1..=1_073_741_824), "bytes",
            "The signed bytes of a block's transactions. The reference's; a single larger transaction still gets a block.";
        blocks_in_flight_max: usize = 3, Kind::Integer(1..=10_000), "blocks",
            "Blocks ordered but not yet durable: one is executed, one written, one waits. With more, blocks get smaller and cost more each; with 1, execution waits for the disk.";
        heartbeat_secs: u64 = 0, Kind::Integer(0..=86_400), "s",
            "An idle node makes an empty block this often; 0 is never, so that an idle node writes nothing.";
        clock_jump_max_secs: u64 = 2_592_000, Kind::Integer(60..=3_153_600_000), "s",
            "How far the system clock may be ahead of the newest block to be believed. At a start, a clock farther ahead is taken for wrong: reads are served, submissions are refused with 503, and the node continues when the clock is right or confirmed by clock_confirmed_until_secs. While running, block time follows a clock at most this far ahead, ten times as fast as time passes, once it has been ahead for a minute, and ignores one farther ahead. 30 days: longer than a node is off as a rule, and shorter than the usual errors of a clock that lost its date. Less protects more and takes a confirmation after shorter breaks.";
        clock_confirmed_until_secs: u64 = 0, Kind::Integer(0..=MAX), "s since 1970-01-01 UTC",
            "Confirms the time after a break longer than clock_jump_max_secs: at a start, a system clock up to this time is believed however far it is ahead of the newest block. Set it to about an hour from now, as `date +%s` counts, and restart; the 503 names a value. It has no effect once that time is over, so it may stay. 0 confirms nothing.";
    }
    /// The durable ledger.
    storage: StorageSettings = "storage" {
        data_dir: PathBuf = "data", Kind::Path, "",
            "The directory of the ledger; made where it does not exist. Relative to where the node is started. --data-dir sets it too.";
        readers: usize = 2, Kind::Integer(1..=1024), "threads",
            "Threads that answer queries. Reads come from memory for the most part, so as many as small machines have cores.";
        read_queue_capacity: usize = 4_096, Kind::Integer(1..=1_000_000), "queries",
            "Queries that wait for a reader; beyond it the answer is 503. About 50 ms of work.";
        cache_bytes: u64 = 67_108_864, Kind::Integer(1..=MAX), "bytes",
            "Memory for pages of the database, beside the system's own page cache, which does most of the work: eight times as much gains nothing that could be measured.";
        check_bytes_max: u64 = 268_435_456, Kind::Integer(0..=MAX), "bytes",
            "A ledger that takes at most so many bytes is compared with its checksums at the start, about a second for each GB. A larger one is not: damage in it ends the node when it is read and does not fit, and is not noticed where it fits. 0 is never.";
        min_free_bytes: u64 = 268_435_456, Kind::Integer(0..=MAX), "bytes",
            "Room that is kept on the disk of the ledger, but never more than a tenth of that disk; what saving the pool takes is kept on top of it. With less, submissions are refused with 503 and no block is begun until there is room again. Blocks on their way still take some of it, about four times their signed bytes, and where that is more, as much is kept. Free pages inside the ledger's file do not count. 0 is off: then a write may fail, which takes a restart.";
    }
    /// What may be forgotten.
    pruner: PrunerSettings = "pruner" {
        enabled: bool = true, Kind::Boolean, "",
            "Whether versions older than the window are removed.";
        window_versions: u64 = 90_000_000, Kind::Integer(1..=MAX), "versions",
            "How many of the newest versions can be read at least. The reference's.";
        batch_versions: u64 = 500, Kind::Integer(1..=10_000_000), "versions",
            "How many versions one step removes, on top of as many as have come since the last; commits wait for a step that is under way: about 4 ms for 500. The reference's 5000 take 30.";
    }
    /// The actors.
    actors: ActorsSettings = "actors" {
        threads: usize = 1, Kind::Integer(1..=3), "threads",
            "Threads that actors run on. With 1 they tell each other without waking a thread, which pays as long as that thread is not busy (metric ledger_actor_busy_ratio, summed); 2 gives the mempool one of its own, 3 the storage and the pruner too.";
    }
    /// The mempool's mailbox.
    actors_mempool: MempoolMailbox = "actors.mempool" {
        mailbox_capacity: usize = 16_384, Kind::Integer(MAILBOX_CAPACITY), "messages",
            "Requests that wait for the mempool (submissions, look-ups by hash); beyond it the answer is 503.";
    }
    /// The sequencer's mailbox.
    actors_sequencer: SequencerMailbox = "actors.sequencer" {
        mailbox_capacity: usize = 1_024, Kind::Integer(MAILBOX_CAPACITY), "messages",
            "Requests that wait for the sequencer. What other actors tell it is bounded by blocks_in_flight_max instead.";
    }
    /// The committer's mailbox.
    actors_committer: CommitterMailbox = "actors.committer" {
        mailbox_capacity: usize = 16_384, Kind::Integer(MAILBOX_CAPACITY), "messages",
            "Requests that wait for the committer (long polls that subscribe); beyond it the answer is 503.";
    }
    /// The storage actor's mailbox.
    actors_storage: StorageMailbox = "actors.storage" {
        mailbox_capacity: usize = 4_096, Kind::Integer(MAILBOX_CAPACITY), "messages",
            "Queries that wait to be handed to a reader thread; beyond it the answer is 503.";
    }
    /// The pruner's mailbox.
    actors_pruner: PrunerMailbox = "actors.pruner" {
        mailbox_capacity: usize = 64, Kind::Integer(MAILBOX_CAPACITY), "messages",
            "Requests that wait for the pruner; HTTP sends it none today.";
    }
    /// The process as the system sees it.
    process: ProcessSettings = "process" {
        scheduling: String = "batch", Kind::Choice(&["batch", "inherit"]), "",
            "How the system gives the node's threads their turns. batch (SCHED_BATCH): one that is woken waits until the one that runs has had its time or has nothing to do, and finds more to do at once, unless what starts the node has set another way than the usual one. inherit: as what starts the node has it; answers come sooner beside other programs that keep all cores busy. On Linux only.";
    }
    /// What the node says about itself.
    log: LogSettings = "log" {
        format: String = "text", Kind::Choice(&["text", "json"]), "",
            "text for people, json for programs; both on standard error.";
        level: String = "info,actix_server=warn", Kind::LogLevel, "",
            "The least severe level that is logged, for all modules or by module. The HTTP server's own words about its threads are left out, and those about clients that break the rules of HTTP unless actix_http or h2 is named. A line for each request of the interface: \"info,http=debug\".";
    }
}
