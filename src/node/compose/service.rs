//! Start, service and stop of a node: `docs/internals/actors.md` lists the steps of start and
//! stop, with what is durable after each. If a step of the start fails, what the earlier ones have
//! started is stopped again.
//!
//! A broken invariant of the node skips the stop, because its memory may be inconsistent. The next
//! start continues from what is durable.

use super::{
    addresses::{address_errors, exposed_development_listeners},
    admin_gate::admin_gate,
    checked_config::check_config,
    consensus::{Engine, start_node},
    descriptors::raise_descriptor_limit,
    disk_space::DiskSpaceMonitor,
    error::RunError,
    final_flight::FinalFlight,
    genesis::ConfiguredGenesis,
    greeting::{Greeting, funded_accounts},
    ledger::{OpenLedger, location, open_ledger},
    listeners::{ListenerResources, Listeners, side_listeners},
    overload_log::OverloadLog,
    panic_hook::install_panic_hook,
    reload::{ReloadTargets, ReloadTask, RevertTask},
    scheduling::set_scheduling_policy,
    tls::TlsSettings,
};
use crate::{
    access::warn_if_key_is_exposed,
    admin::{Certificates, Phase, PhaseCell, ReloadLock, StorageForecast},
    config::{Config, ConfigOptions, Settings, overrides_path},
    long_step::{LongStep, read_bytes},
    service_manager::{self, Watchdog},
    signals::{Interrupted, ReloadSignal, StopSignals},
    telemetry,
    tunable::log_memory,
};
use actix_web::rt::System;
use ledger_actors::{FatalError, Node, QueueProgress, Stall, StopError};
use ledger_http::CertificateHolder;
use ledger_store::FileSize;
use ledger_types::Genesis;
use std::{io, path::Path};

/// The functions of a command that a run calls.
#[derive(Clone, Copy, Debug)]
pub struct RunHooks {
    /// Starts the threads of the command. The node has set the scheduling policy that they inherit,
    /// and handles signals.
    pub on_threads: fn() -> io::Result<()>,
    /// Prints that the node serves.
    pub on_ready: fn(&Greeting) -> io::Result<()>,
    /// Ends the process immediately, because the ledger is damaged or because of a signal during a
    /// stop. Its argument is the error message.
    pub on_abort: fn(String) -> !,
    /// Ends the process because of a signal before the ledger was open, with the exit code of a
    /// clean stop.
    pub on_early_stop: fn() -> !,
}

/// The errors that ended a run.
#[derive(Debug)]
pub struct RunFailure {
    /// The error that ended the run.
    pub error: RunError,
    /// The error of the stop that followed.
    pub stop_error: Option<Box<RunError>>,
}

impl From<RunError> for RunFailure {
    fn from(error: RunError) -> Self {
        Self {
            error,
            stop_error: None,
        }
    }
}

impl From<io::Error> for RunFailure {
    fn from(error: io::Error) -> Self {
        RunError::from(error).into()
    }
}

