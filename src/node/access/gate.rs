//! The gate of the admin listener: which requests it serves, and on whose behalf.
//!
//! | a request with | is served | if it changes something |
//! |---|---|---|
//! | the token in `Authorization` | always | as it is: no web page can send the header |
//! | the cookie of a session | always | with its own `Origin` and the CSRF token of the session |
//! | neither, and no token is configured | always | with the CSRF token of the process, if it has an `Origin` |
//!
//! Cookies ignore ports, and `SameSite` does not tell `localhost:3000` from `localhost:9101`. So a
//! cookie alone changes nothing: the pages of the console contain the CSRF token, which pages of
//! another origin cannot read. A request without `Origin` comes from a program.

use super::{
    host_origin::HostOriginPolicy,
    login_limit::{FAILURES_MAX, LoginLimit},
    sessions::{Secret, SessionName, Sessions},
    token::Token,
};
use actix_web::http::header::{COOKIE, HeaderMap, ORIGIN};
use ledger_api::client_address;
use ledger_limits::{Networks, REJECTIONS, network_of};
use ledger_metrics::{Counter, Metric as _, counters};
use std::{
    fmt,
    net::IpAddr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

/// Maximum number of cookies of the session's name that are looked up for a request. A browser
/// sends one, and further ones if pages of other ports of the host have set some.
const COOKIES_MAX: usize = 4;
/// Name of the limit on failed logins, for the log.
const FAILURES_LIMIT: &str = "failed logins of an address to the admin listener";

/// The connections over which a browser logs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoginTransport {
    /// Plain HTTP on a loopback address.
    Loopback,
    /// TLS, of the listener or of a proxy before it. Cookies are `Secure`.
    Secure,
    /// Plain HTTP that other machines reach. A login would reveal token and session.
    Exposed,
}

/// The parts of a gate that the configuration determines.
#[derive(Debug)]
pub struct GateOptions {
    /// The `Host` and `Origin` headers that the listener accepts.
    pub policy: HostOriginPolicy,
    /// The token that requests must carry, or `None` if they need none.
    pub token: Option<Token>,
    /// The connections over which a browser logs in.
    pub transport: LoginTransport,
    /// The configured port. Cookies ignore ports, so it is part of the cookie's name.
    pub port: u16,
    /// Proxies whose header names the client.
    pub trusted_proxies: Networks,
}

counters! {
    /// Counters of logins.
    struct LoginCounters;

    /// Logins by outcome, since the start of the node.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct LoginStatus {
        /// Logins with the token.
        pub accepted: Counter,
        /// Logins with another text.
        pub wrong_token: Counter,
        /// Logins that were not checked because their address had failed too often.
        pub rate_limited: Counter,
        /// Logins that were not checked because the connection reveals the token.
        pub insecure: Counter,
    }
}

counters! {
    /// Counters of rejected requests.
    struct DenialCounters;

    /// Requests that were rejected, by reason, since the start of the node.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct DenialStatus {
        /// Requests for another host, or of another page.
        pub foreign: Counter,
        /// Requests without the token and without a session.
        pub unauthorized: Counter,
        /// Changes by a page without the CSRF token of the session.
        pub csrf: Counter,
    }
}

/// The reason for which a request is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denial {
    /// The header `Host` or `Origin`.
    Foreign,
    /// Token and session are missing.
    Unauthorized,
    /// The CSRF token is missing or of another session.
    Csrf,
}

/// The gate of the admin listener. Clones share it.
#[derive(Clone, Debug)]
pub struct Gate(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    options: GateOptions,
    /// Name of the session's cookie.
    cookie: String,
    /// CSRF token of the pages while no token is configured.
    page_token: Secret,
    /// Locked before the sessions, so that none begins with a token that is being replaced.
    token: RwLock<Option<Token>>,
    /// Number of changes of the token. Written while the token is locked.
    token_changes: AtomicU64,
    sessions: Mutex<Sessions>,
    limit: Mutex<LoginLimit>,
    counters: LoginCounters,
    denials: DenialCounters,
}

/// The right by which a request is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity {
    /// The cookie of a session.
    Session(SessionName),
    /// The token in the header `Authorization`.
    Token,
    /// A connection of this machine, while no token is configured.
    Loopback,
}

/// Writes the identity as the log names it.
impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Session(name) => write!(f, "session {name}"),
            Self::Token => f.write_str("token"),
            Self::Loopback => f.write_str("loopback"),
        }
    }
}

