//! The table of settings: one row binds a key to a field of [`Settings`](super::Settings).
//!
//! A row has the key, the field, the kind of value with its range, the unit, when a change applies
//! ([`Applies`], at the next start if it is not named), and a text for operators. The default of a
//! setting is the one of its field. The loader, `ledger-node config`, `config/node.toml`, the
//! reload and the admin listener follow the table.

use super::{
    Applies,
    Kind::{
        Boolean, Choice, FilterRules, FrameworkUpgrades, HostNames, Integer, Listen, LogLevel,
        Networks, OptionalInteger, OptionalListen, OptionalPath, Origins, Path, Vendor,
    },
    Setting, SettingValue,
    setting::INTEGER_MAX as MAX,
};
use ledger_actors::{POOL_BYTES_MAX, POOL_TRANSACTIONS_MAX};
use ledger_store::EMPTY_LEDGER_BYTES_MAX;
use ledger_types::Parameters;
use std::ops::RangeInclusive;

/// Allowed capacities of a mailbox, at the start and while the node runs.
pub const MAILBOX_CAPACITY: RangeInclusive<u64> = 1..=10_000_000;

/// Allowed capacities of a budget, in milliseconds, at the start and while the node runs.
pub const BUDGET_MS: RangeInclusive<u64> = 1..=600_000;

/// Allowed numbers of blocks in flight. Fewer than `root_delay_blocks` of any genesis.
const BLOCKS_IN_FLIGHT: RangeInclusive<u64> = 1..=Parameters::ROOT_DELAY_BLOCKS_MAX - 1;

/// Maximum of a time in seconds that is compared with times in microseconds: 100 years.
const SECS_MAX: u64 = 3_153_600_000;

/// Maximum number of funded accounts of a development chain. The start prints all of them.
const DEVELOPMENT_ACCOUNTS_MAX: u64 = 10_000;

/// Maximum number of threads that serve a listener.
const API_WORKERS_MAX: u64 = ledger_http::WORKERS_MAX as u64;

macro_rules! settings {
    ($(
        $key:literal => $($field:ident).+, $kind:expr, $unit:literal, $($applies:ident,)?
        $reason:literal;
    )*) => {
        /// Every setting, in the order in which `ledger-node config` prints them.
        pub static SETTINGS: &[Setting] = &[ $( Setting {
            key: $key,
            kind: $kind,
            unit: $unit,
            applies: [$(Applies::$applies,)? Applies::Restart][0],
            reason: $reason,
            get: |settings| settings.$($field).+.to_value(),
            set: |settings, value| {
                settings.$($field).+ = SettingValue::from_value(value)?;
                Some(())
            },
        }, )* ];
    };
}