/// Starts a node, serves until a signal or an error, and stops.
///
/// `options` name the layers of `config`, which `SIGHUP` reads again.
///
/// # Errors
///
/// Returns [`RunError::Configuration`] if the configuration cannot be used, and [`RunError::Fatal`]
/// if the start, the node, a listener, or the stop failed. Unless the node itself has failed, its
/// mempool is saved.
pub fn run(config: &Config, options: &ConfigOptions, hooks: RunHooks) -> Result<(), RunFailure> {
    let prepared = prepare(config, options, hooks)?;
    let system = System::new();
    // Before the ledger is opened, so that a closed terminal does not end the process meanwhile.
    let reload_signal = system.block_on(async { ReloadSignal::new() })?;
    // Before the ledger is opened, which may take long.
    let mut signals = StopSignals::start(move |interrupted, signal| match interrupted {
        Interrupted::Opening => {
            tracing::info!(signal, "stopped while the ledger was opened");
            (hooks.on_early_stop)()
        }
        Interrupted::Stop => (hooks.on_abort)(format!("a second signal, {signal}, ended the stop")),
    })?;
    (hooks.on_threads)()
        .map_err(|error| RunError::fatal("starting the threads of the command", &error))?;
    let opening = report_step("opening the ledger", config.settings());
    let ledger = open_ledger(config.settings(), prepared.genesis)?;
    drop(opening);
    signals.record_open();
    system.block_on(async {
        let (genesis, words) = (ledger.genesis.clone(), ledger.words.clone());
        let certificates = prepared.resources.certificates.clone();
        let admin_gate = prepared.resources.admin_gate.clone();
        let starting = report_step("starting the actors and the listeners", config.settings());
        let started = Service::start(
            config.settings(),
            ledger,
            prepared.resources,
            prepared.flight,
        );
        let mut service = started.await?;
        drop(starting);
        let targets = ReloadTargets {
            settings: service.listeners.settings(),
            certificates,
            admin_gate,
        };
        let reload = ReloadTask::start(reload_signal, options.clone(), targets);
        let revert = RevertTask::start(service.listeners.settings());
        let node = service.node.handle();
        let watchdog = Watchdog::start(move || node.stalls().iter().all(Stall::waits_for_peers));
        let served = match service.announce(genesis, words, hooks).await {
            Ok(()) => service.serve(&mut signals).await,
            Err(error) => Err(ServeError::Listener(error)),
        };
        drop((reload, revert, watchdog));
        match served {
            Ok(()) => Ok(service.stop().await?),
            Err(ServeError::Node(error)) => Err(error.into()),
            Err(ServeError::Listener(error)) => {
                signals.record_stop();
                Err(RunFailure {
                    error,
                    stop_error: service.stop().await.err().map(Box::new),
                })
            }
        }
    })
}

/// The result of [`prepare`].
struct Prepared {
    genesis: ConfiguredGenesis,
    resources: ListenerResources,
    flight: FinalFlight,
}

/// Checks the configuration and prepares the process, before the ledger is opened.
///
/// # Errors
///
/// Returns [`RunError::Configuration`] if [`check_config`] rejects the configuration, and
/// [`RunError::Fatal`] if the limit on open files or on threads is too low.
fn prepare(
    config: &Config,
    options: &ConfigOptions,
    hooks: RunHooks,
) -> Result<Prepared, RunError> {
    let settings = config.settings();
    let checked = check_config(config)?;
    let genesis = checked.genesis;
    start_log(settings, &genesis.genesis)?;
    log_overrides(config);
    for (listener, address) in exposed_development_listeners(settings, &genesis.genesis) {
        tracing::warn!(
            listener,
            %address,
            "other machines reach a development chain, whose keys are public: anybody can spend its \
             coins; listen on 127.0.0.1, or start a chain of your own (ledger-node genesis new)"
        );
    }
    let certificates = checked.certificates;
    for (tls, certificate) in [
        (TlsSettings::API, &certificates.api),
        (TlsSettings::ADMIN, &certificates.admin),
    ] {
        if let Some(certificate) = certificate {
            warn_if_key_is_exposed(tls.private_key, certificate);
        }
    }
    if let Some(error) = address_errors(settings, &genesis.genesis).next() {
        return Err(error);
    }
    let side_listeners = side_listeners(settings, &genesis.genesis);
    let connections = raise_descriptor_limit(settings, side_listeners)?;
    let flight = FinalFlight::new(settings.storage.directory());
    install_panic_hook(location(settings), flight.clone(), hooks.on_abort);
    Ok(Prepared {
        genesis,
        resources: ListenerResources {
            config: config.clone(),
            ignores_overrides: options.no_overrides || settings.storage.in_memory,
            connections,
            certificates: Certificates {
                api: certificates.api.map(CertificateHolder::new),
                admin: certificates.admin.map(CertificateHolder::new),
                lock: ReloadLock::default(),
            },
            admin_gate: admin_gate(settings, checked.admin_token)?,
            phase: PhaseCell::default(),
            forecast: StorageForecast::default(),
            peers: None,
        },
        flight,
    })
}