/// The client on whose behalf a request is served. Handlers find it in the request's extensions.
#[derive(Clone, Debug)]
pub struct Requester {
    /// The right by which the request is served.
    pub identity: Identity,
    /// Address of the client, or `None` if the connection is closed already.
    pub address: Option<IpAddr>,
    /// CSRF token that the pages for the client contain.
    pub csrf_token: Secret,
    /// Number of changes of the token before the request.
    token_changes: u64,
}

/// Writes identity and address, as the log names a client that changes something.
impl fmt::Display for Requester {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.identity)?;
        match self.address {
            Some(address) => write!(f, " from {address}"),
            None => Ok(()),
        }
    }
}

impl Requester {
    /// Returns whether a change with these headers needs the CSRF token.
    pub fn needs_csrf_token(&self, headers: &HeaderMap) -> bool {
        match self.identity {
            Identity::Session(_) => true,
            Identity::Token => false,
            Identity::Loopback => headers.contains_key(ORIGIN),
        }
    }

    /// Checks a change that needs the CSRF token, of which the request has `given`. The gate has
    /// compared the `Origin` with the listener's own, if there is one.
    ///
    /// # Errors
    ///
    /// Returns the reason for the rejection.
    pub fn check_change(
        &self,
        headers: &HeaderMap,
        given: Option<&str>,
    ) -> Result<(), &'static str> {
        if !headers.contains_key(ORIGIN) {
            return Err("a change that is authorized by a cookie needs the Origin header");
        }
        match given {
            Some(given) if self.csrf_token.is(given) => Ok(()),
            Some(_) => Err("the CSRF token is not that of this session; load the page again"),
            None => Err("a change by a web page needs its CSRF token in the header X-CSRF-Token"),
        }
    }
}

/// Reasons for which a login is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoginError {
    /// The connection would reveal the token.
    Exposed,
    /// The address has failed too often.
    TooManyFailures {
        /// Time after which it may try again.
        wait: Duration,
    },
    /// The text is not the token.
    WrongToken,
    /// The system has no random numbers.
    NoRandomness,
}

impl Gate {
    /// Creates a gate without sessions.
    ///
    /// # Errors
    ///
    /// Returns an error if the system has no random numbers.
    pub fn new(mut options: GateOptions) -> Result<Self, getrandom::Error> {
        let prefix = match options.transport {
            // Browsers accept the prefix only with `Secure`, for the whole host and path.
            LoginTransport::Secure => "__Host-",
            LoginTransport::Loopback | LoginTransport::Exposed => "",
        };
        Ok(Self(Arc::new(Shared {
            cookie: format!("{prefix}ledger_session_{}", options.port),
            page_token: Secret::draw()?,
            token: RwLock::new(options.token.take()),
            token_changes: AtomicU64::new(0),
            sessions: Mutex::default(),
            limit: Mutex::default(),
            counters: LoginCounters::default(),
            denials: DenialCounters::default(),
            options,
        })))
    }

    /// Returns the `Host` and `Origin` headers that the listener accepts.
    pub fn policy(&self) -> &HostOriginPolicy {
        &self.0.options.policy
    }

    /// Returns the connections over which a browser logs in.
    pub fn transport(&self) -> LoginTransport {
        self.0.options.transport
    }

    /// Returns the number of logins by outcome.
    pub fn login_status(&self) -> LoginStatus {
        self.0.counters.snapshot()
    }

    /// Counts a rejected request.
    pub fn count_denial(&self, denial: Denial) {
        let denials = &self.0.denials;
        match denial {
            Denial::Foreign => denials.foreign.increment(),
            Denial::Unauthorized => denials.unauthorized.increment(),
            Denial::Csrf => denials.csrf.increment(),
        }
    }

    /// Returns the number of rejected requests by reason.
    pub fn denial_status(&self) -> DenialStatus {
        self.0.denials.snapshot()
    }

    /// Replaces the token. The old one is rejected from then on. If it is another one, all sessions
    /// end.
    ///
    /// Returns whether it is another one.
    pub fn replace_token(&self, token: Option<Token>) -> bool {
        let mut current = self.0.token.write().unwrap_or_else(PoisonError::into_inner);
        let is_changed = match (&*current, &token) {
            (None, None) => false,
            (Some(old), Some(new)) => old.is_other_than(new),
            _ => true,
        };
        *current = token;
        if is_changed {
            self.0.token_changes.fetch_add(1, Relaxed);
            self.sessions().end_all();
        }
        is_changed
    }