settings! {
    "chain.genesis" => chain.genesis, OptionalPath, "",
        "Genesis file of the chain. Without one, the node starts a development chain from the \
         other settings of this section. With one, those that are set must agree with it.";
    "chain.id" => chain.id, Integer(1..=255), "",
        "Chain id that transactions are signed for. Clients of a local network expect 4.";
    "chain.vendor" => chain.vendor, Vendor, "",
        "Vendor word in headers (X-{VENDOR}-CHAIN-ID), MIME types, hash domains and framework \
         names.";
    "chain.gas_unit_price_min" => chain.gas_unit_price_min,
        Integer(0..=10_000_000_000), "the coin's smallest unit",
        "Minimum gas unit price of a development chain. A sender must hold max_gas_amount times \
         its gas unit price. 100 is the minimum of the reference node.";
    "chain.coin_event_handles" => chain.coin_event_handles, Boolean, "",
        "Whether new stores of a coin on a development chain get event handles. Without them the \
         event routes of an account have no deposits and withdrawals, as on the reference node, \
         and transfers take less state.";
    "chain.transfers_to_framework" => chain.transfers_to_framework, Boolean, "",
        "Whether transfers on a development chain may pay 0x0, 0x1, 0x3 and 0xa, as on the \
         reference node. These addresses have no key, so such a payment is lost.";
    "chain.framework_upgrades" => chain.framework_upgrades, FrameworkUpgrades, "",
        "Framework versions with the heights from which they apply. If empty, a new development \
         chain starts with the newest version, and an existing ledger keeps its own. A later \
         start may add versions at heights above the newest block.";
    "chain.accounts" => chain.accounts, Integer(0..=DEVELOPMENT_ACCOUNTS_MAX), "accounts",
        "Number of funded accounts of a development chain, whose keys are public. Those of a \
         smaller number are among those of a larger one. The ready line follows them.";
    "chain.start_secs" => chain.start_secs, Integer(0..=SECS_MAX), "s since the Unix epoch",
        "Time at which the clock of a ledger in memory starts; it then runs as fast as that of \
         the system. Clients that take the time of their own machine must be told it. 0 means \
         the time of the system, which any other ledger needs.";

    "api.listen" => api_listener.listen, Listen, "",
        "Address of /v1. Only this machine reaches the default.";
    "api.max_body_bytes" => api.max_body_bytes, Integer(1..=1_073_741_824), "bytes", Now,
        "Maximum size of a request body; a larger one gets 413. The limit of the reference node.";
    "api.batch_transactions_max" => api.batch_transactions_max, Integer(1..=10_000), "transactions",
        "Maximum number of transactions of POST /transactions/batch; a larger batch gets 400. In \
         BCS a batch has at most ten times the bytes of the largest transaction. The mempool \
         receives up to 1,000 transactions in one message, which holds it for one to two \
         milliseconds; a larger batch takes several messages. The reference node takes 10.";
    "api.bodies_bytes_max" => api.bodies_bytes_max, Integer(1..=MAX), "bytes",
        "Memory for the bodies of all requests, from their arrival until their response is made; \
         beyond it, requests get 503. A single body is always accepted, and a quarter is reserved \
         for bodies of up to 64 KiB. The default holds about 200,000 transfers.";
    "api.answers_bytes_max" => api.answers_bytes_max, Integer(1..=MAX), "bytes",
        "Memory for responses that clients have not read yet; beyond it, requests get 503. A \
         single response is always sent, and a quarter is reserved for responses of up to 64 KiB.";
    "api.response_cache_bytes_max" => api.response_cache_bytes_max, Integer(0..=MAX), "bytes",
        "Memory of the response cache: transactions by hash and version, blocks, and pages of \
         events while the ledger does not advance. A response is cached no longer than the \
         versions that it shows are readable, and takes at most a 32nd of the cache. 0 turns the \
         cache off.";
    "api.max_in_flight" => api.max_in_flight, Integer(1..=1_000_000), "requests", Now,
        "Maximum number of requests in flight, long polls included; beyond it, requests get 503. \
         Above wait.capacity, so that long polls leave room for other requests. /v1/-/healthy has \
         a limit of its own, 64.";
    "api.max_in_flight_per_address" => api.max_in_flight_per_address,
        Integer(1..=1_000_000), "requests", Now,
        "Maximum number of requests in flight per client address (IPv6: per /64 network); beyond \
         it, requests get 503. Below max_in_flight, so that one address cannot use all, and close \
         to it, so that a busy client or a proxy can use nearly all. On a public network, set \
         much less, and list proxies in trusted_proxies.";
    "api.trusted_proxies" => api.trusted_proxies, Networks, "",
        "Networks of the proxies whose Forwarded or X-Forwarded-For header is believed; it names \
         the client that the limits per address and the log count. Walking from the last proxy \
         to the first, the first address outside of these networks is the client, because \
         addresses before it can be forged. If a request has both headers and they name different \
         clients, the proxy counts as the client. A proxy itself may open any number of \
         connections up to max_connections. List only proxies that set the header themselves.";
    "api.denied_addresses" => api.denied_addresses, Networks, "", Now,
        "Networks whose requests below /v1 get 403, for example of a client that floods the node. \
         An address counts as in max_in_flight_per_address, behind trusted_proxies too. Each \
         request is compared with all networks; more clients than that are for a firewall.";
    "api.workers" => api_listener.workers, Integer(0..=API_WORKERS_MAX), "threads",
        "Worker threads of the listener of /v1; 0 means one per core, up to the maximum.";
    "api.keep_alive_secs" => api_listener.keep_alive_secs, Integer(1..=86_400), "s",
        "Time after which a connection without a request is closed, before its first request or \
         between two; a connection may stay open for up to a quarter longer. Above the 60 s for \
         which common proxies reuse an idle connection. The admin listener keeps idle connections \
         for at most 5 s.";
    "api.client_request_timeout_ms" => api_listener.client_request_timeout_ms,
        Integer(1..=600_000), "ms",
        "Maximum time to receive the head of an HTTP/1.1 request, from its first byte; then the \
         response is 408 and the connection is closed. Over HTTP/2 it bounds the connection \
         preface, and api.keep_alive_secs bounds the head of a request while no other request is \
         served. A TLS handshake may take as long again.";
    "api.max_connections" => api_listener.max_connections, Integer(1..=1_000_000), "connections",
        "Maximum number of open connections, idle ones included; further ones wait to be \
         accepted. Above max_in_flight, so that idle connections leave room. Each takes a file \
         descriptor: if the hard limit on open files is too low, the node allows fewer and logs \
         how many.";
    "api.max_connections_per_address" => api_listener.max_connections_per_address,
        Integer(1..=1_000_000), "connections", Now,
        "Maximum number of open connections per client address (IPv6: per /64 network); further \
         ones are closed. Below max_connections, so that one address cannot use all. It does not \
         apply to trusted_proxies. On a public network, set much less.";
    "api.client_send_timeout_ms" => api_listener.client_send_timeout_ms, Integer(1..=600_000), "ms",
        "Maximum time that a client leaves a response unread; then the connection is closed, or \
         over HTTP/2 the unread responses are reset. In the long run a client must read 2 KiB/s: \
         each byte that it reads extends the time, so the size of a response and this speed bound \
         its duration. Over HTTP/2 each byte that the connection reads extends the time of all its \
         responses, and a response of which nothing is read ends after ten times the limit. The \
         default equals the time limit of request bodies.";
    "api.max_streams_per_connection" => api.max_streams_per_connection,
        Integer(1..=1_000_000), "requests",
        "Maximum number of concurrent requests of an HTTP/2 connection, which is announced to the \
         client. Above the 100 that browsers send, and low enough that one connection cannot use \
         all of max_in_flight.";
    "api.compression_enabled" => api.compression_enabled, Boolean, "",
        "Whether responses of 8 KiB and more are compressed with zstd, br or gzip if the client \
         accepts it. Takes some microseconds per 10 KB and saves most of the bytes.";
    "api.tls_certificate" => api_listener.tls_certificate, OptionalPath, "", Reload,
        "Certificate chain of /v1 in PEM, the server's own certificate first. With one, /v1 is \
         served over TLS only, as HTTP/2 or HTTP/1.1; without one, over plain HTTP/1.1. Read at \
         the start, on SIGHUP, and on POST /tls/reload.";
    "api.tls_private_key" => api_listener.tls_private_key, OptionalPath, "", Reload,
        "Private key of api.tls_certificate in PEM. Only the user of the node should have \
         permission to read it.";
    "api.json_output_enabled" => api.switches.json_output_enabled, Boolean, "", Now,
        "Whether JSON responses are enabled; if not, requests for them get 403. Errors, \
         /-/healthy, /info and the OpenAPI document are always enabled. The admin listener \
         (/switches) changes this and the next four settings too.";
    "api.bcs_output_enabled" => api.switches.bcs_output_enabled, Boolean, "", Now,
        "Whether BCS responses are enabled; if not, requests for them get 403.";
    "api.submission_enabled" => api.switches.submission_enabled, Boolean, "", Now,
        "Whether /transactions and /transactions/batch accept transactions; if not, requests get \
         403. The faucet is not affected.";
    "api.simulation_enabled" => api.switches.simulation_enabled, Boolean, "", Now,
        "Whether /transactions/simulate is enabled; if not, requests get 403.";
    "api.encode_submission_enabled" => api.switches.encode_submission_enabled, Boolean, "", Now,
        "Whether /transactions/encode_submission is enabled; if not, requests get 403.";

    "graphql.listen" => graphql.listen, OptionalListen, "",
        "Address of a second listener, which serves only /v1/graphql. Clients of a local network \
         expect an indexer at port 8090. If empty, only api.listen serves it.";

    "faucet.enabled" => faucet.enabled, Boolean, "",
        "Whether a development chain has a faucet. Other chains have none, and setting this to \
         true there is an error.";
    "faucet.listen" => faucet.listen, Listen, "",
        "Address of /fund and /mint.";
    "faucet.amount_max" => faucet.amount_max, Integer(1..=MAX), "the coin's smallest unit",
        "Maximum amount of a request; a larger amount is reduced to it. The default lets a bench \
         fund its accounts with a few requests.";
    "faucet.queue_capacity" => faucet.queue_capacity, Integer(1..=1_000_000), "requests",
        "Maximum number of requests that wait for the next transaction of the faucet; beyond it, \
         requests get 503.";
    "faucet.hosts" => faucet.hosts, HostNames, "",
        "Host names of the faucet, beside localhost and IP addresses. Requests with another Host \
         header get 403, so that no web page can point its own name at the faucet (DNS \
         rebinding).";
    "faucet.origins" => faucet.origins, Origins, "",
        "Origins of web pages on other machines that may use the faucet, such as \
         `https://wallet.example`; * allows every page that a user of the faucet opens. Pages of \
         this machine and programs are always allowed.";

    "admin.listen" => admin.listen, Listen, "",
        "Address of /actors and the other routes of the admin listener. Keep it off public \
         networks, because its clients can change the node. An address that other machines can \
         reach requires admin.token_file. Without admin.tls_certificate the token is sent in \
         clear text.";
    "admin.token_file" => admin.token_file, OptionalPath, "", Reload,
        "File of the token that each request must carry as \"Authorization: Bearer TOKEN\". Only \
         its owner may have permissions on it (chmod 600). If empty, requests need no token. Read \
         at the start and on SIGHUP.";
    "admin.hosts" => admin.hosts, HostNames, "",
        "Host names of the admin listener, beside localhost and IP addresses. Requests with \
         another Host header get 403.";
    "admin.behind_proxy" => admin.behind_proxy, Boolean, "",
        "Whether browsers reach the admin listener only through a proxy that serves TLS, so that \
         they may log in. It requires admin.token_file. Set it only if no other machine reaches \
         the listener itself. The limit on failed logins counts the client that the header of a \
         proxy in api.trusted_proxies names.";
    "admin.tls_certificate" => admin.tls_certificate, OptionalPath, "", Reload,
        "Certificate chain of the admin listener in PEM, as api.tls_certificate is that of /v1. \
         With one, the listener is served over TLS only, and browsers of other machines may log \
         in.";
    "admin.tls_private_key" => admin.tls_private_key, OptionalPath, "", Reload,
        "Private key of admin.tls_certificate in PEM. Only the user of the node should have \
         permission to read it.";

    "signatures.threads" => node.signatures.threads, Integer(0..=1024), "threads",
        "Threads that verify signatures; 0 means one per core, because verification is most of \
         the work of a submission.";
    "signatures.nice" => node.signatures.nice, Integer(0..=19), "",
        "Nice value of the threads that verify signatures; a higher one of the process applies \
         instead. With fewer cores than work, accepted transactions are committed before more are \
         accepted. With 0, verification competes with execution and writing, and the mempool \
         fills. Linux only.";
    "signatures.queue_capacity" => node.signatures.queue_capacity,
        Integer(1..=1_000_000), "ed25519 signatures", Now,
        "Maximum work that waits in each of two queues, one for connections whose last \
         transactions were accepted and one for all others; beyond it, submissions get 503. A \
         secp256k1 signature counts as 2 of ed25519, one of a passkey as 6, and four keys of a \
         multi-key account as 1. Clients take turns, and the client of an address holds at most as \
         much as is free. The default is about half a second of work for one core.";

    "filter.rules" => node.filter, FilterRules, "", Now,
        "Rules of the submission filter. The first rule that matches a submission allows it or \
         denies it with 403. Submissions without a matching rule are allowed, so a list of \
         allowed senders ends with deny all. sender matches the sender, not other signers or the \
         fee payer. The admin listener (/filter) replaces the rules too. Transactions in the \
         mempool stay, and the faucet is not filtered.";

    "mempool.capacity_transactions" => node.mempool.capacity_transactions,
        Integer(1..=POOL_TRANSACTIONS_MAX as u64), "transactions",
        "Maximum number of pending transactions, those in blocks that are not durable yet \
         included; beyond it, submissions get 507. The limit of the reference node.";
    "mempool.capacity_bytes" => node.mempool.capacity_bytes,
        Integer(1..=POOL_BYTES_MAX as u64), "bytes",
        "Maximum total size of the pending transactions in BCS; beyond it, submissions get 507. \
         The limit of the reference node.";
    "mempool.capacity_time_ms" => node.mempool.capacity_time_ms, Integer(1..=MAX), "ms",
        "Maximum total estimated time of the pending transactions in blocks; beyond it, \
         submissions get 507. The default is mempool.ttl_secs: a transaction behind more work \
         would expire before its turn. It allows 2,000,000 transfers.";
    "mempool.capacity_per_account" => node.mempool.capacity_per_account,
        Integer(1..=1_000_000), "transactions",
        "Maximum number of pending transactions of a sender with a sequence number; beyond it, \
         submissions get 507. The limit of the reference node.";
    "mempool.capacity_per_account_orderless" => node.mempool.capacity_per_account_orderless,
        Integer(1..=1_000_000), "transactions",
        "Maximum number of pending transactions of a sender with a nonce; beyond it, submissions \
         get 507. The limit of the reference node.";
    "mempool.ttl_secs" => node.mempool.ttl_secs, Integer(1..=31_536_000), "s",
        "Maximum time that a transaction is pending, even if its expiration time is later. The \
         limit of the reference node.";

    "wait.timeout_ms" => node.wait.timeout_ms, Integer(1..=600_000), "ms",
        "Maximum time that wait_by_hash waits for a transaction to commit, and that a read waits \
         for its min_ledger_version, if the request has no timeout_ms. The limit of the reference \
         node.";
    "wait.timeout_max_ms" => node.wait.timeout_max_ms, Integer(1..=600_000), "ms",
        "Maximum time that a request waits if its parameter timeout_ms asks for as much or more. \
         The default exceeds the expiration that clients commonly give a transaction, which ends \
         the wait with a reason.";
    "wait.capacity" => node.wait.capacity, Integer(1..=10_000_000), "waits", Now,
        "Maximum number of concurrent waits: one for each long poll, and one for each hash of a \
         request to /v1/transactions/wait. Beyond it, wait_by_hash responds as by_hash \
         does, with a pending transaction after 100 ms, a submission with timeout_ms gets 202 at \
         once, and a wait for many hashes, or a read that would wait for its min_ledger_version, \
         gets 503. The client of an \
         address may use seven eighths of it, or less if others wait too. Below \
         api.max_in_flight, so that long polls \
         leave room for other requests; the node does not check this. A wait takes at most 512 \
         bytes beside its request.";
    "wait.hashes_max" => node.wait.hashes_max, Integer(1..=1_000_000), "hashes",
        "Maximum number of hashes of a request to /v1/transactions/wait; more are 400. As many \
         permits of wait.capacity must be free, or the request gets 503.";

    "sequencer.mode" => sequencer.mode, Choice(&["solo", "bft"]), "",
        "Sequencer, which decides the order of transactions: solo is this node alone, bft are the \
         validators of the genesis, which agree. bft needs a program with the feature of this \
         name, and consensus.directory.";
    "sequencer.block_transactions_max" => node.sequencer.block_transactions_max,
        Integer(1..=1_000_000), "transactions",
        "Maximum number of user transactions in a block. The limit of the reference node; larger \
         blocks make commits little cheaper.";
    "sequencer.block_bytes_max" => node.sequencer.block_bytes_max,
        Integer(1..=1_073_741_824), "bytes",
        "Maximum total size of the user transactions of a block in BCS. A single larger \
         transaction gets a block of its own. The limit of the reference node.";
    "sequencer.block_time_max_ms" => node.sequencer.block_time_max_ms,
        Integer(1..=600_000), "ms",
        "Maximum total estimated time of the user transactions of a block, so that a block of \
         large transactions is as short as one of small ones. A single transaction with a higher \
         estimate gets a block of its own, and one with more than a tenth of it begins a block, so \
         that those before it do not wait for it. The estimate follows from size, signatures, the \
         gas that the same function used in recent blocks, and the measured times of blocks. With \
         more, a transaction waits longer for the blocks before it; with less, blocks cost more \
         each.";
    "sequencer.blocks_in_flight_max" => node.sequencer.blocks_in_flight_max,
        Integer(BLOCKS_IN_FLIGHT), "blocks",
        "Maximum number of blocks that are ordered and not yet durable. Below root_delay_blocks of \
         the genesis, which is 8 on a development chain. Of 3, one is executed, one is written and \
         one waits. With more, blocks get smaller and cost more each; with 1, execution waits for \
         the disk.";
    "sequencer.heartbeat_secs" => node.sequencer.heartbeat_secs, Integer(0..=86_400), "s",
        "Age of the newest block at which an idle node orders an empty block; 0 means never, so \
         that an idle node writes nothing.";
    "sequencer.clock_jump_max_secs" => node.sequencer.clock_jump_max_secs,
        Integer(60..=3_153_600_000), "s",
        "Maximum lead of the system clock over the newest block. At a start, a clock further \
         ahead is not trusted: reads are served, submissions get 503, and the node continues \
         once the clock is right, or after a restart with clock_confirmed_until_secs. While \
         running, block time follows a clock within this lead ten times as fast as time passes, \
         once it has been ahead for a minute, and ignores one further ahead. 30 days is longer \
         than a node is usually off, and shorter than the usual error of a clock that lost its \
         date. A lower limit protects more, and needs a confirmation after shorter breaks.";
    "sequencer.clock_confirmed_until_secs" => node.sequencer.clock_confirmed_until_secs,
        Integer(0..=MAX), "s since 1970-01-01 UTC",
        "Time up to which the system clock is trusted at a start, even if it is further ahead of \
         the newest block than clock_jump_max_secs. After a longer break, set it to about an hour \
         from now (`date +%s`) and restart; the 503 suggests a value. It has no effect once that \
         time has passed. 0 confirms nothing.";

    "consensus.directory" => consensus.directory, OptionalPath, "",
        "Directory of a node of several validators: its keys, its peers, and the record of the \
         heights that a validator may have signed. It is not part of a copy of the ledger. \
         ledger-node cluster init creates it.";
    "consensus.listen" => consensus.listen, Listen, "",
        "Address of the connections on which nodes exchange blocks and votes. Only this machine \
         reaches the default.";
    "consensus.relay_listen" => consensus.relay_listen, Listen, "",
        "Address of the connections on which nodes exchange pending transactions. Only this \
         machine reaches the default.";
    "consensus.propose_timeout_ms" => consensus.propose_timeout_ms, Integer(50..=60_000), "ms",
        "Time for the block of a round to arrive. A validator that is down costs this time at \
         each of its turns. Above the time in which the largest block reaches all validators.";

    "storage.in_memory" => storage.in_memory, Boolean, "",
        "Whether the ledger is in memory and ends with the node: for tests and development. No \
         file is written, no mempool or setting is kept, and data_dir must not be set. The memory \
         is that of the ledger, so pruner.window_bytes limits it, to 1 GiB if that is 0. \
         --in-memory sets it too.";
    "storage.data_dir" => storage.data_dir, Path, "",
        "Directory of the ledger, created if absent. Relative to the working directory of the \
         node. --data-dir sets it too.";
    "storage.readers" => node.storage.readers, Integer(1..=1024), "threads",
        "Threads that run queries. Most reads are served from memory, so the default is the \
         number of cores of a small machine.";
    "storage.read_queue_capacity" => node.storage.read_queue_capacity,
        Integer(1..=1_000_000), "queries",
        "Maximum number of queries that wait for a reader thread, and of point reads that wait for \
         theirs; beyond it, requests get 503. work.read_budget_ms and work.point_read_budget_ms \
         limit their cost.";
    "storage.cache_bytes" => store.cache_bytes, Integer(1..=MAX), "bytes",
        "Memory for database pages, in addition to the page cache of the system, which does most \
         of the work. Eight times the default gained nothing measurable.";
    "storage.check_bytes_max" => storage.check_bytes_max, Integer(0..=MAX), "bytes",
        "Maximum size of a ledger whose checksums are verified at a start, which takes about a \
         second per GB. Damage in a larger ledger causes errors, a crash or wrong results when it \
         is read. 0 means never.";
    "storage.scrub_hours" => node.storage.scrub_hours, Integer(0..=8_760), "hours",
        "Time within which a flipped bit in the files of the ledger is found: two passes within \
         it compare all pages and log records with their checksums, in at most a fifth of the \
         disk's time. Damage is handled as a failed read. 0 turns this off.";
    "storage.min_free_bytes" => storage.min_free_bytes, Integer(0..=MAX), "bytes",
        "Disk space that is kept free on the disk of the ledger, at most a tenth of that disk, \
         and at least what the next writes may take, about 16 MB on an idle node; the space to \
         save the mempool is added. With less, submissions get 503 and no block begins until \
         space is freed. Free pages inside the file of the ledger do not count. 0 turns this off: \
         then blocks that find no space wait for it, and a stop may have none for the mempool.";

    "work.nice" => node.work.nice, Integer(0..=19), "",
        "Nice value of the threads that run pages, views and simulations and that render \
         responses; a higher one of the process applies instead. With fewer cores than work, point \
         reads, the health check and commits come first. Linux only.";
    "work.point_read_budget_ms" => node.work.point_read_budget_ms, Integer(BUDGET_MS),
        "ms of work", Now,
        "Maximum estimated duration of the queries of a few rows that wait for their thread; \
         beyond it, requests get 503. The thread runs nothing else, so the last one waits about as \
         long, and longer if reads wait for the disk. The admin listener (/budgets/point_reads) \
         changes it too.";
    "work.read_budget_ms" => node.work.read_budget_ms, Integer(BUDGET_MS), "ms of work", Now,
        "Maximum estimated duration of the queries that wait for a reader thread; beyond it, \
         requests get 503. Clients take turns, and one holds at most as much as is free: alone \
         half of it. The last query waits as long, divided by storage.readers. The admin listener \
         (/budgets/reads) changes it too.";
    "work.render_budget_ms" => node.work.render_budget_ms, Integer(BUDGET_MS), "ms of work", Now,
        "Maximum estimated duration of the renderings that wait for a renderer thread; beyond it, \
         requests get 503. A rendering waits with its content, whose memory \
         api.answers_bytes_max limits. The admin listener (/budgets/renderings) changes it too.";
    "work.call_time_max_ms" => node.work.call_time_max_ms, Integer(1..=600_000), "ms",
        "Maximum duration of a view function or of a simulation, which then ends as if its gas \
         were used up. On idle cores, gas itself ends them after about half a second. It has no \
         effect on transactions in blocks.";

    "pruner.enabled" => node.pruner.enabled, Boolean, "",
        "Whether versions older than the window are removed.";
    "pruner.window_versions" => node.pruner.window_versions, Integer(1..=MAX), "versions",
        "Minimum number of newest versions that stay readable. The default of the reference node.";
    "pruner.window_secs" => node.pruner.window_secs, Integer(0..=SECS_MAX), "s",
        "Minimum time for which versions stay readable: those of blocks that are at most so much \
         older than the newest block. A version stays as long as this or window_versions asks for \
         it; for a window of time alone, set window_versions to 1. 0 turns this off.";
    "pruner.window_bytes" => node.pruner.window_bytes,
        OptionalInteger(EMPTY_LEDGER_BYTES_MAX..=MAX), "bytes",
        "Maximum size of the ledger: the used pages of the database, the log, and the mempool that \
         a stop saves. It overrides window_versions and window_secs: versions are removed until \
         the ledger fits, or until only the newest 1,000 remain. Then the node continues with a \
         larger ledger, and the metric ledger_pruner_limit_exceeded is 1. An empty ledger may take \
         the minimum. Free pages of the database stay in its file until ledger-node compact \
         returns them. 0 turns this off.";
    "pruner.batch_versions" => node.pruner.batch_versions, Integer(1..=10_000_000), "versions",
        "Number of versions that a step removes, in addition to as many as were committed since \
         the last step. Commits wait for a step: about 4 ms for 500, 30 ms for the 5000 of the \
         reference node.";

    "actors.threads" => node.actors.threads, Integer(1..=3), "threads",
        "Threads that run actors. With 1, messages between actors wake no other thread, which is \
         faster until that thread is busy (sum of the metric ledger_actor_busy_ratio). 2 gives \
         the mempool a thread of its own, 3 also the storage and the pruner.";

    "actors.mempool.mailbox_capacity" => node.mailboxes.mempool,
        Integer(MAILBOX_CAPACITY), "requests", Now,
        "Maximum number of requests that wait for the mempool (submissions, look-ups by hash); \
         beyond it, requests get 503. A batch counts as its transactions, and is accepted while \
         there is capacity for one.";

    "actors.sequencer.mailbox_capacity" => node.mailboxes.sequencer,
        Integer(MAILBOX_CAPACITY), "requests", Now,
        "Maximum number of requests that wait for the sequencer. Messages from other actors are \
         bounded by sequencer.blocks_in_flight_max instead.";

    "actors.committer.mailbox_capacity" => node.mailboxes.committer,
        Integer(MAILBOX_CAPACITY), "requests", Now,
        "Maximum number of requests that wait for the committer (subscriptions of long polls); \
         beyond it, requests get 503.";

    "actors.storage.mailbox_capacity" => node.mailboxes.storage,
        Integer(MAILBOX_CAPACITY), "requests", Now,
        "Maximum number of queries that wait to be assigned to a reader thread; beyond it, \
         requests get 503.";

    "actors.pruner.mailbox_capacity" => node.mailboxes.pruner,
        Integer(MAILBOX_CAPACITY), "requests", Now,
        "Maximum number of requests that wait for the pruner. HTTP requests send it none.";

    "process.scheduling" => process.scheduling, Choice(&["batch", "inherit"]), "",
        "Scheduling policy of the node's threads. batch is SCHED_BATCH, unless the process was \
         started under another policy than the default: a woken thread waits for the running one \
         and then finds several messages. inherit is the policy under which the process was \
         started: responses come sooner beside other programs that keep all cores busy. Linux \
         only.";

    "process.stall_secs" => node.stalls.secs, Integer(1..=3_600), "s",
        "Time without progress, while work waits, after which the log and the metric \
         ledger_stalled name an actor or thread. /v1/-/healthy is 503 while one of them is on the \
         path of a commit. One query, block, write or sync that takes longer is named as well, so \
         keep it above the slowest sync of the disk.";

    "log.format" => log.format, Choice(&["text", "json"]), "",
        "Format of log lines: text for people, json for programs. Both go to standard error.";
    "log.level" => log.level, LogLevel, "", Now,
        "Minimum level of log lines, for all modules or per module. At any level, messages about \
         clients that violate HTTP are dropped unless actix_http or h2 is named, and those of the \
         HTTP server about its threads unless actix_server is named. info,http=debug logs a line for each request of \
         the REST interface.";
}
