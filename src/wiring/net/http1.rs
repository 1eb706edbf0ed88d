//! HTTP/1.1 by the library's dispatcher, and what that leaves open.
//!
//! It has a deadline for the head of a connection's first request only, and where a client sends requests
//! faster than they are answered, it fills its buffer and then looks at it again and again. Here a watch goes
//! along with each connection: it ends one whose head does not come whole, and gives one that looks at its
//! buffer in vain a pause.

use super::{
    PipelineOptions,
    counts::count,
    pipeline::DISCONNECT_TIMEOUT,
    slices::Slices,
    transport::Transport,
    watched::{Activity, Watched},
};
use actix_http::{HttpService, Request, Response, body::BoxBody, error::DispatchError};
use actix_service::{Service, ServiceFactory as _, fn_service};
use actix_web::dev::{Extensions, ServiceResponse};
use futures::future::TryFutureExt as _;
use ledger_api::Connection;
use std::{
    future::{Future as _, poll_fn},
    net::SocketAddr,
    pin::{Pin, pin},
    rc::Rc,
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::time::{Instant, Sleep, sleep};

/// So many looks in vain, one after the other, are nothing unusual.
const VAIN_LOOKS_MAX: u32 = 16;
/// The first pause after them, which doubles with each more.
const PAUSE_MIN: Duration = Duration::from_millis(1);
/// The pause is doubled at most so often: to 64 ms.
const PAUSE_DOUBLED_MAX: u32 = 6;

/// What serves HTTP/1.1 connections on one thread.
pub trait Http1: Service<(Watched, Option<SocketAddr>), Response = (), Error = DispatchError> {}

impl<H> Http1 for H where H: Service<(Watched, Option<SocketAddr>), Response = (), Error = DispatchError> {}

/// Makes it.
///
/// # Errors
/// None: what it is made of is there.
pub async fn service<S>(app: Rc<S>, options: &PipelineOptions) -> Result<impl Http1 + use<S>, ()>
where
    S: Service<Request, Response = ServiceResponse<BoxBody>, Error = actix_web::Error> + 'static,
{
    let stopping = options.stopping.clone();
    let served = fn_service(move |request: Request| {
        let serving = request.conn_data::<Rc<Activity>>().map(Activity::serve);
        app.call(request).map_ok(move |response| {
            let response = Response::from(response);
            response.map_body(|_, body| Slices::new(body, serving))
        })
    });
    HttpService::build()
        .keep_alive(options.keep_alive)
        .client_request_timeout(options.client_request_timeout)
        .client_disconnect_timeout(DISCONNECT_TIMEOUT)
        // A client that closes its side has gone away, as a rule: its request is dropped, so
        // that an abandoned long poll costs nothing. Clients that half-close and still read
        // are rare, and none of the SDKs does.
        .h1_allow_half_closed(false)
        .graceful_shutdown_signal(move || {
            let stopping = stopping.clone();
            async move { stopping.notified().await }
        })
        .on_connect_ext(|watched: &Watched, data: &mut Extensions| {
            data.insert(Rc::new(Connection::default()));
            data.insert(Rc::clone(watched.activity()));
        })
        .h1(served)
        .new_service(())
        .await
}

/// Serves a connection to its end.
pub async fn serve<H: Http1>(http1: &H, transport: Transport, peer: SocketAddr, options: &PipelineOptions) {
    let activity = Rc::new(Activity::default());
    let watched = Watched::new(transport, Rc::clone(&activity));
    let mut dispatcher = pin!(http1.call((watched, Some(peer))));
    let mut watch = Watch::new(activity, options);
    poll_fn(|context| {
        ready!(watch.poll_pause(context));
        if dispatcher.as_mut().poll(context).is_ready() {
            return Poll::Ready(());
        }
        watch.poll(context)
    })
    .await;
}

/// Ends or slows a connection that makes no headway.
struct Watch<'a> {
    activity: Rc<Activity>,
    options: &'a PipelineOptions,
    vain_looks: u32,
    pause: Option<Pin<Box<Sleep>>>,
    head: Option<Pin<Box<Sleep>>>,
    /// Looks from time to time whether there were requests.
    idle: Pin<Box<Sleep>>,
    calls_seen: u64,
}

impl<'a> Watch<'a> {
    fn new(activity: Rc<Activity>, options: &'a PipelineOptions) -> Self {
        Self {
            activity,
            vain_looks: 0,
            pause: None,
            head: None,
            idle: Box::pin(sleep(idle_timeout(options))),
            calls_seen: 0,
            options,
        }
    }

    /// Pending during a pause.
    fn poll_pause(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if let Some(pause) = &mut self.pause {
            ready!(pause.as_mut().poll(context));
            self.pause = None;
        }
        Poll::Ready(())
    }

    /// To be asked after each look of the dispatcher: ready when the connection is to end.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.count_vain_looks(context);
        if self.poll_head(context).is_ready() || self.poll_idle(context).is_ready() {
            count(&self.options.counts.cut_slow_heads);
            return Poll::Ready(());
        }
        Poll::Pending
    }

    fn count_vain_looks(&mut self, context: &mut Context<'_>) {
        if self.activity.take_looked_at() {
            self.vain_looks = 0;
            return;
        }
        self.vain_looks = self.vain_looks.saturating_add(1);
        if let Some(above) = self.vain_looks.checked_sub(VAIN_LOOKS_MAX) {
            let mut pause = Box::pin(sleep(PAUSE_MIN * (1 << above.min(PAUSE_DOUBLED_MAX))));
            if pause.as_mut().poll(context).is_pending() {
                self.pause = Some(pause);
            }
        }
    }

    /// Ready when a head has been coming for too long. The dispatcher answers the first one itself, as a rule:
    /// its clock is up to half a second late, and a deadline that is over when it is set never ends.
    fn poll_head(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.activity.calls() > 0 && !self.activity.is_head_begun() {
            self.head = None;
            return Poll::Pending;
        }
        let timeout = self.options.client_request_timeout + DISCONNECT_TIMEOUT;
        let head = self.head.get_or_insert_with(|| Box::pin(sleep(timeout)));
        head.as_mut().poll(context)
    }

    /// Ready when no request came for long, while a part of one that came with the last may have kept the
    /// dispatcher waiting.
    fn poll_idle(&mut self, context: &mut Context<'_>) -> Poll<()> {
        while self.idle.as_mut().poll(context).is_ready() {
            let calls = self.activity.calls();
            if calls == self.calls_seen && !self.activity.is_serving() {
                return Poll::Ready(());
            }
            self.calls_seen = calls;
            self.idle
                .as_mut()
                .reset(Instant::now() + idle_timeout(self.options));
        }
        Poll::Pending
    }
}

/// Longer than the dispatcher's own.
fn idle_timeout(options: &PipelineOptions) -> Duration {
    options.keep_alive + options.client_request_timeout + DISCONNECT_TIMEOUT
}