    /// Returns the client on whose behalf a request with these headers is served at `now`, or
    /// `None` if it needs a token or a session and has neither.
    pub fn requester(
        &self,
        headers: &HeaderMap,
        peer: Option<IpAddr>,
        now: Instant,
    ) -> Option<Requester> {
        let token = self.token();
        let (identity, csrf_token) = match &*token {
            None => (Identity::Loopback, self.0.page_token.clone()),
            Some(token) if token.is_in(headers) => (Identity::Token, self.0.page_token.clone()),
            Some(_) => {
                let mut sessions = self.sessions();
                let mut ids = self.session_ids(headers);
                let (name, csrf_token) = ids.find_map(|id| sessions.find(id, now))?;
                (Identity::Session(name), csrf_token)
            }
        };
        Some(Requester {
            identity,
            address: peer.map(|peer| self.client(peer, headers)),
            csrf_token,
            token_changes: self.0.token_changes.load(Relaxed),
        })
    }

    /// Returns whether a client is still served at `now`: neither has the token changed, nor has
    /// its session ended. A session counts as used.
    pub fn serves(&self, requester: &Requester, now: Instant) -> bool {
        if requester.token_changes != self.0.token_changes.load(Relaxed) {
            return false;
        }
        match requester.identity {
            Identity::Session(name) => self.sessions().has(name, now),
            Identity::Token | Identity::Loopback => true,
        }
    }

    /// Begins a session for a client with the token, at `now`. Returns the value of `Set-Cookie`.
    ///
    /// # Errors
    ///
    /// Returns [`LoginError`]. No session begins then.
    pub fn log_in(
        &self,
        given: &str,
        headers: &HeaderMap,
        peer: Option<IpAddr>,
        now: Instant,
    ) -> Result<String, LoginError> {
        let counters = &self.0.counters;
        if self.transport() == LoginTransport::Exposed {
            counters.insecure.increment();
            return Err(LoginError::Exposed);
        }
        let network = peer.map(|peer| network_of(self.client(peer, headers)));
        let wait = network.and_then(|network| self.limit().wait(network, now));
        if let Some(wait) = wait {
            counters.rate_limited.increment();
            REJECTIONS.record(FAILURES_LIMIT, FAILURES_MAX.into());
            return Err(LoginError::TooManyFailures { wait });
        }
        let token = self.token();
        if !token.as_ref().is_some_and(|token| token.is(given)) {
            counters.wrong_token.increment();
            let logged = network.and_then(|network| self.limit().record_failure(network, now));
            if let (Some(failures), Some(network)) = (logged, network) {
                tracing::warn!(failures, address = %network, "logins with a wrong token");
            }
            return Err(LoginError::WrongToken);
        }
        let id = self
            .sessions()
            .begin(now)
            .map_err(|_| LoginError::NoRandomness)?;
        counters.accepted.increment();
        Ok(self.set_cookie(id.expose(), ""))
    }

    /// Ends the session of a request. Returns the value of `Set-Cookie` that removes the cookie.
    pub fn log_out(&self, headers: &HeaderMap) -> String {
        let mut sessions = self.sessions();
        for id in self.session_ids(headers) {
            sessions.end(id);
        }
        self.set_cookie("", "; Max-Age=0")
    }

    /// Returns the value of `Set-Cookie` for a session id.
    fn set_cookie(&self, id: &str, end: &str) -> String {
        let secure = match self.transport() {
            LoginTransport::Secure => "; Secure",
            LoginTransport::Loopback | LoginTransport::Exposed => "",
        };
        let name = &self.0.cookie;
        format!("{name}={id}; Path=/; HttpOnly; SameSite=Strict{secure}{end}")
    }

    /// Returns the session ids in the cookies of a request.
    fn session_ids<'a>(&'a self, headers: &'a HeaderMap) -> impl Iterator<Item = &'a str> {
        let lists = headers.get_all(COOKIE);
        let pairs = lists
            .filter_map(|value| value.to_str().ok())
            .flat_map(|list| list.split(';'))
            .filter_map(|pair| pair.trim().split_once('='));
        pairs
            .filter(|(name, _)| *name == self.0.cookie)
            .map(|(_, id)| id)
            .take(COOKIES_MAX)
    }

    /// Returns the address of the client that sends requests over a connection of `peer`.
    fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        client_address(peer, headers, &self.0.options.trusted_proxies)
    }

    fn token(&self) -> RwLockReadGuard<'_, Option<Token>> {
        self.0.token.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        // Valid even if the holder panicked: each change is complete.
        self.0
            .sessions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn limit(&self) -> MutexGuard<'_, LoginLimit> {
        // Valid even if the holder panicked: each change is complete.
        self.0.limit.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