/// Sets the scheduling policy and starts the log, whose first line names the chain.
fn start_log(settings: &Settings, genesis: &Genesis) -> Result<(), RunError> {
    // Before any thread starts, because threads inherit the policy.
    let scheduled = set_scheduling_policy(&settings.process.scheduling);
    telemetry::start(&settings.log)?;
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        chain_id = genesis.chain_id,
        vendor = %genesis.vendor,
        sequencer = %settings.sequencer.mode,
        "starting"
    );
    if let Err(error) = scheduled {
        tracing::warn!(
            %error,
            "the system rejected the scheduling policy SCHED_BATCH, which costs throughput; \
             process.scheduling = inherit does not set it"
        );
    }
    Ok(())
}

/// Begins a step of the start, which the log names with its progress while it takes long. The
/// service manager gives the start more time then.
fn report_step(step: &'static str, settings: &Settings) -> LongStep {
    let directory = settings.storage.directory().map(Path::to_owned);
    LongStep::begin(move |elapsed| {
        let size = directory.as_deref().and_then(|it| FileSize::of(it).ok());
        tracing::info!(
            step,
            elapsed_secs = elapsed.as_secs(),
            read_bytes = read_bytes(),
            ledger_bytes = size.map(|size| size.disk_bytes),
            "the start takes long"
        );
        service_manager::report_start(step, elapsed);
    })
}

/// Logs the names of the settings that were kept at run time, because no configuration file has
/// them.
fn log_overrides(config: &Config) {
    let kept: Vec<_> = config.overrides().into_keys().collect();
    if !kept.is_empty() {
        let file = overrides_path(&config.settings().storage.data_dir);
        tracing::info!(
            file = %file.display(),
            settings = kept.join(", "),
            "settings that were kept at run time; --no-overrides ignores them"
        );
    }
}

/// A running node with its listeners.
#[derive(Debug)]
struct Service {
    node: Node,
    engine: Engine,
    listeners: Listeners,
    flight: FinalFlight,
    phase: PhaseCell,
    /// Runs until the service is dropped. `None` if the ledger is in memory.
    _disk_space: Option<DiskSpaceMonitor>,
    _overload_log: OverloadLog,
}

/// An error that ended serving before a signal.
#[derive(Debug)]
enum ServeError {
    /// The node failed. Its memory may be inconsistent, so nothing of it may be saved.
    Node(RunError),
    /// A listener ended. The node is sound, and [`Service::stop`] saves its mempool.
    Listener(RunError),
}

impl Service {
    /// Starts the actors, then the listeners, and waits until every listener accepts connections.
    ///
    /// # Errors
    ///
    /// Returns [`RunError::Fatal`] if an actor or a listener cannot start. The actors are stopped
    /// then, and their mempool is saved.
    async fn start(
        settings: &Settings,
        ledger: OpenLedger,
        resources: ListenerResources,
        flight: FinalFlight,
    ) -> Result<Self, RunError> {
        log_memory(settings);
        let (node, engine) = start_node(settings, ledger.chain, ledger.store).await?;
        flight.set_recorder(node.handle().flight_recorder());
        node.handle().watch_queue(telemetry::THREAD, || {
            let (done, has_work) = telemetry::progress();
            QueueProgress { done, has_work }
        });
        let phase = resources.phase.clone();
        let resources = ListenerResources {
            peers: engine.peers(),
            ..resources
        };
        match start_listeners(settings, &node, &ledger.genesis, resources).await {
            Ok((disk_space, listeners)) => Ok(Self {
                node,
                engine,
                listeners,
                flight,
                phase,
                _disk_space: disk_space,
                _overload_log: OverloadLog::start(),
            }),
            Err(error) => {
                engine.stop().await;
                if let Err(error) = node.stop().await {
                    tracing::error!(%error, "stopping after a failed start");
                }
                Err(error)
            }
        }
    }

