//! Notifications to the service manager that started the process, such as systemd.
//!
//! The protocol is that of `sd_notify(3)`: `NOTIFY_SOCKET` names a socket, and `WATCHDOG_USEC` the
//! time within which the node shows that it is live. Without these variables nothing is sent.

use sd_notify::NotifyState;
use std::time::Duration;
use tokio::{
    task::JoinHandle,
    time::{MissedTickBehavior, interval},
};

/// Time by which each report of a long step of the start extends the time for the start. Several
/// reports fit into it, so that a late one does not end the process.
const START_EXTENSION: Duration = Duration::from_secs(30);

/// Number of times that the watchdog is fed within its time. With fewer, a stall that ends between
/// two of them might end the process.
const FEEDS: u32 = 4;

/// Reports that a step of the start has taken `elapsed` and continues.
pub fn report_start(step: &str, elapsed: Duration) {
    let micros = u32::try_from(START_EXTENSION.as_micros()).unwrap_or(u32::MAX);
    let status = format!("{step}: {} s", elapsed.as_secs());
    notify(&[
        NotifyState::ExtendTimeoutUsec(micros),
        NotifyState::Status(&status),
    ]);
}

/// Reports that the node serves. `status` is shown to the operator.
pub fn report_ready(status: &str) {
    notify(&[NotifyState::Ready, NotifyState::Status(status)]);
}

/// Reports that a stop has begun.
pub fn report_stop() {
    notify(&[NotifyState::Stopping, NotifyState::Status("stopping")]);
}

/// Reports that the configuration is read again. [`report_reloaded`] must follow.
pub fn report_reload() {
    match NotifyState::monotonic_usec_now() {
        Ok(now) => notify(&[NotifyState::Reloading, now]),
        Err(error) => tracing::warn!(%error, "the service manager was not notified of a reload"),
    }
}

/// Reports that a reload has ended, whether or not the configuration was valid.
pub fn report_reloaded() {
    notify(&[NotifyState::Ready]);
}

/// Sends states to the service manager, if there is one.
fn notify(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::warn!(%error, "the service manager was not notified");
    }
}

/// The task that feeds the watchdog of the service manager. It ends when this is dropped.
#[derive(Debug)]
pub struct Watchdog(Option<JoinHandle<()>>);

impl Watchdog {
    /// Starts the task on the calling thread, whose event loop the watchdog so covers. It feeds the
    /// watchdog while `is_live` returns true. There is no task if the service manager has no
    /// watchdog for the process.
    pub fn start(is_live: impl Fn() -> bool + 'static) -> Self {
        let time = sd_notify::watchdog_enabled().filter(|time| !time.is_zero());
        Self(time.map(|time| actix_web::rt::spawn(feed(time / FEEDS, is_live))))
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        if let Some(task) = &self.0 {
            task.abort();
        }
    }
}

/// Feeds the watchdog at each tick at which `is_live` returns true.
async fn feed(time: Duration, is_live: impl Fn() -> bool) {
    let mut ticks = interval(time);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if is_live() {
            notify(&[NotifyState::Watchdog]);
        }
    }
}
