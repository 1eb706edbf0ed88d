//! The loop of the command: keys, signals and responses, one at a time.

use super::{
    curves,
    full_screen::FullScreen,
    screen::{Received, Screen},
};
use crate::cli::{
    CliError,
    target::{Target, TargetError},
};
use crossterm::event::{Event, EventStream, KeyEventKind};
use futures::{FutureExt as _, StreamExt as _, future::LocalBoxFuture};
use std::time::{Duration, Instant};
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    time::{MissedTickBehavior, interval},
};

/// Time between two requests: the node takes a snapshot each second.
const REQUEST_INTERVAL: Duration = Duration::from_secs(1);

/// Requests the newest snapshot, and the history if `with_history`.
///
/// # Errors
///
/// Returns the [`TargetError`] of the request that failed.
pub async fn request(target: &Target, with_history: bool) -> Result<Received, TargetError> {
    let snapshot = target.get("/snapshot").await?;
    let history = match with_history {
        true => {
            let path = format!("/history?stages=false&points={}", curves::COLUMNS_MAX);
            Some(target.get(&path).await?)
        }
        false => None,
    };
    Ok(Received { snapshot, history })
}

/// Shows the screen until a key or a signal ends it.
///
/// # Errors
///
/// Returns [`CliError::Fatal`] if the terminal cannot be changed, written or read.
pub async fn watch(target: &Target, mut screen: Screen) -> Result<(), CliError> {
    let mut signals = Signals::new()?;
    let mut terminal = FullScreen::open()?;
    let mut events = EventStream::new();
    let mut ticks = interval(REQUEST_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut pending: Option<LocalBoxFuture<'_, _>> = None;
    loop {
        terminal.draw(&mut screen)?;
        tokio::select! {
            event = events.next() => match event {
                Some(Ok(Event::Key(key))) if key.kind != KeyEventKind::Release => {
                    if screen.press(key).is_break() {
                        return Ok(());
                    }
                }
                // Another event, such as a new size, only needs the screen to be drawn.
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(error.into()),
                // The terminal was closed.
                None => return Ok(()),
            },
            _ = ticks.tick() => {
                if pending.is_none() && !screen.is_paused() {
                    pending = Some(request(target, screen.has_gap()).boxed_local());
                }
            }
            response = response_of(&mut pending) => {
                pending = None;
                screen.receive(response, Instant::now());
            }
            () = signals.received() => return Ok(()),
        }
    }
}

/// Waits for the response to the pending request, or forever without one.
async fn response_of<T>(pending: &mut Option<LocalBoxFuture<'_, T>>) -> T {
    match pending {
        Some(request) => request.await,
        None => std::future::pending().await,
    }
}

/// The signals that end the command, after which the terminal must be as before.
struct Signals([Signal; 3]);

impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Self([
            signal(SignalKind::terminate())?,
            signal(SignalKind::interrupt())?,
            signal(SignalKind::hangup())?,
        ]))
    }

    /// Waits for one of the signals.
    async fn received(&mut self) {
        let [terminate, interrupt, hangup] = &mut self.0;
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            _ = hangup.recv() => {}
        }
    }
}