    /// Prints that the node serves, which completes the start.
    ///
    /// # Errors
    ///
    /// Returns [`RunError::Fatal`] if standard output cannot be written, or the ledger cannot be
    /// read. The file of the restored mempool stays then.
    async fn announce(
        &mut self,
        genesis: Genesis,
        ledger: String,
        hooks: RunHooks,
    ) -> Result<(), RunError> {
        let greeting = Greeting {
            accounts: funded_accounts(&self.node.handle(), &genesis).await?,
            ready: format!("ready {}", self.listeners.ready_words()),
            ledger,
            genesis,
        };
        // Before the line is printed, because its reader may probe the node.
        self.phase.enter(Phase::Serving);
        // Before the line is printed, because its reader may expect the whole start in the log.
        tracing::info!("{}", greeting.ready);
        telemetry::flush();
        (hooks.on_ready)(&greeting)
            .map_err(|error| RunError::fatal("standard output cannot be written", &error))?;
        // From here on every regular end of the process saves the mempool again.
        self.node.discard_saved_pool();
        service_manager::report_ready(&greeting.ready);
        Ok(())
    }

    /// Serves until a signal. After a fault of the disk the node still serves committed data.
    ///
    /// # Errors
    ///
    /// Returns [`ServeError::Node`] if an invariant of the node is broken, and
    /// [`ServeError::Listener`] if a listener ended.
    async fn serve(&mut self, signals: &mut StopSignals) -> Result<(), ServeError> {
        tokio::select! {
            signal = signals.first() => {
                tracing::info!(signal, "stopping");
                Ok(())
            }
            error = self.node.failed() => Err(ServeError::Node(fatal(&self.flight, &error))),
            error = self.listeners.ended() => Err(ServeError::Listener(error)),
        }
    }

    /// Stops the listeners, then the actors in order, and saves the mempool.
    ///
    /// Waits end at once. Requests that take longer than a few seconds are canceled.
    ///
    /// # Errors
    ///
    /// Returns [`RunError::Fatal`] if the node fails meanwhile, or if the actors do not stop
    /// cleanly.
    async fn stop(self) -> Result<(), RunError> {
        self.phase.enter(Phase::Stopping);
        service_manager::report_stop();
        tokio::select! {
            () = self.listeners.stop() => {}
            error = self.node.failed() => return Err(fatal(&self.flight, &error)),
        }
        // Before the node, which does not answer it any more.
        self.engine.stop().await;
        self.node.stop().await.map_err(|error| {
            if matches!(error, StopError::Failed(_)) {
                self.flight.write(&error.to_string());
            }
            RunError::fatal("the node did not stop cleanly", &error)
        })
    }
}

/// Writes the recording of the newest blocks, and returns the error that ends the process.
fn fatal(flight: &FinalFlight, error: &FatalError) -> RunError {
    flight.write(&error.to_string());
    RunError::fatal("fatal", error)
}

/// Starts the disk space monitor of a ledger in a directory and the listeners, and waits until the
/// listeners serve.
///
/// # Errors
///
/// Returns [`RunError::Fatal`] if one of them cannot start. The listeners are stopped then.
async fn start_listeners(
    settings: &Settings,
    node: &Node,
    genesis: &Genesis,
    resources: ListenerResources,
) -> Result<(Option<DiskSpaceMonitor>, Listeners), RunError> {
    let handle = node.handle();
    let disk_space = match settings.storage.directory() {
        Some(directory) => {
            let forecast = resources.forecast.clone();
            let monitor = DiskSpaceMonitor::start(handle.clone(), settings, directory, forecast);
            let started = monitor.await;
            Some(started.map_err(|error| RunError::fatal("the node does not start", &error))?)
        }
        None => None,
    };
    let mut listeners = Listeners::start(settings, genesis, &handle, resources)?;
    match listeners.wait_until_serving().await {
        Ok(()) => Ok((disk_space, listeners)),
        Err(error) => {
            listeners.stop().await;
            Err(error)
        }
    }
}
